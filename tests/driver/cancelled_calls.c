/* Threads that are cancelled inside of calls on CUDA (pthread_cancel), on the fake driver, in each function
 * of which a thread can be cancelled. A call goes to its end: a cancellation acts where the application has
 * nothing of ours in its hands, so that whatever stays behind was lost inside of the library. */
#include <kiln/kiln.h>

#include "fake_cuda.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { COUNT = 100, ROUNDS = 1500, SOAK_ROUNDS = 100000, PATIENCE_S = 240, EVENTS_KEPT = 64 };

/* In threads that are cancelled cmocka cannot end the test. */
static void require(bool is_true, const char *what)
{
    if (is_true)
        return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    fprintf(stderr, "cancelled_calls: %s: %s\n", what, kiln_error_message());
    _exit(1);
}

/* z = x + y; the arrays stand at the end of the argument block. */
static void run_kernel(const fake_launch *l, void *user)
{
    int64_t n;
    float *p[3];
    (void)user;
    if (strcmp(l->name, "kiln_sum") != 0)
        return;
    memcpy(&n, l->parameters, sizeof n);
    memcpy(p, l->parameters + l->parameter_size - sizeof p, sizeof p);
    for (int64_t k = 0; k < n; k++)
        p[2][k] = p[0][k] + p[1][k];
}

static kiln_kernel *kernel;

/* ---- what threads do; each leaves nothing ---- */

static kiln_array *numbers(void)
{
    const int64_t shape[] = {COUNT};
    float values[COUNT];
    kiln_array *array = NULL;
    for (int k = 0; k < COUNT; k++)
        values[k] = (float)k;
    require(kiln_array_from_host(&array, values, KILN_FLOAT32, 1, shape, KILN_DEVICE_CUDA(0)) == KILN_OK,
            "an array");
    return array;
}

static void expect_twice(const kiln_array *array)
{
    float values[COUNT];
    require(kiln_array_to_host(array, values, sizeof values) == KILN_OK, "copying back");
    for (int k = 0; k < COUNT; k++)
        require(values[k] == 2 * (float)k, "a number");
}

/* An output that the call allocates; the same with one that is given. */
static void call_kernel(void)
{
    kiln_array *x = numbers(), *z = NULL;
    kiln_arg in[] = {kiln_arg_array(x), kiln_arg_array(x)};
    for (int turn = 0; turn < 2; turn++)
        require(kiln_kernel_call(kernel, &z, 1, in, 2, NULL) == KILN_OK, "a call");
    expect_twice(z);
    kiln_array_free(x);
    kiln_array_free(z);
}

static void use_streams(void)
{
    kiln_stream *stream = NULL;
    kiln_event *event = NULL;
    bool is_idle = false;
    require(kiln_stream_create(&stream, KILN_DEVICE_CUDA(0), KILN_STREAM_NON_BLOCKING) == KILN_OK &&
                kiln_event_create(&event, KILN_DEVICE_CUDA(0), 0) == KILN_OK,
            "a stream and an event");
    kiln_stream_set_current(stream);
    call_kernel();
    require(kiln_event_record(event, stream) == KILN_OK && kiln_stream_wait_event(NULL, event) == KILN_OK &&
                kiln_event_synchronize(event) == KILN_OK && kiln_stream_synchronize(stream) == KILN_OK &&
                kiln_stream_query(&is_idle, stream) == KILN_OK,
            "waiting");
    kiln_stream_set_current(NULL);
    kiln_event_free(event);
    kiln_stream_free(stream);
}

static void capture(void)
{
    kiln_stream *stream = NULL;
    kiln_graph *graph = NULL;
    kiln_graph_exec *exec = NULL;
    kiln_array *x = numbers(), *z = NULL;
    kiln_arg in[] = {kiln_arg_array(x), kiln_arg_array(x)};
    require(kiln_stream_create(&stream, KILN_DEVICE_CUDA(0), KILN_STREAM_NON_BLOCKING) == KILN_OK,
            "a stream");
    kiln_stream_set_current(stream);
    require(
        kiln_capture_begin(stream) == KILN_OK && kiln_kernel_call(kernel, &z, 1, in, 2, NULL) == KILN_OK &&
            kiln_capture_end(&graph, stream) == KILN_OK && kiln_graph_instantiate(&exec, graph) == KILN_OK &&
            kiln_graph_launch(exec, stream) == KILN_OK && kiln_stream_synchronize(stream) == KILN_OK,
        "a graph");
    expect_twice(z);
    kiln_stream_set_current(NULL);
    kiln_array_free(x);
    kiln_array_free(z);
    kiln_graph_exec_free(exec);
    kiln_graph_free(graph);
    kiln_stream_free(stream);
}

