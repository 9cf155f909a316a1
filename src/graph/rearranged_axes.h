/* graph/rearranged_axes.h - resolves the axes of KN_NODE_TRANSPOSE for an array whose shape is known. */
#ifndef KN_GRAPH_TURNED_AXES_H
#define KN_GRAPH_TURNED_AXES_H

#include "graph/graph.h"

/* For each axis of the input the axis of the result along it, and the index of the first element. A diagonal
 * has two axes of the input along its own. */
typedef struct kn_rearranged {
    int to[KILN_MAX_NDIM];
    int64_t start[KILN_MAX_NDIM];
    int ndim; /* of the result */
    int64_t shape[KILN_MAX_NDIM];
} kn_rearranged;

/* KILN_ERROR_SHAPE, with the place of the node. */
kiln_status kn_rearranged_settle(kn_rearranged *out, const kn_graph *graph, const kn_node *node, int ndim,
                                 const int64_t *shape);

#endif
