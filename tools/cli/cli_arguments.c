/* cli_arguments.c - words of the command line as arguments of a kernel. */
#include "cli.h"
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The elements of an array that stands in for a missing argument: enough that alignment and tails look as in
 * real use. */
enum { STAND_IN_SIZE = 1 << 20 };

/* ---- numbers ---- */

/* Digits alone, behind a sign or none. */
static bool is_integer(const char *text)
{
    text += *text == '-' || *text == '+';
    return *text && text[strspn(text, "0123456789")] == 0;
}

/* A number that no 64 bits hold; it would be another one. */
static bool is_beyond(const kiln_arg *number, const char *text)
{
    bool is_real = number->kind == KILN_ARG_WEAK_FLOAT || number->kind == KILN_ARG_WEAK_COMPLEX;
    bool says_so = strpbrk(text, "iInN"); /* inf, nan */
    return is_real &&
           (is_integer(text) || (!says_so && (isinf(number->value.d[0]) || isinf(number->value.d[1]))));
}

int cli_numbers_check(const cli_call *call, const cli_options *options)
{
    for (int i = 0; i < call->n_words; i++) {
        const char *word = call->word[i];
        kiln_arg number;
        if (!cli_number_read(&number, word) || !is_beyond(&number, word))
            continue;
        return cli_input_error(
            options, "parameter '%s': %.60s was given; %s", kiln_kernel_in_name(call->kernel, i), word,
            is_integer(word) ? "an integer from -9223372036854775808 to 18446744073709551615 was expected "
                               "(with a point behind it, it is a float)"
                             : "a number up to 1.797e308 either way, or inf, was expected");
    }
    return CLI_OK;
}

/* ---- shapes and described arrays ---- */

/* Reads "2,3" up to the character end. Returns the number of extents, -1 where the text is none. */
static int read_shape(int64_t *shape, const char *text, char end)
{
    int ndim = 0;
    while (*text != end) {
        char *next;
        errno = 0;
        long long extent = strtoll(text, &next, 10);
        if (next == text || errno || extent < 0 || ndim == KILN_MAX_NDIM || (*next != ',' && *next != end))
            return -1;
        shape[ndim++] = extent;
        text = *next == ',' ? next + 1 : next;
    }
    return end && text[1] ? -1 : ndim; /* nothing may follow the bracket */
}

int cli_shape_read(int64_t *shape, const char *text)
{
    return read_shape(shape, text, 0);
}

int cli_shape_check(const char *command, const cli_options *options)
{
    int64_t shape[KILN_MAX_NDIM];
    if (options->size && cli_shape_read(shape, options->size) < 1)
        return cli_usage_error(command,
                               "--size takes a number of elements, or extents such as 600,800, not '%s'",
                               options->size);
    if (!options->shape || cli_shape_read(shape, options->shape) >= 0)
        return CLI_OK;
    return cli_usage_error(command, "--shape takes extents such as 600,800, not '%s'", options->shape);
}

/* True if a signature has that letter as a word of its own. */
static bool has_placeholder(const char *signature, char letter)
{
    for (const char *at = signature; (at = strchr(at, letter)); at++) {
        bool begins = at == signature || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        if (begins && !isalnum((unsigned char)at[1]) && at[1] != '_')
            return true;
    }
    return false;
}

int cli_types_check(const char *command, const cli_options *options)
{
    kiln_dtype ignored;
    if (options->dtype && kiln_dtype_from_name(&ignored, options->dtype) != KILN_OK)
        return cli_usage_error(command, "--dtype: %s", kiln_error_message());
    for (int i = 0; i < options->types.count; i++) {
        const char *entry = options->types.items[i];
        if (!isupper((unsigned char)entry[0]) || entry[1] != '=')
            return cli_usage_error(
                command, "--type takes a placeholder and its dtype, as in T=float64, not '%s'", entry);
        if (kiln_dtype_from_name(&ignored, entry + 2) != KILN_OK)
            return cli_usage_error(command, "--type %s: %s", entry, kiln_error_message());
        if (!has_placeholder(options->positional.items[0], entry[0]) &&
            !has_placeholder(options->positional.items[1], entry[0]))
            return cli_usage_error(command, "--type %s: the signatures have no placeholder %c", entry,
                                   entry[0]);
    }
    return CLI_OK;
}

