/* Resolves the axes of a transpose, a move of axes or a diagonal. */
#include "graph/rearranged_axes.h"

#include "space/numbers.h"

/* axis[0 ..]: the given ones, counted from the front; no axis is given twice. */
static kiln_status settle_axes(int *axis, const kn_graph *graph, const kn_node *node, const int *given,
                               int count, int ndim)
{
    uint64_t seen = 0;
    for (int k = 0; k < count; ++k) {
        axis[k] = given[k] + (given[k] < 0 ? ndim : 0);
        if (axis[k] < 0 || axis[k] >= ndim)
            return kn_graph_error(graph, node, KILN_ERROR_SHAPE, "axis %d was given; the array has %d",
                                  given[k], ndim);
        if (seen >> axis[k] & 1)
            return kn_graph_error(graph, node, KILN_ERROR_SHAPE, "axis %d was given before", given[k]);
        seen |= UINT64_C(1) << axis[k];
    }
    return KILN_OK;
}

/* order: the axes of the input in the order of the result's: those that are not moved keep theirs. */
static void move(int *order, const int *from, const int *to, int count, int ndim)
{
    uint64_t moved = 0;
    int next = 0;
    for (int k = 0; k < ndim; ++k)
        order[k] = -1;
    for (int k = 0; k < count; ++k) {
        order[to[k]] = from[k];
        moved |= UINT64_C(1) << from[k];
    }
    for (int k = 0; k < ndim; ++k) {
        if (order[k] >= 0)
            continue;
        while (moved >> next & 1)
            ++next;
        order[k] = next++;
    }
}

static kiln_status find_order(int *order, const kn_graph *graph, const kn_node *node, int ndim)
{
    int from[KILN_MAX_NDIM] = {0}, to[KILN_MAX_NDIM] = {0}, half = node->n_axes / 2;
    kiln_status status = KILN_OK;
    for (int k = 0; k < ndim; ++k)
        order[k] = node->n_axes == 0 ? ndim - 1 - k : k;
    switch ((kn_turn)node->index) {
    case KN_TURN_LIST:
        if (node->n_axes > 0 && node->n_axes != ndim)
            return kn_graph_error(graph, node, KILN_ERROR_SHAPE, "%d axes were given; the array has %d",
                                  node->n_axes, ndim);
        return settle_axes(order, graph, node, node->axis, node->n_axes, ndim);
    case KN_TURN_SWAP:
        for (int k = 0; k < 2 && status == KILN_OK; ++k)
            status = settle_axes(&from[k], graph, node, &node->axis[k], 1, ndim);
        if (status == KILN_OK) {
            order[from[0]] = from[1];
            order[from[1]] = from[0];
        }
        return status;
    case KN_TURN_MOVE:
        status = settle_axes(from, graph, node, node->axis, half, ndim);
        if (status == KILN_OK)
            status = settle_axes(to, graph, node, node->axis + half, half, ndim);
        break;
    case KN_TURN_ROLL: { /* to where it lies in front of axis[1], which may be the number of axes */
        const int before = node->axis[1] + (node->axis[1] < 0 ? ndim : 0);
        half = 1;
        status = settle_axes(from, graph, node, node->axis, 1, ndim);
        if (status == KILN_OK && (before < 0 || before > ndim))
            return kn_graph_error(graph, node, KILN_ERROR_SHAPE, "start: %d was given; the array has %d axes",
                                  node->axis[1], ndim);
        to[0] = status == KILN_OK ? before - (from[0] < before) : 0;
        break;
    }
    case KN_TURN_DIAGONAL:
        break;
    }
    if (status == KILN_OK)
        move(order, from, to, half, ndim);
    return status;
}

/* axis[0], axis[1]: the two axes; axis[2]: the index along the second where the first has its first
 * element. */
static kiln_status settle_diagonal(kn_rearranged *out, const kn_graph *graph, const kn_node *node, int ndim,
                                   const int64_t *shape)
{
    int axis[2] = {0};
    const int64_t offset = node->axis[2];
    kiln_status status = settle_axes(axis, graph, node, node->axis, 2, ndim);
    if (status != KILN_OK)
        return status;
    *out = (kn_rearranged){.ndim = ndim - 1};
    for (int a = 0, to = 0; a < ndim; ++a) {
        const bool is_of_diagonal = a == axis[0] || a == axis[1];
        out->to[a] = is_of_diagonal ? ndim - 2 : to;
        if (!is_of_diagonal)
            out->shape[to++] = shape[a];
    }
    out->start[axis[0]] = offset < 0 ? -offset : 0;
    out->start[axis[1]] = offset > 0 ? offset : 0;
    const int64_t rows = shape[axis[0]] - out->start[axis[0]], columns = shape[axis[1]] - out->start[axis[1]];
    const int64_t count = kn_most(0, kn_least(rows, columns));
    for (int k = 0; k < 2 && count == 0; ++k) /* nothing is read, and nothing begins outside */
        out->start[axis[k]] = 0;
    out->shape[ndim - 2] = count;
    return KILN_OK;
}

kiln_status kn_rearranged_settle(kn_rearranged *out, const kn_graph *graph, const kn_node *node, int ndim,
                                 const int64_t *shape)
{
    int order[KILN_MAX_NDIM];
    if (node->index == KN_TURN_DIAGONAL)
        return settle_diagonal(out, graph, node, ndim, shape);
    kiln_status status = find_order(order, graph, node, ndim);
    *out = (kn_rearranged){.ndim = ndim};
    for (int k = 0; k < ndim && status == KILN_OK; ++k) {
        out->to[order[k]] = k;
        out->shape[k] = shape[order[k]];
    }
    return status;
}
