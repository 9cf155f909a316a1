/* fuse/number_text.h - numbers and casts as they stand in a text. */
#ifndef KN_FUSE_NUMBER_TEXT_H
#define KN_FUSE_NUMBER_TEXT_H

#include "base/str.h"
#include "types/dtype.h"

/* Of a weak number, its real part. */
double kn_weak_real(const kiln_arg *number);
/* A weak number as a half holds it. */
kiln_arg kn_weak_rounded(const kiln_arg *number, kiln_dtype half);

/* Appends a weak number as one of dtype, in which values of that are computed: "0.5f". */
void kn_put_number(kn_str *out, const kiln_arg *number, kiln_dtype dtype);
/* Appends what is called `name`, cast where the two are not computed in the same dtype: "((float)t3)". */
void kn_put_cast(kn_str *out, const char *name, kiln_dtype from, kiln_dtype to);

#endif
