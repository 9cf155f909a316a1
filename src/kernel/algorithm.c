/* Algorithms: kernels of them, what their calls come to, and the plans of that. */
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
        return kn_error_memory(sizeof *p, "a prototype");
    p->name = kn_strdup(name);
    p->param = kn_calloc(n_params, sizeof *p->param);
    p->text = kn_calloc(KN_TEXT_STAGE, sizeof *p->text);
    p->preamble = kn_strdup("");
    p->loop_prep = kn_strdup("");
    p->after_loop = kn_strdup("");
    if (!p->name || !p->param || !p->text || !p->preamble || !p->loop_prep || !p->after_loop) {
        kn_program_free(p);
        return kn_error_memory(n_params * sizeof *p->param, "a prototype");
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

/* ---- lowered calls ---- */

static int n_params_of(const kn_lowered_part *part)
{
    return part->program ? part->program->n_in + part->program->n_out : part->n_params;
}

static void free_part(kn_lowered_part *part)
{
    for (int k = 0; k < n_params_of(part); ++k)
        kiln_array_free(part->binding.array[k]);
    if (!part->kernel)
        kn_program_free(part->program);
    kn_free(part->label);
}

void kn_lowered_drop_parts(kn_lowered *l)
{
    for (int p = 0; p < l->n_parts; ++p)
        free_part(&l->part[p]);
    kn_free(l->part);
    l->part = NULL;
    l->n_parts = 0;
}

void kn_lowered_free(kn_lowered *l)
{
    kn_lowered_drop_parts(l);
    kn_free(l->buffer);
    kn_free(l->layout);
    kn_str_free(&l->note);
    memset(l, 0, sizeof *l);
}

kiln_status kn_lowered_view(kiln_array **out, kiln_array *array, char *data, kiln_dtype dtype, int ndim,
                            const int64_t *shape, const int64_t *strides)
{
    if (array)
        return kn_array_view(out, array, data, ndim, shape, strides);
    kiln_status status = kn_array_placeholder(out, dtype, ndim, shape);
    if (status == KILN_OK) {
        memcpy((*out)->strides, strides, (size_t)ndim * sizeof *strides);
        (*out)->data = data;
    }
    return status;
}

kiln_status kn_lowered_add_buffer(int *out, kn_lowered *l, size_t size)
{
    kn_buffer *grown = kn_realloc(l->buffer, ((size_t)l->n_buffers + 1) * sizeof *grown);
    if (!grown)
        return kn_error_memory(((size_t)l->n_buffers + 1) * sizeof *grown, "the buffers of a call");
    l->buffer = grown;
    grown[l->n_buffers] = (kn_buffer){.size = size};
    *out = l->n_buffers++;
    return KILN_OK;
}

static kiln_status add_part(kn_lowered_part **out, kn_lowered *l)
{
    kn_lowered_part *grown = kn_realloc(l->part, ((size_t)l->n_parts + 1) * sizeof *grown);
    if (!grown)
        return kn_error_memory(((size_t)l->n_parts + 1) * sizeof *grown, "the parts of a call");
    l->part = grown;
    *out = &grown[l->n_parts++];
    memset(*out, 0, sizeof **out);
    (*out)->options = (kiln_call_options)KILN_CALL_OPTIONS_INIT;
    return KILN_OK;
}

static kiln_status set_label(kn_lowered_part *part, const char *name)
{
    part->label = kn_strdup(name);
    return part->label ? KILN_OK : kn_error_memory(strlen(name), "the parts of a call");
}

kiln_status kn_lowered_add_kernel(kn_lowered_part **out, kn_lowered *l, const kiln_kernel *kernel)
{
    kiln_status status = add_part(out, l);
    if (status != KILN_OK)
        return status;
    (*out)->kernel = kernel;
    (*out)->program = kernel->program;
    (*out)->binding.program = kernel->program;
    return set_label(*out, kernel->program->name);
}

kiln_status kn_lowered_add_function(kn_lowered_part **out, kn_lowered *l, const char *name,
                                    kn_step_function function, int n_params)
{
    kiln_status status = add_part(out, l);
    if (status != KILN_OK)
        return status;
    (*out)->function = function;
    (*out)->n_params = n_params;
    return set_label(*out, name);
}

/* The call's array that a source names; NULL: a buffer, or an output that the call allocates. */
static kiln_array *array_of(const kn_source *source, const kn_lowering_call *call)
{
    return source->kind == KN_FROM_INPUT                 ? call->in[source->index].value.array
           : source->kind == KN_FROM_OUTPUT && call->out ? call->out[source->index]
                                                         : NULL;
}

kiln_status kn_lowered_bind(kn_lowered_part *part, int k, const kn_lowering_call *call,
                            const kn_source *source, kiln_dtype dtype, int ndim, const int64_t *shape,
                            const int64_t *strides)
{
    int64_t dense[KILN_MAX_NDIM];
    kiln_array *array = array_of(source, call);
    kn_operand *o = &part->binding.operand[k];
    bool is_raw = part->program && part->program->param[k].is_raw;
    kn_shape_c_strides(ndim, shape, (int64_t)kiln_dtype_size(dtype), dense);
    strides = strides ? strides : dense;
    part->source[k] = *source;
    *o = (kn_operand){.pass = is_raw ? KN_PASS_RAW : KN_PASS_ARRAY, .dtype = dtype};
    if (is_raw) {
        o->raw_rank = ndim;
        o->raw_contiguous = memcmp(dense, strides, (size_t)ndim * sizeof *dense) == 0;
    }
    char *first = array ? array->data : NULL;
    return kn_lowered_view(&part->binding.array[k], array, first + source->shift, dtype, ndim, shape,
                           strides);
}

void kn_lowered_bind_number(kn_lowered_part *part, int k, kiln_dtype dtype, const kiln_arg *number)
{
    part->binding.operand[k] = (kn_operand){.pass = KN_PASS_SCALAR, .dtype = dtype};
    part->source[k] = (kn_source){.kind = KN_FROM_NUMBER, .number = *number};
}

void kn_lowered_set_shape(kn_lowered_part *part, int ndim, const int64_t *shape)
{
    memcpy(part->shape, shape, (size_t)ndim * sizeof *shape);
    part->options.shape = part->shape;
    part->options.ndim = ndim;
}

/* ---- results that are described ---- */

static void describe_arguments(kn_described *out, const kiln_arg *in, int n_in)
{
    for (int k = 0; k < n_in; ++k) {
        const kiln_array *a = in[k].kind == KILN_ARG_ARRAY ? in[k].value.array : NULL;
        out[k].is_number = !a;
        out[k].is_late = false;
        out[k].dtype = a                              ? a->dtype
                       : in[k].kind == KILN_ARG_TYPED ? (kiln_dtype)in[k].dtype
                                                      : kn_weak_dtype(&in[k]);
        out[k].ndim = a ? a->ndim : 0;
        if (a)
            memcpy(out[k].shape, a->shape, (size_t)a->ndim * sizeof *a->shape);
    }
}

static kiln_status check_options(const char *name, const kiln_call_options *o)
{
    const char *given = o->axes                         ? "axes"
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
    if (given->ndim == result->ndim &&
        memcmp(given->shape, result->shape, (size_t)given->ndim * sizeof *given->shape) == 0)
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
        return kn_error_memory((size_t)n_out * sizeof *out->layout, "the results of a call");
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
        return kn_error_memory(count * sizeof *all, "the results of a call");
    kiln_status status = check_options(p->name, call->options);
    describe_arguments(all, call->in, p->n_in);
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

/* Where a source of an inner algorithm's call is in the outer one. */
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
        status = add_part(&to, out);
        if (status != KILN_OK)
            return status;
        *to = *from;
        memset(from, 0, sizeof *from);
        for (int k = 0; k < n_params_of(to); ++k)
            to->source[k] = outer_source(&to->source[k], part, first);
    }
    for (int j = 0; j < part->program->n_out && status == KILN_OK; ++j) {
        const kn_source *to = &part->source[part->program->n_in + j];
        if (inner->late[j].is_late && to->kind == KN_FROM_OUTPUT)
            out->late[to->index] = (kn_late){true, outer_source(&inner->late[j].count, part, first)};
    }
    return status;
}

