/* .npy files: what NumPy writes, byte for byte, and files that are not as they should be. */
#include "array/array.h"
#include "base/alloc.h"
#include "base/os.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "ok.h"

#define S(...) ((const int64_t[]){__VA_ARGS__})

static char folder[256], path[512];

static int make_folder(void **state)
{
    (void)state;
    OK(kn_os_make_temporary_folder(folder, sizeof folder));
    snprintf(path, sizeof path, "%s/a.npy", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    kn_os_remove_folder(folder);
    return 0;
}

/* A file of the version with this header and data. */
static void write_file(int major, const char *header, const void *data, size_t size)
{
    char bytes[1024];
    size_t n = strlen(header), at = 0;
    const unsigned char prefix[] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', (unsigned char)major, 0, (unsigned char)n, (unsigned char)(n >> 8),
        0,    0};
    memcpy(bytes, prefix, sizeof prefix);
    at = major == 1 ? 10 : 12;
    memcpy(bytes + at, header, n);
    memcpy(bytes + at + n, data, size);
    OK(kn_os_write_file(path, bytes, at + n + size));
}

static void assert_refused(kiln_status status, const char *message)
{
    char expected[1024];
    kiln_array *a = NULL;
    assert_int_equal(kiln_array_load_npy(&a, path, KILN_DEVICE_HOST), status);
    snprintf(expected, sizeof expected, "%s: %s", path, message);
    assert_string_equal(kiln_error_message(), expected);
    assert_null(a);
}

static void all_versions_are_read(void **state)
{
    const float data[6] = {0, 1, 2, 3, 4, 5};
    float back[6];
    (void)state;
    for (int major = 1; major <= 3; major++) {
        kiln_array *a = NULL;
        write_file(major, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n", data,
                   sizeof data);
        OK(kiln_array_load_npy(&a, path, KILN_DEVICE_HOST));
        assert_int_equal(kiln_array_ndim(a), 2);
        assert_int_equal(kiln_array_shape(a)[1], 3);
        assert_true(kiln_array_is_c_contiguous(a));
        OK(kiln_array_to_host(a, back, sizeof back));
        assert_memory_equal(back, data, sizeof data);
        kiln_array_free(a);
    }
}

static void fortran_order_is_unchanged(void **state)
{
    const int16_t data[6] = {0, 1, 2, 3, 4, 5};
    int16_t back[6];
    kiln_array *a = NULL;
    kn_blob first = KN_BLOB_INIT, second = KN_BLOB_INIT;
    (void)state;
    write_file(1, "{\"shape\":(2L,3L),'fortran_order':True,'descr':'<i2'}", data, sizeof data);
    OK(kiln_array_load_npy(&a, path, KILN_DEVICE_HOST));
    assert_true(kiln_array_is_f_contiguous(a));
    OK(kiln_array_to_host(a, back, sizeof back));
    assert_memory_equal(back, ((const int16_t[]){0, 2, 4, 1, 3, 5}), sizeof back);
    OK(kiln_array_save_npy(a, path));
    kiln_array_free(a);
    OK(kn_os_read_file(&first, path));
    assert_non_null(strstr((char *)first.data + 10, "'fortran_order': True"));
    OK(kiln_array_load_npy(&a, path, KILN_DEVICE_HOST));
    OK(kiln_array_save_npy(a, path));
    OK(kn_os_read_file(&second, path));
    assert_int_equal(first.size, second.size);
    assert_memory_equal(first.data, second.data, first.size);
    kn_blob_free(&first);
    kn_blob_free(&second);
    kiln_array_free(a);
}

static void every_dtype_survives(void **state)
{
    (void)state;
    for (int d = KILN_BOOL; kiln_dtype_size((kiln_dtype)d) > 0; d++) {
        kiln_array *a = NULL, *b = NULL;
        OK(kiln_array_ones(&a, (kiln_dtype)d, 2, S(3, 2), KILN_DEVICE_HOST));
        OK(kiln_array_save_npy(a, path));
        OK(kiln_array_load_npy(&b, path, KILN_DEVICE_HOST));
        assert_int_equal(kiln_array_dtype(b), d);
        assert_memory_equal(kiln_array_data(a), kiln_array_data(b), kiln_array_nbytes(a));
        kiln_array_free(a);
        kiln_array_free(b);
    }
}

