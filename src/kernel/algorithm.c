/* Algorithms: their kernels, and the lowering of calls. */
#include "kernel/algorithm.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "program/program.h"
#include "space/shape.h"
#include "types/dtype.h"

/* ---- kernels ---- */

kiln_status kn_prototype_create(kn_program **out, const char *name, const char *const *in, int n_in,
                                const char *const *outs, int n_out)
{
    size_t n_params = (size_t)n_in + (size_t)n_out;
    kn_program *p = kn_calloc(1, sizeof *p);
    if (!p)
        return kn_error_memory("a prototype");
    p->name = kn_strdup(name);
    p->param = kn_calloc(n_params, sizeof *p->param);
    p->text = kn_calloc(KN_TEXT_STAGE, sizeof *p->text);
    p->preamble = kn_strdup("");
    p->loop_prep = kn_strdup("");
    p->after_loop = kn_strdup("");
    if (!p->name || !p->param || !p->text || !p->preamble || !p->loop_prep || !p->after_loop) {
        kn_program_free(p);
        return kn_error_memory("a prototype");
    }
    for (int t = 0; t < KN_TEXT_STAGE; ++t)
        p->text[t] = "";
    p->n_in = n_in;
    p->n_out = n_out;
    for (int k = 0; k < n_in + n_out; ++k) {
        const char *own = k < n_in ? in[k] : outs[k - n_in];
        memcpy(p->param[k].name, own, strnlen(own, KN_NAME_MAX - 1));
    }
    *out = p;
    return KILN_OK;
}

kiln_status kn_kernel_create_algorithm(kiln_kernel **out, kn_program *prototype,
                                       const kn_algorithm *algorithm, void *context)
{
    kiln_kernel *kernel = NULL;
    kiln_status status = kn_kernel_create(&kernel, prototype);
    if (status != KILN_OK) {
        if (algorithm->free)
            algorithm->free(context);
        return status;
    }
    kernel->algorithm = algorithm;
    kernel->context = context;
    if (algorithm->count)
        algorithm->count(&kernel->n_computed, &kernel->n_words, context);
    *out = kernel;
    return KILN_OK;
}

/* ---- results that are described ---- */

void kn_describe_arguments(kn_described *out, const kiln_arg *in, int n_in)
{
    for (int k = 0; k < n_in; ++k) {
        const kiln_array *a = in[k].kind == KILN_ARG_ARRAY ? in[k].value.array : NULL;
        out[k].is_number = !a;
        out[k].is_late = out[k].takes_any = false;
        out[k].late_axis = 0;
        out[k].dtype = kn_argument_dtype(&in[k]);
        out[k].ndim = a ? a->ndim : 0;
        if (a)
            memcpy(out[k].shape, a->shape, (size_t)a->ndim * sizeof *a->shape);
    }
}

kiln_status kn_describe_elements(int *ndim, int64_t *shape, const kn_program *p, const kn_described *in,
                                 const char *purpose)
{
    bool has_array = false;
    *ndim = 0;
    for (int k = 0; k < p->n_in; ++k) {
        if (in[k].is_number || p->param[k].is_raw)
            continue;
        has_array = true;
        if (!kn_shape_broadcast(ndim, shape, in[k].ndim, in[k].shape))
            return kn_error(KILN_ERROR_SHAPE, "%s: '%s' does not broadcast against the arguments before it",
                            p->name, p->param[k].name);
    }
    return has_array ? KILN_OK
                     : kn_error(KILN_ERROR_INVALID, "%s: no input is an array; there is nothing to %s",
                                p->name, purpose);
}

kiln_status kn_describe_check_inputs(const kn_program *p, const kn_described *in)
{
    for (int k = 0; k < p->n_in; ++k) {
        kiln_dtype expected = kn_described_dtype(p, &p->param[k], in);
        if (!in[k].is_number && in[k].dtype != expected)
            return kn_error(KILN_ERROR_TYPE, "%s: '%s' is %s here, but an array of %s was given", p->name,
                            p->param[k].name, kiln_dtype_name(expected), kiln_dtype_name(in[k].dtype));
    }
    return KILN_OK;
}

