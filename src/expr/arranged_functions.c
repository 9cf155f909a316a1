/* Functions of expressions that join arrays, or read their elements at other places: each is a node of a
 * kernel that is remembered, and one launch. */
#include "expr/call.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "expr/composed.h"
#include "expr/shaped_functions.h"
#include "kernel/arranged.h"

enum { MOST = KN_MAX_PARAMS - 1, DEEPEST = 8 };

/* ---- joins ---- */

static const kn_subscript rest = {.kind = KN_SUBSCRIPT_REST};

/* The steps for each array before it is joined, and the axis of the join. */
static const struct {
    const char *name;
    int axis, n;
    kn_subscript view[3];
} stacks[] = {{"vstack", 0, 2, {{KN_SUBSCRIPT_FILL, 2, 2, 0}, {.kind = KN_SUBSCRIPT_REST}}},
              {"row_stack", 0, 2, {{KN_SUBSCRIPT_FILL, 2, 2, 0}, {.kind = KN_SUBSCRIPT_REST}}},
              {"hstack", KN_JOIN_HSTACK, 2, {{KN_SUBSCRIPT_FILL, 1, 1, 0}, {.kind = KN_SUBSCRIPT_REST}}},
              {"column_stack", 1, 2, {{.kind = KN_SUBSCRIPT_REST}, {KN_SUBSCRIPT_FILL, 2, 2, 0}}},
              {"dstack",
               2,
               3,
               {{KN_SUBSCRIPT_FILL, 2, 2, 0}, {.kind = KN_SUBSCRIPT_REST}, {KN_SUBSCRIPT_FILL, 3, 1, 0}}}};

static kiln_status join(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *array, int count,
                        int axis)
{
    int in[MOST];
    char name[32];
    kiln_kernel *kernel = NULL;
    kiln_status status = KILN_OK;
    snprintf(name, sizeof name, "%.*s", (int)c->name_length, c->name);
    for (int k = 0; k < count && status == KILN_OK; ++k)
        status = kn_parser_node(&in[k], p, &array[k]);
    if (status == KILN_OK)
        status = kn_join_find(&kernel, name, count, axis);
    return status == KILN_OK ? kn_call_add_kernel(out, p, c, kernel, in, count, 1) : status;
}

static kiln_status read_arrays(kn_value *array, int *count, const kn_parser *p, const kn_value *from)
{
    const kn_value *item;
    *count = kn_parser_items(&item, p, from);
    if (from->kind != KN_VALUE_TUPLE || *count < 1 || *count > MOST)
        return kn_parser_refuse(p, from->at, from->length, "a list of 1 to %d arrays was expected", MOST);
    memcpy(array, item, (size_t)*count * sizeof *array);
    return KILN_OK;
}

/* ---- joins of an array: what lies along its first axis ---- */

enum { OF_AXIS, OF_NEW_AXIS, OF_ALL, OF_STACKS /* and the number of a row of them */ };

/* The axis along which an array's rows of `ndim` axes are joined by a row of stacks; index: how these become
 * such rows as are joined. */
static int axis_of_stack(const char **index, int s, int ndim)
{
    static const char *const stood[] = {"[:, None, None]", "[:, None]"},
                             *const deep[] = {"[:, None, None, None]", "[:, None, :, None]", "[..., None]"},
                             *const columns[] = {"[:, None, None]", "[..., None]"};
    *index = "";
    if (stacks[s].axis == KN_JOIN_HSTACK) {
        *index = ndim == 0 ? "[:, None]" : "";
        return ndim > 1;
    }
    if (stacks[s].axis == 0)
        *index = ndim < 2 ? stood[ndim] : "";
    else if (stacks[s].axis == 1)
        *index = ndim < 2 ? columns[ndim] : "";
    else
        *index = ndim < 3 ? deep[ndim] : "";
    return stacks[s].axis;
}

