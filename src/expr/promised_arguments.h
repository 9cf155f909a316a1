/* expr/promised_arguments.h - arguments of NumPy's that promise or allow something on which no result depends
 * here. */
#ifndef KN_EXPR_PROMISED_ARGUMENTS_H
#define KN_EXPR_PROMISED_ARGUMENTS_H

#include "expr/parser.h"

/* The row of such an argument of the call; -1: it is none. */
int kn_promised_find(const kn_parser *p, const kn_called *c, const kn_value *argument);
/* An error unless the argument has a value that NumPy takes. */
kiln_status kn_promised_check(const kn_parser *p, const kn_value *argument, int row);
/* Number k of the rows, as "functions keyword"; false: there are no more. */
bool kn_promised_at(int k, const char **functions, const char **keyword);

#endif
