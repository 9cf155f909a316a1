/* format_table.c - numbers as text: one row a line, commas or tabulators between them. */
#include "formats.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

typedef struct cell {
    double real, imaginary;
    int64_t whole;
} cell;

typedef struct table {
    cell *cells;
    size_t count, room;
    int64_t rows, columns;
    bool has_floats, has_complex;
    char separator;
} table;

static bool add_cell(table *t, const cell *c)
{
    if (t->count == t->room) {
        size_t room = t->room ? 2 * t->room : 1024;
        cell *more = realloc(t->cells, room * sizeof *more);
        if (!more)
            return false;
        t->cells = more;
        t->room = room;
    }
    t->cells[t->count++] = *c;
    return true;
}

/* The cell between two places, without blanks and quotes around it. An empty one is a NaN. */
static bool read_cell(table *t, cell *out, const char *begin, const char *end)
{
    char text[128];
    kiln_arg number;
    while (begin < end && isspace((unsigned char)*begin))
        begin++;
    while (end > begin && isspace((unsigned char)end[-1]))
        end--;
    if (end - begin >= 2 && *begin == '"' && end[-1] == '"') {
        begin++;
        end--;
    }
    *out = (cell){NAN, 0, 0};
    t->has_floats = t->has_floats || begin == end;
    if (begin == end)
        return true;
    if (end - begin >= (long)sizeof text)
        return false;
    memcpy(text, begin, (size_t)(end - begin));
    text[end - begin] = 0;
    if (!cli_number_read(&number, text))
        return false;
    switch (number.kind) {
    case KILN_ARG_WEAK_INT:
    case KILN_ARG_WEAK_BOOL:
        out->whole = number.value.i;
        out->real = (double)number.value.i;
        return true;
    case KILN_ARG_WEAK_COMPLEX:
        t->has_complex = true;
        out->real = number.value.d[0];
        out->imaginary = number.value.d[1];
        return true;
    default:
        t->has_floats = true;
        out->real = strtod(text, NULL); /* whole numbers beyond int64, too */
        return true;
    }
}

/* The number of cells; -1 where one is no number, which *bad then is; -2 where there is no memory. */
static int64_t read_line(table *t, const char *line, const char *end, int64_t *bad)
{
    int64_t cells = 0;
    for (const char *at = line;; at++) {
        const char *stop = memchr(at, t->separator, (size_t)(end - at));
        cell c;
        *bad = ++cells;
        if (!read_cell(t, &c, at, stop ? stop : end))
            return -1;
        if (!add_cell(t, &c))
            return -2;
        if (!stop)
            return cells;
        at = stop;
    }
}

static bool is_empty(const char *line, const char *end)
{
    while (line < end && isspace((unsigned char)*line))
        line++;
    return line == end || *line == '#';
}

/* Whether one of the cells is a number. Empty ones are none. */
static bool has_number(const char *line, const char *end, char separator)
{
    for (const char *at = line, *stop = line; stop; at = stop + 1) {
        table ignored = {.separator = separator};
        cell c;
        stop = memchr(at, separator, (size_t)(end - at));
        if (read_cell(&ignored, &c, at, stop ? stop : end) && !isnan(c.real))
            return true;
        if (!stop)
            break;
    }
    return false;
}

