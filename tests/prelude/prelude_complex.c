/* complex<T> of the preludes against C99's complex functions in a wider type, on a grid that has the
 * infinities, the zeros and the branch cuts. */
#include <complex.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "device_side.h"

typedef void float_function(float _Complex *, const float _Complex *, const float _Complex *, long);
typedef void double_function(double _Complex *, const double _Complex *, const double _Complex *, long);
typedef long double _Complex wide_function(long double _Complex);
typedef long double _Complex wide;

/* CMPLXL is missing from some compilers. */
static wide make(long double re, long double im)
{
    union {
        long double part[2];
        wide z;
    } u = {{re, im}};
    return u.z;
}

static wide wide_log10(wide z)
{
    wide w = clogl(z);
    return make(creall(w) / logl(10), cimagl(w) / logl(10));
}
static wide wide_log2(wide z)
{
    wide w = clogl(z);
    return make(creall(w) / logl(2), cimagl(w) / logl(2));
}
/* By identities that lose nothing next to zero. */
static wide wide_log1p(wide z)
{
    wide w = cabsl(z) < 0.5L ? 2 * catanhl(z / (2 + z)) : clogl(make(1 + creall(z), cimagl(z)));
    return w;
}
static wide wide_exp2(wide z)
{
    return cexpl(make(creall(z) * logl(2), cimagl(z) * logl(2)));
}
static wide wide_expm1(wide z)
{
    wide half = make(creall(z) / 2, cimagl(z) / 2);
    return 2 * cexpl(half) * csinhl(half);
}
static wide wide_add(wide z, wide w)
{
    return make(creall(z) + creall(w), cimagl(z) + cimagl(w));
}
static wide wide_subtract(wide z, wide w)
{
    return make(creall(z) - creall(w), cimagl(z) - cimagl(w));
}
static wide wide_multiply(wide z, wide w)
{
    return make(creall(z) * creall(w) - cimagl(z) * cimagl(w), creall(z) * cimagl(w) + cimagl(z) * creall(w));
}
static wide wide_divide(wide z, wide w)
{
    return z / w;
}

/* specials: C99's results for infinities hold too. */
typedef struct unary {
    const char *name;
    float_function *f;
    double_function *d;
    wide_function *reference;
    bool specials;
} unary;

#define DECLARE(name)                                                                                        \
    float_function kiln_##name##_f;                                                                          \
    double_function kiln_##name##_d;
#define UNARIES(X)                                                                                           \
    X(exp, cexpl, true)                                                                                      \
    X(log, clogl, true)                                                                                      \
    X(sqrt, csqrtl, true)                                                                                    \
    X(sin, csinl, true)                                                                                      \
    X(cos, ccosl, true)                                                                                      \
    X(tan, ctanl, true)                                                                                      \
    X(sinh, csinhl, true)                                                                                    \
    X(cosh, ccoshl, true)                                                                                    \
    X(tanh, ctanhl, true)                                                                                    \
    X(asin, casinl, true)                                                                                    \
    X(acos, cacosl, true)                                                                                    \
    X(atan, catanl, true)                                                                                    \
    X(asinh, casinhl, true)                                                                                  \
    X(acosh, cacoshl, true)                                                                                  \
    X(atanh, catanhl, true)                                                                                  \
    X(proj, cprojl, true)                                                                                    \
    X(conj, conjl, true)                                                                                     \
    X(log10, wide_log10, false)                                                                              \
    X(log2, wide_log2, false)                                                                                \
    X(log1p, wide_log1p, false)                                                                              \
    X(exp2, wide_exp2, false)                                                                                \
    X(expm1, wide_expm1, false)
#define DECLARE_UNARY(name, reference, specials) DECLARE(name)
#define ROW(name, reference, specials) {#name, kiln_##name##_f, kiln_##name##_d, reference, specials},
UNARIES(DECLARE_UNARY)
static const unary unaries[] = {UNARIES(ROW)};

typedef struct binary {
    const char *name;
    float_function *f;
    double_function *d;
    wide (*reference)(wide, wide);
} binary;
DECLARE(add)
DECLARE(subtract)
DECLARE(multiply)
DECLARE(divide)
DECLARE(pow)
static const binary binaries[] = {
    {"add", kiln_add_f, kiln_add_d, wide_add},
    {"subtract", kiln_subtract_f, kiln_subtract_d, wide_subtract},
    {"multiply", kiln_multiply_f, kiln_multiply_d, wide_multiply},
    {"divide", kiln_divide_f, kiln_divide_d, wide_divide},
    {"pow", kiln_pow_f, kiln_pow_d, cpowl},
};
void kiln_parts(double *out, const double _Complex *z);
bool kiln_complex_expressions(void);

static const double grid[] = {0.0,  -0.0, 1e-30, -1e-30, 1e-9, 3e-5, -3e-5, 0.1,  0.25,
                              -0.5, 0.75, 0.999, -1.0,   1.0,  1.25, -1.75, 2.0,  3.0,
                              -4.5, 10.0, -21.0, 40.0,   95.0, -1e3, 1e7,   -1e15};
