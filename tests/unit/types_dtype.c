/* The dtype table: names, promotion's rules of our own (bfloat16), weak scalars, halves. */
#include "types/dtype.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void assert_name(const char *name, kiln_dtype expected)
{
    kiln_dtype d = KILN_DTYPE_NONE;
    assert_int_equal(kiln_dtype_from_name(&d, name), KILN_OK);
    assert_int_equal(d, expected);
}

static void names_round_trip(void **state)
{
    (void)state;
    for (int d = KILN_BOOL; d <= KILN_COMPLEX128; d++) {
        const kn_dtype_info *info = kn_dtype_info_of((kiln_dtype)d);
        assert_int_equal(info->dtype, d);
        assert_name(info->name, (kiln_dtype)d);
        if (info->npy)
            assert_name(info->npy, (kiln_dtype)d);
        assert_int_equal(kiln_dtype_size((kiln_dtype)d), info->size);
    }
    assert_string_equal(kiln_dtype_name(KILN_DTYPE_NONE), "none");
    assert_string_equal(kiln_dtype_name((kiln_dtype)99), "none");
    assert_int_equal(kiln_dtype_size((kiln_dtype)-1), 0);
}

static void aliases_are_numpys(void **state)
{
    (void)state;
    assert_name("int", KILN_INT64);
    assert_name("float", KILN_FLOAT64);
    assert_name("half", KILN_FLOAT16);
    assert_name("f4", KILN_FLOAT32);
    assert_name("=i2", KILN_INT16);
    assert_name("?", KILN_BOOL);
    assert_name(">u1", KILN_UINT8);
}

static void unknown_names_are_refused(void **state)
{
    static const char *const bad[] = {"", "flot32", "float32 ", "f3", "<", ">", "T", "Float32", "<q8"};
    kiln_dtype d = KILN_INT8;
    (void)state;
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++)
        assert_int_equal(kiln_dtype_from_name(&d, bad[k]), KILN_ERROR_TYPE);
    assert_int_equal(d, KILN_INT8);
    assert_int_equal(kiln_dtype_from_name(&d, ">f4"), KILN_ERROR_TYPE);
    assert_non_null(strstr(kiln_error_message(), "big-endian"));
    assert_int_equal(kiln_dtype_from_name(&d, "|O"), KILN_ERROR_TYPE);
    assert_non_null(strstr(kiln_error_message(), "Python objects"));
    assert_int_equal(kiln_dtype_from_name(&d, NULL), KILN_ERROR_INVALID);
}

static void assert_promotes(kiln_dtype a, kiln_dtype b, kiln_dtype expected)
{
    kiln_dtype d;
    assert_int_equal(kiln_dtype_promote(&d, a, b), KILN_OK);
    assert_int_equal(d, expected);
    assert_int_equal(kiln_dtype_promote(&d, b, a), KILN_OK);
    assert_int_equal(d, expected);
}

static void bfloat16_promotes_beside_float16(void **state)
{
    kiln_dtype d;
    (void)state;
    assert_promotes(KILN_BFLOAT16, KILN_BFLOAT16, KILN_BFLOAT16);
    assert_promotes(KILN_BFLOAT16, KILN_FLOAT16, KILN_FLOAT32);
    assert_promotes(KILN_BFLOAT16, KILN_BOOL, KILN_BFLOAT16);
    assert_promotes(KILN_BFLOAT16, KILN_UINT8, KILN_BFLOAT16);
    assert_promotes(KILN_BFLOAT16, KILN_INT16, KILN_FLOAT32);
    assert_promotes(KILN_BFLOAT16, KILN_INT64, KILN_FLOAT64);
    assert_promotes(KILN_BFLOAT16, KILN_COMPLEX64, KILN_COMPLEX64);
    assert_true(kiln_dtype_can_cast(KILN_BFLOAT16, KILN_FLOAT32));
    assert_false(kiln_dtype_can_cast(KILN_BFLOAT16, KILN_FLOAT16));
    assert_int_equal(kiln_dtype_promote(&d, KILN_INT8, KILN_DTYPE_NONE), KILN_ERROR_TYPE);
    assert_false(kiln_dtype_can_cast(KILN_DTYPE_NONE, KILN_INT8));
}

