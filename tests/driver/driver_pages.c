/* Mapped pages of the pool on the fake driver: who reaches them, what fails, what waits, captures. */
#include "driver_common.h"

#include <kiln/graph.h>

/* More moves than the pool may hold beyond its peak. */
enum { SIZE = 16 << 20, PARTS = 20, SPARE = 40 << 20 };

#define NATIVE(s) kiln_stream_cuda_handle(s)

static kiln_memory_stats stats(void)
{
    kiln_memory_stats s = KILN_MEMORY_STATS_INIT;
    OK(kiln_memory_get_stats(KILN_DEVICE_CUDA(0), &s));
    return s;
}

static void *take(size_t size, void *stream)
{
    void *p = NULL;
    OK(kn_memory_alloc(&p, cuda(0), size, stream));
    return p;
}

static void give(void *p, size_t size, void *stream)
{
    kn_memory_free(cuda(0), p, size, stream);
}

static int everything_back(void **state)
{
    (void)state;
    fake_fail(NULL, 0, 0);
    OK(kiln_device_synchronize(KILN_DEVICE_CUDA(0)));
    assert_int_equal(stats().used_bytes, 0);
    OK(kiln_memory_trim(KILN_DEVICE_CUDA(0), 0));
    OK(kiln_memory_trim(KILN_DEVICE_CUDA(1), 0));
    assert_int_equal(stats().held_bytes, 0);
    assert_int_equal(fake_live(FAKE_MEMORY), 0);
    assert_int_equal(fake_live(FAKE_RANGE), 0);
    return 0;
}

static kiln_stream *stream(void)
{
    kiln_stream *s = NULL;
    OK(kiln_stream_create(&s, KILN_DEVICE_CUDA(0), KILN_STREAM_NON_BLOCKING));
    return s;
}

/* Twelve blocks, of which each second comes back: every free one is between two in use. */
static void scatter(void **parts, void *stream)
{
    for (int i = 0; i < PARTS; i++)
        parts[i] = take(SIZE, stream);
    for (int i = 0; i < PARTS; i += 2)
        give(parts[i], SIZE, stream);
}

static void gather(void **parts, void *stream)
{
    for (int i = 1; i < PARTS; i += 2)
        give(parts[i], SIZE, stream);
}

static void test_peers_reach_pages(void **state)
{
    bool can = false;
    (void)state;
    char *before = take(SIZE, NULL), *later;
    assert_int_equal(fake_access_of(before), 1);
    OK(kn_device_enable_peer(cuda(0), cuda(1), &can));
    assert_true(can);
    assert_int_equal(fake_access_of(before), 3);
    assert_int_equal(fake_access_of(before + SIZE - 1), 3);
    later = take(40 << 20, NULL);
    assert_int_equal(fake_access_of(later + (40 << 20) - 1), 3);
    give(before, SIZE, NULL);
    give(later, 40 << 20, NULL);
}

static void test_free_pages_move(void **state)
{
    void *parts[PARTS];
    (void)state;
    scatter(parts, NULL);
    size_t held = stats().held_bytes, whole = (size_t)PARTS / 2 * SIZE;
    void *large = take(whole, NULL);
    assert_in_range(stats().held_bytes, held, held + SPARE);
    assert_int_equal(fake_memory_used(0), stats().held_bytes);
    int moved = 0;
    for (int i = 0; i < PARTS; i += 2)
        moved += !fake_access_of(parts[i]);
    assert_in_range(moved, PARTS / 2 - SPARE / SIZE - 1, PARTS / 2);
    for (int i = 1; i < PARTS; i += 2)
        assert_true(fake_access_of(parts[i]) && fake_access_of((char *)parts[i] + SIZE - 1));
    give(large, whole, NULL);
    gather(parts, NULL);
}

/* Pages may be in use until the stream's work is over: they are not unmapped, and other pages serve. */
static void test_busy_pages_stay(void **state)
{
    void *parts[PARTS];
    (void)state;
    kiln_stream *s = stream();
    scatter(parts, NATIVE(s));
    size_t held = stats().held_bytes, whole = (size_t)PARTS / 2 * SIZE;
    fake_hold(NATIVE(s), true);
    void *large = take(whole, NATIVE(s));
    assert_int_equal(stats().held_bytes, held + whole);
    assert_true(fake_access_of(parts[0]));
    give(large, whole, NATIVE(s));
    gather(parts, NATIVE(s));
    fake_hold(NATIVE(s), false);
    kiln_stream_free(s);
}

/* While the stream is captured nobody can know what still uses its pages; the capture is not spoilt. */
static void test_captured_pages_stay(void **state)
{
    void *parts[PARTS];
    kiln_graph *graph = NULL;
    (void)state;
    kiln_stream *s = stream();
    scatter(parts, NATIVE(s));
    size_t held = stats().held_bytes;
    OK(kiln_capture_begin(s));
    OK(kiln_memory_trim(KILN_DEVICE_CUDA(0), 0));
    assert_int_equal(stats().held_bytes, held);
    void *graphs = take(SIZE, NATIVE(s));
    OK(kiln_capture_end(&graph, s));
    give(graphs, SIZE, NATIVE(s));
    kiln_graph_free(graph);
    OK(kiln_memory_trim(KILN_DEVICE_CUDA(0), 0));
    assert_int_equal(stats().held_bytes, (size_t)PARTS / 2 * SIZE);
    gather(parts, NATIVE(s));
    kiln_stream_free(s);
}

