/* Functions of expressions that are composed of others: the table. */
#include "expr/composed_table.h"

#include <stddef.h>
#include <string.h>

/* b becomes inexact, as in NumPy, before it is subtracted: unsigned integers would wrap. By a sum: a product
 * makes inf + 0j inf + nanj. */
#define CLOSE                                                                                                \
    "b = b + 0.0; ((abs(a - b) <= atol + rtol * abs(b)) & isfinite(b)) | (a == b) | (isnan(a) & isnan(b) & " \
    "equal_nan)"
#define CLOSE_PARAMS "a, b, rtol=1e-05, atol=1e-08, equal_nan#=False"
/* From -(M - 1) to M - 1 in steps of two, and what that is divided by; a window of one is 1. */
#define WINDOW "n = 2 * arange(M) + 1 - M; m = M - 1 + (M == 1); "
/* float64 at least, as NumPy's covariances are; the products of all pairs of rows. */
#define DEVIATIONS "m = m + zeros(1, dtype=float64); d = m - mean(m, axis=-1, keepdims=True); "
#define PRODUCTS "sum(d[:, None, :] * conj(d), axis=-1)"

/* Elements of a and b, flat, one after the other. */
#define JOINED                                                                                               \
    "a, b = ravel(a), ravel(b); n = size(a); i = arange(n + size(b)); "                                      \
    "c = where(i < n, take(a, i, mode='clip'), take(b, i - n, mode='clip')); "
/* Sorted elements, and which are the first of equal ones; IS_NEW counts NaN as equal to NaN. */
#define SORTED(x) "s = sort(" x "); j = arange(size(s)); p = take(s, j - 1, mode='clip'); f = "
#define IS_FIRST "(j == 0) | (s != p)"
#define IS_NEW "(j == 0) | ((s != p) & ~(isnan(s) & isnan(p)))"
/* The dtype of both, by an element that is read of none. */
#define OF_BOTH(x, y) "where(True, " x ", take(ravel(" y "), arange(1), mode='clip')[0])"

/* Bins of x, and of y, of equal widths; k: the bin of both, -1 where there is none. */
#define BIN_OF(at, edges, x) at " = searchsorted(" edges ", " x ", 'right') - 1 - (" x " == " edges "[-1]); "
#define BINS_OF_BOTH                                                                                         \
    "x, y = ravel(x) + zeros(1), ravel(y) + zeros(1); "                                                      \
    "a, b = histogram_bin_edges(x, bins), histogram_bin_edges(y, bins); " BIN_OF("i", "a", "x")              \
        BIN_OF("j", "b", "y") "k = where((i >= 0) & (i < bins) & (j >= 0) & (j < bins), i * bins + j, -1); "
#define COUNTS_OF_BOTH(counts) "astype(reshape(" counts ", bins, bins), float64), a, b"

/* NumPy's ufunc.at: each element of a is combined with those of b whose index is its own. */
#define AT_PARAMS "a, indices, b"
#define AT(name, both) "s = scattered_" name "(a, indices, b); full_like(a, " both ")"

