/* schedules/stencil/stencil_kinds.h - the kinds of this family and their recipes. Several inputs are one
 * array at different offsets. */
#ifndef KN_SCHEDULES_STENCIL_STENCIL_KINDS_H
#define KN_SCHEDULES_STENCIL_STENCIL_KINDS_H

#include "codegen/writer.h"
#include "schedule/kind.h"

extern const kn_kind kn_kind_stencil, kn_kind_stencil_3d;
extern const kn_recipe kn_recipe_stencil, kn_recipe_stencil_3d;

#endif
