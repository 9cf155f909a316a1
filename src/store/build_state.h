/* store/build_state.h - the state of the store layer for the whole process: opened stores, and loaded code.
 */
#ifndef KN_BUILD_STATE_H
#define KN_BUILD_STATE_H

#include "store/code_search.h"
#include "store/stores.h"

typedef struct kn_opened_store {
    const kn_store *store;
    void *self;
    kn_store_counts counts;
} kn_opened_store;

typedef struct kn_build_state {
    kn_opened_store store[KN_MOST_STORES]; /* in the order in which they are asked */
    int n_stores;
    atomic_ullong misses;       /* searches that came as far as the compiler */
    kn_flight_table *modules;   /* (device, key) -> kn_loaded_module */
    kn_flight_table *functions; /* (device, entry, key) -> loaded function */
} kn_build_state;

/* Made at the first call. KILN_ERROR_MEMORY alone. */
kiln_status kn_build_state_get(kn_build_state **out);

/* The counts of all stores of an origin (kn_store_origin). */
unsigned long long kn_stores_hits(kn_build_state *state, kiln_origin origin);
double kn_stores_ms(kn_build_state *state, kiln_origin origin);
/* The number of times that a store had unusable code. */
unsigned long long kn_stores_refusals(const kn_build_state *state);
/* Lists the files that are searched. */
void kn_stores_list_places(kn_str *out, const kn_build_state *state);
/* Adds the code that was found and refused for the search, and why. */
void kn_stores_list_refusals(kn_str *out, const kn_code_search *search);

/* Code, loaded on a device. */
typedef struct kn_loaded_module {
    kn_device *device;
    kn_module *module;
    const kn_code *code;
} kn_loaded_module;

#endif
