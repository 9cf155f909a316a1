/* Views with any strides that stay within an array's memory. */
#include "array/array.h"
#include "base/error.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static kiln_status check(const void *out, const kiln_array *array, const char *function)
{
    if (!out || !array)
        return kn_error(KILN_ERROR_INVALID, "%s: %s is NULL", function, out ? "array" : "out");
    return array->recorder ? kn_error(KILN_ERROR_INVALID,
                                      "%s: array is one of a trace, which has no memory; an expression's "
                                      "sliding_window_view, or an array with elements, was expected",
                                      function)
                           : KILN_OK;
}

/* The bytes of all elements, from the first one. False: no number says how many. */
static bool find_span(int64_t *low, int64_t *high, int64_t item_size, int ndim, const int64_t *shape,
                      const int64_t *strides)
{
    *low = 0;
    *high = item_size;
    for (int k = 0; k < ndim; k++) {
        int64_t way;
        if (shape[k] == 0) {
            *low = *high = 0;
            return true;
        }
        if (__builtin_mul_overflow(shape[k] - 1, strides[k], &way) ||
            __builtin_add_overflow(way < 0 ? *low : *high, way, way < 0 ? low : high))
            return false;
    }
    return true;
}

/* Whether elements may share memory: along the axes in the order of their strides, each has to lead beyond
 * what the ones before it reach. */
static bool may_overlap(int64_t item_size, int ndim, const int64_t *shape, const int64_t *strides)
{
    uint64_t left = 0;
    int64_t reached = item_size;
    for (int k = 0; k < ndim; k++)
        left |= shape[k] > 1 ? UINT64_C(1) << k : 0;
    while (left) {
        int least = -1;
        for (int k = 0; k < ndim; k++)
            if (left >> k & 1 && (least < 0 || llabs(strides[k]) < llabs(strides[least])))
                least = k;
        if (llabs(strides[least]) < reached)
            return true;
        reached += (shape[least] - 1) * llabs(strides[least]);
        left &= ~(UINT64_C(1) << least);
    }
    return false;
}

static kiln_status view(kiln_array **out, const kiln_array *array, int ndim, const int64_t *shape,
                        const int64_t *strides)
{
    kiln_status status = kn_array_view(out, array, array->data, ndim, shape, strides);
    if (!status && may_overlap(array->item_size, ndim, shape, strides))
        (*out)->is_read_only = true;
    return status;
}

kiln_status kiln_array_as_strided(kiln_array **out, const kiln_array *array, int ndim, const int64_t *shape,
                                  const int64_t *strides)
{
    static const char name[] = "kiln_array_as_strided";
    int64_t low, high;
    kiln_status status = check(out, array, name);
    if (!status)
        status = kn_array_check_shape(kiln_array_dtype(array), ndim, shape);
    if (!status && ndim > 0 && !strides)
        return kn_error(KILN_ERROR_INVALID, "%s: strides is NULL", name);
    if (status)
        return status;
    const kn_storage *storage = array->storage;
    const int64_t before = array->data - (char *)storage->data, behind = (int64_t)storage->size - before;
    if (!find_span(&low, &high, array->item_size, ndim, shape, strides))
        return kn_error(KILN_ERROR_INVALID, "%s: strides lead beyond every memory", name);
    if (low < -before || high > behind)
        return kn_error(KILN_ERROR_INVALID,
                        "%s: strides: elements would lie in the bytes from %" PRId64 " to %" PRId64
                        ", seen from the first one; the array's memory has those from %" PRId64
                        " to %" PRId64,
                        name, low, high, -before, behind);
    return view(out, array, ndim, shape, strides);
}
