/* Copies: between arrays, devices and host memory. */
#include "array/array.h"
#include "base/alloc.h"
#include "base/error.h"
#include "space/shape.h"
#include <string.h>

static bool is_host(const kn_device *device)
{
    return device->backend->kind == KN_HOST;
}

static kn_device *device_of(const kiln_array *array)
{
    return array->storage->device;
}

/* ---- checks ---- */

static kiln_status check_size(const kiln_array *array, const void *data, size_t size, const char *function)
{
    kiln_status status = kn_array_check_data(array, function);
    if (status)
        return status;
    if (size != kiln_array_nbytes(array))
        return kn_error(KILN_ERROR_INVALID, "%s: %zu bytes were given, but the array has %zu", function, size,
                        kiln_array_nbytes(array));
    if (size && !data)
        return kn_error(KILN_ERROR_INVALID, "%s: data is NULL", function);
    return KILN_OK;
}

kiln_status kn_array_check_writable(const kiln_array *array, const char *function)
{
    if (!array->is_read_only)
        return KILN_OK;
    return kn_error(KILN_ERROR_INVALID, "%s: the array is read-only", function);
}

/* A capture has no "now" in which a call could wait, or host memory could be read. */
kiln_status kn_array_check_capture(kn_device *device, void *stream, const char *function)
{
    bool capturing = false;
    uint64_t id;
    kiln_status status = device->backend->stream_is_capturing(device, stream, &capturing, &id);
    if (status || !capturing)
        return status;
    return kn_error(KILN_ERROR_CAPTURE,
                    "%s waits for the device, which is not possible while its stream is captured", function);
}

kiln_status kn_array_note_use(const kiln_array *array, void *stream)
{
    const kn_storage *s = array->storage;
    return s->is_pooled && s->stream != stream ? kn_memory_used_on(s->device, s->data, stream) : KILN_OK;
}

static kiln_status new_like(kiln_array **out, const kiln_array *array, kn_device *device)
{
    void *stream;
    kiln_status status = kn_stream_native(&stream, device, NULL);
    if (status)
        return status;
    return kn_array_allocate(out, device, stream, array->dtype, array->ndim, array->shape, NULL);
}

kiln_status kn_array_copy_same(kiln_array *to, const kiln_array *from)
{
    kn_device *device = device_of(to);
    void *stream;
    const kn_array_kernels *kernels = kn_array_get_kernels();
    if (to->size == 0)
        return KILN_OK;
    if (is_host(device)) {
        kn_array_copy_elements(to->ndim, to->shape, to->data, to->strides, from->data, from->strides,
                               to->item_size);
        return KILN_OK;
    }
    kiln_status status = kn_stream_native(&stream, device, NULL);
    if (!status && to->is_c_contiguous && from->is_c_contiguous) {
        status = kn_array_note_use(from, stream);
        if (!status)
            status = device->backend->copy(device, to->data, from->data, kiln_array_nbytes(to),
                                           KN_COPY_DEVICE_TO_DEVICE, stream);
        return status;
    }
    if (!status && !kernels->copy)
        return kn_error(KILN_ERROR_UNSUPPORTED,
                        "strided copies on a CUDA device need the kernel layer, which is not linked");
    return status ? status : kernels->copy(to, from, NULL);
}

/* Contiguous array <-> host memory, and waits. */
static kiln_status exchange(const kiln_array *array, void *data, kn_copy_kind kind, const char *function)
{
    kn_device *device = device_of(array);
    size_t size = kiln_array_nbytes(array);
    bool to_host = kind == KN_COPY_DEVICE_TO_HOST;
    void *stream;
    kiln_status status = kn_stream_native(&stream, device, NULL);
    if (!status)
        status = kn_array_check_capture(device, stream, function);
    if (!status)
        status = device->backend->copy(device, to_host ? data : array->data, to_host ? array->data : data,
                                       size, kind, stream);
    return status ? status : device->backend->stream_synchronize(device, stream);
}

/* ---- host memory ---- */

static void host_strides(const kiln_array *array, int64_t *strides)
{
    kn_shape_c_strides(array->ndim, array->shape, array->item_size, strides);
}

static kiln_status check_current(const kiln_array *array, const char *function)
{
    void *stream;
    kiln_status status = kn_stream_native(&stream, device_of(array), NULL);
    return status ? status : kn_array_check_capture(device_of(array), stream, function);
}

