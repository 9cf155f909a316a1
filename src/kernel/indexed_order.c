/* x[...] = values on the host, in the order of the values, and rows of x. */
#include "kernel/indexed_order.h"

#include <string.h>

#include "base/error.h"
#include "device/host_assign.h"
#include "kernel/algorithm.h"
#include "program/program.h"
#include "space/shape.h"
#include "types/dtype.h"

typedef struct lowering {
    const kn_ordered *o;
    kn_index_axes axes; /* without those that a row has whole */
    bool has_rows;
    int64_t rows, row; /* elements of a row */
    kiln_dtype dtype;  /* of the numbers of rows */
    kn_source places, values;
} lowering;

/* The index is an array of row numbers, as it is. */
static bool is_flat(const kn_ordered *o)
{
    const kn_described *index = &o->in[2];
    return o->in->ndim == 1 && o->n_items == 1 && o->n_arrays == 1 && !index->is_number &&
           (index->dtype == KILN_INT64 || index->dtype == KILN_INT32) &&
           o->call->in[2].value.array->is_c_contiguous;
}

bool kn_ordered_takes(const kn_ordered *o)
{
    const kiln_array *given = o->call->out ? o->call->out[0] : NULL;
    return o->call->target->backend == KN_HOST && o->axes->n_masks == 0 && o->axes->n_arrays > 0 &&
           (!given || given->is_c_contiguous) && (!o->is_one_value || is_flat(o));
}

/* Whole axes of x are rows if they are the last ones, of x and of what the index says. */
static void find_rows(lowering *l)
{
    const kn_ordered *o = l->o;
    bool is_held[KILN_MAX_NDIM], are_last = true;
    int64_t shape[KILN_MAX_NDIM];
    int count = 0;
    l->axes = *o->axes;
    kn_index_axes_hold(&l->axes, is_held, shape, o->in);
    for (int d = 0; d < o->axes->ndim; ++d)
        count += is_held[d];
    for (int a = 0; a < o->axes->n_axes; ++a) {
        const kn_index_axis *axis = &o->axes->axis[a];
        if (axis->to >= 0 && is_held[axis->to])
            are_last = are_last && axis->to >= o->axes->ndim - count &&
                       axis->of == o->in->ndim - (o->axes->ndim - axis->to);
    }
    l->has_rows = count > 0 && are_last;
    if (!l->has_rows)
        l->axes = *o->axes;
    l->row = 1;
    for (int a = o->in->ndim - count; l->has_rows && a < o->in->ndim; ++a)
        l->row *= o->in->shape[a];
    l->rows = kn_shape_size(o->in->ndim, o->in->shape) / l->row;
    l->dtype = is_flat(o)    ? o->in[2].dtype
               : l->has_rows ? kn_index_rows_dtype(o->in->ndim, shape)
                             : KILN_INT64;
}

static kiln_status add_places(lowering *l)
{
    const kn_ordered *o = l->o;
    const size_t bytes = (size_t)kn_shape_size(l->axes.ndim, l->axes.shape) * kiln_dtype_size(l->dtype);
    kn_lowered_part *part;
    l->places = (kn_source){.kind = KN_FROM_INPUT, .index = 2};
    if (is_flat(o))
        return KILN_OK;
    kiln_status status = kn_lowered_add_source(&l->places, o->out, bytes);
    if (status == KILN_OK)
        status = kn_lowered_add_kernel(&part, o->out, l->has_rows ? o->rows : o->places);
    if (status == KILN_OK)
        status = kn_lowered_bind_input(part, 0, o->call, 0, o->in->dtype);
    for (int k = 0; k < o->n_arrays && status == KILN_OK; ++k)
        status = kn_lowered_bind_input(part, 1 + k, o->call, 2 + k, o->in[2 + k].dtype);
    return status == KILN_OK ? kn_lowered_bind(part, 1 + o->n_arrays, o->call, &l->places, l->dtype,
                                               l->axes.ndim, l->axes.shape, NULL)
                             : status;
}

