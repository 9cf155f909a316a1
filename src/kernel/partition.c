/* topk, partition and argpartition: the key at a place is found (nth.h); a scan counts the elements that come
 * before it, and those that are equal, and stores each at its place. The order is that of the elements in
 * their row, so that the k of topk need a stable sort of their own alone. */
#include "kernel/partition.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/nth.h"
#include "program/program.h"
#include "space/shape.h"

enum { FEW = 8 /* topk: one of so many elements, at most, is wanted */ };

typedef struct partition {
    kn_named_sort of;
    kiln_kernel *sort; /* of all elements; it describes the results too */
    kn_nth nth;
    kiln_kernel *place;
    kiln_kernel *last; /* topk: the sort of the elements that are wanted */
} partition;

static kiln_status describe(kn_described *out, const void *context, int j, const kn_described *in)
{
    const kiln_kernel *sort = ((const partition *)context)->sort;
    return sort->algorithm->describe(out, sort->context, j, in);
}

/* ---- lowering ---- */

typedef struct lowering {
    kn_lowered *out;
    const partition *p;
    const kn_lowering_call *call;
    kn_nth_search search;
    int64_t kth; /* from 0 on */
    int found[2];
} lowering;

static bool is_topk(const partition *p)
{
    return p->of.name == KN_TOPK;
}

/* The place whose key is looked for; -1: a sort of all elements does better, or says what is wrong. */
static int64_t find_place(const partition *p, const kn_lowering_call *call, kn_sort_rows *rows)
{
    const kn_sort_along *along = &p->of.along;
    const kiln_array *x = call->in[0].value.array;
    if (call->in[0].kind != KILN_ARG_ARRAY || (call->options && call->options->axes) ||
        along->axis < -x->ndim || along->axis >= x->ndim)
        return -1;
    const int axis = along->axis < 0 ? along->axis + x->ndim : along->axis;
    const int64_t n = x->shape[axis];
    if (kn_sort_rows_find(rows, NULL, call, 0, UINT64_C(1) << axis, NULL) != KILN_OK || !kn_nth_suits(rows) ||
        along->least > n)
        return -1;
    if (is_topk(p))
        return along->count <= n / FEW ? along->count - 1 : -1;
    return p->of.n_places == 1 ? p->of.place < 0 ? p->of.place + n : p->of.place : -1;
}

/* Result j, with the axis behind the others. */
static kiln_status bind_result(kn_lowered_part *part, int at, const lowering *l, int j, kiln_dtype dtype)
{
    const kn_source to = {.kind = KN_FROM_OUTPUT, .index = j};
    const kiln_array *given = l->call->out ? l->call->out[j] : NULL;
    const kn_sort_rows *r = &l->search.rows;
    const int64_t extent = is_topk(l->p) ? l->p->of.along.count : r->length;
    const kn_sort_along *along = &l->p->of.along;
    const int axis = along->axis < 0 ? along->axis + r->ndim : along->axis;
    int64_t shape[KILN_MAX_NDIM], dense[KILN_MAX_NDIM], moved[KILN_MAX_NDIM], sizes[KILN_MAX_NDIM];
    for (int a = 0; a < r->ndim; ++a)
        shape[a] = a == axis ? extent : r->shape[a < axis ? a : a - 1];
    kn_shape_c_strides(r->ndim, shape, (int64_t)kiln_dtype_size(dtype), dense);
    const int64_t *strides = given ? given->strides : dense;
    for (int a = 0, to_axis = 0; a < r->ndim; ++a) {
        int at_axis = a == axis ? r->ndim - 1 : to_axis++;
        moved[at_axis] = strides[a];
        sizes[at_axis] = shape[a];
    }
    return kn_lowered_bind(part, at, l->call, &to, dtype, r->ndim, sizes, moved);
}

