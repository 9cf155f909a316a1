/* The memory pool on the host: reuse, cutting and joining, the limit, statistics, the hook, failing
 * allocations, many threads. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/os.h"
#include "device/device.h"
#include "drawn.h"
#include "host_function.h"

/* A request that no machine can serve is part of the test: the sanitizers shall answer as malloc does. */
#define SANITIZER_OPTIONS(name, text)                                                                        \
    __attribute__((visibility("default"))) const char *name(void);                                           \
    const char *name(void)                                                                                   \
    {                                                                                                        \
        return text;                                                                                         \
    }
SANITIZER_OPTIONS(__asan_default_options, "allocator_may_return_null=1")
SANITIZER_OPTIONS(__tsan_default_options, "allocator_may_return_null=1")

static kiln_memory_stats stats(void)
{
    kiln_memory_stats s = KILN_MEMORY_STATS_INIT;
    assert_int_equal(kiln_memory_get_stats(KILN_DEVICE_HOST, &s), KILN_OK);
    return s;
}

static void *take(size_t size)
{
    void *p = NULL;
    assert_int_equal(kn_memory_alloc(&p, host(), size, NULL), KILN_OK);
    assert_non_null(p);
    assert_int_equal((uintptr_t)p % 64, 0);
    return p;
}

static void give(void *p, size_t size)
{
    kn_memory_free(host(), p, size, NULL);
}

static int everything_back(void **state)
{
    (void)state;
    assert_int_equal(stats().used_bytes, 0);
    assert_int_equal(kiln_memory_trim(KILN_DEVICE_HOST, 0), KILN_OK);
    assert_int_equal(stats().held_bytes, 0);
    return 0;
}

static void test_reuse(void **state)
{
    (void)state;
    void *a = take(1000), *b = take(1000);
    assert_ptr_not_equal(a, b);
    uint64_t before = stats().device_allocations;
    give(a, 1000);
    assert_ptr_equal(take(1000), a);
    assert_int_equal(stats().device_allocations, before);
    give(a, 1000);
    give(b, 1000);
}

static void test_zero_size_is_distinct(void **state)
{
    (void)state;
    void *a = take(0), *b = take(0);
    assert_ptr_not_equal(a, b);
    give(a, 0);
    give(b, 0);
    kn_memory_free(host(), NULL, 0, NULL);
}

static void test_statistics(void **state)
{
    (void)state;
    kiln_memory_stats before = stats();
    void *a = take(100);
    assert_int_equal(stats().used_bytes - before.used_bytes, 128);
    assert_int_equal(stats().allocations - before.allocations, 1);
    assert_true(stats().held_bytes >= stats().used_bytes);
    assert_true(stats().peak_used_bytes >= stats().used_bytes);
    give(a, 100);
    assert_int_equal(stats().used_bytes, before.used_bytes);
}

/* Neighbours that are free become one block again, in whatever order they came back. */
static void test_joining(void **state)
{
    enum { COUNT = 24 };
    void *parts[COUNT];
    (void)state;
    for (int i = 0; i < COUNT; i++)
        parts[i] = take(64 << 10);
    uint64_t before = stats().device_allocations;
    for (int i = 0; i < COUNT; i++)
        give(parts[i * 7 % COUNT], 64 << 10);
    void *whole = take(COUNT * (40 << 10));
    assert_int_equal(stats().device_allocations, before);
    give(whole, COUNT * (40 << 10));
}

static void test_large_blocks(void **state)
{
    (void)state;
    char *big = take(64 << 20);
    big[0] = big[(64 << 20) - 1] = 1;
    uint64_t before = stats().device_allocations;
    give(big, 64 << 20);
    void *smaller = take(40 << 20), *rest = take(20 << 20);
    assert_int_equal(stats().device_allocations, before);
    give(smaller, 40 << 20);
    give(rest, 20 << 20);
}

static void test_limit(void **state)
{
    void *p = NULL;
    (void)state;
    everything_back(NULL);
    assert_int_equal(kiln_memory_set_limit(KILN_DEVICE_HOST, 8 << 20), KILN_OK);
    void *a = take(3 << 20);
    assert_int_equal(kn_memory_alloc(&p, host(), 6 << 20, NULL), KILN_ERROR_MEMORY);
    assert_null(p);
    assert_non_null(strstr(kiln_error_message(), "6291456 bytes wanted"));
    assert_non_null(strstr(kiln_error_message(), "limit 8388608"));
    assert_non_null(strstr(kiln_error_message(), "3145728 in use"));
    give(a, 3 << 20);
    p = take(6 << 20); /* what is cached makes way */
    assert_true(stats().held_bytes <= 8 << 20);
    give(p, 6 << 20);
    assert_int_equal(kiln_memory_set_limit(KILN_DEVICE_HOST, 0), KILN_OK);
}

