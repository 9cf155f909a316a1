/* Views: other shapes and strides over the same storage. */
#include "array/array.h"
#include "base/alloc.h"
#include "base/error.h"
#include "space/shape.h"
#include <inttypes.h>
#include <string.h>

typedef struct layout {
    int ndim;
    char *data;
    int64_t shape[KILN_MAX_NDIM], strides[KILN_MAX_NDIM];
} layout;

static kiln_status check(const void *out, const kiln_array *array, const char *function)
{
    if (out && array)
        return KILN_OK;
    return kn_error(KILN_ERROR_INVALID, "%s: %s is NULL", function, out ? "array" : "out");
}

static void layout_of(layout *l, const kiln_array *array)
{
    l->ndim = array->ndim;
    l->data = array->data;
    if (array->ndim) {
        memcpy(l->shape, array->shape, (size_t)array->ndim * sizeof *l->shape);
        memcpy(l->strides, array->strides, (size_t)array->ndim * sizeof *l->strides);
    }
}

static kiln_status view(kiln_array **out, const kiln_array *array, const layout *l)
{
    return kn_array_view(out, array, l->data, l->ndim, l->shape, l->strides);
}

/* Records the subscript of one axis of a traced array; the axis is counted from either end, as given. */
static kiln_status record(kiln_array **out, const kiln_array *array, int axis, kn_subscript subscript)
{
    const kn_subscript whole = {KN_SUBSCRIPT_SLICE, KILN_SLICE_NONE, KILN_SLICE_NONE, KILN_SLICE_NONE};
    kn_subscript list[KILN_MAX_NDIM + 2];
    int count = 0;
    if (axis < 0)
        list[count++] = (kn_subscript){.kind = KN_SUBSCRIPT_REST};
    for (int k = 0; k < axis; k++)
        list[count++] = whole;
    list[count++] = subscript;
    for (int k = axis; k < -1; k++)
        list[count++] = whole;
    return array->recorder->functions->index(out, array, list, count);
}

static void drop_axis(layout *l, int axis)
{
    size_t rest = (size_t)(l->ndim - axis - 1);
    memmove(l->shape + axis, l->shape + axis + 1, rest * sizeof *l->shape);
    memmove(l->strides + axis, l->strides + axis + 1, rest * sizeof *l->strides);
    l->ndim--;
}

/* Counts a negative axis from the end. */
static kiln_status find_axis(int *axis, int ndim, const char *function)
{
    if (ndim == 0)
        return kn_error(KILN_ERROR_SHAPE, "%s: axis %d was given, but there are no axes", function, *axis);
    if (*axis < -ndim || *axis >= ndim)
        return kn_error(KILN_ERROR_SHAPE, "%s: axis %d is out of range; %d to %d were expected", function,
                        *axis, -ndim, ndim - 1);
    *axis += *axis < 0 ? ndim : 0;
    return KILN_OK;
}

static kiln_status check_axis(int *axis, const void *out, const kiln_array *array, const char *function)
{
    kiln_status status = check(out, array, function);
    return status ? status : find_axis(axis, array->ndim, function);
}

/* ---- slices ---- */

static int64_t clip_bound(int64_t bound, int64_t extent, int64_t lowest, int64_t highest)
{
    if (bound < 0)
        bound += extent;
    return bound < lowest ? lowest : bound > highest ? highest : bound;
}

int64_t kn_slice_clip(int64_t extent, int64_t *start, int64_t stop, int64_t step)
{
    bool back = step < 0;
    int64_t lowest = back ? -1 : 0, highest = back ? extent - 1 : extent;
    int64_t first = back ? highest : lowest, last = back ? lowest : highest;
    *start = *start == KILN_SLICE_NONE ? first : clip_bound(*start, extent, lowest, highest);
    stop = stop == KILN_SLICE_NONE ? last : clip_bound(stop, extent, lowest, highest);
    if (back ? stop >= *start : *start >= stop) {
        *start = 0;
        return 0;
    }
    return back ? (*start - stop - 1) / -step + 1 : (stop - *start - 1) / step + 1;
}

int64_t kn_slice_stride(int64_t stride, int64_t step, int64_t count)
{
    int64_t product; /* a single element is never stepped from: the step may be of any size */
    return count == 0 || __builtin_mul_overflow(stride, step, &product) ? stride : product;
}

