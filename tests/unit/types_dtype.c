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
    for (int d = KILN_BOOL; kiln_dtype_size((kiln_dtype)d) > 0; d++) {
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

/* The table against what C, NumPy and DLPack say. */
static void the_table_is_right(void **state)
{
    static const struct {
        const char *name, *c_name, *storage, *npy;
        size_t size, align;
        int kind, dlpack;
    } rows[] = {
        {"bool", "bool", "unsigned char", "|b1", 1, 1, KN_KIND_BOOL, 6},
        {"int8", "signed char", "signed char", "|i1", 1, 1, KN_KIND_INT, 0},
        {"int16", "short", "short", "<i2", sizeof(short), _Alignof(short), KN_KIND_INT, 0},
        {"int32", "int", "int", "<i4", sizeof(int), _Alignof(int), KN_KIND_INT, 0},
        {"int64", "long long", "long long", "<i8", sizeof(long long), _Alignof(long long), KN_KIND_INT, 0},
        {"uint8", "unsigned char", "unsigned char", "|u1", 1, 1, KN_KIND_UINT, 1},
        {"uint16", "unsigned short", "unsigned short", "<u2", 2, 2, KN_KIND_UINT, 1},
        {"uint32", "unsigned int", "unsigned int", "<u4", 4, 4, KN_KIND_UINT, 1},
        {"uint64", "unsigned long long", "unsigned long long", "<u8", 8, 8, KN_KIND_UINT, 1},
        {"float16", "float16", "float16", "<f2", 2, 2, KN_KIND_FLOAT, 2},
        {"bfloat16", "bfloat16", "bfloat16", NULL, 2, 2, KN_KIND_FLOAT, 4},
        {"float32", "float", "float", "<f4", sizeof(float), _Alignof(float), KN_KIND_FLOAT, 2},
        {"float64", "double", "double", "<f8", sizeof(double), _Alignof(double), KN_KIND_FLOAT, 2},
        /* CUDA aligns complex numbers to their size. */
        {"complex64", "complex<float>", "complex<float>", "<c8", 8, 8, KN_KIND_COMPLEX, 5},
        {"complex128", "complex<double>", "complex<double>", "<c16", 16, 16, KN_KIND_COMPLEX, 5},
    };
    (void)state;
    assert_int_equal(sizeof rows / sizeof *rows, KN_DTYPE_END - 1);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
        const kn_dtype_info *info = kn_dtype_info_of((kiln_dtype)(k + 1));
        assert_string_equal(info->name, rows[k].name);
        assert_string_equal(info->c_name, rows[k].c_name);
        assert_string_equal(info->storage, rows[k].storage);
        assert_true(rows[k].npy ? info->npy && !strcmp(info->npy, rows[k].npy) : !info->npy);
        assert_int_equal(info->size, rows[k].size);
        assert_int_equal(info->align, rows[k].align);
        assert_int_equal(info->kind, rows[k].kind);
        assert_int_equal(info->dlpack_code, rows[k].dlpack);
        assert_int_equal(kn_dtype_is_half(info->dtype), rows[k].size == 2 && rows[k].kind == KN_KIND_FLOAT);
        assert_int_equal(kn_dtype_is_complex(info->dtype), rows[k].kind == KN_KIND_COMPLEX);
    }
    assert_null(kn_dtype_info_of(KILN_DTYPE_NONE));
    assert_null(kn_dtype_info_of((kiln_dtype)KN_DTYPE_END));
    assert_int_equal(kiln_dtype_size(KILN_DTYPE_NONE), 0);
}

static void aliases_are_numpys(void **state)
{
    (void)state;
    assert_name("int", KILN_INT64);
    assert_name("uint", KILN_UINT64);
    assert_name("intp", KILN_INT64);
    assert_name("uintp", KILN_UINT64);
    assert_name("float", KILN_FLOAT64);
    assert_name("half", KILN_FLOAT16);
    assert_name("single", KILN_FLOAT32);
    assert_name("double", KILN_FLOAT64);
    assert_name("complex", KILN_COMPLEX128);
    assert_name("csingle", KILN_COMPLEX64);
    assert_name("cdouble", KILN_COMPLEX128);
    assert_name("|u1", KILN_UINT8);
    assert_name("<c8", KILN_COMPLEX64);
    assert_name(">b1", KILN_BOOL);
    assert_name(">i1", KILN_INT8);
    assert_name("f4", KILN_FLOAT32);
    assert_name("=i2", KILN_INT16);
    assert_name("?", KILN_BOOL);
    assert_name(">u1", KILN_UINT8);
}

