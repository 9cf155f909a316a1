/* Mathematics of the host preludes in loops, scalar and vector forms, against the C library in long
 * double. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "device_side.h"

typedef struct function {
    const char *name;
    void (*f)(float *, const float *, long);
    void (*d)(double *, const double *, long);
    long double (*reference)(long double);
    double from, to;
    double ulp_f, ulp_d;
} function;

static long double exp10_reference(long double x)
{
    return powl(10, x);
}
static long double rsqrt_reference(long double x)
{
    return 1 / sqrtl(x);
}
static long double rcbrt_reference(long double x)
{
    return 1 / cbrtl(x);
}
static const long double pi = 3.14159265358979323846264338327950288L;
static long double sinpi_reference(long double x)
{
    return sinl(pi * remainderl(x, 2));
}
static long double cospi_reference(long double x)
{
    return sinl(pi * (0.5L - fabsl(remainderl(x, 2))));
}
static long double normcdf_reference(long double x)
{
    return erfcl(-x / sqrtl(2)) / 2;
}
static long double erfcx_reference(long double x)
{
    return expl(x * x) * erfcl(x);
}

/* The inverse of a monotonous function by bisection. */
static long double inverse(long double (*f)(long double), long double y, long double low, long double high)
{
    bool rises = f(high) > f(low);
    for (int k = 0; k < 200; ++k) {
        long double middle = (low + high) / 2;
        if ((f(middle) < y) == rises)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}
static long double erfinv_reference(long double y)
{
    return y == 0 ? y : inverse(erfl, y, -9, 9);
}
static long double erfcinv_reference(long double y)
{
    return inverse(erfcl, y, -9, 30);
}
static long double normcdfinv_reference(long double y)
{
    return inverse(normcdf_reference, y, -40, 9);
}

/* The integral of exp(x cos t) cos(n t): the trapezoidal rule converges like the series. */
static long double bessel(int order, long double x)
{
    enum { STEPS = 400 };
    long double sum = 0;
    for (int k = 0; k < STEPS; ++k) {
        long double t = 2 * pi * k / STEPS;
        sum += expl(x * cosl(t)) * cosl(order * t);
    }
    return sum / STEPS;
}
static long double bessel_i0(long double x)
{
    return bessel(0, x);
}
static long double bessel_i1(long double x)
{
    return bessel(1, x);
}

#define FUNCTIONS(X)                                                                                         \
    X(sin, sinl, -20, 20, 4, 4)                                                                              \
    X(cos, cosl, -20, 20, 4, 4)                                                                              \
    X(tan, tanl, -1.5, 1.5, 4, 4)                                                                            \
    X(asin, asinl, -1, 1, 4, 4)                                                                              \
    X(acos, acosl, -1, 1, 4, 4)                                                                              \
    X(atan, atanl, -50, 50, 4, 4)                                                                            \
    X(sinh, sinhl, -20, 20, 4, 4)                                                                            \
    X(cosh, coshl, -20, 20, 4, 4)                                                                            \
    X(tanh, tanhl, -10, 10, 4, 4)                                                                            \
    X(asinh, asinhl, -50, 50, 4, 4)                                                                          \
    X(acosh, acoshl, 1, 50, 4, 4)                                                                            \
    X(atanh, atanhl, -0.99, 0.99, 4, 4)                                                                      \
    X(exp, expl, -80, 80, 4, 4)                                                                              \
    X(exp2, exp2l, -100, 100, 4, 4)                                                                          \
    X(exp10, exp10_reference, -30, 30, 4, 4)                                                                 \
    X(expm1, expm1l, -20, 20, 4, 4)                                                                          \
    X(log, logl, 1e-6, 1e6, 4, 4)                                                                            \
    X(log2, log2l, 1e-6, 1e6, 4, 4)                                                                          \
    X(log10, log10l, 1e-6, 1e6, 4, 4)                                                                        \
    X(log1p, log1pl, -0.99, 100, 4, 4)                                                                       \
    X(sqrt, sqrtl, 0, 1e6, 0.51, 0.51)                                                                       \
    X(rsqrt, rsqrt_reference, 1e-6, 1e6, 2, 2)                                                               \
    X(cbrt, cbrtl, -1e3, 1e3, 4, 4)                                                                          \
    X(rcbrt, rcbrt_reference, 1e-3, 1e3, 5, 5)                                                               \
    X(erf, erfl, -4, 4, 4, 4)                                                                                \
    X(erfc, erfcl, -4, 8, 5, 5)                                                                              \
    X(floor, floorl, -9, 9, 0, 0)                                                                            \
    X(ceil, ceill, -9, 9, 0, 0)                                                                              \
    X(rint, rintl, -9, 9, 0, 0)                                                                              \
    X(round, roundl, -9, 9, 0, 0)                                                                            \
    X(trunc, truncl, -9, 9, 0, 0)                                                                            \
    X(fabs, fabsl, -9, 9, 0, 0)                                                                              \
    X(sinpi, sinpi_reference, -9, 9, 6, 6)                                                                   \
    X(cospi, cospi_reference, -9, 9, 6, 6)                                                                   \
    X(tgamma, tgammal, 0.1, 30, 8, 8)                                                                        \
    X(lgamma, lgammal, 2.5, 50, 8, 8)                                                                        \
    X(erfinv, erfinv_reference, -0.999, 0.999, 1, 8)                                                         \
    X(erfcinv, erfcinv_reference, 0.001, 0.9, 1, 8)                                                          \
    X(erfcx, erfcx_reference, -3, 12, 1, 8)                                                                  \
    X(normcdf, normcdf_reference, -8, 8, 1, 80)                                                              \
    X(normcdfinv, normcdfinv_reference, 0.001, 0.49, 1, 10)                                                  \
    X(cyl_bessel_i0, bessel_i0, -60, 60, 1, 16)                                                              \
    X(cyl_bessel_i1, bessel_i1, 0.01, 60, 1, 40)
#define DECLARE(name, ...)                                                                                   \
    void kiln_##name##_f(float *, const float *, long);                                                      \
    void kiln_##name##_d(double *, const double *, long);
#define ROW(name, ...) {#name, kiln_##name##_f, kiln_##name##_d, __VA_ARGS__},
FUNCTIONS(DECLARE)
static const function functions[] = {FUNCTIONS(ROW)};

float kiln_min(float x, float y);
float kiln_max(float x, float y);
double kiln_fmin(double x, double y);
double kiln_fmax(double x, double y);
bool kiln_mixed_calls(void);
float kiln_rounded_product(float x, float y);
int kiln_have_libmvec(void);

enum { N = 1003 }; /* whole vectors and a rest */

static void check(const function *f, const char *type, long double x, long double got, long double wanted,
                  long double ulp, double limit)
{
    if (is_on_gpu() && limit >= 1) /* CUDA documents up to 11 for some in float32 */
        limit = fmax(limit, 16);
    if (fabsl(got - wanted) > limit * ulp)
        fail_msg("%s of %.17Lg in %s: %.17Lg, expected %.17Lg (%Lg ulp)", f->name, x, type, got, wanted,
                 fabsl(got - wanted) / ulp);
}

static long double unit(long double x, int digits)
{
    return x == 0 ? 0x1p-1000L : ldexpl(1, ilogbl(x) - digits + 1);
}

/* Next to a zero of sin and its kin the reduction of the argument counts, not the function. */
static bool is_near_zero(const function *f, long double wanted)
{
    return fabsl(wanted) < 1e-3L && (strstr(f->name, "sin") == f->name || strstr(f->name, "cos") == f->name);
}

static void test_accuracy_in_loops(void **state)
{
    (void)state;
    static float in_f[N], out_f[N];
    static double in_d[N], out_d[N];
    for (size_t k = 0; k < sizeof functions / sizeof *functions; ++k) {
        const function *f = &functions[k];
        for (int i = 0; i < N; ++i) {
            in_d[i] = f->from + (f->to - f->from) * i / (N - 1);
            in_f[i] = (float)in_d[i];
        }
        f->f(out_f, in_f, N);
        f->d(out_d, in_d, N);
        for (int i = 0; i < N; ++i) {
            long double wanted_f = f->reference(in_f[i]), wanted_d = f->reference(in_d[i]);
            if (!is_near_zero(f, wanted_f) && isfinite(wanted_f))
                check(f, "float", in_f[i], out_f[i], wanted_f, unit(wanted_f, FLT_MANT_DIG), f->ulp_f);
            if (!is_near_zero(f, wanted_d) && isfinite(wanted_d))
                check(f, "double", in_d[i], out_d[i], wanted_d, unit(wanted_d, DBL_MANT_DIG), f->ulp_d);
        }
    }
}

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b && !signbit(a) == !signbit(b);
}