/* Without addresses, blocks come from allocations. */
static void test_no_addresses(void **state)
{
    (void)state;
    fake_fail("cuMemAddressReserve", 1, 2);
    long before = fake_calls_of("cuMemAlloc_v2");
    void *p = take(SIZE, NULL);
    assert_int_equal(fake_calls_of("cuMemAlloc_v2"), before + 1);
    void *q = take(30 << 20, NULL); /* there are some again */
    assert_int_equal(fake_calls_of("cuMemAlloc_v2"), before + 1);
    give(p, SIZE, NULL);
    give(q, 30 << 20, NULL);
}

/* Each call that maps fails, in the first mapping and in a later one of the same request: the error names it,
 * and what was mapped for the request is gone. */
static void test_failing_maps(void **state)
{
    static const char *const calls[] = {"cuMemCreate", "cuMemMap", "cuMemSetAccess"};
    (void)state;
    void *other = take(SIZE, NULL);
    size_t held = stats().held_bytes;
    for (int c = 0; c < 3; c++)
        for (int nth = 1; nth <= 3; nth++) {
            void *p = NULL;
            fake_fail(calls[c], nth, 999);
            assert_int_equal(kn_memory_alloc(&p, cuda(0), 50 << 20, NULL), KILN_ERROR_DEVICE);
            MESSAGE_HAS(calls[c]);
            MESSAGE_HAS("failed with CUDA_ERROR_UNKNOWN");
            assert_null(p);
            assert_int_equal(stats().held_bytes, held);
            assert_int_equal(fake_memory_used(0), held);
            give(take(50 << 20, NULL), 50 << 20, NULL);
            OK(kiln_memory_trim(KILN_DEVICE_CUDA(0), 0));
        }
    give(other, SIZE, NULL);
}

/* The limit counts pages; what is cached makes way. */
static void test_limit(void **state)
{
    void *parts[PARTS], *p = NULL;
    (void)state;
    scatter(parts, NULL);
    size_t held = stats().held_bytes, whole = (size_t)PARTS / 2 * SIZE;
    OK(kiln_memory_set_limit(KILN_DEVICE_CUDA(0), held));
    void *large = take(whole, NULL);
    assert_int_equal(stats().held_bytes, held);
    assert_int_equal(kn_memory_alloc(&p, cuda(0), SIZE, NULL), KILN_ERROR_MEMORY);
    MESSAGE_HAS("limit");
    give(large, whole, NULL);
    gather(parts, NULL);
    OK(kiln_memory_set_limit(KILN_DEVICE_CUDA(0), 0));
}

/* Managed memory comes from its own call; the pool goes back to pages. */
static void test_managed(void **state)
{
    kiln_memory_source source = KILN_MEMORY_SOURCE_INIT;
    (void)state;
    source.is_managed = true;
    OK(kiln_memory_set_source(KILN_DEVICE_CUDA(0), &source));
    long before = fake_calls_of("cuMemAllocManaged");
    char *p = take(SIZE, NULL);
    assert_int_equal(fake_calls_of("cuMemAllocManaged"), before + 1);
    memset(p, 1, SIZE);
    OK(kiln_memory_set_source(KILN_DEVICE_CUDA(0), NULL));
    void *q = take(3 * SIZE, NULL);
    assert_int_equal(fake_calls_of("cuMemAllocManaged"), before + 1);
    assert_true(fake_access_of(q));
    give(p, SIZE, NULL);
    give(q, 3 * SIZE, NULL);
    OK(kiln_memory_trim(KILN_DEVICE_CUDA(0), 0));
    OK(kiln_memory_set_source(KILN_DEVICE_CUDA(0), &source));
    fake_fail("cuMemAllocManaged", 1, 999);
    assert_int_equal(kn_memory_alloc((void **)&p, cuda(0), SIZE, NULL), KILN_ERROR_DEVICE);
    MESSAGE_HAS("cuMemAllocManaged failed");
    OK(kiln_memory_set_source(KILN_DEVICE_CUDA(0), NULL));
}

static int use_large_devices(void **state)
{
    setenv("FAKE_CUDA_MEMORY", "2000000000", 1);
    return use_fake_driver(state);
}

int main(void)
{
#define PAGES_TEST(name) cmocka_unit_test_setup_teardown(name, NULL, everything_back)
    const struct CMUnitTest tests[] = {
        PAGES_TEST(test_peers_reach_pages),
        PAGES_TEST(test_free_pages_move),
        PAGES_TEST(test_busy_pages_stay),
        PAGES_TEST(test_captured_pages_stay),
        PAGES_TEST(test_no_addresses),
        PAGES_TEST(test_failing_maps),
        PAGES_TEST(test_limit),
        PAGES_TEST(test_managed),
    };
    return cmocka_run_group_tests(tests, use_large_devices, NULL);
}