static void test_absurd_size(void **state)
{
    void *p = NULL;
    (void)state;
    assert_int_equal(kn_memory_alloc(&p, host(), SIZE_MAX - 10, NULL), KILN_ERROR_MEMORY);
    assert_int_equal(kn_memory_alloc(&p, host(), SIZE_MAX / 8, NULL), KILN_ERROR_MEMORY);
    assert_null(p);
}

static void test_trim_keeps(void **state)
{
    (void)state;
    void *a = take(30 << 20), *b = take(50 << 20);
    give(a, 30 << 20);
    give(b, 50 << 20);
    assert_int_equal(kiln_memory_trim(KILN_DEVICE_HOST, 60 << 20), KILN_OK);
    assert_true(stats().held_bytes <= 60 << 20);
    assert_true(stats().held_bytes > 0);
}

static void skip_without_pages(void)
{
    const char *setting = getenv("KILN_MEMORY");
    if (setting && strcmp(setting, "plain") == 0)
        skip();
}

/* Pages between blocks in use serve a larger block elsewhere: the pool holds little more than is used. */
static void test_scattered_pages(void **state)
{
    enum { COUNT = 60, SIZE = 6 << 20 };
    void *parts[COUNT];
    (void)state;
    skip_without_pages();
    everything_back(NULL);
    for (int i = 0; i < COUNT; i++)
        memset(parts[i] = take(SIZE), i, SIZE);
    size_t held = stats().held_bytes;
    for (int i = 0; i < COUNT; i += 2)
        give(parts[i], SIZE);
    char *large = take((size_t)COUNT / 2 * SIZE);
    memset(large, 1, (size_t)COUNT / 2 * SIZE);
    assert_in_range(stats().held_bytes, stats().used_bytes, held + (40 << 20));
    for (int i = 1; i < COUNT; i += 2)
        assert_true(((char *)parts[i])[0] == i && ((char *)parts[i])[SIZE - 1] == i);
    void *hole = take(5 << 20); /* addresses that lost their pages serve again */
    memset(hole, 1, 5 << 20);
    assert_in_range((uintptr_t)hole, (uintptr_t)parts[0], (uintptr_t)parts[COUNT - 1]);
    give(hole, 5 << 20);
    for (int i = 1; i < COUNT; i += 2)
        give(parts[i], SIZE);
    give(large, (size_t)COUNT / 2 * SIZE);
}

static size_t address_limit; /* 0: the system's */
static bool are_ranges_refused;
size_t __real_kn_os_address_limit(void);
size_t __wrap_kn_os_address_limit(void);
void *__real_kn_os_reserve(size_t size);
void *__wrap_kn_os_reserve(size_t size);

size_t __wrap_kn_os_address_limit(void)
{
    return address_limit ? address_limit : __real_kn_os_address_limit();
}

void *__wrap_kn_os_reserve(size_t size)
{
    if (address_limit)
        assert_in_range(size, 1, address_limit / 2);
    return are_ranges_refused ? NULL : __real_kn_os_reserve(size);
}

/* A process that may have few addresses gets small ranges, or none at all: both serve it. */
static void test_few_addresses(void **state)
{
    static const size_t sizes[] = {100, 30 << 20, 50 << 20, 100 << 20, 3 << 20};
    (void)state;
    for (int refused = 0; refused < 2; refused++) {
        void *p[5];
        everything_back(NULL);
        address_limit = 256 << 20;
        are_ranges_refused = refused;
        for (int i = 0; i < 5; i++)
            memset(p[i] = take(sizes[i]), i, sizes[i]);
        for (int i = 0; i < 5; i++) {
            assert_int_equal(((char *)p[i])[sizes[i] - 1], i);
            give(p[i], sizes[i]);
        }
        assert_int_equal(kiln_memory_set_limit(KILN_DEVICE_HOST, 1 << 20), KILN_OK);
        everything_back(NULL);
        give(take(1 << 19), 1 << 19);
        assert_int_equal(kiln_memory_set_limit(KILN_DEVICE_HOST, 0), KILN_OK);
        everything_back(NULL);
        address_limit = 0;
        are_ranges_refused = false;
    }
}

