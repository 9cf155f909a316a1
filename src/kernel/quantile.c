/* Median, quantile and percentile: a map picks an element of each row, or goes between two. Rows are sorted;
 * but of long ones, if few places are asked for, the keys there are found (nth.h), and those behind them. */
#include "kernel/quantile.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/nth.h"
#include "kernel/sort_rows.h"
#include "program/program.h"
#include "space/shape.h"
#include "types/dtype.h"

/* Hyndman and Fan's methods and others, under NumPy's names: the place of a quantile p among the elements 0
 * to n - 1. A discrete one (gamma NULL) is that of an element; else gamma, of the fraction g of v, weighs the
 * element behind v against the one before it. */
#define BETWEEN(alpha, beta) "f * p + (" alpha " + p * (1.0 - " alpha " - " beta ")) - 1"
static const struct {
    const char *name, *place, *gamma;
} methods[] = {
    {"linear", "(f - 1) * p", "g"},
    {"lower", "floor((f - 1) * p)", NULL},
    {"higher", "ceil((f - 1) * p)", NULL},
    {"nearest", "rint((f - 1) * p)", NULL},
    {"midpoint", "0.5 * (floor((f - 1) * p) + ceil((f - 1) * p))", "(g == 0 ? 0.0 : 0.5)"},
    {"inverted_cdf", "ceil(f * p - 1)", NULL},
    {"averaged_inverted_cdf", "f * p - 1", "(g == 0 ? 0.5 : 1.0)"},
    {"closest_observation", "closest(f * p - 1 - 0.5)", NULL},
    {"interpolated_inverted_cdf", BETWEEN("0.0", "1.0"), "g"},
    {"hazen", BETWEEN("0.5", "0.5"), "g"},
    {"weibull", BETWEEN("0.0", "0.0"), "g"},
    {"median_unbiased", BETWEEN("(1 / 3.0)", "(1 / 3.0)"), "g"},
    {"normal_unbiased", BETWEEN("(3 / 8.0)", "(3 / 8.0)"), "g"},
};
enum { METHODS = sizeof methods / sizeof *methods };

/* The next element, or the one before where v is that and its number is odd. */
static const char preamble[] = "static __device__ inline double closest(double v)\n"
                               "{\n"
                               "    const double low = floor(v);\n"
                               "    return v == low && fabs(fmod(low, 2.0)) == 1 ? low : low + 1;\n"
                               "}\n";

/* Numbers of elements: those before and behind the place. */
#define LOW "(v >= f - 1 ? n - 1 : v < 0 ? 0 : (int64)v)"
#define HIGH "(v >= f - 1 ? n - 1 : v < 0 ? 0 : (int64)v + 1)"

enum { MOST_SEARCHED = 4 /* places that are searched for: a sort reads and writes all elements as often */ };

typedef struct quantile {
    kn_quantile of;
    bool is_discrete;
    kiln_kernel *sort, *copy, *pick;
    kn_nth nth; /* of real numbers */
    kiln_kernel *rank, *next, *pick_found;
    kiln_kernel *count; /* elements of a row that are not NaN, or one if there are none; of skips_nan */
    kiln_kernel *none;  /* rows without elements */
} quantile;

static const char *name_of(const kn_quantile *q)
{
    static const char *const names[2][3] = {{"quantile", "percentile", "median"},
                                            {"nanquantile", "nanpercentile", "nanmedian"}};
    return names[q->skips_nan][q->is_median ? 2 : q->is_percentile];
}

/* ---- results ---- */

static kiln_status find_axes(uint64_t *out, const kn_quantile *q, int ndim)
{
    *out = q->is_all ? ndim < 64 ? (UINT64_C(1) << ndim) - 1 : UINT64_MAX : 0;
    for (int k = 0; k < q->n_axes && !q->is_all; ++k) {
        int axis = q->axis[k] < 0 ? q->axis[k] + ndim : q->axis[k];
        if (axis < 0 || axis >= ndim)
            return kn_error(KILN_ERROR_SHAPE, "%s: axis: axis %d was given, but there are %d axes",
                            name_of(q), q->axis[k], ndim);
        if (*out >> axis & 1)
            return kn_error(KILN_ERROR_INVALID, "%s: axis: axis %d is given twice", name_of(q), axis);
        *out |= UINT64_C(1) << axis;
    }
    return KILN_OK;
}

