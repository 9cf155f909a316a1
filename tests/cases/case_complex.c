/* complex64 and complex128: arithmetic as NumPy has it and functions as C99 has them, on a grid with the
 * infinities, NaN, the zeros and the branch cuts, computed in long double. */
#include "values.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef long double _Complex wide;

static const double parts[] = {
    0.0, -0.0, 1.0, -2.5, 0.375, 1e-12, -3e5, (double)INFINITY, -(double)INFINITY, (double)NAN};
enum { PARTS = sizeof parts / sizeof parts[0], GRID = PARTS * PARTS, PAIRS = GRID * GRID };

static wide make(long double re, long double im)
{
    union {
        long double part[2];
        wide z;
    } u = {{re, im}};
    return u.z;
}

/* Numbers of either precision. */
static void put(void *to, int k, kiln_dtype dtype, wide z)
{
    if (dtype == KILN_COMPLEX64) {
        ((float *)to)[2 * k] = (float)creall(z);
        ((float *)to)[2 * k + 1] = (float)cimagl(z);
    } else {
        ((double *)to)[2 * k] = (double)creall(z);
        ((double *)to)[2 * k + 1] = (double)cimagl(z);
    }
}

static wide get(const void *from, int k, kiln_dtype dtype)
{
    if (dtype == KILN_COMPLEX64)
        return make(((const float *)from)[2 * k], ((const float *)from)[2 * k + 1]);
    return make(((const double *)from)[2 * k], ((const double *)from)[2 * k + 1]);
}

static wide grid_point(int k)
{
    return make(parts[k / PARTS], parts[k % PARTS]);
}

/* ---- comparing ---- */

/* One part, whose terms may cancel: the error is relative to `size`. */
static bool part_agrees(long double got, long double wanted, long double size, long double epsilon)
{
    if (isnan(wanted))
        return isnan(got);
    if (isinf(wanted))
        return got == wanted;
    return fabsl(got - wanted) <= epsilon * fmaxl(size, fabsl(wanted));
}

static bool expect(const char *what, wide x, wide y, wide got, wide wanted, long double size,
                   long double epsilon)
{
    return trouble_unless(part_agrees(creall(got), creall(wanted), size, epsilon) &&
                              part_agrees(cimagl(got), cimagl(wanted), size, epsilon),
                          "%s of %Lg%+Lgi and %Lg%+Lgi is %.17Lg%+.17Lgi, not %.17Lg%+.17Lgi", what,
                          creall(x), cimagl(x), creall(y), cimagl(y), creall(got), cimagl(got),
                          creall(wanted), cimagl(wanted));
}

/* ---- arithmetic ---- */

static wide plain_product(wide x, wide y)
{
    return make(creall(x) * creall(y) - cimagl(x) * cimagl(y), creall(x) * cimagl(y) + cimagl(x) * creall(y));
}

/* Scaled by the larger part of the divisor: Smith's method, which NumPy has. */
static wide scaled_quotient(wide x, wide y)
{
    long double a = creall(x), b = cimagl(x), c = creall(y), d = cimagl(y);
    if (fabsl(c) >= fabsl(d)) {
        if (c == 0 && d == 0)
            return make(a / fabsl(c), b / fabsl(c));
        long double ratio = d / c, scale = 1 / (c + d * ratio);
        return make((a + b * ratio) * scale, (b - a * ratio) * scale);
    }
    long double ratio = c / d, scale = 1 / (c * ratio + d);
    return make((a * ratio + b) * scale, (b * ratio - a) * scale);
}

/* The summands of the parts of a product or quotient. */
static long double size_of_product(wide x, wide y)
{
    long double size = fmaxl(fabsl(creall(x)), fabsl(cimagl(x))) * fmaxl(fabsl(creall(y)), fabsl(cimagl(y)));
    return isfinite(size) ? size : 0;
}

static long double size_of_quotient(wide x, wide y)
{
    long double size = fmaxl(fabsl(creall(x)), fabsl(cimagl(x))) / fmaxl(fabsl(creall(y)), fabsl(cimagl(y)));
    return isfinite(size) ? size : 0;
}

