/* Builds groups: the parts of a graph that one kernel computes. */
#include "fuse/group.h"

#include <string.h>

#include "graph/op.h"
#include "graph/subscripts.h"
#include "graph/rearranged_axes.h"
#include "eager/operation.h"
#include "space/space.h"
#include "program/stages.h"

/* The limits of a kernel. */
enum {
    MOST_USES = 1000,
    MOST_LEAVES = 40, /* besides scalars and results */
    MOST_PARAMS = 56, /* leaves, scalars and results; the rest of KN_MAX_PARAMS is for ranges and counts of
                         elements */
    MOST_LEVELS = (KN_MAX_STAGES - 3) / 3,
    MOST_REDUCTIONS = 64,
    MOST_UNROLLED = 16 /* elements of a reduction without a loop; those of two inputs are 32 leaves */
};

/* ---- nodes that wait ---- */

static bool make_queue(kn_node_queue *q, kn_arena *arena, size_t nodes)
{
    q->heap = kn_arena_take(arena, nodes * sizeof *q->heap);
    q->taken = kn_arena_take(arena, nodes * sizeof *q->taken);
    q->is_in = kn_arena_take(arena, nodes);
    return q->heap && q->taken && q->is_in;
}

static void put_in(kn_node_queue *q, int node)
{
    int at = q->n_heap;
    if (q->is_in[node])
        return;
    q->is_in[node] = true;
    ++q->n_heap;
    for (; at > 0 && q->heap[(at - 1) / 2] < node; at = (at - 1) / 2)
        q->heap[at] = q->heap[(at - 1) / 2];
    q->heap[at] = node;
}

/* The highest node; -1: the queue is empty. */
static int take_out(kn_node_queue *q)
{
    if (q->n_heap == 0)
        return -1;
    int top = q->heap[0], last = q->heap[--q->n_heap], at = 0;
    for (int child = 1; child < q->n_heap; child = 2 * at + 1) {
        child += child + 1 < q->n_heap && q->heap[child + 1] > q->heap[child];
        if (q->heap[child] < last)
            break;
        q->heap[at] = q->heap[child];
        at = child;
    }
    q->heap[at] = last;
    return q->taken[q->n_taken++] = top;
}

static void empty(kn_node_queue *q)
{
    for (int k = 0; k < q->n_heap; ++k)
        q->is_in[q->heap[k]] = false;
    for (int k = 0; k < q->n_taken; ++k)
        q->is_in[q->taken[k]] = false;
    q->n_heap = q->n_taken = 0;
}

/* ---- what all groups share ---- */

/* The common dtype of two arrays is often that of what is sought already, which is not stored again then. */
static bool is_same(const kn_lower_state *s, const kn_node *n)
{
    return n->kind == KN_NODE_LIKE && n->index == KN_LIKE_DTYPES && n->in[0] == n->in[1] &&
           s->typed[n - s->graph->node].dtype == s->typed[n->in[0]].dtype;
}

static bool is_view(const kn_lower_state *s, const kn_node *n)
{
    return n->kind == KN_NODE_SLICE || n->kind == KN_NODE_TRANSPOSE || n->kind == KN_NODE_RESHAPE ||
           n->kind == KN_NODE_BROADCAST || n->kind == KN_NODE_WINDOWS || is_same(s, n);
}

static void find_views(const kn_lower_state *s)
{
    kn_group_scratch *c = s->scratch;
    for (int n = 0; n < s->graph->n_nodes; ++n)
        c->view[n] = c->next_view[n] = -1;
    for (int n = s->graph->n_nodes; n-- > 0;) {
        const kn_node *node = &s->graph->node[n];
        if (!is_view(s, node))
            continue;
        c->next_view[n] = c->view[node->in[0]];
        c->view[node->in[0]] = n;
    }
}

/* Algorithms read 16-bit floats in their own dtype, which the buffers of reductions do not have else. */
static void find_narrow(const kn_lower_state *s, int read)
{
    while (is_view(s, &s->graph->node[read]))
        read = s->graph->node[read].in[0];
    if (kn_computed_dtype(s->typed[read].dtype) != s->typed[read].dtype)
        s->is_raw[read] = true;
}

static void find_raw(const kn_lower_state *s)
{
    for (int n = 0; n < s->graph->n_nodes; ++n) {
        const kn_node *node = &s->graph->node[n];
        for (int k = 0; k < node->n_in; ++k)
            if (kn_node_reads_raw(node, k))
                s->is_raw[node->in[k]] = true;
            else if (node->kind == KN_NODE_KERNEL && kn_node_algorithm(node))
                find_narrow(s, node->in[k]);
    }
}

bool kn_lower_state_make(kn_lower_state *s)
{
    size_t nodes = (size_t)s->graph->n_nodes;
    kn_group_scratch *c = s->scratch = kn_arena_take(s->arena, sizeof *c);
    s->base = kn_arena_take(s->arena, nodes * sizeof *s->base);
    s->is_buffered = kn_arena_take(s->arena, nodes);
    s->is_opaque = kn_arena_take(s->arena, nodes);
    s->is_raw = kn_arena_take(s->arena, nodes);
    s->is_of_result = kn_arena_take(s->arena, nodes);
    s->is_terms = kn_arena_take(s->arena, nodes);
    if (!c)
        return false;
    c->use = kn_arena_take(s->arena, nodes * sizeof(kn_use *));
    c->asked = kn_arena_take(s->arena, nodes * sizeof *c->asked);
    c->is_asked = kn_arena_take(s->arena, nodes);
    c->view = kn_arena_take(s->arena, nodes * sizeof *c->view);
    c->next_view = kn_arena_take(s->arena, nodes * sizeof *c->next_view);
    if (!make_queue(&c->queue, s->arena, nodes) || !make_queue(&c->other, s->arena, nodes) ||
        s->arena->failed)
        return false;
    find_views(s);
    find_raw(s);
    return true;
}

