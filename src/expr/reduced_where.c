/* Reductions of expressions with where= and initial=: of elements that a mask selects, and of a number that
 * counts as one more. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "expr/call.h"
#include "expr/composed.h"
#include "kernel/kernel.h"
#include "kernel/sort.h"

/* By name: `other`, which changes nothing and no dtype, in place of what is not selected; what joins a result
 * and the initial number; of the greatest and the least, true if `a` is the one of two. */
static const struct {
    const char *name, *other, *join, *better;
} rows[] = {{"all", "True", NULL, NULL},
            {"any", "False", NULL, NULL},
            {"max", NULL, "maximum", "a.value >= b.value || kn_is_nan(a.value)"},
            {"mean", "False", NULL, NULL},
            {"min", NULL, "minimum", "a.value <= b.value || kn_is_nan(a.value)"},
            {"nanmax", NULL, "fmax", "a.value >= b.value || kn_is_nan(b.value)"},
            {"nanmin", NULL, "fmin", "a.value <= b.value || kn_is_nan(b.value)"},
            {"nansum", "False", "add", NULL},
            {"prod", "True", "multiply", NULL},
            {"std", "False", NULL, NULL},
            {"sum", "False", "add", NULL},
            {"var", "False", NULL, NULL}};
enum { ROWS = sizeof rows / sizeof rows[0] };

enum { X, AXIS, KEEPDIMS, DTYPE, WHERE, INITIAL, DDOF, MEAN, SLOTS };

static const char *const names[SLOTS] = {"x",     "axis",    "keepdims", "dtype",
                                         "where", "initial", "ddof",     "mean"};

static int find_row(const char *name)
{
    int row = 0;
    while (row < ROWS && strcmp(rows[row].name, name) != 0)
        ++row;
    return row;
}

static bool is_key(const kn_parser *p, const kn_value *argument, const char *name)
{
    const size_t length = strlen(name);
    return argument->key_length == length && memcmp(p->word.text + argument->key_at, name, length) == 0;
}

bool kn_call_has_where(const kn_parser *p, const kn_called *c, const char *name)
{
    bool has = false;
    for (int k = 0; k < c->count; ++k) {
        const kn_value *a = &p->argument[c->first + k];
        has = has || is_key(p, a, names[WHERE]) || is_key(p, a, names[INITIAL]) || is_key(p, a, names[MEAN]);
    }
    return has && find_row(name) < ROWS;
}

/* ---- the greatest and the least ---- */

static kiln_status make_best(kiln_kernel **out, const void *row)
{
    kn_str reduce = KN_STR_INIT;
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    o.preamble = "struct kn_chosen { T value; bool is_there; };";
    o.reduce_type = "kn_chosen";
    kn_str_printf(&reduce, "!b.is_there ? a : !a.is_there || !(%s) ? b : a", rows[*(const int *)row].better);
    kiln_status status = kn_str_status(&reduce, "the texts of a reduction");
    if (status == KILN_OK)
        status = kiln_reduction_create(out, "T x, bool m", "T y, bool is_there", "kn_chosen{x, m}",
                                       kn_str_text(&reduce), "y = a.value; is_there = a.is_there",
                                       "kn_chosen{(T)0, false}", rows[*(const int *)row].name, &o);
    kn_str_free(&reduce);
    return status;
}

/* The result of what is selected, and a truth value: something was. */
static kiln_status add_best(kn_value *out, kn_parser *p, const kn_called *c, int row, const kn_value *slot)
{
    int in[2] = {0, 0};
    kn_str key = KN_STR_INIT;
    kn_node node = {.kind = KN_NODE_KERNEL, .n_in = 2, .in = in, .at = c->at, .length = c->length};
    kiln_status status = kn_call_reduced(&node, p, &slot[AXIS], &slot[KEEPDIMS]);
    if (status == KILN_OK)
        status = kn_parser_node(&in[0], p, &slot[X]);
    if (status == KILN_OK)
        status = kn_parser_node(&in[1], p, &slot[WHERE]);
    kn_str_printf(&key, "reduced where %s", rows[row].name);
    if (status == KILN_OK)
        status = kn_kernel_remembered(&node.kernel, &key, make_best, &row);
    kn_str_free(&key);
    if (status == KILN_OK)
        status = kn_call_add_outputs(out, p, &node, 2);
    kiln_kernel_free(node.kernel);
    return status;
}

