/* build/build_state.h - what the build layer keeps for the whole process: the opened stores, the tables of
 * what is loaded, the counters. */
#ifndef KN_BUILD_STATE_H
#define KN_BUILD_STATE_H

#include <stdatomic.h>

#include "base/os.h"
#include "build/build.h"
#include "build/once.h"
#include "cache/cache.h"

typedef struct kn_store kn_store; /* build/store.h */

/* The list, which ends with NULL. */
const kn_store *const *kn_stores(void);
enum { KN_MOST_STORES = 8 };

typedef struct kn_opened_store {
    const kn_store *store;
    void *self;
    atomic_ullong hits; /* a compiler's: times that it was run */
    atomic_ullong us;
} kn_opened_store;

typedef struct kn_build_state {
    kn_opened_store store[KN_MOST_STORES]; /* in the order in which they are asked */
    int n_stores;
    atomic_ullong misses;     /* searches that came as far as the compiler */
    kn_cache *cache;          /* the store's. NULL: switched off, or there is no place for it */
    bool is_switched_off;     /* KILN_CACHE=off */
    char trouble[256];        /* why there is no place */
    kn_once_table *codes;     /* the memory's: what -> kn_code */
    kn_once_table *modules;   /* device, what -> kn_loaded_module */
    kn_once_table *functions; /* device, entry, what -> loaded function */
} kn_build_state;

/* Made at the first call. KILN_ERROR_MEMORY alone. */
kiln_status kn_build_state_get(kn_build_state **out);

/* Code and what has to be known beside it. Immutable once it has been found. */
typedef struct kn_code {
    kn_blob code, notes;
    int from; /* the store that found or made it */
} kn_code;

/* It, loaded on a device. */
typedef struct kn_loaded_module {
    kn_device *device;
    kn_module *module;
    const kn_code *code;
} kn_loaded_module;

/* One request on its way. */
typedef struct kn_build_job kn_build_job;
struct kn_build_job {
    kn_build_state *state;
    const kn_build_request *request;
    const kn_subject *subject; /* the request's */
    kn_device *device;         /* where it is to be loaded; NULL: nowhere */
    const char *entry;         /* NULL: any, it is a module that is wanted */
    kn_build_info *info;
    /* Loads new code before it is stored: what no process has loaded must not wait for the others. NULL: it
     * is for another machine. loading is its own. */
    kiln_status (*load)(kn_build_job *job, const kn_code *code);
    void *loading;
    int asked;       /* the store whose turn it is */
    unsigned barred; /* stores (bits) that are not asked: what they had does not load */
    kn_once *claim;  /* the memory's, while this thread searches further down */
    kn_os_lock lock; /* the cache's, while this process compiles */
    bool is_proven;  /* what was made now has been loaded, and may be kept for others */
    kn_str warnings; /* lines of the compiler's, to be logged once no other thread waits for this one */
};

/* The code that a value of one of the tables stands for: where a header has changed since, the value is
 * forgotten and made anew. */
typedef const kn_code *kn_code_of(const void *value);

/* kn_once_begin, but neither a value that has gone stale nor the refusal of a job that may not compile or load
 * is taken. code_of NULL: values are good for ever. */
kiln_status kn_build_claim(kn_build_job *job, kn_once_table *table, const void *key, size_t key_size,
                           void **value, kn_once **claim, kn_code_of *code_of);

/* Begins a job: its state is there. */
kiln_status kn_build_begin(kn_build_job *job, const kn_build_request *request, kn_device *device,
                           kn_build_info *info);
/* The code of the subject: the stores are asked in order. It lives as long as the state. */
kiln_status kn_build_find_code(kn_build_job *job, kn_code **out);
/* What a request ends with: counts it. */
kiln_status kn_build_end(kn_build_job *job, const kn_code *code, kiln_status status);

void kn_code_free(void *code);

#endif
