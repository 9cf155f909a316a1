/* The axes of x[...]: NumPy's rules for basic and advanced indices. */
#include "kernel/indexed_axes.h"

#include <string.h>

#include "array/array.h"
#include "base/error.h"
#include "base/str.h"
#include "space/shape.h"
#include "types/dtype.h"

/* Arrays and numbers among the indices. Axes between them move those of the arrays to the front. */
typedef enum run { NONE_YET, IN_RUN, BEHIND_RUN, SEPARATED } run;

typedef struct finding {
    kn_index_axes *out;
    const char *name;
    const kn_described *x, *array;
    int axis, item, n_whole, at; /* next axis of x, item; axes of the result beside those of arrays; where
                                   those of arrays begin among them */
    int64_t whole[KILN_MAX_NDIM];
    int n_given; /* arrays so far */
    run run;
    bool has_arrays;
} finding;

static kiln_status too_many(const finding *f, int count)
{
    return kn_error(KILN_ERROR_SHAPE, "%s: the result would have %d axes; %d are possible", f->name, count,
                    KILN_MAX_NDIM);
}

/* ---- items ---- */

static void note_advanced(finding *f)
{
    if (f->run == NONE_YET)
        f->at = f->n_whole;
    f->run = f->run == BEHIND_RUN || f->run == SEPARATED ? SEPARATED : IN_RUN;
}

static void note_basic(finding *f)
{
    f->run = f->run == IN_RUN ? BEHIND_RUN : f->run;
}

static kiln_status keep(finding *f, int64_t extent)
{
    if (f->n_whole == KILN_MAX_NDIM)
        return too_many(f, f->n_whole + 1);
    f->whole[f->n_whole++] = extent;
    return KILN_OK;
}

static kiln_status take_slice(finding *f, const kn_subscript *s)
{
    const int64_t step = s->step == KILN_SLICE_NONE ? 1 : s->step, extent = f->x->shape[f->axis];
    int64_t start = s->start;
    const int64_t count = kn_slice_clip(extent, &start, s->stop, step);
    f->out->axis[f->out->n_axes++] = (kn_index_axis){
        .of = f->axis++, .start = start, .step = step, .extent = count, .to = f->n_whole, .by = -1};
    note_basic(f);
    return keep(f, count);
}

static kiln_status take_rest(finding *f, int count)
{
    static const kn_subscript all = {KN_SUBSCRIPT_SLICE, KILN_SLICE_NONE, KILN_SLICE_NONE, KILN_SLICE_NONE};
    kiln_status status = KILN_OK;
    note_basic(f);
    for (; count > 0 && status == KILN_OK; --count)
        status = take_slice(f, &all);
    return status;
}

static kiln_status take_number(finding *f, int64_t index)
{
    const int64_t extent = f->x->shape[f->axis];
    if (index < -extent || index >= extent)
        return kn_error(KILN_ERROR_SHAPE, "%s: index %d: %lld is out of range for axis %d of extent %lld",
                        f->name, f->item, (long long)index, f->axis, (long long)extent);
    f->out->fixed[f->axis++] = index < 0 ? index + extent : index;
    if (f->has_arrays)
        note_advanced(f);
    return KILN_OK;
}

static void take_axis(finding *f, int column)
{
    f->out->axis[f->out->n_axes++] = (kn_index_axis){.of = f->axis,
                                                     .step = 1,
                                                     .extent = f->x->shape[f->axis],
                                                     .to = -1,
                                                     .by = f->n_given,
                                                     .column = column};
    ++f->axis;
}

static kiln_status take_mask(finding *f, const kn_described *mask, kn_index_array *to)
{
    to->is_mask = true;
    to->ndim = mask->ndim;
    to->first = f->axis;
    to->size = kn_shape_size(mask->ndim, mask->shape);
    for (int a = 0; a < mask->ndim; ++a) {
        if (mask->shape[a] != f->x->shape[f->axis])
            return kn_error(KILN_ERROR_SHAPE,
                            "%s: index %d: the mask has extent %lld along its axis %d; %lld was expected, "
                            "that of axis %d of the array",
                            f->name, f->item, (long long)mask->shape[a], a, (long long)f->x->shape[f->axis],
                            f->axis);
        take_axis(f, a);
    }
    ++f->out->n_masks;
    return KILN_OK;
}

static bool is_whole(kiln_dtype dtype)
{
    const kn_dtype_info *info = kn_dtype_info_of(dtype);
    return info && (info->kind == KN_KIND_INT || info->kind == KN_KIND_UINT);
}

static kiln_status take_array(finding *f)
{
    const kn_described *array = &f->array[f->n_given];
    kn_index_array *to = &f->out->array[f->n_given];
    kiln_status status = KILN_OK;
    *to = (kn_index_array){.item = f->item};
    if (array->dtype != KILN_BOOL && !is_whole(array->dtype))
        return kn_error(KILN_ERROR_TYPE, "%s: index %d is %s; whole numbers or booleans were expected",
                        f->name, f->item, kiln_dtype_name(array->dtype));
    if (array->dtype == KILN_BOOL)
        status = take_mask(f, array, to);
    else
        take_axis(f, 0);
    ++f->n_given;
    note_advanced(f);
    return status;
}

/* The axes of x that items use up, of which `...` takes what is left. */
static int count_used(const finding *f, const kn_subscript *item, int n_items)
{
    int used = 0;
    for (int k = 0, array = 0; k < n_items; ++k) {
        const kn_subscript_kind kind = item[k].kind;
        if (kind == KN_SUBSCRIPT_ARRAY) {
            used += f->array[array].dtype == KILN_BOOL ? f->array[array].ndim : 1;
            ++array;
        }
        used += kind == KN_SUBSCRIPT_SLICE || kind == KN_SUBSCRIPT_INDEX;
    }
    return used;
}

