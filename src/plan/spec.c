#include "plan/spec.h"

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
