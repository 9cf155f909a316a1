/* space/space.c - broadcasts views, orders and merges axes, cuts spaces. */
#include "space/space.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "space/shape.h"

/* An operand's byte stride along axis `a` of the broadcast shape; 0 where it is broadcast. */
static int64_t view_stride(const kn_view *view, int ndim, int a)
{
    int own = a - (ndim - view->ndim);
    return own < 0 || view->shape[own] == 1 ? 0 : view->strides[own];
}

static kiln_status broadcast_error(const kn_view *view, const char *const *names, int at, int ndim,
                                   const int64_t *shape)
{
    kn_str a = KN_STR_INIT, b = KN_STR_INIT;
    kn_shape_format(&a, ndim, shape);
    kn_shape_format(&b, view[at].ndim, view[at].shape);
    kiln_status status;
    if (at == 0)
        status =
            kn_error(KILN_ERROR_SHAPE, "'%s' of shape %s does not broadcast", names[at], kn_str_text(&b));
    else
        status = kn_error(KILN_ERROR_SHAPE, "'%s' of shape %s does not broadcast against %s%s%s of shape %s",
                          names[at], kn_str_text(&b), at == 1 ? "'" : "the arguments before it, ",
                          at == 1 ? names[0] : "together", at == 1 ? "'" : "", kn_str_text(&a));
    kn_str_free(&a);
    kn_str_free(&b);
    return status;
}

kiln_status kn_space_broadcast(int *ndim, int64_t *shape, const kn_view *view, const char *const *names,
                               int count)
{
    *ndim = 0;
    for (int v = 0; v < count; ++v) {
        int64_t before[KILN_MAX_NDIM];
        int before_ndim = *ndim;
        memcpy(before, shape, (size_t)before_ndim * sizeof *shape);
        if (!kn_shape_broadcast(ndim, shape, view[v].ndim, view[v].shape))
            return broadcast_error(view, names, v, before_ndim, before);
    }
    for (int v = 0; v < count; ++v) {
        if (!view[v].is_output ||
            (view[v].ndim == *ndim && memcmp(view[v].shape, shape, (size_t)*ndim * sizeof *shape) == 0))
            continue;
        kn_str own = KN_STR_INIT, all = KN_STR_INIT;
        kn_shape_format(&own, view[v].ndim, view[v].shape);
        kn_shape_format(&all, *ndim, shape);
        kiln_status status =
            kn_error(KILN_ERROR_SHAPE, "output '%s' has shape %s, but the arguments broadcast to %s",
                     names[v], kn_str_text(&own), kn_str_text(&all));
        kn_str_free(&own);
        kn_str_free(&all);
        return status;
    }
    if (kn_shape_size(*ndim, shape) < 0)
        return kn_error(KILN_ERROR_SHAPE, "the broadcast shape has more than 2^63 - 1 elements");
    return KILN_OK;
}

/* The axes while they are being put in order: gathered per axis, so that sorting moves whole axes. */
typedef struct axis {
    int64_t extent;
    int64_t stride[KN_MAX_OPERANDS];
} axis;

typedef struct axes {
    int count, n_output_axes; /* output axes first, reduction axes behind them */
    int operands, n_views;
    int priority[KN_MAX_OPERANDS]; /* operands in the order in which they decide: outputs first */
    axis axis[KILN_MAX_NDIM];
} axes;

static void set_priority(axes *x, const kn_view *view, int count)
{
    int at = 0;
    for (int pass = 0; pass < 2; ++pass)
        for (int v = 0; v < count; ++v)
            if (view[v].is_output == (pass == 0))
                x->priority[at++] = v;
}

static void add_axis(axes *x, int ndim, int64_t extent, int a, const kn_view *view, int count)
{
    axis *to = &x->axis[x->count++];
    to->extent = extent;
    for (int v = 0; v < count; ++v)
        to->stride[v] = view_stride(&view[v], ndim, a);
}