static kiln_status refuse_x(const kn_quantile *q, const kn_described *x)
{
    if (x->is_number)
        return kn_error(KILN_ERROR_TYPE, "%s: 'x' is a number here; an array was expected", name_of(q));
    if (kn_dtype_info_of(x->dtype)->kind == KN_KIND_COMPLEX && !q->is_median)
        return kn_error(KILN_ERROR_TYPE, "%s: 'x' is an array of %s; real numbers were expected", name_of(q),
                        kiln_dtype_name(x->dtype));
    return KILN_OK;
}

/* The dtype of elements where these are computed: integers become float64. */
static kiln_status find_dtype(kiln_dtype *out, const quantile *q, const kn_described *in)
{
    kn_dtype_kind kind = kn_dtype_info_of(in[0].dtype)->kind;
    bool is_whole = kind != KN_KIND_FLOAT && kind != KN_KIND_COMPLEX;
    *out = q->is_discrete || !is_whole ? in[0].dtype : KILN_FLOAT64;
    if (q->is_discrete || q->of.is_median || q->of.has_list || in[1].is_number)
        return KILN_OK;
    return kn_dtype_info_of(in[1].dtype)->kind == KN_KIND_FLOAT
               ? kiln_dtype_promote(out, in[0].dtype, in[1].dtype)
               : KILN_OK;
}

/* A median of nothing is NaN, as in NumPy, and so is a quantile of the elements that are not NaN. */
static bool takes_none(const kn_quantile *q, kiln_dtype dtype)
{
    const kn_dtype_kind kind = kn_dtype_info_of(dtype)->kind;
    return (q->is_median || q->skips_nan) && (kind == KN_KIND_FLOAT || kind == KN_KIND_COMPLEX);
}

static kiln_status describe(kn_described *out, const void *context, int j, const kn_described *in)
{
    const quantile *q = context;
    uint64_t along = 0;
    (void)j;
    kiln_status status = refuse_x(&q->of, &in[0]);
    if (status == KILN_OK)
        status = find_axes(&along, &q->of, in[0].ndim);
    if (status == KILN_OK)
        status = find_dtype(&out->dtype, q, in);
    if (status != KILN_OK)
        return status;
    int64_t length = 1, shape[3 * KILN_MAX_NDIM];
    int ndim = 0;
    if (q->of.has_list)
        shape[ndim++] = q->of.n_list;
    for (int a = 0; !q->of.is_median && !q->of.has_list && a < in[1].ndim; ++a)
        shape[ndim++] = in[1].shape[a];
    for (int a = 0; a < in[0].ndim; ++a) {
        bool is_left = !(along >> a & 1);
        length *= is_left ? 1 : in[0].shape[a];
        if (is_left || q->of.keepdims)
            shape[ndim++] = is_left ? in[0].shape[a] : 1;
    }
    if (ndim > KILN_MAX_NDIM)
        return kn_error(KILN_ERROR_SHAPE,
                        "%s: the result has %d axes, more than the %d that an array may have",
                        name_of(&q->of), ndim, KILN_MAX_NDIM);
    out->ndim = ndim;
    memcpy(out->shape, shape, (size_t)ndim * sizeof *shape);
    return length > 0 || kn_shape_size(ndim, shape) == 0 || takes_none(&q->of, out->dtype)
               ? KILN_OK
               : kn_error(KILN_ERROR_INVALID,
                          "%s: 'x' has no elements along the axes; one at least was expected",
                          name_of(&q->of));
}

/* ---- lowering ---- */

typedef struct lowering {
    kn_lowered *out;
    const quantile *q;
    const kn_lowering_call *call;
    kn_sort_rows rows;
    int sorted; /* a buffer; or that of the keys behind those that are searched for */
    bool is_searched;
    kn_source counts; /* skips_nan: of the rows that are searched */
    kn_nth_search search;
    kn_described result;
    int64_t strides[KILN_MAX_NDIM]; /* of the result */
} lowering;

/* The result's axes without those that stay with extent 1: of q, then those that are left. */
static int list_axes(int64_t *shape, int64_t *strides, const lowering *l, uint64_t along, int n_q)
{
    int count = 0;
    for (int a = 0; a < l->result.ndim; ++a) {
        bool has_extent_one = a >= n_q && l->q->of.keepdims && along >> (a - n_q) & 1;
        if (has_extent_one)
            continue;
        shape[count] = l->result.shape[a];
        strides[count++] = l->strides[a];
    }
    return count;
}

