/* graph/constant_folding.h - what Python's operators make of numbers: weak ones, by value. */
#ifndef KN_GRAPH_CONSTANT_FOLDING_H
#define KN_GRAPH_CONSTANT_FOLDING_H

#include <kiln/arg.h>

/* The operation that an operator is called by ("add" for +) on KILN_ARG_WEAK_* numbers. *out stays of kind
 * KILN_ARG_NONE where there is no operator of that name and number of operands. Returns NULL, or why Python
 * has no result, or one that 64 bits do not hold: "a division by zero". */
const char *kn_constant_fold(kiln_arg *out, const char *name, const kiln_arg *in, int n_in);
/* Whether there is an operator of that name and number of operands. */
bool kn_constant_fold_knows(const char *name, int n_in);

/* What Python's int(), float(), complex() and bool() make of a number, weak or KILN_ARG_TYPED: the weak kind
 * that dtype alone stands for. NULL, or why there is no result. */
const char *kn_constant_fold_cast(kiln_arg *out, kiln_dtype dtype, const kiln_arg *in);

/* A KILN_ARG_WEAK_INT or _UINT as int64, where it fits; a bool is 0 or 1. */
bool kn_weak_to_int64(int64_t *out, const kiln_arg *number);

#endif
