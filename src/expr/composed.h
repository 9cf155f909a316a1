/* expr/composed.h - calls of functions that are composed of others (composed_table.c). */
#ifndef KN_EXPR_COMPOSED_H
#define KN_EXPR_COMPOSED_H

#include "expr/parser.h"

/* The value of a call of such a function; false: there is none of that name. */
bool kn_call_composed(kiln_status *status, kn_value *out, kn_parser *p, const kn_called *c);

/* The value of a text over these names, whose nodes stand at the call. Names must outlive the parser. */
kiln_status kn_compose(kn_value *out, kn_parser *p, const kn_called *c, const char *text,
                       const char *const *name, kn_value *value, int count);

#endif