/* A block that only lacks some pages gets these behind it. */
static void test_growing(void **state)
{
    (void)state;
    skip_without_pages();
    everything_back(NULL);
    for (size_t size = 2 << 20; size < 64 << 20; size += 2 << 20) {
        char *p = take(size);
        p[0] = p[size - 1] = 1;
        assert_true(stats().held_bytes <= size + (2 << 20));
        give(p, size);
    }
}

/* Sizes from 64 bytes to 64 MiB, as many of each magnitude, in random order; the long form takes an hour, or
 * KILN_SOAK_SECONDS. No block is touched: a machine has these addresses, not this memory. */
static void test_fragmentation(void **state)
{
    enum { SLOTS = 300 };
    void *held[SLOTS] = {NULL};
    size_t sizes[SLOTS] = {0}, most = 0;
    unsigned long long x = drawn_seed();
    (void)state;
    skip_without_pages();
    everything_back(NULL);
    const char *seconds = getenv("KILN_SOAK_SECONDS");
    double end = kn_os_now_ms() + (drawn_all() ? 1e3 * (seconds ? atof(seconds) : 3600) : 0);
    for (long round = 0; round < 40000 || kn_os_now_ms() < end; round++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        int slot = (int)(x >> 40) % SLOTS;
        if (held[slot]) {
            give(held[slot], sizes[slot]);
            held[slot] = NULL;
            continue;
        }
        size_t least = (size_t)64 << (x >> 33) % 20;
        sizes[slot] = least + (size_t)(x >> 20) % least;
        held[slot] = take(sizes[slot]);
        most = stats().used_bytes > most ? stats().used_bytes : most;
    }
    assert_true(stats().held_bytes <= most + most / 4);
    print_message("             %zu MiB in use at most, %zu held\n", most >> 20, stats().held_bytes >> 20);
    for (int slot = 0; slot < SLOTS; slot++)
        give(held[slot], sizes[slot]);
}

typedef struct tally {
    int given, returned;
    size_t bytes;
    void *last;
} tally;

static void count_hook(kiln_device device, void *pointer, size_t bytes, bool freed, void *user)
{
    tally *t = user;
    kiln_memory_stats s = KILN_MEMORY_STATS_INIT;
    assert_int_equal(device, KILN_DEVICE_HOST);
    assert_int_equal(kiln_memory_get_stats(device, &s), KILN_OK); /* no lock is held here */
    t->given += !freed;
    t->returned += freed;
    t->bytes = bytes;
    t->last = pointer;
}

static void test_hook(void **state)
{
    tally t = {0};
    (void)state;
    kiln_memory_set_hook(count_hook, &t);
    void *a = take(200);
    assert_int_equal(t.given, 1);
    assert_int_equal(t.bytes, 256);
    assert_ptr_equal(t.last, a);
    give(a, 200);
    assert_int_equal(t.returned, 1);
    kiln_memory_set_hook(NULL, NULL);
    give(take(200), 200);
    assert_int_equal(t.given, 1);
}

/* ---- the caller's memory ---- */

typedef struct lender {
    int given, returned, refuse;
    size_t bytes, offset;
    char *raw[64];
} lender;

static void *lend(kiln_device device, size_t bytes, void *user)
{
    lender *l = user;
    kiln_memory_stats s = KILN_MEMORY_STATS_INIT;
    assert_int_equal(kiln_memory_get_stats(device, &s), KILN_OK); /* no lock is held here */
    if (l->refuse || l->given == 64)
        return NULL;
    l->raw[l->given] = malloc(bytes + 128);
    l->bytes += bytes;
    char *start = (char *)(((uintptr_t)l->raw[l->given++] + 63) / 64 * 64);
    return start + l->offset;
}

static void take_back(kiln_device device, void *pointer, size_t bytes, void *user)
{
    lender *l = user;
    kiln_memory_stats s = KILN_MEMORY_STATS_INIT;
    assert_int_equal(kiln_memory_get_stats(device, &s), KILN_OK);
    for (int i = 0; i < l->given; i++)
        if (l->raw[i] && (char *)pointer >= l->raw[i] && (char *)pointer < l->raw[i] + 128) {
            free(l->raw[i]);
            l->raw[i] = NULL;
            l->returned++;
            l->bytes -= bytes;
            return;
        }
    abort();
}