/* Options that the algorithm itself determines. */
static kiln_status check_options(const char *name, bool takes_axes, const kiln_call_options *o)
{
    const char *given = o->axes && !takes_axes          ? "axes"
                        : o->flags & KILN_CALL_KEEPDIMS ? "flags: KILN_CALL_KEEPDIMS"
                        : o->size > 0                   ? "size"
                        : o->shape                      ? "shape"
                                                        : NULL;
    return given ? kn_error(KILN_ERROR_INVALID,
                            "%s: options.%s was given, but the kernel says its axes and shapes itself", name,
                            given)
                 : KILN_OK;
}

static kiln_status check_output(const kn_program *p, int j, const kn_described *result,
                                const kiln_array *given)
{
    const char *name = p->param[p->n_in + j].name;
    if (given->dtype != result->dtype)
        return kn_error(KILN_ERROR_TYPE, "%s: output '%s' is an array of %s, but the result is %s", p->name,
                        name, kiln_dtype_name(given->dtype), kiln_dtype_name(result->dtype));
    bool fits = given->ndim == result->ndim;
    for (int a = 0; a < given->ndim && fits; ++a)
        fits = given->shape[a] == result->shape[a] || (a == result->late_axis && result->takes_any);
    if (fits)
        return KILN_OK;
    kn_str own = KN_STR_INIT, other = KN_STR_INIT;
    kn_shape_format(&own, result->ndim, result->shape);
    kn_shape_format(&other, given->ndim, given->shape);
    kiln_status status =
        kn_error(KILN_ERROR_SHAPE, "%s: output '%s' has shape %s, but the result has %s%s", p->name, name,
                 kn_str_text(&other), result->is_late ? "at most " : "", kn_str_text(&own));
    kn_str_free(&own);
    kn_str_free(&other);
    return status;
}

/* The layouts of all results, C-ordered, with their extents behind them in the same block. */
static kiln_status set_layouts(kn_lowered *out, const kn_described *result, int n_out)
{
    size_t extents = 0;
    for (int j = 0; j < n_out; ++j)
        extents += 2 * (size_t)result[j].ndim;
    out->layout = kn_calloc(1, (size_t)n_out * sizeof *out->layout + (extents + 1) * sizeof(int64_t));
    if (!out->layout)
        return kn_error_memory("the results of a call");
    int64_t *at = (int64_t *)(void *)(out->layout + n_out);
    for (int j = 0; j < n_out; at += 2 * result[j++].ndim) {
        const kn_described *r = &result[j];
        kiln_status status = kn_array_check_shape(r->dtype, r->ndim, r->shape);
        if (status != KILN_OK)
            return status;
        if (r->ndim > 0)
            memcpy(at, r->shape, (size_t)r->ndim * sizeof *at);
        kn_shape_new_strides(r->ndim, r->shape, (int64_t)kiln_dtype_size(r->dtype), at + r->ndim);
        kn_array_layout_make(&out->layout[j], r->dtype, r->ndim, at);
    }
    return KILN_OK;
}

static kiln_status describe_results(kn_lowered *out, const kiln_kernel *kernel, const kn_lowering_call *call)
{
    const kn_program *p = kernel->program;
    size_t count = (size_t)p->n_in + (size_t)p->n_out;
    kn_described *all = kn_calloc(count, sizeof *all);
    if (!all)
        return kn_error_memory("the results of a call");
    kiln_status status = KILN_OK;
    kn_describe_arguments(all, call->in, p->n_in);
    for (int j = 0; j < p->n_out && status == KILN_OK; ++j) {
        kn_described *result = &all[p->n_in + j];
        status = kernel->algorithm->describe(result, kernel->context, j, all);
        if (status == KILN_OK && call->out && call->out[j])
            status = check_output(p, j, result, call->out[j]);
    }
    if (status == KILN_OK)
        status = set_layouts(out, all + p->n_in, p->n_out);
    kn_free(all);
    return status;
}

/* ---- algorithms that call others ---- */

/* The source of the outer call that a source of an inner algorithm's call corresponds to. */
static kn_source outer_source(const kn_source *inner, const kn_lowered_part *part, int first_buffer)
{
    kn_source s = *inner;
    if (s.kind == KN_FROM_BUFFER) {
        s.index += first_buffer;
    } else if (s.kind == KN_FROM_INPUT || s.kind == KN_FROM_OUTPUT) {
        s = part->source[s.kind == KN_FROM_INPUT ? s.index : part->program->n_in + s.index];
        s.shift += inner->shift;
    }
    return s;
}

