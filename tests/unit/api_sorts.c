/* Sorts in C: random keys of all dtypes with special values, both orders, axes, several keys and payloads,
 * against an insertion of indices by a comparison of its own; refusals. */
#include <kiln/kiln.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ok.h"

static uint64_t state_of_random = 1;

static unsigned draw(unsigned below)
{
    state_of_random = state_of_random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state_of_random >> 33) % below;
}

static double special(unsigned k)
{
    const double values[] = {NAN, -NAN, 0.0, -0.0, INFINITY, -INFINITY, 1, -1};
    return values[k % 8];
}

/* Numbers of which many are equal. */
static double number(void)
{
    return draw(3) == 0 ? special(draw(8)) : (double)draw(40) - 20;
}

static bool comes_before(double a, double b, bool is_descending)
{
    if (isnan(a) || isnan(b))
        return !isnan(a) && isnan(b);
    return is_descending ? a > b : a < b;
}

/* The stable order of a row whose elements are `step` apart. */
static void sort_row(int64_t *order, const double *x, int64_t length, int64_t step, bool is_descending)
{
    for (int64_t k = 0; k < length; ++k) {
        int64_t at = k;
        while (at > 0 && comes_before(x[k * step], x[order[at - 1] * step], is_descending)) {
            order[at] = order[at - 1];
            --at;
        }
        order[at] = k;
    }
}

/* Sorts rows and columns of random doubles, with their indices, and compares both. */
static void sort_random(int64_t rows, int64_t columns, int axis, bool is_descending, const char *type)
{
    const int64_t shape[] = {rows, columns};
    const kiln_sort_key key = {"x", type, is_descending ? KILN_SORT_DESCENDING : 0};
    size_t count = (size_t)(rows * columns);
    double *x = calloc(count + 1, sizeof *x);
    kiln_array *in = NULL, *out[2] = {NULL, NULL};
    kiln_kernel *k = NULL;
    kiln_call_options o = KILN_CALL_OPTIONS_INIT;
    for (size_t e = 0; e < count; ++e)
        x[e] = number();
    OK(kiln_array_from_host(&in, x, KILN_FLOAT64, 2, shape, KILN_DEVICE_HOST));
    const kiln_arg arg = kiln_arg_array(in);
    o.axes = &axis;
    o.n_axes = 1;
    OK(kiln_sort_create(&k, "T x", "T y, int64 at", &key, 1, "y = x; at = i", "sort", NULL));
    OK(kiln_kernel_call(k, out, 2, &arg, 1, &o));
    int64_t length = axis == 0 ? rows : columns, others = axis == 0 ? columns : rows,
            step = axis == 0 ? columns : 1, next = axis == 0 ? 1 : columns;
    int64_t *order = calloc((size_t)length + 1, sizeof *order);
    for (int64_t r = 0; r < others; ++r) {
        sort_row(order, x + r * next, length, step, is_descending);
        for (int64_t e = 0; e < length; ++e) {
            size_t at = (size_t)(r * next + e * step);
            assert_int_equal(((const int64_t *)kiln_array_data(out[1]))[at], order[e]);
            assert_memory_equal((const double *)kiln_array_data(out[0]) + at, &x[r * next + order[e] * step],
                                sizeof *x);
        }
    }
    free(order);
    free(x);
    kiln_array_free(in);
    kiln_array_free(out[0]);
    kiln_array_free(out[1]);
    kiln_kernel_free(k);
}

static void random_rows(void **state)
{
    (void)state;
    sort_random(1, 1, 1, false, NULL);
    sort_random(1, 2, -1, false, NULL);
    sort_random(3, 1000, 1, false, NULL);
    sort_random(3, 1000, 1, true, "T");
    sort_random(50, 30, 0, false, "float32");
    sort_random(50, 30, 0, true, "float16");
    sort_random(70, 33, 1, true, "float64");
    sort_random(0, 5, 1, false, NULL);
    sort_random(5, 0, 1, false, NULL);
    sort_random(1, 20000, 1, false, "float32");
}

