/* kernel/indexed.h - x[...] with arrays among its indices, by NumPy's rules: kernels that are remembered. */
#ifndef KN_KERNEL_INDEXED_H
#define KN_KERNEL_INDEXED_H

#include "array/traced.h"
#include "kernel/histogram.h"
#include "kernel/indexed_axes.h"
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

#endif
