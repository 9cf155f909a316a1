/* store/stores.h - the list of stores, which ends with NULL. */
#ifndef KN_STORE_STORES_H
#define KN_STORE_STORES_H

#include "store/store.h"

enum { KN_MOST_STORES = 8 };

extern const kn_store kn_store_memory, kn_store_bundles, kn_store_cache, kn_store_compiler;

const kn_store *const *kn_stores(void);

#endif