/* The first axis moves in front of another one, with which it becomes one. */
static kiln_status write_joined(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    const char *index = "";
    int axis = (int)own->number[0], ndim = in->ndim - 1 + (own->which == OF_NEW_AXIS);
    if (in->ndim == 0 || in->shape[0] == 0)
        return kn_error(KILN_ERROR_SHAPE, "a list of arrays, or an array with elements along its first axis, "
                                          "was expected");
    if (own->which == OF_ALL) {
        kn_str_append(text, "ravel(x0)");
        return KILN_OK;
    }
    if (own->which >= OF_STACKS)
        axis = axis_of_stack(&index, own->which - OF_STACKS, ndim);
    else if (axis < -ndim || axis >= ndim)
        return kn_error(KILN_ERROR_SHAPE, "axis: axis %d was given, but there are %d axes", axis, ndim);
    axis += axis < 0 ? ndim : 0;
    if (own->which == OF_NEW_AXIS) {
        kn_str_printf(text, "moveaxis(x0, 0, %d)", axis);
        return KILN_OK;
    }
    kn_str_printf(text, "x0 = x0%s; s = moveaxis(x0, 0, %d); reshape(s, (", index, axis);
    for (const char *new_axis = index; (new_axis = strstr(new_axis, "None")) != NULL; ++new_axis)
        ++ndim;
    for (int a = 0; a < ndim; ++a)
        kn_str_printf(text, a == axis ? "x0.shape[0] * x0.shape[%d], " : "x0.shape[%d], ", a + 1);
    kn_str_append(text, "))");
    return KILN_OK;
}

static kiln_status join_rows(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *x, int which,
                             int axis)
{
    const kn_shaped_own own = {.which = which, .count = 1, .number = {axis}};
    return kn_call_shaped(out, p, c, write_joined, &own, x, 1);
}

/* concatenate and stack (which: a new axis); axis None: of all elements of each. */
kiln_status kn_call_concatenate(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"arrays", "axis", "dtype"};
    const kn_subscript new_axis = {.kind = KN_SUBSCRIPT_NEW};
    kn_value slot[3] = {{0}}, array[MOST];
    int axis = 0, count = 0;
    kiln_status status = kn_call_match(slot, p, c, names, 3, 2, 1);
    const bool is_flat = slot[1].kind == KN_VALUE_NONE && !c->which;
    if (status == KILN_OK && slot[1].kind != KN_VALUE_ABSENT && !is_flat)
        status = kn_call_axis(&axis, p, &slot[1]);
    if (status == KILN_OK && slot[0].kind == KN_VALUE_NODE) {
        status = join_rows(out, p, c, &slot[0], is_flat ? OF_ALL : c->which ? OF_NEW_AXIS : OF_AXIS, axis);
        return status == KILN_OK ? kn_call_cast(out, p, c, &slot[2]) : status;
    }
    if (status == KILN_OK)
        status = read_arrays(array, &count, p, &slot[0]);
    for (int k = 0; k < count && status == KILN_OK && (is_flat || c->which); ++k) {
        const kn_value x = array[k];
        status = is_flat ? kn_call_flatten(&array[k], p, c)
                         : kn_call_add_part(&array[k], p, c, &x, new_axis, axis);
    }
    if (status == KILN_OK)
        status = join(out, p, c, array, count, axis);
    return status == KILN_OK ? kn_call_cast(out, p, c, &slot[2]) : status;
}

kiln_status kn_call_stacked(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"tup"};
    kn_value slot[1] = {{0}}, array[MOST];
    int count = 0, s = 0;
    while (!kn_call_is(c, stacks[s].name))
        ++s;
    kiln_status status = kn_call_match(slot, p, c, names, 1, 1, 1);
    if (status == KILN_OK && slot[0].kind == KN_VALUE_NODE)
        return join_rows(out, p, c, &slot[0], OF_STACKS + s, 0);
    if (status == KILN_OK)
        status = read_arrays(array, &count, p, &slot[0]);
    for (int k = 0; k < count && status == KILN_OK; ++k) {
        const kn_value x = array[k];
        kn_subscript view[3];
        memcpy(view, stacks[s].view, sizeof view);
        status = kn_call_add_slice(&array[k], p, c, &x, view, stacks[s].n);
    }
    return status == KILN_OK ? join(out, p, c, array, count, stacks[s].axis) : status;
}

