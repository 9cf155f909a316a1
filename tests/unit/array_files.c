/* Files of arrays by their names: what they are by their first bytes and by their suffixes, pictures, and
 * files that are not as they should be. */
#include <kiln/array.h>
#include "base/os.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ok.h"

#define REFUSED(call, status, message)                                                                       \
    do {                                                                                                     \
        assert_int_equal((call), status);                                                                    \
        assert_string_equal(kiln_error_message(), message);                                                  \
    } while (0)

static char folder[256], path[512];

static int make_folder(void **state)
{
    (void)state;
    return kn_os_make_temporary_folder(folder, sizeof folder);
}

static int remove_folder(void **state)
{
    (void)state;
    kn_os_remove_folder(folder);
    return 0;
}

static const char *in_folder(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static kiln_array *of(const void *data, kiln_dtype dtype, int ndim, const int64_t *shape)
{
    kiln_array *a = NULL;
    OK(kiln_array_from_host(&a, data, dtype, ndim, shape, KILN_DEVICE_HOST));
    return a;
}

/* Saved under a name and loaded again: the same dtype, shape and elements. */
static void comes_back(kiln_array *a, const char *name)
{
    kiln_array *b = NULL;
    unsigned char there[128], back[128];
    size_t size = kiln_array_nbytes(a);
    OK(kiln_array_save(a, in_folder(name)));
    OK(kiln_array_load(&b, path, KILN_DEVICE_HOST));
    assert_int_equal(kiln_array_dtype(b), kiln_array_dtype(a));
    assert_int_equal(kiln_array_ndim(b), kiln_array_ndim(a));
    assert_memory_equal(kiln_array_shape(b), kiln_array_shape(a), (size_t)kiln_array_ndim(a) * 8);
    OK(kiln_array_to_host(a, there, size));
    OK(kiln_array_to_host(b, back, size));
    assert_memory_equal(there, back, size);
    kiln_array_free(b);
}

static void files_come_back(void **state)
{
    const unsigned char bytes[] = {0, 1, 2, 127, 128, 255};
    const uint16_t wide[] = {0, 1, 256, 4660, 65534, 65535};
    const float numbers[] = {-1, 0.5f, 1e30f, 3, 4, 5};
    const struct {
        const void *data;
        kiln_dtype dtype;
        int ndim;
        int64_t shape[3];
        const char *name;
    } cases[] = {
        {bytes, KILN_UINT8, 2, {2, 3}, "gray.pgm"},       {bytes, KILN_UINT8, 3, {1, 2, 3}, "colour.ppm"},
        {bytes, KILN_UINT8, 3, {2, 1, 3}, "any.PNM"},     {wide, KILN_UINT16, 2, {3, 2}, "wide.pgm"},
        {wide, KILN_UINT16, 3, {2, 1, 3}, "wide.ppm"},    {numbers, KILN_FLOAT32, 2, {3, 2}, "gray.pfm"},
        {numbers, KILN_FLOAT32, 3, {2, 1, 3}, "rgb.pfm"}, {numbers, KILN_FLOAT32, 1, {6}, "numbers.npy"},
        {wide, KILN_INT16, 2, {6, 1}, "a.b.npy"},
    };
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        kiln_array *a = of(cases[c].data, cases[c].dtype, cases[c].ndim, cases[c].shape), *transposed = NULL;
        comes_back(a, cases[c].name);
        OK(kiln_array_index(&transposed, a, "::-1")); /* strided, too */
        comes_back(transposed, cases[c].name);
        kiln_array_free(transposed);
        kiln_array_free(a);
    }
}

