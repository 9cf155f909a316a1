/* New arrays and their first elements. */
#include "array/array.h"
#include "base/alloc.h"
#include "base/error.h"
#include "types/number.h"
#include <math.h>
#include <string.h>

enum { STAGE_BYTES = 4 << 20, RANGE_GRAIN = 1 << 15 };

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

static _Atomic(kn_array_fill_function) fill_function;
static _Atomic(kn_array_range_function) range_function;

void kn_array_set_fill_functions(kn_array_fill_function fill, kn_array_range_function range)
{
    atomic_store(&fill_function, fill);
    atomic_store(&range_function, range);
}

/* Where there is neither a compiler nor a binary, the host does the work. A capture cannot wait for it. */
static bool host_may_help(kiln_status status)
{
    return status == KILN_ERROR_NOT_FOUND || status == KILN_ERROR_FORBIDDEN;
}

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
        return kn_error_memory(head, "the values of an array");
    write_elements(stage, value, item, head);
    status = device->backend->copy(device, array->data, stage, head, KN_COPY_HOST_TO_DEVICE, stream);
    if (!status)
        status = device->backend->stream_synchronize(device, stream); /* the stage goes */
    if (!status)
        status = repeat_head(device, array->data, head, size, stream);
    kn_free(stage);
    return status;
}

