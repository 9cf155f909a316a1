/* float16 and bfloat16 of the host preludes: every bit pattern, every rounding boundary, against arithmetic
 * in long double. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device_side.h"

typedef struct format {
    int mantissa, exponent_min; /* bits after the point; of the smallest normal number */
    double largest;
    void (*from_float)(uint16_t *, const float *, long);
    void (*from_double)(uint16_t *, const double *, long);
    void (*from_int64)(uint16_t *, const long long *, long);
    void (*from_uint64)(uint16_t *, const unsigned long long *, long);
    void (*to_float)(float *, const uint16_t *, long);
    void (*to_double)(double *, const uint16_t *, long);
    void (*to_int64)(long long *, const uint16_t *, long);
    void (*step)(uint16_t *, const uint16_t *, const uint16_t *, long);
    void (*step_float)(uint16_t *, const uint16_t *, const float *, long);
    void (*size)(uint16_t *, const uint16_t *, long);
    void (*signs)(bool *, const uint16_t *, long);
    void (*arithmetic[4])(uint16_t *, const uint16_t *, const uint16_t *, long);
} format;

#define DECLARE(name)                                                                                        \
    void name##_from_float(uint16_t *, const float *, long);                                                 \
    void name##_from_double(uint16_t *, const double *, long);                                               \
    void name##_from_int64(uint16_t *, const long long *, long);                                             \
    void name##_from_uint64(uint16_t *, const unsigned long long *, long);                                   \
    void name##_to_float(float *, const uint16_t *, long);                                                   \
    void name##_to_double(double *, const uint16_t *, long);                                                 \
    void name##_to_int64(long long *, const uint16_t *, long);                                               \
    void name##_add(uint16_t *, const uint16_t *, const uint16_t *, long);                                   \
    void name##_subtract(uint16_t *, const uint16_t *, const uint16_t *, long);                              \
    void name##_multiply(uint16_t *, const uint16_t *, const uint16_t *, long);                              \
    void name##_divide(uint16_t *, const uint16_t *, const uint16_t *, long);                                \
    void name##_step(uint16_t *, const uint16_t *, const uint16_t *, long);                                  \
    void name##_step_float(uint16_t *, const uint16_t *, const float *, long);                               \
    void name##_size(uint16_t *, const uint16_t *, long);                                                    \
    void name##_signs(bool *, const uint16_t *, long);                                                       \
    int name##_expressions(void);
#define TABLE(name)                                                                                          \
    name##_from_float, name##_from_double, name##_from_int64, name##_from_uint64, name##_to_float,           \
        name##_to_double, name##_to_int64, name##_step, name##_step_float, name##_size, name##_signs,        \
    {                                                                                                        \
        name##_add, name##_subtract, name##_multiply, name##_divide                                          \
    }
DECLARE(half)
DECLARE(bfloat)
int float_expressions(void);
int int_expressions(void);
int half_from_bfloat(void);
int bfloat_from_half(void);
float half_names(float x);

static const format formats[] = {
    {10, -14, 65504, TABLE(half)},
    {7, -126, 0x1.fep127, TABLE(bfloat)},
};
enum { PATTERNS = 65536, N_FORMATS = sizeof formats / sizeof *formats };

/* The number of a pattern, from its fields. */
static double value_of(const format *f, unsigned bits)
{
    unsigned mantissa = bits & ((1u << f->mantissa) - 1), exponent = (bits & 0x7fff) >> f->mantissa;
    unsigned highest = 0x7fffu >> f->mantissa;
    double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == highest)
        return mantissa ? NAN : sign * INFINITY;
    if (exponent == 0)
        return sign * ldexp(mantissa, f->exponent_min - f->mantissa);
    return sign * ldexp(mantissa + ldexp(1, f->mantissa), f->exponent_min - f->mantissa + (int)exponent - 1);
}

