/* Functions of expressions whose text depends on the axes and dtypes of their arguments (shaped.h). */
#include "expr/shaped_functions.h"

#include <kiln/sort.h>

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "expr/composed.h"
#include "space/shape.h"
#include "types/dtype.h"

/* ---- diagonals ---- */

static kiln_status write_diag(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    if (in->ndim != 1 && in->ndim != 2)
        return kn_error(KILN_ERROR_SHAPE, "diag: v: %d axes were given; 1 or 2 were expected", in->ndim);
    kn_str_printf(text, in->ndim == 1 ? "diagflat(x0, %lld)" : "diagonal(x0, %lld)",
                  (long long)own->number[0]);
    return KILN_OK;
}

/* diag(v, k=0) */
kiln_status kn_call_diag(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"v", "k"};
    kn_value slot[2] = {{0}};
    kn_shaped_own own = {.count = 1};
    kiln_status status = kn_call_match(slot, p, c, names, 2, 2, 1);
    if (status == KILN_OK && slot[1].kind != KN_VALUE_ABSENT)
        status = kn_parser_whole(&own.number[0], p, &slot[1], names[1]);
    return status == KILN_OK ? kn_call_shaped(out, p, c, write_diag, &own, slot, 1) : status;
}

/* ---- scans of the array API ---- */

static const char *const scans[] = {"cumsum", "cumprod"}, *const names_of_scans[] = {"cumulative_sum",
                                                                                     "cumulative_prod"};

/* Arrays of several axes are not scanned as one, which cumsum does. */
static kiln_status write_cumulative(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    if (in->ndim > 1)
        return kn_error(KILN_ERROR_SHAPE, "x has %d axes, and the argument 'axis' is missing", in->ndim);
    if (own->number[0])
        kn_str_printf(text, "%s(%s, axis=0, include_initial=True)", names_of_scans[own->which],
                      in->ndim == 0 ? "x0[None]" : "x0");
    else
        kn_str_printf(text, "%s(x0)", scans[own->which]);
    return KILN_OK;
}

/* cumulative_sum(x, *, axis=None, include_initial=False), cumulative_prod: without an axis x has one, or
 * none. */
kiln_status kn_call_cumulative(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"x", "axis", "include_initial"};
    kn_shaped_own own = {.which = c->which, .count = 1};
    char text[200];
    kn_value slot[3] = {{0}};
    kiln_status status = kn_call_match(slot, p, c, names, 3, 1, 1);
    if (status == KILN_OK && slot[2].kind != KN_VALUE_ABSENT)
        status = kn_parser_whole(&own.number[0], p, &slot[2], names[2]);
    own.number[0] = own.number[0] != 0;
    if (status != KILN_OK)
        return status;
    if (!kn_call_is_given(&slot[1]))
        return kn_call_shaped(out, p, c, write_cumulative, &own, slot, 1);
    snprintf(text, sizeof text, "%s(x, axis=axis)", scans[c->which]);
    if (own.number[0])
        snprintf(text, sizeof text,
                 "s = swapaxes(%s(x, axis=axis), axis, -1); swapaxes(concatenate([full_like(sum(s, axis=-1, "
                 "keepdims=True), %d), s], axis=-1), axis, -1)",
                 scans[c->which], c->which);
    return kn_compose(out, p, c, text, names, slot, 2);
}

/* ---- products of Kronecker's ---- */

/* Axes of the second array stand behind those of the first, or in front of them. */
static void write_spread(kn_str *text, int ndim, const char *each)
{
    kn_str_append(text, "[");
    for (int d = 0; d < ndim; ++d)
        kn_str_printf(text, "%s%s", d > 0 ? ", " : "", each);
    kn_str_append(text, "]");
}

static kiln_status write_kron(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    const int ndim = in[0].ndim > in[1].ndim ? in[0].ndim : in[1].ndim;
    (void)own;
    if (2 * ndim > KILN_MAX_NDIM)
        return kn_error(KILN_ERROR_SHAPE, "kron: %d axes were given; at most %d were expected", ndim,
                        KILN_MAX_NDIM / 2);
    if (ndim == 0) {
        kn_str_append(text, "x0 * x1");
        return KILN_OK;
    }
    for (int k = 0; k < 2; ++k) {
        kn_str_printf(text, "x%d = x%d", k, k);
        if (in[k].ndim < ndim) {
            kn_str_append(text, "[");
            for (int d = in[k].ndim; d < ndim; ++d)
                kn_str_append(text, "None, ");
            kn_str_append(text, "...]");
        }
        kn_str_append(text, "; ");
    }
    kn_str_append(text, "reshape(x0");
    write_spread(text, ndim, ":, None");
    kn_str_append(text, " * x1");
    write_spread(text, ndim, "None, :");
    kn_str_append(text, ", (");
    for (int d = 0; d < ndim; ++d)
        kn_str_printf(text, "x0.shape[%d] * x1.shape[%d], ", d, d);
    kn_str_append(text, "))");
    return KILN_OK;
}

/* ---- products of vectors and matrices ---- */

/* The sum along an axis of products of these views, in the dtype of both. */
static kiln_status write_products(kn_str *text, const kn_described *in, const char *left, const char *right,
                                  int axis)
{
    kiln_dtype dtype;
    kiln_status status = kiln_dtype_promote(&dtype, in[0].dtype, in[1].dtype);
    if (status == KILN_OK && dtype == KILN_BOOL)
        kn_str_printf(text, "any(x0%s & x1%s, axis=%d)", left, right, axis);
    else if (status == KILN_OK)
        kn_str_printf(text, "sum(x0%s * x1%s, axis=%d, dtype=%s)", left, right, axis, kiln_dtype_name(dtype));
    return status;
}

/* An axis of each, counted from the last, over which products are summed up: no extent of 1 is repeated. */
static kiln_status check_summed(const char *function, const kn_described *in, int first, int second)
{
    const int64_t n = in[0].shape[in[0].ndim - first], m = in[1].shape[in[1].ndim - second];
    return n == m ? KILN_OK
                  : kn_error(KILN_ERROR_SHAPE,
                             "%s: %lld elements of the first array meet %lld of the second; as many were "
                             "expected",
                             function, (long long)n, (long long)m);
}

static kiln_status refuse_numbers(const char *function)
{
    return kn_error(KILN_ERROR_SHAPE, "%s: an array without axes was given; one axis or more were expected",
                    function);
}

