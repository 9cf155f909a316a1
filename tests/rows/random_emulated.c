/* random_emulated - distributions by the kernels that a GPU would run, against the host's, which
 * tests/numpy/check_random.py compares with NumPy: the same bits, but for functions of mathematics, whose
 * last bits differ, so that one of many attempts may end otherwise; one kernel of a whole Monte Carlo
 * program; and a user's kernel that draws.
 * A fifth of the distributions, other ones at each run; KILN_SOAK=1: all.
 *
 * usage: random_emulated [COUNT [SEED]] */
#include "drawn.h"
#include "emulated.h"

#include <kiln/kiln.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../drawn.h"
#include "kernel/random.h"

static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
}

static bool is_exact(const char *name)
{
    static const char *const exact[] = {"exponential",     "integers", "laplace",     "logistic",
                                        "normal",          "random",   "random_bits", "standard_exponential",
                                        "standard_normal", "uniform"};
    for (size_t k = 0; k < sizeof exact / sizeof exact[0]; ++k)
        if (strcmp(name, exact[k]) == 0)
            return true;
    return false;
}

/* An expression of n numbers, whose parameters are such as the table allows; they begin within a block of
 * Philox, or, of every third, go backwards: neighbours share a block, or do not. */
static void put_text(char *out, size_t size, const kn_law *law, const char *dtype, int64_t n)
{
    const int64_t first = (int64_t)draw(6);
    int used =
        snprintf(out, size, draw(3) ? "%s(%llu, arange(%lld, %lld)" : "%s(%llu, arange(%lld, %lld)[::-1]",
                 law->name, (unsigned long long)draw(1u << 30), (long long)first, (long long)(first + n));
    for (int k = 0; k < law->n_params; ++k) {
        const kn_law_param *p = &law->param[k];
        const double least = isinf(p->least) ? 0 : p->least;
        if (law->sort == KN_LAW_INTEGERS)
            used += snprintf(out + used, size - (size_t)used, ", %lld",
                             (long long)(k * (int64_t)draw(1u << 30) * 9 + k));
        else if (p->greatest == 1)
            used += snprintf(out + used, size - (size_t)used, ", 0.%d", 1 + (int)draw(9));
        else
            used +=
                snprintf(out + used, size - (size_t)used, ", %d", (int)least + 1 + 20 * k + (int)draw(20));
    }
    snprintf(out + used, size - (size_t)used, "%s%s)", dtype ? ", dtype=" : "", dtype ? dtype : "");
}

static bool near(double a, double b, double step)
{
    return a == b || fabs(a - b) <= step * (fabs(a) + fabs(b) + 1);
}

/* The number of elements that differ. */
static int64_t differences(const kiln_array *a, const kiln_array *b, bool exactly)
{
    const kiln_dtype dtype = kiln_array_dtype(a);
    const int64_t n = kiln_array_size(a);
    const size_t item = kiln_dtype_size(dtype);
    const char *x = kiln_array_data(a), *y = kiln_array_data(b);
    int64_t count = 0;
    for (int64_t k = 0; k < n; ++k, x += item, y += item) {
        float f[2];
        double d[2];
        memcpy(&f[0], x, sizeof f[0]);
        memcpy(&f[1], y, sizeof f[1]);
        if (exactly || (dtype != KILN_FLOAT32 && dtype != KILN_FLOAT64)) {
            count += memcmp(x, y, item) != 0;
        } else if (dtype == KILN_FLOAT32) {
            count += !near(f[0], f[1], 1e-5);
        } else {
            memcpy(&d[0], x, sizeof d[0]);
            memcpy(&d[1], y, sizeof d[1]);
            count += !near(d[0], d[1], 1e-12);
        }
    }
    return count;
}

/* A row for as many elements as another one has, which may begin between vectors. */
static kiln_status make_out(kiln_array **out, const kiln_array *like)
{
    const int64_t first = (int64_t)draw(4), size = kiln_array_size(like), shape[] = {first + size};
    kiln_array *whole = NULL;
    if (kiln_array_ndim(like) != 1)
        return KILN_OK;
    kiln_status status = kiln_array_empty(&whole, kiln_array_dtype(like), 1, shape, KILN_DEVICE_HOST);
    if (status == KILN_OK)
        status = kiln_array_slice(out, whole, 0, first, first + size, 1);
    kiln_array_free(whole);
    return status;
}

