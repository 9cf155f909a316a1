/* Events of CUDA. */
#include "device/cuda_event.h"

#include "device/cuda_context.h"

kiln_status kn_cuda_event_create(kn_device *device, unsigned flags, void **out)
{
    kn_cu_event event = NULL;
    kn_cuda_scope scope;
    unsigned native = (flags & KILN_EVENT_TIMING ? 0 : KN_CU_EVENT_DISABLE_TIMING) |
                      (flags & KILN_EVENT_BLOCKING ? KN_CU_EVENT_BLOCKING_SYNC : 0);
    kiln_status status = KN_CU_RELAXED(&scope, device, EventCreate, &event, native);
    if (status == KILN_OK)
        *out = event;
    return status;
}

void kn_cuda_event_destroy(kn_device *device, void *event)
{
    if (!event)
        return;
    KN_CU_RELEASE(device, EventDestroy, event);
}

kiln_status kn_cuda_event_record(kn_device *device, void *event, void *stream)
{
    bool pushed;
    kiln_status status = kn_cuda_enter_queue(device, stream, &pushed);
    if (status != KILN_OK)
        return status;
    status = KN_CU(EventRecord, event, stream);
    kn_cuda_leave(pushed);
    return status;
}

kiln_status kn_cuda_event_synchronize(kn_device *device, void *event)
{
    kn_cuda_scope scope;
    return KN_CU_RELAXED(&scope, device, EventSynchronize, event);
}

kiln_status kn_cuda_event_query(kn_device *device, void *event, bool *done)
{
    kn_cuda_scope scope;
    kiln_status status = kn_cuda_enter_relaxed(device, &scope);
    if (status == KILN_OK)
        status = kn_cuda_answer(KN_CU_CALL(EventQuery, event), "cuEventQuery", done);
    kn_cuda_leave_relaxed(&scope);
    return status;
}

kiln_status kn_cuda_event_elapsed(kn_device *device, void *start, void *end, double *milliseconds)
{
    float elapsed = 0;
    kn_cuda_scope scope;
    kiln_status status = KN_CU_RELAXED(&scope, device, EventElapsedTime, &elapsed, start, end);
    if (status == KILN_OK)
        *milliseconds = elapsed;
    return status;
}

kiln_status kn_cuda_stream_wait_event(kn_device *device, void *stream, void *event)
{
    bool pushed;
    kiln_status status = kn_cuda_enter_queue(device, stream, &pushed);
    if (status != KILN_OK)
        return status;
    status = KN_CU(StreamWaitEvent, stream, event, 0);
    kn_cuda_leave(pushed);
    return status;
}
