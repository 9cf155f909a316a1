/* kiln_kernel_benchmark on the fake driver: calls one by one, calls in graphs, and each call of the driver
 * failing in its turn: nothing is left behind, and nothing is said. */
#include <kiln/kiln.h>

#include "fake_cuda.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../ok.h"

enum { N = 64, UNKNOWN = 999 };

static kiln_kernel *kernel;
static kiln_array *x;

static int set_up(void **state)
{
    (void)state;
    setenv("KILN_LIBCUDA", FAKE_LIBCUDA, 1);
    setenv("KILN_NVRTC", FAKE_LIBNVRTC, 1);
    setenv("KILN_CACHE", "off", 1);
    setenv("KILN_TARGET", "cuda:0", 1);
    OK(kiln_array_ones(&x, KILN_FLOAT32, KILN_SHAPE(N), KILN_DEVICE_CUDA(0)));
    OK(kiln_elementwise_create(&kernel, "float32 x, float32 a", "float32 z", "z = x * a", "scale", NULL));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    kiln_array_free(x);
    kiln_kernel_free(kernel);
    return 0;
}

static kiln_status run(kiln_benchmark *b, kiln_stream *stream)
{
    const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_float32(2)};
    kiln_benchmark_options options = KILN_BENCHMARK_OPTIONS_INIT;
    kiln_call_options call = KILN_CALL_OPTIONS_INIT;
    options.calls = 4;
    options.warm_up = 2;
    call.stream = stream;
    return kiln_kernel_benchmark(b, kernel, NULL, 1, in, 2, &call, &options);
}

static void graphs_are_timed(void **state)
{
    kiln_benchmark b = KILN_BENCHMARK_INIT;
    kiln_stream *other = NULL;
    int live[FAKE_KINDS];
    (void)state;
    OK(kiln_stream_create(&other, KILN_DEVICE_CUDA(1), 0)); /* of another device: it is left aside */
    OK(run(&b, NULL));                                      /* what stays: the module, the pool's memory */
    for (int k = 0; k < FAKE_KINDS; ++k)
        live[k] = fake_live((fake_kind)k);
    fake_launches_clear();
    OK(run(&b, other));
    assert_int_equal(b.device, KILN_DEVICE_CUDA(0));
    assert_int_equal(b.calls, 4);
    assert_in_range(b.batch, 1, 100);
    assert_int_equal(b.bytes_read, 4 * N);
    assert_int_equal(b.bytes_written, 4 * N);
    assert_true(b.cpu_min_us > 0 && b.cpu_min_us <= b.cpu_median_us);
    /* the fake's clock: whole steps of 1.5 ms from one event to the next, for `batch` calls */
    double steps = b.device_min_us * b.batch / 1500;
    assert_true(steps >= 1 && steps < 100 && steps - (int)(steps + 0.5) < 1e-3);
    assert_true(b.device_median_us >= b.device_min_us);
    assert_true(b.bytes_per_second > 0.999 * 8 * N / b.device_median_us * 1e6);
    /* the first call, two before, four that are timed; three and four graphs */
    assert_int_equal(fake_launch_count(), 7 + 7 * b.batch);
    int replays = 0;
    for (int k = 0; k < fake_launch_count(); ++k)
        replays += fake_launch_at(k).is_replay;
    assert_int_equal(replays, 7 * b.batch);
    for (int k = 0; k < FAKE_KINDS; ++k)
        assert_int_equal(fake_live((fake_kind)k), live[k]);
    kiln_stream_free(other);
}

static void captures_refuse(void **state)
{
    kiln_benchmark b = KILN_BENCHMARK_INIT;
    kiln_stream *stream = NULL;
    kiln_graph *graph = NULL;
    (void)state;
    OK(kiln_stream_create(&stream, KILN_DEVICE_CUDA(0), KILN_STREAM_NON_BLOCKING));
    OK(kiln_capture_begin(stream));
    assert_int_equal(run(&b, NULL), KILN_ERROR_CAPTURE);
    const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_float32(2)};
    assert_int_equal(kiln_kernel_benchmark(&b, kernel, NULL, 1, in, 2, NULL, NULL), KILN_ERROR_CAPTURE);
    OK(kiln_capture_end(&graph, stream)); /* unharmed */
    kiln_graph_free(graph);
    kiln_stream_free(stream);
}

/* Until none of the driver's calls is the nth. */
static void any_call_may_fail(void **state)
{
    int live[FAKE_KINDS], failed = 0;
    (void)state;
    kiln_benchmark b = KILN_BENCHMARK_INIT;
    OK(run(&b, NULL));
    for (int k = 0; k < FAKE_KINDS; ++k)
        live[k] = fake_live((fake_kind)k);
    for (long nth = 1; nth < 10000; ++nth) {
        long before = fake_calls();
        b.calls = -1;
        fake_fail(NULL, nth, UNKNOWN);
        kiln_status status = run(&b, NULL);
        fake_fail(NULL, 0, 0);
        if (fake_calls() - before < nth)
            break;
        failed += status != KILN_OK;
        if (status != KILN_OK && b.calls != -1)
            fail_msg("call %ld, %s: something was written", nth, fake_failed_function());
        char where[64];
        snprintf(where, sizeof where, "%s", fake_failed_function());
        OK(run(&b, NULL)); /* the pool asks again for what it could not ask then */
        for (int k = 0; k < FAKE_KINDS; ++k)
            if (k != FAKE_MEMORY && fake_live((fake_kind)k) > live[k])
                fail_msg("call %ld, %s: kind %d is left behind", nth, where, k);
        if (fake_context_depth() != 0)
            fail_msg("call %ld, %s: a context is left behind", nth, where);
    }
    assert_in_range(failed, 20, 10000);
    OK(run(&b, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_are_timed),
        cmocka_unit_test(captures_refuse),
        cmocka_unit_test(any_call_may_fail),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
