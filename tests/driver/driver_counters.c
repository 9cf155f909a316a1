/* Counters of launches on the fake driver: which launches share them, that they are zero, when they go,
 * failures. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kiln/graph.h>

#include "base/alloc.h"
#include "device/counters.h"
#include "device/device_table.h"
#include "driver_common.h"
#include "schedule/kind.h"

enum { COUNT = 10, THREADS = 8 };

static kn_module *module;
static kn_function *dirty;

/* `dirty` counts up the counter that it is given, and forgets to put it back. */
static void run_dirty(const fake_launch *launch, void *user)
{
    unsigned *counter = NULL;
    (void)user;
    if (strcmp(launch->name, "dirty") != 0)
        return;
    memcpy(&counter, launch->parameters, sizeof counter);
    ++*counter;
}

static void queue_dirty(unsigned *counter, void *native)
{
    kn_launch launch = {
        .grid = {1, 1, 1}, .block = {1, 1, 1}, .block_data = &counter, .block_size = sizeof counter};
    OK(cuda(0)->backend->launch(dirty, &launch, native));
}

static int set_up(void **state)
{
    use_fake_driver(state);
    OK(kiln_device_set_current(KILN_DEVICE_CUDA(0)));
    OK(cuda(0)->backend->module_load(cuda(0), "kernel dirty 8\n", 15, "counting", &module));
    OK(cuda(0)->backend->module_function(module, "dirty", &dirty));
    fake_on_launch(run_dirty, NULL);
    return 0;
}

static kiln_stream *stream(void)
{
    kiln_stream *s = NULL;
    OK(kiln_stream_create(&s, KILN_DEVICE_CUDA(0), KILN_STREAM_NON_BLOCKING));
    return s;
}

#define NATIVE(s) kiln_stream_cuda_handle(s)

static kiln_status try_take(unsigned **out, kn_device *device, void *native)
{
    uint64_t capture = 0;
    kiln_status status = kn_device_capture_of(device, native, &capture);
    if (status == KILN_OK)
        status = kn_counters_take(out, device, COUNT, native, capture);
    if (status == KILN_OK)
        kn_counters_give(device, *out, COUNT);
    return status;
}

static unsigned *take(kn_device *device, void *native)
{
    unsigned *counters = NULL;
    OK(try_take(&counters, device, native));
    assert_non_null(counters);
    return counters;
}

static void assert_zero(const unsigned *counters, int count)
{
    for (int k = 0; k < count; k++)
        assert_int_equal(counters[k], 0);
}

static size_t used(int ordinal)
{
    kiln_memory_stats s = KILN_MEMORY_STATS_INIT;
    OK(kiln_memory_get_stats(KILN_DEVICE_CUDA(ordinal), &s));
    return s.used_bytes;
}

/* ---- of streams ---- */

static void test_each_stream_has_its_own(void **state)
{
    (void)state;
    kiln_stream *s = stream(), *t = stream();
    unsigned *of_s = take(cuda(0), NATIVE(s)), *of_t = take(cuda(0), NATIVE(t)),
             *of_none = take(cuda(0), NULL), *elsewhere = take(cuda(1), NULL);
    assert_true(of_s != of_t && of_s != of_none && of_t != of_none && elsewhere != of_none);
    assert_true(of_s + KN_MAX_COUNTERS <= of_t || of_t + KN_MAX_COUNTERS <= of_s);
    assert_zero(of_s, KN_MAX_COUNTERS);
    assert_zero(of_none, KN_MAX_COUNTERS);
    long zeroed = fake_calls_of("cuMemsetD8Async"), calls = fake_calls();
    assert_ptr_equal(take(cuda(0), NULL), of_none);
    assert_int_equal(fake_calls(), calls);
    assert_ptr_equal(take(cuda(0), NATIVE(s)), of_s);
    assert_ptr_equal(take(cuda(0), NATIVE(t)), of_t);
    assert_ptr_equal(take(cuda(1), NULL), elsewhere);
    assert_int_equal(fake_calls_of("cuMemsetD8Async"), zeroed);
    kiln_stream_free(s);
    kiln_stream_free(t);
    assert_int_equal(used(0), KN_MAX_COUNTERS * sizeof(unsigned)); /* the default stream's */
}

/* A stream that has the handle of one that is gone has counters of its own, which are zero. */
static void test_they_end_with_their_stream(void **state)
{
    (void)state;
    size_t before = used(0);
    bool met = false;
    fake_reuse_streams(true);
    kiln_stream *s = stream();
    for (int turn = 0; turn < 20; turn++) {
        void *native = NATIVE(s);
        unsigned *counters = take(cuda(0), native);
        assert_zero(counters, KN_MAX_COUNTERS);
        memset(counters, 0xff, KN_MAX_COUNTERS * sizeof *counters);
        kiln_stream_free(s);
        assert_int_equal(used(0), before);
        s = stream();
        met = met || NATIVE(s) == native;
    }
    assert_true(met);
    kiln_stream_free(s);
    fake_reuse_streams(false);
}

