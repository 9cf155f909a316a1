/* emit_elements.c - elements of kinds that go along the reduction axes one by one (kn_reduce_set_elements):
 * the parts that say where one is, by the accesses and the number one_axis of a kind. */
#include "schedules/scan/elements.h"

bool kn_elements_are_in_row(const kn_writer *w)
{
    return kn_config_number(&w->spec->schedule, "one_axis");
}

const char *kn_elements_offset(const kn_writer *w)
{
    return kn_elements_are_in_row(w) ? "in_row" : "from_row";
}

static void put_offset(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out, kn_elements_offset(w), k);
}

void kn_put_element(const kn_writer *w, kn_str *out, int k)
{
    if (kn_access_of(w, k) == KN_DENSE)
        kn_put_part(w, out, "dense", k);
    else
        kn_put_part_with(w, out, "stepped", k, "offset=%s", kn_text_by(w, put_offset, k));
}

void kn_put_item(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out, "item", k);
}

void kn_elements_go_along(kn_writer *w, enum kn_slot_id slot)
{
    if (!kn_elements_are_in_row(w))
        kn_put_part_with(w, &w->slot[slot], "go_along", -1, "operands=%d", kn_layout_space_operands(w->spec));
}
