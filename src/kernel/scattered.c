/* Elements of an array combined with values by x[...]: kernels that are remembered. Several arrays of
 * indices, and those beside axes that are not whole, first become numbers of elements, whose values are
 * combined; another step combines these with the elements. Where the index has whole axes, numbers of rows
 * are sorted, so that each row has its values one after another: each element combines those of its own, in
 * their order, and itself with them. */
#include "kernel/indexed.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "kernel/algorithm.h"
#include "kernel/sort.h"
#include "program/program.h"
#include "space/shape.h"
#include "types/dtype.h"

typedef struct scattered {
    kn_combining how;
    unsigned flags; /* KILN_KERNEL_ANY_ORDER */
    bool is_subtracted;
    int n_items, n_arrays;
    kiln_kernel *places, *combine; /* numbers of elements */
    kiln_kernel *rows, *sort;      /* of rows */
    kn_subscript item[KN_INDEX_ITEMS];
} scattered;

/* Inputs: x, values, the arrays. */
static kiln_status find_axes(kn_index_axes *out, const scattered *s, const kn_described *in)
{
    static const char name[] = "at";
    for (int k = 0; k < s->n_arrays + 2; ++k)
        if (in[k].is_number && k != 1)
            return kn_error(KILN_ERROR_TYPE, "%s: argument %d is a number here; an array was expected", name,
                            k);
    kiln_status status = kn_index_axes_find(out, name, s->item, s->n_items, in, in + 2);
    if (status == KILN_OK && out->n_masks > 0)
        return kn_error(KILN_ERROR_UNSUPPORTED,
                        "%s: a mask says each place once: x[mask] += values was expected", name);
    for (int a = 0; status == KILN_OK && a < in[1].ndim; ++a) {
        const int to = out->ndim - in[1].ndim + a;
        if (in[1].shape[a] != 1 && (to < 0 || in[1].shape[a] != out->shape[to]))
            return kn_error(KILN_ERROR_SHAPE,
                            "%s: values do not broadcast to what the indices say: along axis "
                            "%d they have extent %lld",
                            name, a, (long long)in[1].shape[a]);
    }
    return status;
}

static kiln_status describe(kn_described *out, const void *context, int j, const kn_described *in)
{
    kn_index_axes axes;
    kiln_status status = find_axes(&axes, context, in);
    (void)j;
    *out = (kn_described){.dtype = in->dtype, .ndim = in->ndim};
    memcpy(out->shape, in->shape, sizeof out->shape);
    return status;
}

static kiln_status add_places(kn_lowered *out, const kiln_kernel *kernel, const scattered *s,
                              const kn_lowering_call *call, const kn_described *in, const kn_index_axes *axes,
                              const kn_source *places, kiln_dtype dtype)
{
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_kernel(&part, out, kernel);
    if (status == KILN_OK)
        status = kn_lowered_bind_input(part, 0, call, 0, in->dtype);
    for (int k = 0; k < s->n_arrays && status == KILN_OK; ++k)
        status = kn_lowered_bind_input(part, 1 + k, call, 2 + k, in[2 + k].dtype);
    return status == KILN_OK
               ? kn_lowered_bind(part, 1 + s->n_arrays, call, places, dtype, axes->ndim, axes->shape, NULL)
               : status;
}

/* Floats are added, and multiplied, in float64. */
static kiln_dtype wide_of(const scattered *s, kiln_dtype dtype)
{
    const kn_dtype_info *info = kn_dtype_info_of(dtype);
    if (s->how != KN_ADDED && s->how != KN_MULTIPLIED)
        return dtype;
    return info->kind == KN_KIND_FLOAT     ? KILN_FLOAT64
           : info->kind == KN_KIND_COMPLEX ? KILN_COMPLEX128
                                           : dtype;
}

/* An element x and what its values are, combined as two elements are. */
static void write_join(kn_str *body, const scattered *s, kiln_dtype dtype, const char *values)
{
    const char *wide = kiln_dtype_name(wide_of(s, dtype));
    kn_str_printf(body, "const %s a = (%s)x, b = (%s)(T)(%s);\ncombined = (T)(%s)", wide, wide, wide, values,
                  s->is_subtracted ? "a - b" : kn_combining_text_of(s->how).reduce);
}

