/* Lists of numbers in an expression, as arrays. */
#include "expr/lists.h"

#include "base/error.h"
#include "base/str.h"
#include "expr/call.h"
#include "expr/composed.h"
#include "kernel/kernel.h"

enum { MOST_LISTED = 4096, DEEPEST = 8 };

typedef struct listing {
    kn_parser *p;
    const kn_value *list;
    kn_str text; /* the numbers, as C++ has them */
    bool has_complexes, has_floats, has_wholes, has_large, has_negative, has_bools;
    bool is_value; /* an array of values: of nothing it has NumPy's dtype; indices are whole numbers */
    int ndim, count;
    int64_t extent[DEEPEST];
} listing;

static kiln_status refuse_list(const listing *l, const char *message)
{
    return kn_parser_refuse(l->p, l->list->at, l->list->length, "a list: %s", message);
}

/* A float as C++ has it. */
static void put_float(kn_str *text, double x)
{
    if (x - x == 0)
        kn_str_printf(text, "%.17e", x);
    else
        kn_str_append(text, x != x ? "NAN" : x > 0 ? "INFINITY" : "-INFINITY");
}

static kiln_status list_number(listing *l, const kn_value *value)
{
    const kiln_arg *number = &l->p->graph->node[value->node].number;
    if (++l->count > MOST_LISTED)
        return refuse_list(l, "it has more than 4,096 numbers; an input was expected");
    switch ((kiln_arg_kind)number->kind) {
    case KILN_ARG_WEAK_COMPLEX:
        l->has_complexes = true;
        kn_str_append(&l->text, "complex<double>(");
        put_float(&l->text, number->value.d[0]);
        kn_str_append(&l->text, ", ");
        put_float(&l->text, number->value.d[1]);
        kn_str_append(&l->text, "), ");
        return KILN_OK;
    case KILN_ARG_WEAK_FLOAT:
        l->has_floats = true;
        put_float(&l->text, number->value.d[0]);
        kn_str_append(&l->text, ", ");
        return KILN_OK;
    case KILN_ARG_WEAK_UINT:
        l->has_large = l->has_large || number->value.u > INT64_MAX;
        l->has_wholes = true;
        kn_str_printf(&l->text, "%lluull, ", (unsigned long long)number->value.u);
        return KILN_OK;
    default:
        l->has_bools = l->has_bools || number->kind == KILN_ARG_WEAK_BOOL;
        l->has_wholes = l->has_wholes || number->kind != KILN_ARG_WEAK_BOOL;
        l->has_negative = l->has_negative || number->value.i < 0;
        if (number->value.i == INT64_MIN) /* C++ has no literal of it */
            kn_str_append(&l->text, "-9223372036854775807ll - 1, ");
        else
            kn_str_printf(&l->text, "%lldll, ", (long long)number->value.i);
        return KILN_OK;
    }
}

/* NumPy's dtype of these numbers. */
static const char *dtype_of(const listing *l)
{
    if (l->count == 0)
        return l->is_value ? "float64" : "int64";
    return l->has_complexes                                     ? "complex128"
           : l->has_floats || (l->has_large && l->has_negative) ? "float64"
           : l->has_large                                       ? "uint64"
           : l->has_wholes                                      ? "int64"
                                                                : "bool";
}

static kiln_status list_items(listing *l, const kn_value *list, int depth)
{
    const kn_value *item;
    const int count = kn_parser_items(&item, l->p, list);
    kiln_status status = KILN_OK;
    if (depth == DEEPEST)
        return refuse_list(l, "at most 8 lists inside one another were expected");
    if (l->ndim > depth ? l->extent[depth] != count || l->ndim == -1 : l->count > 0)
        return refuse_list(l, "its lists have different lengths");
    if (l->ndim <= depth) {
        l->ndim = depth + 1;
        l->extent[depth] = count;
    }
    for (int k = 0; k < count && status == KILN_OK; ++k) {
        const kn_value one = item[k];
        const bool is_list = one.kind == KN_VALUE_TUPLE;
        if (!is_list && !kn_parser_is_number(l->p, &one))
            return refuse_list(l, "numbers that stand in the expression were expected; stack() joins arrays");
        if (is_list != (l->ndim > depth + 1) && l->count > 0)
            return refuse_list(l, "its lists have different lengths");
        status = is_list ? list_items(l, &one, depth + 1) : list_number(l, &one);
        kn_parser_items(&item, l->p, list); /* items may have moved */
    }
    return status;
}

