/* plan/program.h - what is computed, for one element: the user's texts and parameters. Knows types at most,
 * never extents. */
#ifndef KN_PLAN_PROGRAM_H
#define KN_PLAN_PROGRAM_H

#include <kiln/kernel.h>
#include <stdint.h>
#include "types/signature.h"

typedef enum kn_program_kind { KN_ELEMENTWISE = 1 } kn_program_kind;

/* What the body mentions, so that kernels carry only what they need. */
enum {
    KN_USES_INDEX = 1,           /* `i`, or `_ind` in the body */
    KN_USES_COUNT = 2,           /* `n` or `_ind` */
    KN_USES_INDEXER = 4,         /* `_ind` */
    KN_USES_CONTINUE = 8,        /* `continue` or `break` */
    KN_USES_PLACE = 16,          /* `_ind`, for the index along each axis */
    KN_USES_INDEXER_OUTSIDE = 32 /* `_ind` in loop_prep or after_loop */
};

/* Owns all its texts; texts are never NULL. Immutable once made. */
typedef struct kn_program {
    kn_program_kind kind;
    char *name, *body, *preamble, *loop_prep, *after_loop;
    kn_param *param; /* the inputs, then the outputs */
    int n_in, n_out;
    unsigned flags; /* KILN_KERNEL_* */
    unsigned uses;  /* KN_USES_* */
    uint64_t
        indexed;   /* raw parameters (bits) that the texts index or ask for their shape: no scalar will do */
    char **option; /* for the compiler */
    int n_options;
    char **header_name, **header_text;
    int n_headers;
} kn_program;

kiln_status kn_program_elementwise(kn_program **out, const char *in_params, const char *out_params,
                                   const char *body, const char *name, const kiln_kernel_options *options);
void kn_program_free(kn_program *program);

#endif
