/* Forks in the midst of everything: eight threads call, compile, load, allocate and ask while the program
 * forks; each child computes on the host, with kernels that it has and with one that it has to load, and
 * ends. A child that hangs is killed by its alarm. forks [COUNT]; KILN_SOAK=1: 10,000. */
#include <kiln/kiln.h>

#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A forked child that starts threads is what this is about. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0";
}

enum { THREADS = 8, SHARED = 4, STORED = 4, LARGE = 400000, PATIENCE_S = 900 };

static atomic_bool is_over;
static atomic_long rounds, new_kernels;

/* z = x * factor + number over n elements, by a kernel object of its own. Says what is wrong. */
static bool computes(const char *name, int number, int64_t n)
{
    kiln_kernel *kernel = NULL;
    kiln_array *in = NULL, *out = NULL;
    char body[64];
    double *value = malloc((size_t)n * sizeof *value), first = 2, last = 0;
    snprintf(body, sizeof body, "z = x * 3 + %d", number);
    for (int64_t i = 0; i < n; i++)
        value[i] = 2;
    kiln_status status = kiln_array_from_host(&in, value, KILN_FLOAT64, 1, &n, KILN_DEVICE_HOST);
    if (status == KILN_OK)
        status = kiln_elementwise_create(&kernel, "T x", "T z", body, name, NULL);
    if (status == KILN_OK) {
        kiln_arg x = kiln_arg_array(in);
        status = kiln_kernel_call(kernel, &out, 1, &x, 1, NULL);
    }
    if (status == KILN_OK)
        status = kiln_array_to_host(out, value, (size_t)n * sizeof *value);
    first = value[0];
    last = value[n - 1];
    bool is_right = status == KILN_OK && first == 6 + number && last == 6 + number;
    if (!is_right)
        fprintf(stderr, "%s: %s: %s: %g %g\n", name, body, status == KILN_OK ? "wrong" : kiln_error_message(),
                first, last);
    kiln_array_free(in);
    kiln_array_free(out);
    kiln_kernel_free(kernel);
    free(value);
    return is_right;
}

static void require(bool is_true, const char *what)
{
    if (is_true)
        return;
    fprintf(stderr, "forks: %s\n", what);
    _exit(1);
}

/* ---- what the threads do ---- */

static void on_log(kiln_log_level level, const char *message, void *user)
{
    (void)level, (void)message, (void)user;
}

static void on_memory(kiln_device device, void *pointer, size_t size, bool freed, void *user)
{
    (void)device, (void)pointer, (void)size, (void)freed, (void)user;
}

static void ask_and_fail(void)
{
    kiln_cache_stats cache = KILN_CACHE_STATS_INIT;
    kiln_memory_stats memory = KILN_MEMORY_STATS_INIT;
    kiln_kernel *kernel = NULL;
    void *pinned = NULL;
    KILN_IGNORE(kiln_cache_get_stats(&cache));
    KILN_IGNORE(kiln_memory_get_stats(KILN_DEVICE_HOST, &memory));
    kiln_log_set_callback(on_log, NULL);
    kiln_memory_set_hook(on_memory, NULL);
    require(kiln_elementwise_create(&kernel, "T x", "T z", "z = (x", "wrong", NULL) != KILN_OK,
            "a wrong kernel");
    require(kiln_memory_alloc_pinned(&pinned, 1000) == KILN_OK, "pinned memory");
    kiln_memory_free_pinned(pinned);
}

/* The program's own use of SQLite, whose locks are not ours. */
static void use_sqlite(void)
{
    sqlite3 *db = NULL;
    require(sqlite3_open(":memory:", &db) == SQLITE_OK &&
                sqlite3_exec(db,
                             "CREATE TABLE t(a, b); INSERT INTO t VALUES(1, randomblob(3000)); DROP TABLE t;",
                             NULL, NULL, NULL) == SQLITE_OK,
            "SQLite");
    sqlite3_close(db);
}

/* A fork lasts some milliseconds: were SQLite in use all the time, each child would be caught in it and none
 * would read the disk. And modules that are loaded make forks slow: after the first hundreds new ones are
 * rarer. */
