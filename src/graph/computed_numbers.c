/* Numbers that a call computes from numbers given by value. */
#include "graph/computed_numbers.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "array/array.h"
#include "graph/constant_folding.h"
#include "types/dtype.h"

enum { VALUE_WORDS = 2, KIND_BITS = 8 };

void kn_computed_free(kn_graph *graph)
{
    kn_computed_numbers *c = graph->computed;
    if (!c)
        return;
    kn_free(c->number);
    kn_free(c->of_node);
    kn_free(c);
    graph->computed = NULL;
}

/* ---- which there are ---- */

static bool is_extent(const kn_node *n)
{
    return n->kind == KN_NODE_EXTENT || n->kind == KN_NODE_NDIM;
}

/* True for an operator or a cast whose inputs may all be numbers. */
static bool may_be_computed(const kn_computed_numbers *c, const kn_graph *g, const kn_node *node)
{
    bool may =
        node->is_operator && (node->kind == KN_NODE_CAST || kn_constant_fold_knows(node->name, node->n_in));
    for (int k = 0; k < node->n_in && may; ++k) {
        const kn_node *in = &g->node[node->in[k]];
        may = in->kind == KN_NODE_INPUT || in->kind == KN_NODE_NUMBER || is_extent(in) ||
              c->of_node[node->in[k]] >= 0;
    }
    return may;
}

static void add(kn_computed_numbers *c, const kn_graph *g, int n)
{
    const kn_node *node = &g->node[n];
    kn_computed own = {.node = n};
    for (int k = 0; k < node->n_in; ++k) {
        const kn_node *in = &g->node[node->in[k]];
        int of = c->of_node[node->in[k]];
        own.inputs |= in->kind == KN_NODE_INPUT ? UINT64_C(1) << in->index
                      : of >= 0                 ? c->number[of].inputs
                                                : 0;
        own.is_pinned |= (is_extent(in) && g->node[in->in[0]].kind != KN_NODE_INPUT) ||
                         (of >= 0 && c->number[of].is_pinned);
    }
    c->of_node[n] = c->count;
    c->number[c->count++] = own;
}

/* Numbers that the node's shape depends on: plans depend on the values of their inputs. */
static void pin_extents(kn_computed_numbers *c, const kn_graph *g, int n)
{
    for (int k = 0; k < g->node[n].n_in; ++k) {
        const int in = g->node[n].in[k], of = c->of_node[in];
        if (!kn_node_reads_extent(&g->node[n], k))
            continue;
        if (of >= 0)
            c->number[of].is_pinned = true;
        else if (g->node[in].kind == KN_NODE_INPUT)
            c->pinned |= UINT64_C(1) << g->node[in].index;
    }
}

/* A number that nodes read which are not numbers whenever it is one. A computed number of the same inputs
 * is not such a reader. */
static void find_reads(kn_computed_numbers *c, const kn_graph *g, int n)
{
    const kn_node *node = &g->node[n];
    int own = c->of_node[n];
    bool reads_input = false;
    for (int k = 0; k < node->n_in; ++k)
        reads_input |= g->node[node->in[k]].kind == KN_NODE_INPUT;
    for (int k = 0; k < node->n_in; ++k) {
        int of = c->of_node[node->in[k]];
        if (of >= 0 && (own < 0 || reads_input || c->number[own].inputs != c->number[of].inputs))
            c->number[of].is_read = true;
    }
}

static void count_words(kn_computed_numbers *c)
{
    for (int k = 0; k < c->count; ++k) {
        const kn_computed *own = &c->number[k];
        if (own->is_pinned)
            c->pinned |= own->inputs;
        else if (own->is_read && own->inputs)
            ++c->n_words;
    }
    for (uint64_t left = c->pinned; left; left &= left - 1)
        c->n_words += VALUE_WORDS;
}

kiln_status kn_computed_find(kn_graph *g)
{
    size_t bytes = ((size_t)g->n_nodes + 1) * sizeof(kn_computed);
    kn_computed_numbers *c = g->computed = kn_calloc(1, sizeof *c);
    if (c) {
        c->number = kn_malloc(bytes);
        c->of_node = kn_malloc(((size_t)g->n_nodes + 1) * sizeof *c->of_node);
    }
    if (!c || !c->number || !c->of_node)
        return kn_error_memory("the numbers of an expression");
    for (int n = 0; n < g->n_nodes; ++n) {
        c->of_node[n] = -1;
        if (may_be_computed(c, g, &g->node[n]))
            add(c, g, n);
        pin_extents(c, g, n);
    }
    for (int n = 0; n < g->n_nodes; ++n)
        find_reads(c, g, n);
    for (int j = 0; j < g->n_out; ++j)
        if (c->of_node[g->out[j]] >= 0)
            c->number[c->of_node[g->out[j]]].is_read = true;
    count_words(c);
    return KILN_OK;
}

