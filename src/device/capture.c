/* Captures of a stream's work into a graph: their beginning and end. */
#include "device/capture.h"

#include <kiln/graph.h>

#include "base/error.h"
#include "base/lock.h"
#include "base/shortage.h"
#include "device/capture_forbid.h"
#include "device/capture_foreign.h"
#include "device/capture_hold.h"
#include "device/capture_record.h"
#include "device/cuda_context.h"
#include "device/graph_run.h"
#include "device/pool.h"

static struct {
    pthread_key_t leaving; /* set in threads that have begun a capture */
    bool has_key;
} key;
static atomic_bool is_key_made;

/* ---- the end ---- */

/* The capture is over: its record is a graph's, or about to be dropped. */
static void close_record(kn_capture *r)
{
    kn_lock_take(KN_LOCK_CAPTURES);
    kn_held *waiting = r->until_end;
    if (r->is_open)
        atomic_fetch_sub(&kn_captures_open, 1);
    r->is_open = false;
    r->until_end = NULL;
    kn_lock_give(KN_LOCK_CAPTURES);
    kn_capture_release_held(waiting);
}

/* Ends a capture that the driver has begun, and destroys its graph, if there is one. */
static void discard(kn_device *device, void *stream)
{
    kn_error_state before;
    kn_cu_graph graph = NULL;
    bool pushed;
    kn_error_save(&before);
    if (kn_cuda_enter(device, &pushed) == KILN_OK) {
        if (KN_CU_CALL(StreamEndCapture, stream, &graph) == KN_CU_SUCCESS && graph)
            KN_CU_CALL(GraphDestroy, graph);
        kn_cuda_leave(pushed);
    }
    kn_error_restore(&before);
}

/* The error for a stream that has no capture to end. */
static kiln_status explain_missing(kn_device *device, void *stream)
{
    bool is_active = false;
    uint64_t id = 0;
    kiln_status status = device->backend->stream_is_capturing(device, stream, &is_active, &id);
    if (status != KILN_OK)
        return status;
    if (!is_active)
        return kn_error(KILN_ERROR_CAPTURE, "the stream is not being captured");
    kn_lock_take(KN_LOCK_CAPTURES);
    kn_capture *r = id ? kn_capture_find(id) : NULL;
    bool is_ours = r && r->is_open;
    kn_lock_give(KN_LOCK_CAPTURES);
    return kn_error(KILN_ERROR_CAPTURE, is_ours ? "the stream has joined a capture that was begun on another "
                                                  "stream; end it there"
                                                : "the capture was not begun by kiln_capture_begin on this "
                                                  "stream; end it where it was begun");
}

static kiln_status find_ours(kn_capture **out, kn_device *device, void *stream)
{
    kn_lock_take(KN_LOCK_CAPTURES);
    kn_capture *r = *out = kn_capture_find_origin(device, stream);
    bool is_here = r && pthread_equal(r->thread, pthread_self());
    kn_lock_give(KN_LOCK_CAPTURES);
    if (!r)
        return explain_missing(device, stream);
    if (!is_here) /* the driver would refuse, and spoil it */
        return kn_error(KILN_ERROR_CAPTURE, "a capture has to be ended by the thread that began it");
    return KILN_OK;
}

static kiln_status end_native(kn_device *device, void *stream, kn_cu_graph *out)
{
    bool pushed;
    kiln_status status = kn_cuda_enter(device, &pushed);
    if (status != KILN_OK)
        return status;
    status = kn_cuda_check(KN_CU_CALL(StreamEndCapture, stream, out), "cuStreamEndCapture");
    kn_cuda_leave(pushed);
    if (status == KILN_OK && !*out)
        return kn_capture_say_spoilt();
    return status == KILN_ERROR_CAPTURE
               ? kn_error_context("the capture was spoilt by a call that cannot be captured")
               : status;
}

/* True if the stream is still captured after a failing end. */
static bool goes_on(kn_device *device, void *stream)
{
    bool is_active = false;
    kn_error_state failure;
    kn_error_save(&failure);
    bool is_known = device->backend->stream_is_capturing(device, stream, &is_active, NULL) == KILN_OK;
    kn_error_restore(&failure);
    return is_known && is_active;
}

kiln_status kn_capture_end(kn_capture **capture, kn_cu_graph *graph, kn_device *device, void *stream)
{
    kn_capture *r = NULL;
    kn_cu_graph found = NULL;
    kiln_status status = find_ours(&r, device, stream);
    if (status != KILN_OK)
        return status;
    status = end_native(device, stream, &found);
    if (status != KILN_OK && goes_on(device, stream)) /* nothing has changed: it can be ended again */
        return status;
    close_record(r);
    if (status == KILN_OK) {
        *capture = r;
        *graph = found;
    } else {
        kn_capture_drop_reference(r);
    }
    return status;
}

/* Only the thread that began a capture can end it: where that is another one the driver ends it with its
 * stream. */
