/* A CUDA device: its properties, and its table of functions. */
#include "device/cuda.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "device/cuda_context.h"
#include "device/cuda_event.h"
#include "device/cuda_memory.h"
#include "device/cuda_module.h"
#include "device/cuda_pages.h"
#include "device/cuda_stream.h"
#include "device/pool.h"

void *kn_cuda_context_of(kn_device *device)
{
    return kn_cuda_device_of(device)->context;
}

/* The integer properties: which attribute fills which field. */
static const struct {
    int attribute;
    size_t offset;
    char kind; /* i: int, z: size_t, b: bool */
} attributes[] = {
    {KN_CU_MULTIPROCESSOR_COUNT, offsetof(kiln_device_properties, multiprocessors), 'i'},
    {KN_CU_MAX_THREADS_PER_BLOCK, offsetof(kiln_device_properties, max_threads_per_block), 'i'},
    {KN_CU_MAX_THREADS_PER_MULTIPROCESSOR, offsetof(kiln_device_properties, max_threads_per_multiprocessor),
     'i'},
    {KN_CU_WARP_SIZE, offsetof(kiln_device_properties, warp_size), 'i'},
    {KN_CU_MAX_SHARED_PER_BLOCK, offsetof(kiln_device_properties, shared_memory_per_block), 'z'},
    {KN_CU_MAX_SHARED_PER_BLOCK_OPTIN, offsetof(kiln_device_properties, shared_memory_per_block_optin), 'z'},
    {KN_CU_L2_CACHE_SIZE, offsetof(kiln_device_properties, l2_cache_size), 'z'},
    {KN_CU_CLOCK_RATE, offsetof(kiln_device_properties, clock_khz), 'i'},
    {KN_CU_MEMORY_CLOCK_RATE, offsetof(kiln_device_properties, memory_clock_khz), 'i'},
    {KN_CU_MEMORY_BUS_WIDTH, offsetof(kiln_device_properties, memory_bus_bits), 'i'},
    {KN_CU_COMPUTE_MAJOR, offsetof(kiln_device_properties, compute_major), 'i'},
    {KN_CU_COMPUTE_MINOR, offsetof(kiln_device_properties, compute_minor), 'i'},
    {KN_CU_PCI_DOMAIN_ID, offsetof(kiln_device_properties, pci_domain), 'i'},
    {KN_CU_PCI_BUS_ID, offsetof(kiln_device_properties, pci_bus), 'i'},
    {KN_CU_PCI_DEVICE_ID, offsetof(kiln_device_properties, pci_device), 'i'},
    {KN_CU_COOPERATIVE_LAUNCH, offsetof(kiln_device_properties, cooperative_launch), 'b'},
    {KN_CU_UNIFIED_ADDRESSING, offsetof(kiln_device_properties, unified_addressing), 'b'},
    {KN_CU_INTEGRATED, offsetof(kiln_device_properties, integrated), 'b'},
};

static kiln_status cuda_properties(kn_device *device, kiln_device_properties *out)
{
    kn_cu_device handle = kn_cuda_device_of(device)->handle;
    kiln_status status = KN_CU(DeviceGetName, out->name, (int)sizeof out->name, handle);
    if (status == KILN_OK)
        status = KN_CU(DeviceTotalMem, &out->total_memory, handle);
    for (size_t i = 0; status == KILN_OK && i < sizeof attributes / sizeof *attributes; i++) {
        char *field = (char *)out + attributes[i].offset;
        int value = 0;
        status = KN_CU(DeviceGetAttribute, &value, attributes[i].attribute, handle);
        if (attributes[i].kind == 'i')
            *(int *)(void *)field = value;
        else if (attributes[i].kind == 'z')
            *(size_t *)(void *)field = (size_t)value;
        else
            *(bool *)field = value != 0;
    }
    memcpy(out->architecture, device->target.architecture, sizeof out->architecture);
    out->driver_version = kn_cuda_version();
    return status;
}

