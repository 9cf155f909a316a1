/* NumPy's methods of ufuncs: reduce, accumulate, outer, at and reduceat, of the operations of the table
 * and of those that were registered. Each is a text over other functions. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "eager/operation_methods.h"
#include "expr/call.h"
#include "expr/composed.h"
#include "expr/composed_table.h"
#include "expr/lists.h"
#include "expr/shaped.h"
#include "kernel/sort.h"

enum { REDUCE, ACCUMULATE, OUTER, AT, REDUCEAT, METHODS };
static const char *const methods[METHODS] = {"reduce", "accumulate", "outer", "at", "reduceat"};

/* The method of "NAME.METHOD"; METHODS: it is none. *length: NAME's. */
static int find_method(size_t *length, const char *name, size_t whole)
{
    const char *point = memchr(name, '.', whole);
    int method = 0;
    *length = point ? (size_t)(point - name) : 0;
    while (point && method < METHODS &&
           (strlen(methods[method]) != whole - *length - 1 ||
            memcmp(methods[method], point + 1, whole - *length - 1) != 0))
        ++method;
    return point ? method : METHODS;
}

bool kn_is_method(const char *name, size_t length)
{
    size_t of;
    return find_method(&of, name, length) < METHODS;
}

/* ---- reduce and accumulate ---- */

enum { ARRAY, AXIS, DTYPE, KEEPDIMS, INITIAL, WHERE, SLOTS };
static const char *const names[SLOTS] = {"array", "axis", "dtype", "keepdims", "initial", "where"};

/* The function of the table that does it, which has the arguments. */
static void put_known(kn_str *text, const char *known, const kn_value *slot)
{
    kn_str_printf(text, "%s(array, axis=%s", known, slot[AXIS].kind == KN_VALUE_ABSENT ? "0" : "axis");
    for (int k = DTYPE; k < SLOTS; ++k)
        if (slot[k].kind != KN_VALUE_ABSENT && (k != DTYPE || kn_call_is_given(&slot[k])))
            kn_str_printf(text, ", %s=%s", names[k], names[k]);
    kn_str_append(text, ")");
}

/* A derived operation: elements that a mask leaves out become what changes nothing. */
static void put_derived(kn_str *text, const char *name, const char *prefix, const char *nothing,
                        const kn_value *slot)
{
    if (kn_call_is_given(&slot[DTYPE]))
        kn_str_append(text, "array = astype(array, dtype); ");
    if (kn_call_is_given(&slot[WHERE]))
        kn_str_printf(text, "array = where(broadcast_to(where, array.shape), array, %s); ", nothing);
    kn_str_printf(text, "r = %s%s(array, axis=%s%s); ", prefix, name,
                  slot[AXIS].kind == KN_VALUE_ABSENT ? "0" : "axis",
                  kn_call_is_given(&slot[KEEPDIMS]) ? ", keepdims=keepdims" : "");
    if (kn_call_is_given(&slot[INITIAL]))
        kn_str_printf(text, "%s(full_like(r, initial), r)", name);
    else
        kn_str_append(text, "r");
}

static kiln_status call_folding(kn_value *out, kn_parser *p, const kn_called *c, const char *name,
                                bool accumulates)
{
    const char *known = kn_operation_method(name, accumulates), *nothing = kn_operation_nothing(name);
    kn_value slot[SLOTS] = {{0}};
    kn_str text = KN_STR_INIT;
    kiln_status status = kn_call_match(slot, p, c, names, accumulates ? KEEPDIMS : SLOTS, KEEPDIMS, 1);
    if (status == KILN_OK && !known && kn_call_is_given(&slot[WHERE]) && !nothing)
        status = kn_call_refuse(p, c, "where: no number is known that changes no result of this operation");
    if (status == KILN_OK && !known)
        status = kn_call_check(p, &(kn_value){.at = c->at, .length = c->length},
                               kn_operation_derive(name, accumulates));
    if (known)
        put_known(&text, known, slot);
    else
        put_derived(&text, name, accumulates ? KN_ACCUMULATE_OF : KN_REDUCE_OF, nothing, slot);
    if (status == KILN_OK)
        status = kn_str_status(&text, "the text of a reduction");
    if (status == KILN_OK)
        status = kn_compose(out, p, c, kn_str_text(&text), names, slot, SLOTS);
    kn_str_free(&text);
    return status;
}

/* ---- outer ---- */