/* The elements of rows that are searched: of each its own where NaNs are skipped. */
static kiln_status bind_length(kn_lowered_part *part, int at, const lowering *l)
{
    if (l->q->of.skips_nan && l->is_searched)
        return kn_lowered_bind(part, at, l->call, &l->counts, KILN_INT64, l->rows.ndim - 1, l->rows.shape,
                               NULL);
    kn_lowered_bind_integer(part, at, l->rows.length);
    return KILN_OK;
}

/* Binds a parameter to q: where a list has number k, to that; else to the call's input, or its element k if
 * that is searched for alone. */
static kiln_status bind_q(kn_lowered_part *part, int at, const lowering *l, int64_t k, int ndim,
                          const int64_t *shape)
{
    const kiln_arg *in = l->call->in;
    kn_source source = {.kind = KN_FROM_INPUT, .index = 1};
    int64_t strides[KILN_MAX_NDIM] = {0};
    if (l->q->of.has_list) {
        const kiln_arg number = kiln_arg_float(l->q->of.list[k]);
        kn_lowered_bind_number(part, at, KILN_FLOAT64, &number);
        return KILN_OK;
    }
    if (in[1].kind != KILN_ARG_ARRAY) {
        part->binding.operand[at] = (kn_operand){.pass = KN_PASS_SCALAR, .dtype = KILN_FLOAT64};
        part->source[at] = source;
        return KILN_OK;
    }
    const kiln_array *a = in[1].value.array;
    if (!l->is_searched)
        memcpy(strides, a->strides, (size_t)a->ndim * sizeof *strides);
    else if (a->ndim > 0)
        source.shift = k * a->strides[0];
    return kn_lowered_bind(part, at, l->call, &source, a->dtype, ndim, shape, strides);
}

/* The parameters of `pick`: q unless it is a median; the length of rows; the sorted ones and their number, or
 * what is found of rank k; the result. */
static kiln_status add_pick(lowering *l, int64_t k, int64_t shift, int ndim, const int64_t *shape,
                            const int64_t *strides)
{
    static const kn_nth_word words[] = {KN_NTH_KEY, KN_NTH_RANK, KN_NTH_TOTAL};
    const kn_source to = {.kind = KN_FROM_OUTPUT, .index = 0, .shift = shift};
    const int64_t elements = l->rows.rows * l->rows.length;
    kn_source sorted = {.kind = KN_FROM_BUFFER, .index = l->sorted};
    kn_lowered_part *part;
    int at = 0;
    kiln_status status = kn_lowered_add_kernel(&part, l->out, l->is_searched ? l->q->pick_found : l->q->pick);
    if (status == KILN_OK && !l->q->of.is_median)
        status = bind_q(part, at++, l, k, ndim, shape);
    if (status == KILN_OK)
        status = bind_length(part, at++, l);
    if (status != KILN_OK)
        return status;
    kn_lowered_set_shape(part, ndim, shape);
    if (!l->is_searched) {
        status = kn_lowered_bind(part, at++, l->call, &sorted, l->rows.dtype, 1, &elements, NULL);
        kn_lowered_bind_integer(part, at++, l->rows.rows);
    }
    for (int w = 0; w < 3 && l->is_searched && status == KILN_OK; ++w)
        status = kn_nth_bind_rank(part, at++, &l->search, l->call, words[w], true, k);
    if (l->is_searched && status == KILN_OK) {
        const kn_sort_rows *r = &l->rows;
        sorted.shift = k * r->rows * (int64_t)sizeof(uint64_t);
        status = kn_lowered_bind(part, at++, l->call, &sorted, KILN_UINT64, r->ndim - 1, r->shape, NULL);
        if (status == KILN_OK)
            status =
                kn_lowered_bind(part, at++, l->call, &r->source, r->dtype, r->ndim, r->shape, r->strides);
    }
    return status == KILN_OK ? kn_lowered_bind(part, at, l->call, &to, l->result.dtype, ndim, shape, strides)
                             : status;
}

