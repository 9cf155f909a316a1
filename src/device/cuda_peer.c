/* Access from one CUDA device to another's memory. */
#include "device/cuda_peer.h"

#include "base/lock.h"
#include "device/cuda_context.h"

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
        result = KN_CU_CALL(CtxEnablePeerAccess, kn_cuda_device_of(peer)->context, 0);
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
