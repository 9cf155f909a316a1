/* The public functions of the user's cache, and the statistics. */
#include <kiln/cache.h>

#include "base/cancel.h"
#include "base/error.h"
#include "base/sized.h"
#include "store/build_state.h"
#include "store/tiers.h"
#include "store/store_bundles.h"
#include "store/store_cache.h"

#include <stdio.h>
#include <string.h>

/* The state of the store of the user's cache. */
static const kn_user_cache *user_cache(const kn_build_state *state)
{
    static const kn_user_cache none = {.trouble = "the list of stores has no cache"};
    const kn_user_cache *user = &none;
    for (int s = 0; s < state->n_stores; s++)
        if (state->store[s].store == &kn_store_cache)
            user = state->store[s].self;
    return user;
}

/* The cache, or why there is none. */
kiln_status kn_user_cache_get(kn_cache **out)
{
    kn_build_state *state;
    kiln_status status = kn_build_state_get(&state);
    if (status != KILN_OK)
        return status;
    const kn_user_cache *user = user_cache(state);
    if (user->is_switched_off)
        return kn_error(KILN_ERROR_NOT_FOUND, "the cache is switched off by KILN_CACHE=off");
    if (!user->cache)
        return kn_error(KILN_ERROR_NOT_FOUND, "%s", user->trouble);
    *out = user->cache;
    return KILN_OK;
}

kiln_status kiln_cache_path(char *buffer, size_t size)
{
    KN_UNCANCELLED;
    kn_cache *cache = NULL;
    kiln_status status;
    int length;
    if (!buffer)
        return kn_error(KILN_ERROR_INVALID, "buffer is NULL");
    status = kn_user_cache_get(&cache);
    if (status != KILN_OK)
        return status;
    length = snprintf(buffer, size, "%s", kn_cache_file(cache));
    if ((size_t)length >= size)
        return kn_error(KILN_ERROR_INVALID, "size is %zu, the cache's path needs %d bytes", size, length + 1);
    return KILN_OK;
}

static void fill_counters(kiln_cache_stats *stats, kn_build_state *state)
{
    stats->memory_hits = kn_stores_hits(state, KILN_ORIGIN_MEMORY);
    stats->disk_hits = kn_stores_hits(state, KILN_ORIGIN_DISK);
    stats->misses = atomic_load(&state->misses);
    stats->compiles = kn_stores_hits(state, KILN_ORIGIN_COMPILER);
    stats->compile_ms = kn_stores_ms(state, KILN_ORIGIN_COMPILER);
    const kn_tiers_counts tiers = kn_tiers_count();
    stats->quick_forms = tiers.baseline;
    stats->quick_only = tiers.only_baseline;
    stats->best_failed = tiers.failed;
    stats->best_pending = tiers.pending;
    kn_bundles_fill_stats(stats, state);
}

kiln_status kiln_cache_get_stats(kiln_cache_stats *out)
{
    KN_UNCANCELLED;
    kiln_cache_stats stats = KILN_CACHE_STATS_INIT;
    kn_build_state *state;
    kiln_status status;
    status = kn_sized_check(out, sizeof *out, "kiln_cache_get_stats: out", "KILN_CACHE_STATS_INIT");
    if (status == KILN_OK)
        status = kn_build_state_get(&state);
    if (status != KILN_OK)
        return status;
    const kn_user_cache *user = user_cache(state);
    if (user->cache)
        kn_cache_fill_stats(user->cache, &stats);
    else if (!user->is_switched_off) {
        stats.errors = 1;
        memcpy(stats.trouble, user->trouble, sizeof stats.trouble);
    }
    fill_counters(&stats, state);
    kn_sized_answer(out, &stats);
    return KILN_OK;
}

kiln_status kiln_cache_list(bool (*visit)(const kiln_cache_entry *entry, void *user), void *user)
{
    KN_UNCANCELLED;
    kn_cache *cache = NULL;
    kiln_status status;
    if (!visit)
        return kn_error(KILN_ERROR_INVALID, "visit is NULL");
    status = kn_user_cache_get(&cache);
    return status == KILN_OK ? kn_cache_visit(cache, visit, user) : status;
}

kiln_status kiln_cache_clear(uint64_t *removed)
{
    KN_UNCANCELLED;
    kn_cache *cache = NULL;
    kiln_status status = kn_user_cache_get(&cache);
    return status == KILN_OK ? kn_cache_clear(cache, removed) : status;
}

kiln_status kiln_cache_flush(void)
{
    KN_UNCANCELLED;
    kn_cache *cache = NULL;
    kiln_status status = kn_user_cache_get(&cache);
    if (status != KILN_OK || kn_cache_flush(cache))
        return status;
    return kn_error(KILN_ERROR_IO, "the cache %s could not be written", kn_cache_file(cache));
}

static bool count_row(const kn_cache_row *row, void *user)
{
    (void)row;
    ++*(uint64_t *)user;
    return true;
}

kiln_status kiln_cache_verify(uint64_t *checked, uint64_t *damaged)
{
    KN_UNCANCELLED;
    kn_cache *cache = NULL;
    uint64_t right = 0, wrong = 0;
    kiln_status status = kn_user_cache_get(&cache);
    if (status == KILN_OK)
        status = kn_cache_read_all(cache, count_row, &right, &wrong);
    if (checked)
        *checked = right;
    if (damaged)
        *damaged = wrong;
    return status;
}

kiln_status kiln_cache_collect(uint64_t *removed)
{
    KN_UNCANCELLED;
    kn_cache *cache = NULL;
    uint64_t count = 0;
    kiln_status status = kn_user_cache_get(&cache);
    if (status == KILN_OK)
        status = kn_cache_collect(cache, &count);
    if (removed)
        *removed = count;
    return status;
}
