/* Functions of expressions whose shapes depend on elements: the text computes a number, and numbers that
 * shapes depend on are read before what has these shapes is lowered (apart.h). */
#include "expr/call.h"

#include <stdio.h>

#include "base/error.h"
#include "base/str.h"
#include "expr/composed.h"
#include "expr/shaped_functions.h"
#include "space/shape.h"

/* ---- counts ---- */

/* Each element as often as the number at its place says; one number is that of all. Below 0 the sum is the
 * least of them, which is refused. */
kiln_status kn_call_repeat_by(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *slot)
{
    static const char *const names[] = {"a", "repeats", "axis"};
    kn_value in[] = {slot[0], slot[1], slot[2]};
    kiln_status status = p->array(&in[1], p);
    if (status == KILN_OK)
        status = kn_call_cast_to(&in[1], p, c, KILN_INT64, KN_CASTING_SAFE, false);
    if (status == KILN_OK)
        status = kn_call_flat_axis(&in[0], &in[2], p, c);
    if (status != KILN_OK)
        return status;
    return kn_compose(
        out, p, c,
        "x = swapaxes(a, axis, -1); r = broadcast_to(repeats, (x.shape[-1],)); b = min(r, initial=0); "
        "n = counted(where(b < 0, b, sum(r))); "
        "swapaxes(take(x, searchsorted(cumsum(r), n, 'right'), axis=-1, mode='clip'), axis, -1)",
        names, in, 3);
}

/* ---- bins ---- */

/* The second array has as many elements as there are bins, of which none is read. */
static kiln_status write_bincount(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    const long long bins = (long long)in[1].shape[0];
    kn_str_printf(text, "bincount(x0%s, length=%lld)%s", own->which ? ", x2" : "", bins > 0 ? bins : 1,
                  bins > 0 ? "" : "[:0]");
    return KILN_OK;
}

/* The number of bins that the elements need, `least` of them at least; or an element below 0, which is
 * refused. */
static kiln_status write_needed(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    const long long least = (long long)own->number[0];
    if (in->ndim == 0)
        return kn_error(KILN_ERROR_SHAPE, "bincount: 'x' has no axes; one was expected");
    if (kn_shape_size(in->ndim, in->shape) == 0)
        kn_str_printf(text, "zeros((), dtype=int64) + %lld", least);
    else
        kn_str_printf(text,
                      "b = min(x0).astype(int64); e = max(x0).astype(int64); where(b < 0, b, maximum(e + 1, "
                      "%lld))",
                      least);
    return KILN_OK;
}

/* As many bins as the greatest element needs, and `least` of them at least. */
kiln_status kn_call_bincount_by(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *x,
                                const kn_value *weights, int64_t least)
{
    static const char *const names[] = {"needed"};
    const bool has_weights = kn_call_is_given(weights);
    const kn_shaped_own own = {.which = has_weights}, needed = {.which = 2, .count = 1, .number = {least}};
    kn_value in[3] = {*x, {0}, {0}}, whole, number;
    kiln_status status = p->array(&in[0], p);
    whole = in[0];
    if (status == KILN_OK)
        status = kn_call_cast_to(&whole, p, c, KILN_INT64, KN_CASTING_SAFE, false);
    if (status == KILN_OK)
        status = kn_call_shaped(&number, p, c, write_needed, &needed, &in[0], 1);
    if (status == KILN_OK)
        status = kn_compose(&in[1], p, c, "broadcast_to(False, counted(needed).shape)", names, &number, 1);
    if (has_weights)
        in[2] = *weights;
    return status == KILN_OK ? kn_call_shaped(out, p, c, write_bincount, &own, in, 2 + has_weights) : status;
}

/* ---- zeros at the ends ---- */

/* x without the parts at the ends of an axis that have zeros alone. */
static kiln_status trim_axis(kn_value *x, kn_parser *p, const kn_called *c, const kn_value *axis,
                             bool trims_front, bool trims_back)
{
    static const char *const names[] = {"x", "axis"};
    char text[400];
    kn_value slot[] = {*x, *axis};
    snprintf(text, sizeof text,
             "s = swapaxes(x, axis, 0); n = len(s); m = any(reshape(s != 0, (n, size(s) // (n + (n == 0)))), "
             "axis=1); f = %s; e = %s; k = counted(where(any(m), e - f, 0)); take(x, k + f, axis=axis, "
             "mode='clip')",
             trims_front ? "sum(cumsum(m) == 0)" : "0 * sum(m)",
             trims_back ? "n - sum(cumsum(m[::-1]) == 0)" : "n + 0 * sum(m)");
    return kn_compose(x, p, c, text, names, slot, 2);
}

kiln_status kn_call_trim_axes(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *x,
                              const kn_value *axes, const char *trim)
{
    const kn_value *item;
    const int count = kn_parser_items(&item, p, axes);
    kiln_status status = KILN_OK;
    *out = *x;
    for (int k = 0; k < count && status == KILN_OK; ++k) {
        kn_parser_items(&item, p, axes);
        const kn_value axis = item[k];
        status = trim_axis(out, p, c, &axis, strchr(trim, 'f') != NULL, strchr(trim, 'b') != NULL);
    }
    return status;
}