/* ---- views ---- */

/* The broadcast shape of a node's inputs. */
static int node_in_shape(int64_t *shape, const kn_lower_state *s, int node)
{
    const kn_node *n = &s->graph->node[node];
    int ndim = 0;
    for (int k = 0; k < n->n_in; ++k)
        if (s->typed[n->in[k]].ndim > ndim && !kn_node_reads_raw(n, k))
            ndim = s->typed[n->in[k]].ndim;
    for (int a = 0; a < ndim; ++a)
        shape[a] = 1;
    for (int k = 0; k < n->n_in; ++k) {
        const kn_typed *t = &s->typed[n->in[k]];
        for (int a = 0; a < t->ndim && !kn_node_reads_raw(n, k); ++a)
            if (t->shape[a] != 1)
                shape[ndim - t->ndim + a] = t->shape[a];
    }
    return ndim;
}

static int64_t *strides_of(const kn_lower_state *s, int node)
{
    return kn_arena_take(s->arena, (size_t)(s->typed[node].ndim + 1) * sizeof(int64_t));
}

void kn_dense_strides(int64_t *out, const kn_typed *t, const int64_t *like, int64_t run)
{
    int axes[KILN_MAX_NDIM];
    for (int a = 0; a < t->ndim; ++a)
        axes[a] = a;
    const kn_view view = {t->shape, like, t->ndim, false};
    if (like)
        kn_space_copy_order(axes, &view);
    for (int a = t->ndim; a-- > 0; run *= t->shape[axes[a]])
        out[axes[a]] = run;
}

static void set_dense(const kn_lower_state *s, kn_base *b, int node, const int64_t *like, int64_t run)
{
    b->stride = strides_of(s, node);
    if (b->stride)
        kn_dense_strides(b->stride, &s->typed[node], like, run);
}

bool kn_is_number(const kn_lower_state *s, int node)
{
    return s->typed[node].number.kind != KILN_ARG_NONE || s->typed[node].from >= 0;
}

kn_bound kn_lowered_bound(const kn_lower_state *s, int node, int k)
{
    const kn_node *n = &s->graph->node[node];
    const kn_typed *first = n->n_in > 0 ? &s->typed[n->in[0]] : NULL;
    if (n->kind != KN_NODE_CALL || !first)
        return KN_NO_BOUND;
    return kn_operation_bound(s->typed[node].definition, k, first->dtype);
}

/* For each axis of the input of a slice or transpose: the axis of the result along it (-1: none), the
 * start and the step. */
static void view_axes(kn_axis_map *out, const kn_lower_state *s, int node)
{
    const kn_node *n = &s->graph->node[node];
    const kn_typed *from = &s->typed[n->in[0]];
    kn_subscript subscript[KN_SUBSCRIPTS_CAPACITY];
    int to = 0, axis = 0, count = 0;
    if (n->kind == KN_NODE_TRANSPOSE) {
        kn_rearranged rearranged = {.ndim = 0};
        if (kn_rearranged_settle(&rearranged, s->graph, n, from->ndim, from->shape) == KILN_OK)
            for (int a = 0; a < from->ndim; ++a)
                out[a] = (kn_axis_map){rearranged.to[a], rearranged.start[a], 1};
        return;
    }
    if (kn_subscripts_settle(subscript, &count, s->graph, n, from->ndim, from->shape) != KILN_OK)
        count = 0; /* unreachable: inference has refused it */
    for (int k = 0; k < count; ++k) {
        bool is_gone = subscript[k].kind == KN_SUBSCRIPT_INDEX;
        if (subscript[k].kind != KN_SUBSCRIPT_NEW)
            out[axis++] =
                (kn_axis_map){is_gone ? -1 : to, subscript[k].start, is_gone ? 0 : subscript[k].step};
        to += !is_gone;
    }
}

static void base_of_view(const kn_lower_state *s, kn_base *b, int node)
{
    const kn_base *from = &s->base[s->graph->node[node].in[0]];
    kn_axis_map axes[KILN_MAX_NDIM] = {{0}};
    int64_t *stride = strides_of(s, node);
    if (!stride)
        return;
    view_axes(axes, s, node);
    *b = (kn_base){from->kind, from->node, from->shift, stride};
    memset(stride, 0, (size_t)s->typed[node].ndim * sizeof *stride);
    for (int a = 0; a < s->typed[s->graph->node[node].in[0]].ndim; ++a) {
        b->shift += axes[a].start * from->stride[a];
        if (axes[a].to >= 0) /* two axes may go along one */
            stride[axes[a].to] += axes[a].step * from->stride[a];
    }
}

static int64_t size_of(const kn_typed *t)
{
    int64_t size = 1;
    for (int a = 0; a < t->ndim; ++a)
        size *= t->shape[a];
    return size;
}

/* As NumPy's reshape without a copy: the extents of both shapes are split into groups of equal sizes, and
 * each group of the input must have one stride. */
static bool reshape_strides(int64_t *out, const kn_typed *to, const kn_typed *from, const int64_t *stride)
{
    int a = 0, b = 0;
    if (size_of(from) == 0)
        return true; /* there is no element */
    while (a < from->ndim || b < to->ndim) {
        int first = a, first_to = b;
        int64_t size = a < from->ndim ? from->shape[a++] : 1, size_to = b < to->ndim ? to->shape[b++] : 1;
        while (size != size_to) {
            if (size < size_to)
                size *= a < from->ndim ? from->shape[a++] : 0;
            else
                size_to *= b < to->ndim ? to->shape[b++] : 0;
            if (size == 0 || size_to == 0)
                return false;
        }
        int64_t run = 0;
        for (int k = a - 1, next = -1; k >= first; --k) {
            if (from->shape[k] == 1)
                continue;
            if (next < 0)
                run = stride[k];
            else if (stride[k] != stride[next] * from->shape[next])
                return false;
            next = k;
        }
        for (int k = b - 1; k >= first_to; --k) {
            out[k] = run;
            run *= to->shape[k];
        }
    }
    return true;
}

