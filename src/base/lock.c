/* base/lock.c - takes and gives the locks of the library, and takes all of them at a fork. */
#include "base/lock.h"
#include "base/cancel.h"
#include "base/shortage.h"

#include <errno.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

typedef struct lock_state {
    alignas(64) pthread_mutex_t mutex; /* locks of two devices share no line of the caches */
    pthread_cond_t changed;
    _Atomic uintptr_t owner; /* the thread that holds it; 0 */
    bool is_ours;            /* taken by the fork that is going on */
    bool is_long;
} lock_state;

typedef enum at_fork { WAITS, RESETS } at_fork;
typedef enum hold { BRIEF, LONG } hold;

typedef struct lock_kind {
    kn_lock first, last;
    at_fork at_fork;
    hold hold;
    const char *name;
} lock_kind;

static const lock_kind kinds[] = {
#define X(name, slots, at_fork, hold, what) {KN_LOCK_##name, KN_LOCK_LAST_OF_##name, at_fork, hold, #name},
    KN_LOCKS(X)
#undef X
};

/* A fork that waits longer than this for a lock continues without it: its holder may be waiting for the
 * forking thread (one that forks within a constructor, while the loader is locked). */
enum { FORK_PATIENCE_S = 10, HOOKS_MAX = 16 };

static lock_state locks[KN_LOCK_COUNT];
static int n_inside;                /* threads that load or unload code; under KN_LOCK_LOADER */
static bool is_forking;             /* the others wait; under KN_LOCK_LOADER */
static _Thread_local int n_loading; /* how often this thread is inside */
static atomic_uint fork_count;
static void (*hooks[HOOKS_MAX])(void);
static int n_hooks;

static const lock_kind *kind_of(kn_lock lock)
{
    const lock_kind *kind = kinds;
    while (lock > kind->last)
        kind++;
    return kind;
}

const char *kn_lock_name(kn_lock lock)
{
    return lock < KN_LOCK_COUNT ? kind_of(lock)->name : "";
}

/* ---- taking and giving ---- */

/* Without a call where the compiler knows how: pooled memory is taken and given back under a lock. */
static uintptr_t this_thread(void)
{
#ifdef __has_builtin
#if __has_builtin(__builtin_thread_pointer)
    return (uintptr_t)__builtin_thread_pointer();
#endif
#endif
    return (uintptr_t)pthread_self();
}

static bool is_mine(const lock_state *l)
{
    return atomic_load_explicit(&l->owner, memory_order_relaxed) == this_thread();
}

#ifdef KN_LOCK_CHECKS
/* Builds with sanitizers end where a thread takes locks in another order than that of the list. */
static void check_order(kn_lock lock)
{
    for (int l = lock; l < KN_LOCK_COUNT; l++)
        if (is_mine(&locks[l]))
            abort();
}
#else
static void check_order(kn_lock lock)
{
    (void)lock;
}
#endif

void kn_lock_take(kn_lock lock)
{
    lock_state *l = &locks[lock];
    check_order(lock);
    if (l->is_long)
        kn_cancel_hold();
    pthread_mutex_lock(&l->mutex);
    atomic_store_explicit(&l->owner, this_thread(), memory_order_relaxed);
}

bool kn_lock_try(kn_lock lock)
{
    lock_state *l = &locks[lock];
    if (pthread_mutex_trylock(&l->mutex) != 0)
        return false;
    if (l->is_long)
        kn_cancel_hold();
    atomic_store_explicit(&l->owner, this_thread(), memory_order_relaxed);
    return true;
}

void kn_lock_give(kn_lock lock)
{
    lock_state *l = &locks[lock];
    atomic_store_explicit(&l->owner, 0, memory_order_relaxed);
    pthread_mutex_unlock(&l->mutex);
    if (l->is_long)
        kn_cancel_release(NULL);
}

/* A wait is a cancellation point, and would end with the lock taken. */
void kn_lock_wait(kn_lock lock)
{
    KN_UNCANCELLED;
    lock_state *l = &locks[lock];
    atomic_store_explicit(&l->owner, 0, memory_order_relaxed);
    pthread_cond_wait(&l->changed, &l->mutex);
    atomic_store_explicit(&l->owner, this_thread(), memory_order_relaxed);
}

void kn_lock_wake(kn_lock lock)
{
    pthread_cond_broadcast(&locks[lock].changed);
}

