/* Resolves subscripts for an array whose shape is known. */
#include "graph/subscripts.h"

#include "array/array.h"

/* The axes that all subscripts but the ellipsis take. */
static int count_taken(const kn_node *node)
{
    int taken = 0;
    for (int k = 0; k < node->n_subscripts; ++k) {
        kn_subscript_kind kind = node->subscript[k].kind;
        taken += kind == KN_SUBSCRIPT_SLICE || kind == KN_SUBSCRIPT_INDEX || kind == KN_SUBSCRIPT_ONE ||
                 kind == KN_SUBSCRIPT_PART;
    }
    return taken;
}

static kn_subscript whole(int64_t extent)
{
    return (kn_subscript){KN_SUBSCRIPT_SLICE, 0, extent, 1};
}

static kn_subscript settle_slice(const kn_subscript *subscript, int64_t extent)
{
    int64_t start = subscript->start, by = subscript->step == KILN_SLICE_NONE ? 1 : subscript->step;
    int64_t count = kn_slice_clip(extent, &start, subscript->stop, by);
    return (kn_subscript){KN_SUBSCRIPT_SLICE, start, count, by};
}

static kiln_status settle_index(kn_subscript *out, const kn_graph *graph, const kn_node *node,
                                const kn_subscript *subscript, int axis, int64_t extent)
{
    int64_t index = subscript->start;
    if (index < -extent || index >= extent)
        return kn_graph_error(graph, node, KILN_ERROR_SHAPE,
                              "index %lld is out of range for axis %d of extent %lld", (long long)index, axis,
                              (long long)extent);
    *out = (kn_subscript){.kind = KN_SUBSCRIPT_INDEX, .start = index < 0 ? index + extent : index};
    return KILN_OK;
}

static kiln_status settle_one(kn_subscript *out, const kn_graph *graph, const kn_node *node, int axis,
                              int64_t extent)
{
    if (extent != 1)
        return kn_graph_error(graph, node, KILN_ERROR_SHAPE,
                              "axis %d has extent %lld; only one of extent 1 can go", axis,
                              (long long)extent);
    *out = (kn_subscript){.kind = KN_SUBSCRIPT_INDEX};
    return KILN_OK;
}

static kiln_status settle_part(kn_subscript *out, const kn_graph *graph, const kn_node *node,
                               const kn_subscript *part, int axis, int64_t extent)
{
    const int64_t each = extent / part->stop, more = extent % part->stop, k = part->start;
    if (part->step == KN_PARTS_OF_ONE && extent != part->stop)
        return kn_graph_error(graph, node, KILN_ERROR_SHAPE,
                              "axis %d has extent %lld; as many names were expected, not %lld", axis,
                              (long long)extent, (long long)part->stop);
    if (part->step == KN_PARTS_OF_ONE) {
        *out = (kn_subscript){.kind = KN_SUBSCRIPT_INDEX, .start = k};
        return KILN_OK;
    }
    if (more != 0 && part->step != 1)
        return kn_graph_error(graph, node, KILN_ERROR_SHAPE,
                              "axis %d has extent %lld, which is no multiple of the %lld parts", axis,
                              (long long)extent, (long long)part->stop);
    const int64_t count = each + (k < more);
    *out = (kn_subscript){KN_SUBSCRIPT_SLICE, count ? k * each + (k < more ? k : more) : 0, count, 1};
    return KILN_OK;
}

kiln_status kn_subscripts_settle(kn_subscript *out, int *count, const kn_graph *graph, const kn_node *node,
                                 int ndim, const int64_t *shape)
{
    int taken = count_taken(node), axis = 0, n = 0;
    bool has_rest = false;
    kiln_status status = KILN_OK;
    if (taken > ndim)
        return kn_graph_error(graph, node, KILN_ERROR_SHAPE, "%d indices were given for %d ax%s", taken, ndim,
                              ndim == 1 ? "is" : "es");
    for (int k = 0; k < node->n_subscripts && status == KILN_OK; ++k) {
        const kn_subscript *subscript = &node->subscript[k];
        switch (subscript->kind) {
        case KN_SUBSCRIPT_SLICE:
            out[n++] = settle_slice(subscript, shape[axis++]);
            break;
        case KN_SUBSCRIPT_INDEX:
            status = settle_index(&out[n++], graph, node, subscript, axis, shape[axis]);
            ++axis;
            break;
        case KN_SUBSCRIPT_ONE:
            status = settle_one(&out[n++], graph, node, axis, shape[axis]);
            ++axis;
            break;
        case KN_SUBSCRIPT_NEW:
            out[n++] = (kn_subscript){.kind = KN_SUBSCRIPT_NEW};
            break;
        case KN_SUBSCRIPT_REST:
            has_rest = true;
            for (int left = ndim - taken; left > 0; --left)
                out[n++] = whole(shape[axis++]);
            break;
        case KN_SUBSCRIPT_FILL:
            for (int64_t k = 0; k < subscript->stop && ndim + k < subscript->start; ++k)
                out[n++] = (kn_subscript){.kind = KN_SUBSCRIPT_NEW};
            break;
        case KN_SUBSCRIPT_PART:
            status = settle_part(&out[n++], graph, node, subscript, axis, shape[axis]);
            ++axis;
            break;
        case KN_SUBSCRIPT_FLIP:
            has_rest = true;
            for (; axis < ndim; ++axis)
                out[n++] =
                    (kn_subscript){KN_SUBSCRIPT_SLICE, shape[axis] ? shape[axis] - 1 : 0, shape[axis], -1};
            break;
        case KN_SUBSCRIPT_ARRAY: /* is an input of a kernel's, and in no view */
            break;
        case KN_SUBSCRIPT_ONES:
            has_rest = true;
            for (; axis < ndim; ++axis)
                out[n++] = shape[axis] == 1 ? (kn_subscript){.kind = KN_SUBSCRIPT_INDEX} : whole(shape[axis]);
        }
    }
    while (status == KILN_OK && !has_rest && axis < ndim)
        out[n++] = whole(shape[axis++]);
    *count = n;
    return status;
}