static kiln_status take_items(finding *f, const kn_subscript *item, int n_items)
{
    const int used = count_used(f, item, n_items), left = f->x->ndim - used;
    bool has_rest = false;
    kiln_status status = KILN_OK;
    if (left < 0)
        return kn_error(KILN_ERROR_SHAPE, "%s: %d axes are indexed, but the array has %d", f->name, used,
                        f->x->ndim);
    for (int k = 0; k < n_items && status == KILN_OK; ++k) {
        f->item = k;
        has_rest = has_rest || item[k].kind == KN_SUBSCRIPT_REST;
        if (item[k].kind == KN_SUBSCRIPT_REST)
            status = take_rest(f, left);
        else if (item[k].kind == KN_SUBSCRIPT_SLICE)
            status = take_slice(f, &item[k]);
        else if (item[k].kind == KN_SUBSCRIPT_INDEX)
            status = take_number(f, item[k].start);
        else if (item[k].kind == KN_SUBSCRIPT_ARRAY)
            status = take_array(f);
        else {
            note_basic(f);
            status = keep(f, 1);
        }
    }
    return status == KILN_OK && !has_rest ? take_rest(f, left) : status;
}

/* ---- the result ---- */

/* The shape that the arrays broadcast to: those of whole numbers first, since masks have as many elements as
 * the data says, along the last axis. */
static kiln_status broadcast(finding *f, int *ndim, int64_t *shape)
{
    kn_index_axes *o = f->out;
    int64_t most = 0;
    *ndim = 0;
    for (int k = 0; k < f->n_given; ++k) {
        if (!o->array[k].is_mask && !kn_shape_broadcast(ndim, shape, f->array[k].ndim, f->array[k].shape))
            return kn_error(KILN_ERROR_SHAPE,
                            "%s: index %d does not broadcast against those before it: its shape is another",
                            f->name, o->array[k].item);
        most = o->array[k].is_mask && o->array[k].size > most ? o->array[k].size : most;
    }
    if (o->n_masks == 0)
        return KILN_OK;
    if (*ndim == 0)
        shape[(*ndim)++] = 1;
    o->length = shape[*ndim - 1];
    if (o->length == 1) {
        shape[*ndim - 1] = most;
        o->late = *ndim - 1;
    }
    return KILN_OK;
}

static kiln_status settle(finding *f)
{
    kn_index_axes *o = f->out;
    int64_t shape[KILN_MAX_NDIM];
    kiln_status status = broadcast(f, &o->count, shape);
    if (status != KILN_OK)
        return status;
    o->first = f->run == SEPARATED ? 0 : f->at;
    o->ndim = f->n_whole + o->count;
    if (o->ndim > KILN_MAX_NDIM)
        return too_many(f, o->ndim);
    for (int k = 0; k < f->n_whole; ++k)
        o->shape[k < o->first ? k : k + o->count] = f->whole[k];
    for (int k = 0; k < o->count; ++k)
        o->shape[o->first + k] = shape[k];
    for (int a = 0; a < o->n_axes; ++a)
        if (o->axis[a].to >= o->first)
            o->axis[a].to += o->count;
    o->late += o->late >= 0 ? o->first : 0;
    return KILN_OK;
}

static bool has_whole(const kn_index_axis *axis, const kn_described *x)
{
    return axis->to >= 0 && axis->start == 0 && axis->step == 1 && axis->extent == x->shape[axis->of];
}

void kn_index_axes_hold(kn_index_axes *axes, bool *is_held, int64_t *shape, const kn_described *x)
{
    memset(is_held, 0, KILN_MAX_NDIM * sizeof *is_held);
    memcpy(shape, x->shape, KILN_MAX_NDIM * sizeof *shape);
    for (int a = 0; a < axes->n_axes; ++a) {
        kn_index_axis *axis = &axes->axis[a];
        if (!has_whole(axis, x))
            continue;
        is_held[axis->to] = true;
        shape[axis->of] = axis->extent = axes->shape[axis->to] = 1;
    }
}

kiln_status kn_index_axes_find(kn_index_axes *out, const char *name, const kn_subscript *item, int n_items,
                               const kn_described *x, const kn_described *array)
{
    finding f = {.out = out, .name = name, .x = x, .array = array};
    memset(out, 0, sizeof *out);
    for (int a = 0; a < KILN_MAX_NDIM; ++a)
        out->fixed[a] = -1;
    out->late = -1;
    out->length = 1;
    for (int k = 0; k < n_items; ++k)
        out->n_arrays += item[k].kind == KN_SUBSCRIPT_ARRAY;
    f.has_arrays = out->n_arrays > 0;
    kiln_status status = take_items(&f, item, n_items);
    return status == KILN_OK ? settle(&f) : status;
}

/* ---- texts ---- */

kiln_dtype kn_index_rows_dtype(int ndim, const int64_t *shape)
{
    return kn_shape_size(ndim, shape) < INT32_MAX ? KILN_INT32 : KILN_INT64;
}

void kn_index_write_converted(kn_str *text, kiln_dtype to_dtype, kiln_dtype from_dtype)
{
    const kn_dtype_info *to = kn_dtype_info_of(to_dtype), *from = kn_dtype_info_of(from_dtype);
    const char *part = from->kind == KN_KIND_COMPLEX && to->kind != KN_KIND_COMPLEX ? ".re" : "";
    if (from == to)
        kn_str_append(text, "values");
    else if (to->kind == KN_KIND_BOOL)
        kn_str_printf(text, "values%s != 0%s", part, *part ? " || values.im != 0" : "");
    else
        kn_str_printf(text, "(%s)values%s", to->c_name, part);
}
