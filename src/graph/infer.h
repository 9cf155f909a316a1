/* graph/infer.h - finds dtypes and shapes of a graph's nodes for the arguments of a call. They are those
 * of eager operations: NumPy 2's promotion, weak numbers, broadcasting. */
#ifndef KN_GRAPH_INFER_H
#define KN_GRAPH_INFER_H

#include "graph/subscripts.h"
#include "graph/typed.h"

/* *out: one entry for each node, in one allocation (kn_free). KILN_ERROR_TYPE, _SHAPE, _INVALID with the
 * expression and a caret under the node. */
kiln_status kn_graph_infer(kn_typed **out, const kn_graph *graph, const kn_argument *argument);
/* The same of the nodes in front of the first one that reads a node with a late extent, or whose shape
 * depends on the value of an array, which kn_graph_infer refuses with KILN_ERROR_UNSUPPORTED; *count: how
 * many they are. Other entries are 0. */
kiln_status kn_graph_infer_first(kn_typed **out, int *count, const kn_graph *graph,
                                 const kn_argument *argument);

/* The same of all nodes: late extents are as large as they may be. */
kiln_status kn_graph_infer_most(kn_typed **out, const kn_graph *graph, const kn_argument *argument);

/* True if the shape of the node depends on the value of its input i, an array without axes. */
bool kn_graph_needs_value(const kn_typed *typed, const kn_node *node, int i);

/* The dtype and shape of result j of a node whose kernel has an algorithm. */
struct kn_described;
kiln_status kn_graph_describe(struct kn_described *out, const kn_graph *graph, const kn_typed *typed,
                              const kn_node *node, int j);

#endif
