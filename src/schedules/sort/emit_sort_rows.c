/* emit_sort_rows.c - sort_rows.cu and sort_top.cu, which have the same parts. */
#include "codegen/writer.h"

#include "schedules/sort/sort_kinds.h"

enum { TOP_THREADS = 1024 /* of a multiprocessor, which have 64 registers each */ };

static void fill_rows(kn_writer *w, bool one_axis)
{
    const kn_stage *s = &w->program->stage[KN_SORT_SORT];
    kn_put_part(w, &w->slot[KN_SLOT_LOADS], "declaration", s->value[0]);
    kn_put_value(w, &w->slot[KN_SLOT_MAPPED], s->value[0]);
    kn_put_type(w, &w->slot[KN_SLOT_TYPE], s->value[0]);
    kn_str_printf(&w->slot[KN_SLOT_DEPTH], "%d",
                  kn_dtype_info_of(kn_spec_value_dtype(w->spec, s->value[0]))->size);
    kn_put_type(w, &w->slot[KN_SLOT_ORDER], s->value[s->n_read]);
    kn_put_value(w, &w->slot[KN_SLOT_ROW], s->value[s->n_read]);
    kn_put_sort_maps(w, one_axis);
}

static void fill(kn_writer *w)
{
    fill_rows(w, kn_sort_rows_config_of(&w->spec->schedule)->one_axis);
}

static void fill_top(kn_writer *w)
{
    fill_rows(w, kn_sort_top_config_of(&w->spec->schedule)->one_axis);
    kn_put_blocks(w, TOP_THREADS);
}

KN_CONFIG_TABLE(kn_sort_rows_config, KN_SORT_ROWS_CONFIG);
KN_CONFIG_TABLE(kn_sort_top_config, KN_SORT_TOP_CONFIG);

const kn_recipe kn_recipe_sort_rows = {.template_name = "schedules/sort/sort_rows.cu",
                                       .fill = fill,
                                       .parts = "schedules/sort/sort_parts.cu",
                                       .preludes = "kn_reduce_block kn_look_back kn_sort_places"};

const kn_recipe kn_recipe_sort_top = {.template_name = "schedules/sort/sort_top.cu",
                                      .fill = fill_top,
                                      .parts = "schedules/sort/sort_parts.cu",
                                      .preludes = "kn_reduce_block kn_look_back kn_sort_places"};