/* The number of places, each of which has a pick of its own; 0: one does all of them. */
static int64_t separate_places(const lowering *l)
{
    const kn_quantile *q = &l->q->of;
    if (q->has_list)
        return q->n_list;
    return !l->is_searched ? 0
           : q->is_median || l->call->in[1].kind != KILN_ARG_ARRAY || l->call->in[1].value.array->ndim == 0
               ? 1
               : l->call->in[1].value.array->shape[0];
}

static kiln_status add_picks(lowering *l, uint64_t along)
{
    const kn_quantile *q = &l->q->of;
    int64_t shape[KILN_MAX_NDIM], strides[KILN_MAX_NDIM] = {0};
    const kiln_array *given = l->call->out ? l->call->out[0] : NULL;
    int n_q = q->has_list                                             ? 1
              : q->is_median || l->call->in[1].kind != KILN_ARG_ARRAY ? 0
                                                                      : l->call->in[1].value.array->ndim;
    kn_shape_c_strides(l->result.ndim, l->result.shape, (int64_t)kiln_dtype_size(l->result.dtype),
                       l->strides);
    if (given)
        memcpy(l->strides, given->strides, (size_t)l->result.ndim * sizeof *l->strides);
    int ndim = list_axes(shape, strides, l, along, n_q);
    const int64_t places = separate_places(l);
    const int own = places > 0 ? n_q : 0; /* axes */
    kiln_status status = places > 0 ? KILN_OK : add_pick(l, 0, 0, ndim, shape, strides);
    for (int64_t k = 0; k < places && status == KILN_OK; ++k)
        status = add_pick(l, k, own ? k * strides[0] : 0, ndim - own, shape + own, strides + own);
    return status;
}

/* ---- places that are searched for ---- */

static bool is_complex(kiln_dtype dtype)
{
    return kn_dtype_info_of(dtype)->kind == KN_KIND_COMPLEX;
}

static bool suits(const lowering *l)
{
    const kn_quantile *q = &l->q->of;
    const bool has_array = !q->is_median && !q->has_list && l->call->in[1].kind == KILN_ARG_ARRAY;
    const int64_t places = q->has_list ? q->n_list : has_array ? l->call->in[1].value.array->size : 1;
    return kn_nth_suits(&l->rows) && !is_complex(l->rows.dtype) && l->rows.ndim < KILN_MAX_NDIM &&
           (!has_array || l->call->in[1].value.array->ndim <= 1) && places > 0 && places <= MOST_SEARCHED;
}

/* The elements of each row that are not NaN. */
static kiln_status add_counts(lowering *l)
{
    const kn_sort_rows *r = &l->rows;
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_source(&l->counts, l->out, (size_t)r->rows * sizeof(int64_t));
    if (status == KILN_OK)
        status = kn_lowered_add_along(&part, l->out, l->q->count, r->ndim, r->shape);
    if (status == KILN_OK)
        status = kn_lowered_bind(part, 0, l->call, &r->source, r->dtype, r->ndim, r->shape, r->strides);
    return status == KILN_OK
               ? kn_lowered_bind(part, 1, l->call, &l->counts, KILN_INT64, r->ndim - 1, r->shape, NULL)
               : status;
}

/* The parameters of `rank`: q unless it is a median, the length of rows; the number of the element before the
 * place. */
static kiln_status add_rank(lowering *l, int64_t k)
{
    const int ndim = l->rows.ndim - 1;
    kn_lowered_part *part;
    int at = 0;
    kiln_status status = kn_lowered_add_kernel(&part, l->out, l->q->rank);
    if (status == KILN_OK && !l->q->of.is_median)
        status = bind_q(part, at++, l, k, ndim, l->rows.shape);
    if (status == KILN_OK)
        status = bind_length(part, at++, l);
    if (status != KILN_OK)
        return status;
    kn_lowered_set_shape(part, ndim, l->rows.shape);
    return kn_nth_bind_rank(part, at, &l->search, l->call, KN_NTH_RANK, false, k);
}

/* The parameters of `next`: elements, the key; the next one. */
static kiln_status add_next(lowering *l)
{
    const kn_source to = {.kind = KN_FROM_BUFFER, .index = l->sorted};
    const kn_sort_rows *r = &l->search.rows;
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_along(&part, l->out, l->q->next, r->ndim, r->shape);
    if (status == KILN_OK)
        status = kn_nth_bind_elements(part, 0, &l->search, l->call);
    if (status == KILN_OK)
        status = kn_nth_bind(part, 1, &l->search, l->call, KN_NTH_KEY, true, true);
    return status == KILN_OK
               ? kn_lowered_bind(part, 2, l->call, &to, KILN_UINT64, r->ndim - 1, r->shape, NULL)
               : status;
}

