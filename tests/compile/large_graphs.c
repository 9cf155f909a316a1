/* Graphs far larger than people write: what reading and lowering them takes grows as they do, and no kernel
 * becomes larger than a compiler takes in sensible time. Values are compared with NumPy's elsewhere. */
#include <kiln/kiln.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/str.h"
#include "schedules/spec_text.h"
#include "../ok.h"

enum { ROWS = 4096, COLUMNS = 64, LONG = 1 << 20, LONGEST_KERNEL = 200 << 10 };

/* ---- shapes of graphs ---- */

static void wide(kn_str *s, int n, int n_in)
{
    for (int k = 0; k < n; ++k)
        kn_str_printf(s, "%sx%d * %d.5", k ? " + " : "", k % n_in, k + 1);
}

static void chain(kn_str *s, int n, int n_in)
{
    kn_str_append(s, "y = x0\n");
    for (int k = 0; k < n; ++k)
        kn_str_printf(s, "y = y * 1.5 + x%d\n", k % n_in);
    kn_str_append(s, "y");
}

/* Each value is used twice; the second time one later. */
static void diamonds(kn_str *s, int n, int n_in)
{
    (void)n_in;
    kn_str_append(s, "y = x0\nz = x1\n");
    for (int k = 0; k < n; ++k)
        kn_str_printf(s, "t = y * z + %d; z = y - z; y = t\n", k);
    kn_str_append(s, "y");
}

/* Some operations that all others use, alone too large to be computed anew by each. */
static void shared(kn_str *s, int n, int n_in)
{
    (void)n_in;
    kn_str_append(s, "s = x0\n");
    for (int k = 0; k < 240; ++k)
        kn_str_printf(s, "s = s * 1.5 + %d\n", k);
    kn_str_append(s, "z = 0\n");
    for (int k = 0; k < n; ++k)
        kn_str_printf(s, "z = z + s * %d\n", k + 1);
    kn_str_append(s, "z");
}

static void views(kn_str *s, int n, int n_in)
{
    (void)n_in;
    for (int k = 0; k < n; ++k)
        kn_str_printf(s, "%sx0[%d:%d] * %d.5", k ? " + " : "", k % 96, 4000 + k % 96, k + 1);
}

/* Each level is used at two places: twice as many of the one before. */
static void halves(kn_str *s, int n, int n_in)
{
    (void)n_in;
    kn_str_append(s, "y = x0\n");
    for (int k = 0; k < n; ++k)
        kn_str_append(s, "y = y[::2] + y[1::2]\n");
    kn_str_append(s, "y");
}

static void stencils(kn_str *s, int n, int n_in)
{
    (void)n_in;
    kn_str_append(s, "y = x0\n");
    for (int k = 0; k < n; ++k)
        kn_str_append(s, "y = y[1:] * 0.5 + y[:-1]\n");
    kn_str_append(s, "y");
}

static void results(kn_str *s, int n, int n_in)
{
    for (int k = 0; k < n; ++k)
        kn_str_printf(s, "y%d = x%d * %d.5 + x%d\n", k, k % n_in, k + 1, (k + 1) % n_in);
    for (int j = 0; j < 50; ++j)
        for (int k = j; k < n; k += 50)
            kn_str_printf(s, "%sy%d", k > j ? " + " : j ? ", " : "", k);
}

static void tree(kn_str *s, int n, int n_in)
{
    for (int k = 0; k < n; ++k)
        kn_str_printf(s, "t%d = x%d * %d.5\n", k, k % n_in, k + 1);
    for (int w = n; w > 1; w = (w + 1) / 2)
        for (int k = 0; k < w / 2; ++k)
            kn_str_printf(s, "t%d = t%d + t%d\n", k, k, w - 1 - k);
    kn_str_append(s, "t0");
}

static void sums(kn_str *s, int n, int n_in)
{
    for (int k = 0; k < n; ++k)
        kn_str_printf(s, "%ssum(x%d * %d.5, axis=1)", k ? " + " : "", k % n_in, k + 1);
}