/* Appends the axes of a text such as "0,-1"; false where it is none, or has one too many. */
static bool read_axes(int *axes, int *count, const char *text)
{
    char *next;
    do {
        errno = 0;
        long axis = strtol(text, &next, 10);
        if (next == text || errno || axis < INT_MIN || axis > INT_MAX || *count == KILN_MAX_NDIM)
            return false;
        axes[(*count)++] = (int)axis;
        text = next + 1;
    } while (*next == ',');
    return !*next;
}

int cli_axes_read(int *axes, int *count, const char *command, const cli_options *options)
{
    const cli_list *given = &options->axes;
    *count = 0;
    if (given->count == 1 && strcmp(given->items[0], "none") == 0)
        return CLI_OK;
    for (int k = 0; k < given->count; k++)
        if (!read_axes(axes, count, given->items[k]))
            return cli_usage_error(command, "--axis takes up to %d axes such as -1 or 0,2, or none, not '%s'",
                                   KILN_MAX_NDIM, given->items[k]);
    return CLI_OK;
}

/* Reads "float32[2,3]"; false where the text is no such description. */
static bool read_description(kiln_dtype *dtype, int64_t *shape, int *ndim, const char *text)
{
    char name[32];
    size_t length = strcspn(text, "[");
    if (!text[length] || length >= sizeof name)
        return false;
    memcpy(name, text, length);
    name[length] = 0;
    *ndim = read_shape(shape, text + length + 1, ']');
    return *ndim >= 0 && kiln_dtype_from_name(dtype, name) == KILN_OK;
}

/* ---- parameters ---- */

/* Parameter `index` of a signature that is known to parse. */
static const char *parameter(const char *signature, int index)
{
    for (; index > 0; index--)
        signature = strchr(signature, ',') + 1;
    return signature + strspn(signature, " \t\n");
}

static bool is_raw(const char *signature, int index)
{
    const char *text = parameter(signature, index);
    return strncmp(text, "raw", 3) == 0 && isspace((unsigned char)text[3]);
}

/* Its type word: the last word but one. */
static void parameter_type(char *out, size_t size, const char *signature, int index)
{
    signature = parameter(signature, index);
    const char *end = signature + strcspn(signature, ",");
    while (end > signature && isspace((unsigned char)end[-1]))
        end--;
    while (end > signature && !isspace((unsigned char)end[-1]))
        end--;
    while (end > signature && isspace((unsigned char)end[-1]))
        end--;
    const char *start = end;
    while (start > signature && !isspace((unsigned char)start[-1]))
        start--;
    snprintf(out, size, "%.*s", (int)(end - start), start);
}

/* The dtype that --type gives to a placeholder; NULL: none. */
static const char *given_dtype(const cli_options *options, char letter)
{
    for (int i = 0; i < options->types.count; i++)
        if (options->types.items[i][0] == letter)
            return options->types.items[i] + 2;
    return NULL;
}

static bool is_placeholder(const char *type)
{
    return isupper((unsigned char)type[0]) && !type[1];
}

/* The dtype of a placeholder: that of --type, else --dtype, else float32. */
static kiln_status parameter_dtype(kiln_dtype *out, const cli_options *options, int signature, int index)
{
    char type[64];
    parameter_type(type, sizeof type, options->positional.items[signature], index);
    const char *given = is_placeholder(type) ? given_dtype(options, type[0]) : type;
    return kiln_dtype_from_name(out, given ? given : options->dtype ? options->dtype : "float32");
}

/* ---- calls ---- */

static kiln_kernel_options kernel_options(const cli_options *options)
{
    kiln_kernel_options kernel = KILN_KERNEL_OPTIONS_INIT;
    kernel.preamble = options->preamble;
    kernel.reduce_type = options->reduce_type;
    kernel.flags = (options->fast_math ? KILN_KERNEL_FAST_MATH : 0u) |
                   (options->no_fma ? KILN_KERNEL_NO_FMA : 0u) | (options->checks ? KILN_KERNEL_CHECK : 0u) |
                   (options->round_each ? KILN_KERNEL_ROUND_EACH : 0u);
    return kernel;
}

/* Allocates the arrays of arguments and results; the arguments are the words behind the first n_texts. */
static kiln_status allocate_arrays(cli_call *call, const cli_options *options, int n_texts)
{
    call->n_out = kiln_kernel_n_out(call->kernel);
    call->n_texts = n_texts;
    call->n_words = options->positional.count - n_texts;
    call->out = calloc((size_t)call->n_out + 1, sizeof *call->out);
    call->file = calloc((size_t)call->n_out + 1, sizeof *call->file);
    call->word = calloc((size_t)call->n_words + 1, sizeof *call->word);
    for (int i = 0; call->word && i < call->n_words; i++)
        call->word[i] = options->positional.items[n_texts + i];
    return call->out && call->file && call->word ? KILN_OK : KILN_ERROR_MEMORY;
}