static kiln_status add_search(lowering *l)
{
    const int64_t places = separate_places(l);
    kiln_status status =
        kn_lowered_add_buffer(&l->sorted, l->out, (size_t)(places * l->rows.rows) * sizeof(uint64_t));
    if (status == KILN_OK)
        status = kn_nth_begin(&l->search, &l->q->nth, l->out, l->call, &l->rows, places);
    if (status == KILN_OK && l->q->of.skips_nan)
        status = add_counts(l);
    if (status == KILN_OK && !l->q->rank)
        status = kn_nth_set_rank(&l->search, l->out, l->call, (l->rows.length - 1) / 2);
    for (int64_t k = 0; k < places && l->q->rank && status == KILN_OK; ++k)
        status = add_rank(l, k);
    if (status == KILN_OK)
        status = kn_nth_find(&l->search, l->out, l->call);
    return status == KILN_OK ? add_next(l) : status;
}

static kiln_status add_sort(lowering *l)
{
    kiln_status status = kn_lowered_add_buffer(
        &l->sorted, l->out, (size_t)(l->rows.rows * l->rows.length) * kiln_dtype_size(l->rows.dtype));
    const kn_source to = {.kind = KN_FROM_BUFFER, .index = l->sorted};
    return status == KILN_OK ? kn_sort_rows_add(l->out, &l->rows, l->call, l->q->sort, &to, &l->rows.dtype, 1)
                             : status;
}

/* Rows without elements: NaN. */
static kiln_status add_none(lowering *l)
{
    const kn_source to = {.kind = KN_FROM_OUTPUT, .index = 0};
    const kiln_arg nan = is_complex(l->result.dtype) ? kiln_arg_complex(NAN, NAN) : kiln_arg_float(NAN);
    const kiln_array *given = l->call->out ? l->call->out[0] : NULL;
    const kn_described *r = &l->result;
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_kernel(&part, l->out, l->q->none);
    if (status != KILN_OK)
        return status;
    kn_lowered_set_shape(part, r->ndim, r->shape);
    kn_lowered_bind_number(part, 0, r->dtype, &nan);
    return kn_lowered_bind(part, 1, l->call, &to, r->dtype, r->ndim, r->shape, given ? given->strides : NULL);
}

static bool has_elements(const kn_described *x)
{
    return kn_shape_size(x->ndim, x->shape) > 0;
}

static kiln_status lower(kn_lowered *out, const void *context, const kn_lowering_call *call)
{
    const quantile *q = context;
    lowering l = {.out = out, .q = q, .call = call};
    kn_described *in = kn_calloc(3, sizeof *in);
    uint64_t along = 0;
    if (!in)
        return kn_error_memory("a quantile");
    kn_describe_arguments(in, call->in, q->of.is_median || q->of.has_list ? 1 : 2);
    kiln_status status = describe(&l.result, q, 0, in);
    if (status == KILN_OK)
        status = find_axes(&along, &q->of, in[0].ndim);
    const bool is_none = status == KILN_OK && !has_elements(&in[0]);
    kn_free(in);
    if (status != KILN_OK || !has_elements(&l.result))
        return status;
    if (is_none)
        return add_none(&l);
    status = kn_sort_rows_find(&l.rows, out, call, 0, along, q->copy);
    l.is_searched = status == KILN_OK && suits(&l);
    if (status == KILN_OK)
        status = l.is_searched ? add_search(&l) : add_sort(&l);
    return status == KILN_OK ? add_picks(&l, along) : status;
}

static void release(void *context)
{
    quantile *q = context;
    if (!q)
        return;
    kiln_kernel_free(q->sort);
    kiln_kernel_free(q->copy);
    kiln_kernel_free(q->pick);
    kn_nth_free(&q->nth);
    kiln_kernel_free(q->rank);
    kiln_kernel_free(q->next);
    kiln_kernel_free(q->pick_found);
    kiln_kernel_free(q->count);
    kiln_kernel_free(q->none);
    kn_free(q);
}

static const kn_algorithm algorithm = {.describe = describe, .lower = lower, .free = release};

/* ---- making ---- */

