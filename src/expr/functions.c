/* Calls in an expression: finds the function of a name, and matches its arguments. */
#include "expr/functions.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "expr/call.h"
#include "expr/common_arguments.h"
#include "expr/names.h"
#include "kernel/kernel.h"
#include "kernel/sort.h"

enum { SLOTS = KN_MAX_PARAMS + 3 };

static const kn_value *argument_of(const kn_parser *p, const kn_called *c, int k)
{
    return &p->argument[c->first + k];
}

kiln_status kn_call_refuse(const kn_parser *p, const kn_called *c, const char *message)
{
    return kn_parser_refuse(p, c->at, c->length, "%.*s: %s", (int)c->name_length, c->name, message);
}

kiln_status kn_call_check(const kn_parser *p, const kn_value *about, kiln_status status)
{
    char message[512];
    if (status != KILN_ERROR_INVALID && status != KILN_ERROR_TYPE)
        return status;
    snprintf(message, sizeof message, "%s", kiln_error_message());
    return kn_parser_refuse(p, about->at, about->length, "%s", message);
}

/* ---- which argument is which ---- */

/* NumPy's keywords for parameters that a definition names otherwise. */
static const struct {
    const char *function, *keyword, *name;
} keywords[] = {{"clip", "min", "low"},
                {"clip", "max", "high"},
                {"clip", "a_min", "low"},
                {"clip", "a_max", "high"},
                {"var", "correction", "ddof"},
                {"std", "correction", "ddof"},
                {"nanvar", "correction", "ddof"},
                {"nanstd", "correction", "ddof"},
                {"real", "val", "x"},
                {"imag", "val", "x"},
                {"arange", "start_or_stop", "start"}};

static int find_keyword(const kn_parser *p, const kn_called *c, const kn_value *argument,
                        const char *const *name, int n_names)
{
    char word[KN_NAME_MAX] = "";
    snprintf(word, sizeof word, "%.*s", (int)argument->key_length, p->word.text + argument->key_at);
    for (size_t k = 0; k < sizeof keywords / sizeof keywords[0]; ++k)
        if (strlen(keywords[k].function) == c->name_length &&
            memcmp(keywords[k].function, c->name, c->name_length) == 0 &&
            strcmp(keywords[k].keyword, word) == 0)
            snprintf(word, sizeof word, "%s", keywords[k].name);
    int n = 0;
    while (n < n_names && strcmp(name[n], word) != 0)
        ++n;
    /* NumPy's name of what a reduction reduces */
    return n == n_names && n > 0 && strcmp(word, "a") == 0 && strcmp(name[0], "x") == 0 ? 0 : n;
}

static kiln_status refuse_keyword(const kn_parser *p, const kn_called *c, const kn_value *argument,
                                  const char *const *name, int n_names)
{
    kn_str list = KN_STR_INIT;
    for (int n = 0; n < n_names; ++n)
        kn_str_printf(&list, "%s%s", n > 0 ? ", " : "", name[n]);
    kiln_status status =
        kn_parser_refuse(p, argument->key_at, argument->key_length,
                         "%.*s has no argument '%.*s'; there are: %s", (int)c->name_length, c->name,
                         (int)argument->key_length, p->word.text + argument->key_at, kn_str_text(&list));
    kn_str_free(&list);
    return status;
}

kiln_status kn_call_match(kn_value *slot, const kn_parser *p, const kn_called *c, const char *const *name,
                          int n_names, int n_places, int n_needed)
{
    kiln_status status = KILN_OK;
    for (int n = 0; n < n_names; ++n)
        slot[n] = (kn_value){.kind = KN_VALUE_ABSENT, .at = c->at, .length = c->length};
    for (int k = 0, place = 0; k < c->count; ++k) {
        const kn_value *argument = argument_of(p, c, k);
        int n = argument->key_length ? find_keyword(p, c, argument, name, n_names) : place++;
        if (argument->key_length && n == n_names)
            return refuse_keyword(p, c, argument, name, n_names);
        if (!argument->key_length && n >= n_places)
            return kn_parser_refuse(p, argument->at, argument->length,
                                    "%.*s takes %d argument%s without names; this is one more",
                                    (int)c->name_length, c->name, n_places, n_places == 1 ? "" : "s");
        if (slot[n].kind != KN_VALUE_ABSENT)
            return kn_parser_refuse(p, argument->at, argument->length, "%.*s: '%s' is given twice",
                                    (int)c->name_length, c->name, name[n]);
        slot[n] = *argument;
    }
    for (int n = 0; n < n_needed && status == KILN_OK; ++n)
        status = kn_call_need(p, c, &slot[n], name[n]);
    return status;
}

