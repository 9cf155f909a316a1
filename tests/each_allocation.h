/* each_allocation.h - calls in which one allocation after the other fails. Comes behind cmocka.h. */
#ifndef TESTS_EACH_ALLOCATION_H
#define TESTS_EACH_ALLOCATION_H

#include "base/alloc.h"

/* Each allocation of a call fails: it says so, or does without. `undo` gives back what a call made.
 * The end is a call that makes fewer allocations: one that succeeds may only have done without. */
#define EACH_ALLOCATION(call, status, undo)                                                                  \
    do {                                                                                                     \
        unsigned long spared = 0;                                                                            \
        FAIL_EACH_ALLOCATION(spared, call, status, undo);                                                    \
    } while (0)

/* The same for a call that can do without none. */
#define EACH_ALLOCATION_IS_NEEDED(call, undo)                                                                \
    do {                                                                                                     \
        unsigned long spared = 0;                                                                            \
        FAIL_EACH_ALLOCATION(spared, call, KILN_ERROR_MEMORY, undo);                                         \
        if (spared > 0)                                                                                      \
            fail_msg("%s: %lu allocations are not needed", #call, spared);                                   \
    } while (0)

#define FAIL_EACH_ALLOCATION(spared, call, status, undo)                                                     \
    do {                                                                                                     \
        unsigned long refusals = 0, made, nth = 0;                                                           \
        do {                                                                                                 \
            kn_alloc_fail_at(++nth, 0);                                                                      \
            const kiln_status said = (call);                                                                 \
            made = kn_alloc_fail_at(0, 0);                                                                   \
            if (said != KILN_OK && (said != (status) || made < nth))                                         \
                fail_msg("%s: allocation %lu: %s: %s", #call, nth, kiln_status_name(said),                   \
                         kiln_error_message());                                                              \
            refusals += said != KILN_OK;                                                                     \
            spared += said == KILN_OK && made >= nth;                                                        \
            if (said == KILN_OK)                                                                             \
                undo;                                                                                        \
        } while (made >= nth);                                                                               \
        assert_true(refusals > 0);                                                                           \
    } while (0)

#endif
