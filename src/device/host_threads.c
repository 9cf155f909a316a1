/* The host's threads. One job runs at a time; a caller that finds the pool busy, or is itself inside a job,
 * runs alone. Workers watch for the next job before they sleep, because launches come in bursts: waking one
 * costs the caller a system call, and the worker comes 20 to 60 us later (virtual machine, Zen 4), while a
 * call on a million elements takes 40. No step of a watching worker into a job and out of it sleeps. */
#include "device/host_threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/cancel.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/os.h"
#include "base/setting.h"
#include "base/shortage.h"
#include "base/unload.h"

enum {
    WORKERS_MAX = 255,
    SHARES_PER_THREAD = 16,
    WATCH_MS = 2,       /* from a job to the next */
    WAKE_US = 60,       /* the least time for which a caller wakes workers: they need as long to come */
    LOOK_ROUNDS = 64,   /* pauses, of 10 to 50 ns, between two looks at the clock */
    WATCH_ROUNDS = 4000 /* pauses while another thread finishes a moment's work */
};

typedef struct host_job {
    void (*body)(void *user, int64_t begin, int64_t end);
    void *user;
    int64_t count;
    int64_t shares;
    _Atomic int64_t next_share;
    int wanted; /* workers that may still join; under the lock */
} host_job;