static void abandon(kn_capture *r)
{
    if (pthread_equal(r->thread, pthread_self()))
        discard(r->device, r->origin);
    close_record(r);
    kn_capture_drop_reference(r);
}

bool kn_capture_stream_leaves(kn_device *device, void *stream, kn_held *held, void (*release)(void *object),
                              void *object)
{
    bool is_member = false;
    kn_error_state before;
    if (device->backend->kind != KN_CUDA)
        return false;
    kn_error_save(&before);
    kn_lock_take(KN_LOCK_CAPTURES);
    kn_capture *r = kn_capture_find_origin(device, stream);
    kn_lock_give(KN_LOCK_CAPTURES);
    if (r)
        abandon(r);
    else if (device->backend->stream_is_capturing(device, stream, &is_member, NULL) != KILN_OK)
        is_member = false;
    kn_error_restore(&before);
    return is_member && kn_capture_defer(device, held, release, object);
}

/* A thread has ended. Nobody else may end its captures. */
static void thread_ends(void *unused)
{
    kn_capture *r;
    (void)unused;
    do {
        kn_lock_take(KN_LOCK_CAPTURES);
        r = kn_capture_find_here(false);
        kn_lock_give(KN_LOCK_CAPTURES);
        if (r)
            abandon(r);
    } while (r);
}

static void make_key(void)
{
    int reason = pthread_key_create(&key.leaving, thread_ends);
    kn_shortage_note(reason);
    key.has_key = reason == 0;
}

/* The library's code may be gone before the threads are. */
__attribute__((destructor)) static void delete_key(void)
{
    if (key.has_key)
        pthread_key_delete(key.leaving);
    key.has_key = false;
}

/* ---- the beginning ---- */

/* A stream that was destroyed behind our back took its capture with it, and its handle may be another's
 * now. */
static void forget_stale(const kn_device *device, const void *stream)
{
    kn_lock_take(KN_LOCK_CAPTURES);
    kn_capture *r = kn_capture_find_origin(device, stream);
    kn_lock_give(KN_LOCK_CAPTURES);
    if (!r)
        return;
    close_record(r);
    kn_capture_drop_reference(r);
}

static void open_record(kn_capture *r, void *stream)
{
    if (key.has_key)
        pthread_setspecific(key.leaving, &key);
    r->origin = stream;
    r->thread = pthread_self();
    r->is_open = true;
    atomic_fetch_add(&kn_captures_open, 1);
}

/* Lists the capture that was just begun on the stream, so that the pools know whose memory is taken from now
 * on. */
static kiln_status list_capture(kn_device *device, void *stream, bool is_prepared)
{
    bool is_active = false;
    uint64_t id = 0;
    kiln_status status = device->backend->stream_is_capturing(device, stream, &is_active, &id);
    if (status == KILN_OK && !is_active)
        status = kn_error(KILN_ERROR_INTERNAL, "the capture did not begin");
    if (status != KILN_OK)
        return status;
    forget_stale(device, stream);
    kn_lock_once(&is_key_made, KN_LOCK_CAPTURES, make_key);
    kn_lock_take(KN_LOCK_CAPTURES);
    kn_capture *r = kn_capture_list(device, id, false);
    kn_lock_give(KN_LOCK_CAPTURES);
    if (!r)
        return kn_error_memory("a capture");
    status = kn_pool_capture_begins(device->pool, stream, id);
    if (status != KILN_OK) {
        kn_capture_drop_reference(r);
        return status;
    }
    kn_lock_take(KN_LOCK_CAPTURES);
    r->is_prepared = is_prepared;
    open_record(r, stream);
    kn_lock_give(KN_LOCK_CAPTURES);
    return KILN_OK;
}

kiln_status kn_capture_begin(kn_device *device, void *stream, unsigned flags)
{
    bool pushed, is_active = false;
    kn_capture_reap();
    kiln_status status = device->backend->stream_is_capturing(device, stream, &is_active, NULL);
    if (status == KILN_OK && is_active)
        status = kn_error(KILN_ERROR_CAPTURE, "the stream is being captured already; end that capture first");
    if (status != KILN_OK)
        return status;
    /* events behind the last runs of graphs cannot be had on a stream that is captured, nor on the default
     * stream while a stream is captured that waits for it */
    kn_graph_run_stream_ends(device, stream);
    kn_graph_run_stream_ends(device, NULL);
    if ((status = kn_cuda_enter(device, &pushed)) != KILN_OK)
        return status;
    /* thread-local: other threads may do anything meanwhile */
    status = KN_CU(StreamBeginCapture, stream, KN_CU_CAPTURE_MODE_THREAD_LOCAL);
    kn_cuda_leave(pushed);
    if (status != KILN_OK)
        return status;
    status = list_capture(device, stream, flags & KILN_CAPTURE_PREPARED);
    if (status != KILN_OK)
        discard(device, stream);
    return status;
}
