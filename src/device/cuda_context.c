/* Makes a device's CUDA context current for a call, and restores the caller's. */
#include "device/cuda_context.h"

#include "base/error.h"

kiln_status kn_cuda_push(kn_device *device, bool *pushed)
{
    kiln_status status = KN_CU(CtxPushCurrent, kn_cuda_device_of(device)->context);
    *pushed = status == KILN_OK;
    return status;
}

void kn_cuda_pop(void)
{
    kn_cu_context popped;
    KN_CU_CALL(CtxPopCurrent, &popped);
}

/* Retries: both the next call and the thread's mode afterwards depend on it. */
static bool exchange_mode(int *mode)
{
    return KN_CU_CALL(ThreadExchangeStreamCaptureMode, mode) == KN_CU_SUCCESS ||
           KN_CU_CALL(ThreadExchangeStreamCaptureMode, mode) == KN_CU_SUCCESS;
}

int kn_cuda_relax(void)
{
    int mode = KN_CU_CAPTURE_MODE_RELAXED;
    return exchange_mode(&mode) ? mode : -1;
}

void kn_cuda_unrelax(int mode)
{
    if (mode >= 0)
        exchange_mode(&mode);
}

kiln_status kn_cuda_enter_relaxed(kn_device *device, kn_cuda_scope *scope)
{
    scope->status = kn_cuda_enter(device, &scope->pushed);
    scope->mode = kn_cuda_relax();
    return scope->status;
}

void kn_cuda_leave_relaxed(const kn_cuda_scope *scope)
{
    kn_cuda_unrelax(scope->mode);
    kn_cuda_leave(scope->pushed);
}

kiln_status kn_cuda_check_stream(kn_device *device, void *stream, const char *what)
{
    int state = KN_CU_CAPTURE_NONE;
    bool pushed;
    kiln_status status = kn_cuda_enter(device, &pushed);
    if (status != KILN_OK)
        return status;
    kn_cu_result result = KN_CU_CALL(StreamIsCapturing, stream, &state);
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
