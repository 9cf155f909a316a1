/* kiln/sort.h - sorts by keys that are expressions of the elements. */
#ifndef KILN_SORT_H
#define KILN_SORT_H

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

#ifdef __cplusplus
}
#endif

#endif
