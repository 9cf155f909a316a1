/* schedules/transpose/window_tiles.h - the cost model that chooses the shared-memory tile of a windows
 * kernel. */
#ifndef KN_SCHEDULES_TRANSPOSE_WINDOW_TILES_H
#define KN_SCHEDULES_TRANSPOSE_WINDOW_TILES_H

#include "space/numbers.h"
#include "schedule/schedule.h"

/* Axes of a tile in its space: the fastest, the one along which contiguous ranges continue, and the two along
 * which there are several ranges. -1: none. */
typedef struct kn_shared_tile_axes {
    int fastest, run, row[2];
    bool crossed;
    bool shared; /* input and results share channels, and rows are along the other axes */
} kn_shared_tile_axes;

/* The input of the model. */
typedef struct kn_cut {
    const kn_space *space;
    const kn_schedule *schedule;
    const kn_target *target;
    const kn_access *access;
    int staged, item; /* the first staged operand; its bytes for each element */
    int inputs;       /* staged operands that lie alike, each with a tile */
    bool narrow;      /* as in the schedule's configuration */
    int64_t column;   /* bytes of a column of its rows: an element, or the channels of one position */
    int64_t tile_bytes;
    kn_shared_tile_axes axes;
    int64_t run_size, n_rows; /* of the space */
} kn_cut;

/* A tile. Counts of elements; the input has `input_rows` rows of `columns` each. */
typedef struct kn_shared_tile {
    int64_t run, rows, columns, input_rows;
    int64_t count;                    /* of tiles in the space */
    int64_t pitch;                    /* bytes from one row of the input to the next in shared memory */
    uint32_t chunk_lanes, slot_lanes; /* log2 of neighbouring threads along a row, along a run */
    double cost;                      /* of all tiles, in iterations of a block's threads */
} kn_shared_tile;

/* 1 if there is no such axis. */
static inline int64_t kn_cut_extent(const kn_cut *c, int axis)
{
    return axis < 0 ? 1 : c->space->extent[axis];
}

static inline uint32_t kn_log2_above(int64_t n)
{
    uint32_t log = 0;
    while ((INT64_C(1) << log) < n)
        ++log;
    return log;
}

/* Aligned vectors of a run may begin up to a vector less one element in front of a tile's part. */
static inline int64_t kn_cut_halo(const kn_cut *c)
{
    return c->schedule->vector - 1;
}

/* A run has one element of each row in turn, since rows are along the axis on which runs continue. */
bool kn_cut_is_crossed(kn_cut *c, int axis);
/* The best tile. Everything of the cut is set before, the axes too. */
kn_shared_tile kn_cut_best_tile(kn_cut *c);
/* A step along the second axis of the rows, with the low bits of the distance in memory. */
uint32_t kn_cut_step(const kn_cut *c, uint32_t step);
/* Bytes of shared memory for the tile of one input, and of all. */
int kn_shared_tile_of_input(const kn_shared_tile *b, const kn_cut *c);
int kn_shared_tile_bytes(const kn_shared_tile *b, const kn_cut *c);

#endif
