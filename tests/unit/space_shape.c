/* Shapes and strides against values worked out by hand. */
#include "space/shape.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define S(...) ((const int64_t[]){__VA_ARGS__})

static void sizes(void **state)
{
    (void)state;
    assert_int_equal(kn_shape_size(0, NULL), 1);
    assert_int_equal(kn_shape_size(2, S(3, 4)), 12);
    assert_int_equal(kn_shape_size(2, S(3, 0)), 0);
    assert_int_equal(kn_shape_size(2, S(3, -1)), -1);
    assert_int_equal(kn_shape_size(3, S(INT64_C(1) << 31, INT64_C(1) << 31, 2)), -1);
    assert_int_equal(kn_shape_size(3, S(INT64_C(1) << 62, 0, 4)), -1);
    assert_int_equal(kn_shape_size(2, S(0, -1)), -1);
    assert_int_equal(kn_shape_size(1, S(1)), 1);
    assert_true(kn_shape_size(2, S(INT64_MAX, 1)) == INT64_MAX);
    assert_true(kn_shape_size(2, S(INT64_C(1) << 31, INT64_C(1) << 31)) == INT64_C(1) << 62);
}

static void strides_of_both_orders(void **state)
{
    int64_t strides[3];
    (void)state;
    kn_shape_c_strides(3, S(2, 3, 4), 8, strides);
    assert_memory_equal(strides, S(96, 32, 8), sizeof strides);
    kn_shape_f_strides(3, S(2, 3, 4), 8, strides);
    assert_memory_equal(strides, S(8, 16, 48), sizeof strides);
    kn_shape_c_strides(3, S(2, 0, 4), 1, strides);
    assert_memory_equal(strides, S(4, 4, 1), sizeof strides);
    kn_shape_f_strides(3, S(2, 0, 4), 4, strides);
    assert_memory_equal(strides, S(4, 8, 8), sizeof strides);
    kn_shape_c_strides(3, S(1, 3, 1), 2, strides);
    assert_memory_equal(strides, S(6, 2, 2), sizeof strides);
    /* A new array without elements has no strides; one with elements has those of C order. */
    kn_shape_new_strides(3, S(2, 0, 4), 4, strides);
    assert_memory_equal(strides, S(0, 0, 0), sizeof strides);
    kn_shape_new_strides(3, S(2, 3, 4), 4, strides);
    assert_memory_equal(strides, S(48, 16, 4), sizeof strides);
}

static void contiguity(void **state)
{
    (void)state;
    assert_true(kn_shape_is_c_contiguous(2, S(2, 3), S(12, 4), 4));
    assert_false(kn_shape_is_f_contiguous(2, S(2, 3), S(12, 4), 4));
    assert_true(kn_shape_is_f_contiguous(2, S(2, 3), S(4, 8), 4));
    assert_true(kn_shape_is_c_contiguous(2, S(1, 3), S(999, 4), 4));
    assert_true(kn_shape_is_f_contiguous(2, S(1, 3), S(999, 4), 4));
    assert_true(kn_shape_is_c_contiguous(2, S(7, 0), S(1, 2), 4));
    assert_false(kn_shape_is_c_contiguous(1, S(3), S(-4), 4));
    assert_false(kn_shape_is_c_contiguous(1, S(3), S(0), 4));
    assert_true(kn_shape_is_c_contiguous(0, NULL, NULL, 4));
    assert_false(kn_shape_is_c_contiguous(3, S(2, 3, 4), S(96, 16, 4), 4));
    assert_true(kn_shape_is_c_contiguous(3, S(2, 1, 4), S(16, 7, 4), 4));
    assert_true(kn_shape_is_f_contiguous(3, S(2, 1, 4), S(4, 7, 8), 4));
    assert_true(kn_shape_is_f_contiguous(3, S(2, 3, 4), S(4, 8, 24), 4));
    assert_false(kn_shape_is_f_contiguous(3, S(2, 3, 4), S(4, 8, 48), 4));
    assert_false(kn_shape_is_f_contiguous(3, S(2, 3, 4), S(8, 8, 24), 4));
    assert_true(kn_shape_is_f_contiguous(2, S(0, 7), S(1, 2), 4));
    assert_true(kn_shape_is_c_contiguous(2, S(0, 7), S(1, 2), 4)); /* though the fastest stride is wrong */
    assert_true(kn_shape_is_f_contiguous(1, S(3), S(4), 4));
    assert_false(kn_shape_is_c_contiguous(1, S(2), S(8), 4));
    assert_true(kn_shape_is_c_contiguous(1, S(1), S(8), 4));
}