kiln_status kn_call_need(const kn_parser *p, const kn_called *c, const kn_value *slot, const char *name)
{
    if (slot->kind != KN_VALUE_ABSENT)
        return KILN_OK;
    return kn_parser_refuse(p, c->at, c->length, "%.*s: the argument '%s' is missing", (int)c->name_length,
                            c->name, name);
}

/* True if the value is this word, in quotes. */
static bool is_word(const kn_value *value, const char *word)
{
    return value->kind == KN_VALUE_WORD && value->length == strlen(word) + 2 &&
           memcmp(value->word, word, strlen(word)) == 0;
}

kiln_status kn_call_word(int *out, const kn_parser *p, const kn_value *value, const char *const *word,
                         const char *what)
{
    kn_str list = KN_STR_INIT;
    if (value->kind == KN_VALUE_ABSENT)
        return KILN_OK;
    for (int k = 0; word[k]; ++k) {
        if (is_word(value, word[k])) {
            *out = k;
            kn_str_free(&list);
            return KILN_OK;
        }
        kn_str_printf(&list, "%s'%s'", k == 0 ? "" : word[k + 1] ? ", " : " or ", word[k]);
    }
    kiln_status status =
        kn_parser_refuse(p, value->at, value->length, "%s: %s was expected", what, kn_str_text(&list));
    kn_str_free(&list);
    return status;
}

/* ---- axes ---- */

kiln_status kn_call_axis(int *out, const kn_parser *p, const kn_value *value)
{
    int64_t axis = 0;
    kiln_status status = kn_parser_whole(&axis, p, value, "axis");
    if (status == KILN_OK && (axis < -KILN_MAX_NDIM || axis >= KILN_MAX_NDIM))
        return kn_parser_refuse(p, value->at, value->length, "axis: %lld was given; %d to %d were expected",
                                (long long)axis, -KILN_MAX_NDIM, KILN_MAX_NDIM - 1);
    *out = (int)axis;
    return status;
}

static kiln_status read_axis_list(kn_node *node, const kn_parser *p, const kn_value *item, int count)
{
    kiln_status status = KILN_OK;
    if (count > KILN_MAX_NDIM)
        return kn_parser_refuse(p, item->at, item->length, "%d axes are more than an array has", count);
    for (int k = 0; k < count && status == KILN_OK; ++k)
        status = kn_call_axis(&node->axis[k], p, &item[k]);
    node->n_axes = count;
    return status;
}

kiln_status kn_call_reduced(kn_node *node, const kn_parser *p, const kn_value *axis, const kn_value *keepdims)
{
    const kn_value *item;
    int64_t keeps = 0;
    kiln_status status = KILN_OK;
    if (kn_call_is_given(axis)) {
        int count = kn_parser_items(&item, p, axis);
        node->has_axes = true;
        status = read_axis_list(node, p, item, count);
    }
    if (status == KILN_OK && keepdims->kind != KN_VALUE_ABSENT)
        status = kn_parser_whole(&keeps, p, keepdims, "keepdims");
    node->keepdims = keeps != 0;
    return status;
}

/* ---- casts ---- */

kiln_status kn_call_cast_to(kn_value *value, kn_parser *p, const kn_called *c, kiln_dtype dtype,
                            kn_casting casting, bool is_python)
{
    int in = 0;
    const kn_node node = {.kind = KN_NODE_CAST,
                          .n_in = 1,
                          .in = &in,
                          .dtype = dtype,
                          .casting = casting,
                          .is_operator = is_python,
                          .at = c->at,
                          .length = c->length};
    kiln_status status = kn_parser_node(&in, p, value);
    return status == KILN_OK ? kn_parser_add(value, p, &node) : status;
}

kiln_status kn_call_cast_like(kn_value *value, kn_parser *p, const kn_called *c, const kn_value *like)
{
    int in[3] = {0, 0, 0};
    const kn_node node = {.kind = KN_NODE_LIKE,
                          .n_in = 3,
                          .in = in,
                          .index = 2,
                          .casting = KN_CASTING_SAME_KIND,
                          .at = c->at,
                          .length = c->length};
    kiln_status status = kn_parser_node(&in[0], p, value);
    if (status == KILN_OK)
        status = kn_parser_node(&in[2], p, like);
    in[1] = in[0]; /* the shape stays */
    return status == KILN_OK ? kn_parser_add(value, p, &node) : status;
}

static kiln_status check_dtype(const kn_parser *p, const kn_value *value)
{
    return value->kind == KN_VALUE_DTYPE
               ? KILN_OK
               : kn_parser_refuse(p, value->at, value->length, "a dtype was expected, such as float32");
}

kiln_status kn_call_cast(kn_value *value, kn_parser *p, const kn_called *c, const kn_value *dtype)
{
    if (!kn_call_is_given(dtype))
        return KILN_OK;
    kiln_status status = check_dtype(p, dtype);
    return status == KILN_OK ? kn_call_cast_to(value, p, c, dtype->dtype, KN_CASTING_UNSAFE, false) : status;
}

