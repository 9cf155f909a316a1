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
#define KN_WINDOWS_FIELD                                                                                     \
    unsigned run;                   /* of a tile: elements of a run */                                       \
    unsigned rows;                  /* runs */                                                               \
    unsigned run_size, n_rows;      /* of the space */                                                       \
    unsigned slots;                 /* vectors in a run of a tile */                                         \
    unsigned pitch, pitch2, pitch3; /* from a row of the input to the first three along the fastest axis */  \
    unsigned step;                  /* the same along the second axis of the rows */                         \
    unsigned column;                /* of a row: an element, or the channels of one position */              \
    unsigned tile;                  /* from the tile of an input to that of the next one */                  \
    unsigned crossed, rows_first;   /* rows_first: tiles are in order of the rows, then of the runs */       \
    unsigned shared;                /* the input is contiguous along the fastest axis, too */                \
    unsigned p_step, p2_step; /* to a thread's next row of the input: along the fastest axis, the second */  \
    unsigned q_step, q2_step; /* the same for results */                                                     \
    unsigned chunk_lanes, slot_lanes, row_lanes; /* log2 of threads: of a row; of a run, and runs */
typedef struct kn_windows {
    KN_WINDOWS_FIELD
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
