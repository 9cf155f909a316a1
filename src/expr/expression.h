/* expr/expression.h - kernels that lower a graph for each of their calls. */
#ifndef KN_EXPR_EXPRESSION_H
#define KN_EXPR_EXPRESSION_H

#include "fuse/lower.h"

/* The texts of the options are copied into a program that holds them. The graph is taken over; freed on
 * failure too. */
kiln_status kn_expression_make(kn_expression **out, kn_graph *graph, const kiln_kernel_options *options);
void kn_expression_free(void *expression);
/* The graph and options of a kernel of an expression or trace; NULL for any other kernel. */
const kn_expression *kn_expression_of(const kiln_kernel *kernel);
/* Takes over both; other: the text read otherwise; NULL: there is one reading. */
kiln_status kn_expression_kernel_of(kiln_kernel **out, kn_expression *e, kn_expression *other);
/* A kernel of a pruned graph, which it takes over; freed on failure too. */
kiln_status kn_expression_kernel(kiln_kernel **out, kn_graph *graph, const kiln_kernel_options *options);

#endif
