/* The dtypes of operations, casts and kernels of the user's. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/str.h"
#include "graph/computed_numbers.h"
#include "graph/constant_folding.h"
#include "graph/infer.h"
#include "graph/infer_parts.h"
#include "kernel/kernel.h"
#include "eager/operation.h"
#include "types/dtype.h"

static const kn_typed *read_by(const kn_inference *f, const kn_node *node, int k)
{
    return &f->typed[node->in[k]];
}

/* A weak number of the kind that matches the dtype. */
static kiln_arg one_of(kiln_dtype dtype)
{
    kn_dtype_kind kind = kn_dtype_info_of(dtype)->kind;
    return kind == KN_KIND_BOOL      ? kiln_arg_bool(true)
           : kind == KN_KIND_FLOAT   ? kiln_arg_float(1)
           : kind == KN_KIND_COMPLEX ? kiln_arg_complex(1, 0)
                                     : kiln_arg_int(1);
}

/* The stand-in of an input while dtypes are determined. For a weak number: its value, or a value that fits
 * the same dtypes, or one that fits its own dtype only. */
static kiln_arg argument_of(const kn_typed *in)
{
    kiln_arg arg = kiln_arg_none();
    arg.kind = in->is_scalar ? KILN_ARG_TYPED : KILN_ARG_ARRAY;
    arg.dtype = in->dtype;
    if (!in->is_weak)
        return arg;
    if (in->number.kind != KILN_ARG_NONE)
        return in->number;
    if (in->like.kind != KILN_ARG_NONE)
        return in->like;
    return in->dtype == KILN_UINT64  ? kiln_arg_uint(UINT64_MAX)
           : in->dtype == KILN_INT64 ? kiln_arg_int(INT64_MIN)
                                     : one_of(in->dtype);
}

/* Checks that a number fits the dtype that it is converted to, by an operation or by a kernel of the
 * user's. */
static kiln_status check_fits(const kn_inference *f, const kn_node *node, int k, kiln_dtype dtype)
{
    kiln_status (*const store)(void *out, kiln_dtype dtype, const kiln_arg *arg, const char *parameter) =
        node->kind == KN_NODE_KERNEL ? kn_scalar_store : kn_scalar_convert;
    unsigned char element[16];
    const kiln_arg *number = &read_by(f, node, k)->number;
    if (number->kind == KILN_ARG_NONE || store(element, dtype, number, KN_COMPUTED_NUMBER) == KILN_OK)
        return KILN_OK;
    return kn_graph_refuse_number(f->graph, node);
}

/* ---- numbers alone ---- */

static bool are_weak(const kn_inference *f, const kn_node *node)
{
    bool all = node->n_in > 0;
    for (int k = 0; k < node->n_in; ++k)
        all = all && read_by(f, node, k)->is_weak;
    return all;
}

static const char *fold_constant_numbers(kiln_arg *out, const kn_node *node, const kiln_arg *in)
{
    return node->kind == KN_NODE_CAST ? kn_constant_fold_cast(out, node->dtype, in)
                                      : kn_constant_fold(out, node->name, in, node->n_in);
}

/* A number that only this call knows. If launches are given it, the call's key has its class. */
static void set_given(kn_typed *out, const kn_inference *f, const kn_node *node, const kiln_arg *number)
{
    const kn_computed_numbers *c = f->graph->computed;
    int of = c ? c->of_node[node - f->graph->node] : -1;
    if (of < 0 || c->number[of].is_pinned) {
        out->number = *number;
        out->is_of_call = true;
        return;
    }
    out->from = f->graph->n_in + of;
    if (number->kind == KILN_ARG_WEAK_INT || number->kind == KILN_ARG_WEAK_UINT)
        out->like = kn_weak_of_class(kn_weak_class(number));
}

/* For an unknown number Python's rules are applied to ones: they refuse some kinds of numbers. */
static kiln_status fold_constants(kn_typed *out, const kn_inference *f, const kn_node *node)
{
    kiln_arg in[2], result;
    bool is_known = true, is_given = true;
    for (int k = 0; k < node->n_in && k < 2; ++k) {
        const kn_typed *from = read_by(f, node, k);
        is_known = is_known && from->number.kind != KILN_ARG_NONE && !from->is_of_call;
        is_given = is_given && from->given.kind != KILN_ARG_NONE;
    }
    for (int k = 0; k < node->n_in && k < 2; ++k)
        in[k] = is_given ? read_by(f, node, k)->given : one_of(read_by(f, node, k)->dtype);
    const char *why = fold_constant_numbers(&result, node, in);
    if (why)
        return kn_graph_error(f->graph, node, KILN_ERROR_INVALID, "there is no number for %s", why);
    if (!is_given || result.kind == KILN_ARG_NONE)
        return KILN_OK;
    out->given = result;
    out->dtype = kn_weak_dtype(&result);
    if (is_known)
        out->number = result;
    else
        set_given(out, f, node, &result);
    return KILN_OK;
}

