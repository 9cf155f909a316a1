/* space/loop_nest.h - how the host goes over a space: its kernels know dense runs alone, and a walk makes runs of
 * any layout of their operands.
 *
 * The space is walked in blocks that fit the first-level cache. Operands that are no run within a block are
 * brought into buffers (a broadcast one is filled once for as long as it stays the same, a transposed one is
 * turned in squares), results that are none go back from theirs. So the generated code has one vectorised
 * loop, and one binary serves every layout. Here it is planned; device/host_loop.h walks. */
#ifndef KN_SPACE_LOOP_NEST_H
#define KN_SPACE_LOOP_NEST_H

#include "space/space.h"

typedef enum kn_loop_nest_kind {
    KN_LOOP_INPUT = 1,
    KN_LOOP_OUTPUT,
    KN_LOOP_COUNT,  /* a number that grows by one with each element: one run. item_size 1 */
    KN_LOOP_INDICES /* a number for each element: the kernel gets an array of int64. item_size 8 */
} kn_loop_nest_kind;

typedef struct kn_loop_nest_operand {
    kn_loop_nest_kind kind;
    int block_at;          /* where its address (or the number) of 8 bytes stands in the argument block */
    int item_size;         /* bytes: 1, 2, 4, 8, 16 */
    const int64_t *stride; /* outermost first; bytes, or numbers */
    bool is_kept; /* of a result: what a kernel does not assign stays as it was, and it may read it */
} kn_loop_nest_operand;

enum {
    KN_LOOP_BUFFER = 24 << 10, /* bytes of all buffers together, but for what rounds each up to a line */
    KN_LOOP_LINE = 64          /* bytes of a line of the cache, to whose multiple each buffer begins */
};

/* Rows that a kernel is given at once, each with the same range: a field of its argument block. */
typedef struct kn_loop_nest_rows {
    int64_t count, group;
    /* Bytes, or numbers, by operand of the walk: from row to row, and behind those from the last row of each
     * group to the first of the next one. */
    const int64_t *step;
    /* Inputs that are worth asking for before they are read, as bits by operand of the walk: some bytes
     * early, or so many rows. */
    uint64_t early, rows_early;
    int64_t how_early;
} kn_loop_nest_rows;

/* An operand of a walk. */
typedef struct kn_planned_operand {
    kn_loop_nest_kind kind;
    int block_at, item_size;
    bool is_kept;
    bool is_packed;                /* goes through a buffer, */
    int buffer_at;                 /* which begins there */
    bool is_like_before;           /* as the operand before it, but for its address, and so is its buffer */
    int64_t stride[KILN_MAX_NDIM]; /* fastest axis first */
} kn_planned_operand;

/* A plan of a walk. Axes stand fastest first. */
typedef struct kn_loop_nest {
    int ndim;
    int contiguous_axes;     /* axes that are a run, ... */
    bool has_rows;    /* ... of which a block has several along one more, ... */
    bool has_groups;  /* ... and of those along another one */
    int rows_at;      /* where kernels are told of them in the block; -1: they know of none */
    bool is_together; /* one call for all rows of a block */
    int64_t still;    /* elements of rows that a block's run is cut to, where all that is packed stands still
                           along it: buffers have one; 0: it is not cut */
    int pixels;       /* the axis of pixels of which a block has all channels; -1: there is none */
    bool is_copy;     /* elements are moved as they are: without the kernel, where blocks are whole lines */
    int64_t shown_size; /* the size that kernels are told, by which they choose how to store; -1: the truth */
    int block_axes;
    int64_t blocks, block_size;                         /* their number; elements of the largest */
    int64_t extent[KILN_MAX_NDIM], step[KILN_MAX_NDIM]; /* of the space, of a block */
    int64_t count[KILN_MAX_NDIM];                       /* of blocks along the axis */
    /* Where ahead is not 0: buffers reach so many steps of axis `along` over the block's end, and calls go
     * from line to line of the result `lined`. */
    int along, lined;
    int64_t ahead;
    int n_operands;
    kn_planned_operand operand[];
} kn_loop_nest;

/* Extents outermost first, at least one axis, none 0. At most KN_MAX_OPERANDS operands. rows_at: where a
 * kn_loop_nest_rows stands in the block; -1: the kernel is called once a row. KILN_ERROR_MEMORY. */
kiln_status kn_loop_nest_create(kn_loop_nest **out, int ndim, const int64_t *extent, const kn_loop_nest_operand *operand,
                           int n_operands, int rows_at);
/* The kernel copies its only input to its only result: the walk may do so without it. */
void kn_loop_nest_copies(kn_loop_nest *walk);
/* Takes NULL. */
void kn_loop_nest_free(kn_loop_nest *walk);

#endif
