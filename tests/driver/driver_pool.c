/* The memory pool on the fake driver: streams, blocks used elsewhere, streams that end, running out. */
#include "driver_common.h"

enum { SIZE = 12 << 20 }; /* a segment of its own */

static void *take(size_t size, void *stream)
{
    void *p = NULL;
    OK(kn_memory_alloc(&p, cuda(0), size, stream));
    assert_int_equal((uintptr_t)p % 512, 0);
    return p;
}

static void give(void *p, size_t size, void *stream)
{
    kn_memory_free(cuda(0), p, size, stream);
}

static kiln_memory_stats stats(void)
{
    kiln_memory_stats s = KILN_MEMORY_STATS_INIT;
    OK(kiln_memory_get_stats(KILN_DEVICE_CUDA(0), &s));
    return s;
}

static int everything_back(void **state)
{
    (void)state;
    OK(kiln_device_synchronize(KILN_DEVICE_CUDA(0)));
    assert_int_equal(stats().used_bytes, 0);
    OK(kiln_memory_trim(KILN_DEVICE_CUDA(0), 0));
    assert_int_equal(stats().held_bytes, 0);
    assert_int_equal(fake_live(FAKE_MEMORY), 0);
    assert_int_equal(fake_live(FAKE_STREAM), 0);
    return 0;
}

static kiln_stream *stream(void)
{
    kiln_stream *s = NULL;
    OK(kiln_stream_create(&s, KILN_DEVICE_CUDA(0), KILN_STREAM_NON_BLOCKING));
    return s;
}

#define NATIVE(s) kiln_stream_cuda_handle(s)

/* A stream gets its own block back at once, while work still runs; another stream never does. */
static void test_streams_do_not_share(void **state)
{
    (void)state;
    kiln_stream *a = stream(), *b = stream();
    fake_hold(NATIVE(a), true);
    void *p = take(SIZE, NATIVE(a));
    give(p, SIZE, NATIVE(a));
    void *q = take(SIZE, NATIVE(b));
    assert_ptr_not_equal(p, q);
    assert_ptr_equal(take(SIZE, NATIVE(a)), p);
    give(p, SIZE, NATIVE(a));
    give(q, SIZE, NATIVE(b));
    KILN_IGNORE(kiln_stream_synchronize(a));
    kiln_stream_free(a);
    kiln_stream_free(b);
}

static void test_used_elsewhere_waits(void **state)
{
    (void)state;
    kiln_stream *a = stream(), *b = stream();
    void *p = take(SIZE, NATIVE(a));
    fake_hold(NATIVE(b), true);
    OK(kn_memory_used_on(cuda(0), p, NATIVE(b)));
    OK(kn_memory_used_on(cuda(0), p, NATIVE(b))); /* again: no matter */
    OK(kn_memory_used_on(cuda(0), p, NATIVE(a))); /* its own */
    give(p, SIZE, NATIVE(a));
    void *q = take(SIZE, NATIVE(a));
    assert_ptr_not_equal(p, q);
    fake_hold(NATIVE(b), false);
    void *r = take(SIZE, NATIVE(a));
    assert_ptr_equal(r, p);
    give(q, SIZE, NATIVE(a));
    give(r, SIZE, NATIVE(a));
    assert_int_equal(kn_memory_used_on(cuda(0), &p, NATIVE(b)), KILN_OK); /* foreign memory */
    kiln_stream_free(a);
    kiln_stream_free(b);
}

static void test_used_by_several(void **state)
{
    kiln_stream *s[4];
    (void)state;
    for (int i = 0; i < 4; i++)
        s[i] = stream();
    void *p = take(SIZE, NULL);
    for (int i = 0; i < 4; i++) {
        fake_hold(NATIVE(s[i]), true);
        OK(kn_memory_used_on(cuda(0), p, NATIVE(s[i])));
    }
    give(p, SIZE, NULL);
    for (int i = 0; i < 4; i++) {
        void *q = take(SIZE, NULL);
        assert_ptr_not_equal(q, p);
        OK(kiln_memory_trim(KILN_DEVICE_CUDA(0), 0)); /* does not free what waits */
        give(q, SIZE, NULL);
        OK(kiln_memory_trim(KILN_DEVICE_CUDA(0), 0));
        fake_hold(NATIVE(s[i]), false);
    }
    assert_ptr_equal(take(SIZE, NULL), p);
    give(p, SIZE, NULL);
    for (int i = 0; i < 4; i++)
        kiln_stream_free(s[i]);
}