static kiln_status write_matmul(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    (void)own;
    if (in[0].ndim == 0 || in[1].ndim == 0)
        return refuse_numbers("matmul");
    kiln_status status = check_summed("matmul", in, 1, in[1].ndim == 1 ? 1 : 2);
    if (status != KILN_OK)
        return status;
    if (in[0].ndim == 1)
        return in[1].ndim == 1 ? write_products(text, in, "", "", -1)
                               : write_products(text, in, "[:, None]", "", -2);
    return in[1].ndim == 1 ? write_products(text, in, "", "", -1)
                           : write_products(text, in, "[..., :, :, None]", "[..., None, :, :]", -2);
}

/* Axes of the first array, then those of the second. */
static kiln_status write_all_pairs(kn_str *text, const kn_described *in, bool is_inner)
{
    kn_str left = KN_STR_INIT, right = KN_STR_INIT;
    const int behind = is_inner || in[1].ndim == 1 ? 0 : 1; /* axes behind the one that is summed up */
    if (in[0].ndim == 0 || in[1].ndim == 0) {
        kn_str_append(text, "x0 * x1");
        return KILN_OK;
    }
    if (in[0].ndim + in[1].ndim - 1 > KILN_MAX_NDIM)
        return kn_error(KILN_ERROR_SHAPE, "%d and %d axes are more than an array may have", in[0].ndim,
                        in[1].ndim);
    kiln_status status = check_summed(is_inner ? "inner" : "dot", in, 1, 1 + behind);
    if (status != KILN_OK)
        return status;
    kn_str_append(&left, "[...");
    for (int d = 0; d < in[1].ndim - 1 - behind; ++d)
        kn_str_append(&left, ", None");
    kn_str_append(&left, ", :");
    kn_str_append(&left, behind ? ", None]" : "]");
    kn_str_append(&right, "[");
    for (int d = 0; d < in[0].ndim - 1; ++d)
        kn_str_append(&right, "None, ");
    kn_str_append(&right, "...]");
    /* Without "...": the axis that is summed up is the last, and None stands in front of it. */
    if (in[1].ndim - 1 - behind > 0) {
        kn_str_clear(&left);
        kn_str_append(&left, "[");
        for (int d = 0; d < in[0].ndim - 1; ++d)
            kn_str_append(&left, ":, ");
        for (int d = 0; d < in[1].ndim - 1 - behind; ++d)
            kn_str_append(&left, "None, ");
        kn_str_append(&left, behind ? ":, None]" : ":]");
    }
    status = kn_str_status(&left, "a text");
    if (status == KILN_OK)
        status = kn_str_status(&right, "a text");
    if (status == KILN_OK)
        status = write_products(text, in, kn_str_text(&left), kn_str_text(&right), -1 - behind);
    kn_str_free(&left);
    kn_str_free(&right);
    return status;
}

static kiln_status write_dot(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    (void)own;
    return write_all_pairs(text, in, false);
}

static kiln_status write_inner(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    (void)own;
    return write_all_pairs(text, in, true);
}

static kiln_status write_vecdot(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    (void)own;
    if (in[0].ndim == 0 || in[1].ndim == 0)
        return refuse_numbers("vecdot");
    kiln_status status = check_summed("vecdot", in, 1, 1);
    if (status != KILN_OK)
        return status;
    kn_str_append(text, kn_dtype_info_of(in[0].dtype)->kind == KN_KIND_COMPLEX ? "x0 = conj(x0); " : "");
    return write_products(text, in, "", "", -1);
}

static kiln_status write_vdot(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    const int64_t n = kn_shape_size(in[0].ndim, in[0].shape), m = kn_shape_size(in[1].ndim, in[1].shape);
    (void)own;
    if (n != m)
        return kn_error(KILN_ERROR_SHAPE, "vdot: arrays of %lld and %lld elements were given", (long long)n,
                        (long long)m);
    kn_str_append(text, "x0 = ravel(x0); x1 = ravel(x1); ");
    kn_str_append(text, kn_dtype_info_of(in[0].dtype)->kind == KN_KIND_COMPLEX ? "x0 = conj(x0); " : "");
    return write_products(text, in, "", "", -1);
}

static kiln_status write_matvec(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    (void)own;
    if (in[0].ndim < 2 || in[1].ndim == 0)
        return kn_error(KILN_ERROR_SHAPE, "matvec: a matrix and a vector were expected");
    kiln_status status = check_summed("matvec", in, 1, 1);
    if (status != KILN_OK)
        return status;
    return write_products(text, in, "", "[..., None, :]", -1);
}

static kiln_status write_vecmat(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    (void)own;
    if (in[0].ndim == 0 || in[1].ndim < 2)
        return kn_error(KILN_ERROR_SHAPE, "vecmat: a vector and a matrix were expected");
    kiln_status status = check_summed("vecmat", in, 1, 2);
    if (status != KILN_OK)
        return status;
    kn_str_append(text, kn_dtype_info_of(in[0].dtype)->kind == KN_KIND_COMPLEX ? "x0 = conj(x0); " : "");
    return write_products(text, in, "[..., :, None]", "", -2);
}

/* Functions of two arrays. */
static const struct {
    const char *name, *first, *second;
    kn_shaped_writer write;
} pairs[] = {{"dot", "a", "b", write_dot},         {"inner", "a", "b", write_inner},
             {"kron", "a", "b", write_kron},       {"matmul", "x1", "x2", write_matmul},
             {"matvec", "x1", "x2", write_matvec}, {"vdot", "a", "b", write_vdot},
             {"vecdot", "x1", "x2", write_vecdot}, {"vecmat", "x1", "x2", write_vecmat}};

/* The axes of both arrays move behind the others, from where `axes` has them, and those of the result to
 * where its last item says. */
static kiln_status move_axes(kn_value *out, kn_parser *p, const kn_called *c, const char *name,
                             const kn_value *slot)
{
    static const char *const names[] = {"x1", "x2", "a", "b", "r"}, *const behind[] = {"-1", "(-2, -1)"};
    const kn_value *item, *axis;
    kn_value in[5] = {slot[0], slot[1]};
    int count[3] = {0};
    kn_str text = KN_STR_INIT;
    if (kn_parser_items(&item, p, &slot[2]) != 3)
        return kn_parser_refuse(p, slot[2].at, slot[2].length,
                                "axes: a list of three, of both arrays and of the result, was expected");
    for (int k = 0; k < 3; ++k) {
        in[2 + k] = item[k];
        count[k] = kn_parser_items(&axis, p, &item[k]);
        if (count[k] > 2 || (k < 2 && count[k] < 1))
            return kn_parser_refuse(p, slot[2].at, slot[2].length,
                                    "axes: an axis, or a pair of axes, of each array was expected");
    }
    kn_str_printf(&text, "y = %s(moveaxis(x1, a, %s), moveaxis(x2, b, %s)); ", name, behind[count[0] - 1],
                  behind[count[1] - 1]);
    if (count[2] > 0)
        kn_str_printf(&text, "moveaxis(y, %s, r)", behind[count[2] - 1]);
    else
        kn_str_append(&text, "y");
    kiln_status status = kn_str_status(&text, "the text of a function");
    if (status == KILN_OK)
        status = kn_compose(out, p, c, kn_str_text(&text), names, in, 5);
    kn_str_free(&text);
    return status;
}