/* The nearest value of the format, ties to even, in long double: exact for every input here. */
static double rounded(const format *f, long double x)
{
    if (x == 0 || !isfinite(x))
        return (double)x;
    int exponent = ilogbl(x);
    int quantum = (exponent < f->exponent_min ? f->exponent_min : exponent) - f->mantissa;
    long double nearest = ldexpl(rintl(ldexpl(x, -quantum)), quantum);
    return fabsl(nearest) > f->largest ? (double)copysignl(INFINITY, x) : (double)nearest;
}

static void same(const format *f, uint16_t bits, long double x)
{
    double got = value_of(f, bits), wanted = rounded(f, x);
    if (isnan(x) ? !isnan(got) : got != wanted || (bits >> 15) != (signbit(x) ? 1 : 0))
        fail_msg("%La becomes %a (%04x), expected %a", x, got, bits, wanted);
}

static void test_every_pattern_widens(void **state)
{
    (void)state;
    static uint16_t in[PATTERNS], back[PATTERNS];
    static float single[PATTERNS];
    static double wide[PATTERNS];
    for (int i = 0; i < PATTERNS; ++i)
        in[i] = (uint16_t)i;
    for (int k = 0; k < N_FORMATS; ++k) {
        const format *f = &formats[k];
        f->to_float(single, in, PATTERNS);
        f->to_double(wide, in, PATTERNS);
        f->from_float(back, single, PATTERNS);
        for (int i = 0; i < PATTERNS; ++i) {
            double wanted = value_of(f, in[i]);
            if (isnan(wanted)) {
                assert_true(isnan(single[i]) && isnan(wide[i]) && isnan(value_of(f, back[i])));
                continue;
            }
            assert_true(single[i] == wanted && wide[i] == wanted && !signbit(single[i]) == !signbit(wanted));
            assert_int_equal(back[i], in[i]);
        }
    }
}

static void test_whole_values_become_integers(void **state)
{
    (void)state;
    static uint16_t in[PATTERNS];
    static long long out[PATTERNS];
    for (int i = 0; i < PATTERNS; ++i)
        in[i] = (uint16_t)i;
    for (int k = 0; k < N_FORMATS; ++k) {
        formats[k].to_int64(out, in, PATTERNS);
        for (int i = 0; i < PATTERNS; ++i) {
            double x = value_of(&formats[k], in[i]);
            assert_true(!(fabs(x) < 0x1p63) || out[i] == (long long)x);
        }
    }
}

/* Each value, each midpoint to the next one, and the nearest numbers beside both. */
enum { BOUNDARIES = 6 };

static void boundaries(const format *f, unsigned bits, double out[BOUNDARIES])
{
    double x = value_of(f, bits), next = value_of(f, bits + 1);
    if (isinf(next))
        next = copysign(f->largest + ldexp(1, ilogb(f->largest) - f->mantissa), x);
    double middle = isfinite(x) ? x + (next - x) / 2 : x;
    double all[] = {
        x, nextafter(x, next), middle, nextafter(middle, 0), nextafter(middle, next * 2), nextafter(next, x)};
    memcpy(out, all, sizeof all);
}

static void test_rounding_of_doubles(void **state)
{
    (void)state;
    enum { N = PATTERNS * BOUNDARIES };
    static double in[N];
    static uint16_t out[N];
    for (int k = 0; k < N_FORMATS; ++k) {
        for (unsigned i = 0; i < PATTERNS; ++i)
            boundaries(&formats[k], i, in + BOUNDARIES * i);
        formats[k].from_double(out, in, N);
        for (int i = 0; i < N; ++i)
            same(&formats[k], out[i], in[i]);
    }
}