kiln_status kiln_array_to_host(const kiln_array *array, void *data, size_t size)
{
    int64_t strides[KILN_MAX_NDIM];
    kiln_array *packed = NULL;
    kiln_status status = check_size(array, data, size, "kiln_array_to_host");
    if (status || size == 0)
        return status;
    if (is_host(device_of(array))) {
        host_strides(array, strides);
        kn_array_copy_elements(array->ndim, array->shape, data, strides, array->data, array->strides,
                               array->item_size);
        return KILN_OK;
    }
    status = check_current(array, "kiln_array_to_host"); /* before a copy that would be captured */
    if (!status)
        status = kiln_array_contiguous(&packed, array);
    if (!status)
        status = exchange(packed, data, KN_COPY_DEVICE_TO_HOST, "kiln_array_to_host");
    kiln_array_free(packed);
    return status;
}

/* By way of a contiguous array where the view is strided. */
static kiln_status upload(kiln_array *array, const void *data, const char *function)
{
    kiln_array *packed = NULL;
    kiln_status status = KILN_OK;
    void *bytes = (void *)(uintptr_t)data; /* read alone */
    if (array->is_c_contiguous)
        return exchange(array, bytes, KN_COPY_HOST_TO_DEVICE, function);
    status = new_like(&packed, array, device_of(array));
    if (!status)
        status = exchange(packed, bytes, KN_COPY_HOST_TO_DEVICE, function);
    if (!status)
        status = kn_array_copy_same(array, packed);
    if (!status)
        status = kiln_stream_synchronize(NULL);
    kiln_array_free(packed);
    return status;
}

kiln_status kn_array_upload(kiln_array *array, const void *data, const char *function)
{
    int64_t strides[KILN_MAX_NDIM];
    if (array->size == 0)
        return KILN_OK;
    if (!is_host(device_of(array)))
        return upload(array, data, function);
    host_strides(array, strides);
    kn_array_copy_elements(array->ndim, array->shape, array->data, array->strides, data, strides,
                           array->item_size);
    return KILN_OK;
}

kiln_status kiln_array_set_from_host(kiln_array *array, const void *data, size_t size)
{
    kiln_status status = check_size(array, data, size, "kiln_array_set_from_host");
    if (!status)
        status = kn_array_check_writable(array, "kiln_array_set_from_host");
    return status ? status : kn_array_upload(array, data, "kiln_array_set_from_host");
}

static kiln_status exchange_async(const kiln_array *array, void *data, kn_copy_kind kind, kiln_stream *stream)
{
    kn_device *device = device_of(array);
    bool to_host = kind == KN_COPY_DEVICE_TO_HOST;
    void *native;
    if (!array->is_c_contiguous)
        return kn_error(KILN_ERROR_INVALID, "%s: the array is not C-contiguous",
                        to_host ? "kiln_array_to_host_async" : "kiln_array_set_from_host_async");
    kiln_status status = kn_stream_native(&native, device, stream);
    if (!status)
        status = kn_array_note_use(array, native);
    if (status || array->size == 0)
        return status;
    return device->backend->copy(device, to_host ? data : array->data, to_host ? array->data : data,
                                 kiln_array_nbytes(array), kind, native);
}

kiln_status kiln_array_to_host_async(const kiln_array *array, void *data, size_t size, kiln_stream *stream)
{
    kiln_status status = check_size(array, data, size, "kiln_array_to_host_async");
    return status ? status : exchange_async(array, data, KN_COPY_DEVICE_TO_HOST, stream);
}

kiln_status kiln_array_set_from_host_async(kiln_array *array, const void *data, size_t size,
                                           kiln_stream *stream)
{
    kiln_status status = check_size(array, data, size, "kiln_array_set_from_host_async");
    if (!status)
        status = kn_array_check_writable(array, "kiln_array_set_from_host_async");
    return status ? status : exchange_async(array, (void *)(uintptr_t)data, KN_COPY_HOST_TO_DEVICE, stream);
}

/* ---- arrays ---- */

kiln_status kiln_array_copy(kiln_array **out, const kiln_array *array)
{
    kiln_array *copy = NULL;
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "kiln_array_copy: out is NULL");
    if (array && array->recorder)
        return array->recorder->functions->copy(out, array);
    kiln_status status = kn_array_check_data(array, "kiln_array_copy");
    if (!status)
        status = new_like(&copy, array, device_of(array));
    if (!status)
        status = kn_array_copy_same(copy, array);
    if (status)
        kiln_array_free(copy);
    else
        *out = copy;
    return status;
}

