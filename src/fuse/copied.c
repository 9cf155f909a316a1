/* Copies graphs, in which nodes are replaced by others. */
#include "fuse/copied.h"

/* Copies the node, with the numbers that its inputs have in the copy. */
static int put_copy(kn_copied *c, int node)
{
    const kn_node *n = &c->graph->node[node];
    kn_node *to = &c->out->node[c->out->n_nodes];
    *to = *n;
    to->in = kn_arena_take(c->arena, ((size_t)n->n_in + 1) * sizeof *to->in);
    for (int k = 0; to->in && k < n->n_in; ++k)
        to->in[k] = c->number[n->in[k]];
    return c->out->n_nodes++;
}

bool kn_copied_make(kn_copied *c, const bool *is_replaced, int most_added, kn_copied_put *put)
{
    const kn_graph *graph = c->graph;
    int count = 0;
    for (int n = 0; n < graph->n_nodes; ++n)
        count += is_replaced[n];
    if (count == 0)
        return false;
    kn_graph *out = c->out;
    c->number = kn_arena_take(c->arena, (size_t)graph->n_nodes * sizeof *c->number);
    *out = *graph;
    out->n_nodes = 0;
    out->node = kn_arena_take(c->arena, ((size_t)graph->n_nodes + (size_t)most_added * (size_t)count) *
                                            sizeof *out->node);
    out->out = kn_arena_take(c->arena, (size_t)graph->n_out * sizeof *out->out);
    if (!c->number || !out->node || !out->out)
        return false;
    for (int n = 0; n < graph->n_nodes && !c->arena->failed; ++n)
        c->number[n] = is_replaced[n] ? put(c, n) : put_copy(c, n);
    for (int j = 0; j < graph->n_out && !c->arena->failed; ++j)
        out->out[j] = c->number[graph->out[j]];
    return !c->arena->failed;
}
