/* Arrays like other ones, evenly spaced numbers, assignments, and single elements; kernels remembered by
 * their texts. */
#include <kiln/kiln.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ok.h"

#define REFUSED(call, status, message)                                                                       \
    do {                                                                                                     \
        assert_int_equal((call), status);                                                                    \
        assert_string_equal(kiln_error_message(), message);                                                  \
    } while (0)

static kiln_array *counted(kiln_dtype dtype, int rows, int columns)
{
    const int64_t shape[] = {rows, columns};
    kiln_array *flat = NULL, *a = NULL;
    OK(kiln_array_arange(&flat, 0, rows * columns, 1, dtype, KILN_DEVICE_HOST));
    OK(kiln_array_reshape(&a, flat, 2, shape));
    kiln_array_free(flat);
    return a;
}

static void assert_text(kiln_array *a, const char *expected)
{
    char *text = NULL;
    OK(kiln_array_to_string(&text, a, NULL));
    assert_string_equal(text, expected);
    kiln_free(text);
}

static void versions_agree(void **state)
{
    char text[32];
    (void)state;
    int number = kiln_version_number();
    assert_int_equal(number, KILN_VERSION_NUMBER);
    snprintf(text, sizeof text, "%d.%d.%d", number / 10000, number / 100 % 100, number % 100);
    assert_string_equal(text, kiln_version());
    kiln_free(NULL);
}

static void shapes_in_place(void **state)
{
    kiln_array *a = NULL;
    (void)state;
    OK(kiln_array_zeros(&a, KILN_INT16, KILN_SHAPE(2, 3), KILN_DEVICE_HOST));
    assert_text(a, "[[0 0 0]\n [0 0 0]]");
    kiln_array_free(a);
}

static void like_another(void **state)
{
    const float seven = 7;
    kiln_array *model = counted(KILN_FLOAT32, 2, 2), *transposed = NULL, *a = NULL;
    (void)state;
    OK(kiln_array_transpose(&transposed, model, NULL));
    OK(kiln_array_empty_like(&a, transposed));
    assert_true(kiln_array_is_c_contiguous(a) && kiln_array_dtype(a) == KILN_FLOAT32);
    assert_int_equal(kiln_array_size(a), 4);
    kiln_array_free(a);
    OK(kiln_array_zeros_like(&a, model));
    assert_text(a, "[[0. 0.]\n [0. 0.]]");
    kiln_array_free(a);
    OK(kiln_array_ones_like(&a, model));
    assert_text(a, "[[1. 1.]\n [1. 1.]]");
    kiln_array_free(a);
    OK(kiln_array_full_like(&a, model, &seven));
    assert_text(a, "[[7. 7.]\n [7. 7.]]");
    kiln_array_free(a);
    REFUSED(kiln_array_empty_like(NULL, model), KILN_ERROR_INVALID, "kiln_array_empty_like: out is NULL");
    REFUSED(kiln_array_zeros_like(&a, NULL), KILN_ERROR_INVALID, "kiln_array_zeros_like: array is NULL");
    REFUSED(kiln_array_ones_like(&a, NULL), KILN_ERROR_INVALID, "kiln_array_ones_like: array is NULL");
    REFUSED(kiln_array_full_like(&a, NULL, &seven), KILN_ERROR_INVALID,
            "kiln_array_full_like: array is NULL");
    kiln_array_free(transposed);
    kiln_array_free(model);
}

