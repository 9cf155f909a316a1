/* x[...] with arrays among its indices, and what x[...] = values assigns.
 *
 * A mask becomes the numbers of its elements that are true, by a selection; all arrays of an index say places
 * in a view of x, behind the slices and numbers that stand beside them. What is assigned is found from the
 * other side: each place keeps the greatest number of those that are assigned to it, so that the last one
 * counts whatever the order in which they run; then each element of x reads its value. */
#include "kernel/indexed.h"
#include "kernel/indexed_order.h"

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

enum { MOST_AXES = 16 /* of x, and of what is read */ };

typedef struct indexed {
    kn_indexed_name name;
    int n_items, n_arrays;
    kiln_kernel *find, *select; /* the places where a mask is true, and elements there */
    kiln_kernel *places, *rows; /* of what is assigned */
    kn_subscript item[KN_INDEX_ITEMS];
} indexed;

static const struct {
    const char *name;
    int n_values, n_out;
    const char *out[2];
} names[KN_INDEXED_NAMES] = {[KN_INDEXED_READ] = {"indexed", 0, 1, {"y"}},
                             [KN_INDEXED_PLACES] = {"places", 0, 1, {"y"}},
                             [KN_INDEXED_ROWS] = {"rows", 0, 1, {"y"}},
                             [KN_INDEXED_ASSIGNED] = {"assigned", 1, 1, {"y"}},
                             [KN_INDEXED_SPREAD] = {"assigned", 1, 2, {"values", "is_set"}},
                             [KN_INDEXED_MARKED] = {"assigned", 0, 1, {"is_set"}}};

static bool gives_places(const indexed *t)
{
    return t->name == KN_INDEXED_PLACES || t->name == KN_INDEXED_ROWS;
}

static bool reads(const indexed *t)
{
    return t->name == KN_INDEXED_READ || gives_places(t);
}

/* True if the result has the dtype of x. */
static bool gives_elements(const indexed *t)
{
    return t->name == KN_INDEXED_READ || t->name == KN_INDEXED_ASSIGNED;
}

static int first_array(const indexed *t)
{
    return 1 + names[t->name].n_values;
}

static int count_inputs(const indexed *t)
{
    return first_array(t) + t->n_arrays;
}

/* ---- shapes ---- */

static kiln_status refuse_values(const indexed *t, const kn_described *v, const kn_index_axes *axes)
{
    kn_str own = KN_STR_INIT, other = KN_STR_INIT;
    kn_shape_format(&own, v->ndim, v->shape);
    kn_shape_format(&other, axes->ndim, axes->shape);
    kiln_status status = kn_error(
        KILN_ERROR_SHAPE, "%s: values have shape %s, which does not broadcast to %s%s, that of the index",
        names[t->name].name, kn_str_text(&own), axes->late >= 0 ? "at most " : "", kn_str_text(&other));
    kn_str_free(&own);
    kn_str_free(&other);
    return status;
}

/* Axes in front that values have beyond those of the index; each has one element. */
static int count_beyond(const kn_described *v, const kn_index_axes *axes)
{
    return v->ndim > axes->ndim ? v->ndim - axes->ndim : 0;
}

static kiln_status check_values(const indexed *t, const kn_described *v, const kn_index_axes *axes)
{
    for (int a = 0; a < v->ndim; ++a) {
        const int to = axes->ndim - v->ndim + a;
        if (v->shape[a] != 1 && (to < 0 || (to != axes->late && v->shape[a] != axes->shape[to])))
            return refuse_values(t, v, axes);
    }
    return KILN_OK;
}

static kiln_status find_axes(kn_index_axes *out, const indexed *t, const kn_described *in)
{
    const char *name = names[t->name].name;
    if (in->is_number)
        return kn_error(KILN_ERROR_TYPE, "%s: a number has no elements to be indexed", name);
    for (int k = first_array(t); k < count_inputs(t); ++k)
        if (in[k].is_number && in[k].dtype == KILN_BOOL) /* NumPy's x[True] is another shape */
            return kn_error(KILN_ERROR_TYPE,
                            "%s: argument %d is a boolean by value; a whole number, or an "
                            "array was expected",
                            name, k);
    kiln_status status = kn_index_axes_find(out, name, t->item, t->n_items, in, in + first_array(t));
    if (status == KILN_OK && (in->ndim > MOST_AXES || out->ndim > MOST_AXES))
        return kn_error(KILN_ERROR_UNSUPPORTED, "%s: %d axes are indexed, to %d; at most %d are possible",
                        name, in->ndim, out->ndim, MOST_AXES);
    return status == KILN_OK && names[t->name].n_values ? check_values(t, &in[1], out) : status;
}

static kiln_status describe(kn_described *out, const void *context, int j, const kn_described *in)
{
    const indexed *t = context;
    kn_index_axes axes;
    bool is_held[KILN_MAX_NDIM];
    int64_t rows[KILN_MAX_NDIM];
    kiln_status status = find_axes(&axes, t, in);
    if (status != KILN_OK)
        return status;
    if (t->name == KN_INDEXED_ROWS)
        kn_index_axes_hold(&axes, is_held, rows, in);
    const bool is_last = j == names[t->name].n_out - 1;
    *out = (kn_described){.dtype = gives_elements(t)              ? in->dtype
                                   : t->name == KN_INDEXED_PLACES ? KILN_INT64
                                   : t->name == KN_INDEXED_ROWS   ? kn_index_rows_dtype(in->ndim, rows)
                                   : is_last                      ? KILN_BOOL
                                                                  : in[1].dtype};
    out->ndim = reads(t) ? axes.ndim : in->ndim;
    memcpy(out->shape, reads(t) ? axes.shape : in->shape, (size_t)out->ndim * sizeof *out->shape);
    out->is_late = out->takes_any = reads(t) && axes.late >= 0;
    out->late_axis = out->is_late ? axes.late : 0;
    return KILN_OK;
}

/* ---- lowering ---- */

typedef struct lowering {
    kn_lowered *out;
    const indexed *t;
    const kn_lowering_call *call;
    const kn_described *in;
    kn_index_axes axes;
    int numbers[KN_MAX_PARAMS], found[KN_MAX_PARAMS]; /* buffers of a mask: the places, and how many */
    int count;                                        /* buffer: the extent that is late */
    bool is_counted;                                  /* places along slices are those of a buffer, */
    int counting;                                     /* which has 0, 1 and so on */
    bool
        is_held[KILN_MAX_NDIM]; /* by axis of the result: numbers of what is assigned are the same along it */
    int64_t rows[KILN_MAX_NDIM]; /* the shape of x, without axes that are held */
    kiln_dtype dtype;            /* of what is read, or its bits: `factor` elements at once */
    int64_t factor;
} lowering;

/* The texts of one program, and how its parameters are bound. */
typedef struct writing {
    kn_str in, outs, body;
    int n_in;
    bool is_open; /* a bracket of the body */
} writing;

static void begin(writing *w)
{
    *w = (writing){KN_STR_INIT, KN_STR_INIT, KN_STR_INIT, 0, false};
}

static void add_input(writing *w, const char *format, const char *dtype, int k)
{
    if (w->n_in++ > 0)
        kn_str_append(&w->in, ", ");
    kn_str_printf(&w->in, format, dtype, k);
}

