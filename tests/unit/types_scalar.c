/* Scalars written as elements, and those that do not fit. */
#include "types/dtype.h"
#include "types/number.h"
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define STORES(type, dtype, arg, expected)                                                                   \
    do {                                                                                                     \
        type v_;                                                                                             \
        kiln_arg a_ = (arg);                                                                                 \
        assert_int_equal(kn_scalar_store(&v_, (dtype), &a_, "s"), KILN_OK);                                  \
        assert_true(v_ == (expected));                                                                       \
    } while (0)

static void refuses(kiln_dtype dtype, kiln_arg arg, const char *message)
{
    unsigned char out[16], before[16];
    memset(out, 0x5a, sizeof out);
    memcpy(before, out, sizeof out);
    assert_int_equal(kn_scalar_store(out, dtype, &arg, "s"), KILN_ERROR_TYPE);
    assert_string_equal(kiln_error_message(), message);
    assert_memory_equal(out, before, sizeof out);
}

static void integers_fit_or_are_refused(void **state)
{
    (void)state;
    STORES(uint8_t, KILN_UINT8, kiln_arg_int(255), 255);
    STORES(int8_t, KILN_INT8, kiln_arg_int(-128), -128);
    STORES(int64_t, KILN_INT64, kiln_arg_int(INT64_MIN), INT64_MIN);
    STORES(uint64_t, KILN_UINT64, kiln_arg_uint(UINT64_MAX), UINT64_MAX);
    STORES(int64_t, KILN_INT64, kiln_arg_float(-9223372036854775808.0), INT64_MIN);
    STORES(int32_t, KILN_INT32, kiln_arg_float(3.0), 3);
    STORES(uint8_t, KILN_BOOL, kiln_arg_bool(true), 1);
    STORES(uint16_t, KILN_UINT16, kiln_arg_bool(true), 1);
    refuses(KILN_UINT8, kiln_arg_int(256), "parameter 's': 256 does not fit uint8: 0 to 255 was expected");
    refuses(KILN_UINT64, kiln_arg_int(-1),
            "parameter 's': -1 does not fit uint64: 0 to 18446744073709551615 was expected");
    refuses(KILN_INT8, kiln_arg_int(-129), "parameter 's': -129 does not fit int8: -128 to 127 was expected");
    refuses(KILN_INT64, kiln_arg_uint(UINT64_MAX),
            "parameter 's': 18446744073709551615 does not fit int64: -9223372036854775808 to "
            "9223372036854775807 was expected");
    refuses(KILN_INT64, kiln_arg_float(9223372036854775808.0),
            "parameter 's': 9.2233720368547758e+18 does not fit int64: -9223372036854775808 to "
            "9223372036854775807 was expected");
    refuses(KILN_BOOL, kiln_arg_int(2), "parameter 's': 2 does not fit bool: 0 or 1 was expected");
    refuses(KILN_INT32, kiln_arg_float(0.5),
            "parameter 's': 0.5 was given, but int32 takes whole numbers only");
    refuses(KILN_INT32, kiln_arg_float(INFINITY),
            "parameter 's': inf does not fit int32: -2147483648 to 2147483647 was expected");
    refuses(KILN_FLOAT32, kiln_arg_complex(1, 2),
            "parameter 's': the complex value 1+2i was given, but float32 is real");
}

