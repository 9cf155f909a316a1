/* x[...] in an expression, read and assigned. */
#include "expr/indexing.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "expr/call.h"
#include "expr/composed.h"
#include "expr/lists.h"
#include "expr/selected.h"

/* ---- indices ---- */

static kiln_status add_one(kn_index_text *index, const kn_parser *p, const kn_value *array)
{
    if (index->n_arrays == KN_INDEX_ARRAYS)
        return kn_parser_refuse(p, array->at, array->length, "an index has at most %d arrays",
                                KN_INDEX_ARRAYS);
    index->array[index->n_arrays++] = *array;
    return KILN_OK;
}

/* A tuple of arrays stands for its items, as that of nonzero() does. */
static kiln_status add_tuple(kn_index_text *index, kn_parser *p, const kn_value *tuple)
{
    const kn_value *item;
    const int count = kn_parser_items(&item, p, tuple);
    kiln_status status = KILN_OK;
    if (index->n_items > 0 || count == 0 || count > KILN_MAX_NDIM)
        return kn_parser_refuse(p, tuple->at, tuple->length, "a tuple of indices is the whole index");
    for (int k = 0; k < count && status == KILN_OK; ++k) {
        kn_subscript *to = &index->item[k];
        kn_value one = item[k];
        *to = (kn_subscript){.kind = KN_SUBSCRIPT_ARRAY};
        status = kn_list_array(&one, p);
        kn_parser_items(&item, p, tuple); /* items may have moved */
        if (status != KILN_OK)
            return status;
        if (kn_parser_is_number(p, &one)) {
            to->kind = KN_SUBSCRIPT_INDEX;
            status = kn_parser_whole(&to->start, p, &one, "index");
        } else if (one.kind == KN_VALUE_NODE) {
            status = add_one(index, p, &one);
        } else {
            return kn_parser_refuse(p, tuple->at, tuple->length,
                                    "a tuple of arrays, or of whole numbers, was expected");
        }
    }
    index->n_items = count - 1; /* the last one is counted by the caller */
    return status;
}

kiln_status kn_index_add_array(kn_index_text *index, kn_parser *p, const kn_value *array)
{
    static const char *const x[] = {"x"};
    const kn_called c = {.name = "index", .name_length = 5, .at = array->at, .length = array->length};
    kn_value value = *array, of = *array;
    if (value.kind == KN_VALUE_NONZERO) { /* x[nonzero(m)] is x[m != 0] */
        of.kind = KN_VALUE_NODE;
        kiln_status status = kn_compose(&value, p, &c, "x != 0", x, &of, 1);
        return status == KILN_OK ? add_one(index, p, &value) : status;
    }
    if (value.kind == KN_VALUE_TUPLE && !value.is_list)
        return add_tuple(index, p, array);
    kiln_status status = kn_list_array(&value, p);
    return status == KILN_OK ? add_one(index, p, &value) : status;
}

kiln_status kn_index_add(kn_index_text *index, kn_parser *p, const kn_value *value)
{
    kn_subscript *to = &index->item[index->n_items];
    *to = (kn_subscript){.kind = KN_SUBSCRIPT_ARRAY};
    if (kn_parser_is_number(p, value)) {
        to->kind = KN_SUBSCRIPT_INDEX;
        kiln_status status = kn_parser_whole(&to->start, p, value, "index");
        ++index->n_items;
        return status;
    }
    kiln_status status = kn_index_add_array(index, p, value);
    ++index->n_items;
    return status;
}

/* ---- nonzero ---- */

kiln_status kn_call_argwhere(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a"};
    kn_value slot[1] = {{0}};
    kiln_kernel *kernel = NULL;
    int in = 0;
    kiln_status status = kn_call_match(slot, p, c, names, 1, 1, 1);
    if (status == KILN_OK)
        status = kn_parser_node(&in, p, &slot[0]);
    if (status == KILN_OK && c->which) {
        *out = (kn_value){.kind = KN_VALUE_NONZERO, .node = in, .at = c->at, .length = c->length};
        return KILN_OK;
    }
    if (status == KILN_OK)
        status = kn_nonzero_find(&kernel, 0, -1);
    return status == KILN_OK ? kn_call_add_kernel(out, p, c, kernel, &in, 1, 1) : status;
}

