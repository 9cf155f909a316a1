/* Scans and selections in C: refusals; calls, nodes of expressions and traces. tests/numpy compares random
 * ones with NumPy. */
#include <kiln/kiln.h>
#include <kiln/ops.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ok.h"

/* 0 to 11 in three rows, negative in odd columns. */
static kiln_array *numbers(void)
{
    static const int64_t shape[] = {3, 4};
    float value[12];
    kiln_array *x = NULL;
    for (int k = 0; k < 12; ++k)
        value[k] = (float)(k % 2 ? -k : k);
    OK(kiln_array_from_host(&x, value, KILN_FLOAT32, 2, shape, KILN_DEVICE_HOST));
    return x;
}

static void assert_floats(const kiln_array *a, int count, const float *expected)
{
    assert_int_equal(kiln_array_nbytes(a), (size_t)count * sizeof *expected);
    for (int k = 0; k < count; ++k)
        assert_true(((const float *)kiln_array_data(a))[k] == expected[k]);
}

static void scans_are_refused(void **state)
{
    kiln_kernel *k = NULL;
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    (void)state;
    assert_int_equal(kiln_scan_create(NULL, "T x", "T y", "x", "a + b", "y = a", NULL, NULL, NULL),
                     KILN_ERROR_INVALID);
    FAILS(kiln_scan_create(&k, "T x", "T y", "x", NULL, "y = a", NULL, "sums", NULL), KILN_ERROR_INVALID,
          "scan is NULL");
    FAILS(kiln_scan_create(&k, "T x", NULL, "x", "a + b", "y = a", NULL, "sums", NULL), KILN_ERROR_INVALID,
          "out_params is NULL");
    FAILS(kiln_scan_create(&k, "T x", "T y", "x", "a + b)", "y = a", NULL, "sums", NULL), KILN_ERROR_SYNTAX,
          "sums");
    FAILS(kiln_scan_create(&k, "T x", "T y", "x", "a + b", "", NULL, "sums", NULL), KILN_ERROR_INVALID,
          "'y'");
    o.flags = KILN_KERNEL_EXCLUSIVE;
    FAILS(kiln_scan_create(&k, "T x", "T y", "x", "a + b", "y = a", NULL, "sums", &o), KILN_ERROR_INVALID,
          "sums: identity: none was given");
    o.flags = 64;
    FAILS(kiln_scan_create(&k, "T x", "T y", "x", "a + b", "y = a", "0", "sums", &o), KILN_ERROR_INVALID,
          "options.flags: 0x40");
    o.flags = KILN_KERNEL_REVERSED;
    FAILS(kiln_reduction_create(&k, "T x", "T y", "x", "a + b", "y = a", "0", "sum", &o), KILN_ERROR_INVALID,
          "those of scans aside");
    FAILS(kiln_elementwise_create(&k, "T x", "T y", "y = x", "copy", &o), KILN_ERROR_INVALID,
          "those of scans aside");
    assert_null(k);
}

static void calls_are_refused(void **state)
{
    kiln_kernel *k = NULL;
    kiln_array *x = numbers(), *y = NULL;
    const kiln_arg in = kiln_arg_array(x);
    kiln_call_options o = KILN_CALL_OPTIONS_INIT;
    (void)state;
    OK(kiln_scan_create(&k, "T x", "T y", "x", "a + b", "y = a", NULL, "sums", NULL));
    o.flags = KILN_CALL_KEEPDIMS;
    FAILS(kiln_kernel_call(k, &y, 1, &in, 1, &o), KILN_ERROR_INVALID,
          "KILN_CALL_KEEPDIMS was given, but the kernel is a scan");
    o.flags = 0;
    o.axes = (const int[]){0, -2};
    o.n_axes = 2;
    FAILS(kiln_kernel_call(k, &y, 1, &in, 1, &o), KILN_ERROR_INVALID, "axis -2 was given before");
    assert_null(y);
    kiln_array_free(x);
    kiln_kernel_free(k);
}

