/* Captures. Each has a record, listed from its beginning until its graph and all instances of that are gone.
 * The record of a capture that somebody else began is tied to the graph by a user object of the driver, whose
 * destructor may not call the driver: such records are marked, and reaped later. */
#include "device/capture.h"

#include <sched.h>

#include <kiln/graph.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/lock.h"
#include "device/pool.h"

static struct {
    kn_capture *records;   /* under KN_LOCK_CAPTURES */
    _Atomic int dead;      /* records whose last reference went where the driver could not be called */
    pthread_key_t leaving; /* set in threads that have begun a capture */
    bool has_key;
} captures;

_Atomic int kn_captures_open;

/* ---- records ---- */

/* What the parent captured is lost, and its list may have been in the middle of a change. */
static void forget_in_child(void)
{
    captures.records = NULL;
    atomic_store(&captures.dead, 0);
    atomic_store(&kn_captures_open, 0);
}

__attribute__((constructor)) static void register_fork(void)
{
    kn_fork_on_child(forget_in_child);
}

static kn_capture *find_record(uint64_t id)
{
    kn_capture *r = captures.records;
    while (r && r->id != id)
        r = r->next;
    return r;
}

/* The open capture that was begun on the stream. An invalidated capture has no number any more: so it is not
 * by that that it is found. */
static kn_capture *find_origin(const kn_device *device, const void *stream)
{
    kn_capture *r = captures.records;
    while (r && !(r->is_open && r->device == device && r->origin == stream))
        r = r->next;
    return r;
}

static kn_capture *new_record(kn_device *device, uint64_t id, bool is_foreign)
{
    kn_capture *r = kn_calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->device = device;
    r->id = id;
    r->is_foreign = is_foreign;
    atomic_init(&r->references, 1);
    r->run_lock = KN_LOCK_GRAPH_RUNS + (kn_lock)kn_device_slot(device->id);
    r->next = captures.records;
    captures.records = r;
    return r;
}

void kn_capture_add_reference(kn_capture *r)
{
    atomic_fetch_add(&r->references, 1);
}

static void release_all(kn_held *h)
{
    for (kn_held *next; h; h = next) {
        kn_held *ours = h->is_embedded ? NULL : h;
        next = h->next;
        h->release(h->object);
        kn_free(ours);
    }
}

/* Memory of other devices in the same graph knows nothing of our events: their work is waited for. */
static void end_lanes_elsewhere(const kn_capture *r)
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

/* The stream of the last run is gone: the default stream waits for the run in its place. While a capture has
 * made the default stream unusable the run is waited for here. */
static void settle_last_run(kn_capture *r)
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

/* The record is out of the list, and nobody else has it. */
static void end_record(kn_capture *r)
{
    kn_error_state before;
    kn_error_save(&before);
    settle_last_run(r);
    end_lanes_elsewhere(r);
    kn_pool_capture_ends(r->device->pool, r->id, r->was_launched, r->last_stream);
    release_all(r->until_end);
    release_all(r->held);
    kn_free(r);
    kn_error_restore(&before);
}

static void unlink_record(kn_capture *r)
{
    kn_capture **link = &captures.records;
    while (*link != r)
        link = &(*link)->next;
    *link = r->next;
}

void kn_capture_drop_reference(kn_capture *r)
{
    if (kn_device_is_lost(r->device))
        return;
    kn_lock_take(KN_LOCK_CAPTURES);
    bool is_last = atomic_fetch_sub(&r->references, 1) == 1;
    if (is_last)
        unlink_record(r);
    kn_lock_give(KN_LOCK_CAPTURES);
    if (is_last)
        end_record(r);
}

/* ---- what a capture does not allow ---- */

/* Whether the thread has begun a capture that is not over; prepared: such a one alone. */
static bool captures_here(bool prepared)
{
    if (!kn_capture_is_any_open())
        return false;
    kn_lock_take(KN_LOCK_CAPTURES);
    kn_capture *r = captures.records;
    while (r && !(r->is_open && (r->is_prepared || !prepared) && pthread_equal(r->thread, pthread_self())))
        r = r->next;
    kn_lock_give(KN_LOCK_CAPTURES);
    return r;
}

kiln_status kn_capture_forbids(const char *what)
{
    if (!captures_here(false))
        return KILN_OK;
    return kn_error(KILN_ERROR_CAPTURE,
                    "%s while this thread captures a stream; do it before kiln_capture_begin", what);
}

kiln_status kn_capture_forbids_code(void)
{
    if (!captures_here(true))
        return KILN_OK;
    return kn_error(
        KILN_ERROR_CAPTURE,
        "code cannot be loaded while this thread captures a stream with KILN_CAPTURE_PREPARED; do "
        "it before the capture begins, or capture without that flag");
}

