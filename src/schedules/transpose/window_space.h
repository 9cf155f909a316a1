/* schedules/transpose/window_space.h - how a windows kernel cuts its space into tiles. A tile is copied to
 * shared memory as it is in the input, so that rows that begin anywhere are read in aligned chunks of 16
 * bytes, and results are stored in aligned vectors. A run is a contiguous range of the results: along the
 * fastest axis and, if they continue there, along a second one. A tile has a part of some runs. The rows of
 * the staged input are along another axis. If that is the axis along which runs continue, rows and runs
 * cross: a run has one element of each row. If the fastest axis is narrow and both are contiguous along it,
 * they share it: a run has all channels of one column of each row. */
#ifndef KN_SCHEDULES_TRANSPOSE_WINDOW_SPACE_H
#define KN_SCHEDULES_TRANSPOSE_WINDOW_SPACE_H

#include "schedule/spec.h"

/* Part of the argument block. Counts of elements; but pitch, step and column are bytes of shared memory. */
typedef struct kn_windows {
    uint32_t run, rows;        /* of a tile: elements of a run; runs */
    uint32_t run_size, n_rows; /* of the space */
    uint32_t slots;            /* vectors in a run of a tile */
    /* From one row of the input to the next along the fastest axis, to the second and to the third. */
    uint32_t pitch, pitch2, pitch3;
    uint32_t step;                /* the same along the second axis of the rows */
    uint32_t column;              /* of a row: an element, or the channels of one position */
    uint32_t crossed, rows_first; /* rows_first: tiles are in order of the rows, then of the runs */
    uint32_t shared;              /* the input is contiguous along the fastest axis, too */
    /* From a thread's row of the input to its next one: along the fastest axis, along the second one. */
    uint32_t p_step, p2_step;
    uint32_t q_step, q2_step; /* the same for results */
    /* log2 of neighbouring threads: chunks of a row; slots of a run, and runs */
    uint32_t chunk_lanes, slot_lanes, row_lanes;
} kn_windows;

/* Axes of a tile. */
enum { KN_WINDOWS_AXES = 4 };

/* axis: that of the staged input's rows. access: with the vector and the letters of the schedule, the choice.
 * tiles: outermost first, the axes that a tile does not have, tiles along the rows, tiles along the runs, and
 * the axes of a tile: second of the rows, first of the rows, second of the runs, fastest. Axes that do not
 * exist have extent 1. */
void kn_windows_make(kn_windows *out, kn_space *tiles, int *shared_bytes, const kn_space *space,
                     const kn_spec *spec, const kn_access *access, int axis);

/* The number of tiles. */
int64_t kn_windows_count(const kn_space *tiles);

#endif
