/* schedules/stencil/stencil_results.h - the source that stencils have in common: everything for a thread's
 * rows of results but the windows of the stencil's inputs. */
#ifndef KN_SCHEDULES_STENCIL_STENCIL_RESULTS_H
#define KN_SCHEDULES_STENCIL_STENCIL_RESULTS_H

#include "codegen/writer.h"

/* The row and column of a stencil's input; false: parameter k is not one. */
bool kn_stencil_input(const kn_writer *w, int k, int *row, int *column);
/* Writes, for each row of results: loads of the other operands into slot `loads`, the calls, and the stores.
 * `place` writes the places of the stencil's inputs for row w->result. */
void kn_put_stencil_results(kn_writer *w, enum kn_slot_id loads, kn_place_writer place);
/* "kn_a_1.at[kn_k]": one of the other operands, in row w->result. */
void kn_place_stencil_other(const kn_writer *w, kn_str *out, int k);

#endif
