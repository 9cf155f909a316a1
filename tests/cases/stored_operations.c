/* stored_operations - the operations of the table, dtype by dtype, against results of NumPy's, which are in
 * tests/data/operations.txt (made by make_operations.py): NaN, infinities, both zeros, the ends of dtypes.
 * Floats may be off by 4 units of the last place, bfloat16 (NumPy's float32, rounded) by one, parts of
 * complex numbers by 64 of the larger part's, and sums by as many as there are terms more; all else is exact.
 * A few lines are drawn, others at each run; KILN_SOAK=1: all.
 *
 * Which variants have no results there is derived, and has to be what WITHOUT says.
 *
 * usage: stored_operations FILE [WITHOUT [PART PARTS]]: every line whose number has that remainder
 *        stored_operations FILE --without     prints what WITHOUT has to say */
#include <kiln/kiln.h>

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../drawn.h"

enum { LISTS = 192, MOST = 64, OPERANDS = 3, SHARE = 90, ULPS = 4, COMPLEX_ULPS = 64 };

typedef struct list {
    char name[32];
    kiln_dtype dtype;
    int count;
    bool is_open[MOST]; /* not compared */
    unsigned char bytes[MOST * 16];
} list;

static list lists[LISTS];
static int n_lists, checked, failed;
static long part = 0, parts = 1;

static void fail(const char *line, const char *message)
{
    printf("FAILED: %.60s...: %s\n", line, message);
    failed++;
}

/* ---- reading ---- */

/* Hexadecimal digits, the highest first, of an element's bits. */
static void read_bits(unsigned char *out, size_t size, const char *digits)
{
    size_t length = strlen(digits);
    memset(out, 0, size);
    for (size_t k = 0; k < length; k++) {
        const char c = digits[length - 1 - k];
        const int digit = c <= '9' ? c - '0' : c - 'a' + 10;
        out[k / 2] |= (unsigned char)(digit << 4 * (k % 2));
    }
}

/* "DTYPE ELEMENT ...", up to "|" or the end of the words. */
static bool read_elements(list *out, char **words)
{
    char *word = strtok_r(NULL, " \n", words);
    if (!word || kiln_dtype_from_name(&out->dtype, word) != KILN_OK)
        return false;
    const size_t size = kiln_dtype_size(out->dtype);
    out->count = 0;
    while ((word = strtok_r(NULL, " \n", words)) && *word != '|' && out->count < MOST) {
        out->is_open[out->count] = *word == '-';
        if (*word != '-')
            read_bits(out->bytes + (size_t)out->count * size, size, word);
        out->count++;
    }
    return true;
}

static const list *find_list(const char *name)
{
    for (int k = 0; k < n_lists; k++)
        if (strcmp(lists[k].name, name) == 0)
            return &lists[k];
    return NULL;
}

/* ---- comparing ---- */

static double brain_value(uint16_t bits)
{
    const uint32_t upper = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &upper, sizeof value);
    return (double)value;
}

static double half_value(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent == 31  ? (fraction ? NAN : INFINITY)
                        : exponent == 0 ? ldexp(fraction, -24)
                                        : ldexp(1024 + fraction, exponent - 25);
    return bits >> 15 ? -size : size;
}

/* Part `part` of an element; *digits and *least: the bits of its fraction, and the least exponent. */
static double value_of(const unsigned char *at, kiln_dtype dtype, int part, int *digits, int *least)
{
    uint16_t half;
    float single;
    double wide;
    const bool is_wide = dtype == KILN_FLOAT64 || dtype == KILN_COMPLEX128;
    const bool is_brain = dtype == KILN_BFLOAT16;
    *digits = dtype == KILN_FLOAT16 ? 10 : is_brain ? 7 : is_wide ? 52 : 23;
    *least = dtype == KILN_FLOAT16 ? -14 : is_wide ? -1022 : -126;
    memcpy(&half, at, sizeof half);
    if (is_brain)
        return brain_value(half);
    memcpy(&single, at + (is_wide ? 0 : (size_t)part * sizeof single), sizeof single);
    if (is_wide)
        memcpy(&wide, at + (size_t)part * sizeof wide, sizeof wide);
    return dtype == KILN_FLOAT16 ? half_value(half) : is_wide ? wide : (double)single;
}

