/* Results that are elements of the inputs at other places: one program, which reads its inputs as raw arrays
 * at the index of each result. It is made for the dtypes of a call. */
#include "kernel/arranged.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "kernel/algorithm.h"
#include "kernel/sort.h"
#include "program/program.h"
#include "space/shape.h"

typedef struct arranged {
    char name[32];
    int n_in, join_axis; /* of a join */
    bool joins;
    kn_arranged of;
} arranged;

/* ---- shapes ---- */

static kiln_status refuse_axis(const arranged *a, int axis, int ndim)
{
    return kn_error(KILN_ERROR_SHAPE, "%s: axis %d was given; the array has %d", a->name, axis, ndim);
}

static kiln_status describe_joined(kn_described *out, const arranged *a, const kn_described *in)
{
    const int ndim = in->ndim, given = a->join_axis == KN_JOIN_HSTACK ? ndim > 1 : a->join_axis,
              axis = given + (given < 0 ? ndim : 0);
    if (axis < 0 || axis >= ndim)
        return refuse_axis(a, given, ndim);
    for (int k = 1; k < a->n_in; ++k) {
        kiln_status status = kiln_dtype_promote(&out->dtype, out->dtype, in[k].dtype);
        if (status != KILN_OK)
            return status;
        for (int d = 0; d < ndim; ++d)
            if (in[k].ndim != ndim || (d != axis && in[k].shape[d] != in->shape[d]))
                return kn_error(KILN_ERROR_SHAPE,
                                "%s: array %d has another shape than the first one, beside axis %d", a->name,
                                k, axis);
        if (__builtin_add_overflow(out->shape[axis], in[k].shape[axis], &out->shape[axis]))
            return kn_error(KILN_ERROR_SHAPE, "%s: axis %d would have more elements than there can be",
                            a->name, axis);
    }
    return KILN_OK;
}

static kiln_status change_extent(int64_t *extent, const arranged *a, const kn_arranged_axis *by)
{
    bool is_wrong = false;
    if (a->of.what == KN_ARRANGE_REPEAT || a->of.what == KN_ARRANGE_TILE)
        is_wrong = __builtin_mul_overflow(*extent, by->first, extent);
    if (a->of.what == KN_ARRANGE_PAD && *extent == 0 && a->of.pad != KN_PAD_CONSTANT &&
        by->first + by->last > 0)
        return kn_error(KILN_ERROR_SHAPE, "%s: an axis without elements can be padded by a constant alone",
                        a->name);
    if (a->of.what == KN_ARRANGE_PAD)
        is_wrong = __builtin_add_overflow(*extent, by->first, extent) ||
                   __builtin_add_overflow(*extent, by->last, extent);
    return !is_wrong ? KILN_OK
                     : kn_error(KILN_ERROR_SHAPE, "%s: an axis would have more elements than there can be",
                                a->name);
}

static kiln_status describe(kn_described *out, const void *context, int j, const kn_described *in)
{
    const arranged *a = context;
    kiln_status status = KILN_OK;
    (void)j;
    for (int k = 0; k < a->n_in; ++k)
        if (in[k].is_number)
            return kn_error(KILN_ERROR_TYPE, "%s: argument %d is a number here; an array was expected",
                            a->name, k);
    *out = (kn_described){.dtype = in->dtype, .ndim = in->ndim};
    memcpy(out->shape, in->shape, sizeof out->shape);
    if (a->joins)
        return describe_joined(out, a, in);
    for (int k = 0; k < a->of.count && status == KILN_OK; ++k) {
        const int given = a->of.axis[k].axis, axis = given + (given < 0 ? in->ndim : 0);
        for (int d = 0; given == KN_EACH_AXIS && d < in->ndim && status == KILN_OK; ++d)
            status = change_extent(&out->shape[d], a, &a->of.axis[k]);
        if (given != KN_EACH_AXIS && (axis < 0 || axis >= in->ndim))
            return refuse_axis(a, given, in->ndim);
        if (given != KN_EACH_AXIS && status == KILN_OK)
            status = change_extent(&out->shape[axis], a, &a->of.axis[k]);
    }
    return status;
}

/* ---- texts ---- */