kiln_status kn_call_append(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"arr", "values", "axis"};
    kn_value slot[3] = {{0}};
    int axis = 0;
    kiln_status status = kn_call_match(slot, p, c, names, 3, 3, 2);
    const bool is_flat = !kn_call_is_given(&slot[2]);
    if (status == KILN_OK && !is_flat)
        status = kn_call_axis(&axis, p, &slot[2]);
    for (int k = 0; k < 2 && is_flat && status == KILN_OK; ++k)
        status = kn_call_flatten(&slot[k], p, c);
    return status == KILN_OK ? join(out, p, c, slot, 2, axis) : status;
}

static int depth_of(const kn_parser *p, const kn_value *value)
{
    const kn_value *item;
    return value->kind == KN_VALUE_TUPLE && kn_parser_items(&item, p, value) > 0 ? 1 + depth_of(p, item) : 0;
}

/* Lists of the same depth are joined along the axis -depth; arrays have `most` axes at least. */
static kiln_status join_block(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *value,
                              int depth, int most)
{
    kn_subscript view[] = {{KN_SUBSCRIPT_FILL, most, most, 0}, rest};
    kn_value array[MOST];
    int count = 0;
    if ((depth > 0) != (value->kind == KN_VALUE_TUPLE))
        return kn_parser_refuse(p, value->at, value->length, "lists of the same depth were expected");
    if (depth == 0)
        return kn_call_add_slice(out, p, c, value, view, most > 0 ? 2 : 1);
    kiln_status status = read_arrays(array, &count, p, value);
    for (int k = 0; k < count && status == KILN_OK; ++k) {
        const kn_value x = array[k];
        status = join_block(&array[k], p, c, &x, depth - 1, most);
    }
    return status == KILN_OK ? join(out, p, c, array, count, -depth) : status;
}

/* block(arrays): lists of lists of arrays. */
kiln_status kn_call_block(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"arrays"};
    kn_value slot[1] = {{0}};
    kiln_status status = kn_call_match(slot, p, c, names, 1, 1, 1);
    if (status != KILN_OK)
        return status;
    const int depth = depth_of(p, &slot[0]);
    if (depth == 0 || depth > DEEPEST)
        return kn_parser_refuse(p, slot[0].at, slot[0].length,
                                "arrays: %d lists inside one another were given; 1 to %d were expected",
                                depth, DEEPEST);
    return join_block(out, p, c, &slot[0], depth, depth);
}

/* ---- elements at other places ---- */

static kiln_status arrange(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *x,
                           const kn_arranged *of)
{
    const int n_in = 1 + (of->what == KN_ARRANGE_INSERT); /* x: so many */
    int in[2];
    char name[32];
    kiln_kernel *kernel = NULL;
    kn_value array = x[0];
    kiln_status status = p->array(&array, p);
    snprintf(name, sizeof name, "%.*s", (int)c->name_length, c->name);
    for (int k = 0; k < n_in && status == KILN_OK; ++k)
        status = kn_parser_node(&in[k], p, k == 0 ? &array : &x[k]);
    if (status == KILN_OK)
        status = kn_arranged_find(&kernel, name, of);
    return status == KILN_OK ? kn_call_add_kernel(out, p, c, kernel, in, n_in, 1) : status;
}

/* Whole numbers from `least` on: one, or a tuple of at most `most`. */
static kiln_status read_wholes(int64_t *number, int *count, const kn_parser *p, const kn_value *value,
                               int most, int64_t least, const char *what)
{
    const kn_value *item;
    kiln_status status = KILN_OK;
    *count = kn_parser_items(&item, p, value);
    if (*count > most)
        return kn_parser_refuse(p, value->at, value->length,
                                "%s: %d numbers were given; at most %d were expected", what, *count, most);
    for (int k = 0; k < *count && status == KILN_OK; ++k) {
        status = kn_parser_whole(&number[k], p, &item[k], what);
        if (status == KILN_OK && number[k] < least)
            return kn_parser_refuse(p, item[k].at, item[k].length,
                                    "%s: %lld was given; one from %lld on was expected", what,
                                    (long long)number[k], (long long)least);
    }
    return status;
}