static const char *suffix_of_word(const char *word)
{
    const char *slash = strrchr(word, '/'), *dot = strrchr(slash ? slash : word, '.');
    return dot ? dot : "";
}

kiln_status cli_call_define(cli_call *call, const cli_options *options)
{
    const kiln_kernel_options kernel = kernel_options(options);
    const char *const *text = options->positional.items;
    kiln_status status =
        kiln_elementwise_create(&call->kernel, text[0], text[1], text[2], options->name, &kernel);
    return status == KILN_OK ? allocate_arrays(call, options, 3) : status;
}

/* Files in the order of their names, two of them at least. */
int cli_words_check(const cli_call *call, const cli_options *options)
{
    int n_in = kiln_kernel_n_in(call->kernel), n = call->n_words;
    bool are_files = n > n_in && n > 1 && n_in > 0;
    for (int i = n_in - 1; are_files && i < n; i++)
        are_files =
            access(call->word[i], F_OK) == 0 && (i < n_in || strcmp(call->word[i - 1], call->word[i]) < 0);
    if (!are_files)
        return CLI_OK;
    cli_fail(
        KILN_ERROR_INVALID,
        "%d input arguments were given, %d expected: a pattern that the shell has replaced by the names of "
        "files? In quotes, as in '*%s' -o 'out/{}%s', the kernel runs over each",
        n, n_in, suffix_of_word(call->word[n - 1]), suffix_of_word(call->word[n - 1]));
    return cli_library_error(options);
}

/* An argument where the identity is missing: a file, or the description of an array. */
static bool looks_like_argument(const char *text)
{
    int64_t shape[KILN_MAX_NDIM];
    kiln_dtype dtype;
    kiln_arg number;
    int ndim;
    return !cli_number_read(&number, text) &&
           (access(text, F_OK) == 0 || read_description(&dtype, shape, &ndim, text));
}

kiln_status cli_call_define_reduction(cli_call *call, const cli_options *options)
{
    const kiln_kernel_options kernel = kernel_options(options);
    const char *const *text = options->positional.items;
    if (looks_like_argument(text[5]))
        return cli_fail(
            KILN_ERROR_INVALID,
            "IDENTITY, the sixth word, is '%s', an argument: it is the result where there is nothing to "
            "reduce, such as 0 for a sum and 1 for a product, or - where there is none",
            text[5]);
    bool has_identity = *text[5] && strcmp(text[5], "-") != 0;
    call->reduces = true;
    kiln_status status = kiln_reduction_create(&call->kernel, text[0], text[1], text[2], text[3], text[4],
                                               has_identity ? text[5] : NULL, options->name, &kernel);
    return status == KILN_OK ? allocate_arrays(call, options, 6) : status;
}

kiln_status cli_call_define_scan(cli_call *call, const cli_options *options)
{
    kiln_kernel_options kernel = kernel_options(options);
    const char *const *text = options->positional.items;
    if (looks_like_argument(text[5]))
        return cli_fail(KILN_ERROR_INVALID,
                        "IDENTITY, the sixth word, is '%s', an argument: it is what an exclusive scan begins "
                        "with, such as 0 for a sum, or - where there is none",
                        text[5]);
    bool has_identity = *text[5] && strcmp(text[5], "-") != 0;
    kernel.flags |=
        (options->exclusive ? KILN_KERNEL_EXCLUSIVE : 0u) | (options->reverse ? KILN_KERNEL_REVERSED : 0u);
    kiln_status status = kiln_scan_create(&call->kernel, text[0], text[1], text[2], text[3], text[4],
                                          has_identity ? text[5] : NULL, options->name, &kernel);
    return status == KILN_OK ? allocate_arrays(call, options, 6) : status;
}

kiln_status cli_call_define_selection(cli_call *call, const cli_options *options)
{
    const kiln_kernel_options kernel = kernel_options(options);
    const char *const *text = options->positional.items;
    kiln_status status =
        kiln_select_create(&call->kernel, text[0], text[1], text[2], text[3], options->name, &kernel);
    return status == KILN_OK ? allocate_arrays(call, options, 4) : status;
}

/* Cuts blanks off both ends. */
static char *trim(char *text)
{
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
    return text + strspn(text, " \t\n");
}

