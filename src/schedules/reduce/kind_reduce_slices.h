/* schedules/reduce/kind_reduce_slices.h - whether rows are staged one by one in shared memory: for kinds that
 * leave them to that. */
#ifndef KN_SCHEDULES_REDUCE_KIND_REDUCE_SLICES_H
#define KN_SCHEDULES_REDUCE_KIND_REDUCE_SLICES_H

#include "schedule/schedule.h"

/* Whether inputs are contiguous along different axes: some along the innermost reduction axis, others across
 * it. */
bool kn_reduce_slices_crosses(const kn_choice *c);

#endif
