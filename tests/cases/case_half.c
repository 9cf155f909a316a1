/* float16 and bfloat16: arithmetic, comparisons and functions of every value, infinities, NaNs, zeros and
 * subnormals included, against double precision. */
#include "values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALL = 65536, PARTNERS = 3, PAIRS = ALL * PARTNERS };

static const kiln_dtype dtypes[] = {KILN_FLOAT16, KILN_BFLOAT16};

/* Every value, each with some partners: special ones, itself, close ones and any. */
static void fill_pairs(uint16_t *x, uint16_t *y, kiln_dtype dtype)
{
    static const double special[] = {
        0, -0.0, 1, -1, 3, -0.3333, 1e-7, -6e4, 65504, (double)INFINITY, -(double)INFINITY, (double)NAN};
    enum { SPECIALS = sizeof special / sizeof special[0] };
    dice d = {case_seed()};
    for (int k = 0; k < PAIRS; ++k) {
        x[k] = (uint16_t)(k / PARTNERS);
        y[k] = (uint16_t)dice_bits(&d);
        if (k % PARTNERS == 0)
            number_store(&y[k], dtype, number_real(special[dice_between(&d, 0, SPECIALS - 1)]));
        else if (k % PARTNERS == 1 && dice_one_in(&d, 8))
            y[k] = x[k];
        else if (k % PARTNERS == 1) /* of about the same size */
            y[k] = (uint16_t)((x[k] & 0x7c00) | (y[k] & 0x83ff));
    }
}

/* By a table: every value is wanted many times. */
static double value_of(const uint16_t *at, kiln_dtype dtype)
{
    static double table[ALL];
    static kiln_dtype of;
    if (of != dtype)
        for (int k = 0; k < ALL; ++k) {
            const uint16_t bits = (uint16_t)k;
            table[k] = number_load(&bits, dtype).re;
        }
    of = dtype;
    return table[*at];
}

/* Rounded once, from a result that is exact or precise enough for that. */
static bool expect(const uint16_t *got, double wanted, kiln_dtype dtype, const char *what, const uint16_t *x,
                   const uint16_t *y)
{
    uint16_t rounded;
    number_store(&rounded, dtype, number_real(wanted));
    return trouble_unless(elements_agree(got, &rounded, dtype, 0), "%s %s of %s and %s is %s, not %s",
                          kiln_dtype_name(dtype), what, element_text(x, dtype),
                          y ? element_text(y, dtype) : "nothing", element_text(got, dtype),
                          element_text(&rounded, dtype));
}

typedef struct half_data {
    uint16_t x[PAIRS], y[PAIRS], result[6][PAIRS];
    unsigned char truth[6][PAIRS];
    float single[4][PAIRS];
} half_data;

static void arithmetic_of(half_data *h, kiln_dtype dtype)
{
    values v = VALUES_INIT;
    fill_pairs(h->x, h->y, dtype);
    values_in(&v, dtype, h->x);
    values_in(&v, dtype, h->y);
    for (int j = 0; j < 6; ++j)
        values_out(&v, dtype, h->result[j]);
    if (!values_run(&v, "T x, T y", "T sum, T difference, T product, T quotient, T negative, T magnitude",
                    "sum = x + y; difference = x - y; product = x * y; quotient = x / y; negative = -x; "
                    "magnitude = abs(x)",
                    PAIRS))
        return;
    for (int k = 0; k < PAIRS; ++k) {
        const uint16_t *a = &h->x[k], *b = &h->y[k];
        double x = value_of(a, dtype), y = value_of(b, dtype);
        if (!expect(&h->result[0][k], x + y, dtype, "sum", a, b) ||
            !expect(&h->result[1][k], x - y, dtype, "difference", a, b) ||
            !expect(&h->result[2][k], x * y, dtype, "product", a, b) ||
            !expect(&h->result[3][k], x / y, dtype, "quotient", a, b) ||
            !expect(&h->result[4][k], -x, dtype, "negative", a, NULL) ||
            !expect(&h->result[5][k], fabs(x), dtype, "magnitude", a, NULL))
            return;
    }
}

