/* emit_interleaved.c - fills interleaved.cu. */
#include "codegen/writer.h"
#include "schedules/interleave/interleave_kinds.h"

#include <stdio.h>

static int count_of(const kn_writer *w)
{
    return kn_interleaved_config_of(&w->spec->schedule)->interleaved;
}

static void place_lane(const kn_writer *w, kn_str *out, int k)
{
    int first = k, number = kn_interleaved_number(w->spec, k, count_of(w), &first);
    if (number < 0)
        kn_place_lane(w, out, k);
    else
        kn_put_part_with(w, out, "element_of", first, "number=%d", number);
}

static void put_place(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out, "place", k);
}

/* Interleaved operands are loaded and stored as one array, by the first of them. Results are loaded too,
 * since not every body assigns all of them. */
static void put_operand(kn_writer *w, int k)
{
    kn_str *loads = &w->slot[KN_SLOT_LOADS];
    char access = kn_access_of(w, k);
    int first = k;
    if (kn_interleaved_number(w->spec, k, count_of(w), &first) > 0)
        return;
    kn_put_part_with(w, loads,
                     access == KN_STAGED   ? "load_all"
                     : access == KN_VECTOR ? "load_vector"
                                           : "gather_vector",
                     k, "place=%s elements=%d", kn_text_by(w, put_place, k),
                     w->spec->schedule.vector * count_of(w));
    if (kn_is_output(w, k))
        kn_put_part_with(w, &w->slot[KN_SLOT_STORES], "store_all", k, "place=%s",
                         kn_text_by(w, put_place, k));
}

static void fill_interleaved(kn_writer *w)
{
    char index[128];
    int array = w->spec->n_arrays;
    snprintf(index, sizeof index, "kn.start + kn_here.at[%d] + kn_k * kn.axis[0].stride[%d]", array, array);
    for (int k = 0; k < kn_param_count(w); ++k)
        if (kn_array_of(w, k) >= 0)
            put_operand(w, k);
    kn_put_call(w, &w->slot[KN_SLOT_LANE], place_lane, index);
}

KN_CONFIG_TABLE(kn_interleaved_config, KN_INTERLEAVED_CONFIG);
const kn_recipe kn_recipe_interleaved = {.template_name = "schedules/interleave/interleaved.cu",
                                         .fill = fill_interleaved,
                                         .preludes = "kn_gather",
                                         .parts = "schedules/interleave/interleave_parts.cu"};