/* A number nearer to the greatest one is that; beyond it is infinity, for kernels as for operations. */
static void floats_beyond_the_range(void **state)
{
    static const float below[] = {0, -INFINITY}, above[] = {INFINITY, 0};
    unsigned char element[8];
    (void)state;
    STORES(float, KILN_FLOAT32, kiln_arg_float(3.4028235e38), FLT_MAX);
    STORES(float, KILN_FLOAT32, kiln_arg_float(0x1.fffffefp127), FLT_MAX);
    STORES(float, KILN_FLOAT32, kiln_arg_float(-INFINITY), -INFINITY);
    STORES(uint16_t, KILN_FLOAT16, kiln_arg_int(65519), 0x7bff);
    STORES(uint16_t, KILN_FLOAT16, kiln_arg_float(INFINITY), 0x7c00);
    STORES(uint16_t, KILN_BFLOAT16, kiln_arg_uint(UINT64_MAX), 0x5f80);
    STORES(double, KILN_FLOAT64, kiln_arg_float(1e308), 1e308);
    STORES(float, KILN_FLOAT32, kiln_arg_float(1e39), INFINITY);
    STORES(float, KILN_FLOAT32, kiln_arg_float(-0x1.ffffffp127), -INFINITY);
    STORES(uint16_t, KILN_FLOAT16, kiln_arg_int(65520), 0x7c00);
    STORES(uint16_t, KILN_FLOAT16, kiln_arg_float(-1e300), 0xfc00);
    STORES(uint16_t, KILN_BFLOAT16, kiln_arg_float(3.4e38), 0x7f80);
    const kiln_arg complex[] = {kiln_arg_complex(0, -1e39), kiln_arg_float(1e39)};
    assert_int_equal(kn_scalar_store(element, KILN_COMPLEX64, &complex[0], "s"), KILN_OK);
    assert_memory_equal(element, below, sizeof below);
    assert_int_equal(kn_scalar_store(element, KILN_COMPLEX64, &complex[1], "s"), KILN_OK);
    assert_memory_equal(element, above, sizeof above);
    refuses(KILN_INT32, kiln_arg_float(NAN),
            "parameter 's': nan was given, but int32 takes whole numbers only");
}

/* NumPy 2.4: clip(x, low, high) drops a whole number that x's dtype does not go beyond, whatever dtype the
 * other bound gives the result. */
static void bounds_are_open(void **state)
{
    static const struct {
        kiln_dtype of, dtype;
        int side;
        int64_t number;
        double compared;
    } cases[] = {{KILN_UINT8, KILN_UINT8, -1, -5, 0},
                 {KILN_UINT8, KILN_UINT8, -1, 0, 0},
                 {KILN_UINT8, KILN_UINT8, -1, 1, 1},
                 {KILN_UINT8, KILN_UINT8, -1, 300, 300},
                 {KILN_UINT8, KILN_UINT8, 1, 300, 255},
                 {KILN_UINT8, KILN_UINT8, 1, -5, -5},
                 {KILN_UINT8, KILN_UINT8, 0, -5, -5},
                 {KILN_UINT8, KILN_INT16, 1, 255, 32767},
                 {KILN_UINT8, KILN_INT16, 1, 254, 254},
                 {KILN_UINT8, KILN_INT16, -1, 0, -32768},
                 {KILN_UINT8, KILN_FLOAT16, 1, 300, INFINITY},
                 {KILN_INT8, KILN_FLOAT64, -1, -128, -INFINITY},
                 {KILN_INT8, KILN_INT8, -1, -129, -128},
                 {KILN_INT8, KILN_INT8, 1, 128, 127},
                 {KILN_INT32, KILN_INT32, -1, INT64_MIN, INT32_MIN},
                 {KILN_INT32, KILN_INT32, 1, INT64_MAX, INT32_MAX},
                 {KILN_UINT64, KILN_UINT64, -1, -1, 0},
                 {KILN_UINT32, KILN_UINT32, 1, INT64_MAX, UINT32_MAX},
                 {KILN_BOOL, KILN_INT8, 1, 300, 300},
                 {KILN_FLOAT16, KILN_FLOAT16, 1, 70000, 70000}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        const kn_bound bound = {cases[k].side, cases[k].of};
        const kiln_arg given = kiln_arg_int(cases[k].number),
                       got = kn_bound_number(bound, &given, cases[k].dtype);
        double number = got.kind == KILN_ARG_WEAK_INT ? (double)got.value.i : got.value.d[0];
        assert_true(number == cases[k].compared);
    }
    const kiln_arg most = kiln_arg_uint(UINT64_MAX), part = kiln_arg_float(300), truth = kiln_arg_bool(true);
    assert_int_equal(kn_bound_number((kn_bound){1, KILN_INT64}, &most, KILN_INT64).value.i, INT64_MAX);
    assert_int_equal(kn_bound_number((kn_bound){1, KILN_UINT64}, &most, KILN_UINT64).value.u, UINT64_MAX);
    assert_int_equal(kn_bound_number((kn_bound){-1, KILN_INT64}, &most, KILN_INT64).value.u, UINT64_MAX);
    assert_true(!kn_bound_is_open((kn_bound){1, KILN_UINT8}, &part));
    assert_true(!kn_bound_is_open((kn_bound){1, KILN_BOOL}, &truth));
    const kiln_arg ends = kn_bound_number((kn_bound){1, KILN_INT64}, &most, KILN_COMPLEX64);
    assert_true(ends.kind == KILN_ARG_WEAK_COMPLEX && isinf(ends.value.d[0]) && isinf(ends.value.d[1]));
}

