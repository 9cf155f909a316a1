/* Runs of graphs: a graph waits for its last run. */
#include "device/graph_run.h"

#include <sched.h>

#include "base/error.h"
#include "device/lost.h"

kiln_status kn_graph_run_wait(kn_capture *r, void *stream)
{
    kn_device *device = r->device;
    void *event = r->last_event;
    if (!r->was_launched || (!event && r->last_stream == stream))
        return KILN_OK;
    kiln_status status = event ? KILN_OK : device->backend->event_create(device, 0, &event);
    if (status == KILN_OK && !r->last_event)
        status = device->backend->event_record(device, event, r->last_stream);
    if (status == KILN_OK)
        status = device->backend->stream_wait_event(device, stream, event);
    if (event && (status == KILN_OK || event != r->last_event)) {
        device->backend->event_destroy(device, event);
        r->last_event = NULL;
    }
    return status;
}

static void last_run_outlives_stream(kn_capture *r, void *stream)
{
    const kn_backend *backend = r->device->backend;
    if (!r->was_launched || r->last_event || r->last_stream != stream)
        return;
    r->last_stream = NULL;
    if (backend->event_create(r->device, 0, &r->last_event) == KILN_OK &&
        backend->event_record(r->device, r->last_event, stream) == KILN_OK)
        return;
    backend->stream_synchronize(r->device, stream);
    if (r->last_event)
        backend->event_destroy(r->device, r->last_event);
    r->last_event = NULL;
    r->was_launched = false;
}

void kn_graph_run_stream_ends(kn_device *device, void *stream)
{
    kn_error_state before;
    if (device->backend->kind != KN_CUDA || kn_device_is_lost(device))
        return;
    kn_error_save(&before);
    kn_lock_take(KN_LOCK_CAPTURES);
    for (kn_capture *r = kn_captures; r; r = r->next)
        if (r->device == device) {
            kn_lock_take(r->run_lock);
            last_run_outlives_stream(r, stream);
            kn_lock_give(r->run_lock);
        }
    kn_lock_give(KN_LOCK_CAPTURES);
    kn_error_restore(&before);
}

void kn_graph_run_settle(kn_capture *r)
{
    const kn_backend *backend = r->device->backend;
    bool done = false;
    if (!r->last_event)
        return;
    if (backend->stream_wait_event(r->device, NULL, r->last_event) != KILN_OK) {
        while (backend->event_query(r->device, r->last_event, &done) == KILN_OK && !done)
            sched_yield();
        r->was_launched = false;
    }
    backend->event_destroy(r->device, r->last_event);
    r->last_stream = NULL;
}
