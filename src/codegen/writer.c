/* writer.c - places of elements. */
#include "codegen/writer.h"

#include <stdio.h>
#include <string.h>

bool kn_gathers(const kn_writer *w)
{
    return strchr(w->spec->schedule.access, KN_GATHER) != NULL;
}

void kn_place_lane(const kn_writer *w, kn_str *out, int k)
{
    kn_str_printf(out, "kn_%s_.at[kn_k]", w->program->param[k].name);
}

void kn_place_flat(const kn_writer *w, kn_str *out, int k)
{
    kn_str_printf(out, w->is_cuda ? "kn.%s_[kn_at]" : "kn_%s_[kn_at]", w->program->param[k].name);
}

void kn_place_located(const kn_writer *w, kn_str *out, int k)
{
    const char *qualifier = kn_is_output(w, k) ? "" : "const ";
    kn_str_printf(out, "*(%s%s *)((%schar *)kn.%s_ + kn_here.at[%d])", qualifier, kn_storage(w, k), qualifier,
                  w->program->param[k].name, kn_array_of(w, k));
}

void kn_put_single(kn_writer *w)
{
    char index[64];
    snprintf(index, sizeof index, "kn.start + kn_here.at[%d]", w->spec->n_arrays);
    kn_put_call(w, &w->slot[KN_SLOT_SINGLE], kn_place_located, index);
}