/* Forward and back, of rows and of all: a kernel of each direction has one text of code. */
static void directions(void **state)
{
    static const float forward[] = {0, -1, 1, -2, 4, -1, 5, -2, 8, -1, 9, -2},
                       back[] = {-2, -2, -1, -3, -2, -6, -1, -7, -2, -10, -1, -11},
                       all[] = {0, 0, -1, 1, -2, 2, -3, 3, -4, 4, -5, 5};
    kiln_array *x = numbers(), *y = NULL;
    const kiln_arg in = kiln_arg_array(x);
    kiln_call_options rows = KILN_CALL_OPTIONS_INIT;
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    kiln_kernel *k[3] = {NULL, NULL, NULL};
    char *text[2];
    (void)state;
    rows.axes = (const int[]){1};
    rows.n_axes = 1;
    OK(kiln_scan_create(&k[0], "T x", "T y", "x", "a + b", "y = a", NULL, "sums", NULL));
    o.flags = KILN_KERNEL_REVERSED;
    OK(kiln_scan_create(&k[1], "T x", "T y", "x", "a + b", "y = a", NULL, "sums", &o));
    o.flags = KILN_KERNEL_EXCLUSIVE;
    OK(kiln_scan_create(&k[2], "T x", "T y", "x", "a + b", "y = a", "0", "sums", &o));
    OK(kiln_kernel_call(k[0], &y, 1, &in, 1, &rows));
    assert_floats(y, 12, forward);
    OK(kiln_kernel_call(k[1], &y, 1, &in, 1, &rows));
    assert_floats(y, 12, back);
    OK(kiln_kernel_call(k[2], &y, 1, &in, 1, NULL));
    assert_floats(y, 12, all);
    for (int r = 0; r < 2; ++r)
        OK(kiln_kernel_source(&text[r], k[r], NULL, 1, &in, 1, NULL, "sm_90"));
    assert_string_equal(text[0], text[1]);
    free(text[0]);
    free(text[1]);
    kiln_array_free(x);
    kiln_array_free(y);
    for (int r = 0; r < 3; ++r)
        kiln_kernel_free(k[r]);
}

/* A scan stands among other nodes: of an expression, with a kernel of the caller's, and of a trace. */
static void scans_are_nodes(void **state)
{
    kiln_array *x = numbers(), *y = NULL, *in = NULL, *sums = NULL, *more = NULL;
    kiln_arg arg = kiln_arg_array(x);
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    kiln_kernel *own = NULL, *k = NULL;
    kiln_trace *trace = NULL;
    (void)state;
    OK(kiln_scan_create(&own, "T x", "T y", "x", "a + b", "y = a", NULL, "sums", NULL));
    o.kernels = &own;
    o.n_kernels = 1;
    OK(kiln_expression_create(&k, "x", "sums(x, axis=0) - cumsum(x, 0) + cumsum(x * 1, axis=1) + 1", &o));
    OK(kiln_kernel_call(k, &y, 1, &arg, 1, NULL));
    const float by_rows[] = {1, 0, 2, -1, 5, 0, 6, -1, 9, 0, 10, -1};
    assert_floats(y, 12, by_rows);
    kiln_kernel_free(k);
    k = NULL;
    FAILS(kiln_expression_create(&k, "x", "sums(x, keepdims=True)", &o), KILN_ERROR_SYNTAX, "keepdims");
    OK(kiln_trace_begin(&trace, "traced"));
    OK(kiln_trace_input(&in, trace, "x", KILN_FLOAT32, 2, kiln_array_shape(x)));
    OK(kiln_cumsum(&sums, kiln_arg_array(in), NULL));
    assert_int_equal(kiln_array_ndim(sums), 1);
    OK(kiln_multiply(&more, kiln_arg_array(sums), kiln_arg_int(2)));
    OK(kiln_trace_end(&k, trace, &more, 1, NULL));
    kiln_array_free(y);
    y = NULL;
    OK(kiln_kernel_call(k, &y, 1, &arg, 1, NULL));
    assert_int_equal(kiln_array_ndim(y), 1);
    float doubled[12];
    for (int j = 0; j < 12; ++j)
        doubled[j] = 2 * ((j ? doubled[j - 1] / 2 : 0) + (float)(j % 2 ? -j : j));
    assert_floats(y, 12, doubled);
    kiln_trace_free(trace);
    kiln_array_free(in);
    kiln_array_free(sums);
    kiln_array_free(more);
    kiln_array_free(x);
    kiln_array_free(y);
    kiln_kernel_free(k);
    kiln_kernel_free(own);
}

