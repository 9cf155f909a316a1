/* unique: elements are sorted; a scan over all but the first counts those that differ from the one before,
 * and stores each by its number. The last one stores the first, too, so that none is asked whether it is
 * that. Of elements that are not sorted these are runs. */
#include "kernel/unique.h"

#include <stdio.h>
#include <string.h>

#include <kiln/sort.h>
#include "base/alloc.h"
#include "base/error.h"
#include "kernel/sort_rows.h"
#include "program/program.h"
#include "space/shape.h"
#include "types/dtype.h"

/* Results, in the order of flags; values come first. */
enum { INDEX, INVERSE, COUNTS, RESULTS };
static const char *const names[RESULTS] = {"index", "inverse", "counts"};

typedef struct unique {
    unsigned flags;
    int place[RESULTS]; /* among the results; 0: it is not wanted */
    bool has_order;     /* the sort says where elements were */
    bool has_runs;      /* KN_UNIQUE_RUNS */
    kiln_kernel *sort, *copy, *find, *count;
} unique;

static bool is_wanted(const unique *u, int result)
{
    return u->flags >> result & 1;
}

/* ---- results ---- */

static kiln_status describe(kn_described *out, const void *context, int j, const kn_described *in)
{
    const unique *u = context;
    if (in->is_number)
        return kn_error(KILN_ERROR_TYPE, "unique: 'x' is a number here; an array was expected");
    out->dtype = j == 0 ? in->dtype : KILN_INT64;
    if (j > 0 && j == u->place[INVERSE]) {
        out->ndim = in->ndim;
        memcpy(out->shape, in->shape, (size_t)in->ndim * sizeof *in->shape);
        return KILN_OK;
    }
    out->ndim = 1;
    out->shape[0] = kn_shape_size(in->ndim, in->shape);
    out->is_late = out->takes_any = out->shape[0] > 0;
    return KILN_OK;
}

/* ---- lowering ---- */

typedef struct lowering {
    kn_lowered *out;
    const unique *u;
    const kn_lowering_call *call;
    kn_sort_rows rows;   /* one */
    kn_source sorted[2]; /* elements, and where they were */
    int heads, found;    /* where the distinct ones begin, if these are counted; their number */
} lowering;

static kiln_status bind_buffer(kn_lowered_part *part, int at, const lowering *l, int buffer, kiln_dtype dtype,
                               int64_t count)
{
    const kn_source source = {.kind = KN_FROM_BUFFER, .index = buffer};
    return kn_lowered_bind(part, at, l->call, &source, dtype, 1, &count, NULL);
}

/* Sorted elements (0), or where they were (1): all but the first, if there are others, or from it on all but
 * the last. */
static kiln_status bind_sorted(kn_lowered_part *part, int at, const lowering *l, int which, bool from_first)
{
    const kiln_dtype dtype = which == 0 ? l->rows.dtype : KILN_INT64;
    const bool has_others = l->rows.length > 1;
    const int64_t count = l->rows.length - has_others;
    kn_source source = l->sorted[which];
    source.shift += from_first || !has_others ? 0 : (int64_t)kiln_dtype_size(dtype);
    return kn_lowered_bind(part, at, l->call, &source, dtype, 1, &count, NULL);
}

/* A result of one axis; given arrays may be shorter. */
static kiln_status bind_result(kn_lowered_part *part, int at, const lowering *l, int j, kiln_dtype dtype)
{
    const kn_source source = {.kind = KN_FROM_OUTPUT, .index = j};
    const kiln_array *given = l->call->out ? l->call->out[j] : NULL;
    if (j == l->u->place[INVERSE] && j > 0) {
        const kiln_array *x = l->call->in[0].value.array;
        return kn_lowered_bind(part, at, l->call, &source, dtype, x->ndim, x->shape,
                               given ? given->strides : NULL);
    }
    return kn_lowered_bind(part, at, l->call, &source, dtype, 1, given ? given->shape : &l->rows.length,
                           given ? given->strides : NULL);
}

