/* fuse/lower_expression.h - what the kernel of an expression holds. */
#ifndef KN_FUSE_LOWER_EXPRESSION_H
#define KN_FUSE_LOWER_EXPRESSION_H

#include "graph/graph.h"
#include "program/program.h"

/* The context of an expression's kernel. */
typedef struct kn_expression {
    kn_graph *graph;
    struct kn_expression *other; /* another reading of the text, by the inputs' dtypes; NULL */
    kn_program *texts; /* carries the options' preamble, flags, options and headers, which all programs get */
    kiln_kernel_options options; /* the same, pointing into `texts` */
} kn_expression;

#endif
