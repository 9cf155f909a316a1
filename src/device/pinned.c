/* Pinned host memory: the driver's where there is one, else plain memory. A table says which a pointer is. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/map.h"
#include "device/cuda_driver.h"
#include "device/cuda_memory.h"
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
        status = pointer ? KILN_OK : kn_error_memory(bytes, "pinned memory");
    } else {
        status = kn_cuda_pinned_alloc(device, bytes ? bytes : 1, &pointer);
        if (status == KILN_OK && !remember(pointer, device)) {
            kn_cuda_pinned_free(device, pointer);
            status = kn_error_memory(bytes, "pinned memory");
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
    if (device)
        kn_cuda_pinned_free(device, pointer);
    else
        kn_free(pointer);
}