/* flags: KILN_KERNEL_CHECK, where indices or extents are looked at. */
static kiln_status finish(kn_lowered_part **part, lowering *l, writing *w, unsigned flags)
{
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    kn_program *program = NULL;
    o.flags = flags;
    kn_str_append(&w->body, w->is_open ? ";\n}" : "");
    kiln_status status = kn_program_written(&program, &w->in, &w->outs, &w->body, names[l->t->name].name, &o);
    if (status != KILN_OK)
        return status;
    program->left_outputs = 0; /* elements behind the last one are no results */
    return kn_lowered_add_program(part, l->out, program);
}

static kiln_status bind_buffer(kn_lowered_part *part, int at, const lowering *l, int buffer, int64_t count)
{
    const kn_source source = {.kind = KN_FROM_BUFFER, .index = buffer};
    return kn_lowered_bind(part, at, l->call, &source, KILN_INT64, 1, &count, NULL);
}

/* A view of an array with x's shape, behind the slices and numbers; strides: of x's axes. */
static kiln_status bind_places(kn_lowered_part *part, int at, const lowering *l, const kn_source *from,
                               kiln_dtype dtype, const int64_t *strides)
{
    const kn_index_axes *o = &l->axes;
    int64_t shape[KILN_MAX_NDIM], steps[KILN_MAX_NDIM];
    kn_source source = *from;
    for (int a = 0; a < l->in->ndim; ++a)
        source.shift += o->fixed[a] > 0 ? o->fixed[a] * strides[a] : 0;
    for (int a = 0; a < o->n_axes; ++a) {
        shape[a] = o->axis[a].extent;
        steps[a] = strides[o->axis[a].of] * o->axis[a].step;
        source.shift += o->axis[a].start * strides[o->axis[a].of];
    }
    return kn_lowered_bind(part, at, l->call, &source, dtype, o->n_axes, shape, steps);
}

static kiln_status bind_x(kn_lowered_part *part, int at, const lowering *l, kiln_dtype dtype)
{
    const kiln_array *x = l->call->in[0].value.array;
    return bind_places(part, at, l, &(kn_source){.kind = KN_FROM_INPUT}, dtype, x->strides);
}

static const kn_described *index_of(const lowering *l, int k)
{
    return &l->in[first_array(l->t) + k];
}

/* A whole number by value, or an array of them, broadcast to the elements of the index. */
static kiln_status bind_index(kn_lowered_part *part, int at, const lowering *l, int k)
{
    const kn_index_axes *o = &l->axes;
    const kn_source source = {.kind = KN_FROM_INPUT, .index = first_array(l->t) + k};
    if (index_of(l, k)->is_number)
        return kn_lowered_bind_input(part, at, l->call, source.index, index_of(l, k)->dtype);
    const kiln_array *a = l->call->in[source.index].value.array;
    int64_t strides[KILN_MAX_NDIM] = {0};
    for (int d = 0; d < a->ndim; ++d)
        if (a->shape[d] != 1)
            strides[o->first + o->count - a->ndim + d] = a->strides[d];
    return kn_lowered_bind(part, at, l->call, &source, a->dtype, o->ndim, o->shape, strides);
}

/* ---- masks ---- */

static kiln_status add_mask(lowering *l, int k)
{
    const kn_index_array *mask = &l->axes.array[k];
    const size_t size = (size_t)(mask->size > 0 ? mask->size : 1) * sizeof(int64_t);
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_buffer(&l->numbers[k], l->out, size);
    if (status == KILN_OK)
        status = kn_lowered_add_buffer(&l->found[k], l->out, sizeof(int64_t));
    if (status == KILN_OK)
        status = kn_lowered_add_kernel(&part, l->out, l->t->find);
    if (status == KILN_OK)
        status = kn_lowered_bind_input(part, 0, l->call, first_array(l->t) + k, KILN_BOOL);
    if (status == KILN_OK)
        status = bind_buffer(part, 1, l, l->numbers[k], mask->size);
    const kn_source found = {.kind = KN_FROM_BUFFER, .index = l->found[k]};
    return status == KILN_OK ? kn_lowered_bind(part, 2, l->call, &found, KILN_INT64, 0, NULL, NULL) : status;
}

static bool has_values(const lowering *l)
{
    return names[l->t->name].n_values > 0;
}

/* The extent of values along the axis that masks say; 1: none. */
static int64_t late_values(const lowering *l)
{
    if (!has_values(l) || l->axes.late < 0)
        return 1;
    const kn_described *v = &l->in[1];
    const int a = l->axes.late - l->axes.ndim + v->ndim;
    return a >= 0 && a < v->ndim ? v->shape[a] : 1;
}

/* The extent that all masks say, which broadcast against each other and against values; a mismatch is
 * reported. */
static kiln_status add_count(lowering *l)
{
    const kn_index_axes *o = &l->axes;
    kn_lowered_part *part;
    writing w;
    const int64_t one = 1;
    begin(&w);
    add_input(&w, "%s length", "int64", 0);
    add_input(&w, "%s given", "int64", 0);
    kn_str_append(&w.outs, "raw int64 count");
    kn_str_append(&w.body, "int64 n = length;\n");
    for (int k = 0; k < o->n_arrays; ++k) {
        if (!o->array[k].is_mask)
            continue;
        add_input(&w, "raw %s found%d", "int64", k);
        kn_str_printf(&w.body,
                      "{ const int64 c = found%d[0]; if (n == 1) n = c; else if (c != 1 && c != n) "
                      "kn_checked_count(c, %d, n); }\n",
                      k, o->array[k].item);
    }
    kn_str_append(&w.body, "if (given != 1 && given != n) kn_checked_count(given, -1, n);\ncount[0] = n");
    kiln_status status = kn_lowered_add_buffer(&l->count, l->out, sizeof(int64_t));
    if (status == KILN_OK)
        status = finish(&part, l, &w, KILN_KERNEL_CHECK);
    if (status != KILN_OK)
        return status;
    int at = 0;
    kn_lowered_bind_integer(part, at++, o->length);
    kn_lowered_bind_integer(part, at++, late_values(l));
    for (int k = 0; k < o->n_arrays && status == KILN_OK; ++k)
        if (o->array[k].is_mask)
            status = bind_buffer(part, at++, l, l->found[k], 1);
    kn_lowered_set_shape(part, 1, &one);
    return status == KILN_OK ? bind_buffer(part, at, l, l->count, 1) : status;
}

static kiln_status add_masks(lowering *l)
{
    const kn_index_axes *o = &l->axes;
    kiln_status status = KILN_OK;
    int mask = -1;
    for (int k = 0; k < o->n_arrays && status == KILN_OK; ++k)
        if (o->array[k].is_mask) {
            mask = k;
            status = add_mask(l, k);
        }
    if (status != KILN_OK || mask < 0)
        return status;
    l->count = l->found[mask];
    return o->n_masks > 1 || o->length != 1 || late_values(l) != 1 ? add_count(l) : KILN_OK;
}

/* ---- places ---- */

/* True if the texts need the index along each axis of what the index says. */
static bool needs_place(const kn_index_axes *o, bool is_raw)
{
    return o->ndim > 0 && (o->n_masks > 0 || is_raw || o->ndim > o->count);
}

/* `place`, the index along each axis. Fewer than 2^31 elements are counted by 32 bits, whose quotients take
 * a fraction of the time. */