static void sorts_are_refused(void **state)
{
    const kiln_sort_key key = {"x", NULL, 0}, unknown = {"x", NULL, 2};
    kiln_kernel *k = NULL;
    (void)state;
    assert_int_equal(kiln_sort_create(NULL, "T x", "T y", &key, 1, "y = x", NULL, NULL), KILN_ERROR_INVALID);
    FAILS(kiln_sort_create(&k, "T x", "T y", &key, 1, NULL, NULL, NULL), KILN_ERROR_INVALID, "body is NULL");
    FAILS(kiln_sort_create(&k, "T x", "T y", NULL, 1, "y = x", NULL, NULL), KILN_ERROR_INVALID,
          "keys: 1 were given as NULL");
    FAILS(kiln_sort_create(&k, "T x", "T y", &unknown, 1, "y = x", "by_x", NULL), KILN_ERROR_INVALID,
          "by_x: keys[0].flags: 0x2");
    assert_null(k);
}

/* ---- quick steps for CUDA ---- */

/* The lines about what has none of the user's texts, of a sort or a selection by this text. */
static void shared_lines(char *out, size_t size, bool is_sort, const char *text, const char *name,
                         const char *x)
{
    const int64_t shape[] = {3, 7000};
    const kiln_sort_key key = {text, NULL, 0};
    char in[32], body[32], *lines = NULL, *rest = NULL;
    kiln_array *a = NULL, *none[2] = {NULL};
    kiln_kernel *k = NULL;
    snprintf(in, sizeof in, "float32 %s", x);
    snprintf(body, sizeof body, "y = %s", x);
    OK(kiln_array_empty(&a, KILN_FLOAT32, 2, shape, KILN_DEVICE_HOST));
    const kiln_arg arg = kiln_arg_array(a);
    if (is_sort)
        OK(kiln_sort_create(&k, in, "float32 y", &key, 1, body, name, NULL));
    else
        OK(kiln_select_create(&k, in, "float32 y", text, body, name, NULL));
    OK(kiln_kernel_explain(&lines, k, none, is_sort ? 1 : 2, &arg, 1, NULL, "sm_90"));
    out[0] = '\0';
    for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        if (strstr(line, "name=\"sort_") || strstr(line, "name=\"select_"))
            snprintf(out + strlen(out), size - strlen(out), "%s\n", line);
        else
            assert_true(line[0] == '#' || !strstr(line, "kiln/3") || strstr(line, name));
    free(lines);
    kiln_kernel_free(k);
    kiln_array_free(a);
}

static void steps_without_texts_are_shared(void **state)
{
    static char one[1 << 15], other[1 << 15];
    (void)state;
    OK(kiln_set_forms(KILN_FORMS_QUICK));
    for (int is_sort = 0; is_sort < 2; ++is_sort) {
        shared_lines(one, sizeof one, is_sort, is_sort ? "abs(x - 31)" : "x > 31", "one", "x");
        shared_lines(other, sizeof other, is_sort, is_sort ? "-x" : "x < 3 || x > 4", "two", "x");
        assert_true(one[0]);
        assert_string_equal(one, other);
    }
    /* Names of the steps' own parameters are free for the user. */
    shared_lines(one, sizeof one, true, "_length", "named", "_length");
    shared_lines(one, sizeof one, true, "_orders", "named", "_orders");
    shared_lines(one, sizeof one, false, "_number > 0", "named", "_number");
    shared_lines(one, sizeof one, false, "_chosen > 0", "named", "_chosen");
    OK(kiln_set_forms(KILN_FORMS_BEST));
}

/* ---- by name ---- */

static kiln_arg array_of(const char *type, int ndim, const int64_t *shape)
{
    kiln_dtype dtype = KILN_DTYPE_NONE;
    kiln_array *a = NULL;
    OK(kiln_dtype_from_name(&dtype, type));
    OK(kiln_array_empty(&a, dtype, ndim, shape, KILN_DEVICE_HOST));
    memset(kiln_array_data(a), 0, kiln_array_nbytes(a));
    return kiln_arg_array(a);
}

