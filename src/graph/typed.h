/* graph/typed.h - what the nodes of a graph are for the arguments of a call. */
#ifndef KN_GRAPH_TYPED_H
#define KN_GRAPH_TYPED_H

#include "graph/graph.h"
#include "ops/variant.h"

/* What a node is for these arguments. */
typedef struct kn_typed {
    kiln_dtype
        dtype; /* of a weak number that which it has by itself: bool, int64, uint64, float64, complex128 */
    bool is_weak;
    bool is_scalar; /* a number by value, or computed from such alone: no array is in it */
    int ndim;
    int64_t *shape; /* in one block with the list of kn_typed */
    /* CALL, KERNEL: the axes (bits) of the broadcast shape of what it reads that are reduced */
    uint64_t axes;
    bool is_reduction;
    bool is_late; /* KERNEL: the call finds out the extent of the first axis; shape has the most */
    /* CALL: the row, and the variant: dtypes to which what it reads is cast */
    const kiln_operation *definition;
    kn_variant variant;
    /* KERNEL: the dtypes that its parameters have, inputs, then outputs. What it reads has them too, but for
     * numbers, which are converted */
    kiln_dtype param[KN_MAX_PARAMS];
    int64_t value; /* EXTENT, NDIM */
    /* Its value, where the graph and the shapes tell it: NUMBER, EXTENT, NDIM, and operators on such. Of kind
     * KILN_ARG_NONE elsewhere. Whoever asks for it need not compute it */
    kiln_arg number;
    bool is_of_call; /* the number is: plans that have it are those of calls with the same given numbers */
    /* Of a number that each launch is given: an input by value, or, by its place among kn_computed_numbers
     * behind all inputs, what is computed of such. -1 elsewhere */
    int from;
    /* Its value in this call, on which no plan depends, and, of whole ones, what has its class
     * (kn_weak_class). KILN_ARG_NONE elsewhere */
    kiln_arg given, like;
} kn_typed;

/* An argument of a call, as far as it matters here. */
typedef struct kn_argument {
    kiln_dtype dtype;
    bool is_weak, is_scalar;
    int ndim;
    const int64_t *shape;
    kiln_arg like, given; /* as in kn_typed; given: of a dtype, too */
} kn_argument;

#endif
