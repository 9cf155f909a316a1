/* emit_row_elements.c - the parts that say where an element of a row is, for kinds that go along rows one
 * element after the other (kn_reduce_set_elements). */
#include "schedules/scan/row_elements.h"

static void put_in_row(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out, "in_row", k);
}

static void put_from_row(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out, "from_row", k);
}

static void put_place(const kn_writer *w, kn_str *out, int k,
                      void (*offset)(const kn_writer *, kn_str *, int))
{
    if (kn_access_of(w, k) == KN_DENSE)
        kn_put_part(w, out, "dense", k);
    else
        kn_put_part_with(w, out, "stepped", k, "offset=%s", kn_text_by(w, offset, k));
}

static void put_along_axis(const kn_writer *w, kn_str *out, int k)
{
    put_place(w, out, k, put_in_row);
}

static void put_along_axes(const kn_writer *w, kn_str *out, int k)
{
    put_place(w, out, k, put_from_row);
}

const kn_row_elements *kn_row_elements_of(bool one_axis)
{
    static const kn_row_elements along[] = {{false, "from_row", put_along_axes},
                                            {true, "in_row", put_along_axis}};
    return &along[one_axis];
}

void kn_put_item(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out, "item", k);
}

void kn_put_item_load(kn_writer *w, const kn_row_elements *elements, int k)
{
    kn_put_part(w, &w->slot[KN_SLOT_STEP_PACKS], "item_packs", k);
    kn_put_part_with(w, &w->slot[KN_SLOT_STEP_LOADS], "item_load", k, "place=%s",
                     kn_text_by(w, elements->put, k));
}

void kn_put_row_pointers(kn_writer *w)
{
    for (int k = 0; k < kn_param_count(w); ++k)
        if (kn_array_of(w, k) >= 0 && kn_access_of(w, k) == KN_DENSE)
            kn_put_part(w, &w->slot[KN_SLOT_POINTERS], "row_pointer", k);
}

void kn_put_way_along(kn_writer *w, enum kn_slot_id slot, const kn_row_elements *elements)
{
    if (!elements->one_axis)
        kn_put_part_with(w, &w->slot[slot], "go_along", KN_NO_VALUE, "operands=%d",
                         kn_layout_space_operands(w->spec));
}
