/* Functions of neighbours along an axis, of places in what is sorted, and of elements that a condition
 * selects. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "expr/call.h"
#include "expr/composed.h"
#include "expr/shaped.h"
#include "expr/expression.h"
#include "kernel/among.h"
#include "kernel/kernel.h"
#include "kernel/sort.h"
#include "space/shape.h"

/* ---- selections: results, of which nothing is computed ---- */

static kiln_status add_selection_of(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *slot,
                                    int count, const char *const *text)
{
    int in[2];
    kiln_kernel *kernel = NULL;
    kiln_status status = KILN_OK;
    for (int k = 0; k < count && status == KILN_OK; ++k)
        status = kn_parser_node(&in[k], p, &slot[k]);
    if (status == KILN_OK)
        status = kn_select_find(&kernel, text[0], text[1], text[2], text[3]);
    return status == KILN_OK ? kn_call_add_kernel(out, p, c, kernel, in, count, 1) : status;
}

static kiln_status add_selection(kn_value *out, kn_parser *p, const kn_called *c, const char *const *names,
                                 int count, const char *const *text)
{
    kn_value slot[2] = {{0}};
    kiln_status status = kn_call_match(slot, p, c, names, count, count, count);
    return status == KILN_OK ? add_selection_of(out, p, c, slot, count, text) : status;
}

kiln_status kn_call_flatnonzero(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a"}, *const text[] = {"T x", "int64 at", "x != (T)0", "at = i"};
    return add_selection(out, p, c, names, 1, text);
}

/* True if a node has the shape of another for certain: elementwise operations of it and of numbers. *reads:
 * it is there. */
static bool has_shape_of(bool *reads, const kn_graph *graph, int node, int other)
{
    const kn_node *n = &graph->node[node];
    kn_known_operation o;
    *reads = *reads || node == other;
    if (node == other || n->kind == KN_NODE_NUMBER)
        return true;
    if (n->kind != KN_NODE_CAST &&
        (n->kind != KN_NODE_CALL || !kn_find_operation(&o, n->name, strlen(n->name)) || o.is_reduction ||
         o.scans))
        return false;
    for (int k = 0; k < n->n_in; ++k)
        if (!has_shape_of(reads, graph, n->in[k], other))
            return false;
    return true;
}

/* Elements of all of arr, in C order, where those of the condition are not zero: there may be fewer of these.
 * selected(condition, arr) (which 1): there are as many. */
kiln_status kn_call_extract(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"condition", "arr"}, *const text[] = {"C condition, T x", "T y",
                                                                              "condition != (C)0", "y = x"};
    kn_value slot[2] = {{0}};
    bool reads = false;
    int in[2] = {0};
    kiln_status status = kn_call_match(slot, p, c, names, 2, 2, 2);
    for (int k = 0; k < 2 && status == KILN_OK; ++k)
        status = kn_parser_node(&in[k], p, &slot[k]);
    if (status != KILN_OK)
        return status;
    return c->which || (has_shape_of(&reads, p->graph, in[0], in[1]) && reads)
               ? add_selection_of(out, p, c, slot, 2, text)
               : kn_compose(out, p, c, "compress(ravel(condition), ravel(arr))", names, slot, 2);
}

static void write_axes(kn_str *text, int axis)
{
    kn_str_append(text, "[");
    for (int k = 0; k < axis; ++k)
        kn_str_append(text, ":, ");
}

/* x0: the condition. It and the array, or its axis, end where the shorter one does. */
static kiln_status write_compress(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    const int ndim = in[1].ndim, axis = (int)own->number[0] + (own->number[0] < 0 ? ndim : 0);
    if (own->count > 0 && (axis < 0 || axis >= ndim))
        return kn_error(KILN_ERROR_SHAPE, "compress: axis %lld was given; the array has %d axes",
                        (long long)own->number[0], ndim);
    const int64_t length = in[0].shape[0];
    const int64_t extent = own->count > 0 ? in[1].shape[axis] : kn_shape_size(ndim, in[1].shape);
    if (length > extent)
        kn_str_printf(text, "x0 = x0[:%lld]; ", (long long)extent);
    if (own->count == 0) {
        kn_str_append(text, "selected(x0, ");
        kn_str_printf(text,
                      length < extent ? "ravel(x1)[:%lld])"
                      : ndim != 1     ? "ravel(x1))"
                                      : "x1)",
                      (long long)length);
        return KILN_OK;
    }
    if (length < extent) {
        kn_str_append(text, "x1 = x1");
        write_axes(text, axis);
        kn_str_printf(text, ":%lld]; ", (long long)length);
    }
    kn_str_append(text, "x1");
    write_axes(text, axis);
    kn_str_append(text, in[0].dtype == KILN_BOOL ? "x0]" : "x0 != 0]");
    return KILN_OK;
}

