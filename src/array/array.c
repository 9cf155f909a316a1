/* The array object: storage with a reference count, and descriptions of it. */
#include "array/array.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/sized.h"
#include "space/shape.h"
#include <string.h>

static const kn_array_kernels no_kernels;
static _Atomic(const kn_array_kernels *) array_kernels = &no_kernels;

void kn_array_set_kernels(const kn_array_kernels *kernels)
{
    atomic_store(&array_kernels, kernels);
}

const kn_array_kernels *kn_array_get_kernels(void)
{
    return atomic_load(&array_kernels);
}

/* ---- storage ---- */

static kn_storage *storage_new(kn_device *device, void *data, size_t size)
{
    kn_storage *s = kn_calloc(1, sizeof *s);
    if (!s)
        return NULL;
    atomic_init(&s->references, 1);
    s->device = device;
    s->data = data;
    s->size = size;
    return s;
}

static void storage_release(kn_storage *s)
{
    if (!s || atomic_fetch_sub_explicit(&s->references, 1, memory_order_acq_rel) != 1)
        return;
    if (s->is_pooled)
        kn_memory_free(s->device, s->data, s->size, s->stream);
    else if (s->release)
        s->release(s->user);
    kn_free(s);
}

/* ---- checks ---- */

static kiln_status check_extents(int ndim, const int64_t *shape, const kn_dtype_info *info)
{
    int64_t size = kn_shape_size(ndim, shape), bytes;
    if (size >= 0 && !__builtin_mul_overflow(size, (int64_t)info->size, &bytes))
        return KILN_OK;
    kn_str text = KN_STR_INIT;
    bool negative = false;
    for (int k = 0; k < ndim; k++)
        negative |= shape[k] < 0;
    kn_shape_format(&text, ndim, shape);
    kn_error(KILN_ERROR_SHAPE, "shape %s of %s %s", kn_str_text(&text), info->name,
             negative ? "has a negative extent" : "needs more bytes than 63 bits can count");
    kn_str_free(&text);
    return KILN_ERROR_SHAPE;
}

kiln_status kn_array_check_shape(kiln_dtype dtype, int ndim, const int64_t *shape)
{
    const kn_dtype_info *info = kn_dtype_info_of(dtype);
    if (!info)
        return kn_error(KILN_ERROR_TYPE, "%d is no dtype", (int)dtype);
    if (ndim < 0 || ndim > KILN_MAX_NDIM)
        return kn_error(KILN_ERROR_SHAPE, "%d axes; 0 to %d are possible", ndim, KILN_MAX_NDIM);
    if (ndim > 0 && !shape)
        return kn_error(KILN_ERROR_INVALID, "shape is NULL, but there are %d axes", ndim);
    return check_extents(ndim, shape, info);
}

kiln_status kn_array_check_data(const kiln_array *array, const char *function)
{
    if (!array)
        return kn_error(KILN_ERROR_INVALID, "%s: array is NULL", function);
    if (array->recorder)
        return kn_error(KILN_ERROR_INVALID,
                        "%s: the array stands for a value of the trace '%s': it has no data", function,
                        array->recorder->name);
    if (!array->storage)
        return kn_error(KILN_ERROR_INVALID, "%s: the array is a placeholder: it has no data", function);
    return KILN_OK;
}

/* ---- arrays ---- */

void kn_array_layout_make(kn_array_layout *out, kiln_dtype dtype, int ndim, const int64_t *extents)
{
    int64_t high;
    *out = (kn_array_layout){.dtype = dtype, .item_size = (int32_t)kiln_dtype_size(dtype), .ndim = ndim};
    out->extents = extents;
    out->size = kn_shape_size(ndim, extents);
    out->is_c_contiguous = kn_shape_is_c_contiguous(ndim, extents, extents + ndim, out->item_size);
    out->is_f_contiguous = kn_shape_is_f_contiguous(ndim, extents, extents + ndim, out->item_size);
    kn_shape_byte_range(ndim, extents, extents + ndim, out->item_size, &out->low, &high);
    out->bytes = high - out->low;
}

