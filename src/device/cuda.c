/* CUDA devices behind the table: memory, copies, streams and events. cuda_module.c has code and launches. */
#include "device/cuda.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/lock.h"
#include "device/pool.h"

/* ---- the context ---- */

kiln_status kn_cuda_push(kn_device *device, bool *pushed)
{
    kiln_status status = KN_CU(CtxPushCurrent, kn_cuda_device_of(device)->context);
    *pushed = status == KILN_OK;
    return status;
}

void kn_cuda_pop(void)
{
    kn_cu_context popped;
    kn_cuda.CtxPopCurrent(&popped);
}

void *kn_cuda_context_of(kn_device *device)
{
    return kn_cuda_device_of(device)->context;
}

/* Too much hangs on it for one attempt: what is called next, and the mode in which the thread goes on. */
static bool exchange_mode(int *mode)
{
    return kn_cuda.ThreadExchangeStreamCaptureMode(mode) == KN_CU_SUCCESS ||
           kn_cuda.ThreadExchangeStreamCaptureMode(mode) == KN_CU_SUCCESS;
}

/* The mode before; -1 where it is as it was. */
static int relax(void)
{
    int mode = KN_CU_CAPTURE_MODE_RELAXED;
    return exchange_mode(&mode) ? mode : -1;
}

static void unrelax(int mode)
{
    if (mode >= 0)
        exchange_mode(&mode);
}

kiln_status kn_cuda_enter_relaxed(kn_device *device, kn_cuda_scope *scope)
{
    kiln_status status = kn_cuda_enter(device, &scope->pushed);
    scope->mode = relax();
    return status;
}

void kn_cuda_leave_relaxed(const kn_cuda_scope *scope)
{
    unrelax(scope->mode);
    kn_cuda_leave(scope->pushed);
}

kiln_status kn_cuda_check_stream(kn_device *device, void *stream, const char *what)
{
    int state = KN_CU_CAPTURE_NONE;
    bool pushed;
    kiln_status status = kn_cuda_enter(device, &pushed);
    if (status != KILN_OK)
        return status;
    kn_cu_result result = kn_cuda.StreamIsCapturing(stream, &state);
    kn_cuda_leave(pushed);
    if (result == KN_CU_STREAM_CAPTURE_IMPLICIT)
        return kn_error(KILN_ERROR_CAPTURE,
                        "%s: it is the default one, for which a stream waits that is being captured (one "
                        "created without KILN_STREAM_NON_BLOCKING); use another stream, or end the capture",
                        what);
    if (result == KN_CU_SUCCESS && state != KN_CU_CAPTURE_NONE)
        return kn_error(KILN_ERROR_CAPTURE, "%s while it is captured", what);
    return kn_cuda_check(result, "cuStreamIsCapturing");
}

/* ---- memory ---- */

static kn_cu_address address_of(const void *pointer)
{
    return (kn_cu_address)(uintptr_t)pointer;
}

static kiln_status cuda_memory_alloc(kn_device *device, size_t size, void **out)
{
    kn_cu_address address = 0;
    kn_cuda_scope scope;
    kiln_status status = kn_cuda_enter_relaxed(device, &scope);
    if (status == KILN_OK)
        status = KN_CU(MemAlloc, &address, size);
    kn_cuda_leave_relaxed(&scope);
    if (status == KILN_OK)
        *out = (void *)(uintptr_t)address;
    return status;
}

/* This and the other releases go on where the context could not be had: the driver finds it by the handle. */
static void cuda_memory_free(kn_device *device, void *pointer)
{
    kn_cuda_scope scope;
    if (!pointer)
        return;
    kn_cuda_enter_relaxed(device, &scope);
    kn_cuda.MemFree(address_of(pointer));
    kn_cuda_leave_relaxed(&scope);
}

static kiln_status cuda_memory_info(kn_device *device, size_t *free_bytes, size_t *total)
{
    kn_cuda_scope scope;
    kiln_status status = kn_cuda_enter_relaxed(device, &scope);
    if (status == KILN_OK)
        status = KN_CU(MemGetInfo, free_bytes, total);
    kn_cuda_leave_relaxed(&scope);
    return status;
}

kiln_status kn_cuda_pinned_alloc(kn_device *device, size_t size, void **out)
{
    kn_cuda_scope scope;
    kiln_status status = kn_cuda_enter_relaxed(device, &scope);
    if (status == KILN_OK)
        status = KN_CU(MemHostAlloc, out, size, KN_CU_MEMHOSTALLOC_PORTABLE);
    kn_cuda_leave_relaxed(&scope);
    return status;
}

