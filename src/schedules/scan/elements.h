/* schedules/scan/elements.h - elements of kinds that go along the reduction axes one by one: selections, and
 * the passes of sorts. Their parts are dense, stepped, in_row, from_row, item and go_along. */
#ifndef KN_SCHEDULES_SCAN_ELEMENTS_H
#define KN_SCHEDULES_SCAN_ELEMENTS_H

#include "codegen/writer.h"

/* True if the elements of a row lie along one axis, or there is one alone. */
bool kn_elements_are_in_row(const kn_writer *w);
/* The part that is an element's distance from its row. */
const char *kn_elements_offset(const kn_writer *w);
/* Operand k's element in memory; the one that a thread holds. */
void kn_put_element(const kn_writer *w, kn_str *out, int k);
void kn_put_item(const kn_writer *w, kn_str *out, int k);
/* Rows of several axes: the way to the element. */
void kn_elements_go_along(kn_writer *w, enum kn_slot_id slot);

#endif
