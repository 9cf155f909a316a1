/* x[...] by lists of kiln_index: errors, views, arrays that are changed in place, traces.
 * tests/numpy/check_indices.py compares random ones with NumPy. */
#include <kiln/kiln.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ok.h"

/* 0 to 11 in three rows. */
static kiln_array *numbers(void)
{
    static const int64_t shape[] = {3, 4};
    kiln_array *x = NULL, *flat = NULL;
    OK(kiln_array_arange(&flat, 0, 12, 1, KILN_FLOAT32, KILN_DEVICE_HOST));
    OK(kiln_array_reshape(&x, flat, 2, shape));
    kiln_array_free(flat);
    return x;
}

static kiln_array *whole(const int64_t *value, int64_t count)
{
    kiln_array *a = NULL;
    OK(kiln_array_from_host(&a, value, KILN_INT64, 1, &count, KILN_DEVICE_HOST));
    return a;
}

static void assert_floats(const kiln_array *a, int count, const float *expected)
{
    float got[16] = {0};
    assert_int_equal(kiln_array_nbytes(a), (size_t)count * sizeof *expected);
    OK(kiln_array_to_host(a, got, (size_t)count * sizeof *expected));
    assert_memory_equal(got, expected, (size_t)count * sizeof *expected);
}

static void what_is_wrong_is_named(void **state)
{
    const int64_t outside[] = {0, 3};
    kiln_array *x = numbers(), *out = NULL, *rows = whole(outside, 2), *floats = numbers();
    const kiln_index wrong[] = {kiln_index_new_axis(), kiln_index_array(rows)};
    const kiln_index wide[] = {kiln_index_number(0), kiln_index_number(0), kiln_index_number(0),
                               kiln_index_array(rows)};
    const kiln_index typed[] = {kiln_index_array(floats)};
    const kiln_index none[] = {kiln_index_array(NULL)}, first[] = {kiln_index_slice(0, 1, 1)};
    (void)state;
    FAILS(kiln_array_get(&out, x, wrong, 2), KILN_ERROR_INVALID,
          "index 1: 3 is out of range for axis 0 of extent 3");
    FAILS(kiln_array_get(&out, x, wide, 4), KILN_ERROR_SHAPE, "4 axes are indexed, but the array has 2");
    FAILS(kiln_array_get(&out, x, typed, 1), KILN_ERROR_TYPE, "index 0 is float32");
    FAILS(kiln_array_get(&out, x, none, 1), KILN_ERROR_INVALID, "index[0].array is NULL");
    FAILS(kiln_array_get(&out, x, wrong, -1), KILN_ERROR_INVALID, "n_index: -1 was given");
    FAILS(kiln_array_set(x, wrong, 2, kiln_arg_float(1)), KILN_ERROR_INVALID, "index 1: 3 is out of range");
    FAILS(kiln_array_set(NULL, wrong, 2, kiln_arg_float(1)), KILN_ERROR_INVALID, "array is NULL");
    FAILS(kiln_array_update(x, wrong, 2, "@", kiln_arg_float(1)), KILN_ERROR_INVALID, "op: @ was given");
    FAILS(kiln_array_update(rows, first, 1, "+", kiln_arg_float(0.5)), KILN_ERROR_TYPE,
          "what is float64 is not made int64: casting is 'same_kind'");
    assert_null(out);
    kiln_array_free(x);
    kiln_array_free(rows);
    kiln_array_free(floats);
}

static void views_share_memory(void **state)
{
    const float changed[] = {0, 1, 2, 3, 4, 9, 6, 7, 8, 9, 10, 11};
    kiln_array *x = numbers(), *view = NULL;
    const kiln_index row[] = {kiln_index_number(1), kiln_index_slice(1, 2, KILN_SLICE_NONE)};
    (void)state;
    OK(kiln_array_get(&view, x, row, 2));
    OK(kiln_array_set(view, NULL, 0, kiln_arg_float(9)));
    assert_floats(x, 12, changed);
    kiln_array_free(view);
    kiln_array_free(x);
}

/* Values that lie in the array itself are read before it is changed. */
static void arrays_change_in_place(void **state)
{
    const int64_t order[] = {1, 2, 0};
    const float rotated[] = {4, 5, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3},
                raised[] = {4, 5, 7, 7, 8, 9, 11, 11, 0, 1, 3, 3};
    kiln_array *x = numbers(), *rows = whole(order, 3);
    const kiln_index third[] = {kiln_index_array(rows), kiln_index_number(2)};
    const int64_t inverse[] = {2, 0, 1};
    kiln_array *to = whole(inverse, 3);
    const kiln_index by[] = {kiln_index_array(to)};
    const void *data = kiln_array_data(x);
    (void)state;
    OK(kiln_array_set(x, by, 1, kiln_arg_array(x)));
    assert_floats(x, 12, rotated);
    OK(kiln_array_update(x, third, 2, "+", kiln_arg_int(1)));
    assert_floats(x, 12, raised);
    assert_ptr_equal(kiln_array_data(x), data);
    kiln_array_free(x);
    kiln_array_free(rows);
    kiln_array_free(to);
}