static void move_memory(void)
{
    kiln_array *here = numbers(), *there = NULL, *copy = NULL;
    void *pinned = NULL;
    require(kiln_array_to_device(&there, here, KILN_DEVICE_CUDA(1)) == KILN_OK &&
                kiln_array_copy(&copy, here) == KILN_OK &&
                kiln_memory_trim(KILN_DEVICE_CUDA(0), 0) == KILN_OK &&
                kiln_memory_alloc_pinned(&pinned, 4096) == KILN_OK,
            "memory");
    kiln_memory_free_pinned(pinned);
    kiln_array_free(here);
    kiln_array_free(there);
    kiln_array_free(copy);
}

static void (*const flows[])(void) = {call_kernel, use_streams, capture, move_memory};
enum { FLOWS = sizeof flows / sizeof *flows };

/* ---- what is left ---- */

static void check_nothing_left(const char *when)
{
    static const fake_kind kinds[] = {FAKE_STREAM, FAKE_GRAPH, FAKE_EXEC, FAKE_USER_OBJECT};
    for (int d = 0; d < 2; d++) {
        kiln_memory_stats s = KILN_MEMORY_STATS_INIT;
        require(kiln_memory_get_stats(KILN_DEVICE_CUDA(d), &s) == KILN_OK && s.used_bytes == 0, when);
    }
    require(kiln_memory_trim(KILN_DEVICE_CUDA(0), 0) == KILN_OK, when); /* what waited for events is gone */
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        require(fake_live(kinds[k]) == 0, when);
    require(fake_live(FAKE_EVENT) <= EVENTS_KEPT, when); /* the library uses its own again */
    require(fake_context_depth() == 0 && fake_capture_mode() == 0, when);
}

/* ---- a cancellation that pends ---- */

static atomic_bool is_done;

static void *pend(void *user)
{
    void (*const *run)(void) = user;
    pthread_cancel(pthread_self());
    (*run)();
    require(fake_context_depth() == 0 && fake_capture_mode() == 0, "a context");
    atomic_store(&is_done, true);
    pthread_testcancel();
    return NULL;
}

static void test_pending(void **state)
{
    (void)state;
    for (int turn = 0; turn < 2 * FLOWS; turn++) { /* the first time, and remembered */
        void (*run)(void) = flows[turn % FLOWS];
        pthread_t thread;
        void *result = NULL;
        atomic_store(&is_done, false);
        assert_int_equal(pthread_create(&thread, NULL, pend, &run), 0);
        assert_int_equal(pthread_join(thread, &result), 0);
        assert_true(atomic_load(&is_done));
        assert_ptr_equal(result, PTHREAD_CANCELED);
        check_nothing_left("a cancellation that pends");
    }
}

/* ---- cancelled at any time ---- */

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void *work(void *user)
{
    unsigned seed = *(unsigned *)user;
    for (;;) {
        flows[next(&seed) % FLOWS]();
        pthread_testcancel();
    }
    return NULL;
}

static void test_at_any_time(void **state)
{
    unsigned seed = 1;
    int rounds = getenv("KILN_SOAK") ? SOAK_ROUNDS : ROUNDS;
    (void)state;
    for (int round = 0; round < rounds; round++) {
        unsigned own[2] = {next(&seed), next(&seed)};
        struct timespec nap = {0, (long)(next(&seed) % 400) * 1000};
        pthread_t thread[2];
        for (int t = 0; t < 2; t++)
            assert_int_equal(pthread_create(&thread[t], NULL, work, &own[t]), 0);
        nanosleep(&nap, NULL);
        for (int t = 0; t < 2; t++)
            assert_int_equal(pthread_cancel(thread[t]), 0);
        for (int t = 0; t < 2; t++)
            assert_int_equal(pthread_join(thread[t], NULL), 0);
        flows[round % FLOWS]();
        check_nothing_left("a cancellation at any time");
    }
}

static int set_up(void **state)
{
    (void)state;
    alarm(PATIENCE_S * (getenv("KILN_SOAK") ? 20 : 1)); /* a hang ends */
    setenv("KILN_LIBCUDA", FAKE_LIBCUDA, 1);
    setenv("KILN_NVRTC", FAKE_LIBNVRTC, 1);
    setenv("KILN_CACHE", "off", 1);
    setenv("KILN_TARGET", "cuda:0", 1);
    fake_on_launch(run_kernel, NULL);
    return kiln_elementwise_create(&kernel, "float32 x, float32 y", "float32 z", "z = x + y", "sum", NULL);
}

static int tear_down(void **state)
{
    (void)state;
    kiln_kernel_free(kernel);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pending), cmocka_unit_test(test_at_any_time)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
