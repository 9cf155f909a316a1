/* Views and indices against what Python gives. */
#include "array/array.h"
#include "base/str.h"
#include "base/alloc.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define S(...) ((const int64_t[]){__VA_ARGS__})

/* 0, 1, 2, ... in the shape. */
static kiln_array *counted(int ndim, const int64_t *shape)
{
    kiln_array *flat = NULL, *a = NULL;
    int64_t size = 1;
    for (int k = 0; k < ndim; k++)
        size *= shape[k];
    assert_int_equal(kiln_array_arange(&flat, 0, (double)size, 1, KILN_INT32, KILN_DEVICE_HOST), KILN_OK);
    assert_int_equal(kiln_array_reshape(&a, flat, ndim, shape), KILN_OK);
    kiln_array_free(flat);
    return a;
}

/* "(2, 3): 0 1 2 3 4 5" */
static void describe(char *out, size_t size, kiln_array *a)
{
    int32_t values[256];
    kn_str s = KN_STR_INIT;
    assert_int_equal(kiln_array_to_host(a, values, kiln_array_nbytes(a)), KILN_OK);
    kn_str_append(&s, "(");
    for (int k = 0; k < a->ndim; k++)
        kn_str_printf(&s, k ? ", %d" : "%d", (int)a->shape[k]);
    kn_str_append(&s, "):");
    for (int64_t k = 0; k < a->size; k++)
        kn_str_printf(&s, " %d", values[k]);
    snprintf(out, size, "%s", kn_str_text(&s));
    kn_str_free(&s);
}

static void assert_array(kiln_array *a, const char *expected)
{
    char text[1024];
    describe(text, sizeof text, a);
    assert_string_equal(text, expected);
    kiln_array_free(a);
}

static void assert_index(kiln_array *a, const char *index, const char *expected)
{
    kiln_array *view = NULL;
    assert_int_equal(kiln_array_index(&view, a, index), KILN_OK);
    assert_ptr_equal(view->storage, a->storage);
    assert_array(view, expected);
}

static void indices_as_in_python(void **state)
{
    kiln_array *a = counted(2, S(3, 4));
    (void)state;
    assert_index(a, "1", "(4): 4 5 6 7");
    assert_index(a, "-1, -1", "(): 11");
    assert_index(a, "1:, ::-2", "(2, 2): 7 5 11 9");
    assert_index(a, "..., 0", "(3): 0 4 8");
    assert_index(a, "...", "(3, 4): 0 1 2 3 4 5 6 7 8 9 10 11");
    assert_index(a, "0, None, 1:3", "(1, 2): 1 2");
    assert_index(a, " newaxis , 2 , ... , None, ", "(1, 4, 1): 8 9 10 11");
    assert_index(a, "::-1, 0", "(3): 8 4 0");
    assert_index(a, "5:, 0", "(0):");
    assert_index(a, "-99:99, -1:-3:-1", "(3, 2): 3 2 7 6 11 10");
    assert_index(a, "None:None:None, 1_0:0x1:-0b1", "(3, 2): 3 2 7 6 11 10");
    assert_index(a, "-0, - - 1", "(): 1");
    assert_index(a, "2:1, 3:0:-99999999999999999999", "(0, 1):");
    assert_index(a, ":99999999999999999999999:9223372036854775807", "(1, 4): 0 1 2 3");
    assert_index(a, "1:-9223372036854775808:-1, 0", "(2): 4 0");
    assert_index(a, "0,+00", "(): 0");
    assert_index(a, "", "(3, 4): 0 1 2 3 4 5 6 7 8 9 10 11");
    assert_index(a, " ", "(3, 4): 0 1 2 3 4 5 6 7 8 9 10 11");
    kiln_array_free(a);
}

static void assert_refuses(kiln_array *a, const char *index, kiln_status status, const char *message)
{
    kiln_array *view = NULL;
    assert_int_equal(kiln_array_index(&view, a, index), status);
    assert_string_equal(kiln_error_message(), message);
    assert_null(view);
}

