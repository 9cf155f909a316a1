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
    out->dtype = kn_promote_all(&in->dtype, sizeof *in, a->n_in);
    for (int k = 1; k < a->n_in; ++k) {
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

/* ---- lists of places along an axis ---- */

/* *out: the place, counted from the front; of an insertion it may be behind the last element. */
static kiln_status settle_place(int64_t *out, const arranged *a, int64_t given, int64_t extent)
{
    const bool inserts = a->of.what == KN_ARRANGE_INSERT;
    *out = given + (given < 0 ? extent : 0);
    return *out >= 0 && *out < extent + inserts
               ? KILN_OK
               : kn_error(KILN_ERROR_INVALID, "%s: index %lld was given; axis %d has %lld elements", a->name,
                          (long long)given, a->of.axis[0].axis, (long long)extent);
}

/* The places in ascending order, equal ones in the order in which they were given; number: which ones. */
static kiln_status sort_places(int64_t *place, int *number, const arranged *a, int64_t extent)
{
    for (int k = 0; k < a->of.n_list; ++k) {
        int64_t own;
        kiln_status status = settle_place(&own, a, a->of.list[k], extent);
        if (status != KILN_OK)
            return status;
        int at = k;
        for (; at > 0 && place[at - 1] > own; --at) {
            place[at] = place[at - 1];
            number[at] = number[at - 1];
        }
        place[at] = own;
        number[at] = k;
    }
    return KILN_OK;
}

/* The axis of the result along which axis e of the inserted array stands. A number's elements are inserted
 * along the first axis, as NumPy has it. */
static int inserted_axis(const arranged *a, const kn_described *in, int e, int axis)
{
    const int d = e + in[0].ndim - in[1].ndim;
    return !a->of.is_one ? d : d == 0 ? axis : d <= axis ? d - 1 : d;
}

static kiln_status describe_inserted(int64_t *count, const arranged *a, const kn_described *in, int axis)
{
    if (in[1].ndim > in[0].ndim)
        return kn_error(KILN_ERROR_SHAPE, "%s: values: %d axes were given; at most %d were expected", a->name,
                        in[1].ndim, in[0].ndim);
    *count = a->of.is_one ? 1 : a->of.n_list;
    for (int e = 0; e < in[1].ndim; ++e) {
        const int d = inserted_axis(a, in, e, axis);
        const int64_t extent = in[1].shape[e], expected = d == axis ? a->of.n_list : in[0].shape[d];
        if (d == axis && a->of.is_one)
            *count = extent;
        else if (extent != 1 && extent != expected)
            return kn_error(KILN_ERROR_SHAPE,
                            "%s: values: axis %d has %lld elements; 1 or %lld were expected", a->name, e,
                            (long long)extent, (long long)expected);
    }
    return KILN_OK;
}

/* Changes the extent of the axis of a list. */
static kiln_status describe_listed(int64_t *extent, const arranged *a, const kn_described *in, int axis)
{
    int64_t place[KN_ARRANGED_LIST], count = 0;
    int number[KN_ARRANGED_LIST];
    kiln_status status = KILN_OK;
    if (a->of.what == KN_ARRANGE_COUNTS) {
        if (a->of.n_list != *extent && a->of.n_list != 1)
            return kn_error(KILN_ERROR_SHAPE, "%s: repeats: %d numbers were given; axis %d has %lld elements",
                            a->name, a->of.n_list, a->of.axis[0].axis, (long long)*extent);
        for (int k = 0; k < a->of.n_list; ++k)
            if (__builtin_add_overflow(count, a->of.list[k], &count))
                return kn_error(KILN_ERROR_SHAPE, "%s: an axis would have more elements than there can be",
                                a->name);
        *extent = count;
        return KILN_OK;
    }
    status = sort_places(place, number, a, *extent);
    if (status == KILN_OK && a->of.what == KN_ARRANGE_INSERT)
        status = describe_inserted(&count, a, in, axis);
    for (int k = 0; k < a->of.n_list && a->of.what == KN_ARRANGE_DELETE && status == KILN_OK; ++k)
        count -= k == 0 || place[k] != place[k - 1];
    *extent += count;
    return status;
}

static bool has_list(const arranged *a)
{
    return a->of.what == KN_ARRANGE_COUNTS || a->of.what == KN_ARRANGE_DELETE ||
           a->of.what == KN_ARRANGE_INSERT;
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
        if (given == KN_ALL_FLAT)
            continue;
        if (given != KN_EACH_AXIS && (axis < 0 || axis >= in->ndim))
            return refuse_axis(a, given, in->ndim);
        if (given != KN_EACH_AXIS && status == KILN_OK)
            status = has_list(a) ? describe_listed(&out->shape[axis], a, in, axis)
                                 : change_extent(&out->shape[axis], a, &a->of.axis[k]);
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

/* The number of the inserted element, or -1, and k without the inserted ones before it. */
static kiln_status write_insertion(kn_str *body, const arranged *a, const kn_described *in, int axis)
{
    int64_t place[KN_ARRANGED_LIST] = {0}, count = 0;
    int number[KN_ARRANGED_LIST];
    kiln_status status = sort_places(place, number, a, in->shape[axis]);
    if (status == KILN_OK)
        status = describe_inserted(&count, a, in, axis);
    const long long first = place[0], more = count;
    if (status == KILN_OK && a->of.is_one)
        kn_str_printf(
            body, "inserted = k >= %lldll && k < %lldll ? k - %lldll : -1;\nk -= k >= %lldll ? %lldll : 0;\n",
            first, first + more, first, first + more, more);
    if (status == KILN_OK && !a->of.is_one) {
        kn_str_append(body, "int64 before = 0;\n");
        for (int r = 0; r < a->of.n_list; ++r)
            kn_str_printf(body, "inserted = k == %lldll ? %d : inserted;\nbefore += k > %lldll;\n",
                          (long long)place[r] + r, number[r], (long long)place[r] + r);
        kn_str_append(body, "k -= before;\n");
    }
    return status;
}

/* The C-order index of the inserted element. */
static void write_inserted(kn_str *body, const arranged *a, const kn_described *in)
{
    const int given = a->of.axis[0].axis, axis = given + (given < 0 ? in->ndim : 0);
    kn_str_append(body, "int64 v = 0;\n");
    for (int e = 0; e < in[1].ndim; ++e) {
        const int d = inserted_axis(a, in, e, axis);
        kn_str_printf(body, "v *= x1.shape()[%d];\n", e);
        if (in[1].shape[e] != 1 && d == axis)
            kn_str_append(body, "v += inserted;\n");
        else if (in[1].shape[e] != 1)
            kn_str_printf(body, "v += place.at[%d];\n", d);
    }
}

/* From k, the index of a result along the axis of a list, to that of the element. */
static kiln_status write_listed(kn_str *body, const arranged *a, const kn_described *in, int axis)
{
    int64_t place[KN_ARRANGED_LIST], end = 0;
    int number[KN_ARRANGED_LIST];
    if (a->of.what == KN_ARRANGE_INSERT)
        return write_insertion(body, a, in, axis);
    if (a->of.what == KN_ARRANGE_COUNTS) {
        kn_str_append(body, "int64 from = 0;\n");
        for (int k = 0; k + 1 < a->of.n_list; ++k) {
            end += a->of.list[k];
            kn_str_printf(body, "from += k >= %lldll;\n", (long long)end);
        }
        kn_str_append(body, "k = from;\n");
        return KILN_OK;
    }
    kiln_status status = sort_places(place, number, a, in->shape[axis]);
    for (int k = 0; k < a->of.n_list && status == KILN_OK; ++k)
        if (k == 0 || place[k] != place[k - 1])
            kn_str_printf(body, "k += k >= %lldll;\n", (long long)place[k]);
    return status;
}

/* From k, the index of a result along an axis, to that of the element among n. */
static void write_index(kn_str *body, const arranged *a, const kn_arranged_axis *by)
{
    static const char *const pads[KN_PADS] = {
        [KN_PAD_CONSTANT] = "is_outside |= k < 0 || k >= n;\nk = k < 0 || k >= n ? 0 : k;\n",
        [KN_PAD_EDGE] = "k = k < 0 ? 0 : k >= n ? n - 1 : k;\n",
        [KN_PAD_WRAP] = "k %= n;\nk += k < 0 ? n : 0;\n",
        [KN_PAD_REFLECT] =
            "const int64 p = n > 1 ? 2 * n - 2 : 1;\nk %= p;\nk += k < 0 ? p : 0;\nk = k >= n ? p - k : k;\n",
        [KN_PAD_SYMMETRIC] = "k %= 2 * n;\nk += k < 0 ? 2 * n : 0;\nk = k >= n ? 2 * n - 1 - k : k;\n"};
    const long long first = (long long)by->first;
    switch (a->of.what) {
    case KN_ARRANGE_ROLL:
        kn_str_printf(body, "k = (k - (%lldll) %% n) %% n;\nk += k < 0 ? n : 0;\n", first);
        break;
    case KN_ARRANGE_HALF:
        kn_str_printf(body, "k = (k + n %s n / 2) %% n;\n", first < 0 ? "+" : "-");
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
    case KN_ARRANGE_COUNTS: /* lists: write_listed */
    case KN_ARRANGE_DELETE:
    case KN_ARRANGE_INSERT:
        break;
    }
}

/* A roll of all elements, by the sum of its numbers. */
static void write_rolled(kn_str *body, const arranged *a)
{
    kn_str_append(body, "const int64 n = x0.size();\nint64 k = i;\n");
    for (int e = 0; e < a->of.count; ++e)
        write_index(body, a, &a->of.axis[e]);
    kn_str_append(body, "y = (Y)x0[k];\n");
}

static kiln_status write_arranged(kn_str *body, const arranged *a, const kn_described *in)
{
    const bool has_outside = a->of.what == KN_ARRANGE_PAD && a->of.pad == KN_PAD_CONSTANT,
               inserts = a->of.what == KN_ARRANGE_INSERT;
    kiln_status status = KILN_OK;
    if (a->of.count > 0 && a->of.axis[0].axis == KN_ALL_FLAT) {
        write_rolled(body, a);
        return KILN_OK;
    }
    kn_str_append(body, "auto place = _ind.get();\n");
    if (has_outside)
        kn_str_append(body, "bool is_outside = false;\n");
    if (inserts)
        kn_str_append(body, "int64 inserted = -1;\n");
    for (int e = 0; e < a->of.count; ++e) {
        const int axis = a->of.axis[e].axis;
        if (axis == KN_EACH_AXIS && in->ndim == 0)
            continue;
        if (axis == KN_EACH_AXIS)
            kn_str_append(body, "for (int axis = 0; axis < x0.ndim; ++axis) {\n");
        else
            kn_str_printf(body, "{\nconst int axis = %d%s;\n", axis, axis < 0 ? " + x0.ndim" : "");
        kn_str_append(body,
                      "[[maybe_unused]] const int64 n = x0.shape()[axis];\nint64 k = place.at[axis];\n");
        if (has_list(a))
            status = write_listed(body, a, in, axis + (axis < 0 ? in->ndim : 0));
        else
            write_index(body, a, &a->of.axis[e]);
        kn_str_append(body, "place.at[axis] = k;\n}\n");
    }
    if (inserts) {
        write_inserted(body, a, in);
        kn_str_append(body, "if (inserted >= 0)\n    y = (Y)x1[v];\nelse\n    y = (Y)x0[place];\n");
    } else if (has_outside)
        kn_str_printf(body, "y = (Y)(%s%s);\nif (!is_outside)\n    y = (Y)x0[place];\n", a->of.outside,
                      strchr(a->of.outside, '.') ? "" : "ll");
    else
        kn_str_append(body, "y = (Y)x0[place];\n");
    return status;
}

static kiln_status make_program(kn_program **out, const arranged *a, const kn_described *in, kiln_dtype dtype)
{
    kn_str inputs = KN_STR_INIT, output = KN_STR_INIT, body = KN_STR_INIT;
    for (int k = 0; k < a->n_in; ++k)
        kn_str_printf(&inputs, "%sraw %s x%d", k > 0 ? ", " : "", kiln_dtype_name(in[k].dtype), k);
    kn_str_printf(&output, "%s y", kiln_dtype_name(dtype));
    kn_str_printf(&body, "[[maybe_unused]] typedef %s Y;\n", kiln_dtype_name(dtype));
    kiln_status status = KILN_OK;
    if (a->joins)
        write_joined(&body, a);
    else
        status = write_arranged(&body, a, in);
    if (status == KILN_OK)
        return kn_program_written(out, &inputs, &output, &body, a->name, NULL);
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
        return kn_error_memory("the arguments of a call");
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
        return kn_error_memory("a kernel");
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
    kn_str_printf(&key, " %d:", a->of.is_one);
    for (int k = 0; k < a->of.n_list; ++k)
        kn_str_printf(&key, " %lld", (long long)a->of.list[k]);
    kiln_status status = kn_kernel_remembered(out, &key, make, a);
    kn_str_free(&key);
    return status;
}

kiln_status kn_arranged_find(kiln_kernel **out, const char *name, const kn_arranged *of)
{
    arranged a = {.n_in = 1 + (of->what == KN_ARRANGE_INSERT), .of = *of};
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