static void sums_over_both(kn_str *s, int n, int n_in)
{
    kn_str_append(s, "x0");
    for (int k = 0; k < n; ++k)
        kn_str_printf(s, " + sum(x%d * %d.5, axis=%d, keepdims=True)", k % n_in, k + 1, k % 2);
}

static void levels(kn_str *s, int n, int n_in)
{
    (void)n_in;
    kn_str_append(s, "y = x0\n");
    for (int k = 0; k < n; ++k)
        kn_str_printf(s, "y = y - mean(y * %d, axis=1, keepdims=True)\n", k + 1);
    kn_str_append(s, "y");
}

static void reshapes(kn_str *s, int n, int n_in)
{
    (void)n_in;
    kn_str_append(s, "y = x0\n");
    for (int k = 0; k < n; ++k)
        kn_str_printf(s, "y = (y.reshape(64, 4096) + %d).reshape(4096, 64) * x0\n", k + 1);
    kn_str_append(s, "y");
}

/* ---- what they take ---- */

static kiln_arg arrays[KILN_MAX_NDIM];

static void make_arrays(int n_in, int ndim, int64_t length)
{
    const int64_t shape[2] = {length, COLUMNS};
    for (int k = 0; k < n_in; ++k) {
        kiln_array *a = NULL;
        OK(kiln_array_empty(&a, KILN_FLOAT32, ndim, shape, KILN_DEVICE_HOST));
        arrays[k] = kiln_arg_array(a);
    }
}

static void drop_arrays(int n_in)
{
    for (int k = 0; k < n_in; ++k)
        kiln_array_free((kiln_array *)(uintptr_t)arrays[k].value.array);
}

/* Kernels, and the longest one's specialisation. */
static int count_kernels(const char *text, size_t *longest)
{
    int count = 0;
    for (*longest = 0; (text = strstr(text, KN_SPEC_FORMAT " ")) != NULL; text += strcspn(text, "\n")) {
        size_t length = strcspn(text, "\n");
        *longest = length > *longest ? length : *longest;
        ++count;
    }
    return count;
}

/* Bytes asked for while it is lowered. */
static unsigned long long lower(kiln_kernel *kernel, int n_in, const char *target, int *kernels)
{
    char *text = NULL;
    size_t longest;
    kn_alloc_fail_at(0, 0);
    OK(kiln_kernel_explain(&text, kernel, NULL, kiln_kernel_n_out(kernel), arrays, n_in, NULL, target));
    unsigned long long bytes = kn_alloc_bytes();
    *kernels = count_kernels(text, &longest);
    if (longest > LONGEST_KERNEL)
        fail_msg("a kernel of %zu bytes", longest);
    kiln_free(text);
    return bytes;
}

typedef struct shape {
    const char *name;
    void (*write)(kn_str *, int n, int n_in);
    int n, n_in, ndim;
    int64_t length;
} shape;

static unsigned long long take(const shape *g, int n, int *kernels)
{
    kn_str text = KN_STR_INIT, params = KN_STR_INIT;
    kiln_kernel *kernel = NULL;
    for (int k = 0; k < g->n_in; ++k)
        kn_str_printf(&params, "%sx%d", k ? ", " : "", k);
    g->write(&text, n, g->n_in);
    kn_alloc_fail_at(0, 0);
    OK(kiln_expression_create(&kernel, kn_str_text(&params), kn_str_text(&text), NULL));
    unsigned long long bytes = kn_alloc_bytes();
    make_arrays(g->n_in, g->ndim, g->length);
    bytes += lower(kernel, g->n_in, "sm_90", kernels);
    drop_arrays(g->n_in);
    kiln_kernel_free(kernel);
    kn_str_free(&text);
    kn_str_free(&params);
    return bytes;
}

