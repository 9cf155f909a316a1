/* schedules/stencil/stencil_kinds.h - the kinds of this family, and how the source of each is written. Inputs
 * that are one array, shifted. */
#ifndef KN_SCHEDULES_STENCIL_STENCIL_KINDS_H
#define KN_SCHEDULES_STENCIL_STENCIL_KINDS_H

#include "codegen/writer.h"
#include "schedule/kind.h"

extern const kn_kind kn_kind_shifted, kn_kind_planes;
extern const kn_recipe kn_recipe_shifted, kn_recipe_planes;

#endif