/* One channel is gray; a picture's suffix does not matter to who reads it. */
static void first_bytes_say_what_it_is(void **state)
{
    const unsigned char bytes[] = {7, 8};
    const int64_t shape[] = {1, 2, 1};
    kiln_array *a = of(bytes, KILN_UINT8, 3, shape), *b = NULL;
    void *file = NULL;
    size_t size = 0;
    (void)state;
    OK(kiln_array_save_bytes(&file, &size, a, ".ppm"));
    assert_int_equal(size, 13);
    assert_memory_equal(file, "P5\n2 1\n255\n\7\10", 13);
    OK(kn_os_write_file(in_folder("picture.npy"), file, size));
    kiln_free(file);
    OK(kiln_array_load(&b, path, KILN_DEVICE_HOST));
    assert_int_equal(kiln_array_ndim(b), 2);
    kiln_array_free(b);
    b = NULL;
    OK(kiln_array_load_bytes(&b, "P3 # in colour\n1 1 9\n1 2 9", 26, KILN_DEVICE_HOST));
    assert_int_equal(kiln_array_ndim(b), 3);
    kiln_array_free(b);
    b = NULL;
    OK(kiln_array_load_bytes(&b, "P2 2 1 300 7 300", 16, KILN_DEVICE_HOST));
    assert_int_equal(kiln_array_dtype(b), KILN_UINT16);
    kiln_array_free(b);
    kiln_array_free(a);
}

static void damaged_files(void **state)
{
    const struct {
        const char *file;
        const char *message;
    } cases[] = {
        {"", "it begins as no file of .npy, .pgm, .ppm, .pnm or .pfm does"},
        {"GIF89a", "it begins as no file of .npy, .pgm, .ppm, .pnm or .pfm does"},
        {"P5\n2 2\n255\nabc", "the picture is cut short: 4 bytes should be there, but there are 3"},
        {"P5\n2 x\n255\nabcd", "the picture is damaged: its header has no width, height and greatest number"},
        {"P5\n2 2\n65536\nabcd",
         "the picture is damaged: its header has no width, height and greatest number"},
        {"P5\n0 2\n255\n", "the picture is damaged: its header has no width, height and greatest number"},
        {"P2\n2 1\n9\n1 10", "the picture is damaged: one of its numbers is none, or above its greatest"},
        {"P2\n1 1\n9\n-1", "the picture is damaged: one of its numbers is none, or above its greatest"},
        {"P2\n1048576 1048576\n9\n1", "the picture is damaged: it has fewer numbers than elements"},
        {"Pf\n1 1\n0\nabcd", "the picture is damaged: its header has no width, height and scale"},
        {"PF\n1 1\n-1\nabcdefgh", "the picture is cut short: 12 bytes should be there, but there are 8"},
    };
    kiln_array *a = NULL;
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        REFUSED(kiln_array_load_bytes(&a, cases[c].file, strlen(cases[c].file), KILN_DEVICE_HOST),
                KILN_ERROR_FORMAT, cases[c].message);
    assert_null(a);
    char expected[700];
    OK(kn_os_write_file(in_folder("cut.pgm"), "P5 9 9 255 ", 11));
    snprintf(expected, sizeof expected,
             "%s: the picture is cut short: 81 bytes should be there, but there are 0", path);
    REFUSED(kiln_array_load(&a, path, KILN_DEVICE_HOST), KILN_ERROR_FORMAT, expected);
    assert_int_equal(kiln_array_load(&a, in_folder("nothing.npy"), KILN_DEVICE_HOST), KILN_ERROR_NOT_FOUND);
    assert_int_equal(kiln_array_load_bytes(&a, "P5 1 1 255 a", 12, 12), KILN_ERROR_INVALID);
}

