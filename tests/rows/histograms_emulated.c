/* histograms_emulated - random histograms by the kernels that a GPU would run, twice, against those of the
 * host, which tests/numpy/check_histograms.py compares with NumPy: bins that threads have of their own, that
 * a block shares, in ranges and in memory, and that elements are sorted by; any strides, bins that are
 * drawn evenly, or mostly or always one. Sums of floats of any size, infinite ones and NaN among them,
 * against sums by wider floats.
 *
 * usage: histograms_emulated [COUNT [SEED]] */
#include "drawn.h"
#include "emulated.h"

#include <kiln/kiln.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AXES = 2, WAYS = 6 };

static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
}

/* All weights are whole, so that sums of floats are exact in any order. */
static const struct way {
    const char *out, *value, *reduce, *identity;
} ways[WAYS] = {{"int64 z", NULL, NULL, NULL},          {"int32 z", "w", NULL, NULL},
                {"float32 z", "w", NULL, NULL},         {"float64 z", "(float64)w", "a > b ? a : b", "-1"},
                {"uint32 z", "1u << w", "a | b", "0u"}, {"uint32 z", "w + 3u", "a * b", "1u"}};

static const kiln_dtype dtypes[] = {KILN_INT8, KILN_UINT8, KILN_INT16, KILN_INT32, KILN_INT64};
enum { DTYPES = sizeof dtypes / sizeof *dtypes, MISALIGNED = 16 /* elements before the first, at most */ };

static void put(void *data, kiln_dtype dtype, int64_t k, int64_t value)
{
    memcpy((char *)data + k * (int64_t)kiln_dtype_size(dtype), &value, kiln_dtype_size(dtype));
}

/* Bins from -1 on, beyond the last one too: evenly, most of them one, or all; narrow
 * dtypes keep what they can of them. */
static void fill(void *bin, void *weight, const kiln_dtype *dtype, int64_t count, int64_t bins)
{
    uint64_t how = draw(4), usual = draw((uint64_t)bins);
    for (int64_t k = 0; k < count; ++k) {
        bool is_usual = how == 0 || (how == 1 && draw(10) > 0);
        put(bin, dtype[0], k, (int64_t)(is_usual ? usual : draw((uint64_t)bins + 2)) - (is_usual ? 0 : 1));
        put(weight, dtype[1], k, (int64_t)draw(9));
    }
}

static kiln_status wrap(kiln_array **out, void *data, kiln_dtype dtype, const int64_t *shape,
                        bool is_transposed)
{
    int64_t item = (int64_t)kiln_dtype_size(dtype);
    int64_t strides[AXES] = {is_transposed ? item : item * shape[1], is_transposed ? item * shape[0] : item};
    kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
    spec.dtype = dtype;
    spec.ndim = AXES;
    spec.shape = shape;
    spec.strides = strides;
    spec.device = KILN_DEVICE_HOST;
    return kiln_array_wrap(out, data, &spec, NULL, NULL);
}

static bool same(const kiln_array *a, const kiln_array *b)
{
    return memcmp(kiln_array_data(a), kiln_array_data(b), kiln_array_nbytes(a)) == 0;
}

static bool run_one(void)
{
    static const int64_t some_bins[] = {1, 5, 100, 700, 3000, 60000};
    const struct way *w = &ways[draw(WAYS)];
    const int64_t bins = some_bins[draw(6)],
                  shape[] = {1 + (int64_t)draw(3), 1 + (int64_t)draw(draw(3) ? 900 : 30000)};
    const kiln_dtype dtype[] = {dtypes[draw(DTYPES)], dtypes[draw(DTYPES)]};
    int64_t count = shape[0] * shape[1];
    char *memory[2], *data[2];
    for (int k = 0; k < 2; ++k) {
        memory[k] = malloc((size_t)(count + MISALIGNED) * sizeof(int64_t));
        data[k] = memory[k] + draw(2) * draw(MISALIGNED) * kiln_dtype_size(dtype[k]);
    }
    kiln_array *array[2] = {NULL, NULL}, *host[1] = {NULL}, *cuda[1] = {NULL}, *again[1] = {NULL};
    kiln_kernel *kernel = NULL;
    fill(data[0], data[1], dtype, count, bins);
    bool right = wrap(&array[0], data[0], dtype[0], shape, draw(3) == 0) == KILN_OK &&
                 wrap(&array[1], data[1], dtype[1], shape, draw(3) == 0) == KILN_OK &&
                 kiln_histogram_create(&kernel, "K k, W w", w->out, "k", w->value, w->reduce, NULL,
                                       w->identity, bins, "binned", NULL) == KILN_OK;
    const kiln_arg in[] = {kiln_arg_array(array[0]), kiln_arg_array(array[1])};
    right = right && kiln_kernel_call(kernel, host, 1, in, 2, NULL) == KILN_OK &&
            emulated_call("sm_90", kernel, cuda, 1, in, 2, NULL) == KILN_OK &&
            emulated_call("sm_90", kernel, again, 1, in, 2, NULL) == KILN_OK;
    const char *what = !right                     ? kiln_error_message()
                       : !same(host[0], cuda[0])  ? "not as on the host"
                       : !same(cuda[0], again[0]) ? "other bits again"
                                                  : NULL;
    if (what)
        printf("FAILED: %s of %s and %s: %lld,%lld elements, %lld bins: %s\n", w->out,
               kiln_dtype_name(dtype[0]), kiln_dtype_name(dtype[1]), (long long)shape[0], (long long)shape[1],
               (long long)bins, what);
    kiln_array *const all[] = {host[0], cuda[0], again[0], array[0], array[1]};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k)
        kiln_array_free(all[k]);
    kiln_kernel_free(kernel);
    free(memory[0]);
    free(memory[1]);
    return !what;
}

