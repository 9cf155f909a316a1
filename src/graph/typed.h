/* graph/typed.h - the dtypes and shapes of a graph's nodes for the arguments of a call. */
#ifndef KN_GRAPH_TYPED_H
#define KN_GRAPH_TYPED_H

#include "graph/graph.h"
#include "ops/variant.h"

/* A node for these arguments. */
typedef struct kn_typed {
    kiln_dtype dtype; /* of a weak number its default dtype: bool, int64, uint64, float64, complex128 */
    bool is_weak;
    bool is_scalar; /* a number by value, or computed only from such */
    int ndim;
    int64_t *shape; /* in one allocation with the list of kn_typed */
    /* CALL, KERNEL: bits of the reduction axes in the broadcast shape of the inputs */
    uint64_t axes;
    bool is_reduction;
    bool scans;   /* along the same axes: the result has the shape of the inputs */
    bool is_late; /* KERNEL: the call finds the extent of one axis; shape has the maximum */
    /* CALL: the definition, and the variant: dtypes to which the inputs are cast */
    const kiln_operation *definition;
    kn_variant variant;
    /* KERNEL: the dtypes of its parameters, inputs before outputs. Inputs have these dtypes already,
     * except numbers, which are converted */
    kiln_dtype param[KN_MAX_PARAMS];
    int64_t value; /* EXTENT, NDIM */
    /* The value, if the graph and the shapes determine it: NUMBER, EXTENT, NDIM, and operators on such.
     * Otherwise KILN_ARG_NONE. A reader uses it in place of computing the node */
    kiln_arg number;
    bool is_of_call; /* the value depends on given numbers: plans serve only calls with the same ones */
    /* For a number that each launch is given: the index of an input by value or, above all inputs, of one
     * of the kn_computed_numbers. Otherwise -1 */
    int from;
    /* given: the value in this call, on which no plan depends; like: of a whole number, one of the same
     * class (kn_weak_class). Otherwise KILN_ARG_NONE */
    kiln_arg given, like;
} kn_typed;

/* The properties of a call's argument that inference uses. */
typedef struct kn_argument {
    kiln_dtype dtype;
    bool is_weak, is_scalar;
    int ndim;
    const int64_t *shape;
    kiln_arg like, given; /* as in kn_typed; given also for a number of a dtype */
} kn_argument;

#endif
