/* Uses float8, the dtype that toy_dtype.py has added to the library: values, conversions, kernels, operations
 * by name, expressions, scalars, promotion, and source for CUDA. Exact products and all 256 elements, against
 * values that are computed here. */
#include <kiln/kiln.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUIRE(condition)                                                                                   \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s\n%s\n%s\n", __FILE__, __LINE__, #condition, kiln_error_message(),     \
                    kiln_error_log());                                                                       \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)
#define OK(call) REQUIRE((call) == KILN_OK)

enum { ALL = 256, ROWS = 61, COLUMNS = 67, COUNT = ROWS * COLUMNS };

/* One bit of sign, five of the exponent, two of the fraction. */
static double value_of(uint8_t bits)
{
    int exponent = bits >> 2 & 31, fraction = bits & 3;
    double magnitude = exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
                       : exponent > 0 ? ldexp(4 + fraction, exponent - 17)
                                      : ldexp(fraction, -16);
    return bits & 0x80 ? -magnitude : magnitude;
}

/* The nearest element; of two the even one. Numbers have to be below the greatest element. */
static uint8_t nearest(double x)
{
    uint8_t sign = x < 0 ? 0x80 : 0, best = 0;
    for (uint8_t bits = 0; bits < 0x7c; ++bits) {
        double apart = fabs(fabs(x) - value_of(bits)), least = fabs(fabs(x) - value_of(best));
        if (apart < least || (apart == least && bits % 2 == 0))
            best = bits;
    }
    return best | sign;
}

static kiln_array *array_of(const void *data, kiln_dtype dtype, int ndim, const int64_t *shape)
{
    kiln_array *array = NULL;
    OK(kiln_array_from_host(&array, data, dtype, ndim, shape, KILN_DEVICE_HOST));
    return array;
}

/* Compares the elements and frees the array. */
static void require_bits(kiln_array *array, const uint8_t *wanted, size_t count)
{
    uint8_t got[COUNT];
    REQUIRE(kiln_array_dtype(array) == KILN_FLOAT8 && kiln_array_nbytes(array) == count);
    OK(kiln_array_to_host(array, got, count));
    for (size_t k = 0; k < count; ++k)
        if (got[k] != wanted[k]) {
            fprintf(stderr, "element %zu is %02x, %02x was expected\n", k, got[k], wanted[k]);
            exit(1);
        }
    kiln_array_free(array);
}

static void table_and_promotion(void)
{
    static const struct {
        kiln_dtype other, common;
    } rows[] = {{KILN_BOOL, KILN_FLOAT8},     {KILN_INT8, KILN_FLOAT16},       {KILN_FLOAT16, KILN_FLOAT16},
                {KILN_FLOAT32, KILN_FLOAT32}, {KILN_INT64, KILN_FLOAT64},      {KILN_FLOAT8, KILN_FLOAT8},
                {KILN_INT16, KILN_FLOAT32},   {KILN_COMPLEX64, KILN_COMPLEX64}};
    kiln_dtype dtype = KILN_DTYPE_NONE;
    OK(kiln_dtype_from_name(&dtype, "float8"));
    REQUIRE(dtype == KILN_FLOAT8 && kiln_dtype_size(dtype) == 1);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
        OK(kiln_dtype_promote(&dtype, KILN_FLOAT8, rows[k].other));
        REQUIRE(dtype == rows[k].common);
    }
}

