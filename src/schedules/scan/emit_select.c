/* emit_select.c - select.cu. */
#include "codegen/writer.h"

#include "schedules/scan/scan_kinds.h"

static bool is_one_axis(const kn_writer *w)
{
    return kn_select_config_of(&w->spec->schedule)->one_axis;
}

static void put_far(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out,
                kn_access_of(w, k) == KN_DENSE ? "in_row"
                : is_one_axis(w)               ? "along_row"
                                               : "at_place",
                k);
}

static void put_item(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out, "item", k);
}

static void put_call(kn_writer *w, enum kn_slot_id slot, int stage, kn_place_writer place)
{
    const char *part = is_one_axis(w) ? "row_index" : "place_index";
    kn_str index = KN_STR_INIT, reduction_index = KN_STR_INIT;
    kn_put_part_with(w, &index, part, -1, "start=%s array=%d", "start", w->spec->n_arrays);
    kn_put_part_with(w, &reduction_index, part, -1, "start=%s array=%d", "reduction_start",
                     kn_layout_space_operands(w->spec) - 1);
    kn_put_map(w, &w->slot[slot], stage, place, kn_str_text(&index), kn_str_text(&reduction_index));
    w->slot[slot].failed |= index.failed || reduction_index.failed;
    kn_str_free(&index);
    kn_str_free(&reduction_index);
}

static void put_places(kn_writer *w, enum kn_slot_id slot)
{
    if (!is_one_axis(w))
        kn_put_part_with(w, &w->slot[slot], "go_along", -1, "operands=%d", kn_layout_space_operands(w->spec));
}

static void fill(kn_writer *w)
{
    kn_put_part(w, &w->slot[KN_SLOT_LOADS], "declaration", w->program->stage[KN_SCAN_SCAN].value[0]);
    kn_put_value(w, &w->slot[KN_SLOT_MAPPED], w->program->stage[KN_SCAN_SCAN].value[0]);
    kn_put_value(w, &w->slot[KN_SLOT_RESULT], w->program->stage[KN_SCAN_SCAN].value[1]);
    for (int k = 0; k < kn_param_count(w); ++k) {
        if (kn_array_of(w, k) < 0)
            continue;
        if (kn_access_of(w, k) == KN_DENSE)
            kn_put_part(w, &w->slot[KN_SLOT_POINTERS], "row_pointer", k);
        if (kn_scan_is_of_stage(w, KN_SCAN_MAP, k)) {
            kn_put_part(w, &w->slot[KN_SLOT_STEP_PACKS], "item_packs", k);
            kn_put_part_of(w, &w->slot[KN_SLOT_STEP_LOADS], "item_load", k, "place=%s", put_far);
        }
    }
    put_places(w, KN_SLOT_FROM);
    put_places(w, KN_SLOT_POST);
    put_call(w, KN_SLOT_LANE, KN_SCAN_MAP, put_item);
    put_call(w, KN_SLOT_STORES, KN_SCAN_POST, put_far);
}

KN_CONFIG_TABLE(kn_select_config, KN_SELECT_CONFIG);

const kn_recipe kn_recipe_select = {.template_name = "schedules/scan/select.cu",
                                    .fill = fill,
                                    .parts = "schedules/scan/scan_parts.cu",
                                    .preludes = "kn_reduce_block kn_look_back"};