static void write_joined(kn_str *body, const arranged *a)
{
    kn_str_append(body, "auto place = _ind.get();\n");
    if (a->join_axis == KN_JOIN_HSTACK)
        kn_str_append(body, "const int axis = x0.ndim > 1;\n");
    else
        kn_str_printf(body, "const int axis = %d%s;\n", a->join_axis, a->join_axis < 0 ? " + x0.ndim" : "");
    kn_str_append(body, "int64 k = place.at[axis];\n");
    for (int n = 0; n < a->n_in; ++n) {
        const bool is_last = n == a->n_in - 1;
        if (!is_last)
            kn_str_printf(body, "if (k < x%d.shape()[axis])\n", n);
        kn_str_printf(body, "{\n    place.at[axis] = k;\n    y = (Y)x%d[place];\n}", n);
        kn_str_append(body, is_last ? "\n" : " else {\n");
        if (!is_last)
            kn_str_printf(body, "k -= x%d.shape()[axis];\n", n);
    }
    for (int n = 0; n < a->n_in - 1; ++n)
        kn_str_append(body, "}\n");
}

/* From k, the index of a result along an axis, to that of the element among n. */
static void write_index(kn_str *body, const arranged *a, const kn_arranged_axis *by)
{
    static const char *const pads[KN_PADS] = {
        [KN_PAD_CONSTANT] = "is_outside |= k < 0 || k >= n;\nk = k < 0 || k >= n ? 0 : k;\n",
        [KN_PAD_EDGE] = "k = k < 0 ? 0 : k >= n ? n - 1 : k;\n",
        [KN_PAD_WRAP] = "k %= n;\nk += k < 0 ? n : 0;\n",
        [KN_PAD_REFLECT] =
            "const int64 period = n > 1 ? 2 * n - 2 : 1;\nk %= period;\nk += k < 0 ? period : 0;\n"
            "k = k >= n ? period - k : k;\n",
        [KN_PAD_SYMMETRIC] = "k %= 2 * n;\nk += k < 0 ? 2 * n : 0;\nk = k >= n ? 2 * n - 1 - k : k;\n"};
    const long long first = (long long)by->first;
    switch (a->of.what) {
    case KN_ARRANGE_ROLL:
        kn_str_printf(body, "k = (k - (%lldll) %% n) %% n;\nk += k < 0 ? n : 0;\n", first);
        break;
    case KN_ARRANGE_REPEAT:
        kn_str_printf(body, "k /= %lldll;\n", first);
        break;
    case KN_ARRANGE_TILE:
        kn_str_append(body, "k %= n;\n");
        break;
    case KN_ARRANGE_PAD:
        kn_str_printf(body, "k -= %lldll;\n%s", first, pads[a->of.pad]);
        break;
    }
}

static void write_arranged(kn_str *body, const arranged *a)
{
    const bool has_outside = a->of.what == KN_ARRANGE_PAD && a->of.pad == KN_PAD_CONSTANT;
    kn_str_append(body, "auto place = _ind.get();\n");
    if (has_outside)
        kn_str_append(body, "bool is_outside = false;\n");
    for (int e = 0; e < a->of.count; ++e) {
        const int axis = a->of.axis[e].axis;
        if (axis == KN_EACH_AXIS)
            kn_str_append(body, "for (int axis = 0; axis < x0.ndim; ++axis) {\n");
        else
            kn_str_printf(body, "{\nconst int axis = %d%s;\n", axis, axis < 0 ? " + x0.ndim" : "");
        kn_str_append(body, "const int64 n = x0.shape()[axis];\nint64 k = place.at[axis];\n");
        write_index(body, a, &a->of.axis[e]);
        kn_str_append(body, "place.at[axis] = k;\n}\n");
    }
    if (has_outside)
        kn_str_printf(body, "y = (Y)(%s);\nif (!is_outside)\n    y = (Y)x0[place];\n", a->of.outside);
    else
        kn_str_append(body, "y = (Y)x0[place];\n");
}

