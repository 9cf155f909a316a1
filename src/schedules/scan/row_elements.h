/* schedules/scan/row_elements.h - where an element of a row is, for kinds that go along rows one by one:
 * selections, tallies and the passes of sorts. Their parts are dense, stepped, in_row, from_row, item and
 * go_along. */
#ifndef KN_SCHEDULES_SCAN_ROW_ELEMENTS_H
#define KN_SCHEDULES_SCAN_ROW_ELEMENTS_H

#include "codegen/writer.h"

/* Rows of one axis, or of several. */
typedef struct kn_row_elements {
    bool one_axis;
    const char *offset; /* the part that is an element's distance from its row */
    void (*put)(const kn_writer *w, kn_str *out, int k); /* operand k's element in memory */
} kn_row_elements;

const kn_row_elements *kn_row_elements_of(bool one_axis);
/* Operand k's element that a thread holds. */
void kn_put_item(const kn_writer *w, kn_str *out, int k);
/* Declares what operand k's element is loaded into, and loads it. */
void kn_put_item_load(kn_writer *w, const kn_row_elements *elements, int k);
/* Pointers to a row's first elements, of operands that are dense. */
void kn_put_row_pointers(kn_writer *w);
/* Rows of several axes: the way to the element. */
void kn_put_way_along(kn_writer *w, enum kn_slot_id slot, const kn_row_elements *elements);

#endif