/* Elements, and the values of each, which are combined already. */
static kiln_status add_join(kn_lowered *out, const scattered *s, const kn_lowering_call *call,
                            const kn_described *in, const kn_source *values)
{
    const kn_combining_text text = kn_combining_text_of(s->how);
    const char *own = kiln_dtype_name(in->dtype);
    kn_str inputs = KN_STR_INIT, outs = KN_STR_INIT, body = KN_STR_INIT;
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    kn_program *program = NULL;
    kn_lowered_part *part;
    o.preamble = text.preamble;
    kn_str_printf(&inputs, "%s x, %s values", own, own);
    kn_str_printf(&outs, "%s combined", own);
    kn_str_printf(&body, "[[maybe_unused]] typedef %s T;\n", own);
    write_join(&body, s, in->dtype, "values");
    kiln_status status = kn_program_written(&program, &inputs, &outs, &body, text.name, &o);
    if (status == KILN_OK)
        status = kn_lowered_add_program(&part, out, program);
    if (status == KILN_OK)
        status = kn_lowered_bind_input(part, 0, call, 0, in->dtype);
    if (status == KILN_OK)
        status = kn_lowered_bind(part, 1, call, values, in->dtype, in->ndim, in->shape, NULL);
    return status == KILN_OK ? kn_lowered_bind_output(part, 2, call, 0, in->dtype, in->ndim, in->shape)
                             : status;
}

/* Indices of an array of one axis are numbers of elements already. */
static kiln_status lower_calls(kn_lowered *out, const scattered *s, const kn_lowering_call *call,
                               const kn_described *in, const kn_index_axes *axes)
{
    const bool is_flat = in->ndim == 1 && s->n_items == 1 && s->n_arrays == 1;
    const int64_t size = kn_shape_size(axes->ndim, axes->shape);
    kn_source places, values;
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_source(
        &values, out, (size_t)kn_shape_size(in->ndim, in->shape) * kiln_dtype_size(in->dtype));
    if (status == KILN_OK && !is_flat)
        status = kn_lowered_add_source(&places, out, (size_t)(size > 0 ? size : 1) * sizeof(int64_t));
    if (status == KILN_OK && !is_flat && size > 0)
        status = add_places(out, s->places, s, call, in, axes, &places, KILN_INT64);
    if (status == KILN_OK)
        status = kn_lowered_add_kernel(&part, out, s->combine);
    if (status == KILN_OK)
        status = kn_lowered_bind_input(part, 0, call, 0, in->dtype);
    if (status == KILN_OK)
        status = is_flat ? kn_lowered_bind_input(part, 1, call, 2, in[2].dtype)
                         : kn_lowered_bind(part, 1, call, &places, KILN_INT64, axes->ndim, axes->shape, NULL);
    if (status == KILN_OK)
        status = kn_lowered_bind_input(part, 2, call, 1, in[1].dtype);
    if (status == KILN_OK)
        status = kn_lowered_bind(part, 3, call, &values, in->dtype, in->ndim, in->shape, NULL);
    return status == KILN_OK ? add_join(out, s, call, in, &values) : status;
}

/* ---- rows ---- */

enum { FEWEST_OF_ROW = 8 /* elements of a row that are worth a sort */ };

typedef struct row_lowering {
    kn_lowered *out;
    const scattered *s;
    const kn_lowering_call *call;
    const kn_described *in;
    kn_index_axes axes, held; /* held: without axes that the index has whole */
    bool is_held[KILN_MAX_NDIM];
    int64_t shape[KILN_MAX_NDIM]; /* of x without those axes */
    kiln_dtype dtype;             /* of numbers of rows */
    int64_t rows, indices;
    kn_source places, sorted, number, first; /* rows; in their order, the indices there; the first one of each
                                                row, and behind the last row's */
} row_lowering;

static void find_rows(row_lowering *l)
{
    l->held = l->axes;
    kn_index_axes_hold(&l->held, l->is_held, l->shape, l->in);
    l->dtype = kn_index_rows_dtype(l->in->ndim, l->shape);
    l->rows = kn_shape_size(l->in->ndim, l->shape);
    l->indices = kn_shape_size(l->held.ndim, l->held.shape);
}

