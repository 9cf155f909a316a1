/* The record of a capture that other code began is tied to the graph by a user object of the driver. Its
 * destructor may not call the driver, so such records are marked, and freed later. */
#include "device/capture_foreign.h"

#include "base/error.h"
#include "device/capture_forbid.h"
#include "device/capture_record.h"
#include "device/cuda_context.h"

/* In a thread of the driver's: no locks, no calls. */
static void graph_is_gone(void *record)
{
    if (atomic_fetch_sub(&((kn_capture *)record)->references, 1) == 1)
        atomic_fetch_add(&kn_captures_dead, 1);
}

static kn_capture *take_dead(void)
{
    kn_lock_take(KN_LOCK_CAPTURES);
    kn_capture *r = kn_captures;
    while (r && atomic_load(&r->references) > 0)
        r = r->next;
    if (r) {
        kn_capture_unlist(r);
        atomic_fetch_sub(&kn_captures_dead, 1);
    }
    kn_lock_give(KN_LOCK_CAPTURES);
    return r;
}

void kn_capture_reap(void)
{
    while (atomic_load_explicit(&kn_captures_dead, memory_order_relaxed) > 0) {
        kn_capture *r = take_dead();
        if (!r)
            return;
        kn_capture_end_record(r);
    }
}

/* Ties the record's reference to the graph that is being captured. */
static kiln_status tie_to_graph(kn_capture *r, void *stream)
{
    kn_cu_graph graph = NULL;
    kn_cu_user_object object = NULL;
    int state = 0;
    bool pushed;
    kiln_status status = kn_cuda_enter(r->device, &pushed);
    if (status != KILN_OK)
        return status;
    status = KN_CU(StreamGetCaptureInfo, stream, &state, NULL, &graph, NULL, NULL);
    if (status == KILN_OK && (state != KN_CU_CAPTURE_ACTIVE || !graph))
        status = kn_capture_say_spoilt();
    if (status == KILN_OK)
        status = KN_CU(UserObjectCreate, &object, r, graph_is_gone, 1, KN_CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    if (status == KILN_OK) {
        kn_capture_add_reference(r); /* another reference, since the object may be destroyed meanwhile */
        status = KN_CU(GraphRetainUserObject, graph, object, 1, KN_CU_GRAPH_USER_OBJECT_MOVE);
        if (status != KILN_OK) {
            kn_error_state before;
            kn_error_save(&before);
            KN_CU_CALL(UserObjectRelease, object, 1);
            kn_error_restore(&before);
        } else {
            kn_capture_drop_reference(r);
        }
    }
    kn_cuda_leave(pushed);
    return status;
}

/* The record is complete before others can see it, but tying calls the driver, which must not happen under
 * the lock: so it is listed first, and a second thread that meets the same capture in that moment finds it
 * listed. */
kiln_status kn_capture_meet(kn_device *device, void *stream, uint64_t capture)
{
    kn_lock_take(KN_LOCK_CAPTURES);
    bool is_known = kn_capture_find(capture);
    kn_capture *r = is_known ? NULL : kn_capture_list(device, capture, true);
    kn_lock_give(KN_LOCK_CAPTURES);
    if (is_known)
        return KILN_OK;
    if (!r)
        return kn_error_memory("a capture");
    kiln_status status = tie_to_graph(r, stream);
    if (status != KILN_OK)
        kn_capture_drop_reference(r);
    return status;
}