static bool is_below_zero(const kiln_arg *number)
{
    return number->kind == KILN_ARG_WEAK_INT && number->value.i < 0;
}

/* The dtypes of Python's arithmetic: booleans are whole numbers, except in comparisons and bit operations. */
static void weak_dtypes(kiln_dtype *dtype, const kn_inference *f, const kn_node *node)
{
    bool any_uint = false, all_bool = true;
    bool is_bitwise = strncmp(node->name, "bitwise_", 8) == 0;
    for (int k = 0; k < node->n_in; ++k) {
        dtype[k] = read_by(f, node, k)->dtype;
        any_uint = any_uint || dtype[k] == KILN_UINT64;
        all_bool = all_bool && dtype[k] == KILN_BOOL;
    }
    bool is_root = strcmp(node->name, "power") == 0 && is_below_zero(&read_by(f, node, 1)->number);
    for (int k = 0; k < node->n_in; ++k) {
        if (dtype[k] == KILN_BOOL && !(is_bitwise && all_bool))
            dtype[k] = KILN_INT64;
        if (is_root && (dtype[k] == KILN_INT64 || dtype[k] == KILN_UINT64)) /* 2 ** -1 is 0.5 */
            dtype[k] = KILN_FLOAT64;
        if (dtype[k] == KILN_INT64 && any_uint)
            dtype[k] = KILN_UINT64;
    }
}

/* ---- operations ---- */

static kiln_status refuse_dtypes(const kn_inference *f, const kn_node *node, const kiln_dtype *dtype)
{
    kn_str text = KN_STR_INIT;
    bool is_xor = strcmp(node->name, "bitwise_xor") == 0;
    kn_dtypes_format(&text, dtype, node->n_in);
    if (node->dtype)
        kn_str_printf(&text, " for results of %s, with casting '%s'", kiln_dtype_name(node->dtype),
                      kn_casting_name(node->casting));
    kiln_status status =
        kn_graph_error(f->graph, node, KILN_ERROR_TYPE, "%s: no variant takes %s%s", node->name,
                       kn_str_text(&text), is_xor ? "; x ^ y is of bits, and a power is x**y" : "");
    kn_str_free(&text);
    return status;
}

/* Refuses an array for a parameter that has one value per result. */
static kiln_status check_scalars(const kn_typed *out, const kn_inference *f, const kn_node *node)
{
    kn_param param[KN_MAX_PARAMS];
    int n_in, n_out;
    const kiln_operation *d = out->definition;
    if (!d->reduce || node->n_in < 2)
        return KILN_OK;
    kiln_status status = kn_operation_params(param, &n_in, &n_out, d);
    for (int k = 0; k < node->n_in && status == KILN_OK; ++k)
        if (!read_by(f, node, k)->is_scalar && !kn_text_has_word(d->map, param[k].name) &&
            kn_text_has_word(d->post, param[k].name))
            status = kn_graph_error(
                f->graph, node, KILN_ERROR_TYPE,
                "%s: '%s' is one number for a whole result: a number was expected, an array was "
                "given",
                d->name, param[k].name);
    return status;
}

/* NumPy's casting of inputs to the dtypes in which an operation computes. A number that is taken for a truth
 * value has been chosen for. */
static kiln_status check_casting(const kn_typed *out, const kn_inference *f, const kn_node *node)
{
    for (int k = 0; k < node->n_in; ++k) {
        const kn_typed *in = read_by(f, node, k);
        const bool is_truth = in->is_weak && out->variant.dtype[k] == KILN_BOOL;
        if (!is_truth && !kn_dtype_casts(in->dtype, out->variant.dtype[k], node->casting, in->is_weak))
            return kn_graph_error(f->graph, node, KILN_ERROR_TYPE,
                                  "%s: input %d is %s, which casting '%s' does not make %s", node->name, k,
                                  kiln_dtype_name(in->dtype), kn_casting_name(node->casting),
                                  kiln_dtype_name(out->variant.dtype[k]));
    }
    return KILN_OK;
}

static const kiln_operation *choose(kn_variant *variant, kiln_dtype *dtype, const kn_node *node,
                                    const kiln_arg *arg, const kiln_dtype *array)
{
    return node->dtype ? kn_operation_choose_result(variant, dtype, node->name, arg, array, node->n_in,
                                                    node->dtype, node->casting)
                       : kn_operation_choose(variant, dtype, node->name, arg, array, node->n_in);
}

