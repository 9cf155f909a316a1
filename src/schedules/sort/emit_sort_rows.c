/* emit_sort_rows.c - sort_rows.cu. */
#include "codegen/writer.h"

#include "schedules/scan/row_elements.h"
#include "schedules/sort/sort_kinds.h"

static void fill(kn_writer *w)
{
    const kn_row_elements *elements =
        kn_row_elements_of(kn_sort_rows_config_of(&w->spec->schedule)->one_axis);
    const kn_stage *s = &w->program->stage[KN_SORT_SORT];
    int operands = kn_layout_space_operands(w->spec);
    kn_put_part(w, &w->slot[KN_SLOT_LOADS], "declaration", s->value[0]);
    kn_put_value(w, &w->slot[KN_SLOT_MAPPED], s->value[0]);
    kn_put_type(w, &w->slot[KN_SLOT_TYPE], s->value[0]);
    kn_str_printf(&w->slot[KN_SLOT_DEPTH], "%d",
                  kn_dtype_info_of(kn_spec_value_dtype(w->spec, s->value[0]))->size);
    kn_put_type(w, &w->slot[KN_SLOT_ORDER], s->value[s->n_read]);
    kn_put_value(w, &w->slot[KN_SLOT_ROW], s->value[s->n_read]);
    kn_put_part_with(w, &w->slot[KN_SLOT_LOCATE], "go_to_row", -1, "operands=%d", operands);
    for (int k = 0; k < kn_param_count(w); ++k)
        if (kn_access_of(w, k) == KN_DENSE)
            kn_put_part(w, &w->slot[KN_SLOT_POINTERS], "row_pointer", k);
    kn_put_way_along(w, KN_SLOT_FROM, elements);
    kn_put_map_at(w, &w->slot[KN_SLOT_SINGLE], KN_SORT_KEY, elements->put, elements->offset);
    kn_put_map_at(w, &w->slot[KN_SLOT_STORES], KN_SORT_PUT, elements->put, elements->offset);
}

KN_CONFIG_TABLE(kn_sort_rows_config, KN_SORT_ROWS_CONFIG);

const kn_recipe kn_recipe_sort_rows = {.template_name = "schedules/sort/sort_rows.cu",
                                       .fill = fill,
                                       .parts = "schedules/sort/sort_parts.cu",
                                       .preludes = "kn_reduce_block kn_look_back kn_sort_places"};