bool kn_lock_once(atomic_bool *is_made, kn_lock lock, void (*make)(void))
{
    if (atomic_load_explicit(is_made, memory_order_acquire))
        return true;
    KN_UNCANCELLED;
    kn_lock_take(lock);
    if (!atomic_load_explicit(is_made, memory_order_relaxed)) {
        unsigned before = kn_shortages();
        make();
        atomic_store_explicit(is_made, kn_shortages() == before, memory_order_release);
    }
    bool is_there = atomic_load_explicit(is_made, memory_order_relaxed);
    kn_lock_give(lock);
    return is_there;
}

/* ---- the loader ---- */

/* Forks come before later loaders: otherwise they might wait for ever. */
void kn_lock_enter_loader(void)
{
    kn_cancel_hold();
    if (n_loading++ > 0)
        return;
    kn_lock_take(KN_LOCK_LOADER);
    while (is_forking)
        kn_lock_wait(KN_LOCK_LOADER);
    n_inside++;
    kn_lock_give(KN_LOCK_LOADER);
}

void kn_lock_leave_loader(void)
{
    if (--n_loading == 0) {
        kn_lock_take(KN_LOCK_LOADER);
        n_inside--;
        kn_lock_wake(KN_LOCK_LOADER);
        kn_lock_give(KN_LOCK_LOADER);
    }
    kn_cancel_release(NULL);
}

/* ---- forks ---- */

static void init_lock(lock_state *l)
{
    pthread_mutex_init(&l->mutex, NULL);
    atomic_store_explicit(&l->owner, 0, memory_order_relaxed);
}

/* The lock of the loader, the last of all, is held. */
static void wait_for_loader(const struct timespec *end)
{
    lock_state *l = &locks[KN_LOCK_LOADER];
    int rc = l->is_ours ? 0 : ETIMEDOUT;
    is_forking = true;
    while (n_inside > (n_loading > 0) && rc == 0)
        rc = pthread_cond_timedwait(&l->changed, &l->mutex, end);
}

static void before_fork(void)
{
    KN_UNCANCELLED;
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += FORK_PATIENCE_S;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int lock = kinds[k].first; lock <= (int)kinds[k].last && kinds[k].at_fork == WAITS; lock++) {
            lock_state *l = &locks[lock];
            l->is_ours = !is_mine(l) && pthread_mutex_timedlock(&l->mutex, &end) == 0;
        }
    wait_for_loader(&end);
}

static void in_parent(void)
{
    is_forking = false;
    pthread_cond_broadcast(&locks[KN_LOCK_LOADER].changed);
    for (int lock = KN_LOCK_COUNT - 1; lock >= 0; lock--)
        if (locks[lock].is_ours) {
            locks[lock].is_ours = false;
            pthread_mutex_unlock(&locks[lock].mutex);
        }
}

/* In the child no thread waits, and the holder of a lock that this fork did not take does not exist: such a
 * lock is made anew. */
static void reset_in_child(lock_state *l)
{
    pthread_cond_init(&l->changed, NULL);
    if (l->is_ours)
        pthread_mutex_unlock(&l->mutex);
    else if (!is_mine(l))
        init_lock(l);
    l->is_ours = false;
}

static void in_child(void)
{
    atomic_fetch_add(&fork_count, 1);
    is_forking = false;
    n_inside = n_loading > 0;
    for (int lock = KN_LOCK_COUNT - 1; lock >= 0; lock--)
        reset_in_child(&locks[lock]);
    for (int h = 0; h < n_hooks; h++)
        hooks[h]();
}

unsigned kn_fork_count(void)
{
    return atomic_load_explicit(&fork_count, memory_order_relaxed);
}

void kn_fork_on_child(void (*hook)(void))
{
    if (n_hooks < HOOKS_MAX)
        hooks[n_hooks++] = hook;
}

/* Before every other constructor. When the library goes, the C library forgets the handlers by itself. */
__attribute__((constructor(101))) static void set_up(void)
{
    for (int lock = 0; lock < KN_LOCK_COUNT; lock++) {
        init_lock(&locks[lock]);
        pthread_cond_init(&locks[lock].changed, NULL);
        locks[lock].is_long = kind_of((kn_lock)lock)->hold == LONG;
    }
    pthread_atfork(before_fork, in_parent, in_child);
}
