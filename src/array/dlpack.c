/* DLPack, both ways. */
#include <kiln/dlpack.h>
#include "array/array.h"
#include "array/dlpack_abi.h"
#include "base/alloc.h"
#include "base/error.h"
#include <inttypes.h>
#include <string.h>

/* ---- consuming ---- */

static kiln_status find_dtype(kiln_dtype *out, const kn_dl_tensor *t)
{
    if (t->lanes != 1)
        return kn_error(KILN_ERROR_TYPE,
                        "kiln_array_from_dlpack: elements of %u lanes; only plain ones are possible",
                        t->lanes);
    const kn_dtype_info *info;
    for (int d = KILN_BOOL; (info = kn_dtype_info_of((kiln_dtype)d)) != NULL; d++) {
        if (info->dlpack_code == t->code && info->size * 8 == t->bits) {
            *out = info->dtype;
            return KILN_OK;
        }
    }
    return kn_error(KILN_ERROR_TYPE,
                    "kiln_array_from_dlpack: there is no dtype of DLPack's code %u and %u bits", t->code,
                    t->bits);
}

static kiln_status find_device(kiln_device *out, const kn_dl_tensor *t)
{
    if (t->device_type == KN_DL_CPU || t->device_type == KN_DL_CUDA_HOST)
        *out = KILN_DEVICE_HOST;
    else if ((t->device_type == KN_DL_CUDA || t->device_type == KN_DL_CUDA_MANAGED) && t->device_id >= 0)
        *out = KILN_DEVICE_CUDA(t->device_id);
    else
        return kn_error(KILN_ERROR_UNSUPPORTED,
                        "kiln_array_from_dlpack: memory of DLPack's device type %d, number %d",
                        (int)t->device_type, (int)t->device_id);
    return KILN_OK;
}

static kiln_status byte_strides(int64_t *out, const kn_dl_tensor *t, int64_t item_size)
{
    for (int k = 0; k < t->ndim; k++)
        if (__builtin_mul_overflow(t->strides[k], item_size, &out[k]))
            return kn_error(KILN_ERROR_SHAPE,
                            "kiln_array_from_dlpack: the stride of axis %d needs more than 63 bits", k);
    return KILN_OK;
}

static kiln_status wrap_tensor(kiln_array **out, const kn_dl_tensor *t, bool read_only,
                               void (*release)(void *), void *managed)
{
    kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
    int64_t strides[KILN_MAX_NDIM];
    kiln_status status = find_dtype(&spec.dtype, t);
    if (!status)
        status = find_device(&spec.device, t);
    if (!status)
        status = kn_array_check_shape(spec.dtype, t->ndim, t->shape);
    if (!status && t->strides)
        status = byte_strides(strides, t, (int64_t)kiln_dtype_size(spec.dtype));
    if (status)
        return status;
    spec.ndim = t->ndim;
    spec.shape = t->shape;
    spec.strides = t->strides ? strides : NULL;
    spec.read_only = read_only;
    return kiln_array_wrap(out, t->data ? (char *)t->data + t->byte_offset : NULL, &spec, release, managed);
}

static void release_managed(void *user)
{
    kn_dl_managed *m = user;
    if (m->deleter)
        m->deleter(m);
}

static void release_versioned(void *user)
{
    kn_dl_versioned *m = user;
    if (m->deleter)
        m->deleter(m);
}

kiln_status kiln_array_from_dlpack(kiln_array **out, void *managed, bool versioned)
{
    if (!out || !managed)
        return kn_error(KILN_ERROR_INVALID, "kiln_array_from_dlpack: %s is NULL", out ? "managed" : "out");
    if (!versioned)
        return wrap_tensor(out, &((kn_dl_managed *)managed)->tensor, false, release_managed, managed);
    kn_dl_versioned *m = managed;
    if (m->major != KN_DL_MAJOR) /* nothing behind the flags is known then */
        return kn_error(KILN_ERROR_FORMAT, "kiln_array_from_dlpack: version %u.%u of DLPack; 1.x is known",
                        m->major, m->minor);
    return wrap_tensor(out, &m->tensor, (m->flags & KN_DL_READ_ONLY) != 0, release_versioned, managed);
}

kiln_status kiln_dlpack_stream(int64_t *out, kiln_device device)
{
    kn_device *place;
    void *native;
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "kiln_dlpack_stream: out is NULL");
    kiln_status status = kn_device_get(&place, device);
    if (!status)
        status = kn_stream_native(&native, place, NULL);
    if (status)
        return status;
    *out = place->backend->kind == KN_HOST ? KILN_DLPACK_STREAM_NONE : native ? (int64_t)(intptr_t)native : 1;
    return KILN_OK;
}

/* ---- producing ---- */

/* The owner of a managed tensor. The struct that is handed out is its first member, so that both have one
 * address. */
typedef struct export
{
    union {
        kn_dl_managed managed;
        kn_dl_versioned versioned;
    } abi;
    kiln_array *array;
    int64_t extents[]; /* shape, then strides in elements */
}
export;