kiln_status kn_call_shaped_pair(kn_value *out, kn_parser *p, const kn_called *c)
{
    const kn_shaped_own own = {.count = 0};
    kn_value slot[3] = {{0}};
    int row = 0;
    while (!kn_call_is(c, pairs[row].name))
        ++row;
    const char *const names[] = {pairs[row].first, pairs[row].second, "axes"};
    const bool is_generalised = pairs[row].first[0] == 'x'; /* as NumPy calls it */
    kiln_status status = kn_call_match(slot, p, c, names, 2 + is_generalised, 2, 2);
    if (status == KILN_OK && is_generalised && kn_call_is_given(&slot[2]))
        return move_axes(out, p, c, pairs[row].name, slot);
    return status == KILN_OK ? kn_call_shaped(out, p, c, pairs[row].write, &own, slot, 2) : status;
}

/* ---- whether arrays are equal ---- */

/* Arrays of other shapes are not equal; own->which: nor are those that broadcast. */
static kiln_status write_equal(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    bool fits = !own->which || in[0].ndim == in[1].ndim;
    for (int d = 1; d <= in[0].ndim && d <= in[1].ndim; ++d) {
        const int64_t n = in[0].shape[in[0].ndim - d], m = in[1].shape[in[1].ndim - d];
        fits = fits && (n == m || (!own->which && (n == 1 || m == 1)));
    }
    kn_str_append(text, !fits            ? "zeros((), dtype=bool)"
                        : own->number[0] ? "all((x0 == x1) | (isnan(x0) & isnan(x1)))"
                                         : "all(x0 == x1)");
    return KILN_OK;
}

/* array_equal(a1, a2, equal_nan=False) (which), array_equiv(a1, a2) */
kiln_status kn_call_equal_arrays(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a1", "a2", "equal_nan"};
    const int n_names = 2 + c->which;
    kn_value slot[3] = {{0}};
    kn_shaped_own own = {.which = c->which, .count = 1};
    kiln_status status = kn_call_match(slot, p, c, names, n_names, n_names, 2);
    if (status == KILN_OK && c->which && slot[2].kind != KN_VALUE_ABSENT)
        status = kn_parser_whole(&own.number[0], p, &slot[2], names[2]);
    return status == KILN_OK ? kn_call_shaped(out, p, c, write_equal, &own, slot, 2) : status;
}

/* ---- elements that a list leaves, diagonals ---- */

/* True for each element of an axis, but those whose places, or truth values, are given. */
static kiln_status write_left(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    const int axis = (int)own->number[0] + (own->number[0] < 0 ? in->ndim : 0);
    if (axis < 0 || axis >= in->ndim)
        return kn_error(KILN_ERROR_SHAPE, "delete: axis %lld was given; the array has %d",
                        (long long)own->number[0], in->ndim);
    const long long extent = (long long)in->shape[axis];
    if (in[1].dtype == KILN_BOOL && (in[1].ndim != 1 || in[1].shape[0] != extent))
        return kn_error(KILN_ERROR_SHAPE,
                        "delete: obj: a mask of one axis was expected, of %lld elements as the array has",
                        extent);
    if (in[1].dtype == KILN_BOOL)
        kn_str_append(text, "~x1");
    else
        kn_str_printf(text, "~isin(arange(%lld), arange(%lld)[x1])", extent,
                      extent); /* as indices are checked */
    return KILN_OK;
}

/* Two arrays and a whole number, all of which are given. */
static kiln_status call_of_two(kn_value *out, kn_parser *p, const kn_called *c, kn_shaped_writer write,
                               const char *const *names)
{
    kn_value slot[3] = {{0}};
    kn_shaped_own own = {.count = 1};
    kiln_status status = kn_call_match(slot, p, c, names, 3, 3, 3);
    if (status == KILN_OK)
        status = kn_parser_whole(&own.number[0], p, &slot[2], names[2]);
    return status == KILN_OK ? kn_call_shaped(out, p, c, write, &own, slot, 2) : status;
}

/* left_of(a, obj, axis), of which delete is composed */
kiln_status kn_call_left(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a", "obj", "axis"};
    return call_of_two(out, p, c, write_left, names);
}

static kiln_status write_filled(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    for (int d = 1; d < in->ndim && in->ndim > 2; ++d)
        if (in->shape[d] != in->shape[0])
            return kn_error(KILN_ERROR_SHAPE,
                            "fill_diagonal: axis 0 has %lld elements, axis %d %lld; equal axes were expected",
                            (long long)in->shape[0], d, (long long)in->shape[d]);
    kn_str_printf(text, "filled_diagonal(x0, x1, int64(%d))", own->number[0] != 0);
    return KILN_OK;
}

/* filled_along(a, val, wrap), which fill_diagonal is, for values of one axis */
kiln_status kn_call_filled(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a", "val", "wrap"};
    return call_of_two(out, p, c, write_filled, names);
}

/* ---- padding by what an axis has ---- */

/* The numbers of a call, then two lengths and two widths for each of so many pairs. The word: the mode.
 * Behind x may stand the values in front of an axis and behind it, as NumPy broadcasts them. */
enum { LENGTHS, WIDTHS, IS_ODD, HAS_VALUES, PAIRS };

/* Two of a list's numbers for an axis. */
static const int64_t *pair_of(const kn_shaped_own *own, int list, int axis)
{
    const int64_t *first = &own->number[PAIRS + (list == WIDTHS ? 2 * own->number[LENGTHS] : 0)];
    return first + (own->number[list] == 1 ? 0 : 2 * axis);
}