static void base_of_reshape(const kn_lower_state *s, kn_base *b, int node)
{
    int in = s->graph->node[node].in[0];
    const kn_base *from = &s->base[in];
    int64_t *stride = strides_of(s, node);
    if (stride && reshape_strides(stride, &s->typed[node], &s->typed[in], from->stride))
        *b = (kn_base){from->kind, from->node, from->shift, stride};
}

/* A new axis, and one that had extent 1, gets stride 0. */
static void base_of_broadcast(const kn_lower_state *s, kn_base *b, int node)
{
    const kn_typed *to = &s->typed[node], *from = &s->typed[s->graph->node[node].in[0]];
    const kn_base *base = &s->base[s->graph->node[node].in[0]];
    int64_t *stride = strides_of(s, node);
    for (int a = 0; stride && a < from->ndim; ++a)
        stride[to->ndim - from->ndim + a] = from->shape[a] == 1 ? 0 : base->stride[a];
    if (stride)
        *b = (kn_base){base->kind, base->node, base->shift, stride};
}

/* The axis of a window has the stride of the one along which the window moves. */
static void base_of_windows(const kn_lower_state *s, kn_base *b, int node)
{
    const kn_node *n = &s->graph->node[node];
    const kn_base *base = &s->base[n->in[0]];
    const int ndim = s->typed[n->in[0]].ndim;
    int64_t *stride = strides_of(s, node);
    for (int a = 0; stride && a < ndim; ++a)
        stride[a] = base->stride[a];
    for (int k = 0; stride && k < n->n_axes; k += 2)
        stride[ndim + k / 2] = base->stride[n->axis[k] + (n->axis[k] < 0 ? ndim : 0)];
    if (stride)
        *b = (kn_base){base->kind, base->node, base->shift, stride};
}

/* The base of a node that is neither an input nor a stored node. */
static void find_base(const kn_lower_state *s, kn_base *b, int n)
{
    const kn_node *node = &s->graph->node[n];
    bool reads_base =
        node->n_in > 0 && s->base[node->in[0]].kind != KN_BASE_NONE && s->base[node->in[0]].stride;
    *b = (kn_base){KN_BASE_NONE, n, 0, NULL};
    if (node->kind == KN_NODE_INPUT && s->array[node->index]) {
        b->kind = KN_BASE_INPUT;
        b->stride = s->array[node->index]->strides;
    } else if (node->kind == KN_NODE_ARANGE) {
        b->kind = KN_BASE_RANGE;
        set_dense(s, b, n, NULL, 1);
    } else if ((node->kind == KN_NODE_SLICE || node->kind == KN_NODE_TRANSPOSE) && reads_base) {
        base_of_view(s, b, n);
    } else if (node->kind == KN_NODE_RESHAPE && reads_base) {
        base_of_reshape(s, b, n);
    } else if (node->kind == KN_NODE_BROADCAST && reads_base) {
        base_of_broadcast(s, b, n);
    } else if (node->kind == KN_NODE_WINDOWS && reads_base) {
        base_of_windows(s, b, n);
    } else if (is_same(s, node) && reads_base) {
        *b = s->base[node->in[0]];
    }
}

void kn_bases_find(kn_lower_state *s)
{
    for (int n = 0; n < s->graph->n_nodes; ++n)
        find_base(s, &s->base[n], n);
}

kiln_dtype kn_buffer_dtype(const kn_lower_state *s, int node)
{
    const kn_typed *t = &s->typed[node];
    bool is_wide = t->is_reduction || s->is_of_result[node];
    return is_wide && !s->is_raw[node] ? kn_computed_dtype(t->dtype) : t->dtype;
}

/* The strides in whose order a stored node lies; NULL: C order. */
static const int64_t *order_of(kn_lower_state *s, int node)
{
    bool is_reduced = s->typed[node].is_reduction || s->is_of_result[node];
    if (!is_reduced || s->graph->node[node].kind != KN_NODE_CALL || s->is_raw[node] || s->is_opaque[node])
        return NULL;
    if (!s->layout) {
        kn_base *layout = kn_arena_take(s->arena, (size_t)s->graph->n_nodes * sizeof *layout);
        s->layout = layout && kn_layouts_find(layout, s) ? layout : NULL;
    }
    return s->layout ? s->layout[node].stride : NULL;
}

/* Appends views of views to the list while it is traversed. */
void kn_base_store(kn_lower_state *s, int node, const int64_t *like)
{
    kn_group_scratch *c = s->scratch;
    int *list = c->other.taken, count = 0;
    s->is_buffered[node] = true;
    s->base[node] = (kn_base){KN_BASE_BUFFER, node, 0, NULL};
    set_dense(s, &s->base[node], node, like ? like : order_of(s, node),
              (int64_t)kiln_dtype_size(kn_buffer_dtype(s, node)));
    list[count++] = node;
    for (int k = 0; k < count; ++k)
        for (int v = c->view[list[k]]; v >= 0; v = c->next_view[v])
            if (!s->is_buffered[v]) {
                find_base(s, &s->base[v], v);
                list[count++] = v;
            }
}

/* The layout of an operation's result: dense, in the order of its input arrays; for a reduction, of the
 * remaining axes. */
