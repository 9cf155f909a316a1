/* schedules/rowprog/row_held.h - programs whose rows are read once. */
#ifndef KN_SCHEDULES_ROWPROG_ROW_HELD_H
#define KN_SCHEDULES_ROWPROG_ROW_HELD_H

#include "schedule/schedule.h"

/* True if a kind that reads each row once takes the space, or, on the host, one that reads a row as often as
 * several kernels would. If it is false, a block reads a row once for each reduction and once more: with long
 * rows, or few, a kernel for each reduction is faster. */
bool kn_row_is_held(const kn_choice *choice);

#endif
