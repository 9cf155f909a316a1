/* formats.c - which formats there are, and how the one of a file is found: --from or --to, its suffix, its
 * first bytes. */
#include "formats.h"
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* ---- formats that need no file of their own ---- */

static bool begins(const unsigned char *data, size_t size, const char *magic, size_t length)
{
    return size >= length && memcmp(data, magic, length) == 0;
}

/* The files that the library reads and writes. */
static kiln_status own_read(kiln_array **out, const format_input *in)
{
    return kiln_array_load_bytes(out, in->data, in->size, in->device);
}

static kiln_status own_write(cli_bytes *out, const cli_result *result, const char *suffix)
{
    void *bytes = NULL;
    size_t size = 0;
    kiln_status status = kiln_array_save_bytes(&bytes, &size, result->array, suffix);
    if (status == KILN_OK)
        cli_bytes_put(out, bytes, size);
    kiln_free(bytes);
    return status;
}

static bool is_npy(const unsigned char *data, size_t size)
{
    return begins(data, size, "\x93NUMPY", 6);
}

static kiln_status npy_read(kiln_array **out, const format_input *in)
{
    return kiln_array_load_npy_bytes(out, in->data, in->size, in->member, in->device);
}

static kiln_status npy_write(cli_bytes *out, const cli_result *results, int n)
{
    (void)n;
    return own_write(out, results, ".npy");
}

static bool is_npz(const unsigned char *data, size_t size)
{
    return begins(data, size, "PK\3\4", 4) || begins(data, size, "PK\5\6", 4);
}

static bool is_png(const unsigned char *data, size_t size)
{
    return begins(data, size, "\x89PNG\r\n\x1a\n", 8);
}

static bool is_pnm(const unsigned char *data, size_t size)
{
    return size > 2 && data[0] == 'P' && data[1] && strchr("2356", data[1]) && isspace(data[2]);
}

static bool is_pfm(const unsigned char *data, size_t size)
{
    return size > 2 && data[0] == 'P' && (data[1] == 'F' || data[1] == 'f') && isspace(data[2]);
}

static kiln_status pnm_write(cli_bytes *out, const cli_result *results, int n)
{
    (void)n;
    return own_write(out, results, ".pnm");
}

static kiln_status pfm_write(cli_bytes *out, const cli_result *results, int n)
{
    (void)n;
    return own_write(out, results, ".pfm");
}

/* Text, as far as the first bytes go. */
static bool is_text(const unsigned char *data, size_t size)
{
    enum { LOOKED_AT = 512 };
    for (size_t k = 0; k < size && k < LOOKED_AT; k++)
        if (data[k] < 0x20 && !isspace(data[k]))
            return false;
    return true;
}

static kiln_status csv_read(kiln_array **out, const format_input *in)
{
    return format_table_read(out, in, ',');
}

static kiln_status csv_write(cli_bytes *out, const cli_result *results, int n)
{
    (void)n;
    return format_table_write(out, results, ',');
}

static kiln_status tsv_read(kiln_array **out, const format_input *in)
{
    return format_table_read(out, in, '\t');
}

static kiln_status tsv_write(cli_bytes *out, const cli_result *results, int n)
{
    (void)n;
    return format_table_write(out, results, '\t');
}

static kiln_status raw_read(kiln_array **out, const format_input *in)
{
    int64_t shape[KILN_MAX_NDIM];
    kiln_dtype dtype;
    int ndim = 1;
    if (!in->options->raw)
        return cli_fail(KILN_ERROR_TYPE,
                        "raw elements need --raw DTYPE, and --shape where they have more than one axis");
    kiln_status status = kiln_dtype_from_name(&dtype, in->options->raw);
    if (status != KILN_OK)
        return status;
    size_t wanted = kiln_dtype_size(dtype);
    shape[0] = (int64_t)(in->size / wanted);
    if (in->options->shape)
        ndim = cli_shape_read(shape, in->options->shape);
    for (int d = 0; d < ndim; d++)
        if (__builtin_mul_overflow(wanted, (size_t)shape[d], &wanted))
            return cli_fail(KILN_ERROR_SHAPE, "--shape %s is more than any file holds", in->options->shape);
    if (wanted != in->size)
        return cli_fail(KILN_ERROR_FORMAT, "it has %zu bytes, but %s%s%s are %zu", in->size, in->options->raw,
                        in->options->shape ? " elements of --shape " : " elements, as many as fit,",
                        in->options->shape ? in->options->shape : "", wanted);
    return kiln_array_from_host(out, in->data, dtype, ndim, shape, in->device);
}

static kiln_status raw_write(cli_bytes *out, const cli_result *results, int n)
{
    void *data = format_elements(&results[0]);
    (void)n;
    if (!data)
        return KILN_ERROR_MEMORY;
    cli_bytes_put(out, data, kiln_array_nbytes(results[0].array));
    free(data);
    return KILN_OK;
}

