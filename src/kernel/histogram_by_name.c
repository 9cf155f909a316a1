/* kernel/histogram_by_name.c - NumPy's histograms as texts of bins. */
#include "kernel/histogram.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "kernel/sort.h"

/* Edges are compared in float32 for these elements, else in float64; those of 16-bit floats are made by
 * arithmetic of theirs, or rounded, as NumPy's are. A range of one number is half of one wider on each side.
 * The bin that the quotient says may be the neighbour of the right one: its edges decide. */
static const char edges_text[] =
    "template <class T> struct kn_edge_of { typedef double type; };\n"
    "template <> struct kn_edge_of<float> { typedef float type; };\n"
    "template <class R, class K> __device__ R kn_edge(const R low, const R high, const K bins, const K k) {\n"
    "    const R step = (R)(high - low) / (R)bins, from_low = (R)k * step;\n"
    "    return k == bins ? high : (R)(from_low + low);\n"
    "}\n"
    "template <class T, bool is_given, class R, class K> __device__ R kn_inner_edge(const R low, const R "
    "high, const R step, const K bins, const K k) {\n"
    "    if constexpr (sizeof(T) == 2)\n"
    "        if ((T)0.5f != (T)0)\n"
    "            return is_given ? (R)(T)((R)k * step + low) : (R)kn_edge<T>((T)low, (T)high, bins, k);\n"
    "    return (R)k * step + low;\n"
    "}\n"
    "template <class E, class T> __device__ E kn_edge_type(const T x) {\n"
    "    if constexpr (sizeof(T) == 8 && sizeof(E) == 8)\n"
    "        return kn_float64_of(x);\n"
    "    else\n"
    "        return (E)x;\n"
    "}\n"
    "template <class R, bool is_given, class T, class K> __device__ K kn_bin_of(const T x, const R first, "
    "const R last, const K bins) {\n"
    "    typedef typename kn_edge_of<T>::type E;\n"
    "    const R half = (R)0.5 * (R)(first == last), low = first - half, high = last + half;\n"
    /* No branches, no condition that is asked again, and nothing behind one that might trap: hosts find
     * bins by vectors. */
    /* A given range is of weak numbers: floats are compared with what it is in their dtype. */
    "    const bool is_rounded = is_given && sizeof(T) > 1 && (T)0.5f != (T)0;\n"
    "    const E least = is_rounded ? (E)(T)low : (E)low, most = is_rounded ? (E)(T)high : (E)high;\n"
    "    const E value = kn_edge_type<E>(x);\n"
    "    const bool is_in = (value >= least) & (value <= most);\n"
    "    const E at = is_in ? value : (E)low;\n"
    "    const R step = (high - low) / (R)bins;\n"
    /* CUDA converts between floats and integers, and between floats, a quarter as often as it adds: where the
     * quotient, which is at most a few units of 2^-24 wrong, is farther from whole numbers than edges are
     * rounded, it says the bin. The sum with 1.5 * 2^23 is rounded to a whole number, and its lower bits are
     * that. */
    "#ifdef __CUDA_ARCH__\n"
    "    if constexpr (sizeof(E) == 4 && sizeof(K) == 4) {\n"
    "        const E scale = (E)bins / (E)(high - low), from = (E)(low < 0 ? -low : low), to = (E)(high < 0 "
    "? "
    "-high : high);\n"
    "        const E margin = (E)4.8e-7 * ((E)bins + (from < to ? to : from) * scale);\n"
    "        const E place = (at - (E)low) * scale, whole = place + (E)12582912;\n"
    "        const E off = place - (whole - (E)12582912);\n"
    "        if (!is_in | ((off < 0 ? -off : off) > margin))\n"
    "            return (kn_cast_bits<K>(whole) - 0x4b400000 - (off < 0)) | -(K)!is_in;\n"
    "    }\n"
    "#endif\n"
    "    const K last_bin = bins - 1;\n"
    "    K k = (K)((at - (E)low) / (E)(high - low) * (E)bins);\n"
    "    k = k < 0 ? 0 : k;\n"
    "    k = k > last_bin ? last_bin : k;\n"
    "    const bool is_before = at < (E)kn_inner_edge<T, is_given>(low, high, step, bins, k);\n"
    "    const bool is_behind = at >= (E)kn_inner_edge<T, is_given>(low, high, step, bins, (K)(k + 1));\n"
    "    k += is_behind - is_before;\n"
    "    k = k > last_bin ? last_bin : k;\n" /* the last bin has its upper edge */
    "    return k | -(K)!is_in;\n"
    "}\n"
    "template <class T, class Hint, class Raw> __device__ long long kn_bin_among(Hint &&hint, const T x, "
    "const Raw &edges) {\n"
    "    const long long n = edges.size();\n"
    "    const long long low = kn_search_among<T, true>(hint, edges, x);\n"
    "    return low == n && n > 1 && x == edges[n - 1] ? n - 2 : low == n ? -1 : low - 1;\n"
    "}\n";