static void bad_indices_have_a_caret(void **state)
{
    kiln_array *a = counted(2, S(3, 4));
    (void)state;
    assert_refuses(a, "1, x", KILN_ERROR_SYNTAX,
                   "index: expected an integer, a slice, None or '...'\n  1, x\n     ^");
    assert_refuses(a, "..., ...", KILN_ERROR_SYNTAX,
                   "index: there can be one ellipsis only\n  ..., ...\n       ^~~");
    assert_refuses(a, "1 2", KILN_ERROR_SYNTAX, "index: expected ','\n  1 2\n    ^");
    assert_refuses(a, "1:2:3:4", KILN_ERROR_SYNTAX, "index: expected ','\n  1:2:3:4\n       ^");
    assert_refuses(a, "::0", KILN_ERROR_SYNTAX, "index: the step of a slice is 0\n  ::0\n  ^~~");
    assert_refuses(a, ":1.5", KILN_ERROR_SYNTAX, "index: expected an integer\n  :1.5\n   ^~");
    assert_refuses(a, ":01", KILN_ERROR_SYNTAX, "index: an integer does not begin with 0\n  :01\n   ^~");
    assert_refuses(a, "::1__0", KILN_ERROR_SYNTAX, "index: expected an integer\n  ::1__0\n    ^~~");
    assert_refuses(a, "01:", KILN_ERROR_SYNTAX, "index: an integer does not begin with 0\n  01:\n  ^~");
    assert_refuses(a, "1.5", KILN_ERROR_SYNTAX, "index: expected an integer\n  1.5\n  ^~");
    assert_refuses(a, "01", KILN_ERROR_SYNTAX, "index: an integer does not begin with 0\n  01\n  ^~");
    assert_refuses(a, "1__0", KILN_ERROR_SYNTAX, "index: expected an integer\n  1__0\n  ^~~");
    assert_refuses(a, "0x", KILN_ERROR_SYNTAX, "index: expected an integer\n  0x\n  ^~");
    assert_refuses(a, "-", KILN_ERROR_SYNTAX, "index: expected an integer\n  -\n   ^");
    assert_refuses(a, "0, 4", KILN_ERROR_SHAPE,
                   "index: 4 is out of range for axis 1 of extent 4\n  0, 4\n     ^");
    assert_refuses(a, "-4", KILN_ERROR_SHAPE, "index: -4 is out of range for axis 0 of extent 3\n  -4\n  ^~");
    assert_refuses(
        a, "9999999999999999999999", KILN_ERROR_SHAPE,
        "index: 9999999999999999999999 is out of range for axis 0 of extent 3\n  9999999999999999999999\n"
        "  ^~~~~~~~~~~~~~~~~~~~~~");
    assert_refuses(a, "0, 0, 0", KILN_ERROR_SHAPE,
                   "index: '0, 0, 0' has 3 indices, but the array has 2 axes");
    kiln_array_free(a);
}

static void axes_have_a_limit(void **state)
{
    char index[64 * 6] = "";
    kiln_array *a = counted(1, S(3)), *view = NULL;
    (void)state;
    for (int k = 0; k < 63; k++)
        strcat(index, k ? ",None" : "None");
    assert_int_equal(kiln_array_index(&view, a, index), KILN_OK);
    assert_int_equal(view->ndim, 64);
    kiln_array *more = NULL;
    assert_int_equal(kiln_array_expand_dims(&more, view, 0), KILN_ERROR_SHAPE);
    assert_int_equal(kiln_array_index(&more, view, "None"), KILN_ERROR_SHAPE);
    kiln_array *flat = NULL;
    assert_int_equal(kiln_array_squeeze(&flat, view, KILN_ALL_AXES), KILN_OK);
    assert_array(flat, "(3): 0 1 2");
    kiln_array_free(view);
    kiln_array_free(a);
}

static void slices_and_selections(void **state)
{
    kiln_array *a = counted(2, S(3, 4)), *v = NULL;
    (void)state;
    assert_int_equal(kiln_array_slice(&v, a, -1, KILN_SLICE_NONE, KILN_SLICE_NONE, -3), KILN_OK);
    assert_array(v, "(3, 2): 3 0 7 4 11 8");
    assert_int_equal(kiln_array_slice(&v, a, 0, 1, KILN_SLICE_NONE, KILN_SLICE_NONE), KILN_OK);
    assert_array(v, "(2, 4): 4 5 6 7 8 9 10 11");
    assert_int_equal(kiln_array_slice(&v, a, 0, INT64_MAX, -INT64_MAX, -INT64_MAX), KILN_OK);
    assert_array(v, "(1, 4): 8 9 10 11");
    assert_int_equal(kiln_array_select(&v, a, 1, -4), KILN_OK);
    assert_array(v, "(3): 0 4 8");
    v = NULL;
    assert_int_equal(kiln_array_select(&v, a, 1, 4), KILN_ERROR_SHAPE);
    assert_int_equal(kiln_array_select(&v, a, 2, 0), KILN_ERROR_SHAPE);
    assert_int_equal(kiln_array_slice(&v, a, 0, 0, 1, 0), KILN_ERROR_INVALID);
    assert_int_equal(kiln_array_slice(&v, NULL, 0, 0, 1, 1), KILN_ERROR_INVALID);
    assert_null(v);
    kiln_array_free(a);
}

