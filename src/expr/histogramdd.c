/* histogramdd: its text depends on how many columns there are, and on the lengths of edges. */
#include "expr/shaped_functions.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "expr/lists.h"

/* The numbers of a call: how many samples and columns are known (0: an array's are), its parts, and for each
 * column its number of bins (0: an array of edges), and the bits of the ends of its range (NaN: its own). */
enum { SAMPLES, COLUMNS, PARTS, FIRST, USUAL_BINS = 10 };
enum { HAS_WEIGHTS = 1, IS_DENSITY = 2, MOST_COLUMNS = (2 * KILN_MAX_NDIM + 4 - FIRST) / 3 };

static double end_of(const kn_shaped_own *own, int at)
{
    double value;
    memcpy(&value, &own->number[at], sizeof value);
    return value;
}

/* ---- the text ---- */

typedef struct writing {
    kn_str *text;
    int columns, next; /* next: the argument that comes next */
    bool is_matrix;    /* the samples are the columns of x0 */
    int64_t bins[MOST_COLUMNS];
    bool has_edges[MOST_COLUMNS];
} writing;

/* Edges between the elements' own ends have the common dtype of all columns, others are float64. */
static void put_elements(writing *w, int k, bool is_common)
{
    kn_str_printf(w->text, w->is_matrix ? "v = x0[:, %d]; " : "v = ravel(x%d); ", k);
    for (int other = 0; other < w->columns && is_common && !w->is_matrix; ++other)
        if (other != k)
            kn_str_printf(w->text, "v = where(True, v, ravel(x%d)); ", other);
    kn_str_append(w->text, is_common ? "v = v * 1.0; " : "v = v + zeros(1); ");
}

/* NumPy's bins: the last one has its right edge. */
static void put_column(writing *w, const kn_shaped_own *own, int k)
{
    const double low = end_of(own, FIRST + 3 * k + 1), high = end_of(own, FIRST + 3 * k + 2);
    put_elements(w, k, !w->has_edges[k] && isnan(low));
    if (w->has_edges[k])
        kn_str_printf(w->text, "e%d = x%d; ", k, w->next++);
    else if (isnan(low))
        kn_str_printf(w->text, "e%d = histogram_bin_edges(v, %lld); ", k, (long long)w->bins[k]);
    else
        kn_str_printf(w->text, "e%d = histogram_bin_edges(v, %lld, (%.17e, %.17e)); ", k,
                      (long long)w->bins[k], low, high);
    kn_str_printf(w->text,
                  "i = searchsorted(e%d%s, v, 'right') - 1 - (v == e%d[-1]); "
                  "is_in = %s(i >= 0) & (i < %lld); b = %si; ",
                  k, w->has_edges[k] ? " + zeros(1)" : "", k, k > 0 ? "is_in & " : "", (long long)w->bins[k],
                  k > 0 ? "b + " : "");
    if (k + 1 < w->columns)
        kn_str_printf(w->text, "b = b * %lld; ", (long long)w->bins[k + 1]);
}

static void put_results(writing *w, const kn_shaped_own *own)
{
    int64_t bins = 1;
    for (int k = 0; k < w->columns; ++k)
        bins *= w->bins[k];
    kn_str_append(w->text, "h = astype(reshape(bincount(where(is_in, b, -1), ");
    if (own->number[PARTS] & HAS_WEIGHTS)
        kn_str_printf(w->text, "ravel(x%d), ", w->next++);
    kn_str_printf(w->text, "length=%lld), (", (long long)bins);
    for (int k = 0; k < w->columns; ++k)
        kn_str_printf(w->text, "%lld, ", (long long)w->bins[k]);
    kn_str_append(w->text, ")), float64); h");
    for (int k = 0; k < w->columns && own->number[PARTS] & IS_DENSITY; ++k) {
        kn_str_printf(w->text, " / diff(e%d)[:", k);
        for (int a = k + 1; a < w->columns; ++a)
            kn_str_append(w->text, ", None");
        kn_str_append(w->text, "]");
    }
    kn_str_append(w->text, own->number[PARTS] & IS_DENSITY ? " / sum(h)" : "");
    for (int k = 0; k < w->columns; ++k)
        kn_str_printf(w->text, ", e%d", k);
}