static void lay_out(const kn_lower_state *s, kn_base *b, int node)
{
    const kn_node *n = &s->graph->node[node];
    const kn_typed *t = &s->typed[node];
    const int first = n->kind == KN_NODE_LIKE ? 1 : 0; /* the shape is that of in[1] */
    int64_t shape[KILN_MAX_NDIM], run = 1;
    int ndim = node_in_shape(shape, s, node), axes[KILN_MAX_NDIM], own[KILN_MAX_NDIM], left = 0, count = 0;
    bool is_copy = n->kind == KN_NODE_CAST || first;
    bool is_open = n->kind == KN_NODE_CALL ? kn_operation_is_in_c_order(t->definition)
                                           : !is_copy && (n->kind != KN_NODE_KERNEL || kn_node_algorithm(n));
    kn_view view[KN_MAX_PARAMS];
    for (int k = first; k < n->n_in && !is_open; ++k)
        if (!kn_node_reads_raw(n, k))
            view[count++] =
                (kn_view){s->typed[n->in[k]].shape, s->base[n->in[k]].stride, s->typed[n->in[k]].ndim, false};
    if (is_open) /* in C order */
        ndim = t->ndim;
    for (int a = 0; a < ndim; ++a) {
        bool stays = is_open || !t->is_reduction || !(t->axes >> a & 1) || n->keepdims;
        own[a] = stays ? left++ : -1;
        axes[a] = a;
    }
    if (count > 0 && is_copy)
        kn_space_copy_order(axes, view);
    else if (count > 0)
        kn_space_memory_order(axes, ndim, view, count);
    b->stride = strides_of(s, node);
    for (int a = ndim; b->stride && a-- > 0;)
        if (own[axes[a]] >= 0) {
            b->stride[own[axes[a]]] = run;
            run *= t->shape[own[axes[a]]];
        }
}

bool kn_layouts_find(kn_base *layout, const kn_lower_state *state)
{
    kn_lower_state s = *state;
    s.base = layout;
    for (int n = 0; n < s.graph->n_nodes && !s.arena->failed; ++n) {
        find_base(&s, &layout[n], n);
        if (!layout[n].stride)
            lay_out(&s, &layout[n], n);
        layout[n].kind = KN_BASE_INPUT; /* so that views of it are resolved against it */
    }
    return !s.arena->failed;
}

/* ---- uses ---- */

typedef struct building {
    kn_group *group;
    const kn_lower_state *state;
    kn_group_result result;
} building;

static bool same_map(const kn_axis_map *a, const kn_axis_map *b, int ndim)
{
    bool same = true;
    for (int k = 0; k < ndim && same; ++k)
        same = a[k].to == b[k].to && a[k].start == b[k].start && a[k].step == b[k].step;
    return same;
}

/* The use of a node at a place, shared with an equal one. All axes of extent 1 compare equal. */
static kn_use *use_at(building *b, int node, const kn_axis_map *map)
{
    kn_group *g = b->group;
    const kn_typed *t = &b->state->typed[node];
    kn_axis_map clean[KILN_MAX_NDIM];
    for (int a = 0; a < t->ndim; ++a) {
        clean[a] = t->shape[a] == 1 ? (kn_axis_map){-1, 0, 0} : map[a];
        if (clean[a].to < 0)
            clean[a].step = 0;
    }
    kn_group_scratch *c = b->state->scratch;
    for (kn_use *u = c->use[node]; u; u = u->next)
        if (same_map(u->map, clean, t->ndim))
            return u;
    kn_use *u = kn_arena_take(&g->arena, sizeof *u);
    kn_axis_map *copy = kn_arena_take(&g->arena, (size_t)(t->ndim + 1) * sizeof *copy);
    if (!u || !copy) {
        b->result = KN_GROUP_FAILED;
        return NULL;
    }
    memcpy(copy, clean, (size_t)t->ndim * sizeof *copy);
    u->node = node;
    u->map = copy;
    u->next = c->use[node];
    c->use[node] = u;
    put_in(&c->queue, node);
    ++g->n_uses;
    ++c->work;
    return u;
}

static kn_use **inputs_of(building *b, kn_use *u, int count)
{
    u->in = kn_arena_take(&b->group->arena, (size_t)(count + 1) * sizeof(kn_use *));
    u->n_in = u->in ? count : 0;
    if (!u->in)
        b->result = KN_GROUP_FAILED;
    return u->in;
}

void kn_group_ask_nothing(const kn_lower_state *s)
{
    kn_group_scratch *c = s->scratch;
    while (c->n_asked > 0)
        c->is_asked[c->asked[--c->n_asked]] = false;
}

void kn_group_ask(const kn_lower_state *s, int node)
{
    kn_group_scratch *c = s->scratch;
    if (!c->is_asked[node])
        c->asked[c->n_asked++] = node;
    c->is_asked[node] = true;
}

/* The node counts as read from memory from now on, so that one build finds all nodes that must be stored. */
static void ask_for_buffer(building *b, int node)
{
    b->result = KN_GROUP_NEEDS_BUFFER;
    kn_group_ask(b->state, node);
}

static void add_leaf(building *b, kn_use *u, const kn_base *base)
{
    kn_group *g = b->group;
    kn_leaf leaf = {.kind = base->kind, .node = base->node, .shift = base->shift};
    for (int a = 0; a < b->state->typed[u->node].ndim; ++a) {
        leaf.shift += u->map[a].start * base->stride[a];
        if (u->map[a].to >= 0)
            leaf.stride[u->map[a].to] += u->map[a].step * base->stride[a];
    }
    for (kn_leaf *l = g->leaf; l && !u->leaf; l = l->next)
        if (l->kind == leaf.kind && l->node == leaf.node && l->shift == leaf.shift &&
            memcmp(l->stride, leaf.stride, sizeof leaf.stride) == 0)
            u->leaf = l;
    if (u->leaf)
        return;
    u->leaf = kn_arena_take(&g->arena, sizeof leaf);
    if (!u->leaf) {
        b->result = KN_GROUP_FAILED;
        return;
    }
    leaf.next = g->leaf;
    leaf.number = g->n_leaves++;
    *u->leaf = leaf;
    g->leaf = u->leaf;
}

/* Uses the inputs of an elementwise node, broadcast to its shape. */
static void use_broadcast(building *b, kn_use *u, const kn_axis_map *map, int ndim)
{
    const kn_node *n = &b->state->graph->node[u->node];
    kn_use **in = inputs_of(b, u, n->n_in);
    for (int k = 0; k < n->n_in && in; ++k)
        in[k] = use_at(b, n->in[k], map + (ndim - b->state->typed[n->in[k]].ndim));
}