/* Those that topk has found, by row. */
static kiln_status bind_found(kn_lowered_part *part, int at, const lowering *l, int j, kiln_dtype dtype)
{
    const kn_source source = {.kind = KN_FROM_BUFFER, .index = l->found[j]};
    int64_t shape[KILN_MAX_NDIM];
    memcpy(shape, l->search.rows.shape, (size_t)l->search.rows.ndim * sizeof *shape);
    shape[l->search.rows.ndim - 1] = l->p->of.along.count;
    return kn_lowered_bind(part, at, l->call, &source, dtype, l->search.rows.ndim, shape, NULL);
}

/* The parameters of `place`: elements; the key, its place among the equal ones, and their number; the place,
 * and the length of a row of results; results. */
static kiln_status add_place(lowering *l)
{
    static const kn_nth_word words[] = {KN_NTH_KEY, KN_NTH_RANK, KN_NTH_TOTAL};
    const kn_sort_rows *r = &l->search.rows;
    const kiln_arg kth = kiln_arg_int64(l->kth), length = kiln_arg_int64(r->length);
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_along(&part, l->out, l->p->place, r->ndim, r->shape);
    if (status == KILN_OK)
        status = kn_nth_bind_elements(part, 0, &l->search, l->call);
    for (int k = 0; k < 3 && status == KILN_OK; ++k)
        status = kn_nth_bind(part, 1 + k, &l->search, l->call, words[k], true, true);
    if (status != KILN_OK)
        return status;
    kn_lowered_bind_number(part, 4, KILN_INT64, &kth);
    kn_lowered_bind_number(part, 5, KILN_INT64, &length);
    if (!is_topk(l->p))
        return bind_result(part, 6, l, 0, l->p->of.name == KN_PARTITION ? r->dtype : KILN_INT64);
    status = bind_found(part, 6, l, 0, r->dtype);
    return status == KILN_OK ? bind_found(part, 7, l, 1, KILN_INT64) : status;
}

static kiln_status add_last(lowering *l)
{
    const kn_sort_rows *r = &l->search.rows;
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_kernel(&part, l->out, l->p->last);
    for (int j = 0; j < 2 && status == KILN_OK; ++j)
        status = bind_found(part, j, l, j, j == 0 ? r->dtype : KILN_INT64);
    for (int j = 0; j < 2 && status == KILN_OK; ++j)
        status = bind_result(part, 2 + j, l, j, j == 0 ? r->dtype : KILN_INT64);
    return status;
}

static kiln_status add_steps(lowering *l, const kn_sort_rows *rows)
{
    const size_t wanted = (size_t)(rows->rows * l->p->of.along.count);
    kiln_status status = kn_nth_begin(&l->search, &l->p->nth, l->out, l->call, rows, 0);
    if (status == KILN_OK)
        status = kn_nth_set_rank(&l->search, l->out, l->call, l->kth);
    if (status == KILN_OK)
        status = kn_nth_find(&l->search, l->out, l->call);
    if (status == KILN_OK && is_topk(l->p))
        status = kn_lowered_add_buffer(&l->found[0], l->out, wanted * kiln_dtype_size(rows->dtype));
    if (status == KILN_OK && is_topk(l->p))
        status = kn_lowered_add_buffer(&l->found[1], l->out, wanted * sizeof(int64_t));
    if (status == KILN_OK)
        status = add_place(l);
    return status == KILN_OK && is_topk(l->p) ? add_last(l) : status;
}

static kiln_status lower(kn_lowered *out, const void *context, const kn_lowering_call *call)
{
    lowering l = {.out = out, .p = context, .call = call};
    kn_sort_rows rows;
    l.kth = find_place(l.p, call, &rows);
    return l.kth < 0 ? l.p->sort->algorithm->lower(out, l.p->sort->context, call) : add_steps(&l, &rows);
}

static void release(void *context)
{
    partition *p = context;
    if (!p)
        return;
    kiln_kernel_free(p->sort);
    kiln_kernel_free(p->place);
    kiln_kernel_free(p->last);
    kn_nth_free(&p->nth);
    kn_free(p);
}

static const kn_algorithm algorithm = {.describe = describe, .lower = lower, .free = release};

/* ---- making ---- */

