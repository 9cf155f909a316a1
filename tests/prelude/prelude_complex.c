/* complex<T> of the preludes against C99's complex functions in a wider type, on a grid that has the infinities, the zeros and the branch cuts. */
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

typedef void float_function(float _Complex *, const float _Complex *);
typedef void double_function(double _Complex *, const double _Complex *);
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

/* Relative to the larger part, in units of epsilon; an overflow of the narrower type counts as the infinity it becomes. */
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

static wide apply(float_function *f, double_function *d, const wide *z, int n, bool is_float)
{
    float _Complex in_f[2], out_f;
    double _Complex in_d[2], out_d;
    for (int i = 0; i < n; ++i) {
        in_f[i] = (float _Complex)z[i];
        in_d[i] = (double _Complex)z[i];
    }
    if (is_float)
        f(&out_f, in_f);
    else
        d(&out_d, in_d);
    return is_float ? make(crealf(out_f), cimagf(out_f)) : make(creal(out_d), cimag(out_d));
}

static void test_functions_on_a_grid(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof unaries / sizeof *unaries; ++k)
        for (int is_float = 0; is_float < 2; ++is_float)
            for (int a = 0; a < GRID; ++a)
                for (int b = 0; b < GRID; ++b) {
                    wide z = narrowed(grid[a], grid[b], is_float),
                         got = apply(unaries[k].f, unaries[k].d, &z, 1, is_float);
                    bool is_scaled = unaries[k].reference == wide_exp2; /* by log 2, which is rounded */
                    check(unaries[k].name, z, got, unaries[k].reference(z), is_float,
                          is_scaled ? 12 + 2 * cabsl(z) : 12);
                }
}

static bool same_class(long double got, long double wanted)
{
    return isnan(wanted) ? isnan(got) : isinf(wanted) ? got == wanted : isfinite(got);
}

/* Infinities and NaNs: where C99 leaves a sign open, so does the test. */
static void test_functions_of_infinities(void **state)
{
    (void)state;
    static const double special[] = {INFINITY, -INFINITY, 1.0, -1.0, 0.0, -0.0, 2.5};
    enum { N = sizeof special / sizeof *special };
    for (size_t k = 0; k < sizeof unaries / sizeof *unaries; ++k)
        for (int is_float = 0; is_float < 2; ++is_float)
            for (int a = 0; a < N; ++a)
                for (int b = 0; b < N; ++b) {
                    if (!unaries[k].specials || (isfinite(special[a]) && isfinite(special[b])))
                        continue;
                    wide z = narrowed(special[a], special[b], is_float),
                         got = apply(unaries[k].f, unaries[k].d, &z, 1, is_float),
                         wanted = unaries[k].reference(z);
                    bool right = same_class(fabsl(creall(got)), fabsl(creall(wanted))) &&
                                 same_class(fabsl(cimagl(got)), fabsl(cimagl(wanted)));
                    if (!right)
                        fail_msg("%s of %Lg%+Lgi: %Lg%+Lgi, expected %Lg%+Lgi", unaries[k].name, creall(z),
                                 cimagl(z), creall(got), cimagl(got), creall(wanted), cimagl(wanted));
                }
}

/* The sides of the branch cuts, which only the sign of a zero tells apart. */
static void test_signs_of_zeros(void **state)
{
    (void)state;
    static const char *const names[] = {"sqrt",  "log",   "asin", "acos", "atan", "asinh",
                                        "acosh", "atanh", "sinh", "tanh", "sin",  "tan"};
    static const double parts[] = {0.0, -0.0, 2.0, -2.0};
    for (size_t k = 0; k < sizeof unaries / sizeof *unaries; ++k)
        for (size_t n = 0; n < sizeof names / sizeof *names; ++n)
            for (int a = 0; a < 4; ++a)
                for (int b = 0; b < 4; ++b) {
                    wide z = make(parts[a], parts[b]);
                    if (strcmp(names[n], unaries[k].name) != 0 || (parts[a] != 0 && parts[b] != 0))
                        continue;
                    wide got = apply(unaries[k].f, unaries[k].d, &z, 1, false),
                         wanted = unaries[k].reference(z);
                    bool right =
                        (fabsl(creall(wanted)) < 1e-15L ||
                         !signbit(creall(got)) == !signbit(creall(wanted))) &&
                        (fabsl(cimagl(wanted)) < 1e-15L || !signbit(cimagl(got)) == !signbit(cimagl(wanted)));
                    if (!right)
                        fail_msg("%s of %Lg%+Lgi: %Lg%+Lgi, expected %Lg%+Lgi", names[n], creall(z),
                                 cimagl(z), creall(got), cimagl(got), creall(wanted), cimagl(wanted));
                }
}

/* A power multiplies the error of the logarithm by its size. */
static long double limit_of(const binary *b, wide z, wide w)
{
    return b->reference == cpowl ? 16 + 8 * cabsl(w) * (1 + cabsl(clogl(z))) : 4;
}

static void test_arithmetic(void **state)
{
    (void)state;
    static const double part[] = {0.5, -1.25, 3.0, -7.0, 0.0, 1e-6};
    enum { N = sizeof part / sizeof *part };
    for (size_t k = 0; k < sizeof binaries / sizeof *binaries; ++k)
        for (int code = 0; code < N * N * N * N * 2; ++code) {
            bool is_float = code & 1;
            int c = code >> 1;
            wide in[] = {narrowed(part[c % N], part[c / N % N], is_float),
                         narrowed(part[c / (N * N) % N], part[c / (N * N * N)], is_float)};
            bool from_zero = in[0] == 0 && binaries[k].reference == cpowl;
            if ((in[1] == 0 && binaries[k].reference == wide_divide) || from_zero)
                continue;
            check(binaries[k].name, in[0], apply(binaries[k].f, binaries[k].d, in, 2, is_float),
                  binaries[k].reference(in[0], in[1]), is_float, limit_of(&binaries[k], in[0], in[1]));
        }
}

static void test_quotients_do_not_overflow_on_the_way(void **state)
{
    (void)state;
    static const double size[] = {1e300, 1e-300, 1, 1e200};
    for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b) {
            wide in[] = {make(size[a], -size[a] / 2), make(size[b] / 3, size[b])};
            check("divide", in[0], apply(kiln_divide_f, kiln_divide_d, in, 2, false), in[0] / in[1], false,
                  6);
        }
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_on_a_grid),
        cmocka_unit_test(test_functions_of_infinities),
        cmocka_unit_test(test_signs_of_zeros),
        cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_quotients_do_not_overflow_on_the_way),
        cmocka_unit_test(test_expressions_of_snippets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
