/* fuse/lower.h - turns a graph and the arguments of a call into programs: as few as the data allows. */
#ifndef KN_FUSE_LOWER_H
#define KN_FUSE_LOWER_H

#include "graph/graph.h"
#include "kernel/algorithm.h"

/* The context of an expression's kernel. */
typedef struct kn_expression {
    kn_graph *graph;
    struct kn_expression *other; /* another reading of the text, by the inputs' dtypes; NULL */
    kn_program *texts; /* carries the options' preamble, flags, options and headers, which all programs get */
    kiln_kernel_options options; /* the same, pointing into `texts` */
} kn_expression;

/* kn_algorithm.lower; context is a kn_expression. */
kiln_status kn_lower(kn_lowered *out, const void *context, const kn_lowering_call *call);

#endif
