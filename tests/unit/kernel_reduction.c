/* One reduction kernel, called for different axes in turn: calls are not taken for one another. */
#include <kiln/kernel.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define OK(call)                                                                                             \
    do {                                                                                                     \
        if ((call) != KILN_OK)                                                                               \
            fail_msg("%s: %s\n%s", #call, kiln_error_message(), kiln_error_log());                           \
    } while (0)

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(axes_tell_calls_apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
