/* Lowering: nodes that must be stored (results and buffers) are grouped into kernels (lower_groups.c),
 * whose programs are bound to the arrays of the call (lower_bind.c). A kernel that would be slow is split,
 * or reads its inputs in another order (lower_layouts.c); the groups are then built again. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "fuse/direct.h"
#include "fuse/fusion.h"
#include "fuse/held.h"
#include "fuse/lower.h"
#include "fuse/lower_parts.h"
#include "fuse/opaque.h"
#include "fuse/strips.h"
#include "schedule/kind.h"
#include "space/shape.h"

/* The most elements for which a kernel of several passes over its rows is as fast as several kernels. */
enum { FEW_ELEMENTS = 1 << 15 };

/* ---- arguments ---- */

void kn_lower_arguments(kn_argument *out, const kiln_arg *in, int n_in)
{
    for (int k = 0; k < n_in; ++k) {
        const kiln_arg *a = &in[k];
        kn_argument *to = &out[k];
        memset(to, 0, sizeof *to);
        if (a->kind == KILN_ARG_ARRAY) {
            *to = (kn_argument){
                .dtype = a->value.array->dtype, .ndim = a->value.array->ndim, .shape = a->value.array->shape};
        } else {
            if (a->kind == KILN_ARG_WEAK_INT || a->kind == KILN_ARG_WEAK_UINT)
                to->like = kn_weak_of_class(kn_weak_class(a));
            to->given = *a;
            to->is_scalar = true;
            to->is_weak = a->kind != KILN_ARG_TYPED;
            to->dtype = to->is_weak ? kn_weak_dtype(a) : (kiln_dtype)a->dtype;
        }
    }
}

static kiln_status infer(kn_lowering *l)
{
    const kn_graph *g = l->graph;
    kn_argument argument[KN_MAX_PARAMS];
    kn_lower_arguments(argument, l->call->in, g->n_in);
    for (int k = 0; k < g->n_in; ++k)
        l->array[k] = l->call->in[k].kind == KILN_ARG_ARRAY ? l->call->in[k].value.array : NULL;
    return kn_graph_infer(&l->typed, g, argument);
}

/* kn_cut_store */
static void store(void *of, int node, bool is_too_large, const kn_group *by)
{
    kn_lowering *l = of;
    kn_lowering_add_buffer(l, node, is_too_large ? KN_WHY_LONG : kn_lowering_why_buffered(l, by, node));
}

static kiln_status prepare(kn_lowering *l)
{
    const kn_graph *g = l->graph;
    size_t nodes = (size_t)g->n_nodes;
    l->state = (kn_lower_state){.graph = g,
                                .typed = l->typed,
                                .array = l->array,
                                .flags = l->expression->options.flags,
                                .arena = &l->arena,
                                .is_host = l->call->target->backend == KN_HOST};
    bool has_state = kn_lower_state_make(&l->state);
    l->is_alone = kn_arena_take(&l->arena, nodes);
    l->is_apart = kn_arena_take(&l->arena, nodes);
    l->group_of = kn_arena_take(&l->arena, nodes * sizeof *l->group_of);
    l->output_of = kn_arena_take(&l->arena, nodes * sizeof *l->output_of);
    l->buffer_of = kn_arena_take(&l->arena, nodes * sizeof *l->buffer_of);
    l->own = kn_arena_take(&l->arena, nodes * sizeof(kn_group *));
    l->is_pending = kn_arena_take(&l->arena, nodes + 1);
    l->users = kn_arena_take(&l->arena, nodes * sizeof(kn_root_user *));
    l->old = kn_arena_take(&l->arena, nodes * sizeof(kn_group *));
    l->why = kn_arena_take(&l->arena, nodes * sizeof *l->why);
    l->times = kn_arena_take(&l->arena, nodes * sizeof *l->times);
    if (!has_state || l->arena.failed)
        return kn_lowering_no_memory();
    memset(l->output_of, 0xff, nodes * sizeof *l->output_of);
    for (int j = g->n_out; j-- > 0;)
        l->output_of[g->out[j]] = j;
    for (int j = 0; j < g->n_out; ++j)
        l->is_pending[g->out[j]] = true;
    kn_opaque_find(&l->state);
    kn_bases_find(&l->state);
    for (int n = 0; n < g->n_nodes; ++n)
        if (kn_is_strips(&l->state, n))
            kn_lowering_add_buffer(l, n, KN_WHY_STRIPS);
    return kn_cuts_find(&l->state, store, l) ? KILN_OK : kn_lowering_no_memory();
}