/* The layout of a new array in C order, whose shape has been checked; extents have place for the strides. */
static void layout_in_c_order(kn_array_layout *out, kiln_dtype dtype, int ndim, const int64_t *shape,
                              int64_t *extents)
{
    int64_t size = 1, stride, item_size = (int64_t)kiln_dtype_size(dtype);
    int n_long = 0; /* axes along which there is a second element */
    for (int k = 0; k < ndim; k++)
        size *= shape[k];
    stride = size > 0 ? item_size : 0;
    for (int k = ndim - 1; k >= 0; k--) {
        extents[k] = shape[k];
        extents[ndim + k] = stride;
        stride *= shape[k];
        n_long += shape[k] > 1;
    }
    *out = (kn_array_layout){.dtype = dtype, .item_size = (int32_t)item_size, .ndim = ndim};
    out->extents = extents;
    out->size = size;
    out->is_c_contiguous = true;
    out->is_f_contiguous = n_long < 2 || size == 0;
    out->bytes = size * item_size;
}

static size_t array_bytes(const kn_array_layout *layout)
{
    return sizeof(kiln_array) + 2 * (size_t)layout->ndim * sizeof(int64_t);
}

/* Storage and data are still to be set. */
static void array_init(kiln_array *a, const kn_array_layout *layout)
{
    *a = (kiln_array){.dtype = layout->dtype,
                      .item_size = layout->item_size,
                      .ndim = layout->ndim,
                      .size = layout->size,
                      .is_c_contiguous = layout->is_c_contiguous,
                      .is_f_contiguous = layout->is_f_contiguous,
                      .strides = a->shape + layout->ndim};
    atomic_init(&a->references, 1);
    for (int k = 0; k < 2 * layout->ndim; k++)
        a->shape[k] = layout->extents[k];
}

/* Shape and strides are copied; storage and data are still to be set. */
static kiln_array *array_new(kiln_dtype dtype, int ndim, const int64_t *shape, const int64_t *strides)
{
    int64_t extents[2 * KILN_MAX_NDIM];
    kn_array_layout layout;
    for (int k = 0; k < ndim; k++) {
        extents[k] = shape[k];
        extents[ndim + k] = strides[k];
    }
    kn_array_layout_make(&layout, dtype, ndim, extents);
    kiln_array *a = kn_malloc(array_bytes(&layout));
    if (a)
        array_init(a, &layout);
    else
        kn_error_memory("an array");
    return a;
}

/* Array and storage are one allocation, owned by the storage: views may outlive the array. */
kiln_status kn_array_from_layout(kiln_array **out, const kn_array_layout *layout, kn_device *device,
                                 void *stream, uint64_t capture)
{
    size_t size = sizeof(kn_storage) + array_bytes(layout);
    kn_storage *s = kn_malloc(size);
    if (!s)
        return kn_error_memory("an array");
    *s = (kn_storage){.device = device, .size = (size_t)layout->bytes, .is_pooled = true, .stream = stream};
    atomic_init(&s->references, 1);
    kiln_status status = kn_memory_alloc_in(&s->data, device, s->size, stream, capture);
    if (status != KILN_OK) {
        kn_free(s);
        return status;
    }
    kiln_array *a = (kiln_array *)(void *)(s + 1);
    array_init(a, layout);
    a->is_joint = true;
    a->storage = s;
    a->data = (char *)s->data - layout->low;
    *out = a;
    return KILN_OK;
}

void kn_array_shorten(kiln_array *array, int axis, int64_t extent)
{
    array->shape[axis] = extent;
    array->size = kn_shape_size(array->ndim, array->shape);
    if (axis == 0 || array->size == 0) /* else what is left lies apart */
        kn_shape_new_strides(array->ndim, array->shape, array->item_size, array->strides);
    array->is_c_contiguous =
        kn_shape_is_c_contiguous(array->ndim, array->shape, array->strides, array->item_size);
    array->is_f_contiguous =
        kn_shape_is_f_contiguous(array->ndim, array->shape, array->strides, array->item_size);
}

kiln_status kn_array_clear(const kiln_array *array, void *stream)
{
    static const unsigned char zero = 0;
    const kn_storage *s = array->storage;
    return s->size > 0 ? s->device->backend->fill(s->device, s->data, &zero, 1, s->size, stream) : KILN_OK;
}