static void arrays_that_are_no_pictures(void **state)
{
    const float numbers[12] = {0};
    const int64_t flat[] = {12}, two[] = {3, 4}, channels[] = {3, 2, 2}, none[] = {0, 4};
    kiln_array *f = of(numbers, KILN_FLOAT32, 2, two), *line = of(numbers, KILN_UINT8, 1, flat),
               *pairs = of(numbers, KILN_UINT8, 3, channels),
               *fpairs = of(numbers, KILN_FLOAT32, 3, channels), *empty = of(numbers, KILN_UINT8, 2, none),
               *a = NULL;
    void *bytes = NULL;
    size_t size = 0;
    (void)state;
    static const char shapes[] =
        "a picture of this format is (height, width) or (height, width, 3), and the array is neither";
    REFUSED(kiln_array_save_bytes(&bytes, &size, f, ".pgm"), KILN_ERROR_TYPE,
            "pictures of this format are uint8 or uint16, and the array is float32: cast it, as in "
            "clip(x * 255, 0, 255).astype(uint8)");
    REFUSED(kiln_array_save_bytes(&bytes, &size, line, ".pfm"), KILN_ERROR_TYPE,
            "pictures of this format are float32, and the array is uint8: cast it, as in x.astype(float32)");
    REFUSED(kiln_array_save_bytes(&bytes, &size, line, ".pgm"), KILN_ERROR_SHAPE, shapes);
    REFUSED(kiln_array_save_bytes(&bytes, &size, pairs, ".ppm"), KILN_ERROR_SHAPE, shapes);
    REFUSED(kiln_array_save_bytes(&bytes, &size, fpairs, ".pfm"), KILN_ERROR_SHAPE, shapes);
    REFUSED(kiln_array_save_bytes(&bytes, &size, empty, ".pgm"), KILN_ERROR_SHAPE,
            "a picture has 1 to 1048576 rows and columns, and the array has others");
    REFUSED(kiln_array_save_bytes(&bytes, &size, f, "npy"), KILN_ERROR_INVALID,
            "'npy' is no suffix of what can be written; .npy, .pgm, .ppm, .pnm or .pfm was expected");
    REFUSED(kiln_array_save(f, "folder.npy/file"), KILN_ERROR_INVALID,
            "folder.npy/file: '' is no suffix of what can be written; .npy, .pgm, .ppm, .pnm or .pfm was "
            "expected");
    REFUSED(kiln_array_save(f, "x.jpg"), KILN_ERROR_INVALID,
            "x.jpg: '.jpg' is no suffix of what can be written; .npy, .pgm, .ppm, .pnm or .pfm was expected");
    assert_int_equal(kiln_array_save(f, "/nonexistent/x.npy"), KILN_ERROR_NOT_FOUND);
    REFUSED(kiln_array_save(f, NULL), KILN_ERROR_INVALID, "kiln_array_save: path is NULL");
    REFUSED(kiln_array_save(NULL, "x.npy"), KILN_ERROR_INVALID, "kiln_array_save: array is NULL");
    REFUSED(kiln_array_save_bytes(&bytes, &size, NULL, ".npy"), KILN_ERROR_INVALID,
            "kiln_array_save_bytes: array is NULL");
    REFUSED(kiln_array_save_bytes(NULL, &size, f, ".npy"), KILN_ERROR_INVALID,
            "kiln_array_save_bytes: out is NULL");
    REFUSED(kiln_array_save_bytes(&bytes, NULL, f, ".npy"), KILN_ERROR_INVALID,
            "kiln_array_save_bytes: size is NULL");
    REFUSED(kiln_array_save_bytes(&bytes, &size, f, NULL), KILN_ERROR_INVALID,
            "kiln_array_save_bytes: suffix is NULL");
    REFUSED(kiln_array_load(NULL, "x.npy", KILN_DEVICE_HOST), KILN_ERROR_INVALID,
            "kiln_array_load: out is NULL");
    REFUSED(kiln_array_load(&a, NULL, KILN_DEVICE_HOST), KILN_ERROR_INVALID, "kiln_array_load: path is NULL");
    REFUSED(kiln_array_load_bytes(NULL, "", 0, KILN_DEVICE_HOST), KILN_ERROR_INVALID,
            "kiln_array_load_bytes: out is NULL");
    REFUSED(kiln_array_load_bytes(&a, NULL, 0, KILN_DEVICE_HOST), KILN_ERROR_INVALID,
            "kiln_array_load_bytes: data is NULL");
    assert_null(bytes);
    kiln_array_free(f);
    kiln_array_free(line);
    kiln_array_free(pairs);
    kiln_array_free(fpairs);
    kiln_array_free(empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_come_back),
        cmocka_unit_test(first_bytes_say_what_it_is),
        cmocka_unit_test(damaged_files),
        cmocka_unit_test(arrays_that_are_no_pictures),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