/* roll(a, shift, axis=None): both may be tuples; without an axis all elements are one. */
kiln_status kn_call_roll(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a", "shift", "axis"};
    kn_value slot[3] = {{0}};
    int64_t shift[KILN_MAX_NDIM], axis[KILN_MAX_NDIM] = {0};
    int n_shifts = 0, n_axes = 1;
    kn_arranged of = {.what = KN_ARRANGE_ROLL};
    kiln_status status = kn_call_match(slot, p, c, names, 3, 3, 2);
    const bool is_flat = !kn_call_is_given(&slot[2]);
    if (status == KILN_OK)
        status = read_wholes(shift, &n_shifts, p, &slot[1], KILN_MAX_NDIM, INT64_MIN, names[1]);
    if (status == KILN_OK && !is_flat)
        status = read_wholes(axis, &n_axes, p, &slot[2], KILN_MAX_NDIM, -KILN_MAX_NDIM, names[2]);
    if (status == KILN_OK && n_shifts != n_axes && n_shifts != 1 && n_axes != 1)
        return kn_parser_refuse(p, slot[1].at, slot[1].length, "shift: %d numbers were given for %d axes",
                                n_shifts, n_axes);
    of.count = n_shifts > n_axes ? n_shifts : n_axes;
    for (int k = 0; k < of.count && status == KILN_OK; ++k)
        of.axis[k] = (kn_arranged_axis){is_flat ? KN_ALL_FLAT : (int)axis[n_axes == 1 ? 0 : k],
                                        shift[n_shifts == 1 ? 0 : k], 0};
    return status == KILN_OK ? arrange(out, p, c, &slot[0], &of) : status;
}

/* fftshift(x, axes=None), and ifftshift (which). */
kiln_status kn_call_shift(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"x", "axes"};
    kn_value slot[2] = {{0}};
    int64_t axis[KILN_MAX_NDIM] = {KN_EACH_AXIS};
    kn_arranged of = {.what = KN_ARRANGE_HALF, .count = 1};
    kiln_status status = kn_call_match(slot, p, c, names, 2, 2, 1);
    if (status == KILN_OK && kn_call_is_given(&slot[1]))
        status = read_wholes(axis, &of.count, p, &slot[1], KILN_MAX_NDIM, -KILN_MAX_NDIM, names[1]);
    for (int k = 0; k < of.count; ++k)
        of.axis[k] = (kn_arranged_axis){(int)axis[k], c->which ? -1 : 1, 0};
    return status == KILN_OK ? arrange(out, p, c, &slot[0], &of) : status;
}

/* The axis of a list's places; without one all elements are one axis. */
static kiln_status read_list_axis(kn_arranged *of, kn_value *x, kn_parser *p, const kn_called *c,
                                  const kn_value *axis)
{
    of->count = 1;
    return kn_call_is_given(axis) ? kn_call_axis(&of->axis[0].axis, p, axis) : kn_call_flatten(x, p, c);
}

/* repeat(a, repeats, axis=None, total=): a number, or one for each element; of an array of numbers, whose sum
 * is read where `total` does not say it. */
kiln_status kn_call_repeat(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a", "repeats", "axis", "total"};
    kn_value slot[4] = {{0}};
    kn_arranged of = {.what = KN_ARRANGE_REPEAT};
    kiln_status status = kn_call_match(slot, p, c, names, 4, 3, 2);
    if (status == KILN_OK && kn_call_is_given(&slot[3]))
        return kn_compose(out, p, c,
                          kn_call_is_given(&slot[2])
                              ? "swapaxes(take(swapaxes(a, axis, -1), searchsorted(cumsum(repeats), "
                                "arange(total), 'right'), axis=-1, mode='clip'), axis, -1)"
                              : "take(ravel(a), searchsorted(cumsum(repeats), arange(total), 'right'), "
                                "mode='clip')",
                          names, slot, 4);
    if (status == KILN_OK && slot[1].kind == KN_VALUE_NODE && !kn_parser_is_number(p, &slot[1]))
        return kn_call_repeat_by(out, p, c, slot);
    if (status == KILN_OK)
        status = read_wholes(of.list, &of.n_list, p, &slot[1], KN_ARRANGED_LIST, 0, names[1]);
    if (status == KILN_OK && slot[1].kind == KN_VALUE_TUPLE && of.n_list != 1)
        of.what = KN_ARRANGE_COUNTS;
    of.axis[0].first = of.list[0];
    of.n_list = of.what == KN_ARRANGE_COUNTS ? of.n_list : 0;
    if (status == KILN_OK)
        status = read_list_axis(&of, &slot[0], p, c, &slot[2]);
    return status == KILN_OK ? arrange(out, p, c, &slot[0], &of) : status;
}

