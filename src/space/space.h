/* space/space.h - where a program is computed: the axes of the loop nest, and each operand's byte strides
 * along them. Integers in, integers out.
 *
 * From shapes and strides as the user has them: broadcast; axes of extent 1 dropped; axes flipped along which
 * results would be written backwards; axes ordered so that results are written forward, outermost first;
 * neighbours merged that are contiguous for every operand. Reduction axes stand behind output axes, and both
 * are ordered and merged among themselves; results have stride 0 along reduction axes. The logical C-order
 * index, which `i` means, is one more operand, whose "bytes" are elements, where the program uses it. */
#ifndef KN_SPACE_SPACE_H
#define KN_SPACE_SPACE_H

#include <kiln/base.h>
#include "program/signature.h"

/* The operands of a call and, last, indices. */
#define KN_MAX_OPERANDS (KN_MAX_PARAMS + 2)

/* Indices that are operands of the space, in this order. */
enum {
    KN_WITH_INDEX = 1,          /* in C order, of the whole shape */
    KN_WITH_REDUCTION_INDEX = 2 /* of the reduction axes alone */
};

#define KN_SAME_ARRAY INT64_MIN

/* One array operand as the user has it. */
typedef struct kn_view {
    const int64_t *shape, *strides;
    int ndim;
    bool is_output;
} kn_view;

typedef struct kn_space {
    int ndim;             /* at least 1 where size > 0 */
    int n_reduction_axes; /* the last ones; the others are output axes */
    int n_operands;       /* views, and behind them the indices it has */
    unsigned indices;     /* KN_WITH_* */
    int64_t size;         /* elements */
    int64_t extent[KILN_MAX_NDIM];
    int64_t
        offset[KN_MAX_OPERANDS]; /* to add to the operand's address (the index: its value) at the origin */
    int64_t stride[KN_MAX_OPERANDS][KILN_MAX_NDIM];
    /* Bytes from the operand before it (an input before an input, a result before a result) where it is
     * known that both are views of one array with the same strides; KN_SAME_ARRAY where both begin at one
     * element and strides differ; 0: nothing is known. kn_space_make sets 0. */
    int64_t after[KN_MAX_OPERANDS];
} kn_space;

/* Broadcasts all views. KILN_ERROR_SHAPE, with both names and shapes, where they do not fit. names[v] names
 * view v in messages. */
kiln_status kn_space_broadcast(int *ndim, int64_t *shape, const kn_view *view, const char *const *names,
                               int count);

/* Fills *out for the broadcast shape; the bits of reduction_axes are its axes that are reduced. Every view
 * must broadcast to it; outputs must have exactly it, or extent 1 along each reduction axis. */
void kn_space_make(kn_space *out, int ndim, const int64_t *shape, uint64_t reduction_axes,
                   const kn_view *view, int count, unsigned indices);

/* The same for scans along the reduction axes: these keep their order, and their elements go from the first
 * to the last in C order, or the other way round. KN_IN_C_ORDER: so do the results too, whose number a kernel
 * has to know. */
typedef enum kn_space_order { KN_ANY_ORDER, KN_FORWARD, KN_BACKWARD, KN_IN_C_ORDER } kn_space_order;
void kn_space_make_in_order(kn_space *out, int ndim, const int64_t *shape, uint64_t reduction_axes,
                            const kn_view *view, int count, unsigned indices, kn_space_order order);

/* Elements along the output axes: of each result. */
int64_t kn_space_output_size(const kn_space *space);

/* Copies all members but `after`. */
void kn_space_copy(kn_space *to, const kn_space *from);

/* The axis along which the operand continues contiguously where it ends along `axis`; -1. */
int kn_space_next_axis(const kn_space *space, int operand, int axis);

/* Cuts the space in two at about the middle of `axis`, at a multiple of `align` elements, low first. False
 * where the axis cannot be cut so. */
bool kn_space_split(const kn_space *space, int axis, int64_t align, kn_space *low, kn_space *high);

/* The axis to cut where some operand's elements lie more than `limit` bytes apart: the one that contributes
 * most to the operand with the largest span; else -1. */
int kn_space_axis_beyond(const kn_space *space, int64_t limit);

/* Bytes between an operand's first and last element along the axes from `first` on. */
int64_t kn_space_reach(const kn_space *space, int operand, int first);

/* The axis, other than the fastest, `axis` and `other` (-1: none), along which the operand has its smallest
 * stride, strides of 0 left out; -1. */
int kn_space_nearest_axis(const kn_space *space, int operand, int axis, int other);

/* Begins a space over the same elements, operands and origin, whose axes are put in one by one, all of them
 * output axes; the caller sets its ndim then. */
void kn_space_start(kn_space *out, const kn_space *space);

/* Makes axis `to` of out axis `from` of space in steps of `steps` elements. from -1: an axis of extent 1. */
void kn_space_put_axis(kn_space *out, int to, const kn_space *space, int from, int64_t steps);

/* The axis order (outermost first, into axes[ndim]) in which the views' memory is read forward: that of the
 * iterator of NumPy's ufuncs, which lays new outputs out so. Not always the order of kn_space_make: where
 * views contradict each other, C order wins. */
void kn_space_memory_order(int *axes, int ndim, const kn_view *view, int count);
/* The same for copies of a view, and for arrays that are made like it: broadcast axes are the innermost
 * there, where the iterator leaves them in their places. */
void kn_space_copy_order(int *axes, const kn_view *view);

#endif