static void write_value(kn_str *text, const kn_shaped_own *own, const kn_described *in, int axis,
                        bool is_last)
{
    const kn_described *v = &in[1];
    if (!own->number[HAS_VALUES]) {
        kn_str_append(text, "0");
        return;
    }
    kn_str_append(text, v->ndim > 0 ? "x1[" : "x1");
    for (int d = 0; d < v->ndim; ++d)
        kn_str_printf(text, "%s%d", d > 0 ? ", " : "",
                      v->shape[d] == 1   ? 0
                      : d == v->ndim - 1 ? (int)is_last
                                         : axis);
    kn_str_append(text, v->ndim > 0 ? "]" : "");
}

static kiln_status check_values(const kn_shaped_own *own, const kn_described *in)
{
    const kn_described *v = &in[1];
    const int rest = own->number[HAS_VALUES] ? v->ndim : 0;
    const bool fits = rest < 3 && (rest < 1 || v->shape[rest - 1] == 1 || v->shape[rest - 1] == 2) &&
                      (rest < 2 || v->shape[0] == 1 || v->shape[0] == in->ndim);
    return fits ? KILN_OK
                : kn_error(
                      KILN_ERROR_SHAPE, "pad: %s: a number, two, or a pair for each of %d axes were expected",
                      strcmp(own->word[0], "linear_ramp") == 0 ? "end_values" : "constant_values", in->ndim);
}

static kn_str *write_part(kn_str *text, int axis, long long from, long long to)
{
    kn_str_append(text, "x[");
    for (int d = 0; d < axis; ++d)
        kn_str_append(text, ":, ");
    if (from)
        kn_str_printf(text, "%lld", from);
    kn_str_append(text, ":");
    if (to)
        kn_str_printf(text, "%lld", to);
    kn_str_append(text, "]");
    return text;
}

/* Axes before this one have their pads already. */
static void write_constant(kn_str *text, const kn_shaped_own *own, const kn_described *in, int axis,
                           long long width, bool is_last)
{
    kn_str_append(text, "broadcast_to(astype(");
    write_value(text, own, in, axis, is_last);
    kn_str_printf(text, ", %s), (", kn_dtype_info_of(in->dtype)->name);
    for (int d = 0; d < in->ndim; ++d) {
        const int64_t *pads = pair_of(own, WIDTHS, d);
        kn_str_printf(text, "%lld, ",
                      d == axis ? width : (long long)(in->shape[d] + (d < axis ? pads[0] + pads[1] : 0)));
    }
    kn_str_append(text, "))");
}

/* One side: `width` elements in front of the axis, or behind it. */
static void write_side(kn_str *text, const kn_shaped_own *own, const kn_described *in, int axis,
                       long long width, bool is_last)
{
    const kn_dtype_info *info = kn_dtype_info_of(in->dtype);
    const bool is_whole = info->kind == KN_KIND_INT || info->kind == KN_KIND_UINT,
               is_ramp = strcmp(own->word[0], "linear_ramp") == 0, is_extreme = own->word[0][1] != 'e';
    const long long given = own->number[LENGTHS] ? pair_of(own, LENGTHS, axis)[is_last] : in->shape[axis];
    const long long length = is_ramp ? 1 : given > in->shape[axis] ? in->shape[axis] : given;
    if (strcmp(own->word[0], "constant") == 0) {
        write_constant(text, own, in, axis, width, is_last);
        return;
    }
    if (!is_ramp) {
        const char *function = strcmp(own->word[0], "maximum") == 0   ? "max"
                               : strcmp(own->word[0], "minimum") == 0 ? "min"
                                                                      : own->word[0];
        kn_str_printf(text, is_extreme ? "repeat(%s%s(" : "repeat(astype(%s%s(",
                      is_whole && !is_extreme ? "rint(" : "", function);
        write_part(text, axis, is_last ? -length : 0, is_last ? 0 : length);
        kn_str_printf(text, ", axis=%d, keepdims=True)", axis);
        if (!is_extreme)
            kn_str_printf(text, "%s, %s)", is_whole ? ")" : "", info->name);
        kn_str_printf(text, ", %lld, %d)", width, axis);
        return;
    }
    kn_str_printf(text, "astype(%s(arange(%lld)[%s", is_whole ? "floor" : "", width, is_last ? "::-1" : ":");
    for (int d = axis + 1; d < in->ndim; ++d)
        kn_str_append(text, ", None");
    kn_str_append(text, "] * ((");
    write_part(text, axis, is_last ? -1 : 0, is_last ? 0 : 1);
    kn_str_append(text, " * float64(1) - ");
    write_value(text, own, in, axis, is_last);
    kn_str_printf(text, ") / %lld) + ", width);
    write_value(text, own, in, axis, is_last);
    kn_str_printf(text, "), %s)", info->name);
}

/* NumPy's reflect_type='odd': each part is twice the value at its end less the part before it, reversed.
 * Two parts on, there is the axis again, moved by twice the distance of its ends. */
static void write_odd(kn_str *text, const kn_shaped_own *own, const kn_described *in, int axis)
{
    const int64_t *width = pair_of(own, WIDTHS, axis);
    const char *dtype = kn_dtype_info_of(in->dtype)->name;
    const bool has_edge = own->word[0][0] == 's' || in->shape[axis] == 1;
    const long long n = in->shape[axis], period = has_edge ? 2 * n : 2 * n - 2;
    kn_str_printf(text,
                  "t = arange(%lld) - %lld; j = t // %lld; r = t - j * %lld; back = r >= %lld; "
                  "v = take(x, where(back, %lld - r, r), axis=%d); h = ",
                  n + (long long)(width[0] + width[1]), (long long)width[0], period, period, n,
                  has_edge ? period - 1 : period, axis);
    write_part(text, axis, -1, 0);
    kn_str_append(text, "; l = ");
    write_part(text, axis, 0, 1);
    kn_str_append(text, "; back, j = back[:");
    for (int d = axis + 1; d < in->ndim; ++d)
        kn_str_append(text, ", None");
    kn_str_append(text, "], j[:");
    for (int d = axis + 1; d < in->ndim; ++d)
        kn_str_append(text, ", None");
    kn_str_printf(
        text, "]; x = where((j == 0) & ~back, v, where(back, 2 * h - v, v) + 2 * astype(j, %s) * (h - l)); ",
        dtype);
}

