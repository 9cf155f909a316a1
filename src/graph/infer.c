/* Finds dtypes and shapes of a graph's nodes for the arguments of a call. */
#include "graph/infer.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "graph/infer_parts.h"
#include "kernel/kernel.h"
#include "types/dtype.h"

/* The shapes of all nodes, one behind the other, while inference runs. */
typedef struct shapes {
    int64_t *extent;
    size_t count, capacity, *first; /* first: of each node */
} shapes;

static kiln_status keep_shape(shapes *s, kn_inference *f, int k)
{
    if (s->count + KILN_MAX_NDIM > s->capacity) {
        size_t more = s->capacity ? 2 * s->capacity : 16 * KILN_MAX_NDIM;
        int64_t *grown = kn_realloc(s->extent, more * sizeof *grown);
        if (!grown)
            return kn_error_memory("the shapes of an expression");
        s->extent = grown;
        s->capacity = more;
        for (int before = 0; before < k; ++before)
            f->typed[before].shape = grown + s->first[before];
    }
    s->first[k] = s->count;
    f->typed[k].ndim = f->ndim;
    f->typed[k].shape = s->extent + s->count;
    if (f->ndim > 0)
        memcpy(f->typed[k].shape, f->shape, (size_t)f->ndim * sizeof *f->shape);
    s->count += (size_t)f->ndim;
    return KILN_OK;
}

/* ---- nodes ---- */

static kiln_status infer_input(kn_typed *out, kn_inference *f, const kn_node *node)
{
    const kn_argument *a = &f->argument[node->index];
    out->dtype = a->dtype;
    out->is_weak = a->is_weak;
    out->is_scalar = a->is_scalar;
    out->like = a->like;
    out->given = a->given;
    out->from = a->is_scalar ? node->index : -1;
    f->ndim = a->ndim;
    if (a->ndim > 0)
        memcpy(f->shape, a->shape, (size_t)a->ndim * sizeof *a->shape);
    return KILN_OK;
}

static kiln_status infer_number(kn_typed *out, kn_inference *f, const kn_node *node)
{
    (void)f;
    out->number = out->given = node->number;
    out->dtype = kn_weak_dtype(&node->number);
    out->is_weak = true;
    return KILN_OK;
}

static kiln_status infer_elements(kn_typed *out, kn_inference *f, const kn_node *node)
{
    if (kn_node_algorithm(node))
        return kn_infer_algorithm(out, f, node);
    kiln_status status = node->kind == KN_NODE_CAST     ? kn_infer_cast(out, f, node)
                         : node->kind == KN_NODE_KERNEL ? kn_infer_kernel(out, f, node)
                                                        : kn_infer_call(out, f, node);
    if (status == KILN_OK && node->masked)
        status = kn_infer_mask(f, node);
    if (status == KILN_OK)
        status = kn_infer_broadcast(f, node);
    if (status == KILN_OK && out->is_reduction)
        status = kn_infer_reduce(out, f, node);
    if (status == KILN_OK && out->scans)
        status = kn_infer_scan(out, f, node);
    return status;
}

/* The result of broadcasting to the shape of another node, or with several. */
static kiln_status infer_like(kn_typed *out, kn_inference *f, const kn_node *node)
{
    kiln_status status = kn_infer_like(out, f, node);
    if (status != KILN_OK)
        return status;
    return node->index == KN_LIKE_ALL ? kn_infer_broadcast(f, node) : kn_infer_broadcast_to(f, node);
}

static kiln_status infer_strips(kn_typed *out, kn_inference *f, const kn_node *node)
{
    const kn_typed *in = &f->typed[node->in[0]];
    out->dtype = node->dtype;
    f->shape[f->ndim++] = node->extent[0];
    for (int a = node->n_axes; a < in->ndim; ++a)
        f->shape[f->ndim++] = in->shape[a];
    return KILN_OK;
}

/* A view has its input's dtype. A view of a number is no longer a Python number. */
static kiln_status infer_view(kn_typed *out, kn_inference *f, const kn_node *node)
{
    out->dtype = f->typed[node->in[0]].dtype;
    return node->kind == KN_NODE_SLICE       ? kn_infer_slice(f, node)
           : node->kind == KN_NODE_TRANSPOSE ? kn_infer_transpose(f, node)
           : node->kind == KN_NODE_BROADCAST ? kn_infer_broadcast_to(f, node)
           : node->kind == KN_NODE_WINDOWS   ? kn_infer_windows(f, node)
                                             : kn_infer_reshape(f, node);
}

static kiln_status (*const infer_kind[])(kn_typed *out, kn_inference *f, const kn_node *node) = {
    [KN_NODE_INPUT] = infer_input,     [KN_NODE_NUMBER] = infer_number,    [KN_NODE_CALL] = infer_elements,
    [KN_NODE_KERNEL] = infer_elements, [KN_NODE_CAST] = infer_elements,    [KN_NODE_SLICE] = infer_view,
    [KN_NODE_TRANSPOSE] = infer_view,  [KN_NODE_RESHAPE] = infer_view,     [KN_NODE_EXTENT] = kn_infer_extent,
    [KN_NODE_NDIM] = kn_infer_extent,  [KN_NODE_ARANGE] = kn_infer_arange, [KN_NODE_BROADCAST] = infer_view,
    [KN_NODE_WINDOWS] = infer_view,    [KN_NODE_STRIPS] = infer_strips,    [KN_NODE_LIKE] = infer_like};

