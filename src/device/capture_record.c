/* The record of one capture: its references, and the objects that it holds. */
#include "device/capture_record.h"

#include <sched.h>

#include "base/alloc.h"
#include "base/error.h"
#include "device/device_table.h"
#include "device/graph_run.h"
#include "device/lost.h"
#include "device/pool.h"

void kn_capture_add_reference(kn_capture *r)
{
    atomic_fetch_add(&r->references, 1);
}

void kn_capture_release_held(kn_held *h)
{
    for (kn_held *next; h; h = next) {
        kn_held *ours = h->is_embedded ? NULL : h;
        next = h->next;
        h->release(h->object);
        kn_free(ours);
    }
}

/* Memory of other devices in the same graph knows nothing of our events: their work is waited for. */
static void end_arenas_elsewhere(const kn_capture *r)
{
    bool done = !r->was_launched;
    for (int slot = 1; slot <= KN_CUDA_DEVICES_MAX; slot++) {
        kn_device *device = kn_device_ready(slot);
        if (!device || device == r->device)
            continue;
        while (!done && r->device->backend->stream_query(r->device, r->last_stream, &done) == KILN_OK &&
               !done)
            sched_yield();
        done = true;
        kn_pool_capture_ends(device->pool, r->id, false, NULL);
    }
}

void kn_capture_end_record(kn_capture *r)
{
    kn_error_state before;
    kn_error_save(&before);
    kn_graph_run_settle(r);
    end_arenas_elsewhere(r);
    kn_pool_capture_ends(r->device->pool, r->id, r->was_launched, r->last_stream);
    kn_capture_release_held(r->until_end);
    kn_capture_release_held(r->held);
    kn_free(r);
    kn_error_restore(&before);
}

void kn_capture_drop_reference(kn_capture *r)
{
    if (kn_device_is_lost(r->device))
        return;
    kn_lock_take(KN_LOCK_CAPTURES);
    bool is_last = atomic_fetch_sub(&r->references, 1) == 1;
    if (is_last)
        kn_capture_unlist(r);
    kn_lock_give(KN_LOCK_CAPTURES);
    if (is_last)
        kn_capture_end_record(r);
}
