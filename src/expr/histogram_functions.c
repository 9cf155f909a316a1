/* Functions of expressions that count into bins: each is a node of a kernel that is remembered. */
#include "expr/call.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "expr/indexing.h"
#include "expr/shaped.h"
#include "kernel/histogram.h"
#include "space/shape.h"

enum { USUAL_BINS = 10 /* of NumPy */ };

/* Adds a call of the kernel, which is freed. */
static kiln_status add_kernel(kn_value *out, kn_parser *p, const kn_called *c, kiln_kernel *kernel,
                              const kn_value *const *in, int n_in)
{
    int read[5];
    kiln_status status = KILN_OK;
    for (int k = 0; k < n_in && status == KILN_OK; ++k)
        status = kn_parser_node(&read[k], p, in[k]);
    if (status == KILN_OK)
        return kn_call_add_kernel(out, p, c, kernel, read, n_in, 1);
    kiln_kernel_free(kernel);
    return status;
}

static kiln_status add_operator(kn_value *out, kn_parser *p, const kn_called *c, const char *name,
                                const kn_value *a, const kn_value *b)
{
    const kn_value in[] = {*a, *b};
    return kn_parser_operator(out, p, name, in, 2, c->at, c->length);
}

static kiln_status read_count(int64_t *out, const kn_parser *p, const kn_value *value, const char *what,
                              int64_t least)
{
    kiln_status status = kn_parser_whole(out, p, value, what);
    if (status == KILN_OK && *out < least)
        return kn_parser_refuse(p, value->at, value->length, "%s: %lld was given; at least %lld was expected",
                                what, (long long)*out, (long long)least);
    return status;
}

/* bincount(x, weights=None, minlength=0, length=): with a number of bins what is beyond them, or below 0, is
 * left out, and nothing waits for the greatest element. */
kiln_status kn_call_bincount(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"x", "weights", "minlength", "length"};
    kn_value slot[4] = {{0}};
    kiln_kernel *kernel = NULL;
    int64_t least = 0, length = 0;
    kiln_status status = kn_call_match(slot, p, c, names, 4, 3, 1);
    if (status == KILN_OK && kn_call_is_given(&slot[2]))
        status = read_count(&least, p, &slot[2], names[2], 0);
    if (status == KILN_OK && !kn_call_is_given(&slot[3]))
        return kn_call_bincount_by(out, p, c, &slot[0], &slot[1], least);
    if (status == KILN_OK)
        status = read_count(&length, p, &slot[3], names[3], 1);
    bool has_weights = kn_call_is_given(&slot[1]);
    const kn_value *const in[] = {&slot[0], &slot[1]};
    if (status == KILN_OK)
        status = kn_histogram_find(&kernel, KN_BINCOUNT, has_weights, length > least ? length : least);
    return status == KILN_OK ? add_kernel(out, p, c, kernel, in, 1 + has_weights) : status;
}

/* The bins of histogram and histogram_bin_edges. */
typedef struct bins {
    kn_histogram_name name;
    int64_t count;
    kn_value x, low, high, edges; /* the range, or, of KN_HISTOGRAM_EDGES, the edges */
    kn_value number;              /* count, as a value */
} bins;

static kiln_status add_reduction(kn_value *out, kn_parser *p, const kn_called *c, char *name,
                                 const kn_value *x)
{
    int in = 0;
    const kn_node node = {
        .kind = KN_NODE_CALL, .n_in = 1, .in = &in, .name = name, .at = c->at, .length = c->length};
    kiln_status status = kn_parser_node(&in, p, x);
    return status == KILN_OK ? kn_parser_add(out, p, &node) : status;
}

/* The least element and the greatest one; 0 and 1 where there is none, as in NumPy. */
static kiln_status write_ends(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    (void)own;
    if (kn_shape_size(in->ndim, in->shape) > 0)
        kn_str_append(text, "min(x0), max(x0)");
    else
        kn_str_printf(text, "zeros((), dtype=%s), ones((), dtype=%s)", kiln_dtype_name(in->dtype),
                      kiln_dtype_name(in->dtype));
    return KILN_OK;
}

static kiln_status add_ends(bins *b, kn_parser *p, const kn_called *c)
{
    const kn_shaped_own own = {.more = 1};
    const kn_value *item;
    kn_value ends;
    kiln_status status = kn_call_shaped(&ends, p, c, write_ends, &own, &b->x, 1);
    if (status != KILN_OK || kn_parser_items(&item, p, &ends) != 2)
        return status;
    b->low = item[0];
    b->high = item[1];
    return KILN_OK;
}

