/* store/store.h - all that the author of a store includes: code is looked for in stores.
 *
 * A store is a value, in a file of its own, store/store_NAME.c; store/stores.c says in which order they are
 * asked, and store/search.c asks. It knows them by their roles alone:
 *
 *   KN_STORE_OWNS    keeps for the process what the others find, and frees it. The first of the list, and it
 *                    has drop.
 *   KN_STORE_READS   finds code that lies somewhere. What it finds is checked before it is used: whole,
 *                    headers as they were, loadable. What is no good is refused and counted, and the next
 *                    store is asked.
 *   KN_STORE_REMOTE  reads where a question is expensive: what it finds is loaded, where the search is for a
 *                    device, and then written through to the stores that keep. It stands behind those, which
 *                    are asked first. Code is kept as the local compiler's: the store answers for the
 *                    identity of that (kn_compile_identity), as the user's cache does.
 *   KN_STORE_KEEPS   keeps what others made, or found far away, for later processes: in settle, where
 *                    kn_search_may_keep says so.
 *   KN_STORE_MAKES   makes code that no store has. The last of the list; may be forbidden to.
 *
 * The functions say what else it can do. All but find may be NULL; one that is only read has open, close,
 * find and list_places. Several threads call them at the same time, each with another key.
 * tests/stores adds a store that is read, and a remote one. */
#ifndef KN_STORE_STORE_H
#define KN_STORE_STORE_H

#include <kiln/kernel.h>
#include "base/blob.h"
#include "store/compile_job.h"

/* One search for the code of a compile job, as stores see it (kn_search_*). */
typedef struct kn_code_search kn_code_search;

/* Code and what has to be known beside it. Immutable once it has been found. */
typedef struct kn_code {
    kn_blob code, dependencies; /* notes: the headers that went in, as kn_compile_dependencies wrote them */
    int from;            /* the number of the store that found or made it; set by the search */
    int rank;            /* in a bundle, against others for the same; 0: from elsewhere */
    /* it waits by itself for the kernel before it: what was made for earlier devices does not */
    bool waits_for_kernels;
} kn_code;

enum { KN_STORE_OWNS = 1, KN_STORE_READS = 2, KN_STORE_REMOTE = 4, KN_STORE_KEEPS = 8, KN_STORE_MAKES = 16 };

typedef struct kn_store {
    const char *name; /* in messages: "the cache" */
    unsigned roles;   /* KN_STORE_*; a remote store reads, too */

    /* Once a process, which keeps *self for the store; false without memory alone. */
    bool (*open)(void **self);
    void (*close)(void *self);
    /* The process ends, and other threads may still be at work: what waits to be written, where nobody is
     * in the way. */
    void (*leave)(void *self);
    /* Work that can be done before the first question, on another thread. */
    void (*warm_up)(void *self);
    /* Adds the files that are looked in, for a message (kn_store_add_place). */
    void (*list_places)(kn_str *out, void *self);
    /* Adds what was left out, or does not serve the search's target, and why, for a message
     * (kn_store_add_refusal). */
    void (*list_refusals)(kn_str *out, void *self, const kn_code_search *search);

    /* The code of the search's compile job, by all of its text: *out (kn_code_new) or, where there is none,
     * NULL. A failure ends the search. */
    kiln_status (*find)(kn_code **out, void *self, kn_code_search *search);
    /* The code that it found does not load. True: it has been told, and may have other code. */
    bool (*pass_over)(void *self, kn_code_search *search, const kn_code *code);
    /* Takes away what it found: it is of no use to anybody. */
    void (*drop)(void *self, kn_code_search *search, const kn_code *code);
    /* Before a compile: locks the key, against other processes that would compile the same. True: one of them
     * may have done so, and the store is asked again. */
    bool (*lock)(void *self, kn_code_search *search);
    /* How the search ended, told to those that were asked on the way, the last one first: the code that
     * another found or made (NULL: none), which it may keep. Ends locks. Leaves the thread's last error. */
    void (*settle)(void *self, kn_code_search *search, kn_code *code, kiln_status status);
} kn_store;

/* The name that kiln_call_info and statistics have for a store with these roles. */
kiln_origin kn_store_origin(unsigned roles);

/* ---- for its functions ---- */

/* The compile job whose code is looked for: its text, target and options. */
const kn_compile_job *kn_search_job(const kn_code_search *search);
/* Whether the code that a search ended with is proven, and later processes may have it. */
bool kn_search_may_keep(const kn_code_search *search);
/* Says of what was found why it is no good: "what FILE has is damaged". */
void kn_search_add_refusal(kn_code_search *search, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Empty; NULL with the last error. */
kn_code *kn_code_new(const kn_code_search *search);
void kn_code_free(void *code);

/* One more of a list of files. */
void kn_store_add_place(kn_str *out, const char *path);
/* One more of a list of what is not taken: "FILE: why". */
void kn_store_add_refusal(kn_str *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