/* Differences and areas of neighbours. */
static void neighbours_by_name(void **state)
{
    static const struct {
        const char *text;
        int count;
        float expected[4];
    } cases[] = {{"diff(x[0], n=2)[:2]", 2, {4, -8}},
                 {"x[0, 1:] - x[0, :-1] - diff(x)[0]", 3, {0, 0, 0}},
                 {"diff(x, 1, 0)[0]", 4, {4, -4, 4, -4}},
                 {"sum(x[x < 0]) + zeros_like(x[0, :1])", 1, {-36}},
                 {"norm_1((x * 2)[x < 0], axis=0) + zeros_like(x[0, :1])", 1, {72}},
                 {"prod(x[x < -6], axis=-1) + zeros_like(x[0, :1])", 1, {-693}},
                 {"zeros_like(x[0, :1]) + any(x[x < -11]) + 2 * all(x[x > 99]) + 4 * count_nonzero(x[x < 3])",
                  1,
                  {30}},
                 {"searchsorted(x[0, ::2], x[0]) + 0.0 * x[0]", 4, {0, 0, 1, 0}},
                 {"searchsorted(x[0, ::2], x[0], side='right') * 1.0", 4, {1, 0, 2, 0}},
                 {"searchsorted(x[0, ::2], astype(x[0], int64)) + 0.0 * x[0]", 4, {0, 0, 1, 0}},
                 {"searchsorted(astype(arange(4), int8), 1.5) + zeros_like(x[0, :1])", 1, {2}},
                 {"digitize(x[0], x[::-1, 1]) * 1.0", 4, {3, 3, 3, 2}},
                 {"digitize(x[0], x[:, 1], right=True) * 1.0", 4, {0, 1, 0, 1}},
                 {"trapezoid(x, axis=0, dx=2)", 4, {16, -20, 24, -28}},
                 {"trapezoid(x[0] * 0 + 1, arange(4) * 2.0)", 1, {6}}};
    kiln_array *x = numbers(), *y = NULL;
    const kiln_arg in = kiln_arg_array(x);
    (void)state;
    for (size_t e = 0; e < sizeof cases / sizeof cases[0]; ++e) {
        kiln_kernel *k = NULL;
        OK(kiln_expression_create(&k, "x", cases[e].text, NULL));
        OK(kiln_kernel_call(k, &y, 1, &in, 1, NULL));
        for (int j = 0; j < cases[e].count; ++j)
            if (kiln_array_dtype(y) == KILN_FLOAT32)
                assert_true(((const float *)kiln_array_data(y))[j] == cases[e].expected[j]);
            else
                assert_true(((const double *)kiln_array_data(y))[j] == cases[e].expected[j]);
        kiln_array_free(y);
        y = NULL;
        kiln_kernel_free(k);
    }
    kiln_array_free(x);
}

/* A second kernel of the same texts finds the code; maps around an operation's scan are one kernel with it,
 * and a second scan, a view of one or a reduction have a kernel of their own. */
