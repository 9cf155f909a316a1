/* kernel/sort_rows.h - for algorithms that sort an input along several axes, in rows of their own. */
#ifndef KN_KERNEL_SORT_ROWS_H
#define KN_KERNEL_SORT_ROWS_H

#include "kernel/algorithm.h"
#include "kernel/sort.h"

/* An input's elements: `rows` of `length`. The last axis goes along a row; the others are left. */
typedef struct kn_sort_rows {
    kn_source source;
    kiln_dtype dtype;
    int ndim;
    int64_t shape[KILN_MAX_NDIM], strides[KILN_MAX_NDIM];
    int64_t rows, length;
} kn_sort_rows;

/* The rows of input k, an array, along some axes (bits), which leave fewer than KILN_MAX_NDIM. If no one
 * stride goes along all of a row, `copy` puts the elements into a buffer. */
kiln_status kn_sort_rows_find(kn_sort_rows *out, kn_lowered *lowered, const kn_lowering_call *call, int k,
                              uint64_t along, const kiln_kernel *copy);
kiln_status kn_sort_rows_copy_create(kiln_kernel **out);
/* Adds the sort of all rows, by a kernel of one input, to n_out places of such dtypes. */
kiln_status kn_sort_rows_add(kn_lowered *lowered, const kn_sort_rows *rows, const kn_lowering_call *call,
                             const kiln_kernel *sort, const kn_source *to, const kiln_dtype *dtype,
                             int n_out);

#endif
