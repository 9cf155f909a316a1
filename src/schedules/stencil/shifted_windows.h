/* schedules/stencil/shifted_windows.h - what the fills of stencils share: of a thread's rows of results, all
 * but the windows of their shifted inputs. */
#ifndef KN_SCHEDULES_STENCIL_SHIFTED_WINDOWS_H
#define KN_SCHEDULES_STENCIL_SHIFTED_WINDOWS_H

#include "codegen/writer.h"

/* The place of a shifted input by its letter; false: parameter k is none. */
bool kn_shifted_input(const kn_writer *w, int k, int *row, int *column);
/* Vectors of each row of results, which are loaded in slot `loads`, the calls of its elements, and its
 * stores; `place` writes where shifted inputs of row w->result are. */
void kn_put_shifted_results(kn_writer *w, enum kn_slot_id loads, kn_place_writer place);
/* "kn_a_1.at[kn_k]": of the others, in row w->result. */
void kn_place_shifted_other(const kn_writer *w, kn_str *out, int k);

#endif