/* Uses the first input alone; the others give extents. */
static void use_first(building *b, kn_use *u)
{
    int from = b->state->graph->node[u->node].in[0];
    kn_use **in = inputs_of(b, u, 1);
    if (in)
        in[0] = use_at(b, from, u->map + (b->state->typed[u->node].ndim - b->state->typed[from].ndim));
}

static void use_view(building *b, kn_use *u)
{
    const kn_node *n = &b->state->graph->node[u->node];
    const kn_typed *from = &b->state->typed[n->in[0]];
    kn_axis_map axes[KILN_MAX_NDIM] = {{0}};
    kn_use **in = inputs_of(b, u, 1);
    view_axes(axes, b->state, u->node);
    for (int a = 0; a < from->ndim; ++a) {
        if (axes[a].to < 0)
            continue;
        kn_axis_map m = u->map[axes[a].to];
        axes[a] = (kn_axis_map){m.to, axes[a].start + axes[a].step * m.start, axes[a].step * m.step};
    }
    if (in)
        in[0] = use_at(b, n->in[0], axes);
}

/* A reshape of a computed node: only axes of extent 1 may be added or removed; otherwise the input must be
 * stored. */
static void use_reshape(building *b, kn_use *u)
{
    int from_node = b->state->graph->node[u->node].in[0];
    const kn_typed *from = &b->state->typed[from_node], *to = &b->state->typed[u->node];
    kn_axis_map axes[KILN_MAX_NDIM] = {{0}};
    int at = 0;
    for (int a = 0; a < from->ndim; ++a) {
        axes[a] = (kn_axis_map){-1, 0, 0};
        if (from->shape[a] == 1)
            continue;
        while (at < to->ndim && to->shape[at] == 1)
            ++at;
        if (at == to->ndim || to->shape[at] != from->shape[a]) {
            ask_for_buffer(b, from_node);
            return;
        }
        axes[a] = u->map[at++];
    }
    kn_use **in = inputs_of(b, u, 1);
    if (in)
        in[0] = use_at(b, from_node, axes);
}

/* ---- reductions ---- */

/* The axes of the space that the place depends on. False if it is anything but the space's own index along
 * them. */
static bool output_axes(uint64_t *out, const kn_group *g, const kn_use *u, int ndim, const int64_t *shape)
{
    *out = 0;
    for (int a = 0; a < ndim; ++a) {
        const kn_axis_map *m = &u->map[a];
        if (shape[a] == 1)
            continue;
        if (m->to < 0 || m->start != 0 || m->step != 1 || g->extent[m->to] != shape[a] || *out >> m->to & 1)
            return false;
        *out |= UINT64_C(1) << m->to;
    }
    return true;
}

/* True if the reduced extents other than 1 are those of these axes of the space, in order. */
static bool extents_match(const kn_group *g, uint64_t axes, const int64_t *extent, int count)
{
    int at = 0;
    for (int a = 0; a < g->ndim; ++a) {
        if (!(axes >> a & 1) || g->extent[a] == 1)
            continue;
        if (at == count || extent[at++] != g->extent[a])
            return false;
    }
    return at == count;
}

/* True if a reduction with these output axes fits into the group. The first reduction settles the group's
 * reduction axes. */
static bool joins(kn_group *g, uint64_t result_axes, const int64_t *extent, int count)
{
    uint64_t all = 0, rest;
    for (int a = 0; a < g->ndim; ++a)
        all |= g->extent[a] == 1 ? 0 : UINT64_C(1) << a;
    rest = all & ~result_axes;
    if (g->is_settled)
        return (g->reduced & all) == rest && extents_match(g, g->reduced, extent, count);
    if (rest != 0 && !extents_match(g, rest, extent, count))
        return false;
    if (rest == 0) { /* only results of reductions are stored */
        if (g->ndim + count > KILN_MAX_NDIM)
            return false;
        for (int k = 0; k < count; ++k) {
            rest |= UINT64_C(1) << g->ndim;
            g->extent[g->ndim++] = extent[k];
        }
    }
    g->reduced = rest;
    g->is_settled = true;
    return true;
}

/* The elements of each of a node's results. */
static int64_t reduced_count(const kn_lower_state *s, int node)
{
    int64_t shape[KILN_MAX_NDIM], count = 1;
    int ndim = node_in_shape(shape, s, node);
    for (int a = 0; a < ndim; ++a)
        count *= s->typed[node].axes >> a & 1 ? shape[a] : 1;
    return count;
}

/* True for a reduction of one element for each result, which needs no loop. */
static bool reduces_singles(const kn_lower_state *s, int node)
{
    return s->typed[node].is_reduction && reduced_count(s, node) == 1;
}

bool kn_scans_singles(const kn_lower_state *s, int node)
{
    return s->typed[node].scans && reduced_count(s, node) <= 1;
}

/* A reduction of few elements is no loop: it uses its inputs at the place of each of them. */
static void use_unrolled(building *b, kn_use *u, int count)
{
    const kn_node *n = &b->state->graph->node[u->node];
    int64_t shape[KILN_MAX_NDIM];
    int ndim = node_in_shape(shape, b->state, u->node);
    kn_use **in = inputs_of(b, u, count * n->n_in);
    for (int e = 0; e < count && in && b->result != KN_GROUP_FAILED; ++e) {
        kn_axis_map axes[KILN_MAX_NDIM] = {{0}};
        int own = 0, index = e;
        for (int a = 0; a < ndim; ++a) {
            bool is_reduced = b->state->typed[u->node].axes >> a & 1;
            axes[a] = is_reduced ? (kn_axis_map){-1, 0, 0} : u->map[own];
            own += !is_reduced || n->keepdims;
        }
        for (int a = ndim; a-- > 0;)
            if (b->state->typed[u->node].axes >> a & 1) {
                axes[a].start = index % shape[a];
                index /= (int)shape[a];
            }
        for (int k = 0; k < n->n_in; ++k)
            in[e * n->n_in + k] = use_at(b, n->in[k], axes + (ndim - b->state->typed[n->in[k]].ndim));
    }
    u->n_unrolled = count;
    b->group->has_unrolled |= count > 1;
}

