/* base/lock.h - every lock of the library, in the order in which they are taken.
 *
 * fork() copies one thread and the state of all locks. So these are the only locks: base/lock.c takes them at
 * a fork, in this order, and the child finds their data consistent. tools/check_layers refuses a
 * pthread_mutex, a condition, a pthread_once and the like anywhere else. A thread that holds one takes only
 * locks further down; callbacks run without locks. */
#ifndef KN_BASE_LOCK_H
#define KN_BASE_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>

/* X(name, slots, fork, holding, what it guards). WAITS: a fork waits until the lock is free. RESETS: a fork
 * does not wait, since the lock is held for long, or during a call of the CUDA driver, which may itself wait
 * for the forking thread; the guarded state is unused in the child, or made anew. A lock with several slots
 * is one lock per device: slot 0 is the host's. LONG: the holder uses files, compilers or drivers, and
 * threads that hold it or wait for it are not cancelled (base/cancel.h). BRIEF: calls take it, and nothing
 * under it is a cancellation point. */
#define KN_LOCKS(X)                                                                                          \
    X(FORK, 1, WAITS, LONG, "forking itself: one thread at a time")                                          \
    X(MAPPED, 1, WAITS, BRIEF, "the kernels that kiln_map remembers")                                        \
    X(OWN_KERNELS, 1, WAITS, BRIEF, "the kernels that arrays are copied and filled by")                      \
    X(OPERATIONS, 1, WAITS, BRIEF, "operations that were registered, and kernels of operations")             \
    X(DEVICE_HOST, 1, WAITS, LONG, "making the host device")                                                 \
    X(DEVICE_CUDA, 1, RESETS, LONG, "making CUDA devices")                                                   \
    X(CUDA_PEERS, 1, RESETS, LONG, "which devices see each other")                                           \
    X(CUDA_DRIVER, 1, RESETS, LONG, "starting the driver")                                                   \
    X(BUILD, 1, WAITS, LONG, "making the tables of kernels, and the thread that warms up")                   \
    X(HOST_COMPILER, 1, WAITS, LONG, "looking for the host's compiler")                                      \
    X(WAITING_COMPILER, 1, WAITS, LONG, "the host's compiler that waits for a source")                       \
    X(NVRTC, 1, WAITS, LONG, "looking for NVRTC, and loading it")                                            \
    X(GENERATOR, 1, WAITS, LONG, "the generator's identity")                                                 \
    X(FLIGHTS, 1, WAITS, BRIEF, "tables of what is made once a key, and who waits for it")                   \
    X(CACHE, 1, WAITS, LONG, "SQLite")                                                                       \
    X(RECORD, 1, WAITS, LONG, "which lines of a record were written")                                        \
    X(MODULES, 1, RESETS, LONG, "functions of raw modules")                                                  \
    X(CAPTURES, 1, RESETS, BRIEF, "the list of captures")                                                    \
    X(GRAPH_RUNS, KN_LOCK_SLOTS, RESETS, BRIEF, "runs of graphs: queued one by one")                         \
    X(COUNTERS, 1, RESETS, BRIEF, "which counters belong to which stream")                                   \
    X(POOL_HOST, 1, WAITS, BRIEF, "the host's memory pool")                                                  \
    X(POOL_CUDA, KN_LOCK_SLOTS, RESETS, BRIEF, "a CUDA device's memory pool")                                \
    X(PINNED, 1, WAITS, BRIEF, "which pinned memory belongs to which device")                                \
    X(MEMOS, 1, WAITS, BRIEF, "writing to memos of calls")                                                   \
    X(HOST_JOB, 1, RESETS, BRIEF, "the host's threads: held while they run a job")                           \
    X(HOST_THREADS, 1, RESETS, BRIEF, "the job, and who waits for one")                                      \
    X(THREADS, 1, WAITS, LONG, "the list of threads that are joined in the end")                             \
    X(TIERS, 1, WAITS, BRIEF, "which optimised tiers of kernels are to be compiled")                         \
    X(STEPS, 1, WAITS, LONG, "steps of calls that several threads build")                                    \
    X(RANGES, 1, WAITS, LONG, "starting a profiler")                                                         \
    X(LAUNCH_NAMES, 1, WAITS, BRIEF, "the names of kernels that were launched")                              \
    X(MEMORY_PROFILE, 1, WAITS, BRIEF, "the memory profile")                                                 \
    X(MEMORY_HOOK, 1, WAITS, BRIEF, "the memory hook")                                                       \
    X(LOG, 1, WAITS, BRIEF, "the log callback")                                                              \
    X(ERROR, 1, WAITS, BRIEF, "the key by which threads find their logs")                                    \
    X(LOADER, 1, WAITS, BRIEF, "how many threads are inside the dynamic loader")

enum { KN_LOCK_SLOTS = 65 };

/* KN_LOCK_FLIGHTS is a lock; KN_LOCK_GRAPH_RUNS + n one of several. */
typedef enum kn_lock {
#define X(name, slots, at_fork, hold, what)                                                                  \
    KN_LOCK_##name, KN_LOCK_LAST_OF_##name = KN_LOCK_##name + (slots)-1,
    KN_LOCKS(X)
#undef X
        KN_LOCK_COUNT
} kn_lock;

void kn_lock_take(kn_lock lock);
bool kn_lock_try(kn_lock lock);
void kn_lock_give(kn_lock lock);
/* Each lock has a condition. Waits for the next kn_lock_wake, with the lock released meanwhile; call again
 * until the condition holds. */
void kn_lock_wait(kn_lock lock);
void kn_lock_wake(kn_lock lock);

/* Calls make() where *is_made is not yet set, then sets it: once, under the lock. Cheap when it is made.
 * False, and not set, if make() met a shortage (base/shortage.h): what it left must not be read, since the
 * next caller makes it anew. */
bool kn_lock_once(atomic_bool *is_made, kn_lock lock, void (*make)(void));

/* Brackets loading and unloading of code: a fork waits until no thread is inside, since the child would find
 * the loader's lists half-changed. Other loaders may enter too, so that a constructor may call us while
 * another thread waits for the loader. */
void kn_lock_enter_loader(void);
void kn_lock_leave_loader(void);

/* The number of forks between this process and the first. State with another number belongs to threads that
 * do not exist in this process. */
unsigned kn_fork_count(void);
/* Has hook() called in every child, before fork() returns there and with all locks free. For constructors; at
 * most 16. */
void kn_fork_on_child(void (*hook)(void));

/* For tests: a lock's name; "" beyond KN_LOCK_COUNT. */
const char *kn_lock_name(kn_lock lock);

#endif