static void put_place(kn_str *out, const kn_quantile *q, int method)
{
    kn_str_printf(out,
                  "const float64 f = n, given = %s, p = given > 0 ? given < 1 ? given : 1 : 0, v = %s;\n",
                  q->is_percentile ? "(float64)q / 100" : "(float64)q", methods[method].place);
}

/* The elements before and behind the place. NaN, which comes last, is the result of its row. Sorted rows
 * follow each other, for each q. */
static void put_elements(kn_str *out, const kn_quantile *q, bool is_found)
{
    if (q->skips_nan && !is_found) {
        kn_str_printf(out,
                      "[[maybe_unused]] const T last = s[row], low = s[row + %s], high = s[row + %s];\n"
                      "const bool is_nan = kn_is_nan(last);\n",
                      q->is_median ? "(n - 1) / 2" : LOW, q->is_median ? "n / 2" : HIGH);
        return;
    }
    if (is_found)
        kn_str_printf(
            out,
            "[[maybe_unused]] const T last = kn_sort_value<T>(~0ull), low = kn_sort_value<T>(key),\n"
            "        high = %s || rank + 1 < total ? low : kn_sort_value<T>(next);\n"
            "const bool is_nan = %s;\n",
            q->is_median ? "n % 2" : "v < 0 || v >= f - 1", q->skips_nan ? "kn_is_nan(low)" : "next == 0");
    else
        kn_str_printf(
            out,
            "const int64 row = i %% rows * n;\n"
            "[[maybe_unused]] const T last = s[row + n - 1], low = s[row + %s], high = s[row + %s];\n"
            "const bool is_nan = kn_is_nan(last);\n",
            q->is_median ? "(n - 1) / 2" : LOW, q->is_median ? "n / 2" : HIGH);
}

static void put_result(kn_str *out, const kn_quantile *q, const char *gamma)
{
    if (q->is_median)
        kn_str_append(out, "const R a = (R)low, b = (R)high;\n"
                           "y = is_nan ? (R)last : n % 2 ? b : (R)((a + b) / (R)2)");
    else if (!gamma)
        kn_str_append(out, "y = is_nan ? last : low");
    else
        kn_str_printf(out,
                      "const float64 g = v - floor(v), w = %s;\n"
                      "const R a = (R)low, b = (R)high, d = (R)(b - a);\n"
                      "y = is_nan ? (R)last : a == b ? a : w >= 0.5 ? (R)(b - (R)(d * (R)(1 - w))) : "
                      "(R)(a + (R)(d * (R)w))",
                      gamma);
}

/* n: the elements of a sorted row in front of NaNs, or one if there are none. */
static void put_count(kn_str *out)
{
    kn_str_append(out, "const int64 row = i % rows * length;\n"
                       "int64 n = 0;\n"
                       "for (int64 end = length; n < end;) {\n"
                       "    const int64 middle = n + (end - n) / 2;\n"
                       "    if (kn_is_nan(s[row + middle]))\n"
                       "        end = middle;\n"
                       "    else\n"
                       "        n = middle + 1;\n"
                       "}\n"
                       "n = n > 0 ? n : 1;\n");
}

/* Products are rounded before sums, so that a place which is a whole number is one. */
static kiln_status make_map(kiln_kernel **out, const quantile *q, const char *ins, const char *outs,
                            const kn_str *body, bool is_found)
{
    kn_str all = KN_STR_INIT;
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    o.flags = KILN_KERNEL_NO_FMA;
    o.preamble = preamble;
    kn_str_printf(&all, "%sint64 %s%s", q->of.is_median ? "" : "Q q, ",
                  q->of.skips_nan && !is_found ? "length" : "n", ins);
    kiln_status status = kn_str_status(body, "the texts of a quantile");
    if (status == KILN_OK)
        status = kn_str_status(&all, "the texts of a quantile");
    if (status == KILN_OK)
        status =
            kiln_elementwise_create(out, kn_str_text(&all), outs, kn_str_text(body), name_of(&q->of), &o);
    kn_str_free(&all);
    return status;
}

static kiln_status make_pick(kiln_kernel **out, const quantile *q, int method, bool is_found)
{
    kn_str body = KN_STR_INIT;
    if (q->of.skips_nan && !is_found)
        put_count(&body);
    if (!q->of.is_median)
        put_place(&body, &q->of, method);
    put_elements(&body, &q->of, is_found);
    put_result(&body, &q->of, methods[method].gamma);
    kiln_status status = make_map(out, q,
                                  is_found ? ", uint64 key, uint32 rank, uint32 total, uint64 next, raw T x"
                                           : ", raw T s, int64 rows",
                                  q->is_discrete ? "T y" : "R y", &body, is_found);
    kn_str_free(&body);
    return status;
}

