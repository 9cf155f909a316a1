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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_rows), cmocka_unit_test(sorts_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