/* assert_array frees a view. */
static void parts_of_an_axis(void **state)
{
    kiln_array *a = counted(2, S(2, 5)), *v[7] = {NULL};
    (void)state;
    assert_int_equal(kiln_array_split(v, 3, a, -1, NULL), KILN_OK);
    assert_array(v[0], "(2, 2): 0 1 5 6");
    assert_array(v[1], "(2, 2): 2 3 7 8");
    assert_array(v[2], "(2, 1): 4 9");
    assert_int_equal(kiln_split(v, 5, a, 1, NULL), KILN_OK);
    for (int k = 0; k < 5; k++) {
        assert_int_equal(kiln_array_shape(v[k])[1], 1);
        kiln_array_free(v[k]);
    }
    assert_int_equal(kiln_split(v, 4, a, 1, S(1, -2, 2)), KILN_OK); /* they may go back, as slices do */
    assert_array(v[0], "(2, 1): 0 5");
    assert_array(v[1], "(2, 2): 1 2 6 7");
    assert_array(v[2], "(2, 0):");
    assert_array(v[3], "(2, 3): 2 3 4 7 8 9");
    assert_int_equal(kiln_array_split(v, 7, a, 1, NULL), KILN_OK);
    for (int k = 0; k < 7; k++) {
        assert_int_equal(kiln_array_shape(v[k])[1], k < 5);
        kiln_array_free(v[k]);
        v[k] = NULL;
    }
    assert_int_equal(kiln_split(v, 2, a, 1, NULL), KILN_ERROR_SHAPE);
    assert_int_equal(kiln_split(v, 2, a, 2, NULL), KILN_ERROR_SHAPE);
    assert_int_equal(kiln_array_split(v, 0, a, 1, NULL), KILN_ERROR_INVALID);
    assert_int_equal(kiln_array_split(v, 2, NULL, 1, NULL), KILN_ERROR_INVALID);
    assert_int_equal(kiln_array_split(NULL, 2, a, 1, NULL), KILN_ERROR_INVALID);
    assert_null(v[0]);
    kiln_array_free(a);
}

static void transposes(void **state)
{
    kiln_array *a = counted(3, S(1, 2, 3)), *v = NULL;
    (void)state;
    assert_int_equal(kiln_array_transpose(&v, a, NULL), KILN_OK);
    assert_true(kiln_array_is_f_contiguous(v));
    assert_array(v, "(3, 2, 1): 0 3 1 4 2 5");
    assert_int_equal(kiln_array_transpose(&v, a, (const int[]){1, -1, 0}), KILN_OK);
    assert_array(v, "(2, 3, 1): 0 1 2 3 4 5");
    v = NULL;
    assert_int_equal(kiln_array_transpose(&v, a, (const int[]){0, 1, 1}), KILN_ERROR_SHAPE);
    assert_int_equal(kiln_array_transpose(&v, a, (const int[]){0, 1, 3}), KILN_ERROR_SHAPE);
    kiln_array_free(a);
}

static void assert_reshape(kiln_array *a, int ndim, const int64_t *shape, bool is_view, const char *expected)
{
    kiln_array *v = NULL;
    assert_int_equal(kiln_array_reshape(&v, a, ndim, shape), KILN_OK);
    assert_int_equal(v->storage == a->storage, is_view);
    assert_array(v, expected);
}

