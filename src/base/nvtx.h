/* base/nvtx.h - ranges of time, for profilers that take NVTX's: launches and compiles, by their kernel. A
 * profiler names its library in NVTX_INJECTION64_PATH; without one a range costs a load and a branch. */
#ifndef KN_BASE_NVTX_H
#define KN_BASE_NVTX_H

#include <stdatomic.h>
#include <stdbool.h>

typedef enum kn_range_state { KN_RANGE_UNKNOWN, KN_RANGE_OFF, KN_RANGE_ON } kn_range_state;
extern atomic_int kn_range_known; /* kn_range_state */

/* The same where the state is unknown, or on. */
bool kn_range_push(const char *what, const char *name);
void kn_range_pop(void);

/* The range "WHAT NAME", or "NAME" where what is "", on this thread; they nest. True: it has to be ended. */
static inline bool kn_range_begin(const char *what, const char *name)
{
    return atomic_load_explicit(&kn_range_known, memory_order_acquire) != KN_RANGE_OFF &&
           kn_range_push(what, name);
}

static inline void kn_range_end(bool is_begun)
{
    if (is_begun)
        kn_range_pop();
}

#endif
