/* kiln/histogram.h - elements that are counted, or combined, by bins. */
#ifndef KILN_HISTOGRAM_H
#define KILN_HISTOGRAM_H

#include <kiln/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A histogram: the elements of the inputs' broadcast shape are combined by bins. The result has one
 * axis, of `bins` elements; 0: of as many as the array has that a call gives for it.
 *
 * `bin`, an expression of the inputs and `i`, is the number of an element's bin; elements with a
 * number below 0, or that is no bin's, are left out. `value`, an expression (NULL: 1), is combined
 * with those of the same bin by `reduce`, an expression of `a` and `b` (NULL: a + b), which is
 * associative and commutative; a bin without elements has the `identity` (NULL: 0, for sums alone).
 * `post`, statements, assigns the outputs from `a`, what a bin's elements are combined to (NULL:
 * the first output is `a`). Values are combined in the type that kiln_reduction_create takes
 * (kiln_kernel_options.reduce_type, a dtype; else the first output's). The same bits on every run,
 * for every operator and dtype, and on the host for any number of threads.
 *
 * Texts and errors are otherwise those of kiln_reduction_create. KILN_ERROR_INVALID for a negative
 * number of bins, and for `reduce` without `identity`; of a call for no bins, where no array is
 * given either. Lengths of words, counted, and the sums of weights by key:
 *
 *     kiln_histogram_create(&kernel, "int32 length", "int64 words", "length", NULL, NULL, NULL,
 *                           NULL, 64, "lengths", NULL);
 *     kiln_histogram_create(&kernel, "int32 key, float32 w", "float64 sum", "key", "w", NULL, NULL,
 *                           NULL, 1000, "sums", NULL);
 */
KILN_NODISCARD KILN_API kiln_status kiln_histogram_create(kiln_kernel **out, const char *in_params,
                                                          const char *out_params, const char *bin,
                                                          const char *value, const char *reduce,
                                                          const char *post, const char *identity,
                                                          int64_t bins, const char *name,
                                                          const kiln_kernel_options *options);

/* NumPy's bincount: the counts of the whole numbers from 0 on in x, an array of integers or
 * booleans of any shape, for as many numbers as x has, at least minlength; with weights
 * (kiln_arg_none: none), which broadcast with x, their sums in float64. Waits for the greatest
 * number. KILN_ERROR_TYPE for another x; KILN_ERROR_INVALID for a negative element or minlength. */
KILN_NODISCARD KILN_API kiln_status kiln_bincount(kiln_array **out, kiln_arg x, kiln_arg weights,
                                                  int64_t minlength);
/* NumPy's histogram of all of x: the counts, or the sums of weights (kiln_arg_none: none), of so
 * many bins, equally wide, of [range[0], range[1]] (NULL: the least and the greatest element), and
 * their edges. KILN_ERROR_INVALID for a number of bins below 1, and a range that is not finite or
 * goes down. */
KILN_NODISCARD KILN_API kiln_status kiln_histogram(kiln_array **counts, kiln_array **edges,
                                                   kiln_arg x, int64_t bins, const double *range,
                                                   kiln_arg weights);
/* The edges alone: bins + 1 of them. */
KILN_NODISCARD KILN_API kiln_status kiln_histogram_bin_edges(kiln_array **edges, kiln_arg x,
                                                             int64_t bins, const double *range);
/* NumPy's histogramdd of n columns x, 1 to 16, arrays that broadcast: out[0] has the counts, or the
 * sums of weights (kiln_arg_none: none), along n axes, and out[1] to out[n] the edges of each. bins
 * has a number for each column, and range two ends (NULL: the least and the greatest element).
 * Elements are float64 here. KILN_ERROR_INVALID as of kiln_histogram, and for another n. */
KILN_NODISCARD KILN_API kiln_status kiln_histogramdd(kiln_array **out, const kiln_arg *x, int n,
                                                     const int64_t *bins, const double *range,
                                                     kiln_arg weights);

#ifdef __cplusplus
}
#endif

#endif