static void scans_share_kernels(void **state)
{
    static const struct {
        const char *text, *says;
    } expected[] = {{"cumsum(x * 2, axis=1) / (x + 20)", "# 1 kernel"},
                    {"x + cummax(x, axis=0) + 1, cumsum(x, axis=1)", "# 2 kernels"},
                    {"cumsum(cumsum(x, 1) + 1, 0)", "# 2 kernels"},
                    {"cumsum(x + 1, 1)[::-1]", "# 2 kernels"},
                    {"sum(cumsum(x, 1))", "# 2 kernels"},
                    {"cumsum(x[:, :1] * 2, 1) + 1", "# 3 kernels"},
                    {"(x * 2)[x > 0].sum() + count_nonzero(x[x > 1])", "# 1 kernel"}};
    kiln_array *x = numbers(), *y = NULL;
    const kiln_arg in = kiln_arg_array(x);
    kiln_kernel *k[2] = {NULL, NULL};
    kiln_call_info info = KILN_CALL_INFO_INIT;
    (void)state;
    for (int r = 0; r < 2; ++r) {
        OK(kiln_scan_create(&k[r], "T x", "T y", "x + 3", "a + b", "y = a", NULL, "sums", NULL));
        OK(kiln_kernel_call(k[r], &y, 1, &in, 1, NULL));
    }
    OK(kiln_kernel_last_call(&info));
    assert_int_equal(info.origin, KILN_ORIGIN_MEMORY);
    kiln_kernel_free(k[1]);
    for (size_t e = 0; e < sizeof expected / sizeof expected[0]; ++e) {
        char *text = NULL;
        OK(kiln_expression_create(&k[1], "x", expected[e].text, NULL));
        OK(kiln_kernel_explain(&text, k[1], NULL, kiln_kernel_n_out(k[1]), &in, 1, NULL, "sm_90"));
        if (!strstr(text, expected[e].says))
            fail_msg("%s: not '%s': %s", expected[e].text, expected[e].says, text);
        free(text);
        kiln_kernel_free(k[1]);
    }
    kiln_kernel_free(k[0]);
    kiln_array_free(x);
    kiln_array_free(y);
}

/* Indices along each axis, of an array whose axes lie in another order, and of none. */
static void nonzero_has_an_array_for_each_axis(void **state)
{
    const int64_t shape[] = {2, 3, 2}, expected[3][4] = {{0, 0, 1, 1}, {0, 1, 0, 2}, {1, 1, 0, 1}},
                  empty[] = {0, 3};
    kiln_array *x = NULL, *none = NULL, *number = NULL, *transposed = NULL, *at[3] = {NULL},
               *back[3] = {NULL};
    const float three[] = {0, 2, 0, 5, 0, 0, 7, 0, 0, 0, 0, 1};
    const int order[] = {2, 1, 0};
    (void)state;
    OK(kiln_array_from_host(&x, three, KILN_FLOAT32, 3, shape, KILN_DEVICE_HOST));
    OK(kiln_nonzero(at, kiln_arg_array(x)));
    for (int a = 0; a < 3; ++a) {
        assert_int_equal(kiln_array_size(at[a]), 4);
        assert_memory_equal(kiln_array_data(at[a]), expected[a], sizeof expected[a]);
        kiln_array_free(at[a]);
    }
    OK(kiln_array_transpose(&transposed, x, order));
    OK(kiln_nonzero(back, kiln_arg_array(transposed)));
    assert_int_equal(((const int64_t *)kiln_array_data(back[2]))[0], 1); /* (0, 0, 1) is the first of all */
    for (int a = 0; a < 3; ++a)
        kiln_array_free(back[a]);
    OK(kiln_array_zeros(&none, KILN_INT16, 2, empty, KILN_DEVICE_HOST));
    OK(kiln_nonzero(at, kiln_arg_array(none)));
    assert_int_equal(kiln_array_size(at[0]) + kiln_array_size(at[1]), 0);
    kiln_array_free(at[0]);
    kiln_array_free(at[1]);
    OK(kiln_array_zeros(&number, KILN_INT16, 0, NULL, KILN_DEVICE_HOST));
    FAILS(kiln_nonzero(at, kiln_arg_array(number)), KILN_ERROR_SHAPE, "x has 0 axes");
    FAILS(kiln_nonzero(at, kiln_arg_int(3)), KILN_ERROR_TYPE, "x is no array");
    FAILS(kiln_nonzero(NULL, kiln_arg_array(x)), KILN_ERROR_INVALID, "out is NULL");
    kiln_array *const all[] = {x, none, number, transposed};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k)
        kiln_array_free(all[k]);
}

