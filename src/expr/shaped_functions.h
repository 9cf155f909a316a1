/* expr/shaped_functions.h - functions whose text depends on axes and dtypes (shaped.h). */
#ifndef KN_EXPR_SHAPED_FUNCTIONS_H
#define KN_EXPR_SHAPED_FUNCTIONS_H

#include "expr/shaped.h"

kiln_status kn_call_cov(kn_value *out, kn_parser *p, const kn_called *c);        /* covariances.c */
kiln_status kn_call_cumulative(kn_value *out, kn_parser *p, const kn_called *c); /* which 1: products */
kiln_status kn_call_diag(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_equal_arrays(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_einsum(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_histogramdd(kn_value *out, kn_parser *p, const kn_called *c); /* histogramdd.c */
kiln_status kn_call_sort_complex(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_tensordot(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_weights_along(kn_value *out, kn_parser *p, const kn_called *c);
/* The distinct parts of x along an axis, in their order as rows. */
kiln_status kn_call_unique_parts(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *x,
                                 int64_t axis, unsigned flags);
/* dot, kron and their like, of two arrays. */
kiln_status kn_call_shaped_pair(kn_value *out, kn_parser *p, const kn_called *c);

kiln_status kn_call_left(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_filled(kn_value *out, kn_parser *p, const kn_called *c);

/* A pad whose elements follow from those of their axis. */
typedef struct kn_padding {
    const char *mode;       /* linear_ramp, maximum, mean, median, minimum; constant, reflect, symmetric */
    kn_value values;        /* of constants and at the ends of ramps; absent: 0 */
    bool is_odd;            /* reflect, symmetric: twice the end less the reversed part */
    int n_lengths, n_pairs; /* of lengths, 0: whole axes; of widths; 1: of all axes */
    int64_t length[2 * KILN_MAX_NDIM]; /* of the part of an axis that is looked at */
    int64_t width[2 * KILN_MAX_NDIM];
} kn_padding;

kiln_status kn_call_pad_by_axis(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *x,
                                const kn_padding *padding);

#endif