static kiln_status add_buffers(lowering *l)
{
    const size_t elements = (size_t)l->rows.length;
    kiln_status status =
        kn_lowered_add_source(&l->sorted[0], l->out, elements * kiln_dtype_size(l->rows.dtype));
    if (status == KILN_OK && l->u->has_order)
        status = kn_lowered_add_source(&l->sorted[1], l->out, elements * sizeof(int64_t));
    if (status == KILN_OK && is_wanted(l->u, COUNTS))
        status = kn_lowered_add_buffer(&l->heads, l->out, elements * sizeof(int64_t));
    return status == KILN_OK ? kn_lowered_add_buffer(&l->found, l->out, sizeof(int64_t)) : status;
}

/* The parameters of `find`: sorted elements, where they were, the elements before them, all of both; values,
 * and what else is wanted; their number. */
static kiln_status add_find(lowering *l)
{
    const int64_t n = l->rows.length;
    kn_lowered_part *part;
    int at = 0;
    kiln_status status = kn_lowered_add_kernel(&part, l->out, l->u->find);
    for (int which = 0; which <= l->u->has_order && status == KILN_OK; ++which)
        status = bind_sorted(part, at++, l, which, false);
    if (status == KILN_OK)
        status = bind_sorted(part, at++, l, 0, true);
    for (int which = 0; which <= l->u->has_order && status == KILN_OK; ++which)
        status = kn_lowered_bind(part, at++, l->call, &l->sorted[which],
                                 which == 0 ? l->rows.dtype : KILN_INT64, 1, &n, NULL);
    if (status == KILN_OK)
        status = bind_result(part, at++, l, 0, l->rows.dtype);
    for (int r = INDEX; r <= INVERSE && status == KILN_OK; ++r)
        if (is_wanted(l->u, r))
            status = bind_result(part, at++, l, l->u->place[r], KILN_INT64);
    if (status == KILN_OK && is_wanted(l->u, COUNTS))
        status = bind_buffer(part, at++, l, l->heads, KILN_INT64, n);
    return status == KILN_OK ? bind_buffer(part, at, l, l->found, KILN_INT64, 1) : status;
}

/* The parameters of `count`: heads twice, the number of them, elements; counts. */
static kiln_status add_count(lowering *l)
{
    const kiln_arg elements = kiln_arg_int64(l->rows.length);
    kn_lowered_part *part;
    int at = 0;
    kiln_status status = kn_lowered_add_kernel(&part, l->out, l->u->count);
    for (int twice = 0; twice < 2 && status == KILN_OK; ++twice)
        status = bind_buffer(part, at++, l, l->heads, KILN_INT64, l->rows.length);
    if (status == KILN_OK)
        status = bind_buffer(part, at++, l, l->found, KILN_INT64, 1);
    if (status != KILN_OK)
        return status;
    kn_lowered_bind_number(part, at++, KILN_INT64, &elements);
    return bind_result(part, at, l, l->u->place[COUNTS], KILN_INT64);
}

/* Elements as they lie. */
static kiln_status add_copy(lowering *l)
{
    const kn_sort_rows *r = &l->rows;
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_kernel(&part, l->out, l->u->copy);
    if (status == KILN_OK)
        status = kn_lowered_bind(part, 0, l->call, &r->source, r->dtype, r->ndim, r->shape, r->strides);
    return status == KILN_OK
               ? kn_lowered_bind(part, 1, l->call, &l->sorted[0], r->dtype, r->ndim, r->shape, NULL)
               : status;
}