/* Strides of a C-order index over the axes in `among` (bits); 0 along the others. */
static void index_strides(int64_t *stride, int ndim, const int64_t *shape, uint64_t among)
{
    int64_t step = 1;
    for (int a = ndim; a-- > 0;) {
        bool moves = among >> a & 1;
        stride[a] = moves ? step : 0;
        step *= moves ? shape[a] : 1;
    }
}

static void gather(axes *x, int ndim, const int64_t *shape, uint64_t reduction_axes, const kn_view *view,
                   int count, unsigned indices)
{
    int64_t logical[KILN_MAX_NDIM], reduction_index[KILN_MAX_NDIM];
    int reduction_operand = count + ((indices & KN_WITH_INDEX) != 0);
    index_strides(logical, ndim, shape, UINT64_MAX);
    index_strides(reduction_index, ndim, shape, reduction_axes);
    x->count = 0;
    x->n_views = count;
    x->operands = reduction_operand + ((indices & KN_WITH_REDUCTION_INDEX) != 0);
    set_priority(x, view, count);
    for (unsigned pass = 0; pass < 2; ++pass) {
        for (int a = 0; a < ndim; ++a) {
            if (shape[a] == 1 || (reduction_axes >> a & 1) != pass)
                continue;
            add_axis(x, ndim, shape[a], a, view, count);
            axis *added = &x->axis[x->count - 1];
            if (indices & KN_WITH_INDEX)
                added->stride[count] = logical[a];
            if (indices & KN_WITH_REDUCTION_INDEX)
                added->stride[reduction_operand] = reduction_index[a];
        }
        x->n_output_axes = pass == 0 ? x->count : x->n_output_axes;
    }
}

/* The stride that decides about an axis: the first in order of priority that is not zero. */
static int64_t deciding_stride(const axes *x, const axis *a)
{
    for (int p = 0; p < x->n_views; ++p)
        if (a->stride[x->priority[p]] != 0)
            return a->stride[x->priority[p]];
    return 0;
}

static void flip_axis(axes *x, int64_t *offset, int a)
{
    for (int o = 0; o < x->operands; ++o) {
        offset[o] += x->axis[a].stride[o] * (x->axis[a].extent - 1);
        x->axis[a].stride[o] = -x->axis[a].stride[o];
    }
}

/* Flips the first `count` axes along which results would be written (or, where no result moves, inputs read)
 * backwards. */
static void flip_axes(axes *x, int64_t *offset, int count)
{
    for (int a = 0; a < count; ++a)
        if (deciding_stride(x, &x->axis[a]) < 0)
            flip_axis(x, offset, a);
}

/* Decides if axis `a` belongs outside axis `b`: the first operand, by priority, that moves along both has
 * larger strides along it. 0: no operand does. */
static int compare_axes(const axes *x, const axis *a, const axis *b)
{
    for (int p = 0; p < x->n_views; ++p) {
        int64_t sa = llabs(a->stride[x->priority[p]]), sb = llabs(b->stride[x->priority[p]]);
        if (sa != 0 && sb != 0 && sa != sb)
            return sa > sb ? 1 : -1;
    }
    return 0;
}

/* Insertion sort that passes over axes of which no operand decides, as NumPy's iterator orders its axes: the
 * relation is not transitive. */
static void sort_axes(axes *x, int first, int end)
{
    for (int k = first + 1; k < end; ++k) {
        axis moving = x->axis[k];
        int place = k;
        for (int j = k; j-- > first;) {
            int order = compare_axes(x, &x->axis[j], &moving);
            if (order > 0)
                break;
            if (order < 0)
                place = j;
        }
        memmove(&x->axis[place + 1], &x->axis[place], (size_t)(k - place) * sizeof moving);
        x->axis[place] = moving;
    }
}

static bool can_merge(const axes *x, const axis *outer, const axis *inner)
{
    for (int o = 0; o < x->operands; ++o)
        if (outer->stride[o] != inner->stride[o] * inner->extent)
            return false;
    return true;
}