/* ---- parts ---- */

/* True if algorithms alone read a large map behind reductions. They can compute it (kernel/fuse_maps.c), so
 * that only the results of the reductions are stored. */
static bool feeds_algorithms(const kn_lowering *l, const kn_group *g)
{
    const kn_graph *graph = l->state.graph;
    const int root = g->root[0];
    const kn_typed *t = &l->typed[root];
    bool feeds = false, others = false;
    for (int n = root + 1; n < graph->n_nodes; ++n)
        for (int k = 0; k < graph->node[n].n_in; ++k) {
            const kn_node *reader = &graph->node[n];
            const bool is = l->state.is_opaque[n] && reader->kernel && reader->kernel->algorithm;
            feeds = feeds || (reader->in[k] == root && is);
            others = others || (reader->in[k] == root && !is);
        }
    return feeds && !others && !l->state.is_host && !l->call->keeps_maps && g->n_roots == 1 &&
           !g->root_use[0]->is_own_reduction && l->output_of[root] < 0 &&
           kn_shape_size(t->ndim, t->shape) >= KN_FEWEST_FUSED;
}

/* The reason to split the group into several kernels; untouched: keep it. */
static kiln_status find_why_split(kn_why *out, const kn_lowering *l, kn_placed *at, const kn_resolved *r)
{
    kn_fusion fusion;
    if (feeds_algorithms(l, &at->group)) {
        l->is_apart[at->group.root[0]] = true;
        *out = KN_WHY_READER;
        return KILN_OK;
    }
    const kn_part part = {&r->spec, NULL, &r->launch_params, &r->space, &r->space, NULL};
    if (r->spec.schedule.kind->reads_again && (l->is_held || r->space.size > FEW_ELEMENTS)) {
        *out = KN_WHY_ROWS;
        return KILN_OK;
    }
    if (!kn_fusion_describe(&fusion, &r->spec, &r->space))
        return KILN_OK;
    kiln_status status = kn_fusion_place(&fusion, &part);
    if (status != KILN_OK)
        return status;
    fusion.spared = l->is_held;
    at->only_reads = !fusion.has_map && r->spec.schedule.kind->takes_turns && r->spec.schedule.vector > 1 &&
                     r->space.size > FEW_ELEMENTS;
    at->times = kn_fusion_weigh(&fusion);
    *out = kn_fusion_is_split(&at->times) ? KN_WHY_MOVES : KN_WHY_NONE;
    return KILN_OK;
}

/* The use that alone reads this one, in a group and elsewhere; NULL. */
static const kn_use *only_reader(const kn_lowering *l, const kn_group *g, const kn_use *u)
{
    const kn_use *reader = NULL;
    int count = 0;
    for (const kn_use *other = g->first_use; other; other = other->after) {
        count += other != u && other->node == u->node;
        for (int k = 0; k < other->n_in; ++k)
            if (other->in[k] == u) {
                reader = other;
                ++count;
            }
    }
    const kn_root_user *users = l->users[u->node];
    bool is_alone = l->output_of[u->node] < 0 && users && !users->next;
    return count == 1 && is_alone ? reader : NULL;
}

/* The node to be stored for a reduction: what follows from it and from numbers alone (`sqrt(var(x) + 0.1)`)
 * would be computed again for each element of the map that reads it. */
static int follow_result(kn_lowering *l, const kn_group *g, const kn_use *u)
{
    const int reduction = u->node;
    const bool rounds =
        kn_dtype_is_half(l->typed[reduction].dtype) && l->state.flags & KILN_KERNEL_ROUND_EACH;
    for (const kn_use *next; !l->state.is_host && !rounds && (next = only_reader(l, g, u)) != NULL;
         u = next) {
        const kn_typed *t = &l->typed[next->node], *own = &l->typed[u->node];
        bool follows = next->level == 1 && !next->is_all && !next->is_own_reduction && !next->leaf &&
                       next != g->root_use[0] && next->n_unrolled == 0 && t->dtype == own->dtype &&
                       kn_shape_size(t->ndim, t->shape) == kn_shape_size(own->ndim, own->shape) &&
                       l->state.graph->node[next->node].kind == KN_NODE_CALL;
        for (int k = 0; k < next->n_in; ++k)
            follows = follows &&
                      (next->in[k] == u || l->state.graph->node[next->in[k]->node].kind == KN_NODE_NUMBER);
        if (!follows)
            break;
    }
    l->state.is_of_result[u->node] = u->node != reduction;
    return u->node;
}