/* A map of an array in front of it: `text`. */
static kiln_status add_map(kn_lowered_part **part, const lowering *l, kiln_dtype to, kiln_dtype from,
                           kn_str *body)
{
    kn_str in = KN_STR_INIT, out = KN_STR_INIT;
    kn_program *program = NULL;
    kn_str_printf(&in, "%s values", kiln_dtype_name(from));
    kn_str_printf(&out, "%s y", kiln_dtype_name(to));
    kiln_status status = kn_program_written(&program, &in, &out, body, "assigned", NULL);
    return status == KILN_OK ? kn_lowered_add_program(part, l->o->out, program) : status;
}

static kiln_status add_copy(const lowering *l)
{
    const kn_described *x = l->o->in;
    kn_str body = KN_STR_INIT;
    kn_lowered_part *part;
    kn_str_append(&body, "y = values");
    kiln_status status = add_map(&part, l, x->dtype, x->dtype, &body);
    if (status == KILN_OK)
        status = kn_lowered_bind_input(part, 0, l->o->call, 0, x->dtype);
    return status == KILN_OK ? kn_lowered_bind_output(part, 1, l->o->call, 0, x->dtype, x->ndim, x->shape)
                             : status;
}

/* Values as the index has them, or one value, in x's dtype, side by side: those of the call, or a copy. */
static kiln_status add_values(lowering *l)
{
    const kn_ordered *o = l->o;
    const kiln_array *v = o->in[1].is_number ? NULL : o->call->in[1].value.array;
    const int ndim = o->is_one_value ? 0 : o->axes->ndim, beyond = v && v->ndim > ndim ? v->ndim - ndim : 0;
    const int64_t size = kn_shape_size(ndim, o->axes->shape);
    const kn_source source = {.kind = KN_FROM_INPUT, .index = 1};
    kn_str body = KN_STR_INIT;
    kn_lowered_part *part;
    l->values = source;
    if (v && v->dtype == o->in->dtype && v->is_c_contiguous && kn_shape_size(v->ndim, v->shape) == size)
        return KILN_OK;
    kiln_status status =
        kn_lowered_add_source(&l->values, o->out, (size_t)size * kiln_dtype_size(o->in->dtype));
    kn_str_append(&body, "y = ");
    kn_index_write_converted(&body, o->in->dtype, o->in[1].dtype);
    if (status == KILN_OK)
        status = add_map(&part, l, o->in->dtype, o->in[1].dtype, &body);
    if (status == KILN_OK)
        status = v ? kn_lowered_bind(part, 0, o->call, &source, v->dtype, v->ndim - beyond, v->shape + beyond,
                                     v->strides + beyond)
                   : kn_lowered_bind_input(part, 0, o->call, 1, o->in[1].dtype);
    return status == KILN_OK
               ? kn_lowered_bind(part, 1, o->call, &l->values, o->in->dtype, ndim, o->axes->shape, NULL)
               : status;
}

static kiln_status assign(kn_device *device, const void *const *value, void *stream)
{
    (void)device, (void)stream;
    int64_t number[5], outside;
    kn_step_integers(number, 5, value + 3);
    const kn_host_assignment of = {.to = (void *)(uintptr_t)value[0],
                                   .places = value[1],
                                   .values = value[2],
                                   .count = number[0],
                                   .rows = number[1],
                                   .row_bytes = number[2],
                                   .has_wide_places = number[3] == (int64_t)sizeof(int64_t),
                                   .is_one_value = number[4] != 0};
    if (kn_host_assign(&outside, &of))
        return KILN_OK;
    return kn_error(KILN_ERROR_INVALID, "assigned: index 0: %lld is out of range for axis 0 of extent %lld",
                    (long long)outside, (long long)number[1]);
}

static kiln_status add_assign(const lowering *l)
{
    const kn_ordered *o = l->o;
    const kn_described *x = o->in;
    const int64_t count = kn_shape_size(l->axes.ndim, l->axes.shape),
                  size = o->is_one_value ? 1 : count * l->row;
    const int64_t number[] = {count, l->rows, l->row * (int64_t)kiln_dtype_size(x->dtype),
                              (int64_t)kiln_dtype_size(l->dtype), o->is_one_value};
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_function(&part, o->out, "assign", assign, 8);
    if (status == KILN_OK)
        status = kn_lowered_bind_output(part, 0, o->call, 0, x->dtype, x->ndim, x->shape);
    if (status == KILN_OK)
        status = kn_lowered_bind(part, 1, o->call, &l->places, l->dtype, 1, &count, NULL);
    if (status == KILN_OK)
        status = kn_lowered_bind(part, 2, o->call, &l->values, x->dtype, 1, &size, NULL);
    if (status == KILN_OK)
        kn_lowered_bind_integers(part, 3, 5, number);
    return status;
}

