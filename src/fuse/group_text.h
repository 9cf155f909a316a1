/* fuse/group_text.h - what became of a group: a program, and where its parameters are from. */
#ifndef KN_FUSE_GROUP_TEXT_H
#define KN_FUSE_GROUP_TEXT_H

#include "fuse/group.h"
#include "program/program.h"

/* A parameter of a group's program. */
typedef struct kn_text_param {
    const kn_leaf *leaf; /* an array; NULL: */
    int input;           /* a scalar of the call, kn_typed.from; -1: */
    kiln_arg number;     /* one that the shapes say */
    kiln_dtype dtype;    /* as the program sees it */
    kn_bound bound;      /* a scalar that the launch is given by its value */
} kn_text_param;

typedef struct kn_text {
    kn_program *program;
    int order[KILN_MAX_NDIM]; /* the axes of the program's space: those of the group's, kept ones first */
    int n_output_axes, n_reduction_axes;
    int n_in;
    kn_text_param in[KN_MAX_PARAMS]; /* outputs are the roots, in their order */
} kn_text;

#endif