static kiln_status lower(kn_lowered *out, const void *context, const kn_lowering_call *call)
{
    const unique *u = context;
    const kiln_array *x = call->in[0].kind == KILN_ARG_ARRAY ? call->in[0].value.array : NULL;
    const kiln_dtype dtype[] = {x ? x->dtype : KILN_DTYPE_NONE, KILN_INT64};
    lowering l = {.out = out, .u = u, .call = call};
    if (!x || x->size == 0)
        return KILN_OK;
    kiln_status status = kn_sort_rows_find(&l.rows, out, call, 0,
                                           x->ndim < 64 ? (UINT64_C(1) << x->ndim) - 1 : UINT64_MAX, u->copy);
    if (status == KILN_OK)
        status = add_buffers(&l);
    if (status == KILN_OK)
        status = u->has_runs
                     ? add_copy(&l)
                     : kn_sort_rows_add(out, &l.rows, call, u->sort, l.sorted, dtype, 1 + u->has_order);
    if (status == KILN_OK)
        status = add_find(&l);
    if (status == KILN_OK && is_wanted(u, COUNTS))
        status = add_count(&l);
    for (int j = 0; j <= RESULTS; ++j)
        if (j == 0 || (j < RESULTS + 1 && (j == u->place[INDEX] || j == u->place[COUNTS])))
            out->late[j] = (kn_late){true, {.kind = KN_FROM_BUFFER, .index = l.found}, 0};
    return status;
}

static void release(void *context)
{
    unique *u = context;
    if (!u)
        return;
    kiln_kernel_free(u->sort);
    kiln_kernel_free(u->copy);
    kiln_kernel_free(u->find);
    kiln_kernel_free(u->count);
    kn_free(u);
}

static const kn_algorithm algorithm = {.describe = describe, .lower = lower, .free = release};

/* ---- making ---- */

/* NaN is equal to NaN unless each is to be found; among sorted elements it comes last. */
static const char *condition_of(const unique *u)
{
    return u->flags & KN_UNIQUE_NANS ? "!(x == before)"
           : u->has_runs             ? "!(x == before || (kn_is_nan(x) && kn_is_nan(before)))"
                                     : "!(x == before || kn_is_nan(before))";
}

/* The texts of an element that is not the first, `kn_number` of these being distinct up to it. A single
 * element is compared with itself. */
static void put_body(kn_str *put, const unique *u)
{
    kn_str_printf(put, "if (%s) {\n    if (kn_number < y.size()) y[kn_number] = x;\n", condition_of(u));
    if (is_wanted(u, INDEX))
        kn_str_append(put, "    if (kn_number < index.size()) index[kn_number] = order;\n");
    if (is_wanted(u, COUNTS))
        kn_str_append(put, "    if (kn_number < heads.size()) heads[kn_number] = _J + 1;\n");
    kn_str_append(put, "}\n");
    if (is_wanted(u, INVERSE))
        kn_str_append(put, "inverse[order] = kn_number;\n");
    kn_str_append(put, "if (_J + 1 == _in_ind.size()) {\n    if (y.size() > 0) y[0] = first[0];\n");
    if (is_wanted(u, INDEX))
        kn_str_append(put, "    if (index.size() > 0) index[0] = orders[0];\n");
    if (is_wanted(u, COUNTS))
        kn_str_append(put, "    heads[0] = 0;\n");
    if (is_wanted(u, INVERSE))
        kn_str_append(put, "    inverse[orders[0]] = 0;\n");
    kn_str_append(put, "    count[0] = kn_number < first.size() ? kn_number + 1 : kn_number;\n}\n");
}

static kiln_status make_find(unique *u)
{
    char body[128];
    kn_str outs = KN_STR_INIT, put = KN_STR_INIT;
    snprintf(body, sizeof body, "%s ? 1 : 0", condition_of(u));
    kn_str_append(&outs, "raw T y");
    if (is_wanted(u, INDEX))
        kn_str_append(&outs, ", raw int64 index");
    if (is_wanted(u, INVERSE))
        kn_str_append(&outs, ", raw int64 inverse");
    kn_str_append(&outs, is_wanted(u, COUNTS) ? ", raw int64 heads, raw int64 count" : ", raw int64 count");
    put_body(&put, u);
    const kn_stage_text stages[] = {
        {.kind = KN_MAP_EXPRESSION, .label = "keep", .reads = "x, before", .gives = "_kn_new", .body = body},
        {.kind = KN_SCAN, .label = "scan", .reads = "_kn_new", .gives = "_kn_number", .body = "a + b"},
        {.kind = KN_MAP,
         .label = "body",
         .reads =
             u->has_order ? "_kn_number, x, order, before, first, orders" : "_kn_number, x, before, first",
         .body = kn_str_text(&put)}};
    const kn_program_text text = {.name = "unique",
                                  .in = u->has_order
                                            ? "T x, int64 order, T before, raw T first, raw int64 orders"
                                            : "T x, T before, raw T first",
                                  .out = kn_str_text(&outs),
                                  .values = "int64 _kn_new, int64 _kn_number",
                                  .stage = stages,
                                  .n_stages = 3,
                                  .reduced = KN_REDUCED_BY_CALL,
                                  /* selections run their body for distinct elements alone */
                                  .is_selection = !is_wanted(u, INVERSE)};
    kiln_status status = kn_str_status(&put, "the texts of unique");
    if (status == KILN_OK)
        status = kn_str_status(&outs, "the texts of unique");
    if (status == KILN_OK)
        status =
            kn_kernel_create_text(&u->find, &text); /* elements behind the distinct ones are no results */
    kn_str_free(&outs);
    kn_str_free(&put);
    return status;
}

