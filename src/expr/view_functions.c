/* Functions of expressions that give views: other orders of axes, diagonals, parts. */
#include "expr/call.h"

#include <string.h>

#include "base/error.h"
#include "graph/rearranged_axes.h"

static const kn_subscript whole = {KN_SUBSCRIPT_SLICE, KILN_SLICE_NONE, KILN_SLICE_NONE, KILN_SLICE_NONE},
                          reversed = {KN_SUBSCRIPT_SLICE, KILN_SLICE_NONE, KILN_SLICE_NONE, -1};

static kiln_status add_rearranged(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *x,
                                  kn_turn turn, const int *axis, int n_axes)
{
    int in;
    kn_node node = {.kind = KN_NODE_TRANSPOSE,
                    .n_in = 1,
                    .in = &in,
                    .index = turn,
                    .n_axes = n_axes,
                    .at = c->at,
                    .length = c->length};
    memcpy(node.axis, axis, (size_t)n_axes * sizeof *axis);
    kiln_status status = kn_parser_node(&in, p, x);
    return status == KILN_OK ? kn_parser_add(out, p, &node) : status;
}

/* An axis, or a tuple of at most `most`. */
static kiln_status read_axes(int *axis, int *count, const kn_parser *p, const kn_value *value, int most)
{
    const kn_value *item;
    kiln_status status = KILN_OK;
    *count = kn_parser_items(&item, p, value);
    if (*count > most)
        return kn_parser_refuse(p, value->at, value->length, "%d axes were given; at most %d were expected",
                                *count, most);
    for (int k = 0; k < *count && status == KILN_OK; ++k)
        status = kn_call_axis(&axis[k], p, &item[k]);
    return status;
}

kiln_status kn_call_swapaxes(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a", "axis1", "axis2"};
    kn_value slot[3] = {{0}};
    int axis[2];
    kiln_status status = kn_call_match(slot, p, c, names, 3, 3, 3);
    for (int k = 0; k < 2 && status == KILN_OK; ++k)
        status = kn_call_axis(&axis[k], p, &slot[1 + k]);
    return status == KILN_OK ? add_rearranged(out, p, c, &slot[0], KN_TURN_SWAP, axis, 2) : status;
}

kiln_status kn_call_moveaxis(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a", "source", "destination"};
    kn_value slot[3] = {{0}};
    int axis[KILN_MAX_NDIM], n_from = 0, n_to = 0;
    kiln_status status = kn_call_match(slot, p, c, names, 3, 3, 3);
    if (status == KILN_OK)
        status = read_axes(axis, &n_from, p, &slot[1], KILN_MAX_NDIM / 2);
    if (status == KILN_OK)
        status = read_axes(axis + n_from, &n_to, p, &slot[2], KILN_MAX_NDIM / 2);
    if (status == KILN_OK && n_from != n_to)
        return kn_parser_refuse(p, slot[2].at, slot[2].length,
                                "destination: %d axes were given; as many as source has, %d, were expected",
                                n_to, n_from);
    return status == KILN_OK ? add_rearranged(out, p, c, &slot[0], KN_TURN_MOVE, axis, 2 * n_from) : status;
}

kiln_status kn_call_rollaxis(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a", "axis", "start"};
    kn_value slot[3] = {{0}};
    int axis[2] = {0, 0};
    kiln_status status = kn_call_match(slot, p, c, names, 3, 3, 2);
    for (int k = 0; k < 2 && status == KILN_OK; ++k)
        if (slot[1 + k].kind != KN_VALUE_ABSENT)
            status = kn_call_axis(&axis[k], p, &slot[1 + k]);
    return status == KILN_OK ? add_rearranged(out, p, c, &slot[0], KN_TURN_ROLL, axis, 2) : status;
}

kiln_status kn_call_diagonal(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a", "offset", "axis1", "axis2"};
    kn_value slot[4] = {{0}};
    int axis[3] = {0, 1, 0};
    int64_t offset = 0;
    kiln_status status = kn_call_match(slot, p, c, names, 4, 4, 1);
    if (status == KILN_OK && slot[1].kind != KN_VALUE_ABSENT)
        status = kn_parser_whole(&offset, p, &slot[1], names[1]);
    if (status == KILN_OK && offset != (int)offset)
        return kn_parser_refuse(p, slot[1].at, slot[1].length, "offset: %lld is beyond every array",
                                (long long)offset);
    axis[2] = (int)offset;
    for (int k = 0; k < 2 && status == KILN_OK; ++k)
        if (slot[2 + k].kind != KN_VALUE_ABSENT)
            status = kn_call_axis(&axis[k], p, &slot[2 + k]);
    return status == KILN_OK ? add_rearranged(out, p, c, &slot[0], KN_TURN_DIAGONAL, axis, 3) : status;
}

