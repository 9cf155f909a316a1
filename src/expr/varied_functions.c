/* Functions that are others, as how many arguments they have, a number or a word says. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "expr/call.h"
#include "expr/common_arguments.h"
#include "expr/composed.h"
#include "expr/names.h"
#include "expr/shaped_functions.h"
#include "kernel/kernel.h"

static kiln_status compose(kn_value *out, kn_parser *p, const kn_called *c, kn_str *text,
                           const char *const *name, kn_value *slot, int count)
{
    kiln_status status = kn_str_status(text, "the text of a function");
    if (status == KILN_OK)
        status = kn_compose(out, p, c, kn_str_text(text), name, slot, count);
    kn_str_free(text);
    return status;
}

static kiln_status call_operation(kn_value *out, kn_parser *p, const kn_called *c)
{
    kn_known_operation operation;
    return kn_find_operation(&operation, c->name, c->name_length)
               ? kn_call_operation(out, p, c, &operation)
               : kn_call_refuse(p, c, "the table has no such operation");
}

/* where(condition) is nonzero(condition). */
kiln_status kn_call_where(kn_value *out, kn_parser *p, const kn_called *c)
{
    kn_called called = *c;
    called.which = 1;
    if (c->count == 1)
        p->argument[c->first].key_length = 0; /* `condition` */
    return c->count == 1 ? kn_call_argwhere(out, p, &called) : call_operation(out, p, c);
}

/* array(object, dtype=None): a list of numbers, or of arrays, becomes one; asarray, copy likewise. */
kiln_status kn_call_array(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const asarray[] = {"a", "dtype"}, *const array[] = {"object", "dtype"};
    kn_value slot[2] = {{0}};
    const bool is_copy = c->which == 1;
    int node = 0;
    kiln_status status =
        kn_call_match(slot, p, c, c->which == 2 ? array : asarray, 2 - is_copy, 2 - is_copy, 1);
    if (status == KILN_OK)
        status = kn_parser_node(&node, p, &slot[0]);
    *out = (kn_value){.kind = KN_VALUE_NODE, .node = node, .at = c->at, .length = c->length};
    return status == KILN_OK ? kn_call_cast(out, p, c, &slot[1]) : status;
}

/* angle(z, deg=False) */
kiln_status kn_call_angle(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const name[] = {"z", "deg"}, *const radians[] = {"r"};
    kn_value slot[2] = {{0}};
    int in;
    int64_t deg = 0;
    char operation[] = "angle";
    kn_node node = {
        .kind = KN_NODE_CALL, .n_in = 1, .in = &in, .name = operation, .at = c->at, .length = c->length};
    kn_common_set(&node, c);
    kiln_status status = kn_call_match(slot, p, c, name, 2, 2, 1);
    if (status == KILN_OK && slot[1].kind != KN_VALUE_ABSENT)
        status = kn_parser_whole(&deg, p, &slot[1], name[1]);
    if (status == KILN_OK)
        status = kn_parser_node(&in, p, &slot[0]);
    if (status == KILN_OK)
        status = kn_parser_add(&slot[0], p, &node);
    *out = slot[0];
    return status == KILN_OK && deg ? kn_compose(out, p, c, "r * (180 / pi)", radians, slot, 1) : status;
}

/* nan_to_num(x, nan=0.0, posinf=None, neginf=None): the operation takes none, nan
 * alone, or all. */
kiln_status kn_call_nan_to_num(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const name[] = {"x", "nan", "posinf", "neginf"};
    kn_value slot[4] = {{0}};
    kiln_status status = kn_call_match(slot, p, c, name, 4, 4, 1);
    bool is_given[4];
    for (int k = 0; k < 4; ++k)
        is_given[k] = kn_call_is_given(&slot[k]);
    if (status != KILN_OK)
        return status;
    const bool has_all = is_given[1] && is_given[2] && is_given[3];
    if (has_all || (!is_given[2] && !is_given[3]))
        return call_operation(out, p, c);
    kn_str text = KN_STR_INIT;
    kn_str_printf(&text, "r = nan_to_num(x, %s)", is_given[1] ? "nan" : "0");
    if (is_given[2])
        kn_str_append(&text, "; r = where(isinf(x) & (x > 0), full_like(r, posinf), r)");
    if (is_given[3])
        kn_str_append(&text, "; r = where(isinf(x) & (x < 0), full_like(r, neginf), r)");
    kn_str_append(&text, "; r");
    return compose(out, p, c, &text, name, slot, 4);
}

/* vecdot(x1, x2, axis=-1) */
kiln_status kn_call_vecdot(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const name[] = {"x1", "x2", "axis", "axes"};
    kn_value slot[4] = {{0}};
    kiln_status status = kn_call_match(slot, p, c, name, 4, 2, 2);
    if (status == KILN_OK && kn_call_is_given(&slot[2]) && kn_call_is_given(&slot[3]))
        return kn_parser_refuse(p, slot[3].at, slot[3].length, "axes: axis or axes were expected, not both");
    if (status != KILN_OK)
        return status;
    return kn_call_is_given(&slot[2])
               ? kn_compose(out, p, c, "vecdot(moveaxis(x1, axis, -1), moveaxis(x2, axis, -1))", name, slot,
                            3)
               : kn_call_shaped_pair(out, p, c);
}

/* ---- polynomials ---- */

enum { MOST_TIMES = 16 };

static kiln_status read_times(int64_t *times, const kn_parser *p, const kn_value *m)
{
    kiln_status status = m->kind == KN_VALUE_ABSENT ? KILN_OK : kn_parser_whole(times, p, m, "m");
    return status == KILN_OK && (*times < 0 || *times > MOST_TIMES)
               ? kn_parser_refuse(p, m->at, m->length, "m: %lld was given; 0 to %d were expected",
                                  (long long)*times, MOST_TIMES)
               : status;
}