/* ---- what they are ---- */

static bool is_weak(const kiln_arg *arg)
{
    return arg->kind >= KILN_ARG_WEAK_BOOL && arg->kind <= KILN_ARG_WEAK_COMPLEX;
}

static kiln_arg extent_of(const kn_node *node, const kiln_arg *of)
{
    const kiln_array *a = of->kind == KILN_ARG_ARRAY ? of->value.array : NULL;
    int ndim = a ? a->ndim : 0, axis = node->n_axes ? node->axis[0] + (node->axis[0] < 0 ? ndim : 0) : 0;
    if (node->kind == KN_NODE_NDIM && node->index == KN_MEASURE_AXES)
        return kiln_arg_int(ndim);
    if (node->kind == KN_NODE_NDIM)
        return a ? kiln_arg_int((int64_t)kiln_dtype_size(a->dtype)) : kiln_arg_none();
    if (!node->n_axes)
        return kiln_arg_int(a ? a->size : 1);
    return axis >= 0 && axis < ndim ? kiln_arg_int(a->shape[axis]) : kiln_arg_none(); /* refused later */
}

static kiln_arg read_operand(const kn_graph *g, const kiln_arg *number, const kiln_arg *in, int n)
{
    const kn_node *node = &g->node[n];
    switch (node->kind) {
    case KN_NODE_INPUT:
        return in[node->index];
    case KN_NODE_NUMBER:
        return node->number;
    case KN_NODE_EXTENT:
    case KN_NODE_NDIM:
        return extent_of(node, &in[g->node[node->in[0]].index]);
    default:
        return number[g->computed->of_node[n]];
    }
}

static kiln_status compute(kiln_arg *number, const kn_graph *g, const kiln_arg *in, const kn_computed *own)
{
    const kn_node *node = &g->node[own->node];
    kiln_arg operand[2], *out = &number[g->computed->of_node[own->node]];
    for (int k = 0; k < node->n_in; ++k) {
        operand[k] = read_operand(g, number, in, node->in[k]);
        bool may = is_weak(&operand[k]) || (operand[k].kind == KILN_ARG_TYPED && node->kind == KN_NODE_CAST);
        if (!may)
            return KILN_OK;
    }
    const char *why = node->kind == KN_NODE_CAST ? kn_constant_fold_cast(out, node->dtype, operand)
                                                 : kn_constant_fold(out, node->name, operand, node->n_in);
    return why ? kn_graph_error(g, node, KILN_ERROR_INVALID, "there is no number for %s", why) : KILN_OK;
}

/* The key words: kind and class of each number that is read, and the values of the inputs that decide the
 * others. */
static void write_words(int64_t *word, const kn_graph *g, const kiln_arg *number, const kiln_arg *in)
{
    const kn_computed_numbers *c = g->computed;
    for (int k = 0; k < c->count; ++k)
        if (!c->number[k].is_pinned && c->number[k].is_read && c->number[k].inputs)
            *word++ = (int64_t)number[k].kind | (int64_t)kn_weak_class(&number[k]) << KIND_BITS;
    for (uint64_t left = c->pinned; left; left &= left - 1, word += VALUE_WORDS) {
        const kiln_arg *given = &in[__builtin_ctzll(left)];
        bool is_number = is_weak(given) || given->kind == KILN_ARG_TYPED;
        memset(word, 0, VALUE_WORDS * sizeof *word);
        if (is_number)
            memcpy(word, given->value.bytes, VALUE_WORDS * sizeof *word);
    }
}

kiln_status kn_computed_compute(kiln_arg *number, int64_t *word, const kn_graph *g, const kiln_arg *in)
{
    const kn_computed_numbers *c = g->computed;
    kiln_status status = KILN_OK;
    uint64_t by_value = 0;
    for (int k = 0; k < g->n_in; ++k)
        by_value |= (uint64_t)(in[k].kind != KILN_ARG_ARRAY) << k;
    for (int k = 0; k < c->count && status == KILN_OK; ++k) {
        number[k] = kiln_arg_none();
        if (!c->number[k].is_pinned && !(c->number[k].inputs & ~by_value))
            status = compute(number, g, in, &c->number[k]);
    }
    if (status == KILN_OK && word)
        write_words(word, g, number, in);
    return status;
}
