/* Makes a plan of several steps from a lowered call. */
#include "kernel/algorithm.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/thread.h"
#include "space/shape.h"

static kiln_status plan_program(kn_plan_step *out, const kiln_kernel *kernel, kn_lowered_part *from,
                                const kn_lowering_call *call, unsigned build_flags, kn_build_info *info)
{
    kn_build_info one = {.origin = KILN_ORIGIN_MEMORY};
    out->casts = from->program->casts;
    from->binding.device = call->device;
    from->binding.own_functions = from->kernel ? from->kernel->own_functions : kernel->own_functions;
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
    out->n_params = kn_lowered_params(from);
    memcpy(out->source, from->source, sizeof out->source);
    if (from->program)
        return plan_program(out, kernel, from, call, build_flags, info);
    out->function = from->function;
    out->launch_name = kn_device_launch_name(from->label);
    for (int k = 0; k < out->n_params; ++k)
        out->dtype[k] = from->binding.operand[k].dtype;
    return KILN_OK;
}

/* Outputs that the part may leave unassigned are zeroed: buffers, and results that the call allocates. */
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

/* Sorts buffers by the first or the last step that uses them. next: n_steps + 2 counters. */
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
    s->result = kn_calloc((size_t)n_out, sizeof *s->result);
    if (!s->result)
        return kn_error_memory("a plan");
    memcpy(s->result, l->late, (size_t)n_out * sizeof *s->result);
    return KILN_OK;
}

/* ---- building ---- */

enum { MOST_HELPERS = 7 };

typedef struct built {
    kn_build_info info;
    kiln_status status;
    kn_error_state error;
} built;

/* The steps of a call that are built, by several threads once a compiler had to be asked, or will be. */
typedef struct building {
    kn_plan_steps *steps;
    const kiln_kernel *kernel;
    kn_lowered *lowered;
    const kn_lowering_call *call;
    unsigned build_flags;
    built *built; /* by step; NULL: one thread builds */
    atomic_int next;
    int helpers; /* under KN_LOCK_STEPS */
} building;

static kiln_status build_step(building *b, int k, kn_build_info *info)
{
    info->origin = KILN_ORIGIN_NONE;
    return plan_step(&b->steps->step[k], b->kernel, &b->lowered->part[k], b->call, b->build_flags, info);
}

static void build_rest(building *b)
{
    for (int k = atomic_fetch_add(&b->next, 1); k < b->lowered->n_parts; k = atomic_fetch_add(&b->next, 1)) {
        built *to = &b->built[k];
        to->status = build_step(b, k, &to->info);
        if (to->status != KILN_OK)
            kn_error_save(&to->error);
    }
}

static void help(void *user)
{
    building *b = user;
    build_rest(b);
    kn_lock_take(KN_LOCK_STEPS);
    --b->helpers;
    kn_lock_wake(KN_LOCK_STEPS);
    kn_lock_give(KN_LOCK_STEPS);
}

/* Compilers run side by side. Steps of one kernel wait for the one that is compiling it. The error is that of
 * the first step that has one. */
static kiln_status build_together(building *b, int programs, kn_build_info *info)
{
    KN_UNCANCELLED;
    const int first = atomic_load(&b->next), n = b->lowered->n_parts;
    kiln_status status = KILN_OK;
    b->built = kn_calloc((size_t)n, sizeof *b->built);
    if (!b->built)
        return kn_error_memory("a plan");
    for (int k = 1; k < programs && k <= MOST_HELPERS; ++k) {
        kn_lock_take(KN_LOCK_STEPS);
        ++b->helpers;
        kn_lock_give(KN_LOCK_STEPS);
        if (kn_thread_start(help, b) == 0)
            continue;
        kn_lock_take(KN_LOCK_STEPS);
        --b->helpers;
        kn_lock_give(KN_LOCK_STEPS);
        break;
    }
    build_rest(b);
    kn_lock_take(KN_LOCK_STEPS);
    while (b->helpers > 0)
        kn_lock_wait(KN_LOCK_STEPS);
    kn_lock_give(KN_LOCK_STEPS);
    for (int k = n; k-- > first;) {
        kn_build_info_add(info, &b->built[k].info);
        if (b->built[k].status == KILN_OK)
            continue;
        status = b->built[k].status;
        kn_error_restore(&b->built[k].error);
    }
    kn_free(b->built);
    return status;
}

/* The steps from k on that have a kernel. */
static int count_programs(const kn_lowered *l, int k)
{
    int programs = 0;
    for (; k < l->n_parts; ++k)
        programs += l->part[k].program != NULL;
    return programs;
}

static kiln_status build_steps(building *b, kn_call_plan *plan, kn_build_info *info)
{
    kn_plan_steps *s = b->steps;
    kiln_status status = KILN_OK;
    kn_build_info one = {.origin = KILN_ORIGIN_NONE};
    while (s->n_steps < b->lowered->n_parts && status == KILN_OK) {
        const bool is_together = b->build_flags & KN_BUILD_QUICK || one.origin == KILN_ORIGIN_COMPILER;
        const int programs = is_together ? count_programs(b->lowered, s->n_steps) : 0;
        one = (kn_build_info){.origin = KILN_ORIGIN_NONE};
        if (programs > 1) {
            atomic_store(&b->next, s->n_steps);
            s->n_steps = b->lowered->n_parts;
            status = build_together(b, programs, info);
        } else {
            status = build_step(b, s->n_steps++, &one);
            kn_build_info_add(info, &one);
        }
    }
    for (int k = 0; k < s->n_steps; ++k)
        note_left(plan, s, &b->lowered->part[k], b->call);
    return status;
}

