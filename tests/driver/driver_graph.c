/* CUDA graphs on the fake driver: capture and replay, whose memory is whose, what is refused, failures. */
#include <pthread.h>

#include <kiln/graph.h>

#include "base/alloc.h"
#include "driver_common.h"

enum { SIZE = 12 << 20 }; /* a segment of its own */

int cuStreamBeginCapture_v2(void *, int);
int cuStreamEndCapture(void *, void **);
int cuGraphDestroy(void *);
int cuGraphInstantiateWithFlags(void **, void *, unsigned long long);
int cuGraphExecDestroy(void *);
int cuCtxPushCurrent_v2(void *);
int cuCtxPopCurrent_v2(void **);
int cuCtxSynchronize(void);

static kn_module *module;
static kn_function *add;

/* `add` adds n to the number at x, when it runs. */
typedef struct add_args {
    int64_t *x;
    int64_t n;
} add_args;

static void run_add(const fake_launch *launch, void *user)
{
    add_args args;
    (void)user;
    if (strcmp(launch->name, "add") != 0)
        return;
    memcpy(&args, launch->parameters, sizeof args);
    *args.x += args.n;
}

static int set_up(void **state)
{
    use_fake_driver(state);
    OK(kiln_device_set_current(KILN_DEVICE_CUDA(0)));
    OK(cuda(0)->backend->module_load(cuda(0), "kernel add 16\n", 14, "adding", &module));
    OK(cuda(0)->backend->module_function(module, "add", &add));
    fake_on_launch(run_add, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cuda(0)->backend->module_unload(module);
    return 0;
}

static kiln_status queue_add(int64_t *x, int64_t n, void *native)
{
    add_args args = {x, n};
    kn_launch launch = {
        .grid = {1, 1, 1}, .block = {1, 1, 1}, .block_data = &args, .block_size = sizeof args};
    return cuda(0)->backend->launch(add, &launch, native);
}

static kiln_stream *stream(void)
{
    kiln_stream *s = NULL;
    OK(kiln_stream_create(&s, KILN_DEVICE_CUDA(0), KILN_STREAM_NON_BLOCKING));
    return s;
}

#define NATIVE(s) kiln_stream_cuda_handle(s)

static void *take(size_t size, void *native)
{
    void *p = NULL;
    OK(kn_memory_alloc(&p, cuda(0), size, native));
    return p;
}

static void give(void *p, void *native)
{
    kn_memory_free(cuda(0), p, SIZE, native);
}

static int everything_back(void **state)
{
    kiln_memory_stats s = KILN_MEMORY_STATS_INIT;
    (void)state;
    OK(kiln_device_synchronize(KILN_DEVICE_CUDA(0)));
    OK(kiln_memory_trim(KILN_DEVICE_CUDA(0), 0));
    OK(kiln_memory_get_stats(KILN_DEVICE_CUDA(0), &s));
    assert_int_equal(s.used_bytes, 0);
    assert_int_equal(s.held_bytes, 0);
    static const fake_kind kinds[] = {FAKE_MEMORY, FAKE_STREAM, FAKE_GRAPH, FAKE_EXEC, FAKE_USER_OBJECT};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        assert_int_equal(fake_live(kinds[i]), 0);
    assert_int_equal(fake_context_depth(), 0);
    assert_int_equal(fake_capture_mode(), 0);
    return 0;
}

/* True if an eager request of SIZE can be given p now. Everything cached is tried. */
static bool is_available(void *p)
{
    void *taken[16];
    int count = 0;
    bool found = false;
    kiln_memory_stats s = KILN_MEMORY_STATS_INIT;
    OK(kiln_memory_get_stats(KILN_DEVICE_CUDA(0), &s));
    uint64_t asked = s.device_allocations;
    while (count < 16 && s.device_allocations == asked && !found) {
        taken[count] = take(SIZE, NULL);
        found = taken[count++] == p;
        OK(kiln_memory_get_stats(KILN_DEVICE_CUDA(0), &s));
    }
    while (count > 0)
        give(taken[--count], NULL);
    return found;
}

/* ---- capture and replay ---- */

static void test_hundred_mixed_calls(void **state)
{
    (void)state;
    kiln_stream *s = stream();
    int64_t *x = take(8, NULL), *y = take(8, NULL), from = 5, to = 0;
    kiln_graph *graph = NULL;
    kiln_graph_exec *one = NULL, *two = NULL;
    size_t nodes = 0;
    const kn_backend *b = cuda(0)->backend;
    *x = *y = 0;
    fake_launches_clear();
    OK(kiln_capture_begin(s));
    for (int i = 0; i < 25; i++) {
        int64_t *t = take(8, NATIVE(s));
        OK(b->fill(cuda(0), t, "\0\0\0\0", 4, 2, NATIVE(s)));
        OK(queue_add(t, i, NATIVE(s)));
        OK(b->copy(cuda(0), &from, t, 8, KN_COPY_DEVICE_TO_HOST, NATIVE(s)));
        OK(queue_add(x, i, NATIVE(s)));
        kn_memory_free(cuda(0), t, 8, NATIVE(s));
    }
    OK(kiln_capture_end(&graph, s));
    assert_int_equal(fake_launch_count(), 0);
    assert_int_equal(*x, 0);
    OK(kiln_graph_node_count(&nodes, graph));
    assert_int_equal(nodes, 100);
    OK(kiln_graph_instantiate(&one, graph));
    OK(kiln_graph_instantiate(&two, graph));
    assert_non_null(kiln_graph_cuda_handle(graph));
    assert_ptr_not_equal(kiln_graph_exec_cuda_handle(one), kiln_graph_exec_cuda_handle(two));
    for (int round = 1; round <= 5; round++) {
        OK(kiln_graph_launch(round % 2 ? one : two, s));
        assert_int_equal(*x, 300 * round);
        OK(queue_add(y, 1, NATIVE(s))); /* eager calls between */
        int64_t *eager = take(8, NATIVE(s));
        *eager = -1; /* not in the graph's memory */
        kn_memory_free(cuda(0), eager, 8, NATIVE(s));
        assert_int_equal(from, 24);
    }
    assert_int_equal(*y, 5);
    OK(b->copy(cuda(0), &to, x, 8, KN_COPY_DEVICE_TO_HOST, NATIVE(s)));
    assert_int_equal(to, 1500);
    kiln_graph_free(graph);
    OK(kiln_graph_launch(two, s)); /* an instance lives on */
    assert_int_equal(*x, 1800);
    kiln_graph_exec_free(one);
    kiln_graph_exec_free(two);
    kn_memory_free(cuda(0), x, 8, NULL);
    kn_memory_free(cuda(0), y, 8, NULL);
    kiln_stream_free(s);
}

/* ---- memory ---- */

static void test_memory_is_private(void **state)
{
    (void)state;
    kiln_stream *s = stream();
    kiln_graph *graph = NULL;
    kiln_graph_exec *exec = NULL;
    give(take(SIZE, NATIVE(s)), NATIVE(s)); /* cached, but not for a capture */
    OK(kiln_capture_begin(s));
    void *a = take(SIZE, NATIVE(s));
    give(a, NATIVE(s));
    void *b = take(SIZE, NATIVE(s));
    assert_ptr_equal(a, b); /* within the capture it is used again */
    give(b, NATIVE(s));
    OK(kiln_capture_end(&graph, s));
    void *c = take(SIZE, NATIVE(s));
    assert_ptr_not_equal(c, a);
    give(c, NATIVE(s));
    assert_false(is_available(a));
    OK(kiln_memory_trim(KILN_DEVICE_CUDA(0), 0));
    assert_true(fake_memory_used(0) >= SIZE); /* a trim leaves it alone */
    OK(kiln_graph_instantiate(&exec, graph));
    kiln_graph_free(graph);
    assert_false(is_available(a));
    kiln_graph_exec_free(exec);
    assert_true(is_available(a));
    kiln_stream_free(s);
}

static void test_memory_waits_for_the_last_run(void **state)
{
    (void)state;
    kiln_stream *s = stream(), *other = stream();
    kiln_graph *graph = NULL;
    kiln_graph_exec *exec = NULL;
    OK(kiln_capture_begin(s));
    void *a = take(SIZE, NATIVE(s));
    give(a, NATIVE(s));
    OK(kiln_capture_end(&graph, s));
    OK(kiln_graph_instantiate(&exec, graph));
    fake_hold(NATIVE(other), true);
    OK(kiln_graph_launch(exec, other));
    kiln_graph_free(graph);
    kiln_graph_exec_free(exec);
    assert_false(is_available(a));
    fake_hold(NATIVE(other), false);
    assert_true(is_available(a));
    kiln_stream_free(s);
    kiln_stream_free(other);
}

/* The same, and the stream of the last run is gone before the graph is. */
static void test_memory_waits_for_an_ended_stream(void **state)
{
    (void)state;
    kiln_stream *s = stream(), *other = stream();
    void *native = NATIVE(other);
    kiln_graph *graph = NULL;
    kiln_graph_exec *exec = NULL;
    OK(kiln_capture_begin(s));
    void *a = take(SIZE, NATIVE(s));
    give(a, NATIVE(s));
    OK(kiln_capture_end(&graph, s));
    OK(kiln_graph_instantiate(&exec, graph));
    fake_hold(native, true);
    OK(kiln_graph_launch(exec, other));
    kiln_stream_free(other);
    long waits = fake_calls_of("cuStreamWaitEvent");
    OK(kiln_graph_launch(exec, s)); /* behind the run on the stream that is gone */
    assert_int_equal(fake_calls_of("cuStreamWaitEvent"), waits + 1);
    fake_hold(native, false);
    kiln_graph_free(graph);
    kiln_graph_exec_free(exec);
    assert_true(is_available(a));
    kiln_stream_free(s);
}

/* An array made in the capture may outlive the graph. */
static void test_block_outlives_the_graph(void **state)
{
    (void)state;
    kiln_stream *s = stream();
    kiln_graph *graph = NULL;
    OK(kiln_capture_begin(s));
    int64_t *a = take(SIZE, NATIVE(s));
    OK(kiln_capture_end(&graph, s));
    kiln_graph_free(graph);
    assert_false(is_available(a));
    *a = 1;
    give(a, NATIVE(s));
    assert_true(is_available(a));
    kiln_stream_free(s);
}

static bool has(const char *block, size_t size, const char *pointer)
{
    return pointer >= block && pointer < block + size;
}

/* A block from before the capture that is freed during it may be used by what was captured. */
static void test_eager_block_freed_in_a_capture(void **state)
{
    (void)state;
    kiln_stream *s = stream();
    kiln_graph *graph = NULL;
    void *a = take(SIZE, NATIVE(s));
    OK(kiln_capture_begin(s));
    OK(queue_add(a, 1, NATIVE(s)));
    give(a, NATIVE(s));
    OK(kiln_capture_end(&graph, s));
    void *b = take(SIZE, NATIVE(s));
    assert_ptr_not_equal(a, b);
    give(b, NATIVE(s));
    kiln_graph_free(graph);
    b = take(2 * SIZE, NATIVE(s)); /* a miss: what has ended is taken in */
    void *c = take(SIZE, NATIVE(s)), *d = take(SIZE, NATIVE(s));
    assert_true(a == c || a == d || has(b, 2 * SIZE, a));
    give(c, NATIVE(s));
    give(d, NATIVE(s));
    kn_memory_free(cuda(0), b, 2 * SIZE, NATIVE(s));
    kiln_stream_free(s);
}

static void test_eager_block_used_in_a_capture(void **state)
{
    (void)state;
    kiln_stream *s = stream();
    kiln_graph *graph = NULL;
    void *a = take(SIZE, NULL);
    OK(kiln_capture_begin(s));
    OK(kn_memory_used_on(cuda(0), a, NATIVE(s)));
    OK(queue_add(a, 1, NATIVE(s)));
    OK(kiln_capture_end(&graph, s));
    give(a, NULL);
    assert_false(is_available(a));
    kiln_graph_free(graph);
    give(take(SIZE + 512, NULL), NULL); /* a miss */
    assert_true(is_available(a));
    kiln_stream_free(s);
}

/* ---- what is held ---- */

static void count_release(void *object)
{
    ++*(int *)object;
}

static void test_holding(void **state)
{
    int released = 0;
    bool taken = true;
    (void)state;
    kiln_stream *s = stream();
    kiln_graph *graph = NULL;
    kiln_graph_exec *exec = NULL;
    OK(kn_capture_hold(cuda(0), NATIVE(s), count_release, &released, &taken));
    assert_false(taken);
    OK(kiln_capture_begin(s));
    for (int i = 0; i < 3; i++) {
        OK(kn_capture_hold(cuda(0), NATIVE(s), count_release, &released, &taken));
        assert_true(taken);
    }
    OK(kiln_capture_end(&graph, s));
    OK(kiln_graph_instantiate(&exec, graph));
    kiln_graph_free(graph);
    assert_int_equal(released, 0);
    kiln_graph_exec_free(exec);
    assert_int_equal(released, 3);
    kiln_stream_free(s);
}

/* ---- what is refused ---- */

static void test_nothing_waits(void **state)
{
    kn_module *m = NULL;
    bool active = false;
    (void)state;
    kiln_stream *s = stream();
    kiln_event *e = NULL;
    kiln_graph *graph = NULL;
    OK(kiln_event_create(&e, KILN_DEVICE_CUDA(0), 0));
    OK(kiln_capture_begin(s));
    OK(kiln_capture_is_active(&active, s));
    assert_true(active);
    assert_int_equal(kiln_device_synchronize(KILN_DEVICE_CUDA(0)), KILN_ERROR_CAPTURE);
    MESSAGE_HAS("while this thread captures a stream of cuda:0");
    assert_int_equal(kiln_stream_synchronize(s), KILN_ERROR_CAPTURE);
    assert_int_equal(kiln_event_synchronize(e), KILN_ERROR_CAPTURE);
    assert_int_equal(kiln_stream_query(&active, s), KILN_ERROR_CAPTURE);
    OK(cuda(0)->backend->module_load(cuda(0), "kernel k 8", 10, "late", &m));
    cuda(0)->backend->module_unload(m);
    assert_int_equal(kiln_capture_begin(s), KILN_ERROR_CAPTURE); /* twice */
    assert_int_equal(kiln_capture_begin_with(s, NULL), KILN_ERROR_CAPTURE);
    MESSAGE_HAS("is being captured already");
    OK(kiln_capture_end(&graph, s)); /* none of it has spoilt the capture */
    OK(kiln_capture_is_active(&active, s));
    assert_false(active);
    OK(kiln_device_synchronize(KILN_DEVICE_CUDA(0)));
    kiln_graph_free(graph);
    kiln_event_free(e);
    kiln_stream_free(s);
}

/* Nobody outside can ask about events within a capture; a capture waits for none outside. */
static void test_events_on_the_wrong_side(void **state)
{
    double milliseconds;
    bool is_over;
    (void)state;
    kiln_stream *s = stream();
    kiln_event *inside = NULL, *outside = NULL;
    kiln_graph *graph = NULL, *none = NULL;
    kiln_graph_exec *exec = NULL;
    OK(kiln_event_create(&inside, KILN_DEVICE_CUDA(0), KILN_EVENT_TIMING));
    OK(kiln_event_create(&outside, KILN_DEVICE_CUDA(0), KILN_EVENT_TIMING));
    OK(kiln_event_record(outside, s));
    OK(kiln_capture_begin(s));
    OK(kiln_event_record(inside, s));
    OK(kiln_capture_end(&graph, s));
    assert_int_equal(kiln_event_query(&is_over, inside), KILN_ERROR_CAPTURE);
    assert_int_equal(kiln_event_elapsed(&milliseconds, outside, inside), KILN_ERROR_CAPTURE);
    OK(kiln_graph_instantiate(&exec, graph));
    OK(kiln_capture_begin(s));
    assert_int_equal(kiln_stream_wait_event(s, outside), KILN_ERROR_CAPTURE);
    assert_int_equal(kiln_graph_launch(exec, s), KILN_ERROR_CAPTURE);
    KILN_IGNORE(kiln_capture_end(&none, s));
    kiln_graph_free(none);
    kiln_graph_exec_free(exec);
    kiln_graph_free(graph);
    kiln_event_free(inside);
    kiln_event_free(outside);
    kiln_stream_free(s);
}

static void test_prepared_captures_load_nothing(void **state)
{
    kn_module *m = NULL;
    (void)state;
    kiln_stream *s = stream();
    kiln_graph *graph = NULL;
    kiln_capture_options options = KILN_CAPTURE_OPTIONS_INIT;
    options.flags = KILN_CAPTURE_PREPARED;
    OK(kiln_capture_begin_with(s, &options));
    assert_int_equal(cuda(0)->backend->module_load(cuda(0), "kernel k 8", 10, "late", &m),
                     KILN_ERROR_CAPTURE);
    MESSAGE_HAS("loading \"late\": code cannot be loaded while this thread captures a stream with "
                "KILN_CAPTURE_PREPARED");
    OK(kiln_capture_end(&graph, s));
    kiln_graph_free(graph);
    OK(cuda(0)->backend->module_load(cuda(0), "kernel k 8", 10, "late", &m));
    cuda(0)->backend->module_unload(m);
    options.flags = 2;
    assert_int_equal(kiln_capture_begin_with(s, &options), KILN_ERROR_INVALID);
    MESSAGE_HAS("options.flags: 0x2 was given");
    options.struct_size = 0;
    assert_int_equal(kiln_capture_begin_with(s, &options), KILN_ERROR_INVALID);
    kiln_stream_free(s);
}

static void test_bad_arguments(void **state)
{
    (void)state;
    kiln_stream *s = stream(), *host = NULL, *far = NULL;
    kiln_graph *graph = NULL;
    kiln_graph_exec *exec = NULL;
    bool active = true;
    size_t count = 0;
    assert_int_equal(kiln_capture_begin(NULL), KILN_ERROR_INVALID); /* the default stream */
    MESSAGE_HAS("the default stream cannot be captured");
    OK(kiln_stream_create(&host, KILN_DEVICE_HOST, 0));
    assert_int_equal(kiln_capture_begin(host), KILN_ERROR_UNSUPPORTED);
    MESSAGE_HAS("the host has no graphs");
    OK(kiln_capture_is_active(&active, host));
    assert_false(active);
    assert_int_equal(kiln_capture_end(&graph, s), KILN_ERROR_CAPTURE);
    MESSAGE_HAS("the stream is not being captured");
    assert_null(graph);
    assert_int_equal(kiln_capture_is_active(NULL, s), KILN_ERROR_INVALID);
    assert_int_equal(kiln_graph_instantiate(&exec, NULL), KILN_ERROR_INVALID);
    assert_int_equal(kiln_graph_launch(NULL, s), KILN_ERROR_INVALID);
    assert_int_equal(kiln_graph_node_count(&count, NULL), KILN_ERROR_INVALID);
    assert_int_equal(kiln_capture(&exec, NULL, NULL, NULL), KILN_ERROR_INVALID);
    OK(kiln_capture_begin(s));
    OK(kiln_capture_end(&graph, s));
    OK(kiln_graph_instantiate(&exec, graph));
    OK(kiln_stream_create(&far, KILN_DEVICE_CUDA(1), 0));
    assert_int_equal(kiln_graph_launch(exec, far), KILN_ERROR_INVALID);
    kiln_graph_free(graph);
    kiln_graph_exec_free(exec);
    kiln_graph_free(NULL);
    kiln_graph_exec_free(NULL);
    kiln_stream_free(far);
    kiln_stream_free(host);
    kiln_stream_free(s);
}

static void test_spoilt_capture(void **state)
{
    void *context = NULL;
    int released = 0;
    bool taken = false;
    (void)state;
    kiln_stream *s = stream();
    kiln_graph *graph = NULL;
    OK(kiln_capture_begin(s));
    void *a = take(SIZE, NATIVE(s));
    give(a, NATIVE(s));
    OK(kn_capture_hold(cuda(0), NATIVE(s), count_release, &released, &taken));
    OK(kiln_device_cuda_context(&context, KILN_DEVICE_CUDA(0)));
    cuCtxPushCurrent_v2(context);
    assert_int_not_equal(cuCtxSynchronize(), 0); /* somebody else's library */
    cuCtxPopCurrent_v2(&context);
    assert_int_equal(kiln_capture_end(&graph, s), KILN_ERROR_CAPTURE);
    assert_null(graph);
    assert_int_equal(released, 1);
    assert_true(is_available(a));
    OK(kiln_capture_begin(s)); /* and again, well */
    OK(kiln_capture_end(NULL, s));
    kiln_stream_free(s);
}

static void *end_elsewhere(void *s)
{
    kiln_graph *graph = NULL;
    return (void *)(intptr_t)kiln_capture_end(&graph, s);
}

static void test_another_thread_cannot_end_it(void **state)
{
    pthread_t thread;
    void *status = NULL;
    (void)state;
    kiln_stream *s = stream();
    OK(kiln_capture_begin(s));
    assert_int_equal(pthread_create(&thread, NULL, end_elsewhere, s), 0);
    pthread_join(thread, &status);
    assert_int_equal((int)(intptr_t)status, KILN_ERROR_CAPTURE);
    OK(kiln_capture_end(NULL, s));
    kiln_stream_free(s);
}

static void *allocate_elsewhere(void *unused)
{
    (void)unused;
    void *p = NULL;
    kiln_status status = kn_memory_alloc(&p, cuda(0), 2 * SIZE, NULL);
    if (status == KILN_OK)
        kn_memory_free(cuda(0), p, 2 * SIZE, NULL);
    if (status == KILN_OK && kiln_device_synchronize(KILN_DEVICE_CUDA(0)) != KILN_ERROR_CAPTURE)
        status = KILN_ERROR_INTERNAL; /* the driver would spoil the capture, whoever has begun it */
    return (void *)(intptr_t)status;
}

static void test_other_threads_go_on(void **state)
{
    pthread_t thread;
    void *status = NULL;
    (void)state;
    kiln_stream *s = stream();
    OK(kiln_capture_begin(s));
    assert_int_equal(pthread_create(&thread, NULL, allocate_elsewhere, NULL), 0);
    pthread_join(thread, &status);
    assert_int_equal((int)(intptr_t)status, KILN_OK);
    OK(kiln_capture_end(NULL, s));
    kiln_stream_free(s);
}

/* ---- streams ---- */

static void test_runs_follow_one_another(void **state)
{
    (void)state;
    kiln_stream *s = stream(), *t = stream();
    kiln_graph *graph = NULL;
    kiln_graph_exec *exec = NULL;
    OK(kiln_capture_begin(s));
    OK(kiln_capture_end(&graph, s));
    OK(kiln_graph_instantiate(&exec, graph));
    long waits = fake_calls_of("cuStreamWaitEvent"), records = fake_calls_of("cuEventRecord");
    OK(kiln_graph_launch(exec, s));
    OK(kiln_graph_launch(exec, s));
    assert_int_equal(fake_calls_of("cuEventRecord"), records); /* one stream is in order by itself */
    OK(kiln_graph_launch(exec, t));
    assert_int_equal(fake_calls_of("cuStreamWaitEvent"), waits + 1);
    OK(kiln_graph_launch(exec, NULL));
    assert_int_equal(fake_calls_of("cuStreamWaitEvent"), waits + 2);
    kiln_graph_exec_free(exec);
    kiln_graph_free(graph);
    kiln_stream_free(s);
    kiln_stream_free(t);
}

static void test_a_second_stream_joins(void **state)
{
    bool active = false;
    (void)state;
    kiln_stream *s = stream(), *t = stream();
    kiln_event *e = NULL;
    kiln_graph *graph = NULL;
    int64_t *x = take(8, NULL);
    size_t nodes = 0;
    *x = 0;
    OK(kiln_event_create(&e, KILN_DEVICE_CUDA(0), 0));
    OK(kiln_capture_begin(s));
    OK(queue_add(x, 1, NATIVE(s)));
    OK(kiln_event_record(e, s));
    OK(kiln_stream_wait_event(t, e));
    OK(kiln_capture_is_active(&active, t));
    assert_true(active);
    void *a = take(SIZE, NATIVE(t));
    OK(queue_add(x, 2, NATIVE(t)));
    OK(kn_memory_used_on(cuda(0), a, NATIVE(s))); /* two streams of one capture */
    give(a, NATIVE(t));
    void *b = take(SIZE, NATIVE(t));
    assert_ptr_not_equal(a, b);
    give(b, NATIVE(t));
    OK(kiln_event_record(e, t));
    OK(kiln_stream_wait_event(s, e));
    OK(kiln_capture_end(&graph, s));
    OK(kiln_graph_node_count(&nodes, graph));
    assert_int_equal(nodes, 2);
    assert_false(is_available(a));
    assert_false(is_available(b));
    kiln_graph_free(graph);
    assert_true(is_available(b));
    kn_memory_free(cuda(0), x, 8, NULL);
    kiln_event_free(e);
    kiln_stream_free(s);
    kiln_stream_free(t);
}

/* ---- captures that others begin ---- */

static void test_foreign_capture(void **state)
{
    void *context = NULL, *graph = NULL, *exec = NULL;
    int released = 0;
    bool taken = false;
    (void)state;
    kiln_stream *s = stream(), *wrapped = NULL;
    kiln_graph *ours = NULL;
    OK(kiln_stream_wrap(&wrapped, KILN_DEVICE_CUDA(0), NATIVE(s)));
    OK(kiln_device_cuda_context(&context, KILN_DEVICE_CUDA(0)));
    cuCtxPushCurrent_v2(context);
    assert_int_equal(cuStreamBeginCapture_v2(NATIVE(s), 0), 0);
    void *a = take(SIZE, NATIVE(wrapped));
    give(a, NATIVE(wrapped));
    OK(kn_capture_hold(cuda(0), NATIVE(wrapped), count_release, &released, &taken));
    assert_true(taken);
    assert_int_equal(kiln_capture_end(&ours, wrapped), KILN_ERROR_CAPTURE);
    MESSAGE_HAS("was not begun by kiln_capture_begin");
    assert_int_equal(cuStreamEndCapture(NATIVE(s), &graph), 0);
    assert_false(is_available(a));
    assert_int_equal(cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
    cuGraphDestroy(graph);
    assert_false(is_available(a));
    assert_int_equal(released, 0);
    cuGraphExecDestroy(exec);
    assert_true(is_available(a));
    assert_int_equal(released, 1);
    cuCtxPopCurrent_v2(&context);
    kiln_stream_free(wrapped);
    kiln_stream_free(s);
}

/* ---- all in one ---- */

typedef struct step {
    int64_t *x;
    kiln_status status;
    int calls;
} step;

static kiln_status run_step(void *user)
{
    step *st = user;
    void *native = NULL;
    st->calls++;
    kiln_status status = kn_stream_native(&native, cuda(0), NULL);
    for (int i = 0; status == KILN_OK && i < 3; i++)
        status = queue_add(st->x, 1, native);
    if (status == KILN_OK && st->status != KILN_OK)
        return kiln_capture_begin(NULL); /* any failing call, with its message */
    return status;
}

static void test_all_in_one(void **state)
{
    (void)state;
    step st = {take(8, NULL), KILN_OK, 0};
    kiln_graph_exec *exec = NULL;
    kiln_device d = 0;
    *st.x = 0;
    OK(kiln_capture(&exec, NULL, run_step, &st));
    assert_int_equal(*st.x, 0);
    for (int i = 0; i < 4; i++)
        OK(kiln_graph_launch(exec, NULL));
    assert_int_equal(*st.x, 12);
    assert_int_equal(st.calls, 1);
    kiln_graph_exec_free(exec);
    exec = NULL;

    kiln_stream *s = stream(), *mine = stream();
    OK(kiln_device_set_current(KILN_DEVICE_CUDA(1)));
    KILN_IGNORE(kiln_device_set_current(KILN_DEVICE_CUDA(0)));
    kiln_stream_set_current(mine);
    KILN_IGNORE(kiln_device_set_current(KILN_DEVICE_CUDA(1)));
    OK(kiln_capture(&exec, s, run_step, &st)); /* a stream of a device that is not current */
    OK(kiln_device_current(&d));
    assert_int_equal(d, KILN_DEVICE_CUDA(1));
    KILN_IGNORE(kiln_device_set_current(KILN_DEVICE_CUDA(0)));
    assert_ptr_equal(kiln_stream_set_current(NULL), mine);
    kiln_graph_exec_free(exec);
    exec = NULL;

    st.status = KILN_ERROR_DEVICE;
    assert_int_equal(kiln_capture(&exec, s, run_step, &st), KILN_ERROR_CAPTURE);
    MESSAGE_HAS("is being captured already");
    assert_null(exec);
    assert_null(kiln_stream_current());
    kiln_stream_free(s);
    kiln_stream_free(mine);
    kn_memory_free(cuda(0), st.x, 8, NULL);
}

/* ---- failures ---- */

/* Code that is new in a capture. */
static kiln_status load_and_launch(void *native, kn_module **m)
{
    const kn_backend *b = cuda(0)->backend;
    kn_function *f = NULL;
    void *address = NULL;
    kn_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .shared_bytes = 64 << 10};
    kiln_status status = b->module_load(cuda(0), "kernel k\nglobal g 8", 19, "late", m);
    if (status == KILN_OK)
        status = b->module_function(*m, "k", &f);
    if (status == KILN_OK)
        status = b->module_global(*m, "g", &address, NULL);
    return status == KILN_OK ? b->launch(f, &launch, native) : status;
}

/* A second stream joins, and goes before the end. */
static kiln_status fork_and_join(kiln_stream *s)
{
    kiln_stream *fork = NULL;
    kiln_event *e = NULL;
    kiln_status status = kiln_stream_create(&fork, KILN_DEVICE_CUDA(0), KILN_STREAM_NON_BLOCKING);
    if (status == KILN_OK)
        status = kiln_event_create(&e, KILN_DEVICE_CUDA(0), 0);
    if (status == KILN_OK)
        status = kiln_event_record(e, s);
    if (status == KILN_OK)
        status = kiln_stream_wait_event(fork, e);
    if (status == KILN_OK)
        status = kiln_event_record(e, fork);
    if (status == KILN_OK)
        status = kiln_stream_wait_event(s, e);
    kiln_event_free(e);
    kiln_stream_free(fork);
    return status;
}

static kn_module *late; /* of whole_flow: for the caller to unload */

static kiln_status whole_flow(kiln_stream *s, int *held, int *released)
{
    kiln_graph *graph = NULL;
    kiln_graph_exec *exec = NULL;
    void *a = NULL;
    bool taken = false, done;
    late = NULL;
    kiln_status status = kiln_capture_begin(s);
    if (status != KILN_OK)
        return status;
    status = kn_memory_alloc(&a, cuda(0), SIZE, NATIVE(s));
    if (status == KILN_OK)
        status = queue_add(a, 1, NATIVE(s));
    if (status == KILN_OK)
        status = load_and_launch(NATIVE(s), &late);
    if (status == KILN_OK)
        status = fork_and_join(s);
    if (status == KILN_OK && kiln_stream_query(&done, s) != KILN_ERROR_CAPTURE)
        status = kiln_error_status();
    if (status == KILN_OK)
        status = kn_capture_hold(cuda(0), NATIVE(s), count_release, released, &taken);
    *held += taken;
    if (a)
        give(a, NATIVE(s));
    kiln_status ended = kiln_capture_end(&graph, s);
    status = status == KILN_OK ? ended : status;
    if (status == KILN_OK)
        status = kiln_graph_instantiate(&exec, graph);
    if (status == KILN_OK)
        status = kiln_graph_launch(exec, s);
    if (status == KILN_OK)
        status = kiln_graph_launch(exec, NULL);
    kiln_graph_free(graph);
    kiln_graph_exec_free(exec);
    return status;
}

/* Ends a capture that a failing call has not ended. */
static void end_if_active(kiln_stream *s)
{
    bool active = false;
    OK(kiln_capture_is_active(&active, s));
    if (active)
        OK(kiln_capture_end(NULL, s));
}

static void test_every_driver_call_fails(void **state)
{
    long nth = 1;
    (void)state;
    for (bool hit = true; hit; nth++) {
        int held = 0, released = 0;
        kiln_stream *s = stream();
        fake_fail(NULL, nth, 999);
        kiln_status status = whole_flow(s, &held, &released);
        fake_fail(NULL, 0, 0);
        hit = fake_failed_function()[0];
        assert_true(hit || status == KILN_OK);
        end_if_active(s);
        assert_int_equal(released, held);
        cuda(0)->backend->module_unload(late);
        kiln_stream_free(s);
        OK(kiln_memory_trim(KILN_DEVICE_CUDA(0), 0));
        assert_int_equal(fake_live(FAKE_STREAM), 0);
        assert_int_equal(fake_live(FAKE_MODULE), 1);
        assert_int_equal(fake_live(FAKE_GRAPH) + fake_live(FAKE_EXEC), 0);
        assert_int_equal(fake_context_depth(), 0);
        assert_int_equal(fake_capture_mode(), 0);
    }
    assert_true(nth > 40);
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    for (unsigned long nth = 1; nth < 40; nth++) {
        int held = 0, released = 0;
        kiln_stream *s = stream();
        kn_alloc_fail_at(nth, 0);
        kiln_status status = whole_flow(s, &held, &released);
        kn_alloc_fail_at(0, 0);
        assert_true(status == KILN_OK || status == KILN_ERROR_MEMORY);
        end_if_active(s);
        assert_int_equal(released, held);
        cuda(0)->backend->module_unload(late);
        kiln_stream_free(s);
        everything_back(NULL);
    }
}

int main(void)
{
#define GRAPH_TEST(name) cmocka_unit_test_setup_teardown(name, NULL, everything_back)
    const struct CMUnitTest tests[] = {
        GRAPH_TEST(test_hundred_mixed_calls),
        GRAPH_TEST(test_memory_is_private),
        GRAPH_TEST(test_memory_waits_for_the_last_run),
        GRAPH_TEST(test_memory_waits_for_an_ended_stream),
        GRAPH_TEST(test_block_outlives_the_graph),
        GRAPH_TEST(test_eager_block_freed_in_a_capture),
        GRAPH_TEST(test_eager_block_used_in_a_capture),
        GRAPH_TEST(test_holding),
        GRAPH_TEST(test_nothing_waits),
        GRAPH_TEST(test_events_on_the_wrong_side),
        GRAPH_TEST(test_prepared_captures_load_nothing),
        GRAPH_TEST(test_bad_arguments),
        GRAPH_TEST(test_spoilt_capture),
        GRAPH_TEST(test_another_thread_cannot_end_it),
        GRAPH_TEST(test_other_threads_go_on),
        GRAPH_TEST(test_runs_follow_one_another),
        GRAPH_TEST(test_a_second_stream_joins),
        GRAPH_TEST(test_foreign_capture),
        GRAPH_TEST(test_all_in_one),
        GRAPH_TEST(test_every_allocation_fails),
        GRAPH_TEST(test_every_driver_call_fails),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
