/* schedules/interleave/interleave_kinds.h - the kinds of this family and their recipes. Several operands fill
 * one array, or a narrow axis (channels) is innermost in some operands. */
#ifndef KN_SCHEDULES_INTERLEAVE_INTERLEAVE_KINDS_H
#define KN_SCHEDULES_INTERLEAVE_INTERLEAVE_KINDS_H

#include "codegen/writer.h"
#include "schedule/kind.h"

/* interleaved: operands that are one array. turns: vectors of a thread, a block apart. */
#define KN_INTERLEAVED_CONFIG(X) X(interleaved, KN_MOST_INTERLEAVED) X(turns, 2)
enum { KN_MOST_INTERLEAVED = 16 };
KN_CONFIG(kn_interleaved_config, KN_INTERLEAVED_CONFIG);

extern const kn_kind kn_kind_interleaved, kn_kind_channels;
extern const kn_recipe kn_recipe_interleaved, kn_recipe_channels;

#endif