/* All pairs: the axes of the first argument in front of those of the second. */
static kiln_status write_outer(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    if (in[0].ndim + in[1].ndim > KILN_MAX_NDIM)
        return kn_error(KILN_ERROR_SHAPE,
                        "outer: %d and %d axes were given; at most %d of both were expected", in[0].ndim,
                        in[1].ndim, KILN_MAX_NDIM);
    kn_str_printf(text, "%s(x0[...", own->word[0]);
    for (int d = 0; d < in[1].ndim; ++d)
        kn_str_append(text, ", None");
    kn_str_append(text, "], x1)");
    return KILN_OK;
}

static kiln_status call_outer(kn_value *out, kn_parser *p, const kn_called *c, const kn_known_operation *o)
{
    static const char *const of[] = {"A", "B"};
    kn_shaped_own own = {.count = 0, .more = o->n_out - 1};
    kn_value slot[2] = {{0}};
    snprintf(own.word[0], sizeof own.word[0], "%s", o->name);
    kiln_status status = kn_call_match(slot, p, c, of, 2, 2, 2);
    for (int k = 0; k < 2 && status == KILN_OK; ++k)
        status = p->array(&slot[k], p);
    return status == KILN_OK ? kn_call_shaped(out, p, c, write_outer, &own, slot, 2) : status;
}

/* ---- at ---- */

static kiln_status write_shaped_as(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    (void)own;
    kn_str_append(text, "reshape(x0, (");
    for (int d = 0; d < in[1].ndim; ++d)
        kn_str_printf(text, "%lld, ", (long long)in[1].shape[d]);
    kn_str_append(text, "))");
    return KILN_OK;
}

kiln_status kn_call_shaped_as(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const of[] = {"x", "a"};
    const kn_shaped_own own = {.count = 0};
    kn_value slot[2] = {{0}};
    kiln_status status = kn_call_match(slot, p, c, of, 2, 2, 2);
    return status == KILN_OK ? kn_call_shaped(out, p, c, write_shaped_as, &own, slot, 2) : status;
}

static kiln_status make_steps(kiln_kernel **out, const void *of)
{
    const char *name = of;
    return kn_operation_steps(out, name);
}

/* The operation's own kernel of steps. parts: elements, and for each where the elements that it meets
 * begin and end among those of the last part, which are taken one after the other. */
static kiln_status add_steps(kn_value *out, kn_parser *p, const kn_called *c, const char *name,
                             const kn_value *parts)
{
    kiln_kernel *kernel = NULL;
    int in[4] = {0};
    kn_str key = KN_STR_INIT;
    kiln_status status = KILN_OK;
    kn_str_printf(&key, "steps of %s", name);
    for (int k = 0; k < 4 && status == KILN_OK; ++k)
        status = kn_parser_node(&in[k], p, &p->item[parts->first + k]);
    if (status == KILN_OK)
        status = kn_kernel_remembered(&kernel, &key, make_steps, name);
    kn_str_free(&key);
    return status == KILN_OK ? kn_call_add_kernel(out, p, c, kernel, in, 4, 1) : status;
}

/* Each element of a, and where those of b begin and end, sorted by the element that they meet. */
static kiln_status call_steps(kn_value *out, kn_parser *p, const kn_called *c, const char *name,
                              kn_value *slot)
{
    static const char *const of[] = {"a", "indices", "b"}, *const behind[] = {"a", "r"};
    kn_value parts, result[2] = {slot[0], {0}};
    kiln_status status =
        kn_compose(&parts, p, c,
                   "q = shaped_as(arange(size(a)), a)[indices]; "
                   "b = where(True, ravel(broadcast_to(b, q.shape)), ravel(a)[:1]); q = ravel(q); o = "
                   "argsort(q, kind='stable'); s = take(q, o); e = arange(size(a)); "
                   "ravel(a), searchsorted(s, e), searchsorted(s, e, 'right'), take(b, o)",
                   of, slot, 3);
    if (status == KILN_OK)
        status = add_steps(&result[1], p, c, name, &parts);
    return status == KILN_OK ? kn_compose(out, p, c, "shaped_as(r, a)", behind, result, 2) : status;
}

static bool has_row(const char *name)
{
    const kn_composed *row;
    bool has = false;
    for (int k = 0; (row = kn_composed_at(k)) != NULL; ++k)
        has = has || strcmp(row->name, name) == 0;
    return has;
}

