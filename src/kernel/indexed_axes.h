/* kernel/indexed_axes.h - which axes an index x[...] has, and what texts say of them. */
#ifndef KN_KERNEL_INDEXED_AXES_H
#define KN_KERNEL_INDEXED_AXES_H

#include "array/traced.h"
#include "base/str.h"
#include "kernel/kernel.h"

/* The most items of an index. */
enum { KN_INDEX_ITEMS = 2 * KILN_MAX_NDIM + 1 };

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

/* `values` of one dtype in another one. */
void kn_index_write_converted(kn_str *text, kiln_dtype to, kiln_dtype from);

#endif