static kiln_status add_row_buffers(row_lowering *l)
{
    const struct {
        kn_source *source;
        int64_t count;
        kiln_dtype dtype;
    } buffers[] = {{&l->places, l->indices, l->dtype},
                   {&l->sorted, l->indices, l->dtype},
                   {&l->number, l->indices, KILN_INT64},
                   {&l->first, l->rows + 1, KILN_INT64}};
    kiln_status status = KILN_OK;
    for (size_t k = 0; k < sizeof buffers / sizeof buffers[0] && status == KILN_OK; ++k)
        status = kn_lowered_add_source(buffers[k].source, l->out,
                                       (size_t)buffers[k].count * kiln_dtype_size(buffers[k].dtype));
    return status;
}

static kiln_status bind_list(kn_lowered_part *part, int at, const row_lowering *l, const kn_source *source,
                             kiln_dtype dtype, int64_t count)
{
    return kn_lowered_bind(part, at, l->call, source, dtype, 1, &count, NULL);
}

static kiln_status add_sort(row_lowering *l)
{
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_kernel(&part, l->out, l->s->sort);
    if (status == KILN_OK)
        status = bind_list(part, 0, l, &l->places, l->dtype, l->indices);
    if (status == KILN_OK)
        status = bind_list(part, 1, l, &l->sorted, l->dtype, l->indices);
    return status == KILN_OK ? bind_list(part, 2, l, &l->number, KILN_INT64, l->indices) : status;
}

/* The first of the sorted rows that is not before row i. */
static kiln_status add_first(row_lowering *l)
{
    kn_str in = KN_STR_INIT, outs = KN_STR_INIT, body = KN_STR_INIT;
    kn_program *program = NULL;
    kn_lowered_part *part;
    kn_str_printf(&in, "raw %s row", kiln_dtype_name(l->dtype));
    kn_str_append(&outs, "int64 first");
    kn_str_append(&body, "int64 low = 0, high = row.size();\n"
                         "while (low < high) {\n"
                         "const int64 middle = (low + high) / 2;\n"
                         "if ((int64)row[middle] < (int64)i) low = middle + 1; else high = middle;\n"
                         "}\nfirst = low");
    kiln_status status = kn_program_written(&program, &in, &outs, &body, "first_of_row", NULL);
    if (status == KILN_OK)
        status = kn_lowered_add_program(&part, l->out, program);
    if (status == KILN_OK)
        status = bind_list(part, 0, l, &l->sorted, l->dtype, l->indices);
    return status == KILN_OK ? bind_list(part, 1, l, &l->first, KILN_INT64, l->rows + 1) : status;
}

/* `from`: the place of a value, along axes that are whole that of the element. */
static void write_from(kn_str *in, kn_str *body, const row_lowering *l)
{
    const kn_index_axes *o = &l->axes;
    const int beyond = l->in[1].ndim > o->ndim ? l->in[1].ndim - o->ndim : 0, rank = l->in[1].ndim - beyond;
    kn_str_append(body, "int64 rest = number[j];\n(void)rest;\n");
    for (int d = o->ndim; d-- > 0;) {
        if (l->is_held[d])
            continue;
        kn_str_printf(in, ", int64 extent%d", d);
        kn_str_printf(body, "const int64 to%d = rest %% extent%d; rest /= extent%d;\n", d, d, d);
    }
    for (int a = 0; a < o->n_axes; ++a)
        if (o->axis[a].to >= 0 && l->is_held[o->axis[a].to])
            kn_str_printf(body, "const int64 to%d = here%d;\n", o->axis[a].to, o->axis[a].of);
    kn_str_printf(body, "const int64 from[%d] = {", rank > 0 ? rank : 1);
    for (int a = 0; a < rank; ++a)
        kn_str_printf(body, "%sv.shape()[%d] == 1 ? (int64)0 : to%d", a > 0 ? ", " : "", a,
                      o->ndim - rank + a);
    kn_str_append(body, rank > 0 ? "};\n" : "0};\n");
}

/* The element's place along each axis, where it has values: most have none. */
static void write_here(kn_str *in, kn_str *body, const row_lowering *l)
{
    kn_str_append(body, "int64 left = i;\n(void)left;\n");
    for (int d = l->in->ndim; d-- > 0;) {
        kn_str_printf(in, ", int64 own%d", d);
        kn_str_printf(body, "[[maybe_unused]] const int64 here%d = left %% own%d; left /= own%d;\n", d, d, d);
    }
}