static void weak_scalars_do_not_widen(void **state)
{
    (void)state;
    kiln_arg big = kiln_arg_uint(UINT64_MAX), small = kiln_arg_uint(7), real = kiln_arg_float(1);
    assert_int_equal(kn_weak_dtype(&big), KILN_UINT64);
    assert_int_equal(kn_weak_dtype(&small), KILN_INT64);
    assert_int_equal(kn_weak_dtype(&real), KILN_FLOAT64);
    assert_int_equal(kn_weak_promote(KILN_BFLOAT16, KILN_ARG_WEAK_FLOAT), KILN_BFLOAT16);
    assert_int_equal(kn_weak_promote(KILN_BFLOAT16, KILN_ARG_WEAK_COMPLEX), KILN_COMPLEX64);
    assert_int_equal(kn_weak_promote(KILN_UINT8, KILN_ARG_WEAK_INT), KILN_UINT8);
    assert_int_equal(kn_weak_promote(KILN_BOOL, KILN_ARG_WEAK_INT), KILN_INT64);
    assert_int_equal(kn_weak_promote(KILN_INT8, KILN_ARG_WEAK_FLOAT), KILN_FLOAT64);
}

/* The nearest of all finite values, found by looking at each; ties to the even code. */
static uint16_t nearest(double x, double (*decode)(uint16_t), uint16_t infinity)
{
    uint16_t best = 0;
    for (uint32_t c = 1; c < infinity; c++) {
        double d = fabs(decode((uint16_t)c) - x), e = fabs(decode(best) - x);
        if (d < e || (d == e && c % 2 == 0))
            best = (uint16_t)c;
    }
    return best;
}

static void halves_round_to_nearest_even(void **state)
{
    static const double values[] = {
        1e-9,          2.9802322387695312e-08, 2.98023223876953125e-08, 5.96e-8, 6.1e-5, 1.0009765625,
        1.00048828125, 1.00146484375,          3.14159265358979,        65503.9, 1e-3,   2049,
        2051,          6.097555160522461e-05};
    (void)state;
    for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
        assert_int_equal(kn_half_from_double(values[k]), nearest(values[k], kn_half_to_double, 0x7c00));
        assert_int_equal(kn_bfloat16_from_double(values[k]),
                         nearest(values[k], kn_bfloat16_to_double, 0x7f80));
    }
    assert_int_equal(kn_half_from_double(65519.999), 0x7bff);
    assert_int_equal(kn_half_from_double(65520), 0x7c00);
    assert_int_equal(kn_half_from_double(-1e300), 0xfc00);
    assert_int_equal(kn_half_from_double(-0.0), 0x8000);
    assert_int_equal(kn_bfloat16_from_double(3.4e38), 0x7f80);
    assert_int_equal(kn_bfloat16_from_double(1e-300), 0);
    assert_int_equal(kn_bfloat16_from_double(INFINITY), 0x7f80);
}

static void halves_round_trip(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < 0x10000; c++) {
        double h = kn_half_to_double((uint16_t)c), b = kn_bfloat16_to_double((uint16_t)c);
        assert_int_equal(isnan(h) != 0, (c & 0x7fff) > 0x7c00);
        if (!isnan(h))
            assert_int_equal(kn_half_from_double(h), c);
        else
            assert_int_equal(kn_half_from_double(h), c | 0x200);
        /* bfloat16 is the upper half of a float, which the processor can check. */
        uint32_t wide = c << 16;
        float f;
        memcpy(&f, &wide, sizeof f);
        assert_true(isnan(f) ? isnan(b) != 0 : (double)f == b && kn_bfloat16_from_double(b) == c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_round_trip),          cmocka_unit_test(aliases_are_numpys),
        cmocka_unit_test(unknown_names_are_refused), cmocka_unit_test(bfloat16_promotes_beside_float16),
        cmocka_unit_test(weak_scalars_do_not_widen), cmocka_unit_test(halves_round_to_nearest_even),
        cmocka_unit_test(halves_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