static void write_place(writing *w, const lowering *l)
{
    const kn_index_axes *o = &l->axes;
    const bool is_small = kn_shape_size(o->ndim, o->shape) < INT64_C(1) << 31;
    kn_str_printf(&w->body,
                  "[[maybe_unused]] typedef %s kn_count;\n[[maybe_unused]] kn_count left = (kn_count)i;\n",
                  is_small ? "unsigned int" : "unsigned long long");
    for (int d = o->ndim; d-- > 0;) {
        if (l->is_held[d]) {
            kn_str_printf(&w->body, "[[maybe_unused]] const int64 to%d = 0;\n", d);
        } else if (d > 0) {
            add_input(w, "%s wide%d", "int64", d);
            kn_str_printf(
                &w->body,
                "[[maybe_unused]] const int64 to%d = left %% (kn_count)wide%d; left /= (kn_count)wide%d;\n",
                d, d, d);
        } else {
            kn_str_append(&w->body, "[[maybe_unused]] const int64 to0 = left;\n");
        }
    }
    kn_str_append(&w->body, "[[maybe_unused]] const int64 place[] = {");
    for (int d = 0; d < o->ndim; ++d)
        kn_str_printf(&w->body, "%sto%d", d > 0 ? ", " : "", d);
    kn_str_append(&w->body, "};\n");
}

/* ---- places along slices, by arrays ---- */

enum { LEAST_REPEATED = 4 /* elements that have the same place along an axis */ };

/* The host reads the place along an axis that no array says from an array that counts: a quotient for each
 * element takes longer than the element. */
static bool counts_by_array(const lowering *l)
{
    const kn_index_axes *o = &l->axes;
    int64_t longest = 0;
    for (int a = 0; a < o->n_axes; ++a)
        if (o->axis[a].to >= 0 && o->axis[a].extent > longest)
            longest = o->axis[a].extent;
    return l->call->target->backend == KN_HOST && l->t->name == KN_INDEXED_READ && o->n_masks == 0 &&
           longest > 0 && longest <= kn_shape_size(o->ndim, o->shape) / LEAST_REPEATED;
}

static kiln_status count_up(kn_device *device, const void *const *value, void *stream)
{
    int64_t count;
    (void)device, (void)stream;
    kn_step_integers(&count, 1, value + 1);
    for (int64_t k = 0; k < count; ++k)
        ((int64_t *)(uintptr_t)value[0])[k] = k;
    return KILN_OK;
}

static kiln_status add_counting(lowering *l)
{
    int64_t count = 0;
    kn_lowered_part *part;
    for (int a = 0; a < l->axes.n_axes; ++a)
        if (l->axes.axis[a].to >= 0 && l->axes.axis[a].extent > count)
            count = l->axes.axis[a].extent;
    kiln_status status = kn_lowered_add_buffer(&l->counting, l->out, (size_t)count * sizeof(int64_t));
    if (status == KILN_OK)
        status = kn_lowered_add_function(&part, l->out, "count_up", count_up, 2);
    if (status == KILN_OK)
        status = bind_buffer(part, 0, l, l->counting, count);
    if (status == KILN_OK)
        kn_lowered_bind_integers(part, 1, 1, &count);
    return status;
}

static kiln_status bind_counting(kn_lowered_part *part, int at, const lowering *l, int axis)
{
    const kn_index_axes *o = &l->axes;
    const kn_source source = {.kind = KN_FROM_BUFFER, .index = l->counting};
    int64_t strides[KILN_MAX_NDIM] = {0};
    strides[o->axis[axis].to] = o->shape[o->axis[axis].to] == 1 ? 0 : (int64_t)sizeof(int64_t);
    return kn_lowered_bind(part, at, l->call, &source, KILN_INT64, o->ndim, o->shape, strides);
}

/* ---- places ---- */

/* Inputs that say places, and `at`, the place in `ruler`, an array with the axes that are left. */
static void write_places(writing *w, const lowering *l, const char *ruler, bool is_raw)
{
    const kn_index_axes *o = &l->axes;
    for (int a = 0; a < o->n_axes && l->is_counted; ++a)
        if (o->axis[a].to >= 0)
            add_input(w, "%s to%d", "int64", o->axis[a].to);
    if (!l->is_counted && needs_place(o, is_raw))
        write_place(w, l);
    if (o->late >= 0) {
        add_input(w, "raw %s count", "int64", 0);
        w->is_open = true;
        kn_str_printf(&w->body, "if (to%d < count[0]) {\n", o->late);
    }
    for (int k = 0; k < o->n_arrays; ++k) {
        const char *dtype = kiln_dtype_name(index_of(l, k)->dtype);
        if (!o->array[k].is_mask) {
            add_input(w, is_raw && !index_of(l, k)->is_number ? "raw %s index%d" : "%s index%d", dtype, k);
            continue;
        }
        add_input(w, "raw %s number%d", "int64", k);
        add_input(w, "raw %s found%d", "int64", k);
        kn_str_printf(&w->body, "[[maybe_unused]] int64 rest%d = number%d[found%d[0] == 1 ? 0 : to%d];\n", k,
                      k, k, o->first + o->count - 1);
    }
    for (int a = o->n_axes; a-- > 0;) {
        const kn_index_axis *axis = &o->axis[a];
        if (axis->to >= 0)
            kn_str_printf(&w->body, "const int64 at%d = to%d;\n", a, axis->to);
        else if (o->array[axis->by].is_mask && axis->column == 0)
            kn_str_printf(&w->body, "const int64 at%d = rest%d;\n", a, axis->by);
        else if (o->array[axis->by].is_mask)
            kn_str_printf(&w->body,
                          "const int64 at%d = rest%d %% %s.shape()[%d]; rest%d /= %s.shape()[%d];\n", a,
                          axis->by, ruler, a, axis->by, ruler, a);
        else
            kn_str_printf(&w->body,
                          "const int64 at%d = kn_checked_index(index%d%s, %d, %d, %s.shape()[%d]);\n", a,
                          axis->by,
                          !is_raw || index_of(l, axis->by)->is_number ? ""
                          : o->ndim > 0                               ? "[place]"
                                                                      : "[0]",
                          o->array[axis->by].item, axis->of, ruler, a);
    }
    if (l->t->name == KN_INDEXED_PLACES)
        return;
    kn_str_append(&w->body, "[[maybe_unused]] const int64 at[] = {");
    for (int a = 0; a < o->n_axes; ++a)
        kn_str_printf(&w->body, "%sat%d", a > 0 ? ", " : "", a);
    kn_str_append(&w->body, o->n_axes > 0 ? "};\n" : "0};\n");
}

static kiln_status bind_indices(kn_lowered_part *part, int *at, const lowering *l, bool is_raw)
{
    const kn_index_axes *o = &l->axes;
    kiln_status status = KILN_OK;
    for (int a = 0; a < o->n_axes && l->is_counted && status == KILN_OK; ++a)
        if (o->axis[a].to >= 0)
            status = bind_counting(part, (*at)++, l, a);
    for (int d = o->ndim; d-- > 1 && !l->is_counted && needs_place(o, is_raw);)
        if (!l->is_held[d])
            kn_lowered_bind_integer(part, (*at)++, o->shape[d]);
    if (status == KILN_OK && o->late >= 0)
        status = bind_buffer(part, (*at)++, l, l->count, 1);
    for (int k = 0; k < o->n_arrays && status == KILN_OK; ++k) {
        if (!o->array[k].is_mask) {
            status = bind_index(part, (*at)++, l, k);
            continue;
        }
        status = bind_buffer(part, (*at)++, l, l->numbers[k], o->array[k].size);
        if (status == KILN_OK)
            status = bind_buffer(part, (*at)++, l, l->found[k], 1);
    }
    return status;
}

