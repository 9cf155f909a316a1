/* schedules/stencil/stencil_space.h - the inputs of a stencil, their letters in the schedule, and the windows
 * that a thread loads. */
#ifndef KN_SCHEDULES_STENCIL_STENCIL_SPACE_H
#define KN_SCHEDULES_STENCIL_STENCIL_SPACE_H

#include "schedule/schedule.h"

/* A letter is KN_STENCIL_LETTER + row * KN_STENCIL_COLUMNS + column, with rows and columns counted from the
 * least. The other operands are KN_VECTOR, or all KN_GATHER if rows are unaligned (below). Bit k of the
 * schedule's variant: rows k and k + 1 are neighbours in the array. */
enum {
    KN_STENCIL_ROWS = 5,
    KN_STENCIL_COLUMNS = 5,
    KN_STENCIL_MOST = 16,   /* inputs */
    KN_STENCIL_RESULTS = 4, /* rows of results of a thread, at most */
    KN_STENCIL_WINDOWS = KN_STENCIL_ROWS * KN_STENCIL_RESULTS
};

/* Finds the longest list of inputs that are one array at known offsets from each other: it begins with
 * operand *first. Returns their number, or 0 if they are too few or too many. */
int kn_stencil_find_inputs(int *first, const kn_choice *c);
/* The distance in steps of so many bytes, rounded. */
int64_t kn_stencil_steps(int64_t bytes, int64_t step);
/* Gives `count` inputs from operand `first` on their letters. The others get the letter `others`: KN_VECTOR,
 * or KN_GATHER for unaligned and broadcast ones. False: some of them are neither. */
bool kn_stencil_set_access(kn_schedule *out, const kn_choice *c, int first, int count, const char *letter,
                           char others);

/* The elements of one row that a thread loads. A thread has rows of results below each other. If two rows of
 * the stencil are neighbours, a row of results needs the same elements for one of them as the row of results
 * above it needs for the other: they share a window. */
typedef struct kn_stencil_window {
    int row;         /* of the stencil */
    int steps;       /* rows of results down; above 0 only for the last of several neighbours */
    int first, last; /* columns that are needed */
} kn_stencil_window;

/* Rows of results of a thread. */
static inline int kn_stencil_rows(const kn_schedule *schedule)
{
    return schedule->per_thread;
}

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

#endif
