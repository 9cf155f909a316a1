/* store/store.h - where code is looked for. A store is a value, in a file of its own, build/store_NAME.c; the
 * order in which they are asked stands in store/stores.c, and store/search.c asks.
 *
 * What a store may do is which functions it has: one that is only read has open, close, find and list_places.
 * What it finds is looked at before it is used (whole, headers as they were, loadable), and where it is no
 * good the next store is asked. */
#ifndef KN_STORE_STORE_H
#define KN_STORE_STORE_H

#include <stdatomic.h>

#include "base/blob.h"
#include "base/os.h"
#include "store/store_request.h"
#include "device/device.h"

/* Code and what has to be known beside it. Immutable once it has been found. */
typedef struct kn_code {
    kn_blob code, notes;
    int from; /* the number of the store that found or made it */
    int rank; /* in a bundle, against others for the same; 0: from elsewhere */
    /* it waits by itself for the kernel before it: what was made for earlier devices does not */
    bool waits_for_kernels;
} kn_code;

typedef struct kn_store_counts {
    atomic_ullong hits; /* a compiler's: times that it was run */
    atomic_ullong us;
} kn_store_counts;

/* One request on its way. */
typedef struct kn_build_job kn_build_job;
struct kn_build_job {
    struct kn_build_state *state;
    const kn_build_request *request;
    const kn_subject *subject; /* the request's */
    kn_device *device;         /* where it is to be loaded; NULL: nowhere */
    const char *entry;         /* NULL: any, it is a module that is wanted */
    kn_build_info *info;
    /* Loads new code before it is stored: what no process has loaded must not wait for the others. NULL: it
     * is for another machine. loading is its own. */
    kiln_status (*load)(kn_build_job *job, const kn_code *code);
    void *loading;
    unsigned barred; /* stores (bits) that are not asked: what they had does not load */
    int below;       /* of bundles, only what ranks lower is asked for: the rest does not load. 0: any */
    kn_store_counts *counts; /* of the store that is asked */
    kn_once *claim;          /* the memory's, while this thread searches further down */
    kn_os_lock lock;         /* the cache's, while this process compiles */
    bool is_proven;          /* what was made now has been loaded, and may be kept for others */
    kn_str refusals;         /* what stores had for it that was no good (kn_store_add_refusal) */
    kn_str warnings; /* lines of the compiler's, to be logged once no other thread waits for this one */
};

typedef struct kn_store {
    const char *name;   /* in messages: "the cache" */
    kiln_origin origin; /* as what its hits are counted, and what kiln_call_info says. MEMORY: it owns what
                         * the others find. COMPILER: it makes what none has, and may be forbidden to */

    /* All functions but find may be NULL. */

    /* Once a process, which keeps *self for the store; false without memory alone. */
    bool (*open)(void **self);
    void (*close)(void *self);
    /* The process ends, and other threads may still be at work: what waits to be written, where nobody is
     * in the way. */
    void (*leave)(void *self);
    /* What can be done before the first question, on another thread. */
    void (*warm_up)(void *self);
    /* Adds the files that are looked in, for a message (kn_store_add_place). */
    void (*list_places)(kn_str *out, void *self);
    /* Adds what was left out, or does not serve the job's target, and why, for a message
     * (kn_store_add_refusal). */
    void (*list_refusals)(kn_str *out, void *self, const kn_build_job *job);

    /* The code of the job's subject, by all of its text: *out (kn_code_new) or, where there is none, NULL. A
     * failure ends the search. */
    kiln_status (*find)(kn_code **out, void *self, kn_build_job *job);
    /* What it found does not load. True: it has been told, and may have another. */
    bool (*pass_over)(void *self, kn_build_job *job, const kn_code *code);
    /* Takes away what it found: it is of no use to anybody. */
    void (*drop)(void *self, kn_build_job *job, const kn_code *code);
    /* Before a compile: keeps other processes from the same one. True: some may have been at it, and the
     * store is asked again. */
    bool (*claim)(void *self, kn_build_job *job);
    /* How the search ended, told to those that were asked on the way, the last one first: the code that
     * another found or made (NULL: none), which it may keep. Ends claims. Leaves the thread's last error. */
    void (*settle)(void *self, kn_build_job *job, kn_code *code, kiln_status status);
} kn_store;

extern const kn_store kn_store_memory, kn_store_bundles, kn_store_cache, kn_store_compiler;

/* ---- store.c: what stores share ---- */

/* Empty; NULL with the last error. */
kn_code *kn_code_new(const kn_build_job *job);
void kn_code_free(void *code);
/* Writes the source and compiles it, whatever any store has, and loads it nowhere; flags are KN_COMPILE_*.
 * Code and notes are the caller's, to be freed after a failure too. */
kiln_status kn_build_compile(kn_code *out, const kn_subject *subject, unsigned flags);
/* Whether the headers that went in are what they were, wherever they can be found. */
bool kn_code_is_current(const kn_code *code, const kn_subject *subject);
/* Whether it may be shown to a loader: those trust what the headers say. */
kiln_status kn_code_check_whole(const kn_code *code, const kn_subject *subject);

/* One more of a list of files. */
void kn_store_add_place(kn_str *out, const char *path);
/* One more of a list of what is not taken: "FILE: why". */
void kn_store_add_refusal(kn_str *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* One time that a store did its work, and the time it took. */
void kn_store_count(kn_store_counts *counts, double ms);

/* The code that a value of a table stands for: where a header has changed since, the value is forgotten and
 * made anew. */
typedef const kn_code *kn_code_of(const void *value);

/* kn_once_begin, but neither a value that has gone stale nor the refusal of a job that may not compile or
 * load is taken. code_of NULL: values are good for ever. */
kiln_status kn_build_claim(kn_build_job *job, kn_once_table *table, const void *key, size_t key_size,
                           void **value, kn_once **claim, kn_code_of *code_of);

#endif
