/* expr/inline.h - copies a graph into another one, for calls of kernels that have a graph. */
#ifndef KN_EXPR_INLINE_H
#define KN_EXPR_INLINE_H

#include "expr/expression.h"

/* Adds the nodes of `from` to a graph, where the nodes `in` replace its inputs. number[k], for each of
 * from->n_nodes: the new number of node k. On failure (KILN_ERROR_MEMORY; KILN_ERROR_INVALID for too many
 * nodes, and for numbers without a result) some nodes may have been added. All get the same place in the
 * text. option_group: the kernel of `from`, if it has options; else NULL. */
kiln_status kn_graph_inline(int *number, kn_graph *to, const kn_graph *from, const int *in,
                            kiln_kernel *option_group, size_t at, size_t length);

/* The first parameter that no expression or trace can pass: a struct, or a raw array that the kernel may
 * write to. NULL: none. */
const kn_param *kn_kernel_refused(const kn_program *program);
/* The kernel, if it has options that its code needs as part of another kernel too: flags, texts, headers,
 * compiler options. NULL: none. */
kiln_kernel *kn_expression_option_group(kiln_kernel *kernel);

#endif
