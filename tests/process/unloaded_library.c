/* Plugins that come and go: the library is loaded, used and unloaded a hundred times, and nothing of it
 * stays: no thread, no mapping, no descriptor, no handler, no memory. unload host|cuda: with a CUDA driver
 * it stays, once. */
#include "copies.h"

#include <dirent.h>
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The loader keeps some 500 bytes a round (glibc 2.36): thread-local storage, for the threads that had it. */
enum { ROUNDS = 100, WARM = 10, LARGE = 400000, LOADERS_OWN = 1024 };

/* Entries of /proc/self/task: ".", ".." and the one thread; the thread sanitizer has one of its own. */
#ifdef __SANITIZE_THREAD__
enum { NO_THREADS = 4 };
#else
enum { NO_THREADS = 3 };
#endif

static int faults;

static void check(bool is_true, const char *what, long is, long was)
{
    if (is_true)
        return;
    fprintf(stderr, "unload: %s: %ld, %ld before\n", what, is, was);
    faults++;
}

typedef struct footprint {
    long threads, descriptors, mappings, ours;
    long heap;
} footprint;

static long entries(const char *folder)
{
    long count = 0;
    DIR *list = opendir(folder);
    while (list && readdir(list))
        count++;
    if (list)
        closedir(list);
    return count;
}

/* Arenas of malloc, which come with threads, are not the library's. */
static footprint measure(void)
{
    footprint f = {entries("/proc/self/task"), entries("/proc/self/fd"), 0, 0, (long)mallinfo2().uordblks};
    char line[600];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        f.mappings += strchr(line, '/') != NULL;
        f.ours += strstr(line, "/lib") && strstr(line, "kiln-copies") ? 1 : 0;
        f.ours += strstr(line, "memfd:kiln") ? 1 : 0;
    }
    if (maps)
        fclose(maps);
    return f;
}

/* ---- what is done with it ---- */

static copy library;
static const char *device;

/* It leaves the library loaded until it is done; the next unloading takes it along. */
static void prepare_in_background(void)
{
    kiln_kernel *kernel = NULL;
    kiln_array *in = NULL, *none = NULL;
    kiln_prepare_options options = KILN_PREPARE_OPTIONS_INIT;
    const int64_t n = 10;
    const float value[10] = {0};
    options.flags = KILN_PREPARE_BACKGROUND;
    KILN_IGNORE(library.array_from_host(&in, value, KILN_FLOAT32, 1, &n, KILN_DEVICE_HOST));
    KILN_IGNORE(library.elementwise_create(&kernel, "T x", "T z", "z = x - 4", "background", NULL));
    kiln_arg x = kiln_arg_array(in);
    check(library.kernel_prepare(kernel, &none, 1, &x, 1, NULL, &options) == KILN_OK, "preparing", 0, 0);
    library.kernel_free(kernel);
    library.array_free(in);
}

/* A compiler's log lives until the thread ends. */
static void fail_to_compile(void)
{
    check(!copy_computes(&library, "z = no_such_name(x)", 0, 1), "a wrong kernel", 0, 0);
}

static sem_t has_failed, is_gone;

static void *outlive(void *user)
{
    (void)user;
    fail_to_compile();
    sem_post(&has_failed);
    sem_wait(&is_gone);
    return NULL; /* with a log of a library that is not there any more */
}

static void use(bool is_last)
{
    kiln_cache_stats stats = KILN_CACHE_STATS_INIT;
    check(copy_computes(&library, "z = x * 2", 6, 100), "a result", 0, 0);
    check(copy_computes(&library, "z = x * 3", 9, LARGE), "a result by threads", 0, 0);
    if (!is_last)
        prepare_in_background();
    KILN_IGNORE(library.cache_get_stats(&stats));
    if (device)
        check(library.device_set_current(KILN_DEVICE_CUDA(0)) == KILN_OK, "the device", 0, 0);
}

/* ---- rounds ---- */

static void come_and_go(const char *path, int flags, bool is_last)
{
    copy_open(&library, path, RTLD_NOW | flags);
    use(is_last);
    copy_close(&library);
}

static bool is_settled(const footprint *now, const footprint *before)
{
    return device ? now->threads == before->threads && now->mappings == before->mappings &&
                        now->descriptors == before->descriptors
                  : now->ours == 0;
}

/* Waits until nothing is left in the background, which takes the time of a compile. On a busy machine one
 * may pause for a while, so it is looked at twice. */
static footprint settle(char path[2][300])
{
    footprint f = {0, 0, 0, 0, 0}, before;
    int tries = 0, settled = 0;
    do {
        before = f;
        for (int i = 0; i < 2; i++)
            come_and_go(path[i], RTLD_LOCAL, true);
        f = measure();
        usleep(device ? 500000 : 100000);
        settled = is_settled(&f, &before) ? settled + 1 : 0;
    } while (settled < (device ? 2 : 1) && tries++ < 300);
    return f;
}

static void a_thread_outlives_it(const char *path)
{
    pthread_t thread;
    copy_open(&library, path, RTLD_NOW);
    sem_init(&has_failed, 0, 0);
    sem_init(&is_gone, 0, 0);
    pthread_create(&thread, NULL, outlive, NULL);
    sem_wait(&has_failed);
    copy_close(&library);
    sem_post(&is_gone);
    pthread_join(thread, NULL);
}

/* The handlers of fork are gone, or work. */
static void fork_after_it(void)
{
    int state = 1;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, &state, 0);
    check(state == 0, "a fork afterwards", state, 0);
}

int main(int argc, char **argv)
{
    char path[2][300], cache[300];
    footprint warm = {0, 0, 0, 0, 0};
    bool is_cuda = argc > 1 && strcmp(argv[1], "cuda") == 0;
    device = is_cuda ? "cuda:0" : NULL;
    setenv("KILN_NUM_THREADS", "4", 1);
    for (int i = 0; i < 2; i++)
        copy_library(path[i], sizeof path[i], i ? "libsecond.so" : "libfirst.so");
    snprintf(cache, sizeof cache, "%.*s/cache", (int)(strrchr(path[0], '/') - path[0]), path[0]);
    setenv("KILN_CACHE_DIR", cache, 1);
    for (int round = 0; round < ROUNDS; round++) {
        come_and_go(path[round % 2], round % 3 ? RTLD_LOCAL : RTLD_GLOBAL, false);
        fork_after_it();
        if (round == WARM)
            warm = settle(path);
    }
    footprint end = settle(path);
    check(end.threads == warm.threads, "threads", end.threads, warm.threads);
    check(end.descriptors == warm.descriptors, "descriptors", end.descriptors, warm.descriptors);
    check(end.mappings == warm.mappings, "mappings", end.mappings, warm.mappings);
    check(is_cuda ? end.ours == warm.ours : end.ours == 0, "mappings of ours", end.ours, warm.ours);
    check(is_cuda || end.threads == NO_THREADS, "threads that stay", end.threads, NO_THREADS);
    check(end.heap - warm.heap < ROUNDS * LOADERS_OWN, "bytes of memory", end.heap, warm.heap);
    a_thread_outlives_it(path[0]);
    printf("%ld threads, %ld descriptors, %ld mappings (%ld of ours), %ld bytes more after %d rounds\n",
           end.threads - 2, end.descriptors - 3, end.mappings, end.ours, end.heap - warm.heap, ROUNDS - WARM);
    return faults ? 1 : 0;
}