/* ---- elements that are read ---- */

/* The number of an element in x, whose axes are as far apart as so many numbers. */
static void write_number(writing *w, const lowering *l)
{
    add_input(w, "%s origin", "int64", 0);
    kn_str_append(&w->body, "const int64 number = origin");
    for (int a = 0; a < l->axes.n_axes; ++a) {
        add_input(w, "%s apart%d", "int64", a);
        kn_str_printf(&w->body, " + at%d * apart%d", a, a);
    }
    kn_str_append(&w->body, ";\n");
}

static void bind_number(kn_lowered_part *part, int *at, const lowering *l)
{
    const kn_index_axes *o = &l->axes;
    int64_t apart[KILN_MAX_NDIM], origin = 0;
    kn_shape_c_strides(l->in->ndim, l->rows, 1, apart);
    for (int a = 0; a < l->in->ndim; ++a)
        origin += o->fixed[a] > 0 ? o->fixed[a] * apart[a] : 0;
    for (int a = 0; a < o->n_axes; ++a)
        origin += o->axis[a].start * apart[o->axis[a].of];
    kn_lowered_bind_integer(part, (*at)++, origin);
    for (int a = 0; a < o->n_axes; ++a)
        kn_lowered_bind_integer(part, (*at)++, apart[o->axis[a].of] * o->axis[a].step);
}

/* ---- ranges of bytes ---- */

enum { WIDEST = 16 };

/* True if the strides along other axes, and the first element's address, are multiples of so many bytes. */
static bool is_aligned(const kiln_array *array, int axis, int64_t bytes)
{
    bool is = (int64_t)(uintptr_t)array->data % bytes == 0;
    for (int a = 0; a < array->ndim; ++a)
        is = is && (a == axis || array->shape[a] == 1 || array->strides[a] % bytes == 0);
    return is;
}

/* The axis of x that goes along the result's last one, and whose elements are neighbours in both; -1. */
static int find_ranges(const lowering *l)
{
    const kn_index_axes *o = &l->axes;
    const kiln_array *x = l->call->in[0].value.array, *given = l->call->out ? l->call->out[0] : NULL;
    for (int a = 0; a < o->n_axes; ++a)
        if (o->axis[a].to == o->ndim - 1 && o->axis[a].step == 1 && o->late != o->ndim - 1 &&
            x->strides[o->axis[a].of] == x->item_size &&
            (!given || given->strides[o->ndim - 1] == given->item_size))
            return a;
    return -1;
}

/* Elements that lie side by side move as wider ones, of these bits, if they are aligned. */
static void widen(lowering *l)
{
    kn_index_axes *o = &l->axes;
    const kiln_array *x = l->call->in[0].value.array, *given = l->call->out ? l->call->out[0] : NULL;
    const int ranges = find_ranges(l);
    int64_t factor = ranges >= 0 ? WIDEST / x->item_size : 1;
    for (; factor > 1; factor /= 2) {
        const int64_t bytes = factor * x->item_size;
        if (o->axis[ranges].extent % factor == 0 && o->axis[ranges].start % factor == 0 &&
            is_aligned(x, o->axis[ranges].of, bytes) && (!given || is_aligned(given, o->ndim - 1, bytes)))
            break;
    }
    if (factor <= 1 || o->axis[ranges].extent == 0)
        return;
    o->axis[ranges].extent /= factor;
    o->axis[ranges].step = factor;
    o->shape[o->ndim - 1] /= factor;
    l->dtype = kn_dtype_of_bits((int)factor * x->item_size);
    l->factor = factor;
}

static kiln_status bind_read(kn_lowered_part *part, int at, const lowering *l)
{
    const kn_source source = {.kind = KN_FROM_OUTPUT};
    const kiln_array *given = l->call->out ? l->call->out[0] : NULL;
    int64_t shape[KILN_MAX_NDIM], strides[KILN_MAX_NDIM];
    const int ndim = l->axes.ndim;
    for (int d = 0; d < ndim; ++d) {
        shape[d] = given && d == l->axes.late ? given->shape[d] : l->axes.shape[d];
        strides[d] = given ? given->strides[d] * (d == ndim - 1 ? l->factor : 1) : 0;
    }
    return kn_lowered_bind(part, at, l->call, &source, l->dtype, ndim, shape, given ? strides : NULL);
}

/* Where an extent is late, results are stored one by one: those behind it are left alone, and given arrays
 * may have any extent there. */
static kiln_status add_read(lowering *l)
{
    const kn_index_axes *o = &l->axes;
    const bool is_late = o->late >= 0, is_places = gives_places(l->t);
    kn_lowered_part *part;
    writing w;
    int at = 0;
    begin(&w);
    l->dtype = l->t->name == KN_INDEXED_ROWS ? kn_index_rows_dtype(l->in->ndim, l->rows)
               : is_places                   ? KILN_INT64
                                             : l->in->dtype;
    l->factor = 1;
    if (!is_places)
        widen(l);
    l->is_counted = counts_by_array(l);
    kiln_status status = l->is_counted ? add_counting(l) : KILN_OK;
    if (status != KILN_OK)
        return status;
    add_input(&w, "raw %s x", kiln_dtype_name(is_places ? l->in->dtype : l->dtype), 0);
    write_places(&w, l, "x", is_late);
    if (is_places)
        write_number(&w, l);
    kn_str_printf(&w.outs, "%s%s y", is_late ? "raw " : "", kiln_dtype_name(l->dtype));
    if (is_late)
        kn_str_printf(&w.body, "if (to%d < y.shape()[%d]) y[place]", o->late, o->late);
    kn_str_printf(&w.body, "%s = %s", is_late ? "" : "y", is_places ? "number" : "x[at]");
    status = finish(&part, l, &w, KILN_KERNEL_CHECK);
    if (status == KILN_OK)
        status = bind_x(part, at++, l, is_places ? l->in->dtype : l->dtype);
    if (status == KILN_OK)
        status = bind_indices(part, &at, l, is_late);
    if (status != KILN_OK)
        return status;
    if (is_places)
        bind_number(part, &at, l);
    if (is_late)
        kn_lowered_set_shape(part, o->ndim, o->shape);
    return bind_read(part, at, l);
}

/* A mask of x's own shape selects elements of it, by one launch. */
static bool is_selection(const lowering *l)
{
    return l->t->name == KN_INDEXED_READ && l->axes.n_arrays == 1 && l->axes.n_masks == 1 &&
           l->axes.array[0].ndim == l->in->ndim && l->axes.ndim == 1 && l->in->ndim > 0;
}

static kiln_status add_selection(lowering *l)
{
    const kiln_array *given = l->call->out ? l->call->out[0] : NULL;
    kn_source count;
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_source(&count, l->out, sizeof(int64_t));
    if (status == KILN_OK)
        status = kn_lowered_add_kernel(&part, l->out, l->t->select);
    for (int k = 0; k < 2 && status == KILN_OK; ++k)
        status = kn_lowered_bind_input(part, k, l->call, 1 - k, l->in[1 - k].dtype);
    if (status == KILN_OK)
        status = kn_lowered_bind_output(part, 2, l->call, 0, l->in->dtype, 1,
                                        given ? given->shape : l->axes.shape);
    if (status == KILN_OK)
        status = kn_lowered_bind(part, 3, l->call, &count, KILN_INT64, 0, NULL, NULL);
    l->out->late[0] = (kn_late){true, count, 0};
    return status;
}

