/* New arrays and their first elements. */
#include "array/array.h"
#include "base/alloc.h"
#include "base/error.h"
#include "types/number.h"
#include <string.h>

enum { STAGE_BYTES = 4 << 20 };

static kiln_status check_out(const void *out, const char *function)
{
    return out ? KILN_OK : kn_error(KILN_ERROR_INVALID, "%s: out is NULL", function);
}

kiln_status kiln_array_empty(kiln_array **out, kiln_dtype dtype, int ndim, const int64_t *shape,
                             kiln_device device)
{
    kn_device *place;
    void *stream;
    kiln_status status = check_out(out, "kiln_array_empty");
    if (!status)
        status = kn_array_check_shape(dtype, ndim, shape);
    if (!status)
        status = kn_device_get(&place, device);
    if (!status)
        status = kn_stream_native(&stream, place, NULL);
    return status ? status : kn_array_allocate_checked(out, place, stream, dtype, ndim, shape, NULL);
}

/* ---- one value everywhere ---- */

/* Without a compiler and a binary, the host does the work. A capture cannot wait for it. */
bool kn_array_host_may_help(kiln_status status)
{
    return status == KILN_ERROR_NOT_FOUND || status == KILN_ERROR_FORBIDDEN;
}

/* The first `filled` bytes, again and again: each copy doubles them. */
static kiln_status repeat_head(kn_device *device, char *data, size_t filled, size_t size, void *stream)
{
    kiln_status status = KILN_OK;
    while (filled < size && !status) {
        size_t step = filled < size - filled ? filled : size - filled;
        status = device->backend->copy(device, data + filled, data, step, KN_COPY_DEVICE_TO_DEVICE, stream);
        filled += step;
    }
    return status;
}

static void write_elements(char *to, const void *value, size_t item, size_t size)
{
    for (size_t k = 0; k < size; k += item)
        memcpy(to + k, value, item);
}

/* A stage full of elements goes there, the rest is copied from it. */
static kiln_status fill_from_stage(kiln_array *array, const void *value, kn_device *device, void *stream)
{
    size_t size = kiln_array_nbytes(array), item = (size_t)array->item_size;
    size_t head = size < STAGE_BYTES ? size : STAGE_BYTES;
    kiln_status status = kn_array_check_capture(device, stream, "kiln_array_full");
    if (status)
        return status;
    char *stage = kn_malloc(head);
    if (!stage)
        return kn_error_memory("the values of an array");
    write_elements(stage, value, item, head);
    status = device->backend->copy(device, array->data, stage, head, KN_COPY_HOST_TO_DEVICE, stream);
    if (!status)
        status = device->backend->stream_synchronize(device, stream); /* the stage goes */
    if (!status)
        status = repeat_head(device, array->data, head, size, stream);
    kn_free(stage);
    return status;
}

/* Fills with elements that the device's fills cannot write, or a strided array. */
static kiln_status fill_by_kernel(kiln_array *array, const void *value, kn_device *device, void *stream)
{
    const kn_array_kernels *kernels = kn_array_get_kernels();
    kiln_status status = KILN_ERROR_NOT_FOUND;
    if (device->backend->kind != KN_HOST && kernels->fill)
        status = kernels->fill(array, value, NULL);
    if (!kn_array_host_may_help(status) || !array->is_c_contiguous)
        return status == KILN_ERROR_NOT_FOUND && !kernels->fill
                   ? kn_error(KILN_ERROR_UNSUPPORTED,
                              "strided fills on a CUDA device need the kernel layer, which is not linked")
                   : status;
    return fill_from_stage(array, value, device, stream);
}

static kiln_status fill_strided(kiln_array *array, const void *value, kn_device *device, void *stream)
{
    static const int64_t nowhere[KILN_MAX_NDIM];
    if (device->backend->kind != KN_HOST)
        return fill_by_kernel(array, value, device, stream);
    kn_array_copy_elements(array->ndim, array->shape, array->data, array->strides, value, nowhere,
                           array->item_size);
    return KILN_OK;
}

static kiln_status fill(kiln_array *array, const void *value)
{
    kn_device *device = array->storage->device;
    const char *bytes = value;
    size_t pattern = (size_t)array->item_size, count = (size_t)array->size;
    void *stream;
    if (count == 0)
        return KILN_OK;
    kiln_status status = kn_stream_native(&stream, device, NULL);
    if (!status)
        status = kn_array_note_use(array, stream);
    if (status)
        return status;
    if (!array->is_c_contiguous)
        return fill_strided(array, value, device, stream);
    for (; pattern > 1 && !memcmp(bytes, bytes + pattern / 2, pattern / 2); count *= 2)
        pattern /= 2;
    if (pattern > 4)
        return fill_by_kernel(array, value, device, stream);
    return device->backend->fill(device, array->data, value, pattern, count, stream);
}

kiln_status kiln_array_full(kiln_array **out, kiln_dtype dtype, int ndim, const int64_t *shape,
                            const void *value, kiln_device device)
{
    kiln_array *a = NULL;
    kiln_status status = check_out(out, "kiln_array_full");
    if (!status && !value)
        status = kn_error(KILN_ERROR_INVALID, "kiln_array_full: value is NULL");
    if (!status)
        status = kiln_array_empty(&a, dtype, ndim, shape, device);
    if (!status)
        status = fill(a, value);
    if (status)
        kiln_array_free(a);
    else
        *out = a;
    return status;
}

kiln_status kiln_array_fill(kiln_array *array, const void *value)
{
    kiln_status status = kn_array_check_data(array, "kiln_array_fill");
    if (!status && !value)
        status = kn_error(KILN_ERROR_INVALID, "kiln_array_fill: value is NULL");
    if (!status)
        status = kn_array_check_writable(array, "kiln_array_fill");
    return status ? status : fill(array, value);
}

static kiln_status full_of(kiln_array **out, int64_t value, kiln_dtype dtype, int ndim, const int64_t *shape,
                           kiln_device device)
{
    unsigned char element[16] = {0};
    kn_number number = {.kind = KN_KIND_INT, .i = value};
    if (kn_dtype_info_of(dtype))
        kn_number_store(element, dtype, &number);
    return kiln_array_full(out, dtype, ndim, shape, element, device);
}

kiln_status kiln_array_zeros(kiln_array **out, kiln_dtype dtype, int ndim, const int64_t *shape,
                             kiln_device device)
{
    return full_of(out, 0, dtype, ndim, shape, device);
}

kiln_status kiln_array_ones(kiln_array **out, kiln_dtype dtype, int ndim, const int64_t *shape,
                            kiln_device device)
{
    return full_of(out, 1, dtype, ndim, shape, device);
}

/* ---- from host memory ---- */

kiln_status kiln_array_from_host(kiln_array **out, const void *data, kiln_dtype dtype, int ndim,
                                 const int64_t *shape, kiln_device device)
{
    kiln_array *a = NULL;
    kiln_status status = check_out(out, "kiln_array_from_host");
    if (!status)
        status = kiln_array_empty(&a, dtype, ndim, shape, device);
    if (!status && a->size && !data)
        status = kn_error(KILN_ERROR_INVALID, "kiln_array_from_host: data is NULL");
    if (!status)
        status = kn_array_upload(a, data, "kiln_array_from_host");
    if (status)
        kiln_array_free(a);
    else
        *out = a;
    return status;
}
