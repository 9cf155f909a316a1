/* expr/weighted_quantiles.h - quantiles of elements that have weights. */
#ifndef KN_EXPR_WEIGHTED_QUANTILES_H
#define KN_EXPR_WEIGHTED_QUANTILES_H

#include "expr/parser.h"
#include "kernel/quantile.h"

/* list: the quantiles, `count` of them. slot: a, q, axis, method, keepdims and weights, of a call of
 * quantile or its like. */
kiln_status kn_call_weighted_quantile(kn_value *out, kn_parser *p, const kn_called *c, const kn_quantile *q,
                                      const double *list, int count, const kn_value *slot);

#endif