/* ---- the text ---- */

/* Means are added up in float32 at least. */
static void put_moments(kn_str *text, const char *name, const char *axes, const char *places, bool has_mean)
{
    const bool is_mean = strcmp(name, "mean") == 0;
    const char *mean = is_mean ? places : axes;
    kn_str_append(text, "z = zeros_like(mean(x)) + zeros(1, dtype=float32)[0]; ");
    if (has_mean)
        kn_str_append(text, "c = mean + z; ");
    else
        kn_str_printf(text, "c = sum(w + z%s) / count_nonzero(m%s); ", mean, mean);
    if (is_mean) {
        kn_str_printf(text, "full_like(mean(x%s), c)", places);
        return;
    }
    kn_str_printf(text, "d = where(m, x - c, z); v = sum(real(d * conj(d))%s) / ", places);
    kn_str_printf(text, "maximum(count_nonzero(m%s) - ddof, 0); ", places);
    kn_str_printf(text, "full_like(%s(x%s), %s)", name, places, strcmp(name, "std") == 0 ? "sqrt(v)" : "v");
}

static bool has_dtype(int row)
{
    return !rows[row].better && rows[row].name[0] != 'a';
}

static bool is_moment(int row)
{
    return has_dtype(row) && !rows[row].join;
}

/* No element is left out, and none is added. */
static bool is_plain(const kn_value *slot)
{
    return !kn_call_is_given(&slot[WHERE]) && !kn_call_is_given(&slot[INITIAL]) &&
           !kn_call_is_given(&slot[MEAN]);
}

/* Without an initial number, which None says, there is no sum of nothing: it has the shape of a greatest
 * element, which is refused there, and not computed. */
static void put_plain(kn_str *text, int row, const kn_value *slot, const char *places)
{
    const bool has_shape = slot[INITIAL].kind == KN_VALUE_NONE && !rows[row].better;
    if (has_shape)
        kn_str_printf(text, "t = max(x == x%s); broadcast_to(", places);
    kn_str_printf(text, "%s(x%s%s%s)", rows[row].name, places,
                  kn_call_is_given(&slot[DTYPE]) && !is_moment(row) ? ", dtype=dtype" : "",
                  kn_call_is_given(&slot[DDOF]) ? ", ddof=ddof" : "");
    kn_str_append(text, has_shape ? ", t.shape)" : "");
}

static void put_text(kn_str *text, int row, const kn_value *slot)
{
    char places[64] = "", axes[64] = ", keepdims=True";
    const bool has_axis = kn_call_is_given(&slot[AXIS]);
    snprintf(places, sizeof places, "%s%s", has_axis ? ", axis=axis" : "",
             kn_call_is_given(&slot[KEEPDIMS]) ? ", keepdims=keepdims" : "");
    if (has_axis)
        snprintf(axes, sizeof axes, ", axis=axis, keepdims=True");
    if (is_plain(slot)) {
        put_plain(text, row, slot, places);
        return;
    }
    if (rows[row].better) {
        kn_str_printf(text, "i = full_like(r, initial); where(is_there, %s(r, i), i)", rows[row].join);
        return;
    }
    kn_str_printf(text, "m = broadcast_to(where, x.shape); w = where(m, x, %s); ", rows[row].other);
    if (is_moment(row)) {
        put_moments(text, rows[row].name, axes, places, kn_call_is_given(&slot[MEAN]));
        return;
    }
    kn_str_printf(text, "r = %s(w%s%s); ", rows[row].name, places,
                  kn_call_is_given(&slot[DTYPE]) ? ", dtype=dtype" : "");
    if (kn_call_is_given(&slot[INITIAL]))
        kn_str_printf(text, "%s(r, full_like(r, initial))", rows[row].join);
    else
        kn_str_append(text, "r");
}

