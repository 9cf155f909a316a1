/* kernel/arranged.h - kernels of one launch whose results are elements of their inputs at other places:
 * joined arrays, and arrays that are rolled, repeated, tiled, padded or edited along axes. */
#ifndef KN_KERNEL_ARRANGED_H
#define KN_KERNEL_ARRANGED_H

#include "kernel/kernel.h"

typedef enum kn_arrange {
    KN_ARRANGE_ROLL,   /* by `first` */
    KN_ARRANGE_HALF,   /* rolled by half of the extent; by as much back where `first` is negative */
    KN_ARRANGE_REPEAT, /* each element `first` times */
    KN_ARRANGE_COUNTS, /* the elements of one axis as often as `list` says */
    KN_ARRANGE_TILE,   /* all elements `first` times */
    KN_ARRANGE_PAD,    /* `first` in front and `last` behind, from where `pad` says */
    KN_ARRANGE_DELETE, /* without the elements of `list` along one axis */
    KN_ARRANGE_INSERT  /* a second array's elements, in front of those of `list` along one axis */
} kn_arrange;

typedef enum kn_pad {
    KN_PAD_CONSTANT,
    KN_PAD_EDGE,
    KN_PAD_WRAP,
    KN_PAD_REFLECT,
    KN_PAD_SYMMETRIC,
    KN_PADS
} kn_pad;

enum {
    KN_EACH_AXIS = 2 * KILN_MAX_NDIM, /* of a change: it is one of all axes */
    KN_ALL_FLAT,                      /* of a roll: all elements in C order */
    KN_JOIN_HSTACK = KN_EACH_AXIS
}; /* axis of a join: the second one, of arrays of one axis the first */

enum { KN_ARRANGED_LIST = 256 };

/* The change of an axis. */
typedef struct kn_arranged_axis {
    int axis; /* negative: counted from the last */
    int64_t first, last;
} kn_arranged_axis;

typedef struct kn_arranged {
    kn_arrange what;
    kn_pad pad;
    char outside[40]; /* KN_PAD_CONSTANT: an expression */
    int count;
    kn_arranged_axis axis[KILN_MAX_NDIM];
    bool is_one; /* the list is a number alone: all that is inserted stands there */
    int n_list;
    int64_t list[KN_ARRANGED_LIST];
} kn_arranged;

/* Remembered kernels of one array, or of two (INSERT): one more reference. name: for messages. */
kiln_status kn_arranged_find(kiln_kernel **out, const char *name, const kn_arranged *of);
/* n_in: 1 to KN_MAX_PARAMS - 1 arrays of any dtypes, whose common one the result has. */
kiln_status kn_join_find(kiln_kernel **out, const char *name, int n_in, int axis);

#endif