/* polyder(p, m=1) */
kiln_status kn_call_polyder(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const name[] = {"p", "m"};
    kn_value slot[2] = {{0}};
    int64_t times = 1;
    kiln_status status = kn_call_match(slot, p, c, name, 2, 2, 1);
    if (status == KILN_OK)
        status = read_times(&times, p, &slot[1]);
    if (status == KILN_OK && times == 0)
        return kn_compose(out, p, c, "p[:]", name, slot, 1);
    for (int64_t k = 0; k < times && status == KILN_OK; ++k) {
        status = kn_compose(out, p, c, "p[:-1] * arange(len(p) - 1, 0, -1)", name, slot, 1);
        slot[0] = *out;
    }
    return status;
}

/* polyint(p, m=1, k=None): k: a constant for each time, or one for all. */
kiln_status kn_call_polyint(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const name[] = {"p", "m", "k"};
    kn_value slot[3] = {{0}}, constant;
    const kn_value *item;
    int64_t times = 1;
    kiln_status status = kn_call_match(slot, p, c, name, 3, 3, 1);
    if (status == KILN_OK)
        status = read_times(&times, p, &slot[1]);
    if (status == KILN_OK && !kn_call_is_given(&slot[2]))
        status = kn_parser_number(&slot[2], p, kiln_arg_float(0), c->at, c->length);
    const kn_value constants = slot[2];
    const int count = kn_parser_items(&item, p, &constants);
    if (status == KILN_OK && count != 1 && count != times)
        return kn_parser_refuse(p, constants.at, constants.length,
                                "k: %d were given; one was expected, or as many as m says", count);
    if (status == KILN_OK && times == 0)
        return kn_compose(out, p, c, "p[:]", name, slot, 1);
    for (int64_t k = 0; k < times && status == KILN_OK; ++k) {
        kn_parser_items(&item, p, &constants);
        constant = item[count > 1 ? k : 0];
        slot[2] = constant;
        status = kn_compose(out, p, c,
                            "p = transpose(p, 0); n = len(p); i = arange(n + 1); "
                            "where(i < n, take(p, i, mode='clip') / (n - i + (i == n)), k)",
                            name, slot, 3);
        slot[0] = *out;
    }
    return status;
}

/* ---- grids ---- */

enum { MOST_GRIDS = 16 };

/* The axis along which array k of n lies. */
static int axis_of(int k, int n, bool is_matrix)
{
    return !is_matrix && n > 1 && k < 2 ? 1 - k : k;
}

static void put_grids(kn_str *text, int n, bool is_matrix, bool is_sparse)
{
    for (int k = 0; k < n; ++k) {
        const int axis = axis_of(k, n, is_matrix);
        kn_str_printf(text, "%s%sravel(v%d)[", k > 0 ? ", " : "", is_sparse ? "" : "broadcast_to(", k);
        for (int a = 0; a < n; ++a)
            kn_str_append(text, a == axis ? ":, " : "None, ");
        kn_str_append(text, is_sparse ? "]" : "], (");
        for (int a = 0; a < n && !is_sparse; ++a)
            kn_str_printf(text, "size(v%d), ", axis_of(a, n, is_matrix));
        kn_str_append(text, is_sparse ? "" : "))");
    }
}

static kiln_status refuse_grid(const kn_parser *p, const kn_called *c)
{
    static const char *const own[] = {"indexing", "sparse"};
    kn_value slot[MOST_GRIDS] = {{0}};
    return kn_call_match(slot, p, c, own, 2, MOST_GRIDS, 0);
}

/* meshgrid(*arrays, indexing='xy', sparse=False) */
kiln_status kn_call_meshgrid(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const orders[] = {"xy", "ij", NULL}, *const own[] = {"indexing", "sparse", "x", "y",
                                                                            "z"}; /* arrays of C's calls */
    char letter[MOST_GRIDS][16];
    const char *name[MOST_GRIDS];
    kn_value slot[MOST_GRIDS] = {{0}}, option[2] = {{0}};
    int n = 0, is_matrix = 0;
    int64_t is_sparse = 0;
    kn_str text = KN_STR_INIT;
    for (int k = 0; k < c->count; ++k) {
        const kn_value argument = p->argument[c->first + k];
        int o = 0;
        while (o < 5 && (argument.key_length != strlen(own[o]) ||
                         memcmp(p->word.text + argument.key_at, own[o], argument.key_length) != 0))
            ++o;
        if (argument.key_length > 0 && o == 5)
            return refuse_grid(p, c);
        if (o < 2)
            option[o] = argument;
        else if (n == MOST_GRIDS)
            return kn_call_refuse(p, c, "more arrays were given than a grid has axes");
        else
            slot[n++] = argument;
    }
    for (int k = 0; k < n; ++k) {
        snprintf(letter[k], sizeof letter[k], "v%d", k);
        name[k] = letter[k];
        slot[k].key_length = 0;
    }
    if (n == 0)
        return kn_call_refuse(p, c, "an array was expected");
    kiln_status status = kn_call_word(&is_matrix, p, &option[0], orders, own[0]);
    if (status == KILN_OK && option[1].kind != KN_VALUE_ABSENT)
        status = kn_parser_whole(&is_sparse, p, &option[1], own[1]);
    if (status != KILN_OK)
        return status;
    put_grids(&text, n, is_matrix, is_sparse != 0);
    return compose(out, p, c, &text, name, slot, n);
}