/* The same value; a call refuses it where it has another number of axes than one. */
static kiln_status need_one_axis(kn_value *value, kn_parser *p, const kn_called *c)
{
    static const char *const name[] = {"a"};
    kn_value given = *value;
    kiln_status status = p->array(&given, p);
    return status == KILN_OK ? kn_compose(value, p, c, "transpose(a, 0)", name, &given, 1) : status;
}

/* The condition may have fewer elements; those behind are left out. */
kiln_status kn_call_compress(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const all[] = {"condition", "a", "axis"}, *const method[] = {"a", "condition", "axis"};
    kn_value slot[3] = {{0}};
    kiln_status status = kn_call_match(slot, p, c, c->is_method ? method : all, 3, 3, 2);
    kn_shaped_own own = {.count = kn_call_is_given(&slot[2])};
    if (c->is_method) {
        const kn_value condition = slot[1];
        slot[1] = slot[0];
        slot[0] = condition;
    }
    if (status == KILN_OK)
        status = need_one_axis(&slot[0], p, c);
    if (status == KILN_OK && own.count > 0)
        status = kn_parser_whole(&own.number[0], p, &slot[2], all[2]);
    return status == KILN_OK ? kn_call_shaped(out, p, c, write_compress, &own, slot, 2) : status;
}

/* ---- elements that are among others ---- */

static kiln_status make_sorted_among(kiln_kernel **out, const void *parser)
{
    static const char text[] =
        "t = sort(others); (take(t, searchsorted(t, x), mode='clip') == x) & (len(t) > 0)";
    kn_graph *graph = NULL;
    kiln_status status = ((const kn_parser *)parser)->parse(&graph, "x,others", text, 0, NULL);
    return status == KILN_OK ? kn_expression_kernel(out, graph, NULL) : status;
}

/* among(x, others): others have one axis, and x's dtype. */
kiln_status kn_call_among(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"x", "others"};
    kn_value slot[2] = {{0}};
    kn_str key = KN_STR_INIT;
    kiln_kernel *sorted = NULL, *kernel = NULL;
    int in[2];
    kiln_status status = kn_call_match(slot, p, c, names, 2, 2, 2);
    for (int k = 0; k < 2 && status == KILN_OK; ++k)
        status = kn_parser_node(&in[k], p, &slot[k]);
    kn_str_append(&key, "sorted among");
    if (status == KILN_OK)
        status = kn_kernel_remembered(&sorted, &key, make_sorted_among, p);
    kn_str_free(&key);
    if (status == KILN_OK)
        status = kn_among_find(&kernel, sorted);
    kiln_kernel_free(sorted);
    return status == KILN_OK ? kn_call_add_kernel(out, p, c, kernel, in, 2, 1) : status;
}

/* ---- places in what is sorted ---- */

/* NumPy's order: NaN comes last, and is equal to NaN. No step is a branch, which random values would
 * mispredict. Places of 32 bits are half of a step's instructions on CUDA, which pays where the elements lie
 * in the nearest cache (H200, 2^26 float32 in 1,000: 829 us before, 448; in 2^20, where memory bounds it:
 * 4,153, 4,581). The last steps of a search of many elements, which no near cache holds, read a sector of
 * memory at once there (H200, the same 2^26 in 2^20: 4,398 us without, 3,774 with that; in 1,000,003: 3,995,
 * 3,413). */
#define SEARCH_UP(right) "place = kn_search_among<T, " right ">(kn_search_hint, a, v)"
#define SEARCH_BINS(right)                                                                                   \
    "const int64 n = bins.size();\n"                                                                         \
    "const bool is_down = n > 1 && kn_search_goes_on<false, B>(bins[n - 1], bins[0]);\n"                     \
    "place = is_down ? n - kn_search_among<T, " right ">(kn_search_hint, "                                   \
    "kn_search_reversed<decltype(bins)>{bins}, x) : kn_search_among<T, " right ">(kn_search_hint, bins, x)"

enum { LEFT, RIGHT, SIDES };

/* Elements are compared in the common dtype of both arrays, which is that of what is sought: the sorted ones
 * become it as they are read, so that none of them is stored again. A number is no weak one, as in NumPy. */