kiln_status kn_ordered_lower(const kn_ordered *o)
{
    lowering l = {.o = o};
    kiln_status status = add_copy(&l);
    if (status != KILN_OK || kn_shape_size(o->axes->ndim, o->axes->shape) == 0)
        return status;
    find_rows(&l);
    status = add_places(&l);
    if (status == KILN_OK)
        status = add_values(&l);
    return status == KILN_OK ? add_assign(&l) : status;
}

/* ---- rows that are read ---- */

/* The axis of x that the array says; -1: the others are not all whole. */
static int axis_of(const kn_gathered *g)
{
    const kn_index_axes *o = g->axes;
    int axis = -1;
    if (o->n_axes != g->in->ndim || o->n_arrays != 1 || o->n_masks != 0)
        return -1;
    for (int a = 0; a < o->n_axes; ++a) {
        const bool is_whole =
            o->axis[a].start == 0 && o->axis[a].step == 1 && o->axis[a].extent == g->in->shape[o->axis[a].of];
        if (!is_whole || o->axis[a].of != a || (o->axis[a].to < 0 && axis >= 0))
            return -1;
        axis = o->axis[a].to < 0 ? a : axis;
    }
    return axis >= 0 && o->first == axis ? axis : -1;
}

enum { LEAST_AXES = 2 /* of an array of one axis there are better ways */ };

bool kn_gathered_takes(const kn_gathered *g)
{
    const kiln_array *given = g->call->out ? g->call->out[0] : NULL;
    const kn_described *index = &g->in[1];
    return g->call->target->backend == KN_HOST && g->in->ndim >= LEAST_AXES && !index->is_number &&
           (index->dtype == KILN_INT64 || index->dtype == KILN_INT32) && axis_of(g) >= 0 &&
           g->call->in[0].value.array->is_c_contiguous && g->call->in[1].value.array->is_c_contiguous &&
           (!given || given->is_c_contiguous);
}

static kiln_status gather(kn_device *device, const void *const *value, void *stream)
{
    (void)device, (void)stream;
    int64_t number[7], outside;
    kn_step_integers(number, 7, value + 3);
    const kn_host_gathering of = {.to = (void *)(uintptr_t)value[0],
                                  .from = value[1],
                                  .places = value[2],
                                  .blocks = number[0],
                                  .count = number[1],
                                  .rows = number[2],
                                  .row_bytes = number[3],
                                  .has_wide_places = number[4] == (int64_t)sizeof(int64_t)};
    if (kn_host_gather(&outside, &of))
        return KILN_OK;
    return kn_error(KILN_ERROR_INVALID,
                    "indexed: index %lld: %lld is out of range for axis %lld of extent %lld",
                    (long long)number[5], (long long)outside, (long long)number[6], (long long)number[2]);
}

kiln_status kn_gathered_lower(const kn_gathered *g)
{
    const kn_described *x = g->in;
    const kn_index_axes *o = g->axes;
    const int axis = axis_of(g);
    const int64_t number[] = {kn_shape_size(axis, x->shape),
                              kn_shape_size(g->in[1].ndim, g->in[1].shape),
                              x->shape[axis],
                              kn_shape_size(x->ndim - axis - 1, x->shape + axis + 1) *
                                  (int64_t)kiln_dtype_size(x->dtype),
                              (int64_t)kiln_dtype_size(g->in[1].dtype),
                              o->array[0].item,
                              axis};
    kn_lowered_part *part;
    if (number[0] * number[1] * number[3] == 0)
        return KILN_OK;
    kiln_status status = kn_lowered_add_function(&part, g->out, "gather", gather, 10);
    if (status == KILN_OK)
        status = kn_lowered_bind_output(part, 0, g->call, 0, x->dtype, o->ndim, o->shape);
    for (int k = 0; k < 2 && status == KILN_OK; ++k)
        status = kn_lowered_bind_input(part, 1 + k, g->call, k, g->in[k].dtype);
    if (status == KILN_OK)
        kn_lowered_bind_integers(part, 3, 7, number);
    return status;
}
