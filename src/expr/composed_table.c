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

/* Numbers and arrays, from start to stop along a last axis: t has their dtype and axes. */
#define ALONG_LAST                                                                                           \
    "i = counted(num); t = stop - start; b, e = full_like(t, start)[..., None], full_like(t, stop)[..., "    \
    "None]; "

#define PLACES(mask, columns) "r, c = places_of(" mask ", " columns "); r, c"

/* An array of one axis is each row of a square, as in NumPy. */
#define TRIANGLE(compares)                                                                                   \
    "n = m.shape[-1]; r = m[None].shape[-2] + (m.ndim == 1) * (n - 1); "                                     \
    "where(arange(r)[:, None] + k " compares " arange(n), m, zeros_like(m))"

/* Elements become inexact by "- 0.0", which changes none: by "* 1.0" inf + 1j is inf + nanj.
 * Elements that a mask leaves out are NaN, which is left out anyway; the mask has no more axes than a has. */
#define SELECTED "m = broadcast_to(where, a.shape); a = where(m, a - 0.0, nan); "
#define NAN_IS_ONE "a = where(isnan(a), ones_like(a), a); "

/* Coefficients of polynomials, of which the last ones belong together. */
#define OF_ENDS(operator)                                                                                    \
    "a1, a2 = transpose(atleast_1d(a1), 0), transpose(atleast_1d(a2), 0); n, m = len(a1), len(a2); l = n + " \
    "(m - n) * (m > n); i = "                                                                                \
    "arange(l); "                                                                                            \
    "where(i < l - n, False, take(a1, i - (l - n), mode='clip')) "                                           \
    operator" where(i < l - m, False, take(a2, i - (l - m), mode='clip'))"

/* float64, or complex128 where fp is complex; elements of fp have their dtype, and are not changed. */
#define INTERPOLATED                                                                                         \
    "xp = transpose(xp, 0); f = reshape(where(True, transpose(fp, 0), zeros(1)), (len(xp),)); "

/* Bins of x, and of y, of equal widths; k: the bin of both, -1 where there is none. Edges between given
 * numbers are float64, others have the common dtype. */
#define BIN_OF(at, edges, x) at " = searchsorted(" edges ", " x ", 'right') - 1 - (" x " == " edges "[-1]); "
#define IN_FLOAT64 "x, y = ravel(x) + zeros(1), ravel(y) + zeros(1); "
#define IN_COMMON_FLOAT "u, v = ravel(x), ravel(y); x, y = where(True, u, v) * 1.0, where(True, v, u) * 1.0; "
#define BINS_OF_BOTH(dtype, range_of_x, range_of_y)                                                          \
    dtype "a, b = histogram_bin_edges(x, bins" range_of_x "), histogram_bin_edges(y, bins" range_of_y        \
          "); " BIN_OF("i", "a", "x") BIN_OF(                                                                \
              "j", "b", "y") "k = where((i >= 0) & (i < bins) & (j >= 0) & (j < bins), i * bins + j, -1); "
/* A list of two ranges, or an array of two rows. */
#define RANGE(row) ", (range[" row "][0], range[" row "][1])"
#define COUNTS_OF_BOTH(counts) "astype(reshape(" counts ", bins, bins), float64), a, b"

/* NumPy's ufunc.at: each element of a is combined with those of b whose index is its own. */
#define AT_PARAMS "a, indices, b"
#define AT(name) "scattered_" name "(a, indices, b)"

