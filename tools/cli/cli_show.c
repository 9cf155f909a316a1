/* cli_show.c - `kiln show`: what a file of an array holds. Needs no compiler. */
#include "cli.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The least and the greatest element, as text, and how many NaNs; complex numbers have no order. */
typedef struct summary {
    char least[40], greatest[40];
    int64_t n_nan;
    bool has_order;
} summary;

static double half_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                  : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                 : ldexp(fraction, -24);
    return bits >> 15 ? -size : size;
}

static double bfloat16_value(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return (double)value;
}

static void put_int64_t(char text[40], int64_t value, bool is_float32)
{
    (void)is_float32;
    snprintf(text, 40, "%" PRId64, value);
}

static void put_uint64_t(char text[40], uint64_t value, bool is_float32)
{
    (void)is_float32;
    snprintf(text, 40, "%" PRIu64, value);
}

static void put_double(char text[40], double value, bool is_float32)
{
    cli_number_text(text, value, is_float32);
}

#define SUMMARISE(name, type, value_type, read, is_float32)                                                  \
    static void name(summary *s, const void *data, int64_t count)                                            \
    {                                                                                                        \
        const type *x = data;                                                                                \
        value_type least = 0, greatest = 0;                                                                  \
        for (int64_t k = 0; k < count; k++) {                                                                \
            value_type value = (value_type)read(x[k]);                                                       \
            bool is_nan = value != value;                                                                    \
            s->n_nan += is_nan;                                                                              \
            if (!is_nan && (!s->has_order || value < least))                                                 \
                least = value;                                                                               \
            if (!is_nan && (!s->has_order || value > greatest))                                              \
                greatest = value;                                                                            \
            s->has_order = s->has_order || !is_nan;                                                          \
        }                                                                                                    \
        put_##value_type(s->least, least, is_float32);                                                       \
        put_##value_type(s->greatest, greatest, is_float32);                                                 \
    }
SUMMARISE(of_int8, int8_t, int64_t, , false)
SUMMARISE(of_int16, int16_t, int64_t, , false)
SUMMARISE(of_int32, int32_t, int64_t, , false)
SUMMARISE(of_int64, int64_t, int64_t, , false)
SUMMARISE(of_uint8, uint8_t, uint64_t, , false)
SUMMARISE(of_uint16, uint16_t, uint64_t, , false)
SUMMARISE(of_uint32, uint32_t, uint64_t, , false)
SUMMARISE(of_uint64, uint64_t, uint64_t, , false)
SUMMARISE(of_half, uint16_t, double, half_value, true)
SUMMARISE(of_bfloat16, uint16_t, double, bfloat16_value, true)
SUMMARISE(of_float, float, double, , true)
SUMMARISE(of_double, double, double, , false)

/* As NumPy writes them. */
static void of_bool(summary *s, const void *data, int64_t count)
{
    const unsigned char *x = data;
    bool any = false, all = true;
    for (int64_t k = 0; k < count; k++) {
        any = any || x[k];
        all = all && x[k];
    }
    s->has_order = count > 0;
    snprintf(s->least, sizeof s->least, "%s", all ? "True" : "False");
    snprintf(s->greatest, sizeof s->greatest, "%s", any ? "True" : "False");
}

static void of_complex64(summary *s, const void *data, int64_t count)
{
    const float *x = data;
    for (int64_t k = 0; k < count; k++)
        s->n_nan += isnan(x[2 * k]) || isnan(x[2 * k + 1]);
}

static void of_complex128(summary *s, const void *data, int64_t count)
{
    const double *x = data;
    for (int64_t k = 0; k < count; k++)
        s->n_nan += isnan(x[2 * k]) || isnan(x[2 * k + 1]);
}

static const struct summariser {
    kiln_dtype dtype;
    void (*run)(summary *s, const void *data, int64_t count);
} summarisers[] = {
    {KILN_BOOL, of_bool},      {KILN_INT8, of_int8},           {KILN_INT16, of_int16},
    {KILN_INT32, of_int32},    {KILN_INT64, of_int64},         {KILN_UINT8, of_uint8},
    {KILN_UINT16, of_uint16},  {KILN_UINT32, of_uint32},       {KILN_UINT64, of_uint64},
    {KILN_FLOAT16, of_half},   {KILN_BFLOAT16, of_bfloat16},   {KILN_FLOAT32, of_float},
    {KILN_FLOAT64, of_double}, {KILN_COMPLEX64, of_complex64}, {KILN_COMPLEX128, of_complex128}};

