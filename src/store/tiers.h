/* store/tiers.h - launch plans of elementwise kernels in two tiers. The baseline tier, which takes any
 * layout, is there first; a thread in the background compiles the optimised tier, which takes its place for
 * later calls. The public API and messages call the tiers forms, quick and best (kiln_forms).
 *
 * One thread compiles, one tier after the other, while there are any: nothing waits for more than the compile
 * that is running. Tiers live as long as a plan holds them or they wait to be compiled; neither kernel nor
 * program is needed, for the optimised one is written from the text of its specialisation. */
#ifndef KN_STORE_TIERS_H
#define KN_STORE_TIERS_H

#include <stdatomic.h>

#include "store/store_request.h"
#include "launch/launch.h"

typedef enum kn_tiers_state {
    KN_TIERS_IDLE, /* the optimised tier is to come, and no thread makes it: the queue was full, or the maker
                      met a shortage (base/shortage.h) */
    KN_TIERS_QUEUED,
    KN_TIERS_RUNNING,
    KN_TIERS_OPTIMISED,
    KN_TIERS_FAILED /* the baseline tier stays */
} kn_tiers_state;

typedef struct kn_tiers kn_tiers;
struct kn_tiers {
    _Atomic(const kn_launch_plan *) current;
    atomic_int state; /* kn_tiers_state; written under the lock */
    atomic_int references;
    kn_launch_plan *baseline, *optimised; /* optimised: without its function before it is current */
    kn_device *device;
    char *what;     /* the specialisation of the optimised tier */
    unsigned maker; /* kn_fork_count() of its maker */
    bool is_beside; /* no baseline follows: calls have other steps meanwhile (kn_plan_steps) */
    kn_tiers *next; /* in the queue */
};

/* Creates tiers without the baseline, which must follow before another thread sees them. Takes the plan over,
 * on failure too. what is copied. */
kiln_status kn_tiers_create(kn_tiers **out, kn_launch_plan *optimised, kn_device *device, const char *what);
/* Takes the plan over. Calls run with it, unless the optimised tier has come meanwhile. */
void kn_tiers_set_baseline(kn_tiers *tiers, kn_launch_plan *baseline);
/* Gives up tiers without a baseline: the optimised one is not made any more, unless a thread makes it now.
 * Releases them. */
void kn_tiers_withdraw(kn_tiers *tiers);
/* Takes NULL. */
void kn_tiers_release(kn_tiers *tiers);

/* Has the optimised tier compiled in the background, unless a thread makes it already. Before there is a
 * baseline tier a failure counts for nothing: it is tried again. */
void kn_tiers_submit(kn_tiers *tiers);
/* Returns when the optimised tier is there, or cannot be had: makes it now, or waits for its maker. */
void kn_tiers_finish(kn_tiers *tiers);
/* The same for all that wait for this specialisation on this device. */
void kn_tiers_finish_all(const kn_device *device, const char *what);

static inline bool kn_tiers_are_settled(kn_tiers *tiers)
{
    return atomic_load_explicit(&tiers->state, memory_order_acquire) >= KN_TIERS_OPTIMISED;
}

/* KILN_FORMS, kiln_set_forms. */
kiln_forms kn_tiers_mode(void);

/* The baseline tier is all that can be had: counted, and logged once, with the last error as the reason. */
void kn_tiers_note_only_baseline(const char *name);

typedef struct kn_tiers_counts {
    uint64_t baseline, only_baseline, failed; /* plans */
    uint64_t pending;                         /* tiers that wait or are being compiled */
} kn_tiers_counts;
kn_tiers_counts kn_tiers_count(void);

#endif
