/* emit_transpose_pairs.c - fills transpose_pairs.cu. */
#include "codegen/writer.h"
#include "schedules/transpose/kind_transpose_pairs.h"
#include "schedules/transpose/transpose_kinds.h"

#include <stdio.h>

enum { FULL_THREADS = 768 /* threads of a multiprocessor for which registers are left: for both tiles */ };

static void place_lane(const kn_writer *w, kn_str *out, int k)
{
    if (kn_is_output(w, k))
        kn_str_printf(out, "kn_%s_.at[kn_k]", w->program->param[k].name);
    else
        kn_str_append(out, kn_access_of(w, k) == KN_STAGED ? "kn_transposed.at[kn_k]"
                                                           : "kn_straight[kn_h][kn_j].at[kn_k]");
}

static void put_result(kn_writer *w, int k)
{
    const char *name = w->program->param[k].name, *type = kn_storage(w, k);
    kn_str_printf(&w->slot[KN_SLOT_LOADS], "%s *const kn_%s_to = (%s *)((char *)kn.%s_ + kn_here.at[%d]);\n",
                  type, name, type, name, kn_array_of(w, k));
    kn_str_printf(&w->slot[KN_SLOT_LOADS], "auto kn_%s_ = kn_load<%s, %d>(kn_%s_to);\n", name, type,
                  w->spec->schedule.vector, name);
    kn_str_printf(&w->slot[KN_SLOT_STORES], "kn_store(kn_%s_to, kn_%s_);\n", name, name);
}

static void fill_transpose_pairs(kn_writer *w)
{
    char index[128];
    int array = w->spec->n_arrays;
    kn_put_blocks(w, FULL_THREADS);
    kn_str_clear(&w->slot[KN_SLOT_PER_THREAD]);
    kn_str_printf(&w->slot[KN_SLOT_PER_THREAD], "%d", KN_TRANSPOSE_PAIRS_SIDE);
    for (int k = 0; k < kn_param_count(w); ++k) {
        if (kn_is_output(w, k) && kn_array_of(w, k) >= 0)
            put_result(w, k);
        if (kn_is_output(w, k) || kn_access_of(w, k) != KN_VECTOR)
            continue;
        kn_str_append(&w->slot[KN_SLOT_TYPE], kn_storage(w, k));
        kn_str_printf(&w->slot[KN_SLOT_STAGED_FROM],
                      "(const char *)kn.%s_ + kn_from.at[%d] + kn_j * kn_axis_q.stride[%d]",
                      w->program->param[k].name, kn_array_of(w, k), kn_array_of(w, k));
    }
    snprintf(index, sizeof index, "kn.start + kn_here.at[%d] + kn_k * kn_axis_p.stride[%d]", array, array);
    kn_put_call(w, &w->slot[KN_SLOT_LANE], place_lane, index);
}

const kn_recipe kn_recipe_transpose_pairs = {.template_name = "schedules/transpose/transpose_pairs.cu",
                                             .fill = fill_transpose_pairs};
