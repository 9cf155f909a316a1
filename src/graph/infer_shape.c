/* The shapes of nodes. */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "graph/constant_folding.h"
#include "graph/infer_parts.h"
#include "graph/subscripts.h"
#include "graph/rearranged_axes.h"
#include "space/shape.h"
#include "types/dtype.h"

__extension__ typedef __int128 wide;

static const kn_typed *read_by(const kn_inference *f, const kn_node *node, int k)
{
    return &f->typed[node->in[k]];
}

/* A shape as text: "(3, 4)", shortened if it is long. */
typedef struct shape_text {
    char text[120];
} shape_text;

static shape_text shape_words(int ndim, const int64_t *shape)
{
    shape_text words;
    kn_str s = KN_STR_INIT;
    kn_shape_format(&s, ndim, shape);
    size_t length = s.length < sizeof words.text ? s.length : sizeof words.text - 1;
    memcpy(words.text, kn_str_text(&s), length);
    words.text[length] = 0;
    kn_str_free(&s);
    return words;
}

/* ---- calls ---- */

/* As x[mask] alone (kernel/indexed.c) refuses masks. */
kiln_status kn_infer_mask(const kn_inference *f, const kn_node *node)
{
    const kn_typed *mask = read_by(f, node, 0), *x = read_by(f, node, 1);
    const int left = x->ndim - mask->ndim;
    bool fits = node->masked == KN_MASKED_LAST ? left >= 0 : left == 0;
    if (mask->dtype != KILN_BOOL)
        return kn_graph_error(f->graph, node, KILN_ERROR_TYPE,
                              "masked: 'mask' is bool here, but an array of %s was given",
                              kiln_dtype_name(mask->dtype));
    for (int a = 0; a < mask->ndim && fits; ++a)
        fits = mask->shape[a] == x->shape[left + a];
    if (fits)
        return KILN_OK;
    return kn_graph_error(f->graph, node, KILN_ERROR_SHAPE,
                          "masked: the mask has shape %s, and x %s%s; %s were expected",
                          shape_words(mask->ndim, mask->shape).text, shape_words(x->ndim, x->shape).text,
                          node->masked == KN_MASKED_LAST ? ", their axes reversed" : "",
                          node->masked == KN_MASKED_LAST ? "the extents of leading axes" : "equal ones");
}

kiln_status kn_infer_broadcast(kn_inference *f, const kn_node *node)
{
    for (int k = 0; k < node->n_in; ++k) {
        const kn_typed *in = read_by(f, node, k);
        if (kn_node_reads_raw(node, k) || kn_shape_broadcast(&f->ndim, f->shape, in->ndim, in->shape))
            continue;
        return kn_graph_error(f->graph, node, KILN_ERROR_SHAPE, "shapes %s and %s do not broadcast",
                              shape_words(f->ndim, f->shape).text, shape_words(in->ndim, in->shape).text);
    }
    return KILN_OK;
}

static kiln_status read_axes(uint64_t *out, const kn_inference *f, const kn_node *node)
{
    *out = 0;
    for (int k = 0; k < node->n_axes; ++k) {
        int axis = node->axis[k] + (node->axis[k] < 0 ? f->ndim : 0);
        if (axis < 0 || axis >= f->ndim)
            return kn_graph_error(f->graph, node, KILN_ERROR_INVALID,
                                  "axis %d was given; the arguments' shape has %d", node->axis[k], f->ndim);
        if (*out >> axis & 1)
            return kn_graph_error(f->graph, node, KILN_ERROR_INVALID, "axis %d was given before",
                                  node->axis[k]);
        *out |= UINT64_C(1) << axis;
    }
    return KILN_OK;
}

