/* Finds the reductions that can be computed without an earlier one's result, in one pass with it. */
#include "fuse/direct.h"

#include <string.h>

#include "fuse/number_text.h"
#include "types/dtype.h"

/* A reduction that may be replaced. */
typedef struct search {
    const kn_graph *graph;
    const kn_typed *typed;
    int root;
} search;

/* A call of that name with `n_in` inputs, which has the dtype and the options of the reduction. */
static const kn_node *call_of(const search *s, int node, const char *name, int n_in)
{
    const kn_node *n = &s->graph->node[node], *root = &s->graph->node[s->root];
    bool is = n->kind == KN_NODE_CALL && n->n_in == n_in && strcmp(n->name, name) == 0 &&
              n->option_group == root->option_group && s->typed[node].dtype == s->typed[s->root].dtype;
    return is ? n : NULL;
}

/* True if the results of `node` are broadcast to the elements that they are reduced from. */
static bool stands_at_its_rows(const search *s, int node)
{
    uint64_t axes = s->typed[node].axes;
    return s->graph->node[node].keepdims || (axes & (axes + 1)) == 0; /* the first axes are missing */
}

/* x, where `node` is x - NAME(x) along the axes of the reduction; -1: it is not. */
static int element_of_distance(const search *s, int node, const char *name)
{
    const kn_node *distance = call_of(s, node, "subtract", 2);
    const kn_node *from = distance ? call_of(s, distance->in[1], name, 1) : NULL;
    bool is = from && from->in[0] == distance->in[0] &&
              s->typed[distance->in[0]].dtype == s->typed[s->root].dtype &&
              s->typed[distance->in[0]].ndim == s->typed[node].ndim &&
              s->typed[distance->in[1]].axes == s->typed[s->root].axes &&
              stands_at_its_rows(s, distance->in[1]);
    return is ? distance->in[0] : -1;
}

/* The node whose square `node` is; -1: it is none. */
static int root_of_square(const search *s, int node)
{
    const kn_node *n = call_of(s, node, "square", 1);
    if (n)
        return n->in[0];
    n = call_of(s, node, "multiply", 2);
    if (n)
        return n->in[0] == n->in[1] ? n->in[0] : -1;
    n = call_of(s, node, "power", 2);
    return n && kn_node_is_square(s->graph, n) ? n->in[0] : -1;
}

static int element_of_exponentials(const search *s, int node)
{
    const kn_node *n = call_of(s, node, "exp", 1);
    return n ? element_of_distance(s, n->in[0], "max") : -1;
}

static int element_of_squares(const search *s, int node)
{
    int root = root_of_square(s, node);
    return root >= 0 ? element_of_distance(s, root, "mean") : -1;
}

static const struct {
    char own[8], direct[16];
    int (*element)(const search *s, int node); /* of the reduction's input; -1: another expression */
} replaced[] = {{"sum", "softmax_sum", element_of_exponentials}, {"mean", "var", element_of_squares}};

/* The row of `replaced` that the reduction has, and the node that it reads then; -1: none. */
static int find(int *element, const search *s, unsigned flags)
{
    kiln_dtype dtype = s->typed[s->root].dtype;
    bool rounds = kn_dtype_is_half(dtype) && (flags & KILN_KERNEL_ROUND_EACH);
    if (!s->typed[s->root].is_reduction || kn_dtype_info_of(dtype)->kind != KN_KIND_FLOAT || rounds)
        return -1;
    for (int k = 0; k < (int)(sizeof replaced / sizeof *replaced); ++k) {
        const kn_node *n = call_of(s, s->root, replaced[k].own, 1);
        *element = n ? replaced[k].element(s, n->in[0]) : -1;
        if (*element >= 0)
            return k;
    }
    return -1;
}

/* Replaces the reduction `node` in the copy. */
static bool replace(kn_graph *out, int node, int row, int element, kn_arena *arena)
{
    int *in = kn_arena_take(arena, sizeof *in);
    char *name = kn_arena_take(arena, sizeof replaced[row].direct);
    if (!in || !name)
        return false;
    *in = element;
    memcpy(name, replaced[row].direct, sizeof replaced[row].direct);
    out->node[node].in = in;
    out->node[node].name = name;
    return true;
}

bool kn_direct_make(kn_graph *out, const kn_graph *graph, const kn_typed *typed, unsigned flags,
                    kn_arena *arena)
{
    bool is_any = false;
    size_t bytes = (size_t)graph->n_nodes * sizeof *graph->node;
    *out = *graph;
    out->node = NULL;
    for (int n = 0; n < graph->n_nodes; ++n) {
        const search s = {graph, typed, n};
        int element, row = graph->node[n].kind == KN_NODE_CALL ? find(&element, &s, flags) : -1;
        if (row < 0)
            continue;
        if (!out->node && (out->node = kn_arena_take(arena, bytes)) != NULL)
            memcpy(out->node, graph->node, bytes);
        is_any = out->node && replace(out, n, row, element, arena);
        if (!is_any)
            return false;
    }
    return is_any;
}