/* Numbers of so few bins are computed by 32 bits, of which hosts convert vectors from floats and back. */
enum { FEW_BINS = 1 << 24 };

static const struct {
    const char *name, *in, *bin, *bin_of_few;
    int edges;
} histograms[KN_HISTOGRAM_NAMES] = {
    [KN_BINCOUNT] = {"bincount", "K x", "x", "x", 0},
    [KN_HISTOGRAM] = {"histogram", "T x, float64 low, float64 high, int64 bins",
                      "kn_bin_of<double, true>(x, low, high, bins)",
                      "kn_bin_of<double, true>(x, low, high, (int)bins)", 0},
    [KN_HISTOGRAM_WHOLE] = {"histogram", "T x, T low, T high, int64 bins",
                            "kn_bin_of<typename kn_edge_of<T>::type, false>(x, low, high, bins)",
                            "kn_bin_of<typename kn_edge_of<T>::type, false>(x, low, high, (int)bins)", 0},
    [KN_HISTOGRAM_EDGES] = {"histogram", "T x, raw T edges", "kn_bin_among(kn_search_hint, x, edges)",
                            "kn_bin_among(kn_search_hint, x, edges)", 2}};

/* NumPy sums the weights of bincount in float64, those of histograms in their own dtype. */
static kiln_status make(kiln_kernel **out, const void *of)
{
    const kn_histogram_text *t = of;
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    o.preamble = edges_text;
    o.flags = KILN_KERNEL_NO_FMA; /* edges are rounded as NumPy's */
    return kn_histogram_create(out, t, &o);
}

kiln_status kn_histogram_find(kiln_kernel **out, kn_histogram_name name, bool has_weights, int64_t bins)
{
    kn_str in = KN_STR_INIT, key = KN_STR_INIT;
    int64_t count = histograms[name].edges ? 0 : bins;
    kn_str_printf(&in, "%s%s", histograms[name].in, has_weights ? ", W weights" : "");
    kn_str_printf(&key, "histogram %d %d %lld", (int)name, has_weights, (long long)count);
    const kn_histogram_text text = {.in = kn_str_text(&in),
                                    .outs = !has_weights          ? "int64 counts"
                                            : name == KN_BINCOUNT ? "float64 counts"
                                                                  : "W counts",
                                    .bin =
                                        count > FEW_BINS ? histograms[name].bin : histograms[name].bin_of_few,
                                    .value = has_weights ? "weights" : NULL,
                                    .name = histograms[name].name,
                                    .bins = count,
                                    .whole = name == KN_BINCOUNT,
                                    .real = name != KN_BINCOUNT,
                                    .edges = histograms[name].edges};
    kiln_status status = kn_str_status(&in, "a histogram's texts");
    if (status == KILN_OK)
        status = kn_kernel_remembered(out, &key, make, &text);
    kn_str_free(&in);
    kn_str_free(&key);
    return status;
}

/* ---- elements that are combined by keys ---- */

/* The value that leaves any other element as it is, in the dtype of what is combined. */
static const char neutral_text[] =
    "template <class T> __device__ T kn_outermost_of(const bool is_low) {\n"
    "    const unsigned long long half = 1ull << (8 * (int)sizeof(T) - 1);\n"
    "    const bool is_float = sizeof(T) > 1 && (T)0.5f != (T)0, is_signed = (T)-1 < (T)0;\n"
    "    return is_float ? (T)(is_low ? -INFINITY : INFINITY) : is_low ? (is_signed ? (T)half : (T)0)\n"
    "                                                         : is_signed ? (T)(half - 1) : (T)-1;\n"
    "}\n";

