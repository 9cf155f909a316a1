/* base/unload.h - the end of the library, which is unloaded (dlclose) or whose process ends.
 *
 * Unloaded, it leaves nothing: its threads are joined, kernels closed, files and memory given back. When the
 * process ends other threads may still be running kernels: then threads of our own are joined, and all else
 * is left as it is. Destructors run in the order of these priorities, from the first to the last. */
#ifndef KN_BASE_UNLOAD_H
#define KN_BASE_UNLOAD_H

#include <stdbool.h>

enum {
    KN_UNLOAD_TIERS = 111,
    KN_UNLOAD_THREADS = 109,
    KN_UNLOAD_KERNEL = 107,
    KN_UNLOAD_BUILD = 105,
    KN_UNLOAD_DEVICE = 103,
    KN_UNLOAD_ERROR = 101
};

/* From now on it is known when the process ends. Call before there is something that an end must leave alone.
 */
void kn_unload_watch(void);
/* Libraries of others that threads of ours are inside of (NVRTC, the driver) end by exit handlers of their
 * own, before our destructors. Call when one has been loaded, and after its first use: a handler that is
 * registered then runs before those that the library registered by then, and calls `end`. */
void kn_unload_watch_library(void);
/* For constructors: sets a function to be called first at the end, for example to stop the threads that
 * compile. It may run again in a destructor. One function only. */
void kn_unload_on_exit(void (*end)(void));
/* For destructors: whether the process ends. */
bool kn_unload_is_exit(void);

#endif
