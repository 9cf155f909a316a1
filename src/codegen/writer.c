#include "codegen/writer.h"

#include <stdio.h>
#include <string.h>

bool kn_gathers(const kn_writer *w)
{
    return strchr(w->spec->schedule.access, KN_GATHER) != NULL;
}

bool kn_is_element_param(const kn_writer *w, int k)
{
    kn_pass pass = w->spec->operand[k].pass;
    return pass == KN_PASS_ARRAY || (pass != KN_PASS_RAW && w->program->param[k].is_non_const);
}

/* Booleans are read as bytes and normalised: a named bool goes in, and comes back as a byte. */
void kn_put_call(const kn_writer *w, kn_str *out, kn_place_writer place, const char *index)
{
    kn_str before = KN_STR_INIT, call = KN_STR_INIT, after = KN_STR_INIT;
    const char *separator = "";
    for (int k = 0; k < kn_param_count(w); ++k) {
        const char *name = w->program->param[k].name;
        bool is_array = w->array[k] >= 0;
        if (!kn_is_element_param(w, k))
            continue;
        kn_str_append(&call, separator);
        separator = ", ";
        if (!is_array) {
            kn_str_printf(&call, "kn.%s_%s", name, kn_is_bool(w, k) ? " != 0" : "");
        } else if (kn_is_output(w, k) && kn_is_bool(w, k)) {
            kn_str_printf(&before, "bool kn_%s_bit = ", name);
            place(w, &before, k);
            kn_str_append(&before, " != 0;\n");
            kn_str_printf(&call, "kn_%s_bit", name);
            place(w, &after, k);
            kn_str_printf(&after, " = kn_%s_bit;\n", name);
        } else {
            place(w, &call, k);
            kn_str_append(&call, kn_is_bool(w, k) ? " != 0" : "");
        }
    }
    if (w->program->uses & KN_USES_INDEX)
        kn_str_printf(&call, "%s%s", separator, index);
    kn_str_printf(out, "%skn_element(%s);\n%s", kn_str_text(&before), kn_str_text(&call),
                  kn_str_text(&after));
    out->failed = out->failed || before.failed || call.failed || after.failed;
    kn_str_free(&before);
    kn_str_free(&call);
    kn_str_free(&after);
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
                  w->program->param[k].name, w->array[k]);
}

void kn_put_single(kn_writer *w)
{
    char index[64];
    snprintf(index, sizeof index, "kn.start + kn_here.at[%d]", w->n_arrays);
    kn_put_call(w, &w->slot[KN_SLOT_SINGLE], kn_place_located, index);
}

void kn_put_blocks(kn_writer *w, int threads)
{
    int most = w->spec->target.threads_per_multiprocessor;
    kn_str_printf(&w->slot[KN_SLOT_BLOCKS], ", %d",
                  (threads < most ? threads : most) / w->spec->schedule.block);
}