/* Twice the graph takes twice as much, and no more. */
static void twice_takes_twice(void **state)
{
    static const shape shapes[] = {
        {"wide", wide, 800, 64, 1, ROWS},           {"chain", chain, 800, 1, 1, ROWS},
        {"diamonds", diamonds, 800, 2, 1, ROWS},    {"shared", shared, 1000, 1, 1, ROWS},
        {"views", views, 400, 1, 1, ROWS},          {"halves", halves, 9, 1, 1, LONG},
        {"stencils", stencils, 40, 1, 1, LONG},     {"results", results, 1000, 64, 1, ROWS},
        {"tree", tree, 800, 40, 1, ROWS},           {"sums", sums, 150, 64, 2, ROWS},
        {"axes", sums_over_both, 320, 64, 2, ROWS}, {"levels", levels, 40, 1, 2, ROWS},
        {"folds", sums, 300, 1, 2, ROWS},           {"reshapes", reshapes, 60, 1, 2, ROWS},
    };
    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; ++k) {
        const shape *g = &shapes[k];
        int kernels, twice;
        unsigned long long bytes = take(g, g->n, &kernels), more = take(g, 2 * g->n, &twice);
        print_message("%-10s %4d: %7llu KB, %3d kernels; %4d: %7llu KB, %3d kernels\n", g->name, g->n,
                      bytes >> 10, kernels, 2 * g->n, more >> 10, twice);
        if (2 * more > 5 * bytes || twice > 2 * kernels + 4)
            fail_msg("%s: %llu bytes and %d kernels, of twice the graph %llu and %d", g->name, bytes, kernels,
                     more, twice);
    }
}

/* Per operation, in all: what is asked for while the graph is made and lowered. */
enum { MANY = 100000, BYTES_EACH = 40 << 10 };

static void a_hundred_thousand_nodes(void **state)
{
    static const shape of[] = {{"wide", wide, MANY / 2, 64, 1, ROWS}};
    (void)state;
    for (size_t k = 0; k < sizeof of / sizeof of[0]; ++k) {
        int kernels;
        unsigned long long bytes = take(&of[k], of[k].n, &kernels);
        print_message("%s: %llu MB, %d kernels\n", of[k].name, bytes >> 20, kernels);
        if (bytes > (unsigned long long)MANY * BYTES_EACH)
            fail_msg("%s: %llu bytes", of[k].name, bytes);
    }
}

/* A trace as long, each call on the result of the one before. */
static void a_hundred_thousand_calls(void **state)
{
    static const int64_t extent[] = {ROWS};
    kiln_trace *trace = NULL;
    kiln_kernel *kernel = NULL;
    kiln_array *x = NULL;
    int kernels;
    (void)state;
    kn_alloc_fail_at(0, 0);
    OK(kiln_trace_begin(&trace, "chain"));
    OK(kiln_trace_input(&x, trace, "x", KILN_FLOAT32, 1, extent));
    for (int k = 0; k < MANY; ++k) {
        const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_float(k)};
        kiln_array *next = NULL;
        OK(kiln_apply(&next, 1, k % 2 ? "add" : "multiply", in, 2, NULL));
        kiln_array_free(x);
        x = next;
    }
    OK(kiln_trace_end(&kernel, trace, &x, 1, NULL));
    kiln_trace_free(trace);
    kiln_array_free(x);
    unsigned long long bytes = kn_alloc_bytes();
    make_arrays(1, 1, ROWS);
    bytes += lower(kernel, 1, "host", &kernels);
    drop_arrays(1);
    kiln_kernel_free(kernel);
    print_message("trace: %llu MB, %d kernels\n", bytes >> 20, kernels);
    if (bytes > (unsigned long long)MANY * BYTES_EACH || kernels < MANY / 1000)
        fail_msg("%llu bytes, %d kernels", bytes, kernels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(twice_takes_twice),
                                       cmocka_unit_test(a_hundred_thousand_nodes),
                                       cmocka_unit_test(a_hundred_thousand_calls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
