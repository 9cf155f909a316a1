/* plan/kind_rows.h - what other files need of rows kernels: the kind that refines them, and the fill of their
 * template. */
#ifndef KN_PLAN_KIND_ROWS_H
#define KN_PLAN_KIND_ROWS_H

#include "plan/schedule.h"

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