/* True if the reduction needs no loop in a kernel that reads its results element by element to reduce them:
 * such results would be written and read again. */
static bool is_unrolled(const building *b, int node, uint64_t result_axes)
{
    const kn_group *g = b->group;
    const kn_lower_state *s = b->state;
    uint64_t all = 0;
    for (int a = 0; a < g->ndim; ++a)
        all |= g->extent[a] == 1 ? 0 : UINT64_C(1) << a;
    return !s->is_host && g->is_settled && result_axes == all && !(s->flags & KILN_KERNEL_ROUND_EACH) &&
           reduced_count(s, node) > 0 && reduced_count(s, node) <= MOST_UNROLLED;
}

static void use_reduction(building *b, kn_use *u)
{
    kn_group *g = b->group;
    const kn_typed *t = &b->state->typed[u->node];
    const kn_node *n = &b->state->graph->node[u->node];
    int64_t shape[KILN_MAX_NDIM], extent[KILN_MAX_NDIM];
    kn_axis_map axes[KILN_MAX_NDIM] = {{0}};
    int ndim = node_in_shape(shape, b->state, u->node), count = 0, own = 0;
    uint64_t result_axes;
    for (int a = 0; a < ndim; ++a)
        if (t->axes >> a & 1 && shape[a] != 1)
            extent[count++] = shape[a];
    if (!output_axes(&result_axes, g, u, t->ndim, t->shape)) {
        ask_for_buffer(b, u->node);
        return;
    }
    if (g->is_scan || !joins(g, result_axes, extent, count)) {
        if (is_unrolled(b, u->node, result_axes))
            use_unrolled(b, u, (int)reduced_count(b->state, u->node));
        else
            ask_for_buffer(b, u->node);
        return;
    }
    int at = 0; /* the next reduction axis of the space */
    for (int a = 0; a < ndim; ++a) {
        bool is_reduced = t->axes >> a & 1;
        axes[a] = is_reduced ? (kn_axis_map){-1, 0, 0} : u->map[own];
        own += !is_reduced || n->keepdims;
        if (!is_reduced || shape[a] == 1)
            continue;
        while (!(g->reduced >> at & 1) || g->extent[at] == 1)
            ++at;
        axes[a] = (kn_axis_map){at++, 0, 1};
    }
    u->is_own_reduction = true;
    use_broadcast(b, u, axes, ndim);
}

/* A scan needs the space's own index along all axes, in their order. */
static void use_scan(building *b, kn_use *u)
{
    kn_group *g = b->group;
    const kn_typed *t = &b->state->typed[u->node];
    uint64_t axes = 0, all = 0, reduced = 0;
    bool is_in_order = !g->is_settled && output_axes(&axes, g, u, t->ndim, t->shape);
    for (int a = 0, last = -1; a < t->ndim && is_in_order; ++a) {
        if (t->shape[a] == 1)
            continue;
        is_in_order = u->map[a].to > last;
        last = u->map[a].to;
        reduced |= (t->axes >> a & 1) << last;
    }
    for (int a = 0; a < g->ndim; ++a)
        all |= g->extent[a] == 1 ? 0 : UINT64_C(1) << a;
    if (!is_in_order || axes != all) {
        ask_for_buffer(b, u->node);
        return;
    }
    g->reduced = reduced;
    g->is_settled = g->is_scan = u->is_own_reduction = true;
    use_broadcast(b, u, u->map, t->ndim);
}

static void expand(building *b, kn_use *u)
{
    const kn_lower_state *s = b->state;
    const kn_node *n = &s->graph->node[u->node];
    const kn_base *base = &s->base[u->node];
    bool is_stored_here = false;
    if (s->scratch->is_asked[u->node])
        return;
    for (int r = 0; r < b->group->n_roots; ++r)
        is_stored_here |= b->group->root[r] == u->node;
    kn_base own;
    if (base->kind == KN_BASE_BUFFER && base->node == u->node && is_stored_here) { /* the group fills the
                                                                                      buffer itself */
        find_base(s, &own, u->node);
        base = &own;
    }
    if (base->kind != KN_BASE_NONE && base->stride) {
        add_leaf(b, u, base);
        return;
    }
    bool computes = n->kind == KN_NODE_CALL || n->kind == KN_NODE_KERNEL || n->kind == KN_NODE_CAST;
    if (computes && !kn_is_number(s, u->node) &&
        (s->is_opaque[u->node] || n->option_group != b->group->option_group)) {
        ask_for_buffer(b, u->node);
        return;
    }
    switch (n->kind) {
    case KN_NODE_CALL:
    case KN_NODE_KERNEL:
        if (reduces_singles(s, u->node) || s->is_terms[u->node])
            use_unrolled(b, u, (int)reduced_count(s, u->node));
        else if (s->typed[u->node].is_reduction)
            use_reduction(b, u);
        else if (s->typed[u->node].scans)
            use_scan(b, u);
        else
            use_broadcast(b, u, u->map, s->typed[u->node].ndim);
        break;
    case KN_NODE_CAST:
        use_broadcast(b, u, u->map, s->typed[u->node].ndim);
        break;
    case KN_NODE_BROADCAST:
    case KN_NODE_LIKE:
        use_first(b, u);
        break;
    case KN_NODE_SLICE:
    case KN_NODE_TRANSPOSE:
        use_view(b, u);
        break;
    case KN_NODE_RESHAPE:
        use_reshape(b, u);
        break;
    case KN_NODE_WINDOWS: /* of what is in memory: a place is a sum of two indices */
        ask_for_buffer(b, b->state->graph->node[u->node].in[0]);
        break;
    default:
        break; /* numbers */
    }
}