static void for_both(void (*check)(half_data *, kiln_dtype))
{
    half_data *h = malloc(sizeof *h);
    for (int d = 0; d < 2 && !in_trouble(); ++d)
        check(h, dtypes[d]);
    free(h);
}

static void arithmetic(void)
{
    for_both(arithmetic_of);
}

static void comparisons_of(half_data *h, kiln_dtype dtype)
{
    values v = VALUES_INIT;
    fill_pairs(h->x, h->y, dtype);
    values_in(&v, dtype, h->x);
    values_in(&v, dtype, h->y);
    for (int j = 0; j < 6; ++j)
        values_out(&v, KILN_BOOL, h->truth[j]);
    if (!values_run(&v, "T x, T y", "bool lt, bool le, bool gt, bool ge, bool eq, bool ne",
                    "lt = x < y; le = x <= y; gt = x > y; ge = x >= y; eq = x == y; ne = x != y", PAIRS))
        return;
    for (int k = 0; k < PAIRS; ++k) {
        double x = value_of(&h->x[k], dtype), y = value_of(&h->y[k], dtype);
        const bool wanted[] = {x<y, x <= y, x> y, x >= y, x == y, x != y};
        for (int j = 0; j < 6; ++j)
            if (!trouble_unless(h->truth[j][k] == wanted[j], "%s: comparison %d of %s and %s is %d",
                                kiln_dtype_name(dtype), j, element_text(&h->x[k], dtype),
                                element_text(&h->y[k], dtype), h->truth[j][k]))
                return;
    }
}

static void comparisons(void)
{
    for_both(comparisons_of);
}

/* Within one unit in the last place of the dtype; special results exactly. */
static bool expect_near(const uint16_t *got, double wanted, kiln_dtype dtype, const char *what,
                        const uint16_t *x)
{
    uint16_t rounded;
    number_store(&rounded, dtype, number_real(wanted));
    int apart = (got[0] & 0x7fff) - (rounded & 0x7fff);
    bool is_near = apart >= -1 && apart <= 1 && ((got[0] ^ rounded) & 0x8000) == 0;
    if (isnan(wanted) || isinf(wanted) || wanted == 0)
        is_near = elements_agree(got, &rounded, dtype, 0);
    return trouble_unless(is_near, "%s %s of %s is %s, not %s", kiln_dtype_name(dtype), what,
                          element_text(x, dtype), element_text(got, dtype), element_text(&rounded, dtype));
}

static void functions_of(half_data *h, kiln_dtype dtype)
{
    values v = VALUES_INIT;
    for (int k = 0; k < ALL; ++k)
        h->x[k] = (uint16_t)k;
    values_in(&v, dtype, h->x);
    for (int j = 0; j < 6; ++j)
        values_out(&v, dtype, h->result[j]);
    if (!values_run(&v, "T x", "T root, T power, T logarithm, T sine, T tangent, T lower",
                    "root = sqrt(x); power = exp(x); logarithm = log(x); sine = sin(x); tangent = tanh(x); "
                    "lower = floor(x)",
                    ALL))
        return;
    for (int k = 0; k < ALL; ++k) {
        const uint16_t *a = &h->x[k];
        double x = value_of(a, dtype);
        if (!expect(&h->result[0][k], sqrt(x), dtype, "sqrt", a, NULL) ||
            !expect_near(&h->result[1][k], exp(x), dtype, "exp", a) ||
            !expect_near(&h->result[2][k], log(x), dtype, "log", a) ||
            !expect_near(&h->result[3][k], sin(x), dtype, "sin", a) ||
            !expect_near(&h->result[4][k], tanh(x), dtype, "tanh", a) ||
            !expect(&h->result[5][k], floor(x), dtype, "floor", a, NULL))
            return;
    }
}

static void functions(void)
{
    for_both(functions_of);
}