/* The distance in units of the last place of `scale`. */
static double distance(double a, double b, double scale, int digits, int least)
{
    int exponent;
    if ((isnan(a) && isnan(b)) || (a == b && (a != 0 || signbit(a) == signbit(b))))
        return 0;
    if (isnan(a) || isnan(b) || isinf(a) || isinf(b))
        return INFINITY;
    if (a == 0 && b == 0)
        return INFINITY; /* the other zero */
    frexp(scale, &exponent);
    return fabs(a - b) / ldexp(1, (exponent - 1 > least ? exponent - 1 : least) - digits);
}

/* The distance of element k from the right one; real numbers of other dtypes are equal, or infinitely far. */
static double element_distance(const list *right, const unsigned char *got, int k)
{
    const size_t size = kiln_dtype_size(right->dtype);
    const unsigned char *at[] = {got + (size_t)k * size, right->bytes + (size_t)k * size};
    const bool is_complex = right->dtype == KILN_COMPLEX64 || right->dtype == KILN_COMPLEX128;
    if (!is_complex && right->dtype != KILN_FLOAT16 && right->dtype != KILN_FLOAT32 &&
        right->dtype != KILN_FLOAT64 && right->dtype != KILN_BFLOAT16)
        return memcmp(at[0], at[1], size) == 0 ? 0 : INFINITY;
    int digits, least;
    double part[2][2] = {{0}}, far = 0;
    for (int p = 0; p <= is_complex; p++)
        for (int side = 0; side < 2; side++)
            part[side][p] = value_of(at[side], right->dtype, p, &digits, &least);
    const double scale = fmax(fabs(part[1][0]), fabs(part[1][1]));
    for (int p = 0; p <= is_complex; p++) {
        double a = part[0][p], b = part[1][p];
        if (is_complex && a == 0 && b == 0)
            continue; /* the signs of complex zeros are for check_operations.py */
        far = fmax(far, distance(a, b, is_complex ? scale : b, digits, least));
    }
    return far;
}

/* ---- bounds ---- */

typedef struct bound {
    char name[32];
    double ulps, of_complex;
} bound;
static bound bounds[64];
static int n_bounds;

/* A sum of so many terms may be off by as many units more. */
static bound bound_of(const char *name, int terms)
{
    bound found = {"", ULPS, COMPLEX_ULPS};
    for (int k = 0; k < n_bounds; k++)
        if (strcmp(bounds[k].name, name) == 0)
            found = bounds[k];
    found.ulps += terms;
    return found;
}

/* ---- calling ---- */

static kiln_array *upload(const list *of, int columns)
{
    const int64_t shape[] = {columns ? of->count / columns : of->count, columns};
    kiln_array *out = NULL;
    return kiln_array_from_host(&out, of->bytes, of->dtype, columns ? 2 : 1, shape, KILN_DEVICE_DEFAULT) ==
                   KILN_OK
               ? out
               : NULL;
}

static void compare(const char *line, const list *right, const kiln_array *got, const bound *allowed)
{
    unsigned char bytes[MOST * 16];
    char message[128];
    const bool is_complex = right->dtype == KILN_COMPLEX64 || right->dtype == KILN_COMPLEX128;
    const double most = is_complex ? allowed->of_complex : right->dtype == KILN_BFLOAT16 ? 1 : allowed->ulps;
    if (kiln_array_dtype(got) != right->dtype || kiln_array_size(got) != right->count) {
        snprintf(message, sizeof message, "%" PRId64 " of %s, not %d of %s", kiln_array_size(got),
                 kiln_dtype_name(kiln_array_dtype(got)), right->count, kiln_dtype_name(right->dtype));
        fail(line, message);
        return;
    }
    if (kiln_array_to_host(got, bytes, kiln_array_nbytes(got)) != KILN_OK) {
        fail(line, kiln_error_message());
        return;
    }
    for (int k = 0; k < right->count; k++) {
        const double off = right->is_open[k] ? 0 : element_distance(right, bytes, k);
        if (off <= most)
            continue;
        snprintf(message, sizeof message, "element %d is off by %.1f units of the last place", k, off);
        fail(line, message);
        return;
    }
}

