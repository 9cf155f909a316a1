/* fuse/infer.h - dtypes and shapes of a graph's nodes, for the arguments of a call. They are those that eager
 * operations give: NumPy 2's promotion, weak numbers, broadcasting. */
#ifndef KN_FUSE_INFER_H
#define KN_FUSE_INFER_H

#include "fuse/graph.h"
#include "types/variant.h"

/* What a node is for these arguments. */
typedef struct kn_typed {
    kiln_dtype
        dtype; /* of a weak number that which it has by itself: bool, int64, uint64, float64, complex128 */
    bool is_weak;
    bool is_scalar; /* a number by value, or computed from such alone: no array is in it */
    int ndim;
    int64_t *shape; /* in one block with the list of kn_typed */
    uint64_t
        axes; /* CALL, KERNEL: the axes (bits) of the broadcast shape of what it reads that are reduced */
    bool is_reduction;
    const kiln_operation
        *definition; /* CALL: the row, and the variant: dtypes to which what it reads is cast */
    kn_variant variant;
    int64_t value; /* EXTENT */
} kn_typed;

/* An argument of a call, as far as it matters here. */
typedef struct kn_argument {
    kiln_dtype dtype;
    bool is_weak, is_scalar;
    int ndim;
    const int64_t *shape;
} kn_argument;

/* *out: one for each node, one block (kn_free). KILN_ERROR_TYPE, _SHAPE, _INVALID with the expression and a caret under
 * the node. */
kiln_status kn_graph_infer(kn_typed **out, const kn_graph *graph, const kn_argument *argument);

#endif