static kiln_status check(const kn_value *slot, const kn_parser *p, const kn_called *c, int row)
{
    const bool needs_initial = rows[row].better || slot[INITIAL].kind == KN_VALUE_NONE;
    if (kn_call_is_given(&slot[DTYPE]) && !has_dtype(row))
        return kn_call_refuse(p, c, "dtype is no argument of this function");
    if (kn_call_is_given(&slot[DDOF]) && (!is_moment(row) || rows[row].name[0] == 'm'))
        return kn_call_refuse(p, c, "ddof is no argument of this function");
    if (kn_call_is_given(&slot[MEAN]) && (!is_moment(row) || rows[row].name[0] == 'm'))
        return kn_call_refuse(p, c, "mean is no argument of this function");
    if (slot[INITIAL].kind != KN_VALUE_ABSENT && !rows[row].join)
        return kn_call_refuse(p, c, "initial is no argument of this function");
    if (needs_initial && kn_call_is_given(&slot[WHERE]) && !kn_call_is_given(&slot[INITIAL]))
        return kn_call_refuse(p, c,
                              "where needs initial here, which is the result where nothing is selected");
    return KILN_OK;
}

/* The arguments that the row has; True stands for no mask. */
static kiln_status settle(kn_value *slot, kn_parser *p, const kn_called *c, int row)
{
    kiln_status status = kn_call_match(slot, p, c, names, SLOTS, 2, 1);
    if (status != KILN_OK)
        return status;
    if (kn_parser_is_number(p, &slot[WHERE])) {
        const kiln_arg *number = &p->graph->node[slot[WHERE].node].number;
        if (number->kind == KILN_ARG_WEAK_BOOL && number->value.i)
            slot[WHERE].kind = KN_VALUE_NONE;
    }
    status = check(slot, p, c, row);
    if (status == KILN_OK && is_moment(row))
        status = kn_call_cast(&slot[X], p, c, &slot[DTYPE]);
    if (status != KILN_OK || is_plain(slot))
        return status;
    if (!kn_call_is_given(&slot[WHERE]))
        status = kn_parser_number(&slot[WHERE], p, kiln_arg_bool(true), c->at, c->length);
    if (status == KILN_OK && slot[DDOF].kind == KN_VALUE_ABSENT)
        status = kn_parser_number(&slot[DDOF], p, kiln_arg_int(0), c->at, c->length);
    return status;
}

kiln_status kn_call_reduced_where(kn_value *out, kn_parser *p, const kn_called *c, const char *name)
{
    static const char *const best_names[] = {"r", "is_there", "initial"};
    const int row = find_row(name);
    kn_value slot[SLOTS] = {{0}}, both;
    kn_str text = KN_STR_INIT;
    kiln_status status = settle(slot, p, c, row);
    if (status != KILN_OK)
        return status;
    put_text(&text, row, slot);
    status = kn_str_status(&text, "the text of a reduction");
    const bool is_best = rows[row].better && !is_plain(slot);
    if (status == KILN_OK && is_best)
        status = add_best(&both, p, c, row, slot);
    if (status == KILN_OK && is_best) {
        kn_value part[] = {p->item[both.first], p->item[both.first + 1], slot[INITIAL]};
        status = kn_compose(out, p, c, kn_str_text(&text), best_names, part, 3);
    } else if (status == KILN_OK) {
        status = kn_compose(out, p, c, kn_str_text(&text), names, slot, SLOTS);
    }
    kn_str_free(&text);
    return status;
}
