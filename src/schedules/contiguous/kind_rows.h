/* schedules/contiguous/kind_rows.h - the parts of rows kernels that other files use: the kind that refines
 * them, and the recipe. */
#ifndef KN_SCHEDULES_CONTIGUOUS_KIND_ROWS_H
#define KN_SCHEDULES_CONTIGUOUS_KIND_ROWS_H

#include "schedule/config.h"

/* Classes of gathered operands: the one way to read them that a binary has. Each way compiles as long as the
 * rest of a kernel. */
enum {
    KN_ROWS_VECTORS = 0, /* nothing is gathered */
    KN_ROWS_RUNS = 1,    /* contiguous in long rows: most warps are within one row */
    KN_ROWS_CROSSED =
        2, /* contiguous in rows of one vector or more: all lanes take the path across ends of rows */
    KN_ROWS_APART = 3,    /* any strides, in long rows */
    KN_ROWS_SHORT = 4,    /* any strides and rows: each element is located */
    KN_ROWS_REPEATED = 5, /* broadcast along rows of one vector or more: one element of each row */
    KN_ROWS_STEPPED =
        6,              /* any strides, in short rows of one vector or more, off its boundaries: as CROSSED */
    KN_ROWS_PASSED = 7, /* as SHORT, if two axes have many elements: each is located from the one before */
    KN_ROWS_SPREAD = 8, /* as SHORT, of many operands: lanes of a warp have neighbouring elements */
    KN_ROWS_SPREAD_ROWS = 9,    /* the same, of two axes, */
    KN_ROWS_SPREAD_PLANES = 10, /* of three, */
    KN_ROWS_SPREAD_MOST = 11,   /* of four */
    KN_ROWS_PIECES = 12         /* rows of two, four or eight elements, which are a vector of each input */
};
/* interleaved: inputs that are one array, of neighbouring elements each; of spread elements those that
 * lie side by side at each place; of pieces the elements of a row; 0: there are none. backward: their
 * order in memory is the reverse. alike: all inputs of spread elements have the same strides; 2: and are
 * contiguous along rows. pairs: a lane has two elements side by side. */
enum { KN_ROWS_MOST_INTERLEAVED = 4, KN_ROWS_MOST_OF_PIECE = 8 };
#define KN_ROWS_CONFIG(X)                                                                                    \
    X(gathers, KN_ROWS_PIECES)                                                                               \
    X(interleaved, KN_ROWS_MOST_OF_PIECE) X(backward, 1) X(alike, 2) X(pairs, 1)
KN_CONFIG(kn_rows_config, KN_ROWS_CONFIG);

/* Vectors of one row in a rasterised block: one for each lane of a warp. */
enum { KN_RASTER_WIDTH = 32 };

/* Fills all but the kind, for results that are contiguous along the fastest axis and stored in vectors at
 * their places. False if all inputs would be gathered, which gains little. */
bool kn_rows_choose_located(kn_schedule *out, const kn_choice *c);

/* The space of a rows kernel. Short rows of an input may lie along another axis than those of the results:
 * then some neighbouring ones are joined, so that whole lines are read. Returns `space` itself, or `out`,
 * which is filled. */
const kn_space *kn_rows_space(kn_space *out, const kn_space *space, const kn_schedule *schedule);

#endif
