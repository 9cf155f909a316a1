/* The host as a device: its properties and its back end. */
#include "device/host.h"

#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/os.h"
#include "base/shortage.h"
#include "device/host_memory.h"
#include "device/host_module.h"
#include "device/host_stream.h"
#include "device/host_threads.h"
#include "device/pool.h"

static kiln_status host_properties(kn_device *device, kiln_device_properties *out)
{
    long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
    kn_os_cpu_name(out->name, sizeof out->name);
    memcpy(out->architecture, device->target.architecture, sizeof out->architecture);
    out->multiprocessors = device->multiprocessors;
    out->max_threads_per_block = out->max_threads_per_multiprocessor = out->warp_size = 1;
    out->l2_cache_size = cache > 0 ? (size_t)cache : 0;
    out->total_memory = kn_os_physical_memory(NULL);
    out->unified_addressing = out->integrated = true;
    return KILN_OK;
}

static const kn_backend host_backend = {
    .kind = KN_HOST,
    .memory_alloc = kn_host_memory_alloc,
    .memory_free = kn_host_memory_free,
    .memory_info = kn_host_memory_info,
    .memory_page = kn_host_memory_page,
    .memory_reserve = kn_host_memory_reserve,
    .memory_unreserve = kn_host_memory_unreserve,
    .memory_map = kn_host_memory_map,
    .memory_unmap = kn_host_memory_unmap,
    .copy = kn_host_copy,
    .copy_peer = kn_host_copy_peer,
    .fill = kn_host_fill,
    .stream_create = kn_host_stream_create,
    .stream_destroy = kn_host_stream_destroy,
    .stream_synchronize = kn_host_wait,
    .stream_query = kn_host_is_done,
    .stream_is_capturing = kn_host_stream_is_capturing,
    .stream_check = kn_host_stream_check,
    .event_create = kn_host_event_create,
    .event_destroy = kn_host_event_destroy,
    .event_record = kn_host_event_record,
    .event_synchronize = kn_host_wait,
    .event_query = kn_host_is_done,
    .event_elapsed = kn_host_event_elapsed,
    .stream_wait_event = kn_host_stream_wait_event,
    .synchronize = kn_host_synchronize,
    .module_load = kn_host_module_load,
    .module_unload = kn_host_module_unload,
    .module_function = kn_host_module_function,
    .module_global = kn_host_module_global,
    .function_module = kn_host_function_module,
    .launch = kn_host_launch,
    .function_info = kn_host_function_info,
    .occupancy = kn_host_occupancy,
    .properties = host_properties,
};

kn_device *kn_host_device_create(void)
{
    static kn_device device; /* the registry's lock is held, and it is made once */
    if (kn_host_threads_check() != KILN_OK)
        return NULL;
    device.id = KILN_DEVICE_HOST;
    device.backend = &host_backend;
    kn_target_host(&device.target);
    unsigned before = kn_shortages();
    device.multiprocessors = kn_os_cpu_count();
    if (kn_shortages() != before) {
        kn_error_shortage("counting processors");
        return NULL;
    }
    device.pool = kn_pool_create(&device, 64);
    return device.pool ? &device : NULL;
}