/* ---- the table ---- */

static const format formats[] = {
    {"npy", ".npy", "NumPy's files; of a structured one FILE.npy:FIELD", true, is_npy, npy_read, npy_write,
     format_npy_list, 1 << 20},
    {"npz", ".npz", "several of them; FILE.npz:NAME is one", true, is_npz, format_npz_read, format_npz_write,
     format_npz_list, SIZE_MAX},
    {"csv", ".csv", "cells between commas (or semicolons), a row each line: --header, --text", false, NULL,
     csv_read, csv_write, NULL, 0},
    {"tsv", ".tsv", "... between tabulators", false, NULL, tsv_read, tsv_write, NULL, 0},
    {"raw", ".raw .bin", "elements alone: --raw DTYPE --shape N,M,...", false, NULL, raw_read, raw_write,
     NULL, 0},
    {"pnm", ".pgm .ppm .pnm", "pictures of 8 or 16 bits: (height, width) or (height, width, 3)", false,
     is_pnm, own_read, pnm_write, NULL, 0},
    {"pfm", ".pfm", "... of float32", false, is_pfm, own_read, pfm_write, NULL, 0},
    {"png", ".png", "... of 8 or 16 bits, of 1 to 4 channels", false, is_png, format_png_read,
     format_png_write, NULL, 0},
};
enum { FORMATS = sizeof formats / sizeof *formats };

void cli_formats_help(FILE *file)
{
    for (int f = 0; f < FORMATS; f++)
        fprintf(file, "  %-16s %s\n", formats[f].suffixes, formats[f].what);
}

static const format *format_of_name(const char *name)
{
    for (int f = 0; f < FORMATS; f++)
        if (strcmp(formats[f].name, name) == 0)
            return &formats[f];
    return NULL;
}

/* From the last dot of the last part of a path; "" where it has none. */
static const char *suffix_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    return dot && (!slash || dot > slash) && dot[1] ? dot : "";
}

static const format *format_of_suffix(const char *suffix, size_t length)
{
    for (int f = 0; f < FORMATS && length > 0; f++)
        for (const char *s = formats[f].suffixes; *s; s += strcspn(s, " "), s += *s == ' ')
            if (strcspn(s, " ") == length && strncasecmp(s, suffix, length) == 0)
                return &formats[f];
    return NULL;
}

static const format *format_of_bytes(const format_input *in)
{
    for (int f = 0; f < FORMATS; f++)
        if (formats[f].is && formats[f].is(in->data, in->size))
            return &formats[f];
    if (in->options->raw)
        return format_of_name("raw");
    return in->size > 0 && is_text(in->data, in->size) ? format_of_name("csv") : NULL;
}

static void join_names(char *names, size_t size, const char *between)
{
    names[0] = 0;
    for (int f = 0; f < FORMATS; f++)
        snprintf(names + strlen(names), size - strlen(names), "%s%s", f ? between : "", formats[f].name);
}

static const char *all_names(void)
{
    static char names[128];
    join_names(names, sizeof names, ", ");
    return names;
}

const char *cli_formats_names(void)
{
    static char names[128];
    join_names(names, sizeof names, " ");
    return names;
}

/* One of the words between bars, which are said where it is none. */
static int check_word(const char *command, const char *option, const char *given, const char *words)
{
    for (const char *at = words; given && *at; at += strcspn(at, "|"), at += *at == '|')
        if (strcspn(at, "|") == strlen(given) && strncmp(at, given, strlen(given)) == 0)
            return CLI_OK;
    return given ? cli_usage_error(command, "%s takes one of %s, not '%s'", option, words, given) : CLI_OK;
}

int cli_formats_check(const char *command, const cli_options *options)
{
    const char *given[] = {options->from, options->to}, *const option[] = {"from", "to"};
    kiln_dtype dtype;
    for (int k = 0; k < 2; k++)
        if (given[k] && !format_of_name(given[k]))
            return cli_usage_error(command, "--%s takes one of %s, not '%s'", option[k], all_names(),
                                   given[k]);
    int code = check_word(command, "--header", options->header, "yes|no|auto");
    if (code == CLI_OK)
        code = check_word(command, "--text", options->text, "auto|skip|categories");
    if (code != CLI_OK)
        return code;
    if (options->raw && kiln_dtype_from_name(&dtype, options->raw) != KILN_OK)
        return cli_usage_error(command, "--raw: %s", kiln_error_message());
    bool is_for_raw = strcmp(command, "eval") == 0 || strcmp(command, "show") == 0;
    if (options->shape && !options->raw && is_for_raw)
        return cli_usage_error(command, "--shape is the shape of raw files, and goes with --raw DTYPE");
    return CLI_OK;
}

