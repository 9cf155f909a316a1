/* schedule/spec.c - operands of a specialisation: numbers, dtypes and types in the generated source. */
#include "schedule/spec.h"

#include "types/dtype.h"

int kn_operands_settle(kn_operand *operand, int count)
{
    int arrays = 0;
    for (int k = 0; k < count; ++k) {
        kn_operand *o = &operand[k];
        o->array = o->pass == KN_PASS_ARRAY ? arrays++ : -1;
        if (o->seen == KILN_DTYPE_NONE)
            o->seen = o->dtype;
    }
    return arrays;
}

void kn_spec_access(kn_access *out, const kn_spec *spec)
{
    for (int k = 0; k < spec->program->n_in + spec->program->n_out; ++k)
        if (spec->operand[k].array >= 0)
            out[spec->operand[k].array] =
                (kn_access){.item_size = kn_dtype_info_of(spec->operand[k].dtype)->size,
                            .is_output = k >= spec->program->n_in};
}

const char *kn_spec_c_name(const kn_spec *spec, int k)
{
    return spec->operand[k].pass == KN_PASS_STRUCT ? spec->program->param[k].struct_name
                                                   : kn_dtype_info_of(spec->operand[k].seen)->c_name;
}

const char *kn_spec_constness(const kn_spec *spec, int k)
{
    return k >= spec->program->n_in || spec->program->param[k].is_non_const ? "" : "const ";
}

/* A placeholder is resolved by the first parameter that has it. */
static kiln_dtype declared_dtype(const kn_spec *spec, int value)
{
    const kn_param *p = &spec->program->param[value], *param = spec->program->param;
    if (p->type == KN_TYPE_STRUCT)
        return KILN_DTYPE_NONE;
    if (p->type == KN_TYPE_DTYPE)
        return p->dtype;
    int k = 0;
    while (param[k].type != KN_TYPE_PLACEHOLDER || param[k].placeholder != p->placeholder)
        ++k;
    return spec->operand[k].seen;
}

bool kn_spec_widens(const kn_spec *spec, int value)
{
    return spec->program->param[value].is_wide && kn_dtype_is_half(declared_dtype(spec, value));
}

kiln_dtype kn_spec_value_dtype(const kn_spec *spec, int value)
{
    return kn_spec_widens(spec, value) ? KILN_FLOAT32 : declared_dtype(spec, value);
}

static bool text_has_half(const char *text)
{
    static const char *const name[] = {"float16", "bfloat16", "__half", "__nv_bfloat16"};
    bool has = false;
    for (size_t k = 0; k < sizeof name / sizeof name[0]; ++k)
        has = has || kn_text_has_word(text, name[k]);
    return has;
}

bool kn_spec_rounds_each(const kn_spec *spec)
{
    const kn_program *p = spec->program;
    bool has_half = false;
    if (!(p->flags & KILN_KERNEL_ROUND_EACH))
        return false;
    for (int k = 0; k < p->n_in + p->n_out; ++k)
        has_half = has_half || kn_dtype_is_half(spec->operand[k].seen);
    for (int v = 0; v < p->n_values; ++v)
        has_half = has_half || kn_dtype_is_half(declared_dtype(spec, p->n_in + p->n_out + v));
    for (int t = 0; t < kn_program_texts(p) && !has_half; ++t)
        has_half = text_has_half(p->text[t]);
    return has_half;
}

int kn_spec_reduced_value(const kn_spec *spec)
{
    const kn_program *p = spec->program;
    for (int s = 0; s < p->n_stages; ++s)
        if (kn_stage_combines(p->stage[s].kind))
            return p->stage[s].value[p->stage[s].n_read];
    return -1;
}

bool kn_spec_combines_whole(const kn_spec *spec)
{
    int value = kn_spec_reduced_value(spec);
    kiln_dtype dtype = value < 0 ? KILN_DTYPE_NONE : kn_spec_value_dtype(spec, value);
    const kn_dtype_info *info = dtype == KILN_DTYPE_NONE ? NULL : kn_dtype_info_of(dtype);
    return info && (info->kind == KN_KIND_INT || info->kind == KN_KIND_UINT || info->kind == KN_KIND_BOOL);
}
