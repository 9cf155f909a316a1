/* schedules/rowprog/row_held.h - whether a program's rows are read once. */
#ifndef KN_SCHEDULES_ROWPROG_ROW_HELD_H
#define KN_SCHEDULES_ROWPROG_ROW_HELD_H

#include "schedule/schedule.h"

/* Whether some kind takes the space that reads each row once, or, on the host, as often as several kernels
 * would. Others go over it once for each reduction and once more, by a block a row: where this is false and
 * rows are long or few, a kernel for each reduction is faster. */
bool kn_row_is_held(const kn_choice *choice);

#endif