/* Adds all outputs of a call: one value, or a tuple. */
kiln_status kn_call_add_outputs(kn_value *out, kn_parser *p, kn_node *node, int n_out)
{
    kn_value one;
    kiln_status status = n_out == 1 ? kn_parser_add(out, p, node) : KILN_OK;
    if (n_out == 1)
        return status;
    kn_value tuple = {
        .kind = KN_VALUE_TUPLE, .first = p->n_items, .count = n_out, .at = node->at, .length = node->length};
    for (int j = 0; j < n_out && status == KILN_OK; ++j) {
        node->index = j;
        status = kn_parser_add(&one, p, node);
        if (status == KILN_OK)
            status = kn_parser_push_item(p, &one);
    }
    *out = tuple;
    return status;
}

/* ---- axes moved, put in and left out ---- */

/* Reads the arguments behind the first: x.transpose(1, 0), x.transpose((1, 0)), transpose(x, axes=(1, 0)). */
static kiln_status read_rest(const kn_value **item, int *count, kn_parser *p, const kn_called *c,
                             const char *name)
{
    *item = argument_of(p, c, 1);
    *count = c->count - 1;
    for (int k = 0; k < c->count; ++k) {
        static const char *const first = "a";
        const kn_value *argument = argument_of(p, c, k);
        if (k == 0 && argument->key_length && find_keyword(p, c, argument, &first, 1) == 0)
            continue;
        if (argument->key_length && (k != 1 || c->count > 2 || find_keyword(p, c, argument, &name, 1) != 0))
            return refuse_keyword(p, c, argument, &name, 1);
    }
    if (c->count == 2 && (*item)->kind == KN_VALUE_TUPLE)
        *count = kn_parser_items(item, p, *item);
    return KILN_OK;
}

static kiln_status start_view(kn_node *node, int *in, kn_node_kind kind, kn_parser *p, const kn_called *c)
{
    *node = (kn_node){.kind = kind, .n_in = 1, .in = in, .at = c->at, .length = c->length};
    return c->count > 0 ? kn_parser_node(in, p, argument_of(p, c, 0))
                        : kn_call_refuse(p, c, "an array was expected");
}

static kiln_status call_transpose(kn_value *out, kn_parser *p, const kn_called *c)
{
    kn_node node;
    int in, count = 0;
    const kn_value *item = NULL;
    kiln_status status = start_view(&node, &in, KN_NODE_TRANSPOSE, p, c);
    if (status == KILN_OK)
        status = read_rest(&item, &count, p, c, "axes");
    if (status == KILN_OK && count == 1 && item->kind == KN_VALUE_NONE)
        count = 0;
    if (status == KILN_OK)
        status = read_axis_list(&node, p, item, count);
    return status == KILN_OK ? kn_parser_add(out, p, &node) : status;
}

static kiln_status read_extent(kn_node *node, const kn_parser *p, const kn_value *item)
{
    int64_t extent = KN_EXTENT_READ;
    kiln_status status = KILN_OK;
    if (item->kind == KN_VALUE_NODE && !kn_parser_is_number(p, item)) {
        node->in[node->n_in++] = item->node;
    } else {
        status = kn_parser_whole(&extent, p, item, "shape");
        if (status == KILN_OK && extent < -1)
            return kn_parser_refuse(p, item->at, item->length,
                                    "shape: an extent of %lld was given; one from 0 on, or -1, was expected",
                                    (long long)extent);
    }
    node->extent[node->n_axes++] = extent;
    return status;
}

static kiln_status add_reshaped(kn_value *out, kn_parser *p, kn_node node, const kn_value *item, int count)
{
    int64_t extent[KILN_MAX_NDIM];
    int in[KILN_MAX_NDIM + 1] = {node.in[0]}, n_open = 0;
    kiln_status status = KILN_OK;
    node.in = in;
    node.extent = extent;
    if (count > KILN_MAX_NDIM)
        return kn_parser_refuse(p, item->at, item->length, "%d axes are more than an array may have", count);
    for (int k = 0; k < count && status == KILN_OK; ++k)
        status = read_extent(&node, p, &item[k]);
    for (int k = 0; k < node.n_axes; ++k)
        n_open += extent[k] == -1;
    if (status == KILN_OK && n_open > 1)
        return kn_parser_refuse(p, node.at, node.length, "shape: one extent at most may be -1");
    return status == KILN_OK ? kn_parser_add(out, p, &node) : status;
}