static void write_combination(kn_str *in, kn_str *outs, kn_str *body, const row_lowering *l)
{
    const kn_combining_text text = kn_combining_text_of(l->s->how);
    const char *own = kiln_dtype_name(l->in->dtype), *wide = kiln_dtype_name(wide_of(l->s, l->in->dtype)),
               *of = kiln_dtype_name(l->in[1].dtype);
    kn_str_printf(in, "%s x, int64 first, int64 behind, raw int64 number, %s%s v", own,
                  l->in[1].is_number ? "" : "raw ", of);
    kn_str_printf(outs, "%s combined", own);
    kn_str_printf(body, "[[maybe_unused]] typedef %s T;\n%s all = %s;\nif (first < behind) {\n", own, wide,
                  text.identity);
    if (!l->in[1].is_number)
        write_here(in, body, l);
    kn_str_append(body, "for (int64 j = first; j < behind; ++j) {\n");
    if (!l->in[1].is_number)
        write_from(in, body, l);
    kn_str_printf(body, "const %s a = all, b = (%s)(T)%s;\nall = %s;\n}\n}\n", wide, wide,
                  l->in[1].is_number ? "v" : "v[from]", text.reduce);
    write_join(body, l->s, l->in->dtype, "all");
}

static kiln_status bind_values(kn_lowered_part *part, int at, const row_lowering *l)
{
    const kn_source source = {.kind = KN_FROM_INPUT, .index = 1};
    if (l->in[1].is_number)
        return kn_lowered_bind_input(part, at, l->call, 1, l->in[1].dtype);
    const kiln_array *v = l->call->in[1].value.array;
    const int beyond = v->ndim > l->axes.ndim ? v->ndim - l->axes.ndim : 0;
    return kn_lowered_bind(part, at, l->call, &source, v->dtype, v->ndim - beyond, v->shape + beyond,
                           v->strides + beyond);
}

/* Where the values of each row begin and end, for all of its elements. */
static kiln_status bind_first(kn_lowered_part *part, int at, const row_lowering *l, int behind)
{
    int64_t strides[KILN_MAX_NDIM];
    kn_source source = l->first;
    kn_shape_c_strides(l->in->ndim, l->shape, sizeof(int64_t), strides);
    for (int a = 0; a < l->in->ndim; ++a)
        strides[a] = l->shape[a] == 1 ? 0 : strides[a];
    source.shift = behind * (int64_t)sizeof(int64_t);
    return kn_lowered_bind(part, at, l->call, &source, KILN_INT64, l->in->ndim, l->in->shape, strides);
}

static kiln_status add_combination(row_lowering *l)
{
    kn_str in = KN_STR_INIT, outs = KN_STR_INIT, body = KN_STR_INIT;
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    kn_program *program = NULL;
    kn_lowered_part *part;
    int at = 0;
    o.preamble = kn_combining_text_of(l->s->how).preamble;
    write_combination(&in, &outs, &body, l);
    kiln_status status =
        kn_program_written(&program, &in, &outs, &body, kn_combining_text_of(l->s->how).name, &o);
    if (status == KILN_OK)
        status = kn_lowered_add_program(&part, l->out, program);
    if (status == KILN_OK)
        status = kn_lowered_bind_input(part, at++, l->call, 0, l->in->dtype);
    for (int k = 0; k < 2 && status == KILN_OK; ++k)
        status = bind_first(part, at++, l, k);
    if (status == KILN_OK)
        status = bind_list(part, at++, l, &l->number, KILN_INT64, l->indices);
    if (status == KILN_OK)
        status = bind_values(part, at++, l);
    for (int d = l->in->ndim; d-- > 0 && status == KILN_OK && !l->in[1].is_number;)
        kn_lowered_bind_integer(part, at++, l->in->shape[d]);
    for (int d = l->axes.ndim; d-- > 0 && status == KILN_OK && !l->in[1].is_number;)
        if (!l->is_held[d])
            kn_lowered_bind_integer(part, at++, l->axes.shape[d]);
    return status == KILN_OK
               ? kn_lowered_bind_output(part, at, l->call, 0, l->in->dtype, l->in->ndim, l->in->shape)
               : status;
}