kiln_status kiln_array_astype(kiln_array **out, const kiln_array *array, kiln_dtype dtype)
{
    const kn_array_kernels *kernels = kn_array_get_kernels();
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "kiln_array_astype: out is NULL");
    if (kiln_dtype_size(dtype) == 0)
        return kn_error(
            KILN_ERROR_TYPE,
            "kiln_array_astype: dtype number %d was given, which is no dtype; one of KILN_BOOL to "
            "KILN_COMPLEX128 was expected",
            (int)dtype);
    if (array && array->recorder)
        return array->recorder->functions->astype(out, array, dtype);
    kiln_status status = kn_array_check_data(array, "kiln_array_astype");
    if (status || !array)
        return status;
    if (array->dtype == dtype)
        return kiln_array_copy(out, array);
    if (!kernels || !kernels->convert)
        return kn_error(KILN_ERROR_UNSUPPORTED, "kiln_array_astype: this program links no kernels");
    return kernels->convert(out, array, dtype);
}

kiln_status kiln_array_contiguous(kiln_array **out, const kiln_array *array)
{
    if (!out || !array)
        return kn_error(KILN_ERROR_INVALID, "kiln_array_contiguous: %s is NULL", out ? "array" : "out");
    if (!array->is_c_contiguous)
        return kiln_array_copy(out, array);
    *out = kiln_array_retain(array);
    return KILN_OK;
}

/* A stream that waits for a captured one joins its capture, and has to be joined back before the end; one
 * that is captured cannot wait for others. Whoever captures has to do the first on purpose, and before. */
static kiln_status check_captures_agree(kn_device *before_device, void *before, kn_device *after_device,
                                        void *after)
{
    bool unused;
    uint64_t id[2] = {0, 0};
    kiln_status status = before_device->backend->stream_is_capturing(before_device, before, &unused, &id[0]);
    if (!status)
        status = after_device->backend->stream_is_capturing(after_device, after, &unused, &id[1]);
    if (status || id[0] == id[1])
        return status;
    return kn_error(KILN_ERROR_CAPTURE,
                    "%s stream is being captured, the other is not in that capture: make "
                    "it wait for an event of the captured one first, or do this outside "
                    "the capture",
                    id[0] ? "the array's" : "the waiting");
}

kiln_status kn_array_order_streams(kn_device *before_device, void *before, kn_device *after_device,
                                   void *after)
{
    void *event = NULL;
    kiln_status status = check_captures_agree(before_device, before, after_device, after);
    if (!status)
        status = before_device->backend->event_create(before_device, KILN_EVENT_DEFAULT_FLAGS, &event);
    if (status)
        return status;
    status = before_device->backend->event_record(before_device, event, before);
    if (!status)
        status = after_device->backend->stream_wait_event(after_device, after, event);
    before_device->backend->event_destroy(before_device, event);
    return status;
}

/* Copies between two CUDA devices. Queued on the target's stream, after the queued work of the source's
 * stream and before its later work. */
static kiln_status copy_peer(kiln_array *to, const kiln_array *from)
{
    kn_device *to_device = device_of(to), *from_device = device_of(from);
    void *to_stream, *from_stream;
    kiln_status status = kn_stream_native(&to_stream, to_device, NULL);
    if (!status)
        status = kn_stream_native(&from_stream, from_device, NULL);
    if (!status)
        status = kn_array_order_streams(from_device, from_stream, to_device, to_stream);
    if (!status)
        status = to_device->backend->copy_peer(to_device, to->data, from_device, from->data,
                                               kiln_array_nbytes(to), to_stream);
    if (!status)
        status = kn_array_order_streams(to_device, to_stream, from_device, from_stream);
    return status ? status : kn_array_note_use(from, from_stream);
}

static kiln_status copy_across(kiln_array *to, const kiln_array *from)
{
    if (to->size == 0)
        return KILN_OK;
    if (is_host(device_of(from)))
        return exchange(to, from->data, KN_COPY_HOST_TO_DEVICE, "kiln_array_to_device");
    if (is_host(device_of(to)))
        return exchange(from, to->data, KN_COPY_DEVICE_TO_HOST, "kiln_array_to_device");
    return copy_peer(to, from);
}

kiln_status kiln_array_to_device(kiln_array **out, const kiln_array *array, kiln_device device)
{
    kn_device *target;
    kiln_array *packed = NULL, *copy = NULL;
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "kiln_array_to_device: out is NULL");
    kiln_status status = kn_array_check_data(array, "kiln_array_to_device");
    if (!status)
        status = kn_device_get(&target, device);
    if (status)
        return status;
    if (target == device_of(array)) {
        *out = kiln_array_retain(array);
        return KILN_OK;
    }
    if (is_host(target))
        status = check_current(array, "kiln_array_to_device");
    if (!status)
        status = kiln_array_contiguous(&packed, array);
    if (!status)
        status = new_like(&copy, packed, target);
    if (!status)
        status = copy_across(copy, packed);
    kiln_array_free(packed);
    if (status)
        kiln_array_free(copy);
    else
        *out = copy;
    return status;
}
