/* store/store_cache.h - the state of the store over the user's cache: the cache, or the reason why there is
 * none. */
#ifndef KN_STORE_STORE_CACHE_H
#define KN_STORE_STORE_CACHE_H

#include "cache/cache.h"

typedef struct kn_user_cache {
    kn_cache *cache;      /* NULL: switched off, or there is no place for it */
    bool is_switched_off; /* KILN_CACHE=off */
    char trouble[256];    /* why there is no place */
} kn_user_cache;

/* The cache; KILN_ERROR_NOT_FOUND, saying why, where there is none. */
kiln_status kn_user_cache_get(kn_cache **out);

#endif
