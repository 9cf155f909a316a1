/* Functions of expressions whose text is written for their arguments: how many there are, and which words. */
#include "expr/call.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "expr/composed.h"
#include "expr/lists.h"
#include "expr/shaped.h"
#include "kernel/kernel.h"

enum { MOST = KN_MAX_PARAMS - 1 };

/* The names of a text's values: its parameters, and the items of lists. */
typedef struct names {
    const char *name[3 * MOST];
    kn_value slot[3 * MOST];
    char item[2 * MOST][16];
    int count, n_items;
} names;

static void add_name(names *n, const char *name, const kn_value *value)
{
    n->name[n->count] = name;
    n->slot[n->count++] = *value;
}

/* The items of a list, called d0, d1 ... */
static kiln_status add_items(names *n, int *count, char letter, const kn_parser *p, const kn_value *list,
                             const char *what)
{
    const kn_value *item;
    *count = kn_parser_items(&item, p, list);
    if (*count < 1 || *count > MOST)
        return kn_parser_refuse(p, list->at, list->length, "%s: %d were given; 1 to %d were expected", what,
                                *count, MOST);
    for (int k = 0; k < *count; ++k) {
        char *name = n->item[n->n_items++];
        snprintf(name, sizeof n->item[0], "%c%d", letter, k);
        add_name(n, name, &item[k]);
    }
    return KILN_OK;
}

static kiln_status read(kn_value *out, kn_parser *p, const kn_called *c, kn_str *text, names *n)
{
    kiln_status status = kn_str_status(text, "the text of a function");
    if (status == KILN_OK)
        status = kn_compose(out, p, c, kn_str_text(text), n->name, n->slot, n->count);
    kn_str_free(text);
    return status;
}

/* ---- polynomials' products ---- */

/* The wanted numbers, of those from 0 to n + m - 2; l: the smaller length. correlate's results of a longer v
 * are numbered from the other end. */
static const char *const modes[] = {"full", "same", "valid", NULL},
                         *const numbers[] = {"arange(n + m - 1)", "arange(n + m - l) + (%s)",
                                             "arange(n + m - 2 * l + 1) + (l - 1)"};
enum { VALID = 2 };

/* convolve(a, v, mode='full'), and correlate(a, v, mode='valid') (which). */
kiln_status kn_call_convolve(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const name[] = {"a", "v", "mode"};
    names n = {.count = 0};
    kn_value slot[3] = {{0}};
    kn_str text = KN_STR_INIT;
    int mode = 0;
    kiln_status status = kn_call_match(slot, p, c, name, 3, 3, 2);
    if (status == KILN_OK)
        status = kn_call_word(&mode, p, &slot[2], modes, name[2]);
    if (status == KILN_OK && slot[2].kind == KN_VALUE_ABSENT && c->which)
        mode = VALID;
    if (status != KILN_OK)
        return status;
    add_name(&n, "a", &slot[0]);
    add_name(&n, "v", &slot[1]);
    /* Both get the dtype of both, by elements that are not read. */
    kn_str_printf(&text,
                  "x, w = transpose(atleast_1d(a), 0), transpose(atleast_1d(v), 0); n, m = len(x), len(w); l "
                  "= n * (n <= m) + m * (m < n); "
                  "convolved(where(True, x, take(w, arange(1), mode='clip')[0]), "
                  "where(True, %s, take(x, arange(1), mode='clip')[0]), ",
                  c->which ? "conj(w[::-1])" : "w");
    kn_str_printf(&text, numbers[mode], c->which ? "(l - 1) // 2 + ((l - 1) % 2) * (m > n)" : "(l - 1) // 2");
    kn_str_append(&text, ")");
    return read(out, p, c, &text, &n);
}

/* ---- gradients ---- */

/* The places may have a wider dtype, in which is computed; the results have that of f. */
#define OF_PARTS                                                                                             \
    "concatenate([full_like(f[..., :1], %s), full_like(f[..., 1:-1], %s), full_like(f[..., :1], %s)], "      \
    "axis=-1)"