static kiln_status make_program(kn_program **out, const arranged *a, const kn_described *in, kiln_dtype dtype)
{
    kn_str inputs = KN_STR_INIT, output = KN_STR_INIT, body = KN_STR_INIT;
    for (int k = 0; k < a->n_in; ++k)
        kn_str_printf(&inputs, "%sraw %s x%d", k > 0 ? ", " : "", kiln_dtype_name(in[k].dtype), k);
    kn_str_printf(&output, "%s y", kiln_dtype_name(dtype));
    kn_str_printf(&body, "typedef %s Y;\n", kiln_dtype_name(dtype));
    if (a->joins)
        write_joined(&body, a);
    else
        write_arranged(&body, a);
    kiln_status status = kn_str_status(&inputs, "the texts of a kernel");
    if (status == KILN_OK)
        status = kn_str_status(&output, "the texts of a kernel");
    if (status == KILN_OK)
        status = kn_str_status(&body, "the texts of a kernel");
    if (status == KILN_OK)
        status = kn_program_elementwise(out, kn_str_text(&inputs), kn_str_text(&output), kn_str_text(&body),
                                        a->name, NULL);
    kn_str_free(&inputs);
    kn_str_free(&output);
    kn_str_free(&body);
    return status;
}

/* ---- the kernel ---- */

static kiln_status lower(kn_lowered *out, const void *context, const kn_lowering_call *call)
{
    const arranged *a = context;
    kn_described *in = kn_calloc((size_t)a->n_in + 1, sizeof *in), *result = in ? in + a->n_in : NULL;
    kn_lowered_part *part;
    kn_program *program = NULL;
    if (!in)
        return kn_error_memory(((size_t)a->n_in + 1) * sizeof *in, "the arguments of a call");
    kn_describe_arguments(in, call->in, a->n_in);
    kiln_status status = describe(result, a, 0, in);
    if (status == KILN_OK && kn_shape_size(result->ndim, result->shape) > 0) {
        status = make_program(&program, a, in, result->dtype);
        if (status == KILN_OK)
            status = kn_lowered_add_program(&part, out, program);
        for (int k = 0; k < a->n_in && status == KILN_OK; ++k)
            status = kn_lowered_bind_input(part, k, call, k, in[k].dtype);
        if (status == KILN_OK)
            status =
                kn_lowered_bind_output(part, a->n_in, call, 0, result->dtype, result->ndim, result->shape);
    }
    kn_free(in);
    return status;
}

static const kn_algorithm algorithm = {.describe = describe, .lower = lower, .free = kn_free};

static kiln_status make(kiln_kernel **out, const void *of)
{
    static const char *const y = "y";
    char names[KN_MAX_PARAMS][16];
    const char *in[KN_MAX_PARAMS];
    kn_program *prototype = NULL;
    arranged *a = kn_malloc(sizeof *a);
    if (!a)
        return kn_error_memory(sizeof *a, "a kernel");
    *a = *(const arranged *)of;
    for (int k = 0; k < a->n_in; ++k) {
        snprintf(names[k], sizeof names[k], "x%d", k);
        in[k] = names[k];
    }
    kiln_status status = kn_prototype_create(&prototype, a->name, in, a->n_in, &y, 1);
    if (status == KILN_OK)
        return kn_kernel_create_algorithm(out, prototype, &algorithm, a);
    kn_free(a);
    return status;
}

static kiln_status find(kiln_kernel **out, const char *name, arranged *a)
{
    kn_str key = KN_STR_INIT;
    snprintf(a->name, sizeof a->name, "%s", name);
    kn_str_printf(&key, "%s %d %d %d %d %d %s", name, a->n_in, a->join_axis, a->joins, a->of.what, a->of.pad,
                  a->of.outside);
    for (int k = 0; k < a->of.count; ++k)
        kn_str_printf(&key, " %d %lld %lld", a->of.axis[k].axis, (long long)a->of.axis[k].first,
                      (long long)a->of.axis[k].last);
    kiln_status status = kn_kernel_remembered(out, &key, make, a);
    kn_str_free(&key);
    return status;
}

kiln_status kn_arranged_find(kiln_kernel **out, const char *name, const kn_arranged *of)
{
    arranged a = {.n_in = 1, .of = *of};
    return find(out, name, &a);
}

kiln_status kn_join_find(kiln_kernel **out, const char *name, int n_in, int axis)
{
    arranged a = {.n_in = n_in, .join_axis = axis, .joins = true};
    if (n_in < 1 || n_in > KN_MAX_PARAMS - 1)
        return kn_error(KILN_ERROR_INVALID, "%s: %d arrays were given; 1 to %d were expected", name, n_in,
                        KN_MAX_PARAMS - 1);
    return find(out, name, &a);
}