static void assert_range(int ndim, const int64_t *shape, const int64_t *strides, int64_t low, int64_t high)
{
    int64_t l, h;
    kn_shape_byte_range(ndim, shape, strides, 4, &l, &h);
    assert_true(l == low && h == high);
}

static void byte_ranges(void **state)
{
    (void)state;
    assert_range(0, NULL, NULL, 0, 4);
    assert_range(2, S(2, 3), S(12, 4), 0, 24);
    assert_range(2, S(2, 3), S(-12, 4), -12, 12);
    assert_range(2, S(2, 0), S(-12, 4), 0, 0);
    assert_range(2, S(5, 3), S(0, -8), -16, 4);
    assert_range(1, S(INT64_MAX), S(8), 0, INT64_MAX);
    assert_range(1, S(INT64_MAX), S(-8), INT64_MIN, 4);
    assert_range(1, S(1), S(-8), 0, 4);
    assert_range(3, S(2, 3, 4), S(-100, 10, -1), -103, 24);
    assert_range(2, S(0, 2), S(8, 8), 0, 0);
    assert_range(2, S(INT64_MAX, 2), S(-8, -8), INT64_MIN, 4);
}

static void formats(void **state)
{
    kn_str s = KN_STR_INIT;
    (void)state;
    kn_shape_format(&s, 0, NULL);
    kn_shape_format(&s, 1, S(3));
    kn_shape_format(&s, 2, S(3, 4));
    assert_string_equal(kn_str_text(&s), "()(3,)(3, 4)");
    kn_str_free(&s);
}

static void broadcasting(void **state)
{
    int64_t a[KILN_MAX_NDIM] = {3, 1};
    int ndim = 2;
    (void)state;
    assert_true(kn_shape_broadcast(&ndim, a, 3, S(5, 1, 4)));
    assert_int_equal(ndim, 3);
    assert_memory_equal(a, S(5, 3, 4), 24);
    assert_true(kn_shape_broadcast(&ndim, a, 0, NULL));
    assert_false(kn_shape_broadcast(&ndim, a, 1, S(3)));
    assert_int_equal(ndim, 3);
    assert_memory_equal(a, S(5, 3, 4), 24);
    ndim = 1, a[0] = 1;
    assert_true(kn_shape_broadcast(&ndim, a, 1, S(0)));
    assert_int_equal(a[0], 0);
    assert_false(kn_shape_broadcast(&ndim, a, 1, S(2)));
    ndim = 1, a[0] = 7;
    assert_true(kn_shape_broadcast(&ndim, a, 2, S(1, 1)));
    assert_int_equal(ndim, 2);
    assert_memory_equal(a, S(1, 7), 16);
    assert_true(kn_shape_broadcast(&ndim, a, 1, S(7)));
    assert_false(kn_shape_broadcast(&ndim, a, 1, S(6)));
    assert_memory_equal(a, S(1, 7), 16);
}

/* As many axes as there may be, and one more. */
static void most_axes(void **state)
{
    int64_t a[KILN_MAX_NDIM] = {2}, ones[KILN_MAX_NDIM + 1];
    int ndim = 1;
    (void)state;
    for (int k = 0; k <= KILN_MAX_NDIM; k++)
        ones[k] = 1;
    assert_false(kn_shape_broadcast(&ndim, a, KILN_MAX_NDIM + 1, ones));
    assert_int_equal(ndim, 1);
    assert_true(kn_shape_broadcast(&ndim, a, KILN_MAX_NDIM, ones));
    assert_int_equal(ndim, KILN_MAX_NDIM);
    assert_int_equal(a[0], 1);
    assert_int_equal(a[KILN_MAX_NDIM - 1], 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),      cmocka_unit_test(strides_of_both_orders),
        cmocka_unit_test(contiguity), cmocka_unit_test(byte_ranges),
        cmocka_unit_test(formats),    cmocka_unit_test(broadcasting),
        cmocka_unit_test(most_axes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
