/* kiln_kernel_benchmark on the host: what it counts, what it leaves as it was, and what it refuses. */
#include <kiln/benchmark.h>
#include <kiln/convenience.h>
#include <kiln/toolchain.h>
#include <kiln/trace.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ok.h"

#define REFUSED(call, status, message)                                                                       \
    do {                                                                                                     \
        assert_int_equal((call), status);                                                                    \
        assert_string_equal(kiln_error_message(), message);                                                  \
    } while (0)

static kiln_kernel *sums, *counting;
static kiln_array *x, *row;

static int make(void **state)
{
    (void)state;
    OK(kiln_elementwise_create(&sums, "T x, T y", "T z", "z = x + y", "sums", NULL));
    OK(kiln_elementwise_create(&counting, "", "T z", "z += 1", "counting", NULL));
    OK(kiln_array_zeros(&x, KILN_FLOAT32, KILN_SHAPE(100, 200), KILN_DEVICE_HOST));
    OK(kiln_array_zeros(&row, KILN_FLOAT32, KILN_SHAPE(200), KILN_DEVICE_HOST));
    return 0;
}

static int drop(void **state)
{
    (void)state;
    kiln_kernel_free(sums);
    kiln_kernel_free(counting);
    kiln_array_free(x);
    kiln_array_free(row);
    return 0;
}

static void assert_times(const kiln_benchmark *b)
{
    assert_true(b->cpu_min_us > 0 && b->cpu_min_us <= b->cpu_median_us && b->cpu_median_us < 1e6);
    assert_true(b->device_min_us == b->cpu_min_us && b->device_median_us == b->cpu_median_us);
    double rate = (double)(b->bytes_read + b->bytes_written) / b->device_median_us * 1e6;
    assert_true(fabs(b->bytes_per_second - rate) <= 1e-9 * rate);
    assert_int_equal(b->device, KILN_DEVICE_HOST);
    assert_int_equal(b->batch, 1);
}

static void calls_are_timed(void **state)
{
    kiln_benchmark b = KILN_BENCHMARK_INIT;
    kiln_benchmark_options options = KILN_BENCHMARK_OPTIONS_INIT;
    const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_array(row)},
                   weak[] = {kiln_arg_array(row), kiln_arg_int(1)};
    (void)state;
    OK(kiln_kernel_benchmark(&b, sums, NULL, 1, in, 2, NULL, NULL));
    assert_times(&b);
    assert_in_range(b.calls, 10, 1000);
    assert_int_equal(b.bytes_read, 4 * (20000 + 200)); /* the row once, not a hundred times */
    assert_int_equal(b.bytes_written, 4 * 20000);
    options.calls = 3;
    OK(kiln_kernel_benchmark(&b, sums, NULL, 1, weak, 2, NULL, &options));
    assert_times(&b);
    assert_int_equal(b.calls, 3);
    assert_int_equal(b.bytes_read, 800);
    kiln_array *wide = NULL;
    OK(kiln_array_broadcast_to(&wide, row, KILN_SHAPE(100, 200)));
    const kiln_arg broadcast[] = {kiln_arg_array(wide), kiln_arg_int(1)};
    OK(kiln_kernel_benchmark(&b, sums, NULL, 1, broadcast, 2, NULL, &options));
    assert_int_equal(b.bytes_read, 800);
    assert_int_equal(b.bytes_written, 80000);
    kiln_array_free(wide);
    /* as much as the caller knows of */
    kiln_benchmark small = {.struct_size = offsetof(kiln_benchmark, cpu_min_us), .cpu_min_us = -1};
    OK(kiln_kernel_benchmark(&small, sums, NULL, 1, in, 2, NULL, &options));
    assert_true(small.calls == 3 && small.cpu_median_us > 0 && small.cpu_min_us == -1);
}

/* As often as it says: the first call, those before, those that are timed. */
static void outputs_are_written_by_each_call(void **state)
{
    kiln_benchmark b = KILN_BENCHMARK_INIT;
    kiln_benchmark_options options = KILN_BENCHMARK_OPTIONS_INIT;
    kiln_array *z = NULL;
    double value = 0;
    (void)state;
    OK(kiln_array_zeros(&z, KILN_FLOAT32, 0, NULL, KILN_DEVICE_HOST));
    options.calls = 5;
    options.warm_up = 2;
    OK(kiln_kernel_benchmark(&b, counting, &z, 1, NULL, 0, NULL, &options));
    OK(kiln_array_item(&value, z));
    assert_true(value == 1 + 2 + 5);
    assert_int_equal(b.bytes_read, 0);
    assert_int_equal(b.bytes_written, 4);
    kiln_array_free(z);
}

