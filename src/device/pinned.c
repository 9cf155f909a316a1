/* Pinned host memory: from a pool over the driver's where there is one, else plain memory. A table says which
 * a pointer is. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/map.h"
#include "base/sized.h"
#include "device/cuda_driver.h"
#include "device/cuda_memory.h"
#include "device/device_table.h"
#include "device/lost.h"
#include "device/memory.h"
#include "device/pool.h"
#include "device/registry.h"

static struct {
    kn_map *devices; /* address -> the device whose context it was taken in; under KN_LOCK_PINNED */
} pinned;

/* The device for pinned memory: the current one where it is CUDA, else the first; NULL without CUDA. */
static kiln_status pinning_device(kn_device **out)
{
    kiln_device id = KILN_DEVICE_HOST;
    *out = NULL;
    if (kn_cuda_why_not()[0])
        return KILN_OK;
    if (kiln_device_current(&id) != KILN_OK || !KILN_DEVICE_IS_CUDA(id))
        id = KILN_DEVICE_CUDA(0);
    return kn_device_get(out, id);
}

static bool remember(void *pointer, kn_device *device)
{
    kn_lock_take(KN_LOCK_PINNED);
    if (!pinned.devices)
        pinned.devices = kn_map_create();
    bool done = pinned.devices && kn_map_put(pinned.devices, &pointer, sizeof pointer, device);
    kn_lock_give(KN_LOCK_PINNED);
    return done;
}

static kiln_status take_pinned(kn_device *device, size_t bytes, void **out)
{
    if (kn_device_is_lost(device))
        return kn_device_say_lost();
    if (bytes > SIZE_MAX / 4)
        return kn_error_memory_of(bytes, "pinned memory");
    return kn_pool_take(out, &bytes, device->pinned, NULL, 0);
}

volatile unsigned *kn_device_flag(kn_device *device)
{
    volatile unsigned *known = atomic_load(&device->flag);
    void *made = NULL;
    if (known || device->backend->kind != KN_CUDA ||
        kn_cuda_pinned_alloc(device, sizeof *known, &made) != KILN_OK)
        return known;
    *(volatile unsigned *)made = 0;
    if (atomic_compare_exchange_strong(&device->flag, &known, made))
        return made;
    kn_cuda_pinned_free(device, made);
    return known;
}

kiln_status kiln_memory_alloc_pinned(void **out, size_t bytes)
{
    kn_device *device = NULL;
    void *pointer = NULL;
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "kiln_memory_alloc_pinned: out is NULL");
    kiln_status status = pinning_device(&device);
    if (status != KILN_OK)
        return status;
    if (!device) {
        pointer = kn_malloc(bytes ? bytes : 1);
        status = pointer ? KILN_OK : kn_error_memory("pinned memory");
    } else {
        status = take_pinned(device, bytes, &pointer);
        if (status == KILN_OK && !remember(pointer, device)) {
            kn_pool_give(device->pinned, pointer, NULL);
            status = kn_error_memory("pinned memory");
        }
    }
    if (status == KILN_OK)
        *out = pointer;
    return status;
}

void kiln_memory_free_pinned(void *pointer)
{
    if (!pointer)
        return;
    kn_lock_take(KN_LOCK_PINNED);
    kn_device *device = pinned.devices ? kn_map_remove(pinned.devices, &pointer, sizeof pointer) : NULL;
    kn_lock_give(KN_LOCK_PINNED);
    if (device && !kn_device_is_lost(device))
        kn_pool_give(device->pinned, pointer, NULL);
    else if (!device)
        kn_free(pointer);
}

/* ---- what the pools hold ---- */

/* The pool of the slot, NULL where there is none. */
static kn_pool *pool_of(int slot)
{
    kn_device *device = kn_device_ready(slot);
    return device ? device->pinned : NULL;
}

kiln_status kiln_memory_get_pinned_stats(kiln_memory_stats *out)
{
    kiln_memory_stats all = KILN_MEMORY_STATS_INIT, one = KILN_MEMORY_STATS_INIT;
    kiln_status status =
        kn_sized_check(out, sizeof *out, "kiln_memory_get_pinned_stats: out", "KILN_MEMORY_STATS_INIT");
    if (status != KILN_OK)
        return status;
    for (int slot = 1; slot <= KN_CUDA_DEVICES_MAX; slot++)
        if (pool_of(slot)) {
            kn_pool_read_stats(&one, pool_of(slot));
            all.used_bytes += one.used_bytes;
            all.held_bytes += one.held_bytes;
            all.peak_used_bytes += one.peak_used_bytes;
            all.allocations += one.allocations;
            all.device_allocations += one.device_allocations;
            all.peak_held_bytes += one.peak_held_bytes;
        }
    kn_sized_answer(out, &all);
    return KILN_OK;
}

kiln_status kiln_memory_trim_pinned(size_t keep_bytes)
{
    for (int slot = 1; slot <= KN_CUDA_DEVICES_MAX; slot++)
        if (pool_of(slot))
            kn_pool_give_back(pool_of(slot), keep_bytes);
    return KILN_OK;
}
