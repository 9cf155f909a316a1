/* Finds variances beside maps of the same elements, and writes them as reductions of single numbers. */
#include "fuse/held.h"

#include <string.h>

#include "fuse/copied.h"
#include "space/shape.h"
#include "types/dtype.h"

/* mean, subtract, multiply, mean; sqrt for std takes the place of the call */
enum { MOST_ADDED = 4 };

static bool is_call(const kn_node *n, const char *name)
{
    return n->kind == KN_NODE_CALL && n->n_in == 1 && strcmp(n->name, name) == 0;
}

/* Some result has an element for each that the call reduces. */
static bool has_wide_result(const kn_graph *g, const kn_typed *typed, int node)
{
    const kn_typed *from = &typed[g->node[node].in[0]];
    bool has = false;
    for (int j = 0; j < g->n_out; ++j)
        has = has || kn_shape_size(typed[g->out[j]].ndim, typed[g->out[j]].shape) ==
                         kn_shape_size(from->ndim, from->shape);
    return has;
}

/* A variance, or its root, of real numbers that are computed in their own dtype. */
static bool is_replaced(const kn_graph *g, const kn_typed *typed, int node, unsigned flags)
{
    const kn_node *n = &g->node[node];
    const kn_typed *t = &typed[node];
    bool rounds = kn_dtype_is_half(t->dtype) && (flags & KILN_KERNEL_ROUND_EACH);
    return (is_call(n, "var") || is_call(n, "std")) && t->is_reduction && !rounds &&
           kn_dtype_info_of(t->dtype)->kind == KN_KIND_FLOAT && typed[n->in[0]].dtype == t->dtype &&
           has_wide_result(g, typed, node);
}

/* True if the results of the call are broadcast to the elements that they are reduced from. */
static bool stands_at_its_rows(const kn_node *n, const kn_typed *t)
{
    return n->keepdims || (t->axes & (t->axes + 1)) == 0; /* the first axes are missing */
}

/* Adds a node like the call, but for its name and inputs; returns its number. */
static int add(kn_copied *c, const kn_node *like, const char *name, int n_in, int a, int b)
{
    int *in = kn_arena_take(c->arena, 2 * sizeof *in);
    char *own = kn_arena_take(c->arena, strlen(name) + 1);
    kn_node *n = &c->out->node[c->out->n_nodes];
    if (!in || !own)
        return 0;
    *n = *like;
    in[0] = a;
    in[1] = b;
    n->in = in;
    n->n_in = n_in;
    n->name = strcpy(own, name);
    n->has_axes = n->has_axes && n_in == 1;
    return c->out->n_nodes++;
}

/* The mean over the same axes, at its rows, that has been copied; -1: there is none. */
static int find_mean(const kn_copied *c, int node)
{
    const kn_node *n = &c->graph->node[node];
    for (int k = n->in[0] + 1; k < node; ++k) {
        const kn_node *m = &c->graph->node[k];
        if (is_call(m, "mean") && m->in[0] == n->in[0] && m->option_group == n->option_group &&
            c->typed[k].axes == c->typed[node].axes && stands_at_its_rows(m, &c->typed[k]))
            return c->number[k];
    }
    return -1;
}

/* The variance of `node`, or its root, by distances from the mean. */
static int put_distances(kn_copied *c, int node)
{
    const kn_node *n = &c->graph->node[node];
    int x = c->number[n->in[0]], mean = find_mean(c, node);
    if (mean < 0) {
        kn_node beside = *n;
        beside.keepdims = n->keepdims || !stands_at_its_rows(n, &c->typed[node]);
        mean = add(c, &beside, "mean", 1, x, 0);
    }
    kn_node map = *n;
    map.n_axes = 0;
    map.has_axes = map.keepdims = false;
    int distance = add(c, &map, "subtract", 2, x, mean);
    int square = add(c, &map, "multiply", 2, distance, distance);
    int variance = add(c, n, "mean", 1, square, 0);
    return strcmp(n->name, "std") == 0 ? add(c, &map, "sqrt", 1, variance, 0) : variance;
}

bool kn_held_make(kn_graph *out, const kn_graph *graph, const kn_typed *typed, unsigned flags,
                  kn_arena *arena)
{
    kn_copied c = {out, graph, typed, arena, NULL};
    bool *replaced = kn_arena_take(arena, (size_t)graph->n_nodes * sizeof *replaced);
    for (int n = 0; replaced && n < graph->n_nodes; ++n)
        replaced[n] = is_replaced(graph, typed, n, flags);
    return replaced && kn_copied_make(&c, replaced, MOST_ADDED, put_distances);
}