static void test_source(void **state)
{
    lender l = {0};
    kiln_memory_source source = KILN_MEMORY_SOURCE_INIT;
    (void)state;
    everything_back(NULL);
    void *own = take(3 << 20), *p = NULL;
    const size_t held = stats().held_bytes;
    source.alloc = lend;
    source.free = take_back;
    source.user = &l;
    assert_int_equal(kiln_memory_set_source(KILN_DEVICE_HOST, &source), KILN_OK);
    void *large = take(30 << 20), *small = take(100);
    assert_int_equal(l.given, 2);
    assert_int_equal(stats().held_bytes, l.bytes + held);
    memset(large, 1, 30 << 20);
    l.refuse = 1;
    assert_int_equal(kn_memory_alloc(&p, host(), 40 << 20, NULL), KILN_ERROR_MEMORY);
    assert_non_null(strstr(kiln_error_message(), "the caller's source gave no memory"));
    give(large, 30 << 20);
    l.refuse = 0;
    l.offset = 8;
    assert_int_equal(kn_memory_alloc(&p, host(), 40 << 20, NULL), KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "expected a multiple of 64"));
    assert_null(p);
    assert_int_equal(l.returned, 1);
    l.offset = 0;
    assert_int_equal(kiln_memory_set_source(KILN_DEVICE_HOST, NULL), KILN_OK);
    give(small, 100);
    give(own, 3 << 20);
    everything_back(NULL);
    assert_int_equal(l.returned, l.given);
    assert_int_equal(l.bytes, 0);
}

static void test_source_mistakes(void **state)
{
    kiln_memory_source source = KILN_MEMORY_SOURCE_INIT;
    (void)state;
#define REFUSED(status, text)                                                                                \
    do {                                                                                                     \
        assert_int_equal(kiln_memory_set_source(KILN_DEVICE_HOST, &source), status);                         \
        assert_non_null(strstr(kiln_error_message(), text));                                                 \
    } while (0)
    REFUSED(KILN_ERROR_INVALID, "neither is_managed nor alloc");
    source.alloc = lend;
    REFUSED(KILN_ERROR_INVALID, "source.free is NULL");
    source.alloc = NULL;
    source.free = take_back;
    REFUSED(KILN_ERROR_INVALID, "source.alloc is NULL");
    source.alloc = lend;
    source.is_managed = true;
    REFUSED(KILN_ERROR_INVALID, "is_managed and functions");
    source.alloc = NULL;
    source.free = NULL;
    assert_int_equal(kiln_memory_set_source(KILN_DEVICE_HOST, &source), KILN_ERROR_UNSUPPORTED);
    assert_non_null(strstr(kiln_error_message(), "the host has no managed memory"));
    source.struct_size = 1;
    REFUSED(KILN_ERROR_INVALID, "kiln_memory_set_source: source.struct_size");
}

/* ---- the profile ---- */

typedef struct seen_rows {
    int count;
    kiln_memory_row rows[8];
    char labels[8][80];
} seen_rows;

static void see_row(const kiln_memory_row *row, void *user)
{
    seen_rows *seen = user;
    assert_true(seen->count < 8);
    seen->rows[seen->count] = *row;
    snprintf(seen->labels[seen->count++], 80, "%s", row->label);
}

static void test_profile(void **state)
{
    char *text = NULL, here[80];
    seen_rows seen = {0};
    (void)state;
    void *before = take(100); /* not counted */
    assert_int_equal(kiln_memory_set_profile(true), KILN_OK);
    assert_null(kiln_memory_set_label("inputs"));
    void *a = take(1000), *b = take(3 << 20);
    give(a, 1000);
    a = take(500);
    give(before, 100);
    snprintf(here, sizeof here, "%s:%d", __FILE__, __LINE__ + 1);
    assert_string_equal(kiln_memory_set_label(KILN_MEMORY_HERE), "inputs");
    void *c = take(200);
    assert_string_equal(kiln_memory_set_label(NULL), here);
    void *d = take(64);
    assert_int_equal(kiln_memory_visit_profile(see_row, &seen), KILN_OK);
    assert_int_equal(seen.count, 3);
    assert_string_equal(seen.labels[0], "inputs");
    assert_int_equal(seen.rows[0].used_bytes, (3 << 20) + 512);
    assert_int_equal(seen.rows[0].peak_used_bytes, (3 << 20) + 1024);
    assert_int_equal(seen.rows[0].allocated_bytes, (3 << 20) + 1024 + 512);
    assert_int_equal(seen.rows[0].allocations, 3);
    assert_string_equal(seen.labels[1], here);
    assert_int_equal(seen.rows[1].used_bytes, 256);
    assert_string_equal(seen.labels[2], "(no label)");
    assert_int_equal(kiln_memory_set_profile(false), KILN_OK);
    give(b, 3 << 20);
    give(c, 200);
    give(d, 64);
    give(a, 500);
    assert_int_equal(kiln_memory_profile_to_string(&text), KILN_OK);
    assert_non_null(strstr(text, "       3146240        3146752          3147264            3  inputs\n"));
    kiln_free(text);
    assert_int_equal(kiln_memory_set_profile(true), KILN_OK); /* begins anew */
    seen.count = 0;
    assert_int_equal(kiln_memory_visit_profile(see_row, &seen), KILN_OK);
    assert_int_equal(seen.count, 0);
    assert_int_equal(kiln_memory_set_profile(false), KILN_OK);
    assert_int_equal(kiln_memory_visit_profile(NULL, NULL), KILN_ERROR_INVALID);
    assert_int_equal(kiln_memory_profile_to_string(NULL), KILN_ERROR_INVALID);
}

