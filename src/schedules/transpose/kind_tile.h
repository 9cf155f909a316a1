/* schedules/transpose/kind_tile.h - tells whether tiles can compute a space: for kinds that leave it to
 * them. */
#ifndef KN_SCHEDULES_TRANSPOSE_KIND_TILE_H
#define KN_SCHEDULES_TRANSPOSE_KIND_TILE_H

#include "schedule/schedule.h"

bool kn_tile_takes(const kn_choice *c);

#endif