static void evenly_spaced(void **state)
{
    kiln_array *a = NULL;
    (void)state;
    OK(kiln_array_linspace(&a, 2, 3, 5, KILN_FLOAT64, KILN_DEVICE_HOST));
    assert_text(a, "[2.   2.25 2.5  2.75 3.  ]");
    kiln_array_free(a);
    OK(kiln_array_linspace(&a, 0, 5e-324, 5, KILN_FLOAT64, KILN_DEVICE_HOST)); /* no step is so small */
    double tiny[5]; /* NumPy's: k / 4 of it, rounded */
    OK(kiln_array_to_host(a, tiny, sizeof tiny));
    assert_true(tiny[0] == 0 && tiny[1] == 0 && tiny[2] == 0 && tiny[3] == 5e-324 && tiny[4] == 5e-324);
    kiln_array_free(a);
    OK(kiln_array_linspace(&a, -1, 1.5, 4, KILN_INT8, KILN_DEVICE_HOST)); /* -1, -0.17, 0.67, 1.5 */
    assert_text(a, "[-1 -1  0  1]");
    kiln_array_free(a);
    OK(kiln_array_linspace(&a, 4, 9, 1, KILN_FLOAT16, KILN_DEVICE_HOST));
    assert_text(a, "[4.]");
    kiln_array_free(a);
    OK(kiln_array_linspace(&a, 4, 9, 0, KILN_FLOAT32, KILN_DEVICE_HOST));
    assert_int_equal(kiln_array_size(a), 0);
    kiln_array_free(a);
    REFUSED(kiln_array_linspace(NULL, 0, 1, 2, KILN_FLOAT32, KILN_DEVICE_HOST), KILN_ERROR_INVALID,
            "kiln_array_linspace: out is NULL");
    REFUSED(kiln_array_linspace(&a, 0, 300, 2, KILN_UINT8, KILN_DEVICE_HOST), KILN_ERROR_TYPE,
            "kiln_array_linspace: uint8 does not hold 300");
    assert_int_equal(kiln_array_linspace(&a, 0, 1, -1, KILN_FLOAT32, KILN_DEVICE_HOST), KILN_ERROR_SHAPE);
}

static void assignments(void **state)
{
    kiln_array *to = counted(KILN_FLOAT32, 2, 3), *row = NULL, *part = NULL, *other = NULL;
    (void)state;
    OK(kiln_array_linspace(&row, 10, 30, 3, KILN_FLOAT32, KILN_DEVICE_HOST));
    OK(kiln_array_assign(to, row)); /* a row for each */
    assert_text(to, "[[10. 20. 30.]\n [10. 20. 30.]]");
    OK(kiln_array_index(&part, to, ":, 1:"));
    OK(kiln_array_index(&other, to, ":, :2"));
    OK(kiln_array_assign(part, other)); /* they overlap */
    assert_text(to, "[[10. 10. 20.]\n [10. 10. 20.]]");
    kiln_array_free(other);
    OK(kiln_array_linspace(&other, 1, 2, 2, KILN_INT64, KILN_DEVICE_HOST));
    OK(kiln_array_assign(part, other)); /* of another dtype */
    assert_text(to, "[[10.  1.  2.]\n [10.  1.  2.]]");
    REFUSED(kiln_array_assign(part, row), KILN_ERROR_SHAPE,
            "kiln_array_assign: kiln_array_broadcast_to: an array of shape (3,) cannot become (2, 2): "
            "counted from "
            "the last axis, each extent has to be that of the array, which may be 1 instead");
    REFUSED(kiln_array_assign(NULL, row), KILN_ERROR_INVALID, "kiln_array_assign: array is NULL");
    kiln_array_free(part);
    OK(kiln_array_broadcast_to(&part, row, KILN_SHAPE(2, 3)));
    assert_int_equal(kiln_array_assign(part, row), KILN_ERROR_INVALID); /* it is read-only */
    kiln_array_free(part);
    kiln_array_free(other);
    kiln_array_free(row);
    kiln_array_free(to);
}

static void single_elements(void **state)
{
    kiln_array *a = counted(KILN_UINT8, 2, 2), *one = NULL;
    double value = 0;
    (void)state;
    OK(kiln_array_index(&one, a, "1, 1"));
    OK(kiln_array_item(&value, one));
    assert_true(value == 3);
    REFUSED(kiln_array_item(NULL, one), KILN_ERROR_INVALID, "kiln_array_item: out is NULL");
    REFUSED(kiln_array_item(&value, a), KILN_ERROR_SHAPE,
            "kiln_array_item: an array of 4 elements was given; one was expected");
    kiln_array_free(one);
    OK(kiln_array_zeros(&one, KILN_COMPLEX64, 0, NULL, KILN_DEVICE_HOST));
    REFUSED(kiln_array_item(&value, one), KILN_ERROR_TYPE,
            "kiln_array_item: a complex number does not fit a double");
    kiln_array_free(one);
    kiln_array_free(a);
}

