/* kernel/histogram_by_name.c - NumPy's histograms as texts of bins. */
#include "kernel/histogram.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "kernel/sort.h"

/* Edges are float32 for these elements, else float64. A range of one number is half of one wider on each
 * side. The bin that the quotient says may be the neighbour of the right one: its edges decide. */
static const char edges_text[] =
    "template <class T> struct kn_edge_of { typedef double type; };\n"
    "template <> struct kn_edge_of<float> { typedef float type; };\n"
    "template <class R> __device__ R kn_edge(const R low, const R high, const long long bins, const long "
    "long "
    "k) {\n"
    "    const R step = (high - low) / (R)bins, from_low = (R)k * step;\n"
    "    return k == bins ? high : from_low + low;\n"
    "}\n"
    "template <class R, class T> __device__ long long kn_bin_of(const T x, const R first, const R last, "
    "const "
    "long long bins) {\n"
    "    typedef typename kn_edge_of<T>::type E;\n"
    "    const R half = first == last ? (R)0.5 : (R)0, low = first - half, high = last + half;\n"
    "    const E at = (E)x;\n"
    "    if (!((R)at >= low && (R)at <= high))\n"
    "        return -1;\n"
    "    long long k = (long long)((at - (E)low) / (E)(high - low) * (E)bins);\n"
    "    k = k < 0 ? 0 : k >= bins ? bins - 1 : k;\n"
    "    if (at < (E)kn_edge(low, high, bins, k))\n"
    "        return k - 1;\n"
    "    return k + 1 < bins && at >= (E)kn_edge(low, high, bins, k + 1) ? k + 1 : k;\n"
    "}\n"
    "template <class T, class Raw> __device__ long long kn_bin_among(const T x, const Raw &edges) {\n"
    "    const long long n = edges.size();\n"
    "    long long low = 0, count = n;\n"
    "    while (count > 0) {\n"
    "        const long long half = count - count / 2;\n"
    "        low += edges[low + half - 1] <= x ? half : 0;\n"
    "        count -= half;\n"
    "    }\n"
    "    return low == n && n > 1 && x == edges[n - 1] ? n - 2 : low == n ? -1 : low - 1;\n"
    "}\n";

static const struct {
    const char *name, *in, *bin;
    int edges;
} histograms[KN_HISTOGRAM_NAMES] = {
    [KN_BINCOUNT] = {"bincount", "K x", "x", 0},
    [KN_HISTOGRAM] = {"histogram", "T x, float64 low, float64 high, int64 bins",
                      "kn_bin_of<double>(x, low, high, bins)", 0},
    [KN_HISTOGRAM_WHOLE] = {"histogram", "T x, T low, T high, int64 bins",
                            "kn_bin_of<typename kn_edge_of<T>::type>(x, low, high, bins)", 0},
    [KN_HISTOGRAM_EDGES] = {"histogram", "T x, raw T edges", "kn_bin_among(x, edges)", 2}};

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
                                    .bin = histograms[name].bin,
                                    .value = has_weights ? "weights" : NULL,
                                    .name = histograms[name].name,
                                    .bins = count,
                                    .edges = histograms[name].edges};
    kiln_status status = kn_str_status(&in, "a histogram's texts");
    if (status == KILN_OK)
        status = kn_kernel_remembered(out, &key, make, &text);
    kn_str_free(&in);
    kn_str_free(&key);
    return status;
}

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
