/* schedules/contiguous/kind_rows.h - what other files need of rows kernels: the kind that refines them, and
 * the fill of their template. */
#ifndef KN_SCHEDULES_CONTIGUOUS_KIND_ROWS_H
#define KN_SCHEDULES_CONTIGUOUS_KIND_ROWS_H

#include "schedule/schedule.h"

/* How what is gathered lies, and so which ways to read it a binary has (kn_schedule.variant). Each takes as
 * long to compile as all the rest of a kernel. */
enum {
    KN_ROWS_VECTORS = 0, /* nothing is gathered */
    KN_ROWS_RUNS = 1,    /* runs in long rows: most warps lie in one */
    KN_ROWS_CROSSED =
        2, /* runs in rows of a vector at least: all go on over the end of a row, as some of a warp do */
    KN_ROWS_APART = 3, /* anything in rows of a vector at least */
    KN_ROWS_SHORT = 4  /* anything: each element is located */
};

/* Vectors of one row in a block that takes several rows: a warp's. */
enum { KN_STRIPE_WIDTH = 32 };

/* Results are runs along the fastest axis: stored in vectors at their places. Where all inputs are gathered
 * that gains little: false. Fills all but the kind. */
bool kn_rows_choose_located(kn_schedule *out, const kn_choice *c);

/* The space as a rows kernel walks it: where short rows of an input lie along another axis there than those
 * of the results, some that are neighbours in the input are taken together, so that whole lines are read.
 * `space` itself, or `out`, which is filled then. */
const kn_space *kn_rows_space(kn_space *out, const kn_space *space, const kn_schedule *schedule);

#endif
