/* emit_coarsened.c - fills coarsened.cu, or coarsened_unaligned.cu if rows of narrow results begin anywhere.
 * Inputs that change along the coarsened axis are loaded for all iterations before the first one is computed:
 * of unaligned rows for some. */
#include "codegen/writer.h"
#include "schedules/contiguous/kind_coarsened.h"
#include "schedules/contiguous/contiguous_kinds.h"

static bool load(kn_writer *w, int k)
{
    if (kn_access_of(w, k) == KN_BROADCAST) {
        kn_put_part_with(w, &w->slot[KN_SLOT_INVARIANT], "loaded", k, "load=%s",
                         kn_text_by(w, kn_put_vector_load, k));
        return true;
    }
    if (kn_access_of(w, k) != KN_VECTOR || kn_is_output(w, k))
        return false;
    kn_put_part(w, &w->slot[KN_SLOT_STEP_PACKS], "steps_of", k);
    kn_put_part_with(w, &w->slot[KN_SLOT_STEP_LOADS], "load_step", k, "load=%s",
                     kn_text_by(w, kn_put_vector_load, k));
    kn_put_part(w, &w->slot[KN_SLOT_LOADS], "step_of", k);
    return true;
}

static void place_in_word(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out,
                kn_is_output(w, k) || kn_access_of(w, k) == KN_BROADCAST ? "in_word" : "in_word_of_step", k);
}

/* KN_VECTOR: one element of each row. */
static void put_unaligned(kn_writer *w, int k)
{
    char access = kn_access_of(w, k);
    if (kn_is_output(w, k)) {
        kn_put_part(w, &w->slot[KN_SLOT_INVARIANT], "row_to", k);
        kn_put_part(w, &w->slot[KN_SLOT_RESULT], "word", k);
        kn_put_part(w, &w->slot[KN_SLOT_STORES], "store_word", k);
    } else if (access == KN_BROADCAST) {
        kn_put_part(w, &w->slot[KN_SLOT_INVARIANT], "columns_of_all", k);
    } else {
        kn_put_part(w, &w->slot[KN_SLOT_INVARIANT], "row_from", k);
        kn_put_part(w, &w->slot[KN_SLOT_STEP_PACKS], "columns_of_steps", k);
        kn_put_part(w, &w->slot[KN_SLOT_STEP_LOADS], access == KN_VECTOR ? "repeat_columns" : "load_columns",
                    k);
    }
}

static void fill_coarsened(kn_writer *w)
{
    if (!kn_coarsened_is_unaligned(&w->spec->schedule)) {
        kn_fill_located(w, kn_put_gather_of_one_row);
        return;
    }
    for (int k = 0; k < kn_param_count(w); ++k)
        if (kn_array_of(w, k) >= 0)
            put_unaligned(w, k);
    kn_put_call(w, &w->slot[KN_SLOT_LANE], place_in_word, "0");
}

static const char *choose_template(const kn_spec *spec)
{
    return kn_coarsened_is_unaligned(&spec->schedule) ? "schedules/contiguous/coarsened_unaligned.cu"
                                                      : "schedules/contiguous/coarsened.cu";
}

KN_CONFIG_TABLE(kn_coarsened_config, KN_COARSENED_CONFIG);
const kn_recipe kn_recipe_coarsened = {.choose_template = choose_template,
                                       .fill = fill_coarsened,
                                       .fast_axis = "kn.axis[0]",
                                       .step_axis = "kn_w",
                                       .load = load,
                                       .parts = "schedules/contiguous/contiguous_parts.cu"};
