/* kiln/sort.h - sorts by keys that are expressions of the elements. */
#ifndef KILN_SORT_H
#define KILN_SORT_H

#include <stdbool.h>

#include <kiln/array.h>
#include <kiln/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { KILN_SORT_DESCENDING = 1 /* the largest key first */ };

/* A key. */
typedef struct kiln_sort_key {
    const char *key;  /* an expression of the inputs */
    const char *type; /* a dtype, or the placeholder of an input; NULL: the first that is not raw */
    unsigned flags;   /* KILN_SORT_* */
} kiln_sort_key;

/* A sort: the elements of the inputs' broadcast shape, along one axis of a call
 * (kiln_call_options.axes; NULL: the last), in the order of their keys: 1 to 16, the most important
 * one first. `body`, statements, assigns the outputs, which have that shape, for the element that
 * comes there, from the inputs and `i`, its index along the axis before. Inputs are arrays, or raw.
 * The sort is stable: elements whose keys are equal keep their order, in descending order too. NaN
 * comes last in either, -0 is equal to 0, and complex numbers are ordered as NumPy does. The same
 * bits on every run. Texts and errors are otherwise those of kiln_elementwise_create;
 * KILN_ERROR_INVALID for keys that are missing, for unknown flags, and for several axes.
 * Rows by their distance from 0, and where each element was:
 *
 *     const kiln_sort_key key = {"abs(x)", NULL, 0};
 *     kiln_sort_create(&kernel, "T x", "T y, int64 at", &key, 1, "y = x; at = i", "by_size", NULL);
 */
KILN_NODISCARD KILN_API kiln_status kiln_sort_create(kiln_kernel **out, const char *in_params,
                                                     const char *out_params,
                                                     const kiln_sort_key *keys, int n_keys,
                                                     const char *body, const char *name,
                                                     const kiln_kernel_options *options);

/* Sorts by name, with NumPy's meaning, along an axis (a negative one counts from the last), or with
 * KILN_ALL_AXES of all elements in C order. Kernels are remembered. The order is that of
 * kiln_sort_create, and results are new arrays where *out is NULL. flags: KILN_SORT_*.
 * KILN_ERROR_SHAPE for an axis that there is none of, KILN_ERROR_INVALID for unknown flags; errors
 * are otherwise those of kiln_kernel_call. Thread-safe; arrays of a trace are recorded. */
KILN_NODISCARD KILN_API kiln_status kiln_sort(kiln_array **out, kiln_arg x, int axis,
                                              unsigned flags);
/* int64: where each element of the sorted x was. */
KILN_NODISCARD KILN_API kiln_status kiln_argsort(kiln_array **out, kiln_arg x, int axis,
                                                 unsigned flags);
/* The order by several keys, 1 to 16 arrays that broadcast, the last one the most important. */
KILN_NODISCARD KILN_API kiln_status kiln_lexsort(kiln_array **out, const kiln_arg *keys, int n_keys,
                                                 int axis);
/* The first k elements of the sorted x, and where they were (int64); with KILN_SORT_DESCENDING the
 * largest ones. KILN_ERROR_INVALID for a k below 0; KILN_ERROR_SHAPE for more than there are. */
KILN_NODISCARD KILN_API kiln_status kiln_topk(kiln_array *out[2], kiln_arg x, int64_t k, int axis,
                                              unsigned flags);
/* The elements, or their indices, with the one at kth where it is in the sorted x, lesser ones in
 * front of it and greater ones behind. KILN_ERROR_SHAPE where there is no such element. */
KILN_NODISCARD KILN_API kiln_status kiln_partition(kiln_array **out, kiln_arg x, int64_t kth,
                                                   int axis);
KILN_NODISCARD KILN_API kiln_status kiln_argpartition(kiln_array **out, kiln_arg x, int64_t kth,
                                                      int axis);

/* The middle element along axes (NULL: all), or the mean of the two in the middle; float64 of
 * integers. NaN where there is one, and of no elements. keepdims: axes stay, with extent 1.
 * KILN_ERROR_SHAPE, KILN_ERROR_INVALID for axes that there are none of, or twice. */
KILN_NODISCARD KILN_API kiln_status kiln_median(kiln_array **out, kiln_arg x, const int *axes,
                                                int n_axes, bool keepdims);
/* Quantiles q, a number or an array from 0 to 1, by one of NumPy's methods (NULL: "linear"). The
 * axes of q come first in the result, whose dtype is NumPy's. An element of an array q that is out
 * of range counts as the end that is nearest. KILN_ERROR_INVALID for a number that is, for another
 * method, and for no elements; KILN_ERROR_TYPE for complex x; errors of kiln_median. */
KILN_NODISCARD KILN_API kiln_status kiln_quantile(kiln_array **out, kiln_arg x, kiln_arg q,
                                                  const char *method, const int *axes, int n_axes,
                                                  bool keepdims);
/* The same for q from 0 to 100. */
KILN_NODISCARD KILN_API kiln_status kiln_percentile(kiln_array **out, kiln_arg x, kiln_arg q,
                                                    const char *method, const int *axes, int n_axes,
                                                    bool keepdims);

/* The same without NaNs: NaN only where there is nothing else along the axes. */
KILN_NODISCARD KILN_API kiln_status kiln_nanmedian(kiln_array **out, kiln_arg x, const int *axes,
                                                   int n_axes, bool keepdims);
KILN_NODISCARD KILN_API kiln_status kiln_nanquantile(kiln_array **out, kiln_arg x, kiln_arg q,
                                                     const char *method, const int *axes,
                                                     int n_axes, bool keepdims);
KILN_NODISCARD KILN_API kiln_status kiln_nanpercentile(kiln_array **out, kiln_arg x, kiln_arg q,
                                                       const char *method, const int *axes,
                                                       int n_axes, bool keepdims);

enum {
    KILN_UNIQUE_INDEX = 1,   /* int64: where each distinct element is first in x, in C order */
    KILN_UNIQUE_INVERSE = 2, /* int64, in the shape of x: each element's number among them */
    KILN_UNIQUE_COUNTS = 4   /* int64: how many there are of each */
};
/* The distinct elements of all of x, sorted; NaNs are one. out: as many arrays as flags ask for,
 * behind the elements, in the order above. Waits for their number, unless arrays are given, which
 * get as many as they hold. KILN_ERROR_INVALID for unknown flags. */
KILN_NODISCARD KILN_API kiln_status kiln_unique(kiln_array **out, kiln_arg x, unsigned flags);
/* The distinct parts of x along an axis, of 1 to 256 elements each, sorted as rows of these; two
 * that have NaN are different. out and flags are as above; the inverse is that of parts.
 * KILN_ERROR_SHAPE for another axis, or longer parts. */
KILN_NODISCARD KILN_API kiln_status kiln_unique_parts(kiln_array **out, kiln_arg x, int axis,
                                                      unsigned flags);

#ifdef __cplusplus
}
#endif

#endif
