/* expr/apart.h - expressions that compute something from arrays of as many elements as the data says, or
 * whose shapes depend on values. */
#ifndef KN_EXPR_APART_H
#define KN_EXPR_APART_H

#include "fuse/lower.h"

/* A kernel of a pruned graph, which it takes over; freed on failure too (kn_expression_kernel). */
typedef kiln_status kn_make_kernel(kiln_kernel **out, kn_graph *graph, const kiln_kernel_options *options);

/* Where nodes read late extents, or values that shapes depend on, out->apart becomes two kernels: the
 * first has these nodes as results, and the second takes them behind the inputs of the call. failure: the
 * status of the lowering, whose error is left alone where no node does. KILN_ERROR_INVALID for more inputs
 * than there may be; KILN_ERROR_MEMORY. */
kiln_status kn_take_apart(kn_lowered *out, const kn_expression *e, const kn_lowering_call *call,
                          kiln_status failure, kn_make_kernel *make);

#endif
