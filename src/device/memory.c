/* Memory of devices for callers: reports a lost device, registers captures, calls the hook. The memory itself
 * comes from pool.c. */
#include "device/memory.h"

#include <stdatomic.h>
#include <string.h>

#include "base/cancel.h"
#include "base/error.h"
#include "base/sized.h"
#include "base/lock.h"
#include "base/log.h"
#include "device/capture_foreign.h"
#include "device/lost.h"
#include "device/memory_profile.h"
#include "device/pool.h"
#include "device/registry.h"

/* ---- the hook ---- */

static struct {
    kiln_memory_hook call; /* both under KN_LOCK_MEMORY_HOOK */
    void *user;
    _Atomic bool is_set;
} hook;

void kiln_memory_set_hook(kiln_memory_hook call, void *user)
{
    kn_lock_take(KN_LOCK_MEMORY_HOOK);
    hook.call = call;
    hook.user = user;
    atomic_store(&hook.is_set, call != NULL);
    kn_lock_give(KN_LOCK_MEMORY_HOOK);
}

static void run_hook(const kn_device *device, void *pointer, size_t size, bool freed)
{
    KN_UNCANCELLED; /* the caller does not have the memory yet */
    kn_lock_take(KN_LOCK_MEMORY_HOOK);
    kiln_memory_hook call = hook.call;
    void *user = hook.user;
    kn_lock_give(KN_LOCK_MEMORY_HOOK);
    if (call)
        call(device->id, pointer, size, freed, user);
}

/* ---- pooled memory ---- */

kiln_status kn_memory_capture_of(uint64_t *capture, kn_device *device, void *stream)
{
    *capture = 0;
    return kn_device_is_lost(device) ? kn_device_say_lost() : kn_device_capture_of(device, stream, capture);
}

kiln_status kn_memory_alloc(void **out, kn_device *device, size_t size, void *stream)
{
    uint64_t capture;
    kiln_status status = kn_memory_capture_of(&capture, device, stream);
    return status == KILN_OK ? kn_memory_alloc_in(out, device, size, stream, capture) : status;
}

kiln_status kn_memory_alloc_in(void **out, kn_device *device, size_t size, void *stream, uint64_t capture)
{
    if (size > SIZE_MAX / 4)
        return kn_error_memory_of(size, "an array");
    if (kn_device_is_lost(device))
        return kn_device_say_lost();
    kn_capture_reap();
    if (capture && kn_capture_meet(device, stream, capture) != KILN_OK)
        return kiln_error_status();
    kiln_status status = kn_pool_take(out, &size, device->pool, stream, capture);
    if (status == KILN_OK && atomic_load_explicit(&kn_memory_profile_is_on, memory_order_relaxed))
        kn_memory_profile_add(*out, size);
    if (status == KILN_OK && atomic_load_explicit(&hook.is_set, memory_order_relaxed))
        run_hook(device, *out, size, false);
    return status;
}

void kn_memory_free(kn_device *device, void *pointer, size_t size, void *stream)
{
    if (!pointer || kn_device_is_lost(device))
        return;
    if (atomic_load_explicit(&hook.is_set, memory_order_relaxed))
        run_hook(device, pointer, size, true);
    if (atomic_load_explicit(&kn_memory_profile_is_on, memory_order_relaxed))
        kn_memory_profile_remove(pointer);
    if (!kn_pool_give(device->pool, pointer, stream))
        kn_log(KILN_LOG_WARNING, "memory pool: %p was freed, which is not in use", pointer);
}

kiln_status kn_memory_used_on(kn_device *device, void *pointer, void *stream)
{
    uint64_t capture;
    kiln_status status = kn_memory_capture_of(&capture, device, stream);
    return status == KILN_OK ? kn_memory_used_in(device, pointer, stream, capture) : status;
}

kiln_status kn_memory_used_in(kn_device *device, void *pointer, void *stream, uint64_t capture)
{
    kiln_status status = capture ? kn_capture_meet(device, stream, capture) : KILN_OK;
    if (status == KILN_OK && kn_device_is_lost(device))
        status = kn_device_say_lost();
    if (status != KILN_OK || device->backend->kind != KN_CUDA)
        return status;
    return kn_pool_note_use(device->pool, pointer, stream, capture);
}

/* ---- what a pool holds ---- */

kiln_status kiln_memory_get_stats(kiln_device id, kiln_memory_stats *out)
{
    kn_device *device = NULL;
    kiln_memory_stats all = KILN_MEMORY_STATS_INIT;
    kiln_status status =
        kn_sized_check(out, sizeof *out, "kiln_memory_get_stats: out", "KILN_MEMORY_STATS_INIT");
    if (status == KILN_OK)
        status = kn_device_get(&device, id);
    if (status != KILN_OK)
        return status;
    kn_pool_read_stats(&all, device->pool);
    kn_sized_answer(out, &all);
    return KILN_OK;
}

kiln_status kiln_memory_set_limit(kiln_device id, size_t limit_bytes)
{
    kn_device *device = NULL;
    kiln_status status = kn_device_get(&device, id);
    if (status == KILN_OK)
        kn_pool_set_limit(device->pool, limit_bytes);
    return status;
}

kiln_status kiln_memory_set_limit_share(kiln_device id, double share)
{
    kn_device *device = NULL;
    size_t available = 0, total = 0;
    if (!(share > 0 && share <= 1))
        return kn_error(KILN_ERROR_INVALID,
                        "kiln_memory_set_limit_share: share is %g; expected more than 0, up to 1", share);
    kiln_status status = kn_device_get(&device, id);
    if (status == KILN_OK)
        status = device->backend->memory_info(device, &available, &total);
    if (status == KILN_OK)
        kn_pool_set_limit(device->pool, (size_t)((double)total * share));
    return status;
}

kiln_status kiln_memory_set_source(kiln_device id, const kiln_memory_source *source)
{
    kn_device *device = NULL;
    kiln_memory_source all = KILN_MEMORY_SOURCE_INIT;
    kiln_status status =
        kn_sized_read(&all, sizeof all, source, "kiln_memory_set_source: source", "KILN_MEMORY_SOURCE_INIT");
    if (status == KILN_OK && source && all.is_managed == (all.alloc || all.free))
        status = kn_error(KILN_ERROR_INVALID, "kiln_memory_set_source: source has %s; expected one of them",
                          all.is_managed ? "is_managed and functions" : "neither is_managed nor alloc");
    if (status == KILN_OK && !all.alloc != !all.free)
        status =
            kn_error(KILN_ERROR_INVALID, "kiln_memory_set_source: source.%s is NULL; expected a function",
                     all.alloc ? "free" : "alloc");
    if (status == KILN_OK)
        status = kn_device_get(&device, id);
    if (status == KILN_OK && all.is_managed && !device->backend->memory_alloc_managed)
        status =
            kn_error(KILN_ERROR_UNSUPPORTED, "the host has no managed memory: all of its memory is shared");
    if (status == KILN_OK)
        kn_pool_set_source(device->pool, source ? &all : NULL);
    return status;
}

kiln_status kiln_memory_trim(kiln_device id, size_t keep_bytes)
{
    kn_device *device = NULL;
    kiln_status status = kn_device_get(&device, id);
    if (status != KILN_OK)
        return status;
    kn_capture_reap();
    kn_pool_give_back(device->pool, keep_bytes);
    return KILN_OK;
}
