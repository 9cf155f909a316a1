/* schedules/reduce/reduce_kinds.h - the kinds of this family, and how the source of each is written.
 * Reductions: one map, a reduce, one map. */
#ifndef KN_SCHEDULES_REDUCE_REDUCE_KINDS_H
#define KN_SCHEDULES_REDUCE_REDUCE_KINDS_H

#include "codegen/writer.h"
#include "schedule/kind.h"

extern const kn_kind kn_kind_fold_threads, kn_kind_fold_tile, kn_kind_fold_columns, kn_kind_fold_lanes,
    kn_kind_fold_rows, kn_kind_reduce_slices;
extern const kn_recipe kn_recipe_fold_threads, kn_recipe_fold_tile, kn_recipe_fold_columns,
    kn_recipe_fold_lanes, kn_recipe_fold_rows, kn_recipe_reduce_slices;

#endif
