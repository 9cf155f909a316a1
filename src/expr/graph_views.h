/* expr/graph_views.h - graphs whose results are views of their inputs: calls of functions give views. */
#ifndef KN_EXPR_GRAPH_VIEWS_H
#define KN_EXPR_GRAPH_VIEWS_H

#include "graph/graph.h"

/* True if every result is an input with subscripts and its axes in another order, and nothing is computed. */
bool kn_graph_is_views(const kn_graph *graph);
/* The results of such a graph for arrays that have storage. KILN_ERROR_SHAPE as a call has them, _MEMORY; out
 * is unchanged then. */
kiln_status kn_graph_take_views(kiln_array **out, const kn_graph *graph, const kiln_arg *in);

#endif
