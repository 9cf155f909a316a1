/* schedules/reduce/kind_reduce_lanes.h - rows that reduce_lanes gathers, for the kinds that are asked before
 * it. */
#ifndef KN_SCHEDULES_REDUCE_KIND_REDUCE_LANES_H
#define KN_SCHEDULES_REDUCE_KIND_REDUCE_LANES_H

#include "schedule/schedule.h"

/* True if lanes of a warp read the rows by vectors that are gathered. */
bool kn_reduce_lanes_gathers(const kn_choice *c);

#endif