static kiln_status lower_read(lowering *l)
{
    const kn_index_axes *o = &l->axes;
    if (is_selection(l))
        return add_selection(l);
    const kn_gathered gathered = {l->out, l->call, l->in, o};
    if (l->t->name == KN_INDEXED_READ && kn_gathered_takes(&gathered))
        return kn_gathered_lower(&gathered);
    memcpy(l->rows, l->in->shape, sizeof l->rows);
    if (l->t->name == KN_INDEXED_ROWS)
        kn_index_axes_hold(&l->axes, l->is_held, l->rows, l->in);
    kiln_status status = add_masks(l);
    if (status == KILN_OK && o->late >= 0)
        l->out->late[0] = (kn_late){true, {.kind = KN_FROM_BUFFER, .index = l->count}, o->late};
    return status == KILN_OK && kn_shape_size(o->ndim, o->shape) > 0 ? add_read(l) : status;
}

/* ---- elements that are assigned ---- */

/* Binds an array of which `factor` neighbours along the last axis are one element; strides NULL: C order. */
static kiln_status bind_wide(kn_lowered_part *part, int at, const lowering *l, const kn_source *source,
                             kiln_dtype dtype, int ndim, const int64_t *shape, const int64_t *strides)
{
    int64_t extents[KILN_MAX_NDIM], steps[KILN_MAX_NDIM];
    if (l->factor <= 1)
        return kn_lowered_bind(part, at, l->call, source, dtype, ndim, shape, strides);
    memcpy(extents, shape, (size_t)ndim * sizeof *extents);
    extents[ndim - 1] /= l->factor;
    if (!strides)
        return kn_lowered_bind(part, at, l->call, source, l->dtype, ndim, extents, NULL);
    memcpy(steps, strides, (size_t)ndim * sizeof *steps);
    steps[ndim - 1] *= l->factor;
    return kn_lowered_bind(part, at, l->call, source, l->dtype, ndim, extents, steps);
}

/* The values without axes in front that the index does not have. */
static kiln_status bind_values(kn_lowered_part *part, int at, const lowering *l)
{
    const kn_source source = {.kind = KN_FROM_INPUT, .index = 1};
    if (l->in[1].is_number)
        return kn_lowered_bind_input(part, at, l->call, 1, l->in[1].dtype);
    const kiln_array *v = l->call->in[1].value.array;
    const int beyond = count_beyond(&l->in[1], &l->axes);
    return bind_wide(part, at, l, &source, v->dtype, v->ndim - beyond, v->shape + beyond,
                     v->strides + beyond);
}

/* `values` in the dtype of x. */
static void write_converted(writing *w, const lowering *l)
{
    kn_index_write_converted(&w->body, l->in->dtype, l->in[1].dtype);
}

/* The value in the dtype of x, or the element as it is. */
static void write_conversion(writing *w, const lowering *l)
{
    const char *dtype = kiln_dtype_name(l->factor > 1 ? l->dtype : l->in->dtype);
    add_input(w, "%s x", dtype, 0);
    kn_str_printf(&w->outs, "%s y", dtype);
    if (l->in->dtype == l->in[1].dtype) {
        kn_str_append(&w->body, "y = is_there ? values : x");
        return;
    }
    kn_str_append(&w->body, "y = x;\nif (is_there) y = ");
    write_converted(w, l);
}

static void write_results(writing *w, const lowering *l)
{
    if (l->t->name == KN_INDEXED_ASSIGNED) {
        write_conversion(w, l);
        return;
    }
    if (has_values(l))
        kn_str_printf(&w->outs, "%s values, ", kiln_dtype_name(l->in[1].dtype));
    kn_str_append(&w->outs, "bool is_set");
    kn_str_append(&w->body, "is_set = is_there");
}

static kiln_status bind_results(kn_lowered_part *part, int at, const lowering *l)
{
    const kn_described *x = l->in;
    kiln_status status = KILN_OK;
    if (l->t->name == KN_INDEXED_ASSIGNED) {
        const kiln_array *given = l->call->out ? l->call->out[0] : NULL;
        status = bind_wide(part, at++, l, &(kn_source){.kind = KN_FROM_INPUT}, x->dtype, x->ndim, x->shape,
                           l->call->in[0].value.array->strides);
        return status == KILN_OK ? bind_wide(part, at, l, &(kn_source){.kind = KN_FROM_OUTPUT}, x->dtype,
                                             x->ndim, x->shape, given ? given->strides : NULL)
                                 : status;
    }
    if (has_values(l))
        status = kn_lowered_bind_output(part, at++, l->call, 0, l->in[1].dtype, x->ndim, x->shape);
    return status == KILN_OK
               ? kn_lowered_bind_output(part, at, l->call, has_values(l), KILN_BOOL, x->ndim, x->shape)
               : status;
}

/* Assigns `values` where there is one; places%d are those along the axes of the index. */
static void write_value(writing *w, const lowering *l)
{
    if (!has_values(l))
        return;
    const kn_described *v = &l->in[1];
    const bool is_own = l->t->name == KN_INDEXED_ASSIGNED; /* `values` is no result */
    const int beyond = count_beyond(v, &l->axes), rank = v->ndim - beyond;
    const char *dtype = kiln_dtype_name(l->factor > 1 ? l->dtype : v->dtype);
    add_input(w, v->is_number ? "%s v" : "raw %s v", dtype, 0);
    kn_str_printf(&w->body, "%s%svalues = (%s)0;\nif (is_there) ", is_own ? dtype : "", is_own ? " " : "",
                  dtype);
    if (v->is_number) {
        kn_str_append(&w->body, "values = v;\n");
        return;
    }
    kn_str_append(&w->body, "{\nconst int64 from[] = {0");
    for (int a = 0; a < rank; ++a)
        kn_str_printf(&w->body, ", v.shape()[%d] == 1 ? (int64)0 : to%d", a, l->axes.ndim - rank + a);
    kn_str_printf(&w->body, "};\nint64 of[%d] = {0};\nfor (int a = 0; a < %d; ++a) of[a] = from[a + 1];\n",
                  rank > 0 ? rank : 1, rank);
    kn_str_append(&w->body, "values = v[of];\n}\n");
}

