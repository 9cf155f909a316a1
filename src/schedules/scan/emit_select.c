/* emit_select.c - select.cu, select_row.cu, select_packed.cu, and select_quick.cu, the baseline tier of
 * all. */
#include "codegen/writer.h"

#include "schedules/scan/row_elements.h"
#include "schedules/scan/scan_kinds.h"

/* The slots that all templates have. */
static void fill_scan(kn_writer *w)
{
    const kn_stage *scan = &w->program->stage[KN_SCAN_SCAN];
    kn_put_part(w, &w->slot[KN_SLOT_LOADS], "declaration", scan->value[0]);
    kn_put_value(w, &w->slot[KN_SLOT_MAPPED], scan->value[0]);
    kn_put_value(w, &w->slot[KN_SLOT_RESULT], scan->value[1]);
    kn_put_row_pointers(w);
}

static void put_tiles_before(kn_writer *w)
{
    kn_put_part(w, &w->slot[KN_SLOT_ORDER], "tiles_before", KN_NO_VALUE);
}

/* ---- the baseline tier: elements are read where they lie ---- */

static const char *template_of(const kn_spec *spec, const char *optimised)
{
    return spec->schedule.baseline ? "schedules/scan/select_quick.cu" : optimised;
}

static void fill_quick(kn_writer *w, const kn_row_elements *elements)
{
    fill_scan(w);
    kn_put_way_along(w, KN_SLOT_FROM, elements);
    kn_put_map_at(w, &w->slot[KN_SLOT_LANE], KN_SCAN_MAP, elements->put, elements->offset);
    kn_put_map_at(w, &w->slot[KN_SLOT_STORES], KN_SCAN_POST, elements->put, elements->offset);
}

/* ---- elements of any axes ---- */

static const char *choose_template(const kn_spec *spec)
{
    return template_of(spec, "schedules/scan/select.cu");
}

static void fill(kn_writer *w)
{
    const kn_row_elements *elements = kn_row_elements_of(kn_select_config_of(&w->spec->schedule)->one_axis);
    if (w->spec->schedule.baseline) {
        fill_quick(w, elements);
        return;
    }
    fill_scan(w);
    put_tiles_before(w);
    for (int k = 0; k < kn_param_count(w); ++k)
        if (kn_array_of(w, k) >= 0 && kn_scan_is_of_stage(w, KN_SCAN_MAP, k))
            kn_put_item_load(w, elements, k);
    kn_put_way_along(w, KN_SLOT_FROM, elements);
    kn_put_way_along(w, KN_SLOT_POST, elements);
    kn_put_map_at(w, &w->slot[KN_SLOT_LANE], KN_SCAN_MAP, kn_put_item, elements->offset);
    kn_put_map_at(w, &w->slot[KN_SLOT_STORES], KN_SCAN_POST, elements->put, elements->offset);
}

/* ---- elements of one axis, which threads hold ---- */

static const kn_row_elements *along_row(void)
{
    return kn_row_elements_of(true);
}

/* Inputs are in registers; outputs that are not raw lie in memory. */
static void put_held(const kn_writer *w, kn_str *out, int k)
{
    if (kn_is_output(w, k))
        along_row()->put(w, out, k);
    else
        kn_put_item(w, out, k);
}

static bool is_packed(const kn_spec *spec)
{
    return kn_select_row_config_of(&spec->schedule)->packed;
}

/* Selected elements that the predicate reads are in shared memory, others where they lie. */
static void put_packed(const kn_writer *w, kn_str *out, int k)
{
    if (kn_is_output(w, k) || !kn_scan_is_of_stage(w, KN_SCAN_MAP, k))
        along_row()->put(w, out, k);
    else
        kn_put_part(w, out, "packed", k);
}

