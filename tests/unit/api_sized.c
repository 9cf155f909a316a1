/* The rule of struct_size (<kiln/base.h>), for every function that takes such a struct and needs no device:
 * sizes that are refused, and those of callers that know less. */
#include <kiln/kiln.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ok.h"

static kiln_array *x;
static kiln_kernel *same;

static kiln_status wrap(void *s)
{
    kiln_array *a = NULL;
    static float element;
    kiln_status status = kiln_array_wrap(&a, &element, s, NULL, NULL);
    kiln_array_free(a);
    return status;
}
static kiln_status text(void *s)
{
    char *out = NULL;
    kiln_status status = kiln_array_to_string(&out, x, s);
    kiln_free(out);
    return status;
}
static kiln_status elementwise(void *s)
{
    kiln_kernel *k = NULL;
    kiln_status status = kiln_elementwise_create(&k, "T x", "T y", "y = x", NULL, s);
    kiln_kernel_free(k);
    return status;
}
static kiln_status reduction(void *s)
{
    kiln_kernel *k = NULL;
    kiln_status status = kiln_reduction_create(&k, "T x", "T y", "x", "a + b", "y = a", "0", NULL, s);
    kiln_kernel_free(k);
    return status;
}
static kiln_status expression(void *s)
{
    kiln_kernel *k = NULL;
    kiln_status status = kiln_expression_create(&k, "x", "x + 1", s);
    kiln_kernel_free(k);
    return status;
}
static kiln_status trace(void *s)
{
    kiln_trace *t = NULL;
    kiln_array *in = NULL;
    kiln_kernel *k = NULL;
    OK(kiln_trace_begin(&t, NULL));
    OK(kiln_trace_input(&in, t, "x", KILN_FLOAT32, KILN_SHAPE(2)));
    kiln_status status = kiln_trace_end(&k, t, &in, 1, s);
    kiln_kernel_free(k);
    kiln_array_free(in);
    kiln_trace_free(t);
    return status;
}
static kiln_status call(void *s)
{
    const kiln_arg in = kiln_arg_array(x);
    kiln_array *y = NULL;
    kiln_status status = kiln_kernel_call(same, &y, 1, &in, 1, s);
    kiln_array_free(y);
    return status;
}
static kiln_status prepare(void *s)
{
    const kiln_arg in = kiln_arg_array(x);
    return kiln_kernel_prepare(same, NULL, 1, &in, 1, NULL, s);
}
static kiln_status benchmark_options(void *s)
{
    const kiln_arg in = kiln_arg_array(x);
    kiln_benchmark b = KILN_BENCHMARK_INIT;
    return kiln_kernel_benchmark(&b, same, NULL, 1, &in, 1, NULL, s);
}
static kiln_status benchmark(void *s)
{
    const kiln_arg in = kiln_arg_array(x);
    return kiln_kernel_benchmark(s, same, NULL, 1, &in, 1, NULL, NULL);
}
static kiln_status register_operation(void *s)
{
    return kiln_operation_register(s);
}
static kiln_status operation_at(void *s)
{
    return kiln_operation_at(s, 0);
}
static kiln_status last_call(void *s)
{
    return kiln_kernel_last_call(s);
}
static kiln_status module(void *s)
{
    kiln_module *m = NULL;
    kiln_status status = kiln_module_create(&m, "", 0, s);
    kiln_module_free(m);
    return status;
}
static kiln_status bake(void *s)
{
    void *bytes = NULL;
    size_t size = 0;
    kiln_status status = kiln_bake(&bytes, &size, "no record", "x86-64-v3", s);
    kiln_free(bytes);
    return status;
}
static kiln_status cache_stats(void *s)
{
    return kiln_cache_get_stats(s);
}
static kiln_status memory_stats(void *s)
{
    return kiln_memory_get_stats(KILN_DEVICE_HOST, s);
}
static kiln_status properties(void *s)
{
    return kiln_device_get_properties(KILN_DEVICE_HOST, s);
}
static kiln_status toolchain(void *s)
{
    return kiln_toolchain_get_info("host", s);
}

