/* Lowering: nodes that must be stored (results and buffers) are grouped into kernels, in their order. Each
 * starts as a group of its own; one that can share a kernel with an earlier group joins it. If a group
 * needs a node in memory, that node is stored too, and only the groups that would have computed it are
 * built again: the work is linear in the graph. */
#include "fuse/lower.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "fuse/cut.h"
#include "fuse/direct.h"
#include "fuse/fusion.h"
#include "fuse/held.h"
#include "fuse/opaque.h"
#include "graph/op.h"
#include "fuse/report.h"
#include "fuse/strips.h"
#include "fuse/text.h"
#include "schedule/kind.h"
#include "space/shape.h"

/* The most elements for which a kernel of several passes over its rows is as fast as several kernels. */
enum { FEW_ELEMENTS = 1 << 15 };

/* A root whose own group computes a node; one entry of the node's list. */
typedef struct user {
    struct user *next;
    int root;
} user;

typedef struct placed {
    kn_group group;
    bool is_joined;        /* several roots: the group's memory is its own, otherwise it belongs to the
                              root's own group */
    kn_fusion_times times; /* of one kernel and of several, if these were compared */
} placed;

/* The forms of an expression's graph. Variances are written for kernels that hold rows (held.h); if one of
 * these would be several kernels after all, as they were, or so that reductions need one reading
 * (direct.h). */
typedef enum form { HELD, AS_WRITTEN, DIRECT } form;

/* The form that is wanted, and its graph, if that is not the expression's. */
typedef struct replacement {
    kn_arena arena;
    kn_graph graph, strips; /* strips: in place of either graph, with reductions cut into strips (strips.h) */
    form form;
    bool *refused;   /* reductions (by node) that are not cut; NULL: none is refused */
    bool is_refused; /* one is, since the lowering began */
} replacement;

typedef struct lowering {
    kn_lower_state state;
    const kn_expression *expression;
    const kn_graph *graph; /* the expression's, or that of the replacement */
    form form;
    bool is_held; /* variances are written for kernels that hold rows, which have one more reduction then */
    int n_nodes;  /* of the graph without strips */
    replacement *replacement;
    const kn_lowering_call *call;
    kn_arena arena;
    kn_typed *typed;
    kiln_array *array[KN_MAX_PARAMS];
    bool *is_alone;   /* by node: it joins no other group */
    bool *is_apart;   /* by stored node: a map whose reductions are stored, so that algorithms compute it */
    int *group_of;    /* by stored node: its group */
    int *output_of;   /* by node: the first result that it is; -1: none */
    int *buffer_of;   /* by node: its buffer */
    kn_group **own;   /* by stored node: the group of this node alone */
    bool *is_pending; /* by stored node: that group is still to be built. One entry more, which is false */
    user **users;     /* by node: the roots whose own groups compute it */
    kn_group **old;   /* groups that are out of date, but still in use by parts that are being made */
    int n_old;
    placed *group;
    kn_text *text; /* by group */
    int n_groups;
    kn_why *why;            /* by node */
    kn_fusion_times *times; /* by node: the times behind KN_WHY_MOVES */
    bool is_again;          /* a node was stored since the groups were built */
    kn_lowered *out;
} lowering;

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

static kiln_status infer(lowering *l)
{
    const kn_graph *g = l->graph;
    kn_argument argument[KN_MAX_PARAMS];
    kn_lower_arguments(argument, l->call->in, g->n_in);
    for (int k = 0; k < g->n_in; ++k)
        l->array[k] = l->call->in[k].kind == KILN_ARG_ARRAY ? l->call->in[k].value.array : NULL;
    return kn_graph_infer(&l->typed, g, argument);
}

static kiln_status no_memory(void)
{
    return kn_error_memory("a lowered expression");
}

static void drop_own(lowering *l, int root)
{
    if (l->own[root])
        l->old[l->n_old++] = l->own[root];
    l->own[root] = NULL;
    l->is_pending[root] = true;
}

/* Only groups of roots are in use. */
static void free_old(lowering *l)
{
    while (l->old && l->n_old > 0) {
        kn_group *g = l->old[--l->n_old];
        kn_group_free(g);
        kn_free(g);
    }
}

/* Stores a node. The groups that would compute it are built again. */
static void add_buffer(lowering *l, int node, kn_why why)
{
    kn_base_store(&l->state, node);
    l->why[node] = why;
    l->is_pending[node] = true;
    l->is_again = true;
    for (const user *u = l->users[node]; u; u = u->next)
        drop_own(l, u->root);
    l->users[node] = NULL;
}

static kn_why why_buffered(const lowering *l, const kn_group *own, int buffered)
{
    const kn_node *n = &l->state.graph->node[buffered];
    bool is_apart = n->option_group != own->option_group &&
                    (n->option_group || n->kind == KN_NODE_CALL || n->kind == KN_NODE_CAST);
    return own->is_opaque || l->state.is_opaque[buffered] || is_apart ? KN_WHY_ALONE : KN_WHY_PLACE;
}

/* kn_cut_store */
static void store(void *of, int node, bool is_too_large, const kn_group *by)
{
    lowering *l = of;
    add_buffer(l, node, is_too_large ? KN_WHY_LONG : why_buffered(l, by, node));
}

static kiln_status prepare(lowering *l)
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
    l->users = kn_arena_take(&l->arena, nodes * sizeof(user *));
    l->old = kn_arena_take(&l->arena, nodes * sizeof(kn_group *));
    l->why = kn_arena_take(&l->arena, nodes * sizeof *l->why);
    l->times = kn_arena_take(&l->arena, nodes * sizeof *l->times);
    if (!has_state || l->arena.failed)
        return no_memory();
    memset(l->output_of, 0xff, nodes * sizeof *l->output_of);
    for (int j = g->n_out; j-- > 0;)
        l->output_of[g->out[j]] = j;
    for (int j = 0; j < g->n_out; ++j)
        l->is_pending[g->out[j]] = true;
    kn_opaque_find(&l->state);
    kn_bases_find(&l->state);
    for (int n = 0; n < g->n_nodes; ++n)
        if (kn_is_strips(&l->state, n))
            add_buffer(l, n, KN_WHY_STRIPS);
    return kn_cuts_find(&l->state, store, l) ? KILN_OK : no_memory();
}

/* ---- groups ---- */

/* True if all buffers that the group reads are filled by groups before `before`. */
static bool comes_after_buffers(const lowering *l, const kn_group *g, int before)
{
    bool does = true;
    for (const kn_leaf *leaf = g->leaf; leaf; leaf = leaf->next)
        does = does && (leaf->kind != KN_BASE_BUFFER || l->group_of[leaf->node] < before);
    return does;
}

/* The limits of a search for a group to join: groups to look back at, and builds that are too large. */
enum { MOST_BACK = 64, MOST_TRIES = 8 };

/* True for a group that combines strips: one launch does so for several reductions, if they have as many. */
static bool reads_strips(const lowering *l, const kn_group *g)
{
    bool reads = g->leaf != NULL;
    for (const kn_leaf *leaf = g->leaf; leaf; leaf = leaf->next)
        reads = reads && leaf->kind == KN_BASE_BUFFER && kn_is_strips(&l->state, leaf->node);
    return reads;
}

