/* schedules/rowprog/rowprog_kinds.h - the kinds of this family, and how the source of each is written. Row
 * programs: any stages over the elements of a row. */
#ifndef KN_SCHEDULES_ROWPROG_ROWPROG_KINDS_H
#define KN_SCHEDULES_ROWPROG_ROWPROG_KINDS_H

#include "codegen/writer.h"
#include "schedule/kind.h"

extern const kn_kind kn_kind_row_beside, kn_kind_row_columns, kn_kind_row_lanes, kn_kind_row_block,
    kn_kind_row_long, kn_kind_row_multipass, kn_kind_row_strips;
extern const kn_recipe kn_recipe_row_beside, kn_recipe_row_columns, kn_recipe_row_lanes, kn_recipe_row_block,
    kn_recipe_row_long, kn_recipe_row_multipass, kn_recipe_row_strips;

/* True if row_long would hold a row of so many items in the registers of a cluster, all threads as many. */
bool kn_row_long_is_full(const kn_choice *c, const kn_schedule *s, int64_t items);

#endif
