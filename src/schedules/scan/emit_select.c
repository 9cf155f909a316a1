/* emit_select.c - select.cu. */
#include "codegen/writer.h"

#include "schedules/scan/scan_kinds.h"

static bool is_one_axis(const kn_writer *w)
{
    return kn_select_config_of(&w->spec->schedule)->one_axis;
}

static const char *offset_of(const kn_writer *w)
{
    return is_one_axis(w) ? "in_row" : "from_row";
}

static void put_offset(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out, offset_of(w), k);
}

static void put_far(const kn_writer *w, kn_str *out, int k)
{
    if (kn_access_of(w, k) == KN_DENSE)
        kn_put_part(w, out, "dense", k);
    else
        kn_put_part_with(w, out, "stepped", k, "offset=%s", kn_text_by(w, put_offset, k));
}

static void put_item(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out, "item", k);
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
            kn_put_part_with(w, &w->slot[KN_SLOT_STEP_LOADS], "item_load", k, "place=%s",
                             kn_text_by(w, put_far, k));
        }
    }
    put_places(w, KN_SLOT_FROM);
    put_places(w, KN_SLOT_POST);
    kn_put_map_at(w, &w->slot[KN_SLOT_LANE], KN_SCAN_MAP, put_item, offset_of(w));
    kn_put_map_at(w, &w->slot[KN_SLOT_STORES], KN_SCAN_POST, put_far, offset_of(w));
}

KN_CONFIG_TABLE(kn_select_config, KN_SELECT_CONFIG);

const kn_recipe kn_recipe_select = {.template_name = "schedules/scan/select.cu",
                                    .fill = fill,
                                    .parts = "schedules/scan/scan_parts.cu",
                                    .preludes = "kn_reduce_block kn_look_back"};