static void merge_axes(axes *x)
{
    int merged = 0, output_axes = 0;
    for (int a = 0; a < x->count; ++a) {
        bool is_first = merged == 0 || a == x->n_output_axes;
        if (!is_first && can_merge(x, &x->axis[merged - 1], &x->axis[a])) {
            x->axis[a].extent *= x->axis[merged - 1].extent;
            x->axis[merged - 1] = x->axis[a];
        } else {
            x->axis[merged++] = x->axis[a];
        }
        output_axes = a < x->n_output_axes ? merged : output_axes;
    }
    x->count = merged;
    x->n_output_axes = output_axes;
}

static void scatter(kn_space *out, const axes *x)
{
    out->ndim = x->count;
    out->n_reduction_axes = x->count - x->n_output_axes;
    for (int a = 0; a < x->count; ++a) {
        out->extent[a] = x->axis[a].extent;
        for (int o = 0; o < x->operands; ++o)
            out->stride[o][a] = x->axis[a].stride[o];
    }
    if (out->ndim == 0) {
        out->ndim = 1;
        out->extent[0] = 1;
        for (int o = 0; o < x->operands; ++o)
            out->stride[o][0] = 0;
    }
}

static void make(kn_space *out, int ndim, const int64_t *shape, uint64_t reduction_axes, const kn_view *view,
                 int count, unsigned indices, kn_space_order order)
{
    axes x;
    gather(&x, ndim, shape, reduction_axes, view, count, indices);
    out->size = kn_shape_size(ndim, shape);
    out->indices = indices;
    out->n_operands = x.operands;
    memset(out->offset, 0, (size_t)x.operands * sizeof *out->offset);
    memset(out->after, 0, (size_t)x.operands * sizeof *out->after);
    if (out->size > 0) {
        flip_axes(&x, out->offset,
                  order == KN_ANY_ORDER    ? x.count
                  : order == KN_IN_C_ORDER ? 0
                                           : x.n_output_axes);
        for (int a = x.n_output_axes; a < x.count && order == KN_BACKWARD; ++a)
            flip_axis(&x, out->offset, a);
        if (order != KN_IN_C_ORDER)
            sort_axes(&x, 0, x.n_output_axes);
        if (order == KN_ANY_ORDER)
            sort_axes(&x, x.n_output_axes, x.count);
        merge_axes(&x);
    }
    scatter(out, &x);
}

void kn_space_make(kn_space *out, int ndim, const int64_t *shape, uint64_t reduction_axes,
                   const kn_view *view, int count, unsigned indices)
{
    make(out, ndim, shape, reduction_axes, view, count, indices, KN_ANY_ORDER);
}

void kn_space_make_in_order(kn_space *out, int ndim, const int64_t *shape, uint64_t reduction_axes,
                            const kn_view *view, int count, unsigned indices, kn_space_order order)
{
    make(out, ndim, shape, reduction_axes, view, count, indices, order);
}

int64_t kn_space_output_size(const kn_space *space)
{
    return kn_shape_size(space->ndim - space->n_reduction_axes, space->extent);
}

/* Decides if axis `a` of the broadcast shape belongs outside axis `b`, which has been placed further in: -1
 * if all views that move along both have smaller strides along a, 1 if one does not (a contradiction leaves C
 * order), 0 if no view moves along both. */
static int compare_in_memory(int ndim, const kn_view *view, int count, int a, int b)
{
    int order = 0;
    for (int v = 0; v < count; ++v) {
        int64_t sa = llabs(view_stride(&view[v], ndim, a)), sb = llabs(view_stride(&view[v], ndim, b));
        if (sa != 0 && sb != 0)
            order = sa >= sb || order > 0 ? 1 : -1;
    }
    return order;
}

void kn_space_memory_order(int *order, int ndim, const kn_view *view, int count)
{
    int inward[KILN_MAX_NDIM]; /* innermost first */
    for (int k = 0; k < ndim; ++k) {
        int axis = ndim - 1 - k, place = k;
        for (int j = k; j-- > 0;) {
            int relation = compare_in_memory(ndim, view, count, axis, inward[j]);
            if (relation > 0)
                break;
            if (relation < 0)
                place = j;
        }
        memmove(&inward[place + 1], &inward[place], (size_t)(k - place) * sizeof *inward);
        inward[place] = axis;
    }
    for (int k = 0; k < ndim; ++k)
        order[k] = inward[ndim - 1 - k];
}

