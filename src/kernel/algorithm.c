/* Plans of calls that several programs compute, or one whose parameters are not the call's. */
#include "kernel/compound.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "program/program.h"
#include "space/shape.h"

kiln_status kn_kernel_create_lowered(kiln_kernel **out, kn_program *prototype, const kn_lowering *lowering,
                                     void *context)
{
    kiln_kernel *kernel = NULL;
    kiln_status status = kn_kernel_create(&kernel, prototype);
    if (status != KILN_OK) {
        lowering->free(context);
        return status;
    }
    kernel->lowering = lowering;
    kernel->context = context;
    lowering->count(&kernel->n_computed, &kernel->n_words, context);
    *out = kernel;
    return KILN_OK;
}

void kn_lowered_drop_parts(kn_lowered *l)
{
    for (int p = 0; p < l->n_parts; ++p) {
        const kn_program *program = l->part[p].program;
        for (int k = 0; program && k < program->n_in + program->n_out; ++k)
            kiln_array_free(l->part[p].binding.array[k]);
        if (!l->part[p].kernel)
            kn_program_free(l->part[p].program);
        kn_free(l->part[p].label);
    }
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

/* ---- making ---- */

static kiln_status plan_part(kn_compound_part *out, const kiln_kernel *kernel, kn_lowered_part *from,
                             const kn_lowering_call *call, unsigned build_flags, kn_build_info *info)
{
    kn_build_info one = {.origin = KILN_ORIGIN_MEMORY};
    out->n_params = from->program->n_in + from->program->n_out;
    out->casts = from->program->casts;
    memcpy(out->source, from->source, sizeof out->source);
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

/* What the part may leave is filled with zeros: memory between parts, and results that the call allocates. */
static void note_left(kn_call_plan *plan, kn_compound *c, const kn_lowered_part *part,
                      const kn_lowering_call *call)
{
    const kn_program *p = part->program;
    for (int j = 0; j < p->n_out; ++j) {
        const kn_source *to = &part->source[p->n_in + j];
        if (!(p->left_outputs >> j & 1))
            continue;
        if (to->kind == KN_FROM_BUFFER)
            c->buffer[to->index].is_zeroed = true;
        else if (!call->out || !call->out[to->index])
            plan->zeroed |= UINT64_C(1) << to->index;
    }
}

/* By the part that writes each buffer first, or reads it last. next: as many as parts, and one. */
static void order_by(int *order, int *next, const kn_buffer *buffer, int n_buffers, int n_parts, bool by_last)
{
    memset(next, 0, ((size_t)n_parts + 1) * sizeof *next);
    for (int r = 0; r < n_buffers; ++r)
        ++next[(by_last ? buffer[r].last : buffer[r].first) + 1];
    for (int p = 1; p <= n_parts; ++p)
        next[p] += next[p - 1];
    for (int r = 0; r < n_buffers; ++r)
        order[next[by_last ? buffer[r].last : buffer[r].first]++] = r;
}

static bool order_buffers(kn_compound *c, int n_parts)
{
    int *next = kn_malloc(((size_t)n_parts + 1) * sizeof *next);
    c->taken = kn_malloc(((size_t)c->n_buffers + 1) * sizeof *c->taken);
    c->given = kn_malloc(((size_t)c->n_buffers + 1) * sizeof *c->given);
    bool is_made = next && c->taken && c->given;
    if (is_made) {
        order_by(c->taken, next, c->buffer, c->n_buffers, n_parts, false);
        order_by(c->given, next, c->buffer, c->n_buffers, n_parts, true);
    }
    kn_free(next);
    return is_made;
}

static kiln_status make_compound(kn_call_plan *plan, const kiln_kernel *kernel, kn_lowered *l,
                                 const kn_lowering_call *call, unsigned build_flags, kn_build_info *info)
{
    kn_compound *c = kn_calloc(1, sizeof *c);
    if (!c)
        return kn_error_memory(sizeof *c, "a plan");
    plan->compound = c;
    c->kernel = kernel;
    c->device = call->device;
    c->n_buffers = l->n_buffers;
    c->buffer = l->buffer;
    l->buffer = NULL;
    if (!order_buffers(c, l->n_parts))
        return kn_error_memory(2 * (size_t)c->n_buffers * sizeof *c->taken, "a plan");
    c->part = kn_calloc((size_t)(l->n_parts > 0 ? l->n_parts : 1), sizeof *c->part);
    if (!c->part)
        return kn_error_memory((size_t)l->n_parts * sizeof *c->part, "a plan");
    kiln_status status = KILN_OK;
    for (; c->n_parts < l->n_parts && status == KILN_OK; ++c->n_parts) {
        status = plan_part(&c->part[c->n_parts], kernel, &l->part[c->n_parts], call, build_flags, info);
        note_left(plan, c, &l->part[c->n_parts], call);
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

kiln_status kn_compound_plan(kn_call_plan **out, const kiln_kernel *kernel, const kn_lowering_call *call,
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
    kiln_status status = kernel->lowering->lower(&l, kernel->context, call);
    if (status == KILN_OK)
        status = make_compound(plan, kernel, &l, call, build_flags, info);
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