static kiln_status lower_part(kn_lowered *out, const kn_lowered_part *part, const kn_lowering_call *call)
{
    kiln_arg in[KN_MAX_PARAMS];
    const kn_program *p = part->program;
    for (int k = 0; k < p->n_in; ++k) {
        in[k] = part->source[k].number; /* of a number that is given the call tells the dtype alone */
        if (part->source[k].kind != KN_FROM_NUMBER) {
            in[k] = kiln_arg_none();
            in[k].kind = KILN_ARG_TYPED;
            in[k].dtype = (uint8_t)part->binding.operand[k].dtype;
        }
        if (part->binding.array[k])
            in[k] = kiln_arg_array(part->binding.array[k]);
    }
    const kn_lowering_call inner_call = {part->binding.array + p->n_in, in, &part->options, call->device,
                                         call->target};
    kn_lowered inner;
    memset(&inner, 0, sizeof inner);
    kiln_status status = kn_lower_call(&inner, part->kernel, &inner_call);
    if (status == KILN_OK)
        status = take_parts(out, &inner, part);
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
        status = is_inner ? lower_part(l, &part[p], call) : add_part(&to, l);
        if (is_inner || status != KILN_OK)
            free_part(&part[p]);
        else
            *to = part[p];
    }
    for (; p < n_parts; ++p)
        free_part(&part[p]);
    kn_free(part);
    return status;
}