/* A profile that has no memory to count a block goes without it. */
static void test_profile_without_memory(void **state)
{
    (void)state;
    give(take(100), 100);
    for (unsigned long nth = 1; nth < 12; nth++) {
        char *text = NULL;
        kn_alloc_fail_at(nth, 0);
        kiln_status status = kiln_memory_set_profile(true);
        assert_true(status == KILN_OK || status == KILN_ERROR_MEMORY);
        kiln_memory_set_label("a label");
        give(take(100), 100);
        status = kiln_memory_profile_to_string(&text);
        assert_true(status == KILN_OK ? text != NULL : status == KILN_ERROR_MEMORY && !text);
        kn_alloc_fail_at(0, 0);
        kiln_free(text);
        kiln_memory_set_label(NULL);
        assert_int_equal(kiln_memory_set_profile(false), KILN_OK);
    }
}

static void test_limit_share(void **state)
{
    size_t total = kn_os_physical_memory(NULL);
    (void)state;
    assert_int_equal(kiln_memory_set_limit_share(KILN_DEVICE_HOST, 0.25), KILN_OK);
    assert_int_equal(stats().limit_bytes, total / 4);
    assert_int_equal(kiln_memory_set_limit(KILN_DEVICE_HOST, 0), KILN_OK);
    for (int i = 0; i < 4; i++) {
        static const double wrong[] = {0, -1, 1.5, 0.0 / 0.0};
        assert_int_equal(kiln_memory_set_limit_share(KILN_DEVICE_HOST, wrong[i]), KILN_ERROR_INVALID);
        assert_non_null(strstr(kiln_error_message(), "share is"));
    }
    assert_int_equal(kiln_memory_set_limit_share((kiln_device)7, 0.5), KILN_ERROR_INVALID);
}

static void count_log(kiln_log_level level, const char *message, void *user)
{
    (void)message;
    *(int *)user += level == KILN_LOG_WARNING;
}

static void test_wrong_free_is_survived(void **state)
{
    int warnings = 0;
    (void)state;
    void *a = take(64);
    kiln_log_set_callback(count_log, &warnings);
    kn_memory_free(host(), (char *)a + 1, 64, NULL);
    give(a, 64);
    give(a, 64); /* twice */
    kiln_log_set_callback(NULL, NULL);
    assert_int_equal(warnings, 2);
}

/* Whatever allocation fails, the call says so or succeeds, and nothing is lost. */
static void test_failing_allocations(void **state)
{
    static const size_t sizes[] = {100, 5000, 3 << 20, 12 << 20, 100};
    (void)state;
    for (unsigned long nth = 1; nth < 30; nth++) {
        void *p[5] = {0};
        everything_back(NULL);
        kn_alloc_fail_at(nth, 0);
        for (int i = 0; i < 5; i++) {
            kiln_status status = kn_memory_alloc(&p[i], host(), sizes[i], NULL);
            assert_true(status == KILN_OK ? p[i] != NULL : status == KILN_ERROR_MEMORY && !p[i]);
        }
        kn_alloc_fail_at(0, 0);
        for (int i = 0; i < 5; i++)
            give(p[i], sizes[i]);
    }
}