/* True in Fortran's order: of the axes from the last to the first. */
static kiln_status read_order(bool *is_fortran, const kn_parser *p, const kn_called *c, const kn_value *given)
{
    static const char *const orders[] = {"C", "F", "A", "K", NULL};
    static const kn_result_order order_of[] = {KN_RESULT_C, KN_RESULT_FORTRAN, KN_RESULT_ANY, KN_RESULT_KEEP};
    kn_result_order order = c->common ? c->common->order : KN_RESULT_USUAL;
    if (given) {
        int word = 0;
        kiln_status status = kn_call_word(&word, p, given, orders, "order");
        if (status != KILN_OK)
            return status;
        order = order_of[word];
    }
    *is_fortran = order == KN_RESULT_FORTRAN;
    return order <= KN_RESULT_FORTRAN
               ? KILN_OK
               : kn_call_refuse(p, c,
                                "order: 'C' or 'F' was expected, since a value has no layout of its own");
}

static kiln_status reverse_axes(kn_value *value, kn_parser *p, const kn_called *c)
{
    int in = 0;
    const kn_node node = {.kind = KN_NODE_TRANSPOSE, .n_in = 1, .in = &in, .at = c->at, .length = c->length};
    kiln_status status = kn_parser_node(&in, p, value);
    return status == KILN_OK ? kn_parser_add(value, p, &node) : status;
}

static kiln_status call_reshape(kn_value *out, kn_parser *p, const kn_called *c)
{
    kn_node node;
    int in, count = 0;
    bool is_fortran;
    const kn_value *item = NULL;
    kn_value reversed[KILN_MAX_NDIM], x;
    kiln_status status = start_view(&node, &in, KN_NODE_RESHAPE, p, c);
    if (status == KILN_OK && c->count < 2)
        return kn_call_refuse(p, c, "a shape was expected");
    if (status == KILN_OK)
        status = read_order(&is_fortran, p, c, NULL);
    if (status == KILN_OK)
        status = read_rest(&item, &count, p, c, "shape");
    if (status != KILN_OK || !is_fortran || count > KILN_MAX_NDIM)
        return status == KILN_OK ? add_reshaped(out, p, node, item, count) : status;
    for (int k = 0; k < count; ++k)
        reversed[k] = item[count - 1 - k];
    x = (kn_value){.kind = KN_VALUE_NODE, .node = in, .at = c->at, .length = c->length};
    status = reverse_axes(&x, p, c);
    node.in = &x.node;
    if (status == KILN_OK)
        status = add_reshaped(out, p, node, reversed, count);
    return status == KILN_OK ? reverse_axes(out, p, c) : status;
}

static kiln_status call_ravel(kn_value *out, kn_parser *p, const kn_called *c)
{
    int64_t extent[1] = {-1};
    kn_node node;
    int in;
    bool is_fortran = false;
    kiln_status status = start_view(&node, &in, KN_NODE_RESHAPE, p, c);
    if (status == KILN_OK && c->count > 2)
        return kn_call_refuse(p, c, "one argument, and an order, were expected");
    if (status == KILN_OK)
        status = read_order(&is_fortran, p, c, c->count > 1 ? argument_of(p, c, 1) : NULL);
    kn_value x = {.kind = KN_VALUE_NODE, .node = in, .at = c->at, .length = c->length};
    if (status == KILN_OK && is_fortran)
        status = reverse_axes(&x, p, c);
    node.in = &x.node;
    node.n_axes = 1;
    node.extent = extent;
    return status == KILN_OK ? kn_parser_add(out, p, &node) : status;
}

/* Adds a view with subscript `kind` at these axes of the result, and whole axes elsewhere. */
static kiln_status add_steps(kn_value *out, kn_parser *p, kn_node node, const kn_node *axes,
                             kn_subscript_kind kind)
{
    kn_subscript subscript[2 * KILN_MAX_NDIM + 1];
    const kn_subscript whole = {KN_SUBSCRIPT_SLICE, KILN_SLICE_NONE, KILN_SLICE_NONE, KILN_SLICE_NONE};
    uint64_t from_front = 0, from_end = 0;
    int n = 0;
    for (int k = 0; k < axes->n_axes; ++k) {
        uint64_t *bits = axes->axis[k] < 0 ? &from_end : &from_front;
        uint64_t bit = UINT64_C(1) << (axes->axis[k] < 0 ? -1 - axes->axis[k] : axes->axis[k]);
        if (*bits & bit)
            return kn_parser_refuse(p, node.at, node.length, "axis: %d is given twice", axes->axis[k]);
        *bits |= bit;
    }
    for (int a = 0; a < KILN_MAX_NDIM && from_front >> a; ++a)
        subscript[n++] = from_front >> a & 1 ? (kn_subscript){.kind = kind} : whole;
    subscript[n++] = (kn_subscript){.kind = KN_SUBSCRIPT_REST};
    for (int a = KILN_MAX_NDIM; a-- > 0;)
        if (from_end >> a)
            subscript[n++] = from_end >> a & 1 ? (kn_subscript){.kind = kind} : whole;
    node.subscript = subscript;
    node.n_subscripts = n;
    return kn_parser_add(out, p, &node);
}

