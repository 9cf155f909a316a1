/* space/shape.h - shapes and strides: pure integers. Extents in elements, strides in bytes, outermost first.
 */
#ifndef KN_SPACE_SHAPE_H
#define KN_SPACE_SHAPE_H

#include <kiln/base.h>
#include "base/str.h"

/* Product of the extents; -1 where it does not fit int64 (zeros left out) or an extent is negative. 1 for
 * ndim 0. */
int64_t kn_shape_size(int ndim, const int64_t *shape);
void kn_shape_c_strides(int ndim, const int64_t *shape, int64_t item_size, int64_t *strides);
/* The strides of an array with its own memory: C order, or all 0 if there are no elements, as in NumPy. */
void kn_shape_new_strides(int ndim, const int64_t *shape, int64_t item_size, int64_t *strides);
void kn_shape_f_strides(int ndim, const int64_t *shape, int64_t item_size, int64_t *strides);
bool kn_shape_is_c_contiguous(int ndim, const int64_t *shape, const int64_t *strides, int64_t item_size);
bool kn_shape_is_f_contiguous(int ndim, const int64_t *shape, const int64_t *strides, int64_t item_size);
/* The lowest byte and one past the highest, relative to the first element, that the view touches; 0, 0 for
 * size 0. Sums that do not fit int64 stop at its ends. */
void kn_shape_byte_range(int ndim, const int64_t *shape, const int64_t *strides, int64_t item_size,
                         int64_t *low, int64_t *high);
/* "(3, 4)", "(3,)", "()". */
void kn_shape_format(kn_str *out, int ndim, const int64_t *shape);
/* Broadcasts shape b into a (in place, *a_ndim grows): false, and a unchanged, where they do not fit. a has a
 * capacity of KILN_MAX_NDIM. */
bool kn_shape_broadcast(int *a_ndim, int64_t *a, int b_ndim, const int64_t *b);

#endif