static void reshapes_are_views_where_they_can_be(void **state)
{
    kiln_array *a = counted(2, S(2, 6)), *t = NULL, *half = NULL, *bad = NULL;
    (void)state;
    assert_reshape(a, 3, S(2, -1, 2), true, "(2, 3, 2): 0 1 2 3 4 5 6 7 8 9 10 11");
    assert_int_equal(kiln_array_transpose(&t, a, NULL), KILN_OK);
    assert_reshape(t, 3, S(3, 2, 2), true, "(3, 2, 2): 0 6 1 7 2 8 3 9 4 10 5 11");
    assert_reshape(t, 4, S(1, 6, 1, 2), true, "(1, 6, 1, 2): 0 6 1 7 2 8 3 9 4 10 5 11");
    assert_reshape(t, 1, S(-1), false, "(12): 0 6 1 7 2 8 3 9 4 10 5 11");
    assert_int_equal(kiln_array_index(&half, a, ":, ::2"), KILN_OK);
    assert_reshape(half, 1, S(6), true, "(6): 0 2 4 6 8 10");
    assert_int_equal(kiln_array_reshape(&bad, a, 2, S(5, -1)), KILN_ERROR_SHAPE);
    assert_string_equal(
        kiln_error_message(),
        "kiln_array_reshape: an array of shape (2, 6) cannot become (5, -1): the number of elements has to "
        "stay as it is, and one extent may be -1 where the others divide it");
    assert_int_equal(kiln_array_reshape(&bad, a, 2, S(-1, -1)), KILN_ERROR_SHAPE);
    assert_int_equal(kiln_array_reshape(&bad, a, 1, S(13)), KILN_ERROR_SHAPE);
    assert_int_equal(kiln_array_reshape(&bad, a, 2, S(0, -1)), KILN_ERROR_SHAPE);
    assert_int_equal(kiln_array_reshape(&bad, a, 65, S(1)), KILN_ERROR_SHAPE);
    kiln_array_free(half);
    kiln_array_free(t);
    kiln_array_free(a);
}

static void empty_and_single_reshapes(void **state)
{
    kiln_array *a = counted(2, S(0, 4)), *b = counted(1, S(1)), *bad = NULL;
    (void)state;
    assert_reshape(a, 3, S(2, 0, 7), true, "(2, 0, 7):");
    assert_reshape(a, 2, S(4, -1), true, "(4, 0):");
    assert_reshape(b, 0, NULL, true, "(): 0");
    assert_reshape(b, 3, S(1, 1, 1), true, "(1, 1, 1): 0");
    assert_int_equal(kiln_array_reshape(&bad, a, 1, S(1)), KILN_ERROR_SHAPE);
    kiln_array_free(a);
    kiln_array_free(b);
}

static void broadcasts(void **state)
{
    kiln_array *a = counted(2, S(2, 1)), *v = NULL;
    (void)state;
    assert_int_equal(kiln_array_broadcast_to(&v, a, 3, S(2, 2, 3)), KILN_OK);
    assert_true(kiln_array_is_read_only(v));
    assert_int_equal(v->strides[0], 0);
    assert_array(v, "(2, 2, 3): 0 0 0 1 1 1 0 0 0 1 1 1");
    assert_int_equal(kiln_array_broadcast_to(&v, a, 1, S(2)), KILN_ERROR_SHAPE);
    assert_int_equal(kiln_array_broadcast_to(&v, a, 2, S(3, 1)), KILN_ERROR_SHAPE);
    assert_string_equal(
        kiln_error_message(),
        "kiln_array_broadcast_to: an array of shape (2, 1) cannot become (3, 1): counted from the last "
        "axis, each extent has to be that of the array, which may be 1 instead");
    assert_int_equal(kiln_array_broadcast_to(&v, a, 2, S(2, 0)), KILN_OK);
    assert_array(v, "(2, 0):");
    kiln_array_free(a);
}

static void strides_of_ones_own(void **state)
{
    kiln_array *a = counted(2, S(3, 4)), *part = NULL, *v = NULL;
    const int64_t item = (int64_t)kiln_dtype_size(kiln_array_dtype(a));
    (void)state;
    assert_int_equal(kiln_array_as_strided(&v, a, 2, S(5, 2), S(2 * item, item)), KILN_OK);
    assert_false(kiln_array_is_read_only(v));
    assert_array(v, "(5, 2): 0 1 2 3 4 5 6 7 8 9");
    assert_int_equal(kiln_array_as_strided(&v, a, 2, S(3, 3), S(item, item)), KILN_OK);
    assert_true(kiln_array_is_read_only(v));
    assert_array(v, "(3, 3): 0 1 2 1 2 3 2 3 4");
    assert_int_equal(kiln_array_slice(&part, a, 0, 1, 3, 1), KILN_OK);
    assert_int_equal(kiln_array_as_strided(&v, part, 1, S(5), S(-item)), KILN_OK);
    assert_array(v, "(5): 4 3 2 1 0");
    assert_int_equal(kiln_array_as_strided(&v, part, 1, S(0), S(item << 40)), KILN_OK);
    assert_array(v, "(0):");
    assert_int_equal(kiln_array_as_strided(&v, part, 1, S(6), S(-item)), KILN_ERROR_INVALID);
    assert_true(strstr(kiln_error_message(), "elements would lie in the bytes from") != NULL);
    assert_int_equal(kiln_array_as_strided(&v, part, 1, S(2), S(9 * item)), KILN_ERROR_INVALID);
    assert_int_equal(kiln_array_as_strided(&v, a, 1, S(INT64_MAX / 32), S(INT64_MAX / 2)),
                     KILN_ERROR_INVALID);
    assert_true(strstr(kiln_error_message(), "strides lead beyond every memory") != NULL);
    assert_int_equal(kiln_array_as_strided(&v, a, 1, S(2), NULL), KILN_ERROR_INVALID);
    assert_int_equal(kiln_array_as_strided(NULL, a, 1, S(2), S(1)), KILN_ERROR_INVALID);
    kiln_array_free(part);
    kiln_array_free(a);
}

