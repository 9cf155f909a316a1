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

kiln_status kn_memory_alloc(void **out, kn_device *device, size_t size, void *stream)
{
    uint64_t capture = 0;
    if (kn_device_is_lost(device))
        return kn_device_say_lost();
    kiln_status status = kn_device_capture_of(device, stream, &capture);
    return status == KILN_OK ? kn_memory_alloc_in(out, device, size, stream, capture) : status;
}

kiln_status kn_memory_alloc_in(void **out, kn_device *device, size_t size, void *stream, uint64_t capture)
{
    if (size > SIZE_MAX / 4)
        return kn_error_memory(size, "an array");
    if (kn_device_is_lost(device))
        return kn_device_say_lost();
    kn_capture_reap();
    if (capture && kn_capture_meet(device, stream, capture) != KILN_OK)
        return kiln_error_status();
    kiln_status status = kn_pool_take(out, &size, device->pool, stream, capture);
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
    if (!kn_pool_give(device->pool, pointer, stream))
        kn_log(KILN_LOG_WARNING, "memory pool: %p was freed, which is not in use", pointer);
}

kiln_status kn_memory_used_on(kn_device *device, void *pointer, void *stream)
{
    uint64_t capture = 0;
    kiln_status status = kn_device_capture_of(device, stream, &capture);
    if (status == KILN_OK && capture)
        status = kn_capture_meet(device, stream, capture);
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
