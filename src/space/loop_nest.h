/* space/loop_nest.h - the loop nest in which the host goes over a space. Its kernels compute contiguous
 * ranges alone; the loop nest makes such ranges of any layout of their operands.
 *
 * * The space is cut into blocks that fit the first-level cache. Operands that are not contiguous within a
 * block go through buffers: inputs are copied there (a broadcast one only when it changes, a transposed one
 * in squares), results are copied back. So the generated code has one vectorised loop, and one binary serves
 * every layout. This file plans; device/host_loop.h runs the plan. */
#ifndef KN_SPACE_LOOP_NEST_H
#define KN_SPACE_LOOP_NEST_H

#include "space/space.h"

typedef enum kn_loop_nest_kind {
    KN_LOOP_INPUT = 1,
    KN_LOOP_OUTPUT,
    KN_LOOP_COUNT,   /* a number that grows by one with each element: contiguous. item_size 1 */
    KN_LOOP_INDICES, /* a number for each element: the kernel gets an array of int64. item_size 8 */
    KN_LOOP_IN_PLACE /* an input that kernels read as it lies along the fastest axis: broadcast, or with a
                        stride that they know. All operands beside it are contiguous along that axis, or
                        such */
} kn_loop_nest_kind;

typedef struct kn_loop_nest_operand {
    kn_loop_nest_kind kind;
    int block_at;          /* offset of its address (or of the number), 8 bytes, in the argument block */
    int item_size;         /* bytes: 1, 2, 4, 8, 16 */
    const int64_t *stride; /* outermost first; bytes, or numbers */
    bool is_inout;         /* of a result: a kernel may read elements, and leave them as they were */
} kn_loop_nest_operand;

enum {
    KN_LOOP_BUFFER = 24 << 10, /* bytes of all buffers together, without the padding of each to a line */
    KN_LOOP_LINE = 64          /* bytes of a line of the cache; each buffer begins at a multiple of it */
};

/* Rows that one call of a kernel computes, each with the same range: a field of its argument block. */
typedef struct kn_loop_nest_rows {
    int64_t count, group;
    /* Bytes, or numbers, by operand of the loop nest: from row to row, and behind those from the last row of
     * each group to the first of the next one. */
    const int64_t *step;
    /* Inputs that are worth prefetching, as bits by operand of the loop nest: how_early bytes early, or so
     * many rows. */
    uint64_t early, rows_early;
    int64_t how_early;
} kn_loop_nest_rows;

/* An operand of a planned loop nest. */
typedef struct kn_planned_operand {
    kn_loop_nest_kind kind;
    int block_at, item_size;
    bool is_inout;
    bool is_packed;                /* goes through a buffer, */
    int buffer_at;                 /* which begins there */
    bool is_like_before;           /* as the operand before it, but for its address, and so is its buffer */
    int64_t stride[KILN_MAX_NDIM]; /* fastest axis first */
} kn_planned_operand;

/* A planned loop nest. The fastest axis comes first. */
typedef struct kn_loop_nest {
    int ndim;
    int contiguous_axes;      /* the first axes, along which a block is one contiguous range: a row */
    bool has_rows;            /* a block has several rows, along the next axis, ... */
    bool has_groups;          /* ... and several groups of rows, along the one behind it */
    int rows_at;              /* offset of the kernel's kn_loop_nest_rows in the block; -1: it has none */
    bool is_together;         /* one call for all rows of a block */
    int64_t broadcast_length; /* elements of the rows into which a block's range is cut, where every packed
                                 operand is broadcast along it: buffers have one row; 0: it is not cut */
    int interleaved_axis;     /* the axis of interleaved channels, all of which are in a block; -1: none */
    bool is_copy;       /* elements are moved as they are: without the kernel, where blocks are whole lines */
    int64_t shown_size; /* the size that kernels get, by which they choose how to store; -1: the real one */
    int block_axes;
    int64_t blocks, block_size;                         /* their number; elements of the largest */
    int64_t extent[KILN_MAX_NDIM], step[KILN_MAX_NDIM]; /* of the space, of a block */
    int64_t count[KILN_MAX_NDIM];                       /* of blocks along the axis */
    /* If ahead is not 0: buffers reach so many elements of axis `along` beyond the block, and calls begin at
     * the lines of the result `lined`. */
    int along, lined;
    int64_t ahead;
    /* One call computes all, of operands as they lie: `one_call` are its rows, of `row` elements. Small calls
     * would take longer to go over the blocks than over the elements. */
    bool is_one_call;
    int64_t row;
    kn_loop_nest_rows one_call;
    int64_t *one_call_step; /* one_call.step, behind the operands */
    int n_operands;
    kn_planned_operand operand[];
} kn_loop_nest;

/* Extents outermost first, at least one axis, none 0. At most KN_MAX_OPERANDS operands. rows_at: offset of a
 * kn_loop_nest_rows in the block; -1: the kernel is called once a row. KILN_ERROR_MEMORY. */
kiln_status kn_loop_nest_create(kn_loop_nest **out, int ndim, const int64_t *extent,
                                const kn_loop_nest_operand *operand, int n_operands, int rows_at);
/* The kernel copies its only input to its only result: the loop nest may do so without it. */
void kn_loop_nest_copies(kn_loop_nest *nest);
/* Elements are cheap to compute: where several inputs would be put together of short rows, in buffers, the
 * kernel goes over the rows as they lie. */
void kn_loop_nest_is_cheap(kn_loop_nest *nest);
/* Takes NULL. */
void kn_loop_nest_free(kn_loop_nest *nest);

#endif