void kn_cuda_pinned_free(kn_device *device, void *pointer)
{
    kn_cuda_scope scope;
    kn_cuda_enter_relaxed(device, &scope);
    kn_cuda.MemFreeHost(pointer);
    kn_cuda_leave_relaxed(&scope);
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

static kiln_status cuda_copy(kn_device *device, void *to, const void *from, size_t size, kn_copy_kind kind,
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

static kiln_status cuda_copy_peer(kn_device *to_device, void *to, kn_device *from_device, const void *from,
                                  size_t size, void *stream)
{
    bool pushed;
    if (to_device == from_device)
        return cuda_copy(to_device, to, from, size, KN_COPY_DEVICE_TO_DEVICE, stream);
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

static kiln_status queue_fill(kn_cu_address to, const void *pattern, size_t unit, size_t count, void *stream)
{
    uint8_t one;
    uint16_t two;
    uint32_t four;
    switch (unit) {
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
    return kn_error(KILN_ERROR_UNSUPPORTED, "the device fills with 1, 2 or 4 bytes, not %zu", unit);
}

/* Wider patterns are done where they repeat a narrow one, as zero does. */
static kiln_status cuda_fill(kn_device *device, void *to, const void *pattern, size_t unit, size_t count,
                             void *stream)
{
    bool pushed;
    while (unit > 4 && unit % 2 == 0 && memcmp(pattern, (const char *)pattern + unit / 2, unit / 2) == 0) {
        unit /= 2;
        count *= 2;
    }
    if (count == 0)
        return KILN_OK;
    kiln_status status = kn_cuda_enter_queue(device, stream, &pushed);
    if (status != KILN_OK)
        return status;
    status = queue_fill(address_of(to), pattern, unit, count, stream);
    kn_cuda_leave(pushed);
    return status;
}

/* ---- streams ---- */

static kiln_status cuda_stream_create(kn_device *device, unsigned flags, void **out)
{
    kn_cu_stream stream = NULL;
    kn_cuda_scope scope;
    unsigned native = flags & KILN_STREAM_NON_BLOCKING ? KN_CU_STREAM_NON_BLOCKING : 0;
    kiln_status status = kn_cuda_enter_relaxed(device, &scope);
    if (status == KILN_OK)
        status = KN_CU(StreamCreate, &stream, native);
    kn_cuda_leave_relaxed(&scope);
    if (status == KILN_OK)
        *out = stream;
    return status;
}

static void cuda_stream_destroy(kn_device *device, void *stream)
{
    kn_cuda_scope scope;
    if (!stream)
        return;
    kn_cuda_enter_relaxed(device, &scope);
    kn_cuda.StreamDestroy(stream);
    kn_cuda_leave_relaxed(&scope);
}

static kiln_status cuda_stream_synchronize(kn_device *device, void *stream)
{
    kn_cuda_scope scope;
    kiln_status status = kn_cuda_check_stream(device, stream, "a stream cannot be waited for");
    if (status != KILN_OK)
        return status;
    status = kn_cuda_enter_relaxed(device, &scope);
    if (status == KILN_OK)
        status = KN_CU(StreamSynchronize, stream);
    kn_cuda_leave_relaxed(&scope);
    return status;
}

/* A query's answer: "not ready" is no error. */
static kiln_status answer(kn_cu_result result, const char *call, bool *done)
{
    *done = result == KN_CU_SUCCESS;
    return result == KN_CU_NOT_READY ? KILN_OK : kn_cuda_check(result, call);
}

static kiln_status cuda_stream_query(kn_device *device, void *stream, bool *done)
{
    kn_cuda_scope scope;
    kiln_status status = kn_cuda_check_stream(device, stream, "a stream cannot be asked whether it is done");
    if (status != KILN_OK)
        return status;
    status = kn_cuda_enter_relaxed(device, &scope);
    if (status == KILN_OK)
        status = answer(kn_cuda.StreamQuery(stream), "cuStreamQuery", done);
    kn_cuda_leave_relaxed(&scope);
    return status;
}

/* The default stream cannot be captured, and asking about it while another is captured is an error of its
 * own. An invalidated capture has no number: 0. */
static kiln_status cuda_stream_is_capturing(kn_device *device, void *stream, bool *capturing, uint64_t *id)
{
    int state = KN_CU_CAPTURE_NONE;
    unsigned long long number = 0;
    bool pushed;
    *capturing = false;
    if (!stream)
        return KILN_OK;
    kiln_status status = kn_cuda_enter(device, &pushed);
    if (status != KILN_OK)
        return status;
    status = KN_CU(StreamIsCapturing, stream, &state);
    if (status == KILN_OK && state == KN_CU_CAPTURE_ACTIVE && id)
        status = KN_CU(StreamGetCaptureInfo, stream, &state, &number, NULL, NULL, NULL);
    if (id)
        *id = state == KN_CU_CAPTURE_ACTIVE ? number : 0;
    kn_cuda_leave(pushed);
    *capturing = status == KILN_OK && state != KN_CU_CAPTURE_NONE;
    return status;
}

static bool cuda_stream_may_record(kn_device *device, void *stream)
{
    kn_error_state before;
    kn_error_save(&before);
    kiln_status status = kn_cuda_check_stream(device, stream, "");
    kn_error_restore(&before);
    return status != KILN_ERROR_CAPTURE;
}

static kiln_status cuda_stream_check(kn_device *device, void *stream)
{
    kn_cu_context context = NULL;
    char name[24];
    if ((uintptr_t)stream <= 1) /* the default stream, by either of its names */
        return KILN_OK;
    if ((uintptr_t)stream == 2)
        return kn_error(KILN_ERROR_UNSUPPORTED,
                        "CU_STREAM_PER_THREAD names another stream in each thread; create a "
                        "stream and wrap that");
    kiln_status status = KN_CU(StreamGetCtx, stream, &context);
    if (status == KILN_OK && context != kn_cuda_device_of(device)->context)
        status = kn_error(KILN_ERROR_INVALID, "the stream does not belong to the primary context of %s",
                          kiln_device_name(device->id, name, sizeof name));
    return status;
}

static kiln_status cuda_synchronize(kn_device *device)
{
    bool pushed;
    kiln_status status = kn_cuda_enter(device, &pushed);
    if (status != KILN_OK)
        return status;
    status = kn_cuda_check(kn_cuda.CtxSynchronize(), "cuCtxSynchronize");
    kn_cuda_leave(pushed);
    return status;
}

/* ---- events ---- */

static kiln_status cuda_event_create(kn_device *device, unsigned flags, void **out)
{
    kn_cu_event event = NULL;
    kn_cuda_scope scope;
    unsigned native = (flags & KILN_EVENT_TIMING ? 0 : KN_CU_EVENT_DISABLE_TIMING) |
                      (flags & KILN_EVENT_BLOCKING ? KN_CU_EVENT_BLOCKING_SYNC : 0);
    kiln_status status = kn_cuda_enter_relaxed(device, &scope);
    if (status == KILN_OK)
        status = KN_CU(EventCreate, &event, native);
    kn_cuda_leave_relaxed(&scope);
    if (status == KILN_OK)
        *out = event;
    return status;
}

static void cuda_event_destroy(kn_device *device, void *event)
{
    kn_cuda_scope scope;
    if (!event)
        return;
    kn_cuda_enter_relaxed(device, &scope);
    kn_cuda.EventDestroy(event);
    kn_cuda_leave_relaxed(&scope);
}

static kiln_status cuda_event_record(kn_device *device, void *event, void *stream)
{
    bool pushed;
    kiln_status status = kn_cuda_enter_queue(device, stream, &pushed);
    if (status != KILN_OK)
        return status;
    status = KN_CU(EventRecord, event, stream);
    kn_cuda_leave(pushed);
    return status;
}

static kiln_status cuda_event_synchronize(kn_device *device, void *event)
{
    kn_cuda_scope scope;
    kiln_status status = kn_cuda_enter_relaxed(device, &scope);
    if (status == KILN_OK)
        status = KN_CU(EventSynchronize, event);
    kn_cuda_leave_relaxed(&scope);
    return status;
}

static kiln_status cuda_event_query(kn_device *device, void *event, bool *done)
{
    kn_cuda_scope scope;
    kiln_status status = kn_cuda_enter_relaxed(device, &scope);
    if (status == KILN_OK)
        status = answer(kn_cuda.EventQuery(event), "cuEventQuery", done);
    kn_cuda_leave_relaxed(&scope);
    return status;
}

static kiln_status cuda_event_elapsed(kn_device *device, void *start, void *end, double *milliseconds)
{
    float elapsed = 0;
    kn_cuda_scope scope;
    kiln_status status = kn_cuda_enter_relaxed(device, &scope);
    if (status == KILN_OK)
        status = KN_CU(EventElapsedTime, &elapsed, start, end);
    kn_cuda_leave_relaxed(&scope);
    if (status == KILN_OK)
        *milliseconds = elapsed;
    return status;
}

static kiln_status cuda_stream_wait_event(kn_device *device, void *stream, void *event)
{
    bool pushed;
    kiln_status status = kn_cuda_enter_queue(device, stream, &pushed);
    if (status != KILN_OK)
        return status;
    status = KN_CU(StreamWaitEvent, stream, event, 0);
    kn_cuda_leave(pushed);
    return status;
}

/* ---- peers ---- */

kiln_status kn_cuda_can_access_peer(bool *out, kn_device *device, kn_device *peer)
{
    int can = 0;
    kiln_status status =
        KN_CU(DeviceCanAccessPeer, &can, kn_cuda_device_of(device)->handle, kn_cuda_device_of(peer)->handle);
    *out = can != 0;
    return status;
}

/* One direction: kernels of `device` reach memory of `peer`. */
static kiln_status enable_one(kn_device *device, kn_device *peer, bool *out)
{
    kn_cuda_scope scope;
    kn_cu_result result = KN_CU_SUCCESS;
    kiln_status status = kn_cuda_can_access_peer(out, device, peer);
    if (status != KILN_OK || !*out)
        return status;
    status = kn_cuda_enter_relaxed(device, &scope);
    if (status == KILN_OK)
        result = kn_cuda.CtxEnablePeerAccess(kn_cuda_device_of(peer)->context, 0);
    kn_cuda_leave_relaxed(&scope);
    if (status != KILN_OK)
        return status;
    return result == KN_CU_PEER_ACCESS_ALREADY_ENABLED ? KILN_OK
                                                       : kn_cuda_check(result, "cuCtxEnablePeerAccess");
}

kiln_status kn_device_enable_peer(kn_device *a, kn_device *b, bool *out)
{
    bool there = false, back = false;
    *out = a == b;
    if (a == b || a->backend->kind != KN_CUDA || b->backend->kind != KN_CUDA)
        return KILN_OK;
    _Atomic signed char *known = &kn_cuda_device_of(a)->peers[kn_cuda_device_of(b)->ordinal];
    signed char state = atomic_load_explicit(known, memory_order_acquire);
    kiln_status status = KILN_OK;
    if (state == 0) {
        kn_lock_take(KN_LOCK_CUDA_PEERS);
        status = enable_one(a, b, &there);
        if (status == KILN_OK && there)
            status = enable_one(b, a, &back);
        state = there && back ? 1 : -1;
        if (status == KILN_OK) {
            atomic_store_explicit(known, state, memory_order_release);
            atomic_store_explicit(&kn_cuda_device_of(b)->peers[kn_cuda_device_of(a)->ordinal], state,
                                  memory_order_release);
        }
        kn_lock_give(KN_LOCK_CUDA_PEERS);
    }
    *out = status == KILN_OK && state > 0;
    return status;
}

/* ---- the device ---- */

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
    .memory_alloc = cuda_memory_alloc,
    .memory_free = cuda_memory_free,
    .memory_info = cuda_memory_info,
    .copy = cuda_copy,
    .copy_peer = cuda_copy_peer,
    .fill = cuda_fill,
    .stream_create = cuda_stream_create,
    .stream_destroy = cuda_stream_destroy,
    .stream_synchronize = cuda_stream_synchronize,
    .stream_query = cuda_stream_query,
    .stream_is_capturing = cuda_stream_is_capturing,
    .stream_may_record = cuda_stream_may_record,
    .stream_check = cuda_stream_check,
    .event_create = cuda_event_create,
    .event_destroy = cuda_event_destroy,
    .event_record = cuda_event_record,
    .event_synchronize = cuda_event_synchronize,
    .event_query = cuda_event_query,
    .event_elapsed = cuda_event_elapsed,
    .stream_wait_event = cuda_stream_wait_event,
    .synchronize = cuda_synchronize,
    .module_load = kn_cuda_module_load,
    .module_unload = kn_cuda_module_unload,
    .module_function = kn_cuda_module_function,
    .module_global = kn_cuda_module_global,
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
        return kn_error_memory(sizeof *device, "a device");
    device->base.id = KILN_DEVICE_CUDA(ordinal);
    device->base.backend = &cuda_backend;
    device->ordinal = ordinal;
    kiln_status status = KN_CU(DeviceGet, &device->handle, ordinal);
    if (status == KILN_OK)
        status = read_limits(device);
    if (status == KILN_OK && !(device->base.pool = kn_pool_create(&device->base, 512)))
        status = kiln_error_status();
    /* last, so that nothing has to be released */
    if (status == KILN_OK) {
        int mode = relax();
        status = KN_CU(DevicePrimaryCtxRetain, &device->context, device->handle);
        unrelax(mode);
    }
    if (status != KILN_OK) {
        kn_pool_free(device->base.pool);
        kn_free(device);
        return status;
    }
    *out = &device->base;
    return KILN_OK;
}
