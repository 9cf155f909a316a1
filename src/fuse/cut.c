/* Stores nodes so that no kernel becomes too large for compilers. */
#include "fuse/cut.h"

#include <string.h>

#include "base/alloc.h"

/* ---- where a group is cut ---- */

/* The uses, leaves and reductions that only this vertex needs: they go when it is stored. */
typedef struct weight {
    int uses, leaves, reductions;
} weight;

/* The limit that is exceeded; BY_LEAVES: anything that is read. */
typedef enum excess { BY_USES, BY_LEVELS, BY_REDUCTIONS, BY_LEAVES } excess;

typedef struct cutting {
    const kn_group *group;
    const kn_lower_state *state;
    excess by;
    kn_use **use;    /* by number */
    int *vertex;     /* by number: the lowest use of the same node; storing it serves all its places */
    int *above;      /* by vertex: its immediate dominator, counted from the root */
    int *above_leaf; /* by leaf: its immediate dominator */
    weight *weight;  /* by vertex */
    uint64_t *reads; /* by number: bits of all leaves and numbers that it needs; `words` each */
    size_t words;
} cutting;

/* The nearest common dominator of a and b. Vertices have higher numbers than what they read. */
static int common(const int *above, int a, int b)
{
    while (a != b)
        if (a < b)
            a = above[a];
        else
            b = above[b];
    return a;
}

static void join(const cutting *c, int *to, int by)
{
    *to = *to < 0 ? by : common(c->above, *to, by);
}

static void find_above(cutting *c, int root)
{
    const kn_group *g = c->group;
    memset(c->above, 0xff, (size_t)g->n_uses * sizeof *c->above);
    memset(c->above_leaf, 0xff, ((size_t)g->n_leaves + 1) * sizeof *c->above_leaf);
    for (int n = 0; n < g->n_uses; ++n)
        c->vertex[n] = n > 0 && c->use[n]->node == c->use[n - 1]->node ? c->vertex[n - 1] : n;
    c->above[root] = root;
    for (int n = g->n_uses; n-- > 0;) {
        const kn_use *u = c->use[n];
        for (int k = 0; k < u->n_in; ++k)
            join(c, &c->above[c->vertex[u->in[k]->number]], c->vertex[n]);
        if (u->leaf)
            join(c, &c->above_leaf[u->leaf->number], c->vertex[n]);
    }
}

static void weigh(cutting *c, int root)
{
    const kn_group *g = c->group;
    for (int l = 0; l < g->n_leaves; ++l)
        ++c->weight[c->above_leaf[l]].leaves;
    for (int n = 0; n < g->n_uses; ++n) {
        weight *w = &c->weight[c->vertex[n]];
        ++w->uses;
        w->leaves += kn_is_handed(c->state, c->use[n]->node);
        w->reductions += c->use[n]->is_own_reduction;
    }
    for (int n = 0; n < g->n_uses; ++n) {
        const weight *w = &c->weight[n];
        weight *to = &c->weight[c->above[n] < 0 ? n : c->above[n]];
        if (n == root || c->vertex[n] != n)
            continue;
        to->uses += w->uses;
        to->leaves += w->leaves;
        to->reductions += w->reductions;
    }
}

static int count_reads(const cutting *c, int n)
{
    const kn_use *u = c->use[n];
    uint64_t *own = c->reads + c->words * (size_t)n;
    int count = 0, bit = u->leaf ? u->leaf->number : c->group->n_leaves + n;
    if (u->leaf || kn_is_handed(c->state, u->node))
        own[bit / 64] |= UINT64_C(1) << bit % 64;
    for (int k = 0; k < u->n_in; ++k)
        for (size_t w = 0; w < c->words; ++w)
            own[w] |= c->reads[c->words * (size_t)u->in[k]->number + w];
    for (size_t w = 0; w < c->words; ++w)
        count += __builtin_popcountll(own[w]);
    return count;
}

static bool may_be_cut(const cutting *c, int n, int root)
{
    const kn_use *u = c->use[n];
    return n != root && !u->leaf && u->n_in > 0 && !kn_is_number(c->state, u->node);
}

/* The reduction of the excess by storing vertex n. Stored, it becomes one leaf for each of its places. */
static int gain(const cutting *c, int n)
{
    const weight *w = &c->weight[n];
    int places = 1;
    while (n + places < c->group->n_uses && c->vertex[n + places] == n)
        ++places;
    return c->by == BY_USES ? w->uses : c->by == BY_LEAVES ? w->leaves - places : w->reductions;
}