static void printing(void **state)
{
    kiln_array *a = counted(KILN_INT32, 1, 3);
    char name[] = "/tmp/kiln-print-XXXXXX", text[64] = "";
    (void)state;
    int file = mkstemp(name), before = dup(STDOUT_FILENO);
    fflush(stdout);
    dup2(file, STDOUT_FILENO);
    kiln_status status = kiln_array_print(a);
    dup2(before, STDOUT_FILENO);
    close(before);
    OK(status);
    assert_int_equal(pread(file, text, sizeof text - 1, 0), 10);
    assert_string_equal(text, "[[0 1 2]]\n");
    close(file);
    unlink(name);
    kiln_array_free(a);
}

static void kernels_by_their_texts(void **state)
{
    kiln_toolchain_info info = KILN_TOOLCHAIN_INFO_INIT;
    kiln_array *x = counted(KILN_FLOAT32, 1, 3), *y = NULL, *z = NULL;
    (void)state;
    if (kiln_toolchain_get_info("host", &info) != KILN_OK)
        skip();
    kiln_arg in[] = {kiln_arg_array(x), kiln_arg_float(0.5)};
    kiln_call_info call = KILN_CALL_INFO_INIT;
    OK(kiln_map(&y, 1, "T x, T s", "T y", "y = x - s", in, 2));
    assert_text(y, "[[-0.5  0.5  1.5]]");
    OK(kiln_map(&z, 1, "T x, T s", "T y", "y = x - s", in, 2));
    OK(kiln_kernel_last_call(&call));
    assert_int_equal(call.origin, KILN_ORIGIN_MEMORY);
    assert_text(z, "[[-0.5  0.5  1.5]]");
    kiln_array_free(z);
    z = NULL;
    OK(kiln_map(&z, 1, "T x, T s", "T y", "y = x + s", in, 2));
    assert_text(z, "[[0.5 1.5 2.5]]");
    assert_int_equal(kiln_map(&z, 1, "T x, T s", "T y", "y = (", in, 2), KILN_ERROR_SYNTAX);
    REFUSED(kiln_map(&z, 1, NULL, "T y", "y = 1", in, 0), KILN_ERROR_INVALID,
            "in_params is NULL; a string was expected");
    for (int k = 0; k < 1100; k++) { /* more than are remembered; each fails before it compiles */
        char body[32];
        snprintf(body, sizeof body, "y = x - s + %d", k);
        assert_int_equal(kiln_map(&z, 1, "T x, T s", "T y", body, in, 1), KILN_ERROR_INVALID);
    }
    kiln_array_free(z);
    kiln_array_free(y);
    kiln_array_free(x);
}

/* A kernel goes with its last reference. */
static void references_of_kernels(void **state)
{
    kiln_kernel *kernel = NULL;
    (void)state;
    OK(kiln_elementwise_create(&kernel, "T x", "T y", "y = x", "same", NULL));
    assert_ptr_equal(kiln_kernel_retain(kernel), kernel);
    kiln_kernel_free(kernel);
    assert_string_equal(kiln_kernel_name(kernel), "same");
    kiln_kernel_free(kernel);
    assert_null(kiln_kernel_retain(NULL));
    kiln_kernel_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_agree),
        cmocka_unit_test(shapes_in_place),
        cmocka_unit_test(like_another),
        cmocka_unit_test(evenly_spaced),
        cmocka_unit_test(assignments),
        cmocka_unit_test(single_elements),
        cmocka_unit_test(printing),
        cmocka_unit_test(kernels_by_their_texts),
        cmocka_unit_test(references_of_kernels),
    };
    setenv("KILN_CACHE", "off", 1);
    setenv("KILN_TARGET", "host", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
