/* expr/grids.h - NumPy's mgrid and ogrid: slices of numbers become arrays of the numbers in them. */
#ifndef KN_EXPR_GRIDS_H
#define KN_EXPR_GRIDS_H

#include "expr/parser.h"

enum { KN_GRID_PARTS = 3 /* of a slice: start, stop and step; absent where not given */ };

/* True for the name of a grid. */
bool kn_grid_is(bool *is_open, const char *name, size_t length);
/* The arguments of c are the parts of its slices. is_one: of one slice, without a comma. */
kiln_status kn_grid_add(kn_value *out, kn_parser *p, const kn_called *c, bool is_open, bool is_one);

#endif