/* Which step is the first to use each buffer, and which is the last. */
static void find_lifetimes(kn_lowered *l, int n_out)
{
    for (int b = 0; b < l->n_buffers; ++b)
        l->buffer[b].first = l->buffer[b].last = -1;
    for (int p = 0; p < l->n_parts; ++p)
        for (int k = 0; k < n_params_of(&l->part[p]); ++k) {
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
            l->buffer[b] = (kn_buffer){.size = 0}; /* nobody needs it */
}

static void settle(kn_lowered_part *part)
{
    if (part->options.shape)
        part->options.shape = part->shape; /* the part may have moved */
    if (part->program)
        part->binding.n_arrays = kn_operands_settle(part->binding.operand, n_params_of(part));
}

kiln_status kn_lower_call(kn_lowered *out, const kiln_kernel *kernel, const kn_lowering_call *call)
{
    const kn_algorithm *algorithm = kernel->algorithm;
    kiln_status status = algorithm->describe ? describe_results(out, kernel, call) : KILN_OK;
    if (status == KILN_OK)
        status = algorithm->lower(out, kernel->context, call);
    if (status == KILN_OK)
        status = lower_inner(out, call);
    if (status != KILN_OK)
        return status;
    for (int p = 0; p < out->n_parts; ++p)
        settle(&out->part[p]);
    find_lifetimes(out, kernel->program->n_out);
    return KILN_OK;
}

/* ---- plans ---- */

static kiln_status plan_program(kn_plan_step *out, const kiln_kernel *kernel, kn_lowered_part *from,
                                const kn_lowering_call *call, unsigned build_flags, kn_build_info *info)
{
    kn_build_info one = {.origin = KILN_ORIGIN_MEMORY};
    out->casts = from->program->casts;
    from->binding.device = call->device;
    from->binding.kept = from->kernel ? from->kernel->kept : kernel->kept;
    kn_call_plan *plan = NULL;
    kiln_status status =
        kn_call_plan_create(&plan, &from->binding, &from->options, NULL, 0, 0, build_flags, &one);
    if (status == KILN_OK) {
        out->launch = plan->launch;
        out->launch_name = plan->launch_name;
        plan->launch = (kn_plan_launch){NULL, NULL, false};
        for (int k = 0; k < out->n_params; ++k)
            out->dtype[k] = plan->param[k].dtype;
    }
    kn_call_plan_free(plan);
    kn_build_info_add(info, &one);
    return status;
}

static kiln_status plan_step(kn_plan_step *out, const kiln_kernel *kernel, kn_lowered_part *from,
                             const kn_lowering_call *call, unsigned build_flags, kn_build_info *info)
{
    out->n_params = n_params_of(from);
    memcpy(out->source, from->source, sizeof out->source);
    if (from->program)
        return plan_program(out, kernel, from, call, build_flags, info);
    out->function = from->function;
    out->launch_name = kn_device_launch_name(from->label);
    for (int k = 0; k < out->n_params; ++k)
        out->dtype[k] = from->binding.operand[k].dtype;
    return KILN_OK;
}

/* What the part may leave is filled with zeros: buffers, and results that the call allocates. */
static void note_left(kn_call_plan *plan, kn_plan_steps *s, const kn_lowered_part *part,
                      const kn_lowering_call *call)
{
    const kn_program *p = part->program;
    for (int j = 0; p && j < p->n_out; ++j) {
        const kn_source *to = &part->source[p->n_in + j];
        if (!(p->left_outputs >> j & 1))
            continue;
        if (to->kind == KN_FROM_BUFFER)
            s->buffer[to->index].is_zeroed = true;
        else if (!call->out || !call->out[to->index])
            plan->zeroed |= UINT64_C(1) << to->index;
    }
}

/* By the step that uses each buffer first, or last. next: as many as steps, and two. */
static void order_by(int *order, int *next, const kn_buffer *buffer, int n_buffers, int n_steps, bool by_last)
{
    memset(next, 0, ((size_t)n_steps + 2) * sizeof *next);
    for (int r = 0; r < n_buffers; ++r)
        ++next[(by_last ? buffer[r].last : buffer[r].first) + 1];
    for (int p = 1; p <= n_steps + 1; ++p)
        next[p] += next[p - 1];
    for (int r = 0; r < n_buffers; ++r)
        order[next[by_last ? buffer[r].last : buffer[r].first]++] = r;
}

static bool order_buffers(kn_plan_steps *s, int n_steps)
{
    int *next = kn_malloc(((size_t)n_steps + 2) * sizeof *next);
    s->taken = kn_malloc(((size_t)s->n_buffers + 1) * sizeof *s->taken);
    s->given = kn_malloc(((size_t)s->n_buffers + 1) * sizeof *s->given);
    bool is_made = next && s->taken && s->given;
    if (is_made) {
        order_by(s->taken, next, s->buffer, s->n_buffers, n_steps, false);
        order_by(s->given, next, s->buffer, s->n_buffers, n_steps, true);
    }
    kn_free(next);
    return is_made;
}

static kiln_status note_late(kn_plan_steps *s, const kn_lowered *l, int n_out)
{
    for (int j = 0; j < n_out; ++j)
        s->late |= (uint64_t)l->late[j].is_late << j;
    if (!s->late)
        return KILN_OK;
    s->count = kn_calloc((size_t)n_out, sizeof *s->count);
    if (!s->count)
        return kn_error_memory((size_t)n_out * sizeof *s->count, "a plan");
    for (int j = 0; j < n_out; ++j)
        s->count[j] = l->late[j].count;
    return KILN_OK;
}

static kiln_status make_steps(kn_call_plan *plan, const kiln_kernel *kernel, kn_lowered *l,
                              const kn_lowering_call *call, unsigned build_flags, kn_build_info *info)
{
    kn_plan_steps *s = kn_calloc(1, sizeof *s);
    if (!s)
        return kn_error_memory(sizeof *s, "a plan");
    plan->steps = s;
    s->kernel = kernel;
    s->device = call->device;
    s->n_buffers = l->n_buffers;
    s->buffer = l->buffer;
    l->buffer = NULL;
    if (!order_buffers(s, l->n_parts))
        return kn_error_memory(2 * (size_t)s->n_buffers * sizeof *s->taken, "a plan");
    s->step = kn_calloc((size_t)(l->n_parts > 0 ? l->n_parts : 1), sizeof *s->step);
    if (!s->step)
        return kn_error_memory((size_t)l->n_parts * sizeof *s->step, "a plan");
    kiln_status status = note_late(s, l, plan->n_out);
    for (; s->n_steps < l->n_parts && status == KILN_OK; ++s->n_steps) {
        status = plan_step(&s->step[s->n_steps], kernel, &l->part[s->n_steps], call, build_flags, info);
        note_left(plan, s, &l->part[s->n_steps], call);
    }
    return status;
}

static kiln_status set_outputs(kn_call_plan *plan, kn_lowered *l, const kn_lowering_call *call)
{
    plan->layout = l->layout;
    l->layout = NULL;
    for (int k = 0; k < plan->n_in + plan->n_out; ++k) {
        bool is_out = k >= plan->n_in;
        const kiln_array *a = is_out                               ? call->out[k - plan->n_in]
                              : call->in[k].kind == KILN_ARG_ARRAY ? call->in[k].value.array
                                                                   : NULL;
        kn_plan_param *p = &plan->param[k];
        p->pass = a || is_out ? KN_PASS_ARRAY : KN_PASS_SCALAR;
        if (is_out)
            p->same_layout = l->in_place[k - plan->n_in];
        if (a)
            kn_shape_byte_range(a->ndim, a->shape, a->strides, a->item_size, &p->low, &p->high);
    }
    return KILN_OK;
}

kiln_status kn_plan_steps_create(kn_call_plan **out, const kiln_kernel *kernel, const kn_lowering_call *call,
                                 const int64_t *key, size_t key_words, uint64_t hash, unsigned build_flags,
                                 kn_build_info *info)
{
    kn_lowered l;
    memset(&l, 0, sizeof l);
    kn_call_plan *plan =
        kn_call_plan_new(kernel->program->n_in, kernel->program->n_out, key, key_words, hash);
    if (!plan)
        return kn_error_memory(sizeof *plan, "a call plan");
    plan->device = call->device;
    kiln_status status = kn_lower_call(&l, kernel, call);
    if (status == KILN_OK)
        status = make_steps(plan, kernel, &l, call, build_flags, info);
    if (status == KILN_OK)
        status = set_outputs(plan, &l, call);
    plan->has_tiers = info->baseline > 0;
    kn_lowered_free(&l);
    if (status != KILN_OK) {
        kn_call_plan_free(plan);
        return status;
    }
    *out = plan;
    return KILN_OK;
}
