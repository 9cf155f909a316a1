/* Functions of expressions that sort: each is a node of a remembered kernel, whose axis is its own. */
#include "base/str.h"
#include "expr/call.h"
#include "expr/composed.h"
#include "expr/weighted_quantiles.h"

#include <string.h>

#include "base/error.h"
#include "graph/graph.h"
#include "expr/shaped_functions.h"
#include "kernel/quantile.h"
#include "kernel/unique.h"

/* sort(a, axis=-1): an axis of None means all elements, in C order, along one axis. */
static kiln_status read_one_axis(int *axis, kn_value *of, kn_parser *p, const kn_called *c,
                                 const kn_value *given)
{
    *axis = -1;
    if (given->kind == KN_VALUE_ABSENT)
        return KILN_OK;
    return given->kind != KN_VALUE_NONE ? kn_call_axis(axis, p, given) : kn_call_flatten(of, p, c);
}

static kiln_status add_sort(kn_value *out, kn_parser *p, const kn_called *c, kn_named_sort *sort,
                            kn_value *of, const kn_value *axis)
{
    kiln_kernel *kernel = NULL;
    int in = 0;
    sort->along.has_axis = true;
    kiln_status status = read_one_axis(&sort->along.axis, of, p, c, axis);
    if (status == KILN_OK)
        status = kn_parser_node(&in, p, of);
    if (status == KILN_OK)
        status = kn_sort_find(&kernel, sort);
    return status == KILN_OK ? kn_call_add_kernel(out, p, c, kernel, &in, 1, kernel->program->n_out) : status;
}

static kiln_status read_flag(bool *out, const kn_parser *p, const kn_value *value, const char *name)
{
    int64_t number = *out;
    kiln_status status = value->kind == KN_VALUE_ABSENT ? KILN_OK : kn_parser_whole(&number, p, value, name);
    *out = number != 0;
    return status;
}

/* sort(a, axis=-1, descending=False), argsort */
kiln_status kn_call_sort(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a", "axis", "descending"};
    kn_named_sort sort = {.name = (kn_sort_name)c->which, .along.count = KN_SORT_ALL};
    kn_value slot[3] = {{0}};
    bool is_down = false;
    kiln_status status = kn_call_match(slot, p, c, names, 3, 2, 1);
    if (status == KILN_OK)
        status = read_flag(&is_down, p, &slot[2], names[2]);
    sort.flags = is_down ? KILN_SORT_DESCENDING : 0;
    return status == KILN_OK ? add_sort(out, p, c, &sort, &slot[0], &slot[1]) : status;
}

/* partition(a, kth, axis=-1), argpartition; kth: a number, or several */
kiln_status kn_call_partition(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a", "kth", "axis"};
    kn_named_sort sort = {.name = (kn_sort_name)c->which, .along.count = KN_SORT_ALL};
    kn_value slot[3] = {{0}};
    const kn_value *item;
    kiln_status status = kn_call_match(slot, p, c, names, 3, 3, 2);
    int count = status == KILN_OK ? kn_parser_items(&item, p, &slot[1]) : 0;
    for (int k = 0; k < count && status == KILN_OK; ++k) {
        int64_t kth = 0;
        status = kn_parser_whole(&kth, p, &item[k], names[1]);
        kn_sort_set_place(&sort, kth);
    }
    return status == KILN_OK ? add_sort(out, p, c, &sort, &slot[0], &slot[2]) : status;
}

/* topk(x, k, axis=-1, largest=True): values and indices */
kiln_status kn_call_topk(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"x", "k", "axis", "largest"};
    kn_named_sort sort = {.name = KN_TOPK};
    kn_value slot[4] = {{0}};
    int64_t count = 0;
    bool is_down = true;
    kiln_status status = kn_call_match(slot, p, c, names, 4, 4, 2);
    if (status == KILN_OK)
        status = kn_parser_whole(&count, p, &slot[1], names[1]);
    if (status == KILN_OK && count < 0)
        return kn_parser_refuse(p, slot[1].at, slot[1].length,
                                "k: %lld was given; a number from 0 on was expected", (long long)count);
    if (status == KILN_OK)
        status = read_flag(&is_down, p, &slot[3], names[3]);
    if (status == KILN_OK)
        status = kn_sort_set_count(&sort, count);
    sort.flags = is_down ? KILN_SORT_DESCENDING : 0;
    return status == KILN_OK ? add_sort(out, p, c, &sort, &slot[0], &slot[2]) : status;
}