kiln_status kn_infer_call(kn_typed *out, const kn_inference *f, const kn_node *node)
{
    kiln_arg arg[KN_MAX_PARAMS];
    kiln_dtype array[KN_MAX_PARAMS], dtype[KN_MAX_PARAMS];
    kiln_status status = KILN_OK;
    for (int k = 0; k < node->n_in; ++k) {
        arg[k] = argument_of(read_by(f, node, k));
        array[k] = read_by(f, node, k)->dtype;
    }
    out->is_weak = node->is_operator && are_weak(f, node);
    if (out->is_weak)
        weak_dtypes(dtype, f, node);
    kn_lock_take(KN_LOCK_OPERATIONS);
    out->definition = out->is_weak ? kn_operation_find(&out->variant, node->name, dtype, node->n_in)
                                   : choose(&out->variant, dtype, node, arg, array);
    kn_lock_give(KN_LOCK_OPERATIONS);
    if (!out->definition || !out->definition->map || node->index >= out->variant.n_out)
        return refuse_dtypes(f, node, dtype);
    out->dtype = out->variant.dtype[node->n_in + node->index];
    out->scans = kn_operation_scans(out->definition);
    out->is_reduction = out->definition->reduce && !out->scans;
    if (out->is_weak)
        return fold_constants(out, f, node);
    status = check_casting(out, f, node);
    for (int k = 0; k < node->n_in && status == KILN_OK; ++k)
        if (!kn_bound_is_open(kn_operation_bound(out->definition, k, dtype[0]), &read_by(f, node, k)->number))
            status = check_fits(f, node, k, out->variant.dtype[k]);
    return status == KILN_OK ? check_scalars(out, f, node) : status;
}

/* ---- casts ---- */

/* NumPy's conversion of a Python number: it refuses whole numbers that are too large, and complex numbers
 * for real dtypes. */
static kiln_status check_cast(const kn_inference *f, const kn_node *node, kiln_dtype dtype)
{
    const kn_typed *in = read_by(f, node, 0);
    kn_dtype_kind kind = kn_dtype_info_of(dtype)->kind;
    bool is_whole = in->dtype == KILN_INT64 || in->dtype == KILN_UINT64;
    if (!kn_dtype_casts(in->dtype, dtype, node->casting, in->is_weak))
        return kn_graph_error(f->graph, node, KILN_ERROR_TYPE, "what is %s is not made %s: casting is '%s'",
                              kiln_dtype_name(in->dtype), kiln_dtype_name(dtype),
                              kn_casting_name(node->casting));
    if (in->is_weak && is_whole && (kind == KN_KIND_INT || kind == KN_KIND_UINT))
        return check_fits(f, node, 0, dtype);
    if (in->is_weak && in->dtype == KILN_COMPLEX128 && kind != KN_KIND_COMPLEX && kind != KN_KIND_BOOL)
        return kn_graph_error(f->graph, node, KILN_ERROR_TYPE,
                              "a complex number was given, but %s is real; abs() is its size",
                              kiln_dtype_name(dtype));
    return KILN_OK;
}

kiln_status kn_infer_cast(kn_typed *out, const kn_inference *f, const kn_node *node)
{
    out->dtype = node->dtype;
    out->is_weak = node->is_operator && read_by(f, node, 0)->is_scalar;
    if (!out->is_weak)
        return check_cast(f, node, node->dtype);
    return fold_constants(out, f, node);
}

/* The common dtype of in[1] and those behind it, as numpy.result_type finds it. */
static kiln_dtype common_dtype(const kn_inference *f, const kn_node *node)
{
    kiln_arg arg[KN_MAX_PARAMS];
    kiln_dtype dtype[KN_MAX_PARAMS];
    for (int k = 1; k < node->n_in; ++k) {
        arg[k - 1] = argument_of(read_by(f, node, k));
        dtype[k - 1] = read_by(f, node, k)->dtype;
    }
    if (node->index == KN_LIKE_ALL)
        kn_argument_dtypes(dtype, arg, dtype, node->n_in - 1);
    return kn_promote_all(dtype, sizeof *dtype, node->n_in - 1);
}

kiln_status kn_infer_like(kn_typed *out, const kn_inference *f, const kn_node *node)
{
    out->dtype = node->dtype       ? node->dtype
                 : node->index < 0 ? common_dtype(f, node)
                                   : read_by(f, node, node->index)->dtype;
    return check_cast(f, node, out->dtype);
}