bool kn_capture_is_prepared(uint64_t capture)
{
    if (!kn_capture_is_any_open())
        return false;
    kn_lock_take(KN_LOCK_CAPTURES);
    kn_capture *r = find_record(capture);
    bool is_prepared = r && r->is_prepared;
    kn_lock_give(KN_LOCK_CAPTURES);
    return is_prepared;
}

kiln_status kn_capture_forbids_device(const kn_device *device, const char *what)
{
    char name[24];
    if (!kn_capture_is_any_open())
        return KILN_OK;
    kn_lock_take(KN_LOCK_CAPTURES);
    kn_capture *r = captures.records;
    while (r && !(r->is_open && r->device == device))
        r = r->next;
    bool is_ours = r && pthread_equal(r->thread, pthread_self());
    kn_lock_give(KN_LOCK_CAPTURES);
    if (!r)
        return KILN_OK;
    kiln_device_name(device->id, name, sizeof name);
    return kn_error(KILN_ERROR_CAPTURE,
                    "%s while %s captures a stream of %s, whose capture that would spoil; do it before "
                    "kiln_capture_begin or after kiln_capture_end",
                    what, is_ours ? "this thread" : "another thread", name);
}

/* ---- what waits for the end of a capture ---- */

/* An open capture of the device, else one that others began, of which kiln does not see the end: there the
 * object stays until the graph is gone. */
