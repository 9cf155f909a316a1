/* build/store.h - where code is looked for: the list of stores, which are asked in order.
 *
 * A store is a value, in a file of its own, build/store_NAME.c; the order stands in build/stores.c. What a store
 * may do is which functions it has: one that is only read has open, find, place and close. What it finds is
 * looked at before it is used (whole, its headers unchanged, loadable), and where it is no good the next store
 * is asked. */
#ifndef KN_BUILD_STORE_H
#define KN_BUILD_STORE_H

#include "build/build_state.h"

struct kn_store {
    const char *name;   /* in messages: "the cache" */
    kiln_origin origin; /* as what its hits are counted, and what kiln_call_info says. MEMORY: it owns what
                         * the others find. COMPILER: it makes what none has, and may be forbidden to */

    /* All functions but find may be NULL. */

    /* Once a process, which keeps *self for the store; false without memory alone. A store that is not there
     * leaves it NULL and finds nothing. */
    bool (*open)(void **self, kn_build_state *state);
    void (*close)(void *self);
    /* What can be done before the first question, on another thread. */
    void (*warm_up)(void *self);
    /* The file that was looked in, for a message; NULL: none. */
    const char *(*place)(void *self);

    /* The code of the job's subject, by all of its text: *out (kn_code_new) or, where there is none, NULL. A
     * failure ends the search. */
    kiln_status (*find)(kn_code **out, void *self, kn_build_job *job);
    /* Takes away what it found: it is of no use to anybody. */
    void (*drop)(void *self, kn_build_job *job);
    /* Before a compile: keeps other processes from the same one. True: some may have been at it, and the store
     * is asked again. */
    bool (*claim)(void *self, kn_build_job *job);
    /* How the search ended, told to those that were asked on the way, the last one first: the code that
     * another found or made (NULL: none), which it may keep. Ends claims. Leaves the thread's last error. */
    void (*settle)(void *self, kn_build_job *job, kn_code *code, kiln_status status);
};

extern const kn_store kn_store_memory, kn_store_cache, kn_store_compiler;

/* Code and what has to be known beside it, empty; NULL with the last error. */
kn_code *kn_code_new(const kn_build_job *job);
/* Whether the headers that went in are what they were, wherever they can be found. */
bool kn_code_is_current(const kn_code *code, const kn_subject *subject);
/* Whether it may be shown to a loader: those trust what the headers say. */
kiln_status kn_code_check_whole(const kn_code *code, const kn_subject *subject);

/* Counts one time that the store which is asked did its work, and the time it took. */
void kn_store_count(kn_build_job *job, double ms);
/* The counts of all stores of an origin. */
unsigned long long kn_stores_hits(kn_build_state *state, kiln_origin origin);
double kn_stores_ms(kn_build_state *state, kiln_origin origin);

#endif