static kiln_status read_columns(writing *w, const kn_shaped_own *own, const kn_described *in)
{
    int64_t all = 1;
    w->columns = (int)own->number[COLUMNS];
    w->next = (int)own->number[SAMPLES];
    w->is_matrix = w->next == 1 && (w->columns > 1 || in->ndim == 2);
    if (w->is_matrix && (in->ndim != 2 || in->shape[1] != w->columns))
        return kn_error(KILN_ERROR_SHAPE,
                        "histogramdd: sample: an array of %d axes and %lld columns was given; a matrix of %d "
                        "columns was expected, as many as bins are given",
                        in->ndim, (long long)(in->ndim > 1 ? in->shape[1] : 1), w->columns);
    for (int k = 0, next = w->next; k < w->columns; ++k) {
        w->bins[k] = own->number[FIRST + 3 * k];
        w->has_edges[k] = w->bins[k] == 0;
        if (w->has_edges[k] && (in[next].ndim != 1 || in[next].shape[0] < 2))
            return kn_error(
                KILN_ERROR_SHAPE,
                "histogramdd: bins: the edges of column %d have %d axes and %lld elements; one axis "
                "of at least 2 was expected",
                k, in[next].ndim, (long long)(in[next].ndim > 0 ? in[next].shape[0] : 1));
        if (w->has_edges[k])
            w->bins[k] = in[next++].shape[0] - 1;
        if (w->bins[k] > INT32_MAX / all)
            return kn_error(KILN_ERROR_SHAPE, "histogramdd: bins: at most %d in all were expected",
                            INT32_MAX);
        all *= w->bins[k];
    }
    return KILN_OK;
}

static kiln_status write_histogramdd(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    writing w = {.text = text};
    kiln_status status = read_columns(&w, own, in);
    for (int k = 0; k < w.columns && status == KILN_OK; ++k)
        put_column(&w, own, k);
    if (status == KILN_OK)
        put_results(&w, own);
    return status;
}

/* ---- the call ---- */

typedef struct reading {
    kn_shaped_own own;
    kn_value in[KN_MAX_PARAMS];
    int n_in;
} reading;

/* The columns that a list has, of samples, bins or ranges; all lists have as many. */
static kiln_status read_count(int64_t *columns, const kn_parser *p, const kn_value *value, const char *what)
{
    if (value->kind != KN_VALUE_TUPLE)
        return KILN_OK;
    if (value->count < 1 || value->count > MOST_COLUMNS)
        return kn_parser_refuse(p, value->at, value->length, "%s: %d were given; 1 to %d were expected", what,
                                value->count, MOST_COLUMNS);
    if (*columns > 0 && *columns != value->count)
        return kn_parser_refuse(p, value->at, value->length,
                                "%s: %d were given; as many as there are columns, %lld, were expected", what,
                                value->count, (long long)*columns);
    *columns = value->count;
    return KILN_OK;
}

static kiln_status read_bins(reading *r, kn_parser *p, const kn_value *given)
{
    for (int k = 0; k < r->own.number[COLUMNS]; ++k) {
        const kn_value *item;
        kn_parser_items(&item, p, given);
        kn_value one = item[given->kind == KN_VALUE_TUPLE ? k : 0];
        int64_t *bins = &r->own.number[FIRST + 3 * k];
        *bins = USUAL_BINS;
        if (!kn_call_is_given(given))
            continue;
        if (!kn_parser_is_number(p, &one) && given->kind != KN_VALUE_TUPLE)
            return kn_parser_refuse(p, given->at, given->length,
                                    "bins: a number, or a list of numbers and edges, was expected");
        if (!kn_parser_is_number(p, &one)) {
            *bins = 0;
            kiln_status status = kn_list_array(&one, p);
            r->in[r->n_in++] = one;
            if (status != KILN_OK)
                return status;
            continue;
        }
        kiln_status status = kn_parser_whole(bins, p, &one, "bins");
        if (status == KILN_OK && *bins < 1)
            return kn_parser_refuse(p, one.at, one.length, "bins: %lld was given; at least 1 was expected",
                                    (long long)*bins);
        if (status != KILN_OK)
            return status;
    }
    return KILN_OK;
}