static const int enough[] = {[BY_USES] = KN_MANY_USES,
                             [BY_LEVELS] = KN_MANY_LEVELS,
                             [BY_REDUCTIONS] = KN_MANY_REDUCTIONS,
                             [BY_LEAVES] = KN_MANY_LEAVES / 2};

static excess excess_of(const kn_group_size *size)
{
    return !kn_group_size_fits(&(kn_group_size){.uses = size->uses})               ? BY_USES
           : !kn_group_size_fits(&(kn_group_size){.levels = size->levels})         ? BY_LEVELS
           : !kn_group_size_fits(&(kn_group_size){.reductions = size->reductions}) ? BY_REDUCTIONS
                                                                                   : BY_LEAVES;
}

/* The first vertex, which is the deepest, that takes enough uses with it. If there is none: the vertex
 * that takes most; for leaves that are read all over the group, the first vertex that reads many; else the
 * last vertex. */
static int choose(const cutting *c, int root)
{
    bool by_leaves = c->by == BY_LEAVES;
    int best = -1, most = 1, wide = -1, last = -1;
    for (int n = 0; n < c->group->n_uses; ++n) {
        bool is_wide = by_leaves && count_reads(c, n) >= KN_MANY_LEAVES;
        if (c->vertex[n] != n || !may_be_cut(c, n, root))
            continue;
        int own = gain(c, n);
        if (own >= enough[c->by] && (!by_leaves || is_wide))
            return n;
        wide = is_wide && wide < 0 ? n : wide;
        best = own > most ? n : best;
        most = own > most ? own : most;
        last = n;
    }
    return wide >= 0 ? wide : best >= 0 ? best : last;
}

static bool take_arrays(cutting *c, kn_arena *arena)
{
    size_t uses = (size_t)c->group->n_uses, leaves = (size_t)c->group->n_leaves + 1;
    c->words = (leaves + uses) / 64 + 1;
    c->use = kn_arena_take(arena, uses * sizeof(kn_use *));
    c->vertex = kn_arena_take(arena, uses * sizeof *c->vertex);
    c->above = kn_arena_take(arena, uses * sizeof *c->above);
    c->above_leaf = kn_arena_take(arena, leaves * sizeof *c->above_leaf);
    c->weight = kn_arena_take(arena, uses * sizeof *c->weight);
    c->reads = kn_arena_take(arena, uses * c->words * sizeof *c->reads);
    return !arena->failed;
}

int kn_cut_choose(const kn_lower_state *s, const kn_group *g)
{
    kn_arena arena = KN_ARENA_INIT;
    const kn_group_size size = kn_group_measure(g);
    cutting c = {.group = g, .state = s, .by = excess_of(&size)};
    int root = g->root_use[0]->number, best = -1;
    if (take_arrays(&c, &arena)) {
        for (kn_use *u = g->first_use; u; u = u->after)
            c.use[u->number] = u;
        find_above(&c, root);
        weigh(&c, root);
        best = choose(&c, root);
        best = best < 0 ? -1 : c.use[best]->node;
    }
    kn_arena_free(&arena);
    return best;
}

/* ---- all nodes ---- */

/* Upper bounds of a kernel of a node alone. all: every use below it up to stored nodes, including those
 * below nodes that such a kernel asks to store: other kernels may not ask for these. */
typedef struct bound {
    kn_group_size size;
    int all;
} bound;

enum { MOST_BEHIND = 4000 /* uses that one group may have to visit, asked for or not */ };

typedef struct finding {
    const kn_lower_state *state;
    bound *bound; /* by node */
    kn_cut_store store;
    void *user;
} finding;

static bool fits(const bound *b)
{
    return b->all <= MOST_BEHIND && kn_group_size_fits(&b->size);
}

/* True for an elementwise node of the same shape as its input: both are used at the same places. */
static bool goes_along(const kn_lower_state *s, int node, int in)
{
    const kn_node *n = &s->graph->node[node];
    const kn_typed *t = &s->typed[node], *of = &s->typed[in];
    return (n->kind == KN_NODE_CALL || n->kind == KN_NODE_CAST) && !t->is_reduction && t->ndim == of->ndim &&
           memcmp(t->shape, of->shape, (size_t)t->ndim * sizeof *t->shape) == 0;
}

/* True if input k of a node is counted with another input: it is the same node, or the other one reads it. */
static bool is_counted(const kn_lower_state *s, int node, int k)
{
    const kn_node *n = &s->graph->node[node];
    bool is = false;
    for (int other = 0; other < n->n_in && !is; ++other) {
        const kn_node *by = &s->graph->node[n->in[other]];
        is = other < k && n->in[other] == n->in[k];
        bool passes = s->base[n->in[other]].kind == KN_BASE_NONE && goes_along(s, node, n->in[other]) &&
                      goes_along(s, n->in[other], n->in[k]);
        for (int i = 0; i < by->n_in && passes && !is && n->n_in <= 3; ++i)
            is = by->in[i] == n->in[k];
    }
    return is;
}