/* columns 0: element by element. */
static void call(const char *line, const char *name, char *operands, int columns, char **words)
{
    list right[2];
    kiln_array *in[OPERANDS] = {NULL}, *out[2] = {NULL};
    kiln_arg arguments[OPERANDS];
    const int last = -1;
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    char *rest = operands;
    int n_in = 0, n_out = 0;
    for (char *each; n_in < OPERANDS && (each = strsep(&rest, ",")); n_in++) {
        const list *found = find_list(each);
        in[n_in] = found ? upload(found, columns) : NULL;
        arguments[n_in] = kiln_arg_array(in[n_in]);
    }
    while (n_out < 2 && read_elements(&right[n_out], words))
        n_out++;
    if (columns) {
        options.axes = &last;
        options.n_axes = 1;
    }
    const bound allowed = bound_of(name, columns);
    checked++;
    if (n_out == 0 || kiln_operation_call(out, n_out, name, arguments, n_in, &options) != KILN_OK)
        fail(line, n_out == 0 ? "no results" : kiln_error_message());
    else
        for (int k = 0; k < n_out; k++)
            compare(line, &right[k], out[k], &allowed);
    for (int k = 0; k < OPERANDS; k++)
        kiln_array_free(in[k]);
    for (int k = 0; k < 2; k++)
        kiln_array_free(out[k]);
}

/* ---- variants without results ---- */

/* "name letters\n" of each line, of the dtypes of its lists. */
static char stored[1 << 17];
static size_t n_stored;

static char letter_of(kiln_dtype dtype)
{
    static const struct {
        kiln_dtype dtype;
        char letter;
    } letters[] = {{KILN_BOOL, '?'},    {KILN_INT8, 'b'},      {KILN_INT16, 'h'},     {KILN_INT32, 'i'},
                   {KILN_INT64, 'l'},   {KILN_UINT8, 'B'},     {KILN_UINT16, 'H'},    {KILN_UINT32, 'I'},
                   {KILN_UINT64, 'L'},  {KILN_FLOAT16, 'e'},   {KILN_BFLOAT16, 'E'},  {KILN_FLOAT32, 'f'},
                   {KILN_FLOAT64, 'd'}, {KILN_COMPLEX64, 'F'}, {KILN_COMPLEX128, 'D'}};
    for (size_t k = 0; k < sizeof letters / sizeof letters[0]; k++)
        if (letters[k].dtype == dtype)
            return letters[k].letter;
    return 0;
}

static void note_stored(const char *name, const char *operands)
{
    char copy[128], text[OPERANDS + 1] = "", *rest = copy;
    snprintf(copy, sizeof copy, "%s", operands);
    for (int k = 0; k < OPERANDS && rest; k++) {
        const list *found = find_list(strsep(&rest, ","));
        text[k] = found ? letter_of(found->dtype) : 0;
    }
    n_stored += (size_t)snprintf(stored + n_stored, sizeof stored - n_stored, "\n%s %s\n", name, text);
}

/* Appends " letters" for each variant of the operation that no line has. */
static void list_missing(char *out, size_t size, const kiln_operation *operation)
{
    size_t used = 0;
    out[0] = 0;
    for (const char *at = operation->types; *at; at += strspn(at, " ")) {
        char sought[96];
        const int inputs = (int)strcspn(at, "-");
        snprintf(sought, sizeof sought, "\n%s %.*s\n", operation->name, inputs, at);
        if (!strstr(stored, sought))
            used += (size_t)snprintf(out + used, size - used, " %.*s", inputs, at);
        at += strcspn(at, " ");
    }
}

