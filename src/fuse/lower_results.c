/* Buffers and results of a lowered call: sizes, layouts, and which results may be written in place. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "fuse/lower_parts.h"
#include "fuse/opaque.h"
#include "graph/op.h"
#include "space/shape.h"

/* ---- rooms and results ---- */

/* The number of outputs of an opaque kernel, unused ones included. */
static int n_out_of(const kn_lowering *l, const kn_group *g)
{
    const kn_node *node = &l->state.graph->node[g->root[0]];
    return !g->is_opaque  ? 0
           : node->kernel ? node->kernel->program->n_out
                          : l->typed[g->root[0]].variant.n_out;
}

static int number_spares(kn_lowering *l, int first)
{
    int count = 0;
    for (int p = 0; p < l->n_groups; ++p)
        for (int j = 0; j < n_out_of(l, &l->group[p].group); ++j)
            l->group[p].group.spare[j] =
                kn_opaque_root(&l->group[p].group, &l->state, j) < 0 ? first + count++ : -1;
    return count;
}

static kiln_status size_spares(kn_lowering *l, int p)
{
    const kn_group *g = &l->group[p].group;
    kn_described own;
    kiln_status status = KILN_OK;
    for (int j = 0; j < n_out_of(l, g) && status == KILN_OK; ++j) {
        if (g->spare[j] < 0)
            continue;
        status = kn_lowering_describe_output(&own, l, g, j);
        if (status == KILN_OK)
            l->out->buffer[g->spare[j]].size =
                kiln_dtype_size(own.dtype) * (size_t)kn_shape_size(own.ndim, own.shape);
    }
    return status;
}

kiln_status kn_lowering_make_buffers(kn_lowering *l)
{
    int count = 0;
    for (int n = 0; n < l->state.graph->n_nodes; ++n)
        if (l->state.is_buffered[n])
            l->buffer_of[n] = count++;
    int n_nodes = count;
    count += number_spares(l, count);
    kn_free(l->out->buffer);
    l->out->buffer = kn_calloc((size_t)count + 1, sizeof *l->out->buffer);
    if (!l->out->buffer)
        return kn_lowering_no_memory();
    l->out->n_buffers = count;
    kiln_status status = KILN_OK;
    for (int p = 0; p < l->n_groups && n_nodes < count && status == KILN_OK; ++p)
        status = size_spares(l, p);
    for (int n = 0; n < l->state.graph->n_nodes; ++n) {
        if (!l->state.is_buffered[n])
            continue;
        l->out->buffer[l->buffer_of[n]].size = kiln_dtype_size(kn_buffer_dtype(&l->state, n)) *
                                               (size_t)kn_shape_size(l->typed[n].ndim, l->typed[n].shape);
    }
    return status;
}

static kiln_status check_output(const kn_lowering *l, int j)
{
    const kn_graph *g = l->state.graph;
    const kn_typed *t = &l->typed[g->out[j]];
    const kiln_array *given = l->call->out ? l->call->out[j] : NULL;
    if (!given)
        return KILN_OK;
    if (!kn_dtype_may_store(t->dtype, given->dtype))
        return kn_error(
            KILN_ERROR_TYPE,
            "%s: out[%d]: the result '%s' is %s, which an array of %s does not hold; one of the same kind or "
            "one above it was expected",
            g->name, j, g->output[j], kiln_dtype_name(t->dtype), kiln_dtype_name(given->dtype));
    if (given->ndim == t->ndim && memcmp(given->shape, t->shape, (size_t)t->ndim * sizeof *t->shape) == 0)
        return KILN_OK;
    kn_str own = KN_STR_INIT, other = KN_STR_INIT;
    kn_shape_format(&own, t->ndim, t->shape);
    kn_shape_format(&other, given->ndim, given->shape);
    kiln_status status = kn_error(KILN_ERROR_SHAPE, "%s: out[%d] has shape %s, but the result '%s' has %s",
                                  g->name, j, kn_str_text(&other), g->output[j], kn_str_text(&own));
    kn_str_free(&own);
    kn_str_free(&other);
    return status;
}

/* Elements lie one behind the other, those of the first axis closest. Strides of inputs are in bytes, those
 * of what is computed in elements. */
static bool is_fortran(const kn_typed *t, const int64_t *stride)
{
    int64_t run = 0;
    for (int a = 0; a < t->ndim; ++a) {
        if (t->shape[a] == 1)
            continue;
        if (run == 0 ? stride[a] != 1 && stride[a] != (int64_t)kiln_dtype_size(t->dtype) : stride[a] != run)
            return false;
        run = stride[a] * t->shape[a];
    }
    return true;
}

static bool are_all_fortran(const kn_lowering *l, const kn_base *layout, const kn_node *node)
{
    bool are = true;
    for (int k = node->kind == KN_NODE_LIKE; k < node->n_in && are; ++k)
        are = is_fortran(&l->typed[node->in[k]], layout[node->in[k]].stride);
    return are;
}