/* The memory of a stream serves others once its last work is over, blocks that come back later included. */
static void test_ended_stream_is_inherited(void **state)
{
    (void)state;
    kiln_stream *a = stream();
    void *native = NATIVE(a), *p = take(SIZE, native), *late = take(SIZE, native);
    give(p, SIZE, native);
    fake_hold(native, true);
    kiln_stream_free(a);
    void *q = take(SIZE, NULL);
    assert_ptr_not_equal(p, q);
    fake_hold(native, false);
    uint64_t before = stats().device_allocations;
    void *r = take(SIZE, NULL), *filler[16];
    int fillers = 0;
    while (r != p && fillers < 16) {
        filler[fillers++] = r;
        r = take(SIZE, NULL);
    }
    assert_ptr_equal(r, p);
    assert_int_equal(stats().device_allocations, before);
    give(late, SIZE, native);
    void *s = take(SIZE, NULL);
    while (s != late && fillers < 16) {
        filler[fillers++] = s;
        s = take(SIZE, NULL);
    }
    assert_ptr_equal(s, late);
    assert_int_equal(stats().device_allocations, before);
    give(q, SIZE, NULL);
    give(r, SIZE, NULL);
    give(s, SIZE, NULL);
    while (fillers > 0)
        give(filler[--fillers], SIZE, NULL);
}

/* A new stream has the handle of one that ended, and a block of the old one is used there: nobody says so, as
 * it seems to be the block's own. */
static void test_a_handle_again(void **state)
{
    (void)state;
    kiln_stream *a = stream();
    void *native = NATIVE(a), *p = take(SIZE, native);
    kiln_stream_free(a);
    give(take(SIZE, NULL), SIZE, NULL); /* a miss: the default stream inherits the block in use */
    fake_reuse_streams(true);
    kiln_stream *b = stream();
    fake_reuse_streams(false);
    assert_ptr_equal(NATIVE(b), native);
    fake_hold(native, true);
    give(p, SIZE, native);
    void *q = take(SIZE, NULL), *r = take(SIZE, NULL);
    assert_true(q != p && r != p);
    fake_hold(native, false);
    give(q, SIZE, NULL);
    give(r, SIZE, NULL);
    kiln_stream_free(b);
}

/* A block used on a stream that is gone when the block comes back. */
static void test_use_on_an_ended_stream(void **state)
{
    (void)state;
    kiln_stream *b = stream();
    void *native = NATIVE(b), *p = take(SIZE, NULL);
    OK(kn_memory_used_on(cuda(0), p, native));
    fake_hold(native, true);
    kiln_stream_free(b);
    long records = fake_calls_of("cuEventRecord");
    fake_hold(native, false);
    give(p, SIZE, NULL);
    assert_int_equal(fake_calls_of("cuEventRecord"), records); /* not on a stream that is not there */
    assert_ptr_equal(take(SIZE, NULL), p);
    give(p, SIZE, NULL);
}

static void test_running_out_trims_and_retries(void **state)
{
    enum { HALF = 130 << 20 };
    (void)state;
    void *p = take(HALF, NULL);
    give(p, HALF, NULL);
    kiln_stream *s = stream();
    void *q = take(HALF + 512, NATIVE(s)); /* only fits when the first is given back */
    assert_int_equal(fake_memory_used(0) / HALF, 1);
    give(q, HALF, NATIVE(s));
    kiln_stream_free(s);
}

/* Memory that merely waits for another stream is waited for before the call fails. */
static void test_running_out_waits(void **state)
{
    enum { HALF = 130 << 20 };
    (void)state;
    kiln_stream *s = stream();
    void *p = take(HALF, NULL), *q = NULL;
    OK(kn_memory_used_on(cuda(0), p, NATIVE(s)));
    give(p, HALF, NULL);
    q = take(HALF + 512, NULL);
    give(q, HALF, NULL);
    kiln_stream_free(s);
}

