/* Functions of expressions in C: calls, traces, refusals. tests/numpy/check_composed.py compares them with
 * NumPy. */
#include <kiln/kiln.h>
#include <kiln/ops.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
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

static void parts_along_an_axis_by_its_name(void **state)
{
    const float numbers[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const int64_t shapes[][3] = {{8}, {4, 2}, {2, 2, 2}}, at = 3;
    kiln_array *x[3] = {NULL}, *part[2] = {NULL};
    (void)state;
    static const int64_t product[] = {2, 2};
    kiln_array *apart[4] = {NULL}, *flat = NULL, *m = NULL, *z = NULL;
    OK(kiln_array_from_host(&m, numbers, KILN_FLOAT32, 2, product, KILN_DEVICE_HOST));
    OK(kiln_unstack(apart, 2, m, -1));
    assert_int_equal(kiln_array_ndim(apart[1]), 1);
    assert_true(*(const float *)kiln_array_data(apart[1]) == 1); /* a view */
    FAILS(kiln_unstack(apart + 2, 3, m, 0), KILN_ERROR_SHAPE, "n: 3 was given; axis 0 has 2 elements");
    FAILS(kiln_unstack(apart + 2, 2, m, 2), KILN_ERROR_SHAPE, "axis 2 is out of range");
    OK(kiln_ravel(&flat, m));
    assert_true(kiln_array_data(flat) == kiln_array_data(m));
    kiln_array_free(flat);
    flat = NULL;
    OK(kiln_flatten(&flat, m));
    assert_true(kiln_array_data(flat) != kiln_array_data(m));
    assert_elements(flat, 1, 4, (const float[]){0, 1, 2, 3});
    const kiln_arg factors[] = {kiln_arg_array(m), kiln_arg_array(m)};
    OK(kiln_einsum(&z, "ij,jk->ki", factors, 2));
    assert_elements(z, 2, 4, (const float[]){2, 6, 3, 11});
    kiln_array_free(apart[0]);
    kiln_array_free(apart[1]);
    kiln_array_free(flat);
    kiln_array_free(m);
    kiln_array_free(z);
    for (int k = 0; k < 3; ++k)
        OK(kiln_array_from_host(&x[k], numbers, KILN_FLOAT32, k + 1, shapes[k], KILN_DEVICE_HOST));
    for (int k = 0; k < 5; ++k) {
        if (k == 0)
            OK(kiln_hsplit(part, 2, x[0], &at));
        else if (k == 1)
            OK(kiln_hsplit(part, 2, x[1], NULL));
        else if (k == 2)
            OK(kiln_vsplit(part, 2, x[1], NULL));
        else if (k == 3)
            OK(kiln_dsplit(part, 2, x[2], NULL));
        else
            OK(kiln_histogram_bin_edges(part, kiln_arg_array(x[0]), 7, (const double[]){1, 8}));
        const float expected[][2] = {{0, 3}, {0, 1}, {0, 4}, {0, 1}, {1, 1}};
        assert_true(*(const float *)kiln_array_data(part[0]) == expected[k][0]);
        assert_true(k == 4 || *(const float *)kiln_array_data(part[1]) == expected[k][1]);
        assert_int_equal(kiln_array_size(part[0]), k == 0 ? 3 : k == 4 ? 8 : 4);
        kiln_array_free(part[0]);
        kiln_array_free(part[1]);
        part[0] = part[1] = NULL;
    }
    assert_int_equal(kiln_dsplit(part, 2, x[1], NULL), KILN_ERROR_SHAPE);
    assert_int_equal(kiln_histogram_bin_edges(part, kiln_arg_array(x[0]), 0, NULL), KILN_ERROR_INVALID);
    assert_int_equal(kiln_histogram_bin_edges(NULL, kiln_arg_array(x[0]), 1, NULL), KILN_ERROR_INVALID);
    for (int k = 0; k < 3; ++k)
        kiln_array_free(x[k]);
}

static void axes_are_those_of_the_call(void **state)
{
    kiln_array *e = NULL, *mean = NULL;
    const kiln_axes last = kiln_axis(-1, true);
    (void)state;
    OK(kiln_eye(&e, 2, 4, 0, KILN_FLOAT32));
    OK(kiln_nanmean(&mean, e, &last));
    assert_elements(mean, 2, 2, (const float[]){0.25f, 0.25f});
    FAILS(kiln_cumulative_sum(&mean, e, NULL), KILN_ERROR_SHAPE,
          "x has 2 axes, and the argument 'axis' is missing");
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

/* A number in place of a truth value changes no dtype. */
static void truth_keeps_dtypes(void **state)
{
    static const int64_t truths[] = {KILN_USUAL, 0, 1, 2};
    kiln_array *x = NULL, *close = NULL, *is_in = NULL;
    (void)state;
    for (size_t k = 0; k < sizeof truths / sizeof truths[0]; ++k) {
        kiln_trace *trace = NULL;
        OK(kiln_trace_begin(&trace, "truths"));
        OK(kiln_trace_input(&x, trace, "x", KILN_FLOAT32, 1, (const int64_t[]){3}));
        OK(kiln_isclose(&close, x, x, 0.1, 0.1, truths[k]));
        OK(kiln_isin(&is_in, x, x, truths[k]));
        assert_int_equal(kiln_array_dtype(close), KILN_BOOL);
        assert_int_equal(kiln_array_dtype(is_in), KILN_BOOL);
        kiln_array_free(x);
        kiln_array_free(close);
        kiln_array_free(is_in);
        close = is_in = NULL;
        kiln_trace_free(trace);
    }
}

static kiln_array *counted(int rows, int columns)
{
    float element[24];
    kiln_array *a = NULL;
    for (int k = 0; k < rows * columns; ++k)
        element[k] = (float)k;
    OK(kiln_array_from_host(&a, element, KILN_FLOAT32, 2, (const int64_t[]){rows, columns},
                            KILN_DEVICE_HOST));
    return a;
}

/* Views of NumPy share memory here, too, and a given array is filled. */
static void views_stay_views(void **state)
{
    kiln_array *x = counted(3, 4), *v = NULL, *same = NULL;
    const float *at = kiln_array_data(x);
    const int64_t shape[] = {3, 4};
    (void)state;
    for (int twice = 0; twice < 2; ++twice) { /* the second call is a remembered one */
        v = NULL;
        OK(kiln_fliplr(&v, x));
        assert_ptr_equal(kiln_array_data(v), at + 3);
        assert_int_equal(kiln_array_strides(v)[1], -4);
        kiln_array_free(v);
        v = NULL;
        OK(kiln_diagonal(&v, x, 1, KILN_USUAL, KILN_USUAL));
        assert_ptr_equal(kiln_array_data(v), at + 1);
        assert_int_equal(kiln_array_strides(v)[0], 20);
        assert_int_equal(kiln_array_shape(v)[0], 3);
        kiln_array_free(v);
        v = NULL;
        OK(kiln_rot90(&v, x, KILN_USUAL));
        assert_ptr_equal(kiln_array_data(v), at + 3);
        assert_int_equal(kiln_array_strides(v)[0], -4);
        kiln_array_free(v);
    }
    const int64_t window = 3, wide = 5;
    const kiln_axes last = kiln_axis(-1, false), beyond = kiln_axis(5, false);
    for (int twice = 0; twice < 2; ++twice) {
        v = NULL;
        OK(kiln_sliding_window_view(&v, x, &window, 1, &last));
        assert_ptr_equal(kiln_array_data(v), at);
        assert_int_equal(kiln_array_ndim(v), 3);
        assert_int_equal(kiln_array_shape(v)[1], 2);
        assert_int_equal(kiln_array_strides(v)[2], 4);
        assert_true(kiln_array_is_read_only(v));
        kiln_array_free(v);
    }
    v = NULL;
    FAILS(kiln_sliding_window_view(&v, x, &wide, 1, &last), KILN_ERROR_SHAPE,
          "a window of 5 was given; axis -1 has room for 4");
    FAILS(kiln_sliding_window_view(&v, x, &window, 1, &beyond), KILN_ERROR_SHAPE,
          "axis 5 was given; the array has 2");
    OK(kiln_array_empty(&same, KILN_FLOAT32, 2, shape, KILN_DEVICE_HOST));
    OK(kiln_flipud(&same, x));
    assert_ptr_not_equal(kiln_array_data(same), at + 8);
    assert_true(((const float *)kiln_array_data(same))[0] == 8);
    v = NULL;
    FAILS(kiln_swapaxes(&v, x, 0, 5), KILN_ERROR_SHAPE, "axis 5 was given; the array has 2");
    assert_null(v);
    kiln_array_free(same);
    kiln_array_free(x);
}

static void lists_and_words_are_arguments(void **state)
{
    const int64_t ends[] = {0, -1}, beyond = 6;
    kiln_array *x = counted(1, 3), *y = NULL, *z = NULL, *picked = NULL;
    (void)state;
    const kiln_arg both[] = {kiln_arg_array(x), kiln_arg_array(x)};
    OK(kiln_concatenate(&y, both, 2, -1));
    assert_elements(y, 2, 6, (const float[]){0, 1, 2, 0, 1, 2});
    OK(kiln_stack(&z, both, 2, KILN_USUAL));
    assert_int_equal(kiln_array_ndim(z), 3);
    OK(kiln_pad(&picked, x, 1, "edge"));
    assert_elements(picked, 2, 15, (const float[]){0, 0, 1, 2, 2, 0, 0, 1, 2, 2, 0, 0, 1, 2, 2});
    kiln_array_free(picked);
    picked = NULL;
    OK(kiln_delete_at(&picked, y, ends, 2, KILN_USUAL));
    assert_elements(picked, 1, 4, (const float[]){1, 2, 0, 1});
    kiln_array_free(picked);
    picked = NULL;
    /* an array is what lies along its first axis */
    OK(kiln_function_call(&picked, 1, "concatenate", (const kiln_arg[]){kiln_arg_array(z), kiln_arg_int(1)},
                          2, NULL));
    assert_elements(picked, 2, 6, (const float[]){0, 1, 2, 0, 1, 2});
    kiln_array_free(picked);
    picked = NULL;
    FAILS(kiln_pad(&picked, x, 1, "no_such"), KILN_ERROR_SYNTAX, "mode: 'constant', 'edge'");
    FAILS(kiln_pad(&picked, x, 1, "a'b"), KILN_ERROR_INVALID, "mode: a word was expected");
    FAILS(kiln_pad(&picked, x, 1, ""), KILN_ERROR_INVALID, "mode: a word was expected");
    FAILS(kiln_concatenate(&picked, NULL, 2, 0), KILN_ERROR_INVALID, "arrays: a list was expected");
    FAILS(kiln_concatenate(&picked, both, 0, 0), KILN_ERROR_SYNTAX, "a list of 1 to 63 arrays was expected");
    const kiln_arg odd[] = {kiln_arg_struct(both, 40), kiln_arg_int(0)};
    FAILS(kiln_function_call(&picked, 1, "concatenate", odd, 2, NULL), KILN_ERROR_INVALID,
          "arrays: a list was expected");
    kiln_arg many[64];
    for (int k = 0; k < 64; ++k)
        many[k] = both[0];
    FAILS(kiln_concatenate(&picked, many, 64, 0), KILN_ERROR_INVALID, "more than 63 arrays were given");
    FAILS(kiln_delete_at(&picked, y, &beyond, 1, KILN_USUAL), KILN_ERROR_INVALID,
          "index 6 was given; axis 0 has 6 elements");
    FAILS(kiln_insert(&picked, x, ends, 1, z, 0), KILN_ERROR_SHAPE,
          "values: 3 axes were given; at most 2 were expected");
    assert_null(picked);
    kiln_array_free(x);
    kiln_array_free(y);
    kiln_array_free(z);
}

/* Parameters that functions of kiln/ops.h do without, behind the others. */
static void rest_of_parameters(void **state)
{
    kiln_array *x = counted(1, 4), *flat = NULL, *y = NULL, *two[2] = {NULL, NULL};
    (void)state;
    OK(kiln_array_reshape(&flat, x, 1, (const int64_t[]){-1}));
    const kiln_arg edges[] = {kiln_arg_array(flat), kiln_arg_none(), kiln_arg_int(9)};
    OK(kiln_function_call(&y, 1, "ediff1d", edges, 3, NULL));
    assert_elements(y, 1, 4, (const float[]){9, 1, 1, 1});
    const kiln_arg line[] = {kiln_arg_array(flat), kiln_arg_int(10), kiln_arg_int(3),
                             kiln_arg_int(1),      kiln_arg_int(1),  kiln_arg_int(1)};
    OK(kiln_function_call(two, 2, "linspace", line, 6, NULL));
    assert_int_equal(kiln_array_shape(two[0])[0], 4);
    assert_int_equal(kiln_array_shape(two[0])[1], 3);
    kiln_array_free(two[0]);
    kiln_array_free(two[1]);
    two[0] = two[1] = NULL;
    const kiln_arg mean[] = {kiln_arg_array(x), kiln_arg_none(), kiln_arg_int(1)};
    OK(kiln_function_call(two, 2, "average", mean, 3, NULL));
    assert_elements(two[1], 0, 1, (const float[]){4});
    FAILS(kiln_function_call(&y, 1, "ediff1d", line, 5, NULL), KILN_ERROR_INVALID, "1 or 3 expected");
    kiln_array_free(two[0]);
    kiln_array_free(two[1]);
    kiln_array_free(x);
    kiln_array_free(flat);
    kiln_array_free(y);
}

/* Functions of lists, and those whose text waits for shapes, are recorded, and run for other arrays. */
static void traces_record_lists(void **state)
{
    kiln_trace *trace = NULL;
    kiln_kernel *kernel = NULL;
    kiln_array *x = NULL, *both = NULL, *squares = NULL, *y = NULL, *in = counted(2, 2);
    const int64_t shape[] = {2, 2};
    (void)state;
    OK(kiln_trace_begin(&trace, "lists"));
    OK(kiln_trace_input(&x, trace, "x", KILN_FLOAT32, 2, shape));
    OK(kiln_matmul(&squares, x, x));
    const kiln_arg list[] = {kiln_arg_array(x), kiln_arg_array(squares)};
    OK(kiln_concatenate(&both, list, 2, 0));
    OK(kiln_trace_end(&kernel, trace, &both, 1, NULL));
    const kiln_arg given = kiln_arg_array(in);
    OK(kiln_kernel_call(kernel, &y, 1, &given, 1, NULL));
    assert_elements(y, 2, 8, (const float[]){0, 1, 2, 3, 2, 3, 6, 11});
    kiln_array_free(x);
    kiln_array_free(both);
    kiln_array_free(squares);
    kiln_array_free(y);
    kiln_array_free(in);
    kiln_kernel_free(kernel);
    kiln_trace_free(trace);
}

static kiln_arg floats(kiln_array **made, const float *element, int count)
{
    OK(kiln_array_from_host(made, element, KILN_FLOAT32, 1, (const int64_t[]){count}, KILN_DEVICE_HOST));
    return kiln_arg_array(*made);
}

/* Operations by name with a mask, a dtype, a casting, an initial number, and arrays for results. */
static void operations_with_options(void **state)
{
    static const float one[] = {1, 2, 3, 4}, other[] = {10, 20, 30, 40};
    static const int axis = 0;
    kiln_array *x = NULL, *y = NULL, *m = NULL, *z = NULL, *both[2] = {NULL, NULL};
    const kiln_arg two[] = {floats(&x, one, 4), floats(&y, other, 4)};
    kiln_apply_options with = KILN_APPLY_OPTIONS_INIT;
    kiln_call_options along = KILN_CALL_OPTIONS_INIT;
    const kiln_arg ten = kiln_arg_int(10);
    (void)state;
    OK(kiln_greater(&m, two[0], kiln_arg_int(2)));
    const kiln_arg mask = kiln_arg_array(m);
    with.where = &mask;
    OK(kiln_apply_with(&z, 1, "add", two, 2, &with, NULL));
    assert_elements(z, 1, 4, (const float[]){0, 0, 33, 44});
    OK(kiln_apply_with(&z, 1, "multiply", two, 2, &with, NULL)); /* the others stay */
    assert_elements(z, 1, 4, (const float[]){0, 0, 90, 160});
    both[1] = z;
    OK(kiln_apply_with(both, 2, "divmod", (const kiln_arg[]){two[1], kiln_arg_int(7)}, 2, &with, NULL));
    assert_elements(both[0], 1, 4, (const float[]){0, 0, 4, 5});
    assert_elements(z, 1, 4, (const float[]){0, 0, 2, 5});
    kiln_array_free(both[0]);
    kiln_array_free(z);
    z = NULL;
    with.initial = &ten;
    along.axes = &axis;
    along.n_axes = 1;
    along.flags = KILN_CALL_KEEPDIMS;
    OK(kiln_apply_with(&z, 1, "sum", two, 1, &with, &along));
    assert_elements(z, 1, 1, (const float[]){17});
    kiln_array_free(z);
    z = NULL;
    with = (kiln_apply_options)KILN_APPLY_OPTIONS_INIT;
    with.dtype = KILN_INT32;
    FAILS(kiln_apply_with(&z, 1, "add", two, 2, &with, NULL), KILN_ERROR_TYPE, "with casting 'same_kind'");
    with.casting = "unsafe";
    OK(kiln_apply_with(&z, 1, "add", two, 2, &with, NULL));
    assert_int_equal(kiln_array_dtype(z), KILN_INT32);
    assert_int_equal(((const int32_t *)kiln_array_data(z))[3], 44);
    with.dtype = KILN_DTYPE_NONE;
    OK(kiln_apply_with(&z, 1, "subtract", two, 2, &with, NULL)); /* float32 into int32 */
    assert_int_equal(((const int32_t *)kiln_array_data(z))[3], -36);
    OK(kiln_apply_with(&z, 1, "negative", (const kiln_arg[]){kiln_arg_array(z)}, 1, NULL, NULL));
    assert_int_equal(((const int32_t *)kiln_array_data(z))[3], 36);
    with.casting = "any";
    FAILS(kiln_apply_with(&z, 1, "add", two, 2, &with, NULL), KILN_ERROR_INVALID,
          "casting: \"any\" was given");
    with.casting = NULL;
    FAILS(kiln_apply_with(&z, 1, "add", two, -1, &with, NULL), KILN_ERROR_INVALID, "-1 inputs");
    FAILS(kiln_apply_with(NULL, 1, "add", two, 2, &with, NULL), KILN_ERROR_INVALID, "out is NULL");
    FAILS(kiln_apply_with(&z, 1, "addd", two, 2, &with, NULL), KILN_ERROR_NOT_FOUND, "no operation 'addd'");
    with.initial = &ten;
    FAILS(kiln_apply_with(&z, 1, "add", two, 2, &with, NULL), KILN_ERROR_SYNTAX, "no argument 'initial'");
    with.struct_size = 0;
    FAILS(kiln_apply_with(&z, 1, "add", two, 2, &with, NULL), KILN_ERROR_INVALID, "struct_size");
    kiln_array_free(z);
    kiln_array_free(m);
    kiln_array_free(y);
    kiln_array_free(x);
}

/* (1 + x)(1 + y) - 1, by texts as callers write them: own names and placeholders, declared dtypes, a
 * preamble, a return. */
static void register_blends(void)
{
    static const struct {
        const char *name, *in, *out, *types, *map, *preamble;
    } blends[] = {{"blend", "T x, T y", "T z", "ff->f dd->d", "z = x + y + x * y", NULL},
                  {"blend_own", "A p, B q", "C a", "ff->f dd->d", "a = joined(p, q)",
                   "__device__ A joined(A p, B q) { return p + q + p * (C)q; }"},
                  {"blend_declared", "float32 x, float32 b", "float32 z", "ff->f",
                   "z = x + b; if (x == 0) return; z += x * b", NULL},
                  {"blend_placed", "T x, T y", "T z", "ff->f", "z = x + y + i", NULL}};
    for (size_t k = 0; k < sizeof blends / sizeof blends[0]; ++k) {
        kiln_operation d = KILN_OPERATION_INIT;
        d.name = blends[k].name;
        d.in_params = blends[k].in;
        d.out_params = blends[k].out;
        d.types = blends[k].types;
        d.map = blends[k].map;
        d.preamble = blends[k].preamble;
        OK(kiln_operation_register(&d));
    }
}

static void assert_blended(const char *name, const char *method, const kiln_arg *in, int n_in,
                           const kiln_call_options *over, int count, const float *expected)
{
    char whole[32];
    kiln_array *z = NULL;
    snprintf(whole, sizeof whole, "%s.%s", name, method);
    OK(kiln_apply_with(&z, 1, whole, in, n_in, NULL, over));
    assert_int_equal(kiln_array_nbytes(z), (size_t)count * sizeof *expected);
    for (int k = 0; k < count; ++k)
        assert_true(((const float *)kiln_array_data(z))[k] == expected[k]);
    kiln_array_free(z);
}

/* NumPy's methods of ufuncs: of registered operations, and in place. */
static void methods_of_operations(void **state)
{
    static const float numbers[] = {1, 2, 3, 0, 1, 1};
    static const int64_t shape[] = {2, 3}, places[] = {0, 2, 0}, three[] = {3};
    static const char *const names[] = {"blend", "blend_own", "blend_declared"};
    static const int last = -1;
    kiln_array *x = NULL, *at = NULL, *y = NULL, *z = NULL;
    kiln_call_options rows = KILN_CALL_OPTIONS_INIT;
    kiln_apply_options with = KILN_APPLY_OPTIONS_INIT;
    const int count = kiln_operation_count();
    (void)state;
    register_blends();
    rows.axes = &last;
    rows.n_axes = 1;
    rows.flags = KILN_CALL_KEEPDIMS;
    OK(kiln_array_from_host(&x, numbers, KILN_FLOAT32, 2, shape, KILN_DEVICE_HOST));
    OK(kiln_array_from_host(&at, places, KILN_INT64, 1, three, KILN_DEVICE_HOST));
    OK(kiln_array_from_host(&y, numbers, KILN_FLOAT32, 1, three, KILN_DEVICE_HOST));
    const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_array(y)};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k) {
        const kiln_arg steps[] = {in[1], kiln_arg_array(at), in[1]};
        assert_blended(names[k], "reduce", in, 1, NULL, 1, (const float[]){95});
        assert_blended(names[k], "reduce", in, 1, &rows, 2, (const float[]){23, 3});
        assert_blended(names[k], "accumulate", in, 1, NULL, 6, (const float[]){1, 2, 3, 1, 5, 7});
        assert_blended(names[k], "outer", (const kiln_arg[]){in[1], in[1]}, 2, NULL, 9,
                       (const float[]){3, 5, 7, 5, 8, 11, 7, 11, 15});
        assert_blended(names[k], "at", steps, 3, NULL, 3, (const float[]){15, 2, 11});
        OK(kiln_array_copy(&z, y));
        OK(kiln_apply_with(&z, 1, "blend.at", (const kiln_arg[]){kiln_arg_array(z), steps[1], in[1]}, 3, NULL,
                           NULL));
        assert_elements(z, 1, 3, (const float[]){15, 2, 11});
        kiln_array_free(z);
        z = NULL;
    }
    with.dtype = KILN_FLOAT64;
    OK(kiln_apply_with(&z, 1, "blend.reduce", in, 1, &with, NULL));
    assert_true(*(const double *)kiln_array_data(z) == 95);
    kiln_array_free(z);
    z = NULL;
    assert_int_equal(kiln_operation_count(), count + 4); /* none but those that were registered */
    FAILS(kiln_apply_with(&z, 1, "blend_placed.reduce", in, 1, NULL, NULL), KILN_ERROR_SYNTAX, "index");
    FAILS(kiln_apply_with(&z, 1, "blend_placed.at", (const kiln_arg[]){in[1], kiln_arg_array(at), in[1]}, 3,
                          NULL, NULL),
          KILN_ERROR_INVALID, "index");
    FAILS(kiln_apply_with(&z, 1, "subtract.reduce", in, 1, NULL, NULL), KILN_ERROR_SYNTAX,
          "depends on the order of the operands");
    FAILS(kiln_apply_with(&z, 1, "negative.reduce", in, 1, NULL, NULL), KILN_ERROR_SYNTAX, "of two inputs");
    FAILS(kiln_apply_with(&z, 1, "divmod.at", in, 1, NULL, NULL), KILN_ERROR_SYNTAX, "of one result");
    FAILS(kiln_apply_with(&z, 1, "blends.reduce", in, 1, NULL, NULL), KILN_ERROR_NOT_FOUND, "blends.reduce");
    FAILS(kiln_apply_with(&z, 1, "blend.reduces", in, 1, NULL, NULL), KILN_ERROR_NOT_FOUND, "blend.reduces");
    kiln_array_free(x);
    kiln_array_free(y);
    kiln_array_free(at);
}

static void calls_that_are_refused(void **state)
{
    kiln_array *out = NULL;
    const kiln_arg in[] = {kiln_arg_int(3), kiln_arg_int(2), kiln_arg_float(1), kiln_arg_int(99)};
    const kiln_arg eye[] = {in[0], in[1], in[1], in[3]};
    kiln_call_options wrong = KILN_CALL_OPTIONS_INIT;
    wrong.block = -1;
    (void)state;
    FAILS(kiln_function_call(&out, 1, "eye", in, 4, &wrong), KILN_ERROR_INVALID, "options.block: -1");
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(parameters_have_usual_values),
                                       cmocka_unit_test(parts_along_an_axis_by_its_name),
                                       cmocka_unit_test(axes_are_those_of_the_call),
                                       cmocka_unit_test(traces_record_functions),
                                       cmocka_unit_test(truth_keeps_dtypes),
                                       cmocka_unit_test(views_stay_views),
                                       cmocka_unit_test(lists_and_words_are_arguments),
                                       cmocka_unit_test(rest_of_parameters),
                                       cmocka_unit_test(traces_record_lists),
                                       cmocka_unit_test(operations_with_options),
                                       cmocka_unit_test(methods_of_operations),
                                       cmocka_unit_test(calls_that_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