kiln_status kn_array_allocate(kiln_array **out, kn_device *device, void *stream, kiln_dtype dtype, int ndim,
                              const int64_t *shape, const int64_t *strides)
{
    kiln_status status = kn_array_check_shape(dtype, ndim, shape);
    return status == KILN_OK ? kn_array_allocate_checked(out, device, stream, dtype, ndim, shape, strides)
                             : status;
}

kiln_status kn_array_allocate_checked(kiln_array **out, kn_device *device, void *stream, kiln_dtype dtype,
                                      int ndim, const int64_t *shape, const int64_t *strides)
{
    int64_t extents[2 * KILN_MAX_NDIM];
    uint64_t capture;
    kn_array_layout layout;
    if (strides) {
        for (int k = 0; k < ndim; k++) {
            extents[k] = shape[k];
            extents[ndim + k] = strides[k];
        }
        kn_array_layout_make(&layout, dtype, ndim, extents);
    } else {
        layout_in_c_order(&layout, dtype, ndim, shape, extents);
    }
    kiln_status status = kn_memory_capture_of(&capture, device, stream);
    return status == KILN_OK ? kn_array_from_layout(out, &layout, device, stream, capture) : status;
}

kiln_status kn_array_view(kiln_array **out, const kiln_array *array, char *data, int ndim,
                          const int64_t *shape, const int64_t *strides)
{
    kiln_array *a = array_new(array->dtype, ndim, shape, strides);
    if (!a)
        return KILN_ERROR_MEMORY;
    a->storage = array->storage;
    a->data = data;
    a->is_read_only = array->is_read_only;
    if (a->storage)
        atomic_fetch_add_explicit(&a->storage->references, 1, memory_order_relaxed);
    *out = a;
    return KILN_OK;
}

kiln_status kn_array_placeholder(kiln_array **out, kiln_dtype dtype, int ndim, const int64_t *shape)
{
    int64_t strides[KILN_MAX_NDIM];
    kiln_status status = kn_array_check_shape(dtype, ndim, shape);
    if (status)
        return status;
    kn_shape_new_strides(ndim, shape, (int64_t)kiln_dtype_size(dtype), strides);
    kiln_array *a = array_new(dtype, ndim, shape, strides);
    if (!a)
        return KILN_ERROR_MEMORY;
    *out = a;
    return KILN_OK;
}

kn_recorder *kn_array_find_recorder(kiln_array *const *out, int n_out, const kiln_arg *in, int n_in)
{
    kn_recorder *found = NULL;
    for (int k = 0; k < n_in && !found; ++k)
        if (in[k].kind == KILN_ARG_ARRAY && in[k].value.array)
            found = in[k].value.array->recorder;
    for (int j = 0; out && j < n_out && !found; ++j)
        found = out[j] ? out[j]->recorder : NULL;
    return found;
}

kiln_array *kiln_array_retain(const kiln_array *array)
{
    kiln_array *same = (kiln_array *)(uintptr_t)array; /* a reference more changes nothing that callers see */
    if (same)
        atomic_fetch_add_explicit(&same->references, 1, memory_order_relaxed);
    return same;
}

void kiln_array_free(kiln_array *array)
{
    if (!array || atomic_fetch_sub_explicit(&array->references, 1, memory_order_acq_rel) != 1)
        return;
    bool is_joint = array->is_joint;
    if (array->recorder)
        array->recorder->functions->release(array->recorder);
    storage_release(array->storage);
    if (!is_joint)
        kn_free(array);
}

/* ---- foreign memory ---- */

static kiln_status check_strides(const kiln_array_spec *spec, const int64_t *strides, const void *data)
{
    const kn_dtype_info *info = kn_dtype_info_of(spec->dtype);
    int64_t low, high;
    kn_shape_byte_range(spec->ndim, spec->shape, strides, info->size, &low, &high);
    if (low == INT64_MIN || high == INT64_MAX)
        return kn_error(KILN_ERROR_SHAPE,
                        "kiln_array_wrap: the strides reach further than 63 bits can count");
    if (high == 0)
        return KILN_OK;
    if (!data)
        return kn_error(KILN_ERROR_INVALID, "kiln_array_wrap: data is NULL");
    bool is_aligned = (uintptr_t)data % info->align == 0;
    for (int k = 0; k < spec->ndim; k++)
        is_aligned &= spec->shape[k] == 1 || strides[k] % info->align == 0;
    if (!is_aligned)
        return kn_error(KILN_ERROR_INVALID, "kiln_array_wrap: elements of %s must be aligned to %d bytes",
                        info->name, info->align);
    return KILN_OK;
}

