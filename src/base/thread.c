/* base/thread.c - starts background threads and joins them when the library is unloaded. */
#include "base/thread.h"
#include "base/alloc.h"
#include "base/cancel.h"
#include "base/lock.h"
#include "base/shortage.h"
#include "base/unload.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>

typedef struct kn_thread kn_thread;
struct kn_thread {
    kn_thread *next;
    pthread_t thread;
    void (*body)(void *user);
    void *user;
    bool has_begun; /* under the lock, as the next one */
    bool is_seen;   /* kn_thread_start knows it: it waits no longer */
    atomic_bool has_ended;
};

static kn_thread *threads; /* under KN_LOCK_THREADS */
static kn_thread *parents; /* in a child: of threads that may have been writing to them */

/* A function of the C library (glibc has it): calls destroy(object) when the calling thread ends, and until
 * then keeps the shared object loaded that contains dso. */
extern int __cxa_thread_atexit_impl(void (*destroy)(void *), void *object, void *dso) __attribute__((weak));
extern void *__dso_handle;

/* dlclose holds the loader's lock, for which the thread may have to wait: so an unloading cannot wait for the
 * thread. The library stays until the thread has ended, and goes with the next dlclose of whatever. */
static void keep_library(void)
{
    if (__cxa_thread_atexit_impl)
        __cxa_thread_atexit_impl(free, NULL, &__dso_handle);
}

static void *run(void *user)
{
    kn_thread *t = user;
    kn_cancel_forbid();
    keep_library();
    kn_lock_take(KN_LOCK_THREADS);
    t->has_begun = true;
    kn_lock_wake(KN_LOCK_THREADS);
    kn_lock_give(KN_LOCK_THREADS);
    t->body(t->user);
    atomic_store(&t->has_ended, true);
    return NULL;
}

static int create(kn_thread *t)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&t->thread, NULL, run, t);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

static void join_ended(void)
{
    for (kn_thread **link = &threads; *link;) {
        kn_thread *t = *link;
        if (!t->is_seen || !atomic_load(&t->has_ended)) {
            link = &t->next;
            continue;
        }
        pthread_join(t->thread, NULL);
        *link = t->next;
        kn_free(t);
    }
}

int kn_thread_start(void (*body)(void *user), void *user)
{
    kn_thread *t = kn_calloc(1, sizeof *t);
    if (!t)
        return ENOMEM;
    t->body = body;
    t->user = user;
    kn_lock_take(KN_LOCK_THREADS);
    join_ended();
    int rc = create(t);
    if (rc == 0) {
        t->next = threads;
        threads = t;
        while (!t->has_begun)
            kn_lock_wait(KN_LOCK_THREADS);
        t->is_seen = true;
    }
    kn_lock_give(KN_LOCK_THREADS);
    if (rc != 0) {
        kn_shortage_note(rc);
        kn_free(t);
    }
    return rc;
}

static kn_thread *take_all(void)
{
    kn_lock_take(KN_LOCK_THREADS);
    kn_thread *all = threads;
    threads = NULL;
    kn_lock_give(KN_LOCK_THREADS);
    return all;
}

static void join_all(kn_thread *all)
{
    for (kn_thread *t = all, *next; t; t = next) {
        next = t->next;
        pthread_join(t->thread, NULL); /* refused for the calling thread, where that one ends the process */
        kn_free(t);
    }
}

void kn_thread_join_all(void)
{
    join_all(take_all());
}

/* Later destructors take down the resources of these threads. (A function of its own: of one that was
 * declared before gcc 12 drops the priority.) */
__attribute__((destructor(KN_UNLOAD_THREADS))) static void unload(void)
{
    kn_thread_join_all();
}

/* There is one thread, which may have forked with the lock in hand. */
static void forget_in_child(void)
{
    kn_thread **end = &parents;
    while (*end)
        end = &(*end)->next;
    *end = threads;
    threads = NULL;
}

__attribute__((constructor)) static void register_fork(void)
{
    kn_fork_on_child(forget_in_child);
}
