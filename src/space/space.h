/* space/space.h - where it is computed: the axes a kernel walks, and each operand's byte strides along them.
 * Integers in, integers out.
 *
 * From shapes and strides as the user has them: broadcast; axes of extent 1 dropped; axes walked backwards by
 * what is written turned round; axes ordered so that what is written is walked forward, outermost first;
 * neighbours that are one run for every operand merged. Axes that are reduced stand behind those that are
 * kept, and both are ordered and merged among themselves: the results stand still along them. The logical
 * C-order index, which `i` means, goes along as one more operand whose "bytes" are elements, where the
 * program uses it.
 */
#ifndef KN_SPACE_SPACE_H
#define KN_SPACE_SPACE_H

#include <kiln/base.h>
#include "program/signature.h"

/* The operands of a call and, last, indices. */
#define KN_MAX_OPERANDS (KN_MAX_PARAMS + 2)

/* Indices that go along, in this order. */
enum {
    KN_WITH_INDEX = 1,     /* in C order, of the whole shape */
    KN_WITH_REDUCTION_INDEX = 2 /* of the reduced axes alone */
};

#define KN_SAME_ARRAY INT64_MIN

/* One array operand as the user has it. */
typedef struct kn_view {
    const int64_t *shape, *strides;
    int ndim;
    bool is_output;
} kn_view;

typedef struct kn_space {
    int ndim;         /* at least 1 where size > 0 */
    int n_reduction_axes;    /* the last ones; the others are kept */
    int n_operands;   /* views, and behind them the indices it has */
    unsigned indices; /* KN_WITH_* */
    int64_t size;     /* elements */
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

/* Fills *out for the broadcast shape, of which the axes in `reduced` (bits) are reduced. Every view must
 * broadcast to it; outputs must have exactly it, or extent 1 along each reduced axis. */
void kn_space_make(kn_space *out, int ndim, const int64_t *shape, uint64_t reduced, const kn_view *view,
                   int count, unsigned indices);

/* Elements along the axes that are kept: of each result. */
int64_t kn_space_output_size(const kn_space *space);

/* All but what is known of views of one array (`after`). */
void kn_space_copy(kn_space *to, const kn_space *from);

/* The axis along which the operand goes on where it ends along `axis`; -1. */
int kn_space_next_axis(const kn_space *space, int operand, int axis);

/* Cuts the space in two at about the middle of `axis`, at a multiple of `align` elements, low first. False
 * where the axis cannot be cut so. */
bool kn_space_split(const kn_space *space, int axis, int64_t align, kn_space *low, kn_space *high);

/* Where some operand's places lie more than `limit` bytes apart: the axis that contributes most to the
 * operand that reaches furthest; else -1. */
int kn_space_axis_beyond(const kn_space *space, int64_t limit);

/* Bytes between an operand's first and last place along the axes from `first` on. */
int64_t kn_space_reach(const kn_space *space, int operand, int first);

/* The axis but the fastest, `axis` and `other` (-1: none) along which the operand's steps are the smallest,
 * those along which it stands still left out; -1. */
int kn_space_nearest_axis(const kn_space *space, int operand, int axis, int other);

/* A space over the same elements, operands and origin, whose axes are put in one by one, all of them kept:
 * `out` needs its ndim then. */
void kn_space_start(kn_space *out, const kn_space *space);

/* Axis `to` of out steps `steps` elements of axis `from` of space at a time. from -1: an axis of extent 1. */
void kn_space_put_axis(kn_space *out, int to, const kn_space *space, int from, int64_t steps);

/* The axis order (outermost first, into axes[ndim]) in which the views' memory is walked forward: that of the
 * iterator of NumPy's ufuncs, which lays new outputs out so. Not always the order of kn_space_make: where
 * views contradict each other, C order wins. */
void kn_space_memory_order(int *axes, int ndim, const kn_view *view, int count);
/* The same for copies of a view, and for what is made like it: axes along which elements are repeated are
 * the innermost there, where the iterator leaves them in their places. */
void kn_space_copy_order(int *axes, const kn_view *view);

#endif
