/* emit_sort_rows.c - sort_rows.cu. */
#include "codegen/writer.h"

#include "schedules/sort/sort_kinds.h"

static void fill(kn_writer *w)
{
    const kn_stage *s = &w->program->stage[KN_SORT_SORT];
    kn_put_part(w, &w->slot[KN_SLOT_LOADS], "declaration", s->value[0]);
    kn_put_value(w, &w->slot[KN_SLOT_MAPPED], s->value[0]);
    kn_put_type(w, &w->slot[KN_SLOT_TYPE], s->value[0]);
    kn_str_printf(&w->slot[KN_SLOT_DEPTH], "%d",
                  kn_dtype_info_of(kn_spec_value_dtype(w->spec, s->value[0]))->size);
    kn_put_type(w, &w->slot[KN_SLOT_ORDER], s->value[s->n_read]);
    kn_put_value(w, &w->slot[KN_SLOT_ROW], s->value[s->n_read]);
    kn_put_sort_maps(w, kn_sort_rows_config_of(&w->spec->schedule)->one_axis);
}

KN_CONFIG_TABLE(kn_sort_rows_config, KN_SORT_ROWS_CONFIG);

const kn_recipe kn_recipe_sort_rows = {.template_name = "schedules/sort/sort_rows.cu",
                                       .fill = fill,
                                       .parts = "schedules/sort/sort_parts.cu",
                                       .preludes = "kn_reduce_block kn_look_back kn_sort_places"};