static bool are_inputs_fortran(const kn_lowering *l)
{
    bool are = true;
    for (int k = 0; k < l->state.graph->n_in && are; ++k)
        are = l->call->in[k].kind != KILN_ARG_ARRAY || l->call->in[k].value.array->is_f_contiguous;
    return are;
}

static const int64_t *order_of_call(const kn_lowering *l, const int64_t *own, const int64_t *increasing)
{
    switch (l->call->options->order) {
    case KILN_ORDER_KEEP:
        return own;
    case KILN_ORDER_FORTRAN:
        return increasing;
    case KILN_ORDER_ANY:
        return are_inputs_fortran(l) ? increasing : NULL;
    case KILN_ORDER_C:
        break;
    }
    return NULL;
}

/* Strides in whose order the axes of result j lie; NULL: C order. increasing: 1, 2, 3 ... */
static const int64_t *order_of_result(const kn_lowering *l, int j, const kn_base *layout,
                                      const int64_t *increasing)
{
    const kn_graph *g = l->state.graph;
    const kn_node *node = &g->node[g->out[j]];
    while (node->kind == KN_NODE_SLICE && node->order == KN_RESULT_ANY) /* of the result itself */
        node = &g->node[node->in[0]];
    switch (node->order) {
    case KN_RESULT_C:
        return NULL;
    case KN_RESULT_FORTRAN:
        return increasing;
    case KN_RESULT_KEEP:
        return layout[g->out[j]].stride;
    case KN_RESULT_ANY:
        return are_all_fortran(l, layout, node) ? increasing : NULL;
    case KN_RESULT_USUAL:
        break;
    }
    return order_of_call(l, layout ? layout[g->out[j]].stride : NULL, increasing);
}

static bool needs_layouts(const kn_lowering *l)
{
    const kn_graph *g = l->state.graph;
    bool needs = l->call->options->order == KILN_ORDER_KEEP;
    for (int j = 0; j < g->n_out; ++j)
        needs = needs || g->node[g->out[j]].order >= KN_RESULT_KEEP;
    return needs;
}

kiln_status kn_lowering_make_layouts(kn_lowering *l)
{
    int64_t increasing[KILN_MAX_NDIM];

    const kn_graph *g = l->state.graph;
    size_t extents = 0;
    for (int j = 0; j < g->n_out; ++j)
        extents += 2 * (size_t)l->typed[g->out[j]].ndim;
    l->out->layout =
        kn_calloc(1, (size_t)g->n_out * sizeof *l->out->layout + (extents + 1) * sizeof(int64_t));
    if (!l->out->layout)
        return kn_lowering_no_memory();
    int64_t *at = (int64_t *)(void *)(l->out->layout + g->n_out);
    kn_base *layout = NULL;
    for (int a = 0; a < KILN_MAX_NDIM; ++a)
        increasing[a] = 1 + a;
    if (needs_layouts(l)) {
        layout = kn_arena_take(&l->arena, (size_t)g->n_nodes * sizeof *layout);
        if (!layout || !kn_layouts_find(layout, &l->state))
            return kn_lowering_no_memory();
    }
    for (int j = 0; j < g->n_out; ++j) {
        const kn_typed *t = &l->typed[g->out[j]];
        kiln_status status = check_output(l, j);
        if (status == KILN_OK)
            status = kn_array_check_shape(t->dtype, t->ndim, t->shape);
        if (status != KILN_OK)
            return status;
        if (t->ndim > 0)
            memcpy(at, t->shape, (size_t)t->ndim * sizeof *at);
        kn_dense_strides(at + t->ndim, t, order_of_result(l, j, layout, increasing),
                         kn_shape_size(t->ndim, t->shape) == 0 ? 0 : (int64_t)kiln_dtype_size(t->dtype));
        kn_array_layout_make(&l->out->layout[j], t->dtype, t->ndim, at);
        at += 2 * t->ndim;
    }
    return KILN_OK;
}

void kn_lowering_find_in_place(kn_lowering *l)
{
    const kn_group *g = &l->group[0].group;
    if (l->n_groups != 1 || g->n_levels > 0 || g->is_opaque)
        return;
    for (int r = 0; r < g->n_roots; ++r) {
        int j = l->output_of[g->root[r]];
        const kiln_array *out = j >= 0 && l->call->out ? l->call->out[j] : NULL;
        int64_t stride[KILN_MAX_NDIM];
        if (!out)
            continue;
        kn_lowering_spread(stride, l, g, r, out->strides);
        uint64_t same = ~UINT64_C(0);
        for (const kn_leaf *leaf = g->leaf; leaf; leaf = leaf->next) {
            if (leaf->kind != KN_BASE_INPUT)
                continue;
            int input = l->state.graph->node[leaf->node].index;
            if (leaf->shift != 0 || l->array[input]->item_size != out->item_size ||
                memcmp(leaf->stride, stride, (size_t)g->ndim * sizeof *stride) != 0)
                same &= ~(UINT64_C(1) << input);
        }
        l->out->in_place[j] = same;
    }
}
