/* emit_flat.c - fills flat.cu, or flat_single.cu if a thread has one element. */
#include "codegen/writer.h"
#include "schedules/contiguous/contiguous_kinds.h"

/* Operands whose misalignment differs from that of the results. */
static void put_flat_gather(kn_writer *w)
{
    for (int k = 0; k < kn_param_count(w); ++k)
        if (kn_array_of(w, k) >= 0 && kn_access_of(w, k) == KN_GATHER)
            kn_put_part(w, &w->slot[KN_SLOT_GATHER], "gather_flat", k);
}

static void fill_flat(kn_writer *w)
{
    if (w->spec->schedule.vector > 1) {
        kn_put_vectors(w);
        put_flat_gather(w);
        kn_put_call(w, &w->slot[KN_SLOT_LANE], kn_place_lane, "kn.start + kn_first + kn_k");
    }
    kn_put_call(w, &w->slot[KN_SLOT_SINGLE], kn_place_flat, "kn.start + kn_at");
}

static const char *choose_template(const kn_spec *spec)
{
    return spec->schedule.vector > 1 ? "schedules/contiguous/flat.cu" : "schedules/contiguous/flat_single.cu";
}

const kn_recipe kn_recipe_flat = {.choose_template = choose_template,
                                  .fill = fill_flat,
                                  .parts = "schedules/contiguous/contiguous_parts.cu"};