static void assert_shape_survives(int ndim, const int64_t *shape)
{
    kiln_array *a = NULL, *b = NULL;
    OK(kiln_array_zeros(&a, KILN_FLOAT64, ndim, shape, KILN_DEVICE_HOST));
    OK(kiln_array_save_npy(a, path));
    OK(kiln_array_load_npy(&b, path, KILN_DEVICE_HOST));
    assert_int_equal(kiln_array_ndim(b), ndim);
    for (int k = 0; k < ndim; k++)
        assert_int_equal(kiln_array_shape(b)[k], shape[k]);
    kiln_array_free(a);
    kiln_array_free(b);
}

static void odd_shapes_survive(void **state)
{
    (void)state;
    assert_shape_survives(0, NULL);
    assert_shape_survives(1, S(0));
    assert_shape_survives(3, S(2, 0, 3));
    assert_shape_survives(1, S(1));
}

/* The bytes that numpy.save(path, numpy.arange(3, dtype="u1")) wrote with NumPy 2. */
static void the_bytes_are_numpys(void **state)
{
    static const char expected[] =
        "\x93NUMPY\x01\x00v\x00{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }"
        "                                                            \n\x00\x01\x02";
    kiln_array *a = NULL;
    kn_blob file = KN_BLOB_INIT;
    (void)state;
    OK(kiln_array_arange(&a, 0, 3, 1, KILN_UINT8, KILN_DEVICE_HOST));
    OK(kiln_array_save_npy(a, path));
    OK(kn_os_read_file(&file, path));
    assert_int_equal(file.size, 131);
    assert_memory_equal(file.data, expected, 131);
    kn_blob_free(&file);
    kiln_array_free(a);
}

static void strided_views_are_written_in_c_order(void **state)
{
    kiln_array *a = NULL, *v = NULL, *b = NULL;
    int32_t back[2];
    (void)state;
    OK(kiln_array_arange(&a, 0, 4, 1, KILN_INT32, KILN_DEVICE_HOST));
    OK(kiln_array_index(&v, a, "::-2"));
    OK(kiln_array_save_npy(v, path));
    OK(kiln_array_load_npy(&b, path, KILN_DEVICE_HOST));
    OK(kiln_array_to_host(b, back, sizeof back));
    assert_true(back[0] == 3 && back[1] == 1);
    kiln_array_free(a);
    kiln_array_free(v);
    kiln_array_free(b);
}

static void dtypes_that_kiln_lacks(void **state)
{
    (void)state;
    write_file(1, "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n", "\0\0\0", 4);
    assert_refused(KILN_ERROR_TYPE, "dtype '|O' holds Python objects, which have no meaning here");
    write_file(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }\n", "\0\0\0", 4);
    assert_refused(KILN_ERROR_TYPE, "the dtype is structured, and one of its fields has to be named (to the "
                                    "command as FILE.npy:FIELD): 'a'");
    write_file(1, "{'descr': '<U5', 'fortran_order': False, 'shape': (1,), }\n", "\0\0\0", 4);
    assert_refused(
        KILN_ERROR_TYPE,
        "unknown dtype '<U5': expected one of bool, int8 to int64, uint8 to uint64, float16, bfloat16, "
        "float32, float64, complex64, complex128");
}

static void big_endian_numbers_are_swapped(void **state)
{
    const unsigned char floats[8] = {0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0};
    float back[2];
    kiln_array *a = NULL;
    (void)state;
    write_file(1, "{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }\n", floats, 8);
    OK(kiln_array_load_npy(&a, path, KILN_DEVICE_HOST));
    OK(kiln_array_to_host(a, back, sizeof back));
    assert_true(back[0] == 1 && back[1] == -2);
    kiln_array_free(a);
    write_file(1, "{'descr': '>c8', 'fortran_order': False, 'shape': (1,), }\n", floats, 8);
    OK(kiln_array_load_npy(&a, path, KILN_DEVICE_HOST));
    assert_int_equal(kiln_array_dtype(a), KILN_COMPLEX64);
    OK(kiln_array_to_host(a, back, sizeof back));
    assert_true(back[0] == 1 && back[1] == -2);
    kiln_array_free(a);
}

/* Loads a field of the file; NULL where it is refused. */
static kiln_array *load_field(const char *field)
{
    kn_blob file = KN_BLOB_INIT;
    kiln_array *a = NULL;
    OK(kn_os_read_file(&file, path));
    KILN_IGNORE(kiln_array_load_npy_bytes(&a, file.data, file.size, field, KILN_DEVICE_HOST));
    kn_blob_free(&file);
    return a;
}