/* Slices and numbers alone: each element of x finds out by itself whether it is among them. */
static kiln_status add_basic(lowering *l)
{
    const kn_index_axes *o = &l->axes;
    kn_lowered_part *part;
    writing w;
    int at = 0;
    begin(&w);
    if (l->in->ndim > 0)
        kn_str_append(&w.body, "const auto place = _ind.get();\n");
    kn_str_append(&w.body, "bool is_there = true;\n");
    for (int d = 0; d < o->ndim; ++d)
        kn_str_printf(&w.body, "[[maybe_unused]] int64 to%d = 0;\n", d);
    for (int a = 0; a < l->in->ndim; ++a)
        if (o->fixed[a] >= 0) {
            add_input(&w, "%s fixed%d", "int64", a);
            kn_str_printf(&w.body, "is_there = is_there && place.at[%d] == fixed%d;\n", a, a);
        }
    for (int a = 0; a < o->n_axes; ++a) {
        add_input(&w, "%s first%d", "int64", a);
        add_input(&w, "%s step%d", "int64", a);
        add_input(&w, "%s extent%d", "int64", a);
        kn_str_printf(&w.body,
                      "to%d = (place.at[%d] - first%d) / step%d;\n"
                      "is_there = is_there && to%d >= 0 && to%d < extent%d && first%d + to%d * step%d == "
                      "place.at[%d];\n",
                      o->axis[a].to, o->axis[a].of, a, a, o->axis[a].to, o->axis[a].to, a, a, o->axis[a].to,
                      a, o->axis[a].of);
    }
    write_value(&w, l);
    write_results(&w, l);
    kiln_status status = finish(&part, l, &w, 0);
    if (status != KILN_OK)
        return status;
    for (int a = 0; a < l->in->ndim; ++a)
        if (o->fixed[a] >= 0)
            kn_lowered_bind_integer(part, at++, o->fixed[a]);
    for (int a = 0; a < o->n_axes; ++a) {
        kn_lowered_bind_integer(part, at++, o->axis[a].start);
        kn_lowered_bind_integer(part, at++, o->axis[a].step);
        kn_lowered_bind_integer(part, at++, o->axis[a].extent);
    }
    if (has_values(l))
        status = bind_values(part, at++, l);
    return status == KILN_OK ? bind_results(part, at, l) : status;
}

/* One mask beside whole axes, and values that are the same wherever it is true. */
static bool is_plain_mask(const lowering *l)
{
    const kn_index_axes *o = &l->axes;
    bool is_plain = o->n_arrays == 1 && o->n_masks == 1 && late_values(l) == 1 && o->late >= 0;
    for (int a = 0; a < l->in->ndim; ++a)
        is_plain = is_plain && o->fixed[a] < 0;
    for (int a = 0; a < o->n_axes; ++a)
        is_plain = is_plain && o->axis[a].start == 0 && o->axis[a].step == 1 &&
                   o->axis[a].extent == l->in->shape[o->axis[a].of];
    return is_plain;
}

static kiln_status bind_beside(kn_lowered_part *part, int at, const lowering *l)
{
    const kn_index_axes *o = &l->axes;
    const kn_source source = {.kind = KN_FROM_INPUT, .index = 1};
    if (l->in[1].is_number)
        return kn_lowered_bind_input(part, at, l->call, 1, l->in[1].dtype);
    const kiln_array *v = l->call->in[1].value.array;
    int64_t strides[KILN_MAX_NDIM] = {0};
    for (int a = 0; a < o->n_axes; ++a) {
        const int from = o->axis[a].to - o->ndim + v->ndim;
        if (o->axis[a].to >= 0 && from >= 0 && v->shape[from] != 1)
            strides[o->axis[a].of] = v->strides[from];
    }
    return kn_lowered_bind(part, at, l->call, &source, v->dtype, l->in->ndim, l->in->shape, strides);
}

static kiln_status add_plain_mask(lowering *l)
{
    const kn_index_array *mask = &l->axes.array[0];
    const kn_source source = {.kind = KN_FROM_INPUT, .index = first_array(l->t)};
    const kiln_array *m = l->call->in[source.index].value.array;
    int64_t strides[KILN_MAX_NDIM] = {0};
    kn_lowered_part *part;
    writing w;
    int at = 0;
    begin(&w);
    add_input(&w, "%s mask", "bool", 0);
    if (has_values(l))
        add_input(&w, "%s v", kiln_dtype_name(l->in[1].dtype), 0);
    kn_str_append(&w.body, "const bool is_there = mask;\n");
    if (l->t->name == KN_INDEXED_ASSIGNED)
        kn_str_printf(&w.body, "const %s values = v;\n", kiln_dtype_name(l->in[1].dtype));
    else if (has_values(l))
        kn_str_append(&w.body, "values = v;\n");
    write_results(&w, l);
    for (int a = 0; a < mask->ndim; ++a)
        strides[mask->first + a] = m->strides[a];
    kiln_status status = finish(&part, l, &w, 0);
    if (status == KILN_OK)
        status = kn_lowered_bind(part, at++, l->call, &source, KILN_BOOL, l->in->ndim, l->in->shape, strides);
    if (status == KILN_OK && has_values(l))
        status = bind_beside(part, at++, l);
    return status == KILN_OK ? bind_results(part, at, l) : status;
}

/* Where each place keeps the greatest number, plus one, of what is assigned to it. */
typedef struct last_numbers {
    kn_source source;
    kiln_dtype dtype;
} last_numbers;

/* Places along the first axis. */
typedef struct place_range {
    int64_t low, high;
    bool is_all;
} place_range;

static kiln_status add_scatter(lowering *l, const last_numbers *last, const place_range *range)
{
    const kn_index_axes *o = &l->axes;
    const char *word = last->dtype == KILN_INT32 ? "int" : "long long";
    int64_t strides[KILN_MAX_NDIM];
    kn_lowered_part *part;
    writing w;
    int at = 0;
    begin(&w);
    kn_shape_c_strides(l->in->ndim, l->rows, (int64_t)kiln_dtype_size(last->dtype), strides);
    write_places(&w, l, "last", true);
    kn_str_printf(&w.outs, "raw %s last", kiln_dtype_name(last->dtype));
    if (!range->is_all) {
        add_input(&w, "%s low", "int64", 0);
        add_input(&w, "%s high", "int64", 0);
        kn_str_append(&w.body, "if (at0 >= low && at0 < high) ");
    }
    kn_str_printf(&w.body, "atomicMax((%s *)&last[at], (%s)(i + 1))", word, word);
    kiln_status status = finish(&part, l, &w, KILN_KERNEL_CHECK);
    if (status == KILN_OK)
        status = bind_indices(part, &at, l, true);
    if (status != KILN_OK)
        return status;
    if (!range->is_all) {
        kn_lowered_bind_integer(part, at++, range->low);
        kn_lowered_bind_integer(part, at++, range->high);
    }
    kn_lowered_set_shape(part, o->ndim, o->shape);
    return bind_places(part, at, l, &last->source, last->dtype, strides);
}

/* The place among values of what an element is assigned: by its last number, and along axes that the index
 * has whole by its own. */
static void write_last_place(writing *w, const lowering *l, const last_numbers *last)
{
    const kn_index_axes *o = &l->axes;
    bool has_held = false;
    kn_str_printf(
        &w->body,
        "[[maybe_unused]] typedef %s kn_count;\n[[maybe_unused]] kn_count rest = (kn_count)(last - 1);\n",
        last->dtype == KILN_INT32 ? "unsigned int" : "unsigned long long");
    for (int d = o->ndim; d-- > 0;) {
        has_held = has_held || l->is_held[d];
        if (l->is_held[d] || d == 0) {
            kn_str_printf(&w->body, "[[maybe_unused]] int64 to%d = %s;\n", d, l->is_held[d] ? "0" : "rest");
            continue;
        }
        add_input(w, "%s extent%d", "int64", d);
        kn_str_printf(
            &w->body,
            "[[maybe_unused]] int64 to%d = rest %% (kn_count)extent%d; rest /= (kn_count)extent%d;\n", d, d,
            d);
    }
    if (has_held)
        kn_str_append(&w->body, "const auto place = _ind.get();\n");
    for (int a = 0; a < o->n_axes; ++a)
        if (o->axis[a].to >= 0 && l->is_held[o->axis[a].to])
            kn_str_printf(&w->body, "to%d = place.at[%d];\n", o->axis[a].to, o->axis[a].of);
}

