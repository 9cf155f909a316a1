/* Functions of expressions that are expressions themselves. The nodes of a row's text are added in place of
 * the call, so that they fuse with what stands around them as if they had been written there. */
#include "expr/composed.h"

#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "expr/call.h"

enum { MOST_PARAMS = 6, NAME_SIZE = 16 };

/* params: names, each with "#" where a number has to be whole, and "=VALUE" where it may be absent; those
 * behind "*" are given by name. Of several rows of one name the first one that the arguments fit is taken.
 * text: statements over the parameters; the last one is the value. Formulas are NumPy's (its manual and the
 * results it gives), so that dtypes and roundings are, too. */
typedef struct composed {
    const char *name, *params, *text;
} composed;

/* b becomes inexact, as in NumPy, before it is subtracted: unsigned integers would wrap. */
#define CLOSE                                                                                                \
    "b = b * 1.0; ((abs(a - b) <= atol + rtol * abs(b)) & isfinite(b)) | (a == b) | ((a != a) & (b != b) & " \
    "equal_nan)"
#define CLOSE_PARAMS "a, b, rtol=1e-05, atol=1e-08, equal_nan#=False"
/* From -(M - 1) to M - 1 in steps of two, and what that is divided by; a window of one is 1. */
#define WINDOW "n = 2 * arange(M) + 1 - M; m = M - 1 + (M == 1); "
/* float64 at least, as NumPy's covariances are; the products of all pairs of rows. */
#define DEVIATIONS "m = m + zeros(1, dtype=float64); d = m - mean(m, axis=-1, keepdims=True); "
#define PRODUCTS "sum(d[:, None, :] * conj(d), axis=-1)"

