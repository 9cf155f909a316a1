/* kernel/unique.h - the distinct elements of an array. */
#ifndef KN_KERNEL_UNIQUE_H
#define KN_KERNEL_UNIQUE_H

#include "kernel/kernel.h"

/* A remembered kernel of x, one more reference: its results are the distinct elements, and those of
 * KILN_UNIQUE_* in that order. KN_UNIQUE_RUNS, beside KILN_UNIQUE_COUNTS: elements that differ from the one
 * before, and how often each comes in a row. KN_UNIQUE_NANS: each NaN is one of them, NumPy's
 * equal_nan=False. */
enum { KN_UNIQUE_RUNS = 1 << 8, KN_UNIQUE_NANS = 1 << 9 };
kiln_status kn_unique_find(kiln_kernel **out, unsigned flags);

#endif