static const struct {
    const char *what, *initialiser;
    size_t size;
    kiln_status (*call)(void *s);
    bool is_answer;
} structs[] = {
    {"kiln_array_wrap: spec", "KILN_ARRAY_SPEC_INIT", sizeof(kiln_array_spec), wrap, false},
    {"kiln_array_to_string: options", "KILN_PRINT_OPTIONS_INIT", sizeof(kiln_print_options), text, false},
    {"options", "KILN_KERNEL_OPTIONS_INIT", sizeof(kiln_kernel_options), elementwise, false},
    {"options", "KILN_KERNEL_OPTIONS_INIT", sizeof(kiln_kernel_options), reduction, false},
    {"options", "KILN_KERNEL_OPTIONS_INIT", sizeof(kiln_kernel_options), expression, false},
    {"options", "KILN_KERNEL_OPTIONS_INIT", sizeof(kiln_kernel_options), trace, false},
    {"options", "KILN_CALL_OPTIONS_INIT", sizeof(kiln_call_options), call, false},
    {"options", "KILN_PREPARE_OPTIONS_INIT", sizeof(kiln_prepare_options), prepare, false},
    {"options", "KILN_MODULE_OPTIONS_INIT", sizeof(kiln_module_options), module, false},
    {"definition", "KILN_OPERATION_INIT", sizeof(kiln_operation), register_operation, false},
    {"kiln_bake: options", "KILN_BAKE_OPTIONS_INIT", sizeof(kiln_bake_options), bake, false},
    {"kiln_kernel_benchmark: options", "KILN_BENCHMARK_OPTIONS_INIT", sizeof(kiln_benchmark_options),
     benchmark_options, false},
    {"kiln_kernel_benchmark: out_times", "KILN_BENCHMARK_INIT", sizeof(kiln_benchmark), benchmark, true},
    {"kiln_operation_at: out", "KILN_OPERATION_INIT", sizeof(kiln_operation), operation_at, true},
    {"kiln_kernel_last_call: out", "KILN_CALL_INFO_INIT", sizeof(kiln_call_info), last_call, true},
    {"kiln_cache_get_stats: out", "KILN_CACHE_STATS_INIT", sizeof(kiln_cache_stats), cache_stats, true},
    {"kiln_memory_get_stats: out", "KILN_MEMORY_STATS_INIT", sizeof(kiln_memory_stats), memory_stats, true},
    {"kiln_device_get_properties: out", "KILN_DEVICE_PROPERTIES_INIT", sizeof(kiln_device_properties),
     properties, true},
    {"kiln_toolchain_get_info: out", "KILN_TOOLCHAIN_INFO_INIT", sizeof(kiln_toolchain_info), toolchain,
     true},
};
enum { STRUCTS = sizeof structs / sizeof *structs, ROOM = 4096 };

/* A struct of which the caller says that it has so many bytes; the rest is no business of the library's. */
static unsigned char *sized(size_t size, int rest)
{
    static size_t storage[ROOM / sizeof(size_t)];
    memset(storage, rest, sizeof storage);
    storage[0] = size;
    return (unsigned char *)storage;
}

static void sizes_that_nobody_knows(void **state)
{
    char expected[200];
    (void)state;
    for (int k = 0; k < STRUCTS; k++) {
        const size_t sizes[] = {0, sizeof(size_t) - 1, structs[k].size + 1, SIZE_MAX};
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            assert_int_equal(structs[k].call(sized(sizes[s], 0)), KILN_ERROR_INVALID);
            snprintf(expected, sizeof expected, "%s.struct_size: %zu was given, %zu is known; start from %s",
                     structs[k].what, sizes[s], structs[k].size, structs[k].initialiser);
            /* some name the kernel first */
            const char *found = strstr(kiln_error_message(), expected);
            assert_string_equal(found ? found : kiln_error_message(), expected);
        }
    }
}

/* Behind options nothing is read (0xff would be refused, or end the program), behind answers nothing is
 * written. */
static void callers_that_know_less(void **state)
{
    (void)state;
    for (int k = 0; k < STRUCTS; k++) {
        unsigned char *s = sized(sizeof(size_t), 0xff);
        kiln_error_clear();
        kiln_status status = structs[k].call(s);
        assert_null(strstr(kiln_error_message(), "struct_size"));
        if (status == KILN_OK || structs[k].is_answer)
            OK(status);
        for (int b = sizeof(size_t); b < ROOM; b++)
            assert_int_equal(s[b], 0xff);
    }
}

static void answers_in_full(void **state)
{
    (void)state;
    for (int k = 0; k < STRUCTS; k++) {
        unsigned char *s = sized(structs[k].size, 0);
        size_t size;
        if (!structs[k].is_answer)
            continue;
        OK(structs[k].call(s));
        memcpy(&size, s, sizeof size);
        assert_int_equal(size, structs[k].size);
        size_t written = 0;
        for (size_t b = sizeof size; b < structs[k].size; b++)
            written += s[b] != 0;
        if (structs[k].call != last_call)
            assert_int_not_equal(written, 0);
        assert_int_equal(structs[k].call(NULL), KILN_ERROR_INVALID);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_that_nobody_knows),
        cmocka_unit_test(callers_that_know_less),
        cmocka_unit_test(answers_in_full),
    };
    kiln_toolchain_info info = KILN_TOOLCHAIN_INFO_INIT;
    setenv("KILN_CACHE", "off", 1);
    setenv("KILN_TARGET", "host", 1);
    if (kiln_toolchain_get_info("host", &info) != KILN_OK ||
        kiln_array_ones(&x, KILN_FLOAT32, KILN_SHAPE(4), KILN_DEVICE_HOST) != KILN_OK ||
        kiln_elementwise_create(&same, "T x", "T y", "y = x", NULL, NULL) != KILN_OK)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kiln_array_free(x);
    kiln_kernel_free(same);
    return failed;
}
