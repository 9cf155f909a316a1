/* kiln_kernel_launches: the launch parameters of each schedule, and that they hold together. */
#include <kiln/kernel.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ok.h"

#define S(...) ((const int64_t[]){__VA_ARGS__})

/* Nothing is read or written: the arrays can be large. */
static kiln_array *nowhere(kiln_dtype dtype, int ndim, const int64_t *shape, const int64_t *strides)
{
    kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
    kiln_array *array = NULL;
    spec.dtype = dtype;
    spec.ndim = ndim;
    spec.shape = shape;
    spec.strides = strides;
    spec.device = KILN_DEVICE_HOST;
    OK(kiln_array_wrap(&array, (void *)(uintptr_t)(UINT64_C(1) << 40), &spec, NULL, NULL));
    return array;
}

/* The launches of a copy; the caller frees them. */
static char *launches(kiln_dtype dtype, int ndim, const int64_t *shape, const int64_t *strides,
                      const char *target)
{
    kiln_kernel *kernel = NULL;
    kiln_array *x = nowhere(dtype, ndim, shape, strides);
    char *text = NULL;
    OK(kiln_elementwise_create(&kernel, "T x", "T z", "z = x", "copy", NULL));
    const kiln_arg in[] = {kiln_arg_array(x)};
    OK(kiln_kernel_launches(&text, kernel, NULL, 1, in, 1, NULL, target));
    kiln_array_free(x);
    kiln_kernel_free(kernel);
    return text;
}

static long long number(const char *text, const char *key)
{
    char wanted[32];
    snprintf(wanted, sizeof wanted, "%s=\"", key);
    const char *at = strstr(text, wanted);
    if (!at)
        fail_msg("there is no %s in %s", key, text);
    return atoll(at + strlen(wanted));
}

static int lines(const char *text)
{
    int count = 0;
    for (; *text; ++text)
        count += *text == '\n';
    return count;
}

static void flat_kernels_cover(void **state)
{
    char *text = launches(KILN_FLOAT32, 1, S(1000003), NULL, "sm_90");
    (void)state;
    assert_int_equal(lines(text), 1);
    assert_int_equal(number(text, "elements"), 1000003);
    assert_int_equal(number(text, "misalignment"), 0);
    long long grid = number(text, "grid"), block = number(text, "block");
    assert_true(grid * block * 4 >= 1000003 && (grid - 1) * block * 4 < 1000003);
    free(text);
}

/* Threads of a tile are its vectors, and its shared memory holds them. */
static void tiles_show_their_sides(void **state)
{
    char *text = launches(KILN_FLOAT32, 2, S(4096, 2048), S(4, 16384), "sm_90");
    unsigned p, p_steps, q, q_steps;
    (void)state;
    const char *at = strstr(text, "tile=\"");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "tile=\"%ux%u by %ux%u vectors\"", &p, &p_steps, &q, &q_steps), 4);
    assert_int_equal((long long)p * p_steps * q * q_steps, number(text, "block"));
    assert_true(number(text, "shared") >= number(text, "block") * 4 * 4 * 4);
    assert_true(number(text, "grid") * number(text, "block") * 16 >= 4096LL * 2048);
    free(text);
}

static void windows_show_their_tiles(void **state)
{
    char *text = launches(KILN_FLOAT32, 2, S(1001, 1003), S(4, 4004), "sm_90");
    unsigned rows, run;
    (void)state;
    const char *at = strstr(text, "tile=\"");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "tile=\"%u runs of %u", &rows, &run), 2);
    assert_true(number(text, "grid") * rows * run >= 1001LL * 1003);
    assert_true(number(text, "pitch") * 4 <= number(text, "shared"));
    free(text);
}

/* Offsets of a launch fit 32 bits: what reaches further is cut, and nothing is lost. */
static void large_spaces_are_cut(void **state)
{
    char *text = launches(KILN_FLOAT32, 2, S(40000, 40001), S(8 * 40001, 8), "sm_90"), *at = text;
    long long elements = 0;
    (void)state;
    assert_true(lines(text) >= 6);
    for (; *at; at = strchr(at, '\n') + 1)
        elements += number(at, "elements");
    assert_int_equal(elements, 40000LL * 40001);
    free(text);
}

static void hosts_and_empty_spaces(void **state)
{
    char *text = launches(KILN_FLOAT32, 2, S(30, 40), NULL, "host");
    (void)state;
    assert_string_equal(text, "elements=\"1200\"\n");
    free(text);
    text = launches(KILN_FLOAT32, 2, S(0, 40), NULL, "sm_90");
    assert_string_equal(text, "");
    free(text);
}

static void refusals(void **state)
{
    kiln_kernel *kernel = NULL;
    char *text = NULL;
    (void)state;
    OK(kiln_elementwise_create(&kernel, "T x", "T z", "z = x", "copy", NULL));
    assert_int_equal(kiln_kernel_launches(NULL, kernel, NULL, 1, NULL, 0, NULL, "sm_90"), KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "out is NULL"));
    assert_int_equal(kiln_kernel_launches(&text, NULL, NULL, 1, NULL, 0, NULL, "sm_90"), KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "kernel is NULL"));
    assert_int_equal(kiln_kernel_launches(&text, kernel, NULL, 1, NULL, 0, NULL, "sm_90"),
                     KILN_ERROR_INVALID);
    assert_null(text);
    kiln_kernel_free(kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat_kernels_cover),       cmocka_unit_test(tiles_show_their_sides),
        cmocka_unit_test(windows_show_their_tiles), cmocka_unit_test(large_spaces_are_cut),
        cmocka_unit_test(hosts_and_empty_spaces),   cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
