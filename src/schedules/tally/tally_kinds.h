/* schedules/tally/tally_kinds.h - the kinds of this family, and how the source of each is written: elements
 * that are combined by bins. Two map expressions, the bin and the value, and a tally. */
#ifndef KN_SCHEDULES_TALLY_TALLY_KINDS_H
#define KN_SCHEDULES_TALLY_TALLY_KINDS_H

#include "codegen/writer.h"
#include "schedule/kind.h"

extern const kn_kind kn_kind_tally, kn_kind_tally_halves;
extern const kn_recipe kn_recipe_tally, kn_recipe_tally_halves;

enum { KN_TALLY_BIN, KN_TALLY_VALUE, KN_TALLY_TALLY }; /* the stages */

/* one_axis: the elements lie along one axis, or there is one alone. */
#define KN_TALLY_CONFIG(X) X(one_axis, 1)
KN_CONFIG(kn_tally_config, KN_TALLY_CONFIG);

/* The words of both targets' templates: bin, value, their types, the function, the identity, and the raw
 * output. */
void kn_put_tally_names(kn_writer *w);

/* True if each element counts one, in any order. */
bool kn_tally_is_count(const kn_writer *w);

#endif
