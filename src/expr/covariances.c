/* cov and corrcoef: the text follows from how many axes the arguments have. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "expr/shaped_functions.h"
#include "types/dtype.h"

/* The numbers of a call. */
enum { BY_ROWS, DDOF, HAS_Y, HAS_COUNTS, HAS_WEIGHTS, NUMBERS };

/* Writes an array of two axes, a row for each variable; returns how many there are. */
static int64_t put_rows(kn_str *text, const kn_described *in, int k, bool is_reversed)
{
    kn_str_printf(text,
                  in->ndim == 0   ? "x%d[None, None]"
                  : in->ndim == 1 ? "x%d[None, :]"
                  : is_reversed   ? "x%d.T"
                                  : "x%d",
                  k);
    return in->ndim < 2 ? 1 : in->shape[is_reversed];
}

/* d: what is subtracted from its means, of float64 at least as NumPy's; f: by what products are divided. */
static void put_deviations(kn_str *text, const kn_shaped_own *own)
{
    const bool has_weights = own->number[HAS_COUNTS] || own->number[HAS_WEIGHTS];
    const long long ddof = (long long)own->number[DDOF];
    int at = 1 + (own->number[HAS_Y] != 0);
    if (!has_weights) {
        kn_str_printf(text,
                      "d = m - mean(m, axis=-1, keepdims=True); e = d; n = m.shape[-1] - (%lld); "
                      "f = zeros(1)[0] + n * (n > 0); ",
                      ddof);
        return;
    }
    kn_str_append(text, "w = ");
    for (int k = HAS_COUNTS; k <= HAS_WEIGHTS; ++k)
        if (own->number[k])
            kn_str_printf(text, "%sx%d * 1.0", k == HAS_WEIGHTS && own->number[HAS_COUNTS] ? " * " : "",
                          at++);
    kn_str_append(text, "; s = sum(w); ");
    kn_str_append(text, "d = m - sum(m * w, axis=-1, keepdims=True) / s; e = d * w; ");
    if (own->number[HAS_WEIGHTS])
        kn_str_printf(text, "f = maximum(s - (%lld) * sum(w * x%d) / s, 0.0); ", ddof, at - 1);
    else
        kn_str_printf(text, "f = maximum(s - (%lld), 0.0); ", ddof);
}

#define PRODUCTS "c = sum(d[:, None, :] * conj(e), axis=-1)"

static kiln_status write(kn_str *text, const kn_shaped_own *own, const kn_described *in)
{
    const bool has_y = own->number[HAS_Y] != 0, is_reversed = !own->number[BY_ROWS];
    bool is_complex = false;
    for (int k = 0; k <= has_y; ++k) {
        is_complex = is_complex || kn_dtype_info_of(in[k].dtype)->kind == KN_KIND_COMPLEX;
        if (in[k].ndim > 2)
            return kn_error(KILN_ERROR_SHAPE, "%d axes were given; 2 were expected at most", in[k].ndim);
    }
    kn_str_append(text, has_y ? "m = concatenate([" : "m = ");
    int64_t count = put_rows(text, in, 0, is_reversed && in[0].ndim == 2);
    if (has_y) {
        kn_str_append(text, ", ");
        count += put_rows(text, &in[1], 1, is_reversed && in[1].ndim == 2 && in[1].shape[0] != 1);
        kn_str_append(text, "])");
    }
    kn_str_append(text, " + zeros(1, dtype=float64); ");
    put_deviations(text, own);
    if (!own->which)
        kn_str_append(text, PRODUCTS " / f; ");
    else if (count == 1)
        kn_str_append(text, PRODUCTS "; c = c / c; ");
    else
        kn_str_append(text, PRODUCTS "; s = sqrt(sum(real(d * conj(d)), axis=-1)); c = c / s[:, None] / s; ");
    if (own->which && count != 1)
        kn_str_append(text, is_complex ? "c = clip(real(c), -1.0, 1.0) + 1j * clip(imag(c), -1.0, 1.0); "
                                       : "c = clip(c, -1.0, 1.0); ");
    kn_str_append(text, count == 1 ? "c[0, 0]" : "c");
    return KILN_OK;
}

/* cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None); corrcoef(x, y=None,
 * rowvar=True) (which). */
kiln_status kn_call_cov(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[][7] = {{"m", "y", "rowvar", "bias", "ddof", "fweights", "aweights"},
                                           {"x", "y", "rowvar", "", "", "", ""}};
    const char *const *name = names[c->which != 0];
    kn_value slot[7] = {{0}}, in[4];
    int64_t by_rows = 1, bias = 0, ddof = 0;
    int n_in = 0;
    kiln_status status = kn_call_match(slot, p, c, name, c->which ? 3 : 7, c->which ? 3 : 7, 1);
    if (status == KILN_OK && slot[2].kind != KN_VALUE_ABSENT)
        status = kn_parser_whole(&by_rows, p, &slot[2], name[2]);
    if (status == KILN_OK && slot[3].kind != KN_VALUE_ABSENT)
        status = kn_parser_whole(&bias, p, &slot[3], name[3]);
    ddof = !bias;
    if (status == KILN_OK && kn_call_is_given(&slot[4]))
        status = kn_parser_whole(&ddof, p, &slot[4], name[4]);
    kn_shaped_own own = {.which = c->which, .count = NUMBERS};
    own.number[BY_ROWS] = by_rows != 0;
    own.number[DDOF] = ddof;
    in[n_in++] = slot[0];
    static const int places[] = {[HAS_Y] = 1, [HAS_COUNTS] = 5, [HAS_WEIGHTS] = 6};
    for (int k = HAS_Y; k < NUMBERS && status == KILN_OK; ++k)
        if (kn_call_is_given(&slot[places[k]])) {
            own.number[k] = 1;
            in[n_in++] = slot[places[k]];
        }
    return status == KILN_OK ? kn_call_shaped(out, p, c, write, &own, in, n_in) : status;
}
