/* schedules/contiguous/contiguous_kinds.h - the kinds of this family, and how the source of each is written.
 * Elements side by side, or found by strides: operands keep their order of axes. */
#ifndef KN_SCHEDULES_CONTIGUOUS_CONTIGUOUS_KINDS_H
#define KN_SCHEDULES_CONTIGUOUS_CONTIGUOUS_KINDS_H

#include "codegen/writer.h"
#include "schedule/kind.h"

extern const kn_kind kn_kind_flat, kn_kind_strided, kn_kind_rows, kn_kind_broad, kn_kind_steps;
extern const kn_recipe kn_recipe_flat, kn_recipe_strided, kn_recipe_rows, kn_recipe_broad, kn_recipe_steps;

#endif
