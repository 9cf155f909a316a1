/* schedules/interleave/interleave_kinds.h - the kinds of this family, and how the source of each is written.
 * Operands that lie in each other's gaps, and narrow innermost axes (NHWC). */
#ifndef KN_SCHEDULES_INTERLEAVE_INTERLEAVE_KINDS_H
#define KN_SCHEDULES_INTERLEAVE_INTERLEAVE_KINDS_H

#include "codegen/writer.h"
#include "schedule/kind.h"

extern const kn_kind kn_kind_woven, kn_kind_pixels;
extern const kn_recipe kn_recipe_woven, kn_recipe_pixels;

#endif