static kiln_status make_rank(quantile *q, int method)
{
    kn_str body = KN_STR_INIT;
    if (!q->of.is_median)
        put_place(&body, &q->of, method);
    kn_str_append(&body, q->of.is_median ? "rank = (n - 1) / 2" : "rank = " LOW);
    kiln_status status = make_map(&q->rank, q, "", "uint32 rank", &body, true);
    kn_str_free(&body);
    return status;
}

static kiln_status make_search(quantile *q, int method)
{
    kiln_status status = kn_nth_create(&q->nth, 0);
    if (status == KILN_OK && (!q->of.is_median || q->of.skips_nan))
        status = make_rank(q, method);
    if (status == KILN_OK && q->of.skips_nan)
        status = kiln_reduction_create(&q->count, "T x", "int64 n", "kn_is_nan(x) ? 0 : 1", "a + b",
                                       "n = a > 0 ? a : 1", "0", name_of(&q->of), NULL);
    if (status == KILN_OK)
        status = kiln_reduction_create(&q->next, "T x, uint64 key", "uint64 next",
                                       q->of.skips_nan ? "kn_is_nan(x) ? ~0ull : kn_sort_after(x, key)"
                                                       : "kn_sort_after(x, key)",
                                       "a < b ? a : b", "next = a", NULL, name_of(&q->of), NULL);
    return status == KILN_OK ? make_pick(&q->pick_found, q, method, true) : status;
}

static kiln_status find_method(int *out, const kn_quantile *q)
{
    kn_str list = KN_STR_INIT;
    const char *method = q->method ? q->method : methods[0].name;
    for (*out = 0; *out < METHODS && strcmp(methods[*out].name, method) != 0;)
        ++*out;
    if (*out < METHODS)
        return KILN_OK;
    for (int m = 0; m < METHODS; ++m)
        kn_str_printf(&list, "%s%s", m > 0 ? ", " : "", methods[m].name);
    kiln_status status = kn_error(KILN_ERROR_INVALID, "%s: method: '%s' was given; there are: %s", name_of(q),
                                  method, kn_str_text(&list));
    kn_str_free(&list);
    return status;
}

kiln_status kn_quantile_check(const kn_quantile *q, double p)
{
    const double most = q->is_percentile ? 100 : 1;
    return p >= 0 && p <= most
               ? KILN_OK
               : kn_error(KILN_ERROR_INVALID, "%s: q: %g was given; a number from 0 to %g was expected",
                          name_of(q), p, most);
}

static kiln_status make(kiln_kernel **out, const void *of)
{
    static const char *const ins[] = {"x", "q"}, *const outs[] = {"y"};
    const kiln_sort_key key = {.key = "x"};
    kn_program *prototype = NULL;
    int method = 0;
    quantile *q = kn_calloc(1, sizeof *q);
    if (!q)
        return kn_error_memory("a quantile");
    q->of = *(const kn_quantile *)of;
    kiln_status status = find_method(&method, &q->of);
    if (status == KILN_OK) {
        q->is_discrete = !q->of.is_median && !methods[method].gamma;
        q->of.method = methods[method].name;
        status = kn_sort_create(&q->sort, "T x", "T y", &key, 1, "y = x", "sort", NULL, NULL);
    }
    if (status == KILN_OK)
        status = kn_sort_rows_copy_create(&q->copy);
    if (status == KILN_OK)
        status = make_pick(&q->pick, q, method, false);
    if (status == KILN_OK)
        status = make_search(q, method);
    if (status == KILN_OK)
        status = kiln_elementwise_create(&q->none, "R z", "R y", "y = z", name_of(&q->of), NULL);
    if (status == KILN_OK)
        status = kn_prototype_create(&prototype, name_of(&q->of), ins,
                                     q->of.is_median || q->of.has_list ? 1 : 2, outs, 1);
    if (status == KILN_OK)
        return kn_kernel_create_algorithm(out, prototype, &algorithm, q);
    release(q);
    return status;
}

