#include "plan/spec.h"

#include "types/dtype.h"

int kn_spec_count_arrays(const kn_spec *spec)
{
    int count = 0;
    for (int k = 0; k < spec->program->n_in + spec->program->n_out; ++k)
        count += spec->operand[k].pass == KN_PASS_ARRAY;
    return count;
}

int kn_spec_access(kn_access *out, const kn_spec *spec)
{
    int count = 0;
    for (int k = 0; k < spec->program->n_in + spec->program->n_out; ++k)
        if (spec->operand[k].pass == KN_PASS_ARRAY)
            out[count++] = (kn_access){.item_size = kn_dtype_info_of(spec->operand[k].dtype)->size,
                                       .is_output = k >= spec->program->n_in};
    return count;
}

const char *kn_spec_c_name(const kn_spec *spec, int k)
{
    return spec->operand[k].pass == KN_PASS_STRUCT ? spec->program->param[k].struct_name
                                                   : kn_dtype_info_of(spec->operand[k].dtype)->c_name;
}

const char *kn_spec_constness(const kn_spec *spec, int k)
{
    return k >= spec->program->n_in || spec->program->param[k].is_non_const ? "" : "const ";
}