/* lexsort((least, ..., most important), axis=-1) */
kiln_status kn_call_lexsort(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"keys", "axis"};
    kn_value slot[2] = {{0}};
    const kn_value *item;
    kiln_kernel *kernel = NULL;
    int axis = -1, in[KN_MAX_PARAMS];
    kiln_status status = kn_call_match(slot, p, c, names, 2, 2, 1);
    if (status == KILN_OK && slot[0].kind != KN_VALUE_TUPLE)
        return kn_parser_refuse(
            p, slot[0].at, slot[0].length,
            "lexsort: keys: several in brackets were expected, the most important one last: "
            "lexsort((b, a))");
    if (status == KILN_OK && slot[1].kind != KN_VALUE_ABSENT)
        status = kn_call_axis(&axis, p, &slot[1]);
    int count = status == KILN_OK ? kn_parser_items(&item, p, &slot[0]) : 0;
    if (status == KILN_OK)
        status = kn_lexsort_find(&kernel, count, axis);
    for (int k = 0; k < count && status == KILN_OK; ++k)
        status = kn_parser_node(&in[k], p, &item[k]);
    if (status == KILN_OK)
        return kn_call_add_kernel(out, p, c, kernel, in, count, kernel->program->n_out);
    kiln_kernel_free(kernel);
    return status;
}

/* ---- quantiles ---- */

static kiln_status read_axes(kn_quantile *q, const kn_parser *p, const kn_value *axis)
{
    const kn_value *item;
    kiln_status status = KILN_OK;
    q->is_all = !kn_call_is_given(axis);
    q->n_axes = q->is_all ? 0 : kn_parser_items(&item, p, axis);
    if (q->n_axes > KILN_MAX_NDIM)
        return kn_parser_refuse(p, axis->at, axis->length, "%d axes are more than an array has", q->n_axes);
    for (int k = 0; k < q->n_axes && status == KILN_OK; ++k)
        status = kn_call_axis(&q->axis[k], p, &item[k]);
    return status;
}

static kiln_status find_quantile(kiln_kernel **out, const kn_parser *p, const kn_called *c,
                                 const kn_quantile *q)
{
    const kn_value whole = {.at = c->at, .length = c->length};
    return kn_call_check(p, &whole, kn_quantile_find(out, q));
}

static kiln_status add_quantile(kn_value *out, kn_parser *p, const kn_called *c, const kn_quantile *q,
                                const kn_value *x, const kn_value *second)
{
    kiln_kernel *kernel = NULL;
    int in[2], n_in = 0;
    kiln_status status = kn_parser_node(&in[n_in++], p, x);
    if (status == KILN_OK && second)
        status = kn_parser_node(&in[n_in++], p, second);
    if (status == KILN_OK)
        status = find_quantile(&kernel, p, c, q);
    return status == KILN_OK ? kn_call_add_kernel(out, p, c, kernel, in, n_in, kernel->program->n_out)
                             : status;
}

/* median(a, axis=None, keepdims=False), nanmedian */
kiln_status kn_call_median(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a", "axis", "keepdims"};
    kn_quantile q = {.is_median = true, .skips_nan = c->which & KN_SKIPS_NAN};
    kn_value slot[3] = {{0}};
    kiln_status status = kn_call_match(slot, p, c, names, 3, 2, 1);
    if (status == KILN_OK)
        status = read_axes(&q, p, &slot[1]);
    if (status == KILN_OK)
        status = read_flag(&q.keepdims, p, &slot[2], names[2]);
    return status == KILN_OK ? add_quantile(out, p, c, &q, &slot[0], NULL) : status;
}

