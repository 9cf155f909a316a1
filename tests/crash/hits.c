/* 32 threads that find everything: kernels in the process's memory, rows in one file. Nothing is compiled
 * twice, nothing is wrong, and the thread sanitizer (preset tsan) has nothing to say. */
#include "crash_common.h"

#include <kiln/kiln.h>

#include <pthread.h>

#include "store/lifetime.h"

enum { THREADS = 32, HITS = 10000, KERNELS = 4, SIZE = 16, ROWS = 40, ROW_BYTES = 6000 };

static int hits(void)
{
#ifdef __SANITIZE_THREAD__
    return HITS;
#else
    return times(HITS);
#endif
}

static int begin(void **state)
{
    if (make_folder(state) != 0)
        return 1;
    setenv("KILN_CACHE_DIR", folder, 1);
    setenv("KILN_TARGET", "host", 1);
    return 0;
}

static int end(void **state)
{
    kn_build_shutdown();
    return remove_folder(state);
}

/* The input of a thread, and its report: "" if all was well. */
typedef struct thread {
    pthread_t id;
    int number;
    kiln_kernel *const *kernel;
    kn_cache *cache;
    char trouble[300];
} thread;

static void run_threads(void *(*work)(void *), kiln_kernel *const *kernel, kn_cache *cache)
{
    static thread all[THREADS];
    for (int t = 0; t < THREADS; t++) {
        all[t] = (thread){.number = t, .kernel = kernel, .cache = cache};
        assert_int_equal(pthread_create(&all[t].id, NULL, work, &all[t]), 0);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(all[t].id, NULL);
    for (int t = 0; t < THREADS; t++)
        assert_string_equal(all[t].trouble, "");
}

/* ---- kernels ---- */

static kiln_status call_often(thread *t, kiln_array *in, kiln_array *out, int32_t z[SIZE])
{
    const kiln_arg arg = kiln_arg_array(in);
    kiln_call_info info = KILN_CALL_INFO_INIT;
    kiln_status status = KILN_OK;
    for (int h = 0; h < hits() && status == KILN_OK; h++) {
        int k = (h + t->number) % KERNELS;
        status = kiln_kernel_call(t->kernel[k], &out, 1, &arg, 1, NULL);
        if (status == KILN_OK)
            status = kiln_kernel_last_call(&info);
        if (status == KILN_OK && info.origin != KILN_ORIGIN_MEMORY)
            return snprintf(t->trouble, sizeof t->trouble, "hit %d came from %d", h, (int)info.origin),
                   KILN_OK;
        if (status == KILN_OK && h % 100 == 0)
            status = kiln_array_to_host(out, z, SIZE * sizeof *z);
        for (int i = 0; i < SIZE && status == KILN_OK && h % 100 == 0; i++)
            if (z[i] != i * t->number + k)
                return snprintf(t->trouble, sizeof t->trouble, "hit %d: element %d is %d", h, i, (int)z[i]),
                       KILN_OK;
    }
    return status;
}

static void *call_kernels(void *user)
{
    thread *t = user;
    const int64_t shape[] = {SIZE};
    int32_t x[SIZE];
    kiln_array *in = NULL, *out = NULL;
    for (int i = 0; i < SIZE; i++)
        x[i] = i * t->number;
    kiln_status status = kiln_array_from_host(&in, x, KILN_INT32, 1, shape, KILN_DEVICE_HOST);
    if (status == KILN_OK)
        status = kiln_array_empty(&out, KILN_INT32, 1, shape, KILN_DEVICE_HOST);
    if (status == KILN_OK)
        status = call_often(t, in, out, x);
    if (status != KILN_OK)
        snprintf(t->trouble, sizeof t->trouble, "%.250s", kiln_error_message());
    kiln_array_free(in);
    kiln_array_free(out);
    return NULL;
}

static void threads_find_kernels(void **state)
{
    static const int64_t shape[] = {SIZE};
    kiln_kernel *kernel[KERNELS] = {NULL};
    kiln_array *in = NULL, *out = NULL;
    kiln_cache_stats stats = KILN_CACHE_STATS_INIT;
    (void)state;
    assert_int_equal(kiln_array_zeros(&in, KILN_INT32, 1, shape, KILN_DEVICE_HOST), KILN_OK);
    assert_int_equal(kiln_array_zeros(&out, KILN_INT32, 1, shape, KILN_DEVICE_HOST), KILN_OK);
    const kiln_arg arg = kiln_arg_array(in);
    for (int k = 0; k < KERNELS; k++) {
        char body[32];
        snprintf(body, sizeof body, "z = x + %d", k);
        assert_int_equal(kiln_elementwise_create(&kernel[k], "int32 x", "int32 z", body, "add", NULL),
                         KILN_OK);
        assert_int_equal(kiln_kernel_call(kernel[k], &out, 1, &arg, 1, NULL), KILN_OK);
    }
    run_threads(call_kernels, kernel, NULL);
    assert_int_equal(kiln_cache_get_stats(&stats), KILN_OK);
    assert_int_equal(stats.compiles, KERNELS);
    for (int k = 0; k < KERNELS; k++)
        kiln_kernel_free(kernel[k]);
    kiln_array_free(in);
    kiln_array_free(out);
    kn_build_shutdown();
}

/* ---- rows ---- */

static void *read_rows(void *user)
{
    thread *t = user;
    uint64_t seed = (uint64_t)t->number;
    for (int h = 0; h < hits(); h++) {
        unsigned n = (unsigned)(next_random(&seed) % ROWS);
        if (look_at_row(t->cache, n, ROW_BYTES) != ROW_RIGHT) {
            snprintf(t->trouble, sizeof t->trouble, "hit %d: row %u is missing or wrong", h, n);
            break;
        }
    }
    return NULL;
}

static void threads_find_rows(void **state)
{
    (void)state;
    kn_cache *cache = open_cache();
    for (unsigned n = 0; n < ROWS; n++)
        put_row(cache, n, ROW_BYTES);
    double start = kn_os_now_ms();
    run_threads(read_rows, NULL, cache);
    print_message("%d hits in %.0f ms\n", THREADS * hits(), kn_os_now_ms() - start);
    kiln_cache_stats stats = KILN_CACHE_STATS_INIT;
    kn_cache_fill_stats(cache, &stats);
    assert_int_equal(stats.errors, 0);
    kn_cache_free(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_find_kernels),
        cmocka_unit_test(threads_find_rows),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