/* expand_dims(a, axis), squeeze(a, axis=None) */
static kiln_status call_with_axis(kn_value *out, kn_parser *p, const kn_called *c)
{
    const kn_subscript_kind kind = (kn_subscript_kind)c->which;
    static const char *const name[] = {"a", "axis"};
    kn_value slot[2] = {{0}};
    kn_node node, axes = {.n_axes = 0};
    int in;
    const kn_value *item;
    kiln_status status = start_view(&node, &in, KN_NODE_SLICE, p, c);
    if (status == KILN_OK)
        status = kn_call_match(slot, p, c, name, 2, 2, 0);
    bool is_all = status == KILN_OK && !kn_call_is_given(&slot[1]);
    if (is_all && kind == KN_SUBSCRIPT_ONE) {
        node.subscript = &(kn_subscript){.kind = KN_SUBSCRIPT_ONES};
        node.n_subscripts = 1;
        return kn_parser_add(out, p, &node);
    }
    if (status == KILN_OK)
        status = kn_call_need(p, c, &slot[1], name[1]);
    if (status != KILN_OK)
        return status;
    int count = kn_parser_items(&item, p, &slot[1]);
    status = read_axis_list(&axes, p, item, count);
    return status == KILN_OK ? add_steps(out, p, node, &axes, kind) : status;
}

/* ---- dtypes ---- */

static kiln_status call_astype(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const name[] = {"x", "dtype"};
    kn_value slot[2] = {{0}};
    kiln_status status = kn_call_match(slot, p, c, name, 2, 2, 2);
    if (status == KILN_OK)
        status = check_dtype(p, &slot[1]);
    *out = slot[0];
    return status == KILN_OK ? kn_call_cast_to(out, p, c, slot[1].dtype, KN_CASTING_UNSAFE, false) : status;
}

kiln_status kn_call_dtype(kn_value *out, kn_parser *p, const kn_called *c, kiln_dtype dtype, bool is_python)
{
    static const char *const name[] = {"x"};
    kn_value slot[1] = {{0}};
    kiln_status status = kn_call_match(slot, p, c, name, 1, 1, 1);
    *out = slot[0];
    return status == KILN_OK ? kn_call_cast_to(out, p, c, dtype, KN_CASTING_UNSAFE, is_python) : status;
}

/* of_dtype(x, y): x flat, in the dtype of y. */
kiln_status kn_call_of_dtype(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const name[] = {"x", "y"};
    kn_value slot[2] = {{0}};
    kiln_status status = kn_call_match(slot, p, c, name, 2, 2, 2);
    if (status == KILN_OK)
        status = kn_call_flatten(&slot[0], p, c);
    *out = slot[0];
    return status == KILN_OK ? kn_call_cast_like(out, p, c, &slot[1]) : status;
}

/* ---- other shapes for one value ---- */

/* Broadcasts to the shape of another value; in: both. */
static kiln_status add_like(kn_value *out, kn_parser *p, const kn_called *c, int *in, int dtype_of,
                            kiln_dtype dtype)
{
    const kn_node node = {.kind = KN_NODE_LIKE,
                          .n_in = 2,
                          .in = in,
                          .index = dtype_of,
                          .dtype = dtype,
                          .at = c->at,
                          .length = c->length};
    return kn_parser_add(out, p, &node);
}

static kiln_status add_broadcast(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *value,
                                 const kn_value *shape)
{
    int in[KILN_MAX_NDIM + 1];
    int64_t extent[KILN_MAX_NDIM];
    kn_node node = {
        .kind = KN_NODE_BROADCAST, .n_in = 1, .in = in, .extent = extent, .at = c->at, .length = c->length};
    const kn_value *item;
    kiln_status status = kn_parser_node(in, p, value);
    if (status == KILN_OK && shape->kind == KN_VALUE_SHAPE) {
        in[1] = shape->node;
        return add_like(out, p, c, in, 0, KILN_DTYPE_NONE);
    }
    int count = kn_parser_items(&item, p, shape);
    if (status == KILN_OK && count > KILN_MAX_NDIM)
        return kn_parser_refuse(p, shape->at, shape->length, "%d axes are more than an array may have",
                                count);
    for (int k = 0; k < count && status == KILN_OK; ++k)
        status = read_extent(&node, p, &item[k]);
    return status == KILN_OK ? kn_parser_add(out, p, &node) : status;
}

static kiln_status call_broadcast_to(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const name[] = {"array", "shape"};
    kn_value slot[2] = {{0}};
    kiln_status status = kn_call_match(slot, p, c, name, 2, 2, 2);
    return status == KILN_OK ? add_broadcast(out, p, c, &slot[0], &slot[1]) : status;
}

