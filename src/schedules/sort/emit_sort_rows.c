/* emit_sort_rows.c - sort_rows.cu. */
#include "codegen/writer.h"

#include "schedules/sort/sort_kinds.h"

static bool is_one_axis(const kn_writer *w)
{
    return kn_sort_rows_config_of(&w->spec->schedule)->one_axis;
}

static const char *offset_of(const kn_writer *w)
{
    return is_one_axis(w) ? "in_row" : "from_row";
}

static void put_offset(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out, offset_of(w), k);
}

static void put_element(const kn_writer *w, kn_str *out, int k)
{
    if (kn_access_of(w, k) == KN_DENSE)
        kn_put_part(w, out, "dense", k);
    else
        kn_put_part_with(w, out, "stepped", k, "offset=%s", kn_text_by(w, put_offset, k));
}

static void fill(kn_writer *w)
{
    const kn_stage *s = &w->program->stage[KN_SORT_SORT];
    int operands = kn_layout_space_operands(w->spec);
    kn_put_part(w, &w->slot[KN_SLOT_LOADS], "declaration", s->value[0]);
    kn_put_value(w, &w->slot[KN_SLOT_MAPPED], s->value[0]);
    kn_put_type(w, &w->slot[KN_SLOT_TYPE], s->value[0]);
    kn_str_printf(&w->slot[KN_SLOT_DEPTH], "%d",
                  kn_dtype_info_of(kn_spec_value_dtype(w->spec, s->value[0]))->size);
    kn_str_printf(&w->slot[KN_SLOT_LANES], "%d", kn_sort_rows_config_of(&w->spec->schedule)->lanes);
    kn_put_type(w, &w->slot[KN_SLOT_ORDER], s->value[s->n_read]);
    kn_put_value(w, &w->slot[KN_SLOT_ROW], s->value[s->n_read]);
    kn_put_part_with(w, &w->slot[KN_SLOT_LOCATE], "go_to_row", -1, "operands=%d", operands);
    for (int k = 0; k < kn_param_count(w); ++k)
        if (kn_access_of(w, k) == KN_DENSE)
            kn_put_part(w, &w->slot[KN_SLOT_POINTERS], "row_pointer", k);
    if (!is_one_axis(w))
        kn_put_part_with(w, &w->slot[KN_SLOT_FROM], "go_along", -1, "operands=%d", operands);
    kn_put_map_at(w, &w->slot[KN_SLOT_SINGLE], KN_SORT_KEY, put_element, offset_of(w));
    kn_put_map_at(w, &w->slot[KN_SLOT_STORES], KN_SORT_PUT, put_element, offset_of(w));
}

KN_CONFIG_TABLE(kn_sort_rows_config, KN_SORT_ROWS_CONFIG);

const kn_recipe kn_recipe_sort_rows = {.template_name = "schedules/sort/sort_rows.cu",
                                       .fill = fill,
                                       .parts = "schedules/sort/sort_parts.cu",
                                       .preludes = "kn_reduce_block kn_look_back kn_sort_places"};