/* Vector forms must know them as well as the C library does. */
static void test_infinities_in_loops(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double at[5]; /* of infinity, -infinity, NaN, 0, -0 */
    } rows[] = {
        {"exp", {INFINITY, 0, NAN, 1, 1}},
        {"log", {INFINITY, NAN, NAN, -INFINITY, -INFINITY}},
        {"sin", {NAN, NAN, NAN, 0, -0.0}},
        {"tanh", {1, -1, NAN, 0, -0.0}},
        {"log1p", {INFINITY, NAN, NAN, 0, -0.0}},
        {"erf", {1, -1, NAN, 0, -0.0}},
        {"sqrt", {INFINITY, NAN, NAN, 0, -0.0}},
        {"rsqrt", {0, NAN, NAN, INFINITY, -INFINITY}},
        {"floor", {INFINITY, -INFINITY, NAN, 0, -0.0}},
        {"sinpi", {NAN, NAN, NAN, 0, -0.0}},
        {"cospi", {NAN, NAN, NAN, 1, 1}},
        {"erfinv", {NAN, NAN, NAN, 0, -0.0}},
        {"erfcx", {0, INFINITY, NAN, 1, 1}},
    };
    static const double special[] = {INFINITY, -INFINITY, NAN, 0, -0.0};
    enum { COPIES = 40 };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; ++r)
        for (size_t k = 0; k < sizeof functions / sizeof *functions; ++k) {
            if (strcmp(functions[k].name, rows[r].name) != 0)
                continue;
            float in_f[COPIES], out_f[COPIES];
            double in_d[COPIES], out_d[COPIES];
            for (int i = 0; i < COPIES; ++i)
                in_f[i] = (float)(in_d[i] = special[i % 5]);
            functions[k].f(out_f, in_f, COPIES);
            functions[k].d(out_d, in_d, COPIES);
            for (int i = 0; i < COPIES; ++i)
                if (!same(out_f[i], rows[r].at[i % 5]) || !same(out_d[i], rows[r].at[i % 5]))
                    fail_msg("%s of %g: %g in float, %g in double, expected %g", rows[r].name, in_d[i],
                             out_f[i], out_d[i], rows[r].at[i % 5]);
        }
}