/* A list of truth values says what is left out, by their places. */
static bool is_mask(const kn_parser *p, const kn_value *value)
{
    const kn_value *item;
    const int count = value->kind == KN_VALUE_TUPLE ? kn_parser_items(&item, p, value) : 0;
    for (int k = 0; k < count; ++k)
        if (!kn_parser_is_number(p, &item[k]) ||
            p->graph->node[item[k].node].number.kind != KILN_ARG_WEAK_BOOL)
            return false;
    return count > 0;
}

/* The places that slice(...) has along an axis. */
static kiln_status read_slice(kn_value *obj, kn_parser *p, const kn_called *c, const kn_value *arr,
                              const kn_value *axis)
{
    static const char *const names[] = {"arr", "axis"};
    kn_subscript subscript;
    kn_value slot[] = {*arr, *axis}, all;
    kiln_status status = kn_parser_slice(&subscript, p, obj);
    if (status == KILN_OK)
        status =
            kn_compose(&all, p, c, kn_call_is_given(axis) ? "arange(arr.shape[axis])" : "arange(size(arr))",
                       names, slot, 2);
    return status == KILN_OK ? kn_call_add_slice(obj, p, c, &all, &subscript, 1) : status;
}

/* delete(arr, obj, axis=None): places that stand in the text, or an array of them, or a mask. */
kiln_status kn_call_delete(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"arr", "obj", "axis"};
    kn_value slot[3] = {{0}};
    kn_arranged of = {.what = KN_ARRANGE_DELETE};
    kiln_status status = kn_call_match(slot, p, c, names, 3, 3, 2);
    if (status == KILN_OK && is_mask(p, &slot[1]))
        status = p->array(&slot[1], p);
    if (status == KILN_OK && slot[1].kind == KN_VALUE_SLICE)
        status = read_slice(&slot[1], p, c, &slot[0], &slot[2]);
    if (status == KILN_OK && slot[1].kind == KN_VALUE_NODE && !kn_parser_is_number(p, &slot[1]))
        return kn_compose(out, p, c,
                          kn_call_is_given(&slot[2])
                              ? "compress(left_of(arr, atleast_1d(obj), axis), arr, axis=axis)"
                              : "a = ravel(arr); compress(left_of(a, atleast_1d(obj), 0), a)",
                          names, slot, 3);
    if (status == KILN_OK)
        status = read_wholes(of.list, &of.n_list, p, &slot[1], KN_ARRANGED_LIST, INT64_MIN, names[1]);
    if (status == KILN_OK)
        status = read_list_axis(&of, &slot[0], p, c, &slot[2]);
    return status == KILN_OK ? arrange(out, p, c, &slot[0], &of) : status;
}

/* Values in front of the elements that an array of places names: k: which of the inserted ones, in the
 * order of their places, stands at place t or behind it. */
static kiln_status insert_by(kn_value *out, kn_parser *p, const kn_called *c, kn_value *slot)
{
    static const char *const names[] = {"arr", "obj", "values", "axis"};
    kiln_status status = kn_call_flat_axis(&slot[0], &slot[3], p, c);
    return status == KILN_OK
               ? kn_compose(
                     out, p, c,
                     "n = arr.shape[axis]; i = transpose(atleast_1d(obj), 0); "
                     "i = take(arange(n + 1), where(i < -n, n + 1, where(i < 0, i + n, i))); "
                     "o = argsort(i, kind='stable'); p = take(i, o) + arange(len(i)); "
                     "t = arange(n + len(i)); k = searchsorted(p, t); "
                     "q = (take(p, k, mode='clip') == t) & (k < len(i)); "
                     "w = swapaxes(full_like(take(arr, i, axis=axis, mode='clip'), values), axis, -1); "
                     "swapaxes(where(q, take(w, take(o, k, mode='clip'), axis=-1, mode='clip'), "
                     "take(swapaxes(arr, axis, -1), t - k, axis=-1, mode='clip')), axis, -1)",
                     names, slot, 4)
               : status;
}