kiln_status kn_infer_reduce(kn_typed *out, kn_inference *f, const kn_node *node)
{
    int ndim = 0, empty = -1;
    out->axes = f->ndim == 0 ? 0 : UINT64_MAX >> (64 - f->ndim);
    /* of an array without axes the first one, or the last, may be named, as in NumPy */
    const bool is_free = f->ndim == 0 && node->n_axes == 1 && (node->axis[0] == 0 || node->axis[0] == -1);
    kiln_status status = node->has_axes && !is_free ? read_axes(&out->axes, f, node) : KILN_OK;
    if (status != KILN_OK)
        return status;
    for (int a = 0; a < f->ndim; ++a) {
        bool is_reduced = out->axes >> a & 1;
        empty = is_reduced && f->shape[a] == 0 ? a : empty;
        if (!is_reduced || node->keepdims)
            f->shape[ndim++] = is_reduced ? 1 : f->shape[a];
    }
    f->ndim = ndim;
    if (empty >= 0 && !kn_infer_has_identity(out, node))
        return kn_graph_error(f->graph, node, KILN_ERROR_INVALID,
                              "axis %d has no elements, and there is no identity for what is reduced over it",
                              empty);
    return KILN_OK;
}

kiln_status kn_infer_scan(kn_typed *out, kn_inference *f, const kn_node *node)
{
    out->axes = f->ndim == 0 ? 0 : UINT64_MAX >> (64 - f->ndim);
    if (node->keepdims)
        return kn_graph_error(f->graph, node, KILN_ERROR_INVALID,
                              "keepdims was given, but this is a scan: its result has all axes anyway");
    return node->has_axes ? read_axes(&out->axes, f, node) : KILN_OK;
}

/* ---- views ---- */

kiln_status kn_infer_slice(kn_inference *f, const kn_node *node)
{
    const kn_typed *in = read_by(f, node, 0);
    kn_subscript subscript[KN_SUBSCRIPTS_CAPACITY];
    int count = 0;
    kiln_status status = kn_subscripts_settle(subscript, &count, f->graph, node, in->ndim, in->shape);
    for (int k = 0; k < count && status == KILN_OK; ++k) {
        if (subscript[k].kind == KN_SUBSCRIPT_INDEX)
            continue;
        if (f->ndim == KILN_MAX_NDIM)
            return kn_graph_error(f->graph, node, KILN_ERROR_SHAPE, "more than %d axes are too many",
                                  KILN_MAX_NDIM);
        f->shape[f->ndim++] = subscript[k].kind == KN_SUBSCRIPT_NEW ? 1 : subscript[k].stop;
    }
    return status;
}

kiln_status kn_infer_transpose(kn_inference *f, const kn_node *node)
{
    const kn_typed *in = read_by(f, node, 0);
    kn_rearranged rearranged;
    kiln_status status = kn_rearranged_settle(&rearranged, f->graph, node, in->ndim, in->shape);
    if (status != KILN_OK)
        return status;
    f->ndim = rearranged.ndim;
    memcpy(f->shape, rearranged.shape, (size_t)rearranged.ndim * sizeof *f->shape);
    return KILN_OK;
}

/* A number as one of the expression: one of a dtype is a weak one of the same value. */
static kiln_arg weak_of(const kiln_arg *number)
{
    kiln_arg weak = *number;
    const kn_dtype_kind kind =
        number->kind == KILN_ARG_TYPED ? kn_dtype_info_of((kiln_dtype)number->dtype)->kind : KN_KIND_BOOL;
    if (number->kind == KILN_ARG_TYPED && kn_constant_fold_cast(&weak,
                                                                kind == KN_KIND_FLOAT     ? KILN_FLOAT64
                                                                : kind == KN_KIND_COMPLEX ? KILN_COMPLEX128
                                                                                          : KILN_INT64,
                                                                number))
        weak = kiln_arg_none();
    return weak;
}

bool kn_infer_shape_number(kiln_arg *out, const kn_typed *in)
{
    *out = in->number.kind != KILN_ARG_NONE ? in->number
           : in->from >= 0                  ? weak_of(&in->given)
                                            : kiln_arg_none();
    return out->kind != KILN_ARG_NONE;
}

/* The number that an extent, or a range, is given by input k: of the text, of shapes, or by value, on which
 * the call's plan then depends (computed_numbers.h). */
static kiln_status read_number(kiln_arg *out, const kn_inference *f, const kn_node *node, int k)
{
    if (kn_infer_shape_number(out, read_by(f, node, k)))
        return KILN_OK;
    return kn_graph_error(f->graph, node, KILN_ERROR_INVALID,
                          "the shape would depend on a value; numbers, extents of arrays, and arrays "
                          "without axes were expected");
}