static kiln_status read_number(double *out, const kn_parser *p, const kn_value *value)
{
    if (kn_parser_is_number(p, value))
        return kn_scalar_store(out, KILN_FLOAT64, &p->graph->node[value->node].number, "q");
    return kn_parser_refuse(p, value->at, value->length,
                            "q: a number that stands in the expression was expected");
}

/* Several numbers in brackets: a list. One number stands for itself, and is checked. */
static kiln_status read_list(kn_quantile *q, const kn_parser *p, const kn_value *value)
{
    const kn_value *item;
    const int count = kn_parser_items(&item, p, value);
    double number = 0;
    kiln_status status = KILN_OK;
    q->has_list = value->kind == KN_VALUE_TUPLE;
    q->n_list = q->has_list ? count : 0;
    if (!q->has_list && kn_parser_is_number(p, value)) {
        status = read_number(&number, p, value);
        return status == KILN_OK ? kn_call_check(p, value, kn_quantile_check(q, number)) : status;
    }
    if (q->n_list > KN_MOST_QUANTILES)
        return kn_parser_refuse(p, value->at, value->length,
                                "q: %d were given; at most %d, or an array, were expected", q->n_list,
                                KN_MOST_QUANTILES);
    for (int k = 0; k < q->n_list && status == KILN_OK; ++k)
        status = read_number(&q->list[k], p, &item[k]);
    return status;
}

/* q is a list of lists: the results of each are stacked. */
static kiln_status stack_quantiles(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *slot)
{
    static const char *const others[] = {NULL, NULL, "axis", "method", "keepdims", "weights"};
    static const char *const rows[] = {"q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7"};
    const char *names[14] = {"a"};
    kn_value in[14] = {slot[0]};
    const kn_value *item;
    int n = 1, count = kn_parser_items(&item, p, &slot[1]);
    kn_str text = KN_STR_INIT;
    if (count > 8)
        return kn_parser_refuse(p, slot[1].at, slot[1].length, "q: at most 8 lists were expected");
    kn_str_append(&text, "stack([");
    for (int k = 0; k < count; ++k) {
        in[n] = item[k];
        names[n++] = rows[k];
        kn_str_printf(&text, "%s%.*s(a, %s", k > 0 ? ", " : "", (int)c->name_length, c->name, rows[k]);
        for (int a = 2; a < 6; ++a)
            if (slot[a].kind != KN_VALUE_ABSENT)
                kn_str_printf(&text, ", %s=%s", others[a], others[a]);
        kn_str_append(&text, ")");
    }
    kn_str_append(&text, "])");
    for (int a = 2; a < 6; ++a) {
        in[n] = slot[a];
        names[n++] = others[a];
    }
    kiln_status status = kn_str_status(&text, "the text of a function");
    if (status == KILN_OK)
        status = kn_compose(out, p, c, kn_str_text(&text), names, in, n);
    kn_str_free(&text);
    return status;
}

static bool has_lists(const kn_parser *p, const kn_value *q)
{
    const kn_value *item;
    return q->kind == KN_VALUE_TUPLE && kn_parser_items(&item, p, q) > 0 && item->kind == KN_VALUE_TUPLE;
}

static kiln_status add_weighted(kn_value *out, kn_parser *p, const kn_called *c, const kn_quantile *q,
                                const kn_value *slot)
{
    double one = 0;
    kiln_status status = q->has_list ? KILN_OK : read_number(&one, p, &slot[1]);
    for (int k = 0; k < q->n_list && status == KILN_OK; ++k)
        status = kn_call_check(p, &slot[1], kn_quantile_check(q, q->list[k]));
    return status == KILN_OK ? kn_call_weighted_quantile(out, p, c, q, q->has_list ? q->list : &one,
                                                         q->has_list ? q->n_list : 1, slot)
                             : status;
}

/* quantile(a, q, axis=None, method='linear', keepdims=False, weights=None), percentile, nanquantile,
 * nanpercentile */
