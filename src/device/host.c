/* The host as a device: every call has run when it returns, streams are all the same idle queue, and an event
 * is the time it was recorded at. */
#include "device/device_private.h"
#include "device/host_walk.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os.h"
#include "base/unload.h"
#include "device/pool.h"

struct kn_function {
    struct kn_function *next;
    kn_host_entry entry;
};

struct kn_module {
    kn_library *library;
    _Atomic(kn_function *) functions;
    char name[64];
};

typedef struct host_event {
    _Atomic double time_ms; /* negative: not yet recorded */
} host_event;

enum { HUGE_PAGE = 2 << 20, PAGE = 4096, COPY_GRAIN = 1 << 20, CALL_UNIT = 1024 };

/* ---- memory ---- */

/* Large pieces start on a huge page and ask for them: a fresh array then costs a fault for 2 MiB, not for 4
 * KiB. The pointer that malloc gave stands in front of the block. */
static kiln_status host_memory_alloc(kn_device *device, size_t size, void **out)
{
    size_t alignment = size >= 2 * (size_t)HUGE_PAGE ? HUGE_PAGE : PAGE;
    (void)device;
    char *raw = size < SIZE_MAX - 2 * alignment ? kn_malloc(size + alignment + sizeof(void *)) : NULL;
    if (!raw)
        return kn_error_memory(size, "the host's memory pool");
    uintptr_t start = ((uintptr_t)raw + sizeof(void *) + alignment - 1) & ~(uintptr_t)(alignment - 1);
    ((void **)start)[-1] = raw;
#ifdef MADV_HUGEPAGE
    if (alignment == HUGE_PAGE)
        madvise((void *)start, size & ~(size_t)(HUGE_PAGE - 1), MADV_HUGEPAGE);
#endif
    *out = (void *)start;
    return KILN_OK;
}

static void host_memory_free(kn_device *device, void *pointer)
{
    (void)device;
    if (pointer)
        kn_free(((void **)pointer)[-1]);
}

static kiln_status host_memory_info(kn_device *device, size_t *free_bytes, size_t *total)
{
    (void)device;
    *total = kn_os_physical_memory(free_bytes);
    return KILN_OK;
}

typedef struct move_job {
    char *to;
    const char *from;
    size_t unit; /* bytes of a pattern */
} move_job;

static void copy_range(void *user, int64_t begin, int64_t end)
{
    const move_job *job = user;
    memcpy(job->to + begin, job->from + begin, (size_t)(end - begin));
}

static kiln_status host_copy(kn_device *device, void *to, const void *from, size_t size, kn_copy_kind kind,
                             void *stream)
{
    (void)device, (void)kind, (void)stream;
    move_job job = {to, from, 0};
    if ((const char *)to + size <= (const char *)from || (const char *)from + size <= (const char *)to)
        kn_host_parallel((int64_t)size, COPY_GRAIN, copy_range, &job);
    else
        memmove(to, from, size);
    return KILN_OK;
}

static kiln_status host_copy_peer(kn_device *to_device, void *to, kn_device *from_device, const void *from,
                                  size_t size, void *stream)
{
    (void)from_device;
    return host_copy(to_device, to, from, size, KN_COPY_DEVICE_TO_DEVICE, stream);
}

static void fill_range(void *user, int64_t begin, int64_t end)
{
    const move_job *job = user;
    char *to = job->to + (size_t)begin * job->unit;
    size_t size = (size_t)(end - begin) * job->unit, done = job->unit;
    if (job->unit == 1) {
        memset(to, *job->from, size);
        return;
    }
    memcpy(to, job->from, done);
    while (done < size) { /* what is there already is copied behind itself */
        size_t step = done < size - done ? done : size - done;
        step = step < 4096 ? step : 4096 - 4096 % job->unit;
        memcpy(to + done, to, step);
        done += step;
    }
}

