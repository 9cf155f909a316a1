/* build/build_state.h - what the build layer keeps for the whole process: the user's cache, the tables, the
 * counters. */
#ifndef KN_BUILD_STATE_H
#define KN_BUILD_STATE_H

#include <stdatomic.h>

#include "build/build.h"
#include "build/once.h"
#include "cache/cache.h"

typedef struct kn_build_counters {
    atomic_ullong memory_hits, disk_hits, misses, compiles;
    atomic_ullong compile_us;
} kn_build_counters;

typedef struct kn_build_state {
    kn_cache *cache;          /* NULL: switched off, or there is no place for it */
    bool is_switched_off;     /* KILN_CACHE=off */
    char trouble[256];        /* why there is no place */
    kn_once_table *codes;     /* what -> kn_code */
    kn_once_table *modules;   /* device, what -> kn_module */
    kn_once_table *functions; /* device, entry, what -> loaded function */
    kn_build_counters counters;
} kn_build_state;

/* Made at the first call. KILN_ERROR_MEMORY alone. */
kiln_status kn_build_state_get(kn_build_state **out);

/* Code and what has to be known beside it. Immutable. */
typedef struct kn_code {
    kn_blob code, notes;
    bool is_from_disk;
} kn_code;

/* One request on its way. */
typedef struct kn_build_job kn_build_job;
struct kn_build_job {
    kn_build_state *state;
    const kn_build_request *request;
    kn_device *device; /* where it is to be loaded; NULL: nowhere */
    const char *entry; /* NULL: any, it is a module that is wanted */
    kn_build_info *info;
    /* Loads new code before it is stored: what no process has loaded must not wait for the others. NULL: it
     * is for another machine. loading is its own. */
    kiln_status (*load)(kn_build_job *job, const kn_code *code);
    void *loading;
    bool is_disk_barred; /* what the disk had does not load */
    kn_str warnings;     /* lines of the compiler's, to be logged once no other thread waits for this one */
};

/* How a value of one of the tables is made, and which code it stands for: where a header has changed since,
 * the value is forgotten and made anew. code_of is NULL for values that are good for ever. */
typedef struct kn_build_kind {
    kiln_status (*make)(void *job, void **value);
    const kn_code *(*code_of)(const void *value);
} kn_build_kind;

/* kn_once_get, but a job that may compile or load does not take the refusal of one that may not. */
kiln_status kn_build_once(kn_build_job *job, kn_once_table *table, const char *key, size_t key_size,
                          void **value, const kn_build_kind *kind);
/* The code of a request: from memory, the disk or the compiler. It lives as long as the state. */
kiln_status kn_build_find_code(kn_build_job *job, kn_code **out);
/* What a request ends with: counts it. */
kiln_status kn_build_end(kn_build_job *job, const kn_code *code, kiln_status status);

void kn_code_free(void *code);
void kn_loaded_module_free(void *module);
void kn_loaded_function_free(void *function);

#endif