static kiln_status write_pad(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    static const char *const lists[] = {"stat_length", "pad_width"};
    for (int list = LENGTHS; list <= WIDTHS; ++list)
        if (own->number[list] > 1 && own->number[list] != in->ndim)
            return kn_error(KILN_ERROR_SHAPE, "pad: %s: %d pairs were given; the array has %d axes",
                            lists[list], (int)own->number[list], in->ndim);
    kiln_status status = check_values(own, in);
    if (status != KILN_OK)
        return status;
    kn_str_append(text, "x = x0; ");
    for (int d = 0; d < in->ndim; ++d) {
        const int64_t *width = pair_of(own, WIDTHS, d);
        if (width[0] == 0 && width[1] == 0)
            continue;
        if (in->shape[d] == 0 && strcmp(own->word[0], "constant") != 0)
            return kn_error(KILN_ERROR_SHAPE,
                            "pad: an axis without elements can be padded by a constant alone");
        if (own->number[IS_ODD]) {
            write_odd(text, own, in, d);
            continue;
        }
        kn_str_append(text, "x = concatenate([");
        if (width[0] > 0) {
            write_side(text, own, in, d, (long long)width[0], false);
            kn_str_append(text, ", ");
        }
        kn_str_append(text, "x");
        if (width[1] > 0) {
            kn_str_append(text, ", ");
            write_side(text, own, in, d, (long long)width[1], true);
        }
        kn_str_printf(text, "], axis=%d); ", d);
    }
    kn_str_append(text, "x");
    return KILN_OK;
}

kiln_status kn_call_pad_by_axis(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *x,
                                const kn_padding *padding)
{
    const kn_value in[] = {*x, padding->values};
    const bool has_values = in[1].kind != KN_VALUE_ABSENT;
    kn_shaped_own own = {.count = PAIRS + 2 * (padding->n_lengths + padding->n_pairs),
                         .number = {[LENGTHS] = padding->n_lengths,
                                    [WIDTHS] = padding->n_pairs,
                                    [IS_ODD] = padding->is_odd,
                                    [HAS_VALUES] = has_values}};
    snprintf(own.word[0], sizeof own.word[0], "%s", padding->mode);
    memcpy(&own.number[PAIRS], padding->length, 2 * (size_t)padding->n_lengths * sizeof *padding->length);
    memcpy(&own.number[PAIRS + 2 * padding->n_lengths], padding->width,
           2 * (size_t)padding->n_pairs * sizeof *padding->width);
    return kn_call_shaped(out, p, c, write_pad, &own, in, 1 + has_values);
}

/* ---- sums of products by letters ---- */

enum { MOST_LETTERS = 32, MOST_FACTORS = 8 };

/* The letters of einsum's subscripts: those of each factor, and of the result with those that are summed up
 * behind them. */
typedef struct letters {
    char of[MOST_FACTORS][MOST_LETTERS + 1], all[MOST_LETTERS + 1];
    int n_factors, n_out;
} letters;

static bool has_letter(const char *text, char letter)
{
    return letter && strchr(text, letter) != NULL;
}

static kiln_status refuse_subscripts(const char *text)
{
    return kn_error(
        KILN_ERROR_INVALID,
        "einsum: subscripts: '%s' was given; letters such as 'ij,jk->ik' or '...ij,...jk->...ik' were "
        "expected, at most %d of a factor",
        text, MOST_LETTERS);
}

/* ---- "...": axes without letters of their own ---- */

typedef struct ellipsis {
    char letters[MOST_LETTERS + 1]; /* which no subscript has, for the axes that it stands for */
    char text[MOST_FACTORS * MOST_LETTERS + 2 * MOST_LETTERS + 16]; /* with these letters */
} ellipsis;

/* The letters of a factor, from `from` to `end`; *dots: where "..." begins, NULL. False: there are other
 * dots. */
static bool count_letters(int *out, const char **dots, const char *from, const char *end)
{
    *out = 0;
    *dots = NULL;
    for (const char *c = from; c < end; ++c) {
        const bool begins = end - c >= 3 && strncmp(c, "...", 3) == 0;
        if (*c == '.' && (*dots || !begins))
            return false;
        if (begins) {
            *dots = c;
            c += 2;
        } else {
            *out += *c != ' ';
        }
    }
    return true;
}

static const char *end_of_factor(const char *from)
{
    const char *arrow = strstr(from, "->"), *comma = strchr(from, ',');
    return arrow && (!comma || arrow < comma) ? arrow : comma ? comma : from + strlen(from);
}

/* The axes that the dots of factor k stand for, of which the longest has all. */
static bool count_dotted(int *out, int *most, const char *text, const kn_described *in, int count)
{
    const char *from = text;
    *most = 0;
    for (int k = 0; k < count; ++k) {
        const char *end = end_of_factor(from), *dots;
        int letters;
        if (!count_letters(&letters, &dots, from, end))
            return false;
        out[k] = dots ? in[k].ndim - letters : 0;
        *most = out[k] > *most ? out[k] : *most;
        if (out[k] < 0 || (*end != ',' && k + 1 < count))
            return false;
        from = end + (*end == ',');
    }
    return true;
}

/* Axes are counted from the last one on, as in broadcasting. */
static bool write_ellipsis(ellipsis *e, const char *text, const kn_described *in, int count)
{
    const char *arrow = strstr(text, "->"), *from = text, *dots;
    int dotted[MOST_FACTORS], most = 0, letters = 0, n = 0;
    memset(e, 0, sizeof *e);
    if (!count_dotted(dotted, &most, text, in, count) || most > MOST_LETTERS)
        return false;
    for (char c = 'A'; c <= 'z' && letters < most; ++c)
        if (((c <= 'Z') || (c >= 'a')) && !has_letter(text, c))
            e->letters[letters++] = c;
    if (letters < most ||
        (arrow && (!count_letters(&n, &dots, arrow + 2, text + strlen(text)) || (most > 0 && !dots))))
        return false;
    kn_str all = KN_STR_INIT;
    for (int k = 0; *from; ++from) {
        if (*from != '.') {
            k += *from == ',';
            kn_str_printf(&all, "%c", *from);
            continue;
        }
        kn_str_append(&all, e->letters + (arrow && from > arrow ? 0 : most - (k < count ? dotted[k] : most)));
        from += 2;
    }
    const bool fits = !all.failed && all.length < sizeof e->text;
    snprintf(e->text, sizeof e->text, "%s", kn_str_text(&all));
    kn_str_free(&all);
    return fits;
}

static bool add_letter(char *to, char letter)
{
    const size_t length = strlen(to);
    const bool is_letter = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
    if (length == MOST_LETTERS || !is_letter)
        return false;
    to[length] = letter;
    return true;
}

/* Without "->" the result has those of "...", then the letters that stand there one time, in alphabetical
 * order. */
