/* schedules/transpose/window_space.h - how a windows kernel cuts its space: boxes that are staged in shared
 * memory as they lie in the input, so that rows which begin anywhere are read in aligned chunks of 16 bytes
 * and results are stored in aligned vectors.
 *
 * Results are runs along the fastest axis and, where they go on there, along a second one; a box takes a part
 * of some runs. Rows of the staged input run along another axis. Where that is the axis on which the runs go
 * on, the two cross: a run takes one element of a row after the other. Where the fastest axis is narrow and
 * both lie along it, they share it: a run takes a pixel of each row, and rows are those of pixels. */
#ifndef KN_SCHEDULES_TRANSPOSE_WINDOW_SPACE_H
#define KN_SCHEDULES_TRANSPOSE_WINDOW_SPACE_H

#include "schedule/spec.h"

/* Part of the argument block. Elements are counted, but for pitch, step and column: bytes of shared
 * memory. */
typedef struct kn_windows {
    uint32_t run, rows;        /* of a box: elements of a run, runs */
    uint32_t run_size, n_rows; /* of the space */
    uint32_t slots;            /* vectors of a box's run */
    /* From one row of the input to the next along the fastest axis, to the next but one, and but two. */
    uint32_t pitch, pitch2, pitch3;
    uint32_t step;                /* the same along the second axis of the rows */
    uint32_t column;              /* of a row: an element, or a pixel */
    uint32_t crossed, rows_first; /* rows_first: boxes follow the rows, then the runs */
    uint32_t shared;              /* the input runs along the fastest axis, too */
    /* Of a thread, from one row of the input to its next: along the fastest axis, along the second one. */
    uint32_t p_step, p2_step;
    uint32_t q_step, q2_step; /* so for results */
    /* log2 of threads side by side: chunks of a row; slots of a run, and runs. */
    uint32_t chunk_lanes, slot_lanes, row_lanes;
} kn_windows;

/* Axes of a box. */
enum { KN_WINDOWS_AXES = 4 };

/* `axis`: along which the staged input runs. access: with the vector and the letters of the schedule, what
 * was chosen. boxes: outermost first the axes that a box has not got, boxes along the rows, boxes along the
 * runs, and the axes of a box: second of the rows, first of the rows, second of the runs, fastest; extent 1
 * for none. */
void kn_windows_make(kn_windows *out, kn_space *boxes, int *shared_bytes, const kn_space *space,
                     const kn_spec *spec, const kn_access *access, int axis);

/* Boxes that there are. */
int64_t kn_windows_count(const kn_space *boxes);

#endif
