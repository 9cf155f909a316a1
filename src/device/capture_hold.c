/* Objects that a captured graph uses: their release is put off until the graph is gone. */
#include "device/capture_hold.h"

#include "base/alloc.h"
#include "base/error.h"
#include "device/capture_forbid.h"
#include "device/capture_foreign.h"

kiln_status kn_capture_hold(kn_device *device, void *stream, void (*release)(void *), void *object,
                            bool *taken)
{
    uint64_t id = 0;
    *taken = false;
    if (device->backend->kind != KN_CUDA)
        return KILN_OK;
    kiln_status status = device->backend->stream_is_capturing(device, stream, taken, &id);
    if (status != KILN_OK || !*taken)
        return status;
    *taken = false;
    status = id ? kn_capture_meet(device, stream, id) : kn_capture_say_spoilt();
    if (status != KILN_OK)
        return status;
    kn_held *h = kn_malloc(sizeof *h);
    if (!h)
        return kn_error_memory("a capture");
    kn_lock_take(KN_LOCK_CAPTURES);
    kn_capture *r = kn_capture_find(id);
    if (r) {
        *h = (kn_held){r->held, release, object, false};
        r->held = h;
    }
    kn_lock_give(KN_LOCK_CAPTURES);
    *taken = r;
    if (!r)
        kn_free(h);
    return r ? KILN_OK : kn_error(KILN_ERROR_CAPTURE, "the capture of the stream ended meanwhile");
}

/* An open capture of the device, else one that other code began, whose end kiln does not see: it holds the
 * object until the graph is gone. */
static kn_capture *capture_of_device(const kn_device *device)
{
    kn_capture *foreign = NULL;
    for (kn_capture *r = kn_captures; r; r = r->next) {
        if (r->device == device && r->is_open)
            return r;
        if (r->device == device && r->is_foreign && atomic_load(&r->references) > 0)
            foreign = r;
    }
    return foreign;
}

static bool put_off(kn_capture *r, kn_held *h)
{
    if (!r)
        return false;
    kn_held **list = r->is_open ? &r->until_end : &r->held;
    h->next = *list;
    *list = h;
    return true;
}

bool kn_capture_defer(kn_device *device, kn_held *held, void (*release)(void *object), void *object)
{
    *held = (kn_held){NULL, release, object, true};
    kn_lock_take(KN_LOCK_CAPTURES);
    bool done = put_off(capture_of_device(device), held);
    kn_lock_give(KN_LOCK_CAPTURES);
    return done;
}