static void conversions(void)
{
    static const int64_t shape[] = {ALL};
    uint8_t bits[ALL], wanted[COUNT];
    float numbers[COUNT], given[COUNT];
    kiln_array *x = NULL, *y = NULL;
    for (int k = 0; k < ALL; ++k)
        bits[k] = (uint8_t)k;
    x = array_of(bits, KILN_FLOAT8, 1, shape);
    OK(kiln_array_astype(&y, x, KILN_FLOAT32));
    OK(kiln_array_to_host(y, numbers, ALL * sizeof(float)));
    for (int k = 0; k < ALL; ++k)
        REQUIRE((double)numbers[k] == value_of(bits[k]) || (isnan(numbers[k]) && isnan(value_of(bits[k]))));
    kiln_array_free(x);
    kiln_array_free(y);
    for (int k = 0; k < COUNT; ++k) { /* float16 has them all */
        given[k] = ldexpf((float)(rand() % 2048 - 1024), rand() % 22 - 16);
        wanted[k] = nearest((double)given[k]);
    }
    x = array_of(given, KILN_FLOAT32, 1, (const int64_t[]){COUNT});
    OK(kiln_array_astype(&y, x, KILN_FLOAT8));
    require_bits(y, wanted, COUNT);
    kiln_array_free(x);
}

/* Factors whose product float16 has. */
static uint8_t factor(void)
{
    return (uint8_t)((rand() % 2) << 7 | (9 + rand() % 13) << 2 | rand() % 4);
}

static void kernels(void)
{
    static const int64_t shape[] = {ROWS, COLUMNS}, across[] = {COLUMNS, ROWS};
    static uint8_t a[COUNT], b[COUNT], product[COUNT], twice[COUNT], negative[COUNT];
    uint8_t greatest = 0;
    kiln_array *x, *y, *transposed = NULL, *z = NULL;
    kiln_kernel *multiply = NULL, *scale = NULL, *expression = NULL;
    for (int k = 0; k < COUNT; ++k) {
        a[k] = factor();
        b[k] = factor();
    }
    for (int k = 0; k < COUNT; ++k) { /* b lies in memory as its transpose */
        double left = value_of(a[k]), right = value_of(b[k % COLUMNS * ROWS + k / COLUMNS]);
        product[k] = nearest(left * right);
        twice[k] = nearest(2 * left);
        negative[k] = a[k] ^ 0x80;
        greatest = value_of(greatest) < left || k == 0 ? a[k] : greatest;
    }
    x = array_of(a, KILN_FLOAT8, 2, shape);
    y = array_of(b, KILN_FLOAT8, 2, across);
    OK(kiln_array_transpose(&transposed, y, NULL));
    const kiln_arg both[] = {kiln_arg_array(x), kiln_arg_array(transposed)},
                   scaled[] = {kiln_arg_array(x), kiln_arg_float(2)};
    OK(kiln_elementwise_create(&multiply, "T x, T y", "T z", "z = x * y", "product", NULL));
    OK(kiln_kernel_call(multiply, &z, 1, both, 2, NULL));
    require_bits(z, product, COUNT);
    z = NULL;
    OK(kiln_elementwise_create(&scale, "T x, T s", "T z", "z = x * s", "scale", NULL));
    OK(kiln_kernel_call(scale, &z, 1, scaled, 2, NULL));
    require_bits(z, twice, COUNT);
    z = NULL;
    OK(kiln_operation_call(&z, 1, "multiply", both, 2, NULL));
    require_bits(z, product, COUNT);
    z = NULL;
    OK(kiln_operation_call(&z, 1, "max", both, 1, NULL));
    require_bits(z, &greatest, 1);
    z = NULL;
    OK(kiln_expression_create(&expression, "x", "-x", NULL));
    OK(kiln_kernel_call(expression, &z, 1, both, 1, NULL));
    require_bits(z, negative, COUNT);
    char *source = NULL;
    OK(kiln_kernel_source(&source, multiply, &(kiln_array *){NULL}, 1, both, 2, NULL, "sm_90"));
    REQUIRE(strstr(source, "struct float8 {") && strstr(source, "float8 *"));
    kiln_free(source);
    kiln_kernel_free(multiply);
    kiln_kernel_free(scale);
    kiln_kernel_free(expression);
    kiln_array_free(x);
    kiln_array_free(y);
    kiln_array_free(transposed);
}

int main(void)
{
    srand(8);
    table_and_promotion();
    conversions();
    kernels();
    puts("float8 is a dtype");
    return 0;
}