static kiln_status flip_axes(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *x,
                             const int *axis, int count)
{
    kiln_status status = KILN_OK;
    *out = *x;
    for (int k = 0; k < count && status == KILN_OK; ++k) {
        const kn_value before = *out;
        status = kn_call_add_part(out, p, c, &before, reversed, axis[k]);
    }
    return status;
}

kiln_status kn_call_flip(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"m", "axis"};
    kn_subscript all = {.kind = KN_SUBSCRIPT_FLIP};
    kn_value slot[2] = {{0}};
    int axis[KILN_MAX_NDIM], count = 0;
    kiln_status status = kn_call_match(slot, p, c, names, 2, 2, 1);
    if (status == KILN_OK && !kn_call_is_given(&slot[1]))
        return kn_call_add_slice(out, p, c, &slot[0], &all, 1);
    if (status == KILN_OK)
        status = read_axes(axis, &count, p, &slot[1], KILN_MAX_NDIM);
    return status == KILN_OK ? flip_axes(out, p, c, &slot[0], axis, count) : status;
}

/* k quarters of a turn, from the first axis towards the second. */
kiln_status kn_call_rot90(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"m", "k", "axes"};
    kn_value slot[3] = {{0}}, flipped;
    int axis[2] = {0, 1}, count = 2;
    int64_t quarters = 1;
    kiln_status status = kn_call_match(slot, p, c, names, 3, 3, 1);
    if (status == KILN_OK && slot[1].kind != KN_VALUE_ABSENT)
        status = kn_parser_whole(&quarters, p, &slot[1], names[1]);
    if (status == KILN_OK && slot[2].kind != KN_VALUE_ABSENT)
        status = read_axes(axis, &count, p, &slot[2], 2);
    if (status == KILN_OK && (count != 2 || axis[0] == axis[1]))
        return kn_parser_refuse(p, slot[2].at, slot[2].length, "axes: two different ones were expected");
    quarters = (quarters % 4 + 4) % 4;
    if (status == KILN_OK)
        status = flip_axes(&flipped, p, c, &slot[0], quarters == 3 ? axis : axis + 1, quarters != 0);
    if (status == KILN_OK && quarters == 2)
        return flip_axes(out, p, c, &flipped, axis, 1);
    if (status != KILN_OK || quarters == 0)
        return status == KILN_OK
                   ? kn_call_add_slice(out, p, c, &slot[0], &(kn_subscript){.kind = KN_SUBSCRIPT_REST}, 1)
                   : status;
    return add_rearranged(out, p, c, &flipped, KN_TURN_SWAP, axis, 2);
}

/* atleast_1d, atleast_2d and atleast_3d, which puts the last axis behind. */
kiln_status kn_call_atleast(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a"};
    kn_value slot[1] = {{0}};
    const int most = c->which;
    kn_subscript subscript[] = {{.kind = KN_SUBSCRIPT_FILL, .start = most < 3 ? most : 2, .stop = 2},
                                {.kind = KN_SUBSCRIPT_REST},
                                {.kind = KN_SUBSCRIPT_FILL, .start = most, .stop = most == 3}};
    kiln_status status = kn_call_match(slot, p, c, names, 1, 1, 1);
    return status == KILN_OK ? kn_call_add_slice(out, p, c, &slot[0], subscript, 3) : status;
}

/* sliding_window_view(x, window_shape, axis=None): without axes a window has all of them. */
kiln_status kn_call_windows(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"x", "window_shape", "axis"};
    kn_value slot[3] = {{0}};
    const kn_value *item;
    int axis[KILN_MAX_NDIM], in, n_axes = 0;
    kn_node node = {.kind = KN_NODE_WINDOWS, .n_in = 1, .in = &in, .at = c->at, .length = c->length};
    kiln_status status = kn_call_match(slot, p, c, names, 3, 3, 2);
    const bool has_axes = kn_call_is_given(&slot[2]);
    const int count = kn_parser_items(&item, p, &slot[1]);
    if (status == KILN_OK && (count < 1 || count > KILN_MAX_NDIM / 2))
        return kn_parser_refuse(p, slot[1].at, slot[1].length,
                                "window_shape: %d were given; 1 to %d were expected", count,
                                KILN_MAX_NDIM / 2);
    if (status == KILN_OK && has_axes)
        status = read_axes(axis, &n_axes, p, &slot[2], KILN_MAX_NDIM);
    if (status == KILN_OK && has_axes && n_axes != count)
        return kn_parser_refuse(p, slot[2].at, slot[2].length, "axis: %d were given for %d windows", n_axes,
                                count);
    for (int k = 0; k < count && status == KILN_OK; ++k) {
        int64_t window = 0;
        status = kn_parser_whole(&window, p, &item[k], names[1]);
        if (status == KILN_OK && (window < 1 || window > INT32_MAX))
            return kn_parser_refuse(p, item[k].at, item[k].length,
                                    "window_shape: %lld was given; 1 to %d were expected", (long long)window,
                                    INT32_MAX);
        node.axis[node.n_axes++] = has_axes ? axis[k] : k - count;
        node.axis[node.n_axes++] = (int)window;
    }
    if (status == KILN_OK)
        status = kn_parser_node(&in, p, &slot[0]);
    return status == KILN_OK ? kn_parser_add(out, p, &node) : status;
}