/* The holder of a job takes KN_LOCK_HOST_JOB until it is done. */
static struct {
    host_job *job; /* this and the fields down to `threads` under KN_LOCK_HOST_THREADS */
    int sleeping;
    int workers; /* started */
    bool is_stopping;
    pthread_t threads[WORKERS_MAX];
    _Atomic unsigned generation; /* counts jobs; waking workers read it */
    _Atomic int active;          /* workers inside the job */
    _Atomic int caller_cpu;      /* where the last job came from */
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

static void set_up(void)
{
    const char *told;
    bool is_told = kn_setting_read(&told, "KILN_NUM_THREADS") == KILN_OK && told;
    long count = is_told ? strtol(told, NULL, 10) : kn_os_cpu_count();
    pool.thread_limit = count > WORKERS_MAX ? WORKERS_MAX + 1 : (int)count;
}

kiln_status kn_host_threads_check(void)
{
    const char *unused;
    kiln_status status = kn_setting_read(&unused, "KILN_NUM_THREADS");
    if (status == KILN_OK && !kn_lock_once(&is_set_up, KN_LOCK_HOST_THREADS, set_up))
        status = kn_error_shortage("counting processors");
    return status;
}

__attribute__((constructor)) static void register_fork(void)
{
    kn_fork_on_child(reset_in_child);
}

/* The lock is held only for a moment, so sleeping is the last resort: it costs two threads a system call
 * each. */
static void take_lock_soon(void)
{
    for (int i = 0; i < WATCH_ROUNDS; i++) {
        if (kn_lock_try(KN_LOCK_HOST_THREADS))
            return;
        pause_briefly();
    }
    kn_lock_take(KN_LOCK_HOST_THREADS);
}

/* False: none was left. */
static bool take_share(host_job *job)
{
    int64_t width = job->count / job->shares, longer = job->count % job->shares;
    int64_t share = atomic_fetch_add_explicit(&job->next_share, 1, memory_order_relaxed);
    if (share >= job->shares)
        return false;
    int64_t begin = share * width + (share < longer ? share : longer);
    job->body(job->user, begin, begin + width + (share < longer));
    return true;
}

/* Watches for a job after `seen`; true if one comes. Other threads may have the processor meanwhile. */
static bool watch(unsigned seen)
{
    double end = kn_os_now_ms() + WATCH_MS;
    do {
        for (int i = 0; i < LOOK_ROUNDS; i++) {
            if (atomic_load_explicit(&pool.generation, memory_order_acquire) != seen)
                return true;
            pause_briefly();
        }
        sched_yield();
    } while (kn_os_now_ms() < end);
    return false;
}

/* Sleeps until there is a job after `seen`; with the lock held on return. */
static void sleep_until_job(unsigned seen)
{
    take_lock_soon();
    while (!pool.is_stopping && atomic_load_explicit(&pool.generation, memory_order_acquire) == seen) {
        pool.sleeping++;
        kn_lock_wait(KN_LOCK_HOST_THREADS);
        pool.sleeping--;
    }
}

/* A sleeping worker leaves the processor of the last caller. Linux may queue a woken thread behind its waker,
 * where it waits until the job is done; stays of 15 ms have been seen. */
static void *worker_main(void *unused)
{
    unsigned seen = 0;
    (void)unused;
    kn_cancel_forbid();
    for (;;) {
        kn_os_cpus cpus;
        bool avoids = !watch(seen) && kn_os_cpu_avoid(&cpus, atomic_load(&pool.caller_cpu));
        sleep_until_job(seen);
        seen = atomic_load_explicit(&pool.generation, memory_order_acquire);
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
            is_inside = true;
            while (take_share(job))
                ;
            is_inside = false;
            atomic_fetch_sub_explicit(&pool.active, 1, memory_order_release);
        }
        if (avoids)
            kn_os_cpu_return(&cpus);
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

/* True if workers sleep and were not woken. */
static bool publish(host_job *job)
{
    take_lock_soon();
    start_workers(job->wanted);
    bool are_asleep = pool.sleeping > pool.workers - job->wanted;
    atomic_store_explicit(&pool.caller_cpu, kn_os_cpu_current(), memory_order_relaxed);
    pool.job = job;
    atomic_fetch_add_explicit(&pool.generation, 1, memory_order_release);
    kn_lock_give(KN_LOCK_HOST_THREADS);
    return are_asleep;
}

static void wake_workers(void)
{
    take_lock_soon();
    kn_lock_wake(KN_LOCK_HOST_THREADS);
    kn_lock_give(KN_LOCK_HOST_THREADS);
}

/* The caller's part. Sleeping workers are woken if the caller alone would need longer than waking takes. */
static void run_shares(host_job *job, bool are_asleep)
{
    double start = are_asleep ? kn_os_now_ms() : 0;
    is_inside = true;
    for (int64_t done = 1; take_share(job); done++) {
        int64_t left = job->shares - atomic_load_explicit(&job->next_share, memory_order_relaxed);
        if (are_asleep && left > 0 &&
            (kn_os_now_ms() - start) * 1000 * (double)left > (double)done * WAKE_US) {
            wake_workers();
            are_asleep = false;
        }
    }
    is_inside = false;
}

/* Waits for the workers inside; no other joins. They are on their last shares, so busy waiting is right, and
 * yielding lets a descheduled one run. */
static void retire(void)
{
    take_lock_soon();
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
    bool has_limit = kn_lock_once(&is_set_up, KN_LOCK_HOST_THREADS, set_up);
    int64_t shares = count / grain, most = has_limit ? (int64_t)pool.thread_limit * SHARES_PER_THREAD : 0;
    if (most == 0 || shares < 2 || pool.thread_limit < 2 || is_inside || !kn_lock_try(KN_LOCK_HOST_JOB)) {
        body(user, 0, count);
        return;
    }
    if (shares > most)
        shares = most;
    int threads = shares < pool.thread_limit ? (int)shares : pool.thread_limit;
    host_job job = {.body = body, .user = user, .count = count, .shares = shares, .wanted = threads - 1};
    run_shares(&job, publish(&job));
    retire();
    kn_lock_give(KN_LOCK_HOST_JOB);
}

void kn_host_parallel_rows(int64_t rows, int64_t length, int64_t least,
                           void (*short_rows)(void *user, int64_t begin, int64_t end),
                           void (*long_rows)(void *user, int64_t begin, int64_t end), void *user)
{
    if (length < least)
        kn_host_parallel(rows, 1 + least / 4 / (length + 1), short_rows, user);
    else
        long_rows(user, 0, rows);
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
    atomic_fetch_add_explicit(&pool.generation, 1, memory_order_release);
    kn_lock_wake(KN_LOCK_HOST_THREADS);
    kn_lock_give(KN_LOCK_HOST_THREADS);
    for (int i = 0; i < count; i++)
        pthread_join(pool.threads[i], NULL);
    pool.is_stopping = false;
    kn_lock_give(KN_LOCK_HOST_JOB);
}