/* A root joins a group with a leaf in common, or one of its shape if neither reduces. */
static bool joins(lowering *l, int at, const kn_group *own, int root, int *tries)
{
    kn_group *g = &l->group[at].group;
    kn_group both;
    int roots[KN_MAX_PARAMS + 1];
    if (l->is_alone[root] || l->is_alone[g->root[0]] || g->n_roots >= KN_MAX_PARAMS ||
        !(kn_groups_share(g, own) || (reads_strips(l, g) && reads_strips(l, own))))
        return false;
    memcpy(roots, g->root, (size_t)g->n_roots * sizeof *roots);
    roots[g->n_roots] = root;
    if (kn_group_build(&both, &l->state, roots, g->n_roots + 1) != KN_GROUP_DONE ||
        !comes_after_buffers(l, &both, at)) {
        *tries += both.is_too_large;
        kn_group_free(&both);
        return false;
    }
    if (l->group[at].is_joined)
        kn_group_free(g);
    l->group[at] = (placed){both, true, {0, 0}};
    l->group_of[root] = at;
    return true;
}

/* Adds a root to a group if it can. True: it has joined. */
static bool goes_along(lowering *l, int at, const kn_group *own, int root, int *tries)
{
    const kn_group *g = &l->group[at].group;
    if (!own->is_opaque && !g->is_opaque)
        return joins(l, at, own, root, tries);
    if (!own->is_opaque || !kn_opaque_joins(&l->group[at].group, &l->state, root))
        return false;
    l->group_of[root] = at;
    return true;
}

/* The first group that a root may join: all buffers that it reads are filled by this group or an earlier
 * one; by an earlier one if they were stored to have a kernel of their own. */
static int first_to_join(const lowering *l, const kn_group *own)
{
    int first = l->n_groups > MOST_BACK ? l->n_groups - MOST_BACK : 0;
    for (const kn_leaf *leaf = own->leaf; leaf; leaf = leaf->next) {
        if (leaf->kind != KN_BASE_BUFFER)
            continue;
        kn_why why = l->why[leaf->node];
        bool is_earlier = why == KN_WHY_ROWS || why == KN_WHY_MOVES || why == KN_WHY_READER;
        int least = l->group_of[leaf->node] + is_earlier;
        first = least > first ? least : first;
    }
    return first;
}

static void place_root(lowering *l, int root)
{
    const kn_group *own = l->own[root];
    int tries = 0;
    for (int at = first_to_join(l, own); at < l->n_groups && tries < MOST_TRIES; ++at)
        if (goes_along(l, at, own, root, &tries))
            return;
    l->group_of[root] = l->n_groups;
    l->group[l->n_groups++] = (placed){*own, false, {0, 0}};
}

static void note_user(lowering *l, int node, int root)
{
    user *by = node == root ? NULL : kn_arena_take(&l->arena, sizeof *by);
    if (!by)
        return;
    *by = (user){l->users[node], root};
    l->users[node] = by;
}

/* Registers the root with all nodes that its group visits, ranges behind views included. */
static bool note_users(lowering *l, const kn_group *own, int root)
{
    const kn_node *opaque = own->is_opaque ? &l->state.graph->node[root] : NULL;
    for (int k = 0; opaque && k < opaque->n_in; ++k)
        note_user(l, opaque->in[k], root);
    for (const kn_use *u = own->first_use; u; u = u->after) {
        note_user(l, u->node, root);
        if (u->leaf && u->leaf->kind == KN_BASE_RANGE && u->leaf->node != u->node)
            note_user(l, u->leaf->node, root);
    }
    return !l->arena.failed;
}

/* Builds the group of one root, or stores the nodes that it needs in memory first. */
static kiln_status build_own(lowering *l, int root)
{
    kn_group *own = l->own[root] = kn_calloc(1, sizeof *own);
    if (!own)
        return no_memory();
    l->is_pending[root] = false;
    kn_group_result result = l->state.is_opaque[root] ? kn_opaque_build(own, &l->state, root)
                                                      : kn_group_build(own, &l->state, &root, 1);
    int cut = result == KN_GROUP_TOO_LARGE ? kn_cut_choose(&l->state, own) : -1;
    if (result == KN_GROUP_REFUSED)
        return kn_error(KILN_ERROR_INTERNAL, "%s: node %d is computed by no kernel", l->state.graph->name,
                        root);
    if (result == KN_GROUP_FAILED)
        return no_memory();
    if (result == KN_GROUP_DONE || (result == KN_GROUP_TOO_LARGE && cut < 0))
        return note_users(l, own, root) ? KILN_OK : no_memory();
    if (cut >= 0)
        add_buffer(l, cut, KN_WHY_LONG);
    const kn_group_scratch *c = l->state.scratch;
    for (int k = 0; k < c->n_asked && result == KN_GROUP_NEEDS_BUFFER; ++k) {
        if (l->state.is_buffered[c->asked[k]])
            return kn_error(KILN_ERROR_INTERNAL, "%s: node %d is stored, and asked for again",
                            l->state.graph->name, c->asked[k]);
        add_buffer(l, c->asked[k], why_buffered(l, own, c->asked[k]));
    }
    drop_own(l, root);
    return KILN_OK;
}

/* From low roots to high ones: a node that a root asks for has a lower number, and is built before it. */
static kiln_status build_pending(lowering *l)
{
    size_t nodes = (size_t)l->state.graph->n_nodes;
    const bool *at = l->is_pending;
    kiln_status status = KILN_OK;
    while (status == KILN_OK && !l->arena.failed &&
           (at = memchr(at, true, nodes - (size_t)(at - l->is_pending))) != NULL) {
        int root = (int)(at - l->is_pending);
        free_old(l);
        status = build_own(l, root);
        for (int k = 0; l->is_pending[root] && k < l->state.scratch->n_asked; ++k)
            if (l->is_pending + l->state.scratch->asked[k] < at)
                at = l->is_pending + l->state.scratch->asked[k];
        if (l->is_pending[root] && l->state.scratch->n_asked == 0)
            at = l->is_pending; /* a cut is rare: start again */
    }
    return status == KILN_OK && l->arena.failed ? no_memory() : status;
}

static void drop_groups(lowering *l)
{
    for (int p = 0; p < l->n_groups; ++p)
        if (l->group[p].is_joined)
            kn_group_free(&l->group[p].group);
    kn_free(l->group);
    kn_free(l->text);
    l->group = NULL;
    l->text = NULL;
    l->n_groups = 0;
}

static kiln_status find_groups(lowering *l)
{
    size_t roots = 0;
    int n_nodes = l->state.graph->n_nodes;
    kiln_status status = build_pending(l);
    drop_groups(l);
    l->is_again = false;
    for (int n = 0; n < n_nodes; ++n)
        roots += l->own[n] != NULL;
    l->group = kn_calloc(roots + 1, sizeof *l->group);
    l->text = kn_calloc(roots + 1, sizeof *l->text);
    if (status == KILN_OK && (!l->group || !l->text))
        status = no_memory();
    for (int n = 0; n < n_nodes && status == KILN_OK; ++n)
        if (l->own[n])
            place_root(l, n);
    return status == KILN_OK && l->arena.failed ? no_memory() : status;
}

/* ---- bindings ---- */

/* A view along the axes of the program's space. */
static kiln_status set_view(kiln_array **out, const kn_text *t, const kn_group *g, int count,
                            kiln_array *array, char *data, kiln_dtype dtype, const int64_t *stride)
{
    int64_t shape[KILN_MAX_NDIM], strides[KILN_MAX_NDIM];
    for (int k = 0; k < count; ++k) {
        shape[k] = g->extent[t->order[k]];
        strides[k] = stride[t->order[k]];
    }
    return kn_lowered_view(out, array, data, dtype, count, shape, strides);
}

/* The source of input k of a part, and its dtype there. *array: the array of the call that it views; NULL:
 * it is in a buffer. *data: its first element, in a buffer as an offset. */
