/* schedules/transpose/window_boxes.h - the model that chooses the box of a windows kernel: of all ways to cut
 * that are looked at, the one that it guesses to take the least time. */
#ifndef KN_SCHEDULES_TRANSPOSE_WINDOW_BOXES_H
#define KN_SCHEDULES_TRANSPOSE_WINDOW_BOXES_H

#include "space/numbers.h"
#include "schedule/schedule.h"

/* The axes that a box has, of its space: the fastest, the one on which runs go on, and the two along which
 * the runs lie. -1: none. */
typedef struct kn_box_axes {
    int fastest, run, row[2];
    bool crossed;
    bool shared; /* the input runs along the fastest axis, too: pixels, whose rows lie along the other axes */
} kn_box_axes;

/* What is being cut. */
typedef struct kn_cut {
    const kn_space *space;
    const kn_schedule *schedule;
    const kn_target *target;
    const kn_access *access;
    int staged, item; /* the staged operand; its bytes an element */
    int64_t column;   /* bytes of a column of its rows: an element, or a pixel */
    int result;       /* the first result */
    int64_t box_bytes;
    kn_box_axes axes;
    int64_t run_size, n_rows; /* of the space */
} kn_cut;

/* One way to cut. Counts of elements; rows of the input are `columns` long and `input_rows` many. */
typedef struct kn_box {
    int64_t run, rows, columns, input_rows;
    int64_t count;                    /* of boxes, in all directions that are cut */
    int64_t pitch;                    /* bytes from one row of the input to the next in shared memory */
    uint32_t chunk_lanes, slot_lanes; /* log2 of threads side by side along a row, along a run */
    double cost;                      /* of all boxes, in turns of a block's threads */
} kn_box;

/* Of one element where there is no such axis. */
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

/* Runs begin up to a vector less one element before a box's part: the first slot may begin so early. */
static inline int64_t kn_cut_halo(const kn_cut *c)
{
    return c->schedule->vector - 1;
}

/* Whether a run takes one element of a row after the other, where the rows lie along the axis on which the
 * runs go on. */
bool kn_cut_is_crossed(kn_cut *c, int axis);
/* The best box: everything of the cut is set, the axes too. */
kn_box kn_cut_best_box(kn_cut *c);
/* Along the second axis of the rows too shared memory keeps the low bits of the distance in memory. */
uint32_t kn_cut_step(const kn_cut *c, uint32_t step);
/* Bytes of shared memory that a box takes. */
int kn_box_shared(const kn_box *b, const kn_cut *c);

#endif