static bool read_letters(letters *l, const char *text, const char *dotted)
{
    const char *arrow = strstr(text, "->");
    char seen[64] = "", twice[64] = ""; /* of 52 letters */
    bool is_good = true;
    memset(l, 0, sizeof *l);
    l->n_factors = 1;
    for (const char *c = text; *c && c != arrow && is_good; ++c) {
        if (*c == ',')
            is_good = l->n_factors++ < MOST_FACTORS;
        else if (*c != ' ') {
            is_good = add_letter(l->of[l->n_factors - 1], *c);
            char *to = has_letter(seen, *c) ? twice : seen;
            if (!has_letter(to, *c))
                to[strlen(to)] = *c;
        }
    }
    for (const char *c = arrow ? arrow + 2 : ""; *c && is_good; ++c)
        is_good = *c == ' ' || (has_letter(seen, *c) && !has_letter(l->all, *c) && add_letter(l->all, *c));
    for (const char *c = dotted; *c && !arrow && is_good; ++c)
        is_good = add_letter(l->all, *c);
    for (char c = 'A'; c <= 'z' && !arrow && is_good; ++c)
        if (has_letter(seen, c) && !has_letter(twice, c) && !has_letter(dotted, c))
            is_good = add_letter(l->all, c);
    l->n_out = (int)strlen(l->all);
    for (const char *c = seen; *c && is_good; ++c)
        if (!has_letter(l->all, *c))
            is_good = add_letter(l->all, *c);
    return is_good;
}

/* Equal letters become one axis; then axes stand in the order of all letters. Elements have the common dtype
 * before any product. */
static void write_factor(kn_str *text, const letters *l, int k, kiln_dtype from, kiln_dtype to)
{
    char own[MOST_LETTERS + 1];
    snprintf(own, sizeof own, "%s", l->of[k]);
    for (int a = 0; own[a]; ++a) {
        const char *other = strchr(own + a + 1, own[a]);
        if (!other)
            continue;
        const int b = (int)(other - own), length = (int)strlen(own);
        const char letter = own[a];
        kn_str_printf(text, "x%d = diagonal(x%d, 0, %d, %d); ", k, k, a, b);
        memmove(own + b, own + b + 1, (size_t)(length - b));
        memmove(own + a, own + a + 1, (size_t)(length - 1 - a));
        own[length - 2] = letter;
        own[length - 1] = '\0';
        a = -1;
    }
    if (from == to)
        kn_str_printf(text, "x%d = x%d", k, k);
    else
        kn_str_printf(text, "x%d = x%d.astype(%s)", k, k, kiln_dtype_name(to));
    if (own[0] && own[1]) {
        const char *between = ".transpose(";
        for (const char *c = l->all; *c; ++c)
            if (has_letter(own, *c)) {
                kn_str_printf(text, "%s%d", between, (int)(strchr(own, *c) - own));
                between = ", ";
            }
        kn_str_append(text, ")");
    }
    for (const char *c = l->all; *c; ++c)
        kn_str_printf(text, "%s%s", c == l->all ? "[" : ", ", has_letter(own, *c) ? ":" : "None");
    kn_str_append(text, l->all[0] ? "]; " : "; ");
}

static kiln_status write_einsum(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    letters l;
    ellipsis e = {"", ""};
    const kiln_dtype dtype = kn_promote_all(&in->dtype, sizeof *in, own->count);
    kiln_status status = KILN_OK;
    const bool has_dots = strchr(own->word[0], '.') != NULL;
    if ((has_dots && !write_ellipsis(&e, own->word[0], in, own->count)) ||
        !read_letters(&l, has_dots ? e.text : own->word[0], e.letters))
        return refuse_subscripts(own->word[0]);
    if (l.n_factors != own->count)
        return kn_error(KILN_ERROR_INVALID, "einsum: operands: %d were given; subscripts have %d", own->count,
                        l.n_factors);
    for (int k = 0; k < l.n_factors && status == KILN_OK; ++k) {
        if ((int)strlen(l.of[k]) != in[k].ndim)
            return kn_error(KILN_ERROR_SHAPE, "einsum: operand %d has %d axes; its subscripts are '%s'", k,
                            in[k].ndim, l.of[k]);
        write_factor(text, &l, k, in[k].dtype, dtype);
    }
    const int n_summed = (int)strlen(l.all) - l.n_out;
    const bool is_bool = dtype == KILN_BOOL;
    kn_str_append(text, n_summed == 0 ? "" : is_bool ? "any(" : "sum(");
    for (int k = 0; k < l.n_factors; ++k)
        kn_str_printf(text, "%sx%d", k == 0 ? "" : is_bool ? " & " : " * ", k);
    for (int k = 0; k < n_summed; ++k)
        kn_str_printf(text, "%s-%d", k == 0 ? ", axis=(" : ", ", k + 1);
    if (n_summed > 0)
        kn_str_append(text, ",)");
    if (n_summed > 0 && !is_bool)
        kn_str_printf(text, ", dtype=%s", kiln_dtype_name(dtype));
    kn_str_append(text, n_summed > 0 ? ")" : "");
    return status;
}

/* einsum(subscripts, operands...); calls in C give a list of operands, by its name. */
kiln_status kn_call_einsum(kn_value *out, kn_parser *p, const kn_called *c)
{
    kn_shaped_own own = {.count = c->count - 1};
    const kn_value *given = &p->argument[c->first], *operands = given + 1;
    if (c->count < 2 || given->kind != KN_VALUE_WORD || given->length - 2 >= sizeof own.word[0])
        return kn_call_refuse(p, c,
                              "subscripts in quotes, and arrays, were expected: einsum('ij,jk->ik', x, y)");
    if (c->count == 2 && operands->key_length > 0)
        own.count = kn_parser_items(&operands, p, given + 1);
    if (own.count > MOST_FACTORS)
        return kn_call_refuse(p, c, "at most 8 arrays were expected");
    memcpy(own.word[0], given->word, given->length - 2);
    return kn_call_shaped(out, p, c, write_einsum, &own, operands, own.count);
}

/* ---- sums over several axes of both ---- */

static int from_last(int64_t axis, int ndim)
{
    return (int)(axis < 0 ? -axis : ndim - axis);
}

