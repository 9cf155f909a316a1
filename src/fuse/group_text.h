/* fuse/group_text.h - the program that a group becomes, and the sources of its parameters. */
#ifndef KN_FUSE_GROUP_TEXT_H
#define KN_FUSE_GROUP_TEXT_H

#include "fuse/group.h"
#include "program/program.h"

/* The source of one parameter of a group's program. */
typedef struct kn_text_param {
    const kn_leaf *leaf; /* an array; NULL for a scalar */
    int input;           /* a scalar of the call, as kn_typed.from; -1: not one */
    kiln_arg number;     /* a number that follows from the shapes */
    kiln_dtype dtype;    /* as the program sees it */
    kn_bound bound;      /* a bound of clip that the launch is given by value */
} kn_text_param;

typedef struct kn_text {
    kn_program *program;
    int order[KILN_MAX_NDIM]; /* the axes of the program's space, as axes of the group's: output axes first */
    int n_output_axes, n_reduction_axes;
    int n_in;
    kn_text_param in[KN_MAX_PARAMS]; /* outputs are the roots, in their order */
} kn_text;

#endif
