/* A fork at each lock of the library, while another thread holds it, and while the forking thread does: the
 * child finds every lock free and everything that is behind them whole, and works on the host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "drawn.h"
#include "base/lock.h"
#include "base/os.h"
#include "base/thread.h"
#include "store/build.h"
#include "store/single_flight.h"
#include "device/device.h"

#include <kiln/kiln.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A forked child that starts threads is part of the test. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0";
}

enum { PATIENCE_S = 900, LARGE = 300000 };

static bool computes(const char *body, double z, int64_t n)
{
    kiln_kernel *kernel = NULL;
    kiln_array *in = NULL, *out = NULL;
    double value = 2;
    kiln_status status = kiln_array_full(&in, KILN_FLOAT64, 1, &n, &value, KILN_DEVICE_HOST);
    if (status == KILN_OK)
        status = kiln_elementwise_create(&kernel, "T x", "T z", body, "forked", NULL);
    if (status == KILN_OK) {
        kiln_arg x = kiln_arg_array(in);
        status = kiln_kernel_call(kernel, &out, 1, &x, 1, NULL);
    }
    bool is_right = status == KILN_OK && ((double *)kiln_array_data(out))[n - 1] == z;
    if (!is_right)
        fprintf(stderr, "%s: %s\n", body, kiln_error_message());
    kiln_array_free(in);
    kiln_array_free(out);
    kiln_kernel_free(kernel);
    return is_right;
}

static int use_everything(void)
{
    kiln_cache_stats cache = KILN_CACHE_STATS_INIT;
    kiln_memory_stats memory = KILN_MEMORY_STATS_INIT;
    const kiln_dtype halves = KILN_FLOAT16;
    kiln_kernel *kernel = NULL;
    void *pinned = NULL;
    for (int lock = 0; lock < KN_LOCK_COUNT; lock++) {
        kn_lock_take((kn_lock)lock);
        kn_lock_give((kn_lock)lock);
    }
    if (!computes("z = x * 5", 10, LARGE) || !computes("z = x * 7", 14, 10))
        return 2;
    if (kiln_cache_get_stats(&cache) != KILN_OK || cache.errors)
        return 3;
    if (kiln_memory_get_stats(KILN_DEVICE_HOST, &memory) != KILN_OK)
        return 4;
    if (kiln_memory_alloc_pinned(&pinned, 100) != KILN_OK)
        return 5;
    kiln_memory_free_pinned(pinned);
    if (kiln_operation_kernel(&kernel, "std", &halves, 1) != KILN_OK)
        return 6;
    kiln_log_set_callback(NULL, NULL);
    kiln_memory_set_hook(NULL, NULL);
    return 0;
}

/* Its exit code; -1 where it hung. */
static int child_of_fork(int (*body)(void))
{
    int state = 0;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(PATIENCE_S);
        _exit(body());
    }
    assert_int_equal(waitpid(child, &state, 0), child);
    return WIFSIGNALED(state) ? -WTERMSIG(state) : WEXITSTATUS(state);
}

/* ---- each lock ---- */

typedef struct holder {
    kn_lock lock;
    pthread_barrier_t is_held;
    atomic_bool is_forked;
} holder;

/* A thread that ends is at work in the sanitizer's allocator, whose locks a fork would copy as they are. */
static void wait_for_fork(holder *h)
{
    while (!atomic_load(&h->is_forked))
        usleep(500);
}

static void *hold(void *user)
{
    holder *h = user;
    kn_lock_take(h->lock);
    pthread_barrier_wait(&h->is_held);
    usleep(2000);
    kn_lock_give(h->lock);
    wait_for_fork(h);
    return NULL;
}

/* A lock of each device is represented by the first and the last one. */
static int next_lock(int lock)
{
    const char *name = kn_lock_name((kn_lock)lock++);
    while (lock + 1 < KN_LOCK_COUNT && strcmp(kn_lock_name((kn_lock)lock), name) == 0 &&
           strcmp(kn_lock_name((kn_lock)(lock + 1)), name) == 0)
        lock++;
    return lock;
}

static void held_by_another(void **state)
{
    (void)state;
    for (int lock = 0; lock < KN_LOCK_COUNT; lock = next_lock(lock)) {
        if (!is_drawn((size_t)lock, 3))
            continue;
        pthread_t thread;
        holder h = {.lock = (kn_lock)lock};
        pthread_barrier_init(&h.is_held, NULL, 2);
        assert_int_equal(pthread_create(&thread, NULL, hold, &h), 0);
        pthread_barrier_wait(&h.is_held);
        int code = child_of_fork(use_everything);
        atomic_store(&h.is_forked, true);
        if (code != 0)
            fail_msg("%s (%d): the child ended with %d", kn_lock_name(h.lock), lock, code);
        pthread_join(thread, NULL);
        pthread_barrier_destroy(&h.is_held);
    }
}

