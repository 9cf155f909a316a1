/* argwhere and nonzero: a selection stores the indices along each axis of the elements that are not zero. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "kernel/algorithm.h"
#include "kernel/indexed.h"
#include "kernel/sort.h"
#include "program/program.h"
#include "space/shape.h"
#include "types/dtype.h"

typedef struct nonzero {
    int n_axes, axis; /* 0: argwhere; results; the one axis, or -1: all of them */
    /* By whether there are few elements, and by the axes of the array: made when they are needed. */
    _Atomic(kiln_kernel *) selected[2][KILN_MAX_NDIM + 1];
} nonzero;

static const char *name_of(const nonzero *z)
{
    return z->n_axes ? "nonzero" : "argwhere";
}

static kiln_status check(const nonzero *z, const kn_described *in)
{
    if (in->is_number)
        return kn_error(KILN_ERROR_TYPE, "%s: a number was given; an array was expected", name_of(z));
    if (z->axis >= in->ndim)
        return kn_error(KILN_ERROR_SHAPE,
                        "nonzero: the indices along axis %d were asked for; the array has %d axes", z->axis,
                        in->ndim);
    if (z->n_axes && z->axis < 0 && z->n_axes != in->ndim)
        return kn_error(KILN_ERROR_SHAPE, "nonzero: %d results were asked for; the array has %d axes",
                        z->n_axes, in->ndim);
    return KILN_OK;
}

static kiln_status describe(kn_described *out, const void *context, int j, const kn_described *in)
{
    const nonzero *z = context;
    (void)j;
    kiln_status status = check(z, in);
    *out = (kn_described){.dtype = KILN_INT64, .ndim = z->n_axes ? 1 : 2, .is_late = true, .takes_any = true};
    out->shape[0] = kn_shape_size(in->ndim, in->shape);
    out->shape[1] = in->ndim;
    return status;
}

/* ---- selections, one for each number of axes ---- */

typedef struct selected {
    int ndim, axis;
    bool is_small; /* fewer than 2^31 elements, whose quotients are those of 32 bits */
} selected;

static bool is_wanted(const selected *s, int axis)
{
    return s->axis < 0 || s->axis == axis;
}

/* The elements of an array without axes are counted alone. */
static kiln_status make_selected(kiln_kernel **out, const void *of)
{
    const selected *s = of;
    const char *whole = s->is_small ? "uint32" : "uint64";
    kn_str in = KN_STR_INIT, outs = KN_STR_INIT, body = KN_STR_INIT;
    kn_str_append(&in, "T x");
    kn_str_printf(&body, "%s rest = (%s)i;\n", whole, whole);
    for (int a = s->ndim; a-- > 0;) {
        if (a > 0)
            kn_str_printf(&in, ", int64 n%d", a);
        if (is_wanted(s, a))
            kn_str_printf(&outs, "%sint64 at%d", outs.length > 0 ? ", " : "", a);
        if (is_wanted(s, a) && a > 0)
            kn_str_printf(&body, "at%d = rest %% (%s)n%d;\n", a, whole, a);
        else if (is_wanted(s, a))
            kn_str_append(&body, "at0 = rest;\n");
        if (a > 0)
            kn_str_printf(&body, "rest /= (%s)n%d;\n", whole, a);
    }
    if (s->ndim == 0) {
        kn_str_append(&outs, "int64 none");
        kn_str_append(&body, "none = rest;\n");
    }
    kiln_status status = kn_str_status(&in, "a selection's texts");
    if (status == KILN_OK)
        status = kn_str_status(&outs, "a selection's texts");
    if (status == KILN_OK)
        status = kn_str_status(&body, "a selection's texts");
    if (status == KILN_OK)
        status = kiln_select_create(out, kn_str_text(&in), kn_str_text(&outs), "x != (T)0",
                                    kn_str_text(&body), "nonzero", NULL);
    kn_str_free(&in);
    kn_str_free(&outs);
    kn_str_free(&body);
    return status;
}

/* The selection lives as long as the kernel. */
static kiln_status find_selected(const kiln_kernel **out, const nonzero *z, const kiln_array *x)
{
    const selected s = {.ndim = x->ndim, .axis = z->axis, .is_small = x->size < INT32_MAX};
    _Atomic(kiln_kernel *) *place = (_Atomic(kiln_kernel *) *)&z->selected[s.is_small][s.ndim];
    kiln_kernel *made = NULL, *known = atomic_load(place);
    *out = known;
    if (known)
        return KILN_OK;
    kiln_status status = make_selected(&made, &s);
    if (status != KILN_OK)
        return status;
    if (!atomic_compare_exchange_strong(place, &known, made))
        kiln_kernel_free(made);
    *out = known ? known : made;
    return KILN_OK;
}

/* ---- lowering ---- */

