/* expr/expression.h - kernels that lower a graph for each of their calls. */
#ifndef KN_EXPR_EXPRESSION_H
#define KN_EXPR_EXPRESSION_H

#include "fuse/lower.h"

/* A kernel of a pruned graph, which it takes over; freed on failure too. */
kiln_status kn_expression_kernel(kiln_kernel **out, kn_graph *graph, const kiln_kernel_options *options);

#endif
