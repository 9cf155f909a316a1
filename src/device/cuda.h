/* device/cuda.h - what the two files of the CUDA back end share. */
#ifndef KN_DEVICE_CUDA_H
#define KN_DEVICE_CUDA_H

#include <stdatomic.h>

#include "device/cuda_driver.h"
#include "device/device_private.h"

typedef struct kn_cuda_device {
    kn_device base; /* first: a kn_device of this back end is one of these */
    int ordinal;
    kn_cu_device handle;
    kn_cu_context context;
    _Atomic signed char peers[KN_CUDA_DEVICES_MAX]; /* 1: enabled, -1: not possible, 0: not yet asked */
} kn_cuda_device;

static inline kn_cuda_device *kn_cuda_device_of(kn_device *device)
{
    return (kn_cuda_device *)device;
}

/* Makes the device's context current where it is not; kn_cuda_leave puts back what was. */
kiln_status kn_cuda_push(kn_device *device, bool *pushed);
void kn_cuda_pop(void);

static inline kiln_status kn_cuda_enter(kn_device *device, bool *pushed)
{
    kn_cu_context current = NULL;
    *pushed = false;
    if (kn_cuda.CtxGetCurrent(&current) == KN_CU_SUCCESS && current == kn_cuda_device_of(device)->context)
        return KILN_OK;
    return kn_cuda_push(device, pushed);
}

static inline void kn_cuda_leave(bool pushed)
{
    if (pushed)
        kn_cuda_pop();
}

/* KILN_ERROR_CAPTURE where the stream is captured, or is the default one while a stream is captured that
 * waits for it: the driver would refuse `what`, a sentence up to "a stream", and spoil the capture. */
kiln_status kn_cuda_check_stream(kn_device *device, void *stream, const char *what);

/* Enters for what is queued on a stream. On the default one that would spoil the capture of a stream that
 * waits for it: asked only while there are captures, since every launch comes by here. */
static inline kiln_status kn_cuda_enter_queue(kn_device *device, void *stream, bool *pushed)
{
    *pushed = false;
    if (__builtin_expect(kn_capture_is_any_open(), 0) && !stream) {
        kiln_status status = kn_cuda_check_stream(device, stream, "work cannot be queued on a stream");
        if (status != KILN_OK)
            return status;
    }
    return kn_cuda_enter(device, pushed);
}

/* kn_cuda_enter in the relaxed mode of captures. While a stream is captured the driver refuses calls that its
 * author may not have meant to make then (memory, loading code, asking an event), and spoils the capture: the
 * library knows what it does. Leave also where enter has failed: releases go on then, the driver finds the
 * context by the handle. */
typedef struct kn_cuda_scope {
    bool pushed;
    int mode; /* before; -1: it is as it was */
} kn_cuda_scope;
kiln_status kn_cuda_enter_relaxed(kn_device *device, kn_cuda_scope *scope);
void kn_cuda_leave_relaxed(const kn_cuda_scope *scope);

kiln_status kn_cuda_module_load(kn_device *device, const void *code, size_t size, const char *name,
                                kn_module **out);
void kn_cuda_module_unload(kn_module *module);
kiln_status kn_cuda_module_function(kn_module *module, const char *name, kn_function **out);
kiln_status kn_cuda_module_global(kn_module *module, const char *name, void **address, size_t *size);
void *kn_cuda_module_handle(kn_module *module);
void *kn_cuda_function_handle(kn_function *function);
kiln_status kn_cuda_launch(kn_function *function, const kn_launch *launch, void *stream);
kiln_status kn_cuda_function_info(kn_function *function, kn_function_info *out);
int kn_cuda_function_params(kn_function *function, size_t *size, int room);
kiln_status kn_cuda_function_allow_shared(kn_function *function, size_t bytes);
kiln_status kn_cuda_occupancy(kn_function *function, int block_threads, size_t shared_bytes, int *blocks);

#endif