/* Somebody else's stream keeps them from one wrapping to the next. */
static void test_wrapped_streams(void **state)
{
    kiln_stream *s = stream(), *wrapped = NULL;
    (void)state;
    OK(kiln_stream_wrap(&wrapped, KILN_DEVICE_CUDA(0), NATIVE(s)));
    unsigned *counters = take(cuda(0), NATIVE(wrapped));
    kiln_stream_free(wrapped);
    long zeroed = fake_calls_of("cuMemsetD8Async");
    OK(kiln_stream_wrap(&wrapped, KILN_DEVICE_CUDA(0), NATIVE(s)));
    assert_ptr_equal(take(cuda(0), NATIVE(wrapped)), counters);
    assert_int_equal(fake_calls_of("cuMemsetD8Async"), zeroed);
    kiln_stream_free(wrapped);
    kiln_stream_free(s);
}

typedef struct taker {
    kiln_stream *own, *shared;
    unsigned *of_own, *of_shared;
} taker;

static void *take_both(void *user)
{
    taker *t = user;
    for (int turn = 0; turn < 50; turn++) {
        unsigned *own = take(cuda(0), NATIVE(t->own)), *shared = take(cuda(0), NATIVE(t->shared));
        assert_true(turn == 0 || (own == t->of_own && shared == t->of_shared));
        t->of_own = own;
        t->of_shared = shared;
    }
    return NULL;
}

static void test_threads(void **state)
{
    pthread_t thread[THREADS];
    taker t[THREADS];
    kiln_stream *shared = stream();
    (void)state;
    for (int k = 0; k < THREADS; k++) {
        t[k] = (taker){stream(), shared, NULL, NULL};
        assert_int_equal(pthread_create(&thread[k], NULL, take_both, &t[k]), 0);
    }
    for (int k = 0; k < THREADS; k++)
        assert_int_equal(pthread_join(thread[k], NULL), 0);
    for (int k = 0; k < THREADS; k++) {
        assert_ptr_equal(t[k].of_shared, t[0].of_shared);
        for (int j = 0; j < k; j++)
            assert_ptr_not_equal(t[k].of_own, t[j].of_own);
        kiln_stream_free(t[k].own);
    }
    kiln_stream_free(shared);
}

/* ---- of captured launches ---- */

/* Each node has its own, which neither the stream's other launches nor earlier nodes' scratch memory touches,
 * and which are zeroed beside the graph: a run of it does not. */
static void test_each_node_has_its_own(void **state)
{
    kiln_graph *graph = NULL;
    kiln_graph_exec *exec = NULL;
    kiln_stream *s = stream();
    void *scratch = NULL;
    unsigned *of_stream = take(cuda(0), NATIVE(s)), *node[3] = {NULL};
    (void)state;
    OK(kiln_capture_begin(s));
    OK(kn_memory_alloc(&scratch, cuda(0), COUNT * sizeof(unsigned), NATIVE(s)));
    kn_memory_free(cuda(0), scratch, COUNT * sizeof(unsigned), NATIVE(s));
    for (int k = 0; k < 3; k++) {
        node[k] = take(cuda(0), NATIVE(s));
        assert_zero(node[k], COUNT);
        assert_ptr_not_equal(node[k], of_stream);
        assert_ptr_not_equal(node[k], scratch);
        for (int j = 0; j < k; j++)
            assert_true(node[j] + COUNT <= node[k] || node[k] + COUNT <= node[j]);
        queue_dirty(node[k], NATIVE(s));
    }
    OK(kiln_capture_end(&graph, s));
    OK(kiln_graph_instantiate(&exec, graph));
    for (unsigned run = 1; run <= 5; run++) {
        long zeroed = fake_calls_of("cuMemsetD8Async");
        OK(kiln_graph_launch(exec, s));
        OK(kiln_stream_synchronize(s));
        for (int k = 0; k < 3; k++)
            assert_int_equal(node[k][0], run);
        assert_int_equal(fake_calls_of("cuMemsetD8Async"), zeroed);
    }
    assert_zero(of_stream, KN_MAX_COUNTERS);
    kiln_graph_free(graph);
    kiln_graph_exec_free(exec);
    kiln_stream_free(s);
}

/* One captured node's counters; the graph's instance is the caller's. */
static unsigned *capture_one(kiln_graph_exec **exec, kiln_stream *s)
{
    kiln_graph *graph = NULL;
    OK(kiln_capture_begin(s));
    unsigned *counters = take(cuda(0), NATIVE(s));
    queue_dirty(counters, NATIVE(s));
    OK(kiln_capture_end(&graph, s));
    OK(kiln_graph_instantiate(exec, graph));
    kiln_graph_free(graph);
    return counters;
}

/* Graphs that live at a time share no counters. When they are gone their counters are used again, zeroed
 * anew. */