static void not_a_number_is_no_integer(void **state)
{
    int32_t v;
    kiln_arg arg = kiln_arg_float(NAN);
    (void)state;
    assert_int_equal(kn_scalar_store(&v, KILN_INT32, &arg, "s"), KILN_ERROR_TYPE);
}

static void floats_round_once(void **state)
{
    (void)state;
    STORES(float, KILN_FLOAT32, kiln_arg_float(0.1), 0.1f);
    STORES(uint16_t, KILN_FLOAT16, kiln_arg_float(0.1), 0x2e66);
    /* 2^60 + 2^36 + 1: by way of a double the last bit is lost and the tie goes to even, down. */
    STORES(float, KILN_FLOAT32, kiln_arg_int(1152921573326323713), 1152921642045800448.0f);
    STORES(float, KILN_FLOAT32, kiln_arg_int(-1152921573326323713), -1152921642045800448.0f);
    STORES(double, KILN_FLOAT64, kiln_arg_uint(UINT64_MAX), 18446744073709551616.0);
}

static void complex_parts_are_unchanged(void **state)
{
    float c[2];
    double z[2];
    kiln_arg arg = kiln_arg_complex(1.5, -2), real = kiln_arg_int(7);
    (void)state;
    assert_int_equal(kn_scalar_store(c, KILN_COMPLEX64, &arg, "s"), KILN_OK);
    assert_true(c[0] == 1.5f && c[1] == -2);
    /* Beyond float16's range, where it is looked at whether they become infinities. */
    static const double most = 3.4028234663852886e38;
    const double parts[][2] = {{1e6, 1e6},    {most, 0},      {0, -most},
                               {INFINITY, 1}, {1, -INFINITY}, {-1e38, 65505}};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        kiln_arg large = kiln_arg_complex(parts[k][0], parts[k][1]);
        assert_int_equal(kn_scalar_store(c, KILN_COMPLEX64, &large, "s"), KILN_OK);
        assert_true(c[0] == (float)parts[k][0] && c[1] == (float)parts[k][1]);
        assert_int_equal(kn_scalar_store(z, KILN_COMPLEX128, &large, "s"), KILN_OK);
        assert_true(z[0] == parts[k][0] && z[1] == parts[k][1]);
    }
    assert_int_equal(kn_scalar_store(z, KILN_COMPLEX128, &real, "s"), KILN_OK);
    assert_true(z[0] == 7 && z[1] == 0);
}

static void typed_scalars_convert_safely_only(void **state)
{
    int32_t i = -7;
    double d = 1.5;
    (void)state;
    STORES(int64_t, KILN_INT64, kiln_arg_typed(KILN_INT32, &i), -7);
    STORES(double, KILN_FLOAT64, kiln_arg_typed(KILN_INT32, &i), -7);
    STORES(double, KILN_FLOAT64, kiln_arg_typed(KILN_FLOAT64, &d), 1.5);
    refuses(KILN_FLOAT32, kiln_arg_typed(KILN_FLOAT64, &d),
            "parameter 's': a scalar of float64 was given, which does not convert safely to float32");
    refuses(KILN_FLOAT32, kiln_arg_array(NULL),
            "parameter 's': a scalar of float32 was expected, but an array was given");
}

static unsigned char bool_of(kiln_arg arg)
{
    unsigned char out = 7;
    if (kn_scalar_convert(&out, KILN_BOOL, &arg, "s") != KILN_OK)
        fail_msg("%s", kiln_error_message());
    return out;
}

