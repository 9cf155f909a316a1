/* Elements of an array combined with values by x[...]: kernels that are remembered. Numbers of rows, and
 * several arrays of indices, first become numbers of elements. */
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

typedef struct scattered {
    kn_combining how;
    unsigned flags; /* KILN_KERNEL_ANY_ORDER */
    int n_items, n_arrays;
    kiln_kernel *places, *combine;
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

static kiln_status add_places(kn_lowered *out, const scattered *s, const kn_lowering_call *call,
                              const kn_described *in, const kn_index_axes *axes, const kn_source *places)
{
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_kernel(&part, out, s->places);
    if (status == KILN_OK)
        status = kn_lowered_bind_input(part, 0, call, 0, in->dtype);
    for (int k = 0; k < s->n_arrays && status == KILN_OK; ++k)
        status = kn_lowered_bind_input(part, 1 + k, call, 2 + k, in[2 + k].dtype);
    return status == KILN_OK ? kn_lowered_bind(part, 1 + s->n_arrays, call, places, KILN_INT64, axes->ndim,
                                               axes->shape, NULL)
                             : status;
}

/* Indices of an array of one axis are numbers of elements already. */
static kiln_status lower_calls(kn_lowered *out, const scattered *s, const kn_lowering_call *call,
                               const kn_described *in, const kn_index_axes *axes)
{
    const bool is_flat = in->ndim == 1 && s->n_items == 1;
    const int64_t size = kn_shape_size(axes->ndim, axes->shape);
    kn_source places = {.kind = KN_FROM_BUFFER};
    kn_lowered_part *part;
    kiln_status status = KILN_OK;
    if (!is_flat)
        status = kn_lowered_add_buffer(&places.index, out, (size_t)(size > 0 ? size : 1) * sizeof(int64_t));
    if (status == KILN_OK && !is_flat && size > 0)
        status = add_places(out, s, call, in, axes, &places);
    if (status == KILN_OK)
        status = kn_lowered_add_kernel(&part, out, s->combine);
    if (status == KILN_OK)
        status = kn_lowered_bind_input(part, 0, call, 0, in->dtype);
    if (status == KILN_OK)
        status = is_flat ? kn_lowered_bind_input(part, 1, call, 2, in[2].dtype)
                         : kn_lowered_bind(part, 1, call, &places, KILN_INT64, axes->ndim, axes->shape, NULL);
    if (status == KILN_OK)
        status = kn_lowered_bind_input(part, 2, call, 1, in[1].dtype);
    return status == KILN_OK ? kn_lowered_bind_output(part, 3, call, 0, in->dtype, in->ndim, in->shape)
                             : status;
}

static kiln_status lower(kn_lowered *out, const void *context, const kn_lowering_call *call)
{
    const scattered *s = context;
    const size_t n_in = (size_t)s->n_arrays + 2;
    kn_described *in = kn_calloc(n_in, sizeof *in);
    kn_index_axes axes;
    if (!in)
        return kn_error_memory(n_in * sizeof *in, "the arguments of a call");
    kn_describe_arguments(in, call->in, (int)n_in);
    kiln_status status = find_axes(&axes, s, in);
    if (status == KILN_OK && kn_shape_size(in->ndim, in->shape) > 0)
        status = lower_calls(out, s, call, in, &axes);
    kn_free(in);
    return status;
}

static void release(void *context)
{
    scattered *s = context;
    kiln_kernel_free(s->places);
    kiln_kernel_free(s->combine);
    kn_free(s);
}

static const kn_algorithm algorithm = {.describe = describe, .lower = lower, .free = release};

static kiln_status make(kiln_kernel **out, const void *of)
{
    static const char *const result[] = {"combined"};
    char own[KN_MAX_PARAMS][24];
    const char *in[KN_MAX_PARAMS] = {"x", "values"};
    kn_program *prototype = NULL;
    scattered *s = kn_malloc(sizeof *s);
    if (!s)
        return kn_error_memory(sizeof *s, "a kernel");
    *s = *(const scattered *)of;
    for (int k = 0; k < s->n_arrays; ++k) {
        snprintf(own[k], sizeof own[k], "index%d", k);
        in[2 + k] = own[k];
    }
    kiln_status status = kn_indexed_find(&s->places, KN_INDEXED_PLACES, s->item, s->n_items);
    if (status == KILN_OK)
        status = kn_scattered_find(&s->combine, s->how, s->flags);
    if (status == KILN_OK)
        status = kn_prototype_create(&prototype, "at", in, s->n_arrays + 2, result, 1);
    if (status == KILN_OK)
        return kn_kernel_create_algorithm(out, prototype, &algorithm, s);
    release(s);
    return status;
}

kiln_status kn_scattered_at_find(kiln_kernel **out, kn_combining how, const kn_subscript *item, int n_items,
                                 unsigned flags)
{
    scattered s = {.how = how, .flags = flags & KILN_KERNEL_ANY_ORDER, .n_items = n_items};
    kn_str key = KN_STR_INIT;
    kn_str_printf(&key, "scattered %d %u", (int)how, s.flags);
    for (int k = 0; k < n_items; ++k) {
        s.item[k] = item[k];
        s.n_arrays += item[k].kind == KN_SUBSCRIPT_ARRAY;
        kn_str_printf(&key, " %d %lld", (int)item[k].kind, (long long)item[k].start);
    }
    kiln_status status = kn_kernel_remembered(out, &key, make, &s);
    kn_str_free(&key);
    return status;
}
