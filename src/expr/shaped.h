/* expr/shaped.h - functions of expressions whose text depends on the dtypes and axes of their arguments: as a
 * node they are a kernel, which writes the text once the arguments of a call are known. */
#ifndef KN_EXPR_SHAPED_H
#define KN_EXPR_SHAPED_H

#include "base/str.h"
#include "expr/call.h"
#include "kernel/kernel.h"

enum { KN_SHAPED_NUMBERS = 4 * KILN_MAX_NDIM + 4 };

/* A call's own numbers and words; a writer says what they mean. */
typedef struct kn_shaped_own {
    int which, count, more; /* more: results behind the first one */
    bool is_on_host;        /* the call is lowered for the host; shapes and dtypes do not depend on it */
    int64_t number[KN_SHAPED_NUMBERS];
    char word[3][64];
} kn_shaped_own;

/* Writes the expression of arguments x0, x1 ... for arrays of these dtypes and shapes. KILN_ERROR_SHAPE,
 * _TYPE, _INVALID for what it refuses. */
typedef kiln_status (*kn_shaped_writer)(kn_str *text, const kn_shaped_own *own, const kn_described *in);

/* Adds the node. own: without bytes that nothing has set, since equal ones are one kernel. */
kiln_status kn_call_shaped(kn_value *out, kn_parser *p, const kn_called *c, kn_shaped_writer write,
                           const kn_shaped_own *own, const kn_value *in, int n_in);

#endif