static const kn_composed rows[] = {
    {"add_at", AT_PARAMS, AT("add")},
    {"allclose", CLOSE_PARAMS, "all(isclose(a, b, rtol, atol, equal_nan))"},
    {"append", "arr, values, axis#=None", NULL},
    {"argwhere", "a", NULL},
    {"array_equal", "a1, a2, equal_nan#=False", NULL},
    {"array_equiv", "a1, a2", NULL},
    {"atleast_1d", "a", NULL},
    {"atleast_2d", "a", NULL},
    {"atleast_3d", "a", NULL},
    {"average", "a, axis=None, *, keepdims#=False; returned#=False",
     "m = mean(a, axis=axis, keepdims=keepdims); {returned? m, full_like(m, size(a) / size(m)) {else} m}"},
    {"average", "a, axis=None, *, weights, keepdims#=False; returned#=False",
     "w = weights_along(weights, a, axis) * ones_like(a); s = sum(w - 0.0, axis=axis, keepdims=keepdims); "
     "r = sum((a - 0.0) * w, axis=axis, keepdims=keepdims) / s; {returned? r, full_like(r, s) {else} r}"},
    {"bartlett", "M#", WINDOW "where(n <= 0, 1 + n / m, 1 - n / m)"},
    {"bitwise_and_at", AT_PARAMS, AT("and")},
    {"bitwise_or_at", AT_PARAMS, AT("or")},
    {"bitwise_xor_at", AT_PARAMS, AT("xor")},
    {"blackman", "M#", WINDOW "0.42 + 0.5 * cos(pi * n / m) + 0.08 * cos(2.0 * pi * n / m)"},
    {"block", "arrays@", NULL},
    {"broadcast_arrays", "x, y", "broadcast_to(x, shape(x != y)), broadcast_to(y, shape(x != y))"},
    {"broadcast_arrays", "x, y, z",
     "b = (x != y) != z; broadcast_to(x, shape(b)), broadcast_to(y, shape(b)), broadcast_to(z, shape(b))"},
    /* Elements of an axis at random, each as likely, or by weights; at: the numbers of the results. */
    {"choice", "key, at, a", "take(a, integers(key, at, 0, len(a)), mode='clip')"},
    {"choice", "key, at, a, p",
     "c = cumsum(p * 1.0); t = random(key, at) * c[-1]; take(a, searchsorted(c, t, 'right'), mode='clip')"},
    {"choose", "a, choices@, *, mode$='raise'", NULL},
    {"column_stack", "tup@", NULL},
    {"compress", "condition, a", NULL},
    {"concatenate", "arrays@, axis#=0", NULL},
    {"convolve", "a, v, mode$='full'", NULL},
    /* In the shape and the dtype of dst, where `where` is true. */
    {"copyto", "dst, src, *, where=True", NULL},
    {"corrcoef", "x", NULL},
    {"correlate", "a, v, mode$='valid'", NULL},
    {"cov", "m, *, ddof#=1", NULL},
    /* Parts of one element each, since squeeze refuses others. */
    {"cross", "a, b, *, axis#=None; axisa#=-1, axisb#=-1, axisc#=-1",
     "{axis! o, q, r = axis, axis, axis {else} o, q, r = axisa, axisb, axisc}; "
     "x, y, z = split(moveaxis(a, o, -1), 3, -1); u, v, w = split(moveaxis(b, q, -1), 3, -1); "
     "s = squeeze(x, -1), squeeze(u, -1); k = arange(3); "
     "moveaxis(where(k == 0, y * w - z * v, where(k == 1, z * u - x * w, x * v - y * u)), -1, r)"},
    {"cumulative_prod", "x, *, axis=None", NULL},
    {"cumulative_sum", "x, *, axis=None", NULL},
    {"delete", "arr, obj%, axis#=None", NULL},
    {"diag", "v, k#=0", NULL},
    {"diag_indices", "n#", "arange(n), arange(n)"},
    {"diag_indices_from", "arr", "arange(len(arr[:, :])), arange(len(arr[:, :]))"},
    {"diagflat", "v, k#=0",
     "v = ravel(v); n = size(v) + k * (k > 0) - k * (k < 0); i = arange(n)[:, None]; j = arange(n); "
     "where(j - i == k, take(v, i * (k >= 0) + j * (k < 0), mode='clip'), False)"},
    {"diagonal", "a, offset#=0, axis1#=0, axis2#=1", NULL},
    {"diff", "a, n#=1, axis#=-1", NULL},
    {"digitize", "x, bins, right#=False", NULL},
    /* Rows of numbers whose sum is 1, by logarithms: all gamma numbers of a row may be 0. */
    {"dirichlet", "key, at, alpha",
     "m = len(alpha); i = at[:, None] * m + arange(m); "
     "l = log(standard_gamma(key, i, alpha + 1.0)) - standard_exponential(key, i) / alpha; "
     "g = exp(l - max(l, axis=-1, keepdims=True)); g / sum(g, axis=-1, keepdims=True)"},
    {"dot", "a, b", NULL},
    {"dstack", "tup@", NULL},
    {"ediff1d", "ary; to_end=None, to_begin=None",
     "d = diff(ravel(ary)); {to_begin! d = concatenate([of_dtype(to_begin, d), d]) {else} d = d}; "
     "{to_end! concatenate([d, of_dtype(to_end, d)]) {else} d}"},
    {"einsum", "subscripts$, operands@", NULL},
    {"eye", "N#, M#=N, k#=0, dtype=float64", "astype(counted(N)[:, None] + k == counted(M), dtype)"},
    {"fftfreq", "n#, d=1.0", "(counted(n) - n * (counted(n) >= (n + 1) // 2)) * (1.0 / (n * d))"},
    {"fftshift", "x", NULL},
    {"fill_diagonal", "a, val, wrap#=False",
     "b = a[:, :]; filled_along(a, where(ones(1, dtype=bool), val, False), wrap)"},
    {"flip", "m, axis=None", NULL},
    {"fliplr", "m", "m[:, ::-1]"},
    {"flipud", "m", "m[::-1]"},
    /* The ends are as they were given. */
    {"geomspace", "start, stop, num#=50, endpoint#=True; axis#=0",
     "start = start - 0.0; stop = stop - 0.0; s = sign(start); " ALONG_LAST
     "r = 10.0 ** linspace(log10(start / s), log10(stop / s), num, endpoint=endpoint, axis=-1); "
     "r = full_like(t, s)[..., None] * r; "
     "moveaxis(where(i == 0, b, where((i == num - 1) & (num > 1) & endpoint, e, r)), -1, axis)"},
    {"gradient", "f, dx=1.0, axis#=None, edge_order#=1", NULL},
    {"gradient", "f, *, x, axis#=None", NULL},
    {"hamming", "M#", WINDOW "0.54 + 0.46 * cos(pi * n / m)"},
    {"hanning", "M#", WINDOW "0.5 + 0.5 * cos(pi * n / m)"},
    {"histogram2d", "x, y, bins#=10",
     BINS_OF_BOTH(IN_COMMON_FLOAT, "", "") COUNTS_OF_BOTH("bincount(k, length=bins * bins)")},
    {"histogram2d", "x, y, bins#=10, *, weights",
     BINS_OF_BOTH(IN_COMMON_FLOAT, "", "") COUNTS_OF_BOTH("bincount(k, ravel(weights), length=bins * bins)")},
    {"histogram2d", "x, y, bins#=10, *, range, weights=ones_like(x)",
     BINS_OF_BOTH(IN_FLOAT64, RANGE("0"), RANGE("1"))
         COUNTS_OF_BOTH("bincount(k, ravel(weights), length=bins * bins)")},
    {"hstack", "tup@", NULL},
    {"identity", "n#, dtype=float64", "astype(counted(n)[:, None] == counted(n), dtype)"},
    {"ifftshift", "x", NULL},
    {"indices", "dimensions%, dtype=int64", NULL},
    {"inner", "a, b", NULL},
    {"insert", "arr, obj%, values, axis#=None", NULL},
    {"interp", "x, xp, fp, left=fp[0], right=fp[-1]",
     INTERPOLATED
     "interpolated(where(True, x, astype(xp[0], float64)), astype(xp, float64), f, where(True, left, f[0]), "
     "where(True, right, f[0]))"},
    {"interp", "x, xp, fp, *, period",
     INTERPOLATED
     "x = where(True, x, astype(xp[0], float64)) % period; q = astype(xp, float64) % period; o = argsort(q); "
     "q = take(q, o, mode='clip'); f = take(f, o, mode='clip'); "
     "interpolated(x, concatenate([q[-1:] - period, q, q[:1] + period]), "
     "concatenate([f[-1:], f, f[:1]]), f[0], f[0])"},
    {"intersect1d", "ar1, ar2; return_indices#=False",
     "a, b = " OF_BOTH("ravel(ar1)",
                       "ar2") ", ravel(ar2); {return_indices? o, q = argsort(a), argsort(b); " SORTED("a")
         IS_FIRST "; f = f & isin(s, b); k = take(q, searchsorted(take(b, q), s), mode='clip'); "
                  "selected(f, s), selected(f, o), selected(f, k) {else} " SORTED("a") IS_FIRST
     "; selected(f & isin(s, b), s)}"},
    {"isclose", CLOSE_PARAMS, CLOSE},
    {"iscomplex", "x", "imag(x) != 0"},
    {"isin", "element, test_elements, *, invert#=False",
     "t = " OF_BOTH("ravel(test_elements)", "element") "; e = " OF_BOTH(
         "element", "t") "; {invert? ~among(e, t) {else} among(e, t)}"},
    {"isreal", "x", "imag(x) == 0"},
    {"ix_", "x, y", "x[:, None], y[None, :]"},
    {"ix_", "x, y, z", "x[:, None, None], y[None, :, None], z[None, None, :]"},
    {"kaiser", "M#, beta", WINDOW "i0(beta * sqrt(1 - (n / m) ** 2.0)) / i0(beta + zeros(1))[0]"},
    {"kron", "a, b", NULL},
    {"linspace", "start, stop, num#=50, endpoint#=True; retstep#=False, axis#=0",
     "start = start - 0.0; stop = stop - 0.0; d = num - endpoint; w = (stop - start) / (d + (d == "
     "0)); " ALONG_LAST
     "r = where((i == num - 1) & (num > 1) & endpoint, e, i * full_like(t, w)[..., None] + b); "
     "r = moveaxis(r, -1, axis); {retstep? r, where(d == 0, nan, w) {else} r}"},
    {"logspace", "start, stop, num#=50, endpoint#=True, base=10.0; axis#=0",
     "base ** linspace(start, stop, num, endpoint=endpoint, axis=axis)"},
    {"matmul", "x1, x2", NULL},
    {"matrix_transpose", "x", "swapaxes(x, -1, -2)"},
    {"matvec", "x1, x2", NULL},
    {"maximum_at", AT_PARAMS, AT("max")},
    {"meshgrid", "x, y",
     "x, y = ravel(x), ravel(y); s = (len(y), len(x)); broadcast_to(x, s), broadcast_to(y[:, None], s)"},
    {"meshgrid", "x, y, z",
     "x, y, z = ravel(x), ravel(y), ravel(z); s = (len(y), len(x), len(z)); "
     "broadcast_to(x[:, None], s), broadcast_to(y[:, None, None], s), broadcast_to(z, s)"},
    {"minimum_at", AT_PARAMS, AT("min")},
    {"moveaxis", "a, source#, destination#", NULL},
    {"multi_dot", "arrays@", NULL},
    {"multiply_at", AT_PARAMS, AT("multiply")},
    /* Rows of counts of n draws by weights. */
    {"multinomial", "key, at, n#, pvals",
     "c = cumsum(pvals * 1.0); t = random(key, at[:, None] * n + counted(n)) * c[-1]; "
     "d = searchsorted(c, t, 'right'); sum(d[:, None, :] == arange(len(pvals))[:, None], axis=-1)"},
    /* By the numbers of elements that have each colour. */
    {"multivariate_hypergeometric", "key, at, colors, nsample",
     "c = cumsum(astype(colors, int64)); hypergeometric_of(key, at[:, None], arange(len(c)), c, nsample)"},
    {"multivariate_normal", "key, at, mean, cov",
     "r = root_of(astype(cov, float64)); n = len(r); "
     "astype(mean, float64) + matmul(standard_normal(key, at[:, None] * n + arange(n)), r)"},
    {"nanargmax", "a, axis=None, *, keepdims#=False",
     "argmax(a == nanmax(a, axis=axis, keepdims=True), axis=axis, keepdims=keepdims)"},
    {"nanargmin", "a, axis=None, *, keepdims#=False",
     "argmax(a == nanmin(a, axis=axis, keepdims=True), axis=axis, keepdims=keepdims)"},
    {"nancumprod", "a, axis=None", "cumprod(where(isnan(a), ones_like(a), a), axis=axis)"},
    {"nancumsum", "a, axis=None", "cumsum(where(isnan(a), zeros_like(a), a), axis=axis)"},
    {"nanmean", "a, axis=None, *, keepdims#=False",
     "t = nansum(a - 0.0, axis=axis, keepdims=keepdims); "
     "full_like(t, t / sum(~isnan(a), axis=axis, keepdims=keepdims))"},
    {"nanmean", "a, axis=None, *, keepdims#=False, where", SELECTED "nanmean(a, axis, keepdims=keepdims)"},
    {"nanprod", "a, axis=None, *, keepdims#=False", NAN_IS_ONE "prod(a, axis, keepdims=keepdims)"},
    {"nanprod", "a, axis=None, *, keepdims#=False, where",
     NAN_IS_ONE "prod(a, axis, keepdims=keepdims, where=where)"},
    {"nanprod", "a, axis=None, *, keepdims#=False, initial, where=True",
     NAN_IS_ONE "prod(a, axis, keepdims=keepdims, initial=initial, where=where)"},
    {"nanstd", "a, axis=None, *, ddof#=0, keepdims#=False; mean=None",
     "sqrt(nanvar(a, axis, ddof=ddof, keepdims=keepdims, mean=mean))"},
    {"nanstd", "a, axis=None, *, ddof#=0, keepdims#=False, where; mean=None",
     SELECTED "nanstd(a, axis, ddof=ddof, keepdims=keepdims, mean=mean)"},
    {"nanvar", "a, axis=None, *, ddof#=0, keepdims#=False; mean=None",
     "a = a - 0.0; m = {mean! mean {else} nanmean(a, axis, keepdims=True)}; "
     "d = where(isnan(a), zeros_like(a), a - m); "
     "t = sum(real(d * conj(d)), axis=axis, keepdims=keepdims); "
     "n = sum(~isnan(a), axis=axis, keepdims=keepdims) - ddof; full_like(t, where(n > 0, t, nan) / n)"},
    {"nanvar", "a, axis=None, *, ddof#=0, keepdims#=False, where; mean=None",
     SELECTED "nanvar(a, axis, ddof=ddof, keepdims=keepdims, mean=mean)"},
    {"outer", "a, b", "ravel(a)[:, None] * ravel(b)"},
    {"packbits", "a, axis#=None, bitorder$='big'", NULL},
    {"pad", "array, pad_width#, mode$='constant'", NULL},
    {"permutation", "key, n#", "permuted_index(key, counted(n), n)"},
    /* All elements, or those of each row by themselves, by sorts by 64 random bits. */
    {"permuted", "key, x", "take(ravel(x), permuted_index(key, numbered(x), size(x)))"},
    {"permuted", "key, x, axis#",
     "take_along_axis(x, argsort(random_bits(key, numbered(x), dtype=uint64), axis=axis), axis)"},
    {"place", "arr, mask, vals", "placed_by(arr, mask, vals, cumsum(ravel(mask != 0)))"},
    {"polyadd", "a1, a2", OF_ENDS("+")},
    {"polyder", "p", NULL},
    {"polyint", "p, *, k=0.0", NULL},
    {"polymul", "a1, a2", "convolve(a1, a2)"},
    {"polysub", "a1, a2", OF_ENDS("-")},
    {"polyval", "p, x",
     "p = transpose(atleast_1d(p), 0); "
     "evaluated(" OF_BOTH("p", "x") ", " OF_BOTH(OF_BOTH("x", "p"), "x") ")"},
    {"put", "a, ind, v; mode$='raise'",
     "ind = atleast_1d(ind); v = atleast_1d(v); "
     "{mode=wrap? ind = ind % size(a) {else} {mode=clip? ind = clip(ind, 0, size(a) - 1) {else} ind = ind}}; "
     "w = scattered_last(a, ind); where((w > 0) & (size(v) > 0), full_like(a, take(v, w - 1, mode='wrap')), "
     "a)"},
    {"put_along_axis", "arr, indices, values, axis#=-1",
     "p = places_along(arr, indices, axis); w = scattered_last(arr, p); v = broadcast_to(values, p.shape); "
     "where(w > 0, full_like(arr, take(v, w - 1, mode='clip')), arr)"},
    {"putmask", "a, mask, values", NULL},
    {"ravel_multi_index", "multi_index@, dims%, mode$='raise', order$='C'", NULL},
    {"repeat", "a, repeats#, axis#=None", NULL},
    {"repeat", "a, repeats, *, total#=None, axis#=None", NULL},
    {"resize", "a, new_shape%", NULL},
    {"rfftfreq", "n#, d=1.0", "arange(n // 2 + 1) * (1.0 / (n * d))"},
    {"roll", "a, shift#, axis#=None", NULL},
    {"rollaxis", "a, axis#, start#=0", NULL},
    {"rot90", "m, k#=1", NULL},
    {"row_stack", "tup@", NULL},
    {"run_lengths", "x", "v, n = runs_of(x); v, n"},
    /* Different elements of an axis, each as likely; by weights as if one after the other were drawn: the
     * largest of log(p) and Gumbel numbers. */
    {"sample", "key, a, size#", "take(a, permuted_index(key, arange(len(a))[:size], len(a)))"},
    {"sample", "key, a, size#, p",
     "w = log(p * 1.0) + gumbel(key, arange(len(a))); take(a, argsort(-w)[:size])"},
    {"searchsorted", "a, v", NULL},
    {"segment_max", "data, segment_ids, num_segments#", NULL},
    {"segment_min", "data, segment_ids, num_segments#", NULL},
    {"segment_prod", "data, segment_ids, num_segments#", NULL},
    {"segment_sum", "data, segment_ids, num_segments#", NULL},
    {"select", "condlist@, choicelist@, default=0", NULL},
    {"setdiff1d", "ar1, ar2; assume_unique#=False",
     "{assume_unique? a = ravel(ar1); selected(~isin(a, ar2), a) {else} " SORTED("ravel(ar1)") IS_NEW
     "; selected(f & ~isin(s, ar2), s)}"},
    {"setxor1d", "ar1, ar2",
     "a, b = ar1, ar2; " JOINED SORTED("c") IS_FIRST
     "; "
     "m = size(s) - astype(any(isnan(a)), int64) - astype(any(isnan(b)), int64); "
     "selected(where(isnan(s), j >= m, f & (isin(s, a) != isin(s, b))), s)"},
    {"shuffle", "key, x, axis#=-1",
     "take(x, permuted_index(key, arange(x.shape[axis]), x.shape[axis]), axis=axis)"},
    {"sliding_window_view", "x, window_shape%, axis=None", NULL},
    {"sort_complex", "a", NULL},
    {"stack", "arrays@, axis#=0", NULL},
    {"subtract_at", AT_PARAMS, AT("subtract")},
    {"swapaxes", "a, axis1#, axis2#", NULL},
    {"take", "a, indices, axis#=None", NULL},
    {"take_along_axis", "arr, indices, axis#=-1", NULL},
    {"tensordot", "a, b, axes#=2", NULL},
    {"tile", "A, reps#", NULL},
    {"trace", "a, offset#=0, axis1#=0, axis2#=1", "sum(diagonal(a, offset, axis1, axis2), axis=-1)"},
    {"trapezoid", "y, dx=1.0, axis#=-1", NULL},
    {"tri", "N#, M#=N, k#=0, dtype=float64", "astype(arange(N)[:, None] + k >= arange(M), dtype)"},
    {"tril", "m, k#=0", TRIANGLE(">=")},
    {"tril_indices", "n#, k#=0, m#=n", PLACES("tri(n, m, k, dtype=bool)", "m")},
    {"tril_indices_from", "arr, k#=0",
     "n, m = arr.shape[0], arr[:, :].shape[1]; " PLACES("tri(n, m, k, dtype=bool)", "m")},
    {"trim_zeros", "filt, trim$='fb'", NULL},
    {"triu", "m, k#=0", TRIANGLE("<=")},
    {"triu_indices", "n#, k#=0, m#=n", PLACES("~tri(n, m, k - 1, dtype=bool)", "m")},
    {"triu_indices_from", "arr, k#=0",
     "n, m = arr.shape[0], arr[:, :].shape[1]; " PLACES("~tri(n, m, k - 1, dtype=bool)", "m")},
    {"union1d", "ar1, ar2", "a, b = ar1, ar2; " JOINED "unique(c)"},
    {"unique_all", "x", "v, i, j, n = unique(x, True, True, True, equal_nan=False); v, i, j, n"},
    {"unique_counts", "x", "v, n = unique(x, return_counts=True, equal_nan=False); v, n"},
    {"unique_inverse", "x", "v, j = unique(x, return_inverse=True, equal_nan=False); v, j"},
    {"unique_values", "x", "unique(x, equal_nan=False)"},
    {"unpackbits", "a, axis#=None, count#=None, bitorder$='big'", NULL},
    {"unwrap", "p, *, axis#=-1, period=2 * pi; discont=None",
     "p = swapaxes(p - 0.0, axis, -1); d = diff(p); h = period / 2; m = (d + h) % period - h; "
     "m = where((m == -h) & (d > 0), h, m); c = where(abs(d) < {discont! discont {else} h}, 0.0, m - d); "
     "swapaxes(p + concatenate([zeros_like(p[..., :1]), cumsum(c, axis=-1)], axis=-1), axis, -1)"},
    {"vander", "x, N#=len(x), increasing#=False",
     "x[:, None] ** ((N - 1 - counted(N)) * (1 - increasing) + counted(N) * increasing)"},
    {"vdot", "a, b", NULL},
    {"vecdot", "x1, x2", NULL},
    {"vecmat", "x1, x2", NULL},
    {"vstack", "tup@", NULL}};