kiln_status kiln_array_slice(kiln_array **out, const kiln_array *array, int axis, int64_t start, int64_t stop,
                             int64_t step)
{
    layout l;
    int given = axis;
    kiln_status status = check_axis(&axis, out, array, "kiln_array_slice");
    if (status)
        return status;
    if (step == 0)
        return kn_error(KILN_ERROR_INVALID, "kiln_array_slice: step is 0");
    if (array->recorder)
        return record(out, array, given, (kn_subscript){KN_SUBSCRIPT_SLICE, start, stop, step});
    layout_of(&l, array);
    step = step == KILN_SLICE_NONE ? 1 : step;
    int64_t count = kn_slice_clip(l.shape[axis], &start, stop, step);
    l.data += start * l.strides[axis];
    l.shape[axis] = count;
    l.strides[axis] = kn_slice_stride(l.strides[axis], step, count);
    return view(out, array, &l);
}

kiln_status kiln_array_select(kiln_array **out, const kiln_array *array, int axis, int64_t index)
{
    layout l;
    int given = axis;
    kiln_status status = check_axis(&axis, out, array, "kiln_array_select");
    if (status)
        return status;
    int64_t extent = array->shape[axis];
    if (index < -extent || index >= extent)
        return kn_error(KILN_ERROR_SHAPE,
                        "kiln_array_select: index %" PRId64 " is out of range for axis %d of extent %" PRId64,
                        index, axis, extent);
    if (array->recorder)
        return record(out, array, given, (kn_subscript){.kind = KN_SUBSCRIPT_INDEX, .start = index});
    layout_of(&l, array);
    l.data += (index < 0 ? index + extent : index) * l.strides[axis];
    drop_axis(&l, axis);
    return view(out, array, &l);
}

/* ---- parts ---- */

typedef struct parts {
    int n, axis;
    bool may_differ; /* of equal ones the first may have one element more */
    const int64_t *at;
} parts;

static kiln_status take_part(kiln_array **out, const kiln_array *array, const parts *of, int k)
{
    const int64_t extent = array->shape[of->axis], each = extent / of->n, longer = extent % of->n;
    const int64_t first = each * k + (k < longer ? k : longer);
    if (of->at)
        return kiln_array_slice(out, array, of->axis, k > 0 ? of->at[k - 1] : KILN_SLICE_NONE,
                                k < of->n - 1 ? of->at[k] : KILN_SLICE_NONE, 1);
    if (array->recorder)
        return record(out, array, of->axis, (kn_subscript){KN_SUBSCRIPT_PART, k, of->n, of->may_differ});
    return kiln_array_slice(out, array, of->axis, first, first + each + (k < longer), 1);
}

static kiln_status split(kiln_array **out, const kiln_array *array, parts of, const char *function)
{
    kiln_status status = check_axis(&of.axis, out, array, function);
    if (status)
        return status;
    if (of.n < 1)
        return kn_error(KILN_ERROR_INVALID, "%s: n: %d parts were given; at least 1 was expected", function,
                        of.n);
    if (!of.at && !of.may_differ && !array->recorder && array->shape[of.axis] % of.n != 0)
        return kn_error(KILN_ERROR_SHAPE, "%s: axis %d of extent %" PRId64 " has no %d equal parts", function,
                        of.axis, array->shape[of.axis], of.n);
    kiln_array **made = kn_calloc((size_t)of.n, sizeof *made);
    if (!made)
        return kn_error_memory("the parts of an array");
    for (int k = 0; k < of.n && status == KILN_OK; k++)
        status = take_part(&made[k], array, &of, k);
    for (int k = 0; k < of.n && status != KILN_OK; k++)
        kiln_array_free(made[k]);
    if (status == KILN_OK)
        memcpy(out, made, (size_t)of.n * sizeof *made);
    kn_free(made);
    return status;
}

kiln_status kiln_array_split(kiln_array **out, int n, const kiln_array *array, int axis, const int64_t *at)
{
    return split(out, array, (parts){n, axis, true, at}, "kiln_array_split");
}

kiln_status kiln_split(kiln_array **out, int n, const kiln_array *array, int axis, const int64_t *at)
{
    return split(out, array, (parts){n, axis, false, at}, "kiln_split");
}

kiln_status kiln_unstack(kiln_array **out, int n, const kiln_array *array, int axis)
{
    kiln_status status = check_axis(&axis, out, array, "kiln_unstack");
    if (status)
        return status;
    if (n < 0 || (!array->recorder && array->shape[axis] != n))
        return kn_error(KILN_ERROR_SHAPE, "kiln_unstack: n: %d was given; axis %d has %" PRId64 " elements",
                        n, axis, array->recorder ? 0 : array->shape[axis]);
    kiln_array **made = kn_calloc((size_t)n + 1, sizeof *made);
    if (!made)
        return kn_error_memory("the parts of an array");
    for (int k = 0; k < n && status == KILN_OK; k++)
        status = kiln_array_select(&made[k], array, axis, k);
    for (int k = 0; k < n && status != KILN_OK; k++)
        kiln_array_free(made[k]);
    if (status == KILN_OK && n > 0)
        memcpy(out, made, (size_t)n * sizeof *made);
    kn_free(made);
    return status;
}

