/* expr/composed.h - functions of expressions that are expressions themselves: a row each. */
#ifndef KN_EXPR_COMPOSED_H
#define KN_EXPR_COMPOSED_H

#include "expr/parser.h"

/* The value of a call of such a function; false: there is none of that name. */
bool kn_call_composed(kiln_status *status, kn_value *out, kn_parser *p, const kn_called *c);

/* The name of row k; NULL beyond the last. A name may have several rows, one behind the other. */
const char *kn_composed_name(int k);

#endif
