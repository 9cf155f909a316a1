/* Printing against tests/data/printing.txt, which NumPy made. A path as the first argument takes the place of
 * that table. */
#include "array/array.h"
#include "base/alloc.h"
#include "base/str.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *table = KILN_SOURCE_DIR "/tests/data/printing.txt";

typedef struct print_case {
    char dtype[16], shape[64];
    kiln_print_options options;
    char *data;
} print_case;

static kiln_array *counted(kiln_dtype dtype, int ndim, const int64_t *shape, int64_t size)
{
    kiln_array *flat = NULL, *a = NULL;
    assert_int_equal(kiln_array_arange(&flat, 0, (double)size, 1, dtype, KILN_DEVICE_HOST), KILN_OK);
    assert_int_equal(kiln_array_reshape(&a, flat, ndim, shape), KILN_OK);
    kiln_array_free(flat);
    return a;
}

static kiln_array *from_hex(const print_case *c, kiln_dtype dtype, int ndim, const int64_t *shape)
{
    kiln_array *a = NULL;
    size_t size = strlen(c->data) / 2;
    unsigned char *bytes = malloc(size + 1);
    for (size_t k = 0; k < size; k++) {
        const char digits[3] = {c->data[2 * k], c->data[2 * k + 1], 0};
        bytes[k] = (unsigned char)strtoul(digits, NULL, 16);
    }
    assert_int_equal(kiln_array_from_host(&a, bytes, dtype, ndim, shape, KILN_DEVICE_HOST), KILN_OK);
    free(bytes);
    return a;
}

static kiln_array *array_of(const print_case *c)
{
    int64_t shape[8], size = 1;
    int ndim = 0;
    kiln_dtype dtype;
    assert_int_equal(kiln_dtype_from_name(&dtype, c->dtype), KILN_OK);
    for (const char *p = c->shape; *p && *p != '-'; p += strspn(p, "0123456789"), p += *p == ',') {
        shape[ndim] = atoll(p);
        size *= shape[ndim++];
    }
    return strcmp(c->data, "count") ? from_hex(c, dtype, ndim, shape) : counted(dtype, ndim, shape, size);
}

static void check_case(const print_case *c, const char *expected, int line)
{
    char *text = NULL;
    kiln_array *a = array_of(c);
    assert_int_equal(kiln_array_to_string(&text, a, &c->options), KILN_OK);
    if (strcmp(text, expected))
        fail_msg("printing.txt:%d: %s %s gives\n%s\ninstead of\n%s", line, c->dtype, c->shape, text,
                 expected);
    free(text);
    kiln_array_free(a);
}

static bool read_case(print_case *c, const char *line)
{
    int used = 0;
    c->options = (kiln_print_options)KILN_PRINT_OPTIONS_INIT;
    if (sscanf(line, "@ %15s %63s %d %d %d %d %n", c->dtype, c->shape, &c->options.precision,
               &c->options.threshold, &c->options.edge_items, &c->options.line_width, &used) != 6)
        return false;
    free(c->data);
    c->data = strdup(strcmp(line + used, "-") ? line + used : "");
    return true;
}

static void as_numpy_prints(void **state)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t n;
    int number = 0, begun = 0, count = 0;
    print_case c = {.data = NULL};
    kn_str expected = KN_STR_INIT;
    FILE *f = fopen(table, "r");
    (void)state;
    assert_non_null(f);
    while ((n = getline(&line, &capacity, f)) > 0) {
        number++;
        line[n - 1] = '\0';
        if (line[0] == '|')
            kn_str_printf(&expected, "%s%s", number > begun + 1 ? "\n" : "", line + 1);
        else if (line[0] == '@') {
            if (begun)
                check_case(&c, kn_str_text(&expected), begun);
            assert_true(read_case(&c, line));
            kn_str_clear(&expected);
            begun = number;
            count++;
        }
    }
    check_case(&c, kn_str_text(&expected), begun);
    assert_true(count >= 100);
    fclose(f);
    free(line);
    free(c.data);
    kn_str_free(&expected);
}

/* No table for bfloat16, which NumPy does not have. */
static void bfloat16_prints_its_own_digits(void **state)
{
    static const uint16_t bits[4] = {0x3f80, 0x4049, 0xbe00, 0x3dcd};
    char *text = NULL;
    kiln_array *a = NULL;
    (void)state;
    assert_int_equal(kiln_array_from_host(&a, bits, KILN_BFLOAT16, 1, (const int64_t[]){4}, KILN_DEVICE_HOST),
                     KILN_OK);
    assert_int_equal(kiln_array_to_string(&text, a, NULL), KILN_OK);
    assert_string_equal(text, "[ 1.     3.14  -0.125  0.1  ]");
    free(text);
    kiln_array_free(a);
}

static void views_print_their_elements(void **state)
{
    char *text = NULL;
    kiln_array *a = NULL, *v = NULL;
    (void)state;
    assert_int_equal(kiln_array_arange(&a, 0, 5000, 1, KILN_INT64, KILN_DEVICE_HOST), KILN_OK);
    assert_int_equal(kiln_array_index(&v, a, "::-2"), KILN_OK);
    assert_int_equal(kiln_array_to_string(&text, v, NULL), KILN_OK);
    assert_string_equal(text, "[4999 4997 4995 ...    5    3    1]");
    free(text);
    kiln_array_free(v);
    kiln_array_free(a);
}

static void bad_arguments(void **state)
{
    char *text = NULL;
    kiln_array *a = NULL;
    kiln_print_options options = KILN_PRINT_OPTIONS_INIT;
    (void)state;
    assert_int_equal(kiln_array_zeros(&a, KILN_INT8, 0, NULL, KILN_DEVICE_HOST), KILN_OK);
    assert_int_equal(kiln_array_to_string(&text, NULL, NULL), KILN_ERROR_INVALID);
    assert_int_equal(kiln_array_to_string(NULL, a, NULL), KILN_ERROR_INVALID);
    options.precision = -1;
    assert_int_equal(kiln_array_to_string(&text, a, &options), KILN_ERROR_INVALID);
    options.struct_size = 0;
    assert_int_equal(kiln_array_to_string(&text, a, &options), KILN_ERROR_INVALID);
    assert_null(text);
    kiln_array_free(a);
}

static void every_allocation_may_fail(void **state)
{
    char *text = NULL;
    kiln_array *a = NULL;
    (void)state;
    assert_int_equal(kiln_array_ones(&a, KILN_COMPLEX64, 3, (const int64_t[]){10, 20, 30}, KILN_DEVICE_HOST),
                     KILN_OK);
    kn_alloc_fail_at(0, 0);
    assert_int_equal(kiln_array_to_string(&text, a, NULL), KILN_OK);
    unsigned long count = kn_alloc_fail_at(0, 0);
    free(text);
    assert_true(count > 8);
    for (unsigned long n = 1; n <= count; n++) {
        text = NULL;
        kn_alloc_fail_at(n, 0);
        kiln_status status = kiln_array_to_string(&text, a, NULL);
        kn_alloc_fail_at(0, 0);
        assert_int_equal(status, KILN_ERROR_MEMORY);
        assert_null(text);
    }
    kiln_array_free(a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_numpy_prints),
        cmocka_unit_test(bfloat16_prints_its_own_digits),
        cmocka_unit_test(views_print_their_elements),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(every_allocation_may_fail),
    };
    if (argc > 1)
        table = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