/* Random sizes, held and freed in random order: blocks never overlap. */
static void churn(unsigned seed, int rounds)
{
    enum { SLOTS = 40 };
    unsigned char *held[SLOTS] = {0};
    size_t sizes[SLOTS] = {0};
    for (int i = 0; i < rounds; i++) {
        int slot = (int)((seed = seed * 1103515245u + 12345u) >> 16) % SLOTS;
        if (held[slot]) {
            unsigned char mark = (unsigned char)(slot + 1);
            if (held[slot][0] != mark || held[slot][sizes[slot] - 1] != mark)
                abort();
            kn_memory_free(host(), held[slot], sizes[slot], NULL);
            held[slot] = NULL;
        } else {
            void *p = NULL;
            seed = seed * 1103515245u + 12345u;
            sizes[slot] = 1 + (seed >> 8) % ((seed & 255) == 0  ? 12u << 20
                                             : (seed & 31) == 0 ? 3u << 20
                                                                : 20000u);
            if (kn_memory_alloc(&p, host(), sizes[slot], NULL) != KILN_OK)
                abort();
            held[slot] = p;
            held[slot][0] = held[slot][sizes[slot] - 1] = (unsigned char)(slot + 1);
        }
    }
    for (int slot = 0; slot < SLOTS; slot++)
        kn_memory_free(host(), held[slot], sizes[slot], NULL);
}

static void test_churn(void **state)
{
    (void)state;
    churn(1, 20000);
}

static void *churn_thread(void *seed)
{
    churn((unsigned)(uintptr_t)seed, 4000);
    return NULL;
}

static void test_threads(void **state)
{
    pthread_t threads[4];
    (void)state;
    for (uintptr_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn_thread, (void *)(i + 7)), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

/* Says what a warm pair costs; a bound on time would fail on a busy machine. */
static void test_warm_pair(void **state)
{
    enum { ROUNDS = 200000 };
    (void)state;
    kn_device *device = host();
    void *p = NULL;
    double start = kn_os_now_ms();
    for (int i = 0; i < ROUNDS; i++) {
        assert_int_equal(kn_memory_alloc(&p, device, 4096, NULL), KILN_OK);
        kn_memory_free(device, p, 4096, NULL);
    }
    print_message("             a warm alloc and free: %.0f ns\n", (kn_os_now_ms() - start) * 1e6 / ROUNDS);
}

static void test_bad_arguments(void **state)
{
    kiln_memory_stats s = {0};
    (void)state;
    assert_int_equal(kiln_memory_get_stats(KILN_DEVICE_HOST, NULL), KILN_ERROR_INVALID);
    assert_int_equal(kiln_memory_get_stats(KILN_DEVICE_HOST, &s), KILN_ERROR_INVALID);
    assert_int_equal(kiln_memory_set_limit((kiln_device)7, 0), KILN_ERROR_INVALID);
    assert_int_equal(kiln_memory_trim((kiln_device)-1, 0), KILN_ERROR_INVALID);
}

static void test_pinned_without_cuda(void **state)
{
    void *p = NULL;
    (void)state;
    if (!kiln_device_why_no_cuda()[0])
        skip();
    assert_int_equal(kiln_memory_alloc_pinned(&p, 1000), KILN_OK);
    memset(p, 1, 1000);
    kiln_memory_free_pinned(p);
    kiln_memory_free_pinned(NULL);
    assert_int_equal(kiln_memory_alloc_pinned(NULL, 1), KILN_ERROR_INVALID);
}

int main(void)
{
#define POOL_TEST(name) cmocka_unit_test_setup_teardown(name, NULL, everything_back)
    const struct CMUnitTest tests[] = {
        POOL_TEST(test_reuse),
        POOL_TEST(test_zero_size_is_distinct),
        POOL_TEST(test_statistics),
        POOL_TEST(test_joining),
        POOL_TEST(test_large_blocks),
        POOL_TEST(test_limit),
        POOL_TEST(test_absurd_size),
        POOL_TEST(test_trim_keeps),
        POOL_TEST(test_scattered_pages),
        POOL_TEST(test_growing),
        POOL_TEST(test_fragmentation),
        POOL_TEST(test_hook),
        POOL_TEST(test_source),
        POOL_TEST(test_source_mistakes),
        POOL_TEST(test_profile),
        POOL_TEST(test_profile_without_memory),
        POOL_TEST(test_limit_share),
        POOL_TEST(test_wrong_free_is_survived),
        POOL_TEST(test_few_addresses),
        POOL_TEST(test_failing_allocations),
        POOL_TEST(test_churn),
        POOL_TEST(test_threads),
        POOL_TEST(test_warm_pair),
        POOL_TEST(test_bad_arguments),
        POOL_TEST(test_pinned_without_cuda),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
