/* plan/kind_shifted.h - the letters of shifted inputs: what the fill of their template reads. */
#ifndef KN_PLAN_KIND_SHIFTED_H
#define KN_PLAN_KIND_SHIFTED_H

#include "plan/schedule.h"

/* Letter: KN_SHIFTED_LETTER + row * KN_SHIFTED_COLUMNS + column, rows and columns counted from the least one.
 * Bit k of the schedule's form: rows k and k + 1 are neighbours. */
enum { KN_SHIFTED_ROWS = 5, KN_SHIFTED_COLUMNS = 5, KN_SHIFTED_MOST = 16 /* inputs */ };

/* Rows of results of a thread. */
static inline int kn_shifted_rows(const kn_schedule *schedule)
{
    return schedule->form ? 2 : 1;
}

#endif
