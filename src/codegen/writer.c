/* writer.c - places of elements, and names and types of values. */
#include "codegen/writer.h"

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

void kn_put_type(const kn_writer *w, kn_str *out, int value)
{
    const kn_param *p = &w->program->param[value];
    if (value < kn_param_count(w))
        kn_str_append(out, kn_spec_c_name(w->spec, value));
    else if (p->type == KN_TYPE_STRUCT)
        kn_str_append(out, p->struct_name);
    else if (p->type == KN_TYPE_PLACEHOLDER && !kn_spec_widens(w->spec, value))
        kn_str_append_n(out, &p->placeholder, 1);
    else
        kn_str_append(out, kn_dtype_info_of(kn_spec_value_dtype(w->spec, value))->c_name);
}

void kn_put_value(const kn_writer *w, kn_str *out, int value)
{
    kn_str_printf(out, "kn_value_%s", kn_value_name(&w->program->param[value]));
}
