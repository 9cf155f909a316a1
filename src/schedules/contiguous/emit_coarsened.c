/* emit_coarsened.c - fills coarsened.cu. Inputs that change along the coarsened axis are loaded for all
 * iterations before the first one is computed. */
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

static void fill_coarsened(kn_writer *w)
{
    kn_fill_located(w, kn_put_gather_of_one_row);
}

KN_CONFIG_TABLE(kn_coarsened_config, KN_COARSENED_CONFIG);
const kn_recipe kn_recipe_coarsened = {.template_name = "schedules/contiguous/coarsened.cu",
                                       .fill = fill_coarsened,
                                       .fast_axis = "kn.axis[0]",
                                       .step_axis = "kn_w",
                                       .load = load,
                                       .parts = "schedules/contiguous/contiguous_parts.cu"};
