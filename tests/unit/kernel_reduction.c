/* One reduction kernel, called, prepared and explained for different axes: calls are not taken for one
 * another. */
#include <kiln/kernel.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ok.h"

static void axes_tell_calls_apart(void **state)
{
    static const struct {
        int axes[2], n_axes;
        unsigned flags;
        int ndim;
        int64_t shape[2];
        float first, last; /* of 0 .. 11 in three rows */
    } calls[] = {{{0}, 1, 0, 1, {4}, 12, 21},
                 {{1}, 1, 0, 1, {3}, 6, 38},
                 {{-1}, 1, KILN_CALL_KEEPDIMS, 2, {3, 1}, 6, 38},
                 {{0}, 1, KILN_CALL_KEEPDIMS, 2, {1, 4}, 12, 21},
                 {{1, 0}, 2, 0, 0, {0}, 66, 66},
                 {{0, 1}, 2, KILN_CALL_KEEPDIMS, 2, {1, 1}, 66, 66},
                 {{0}, 0, 0, 2, {3, 4}, 0, 11}};
    const int64_t shape[] = {3, 4};
    float value[12];
    kiln_kernel *kernel = NULL;
    kiln_array *x = NULL;
    (void)state;
    for (int k = 0; k < 12; ++k)
        value[k] = (float)k;
    OK(kiln_array_from_host(&x, value, KILN_FLOAT32, 2, shape, KILN_DEVICE_HOST));
    OK(kiln_reduction_create(&kernel, "T x", "T y", "x", "a + b", "y = a", "0", "total", NULL));
    for (int turn = 0; turn < 2; ++turn)
        for (size_t c = 0; c < sizeof calls / sizeof calls[0]; ++c) {
            kiln_call_options options = KILN_CALL_OPTIONS_INIT;
            kiln_array *y = NULL;
            const kiln_arg in = kiln_arg_array(x);
            options.axes = calls[c].axes;
            options.n_axes = calls[c].n_axes;
            options.flags = calls[c].flags;
            OK(kiln_kernel_call(kernel, &y, 1, &in, 1, &options));
            assert_int_equal(kiln_array_ndim(y), calls[c].ndim);
            for (int a = 0; a < calls[c].ndim; ++a)
                assert_int_equal(kiln_array_shape(y)[a], calls[c].shape[a]);
            const float *got = kiln_array_data(y);
            assert_true(got[0] == calls[c].first);
            assert_true(got[kiln_array_nbytes(y) / sizeof *got - 1] == calls[c].last);
            kiln_array_free(y);
        }
    kiln_array_free(x);
    kiln_kernel_free(kernel);
}

/* ---- texts ---- */

/* The question is about a million rows of twelve: nothing is read, so the array needs no memory. */
static kiln_array *nowhere(int ndim, const int64_t *shape)
{
    kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
    kiln_array *array = NULL;
    spec.dtype = KILN_FLOAT32;
    spec.ndim = ndim;
    spec.shape = shape;
    spec.device = KILN_DEVICE_HOST;
    OK(kiln_array_wrap(&array, (void *)(uintptr_t)(UINT64_C(1) << 40), &spec, NULL, NULL));
    return array;
}

typedef struct question {
    kiln_kernel *kernel;
    kiln_array *x, *y; /* y NULL: allocated */
} question;

static question sum_of_rows(void)
{
    question q = {NULL, nowhere(2, (const int64_t[]){1000000, 12}), NULL};
    OK(kiln_reduction_create(&q.kernel, "T x", "T y", "x", "a + b", "y = a", "0", "total", NULL));
    return q;
}

static void forget(question *q)
{
    kiln_array_free(q->x);
    kiln_array_free(q->y);
    kiln_kernel_free(q->kernel);
}

static kiln_call_options along(const int *axes, int n_axes, unsigned flags)
{
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    options.axes = axes;
    options.n_axes = n_axes;
    options.flags = flags;
    return options;
}

typedef kiln_status (*text_function)(char **out, kiln_kernel *kernel, kiln_array *const *outs, int n_out,
                                     const kiln_arg *in, int n_in, const kiln_call_options *call,
                                     const char *target);

static const text_function functions[] = {kiln_kernel_source, kiln_kernel_explain, kiln_kernel_launches};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

static kiln_status ask(char **text, text_function function, question *q, const kiln_call_options *call,
                       const char *target)
{
    const kiln_arg in = kiln_arg_array(q->x);
    return function(text, q->kernel, q->y ? &q->y : NULL, 1, &in, 1, call, target);
}