static const char
    *const evenly[] = {"(f[..., 1:2] - f[..., :1]) / dx", "(f[..., -1:] - f[..., -2:-1]) / dx",
                       "-1.5 / dx * f[..., :1] + 2.0 / dx * f[..., 1:2] - 0.5 / dx * f[..., 2:3]",
                       "0.5 / dx * f[..., -3:-2] - 2.0 / dx * f[..., -2:-1] + 1.5 / dx * f[..., -1:]",
                       "(f[..., 2:] - f[..., :-2]) / (2.0 * dx)"},
           *const by_places[] = {
               "(f[..., 1:2] - f[..., :1]) / h[0]", "(f[..., -1:] - f[..., -2:-1]) / h[-1]",
               "-(2.0 * h[0] + h[1]) / (h[0] * (h[0] + h[1])) * f[..., :1] + (h[0] + h[1]) / (h[0] * "
               "h[1]) * f[..., 1:2] - h[0] / (h[1] * (h[0] + h[1])) * f[..., 2:3]",
               "h[-1] / (h[-2] * (h[-2] + h[-1])) * f[..., -3:-2] - (h[-1] + h[-2]) / (h[-2] * h[-1]) * "
               "f[..., -2:-1] + (2.0 * h[-1] + h[-2]) / (h[-1] * (h[-2] + h[-1])) * f[..., -1:]",
               "-(r) / (l * (l + r)) * f[..., :-2] + (r - l) / (l * r) * f[..., 1:-1] + l / (r * (l + "
               "r)) * f[..., 2:]"};

/* One axis of a gradient: the distance of elements, or their places. */
typedef struct slope {
    kn_value f, spacing, axis;
    int64_t order;
} slope;

static void put_slope(kn_str *text, bool has_places, int64_t order)
{
    const char *const *part = has_places ? by_places : evenly;
    const int ends = order == 2 ? 2 : 0;
    if (has_places)
        kn_str_append(text, "h = diff(x - 0.0); l, r = h[:-1], h[1:]; ");
    kn_str_append(text, "f = swapaxes(f - 0.0, axis, -1); swapaxes(");
    kn_str_printf(text, OF_PARTS ", axis, -1)", part[ends], part[4], part[ends + 1]);
}

static kiln_status refuse_axes(int n_axes, int64_t expected)
{
    return expected == 1
               ? kn_error(KILN_ERROR_SHAPE,
                          "f has %d axes, and the argument 'axis' is missing: axis=(0, 1), or as many names "
                          "for the results (a, b = gradient(f)), give a result for each axis",
                          n_axes)
               : kn_error(KILN_ERROR_SHAPE, "f has %d axes, and %lld distances, or results, were given",
                          n_axes, (long long)expected);
}

/* The elements that the edges need, and a place for each. An axis that is none is refused elsewhere. */
static kiln_status check_extent(const kn_shaped_own *own, const kn_described *in)
{
    const int64_t order = own->number[0], axis = own->number[1] + (own->number[1] < 0 ? in[0].ndim : 0);
    const int64_t extent = axis >= 0 && axis < in[0].ndim ? in[0].shape[axis] : INT64_MAX;
    if (extent <= order)
        return kn_error(KILN_ERROR_SHAPE,
                        "f has %lld elements along axis %lld; %lld, edge_order + 1, were expected at least",
                        (long long)extent, (long long)axis, (long long)order + 1);
    if (in[1].ndim == 1 && in[1].shape[0] != extent && extent < INT64_MAX)
        return kn_error(KILN_ERROR_SHAPE, "%lld places were given; f has %lld elements along axis %lld",
                        (long long)in[1].shape[0], (long long)extent, (long long)axis);
    return KILN_OK;
}

/* number: the order, the axis, and how many axes f has; 0: any number. */
static kiln_status write_slope(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    if (own->number[2] > 0 && in[0].ndim != own->number[2])
        return refuse_axes(in[0].ndim, own->number[2]);
    if (in[1].ndim > 1)
        return kn_error(KILN_ERROR_SHAPE, "places have %d axes; a number or one axis was expected",
                        in[1].ndim);
    kiln_status status = check_extent(own, in);
    kn_str_printf(text, "f, %s, axis = x0, x1, %lld; ", in[1].ndim == 1 ? "x" : "dx",
                  (long long)own->number[1]);
    put_slope(text, in[1].ndim == 1, own->number[0]);
    return status;
}

/* ndim: as many axes f has to have; 0: any number. */
static kiln_status add_slope(kn_value *out, kn_parser *p, const kn_called *c, const slope *s, int64_t ndim)
{
    static const char *const name[] = {"d"};
    kn_shaped_own own = {.count = 3, .number = {s->order, 0, ndim}};
    kn_value in[] = {s->f, s->spacing}, spacing = in[1];
    kiln_status status = kn_parser_whole(&own.number[1], p, &s->axis, "axis");
    if (status == KILN_OK && !kn_parser_is_number(p, &in[1])) /* a number by value becomes an array */
        status = kn_compose(&in[1], p, c, "d * ones(1)[0]", name, &spacing, 1);
    return status == KILN_OK ? kn_call_shaped(out, p, c, write_slope, &own, in, 2) : status;
}

