/* schedules/transpose/transpose_kinds.h - the kinds of this family and their recipes. An input is contiguous
 * along another axis than the results: tiles of it go through shared memory. */
#ifndef KN_SCHEDULES_TRANSPOSE_TRANSPOSE_KINDS_H
#define KN_SCHEDULES_TRANSPOSE_TRANSPOSE_KINDS_H

#include "codegen/writer.h"
#include "schedule/kind.h"

/* narrow_axis: of tiles, a side may be along a narrow axis and the next one, joined; of windows, the fastest
 * axis is shorter than a vector, whose elements continue along the next one. */
#define KN_TRANSPOSE_CONFIG(X) X(narrow_axis, 1)
KN_CONFIG(kn_transpose_config, KN_TRANSPOSE_CONFIG);

extern const kn_kind kn_kind_tile, kn_kind_windows, kn_kind_transpose_pairs;
extern const kn_recipe kn_recipe_tile, kn_recipe_windows, kn_recipe_transpose_pairs;

#endif
