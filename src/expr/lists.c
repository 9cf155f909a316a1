/* Lists of numbers in an expression, as arrays. */
#include "expr/lists.h"

#include "base/error.h"
#include "base/str.h"
#include "expr/call.h"
#include "kernel/kernel.h"

enum { MOST_LISTED = 4096, DEEPEST = 8 };

typedef struct listing {
    kn_parser *p;
    const kn_value *list;
    kn_str text; /* the numbers, as C++ has them */
    bool has_floats, has_wholes, has_bools;
    int ndim, count;
    int64_t extent[DEEPEST];
} listing;

static kiln_status refuse_list(const listing *l, const char *message)
{
    return kn_parser_refuse(l->p, l->list->at, l->list->length, "a list: %s", message);
}

static kiln_status list_number(listing *l, const kn_value *value)
{
    const kiln_arg *number = &l->p->graph->node[value->node].number;
    const bool is_bool = number->kind == KILN_ARG_WEAK_BOOL, is_float = number->kind == KILN_ARG_WEAK_FLOAT;
    if (!is_bool && !is_float && number->kind != KILN_ARG_WEAK_INT)
        return refuse_list(l, "whole numbers, truth values or floats were expected");
    if (is_float && number->value.d[0] - number->value.d[0] != 0)
        return refuse_list(l, "finite numbers were expected");
    if (++l->count > MOST_LISTED)
        return refuse_list(l, "it has more than 4,096 numbers; an input was expected");
    l->has_bools = l->has_bools || is_bool;
    l->has_floats = l->has_floats || is_float;
    l->has_wholes = l->has_wholes || (!is_bool && !is_float);
    if (is_float)
        kn_str_printf(&l->text, "%.17e, ", number->value.d[0]);
    else
        kn_str_printf(&l->text, "%lldll, ", (long long)number->value.i);
    return KILN_OK;
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
    const char *dtype = l->has_floats ? "float64" : l->has_wholes || !l->has_bools ? "int64" : "bool";
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

kiln_status kn_list_array(kn_value *value, kn_parser *p)
{
    const kn_value list = *value;
    listing l = {.p = p, .list = &list, .text = KN_STR_INIT};
    if (value->kind != KN_VALUE_TUPLE || !value->is_list)
        return KILN_OK;
    kiln_status status = list_items(&l, &list, 0);
    if (status == KILN_OK)
        status = add_list(value, &l);
    kn_str_free(&l.text);
    return status;
}
