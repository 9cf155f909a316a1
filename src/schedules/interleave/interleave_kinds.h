/* schedules/interleave/interleave_kinds.h - the kinds of this family and their recipes. Several operands fill
 * one array, or a narrow axis (channels) is innermost in some operands. */
#ifndef KN_SCHEDULES_INTERLEAVE_INTERLEAVE_KINDS_H
#define KN_SCHEDULES_INTERLEAVE_INTERLEAVE_KINDS_H

#include "codegen/writer.h"
#include "schedule/kind.h"

extern const kn_kind kn_kind_interleaved, kn_kind_channels;
extern const kn_recipe kn_recipe_interleaved, kn_recipe_channels;

#endif
