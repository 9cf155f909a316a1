/* graph/constant_folding.h - applies Python's operators to weak numbers by value. */
#ifndef KN_GRAPH_CONSTANT_FOLDING_H
#define KN_GRAPH_CONSTANT_FOLDING_H

#include <kiln/arg.h>

/* Applies an operator, named as the operation that it calls ("add" for +), to KILN_ARG_WEAK_* numbers.
 * *out stays KILN_ARG_NONE if there is no operator of that name and number of operands. Returns NULL, or
 * the reason why Python has no result, or none of 64 bits: "a division by zero". */
const char *kn_constant_fold(kiln_arg *out, const char *name, const kiln_arg *in, int n_in);
/* True if there is an operator of that name and number of operands. */
bool kn_constant_fold_knows(const char *name, int n_in);

/* Applies Python's int(), float(), complex() or bool() to a number, weak or KILN_ARG_TYPED; the result has
 * the weak kind of that dtype. NULL, or the reason why there is no result. */
const char *kn_constant_fold_cast(kiln_arg *out, kiln_dtype dtype, const kiln_arg *in);

/* A KILN_ARG_WEAK_INT or _UINT as int64, where it fits; a bool is 0 or 1. */
bool kn_weak_to_int64(int64_t *out, const kiln_arg *number);

#endif
