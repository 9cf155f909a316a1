/* emit_select.c - select.cu. */
#include "codegen/writer.h"

#include "schedules/scan/row_elements.h"
#include "schedules/scan/scan_kinds.h"

static void fill(kn_writer *w)
{
    const kn_row_elements *elements = kn_row_elements_of(kn_select_config_of(&w->spec->schedule)->one_axis);
    kn_put_part(w, &w->slot[KN_SLOT_LOADS], "declaration", w->program->stage[KN_SCAN_SCAN].value[0]);
    kn_put_value(w, &w->slot[KN_SLOT_MAPPED], w->program->stage[KN_SCAN_SCAN].value[0]);
    kn_put_value(w, &w->slot[KN_SLOT_RESULT], w->program->stage[KN_SCAN_SCAN].value[1]);
    kn_put_row_pointers(w);
    for (int k = 0; k < kn_param_count(w); ++k)
        if (kn_array_of(w, k) >= 0 && kn_scan_is_of_stage(w, KN_SCAN_MAP, k))
            kn_put_item_load(w, elements, k);
    kn_put_way_along(w, KN_SLOT_FROM, elements);
    kn_put_way_along(w, KN_SLOT_POST, elements);
    kn_put_map_at(w, &w->slot[KN_SLOT_LANE], KN_SCAN_MAP, kn_put_item, elements->offset);
    kn_put_map_at(w, &w->slot[KN_SLOT_STORES], KN_SCAN_POST, elements->put, elements->offset);
}

KN_CONFIG_TABLE(kn_select_config, KN_SELECT_CONFIG);

const kn_recipe kn_recipe_select = {.template_name = "schedules/scan/select.cu",
                                    .fill = fill,
                                    .parts = "schedules/scan/scan_parts.cu",
                                    .preludes = "kn_reduce_block kn_look_back"};