/* The ends of a given range are float64 in computations; those of the elements have their dtype. */
static kiln_status read_range(bins *b, kn_parser *p, const kn_called *c, const kn_value *range)
{
    const kn_value float64 = {.kind = KN_VALUE_DTYPE, .dtype = KILN_FLOAT64};
    const kn_value *item;
    kiln_status status;
    if (!kn_call_is_given(range)) {
        b->name = KN_HISTOGRAM_WHOLE;
        return add_ends(b, p, c);
    }
    if (kn_parser_items(&item, p, range) != 2)
        return kn_parser_refuse(p, range->at, range->length, "range: two numbers were expected, (low, high)");
    b->name = KN_HISTOGRAM;
    b->low = item[0];
    b->high = item[1];
    status = kn_parser_is_number(p, &b->low) ? KILN_OK : kn_call_cast(&b->low, p, c, &float64);
    return status == KILN_OK && !kn_parser_is_number(p, &b->high) ? kn_call_cast(&b->high, p, c, &float64)
                                                                  : status;
}

/* 0, 1 and so on: so many. */
static kiln_status add_numbers(kn_value *out, kn_parser *p, const kn_called *c, int64_t count)
{
    const kiln_arg numbers[] = {kiln_arg_int(0), kiln_arg_int(count), kiln_arg_int(1)};
    int in[3];
    const kn_node node = {.kind = KN_NODE_ARANGE, .n_in = 3, .in = in, .at = c->at, .length = c->length};
    kn_value number;
    kiln_status status = KILN_OK;
    for (int k = 0; k < 3 && status == KILN_OK; ++k) {
        status = kn_parser_number(&number, p, numbers[k], c->at, c->length);
        if (status == KILN_OK)
            status = kn_parser_node(&in[k], p, &number);
    }
    return status == KILN_OK ? kn_parser_add(out, p, &node) : status;
}

/* Edges between numbers, which are weak, become the elements' dtype; those of integers are float64. */
static kiln_status cast_edges(bins *b, kn_parser *p, const kn_called *c)
{
    kn_value one, real;
    kiln_status status = kn_parser_number(&one, p, kiln_arg_float(1), c->at, c->length);
    if (status == KILN_OK)
        status = add_operator(&real, p, c, "multiply", &b->x, &one);
    return status == KILN_OK ? kn_call_cast_like(&b->edges, p, c, &real) : status;
}

/* Edges of bins that are equally wide; integers are float64 then. */
static kiln_status add_edges(bins *b, kn_parser *p, const kn_called *c)
{
    kn_value one, low = b->low, high = b->high, number;
    kiln_kernel *kernel = NULL;
    kiln_status status = kn_parser_number(&one, p, kiln_arg_float(1), c->at, c->length);
    if (status == KILN_OK && b->name == KN_HISTOGRAM_WHOLE)
        status = add_operator(&low, p, c, "multiply", &b->low, &one);
    if (status == KILN_OK && b->name == KN_HISTOGRAM_WHOLE)
        status = add_operator(&high, p, c, "multiply", &b->high, &one);
    if (status == KILN_OK)
        status = add_numbers(&number, p, c, b->count + 1);
    if (status == KILN_OK)
        status = kn_histogram_find_edges(&kernel, b->name == KN_HISTOGRAM);
    const kn_value *const in[] = {&low, &high, &b->number, &number};
    const bool is_weak =
        b->name == KN_HISTOGRAM && kn_parser_is_number(p, &low) && kn_parser_is_number(p, &high);
    if (status == KILN_OK)
        status = add_kernel(&b->edges, p, c, kernel, in, 4);
    return status == KILN_OK && is_weak ? cast_edges(b, p, c) : status;
}

/* Reads `bins` and `range`: as many bins, or their edges. */
static kiln_status read_bins(bins *b, kn_parser *p, const kn_called *c, const kn_value *given,
                             const kn_value *range)
{
    kiln_status status = KILN_OK;
    b->count = USUAL_BINS;
    if (kn_call_is_given(given) && !kn_parser_is_number(p, given)) {
        b->name = KN_HISTOGRAM_EDGES;
        b->edges = *given;
        return kn_call_is_given(range) ? kn_parser_refuse(p, range->at, range->length,
                                                          "range: was given beside the edges of the bins")
                                       : KILN_OK;
    }
    if (kn_call_is_given(given))
        status = read_count(&b->count, p, given, "bins", 1);
    if (status == KILN_OK)
        status = kn_parser_number(&b->number, p, kiln_arg_int64(b->count), c->at, c->length);
    if (status == KILN_OK)
        status = read_range(b, p, c, range);
    return status == KILN_OK ? add_edges(b, p, c) : status;
}