/* Stores the results of the group's first reductions. */
static void split(kn_lowering *l, const kn_placed *at, kn_why why)
{
    const kn_group *g = &at->group;
    l->is_again = true;
    for (int k = 0; k < g->n_roots && g->n_roots > 1; ++k)
        l->is_alone[g->root[k]] = true;
    for (const kn_use *u = g->first_use; u && g->n_roots == 1; u = u->after)
        if (u->is_own_reduction && u->level == 1 && u != g->root_use[0] && !l->state.is_buffered[u->node]) {
            int node = follow_result(l, g, u);
            l->times[node] = at->times;
            kn_lowering_add_buffer(l, node, why);
        }
}

/* Stores the results of reductions without a loop, each by a kernel with one. */
static void roll_up(kn_lowering *l, const kn_placed *at)
{
    for (const kn_use *u = at->group.first_use; u; u = u->after)
        if (u->n_unrolled > 1 && !l->state.is_buffered[u->node])
            kn_lowering_add_buffer(l, u->node, KN_WHY_PLACE);
}

/* True if the lowering starts anew, with reductions that need no other's result: several kernels read their
 * input one time less then, and one kernel would gain nothing. On the host exponentials cost more than bytes.
 */
static bool starts_anew(kn_lowering *l, const kn_group *g)
{
    kn_replacement *r = l->replacement;
    if (g->n_levels < 2 || l->state.is_host || l->form == KN_FORM_DIRECT)
        return false;
    if (l->is_held)
        r->form = KN_FORM_AS_WRITTEN;
    else if (kn_direct_make(&r->graph, l->graph, l->typed, l->expression->options.flags, &r->arena))
        r->form = KN_FORM_DIRECT;
    return r->form != l->form;
}

/* Splits a kernel that would pass over long rows several times, leave most of the device idle, gather
 * elements across its rows, or gather those of reductions without a loop one by one. */
static kiln_status check_part(kn_lowering *l, kn_lowered_part *part, kn_placed *at)
{
    kn_resolved *r = kn_malloc(sizeof *r);
    if (!r)
        return kn_lowering_no_memory();
    kiln_status status = kn_resolve(r, &part->binding, &part->options, l->call->target);
    bool takes_any_layout = status == KILN_OK && r->spec.schedule.kind->takes_any_layout;
    const kn_resolved *known = status == KILN_OK ? r : NULL;
    if (kn_lowering_make_terms(l, part, &at->group, known) ||
        (!takes_any_layout && kn_lowering_turn_input(l, part, &at->group, known))) {
        kn_free(r);
        return KILN_OK;
    }
    if (at->group.has_unrolled &&
        (status == KILN_ERROR_UNSUPPORTED || (status == KILN_OK && !r->spec.schedule.kind->takes_unrolled))) {
        kn_free(r);
        roll_up(l, at);
        return KILN_OK;
    }
    kn_why why = status == KILN_ERROR_UNSUPPORTED ? KN_WHY_ROWS : KN_WHY_NONE;
    if (status == KILN_OK)
        status = find_why_split(&why, l, at, r);
    kn_free(r);
    if (why == KN_WHY_NONE && status == KILN_OK && at->only_reads)
        starts_anew(l, &at->group); /* in one pass, if reductions need not wait for each other */
    if (why == KN_WHY_NONE)
        return status;
    if (!starts_anew(l, &at->group))
        split(l, at, why);
    return l->replacement->arena.failed ? kn_lowering_no_memory() : KILN_OK;
}

static int count_strips(const kn_lowering *l, const kn_group *g)
{
    int count = 0;
    for (int r = 0; r < g->n_roots; ++r)
        count += kn_is_strips(&l->state, g->root[r]);
    return count;
}