static long nap_us(int thread, int round)
{
    if (thread == 2)
        return 40000;
    return thread == 0 && round > 300 ? 500000 : 50;
}

static void *work(void *user)
{
    int thread = (int)(intptr_t)user;
    for (int round = 0; !atomic_load(&is_over); round++) {
        struct timespec nap = {0, nap_us(thread, round) * 1000};
        if (thread == 0) { /* compiles, stores and loads */
            require(computes("fresh", 1000 + round, 10), "a new kernel");
            atomic_fetch_add(&new_kernels, 1);
        } else if (thread == 1) {
            ask_and_fail();
        } else if (thread == 2) {
            use_sqlite();
        } else {
            require(computes("shared", round % SHARED, thread % 2 ? LARGE : 100), "a thread's result");
        }
        atomic_fetch_add(&rounds, 1);
        nanosleep(&nap, NULL);
    }
    return NULL;
}

/* ---- forks ---- */

static int in_child(int nth)
{
    alarm(PATIENCE_S);
    if (!computes("shared", nth % SHARED, nth % 8 ? 1000 : LARGE))
        return 2;
    if (!computes("stored", nth % STORED, 10)) /* from the disk: the parent has not loaded it */
        return 3;
    return 0;
}

static int wait_for(pid_t child)
{
    int state = 0;
    require(waitpid(child, &state, 0) == child, "waitpid");
    return WIFSIGNALED(state) ? -WTERMSIG(state) : WEXITSTATUS(state);
}

static int fork_once(int nth)
{
    pid_t child = fork();
    require(child >= 0, "fork");
    if (child == 0)
        _exit(in_child(nth));
    return wait_for(child);
}

/* In a process of its own, so that this one has none of it loaded. */
static void store(void)
{
    pid_t child = fork();
    if (child == 0) {
        for (int k = 0; k < STORED; k++)
            require(computes("stored", k, 10), "a stored kernel");
        _exit(0);
    }
    require(wait_for(child) == 0, "the stored kernels");
}

/* Where fork comes at once, before the first thread of ours has done its work. */
static int fork_early(int nth)
{
    pid_t outer = fork();
    require(outer >= 0, "fork");
    if (outer == 0) {
        alarm(PATIENCE_S);
        KILN_IGNORE(kiln_device_set_current(
            KILN_DEVICE_HOST)); /* begins to open the cache and to look for the compiler */
        _exit(fork_once(nth) ? 1 : 0);
    }
    return wait_for(outer);
}

static int count_faults(int (*one)(int), int count)
{
    int hung = 0, wrong = 0;
    for (int nth = 0; nth < count; nth++) {
        int code = one(nth);
        hung += code == -SIGALRM;
        wrong += code != 0 && code != -SIGALRM;
    }
    if (hung || wrong)
        fprintf(stderr, "forks: of %d children %d hung and %d failed\n", count, hung, wrong);
    return hung + wrong;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    struct timespec start, end;
    const char *soak = getenv("KILN_SOAK");
    int count = argc > 1 ? atoi(argv[1]) : soak && *soak == '1' ? 10000 : 80;
    setenv("KILN_NUM_THREADS", "4", 0);
    store();
    int faults = count_faults(fork_early, count / 10);
    for (int k = 0; k < SHARED; k++)
        require(computes("shared", k, LARGE), "a shared kernel");
    for (int t = 0; t < THREADS; t++)
        require(pthread_create(&threads[t], NULL, work, (void *)(intptr_t)t) == 0, "a thread");
    clock_gettime(CLOCK_MONOTONIC, &start);
    faults += count_faults(fork_once, count);
    clock_gettime(CLOCK_MONOTONIC, &end);
    atomic_store(&is_over, true);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    printf("%d forks under %d threads in %.1f s (%ld rounds, %ld new kernels): %d faults\n", count, THREADS,
           (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9,
           atomic_load(&rounds), atomic_load(&new_kernels), faults);
    kiln_log_set_callback(NULL, NULL);
    return faults ? 1 : 0;
}