/* ---- kernels of the user's: as kn_bind settles their parameters ---- */

typedef struct letters {
    kiln_dtype dtype[26];
    const char *by[26];
} letters;

static kiln_status bind_array(letters *l, const kn_inference *f, const kn_node *node, int k)
{
    const kn_program *p = node->kernel->program;
    const kn_param *param = &p->param[k];
    kiln_dtype dtype = read_by(f, node, k)->dtype;
    if (param->type == KN_TYPE_DTYPE)
        return dtype == param->dtype
                   ? KILN_OK
                   : kn_graph_error(f->graph, node, KILN_ERROR_TYPE,
                                    "%s: '%s' is declared %s, but is given %s here; cast it: x.astype(%s)",
                                    p->name, param->name, kiln_dtype_name(param->dtype),
                                    kiln_dtype_name(dtype), kiln_dtype_name(param->dtype));
    int c = param->placeholder - 'A';
    if (l->by[c] && l->dtype[c] != dtype)
        return kn_graph_error(f->graph, node, KILN_ERROR_TYPE, "%s: type %c is %s by '%s' but %s by '%s'",
                              p->name, param->placeholder, kiln_dtype_name(l->dtype[c]), l->by[c],
                              kiln_dtype_name(dtype), param->name);
    l->dtype[c] = dtype;
    l->by[c] = param->name;
    return KILN_OK;
}

static void bind_scalars(letters *l, const kn_inference *f, const kn_node *node)
{
    const kn_program *p = node->kernel->program;
    kiln_arg arg[KN_MAX_PARAMS];
    uint64_t scalars[26] = {0};
    for (int k = 0; k < node->n_in; ++k) {
        arg[k] = argument_of(read_by(f, node, k));
        if (arg[k].kind != KILN_ARG_ARRAY && p->param[k].type == KN_TYPE_PLACEHOLDER)
            scalars[p->param[k].placeholder - 'A'] |= UINT64_C(1) << k;
    }
    for (int c = 0; c < 26; ++c)
        if (scalars[c] && !l->by[c])
            l->dtype[c] = kn_promote_scalars(arg, scalars[c], node->n_in);
}

/* Raw parameters say nothing about the number of elements, and numbers do not either, but for an index, which
 * is one. */
static kiln_status check_raw(const kn_inference *f, const kn_node *node)
{
    const kn_program *p = node->kernel->program;
    bool any_raw = false, is_said = false;
    for (int k = 0; k < p->n_in + p->n_out; ++k) {
        any_raw |= p->param[k].is_raw;
        is_said |= k < p->n_in && !p->param[k].is_raw &&
                   (!read_by(f, node, k)->is_scalar || node->kernel->whole_inputs >> k & 1);
        if (k < p->n_in && read_by(f, node, k)->is_scalar && p->indexed >> k & 1)
            return kn_graph_error(f->graph, node, KILN_ERROR_TYPE,
                                  "%s: '%s' is raw, and the texts index it: an array was expected, a number "
                                  "was given",
                                  p->name, p->param[k].name);
    }
    return !any_raw || is_said ? KILN_OK
                               : kn_graph_error(f->graph, node, KILN_ERROR_INVALID,
                                                "%s: every array is raw, and nothing says how many elements "
                                                "there are: one that is not was expected",
                                                p->name);
}

/* Checks a number for a parameter: it must fit, or have a dtype that can be cast safely. */
static kiln_status check_scalar(const kn_inference *f, const kn_node *node, int k, kiln_dtype dtype)
{
    const kn_typed *in = read_by(f, node, k);
    if (in->is_weak && in->number.kind != KILN_ARG_NONE)
        return check_fits(f, node, k, dtype);
    if (in->is_weak || kiln_dtype_can_cast(in->dtype, dtype))
        return KILN_OK;
    return kn_graph_error(f->graph, node, KILN_ERROR_TYPE,
                          "%s: '%s': a number of %s was given, which does not convert safely to %s",
                          node->kernel->program->name, node->kernel->program->param[k].name,
                          kiln_dtype_name(in->dtype), kiln_dtype_name(dtype));
}

static kiln_status settle_params(kn_typed *out, const letters *l, const kn_inference *f, const kn_node *node)
{
    const kn_program *p = node->kernel->program;
    for (int k = 0; k < p->n_in + p->n_out; ++k) {
        const kn_param *param = &p->param[k];
        out->param[k] = param->type == KN_TYPE_DTYPE ? param->dtype : l->dtype[param->placeholder - 'A'];
        if (!out->param[k])
            return kn_graph_error(f->graph, node, KILN_ERROR_TYPE,
                                  "%s: output '%s': no argument settles type %c", p->name, param->name,
                                  param->placeholder);
        kiln_status status =
            k < p->n_in && read_by(f, node, k)->is_scalar ? check_scalar(f, node, k, out->param[k]) : KILN_OK;
        if (status != KILN_OK)
            return status;
    }
    return KILN_OK;
}

