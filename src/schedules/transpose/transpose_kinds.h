/* schedules/transpose/transpose_kinds.h - the kinds of this family and their recipes. An input is contiguous
 * along another axis than the results: tiles of it go through shared memory. */
#ifndef KN_SCHEDULES_TRANSPOSE_TRANSPOSE_KINDS_H
#define KN_SCHEDULES_TRANSPOSE_TRANSPOSE_KINDS_H

#include "codegen/writer.h"
#include "schedule/kind.h"

extern const kn_kind kn_kind_tile, kn_kind_windows, kn_kind_transpose_pairs;
extern const kn_recipe kn_recipe_tile, kn_recipe_windows, kn_recipe_transpose_pairs;

#endif