/* A first line of words alone names the columns. */
static kiln_status read_lines(table *t, const char *text, const char *text_end)
{
    int number = 1;
    for (const char *line = text, *end; line < text_end; line = end + 1, number++) {
        bool had_floats = t->has_floats, had_complex = t->has_complex;
        size_t before = t->count;
        int64_t bad = 0;
        end = memchr(line, '\n', (size_t)(text_end - line));
        end = end ? end : text_end;
        if (is_empty(line, end))
            continue;
        int64_t cells = read_line(t, line, end, &bad);
        if (cells == -2)
            return cli_fail(KILN_ERROR_MEMORY, "out of memory for %zu numbers", t->count);
        bool is_first = t->rows == 0 && t->columns == 0;
        if (cells == -1 && is_first && has_number(line, end, t->separator))
            return cli_fail(KILN_ERROR_FORMAT,
                            "line %d has numbers and words: a row is numbers, names of columns are words "
                            "('tail -n +%d' leaves the line out)",
                            number, number + 1);
        if (cells == -1 && is_first) {
            t->count = before;
            t->has_floats = had_floats;
            t->has_complex = had_complex;
            t->columns = -1; /* of one line alone */
            continue;
        }
        if (cells == -1)
            return cli_fail(KILN_ERROR_FORMAT, "line %d, column %lld: that is no number", number,
                            (long long)bad);
        if (t->rows > 0 && cells != t->columns)
            return cli_fail(KILN_ERROR_FORMAT, "line %d has %lld numbers, and the lines above have %lld",
                            number, (long long)cells, (long long)t->columns);
        t->columns = cells;
        t->rows++;
    }
    return t->rows > 0 ? KILN_OK : cli_fail(KILN_ERROR_FORMAT, "there are no numbers in it");
}

static kiln_status make_array(kiln_array **out, const table *t, kiln_device device)
{
    const int64_t shape[2] = {t->rows, t->columns};
    int ndim = t->columns == 1 ? 1 : 2;
    kiln_dtype dtype = t->has_complex ? KILN_COMPLEX128 : t->has_floats ? KILN_FLOAT64 : KILN_INT64;
    double *numbers = malloc(2 * t->count * sizeof *numbers);
    int64_t *whole = (int64_t *)(void *)numbers;
    if (!numbers)
        return cli_fail(KILN_ERROR_MEMORY, "out of memory for %zu numbers", t->count);
    for (size_t k = 0; k < t->count; k++) {
        const cell *c = &t->cells[k];
        if (t->has_complex) {
            numbers[2 * k] = c->real;
            numbers[2 * k + 1] = c->imaginary;
        } else if (t->has_floats)
            numbers[k] = c->real;
        else
            whole[k] = c->whole;
    }
    kiln_status status = kiln_array_from_host(out, numbers, dtype, ndim, shape, device);
    free(numbers);
    return status;
}

/* Where a .csv file has semicolons and no commas in its first line, these stand between its numbers. */
static char find_separator(const char *text, char separator)
{
    size_t line = strcspn(text, "\n");
    bool has_own = memchr(text, separator, line), has_other = memchr(text, ';', line);
    return separator == ',' && !has_own && has_other ? ';' : separator;
}

kiln_status format_table_read(kiln_array **out, const format_input *in, char separator)
{
    const char *text = (const char *)in->data;
    table t = {.separator = find_separator(text, separator)};
    kiln_status status = read_lines(&t, text, text + in->size);
    if (status == KILN_OK)
        status = make_array(out, &t, in->device);
    free(t.cells);
    return status;
}

/* ---- writing ---- */

static bool reads_back(const char *text, double value, bool is_float32)
{
    return value != value || (is_float32 ? (double)strtof(text, NULL) : strtod(text, NULL)) == value;
}

void cli_number_text(char text[40], double value, bool is_float32)
{
    int digits = is_float32 ? 6 : 15, most = is_float32 ? 9 : 17;
    do
        snprintf(text, 40, "%.*g", digits, value);
    while (!reads_back(text, value, is_float32) && digits++ < most);
}

static void put_double(cli_bytes *out, double value)
{
    char text[40];
    cli_number_text(text, value, false);
    cli_bytes_printf(out, "%s", text);
}

static void put_float(cli_bytes *out, const void *at)
{
    char text[40];
    cli_number_text(text, (double)*(const float *)at, true);
    cli_bytes_printf(out, "%s", text);
}

static void put_number(cli_bytes *out, const void *at)
{
    put_double(out, *(const double *)at);
}

static void put_complex64(cli_bytes *out, const void *at)
{
    const float *z = at;
    put_float(out, &z[0]);
    cli_bytes_printf(out, "%s", signbit(z[1]) ? "" : "+");
    put_float(out, &z[1]);
    cli_bytes_printf(out, "j");
}

