/* Two plugins that each bundle the library: two copies of it in one process, which must not meet.
 * two_copies local|global: how they are loaded. */
#include "copies.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS = 3, THREADS = 2 };

static copy first, second;
static int faults;

static void check(bool is_true, const char *what)
{
    if (is_true)
        return;
    fprintf(stderr, "two_copies: %s\n", what);
    faults++;
}

static void body_text(char *out, size_t size, const char *operation, int number)
{
    snprintf(out, size, "z = x %s %d", operation, number);
}

/* One after the other, each counting its loads from 0, both with the same free descriptors. */
static void in_turns(void)
{
    char body[64];
    for (int k = 2; k < 2 + KERNELS; k++) {
        body_text(body, sizeof body, "*", k);
        check(copy_computes(&first, body, 3.0 * k, 100), "the first copy's result");
        body_text(body, sizeof body, "+ 100 *", k);
        check(copy_computes(&second, body, 3.0 + 100 * k, 100), "the second copy's result");
    }
}

typedef struct worker {
    const copy *copy;
    const char *operation;
    double (*expected)(int number);
    int number;
    bool is_right;
    pthread_t thread;
} worker;

static double difference(int number)
{
    return 3.0 - number;
}

static double product(int number)
{
    return 3.0 + 1000.0 * number;
}

static void *work(void *user)
{
    worker *w = user;
    char body[64];
    w->is_right = true;
    for (int k = 0; k < KERNELS; k++) {
        int number = w->number + k;
        body_text(body, sizeof body, w->operation, number);
        w->is_right &= copy_computes(w->copy, body, w->expected(number), 5000);
    }
    return NULL;
}

static void from_threads(void)
{
    worker workers[2 * THREADS];
    for (int t = 0; t < 2 * THREADS; t++) {
        workers[t] = t % 2 ? (worker){&second, "+ 1000 *", product, 10 + t * KERNELS, false, 0}
                           : (worker){&first, "-", difference, 10 + t * KERNELS, false, 0};
        check(pthread_create(&workers[t].thread, NULL, work, &workers[t]) == 0, "a thread");
    }
    for (int t = 0; t < 2 * THREADS; t++) {
        pthread_join(workers[t].thread, NULL);
        check(workers[t].is_right, "a thread's results");
    }
}

/* A setting of one copy is unknown to the other. */
static void check_apart(void)
{
    kiln_cache_stats one = KILN_CACHE_STATS_INIT, other = KILN_CACHE_STATS_INIT;
    check(first.kernel_call != second.kernel_call, "the copies are one");
    first.error_clear();
    check(second.device_set_current(12345) != KILN_OK, "a device 12345");
    check(first.error_message()[0] == 0 && second.error_message()[0] != 0, "the copies share the last error");
    KILN_IGNORE(first.cache_get_stats(&one));
    KILN_IGNORE(second.cache_get_stats(&other));
    int each = KERNELS * (1 + THREADS);
    check(one.misses == (uint64_t)each && other.misses == (uint64_t)each, "the copies share their tables");
}

int main(int argc, char **argv)
{
    char path[2][300];
    int flags = RTLD_NOW | (argc > 1 && strcmp(argv[1], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL);
    char cache[300];
    for (int i = 0; i < 2; i++)
        copy_library(path[i], sizeof path[i], i ? "libsecond.so" : "libfirst.so");
    snprintf(cache, sizeof cache, "%.*s/cache", (int)(strrchr(path[0], '/') - path[0]), path[0]);
    setenv("KILN_CACHE_DIR", cache, 1);
    copy_open(&first, path[0], flags);
    copy_open(&second, path[1], flags);
    in_turns();
    from_threads();
    check_apart();
    return faults ? 1 : 0;
}