static kiln_status make_count(unique *u)
{
    return kiln_elementwise_create(
        &u->count, "int64 head, raw int64 heads, raw int64 count, int64 n", "raw int64 y",
        "if (i < count[0] && i < y.size()) y[i] = (i + 1 < count[0] ? heads[i + 1] : n) - head", "counts",
        NULL);
}

static kiln_status make_kernels(unique *u)
{
    const kiln_sort_key key = {.key = "x"};
    int place = 0;
    for (int r = 0; r < RESULTS; ++r)
        u->place[r] = is_wanted(u, r) ? ++place : 0;
    u->has_order = is_wanted(u, INDEX) || is_wanted(u, INVERSE);
    u->has_runs = u->flags & KN_UNIQUE_RUNS;
    kiln_status status = kn_sort_create(&u->sort, "T x", u->has_order ? "T y, int64 at" : "T y", &key, 1,
                                        u->has_order ? "y = x; at = i" : "y = x", "sort", NULL, NULL);
    if (status == KILN_OK)
        status = kn_sort_rows_copy_create(&u->copy);
    if (status == KILN_OK)
        status = make_find(u);
    return status == KILN_OK && is_wanted(u, COUNTS) ? make_count(u) : status;
}

static kiln_status make(kiln_kernel **out, const void *of)
{
    static const char *const ins[] = {"x"};
    const char *outs[1 + RESULTS] = {"values"};
    kn_program *prototype = NULL;
    int n_out = 1;
    unique *u = kn_calloc(1, sizeof *u);
    if (!u)
        return kn_error_memory("unique");
    u->flags = *(const unsigned *)of;
    for (int r = 0; r < RESULTS; ++r)
        if (is_wanted(u, r))
            outs[n_out++] = names[r];
    kiln_status status = make_kernels(u);
    if (status == KILN_OK)
        status = kn_prototype_create(&prototype, "unique", ins, 1, outs, n_out);
    if (status == KILN_OK)
        return kn_kernel_create_algorithm(out, prototype, &algorithm, u);
    release(u);
    return status;
}

kiln_status kn_unique_find(kiln_kernel **out, unsigned flags)
{
    kn_str text = KN_STR_INIT;
    kn_str_printf(&text, "unique %u", flags);
    kiln_status status = kn_kernel_remembered(out, &text, make, &flags);
    kn_str_free(&text);
    return status;
}

kiln_status kiln_unique(kiln_array **out, kiln_arg x, unsigned flags)
{
    const unsigned all = KILN_UNIQUE_INDEX | KILN_UNIQUE_INVERSE | KILN_UNIQUE_COUNTS;
    kiln_kernel *kernel = NULL;
    if (flags & ~all)
        return kn_error(KILN_ERROR_INVALID,
                        "unique: flags: 0x%x was given; only KILN_UNIQUE_* (0x%x) are known", flags, all);
    kiln_status status = kn_unique_find(&kernel, flags);
    return status == KILN_OK ? kn_call_by_name(out, kernel->program->n_out, kernel, &x, 1, false) : status;
}
