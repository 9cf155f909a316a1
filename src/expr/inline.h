/* expr/inline.h - one graph within another: what a call of a kernel that has a graph becomes. */
#ifndef KN_EXPR_INLINE_H
#define KN_EXPR_INLINE_H

#include "fuse/lower.h"

/* Adds the nodes of `from` to a graph; its inputs are the nodes `in` there. number[k], of which there are
 * from->n_nodes: what node k is there. On failure (KILN_ERROR_MEMORY; KILN_ERROR_INVALID for too many nodes,
 * and for numbers without a result) some may have been added. All stand at one place of the text. unit: the
 * kernel that `from` is of, where it has options; else NULL. */
kiln_status kn_graph_inline(int *number, kn_graph *to, const kn_graph *from, const int *in, kiln_kernel *option_group,
                            size_t at, size_t length);

/* What a kernel of an expression or a trace lowers; NULL for any other kernel. */
const kn_expression *kn_expression_of(const kiln_kernel *kernel);
/* The first parameter that no expression and no trace can give: a struct, and a raw array that the kernel may
 * write to. NULL: there is none. */
const kn_param *kn_kernel_refused(const kn_program *program);
/* The kernel, where it was made with options that its code keeps where it becomes part of another: flags,
 * texts, headers, options of the compiler. NULL: none. */
kiln_kernel *kn_expression_option_group(kiln_kernel *kernel);

#endif
