/* Captures and graphs. A capture has a record, shared by its graph and the instances, which knows what the
 * graph holds: its lanes in the pools by the capture's number, and a list of objects. The record of a capture
 * that somebody else began is tied to the graph by a user object of the driver, whose destructor may not call
 * the driver: such records are marked, and reaped later. */
#include <kiln/graph.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/error.h"
#include "device/cuda.h"
#include "device/pool.h"

typedef struct held_object {
    struct held_object *next;
    void (*release)(void *object);
    void *object;
} held_object;

typedef struct capture_record {
    struct capture_record *next;
    kn_device *device;
    uint64_t id;
    bool is_foreign; /* kiln did not begin it */
    _Atomic int
        references; /* all but the driver's destructor take one away under the lock, and unlink the record where it was the last */
    held_object *held;
    pthread_mutex_t run_lock; /* the fields below: runs are queued one by one */
    bool was_launched;
    void *last_stream; /* where a run was queued last ... */
    void *last_event;  /* ... or, once that stream is gone, an event behind it */
} capture_record;

struct kiln_graph {
    kn_cu_graph native;
    capture_record *record;
};

struct kiln_graph_exec {
    kn_cu_graph_exec native;
    capture_record *record;
};

static struct {
    pthread_mutex_t lock;
    capture_record *records;
    _Atomic int dead; /* records whose last reference went where the driver could not be called */
} captures = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local int open_here; /* captures that this thread has begun */

kiln_status kn_capture_forbids(const char *what)
{
    if (open_here == 0)
        return KILN_OK;
    return kn_error(KILN_ERROR_CAPTURE,
                    "%s while this thread captures a stream; do it before kiln_capture_begin", what);
}

/* ---- records ---- */

static capture_record *find_record(uint64_t id)
{
    capture_record *r = captures.records;
    while (r && r->id != id)
        r = r->next;
    return r;
}

static capture_record *new_record(kn_device *device, uint64_t id, bool is_foreign)
{
    capture_record *r = kn_calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->device = device;
    r->id = id;
    r->is_foreign = is_foreign;
    atomic_init(&r->references, 1);
    pthread_mutex_init(&r->run_lock, NULL);
    r->next = captures.records;
    captures.records = r;
    return r;
}

static void add_reference(capture_record *r)
{
    atomic_fetch_add(&r->references, 1);
}

/* Memory of other devices in the same graph knows nothing of our events: their work is waited for. */
static void end_lanes_elsewhere(const capture_record *r)
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

/* The record is out of the list, and nobody else has it. */
static void end_record(capture_record *r)
{
    const kn_backend *backend = r->device->backend;
    kn_error_state before;
    kn_error_save(&before);
    if (r->last_event) { /* its stream is gone: the default stream waits for it in its place */
        backend->stream_wait_event(r->device, NULL, r->last_event);
        backend->event_destroy(r->device, r->last_event);
        r->last_stream = NULL;
    }
    end_lanes_elsewhere(r);
    kn_pool_capture_ends(r->device->pool, r->id, r->was_launched, r->last_stream);
    for (held_object *h = r->held, *next; h; h = next) {
        next = h->next;
        h->release(h->object);
        kn_free(h);
    }
    pthread_mutex_destroy(&r->run_lock);
    kn_free(r);
    kn_error_restore(&before);
}

static void unlink_record(capture_record *r)
{
    capture_record **link = &captures.records;
    while (*link != r)
        link = &(*link)->next;
    *link = r->next;
}

static void drop_reference(capture_record *r)
{
    pthread_mutex_lock(&captures.lock);
    bool is_last = atomic_fetch_sub(&r->references, 1) == 1;
    if (is_last)
        unlink_record(r);
    pthread_mutex_unlock(&captures.lock);
    if (is_last)
        end_record(r);
}

/* ---- captures that others began ---- */

/* In a thread of the driver's: no locks, no calls. */
static void graph_is_gone(void *record)
{
    if (atomic_fetch_sub(&((capture_record *)record)->references, 1) == 1)
        atomic_fetch_add(&captures.dead, 1);
}

static capture_record *take_dead(void)
{
    pthread_mutex_lock(&captures.lock);
    capture_record *r = captures.records;
    while (r && atomic_load(&r->references) > 0)
        r = r->next;
    if (r) {
        unlink_record(r);
        atomic_fetch_sub(&captures.dead, 1);
    }
    pthread_mutex_unlock(&captures.lock);
    return r;
}

void kn_capture_reap(void)
{
    while (atomic_load_explicit(&captures.dead, memory_order_relaxed) > 0) {
        capture_record *r = take_dead();
        if (!r)
            return;
        end_record(r);
    }
}

