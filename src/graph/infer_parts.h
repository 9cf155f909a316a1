/* graph/infer_parts.h - the interface between the files of inference. */
#ifndef KN_GRAPH_INFER_PARTS_H
#define KN_GRAPH_INFER_PARTS_H

#include "graph/typed.h"

typedef struct kn_inference {
    const kn_graph *graph;
    const kn_argument *argument;
    kn_typed *typed;
    int ndim; /* the shape of the current node, before it is stored */
    int64_t shape[KILN_MAX_NDIM];
} kn_inference;

/* ---- infer_call.c: what operations and kernels of the user's make of dtypes ---- */

/* Sets dtype, is_weak, number, definition, variant, param and is_reduction, but not the shape. */
kiln_status kn_infer_call(kn_typed *out, const kn_inference *f, const kn_node *node);
kiln_status kn_infer_kernel(kn_typed *out, const kn_inference *f, const kn_node *node);
/* The same for a kernel that has an algorithm; sets the shape too. */
kiln_status kn_infer_algorithm(kn_typed *out, kn_inference *f, const kn_node *node);
kiln_status kn_infer_cast(kn_typed *out, const kn_inference *f, const kn_node *node);
kiln_status kn_infer_like(kn_typed *out, const kn_inference *f, const kn_node *node);

/* True if the reduction has a value for no elements. */
bool kn_infer_has_identity(const kn_typed *typed, const kn_node *node);

/* ---- infer_shape.c: shapes of what is no call ---- */

/* Masks that x[mask] refuses are refused; the node is masked. */
kiln_status kn_infer_mask(const kn_inference *f, const kn_node *node);
kiln_status kn_infer_broadcast(kn_inference *f, const kn_node *node);
/* Removes the reduction axes from f's shape, and records them. */
kiln_status kn_infer_reduce(kn_typed *out, kn_inference *f, const kn_node *node);
/* Axes of a scan; the shape stays. */
kiln_status kn_infer_scan(kn_typed *out, kn_inference *f, const kn_node *node);
kiln_status kn_infer_slice(kn_inference *f, const kn_node *node);
kiln_status kn_infer_transpose(kn_inference *f, const kn_node *node);
kiln_status kn_infer_reshape(kn_inference *f, const kn_node *node);
kiln_status kn_infer_windows(kn_inference *f, const kn_node *node);
/* KN_NODE_BROADCAST, KN_NODE_LIKE. */
kiln_status kn_infer_broadcast_to(kn_inference *f, const kn_node *node);
/* The number that a shape is given by this node; false: none is known. */
bool kn_infer_shape_number(kiln_arg *out, const kn_typed *in);
kiln_status kn_infer_extent(kn_typed *out, kn_inference *f, const kn_node *node);
kiln_status kn_infer_arange(kn_typed *out, kn_inference *f, const kn_node *node);

#endif