/* ---- axes ---- */

kiln_status kiln_array_transpose(kiln_array **out, const kiln_array *array, const int *axes)
{
    layout l;
    uint64_t seen = 0;
    kiln_status status = check(out, array, "kiln_array_transpose");
    if (status)
        return status;
    layout_of(&l, array);
    for (int k = 0; k < l.ndim; k++) {
        int axis = axes ? axes[k] : l.ndim - 1 - k;
        status = find_axis(&axis, l.ndim, "kiln_array_transpose");
        if (status)
            return status;
        if (seen >> axis & 1)
            return kn_error(KILN_ERROR_SHAPE, "kiln_array_transpose: axis %d stands twice in axes", axis);
        seen |= UINT64_C(1) << axis;
        l.shape[k] = array->shape[axis];
        l.strides[k] = array->strides[axis];
    }
    if (array->recorder)
        return array->recorder->functions->transpose(out, array, axes);
    return view(out, array, &l);
}

kiln_status kiln_array_squeeze(kiln_array **out, const kiln_array *array, int axis)
{
    layout l;
    int given = axis;
    kiln_status status = check(out, array, "kiln_array_squeeze");
    if (status)
        return status;
    bool is_open = axis == KILN_ALL_AXES ||
                   (array->ndim == 0 && (axis == 0 || axis == -1)); /* nothing to drop: NumPy lets it pass */
    if (is_open && array->recorder)
        return array->recorder->functions->index(out, array, &(kn_subscript){.kind = KN_SUBSCRIPT_ONES}, 1);
    layout_of(&l, array);
    if (is_open) {
        for (int k = l.ndim - 1; k >= 0; k--)
            if (l.shape[k] == 1)
                drop_axis(&l, k);
        return view(out, array, &l);
    }
    status = find_axis(&axis, l.ndim, "kiln_array_squeeze");
    if (status)
        return status;
    if (l.shape[axis] != 1)
        return kn_error(KILN_ERROR_SHAPE, "kiln_array_squeeze: axis %d has extent %" PRId64 ", not 1", axis,
                        l.shape[axis]);
    if (array->recorder)
        return record(out, array, given, (kn_subscript){.kind = KN_SUBSCRIPT_ONE});
    drop_axis(&l, axis);
    return view(out, array, &l);
}

/* ---- shapes ---- */

static kiln_status refuse_shapes(const char *function, const char *expected, const kiln_array *array,
                                 int ndim, const int64_t *shape)
{
    kn_str from = KN_STR_INIT, to = KN_STR_INIT;
    kn_shape_format(&from, array->ndim, array->shape);
    kn_shape_format(&to, ndim, shape);
    kn_error(KILN_ERROR_SHAPE, "%s: an array of shape %s cannot become %s: %s", function, kn_str_text(&from),
             kn_str_text(&to), expected);
    kn_str_free(&from);
    kn_str_free(&to);
    return KILN_ERROR_SHAPE;
}

kiln_status kiln_array_broadcast_to(kiln_array **out, const kiln_array *array, int ndim, const int64_t *shape)
{
    static const char fits[] =
        "counted from the last axis, each extent has to be that of the array, which may be 1 instead";
    layout l;
    kiln_status status = check(out, array, "kiln_array_broadcast_to");
    if (!status)
        status = kn_array_check_shape(kiln_array_dtype(array), ndim, shape);
    if (status)
        return status;
    if (ndim < array->ndim)
        return refuse_shapes("kiln_array_broadcast_to", fits, array, ndim, shape);
    l.ndim = ndim;
    l.data = array->data;
    for (int k = 0; k < ndim; k++) {
        int axis = k - (ndim - array->ndim);
        int64_t extent = axis < 0 ? 1 : array->shape[axis];
        if (extent != shape[k] && extent != 1)
            return refuse_shapes("kiln_array_broadcast_to", fits, array, ndim, shape);
        l.shape[k] = shape[k];
        l.strides[k] = extent == 1 ? 0 : array->strides[axis];
    }
    if (array->recorder)
        return array->recorder->functions->broadcast_to(out, array, ndim, shape);
    status = view(out, array, &l);
    if (!status)
        (*out)->is_read_only = true; /* elements of it share memory */
    return status;
}