/* The values without a name behind the first are taken out of the call. */
static kiln_status take_distances(kn_value *distance, int *count, kn_parser *p, kn_called *c)
{
    int left = 0;
    *count = 0;
    for (int k = 0; k < c->count; ++k) {
        const kn_value argument = p->argument[c->first + k];
        if (k == 0 || argument.key_length > 0)
            p->argument[c->first + left++] = argument;
        else if (*count == KILN_MAX_NDIM)
            return kn_call_refuse(p, c, "more distances were given than an array has axes");
        else
            distance[(*count)++] = argument;
    }
    c->count = left;
    return KILN_OK;
}

static kiln_status add_slopes(kn_value *out, kn_parser *p, const kn_called *c, slope *s, const kn_value *axis,
                              const kn_value *distance, int n_distances)
{
    kn_value one[KILN_MAX_NDIM] = {{0}}, axes[KILN_MAX_NDIM];
    const kn_value *item;
    const bool has_axis = kn_call_is_given(axis);
    const int n_results = n_distances > 1 ? n_distances : c->n_targets > 1 ? c->n_targets : 1;
    const int count = has_axis ? kn_parser_items(&item, p, axis) : n_results;
    const bool is_list = has_axis ? axis->kind == KN_VALUE_TUPLE : n_results > 1;
    kiln_status status = KILN_OK;
    if (count < 1 || count > KILN_MAX_NDIM)
        return kn_parser_refuse(p, axis->at, axis->length, "axis: %d were given; 1 to %d were expected",
                                count, KILN_MAX_NDIM);
    if (n_distances > 1 && n_distances != count)
        return kn_call_refuse(p, c, "as many distances as axes were expected, or one");
    if (has_axis)
        memcpy(axes, item, (size_t)count * sizeof *item); /* items move as others are added */
    for (int k = 0; k < count && !has_axis && status == KILN_OK; ++k)
        status = kn_parser_number(&axes[k], p, kiln_arg_int(k - count), c->at, c->length);
    for (int k = 0; k < count && status == KILN_OK; ++k) {
        if (n_distances > 0)
            s->spacing = distance[n_distances > 1 ? k : 0];
        s->axis = axes[k];
        status = add_slope(&one[k], p, c, s, has_axis ? 0 : count);
    }
    *out = is_list ? (kn_value){.kind = KN_VALUE_TUPLE,
                                .first = p->n_items,
                                .count = count,
                                .at = c->at,
                                .length = c->length}
                   : one[0];
    for (int k = 0; k < count && is_list && status == KILN_OK; ++k)
        status = kn_parser_push_item(p, &one[k]);
    return status;
}

/* gradient(f, *distances, axis=None, edge_order=1): a distance, or places along its axis, for all axes or
 * for each; dx= and x= say which it is. Several axes, distances or names of results give as many results. */
kiln_status kn_call_gradient(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const name[] = {"f", "dx", "axis", "edge_order", "x"};
    kn_value slot[5] = {{0}}, distance[KILN_MAX_NDIM];
    kn_called called = *c;
    int n_distances = 0;
    slope s = {.order = 1};
    kiln_status status = take_distances(distance, &n_distances, p, &called);
    if (status == KILN_OK)
        status = kn_call_match(slot, p, &called, name, 5, 1, 1);
    s.f = slot[0];
    const bool has_places = slot[4].kind != KN_VALUE_ABSENT, has_distance = slot[1].kind != KN_VALUE_ABSENT;
    s.spacing = slot[has_places ? 4 : 1];
    if (status == KILN_OK && has_places + has_distance + (n_distances > 0) > 1)
        return kn_parser_refuse(p, c->at, c->length, "x: dx or x were expected, not both");
    if (status == KILN_OK && !has_places && !has_distance)
        status = kn_parser_number(&s.spacing, p, kiln_arg_float(1), c->at, c->length);
    if (status == KILN_OK && slot[3].kind != KN_VALUE_ABSENT)
        status = kn_parser_whole(&s.order, p, &slot[3], name[3]);
    if (status == KILN_OK && s.order != 1 && s.order != 2)
        return kn_parser_refuse(p, slot[3].at, slot[3].length,
                                "edge_order: %lld was given; 1 or 2 was expected", (long long)s.order);
    return status == KILN_OK ? add_slopes(out, p, c, &s, &slot[2], distance, n_distances) : status;
}

/* ---- shapes that are given ---- */

static void put_shape(kn_str *text, int count, const char *between)
{
    for (int k = 0; k < count; ++k)
        kn_str_printf(text, "%sd%d", k > 0 ? between : "", k);
}