static kn_lock held_here;

static int go_on(void)
{
    kn_lock_give(held_here);
    return use_everything();
}

/* A driver that forks while it is called. */
static void held_by_the_forking_thread(void **state)
{
    (void)state;
    for (int lock = 0; lock < KN_LOCK_COUNT; lock = next_lock(lock)) {
        if (!is_drawn((size_t)lock + KN_LOCK_COUNT, 3))
            continue;
        held_here = (kn_lock)lock;
        kn_lock_take(held_here);
        int code = child_of_fork(go_on);
        kn_lock_give(held_here);
        if (code != 0)
            fail_msg("%s (%d): the child ended with %d", kn_lock_name(held_here), lock, code);
    }
    assert_int_equal(use_everything(), 0);
    kn_thread_join_all();
}

/* ---- while something is loaded ---- */

static void *load(void *user)
{
    holder *h = user;
    kn_lock_enter_loader();
    pthread_barrier_wait(&h->is_held);
    usleep(100000);
    kn_lock_leave_loader();
    wait_for_fork(h);
    return NULL;
}

static void inside_the_loader(void **state)
{
    holder h = {.lock = KN_LOCK_LOADER};
    pthread_t thread;
    (void)state;
    pthread_barrier_init(&h.is_held, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, load, &h), 0);
    pthread_barrier_wait(&h.is_held);
    double start = kn_os_now_ms();
    int code = child_of_fork(use_everything);
    atomic_store(&h.is_forked, true);
    assert_int_equal(code, 0);
    assert_true(kn_os_now_ms() - start > 50); /* it waited */
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&h.is_held);
    kn_lock_enter_loader();
    assert_int_equal(child_of_fork(use_everything), 0);
    kn_lock_leave_loader();
}

/* ---- half-made values, waiting threads ---- */

static kn_flight_table *table;
static pthread_barrier_t is_making;

static kiln_status get(bool is_slow)
{
    void *value = NULL;
    kn_flight *flight = NULL;
    kiln_status status = kn_flight_begin(table, "key", 3, true, &value, &flight);
    if (flight && is_slow) {
        pthread_barrier_wait(&is_making);
        usleep(200000);
    }
    if (flight)
        kn_flight_end(table, flight, &table, KILN_OK);
    return status;
}

static void *get_slowly(void *user)
{
    (void)user;
    return get(true) == KILN_OK ? &table : NULL;
}

static void *get_as_well(void *user)
{
    (void)user;
    return get(false) == KILN_OK ? &table : NULL;
}

static int get_in_child(void)
{
    return get(false) == KILN_OK && use_everything() == 0 ? 0 : 1;
}

static void half_made(void **state)
{
    pthread_t maker, waiter;
    void *result = NULL;
    (void)state;
    table = kn_flight_table_create();
    pthread_barrier_init(&is_making, NULL, 2);
    assert_int_equal(pthread_create(&maker, NULL, get_slowly, NULL), 0);
    pthread_barrier_wait(&is_making);
    assert_int_equal(pthread_create(&waiter, NULL, get_as_well, NULL), 0);
    usleep(50000);
    assert_int_equal(child_of_fork(get_in_child), 0);
    pthread_join(maker, &result);
    assert_ptr_equal(result, &table);
    pthread_join(waiter, &result);
    assert_ptr_equal(result, &table);
    pthread_barrier_destroy(&is_making);
    kn_flight_table_free(table, NULL);
}

static void wait_until_told(void *user)
{
    char byte;
    ssize_t n = read(*(int *)user, &byte, 1);
    (void)n;
}

/* The child has no such thread, and does not wait for it. */
static int join_in_child(void)
{
    kn_thread_join_all();
    return use_everything();
}

static void threads_in_the_background(void **state)
{
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(kn_thread_start(wait_until_told, ends), 0);
    assert_int_equal(child_of_fork(join_in_child), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    kn_thread_join_all();
    close(ends[0]);
    close(ends[1]);
}

/* ---- generations ---- */

static int fork_again(void)
{
    return kn_fork_count() == 1 && child_of_fork(use_everything) == 0 ? 0 : 1;
}

static void children_of_children(void **state)
{
    (void)state;
    assert_int_equal(kn_fork_count(), 0);
    assert_int_equal(child_of_fork(fork_again), 0);
}

static int set_up(void **state)
{
    (void)state;
    setenv("KILN_TARGET", "host", 1);
    setenv("KILN_NUM_THREADS", "3", 1);
    int code = use_everything();
    kn_thread_join_all();
    return code;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(held_by_another),           cmocka_unit_test(held_by_the_forking_thread),
        cmocka_unit_test(inside_the_loader),         cmocka_unit_test(half_made),
        cmocka_unit_test(threads_in_the_background), cmocka_unit_test(children_of_children),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