enum { GRID = sizeof grid / sizeof *grid };

/* Relative to the larger part, in units of epsilon; an overflow of the narrower type counts as the infinity
 * it becomes. */
static long double distance(wide got, wide wanted, long double largest, long double epsilon,
                            long double smallest)
{
    long double size = fmaxl(fabsl(creall(wanted)), fabsl(cimagl(wanted)));
    if (size > largest * 0.99L || !isfinite(size))
        return 0;
    long double error = fmaxl(fabsl(creall(got) - creall(wanted)), fabsl(cimagl(got) - cimagl(wanted)));
    return isnan(error) ? INFINITY : error / (fmaxl(size, smallest / epsilon) * epsilon);
}

static void check(const char *name, wide z, wide got, wide wanted, bool is_float, long double limit)
{
    long double error = is_float ? distance(got, wanted, FLT_MAX, FLT_EPSILON, FLT_MIN)
                                 : distance(got, wanted, DBL_MAX, DBL_EPSILON, DBL_MIN);
    if (error > limit)
        fail_msg("%s of %Lg%+Lgi in %s: %.17Lg%+.17Lgi, expected %.17Lg%+.17Lgi (%Lg epsilon)", name,
                 creall(z), cimagl(z), is_float ? "float" : "double", creall(got), cimagl(got),
                 creall(wanted), cimagl(wanted), error);
}

static wide narrowed(double re, double im, bool is_float)
{
    return is_float ? make((float)re, (float)im) : make(re, im);
}

enum { MAX_POINTS = 2048 };

/* Arguments of one call, in the precision tested, and its results. */
static struct {
    wide z[MAX_POINTS], w[MAX_POINTS], got[MAX_POINTS];
    int n;
} points;

static void add_point(wide z, wide w)
{
    points.z[points.n] = z;
    points.w[points.n++] = w;
}

static void apply(float_function *f, double_function *d, bool is_float)
{
    static float _Complex in_f[2][MAX_POINTS], out_f[MAX_POINTS];
    static double _Complex in_d[2][MAX_POINTS], out_d[MAX_POINTS];
    assert_true(points.n > 0 && points.n <= MAX_POINTS);
    for (int i = 0; i < points.n; ++i) {
        in_f[0][i] = (float _Complex)points.z[i];
        in_f[1][i] = (float _Complex)points.w[i];
        in_d[0][i] = (double _Complex)points.z[i];
        in_d[1][i] = (double _Complex)points.w[i];
    }
    if (is_float)
        f(out_f, in_f[0], in_f[1], points.n);
    else
        d(out_d, in_d[0], in_d[1], points.n);
    for (int i = 0; i < points.n; ++i)
        points.got[i] =
            is_float ? make(crealf(out_f[i]), cimagf(out_f[i])) : make(creal(out_d[i]), cimag(out_d[i]));
}

/* CUDA's functions of real numbers are less accurate than the C library's. */
static long double allowed(long double limit)
{
    return is_on_gpu() ? 2 * limit : limit;
}

static void check_on_grid(const unary *u, bool is_float)
{
    points.n = 0;
    for (int a = 0; a < GRID; ++a)
        for (int b = 0; b < GRID; ++b)
            add_point(narrowed(grid[a], grid[b], is_float), 0);
    apply(u->f, u->d, is_float);
    bool is_scaled = u->reference == wide_exp2; /* by log 2, which is rounded */
    for (int i = 0; i < points.n; ++i) {
        wide z = points.z[i];
        check(u->name, z, points.got[i], u->reference(z), is_float,
              allowed(is_scaled ? 12 + 2 * cabsl(z) : 12));
    }
}

static void test_functions_on_a_grid(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof unaries / sizeof *unaries; ++k) {
        check_on_grid(&unaries[k], true);
        check_on_grid(&unaries[k], false);
    }
}

static bool same_class(long double got, long double wanted)
{
    return isnan(wanted) ? isnan(got) : isinf(wanted) ? fabsl(got) == fabsl(wanted) : isfinite(got);
}

static bool same_sign(long double got, long double wanted)
{
    return fabsl(wanted) < 1e-15L || !signbit(got) == !signbit(wanted);
}

static void expect(const char *name, int i, wide wanted, bool is_right)
{
    wide z = points.z[i], got = points.got[i];
    if (!is_right)
        fail_msg("%s of %Lg%+Lgi: %Lg%+Lgi, expected %Lg%+Lgi", name, creall(z), cimagl(z), creall(got),
                 cimagl(got), creall(wanted), cimagl(wanted));
}

static void check_infinities(const unary *u, bool is_float)
{
    static const double special[] = {INFINITY, -INFINITY, NAN, 1.0, -1.0, 0.0, -0.0, 2.5, 100.0, -100.0};
    enum { N = sizeof special / sizeof *special };
    points.n = 0;
    for (int a = 0; a < N; ++a)
        for (int b = 0; b < N; ++b)
            if (!isfinite(special[a]) || !isfinite(special[b]))
                add_point(make(special[a], special[b]), 0);
    apply(u->f, u->d, is_float);
    for (int i = 0; i < points.n; ++i) {
        wide wanted = u->reference(points.z[i]), got = points.got[i];
        expect(u->name, i, wanted,
               same_class(creall(got), creall(wanted)) && same_class(cimagl(got), cimagl(wanted)));
    }
}