static void fields_of_records(void **state)
{
    /* x, a label of 3 bytes, y of two big-endian numbers, and an inner record of 3 bytes */
    static const char header[] = "{'descr': [('x', '<f4'), ('label', '|S3'), (('title', 'y'), '>i2', (2,)), "
                                 "('inner', [('p', '|u1'), ('q', '<i2')])], 'fortran_order': False, "
                                 "'shape': (2,), }\n";
    static const unsigned char data[28] = {0, 0, 0x80, 0x3f, 'a', 'b', 'c', 0, 1, 0, 2, 9, 9, 9,
                                           0, 0, 0,    0x40, 'd', 'e', 'f', 0, 3, 1, 0, 9, 9, 9};
    float x[2];
    int16_t y[4];
    (void)state;
    write_file(1, header, data, sizeof data);
    kiln_array *a = load_field("x");
    assert_int_equal(kiln_array_ndim(a), 1);
    OK(kiln_array_to_host(a, x, sizeof x));
    assert_true(x[0] == 1 && x[1] == 2);
    kiln_array_free(a);
    a = load_field("y");
    assert_int_equal(kiln_array_ndim(a), 2);
    assert_int_equal(kiln_array_shape(a)[1], 2);
    OK(kiln_array_to_host(a, y, sizeof y));
    assert_true(y[0] == 1 && y[1] == 2 && y[2] == 3 && y[3] == 256);
    kiln_array_free(a);
    assert_null(load_field("z"));
    assert_int_equal(kiln_error_status(), KILN_ERROR_NOT_FOUND);
    assert_string_equal(kiln_error_message(),
                        "there is no field 'z'; the fields are 'x', 'label', 'y', 'inner'");
    assert_null(load_field("inner"));
    assert_string_equal(kiln_error_message(), "the field 'inner' has fields itself");
    write_file(1, header, data, sizeof data - 1);
    assert_null(load_field("x"));
    assert_string_equal(kiln_error_message(),
                        "truncated: 28 bytes of data should be there, but there are 27");
    write_file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n", "\0\0\0", 4);
    assert_null(load_field("x"));
    assert_string_equal(kiln_error_message(), "there is no field 'x'; the elements are numbers");
    assert_int_equal(kiln_array_load_npy_bytes(NULL, data, 1, NULL, KILN_DEVICE_HOST), KILN_ERROR_INVALID);
    assert_string_equal(kiln_error_message(), "kiln_array_load_npy_bytes: out is NULL");
}

static void bytes_are_those_of_the_file(void **state)
{
    const float data[3] = {1, 2, 3};
    kn_blob file = KN_BLOB_INIT;
    kiln_array *a = NULL;
    void *bytes = NULL;
    size_t size = 0;
    (void)state;
    OK(kiln_array_from_host(&a, data, KILN_FLOAT32, 1, S(3), KILN_DEVICE_HOST));
    OK(kiln_array_save_npy(a, path));
    OK(kiln_array_save_npy_bytes(&bytes, &size, a));
    OK(kn_os_read_file(&file, path));
    assert_int_equal(size, file.size);
    assert_memory_equal(bytes, file.data, size);
    assert_int_equal(kiln_array_save_npy_bytes(&bytes, NULL, a), KILN_ERROR_INVALID);
    assert_string_equal(kiln_error_message(), "kiln_array_save_npy_bytes: size is NULL");
    free(bytes);
    kn_blob_free(&file);
    kiln_array_free(a);
}

static void cut_files(void **state)
{
    kn_blob file = KN_BLOB_INIT;
    kiln_array *a = NULL;
    (void)state;
    write_file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", "\0\0\0\0\0\0\0", 8);
    assert_refused(KILN_ERROR_FORMAT, "truncated: 24 bytes of data should be there, but there are 8");
    OK(kiln_array_ones(&a, KILN_FLOAT32, 1, S(5), KILN_DEVICE_HOST));
    OK(kiln_array_save_npy(a, path));
    kiln_array_free(a);
    OK(kn_os_read_file(&file, path));
    for (size_t n = 0; n < file.size; n++) { /* cut anywhere: an error, never a crash */
        a = NULL;
        OK(kn_os_write_file(path, file.data, n));
        assert_int_equal(kiln_array_load_npy(&a, path, KILN_DEVICE_HOST), KILN_ERROR_FORMAT);
        assert_null(a);
    }
    kn_blob_free(&file);
}

