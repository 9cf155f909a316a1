/* emit_transpose_pairs.c - fills transpose_pairs.cu. */
#include "codegen/writer.h"
#include "schedules/transpose/transpose_kinds.h"

#include <stdio.h>

enum { FULL_THREADS = 768 /* threads of a multiprocessor for which registers are left: for both tiles */ };

static void place_lane(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out,
                kn_is_output(w, k)                ? "lane"
                : kn_access_of(w, k) == KN_STAGED ? "transposed_lane"
                                                  : "straight_lane",
                k);
}

static void fill_transpose_pairs(kn_writer *w)
{
    char index[128];
    int array = w->spec->n_arrays;
    kn_put_blocks(w, FULL_THREADS);
    for (int k = 0; k < kn_param_count(w); ++k) {
        if (kn_is_output(w, k) && kn_array_of(w, k) >= 0) {
            kn_put_part(w, &w->slot[KN_SLOT_LOADS], "result_to", k);
            kn_put_part(w, &w->slot[KN_SLOT_STORES], "store", k);
        }
        if (kn_is_output(w, k) || kn_access_of(w, k) != KN_VECTOR)
            continue;
        kn_str_append(&w->slot[KN_SLOT_TYPE], kn_storage(w, k));
        kn_put_part(w, &w->slot[KN_SLOT_STAGED_FROM], "staged_from", k);
    }
    snprintf(index, sizeof index, "kn.start + kn_here.at[%d] + kn_k * kn_axis_p.stride[%d]", array, array);
    kn_put_call(w, &w->slot[KN_SLOT_LANE], place_lane, index);
}

const kn_recipe kn_recipe_transpose_pairs = {.template_name = "schedules/transpose/transpose_pairs.cu",
                                             .fill = fill_transpose_pairs,
                                             .parts = "schedules/transpose/transpose_parts.cu"};