static bool run(const char *text, bool exactly, int64_t allowed)
{
    kiln_kernel *kernel = NULL;
    kiln_array *host[1] = {NULL}, *cuda[1] = {NULL};
    bool right = kiln_expression_create(&kernel, "", text, NULL) == KILN_OK &&
                 kiln_kernel_call(kernel, host, 1, NULL, 0, NULL) == KILN_OK &&
                 make_out(cuda, host[0]) == KILN_OK &&
                 emulated_call("sm_90", kernel, cuda, 1, NULL, 0, NULL) == KILN_OK;
    const int64_t other = right ? differences(host[0], cuda[0], exactly) : 0;
    if (!right)
        printf("FAILED: %s: %s\n", text, kiln_error_message());
    else if (other > allowed)
        printf("FAILED: %s: %lld elements are not as on the host\n", text, (long long)other);
    else if (emulated_steps != 1)
        printf("FAILED: %s: %d kernels\n", text, emulated_steps);
    right = right && other <= allowed && emulated_steps == 1;
    kiln_array_free(cuda[0]);
    kiln_array_free(host[0]);
    kiln_kernel_free(kernel);
    return right;
}

/* ---- texts of a user ---- */

/* x: numbers of elements, consecutive, backwards or drawn, which are keys as well. Results are exact. */
static const struct {
    const char *out, *map, *reduce, *post, *preamble;
    bool is_scan, shares;
} drawing[] = {
    {"float32 y", "y = random<float>(1, x)", NULL, NULL, NULL, false, true},
    {"float32 y, float64 z", "y = normal<float>(5, x), z = uniform(x % 3, i, -1, 3)", NULL, NULL, NULL, false,
     true},
    {"float32 y", "y = 0; for (int k = 0; k < 5; ++k) y += exponential<float>(k / 3, 5 * x + k)", NULL, NULL,
     NULL, false, true},
    {"float64 y",
     "const auto two = [&](auto t) { using R = decltype(t); return normal<R>(1, x) + t; };"
     "y = two(1.0f) + two(2.0)",
     NULL, NULL, NULL, false, true},
    {"int64 y", "const auto random = [](int64 a, int64 b) { return a - b; }; y = random(x, 3)", NULL, NULL,
     NULL, false, false},
    {"int64 y", "y = integers(x, 3)", NULL, NULL,
     "__device__ inline long long integers(int a, int b) { return a - b; }", false, false},
    {"int64 y", "random<float>(1, x) * random<float>(2, x) < 0.25f", "a + b", "y = a", NULL, false, true},
    {"float64 y", "normal(1, x)", "a > b ? a : b", "y = a + uniform(2, _out_ind.size())", NULL, false, true},
    {"int64 y", "integers<int>(3, x, 0, 100)", "a + b", "y = a + integers<int>(4, i, 0, 3)", NULL, true,
     true},
};
enum { DRAWING = sizeof drawing / sizeof drawing[0] };

static kiln_status define(kiln_kernel **out, int k)
{
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.preamble = drawing[k].preamble;
    return !drawing[k].reduce
               ? kiln_elementwise_create(out, "int64 x", drawing[k].out, drawing[k].map, "drawing", &options)
           : drawing[k].is_scan
               ? kiln_scan_create(out, "int64 x", drawing[k].out, drawing[k].map, drawing[k].reduce,
                                  drawing[k].post, "0", "drawing", &options)
               : kiln_reduction_create(out, "int64 x", drawing[k].out, drawing[k].map, drawing[k].reduce,
                                       drawing[k].post, "-9", "drawing", &options);
}