static kn_capture *capture_of_device(const kn_device *device)
{
    kn_capture *foreign = NULL;
    for (kn_capture *r = captures.records; r; r = r->next) {
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

/* ---- captures that others began ---- */

/* In a thread of the driver's: no locks, no calls. */
static void graph_is_gone(void *record)
{
    if (atomic_fetch_sub(&((kn_capture *)record)->references, 1) == 1)
        atomic_fetch_add(&captures.dead, 1);
}

static kn_capture *take_dead(void)
{
    kn_lock_take(KN_LOCK_CAPTURES);
    kn_capture *r = captures.records;
    while (r && atomic_load(&r->references) > 0)
        r = r->next;
    if (r) {
        unlink_record(r);
        atomic_fetch_sub(&captures.dead, 1);
    }
    kn_lock_give(KN_LOCK_CAPTURES);
    return r;
}

void kn_capture_reap(void)
{
    while (atomic_load_explicit(&captures.dead, memory_order_relaxed) > 0) {
        kn_capture *r = take_dead();
        if (!r)
            return;
        end_record(r);
    }
}

static kiln_status say_spoilt(void)
{
    return kn_error(KILN_ERROR_CAPTURE,
                    "the capture of the stream was spoilt by a call that cannot be captured; end it");
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
        status = say_spoilt();
    if (status == KILN_OK)
        status = KN_CU(UserObjectCreate, &object, r, graph_is_gone, 1, KN_CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    if (status == KILN_OK) {
        kn_capture_add_reference(r); /* kept while the object may be destroyed under our hands */
        status = KN_CU(GraphRetainUserObject, graph, object, 1, KN_CU_GRAPH_USER_OBJECT_MOVE);
        if (status != KILN_OK) {
            kn_error_state before;
            kn_error_save(&before);
            kn_cuda.UserObjectRelease(object, 1);
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
    bool is_known = find_record(capture);
    kn_capture *r = is_known ? NULL : new_record(device, capture, true);
    kn_lock_give(KN_LOCK_CAPTURES);
    if (is_known)
        return KILN_OK;
    if (!r)
        return kn_error_memory(sizeof *r, "a capture");
    kiln_status status = tie_to_graph(r, stream);
    if (status != KILN_OK)
        kn_capture_drop_reference(r);
    return status;
}

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
    status = id ? kn_capture_meet(device, stream, id) : say_spoilt();
    if (status != KILN_OK)
        return status;
    kn_held *h = kn_malloc(sizeof *h);
    if (!h)
        return kn_error_memory(sizeof *h, "a capture");
    kn_lock_take(KN_LOCK_CAPTURES);
    kn_capture *r = find_record(id);
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
    release_all(waiting);
}

/* Ends what the driver has begun; the graph, where there is one, is destroyed. */
static void discard(kn_device *device, void *stream)
{
    kn_error_state before;
    kn_cu_graph graph = NULL;
    bool pushed;
    kn_error_save(&before);
    if (kn_cuda_enter(device, &pushed) == KILN_OK) {
        if (kn_cuda.StreamEndCapture(stream, &graph) == KN_CU_SUCCESS && graph)
            kn_cuda.GraphDestroy(graph);
        kn_cuda_leave(pushed);
    }
    kn_error_restore(&before);
}

/* Why there is no capture to be ended on the stream. */
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
    kn_capture *r = id ? find_record(id) : NULL;
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
    kn_capture *r = *out = find_origin(device, stream);
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
    status = kn_cuda_check(kn_cuda.StreamEndCapture(stream, out), "cuStreamEndCapture");
    kn_cuda_leave(pushed);
    if (status == KILN_OK && !*out)
        return say_spoilt();
    return status == KILN_ERROR_CAPTURE
               ? kn_error_context("the capture was spoilt by a call that cannot be captured")
               : status;
}

/* Whether the stream is in capture still, after a failing end. */
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

bool kn_capture_stream_leaves(kiln_stream *leaving, void (*release)(void *object))
{
    kn_device *device = leaving->device;
    void *stream = leaving->native;
    bool is_member = false;
    kn_error_state before;
    if (device->backend->kind != KN_CUDA)
        return false;
    kn_error_save(&before);
    kn_lock_take(KN_LOCK_CAPTURES);
    kn_capture *r = find_origin(device, stream);
    kn_lock_give(KN_LOCK_CAPTURES);
    if (r)
        abandon(r);
    else if (device->backend->stream_is_capturing(device, stream, &is_member, NULL) != KILN_OK)
        is_member = false;
    kn_error_restore(&before);
    return is_member && kn_capture_defer(device, &leaving->held, release, leaving);
}

/* A thread has ended. Nobody else may end its captures. */
static void thread_ends(void *unused)
{
    kn_capture *r;
    (void)unused;
    do {
        kn_lock_take(KN_LOCK_CAPTURES);
        for (r = captures.records; r && !(r->is_open && pthread_equal(r->thread, pthread_self()));)
            r = r->next;
        kn_lock_give(KN_LOCK_CAPTURES);
        if (r)
            abandon(r);
    } while (r);
}

static void make_key(void)
{
    captures.has_key = pthread_key_create(&captures.leaving, thread_ends) == 0;
}

/* The library's code may be gone before the threads are. */
__attribute__((destructor)) static void delete_key(void)
{
    if (captures.has_key)
        pthread_key_delete(captures.leaving);
    captures.has_key = false;
}

/* ---- the beginning ---- */

/* A stream that was destroyed behind our back took its capture with it, and its handle may be another's
 * now. */
static void forget_stale(const kn_device *device, const void *stream)
{
    kn_lock_take(KN_LOCK_CAPTURES);
    kn_capture *r = find_origin(device, stream);
    kn_lock_give(KN_LOCK_CAPTURES);
    if (!r)
        return;
    close_record(r);
    kn_capture_drop_reference(r);
}

static void open_record(kn_capture *r, void *stream)
{
    if (captures.has_key)
        pthread_setspecific(captures.leaving, &captures);
    r->origin = stream;
    r->thread = pthread_self();
    r->is_open = true;
    atomic_fetch_add(&kn_captures_open, 1);
}

static atomic_bool is_key_made;

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
    kn_capture *r = new_record(device, id, false);
    kn_lock_give(KN_LOCK_CAPTURES);
    if (!r)
        return kn_error_memory(sizeof *r, "a capture");
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
    kn_capture_stream_ends(device, stream);
    kn_capture_stream_ends(device, NULL);
    if ((status = kn_cuda_enter(device, &pushed)) != KILN_OK)
        return status;
    /* thread-local: what other threads do meanwhile is their own affair */
    status = KN_CU(StreamBeginCapture, stream, KN_CU_CAPTURE_MODE_THREAD_LOCAL);
    kn_cuda_leave(pushed);
    if (status != KILN_OK)
        return status;
    status = list_capture(device, stream, flags & KILN_CAPTURE_PREPARED);
    if (status != KILN_OK)
        discard(device, stream);
    return status;
}

/* ---- runs of graphs on a stream that ends ---- */

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

void kn_capture_stream_ends(kn_device *device, void *stream)
{
    kn_error_state before;
    if (device->backend->kind != KN_CUDA || kn_device_is_lost(device))
        return;
    kn_error_save(&before);
    kn_lock_take(KN_LOCK_CAPTURES);
    for (kn_capture *r = captures.records; r; r = r->next)
        if (r->device == device) {
            kn_lock_take(r->run_lock);
            last_run_outlives_stream(r, stream);
            kn_lock_give(r->run_lock);
        }
    kn_lock_give(KN_LOCK_CAPTURES);
    kn_error_restore(&before);
}