/* As NumPy's operations have them: infinities, truth; whole numbers fit or are refused all the same. */
static void numbers_of_operations(void **state)
{
    uint16_t half;
    float z[2];
    int8_t small;
    double d = 1.5;
    kiln_arg large = kiln_arg_int(-65520), far = kiln_arg_complex(1, -1e39), beyond = kiln_arg_int(128),
             part = kiln_arg_float(0.5), typed = kiln_arg_typed(KILN_FLOAT64, &d);
    (void)state;
    assert_int_equal(kn_scalar_convert(&half, KILN_FLOAT16, &large, "s"), KILN_OK);
    assert_int_equal(half, 0xfc00);
    assert_int_equal(kn_scalar_convert(z, KILN_COMPLEX64, &far, "s"), KILN_OK);
    assert_true(z[0] == 1 && z[1] == -INFINITY);
    assert_int_equal(kn_scalar_convert(&small, KILN_INT8, &beyond, "s"), KILN_ERROR_TYPE);
    assert_int_equal(kn_scalar_convert(&small, KILN_INT8, &part, "s"), KILN_ERROR_TYPE);
    assert_int_equal(kn_scalar_convert(z, KILN_FLOAT32, &typed, "s"), KILN_ERROR_TYPE);
    assert_int_equal(bool_of(kiln_arg_int(-256)), 1);
    assert_int_equal(bool_of(kiln_arg_uint(UINT64_MAX)), 1);
    assert_int_equal(bool_of(kiln_arg_float(1e-300)), 1);
    assert_int_equal(bool_of(kiln_arg_float(NAN)), 1);
    assert_int_equal(bool_of(kiln_arg_complex(0, 1)), 1);
    assert_int_equal(bool_of(kiln_arg_complex(0, -0.0)), 0);
    assert_int_equal(bool_of(kiln_arg_float(-0.0)), 0);
    assert_int_equal(bool_of(kiln_arg_int(0)), 0);
}

/* A class tells of all integers whether they hold a number: its representative, which is as far out, as
 * they do. */
static void classes_of_whole_numbers(void **state)
{
    (void)state;
    for (int bit = 0; bit < 64; ++bit)
        for (int step = -1; step <= 1; ++step)
            for (int sign = 0; sign < 2; ++sign) {
                uint64_t u = (UINT64_C(1) << bit) + (uint64_t)step;
                kiln_arg number = sign ? kiln_arg_int((int64_t)u) : kiln_arg_uint(u);
                unsigned number_class = kn_weak_class(&number);
                kiln_arg like = kn_weak_of_class(number_class);
                assert_true(number_class < 16);
                assert_int_equal(kn_weak_class(&like), number_class);
                for (int d = KILN_BOOL; kiln_dtype_size((kiln_dtype)d) > 0; ++d)
                    assert_int_equal(kn_weak_fits(&like, (kiln_dtype)d),
                                     kn_weak_fits(&number, (kiln_dtype)d));
            }
    const kiln_arg least = kiln_arg_int(-129), most = kiln_arg_int(255), part = kiln_arg_float(-1e300);
    assert_true(!kn_weak_fits(&least, KILN_INT8) && kn_weak_fits(&least, KILN_INT16));
    assert_true(!kn_weak_fits(&least, KILN_UINT64) && kn_weak_fits(&least, KILN_FLOAT16));
    assert_true(!kn_weak_fits(&most, KILN_INT8) && kn_weak_fits(&most, KILN_UINT8));
    assert_true(kn_weak_fits(&part, KILN_FLOAT16) && kn_weak_class(&part) == 0);
}

/* Every dtype: load(store(x)) is x, for a value all of them hold. */
static void numbers_round_trip(void **state)
{
    (void)state;
    for (int d = KILN_BOOL; kiln_dtype_size((kiln_dtype)d) > 0; d++) {
        unsigned char element[16];
        kn_number one = {.kind = KN_KIND_INT, .i = 1};
        assert_true(kn_number_store(element, (kiln_dtype)d, &one));
        kn_number back = kn_number_load(element, (kiln_dtype)d);
        assert_true(back.kind >= KN_KIND_FLOAT ? back.re == 1 && back.im == 0 : back.i == 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_fit_or_are_refused),
        cmocka_unit_test(floats_beyond_the_range),
        cmocka_unit_test(bounds_are_open),
        cmocka_unit_test(not_a_number_is_no_integer),
        cmocka_unit_test(floats_round_once),
        cmocka_unit_test(complex_parts_are_unchanged),
        cmocka_unit_test(typed_scalars_convert_safely_only),
        cmocka_unit_test(numbers_of_operations),
        cmocka_unit_test(classes_of_whole_numbers),
        cmocka_unit_test(numbers_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