/* Checked launches name their parameters when they have run. */
static void take_checked(kn_plan_steps *s, kn_lowered *l)
{
    for (int k = 0; k < s->n_steps; ++k) {
        kn_lowered_part *part = &l->part[k];
        if (!part->program || part->kernel || !(part->program->flags & KILN_KERNEL_CHECK))
            continue;
        part->n_params = kn_lowered_params(part);
        s->step[k].program = part->program;
        part->program = NULL;
    }
}

/* *out is freed by the caller, on failure too. */
static kiln_status make_steps(kn_plan_steps **out, kn_call_plan *plan, const kiln_kernel *kernel,
                              kn_lowered *l, const kn_lowering_call *call, unsigned build_flags,
                              kn_build_info *info)
{
    kn_plan_steps *s = kn_calloc(1, sizeof *s);
    if (!s)
        return kn_error_memory("a plan");
    *out = s;
    s->kernel = kernel;
    s->device = call->device;
    s->n_buffers = l->n_buffers;
    s->buffer = l->buffer;
    l->buffer = NULL;
    if (!order_buffers(s, l->n_parts))
        return kn_error_memory("a plan");
    s->step = kn_calloc((size_t)(l->n_parts > 0 ? l->n_parts : 1), sizeof *s->step);
    if (!s->step)
        return kn_error_memory("a plan");
    kiln_status status = note_late(s, l, plan->n_out);
    building b = {.steps = s, .kernel = kernel, .lowered = l, .call = call, .build_flags = build_flags};
    if (status == KILN_OK)
        status = build_steps(&b, plan, info);
    if (status == KILN_OK)
        take_checked(s, l);
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

/* ---- steps that compile soon ---- */

static kiln_status make_quick(kn_plan_steps **out, kn_call_plan *plan, const kiln_kernel *kernel,
                              const kn_lowering_call *call, unsigned build_flags, kn_build_info *info)
{
    kn_lowered l;
    kn_lowering_call quick = *call;
    quick.is_quick = true;
    memset(&l, 0, sizeof l);
    kiln_status status = kn_lower_call(&l, kernel, &quick);
    if (status == KILN_OK)
        status = make_steps(out, plan, kernel, &l, &quick, build_flags, info);
    kn_lowered_free(&l);
    return status;
}

/* The best steps where their kernels are at hand; else quick ones beside them, for as long as these are
 * compiled in the background, once the quick ones have been. */
static kiln_status make_both(kn_call_plan *plan, const kiln_kernel *kernel, kn_lowered *l,
                             const kn_lowering_call *call, unsigned build_flags, kn_build_info *info)
{
    kn_build_info unused = {.origin = KILN_ORIGIN_NONE};
    kiln_status status = make_steps(&plan->steps, plan, kernel, l, call, build_flags | KN_BUILD_LATER, info);
    if (status != KILN_OK || info->pending == 0)
        return status;
    status = make_quick(&plan->steps->quick, plan, kernel, call, build_flags | KN_BUILD_QUICK, info);
    if (status == KILN_OK)
        kn_plan_steps_look(plan->steps, false, &unused);
    return status;
}

static kiln_status make_all(kn_call_plan *plan, const kiln_kernel *kernel, kn_lowered *l,
                            const kn_lowering_call *call, unsigned build_flags, kn_build_info *info)
{
    const unsigned others = KN_BUILD_OPTIMISED | KN_BUILD_NO_COMPILE | KN_BUILD_CAPTURING;
    const bool has_quick = l->has_quick && !(build_flags & others) && !kn_build_is_forbidden();
    if (!has_quick || kn_tiers_mode() == KILN_FORMS_BEST)
        return make_steps(&plan->steps, plan, kernel, l, call, build_flags, info);
    if (kn_tiers_mode() == KILN_FORMS_BOTH)
        return make_both(plan, kernel, l, call, build_flags, info);
    kiln_status status = make_quick(&plan->steps, plan, kernel, call, build_flags | KN_BUILD_QUICK, info);
    info->baseline += status == KILN_OK && info->baseline == 0;
    return status;
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
        return kn_error_memory("a call plan");
    plan->device = call->device;
    kiln_status status = kn_lower_call(&l, kernel, call);
    if (status == KILN_OK && l.apart.first) {
        plan->apart = l.apart;
        l.apart = (kn_apart){.first = NULL};
    } else {
        if (status == KILN_OK)
            status = make_all(plan, kernel, &l, call, build_flags, info);
        if (status == KILN_OK)
            status = set_outputs(plan, &l, call);
        plan->has_tiers = info->baseline > 0;
    }
    kn_lowered_free(&l);
    if (status != KILN_OK) {
        kn_call_plan_free(plan);
        return status;
    }
    *out = plan;
    return KILN_OK;
}