static void options_of_the_call(void **state)
{
    kiln_benchmark b = KILN_BENCHMARK_INIT;
    kiln_benchmark_options options = KILN_BENCHMARK_OPTIONS_INIT;
    kiln_call_options call = KILN_CALL_OPTIONS_INIT;
    kiln_kernel *raw = NULL;
    const kiln_arg in = kiln_arg_array(row);
    (void)state;
    options.calls = 2;
    OK(kiln_elementwise_create(&raw, "raw T x", "T z", "z = x[i]", "raw", NULL));
    assert_int_equal(kiln_kernel_benchmark(&b, raw, NULL, 1, &in, 1, NULL, &options), KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "every array is raw"));
    call.size = 50;
    OK(kiln_kernel_benchmark(&b, raw, NULL, 1, &in, 1, &call, &options));
    assert_int_equal(b.bytes_written, 200);
    kiln_kernel_free(raw);
}

static void refusals(void **state)
{
    kiln_benchmark b = KILN_BENCHMARK_INIT;
    kiln_benchmark_options options = KILN_BENCHMARK_OPTIONS_INIT;
    kiln_call_options call = KILN_CALL_OPTIONS_INIT;
    const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_array(row)},
                   nothing[] = {kiln_arg_array(NULL), kiln_arg_int(1)};
    (void)state;
    b.calls = -7;
    REFUSED(kiln_kernel_benchmark(NULL, sums, NULL, 1, in, 2, NULL, NULL), KILN_ERROR_INVALID,
            "kiln_kernel_benchmark: out_times is NULL");
    REFUSED(kiln_kernel_benchmark(&b, NULL, NULL, 1, in, 2, NULL, NULL), KILN_ERROR_INVALID,
            "kiln_kernel_benchmark: kernel is NULL");
    options.calls = -1;
    REFUSED(kiln_kernel_benchmark(&b, sums, NULL, 1, in, 2, NULL, &options), KILN_ERROR_INVALID,
            "kiln_kernel_benchmark: options.calls: -1 was given; a number of calls, or 0, was expected");
    options.calls = 0;
    options.warm_up = -2;
    REFUSED(kiln_kernel_benchmark(&b, sums, NULL, 1, in, 2, NULL, &options), KILN_ERROR_INVALID,
            "kiln_kernel_benchmark: options.warm_up: -2 was given; a number of calls, or 0, was expected");
    REFUSED(kiln_kernel_benchmark(&b, sums, NULL, -1, in, 2, NULL, NULL), KILN_ERROR_INVALID,
            "kiln_kernel_benchmark: -1 outputs and 2 inputs at an address were given");
    REFUSED(kiln_kernel_benchmark(&b, sums, NULL, 1, NULL, 2, NULL, NULL), KILN_ERROR_INVALID,
            "kiln_kernel_benchmark: 1 outputs and 2 inputs at NULL were given");
    REFUSED(kiln_kernel_benchmark(&b, sums, NULL, 1, nothing, 2, NULL, NULL), KILN_ERROR_INVALID,
            "kiln_kernel_benchmark: array is NULL");
    assert_int_equal(kiln_kernel_benchmark(&b, sums, NULL, 2, in, 2, NULL, NULL), KILN_ERROR_INVALID);
    call.struct_size = 0;
    assert_int_equal(kiln_kernel_benchmark(&b, sums, NULL, 1, in, 2, &call, NULL), KILN_ERROR_INVALID);
    kiln_array *short_row = NULL;
    OK(kiln_array_zeros(&short_row, KILN_FLOAT32, KILN_SHAPE(3), KILN_DEVICE_HOST));
    const kiln_arg unequal[] = {kiln_arg_array(x), kiln_arg_array(short_row)};
    assert_int_equal(kiln_kernel_benchmark(&b, sums, NULL, 1, unequal, 2, NULL, NULL), KILN_ERROR_SHAPE);
    kiln_array_free(short_row);
    assert_int_equal(b.calls, -7); /* nothing was written */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_timed),
        cmocka_unit_test(outputs_are_written_by_each_call),
        cmocka_unit_test(options_of_the_call),
        cmocka_unit_test(refusals),
    };
    kiln_toolchain_info info = KILN_TOOLCHAIN_INFO_INIT;
    setenv("KILN_CACHE", "off", 1);
    setenv("KILN_TARGET", "host", 1);
    if (kiln_toolchain_get_info("host", &info) != KILN_OK)
        return 0;
    return cmocka_run_group_tests(tests, make, drop);
}
