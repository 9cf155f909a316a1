/* Many threads at once on the fake driver: streams, blocks used on each other's streams, captures, graphs.
 * For the thread sanitizer, and to see that no block is ever given to two. */
#include <pthread.h>
#include <stdatomic.h>

#include <kiln/graph.h>

#include "driver_common.h"

enum { THREADS = 4, ROUNDS = 400, SLOTS = 12 };

static kiln_stream *shared[2]; /* streams on which everybody's blocks are used */
static _Atomic int failures;

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 8;
}

static void expect(bool good)
{
    if (!good)
        atomic_fetch_add(&failures, 1);
}

typedef struct worker {
    unsigned seed;
    unsigned char *held[SLOTS];
    size_t sizes[SLOTS];
    void *native[SLOTS];
    kiln_stream *stream;
} worker;

/* The mark goes into the first and last byte: another owner would overwrite it. */
static void take_or_give(worker *w, int slot, void *native)
{
    unsigned char mark = (unsigned char)(w->seed >> 24);
    if (w->held[slot]) {
        unsigned char *p = w->held[slot];
        expect(p[0] == p[w->sizes[slot] - 1]);
        if (next(&w->seed) % 3 == 0)
            expect(kn_memory_used_on(cuda(0), p, kiln_stream_cuda_handle(shared[next(&w->seed) % 2])) ==
                   KILN_OK);
        kn_memory_free(cuda(0), p, w->sizes[slot], w->native[slot]);
        w->held[slot] = NULL;
        return;
    }
    void *p = NULL;
    w->sizes[slot] = 1 + next(&w->seed) % (next(&w->seed) % 16 ? 30000 : 2000000);
    w->native[slot] = native;
    expect(kn_memory_alloc(&p, cuda(0), w->sizes[slot], native) == KILN_OK);
    w->held[slot] = p;
    if (p)
        w->held[slot][0] = w->held[slot][w->sizes[slot] - 1] = mark;
}

static void capture_something(worker *w)
{
    kiln_graph *graph = NULL;
    kiln_graph_exec *exec = NULL;
    void *native = kiln_stream_cuda_handle(w->stream), *p = NULL;
    expect(kiln_capture_begin(w->stream) == KILN_OK);
    expect(kn_memory_alloc(&p, cuda(0), 5000, native) == KILN_OK);
    expect(cuda(0)->backend->fill(cuda(0), p, "\1", 1, 5000, native) == KILN_OK);
    kn_memory_free(cuda(0), p, 5000, native);
    expect(kiln_capture_end(&graph, w->stream) == KILN_OK);
    expect(kiln_graph_instantiate(&exec, graph) == KILN_OK);
    expect(kiln_graph_launch(exec, w->stream) == KILN_OK);
    expect(kiln_graph_launch(exec, shared[0]) == KILN_OK);
    kiln_graph_free(graph);
    kiln_graph_exec_free(exec);
}

static void *work(void *seed)
{
    worker w = {.seed = (unsigned)(uintptr_t)seed};
    KILN_IGNORE(kiln_device_set_current(KILN_DEVICE_CUDA(0)));
    expect(kiln_stream_create(&w.stream, KILN_DEVICE_CUDA(0), KILN_STREAM_NON_BLOCKING) == KILN_OK);
    for (int i = 0; i < ROUNDS; i++) {
        take_or_give(&w, (int)(next(&w.seed) % SLOTS),
                     next(&w.seed) % 4 ? kiln_stream_cuda_handle(w.stream) : NULL);
        if (i % 97 == 50)
            capture_something(&w);
        if (i % 61 == 60) { /* blocks outlive their stream */
            kiln_stream_free(w.stream);
            expect(kiln_stream_create(&w.stream, KILN_DEVICE_CUDA(0), 0) == KILN_OK);
        }
        if (i % 50 == 49)
            expect(kiln_memory_trim(KILN_DEVICE_CUDA(0), 1 << 20) == KILN_OK);
        kn_device_note_launch(i % 2 ? "one" : "another");
    }
    for (int slot = 0; slot < SLOTS; slot++)
        if (w.held[slot])
            take_or_give(&w, slot, NULL);
    kiln_stream_free(w.stream);
    return NULL;
}

static void test_all_at_once(void **state)
{
    pthread_t threads[THREADS];
    kiln_memory_stats s = KILN_MEMORY_STATS_INIT;
    (void)state;
    for (int i = 0; i < 2; i++)
        OK(kiln_stream_create(&shared[i], KILN_DEVICE_CUDA(0), KILN_STREAM_NON_BLOCKING));
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)(i * 77 + 1)), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(failures, 0);
    for (int i = 0; i < 2; i++)
        kiln_stream_free(shared[i]);
    OK(kiln_memory_trim(KILN_DEVICE_CUDA(0), 0));
    OK(kiln_memory_get_stats(KILN_DEVICE_CUDA(0), &s));
    assert_int_equal(s.used_bytes, 0);
    assert_int_equal(s.held_bytes, 0);
    assert_int_equal(
        fake_live(FAKE_MEMORY) + fake_live(FAKE_STREAM) + fake_live(FAKE_GRAPH) + fake_live(FAKE_EXEC), 0);
}

static void *get_devices(void *unused)
{
    (void)unused;
    expect(cuda(0)->id == KILN_DEVICE_CUDA(0) && cuda(1)->id == KILN_DEVICE_CUDA(1));
    return NULL;
}

static void test_first_use_by_many(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, get_devices, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(failures, 0);
    assert_int_equal(fake_calls_of("cuDevicePrimaryCtxRetain"), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_use_by_many), /* first */
        cmocka_unit_test(test_all_at_once),
    };
    return cmocka_run_group_tests(tests, use_fake_driver, NULL);
}