/* ---- a word of the command line ---- */

/* "photo.npz:mean": the path and the member. */
typedef struct file_word {
    char path[4096];
    const char *member; /* NULL: none is named */
    const format *format;
} file_word;

static kiln_status read_word(file_word *out, const char *word, const char *given)
{
    const char *colon = strrchr(word, ':');
    if (snprintf(out->path, sizeof out->path, "%s", word) >= (int)sizeof out->path)
        return cli_fail(KILN_ERROR_INVALID, "%.40s...: the name is too long", word);
    out->member = NULL;
    if (colon && !strchr(colon, '/')) {
        out->path[colon - word] = 0;
        const char *suffix = suffix_of(out->path);
        const format *f = format_of_suffix(suffix, strlen(suffix));
        bool is_member = (f && f->has_members) || (colon == word + 1 && *word == '-');
        out->member = is_member ? colon + 1 : NULL;
        if (!is_member)
            out->path[colon - word] = ':';
    }
    const char *suffix = suffix_of(out->path);
    out->format = given ? format_of_name(given) : format_of_suffix(suffix, strlen(suffix));
    return KILN_OK;
}

const char *cli_file_member(const char *word)
{
    file_word file;
    return read_word(&file, word, NULL) == KILN_OK ? file.member : NULL;
}

bool cli_file_path(char *out, size_t size, const char *word)
{
    file_word file;
    return read_word(&file, word, NULL) == KILN_OK && snprintf(out, size, "%s", file.path) < (int)size;
}

bool cli_results_share_file(const char *word, const char *other, const cli_options *options)
{
    file_word a, b;
    return read_word(&a, word, options->to) == KILN_OK && read_word(&b, other, options->to) == KILN_OK &&
           a.format == format_of_name("npz") && a.format == b.format && strcmp(a.path, b.path) == 0;
}

/* ---- reading ---- */

static kiln_status read_file(kiln_array **out, const file_word *word, const cli_options *options,
                             kiln_device device)
{
    static bool has_read_input;
    bool is_input = strcmp(word->path, "-") == 0;
    cli_bytes bytes;
    if (is_input && has_read_input)
        return cli_fail(KILN_ERROR_INVALID, "standard input is read once, and '-' was given again");
    has_read_input = has_read_input || is_input;
    kiln_status status = cli_bytes_read(&bytes, word->path, SIZE_MAX);
    if (status != KILN_OK)
        return status;
    const char *name = is_input ? "standard input" : word->path;
    const format_input in = {bytes.data, bytes.size, word->member, options, device, name};
    const format *f = word->format ? word->format : format_of_bytes(&in);
    if (!f && bytes.size == 0)
        status = cli_fail(KILN_ERROR_FORMAT, "%s: it is empty", name);
    else if (!f)
        status = cli_fail(KILN_ERROR_FORMAT,
                          "%s: neither its suffix nor its first bytes tell the format: --from takes "
                          "one of %s",
                          name, all_names());
    else if (word->member && !f->has_members)
        status = cli_fail(KILN_ERROR_FORMAT, "%s: a .%s file has no parts, and ':%s' names one", name,
                          f->name, word->member);
    else if ((status = f->read(out, &in)) != KILN_OK)
        status = cli_fail(status, "%s: %s", name, cli_fail_message());
    free(bytes.data);
    return status;
}

kiln_status cli_array_read(kiln_array **out, const char *word, const cli_options *options, kiln_device device)
{
    file_word file;
    kiln_status status = read_word(&file, word, options->from);
    if (status != KILN_OK)
        return status;
    if (file.format == &formats[0] && !file.member && strcmp(file.path, "-") != 0)
        return kiln_array_load_npy(out, file.path, device);
    return read_file(out, &file, options, device);
}

kiln_status cli_parts_list(cli_bytes *out, const char *word, const cli_options *options)
{
    file_word file;
    cli_bytes bytes;
    *out = (cli_bytes){NULL, 0, 0, false};
    kiln_status status = read_word(&file, word, options->from);
    if (status != KILN_OK || file.member || !file.format || !file.format->list || strcmp(file.path, "-") == 0)
        return status;
    status = cli_bytes_read(&bytes, file.path, file.format->list_most);
    if (status != KILN_OK)
        return status;
    const format_input in = {bytes.data, bytes.size, NULL, options, KILN_DEVICE_HOST, file.path};
    status = file.format->list(out, &in);
    if (status == KILN_OK && out->failed)
        status = cli_fail(KILN_ERROR_MEMORY, "out of memory for the names in a file");
    if (status != KILN_OK)
        status = cli_fail(status, "%s: %s", file.path, cli_fail_message());
    free(bytes.data);
    return status;
}

/* ---- writing ---- */

