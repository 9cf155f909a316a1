/* Streams of CUDA. */
#include "device/cuda_stream.h"

#include "base/error.h"
#include "device/cuda_context.h"

kiln_status kn_cuda_stream_create(kn_device *device, unsigned flags, void **out)
{
    kn_cu_stream stream = NULL;
    kn_cuda_scope scope;
    unsigned native = flags & KILN_STREAM_NON_BLOCKING ? KN_CU_STREAM_NON_BLOCKING : 0;
    kiln_status status = KN_CU_RELAXED(&scope, device, StreamCreate, &stream, native);
    if (status == KILN_OK)
        *out = stream;
    return status;
}

void kn_cuda_stream_destroy(kn_device *device, void *stream)
{
    if (!stream)
        return;
    KN_CU_RELEASE(device, StreamDestroy, stream);
}

kiln_status kn_cuda_stream_synchronize(kn_device *device, void *stream)
{
    kn_cuda_scope scope;
    kiln_status status = kn_cuda_check_stream(device, stream, "a stream cannot be waited for");
    if (status != KILN_OK)
        return status;
    return KN_CU_RELAXED(&scope, device, StreamSynchronize, stream);
}

kiln_status kn_cuda_stream_query(kn_device *device, void *stream, bool *done)
{
    kn_cuda_scope scope;
    kiln_status status = kn_cuda_check_stream(device, stream, "a stream cannot be asked whether it is done");
    if (status != KILN_OK)
        return status;
    status = kn_cuda_enter_relaxed(device, &scope);
    if (status == KILN_OK)
        status = kn_cuda_answer(KN_CU_CALL(StreamQuery, stream), "cuStreamQuery", done);
    kn_cuda_leave_relaxed(&scope);
    return status;
}

/* The default stream cannot be captured, and asking about it while another is captured is an error of its
 * own. An invalidated capture has no number: 0. */
kiln_status kn_cuda_stream_is_capturing(kn_device *device, void *stream, bool *capturing, uint64_t *id)
{
    int state = KN_CU_CAPTURE_NONE;
    unsigned long long number = 0;
    bool pushed;
    *capturing = false;
    if (!stream)
        return KILN_OK;
    KN_UNCANCELLED; /* once: every call with a result asks this */
    kiln_status status = kn_cuda_enter_held(device, &pushed);
    if (status != KILN_OK)
        return status;
    status = kn_cuda_check(KN_CU_HELD(StreamIsCapturing, stream, &state), "cuStreamIsCapturing");
    if (status == KILN_OK && state == KN_CU_CAPTURE_ACTIVE && id)
        status = KN_CU(StreamGetCaptureInfo, stream, &state, &number, NULL, NULL, NULL);
    if (id)
        *id = state == KN_CU_CAPTURE_ACTIVE ? number : 0;
    kn_cuda_leave(pushed);
    *capturing = status == KILN_OK && state != KN_CU_CAPTURE_NONE;
    return status;
}

bool kn_cuda_stream_may_record(kn_device *device, void *stream)
{
    kn_error_state before;
    kn_error_save(&before);
    kiln_status status = kn_cuda_check_stream(device, stream, "");
    kn_error_restore(&before);
    return status != KILN_ERROR_CAPTURE;
}

kiln_status kn_cuda_stream_check(kn_device *device, void *stream)
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
                          kn_device_write_name(device->id, name, sizeof name));
    return status;
}

kiln_status kn_cuda_synchronize(kn_device *device)
{
    bool pushed;
    kiln_status status = kn_cuda_enter(device, &pushed);
    if (status != KILN_OK)
        return status;
    status = KN_CU(CtxSynchronize, );
    kn_cuda_leave(pushed);
    return status;
}