kiln_status kn_call_quantile(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a", "q", "axis", "method", "keepdims", "weights"};
    kn_quantile q = {.is_percentile = c->which & KN_OF_PERCENT, .skips_nan = c->which & KN_SKIPS_NAN};
    char method[32] = "linear";
    kn_value slot[6] = {{0}};
    kiln_status status = kn_call_match(slot, p, c, names, 6, 3, 2);
    if (status == KILN_OK && has_lists(p, &slot[1]))
        return stack_quantiles(out, p, c, slot);
    if (status == KILN_OK)
        status = read_axes(&q, p, &slot[2]);
    if (status == KILN_OK && slot[3].kind != KN_VALUE_ABSENT) {
        if (slot[3].kind != KN_VALUE_WORD || slot[3].length - 2 >= sizeof method)
            return kn_parser_refuse(p, slot[3].at, slot[3].length,
                                    "method: a name in quotes was expected, such as 'linear'");
        memcpy(method, slot[3].word, slot[3].length - 2);
        method[slot[3].length - 2] = '\0';
    }
    q.method = method;
    if (status == KILN_OK)
        status = read_flag(&q.keepdims, p, &slot[4], names[4]);
    if (status == KILN_OK)
        status = read_list(&q, p, &slot[1]);
    if (status == KILN_OK && kn_call_is_given(&slot[5]))
        return add_weighted(out, p, c, &q, slot);
    return status == KILN_OK ? add_quantile(out, p, c, &q, &slot[0], q.has_list ? NULL : &slot[1]) : status;
}

/* runs_of(x): elements that differ from the one before, and how often each comes in a row; run_lengths is
 * composed of it. */
kiln_status kn_call_runs(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"x"};
    kn_value slot[1] = {{0}};
    kiln_kernel *kernel = NULL;
    int in = 0;
    kiln_status status = kn_call_match(slot, p, c, names, 1, 1, 1);
    if (status == KILN_OK)
        status = kn_parser_node(&in, p, &slot[0]);
    if (status == KILN_OK)
        status = kn_unique_find(&kernel, KN_UNIQUE_RUNS | KILN_UNIQUE_COUNTS);
    return status == KILN_OK ? kn_call_add_kernel(out, p, c, kernel, &in, 1, 2) : status;
}

/* unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, equal_nan=True) */
kiln_status kn_call_unique(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"ar",   "return_index", "return_inverse", "return_counts",
                                        "axis", "equal_nan"};
    kn_value slot[6] = {{0}};
    bool is_equal = true;
    kiln_kernel *kernel = NULL;
    unsigned flags = 0;
    int64_t axis = 0;
    int in = 0;
    kiln_status status = kn_call_match(slot, p, c, names, 6, 5, 1);
    if (status == KILN_OK && slot[5].kind != KN_VALUE_ABSENT)
        status = read_flag(&is_equal, p, &slot[5], names[5]);
    for (int k = 1; k < 4 && status == KILN_OK; ++k) {
        bool is_wanted = false;
        status = read_flag(&is_wanted, p, &slot[k], names[k]);
        flags |= (unsigned)is_wanted << (k - 1);
    }
    const bool has_axis = kn_call_is_given(&slot[4]);
    if (status == KILN_OK && has_axis)
        status = kn_parser_whole(&axis, p, &slot[4], names[4]);
    if (status == KILN_OK && has_axis && !is_equal)
        return kn_parser_refuse(p, slot[5].at, slot[5].length,
                                "equal_nan: along an axis parts with NaN are equal: True was expected");
    flags |= is_equal ? 0 : KN_UNIQUE_NANS;
    if (status == KILN_OK && has_axis)
        return kn_call_unique_parts(out, p, c, &slot[0], axis, flags);
    if (status == KILN_OK)
        status = kn_parser_node(&in, p, &slot[0]);
    if (status == KILN_OK)
        status = kn_unique_find(&kernel, flags);
    return status == KILN_OK ? kn_call_add_kernel(out, p, c, kernel, &in, 1, kernel->program->n_out) : status;
}