/* The indices along an axis: a result, or a column of argwhere's. */
static kiln_status bind_indices(kn_lowered_part *part, int at, const nonzero *z, const kn_lowering_call *call,
                                int axis)
{
    const kiln_array *x = call->in[0].value.array;
    const int j = !z->n_axes || z->axis >= 0 ? 0 : axis;
    const kiln_array *given = call->out ? call->out[j] : NULL;
    const int64_t item = sizeof(int64_t), column = given ? given->strides[z->n_axes ? 0 : 1] : item,
                  stride = given       ? given->strides[0]
                           : z->n_axes ? item
                                       : item * x->ndim;
    const kn_source source = {
        .kind = KN_FROM_OUTPUT, .index = j, .shift = z->n_axes ? 0 : (ptrdiff_t)(axis * column)};
    return kn_lowered_bind(part, at, call, &source, KILN_INT64, 1, given ? given->shape : &x->size, &stride);
}

static kiln_status bind_selected(kn_lowered_part *part, const nonzero *z, const kn_lowering_call *call,
                                 const kn_source *found)
{
    const kiln_array *x = call->in[0].value.array;
    const kn_source none = {.kind = KN_FROM_BUFFER, .index = found->index, .shift = sizeof(int64_t)};
    const int64_t one = 1;
    int at = 0;
    kiln_status status = kn_lowered_bind_input(part, at++, call, 0, x->dtype);
    for (int a = x->ndim; a-- > 1;)
        kn_lowered_bind_integer(part, at++, x->shape[a]);
    for (int a = x->ndim; a-- > 0 && status == KILN_OK;)
        if (z->axis < 0 || z->axis == a)
            status = bind_indices(part, at++, z, call, a);
    if (status == KILN_OK && x->ndim == 0)
        status = kn_lowered_bind(part, at++, call, &none, KILN_INT64, 1, &one, NULL);
    return status == KILN_OK ? kn_lowered_bind(part, at, call, found, KILN_INT64, 0, NULL, NULL) : status;
}

static kiln_status lower(kn_lowered *out, const void *context, const kn_lowering_call *call)
{
    const nonzero *z = context;
    kn_source found = {.kind = KN_FROM_BUFFER};
    const kiln_kernel *kernel = NULL;
    kn_lowered_part *part;
    kn_described in;
    memset(&in, 0, sizeof in);
    kn_describe_arguments(&in, call->in, 1);
    kiln_status status = check(z, &in);
    if (status == KILN_OK)
        status = find_selected(&kernel, z, call->in[0].value.array);
    if (status == KILN_OK)
        status = kn_lowered_add_source(&found, out, 2 * sizeof(int64_t));
    if (status == KILN_OK)
        status = kn_lowered_add_kernel(&part, out, kernel);
    if (status == KILN_OK)
        status = bind_selected(part, z, call, &found);
    for (int j = 0; j < (z->n_axes ? z->n_axes : 1); ++j)
        out->late[j] = (kn_late){true, found, 0};
    return status;
}

static void release(void *context)
{
    nonzero *z = context;
    for (int small = 0; small < 2; ++small)
        for (int ndim = 0; ndim <= KILN_MAX_NDIM; ++ndim)
            kiln_kernel_free(atomic_load(&z->selected[small][ndim]));
    kn_free(z);
}

static const kn_algorithm algorithm = {.describe = describe, .lower = lower, .free = release};

static kiln_status make(kiln_kernel **out, const void *of)
{
    static const char *const x[] = {"x"};
    char own[KILN_MAX_NDIM][16];
    const char *results[KILN_MAX_NDIM];
    kn_program *prototype = NULL;
    const nonzero *like = of;
    nonzero *z = kn_calloc(1, sizeof *z);
    if (!z)
        return kn_error_memory("a kernel");
    z->n_axes = like->n_axes;
    z->axis = like->axis;
    const int count = z->n_axes ? z->n_axes : 1;
    for (int j = 0; j < count; ++j) {
        snprintf(own[j], sizeof own[j], "at%d", j);
        results[j] = own[j];
    }
    kiln_status status = kn_prototype_create(&prototype, name_of(z), x, 1, results, count);
    if (status == KILN_OK)
        return kn_kernel_create_algorithm(out, prototype, &algorithm, z);
    release(z);
    return status;
}

kiln_status kn_nonzero_find(kiln_kernel **out, int n_axes, int axis)
{
    const nonzero z = {.n_axes = n_axes, .axis = axis};
    kn_str key = KN_STR_INIT;
    kn_str_printf(&key, "nonzero %d %d", n_axes, axis);
    kiln_status status = n_axes <= KN_MAX_PARAMS / 2
                             ? kn_kernel_remembered(out, &key, make, &z)
                             : kn_error(KILN_ERROR_INVALID, "nonzero: %d results; at most %d are possible",
                                        n_axes, KN_MAX_PARAMS / 2);
    kn_str_free(&key);
    return status;
}