/* Replaces the extent -1 in shape; false if the number of elements differs. */
static bool resolve_shape(const kiln_array *array, int ndim, int64_t *shape)
{
    int unknown = -1;
    for (int k = 0; k < ndim; k++)
        if (shape[k] == -1) {
            if (unknown >= 0)
                return false;
            unknown = k;
            shape[k] = 1;
        }
    int64_t size = kn_shape_size(ndim, shape);
    if (unknown < 0 || size <= 0)
        return unknown < 0 && size == array->size;
    shape[unknown] = array->size / size;
    return array->size % size == 0;
}

/* Splits and joins axes without moving elements: runs of old axes that hold as many elements as a run of new
 * ones must lie in memory as one axis would. False where they do not. No extent is zero here. */
static bool split_and_join(layout *to, const layout *from, int64_t item_size)
{
    int old = 0, new = 0;
    while (old < from->ndim && new < to->ndim) {
        int old_end = old + 1, new_end = new + 1;
        int64_t old_size = from->shape[old], new_size = to->shape[new];
        while (old_size != new_size)
            if (old_size < new_size)
                old_size *= from->shape[old_end++];
            else
                new_size *= to->shape[new_end++];
        for (int k = old; k < old_end - 1; k++)
            if (from->strides[k] != from->shape[k + 1] * from->strides[k + 1])
                return false;
        int64_t stride = from->strides[old_end - 1];
        for (int k = new_end - 1; k >= new; k--) {
            to->strides[k] = stride;
            stride *= to->shape[k];
        }
        old = old_end;
        new = new_end;
    }
    for (; new < to->ndim; new ++) /* only axes of extent 1 are left */
        to->strides[new] = new > 0 ? to->strides[new - 1] : item_size;
    return true;
}

static bool try_reshape(layout *to, const kiln_array *array)
{
    layout from;
    to->data = array->data;
    if (array->is_c_contiguous) {
        kn_shape_c_strides(to->ndim, to->shape, array->item_size, to->strides);
        return true;
    }
    layout_of(&from, array);
    for (int k = from.ndim - 1; k >= 0; k--)
        if (from.shape[k] == 1)
            drop_axis(&from, k);
    return split_and_join(to, &from, array->item_size);
}

kiln_status kiln_array_reshape(kiln_array **out, const kiln_array *array, int ndim, const int64_t *shape)
{
    static const char counts[] =
        "the number of elements has to stay as it is, and one extent may be -1 where the others divide it";
    layout l = {.ndim = ndim};
    kiln_array *copy = NULL;
    kiln_status status = check(out, array, "kiln_array_reshape");
    if (status)
        return status;
    if (ndim < 0 || ndim > KILN_MAX_NDIM || (ndim && !shape))
        return kn_array_check_shape(array->dtype, ndim, shape);
    if (ndim)
        memcpy(l.shape, shape, (size_t)ndim * sizeof *shape);
    bool is_same = ndim == array->ndim && memcmp(l.shape, array->shape, (size_t)ndim * sizeof *shape) == 0;
    if (is_same && !array->recorder)
        return kn_array_view(out, array, array->data, array->ndim, array->shape, array->strides);
    if (!resolve_shape(array, ndim, l.shape))
        return refuse_shapes("kiln_array_reshape", counts, array, ndim, shape);
    if (array->recorder)
        return array->recorder->functions->reshape(out, array, ndim, shape);
    if (try_reshape(&l, array))
        return view(out, array, &l);
    status = kiln_array_copy(&copy, array);
    if (status)
        return status;
    l.data = copy->data;
    kn_shape_c_strides(ndim, l.shape, array->item_size, l.strides);
    status = view(out, copy, &l);
    kiln_array_free(copy);
    return status;
}

/* The new axis has the stride that a reshape gives it; an index of None gives it 0. Both are NumPy's. */
kiln_status kiln_array_expand_dims(kiln_array **out, const kiln_array *array, int axis)
{
    layout l;
    int given = axis;
    kiln_status status = check(out, array, "kiln_array_expand_dims");
    if (status)
        return status;
    if (array->ndim == KILN_MAX_NDIM)
        return kn_error(KILN_ERROR_SHAPE,
                        "kiln_array_expand_dims: the array has %d axes already, which is the most",
                        KILN_MAX_NDIM);
    status = find_axis(&axis, array->ndim + 1, "kiln_array_expand_dims");
    if (status)
        return status;
    if (array->recorder)
        return record(out, array, given, (kn_subscript){.kind = KN_SUBSCRIPT_NEW});
    layout_of(&l, array);
    memmove(l.shape + axis + 1, l.shape + axis, (size_t)(l.ndim - axis) * sizeof *l.shape);
    l.shape[axis] = 1;
    l.ndim++;
    try_reshape(&l, array); /* an axis of extent 1 never needs a copy */
    return view(out, array, &l);
}
