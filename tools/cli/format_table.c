/* format_table.c - writing numbers as text: one row a line, commas or tabulators between them. */
#include "formats.h"
#include <math.h>
#include <stdlib.h>

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