kiln_status kn_quantile_find(kiln_kernel **out, const kn_quantile *q)
{
    kn_str text = KN_STR_INIT;
    kiln_status status =
        q->is_all || q->n_axes > 0
            ? KILN_OK
            : kn_error(KILN_ERROR_INVALID, "%s: axis: there is none; one at least was expected", name_of(q));
    kn_str_printf(&text, "%s %s %d %d", name_of(q), q->method ? q->method : "", q->is_all, q->keepdims);
    for (int k = 0; k < q->n_axes && !q->is_all; ++k)
        kn_str_printf(&text, " %d", q->axis[k]);
    kn_str_append(&text, q->has_list ? " of" : "");
    for (int k = 0; k < q->n_list && q->has_list && status == KILN_OK; ++k) {
        kn_str_printf(&text, " %a", q->list[k]);
        status = kn_quantile_check(q, q->list[k]);
    }
    if (status == KILN_OK)
        status = kn_kernel_remembered(out, &text, make, q);
    kn_str_free(&text);
    return status;
}

/* ---- C ---- */

static kiln_status call(kiln_array **out, kn_quantile *q, kiln_arg x, const kiln_arg *p, const int *axes,
                        int n_axes)
{
    kiln_kernel *kernel = NULL;
    kiln_arg in[2] = {x};
    if (n_axes < 0 || n_axes > KILN_MAX_NDIM)
        return kn_error(KILN_ERROR_INVALID, "%s: n_axes: %d was given; 0 to %d were expected", name_of(q),
                        n_axes, KILN_MAX_NDIM);
    q->is_all = !axes;
    q->n_axes = axes ? n_axes : 0;
    for (int k = 0; k < q->n_axes; ++k)
        q->axis[k] = axes[k];
    if (p)
        in[1] = *p;
    kiln_status status = kn_quantile_find(&kernel, q);
    return status == KILN_OK ? kn_call_by_name(out, 1, kernel, in, p ? 2 : 1, false) : status;
}

kiln_status kiln_median(kiln_array **out, kiln_arg x, const int *axes, int n_axes, bool keepdims)
{
    kn_quantile q = {.is_median = true, .keepdims = keepdims};
    return call(out, &q, x, NULL, axes, n_axes);
}

static kiln_status call_quantile(kiln_array **out, kn_quantile *q, kiln_arg x, kiln_arg p, const int *axes,
                                 int n_axes)
{
    double number = 0;
    kiln_status status = p.kind == KILN_ARG_ARRAY ? KILN_OK : kn_scalar_store(&number, KILN_FLOAT64, &p, "q");
    if (status == KILN_OK)
        status = kn_quantile_check(q, number);
    return status == KILN_OK ? call(out, q, x, &p, axes, n_axes) : status;
}

kiln_status kiln_quantile(kiln_array **out, kiln_arg x, kiln_arg q, const char *method, const int *axes,
                          int n_axes, bool keepdims)
{
    kn_quantile of = {.method = method, .keepdims = keepdims};
    return call_quantile(out, &of, x, q, axes, n_axes);
}

kiln_status kiln_percentile(kiln_array **out, kiln_arg x, kiln_arg q, const char *method, const int *axes,
                            int n_axes, bool keepdims)
{
    kn_quantile of = {.method = method, .is_percentile = true, .keepdims = keepdims};
    return call_quantile(out, &of, x, q, axes, n_axes);
}

kiln_status kiln_nanmedian(kiln_array **out, kiln_arg x, const int *axes, int n_axes, bool keepdims)
{
    kn_quantile q = {.is_median = true, .skips_nan = true, .keepdims = keepdims};
    return call(out, &q, x, NULL, axes, n_axes);
}

kiln_status kiln_nanquantile(kiln_array **out, kiln_arg x, kiln_arg q, const char *method, const int *axes,
                             int n_axes, bool keepdims)
{
    kn_quantile of = {.method = method, .skips_nan = true, .keepdims = keepdims};
    return call_quantile(out, &of, x, q, axes, n_axes);
}

kiln_status kiln_nanpercentile(kiln_array **out, kiln_arg x, kiln_arg q, const char *method, const int *axes,
                               int n_axes, bool keepdims)
{
    kn_quantile of = {.method = method, .is_percentile = true, .skips_nan = true, .keepdims = keepdims};
    return call_quantile(out, &of, x, q, axes, n_axes);
}
