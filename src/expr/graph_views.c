/* Results that are views of inputs. */
#include "expr/graph_views.h"

#include <string.h>

#include "array/array.h"
#include "graph/rearranged_axes.h"
#include "graph/subscripts.h"

typedef struct layout {
    const kiln_array *of;
    char *data;
    int ndim;
    bool has_windows; /* which share elements */
    int64_t shape[KILN_MAX_NDIM], strides[KILN_MAX_NDIM];
} layout;

static bool is_view(const kn_graph *graph, int node)
{
    const kn_node *n = &graph->node[node];
    while (n->kind == KN_NODE_SLICE || n->kind == KN_NODE_TRANSPOSE || n->kind == KN_NODE_WINDOWS)
        n = &graph->node[n->in[0]];
    return n->kind == KN_NODE_INPUT;
}

bool kn_graph_is_views(const kn_graph *graph)
{
    bool is = graph->n_out > 0;
    for (int j = 0; j < graph->n_out; ++j)
        is = is && is_view(graph, graph->out[j]);
    return is;
}

static kiln_status add_axis(layout *l, const kn_graph *graph, const kn_node *node, int64_t extent,
                            int64_t stride)
{
    if (l->ndim == KILN_MAX_NDIM)
        return kn_graph_error(graph, node, KILN_ERROR_SHAPE, "more than %d axes are too many", KILN_MAX_NDIM);
    l->shape[l->ndim] = extent;
    l->strides[l->ndim++] = stride;
    return KILN_OK;
}

static kiln_status take_slice(layout *l, const kn_graph *graph, const kn_node *node)
{
    const layout from = *l;
    kn_subscript subscript[KN_SUBSCRIPTS_CAPACITY];
    int count = 0, axis = 0;
    kiln_status status = kn_subscripts_settle(subscript, &count, graph, node, from.ndim, from.shape);
    l->ndim = 0;
    for (int k = 0; k < count && status == KILN_OK; ++k) {
        const kn_subscript *s = &subscript[k];
        if (s->kind == KN_SUBSCRIPT_NEW) {
            status = add_axis(l, graph, node, 1, 0);
            continue;
        }
        if (s->kind == KN_SUBSCRIPT_INDEX || s->stop > 0) /* of no elements there is no first one */
            l->data += s->start * from.strides[axis];
        if (s->kind == KN_SUBSCRIPT_SLICE)
            status = add_axis(l, graph, node, s->stop, s->step * from.strides[axis]);
        ++axis;
    }
    return status;
}

static kiln_status take_rearranged(layout *l, const kn_graph *graph, const kn_node *node)
{
    const layout from = *l;
    kn_rearranged by;
    kiln_status status = kn_rearranged_settle(&by, graph, node, from.ndim, from.shape);
    if (status != KILN_OK)
        return status;
    l->ndim = by.ndim;
    memset(l->strides, 0, sizeof l->strides);
    memcpy(l->shape, by.shape, sizeof l->shape);
    for (int a = 0; a < from.ndim; ++a) {
        l->data += by.start[a] * from.strides[a];
        l->strides[by.to[a]] += from.strides[a];
    }
    return KILN_OK;
}

static kiln_status take_windows(layout *l, const kn_graph *graph, const kn_node *node)
{
    kiln_status status = KILN_OK;
    const int ndim = l->ndim;
    l->has_windows = true;
    for (int k = 0; k < node->n_axes && status == KILN_OK; k += 2) {
        const int given = node->axis[k], axis = given + (given < 0 ? ndim : 0), window = node->axis[k + 1];
        if (axis < 0 || axis >= ndim)
            return kn_graph_error(graph, node, KILN_ERROR_SHAPE, "axis %d was given; the array has %d", given,
                                  ndim);
        if (window > l->shape[axis])
            return kn_graph_error(graph, node, KILN_ERROR_SHAPE,
                                  "a window of %d was given; axis %d has room for %lld", window, given,
                                  (long long)l->shape[axis]);
        l->shape[axis] -= window - 1;
        status = add_axis(l, graph, node, window, l->strides[axis]);
    }
    return status;
}

static kiln_status find_layout(layout *l, const kn_graph *graph, int node, const kiln_arg *in)
{
    const kn_node *n = &graph->node[node];
    if (n->kind == KN_NODE_INPUT) {
        const kiln_array *a = in[n->index].value.array;
        *l = (layout){.of = a, .data = a->data, .ndim = a->ndim};
        if (a->ndim > 0) {
            memcpy(l->shape, a->shape, (size_t)a->ndim * sizeof *a->shape);
            memcpy(l->strides, a->strides, (size_t)a->ndim * sizeof *a->strides);
        }
        return KILN_OK;
    }
    kiln_status status = find_layout(l, graph, n->in[0], in);
    if (status != KILN_OK)
        return status;
    return n->kind == KN_NODE_SLICE       ? take_slice(l, graph, n)
           : n->kind == KN_NODE_TRANSPOSE ? take_rearranged(l, graph, n)
                                          : take_windows(l, graph, n);
}

kiln_status kn_graph_take_views(kiln_array **out, const kn_graph *graph, const kiln_arg *in)
{
    layout l;
    kiln_status status = KILN_OK;
    int made = 0;
    for (; made < graph->n_out && status == KILN_OK; ++made) {
        status = find_layout(&l, graph, graph->out[made], in);
        if (status == KILN_OK)
            status = kn_array_view(&out[made], l.of, l.data, l.ndim, l.shape, l.strides);
        if (status == KILN_OK && l.has_windows)
            out[made]->is_read_only = true;
    }
    for (int j = 0; j < made - 1 && status != KILN_OK; ++j) {
        kiln_array_free(out[j]);
        out[j] = NULL;
    }
    return status;
}