static kiln_status add_nonzero(kn_value *out, kn_parser *p, const kn_value *nonzero, int count, int axis)
{
    const kn_called c = {.name = "nonzero", .name_length = 7, .at = nonzero->at, .length = nonzero->length};
    kiln_kernel *kernel = NULL;
    kiln_status status = kn_nonzero_find(&kernel, count, axis);
    return status == KILN_OK ? kn_call_add_kernel(out, p, &c, kernel, &nonzero->node, 1, count) : status;
}

kiln_status kn_nonzero_item(kn_value *out, kn_parser *p, const kn_value *nonzero, int64_t axis)
{
    if (axis < 0 || axis >= KILN_MAX_NDIM)
        return kn_parser_refuse(p, nonzero->at, nonzero->length,
                                "index %lld of the results of nonzero; an axis from 0 on was expected",
                                (long long)axis);
    return add_nonzero(out, p, nonzero, 1, (int)axis);
}

kiln_status kn_nonzero_items(kn_value *out, kn_parser *p, const kn_value *nonzero, int count)
{
    return add_nonzero(out, p, nonzero, count, -1);
}

/* ---- slices with computed bounds ---- */

/* The axis of item k, from the front or, behind "...", from the end. KILN_MAX_NDIM: a mask may be in front of
 * it, of any number of axes. */
static int axis_of(const kn_index_text *index, int k)
{
    int axis = 0;
    bool has_rest = false, is_open = false;
    for (int i = 0; i < k; ++i) {
        has_rest = has_rest || index->item[i].kind == KN_SUBSCRIPT_REST;
        is_open = is_open || index->item[i].kind == KN_SUBSCRIPT_ARRAY;
        axis += index->item[i].kind != KN_SUBSCRIPT_NEW;
    }
    if (!has_rest)
        return is_open ? KILN_MAX_NDIM : axis;
    axis = -1;
    is_open = false;
    for (int i = k + 1; i < index->n_items; ++i) {
        is_open = is_open || index->item[i].kind == KN_SUBSCRIPT_ARRAY;
        axis -= index->item[i].kind != KN_SUBSCRIPT_NEW;
    }
    return is_open ? KILN_MAX_NDIM : axis;
}

/* A bound that is counted from the end where it is negative, and between the ends. */
#define CLIPPED(a)                                                                                           \
    a " = " a " + n * (" a " < 0); " a " = " a " * (" a " > 0); " a " = " a " + (n - " a ") * (" a " > n); "

static bool is_computed(const kn_index_text *index, int k)
{
    return index->bounds[k].start.kind != KN_VALUE_ABSENT || index->bounds[k].stop.kind != KN_VALUE_ABSENT;
}

/* The places along an axis of x that item k says, a slice that goes forward. */
static kiln_status add_places(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *x,
                              const kn_index_text *index, int k, int axis)
{
    static const char *const names[] = {"x", "a", "b", "s", "axis"};
    const kn_subscript *item = &index->item[k];
    const struct kn_bounds *bounds = &index->bounds[k];
    const bool has_stop = bounds->stop.kind != KN_VALUE_ABSENT || item->stop != KILN_SLICE_NONE;
    kn_value in[5] = {*x, bounds->start, bounds->stop};
    const int64_t number[] = {0, item->start == KILN_SLICE_NONE ? 0 : item->start, has_stop ? item->stop : 0,
                              item->step == KILN_SLICE_NONE ? 1 : item->step, axis};
    kiln_status status = KILN_OK;
    for (int j = 1; j < 5 && status == KILN_OK; ++j)
        if (in[j].kind == KN_VALUE_ABSENT)
            status = kn_parser_number(&in[j], p, kiln_arg_int(number[j]), c->at, c->length);
        else if (!kn_parser_is_number(p, &in[j])) /* uint64 would become float64 beside extents */
            status = kn_call_cast_to(&in[j], p, c, KILN_INT64, KN_CASTING_SAME_KIND, false);
    return status == KILN_OK
               ? kn_compose(out, p, c,
                            has_stop
                                ? "n = x.shape[axis]; " CLIPPED("a")
                                      CLIPPED("b") "c = (b - a + s - 1) // s; a + counted(c * (c > 0)) * s"
                                : "n = x.shape[axis]; " CLIPPED("a") "a + counted((n - a + s - 1) // s) * s",
                            names, in, 5)
               : status;
}