/* The last axis of an array has so many neighbours, which move as wider elements if they are aligned. */
static bool are_neighbours(const kiln_array *a, int64_t extent)
{
    return a->ndim > 0 && a->shape[a->ndim - 1] == extent && a->strides[a->ndim - 1] == a->item_size;
}

/* Along an axis that the index has whole, elements of x, values and the result move as wider ones. */
static void widen_assigned(lowering *l)
{
    const kn_index_axes *o = &l->axes;
    const kiln_array *x = l->call->in[0].value.array, *v = l->call->in[1].value.array,
                     *given = l->call->out ? l->call->out[0] : NULL;
    const int last = x->ndim - 1;
    l->factor = 1;
    if (l->t->name != KN_INDEXED_ASSIGNED || l->in[1].is_number || l->in[1].dtype != l->in->dtype ||
        o->n_axes == 0 || o->ndim == 0 || o->axis[o->n_axes - 1].of != last ||
        o->axis[o->n_axes - 1].to != o->ndim - 1 || !l->is_held[o->ndim - 1])
        return;
    const int64_t extent = x->shape[last];
    if (!are_neighbours(x, extent) || !are_neighbours(v, extent) || (given && !are_neighbours(given, extent)))
        return;
    for (int64_t factor = WIDEST / x->item_size; factor > 1; factor /= 2) {
        const int64_t bytes = factor * x->item_size;
        if (extent % factor != 0 || !is_aligned(x, last, bytes) || !is_aligned(v, v->ndim - 1, bytes) ||
            (given && !is_aligned(given, last, bytes)))
            continue;
        l->factor = factor;
        l->dtype = kn_dtype_of_bits((int)bytes);
        return;
    }
}

static kiln_status add_assigned(lowering *l, const last_numbers *last)
{
    const kn_index_axes *o = &l->axes;
    const bool needs_place = has_values(l) && !l->in[1].is_number;
    int64_t strides[KILN_MAX_NDIM];
    kn_lowered_part *part;
    writing w;
    int64_t shape[KILN_MAX_NDIM];
    int at = 0;
    begin(&w);
    widen_assigned(l);
    memcpy(shape, l->in->shape, sizeof shape);
    if (l->factor > 1)
        shape[l->in->ndim - 1] /= l->factor;
    add_input(&w, "%s last", kiln_dtype_name(last->dtype), 0);
    kn_str_append(&w.body, "const bool is_there = last > 0;\n");
    if (needs_place)
        write_last_place(&w, l, last);
    write_value(&w, l);
    write_results(&w, l);
    kn_shape_c_strides(l->in->ndim, l->rows, (int64_t)kiln_dtype_size(last->dtype), strides);
    for (int a = 0; a < l->in->ndim; ++a)
        strides[a] = l->rows[a] == 1 ? 0 : strides[a];
    kiln_status status = finish(&part, l, &w, 0);
    if (status == KILN_OK)
        status =
            kn_lowered_bind(part, at++, l->call, &last->source, last->dtype, l->in->ndim, shape, strides);
    if (status != KILN_OK)
        return status;
    for (int d = o->ndim; d-- > 1 && needs_place;)
        if (!l->is_held[d])
            kn_lowered_bind_integer(part, at++, o->shape[d]);
    if (has_values(l))
        status = bind_values(part, at++, l);
    return status == KILN_OK ? bind_results(part, at, l) : status;
}

enum {
    IN_CACHE = 32 << 20,     /* bytes of numbers that stay in a GPU's cache */
    MOST_RANGES = 4,         /* as often the indices are read */
    FEWEST_INDICES = 1 << 20 /* that are worth another launch and wait */
};

/* Atomic functions on scattered words are several times faster in the cache: of many numbers a range at a
 * time is cleared and found. */
static int64_t count_ranges(const lowering *l, int64_t bytes)
{
    const kn_index_axes *o = &l->axes;
    const int64_t count = (bytes + IN_CACHE - 1) / IN_CACHE;
    const bool is_first = o->n_axes > 0 && o->axis[0].of == 0 && o->axis[0].by >= 0 && o->n_masks == 0;
    return l->call->target->backend == KN_CUDA && is_first && count <= MOST_RANGES && count <= l->rows[0] &&
                   bytes > IN_CACHE + IN_CACHE / 2 && kn_shape_size(o->ndim, o->shape) >= FEWEST_INDICES
               ? count
               : 1;
}

static kiln_status add_ranges(lowering *l, const last_numbers *last, int64_t bytes)
{
    const int64_t count = count_ranges(l, bytes), rows = l->in->ndim > 0 ? l->rows[0] : 1, row = bytes / rows;
    kiln_status status = KILN_OK;
    for (int64_t r = 0; r < count && status == KILN_OK; ++r) {
        const place_range range = {rows * r / count, rows * (r + 1) / count, count == 1};
        kn_source cleared = last->source;
        cleared.shift = range.low * row;
        status = kn_lowered_add_fill(l->out, l->call, &cleared, 0, (range.high - range.low) * row / 4);
        if (status == KILN_OK && kn_shape_size(l->axes.ndim, l->axes.shape) > 0)
            status = add_scatter(l, last, &range);
    }
    return status;
}

/* ---- one value for all places ---- */

/* The same value wherever the index says: the order in which places get it does not matter. A GPU writes
 * large results once, by the numbers of places, in less time than a copy and stores here and there take (2^24
 * elements, an H100: 209 us rather than 295, rows of them 49 rather than 68), and knows of wrong indices
 * before that. */
enum { MANY_ELEMENTS = 1 << 18 };
static bool has_one_value(const lowering *l)
{
    const kn_described *v = &l->in[1];
    const bool is_copied =
        l->call->target->backend == KN_HOST || kn_shape_size(l->in->ndim, l->in->shape) < MANY_ELEMENTS;
    return is_copied && l->t->name == KN_INDEXED_ASSIGNED && l->axes.n_masks == 0 &&
           (v->is_number || kn_shape_size(v->ndim, v->shape) == 1);
}

static kiln_status add_copy(lowering *l)
{
    const char *dtype = kiln_dtype_name(l->in->dtype);
    kn_lowered_part *part;
    writing w;
    begin(&w);
    add_input(&w, "%s x", dtype, 0);
    kn_str_printf(&w.outs, "%s y", dtype);
    kn_str_append(&w.body, "y = x");
    kiln_status status = finish(&part, l, &w, 0);
    return status == KILN_OK ? bind_results(part, 0, l) : status;
}

static kiln_status bind_one_value(kn_lowered_part *part, int at, const lowering *l)
{
    static const int64_t strides[KILN_MAX_NDIM] = {0};
    const kn_source source = {.kind = KN_FROM_INPUT, .index = 1};
    return l->in[1].is_number ? kn_lowered_bind_input(part, at, l->call, 1, l->in[1].dtype)
                              : kn_lowered_bind(part, at, l->call, &source, l->in[1].dtype, l->axes.ndim,
                                                l->axes.shape, strides);
}