/* Inputs that are indices. */
static kiln_status check_whole(const kn_inference *f, const kn_node *node)
{
    const kn_program *p = node->kernel->program;
    for (int k = 0; k < node->n_in; ++k) {
        const kiln_dtype dtype = read_by(f, node, k)->dtype;
        if (node->kernel->whole_inputs >> k & 1 && kn_dtype_info_of(dtype)->kind > KN_KIND_UINT)
            return kn_graph_error(f->graph, node, KILN_ERROR_TYPE,
                                  "%s: '%s' is %s here; integers or truth values were expected", p->name,
                                  p->param[k].name, kiln_dtype_name(dtype));
    }
    return KILN_OK;
}

kiln_status kn_infer_kernel(kn_typed *out, const kn_inference *f, const kn_node *node)
{
    const kn_program *p = node->kernel->program;
    letters l;
    memset(&l, 0, sizeof l);
    kiln_status status = check_whole(f, node);
    if (status == KILN_OK)
        status = check_raw(f, node);
    for (int k = 0; k < node->n_in && status == KILN_OK; ++k)
        if (!read_by(f, node, k)->is_scalar)
            status = bind_array(&l, f, node, k);
    if (status == KILN_OK)
        bind_scalars(&l, f, node);
    if (status == KILN_OK)
        status = settle_params(out, &l, f, node);
    out->dtype = out->param[p->n_in + node->index];
    out->scans = kn_program_scans(p);
    out->is_reduction = p->reduced == KN_REDUCED_BY_CALL && !out->scans;
    return status;
}

/* ---- kernels that have an algorithm, which describes their results ---- */

kiln_status kn_graph_describe(kn_described *out, const kn_graph *graph, const kn_typed *typed,
                              const kn_node *node, int j)
{
    size_t bytes = ((size_t)node->n_in + 1) * sizeof *out;
    kn_described *in = kn_calloc(1, bytes);
    if (!in)
        return kn_error_memory("the types of an expression");
    for (int k = 0; k < node->n_in; ++k) {
        const kn_typed *from = &typed[node->in[k]];
        in[k].dtype = from->dtype;
        in[k].ndim = from->ndim;
        in[k].is_number = from->is_scalar;
        if (from->ndim > 0)
            memcpy(in[k].shape, from->shape, (size_t)from->ndim * sizeof *from->shape);
    }
    memset(out, 0, sizeof *out);
    kiln_status status = node->kernel->algorithm->describe(out, node->kernel->context, j, in);
    kn_free(in);
    if (status == KILN_OK || status == KILN_ERROR_MEMORY)
        return status;
    char message[400];
    snprintf(message, sizeof message, "%s", kiln_error_message());
    return kn_graph_error(graph, node, status, "%s", message);
}

kiln_status kn_infer_algorithm(kn_typed *out, kn_inference *f, const kn_node *node)
{
    kn_described result;
    const kn_program *p = node->kernel->program;
    if (!node->kernel->algorithm->describe)
        return kn_graph_error(f->graph, node, KILN_ERROR_UNSUPPORTED,
                              "%s: calls alone say what its results are, so that no expression has it",
                              p->name);
    for (int k = 0; k < p->n_in; ++k)
        out->param[k] = read_by(f, node, k)->dtype;
    for (int j = 0; j < p->n_out; ++j) {
        kiln_status status = kn_graph_describe(&result, f->graph, f->typed, node, j);
        if (status != KILN_OK)
            return status;
        out->param[p->n_in + j] = result.dtype;
        if (j != node->index)
            continue;
        out->is_late = result.is_late;
        f->ndim = result.ndim;
        if (f->ndim > 0)
            memcpy(f->shape, result.shape, (size_t)f->ndim * sizeof *f->shape);
    }
    out->dtype = out->param[p->n_in + node->index];
    return KILN_OK;
}

bool kn_infer_has_identity(const kn_typed *typed, const kn_node *node)
{
    bool has = true;
    if (node->kind == KN_NODE_CALL)
        return typed->definition->identity != NULL;
    for (int s = 0; s < node->kernel->program->n_stages; ++s)
        if (node->kernel->program->stage[s].kind == KN_REDUCE)
            has = has && node->kernel->program->stage[s].identity[0];
    return has;
}