static void unknown_names_are_refused(void **state)
{
    static const char *const bad[] = {"",        "flot32", "float32 ", "f3",   "<",    ">",        "T",
                                      "Float32", "<q8",    "none",     "floa", "int3", "float322", "<<f4"};
    kiln_dtype d = KILN_INT8;
    (void)state;
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++)
        assert_int_equal(kiln_dtype_from_name(&d, bad[k]), KILN_ERROR_TYPE);
    assert_int_equal(d, KILN_INT8);
    assert_int_equal(kiln_dtype_from_name(&d, ">f4"), KILN_ERROR_TYPE);
    assert_non_null(strstr(kiln_error_message(), "big-endian"));
    assert_int_equal(kiln_dtype_from_name(&d, "|O"), KILN_ERROR_TYPE);
    assert_non_null(strstr(kiln_error_message(), "Python objects"));
    assert_int_equal(kiln_dtype_from_name(&d, "object"), KILN_ERROR_TYPE);
    assert_non_null(strstr(kiln_error_message(), "Python objects"));
    assert_int_equal(kiln_dtype_from_name(&d, "<f3"), KILN_ERROR_TYPE);
    assert_non_null(strstr(kiln_error_message(), "unknown dtype '<f3'"));
    assert_int_equal(kiln_dtype_from_name(&d, ">f3"), KILN_ERROR_TYPE);
    assert_non_null(strstr(kiln_error_message(), "unknown dtype '>f3'"));
    assert_int_equal(kiln_dtype_from_name(&d, NULL), KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "name is NULL"));
    assert_int_equal(kiln_dtype_from_name(NULL, "bool"), KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "out is NULL"));
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
    assert_promotes(KILN_BFLOAT16, KILN_INT8, KILN_BFLOAT16);
    assert_promotes(KILN_BFLOAT16, KILN_UINT16, KILN_FLOAT32);
    assert_promotes(KILN_BFLOAT16, KILN_UINT32, KILN_FLOAT64);
    assert_promotes(KILN_BFLOAT16, KILN_FLOAT32, KILN_FLOAT32);
    assert_promotes(KILN_BFLOAT16, KILN_COMPLEX128, KILN_COMPLEX128);
    assert_int_equal(kiln_dtype_promote(&d, (kiln_dtype)99, KILN_INT8), KILN_ERROR_TYPE);
    assert_non_null(strstr(kiln_error_message(), "99 is no dtype"));
    assert_int_equal(kiln_dtype_promote(&d, KILN_INT8, (kiln_dtype)98), KILN_ERROR_TYPE);
    assert_non_null(strstr(kiln_error_message(), "98 is no dtype"));
    assert_int_equal(kiln_dtype_promote(NULL, KILN_INT8, KILN_INT8), KILN_ERROR_INVALID);
    assert_int_equal(kiln_dtype_promote(&d, KILN_INT8, KILN_DTYPE_NONE), KILN_ERROR_TYPE);
    assert_false(kiln_dtype_can_cast(KILN_DTYPE_NONE, KILN_INT8));
}

static void weak_scalars_do_not_widen(void **state)
{
    (void)state;
    const int32_t typed = 1;
    kiln_arg big = kiln_arg_uint(UINT64_MAX), small = kiln_arg_uint(7), real = kiln_arg_float(1);
    kiln_arg most = kiln_arg_uint(INT64_MAX), more = kiln_arg_uint((uint64_t)INT64_MAX + 1);
    kiln_arg truth = kiln_arg_bool(true), whole = kiln_arg_int(-1), pair = kiln_arg_complex(1, 2),
             other = kiln_arg_typed(KILN_INT32, &typed);
    assert_int_equal(kn_weak_dtype(&most), KILN_INT64);
    assert_int_equal(kn_weak_dtype(&more), KILN_UINT64);
    assert_int_equal(kn_weak_dtype(&truth), KILN_BOOL);
    assert_int_equal(kn_weak_dtype(&whole), KILN_INT64);
    assert_int_equal(kn_weak_dtype(&pair), KILN_COMPLEX128);
    assert_int_equal(kn_weak_dtype(&other), KILN_DTYPE_NONE);
    assert_int_equal(kn_weak_promote(KILN_DTYPE_NONE, KILN_ARG_WEAK_INT), KILN_DTYPE_NONE);
    assert_int_equal(kn_weak_promote(KILN_BOOL, KILN_ARG_WEAK_UINT), KILN_INT64);
    assert_int_equal(kn_weak_promote(KILN_UINT8, KILN_ARG_WEAK_UINT), KILN_UINT8);
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
        cmocka_unit_test(halves_round_trip),         cmocka_unit_test(the_table_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
