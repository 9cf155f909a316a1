/* The host's threads. One job runs at a time; who finds the pool busy, or is itself inside a job, runs alone.
 * Workers watch for the next job for a moment before they sleep, because launches come in bursts. */
#include "device/host_threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/lock.h"
#include "base/os.h"
#include "base/unload.h"

enum { WORKERS_MAX = 255, SHARES_PER_THREAD = 4, WATCH_ROUNDS = 4000 };

typedef struct host_job {
    void (*body)(void *user, int64_t begin, int64_t end);
    void *user;
    int64_t count;
    int64_t shares;
    _Atomic int64_t next_share;
    int wanted; /* workers that may still join; under the lock */
} host_job;

/* Who has a job takes KN_LOCK_HOST_JOB until it is done. */
static struct {
    host_job *job; /* this and the fields down to `threads` under KN_LOCK_HOST_THREADS */
    int sleeping;
    int workers; /* started */
    bool is_stopping;
    pthread_t threads[WORKERS_MAX];
    _Atomic unsigned generation; /* counts jobs: what a waking worker looks at */
    _Atomic int active;          /* workers inside the job */
    int thread_limit;
} pool;

static atomic_bool is_set_up;
static _Thread_local bool is_inside; /* in a job: nested calls run inline */

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* A child of fork has none of the threads; it starts its own at its first job. */
static void reset_in_child(void)
{
    pool.job = NULL;
    pool.sleeping = pool.workers = 0;
    pool.is_stopping = false;
    atomic_store(&pool.active, 0);
    is_inside = false;
}

/* What KILN_NUM_THREADS says; 0: nothing; negative: no number from 1. */
static long wanted_threads(void)
{
    const char *text = kn_os_env("KILN_NUM_THREADS");
    char *end = NULL;
    long count = text && text[0] >= '0' && text[0] <= '9' ? strtol(text, &end, 10) : -1;
    if (!text || !text[0])
        return 0;
    return end && !*end && count > 0 ? count : -1;
}

kiln_status kn_host_threads_check(void)
{
    if (wanted_threads() >= 0)
        return KILN_OK;
    return kn_error(KILN_ERROR_INVALID,
                    "KILN_NUM_THREADS is \"%.40s\"; a number of threads from 1 was expected",
                    kn_os_env("KILN_NUM_THREADS"));
}

static void set_up(void)
{
    long count = wanted_threads();
    if (count <= 0)
        count = kn_os_cpu_count();
    pool.thread_limit = count > WORKERS_MAX ? WORKERS_MAX + 1 : (int)count;
}

__attribute__((constructor)) static void register_fork(void)
{
    kn_fork_on_child(reset_in_child);
}

static void take_shares(host_job *job)
{
    int64_t width = job->count / job->shares, longer = job->count % job->shares, share;
    is_inside = true;
    while ((share = atomic_fetch_add_explicit(&job->next_share, 1, memory_order_relaxed)) < job->shares) {
        int64_t begin = share * width + (share < longer ? share : longer);
        job->body(job->user, begin, begin + width + (share < longer));
    }
    is_inside = false;
}

/* Waits, watching first, until there is a job after `seen`; with the lock held on return. */
static void await_job(unsigned *seen)
{
    for (int i = 0; i < WATCH_ROUNDS && atomic_load_explicit(&pool.generation, memory_order_acquire) == *seen;
         i++)
        pause_briefly();
    kn_lock_take(KN_LOCK_HOST_THREADS);
    while (!pool.is_stopping && atomic_load_explicit(&pool.generation, memory_order_acquire) == *seen) {
        pool.sleeping++;
        kn_lock_wait(KN_LOCK_HOST_THREADS);
        pool.sleeping--;
    }
    *seen = atomic_load_explicit(&pool.generation, memory_order_acquire);
}

static void *worker_main(void *unused)
{
    unsigned seen = 0;
    (void)unused;
    for (;;) {
        await_job(&seen);
        host_job *job = pool.job;
        bool joins = job && job->wanted > 0, stops = pool.is_stopping;
        if (joins) {
            job->wanted--;
            atomic_fetch_add_explicit(&pool.active, 1, memory_order_relaxed);
        }
        kn_lock_give(KN_LOCK_HOST_THREADS);
        if (stops && !joins)
            return NULL;
        if (joins) {
            take_shares(job);
            atomic_fetch_sub_explicit(&pool.active, 1, memory_order_release);
        }
    }
}

/* Starts workers until there are `wanted`; as many as can be had. The lock is held. */
static void start_workers(int wanted)
{
    sigset_t all, before;
    if (pool.workers >= wanted)
        return;
    sigfillset(&all); /* signals are the application's threads' business */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool.workers < wanted && pthread_create(&pool.threads[pool.workers], NULL, worker_main, NULL) == 0)
        pool.workers++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void publish(host_job *job)
{
    kn_lock_take(KN_LOCK_HOST_THREADS);
    start_workers(job->wanted);
    pool.job = job;
    atomic_fetch_add_explicit(&pool.generation, 1, memory_order_release);
    if (pool.sleeping > 0)
        kn_lock_wake(KN_LOCK_HOST_THREADS);
    kn_lock_give(KN_LOCK_HOST_THREADS);
}

/* No worker joins any more; waits for those inside. They are on their last shares, so watching is right; a
 * descheduled one needs the yield. */
static void retire(void)
{
    kn_lock_take(KN_LOCK_HOST_THREADS);
    pool.job = NULL;
    kn_lock_give(KN_LOCK_HOST_THREADS);
    for (int i = 0; atomic_load_explicit(&pool.active, memory_order_acquire) > 0; i++) {
        if (i < WATCH_ROUNDS)
            pause_briefly();
        else
            sched_yield();
    }
}

void kn_host_parallel(int64_t count, int64_t grain, void (*body)(void *user, int64_t begin, int64_t end),
                      void *user)
{
    if (count <= 0)
        return;
    if (grain < 1)
        grain = 1;
    kn_lock_once(&is_set_up, KN_LOCK_HOST_THREADS, set_up);
    int64_t shares = count / grain, most = (int64_t)pool.thread_limit * SHARES_PER_THREAD;
    if (shares < 2 || pool.thread_limit < 2 || is_inside || !kn_lock_try(KN_LOCK_HOST_JOB)) {
        body(user, 0, count);
        return;
    }
    if (shares > most)
        shares = most;
    int threads = shares < pool.thread_limit ? (int)shares : pool.thread_limit;
    host_job job = {.body = body, .user = user, .count = count, .shares = shares, .wanted = threads - 1};
    publish(&job);
    take_shares(&job);
    retire();
    kn_lock_give(KN_LOCK_HOST_JOB);
}

/* The library may be unloaded: its code must not be running in threads then. An exit from inside a job leaves
 * them alone. */
__attribute__((destructor(KN_UNLOAD_THREADS))) static void stop_workers(void)
{
    if (is_inside || !kn_lock_try(KN_LOCK_HOST_JOB))
        return;
    kn_lock_take(KN_LOCK_HOST_THREADS);
    int count = pool.workers;
    pool.workers = 0;
    pool.is_stopping = true;
    kn_lock_wake(KN_LOCK_HOST_THREADS);
    kn_lock_give(KN_LOCK_HOST_THREADS);
    for (int i = 0; i < count; i++)
        pthread_join(pool.threads[i], NULL);
    pool.is_stopping = false;
    kn_lock_give(KN_LOCK_HOST_JOB);
}