/* counted_between(x, edges, weights): each element is searched for among the edges, which have its dtype. */
kiln_status kn_call_counted_between(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"x", "edges", "weights"};
    kn_value slot[3] = {{0}};
    kiln_kernel *kernel = NULL;
    kiln_status status = kn_call_match(slot, p, c, names, 3, 3, 2);
    const bool has_weights = kn_call_is_given(&slot[2]);
    const kn_value *const in[] = {&slot[0], &slot[1], &slot[2]};
    if (status == KILN_OK)
        status = kn_histogram_find(&kernel, KN_HISTOGRAM_EDGES, has_weights, 0);
    return status == KILN_OK ? add_kernel(out, p, c, kernel, in, 2 + has_weights) : status;
}

enum { FEW_EDGES = 4, FEW_ELEMENTS = 1 << 10 };

/* The host sorts many elements in less time than they are searched for, and then searches for the edges. */
static bool is_sorted_first(const kn_shaped_own *own, const kn_described *in)
{
    const int64_t size = kn_shape_size(in->ndim, in->shape);
    return own->is_on_host && !own->which && in[1].ndim == 1 && in[1].shape[0] >= FEW_EDGES &&
           size >= FEW_ELEMENTS && in[1].shape[0] < size / 4;
}

/* which: x2 are weights. */
static kiln_status write_between(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    kiln_dtype common;
    kiln_status status = kiln_dtype_promote(&common, in[0].dtype, in[1].dtype);
    for (int k = 0; k < 2 && status == KILN_OK; ++k)
        if (in[k].dtype != common)
            kn_str_printf(text, "x%d = x%d.astype(%s); ", k, k, kiln_dtype_name(common));
    kn_str_append(text, is_sorted_first(own, in)
                            ? "s = sort(ravel(x0)); c = concatenate([searchsorted(s, x1[:-1]), "
                              "searchsorted(s, x1[-1:], side='right')]); c[1:] - c[:-1]"
                        : own->which ? "counted_between(x0, x1, x2)"
                                     : "counted_between(x0, x1)");
    return status;
}

static kiln_status add_counts(kn_value *out, kn_parser *p, const kn_called *c, const bins *b,
                              const kn_value *weights)
{
    kiln_kernel *kernel = NULL;
    const kn_value *in[5] = {&b->x, &b->low, &b->high, &b->number};
    int n_in = 4;
    if (b->name == KN_HISTOGRAM_EDGES) {
        const kn_value between[] = {b->x, b->edges, *weights};
        const kn_shaped_own own = {.which = kn_call_is_given(weights)};
        return kn_call_shaped(out, p, c, write_between, &own, between, 2 + own.which);
    }
    if (kn_call_is_given(weights))
        in[n_in++] = weights;
    kiln_status status = kn_histogram_find(&kernel, b->name, kn_call_is_given(weights), b->count);
    return status == KILN_OK ? add_kernel(out, p, c, kernel, in, n_in) : status;
}

/* counts / diff(edges) / sum(counts) */
static kiln_status add_density(kn_value *counts, kn_parser *p, const kn_called *c, const kn_value *edges)
{
    static char sum[] = "sum";
    const kn_value float64 = {.kind = KN_VALUE_DTYPE, .dtype = KILN_FLOAT64};
    kn_value widths, by_width, all;
    kiln_status status = kn_call_add_differences(&widths, p, c, edges);
    if (status == KILN_OK)
        status = kn_call_cast(&widths, p, c, &float64);
    if (status == KILN_OK)
        status = add_operator(&by_width, p, c, "divide", counts, &widths);
    if (status == KILN_OK)
        status = add_reduction(&all, p, c, sum, counts);
    return status == KILN_OK ? add_operator(counts, p, c, "divide", &by_width, &all) : status;
}

