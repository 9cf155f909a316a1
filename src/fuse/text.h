/* fuse/text.h - a group as a program: its stages' texts, and where each parameter is from. */
#ifndef KN_FUSE_TEXT_H
#define KN_FUSE_TEXT_H

#include "fuse/group.h"
#include "plan/program.h"

/* A parameter of a group's program. */
typedef struct kn_text_param {
    const kn_leaf *leaf; /* an array; NULL: */
    int input;           /* a scalar of the call; -1: */
    kiln_arg number;     /* one that the shapes say */
    kiln_dtype dtype;    /* as the program sees it */
} kn_text_param;

typedef struct kn_text {
    kn_program *program;
    int order[KILN_MAX_NDIM]; /* the axes of the program's space: those of the group's, kept ones first */
    int n_kept, n_reduced;
    int n_in;
    kn_text_param in[KN_MAX_PARAMS]; /* outputs are the roots, in their order */
} kn_text;

/* What a text is written with: out->program is the caller's to free. *room: a node that has to be computed by itself
 * first; then there is no program. -1: there is none. */
kiln_status kn_text_write(kn_text *out, int *room, const kn_group *group, const kn_lower_state *state,
                          const char *name, const kiln_kernel_options *options);

#endif
