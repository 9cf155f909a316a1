/* emit_flat.c - fills flat.cu; flat_single.cu if a thread has one element; flat_drawn.cu if elements draw
 * random numbers by their index. The compiler sees whether neighbours share a block where a vector's index is
 * a multiple of its length, and its elements' indices differ in their lowest bits alone; other vectors go
 * element by element. */
#include "codegen/writer.h"
#include "program/draws.h"
#include "schedules/contiguous/contiguous_kinds.h"

/* Operands whose misalignment differs from that of the results. */
static void put_flat_gather(kn_writer *w)
{
    for (int k = 0; k < kn_param_count(w); ++k)
        if (kn_array_of(w, k) >= 0 && kn_access_of(w, k) == KN_GATHER)
            kn_put_part(w, &w->slot[KN_SLOT_GATHER], "gather_flat", k);
}

static bool draws_by_index(const kn_spec *spec)
{
    const kn_program *p = spec->program;
    return p->uses & KN_USES_INDEX && kn_text_draws(p, p->stage[0].body);
}

static void fill_flat(kn_writer *w)
{
    if (w->spec->schedule.vector > 1) {
        kn_put_vectors(w);
        put_flat_gather(w);
        kn_put_call(w, &w->slot[KN_SLOT_LANE], kn_place_lane,
                    draws_by_index(w->spec) ? "kn_from | kn_k" : "kn.start + kn_first + kn_k");
    }
    kn_put_call(w, &w->slot[KN_SLOT_SINGLE], kn_place_flat, "kn.start + kn_at");
}

static const char *choose_template(const kn_spec *spec)
{
    return spec->schedule.vector <= 1 ? "schedules/contiguous/flat_single.cu"
           : draws_by_index(spec)     ? "schedules/contiguous/flat_drawn.cu"
                                      : "schedules/contiguous/flat.cu";
}

const kn_recipe kn_recipe_flat = {.choose_template = choose_template,
                                  .fill = fill_flat,
                                  .parts = "schedules/contiguous/contiguous_parts.cu"};
