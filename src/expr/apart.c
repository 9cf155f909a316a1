/* Takes an expression apart at arrays of as many elements as the data says: x[x > 0] - 1 is two calls. The
 * first one computes those arrays, and the second one, whose shapes are known then, all that follows. It may
 * be taken apart in turn. */
#include "expr/apart.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "graph/infer.h"

typedef struct cut {
    const kn_graph *graph;
    const kiln_kernel_options *options;
    kn_make_kernel *make;
    const kn_typed *typed;
    int n_typed;     /* nodes that the first call can compute */
    bool *is_cut;    /* by node: a result of the first call, and an input of the second */
    bool *is_number; /* by node: one that is cut since shapes depend on its value */
    int *number;     /* by node: that in the graph that is being made */
    int *read;       /* the inputs of the node that is being copied */
} cut;

/* ---- which nodes are cut ---- */

static bool is_late(const cut *c, int k)
{
    return k < c->n_typed && c->typed[k].is_late;
}

static void find_read(cut *c)
{
    for (int k = 0; k < c->graph->n_nodes; ++k)
        for (int i = 0; i < c->graph->node[k].n_in; ++i) {
            const int in = c->graph->node[k].in[i];
            c->is_number[in] |= in < c->n_typed && kn_graph_needs_value(c->typed, &c->graph->node[k], i);
            c->is_cut[in] |= is_late(c, in) || c->is_number[in];
        }
}

/* Results of one call of a kernel. */
static bool are_of_one(const kn_node *a, const kn_node *b)
{
    return a->kernel == b->kernel && a->n_in == b->n_in &&
           memcmp(a->in, b->in, (size_t)a->n_in * sizeof *a->in) == 0 && a->n_axes == b->n_axes &&
           memcmp(a->axis, b->axis, (size_t)a->n_axes * sizeof *a->axis) == 0;
}

/* The other results of a kernel are computed with it: indices and counts of unique. */
static void find_others(cut *c)
{
    for (int k = 0; k < c->n_typed; ++k)
        for (int r = 0; r < c->n_typed && c->graph->node[k].kind == KN_NODE_KERNEL; ++r)
            if (c->is_cut[r] && is_late(c, r) && are_of_one(&c->graph->node[k], &c->graph->node[r]))
                c->is_cut[k] = true;
}

/* ---- the two graphs ---- */

static bool is_taken(const kn_graph *g, const char *name)
{
    bool is = false;
    for (int k = 0; k < g->n_in; ++k)
        is = is || strcmp(g->input[k], name) == 0;
    return is;
}

/* "x, m, found0": the names of the inputs, and of what the first call has found. */
static void list_inputs(kn_str *names, const cut *c, bool is_second)
{
    int found = 0, next = 0;
    for (int k = 0; k < c->graph->n_in; ++k)
        kn_str_printf(names, "%s%s", k > 0 ? ", " : "", c->graph->input[k]);
    for (int k = 0; k < c->graph->n_nodes && is_second; ++k) {
        char name[24] = "";
        if (!c->is_cut[k])
            continue;
        do
            snprintf(name, sizeof name, "found%d", next++);
        while (is_taken(c->graph, name));
        kn_str_printf(names, "%s%s", c->graph->n_in + found++ > 0 ? ", " : "", name);
    }
}

static kiln_status make_graph(kn_graph **out, const cut *c, bool is_second)
{
    kn_str names = KN_STR_INIT;
    list_inputs(&names, c, is_second);
    kiln_status status = kn_str_status(&names, "the names of inputs");
    if (status == KILN_OK)
        status = kn_graph_create(out, c->graph->name, c->graph->text);
    if (status == KILN_OK)
        status = kn_graph_set_inputs(*out, kn_str_text(&names));
    if (status == KILN_OK)
        (*out)->whole_inputs = c->graph->whole_inputs;
    kn_str_free(&names);
    return status;
}

