/* schedules/reduce/reduce_kinds.h - the kinds of this family, and how the source of each is written.
 * Reductions: one map, a reduce, one map. */
#ifndef KN_SCHEDULES_REDUCE_REDUCE_KINDS_H
#define KN_SCHEDULES_REDUCE_REDUCE_KINDS_H

#include "codegen/writer.h"
#include "schedule/kind.h"

extern const kn_kind kn_kind_reduce_points, kn_kind_reduce_product, kn_kind_reduce_threads,
    kn_kind_reduce_tile, kn_kind_reduce_columns, kn_kind_reduce_lanes, kn_kind_reduce_rows,
    kn_kind_reduce_slices;
extern const kn_recipe kn_recipe_reduce_points, kn_recipe_reduce_product, kn_recipe_reduce_threads,
    kn_recipe_reduce_tile, kn_recipe_reduce_columns, kn_recipe_reduce_lanes, kn_recipe_reduce_rows,
    kn_recipe_reduce_slices;

#endif