/* The type in front of a key's colon, a placeholder or a dtype, is cut off; other colons are C++'s. */
static const char *take_type(char **key)
{
    char *text = *key,
         *end = text + strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
    const char *colon = end + strspn(end, " ");
    char name[16] = "";
    kiln_dtype dtype;
    if (*colon != ':' || end == text || (size_t)(end - text) >= sizeof name)
        return NULL;
    memcpy(name, text, (size_t)(end - text));
    if ((!isupper((unsigned char)name[0]) || name[1]) && kiln_dtype_from_name(&dtype, name) != KILN_OK)
        return NULL;
    *key += colon + 1 - text;
    *end = '\0';
    return text;
}

/* One key: "float32: abs(x) desc". */
static kiln_sort_key read_key(char *text, unsigned flags)
{
    kiln_sort_key key = {NULL, NULL, flags};
    char *rest = trim(text);
    key.type = take_type(&rest);
    rest = trim(rest);
    size_t length = strlen(rest);
    if (length > 5 && strcmp(rest + length - 4, "desc") == 0 && isspace((unsigned char)rest[length - 5])) {
        key.flags = KILN_SORT_DESCENDING;
        rest[length - 5] = '\0';
    }
    key.key = rest;
    return key;
}

kiln_status cli_call_define_sort(cli_call *call, const cli_options *options)
{
    enum { MOST_KEYS = 64 };
    const kiln_kernel_options kernel = kernel_options(options);
    const char *const *text = options->positional.items;
    const unsigned flags = options->descending ? KILN_SORT_DESCENDING : 0;
    kiln_sort_key keys[MOST_KEYS];
    char *copy = strdup(text[2]), *at = copy, *next;
    int count = 0;
    if (!copy)
        return cli_fail(KILN_ERROR_MEMORY, "no memory for KEYS");
    for (; at && count < MOST_KEYS; at = next) {
        next = strchr(at, ';');
        if (next)
            *next++ = '\0';
        keys[count++] = read_key(at, flags);
    }
    kiln_status status =
        kiln_sort_create(&call->kernel, text[0], text[1], keys, count, text[3], options->name, &kernel);
    free(copy);
    return status == KILN_OK ? allocate_arrays(call, options, 4) : status;
}

bool cli_word_has_name(const char *word, size_t *length)
{
    *length = 0;
    while (isalnum((unsigned char)word[*length]) || word[*length] == '_')
        ++*length;
    return *length > 0 && !isdigit((unsigned char)word[0]) && word[*length] == '=';
}

int cli_names_check(const char *command, const cli_options *options)
{
    size_t length;
    for (int i = 1; i < options->positional.count; i++)
        if (!cli_word_has_name(options->positional.items[i], &length))
            return cli_usage_error(command, "'%s': NAME=FILE or NAME=NUMBER was expected",
                                   options->positional.items[i]);
    return CLI_OK;
}

/* "a, b" for the words a=photo.npy and b=0.5; the word at `left_out` is not among them. */
static char *join_names(const cli_options *options, int left_out)
{
    size_t length, capacity = 1;
    for (int i = 1; i < options->positional.count; i++)
        capacity += strlen(options->positional.items[i]) + 2;
    char *names = calloc(capacity, 1), *end = names;
    for (int i = 1; i < options->positional.count && names; i++) {
        const char *word = options->positional.items[i];
        cli_word_has_name(word, &length);
        if (i != left_out)
            end += snprintf(end, capacity - (size_t)(end - names), "%s%.*s", end > names ? ", " : "",
                            (int)length, word);
    }
    return names;
}

/* True if an expression of such inputs has a meaning; not what it is. */
static bool is_expression(const char *names, const char *text, const kiln_kernel_options *options)
{
    kiln_kernel *kernel = NULL;
    bool is_one = kiln_expression_create(&kernel, names, text, options) == KILN_OK;
    kiln_kernel_free(kernel);
    return is_one;
}

/* Refuses a NAME without which the expression means the same. One that hides a constant (e, pi) is taken as
 * it is: without it the expression would mean the constant. */
static kiln_status check_used(const cli_options *options, const kiln_kernel_options *kernel)
{
    for (int i = 1; i < options->positional.count; i++) {
        char *others = join_names(options, i), name[64];
        size_t length;
        cli_word_has_name(options->positional.items[i], &length);
        snprintf(name, sizeof name, "%.*s", (int)length, options->positional.items[i]);
        bool is_unused = others && is_expression(others, options->positional.items[0], kernel) &&
                         !is_expression("", name, NULL);
        free(others);
        if (!others)
            return KILN_ERROR_MEMORY;
        if (is_unused)
            return cli_fail(KILN_ERROR_INVALID, "'%s' was given, and the expression does not use %s",
                            options->positional.items[i], name);
    }
    return KILN_OK;
}