int cli_result_check(const char *command, const char *word, const cli_options *options)
{
    file_word file;
    bool is_output = strcmp(word, "-") == 0;
    if (read_word(&file, word, options->to) != KILN_OK)
        return cli_usage_error(command, "%s", cli_fail_message());
    if (is_output && isatty(STDOUT_FILENO) && (!file.format || !strstr("csv tsv", file.format->name)))
        return cli_usage_error(
            command, "-o -: standard output is a terminal; --to csv writes numbers that people read");
    if (file.format || is_output || !*suffix_of(file.path))
        return CLI_OK;
    return cli_usage_error(
        command, "-o %s: '%s' is the suffix of no format that is written; those are %s (--to says which)",
        word, suffix_of(file.path), all_names());
}

static kiln_status put_bytes(const char *path, const cli_bytes *bytes)
{
    if (bytes->failed)
        return cli_fail(KILN_ERROR_MEMORY, "out of memory for %s", path);
    if (strcmp(path, "-") == 0)
        return fwrite(bytes->data, 1, bytes->size, stdout) == bytes->size && fflush(stdout) == 0
                   ? KILN_OK
                   : cli_fail(KILN_ERROR_IO, "standard output: %s", strerror(errno));
    kiln_status status = kiln_file_write(path, bytes->data, bytes->size, 0);
    return status == KILN_OK ? KILN_OK : cli_fail(status, "%s", kiln_error_message());
}

/* Collects the results, from the first on, that go into the same file: they are moved together. */
static int gather_of_file(cli_result *group, cli_result *results, int n, const char *path,
                          const cli_options *options)
{
    int count = 0;
    for (int k = 0; k < n; k++) {
        file_word file;
        if (!results[k].word || read_word(&file, results[k].word, options->to) != KILN_OK ||
            strcmp(file.path, path) != 0)
            continue;
        group[count] = results[k];
        if (file.member)
            group[count].name = results[k].word + strlen(path) + 1;
        count++;
        results[k].word = NULL;
    }
    return count;
}

kiln_status cli_results_write(cli_result *results, int n, const cli_options *options)
{
    cli_result *group = calloc((size_t)n + 1, sizeof *group);
    kiln_status status = group ? KILN_OK : KILN_ERROR_MEMORY;
    for (int k = 0; k < n && status == KILN_OK; k++) {
        cli_bytes bytes = {NULL, 0, 0, false};
        file_word file;
        if (!results[k].word)
            continue;
        status = read_word(&file, results[k].word, options->to);
        if (status != KILN_OK)
            break;
        const format *f = file.format ? file.format : &formats[0];
        int count = gather_of_file(group, results + k, f == &formats[1] ? n - k : 1, file.path, options);
        status = f->write(&bytes, group, count);
        status = status != KILN_OK ? cli_fail(status, "%s: %s", file.path, cli_fail_message())
                                   : put_bytes(file.path, &bytes);
        free(bytes.data);
    }
    free(group);
    return status;
}

/* ---- what writers share ---- */

void *format_elements(const cli_result *result)
{
    size_t bytes = kiln_array_nbytes(result->array);
    void *data = malloc(bytes + 1);
    if (!data) {
        cli_fail(KILN_ERROR_MEMORY, "out of memory: %zu bytes of elements", bytes);
        return NULL;
    }
    if (kiln_array_to_host(result->array, data, bytes) == KILN_OK)
        return data;
    cli_fail(kiln_error_status(), "%s", kiln_error_message());
    free(data);
    return NULL;
}

kiln_status format_picture(int64_t extents[3], const cli_result *result, int most)
{
    const int64_t *shape = kiln_array_shape(result->array);
    int ndim = kiln_array_ndim(result->array);
    kiln_dtype dtype = kiln_array_dtype(result->array);
    if (dtype != KILN_UINT8 && dtype != KILN_UINT16)
        return cli_fail(KILN_ERROR_TYPE,
                        "pictures of this format are uint8 or uint16, and '%s' is %s: cast it, as in "
                        "clip(x * 255, 0, 255).astype(uint8)",
                        result->name, kiln_dtype_name(dtype));
    if (ndim < 2 || ndim > 3 || (ndim == 3 && (shape[2] < 1 || shape[2] > most)))
        return cli_fail(KILN_ERROR_SHAPE,
                        "a picture of this format is (height, width) or (height, width, 1 to %d), and "
                        "'%s' is neither",
                        most, result->name);
    extents[0] = shape[0];
    extents[1] = shape[1];
    extents[2] = ndim == 3 ? shape[2] : 1;
    return extents[0] > 0 && extents[1] > 0 && extents[0] <= 1 << 30 && extents[1] <= 1 << 30
               ? KILN_OK
               : cli_fail(KILN_ERROR_SHAPE, "a picture has 1 to 2^30 rows and columns, and '%s' has others",
                          result->name);
}