static void put_sparse_indices(kn_str *text, int count, const char *dtype)
{
    kn_str_append(text, "meshgrid(");
    for (int k = 0; k < count; ++k)
        kn_str_printf(text, "astype(arange(d%d), %s), ", k, dtype);
    kn_str_append(text, "indexing='ij', sparse=True)");
}

/* indices(dimensions, dtype=int64, sparse=False): the indices along each axis, stacked; sparse: as many
 * results as there are axes. */
kiln_status kn_call_indices(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const name[] = {"dimensions", "dtype", "sparse"};
    names n = {.count = 0};
    kn_value slot[3] = {{0}};
    kn_str text = KN_STR_INIT;
    int count = 0;
    int64_t is_sparse = 0;
    kiln_status status = kn_call_match(slot, p, c, name, 3, 3, 1);
    if (status == KILN_OK)
        status = add_items(&n, &count, 'd', p, &slot[0], name[0]);
    if (status == KILN_OK && slot[2].kind != KN_VALUE_ABSENT)
        status = kn_parser_whole(&is_sparse, p, &slot[2], name[2]);
    if (status != KILN_OK)
        return status;
    add_name(&n, "dtype", &slot[1]);
    if (is_sparse) {
        put_sparse_indices(&text, count, slot[1].kind == KN_VALUE_ABSENT ? "int64" : "dtype");
        return read(out, p, c, &text, &n);
    }
    kn_str_printf(&text, "k = arange(%d)[:", count);
    for (int k = 0; k < count; ++k)
        kn_str_append(&text, ", None");
    kn_str_append(&text, "]; astype(broadcast_to(");
    for (int k = 0; k < count; ++k) {
        kn_str_printf(&text, k + 1 < count ? "where(k == %d, " : "", k);
        kn_str_printf(&text, "arange(d%d)[:", k);
        for (int a = k + 1; a < count; ++a)
            kn_str_append(&text, ", None");
        kn_str_append(&text, k + 1 < count ? "], " : "]");
    }
    for (int k = 0; k + 1 < count; ++k)
        kn_str_append(&text, ")");
    kn_str_printf(&text, ", (%d, ", count);
    put_shape(&text, count, ", ");
    kn_str_printf(&text, ")), %s)", slot[1].kind == KN_VALUE_ABSENT ? "int64" : "dtype");
    return read(out, p, c, &text, &n);
}

/* resize(a, new_shape): all elements again and again; the method has zeros behind them. */
kiln_status kn_call_resize(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const name[] = {"a", "new_shape"};
    names n = {.count = 0};
    kn_value slot[2] = {{0}};
    kn_str text = KN_STR_INIT;
    int count = 0;
    kiln_status status = kn_call_match(slot, p, c, name, 2, 2, 2);
    if (status == KILN_OK)
        status = add_items(&n, &count, 'd', p, &slot[1], name[1]);
    if (status != KILN_OK)
        return status;
    add_name(&n, "a", &slot[0]);
    kn_str_append(&text, "k = counted(");
    put_shape(&text, count, " * ");
    kn_str_printf(&text, "); v = take(ravel(a), k, mode='%s'); reshape(%s, (", c->is_method ? "clip" : "wrap",
                  c->is_method ? "where(k < size(a), v, False)" : "v");
    put_shape(&text, count, ", ");
    kn_str_append(&text, ",))");
    return read(out, p, c, &text, &n);
}

/* ---- one array of several ---- */

/* A value in the common dtype of itself and these, and of their shape. */
static kiln_status add_joined(names *n, const char *name, kn_parser *p, const kn_called *c,
                              const kn_value *value, const kn_value *others, int count)
{
    int in[MOST + 2] = {0};
    const kn_node node = {.kind = KN_NODE_LIKE,
                          .n_in = count + 2,
                          .in = in,
                          .index = KN_LIKE_ALL,
                          .at = c->at,
                          .length = c->length};
    kn_value joined;
    kiln_status status = kn_parser_node(in, p, value);
    in[1] = in[0];
    for (int k = 0; k < count && status == KILN_OK; ++k)
        status = kn_parser_node(&in[2 + k], p, &others[k]);
    if (status == KILN_OK)
        status = kn_parser_add(&joined, p, &node);
    if (status == KILN_OK)
        add_name(n, name, &joined);
    return status;
}