static void find_source(const lowering *l, kn_lowered_part *part, const kn_text *t, int k, kiln_array **array,
                        char **data)
{
    const kn_text_param *p = &t->in[k];
    kn_operand *o = &part->binding.operand[k];
    *array = NULL;
    *data = NULL;
    *o = (kn_operand){.pass = KN_PASS_SCALAR, .dtype = p->dtype};
    if (!p->leaf) {
        int n_in = l->state.graph->n_in;
        part->source[k] = (kn_source){.kind = p->input < 0      ? KN_FROM_NUMBER
                                              : p->input < n_in ? KN_FROM_INPUT
                                                                : KN_FROM_COMPUTED,
                                      .index = p->input < n_in ? p->input : p->input - n_in,
                                      .number = p->number,
                                      .bound = p->bound};
        return;
    }
    *data = (char *)(intptr_t)p->leaf->shift;
    *o = (kn_operand){.pass = KN_PASS_ARRAY, .seen = p->dtype};
    if (p->leaf->kind == KN_BASE_INPUT) {
        int input = l->state.graph->node[p->leaf->node].index;
        *array = l->array[input];
        *data = (*array)->data + p->leaf->shift;
        o->dtype = (*array)->dtype;
        part->source[k] = (kn_source){.kind = KN_FROM_INPUT, .index = input, .shift = p->leaf->shift};
    } else {
        o->dtype = kn_buffer_dtype(&l->state, p->leaf->node);
        part->source[k] = (kn_source){
            .kind = KN_FROM_BUFFER, .index = l->buffer_of[p->leaf->node], .shift = p->leaf->shift};
    }
}

static kiln_status bind_input(lowering *l, kn_lowered_part *part, const kn_text *t, const kn_group *g, int k)
{
    kiln_array *array;
    char *data;
    find_source(l, part, t, k, &array, &data);
    if (!t->in[k].leaf)
        return KILN_OK;
    return set_view(&part->binding.array[k], t, g, g->ndim, array, data, part->binding.operand[k].dtype,
                    t->in[k].leaf->stride);
}

/* Byte strides along the axes of the group's space, for an array of the root's shape. */
static void spread(int64_t *out, const lowering *l, const kn_group *g, int r, const int64_t *stride)
{
    memset(out, 0, KILN_MAX_NDIM * sizeof *out);
    for (int a = 0; a < l->typed[g->root[r]].ndim; ++a)
        if (g->root_use[r]->map[a].to >= 0)
            out[g->root_use[r]->map[a].to] = stride[a];
}

/* The destination of a root, its dtype and layout. *given: the array of the call; NULL: it is in a buffer,
 * or still to be allocated. */
static void find_target(const lowering *l, kn_operand *o, kn_source *source, kiln_array **given,
                        int64_t *stride, int node)
{
    const kn_typed *typed = &l->typed[node];
    int j = l->output_of[node];
    bool is_buffered = l->state.is_buffered[node];
    *given = j >= 0 && !is_buffered && l->call->out ? l->call->out[j] : NULL;
    o->dtype = *given ? (*given)->dtype : is_buffered ? kn_buffer_dtype(&l->state, node) : typed->dtype;
    *source = is_buffered ? (kn_source){.kind = KN_FROM_BUFFER, .index = l->buffer_of[node]}
                          : (kn_source){.kind = KN_FROM_OUTPUT, .index = j};
    if (typed->ndim > 0)
        memcpy(stride,
               is_buffered ? l->state.base[node].stride
               : *given    ? (*given)->strides
                           : l->out->layout[j].extents + typed->ndim,
               (size_t)typed->ndim * sizeof *stride);
}

/* Strips of rows: a whole array. */
static kiln_status bind_strips(const lowering *l, kn_lowered_part *part, int node, int k)
{
    const kn_typed *t = &l->typed[node];
    kn_operand *o = &part->binding.operand[k];
    *o = (kn_operand){.pass = KN_PASS_RAW,
                      .dtype = t->dtype,
                      .seen = t->dtype,
                      .raw_rank = t->ndim,
                      .raw_contiguous = true};
    part->source[k] = (kn_source){.kind = KN_FROM_BUFFER, .index = l->buffer_of[node]};
    return kn_lowered_view(&part->binding.array[k], NULL, NULL, t->dtype, t->ndim, t->shape,
                           l->state.base[node].stride);
}

static kiln_status bind_output(lowering *l, kn_lowered_part *part, const kn_text *t, const kn_group *g, int r)
{
    int node = g->root[r], k = t->n_in + r;
    int64_t own[KILN_MAX_NDIM] = {0}, stride[KILN_MAX_NDIM];
    kiln_array *given;
    kn_operand *o = &part->binding.operand[k];
    bool is_reduced = part->program->reduced_outputs >> r & 1;
    if (kn_is_strips(&l->state, node))
        return bind_strips(l, part, node, k);
    *o = (kn_operand){.pass = KN_PASS_ARRAY, .seen = kn_computed_dtype(l->typed[node].dtype)};
    find_target(l, o, &part->source[k], &given, own, node);
    spread(stride, l, g, r, own);
    return set_view(&part->binding.array[k], t, g, is_reduced ? t->n_output_axes : g->ndim, given,
                    given ? given->data : NULL, o->dtype, stride);
}

/* Views of one array of the call have the same distance in each call of the same key; others need not. */
static void bind_distances(kn_lowered_part *part, int n_in)
{
    int before = -1;
    for (int k = 0; k < n_in; ++k) {
        const kn_source *own = &part->source[k], *other = before < 0 ? own : &part->source[before];
        if (!part->binding.array[k])
            continue;
        if (before >= 0 && own->kind == other->kind && own->index == other->index)
            part->binding.after[k] = kn_bytes_after(part->binding.array[k], part->binding.array[before]);
        before = k;
    }
}

static kiln_status bind_part(lowering *l, kn_lowered_part *part, const kn_text *t, const kn_group *g)
{
    kiln_status status = KILN_OK;
    kn_binding *b = &part->binding;
    b->program = part->program;
    b->device = l->call->device;
    for (int k = 0; k < t->n_in && status == KILN_OK; ++k)
        status = bind_input(l, part, t, g, k);
    for (int r = 0; r < g->n_roots && status == KILN_OK; ++r)
        status = bind_output(l, part, t, g, r);
    if (status == KILN_OK)
        bind_distances(part, t->n_in);
    b->n_arrays = kn_operands_settle(b->operand, t->n_in + g->n_roots);
    part->options = (kiln_call_options)KILN_CALL_OPTIONS_INIT;
    part->options.block = l->call->options->block;
    bool is_said = false; /* by an array that is no result of a reduction */
    for (int k = 0; k < t->n_in + g->n_roots; ++k)
        is_said |= b->array[k] && b->operand[k].pass != KN_PASS_RAW &&
                   !(k >= t->n_in && part->program->reduced_outputs >> (k - t->n_in) & 1);
    for (int k = 0; k < g->ndim; ++k)
        part->shape[k] = g->extent[t->order[k]];
    if (!is_said) {
        part->options.shape = part->shape;
        part->options.ndim = g->ndim;
    }
    return status;
}

/* ---- kernels as the user defined them ---- */

/* An array of an opaque kernel, in its own shape. */
static kiln_status bind_opaque(kn_lowered_part *part, int k, int ndim, const int64_t *shape,
                               kiln_array *array, char *data, const int64_t *stride)
{
    int64_t dense[KILN_MAX_NDIM];
    kn_operand *o = &part->binding.operand[k];
    if (part->program->param[k].is_raw) {
        kn_shape_c_strides(ndim, shape, (int64_t)kiln_dtype_size(o->dtype), dense);
        o->pass = KN_PASS_RAW;
        o->raw_rank = ndim;
        o->raw_contiguous = memcmp(dense, stride, (size_t)ndim * sizeof *dense) == 0;
        if (o->dtype != o->seen)
            return kn_error(KILN_ERROR_TYPE,
                            "%s: '%s' is raw, and of %s; an array of %s was given, which raw parameters do "
                            "not convert",
                            part->program->name, part->program->param[k].name, kiln_dtype_name(o->seen),
                            kiln_dtype_name(o->dtype));
    }
    return kn_lowered_view(&part->binding.array[k], array, data, o->dtype, ndim, shape, stride);
}