/* Calls of a kernel compute numbers of the given ones, but an inner kernel is not called. */
static kiln_status refuse_computed(const kn_lowered_part *part)
{
    return kn_error(KILN_ERROR_UNSUPPORTED,
                    "%s computes numbers of those that it is given, which a step of another kernel cannot",
                    part->program->name);
}

/* Inner parts become the outer's: they leave the inner list. */
static kiln_status take_parts(kn_lowered *out, kn_lowered *inner, const kn_lowered_part *part)
{
    int first = out->n_buffers;
    kiln_status status = KILN_OK;
    for (int b = 0, number; b < inner->n_buffers && status == KILN_OK; ++b) {
        status = kn_lowered_add_buffer(&number, out, inner->buffer[b].size);
        if (status == KILN_OK)
            out->buffer[number].is_zeroed = inner->buffer[b].is_zeroed;
    }
    for (int p = 0; p < inner->n_parts && status == KILN_OK; ++p) {
        kn_lowered_part *to, *from = &inner->part[p];
        status = kn_lowered_add_part(&to, out);
        if (status != KILN_OK)
            return status;
        *to = *from;
        memset(from, 0, sizeof *from);
        to->is_inner = true;
        for (int k = 0; k < kn_lowered_params(to); ++k) {
            if (to->source[k].kind == KN_FROM_COMPUTED)
                return refuse_computed(part);
            to->source[k] = outer_source(&to->source[k], part, first);
        }
    }
    for (int j = 0; j < part->program->n_out && status == KILN_OK; ++j) {
        const kn_source *to = &part->source[part->program->n_in + j];
        if (inner->late[j].is_late && to->kind == KN_FROM_OUTPUT)
            out->late[to->index] =
                (kn_late){true, outer_source(&inner->late[j].count, part, first), inner->late[j].axis};
    }
    return status;
}

static kiln_status lower_part(kn_lowered *out, const kn_lowered_part *part, const kn_lowering_call *call)
{
    kiln_arg in[KN_MAX_PARAMS] = {{0}};
    const kn_program *p = part->program;
    for (int k = 0; k < p->n_in; ++k) {
        in[k] = part->source[k].number; /* only the dtype of a given number is known */
        if (part->source[k].kind != KN_FROM_NUMBER) {
            if (!part->binding.array[k] && part->kernel->n_words > 0)
                return refuse_computed(part);
            in[k] = kiln_arg_none();
            in[k].kind = KILN_ARG_TYPED;
            in[k].dtype = (uint8_t)part->binding.operand[k].dtype;
        }
        if (part->binding.array[k])
            in[k] = kiln_arg_array(part->binding.array[k]);
    }
    const kn_lowering_call inner_call = {
        part->binding.array + p->n_in, in, &part->options, call->device, call->target, false, call->is_quick};
    kn_lowered inner;
    memset(&inner, 0, sizeof inner);
    kiln_status status = kn_lower_call(&inner, part->kernel, &inner_call);
    if (status == KILN_OK && inner.apart.first)
        status =
            kn_error(KILN_ERROR_UNSUPPORTED,
                     "%s: the number of elements of what it computes with is known only when a part of it "
                     "has run",
                     p->name);
    if (status == KILN_OK)
        status = take_parts(out, &inner, part);
    out->has_quick = out->has_quick || inner.has_quick;
    kn_str_append(&out->explanation, kn_str_text(&inner.explanation));
    if (status == KILN_OK)
        status = kn_str_status(&out->explanation, "a lowered call");
    kn_lowered_free(&inner);
    return status;
}

static bool has_algorithm(const kn_lowered_part *part)
{
    return part->kernel && part->kernel->algorithm;
}

/* Parts that call algorithms are replaced by the parts of these. */
static kiln_status lower_inner(kn_lowered *l, const kn_lowering_call *call)
{
    kn_lowered_part *part = l->part;
    int n_parts = l->n_parts, p = 0;
    bool any = false;
    for (int k = 0; k < n_parts; ++k)
        any = any || has_algorithm(&part[k]);
    if (!any)
        return KILN_OK;
    kiln_status status = KILN_OK;
    l->part = NULL;
    l->n_parts = 0;
    for (; p < n_parts && status == KILN_OK; ++p) {
        kn_lowered_part *to;
        bool is_inner = has_algorithm(&part[p]);
        status = is_inner ? lower_part(l, &part[p], call) : kn_lowered_add_part(&to, l);
        if (is_inner || status != KILN_OK)
            kn_lowered_free_part(&part[p]);
        else
            *to = part[p];
    }
    for (; p < n_parts; ++p)
        kn_lowered_free_part(&part[p]);
    kn_free(part);
    return status;
}