/* select(condlist, choicelist, default=0) */
kiln_status kn_call_select(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const name[] = {"condlist", "choicelist", "default"};
    names n = {.count = 0};
    kn_value slot[3] = {{0}};
    kn_str text = KN_STR_INIT;
    int n_conditions = 0, n_choices = 0;
    kiln_status status = kn_call_match(slot, p, c, name, 3, 3, 2);
    if (status == KILN_OK)
        status = add_items(&n, &n_conditions, 'c', p, &slot[0], name[0]);
    if (status == KILN_OK)
        status = add_items(&n, &n_choices, 'x', p, &slot[1], name[1]);
    if (status == KILN_OK && n_conditions != n_choices)
        return kn_parser_refuse(p, slot[1].at, slot[1].length,
                                "choicelist: %d were given; as many as condlist has, %d, were expected",
                                n_choices, n_conditions);
    if (status != KILN_OK)
        return status;
    add_name(&n, "other", &slot[2]);
    if (slot[2].kind == KN_VALUE_ABSENT)
        status = kn_parser_number(&slot[2], p, kiln_arg_int(0), c->at, c->length);
    if (status == KILN_OK)
        status = add_joined(&n, "other", p, c, &slot[2], &n.slot[n_conditions], n_choices);
    for (int k = 0; k < n_choices; ++k)
        kn_str_printf(&text, "where(c%d, x%d, ", k, k);
    kn_str_append(&text, "other");
    for (int k = 0; k < n_choices; ++k)
        kn_str_append(&text, ")");
    if (status == KILN_OK)
        return read(out, p, c, &text, &n);
    kn_str_free(&text);
    return status;
}

/* The choices are what lies along the first axis. */
static kiln_status write_chosen(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    if (in[1].ndim == 0 || in[1].shape[0] < 1 || in[1].shape[0] >= KN_MAX_PARAMS)
        return kn_error(KILN_ERROR_SHAPE, "choices: a list of arrays, or an array of 1 to %d, was expected",
                        KN_MAX_PARAMS - 1);
    kn_str_append(text, "choose(x0, [");
    for (int k = 0; k < (int)in[1].shape[0]; ++k)
        kn_str_printf(text, "%sx1[%d]", k > 0 ? ", " : "", k);
    kn_str_printf(text, "], mode='%s')", own->word[0]);
    return KILN_OK;
}

static kiln_status choose_rows(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *in,
                               const char *mode)
{
    kn_shaped_own own = {.which = 0};
    memcpy(own.word[0], mode, strlen(mode));
    return kn_call_shaped(out, p, c, write_chosen, &own, in, 2);
}

/* choose(a, choices, mode='raise') */
kiln_status kn_call_choose(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const name[] = {"a", "choices", "mode"},
                             *const words[] = {"raise", "wrap", "clip", NULL},
                             *const places[] = {"take(arange(%d), where(a < 0, %d, a))", "(a | 0) %% %d",
                                                "clip(a | 0, 0, %d - 1)"};
    names n = {.count = 0};
    kn_value slot[3] = {{0}};
    kn_str text = KN_STR_INIT;
    int count = 0, mode = 0;
    kiln_status status = kn_call_match(slot, p, c, name, 3, 2, 2);
    if (status == KILN_OK)
        status = kn_call_word(&mode, p, &slot[2], words, name[2]);
    if (status == KILN_OK && slot[1].kind == KN_VALUE_NODE)
        return choose_rows(out, p, c, slot, words[mode]);
    if (status == KILN_OK)
        status = add_items(&n, &count, 'x', p, &slot[1], name[1]);
    if (status != KILN_OK)
        return status;
    add_name(&n, "a", &slot[0]);
    kn_str_append(&text, "k = ");
    kn_str_printf(&text, places[mode], count, count);
    kn_str_append(&text, "; ");
    if (count > 1)
        status = add_joined(&n, "last", p, c, &n.slot[count - 1], n.slot, count - 1);
    for (int k = 0; k + 1 < count; ++k)
        kn_str_printf(&text, "where(k == %d, x%d, ", k, k);
    kn_str_append(&text, count > 1 ? "last" : "where(k == 0, x0, False)");
    for (int k = 0; k + 1 < count; ++k)
        kn_str_append(&text, ")");
    if (status == KILN_OK)
        return read(out, p, c, &text, &n);
    kn_str_free(&text);
    return status;
}

/* ---- bins of pairs ---- */

/* The bins of both columns: of a list of two, each its own; any other list or array has the edges of both. */
static void put_bins(kn_str *text, names *n, const kn_parser *p, const kn_value *bins)
{
    const kn_value *item;
    const bool is_pair = kn_parser_items(&item, p, bins) == 2 && bins->kind == KN_VALUE_TUPLE;
    add_name(n, "b0", is_pair ? &item[0] : bins);
    add_name(n, "b1", is_pair ? &item[1] : bins);
    kn_str_append(text, "[b0, b1]");
}

