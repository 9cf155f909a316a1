/* schedules/contiguous/contiguous_kinds.h - the kinds of this family and their recipes. All operands are read
 * and stored in one order of axes: at the element's index, or at places found by strides. */
#ifndef KN_SCHEDULES_CONTIGUOUS_CONTIGUOUS_KINDS_H
#define KN_SCHEDULES_CONTIGUOUS_CONTIGUOUS_KINDS_H

#include "codegen/writer.h"
#include "schedule/kind.h"

extern const kn_kind kn_kind_flat, kn_kind_strided, kn_kind_rows, kn_kind_output_bound, kn_kind_coarsened;
extern const kn_recipe kn_recipe_flat, kn_recipe_strided, kn_recipe_rows, kn_recipe_output_bound,
    kn_recipe_coarsened;

#endif
