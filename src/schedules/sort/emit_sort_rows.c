/* emit_sort_rows.c - sort_rows.cu, sort_network.cu and sort_top.cu, which have the same parts. */
#include "codegen/writer.h"

#include "schedules/scan/row_elements.h"
#include "schedules/sort/sort_kinds.h"

enum { TOP_THREADS = 1024, NETWORK_THREADS = 768 /* of a multiprocessor, which have 64 registers each */ };

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

/* The element that is made of a sorted key stands for the input. */
static void put_made(const kn_writer *w, kn_str *out, int k)
{
    if (kn_is_output(w, k))
        kn_row_elements_of(true)->put(w, out, k);
    else
        kn_str_append(out, "kn_made");
}

static void fill_network(kn_writer *w)
{
    const kn_row_elements *elements =
        kn_row_elements_of(kn_sort_network_config_of(&w->spec->schedule)->one_axis);
    const int x = w->program->stage[KN_SORT_KEY].value[0];
    fill_rows(w, elements->one_axis);
    kn_str_clear(&w->slot[KN_SLOT_DEPTH]);
    kn_str_clear(&w->slot[KN_SLOT_STORES]);
    kn_put_map_at(w, &w->slot[KN_SLOT_STORES], KN_SORT_PUT, put_made, elements->offset);
    kn_put_type(w, &w->slot[KN_SLOT_FIRST], x);
    elements->put(w, &w->slot[KN_SLOT_ITEM], x);
    kn_str_append(&w->slot[KN_SLOT_TOGETHER],
                  kn_dtype_info_of(w->spec->operand[x].dtype)->kind == KN_KIND_FLOAT ? "1" : "0");
    kn_put_blocks(w, NETWORK_THREADS);
}

KN_CONFIG_TABLE(kn_sort_network_config, KN_SORT_NETWORK_CONFIG);
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

const kn_recipe kn_recipe_sort_network = {.template_name = "schedules/sort/sort_network.cu",
                                          .fill = fill_network,
                                          .parts = "schedules/sort/sort_parts.cu",
                                          .preludes = "kn_reduce_block kn_look_back kn_sort_places"};