/* own->number: the axes of the first, then those of the second. */
static kiln_status write_tensordot(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    const int count = own->count / 2;
    kn_str order[2] = {KN_STR_INIT, KN_STR_INIT}, left = KN_STR_INIT;
    kiln_status status = KILN_OK;
    int n_free[2] = {0, 0};
    for (int k = 0; k < 2 && status == KILN_OK; ++k) {
        uint64_t bits = 0;
        for (int a = 0; a < count && status == KILN_OK; ++a) {
            const int64_t given = own->number[k * count + a], axis = given + (given < 0 ? in[k].ndim : 0);
            if (axis < 0 || axis >= in[k].ndim || bits >> axis & 1)
                status = kn_error(KILN_ERROR_SHAPE, "tensordot: axis %lld was given; array %d has %d",
                                  (long long)given, k, in[k].ndim);
            else
                bits |= UINT64_C(1) << axis;
        }
        for (int a = 0; a < in[k].ndim; ++a)
            if (!(bits >> a & 1))
                kn_str_printf(&order[k], "%s%d", n_free[k]++ > 0 ? ", " : "", a);
        for (int a = 0; a < count && status == KILN_OK; ++a) {
            const int64_t given = own->number[k * count + a];
            kn_str_printf(&order[k], "%s%d", order[k].length > 0 ? ", " : "",
                          (int)(given + (given < 0 ? in[k].ndim : 0)));
        }
        if (in[k].ndim > 1)
            kn_str_printf(text, "x%d = x%d.transpose(%s); ", k, k, kn_str_text(&order[k]));
    }
    for (int a = 0; a < count && status == KILN_OK; ++a)
        status = check_summed("tensordot", in, from_last(own->number[a], in[0].ndim),
                              from_last(own->number[count + a], in[1].ndim));
    kn_str_append(&left, "[");
    for (int a = 0; a < n_free[0]; ++a)
        kn_str_append(&left, ":, ");
    for (int a = 0; a < n_free[1]; ++a)
        kn_str_append(&left, "None, ");
    kn_str_append(&left, "...]");
    kiln_dtype dtype = KILN_FLOAT64;
    if (status == KILN_OK)
        status = kiln_dtype_promote(&dtype, in[0].dtype, in[1].dtype);
    const bool is_bool = dtype == KILN_BOOL;
    kn_str_append(text, count == 0 ? "" : is_bool ? "any(" : "sum(");
    kn_str_printf(text, "x0%s %s x1", kn_str_text(&left), is_bool ? "&" : "*");
    for (int a = 0; a < count; ++a)
        kn_str_printf(text, "%s-%d", a == 0 ? ", axis=(" : ", ", a + 1);
    if (count > 0 && is_bool)
        kn_str_append(text, ",))");
    else if (count > 0)
        kn_str_printf(text, ",), dtype=%s)", kiln_dtype_name(dtype));
    if (status == KILN_OK)
        status = kn_str_status(&left, "a text");
    for (int k = 0; k < 2; ++k)
        kn_str_free(&order[k]);
    kn_str_free(&left);
    return status;
}

/* Axes of one array: a number, or a list. */
static kiln_status read_axes(int64_t *axis, int *count, const kn_parser *p, const kn_value *value)
{
    const kn_value *item;
    kiln_status status = KILN_OK;
    *count = kn_parser_items(&item, p, value);
    if (*count > KILN_MAX_NDIM)
        return kn_parser_refuse(p, value->at, value->length, "axes: %d are more than an array has", *count);
    for (int k = 0; k < *count && status == KILN_OK; ++k)
        status = kn_parser_whole(&axis[k], p, &item[k], "axes");
    return status;
}

/* tensordot(a, b, axes=2): so many of the last and of the first, or a list for each. */
kiln_status kn_call_tensordot(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a", "b", "axes"};
    kn_shaped_own own = {.count = 4, .number = {-2, -1, 0, 1}};
    kn_value slot[3] = {{0}};
    int64_t axis[2][KILN_MAX_NDIM], number = 2;
    int count[2] = {0, 0};
    kiln_status status = kn_call_match(slot, p, c, names, 3, 3, 2);
    if (status != KILN_OK || slot[2].kind == KN_VALUE_ABSENT)
        return status == KILN_OK ? kn_call_shaped(out, p, c, write_tensordot, &own, slot, 2) : status;
    if (slot[2].kind == KN_VALUE_TUPLE) {
        const kn_value *item;
        if (kn_parser_items(&item, p, &slot[2]) != 2)
            return kn_parser_refuse(p, slot[2].at, slot[2].length,
                                    "axes: a number, or two lists, were expected");
        const kn_value both[] = {item[0], item[1]};
        for (int k = 0; k < 2 && status == KILN_OK; ++k)
            status = read_axes(axis[k], &count[k], p, &both[k]);
        if (status == KILN_OK && count[0] != count[1])
            return kn_parser_refuse(p, slot[2].at, slot[2].length, "axes: %d and %d were given", count[0],
                                    count[1]);
    } else {
        status = kn_parser_whole(&number, p, &slot[2], names[2]);
        if (status == KILN_OK && (number < 0 || number > KILN_MAX_NDIM))
            return kn_parser_refuse(p, slot[2].at, slot[2].length,
                                    "axes: %lld was given; 0 to %d were expected", (long long)number,
                                    KILN_MAX_NDIM);
        count[0] = (int)number;
        for (int a = 0; a < count[0]; ++a) {
            axis[0][a] = a - number;
            axis[1][a] = a;
        }
    }
    own.count = 2 * count[0];
    memcpy(own.number, axis[0], (size_t)count[0] * sizeof *own.number);
    memcpy(own.number + count[0], axis[1], (size_t)count[0] * sizeof *own.number);
    return status == KILN_OK ? kn_call_shaped(out, p, c, write_tensordot, &own, slot, 2) : status;
}

/* ---- weights ---- */

/* True if x0 has one axis for each of those named, of as many elements, along those of x1: at[a]: the axis of
 * x0 along axis a of x1, -1: none. */
static bool find_along(int *at, const kn_shaped_own *own, const kn_described *in)
{
    bool fits = own->count == in[0].ndim;
    for (int a = 0; a < in[1].ndim; ++a)
        at[a] = -1;
    for (int k = 0; k < own->count && fits; ++k) {
        const int64_t axis = own->number[k] + (own->number[k] < 0 ? in[1].ndim : 0);
        fits = axis >= 0 && axis < in[1].ndim && at[axis] < 0 && in[1].shape[axis] == in[0].shape[k];
        if (fits)
            at[axis] = k;
    }
    return fits && own->count > 0;
}

