/* emit_coarsened.c - fills coarsened.cu. Inputs that change along the coarsened axis are loaded for all
 * iterations before the first one is computed. */
#include "codegen/writer.h"
#include "schedules/contiguous/kind_coarsened.h"
#include "schedules/contiguous/contiguous_kinds.h"

static bool load(kn_writer *w, int k)
{
    const char *name = w->program->param[k].name;
    if (kn_access_of(w, k) == KN_BROADCAST) {
        kn_put_part_of(w, &w->slot[KN_SLOT_INVARIANT], "loaded", k, "load=%s", kn_put_vector_load);
        return true;
    }
    if (kn_access_of(w, k) != KN_VECTOR || kn_is_output(w, k))
        return false;
    kn_str_printf(&w->slot[KN_SLOT_STEP_PACKS], "kn_pack<%s, %d> kn_%s_steps[%d];\n", kn_storage(w, k),
                  w->spec->schedule.vector, name, KN_COARSENING);
    kn_str_printf(&w->slot[KN_SLOT_STEP_LOADS], "kn_%s_steps[kn_m] = ", name);
    kn_put_vector_load(w, &w->slot[KN_SLOT_STEP_LOADS], k);
    kn_str_append(&w->slot[KN_SLOT_STEP_LOADS], ";\n");
    kn_str_printf(&w->slot[KN_SLOT_LOADS], "const auto kn_%s_ = kn_%s_steps[kn_m];\n", name, name);
    return true;
}

static void fill_coarsened(kn_writer *w)
{
    kn_str_printf(&w->slot[KN_SLOT_THREAD_STEPS], "%d", KN_COARSENING);
    kn_fill_located(w, kn_put_gather_of_one_row);
}

const kn_recipe kn_recipe_coarsened = {.template_name = "schedules/contiguous/coarsened.cu",
                                       .fill = fill_coarsened,
                                       .fast_axis = "kn.axis[0]",
                                       .step_axis = "kn_w",
                                       .load = load};