static void test_rounding_of_floats(void **state)
{
    (void)state;
    enum { N = PATTERNS * BOUNDARIES * 3 };
    static float in[N];
    static uint16_t out[N];
    for (int k = 0; k < N_FORMATS; ++k) {
        int n = 0;
        for (unsigned i = 0; i < PATTERNS; ++i) {
            double wide[BOUNDARIES];
            boundaries(&formats[k], i, wide);
            for (int j = 0; j < BOUNDARIES; ++j) {
                in[n++] = (float)wide[j];
                in[n++] = nextafterf((float)wide[j], INFINITY);
                in[n++] = nextafterf((float)wide[j], -INFINITY);
            }
        }
        formats[k].from_float(out, in, N);
        for (int i = 0; i < N; ++i)
            same(&formats[k], out[i], (long double)in[i]);
    }
}

/* Around the midpoints, from eight bits on. */
static unsigned long long integer_case(int top, int low, unsigned lead)
{
    unsigned long long u = 1ull << top | (unsigned long long)lead << top >> 8;
    return u + (unsigned long long)(long long)low + (top > 9 ? 1ull << (top - 8) : 0);
}

static void test_rounding_of_integers(void **state)
{
    (void)state;
    enum { N = 64 * 7 * 64 + 1 };
    static unsigned long long u[N];
    static long long s[N];
    static uint16_t from_u[N], from_s[N];
    int n = 0;
    for (int top = 0; top < 64; ++top)
        for (int low = -3; low <= 3; ++low)
            for (unsigned lead = 0; lead < 64; ++lead) {
                u[n] = integer_case(top, low, lead);
                s[n] = (long long)(u[n] >> 1) * (low % 2 ? -1 : 1);
                ++n;
            }
    u[n] = UINT64_MAX;
    s[n++] = INT64_MIN;
    for (int k = 0; k < N_FORMATS; ++k) {
        formats[k].from_uint64(from_u, u, N);
        formats[k].from_int64(from_s, s, N);
        for (int i = 0; i < N; ++i) {
            same(&formats[k], from_u[i], (long double)u[i]);
            same(&formats[k], from_s[i], (long double)s[i]);
        }
    }
}

static void test_random_floats(void **state)
{
    (void)state;
    enum { N = 1 << 16 };
    static float in[N];
    static uint16_t out[N];
    uint64_t seed = 1;
    for (int k = 0; k < N_FORMATS; ++k)
        for (int round = 0; round < 8; ++round) {
            for (int i = 0; i < N; ++i) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                uint32_t bits = (uint32_t)(seed >> 32);
                memcpy(&in[i], &bits, 4);
            }
            formats[k].from_float(out, in, N);
            for (int i = 0; i < N; ++i)
                same(&formats[k], out[i], (long double)in[i]);
        }
}

/* In float32, rounded once at the end. */
static float in_single_precision(int operation, float x, float y)
{
    return operation == 0 ? x + y : operation == 1 ? x - y : operation == 2 ? x * y : x / y;
}

static void test_arithmetic(void **state)
{
    (void)state;
    static uint16_t x[PATTERNS], y[PATTERNS], z[PATTERNS];
    static float wide_x[PATTERNS], wide_y[PATTERNS];
    for (unsigned i = 0; i < PATTERNS; ++i) {
        x[i] = (uint16_t)i;
        y[i] = (uint16_t)(i * 40503u + 12345u);
    }
    for (int k = 0; k < N_FORMATS; ++k)
        for (int operation = 0; operation < 4; ++operation) {
            formats[k].arithmetic[operation](z, x, y, PATTERNS);
            formats[k].to_float(wide_x, x, PATTERNS);
            formats[k].to_float(wide_y, y, PATTERNS);
            for (int i = 0; i < PATTERNS; ++i)
                same(&formats[k], z[i], (long double)in_single_precision(operation, wide_x[i], wide_y[i]));
        }
}

static bool is_nan(const format *f, unsigned bits)
{
    return (bits & 0x7fff) > (0x7fffu >> f->mantissa << f->mantissa);
}

/* A pattern's place on the line of all numbers: both zeros are 0. */
static int place_of(unsigned bits)
{
    return bits & 0x8000 ? -(int)(bits & 0x7fff) : (int)bits;
}

