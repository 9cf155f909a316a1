/* store/code_search.h - one search for code on its way through the stores, for its callers and the library's
 * own stores. */
#ifndef KN_STORE_CODE_SEARCH_H
#define KN_STORE_CODE_SEARCH_H

#include <stdatomic.h>

#include "base/os.h"
#include "device/device.h"
#include "store/store.h"
#include "store/store_request.h"

typedef struct kn_store_counts {
    atomic_ullong hits; /* of a compiler: its runs */
    atomic_ullong us;
    atomic_ullong refusals; /* unusable code that it had */
} kn_store_counts;

/* One request on its way through the stores. */
struct kn_code_search {
    struct kn_build_state *state;
    const kn_build_request *request;
    const kn_compile_job *job; /* the request's */
    kn_device *device;         /* where it is to be loaded; NULL: nowhere */
    const char *entry;         /* NULL: any, it is a module that is wanted */
    kn_build_info *info;
    /* Loads code that was just made or fetched, before it is stored: later processes must not find code that
     * has never been loaded. NULL: it is for another machine. loading is its own. */
    kiln_status (*load)(kn_code_search *search, const kn_code *code);
    void *loading;
    unsigned barred; /* bits: stores that are not asked, since their code does not load */
    int below;       /* bundles: only rows of a lower rank are asked for, since higher ones do not load. 0:
                        any */
    kn_store_counts *counts; /* of the store that is asked */
    kn_flight *flight;       /* the memory's, while this thread searches further down */
    kn_os_lock lock;         /* the cache's, while this process compiles */
    bool is_proven;          /* code that was just made or fetched has been loaded: later processes may have
                                it */
    kn_str refusals;         /* unusable code of stores for this search (kn_search_add_refusal) */
    kn_str warnings; /* lines of the compiler's, to be logged once no other thread waits for this one */
};

/* ---- shared by stores ---- */

/* Writes and compiles the source, whatever any store has, without loading it; flags are KN_COMPILE_*. The
 * caller frees code and dependencies, after a failure too. */
kiln_status kn_build_compile(kn_code *out, const kn_compile_job *job, unsigned flags);
/* True if the headers of the code are unchanged, wherever they can be found. */
bool kn_code_is_current(const kn_code *code, const kn_compile_job *job);
/* Checks that code may be passed to a loader: loaders trust its headers. */
kiln_status kn_code_check_whole(const kn_code *code, const kn_compile_job *job);

/* One time that a store did its work, and the time it took. */
void kn_store_count(kn_store_counts *counts, double ms);

/* The code of a table's value: if a header has changed since, the value is dropped and made anew. */
typedef const kn_code *kn_code_of(const void *value);

/* kn_flight_begin, but neither a value that has gone stale nor the refusal of a search that may not compile
 * or load is taken. code_of NULL: values are good for ever. */
kiln_status kn_search_begin_flight(kn_code_search *search, kn_flight_table *table, const void *key,
                                   size_t key_size, void **value, kn_flight **flight, kn_code_of *code_of);

#endif
