/* Functions of expressions that are one map over arrays which they read at places of their own. The texts of
 * composed functions call those that NumPy does not have. */
#include "expr/call.h"

#include "base/error.h"
#include "kernel/kernel.h"

/* The last axis of a result, and the same place of an array whose other axes may be broadcast. */
#define PLACE                                                                                                \
    "auto place = _ind.get();\n"                                                                             \
    "for (int d = 0; d < a.ndim - 1; ++d) place.at[d] = a.shape()[d] == 1 ? 0 : place.at[d];\n"              \
    "const int last = a.ndim - 1; const int64 n = a.shape()[last];\n"

enum { MOST_READ = 5 };

static const struct {
    const char *name, *params, *result, *body;
    const char *arg[MOST_READ + 1];
} readings[] = {
    /* The product of polynomials, the coefficients k of which are wanted. */
    {"convolved",
     "raw T a, raw T v, int64 k",
     "T y",
     "const int64 n = a.size(), m = v.size(), first = k - m + 1 > 0 ? k - m + 1 : 0, last = k < n - 1 ? k : "
     "n - 1;\n"
     "decltype(T() + T()) sum = 0;\n"
     "for (int64 j = first; j <= last; ++j) sum += a[j] * v[k - j];\n"
     "y = (T)sum",
     {"a", "v", "k"}},
    {"evaluated",
     "raw T p, T x",
     "T y",
     "T value = 0;\n"
     "for (int64 k = 0; k < p.size(); ++k) value = (T)(value * x + p[k]);\n"
     "y = value",
     {"p", "x"}},
    {"filled_diagonal",
     "T a, raw V val, int64 wrap",
     "T y",
     "auto place = _ind.get(); const int64 columns = _ind.shape()[_ind.ndim - 1], m = val.size();\n"
     "int64 k = place[0]; bool is_on = true;\n"
     "if (_ind.ndim == 2 && wrap) is_on = (k = k % (columns + 1)) == place[1];\n"
     "for (int d = 1; d < _ind.ndim; ++d) is_on = is_on && place[d] == k;\n"
     "k = wrap && _ind.ndim == 2 ? place[0] - place[0] / (columns + 1) : k;\n"
     "y = is_on && m > 0 ? (T)val[k % m] : a",
     {"a", "val", "wrap"}},
    /* The number that has colour c, of nsample elements drawn without replacement from those of all colours,
     * whose counts are summed up to each: the colours are halved until c is alone, and the elements of the
     * half in which it is are drawn from those of both. */
    {"hypergeometric_of",
     "uint64 key, int64 at, int64 c, raw int64 sums, int64 nsample",
     "int64 y",
     "int64 low = 0, high = sums.size(), drawn = nsample >= 0 && nsample <= sums[high - 1] ? nsample : -1;\n"
     "while (drawn >= 0 && high - low > 1) {\n"
     "    const int64 half = low + (high - low) / 2, before = low > 0 ? sums[low - 1] : 0;\n"
     "    const int64 first = hypergeometric<int64>(key, at * sums.size() + half, (double)(sums[half - 1] - "
     "before), (double)(sums[high - 1] - sums[half - 1]), (double)drawn);\n"
     "    drawn = c < half ? first : drawn - first;\n"
     "    (c < half ? high : low) = half;\n"
     "}\n"
     "y = drawn",
     {"key", "at", "c", "sums", "nsample"}},
    /* NumPy's interp; elements are float64, and those of F. */
    {"interpolated",
     "float64 x, raw float64 xp, raw F fp, raw F left, raw F right",
     "F y",
     "const int64 n = xp.size(), j = kn_search_among<float64, true>(kn_search_hint, xp, x) - 1;\n"
     "if (x != x) y = n == 1 ? fp[0] : (F)x;\n"
     "else if (j < 0) y = left[0];\n"
     "else if (j == n - 1) y = x == xp[j] ? fp[j] : right[0];\n"
     "else if (x == xp[j]) y = fp[j];\n"
     "else {\n"
     "    const F slope = (fp[j + 1] - fp[j]) / (F)(xp[j + 1] - xp[j]);\n"
     "    F value = slope * (F)(x - xp[j]) + fp[j];\n"
     "    if (value != value) value = slope * (F)(x - xp[j + 1]) + fp[j + 1];\n"
     "    y = value != value && fp[j] == fp[j + 1] ? fp[j] : value;\n"
     "}",
     {"x", "xp", "fp", "left", "right"}},
    {"numbered", "T a", "int64 y", "y = i", {"a"}},
    /* Eight elements along the last axis are a byte. */
    {"packed",
     "raw T a, T like, int64 k, int64 is_little",
     "uint8 y",
     PLACE "unsigned byte = 0;\n"
           "for (int64 j = 0; j < 8; ++j) {\n"
           "    place.at[last] = 8 * k + j;\n"
           "    byte |= place.at[last] < n && a[place] != (T)0 ? 1u << (is_little ? j : 7 - j) : 0u;\n"
           "}\n"
           "y = (uint8)byte",
     {"a", "like", "k", "is_little"}},
    {"unpacked",
     "raw uint8 a, uint8 like, int64 k, int64 is_little",
     "uint8 y",
     PLACE "place.at[last] = k / 8;\n"
           "y = k / 8 < n ? (uint8)((unsigned)a[place] >> (is_little ? k % 8 : 7 - k % 8) & 1u) : (uint8)0",
     {"a", "like", "k", "is_little"}}};

/* The rows and columns of a matrix where `mask` is not zero. */
kiln_status kn_call_places_of(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"mask", "columns"};
    kn_value slot[2] = {{0}};
    kiln_kernel *kernel = NULL;
    int in[2];
    kiln_status status = kn_call_match(slot, p, c, names, 2, 2, 2);
    for (int k = 0; k < 2 && status == KILN_OK; ++k)
        status = kn_parser_node(&in[k], p, &slot[k]);
    if (status == KILN_OK)
        status = kn_select_find(&kernel, "bool mask, int64 columns", "int64 row, int64 column", "mask",
                                "row = i / columns; column = i % columns");
    return status == KILN_OK ? kn_call_add_kernel(out, p, c, kernel, in, 2, 2) : status;
}

/* which: nothing; the name says which row. */
kiln_status kn_call_reading(kn_value *out, kn_parser *p, const kn_called *c)
{
    kn_value slot[MOST_READ] = {{0}};
    int row = 0, n = 0, in[MOST_READ];
    kiln_kernel *kernel = NULL;
    while (!kn_call_is(c, readings[row].name))
        ++row;
    while (readings[row].arg[n])
        ++n;
    kiln_status status = kn_call_match(slot, p, c, readings[row].arg, n, n, n);
    for (int k = 0; k < n && status == KILN_OK; ++k)
        status = kn_parser_node(&in[k], p, &slot[k]);
    if (status == KILN_OK)
        status = kn_map_find(&kernel, &(kn_map_texts){readings[row].params, readings[row].result,
                                                      readings[row].body, readings[row].name, 0, 0});
    return status == KILN_OK ? kn_call_add_kernel(out, p, c, kernel, in, n, 1) : status;
}
