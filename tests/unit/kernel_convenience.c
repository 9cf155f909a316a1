/* Argument lists by _Generic: what each C type becomes, how many there may be, and calls through them. */
#include <kiln/convenience.h>

#include <complex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ok.h"

static kiln_array *counted(void)
{
    kiln_array *x = NULL;
    OK(kiln_array_arange(&x, 0, 6, 1, KILN_FLOAT32, KILN_DEVICE_HOST));
    return x;
}

static void numbers_are_weak(void **state)
{
    const short s = -3;
    const unsigned char c = 200;
    const size_t n = 5;
    (void)state;
    kiln_arg_list list = kiln_args((bool)1, s, 7, -8L, 9LL, c, 11u, n, 0.5f, 0.25, 'a');
    static const int kinds[] = {KILN_ARG_WEAK_BOOL,  KILN_ARG_WEAK_INT,  KILN_ARG_WEAK_INT,
                                KILN_ARG_WEAK_INT,   KILN_ARG_WEAK_INT,  KILN_ARG_WEAK_UINT,
                                KILN_ARG_WEAK_UINT,  KILN_ARG_WEAK_UINT, KILN_ARG_WEAK_FLOAT,
                                KILN_ARG_WEAK_FLOAT, KILN_ARG_WEAK_INT};
    assert_int_equal(list.count, 11);
    for (int k = 0; k < list.count; k++)
        assert_int_equal(list.args[k].kind, kinds[k]);
    assert_int_equal(list.args[1].value.i, -3);
    assert_int_equal(list.args[5].value.u, 200);
    assert_true(list.args[8].value.d[0] == 0.5 && list.args[9].value.d[0] == 0.25);
}

static void complex_numbers(void **state)
{
    (void)state;
    kiln_arg_list list = kiln_args(1.5 + 2.0 * I, 1.5f + 2.0f * I),
                  typed = kiln_typed_args((float _Complex)I);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(list.args[k].kind, KILN_ARG_WEAK_COMPLEX);
        assert_true(list.args[k].value.d[0] == 1.5 && list.args[k].value.d[1] == 2.0);
    }
    assert_int_equal(typed.args[0].dtype, KILN_COMPLEX64);
}

static void other_arguments_stay_as_they_are(void **state)
{
    const struct {
        int a, b;
    } pair = {1, 2};
    kiln_array *x = counted();
    (void)state;
    kiln_arg_list list = kiln_args(x, kiln_arg_struct(&pair, sizeof pair), kiln_arg_int8(3));
    assert_int_equal(list.count, 3);
    assert_ptr_equal(list.args[0].value.array, x);
    assert_int_equal(list.args[1].kind, KILN_ARG_STRUCT);
    assert_int_equal(list.args[2].dtype, KILN_INT8);
    assert_int_equal(kiln_no_args.count, 0);
    kiln_array_free(x);
}

static void typed_lists_keep_types(void **state)
{
    const char c = 1;
    const unsigned short u = 2;
    (void)state;
    kiln_arg_list list = kiln_typed_args((bool)1, c, u, 3, 4u, 5L, 6ULL, 0.5f, 0.25);
    static const kiln_dtype dtypes[] = {KILN_BOOL,  KILN_INT8,   KILN_UINT16,  KILN_INT32,  KILN_UINT32,
                                        KILN_INT64, KILN_UINT64, KILN_FLOAT32, KILN_FLOAT64};
    for (int k = 0; k < list.count; k++) {
        assert_int_equal(list.args[k].kind, KILN_ARG_TYPED);
        assert_int_equal(list.args[k].dtype, dtypes[k]);
    }
    float half;
    memcpy(&half, list.args[7].value.bytes, sizeof half);
    assert_true(half == 0.5f);
}

static void sixteen_arguments(void **state)
{
    (void)state;
    kiln_arg_list list = kiln_args(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    assert_int_equal(list.count, 16);
    for (int k = 0; k < 16; k++)
        assert_int_equal(list.args[k].value.i, k);
}

static void calls(void **state)
{
    kiln_kernel *kernel = NULL;
    kiln_array *x = counted(), *z = NULL, *w = NULL;
    float back[6];
    (void)state;
    OK(kiln_elementwise_create(&kernel, "T x, T a, T b", "T z, T w", "z = x * a; w = x + b", "two", NULL));
    OK(kiln_call(kernel, kiln_outs(&z, &w), kiln_args(x, 0.5, 3)));
    OK(kiln_array_to_host(z, back, sizeof back));
    assert_true(back[5] == 2.5f);
    OK(kiln_array_to_host(w, back, sizeof back));
    assert_true(back[5] == 8);
    /* what is there is written in place */
    kiln_array *z_before = z, *nothing = NULL;
    OK(kiln_call_with(kernel, kiln_outs(&z, &w), kiln_args(x, 2, 0), NULL));
    assert_ptr_equal(z, z_before);
    OK(kiln_array_to_host(z, back, sizeof back));
    assert_true(back[5] == 10);
    assert_int_equal(kiln_call(kernel, kiln_outs(&nothing), kiln_args(x, 2, 0)), KILN_ERROR_INVALID);
    assert_null(nothing);
    kiln_array_free(z);
    kiln_array_free(w);
    kiln_array_free(x);
    kiln_kernel_free(kernel);
}

/* Texts and lists; where every array is raw the options say the shape. */
static void maps(void **state)
{
    const int64_t shape[] = {2, 3};
    const kiln_array *x = counted();
    kiln_array *z = NULL, *w = NULL, **nowhere[] = {NULL};
    const kiln_out_list none = {nowhere, 1};
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    float back[6];
    (void)state;
    OK(kiln_map_with(kiln_outs(&z, &w), "T x, T s", "T z, T w", "z = x + s; w = x * s", kiln_args(x, 2),
                     NULL));
    OK(kiln_array_to_host(w, back, sizeof back));
    assert_true(back[5] == 10);
    kiln_array_free(z);
    z = NULL;
    assert_int_equal(kiln_map_with(kiln_outs(&z), "raw T x", "T z", "z = x[5 - i]", kiln_args(x), NULL),
                     KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "every array is raw"));
    assert_null(z);
    options.shape = shape;
    options.ndim = 2;
    OK(kiln_map_with(kiln_outs(&z), "raw T x", "T z", "z = x[5 - i]", kiln_args(x), &options));
    assert_int_equal(kiln_array_ndim(z), 2);
    OK(kiln_array_to_host(z, back, sizeof back));
    assert_true(back[0] == 5 && back[5] == 0);
    assert_int_equal(kiln_map_with(none, "T x", "T z", "z = x", kiln_args(x), NULL), KILN_ERROR_INVALID);
    assert_int_equal(kiln_call_with(NULL, kiln_outs(&z), kiln_args(x), NULL), KILN_ERROR_INVALID);
    kiln_array_free(z);
    kiln_array_free(w);
    kiln_array_free((kiln_array *)(uintptr_t)x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_weak),
        cmocka_unit_test(complex_numbers),
        cmocka_unit_test(other_arguments_stay_as_they_are),
        cmocka_unit_test(typed_lists_keep_types),
        cmocka_unit_test(sixteen_arguments),
        cmocka_unit_test(calls),
        cmocka_unit_test(maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
