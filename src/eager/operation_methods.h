/* eager/operation_methods.h - NumPy's methods of ufuncs: reduce, accumulate and at of elementwise operations
 * of two inputs and one result, those of the table and registered ones. */
#ifndef KN_EAGER_OPERATION_METHODS_H
#define KN_EAGER_OPERATION_METHODS_H

#include "kernel/kernel.h"

/* The operation of the table that a method is; NULL: there is none. */
const char *kn_operation_method(const char *name, bool accumulates);
/* A number that an expression combines with any without a change, for all dtypes; NULL: none is known. */
const char *kn_operation_nothing(const char *name);
/* Makes the operation KN_REDUCE_OF or KN_ACCUMULATE_OF NAME of those definitions of NAME that combine two
 * values of a dtype to one of it, as far as that is not done. KILN_ERROR_INVALID where there are none, and
 * for those of the table whose results depend on the order of their operands. */
kiln_status kn_operation_derive(const char *name, bool accumulates);
/* A kernel of a, first, last and b: a combined with the elements of b from first on up to last, one by one,
 * as NAME computes in b's dtype. KILN_ERROR_INVALID where no definition of NAME does that. */
kiln_status kn_operation_steps(kiln_kernel **out, const char *name);

#endif