static kiln_arg doubles(const double *from, int64_t count)
{
    kiln_arg x = array_of("float64", 1, &count);
    memcpy(kiln_array_data(x.value.array), from, (size_t)count * sizeof *from);
    return x;
}

static void expect_doubles(kiln_array *got, const double *right, int64_t count)
{
    assert_int_equal(kiln_array_size(got), count);
    for (int64_t k = 0; k < count; ++k)
        assert_true(((const double *)kiln_array_data(got))[k] == right[k]);
    kiln_array_free(got);
}

static void expect_numbers(kiln_array *got, const int64_t *right, int64_t count)
{
    assert_int_equal(kiln_array_size(got), count);
    assert_int_equal(kiln_array_dtype(got), KILN_INT64);
    assert_memory_equal(kiln_array_data(got), right, (size_t)count * sizeof *right);
    kiln_array_free(got);
}

static void sorts_by_name(void **state)
{
    const double x[] = {3, 1, 2, 3, 0, 1};
    const kiln_arg a = doubles(x, 6), b = doubles((const double[]){1, 0, 1, 0, 1, 0}, 6);
    kiln_array *y = NULL, *both[2] = {NULL, NULL}, *all[4] = {NULL};
    (void)state;
    OK(kiln_sort(&y, a, -1, 0));
    expect_doubles(y, (const double[]){0, 1, 1, 2, 3, 3}, 6);
    y = NULL;
    OK(kiln_argsort(&y, a, KILN_ALL_AXES, KILN_SORT_DESCENDING));
    expect_numbers(y, (const int64_t[]){0, 3, 2, 1, 5, 4}, 6);
    y = NULL;
    OK(kiln_lexsort(&y, (const kiln_arg[]){a, b}, 2, 0));
    expect_numbers(y, (const int64_t[]){1, 5, 3, 4, 2, 0}, 6);
    y = NULL;
    OK(kiln_topk(both, a, 2, 0, KILN_SORT_DESCENDING));
    expect_doubles(both[0], (const double[]){3, 3}, 2);
    expect_numbers(both[1], (const int64_t[]){0, 3}, 2);
    OK(kiln_partition(&y, a, -2, 0));
    assert_true(((const double *)kiln_array_data(y))[4] == 3);
    kiln_array_free(y);
    y = NULL;
    OK(kiln_argpartition(&y, a, 0, 0));
    assert_int_equal(((const int64_t *)kiln_array_data(y))[0], 4);
    kiln_array_free(y);
    y = NULL;
    OK(kiln_median(&y, a, NULL, 0, true));
    assert_int_equal(kiln_array_ndim(y), 1);
    expect_doubles(y, (const double[]){1.5}, 1);
    y = NULL;
    OK(kiln_quantile(&y, a, kiln_arg_float(0.5), "higher", (const int[]){0}, 1, false));
    expect_doubles(y, (const double[]){2}, 1);
    y = NULL;
    OK(kiln_percentile(&y, a, kiln_arg_int(100), NULL, NULL, 0, false));
    expect_doubles(y, (const double[]){3}, 1);
    OK(kiln_unique(all, a, KILN_UNIQUE_INDEX | KILN_UNIQUE_INVERSE | KILN_UNIQUE_COUNTS));
    expect_doubles(all[0], (const double[]){0, 1, 2, 3}, 4);
    expect_numbers(all[1], (const int64_t[]){4, 1, 2, 0}, 4);
    expect_numbers(all[2], (const int64_t[]){3, 1, 2, 3, 0, 1}, 6);
    expect_numbers(all[3], (const int64_t[]){1, 2, 1, 2}, 4);
    kiln_array_free(a.value.array);
    kiln_array_free(b.value.array);
}

/* Ascending numbers, of which many are equal. */
static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Long rows that are not dense, or whose results are not: each holds its elements, those of the first places
 * in front of the place's, and the numbers are theirs. */
