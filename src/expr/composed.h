/* expr/composed.h - calls of functions that are composed of others (composed_table.c). */
#ifndef KN_EXPR_COMPOSED_H
#define KN_EXPR_COMPOSED_H

#include "expr/parser.h"

/* The value of a call of such a function; false: there is none of that name. */
bool kn_call_composed(kiln_status *status, kn_value *out, kn_parser *p, const kn_called *c);

#endif