enum { FILL_VALUE = -1 /* the value of all elements is an argument */ };

/* A value in the dtype of `a`, or in another one, and in the shape of `a` or, if one is given, in that. */
static kiln_status fill_like(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *filled,
                             const kn_value *a, const kn_value *shape, kiln_dtype dtype)
{
    int in[3] = {0, 0, 0};
    kn_value zero, shaped;
    kn_node node = {.kind = KN_NODE_LIKE,
                    .n_in = 3,
                    .in = in,
                    .index = 2,
                    .dtype = dtype,
                    .at = c->at,
                    .length = c->length};
    kiln_status status = kn_parser_node(&in[0], p, filled);
    if (status == KILN_OK)
        status = kn_parser_node(&in[1], p, a);
    if (status != KILN_OK || !kn_call_is_given(shape))
        return status == KILN_OK ? add_like(out, p, c, in, 1, dtype) : status;
    in[2] = in[1];
    status = kn_parser_number(&zero, p, kiln_arg_int(0), c->at, c->length);
    if (status == KILN_OK)
        status = add_broadcast(&shaped, p, c, &zero, shape);
    if (status == KILN_OK)
        status = kn_parser_node(&in[1], p, &shaped);
    return status == KILN_OK ? kn_parser_add(out, p, &node) : status;
}

/* zeros_like(a, dtype=, shape=), full_like(a, fill_value, dtype=, shape=); zeros(shape, dtype=), full(shape,
 * fill_value, dtype=). */
static kiln_status fill(kn_value *out, kn_parser *p, const kn_called *c, bool is_like)
{
    const int value = c->which, n_names = value < 0 ? 3 : 2;
    const char *first = kn_call_is(c, "empty_like") ? "prototype" : "a";
    const char *name[] = {is_like ? first : "shape", value < 0 ? "fill_value" : "dtype", "dtype", "shape"};
    name[n_names] = "shape";
    kn_value slot[4] = {{0}};
    kiln_status status = kn_call_match(slot, p, c, name, n_names + is_like, n_names, n_names - 1);
    kn_value *dtype = &slot[n_names - 1], *filled = &slot[1], number;
    if (status == KILN_OK && value >= 0) {
        status = kn_parser_number(&number, p, kiln_arg_int(value), c->at, c->length);
        filled = &number;
    }
    bool is_given = kn_call_is_given(dtype);
    if (status == KILN_OK && is_given)
        status = check_dtype(p, dtype);
    if (status == KILN_OK && is_like)
        return fill_like(out, p, c, filled, &slot[0], &slot[n_names],
                         is_given ? dtype->dtype : KILN_DTYPE_NONE);
    const kn_value usual = {.kind = value < 0 ? KN_VALUE_ABSENT : KN_VALUE_DTYPE, .dtype = KILN_FLOAT64};
    if (status == KILN_OK)
        status = kn_call_cast(filled, p, c, is_given ? dtype : &usual);
    return status == KILN_OK ? add_broadcast(out, p, c, filled, &slot[0]) : status;
}

static kiln_status call_filled(kn_value *out, kn_parser *p, const kn_called *c)
{
    return fill(out, p, c, false);
}

static kiln_status call_filled_like(kn_value *out, kn_parser *p, const kn_called *c)
{
    return fill(out, p, c, true);
}

/* ---- extents and ranges ---- */

kiln_status kn_parser_extent(kn_value *out, kn_parser *p, int node, int64_t axis, size_t at, size_t length)
{
    kn_node extent = {
        .kind = KN_NODE_EXTENT, .n_in = 1, .in = &node, .n_axes = 1, .at = at, .length = length};
    if (axis < -KILN_MAX_NDIM || axis >= KILN_MAX_NDIM)
        return kn_parser_refuse(p, at, length, "shape[%lld]: no array has so many axes", (long long)axis);
    extent.axis[0] = (int)axis;
    return kn_parser_add(out, p, &extent);
}

/* size(a, axis=None), ndim(a) */
static kiln_status call_measure(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const name[] = {"a", "axis"};
    const kn_node_kind kind = (kn_node_kind)c->which;
    const int count = kind == KN_NODE_EXTENT ? 2 : 1;
    kn_value slot[2] = {{0}};
    int in;
    int64_t axis;
    kn_node node = {.kind = kind, .n_in = 1, .in = &in, .at = c->at, .length = c->length};
    kiln_status status = kn_call_match(slot, p, c, name, count, count, 1);
    if (status == KILN_OK)
        status = kn_parser_node(&in, p, &slot[0]);
    if (status != KILN_OK || !kn_call_is_given(&slot[1]))
        return status == KILN_OK ? kn_parser_add(out, p, &node) : status;
    status = kn_parser_whole(&axis, p, &slot[1], name[1]);
    return status == KILN_OK ? kn_parser_extent(out, p, in, axis, c->at, c->length) : status;
}

