/* fuse/inline.h - one graph within another: what a call of a kernel that has a graph becomes. */
#ifndef KN_FUSE_INLINE_H
#define KN_FUSE_INLINE_H

#include "fuse/lower.h"

/* Adds the nodes of `from` to a graph; its inputs are the nodes `in` there. number[k], of which there are
 * from->n_nodes: what node k is there. On failure (KILN_ERROR_MEMORY; KILN_ERROR_INVALID for too many nodes,
 * and for numbers without a result) some may have been added. All stand at one place of the text. */
kiln_status kn_graph_inline(int *number, kn_graph *to, const kn_graph *from, const int *in, size_t at,
                            size_t length);

/* What a kernel of an expression or a trace lowers; NULL for any other kernel. */
const kn_expression *kn_expression_of(const kiln_kernel *kernel);
/* The member of kiln_kernel_options that such a kernel was made with, and that would be lost where it becomes
 * part of another: "flags". NULL: none. */
const char *kn_expression_option(const kn_expression *expression);

#endif