static kiln_array *make_numbers(void)
{
    static int64_t number[4000];
    const int64_t n = 1 + (int64_t)draw(3999), first = (int64_t)draw(6), order = (int64_t)draw(3);
    kiln_array *out = NULL;
    for (int64_t k = 0; k < n; ++k)
        number[k] = order == 0 ? first + k : order == 1 ? first + n - k : (int64_t)draw(50);
    return kiln_array_from_host(&out, number, KILN_INT64, 1, &n, KILN_DEVICE_HOST) == KILN_OK ? out : NULL;
}

/* Its source for a GPU has blocks that a thread keeps, or, where a name is the user's own, none. */
static bool run_drawing(int k)
{
    kiln_kernel *kernel = NULL;
    kiln_array *host[2] = {NULL}, *cuda[2] = {NULL}, *x = make_numbers();
    const kiln_arg in = kiln_arg_array(x);
    const kiln_call_options usual = KILN_CALL_OPTIONS_INIT;
    const int n_out = strchr(drawing[k].out, ',') ? 2 : 1;
    char *source = NULL;
    bool right = x && define(&kernel, k) == KILN_OK &&
                 kiln_kernel_source(&source, kernel, host, n_out, &in, 1, NULL, "sm_90") == KILN_OK &&
                 kiln_kernel_call(kernel, host, n_out, &in, 1, NULL) == KILN_OK &&
                 emulated_call("sm_90", kernel, cuda, n_out, &in, 1, &usual) == KILN_OK;
    if (!right)
        printf("FAILED: %s: %s\n", drawing[k].map, kiln_error_message());
    for (int j = 0; j < n_out && right; ++j)
        right = differences(host[j], cuda[j], true) == 0 ||
                !printf("FAILED: %s: result %d is not as on the host\n", drawing[k].map, j);
    if (right && !strstr(source, "kn_drawn_block kn_drawn_0;") == drawing[k].shares)
        right = !printf("FAILED: %s: its source shares %s\n", drawing[k].map,
                        drawing[k].shares ? "nothing" : "blocks");
    for (int j = 0; j < n_out; ++j) {
        kiln_array_free(host[j]);
        kiln_array_free(cuda[j]);
    }
    kiln_free(source);
    kiln_array_free(x);
    kiln_kernel_free(kernel);
    return right;
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 1, failed = 0, all = 0;
    state = drawn_state(argc, argv);
    char text[256];
    int n_laws = 0;
    while (kn_law_at(n_laws))
        ++n_laws;
    for (long k = 0; k < count; ++k)
        for (int row = 0; kn_law_at(row); ++row) {
            if (!is_drawn_of((size_t)row, (size_t)n_laws, 24))
                continue;
            const kn_law *law = kn_law_at(row);
            ++all;
            const int64_t n = 1 + (int64_t)draw(3000);
            const char *const dtype = law->sort == KN_LAW_REAL && draw(2) ? "float32" : NULL;
            put_text(text, sizeof text, law, dtype, n);
            failed += !run(text, is_exact(law->name), is_exact(law->name) ? 0 : n / 200);
        }
    /* One of three programs: rows with keys of their own, a Monte Carlo sum, an extreme; and numbers of whole
     * vectors. */
    static const char *const programs[] = {
        "normal(uint64(arange(100)[:, None]), arange(%d, %d), dtype=float32) + normal(7, arange(1), "
        "dtype=float32)",
        "4.0 * sum(random(1, arange(%1$d, %2$d)) ** 2 + random(2, arange(%1$d, %2$d)) ** 2 < 1)",
        "max(normal(3, arange(%d, %d), dtype=float32), axis=0)"};
    static const char *const by_index[] = {"float16", "float32", "float64"};
    const int program = (int)draw(3), first = (int)draw(5);
    snprintf(text, sizeof text, programs[program], first, first + 1 + (int)draw(program == 0 ? 60 : 20000));
    failed += !run(text, true, 0);
    snprintf(text, sizeof text, "random(%d, arange(%d), dtype=%s)", (int)draw(99), 1 + (int)draw(3000),
             by_index[draw(3)]);
    failed += !run(text, true, 0);
    for (int k = 0; k < DRAWING; ++k)
        failed += is_drawn_of((size_t)k, DRAWING, 3) && !run_drawing(k);
    printf("%ld distributions, %ld failed\n", all, failed);
    return failed > 0;
}
