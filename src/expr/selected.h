/* expr/selected.h - reductions of x[mask], of which nothing is selected. */
#ifndef KN_EXPR_SELECTED_H
#define KN_EXPR_SELECTED_H

#include "expr/parser.h"

/* False: the array of x[array] has whole numbers. An input may have either, and is taken for a mask. */
bool kn_index_is_mask(kn_graph *graph, int node);

/* For `name` of x[mask] the reduction reads all of x: *value is changed, and the axes of the reduction are
 * none; or *is_done, and *value is the result. Anything else is left as it is. ddof: of variances; absent. */
kiln_status kn_reduce_selected(kn_value *value, bool *is_done, kn_parser *p, const kn_called *c,
                               kn_node *reduction, const kn_value *ddof, bool has_dtype);

#endif