/* Ties the record's reference to the graph that is being captured. */
static kiln_status tie_to_graph(capture_record *r, void *stream)
{
    kn_cu_graph graph = NULL;
    kn_cu_user_object object = NULL;
    int state = 0;
    bool pushed;
    kiln_status status = kn_cuda_enter(r->device, &pushed);
    if (status != KILN_OK)
        return status;
    status = KN_CU(StreamGetCaptureInfo, stream, &state, NULL, &graph, NULL, NULL);
    if (status == KILN_OK && !graph)
        status = kn_error(KILN_ERROR_CAPTURE, "the capture of the stream is spoilt");
    if (status == KILN_OK)
        status = KN_CU(UserObjectCreate, &object, r, graph_is_gone, 1, KN_CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    if (status == KILN_OK) {
        add_reference(r); /* kept while the object may be destroyed under our hands */
        status = KN_CU(GraphRetainUserObject, graph, object, 1, KN_CU_GRAPH_USER_OBJECT_MOVE);
        if (status != KILN_OK) {
            kn_error_state before;
            kn_error_save(&before);
            kn_cuda.UserObjectRelease(object, 1);
            kn_error_restore(&before);
        } else {
            drop_reference(r);
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
    pthread_mutex_lock(&captures.lock);
    bool is_known = find_record(capture);
    capture_record *r = is_known ? NULL : new_record(device, capture, true);
    pthread_mutex_unlock(&captures.lock);
    if (is_known)
        return KILN_OK;
    if (!r)
        return kn_error_memory(sizeof *r, "a capture");
    kiln_status status = tie_to_graph(r, stream);
    if (status != KILN_OK)
        drop_reference(r);
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
    if ((status = kn_capture_meet(device, stream, id)) != KILN_OK)
        return status;
    held_object *h = kn_malloc(sizeof *h);
    if (!h)
        return kn_error_memory(sizeof *h, "a capture");
    pthread_mutex_lock(&captures.lock);
    capture_record *r = find_record(id);
    if (r) {
        *h = (held_object){r->held, release, object};
        r->held = h;
    }
    pthread_mutex_unlock(&captures.lock);
    *taken = r;
    if (!r)
        kn_free(h);
    return r ? KILN_OK : kn_error(KILN_ERROR_CAPTURE, "the capture of the stream ended meanwhile");
}

/* ---- capturing ---- */

static kiln_status resolve(kiln_stream *stream, kn_device **device, void **native)
{
    kiln_device id = KILN_DEVICE_HOST;
    kiln_status status = kiln_stream_device(&id, stream);
    if (status == KILN_OK)
        status = kn_device_get(device, id);
    if (status == KILN_OK)
        status = kn_stream_native(native, *device, stream);
    if (status == KILN_OK && (*device)->backend->kind != KN_CUDA)
        status =
            kn_error(KILN_ERROR_UNSUPPORTED, "the host has no graphs: every call has run when it returns");
    return status;
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

/* Lists the capture that was just begun on the stream, so that the pools know whose memory is taken from now
 * on. */
static kiln_status list_capture(kn_device *device, void *stream)
{
    bool is_active = false;
    uint64_t id = 0;
    kiln_status status = device->backend->stream_is_capturing(device, stream, &is_active, &id);
    if (status == KILN_OK && !is_active)
        status = kn_error(KILN_ERROR_INTERNAL, "the capture did not begin");
    if (status != KILN_OK)
        return status;
    pthread_mutex_lock(&captures.lock);
    capture_record *r = new_record(device, id, false);
    pthread_mutex_unlock(&captures.lock);
    if (!r)
        return kn_error_memory(sizeof *r, "a capture");
    status = kn_pool_capture_begins(device->pool, stream, id);
    if (status != KILN_OK)
        drop_reference(r);
    return status;
}

kiln_status kiln_capture_begin(kiln_stream *stream)
{
    kn_device *device = NULL;
    void *native = NULL;
    bool pushed;
    kiln_status status = resolve(stream, &device, &native);
    if (status != KILN_OK)
        return status;
    if (!native)
        return kn_error(KILN_ERROR_INVALID,
                        "the default stream cannot be captured; make a stream of your own current");
    kn_capture_reap();
    if ((status = kn_cuda_enter(device, &pushed)) != KILN_OK)
        return status;
    /* thread-local: what other threads do meanwhile is their own affair */
    status = KN_CU(StreamBeginCapture, native, KN_CU_CAPTURE_MODE_THREAD_LOCAL);
    kn_cuda_leave(pushed);
    if (status != KILN_OK)
        return status;
    status = list_capture(device, native);
    if (status != KILN_OK)
        discard(device, native);
    else
        open_here++;
    return status;
}

/* The record of the capture in which the stream is; NULL, with the last error set, where kiln did not begin
 * one there. */
static capture_record *record_of(kn_device *device, void *stream)
{
    bool is_active = false;
    uint64_t id = 0;
    if (device->backend->stream_is_capturing(device, stream, &is_active, &id) != KILN_OK)
        return NULL;
    pthread_mutex_lock(&captures.lock);
    capture_record *r = is_active ? find_record(id) : NULL;
    pthread_mutex_unlock(&captures.lock);
    if (!r || r->is_foreign) {
        kn_error(KILN_ERROR_CAPTURE,
                 r ? "the capture was not begun by kiln_capture_begin" : "the stream is not being captured");
        return NULL;
    }
    return r;
}

static kiln_status end_capture(kn_device *device, void *stream, kn_cu_graph *out)
{
    bool pushed;
    kiln_status status = kn_cuda_enter(device, &pushed);
    if (status != KILN_OK)
        return status;
    kn_cu_result result = kn_cuda.StreamEndCapture(stream, out);
    kn_cuda_leave(pushed);
    status = kn_cuda_check(result, "cuStreamEndCapture");
    if (status == KILN_OK && !*out)
        status = kn_error(KILN_ERROR_CAPTURE, "the capture was spoilt by a call that cannot be captured");
    if (result == KN_CU_STREAM_CAPTURE_WRONG_THREAD)
        kn_error_context("a capture has to be ended by the thread that began it");
    return status;
}

kiln_status kiln_capture_end(kiln_graph **out, kiln_stream *stream)
{
    kn_device *device = NULL;
    void *native = NULL;
    bool is_active = false;
    kn_cu_graph graph = NULL;
    kiln_status status = resolve(stream, &device, &native);
    if (status != KILN_OK)
        return status;
    capture_record *record = record_of(device, native);
    if (!record)
        return kiln_error_status();
    kiln_graph *made = kn_calloc(1, sizeof *made);
    status = end_capture(device, native, &graph);
    kn_error_state failure;
    kn_error_save(&failure);
    bool goes_on = status != KILN_OK &&
                   device->backend->stream_is_capturing(device, native, &is_active, NULL) == KILN_OK &&
                   is_active;
    kn_error_restore(&failure);
    if (goes_on) { /* not ours to end, or not yet: nothing has changed */
        kn_free(made);
        return status;
    }
    open_here -= open_here > 0;
    if (status == KILN_OK && !made)
        status = kn_error_memory(sizeof *made, "a graph");
    if (status == KILN_OK)
        *made = (kiln_graph){graph, record};
    if (status == KILN_OK && out) {
        *out = made;
        return KILN_OK;
    }
    if (graph)
        kn_cuda.GraphDestroy(graph);
    drop_reference(record);
    kn_free(made);
    return status;
}

kiln_status kiln_capture_is_active(bool *out, kiln_stream *stream)
{
    kiln_device id = KILN_DEVICE_HOST;
    kn_device *device = NULL;
    void *native = NULL;
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "kiln_capture_is_active: out is NULL");
    kiln_status status = kiln_stream_device(&id, stream);
    if (status == KILN_OK)
        status = kn_device_get(&device, id);
    if (status == KILN_OK)
        status = kn_stream_native(&native, device, stream);
    return status == KILN_OK ? device->backend->stream_is_capturing(device, native, out, NULL) : status;
}

/* ---- graphs ---- */

kiln_status kiln_graph_instantiate(kiln_graph_exec **out, kiln_graph *graph)
{
    bool pushed;
    if (!out || !graph)
        return kn_error(KILN_ERROR_INVALID, "kiln_graph_instantiate: %s is NULL", out ? "graph" : "out");
    kiln_graph_exec *exec = kn_calloc(1, sizeof *exec);
    if (!exec)
        return kn_error_memory(sizeof *exec, "a graph's instance");
    kiln_status status = kn_cuda_enter(graph->record->device, &pushed);
    if (status == KILN_OK) {
        status = KN_CU(GraphInstantiate, &exec->native, graph->native, 0);
        kn_cuda_leave(pushed);
    }
    if (status != KILN_OK) {
        kn_free(exec);
        return status;
    }
    exec->record = graph->record;
    add_reference(exec->record);
    *out = exec;
    return KILN_OK;
}

/* The run before, where it was queued on another stream, has to be over: it uses the same memory. */
static kiln_status wait_for_last_run(capture_record *r, void *stream)
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

kiln_status kiln_graph_launch(kiln_graph_exec *exec, kiln_stream *stream)
{
    void *native = NULL;
    bool pushed;
    if (!exec)
        return kn_error(KILN_ERROR_INVALID, "kiln_graph_launch: exec is NULL");
    capture_record *r = exec->record;
    kiln_status status = kn_stream_native(&native, r->device, stream);
    if (status != KILN_OK)
        return status;
    if ((status = kn_cuda_enter(r->device, &pushed)) != KILN_OK)
        return status;
    pthread_mutex_lock(&r->run_lock);
    status = wait_for_last_run(r, native);
    if (status == KILN_OK)
        status = KN_CU(GraphLaunch, exec->native, native);
    if (status == KILN_OK) {
        r->was_launched = true;
        r->last_stream = native;
    }
    pthread_mutex_unlock(&r->run_lock);
    kn_cuda_leave(pushed);
    return status;
}

static void last_run_outlives_stream(capture_record *r, void *stream)
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
    if (device->backend->kind != KN_CUDA)
        return;
    kn_error_save(&before);
    pthread_mutex_lock(&captures.lock);
    for (capture_record *r = captures.records; r; r = r->next)
        if (r->device == device) {
            pthread_mutex_lock(&r->run_lock);
            last_run_outlives_stream(r, stream);
            pthread_mutex_unlock(&r->run_lock);
        }
    pthread_mutex_unlock(&captures.lock);
    kn_error_restore(&before);
}

void kiln_graph_free(kiln_graph *graph)
{
    if (!graph)
        return;
    kn_cuda.GraphDestroy(graph->native);
    drop_reference(graph->record);
    kn_free(graph);
}

void kiln_graph_exec_free(kiln_graph_exec *exec)
{
    if (!exec)
        return;
    kn_cuda.GraphExecDestroy(exec->native);
    drop_reference(exec->record);
    kn_free(exec);
}

kiln_status kiln_graph_node_count(size_t *out, kiln_graph *graph)
{
    if (!out || !graph)
        return kn_error(KILN_ERROR_INVALID, "kiln_graph_node_count: %s is NULL", out ? "graph" : "out");
    *out = 0;
    return KN_CU(GraphGetNodes, graph->native, NULL, out);
}

void *kiln_graph_cuda_handle(kiln_graph *graph)
{
    return graph ? graph->native : NULL;
}

void *kiln_graph_exec_cuda_handle(kiln_graph_exec *exec)
{
    return exec ? exec->native : NULL;
}

/* ---- all in one ---- */

static kiln_status capture_on(kiln_graph_exec **out, kiln_stream *stream, kiln_status (*body)(void *),
                              void *user)
{
    kiln_graph *graph = NULL;
    kiln_status status = kiln_capture_begin(stream), ended;
    if (status != KILN_OK)
        return status;
    status = body(user);
    kn_error_state failure;
    kn_error_save(&failure);
    ended = kiln_capture_end(status == KILN_OK ? &graph : NULL, stream);
    if (status != KILN_OK || ended == KILN_OK)
        kn_error_restore(
            &failure); /* the body's own error, or what was there before, is what the caller wants to see */
    if (status == KILN_OK)
        status = ended;
    if (status == KILN_OK)
        status = kiln_graph_instantiate(out, graph);
    kiln_graph_free(graph);
    return status;
}

kiln_status kiln_capture(kiln_graph_exec **out, kiln_stream *stream, kiln_status (*body)(void *user),
                         void *user)
{
    kiln_device device_before = KILN_DEVICE_DEFAULT;
    kiln_stream *own = NULL;
    if (!out || !body)
        return kn_error(KILN_ERROR_INVALID, "kiln_capture: %s is NULL", out ? "body" : "out");
    kiln_status status = kiln_device_current(&device_before);
    if (status == KILN_OK && !stream)
        status = kiln_stream_create(&own, KILN_DEVICE_DEFAULT, KILN_STREAM_NON_BLOCKING);
    if (status != KILN_OK)
        return status;
    stream = stream ? stream : own;
    kiln_device id = KILN_DEVICE_DEFAULT;
    kiln_stream_device(&id, stream);
    kiln_device_set_current(id);
    kiln_stream *stream_before = kiln_stream_set_current(stream);
    status = capture_on(out, stream, body, user);
    kiln_device_set_current(id);
    kiln_stream_set_current(stream_before);
    kiln_device_set_current(device_before);
    kiln_stream_free(own);
    return status;
}