static kiln_status host_fill(kn_device *device, void *to, const void *pattern, size_t pattern_size,
                             size_t count, void *stream)
{
    (void)device, (void)stream;
    if (pattern_size == 0 || pattern_size > 4096)
        return kn_error(KILN_ERROR_UNSUPPORTED, "a fill pattern has %zu bytes; expected 1 to 4096",
                        pattern_size);
    move_job job = {to, pattern, pattern_size};
    kn_host_parallel((int64_t)count, (int64_t)(COPY_GRAIN / pattern_size), fill_range, &job);
    return KILN_OK;
}

/* ---- streams and events ---- */

static kiln_status host_stream_create(kn_device *device, unsigned flags, void **out)
{
    (void)device, (void)flags;
    *out = NULL;
    return KILN_OK;
}

static void host_stream_destroy(kn_device *device, void *stream)
{
    (void)device, (void)stream;
}

static kiln_status host_stream_synchronize(kn_device *device, void *stream)
{
    (void)device, (void)stream;
    return KILN_OK;
}

static kiln_status host_stream_query(kn_device *device, void *stream, bool *done)
{
    (void)device, (void)stream;
    *done = true;
    return KILN_OK;
}

static kiln_status host_stream_is_capturing(kn_device *device, void *stream, bool *capturing, uint64_t *id)
{
    (void)device, (void)stream;
    *capturing = false;
    if (id)
        *id = 0;
    return KILN_OK;
}

static kiln_status host_stream_check(kn_device *device, void *stream)
{
    (void)device;
    return stream ? kn_error(KILN_ERROR_UNSUPPORTED, "a CUDA stream cannot be wrapped for the host")
                  : KILN_OK;
}

static kiln_status host_event_create(kn_device *device, unsigned flags, void **out)
{
    (void)device, (void)flags;
    host_event *event = kn_malloc(sizeof *event);
    if (!event)
        return kn_error_memory(sizeof *event, "an event");
    atomic_init(&event->time_ms, -1.0);
    *out = event;
    return KILN_OK;
}

static void host_event_destroy(kn_device *device, void *event)
{
    (void)device;
    kn_free(event);
}

static kiln_status host_event_record(kn_device *device, void *event, void *stream)
{
    (void)device, (void)stream;
    atomic_store(&((host_event *)event)->time_ms, kn_os_now_ms());
    return KILN_OK;
}

static kiln_status host_event_synchronize(kn_device *device, void *event)
{
    (void)device, (void)event;
    return KILN_OK;
}

static kiln_status host_event_query(kn_device *device, void *event, bool *done)
{
    (void)device, (void)event;
    *done = true;
    return KILN_OK;
}

static kiln_status host_event_elapsed(kn_device *device, void *start, void *end, double *milliseconds)
{
    double from = atomic_load(&((host_event *)start)->time_ms),
           to = atomic_load(&((host_event *)end)->time_ms);
    (void)device;
    if (from < 0 || to < 0)
        return kn_error(KILN_ERROR_INVALID, "the %s event was never recorded", from < 0 ? "start" : "end");
    *milliseconds = to - from;
    return KILN_OK;
}

static kiln_status host_stream_wait_event(kn_device *device, void *stream, void *event)
{
    (void)device, (void)stream, (void)event;
    return KILN_OK;
}

static kiln_status host_synchronize(kn_device *device)
{
    (void)device;
    return KILN_OK;
}

/* ---- modules ---- */

static void host_module_unload(kn_module *module)
{
    if (!module)
        return;
    kn_function *function = atomic_load(&module->functions);
    while (function) {
        kn_function *next = function->next;
        kn_free(function);
        function = next;
    }
    kn_os_library_close(module->library);
    kn_free(module);
}

static kiln_status host_module_load(kn_device *device, const void *code, size_t size, const char *name,
                                    kn_module **out)
{
    (void)device;
    kn_unload_watch();
    kn_module *module = kn_calloc(1, sizeof *module);
    if (!module)
        return kn_error_memory(sizeof *module, "a module");
    strncpy(module->name, name ? name : "module", sizeof module->name - 1);
    kiln_status status = kn_os_library_open_memory(&module->library, code, size, module->name);
    if (status != KILN_OK) {
        kn_free(module);
        return status;
    }
    *out = module;
    return KILN_OK;
}