static kiln_status read_whole(int64_t *out, const kn_inference *f, const kn_node *node, int k)
{
    kiln_arg number;
    kiln_status status = read_number(&number, f, node, k);
    if (status == KILN_OK && !kn_weak_to_int64(out, &number))
        return kn_graph_error(f->graph, node, KILN_ERROR_TYPE, "a whole number was expected");
    return status;
}

static kiln_status read_extents(kn_inference *f, const kn_node *node)
{
    int next = 1;
    kiln_status status = KILN_OK;
    for (int a = 0; a < node->n_axes && status == KILN_OK; ++a) {
        f->shape[a] = node->extent[a];
        if (node->extent[a] != KN_EXTENT_READ)
            continue;
        status = read_whole(&f->shape[a], f, node, next++);
        if (status == KILN_OK && f->shape[a] < (node->kind == KN_NODE_RESHAPE ? -1 : 0))
            return kn_graph_error(f->graph, node, KILN_ERROR_SHAPE,
                                  "an extent of %lld was given; one from 0 on was expected",
                                  (long long)f->shape[a]);
    }
    f->ndim = node->n_axes;
    return status;
}

kiln_status kn_infer_reshape(kn_inference *f, const kn_node *node)
{
    const kn_typed *in = read_by(f, node, 0);
    int64_t size = kn_shape_size(in->ndim, in->shape), others = 1;
    int open = -1, n_open = 0;
    kiln_status status = read_extents(f, node);
    if (status != KILN_OK)
        return status;
    for (int a = 0; a < f->ndim; ++a)
        if (f->shape[a] == -1) {
            open = a;
            ++n_open;
        }
    shape_text given = shape_words(f->ndim, f->shape);
    if (open >= 0)
        f->shape[open] = 1;
    others = kn_shape_size(f->ndim, f->shape);
    if (n_open == 1 && others > 0 && size % others == 0)
        f->shape[open] = size / others;
    if (n_open <= 1 && others >= 0 && kn_shape_size(f->ndim, f->shape) == size && !(n_open && others == 0))
        return KILN_OK;
    return kn_graph_error(
        f->graph, node, KILN_ERROR_SHAPE,
        "%s has %lld elements, and cannot become %s: their number stays, and one extent may be "
        "-1 where the others divide it",
        shape_words(in->ndim, in->shape).text, (long long)size, given.text);
}

kiln_status kn_infer_broadcast_to(kn_inference *f, const kn_node *node)
{
    const kn_typed *in = read_by(f, node, 0);
    kiln_status status = KILN_OK;
    if (node->kind == KN_NODE_BROADCAST) {
        status = read_extents(f, node);
    } else {
        f->ndim = read_by(f, node, 1)->ndim;
        if (f->ndim > 0)
            memcpy(f->shape, read_by(f, node, 1)->shape, (size_t)f->ndim * sizeof *f->shape);
    }
    const bool is_exact = node->has_axes;
    bool fits = f->ndim >= in->ndim && (!is_exact || f->ndim == in->ndim);
    for (int a = 0; a < f->ndim; ++a) {
        int axis = a - (f->ndim - in->ndim);
        fits = fits && f->shape[a] >= 0 &&
               (axis < 0 || (in->shape[axis] == 1 && !is_exact) || in->shape[axis] == f->shape[a]);
    }
    return status != KILN_OK || fits
               ? status
               : kn_graph_error(f->graph, node, KILN_ERROR_SHAPE,
                                is_exact ? "the result has shape %s, and out has %s"
                                         : "%s cannot be broadcast to %s",
                                shape_words(in->ndim, in->shape).text, shape_words(f->ndim, f->shape).text);
}

kiln_status kn_infer_windows(kn_inference *f, const kn_node *node)
{
    const kn_typed *in = read_by(f, node, 0);
    if (in->ndim + node->n_axes / 2 > KILN_MAX_NDIM)
        return kn_graph_error(f->graph, node, KILN_ERROR_SHAPE, "more than %d axes are too many",
                              KILN_MAX_NDIM);
    f->ndim = in->ndim;
    if (in->ndim > 0)
        memcpy(f->shape, in->shape, (size_t)in->ndim * sizeof *f->shape);
    for (int k = 0; k < node->n_axes; k += 2) {
        const int given = node->axis[k], axis = given + (given < 0 ? in->ndim : 0),
                  window = node->axis[k + 1];
        if (axis < 0 || axis >= in->ndim)
            return kn_graph_error(f->graph, node, KILN_ERROR_SHAPE, "axis %d was given; the array has %d",
                                  given, in->ndim);
        if (window > f->shape[axis])
            return kn_graph_error(f->graph, node, KILN_ERROR_SHAPE,
                                  "a window of %d was given; axis %d has room for %lld", window, given,
                                  (long long)f->shape[axis]);
        f->shape[axis] -= window - 1;
        f->shape[f->ndim++] = window;
    }
    return KILN_OK;
}

