/* Finds reductions over the first axes beside programs over rows, and cuts them into strips. */
#include "fuse/strips.h"

#include <string.h>

#include "fuse/copied.h"
#include "graph/op.h"
#include "kernel/kernel.h"
#include "schedule/row_strips.h"
#include "space/shape.h"
#include "types/dtype.h"

enum {
    LEAST_ELEMENTS = 1 << 16, /* of the input: fewer are read again from the cache */
    ADDED = 2                 /* nodes for a reduction: its strips, and a cast of what is combined of them */
};

/* The graph, and the reductions that are refused: they decide. */
typedef struct cutting {
    const kn_graph *graph;
    const kn_typed *typed;
    unsigned flags;
    const bool *refused;
} cutting;

/* The extents of axes from `first` to `end`, multiplied. */
static int64_t size_of(const kn_typed *t, int first, int end)
{
    return kn_shape_size(end - first, t->shape + first);
}

/* The number of axes, the first ones, that the node reduces; 0: others. */
static int first_axes(const kn_graph *graph, const kn_typed *typed, int node)
{
    const uint64_t axes = typed[node].axes;
    int count = 0;
    while (axes >> count & 1)
        ++count;
    return axes >> count == 0 && count < typed[graph->node[node].in[0]].ndim ? count : 0;
}

static bool has_shape_of(const cutting *c, int node, int other)
{
    const kn_typed *a = &c->typed[node], *b = &c->typed[other];
    return a->ndim == b->ndim && memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape) == 0;
}

/* True if a kernel has rows of elements like those of `in`, or reduces such: a result, or a reduction over
 * the other axes. */
static bool has_rows_beside(const cutting *c, int in, int axes)
{
    bool has = false;
    const uint64_t all = (UINT64_C(1) << c->typed[in].ndim) - 1, others = all & ~((UINT64_C(1) << axes) - 1);
    for (int j = 0; j < c->graph->n_out; ++j)
        has = has || has_shape_of(c, c->graph->out[j], in);
    for (int n = 0; n < c->graph->n_nodes && !has; ++n)
        has = c->typed[n].is_reduction && c->typed[n].axes == others &&
              has_shape_of(c, c->graph->node[n].in[0], in);
    return has;
}

/* Reductions whose partial values have the dtype that they are computed in: of floats. */
static bool combines(const cutting *c, int node)
{
    static const char *const names[] = {"sum", "max", "min"};
    const kn_node *n = &c->graph->node[node];
    const kn_typed *t = &c->typed[node];
    bool is_named = false;
    for (size_t k = 0; k < sizeof names / sizeof names[0] && n->kind == KN_NODE_CALL && n->n_in == 1; ++k)
        is_named = is_named || strcmp(n->name, names[k]) == 0;
    unsigned flags = n->option_group ? n->option_group->program->flags : c->flags;
    return is_named && t->is_reduction && !(flags & KILN_KERNEL_ROUND_EACH) &&
           kn_dtype_info_of(t->dtype)->kind == KN_KIND_FLOAT && c->typed[n->in[0]].dtype == t->dtype;
}

static bool is_cut(const cutting *c, int node)
{
    if ((c->refused && c->refused[node]) || !combines(c, node))
        return false;
    int in = c->graph->node[node].in[0], axes = first_axes(c->graph, c->typed, node);
    const kn_typed *t = &c->typed[in];
    if (axes == 0 || (c->graph->node[node].keepdims && axes > 1))
        return false;
    int64_t rows = size_of(t, 0, axes), length = size_of(t, axes, t->ndim);
    return length >= KN_STRIPS_LEAST_LENGTH && length <= KN_STRIPS_MOST_LENGTH &&
           rows >= 2 * KN_STRIPS_LEAST_ROWS && rows * length >= LEAST_ELEMENTS &&
           has_rows_beside(c, in, axes);
}

/* Adds a node like this one with one input; returns its number. */
static int add(kn_copied *c, const kn_node *like, int in)
{
    kn_node *to = &c->out->node[c->out->n_nodes];
    *to = *like;
    to->n_in = 1;
    to->in = kn_arena_take(c->arena, sizeof *to->in);
    if (to->in)
        to->in[0] = in;
    return c->out->n_nodes++;
}

/* The strips of the reduction's input: `extent` has their number, `n_axes` the axes that they replace. */
static int put_strips(kn_copied *c, int node)
{
    const kn_node *n = &c->graph->node[node];
    const kn_typed *t = &c->typed[n->in[0]];
    int axes = first_axes(c->graph, c->typed, node);
    kn_node strips = {.kind = KN_NODE_STRIPS,
                      .at = n->at,
                      .length = n->length,
                      .is_operator = n->is_operator,
                      .option_group = n->option_group,
                      .index = node,
                      .dtype = kn_computed_dtype(t->dtype),
                      .n_axes = axes,
                      .extent = kn_arena_take(c->arena, sizeof *strips.extent)};
    if (strips.extent)
        *strips.extent = kn_strip_count(size_of(t, 0, axes), size_of(t, axes, t->ndim));
    return add(c, &strips, c->number[n->in[0]]);
}

/* The reduction of its strips, in the dtype that it had. */
static int put_reduction(kn_copied *c, int node)
{
    kn_node reduction = c->graph->node[node];
    reduction.has_axes = true;
    reduction.n_axes = 1;
    reduction.axis[0] = 0;
    int strips = put_strips(c, node), combined = add(c, &reduction, strips);
    kn_node cast = {.kind = KN_NODE_CAST,
                    .at = reduction.at,
                    .length = reduction.length,
                    .option_group = reduction.option_group,
                    .dtype = c->typed[node].dtype};
    return c->out->node[strips].dtype == cast.dtype ? combined : add(c, &cast, combined);
}

bool kn_strips_make(kn_graph *out, const kn_graph *graph, const kn_typed *typed, unsigned flags,
                    const bool *refused, kn_arena *arena)
{
    const cutting decides = {graph, typed, flags, refused};
    kn_copied c = {out, graph, typed, arena, NULL};
    bool *cut = kn_arena_take(arena, (size_t)graph->n_nodes * sizeof *cut);
    for (int n = 0; cut && n < graph->n_nodes; ++n)
        cut[n] = is_cut(&decides, n);
    return cut && kn_copied_make(&c, cut, ADDED, put_reduction);
}