void kn_space_copy_order(int *axes, const kn_view *view)
{
    for (int k = 0; k < view->ndim; ++k) {
        int place = k;
        int64_t step = llabs(view->strides[k]);
        for (; place > 0 && llabs(view->strides[axes[place - 1]]) < step; --place)
            axes[place] = axes[place - 1];
        axes[place] = k;
    }
}

void kn_space_copy(kn_space *to, const kn_space *from)
{
    to->ndim = from->ndim;
    to->n_reduction_axes = from->n_reduction_axes;
    to->n_operands = from->n_operands;
    to->indices = from->indices;
    to->size = from->size;
    memcpy(to->extent, from->extent, (size_t)from->ndim * sizeof *to->extent);
    for (int o = 0; o < from->n_operands; ++o) {
        to->offset[o] = from->offset[o];
        memcpy(to->stride[o], from->stride[o], (size_t)from->ndim * sizeof *to->stride[o]);
    }
}

int64_t kn_space_reach(const kn_space *space, int operand, int first)
{
    int64_t reach = 0;
    for (int a = first; a < space->ndim; ++a)
        reach += llabs(space->stride[operand][a]) * (space->extent[a] - 1);
    return reach;
}

int kn_space_axis_beyond(const kn_space *space, int64_t limit)
{
    int furthest = 0, axis = 0;
    int64_t reach = 0;
    for (int o = 0; o < space->n_operands; ++o) {
        int64_t own = kn_space_reach(space, o, 0);
        if (own > reach) {
            reach = own;
            furthest = o;
        }
    }
    if (reach <= limit)
        return -1;
    for (int a = 1; a < space->ndim; ++a)
        if (llabs(space->stride[furthest][a]) * (space->extent[a] - 1) >
            llabs(space->stride[furthest][axis]) * (space->extent[axis] - 1))
            axis = a;
    return axis;
}

bool kn_space_split(const kn_space *space, int axis, int64_t align, kn_space *low, kn_space *high)
{
    int64_t extent = space->extent[axis], cut = extent / 2;
    cut -= cut % align;
    if (space->size == 0 || cut == 0)
        return false;
    kn_space_copy(low, space);
    kn_space_copy(high, space);
    low->extent[axis] = cut;
    high->extent[axis] = extent - cut;
    low->size = space->size / extent * cut;
    high->size = space->size - low->size;
    for (int o = 0; o < space->n_operands; ++o)
        high->offset[o] += space->stride[o][axis] * cut;
    return true;
}

int kn_space_next_axis(const kn_space *space, int operand, int axis)
{
    int64_t row = space->extent[axis] * space->stride[operand][axis];
    for (int a = space->ndim; a-- > 0;)
        if (a != axis && space->stride[operand][a] == row && space->extent[a] > 1)
            return a;
    return -1;
}

int kn_space_nearest_axis(const kn_space *space, int operand, int axis, int other)
{
    int nearest = -1;
    for (int a = 0; a < space->ndim - 1; ++a) {
        int64_t stride = llabs(space->stride[operand][a]);
        if (a != axis && a != other && stride != 0 &&
            (nearest < 0 || stride < llabs(space->stride[operand][nearest])))
            nearest = a;
    }
    return nearest;
}

void kn_space_start(kn_space *out, const kn_space *space)
{
    out->n_reduction_axes = 0;
    out->n_operands = space->n_operands;
    out->indices = space->indices;
    out->size = space->size;
    memcpy(out->offset, space->offset, (size_t)space->n_operands * sizeof *out->offset);
}

void kn_space_put_axis(kn_space *out, int to, const kn_space *space, int from, int64_t steps)
{
    out->extent[to] = from < 0 ? 1 : (space->extent[from] + steps - 1) / steps;
    for (int o = 0; o < space->n_operands; ++o)
        out->stride[o][to] = from < 0 ? 0 : space->stride[o][from] * steps;
}
