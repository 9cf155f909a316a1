/* New arrays and their first elements. */
#include "array/array.h"
#include "base/alloc.h"
#include "base/error.h"
#include "types/number.h"
#include <math.h>
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
    return status ? status : kn_array_allocate(out, place, stream, dtype, ndim, shape, NULL);
}

/* ---- one value everywhere ---- */

/* The first `filled` bytes, again and again: each copy doubles them. */
static kiln_status repeat_head(kn_device *device, char *data, size_t filled, size_t size, void *stream)
{
    kiln_status status = KILN_OK;
    while (filled < size && !status) {
        size_t piece = filled < size - filled ? filled : size - filled;
        status = device->backend->copy(device, data + filled, data, piece, KN_COPY_DEVICE_TO_DEVICE, stream);
        filled += piece;
    }
    return status;
}

/* Elements that no fill of the device can write: a stage full of them goes there, the rest is copied from it.
 */
static kiln_status fill_from_stage(kiln_array *array, const void *value, kn_device *device, void *stream)
{
    size_t size = kiln_array_nbytes(array), item = (size_t)array->item_size;
    size_t head = size < STAGE_BYTES ? size : STAGE_BYTES;
    kiln_status status = kn_array_check_capture(device, stream, "kiln_array_full");
    if (status)
        return status;
    char *stage = kn_malloc(head);
    if (!stage)
        return kn_error_memory(head, "the values of an array");
    for (size_t k = 0; k < head; k += item)
        memcpy(stage + k, value, item);
    status = device->backend->copy(device, array->data, stage, head, KN_COPY_HOST_TO_DEVICE, stream);
    if (!status)
        status = device->backend->stream_synchronize(device, stream); /* the stage goes */
    if (!status)
        status = repeat_head(device, array->data, head, size, stream);
    kn_free(stage);
    return status;
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
    if (status)
        return status;
    for (; pattern > 1 && !memcmp(bytes, bytes + pattern / 2, pattern / 2); count *= 2)
        pattern /= 2;
    if (pattern > 4)
        return fill_from_stage(array, value, device, stream);
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

/* ---- ranges ---- */

static kiln_status count_range(int64_t *count, double start, double stop, double step)
{
    double n = ceil((stop - start) / step);
    if (!isfinite(start) || !isfinite(stop) || !isfinite(step) || step == 0)
        return kn_error(KILN_ERROR_INVALID, "kiln_array_arange: start %g, stop %g and step %g make no range",
                        start, stop, step);
    if (n >= 9007199254740992.0)
        return kn_error(KILN_ERROR_SHAPE, "kiln_array_arange: %g elements are too many", n);
    *count = n > 0 ? (int64_t)n : 0;
    return KILN_OK;
}

/* What is left of x when it is an element of dtype. */
static double rounded(double x, kiln_dtype dtype, bool *fits)
{
    unsigned char element[16];
    bool is_whole = kn_dtype_info_of(dtype)->kind <= KN_KIND_UINT;
    kn_number number = {.kind = KN_KIND_FLOAT, .re = is_whole ? trunc(x) : x};
    if (!kn_number_store(element, dtype, &number)) {
        *fits = false;
        return 0;
    }
    number = kn_number_load(element, dtype);
    return number.kind >= KN_KIND_FLOAT  ? number.re
           : number.kind == KN_KIND_UINT ? (double)number.u
                                         : (double)number.i;
}

/* As NumPy: the first two elements are made in the dtype, the others from their difference, in float for
 * narrow dtypes. */
static bool write_range(char *data, int64_t count, double start, double step, kiln_dtype dtype)
{
    const kn_dtype_info *info = kn_dtype_info_of(dtype);
    size_t item = info->size;
    bool is_narrow = info->kind >= KN_KIND_FLOAT && dtype != KILN_FLOAT64 && dtype != KILN_COMPLEX128,
         fits = true;
    double first = count > 0 ? rounded(start, dtype, &fits) : 0,
           second = count > 1 ? rounded(start + step, dtype, &fits) : 0;
    float narrow_first = (float)first, narrow_delta = (float)second - narrow_first;
    for (int64_t k = 0; k < count && fits; k++) {
        kn_number number = {.kind = KN_KIND_FLOAT, .re = first + (double)k * (second - first)};
        if (is_narrow)
            number.re = (double)(narrow_first + (float)k * narrow_delta);
        if (k == 1)
            number.re = second;
        fits = kn_number_store(data + (size_t)k * item, dtype, &number);
    }
    return fits;
}

kiln_status kiln_array_arange(kiln_array **out, double start, double stop, double step, kiln_dtype dtype,
                              kiln_device device)
{
    int64_t count;
    kiln_array *a = NULL;
    char *stage = NULL;
    kiln_status status = check_out(out, "kiln_array_arange");
    if (!status)
        status = count_range(&count, start, stop, step);
    if (!status)
        status = kiln_array_empty(&a, dtype, 1, &count, device);
    if (status)
        return status;
    stage = kn_malloc(kiln_array_nbytes(a) + 1);
    if (!stage)
        status = kn_error_memory(kiln_array_nbytes(a), "the values of a range");
    else if (!write_range(stage, count, start, step, dtype))
        status = kn_error(KILN_ERROR_TYPE, "kiln_array_arange: the range from %g to %g does not fit %s",
                          start, stop, kiln_dtype_name(dtype));
    else
        status = kn_array_upload(a, stage, "kiln_array_arange");
    kn_free(stage);
    if (status)
        kiln_array_free(a);
    else
        *out = a;
    return status;
}
