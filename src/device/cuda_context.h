/* device/cuda_context.h - a CUDA device's context around driver calls, and the calls that captures allow. */
#ifndef KN_DEVICE_CUDA_CONTEXT_H
#define KN_DEVICE_CUDA_CONTEXT_H

#include <stdatomic.h>

#include "device/capture_list.h"
#include "device/cuda_driver.h"
#include "device/device_table.h"

/* The state of two devices: each reaches the other's memory, or never will. */
enum kn_peer_state { PEER_IMPOSSIBLE = -1, PEER_UNKNOWN, PEER_ENABLED, PEER_BEGINS };

typedef struct kn_cuda_device {
    kn_device base; /* first: a kn_device of this back end is one of these */
    int ordinal;
    kn_cu_device handle;
    kn_cu_context context;
    size_t page;                                    /* of mapped memory; 0: none is mapped */
    bool is_rdma_capable;                           /* of mapped memory: network cards may reach it */
    _Atomic signed char peers[KN_CUDA_DEVICES_MAX]; /* kn_peer_state */
} kn_cuda_device;

static inline kn_cuda_device *kn_cuda_device_of(kn_device *device)
{
    return (kn_cuda_device *)device;
}

/* Makes the device's context current if it is not; kn_cuda_leave restores the previous one. */
kiln_status kn_cuda_push(kn_device *device, bool *pushed);
void kn_cuda_pop(void);

static inline kiln_status kn_cuda_enter(kn_device *device, bool *pushed)
{
    kn_cu_context current = NULL;
    *pushed = false;
    if (KN_CU_CALL(CtxGetCurrent, &current) == KN_CU_SUCCESS && current == kn_cuda_device_of(device)->context)
        return KILN_OK;
    return kn_cuda_push(device, pushed);
}

/* The same within KN_UNCANCELLED. */
static inline kiln_status kn_cuda_enter_held(kn_device *device, bool *pushed)
{
    kn_cu_context current = NULL;
    *pushed = false;
    if (KN_CU_HELD(CtxGetCurrent, &current) == KN_CU_SUCCESS && current == kn_cuda_device_of(device)->context)
        return KILN_OK;
    return kn_cuda_push(device, pushed);
}

static inline void kn_cuda_leave(bool pushed)
{
    if (pushed)
        kn_cuda_pop();
}

/* KILN_ERROR_CAPTURE if the stream is captured, or is the default one while a captured stream waits for it:
 * the driver would refuse `what`, a sentence up to "a stream", and spoil the capture. */
kiln_status kn_cuda_check_stream(kn_device *device, void *stream, const char *what);

/* Before work is queued on a stream: on the default stream that would spoil the capture of a stream that
 * waits for it; this is checked only while there are captures, since every launch passes here. */
static inline kiln_status kn_cuda_check_queue(kn_device *device, void *stream)
{
    return __builtin_expect(kn_capture_is_any_open(), 0) && !stream
               ? kn_cuda_check_stream(device, stream, "work cannot be queued on a stream")
               : KILN_OK;
}
static inline kiln_status kn_cuda_enter_queue(kn_device *device, void *stream, bool *pushed)
{
    *pushed = false;
    kiln_status status = kn_cuda_check_queue(device, stream);
    return status == KILN_OK ? kn_cuda_enter(device, pushed) : status;
}

/* kn_cuda_enter in the relaxed mode of captures. While a stream is captured the driver refuses calls that
 * their author may not have intended (memory, loading code, asking an event), and spoils the capture; the
 * library makes them on purpose. Leave also after a failed enter: releases continue then, and the driver
 * finds the context by the handle. */
typedef struct kn_cuda_scope {
    bool pushed;
    int mode;           /* before; -1: it is as it was */
    kiln_status status; /* of entering */
} kn_cuda_scope;
kiln_status kn_cuda_enter_relaxed(kn_device *device, kn_cuda_scope *scope);
void kn_cuda_leave_relaxed(const kn_cuda_scope *scope);
static inline kiln_status kn_cuda_left(const kn_cuda_scope *scope, kiln_status status)
{
    kn_cuda_leave_relaxed(scope);
    return status;
}

/* KN_CU in that mode. scope: the address of a variable. */
#define KN_CU_RELAXED(scope, device, ...)                                                                    \
    kn_cuda_left(scope,                                                                                      \
                 kn_cuda_enter_relaxed(device, scope) == KILN_OK ? KN_CU(__VA_ARGS__) : (scope)->status)
/* The same for a call that releases something. */
#define KN_CU_RELEASE(device, ...)                                                                           \
    do {                                                                                                     \
        kn_cuda_scope scope_of_release;                                                                      \
        kn_cuda_enter_relaxed(device, &scope_of_release);                                                    \
        KN_CU_CALL(__VA_ARGS__);                                                                             \
        kn_cuda_leave_relaxed(&scope_of_release);                                                            \
    } while (0)
/* The mode only: returns the previous one, or -1 if it is unchanged. */
int kn_cuda_relax(void);
void kn_cuda_unrelax(int mode);

#endif
