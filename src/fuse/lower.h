/* fuse/lower.h - turns a graph and the arguments of a call into programs: as few as the data allows. */
#ifndef KN_FUSE_LOWER_H
#define KN_FUSE_LOWER_H

#include "fuse/lower_expression.h"
#include "graph/typed.h"
#include "kernel/algorithm.h"

/* The reading of the text by the dtypes of the inputs that were guessed. */
const kn_expression *kn_lower_reading(const kn_expression *expression, const kiln_arg *in);
/* The programs of a call of such a reading. KILN_ERROR_UNSUPPORTED where a node reads a late extent, too. */
kiln_status kn_lower(kn_lowered *out, const kn_expression *reading, const kn_lowering_call *call);
/* For inference of the same call. */
void kn_lower_arguments(kn_argument *out, const kiln_arg *in, int n_in);

#endif