static const kn_composed rows[] = {
    {"add_at", AT_PARAMS, AT("add", "a + s")},
    {"allclose", CLOSE_PARAMS, "all(isclose(a, b, rtol, atol, equal_nan))"},
    {"append", "arr, values, axis#=None", NULL},
    {"argwhere", "a", NULL},
    {"atleast_1d", "a", NULL},
    {"atleast_2d", "a", NULL},
    {"atleast_3d", "a", NULL},
    {"average", "a, axis=None, *, keepdims#=False", "mean(a, axis=axis, keepdims=keepdims)"},
    {"average", "a, axis=None, *, weights, keepdims#=False",
     "w = weights * ones_like(a); "
     "sum(a * 1.0 * w, axis=axis, keepdims=keepdims) / sum(w * 1.0, axis=axis, keepdims=keepdims)"},
    {"bartlett", "M#", WINDOW "where(n <= 0, 1 + n / m, 1 - n / m)"},
    {"bitwise_and_at", AT_PARAMS, AT("and", "a & s")},
    {"bitwise_or_at", AT_PARAMS, AT("or", "a | s")},
    {"bitwise_xor_at", AT_PARAMS, AT("xor", "a ^ s")},
    {"blackman", "M#", WINDOW "0.42 + 0.5 * cos(pi * n / m) + 0.08 * cos(2.0 * pi * n / m)"},
    /* Elements of an axis at random, each as likely, or by weights; at: the numbers of the results. */
    {"choice", "key, at, a", "take(a, integers(key, at, 0, len(a)), mode='clip')"},
    {"choice", "key, at, a, p",
     "c = cumsum(p * 1.0); t = random(key, at) * c[-1]; take(a, searchsorted(c, t, 'right'), mode='clip')"},
    {"compress", "condition, a", NULL},
    {"corrcoef", "m",
     DEVIATIONS "c = " PRODUCTS "; s = sqrt(sum(d * d, axis=-1)); clip(c / s[:, None] / s, -1.0, 1.0)"},
    {"cov", "m, *, ddof#=1", DEVIATIONS PRODUCTS " / (m.shape[-1] - ddof)"},
    {"cumulative_prod", "x, *, axis", "cumprod(x, axis=axis)"},
    {"cumulative_sum", "x, *, axis", "cumsum(x, axis=axis)"},
    {"diagonal", "a, offset#=0, axis1#=0, axis2#=1", NULL},
    {"diff", "a, n#=1, axis#=-1", NULL},
    {"digitize", "x, bins, right#=False", NULL},
    /* Rows of numbers whose sum is 1. */
    {"dirichlet", "key, at, alpha",
     "m = len(alpha); g = standard_gamma(key, at[:, None] * m + arange(m), alpha); g / sum(g, axis=-1, "
     "keepdims=True)"},
    {"ediff1d", "ary", "diff(ravel(ary))"},
    {"eye", "N#, M#=N, k#=0, dtype=float64", "astype(arange(N)[:, None] + k == arange(M), dtype)"},
    {"flip", "m, axis=None", NULL},
    {"fliplr", "m", "m[:, ::-1]"},
    {"flipud", "m", "m[::-1]"},
    {"gradient", "f, dx=1.0, axis#=-1",
     "f = swapaxes(f * 1.0, axis, -1); swapaxes(concatenate([(f[..., 1:2] - f[..., :1]) / dx, "
     "(f[..., 2:] - f[..., :-2]) / (2.0 * dx), (f[..., -1:] - f[..., -2:-1]) / dx], axis=-1), axis, -1)"},
    {"hamming", "M#", WINDOW "0.54 + 0.46 * cos(pi * n / m)"},
    {"hanning", "M#", WINDOW "0.5 + 0.5 * cos(pi * n / m)"},
    {"histogram2d", "x, y, bins#=10", BINS_OF_BOTH COUNTS_OF_BOTH("bincount(k, length=bins * bins)")},
    {"histogram2d", "x, y, bins#=10, *, weights",
     BINS_OF_BOTH COUNTS_OF_BOTH("bincount(k, ravel(weights), length=bins * bins)")},
    {"identity", "n#, dtype=float64", "astype(arange(n)[:, None] == arange(n), dtype)"},
    {"intersect1d", "ar1, ar2",
     "a, b = " OF_BOTH("ravel(ar1)", "ar2") ", ravel(ar2); " SORTED("a") IS_FIRST
     "; extract(f & isin(s, b), s)"},
    {"isclose", CLOSE_PARAMS, CLOSE},
    {"iscomplex", "x", "imag(x) != 0"},
    {"isin", "element, test_elements, *, invert#=False",
     "t = sort(" OF_BOTH("ravel(test_elements)", "element") "); e = " OF_BOTH(
         "element", "t") "; "
                         "((take(t, searchsorted(t, e), mode='clip') == e) & (len(t) > 0)) != (invert != 0)"},
    {"isreal", "x", "imag(x) == 0"},
    {"kaiser", "M#, beta", WINDOW "i0(beta * sqrt(1 - (n / m) ** 2.0)) / i0(beta + zeros(1))[0]"},
    {"linspace", "start, stop, num#=50, *, endpoint#=True",
     "i = arange(num); d = num - endpoint; "
     "where((i == num - 1) & (num > 1) & endpoint, stop * 1.0, i * ((stop - start) / (d + (d == 0))) + "
     "start)"},
    {"logspace", "start, stop, num#=50, *, endpoint#=True, base=10.0",
     "base ** linspace(start, stop, num, endpoint=endpoint)"},
    {"matrix_transpose", "x", "swapaxes(x, -1, -2)"},
    {"maximum_at", AT_PARAMS, AT("max", "maximum(a, s)")},
    {"meshgrid", "x, y",
     "x, y = ravel(x), ravel(y); s = (len(y), len(x)); broadcast_to(x, s), broadcast_to(y[:, None], s)"},
    {"meshgrid", "x, y, z",
     "x, y, z = ravel(x), ravel(y), ravel(z); s = (len(y), len(x), len(z)); "
     "broadcast_to(x[:, None], s), broadcast_to(y[:, None, None], s), broadcast_to(z, s)"},
    {"minimum_at", AT_PARAMS, AT("min", "minimum(a, s)")},
    {"moveaxis", "a, source#, destination#", NULL},
    {"multiply_at", AT_PARAMS, AT("multiply", "a * s")},
    /* Rows of counts of n draws by weights. */
    {"multinomial", "key, at, n#, pvals",
     "c = cumsum(pvals * 1.0); t = random(key, at[:, None] * n + arange(n)) * c[-1]; "
     "d = searchsorted(c, t, 'right'); sum(d[:, None, :] == arange(len(pvals))[:, None], axis=-1)"},
    {"nanargmax", "a, axis=None, *, keepdims#=False",
     "argmax(a == nanmax(a, axis=axis, keepdims=True), axis=axis, keepdims=keepdims)"},
    {"nanargmin", "a, axis=None, *, keepdims#=False",
     "argmax(a == nanmin(a, axis=axis, keepdims=True), axis=axis, keepdims=keepdims)"},
    {"nancumprod", "a, axis=None", "cumprod(where(isnan(a), ones_like(a), a), axis=axis)"},
    {"nancumsum", "a, axis=None", "cumsum(where(isnan(a), zeros_like(a), a), axis=axis)"},
    {"nanmean", "a, axis=None, *, keepdims#=False",
     "t = nansum(a * 1.0, axis=axis, keepdims=keepdims); "
     "full_like(t, t / sum(~isnan(a), axis=axis, keepdims=keepdims))"},
    {"nanprod", "a, axis=None, *, keepdims#=False",
     "prod(where(isnan(a), ones_like(a), a), axis=axis, keepdims=keepdims)"},
    {"nanstd", "a, axis=None, *, ddof#=0, keepdims#=False",
     "sqrt(nanvar(a, axis, ddof=ddof, keepdims=keepdims))"},
    {"nanvar", "a, axis=None, *, ddof#=0, keepdims#=False",
     "a = a * 1.0; d = where(isnan(a), zeros_like(a), a - nanmean(a, axis, keepdims=True)); "
     "t = sum(real(d * conj(d)), axis=axis, keepdims=keepdims); "
     "n = sum(~isnan(a), axis=axis, keepdims=keepdims) - ddof; full_like(t, where(n > 0, t, nan) / n)"},
    {"outer", "a, b", "ravel(a)[:, None] * ravel(b)"},
    {"pad", "array, pad_width#", NULL},
    /* Sorts by 64 random bits; of x along its last axis. */
    {"permutation", "key, n#", "argsort(random_bits(key, arange(n), dtype=uint64))"},
    {"place", "arr, mask, vals", "placed_by(arr, mask, vals, cumsum(ravel(mask != 0)))"},
    {"put", "a, ind, v",
     "w = scattered_last(a, ind); where(w > 0, full_like(a, take(v, w - 1, mode='wrap')), a)"},
    {"put_along_axis", "arr, indices, values, axis#=-1",
     "p = places_along(arr, indices, axis); w = scattered_last(arr, p); v = broadcast_to(values, p.shape); "
     "where(w > 0, full_like(arr, take(v, w - 1, mode='clip')), arr)"},
    {"putmask", "a, mask, values", NULL},
    {"repeat", "a, repeats#, axis#=None", NULL},
    {"roll", "a, shift#, axis#", NULL},
    {"rollaxis", "a, axis#, start#=0", NULL},
    {"rot90", "m, k#=1", NULL},
    {"run_lengths", "x", "v, n = runs_of(x); v, n"},
    /* Different elements of an axis, each as likely; by weights as if one after the other were drawn: the
     * largest of log(p) and Gumbel numbers. */
    {"sample", "key, a, size#", "take(a, argsort(random_bits(key, arange(len(a)), dtype=uint64))[:size])"},
    {"sample", "key, a, size#, p",
     "w = log(p * 1.0) + gumbel(key, arange(len(a))); take(a, argsort(-w)[:size])"},
    {"searchsorted", "a, v", NULL},
    {"segment_max", "data, segment_ids, num_segments#", NULL},
    {"segment_min", "data, segment_ids, num_segments#", NULL},
    {"segment_prod", "data, segment_ids, num_segments#", NULL},
    {"segment_sum", "data, segment_ids, num_segments#", NULL},
    {"setdiff1d", "ar1, ar2", SORTED("ravel(ar1)") IS_NEW "; extract(f & ~isin(s, ar2), s)"},
    {"setxor1d", "ar1, ar2",
     "a, b = ar1, ar2; " JOINED SORTED("c") IS_FIRST
     "; "
     "m = size(s) - astype(any(isnan(a)), int64) - astype(any(isnan(b)), int64); "
     "extract(where(isnan(s), j >= m, f & (isin(s, a) != isin(s, b))), s)"},
    {"shuffle", "key, x, axis#=-1",
     "take(x, argsort(random_bits(key, arange(x.shape[axis]), dtype=uint64)), axis=axis)"},
    {"subtract_at", AT_PARAMS, AT("add", "a - s")},
    {"swapaxes", "a, axis1#, axis2#", NULL},
    {"take", "a, indices, axis#=None", NULL},
    {"take_along_axis", "arr, indices, axis#=-1", NULL},
    {"tile", "A, reps#", NULL},
    {"trace", "a, offset#=0, axis1#=0, axis2#=1", "sum(diagonal(a, offset, axis1, axis2), axis=-1)"},
    {"trapezoid", "y, dx=1.0, axis#=-1", NULL},
    {"tri", "N#, M#=N, k#=0, dtype=float64", "astype(arange(N)[:, None] + k >= arange(M), dtype)"},
    {"tril", "m, k#=0", "where(arange(m.shape[-2])[:, None] + k >= arange(m.shape[-1]), m, zeros_like(m))"},
    {"triu", "m, k#=0", "where(arange(m.shape[-2])[:, None] + k <= arange(m.shape[-1]), m, zeros_like(m))"},
    {"union1d", "ar1, ar2", "a, b = ar1, ar2; " JOINED "unique(c)"},
    {"unwrap", "p, axis#=-1, *, period=2 * pi",
     "p = swapaxes(p * 1.0, axis, -1); d = diff(p); h = period / 2; m = (d + h) % period - h; "
     "m = where((m == -h) & (d > 0), h, m); c = where(abs(d) < h, 0.0, m - d); "
     "swapaxes(p + concatenate([zeros_like(p[..., :1]), cumsum(c, axis=-1)], axis=-1), axis, -1)"},
    {"vander", "x, N#=len(x), *, increasing#=False",
     "x[:, None] ** ((N - 1 - arange(N)) * (1 - increasing) + arange(N) * increasing)"}};
