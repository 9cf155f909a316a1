/* graph/subscripts.h - resolves subscripts, the items in square brackets, for an array whose shape is
 * known. */
#ifndef KN_GRAPH_SUBSCRIPTS_H
#define KN_GRAPH_SUBSCRIPTS_H

#include "graph/graph.h"

/* The most subscripts that *out receives. */
enum { KN_SUBSCRIPTS_CAPACITY = 3 * KILN_MAX_NDIM + 2 };

/* Resolves a node's subscripts for an array of this shape. *count subscripts, one for each axis of the
 * array and each new axis: KN_SUBSCRIPT_SLICE (start: the first element, stop: their number, step: from
 * one to the next), KN_SUBSCRIPT_INDEX (start: 0 to the extent - 1), KN_SUBSCRIPT_NEW. KILN_ERROR_SHAPE,
 * with the place of the node. */
kiln_status kn_subscripts_settle(kn_subscript *out, int *count, const kn_graph *graph, const kn_node *node,
                                 int ndim, const int64_t *shape);

#endif