static kiln_status wrap(kiln_array **out, void *data, const kiln_array_spec *spec, const int64_t *strides,
                        void (*release)(void *), void *user)
{
    kn_device *device;
    int64_t low, high;
    kiln_status status = kn_device_get(&device, spec->device);
    if (status)
        return status;
    kiln_array *a = array_new(spec->dtype, spec->ndim, spec->shape, strides);
    if (!a)
        return KILN_ERROR_MEMORY;
    kn_shape_byte_range(a->ndim, a->shape, a->strides, a->item_size, &low, &high);
    a->storage = storage_new(device, data ? (char *)data + low : NULL, (size_t)(high - low));
    if (!a->storage) {
        kiln_array_free(a);
        return kn_error_memory("an array");
    }
    a->storage->release = release;
    a->storage->user = user;
    a->data = data;
    a->is_read_only = spec->read_only;
    *out = a;
    return KILN_OK;
}

kiln_status kiln_array_wrap(kiln_array **out, void *data, const kiln_array_spec *spec,
                            void (*release)(void *), void *user)
{
    kiln_array_spec known = KILN_ARRAY_SPEC_INIT;
    int64_t strides[KILN_MAX_NDIM];
    if (!out || !spec)
        return kn_error(KILN_ERROR_INVALID, "kiln_array_wrap: %s is NULL", out ? "spec" : "out");
    kiln_status status =
        kn_sized_read(&known, sizeof known, spec, "kiln_array_wrap: spec", "KILN_ARRAY_SPEC_INIT");
    if (!status)
        status = kn_array_check_shape(known.dtype, known.ndim, known.shape);
    if (status)
        return status;
    if (!known.strides)
        kn_shape_c_strides(known.ndim, known.shape, (int64_t)kiln_dtype_size(known.dtype), strides);
    else if (known.ndim)
        memcpy(strides, known.strides, (size_t)known.ndim * sizeof *strides);
    status = check_strides(&known, strides, data);
    return status ? status : wrap(out, data, &known, strides, release, user);
}

/* ---- description ---- */

kiln_dtype kn_argument_dtype(const kiln_arg *in)
{
    return in->kind == KILN_ARG_ARRAY   ? in->value.array->dtype
           : in->kind == KILN_ARG_TYPED ? (kiln_dtype)in->dtype
                                        : kn_weak_dtype(in);
}

kiln_dtype kiln_array_dtype(const kiln_array *array)
{
    return array ? array->dtype : KILN_DTYPE_NONE;
}

int kiln_array_ndim(const kiln_array *array)
{
    return array ? array->ndim : 0;
}

const int64_t *kiln_array_shape(const kiln_array *array)
{
    return array ? array->shape : NULL;
}

const int64_t *kiln_array_strides(const kiln_array *array)
{
    return array ? array->strides : NULL;
}

int64_t kiln_array_size(const kiln_array *array)
{
    return array ? array->size : 0;
}

size_t kiln_array_nbytes(const kiln_array *array)
{
    return array ? (size_t)array->size * (size_t)array->item_size : 0;
}

kiln_device kiln_array_device(const kiln_array *array)
{
    return array && array->storage ? array->storage->device->id : KILN_DEVICE_DEFAULT;
}

void *kiln_array_data(const kiln_array *array)
{
    return array ? array->data : NULL;
}

bool kiln_array_is_c_contiguous(const kiln_array *array)
{
    return array && array->is_c_contiguous;
}

bool kiln_array_is_f_contiguous(const kiln_array *array)
{
    return array && array->is_f_contiguous;
}

bool kiln_array_is_read_only(const kiln_array *array)
{
    return array && array->is_read_only;
}