static kiln_status find_searched(int *read, kn_parser *p, const kn_called *c, const kn_value *const *in,
                                 int sought)
{
    kiln_status status = KILN_OK;
    kn_value joined;
    for (int k = 0; k < 2 && status == KILN_OK; ++k)
        status = kn_parser_node(&read[k], p, in[k]);
    int of[] = {read[sought], read[sought], read[!sought]};
    const kn_node node = {
        .kind = KN_NODE_LIKE, .n_in = 3, .in = of, .index = KN_LIKE_DTYPES, .at = c->at, .length = c->length};
    if (status == KILN_OK)
        status = kn_parser_add(&joined, p, &node);
    return status == KILN_OK ? kn_parser_node(&read[sought], p, &joined) : status;
}

/* x among n sorted elements: in front of those that are equal to it, or behind them. */
static kiln_status add_search(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *const *in,
                              int sought, const char *const *body, bool is_right)
{
    static const char *const params[] = {"T x, raw B bins", "raw A a, T v"};
    int read[2] = {0, 0};
    char name[16];
    kiln_kernel *kernel = NULL;
    kiln_status status = find_searched(read, p, c, in, sought);
    snprintf(name, sizeof name, "%.*s", (int)c->name_length, c->name);
    if (status == KILN_OK)
        status = kn_map_find(&kernel, &(kn_map_texts){params[sought], "int64 place",
                                                      body[is_right ? RIGHT : LEFT], name, 0, 0});
    return status == KILN_OK ? kn_call_add_kernel(out, p, c, kernel, read, 2, 1) : status;
}

kiln_status kn_call_searchsorted(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a", "v", "side", "sorter"}, *const sides[] = {"left", "right", NULL},
                             *const body[SIDES] = {SEARCH_UP("false"), SEARCH_UP("true")};
    kn_value slot[4] = {{0}}, sorted;
    kiln_status status = kn_call_match(slot, p, c, names, 4, 4, 2);
    int is_right = 0;
    if (status == KILN_OK)
        status = kn_call_word(&is_right, p, &slot[2], sides, names[2]);
    sorted = slot[0];
    if (status == KILN_OK && kn_call_is_given(&slot[3]))
        status = kn_compose(&sorted, p, c, "take(a, sorter)", names, slot, 4);
    if (status == KILN_OK)
        status = need_one_axis(&sorted, p, c);
    const kn_value *const in[] = {&sorted, &slot[1]};
    return status == KILN_OK ? add_search(out, p, c, in, 1, body, is_right) : status;
}

/* Edges that go down are searched from their end, and what was found is counted from there. With `right` a
 * bin includes its right edge: the search is one on the left. */
kiln_status kn_call_digitize(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"x", "bins", "right"}, *const body[SIDES] = {SEARCH_BINS("true"),
                                                                                     SEARCH_BINS("false")};
    kn_value slot[3] = {{0}};
    int64_t right = 0;
    kiln_status status = kn_call_match(slot, p, c, names, 3, 3, 2);
    if (status == KILN_OK && slot[2].kind != KN_VALUE_ABSENT)
        status = kn_parser_whole(&right, p, &slot[2], names[2]);
    if (status == KILN_OK)
        status = need_one_axis(&slot[1], p, c);
    const kn_value *const in[] = {&slot[0], &slot[1]};
    return status == KILN_OK ? add_search(out, p, c, in, 0, body, right != 0) : status;
}

/* ---- neighbours along an axis ---- */

static kiln_status add_of_two(kn_value *out, kn_parser *p, const kn_called *c, const char *operation,
                              const kn_value *x, const kn_value *y)
{
    char name[16];
    int in[2];
    snprintf(name, sizeof name, "%s", operation);
    const kn_node node = {
        .kind = KN_NODE_CALL, .n_in = 2, .in = in, .name = name, .at = c->at, .length = c->length};
    kiln_status status = kn_parser_node(&in[0], p, x);
    if (status == KILN_OK)
        status = kn_parser_node(&in[1], p, y);
    return status == KILN_OK ? kn_parser_add(out, p, &node) : status;
}

/* x[1:] and x[:-1] along an axis, combined by an operation. */
static kiln_status add_of_neighbours(kn_value *out, kn_parser *p, const kn_called *c, const char *operation,
                                     const kn_value *x, int axis)
{
    const kn_subscript from_second = {KN_SUBSCRIPT_SLICE, 1, KILN_SLICE_NONE, KILN_SLICE_NONE},
                       to_last = {KN_SUBSCRIPT_SLICE, KILN_SLICE_NONE, -1, KILN_SLICE_NONE};
    kn_value later, earlier;
    kiln_status status = kn_call_add_part(&later, p, c, x, from_second, axis);
    if (status == KILN_OK)
        status = kn_call_add_part(&earlier, p, c, x, to_last, axis);
    return status == KILN_OK ? add_of_two(out, p, c, operation, &later, &earlier) : status;
}

kiln_status kn_call_add_differences(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *x)
{
    return add_of_neighbours(out, p, c, "subtract", x, -1);
}

