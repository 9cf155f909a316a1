/* Quantiles of elements that have weights: NumPy's method inverted_cdf, which is the only one that takes
 * them. */
#include "expr/weighted_quantiles.h"

#include <string.h>

#include "base/str.h"
#include "expr/call.h"
#include "expr/composed.h"

/* x: the elements along a last axis, w: their weights; those of NaN are 0 where NaN are skipped. s: the
 * sorted ones, c: the part of all weights up to each, which is in front of every quantile where it is 0. A
 * single quantile is compared in the dtype of the elements, and a list in float64, as in NumPy. */
static void put_parts(kn_str *text, bool has_axis, bool skips_nan, bool is_list)
{
    kn_str_append(text, has_axis ? "x = moveaxis(a, axis, -1); w = moveaxis(broadcast_to(astype("
                                   "weights_along(weights, a, axis), float64), a.shape), axis, -1); "
                                 : "x = ravel(a); w = astype(ravel(shaped_as(weights, a)), float64); ");
    if (skips_nan)
        kn_str_append(text, "w = where(isnan(x), 0.0, w); ");
    kn_str_append(text, "o = argsort(x, axis=-1); s = take_along_axis(x, o, -1); c = "
                        "cumsum(take_along_axis(w, o, -1), axis=-1); c = c / c[..., -1:]; ");
    if (!is_list)
        kn_str_append(text, "c = full_like(x * 1.0, c); ");
    kn_str_append(text, "c = where(c == 0, -1.0, c); n = x.shape[-1] - 1; last = s[..., -1:]; ");
}

static void put_quantile(kn_str *text, int k, double q, bool skips_nan)
{
    kn_str_printf(text, "r%d = take_along_axis(s, minimum(sum(c < %.17g, axis=-1, keepdims=True), n), -1); ",
                  k, q);
    if (!skips_nan) /* what is sorted last is NaN if any element is */
        kn_str_printf(text, "r%d = where(isnan(last), last, r%d); ", k, k);
}

static void put_result(kn_str *text, int k, bool has_axis, bool keepdims)
{
    if (has_axis && keepdims)
        kn_str_printf(text, "moveaxis(r%d, -1, axis)", k);
    else if (keepdims)
        kn_str_printf(text, "shaped_as(r%d, sum(a, keepdims=True))", k);
    else
        kn_str_printf(text, "r%d[..., 0]", k);
}

kiln_status kn_call_weighted_quantile(kn_value *out, kn_parser *p, const kn_called *c, const kn_quantile *q,
                                      const double *list, int count, const kn_value *slot)
{
    static const char *const names[] = {"a", "weights", "axis"};
    kn_value in[] = {slot[0], slot[5], slot[2]};
    const bool has_axis = kn_call_is_given(&slot[2]);
    kn_str text = KN_STR_INIT;
    if (strcmp(q->method, "inverted_cdf") != 0)
        return kn_parser_refuse(p, slot[5].at, slot[5].length, "weights: method='inverted_cdf' was expected");
    if (slot[2].kind == KN_VALUE_TUPLE)
        return kn_parser_refuse(p, slot[2].at, slot[2].length,
                                "axis: one axis, or none, was expected beside weights");
    put_parts(&text, has_axis, q->skips_nan, q->has_list);
    for (int k = 0; k < count; ++k)
        put_quantile(&text, k, q->is_percentile ? list[k] / 100 : list[k], q->skips_nan);
    kn_str_append(&text, q->has_list ? "stack([" : "");
    for (int k = 0; k < count; ++k) {
        put_result(&text, k, has_axis, q->keepdims);
        kn_str_append(&text, q->has_list ? ", " : "");
    }
    kn_str_append(&text, q->has_list ? "])" : "");
    kiln_status status = kn_str_status(&text, "the text of a function");
    if (status == KILN_OK)
        status = kn_compose(out, p, c, kn_str_text(&text), names, in, 3);
    kn_str_free(&text);
    return status;
}