static void test_they_live_as_long_as_the_graph(void **state)
{
    enum { GRAPHS = 20 };
    kiln_graph_exec *exec[GRAPHS];
    unsigned *counters[2][GRAPHS];
    kiln_stream *s = stream();
    int met = 0;
    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        OK(kiln_memory_trim(KILN_DEVICE_CUDA(0), SIZE_MAX)); /* takes in what has ended */
        for (int k = 0; k < GRAPHS; k++) {
            counters[turn][k] = capture_one(&exec[k], s);
            assert_zero(counters[turn][k], COUNT);
            for (int j = 0; j < GRAPHS; j++)
                met += turn == 1 && counters[0][j] == counters[1][k];
        }
        for (int run = 1; run <= 2; run++)
            for (int k = 0; k < GRAPHS; k++) {
                OK(kiln_memory_trim(KILN_DEVICE_CUDA(0), 0));
                OK(kiln_graph_launch(exec[k], s));
                OK(kiln_stream_synchronize(s));
                assert_int_equal(counters[turn][k][0], run);
            }
        for (int k = 0; k < GRAPHS; k++)
            kiln_graph_exec_free(exec[k]);
    }
    assert_true(met > GRAPHS / 2);
    kiln_stream_free(s);
}

/* ---- failures ---- */

static kiln_status flow(kiln_stream *s)
{
    kiln_graph *graph = NULL;
    unsigned *counters = NULL;
    kiln_status status = try_take(&counters, cuda(0), NATIVE(s));
    if (status == KILN_OK)
        assert_zero(counters, KN_MAX_COUNTERS);
    if (status == KILN_OK)
        status = kiln_capture_begin(s);
    if (status != KILN_OK)
        return status;
    status = try_take(&counters, cuda(0), NATIVE(s));
    kiln_status ended = kiln_capture_end(&graph, s);
    status = status == KILN_OK ? ended : status;
    kiln_graph_free(graph);
    return status;
}

/* Only the stream that zeroes is left, and the memory that the default stream had before. */
static void assert_nothing_left(kiln_stream *s, size_t before)
{
    bool active = false;
    OK(kiln_capture_is_active(&active, s));
    if (active)
        OK(kiln_capture_end(NULL, s));
    kiln_stream_free(s);
    OK(kiln_device_synchronize(KILN_DEVICE_CUDA(0)));
    OK(kiln_memory_trim(KILN_DEVICE_CUDA(0), 0));
    assert_int_equal(used(0), before);
    assert_true(fake_live(FAKE_STREAM) <= 1);
    assert_int_equal(fake_live(FAKE_GRAPH), 0);
    assert_int_equal(fake_context_depth(), 0);
    assert_int_equal(fake_capture_mode(), 0);
}

static void test_every_driver_call_fails(void **state)
{
    long nth = 1;
    size_t before = used(0);
    (void)state;
    for (bool hit = true; hit; nth++) {
        kiln_stream *s = stream();
        fake_fail(NULL, nth, 999);
        kiln_status status = flow(s);
        fake_fail(NULL, 0, 0);
        hit = fake_failed_function()[0];
        assert_true(hit || status == KILN_OK);
        assert_nothing_left(s, before);
    }
    assert_true(nth > 20);
}

static void test_every_allocation_fails(void **state)
{
    size_t before = used(0);
    int failures = 0;
    (void)state;
    for (unsigned long nth = 1; nth < 20; nth++) {
        kiln_stream *s = stream();
        kn_alloc_fail_at(nth, 0);
        kiln_status status = flow(s);
        kn_alloc_fail_at(0, 0);
        assert_true(status == KILN_OK || status == KILN_ERROR_MEMORY);
        failures += status != KILN_OK;
        assert_nothing_left(s, before);
    }
    assert_true(failures >= 3);
}

/* ---- fork ---- */

static void test_fork(void **state)
{
    kiln_stream *s = stream();
    kiln_graph_exec *exec = NULL;
    int status = 0;
    (void)state;
    take(cuda(0), NATIVE(s));
    capture_one(&exec, s);
    pid_t child = fork();
    if (child == 0) {
        unsigned *counters = NULL;
        long calls = fake_calls();
        kn_device *device = kn_device_ready(1);
        bool is_told = kn_counters_take(&counters, device, COUNT, NATIVE(s), 0) != KILN_OK &&
                       strstr(kiln_error_message(), "does not survive fork()") && !counters;
        kn_counters_stream_ends(device, NATIVE(s));
        _exit(is_told && fake_calls() == calls ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    kiln_graph_exec_free(exec);
    kiln_stream_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_stream_has_its_own),
        cmocka_unit_test(test_they_end_with_their_stream),
        cmocka_unit_test(test_wrapped_streams),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_each_node_has_its_own),
        cmocka_unit_test(test_they_live_as_long_as_the_graph),
        cmocka_unit_test(test_every_driver_call_fails),
        cmocka_unit_test(test_every_allocation_fails),
        cmocka_unit_test(test_fork),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