#ifndef ON_DEVICE
static void test_min_and_max_ignore_nans(void **state)
{
    (void)state;
    assert_true(kiln_min(1, 2) == 1 && kiln_min(2, 1) == 1 && kiln_max(1, 2) == 2 && kiln_max(2, 1) == 2);
    assert_true(kiln_min(NAN, 2) == 2 && kiln_min(2, NAN) == 2 && kiln_max(NAN, 2) == 2 &&
                kiln_max(2, NAN) == 2);
    assert_true(isnan(kiln_min(NAN, NAN)) && isnan(kiln_fmax(NAN, NAN)));
    assert_true(kiln_fmin(NAN, -INFINITY) == -INFINITY && kiln_fmax(-INFINITY, NAN) == -INFINITY &&
                kiln_fmax(INFINITY, 3) == INFINITY);
}

static void test_mixed_calls(void **state)
{
    (void)state;
    assert_true(kiln_mixed_calls());
    assert_true(kiln_rounded_product(1.1f, 1.3f) == 0);
}

/* A loop that calls libmvec makes the program need it. */
static void test_loops_call_the_vector_library(void **state)
{
    (void)state;
    char line[512];
    bool is_mapped = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    if (!kiln_have_libmvec() || !maps) {
        if (maps)
            fclose(maps);
        skip();
    }
    while (fgets(line, sizeof line, maps))
        is_mapped |= strstr(line, "libmvec") != NULL;
    fclose(maps);
    assert_true(is_mapped);
}

#endif

int main(int argc, char **argv)
{
    begin(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accuracy_in_loops),
        cmocka_unit_test(test_infinities_in_loops),
#ifndef ON_DEVICE
        cmocka_unit_test(test_min_and_max_ignore_nans),
        cmocka_unit_test(test_mixed_calls),
        cmocka_unit_test(test_loops_call_the_vector_library),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