static kiln_status bind_opaque_input(lowering *l, kn_lowered_part *part, const kn_text *t, const kn_group *g,
                                     int k)
{
    const kn_typed *typed = &l->typed[l->state.graph->node[g->root[0]].in[k]];
    kiln_array *array;
    char *data;
    find_source(l, part, t, k, &array, &data);
    return t->in[k].leaf ? bind_opaque(part, k, typed->ndim, typed->shape, array, data, t->in[k].leaf->stride)
                         : KILN_OK;
}

/* Output j of an opaque kernel. The outputs of an algorithm have shapes of their own. */
static kiln_status describe_output(kn_described *out, const lowering *l, const kn_group *g, int j)
{
    const kn_node *node = &l->state.graph->node[g->root[0]];
    const kn_typed *t = &l->typed[g->root[0]];
    if (kn_node_algorithm(node))
        return kn_graph_describe(out, l->state.graph, l->typed, node, j);
    memset(out, 0, sizeof *out);
    out->dtype = node->kernel ? t->param[node->n_in + j] : t->variant.dtype[node->n_in + j];
    out->ndim = t->ndim;
    if (t->ndim > 0)
        memcpy(out->shape, t->shape, (size_t)t->ndim * sizeof *t->shape);
    return KILN_OK;
}

static kiln_status bind_opaque_output(lowering *l, kn_lowered_part *part, const kn_group *g, int j)
{
    const kn_node *node = &l->state.graph->node[g->root[0]];
    int k = node->n_in + j, r = kn_opaque_root(g, &l->state, j);
    int64_t stride[KILN_MAX_NDIM];
    kiln_array *given = NULL;
    kn_operand *o = &part->binding.operand[k];
    kn_described own;
    kiln_status status = describe_output(&own, l, g, j);
    if (status != KILN_OK)
        return status;
    *o = (kn_operand){.pass = KN_PASS_ARRAY, .seen = own.dtype, .dtype = own.dtype};
    if (r >= 0) {
        find_target(l, o, &part->source[k], &given, stride, g->root[r]);
    } else {
        part->source[k] = (kn_source){.kind = KN_FROM_BUFFER, .index = g->spare[j]};
        kn_shape_c_strides(own.ndim, own.shape, (int64_t)kiln_dtype_size(o->dtype), stride);
    }
    return bind_opaque(part, k, own.ndim, own.shape, given, given ? given->data : NULL, stride);
}

static kiln_status make_opaque(lowering *l, kn_lowered_part *part, kn_text *t, const kn_group *g)
{
    const kn_node *node = &l->state.graph->node[g->root[0]];
    kn_binding *b = &part->binding;
    kiln_status status = kn_opaque_write(t, &part->kernel, g, &l->state);
    part->program = t->program;
    if (status != KILN_OK)
        return status;
    b->program = part->program;
    b->device = l->call->device;
    for (int k = 0; k < t->n_in && status == KILN_OK; ++k)
        status = bind_opaque_input(l, part, t, g, k);
    for (int j = 0; j < part->program->n_out && status == KILN_OK; ++j)
        status = bind_opaque_output(l, part, g, j);
    b->n_arrays = kn_operands_settle(b->operand, t->n_in + part->program->n_out);
    part->options = (kiln_call_options)KILN_CALL_OPTIONS_INIT;
    part->options.block = l->call->options->block;
    part->options.axes = node->has_axes ? node->axis : NULL;
    part->options.n_axes = node->has_axes ? node->n_axes : 0;
    part->options.flags = node->keepdims ? KILN_CALL_KEEPDIMS : 0;
    return status;
}

/* ---- parts ---- */

/* True if algorithms alone read a large map behind reductions. They can compute it (kernel/fuse_maps.c), so
 * that only the results of the reductions are stored. */
static bool feeds_algorithms(const lowering *l, const kn_group *g)
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
static kiln_status find_why_split(kn_why *out, const lowering *l, placed *at, const kn_resolved *r)
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
    at->times = kn_fusion_weigh(&fusion);
    *out = kn_fusion_is_split(&at->times) ? KN_WHY_MOVES : KN_WHY_NONE;
    return KILN_OK;
}

/* Stores the results of the group's first reductions. */
static void split(lowering *l, const placed *at, kn_why why)
{
    const kn_group *g = &at->group;
    l->is_again = true;
    for (int k = 0; k < g->n_roots && g->n_roots > 1; ++k)
        l->is_alone[g->root[k]] = true;
    for (const kn_use *u = g->first_use; u && g->n_roots == 1; u = u->after)
        if (u->is_own_reduction && u->level == 1 && u != g->root_use[0] && !l->state.is_buffered[u->node]) {
            l->times[u->node] = at->times;
            add_buffer(l, u->node, why);
        }
}

/* Stores the results of reductions without a loop, each by a kernel with one. */
static void roll_up(lowering *l, const placed *at)
{
    for (const kn_use *u = at->group.first_use; u; u = u->after)
        if (u->n_unrolled > 1 && !l->state.is_buffered[u->node])
            add_buffer(l, u->node, KN_WHY_PLACE);
}

/* True if a leaf has many elements side by side from the axis on: the axis is long, or the next ones continue
 * its rows with no more than gaps between them. */
enum { SHORT_SIDE = 32 };
static bool runs_on(const kn_group *g, const kn_leaf *leaf, int axis)
{
    int64_t run = g->extent[axis], step = llabs(leaf->stride[axis]);
    for (int next = axis; next >= 0 && run < SHORT_SIDE;) {
        int64_t end = step * g->extent[next];
        next = -1;
        for (int a = 0; a < g->ndim; ++a)
            if (g->extent[a] > 1 && llabs(leaf->stride[a]) >= end && llabs(leaf->stride[a]) <= 2 * end)
                next = a;
        step = next >= 0 ? llabs(leaf->stride[next]) : 0;
        run *= next >= 0 ? g->extent[next] : 1;
    }
    return run >= SHORT_SIDE;
}

static int item_of(const lowering *l, const kn_leaf *leaf)
{
    return l->array[l->state.graph->node[leaf->node].index]->item_size;
}

/* The axis of the space along which the elements of a leaf are neighbours; -1: none, or it is short and
 * `long_ones` are wanted. */
static int axis_along(const lowering *l, const kn_group *g, const kn_leaf *leaf, bool long_ones)
{
    int along = -1, item = item_of(l, leaf);
    for (int a = 0; a < g->ndim; ++a)
        if (leaf->stride[a] == item && (g->extent[a] >= SHORT_SIDE || (!long_ones && runs_on(g, leaf, a))))
            along = a;
    return along;
}

static int64_t elements_of(const kn_group *g, const kn_leaf *leaf)
{
    int64_t count = 1;
    for (int a = 0; a < g->ndim; ++a)
        count *= leaf->stride[a] != 0 ? g->extent[a] : 1;
    return count;
}

/* The axis of the space along which a node's elements would be neighbours if it were stored; -1: it is used
 * more or less than once. */
static int axis_if_stored(const lowering *l, const kn_group *g, const kn_use *u)
{
    const kn_typed *t = &l->typed[u->node];
    int64_t count = 1;
    int along = -1;
    for (int a = 0; a < t->ndim; ++a) {
        count *= t->shape[a];
        along = t->shape[a] > 1 ? u->map[a].to : along;
    }
    return count == elements_of(g, u->leaf) ? along : -1;
}