/* histogram(a, bins=10, range=None, density=False, weights=None): counts and edges */
kiln_status kn_call_histogram(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a", "bins", "range", "density", "weights"};
    kn_value slot[5] = {{0}}, counts;
    bins b = {0};
    int64_t is_density = 0;
    kiln_status status = kn_call_match(slot, p, c, names, 5, 5, 1);
    b.x = slot[0];
    if (status == KILN_OK && kn_call_is_given(&slot[3]))
        status = kn_parser_whole(&is_density, p, &slot[3], names[3]);
    if (status == KILN_OK)
        status = read_bins(&b, p, c, &slot[1], &slot[2]);
    if (status == KILN_OK)
        status = add_counts(&counts, p, c, &b, &slot[4]);
    if (status == KILN_OK && is_density)
        status = add_density(&counts, p, c, &b.edges);
    *out =
        (kn_value){.kind = KN_VALUE_TUPLE, .first = p->n_items, .count = 2, .at = c->at, .length = c->length};
    if (status == KILN_OK)
        status = kn_parser_push_item(p, &counts);
    return status == KILN_OK ? kn_parser_push_item(p, &b.edges) : status;
}

/* histogram_bin_edges(a, bins=10, range=None) */
kiln_status kn_call_bin_edges(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a", "bins", "range"};
    kn_value slot[3] = {{0}};
    bins b = {0};
    kiln_status status = kn_call_match(slot, p, c, names, 3, 3, 1);
    b.x = slot[0];
    if (status == KILN_OK)
        status = read_bins(&b, p, c, &slot[1], &slot[2]);
    *out = b.edges;
    return status;
}

/* ---- elements that are combined by keys ---- */

/* segment_sum(data, segment_ids, num_segments) and others; c->which says how they are combined. */
kiln_status kn_call_segments(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"data", "segment_ids", "num_segments"};
    kn_value slot[3] = {{0}};
    kiln_kernel *kernel = NULL;
    int64_t count = 0;
    kiln_status status = kn_call_match(slot, p, c, names, 3, 3, 3);
    if (status == KILN_OK)
        status = read_count(&count, p, &slot[2], names[2], 0);
    const kn_value *const in[] = {&slot[0], &slot[1]};
    const bool is_none = count == 0; /* kernels have one bin at least, of which none is taken */
    const kn_subscript none = {.kind = KN_SUBSCRIPT_SLICE, .start = 0, .stop = 0, .step = 1};
    kn_value one;
    if (status == KILN_OK)
        status = kn_segments_find(&kernel, (kn_combining)c->which, is_none ? 1 : count, p->flags);
    if (status == KILN_OK)
        status = add_kernel(is_none ? &one : out, p, c, kernel, in, 2);
    return status == KILN_OK && is_none ? kn_call_add_part(out, p, c, &one, none, 0) : status;
}

/* scattered_last(a, indices): the last index at each element, in C order (kn_scattered_find), of which put is
 * composed (expr/composed_table.c). */
kiln_status kn_call_scattered_last(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a", "indices"};
    kn_value slot[2] = {{0}};
    kiln_kernel *kernel = NULL;
    kiln_status status = kn_call_match(slot, p, c, names, 2, 2, 2);
    const kn_value *const in[] = {&slot[0], &slot[1]};
    if (status == KILN_OK)
        status = kn_scattered_find(&kernel, KN_LAST, 0);
    return status == KILN_OK ? add_kernel(out, p, c, kernel, in, 2) : status;
}

/* Elements of `a` combined with values: scattered_add(a, indices, b) and others, which are the functions
 * NAME_at. Indices are an array, or a tuple of arrays and numbers. */
kiln_status kn_call_scattered(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a", "indices", "b"};
    kn_value slot[3] = {{0}};
    kn_index_text *index = kn_calloc(1, sizeof *index);
    kiln_kernel *kernel = NULL;
    int in[KN_INDEX_ARRAYS + 2];
    kiln_status status = index ? kn_call_match(slot, p, c, names, 3, 3, 3) : kn_error_memory("an index");
    if (status == KILN_OK)
        status = kn_index_add(index, p, &slot[1]);
    if (status == KILN_OK)
        status = kn_parser_node(&in[0], p, &slot[0]);
    if (status == KILN_OK)
        status = kn_parser_node(&in[1], p, &slot[2]);
    for (int k = 0; status == KILN_OK && k < index->n_arrays; ++k)
        status = kn_parser_node(&in[2 + k], p, &index->array[k]);
    if (status == KILN_OK)
        status = kn_scattered_at_find(&kernel, (kn_combining)(c->which & ~KN_SUBTRACTED), index->item,
                                      index->n_items, p->flags, c->which & KN_SUBTRACTED);
    if (status == KILN_OK)
        status = kn_call_add_kernel(out, p, c, kernel, in, index->n_arrays + 2, 1);
    kn_free(index);
    return status;
}
