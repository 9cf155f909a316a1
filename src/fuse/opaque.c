/* Kernels whose texts cannot be fused with others: each is a group of its own. */
#include "fuse/opaque.h"

#include <string.h>

#include "base/error.h"
#include "graph/op.h"
#include "eager/operation.h"
#include "types/number.h"

/* ---- which ---- */

/* A cache of answers about operations, which are asked for many times. */
typedef struct answers {
    const kiln_operation *definition[64];
    bool is_alone[64];
    size_t count;
} answers;

static bool is_alone(answers *known, const kn_node *node, const kn_typed *typed, unsigned flags)
{
    size_t capacity = sizeof known->is_alone / sizeof known->is_alone[0], at = 0;
    if (node->kind != KN_NODE_CALL)
        return kn_op_is_alone(node, typed, flags);
    while (at < known->count && known->definition[at] != typed->definition)
        ++at;
    if (at < known->count)
        return known->is_alone[at];
    bool is = kn_op_is_alone(node, typed, flags);
    if (at < capacity) {
        known->definition[at] = typed->definition;
        known->is_alone[at] = is;
        ++known->count;
    }
    return is;
}

void kn_opaque_find(kn_lower_state *s)
{
    answers known = {.count = 0};
    for (int n = 0; n < s->graph->n_nodes; ++n) {
        const kn_node *node = &s->graph->node[n];
        unsigned flags = node->option_group ? node->option_group->program->flags : s->flags;
        s->is_opaque[n] =
            !kn_is_number(s, n) && (is_alone(&known, node, &s->typed[n], flags) ||
                                    kn_op_shows_halves(node, &s->typed[n]) || kn_scans_singles(s, n));
    }
}

/* ---- groups ---- */

/* A number by value, or one cast to a dtype. */
static bool find_number(kn_text_param *out, const kn_lower_state *s, int node)
{
    const kn_node *n = &s->graph->node[node];
    const kn_typed *t = &s->typed[node];
    *out = (kn_text_param){.input = -1, .number = t->number};
    if (kn_is_number(s, node)) {
        out->input = t->number.kind == KILN_ARG_NONE ? t->from : -1;
        return true;
    }
    if (n->kind != KN_NODE_CAST || s->typed[n->in[0]].number.kind == KILN_ARG_NONE)
        return false;
    out->number = kiln_arg_none();
    out->number.kind = KILN_ARG_TYPED;
    out->number.dtype = n->dtype;
    return kn_scalar_convert(out->number.value.bytes, n->dtype, &s->typed[n->in[0]].number, "number") ==
           KILN_OK;
}

/* The memory of an input; NULL: it is in none that the kernel can read. A raw input must be a whole array
 * or buffer. */
static const kn_base *base_of(const kn_lower_state *s, int node, bool is_raw)
{
    const kn_base *base = &s->base[node];
    bool lies = (base->kind == KN_BASE_INPUT || base->kind == KN_BASE_BUFFER) && base->stride;
    return lies && (!is_raw || base->kind == KN_BASE_INPUT || base->node == node) ? base : NULL;
}

kn_group_result kn_opaque_build(kn_group *out, const kn_lower_state *s, int root)
{
    const kn_node *node = &s->graph->node[root];
    const int n_out =
        node->kind == KN_NODE_KERNEL ? node->kernel->program->n_out : s->typed[root].variant.n_out;
    kn_group_result result = KN_GROUP_DONE;
    memset(out, 0, sizeof *out);
    kn_group_ask_nothing(s);
    out->is_opaque = true;
    out->root = kn_arena_take(&out->arena, (size_t)n_out * sizeof *out->root);
    out->spare = kn_arena_take(&out->arena, (size_t)n_out * sizeof *out->spare);
    if (!out->root || !out->spare)
        return KN_GROUP_FAILED;
    out->root[out->n_roots++] = root;
    for (int k = node->n_in; k-- > 0;) {
        kn_text_param number;
        const kn_base *base = base_of(s, node->in[k], kn_node_reads_raw(node, k));
        if (find_number(&number, s, node->in[k]))
            continue;
        if (!base) {
            kn_group_ask(s, node->in[k]);
            result = KN_GROUP_NEEDS_BUFFER;
            continue;
        }
        kn_leaf *leaf = kn_arena_take(&out->arena, sizeof *leaf);
        if (!leaf)
            return KN_GROUP_FAILED;
        *leaf = (kn_leaf){out->leaf, base->kind, base->node, k, base->shift, {0}};
        memcpy(leaf->stride, base->stride, (size_t)s->typed[node->in[k]].ndim * sizeof *base->stride);
        out->leaf = leaf;
        ++out->n_leaves;
    }
    return result;
}

bool kn_opaque_joins(kn_group *g, const kn_lower_state *s, int root)
{
    const kn_node *a = &s->graph->node[root], *b = g->is_opaque ? &s->graph->node[g->root[0]] : NULL;
    if (!b || a->kind != b->kind || a->kernel != b->kernel || a->option_group != b->option_group ||
        a->n_in != b->n_in || memcmp(a->in, b->in, (size_t)a->n_in * sizeof *a->in) != 0 ||
        strcmp(a->name ? a->name : "", b->name ? b->name : "") != 0 || s->typed[root].is_reduction ||
        kn_opaque_root(g, s, a->index) >= 0)
        return false;
    g->root[g->n_roots++] = root;
    return true;
}

int kn_opaque_root(const kn_group *g, const kn_lower_state *s, int j)
{
    int found = -1;
    for (int r = 0; r < g->n_roots; ++r)
        found = s->graph->node[g->root[r]].index == j ? r : found;
    return found;
}

/* ---- programs ---- */

kiln_status kn_opaque_write(kn_text *out, const kiln_kernel **kernel, const kn_group *g,
                            const kn_lower_state *s)
{
    const kn_node *node = &s->graph->node[g->root[0]];
    const kn_typed *typed = &s->typed[g->root[0]];
    kiln_status status = KILN_OK;
    memset(out, 0, sizeof *out);
    *kernel = node->kernel;
    if (node->kernel)
        out->program = node->kernel->program;
    else
        status = kn_operation_program(&out->program, typed->definition, &typed->variant);
    if (status != KILN_OK)
        return status;
    out->n_in = node->n_in;
    for (int k = 0; k < node->n_in; ++k) {
        find_number(&out->in[k], s, node->in[k]);
        out->in[k].bound = kn_lowered_bound(s, g->root[0], k);
        for (const kn_leaf *leaf = g->leaf; leaf; leaf = leaf->next)
            out->in[k].leaf = leaf->number == k ? leaf : out->in[k].leaf;
        out->in[k].dtype = node->kernel ? typed->param[k] : typed->variant.dtype[k];
    }
    return KILN_OK;
}
