/* Mapped pages of CUDA devices. A mapping is one physical allocation; kernels reach it from the devices that
 * it was shown to: its own, and the peers that see it. */
#include "device/cuda_pages.h"

#include "base/error.h"
#include "device/cuda_context.h"

/* Blocks of a mebibyte and more should not share a page with others. */
enum { PAGE_MIN = 2 << 20 };

static kn_cu_address address_of(const void *pointer)
{
    return (kn_cu_address)(uintptr_t)pointer;
}

static kn_cu_memory_traits traits_of(kn_device *device)
{
    const kn_cuda_device *d = kn_cuda_device_of(device);
    return (kn_cu_memory_traits){.kind = KN_CU_MEM_PINNED,
                                 .place = {KN_CU_MEM_ON_DEVICE, d->handle},
                                 .is_rdma_capable = d->is_rdma_capable};
}

/* Attributes that an older driver does not know are 0. */
static bool has(kn_device *device, int attribute)
{
    int value = 0;
    return KN_CU_CALL(DeviceGetAttribute, &value, attribute, kn_cuda_device_of(device)->handle) ==
               KN_CU_SUCCESS &&
           value;
}

void kn_cuda_read_pages(kn_device *device)
{
    kn_cuda_device *d = kn_cuda_device_of(device);
    size_t page = 0;
    if (!kn_cuda.MemAddressReserve || !kn_cuda.MemSetAccess || !has(device, KN_CU_VIRTUAL_MEMORY))
        return;
    d->is_rdma_capable = has(device, KN_CU_RDMA_WITH_VIRTUAL_MEMORY);
    kn_cu_memory_traits traits = traits_of(device);
    if (KN_CU_CALL(MemGetAllocationGranularity, &page, &traits, KN_CU_MEM_GRANULARITY_MINIMUM) ==
            KN_CU_SUCCESS &&
        page > 0)
        d->page = (PAGE_MIN + page - 1) / page * page;
}

size_t kn_cuda_memory_page(kn_device *device)
{
    return kn_cuda_device_of(device)->page;
}

kiln_status kn_cuda_memory_reserve(kn_device *device, size_t size, bool is_small, void **out)
{
    kn_cu_address address = 0;
    kn_cuda_scope scope;
    (void)is_small;
    kiln_status status = KN_CU_RELAXED(&scope, device, MemAddressReserve, &address, size, 0, 0, 0);
    if (status == KILN_OK)
        *out = (void *)(uintptr_t)address;
    return status;
}

void kn_cuda_memory_unreserve(kn_device *device, void *range, size_t size)
{
    KN_CU_RELEASE(device, MemAddressFree, address_of(range), size);
}

/* The device itself, and its peers. */
static int list_devices(kn_device *device, kn_cu_memory_access *access)
{
    kn_cuda_device *d = kn_cuda_device_of(device);
    int count = 0;
    access[count++] = (kn_cu_memory_access){{KN_CU_MEM_ON_DEVICE, d->handle}, KN_CU_MEM_READ_WRITE};
    for (int i = 0; i < KN_CUDA_DEVICES_MAX; i++)
        if (atomic_load_explicit(&d->peers[i], memory_order_acquire) > 0) {
            kn_device *peer = kn_device_ready(1 + i);
            if (peer)
                access[count++] = (kn_cu_memory_access){
                    {KN_CU_MEM_ON_DEVICE, kn_cuda_device_of(peer)->handle}, KN_CU_MEM_READ_WRITE};
        }
    return count;
}

static kiln_status map_and_show(kn_device *device, kn_cu_address at, size_t size, kn_cu_handle handle)
{
    kn_cu_memory_access access[1 + KN_CUDA_DEVICES_MAX];
    int count = list_devices(device, access);
    kiln_status status = KN_CU(MemMap, at, size, 0, handle, 0);
    if (status != KILN_OK)
        return status;
    status = KN_CU(MemSetAccess, at, size, access, (size_t)count);
    if (status != KILN_OK)
        KN_CU_CALL(MemUnmap, at, size);
    return status;
}

kiln_status kn_cuda_memory_map(kn_device *device, void *at, size_t size, uint64_t *out)
{
    kn_cu_memory_traits traits = traits_of(device);
    kn_cu_handle handle = 0;
    kn_cuda_scope scope;
    kiln_status status = kn_cuda_enter_relaxed(device, &scope);
    if (status == KILN_OK)
        status = KN_CU(MemCreate, &handle, size, &traits, 0);
    if (status == KILN_OK && (status = map_and_show(device, address_of(at), size, handle)) != KILN_OK)
        KN_CU_CALL(MemRelease, handle);
    kn_cuda_leave_relaxed(&scope);
    *out = handle;
    return status;
}

void kn_cuda_memory_unmap(kn_device *device, void *at, size_t size, uint64_t handle)
{
    kn_cuda_scope scope;
    kn_cuda_enter_relaxed(device, &scope);
    KN_CU_CALL(MemUnmap, address_of(at), size);
    KN_CU_CALL(MemRelease, (kn_cu_handle)handle);
    kn_cuda_leave_relaxed(&scope);
}

kiln_status kn_cuda_memory_show(kn_device *device, void *at, size_t size, kn_device *peer)
{
    kn_cu_memory_access access = {{KN_CU_MEM_ON_DEVICE, kn_cuda_device_of(peer)->handle},
                                  KN_CU_MEM_READ_WRITE};
    kn_cuda_scope scope;
    return KN_CU_RELAXED(&scope, device, MemSetAccess, address_of(at), size, &access, 1);
}
