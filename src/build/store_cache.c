/* The user's cache on disk: read, written, and locked for a key while that is compiled. */
#include "build/store.h"

#include <limits.h>
#include <stdio.h>
#include <strings.h>

#include "base/error.h"
#include "cache/cache.h"

/* Longer than any compile should take; then two processes may compile the same. */
enum { LOCK_TIMEOUT_MS = 30000 };

/* Having no place for a cache is no failure, and is remembered. */
static bool open_store(void **self, kn_build_state *state)
{
    const char *setting = kn_os_env("KILN_CACHE");
    char folder[PATH_MAX];
    kn_error_state before;
    state->is_switched_off = setting && (!strcasecmp(setting, "off") || !strcmp(setting, "0"));
    if (state->is_switched_off)
        return true;
    kn_error_save(&before);
    if (kn_cache_default_folder(folder, sizeof folder) == KILN_OK)
        *self = state->cache = kn_cache_create(folder, false);
    else
        snprintf(state->trouble, sizeof state->trouble, "%s", kiln_error_message());
    kn_error_restore(&before);
    return state->cache || state->trouble[0];
}

static void close_store(void *self)
{
    kn_cache_free(self);
}

static void warm_up(void *self)
{
    if (self)
        kn_cache_warm_up(self);
}

static const char *place(void *self)
{
    return self ? kn_cache_file(self) : NULL;
}

static kiln_status find(kn_code **out, void *self, kn_build_job *job)
{
    const kn_subject *subject = job->subject;
    /* A machine without a compiler takes what any compiler made: there is nothing it could be out of date
     * against. */
    const char *identity = kn_compile_identity(subject->target.backend);
    const char *producer = *identity ? identity : NULL;
    kn_blob code = KN_BLOB_INIT, notes = KN_BLOB_INIT;
    if (!self || !kn_cache_get(self, subject->what.data, subject->what.length, producer, &code, &notes))
        return KILN_OK;
    *out = kn_code_new(job);
    if (!*out) {
        kn_blob_free(&code);
        kn_blob_free(&notes);
        return KILN_ERROR_MEMORY;
    }
    (*out)->code = code;
    (*out)->notes = notes;
    return KILN_OK;
}

static void drop(void *self, kn_build_job *job)
{
    kn_cache_remove(self, job->subject->what.data, job->subject->what.length);
}

static bool claim(void *self, kn_build_job *job)
{
    const kn_str *what = &job->subject->what;
    return self && kn_cache_lock(self, what->data, what->length, &job->lock, LOCK_TIMEOUT_MS);
}

/* What was made now, and is known to be good for others. */
static void settle(void *self, kn_build_job *job, kn_code *code, kiln_status status)
{
    const kn_subject *subject = job->subject;
    kn_error_state before;
    kn_error_save(&before);
    if (self && status == KILN_OK && job->is_proven)
        kn_cache_put(self, subject->what.data, subject->what.length,
                     kn_compile_identity(subject->target.backend), &code->code, &code->notes);
    kn_os_unlock_file(&job->lock);
    kn_error_restore(&before);
}

const kn_store kn_store_cache = {.name = "the cache",
                                 .origin = KILN_ORIGIN_DISK,
                                 .open = open_store,
                                 .close = close_store,
                                 .warm_up = warm_up,
                                 .place = place,
                                 .find = find,
                                 .drop = drop,
                                 .claim = claim,
                                 .settle = settle};