/* ---- roots ---- */

bool kn_is_strips(const kn_lower_state *s, int node)
{
    return s->graph->node[node].kind == KN_NODE_STRIPS;
}

/* The node whose elements the kernel of a root computes. */
static int computed_by(const kn_lower_state *s, int root)
{
    return kn_is_strips(s, root) ? s->graph->node[root].in[0] : root;
}

/* Settles the reduction axes: those of a strip that are no rows. False: the group has others. */
static bool settle_columns(kn_group *g, const kn_node *strips, const kn_axis_map *map, int ndim)
{
    uint64_t columns = 0;
    for (int a = strips->n_axes; a < ndim; ++a)
        columns |= map[a].to >= 0 ? UINT64_C(1) << map[a].to : 0;
    if (g->is_settled && g->reduced != columns)
        return false;
    g->reduced = columns;
    g->is_settled = true;
    return true;
}

/* Maps the axes of a root to axes of the space in `among`, in order. */
static bool match_root(kn_axis_map *map, const kn_group *g, const kn_typed *t, uint64_t among)
{
    int at = 0;
    for (int a = 0; a < t->ndim; ++a) {
        map[a] = (kn_axis_map){-1, 0, 0};
        if (t->shape[a] == 1)
            continue;
        while (at < g->ndim && (!(among >> at & 1) || g->extent[at] == 1))
            ++at;
        if (at == g->ndim || g->extent[at] != t->shape[a])
            return false;
        map[a] = (kn_axis_map){at++, 0, 1};
    }
    for (; at < g->ndim; ++at)
        if (among >> at & 1 && g->extent[at] != 1)
            return false;
    return true;
}

/* The reduction axes on the path to a smaller root: those of the last reduction over the whole space
 * before it. */
static bool find_reduced(uint64_t *out, const kn_group *g, const kn_lower_state *s, int root)
{
    int64_t shape[KILN_MAX_NDIM];
    kn_node_queue *q = &s->scratch->other;
    bool is_found = false;
    put_in(q, root);
    for (int n; !is_found && q->n_taken < MOST_USES && (n = take_out(q)) >= 0;) {
        if (s->is_buffered[n] && n != root)
            continue;
        if (s->typed[n].is_reduction && !reduces_singles(s, n)) {
            int ndim = node_in_shape(shape, s, n);
            is_found = ndim == g->ndim && memcmp(shape, g->extent, (size_t)ndim * sizeof *shape) == 0;
            *out = s->typed[n].axes;
        }
        for (int k = 0; k < s->graph->node[n].n_in; ++k)
            put_in(q, s->graph->node[n].in[k]);
    }
    empty(q);
    return is_found;
}

static bool place_root(building *b, int r)
{
    kn_group *g = b->group;
    const int node = computed_by(b->state, g->root[r]);
    const kn_typed *t = &b->state->typed[node];
    kn_axis_map map[KILN_MAX_NDIM];
    uint64_t all = g->ndim == 64 ? ~UINT64_C(0) : (UINT64_C(1) << g->ndim) - 1, reduced = 0;
    if (!match_root(map, g, t, all)) {
        if (node != g->root[r] || !find_reduced(&reduced, g, b->state, g->root[r]) ||
            !match_root(map, g, t, all & ~reduced))
            return false;
    }
    if (node != g->root[r] && !settle_columns(g, &b->state->graph->node[g->root[r]], map, t->ndim))
        return false;
    g->root_use[r] = use_at(b, node, map);
    return g->root_use[r] != NULL;
}

static void set_space(kn_group *g, const kn_typed *t)
{
    g->ndim = t->ndim;
    memcpy(g->extent, t->shape, (size_t)t->ndim * sizeof *g->extent);
}

/* ---- levels, limits ---- */

static bool leaf_is_all(const kn_group *g, const kn_leaf *leaf)
{
    bool is_all = false;
    for (int a = 0; a < g->ndim; ++a)
        is_all |= g->reduced >> a & 1 && leaf->stride[a] != 0;
    return is_all;
}

static void settle_use(kn_group *g, kn_use *u)
{
    u->is_all = u->leaf && leaf_is_all(g, u->leaf);
    u->level = 0;
    for (int k = 0; k < u->n_in; ++k) {
        u->level = u->in[k]->level > u->level ? u->in[k]->level : u->level;
        u->is_all |= u->in[k]->is_all && !u->is_own_reduction;
    }
    u->is_all |= u->is_own_reduction && g->is_scan;
    u->level += u->is_own_reduction;
    g->n_reductions += u->is_own_reduction;
    g->n_levels = u->level > g->n_levels ? u->level : g->n_levels;
}

bool kn_is_handed(const kn_lower_state *s, int node)
{
    return kn_is_number(s, node) && s->graph->node[node].kind != KN_NODE_NUMBER;
}

static bool precedes(const kn_axis_map *a, const kn_axis_map *b, int ndim)
{
    int k = 0;
    while (k < ndim && a[k].start == b[k].start)
        ++k;
    return k == ndim || a[k].start < b[k].start;
}

/* Sorts the uses of a node by their places: elements of a reduction without a loop are read in the order in
 * which they lie. */
static kn_use *sorted_by_place(kn_use *list, int ndim)
{
    kn_use *out = NULL;
    while (list) {
        kn_use *u = list, **at = &out;
        list = u->next;
        while (*at && precedes((*at)->map, u->map, ndim))
            at = &(*at)->next;
        u->next = *at;
        *at = u;
    }
    return out;
}

