/* expr/functions.h - calls in an expression: finds the function of a name, and matches its arguments. */
#ifndef KN_EXPR_FUNCTIONS_H
#define KN_EXPR_FUNCTIONS_H

#include "expr/parser.h"

/* The value of a call whose arguments have been read. A name is looked up among the user's kernels, then
 * among functions that are no operations (reshape, astype, arange ...), dtypes, operations. */
kiln_status kn_parser_call(kn_value *out, kn_parser *p, const kn_called *called);

/* Number k of the names of functions that are no operations and that users call; NULL: there are no more. */
const char *kn_function_name(int k);

/* x.shape[k] */
kiln_status kn_parser_extent(kn_value *out, kn_parser *p, int node, int64_t axis, size_t at, size_t length);
/* x.size, x.ndim, x.T and others (array_members.c); false: there is no attribute of that name. */
bool kn_parser_attribute(kiln_status *status, kn_value *out, kn_parser *p, const kn_value *of,
                         const char *name, size_t length, size_t at);

#endif