/* With float32 the result is float32, and with a literal of C's, too. */
static void mixed_of(half_data *h, kiln_dtype dtype)
{
    values v = VALUES_INIT;
    dice d = {case_seed()};
    fill_pairs(h->x, h->y, dtype);
    for (int k = 0; k < ALL; ++k)
        h->single[0][k] = (float)dice_between(&d, -4096, 4096) / 16;
    for (int k = 0; k < ALL; ++k)
        h->x[k] = (uint16_t)k;
    values_in(&v, dtype, h->x);
    values_in(&v, KILN_FLOAT32, h->single[0]);
    for (int j = 1; j < 4; ++j)
        values_out(&v, KILN_FLOAT32, h->single[j]);
    if (!values_run(&v, "T x, float32 y", "float32 sum, float32 product, float32 halved",
                    "sum = x + y; product = x * y; halved = x * 0.5f", ALL))
        return;
    for (int k = 0; k < ALL; ++k) {
        float x = (float)value_of(&h->x[k], dtype), y = h->single[0][k];
        const float wanted[] = {x + y, x * y, x * 0.5f};
        for (int j = 0; j < 3; ++j)
            if (!trouble_unless(elements_agree(&h->single[1 + j][k], &wanted[j], KILN_FLOAT32, 0),
                                "%s %s with float32 %g: %g, not %g", kiln_dtype_name(dtype),
                                element_text(&h->x[k], dtype), (double)y, (double)h->single[1 + j][k],
                                (double)wanted[j]))
                return;
    }
}

static void mixed(void)
{
    for_both(mixed_of);
}

/* ---- when what is computed is rounded ---- */

/* A text, and what comes of it for x = 300 where that is stored, and where each operation is rounded. */
typedef struct rounding {
    const char *text;
    double stored, each;
} rounding;
enum { MAX_TEXTS = 16 };

static const rounding bodies[] = {
    {"x * x", 90000, (double)INFINITY},
    {"(T)(x * x)", (double)INFINITY, (double)INFINITY},
    {"sqrt(x * x)", 300, (double)INFINITY},
    {"sqrt(t)", (double)INFINITY, (double)INFINITY},
    {"x * 7 + 1 - x * 7", 1, 0},
    {"(+x) * x", 90000, 90000},
    {"x > 1 ? x : T(1)", 300, 300},
    {"fmod(x * x, 7) + pow(x, 2) / x", 301, (double)NAN},
};
static const rounding expressions[] = {
    {"(x * x).astype(float32)", 90000, (double)INFINITY},
    {"float32(float16(x * x))", (double)INFINITY, (double)INFINITY},
    {"float32(x * x == inf)", 0, 1},
    {"float32(sqrt(x ** 2))", 300, (double)INFINITY},
    {"float32(mean(x * x, keepdims=True))", 90000, (double)INFINITY},
    {"float32(plain(x, x))", 90000, (double)INFINITY},
    {"float32(named(x, x))", (double)INFINITY, (double)INFINITY},
    {"float32(larger(x * x, x))", 90000, (double)INFINITY},
    {"float32(total(x * 3 * x, keepdims=True))", 270000, (double)INFINITY},
    {"float32(half_total(x * 4 * x, keepdims=True))", (double)INFINITY,
     (double)INFINITY}, /* what it adds is float16 */
    {"float32(first(x * 2 * x, x))", (double)INFINITY,
     (double)INFINITY}, /* a kernel of its own reads the square */
};
#define COUNT_OF(table) ((int)(sizeof(table) / sizeof *(table)))

static kiln_array *one_number(double number, kiln_dtype dtype)
{
    kiln_array *x = NULL;
    const int64_t shape[] = {1};
    unsigned char element[8];
    number_store(element, dtype, number_real(number));
    succeeded(kiln_array_from_host(&x, element, dtype, 1, shape, KILN_DEVICE_DEFAULT), "x");
    return x;
}

static void expect_numbers(kiln_kernel *kernel, const rounding *row, int count, bool is_each)
{
    kiln_array *x = one_number(300, KILN_FLOAT16), *out[MAX_TEXTS] = {NULL};
    const kiln_arg in[] = {kiln_arg_array(x)};
    for (int j = 0; j < count; ++j) /* what the results are before they are stored as float16 */
        out[j] = one_number(0, KILN_FLOAT32);
    succeeded(kiln_kernel_call(kernel, out, count, in, 1, NULL), "a call");
    for (int j = 0; j < count && !in_trouble(); ++j) {
        float got = 0, wanted = (float)(is_each ? row[j].each : row[j].stored);
        succeeded(kiln_array_to_host(out[j], &got, sizeof got), "a result");
        trouble_unless(got == wanted || (isnan(got) && isnan(wanted)), "%s%s is %g, not %g", row[j].text,
                       is_each ? ", each" : "", (double)got, (double)wanted);
    }
    for (int j = 0; j < count; ++j)
        kiln_array_free(out[j]);
    kiln_array_free(x);
}