enum { ROWS = sizeof rows / sizeof rows[0] };

const kn_composed *kn_composed_at(int k)
{
    return k < ROWS ? &rows[k] : NULL;
}

void kn_composed_read(kn_composed_params *out, const char *params)
{
    *out = (kn_composed_params){.n_places = -1};
    while (*params) {
        const size_t length = strcspn(params, ",");
        const char *equals = memchr(params, '=', length);
        if (*params == '*') {
            out->n_places = out->count;
        } else {
            const int k = out->count++;
            const size_t before = equals ? (size_t)(equals - params) : length;
            out->is_whole[k] = params[before - 1] == '#';
            memcpy(out->name[k], params, before - out->is_whole[k]);
            if (equals)
                memcpy(out->value[k], equals + 1, length - before - 1);
        }
        params += length;
        params += strspn(params, ", ");
    }
    out->n_places = out->n_places < 0 ? out->count : out->n_places;
}

const char *kn_composed_name_in_c(const kn_composed *row)
{
    return strcmp(row->name, "trace") == 0 ? "matrix_trace" : row->name; /* kiln_trace is a type: of calls */
}

int kn_composed_results(const kn_composed *row)
{
    int count = 1, depth = 0;
    for (const char *c = row->text ? row->text : ""; *c; ++c) {
        depth += (*c == '(' || *c == '[') - (*c == ')' || *c == ']');
        if (depth == 0)
            count = *c == ';' ? 1 : count + (*c == ',');
    }
    return count;
}