enum { ROWS = sizeof rows / sizeof rows[0] };

const kn_composed *kn_composed_at(int k)
{
    return k < ROWS ? &rows[k] : NULL;
}

void kn_composed_read(kn_composed_params *out, const char *params)
{
    static const char marks[] = "#$@%"; /* of the kinds from KN_OF_WHOLE on */
    *out = (kn_composed_params){.n_places = -1, .count = -1};
    while (*params) {
        const size_t length = strcspn(params, ",;");
        const char *equals = memchr(params, '=', length);
        if (*params == '*') {
            out->n_places = out->n_names;
        } else {
            const int k = out->n_names++;
            const size_t before = equals ? (size_t)(equals - params) : length;
            const char *mark = memchr(marks, params[before - 1], sizeof marks - 1);
            out->kind[k] = mark ? (kn_composed_kind)(1 + mark - marks) : KN_OF_VALUE;
            memcpy(out->name[k], params, before - (mark != NULL));
            if (equals)
                memcpy(out->value[k], equals + 1, length - before - 1);
        }
        params += length;
        if (*params == ';')
            out->count = out->n_names;
        params += strspn(params, ",; ");
    }
    out->count = out->count < 0 ? out->n_names : out->count;
    out->n_places = out->n_places < 0 ? out->count : out->n_places;
}

const char *kn_composed_name_in_c(const kn_composed *row)
{
    /* kiln_trace is a type, of calls; kiln_select selects elements; delete is a word of C++. */
    static const char *const others[][2] = {
        {"delete", "delete_at"}, {"select", "select_list"}, {"trace", "matrix_trace"}};
    for (size_t k = 0; k < sizeof others / sizeof others[0]; ++k)
        if (strcmp(row->name, others[k][0]) == 0)
            return others[k][1];
    return row->name;
}

int kn_composed_results(const kn_composed *row)
{
    int count = 1, depth = 0;
    for (const char *c = row->text ? row->text : ""; *c; ++c) {
        depth += (*c == '(' || *c == '[' || *c == '{') - (*c == ')' || *c == ']' || *c == '}');
        if (depth == 0)
            count = *c == ';' ? 1 : count + (*c == ',');
    }
    return count;
}
