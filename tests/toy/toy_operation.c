/* An operation that the library does not have, added by one row of the table (toy_operation.row): called by
 * name, in expressions and traces, listed, refused for dtypes that it does not take. */
#include <kiln/kiln.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../ok.h"

static const int64_t shape[] = {4};
static const int32_t whole[] = {-2, 0, 1, 3};

static void assert_cubes(kiln_array *y, int32_t added)
{
    int32_t got[4];
    assert_int_equal(kiln_array_dtype(y), KILN_INT32);
    OK(kiln_array_to_host(y, got, sizeof got));
    for (int k = 0; k < 4; ++k)
        assert_int_equal(got[k], whole[k] * whole[k] * whole[k] + added);
    kiln_array_free(y);
}

static void by_name(void **state)
{
    kiln_array *x = NULL, *y = NULL, *truth = NULL;
    (void)state;
    OK(kiln_array_from_host(&x, whole, KILN_INT32, 1, shape, KILN_DEVICE_HOST));
    OK(kiln_operation_call(&y, 1, "toy_cube", (kiln_arg[]){kiln_arg_array(x)}, 1, NULL));
    assert_cubes(y, 0);
    y = NULL;
    OK(kiln_array_zeros(&truth, KILN_COMPLEX64, 1, shape, KILN_DEVICE_HOST));
    assert_int_equal(kiln_operation_call(&y, 1, "toy_cube", (kiln_arg[]){kiln_arg_array(truth)}, 1, NULL),
                     KILN_ERROR_TYPE);
    assert_non_null(strstr(kiln_error_message(), "toy_cube"));
    kiln_array_free(x);
    kiln_array_free(truth);
}

static void in_expressions_and_traces(void **state)
{
    kiln_kernel *e = NULL, *traced = NULL;
    kiln_trace *trace = NULL;
    kiln_array *x = NULL, *y = NULL, *in = NULL, *out = NULL;
    (void)state;
    OK(kiln_array_from_host(&x, whole, KILN_INT32, 1, shape, KILN_DEVICE_HOST));
    OK(kiln_expression_create(&e, "x", "toy_cube(x) + 5", NULL));
    OK(kiln_kernel_call(e, &y, 1, (kiln_arg[]){kiln_arg_array(x)}, 1, NULL));
    assert_cubes(y, 5);
    y = NULL;
    OK(kiln_trace_begin(&trace, "traced"));
    OK(kiln_trace_input(&in, trace, "x", KILN_INT32, 1, shape));
    OK(kiln_operation_call(&out, 1, "toy_cube", (kiln_arg[]){kiln_arg_array(in)}, 1, NULL));
    OK(kiln_trace_end(&traced, trace, &out, 1, NULL));
    OK(kiln_kernel_call(traced, &y, 1, (kiln_arg[]){kiln_arg_array(x)}, 1, NULL));
    assert_cubes(y, 0);
    kiln_trace_free(trace);
    kiln_array_free(x);
    kiln_array_free(in);
    kiln_array_free(out);
    kiln_kernel_free(e);
    kiln_kernel_free(traced);
}

static void listed(void **state)
{
    int found = 0;
    (void)state;
    for (int k = 0; k < kiln_operation_count(); ++k) {
        kiln_operation d = KILN_OPERATION_INIT;
        OK(kiln_operation_at(&d, k));
        found += strcmp(d.name, "toy_cube") == 0;
    }
    assert_int_equal(found, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_name), cmocka_unit_test(in_expressions_and_traces),
                                       cmocka_unit_test(listed)};
    setenv("KILN_TARGET", "host", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