/* insert(arr, obj, values, axis=None). Values become an array, which numbers of a call are not. */
kiln_status kn_call_insert(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"arr", "obj", "values", "axis"};
    kn_value slot[4] = {{0}}, in[2];
    kn_arranged of = {.what = KN_ARRANGE_INSERT};
    kiln_status status = kn_call_match(slot, p, c, names, 4, 4, 3);
    if (status == KILN_OK && slot[1].kind == KN_VALUE_SLICE)
        status = read_slice(&slot[1], p, c, &slot[0], &slot[3]);
    if (status == KILN_OK && slot[1].kind == KN_VALUE_NODE && !kn_parser_is_number(p, &slot[1]))
        return insert_by(out, p, c, slot);
    if (status == KILN_OK)
        status = read_wholes(of.list, &of.n_list, p, &slot[1], KN_ARRANGED_LIST, INT64_MIN, names[1]);
    of.is_one = slot[1].kind != KN_VALUE_TUPLE;
    if (status == KILN_OK)
        status = read_list_axis(&of, &slot[0], p, c, &slot[3]);
    in[0] = slot[0];
    if (status == KILN_OK)
        status = kn_compose(&in[1], p, c, "where(ones(1, dtype=bool), values, False)", names, slot, 3);
    return status == KILN_OK ? arrange(out, p, c, in, &of) : status;
}

kiln_status kn_call_tile(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"A", "reps"};
    kn_value slot[2] = {{0}}, wide;
    int64_t times[KILN_MAX_NDIM];
    kn_arranged of = {.what = KN_ARRANGE_TILE};
    kiln_status status = kn_call_match(slot, p, c, names, 2, 2, 2);
    if (status == KILN_OK)
        status = read_wholes(times, &of.count, p, &slot[1], KILN_MAX_NDIM, 0, names[1]);
    for (int k = 0; k < of.count && status == KILN_OK; ++k)
        of.axis[k] = (kn_arranged_axis){k - of.count, times[k], 0};
    kn_subscript view[] = {{KN_SUBSCRIPT_FILL, of.count, of.count, 0}, rest};
    if (status == KILN_OK)
        status = kn_call_add_slice(&wide, p, c, &slot[0], view, 2);
    return status == KILN_OK ? arrange(out, p, c, &wide, &of) : status;
}

/* A number in front of an axis and one behind it: for all axes, or a pair for each. */
static kiln_status read_pairs(int64_t *pairs, int *n_pairs, const kn_parser *p, const kn_value *value,
                              int64_t least, const char *what)
{
    const kn_value *item;
    int count = kn_parser_items(&item, p, value), n = 0;
    const bool is_list = value->kind == KN_VALUE_TUPLE && count > 0 && item[0].kind == KN_VALUE_TUPLE;
    kiln_status status = KILN_OK;
    *n_pairs = is_list ? count : 1;
    if (*n_pairs > KILN_MAX_NDIM)
        return kn_parser_refuse(p, value->at, value->length, "%s: %d pairs are more than an array has axes",
                                what, count);
    for (int k = 0; k < *n_pairs && status == KILN_OK; ++k) {
        status = read_wholes(&pairs[2 * k], &n, p, is_list ? &item[k] : value, 2, least, what);
        if (status == KILN_OK && n == 0)
            return kn_parser_refuse(p, value->at, value->length, "%s: a number, or two, were expected", what);
        pairs[2 * k + 1] = pairs[2 * k + n - 1];
    }
    return status;
}

/* Words of KN_PADS, of modes by what an axis has, and 'empty', whose elements are zero here. */
static const char *const pad_modes[] = {"constant", "edge",    "wrap", "reflect", "symmetric", "linear_ramp",
                                        "maximum",  "minimum", "mean", "median",  "empty",     NULL};
enum { PAD_EMPTY = sizeof pad_modes / sizeof pad_modes[0] - 2 };

static kiln_status read_mode(int *out, const kn_parser *p, const kn_value *value)
{
    kiln_status status = kn_call_word(out, p, value, pad_modes, "mode");
    *out = *out == PAD_EMPTY ? KN_PAD_CONSTANT : *out;
    return status;
}