/* Where C99 leaves a sign open, so does the test. */
static void test_functions_of_infinities_and_nans(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof unaries / sizeof *unaries; ++k)
        if (unaries[k].specials) {
            check_infinities(&unaries[k], true);
            check_infinities(&unaries[k], false);
        }
}

static bool has_branch_cut_or_is_odd(const char *name)
{
    static const char *const names[] = {"sqrt",  "log",   "asin", "acos", "atan", "asinh",
                                        "acosh", "atanh", "sinh", "tanh", "sin",  "tan"};
    for (size_t n = 0; n < sizeof names / sizeof *names; ++n)
        if (strcmp(names[n], name) == 0)
            return true;
    return false;
}

/* The sides of the branch cuts, which only the sign of a zero tells apart. */
static void test_signs_of_zeros(void **state)
{
    (void)state;
    static const double parts[] = {0.0, -0.0, 2.0, -2.0};
    for (size_t k = 0; k < sizeof unaries / sizeof *unaries; ++k) {
        const unary *u = &unaries[k];
        if (!has_branch_cut_or_is_odd(u->name))
            continue;
        points.n = 0;
        for (int c = 0; c < 16; ++c)
            if (parts[c / 4] == 0 || parts[c % 4] == 0)
                add_point(make(parts[c / 4], parts[c % 4]), 0);
        apply(u->f, u->d, false);
        for (int i = 0; i < points.n; ++i) {
            wide wanted = u->reference(points.z[i]), got = points.got[i];
            expect(u->name, i, wanted,
                   same_sign(creall(got), creall(wanted)) && same_sign(cimagl(got), cimagl(wanted)));
        }
    }
}

/* A power multiplies the error of the logarithm by its size. */
static long double limit_of(const binary *b, wide z, wide w)
{
    return allowed(b->reference == cpowl ? 16 + 8 * cabsl(w) * (1 + cabsl(clogl(z))) : 4);
}

static void check_binary(const binary *b, bool is_float)
{
    static const double part[] = {0.5, -1.25, 3.0, -7.0, 0.0, 1e-6};
    enum { N = sizeof part / sizeof *part };
    points.n = 0;
    for (int c = 0; c < N * N * N * N; ++c) {
        wide z = narrowed(part[c % N], part[c / N % N], is_float),
             w = narrowed(part[c / (N * N) % N], part[c / (N * N * N)], is_float);
        bool is_undefined = (w == 0 && b->reference == wide_divide) || (z == 0 && b->reference == cpowl);
        if (!is_undefined)
            add_point(z, w);
    }
    apply(b->f, b->d, is_float);
    for (int i = 0; i < points.n; ++i)
        check(b->name, points.z[i], points.got[i], b->reference(points.z[i], points.w[i]), is_float,
              limit_of(b, points.z[i], points.w[i]));
}

static void test_arithmetic(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof binaries / sizeof *binaries; ++k) {
        check_binary(&binaries[k], true);
        check_binary(&binaries[k], false);
    }
}

static void test_quotients_do_not_overflow_on_the_way(void **state)
{
    (void)state;
    static const double size[] = {1e300, 1e-300, 1, 1e200};
    points.n = 0;
    for (int c = 0; c < 16; ++c)
        add_point(make(size[c / 4], -size[c / 4] / 2), make(size[c % 4] / 3, size[c % 4]));
    apply(kiln_divide_f, kiln_divide_d, false);
    for (int i = 0; i < points.n; ++i)
        check("divide", points.z[i], points.got[i], points.z[i] / points.w[i], false, allowed(6));
}

#ifndef ON_DEVICE
static void test_parts(void **state)
{
    (void)state;
    double out[7];
    double _Complex z = 3 - 4 * I;
    kiln_parts(out, &z);
    assert_true(out[0] == 5 && fabs(out[1] - atan2(-4, 3)) < 1e-15 && out[2] == 25 && out[3] == 3 &&
                out[4] == -4);
    assert_true(fabs(out[5] - 3) < 1e-14 && fabs(out[6] + 4) < 1e-14);
    z = 3e300 + 4e300 * I;
    kiln_parts(out, &z);
    assert_true(fabs(out[0] / 5e300 - 1) < 1e-15);
}

static void test_expressions_of_snippets(void **state)
{
    (void)state;
    assert_true(kiln_complex_expressions());
}

#endif

int main(int argc, char **argv)
{
    begin(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_on_a_grid),
        cmocka_unit_test(test_functions_of_infinities_and_nans),
        cmocka_unit_test(test_signs_of_zeros),
        cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_quotients_do_not_overflow_on_the_way),
#ifndef ON_DEVICE
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_expressions_of_snippets),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