kiln_status cli_call_define_expression(cli_call *call, const cli_options *options)
{
    const kiln_kernel_options kernel = kernel_options(options);
    char *names = join_names(options, 0);
    size_t length;
    kiln_status status =
        names ? kiln_expression_create(&call->kernel, names, options->positional.items[0], &kernel)
              : KILN_ERROR_MEMORY;
    free(names);
    if (status == KILN_OK)
        status = check_used(options, &kernel);
    if (status == KILN_OK)
        status = allocate_arrays(call, options, 1);
    for (int i = 0; status == KILN_OK && i < call->n_words; i++) {
        cli_word_has_name(call->word[i], &length);
        call->word[i] += length + 1;
    }
    return status;
}

static kiln_status read_argument(kiln_arg *out, const char *word, const cli_options *options,
                                 kiln_device device, bool descriptions)
{
    kiln_array *array = NULL;
    kiln_dtype dtype;
    int64_t shape[KILN_MAX_NDIM];
    int ndim;
    if (cli_number_read(out, word))
        return KILN_OK;
    *out = kiln_arg_none();
    kiln_status status = descriptions && read_description(&dtype, shape, &ndim, word)
                             ? kiln_array_empty(&array, dtype, ndim, shape, device)
                             : cli_array_read(&array, word, options, device);
    if (status == KILN_OK)
        *out = kiln_arg_array(array);
    return status;
}

static kiln_status make_stand_in(kiln_arg *out, const cli_options *options, int index, kiln_device device)
{
    const int64_t shape[1] = {STAND_IN_SIZE};
    kiln_array *array = NULL;
    kiln_dtype dtype;
    kiln_status status = parameter_dtype(&dtype, options, 0, index);
    if (status == KILN_OK)
        status = kiln_array_empty(&array, dtype, 1, shape, device);
    *out = status == KILN_OK ? kiln_arg_array(array) : kiln_arg_none();
    return status;
}

kiln_status cli_call_read(cli_call *call, const cli_options *options, kiln_device device, bool descriptions)
{
    bool stand_in = descriptions && call->n_words == 0;
    int count = stand_in ? kiln_kernel_n_in(call->kernel) : call->n_words;
    if (!call->in)
        call->in = calloc((size_t)count + 1, sizeof *call->in);
    if (!call->in)
        return KILN_ERROR_MEMORY;
    kiln_status status = KILN_OK;
    for (int i = 0; i < count && status == KILN_OK; i++) {
        status = stand_in ? make_stand_in(&call->in[i], options, i, device)
                          : read_argument(&call->in[i], call->word[i], options, device, descriptions);
        call->n_in = i + 1;
    }
    return status;
}

/* The array of those that are given which says what a placeholder is; its place, or -1. */
static int settled_by(const cli_call *call, const cli_options *options, char letter)
{
    char type[64];
    for (int i = 0; i < call->n_in && i < kiln_kernel_n_in(call->kernel); i++) {
        parameter_type(type, sizeof type, options->positional.items[0], i);
        if (type[0] == letter && !type[1] && call->in[i].kind == KILN_ARG_ARRAY)
            return i;
    }
    return -1;
}