enum { MANY_GATHERED = 1 << 18, MANY_RESULTS = 1 << 16 };
static bool is_large_input(const kn_group *g, const kn_leaf *leaf)
{
    return leaf && leaf->kind == KN_BASE_INPUT && elements_of(g, leaf) >= MANY_GATHERED;
}

/* True if a large input lies along the axis. */
static bool has_input_along(const lowering *l, const kn_group *g, int axis, bool long_ones)
{
    for (const kn_leaf *leaf = g->leaf; leaf; leaf = leaf->next)
        if (is_large_input(g, leaf) && axis_along(l, g, leaf, long_ones) == axis)
            return true;
    return false;
}

static int64_t bytes_of(const lowering *l, const kn_group *g, const kn_leaf *leaf)
{
    return elements_of(g, leaf) * item_of(l, leaf);
}

/* Bytes of all inputs. */
static int64_t bytes_read(const lowering *l, const kn_group *g)
{
    int64_t bytes = 0;
    for (const kn_leaf *leaf = g->leaf; leaf; leaf = leaf->next)
        bytes += leaf->kind == KN_BASE_INPUT ? bytes_of(l, g, leaf) : 0;
    return bytes;
}

/* True if results are so many that neighbours share the sectors of what is gathered, and the copy of this
 * input would move more than that saves. */
static bool is_costly_to_turn(const lowering *l, const kn_group *g, const kn_leaf *leaf)
{
    int64_t results = 1;
    for (int a = 0; a < g->ndim; ++a)
        results *= g->reduced >> a & 1 ? 1 : g->extent[a];
    return results >= MANY_RESULTS && 2 * bytes_of(l, g, leaf) > bytes_read(l, g);
}

/* The host gathers words as fast as it copies them, but not elements narrower than words, nor many words
 * beside such, which keep them out of vectors. */
enum { TURNED_BYTES = 2 << 20, NARROW_GATHERED = 2 };
static bool is_gathered_slowly(const lowering *l, const kn_group *g, const kn_leaf *leaf)
{
    bool is_mixed = false;
    for (const kn_leaf *other = g->leaf; other; other = other->next)
        is_mixed = is_mixed || (other->kind == KN_BASE_INPUT && item_of(l, other) <= NARROW_GATHERED);
    return item_of(l, leaf) <= NARROW_GATHERED || (is_mixed && bytes_of(l, g, leaf) >= TURNED_BYTES);
}

/* Stores an input of a reduction that lies along another axis than a second one does, if it would lie along
 * that axis then: copied in tiles it is read and written once more, gathered it moves a sector for each
 * element. A short axis counts only where all inputs are gathered. False: there is none. */
static bool turn_input(lowering *l, const kn_lowered_part *part, const kn_group *g, const kn_resolved *r)
{
    /* Other programs are split where they gather: a map behind a reduction transposes as maps do. */
    if (strcmp(part->program->pattern, "mrk") != 0)
        return false;
    bool long_ones = !l->state.is_host && (!r || !kn_fusion_gathers_apart(&r->spec, &r->space));
    for (const kn_use *u = g->first_use; u; u = u->after) {
        if (!is_large_input(g, u->leaf))
            continue;
        int own = axis_along(l, g, u->leaf, long_ones), stored = axis_if_stored(l, g, u);
        if (own < 0 || stored < 0 || own == stored || !has_input_along(l, g, stored, long_ones))
            continue;
        /* reduce_slices stages rows along a reduction axis, and reads what lies along an output axis */
        if (long_ones && (g->reduced >> own & 1) != (g->reduced >> stored & 1))
            continue;
        if (l->state.is_host ? !is_gathered_slowly(l, g, u->leaf)
                             : !long_ones && is_costly_to_turn(l, g, u->leaf))
            continue;
        add_buffer(l, u->node, KN_WHY_LAYOUT);
        return true;
    }
    return false;
}

/* Large inputs of a map by how they lie: along the axis of the results, or across it, all along one other
 * axis or not. */
typedef struct sides {
    int along, across;
    bool is_one_axis;
    int narrowest; /* bytes of an element of those along the axis */
} sides;

static sides sides_of(const lowering *l, const kn_group *g, int axis)
{
    sides all = {.is_one_axis = true};
    int other = -1;
    for (const kn_leaf *leaf = g->leaf; leaf; leaf = leaf->next) {
        int own = is_large_input(g, leaf) ? axis_along(l, g, leaf, false) : -1;
        bool is_across = own >= 0 && own != axis;
        all.across += is_across;
        all.is_one_axis = all.is_one_axis && (!is_across || other < 0 || own == other);
        other = is_across ? own : other;
        all.along += own == axis;
        if (own == axis && (all.narrowest == 0 || item_of(l, leaf) < all.narrowest))
            all.narrowest = item_of(l, leaf);
    }
    return all;
}

/* True if an input of a map is worth a copy: one of those that lie along several axes, since one axis alone
 * has a tile and elements along another take a sector each; or a small one beside several that lie along the
 * results, which are gathered for its sake. The narrower these are, the more instructions that takes for each
 * byte. */
enum { SECTOR = 32, NARROW = 4, SMALL_PART = 5, WORTH_A_LAUNCH = 16 << 20 };
static bool is_worth_a_copy(const lowering *l, const kn_group *g, const kn_leaf *leaf, int stored,
                            int64_t size)
{
    const sides all = sides_of(l, g, stored);
    int64_t bytes = bytes_of(l, g, leaf);
    if (!all.is_one_axis)
        return 2 * bytes <= size && 4 * item_of(l, leaf) <= SECTOR && g->extent[stored] >= SHORT_SIDE;
    if (all.across > 1 || all.along < 2 || item_of(l, leaf) >= NARROW)
        return false;
    return (all.narrowest < NARROW ? 2 * all.narrowest : SMALL_PART) * bytes <= size;
}

/* Finds the smallest input of a large map that lies along another axis than the results, and that should lie
 * as they do; NULL: there is none. */
static const kn_use *find_narrow(const lowering *l, const kn_group *g)
{
    const kn_use *best = NULL;
    int64_t size = (int64_t)kiln_dtype_size(l->typed[g->root[0]].dtype);
    for (int a = 0; a < g->ndim; ++a)
        size *= g->extent[a];
    size += bytes_read(l, g);
    for (const kn_use *u = g->first_use; u && size >= WORTH_A_LAUNCH; u = u->after) {
        int own = is_large_input(g, u->leaf) ? axis_along(l, g, u->leaf, false) : -1,
            stored = own < 0 ? -1 : axis_if_stored(l, g, u);
        if (stored < 0 || own == stored)
            continue;
        if (is_worth_a_copy(l, g, u->leaf, stored, size) &&
            (!best || bytes_of(l, g, u->leaf) < bytes_of(l, g, best->leaf)))
            best = u;
    }
    return best;
}

/* Stores such an input in the order of the rest, if the map's kernel would take its elements one by one. */
static kiln_status turn_narrow(lowering *l, kn_lowered_part *part, const kn_group *g)
{
    const kn_use *narrow = l->state.is_host || g->n_roots > 1 || strcmp(part->program->pattern, "m") != 0
                               ? NULL
                               : find_narrow(l, g);
    kn_resolved *r = narrow ? kn_malloc(sizeof *r) : NULL;
    if (!narrow)
        return KILN_OK;
    if (!r)
        return no_memory();
    kiln_status status = kn_resolve(r, &part->binding, &part->options, l->call->target);
    if (status == KILN_OK && r->spec.schedule.kind->takes_apart)
        add_buffer(l, narrow->node, KN_WHY_LAYOUT);
    kn_free(r);
    return status;
}

/* The output axis along which elements of a leaf share the smallest transfers of memory; -1: none, or it is
 * short. */
