/* Functions of expressions in C: calls, traces, refusals. tests/numpy/check_composed.py compares them with
 * NumPy. */
#include <kiln/kiln.h>
#include <kiln/ops.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ok.h"

static void assert_elements(const kiln_array *a, int ndim, int count, const float *expected)
{
    assert_int_equal(kiln_array_ndim(a), ndim);
    assert_int_equal(kiln_array_nbytes(a), (size_t)count * sizeof *expected);
    for (int k = 0; k < count; ++k)
        assert_true(((const float *)kiln_array_data(a))[k] == expected[k]);
}

static void parameters_have_usual_values(void **state)
{
    kiln_array *e = NULL, *grid[2] = {NULL, NULL}, *low = NULL;
    (void)state;
    OK(kiln_eye(&e, 2, KILN_USUAL, KILN_USUAL, KILN_FLOAT32));
    assert_elements(e, 2, 4, (const float[]){1, 0, 0, 1});
    OK(kiln_tril(&low, e, -1));
    assert_elements(low, 2, 4, (const float[]){0, 0, 0, 0});
    OK(kiln_meshgrid(grid, e, low));
    assert_int_equal(kiln_array_shape(grid[1])[0], 4);
    kiln_array_free(grid[0]);
    kiln_array_free(grid[1]);
    kiln_array_free(low);
    kiln_array_free(e);
}

static void axes_are_those_of_the_call(void **state)
{
    kiln_array *e = NULL, *mean = NULL;
    const kiln_axes last = kiln_axis(-1, true);
    (void)state;
    OK(kiln_eye(&e, 2, 4, 0, KILN_FLOAT32));
    OK(kiln_nanmean(&mean, e, &last));
    assert_elements(mean, 2, 2, (const float[]){0.25f, 0.25f});
    FAILS(kiln_cumulative_sum(&mean, e, NULL), KILN_ERROR_SYNTAX, "the argument 'axis' is missing");
    FAILS(kiln_cumulative_sum(&mean, e, &last), KILN_ERROR_SYNTAX, "has no argument 'keepdims'");
    kiln_array_free(mean);
    kiln_array_free(e);
}

static void traces_record_functions(void **state)
{
    kiln_trace *trace = NULL;
    kiln_kernel *kernel = NULL;
    kiln_array *x = NULL, *low = NULL, *y = NULL, *e = NULL;
    (void)state;
    OK(kiln_trace_begin(&trace, "lower"));
    OK(kiln_trace_input(&x, trace, "x", KILN_FLOAT32, 2, (const int64_t[]){3, 3}));
    OK(kiln_tril(&low, x, 0));
    OK(kiln_trace_end(&kernel, trace, &low, 1, NULL));
    OK(kiln_eye(&e, 3, 3, 1, KILN_FLOAT32));
    const kiln_arg in = kiln_arg_array(e);
    OK(kiln_kernel_call(kernel, &y, 1, &in, 1, NULL));
    assert_elements(y, 2, 9, (const float[9]){0});
    kiln_array_free(x);
    kiln_array_free(low);
    kiln_array_free(y);
    kiln_array_free(e);
    kiln_kernel_free(kernel);
    kiln_trace_free(trace);
}

static void calls_that_are_refused(void **state)
{
    kiln_array *out = NULL;
    const kiln_arg in[] = {kiln_arg_int(3), kiln_arg_int(2), kiln_arg_float(1), kiln_arg_int(99)};
    const kiln_arg eye[] = {in[0], in[1], in[1], in[3]};
    (void)state;
    FAILS(kiln_function_call(&out, 1, NULL, in, 4, NULL), KILN_ERROR_INVALID, "name is NULL");
    FAILS(kiln_function_call(&out, 1, "eye", NULL, 4, NULL), KILN_ERROR_INVALID, "in is NULL");
    FAILS(kiln_function_call(&out, 1, "no_such", in, 4, NULL), KILN_ERROR_NOT_FOUND,
          "there is no function 'no_such'");
    FAILS(kiln_function_call(&out, 1, "eye", in, 3, NULL), KILN_ERROR_INVALID,
          "eye: n_in: 3 was given; 4 expected");
    FAILS(kiln_function_call(&out, 1, "eye", in, 4, NULL), KILN_ERROR_INVALID,
          "eye: k: a whole number by value was expected");
    FAILS(kiln_function_call(&out, 1, "eye", eye, 4, NULL), KILN_ERROR_INVALID,
          "eye: dtype: a kiln_dtype as a whole number was expected");
    assert_null(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_have_usual_values), cmocka_unit_test(axes_are_those_of_the_call),
        cmocka_unit_test(traces_record_functions), cmocka_unit_test(calls_that_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