static void rounded_bodies(bool is_each, const kiln_kernel_options *options)
{
    char outs[512] = "", body[1024] = "T t = x * x;\n";
    kiln_kernel *kernel = NULL;
    for (int j = 0; j < COUNT_OF(bodies); ++j) {
        size_t used = strlen(outs), length = strlen(body);
        snprintf(outs + used, sizeof outs - used, "%sfloat32 y%d", j > 0 ? ", " : "", j);
        snprintf(body + length, sizeof body - length, "y%d = %s;\n", j, bodies[j].text);
    }
    if (succeeded(kiln_elementwise_create(&kernel, "T x", outs, body, "bodies", options), "bodies"))
        expect_numbers(kernel, bodies, COUNT_OF(bodies), is_each);
    kiln_kernel_free(kernel);
}

static void rounded_expressions(bool is_each, const kiln_kernel_options *given)
{
    static const char *const text[][4] = {{"T x, T y", "T z", "z = x * y", "plain"},
                                          {"T x, T y", "T z", "T t = x * y; z = t", "named"},
                                          {"T x, T y", "T z", "z = x > y ? x : T(y)", "larger"},
                                          {"raw T x, T y", "T z", "z = x[0]", "first"}};
    kiln_kernel_options options = *given, own = *given;
    char all[1024] = "";
    enum { TEXTS = COUNT_OF(text), USED = TEXTS + 2 };
    kiln_kernel *kernel = NULL, *used[USED] = {NULL};
    for (int k = 0; k < TEXTS; ++k)
        succeeded(kiln_elementwise_create(&used[k], text[k][0], text[k][1], text[k][2], text[k][3], &own),
                  "");
    for (int j = 0; j < COUNT_OF(expressions); ++j) {
        size_t length = strlen(all);
        snprintf(all + length, sizeof all - length, "%s%s", j > 0 ? ", " : "", expressions[j].text);
    }
    for (int k = 0; k < 2; ++k) {
        own.reduce_type = k == 1 ? "T" : NULL;
        succeeded(kiln_reduction_create(&used[TEXTS + k], "T x", "T y", "x", "a + b", "y = a", "0",
                                        k == 1 ? "half_total" : "total", &own),
                  "a sum");
    }
    options.kernels = used;
    options.n_kernels = USED;
    if (!in_trouble() && succeeded(kiln_expression_create(&kernel, "x", all, &options), all))
        expect_numbers(kernel, expressions, COUNT_OF(expressions), is_each);
    for (int k = 0; k < USED; ++k)
        kiln_kernel_free(used[k]);
    kiln_kernel_free(kernel);
}

static void rounded_reductions(bool is_each, const kiln_kernel_options *options)
{
    static const rounding map[] = {{"x * x", 90000, (double)INFINITY},
                                   {"(T)(x * x)", (double)INFINITY, (double)INFINITY}};
    for (int k = 0; k < 2 && !in_trouble(); ++k) {
        kiln_kernel *kernel = NULL;
        kiln_array *x = one_number(300, KILN_FLOAT16), *y = NULL;
        const kiln_arg in[] = {kiln_arg_array(x)};
        float got = 0, wanted = (float)(is_each ? map[k].each : map[k].stored);
        succeeded(kiln_reduction_create(&kernel, "T x", "float32 y", map[k].text, "a + b", "y = a", "0", "r",
                                        options),
                  map[k].text);
        succeeded(kiln_kernel_call(kernel, &y, 1, in, 1, NULL), map[k].text);
        succeeded(kiln_array_to_host(y, &got, sizeof got), "y");
        trouble_unless(got == wanted, "sum of %s is %g, not %g", map[k].text, (double)got, (double)wanted);
        kiln_array_free(x);
        kiln_array_free(y);
        kiln_kernel_free(kernel);
    }
}