static int nearest_output(const kn_group *g, const kn_leaf *leaf)
{
    int nearest = -1;
    for (int a = 0; a < g->ndim; ++a)
        if (!(g->reduced >> a & 1) && leaf->stride[a] != 0 && llabs(leaf->stride[a]) < SECTOR &&
            g->extent[a] >= SHORT_SIDE &&
            (nearest < 0 || llabs(leaf->stride[a]) < llabs(leaf->stride[nearest])))
            nearest = a;
    return nearest;
}

/* True if two large inputs lie along different output axes: a reduction would gather one of them, a map
 * transposes it in shared memory. */
static bool lie_crosswise(const kn_group *g)
{
    int axis = -1;
    for (const kn_leaf *leaf = g->leaf; leaf; leaf = leaf->next) {
        int own = leaf->kind == KN_BASE_INPUT && elements_of(g, leaf) >= MANY_GATHERED
                      ? nearest_output(g, leaf)
                      : -1;
        if (own >= 0 && axis >= 0 && own != axis)
            return true;
        axis = own >= 0 ? own : axis;
    }
    return false;
}

/* The axis with the smallest stride of those behind which memory is not yet counted, -1: none. */
static int nearest_axis(const kn_group *g, const kn_leaf *leaf, int64_t least)
{
    int nearest = -1;
    for (int a = 0; a < g->ndim; ++a)
        if (g->extent[a] > 1 && leaf->stride[a] >= least &&
            (nearest < 0 || leaf->stride[a] < leaf->stride[nearest]))
            nearest = a;
    return nearest;
}

/* True if a leaf's elements lie in the order of the results, the terms of each anywhere between them, and
 * follow each other in runs that are long beside what a run takes. */
enum { LONG_RUN = 256 };
static bool follows_results(const lowering *l, const kn_group *g, const kn_leaf *leaf)
{
    int64_t next = item_of(l, leaf), run = 1;
    int last = g->ndim;
    for (int a = nearest_axis(g, leaf, 1); a >= 0; a = nearest_axis(g, leaf, next)) {
        bool is_result = !(g->reduced >> a & 1);
        if ((leaf->stride[a] != next && run < LONG_RUN) || leaf->stride[a] < next || (is_result && a > last))
            return false;
        run *= g->extent[a];
        next = leaf->stride[a] * g->extent[a];
        last = is_result ? a : last;
    }
    for (int a = 0; a < g->ndim; ++a)
        if (leaf->stride[a] < 0 && g->extent[a] > 1)
            return false;
    return true;
}

/* The host's loops read few terms of each result as neighbouring elements, those of one place together. Where
 * they are fewer than the results they need not lie so. */
enum { MOST_TERMS = 8, MOST_TERMS_READ = 8, MANY_ON_HOST = 512 };
static bool are_few_on_host(const lowering *l, const kn_lowered_part *part, const kn_group *g, int64_t terms,
                            bool are_spread)
{
    int64_t read = 0;
    bool follows = true;
    for (const kn_leaf *leaf = g->leaf; leaf; leaf = leaf->next) {
        bool is_input = leaf->kind == KN_BASE_INPUT;
        read += is_input ? terms : 0;
        follows = follows && (!is_input || follows_results(l, g, leaf));
    }
    return are_spread ||
           (follows && read <= MOST_TERMS_READ && !(part->program->uses & KN_USES_REDUCTION_INDEX));
}

/* Makes a reduction of few elements a map of so many terms, if it has more results than it reads elements,
 * since kinds of reductions are made for results that are fewer, if its inputs lie crosswise, or if it would
 * gather what a map does not. False: it is none. */
static bool make_terms(lowering *l, const kn_lowered_part *part, const kn_group *g, const kn_resolved *r)
{
    int64_t terms = 1, results = 1, elements = 0;
    if (g->n_roots > 1 || strcmp(part->program->pattern, "mrk") != 0 ||
        l->expression->options.flags & KILN_KERNEL_ROUND_EACH)
        return false;
    for (int a = 0; a < g->ndim; ++a)
        *(g->reduced >> a & 1 ? &terms : &results) *= g->extent[a];
    for (const kn_leaf *leaf = g->leaf; leaf; leaf = leaf->next)
        elements += elements_of(g, leaf);
    bool are_spread = elements <= results;
    if (terms > MOST_TERMS || terms == 0)
        return false;
    if (l->state.is_host
            ? results < MANY_ON_HOST || !are_few_on_host(l, part, g, terms, are_spread)
            : results < MANY_GATHERED || (!are_spread && !lie_crosswise(g) &&
                                          !(r && kn_fusion_is_map_of_terms(&r->spec, &r->space))))
        return false;
    const kn_group_size one = kn_group_measure(g);
    const kn_group_size all = {one.uses * (int)terms, one.leaves * (int)terms, one.params * (int)terms,
                               one.levels, one.reductions};
    if (!kn_group_size_fits(&all))
        return false;
    for (const kn_use *u = g->first_use; u; u = u->after)
        if (u->is_own_reduction)
            l->state.is_terms[u->node] = true;
    l->is_again = true;
    if (l->own[g->root[0]])
        drop_own(l, g->root[0]);
    return true;
}

/* True if the lowering starts anew, with reductions that need no other's result: several kernels read their
 * input one time less then, and one kernel would gain nothing. On the host exponentials cost more than bytes.
 */
static bool starts_anew(lowering *l, const kn_group *g)
{
    replacement *r = l->replacement;
    if (g->n_levels < 2 || l->state.is_host || l->form == DIRECT)
        return false;
    if (l->is_held)
        r->form = AS_WRITTEN;
    else if (kn_direct_make(&r->graph, l->graph, l->typed, l->expression->options.flags, &r->arena))
        r->form = DIRECT;
    return r->form != l->form;
}

/* Splits a kernel that would pass over long rows several times, leave most of the device idle, gather
 * elements across its rows, or gather those of reductions without a loop one by one. */