static void partition_rows(int64_t step, int64_t to_step)
{
    enum { ROWS = 2, LENGTH = 5000, KTH = 1234 };
    const int64_t shape[] = {ROWS, LENGTH * step}, to_shape[] = {ROWS, LENGTH * to_step};
    const kiln_arg all = array_of("float32", 2, shape), given = array_of("float32", 2, to_shape);
    float *x = kiln_array_data(all.value.array), *y = kiln_array_data(given.value.array);
    kiln_array *rows = NULL, *to = NULL, *at = NULL;
    for (int64_t k = 0; k < ROWS * LENGTH * step; ++k)
        x[k] = (float)draw(4000) - 2000;
    OK(kiln_array_slice(&rows, all.value.array, 1, 0, KILN_SLICE_NONE, step));
    OK(kiln_array_slice(&to, given.value.array, 1, 0, KILN_SLICE_NONE, to_step));
    const kiln_arg of_rows = kiln_arg_array(rows);
    OK(kiln_partition(&to, of_rows, KTH, 1));
    OK(kiln_argpartition(&at, of_rows, KTH, 1));
    for (int r = 0; r < ROWS; ++r) {
        static float sorted[LENGTH], parted[LENGTH], found[LENGTH];
        for (int k = 0; k < LENGTH; ++k) {
            sorted[k] = x[(r * LENGTH + k) * step];
            parted[k] = y[(r * LENGTH + k) * to_step];
            found[k] = x[(r * LENGTH + ((const int64_t *)kiln_array_data(at))[r * LENGTH + k]) * step];
        }
        qsort(sorted, LENGTH, sizeof *sorted, compare_floats);
        for (int n = 0; n < 2; ++n) {
            float *one = n == 0 ? parted : found;
            assert_true(one[KTH] == sorted[KTH]);
            qsort(one, KTH, sizeof *one, compare_floats);
            qsort(one + KTH, LENGTH - KTH, sizeof *one, compare_floats);
            assert_memory_equal(one, sorted, sizeof sorted);
        }
    }
    for (int64_t k = 0; k < ROWS * LENGTH * to_step; ++k)
        assert_true(k % to_step == 0 || y[k] == 0);
    kiln_array_free(all.value.array);
    kiln_array_free(given.value.array);
    kiln_array_free(rows);
    kiln_array_free(to);
    kiln_array_free(at);
}

static void partitions_of_rows(void **state)
{
    (void)state;
    partition_rows(2, 1);
    partition_rows(1, 2);
}

static void unique_rows(void **state)
{
    const int64_t shape[] = {4, 2};
    const double rows[] = {3, 1, 0, 7, 3, 1, 0, 5};
    kiln_array *x = NULL, *all[4] = {NULL, NULL, NULL, NULL};
    (void)state;
    OK(kiln_array_from_host(&x, rows, KILN_FLOAT64, 2, shape, KILN_DEVICE_HOST));
    const kiln_arg of_x = kiln_arg_array(x);
    OK(kiln_unique_parts(all, of_x, -2, KILN_UNIQUE_INDEX | KILN_UNIQUE_INVERSE | KILN_UNIQUE_COUNTS));
    assert_int_equal(kiln_array_shape(all[0])[0], 3);
    expect_doubles(all[0], (const double[]){0, 5, 0, 7, 3, 1}, 6);
    expect_numbers(all[1], (const int64_t[]){3, 1, 0}, 3);
    expect_numbers(all[2], (const int64_t[]){2, 1, 2, 0}, 4);
    expect_numbers(all[3], (const int64_t[]){1, 1, 2}, 3);
    all[0] = NULL;
    FAILS(kiln_unique_parts(all, of_x, 0, 8), KILN_ERROR_INVALID, "unique_parts: flags: 0x8 was given");
    FAILS(kiln_unique_parts(all, of_x, 2, 0), KILN_ERROR_SHAPE, "unique: axis: 2 was given");
    FAILS(kiln_unique_parts(NULL, of_x, 0, 0), KILN_ERROR_INVALID, "unique_parts: out is NULL");
    kiln_array_free(x);
}

