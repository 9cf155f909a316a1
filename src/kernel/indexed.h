/* kernel/indexed.h - x[...] with arrays among its indices, by NumPy's rules: kernels that are remembered. */
#ifndef KN_KERNEL_INDEXED_H
#define KN_KERNEL_INDEXED_H

#include "array/traced.h"
#include "kernel/histogram.h"
#include "kernel/kernel.h"

typedef enum kn_indexed_name {
    KN_INDEXED_READ,     /* the elements: of x, and each array of the index */
    KN_INDEXED_PLACES,   /* their numbers among all elements of x, in C order (int64) */
    KN_INDEXED_ROWS,     /* the same of rows: axes that the index has whole count as one element (int32 where
                          this is enough) */
    KN_INDEXED_ASSIGNED, /* of x, values and the arrays: x after x[...] = values; the last one counts */
    KN_INDEXED_SPREAD,   /* of x, values and the arrays: in x's shape the value that each element is assigned,
                          and whether one is; the last one counts */
    KN_INDEXED_MARKED,   /* of x and the arrays: whether an element is assigned one */
    KN_INDEXED_NAMES
} kn_indexed_name;

/* The most items of an index. */
enum { KN_INDEX_ITEMS = 2 * KILN_MAX_NDIM + 1 };

/* The kernel, one more reference. Items: KN_SUBSCRIPT_SLICE, _INDEX, _NEW, _REST and _ARRAY, of which each
 * reads the next input: whole numbers, or booleans. Indices outside are reported. */
kiln_status kn_indexed_find(kiln_kernel **out, kn_indexed_name name, const kn_subscript *item, int n_items);

/* True for x[array]: the array is the only item. */
bool kn_indexed_is_alone(const kiln_kernel *kernel);

/* The kernel of an array, values, and the arrays of the index: each element combined with the values at it,
 * which are combined first (kn_scattered_find, also for the flags). is_subtracted: their sum is taken from
 * it. */
kiln_status kn_scattered_at_find(kiln_kernel **out, kn_combining how, const kn_subscript *item, int n_items,
                                 unsigned flags, bool is_subtracted);

/* The kernel of argwhere (n_axes 0), or of nonzero with so many results: the indices along each axis of the
 * elements of an array that are not zero; axis: along this one alone, -1: along all, which are n_axes. */
kiln_status kn_nonzero_find(kiln_kernel **out, int n_axes, int axis);

/* ---- indexed_axes.c: which axes an index has ---- */

/* An axis of x that has not gone: elements start, start + step and so on. */
typedef struct kn_index_axis {
    int of; /* the axis of x */
    int64_t start, step, extent;
    int to;         /* the axis of the result that counts along it; -1: `by` says the index */
    int by, column; /* an array of indices, and the axis of it if it is a mask */
} kn_index_axis;

typedef struct kn_index_array {
    int item; /* its place in the index */
    bool is_mask;
    int ndim, first; /* of a mask: its axes, and the first axis of x that they are */
    int64_t size;    /* of a mask: its elements */
} kn_index_array;

typedef struct kn_index_axes {
    int n_axes, n_arrays, n_masks;
    kn_index_axis axis[KILN_MAX_NDIM];
    kn_index_array array[KN_MAX_PARAMS];
    int64_t fixed[KILN_MAX_NDIM]; /* by axis of x: the one index of an axis that goes; -1 */
    int ndim;                     /* of the result */
    int64_t shape[KILN_MAX_NDIM]; /* with as many elements as masks can have */
    int first, count;             /* the axes of the result that the arrays broadcast to */
    int late;                     /* the one of them whose extent masks say; -1 */
    int64_t length;               /* its extent by arrays of whole numbers: 1 if masks say it */
} kn_index_axes;

/* The dtype of numbers of rows (KN_INDEXED_ROWS). */
kiln_dtype kn_index_rows_dtype(int ndim, const int64_t *shape);

/* Makes axes that the index has whole one element: in *axes; in shape, that of x; is_held: of the result,
 * the axes that became so. */
void kn_index_axes_hold(kn_index_axes *axes, bool *is_held, int64_t *shape, const kn_described *x);

/* x and the arrays as they are described: KILN_ERROR_SHAPE, _TYPE, naming the item. */
kiln_status kn_index_axes_find(kn_index_axes *out, const char *name, const kn_subscript *item, int n_items,
                               const kn_described *x, const kn_described *array);

#endif