static kiln_status host_module_function(kn_module *module, const char *name, kn_function **out)
{
    void *address = kn_os_library_symbol(module->library, name);
    if (!address)
        return kn_error(KILN_ERROR_NOT_FOUND, "module \"%s\" has no function \"%s\"", module->name, name);
    kn_function *function = kn_malloc(sizeof *function);
    if (!function)
        return kn_error_memory(sizeof *function, "a function");
    memcpy(&function->entry, &address, sizeof address); /* ISO C has no cast from an object to a function */
    function->next = atomic_load(&module->functions);
    while (!atomic_compare_exchange_weak(&module->functions, &function->next, function))
        ;
    *out = function;
    return KILN_OK;
}

static kiln_status host_module_global(kn_module *module, const char *name, void **address, size_t *size)
{
    *address = kn_os_library_symbol(module->library, name);
    if (size)
        *size = 0; /* the loader does not tell */
    if (!*address)
        return kn_error(KILN_ERROR_NOT_FOUND, "module \"%s\" has no global \"%s\"", module->name, name);
    return KILN_OK;
}

typedef struct host_call {
    kn_host_entry entry;
    const void *args;
    int64_t elements;
} host_call;

/* Threads meet at whole lines of the caches. */
static void call_range(void *user, int64_t begin, int64_t end)
{
    const host_call *call = user;
    end *= CALL_UNIT;
    call->entry(call->args, begin * CALL_UNIT, end < call->elements ? end : call->elements);
    kn_host_settle();
}

static kiln_status host_launch(kn_function *function, const kn_launch *launch, void *stream)
{
    (void)stream;
    if (launch->params)
        return kn_error(KILN_ERROR_UNSUPPORTED,
                        "the host takes one block of arguments, not a list of parameters");
    if (launch->walk) {
        kn_host_walk_run(launch->walk, function->entry, launch->block_data, launch->block_size,
                         launch->grain);
        return KILN_OK;
    }
    host_call call = {function->entry, launch->block_data, launch->elements};
    kn_host_parallel((launch->elements + CALL_UNIT - 1) / CALL_UNIT,
                     (launch->grain + CALL_UNIT - 1) / CALL_UNIT, call_range, &call);
    return KILN_OK;
}

static kiln_status host_function_info(kn_function *function, kn_function_info *out)
{
    (void)function, (void)out;
    return kn_error(KILN_ERROR_UNSUPPORTED, "the host's functions have no attributes");
}

static kiln_status host_occupancy(kn_function *function, int block_threads, size_t shared_bytes, int *blocks)
{
    (void)function, (void)block_threads, (void)shared_bytes, (void)blocks;
    return kn_error(KILN_ERROR_UNSUPPORTED, "the host's functions have no occupancy");
}

/* ---- the device ---- */

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
    .memory_alloc = host_memory_alloc,
    .memory_free = host_memory_free,
    .memory_info = host_memory_info,
    .copy = host_copy,
    .copy_peer = host_copy_peer,
    .fill = host_fill,
    .stream_create = host_stream_create,
    .stream_destroy = host_stream_destroy,
    .stream_synchronize = host_stream_synchronize,
    .stream_query = host_stream_query,
    .stream_is_capturing = host_stream_is_capturing,
    .stream_check = host_stream_check,
    .event_create = host_event_create,
    .event_destroy = host_event_destroy,
    .event_record = host_event_record,
    .event_synchronize = host_event_synchronize,
    .event_query = host_event_query,
    .event_elapsed = host_event_elapsed,
    .stream_wait_event = host_stream_wait_event,
    .synchronize = host_synchronize,
    .module_load = host_module_load,
    .module_unload = host_module_unload,
    .module_function = host_module_function,
    .module_global = host_module_global,
    .launch = host_launch,
    .function_info = host_function_info,
    .occupancy = host_occupancy,
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
    device.multiprocessors = kn_os_cpu_count();
    device.pool = kn_pool_create(&device, 64);
    return device.pool ? &device : NULL;
}