/* Weights of the array's shape, or of that of the axes. */
static kiln_status write_along(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    int at[KILN_MAX_NDIM];
    if (in[0].ndim == in[1].ndim &&
        memcmp(in[0].shape, in[1].shape, (size_t)in[0].ndim * sizeof(int64_t)) == 0) {
        kn_str_append(text, "x0");
        return KILN_OK;
    }
    if (!find_along(at, own, in))
        return kn_error(KILN_ERROR_SHAPE,
                        "weights: the shape of the array was expected, or, where an axis is "
                        "given, that of the axes");
    kn_str_append(text, "reshape(transpose(x0, (");
    for (int a = 0; a < in[1].ndim; ++a)
        if (at[a] >= 0)
            kn_str_printf(text, "%d, ", at[a]);
    kn_str_append(text, ")), (");
    for (int a = 0; a < in[1].ndim; ++a)
        kn_str_printf(text, "%lld, ", at[a] < 0 ? 1 : (long long)in[1].shape[a]);
    kn_str_append(text, "))");
    return KILN_OK;
}

/* weights_along(w, a, axis) */
kiln_status kn_call_weights_along(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"w", "a", "axis"};
    kn_shaped_own own = {.count = 0};
    kn_value slot[3] = {{0}};
    kiln_status status = kn_call_match(slot, p, c, names, 3, 3, 2);
    if (status == KILN_OK && kn_call_is_given(&slot[2]))
        status = read_axes(own.number, &own.count, p, &slot[2]);
    return status == KILN_OK ? kn_call_shaped(out, p, c, write_along, &own, slot, 2) : status;
}

/* ---- complex numbers of everything ---- */

static kiln_status write_sort_complex(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    const kn_dtype_info *info = kn_dtype_info_of(in->dtype);
    const bool is_short =
        info->kind != KN_KIND_FLOAT && kiln_dtype_size(in->dtype) < 4 && in->dtype != KILN_BOOL;
    (void)own;
    kn_str_append(text, info->kind == KN_KIND_COMPLEX ? "sort(x0)"
                        : is_short                    ? "astype(sort(x0), complex64)"
                                                      : "astype(sort(x0), complex128)");
    return KILN_OK;
}

/* sort_complex(a) */
kiln_status kn_call_sort_complex(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a"};
    const kn_shaped_own own = {.count = 0};
    kn_value slot[1] = {{0}};
    kiln_status status = kn_call_match(slot, p, c, names, 1, 1, 1);
    return status == KILN_OK ? kn_call_shaped(out, p, c, write_sort_complex, &own, slot, 1) : status;
}

/* ---- distinct parts along an axis ---- */

enum { KEYS = 16 /* of a lexsort */, MOST_COLUMNS = KEYS * KEYS };

/* o: the numbers of rows, sorted; keys: columns of r, or of ranks g0, g1 ... */
static void put_order(kn_str *text, const char *key, int64_t first, int64_t end)
{
    kn_str_append(text, "o = lexsort((");
    for (int64_t k = end; k-- > first;) {
        kn_str_printf(text, key, (long long)k);
        kn_str_append(text, ", ");
    }
    kn_str_append(text, ")); ");
}

/* f: which of the sorted rows s differ from the one before. */
static void put_heads(kn_str *text, const char *columns, const char *differ)
{
    kn_str_printf(text,
                  "s = take(r%s, o, axis=0, mode='clip'); i = arange(len(s)); "
                  "p = take(s, i - 1, axis=0, mode='clip'); f = (i == 0) | any(%s, axis=1); ",
                  columns, differ);
}

/* More columns than a lexsort has keys are replaced by the ranks of so many of them; NaN has one rank. */
static void put_ranks(kn_str *text, int64_t columns)
{
    char part[64];
    for (int64_t k = 0, begin = 0; begin < columns; ++k, begin += KEYS) {
        const int64_t end = begin + KEYS < columns ? begin + KEYS : columns;
        snprintf(part, sizeof part, "[:, %lld:%lld]", (long long)begin, (long long)end);
        put_order(text, "r[:, %lld]", begin, end);
        put_heads(text, part, "(s != p) & ~(isnan(s) & isnan(p))");
        kn_str_printf(text, "g%lld = take(cumsum(f), argsort(o), mode='clip'); ", (long long)k);
    }
    put_order(text, "g%lld", 0, (columns + KEYS - 1) / KEYS);
}

/* Parts along the axis are rows of their elements, in C order, and sorted as these. which: KILN_UNIQUE_*. */
static kiln_status write_unique(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    static const char *const more[] = {", o[f]", ", take(cumsum(f) - 1, argsort(o), mode='clip')",
                                       ", c[c > 0]"};
    const int axis = (int)(own->number[0] < 0 ? own->number[0] + in->ndim : own->number[0]);
    if (axis < 0 || axis >= in->ndim)
        return kn_error(KILN_ERROR_SHAPE, "unique: axis: %lld was given; the array has %d axes",
                        (long long)own->number[0], in->ndim);
    const int64_t columns = in->shape[axis] > 0 ? kn_shape_size(in->ndim, in->shape) / in->shape[axis] : 1;
    if (columns < 1 || columns > MOST_COLUMNS)
        return kn_error(KILN_ERROR_SHAPE,
                        "unique: parts along axis %d have %lld elements; 1 to %d were expected", axis,
                        (long long)columns, MOST_COLUMNS);
    kn_str_printf(text, "r = reshape(moveaxis(x0, %d, 0), (x0.shape[%d], %lld)); ", axis, axis,
                  (long long)columns);
    if (columns > KEYS)
        put_ranks(text, columns);
    else
        put_order(text, "r[:, %lld]", 0, columns);
    put_heads(text, "", "s != p");
    if (own->which & KILN_UNIQUE_COUNTS)
        kn_str_printf(text, "c = bincount(cumsum(f) - 1, length=%lld); ",
                      (long long)(in->shape[axis] > 0 ? in->shape[axis] : 1));
    kn_str_printf(text, "t = take(x0, o, axis=%d, mode='clip'); t[", axis);
    for (int a = 0; a < axis; ++a)
        kn_str_append(text, ":, ");
    kn_str_append(text, "f]");
    for (int k = 0; k < 3; ++k)
        kn_str_append(text, own->which >> k & 1 ? more[k] : "");
    return KILN_OK;
}

kiln_status kn_call_unique_parts(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *x,
                                 int64_t axis, unsigned flags)
{
    kn_shaped_own own = {.count = 1, .which = (int)flags, .number = {axis}};
    for (unsigned left = flags; left; left >>= 1)
        own.more += (int)(left & 1);
    return kn_call_shaped(out, p, c, write_unique, &own, x, 1);
}