/* histogram2d(x, y, bins=10, range=None, density=False, weights=None): rows of the table where the number of
 * bins is one, else the histogram of a list of columns. */
kiln_status kn_call_histogram2d(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const name[] = {"x", "y", "bins", "range", "density", "weights"};
    names n = {.count = 0};
    kn_value slot[6] = {{0}};
    kn_str text = KN_STR_INIT;
    kiln_status status = kn_call_match(slot, p, c, name, 6, 6, 2);
    if (status != KILN_OK)
        return status;
    bool is_row = slot[2].kind == KN_VALUE_ABSENT || kn_parser_is_number(p, &slot[2]);
    for (int k = 3; k < 6; ++k) /* which rows have by name alone, and not None */
        is_row = is_row && (slot[k].kind == KN_VALUE_ABSENT ||
                            (k != 4 && kn_call_is_given(&slot[k]) && slot[k].key_length > 0));
    if (is_row && kn_call_composed(&status, out, p, c))
        return status;
    add_name(&n, "x", &slot[0]);
    add_name(&n, "y", &slot[1]);
    kn_str_append(&text, "histogramdd([x, y], ");
    if (slot[2].kind == KN_VALUE_ABSENT)
        kn_str_append(&text, "[10, 10]");
    else
        put_bins(&text, &n, p, &slot[2]);
    for (int k = 3; k < 6; ++k)
        if (kn_call_is_given(&slot[k])) {
            kn_str_printf(&text, ", %s=%s", name[k], name[k]);
            add_name(&n, name[k], &slot[k]);
        }
    kn_str_append(&text, ")");
    return read(out, p, c, &text, &n);
}

/* ---- zeros at the ends; bits ---- */

/* Elements between the ends of one axis. What is left along several depends on values, which an expression of
 * its own cannot say. */
static kiln_status write_trimmed(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    static const char *const keeps[] = {"(c > 0) & (sum(m) - c + m > 0)", "c > 0", "sum(m) - c + m > 0",
                                        "(c > 0) & (sum(m) - c + m > 0)"};
    if (in[0].ndim != 1)
        return kn_error(KILN_ERROR_SHAPE,
                        "trim_zeros: 'filt' has %d axes; one was expected, or the axes: axis=(0, 1)",
                        in[0].ndim);
    kn_str_printf(text, "m = x0 != 0; c = cumsum(m); selected(%s, x0)", keeps[own->which]);
    return KILN_OK;
}

/* trim_zeros(filt, trim='fb', axis=None): without axes filt has one. */
kiln_status kn_call_trim_zeros(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const name[] = {"filt", "trim", "axis"}, *const words[] = {"fb", "f", "b", "bf", NULL};
    kn_shaped_own own = {.count = 0};
    kn_value slot[3] = {{0}};
    kiln_status status = kn_call_match(slot, p, c, name, 3, 3, 1);
    if (status == KILN_OK)
        status = kn_call_word(&own.which, p, &slot[1], words, name[1]);
    if (status == KILN_OK)
        status = p->array(&slot[0], p);
    if (status != KILN_OK)
        return status;
    if (kn_call_is_given(&slot[2]))
        return kn_call_trim_axes(out, p, c, &slot[0], &slot[2], words[own.which]);
    return kn_call_shaped(out, p, c, write_trimmed, &own, slot, 1);
}

/* packbits(a, axis=None, bitorder='big'), unpackbits(a, axis=None, count=None, bitorder='big') (which) */
kiln_status kn_call_packbits(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const packing[] = {"a", "axis", "bitorder"},
                             *const unpacking[] = {"a", "axis", "count", "bitorder"},
                             *const orders[] = {"big", "little", NULL};
    const char *const *name = c->which ? unpacking : packing;
    const int n_names = 3 + c->which;
    names n = {.count = 0};
    kn_value slot[4] = {{0}};
    kn_str text = KN_STR_INIT;
    int64_t count = 0;
    int order = 0;
    kiln_status status = kn_call_match(slot, p, c, name, n_names, n_names, 1);
    if (status == KILN_OK)
        status = kn_call_word(&order, p, &slot[n_names - 1], orders, "bitorder");
    const bool has_count = c->which && kn_call_is_given(&slot[2]), has_axis = kn_call_is_given(&slot[1]);
    if (status == KILN_OK && has_count)
        status = kn_parser_whole(&count, p, &slot[2], "count");
    if (status != KILN_OK)
        return status;
    add_name(&n, "a", &slot[0]);
    add_name(&n, "axis", &slot[1]);
    kn_str_append(&text,
                  has_axis ? "a = swapaxes(a, axis, -1); n = a.shape[-1]; " : "a = ravel(a); n = size(a); ");
    kn_str_append(&text, has_axis ? "swapaxes(" : "");
    if (!c->which)
        kn_str_append(&text, "packed(a, a[..., :1], arange((n + 7) // 8)");
    else if (has_count)
        kn_str_printf(&text, "unpacked(a, a[..., :1], arange(%s%lld)", count < 0 ? "8 * n + " : "",
                      (long long)count);
    else
        kn_str_append(&text, "unpacked(a, a[..., :1], arange(8 * n)");
    kn_str_printf(&text, ", %d)%s", order, has_axis ? ", axis, -1)" : "");
    return read(out, p, c, &text, &n);
}

