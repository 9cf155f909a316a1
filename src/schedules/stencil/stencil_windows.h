/* schedules/stencil/stencil_windows.h - the letters of a stencil's inputs in the schedule, and the windows
 * that a thread loads for them. */
#ifndef KN_SCHEDULES_STENCIL_STENCIL_WINDOWS_H
#define KN_SCHEDULES_STENCIL_STENCIL_WINDOWS_H

#include "schedule/config.h"

/* A letter is KN_STENCIL_LETTER + row * KN_STENCIL_COLUMNS + column, with rows and columns counted from the
 * least. The other operands are KN_VECTOR, or all KN_GATHER if rows are unaligned (below). */
enum {
    KN_STENCIL_ROWS = 5,
    KN_STENCIL_COLUMNS = 5,
    KN_STENCIL_MOST = 16,   /* inputs */
    KN_STENCIL_RESULTS = 4, /* rows of results of a thread, at most */
    KN_STENCIL_WINDOWS = KN_STENCIL_ROWS * KN_STENCIL_RESULTS
};

/* rows: of results, of a thread.
 * neighbours: bit k is set if rows k and k + 1 of the stencil are neighbours in the array.
 * places: over three axes, KN_STENCIL_3D_ROW_BITS for each row, in the order of the inputs: plane * 5 + line,
 * both counted from the least. */
#define KN_STENCIL_CONFIG(X)                                                                                 \
    X(rows, KN_STENCIL_RESULTS)                                                                              \
    X(neighbours, (1 << (KN_STENCIL_ROWS - 1)) - 1)                                                          \
    X(places, (1 << (KN_STENCIL_ROWS * KN_STENCIL_3D_ROW_BITS)) - 1)
enum { KN_STENCIL_3D_ROW_BITS = 5 };
KN_CONFIG(kn_stencil_config, KN_STENCIL_CONFIG);

/* The elements of one row that a thread loads. A thread has rows of results below each other. If two rows of
 * the stencil are neighbours, a row of results needs the same elements for one of them as the row of results
 * above it needs for the other: they share a window. */
typedef struct kn_stencil_window {
    int row;         /* of the stencil */
    int steps;       /* rows of results down; above 0 only for the last of several neighbours */
    int first, last; /* columns that are needed */
} kn_stencil_window;

/* Rows are unaligned: the vectors of results in memory differ from those of the threads, which therefore
 * exchange elements. */
bool kn_stencil_is_unaligned(const kn_schedule *schedule);

/* The letter of an input at this row and column. */
static inline char kn_stencil_letter(int row, int64_t column)
{
    return (char)(KN_STENCIL_LETTER + row * KN_STENCIL_COLUMNS + (int)column);
}

/* The row and column of a letter; false: it is not that of a stencil's input. */
bool kn_stencil_place(int *row, int *column, char letter);
/* The window that has input row `row` for row `result` of the results. */
kn_stencil_window kn_stencil_window_of(const kn_schedule *schedule, int row, int result);
/* Lists all windows of a thread, at most KN_STENCIL_WINDOWS, and returns their number. */
int kn_stencil_windows(kn_stencil_window *out, const kn_schedule *schedule);

/* ---- three axes ---- */

enum {
    KN_STENCIL_3D_SPAN = 5,   /* planes, and lines of a plane, in which rows may be */
    KN_STENCIL_3D_DEPTH = 12, /* planes of a block's loop: bench/results/nvidia-h200-narrow.md */
    KN_STENCIL_3D_AHEAD = 3,  /* planes between the loads and the prefetches */
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