static void put_complex128(cli_bytes *out, const void *at)
{
    const double *z = at;
    put_double(out, z[0]);
    cli_bytes_printf(out, "%s", signbit(z[1]) ? "" : "+");
    put_double(out, z[1]);
    cli_bytes_printf(out, "j");
}

#define PUT_WHOLE(name, type, format, wide)                                                                  \
    static void put_##name(cli_bytes *out, const void *at)                                                   \
    {                                                                                                        \
        cli_bytes_printf(out, format, (wide) * (const type *)at);                                            \
    }
PUT_WHOLE(int8, int8_t, "%lld", long long)
PUT_WHOLE(int16, int16_t, "%lld", long long)
PUT_WHOLE(int32, int32_t, "%lld", long long)
PUT_WHOLE(int64, int64_t, "%lld", long long)
PUT_WHOLE(uint8, uint8_t, "%llu", unsigned long long)
PUT_WHOLE(uint16, uint16_t, "%llu", unsigned long long)
PUT_WHOLE(uint32, uint32_t, "%llu", unsigned long long)
PUT_WHOLE(uint64, uint64_t, "%llu", unsigned long long)

/* Numbers of 16 bits are written as the float32 that they are. */
static const struct writer {
    kiln_dtype dtype;
    void (*put)(cli_bytes *out, const void *at);
} writers[] = {{KILN_BOOL, put_uint8},           {KILN_INT8, put_int8},      {KILN_INT16, put_int16},
               {KILN_INT32, put_int32},          {KILN_INT64, put_int64},    {KILN_UINT8, put_uint8},
               {KILN_UINT16, put_uint16},        {KILN_UINT32, put_uint32},  {KILN_UINT64, put_uint64},
               {KILN_FLOAT32, put_float},        {KILN_FLOAT64, put_number}, {KILN_COMPLEX64, put_complex64},
               {KILN_COMPLEX128, put_complex128}};

static const struct writer *find_writer(kiln_dtype dtype)
{
    size_t k = 0;
    while (k + 1 < sizeof writers / sizeof *writers && writers[k].dtype != dtype)
        k++;
    return &writers[k];
}

static kiln_status put_rows(cli_bytes *out, const cli_result *result, char separator)
{
    const int64_t *shape = kiln_array_shape(result->array);
    int ndim = kiln_array_ndim(result->array);
    kiln_dtype dtype = kiln_array_dtype(result->array);
    const struct writer *w = find_writer(dtype);
    int64_t columns = ndim == 2 ? shape[1] : 1, count = kiln_array_size(result->array);
    size_t item = kiln_dtype_size(dtype);
    unsigned char *data = format_elements(result);
    if (!data)
        return KILN_ERROR_MEMORY;
    for (int64_t k = 0; k < count; k++) {
        w->put(out, data + (size_t)k * item);
        const char end = (k + 1) % columns ? separator : '\n';
        cli_bytes_put(out, &end, 1);
    }
    free(data);
    return KILN_OK;
}

kiln_status format_table_write(cli_bytes *out, const cli_result *result, char separator)
{
    kiln_dtype dtype = kiln_array_dtype(result->array);
    cli_result wide = *result;
    kiln_array *converted = NULL;
    if (kiln_array_ndim(result->array) > 2)
        return cli_fail(KILN_ERROR_SHAPE,
                        "a table has rows and columns, and '%s' has %d axes: reshape it, or write .npy",
                        result->name, kiln_array_ndim(result->array));
    if (dtype == KILN_FLOAT16 || dtype == KILN_BFLOAT16) {
        kiln_status status = kiln_array_astype(&converted, result->array, KILN_FLOAT32);
        if (status != KILN_OK)
            return status;
        wide.array = converted;
    }
    kiln_status status = put_rows(out, &wide, separator);
    kiln_array_free(converted);
    return status;
}