enum { MOST_DIFFERENCES = 16 };

/* An end of x along an axis, in front of it or behind it: a number, or an array of as many axes. */
static kiln_status join_end(kn_value *x, kn_parser *p, const kn_called *c, const kn_value *end, int axis,
                            bool is_behind)
{
    static const char *const name[] = {"x", "e", "axis"};
    const kn_subscript first = {KN_SUBSCRIPT_SLICE, KILN_SLICE_NONE, 1, KILN_SLICE_NONE};
    kn_value slot[3] = {*x, *end, {0}}, part;
    kiln_status status = kn_parser_number(&slot[2], p, kiln_arg_int(axis), c->at, c->length);
    if (status == KILN_OK && kn_parser_is_number(p, end)) {
        kn_value one[] = {*x, *end};
        status = kn_call_add_part(&part, p, c, x, first, axis);
        one[0] = part;
        if (status == KILN_OK)
            status = kn_compose(&slot[1], p, c, "broadcast_to(e + x * False, x.shape)", name, one, 2);
    }
    return status == KILN_OK
               ? kn_compose(x, p, c,
                            is_behind ? "concatenate([x, e], axis=axis)" : "concatenate([e, x], axis=axis)",
                            name, slot, 3)
               : status;
}

/* diff(a, n=1, axis=-1, prepend=, append=) */
kiln_status kn_call_diff(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a", "n", "axis", "prepend", "append"};
    kn_value slot[5] = {{0}};
    int64_t times = 1;
    int axis = -1;
    kiln_status status = kn_call_match(slot, p, c, names, 5, 5, 1);
    if (status == KILN_OK && slot[1].kind != KN_VALUE_ABSENT)
        status = kn_parser_whole(&times, p, &slot[1], names[1]);
    if (status == KILN_OK && (times < 0 || times > MOST_DIFFERENCES))
        return kn_parser_refuse(p, slot[1].at, slot[1].length, "n: %lld was given; 0 to %d were expected",
                                (long long)times, MOST_DIFFERENCES);
    if (status == KILN_OK && slot[2].kind != KN_VALUE_ABSENT)
        status = kn_call_axis(&axis, p, &slot[2]);
    *out = slot[0];
    for (int k = 3; k < 5 && times > 0 && status == KILN_OK; ++k)
        if (kn_call_is_given(&slot[k]))
            status = join_end(out, p, c, &slot[k], axis, k == 4);
    for (int k = 0; k < times && status == KILN_OK; ++k) {
        const kn_value x = *out;
        status = add_of_neighbours(out, p, c, "subtract", &x, axis);
    }
    return status;
}

/* Half of the sum of neighbours, times what lies between their places. */
kiln_status kn_call_trapezoid(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"y", "x", "dx", "axis"};
    kn_value slot[4] = {{0}}, apart, pairs, areas, two;
    int axis = -1, in;
    kiln_status status = kn_call_match(slot, p, c, names, 4, 4, 1);
    if (status == KILN_OK && slot[3].kind != KN_VALUE_ABSENT)
        status = kn_call_axis(&axis, p, &slot[3]);
    if (status != KILN_OK)
        return status;
    bool has_places = kn_call_is_given(&slot[1]);
    if (has_places && axis != -1)
        return kn_parser_refuse(p, slot[3].at, slot[3].length,
                                "trapezoid: with x the axis is -1; transpose y for another one");
    if (has_places)
        status = add_of_neighbours(&apart, p, c, "subtract", &slot[1], -1);
    else if (slot[2].kind != KN_VALUE_ABSENT)
        apart = slot[2];
    else
        status = kn_parser_number(&apart, p, kiln_arg_float(1), c->at, c->length);
    if (status == KILN_OK)
        status = add_of_neighbours(&pairs, p, c, "add", &slot[0], axis);
    if (status == KILN_OK)
        status = add_of_two(&areas, p, c, "multiply", &apart, &pairs);
    if (status == KILN_OK)
        status = kn_parser_number(&two, p, kiln_arg_float(2), c->at, c->length);
    if (status == KILN_OK)
        status = add_of_two(&pairs, p, c, "divide", &areas, &two);
    if (status == KILN_OK)
        status = kn_parser_node(&in, p, &pairs);
    char name[] = "sum";
    kn_node node = {.kind = KN_NODE_CALL,
                    .n_in = 1,
                    .in = &in,
                    .name = name,
                    .has_axes = true,
                    .n_axes = 1,
                    .at = c->at,
                    .length = c->length};
    node.axis[0] = axis;
    return status == KILN_OK ? kn_parser_add(out, p, &node) : status;
}
