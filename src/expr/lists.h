/* expr/lists.h - lists of numbers in an expression: [0, 2], [[1.5, 2], [3, 4]], [True, False]. */
#ifndef KN_EXPR_LISTS_H
#define KN_EXPR_LISTS_H

#include "expr/parser.h"

/* A list in square brackets becomes an array of its numbers, with an axis for each level of lists; any other
 * value stays as it is. */
kiln_status kn_list_array(kn_value *value, kn_parser *p);
/* Where a value is expected: a list or a tuple becomes an array with NumPy's dtype of nothing, of arrays a
 * stack; a number that stands in the text one without axes, of its own dtype. */
kiln_status kn_list_value(kn_value *value, kn_parser *p);

#endif
