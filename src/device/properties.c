/* The properties of a device. */
#include <string.h>

#include "base/error.h"
#include "base/sized.h"
#include "device/capture_forbid.h"
#include "device/cuda.h"
#include "device/cuda_peer.h"
#include "device/registry.h"

kiln_status kiln_device_synchronize(kiln_device id)
{
    kn_device *device = NULL;
    kiln_status status = kn_device_get(&device, id);
    if (status == KILN_OK && device->backend->kind == KN_CUDA)
        status = kn_capture_forbids_device(device, "a device cannot be waited for");
    return status == KILN_OK ? device->backend->synchronize(device) : status;
}

kiln_status kiln_device_get_properties(kiln_device id, kiln_device_properties *out)
{
    kiln_device_properties all = KILN_DEVICE_PROPERTIES_INIT;
    kn_device *device = NULL;
    kiln_status status =
        kn_sized_check(out, sizeof *out, "kiln_device_get_properties: out", "KILN_DEVICE_PROPERTIES_INIT");
    if (status == KILN_OK)
        status = kn_device_get(&device, id);
    if (status == KILN_OK)
        status = device->backend->properties(device, &all);
    if (status != KILN_OK)
        return status;
    kn_sized_answer(out, &all);
    return KILN_OK;
}

kiln_status kiln_device_memory_info(kiln_device id, size_t *free_bytes, size_t *total_bytes)
{
    size_t available = 0, total = 0;
    kn_device *device = NULL;
    kiln_status status = kn_device_get(&device, id);
    if (status == KILN_OK)
        status = device->backend->memory_info(device, &available, &total);
    if (status != KILN_OK)
        return status;
    if (free_bytes)
        *free_bytes = available;
    if (total_bytes)
        *total_bytes = total;
    return KILN_OK;
}

kiln_status kiln_device_can_access_peer(bool *out, kiln_device id, kiln_device peer_id)
{
    kn_device *device = NULL, *peer = NULL;
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "kiln_device_can_access_peer: out is NULL");
    kiln_status status = kn_device_get(&device, id);
    if (status == KILN_OK)
        status = kn_device_get(&peer, peer_id);
    if (status != KILN_OK)
        return status;
    *out = device == peer;
    if (device == peer || device->backend->kind != KN_CUDA || peer->backend->kind != KN_CUDA)
        return KILN_OK;
    return kn_cuda_can_access_peer(out, device, peer);
}

kiln_status kiln_device_cuda_context(void **out, kiln_device id)
{
    kn_device *device = NULL;
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "kiln_device_cuda_context: out is NULL");
    kiln_status status = kn_device_get(&device, id);
    if (status != KILN_OK)
        return status;
    if (device->backend->kind != KN_CUDA)
        return kn_error(KILN_ERROR_UNSUPPORTED, "the host has no CUDA context");
    *out = kn_cuda_context_of(device);
    return KILN_OK;
}
