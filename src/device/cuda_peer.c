/* Access from one CUDA device to another's memory. */
#include "device/cuda_peer.h"

#include "base/lock.h"
#include "device/cuda_context.h"
#include "device/cuda_pages.h"
#include "device/pool.h"

static _Atomic signed char *peer_state(kn_device *device, kn_device *peer)
{
    return &kn_cuda_device_of(device)->peers[kn_cuda_device_of(peer)->ordinal];
}

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

/* Each device sees all pages that the other has mapped, and will map from now on. */
static kiln_status show_pages(kn_device *a, kn_device *b)
{
    atomic_store(peer_state(a, b), PEER_BEGINS);
    atomic_store(peer_state(b, a), PEER_BEGINS);
    kiln_status status = kn_pool_show(a->pool, kn_cuda_memory_show, b);
    return status == KILN_OK ? kn_pool_show(b->pool, kn_cuda_memory_show, a) : status;
}

static void set_states(kn_device *a, kn_device *b, signed char state)
{
    atomic_store_explicit(peer_state(a, b), state, memory_order_release);
    atomic_store_explicit(peer_state(b, a), state, memory_order_release);
}

static kiln_status enable_both(kn_device *a, kn_device *b)
{
    bool there = false, back = false;
    kiln_status status = enable_one(a, b, &there);
    if (status == KILN_OK && there)
        status = enable_one(b, a, &back);
    if (status == KILN_OK && there && back)
        status = show_pages(a, b);
    set_states(a, b, status != KILN_OK ? PEER_UNKNOWN : there && back ? PEER_ENABLED : PEER_IMPOSSIBLE);
    return status;
}

kiln_status kn_device_enable_peer(kn_device *a, kn_device *b, bool *out)
{
    *out = a == b;
    if (a == b || a->backend->kind != KN_CUDA || b->backend->kind != KN_CUDA)
        return KILN_OK;
    kiln_status status = KILN_OK;
    signed char state = atomic_load_explicit(peer_state(a, b), memory_order_acquire);
    if (state != PEER_ENABLED && state != PEER_IMPOSSIBLE) {
        kn_lock_take(KN_LOCK_CUDA_PEERS);
        if (atomic_load(peer_state(a, b)) == PEER_UNKNOWN)
            status = enable_both(a, b);
        state = atomic_load(peer_state(a, b));
        kn_lock_give(KN_LOCK_CUDA_PEERS);
    }
    *out = status == KILN_OK && state == PEER_ENABLED;
    return status;
}