static void export_free(export *e)
{
    kiln_array_free(e->array);
    kn_free(e);
}

static void delete_managed(kn_dl_managed *self)
{
    if (self)
        export_free(self->context);
}

static void delete_versioned(kn_dl_versioned *self)
{
    if (self)
        export_free(self->context);
}

static void describe_device(const kiln_array *array, int32_t *type, int32_t *ordinal)
{
    kiln_device id = array->storage->device->id;
    *type = KILN_DEVICE_IS_CUDA(id) ? KN_DL_CUDA : KN_DL_CPU;
    *ordinal = KILN_DEVICE_IS_CUDA(id) ? id - KILN_DEVICE_CUDA(0) : 0;
}

static void describe(kn_dl_tensor *t, const kiln_array *array, int64_t *extents)
{
    const kn_dtype_info *info = kn_dtype_info_of(array->dtype);
    *t = (kn_dl_tensor){.data = array->size ? array->data : NULL,
                        .ndim = array->ndim,
                        .code = info->dlpack_code,
                        .bits = (uint8_t)(info->size * 8),
                        .lanes = 1,
                        .shape = extents,
                        .strides = extents + array->ndim};
    describe_device(array, &t->device_type, &t->device_id);
    for (int k = 0; k < array->ndim; k++) {
        t->shape[k] = array->shape[k];
        t->strides[k] = array->strides[k] / array->item_size;
    }
}

static export *export_new(const kiln_array *array, bool versioned)
{
    size_t size = sizeof(export) + 2 * (size_t)array->ndim * sizeof(int64_t);
    export *e = kn_calloc(1, size);
    if (!e) {
        kn_error_memory("a DLPack tensor");
        return NULL;
    }
    e->array = kiln_array_retain(array);
    if (versioned) {
        e->abi.versioned = (kn_dl_versioned){
            .major = KN_DL_MAJOR, .minor = KN_DL_MINOR, .context = e, .deleter = delete_versioned};
        e->abi.versioned.flags = array->is_read_only ? KN_DL_READ_ONLY : 0;
        describe(&e->abi.versioned.tensor, array, e->extents);
    } else {
        e->abi.managed = (kn_dl_managed){.context = e, .deleter = delete_managed};
        describe(&e->abi.managed.tensor, array, e->extents);
    }
    return e;
}

/* Makes the consumer's stream wait for the work queued on the current one. */
static kiln_status order_consumer(kn_device *device, int64_t stream)
{
    void *ours, *theirs = (void *)(intptr_t)(stream == KILN_DLPACK_STREAM_NONE ? 1 : stream);
    kiln_status status = kn_stream_native(&ours, device, NULL);
    if (status || theirs == ours || (!ours && theirs == (void *)1))
        return status;
    return kn_array_order_streams(device, ours, device, theirs);
}

static kiln_status synchronise(const kiln_array *array, int64_t stream)
{
    kn_device *device = array->storage->device;
    if (stream == KILN_DLPACK_STREAM_NO_SYNC)
        return KILN_OK;
    if (device->backend->kind == KN_HOST)
        return stream == KILN_DLPACK_STREAM_NONE ? KILN_OK
                                                 : kn_error(KILN_ERROR_INVALID,
                                                            "kiln_array_to_dlpack: stream %" PRId64
                                                            " for an array of the host, which has none",
                                                            stream);
    if (stream == 0)
        return kn_error(KILN_ERROR_INVALID, "kiln_array_to_dlpack: stream 0 is ambiguous: 1 is the legacy "
                                            "default stream, 2 the one per thread");
    if (stream < 0 && stream != KILN_DLPACK_STREAM_NONE)
        return kn_error(KILN_ERROR_INVALID, "kiln_array_to_dlpack: %" PRId64 " is no stream", stream);
    return array->size ? order_consumer(device, stream) : KILN_OK;
}

kiln_status kiln_array_to_dlpack(void **out, const kiln_array *array, bool versioned, int64_t stream)
{
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "kiln_array_to_dlpack: out is NULL");
    kiln_status status = kn_array_check_data(array, "kiln_array_to_dlpack");
    if (status)
        return status;
    if (array->is_read_only && !versioned)
        return kn_error(KILN_ERROR_UNSUPPORTED,
                        "kiln_array_to_dlpack: the array is read-only, which only versioned tensors can say");
    status = synchronise(array, stream);
    if (status)
        return status;
    export *e = export_new(array, versioned);
    if (!e)
        return KILN_ERROR_MEMORY;
    *out = versioned ? (void *)&e->abi.versioned : (void *)&e->abi.managed;
    return KILN_OK;
}

kiln_status kiln_array_dlpack_device(int32_t *type, int32_t *ordinal, const kiln_array *array)
{
    if (!type || !ordinal)
        return kn_error(KILN_ERROR_INVALID, "kiln_array_dlpack_device: %s is NULL",
                        type ? "ordinal" : "type");
    kiln_status status = kn_array_check_data(array, "kiln_array_dlpack_device");
    if (!status)
        describe_device(array, type, ordinal);
    return status;
}
