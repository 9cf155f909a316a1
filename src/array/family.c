/* Arrays like another one, evenly spaced numbers, assignments, and single elements out of arrays. */
#include "array/array.h"
#include "base/alloc.h"
#include "base/cancel.h"
#include "base/error.h"
#include "types/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- of the same dtype, shape and device ---- */

static kiln_status check_model(kiln_array **out, const kiln_array *array, const char *function)
{
    if (!out || !array)
        return kn_error(KILN_ERROR_INVALID, "%s: %s is NULL", function, out ? "array" : "out");
    return kn_array_check_data(array, function);
}

kiln_status kiln_array_empty_like(kiln_array **out, const kiln_array *array)
{
    kiln_status status = check_model(out, array, "kiln_array_empty_like");
    return status ? status
                  : kiln_array_empty(out, array->dtype, array->ndim, array->shape, kiln_array_device(array));
}

kiln_status kiln_array_zeros_like(kiln_array **out, const kiln_array *array)
{
    kiln_status status = check_model(out, array, "kiln_array_zeros_like");
    return status ? status
                  : kiln_array_zeros(out, array->dtype, array->ndim, array->shape, kiln_array_device(array));
}

kiln_status kiln_array_ones_like(kiln_array **out, const kiln_array *array)
{
    kiln_status status = check_model(out, array, "kiln_array_ones_like");
    return status ? status
                  : kiln_array_ones(out, array->dtype, array->ndim, array->shape, kiln_array_device(array));
}

kiln_status kiln_array_full_like(kiln_array **out, const kiln_array *array, const void *value)
{
    kiln_status status = check_model(out, array, "kiln_array_full_like");
    return status ? status
                  : kiln_array_full(out, array->dtype, array->ndim, array->shape, value,
                                    kiln_array_device(array));
}

/* ---- evenly spaced numbers ---- */

static kiln_status write_spaced(char *data, double start, double stop, int64_t count, kiln_dtype dtype)
{
    const kn_dtype_info *info = kn_dtype_info_of(dtype);
    double last = (double)(count - 1), step = count > 1 ? (stop - start) / last : 0;
    for (int64_t k = 0; k < count; k++) {
        double way =
            step == 0 ? (double)k / last * (stop - start) : (double)k * step; /* it may be too small */
        double value = k == count - 1 && count > 1 ? stop : count > 1 ? way + start : start;
        kn_number number = {.kind = KN_KIND_FLOAT, .re = info->kind <= KN_KIND_UINT ? floor(value) : value};
        if (!kn_number_store(data + k * info->size, dtype, &number))
            return kn_error(KILN_ERROR_TYPE, "kiln_array_linspace: %s does not hold %g", info->name,
                            number.re);
    }
    return KILN_OK;
}

kiln_status kiln_array_linspace(kiln_array **out, double start, double stop, int64_t count, kiln_dtype dtype,
                                kiln_device device)
{
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "kiln_array_linspace: out is NULL");
    kiln_status status = kn_array_check_shape(dtype, 1, &count);
    if (status)
        return status;
    size_t bytes = (size_t)count * kiln_dtype_size(dtype);
    char *data = kn_malloc(bytes + 1);
    if (!data)
        return kn_error_memory("evenly spaced numbers");
    status = write_spaced(data, start, stop, count, dtype);
    if (!status)
        status = kiln_array_from_host(out, data, dtype, 1, &count, device);
    kn_free(data);
    return status;
}

/* ---- into arrays ---- */

/* Source and target may overlap if they share their storage. */
static kiln_status take_apart(kiln_array **out, kiln_array *to, kiln_array *from)
{
    if (from->dtype != to->dtype)
        return kiln_array_astype(out, from, to->dtype);
    if (from->storage == to->storage)
        return kiln_array_copy(out, from);
    *out = kiln_array_retain(from);
    return KILN_OK;
}

kiln_status kiln_array_assign(kiln_array *to, const kiln_array *from)
{
    kiln_array *near = NULL, *apart = NULL, *wide = NULL;
    kiln_status status = kn_array_check_data(to, "kiln_array_assign");
    if (!status)
        status = kn_array_check_data(from, "kiln_array_assign");
    if (!status)
        status = kn_array_check_writable(to, "kiln_array_assign");
    if (!status)
        status = kiln_array_to_device(&near, from, kiln_array_device(to));
    if (!status)
        status = take_apart(&apart, to, near);
    if (!status)
        status = kiln_array_broadcast_to(&wide, apart, to->ndim, to->shape) == KILN_OK
                     ? KILN_OK
                     : kn_error_context("kiln_array_assign");
    if (!status && to->size > 0)
        status = kn_array_copy_same(to, wide);
    kiln_array_free(wide);
    kiln_array_free(apart);
    kiln_array_free(near);
    return status;
}

/* ---- out of arrays ---- */

kiln_status kiln_array_item(double *out, const kiln_array *array)
{
    unsigned char bytes[16];
    kiln_status status = kn_array_check_data(array, "kiln_array_item");
    if (!status && !out)
        status = kn_error(KILN_ERROR_INVALID, "kiln_array_item: out is NULL");
    if (status)
        return status;
    if (array->size != 1)
        return kn_error(KILN_ERROR_SHAPE,
                        "kiln_array_item: an array of %lld elements was given; one was expected",
                        (long long)array->size);
    if (kn_dtype_is_complex(array->dtype))
        return kn_error(KILN_ERROR_TYPE, "kiln_array_item: a complex number does not fit a double");
    status = kiln_array_to_host(array, bytes, (size_t)array->item_size);
    if (status)
        return status;
    kn_number number = kn_number_load(bytes, array->dtype);
    *out = number.kind == KN_KIND_FLOAT  ? number.re
           : number.kind == KN_KIND_UINT ? (double)number.u
                                         : (double)number.i;
    return KILN_OK;
}

kiln_status kiln_array_print(const kiln_array *array)
{
    KN_UNCANCELLED;
    char *text = NULL;
    kiln_status status = kiln_array_to_string(&text, array, NULL);
    if (!status && (puts(text) < 0 || fflush(stdout) != 0))
        status = kn_error(KILN_ERROR_IO, "kiln_array_print: standard output could not be written");
    free(text);
    return status;
}