/* ---- sums of floats ---- */

enum { MOST_SUMMED = 3000 };

/* Numbers of any size, of one dtype, whose smallest numbers are denormal; few are infinite or NaN. */
static double draw_float(bool is_double)
{
    static const double special[] = {INFINITY, -INFINITY, NAN, 0, -0.0};
    const int span = is_double ? 1000 : 120;
    if (draw(200) == 0)
        return special[draw(5)];
    const double fraction = ((double)draw(1u << 24) / (1 << 24) - 0.5) * 2;
    const double x = ldexp(fraction, draw(2) ? (int)draw(8) : (int)draw((uint64_t)span) - span + 60);
    return is_double ? x + ldexp(x, -30) : (double)(float)x;
}

/* True if a sum is as near as one that is rounded once for all elements, and a little. */
static bool is_near(double got, long double sum, long double absolute, bool is_double)
{
    if (isnan((double)sum) || isinf((double)sum))
        return isnan((double)sum) ? isnan(got) : got == (double)sum;
    return fabsl((long double)got - sum) <= absolute * (is_double ? 0x1p-51L : 0x1p-22L) + 0x1p-149L;
}

/* NaN if one of them is. */
static long double further(long double a, long double b, int extreme)
{
    return isnan((double)a) || (!isnan((double)b) && extreme * a >= extreme * b) ? a : b;
}

static bool run_sum(void)
{
    static int64_t bin[MOST_SUMMED];
    static double weight[MOST_SUMMED];
    static float narrow[MOST_SUMMED];
    static long double sum[60000], absolute[60000];
    static const char *const extremes[] = {"kn_least(a, b)", NULL, "kn_greatest(a, b)"};
    static const char *const outermost[] = {"(W)INFINITY", NULL, "-(W)INFINITY"};
    const bool is_double = draw(2), in_any_order = draw(3) == 0;
    const int extreme = draw(3) ? 0 : draw(2) ? 1 : -1; /* the greatest or the least one instead */
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    const int64_t bins = draw(2) ? 4000 : 60000, count = 1 + (int64_t)draw(MOST_SUMMED), shape[] = {1, count};
    const uint64_t few = 1 + draw(300);
    kiln_array *array[2] = {NULL, NULL}, *result[2] = {NULL, NULL};
    kiln_kernel *kernel = NULL;
    for (int64_t b = 0; b < bins; ++b) {
        sum[b] = extreme ? -extreme * (long double)INFINITY : 0;
        absolute[b] = 0;
    }
    for (int64_t k = 0; k < count; ++k) {
        bin[k] = (int64_t)draw(few);
        weight[k] = draw_float(is_double);
        narrow[k] = (float)weight[k];
        sum[bin[k]] = extreme ? further(sum[bin[k]], weight[k], extreme) : sum[bin[k]] + weight[k];
        absolute[bin[k]] += fabsl((long double)weight[k]);
    }
    options.flags = in_any_order ? KILN_KERNEL_ANY_ORDER : 0;
    void *weights = is_double ? (void *)weight : narrow;
    bool right = wrap(&array[0], bin, KILN_INT64, shape, false) == KILN_OK &&
                 wrap(&array[1], weights, is_double ? KILN_FLOAT64 : KILN_FLOAT32, shape, false) == KILN_OK &&
                 kiln_histogram_create(&kernel, "int64 k, W w", "W z", "k", "w", extremes[1 + extreme], NULL,
                                       outermost[1 + extreme], bins, "sums", &options) == KILN_OK;
    const kiln_arg in[] = {kiln_arg_array(array[0]), kiln_arg_array(array[1])};
    for (int k = 0; k < 2 && right; ++k)
        right = emulated_call("sm_90", kernel, &result[k], 1, in, 2, NULL) == KILN_OK;
    if (!right)
        printf("FAILED: sums: %s\n", kiln_error_message());
    for (int64_t b = 0; right && b < bins; ++b) {
        const void *all = kiln_array_data(result[0]);
        const double got = is_double ? ((const double *)all)[b] : (double)((const float *)all)[b];
        right = is_near(got, sum[b], absolute[b], is_double) &&
                (!extreme || isnan(got) || got == (double)sum[b]); /* an extreme is one of the elements */
        if (!right)
            printf("FAILED: %lld elements, %lld bins, bin %lld: %.17g, not %.17Lg\n", (long long)count,
                   (long long)bins, (long long)b, got, sum[b]);
    }
    if (right && !in_any_order && !same(result[0], result[1])) {
        printf("FAILED: sums: other bits again\n");
        right = false;
    }
    kiln_array *const held[] = {array[0], array[1], result[0], result[1]};
    for (size_t k = 0; k < sizeof held / sizeof *held; ++k)
        kiln_array_free(held[k]);
    kiln_kernel_free(kernel);
    return right;
}

int main(int argc, char **argv)
{
    long count = drawn_count(argc, argv, 10, 1), failed = 0;
    state = drawn_state(argc, argv);
    for (long k = 0; k < count; ++k)
        failed += draw(4) == 0 ? !run_sum() : !run_one();
    printf("%ld random histograms, %ld failed\n", count, failed);
    return failed > 0;
}