/* The first and the last step that uses each buffer. */
static void find_lifetimes(kn_lowered *l, int n_out)
{
    for (int b = 0; b < l->n_buffers; ++b)
        l->buffer[b].first = l->buffer[b].last = -1;
    for (int p = 0; p < l->n_parts; ++p)
        for (int k = 0; k < kn_lowered_params(&l->part[p]); ++k) {
            const kn_source *s = &l->part[p].source[k];
            if (s->kind != KN_FROM_BUFFER)
                continue;
            kn_buffer *b = &l->buffer[s->index];
            b->first = b->first < 0 ? p : b->first;
            b->last = p;
        }
    for (int j = 0; j < n_out; ++j) /* read when all steps are queued */
        if (l->late[j].is_late && l->late[j].count.kind == KN_FROM_BUFFER)
            l->buffer[l->late[j].count.index].last = l->n_parts;
    for (int b = 0; b < l->n_buffers; ++b)
        if (l->buffer[b].first < 0)
            l->buffer[b] = (kn_buffer){.size = 0}; /* unused */
}

static void settle(kn_lowered_part *part)
{
    if (part->options.shape)
        part->options.shape = part->shape; /* the part may have moved */
    if (part->program)
        part->binding.n_arrays = kn_operands_settle(part->binding.operand, kn_lowered_params(part));
}

/* The lines about an expression stand in front of those about its algorithms. */
static kiln_status explain(kn_lowered *out)
{
    const kn_moved *m = &out->moved;
    kn_str text = KN_STR_INIT;
    if (m->n_kernels == 0)
        return KILN_OK;
    kn_str_printf(&text, "# %d kernel%s: %.0f bytes are moved, %.0f by a kernel for each operation\n",
                  m->n_kernels, m->n_kernels == 1 ? "" : "s", m->bytes, m->alone);
    for (int b = 0; b < out->n_stored; ++b)
        if (out->stored[b].what)
            kn_str_printf(&text, "# stored in between: %s: %s\n", out->stored[b].what, out->stored[b].why);
    kn_str_append(&text, kn_str_text(&out->explanation));
    kn_str_free(&out->explanation);
    out->explanation = text;
    return kn_str_status(&out->explanation, "a lowered call");
}

/* Lowers a call, and fuses maps. */
static kiln_status lower_fused(kn_lowered *out, const kiln_kernel *kernel, const kn_lowering_call *call)
{
    const kn_algorithm *algorithm = kernel->algorithm;
    kiln_status status = check_options(kernel->program->name, algorithm->takes_axes, call->options);
    if (status == KILN_OK && algorithm->describe)
        status = describe_results(out, kernel, call);
    if (status == KILN_OK)
        status = algorithm->lower(out, kernel->context, call);
    if (status == KILN_OK)
        status = lower_inner(out, call);
    return status == KILN_OK ? kn_fuse_maps(out) : status;
}

/* A map that left its reductions, and was not fused: its input is read once more for nothing. */
static bool has_map_apart(const kn_lowered *l)
{
    bool has = false;
    for (int p = 0; p < l->n_parts; ++p)
        has = has || l->part[p].is_apart;
    return has;
}

kiln_status kn_lower_call(kn_lowered *out, const kiln_kernel *kernel, const kn_lowering_call *call)
{
    kiln_status status = lower_fused(out, kernel, call);
    if (status == KILN_OK && out->apart.first)
        return KILN_OK;
    if (status == KILN_OK && has_map_apart(out)) {
        kn_lowering_call whole = *call;
        whole.keeps_maps = true;
        kn_lowered_free(out);
        status = lower_fused(out, kernel, &whole);
    }
    if (status != KILN_OK)
        return status;
    for (int p = 0; p < out->n_parts; ++p)
        settle(&out->part[p]);
    find_lifetimes(out, kernel->program->n_out);
    return explain(out);
}