/* The lowering starts anew, without the strips of the group. */
static kiln_status refuse_strips(kn_lowering *l, const kn_group *g)
{
    kn_replacement *r = l->replacement;
    if (!r->refused)
        r->refused = kn_arena_take(&r->arena, (size_t)l->n_nodes);
    for (int k = 0; k < g->n_roots && r->refused; ++k)
        if (kn_is_strips(&l->state, g->root[k]))
            r->refused[l->state.graph->node[g->root[k]].index] = true;
    r->is_refused = true;
    return r->refused ? KILN_OK : kn_lowering_no_memory();
}

/* Refuses strips that no kernel combines, or that share their reading with nothing. */
static kiln_status check_strips(kn_lowering *l, kn_lowered_part *part, const kn_group *g)
{
    if (g->n_levels == 0 && count_strips(l, g) == g->n_roots)
        return refuse_strips(l, g);
    kn_resolved *r = kn_malloc(sizeof *r);
    if (!r)
        return kn_lowering_no_memory();
    kiln_status status = kn_resolve(r, &part->binding, &part->options, l->call->target);
    kn_free(r);
    return status == KILN_ERROR_UNSUPPORTED ? refuse_strips(l, g) : status;
}

/* True if the group computes a node that has been stored since: it will be built again. */
static bool is_stale(const kn_lowering *l, const kn_group *g)
{
    bool is = false;
    for (int r = 0; r < g->n_roots; ++r)
        is = is || l->is_pending[g->root[r]];
    return is;
}

static kiln_status make_part(kn_lowering *l, int at)
{
    kn_lowered_part *part = &l->out->part[at];
    const kn_group *g = &l->group[at].group;
    char name[KN_NAME_MAX];
    int buffered = -1;
    if (is_stale(l, g))
        return KILN_OK;
    const kn_expression *e = g->option_group ? g->option_group->context : l->expression;
    if (g->is_opaque)
        return kn_lowering_make_opaque(l, part, &l->text[at], g);
    snprintf(name, sizeof name, l->n_groups > 1 ? "%.48s_%d" : "%.48s", l->state.graph->name, at + 1);
    kn_arena scratch = KN_ARENA_INIT;
    kn_lower_state state = l->state;
    state.arena = &scratch;
    kiln_status status = kn_text_write(&l->text[at], &buffered, g, &state, name, &e->options);
    kn_arena_free(&scratch);
    part->program = l->text[at].program;
    if (status == KILN_OK && buffered >= 0) {
        if (!l->state.is_buffered[buffered])
            kn_lowering_add_buffer(l, buffered, KN_WHY_RANGE);
        return KILN_OK;
    }
    if (status == KILN_OK)
        status = kn_lowering_bind_part(l, part, &l->text[at], g);
    part->is_apart = g->n_roots == 1 && l->is_apart[g->root[0]];
    if (status == KILN_OK && count_strips(l, g) > 0)
        status = check_strips(l, part, g);
    else if (status == KILN_OK && g->n_levels > 0 && !g->is_scan)
        status = check_part(l, part, &l->group[at]);
    else if (status == KILN_OK && !g->is_scan)
        status = kn_lowering_turn_narrow(l, part, g);
    return status;
}

static bool must_start_anew(const kn_lowering *l)
{
    return l->replacement->form != l->form || l->replacement->is_refused;
}

static kiln_status make_parts(kn_lowering *l)
{
    kiln_status status = KILN_OK;
    kn_lowered_drop_parts(l->out);
    l->out->part = kn_calloc((size_t)l->n_groups + 1, sizeof *l->out->part);
    if (!l->out->part)
        return kn_lowering_no_memory();
    l->out->n_parts = l->n_groups;
    for (int p = 0; p < l->n_groups && status == KILN_OK && !must_start_anew(l); ++p)
        status = make_part(l, p);
    return status;
}

