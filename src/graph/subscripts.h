/* graph/subscripts.h - indices in square brackets, for an array of which the shape is known. */
#ifndef KN_GRAPH_SUBSCRIPTS_H
#define KN_GRAPH_SUBSCRIPTS_H

#include "graph/graph.h"

/* Steps that *out has to hold. */
enum { KN_SUBSCRIPTS_CAPACITY = 3 * KILN_MAX_NDIM + 2 };

/* An index for an array of this shape. *count steps, one for each axis that is read and each that comes
 * in: KN_SUBSCRIPT_SLICE (start: the first element, stop: how many there are, step: from one to the next),
 * KN_SUBSCRIPT_INDEX (start: 0 to the extent - 1) and KN_SUBSCRIPT_NEW. KILN_ERROR_SHAPE, with the place of the
 * node. */
kiln_status kn_subscripts_settle(kn_subscript *out, int *count, const kn_graph *graph, const kn_node *node, int ndim,
                            const int64_t *shape);

#endif