static kiln_status call_shape(kn_value *out, kn_parser *p, const kn_called *c)
{
    *out = (kn_value){.kind = KN_VALUE_SHAPE, .at = c->at, .length = c->length};
    if (c->count != 1)
        return kn_call_refuse(p, c, "one argument was expected");
    return kn_parser_node(&out->node, p, argument_of(p, c, 0));
}

static kiln_status call_len(kn_value *out, kn_parser *p, const kn_called *c)
{
    kn_value shape;
    kiln_status status = call_shape(&shape, p, c);
    return status == KILN_OK ? kn_parser_extent(out, p, shape.node, 0, c->at, c->length) : status;
}

/* arange(stop), arange(start, stop), arange(start, stop, step), dtype= */
static kiln_status call_arange(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const name[] = {"start", "stop", "step", "dtype"};
    kn_value slot[4] = {{0}};
    int in[3];
    kn_node node = {.kind = KN_NODE_ARANGE, .n_in = 3, .in = in, .at = c->at, .length = c->length};
    kiln_status status = kn_call_match(slot, p, c, name, 4, 4, 0);
    if (status == KILN_OK && slot[1].kind == KN_VALUE_ABSENT) {
        slot[1] = slot[0];
        slot[0].kind = KN_VALUE_ABSENT;
    }
    if (status == KILN_OK)
        status = kn_call_need(p, c, &slot[1], name[1]);
    for (int k = 0; k < 3 && status == KILN_OK; ++k) {
        if (slot[k].kind == KN_VALUE_ABSENT || (k == 2 && slot[k].kind == KN_VALUE_NONE))
            status = kn_parser_number(&slot[k], p, kiln_arg_int(k == 2), c->at, c->length);
        if (status == KILN_OK)
            status = kn_parser_node(&in[k], p, &slot[k]);
    }
    if (status == KILN_OK)
        status = kn_parser_add(out, p, &node);
    return status == KILN_OK ? kn_call_cast(out, p, c, &slot[3]) : status;
}

kiln_status kn_call_counted(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const name[] = {"n"};
    const kiln_arg bounds[] = {kiln_arg_int(0), kiln_arg_int(0), kiln_arg_int(1)};
    kn_value slot[1] = {{0}}, number;
    int in[3] = {0};
    const kn_node node = {.kind = KN_NODE_ARANGE,
                          .n_in = 3,
                          .in = in,
                          .index = KN_RANGE_COUNTED,
                          .at = c->at,
                          .length = c->length};
    kiln_status status = kn_call_match(slot, p, c, name, 1, 1, 1);
    for (int k = 0; k < 3 && status == KILN_OK; ++k) {
        status = kn_parser_number(&number, p, bounds[k], c->at, c->length);
        if (status == KILN_OK)
            status = kn_parser_node(&in[k], p, k == 1 ? &slot[0] : &number);
    }
    return status == KILN_OK ? kn_parser_add(out, p, &node) : status;
}

/* clip(x, low, high), where one bound may be None. */
static kiln_status call_clip(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const name[] = {"x", "low", "high"};
    kn_value slot[3] = {{0}};
    int in[3], n = 0;
    kiln_status status = kn_call_match(slot, p, c, name, 3, 3, 1);
    bool has[3] = {true};
    for (int k = 0; k < 3 && status == KILN_OK; ++k) {
        has[k] = kn_call_is_given(&slot[k]);
        if (has[k])
            status = kn_parser_node(&in[n++], p, &slot[k]);
    }
    if (status == KILN_OK && !has[0])
        return kn_parser_node(&in[0], p, &slot[0]);
    if (status == KILN_OK && n == 1) { /* nothing bounds it */
        *out = (kn_value){.kind = KN_VALUE_NODE, .node = in[0], .at = c->at, .length = c->length};
        return KILN_OK;
    }
    char operation[16];
    snprintf(operation, sizeof operation, "%s", n == 3 ? "clip" : has[1] ? "maximum" : "minimum");
    kn_node node = {
        .kind = KN_NODE_CALL, .n_in = n, .in = in, .name = operation, .at = c->at, .length = c->length};
    kn_common_set(&node, c);
    return status == KILN_OK ? kn_parser_add(out, p, &node) : status;
}

/* ---- kernels of kiln's own ---- */

