/* plan/tile.h - the sides of a tile. */
#ifndef KN_PLAN_TILE_H
#define KN_PLAN_TILE_H

#include "plan/schedule.h"

/* Threads of a block, at most. */
int kn_tile_block(int vector);

/* Fills shape's p, q, across and shared_bytes by what shape->tile_axis, the vector and the letters of `access` ask for: of all sides that fit, the ones whose tiles read and write
 * memory in the longest and best aligned pieces. staged_bytes: of an element, all staged inputs together. */
void kn_tile_choose_sides(kn_shape_of_launch *shape, const kn_space *space, const kn_access *operands,
                          int count, const char *access, int vector, int staged_bytes);

#endif