/* Given arrays hold as many as they have space for; the number of elements is not asked for. */
static void unique_elements_of_a_capacity(void **state)
{
    const int64_t capacity = 2;
    const kiln_arg x = doubles((const double[]){5, 4, 4, 9}, 4), given = array_of("float64", 1, &capacity);
    kiln_array *y = given.value.array;
    (void)state;
    OK(kiln_unique(&y, x, 0));
    expect_doubles(y, (const double[]){4, 5}, 2);
    kiln_array_free(x.value.array);
}

static void nan_is_left_out(void **state)
{
    const kiln_arg x = doubles((const double[]){NAN, 4, 1, NAN, 2, 8}, 6),
                   none = doubles((const double[]){NAN, NAN}, 2);
    kiln_array *y = NULL;
    (void)state;
    OK(kiln_nanmedian(&y, x, NULL, 0, false));
    expect_doubles(y, (const double[]){3}, 1);
    y = NULL;
    OK(kiln_nanquantile(&y, x, kiln_arg_float(0.5), "lower", NULL, 0, false));
    expect_doubles(y, (const double[]){2}, 1);
    y = NULL;
    OK(kiln_nanpercentile(&y, x, kiln_arg_int(100), NULL, NULL, 0, true));
    expect_doubles(y, (const double[]){8}, 1);
    y = NULL;
    OK(kiln_nanmedian(&y, none, NULL, 0, false));
    const double *middle = kiln_array_data(y);
    assert_true(isnan(*middle));
    kiln_array_free(y);
    FAILS(kiln_nanquantile(&y, x, kiln_arg_float(1.5), NULL, NULL, 0, false), KILN_ERROR_INVALID,
          "nanquantile: q: 1.5 was given");
    kiln_array_free(x.value.array);
    kiln_array_free(none.value.array);
}

static void numbers_are_inputs(void **state)
{
    const kiln_sort_key key = {"abs(x - a)", NULL, 0};
    const kiln_arg in[] = {doubles((const double[]){3, 1, 2}, 3), kiln_arg_float(1.75)};
    kiln_kernel *k = NULL;
    kiln_array *y = NULL;
    (void)state;
    OK(kiln_sort_create(&k, "T x, T a", "T y", &key, 1, "y = x + a", "near", NULL));
    OK(kiln_kernel_call(k, &y, 1, in, 2, NULL));
    expect_doubles(y, (const double[]){3.75, 2.75, 4.75}, 3);
    y = NULL;
    FAILS(kiln_kernel_call(k, &y, 1, (const kiln_arg[]){in[1], in[1]}, 2, NULL), KILN_ERROR_SHAPE,
          "near: the inputs have no axes");
    kiln_kernel_free(k);
    kiln_array_free(in[0].value.array);
}