/* The bound that one use of a node adds to its reader's. */
static bound bound_of_use(const finding *f, int node)
{
    const kn_lower_state *s = f->state;
    bool is_leaf = (s->base[node].kind != KN_BASE_NONE && s->base[node].stride) || s->is_opaque[node];
    if (is_leaf || kn_is_number(s, node))
        return (bound){{1, is_leaf, 1 + (is_leaf || kn_is_handed(s, node)), 0, 0}, 1};
    return f->bound[node];
}

/* The result counts as one parameter. */
static bound sum_up(const finding *f, int node)
{
    const kn_node *n = &f->state->graph->node[node];
    bound sum = {{1, 0, 1, 0, 0}, 1};
    for (int k = 0; k < n->n_in; ++k) {
        const bound in = bound_of_use(f, n->in[k]);
        if (is_counted(f->state, node, k))
            continue;
        sum.all += in.all;
        sum.size.uses += in.size.uses;
        sum.size.leaves += in.size.leaves;
        sum.size.params += in.size.params - 1;
        sum.size.reductions += in.size.reductions;
        sum.size.levels = in.size.levels > sum.size.levels ? in.size.levels : sum.size.levels;
    }
    sum.size.levels += f->state->typed[node].is_reduction;
    sum.size.reductions += f->state->typed[node].is_reduction;
    return sum;
}

/* Builds the group of a node alone. False: a node was stored. */
static bool settle(finding *f, kn_group *g, int node, bool *has_memory)
{
    const kn_lower_state *s = f->state;
    kn_group_result result = kn_group_build(g, s, &node, 1);
    *has_memory = result != KN_GROUP_FAILED;
    if (!*has_memory)
        return true;
    bound *b = &f->bound[node];
    *b = (bound){kn_group_measure(g), g->n_uses};
    if (result == KN_GROUP_NEEDS_BUFFER) {
        const kn_group_scratch *c = s->scratch;
        for (int k = 0; k < c->n_asked; ++k)
            b->all += f->bound[c->asked[k]].all;
        for (int k = 0; k < c->n_asked && !fits(b); ++k)
            f->store(f->user, c->asked[k], false, g);
        return fits(b);
    }
    int cut = result == KN_GROUP_TOO_LARGE ? kn_cut_choose(s, g) : -1;
    if (cut >= 0)
        f->store(f->user, cut, true, g);
    return cut < 0;
}

/* The number of operands whose elements are read; of the others only shapes or numbers are. */
static int count_computed(const kn_node *n)
{
    switch (n->kind) {
    case KN_NODE_CALL:
    case KN_NODE_KERNEL:
        return n->n_in;
    case KN_NODE_INPUT:
    case KN_NODE_NUMBER:
    case KN_NODE_EXTENT:
    case KN_NODE_NDIM:
    case KN_NODE_ARANGE:
        return 0;
    default:
        return 1;
    }
}

static void find_computed(bool *is_computed, const kn_graph *g)
{
    for (int j = 0; j < g->n_out; ++j)
        is_computed[g->out[j]] = true;
    for (int n = g->n_nodes; n-- > 0;)
        for (int k = 0; is_computed[n] && k < count_computed(&g->node[n]); ++k)
            is_computed[g->node[n].in[k]] = true;
}

bool kn_cuts_find(const kn_lower_state *s, kn_cut_store store, void *user)
{
    size_t nodes = (size_t)s->graph->n_nodes;
    finding f = {s, kn_calloc(nodes, sizeof *f.bound), store, user};
    bool *is_computed = kn_calloc(nodes, sizeof *is_computed), has_memory = f.bound && is_computed;
    if (has_memory)
        find_computed(is_computed, s->graph);
    for (int n = 0; n < s->graph->n_nodes && has_memory; ++n) {
        f.bound[n] = bound_of_use(&f, n); /* nothing yet, if it is computed */
        if (is_computed[n] && f.bound[n].all == 0)
            f.bound[n] = sum_up(&f, n);
        for (bool is_settled = fits(&f.bound[n]); !is_settled && has_memory;) {
            kn_group own;
            is_settled = settle(&f, &own, n, &has_memory);
            kn_group_free(&own);
        }
    }
    kn_free(f.bound);
    kn_free(is_computed);
    return has_memory && !s->arena->failed;
}