static bool goes_forward(const kn_index_text *index, int k)
{
    const kn_subscript *item = &index->item[k];
    return item->kind == KN_SUBSCRIPT_SLICE && (item->step == KILN_SLICE_NONE || item->step >= 1);
}

static kiln_status take_slice(kn_value *x, kn_parser *p, const kn_called *c, const kn_index_text *index,
                              int k, int axis)
{
    static const char *const names[] = {"x", "i", "axis"};
    kn_value in[3] = {*x};
    kiln_status status = add_places(&in[1], p, c, x, index, k, axis);
    if (status == KILN_OK)
        status = kn_parser_number(&in[2], p, kiln_arg_int(axis), c->at, c->length);
    return status == KILN_OK ? kn_compose(x, p, c, "take(x, i, axis=axis, mode='clip')", names, in, 3)
                             : status;
}

kiln_status kn_index_take_computed(kn_value *x, kn_parser *p, kn_index_text *index)
{
    const kn_called c = {.name = "index", .name_length = 5, .at = index->at, .length = index->length};
    kiln_status status = KILN_OK;
    for (int k = 0; k < index->n_items && status == KILN_OK; ++k) {
        if (!is_computed(index, k))
            continue;
        const int axis = axis_of(index, k);
        if (axis == KILN_MAX_NDIM || !goes_forward(index, k))
            return kn_parser_refuse(
                p, index->at, index->length,
                "a slice whose bounds a call computes goes forward, and stands in front of "
                "arrays");
        status = take_slice(x, p, &c, index, k, axis);
        index->item[k] =
            (kn_subscript){KN_SUBSCRIPT_SLICE, KILN_SLICE_NONE, KILN_SLICE_NONE, KILN_SLICE_NONE};
    }
    return status;
}

/* The items from the first to the last slice with computed bounds; *first is -1 where there is none. Numbers
 * are among them if axes stand in front: those of arrays that are not side by side would come first. */
static void find_run(int *first, int *last, const kn_index_text *index)
{
    bool has_axes = false;
    *first = *last = -1;
    for (int k = 0; k < index->n_items; ++k)
        if (is_computed(index, k)) {
            *first = *first < 0 ? k : *first;
            *last = k;
        }
    for (int k = 0; k < *first; ++k)
        has_axes = has_axes || index->item[k].kind != KN_SUBSCRIPT_INDEX;
    for (int k = 0; k < index->n_items && has_axes; ++k)
        if (index->item[k].kind == KN_SUBSCRIPT_INDEX) {
            *first = k < *first ? k : *first;
            *last = k > *last ? k : *last;
        }
}

/* The slices of a run become arrays of places that broadcast against each other: what is assigned has their
 * axes, in their order, if nothing stands between them. */
static kiln_status spread_slices(kn_index_text *index, kn_parser *p, const kn_called *c, const kn_value *x)
{
    static const char *const names[] = {"i"};
    int first, last, left = 0, axis[KN_INDEX_ITEMS];
    kiln_status status = KILN_OK;
    find_run(&first, &last, index);
    for (int k = first; first >= 0 && k <= last; ++k) {
        const kn_subscript_kind kind = index->item[k].kind;
        left += kind == KN_SUBSCRIPT_SLICE;
        axis[k] = axis_of(index, k);
        if (index->n_arrays > 0 || (kind != KN_SUBSCRIPT_INDEX && !goes_forward(index, k)))
            return kn_parser_refuse(p, index->at, index->length,
                                    "slices of what is assigned whose bounds a call computes go forward, "
                                    "beside other slices and whole numbers alone");
    }
    for (int k = first; first >= 0 && k <= last && status == KILN_OK; ++k) {
        if (index->item[k].kind != KN_SUBSCRIPT_SLICE)
            continue;
        kn_value places, i;
        status = add_places(&places, p, c, x, index, k, axis[k]);
        for (int axes = --left; axes > 0 && status == KILN_OK; --axes) {
            i = places;
            status = kn_compose(&places, p, c, "i[..., None]", names, &i, 1);
        }
        index->item[k] = (kn_subscript){.kind = KN_SUBSCRIPT_ARRAY};
        if (status == KILN_OK)
            status = add_one(index, p, &places);
    }
    return status;
}