/* ---- indices of several axes and of one ---- */

/* The ways with an index that is outside: `raise` reports it as it was given. */
static const char *const index_modes[] = {"raise", "wrap", "clip", NULL}, *const index_orders[] = {"C", "F",
                                                                                                   NULL};
enum { MOST_INDICES = 26 /* letters */ };

/* One word for all axes, or a list of one for each. */
static kiln_status read_modes(int *mode, const kn_parser *p, const kn_value *given, int count)
{
    const kn_value *item = given;
    const bool is_list = given->kind == KN_VALUE_TUPLE;
    kiln_status status = KILN_OK;
    if (is_list && kn_parser_items(&item, p, given) != count)
        return kn_parser_refuse(p, given->at, given->length,
                                "mode: %d were given; as many as dims has, %d, were expected", given->count,
                                count);
    memset(mode, 0, (size_t)count * sizeof *mode);
    for (int k = 0; k < count && status == KILN_OK; ++k)
        status = kn_call_word(&mode[k], p, is_list ? &item[k] : given, index_modes, "mode");
    return status;
}

static void put_inside(kn_str *body, int mode, int k)
{
    if (mode == 0)
        kn_str_printf(body, "kn_checked_index((uint64)at%d, %d, %d, d%d)", k, k, k, k);
    else if (mode == 1)
        kn_str_printf(body, "((at%d %% d%d + d%d) %% d%d)", k, k, k, k);
    else
        kn_str_printf(body, "(at%d < 0 ? 0 : at%d < d%d ? at%d : d%d - 1)", k, k, k, k, k);
}

/* Indices first, then extents. */
static kiln_status add_map(kn_value *out, kn_parser *p, const kn_called *c, kn_str *params, kn_str *body,
                           const kn_value *value, int n_in, unsigned flags, int n_indices)
{
    kiln_kernel *kernel = NULL;
    int in[2 * MOST_INDICES];
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)c->name_length, c->name);
    kiln_status status = kn_str_status(params, "the text of a function");
    if (status == KILN_OK)
        status = kn_str_status(body, "the text of a function");
    for (int k = 0; k < n_in && status == KILN_OK; ++k)
        status = kn_parser_node(&in[k], p, &value[k]);
    if (status == KILN_OK)
        status = kn_map_find(&kernel, &(kn_map_texts){kn_str_text(params), "int64 y", kn_str_text(body), name,
                                                      flags, (UINT64_C(1) << n_indices) - 1});
    kn_str_free(params);
    kn_str_free(body);
    return status == KILN_OK ? kn_call_add_kernel(out, p, c, kernel, in, n_in, 1) : status;
}

/* A map of all indices and extents, `value` in this order; checked if a mode is 'raise'. */
static kiln_status add_flat_index(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *value,
                                  int count, const int *mode, bool is_reversed)
{
    kn_str params = KN_STR_INIT, body = KN_STR_INIT;
    unsigned flags = 0;
    kn_str_append(&body, "int64 r = 0;");
    for (int k = 0; k < count; ++k) {
        kn_str_printf(&params, "%c i%d, ", 'A' + k, k);
        kn_str_printf(&body, " const int64 at%d = (int64)i%d;", k, k);
    }
    for (int k = 0; k < count; ++k)
        kn_str_printf(&params, "%sint64 d%d", k > 0 ? ", " : "", k);
    for (int n = 0; n < count; ++n) {
        const int k = is_reversed ? count - 1 - n : n;
        kn_str_printf(&body, " r = r * d%d + ", k);
        put_inside(&body, mode[k], k);
        kn_str_append(&body, ";");
        flags |= mode[k] == 0 ? KILN_KERNEL_CHECK : 0;
    }
    kn_str_append(&body, " y = r");
    return add_map(out, p, c, &params, &body, value, 2 * count, flags, count);
}