static kiln_status summarise(summary *s, kiln_array *array)
{
    size_t bytes = kiln_array_nbytes(array);
    void *data = malloc(bytes + 1);
    kiln_status status = data ? kiln_array_to_host(array, data, bytes) : KILN_ERROR_MEMORY;
    for (size_t k = 0; status == KILN_OK && k < sizeof summarisers / sizeof *summarisers; k++)
        if (summarisers[k].dtype == kiln_array_dtype(array))
            summarisers[k].run(s, data, kiln_array_size(array));
    free(data);
    return status;
}

static void print_text(const char *name, const kiln_array *array, const summary *s, const char *values)
{
    const int64_t *shape = kiln_array_shape(array);
    printf("%s: %s [", name, kiln_dtype_name(kiln_array_dtype(array)));
    for (int axis = 0; axis < kiln_array_ndim(array); axis++)
        printf("%s%" PRId64, axis ? ", " : "", shape[axis]);
    printf("]\n%s\n", values);
    if (kiln_array_size(array) == 0) {
        puts("no elements");
        return;
    }
    if (s->has_order)
        printf("minimum %s, maximum %s, ", s->least, s->greatest);
    printf("%" PRId64 " NaN%s\n", s->n_nan, s->n_nan == 1 ? "" : "s");
}

static void put_json(cli_json *json, const char *name, const kiln_array *array, const summary *s,
                     const char *values)
{
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "file", name);
    cli_json_array(json, array);
    if (s->has_order) {
        cli_json_text(json, "minimum", s->least);
        cli_json_text(json, "maximum", s->greatest);
    }
    cli_json_integer(json, "nan", s->n_nan);
    cli_json_text(json, "text", values);
    cli_json_close(json, '}');
}

static kiln_status show(const char *word, const cli_options *options, cli_json *json)
{
    kiln_array *array = NULL;
    char *values = NULL;
    summary s = {.n_nan = 0};
    kiln_print_options how = KILN_PRINT_OPTIONS_INIT;
    how.threshold = CLI_SCREENFUL;
    cli_progress(options, 0, 0, "reading %s", word);
    kiln_status status = cli_array_read(&array, word, options, KILN_DEVICE_HOST);
    if (status == KILN_OK)
        status = kiln_array_to_string(&values, array, &how);
    if (status == KILN_OK)
        status = summarise(&s, array);
    cli_progress_end();
    if (status == KILN_OK && json)
        put_json(json, word, array, &s, values);
    else if (status == KILN_OK)
        print_text(word, array, &s, values);
    free(values);
    kiln_array_free(array);
    return status;
}

static int show_or_say(const char *word, const cli_options *options, cli_json *json)
{
    return show(word, options, json) == KILN_OK ? CLI_OK : cli_library_error(options);
}

/* All arrays of a word: of an archive, or a structured file, of which no part is named, each. What cannot be
 * shown is said, and the others follow. */
static int show_all(const char *word, const cli_options *options, cli_json *json)
{
    cli_bytes parts;
    int code = CLI_OK;
    if (cli_parts_list(&parts, word, options) != KILN_OK)
        return cli_library_error(options);
    if (parts.size == 0)
        code = show_or_say(word, options, json);
    for (size_t at = 0; at < parts.size; at += strlen((char *)parts.data + at) + 1) {
        char *whole = malloc(strlen(word) + strlen((char *)parts.data + at) + 2);
        if (whole)
            sprintf(whole, "%s:%s", word, (char *)parts.data + at);
        int shown = whole ? show_or_say(whole, options, json) : cli_complain("kiln: out of memory");
        code = shown == CLI_OK ? code : shown;
        free(whole);
    }
    free(parts.data);
    return code;
}

int cli_show_run(const cli_options *options)
{
    cli_json json = {stdout, false}, *out = options->json ? &json : NULL;
    int code = cli_formats_check("show", options);
    if (code == CLI_OK)
        code = cli_shape_check("show", options);
    if (code != CLI_OK)
        return code;
    if (out) {
        cli_json_open(out, NULL, '{');
        cli_json_open(out, "files", '[');
    }
    for (int k = 0; k < options->positional.count; k++) {
        int shown = show_all(options->positional.items[k], options, out);
        code = shown == CLI_OK ? code : shown;
    }
    if (out) {
        cli_json_close(out, ']');
        cli_json_finish(out);
    }
    return code;
}