static kiln_status add_value(lowering *l)
{
    const kn_index_axes *o = &l->axes;
    const kiln_array *given = l->call->out ? l->call->out[0] : NULL;
    const char *dtype = kiln_dtype_name(l->in->dtype);
    int64_t strides[KILN_MAX_NDIM];
    kn_lowered_part *part;
    writing w;
    int at = 0;
    begin(&w);
    write_places(&w, l, "y", true);
    add_input(&w, "%s values", kiln_dtype_name(l->in[1].dtype), 0);
    kn_str_printf(&w.outs, "raw %s y", dtype);
    kn_str_append(&w.body, "y[at] = ");
    write_converted(&w, l);
    kiln_status status = finish(&part, l, &w, KILN_KERNEL_CHECK);
    if (status == KILN_OK)
        status = bind_indices(part, &at, l, true);
    if (status == KILN_OK)
        status = bind_one_value(part, at++, l);
    if (status != KILN_OK)
        return status;
    kn_shape_c_strides(l->in->ndim, l->in->shape, (int64_t)kiln_dtype_size(l->in->dtype), strides);
    kn_lowered_set_shape(part, o->ndim, o->shape);
    return bind_places(part, at, l, &(kn_source){.kind = KN_FROM_OUTPUT}, l->in->dtype,
                       given ? given->strides : strides);
}

static kiln_status lower_one_value(lowering *l)
{
    memcpy(l->rows, l->in->shape, sizeof l->rows);
    l->factor = 1;
    kiln_status status = add_copy(l);
    return status == KILN_OK && kn_shape_size(l->axes.ndim, l->axes.shape) > 0 ? add_value(l) : status;
}

static kiln_status lower_assigned(lowering *l)
{
    const kn_index_axes *o = &l->axes;
    last_numbers last;
    if (kn_shape_size(l->in->ndim, l->in->shape) == 0)
        return KILN_OK;
    if (o->n_arrays == 0)
        return add_basic(l);
    if (is_plain_mask(l))
        return add_plain_mask(l);
    const kn_ordered ordered = {.out = l->out,
                                .call = l->call,
                                .in = l->in,
                                .n_items = l->t->n_items,
                                .n_arrays = l->t->n_arrays,
                                .is_one_value = has_one_value(l),
                                .axes = o,
                                .places = l->t->places,
                                .rows = l->t->rows};
    if (l->t->name == KN_INDEXED_ASSIGNED && kn_ordered_takes(&ordered))
        return kn_ordered_lower(&ordered);
    if (has_one_value(l))
        return lower_one_value(l);
    kiln_status status = add_masks(l);
    kn_index_axes_hold(&l->axes, l->is_held, l->rows, l->in);
    last.dtype = kn_shape_size(o->ndim, o->shape) < INT32_MAX ? KILN_INT32 : KILN_INT64;
    const int64_t bytes = kn_shape_size(l->in->ndim, l->rows) * (int64_t)kiln_dtype_size(last.dtype);
    if (status == KILN_OK)
        status = kn_lowered_add_source(&last.source, l->out, (size_t)bytes);
    if (status == KILN_OK)
        status = add_ranges(l, &last, bytes);
    return status == KILN_OK ? add_assigned(l, &last) : status;
}

static kiln_status lower(kn_lowered *out, const void *context, const kn_lowering_call *call)
{
    const indexed *t = context;
    const size_t n_in = (size_t)count_inputs(t);
    kn_described *in = kn_calloc(n_in, sizeof *in);
    lowering l = {.out = out, .t = t, .call = call, .in = in};
    if (!in)
        return kn_error_memory("the arguments of a call");
    kn_describe_arguments(in, call->in, (int)n_in);
    kiln_status status = find_axes(&l.axes, t, in);
    if (status == KILN_OK)
        status = reads(t) ? lower_read(&l) : lower_assigned(&l);
    kn_free(in);
    return status;
}

static void release(void *context)
{
    indexed *t = context;
    kiln_kernel_free(t->find);
    kiln_kernel_free(t->select);
    kiln_kernel_free(t->places);
    kiln_kernel_free(t->rows);
    kn_free(t);
}

static const kn_algorithm algorithm = {.describe = describe, .lower = lower, .free = release};

bool kn_indexed_is_alone(const kiln_kernel *kernel)
{
    const indexed *t = kernel->algorithm == &algorithm ? kernel->context : NULL;
    return t && t->name == KN_INDEXED_READ && t->n_items == 1 && t->n_arrays == 1;
}

/* ---- making ---- */

static kiln_status make_prototype(kiln_kernel **out, indexed *t)
{
    char own[KN_MAX_PARAMS][24];
    const char *in[KN_MAX_PARAMS];
    kn_program *prototype = NULL;
    for (int k = 0; k < count_inputs(t); ++k) {
        snprintf(own[k], sizeof own[k], "index%d", k - first_array(t));
        in[k] = k >= first_array(t) ? own[k] : k == 0 ? "x" : "v";
    }
    kiln_status status = kn_prototype_create(&prototype, names[t->name].name, in, count_inputs(t),
                                             names[t->name].out, names[t->name].n_out);
    if (status == KILN_OK)
        return kn_kernel_create_algorithm(out, prototype, &algorithm, t);
    release(t);
    return status;
}

static kiln_status make(kiln_kernel **out, const void *of)
{
    indexed *t = kn_malloc(sizeof *t);
    if (!t)
        return kn_error_memory("a kernel");
    *t = *(const indexed *)of;
    kiln_status status = t->n_arrays > 0
                             ? kn_select_find(&t->find, "bool mask", "int64 number", "mask", "number = i")
                             : KILN_OK;
    if (status == KILN_OK && t->name == KN_INDEXED_READ && t->n_arrays > 0)
        status = kn_select_find(&t->select, "bool mask, T x", "T y", "mask", "y = x");
    const bool is_assigned = t->name == KN_INDEXED_ASSIGNED && t->n_arrays > 0;
    if (status == KILN_OK && is_assigned)
        status = kn_indexed_find(&t->places, KN_INDEXED_PLACES, t->item, t->n_items);
    if (status == KILN_OK && is_assigned)
        status = kn_indexed_find(&t->rows, KN_INDEXED_ROWS, t->item, t->n_items);
    if (status == KILN_OK)
        return make_prototype(out, t);
    release(t);
    return status;
}

kiln_status kn_indexed_find(kiln_kernel **out, kn_indexed_name name, const kn_subscript *item, int n_items)
{
    indexed t = {.name = name, .n_items = n_items};
    kn_str key = KN_STR_INIT;
    kn_str_printf(&key, "indexed %d", (int)name);
    for (int k = 0; k < n_items; ++k) {
        t.item[k] = item[k];
        t.n_arrays += item[k].kind == KN_SUBSCRIPT_ARRAY;
        kn_str_printf(&key, " %d %lld %lld %lld", (int)item[k].kind, (long long)item[k].start,
                      (long long)item[k].stop, (long long)item[k].step);
    }
    kiln_status status = count_inputs(&t) <= KN_MAX_PARAMS / 2
                             ? kn_kernel_remembered(out, &key, make, &t)
                             : kn_error(KILN_ERROR_INVALID, "an index has %d arrays; at most %d are possible",
                                        t.n_arrays, KN_MAX_PARAMS / 2 - first_array(&t));
    kn_str_free(&key);
    return status;
}