static kiln_status call_at(kn_value *out, kn_parser *p, const kn_called *c, const char *name)
{
    static const char *const of[] = {"a", "indices", "b"};
    char text[KN_NAME_MAX + 40], function[KN_NAME_MAX + 8];
    kn_value slot[3] = {{0}};
    kiln_status status = kn_call_match(slot, p, c, of, 3, 3, 3);
    snprintf(function, sizeof function, "%s_at", name);
    /* A number, of the call, is not an array of indices. */
    snprintf(text, sizeof text, "%s(a, %s, b)", function,
             slot[1].kind == KN_VALUE_NODE && !kn_parser_is_number(p, &slot[1]) ? "atleast_1d(indices)"
                                                                                : "indices");
    if (status != KILN_OK)
        return status;
    return has_row(function) ? kn_compose(out, p, c, text, of, slot, 3) : call_steps(out, p, c, name, slot);
}

/* ---- reduceat ---- */

/* reduceat(array, indices, axis=0, dtype=None): what each index begins, up to the next one; an index that is
 * not below the next one stands for its element alone. Elements have the dtype that reduce gives them. */
static kiln_status call_reduceat(kn_value *out, kn_parser *p, const kn_called *c, const char *name)
{
    static const char *const of[] = {"array", "indices", "axis", "dtype"}, *const behind[] = {"r", "like",
                                                                                              "axis"};
    const char *known = kn_operation_method(name, false);
    const bool sums = known && (strcmp(known, "sum") == 0 || strcmp(known, "prod") == 0);
    kn_value slot[4] = {{0}}, parts, result[3];
    kn_str text = KN_STR_INIT;
    kiln_status status = kn_call_match(slot, p, c, of, 4, 4, 2);
    if (status == KILN_OK)
        status = kn_list_array(&slot[1], p);
    if (status == KILN_OK && slot[2].kind == KN_VALUE_ABSENT)
        status = kn_parser_number(&slot[2], p, kiln_arg_int(0), c->at, c->length);
    kn_str_append(&text, "x = swapaxes(array, axis, -1); ");
    if (kn_call_is_given(&slot[3]))
        kn_str_append(&text, "x = astype(x, dtype); ");
    else if (sums)
        kn_str_printf(&text, "x = where(True, x, %s(ravel(x)[:0])); ", known);
    else if (strncmp(name, "logical_", 8) == 0)
        kn_str_append(&text, "x = x != 0; ");
    else
        kn_str_printf(&text, "t = take(ravel(x), arange(1), mode='clip')[0]; x = where(True, x, %s(t, t)); ",
                      name);
    kn_str_append(&text, "n = x.shape[-1]; i = transpose(indices, 0); m = len(i); "
                         "i = take(arange(n), where(i < 0, n, i)); k = arange(m); "
                         "e = where(k + 1 < m, take(i, k + 1, mode='clip'), n); e = where(e > i, e, i + 1); "
                         "s = take(x, i, axis=-1, mode='clip'); r = numbered(s) // m * n; "
                         "ravel(s), ravel(r + i + 1), ravel(r + e), ravel(x), s");
    if (status == KILN_OK)
        status = kn_str_status(&text, "the text of a method");
    if (status == KILN_OK)
        status = kn_compose(&parts, p, c, kn_str_text(&text), of, slot, 4);
    kn_str_free(&text);
    if (status == KILN_OK)
        status = add_steps(&result[0], p, c, name, &parts);
    if (status != KILN_OK)
        return status;
    result[1] = p->item[parts.first + 4];
    result[2] = slot[2];
    return kn_compose(out, p, c, "swapaxes(shaped_as(r, like), axis, -1)", behind, result, 3);
}

kiln_status kn_call_method(kn_value *out, kn_parser *p, const kn_called *c)
{
    kn_known_operation o;
    size_t length;
    const int method = find_method(&length, c->name, c->name_length);
    if (!kn_find_operation(&o, c->name, length))
        return kn_parser_refuse(p, c->at, length, "there is no operation '%.*s'", (int)length, c->name);
    if (o.is_reduction || o.n_min > 2 || o.n_max < 2)
        return kn_call_refuse(p, c, "an elementwise operation of two inputs was expected");
    if (o.n_out > 1 && method != OUTER)
        return kn_call_refuse(p, c, "an operation of one result was expected");
    return method == OUTER      ? call_outer(out, p, c, &o)
           : method == AT       ? call_at(out, p, c, o.name)
           : method == REDUCEAT ? call_reduceat(out, p, c, o.name)
                                : call_folding(out, p, c, o.name, method == ACCUMULATE);
}