static kiln_status lower_rows(row_lowering *l)
{
    kiln_status status = add_row_buffers(l);
    if (status == KILN_OK)
        status = add_places(l->out, l->s->rows, l->s, l->call, l->in, &l->held, &l->places, l->dtype);
    if (status == KILN_OK)
        status = add_sort(l);
    if (status == KILN_OK)
        status = add_first(l);
    return status == KILN_OK ? add_combination(l) : status;
}

static kiln_status lower(kn_lowered *out, const void *context, const kn_lowering_call *call)
{
    const scattered *s = context;
    const size_t n_in = (size_t)s->n_arrays + 2;
    kn_described *in = kn_calloc(n_in, sizeof *in);
    row_lowering l = {.out = out, .s = s, .call = call, .in = in};
    if (!in)
        return kn_error_memory("the arguments of a call");
    kn_describe_arguments(in, call->in, (int)n_in);
    kiln_status status = find_axes(&l.axes, s, in);
    const int64_t size = kn_shape_size(in->ndim, in->shape);
    if (status == KILN_OK && size > 0) {
        find_rows(&l);
        status = l.indices > 0 && size / l.rows >= FEWEST_OF_ROW ? lower_rows(&l)
                                                                 : lower_calls(out, s, call, in, &l.axes);
    }
    kn_free(in);
    return status;
}

static void release(void *context)
{
    scattered *s = context;
    kiln_kernel_free(s->rows);
    kiln_kernel_free(s->sort);
    kiln_kernel_free(s->places);
    kiln_kernel_free(s->combine);
    kn_free(s);
}

static const kn_algorithm algorithm = {.describe = describe, .lower = lower, .free = release};

static kiln_status make(kiln_kernel **out, const void *of)
{
    static const char *const result[] = {"combined"};
    static const kiln_sort_key by_row = {"row", NULL, 0};
    char own[KN_MAX_PARAMS][24];
    const char *in[KN_MAX_PARAMS] = {"x", "values"};
    kn_program *prototype = NULL;
    scattered *s = kn_malloc(sizeof *s);
    if (!s)
        return kn_error_memory("a kernel");
    *s = *(const scattered *)of;
    for (int k = 0; k < s->n_arrays; ++k) {
        snprintf(own[k], sizeof own[k], "index%d", k);
        in[2 + k] = own[k];
    }
    kiln_status status = kn_indexed_find(&s->places, KN_INDEXED_PLACES, s->item, s->n_items);
    if (status == KILN_OK)
        status = kn_scattered_find(&s->combine, s->how, s->flags);
    if (status == KILN_OK)
        status = kn_indexed_find(&s->rows, KN_INDEXED_ROWS, s->item, s->n_items);
    if (status == KILN_OK)
        status = kn_sort_create(&s->sort, "R row", "R sorted, int64 number", &by_row, 1,
                                "sorted = row; number = i", "rows", NULL, NULL);
    if (status == KILN_OK)
        status = kn_prototype_create(&prototype, "at", in, s->n_arrays + 2, result, 1);
    if (status == KILN_OK)
        return kn_kernel_create_algorithm(out, prototype, &algorithm, s);
    release(s);
    return status;
}

kiln_status kn_scattered_at_find(kiln_kernel **out, kn_combining how, const kn_subscript *item, int n_items,
                                 unsigned flags, bool is_subtracted)
{
    scattered s = {.how = how,
                   .flags = flags & KILN_KERNEL_ANY_ORDER,
                   .is_subtracted = is_subtracted,
                   .n_items = n_items};
    kn_str key = KN_STR_INIT;
    kn_str_printf(&key, "scattered %d %d %u", (int)how, is_subtracted, s.flags);
    for (int k = 0; k < n_items; ++k) {
        s.item[k] = item[k];
        s.n_arrays += item[k].kind == KN_SUBSCRIPT_ARRAY;
        kn_str_printf(&key, " %d %lld", (int)item[k].kind, (long long)item[k].start);
    }
    kiln_status status = kn_kernel_remembered(out, &key, make, &s);
    kn_str_free(&key);
    return status;
}