static kiln_status check_part(lowering *l, kn_lowered_part *part, placed *at)
{
    kn_resolved *r = kn_malloc(sizeof *r);
    if (!r)
        return no_memory();
    kiln_status status = kn_resolve(r, &part->binding, &part->options, l->call->target);
    bool takes_any_layout = status == KILN_OK && r->spec.schedule.kind->takes_any_layout;
    const kn_resolved *known = status == KILN_OK ? r : NULL;
    if (make_terms(l, part, &at->group, known) ||
        (!takes_any_layout && turn_input(l, part, &at->group, known))) {
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
    if (why == KN_WHY_NONE)
        return status;
    if (!starts_anew(l, &at->group))
        split(l, at, why);
    return l->replacement->arena.failed ? no_memory() : KILN_OK;
}

static int count_strips(const lowering *l, const kn_group *g)
{
    int count = 0;
    for (int r = 0; r < g->n_roots; ++r)
        count += kn_is_strips(&l->state, g->root[r]);
    return count;
}

/* The lowering starts anew, without the strips of the group. */
static kiln_status refuse_strips(lowering *l, const kn_group *g)
{
    replacement *r = l->replacement;
    if (!r->refused)
        r->refused = kn_arena_take(&r->arena, (size_t)l->n_nodes);
    for (int k = 0; k < g->n_roots && r->refused; ++k)
        if (kn_is_strips(&l->state, g->root[k]))
            r->refused[l->state.graph->node[g->root[k]].index] = true;
    r->is_refused = true;
    return r->refused ? KILN_OK : no_memory();
}

/* Refuses strips that no kernel combines, or that share their reading with nothing. */
static kiln_status check_strips(lowering *l, kn_lowered_part *part, const kn_group *g)
{
    if (g->n_levels == 0 && count_strips(l, g) == g->n_roots)
        return refuse_strips(l, g);
    kn_resolved *r = kn_malloc(sizeof *r);
    if (!r)
        return no_memory();
    kiln_status status = kn_resolve(r, &part->binding, &part->options, l->call->target);
    kn_free(r);
    return status == KILN_ERROR_UNSUPPORTED ? refuse_strips(l, g) : status;
}

/* True if the group computes a node that has been stored since: it will be built again. */
static bool is_stale(const lowering *l, const kn_group *g)
{
    bool is = false;
    for (int r = 0; r < g->n_roots; ++r)
        is = is || l->is_pending[g->root[r]];
    return is;
}

static kiln_status make_part(lowering *l, int at)
{
    kn_lowered_part *part = &l->out->part[at];
    const kn_group *g = &l->group[at].group;
    char name[KN_NAME_MAX];
    int buffered = -1;
    if (is_stale(l, g))
        return KILN_OK;
    const kn_expression *e = g->option_group ? g->option_group->context : l->expression;
    if (g->is_opaque)
        return make_opaque(l, part, &l->text[at], g);
    snprintf(name, sizeof name, l->n_groups > 1 ? "%.48s_%d" : "%.48s", l->state.graph->name, at + 1);
    kn_arena scratch = KN_ARENA_INIT;
    kn_lower_state state = l->state;
    state.arena = &scratch;
    kiln_status status = kn_text_write(&l->text[at], &buffered, g, &state, name, &e->options);
    kn_arena_free(&scratch);
    part->program = l->text[at].program;
    if (status == KILN_OK && buffered >= 0) {
        if (!l->state.is_buffered[buffered])
            add_buffer(l, buffered, KN_WHY_RANGE);
        return KILN_OK;
    }
    if (status == KILN_OK)
        status = bind_part(l, part, &l->text[at], g);
    part->is_apart = g->n_roots == 1 && l->is_apart[g->root[0]];
    if (status == KILN_OK && count_strips(l, g) > 0)
        status = check_strips(l, part, g);
    else if (status == KILN_OK && g->n_levels > 0 && !g->is_scan)
        status = check_part(l, part, &l->group[at]);
    else if (status == KILN_OK && !g->is_scan)
        status = turn_narrow(l, part, g);
    return status;
}

static bool must_start_anew(const lowering *l)
{
    return l->replacement->form != l->form || l->replacement->is_refused;
}

static kiln_status make_parts(lowering *l)
{
    kiln_status status = KILN_OK;
    kn_lowered_drop_parts(l->out);
    l->out->part = kn_calloc((size_t)l->n_groups + 1, sizeof *l->out->part);
    if (!l->out->part)
        return no_memory();
    l->out->n_parts = l->n_groups;
    for (int p = 0; p < l->n_groups && status == KILN_OK && !must_start_anew(l); ++p)
        status = make_part(l, p);
    return status;
}

/* ---- rooms and results ---- */

/* The number of outputs of an opaque kernel, unused ones included. */
static int n_out_of(const lowering *l, const kn_group *g)
{
    const kn_node *node = &l->state.graph->node[g->root[0]];
    return !g->is_opaque  ? 0
           : node->kernel ? node->kernel->program->n_out
                          : l->typed[g->root[0]].variant.n_out;
}

static int number_spares(lowering *l, int first)
{
    int count = 0;
    for (int p = 0; p < l->n_groups; ++p)
        for (int j = 0; j < n_out_of(l, &l->group[p].group); ++j)
            l->group[p].group.spare[j] =
                kn_opaque_root(&l->group[p].group, &l->state, j) < 0 ? first + count++ : -1;
    return count;
}

static kiln_status size_spares(lowering *l, int p)
{
    const kn_group *g = &l->group[p].group;
    kn_described own;
    kiln_status status = KILN_OK;
    for (int j = 0; j < n_out_of(l, g) && status == KILN_OK; ++j) {
        if (g->spare[j] < 0)
            continue;
        status = describe_output(&own, l, g, j);
        if (status == KILN_OK)
            l->out->buffer[g->spare[j]].size =
                kiln_dtype_size(own.dtype) * (size_t)kn_shape_size(own.ndim, own.shape);
    }
    return status;
}

static kiln_status make_buffers(lowering *l)
{
    int count = 0;
    for (int n = 0; n < l->state.graph->n_nodes; ++n)
        if (l->state.is_buffered[n])
            l->buffer_of[n] = count++;
    int n_nodes = count;
    count += number_spares(l, count);
    kn_free(l->out->buffer);
    l->out->buffer = kn_calloc((size_t)count + 1, sizeof *l->out->buffer);
    if (!l->out->buffer)
        return no_memory();
    l->out->n_buffers = count;
    kiln_status status = KILN_OK;
    for (int p = 0; p < l->n_groups && n_nodes < count && status == KILN_OK; ++p)
        status = size_spares(l, p);
    for (int n = 0; n < l->state.graph->n_nodes; ++n) {
        if (!l->state.is_buffered[n])
            continue;
        l->out->buffer[l->buffer_of[n]].size = kiln_dtype_size(kn_buffer_dtype(&l->state, n)) *
                                               (size_t)kn_shape_size(l->typed[n].ndim, l->typed[n].shape);
    }
    return status;
}

static kiln_status check_output(const lowering *l, int j)
{
    const kn_graph *g = l->state.graph;
    const kn_typed *t = &l->typed[g->out[j]];
    const kiln_array *given = l->call->out ? l->call->out[j] : NULL;
    if (!given)
        return KILN_OK;
    if (!kn_dtype_may_store(t->dtype, given->dtype))
        return kn_error(
            KILN_ERROR_TYPE,
            "%s: out[%d]: the result '%s' is %s, which an array of %s does not hold; one of the same kind or "
            "one above it was expected",
            g->name, j, g->output[j], kiln_dtype_name(t->dtype), kiln_dtype_name(given->dtype));
    if (given->ndim == t->ndim && memcmp(given->shape, t->shape, (size_t)t->ndim * sizeof *t->shape) == 0)
        return KILN_OK;
    kn_str own = KN_STR_INIT, other = KN_STR_INIT;
    kn_shape_format(&own, t->ndim, t->shape);
    kn_shape_format(&other, given->ndim, given->shape);
    kiln_status status = kn_error(KILN_ERROR_SHAPE, "%s: out[%d] has shape %s, but the result '%s' has %s",
                                  g->name, j, kn_str_text(&other), g->output[j], kn_str_text(&own));
    kn_str_free(&own);
    kn_str_free(&other);
    return status;
}

/* Elements lie one behind the other, those of the first axis closest. Strides of inputs are in bytes, those
 * of what is computed in elements. */
static bool is_fortran(const kn_typed *t, const int64_t *stride)
{
    int64_t run = 0;
    for (int a = 0; a < t->ndim; ++a) {
        if (t->shape[a] == 1)
            continue;
        if (run == 0 ? stride[a] != 1 && stride[a] != (int64_t)kiln_dtype_size(t->dtype) : stride[a] != run)
            return false;
        run = stride[a] * t->shape[a];
    }
    return true;
}

static bool are_all_fortran(const lowering *l, const kn_base *layout, const kn_node *node)
{
    bool are = true;
    for (int k = node->kind == KN_NODE_LIKE; k < node->n_in && are; ++k)
        are = is_fortran(&l->typed[node->in[k]], layout[node->in[k]].stride);
    return are;
}

static bool are_inputs_fortran(const lowering *l)
{
    bool are = true;
    for (int k = 0; k < l->state.graph->n_in && are; ++k)
        are = l->call->in[k].kind != KILN_ARG_ARRAY || l->call->in[k].value.array->is_f_contiguous;
    return are;
}

static const int64_t *order_of_call(const lowering *l, const int64_t *own, const int64_t *increasing)
{
    switch (l->call->options->order) {
    case KILN_ORDER_KEEP:
        return own;
    case KILN_ORDER_FORTRAN:
        return increasing;
    case KILN_ORDER_ANY:
        return are_inputs_fortran(l) ? increasing : NULL;
    case KILN_ORDER_C:
        break;
    }
    return NULL;
}

/* Strides in whose order the axes of result j lie; NULL: C order. increasing: 1, 2, 3 ... */
static const int64_t *order_of_result(const lowering *l, int j, const kn_base *layout,
                                      const int64_t *increasing)
{
    const kn_graph *g = l->state.graph;
    const kn_node *node = &g->node[g->out[j]];
    while (node->kind == KN_NODE_SLICE && node->order == KN_RESULT_ANY) /* of the result itself */
        node = &g->node[node->in[0]];
    switch (node->order) {
    case KN_RESULT_C:
        return NULL;
    case KN_RESULT_FORTRAN:
        return increasing;
    case KN_RESULT_KEEP:
        return layout[g->out[j]].stride;
    case KN_RESULT_ANY:
        return are_all_fortran(l, layout, node) ? increasing : NULL;
    case KN_RESULT_USUAL:
        break;
    }
    return order_of_call(l, layout ? layout[g->out[j]].stride : NULL, increasing);
}

static bool needs_layouts(const lowering *l)
{
    const kn_graph *g = l->state.graph;
    bool needs = l->call->options->order == KILN_ORDER_KEEP;
    for (int j = 0; j < g->n_out; ++j)
        needs = needs || g->node[g->out[j]].order >= KN_RESULT_KEEP;
    return needs;
}

/* The layouts of all results, with their extents behind them in the same allocation. Strides are those of C
 * order or, if the call or the expression asks for it, of another one; all 0 if there are no elements. */
static kiln_status make_layouts(lowering *l)
{
    int64_t increasing[KILN_MAX_NDIM];

    const kn_graph *g = l->state.graph;
    size_t extents = 0;
    for (int j = 0; j < g->n_out; ++j)
        extents += 2 * (size_t)l->typed[g->out[j]].ndim;
    l->out->layout =
        kn_calloc(1, (size_t)g->n_out * sizeof *l->out->layout + (extents + 1) * sizeof(int64_t));
    if (!l->out->layout)
        return no_memory();
    int64_t *at = (int64_t *)(void *)(l->out->layout + g->n_out);
    kn_base *layout = NULL;
    for (int a = 0; a < KILN_MAX_NDIM; ++a)
        increasing[a] = 1 + a;
    if (needs_layouts(l)) {
        layout = kn_arena_take(&l->arena, (size_t)g->n_nodes * sizeof *layout);
        if (!layout || !kn_layouts_find(layout, &l->state))
            return no_memory();
    }
    for (int j = 0; j < g->n_out; ++j) {
        const kn_typed *t = &l->typed[g->out[j]];
        kiln_status status = check_output(l, j);
        if (status == KILN_OK)
            status = kn_array_check_shape(t->dtype, t->ndim, t->shape);
        if (status != KILN_OK)
            return status;
        if (t->ndim > 0)
            memcpy(at, t->shape, (size_t)t->ndim * sizeof *at);
        kn_dense_strides(at + t->ndim, t, order_of_result(l, j, layout, increasing),
                         kn_shape_size(t->ndim, t->shape) == 0 ? 0 : (int64_t)kiln_dtype_size(t->dtype));
        kn_array_layout_make(&l->out->layout[j], t->dtype, t->ndim, at);
        at += 2 * t->ndim;
    }
    return KILN_OK;
}

/* A single map may write in place if it reads and writes element by element. */
static void find_in_place(lowering *l)
{
    const kn_group *g = &l->group[0].group;
    if (l->n_groups != 1 || g->n_levels > 0 || g->is_opaque)
        return;
    for (int r = 0; r < g->n_roots; ++r) {
        int j = l->output_of[g->root[r]];
        const kiln_array *out = j >= 0 && l->call->out ? l->call->out[j] : NULL;
        int64_t stride[KILN_MAX_NDIM];
        if (!out)
            continue;
        spread(stride, l, g, r, out->strides);
        uint64_t same = ~UINT64_C(0);
        for (const kn_leaf *leaf = g->leaf; leaf; leaf = leaf->next) {
            if (leaf->kind != KN_BASE_INPUT)
                continue;
            int input = l->state.graph->node[leaf->node].index;
            if (leaf->shift != 0 || l->array[input]->item_size != out->item_size ||
                memcmp(leaf->stride, stride, (size_t)g->ndim * sizeof *stride) != 0)
                same &= ~(UINT64_C(1) << input);
        }
        l->out->in_place[j] = same;
    }
}

static kiln_status report(lowering *l)
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
static kiln_status hold(lowering *l)
{
    replacement *r = l->replacement;
    if (l->form != HELD || l->call->target->backend == KN_HOST ||
        !kn_held_make(&r->graph, l->graph, l->typed, l->expression->options.flags, &r->arena))
        return r->arena.failed ? no_memory() : KILN_OK;
    l->graph = &r->graph;
    l->is_held = true;
    kn_free(l->typed);
    l->typed = NULL;
    return infer(l);
}

/* Cuts reductions into strips where another kernel has their input row by row. */
static kiln_status cut_strips(lowering *l)
{
    replacement *r = l->replacement;
    l->n_nodes = l->graph->n_nodes;
    if (l->call->target->backend == KN_HOST ||
        !kn_strips_make(&r->strips, l->graph, l->typed, l->expression->options.flags, r->refused, &r->arena))
        return r->arena.failed ? no_memory() : KILN_OK;
    l->graph = &r->strips;
    kn_free(l->typed);
    l->typed = NULL;
    return infer(l);
}

/* Lowers the expression in the wanted form. Another one may be wanted in the end. */
static kiln_status lower(kn_lowered *out, const kn_expression *expression, const kn_lowering_call *call,
                         replacement *r)
{
    lowering *l = kn_calloc(1, sizeof *l);
    if (!l)
        return no_memory();
    l->expression = expression;
    l->graph = r->form == DIRECT ? &r->graph : expression->graph;
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
        status = make_layouts(l);
    l->is_again = true;
    while (status == KILN_OK && l->is_again && !must_start_anew(l)) {
        status = find_groups(l);
        if (status == KILN_OK && !l->is_again)
            status = make_buffers(l);
        if (status == KILN_OK && !l->is_again)
            status = make_parts(l);
    }
    if (status == KILN_OK && !must_start_anew(l)) {
        find_in_place(l);
        status = report(l);
    }
    drop_groups(l);
    for (int n = 0; l->own && l->is_pending && l->old && n < l->state.graph->n_nodes; ++n)
        drop_own(l, n);
    free_old(l);
    kn_arena_free(&l->arena);
    kn_free(l->typed);
    kn_free(l);
    return status;
}

const kn_expression *kn_lower_reading(const kn_expression *e, const kn_lowering_call *call)
{
    bool is_other = false;
    for (int k = 0; e->other && k < e->graph->n_in && k < 64; ++k) {
        const kiln_array *a = call->in[k].kind == KILN_ARG_ARRAY ? call->in[k].value.array : NULL;
        is_other = is_other || (e->graph->guessed_inputs >> k & 1 && a && a->dtype != KILN_BOOL);
    }
    return is_other ? e->other : e;
}

kiln_status kn_lower(kn_lowered *out, const kn_expression *expression, const kn_lowering_call *call)
{
    replacement r = {.arena = KN_ARENA_INIT, .form = HELD};
    kiln_status status;
    form form;
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