/* One line for each row of the table of which something is missing: "name letters ...". */
static void write_missing(FILE *out)
{
    static char letters[8192];
    for (int k = 0; k < kiln_operation_count(); k++) {
        kiln_operation operation = KILN_OPERATION_INIT;
        if (kiln_operation_at(&operation, k) != KILN_OK || !operation.map)
            continue;
        list_missing(letters, sizeof letters, &operation);
        if (letters[0])
            fprintf(out, "%s%s\n", operation.name, letters);
    }
}

/* Line by line; those that begin with # are for readers. */
static void compare_missing(const char *path)
{
    static char said[1 << 14], derived[1 << 14];
    FILE *file = fopen(path, "r"), *now = tmpfile();
    if (!file || !now) {
        fail(path, "it cannot be read");
        return;
    }
    write_missing(now);
    rewind(now);
    for (bool more = true; more;) {
        do
            more = fgets(said, sizeof said, file);
        while (more && said[0] == '#');
        const bool is_derived = fgets(derived, sizeof derived, now);
        if (more == is_derived && (!more || strcmp(said, derived) == 0))
            continue;
        said[strcspn(said, "\n")] = 0;
        fail(more ? said : "the end", "is said of variants without results, which are others: --without");
        more = false;
    }
    fclose(file);
    fclose(now);
}

/* ---- lines ---- */

static void read_line(char *line, size_t number)
{
    char *words = NULL, shown[64];
    snprintf(shown, sizeof shown, "%.60s", line);
    const char *kind = strtok_r(line, " \n", &words), *name = strtok_r(NULL, " \n", &words);
    if (strcmp(kind, "list") == 0) {
        list *l = &lists[n_lists++];
        snprintf(l->name, sizeof l->name, "%s", name);
        if (n_lists == LISTS || !read_elements(l, &words))
            fail(shown, "a list that cannot be read");
    } else if (strcmp(kind, "bounds") == 0) {
        snprintf(bounds[n_bounds].name, sizeof bounds[0].name, "%s", name);
        bounds[n_bounds].ulps = atof(strtok_r(NULL, " \n", &words));
        bounds[n_bounds++].of_complex = atof(strtok_r(NULL, " \n", &words));
    } else {
        char *operands = strtok_r(NULL, " \n", &words);
        note_stored(name, operands);
        if ((long)number % parts != part || !is_drawn(number, SHARE))
            return;
        const bool is_map = strcmp(kind, "map") == 0;
        const int columns = is_map ? 0 : atoi(strtok_r(NULL, " \n", &words));
        call(shown, name, operands, columns, &words);
    }
}

int main(int argc, char **argv)
{
    static char line[1 << 16];
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    const bool prints = argc > 2 && strcmp(argv[2], "--without") == 0;
    if (argc > 4) {
        part = atol(argv[3]);
        parts = atol(argv[4]) > 0 ? atol(argv[4]) : 1;
    }
    kiln_device device;
    if (kiln_device_current(&device) != KILN_OK) {
        printf("skipped: %s\n", kiln_error_message());
        return 77;
    }
    if (!file)
        return printf("%s: no such file\n", argc > 1 ? argv[1] : "FILE"), 1;
    parts = prints ? LONG_MAX : parts; /* nothing is called */
    part = prints ? -1 : part;
    for (size_t number = 0; fgets(line, sizeof line, file); number++)
        read_line(line, number);
    fclose(file);
    if (prints)
        return write_missing(stdout), 0;
    if (argc > 2)
        compare_missing(argv[2]);
    printf("%d calls, %d failed\n", checked, failed);
    return failed > 0 || n_lists == 0;
}
