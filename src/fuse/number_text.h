/* fuse/number_text.h - writes numbers and casts into texts. */
#ifndef KN_FUSE_NUMBER_TEXT_H
#define KN_FUSE_NUMBER_TEXT_H

#include "base/str.h"
#include "graph/graph.h"
#include "types/dtype.h"

/* True for x ** 2, with the number in the text. */
bool kn_node_is_square(const kn_graph *graph, const kn_node *node);
/* The real part of a weak number. */
double kn_real_part(const kiln_arg *number);
/* A weak number, rounded to a 16-bit float. */
kiln_arg kn_weak_rounded(const kiln_arg *number, kiln_dtype half);

/* Appends a weak number as a value of the dtype that values of `dtype` are computed in: "0.5f". */
void kn_put_number(kn_str *out, const kiln_arg *number, kiln_dtype dtype);
/* Appends a name, with a cast if the two dtypes are computed in different ones: "((float)t3)". */
void kn_put_cast(kn_str *out, const char *name, kiln_dtype from, kiln_dtype to, bool is_host);

#endif
