/* schedules/stencil/planes_windows.h - the windows of planes kernels, and how a schedule says them. */
#ifndef KN_SCHEDULES_STENCIL_PLANES_WINDOWS_H
#define KN_SCHEDULES_STENCIL_PLANES_WINDOWS_H

#include "schedules/stencil/shifted_space.h"

/* Letters are those of shifted inputs (schedules/stencil/shifted_space.h), rows numbered as they come. Five
 * bits of the schedule's form for each row: plane * 5 + line, both counted from the least. */
enum {
    KN_PLANES_SPAN = 5, /* planes, and lines of one, that rows lie in */
    KN_PLANES_ROW_BITS = 5,
    KN_PLANES_WALKED = 12, /* planes that a block walks along: bench/results/nvidia-h200-narrow.md */
    KN_PLANES_AHEAD = 3,   /* planes ahead of those that are loaded, which the cache is asked for */
    KN_PLANES_WIDE = 32,   /* vectors of a block side by side */
    KN_PLANES_WINDOWS = KN_PLANES_SPAN * (KN_PLANES_SPAN + 1)
};

/* What a thread holds of one plane at one line: of all planes at that line as many columns, since what is
 * held moves on to the plane before it. */
typedef struct kn_planes_window {
    int plane, line;
    int first, last; /* columns; last -1: there is none */
    bool is_fresh;   /* loaded for each plane of results, since no later plane has it */
} kn_planes_window;

void kn_planes_row(int *plane, int *line, const kn_schedule *schedule, int row);
/* All windows, plane by plane; how many. */
int kn_planes_list(kn_planes_window *out, const kn_schedule *schedule);

#endif
