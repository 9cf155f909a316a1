/* store/store_bundles.h - the state of the store of bundles. */
#ifndef KN_STORE_STORE_BUNDLES_H
#define KN_STORE_STORE_BUNDLES_H

#include <kiln/cache.h>
#include "store/build_state.h"
#include "cache/bundle.h"

/* One of a list that only grows, at its head, so that it is read without a lock. */
typedef struct kn_attached {
    kn_bundle *bundle;
    struct kn_attached *next;
} kn_attached;

typedef struct kn_bundles {
    _Atomic(kn_attached *) first;
    atomic_ullong refused; /* that were to be attached, and could not be read */
    kn_str refusals;       /* ... which and why, from when the store was opened */
} kn_bundles;

/* NULL where the list of stores has none. */
kn_bundles *kn_bundles_of(kn_build_state *state);
/* Fills the fields about bundles. */
void kn_bundles_fill_stats(kiln_cache_stats *stats, kn_build_state *state);
/* Makes it the first; it is the list's, also on failure. KILN_ERROR_MEMORY alone. */
kiln_status kn_bundles_add(kn_bundles *bundles, kn_bundle *bundle);

#endif
