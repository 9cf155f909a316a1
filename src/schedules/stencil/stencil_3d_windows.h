/* schedules/stencil/stencil_3d_windows.h - the windows of a stencil over three axes, and their text form in
 * the schedule. */
#ifndef KN_SCHEDULES_STENCIL_STENCIL_3D_WINDOWS_H
#define KN_SCHEDULES_STENCIL_STENCIL_3D_WINDOWS_H

#include "schedules/stencil/stencil_space.h"

/* Letters are those of stencil inputs (schedules/stencil/stencil_space.h), with rows numbered in the order of
 * the inputs. The schedule's variant has five bits for each row: plane * 5 + line, both counted from the
 * least. */
enum {
    KN_STENCIL_3D_SPAN = 5, /* planes, and lines of a plane, in which rows may be */
    KN_STENCIL_3D_ROW_BITS = 5,
    KN_STENCIL_3D_DEPTH = 12, /* planes of a block's loop: bench/results/nvidia-h200-narrow.md */
    KN_STENCIL_3D_AHEAD = 3,  /* planes between the loads and the prefetches */
    KN_STENCIL_3D_WIDE = 32,  /* vectors of a block next to each other */
    KN_STENCIL_3D_WINDOWS = KN_STENCIL_3D_SPAN * (KN_STENCIL_3D_SPAN + 1)
};

/* The elements of one line of one plane that a thread holds. Windows of one line have the same columns in all
 * planes, since each becomes the window of the plane before it. */
typedef struct kn_stencil_3d_window {
    int plane, line;
    int first, last; /* columns; last -1: there is none */
    bool is_fresh;   /* loaded for each plane of results, since no later plane holds it */
} kn_stencil_3d_window;

void kn_stencil_3d_row(int *plane, int *line, const kn_schedule *schedule, int row);
/* Lists all windows, plane by plane, and returns their number. */
int kn_stencil_3d_windows(kn_stencil_3d_window *out, const kn_schedule *schedule);

#endif
