/* Strided copies within host memory: axes in the order of the target's memory, in tiles where the source's
 * memory runs along another axis. */
#include "array/array.h"
#include <string.h>

enum {
    TILE = 32,               /* rows and columns: a cache line of each row is used whole while it is there */
    SHARE_BYTES = 128 << 10, /* fewest worth a thread */
};

typedef struct copy_plan {
    int ndim;
    bool is_tiled; /* the last two axes: the source is read fastest along the first of them */
    int64_t item_size;
    char *target;
    const char *source;
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
    else if (size == 16)
        COPY_LOOP(16);
    else
        COPY_LOOP((size_t)size);
}

/* Moves the axis along which the source's memory runs to the place before the last. */
static void choose_tiles(copy_plan *p)
{
    int fast = p->ndim - 1;
    for (int k = p->ndim - 2; k >= 0; k--)
        if (magnitude(p->from[k]) < magnitude(p->from[fast]))
            fast = k;
    p->is_tiled = fast != p->ndim - 1 && p->from[fast] != 0;
    for (int k = fast; p->is_tiled && k < p->ndim - 2; k++) {
        swap(p->shape, k, k + 1);
        swap(p->to, k, k + 1);
        swap(p->from, k, k + 1);
    }
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Rows [begin, end) of the last two axes. */
static void copy_tiles(const copy_plan *p, int64_t begin, int64_t end, char *to, const char *from)
{
    int row = p->ndim - 2, column = p->ndim - 1;
    int64_t columns = p->shape[column];
    for (int64_t r = begin; r < end; r += TILE)
        for (int64_t c = 0; c < columns; c += TILE)
            for (int64_t k = r; k < smaller(r + TILE, end); k++)
                copy_row(to + k * p->to[row] + c * p->to[column], p->to[column],
                         from + k * p->from[row] + c * p->from[column], p->from[column],
                         smaller(TILE, columns - c), p->item_size);
}

/* Steps [begin, end) of one axis, and all of those within. */
static void copy_steps(const copy_plan *p, int axis, int64_t begin, int64_t end, char *to, const char *from)
{
    if (p->is_tiled && axis == p->ndim - 2) {
        copy_tiles(p, begin, end, to, from);
        return;
    }
    if (axis == p->ndim - 1) {
        copy_row(to + begin * p->to[axis], p->to[axis], from + begin * p->from[axis], p->from[axis],
                 end - begin, p->item_size);
        return;
    }
    for (int64_t k = begin; k < end; k++)
        copy_steps(p, axis + 1, 0, p->shape[axis + 1], to + k * p->to[axis], from + k * p->from[axis]);
}

static void copy_share(void *user, int64_t begin, int64_t end)
{
    const copy_plan *p = user;
    copy_steps(p, 0, begin, end, p->target, p->source);
}

void kn_array_copy_elements(int ndim, const int64_t *shape, void *to, const int64_t *to_strides,
                            const void *from, const int64_t *from_strides, int64_t item_size)
{
    copy_plan p = {.item_size = item_size, .target = to, .source = from};
    for (int k = 0; k < ndim; k++)
        if (shape[k] == 0)
            return;
    order_axes(&p, ndim, shape, to_strides, from_strides);
    merge_axes(&p);
    if (p.ndim == 0) { /* one element */
        p.ndim = 1;
        p.shape[0] = 1;
    }
    choose_tiles(&p);
    int64_t step_bytes = item_size; /* of the outermost axis */
    for (int k = 1; k < p.ndim; k++)
        step_bytes *= p.shape[k];
    kn_host_parallel(p.shape[0], SHARE_BYTES / step_bytes + 1, copy_share, &p);
}