typedef struct complex_data {
    double x[2 * PAIRS], y[2 * PAIRS], result[4][2 * PAIRS], real[2][PAIRS];
    unsigned char truth[2][PAIRS];
} complex_data;

static void arithmetic_of(complex_data *c, kiln_dtype dtype, long double epsilon)
{
    values v = VALUES_INIT;
    for (int k = 0; k < PAIRS; ++k) {
        put(c->x, k, dtype, grid_point(k / GRID));
        put(c->y, k, dtype, grid_point(k % GRID));
    }
    values_in(&v, dtype, c->x);
    values_in(&v, dtype, c->y);
    for (int j = 0; j < 4; ++j)
        values_out(&v, dtype, c->result[j]);
    for (int j = 0; j < 2; ++j)
        values_out(&v, KILN_BOOL, c->truth[j]);
    if (!values_run(
            &v, "T x, T y", "T sum, T difference, T product, T quotient, bool eq, bool ne",
            "sum = x + y; difference = x - y; product = x * y; quotient = x / y; eq = x == y; ne = x != y",
            PAIRS))
        return;
    for (int k = 0; k < PAIRS && !in_trouble(); ++k) {
        wide x = get(c->x, k, dtype), y = get(c->y, k, dtype);
        bool same = creall(x) == creall(y) && cimagl(x) == cimagl(y);
        expect("sum", x, y, get(c->result[0], k, dtype), make(creall(x) + creall(y), cimagl(x) + cimagl(y)),
               0, epsilon);
        expect("difference", x, y, get(c->result[1], k, dtype),
               make(creall(x) - creall(y), cimagl(x) - cimagl(y)), 0, epsilon);
        expect("product", x, y, get(c->result[2], k, dtype), plain_product(x, y), size_of_product(x, y),
               2 * epsilon);
        expect("quotient", x, y, get(c->result[3], k, dtype), scaled_quotient(x, y), size_of_quotient(x, y),
               6 * epsilon);
        trouble_unless(c->truth[0][k] == same && c->truth[1][k] == !same, "%Lg%+Lgi == %Lg%+Lgi is %d",
                       creall(x), cimagl(x), creall(y), cimagl(y), c->truth[0][k]);
    }
}

static void for_both(void (*check)(complex_data *, kiln_dtype, long double epsilon))
{
    complex_data *c = malloc(sizeof *c);
    check(c, KILN_COMPLEX64, FLT_EPSILON);
    if (!in_trouble())
        check(c, KILN_COMPLEX128, DBL_EPSILON);
    free(c);
}

static void arithmetic(void)
{
    for_both(arithmetic_of);
}

/* ---- order ---- */

/* By the real parts, then by the imaginary ones; beside a NaN in any part nothing is in order. */
static bool precedes(wide x, wide y, bool or_equal)
{
    if (isnan(creall(x)) || isnan(cimagl(x)) || isnan(creall(y)) || isnan(cimagl(y)))
        return false;
    if (creall(x) != creall(y))
        return creall(x) < creall(y);
    return cimagl(x) < cimagl(y) || (or_equal && cimagl(x) == cimagl(y));
}

/* Bits: <, <=, >, >=; of two complex numbers, then beside the real part of either. */
static int order_bits(wide x, wide y)
{
    return precedes(x, y, false) | precedes(x, y, true) << 1 | precedes(y, x, false) << 2 |
           precedes(y, x, true) << 3;
}

