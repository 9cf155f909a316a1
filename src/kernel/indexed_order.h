/* kernel/indexed_order.h - steps of the host: x[...] = values, a copy of x in which values are stored one
 * after the other, so that the last one of a place counts; and rows that are read. */
#ifndef KN_KERNEL_INDEXED_ORDER_H
#define KN_KERNEL_INDEXED_ORDER_H

#include "kernel/algorithm.h"
#include "kernel/indexed_axes.h"

typedef struct kn_ordered {
    kn_lowered *out;
    const kn_lowering_call *call;
    const kn_described *in; /* x, values, the arrays of the index */
    int n_items, n_arrays;
    bool is_one_value;
    const kn_index_axes *axes;
    const kiln_kernel *places, *rows; /* KN_INDEXED_PLACES and KN_INDEXED_ROWS of the index */
} kn_ordered;

/* The index has no masks, and the result has its elements side by side; one value for all places: of an
 * array of one axis. */
bool kn_ordered_takes(const kn_ordered *o);
kiln_status kn_ordered_lower(const kn_ordered *o);

/* x[..., array, ...] on the host, where x and the result have their elements side by side: rows are
 * copied. */
typedef struct kn_gathered {
    kn_lowered *out;
    const kn_lowering_call *call;
    const kn_described *in; /* x, the array */
    const kn_index_axes *axes;
} kn_gathered;
bool kn_gathered_takes(const kn_gathered *g);
kiln_status kn_gathered_lower(const kn_gathered *g);

#endif
