/* Events, and their rules during captures. */
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/error.h"
#include "device/capture_forbid.h"
#include "device/registry.h"
#include "device/stream.h"

/* The last recording of an event that kiln has seen. */
typedef enum event_state { NOT_RECORDED, RECORDED, CAPTURED } event_state;

struct kiln_event {
    kn_device *device;
    void *native;
    unsigned flags;
    bool is_owned;
    _Atomic event_state state;
};

/* The driver would refuse, and spoil the capture of which the event is a part. */
static kiln_status check_not_captured(const kiln_event *event, const char *what)
{
    if (atomic_load_explicit(&event->state, memory_order_relaxed) != CAPTURED)
        return KILN_OK;
    return kn_error(KILN_ERROR_CAPTURE,
                    "%s: it was recorded on a stream that was being captured, and so stands for a place in a "
                    "graph and for no work; record it again outside the capture",
                    what);
}

static kiln_status wait_for_event(kiln_event *event)
{
    static const char what[] = "an event cannot be waited for";
    kiln_status status = check_not_captured(event, what);
    if (status == KILN_OK && event->device->backend->kind == KN_CUDA)
        status = kn_capture_forbids(what);
    return status == KILN_OK ? event->device->backend->event_synchronize(event->device, event->native)
                             : status;
}

/* A capture cannot wait for work outside it, nor work for a place in a graph. Of an event that others record
 * only the driver knows. */
static kiln_status check_wait(const kiln_event *event, kn_device *device, void *native)
{
    event_state state = atomic_load_explicit(&event->state, memory_order_relaxed);
    bool capturing = false;
    if (state == NOT_RECORDED || !event->is_owned)
        return KILN_OK;
    kiln_status status = device->backend->stream_is_capturing(device, native, &capturing, NULL);
    if (status != KILN_OK || !capturing || state == CAPTURED)
        return status;
    return kn_error(KILN_ERROR_CAPTURE, "a stream that is being captured cannot wait for an event that was "
                                        "recorded outside the capture; wait before kiln_capture_begin");
}

kiln_status kiln_stream_wait_event(kiln_stream *stream, kiln_event *event)
{
    kn_device *device = NULL;
    void *native = NULL;
    if (!event)
        return kn_error(KILN_ERROR_INVALID, "kiln_stream_wait_event: event is NULL");
    kiln_status status = kn_stream_resolve(&device, &native, stream);
    if (status != KILN_OK)
        return status;
    if (device->backend != event->device->backend)
        return wait_for_event(event);
    status = check_wait(event, device, native);
    return status == KILN_OK ? device->backend->stream_wait_event(device, native, event->native) : status;
}

kiln_status kiln_event_create(kiln_event **out, kiln_device id, unsigned flags)
{
    kn_device *device = NULL;
    if (!out || (flags & ~(unsigned)(KILN_EVENT_TIMING | KILN_EVENT_BLOCKING)))
        return kn_error(KILN_ERROR_INVALID,
                        out ? "kiln_event_create: flags is 0x%x; expected KILN_EVENT_TIMING, "
                              "KILN_EVENT_BLOCKING, both or 0"
                            : "kiln_event_create: out is NULL (flags 0x%x)",
                        flags);
    kiln_status status = kn_device_get(&device, id);
    if (status != KILN_OK)
        return status;
    kiln_event *event = kn_malloc(sizeof *event);
    if (!event)
        return kn_error_memory("an event");
    *event = (kiln_event){device, NULL, flags, true, NOT_RECORDED};
    status = device->backend->event_create(device, flags, &event->native);
    if (status != KILN_OK) {
        kn_free(event);
        return status;
    }
    *out = event;
    return KILN_OK;
}

kiln_status kiln_event_wrap(kiln_event **out, kiln_device id, void *native)
{
    kn_device *device = NULL;
    if (!out || !native)
        return kn_error(KILN_ERROR_INVALID, "kiln_event_wrap: %s is NULL", out ? "cuda_event" : "out");
    kiln_status status = kn_device_get(&device, id);
    if (status != KILN_OK)
        return status;
    if (device->backend->kind != KN_CUDA)
        return kn_error(KILN_ERROR_UNSUPPORTED, "a CUDA event cannot be wrapped for the host");
    kiln_event *event = kn_malloc(sizeof *event);
    if (!event)
        return kn_error_memory("an event");
    /* whether it has times, the driver knows */
    *event = (kiln_event){device, native, KILN_EVENT_TIMING, false, NOT_RECORDED};
    *out = event;
    return KILN_OK;
}

void kiln_event_free(kiln_event *event)
{
    if (!event)
        return;
    if (event->is_owned)
        event->device->backend->event_destroy(event->device, event->native);
    kn_free(event);
}

kiln_status kiln_event_record(kiln_event *event, kiln_stream *stream)
{
    void *native = NULL;
    bool capturing = false;
    if (!event)
        return kn_error(KILN_ERROR_INVALID, "kiln_event_record: event is NULL");
    const kn_backend *backend = event->device->backend;
    kiln_status status = kn_stream_native(&native, event->device, stream);
    if (status == KILN_OK)
        status = backend->stream_is_capturing(event->device, native, &capturing, NULL);
    if (status == KILN_OK)
        status = backend->event_record(event->device, event->native, native);
    if (status == KILN_OK)
        atomic_store_explicit(&event->state, capturing ? CAPTURED : RECORDED, memory_order_relaxed);
    return status;
}

kiln_status kiln_event_synchronize(kiln_event *event)
{
    if (!event)
        return kn_error(KILN_ERROR_INVALID, "kiln_event_synchronize: event is NULL");
    return wait_for_event(event);
}

kiln_status kiln_event_query(bool *out, kiln_event *event)
{
    if (!out || !event)
        return kn_error(KILN_ERROR_INVALID, "kiln_event_query: %s is NULL", out ? "event" : "out");
    kiln_status status = check_not_captured(event, "an event cannot be asked whether it is over");
    return status == KILN_OK ? event->device->backend->event_query(event->device, event->native, out)
                             : status;
}

kiln_status kiln_event_elapsed(double *milliseconds, kiln_event *start, kiln_event *end)
{
    if (!milliseconds || !start || !end)
        return kn_error(KILN_ERROR_INVALID, "kiln_event_elapsed: %s is NULL",
                        !milliseconds ? "milliseconds"
                        : !start      ? "start"
                                      : "end");
    if (start->device != end->device)
        return kn_error(KILN_ERROR_INVALID, "kiln_event_elapsed: the events belong to different devices");
    if (!(start->flags & end->flags & KILN_EVENT_TIMING))
        return kn_error(KILN_ERROR_INVALID, "kiln_event_elapsed: %s was created without KILN_EVENT_TIMING",
                        start->flags & KILN_EVENT_TIMING ? "end" : "start");
    kiln_status status = check_not_captured(start, "the time since start cannot be told");
    if (status == KILN_OK)
        status = check_not_captured(end, "the time until end cannot be told");
    return status == KILN_OK ? start->device->backend->event_elapsed(start->device, start->native,
                                                                     end->native, milliseconds)
                             : status;
}

void *kiln_event_cuda_handle(kiln_event *event)
{
    return event && event->device->backend->kind == KN_CUDA ? event->native : NULL;
}