/* ---- x[...] ---- */

static kiln_status read_view(kn_value *out, kn_parser *p, const kn_value *x, const kn_index_text *index)
{
    int in = 0;
    kn_subscript item[KN_INDEX_ITEMS];
    const kn_node node = {.kind = KN_NODE_SLICE,
                          .n_in = 1,
                          .in = &in,
                          .subscript = item,
                          .n_subscripts = index->n_items,
                          .at = index->at,
                          .length = index->length};
    memcpy(item, index->item, (size_t)index->n_items * sizeof *item);
    kiln_status status = kn_parser_node(&in, p, x);
    return status == KILN_OK ? kn_parser_add(out, p, &node) : status;
}

/* A kernel of x, of values where there are some, and the arrays. */
static kiln_status add_kernel(kn_value *out, kn_parser *p, kn_indexed_name name, const kn_value *x,
                              const kn_value *values, const kn_index_text *index)
{
    const kn_called c = {.name = "index", .name_length = 5, .at = index->at, .length = index->length};
    int in[KN_INDEX_ARRAYS + 2], n_in = 0;
    kiln_kernel *kernel = NULL;
    kiln_status status = kn_parser_node(&in[n_in++], p, x);
    if (status == KILN_OK && values)
        status = kn_parser_node(&in[n_in++], p, values);
    for (int k = 0; k < index->n_arrays && status == KILN_OK; ++k)
        status = kn_parser_node(&in[n_in++], p, &index->array[k]);
    if (status == KILN_OK)
        status = kn_indexed_find(&kernel, name, index->item, index->n_items);
    return status == KILN_OK
               ? kn_call_add_kernel(out, p, &c, kernel, in, n_in, name == KN_INDEXED_SPREAD ? 2 : 1)
               : status;
}

kiln_status kn_index_read(kn_value *out, kn_parser *p, const kn_value *x, const kn_index_text *index)
{
    return index->n_arrays == 0 ? read_view(out, p, x, index)
                                : add_kernel(out, p, KN_INDEXED_READ, x, NULL, index);
}

/* x[mask] = y[mask] is x[mask] = y, of which the mask leaves out the same elements: *value becomes y, which
 * has to have x's shape. */
static bool has_own_mask(kn_value *value, const kn_parser *p, const kn_index_text *index)
{
    const kn_node *node = &p->graph->node[value->node];
    if (node->kind != KN_NODE_KERNEL || !kn_indexed_is_alone(node->kernel) || index->n_items != 1 ||
        index->n_arrays != 1 || index->array[0].node != node->in[1] ||
        !kn_index_is_mask(p->graph, node->in[1]))
        return false;
    value->node = node->in[0];
    return true;
}

/* The same values; an error unless they have the shape of `marked`. */
static kiln_status check_shape(kn_value *value, kn_parser *p, const kn_called *c, const kn_value *marked)
{
    char name[] = "where";
    int in[] = {marked->node, value->node, value->node};
    const kn_node where = {.kind = KN_NODE_CALL,
                           .n_in = 3,
                           .in = in,
                           .name = name,
                           .masked = KN_MASKED,
                           .at = c->at,
                           .length = c->length};
    return kn_parser_add(value, p, &where);
}

/* The values that elements are assigned, in x's shape, and which are assigned one. */
static kiln_status spread(kn_value *part, kn_parser *p, const kn_index_text *index)
{
    kn_value changed;
    const kn_value *item;
    kiln_status status = add_kernel(&changed, p, KN_INDEXED_SPREAD, &part[0], &part[1], index);
    if (status != KILN_OK)
        return status;
    kn_parser_items(&item, p, &changed);
    part[1] = item[0];
    part[2] = item[1];
    return KILN_OK;
}

/* True for whole numbers alone, the index of an element or of a part: NumPy makes an element what x holds
 * by any cast. */
static bool is_element(const kn_index_text *index)
{
    bool is = index->n_items > 0;
    for (int k = 0; k < index->n_items; ++k)
        is = is && index->item[k].kind == KN_SUBSCRIPT_INDEX;
    return is;
}