/* Elements that only the last stage reads are loaded where they are selected. */
static void put_loads(kn_writer *w, int k)
{
    const bool is_mapped = kn_scan_is_of_stage(w, KN_SCAN_MAP, k),
               is_put = kn_scan_is_of_stage(w, KN_SCAN_POST, k);
    if (kn_is_output(w, k) || (!is_mapped && (!is_put || is_packed(w->spec))))
        return;
    if (is_put && is_packed(w->spec)) {
        kn_put_part(w, &w->slot[KN_SLOT_TILES], "packed_tile", k);
        kn_put_part_with(w, &w->slot[KN_SLOT_PACKS], "pack_item", k, "place=%s",
                         kn_text_by(w, kn_put_item, k));
    }
    kn_put_part(w, &w->slot[KN_SLOT_STEP_PACKS], "item_packs", k);
    kn_put_part_with(w, &w->slot[is_mapped ? KN_SLOT_STEP_LOADS : KN_SLOT_GATHER], "item_load", k, "place=%s",
                     kn_text_by(w, along_row()->put, k));
}

static const char *choose_template_of_row(const kn_spec *spec)
{
    return template_of(spec,
                       is_packed(spec) ? "schedules/scan/select_packed.cu" : "schedules/scan/select_row.cu");
}

static void put_packed_stores(kn_writer *w)
{
    kn_put_map_at(w, &w->slot[KN_SLOT_STORES], KN_SCAN_POST, put_packed, along_row()->offset);
    kn_put_map_at(w, &w->slot[KN_SLOT_UNSTAGE], KN_SCAN_MAP, along_row()->put, along_row()->offset);
    kn_put_map_at(w, &w->slot[KN_SLOT_SINGLE], KN_SCAN_POST, along_row()->put, along_row()->offset);
}

/* Tiles that are not too many have a word each; others the flags and sums of scans. */
static void put_tiles_of_row(kn_writer *w)
{
    const bool words = kn_select_row_config_of(&w->spec->schedule)->words;
    kn_put_part(w, &w->slot[KN_SLOT_ORDER], words ? "tiles_before_by_words" : "tiles_before", KN_NO_VALUE);
    kn_put_part(w, &w->slot[KN_SLOT_FINISH], words ? "leave_words" : "leave_flags", KN_NO_VALUE);
}

static void fill_row(kn_writer *w)
{
    if (w->spec->schedule.baseline) {
        fill_quick(w, along_row());
        return;
    }
    fill_scan(w);
    put_tiles_of_row(w);
    for (int k = 0; k < kn_param_count(w); ++k)
        if (kn_array_of(w, k) >= 0)
            put_loads(w, k);
    kn_put_map_at(w, &w->slot[KN_SLOT_LANE], KN_SCAN_MAP, kn_put_item, along_row()->offset);
    if (is_packed(w->spec))
        put_packed_stores(w);
    else
        kn_put_map_at(w, &w->slot[KN_SLOT_STORES], KN_SCAN_POST, put_held, along_row()->offset);
    if (w->program->uses & KN_USES_REDUCTION_INDEX && w->program->uses & KN_USES_SIZES) {
        kn_str *index = kn_text(w);
        kn_put_reduction_index(w, index, along_row()->offset);
        kn_put_part_with(w, &w->slot[KN_SLOT_INVARIANT], "not_last", KN_NO_VALUE, "index=%s",
                         kn_str_text(index));
    }
}

KN_CONFIG_TABLE(kn_select_row_config, KN_SELECT_ROW_CONFIG);
KN_CONFIG_TABLE(kn_select_config, KN_SELECT_CONFIG);

const kn_recipe kn_recipe_select_row = {.choose_template = choose_template_of_row,
                                        .fill = fill_row,
                                        .parts = "schedules/scan/scan_parts.cu",
                                        .preludes = "kn_reduce_block kn_look_back kn_before_warp",
                                        .quick_preludes = "kn_take_ticket"};

const kn_recipe kn_recipe_select = {.choose_template = choose_template,
                                    .fill = fill,
                                    .parts = "schedules/scan/scan_parts.cu",
                                    .preludes = "kn_reduce_block kn_look_back kn_before_warp",
                                    .quick_preludes = "kn_take_ticket"};