/* A number that stands in the text, as the body of a kernel has it. */
static kiln_status write_number(char *text, size_t size, const kn_parser *p, const kn_value *value,
                                const char *what)
{
    snprintf(text, size, "0");
    if (value->kind == KN_VALUE_ABSENT)
        return KILN_OK;
    const kiln_arg *number = kn_parser_is_number(p, value) ? &p->graph->node[value->node].number : NULL;
    if (number && (number->kind == KILN_ARG_WEAK_INT || number->kind == KILN_ARG_WEAK_BOOL))
        snprintf(text, size, "%lld", (long long)number->value.i);
    else if (number && number->kind == KILN_ARG_WEAK_FLOAT && number->value.d[0] - number->value.d[0] == 0)
        snprintf(text, size, "%.17e", number->value.d[0]);
    else
        return kn_parser_refuse(p, value->at, value->length,
                                "%s: a finite number that stands in the expression was expected", what);
    return KILN_OK;
}

enum { PADDED, PAD_WIDTH, MODE, CONSTANT_VALUES, STAT_LENGTH, END_VALUES, REFLECT_TYPE, PAD_SLOTS };
static const char *const pad_names[PAD_SLOTS] = {
    "array", "pad_width", "mode", "constant_values", "stat_length", "end_values", "reflect_type"};

/* Pads by what elements of the axis say, or by several values. */
static kiln_status read_padding(kn_padding *by_axis, kn_parser *p, kn_value *slot, const char *mode)
{
    static const char *const types[] = {"even", "odd", NULL};
    const bool is_ramp = strcmp(mode, "linear_ramp") == 0, is_constant = strcmp(mode, "constant") == 0;
    kn_value *values = &slot[is_ramp ? END_VALUES : CONSTANT_VALUES];
    int type = 0;
    by_axis->mode = mode;
    kiln_status status = read_pairs(by_axis->width, &by_axis->n_pairs, p, &slot[PAD_WIDTH], 0, "pad_width");
    if (status == KILN_OK && kn_call_is_given(&slot[STAT_LENGTH]))
        status = read_pairs(by_axis->length, &by_axis->n_lengths, p, &slot[STAT_LENGTH], 1, "stat_length");
    if (status == KILN_OK)
        status = kn_call_word(&type, p, &slot[REFLECT_TYPE], types, "reflect_type");
    by_axis->is_odd = type == 1 && (strcmp(mode, "reflect") == 0 || strcmp(mode, "symmetric") == 0);
    if (status == KILN_OK && kn_call_is_given(values) && (is_ramp || is_constant)) {
        status = p->array(values, p);
        by_axis->values = *values;
    }
    return status;
}

kiln_status kn_call_pad(kn_value *out, kn_parser *p, const kn_called *c)
{
    kn_value slot[PAD_SLOTS] = {{0}};
    kn_arranged of = {.what = KN_ARRANGE_PAD};
    kn_padding by_axis = {.n_lengths = 0};
    int mode = KN_PAD_CONSTANT;
    kiln_status status = kn_call_match(slot, p, c, pad_names, PAD_SLOTS, 3, 2);
    if (status == KILN_OK)
        status = read_mode(&mode, p, &slot[MODE]);
    const kn_value *constant = &slot[CONSTANT_VALUES];
    const bool is_number = kn_parser_is_number(p, constant) &&
                           p->graph->node[constant->node].number.kind != KILN_ARG_WEAK_COMPLEX;
    const bool is_simple =
        mode < KN_PADS && (mode != KN_PAD_CONSTANT || constant->kind == KN_VALUE_ABSENT || is_number);
    if (status == KILN_OK)
        status = read_padding(&by_axis, p, slot, is_simple && mode == KN_PAD_CONSTANT ? "" : pad_modes[mode]);
    if (status != KILN_OK || !is_simple || by_axis.is_odd)
        return status == KILN_OK ? kn_call_pad_by_axis(out, p, c, &slot[PADDED], &by_axis) : status;
    of.count = by_axis.n_pairs;
    for (int k = 0; k < of.count; ++k)
        of.axis[k] = (kn_arranged_axis){of.count > 1 ? k - of.count : KN_EACH_AXIS, by_axis.width[2 * k],
                                        by_axis.width[2 * k + 1]};
    of.pad = (kn_pad)mode;
    status = write_number(of.outside, sizeof of.outside, p, constant, pad_names[CONSTANT_VALUES]);
    return status == KILN_OK ? arrange(out, p, c, &slot[PADDED], &of) : status;
}