static void damaged_headers(void **state)
{
    static const char *const headers[] = {
        "",
        "{",
        "}",
        "{}",
        "[]",
        "{'descr': '<f4'}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
        "{'descr': '<f4', 'descr': '<f4'}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr' '<f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}",
        "{'descr': 4, 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4",
    };
    (void)state;
    for (size_t k = 0; k < sizeof headers / sizeof headers[0]; k++) {
        kiln_array *a = NULL;
        write_file(1, headers[k], "\0\0\0", 4);
        assert_int_equal(kiln_array_load_npy(&a, path, KILN_DEVICE_HOST), KILN_ERROR_FORMAT);
    }
    OK(kn_os_write_file(path, "PK\3\4 and so on", 14));
    assert_refused(KILN_ERROR_FORMAT, "no .npy file: it does not begin with \\x93NUMPY");
    write_file(4, "{}", "", 0);
    assert_refused(KILN_ERROR_FORMAT, "version 4 of the .npy format; 1 to 3 are known");
    OK(kn_os_write_file(path, "\x93NUMPY\x02\x00\xff\xff\xff\xff{}", 14));
    assert_refused(KILN_ERROR_FORMAT, "the .npy header is 4294967295 bytes long; at most 65536 are read");
}

static void shapes_that_cannot_be(void **state)
{
    kiln_array *a = NULL;
    char header[512] = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
    (void)state;
    write_file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }\n", "", 0);
    assert_int_equal(kiln_array_load_npy(&a, path, KILN_DEVICE_HOST), KILN_ERROR_SHAPE);
    write_file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }\n", "", 0);
    assert_int_equal(kiln_array_load_npy(&a, path, KILN_DEVICE_HOST), KILN_ERROR_SHAPE);
    for (int k = 0; k < 65; k++)
        strcat(header, "1,");
    strcat(header, ")}");
    write_file(1, header, "\0\0\0", 4);
    assert_int_equal(kiln_array_load_npy(&a, path, KILN_DEVICE_HOST), KILN_ERROR_SHAPE);
}

static void files_that_are_not_there(void **state)
{
    kiln_array *a = NULL;
    char missing[600];
    (void)state;
    snprintf(missing, sizeof missing, "%s/none/b.npy", folder);
    assert_int_equal(kiln_array_load_npy(&a, missing, KILN_DEVICE_HOST), KILN_ERROR_NOT_FOUND);
    assert_non_null(strstr(kiln_error_message(), missing));
    OK(kiln_array_ones(&a, KILN_INT8, 0, NULL, KILN_DEVICE_HOST));
    assert_true(kiln_array_save_npy(a, missing) < 0);
    assert_non_null(strstr(kiln_error_message(), missing));
    assert_int_equal(kiln_array_save_npy(a, NULL), KILN_ERROR_INVALID);
    kiln_array_free(a);
}

/* A failed save leaves the old file as it was, and a failed load leaves nothing. */
static void every_allocation_may_fail(void **state)
{
    kiln_array *a = NULL, *b = NULL;
    (void)state;
    OK(kiln_array_ones(&a, KILN_FLOAT32, 1, S(5), KILN_DEVICE_HOST));
    OK(kiln_array_save_npy(a, path));
    kn_alloc_fail_at(0, 0);
    OK(kiln_array_save_npy(a, path));
    OK(kiln_array_load_npy(&b, path, KILN_DEVICE_HOST));
    unsigned long count = kn_alloc_fail_at(0, 0);
    kiln_array_free(b);
    assert_true(count >= 4);
    for (unsigned long n = 1; n <= count; n++) {
        b = NULL;
        kn_alloc_fail_at(n, 0);
        kiln_status status = kiln_array_save_npy(a, path);
        if (!status)
            status = kiln_array_load_npy(&b, path, KILN_DEVICE_HOST);
        kn_alloc_fail_at(0, 0);
        kiln_array_free(b);
        b = NULL;
        assert_int_equal(status, KILN_ERROR_MEMORY);
        OK(kiln_array_load_npy(&b, path, KILN_DEVICE_HOST));
        kiln_array_free(b);
    }
    kiln_array_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_versions_are_read),
        cmocka_unit_test(fortran_order_is_unchanged),
        cmocka_unit_test(every_dtype_survives),
        cmocka_unit_test(odd_shapes_survive),
        cmocka_unit_test(the_bytes_are_numpys),
        cmocka_unit_test(strided_views_are_written_in_c_order),
        cmocka_unit_test(dtypes_that_kiln_lacks),
        cmocka_unit_test(big_endian_numbers_are_swapped),
        cmocka_unit_test(fields_of_records),
        cmocka_unit_test(bytes_are_those_of_the_file),
        cmocka_unit_test(cut_files),
        cmocka_unit_test(damaged_headers),
        cmocka_unit_test(shapes_that_cannot_be),
        cmocka_unit_test(files_that_are_not_there),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