/* ravel_multi_index(multi_index, dims, mode='raise', order='C') */
kiln_status kn_call_multi_index(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const name[] = {"multi_index", "dims", "mode", "order"};
    names n = {.count = 0};
    kn_value slot[4] = {{0}};
    int n_indices = 0, n_dims = 0, order = 0, mode[MOST_INDICES] = {0};
    kiln_status status = kn_call_match(slot, p, c, name, 4, 4, 2);
    if (status == KILN_OK)
        status = add_items(&n, &n_indices, 'i', p, &slot[0], name[0]);
    if (status == KILN_OK)
        status = add_items(&n, &n_dims, 'd', p, &slot[1], name[1]);
    if (status == KILN_OK && (n_indices != n_dims || n_dims > MOST_INDICES))
        return kn_parser_refuse(p, slot[1].at, slot[1].length,
                                n_indices != n_dims
                                    ? "dims: %d were given; as many as multi_index has, %d, were expected"
                                    : "dims: %d were given; 1 to %d were expected",
                                n_dims, n_indices != n_dims ? n_indices : MOST_INDICES);
    if (status == KILN_OK)
        status = read_modes(mode, p, &slot[2], n_dims);
    if (status == KILN_OK)
        status = kn_call_word(&order, p, &slot[3], index_orders, name[3]);
    for (int k = 0; k < n_indices && status == KILN_OK; ++k)
        status = kn_list_array(&n.slot[k], p);
    return status == KILN_OK ? add_flat_index(out, p, c, n.slot, n_dims, mode, order == 1) : status;
}

/* The indices as they are, if they are inside. As unsigned numbers negative ones are outside. */
static kiln_status check_inside(kn_value *indices, kn_parser *p, const kn_called *c, names *extents)
{
    kn_str params = KN_STR_INIT, body = KN_STR_INIT, product = KN_STR_INIT;
    kn_value value[] = {*indices, {0}};
    put_shape(&product, extents->count, " * ");
    kn_str_append(&params, "I indices, int64 count");
    kn_str_append(&body, "y = kn_checked_index((uint64)(int64)indices, 0, 0, count)");
    kiln_status status = read(&value[1], p, c, &product, extents);
    if (status == KILN_OK)
        return add_map(indices, p, c, &params, &body, value, 2, KILN_KERNEL_CHECK, 1);
    kn_str_free(&params);
    kn_str_free(&body);
    return status;
}

/* unravel_index(indices, shape, order='C'): as many results as there are extents. */
kiln_status kn_call_unravel_index(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const name[] = {"indices", "shape", "order"};
    names n = {.count = 0};
    kn_value slot[3] = {{0}};
    kn_str text = KN_STR_INIT;
    int count = 0, order = 0;
    kiln_status status = kn_call_match(slot, p, c, name, 3, 3, 2);
    if (status == KILN_OK)
        status = kn_list_array(&slot[0], p);
    if (status == KILN_OK)
        status = kn_call_word(&order, p, &slot[2], index_orders, name[2]);
    if (status == KILN_OK)
        status = add_items(&n, &count, 'd', p, &slot[1], name[1]);
    if (status != KILN_OK)
        return status;
    status = check_inside(&slot[0], p, c, &n);
    if (status != KILN_OK)
        return status;
    add_name(&n, "i", &slot[0]);
    for (int k = 0; k < count; ++k) {
        const int first = order == 1 ? 0 : k + 1, last = order == 1 ? k : count;
        const bool is_outermost = k == (order == 1 ? count - 1 : 0);
        kn_str_append(&text, "(i // (1");
        for (int a = first; a < last; ++a)
            kn_str_printf(&text, " * d%d", a);
        kn_str_printf(&text, is_outermost ? ")), " : ")) %% d%d, ", k);
    }
    return read(out, p, c, &text, &n);
}

/* multi_dot(arrays): from the left to the right. */
kiln_status kn_call_multi_dot(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const name[] = {"arrays"};
    names n = {.count = 0};
    kn_value slot[1] = {{0}};
    kn_str text = KN_STR_INIT;
    int count = 0;
    kiln_status status = kn_call_match(slot, p, c, name, 1, 1, 1);
    if (status == KILN_OK)
        status = add_items(&n, &count, 'x', p, &slot[0], name[0]);
    if (status != KILN_OK)
        return status;
    kn_str_append(&text, "r = x0");
    for (int k = 1; k < count; ++k)
        kn_str_printf(&text, "; r = matmul(r, x%d)", k);
    kn_str_append(&text, "; r");
    return read(out, p, c, &text, &n);
}