static kiln_status report(kn_lowering *l)
{
    l->out->moved = (kn_moved){0, 0, kn_report_alone(&l->state)};
    for (int p = 0; p < l->n_groups; ++p)
        kn_report_group(&l->out->moved, &l->state, &l->group[p].group);
    kiln_status status = kn_report_stored(l->out, &l->state, l->buffer_of, l->why, l->times);
    for (int p = 0; p < l->n_groups && status == KILN_OK; ++p) {
        kn_str label = KN_STR_INIT;
        kn_report_part(&label, &l->state, &l->group[p].group, &l->text[p], l->out->part[p].program);
        kn_report_times(&label, &l->group[p].times);
        l->out->part[p].label = kn_str_take(&label, "a lowered expression");
        status = l->out->part[p].label ? KILN_OK : KILN_ERROR_MEMORY;
    }
    return status;
}

/* Takes the form for kernels that hold rows, where it is another one. */
static kiln_status hold(kn_lowering *l)
{
    kn_replacement *r = l->replacement;
    if (l->form != KN_FORM_HELD || l->call->target->backend == KN_HOST ||
        !kn_held_make(&r->graph, l->graph, l->typed, l->expression->options.flags, &r->arena))
        return r->arena.failed ? kn_lowering_no_memory() : KILN_OK;
    l->graph = &r->graph;
    l->is_held = true;
    kn_free(l->typed);
    l->typed = NULL;
    return infer(l);
}

/* Cuts reductions into strips where another kernel has their input row by row. */
static kiln_status cut_strips(kn_lowering *l)
{
    kn_replacement *r = l->replacement;
    l->n_nodes = l->graph->n_nodes;
    if (l->call->target->backend == KN_HOST ||
        !kn_strips_make(&r->strips, l->graph, l->typed, l->expression->options.flags, r->refused, &r->arena))
        return r->arena.failed ? kn_lowering_no_memory() : KILN_OK;
    l->graph = &r->strips;
    kn_free(l->typed);
    l->typed = NULL;
    return infer(l);
}

/* Lowers the expression in the wanted form. Another one may be wanted in the end. */
static kiln_status lower(kn_lowered *out, const kn_expression *expression, const kn_lowering_call *call,
                         kn_replacement *r)
{
    kn_lowering *l = kn_calloc(1, sizeof *l);
    if (!l)
        return kn_lowering_no_memory();
    l->expression = expression;
    l->graph = r->form == KN_FORM_DIRECT ? &r->graph : expression->graph;
    l->form = r->form;
    l->replacement = r;
    l->call = call;
    l->out = out;
    kiln_status status = infer(l);
    if (status == KILN_OK)
        status = hold(l);
    if (status == KILN_OK)
        status = cut_strips(l);
    if (status == KILN_OK)
        status = prepare(l);
    if (status == KILN_OK && !out->layout) /* the same for both graphs */
        status = kn_lowering_make_layouts(l);
    l->is_again = true;
    while (status == KILN_OK && l->is_again && !must_start_anew(l)) {
        status = kn_lowering_find_groups(l);
        if (status == KILN_OK && !l->is_again)
            status = kn_lowering_make_buffers(l);
        if (status == KILN_OK && !l->is_again)
            status = make_parts(l);
    }
    if (status == KILN_OK && !must_start_anew(l)) {
        kn_lowering_find_in_place(l);
        status = report(l);
    }
    kn_lowering_drop_groups(l);
    for (int n = 0; l->own && l->is_pending && l->old && n < l->state.graph->n_nodes; ++n)
        kn_lowering_drop_own(l, n);
    kn_lowering_free_old(l);
    kn_arena_free(&l->arena);
    kn_free(l->typed);
    kn_free(l);
    return status;
}

const kn_expression *kn_lower_reading(const kn_expression *e, const kiln_arg *in)
{
    bool is_other = false;
    for (int k = 0; e->other && k < e->graph->n_in && k < 64; ++k)
        is_other = is_other || (e->graph->guessed_inputs >> k & 1 && kn_argument_dtype(&in[k]) != KILN_BOOL);
    return is_other ? e->other : e;
}

kiln_status kn_lower(kn_lowered *out, const kn_expression *expression, const kn_lowering_call *call)
{
    kn_replacement r = {.arena = KN_ARENA_INIT, .form = KN_FORM_HELD};
    kiln_status status;
    kn_form form;
    do {
        form = r.form;
        r.is_refused = false;
        status = lower(out, expression, call, &r);
        if (r.form != form)
            r.refused = NULL; /* another graph */
    } while (status == KILN_OK && (r.form != form || r.is_refused));
    kn_arena_free(&r.arena);
    return status;
}
