/* Every call has run when it returns: streams are all the same idle queue, and an event is the time it was
 * recorded at. */
#include "device/host_stream.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os.h"

typedef struct host_event {
    _Atomic double time_ms; /* negative: not yet recorded */
} host_event;

kiln_status kn_host_stream_create(kn_device *device, unsigned flags, void **out)
{
    (void)device, (void)flags;
    *out = NULL;
    return KILN_OK;
}

void kn_host_stream_destroy(kn_device *device, void *stream)
{
    (void)device, (void)stream;
}

kiln_status kn_host_wait(kn_device *device, void *handle)
{
    (void)device, (void)handle;
    return KILN_OK;
}

kiln_status kn_host_is_done(kn_device *device, void *handle, bool *done)
{
    (void)device, (void)handle;
    *done = true;
    return KILN_OK;
}

kiln_status kn_host_stream_is_capturing(kn_device *device, void *stream, bool *capturing, uint64_t *id)
{
    (void)device, (void)stream;
    *capturing = false;
    if (id)
        *id = 0;
    return KILN_OK;
}

kiln_status kn_host_stream_check(kn_device *device, void *stream)
{
    (void)device;
    return stream ? kn_error(KILN_ERROR_UNSUPPORTED, "a CUDA stream cannot be wrapped for the host")
                  : KILN_OK;
}

kiln_status kn_host_event_create(kn_device *device, unsigned flags, void **out)
{
    (void)device, (void)flags;
    host_event *event = kn_malloc(sizeof *event);
    if (!event)
        return kn_error_memory("an event");
    atomic_init(&event->time_ms, -1.0);
    *out = event;
    return KILN_OK;
}

void kn_host_event_destroy(kn_device *device, void *event)
{
    (void)device;
    kn_free(event);
}

kiln_status kn_host_event_record(kn_device *device, void *event, void *stream)
{
    (void)device, (void)stream;
    atomic_store(&((host_event *)event)->time_ms, kn_os_now_ms());
    return KILN_OK;
}

kiln_status kn_host_event_elapsed(kn_device *device, void *start, void *end, double *milliseconds)
{
    double from = atomic_load(&((host_event *)start)->time_ms),
           to = atomic_load(&((host_event *)end)->time_ms);
    (void)device;
    if (from < 0 || to < 0)
        return kn_error(KILN_ERROR_INVALID, "the %s event was never recorded", from < 0 ? "start" : "end");
    *milliseconds = to - from;
    return KILN_OK;
}

kiln_status kn_host_stream_wait_event(kn_device *device, void *stream, void *event)
{
    (void)device, (void)stream, (void)event;
    return KILN_OK;
}

kiln_status kn_host_synchronize(kn_device *device)
{
    (void)device;
    return KILN_OK;
}
