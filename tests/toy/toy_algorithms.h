/* Algorithms that the library does not have: kernels of them. */
#ifndef TOY_ALGORITHMS_H
#define TOY_ALGORITHMS_H

#include <kiln/kernel.h>

/* toy_scan.c: "x" to "y", what the elements in front of each sum up to. Three launches: sums of chunks, sums
 * of these, elements. */
enum { TOY_CHUNK = 1000 };
kiln_status toy_scan_create(kiln_kernel **out);

/* toy_select.c: "x" to "y", the elements above zero, and, where they are wanted, "count", how many these are.
 * Zeros by a function, flags, the scan of these, elements. */
typedef enum toy_select {
    TOY_SELECT,        /* the count is a result */
    TOY_COMPACT,       /* it is in a buffer */
    TOY_WRONG_COUNT,   /* and one too large */
    TOY_WRONG_FUNCTION /* the function fails */
} toy_select;
kiln_status toy_select_create(kiln_kernel **out, toy_select what);

#endif
