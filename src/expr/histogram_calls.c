/* kiln_bincount and histograms by name: calls of expressions, which are remembered by their texts. */
#include <math.h>

#include <kiln/histogram.h>
#include "base/error.h"
#include "base/str.h"
#include "expr/text_call.h"
#include "kernel/histogram.h"
#include "kernel/sort.h"
#include "types/dtype.h"

/* ---- bincount ---- */

static kiln_status read_number(int64_t *out, kiln_array *array)
{
    return kiln_array_to_host(array, out, sizeof *out);
}

/* One more than the greatest element. */
static kiln_status count_numbers(int64_t *out, kiln_arg x)
{
    kiln_array *result[2] = {NULL, NULL};
    int64_t least = 0, greatest = -1;
    kiln_status status = KILN_OK;
    if (kiln_array_size(x.value.array) > 0) {
        status = kn_call_text(result, 2, "x", "astype(min(x), int64), astype(max(x), int64)", &x, 1);
        if (status == KILN_OK)
            status = read_number(&least, result[0]);
        if (status == KILN_OK)
            status = read_number(&greatest, result[1]);
    }
    kiln_array_free(result[0]);
    kiln_array_free(result[1]);
    if (status == KILN_OK && (least < 0 || greatest < -1 || greatest == INT64_MAX))
        return kn_error(KILN_ERROR_INVALID,
                        "bincount: %lld is an element of x; numbers from 0 on were expected",
                        (long long)(least < 0 ? least : greatest));
    *out = greatest + 1;
    return status;
}

static kiln_status check_numbers(kiln_arg x, int64_t minlength)
{
    if (x.kind != KILN_ARG_ARRAY || !x.value.array)
        return kn_error(KILN_ERROR_TYPE, "bincount: x is no array; one of integers was expected");
    const kiln_dtype dtype = kiln_array_dtype(x.value.array);
    if (kn_dtype_info_of(dtype)->kind > KN_KIND_UINT)
        return kn_error(KILN_ERROR_TYPE, "bincount: x is of %s; integers were expected",
                        kiln_dtype_name(dtype));
    return minlength >= 0 ? KILN_OK
                          : kn_error(KILN_ERROR_INVALID,
                                     "bincount: minlength: %lld was given; a number that is not negative was "
                                     "expected",
                                     (long long)minlength);
}

kiln_status kiln_bincount(kiln_array **out, kiln_arg x, kiln_arg weights, int64_t minlength)
{
    const kiln_arg in[] = {x, weights};
    bool has_weights = weights.kind != KILN_ARG_NONE;
    kiln_array *counts = NULL;
    kiln_kernel *kernel = NULL;
    int64_t bins = 0;
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "bincount: out is NULL; the address of an array was expected");
    kiln_status status = check_numbers(x, minlength);
    if (status == KILN_OK)
        status = count_numbers(&bins, x);
    bins = bins > minlength ? bins : minlength;
    if (status == KILN_OK)
        status = kiln_array_empty(&counts, has_weights ? KILN_FLOAT64 : KILN_INT64, 1, &bins,
                                  kiln_array_device(x.value.array));
    if (status == KILN_OK)
        status = kn_histogram_find(&kernel, KN_BINCOUNT, has_weights, 0);
    if (status == KILN_OK)
        status = kiln_kernel_call(kernel, &counts, 1, in, 1 + has_weights, NULL);
    kiln_kernel_free(kernel);
    if (status == KILN_OK)
        *out = counts;
    else
        kiln_array_free(counts);
    return status;
}

/* ---- histogram ---- */

static kiln_status check_bins(const char *function, int64_t bins, const double *range)
{
    if (bins < 1)
        return kn_error(KILN_ERROR_INVALID, "%s: bins: %lld was given; at least 1 was expected", function,
                        (long long)bins);
    if (range && !(isfinite(range[0]) && isfinite(range[1]) && range[0] <= range[1]))
        return kn_error(
            KILN_ERROR_INVALID,
            "%s: range: %g and %g were given; two finite numbers that do not go down were expected", function,
            range[0], range[1]);
    return KILN_OK;
}