static void selections_are_refused(void **state)
{
    kiln_kernel *k = NULL;
    kiln_array *x = numbers(), *out[3] = {NULL, NULL, NULL};
    const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_float(3)},
                   numbers_alone[] = {kiln_arg_float(1), kiln_arg_float(3)};
    kiln_call_options o = KILN_CALL_OPTIONS_INIT;
    static const int axis = 0;
    (void)state;
    FAILS(kiln_select_create(NULL, "T x", "T y", "x > 0", "y = x", NULL, NULL), KILN_ERROR_INVALID,
          "out is NULL");
    FAILS(kiln_select_create(&k, "T x", "T y", NULL, "y = x", "peaks", NULL), KILN_ERROR_INVALID,
          "peaks: keep is NULL");
    FAILS(kiln_select_create(&k, "T x", "T y", "x > 0", "", "peaks", NULL), KILN_ERROR_INVALID,
          "output 'y' is not in");
    FAILS(kiln_select_create(&k, "T x", "raw T y", "x > 0", "y[0] = x", "peaks", NULL), KILN_ERROR_INVALID,
          "'y' is a raw output");
    FAILS(kiln_select_create(&k, "T x", "T y", "x > 0)", "y = x", "peaks", NULL), KILN_ERROR_SYNTAX, "peaks");
    OK(kiln_select_create(&k, "T x, T above", "T y, int64 at", "x > above", "y = x; at = i", "peaks", NULL));
    assert_int_equal(kiln_kernel_n_out(k), 3);
    assert_string_equal(kiln_kernel_out_name(k, 2), "count");
    FAILS(kiln_kernel_call(k, out, 3, numbers_alone, 2, NULL), KILN_ERROR_INVALID, "no input is an array");
    FAILS(kiln_kernel_call(k, out, 2, in, 2, NULL), KILN_ERROR_INVALID,
          "2 output arguments were given, 3 expected");
    o.axes = &axis;
    o.n_axes = 1;
    FAILS(kiln_kernel_call(k, out, 3, in, 2, &o), KILN_ERROR_INVALID, "options.axes was given");
    OK(kiln_kernel_call(k, out, 3, in, 2, NULL));
    const float above[] = {4, 6, 8, 10};
    assert_int_equal(*(int64_t *)kiln_array_data(out[2]), 4);
    assert_int_equal(kiln_array_shape(out[0])[0], 4);
    assert_floats(out[0], 4, above);
    assert_int_equal(((int64_t *)kiln_array_data(out[1]))[3], 10);
    for (int j = 0; j < 3; ++j)
        kiln_array_free(out[j]);
    kiln_array_free(x);
    kiln_kernel_free(k);
}

