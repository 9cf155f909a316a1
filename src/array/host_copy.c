/* Strided copies within host memory. */
#include "array/array.h"
#include <string.h>

typedef struct copy_plan {
    int ndim;
    int64_t item_size;
    int64_t shape[KILN_MAX_NDIM + 1], to[KILN_MAX_NDIM + 1], from[KILN_MAX_NDIM + 1];
} copy_plan;

static int64_t magnitude(int64_t x)
{
    return x < 0 ? -x : x;
}

static void swap(int64_t *values, int a, int b)
{
    int64_t t = values[a];
    values[a] = values[b];
    values[b] = t;
}

/* Axes of one element go; the others are put in the order in which `to` lies in memory. */
static void order_axes(copy_plan *p, int ndim, const int64_t *shape, const int64_t *to, const int64_t *from)
{
    for (int k = 0; k < ndim; k++) {
        if (shape[k] == 1)
            continue;
        p->shape[p->ndim] = shape[k];
        p->to[p->ndim] = to[k];
        p->from[p->ndim++] = from[k];
        for (int j = p->ndim - 1; j > 0 && magnitude(p->to[j]) > magnitude(p->to[j - 1]); j--) {
            swap(p->shape, j, j - 1);
            swap(p->to, j, j - 1);
            swap(p->from, j, j - 1);
        }
    }
}

/* Neighbours that are one axis in both memories become one. */
static void merge_axes(copy_plan *p)
{
    int last = 0;
    for (int k = 1; k < p->ndim; k++) {
        bool fits = p->to[last] == p->to[k] * p->shape[k] && p->from[last] == p->from[k] * p->shape[k];
        if (!fits)
            last++;
        p->shape[last] = fits ? p->shape[last] * p->shape[k] : p->shape[k];
        p->to[last] = p->to[k];
        p->from[last] = p->from[k];
    }
    p->ndim = p->ndim ? last + 1 : 0;
}

#define COPY_LOOP(size)                                                                                      \
    for (int64_t k = 0; k < count; k++)                                                                      \
    memcpy(to + k * to_stride, from + k * from_stride, (size))

static void copy_row(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t count,
                     int64_t size)
{
    if (to_stride == size && from_stride == size)
        memcpy(to, from, (size_t)(count * size));
    else if (size == 1)
        COPY_LOOP(1);
    else if (size == 2)
        COPY_LOOP(2);
    else if (size == 4)
        COPY_LOOP(4);
    else if (size == 8)
        COPY_LOOP(8);
    else
        COPY_LOOP((size_t)size);
}

static void copy_axes(const copy_plan *p, int axis, char *to, const char *from)
{
    if (axis >= p->ndim - 1) {
        copy_row(to, p->to[axis], from, p->from[axis], p->shape[axis], p->item_size);
        return;
    }
    for (int64_t k = 0; k < p->shape[axis]; k++)
        copy_axes(p, axis + 1, to + k * p->to[axis], from + k * p->from[axis]);
}

void kn_array_copy_elements(int ndim, const int64_t *shape, void *to, const int64_t *to_strides,
                            const void *from, const int64_t *from_strides, int64_t item_size)
{
    copy_plan p = {.item_size = item_size};
    for (int k = 0; k < ndim; k++)
        if (shape[k] == 0)
            return;
    order_axes(&p, ndim, shape, to_strides, from_strides);
    merge_axes(&p);
    if (p.ndim == 0) { /* one element */
        p.ndim = 1;
        p.shape[0] = 1;
    }
    copy_axes(&p, 0, to, from);
}