kiln_status kiln_histogram(kiln_array **counts, kiln_array **edges, kiln_arg x, int64_t bins,
                           const double *range, kiln_arg weights)
{
    const kiln_arg in[] = {x, weights};
    bool has_weights = weights.kind != KILN_ARG_NONE;
    kiln_array *result[2] = {NULL, NULL};
    kn_str expression = KN_STR_INIT;
    if (!counts || !edges)
        return kn_error(KILN_ERROR_INVALID, "histogram: %s is NULL; the address of an array was expected",
                        counts ? "edges" : "counts");
    kiln_status status = check_bins("histogram", bins, range);
    if (status != KILN_OK)
        return status;
    kn_str_printf(&expression, "histogram(x, %lld", (long long)bins);
    if (range)
        kn_str_printf(&expression, ", (%.17g, %.17g)", range[0], range[1]);
    kn_str_printf(&expression, "%s)", has_weights ? ", weights=w" : "");
    status = kn_str_status(&expression, "a histogram's text");
    if (status == KILN_OK)
        status = kn_call_text(result, 2, has_weights ? "x, w" : "x", kn_str_text(&expression), in,
                              1 + has_weights);
    kn_str_free(&expression);
    if (status == KILN_OK) {
        *counts = result[0];
        *edges = result[1];
    }
    return status;
}

kiln_status kiln_histogram_bin_edges(kiln_array **edges, kiln_arg x, int64_t bins, const double *range)
{
    kn_str expression = KN_STR_INIT;
    if (!edges)
        return kn_error(KILN_ERROR_INVALID,
                        "histogram_bin_edges: edges is NULL; the address of an array was expected");
    kiln_status status = check_bins("histogram_bin_edges", bins, range);
    if (status != KILN_OK)
        return status;
    kn_str_printf(&expression, "histogram_bin_edges(x, %lld", (long long)bins);
    if (range)
        kn_str_printf(&expression, ", (%.17g, %.17g)", range[0], range[1]);
    kn_str_append(&expression, ")");
    status = kn_str_status(&expression, "a histogram's text");
    if (status == KILN_OK)
        status = kn_call_text(edges, 1, "x", kn_str_text(&expression), &x, 1);
    kn_str_free(&expression);
    return status;
}

/* ---- of several columns ---- */

enum { MOST_COLUMNS = 16 };

static kiln_status check_columns(const void *out, const kiln_arg *x, int n, const int64_t *bins,
                                 const double *range)
{
    if (!out || !x || !bins)
        return kn_error(KILN_ERROR_INVALID, "histogramdd: %s is NULL; %s expected",
                        out ? x ? "bins" : "x" : "out",
                        out ? "as many as there are columns were" : "arrays were");
    if (n < 1 || n > MOST_COLUMNS)
        return kn_error(KILN_ERROR_INVALID, "histogramdd: n: %d was given; 1 to %d were expected", n,
                        MOST_COLUMNS);
    kiln_status status = KILN_OK;
    for (int k = 0; k < n && status == KILN_OK; ++k)
        status = check_bins("histogramdd", bins[k], range ? range + 2 * k : NULL);
    return status;
}

kiln_status kiln_histogramdd(kiln_array **out, const kiln_arg *x, int n, const int64_t *bins,
                             const double *range, kiln_arg weights)
{
    const bool has_weights = weights.kind != KILN_ARG_NONE;
    kiln_arg in[MOST_COLUMNS + 1];
    kn_str params = KN_STR_INIT, lists[3] = {KN_STR_INIT, KN_STR_INIT, KN_STR_INIT}, text = KN_STR_INIT;
    kiln_status status = check_columns(out, x, n, bins, range);
    if (status != KILN_OK)
        return status;
    for (int k = 0; k < n; ++k) {
        in[k] = x[k];
        kn_str_printf(&params, k + 1 < n || has_weights ? "x%d, " : "x%d", k);
        kn_str_printf(&lists[0], "x%d, ", k);
        kn_str_printf(&lists[1], "%lld, ", (long long)bins[k]);
        if (range)
            kn_str_printf(&lists[2], "(%.17g, %.17g), ", range[2 * k], range[2 * k + 1]);
    }
    in[n] = weights;
    kn_str_append(&params, has_weights ? "w" : "");
    kn_str_printf(&text, "histogramdd([%s], [%s]", kn_str_text(&lists[0]), kn_str_text(&lists[1]));
    if (range)
        kn_str_printf(&text, ", [%s]", kn_str_text(&lists[2]));
    kn_str_printf(&text, "%s)", has_weights ? ", weights=w" : "");
    status = kn_str_status(&text, "a histogram's text");
    if (status == KILN_OK)
        status = kn_call_text(out, 1 + n, kn_str_text(&params), kn_str_text(&text), in, n + has_weights);
    kn_str_free(&params);
    kn_str_free(&text);
    for (int k = 0; k < 3; ++k)
        kn_str_free(&lists[k]);
    return status;
}
