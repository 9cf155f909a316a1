/* Makes a program of an operation's variant: the texts of its row, with the dtypes of the variant filled
 * in. */
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "eager/operation.h"
#include "program/program.h"
#include "types/dtype.h"

/* Placeholders become types in front of the preamble, so that inputs of other dtypes are converted. */
static void put_types(kn_str *out, const kn_variant *v, const kn_param *param, const char *preamble)
{
    for (int k = 0; k < v->n_in + v->n_out; ++k) {
        int first = 0;
        while (param[first].type != param[k].type || param[first].placeholder != param[k].placeholder)
            ++first;
        if (param[k].type == KN_TYPE_PLACEHOLDER && first == k)
            kn_str_printf(out, "typedef %s %c;\n", kn_dtype_info_of(v->dtype[k])->c_name,
                          param[k].placeholder);
    }
    if (preamble && preamble[0])
        kn_str_printf(out, "#line 1\n%s", preamble);
}

static void put_signature(kn_str *out, const kn_variant *v, const kn_param *param, int first, int count)
{
    for (int k = first; k < first + count; ++k) {
        kn_param settled = param[k];
        settled.type = KN_TYPE_DTYPE;
        settled.dtype = v->dtype[k];
        kn_str_append(out, k > first ? ", " : "");
        kn_param_format(out, &settled);
    }
}

/* A reduce type that is a placeholder becomes its dtype: no parameter determines it any more. */
static const char *reduce_type_of(const kiln_operation *d, const kn_variant *v, const kn_param *param)
{
    for (int k = 0; d->reduce_type && k < v->n_in + v->n_out; ++k)
        if (param[k].type == KN_TYPE_PLACEHOLDER && d->reduce_type[0] == param[k].placeholder &&
            !d->reduce_type[1])
            return kiln_dtype_name(v->dtype[k]);
    return d->reduce_type;
}

kiln_status kn_operation_params(kn_param *param, int *n_in, int *n_out, const kiln_operation *d)
{
    *n_in = *n_out = 0;
    kiln_status status = kn_signature_parse(param, 0, KN_MAX_PARAMS, n_in, d->in_params, "input", NULL);
    if (status == KILN_OK)
        status = kn_signature_parse(param, *n_in, KN_MAX_PARAMS, n_out, d->out_params, "output", NULL);
    return status;
}

void kn_operation_put_options(kiln_kernel_options *out, const kiln_operation *d)
{
    out->flags = d->flags;
    out->compile_options = d->compile_options;
    out->n_compile_options = d->n_compile_options;
    out->header_names = d->header_names;
    out->header_texts = d->header_texts;
    out->n_headers = d->n_headers;
}

bool kn_operation_is_in_c_order(const kiln_operation *d)
{
    return kn_operation_traits_of(d) & KN_OP_IN_C_ORDER;
}

bool kn_operation_scans(const kiln_operation *d)
{
    return d->reduce && kn_operation_traits_of(d) & KN_OP_SCANS;
}

kn_bound kn_clip_bound(int k, kiln_dtype of)
{
    static const int sides[] = {0, -1, 1};
    return (kn_bound){k < (int)(sizeof sides / sizeof *sides) ? sides[k] : 0, of};
}

kn_bound kn_operation_bound(const kiln_operation *d, int k, kiln_dtype of)
{
    return kn_operation_traits_of(d) & KN_OP_BOUNDS ? kn_clip_bound(k, of) : (kn_bound){0, of};
}

static kiln_status make_program(kn_program **out, const kiln_operation *d, const kn_variant *v,
                                const kn_param *param)
{
    kn_str in = KN_STR_INIT, outs = KN_STR_INIT, preamble = KN_STR_INIT;
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    put_signature(&in, v, param, 0, v->n_in);
    put_signature(&outs, v, param, v->n_in, v->n_out);
    put_types(&preamble, v, param, d->preamble);
    o.preamble = kn_str_text(&preamble);
    o.reduce_type = reduce_type_of(d, v, param);
    o.loop_prep = d->loop_prep;
    o.after_loop = d->after_loop;
    kn_operation_put_options(&o, d);
    kiln_status status =
        in.failed || outs.failed || preamble.failed ? kn_error_memory("an operation's texts") : KILN_OK;
    if (status == KILN_OK)
        status = kn_operation_scans(d) ? kn_program_scan(out, kn_str_text(&in), kn_str_text(&outs), d->map,
                                                         d->reduce, d->post, d->identity, d->name, &o)
                 : d->reduce
                     ? kn_program_reduction(out, kn_str_text(&in), kn_str_text(&outs), d->map, d->reduce,
                                            d->post, d->identity, d->name, &o)
                     : kn_program_elementwise(out, kn_str_text(&in), kn_str_text(&outs), d->map, d->name, &o);
    if (status == KILN_OK)
        (*out)->casts = true;
    if (status == KILN_OK)
        (*out)->is_in_c_order = kn_operation_is_in_c_order(d);
    kn_str_free(&in);
    kn_str_free(&outs);
    kn_str_free(&preamble);
    return status;
}

kiln_status kn_operation_program(kn_program **out, const kiln_operation *d, const kn_variant *v)
{
    kn_param param[KN_MAX_PARAMS];
    int n_in, n_out;
    kiln_status status = kn_operation_params(param, &n_in, &n_out, d);
    return status == KILN_OK ? make_program(out, d, v, param) : status;
}