/* An end of a range; false: it is no finite number that stands in the expression. */
static bool read_end(int64_t *bits, const kn_parser *p, const kn_value *value)
{
    if (!kn_parser_is_number(p, value))
        return false;
    const kiln_arg *number = &p->graph->node[value->node].number;
    const double end = number->kind == KILN_ARG_WEAK_FLOAT ? number->value.d[0] : (double)number->value.i;
    memcpy(bits, &end, sizeof *bits);
    return (number->kind == KILN_ARG_WEAK_FLOAT || number->kind == KILN_ARG_WEAK_INT) && isfinite(end);
}

static kiln_status read_ranges(reading *r, kn_parser *p, const kn_value *given)
{
    const double none = NAN;
    for (int k = 0; k < r->own.number[COLUMNS]; ++k) {
        const kn_value *item, *ends;
        int64_t *range = &r->own.number[FIRST + 3 * k + 1];
        memcpy(range, &none, sizeof *range);
        memcpy(range + 1, &none, sizeof *range);
        kn_parser_items(&item, p, given);
        if (!kn_call_is_given(given) || item[k].kind == KN_VALUE_NONE)
            continue;
        if (kn_parser_items(&ends, p, &item[k]) != 2 || !read_end(&range[0], p, &ends[0]) ||
            !read_end(&range[1], p, &ends[1]) ||
            end_of(&r->own, FIRST + 3 * k + 1) > end_of(&r->own, FIRST + 3 * k + 2))
            return kn_parser_refuse(
                p, item[k].at, item[k].length,
                "range: two finite numbers that stand in the expression and do not go down "
                "were expected for each column, or None");
        if (r->own.number[FIRST + 3 * k] == 0)
            return kn_parser_refuse(p, item[k].at, item[k].length,
                                    "range: was given beside the edges of column %d", k);
    }
    return KILN_OK;
}

/* histogramdd(sample, bins=10, range=None, density=False, weights=None): the counts, and the edges of each
 * column. sample: a matrix, or a list of its columns. */
kiln_status kn_call_histogramdd(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"sample", "bins", "range", "density", "weights"};
    kn_value slot[5] = {{0}};
    const kn_value *item;
    reading r = {.own = {.count = FIRST}};
    int64_t columns = 0, is_density = 0;
    kiln_status status = kn_call_match(slot, p, c, names, 5, 5, 1);
    for (int k = 0; k < 3 && status == KILN_OK; ++k)
        status = read_count(&columns, p, &slot[k], names[k]);
    if (status == KILN_OK && columns == 0)
        return kn_parser_refuse(
            p, slot[0].at, slot[0].length,
            "sample: a list of arrays was expected, or a list of bins, one for each column");
    if (status == KILN_OK && kn_call_is_given(&slot[2]) && slot[2].kind != KN_VALUE_TUPLE)
        return kn_parser_refuse(p, slot[2].at, slot[2].length, "range: a list was expected");
    if (status == KILN_OK && kn_call_is_given(&slot[3]))
        status = kn_parser_whole(&is_density, p, &slot[3], names[3]);
    if (status != KILN_OK)
        return status;
    r.n_in = kn_parser_items(&item, p, &slot[0]);
    memcpy(r.in, item, (size_t)r.n_in * sizeof *item);
    r.own.number[SAMPLES] = r.n_in;
    r.own.number[COLUMNS] = columns;
    r.own.number[PARTS] = (is_density ? IS_DENSITY : 0) | (kn_call_is_given(&slot[4]) ? HAS_WEIGHTS : 0);
    r.own.count += (int)(3 * columns);
    r.own.more = (int)columns;
    status = read_bins(&r, p, &slot[1]);
    if (status == KILN_OK)
        status = read_ranges(&r, p, &slot[2]);
    if (status == KILN_OK && kn_call_is_given(&slot[4]))
        r.in[r.n_in++] = slot[4];
    return status == KILN_OK ? kn_call_shaped(out, p, c, write_histogramdd, &r.own, r.in, r.n_in) : status;
}
