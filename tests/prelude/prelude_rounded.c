/* CUDA's arithmetic with named roundings against the processor's own rounding modes: special operands in all
 * combinations, and random ones of every size, many of which nearly cancel. */
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "device_side.h"

static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
static const char *const mode_names[] = {"to nearest", "towards zero", "up", "down"};

static const double specials[] = {0.0,
                                  INFINITY,
                                  NAN,
                                  FLT_TRUE_MIN,
                                  FLT_MIN,
                                  FLT_MIN - FLT_TRUE_MIN,
                                  FLT_MAX,
                                  1.0,
                                  1.0 / 3,
                                  1 + FLT_EPSILON,
                                  0x1p-75,
                                  0x1.8p-64,
                                  0x1p64,
                                  3.0,
                                  DBL_TRUE_MIN,
                                  DBL_MIN,
                                  DBL_MAX,
                                  1 + DBL_EPSILON,
                                  0x1p-538,
                                  0x1p512,
                                  DBL_MIN - DBL_TRUE_MIN,
                                  0x1p-900,
                                  0x1p1023,
                                  0x1.fffffffffffffp-1};

enum {
    N_SPECIALS = 2 * sizeof specials / sizeof *specials,
    N_RANDOM = 100000,
    N_OPERANDS = N_SPECIALS * N_SPECIALS * N_SPECIALS + N_RANDOM,
    N = 4 * N_OPERANDS
};

static uint64_t seed = 1;

static uint64_t next_bits(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed ^ seed >> 29;
}

static double special(int k)
{
    return k % 2 ? -specials[k / 2] : specials[k / 2];
}

/* Any bits; short significands make exact results; close exponents make cancellations. */
#define OPERANDS(F, U, digits, hidden)                                                                       \
    static F x_##F[N], y_##F[N], z_##F[N], out_##F[N];                                                       \
    static F random_##F(void)                                                                                \
    {                                                                                                        \
        U bits = (U)(next_bits() >> (64 - digits));                                                          \
        int kind = (int)(next_bits() >> 62);                                                                 \
        F x;                                                                                                 \
        memcpy(&x, &bits, sizeof x);                                                                         \
        return kind == 0 ? x                                                                                 \
                         : (F)ldexp((kind == 1 ? 8 : 1) + (double)(bits >> 8 & hidden) / hidden,             \
                                    (int)(bits % 7) - 3) *                                                   \
                               (bits & 128 ? -1 : 1);                                                        \
    }                                                                                                        \
    static void fill_##F(void)                                                                               \
    {                                                                                                        \
        int n = 0;                                                                                           \
        for (int i = 0; i < N_SPECIALS * N_SPECIALS * N_SPECIALS; ++i, ++n) {                                \
            x_##F[n] = (F)special(i % N_SPECIALS);                                                           \
            y_##F[n] = (F)special(i / N_SPECIALS % N_SPECIALS);                                              \
            z_##F[n] = (F)special(i / N_SPECIALS / N_SPECIALS);                                              \
        }                                                                                                    \
        for (int i = 0; i < N_RANDOM; ++i, ++n) {                                                            \
            x_##F[n] = random_##F();                                                                         \
            y_##F[n] = random_##F();                                                                         \
            z_##F[n] = i % 3 ? random_##F() : -(x_##F[n] * y_##F[n]);                                        \
        }                                                                                                    \
        for (; n < N; ++n) {                                                                                 \
            x_##F[n] = x_##F[n - N_OPERANDS];                                                                \
            y_##F[n] = y_##F[n - N_OPERANDS];                                                                \
            z_##F[n] = z_##F[n - N_OPERANDS];                                                                \
        }                                                                                                    \
    }
OPERANDS(float, uint32_t, 32, 0xfff)
OPERANDS(double, uint64_t, 64, 0xffffffffffff)

static int mode_of[N];

/* Volatile, so that the operation stays between the changes of the mode. */
#define REFERENCE(F, name, expression)                                                                       \
    static F reference_##name(F x_given, F y_given, F z_given, int mode)                                     \
    {                                                                                                        \
        volatile F x = x_given, y = y_given, z = z_given;                                                    \
        fesetround(mode);                                                                                    \
        volatile F result = expression;                                                                      \
        fesetround(FE_TONEAREST);                                                                            \
        (void)x, (void)y, (void)z;                                                                           \
        return result;                                                                                       \
    }
#define REFERENCES(F, f, fused, root, fuse)                                                                  \
    REFERENCE(F, f##add, x + y)                                                                              \
    REFERENCE(F, f##sub, x - y)                                                                              \
    REFERENCE(F, f##mul, x *y)                                                                               \
    REFERENCE(F, f##div, x / y)                                                                              \
    REFERENCE(F, f##rcp, 1 / x)                                                                              \
    REFERENCE(F, f##sqrt, root(x))                                                                           \
    REFERENCE(F, fused, fuse(x, y, z))
REFERENCES(float, f, fmaf, sqrtf, fmaf)
REFERENCES(double, d, fma, sqrt, fma)

#define CHECK(F)                                                                                             \
    static void check_##F(const char *name, F (*reference)(F, F, F, int))                                    \
    {                                                                                                        \
        for (int i = 0; i < N; ++i) {                                                                        \
            F wanted = reference(x_##F[i], y_##F[i], z_##F[i], modes[mode_of[i]]), got = out_##F[i];         \
            if (isnan(wanted) ? !isnan(got) : memcmp(&got, &wanted, sizeof got) != 0)                        \
                fail_msg("%s of %a, %a, %a %s: %a, expected %a", name, (double)x_##F[i], (double)y_##F[i],   \
                         (double)z_##F[i], mode_names[mode_of[i]], (double)got, (double)wanted);             \
        }                                                                                                    \
    }
CHECK(float)
CHECK(double)

#define ROUNDED(F, name, ...)                                                                                \
    void kiln_##name(F *out, const F *x, const F *y, const F *z, const int *mode, long n);                   \
    static void test_##name(void **state)                                                                    \
    {                                                                                                        \
        (void)state;                                                                                         \
        kiln_##name(out_##F, x_##F, y_##F, z_##F, mode_of, N);                                               \
        check_##F(#name, reference_##name);                                                                  \
    }
#include "rounded_functions.h"
#undef ROUNDED

#ifndef ON_DEVICE
float kiln_ieee(float x, float y, float z);

static void test_ieee_names(void **state)
{
    (void)state;
    assert_true(kiln_ieee(1.5f, 2, 1) == 0 && kiln_ieee(0.1f, 0.1f, 1) == FLT_EPSILON);
}
#endif

int main(int argc, char **argv)
{
    begin(argc, argv);
    fill_float();
    fill_double();
    for (int i = 0; i < N; ++i)
        mode_of[i] = i / N_OPERANDS;
    const struct CMUnitTest tests[] = {
#define ROUNDED(F, name, ...) cmocka_unit_test(test_##name),
#include "rounded_functions.h"
#ifndef ON_DEVICE
        cmocka_unit_test(test_ieee_names),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