kiln_status kn_call_add_kernel(kn_value *out, kn_parser *p, const kn_called *c, kiln_kernel *kernel,
                               const int *in, int n_in, int n_out)
{
    int read[KN_MAX_PARAMS];
    kn_node node = {
        .kind = KN_NODE_KERNEL, .n_in = n_in, .in = read, .kernel = kernel, .at = c->at, .length = c->length};
    kiln_status status = KILN_OK;
    for (int k = 0; k < n_in && status == KILN_OK; ++k) {
        kn_value value = {.kind = KN_VALUE_NODE, .node = in[k], .at = c->at, .length = c->length};
        const kn_program *program = kernel->program;
        if (program->param[k].is_raw && program->indexed >> k & 1)
            status = p->array(&value, p);
        read[k] = value.node;
    }
    if (status == KILN_OK)
        status = kn_call_add_outputs(out, p, &node, n_out);
    kiln_kernel_free(kernel);
    return status;
}

/* ---- parts ---- */

kiln_status kn_call_flatten(kn_value *x, kn_parser *p, const kn_called *c)
{
    int64_t all = -1;
    int in;
    const kn_node node = {.kind = KN_NODE_RESHAPE,
                          .n_in = 1,
                          .in = &in,
                          .n_axes = 1,
                          .extent = &all,
                          .at = c->at,
                          .length = c->length};
    kiln_status status = kn_parser_node(&in, p, x);
    return status == KILN_OK ? kn_parser_add(x, p, &node) : status;
}

kiln_status kn_call_flat_axis(kn_value *x, kn_value *axis, kn_parser *p, const kn_called *c)
{
    if (kn_call_is_given(axis))
        return KILN_OK;
    kiln_status status = kn_call_flatten(x, p, c);
    return status == KILN_OK ? kn_parser_number(axis, p, kiln_arg_int(0), c->at, c->length) : status;
}

kiln_status kn_call_add_slice(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *x,
                              kn_subscript *subscript, int count)
{
    int in;
    const kn_node node = {.kind = KN_NODE_SLICE,
                          .n_in = 1,
                          .in = &in,
                          .subscript = subscript,
                          .n_subscripts = count,
                          .at = c->at,
                          .length = c->length};
    kiln_status status = kn_parser_node(&in, p, x);
    return status == KILN_OK ? kn_parser_add(out, p, &node) : status;
}

kiln_status kn_call_add_part(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *x,
                             kn_subscript own, int axis)
{
    const kn_subscript whole = {KN_SUBSCRIPT_SLICE, KILN_SLICE_NONE, KILN_SLICE_NONE, KILN_SLICE_NONE},
                       rest = {.kind = KN_SUBSCRIPT_REST};
    kn_subscript subscript[KILN_MAX_NDIM + 1];
    int count = 0;
    if (axis < 0)
        subscript[count++] = rest;
    for (int a = 0; a < axis; ++a)
        subscript[count++] = whole;
    subscript[count++] = own;
    for (int a = axis; a < -1; ++a)
        subscript[count++] = whole;
    return kn_call_add_slice(out, p, c, x, subscript, count);
}

/* ---- which function ---- */

static const struct {
    const char *name;
    kiln_status (*call)(kn_value *out, kn_parser *p, const kn_called *c);
    int which; /* of the functions that `call` computes */
} functions[] = {{"arange", call_arange, 0},
                 {"astype", call_astype, 0},
                 {"broadcast_to", call_broadcast_to, 0},
                 {"clip", call_clip, 0},
                 {"full", call_filled, FILL_VALUE},
                 {"full_like", call_filled_like, FILL_VALUE},
                 {"ones", call_filled, 1},
                 {"ones_like", call_filled_like, 1},
                 {"zeros", call_filled, 0},
                 {"zeros_like", call_filled_like, 0},
                 {"len", call_len, 0},
                 {"empty", call_filled, 0},
                 {"empty_like", call_filled_like, 0},
                 {"expand_dims", call_with_axis, KN_SUBSCRIPT_NEW},
                 {"ndim", call_measure, KN_NODE_NDIM},
                 {"flatten", call_ravel, 0},
                 {"permute_dims", call_transpose, 0},
                 {"ravel", call_ravel, 0},
                 {"reshape", call_reshape, 0},
                 {"shape", call_shape, 0},
                 {"size", call_measure, KN_NODE_EXTENT},
                 {"squeeze", call_with_axis, KN_SUBSCRIPT_ONE},
                 {"transpose", call_transpose, 0}};

const char *kn_call_own_name(int k)
{
    return (size_t)k < sizeof functions / sizeof functions[0] ? functions[k].name : NULL;
}

bool kn_call_own(kiln_status *status, kn_value *out, kn_parser *p, const kn_called *c)
{
    kn_called called = *c;
    for (size_t f = 0; f < sizeof functions / sizeof functions[0]; ++f)
        if (kn_call_is(c, functions[f].name)) {
            called.which = functions[f].which;
            *status = functions[f].call(out, p, &called);
            return true;
        }
    return false;
}