/* elements="..." counts what a launch goes over: on every target all that is read. */
static void texts_are_about_the_axes(void **state)
{
    static const char *const targets[] = {"host", "sm_90"};
    static const int rows[] = {-1}, columns[] = {0};
    (void)state;
    for (int t = 0; t < 2; ++t) {
        question q = sum_of_rows();
        const kiln_call_options asked[] = {along(NULL, 0, 0), along(rows, 1, 0), along(columns, 1, 0)};
        char *launches[3] = {NULL}, *text = NULL;
        for (int k = 0; k < 3; ++k) {
            OK(ask(&launches[k], kiln_kernel_launches, &q, &asked[k], targets[t]));
            for (int f = 0; f < 2; ++f) {
                OK(ask(&text, functions[f], &q, &asked[k], targets[t]));
                assert_true(strstr(text, "a + b") || strstr(text, "__fadd_rn(a, b)"));
                free(text);
            }
        }
        OK(ask(&text, kiln_kernel_launches, &q, NULL, targets[t])); /* without options: all axes */
        assert_string_equal(text, launches[0]);
        if (t == 1) { /* a host's line says the elements alone */
            assert_string_not_equal(launches[0], launches[1]);
            assert_string_not_equal(launches[1], launches[2]);
        }
        for (int k = 0; k < 3; ++k)
            free(launches[k]);
        free(text);
        forget(&q);
    }
}

/* An output that is given has the shape that the options make of the arguments'. */
static void texts_with_given_outputs(void **state)
{
    static const int rows[] = {1};
    const kiln_call_options with_ones = along(rows, 1, KILN_CALL_KEEPDIMS), dropped = along(rows, 1, 0);
    question q = sum_of_rows();
    char *text = NULL;
    (void)state;
    q.y = nowhere(2, (const int64_t[]){1000000, 1});
    for (int f = 0; f < FUNCTIONS; ++f) {
        OK(ask(&text, functions[f], &q, &with_ones, "sm_90"));
        free(text);
        text = NULL;
        assert_int_equal(ask(&text, functions[f], &q, &dropped, "sm_90"), KILN_ERROR_SHAPE);
        assert_null(text);
    }
    forget(&q);
}

static void options_that_texts_refuse(void **state)
{
    static const int beyond[] = {2};
    kiln_call_options options = along(beyond, 1, 0), broken = KILN_CALL_OPTIONS_INIT;
    question q = sum_of_rows();
    char *text = NULL;
    (void)state;
    broken.struct_size = 0;
    for (int f = 0; f < FUNCTIONS; ++f) {
        assert_int_equal(ask(&text, functions[f], &q, &options, "sm_90"), KILN_ERROR_INVALID);
        assert_non_null(strstr(kiln_error_message(), "options.axes[0]: axis 2 was given"));
        assert_int_equal(ask(&text, functions[f], &q, &broken, "sm_90"), KILN_ERROR_INVALID);
        assert_non_null(strstr(kiln_error_message(), "options.struct_size: 0 was given"));
        assert_null(text);
    }
    forget(&q);
}

/* Where every array is raw: the size that the options say, and the largest array's where they say none. */
static void sizes_of_raw_texts(void **state)
{
    static const int64_t shape[] = {7, 11};
    kiln_call_options sized = KILN_CALL_OPTIONS_INIT, shaped = KILN_CALL_OPTIONS_INIT;
    question q = {NULL, nowhere(1, (const int64_t[]){1000}), nowhere(1, (const int64_t[]){10})};
    (void)state;
    OK(kiln_elementwise_create(&q.kernel, "raw T x", "raw T y", "y[i] = x[i]", "raw", NULL));
    sized.size = 300;
    shaped.shape = shape;
    shaped.ndim = 2;
    const kiln_call_options *const options[] = {NULL, &sized, &shaped};
    const char *const expected[] = {"elements=\"1000\"", "elements=\"300\"", "elements=\"77\""};
    for (int k = 0; k < 3; ++k) {
        char *text = NULL;
        OK(ask(&text, kiln_kernel_launches, &q, options[k], "host"));
        assert_non_null(strstr(text, expected[k]));
        free(text);
    }
    forget(&q);
}

/* A preparation along an axis is for calls along it: they find the code in memory. */
static void prepared_along_an_axis(void **state)
{
    static const int rows[] = {-1};
    const kiln_call_options options = along(rows, 1, KILN_CALL_KEEPDIMS);
    const float value[] = {1, 2, 3, 4, 5, 6};
    kiln_kernel *kernel = NULL;
    kiln_array *x = NULL, *y = NULL;
    kiln_call_info info = KILN_CALL_INFO_INIT;
    (void)state;
    OK(kiln_array_from_host(&x, value, KILN_FLOAT32, 2, (const int64_t[]){2, 3}, KILN_DEVICE_HOST));
    OK(kiln_reduction_create(&kernel, "T x", "T y", "x * 3", "a + b", "y = a", "0", "prepared", NULL));
    const kiln_arg in = kiln_arg_array(x);
    OK(kiln_kernel_prepare(kernel, NULL, 1, &in, 1, &options, NULL));
    OK(kiln_kernel_call(kernel, &y, 1, &in, 1, &options));
    OK(kiln_kernel_last_call(&info));
    assert_int_equal(info.origin, KILN_ORIGIN_MEMORY);
    const float *got = kiln_array_data(y);
    assert_true(kiln_array_ndim(y) == 2 && got[0] == 18 && got[1] == 45);
    kiln_array_free(x);
    kiln_array_free(y);
    kiln_kernel_free(kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_tell_calls_apart),    cmocka_unit_test(texts_are_about_the_axes),
        cmocka_unit_test(texts_with_given_outputs), cmocka_unit_test(options_that_texts_refuse),
        cmocka_unit_test(sizes_of_raw_texts),       cmocka_unit_test(prepared_along_an_axis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