static void axes_come_and_go(void **state)
{
    kiln_array *a = counted(1, S(2)), *v = NULL, *w = NULL;
    (void)state;
    assert_int_equal(kiln_array_expand_dims(&v, a, -1), KILN_OK);
    assert_int_equal(kiln_array_expand_dims(&w, v, 0), KILN_OK);
    kiln_array_free(v);
    assert_int_equal(kiln_array_squeeze(&v, w, -1), KILN_OK);
    assert_array(v, "(1, 2): 0 1");
    assert_int_equal(kiln_array_squeeze(&v, w, 1), KILN_ERROR_SHAPE);
    assert_string_equal(kiln_error_message(), "kiln_array_squeeze: axis 1 has extent 2, not 1");
    assert_int_equal(kiln_array_expand_dims(&v, a, 2), KILN_ERROR_SHAPE);
    assert_string_equal(kiln_error_message(),
                        "kiln_array_expand_dims: axis 2 is out of range; -2 to 1 were expected");
    kiln_array_free(w);
    kiln_array_free(a);
}

/* Nothing is dropped of what has no axes, as in NumPy. */
static void squeezes_without_axes(void **state)
{
    static const int axes[] = {KILN_ALL_AXES, 0, -1};
    kiln_array *one = counted(1, S(1)), *dot = NULL, *v = NULL;
    (void)state;
    assert_int_equal(kiln_array_select(&dot, one, 0, 0), KILN_OK);
    for (int k = 0; k < 3; ++k) {
        assert_int_equal(kiln_array_squeeze(&v, dot, axes[k]), KILN_OK);
        assert_array(v, "(): 0");
    }
    assert_int_equal(kiln_array_squeeze(&v, dot, 1), KILN_ERROR_SHAPE);
    assert_string_equal(kiln_error_message(), "kiln_array_squeeze: axis 1 was given, but there are no axes");
    kiln_array_free(dot);
    kiln_array_free(one);
}

static void placeholders_have_views_but_no_data(void **state)
{
    kiln_array *p = NULL, *v = NULL, *none = NULL;
    char byte;
    (void)state;
    assert_int_equal(kn_array_placeholder(&p, KILN_FLOAT32, 2, S(3, 4)), KILN_OK);
    assert_int_equal(kiln_array_index(&v, p, "::-1, 2"), KILN_OK);
    assert_int_equal(v->shape[0], 3);
    assert_int_equal(kiln_array_to_host(v, &byte, 12), KILN_ERROR_INVALID);
    assert_int_equal(kiln_array_copy(&none, v), KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "placeholder"));
    kiln_array_free(v);
    kiln_array_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indices_as_in_python),
        cmocka_unit_test(bad_indices_have_a_caret),
        cmocka_unit_test(axes_have_a_limit),
        cmocka_unit_test(slices_and_selections),
        cmocka_unit_test(parts_of_an_axis),
        cmocka_unit_test(transposes),
        cmocka_unit_test(reshapes_are_views_where_they_can_be),
        cmocka_unit_test(empty_and_single_reshapes),
        cmocka_unit_test(broadcasts),
        cmocka_unit_test(strides_of_ones_own),
        cmocka_unit_test(axes_come_and_go),
        cmocka_unit_test(squeezes_without_axes),
        cmocka_unit_test(placeholders_have_views_but_no_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