/* Copies the first nodes. In the second graph those that are cut are inputs. */
static kiln_status copy_nodes(kn_graph *to, const cut *c, int count, bool is_second)
{
    int found = c->graph->n_in;
    kiln_status status = KILN_OK;
    for (int k = 0; k < count && status == KILN_OK; ++k) {
        kn_node node = c->graph->node[k];
        for (int i = 0; i < node.n_in; ++i)
            c->read[i] = c->number[node.in[i]];
        node.in = c->read;
        if (is_second && c->is_cut[k])
            c->number[k] = found++;
        else if (node.kind == KN_NODE_INPUT)
            c->number[k] = node.index;
        else
            status = kn_graph_add(&c->number[k], to, &node);
    }
    return status;
}

static kiln_status finish(kiln_kernel **out, kn_graph *graph, kiln_status status, const cut *c)
{
    if (status == KILN_OK)
        status = kn_graph_prune(graph);
    if (status == KILN_OK)
        return c->make(out, graph, c->options);
    kn_graph_free(graph);
    return status;
}

static kiln_status make_first(kiln_kernel **out, const cut *c)
{
    kn_graph *graph = NULL;
    kiln_status status = make_graph(&graph, c, false);
    if (status == KILN_OK)
        status = copy_nodes(graph, c, c->n_typed, false);
    for (int k = 0; k < c->n_typed && status == KILN_OK; ++k)
        if (c->is_cut[k])
            status = kn_graph_add_result(graph, c->number[k], NULL);
    return finish(out, graph, status, c);
}

static kiln_status make_second(kiln_kernel **out, const cut *c)
{
    kn_graph *graph = NULL;
    kiln_status status = make_graph(&graph, c, true);
    if (status == KILN_OK)
        status = copy_nodes(graph, c, c->graph->n_nodes, true);
    for (int j = 0; j < c->graph->n_out && status == KILN_OK; ++j)
        status = kn_graph_add_result(graph, c->number[c->graph->out[j]], c->graph->output[j]);
    return finish(out, graph, status, c);
}

/* ---- all of it ---- */

static uint64_t list_numbers(const cut *c)
{
    uint64_t bits = 0;
    for (int k = 0, found = 0; k < c->graph->n_nodes; ++k)
        if (c->is_cut[k])
            bits |= (uint64_t)c->is_number[k] << found++;
    return bits;
}

static kiln_status take(kn_lowered *out, cut *c)
{
    int most = 1;
    out->apart.release = kiln_kernel_free;
    for (int k = 0; k < c->graph->n_nodes; ++k)
        most = c->graph->node[k].n_in > most ? c->graph->node[k].n_in : most;
    c->is_cut = kn_calloc((size_t)c->graph->n_nodes, sizeof *c->is_cut);
    c->is_number = kn_calloc((size_t)c->graph->n_nodes, sizeof *c->is_number);
    c->number = kn_calloc((size_t)c->graph->n_nodes, sizeof *c->number);
    c->read = kn_calloc((size_t)most, sizeof *c->read);
    kiln_status status =
        c->is_cut && c->is_number && c->number && c->read ? KILN_OK : kn_error_memory("an expression");
    if (status == KILN_OK) {
        find_read(c);
        find_others(c);
        out->apart.numbers = list_numbers(c);
        status = make_first(&out->apart.first, c);
    }
    if (status == KILN_OK)
        status = make_second(&out->apart.second, c);
    kn_free(c->is_cut);
    kn_free(c->is_number);
    kn_free(c->number);
    kn_free(c->read);
    return status;
}

kiln_status kn_take_apart(kn_lowered *out, const kn_expression *e, const kn_lowering_call *call,
                          kiln_status failure, kn_make_kernel *make)
{
    kn_argument argument[KN_MAX_PARAMS];
    kn_typed *typed = NULL;
    cut c = {.graph = e->graph, .options = &e->options, .make = make};
    kn_lower_arguments(argument, call->in, e->graph->n_in);
    kiln_status status = kn_graph_infer_first(&typed, &c.n_typed, e->graph, argument);
    if (status != KILN_OK)
        return status;
    c.typed = typed;
    status = c.n_typed < e->graph->n_nodes ? take(out, &c) : failure;
    kn_free(typed);
    return status;
}