static const struct {
    const char *name, *reduce, *identity;
} combinings[] = {[KN_ADDED] = {"added", "a + b", "0"},
                  [KN_MULTIPLIED] = {"multiplied", "a * b", "1"},
                  [KN_GREATEST] = {"greatest", "kn_greatest(a, b)", "kn_outermost_of<T>(true)"},
                  [KN_LEAST] = {"least", "kn_least(a, b)", "kn_outermost_of<T>(false)"},
                  [KN_ANDED] = {"anded", "a & b", "(T)-1"},
                  [KN_ORED] = {"ored", "a | b", "0"},
                  [KN_XORED] = {"xored", "a ^ b", "0"},
                  [KN_LAST] = {"last", "max(a, b)", "0"}};

kn_combining_text kn_combining_text_of(kn_combining how)
{
    return (kn_combining_text){combinings[how].name, combinings[how].reduce, combinings[how].identity,
                               neutral_text};
}

typedef struct combined {
    kn_combining how;
    bool is_scattered, in_any_order;
    int64_t bins;
} combined;

/* The place of an index, of which negative ones count from the end; it is read where it is checked. */
#define PLACE                                                                                                \
    "[&] { const int64 n = a.size(); int64 k = (int64)index; k = k < 0 ? k + n : k; (void)a[k]; return k; "  \
    "}()"

static kiln_status make_combined(kiln_kernel **out, const void *of)
{
    const combined *c = of;
    const bool is_last = c->how == KN_LAST;
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    o.preamble = neutral_text;
    o.flags = (c->is_scattered ? KILN_KERNEL_CHECK : 0u) | (c->in_any_order ? KILN_KERNEL_ANY_ORDER : 0u);
    const kn_histogram_text text = {.in = is_last           ? "raw T a, I index"
                                          : c->is_scattered ? "raw T a, I index, V value"
                                                            : "T value, K key",
                                    .outs = is_last ? "int64 last" : "T combined",
                                    .bin = c->is_scattered ? PLACE : "key",
                                    .value = is_last ? "i + 1" : "(T)value",
                                    .reduce = combinings[c->how].reduce,
                                    .identity = combinings[c->how].identity,
                                    .name = combinings[c->how].name,
                                    .bins = c->bins,
                                    .sized = c->is_scattered,
                                    .whole = 2};
    return kn_histogram_create(out, &text, &o);
}

static kiln_status find_combined(kiln_kernel **out, const combined *c)
{
    kn_str key = KN_STR_INIT;
    kn_str_printf(&key, "combined %d %d %d %lld", (int)c->how, c->is_scattered, c->in_any_order,
                  (long long)c->bins);
    kiln_status status = kn_kernel_remembered(out, &key, make_combined, c);
    kn_str_free(&key);
    return status;
}

kiln_status kn_segments_find(kiln_kernel **out, kn_combining how, int64_t bins, unsigned flags)
{
    return find_combined(
        out, &(combined){.how = how, .in_any_order = flags & KILN_KERNEL_ANY_ORDER, .bins = bins});
}

kiln_status kn_scattered_find(kiln_kernel **out, kn_combining how, unsigned flags)
{
    return find_combined(
        out, &(combined){.how = how, .is_scattered = true, .in_any_order = flags & KILN_KERNEL_ANY_ORDER});
}

/* ---- edges ---- */

static kiln_status make_edges(kiln_kernel **out, const void *is_given)
{
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    o.preamble = edges_text;
    o.flags = KILN_KERNEL_NO_FMA;
    return *(const bool *)is_given
               ? kiln_elementwise_create(out, "float64 low, float64 high, int64 bins, int64 k",
                                         "float64 edge",
                                         "const float64 half = low == high ? 0.5 : 0; edge = "
                                         "kn_edge<float64>(low - half, high + half, bins, k)",
                                         "histogram_bin_edges", &o)
               : kiln_elementwise_create(
                     out, "E low, E high, int64 bins, int64 k", "E edge",
                     "const E half = low == high ? (E)0.5 : (E)0; edge = kn_edge<E>(low - "
                     "half, high + half, bins, k)",
                     "histogram_bin_edges", &o);
}

kiln_status kn_histogram_find_edges(kiln_kernel **out, bool is_given)
{
    kn_str key = KN_STR_INIT;
    kn_str_printf(&key, "histogram_bin_edges %d", is_given);
    kiln_status status = kn_kernel_remembered(out, &key, make_edges, &is_given);
    kn_str_free(&key);
    return status;
}