static const composed rows[] = {
    {"allclose", CLOSE_PARAMS, "all(isclose(a, b, rtol, atol, equal_nan))"},
    {"bartlett", "M#", WINDOW "where(n <= 0, 1 + n / m, 1 - n / m)"},
    {"blackman", "M#", WINDOW "0.42 + 0.5 * cos(pi * n / m) + 0.08 * cos(2.0 * pi * n / m)"},
    {"corrcoef", "m",
     DEVIATIONS "c = " PRODUCTS "; s = sqrt(sum(d * d, axis=-1)); clip(c / s[:, None] / s, -1.0, 1.0)"},
    {"cov", "m, *, ddof#=1", DEVIATIONS PRODUCTS " / (m.shape[-1] - ddof)"},
    {"cumulative_prod", "x, *, axis", "cumprod(x, axis=axis)"},
    {"cumulative_sum", "x, *, axis", "cumsum(x, axis=axis)"},
    {"ediff1d", "ary", "diff(ravel(ary))"},
    {"eye", "N#, *, k#=0, dtype=float64", "astype(arange(N)[:, None] + k == arange(N), dtype)"},
    {"eye", "N#, M#, k#=0, dtype=float64", "astype(arange(N)[:, None] + k == arange(M), dtype)"},
    {"fliplr", "m", "m[:, ::-1]"},
    {"flipud", "m", "m[::-1]"},
    {"hamming", "M#", WINDOW "0.54 + 0.46 * cos(pi * n / m)"},
    {"hanning", "M#", WINDOW "0.5 + 0.5 * cos(pi * n / m)"},
    {"identity", "n#, dtype=float64", "astype(arange(n)[:, None] == arange(n), dtype)"},
    {"isclose", CLOSE_PARAMS, CLOSE},
    {"iscomplex", "x", "imag(x) != 0"},
    {"isreal", "x", "imag(x) == 0"},
    {"kaiser", "M#, beta", WINDOW "i0(beta * sqrt(1 - (n / m) ** 2.0)) / i0(beta + zeros(1))[0]"},
    {"meshgrid", "x, y",
     "x, y = ravel(x), ravel(y); s = (len(y), len(x)); broadcast_to(x, s), broadcast_to(y[:, None], s)"},
    {"meshgrid", "x, y, z",
     "x, y, z = ravel(x), ravel(y), ravel(z); s = (len(y), len(x), len(z)); "
     "broadcast_to(x[:, None], s), broadcast_to(y[:, None, None], s), broadcast_to(z, s)"},
    {"nanargmax", "a, axis=None, *, keepdims#=False",
     "argmax(a == nanmax(a, axis=axis, keepdims=True), axis=axis, keepdims=keepdims)"},
    {"nanargmin", "a, axis=None, *, keepdims#=False",
     "argmax(a == nanmin(a, axis=axis, keepdims=True), axis=axis, keepdims=keepdims)"},
    {"nancumprod", "a, axis=None", "cumprod(where(isnan(a), ones_like(a), a), axis=axis)"},
    {"nancumsum", "a, axis=None", "cumsum(where(isnan(a), zeros_like(a), a), axis=axis)"},
    {"nanprod", "a, axis=None, *, keepdims#=False",
     "prod(where(isnan(a), ones_like(a), a), axis=axis, keepdims=keepdims)"},
    {"outer", "a, b", "ravel(a)[:, None] * ravel(b)"},
    {"tri", "N#, *, k#=0, dtype=float64", "astype(arange(N)[:, None] + k >= arange(N), dtype)"},
    {"tri", "N#, M#, k#=0, dtype=float64", "astype(arange(N)[:, None] + k >= arange(M), dtype)"},
    {"tril", "m, k#=0", "where(arange(m.shape[-2])[:, None] + k >= arange(m.shape[-1]), m, zeros_like(m))"},
    {"triu", "m, k#=0", "where(arange(m.shape[-2])[:, None] + k <= arange(m.shape[-1]), m, zeros_like(m))"},
    {"vander", "x, *, increasing#=False",
     "n = arange(len(x)); x[:, None] ** ((len(x) - 1 - n) * (1 - increasing) + n * increasing)"},
    {"vander", "x, N#, *, increasing#=False",
     "x[:, None] ** ((N - 1 - arange(N)) * (1 - increasing) + arange(N) * increasing)"},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

const char *kn_composed_name(int k)
{
    return k < ROWS ? rows[k].name : NULL;
}

/* ---- parameters ---- */

typedef struct params {
    char name[MOST_PARAMS][NAME_SIZE], value[MOST_PARAMS][NAME_SIZE]; /* value: "" where it has to be given */
    const char *names[MOST_PARAMS];
    bool is_whole[MOST_PARAMS];
    int count, n_places;
} params;

static void read_params(params *out, const char *text)
{
    *out = (params){.n_places = -1};
    while (*text) {
        const size_t length = strcspn(text, ",");
        const char *equals = memchr(text, '=', length);
        if (*text == '*') {
            out->n_places = out->count;
        } else {
            const int k = out->count++;
            const size_t before = equals ? (size_t)(equals - text) : length;
            out->is_whole[k] = text[before - 1] == '#';
            memcpy(out->name[k], text, before - out->is_whole[k]);
            if (equals)
                memcpy(out->value[k], equals + 1, length - before - 1);
            out->names[k] = out->name[k];
        }
        text += length;
        text += strspn(text, ", ");
    }
    out->n_places = out->n_places < 0 ? out->count : out->n_places;
}

/* slot: the arguments of the row's parameters, in their order. */
static kiln_status match(kn_value *slot, const kn_parser *p, const kn_called *c, const params *of)
{
    kiln_status status = kn_call_match(slot, p, c, of->names, of->count, of->n_places);
    for (int k = 0; k < of->count && status == KILN_OK; ++k) {
        int64_t whole;
        if (!of->value[k][0])
            status = kn_call_need(p, c, &slot[k], of->name[k]);
        if (status == KILN_OK && of->is_whole[k] && kn_parser_is_number(p, &slot[k]))
            status = kn_parser_whole(&whole, p, &slot[k], of->name[k]);
    }
    return status;
}

/* ---- calls ---- */

/* The names of the text are its parameters and its own: the caller's variables and kernels are out of
 * sight. */
static kiln_status read_text(kn_value *out, kn_parser *p, const char *text, const params *of, kn_value *slot)
{
    struct kn_map *names = p->names;
    const int n_variables = p->n_variables, n_kernels = p->n_kernels;
    kiln_status status = KILN_OK;
    p->names = NULL;
    p->n_kernels = 0;
    for (int k = 0; k < of->count && status == KILN_OK; ++k) {
        if (slot[k].kind == KN_VALUE_ABSENT)
            status = kn_parser_read(&slot[k], p, of->value[k]);
        if (status == KILN_OK)
            status = kn_parser_assign(p, of->name[k], strlen(of->name[k]), &slot[k]);
    }
    if (status == KILN_OK)
        status = kn_parser_read(out, p, text);
    kn_map_free(p->names, NULL);
    p->names = names;
    p->n_variables = n_variables;
    p->n_kernels = n_kernels;
    return status;
}

static kiln_status call(kn_value *out, kn_parser *p, const kn_called *c, const composed *row,
                        const params *of, kn_value *slot)
{
    const kn_called *outer = p->composed;
    if (!outer)
        p->composed = c;
    kiln_status status = read_text(out, p, row->text, of, slot);
    p->composed = outer;
    out->at = c->at;
    out->length = c->length;
    out->variable = 0;
    return status;
}

bool kn_call_composed(kiln_status *status, kn_value *out, kn_parser *p, const kn_called *c)
{
    bool is_there = false;
    for (const composed *row = rows; row < rows + ROWS; ++row) {
        if (strlen(row->name) != c->name_length || memcmp(row->name, c->name, c->name_length) != 0)
            continue;
        kn_value slot[MOST_PARAMS] = {{0}};
        params of;
        read_params(&of, row->params);
        is_there = true;
        *status = match(slot, p, c, &of);
        if (*status == KILN_OK) {
            *status = call(out, p, c, row, &of, slot);
            return true;
        }
    }
    return is_there;
}
