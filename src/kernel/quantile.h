/* kernel/quantile.h - median, quantile and percentile: elements of sorted rows, and numbers between two. */
#ifndef KN_KERNEL_QUANTILE_H
#define KN_KERNEL_QUANTILE_H

#include "kernel/sort.h"

enum { KN_MOST_QUANTILES = 64 };

/* A median has one input, x, and no method. Quantiles have q behind it: an array or a number; unless there is
 * a list of them, which comes first among the axes of the result. */
typedef struct kn_quantile {
    const char *method; /* NumPy's name; NULL: linear */
    bool is_median, is_percentile;
    bool skips_nan;        /* as if NaNs were not there; NaN if there is nothing else */
    bool is_all, keepdims; /* all axes; they stay, with extent 1 */
    int n_axes, axis[KILN_MAX_NDIM];
    bool has_list;
    int n_list;
    double list[KN_MOST_QUANTILES]; /* of 0 to 1, or 0 to 100 */
} kn_quantile;

/* A remembered kernel: one more reference. KILN_ERROR_INVALID for another method, a number in the list that
 * is out of range, an axis twice, and no axes. */
kiln_status kn_quantile_find(kiln_kernel **out, const kn_quantile *quantile);
/* KILN_ERROR_INVALID for a number that is out of range. */
kiln_status kn_quantile_check(const kn_quantile *quantile, double q);

#endif
