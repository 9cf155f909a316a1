/* store/store.h - the interface of code stores: all that the author of a store includes.
 *
 * A store is a value, in a file of its own, store/store_NAME.c; store/stores.c has the order in which they
 * are asked, and store/search.c asks. A search distinguishes them by their roles only:
 *
 *   KN_STORE_OWNS    holds the code that others find for the life of the process, and frees it. The first of
 *                    the list, and it has drop.
 *   KN_STORE_READS   finds code that exists already. The code is checked before use: complete, headers
 *                    unchanged, loadable. Code that fails is refused and counted, and the next store is
 *                    asked.
 *   KN_STORE_REMOTE  reads where a question is expensive: the code is loaded, if the search is for a device,
 *                    and then written through to the stores of role KEEPS, which come before it. The store
 *                    guarantees the identity of the local compiler (kn_compile_identity), as the user's cache
 *                    does.
 *   KN_STORE_KEEPS   stores code that others made or fetched, for later processes: in settle, if
 *                    kn_search_may_keep allows it.
 *   KN_STORE_MAKES   makes code that no store has. The last of the list; may be forbidden.
 *
 * All functions but find may be NULL; a store that is only read has open, close, find and list_places.
 * Several threads call them at the same time, each with another key.
 * tests/stores adds a store that is read, and a remote one. */
#ifndef KN_STORE_STORE_H
#define KN_STORE_STORE_H

#include <kiln/kernel.h>
#include "base/blob.h"
#include "store/compile_job.h"

/* One search for the code of a compile job, as stores see it (kn_search_*). */
typedef struct kn_code_search kn_code_search;

/* Code, with the properties that its users need. Immutable once it has been found. */
typedef struct kn_code {
    kn_blob code, dependencies; /* dependencies: the headers of the code, as written by
                                   kn_compile_dependencies */
    int from;                   /* the number of the store that found or made it; set by the search */
    int rank;                   /* in a bundle, against others for the same; 0: from elsewhere */
    /* the code itself waits for the kernel before it; code for earlier devices does not */
    bool waits_for_kernels;
} kn_code;

enum { KN_STORE_OWNS = 1, KN_STORE_READS = 2, KN_STORE_REMOTE = 4, KN_STORE_KEEPS = 8, KN_STORE_MAKES = 16 };

typedef struct kn_store {
    const char *name; /* in messages: "the cache" */
    unsigned roles;   /* KN_STORE_*; a remote store reads, too */

    /* Once a process, which keeps *self for the store; false where a shortage left something out
     * (base/shortage.h): it is closed, and opened again by the next call. */
    bool (*open)(void **self);
    void (*close)(void *self);
    /* At the end of the process, while other threads may still be at work: writes pending data, unless
     * another thread is in the way. */
    void (*leave)(void *self);
    /* Work that can be done before the first question, on another thread. */
    void (*warm_up)(void *self);
    /* Adds the files that are looked in, for a message (kn_store_add_place). */
    void (*list_places)(kn_str *out, void *self);
    /* Adds code that was left out, or does not fit the search's target, with the reason, to a message
     * (kn_store_add_refusal). */
    void (*list_refusals)(kn_str *out, void *self, const kn_code_search *search);

    /* The code of the search's compile job, by all of its text: *out (kn_code_new) or, where there is none,
     * NULL. A failure ends the search. */
    kiln_status (*find)(kn_code **out, void *self, kn_code_search *search);
    /* The code that it found does not load. True: it has been told, and may have other code. */
    bool (*pass_over)(void *self, kn_code_search *search, const kn_code *code);
    /* Removes the code that it found: it is useless. */
    void (*drop)(void *self, kn_code_search *search, const kn_code *code);
    /* Before a compile: locks the key, against other processes that would compile the same. True: one of them
     * may have done so, and the store is asked again. */
    bool (*lock)(void *self, kn_code_search *search);
    /* Called in reverse on every store that was asked, with the result: the code that another store found or
     * made (NULL: none), which this one may store. Ends locks. Leaves the thread's last error unchanged. */
    void (*settle)(void *self, kn_code_search *search, kn_code *code, kiln_status status);
} kn_store;

/* The name that kiln_call_info and statistics have for a store with these roles. */
kiln_origin kn_store_origin(unsigned roles);

/* ---- for its functions ---- */

/* The compile job whose code is looked for: its text, target and options. */
const kn_compile_job *kn_search_job(const kn_code_search *search);
/* True if the code that a search ended with is proven, and later processes may have it. */
bool kn_search_may_keep(const kn_code_search *search);
/* Adds the reason why found code is unusable: "what FILE has is damaged". */
void kn_search_add_refusal(kn_code_search *search, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Empty; NULL with the last error. */
kn_code *kn_code_new(const kn_code_search *search);
void kn_code_free(void *code);

/* One more of a list of files. */
void kn_store_add_place(kn_str *out, const char *path);
/* Adds an item to a list of refused files: "FILE: why". */
void kn_store_add_refusal(kn_str *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