/* Elements that the fills of a device cannot write, or that do not lie one behind the other. */
static kiln_status fill_by_kernel(kiln_array *array, const void *value, kn_device *device, void *stream)
{
    kn_array_fill_function function = atomic_load(&fill_function);
    kiln_status status = KILN_ERROR_NOT_FOUND;
    if (device->backend->kind != KN_HOST && function)
        status = function(array, value, NULL);
    if (!host_may_help(status) || !array->is_c_contiguous)
        return status == KILN_ERROR_NOT_FOUND && !function
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

/* What is left of x when it is an element of dtype; whole numbers are cut. False where it does not fit. */
static bool as_element(kn_number *out, double x, kiln_dtype dtype)
{
    unsigned char element[16];
    bool is_whole = kn_dtype_info_of(dtype)->kind <= KN_KIND_UINT;
    kn_number number = {.kind = KN_KIND_FLOAT, .re = is_whole ? trunc(x) : x};
    if (!kn_number_store(element, dtype, &number))
        return false;
    *out = kn_number_load(element, dtype);
    return true;
}

static uint64_t bits_of(const kn_number *x)
{
    return x->kind == KN_KIND_UINT && x->u > INT64_MAX ? x->u : (uint64_t)x->i;
}

/* Whole numbers grow evenly: where the last one fits, all do. Signed ones are moved up by 2^63, so that all
 * compare as unsigned. */
static bool last_fits(uint64_t first, uint64_t second, int64_t count, const kn_dtype_info *info)
{
    const uint64_t middle = UINT64_C(1) << 63;
    int bits = info->kind == KN_KIND_BOOL ? 1 : 8 * info->size;
    uint64_t low = 0, high = ~UINT64_C(0) >> (64 - bits), steps = count > 0 ? (uint64_t)count - 1 : 0;
    if (info->kind == KN_KIND_INT) {
        low = middle - (UINT64_C(1) << (bits - 1));
        high = low + high;
        first ^= middle;
        second ^= middle;
    }
    if (second == first)
        return true;
    return second > first ? steps <= (high - first) / (second - first)
                          : steps <= (first - low) / (first - second);
}

/* As NumPy: the first two elements are made in the dtype, the others from their difference, in float for
 * narrow dtypes. False where the range does not fit. */
static bool make_range(kn_range *r, int64_t count, double start, double step, kiln_dtype dtype)
{
    kn_number first = {.kind = KN_KIND_INT}, second;
    *r = (kn_range){.is_whole = kn_dtype_info_of(dtype)->kind <= KN_KIND_UINT,
                    .is_narrow = dtype != KILN_FLOAT64 && dtype != KILN_COMPLEX128};
    if (count > 0 && !as_element(&first, start, dtype))
        return false;
    second = first;
    if (count > 1 && !as_element(&second, start + step, dtype))
        return false;
    if (r->is_whole) {
        r->first = bits_of(&first);
        r->delta = bits_of(&second) - r->first;
        return last_fits(r->first, bits_of(&second), count, kn_dtype_info_of(dtype));
    }
    r->start = first.re;
    r->second = second.re;
    r->step = r->is_narrow ? (double)((float)second.re - (float)first.re) : second.re - first.re;
    return true;
}

static double floating_element(const kn_range *r, int64_t k)
{
    if (k < 2) /* as they are: a step may be no number */
        return k == 0 ? r->start : r->second;
    if (r->is_narrow)
        return (double)((float)r->start + (float)k * (float)r->step);
    return r->start + (double)k * r->step;
}

/* Elements begin .. end of a range; data: the whole one's first. */
typedef void (*range_writer)(char *data, int64_t begin, int64_t end, const kn_range *r, kiln_dtype dtype);

#define WHOLE(type)                                                                                          \
    static void write_##type(char *data, int64_t begin, int64_t end, const kn_range *r, kiln_dtype dtype)    \
    {                                                                                                        \
        (void)dtype;                                                                                         \
        for (int64_t k = begin; k < end; k++)                                                                \
            ((type *)(void *)data)[k] = (type)(r->first + (uint64_t)k * r->delta);                           \
    }
WHOLE(uint8_t)
WHOLE(uint16_t)
WHOLE(uint32_t)
WHOLE(uint64_t)

static void write_float(char *data, int64_t begin, int64_t end, const kn_range *r, kiln_dtype dtype)
{
    const float start = (float)r->start, step = (float)r->step;
    (void)dtype;
    for (int64_t k = begin; k < end; k++)
        ((float *)(void *)data)[k] = start + (float)k * step;
}

static void write_double(char *data, int64_t begin, int64_t end, const kn_range *r, kiln_dtype dtype)
{
    (void)dtype;
    for (int64_t k = begin; k < end; k++)
        ((double *)(void *)data)[k] = r->start + (double)k * r->step;
}

static void write_any(char *data, int64_t begin, int64_t end, const kn_range *r, kiln_dtype dtype)
{
    size_t item = (size_t)kn_dtype_info_of(dtype)->size;
    for (int64_t k = begin; k < end; k++) {
        kn_number number = {.kind = KN_KIND_FLOAT, .re = floating_element(r, k)};
        kn_number_store(data + (size_t)k * item, dtype, &number);
    }
}

static range_writer writer_of(const kn_range *r, kiln_dtype dtype)
{
    int size = kn_dtype_info_of(dtype)->size;
    if (r->is_whole)
        return size == 1   ? write_uint8_t
               : size == 2 ? write_uint16_t
               : size == 4 ? write_uint32_t
                           : write_uint64_t;
    return dtype == KILN_FLOAT32 ? write_float : dtype == KILN_FLOAT64 ? write_double : write_any;
}

typedef struct range_work {
    char *data;
    const kn_range *range;
    kiln_dtype dtype;
} range_work;

static void write_part(void *user, int64_t begin, int64_t end)
{
    const range_work *w = user;
    writer_of(w->range, w->dtype)(w->data, begin, end, w->range, w->dtype);
}

static void write_range(char *data, int64_t count, const kn_range *r, kiln_dtype dtype)
{
    range_work work = {data, r, dtype};
    kn_host_parallel(count, RANGE_GRAIN, write_part, &work);
    if (!r->is_whole) /* the first two are as they are: their difference may be no number */
        write_any(data, 0, count < 2 ? count : 2, r, dtype);
}

static kiln_status range_from_stage(kiln_array *a, const kn_range *r)
{
    char *stage = kn_malloc(kiln_array_nbytes(a) + 1);
    if (!stage)
        return kn_error_memory(kiln_array_nbytes(a), "the values of a range");
    write_range(stage, a->size, r, a->dtype);
    kiln_status status = kn_array_upload(a, stage, "kiln_array_arange");
    kn_free(stage);
    return status;
}

static kiln_status fill_range(kiln_array *a, const kn_range *r)
{
    kn_array_range_function function = atomic_load(&range_function);
    kiln_status status = KILN_ERROR_NOT_FOUND;
    if (a->storage->device->backend->kind == KN_HOST) {
        write_range(a->data, a->size, r, a->dtype);
        return KILN_OK;
    }
    if (function)
        status = function(a, r, NULL);
    return host_may_help(status) ? range_from_stage(a, r) : status;
}

kiln_status kiln_array_arange(kiln_array **out, double start, double stop, double step, kiln_dtype dtype,
                              kiln_device device)
{
    int64_t count;
    kn_range range;
    kiln_array *a = NULL;
    kiln_status status = check_out(out, "kiln_array_arange");
    if (!status)
        status = count_range(&count, start, stop, step);
    if (!status)
        status = kiln_array_empty(&a, dtype, 1, &count, device);
    if (!status && !make_range(&range, count, start, step, dtype))
        status = kn_error(KILN_ERROR_TYPE, "kiln_array_arange: the range from %g to %g does not fit %s",
                          start, stop, kiln_dtype_name(dtype));
    if (!status && count > 0)
        status = fill_range(a, &range);
    if (status)
        kiln_array_free(a);
    else
        *out = a;
    return status;
}
