/* schedules/reduce/kind_reduce_tile.h - whether rows are staged in shared memory: for kinds that leave them
 * to that. */
#ifndef KN_SCHEDULES_REDUCE_KIND_FOLD_TILE_H
#define KN_SCHEDULES_REDUCE_KIND_FOLD_TILE_H

#include "schedule/schedule.h"

bool kn_reduce_tile_takes(const kn_choice *c);

#endif
