/* schedules/stencil/shifted_space.h - inputs that are one array shifted: their letters, and what a thread
 * reads. */
#ifndef KN_SCHEDULES_STENCIL_SHIFTED_SPACE_H
#define KN_SCHEDULES_STENCIL_SHIFTED_SPACE_H

#include "schedule/schedule.h"

/* Letter: KN_STENCIL_LETTER + row * KN_SHIFTED_COLUMNS + column, rows and columns counted from the least one.
 * The other operands are KN_VECTOR, or all KN_GATHER where rows begin anywhere (below).
 * Bit k of the schedule's form: rows k and k + 1 are neighbours. */
enum {
    KN_SHIFTED_ROWS = 5,
    KN_SHIFTED_COLUMNS = 5,
    KN_SHIFTED_MOST = 16,   /* inputs */
    KN_SHIFTED_RESULTS = 4, /* rows of results of a thread, at most */
    KN_SHIFTED_WINDOWS = KN_SHIFTED_ROWS * KN_SHIFTED_RESULTS
};

/* The longest list of inputs of which each is the one before it, shifted: from operand *first on; how
 * many, or 0 where they are not worth it. */
int kn_shifted_inputs(int *first, const kn_choice *c);
/* How many steps of so many bytes a distance is, to the nearest. */
int64_t kn_shifted_steps(int64_t bytes, int64_t step);
/* Gives those inputs, `count` from operand `first` on, their letters. The others have the letter `others`:
 * vectors, or runs that begin anywhere, or one element repeated; false: not all of them are. */
bool kn_shifted_set_access(kn_schedule *out, const kn_choice *c, int first, int count, const char *letter,
                           char others);

/* Where rows that are neighbours have results one above the other, each of a thread's rows of results
 * finds what the one above it finds a row further up. What a thread loads for all of them, and which
 * inputs lie in it. */
typedef struct kn_shifted_window {
    int row;   /* of the inputs */
    int steps; /* rows of results further down; above 0 for the last of rows that are neighbours alone */
    int first, last; /* columns that are wanted */
} kn_shifted_window;

/* Rows of results of a thread. */
static inline int kn_shifted_rows(const kn_schedule *schedule)
{
    return schedule->per_thread;
}

/* Whether rows begin anywhere: the vectors in which results are stored lie across those of the threads, which
 * pass elements on. */
bool kn_shifted_is_skewed(const kn_schedule *schedule);

/* The letter of an input by its place. */
static inline char kn_shifted_letter(int row, int64_t column)
{
    return (char)(KN_STENCIL_LETTER + row * KN_SHIFTED_COLUMNS + (int)column);
}

/* The place of an input by its letter; false: it is none of the shifted. */
bool kn_shifted_place(int *row, int *column, char letter);
/* The window in which row `result` of the results finds inputs of that row. */
kn_shifted_window kn_shifted_find(const kn_schedule *schedule, int row, int result);
/* All windows of a thread, at most KN_SHIFTED_WINDOWS; how many. */
int kn_shifted_list(kn_shifted_window *out, const kn_schedule *schedule);

#endif