static void traces_record_them(void **state)
{
    const int64_t shape[] = {3, 4}, count[] = {2}, twice[] = {2, 2};
    const float expected[] = {0, 1, 2, 3, 4, 5, 6, 7, 30, 31, 32, 33};
    kiln_trace *trace = NULL;
    kiln_array *x = NULL, *i = NULL, *rows = NULL, *result = NULL, *given = numbers(), *at = whole(twice, 2);
    kiln_kernel *k = NULL;
    (void)state;
    OK(kiln_trace_begin(&trace, "indices"));
    OK(kiln_trace_input(&x, trace, "x", KILN_FLOAT32, 2, shape));
    OK(kiln_trace_input(&i, trace, "i", KILN_INT64, 1, count));
    const kiln_index by[] = {kiln_index_array(i)};
    OK(kiln_array_get(&rows, x, by, 1));
    OK(kiln_array_set(x, by, 1, kiln_arg_array(rows)));
    OK(kiln_array_update(x, by, 1, "+", kiln_arg_float(22)));
    OK(kiln_trace_end(&k, trace, (kiln_array *[]){x}, 1, NULL));
    const kiln_arg in[] = {kiln_arg_array(given), kiln_arg_array(at)};
    OK(kiln_kernel_call(k, &result, 1, in, 2, NULL));
    assert_floats(result, 12, expected);
    kiln_kernel_free(k);
    kiln_array_free(rows);
    kiln_array_free(x);
    kiln_array_free(i);
    kiln_array_free(result);
    kiln_array_free(given);
    kiln_array_free(at);
    kiln_trace_free(trace);
}

/* A given array has as many elements as the mask could have; those behind the true ones stay. */
static void masks_fill_given_arrays(void **state)
{
    const int64_t shape[] = {3, 4}, extent = 4;
    const float minus = -1, expected[] = {1, 3, -1, -1, 5, 7, -1, -1, 9, 11, -1, -1};
    const bool odd[] = {false, true, false, true};
    kiln_array *x = numbers(), *mask = NULL, *out = NULL;
    kiln_kernel *k = NULL;
    (void)state;
    OK(kiln_array_from_host(&mask, odd, KILN_BOOL, 1, &extent, KILN_DEVICE_HOST));
    OK(kiln_expression_create(&k, "x, mask", "x[:, mask]", NULL));
    const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_array(mask)};
    OK(kiln_array_full(&out, KILN_FLOAT32, 2, shape, &minus, KILN_DEVICE_HOST));
    OK(kiln_kernel_call(k, &out, 1, in, 2, NULL));
    assert_floats(out, 12, expected);
    kiln_kernel_free(k);
    kiln_array_free(out);
    kiln_array_free(x);
    kiln_array_free(mask);
}

static void numbers_become_indices(void **state)
{
    const int64_t shape[] = {2, 3}, numbers[] = {5, 0, 4}, rows[] = {1, 0, 1}, columns[] = {2, 0, 1},
                  extent = 3;
    kiln_array *x = NULL, *out[2] = {NULL, NULL};
    (void)state;
    OK(kiln_array_from_host(&x, numbers, KILN_INT64, 1, &extent, KILN_DEVICE_HOST));
    OK(kiln_unravel_index(out, kiln_arg_array(x), shape, 2));
    assert_memory_equal(kiln_array_data(out[0]), rows, sizeof rows);
    assert_memory_equal(kiln_array_data(out[1]), columns, sizeof columns);
    FAILS(kiln_unravel_index(out, kiln_arg_array(x), shape, 1), KILN_ERROR_INVALID,
          "unravel_index: index 0: 5 is out of range for axis 0 of extent 2");
    FAILS(kiln_unravel_index(out, kiln_arg_array(x), shape, 0), KILN_ERROR_INVALID, "ndim: 0 was given");
    FAILS(kiln_unravel_index(out, kiln_arg_array(x), NULL, 2), KILN_ERROR_INVALID, "shape is NULL");
    FAILS(kiln_unravel_index(NULL, kiln_arg_array(x), shape, 2), KILN_ERROR_INVALID, "out is NULL");
    kiln_array_free(out[0]);
    kiln_array_free(out[1]);
    kiln_array_free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_wrong_is_named),  cmocka_unit_test(views_share_memory),
        cmocka_unit_test(arrays_change_in_place),  cmocka_unit_test(traces_record_them),
        cmocka_unit_test(masks_fill_given_arrays), cmocka_unit_test(numbers_become_indices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