/* sqrt(x * x), by calls of operations, and by their kernels for float16, which convert what they read. */
static void rounded_traces(bool is_each, const kiln_kernel_options *options)
{
    static const rounding root[] = {{"sqrt by calls", 300, (double)INFINITY},
                                    {"sqrt by kernels", 300, (double)INFINITY}};
    const kiln_dtype halves[] = {KILN_FLOAT16, KILN_FLOAT16};
    const int64_t shape[] = {1};
    kiln_trace *trace = NULL;
    kiln_array *x = NULL, *square[2] = {NULL}, *results[2] = {NULL};
    kiln_kernel *multiply = NULL, *sqrt_of = NULL, *kernel = NULL;
    succeeded(kiln_operation_kernel(&multiply, "multiply", halves, 2), "multiply");
    succeeded(kiln_operation_kernel(&sqrt_of, "sqrt", halves, 1), "sqrt");
    succeeded(kiln_trace_begin(&trace, "roots"), "a trace");
    succeeded(kiln_trace_input(&x, trace, "x", KILN_FLOAT16, 1, shape), "x");
    const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_array(x)};
    succeeded(kiln_operation_call(&square[0], 1, "multiply", in, 2, NULL), "multiply");
    succeeded(kiln_kernel_call(multiply, &square[1], 1, in, 2, NULL), "multiply");
    const kiln_arg squares[] = {kiln_arg_array(square[0]), kiln_arg_array(square[1])};
    succeeded(kiln_operation_call(&results[0], 1, "sqrt", squares, 1, NULL), "sqrt");
    succeeded(kiln_kernel_call(sqrt_of, &results[1], 1, squares + 1, 1, NULL), "sqrt");
    if (succeeded(kiln_trace_end(&kernel, trace, results, 2, options), "the end"))
        expect_numbers(kernel, root, 2, is_each);
    for (int k = 0; k < 2; ++k) {
        kiln_array_free(square[k]);
        kiln_array_free(results[k]);
    }
    kiln_array_free(x);
    kiln_trace_free(trace);
    kiln_kernel_free(kernel);
}

static void rounded_all(bool is_each, const kiln_kernel_options *options)
{
    static void (*const check[])(bool, const kiln_kernel_options *) = {rounded_bodies, rounded_expressions,
                                                                       rounded_reductions, rounded_traces};
    for (int k = 0; k < COUNT_OF(check) && !in_trouble(); ++k)
        check[k](is_each, options);
}

static void rounding_as_stored(void)
{
    const kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    rounded_all(false, &options);
}

static void rounding_of_each(void)
{
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.flags = KILN_KERNEL_ROUND_EACH;
    rounded_all(true, &options);
}

static void rounding_by_the_environment(void)
{
    const kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    kiln_kernel *kernel = NULL;
    setenv("KILN_ROUND", "each", 1);
    rounded_all(true, &options); /* finds the code of the case above */
    setenv("KILN_ROUND", "every", 1);
    refused(kiln_elementwise_create(&kernel, "float16 x", "float16 z", "z = x", "k", NULL),
            KILN_ERROR_INVALID, "KILN_ROUND is \"every\"; each or stored was expected");
    refused(kiln_expression_create(&kernel, "x", "x * x", NULL), KILN_ERROR_INVALID,
            "KILN_ROUND is \"every\"; each or stored was expected");
    setenv("KILN_ROUND", "stored", 1);
    rounded_bodies(false, &options);
    unsetenv("KILN_ROUND");
}

const test_case half_cases[] = {
    {"arithmetic", arithmetic, 0},
    {"comparisons", comparisons, 0},
    {"functions", functions, 0},
    {"mixed_with_float32", mixed, 0},
    {"rounding_as_stored", rounding_as_stored, CASE_DEVICE},
    {"rounding_of_each", rounding_of_each, 0},
    {"rounding_by_the_environment", rounding_by_the_environment, CASE_DEVICE},
    {NULL, NULL, 0},
};