/* ---- parts ---- */

enum { MOST_PARTS = 64 };

typedef struct parts {
    const kn_value *x;
    int axis, count;
    bool may_differ; /* of equal ones the first may have one element more */
} parts;

static kiln_status add_parts(kn_value *out, kn_parser *p, const kn_called *c, const parts *of,
                             const kn_subscript *part)
{
    kn_value one[MOST_PARTS];
    kiln_status status = KILN_OK;
    for (int k = 0; k < of->count && status == KILN_OK; ++k)
        status = kn_call_add_part(&one[k], p, c, of->x, part[k], of->axis);
    *out = (kn_value){
        .kind = KN_VALUE_TUPLE, .first = p->n_items, .count = of->count, .at = c->at, .length = c->length};
    for (int k = 0; k < of->count && status == KILN_OK; ++k)
        status = kn_parser_push_item(p, &one[k]);
    return status;
}

/* So many equal ones, or those between the indices of a tuple. */
static kiln_status split(kn_value *out, kn_parser *p, const kn_called *c, parts *of, const kn_value *by)
{
    kn_subscript part[MOST_PARTS];
    const kn_value *item;
    int64_t number = 0;
    const bool is_list = by->kind == KN_VALUE_TUPLE;
    const int n_bounds = is_list ? kn_parser_items(&item, p, by) : 0;
    kiln_status status = is_list ? KILN_OK : kn_parser_whole(&number, p, by, "indices_or_sections");
    if (status == KILN_OK && ((!is_list && number < 1) || (is_list ? n_bounds + 1 : number) > MOST_PARTS))
        return kn_parser_refuse(p, by->at, by->length,
                                "indices_or_sections: %lld parts were given; 1 to %d were expected",
                                (long long)(is_list ? n_bounds + 1 : number), MOST_PARTS);
    of->count = is_list ? n_bounds + 1 : (int)number;
    for (int k = 0; k < of->count && !is_list; ++k)
        part[k] = (kn_subscript){KN_SUBSCRIPT_PART, k, number, of->may_differ};
    for (int k = 0; k < of->count && is_list && status == KILN_OK; ++k) {
        part[k] = whole;
        if (k > 0)
            part[k].start = part[k - 1].stop;
        if (k < n_bounds)
            status = kn_parser_whole(&part[k].stop, p, &item[k], "indices_or_sections");
    }
    return status == KILN_OK ? add_parts(out, p, c, of, part) : status;
}

kiln_status kn_call_split(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"ary", "indices_or_sections", "axis"};
    kn_value slot[3] = {{0}};
    parts of = {.x = &slot[0], .may_differ = c->which};
    kiln_status status = kn_call_match(slot, p, c, names, 3, 3, 2);
    if (status == KILN_OK && slot[2].kind != KN_VALUE_ABSENT)
        status = kn_call_axis(&of.axis, p, &slot[2]);
    return status == KILN_OK ? split(out, p, c, &of, &slot[1]) : status;
}

/* vsplit, hsplit and dsplit: along axis 0, 1 or 2. */
kiln_status kn_call_split_along(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"ary", "indices_or_sections"};
    kn_value slot[2] = {{0}};
    parts of = {.x = &slot[0], .axis = c->which};
    kiln_status status = kn_call_match(slot, p, c, names, 2, 2, 2);
    return status == KILN_OK ? split(out, p, c, &of, &slot[1]) : status;
}

/* unstack(x, axis=0): as many parts as the assignment has names, since shapes are those of a call. */
kiln_status kn_call_unstack(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"x", "axis"};
    kn_value slot[2] = {{0}}, one[MOST_PARTS];
    const int count = c->n_targets;
    int axis = 0;
    kiln_status status = kn_call_match(slot, p, c, names, 2, 1, 1);
    if (status == KILN_OK && slot[1].kind != KN_VALUE_ABSENT)
        status = kn_call_axis(&axis, p, &slot[1]);
    if (status == KILN_OK && (count < 2 || count > MOST_PARTS))
        return kn_call_refuse(p, c,
                              "as many names as there are parts were expected: a, b, c = unstack(x); x[k] is "
                              "one of them");
    for (int k = 0; k < count && status == KILN_OK; ++k)
        status = kn_call_add_part(&one[k], p, c, &slot[0],
                                  (kn_subscript){KN_SUBSCRIPT_PART, k, count, KN_PARTS_OF_ONE}, axis);
    *out = (kn_value){
        .kind = KN_VALUE_TUPLE, .first = p->n_items, .count = count, .at = c->at, .length = c->length};
    for (int k = 0; k < count && status == KILN_OK; ++k)
        status = kn_parser_push_item(p, &one[k]);
    return status;
}