bool kn_graph_needs_value(const kn_typed *typed, const kn_node *node, int i)
{
    kiln_arg number;
    const kn_typed *in = &typed[node->in[i]];
    if (!kn_node_reads_extent(node, i) || in->ndim > 0 || kn_infer_shape_number(&number, in))
        return false;
    const kn_dtype_kind kind = kn_dtype_info_of(in->dtype)->kind;
    return kind != KN_KIND_COMPLEX && (kind != KN_KIND_FLOAT || node->kind == KN_NODE_ARANGE);
}

/* An input of the node with a late extent, or one whose value its shape depends on; NULL: it has none. */
static const kn_node *find_late(const kn_inference *f, const kn_node *node)
{
    const kn_node *late = NULL;
    for (int i = 0; i < node->n_in; ++i)
        late = f->typed[node->in[i]].is_late || kn_graph_needs_value(f->typed, node, i)
                   ? &f->graph->node[node->in[i]]
                   : late;
    return late;
}

static kiln_status infer_node(kn_inference *f, int k)
{
    const kn_node *node = &f->graph->node[k];
    kn_typed *out = &f->typed[k];
    bool is_scalar = node->kind != KN_NODE_ARANGE && !kn_node_algorithm(node);
    for (int i = 0; i < node->n_in && node->kind != KN_NODE_EXTENT && node->kind != KN_NODE_NDIM; ++i)
        is_scalar = is_scalar && f->typed[node->in[i]].is_scalar;
    f->ndim = 0;
    out->number = out->given = kiln_arg_none();
    out->from = -1;
    out->is_scalar = is_scalar;
    kiln_status status = infer_kind[node->kind](out, f, node);
    out->is_scalar = out->is_scalar && f->ndim == 0;
    return status;
}

/* *count: the nodes in front of the first one that reads a late extent, which it may take for the most. */
static kiln_status infer_all(int *count, kn_inference *f, shapes *s, bool takes_late)
{
    kiln_status status = KILN_OK;
    int k = 0;
    for (; k < f->graph->n_nodes && status == KILN_OK && (takes_late || !find_late(f, &f->graph->node[k]));
         ++k) {
        status = infer_node(f, k);
        if (status == KILN_OK)
            status = keep_shape(s, f, k);
    }
    *count = k;
    return status;
}

/* Copies the list and the shapes into one allocation. */
static kiln_status join(kn_typed **out, kn_inference *f, const shapes *s)
{
    size_t bytes = (size_t)f->graph->n_nodes * sizeof **out;
    kn_typed *block = kn_realloc(f->typed, bytes + s->count * sizeof *s->extent);
    if (!block)
        return kn_error_memory("the types of an expression");
    f->typed = NULL;
    int64_t *extent = (int64_t *)(void *)((char *)block + bytes);
    if (s->count > 0)
        memcpy(extent, s->extent, s->count * sizeof *extent);
    for (int k = 0; k < f->graph->n_nodes; ++k)
        block[k].shape = extent + s->first[k];
    *out = block;
    return KILN_OK;
}

static kiln_status infer_graph(kn_typed **out, int *n_inferred, const kn_graph *graph,
                               const kn_argument *argument, bool takes_late)
{
    size_t count = (size_t)graph->n_nodes;
    shapes s = {.first = kn_calloc(count, sizeof *s.first)};
    kn_inference f = {.graph = graph, .argument = argument, .typed = kn_calloc(count, sizeof *f.typed)};
    kiln_status status = s.first && f.typed ? KILN_OK : kn_error_memory("the types of an expression");
    if (status == KILN_OK)
        status = infer_all(n_inferred, &f, &s, takes_late);
    if (status == KILN_OK)
        status = join(out, &f, &s);
    kn_free(s.first);
    kn_free(s.extent);
    kn_free(f.typed);
    return status;
}

kiln_status kn_graph_infer(kn_typed **out, const kn_graph *graph, const kn_argument *argument)
{
    kn_typed *typed = NULL;
    int count = 0;
    kiln_status status = infer_graph(&typed, &count, graph, argument, false);
    if (status != KILN_OK || count == graph->n_nodes) {
        *out = status == KILN_OK ? typed : *out;
        return status;
    }
    const kn_inference f = {.graph = graph, .typed = typed};
    const kn_node *late = find_late(&f, &graph->node[count]);
    if (typed[late - graph->node].is_late)
        status = kn_graph_error(graph, &graph->node[count], KILN_ERROR_UNSUPPORTED,
                                "%s has as many elements as the data says: nothing is computed from it here",
                                late->kernel->program->name);
    else
        status = kn_graph_error(graph, &graph->node[count], KILN_ERROR_UNSUPPORTED,
                                "the shape depends on a value, which is not known here");
    kn_free(typed);
    return status;
}

kiln_status kn_graph_infer_first(kn_typed **out, int *count, const kn_graph *graph,
                                 const kn_argument *argument)
{
    return infer_graph(out, count, graph, argument, false);
}

kiln_status kn_graph_infer_most(kn_typed **out, const kn_graph *graph, const kn_argument *argument)
{
    int count;
    return infer_graph(out, &count, graph, argument, true);
}