static void names_are_refused(void **state)
{
    const int64_t shape[] = {2, 3}, none[] = {0, 3};
    const kiln_arg x = array_of("float32", 2, shape), empty = array_of("float32", 2, none),
                   z = array_of("complex64", 2, shape), half = kiln_arg_float(0.5);
    const int third[] = {2}, twice[] = {1, -1};
    kiln_array *y = NULL, *both[2] = {NULL, NULL}, *all[4] = {NULL};
    kiln_kernel *places = NULL;
    (void)state;
    FAILS(kiln_sort(&y, x, 2, 0), KILN_ERROR_SHAPE, "sort: axis: axis 2 was given, but there are 2 axes");
    FAILS(kiln_sort(&y, x, 0, 2), KILN_ERROR_INVALID, "sort: flags: 0x2 was given");
    FAILS(kiln_argsort(&y, x, 0, 4), KILN_ERROR_INVALID, "argsort: flags: 0x4 was given");
    FAILS(kiln_sort(&y, half, -1, 0), KILN_ERROR_SHAPE, "sort: the inputs have no axes");
    FAILS(kiln_lexsort(&y, NULL, 1, 0), KILN_ERROR_INVALID, "lexsort: keys is NULL");
    FAILS(kiln_lexsort(&y, &x, 17, 0), KILN_ERROR_INVALID, "lexsort: keys: 17 were given; 1 to 16");
    FAILS(kiln_topk(both, x, -1, 0, 0), KILN_ERROR_INVALID, "topk: k: -1 was given");
    FAILS(kiln_topk(both, x, 4, 1, 0), KILN_ERROR_SHAPE, "topk: k asks for 4 elements, but axis 1 has 3");
    FAILS(kiln_partition(&y, x, 2, 0), KILN_ERROR_SHAPE, "partition: kth asks for 3 elements");
    FAILS(kiln_argpartition(&y, x, -4, 1), KILN_ERROR_SHAPE, "argpartition: kth asks for 4 elements");
    OK(kiln_expression_create(&places, "x", "partition(x, (0, 3, 1))", NULL));
    FAILS(kiln_kernel_call(places, &y, 1, &x, 1, NULL), KILN_ERROR_SHAPE, "kth asks for 4 elements");
    kiln_kernel_free(places);
    FAILS(kiln_median(&y, x, third, 1, false), KILN_ERROR_SHAPE, "median: axis: axis 2 was given");
    FAILS(kiln_median(&y, x, twice, 2, false), KILN_ERROR_INVALID, "median: axis: axis 1 is given twice");
    FAILS(kiln_median(&y, x, twice, 0, false), KILN_ERROR_INVALID, "median: axis: there is none");
    FAILS(kiln_median(&y, x, twice, 65, false), KILN_ERROR_INVALID, "median: n_axes: 65 was given");
    FAILS(kiln_quantile(&y, empty, half, NULL, NULL, 0, false), KILN_ERROR_INVALID,
          "quantile: 'x' has no elements");
    OK(kiln_median(&y, empty, NULL, 0, false));
    assert_true(isnan(*(const float *)kiln_array_data(y)));
    kiln_array_free(y);
    y = NULL;
    FAILS(kiln_median(&y, half, NULL, 0, false), KILN_ERROR_TYPE, "median: 'x' is a number here");
    FAILS(kiln_quantile(&y, x, kiln_arg_float(1.5), NULL, NULL, 0, false), KILN_ERROR_INVALID,
          "quantile: q: 1.5 was given; a number from 0 to 1");
    FAILS(kiln_quantile(&y, x, half, "middle", NULL, 0, false), KILN_ERROR_INVALID,
          "quantile: method: 'middle' was given; there are: linear, ");
    FAILS(kiln_quantile(&y, z, half, NULL, NULL, 0, false), KILN_ERROR_TYPE,
          "quantile: 'x' is an array of complex64");
    FAILS(kiln_percentile(&y, x, kiln_arg_int(101), NULL, NULL, 0, false), KILN_ERROR_INVALID,
          "percentile: q: 101 was given; a number from 0 to 100");
    FAILS(kiln_unique(all, x, 8), KILN_ERROR_INVALID, "unique: flags: 0x8 was given");
    FAILS(kiln_unique(all, half, 0), KILN_ERROR_TYPE, "unique: 'x' is a number here");
    assert_null(y);
    kiln_array_free(x.value.array);
    kiln_array_free(empty.value.array);
    kiln_array_free(z.value.array);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_rows),
                                       cmocka_unit_test(sorts_are_refused),
                                       cmocka_unit_test(steps_without_texts_are_shared),
                                       cmocka_unit_test(sorts_by_name),
                                       cmocka_unit_test(partitions_of_rows),
                                       cmocka_unit_test(nan_is_left_out),
                                       cmocka_unit_test(numbers_are_inputs),
                                       cmocka_unit_test(names_are_refused),
                                       cmocka_unit_test(unique_rows),
                                       cmocka_unit_test(unique_elements_of_a_capacity)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
