/* store/forms.h - launch plans of elementwise kernels in two forms. The quick one, which takes any layout, is
 * there first; the best one is compiled by a thread in the background, and takes its place for the calls that
 * come after.
 *
 * One thread compiles, one form after the other, while there are any: nothing waits for more than the compile
 * that is running. Forms live as long as a plan holds them or they wait to be compiled; neither kernel nor
 * program is needed, for the best one is written from the text of its specialisation. */
#ifndef KN_STORE_FORMS_H
#define KN_STORE_FORMS_H

#include <stdatomic.h>

#include "store/store_request.h"
#include "launch/launch.h"

typedef enum kn_forms_state {
    KN_FORMS_IDLE, /* the best form is to come, and nobody is at it: the queue was full */
    KN_FORMS_QUEUED,
    KN_FORMS_RUNNING,
    KN_FORMS_BEST,
    KN_FORMS_FAILED /* it stays with the quick one */
} kn_forms_state;

typedef struct kn_forms kn_forms;
struct kn_forms {
    _Atomic(const kn_launch_plan *) current;
    atomic_int state; /* kn_forms_state; written under the lock */
    atomic_int references;
    kn_launch_plan *quick, *best; /* best: without its function before it is current */
    kn_device *device;
    char *what;     /* the specialisation of the best form */
    unsigned maker; /* kn_fork_count() of who makes it */
    kn_forms *next; /* in the queue */
};

/* Without its quick form, which has to follow before anybody else sees it. Takes the plan over, on failure
 * too. what is copied. */
kiln_status kn_forms_create(kn_forms **out, kn_launch_plan *best, kn_device *device, const char *what);
/* Takes the plan over. Calls run with it, unless the best form has come meanwhile. */
void kn_forms_set_quick(kn_forms *forms, kn_launch_plan *quick);
/* Gives up what has no quick form: nobody makes its best one any more, but who is at it. Releases it. */
void kn_forms_withdraw(kn_forms *forms);
/* Takes NULL. */
void kn_forms_release(kn_forms *forms);

/* Has the best form compiled in the background, where nobody is at it yet. Before there is a quick form a
 * failure counts for nothing: it is tried again. */
void kn_forms_submit(kn_forms *forms);
/* Returns when the best form is there, or cannot be had: makes it now, or waits for who does. */
void kn_forms_finish(kn_forms *forms);
/* The same for all that wait for this specialisation on this device. */
void kn_forms_finish_all(const kn_device *device, const char *what);

static inline bool kn_forms_are_settled(kn_forms *forms)
{
    return atomic_load_explicit(&forms->state, memory_order_acquire) >= KN_FORMS_BEST;
}

/* KILN_FORMS, kiln_set_forms. */
kiln_forms kn_forms_mode(void);

/* That a quick form is all that can be had: counted, and said once, with the last error as the reason. */
void kn_forms_note_only_quick(const char *name);

typedef struct kn_forms_counts {
    uint64_t quick, only_quick, failed; /* plans */
    uint64_t pending;                   /* forms that wait or are being compiled */
} kn_forms_counts;
kn_forms_counts kn_forms_count(void);

#endif