/* True if some placeholder has the dtype of --dtype: neither an array nor --type says what it is. */
static bool takes_dtype(const cli_call *call, const cli_options *options)
{
    const char *const *signature = options->positional.items;
    for (const char *at = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"; *at; at++)
        if ((has_placeholder(signature[0], *at) || has_placeholder(signature[1], *at)) &&
            !given_dtype(options, *at) && (call->n_words == 0 || settled_by(call, options, *at) < 0))
            return true;
    return false;
}

/* --type is for placeholders of which no array says what they are. */
static kiln_status check_types(const cli_call *call, const cli_options *options)
{
    if (options->dtype && !takes_dtype(call, options))
        return cli_fail(KILN_ERROR_TYPE, "--dtype %s: the arguments and --type say what every placeholder is",
                        options->dtype);
    for (int t = 0; t < options->types.count; t++) {
        const char *entry = options->types.items[t];
        int i = call->n_words > 0 ? settled_by(call, options, entry[0]) : -1;
        kiln_dtype dtype, has = i < 0 ? KILN_DTYPE_NONE : kiln_array_dtype(call->in[i].value.array);
        if (i >= 0 && kiln_dtype_from_name(&dtype, entry + 2) == KILN_OK && dtype != has)
            return cli_fail(KILN_ERROR_TYPE, "--type %s: the array %s is %s, and says what %c is", entry,
                            call->word[i], kiln_dtype_name(has), entry[0]);
    }
    return KILN_OK;
}

/* The shape that the arguments make the outputs; -1 where nothing says it. Of what does not broadcast it is
 * any, and the call says so. */
static int result_shape(int64_t *shape, const cli_call *call, const cli_options *options)
{
    int64_t whole[KILN_MAX_NDIM];
    int axes[KILN_MAX_NDIM], n_axes = 0, ndim = 0, n_result_axes = 0;
    bool any_raw = false, any_whole = false;
    if (options->size)
        return cli_shape_read(shape, options->size);
    for (int i = 0; i < call->n_in && i < kiln_kernel_n_in(call->kernel); i++) {
        const kiln_array *array = call->in[i].kind == KILN_ARG_ARRAY ? call->in[i].value.array : NULL;
        bool raw = array && is_raw(options->positional.items[0], i);
        any_raw = any_raw || raw;
        any_whole = any_whole || (array && !raw);
        if (!array || raw)
            continue;
        int more = kiln_array_ndim(array) - ndim;
        if (more > 0)
            memmove(whole + more, whole, (size_t)ndim * sizeof *whole);
        for (int d = 0; d < more; d++)
            whole[d] = 1;
        ndim += more > 0 ? more : 0;
        for (int d = 0; d < kiln_array_ndim(array); d++) {
            int64_t extent = kiln_array_shape(array)[d], *at = &whole[ndim - kiln_array_ndim(array) + d];
            *at = extent == 1 ? *at : extent;
        }
    }
    if (any_raw && !any_whole)
        return -1;
    bool reduces = call->reduces, all = options->axes.count == 0;
    if (reduces && cli_axes_read(axes, &n_axes, "reduce", options) != CLI_OK)
        return -1;
    for (int d = 0; d < ndim; d++) {
        bool is_reduced = reduces && all;
        for (int k = 0; k < n_axes; k++)
            is_reduced = is_reduced || axes[k] == d || axes[k] == d - ndim;
        if (!is_reduced || options->keepdims)
            shape[n_result_axes++] = is_reduced ? 1 : whole[d];
    }
    return n_result_axes;
}

/* An output is made here where --shape says of what shape it is, and where --type alone says of what
 * dtype. */
kiln_status cli_call_make_outputs(cli_call *call, const cli_options *options, kiln_device device)
{
    int64_t shape[KILN_MAX_NDIM];
    char type[64];
    bool has_shape = options->shape && !options->raw;
    kiln_status status = check_types(call, options);
    if (status != KILN_OK || (!has_shape && options->types.count == 0))
        return status;
    int ndim = has_shape ? cli_shape_read(shape, options->shape) : result_shape(shape, call, options);
    for (int j = 0; j < call->n_out && status == KILN_OK && ndim >= 0; j++) {
        kiln_dtype dtype;
        parameter_type(type, sizeof type, options->positional.items[1], j);
        bool is_given = is_placeholder(type) && given_dtype(options, type[0]);
        int i = is_placeholder(type) ? settled_by(call, options, type[0]) : -1;
        if (!has_shape && (!is_given || i >= 0 || is_raw(options->positional.items[1], j)))
            continue;
        status = parameter_dtype(&dtype, options, 1, j);
        if (i >= 0)
            dtype = kiln_array_dtype(call->in[i].value.array);
        if (status == KILN_OK)
            status = kiln_array_zeros(&call->out[j], dtype, ndim, shape, device);
    }
    return status;
}

void cli_call_drop_arrays(cli_call *call)
{
    for (int i = 0; i < call->n_in; i++)
        if (call->in[i].kind == KILN_ARG_ARRAY)
            kiln_array_free(call->in[i].value.array);
    call->n_in = 0;
    for (int j = 0; call->out && j < call->n_out; j++) {
        kiln_array_free(call->out[j]);
        call->out[j] = NULL;
    }
}

void cli_call_free(cli_call *call)
{
    cli_call_drop_arrays(call);
    kiln_kernel_free(call->kernel);
    free(call->in);
    free(call->out);
    free(call->word);
    free(call->file);
}