/* ---- extents and ranges ---- */

kiln_status kn_infer_extent(kn_typed *out, kn_inference *f, const kn_node *node)
{
    const kn_typed *in = read_by(f, node, 0);
    int axis = node->n_axes ? node->axis[0] + (node->axis[0] < 0 ? in->ndim : 0) : 0;
    if (node->n_axes && (axis < 0 || axis >= in->ndim))
        return kn_graph_error(f->graph, node, KILN_ERROR_SHAPE, "axis %d was given; the array has %d",
                              node->axis[0], in->ndim);
    const bool is_axes = node->kind == KN_NODE_NDIM && node->index == KN_MEASURE_AXES;
    out->value = is_axes                      ? in->ndim
                 : node->kind == KN_NODE_NDIM ? (int64_t)kiln_dtype_size(in->dtype)
                 : node->n_axes               ? in->shape[axis]
                                              : kn_shape_size(in->ndim, in->shape);
    out->dtype = KILN_INT64;
    out->is_weak = true;
    out->number = out->given = kiln_arg_int(out->value);
    return KILN_OK;
}

static double float_of(const kiln_arg *number)
{
    return number->kind == KILN_ARG_WEAK_FLOAT  ? number->value.d[0]
           : number->kind == KILN_ARG_WEAK_UINT ? (double)number->value.u
                                                : (double)number->value.i;
}

/* The number of elements of a range of whole numbers; -1: too many. */
static int64_t count_whole(const int64_t *range)
{
    wide way = (wide)range[1] - range[0], step = range[2];
    if (step < 0) {
        way = -way;
        step = -step;
    }
    wide count = way <= 0 ? 0 : (way + step - 1) / step;
    return count <= INT64_MAX ? (int64_t)count : -1;
}

static int64_t count_floats(const double *range)
{
    double count = ceil((range[1] - range[0]) / range[2]);
    return !(count < 0x1p62) ? -1 : count <= 0 ? 0 : (int64_t)count;
}

kiln_status kn_infer_arange(kn_typed *out, kn_inference *f, const kn_node *node)
{
    int64_t whole[3];
    double range[3];
    bool is_whole = true;
    for (int k = 0; k < 3; ++k) {
        kiln_arg number;
        kiln_status status = read_number(&number, f, node, k);
        if (status != KILN_OK)
            return status;
        if (number.kind == KILN_ARG_WEAK_COMPLEX)
            return kn_graph_error(f->graph, node, KILN_ERROR_TYPE, "a range has no complex numbers");
        const kn_typed *in = read_by(f, node, k);
        const bool is_wide = !in->is_weak && in->dtype == KILN_UINT64; /* beside NumPy's int64: float64 */
        is_whole =
            is_whole && kn_weak_to_int64(&whole[k], &number) && (!is_wide || node->index == KN_RANGE_COUNTED);
        range[k] = float_of(&number);
    }
    if (node->index == KN_RANGE_COUNTED && !is_whole)
        return kn_graph_error(f->graph, node, KILN_ERROR_TYPE, "a whole number was expected");
    if (node->index == KN_RANGE_COUNTED && whole[1] < 0)
        return kn_graph_error(f->graph, node, KILN_ERROR_SHAPE,
                              "a length of %lld was given; one from 0 on was expected", (long long)whole[1]);
    if (range[2] == 0)
        return kn_graph_error(f->graph, node, KILN_ERROR_INVALID, "the step of a range is 0");
    out->dtype = is_whole ? KILN_INT64 : KILN_FLOAT64;
    f->ndim = 1;
    f->shape[0] = is_whole ? count_whole(whole) : count_floats(range);
    return f->shape[0] >= 0 ? KILN_OK
                            : kn_graph_error(f->graph, node, KILN_ERROR_SHAPE, "a range without an end");
}
