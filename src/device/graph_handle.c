/* Graphs: the results of captures, their instances and runs. capture.c has the captures. */
#include <kiln/graph.h>

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/sized.h"
#include "device/capture.h"
#include "device/capture_record.h"
#include "device/cuda_context.h"
#include "device/graph_run.h"
#include "device/registry.h"
#include "device/stream.h"

struct kiln_graph {
    kn_cu_graph native;
    kn_capture *record;
};

struct kiln_graph_exec {
    kn_cu_graph_exec native;
    kn_capture *record;
};

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

static kiln_status read_options(kiln_capture_options *out, const kiln_capture_options *given)
{
    *out = (kiln_capture_options)KILN_CAPTURE_OPTIONS_INIT;
    kiln_status status = kn_sized_read(out, sizeof *out, given, "options", "KILN_CAPTURE_OPTIONS_INIT");
    return status == KILN_OK ? kn_sized_check_flags(out->flags, KILN_CAPTURE_PREPARED, "KILN_CAPTURE")
                             : status;
}

kiln_status kiln_capture_begin(kiln_stream *stream)
{
    return kiln_capture_begin_with(stream, NULL);
}

kiln_status kiln_capture_begin_with(kiln_stream *stream, const kiln_capture_options *options)
{
    kn_device *device = NULL;
    void *native = NULL;
    kiln_capture_options o;
    kiln_status status = read_options(&o, options);
    if (status == KILN_OK)
        status = resolve(stream, &device, &native);
    if (status == KILN_OK && !native)
        status = kn_error(KILN_ERROR_INVALID,
                          "the default stream cannot be captured; make a stream of your own current");
    return status == KILN_OK ? kn_capture_begin(device, native, o.flags) : status;
}

static void destroy_graph(kn_device *device, kn_cu_graph graph)
{
    KN_CU_RELEASE(device, GraphDestroy, graph);
}

kiln_status kiln_capture_end(kiln_graph **out, kiln_stream *stream)
{
    kn_device *device = NULL;
    void *native = NULL;
    kn_capture *record = NULL;
    kn_cu_graph graph = NULL;
    kiln_status status = resolve(stream, &device, &native);
    if (status == KILN_OK)
        status = kn_capture_end(&record, &graph, device, native);
    if (status != KILN_OK)
        return status;
    kiln_graph *made = out ? kn_calloc(1, sizeof *made) : NULL;
    if (made) {
        *made = (kiln_graph){graph, record};
        *out = made;
        return KILN_OK;
    }
    destroy_graph(device, graph);
    kn_capture_drop_reference(record);
    return out ? kn_error_memory("a graph") : KILN_OK;
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
    kn_cuda_scope scope;
    if (!out || !graph)
        return kn_error(KILN_ERROR_INVALID, "kiln_graph_instantiate: %s is NULL", out ? "graph" : "out");
    kiln_graph_exec *exec = kn_calloc(1, sizeof *exec);
    if (!exec)
        return kn_error_memory("a graph's instance");
    kiln_status status =
        KN_CU_RELAXED(&scope, graph->record->device, GraphInstantiate, &exec->native, graph->native, 0);
    if (status != KILN_OK) {
        kn_free(exec);
        return status;
    }
    exec->record = graph->record;
    kn_capture_add_reference(exec->record);
    *out = exec;
    return KILN_OK;
}

kiln_status kiln_graph_launch(kiln_graph_exec *exec, kiln_stream *stream)
{
    void *native = NULL;
    bool pushed;
    if (!exec)
        return kn_error(KILN_ERROR_INVALID, "kiln_graph_launch: exec is NULL");
    kn_capture *r = exec->record;
    kiln_status status = kn_stream_native(&native, r->device, stream);
    if (status == KILN_OK) /* the previous run cannot be waited for, nor can this one's memory be held */
        status = kn_cuda_check_stream(r->device, native, "a graph cannot be launched on a stream");
    if (status != KILN_OK)
        return status;
    if ((status = kn_cuda_enter(r->device, &pushed)) != KILN_OK)
        return status;
    kn_lock_take(r->run_lock);
    status = kn_graph_run_wait(r, native);
    if (status == KILN_OK)
        status = KN_CU(GraphLaunch, exec->native, native);
    if (status == KILN_OK) {
        r->was_launched = true;
        r->last_stream = native;
    }
    kn_lock_give(r->run_lock);
    kn_cuda_leave(pushed);
    return status;
}

void kiln_graph_free(kiln_graph *graph)
{
    if (!graph)
        return;
    destroy_graph(graph->record->device, graph->native);
    kn_capture_drop_reference(graph->record);
    kn_free(graph);
}

void kiln_graph_exec_free(kiln_graph_exec *exec)
{
    if (!exec)
        return;
    KN_CU_RELEASE(exec->record->device, GraphExecDestroy, exec->native);
    kn_capture_drop_reference(exec->record);
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
        kn_error_restore(&failure); /* the caller gets the body's own error, or the previous one */
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
    status = kiln_stream_device(&id, stream);
    if (status == KILN_OK)
        status = kiln_device_set_current(id);
    if (status == KILN_OK) {
        kiln_stream *stream_before = kiln_stream_set_current(stream);
        status = capture_on(out, stream, body, user);
        /* both were current before, and so they are there */
        KILN_IGNORE(kiln_device_set_current(id));
        kiln_stream_set_current(stream_before);
        KILN_IGNORE(kiln_device_set_current(device_before));
    }
    kiln_stream_free(own);
    return status;
}
