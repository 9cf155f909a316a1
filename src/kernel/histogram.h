/* kernel/histogram.h - histograms of NumPy's, by name: kernels that are remembered. */
#ifndef KN_KERNEL_HISTOGRAM_H
#define KN_KERNEL_HISTOGRAM_H

#include "kernel/kernel.h"

/* The texts of a histogram, as kiln_histogram_create takes them. */
typedef struct kn_histogram_text {
    const char *in, *outs, *bin, *value, *reduce, *post, *identity, *name;
    int64_t bins;
    int edges; /* 1 + the input that has the edges of the bins: one more than there are bins; 0: none has */
    int sized; /* 1 + the raw input that has as many elements as there are bins; 0: none */
    int whole; /* 1 + the input whose elements have to be whole numbers; 0: none */
    int real;  /* 1 + the input whose elements have to be real numbers; 0: none */
} kn_histogram_text;
kiln_status kn_histogram_create(kiln_kernel **out, const kn_histogram_text *text,
                                const kiln_kernel_options *options);

typedef enum kn_histogram_name {
    KN_BINCOUNT,        /* inputs x, then weights */
    KN_HISTOGRAM,       /* x, the ends of its range (float64), the number of bins (int64), weights */
    KN_HISTOGRAM_WHOLE, /* the same where the ends are the least and the greatest of x, in its dtype */
    KN_HISTOGRAM_EDGES, /* x, edges in the dtype of x, weights */
    KN_HISTOGRAM_NAMES
} kn_histogram_name;

/* The kernel, one more reference. bins: 0: as the given result says; ignored where there are edges. */
kiln_status kn_histogram_find(kiln_kernel **out, kn_histogram_name name, bool has_weights, int64_t bins);

/* Elements that are combined by the number of their bin, in their own dtype. */
typedef enum kn_combining {
    KN_ADDED,
    KN_MULTIPLIED,
    KN_GREATEST,
    KN_LEAST,
    KN_ANDED,
    KN_ORED,
    KN_XORED,
    KN_LAST
} kn_combining;

/* Beside KN_ADDED, in the table of functions: sums are taken from elements. */
enum { KN_SUBTRACTED = 16 };

/* "added"; an expression of `a` and `b`; the value that leaves any other as it is, of a dtype T, in words of
 * the preamble. */
typedef struct kn_combining_text {
    const char *name, *reduce, *identity, *preamble;
} kn_combining_text;
kn_combining_text kn_combining_text_of(kn_combining how);

/* The kernel of values and numbers of bins, which broadcast; numbers that are no bin's are left out. flags:
 * KILN_KERNEL_ANY_ORDER, or others, which are not its own. */
kiln_status kn_segments_find(kiln_kernel **out, kn_combining how, int64_t bins, unsigned flags);
/* The kernel of an array, indices into all of its elements, and values, of which each element of the array
 * has those at its index, combined in the dtype of the array; without any: what leaves it as it is. Indices
 * outside are reported. Of KN_LAST there are no values: the result is 1 + the number of the last index that
 * is an element's, 0 for none (int64). */
kiln_status kn_scattered_find(kiln_kernel **out, kn_combining how, unsigned flags);

/* The kernel of the edges of bins that are equally wide, as NumPy's linspace has them: of the ends of the
 * range, of one dtype of floats (float64 if it is given), the number of bins, and those of the edges (both
 * int64). */
kiln_status kn_histogram_find_edges(kiln_kernel **out, bool is_given);

#endif