/* Sums have the number of elements before the place's in their lower half, and of equal ones in the upper. */
static kiln_status make_place(partition *p)
{
    static const struct {
        const char *outs, *put;
    } by_name[] = {[KN_TOPK] = {"raw T y, raw int64 at",
                                "if (to <= kth) {\n"
                                "    const int64 found = (i - _J) / length * (kth + 1) + to;\n"
                                "    y[found] = x;\n"
                                "    at[found] = _J;\n"
                                "}\n"},
                   [KN_PARTITION] = {"raw T y", "y[i - _J + to] = x;\n"},
                   [KN_ARGPARTITION] = {"raw int64 at", "at[i - _J + to] = _J;\n"}};
    kn_str side = KN_STR_INIT, put = KN_STR_INIT;
    kn_str_printf(&side, "kn_sort_side(%s, key)", kn_nth_key(p->of.flags));
    kn_str_printf(&put,
                  "const int64 side = %s;\n"
                  "%s{\n"
                  "    const int64 before = kn_sum & 0xffffffff, equal = kn_sum >> 32, first = kth - rank,\n"
                  "        to = side == 1 ? before - 1 : side ? first + equal - 1\n"
                  "                                           : first + total + (_J - before - equal);\n"
                  "%s}\n",
                  kn_str_text(&side), is_topk(p) ? "if (side != 0) " : "", by_name[p->of.name].put);
    const kn_stage_text stages[] = {
        {.kind = KN_MAP_EXPRESSION,
         .label = "side",
         .reads = "x, key",
         .gives = "_kn_side",
         .body = kn_str_text(&side)},
        {.kind = KN_SCAN, .label = "scan", .reads = "_kn_side", .gives = "_kn_sum", .body = "a + b"},
        {.kind = KN_MAP,
         .label = "body",
         .reads = "_kn_sum, x, key, rank, total, kth, length",
         .body = kn_str_text(&put)}};
    const kn_program_text text = {.name = "partition",
                                  .in = "T x, uint64 key, uint32 rank, uint32 total, int64 kth, int64 length",
                                  .out = by_name[p->of.name].outs,
                                  .values = "int64 _kn_side, int64 _kn_sum",
                                  .stage = stages,
                                  .n_stages = 3,
                                  .reduced = KN_REDUCED_BY_CALL};
    kiln_status status = side.failed ? kn_error_memory("the texts of a partition")
                                     : kn_str_status(&put, "the texts of a partition");
    if (status == KILN_OK)
        status = kn_kernel_create_text(&p->place, &text);
    kn_str_free(&side);
    kn_str_free(&put);
    return status;
}

static kiln_status make_kernels(partition *p)
{
    const kiln_sort_key key = {.key = "x", .flags = p->of.flags};
    kiln_status status = kn_nth_create(&p->nth, p->of.flags);
    if (status == KILN_OK)
        status = make_place(p);
    return status == KILN_OK && is_topk(p) ? kn_sort_create(&p->last, "T x, int64 found", "T y, int64 at",
                                                            &key, 1, "y = x; at = found", "topk", NULL, NULL)
                                           : status;
}

kiln_status kn_partition_create(kiln_kernel **out, const kn_named_sort *of, kiln_kernel *sort)
{
    const kn_program *s = sort->program;
    const char *names[KN_MAX_PARAMS];
    kn_program *prototype = NULL;
    partition *p = kn_calloc(1, sizeof *p);
    if (!p) {
        kiln_kernel_free(sort);
        return kn_error_memory("a partition");
    }
    p->of = *of;
    p->sort = sort;
    for (int k = 0; k < s->n_in + s->n_out; ++k)
        names[k] = s->param[k].name;
    kiln_status status = make_kernels(p);
    if (status == KILN_OK)
        status = kn_prototype_create(&prototype, s->name, names, s->n_in, names + s->n_in, s->n_out);
    if (status == KILN_OK)
        return kn_kernel_create_algorithm(out, prototype, &algorithm, p);
    release(p);
    return status;
}