static void list_uses(building *b)
{
    kn_group *g = b->group;
    const kn_group_scratch *c = b->state->scratch;
    kn_use **last = &g->first_use;
    int number = 0;
    for (int k = c->queue.n_taken; k-- > 0;) {
        int n = c->queue.taken[k];
        g->n_scalars += kn_is_handed(b->state, n);
        if (g->has_unrolled)
            c->use[n] = sorted_by_place(c->use[n], b->state->typed[n].ndim);
        for (kn_use *u = c->use[n]; u; u = u->next) {
            settle_use(g, u);
            u->number = number++;
            *last = u;
            last = &u->after;
        }
    }
}

kn_group_size kn_group_measure(const kn_group *g)
{
    return (kn_group_size){g->n_uses, g->n_leaves, g->n_leaves + g->n_roots + g->n_scalars, g->n_levels,
                           g->n_reductions};
}

bool kn_group_size_fits(const kn_group_size *size)
{
    return size->leaves <= MOST_LEAVES && size->params <= MOST_PARAMS && size->uses <= MOST_USES &&
           size->levels <= MOST_LEVELS && size->reductions <= MOST_REDUCTIONS;
}

/* ---- the whole ---- */

static int64_t size_of_root(const kn_lower_state *s, int root)
{
    return size_of(&s->typed[computed_by(s, root)]);
}

static bool take_roots(kn_group *g, const kn_lower_state *s, const int *root, int n_roots)
{
    g->n_roots = n_roots;
    g->root = kn_arena_take(&g->arena, (size_t)n_roots * sizeof *g->root);
    g->root_use = kn_arena_take(&g->arena, (size_t)n_roots * sizeof *g->root_use);
    if (!g->root || !g->root_use)
        return false;
    memcpy(g->root, root, (size_t)n_roots * sizeof *root);
    for (int r = 1; r < n_roots; ++r) /* the largest first */
        for (int q = r; q > 0 && size_of_root(s, g->root[q]) > size_of_root(s, g->root[q - 1]); --q) {
            int other = g->root[q];
            g->root[q] = g->root[q - 1];
            g->root[q - 1] = other;
        }
    set_space(g, &s->typed[computed_by(s, g->root[0])]);
    g->option_group = s->graph->node[root[0]].option_group;
    return true;
}

/* Several roots are rejected as soon as they are too large together; a single root is expanded completely. */
static void expand_all(building *b)
{
    kn_group_scratch *c = b->state->scratch;
    kn_group *g = b->group;
    for (int n; b->result != KN_GROUP_FAILED && (n = take_out(&c->queue)) >= 0;) {
        for (kn_use *u = c->use[n]; u && b->result != KN_GROUP_FAILED; u = u->next)
            expand(b, u);
        g->is_too_large = g->n_roots > 1 && (g->n_uses > MOST_USES || g->n_leaves > MOST_LEAVES);
        if (g->is_too_large) {
            b->result = KN_GROUP_REFUSED;
            return;
        }
    }
}

static void build(building *b)
{
    kn_group *g = b->group;
    for (int r = 1; r < g->n_roots; ++r)
        if (b->state->graph->node[g->root[r]].option_group != g->option_group)
            b->result = KN_GROUP_REFUSED;
    for (int r = 0; r < g->n_roots && b->result == KN_GROUP_DONE; ++r)
        if (!place_root(b, r) && b->result != KN_GROUP_FAILED)
            b->result = KN_GROUP_REFUSED;
    if (b->result == KN_GROUP_DONE)
        expand_all(b);
    if (b->result == KN_GROUP_REFUSED || b->result == KN_GROUP_FAILED)
        return;
    list_uses(b);
    const kn_group_size size = kn_group_measure(g);
    if (b->result != KN_GROUP_DONE || kn_group_size_fits(&size))
        return;
    for (const kn_use *u = g->first_use; u && g->has_unrolled; u = u->after)
        if (u->n_unrolled > 1)
            ask_for_buffer(b, u->node);
    if (b->result != KN_GROUP_DONE)
        return;
    g->is_too_large = true;
    b->result = g->n_roots > 1 ? KN_GROUP_REFUSED : KN_GROUP_TOO_LARGE;
}

kn_group_result kn_group_build(kn_group *out, const kn_lower_state *s, const int *root, int n_roots)
{
    building b = {out, s, KN_GROUP_DONE};
    kn_group_scratch *c = s->scratch;
    memset(out, 0, sizeof *out);
    kn_group_ask_nothing(s);
    if (!take_roots(out, s, root, n_roots))
        return KN_GROUP_FAILED;
    build(&b);
    for (int k = 0; k < c->queue.n_taken; ++k)
        c->use[c->queue.taken[k]] = NULL;
    for (int k = 0; k < c->queue.n_heap; ++k)
        c->use[c->queue.heap[k]] = NULL;
    empty(&c->queue);
    return b.result;
}

void kn_group_free(kn_group *g)
{
    kn_arena_free(&g->arena);
}

/* True if the two leaves read the same elements. A space that has results alone has its reduction axes at the
 * end, and axes of one element where results keep them: the order of axes does not matter. */
static bool are_alike(const kn_group *a, const kn_leaf *l, const kn_group *b, const kn_leaf *m)
{
    uint64_t left = 0;
    for (int k = 0; k < b->ndim; ++k)
        left |= m->stride[k] != 0 && b->extent[k] != 1 ? UINT64_C(1) << k : 0;
    for (int k = 0; k < a->ndim; ++k) {
        int other = 0;
        if (l->stride[k] == 0 || a->extent[k] == 1)
            continue;
        while (other < b->ndim &&
               !(left >> other & 1 && b->extent[other] == a->extent[k] && m->stride[other] == l->stride[k]))
            ++other;
        if (other == b->ndim)
            return false;
        left &= ~(UINT64_C(1) << other);
    }
    return left == 0;
}

bool kn_groups_share(const kn_group *a, const kn_group *b)
{
    for (const kn_leaf *l = a->leaf; l; l = l->next)
        for (const kn_leaf *m = b->leaf; m; m = m->next)
            if (l->kind == m->kind && l->node == m->node && l->shift == m->shift && are_alike(a, l, b, m))
                return true;
    return false;
}