/* By name: in C, and as results of expressions, of which nothing is computed. */
static void selections_by_name(void **state)
{
    static const float odd[] = {-1, -3, -5, -7, -9, -11};
    static const struct {
        const char *text, *says;
        kiln_status status;
    } wrong[] = {
        {"x[x[0] > 0]", "the mask has extent 4 along its axis 0; 3 was expected", KILN_ERROR_SHAPE},
        {"x[x + 1.5]", "index 0 is float32", KILN_ERROR_TYPE},
        {"x[0, x > 0]", "3 axes are indexed", KILN_ERROR_SHAPE},
        {"x[x > 0, 0]", "3 axes are indexed", KILN_ERROR_SHAPE},
        {"sum(x[x[0] > 0])", "the extents of leading axes were expected", KILN_ERROR_SHAPE},
        {"sum(x[astype(x, int32)])", "index 0: 4 is out of range for axis 0 of extent 3", KILN_ERROR_INVALID},
        {"sum(x[x])", "index 0 is float32", KILN_ERROR_TYPE},
        {"sum(x[x > 0], axis=1)", "axis 1", KILN_ERROR_INVALID},
        {"x.shape[x > 0]", "one whole number was expected", KILN_ERROR_SYNTAX},
        {"searchsorted(x, x, side=1)", "side: 'left' or 'right' was expected", KILN_ERROR_SYNTAX},
        {"searchsorted(x, x, 'rigth')", "side: 'left' or 'right' was expected", KILN_ERROR_SYNTAX},
        {"searchsorted(x)", "the argument 'v' is missing", KILN_ERROR_SYNTAX},
        {"digitize(x)", "the argument 'bins' is missing", KILN_ERROR_SYNTAX},
        {"digitize(x, x, right=x)", "right: a whole number", KILN_ERROR_SYNTAX},
        {"x + 'left'", "not a word", KILN_ERROR_SYNTAX},
        {"astype(x, 'left')", "a dtype was expected", KILN_ERROR_SYNTAX},
        {"diff(x, n=17)", "n: 17 was given; 0 to 16", KILN_ERROR_SYNTAX},
        {"diff(x, axis=2)", "axis", KILN_ERROR_SHAPE},
        {"trapezoid(x, x, axis=0)", "with x the axis is -1", KILN_ERROR_SYNTAX}};
    kiln_array *x = numbers(), *at = NULL, *y = NULL, *z = NULL, *below = NULL;
    const kiln_arg in = kiln_arg_array(x);
    kiln_kernel *k = NULL;
    (void)state;
    OK(kiln_flatnonzero(&at, in));
    assert_int_equal(kiln_array_shape(at)[0], 11);
    assert_int_equal(((int64_t *)kiln_array_data(at))[10], 11);
    OK(kiln_less(&below, in, kiln_arg_int(0)));
    OK(kiln_extract(&y, kiln_arg_array(below), in));
    assert_floats(y, 6, odd);
    OK(kiln_expression_create(&k, "x", "extract(x < 0, x)", NULL));
    OK(kiln_kernel_call(k, &z, 1, &in, 1, NULL));
    assert_floats(z, 6, odd);
    kiln_kernel_free(k);
    k = NULL;
    OK(kiln_expression_create(&k, "x", "flatnonzero(x) + 1", NULL));
    kiln_array_free(z);
    z = NULL;
    OK(kiln_kernel_call(k, &z, 1, &in, 1, NULL));
    assert_int_equal(kiln_array_size(z), 11);
    kiln_kernel_free(k);
    kiln_array_free(z);
    z = NULL;
    for (int r = 0; r < 2; ++r) {
        OK(kiln_expression_create(&k, "x", r ? "x[x < 0]" : "(x * 1)[x < 0]", NULL));
        OK(kiln_kernel_call(k, &z, 1, &in, 1, NULL));
        assert_floats(z, 6, odd);
        kiln_kernel_free(k);
        k = NULL;
        kiln_array_free(z);
        z = NULL;
    }
    for (size_t r = 0; r < sizeof wrong / sizeof wrong[0]; ++r) {
        kiln_status status = kiln_expression_create(&k, "x", wrong[r].text, NULL);
        if (status == KILN_OK)
            status = kiln_kernel_call(k, (kiln_array *[]){NULL}, 1, &in, 1, NULL);
        FAILS(status, wrong[r].status, wrong[r].says);
        kiln_kernel_free(k);
        k = NULL;
    }
    FAILS(kiln_select(&z, 1, "T x", "T y", "x > 0", "y = x", &in, 1), KILN_ERROR_INVALID,
          "1 output argument was given, 2 expected");
    FAILS(kiln_select(&z, 1, "T x", "T y", NULL, "y = x", &in, 1), KILN_ERROR_INVALID, "keep");
    kiln_array_free(x);
    kiln_array_free(at);
    kiln_array_free(y);
    kiln_array_free(below);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(scans_are_refused),
                                       cmocka_unit_test(calls_are_refused),
                                       cmocka_unit_test(scans_share_kernels),
                                       cmocka_unit_test(neighbours_by_name),
                                       cmocka_unit_test(directions),
                                       cmocka_unit_test(scans_are_nodes),
                                       cmocka_unit_test(nonzero_has_an_array_for_each_axis),
                                       cmocka_unit_test(selections_are_refused),
                                       cmocka_unit_test(selections_by_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
