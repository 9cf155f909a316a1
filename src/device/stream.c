/* The public functions of streams. */
#include "device/stream.h"

#include "base/alloc.h"
#include "base/error.h"
#include "device/capture.h"
#include "device/counters.h"
#include "device/device_table.h"
#include "device/graph_run.h"
#include "device/pool.h"
#include "device/registry.h"

struct kiln_stream {
    kn_device *device;
    void *native;
    bool is_owned;
    kn_held held; /* by a capture that outlives it */
};

/* Per thread and device slot; NULL is the default stream. */
static _Thread_local kiln_stream *current_streams[KN_CUDA_DEVICES_MAX + 1];

static kiln_status new_stream(kiln_stream **out, kn_device *device, void *native, bool is_owned)
{
    kiln_stream *stream = kn_malloc(sizeof *stream);
    if (!stream)
        return kn_error_memory("a stream");
    kiln_status status = kn_pool_stream_begins(device->pool, native);
    if (status != KILN_OK) {
        kn_free(stream);
        return status;
    }
    *stream = (kiln_stream){.device = device, .native = native, .is_owned = is_owned};
    *out = stream;
    return KILN_OK;
}

kiln_status kiln_stream_create(kiln_stream **out, kiln_device id, unsigned flags)
{
    kn_device *device = NULL;
    void *native = NULL;
    if (!out || (flags & ~(unsigned)KILN_STREAM_NON_BLOCKING))
        return kn_error(KILN_ERROR_INVALID,
                        out ? "kiln_stream_create: flags is 0x%x; expected 0 or KILN_STREAM_NON_BLOCKING"
                            : "kiln_stream_create: out is NULL (flags 0x%x)",
                        flags);
    kiln_status status = kn_device_get(&device, id);
    if (status == KILN_OK)
        status = device->backend->stream_create(device, flags, &native);
    if (status != KILN_OK)
        return status;
    status = new_stream(out, device, native, true);
    if (status != KILN_OK)
        device->backend->stream_destroy(device, native);
    return status;
}

kiln_status kiln_stream_wrap(kiln_stream **out, kiln_device id, void *native)
{
    kn_device *device = NULL;
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "kiln_stream_wrap: out is NULL");
    kiln_status status = kn_device_get(&device, id);
    if (status == KILN_OK)
        status = device->backend->stream_check(device, native);
    if (status == KILN_OK)
        status =
            new_stream(out, device, native == (void *)1 ? NULL : native, false); /* 1 is CU_STREAM_LEGACY */
    return status;
}

static void end_stream(void *user)
{
    kiln_stream *stream = user;
    kn_device *device = stream->device;
    if (stream->is_owned) {
        kn_graph_run_stream_ends(device, stream->native);
        kn_counters_stream_ends(device, stream->native);
        kn_pool_stream_ends(device->pool, stream->native);
        device->backend->stream_destroy(device, stream->native);
    }
    kn_free(stream);
}

void kiln_stream_free(kiln_stream *stream)
{
    if (!stream)
        return;
    kiln_stream **current = &current_streams[kn_device_slot(stream->device->id)];
    if (*current == stream)
        *current = NULL;
    if (!stream->is_owned ||
        !kn_capture_stream_leaves(stream->device, stream->native, &stream->held, end_stream, stream))
        end_stream(stream);
}

kiln_stream *kiln_stream_current(void)
{
    kiln_device id;
    if (kiln_device_current(&id) != KILN_OK)
        return NULL;
    return current_streams[kn_device_slot(id)];
}

kiln_stream *kiln_stream_set_current(kiln_stream *stream)
{
    kiln_device id = KILN_DEVICE_HOST;
    kiln_stream *before = kiln_stream_current();
    if (stream) {
        id = stream->device->id;
        KILN_IGNORE(kiln_device_set_current(id)); /* it has a stream, so the device is ready */
    } else if (kiln_device_current(&id) != KILN_OK) {
        return before;
    }
    current_streams[kn_device_slot(id)] = stream;
    return before;
}

kiln_status kn_stream_resolve(kn_device **device, void **native, kiln_stream *stream)
{
    kiln_status status = KILN_OK;
    if (!stream)
        stream = kiln_stream_current();
    if (stream) {
        *device = stream->device;
        *native = stream->native;
    } else {
        status = kn_device_get(device, KILN_DEVICE_DEFAULT);
        *native = NULL;
    }
    return status;
}

kiln_status kn_stream_native(void **out, kn_device *device, kiln_stream *stream)
{
    if (!stream)
        stream = current_streams[kn_device_slot(device->id)];
    if (stream && stream->device != device) {
        char ours[24], theirs[24];
        return kn_error(KILN_ERROR_INVALID, "stream belongs to %s, the call runs on %s",
                        kn_device_write_name(stream->device->id, theirs, sizeof theirs),
                        kn_device_write_name(device->id, ours, sizeof ours));
    }
    *out = stream ? stream->native : NULL;
    return KILN_OK;
}

kiln_status kiln_stream_synchronize(kiln_stream *stream)
{
    kn_device *device = NULL;
    void *native = NULL;
    kiln_status status = kn_stream_resolve(&device, &native, stream);
    return status == KILN_OK ? device->backend->stream_synchronize(device, native) : status;
}

kiln_status kiln_stream_query(bool *out, kiln_stream *stream)
{
    kn_device *device = NULL;
    void *native = NULL;
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "kiln_stream_query: out is NULL");
    kiln_status status = kn_stream_resolve(&device, &native, stream);
    return status == KILN_OK ? device->backend->stream_query(device, native, out) : status;
}

kiln_status kiln_stream_device(kiln_device *out, kiln_stream *stream)
{
    kn_device *device = NULL;
    void *native = NULL;
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "kiln_stream_device: out is NULL");
    kiln_status status = kn_stream_resolve(&device, &native, stream);
    if (status == KILN_OK)
        *out = device->id;
    return status;
}

void *kiln_stream_cuda_handle(kiln_stream *stream)
{
    return stream && stream->device->backend->kind == KN_CUDA ? stream->native : NULL;
}