static const kn_backend cuda_backend = {
    .kind = KN_CUDA,
    .memory_alloc = kn_cuda_memory_alloc,
    .memory_free = kn_cuda_memory_free,
    .memory_alloc_managed = kn_cuda_memory_alloc_managed,
    .memory_info = kn_cuda_memory_info,
    .memory_page = kn_cuda_memory_page,
    .memory_reserve = kn_cuda_memory_reserve,
    .memory_unreserve = kn_cuda_memory_unreserve,
    .memory_map = kn_cuda_memory_map,
    .memory_unmap = kn_cuda_memory_unmap,
    .copy = kn_cuda_copy,
    .copy_peer = kn_cuda_copy_peer,
    .fill = kn_cuda_fill,
    .stream_create = kn_cuda_stream_create,
    .stream_destroy = kn_cuda_stream_destroy,
    .stream_synchronize = kn_cuda_stream_synchronize,
    .stream_query = kn_cuda_stream_query,
    .stream_is_capturing = kn_cuda_stream_is_capturing,
    .stream_may_record = kn_cuda_stream_may_record,
    .stream_check = kn_cuda_stream_check,
    .event_create = kn_cuda_event_create,
    .event_destroy = kn_cuda_event_destroy,
    .event_record = kn_cuda_event_record,
    .event_synchronize = kn_cuda_event_synchronize,
    .event_query = kn_cuda_event_query,
    .event_elapsed = kn_cuda_event_elapsed,
    .stream_wait_event = kn_cuda_stream_wait_event,
    .synchronize = kn_cuda_synchronize,
    .module_load = kn_cuda_module_load,
    .module_unload = kn_cuda_module_unload,
    .module_function = kn_cuda_module_function,
    .module_global = kn_cuda_module_global,
    .function_module = kn_cuda_function_module,
    .module_handle = kn_cuda_module_handle,
    .function_handle = kn_cuda_function_handle,
    .launch = kn_cuda_launch,
    .function_info = kn_cuda_function_info,
    .occupancy = kn_cuda_occupancy,
    .properties = cuda_properties,
    .function_params = kn_cuda_function_params,
    .function_allow_shared = kn_cuda_function_allow_shared,
};

static kiln_status read_limits(kn_cuda_device *device)
{
    int major = 0, minor = 0, l2 = 0;
    kn_target limits = {.backend = KN_CUDA};
    const struct {
        int attribute, *value;
    } wanted[] = {{KN_CU_COMPUTE_MAJOR, &major},
                  {KN_CU_COMPUTE_MINOR, &minor},
                  {KN_CU_MAX_SHARED_PER_BLOCK_OPTIN, &limits.shared_memory_per_block},
                  {KN_CU_MAX_SHARED_PER_MULTIPROCESSOR, &limits.shared_memory_per_multiprocessor},
                  {KN_CU_RESERVED_SHARED_PER_BLOCK, &limits.shared_memory_reserved},
                  {KN_CU_MAX_THREADS_PER_MULTIPROCESSOR, &limits.threads_per_multiprocessor},
                  {KN_CU_MAX_REGISTERS_PER_MULTIPROCESSOR, &limits.registers_per_multiprocessor},
                  {KN_CU_MULTIPROCESSOR_COUNT, &limits.multiprocessors},
                  {KN_CU_L2_CACHE_SIZE, &l2},
                  {KN_CU_MAX_GRID_DIM_X, &device->base.max_grid_x}};
    kiln_status status = KILN_OK;
    for (size_t i = 0; status == KILN_OK && i < sizeof wanted / sizeof *wanted; i++)
        status = KN_CU(DeviceGetAttribute, wanted[i].value, wanted[i].attribute, device->handle);
    if (status != KILN_OK)
        return status;
    limits.l2_bytes = l2;
    kn_target_cuda(&device->base.target, major, minor);
    kn_target_set_limits(&device->base.target, &limits);
    device->base.multiprocessors = limits.multiprocessors;
    return KILN_OK;
}

kiln_status kn_cuda_device_create(kn_device **out, int ordinal)
{
    kn_cuda_device *device = kn_calloc(1, sizeof *device);
    if (!device)
        return kn_error_memory("a device");
    device->base.id = KILN_DEVICE_CUDA(ordinal);
    device->base.backend = &cuda_backend;
    device->ordinal = ordinal;
    kiln_status status = KN_CU(DeviceGet, &device->handle, ordinal);
    if (status == KILN_OK)
        status = read_limits(device);
    if (status == KILN_OK)
        kn_cuda_read_pages(&device->base);
    if (status == KILN_OK && !(device->base.pool = kn_pool_create(&device->base, 512)))
        status = kiln_error_status();
    if (status == KILN_OK && !(device->base.pinned = kn_pool_create_over(
                                   &device->base, 512, kn_cuda_pinned_alloc, kn_cuda_pinned_free)))
        status = kiln_error_status();
    /* last, so that nothing has to be released */
    if (status == KILN_OK) {
        int mode = kn_cuda_relax();
        status = KN_CU(DevicePrimaryCtxRetain, &device->context, device->handle);
        kn_cuda_unrelax(mode);
    }
    if (status != KILN_OK) {
        kn_pool_free(device->base.pool);
        kn_pool_free(device->base.pinned);
        kn_free(device);
        return status;
    }
    *out = &device->base;
    return KILN_OK;
}
