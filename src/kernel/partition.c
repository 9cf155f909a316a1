/* topk, partition and argpartition: the key at a place is found (nth.h); a scan counts the elements that come
 * before it, and those that are equal, and stores each at its place. The order is that of the elements in
 * their row, so that the k of topk need a stable sort of their own alone. On CUDA few of a row are found by
 * blocks that read it once: each of several has a part of a row, and the first ones of all parts are sorted
 * once more. */
#include "kernel/partition.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "device/device.h"
#include "device/host_select.h"
#include "kernel/nth.h"
#include "program/program.h"
#include "schedule/sort_tile.h"
#include "space/shape.h"

enum { FEW = 8 /* topk: one of so many elements, at most, is wanted */ };

typedef struct partition {
    kn_named_sort of;
    kiln_kernel *sort; /* of all elements; it describes the results too */
    kn_nth nth;
    kiln_kernel *place;
    kiln_kernel *last; /* topk: the sort of the elements that are wanted */
    kiln_kernel *few;  /* topk: the first elements of a row, and where they were */
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

/* Shape and strides of result j, with the axis behind the others. */
static void lay_result(int64_t *sizes, int64_t *moved, const lowering *l, int j, kiln_dtype dtype)
{
    const kiln_array *given = l->call->out ? l->call->out[j] : NULL;
    const kn_sort_rows *r = &l->search.rows;
    const int64_t extent = is_topk(l->p) ? l->p->of.along.count : r->length;
    const kn_sort_along *along = &l->p->of.along;
    const int axis = along->axis < 0 ? along->axis + r->ndim : along->axis;
    int64_t shape[KILN_MAX_NDIM], dense[KILN_MAX_NDIM];
    for (int a = 0; a < r->ndim; ++a)
        shape[a] = a == axis ? extent : r->shape[a < axis ? a : a - 1];
    kn_shape_c_strides(r->ndim, shape, (int64_t)kiln_dtype_size(dtype), dense);
    const int64_t *strides = given ? given->strides : dense;
    for (int a = 0, to_axis = 0; a < r->ndim; ++a) {
        int at_axis = a == axis ? r->ndim - 1 : to_axis++;
        moved[at_axis] = strides[a];
        sizes[at_axis] = shape[a];
    }
}

static kiln_status bind_result(kn_lowered_part *part, int at, const lowering *l, int j, kiln_dtype dtype)
{
    const kn_source to = {.kind = KN_FROM_OUTPUT, .index = j};
    int64_t moved[KILN_MAX_NDIM], sizes[KILN_MAX_NDIM];
    lay_result(sizes, moved, l, j, dtype);
    return kn_lowered_bind(part, at, l->call, &to, dtype, l->search.rows.ndim, sizes, moved);
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

/* ---- the same by a step, on the host ---- */

static bool is_dense(int ndim, const int64_t *shape, const int64_t *strides, kiln_dtype dtype)
{
    int64_t dense[KILN_MAX_NDIM];
    bool is = true;
    kn_shape_c_strides(ndim, shape, (int64_t)kiln_dtype_size(dtype), dense);
    for (int a = 0; a < ndim; ++a)
        is = is && (shape[a] == 1 || strides[a] == dense[a]);
    return is;
}

/* Elements and results one after the other; topk stores into buffers. */
static bool parts_by_step(const lowering *l)
{
    const kn_sort_rows *r = &l->search.rows;
    int64_t shape[KILN_MAX_NDIM], strides[KILN_MAX_NDIM];
    if (!l->search.has_keys ||
        (l->p->of.name != KN_ARGPARTITION && !is_dense(r->ndim, r->shape, r->strides, r->dtype)))
        return false;
    const kiln_dtype dtype = l->p->of.name == KN_PARTITION ? r->dtype : KILN_INT64;
    lay_result(shape, strides, l, 0, dtype);
    return is_topk(l->p) || is_dense(r->ndim, shape, strides, dtype);
}

/* value: keys, those found, ranks and totals; elements, results (elements, numbers; one result is both);
 * rows, their length, the place, how many are stored, a key's bytes, which results, whether by vectors. */
static kiln_status part_rows(kn_device *device, const void *const *value, void *stream)
{
    (void)device, (void)stream;
    int64_t number[7];
    kn_step_integers(number, 7, value + 7);
    const bool has_values = number[5] != KN_ARGPARTITION, has_numbers = number[5] != KN_PARTITION;
    const kn_host_partition of = {.keys = value[0],
                                  .key = value[1],
                                  .rank = value[2],
                                  .total = value[3],
                                  .element = value[4],
                                  .to = has_values ? (void *)(uintptr_t)value[5] : NULL,
                                  .at = has_numbers ? (int64_t *)(uintptr_t)value[has_values ? 6 : 5] : NULL,
                                  .rows = number[0],
                                  .length = number[1],
                                  .kth = number[2],
                                  .stored = number[3],
                                  .key_size = (int)number[4],
                                  .has_vectors = number[6] != 0};
    kn_host_part_rows(&of);
    return KILN_OK;
}

static kiln_status add_parting(lowering *l)
{
    const kn_sort_rows *r = &l->search.rows;
    const kn_named_sort *of = &l->p->of;
    const int64_t number[] = {r->rows,
                              r->length,
                              l->kth,
                              is_topk(l->p) ? l->kth + 1 : r->length,
                              (int64_t)kiln_dtype_size(r->dtype),
                              of->name,
                              l->search.has_vectors};
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_function(&part, l->out, "part_rows", part_rows, 14);
    if (status == KILN_OK)
        status = kn_nth_bind_keys(part, 0, &l->search, l->call);
    if (status == KILN_OK)
        status = kn_nth_bind_elements(part, 4, &l->search, l->call);
    for (int j = 0; j < 2 && status == KILN_OK; ++j)
        status = is_topk(l->p)
                     ? bind_found(part, 5 + j, l, j, j == 0 ? r->dtype : KILN_INT64)
                     : bind_result(part, 5 + j, l, 0, of->name == KN_PARTITION ? r->dtype : KILN_INT64);
    if (status == KILN_OK)
        kn_lowered_bind_integers(part, 7, 7, number);
    return status;
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
        status = parts_by_step(l) ? add_parting(l) : add_place(l);
    return status == KILN_OK && is_topk(l->p) ? add_last(l) : status;
}

/* ---- few elements of parts of rows ---- */

enum {
    FEWEST_PARTS = 4,       /* of a row: each launch more takes as long as some thousand elements */
    BLOCKS = 512,           /* that read at once */
    SHORTEST = 8192,        /* elements of a part */
    MOST_OF_PARTS = 1 << 15 /* elements that all parts of a row leave */
};

typedef struct parts {
    int64_t count, length; /* parts of a row, and their elements; those behind the last part are left over */
    int64_t left, width;   /* of a row: elements that are left over, and all that is sorted once more */
    kn_source value, at, found;
} parts;

/* 0: the search by digits, or a sort, does better. */
static int64_t count_parts(const lowering *l, const kn_sort_rows *r)
{
    const int64_t k = l->p->of.along.count;
    if (!is_topk(l->p) || l->call->target->backend != KN_CUDA || k > KN_SORT_TOP || k < 1)
        return 0;
    int64_t count = BLOCKS / r->rows;
    count = count < r->length / SHORTEST ? count : r->length / SHORTEST;
    count = count < MOST_OF_PARTS / k ? count : MOST_OF_PARTS / k;
    return count < FEWEST_PARTS ? 1 : count;
}

/* The elements of rows in parts: those from `first` on, of a row as wide. */
static kiln_status bind_parts(kn_lowered_part *part, int at, const lowering *l, const kn_source *source,
                              kiln_dtype dtype, int64_t count, int64_t length, int64_t width)
{
    const kn_sort_rows *r = &l->search.rows;
    const int64_t item = (int64_t)kiln_dtype_size(dtype);
    int64_t shape[KILN_MAX_NDIM], strides[KILN_MAX_NDIM];
    memcpy(shape, r->shape, (size_t)r->ndim * sizeof *shape);
    shape[r->ndim - 1] = width;
    kn_shape_c_strides(r->ndim, shape, item, strides);
    shape[r->ndim - 1] = count;
    shape[r->ndim] = length;
    strides[r->ndim - 1] = length * item;
    strides[r->ndim] = item;
    return kn_lowered_bind(part, at, l->call, source, dtype, r->ndim + 1, shape, strides);
}

static kiln_status bind_elements(kn_lowered_part *part, int at, const lowering *l, int64_t first,
                                 int64_t count, int64_t length)
{
    const kn_sort_rows *r = &l->search.rows;
    int64_t shape[KILN_MAX_NDIM], strides[KILN_MAX_NDIM];
    kn_source source = r->source;
    memcpy(shape, r->shape, (size_t)r->ndim * sizeof *shape);
    memcpy(strides, r->strides, (size_t)r->ndim * sizeof *strides);
    source.shift += first * strides[r->ndim - 1];
    shape[r->ndim - 1] = count;
    shape[r->ndim] = length;
    strides[r->ndim] = strides[r->ndim - 1];
    strides[r->ndim - 1] *= length;
    return kn_lowered_bind(part, at, l->call, &source, r->dtype, r->ndim + 1, shape, strides);
}

static kiln_status add_firsts(lowering *l, parts *p)
{
    const int64_t k = l->p->of.along.count;
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_kernel(&part, l->out, l->p->few);
    if (status == KILN_OK)
        status = bind_elements(part, 0, l, 0, p->count, p->length);
    if (status == KILN_OK)
        status = bind_parts(part, 1, l, &p->value, l->search.rows.dtype, p->count, k, p->width);
    return status == KILN_OK ? bind_parts(part, 2, l, &p->at, KILN_INT64, p->count, k, p->count * k) : status;
}

/* Elements that are left over come behind those of the parts. */
static kiln_status add_left(lowering *l, const parts *p)
{
    const char *dtype = kiln_dtype_name(l->search.rows.dtype);
    kn_str in = KN_STR_INIT, outs = KN_STR_INIT, body = KN_STR_INIT;
    kn_program *program = NULL;
    kn_lowered_part *part;
    kn_source to = p->value;
    to.shift = p->count * l->p->of.along.count * (int64_t)kiln_dtype_size(l->search.rows.dtype);
    kn_str_printf(&in, "%s x", dtype);
    kn_str_printf(&outs, "%s y", dtype);
    kn_str_append(&body, "y = x");
    kiln_status status = kn_program_written(&program, &in, &outs, &body, "left_over", NULL);
    if (status == KILN_OK)
        status = kn_lowered_add_program(&part, l->out, program);
    if (status == KILN_OK)
        status = bind_elements(part, 0, l, p->count * p->length, 1, p->left);
    return status == KILN_OK ? bind_parts(part, 1, l, &to, l->search.rows.dtype, 1, p->left, p->width)
                             : status;
}

static kiln_status add_merge(lowering *l, const parts *p)
{
    const kn_sort_rows *r = &l->search.rows;
    int64_t shape[KILN_MAX_NDIM];
    kn_lowered_part *part;
    memcpy(shape, r->shape, (size_t)r->ndim * sizeof *shape);
    shape[r->ndim - 1] = p->width;
    kiln_status status = kn_lowered_add_kernel(&part, l->out, l->p->few);
    if (status == KILN_OK)
        status = kn_lowered_bind(part, 0, l->call, &p->value, r->dtype, r->ndim, shape, NULL);
    if (status == KILN_OK)
        status = bind_result(part, 1, l, 0, r->dtype);
    shape[r->ndim - 1] = l->p->of.along.count;
    return status == KILN_OK ? kn_lowered_bind(part, 2, l->call, &p->found, KILN_INT64, r->ndim, shape, NULL)
                             : status;
}

/* Where those that were found among all parts' first ones are in their row. */
static kiln_status add_places(lowering *l, const parts *p)
{
    static const char *const names[] = {"k", "all", "length"};
    const int64_t k = l->p->of.along.count, numbers[] = {k, p->count * k, p->length};
    const kn_sort_rows *r = &l->search.rows;
    int64_t shape[KILN_MAX_NDIM];
    kn_str in = KN_STR_INIT, outs = KN_STR_INIT, body = KN_STR_INIT;
    kn_program *program = NULL;
    kn_lowered_part *part;
    kn_str_append(&in, "int64 found, raw int64 at");
    for (int n = 0; n < 3; ++n)
        kn_str_printf(&in, ", int64 %s", names[n]);
    kn_str_append(&outs, "int64 to");
    kn_str_append(&body, "const int64 parts = all / k;\n"
                         "to = found < all ? found / k * length + at[i / k * all + found]\n"
                         "                 : found - all + parts * length");
    memcpy(shape, r->shape, (size_t)r->ndim * sizeof *shape);
    shape[r->ndim - 1] = k;
    kiln_status status = kn_program_written(&program, &in, &outs, &body, "places_of_parts", NULL);
    if (status == KILN_OK)
        status = kn_lowered_add_program(&part, l->out, program);
    if (status == KILN_OK)
        status = kn_lowered_bind(part, 0, l->call, &p->found, KILN_INT64, r->ndim, shape, NULL);
    const int64_t all = r->rows * numbers[1];
    if (status == KILN_OK)
        status = kn_lowered_bind(part, 1, l->call, &p->at, KILN_INT64, 1, &all, NULL);
    if (status != KILN_OK)
        return status;
    kn_lowered_bind_integers(part, 2, 3, numbers);
    return bind_result(part, 5, l, 1, KILN_INT64);
}

static kiln_status add_parts(lowering *l, const kn_sort_rows *rows, int64_t count)
{
    const int64_t k = l->p->of.along.count, length = rows->length / count;
    parts p = {.count = count, .length = length, .left = rows->length - count * length};
    p.width = count * k + p.left;
    l->search.rows = *rows;
    const struct {
        kn_source *source;
        int64_t bytes;
    } buffers[] = {{&p.value, p.width * (int64_t)kiln_dtype_size(rows->dtype)},
                   {&p.at, count * k * (int64_t)sizeof(int64_t)},
                   {&p.found, k * (int64_t)sizeof(int64_t)}};
    kiln_status status = KILN_OK;
    for (int b = 0; b < 3 && status == KILN_OK; ++b)
        status = kn_lowered_add_source(buffers[b].source, l->out, (size_t)(rows->rows * buffers[b].bytes));
    if (status == KILN_OK)
        status = add_firsts(l, &p);
    if (status == KILN_OK && p.left > 0)
        status = add_left(l, &p);
    if (status == KILN_OK)
        status = add_merge(l, &p);
    return status == KILN_OK ? add_places(l, &p) : status;
}

static kiln_status lower(kn_lowered *out, const void *context, const kn_lowering_call *call)
{
    lowering l = {.out = out, .p = context, .call = call};
    kn_sort_rows rows;
    l.kth = find_place(l.p, call, &rows);
    const int64_t count = l.kth < 0 ? 0 : count_parts(&l, &rows);
    if (count > 1)
        return add_parts(&l, &rows, count);
    return l.kth < 0 || count == 1 ? l.p->sort->algorithm->lower(out, l.p->sort->context, call)
                                   : add_steps(&l, &rows);
}

static void release(void *context)
{
    partition *p = context;
    if (!p)
        return;
    kiln_kernel_free(p->sort);
    kiln_kernel_free(p->place);
    kiln_kernel_free(p->last);
    kiln_kernel_free(p->few);
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
    if (status == KILN_OK && is_topk(p))
        status =
            kn_sort_create(&p->few, "T x", "T y, int64 at", &key, 1, "y = x; at = i", "topk",
                           &(kn_sort_along){.has_axis = true, .axis = -1, .count = p->of.along.count}, NULL);
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