/* The numbers are a table in the kernel's text, which counts through it. */
static kiln_status add_list(kn_value *out, listing *l)
{
    const char *dtype = dtype_of(l);
    const kn_called c = {.name = "list", .name_length = 4, .at = l->list->at, .length = l->list->length};
    kn_str body = KN_STR_INIT, outs = KN_STR_INIT;
    kiln_kernel *kernel = NULL;
    kn_value numbers, count;
    int in[3], read = 0;
    const kn_node range = {.kind = KN_NODE_ARANGE, .n_in = 3, .in = in, .at = c.at, .length = c.length};
    const kiln_arg bounds[] = {kiln_arg_int(0), kiln_arg_int(l->count), kiln_arg_int(1)};
    kiln_status status = KILN_OK;
    for (int k = 0; k < 3 && status == KILN_OK; ++k) {
        status = kn_parser_number(&count, l->p, bounds[k], c.at, c.length);
        if (status == KILN_OK)
            status = kn_parser_node(&in[k], l->p, &count);
    }
    if (status == KILN_OK)
        status = kn_parser_add(&numbers, l->p, &range);
    if (status == KILN_OK)
        status = kn_parser_node(&read, l->p, &numbers);
    kn_str_printf(&body, "const %s table[] = {%s0}; y = table[k]", dtype, kn_str_text(&l->text));
    kn_str_printf(&outs, "%s y", dtype);
    body.failed |= outs.failed || l->text.failed;
    if (status == KILN_OK)
        status = kn_str_status(&body, "a list");
    if (status == KILN_OK)
        status = kn_map_find(
            &kernel, &(kn_map_texts){"int64 k", kn_str_text(&outs), kn_str_text(&body), "list", 0, 0});
    if (status == KILN_OK)
        status = kn_call_add_kernel(&numbers, l->p, &c, kernel, &read, 1, 1);
    kn_str_free(&body);
    kn_str_free(&outs);
    if (status == KILN_OK)
        status = kn_parser_node(&read, l->p, &numbers);
    const kn_node shape = {.kind = KN_NODE_RESHAPE,
                           .n_in = 1,
                           .in = &read,
                           .n_axes = l->ndim,
                           .extent = l->extent,
                           .at = c.at,
                           .length = c.length};
    return status == KILN_OK ? kn_parser_add(out, l->p, &shape) : status;
}

static kiln_status make_array(kn_value *value, kn_parser *p, bool is_value)
{
    const kn_value list = *value;
    listing l = {.p = p, .list = &list, .text = KN_STR_INIT, .is_value = is_value};
    kiln_status status = list_items(&l, &list, 0);
    if (status == KILN_OK)
        status = add_list(value, &l);
    kn_str_free(&l.text);
    return status;
}

kiln_status kn_list_array(kn_value *value, kn_parser *p)
{
    return value->kind == KN_VALUE_TUPLE && value->is_list ? make_array(value, p, false) : KILN_OK;
}

/* True if there are other values than numbers in it. */
static bool has_arrays(const kn_parser *p, const kn_value *list, int depth)
{
    const kn_value *item;
    const int count = kn_parser_items(&item, p, list);
    bool has = false;
    for (int k = 0; k < count && !has && depth < DEEPEST; ++k)
        has = item[k].kind == KN_VALUE_TUPLE ? has_arrays(p, &item[k], depth + 1)
                                             : !kn_parser_is_number(p, &item[k]);
    return has;
}

/* An array without axes. */
static kiln_status make_one(kn_value *value, kn_parser *p, const kn_called *c)
{
    static const char *const name[] = {"one"};
    const kn_value number = *value;
    kn_value one = {.kind = KN_VALUE_TUPLE, .is_list = true, .first = p->n_items, .count = 1};
    kiln_status status = kn_parser_push_item(p, &number);
    return status == KILN_OK ? kn_compose(value, p, c, "reshape(one, ())", name, &one, 1) : status;
}

kiln_status kn_list_value(kn_value *value, kn_parser *p)
{
    static const char *const name[] = {"items"};
    const kn_called c = {.name = "list", .name_length = 4, .at = value->at, .length = value->length};
    kn_value items = *value;
    if (value->kind != KN_VALUE_TUPLE)
        return kn_parser_is_number(p, value) ? make_one(value, p, &c) : KILN_OK;
    return has_arrays(p, value, 0) ? kn_compose(value, p, &c, "stack(items)", name, &items, 1)
                                   : make_array(value, p, true);
}
