/* emit_sort_count.c - sort_count.cu, sort_count_quick.cu, its baseline tier, and the words that all kinds of
 * sorts have. */
#include "codegen/writer.h"

#include "schedules/scan/row_elements.h"
#include "schedules/scan/scan_kinds.h"
#include "schedules/sort/sort_kinds.h"

enum { LANES = 32, MOST_DIGITS = 4 /* for each of which there may be a copy a lane */ };

int kn_sort_count_digits(const kn_spec *spec)
{
    const kn_stage *count = &spec->program->stage[KN_SORT_SORT];
    const kn_dtype_info *key = kn_dtype_info_of(kn_spec_value_dtype(spec, count->value[0]));
    return key->kind == KN_KIND_INT ? 1 : key->size;
}

/* Atomic functions of lanes that meet at a bank wait for each other: of long rows a block has a copy for each
 * lane, as far as there is shared memory. Microseconds of 2^27 uint32 (H200): 250 by blocks of 256 threads
 * and 8 copies, 191 by 512 and 16, 152 by 1,024 and 32; of 2^26 uint64 254 by 4 copies, 181 by 16. */
int kn_sort_count_copies(const kn_spec *spec)
{
    const int copies = kn_sort_count_config_of(&spec->schedule)->many ? LANES : LANES / 4;
    return kn_sort_count_digits(spec) > MOST_DIGITS ? copies / 2 : copies;
}

/* The raw output of the stage that counts or places is its last value. */
void kn_put_sort_names(kn_writer *w)
{
    const kn_stage *s = &w->program->stage[KN_SORT_SORT];
    int words = s->value[s->n_read + s->n_given - 1];
    kn_put_part(w, &w->slot[KN_SLOT_LOADS], "declaration", s->value[0]);
    kn_put_value(w, &w->slot[KN_SLOT_MAPPED], s->value[0]);
    kn_put_type(w, &w->slot[KN_SLOT_TYPE], words);
    kn_str_append(&w->slot[KN_SLOT_RESULT], w->program->param[words].name);
    if (s->kind == KN_COUNT) {
        const kn_dtype_info *key = kn_dtype_info_of(kn_spec_value_dtype(w->spec, s->value[0]));
        kn_str_printf(&w->slot[KN_SLOT_DEPTH], "%d", kn_sort_count_digits(w->spec));
        if (key->kind == KN_KIND_INT) {
            kn_str_append(&w->slot[KN_SLOT_COUNTED], "if (");
            kn_put_value(w, &w->slot[KN_SLOT_COUNTED], s->value[0]);
            kn_str_append(&w->slot[KN_SLOT_COUNTED], " >= 0)\n");
        }
        return;
    }
    kn_str_append(&w->slot[KN_SLOT_FIRST], w->program->param[s->value[1]].name);
    kn_put_type(w, &w->slot[KN_SLOT_ORDER], s->value[s->n_read]);
    kn_put_value(w, &w->slot[KN_SLOT_ROW], s->value[s->n_read]);
}

static void put_rows(kn_writer *w, const kn_row_elements *elements)
{
    kn_put_part_with(w, &w->slot[KN_SLOT_LOCATE], "go_to_row", KN_NO_VALUE, "operands=%d",
                     kn_layout_space_operands(w->spec));
    kn_put_row_pointers(w);
    kn_put_way_along(w, KN_SLOT_FROM, elements);
}

void kn_put_sort_maps(kn_writer *w, bool one_axis)
{
    const kn_row_elements *elements = kn_row_elements_of(one_axis);
    put_rows(w, elements);
    kn_put_map_at(w, &w->slot[KN_SLOT_SINGLE], KN_SORT_KEY, elements->put, elements->offset);
    kn_put_map_at(w, &w->slot[KN_SLOT_STORES], KN_SORT_PUT, elements->put, elements->offset);
}

static const kn_row_elements *elements_of(const kn_writer *w)
{
    return kn_row_elements_of(kn_sort_count_config_of(&w->spec->schedule)->one_axis);
}

/* Elements whose keys are counted are in registers. */
static bool is_held(const kn_writer *w, int k)
{
    return !kn_is_output(w, k) && kn_scan_is_of_stage(w, KN_SORT_KEY, k);
}

static void put_held(const kn_writer *w, kn_str *out, int k)
{
    if (is_held(w, k))
        kn_put_item(w, out, k);
    else
        elements_of(w)->put(w, out, k);
}

static const char *choose_template(const kn_spec *spec)
{
    return spec->schedule.baseline ? "schedules/sort/sort_count_quick.cu" : "schedules/sort/sort_count.cu";
}

static void fill(kn_writer *w)
{
    const kn_row_elements *elements = elements_of(w);
    kn_put_sort_names(w);
    if (w->spec->schedule.baseline) {
        kn_put_sort_maps(w, elements->one_axis);
        return;
    }
    kn_str_printf(&w->slot[KN_SLOT_WIDE], "%d", kn_sort_count_copies(w->spec));
    put_rows(w, elements);
    for (int k = 0; k < kn_param_count(w); ++k)
        if (kn_array_of(w, k) >= 0 && is_held(w, k))
            kn_put_item_load(w, elements, k);
    kn_put_map_at(w, &w->slot[KN_SLOT_SINGLE], KN_SORT_KEY, put_held, elements->offset);
    kn_put_map_at(w, &w->slot[KN_SLOT_STORES], KN_SORT_PUT, put_held, elements->offset);
}

KN_CONFIG_TABLE(kn_sort_count_config, KN_SORT_COUNT_CONFIG);

const kn_recipe kn_recipe_sort_count = {.choose_template = choose_template,
                                        .fill = fill,
                                        .parts = "schedules/sort/sort_parts.cu",
                                        .preludes = "kn_reduce_block kn_look_back",
                                        .quick_preludes = "kn_reduce_block kn_take_ticket"};