static void test_running_out_says_so(void **state)
{
    void *p = NULL;
    (void)state;
    void *a = take(100 << 20, NULL);
    assert_int_equal(kn_memory_alloc(&p, cuda(0), 200 << 20, NULL), KILN_ERROR_MEMORY);
    assert_null(p);
    MESSAGE_HAS("out of memory on cuda:0: 209715200 bytes wanted; the pool has 104857600 in use and holds "
                "104857600 (limit none)");
    MESSAGE_HAS("the device has 163577856 of 268435456 free");
    MESSAGE_HAS("failed with CUDA_ERROR_OUT_OF_MEMORY");
    give(a, 100 << 20, NULL);
    give(take(200 << 20, NULL), 200 << 20, NULL);
}

/* A small segment is asked for in full if there is no memory for a large one. */
static void test_a_tight_device(void **state)
{
    (void)state;
    void *a = take(252 << 20, NULL), *b = take(3 << 20, NULL); /* a medium segment would be 20 MiB */
    give(a, 252 << 20, NULL);
    give(b, 3 << 20, NULL);
}

static void test_devices_have_their_own(void **state)
{
    void *p = NULL;
    size_t before = fake_memory_used(0);
    (void)state;
    OK(kn_memory_alloc(&p, cuda(1), SIZE, NULL));
    assert_int_equal(fake_memory_used(0), before);
    assert_true(fake_memory_used(1) >= SIZE);
    kn_memory_free(cuda(1), p, SIZE, NULL);
    OK(kiln_memory_trim(KILN_DEVICE_CUDA(1), 0));
    assert_int_equal(fake_memory_used(1), 0);
}

/* Events come back: a thousand blocks used elsewhere need few. */
static void test_events_are_reused(void **state)
{
    (void)state;
    kiln_stream *s = stream();
    long before = fake_calls_of("cuEventCreate");
    for (int i = 0; i < 1000; i++) {
        void *p = take(4096, NULL);
        OK(kn_memory_used_on(cuda(0), p, NATIVE(s)));
        give(p, 4096, NULL);
    }
    assert_true(fake_calls_of("cuEventCreate") - before < 10);
    kiln_stream_free(s);
}

/* Warm calls ask the driver for nothing on the default stream, and only about a capture on another. */
static void test_warm_calls_are_lean(void **state)
{
    (void)state;
    kiln_stream *s = stream();
    give(take(4096, NULL), 4096, NULL);
    give(take(4096, NATIVE(s)), 4096, NATIVE(s));
    long before = fake_calls();
    give(take(4096, NULL), 4096, NULL);
    assert_int_equal(fake_calls(), before);
    long asked = fake_calls_of("cuStreamIsCapturing"), allocs = fake_calls_of("cuMemAlloc_v2");
    give(take(4096, NATIVE(s)), 4096, NATIVE(s));
    assert_int_equal(fake_calls_of("cuStreamIsCapturing"), asked + 1);
    assert_int_equal(fake_calls_of("cuMemAlloc_v2"), allocs);
    kiln_stream_free(s);
}

int main(void)
{
#define POOL_TEST(name) cmocka_unit_test_setup_teardown(name, NULL, everything_back)
    const struct CMUnitTest tests[] = {
        POOL_TEST(test_streams_do_not_share),
        POOL_TEST(test_used_elsewhere_waits),
        POOL_TEST(test_used_by_several),
        POOL_TEST(test_ended_stream_is_inherited),
        POOL_TEST(test_use_on_an_ended_stream),
        POOL_TEST(test_a_handle_again),
        POOL_TEST(test_running_out_trims_and_retries),
        POOL_TEST(test_running_out_waits),
        POOL_TEST(test_running_out_says_so),
        POOL_TEST(test_a_tight_device),
        POOL_TEST(test_devices_have_their_own),
        POOL_TEST(test_events_are_reused),
        POOL_TEST(test_warm_calls_are_lean),
    };
    return cmocka_run_group_tests(tests, use_fake_driver, NULL);
}