/* x OP v in the dtype of x, which has to be one that x may be given by NumPy's rule "same_kind". */
static kiln_status change(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *x,
                          const kn_value *now, const kn_value *value, const char *op)
{
    static const char *const names[] = {"x", "v"};
    kn_value part[2] = {*now, *value};
    char text[16];
    snprintf(text, sizeof text, "x %s v", op);
    kiln_status status = kn_compose(out, p, c, text, names, part, 2);
    return status == KILN_OK ? kn_call_cast_like(out, p, c, x) : status;
}

kiln_status kn_index_change(kn_value *out, kn_parser *p, const kn_value *x, const kn_index_text *index,
                            const char *op, const kn_value *value)
{
    static const char *const names[] = {"x", "v"};
    const kn_called c = {.name = "index", .name_length = 5, .at = index->at, .length = index->length};
    kn_value part[2] = {*x, *value};
    kiln_status status = kn_list_array(&part[1], p);
    if (status == KILN_OK && part[1].kind != KN_VALUE_NODE)
        return kn_parser_refuse(p, value->at, value->length, "an array or a number was expected");
    if (status == KILN_OK)
        status = change(&part[1], p, &c, x, x, &part[1], op);
    return status == KILN_OK ? kn_compose(out, p, &c, "full_like(x, v)", names, part, 2) : status;
}

/* The value that x[...] op= value assigns where arrays say the places: places are read, so that nothing but
 * what is assigned is computed. */
static kiln_status read_and_change(kn_value *value, kn_parser *p, const kn_value *x,
                                   const kn_index_text *index, const kn_called *c, const char *op)
{
    const kn_value given = *value;
    kn_value now;
    kiln_status status = kn_index_read(&now, p, x, index);
    return status == KILN_OK ? change(value, p, c, x, &now, &given, op) : status;
}

kiln_status kn_index_assign(kn_value *out, kn_parser *p, const kn_value *x, kn_index_text *index,
                            const char *op, const kn_value *value)
{
    static const char *const names[] = {"x", "v", "m"};
    const kn_called c = {.name = "index", .name_length = 5, .at = index->at, .length = index->length};
    kn_value part[3] = {*x, *value};
    kiln_status status = spread_slices(index, p, &c, x);
    if (status == KILN_OK)
        status = kn_list_array(&part[1], p);
    if (status == KILN_OK && part[1].kind != KN_VALUE_NODE)
        return kn_parser_refuse(p, value->at, value->length, "an array or a number was expected");
    if (status != KILN_OK)
        return status;
    /* Only the places are asked for where there is one value for all, or values for all elements. */
    const bool is_number = kn_parser_is_number(p, &part[1]),
               is_same = !is_number && has_own_mask(&part[1], p, index);
    /* Where a mask says the places, what comes behind may share the kernel of where(). */
    const bool is_whole = index->n_arrays > 0 && !kn_index_is_mask(p->graph, index->array[0].node);
    if (*op && is_whole) {
        status = read_and_change(&part[1], p, x, index, &c, op);
        return status == KILN_OK ? add_kernel(out, p, KN_INDEXED_ASSIGNED, x, &part[1], index) : status;
    }
    if (!*op && !is_same && (!is_number || is_whole))
        return add_kernel(out, p, KN_INDEXED_ASSIGNED, x, &part[1], index);
    status = is_number || is_same ? add_kernel(&part[2], p, KN_INDEXED_MARKED, x, NULL, index)
                                  : spread(part, p, index);
    if (status == KILN_OK && is_same)
        status = check_shape(&part[1], p, &c, &part[2]);
    if (status == KILN_OK && *op && is_element(index)) {
        char text[64];
        snprintf(text, sizeof text, "where(m, full_like(x, x %s v), x)", op);
        return kn_compose(out, p, &c, text, names, part, 3);
    }
    if (status == KILN_OK && *op) {
        const kn_value given = part[1];
        status = change(&part[1], p, &c, x, x, &given, op);
    }
    return status == KILN_OK ? kn_compose(out, p, &c, "where(m, full_like(x, v), x)", names, part, 3)
                             : status;
}
