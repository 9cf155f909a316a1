/* Memory of CUDA devices, and pinned memory. */
#include "device/cuda_memory.h"

#include <string.h>

#include "base/error.h"
#include "device/cuda_context.h"

static kn_cu_address address_of(const void *pointer)
{
    return (kn_cu_address)(uintptr_t)pointer;
}

kiln_status kn_cuda_memory_alloc(kn_device *device, size_t size, void **out)
{
    kn_cu_address address = 0;
    kn_cuda_scope scope;
    kiln_status status = KN_CU_RELAXED(&scope, device, MemAlloc, &address, size);
    if (status == KILN_OK)
        *out = (void *)(uintptr_t)address;
    return status;
}

kiln_status kn_cuda_memory_alloc_managed(kn_device *device, size_t size, void **out)
{
    kn_cu_address address = 0;
    kn_cuda_scope scope;
    int is_there = 0;
    if (!kn_cuda.MemAllocManaged ||
        KN_CU_CALL(DeviceGetAttribute, &is_there, KN_CU_MANAGED_MEMORY, kn_cuda_device_of(device)->handle) !=
            KN_CU_SUCCESS ||
        !is_there)
        return kn_error(KILN_ERROR_UNSUPPORTED, "the device has no managed memory");
    kiln_status status =
        KN_CU_RELAXED(&scope, device, MemAllocManaged, &address, size, KN_CU_MEM_ATTACH_GLOBAL);
    if (status == KILN_OK)
        *out = (void *)(uintptr_t)address;
    return status;
}

/* This and the other releases go on where the context could not be had: the driver finds it by the handle. */
void kn_cuda_memory_free(kn_device *device, void *pointer)
{
    if (!pointer)
        return;
    KN_CU_RELEASE(device, MemFree, address_of(pointer));
}

kiln_status kn_cuda_memory_info(kn_device *device, size_t *free_bytes, size_t *total)
{
    kn_cuda_scope scope;
    return KN_CU_RELAXED(&scope, device, MemGetInfo, free_bytes, total);
}

kiln_status kn_cuda_pinned_alloc(kn_device *device, size_t size, void **out)
{
    kn_cuda_scope scope;
    return KN_CU_RELAXED(&scope, device, MemHostAlloc, out, size, KN_CU_MEMHOSTALLOC_PORTABLE);
}

void kn_cuda_pinned_free(kn_device *device, void *pointer)
{
    KN_CU_RELEASE(device, MemFreeHost, pointer);
}

static kiln_status queue_copy(void *to, const void *from, size_t size, kn_copy_kind kind, void *stream)
{
    switch (kind) {
    case KN_COPY_HOST_TO_DEVICE:
        return KN_CU(MemcpyHtoDAsync, address_of(to), from, size, stream);
    case KN_COPY_DEVICE_TO_HOST:
        return KN_CU(MemcpyDtoHAsync, to, address_of(from), size, stream);
    case KN_COPY_DEVICE_TO_DEVICE:
        return KN_CU(MemcpyDtoDAsync, address_of(to), address_of(from), size, stream);
    }
    return kn_error(KILN_ERROR_INTERNAL, "copy kind %d", (int)kind);
}

kiln_status kn_cuda_copy(kn_device *device, void *to, const void *from, size_t size, kn_copy_kind kind,
                         void *stream)
{
    bool pushed;
    if (size == 0)
        return KILN_OK;
    kiln_status status = kn_cuda_enter_queue(device, stream, &pushed);
    if (status != KILN_OK)
        return status;
    status = queue_copy(to, from, size, kind, stream);
    kn_cuda_leave(pushed);
    return status;
}

kiln_status kn_cuda_copy_peer(kn_device *to_device, void *to, kn_device *from_device, const void *from,
                              size_t size, void *stream)
{
    bool pushed;
    if (to_device == from_device)
        return kn_cuda_copy(to_device, to, from, size, KN_COPY_DEVICE_TO_DEVICE, stream);
    if (size == 0)
        return KILN_OK;
    kiln_status status = kn_cuda_enter_queue(to_device, stream, &pushed);
    if (status != KILN_OK)
        return status;
    status = KN_CU(MemcpyPeerAsync, address_of(to), kn_cuda_device_of(to_device)->context, address_of(from),
                   kn_cuda_device_of(from_device)->context, size, stream);
    kn_cuda_leave(pushed);
    return status;
}

static kiln_status queue_fill(kn_cu_address to, const void *pattern, size_t item_size, size_t count,
                              void *stream)
{
    uint8_t one;
    uint16_t two;
    uint32_t four;
    switch (item_size) {
    case 1:
        memcpy(&one, pattern, 1);
        return KN_CU(MemsetD8Async, to, one, count, stream);
    case 2:
        memcpy(&two, pattern, 2);
        return KN_CU(MemsetD16Async, to, two, count, stream);
    case 4:
        memcpy(&four, pattern, 4);
        return KN_CU(MemsetD32Async, to, four, count, stream);
    }
    return kn_error(KILN_ERROR_UNSUPPORTED, "the device fills with 1, 2 or 4 bytes, not %zu", item_size);
}

/* Wider patterns are done where they repeat a narrow one, as zero does. */
kiln_status kn_cuda_fill(kn_device *device, void *to, const void *pattern, size_t item_size, size_t count,
                         void *stream)
{
    bool pushed;
    while (item_size > 4 && item_size % 2 == 0 &&
           memcmp(pattern, (const char *)pattern + item_size / 2, item_size / 2) == 0) {
        item_size /= 2;
        count *= 2;
    }
    if (count == 0)
        return KILN_OK;
    kiln_status status = kn_cuda_enter_queue(device, stream, &pushed);
    if (status != KILN_OK)
        return status;
    status = queue_fill(address_of(to), pattern, item_size, count, stream);
    kn_cuda_leave(pushed);
    return status;
}