/* The neighbour of x towards y, by places alone. */
static unsigned neighbour(unsigned x, unsigned y)
{
    int from = place_of(x), to = place_of(y), there = from + (to > from) - (to < from);
    if (from == to)
        return y;
    return there == 0 ? x & 0x8000 : there < 0 ? 0x8000u | (unsigned)-there : (unsigned)there;
}

static void check_steps(const format *f, const uint16_t *x, const uint16_t *y, const uint16_t *z)
{
    for (int i = 0; i < PATTERNS; ++i) {
        bool is_lost = is_nan(f, x[i]) || is_nan(f, y[i]);
        if (is_lost ? !is_nan(f, z[i]) : z[i] != neighbour(x[i], y[i]))
            fail_msg("nextafter(%04x, %04x) is %04x, expected %04x", x[i], y[i], z[i], neighbour(x[i], y[i]));
    }
}

/* From each number towards the ends, zero, NaN, itself and any other. */
static void test_steps_to_the_neighbour(void **state)
{
    (void)state;
    static uint16_t x[PATTERNS], y[PATTERNS], z[PATTERNS];
    static float wide[PATTERNS];
    enum { ENDS = 7 };
    for (int i = 0; i < PATTERNS; ++i)
        x[i] = (uint16_t)i;
    for (int k = 0; k < N_FORMATS; ++k) {
        const format *f = &formats[k];
        unsigned infinity = 0x7fffu >> f->mantissa << f->mantissa;
        const unsigned ends[ENDS] = {infinity, 0x8000 | infinity, 0, 0x8000, infinity + 1, 0, 0};
        for (int end = 0; end < ENDS; ++end) {
            for (unsigned i = 0; i < PATTERNS; ++i)
                y[i] = (uint16_t)(end == 5 ? i : end == 6 ? i * 40503u + 12345u : ends[end]);
            f->step(z, x, y, PATTERNS);
            check_steps(f, x, y, z);
            f->to_float(wide, y, PATTERNS);
            f->step_float(z, x, wide, PATTERNS);
            check_steps(f, x, y, z);
        }
    }
}

static void test_signs(void **state)
{
    (void)state;
    static uint16_t x[PATTERNS], z[PATTERNS];
    static bool signs[PATTERNS];
    for (int i = 0; i < PATTERNS; ++i)
        x[i] = (uint16_t)i;
    for (int k = 0; k < N_FORMATS; ++k) {
        formats[k].size(z, x, PATTERNS);
        formats[k].signs(signs, x, PATTERNS);
        for (int i = 0; i < PATTERNS; ++i) {
            assert_int_equal(z[i], i & 0x7fff);
            assert_true(is_nan(&formats[k], x[i]) || signs[i] == (i >> 15));
        }
    }
}

#ifndef ON_DEVICE
static void test_expressions_of_snippets(void **state)
{
    (void)state;
    assert_int_equal(half_expressions(), 65);
    assert_int_equal(bfloat_expressions(), 65);
    assert_int_equal(float_expressions(), 65);
    assert_int_equal(int_expressions(), 64); /* 1.5 is 1 */
    assert_int_equal(half_from_bfloat(), 28);
    assert_int_equal(bfloat_from_half(), 28);
    assert_true(half_names(1.5f) == 3);
}
#endif

int main(int argc, char **argv)
{
    begin(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_pattern_widens),
        cmocka_unit_test(test_whole_values_become_integers),
        cmocka_unit_test(test_rounding_of_doubles),
        cmocka_unit_test(test_rounding_of_floats),
        cmocka_unit_test(test_rounding_of_integers),
        cmocka_unit_test(test_random_floats),
        cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_steps_to_the_neighbour),
        cmocka_unit_test(test_signs),
#ifndef ON_DEVICE
        cmocka_unit_test(test_expressions_of_snippets),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