static void order_of(complex_data *c, kiln_dtype dtype, long double epsilon)
{
    values v = VALUES_INIT;
    (void)epsilon;
    for (int k = 0; k < PAIRS; ++k) {
        put(c->x, k, dtype, grid_point(k / GRID));
        put(c->y, k, dtype, grid_point(k % GRID));
    }
    values_in(&v, dtype, c->x);
    values_in(&v, dtype, c->y);
    values_out(&v, KILN_INT32, c->result[0]);
    if (!values_run(&v, "T x, T y", "int32 z",
                    "auto a = real(x), b = real(y);\n"
                    "z = (x < y) | (x <= y) << 1 | (x > y) << 2 | (x >= y) << 3;\n"
                    "z |= (x < b) << 4 | (x <= b) << 5 | (x > b) << 6 | (x >= b) << 7;\n"
                    "z |= (a < y) << 8 | (a <= y) << 9 | (a > y) << 10 | (a >= y) << 11",
                    PAIRS))
        return;
    for (int k = 0; k < PAIRS && !in_trouble(); ++k) {
        wide x = get(c->x, k, dtype), y = get(c->y, k, dtype);
        int wanted = order_bits(x, y) | order_bits(x, make(creall(y), 0)) << 4 |
                     order_bits(make(creall(x), 0), y) << 8,
            got = ((const int32_t *)(const void *)c->result[0])[k];
        trouble_unless(got == wanted, "the order of %Lg%+Lgi and %Lg%+Lgi is 0x%x, not 0x%x", creall(x),
                       cimagl(x), creall(y), cimagl(y), got, wanted);
    }
}

static void order(void)
{
    for_both(order_of);
}

/* ---- functions ---- */

/* C99 leaves some signs open: magnitudes of zeros and infinities are compared, and NaN with NaN. */
static bool function_agrees(long double got, long double wanted, long double size, long double epsilon)
{
    if (isinf(wanted) || wanted == 0)
        return fabsl(got) == fabsl(wanted) || (wanted == 0 && fabsl(got) <= epsilon * size);
    return part_agrees(got, wanted, size, epsilon);
}

static void expect_function(const char *what, wide x, wide got, wide wanted, long double epsilon)
{
    long double size = fmaxl(fabsl(creall(wanted)), fabsl(cimagl(wanted)));
    size = isfinite(size) ? size : 0;
    trouble_unless(function_agrees(creall(got), creall(wanted), size, epsilon) &&
                       function_agrees(cimagl(got), cimagl(wanted), size, epsilon),
                   "%s of %Lg%+Lgi is %.17Lg%+.17Lgi, not %.17Lg%+.17Lgi", what, creall(x), cimagl(x),
                   creall(got), cimagl(got), creall(wanted), cimagl(wanted));
}

static bool is_special(wide z)
{
    return !isfinite(creall(z)) || !isfinite(cimagl(z)) || fabsl(creall(z)) > 1e4L || fabsl(cimagl(z)) > 1e4L;
}

static void functions_of(complex_data *c, kiln_dtype dtype, long double epsilon)
{
    values v = VALUES_INIT;
    kiln_dtype real = dtype == KILN_COMPLEX64 ? KILN_FLOAT32 : KILN_FLOAT64;
    for (int k = 0; k < GRID; ++k)
        put(c->x, k, dtype, grid_point(k));
    values_in(&v, dtype, c->x);
    for (int j = 0; j < 4; ++j)
        values_out(&v, dtype, c->result[j]);
    values_out(&v, real, c->real[0]);
    if (!values_run(
            &v, "T x", "T mirrored, T root, T power, T logarithm, R magnitude",
            "mirrored = conj(x); root = sqrt(x); power = exp(x); logarithm = log(x); magnitude = abs(x)",
            GRID))
        return;
    for (int k = 0; k < GRID && !in_trouble(); ++k) {
        wide x = get(c->x, k, dtype);
        long double magnitude = real == KILN_FLOAT32 ? ((float *)c->real[0])[k] : c->real[0][k];
        expect_function("conj", x, get(c->result[0], k, dtype), conjl(x), 0);
        expect_function("sqrt", x, get(c->result[1], k, dtype), csqrtl(x), 8 * epsilon);
        if (!is_special(x)) /* e^x overflows, and sines of 3e5 need more than the argument's precision */
            expect_function("exp", x, get(c->result[2], k, dtype), cexpl(x), 8 * epsilon);
        expect_function("log", x, get(c->result[3], k, dtype), clogl(x), 8 * epsilon);
        expect_function("abs", x, make(magnitude, 0), make(cabsl(x), 0), 4 * epsilon);
    }
}

static void functions(void)
{
    for_both(functions_of);
}

const test_case complex_cases[] = {
    {"arithmetic", arithmetic, 0},
    {"order", order, 0},
    {"functions", functions, 0},
    {NULL, NULL, 0},
};
