/* emit_sort_place.c - sort_place.cu. */
#include "codegen/writer.h"

#include "schedule/sort_tile.h"
#include "schedules/scan/row_elements.h"
#include "schedules/scan/scan_kinds.h"
#include "schedules/sort/sort_kinds.h"

enum { THREADS = 1536 /* of a multiprocessor */ };

static const kn_row_elements *elements_of(const kn_writer *w)
{
    return kn_row_elements_of(kn_sort_place_config_of(&w->spec->schedule)->one_axis);
}

static void put_held(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out, "held", k);
}

/* Results are stored where they are; inputs are in shared memory. */
static void put_sorted(const kn_writer *w, kn_str *out, int k)
{
    if (kn_is_output(w, k))
        elements_of(w)->put(w, out, k);
    else
        kn_put_part(w, out, "held_sorted", k);
}

static void put_places(kn_writer *w)
{
    int operands = kn_layout_space_operands(w->spec);
    kn_put_part_with(w, &w->slot[KN_SLOT_LOCATE], "go_to_row", -1, "operands=%d", operands);
    kn_put_way_along(w, KN_SLOT_FROM, elements_of(w));
}

/* before: bytes of the operands in front of it. */
static void put_operand(kn_writer *w, int k, int before)
{
    kn_put_part_with(w, &w->slot[KN_SLOT_TILES], "held_tile", k, "before=%d", before);
    kn_put_part_with(w, &w->slot[KN_SLOT_STEP_LOADS], "hold", k, "place=%s",
                     kn_text_by(w, elements_of(w)->put, k));
}

static void fill(kn_writer *w)
{
    const kn_row_elements *elements = elements_of(w);
    int bytes = 0;
    kn_put_sort_names(w);
    put_places(w);
    kn_put_row_pointers(w);
    kn_put_blocks(w, THREADS);
    for (int k = 0; k < kn_param_count(w); ++k)
        if (kn_array_of(w, k) >= 0 && !kn_is_output(w, k)) {
            put_operand(w, k, bytes);
            bytes += kn_item_size(w, k);
        }
    kn_str_printf(&w->slot[KN_SLOT_STAGED_SIZE], "%d", bytes);
    kn_put_map_at(w, &w->slot[KN_SLOT_LANE], KN_SORT_KEY, put_held, elements->offset);
    kn_put_map_at(w, &w->slot[KN_SLOT_STORES], KN_SORT_PUT, put_sorted, elements->offset);
}

KN_CONFIG_TABLE(kn_sort_place_config, KN_SORT_PLACE_CONFIG);

const kn_recipe kn_recipe_sort_place = {.template_name = "schedules/sort/sort_place.cu",
                                        .fill = fill,
                                        .parts = "schedules/sort/sort_parts.cu",
                                        .preludes = "kn_reduce_block kn_look_back kn_sort_places"};
