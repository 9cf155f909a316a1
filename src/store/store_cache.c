/* The user's cache on disk: read, written, and locked for a key while that is compiled. */
#include "store/code_search.h"
#include "store/store_cache.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/setting.h"
#include "base/shortage.h"
#include "compile/timeout.h"

/* Longer than any compile should take, or may; then two processes compile the same. */
enum { LOCK_TIMEOUT_MS = 30000 };

static int wait_ms(void)
{
    int compile_ms = kn_compile_timeout_ms();
    return compile_ms < LOCK_TIMEOUT_MS ? compile_ms : LOCK_TIMEOUT_MS;
}

/* Having no place for a cache is no failure, and is remembered, unless a shortage is the cause: false. */
static bool find_place(kn_user_cache *user)
{
    char folder[PATH_MAX];
    kn_error_state before;
    unsigned shortages = kn_shortages();
    kn_error_save(&before);
    if (kn_cache_default_folder(folder, sizeof folder) == KILN_OK)
        user->cache = kn_cache_create(folder, false);
    else
        snprintf(user->trouble, sizeof user->trouble, "%s", kiln_error_message());
    kn_error_restore(&before);
    return kn_shortages() == shortages;
}

static kn_cache *cache_of(void *self)
{
    return ((const kn_user_cache *)self)->cache;
}

static void set_limit(kn_cache *cache)
{
    const char *setting = kn_setting("KILN_CACHE_MAX");
    uint64_t bytes;
    if (setting && kn_setting_bytes(&bytes, setting))
        kn_cache_set_limit(cache, bytes);
}

static bool open_store(void **self)
{
    kn_user_cache *user = *self = kn_calloc(1, sizeof *user);
    if (!user)
        return false;
    user->is_switched_off = kn_setting_is("KILN_CACHE", "off") || kn_setting_is("KILN_CACHE", "0");
    if (user->is_switched_off)
        return true;
    if (!find_place(user))
        return false;
    if (user->cache)
        set_limit(user->cache);
    return true;
}

static void leave(void *self)
{
    if (cache_of(self))
        kn_cache_leave(cache_of(self));
}

static void close_store(void *self)
{
    if (!self)
        return;
    kn_cache_free(cache_of(self));
    kn_free(self);
}

static void warm_up(void *self)
{
    if (cache_of(self))
        kn_cache_warm_up(cache_of(self));
}

static void list_places(kn_str *out, void *self)
{
    if (cache_of(self))
        kn_store_add_place(out, kn_cache_file(cache_of(self)));
}

/* Why there is no cache, or it is not used. */
static void list_refusals(kn_str *out, void *self, const kn_code_search *search)
{
    const kn_user_cache *user = self;
    kiln_cache_stats stats = KILN_CACHE_STATS_INIT;
    (void)search;
    if (user->cache)
        kn_cache_fill_stats(user->cache, &stats);
    const char *trouble = user->cache ? stats.trouble : user->trouble;
    if (trouble[0])
        kn_store_add_refusal(out, "the cache is not used: %s", trouble);
}

static kiln_status find(kn_code **out, void *self, kn_code_search *search)
{
    const kn_compile_job *job = search->job;
    if (!cache_of(self))
        return KILN_OK;
    if (kn_compile_look(job->target.backend) != KILN_OK)
        return kiln_error_status();
    /* A machine without a compiler takes code of any compiler, since it has none to compare with. */
    const char *identity = kn_compile_identity(job->target.backend);
    const char *producer = *identity ? identity : NULL;
    kn_blob code = KN_BLOB_INIT, dependencies = KN_BLOB_INIT;
    if (!kn_cache_get(cache_of(self), job->what.data, job->what.length, producer, &code, &dependencies))
        return KILN_OK;
    *out = kn_code_new(search);
    if (!*out) {
        kn_blob_free(&code);
        kn_blob_free(&dependencies);
        return KILN_ERROR_MEMORY;
    }
    (*out)->code = code;
    (*out)->dependencies = dependencies;
    return KILN_OK;
}

static void drop(void *self, kn_code_search *search, const kn_code *code)
{
    (void)code;
    kn_cache_remove(cache_of(self), search->job->what.data, search->job->what.length);
}

static bool lock(void *self, kn_code_search *search)
{
    const kn_str *what = &search->job->what;
    return cache_of(self) &&
           kn_cache_lock(cache_of(self), what->data, what->length, &search->lock, wait_ms());
}

/* Keeps code that was made or fetched now and is known to be good for later processes. */
static void settle(void *self, kn_code_search *search, kn_code *code, kiln_status status)
{
    const kn_compile_job *job = search->job;
    kn_error_state before;
    kn_error_save(&before);
    if (cache_of(self) && status == KILN_OK && kn_search_may_keep(search) &&
        kn_compile_look(job->target.backend) == KILN_OK)
        kn_cache_put(cache_of(self), job->what.data, job->what.length,
                     kn_compile_identity(job->target.backend), &code->code, &code->dependencies);
    kn_os_unlock_file(&search->lock);
    kn_error_restore(&before);
}

const kn_store kn_store_cache = {.name = "the cache",
                                 .roles = KN_STORE_READS | KN_STORE_KEEPS,
                                 .open = open_store,
                                 .close = close_store,
                                 .leave = leave,
                                 .warm_up = warm_up,
                                 .list_places = list_places,
                                 .list_refusals = list_refusals,
                                 .find = find,
                                 .drop = drop,
                                 .lock = lock,
                                 .settle = settle};
