/* The lowering of expressions: how many kernels, over which operands, and what is refused. Values are
 * compared with NumPy's elsewhere (tests/numpy). */
#include <kiln/kiln.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "schedules/spec_text.h"
#include "each_allocation.h"
#include "ok.h"

enum { ROWS = 6, COLUMNS = 4 };

/* x (6,4), y (6,4), v (4), w (6): small whole numbers. */
typedef struct operands {
    kiln_array *array[4];
} operands;

static void make(operands *o)
{
    static const int64_t shape[4][2] = {{ROWS, COLUMNS}, {ROWS, COLUMNS}, {COLUMNS, 0}, {ROWS, 0}};
    static const int ndim[4] = {2, 2, 1, 1};
    float value[ROWS * COLUMNS];
    for (int a = 0; a < 4; ++a) {
        for (int k = 0; k < ROWS * COLUMNS; ++k)
            value[k] = (float)((k * 7 + a * 3) % 11);
        OK(kiln_array_from_host(&o->array[a], value, KILN_FLOAT32, ndim[a], shape[a], KILN_DEVICE_HOST));
    }
}

static void drop(operands *o)
{
    for (int a = 0; a < 4; ++a)
        kiln_array_free(o->array[a]);
}

static void set_arguments(kiln_arg *in, const operands *o)
{
    for (int a = 0; a < 4; ++a)
        in[a] = kiln_arg_array(o->array[a]);
}

static int count_of(const char *text, const char *word)
{
    int count = 0;
    for (; (text = strstr(text, word)) != NULL; ++text)
        ++count;
    return count;
}

/* ---- kernels ---- */

static void kernels_are_few(void **state)
{
    static const struct {
        const char *text;
        int kernels;
        const char *part; /* of what explain says */
    } cases[] = {
        {"x", 1, "reads x (96 bytes)"},
        {"x * 2 + y / v - w[:, None]", 1, "in=\"float32 x0, float32 x1, float32 x2, float32 x3\""},
        {"x.T * 2", 1, "stage=\"map\""},
        {"x[1:] - x[:-1]", 1, "in=\"float32 x0, float32 x1\""},
        {"x + x + x", 1, "in=\"float32 x0\""},
        {"sum(x * y, axis=1)", 1, "schedule=\"reduce"},
        {"sqrt(sum(x * x, axis=1)) * 2 + w", 1, "in=\"float32 x0, float32 x1\""},
        {"mean(x, axis=1), max(x, axis=1), sum(y * x, axis=-1)", 1, "struct w0"},
        {"sum(x, axis=0), sum(x, axis=1)", 2, "reduced=\"1\""},
        {"x, x, x + 1", 1, "out=\"float32 y0, float32 y1, float32 y2\""},
        {"sum(x), sum(y)", 2, NULL}, /* nothing is read twice */
        {"x * sum(x, axis=0) + sum(x, axis=1)[:, None]", 2, "stored in between: sum(x, axis="},
        {"d = x - mean(x, axis=1, keepdims=True); d / sqrt(mean(d * d, axis=1, keepdims=True))", 1,
         "schedule=\"row"},
        {"(x * 2).reshape(-1) + 1", 2, "stored in between: x * 2"},
        {"x.reshape(-1)[2:] + 1", 1, NULL},
        {"arange(24).reshape(6, 4).T * 2", 1, "(long long)(i)"},
        {"arange(4) * x", 1, "(i / s"},
        {"arange(4) * x + arange(6)[:, None]", 1, "(i % s"},
        {"arange(24).reshape(6, 4)[1:, :3] + arange(3)", 1, "_ind.get()"},
        {"x - sum(arange(4) * x, axis=1)[:, None]", 1, "(long long)(_J)"},
        {"sum(arange(12).reshape(6, 2)[:, 1:] * x, axis=0)", 1, " * _J"},
        {"sum(x * arange(24).reshape(6, 4), axis=1)", 1, "(long long)(i)"},
        {"x * x.shape[0]", 1, "float32 s1"},
        {"sum(x[::2, ::-1], axis=0) / x.shape[0]", 1, NULL},
        {"var(x, axis=1)", 1, "namespace f0"},
        {"argmax(x, axis=1), argmin(x, axis=1)", 1, "namespace f1"},
    };
    operands o;
    kiln_arg in[4];
    (void)state;
    make(&o);
    set_arguments(in, &o);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        kiln_kernel *kernel = NULL;
        char *text = NULL, head[32];
        OK(kiln_expression_create(&kernel, "x, y, v, w", cases[c].text, NULL));
        OK(kiln_kernel_explain(&text, kernel, NULL, kiln_kernel_n_out(kernel), in, 4, NULL, "host"));
        snprintf(head, sizeof head, "# %d kernel%s: ", cases[c].kernels, cases[c].kernels == 1 ? "" : "s");
        if (strncmp(text, head, strlen(head)) != 0 ||
            count_of(text, KN_SPEC_FORMAT " ") != cases[c].kernels ||
            (cases[c].part && !strstr(text, cases[c].part)))
            fail_msg("%s: %d kernels and '%s' were expected:\n%s", cases[c].text, cases[c].kernels,
                     cases[c].part ? cases[c].part : "", text);
        free(text);
        kiln_kernel_free(kernel);
    }
    drop(&o);
}

/* A case of explain on sm_90 over x (6,4), y (6,4), labels t (6,1) and a (4,4). */
typedef struct explained {
    const char *text;
    int kernels;
    const char *part;
    bool has;
} explained;

static void check_explained(const explained *cases, size_t count)
{
    static const int64_t shape[][2] = {{ROWS, COLUMNS}, {ROWS, COLUMNS}, {ROWS, 1}, {COLUMNS, COLUMNS}};
    kiln_array *array[4] = {NULL};
    kiln_arg in[4];
    for (int a = 0; a < 4; ++a) {
        OK(kiln_array_zeros(&array[a], a == 2 ? KILN_INT64 : KILN_FLOAT32, 2, shape[a], KILN_DEVICE_HOST));
        in[a] = kiln_arg_array(array[a]);
    }
    for (size_t c = 0; c < count; ++c) {
        kiln_kernel *kernel = NULL;
        char *text = NULL;
        OK(kiln_expression_create(&kernel, "x, y, t, a", cases[c].text, NULL));
        OK(kiln_kernel_explain(&text, kernel, NULL, kiln_kernel_n_out(kernel), in, 4, NULL, "sm_90"));
        if (count_of(text, KN_SPEC_FORMAT " ") != cases[c].kernels ||
            (strstr(text, cases[c].part) != NULL) != cases[c].has)
            fail_msg("%s: %d kernels and %s'%s' were expected:\n%s", cases[c].text, cases[c].kernels,
                     cases[c].has ? "" : "no ", cases[c].part, text);
        free(text);
        kiln_kernel_free(kernel);
    }
    for (int a = 0; a < 4; ++a)
        kiln_array_free(array[a]);
}

/* CUDA: exponentials of distances from the greatest element, if they are only summed. */
static void exponentials_that_are_summed(void **state)
{
    static const char word[] = "kn_summed_exp";
    static const explained cases[] = {
        {"m = max(x, axis=1, keepdims=True); log(sum(exp(x - m), axis=1))", 1, word, true},
        {"m = max(x * 2, axis=1, keepdims=True); sum(exp(x * 2 - m), axis=1)", 1, word, true},
        {"m = max(x, axis=1)[:, None]; sum(exp(x - m), axis=1)", 1, word, true},
        {"m = max(x, axis=1, keepdims=True); e = exp(x - m); e / sum(e, axis=1, keepdims=True)", 1, word,
         false},
        {"m = max(x, axis=1, keepdims=True); e = exp(x - m); e, sum(e, axis=1)", 1, word, false},
        {"m = max(x, axis=1, keepdims=True); sum(exp(x - m) * y, axis=1)", 1, word, false},
        {"m = max(y, axis=1, keepdims=True); sum(exp(x - m), axis=1)", 1, word, false},
        {"m = min(x, axis=1, keepdims=True); sum(exp(x - m), axis=1)", 1, word, false},
        {"m = max(x, axis=1, keepdims=True); sum(exp(m - x), axis=1)", 1, word, false},
        {"m = max(x, axis=1, keepdims=True); prod(exp(x - m), axis=1)", 1, word, false},
        {"sum(exp(x), axis=1)", 1, word, false},
        {"m = max(x, axis=1, keepdims=True); sum(astype(exp(x - m), float64), axis=1)", 1, word, false},
    };
    (void)state;
    check_explained(cases, sizeof cases / sizeof cases[0]);
}

/* CUDA: numbers of integers divided by constants of usual size. */
static void whole_numbers_divided_by_constants(void **state)
{
    static const char word[] = "kn_whole_quotient";
    static const explained cases[] = {
        {"astype(astype(x, uint8), float32) / 255 - y", 1, word, true},
        {"sum(astype(astype(x, int64), float32) / 0.3, axis=1)", 1, word, true},
        {"astype(astype(x, int8), float32) / 2000000", 1, word, false},
        {"astype(astype(x, int8), float32) / -3", 1, word, false},
        {"astype(astype(x, uint8), float64) / 255", 1, word, false},
        {"astype(astype(x, int32), float16) / 255", 1, word, false},
        {"255 / astype(astype(x, uint8), float32)", 1, word, false},
        {"x / 255", 1, word, false},
    };
    (void)state;
    check_explained(cases, sizeof cases / sizeof cases[0]);
}

/* Values of a row that its elements read are computed once for the row, but for results that are as they were
 * reduced. */
static void values_of_rows_are_computed_once(void **state)
{
    static const char word[] = "gives=\"_c";
    static const explained cases[] = {
        {"x - max(x, axis=1, keepdims=True)", 1, word, false},
        {"x + sum(x, axis=1, keepdims=True)", 1, word, false},
        {"x - mean(x, axis=1, keepdims=True)", 1, word, true},
        {"x - exp(max(x, axis=1, keepdims=True))", 1, word, true},
    };
    (void)state;
    check_explained(cases, sizeof cases / sizeof cases[0]);
}

/* Programs over an axis that is not the contiguous one are a kernel for each reduction and one for the maps,
 * where these move less; explain says both times. */
static void programs_are_taken_apart_where_that_pays(void **state)
{
    static const int64_t shape[] = {16384, 256};
    static const struct {
        const char *text, *target;
        int kernels;
        const char *part;
    } cases[] = {
        {"x - mean(x, axis=0)", "host", 2, "several: "},
        {"x - mean(x, axis=0)", "sm_90", 2,
         "stored in between: mean(x, axis=0): by a model of what each way"},
        {"x.T - mean(x.T, axis=-1, keepdims=True)", "sm_90", 2, "by a model of what each way"},
        {"(x - mean(x, axis=0)) / std(x, axis=0)", "host", 2, "stored in between: std(x, axis=0)"},
        /* what follows from a reduction and numbers is not computed again for each element */
        {"(x - mean(x, axis=0)) / sqrt(var(x, axis=0) + 0.1)", "sm_90", 2,
         "stored in between: sqrt(var(x, axis=0) + 0.1):"},
        {"v = var(x, axis=0); (x - v) / sqrt(v + 0.1)", "sm_90", 2, "stored in between: var(x, axis=0):"},
        {"e = exp(x - max(x, axis=0)); e / sum(e, axis=0)", "host", 3, "by a model of what each way"},
        {"m = mean(x, axis=0); m, x - m", "host", 3, "by a model of what each way"},
        /* reductions that read another's result are replaced: both in one kernel */
        {"e = exp(x - max(x, axis=0)); e / sum(e, axis=0)", "sm_90", 2, "struct peak"},
        {"m = max(x.T, axis=1, keepdims=True); log(sum(exp(x.T - m), axis=-1, keepdims=True)) + x.T", "sm_90",
         2, "struct peak"},
        {"d = x - mean(x, axis=0); d / sqrt(mean(d * d, axis=0))", "sm_90", 2, "struct moments"},
        {"d = x - mean(x, axis=0, keepdims=True); d / sqrt(mean(d**2, axis=0, keepdims=True))", "sm_90", 2,
         "struct moments"},
        {"d = x - mean(x, axis=0); d / mean(square(d), axis=0)", "sm_90", 2, "struct moments"},
        /* results that keep the reduced axis are of the same kernel, unless that was taken apart */
        {"m = mean(x, axis=1, keepdims=True); 2 * m, x - m", "sm_90", 1, "schedule=\"row_lanes\""},
        {"m = mean(x[:256], axis=0, keepdims=True); x[:256] - m, m", "sm_90", 1, "schedule=\"row_columns\""},
        {"(x - mean(x, axis=0, keepdims=True)) / std(x, axis=0, keepdims=True)", "sm_90", 2,
         "struct moments"},
        /* a kernel that holds its rows has variances by distances from the mean, others by moments */
        {"x - std(x, axis=1, keepdims=True)", "sm_90", 1, "float32 _r1,"},
        {"x / var(x, axis=1, keepdims=True)", "sm_90", 1, "float32 _r1,"},
        {"v = var(x[:256], axis=0); v, (x[:256] - mean(x[:256], axis=0)) / v", "sm_90", 1, "float32 _r1,"},
        {"x / std(x, axis=1, keepdims=True)", "host", 1, "struct moments"},
        {"x / std(x, axis=1, keepdims=True, ddof=1)", "sm_90", 1, "struct moments"},
        {"x / std(x, axis=0, keepdims=True)", "sm_90", 2, "struct moments"},
        {"var(x, axis=1)", "sm_90", 1, "struct moments"},
        {"y = x[:64, :64].reshape(8, 8, 64)[::2, :, ::2]; y / std(y)", "sm_90", 1, "struct moments"},
        /* a few terms of each of more results are a map: not many terms, nor fewer results than elements */
        {"sum((x[:, None, :2] - x[None, :99, :2])**2, axis=-1)", "sm_90", 1, "schedule=\"rows\""},
        {"argmax(x[:, None, :3] - x[None, :99, :3], axis=-1) + 1", "sm_90", 1, "schedule=\"rows\""},
        {"sum((x[:, None, :9] - x[None, :99, :9])**2, axis=-1)", "sm_90", 1, "schedule=\"reduce_"},
        {"sum((x[:, None, :4] - x[None, :3, :4])**2, axis=-1)", "sm_90", 1, "schedule=\"reduce_"},
        {"sum((x[:, None, :2] - x[None, :99, :2])**2, axis=-1)", "host", 1, "stage=\"map\" body"},
        /* on the host also of as many results as elements: not if many are read, nor of short runs */
        {"max(x.reshape(-1, 4) + 1, axis=1)", "host", 1, "stage=\"map\" body"},
        {"sum(x.reshape(-1, 4, 64), axis=1)", "host", 1, "stage=\"map\" body"},
        {"y = x.reshape(-1, 8); sum(y * y[::-1], axis=1)", "host", 1, "schedule=\"reduce\""},
        {"sum(x.reshape(-1, 16, 4)[:, 1:9], axis=-1)", "host", 1, "schedule=\"reduce\""},
        {"argmax(x.reshape(-1, 4), axis=1)", "host", 1, "schedule=\"row_short\""},
        /* or if they lie along two axes: a reduction would gather one of them */
        {"y = x.reshape(4, 1024, 1024); sum(abs(y - transpose(y, (0, 2, 1))), axis=0)", "sm_90", 1,
         "schedule=\"tile\""},
        {"y = x.reshape(16, 512, 512); sum(abs(y - transpose(y, (0, 2, 1))), axis=0)", "sm_90", 2,
         "schedule=\"reduce_"},
        /* inputs along two output axes: one is copied, so that it lies as the other does */
        {"y = x.reshape(64, 256, 256); sum(y.T * transpose(y, (1, 2, 0)), axis=2)", "sm_90", 2,
         "access=\"vvg\""},
        /* few rows would leave most of the device idle, but a launch takes longer than short ones */
        {"y = x.reshape(-1)[:500000]; y - mean(y)", "sm_90", 2, "by a model of what each way"},
        {"y = x[:, ::16]; y - mean(y, axis=0)", "sm_90", 2, "by a model of what each way"},
        {"y = x.reshape(-1)[:50000]; y - mean(y)", "sm_90", 1, "schedule=\"row_"},
        /* a map reads the large input in vectors, even if the small one lies along another axis */
        {"y = x.reshape(-1)[:3763200].reshape(100, 112, 112, 3); y - mean(y, axis=(0, 2), keepdims=True)",
         "sm_90", 2, "schedule=\"rows\""},
        /* rows in pieces */
        {"y = x.reshape(128, 16, 2048); y - mean(y, axis=(0, 2), keepdims=True)", "sm_90", 1, "pieces=\"1\""},
        /* another axis, another base, other elements: these are no variances and sums of exponentials */
        {"e = exp(x - max(x, axis=1, keepdims=True)); e / sum(e, axis=0)", "sm_90", 3, "_2"},
        {"d = x - max(x, axis=0); d / sqrt(mean(d * d, axis=0))", "sm_90", 3, "_3"},
        {"e = exp(2 * x - max(x, axis=0)); e / sum(e, axis=0)", "sm_90", 3, "_3"},
        {"x - mean(x, axis=1, keepdims=True)", "host", 1, "one kernel: about "},
        {"x - mean(x, axis=1, keepdims=True)", "sm_90", 1, "one kernel: about "},
        {"x[:64, :64] - mean(x[:64, :64], axis=0)", "sm_90", 1, "one kernel: about "},
        {"x[:256] - mean(x[:256], axis=0)", "sm_90", 1, "schedule=\"row_columns\""},
    };
    kiln_array *x = NULL;
    kiln_kernel *kernel = NULL;
    (void)state;
    OK(kiln_array_ones(&x, KILN_FLOAT32, 2, shape, KILN_DEVICE_HOST));
    const kiln_arg in = kiln_arg_array(x);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        char *text = NULL;
        OK(kiln_expression_create(&kernel, "x", cases[c].text, NULL));
        OK(kiln_kernel_explain(&text, kernel, NULL, kiln_kernel_n_out(kernel), &in, 1, NULL,
                               cases[c].target));
        if (count_of(text, KN_SPEC_FORMAT " ") != cases[c].kernels || !strstr(text, cases[c].part))
            fail_msg("%s for %s: %d kernels and '%s' were expected:\n%s", cases[c].text, cases[c].target,
                     cases[c].kernels, cases[c].part, text);
        free(text);
        kiln_kernel_free(kernel);
    }
    kiln_array_free(x);
}

/* A reduction of few elements has no loop in the kernel of points, which computes it for pairs of elements of
 * two inputs. Elsewhere its results are stored, and nothing else is. */
static void few_elements_are_reduced_without_a_loop(void **state)
{
    static const int64_t shape[] = {65536, 64};
    static const struct {
        const char *text, *target;
        int kernels, stored;
        const char *part;
    } cases[] = {
        {"y = x[:, :3]; z = y[:512]; min(sum((y[:, None] - z)**2, axis=-1), axis=1)", "sm_90", 1, 0,
         "schedule=\"reduce_points\""},
        {"y = x[:, :16]; z = y[:512]; min(sum((y[:, None] - z)**2, axis=-1), axis=1)", "sm_90", 1, 0,
         "schedule=\"reduce_points\""},
        {"y = x[:, :17]; z = y[:512]; min(sum((y[:, None] - z)**2, axis=-1), axis=1)", "sm_90", 2, 1,
         "stored in between: sum((y[:, None] - z)**2"},
        {"y = x[:, :3]; z = y[:512]; min(sum((y[:, None] - z)**2, axis=-1), axis=1)", "host", 2, 1,
         "stored in between: sum((y[:, None] - z)**2"},
        {"y = x[:64, :3]; z = y[:512]; min(sum((y[:, None] - z)**2, axis=-1), axis=1)", "sm_90", 2, 1,
         "stored in between: sum((y[:, None] - z)**2"},
        {"sum(sum(x[:, :4], axis=-1)**2)", "sm_90", 2, 1, "stored in between: sum(x[:, :4], axis=-1)"},
        {"y = x.reshape(256, 4, -1); sum(exp(sum(y, axis=1)) + 1, axis=0)", "sm_90", 2, 1,
         "stored in between: sum(y, axis=1)"},
        {"y = x[:, :4]; sum(sum(y, axis=-1) * max(y * 2, axis=-1))", "sm_90", 2, 2, "reduced=\"1\""},
        {"y = x[:, :8]; m = mean(y, axis=-1); sum((m - max(m)) * sum(y * y, axis=-1))", "sm_90", 2, 2,
         "stored in between: mean(y, axis=-1)"},
    };
    kiln_array *x = NULL;
    kiln_kernel *kernel = NULL;
    (void)state;
    OK(kiln_array_ones(&x, KILN_FLOAT32, 2, shape, KILN_DEVICE_HOST));
    const kiln_arg in = kiln_arg_array(x);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        char *text = NULL;
        OK(kiln_expression_create(&kernel, "x", cases[c].text, NULL));
        OK(kiln_kernel_explain(&text, kernel, NULL, 1, &in, 1, NULL, cases[c].target));
        if (count_of(text, KN_SPEC_FORMAT " ") != cases[c].kernels ||
            count_of(text, "stored in between") != cases[c].stored || !strstr(text, cases[c].part))
            fail_msg("%s for %s: %d kernels, %d stored and '%s' were expected:\n%s", cases[c].text,
                     cases[c].target, cases[c].kernels, cases[c].stored, cases[c].part, text);
        free(text);
        kiln_kernel_free(kernel);
    }
    kiln_array_free(x);
}

/* On the host a range along an inner axis is read, where that saves many divisions. */
static void ranges_are_read_on_the_host(void **state)
{
    static const int64_t shape[] = {256, 256};
    static const struct {
        const char *text, *target;
        int kernels;
    } cases[] = {
        {"arange(256) * x", "host", 2},
        {"arange(256) * x", "sm_90", 1},
        {"arange(256) * x[:64]", "host", 1},
        {"arange(65536).reshape(256, 256) * x", "host", 1},
        {"where(arange(256)[:, None] >= arange(256), x, 0) + sum(arange(256) * x, axis=1, keepdims=True)",
         "host", 2},
        {"x - sum(arange(256) * x, axis=1, keepdims=True)", "host", 1},
    };
    kiln_array *x = NULL, *out = NULL;
    kiln_kernel *kernel = NULL;
    (void)state;
    OK(kiln_array_ones(&x, KILN_FLOAT32, 2, shape, KILN_DEVICE_HOST));
    const kiln_arg in = kiln_arg_array(x);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        char *text = NULL;
        OK(kiln_expression_create(&kernel, "x", cases[c].text, NULL));
        OK(kiln_kernel_explain(&text, kernel, NULL, 1, &in, 1, NULL, cases[c].target));
        if (count_of(text, KN_SPEC_FORMAT " ") != cases[c].kernels ||
            (cases[c].kernels > 1 && !strstr(text, "or dividing for one takes longer")))
            fail_msg("%s: %d kernels were expected:\n%s", cases[c].text, cases[c].kernels, text);
        free(text);
        kiln_kernel_free(kernel);
    }
    OK(kiln_expression_create(&kernel, "x", "arange(256) * x + 256 * arange(256)[:, None]", NULL));
    OK(kiln_kernel_call(kernel, &out, 1, &in, 1, NULL));
    for (int k = 0; k < 256 * 256; ++k)
        assert_true(((const double *)kiln_array_data(out))[k] == k);
    kiln_kernel_free(kernel);
    kiln_array_free(out);
    kiln_array_free(x);
}

/* Views of one array are known to be one, of two arrays not, even where these overlap. */
static void views_at_offsets_are_one_array(void **state)
{
    static const int64_t shape[] = {514, 514};
    static const struct {
        const char *text;
        bool is_one;
    } cases[] = {
        {"x[1:-1, 1:-1] + x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2]", true},
        {"x[1:-1, 1:-1] + y[:-2, 1:-1] + x[2:, 1:-1] + y[1:-1, :-2]", false},
        {"x[1:-1, 1:-1] + x[:-2, 1:-1] + y[2:, 1:-1] + y[1:-1, :-2]", false},
    };
    kiln_array *x = NULL;
    (void)state;
    OK(kiln_array_ones(&x, KILN_FLOAT32, 2, shape, KILN_DEVICE_HOST));
    const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_array(x)};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        kiln_kernel *kernel = NULL;
        char *text = NULL;
        OK(kiln_expression_create(&kernel, "x, y", cases[c].text, NULL));
        OK(kiln_kernel_explain(&text, kernel, NULL, 1, in, 2, NULL, "sm_90"));
        if ((strstr(text, " schedule=\"stencil\"") != NULL) != cases[c].is_one)
            fail_msg("%s: %s", cases[c].text, text);
        free(text);
        kiln_kernel_free(kernel);
    }
    kiln_array_free(x);
}

/* A result of a reduction of an array in Fortran order is stored in that order, so that the kernel that
 * reads both transposes none. */
static void stored_results_lie_as_their_inputs(void **state)
{
    static const int64_t shape[] = {20000, 5, 64};
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    kiln_array *c = NULL, *x = NULL;
    kiln_kernel *kernel = NULL;
    char *text = NULL;
    (void)state;
    options.order = KILN_ORDER_KEEP;
    OK(kiln_array_ones(&c, KILN_FLOAT32, 3, shape, KILN_DEVICE_HOST));
    OK(kiln_array_transpose(&x, c, NULL));
    const kiln_arg in = kiln_arg_array(x);
    OK(kiln_expression_create(&kernel, "x", "x - mean(x, axis=2, keepdims=True)", NULL));
    OK(kiln_kernel_explain(&text, kernel, NULL, 1, &in, 1, &options, "sm_90"));
    if (count_of(text, KN_SPEC_FORMAT " ") != 2 || !strstr(text, " access=\"vvv\""))
        fail_msg("%s", text);
    free(text);
    kiln_kernel_free(kernel);
    kiln_array_free(x);
    kiln_array_free(c);
}

/* An input that lies along another axis than the rest is stored in their order where one kernel would gather
 * it: of a large reduction, or, of narrow elements that are few beside the rest, of a map. */
static void transposed_inputs_are_stored(void **state)
{
    static const int64_t shape[2][4] = {{14, 16, 130, 100}, {16, 14, 100, 130}};
    static const kiln_dtype dtype[] = {KILN_BOOL,    KILN_FLOAT32, KILN_FLOAT32,
                                       KILN_FLOAT16, KILN_FLOAT16, KILN_COMPLEX128};
    static const struct {
        const char *text, *target;
        int kernels, stored;
    } cases[] = {
        {"where(transpose(m, (1, 0, 3, 2)), x, y)", "sm_90", 2, 1},
        {"where(transpose(m, (1, 0, 3, 2)), x, y)", "host", 1, 0},
        {"where(m.reshape(16, 14, 100, 130), x, y)", "sm_90", 1, 0},
        {"where(transpose(m, (1, 0, 3, 2)), x, y), x * 2", "sm_90", 1, 0}, /* several results */
        {"where(y > x, y, transpose(m, (1, 0, 3, 2)))", "sm_90", 2, 1},
        {"z + transpose(x.reshape(14, 16, 130, 100), (1, 0, 3, 2))", "sm_90", 1, 0}, /* no narrow ones */
        {"v + transpose(u, (1, 0, 3, 2))", "sm_90", 1, 0},                           /* nor few */
        {"where(transpose(m, (1, 0, 3, 2)), transpose(x.reshape(14, 16, 130, 100), (1, 0, 3, 2)), 0)",
         "sm_90", 2, 1}, /* the narrow one of two sizes */
        {"where(transpose(m[:, :4], (1, 0, 3, 2)), x[:4], y[:4])", "sm_90", 1, 0}, /* no worth of a launch */
        {"a = x.reshape(1820, 1600); sum(abs(a - y.reshape(1600, 1820).T))", "sm_90", 2, 1},
        {"a = x.reshape(1820, 1600); sum(abs(a - y.reshape(1600, 1820).T))", "host", 1, 0},
        {"a = x.reshape(1820, 1600); sum(a * m.reshape(1600, 1820).T, axis=0)", "host", 2, 1}, /* narrow */
        {"a = x.reshape(1600, 1820).T; sum(a * m.reshape(1820, 1600), axis=1)", "host", 2, 1}, /* beside it */
        {"a = x.reshape(1600, 1820).T; sum(a * m.reshape(1600, 1820).T, axis=1)", "host", 1, 0},
        {"a = x.reshape(1600, 1820).T[:500, :700]; sum(a * m.reshape(1820, 1600)[:500, :700], axis=1)",
         "host", 1, 0}, /* what caches hold */
        {"a = x.reshape(1820, 1600); sum(abs(a - y.reshape(1820, 1600)))", "sm_90", 1, 0},
        {"a = x.reshape(1820, 1600); sum(abs(a - y.reshape(1600, 1820).T), axis=1)", "sm_90", 1, 0},
        {"a = x.reshape(1820, 1600)[:400, :400]; b = y.reshape(1600, 1820)[:400, :400].T; sum(abs(a - b))",
         "sm_90", 1, 0}, /* few elements */
        {"sum(abs(x.reshape(1600, 1820).T + 1))", "sm_90", 1, 0},
    };
    kiln_array *array[6];
    kiln_arg in[6];
    (void)state;
    for (int k = 0; k < 6; ++k) {
        OK(kiln_array_empty(&array[k], dtype[k], 4, shape[k != 0 && k != 3], KILN_DEVICE_HOST));
        in[k] = kiln_arg_array(array[k]);
    }
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        kiln_kernel *kernel = NULL;
        char *text = NULL;
        OK(kiln_expression_create(&kernel, "m, x, y, u, v, z", cases[c].text, NULL));
        OK(kiln_kernel_explain(&text, kernel, NULL, kiln_kernel_n_out(kernel), in, 6, NULL, cases[c].target));
        if (count_of(text, KN_SPEC_FORMAT " ") != cases[c].kernels ||
            count_of(text, "one kernel would gather it") != cases[c].stored)
            fail_msg("%s for %s: %d kernels, %d stored were expected:\n%s", cases[c].text, cases[c].target,
                     cases[c].kernels, cases[c].stored, text);
        free(text);
        kiln_kernel_free(kernel);
    }
    for (int k = 0; k < 6; ++k)
        kiln_array_free(array[k]);
}

static void reduce_texts(kiln_kernel **out)
{
    OK(kiln_reduction_create(out, "T x", "float32 y", "x * (float)(_in_ind.size() + _J)", "a + b",
                             "y = a + (float)_out_ind.size()", "0", "sized", NULL));
}

/* A reduction over axes of extent 1 is no reduction: one kernel, which preserves NaN, signs of zeros and
 * the identity of an empty one. */
static void single_elements_are_not_reduced(void **state)
{
    static const float of[] = {1.5f, NAN, -0.0f, INFINITY};
    static const struct {
        const char *text;
        float result[4];
    } cases[] = {
        {"e = exp(x - max(x, axis=-1, keepdims=True)); e / sum(e, axis=-1, keepdims=True)", {1, NAN, 1, NAN}},
        {"d = x - mean(x, axis=1, keepdims=True); d / sqrt(mean(d * d, axis=1, keepdims=True) + 1)",
         {0, NAN, 0, NAN}},
        {"sum(x, axis=1)", {1.5f, NAN, -0.0f, INFINITY}},
        {"var(x, axis=1)", {0, NAN, 0, NAN}},
        {"float32(argmax(x, axis=1)) + mean(x, axis=(1,))", {1.5f, NAN, 0, INFINITY}},
        {"float32(any(x, axis=1)) + sum(sum(x, axis=1, keepdims=True), axis=1)", {2.5f, NAN, 0, INFINITY}},
        {"sized(x, axis=1)", {10, NAN, 4, INFINITY}}, /* x * 4 + 4 */
        {"x[:, 0] * x[:1].sum(axis=0)", {2.25f, NAN, -0.0f, INFINITY}},
    };
    static const int64_t shape[] = {4, 1};
    kiln_array *x = NULL;
    kiln_kernel *sized = NULL;
    (void)state;
    OK(kiln_array_from_host(&x, of, KILN_FLOAT32, 2, shape, KILN_DEVICE_HOST));
    reduce_texts(&sized);
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.kernels = &sized;
    options.n_kernels = 1;
    const kiln_arg in = kiln_arg_array(x);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        kiln_kernel *kernel = NULL;
        kiln_array *out = NULL;
        char *text = NULL;
        OK(kiln_expression_create(&kernel, "x", cases[c].text, &options));
        OK(kiln_kernel_explain(&text, kernel, NULL, 1, &in, 1, NULL, "host"));
        if (count_of(text, KN_SPEC_FORMAT " ") != 1 || !strstr(text, "stage=\"map\" body"))
            fail_msg("%s: one map was expected:\n%s", cases[c].text, text);
        OK(kiln_kernel_call(kernel, &out, 1, &in, 1, NULL));
        const float *got = kiln_array_data(out);
        for (int k = 0; k < 4; ++k)
            if (isnan(cases[c].result[k]) ? !isnan(got[k])
                                          : memcmp(&got[k], &cases[c].result[k], sizeof *got) != 0)
                fail_msg("%s: element %d is %g, not %g", cases[c].text, k, (double)got[k],
                         (double)cases[c].result[k]);
        free(text);
        kiln_array_free(out);
        kiln_kernel_free(kernel);
    }
    kiln_kernel_free(sized);
    kiln_array_free(x);
}

/* An input of which no reshape is a view is copied first; one of nothing is nothing. */
static void reshapes_of_inputs(void **state)
{
    static const struct {
        const char *text;
        int kernels;
    } cases[] = {
        {"x.reshape(-1) * 2", 2}, {"exp(x.reshape(-1)) + x.reshape(-1)", 2}, {"x.T.reshape(-1) * 2", 1}};
    static const char *const empty[] = {"x[6:].reshape(-1)", "(x + 1)[6:].reshape(-1)",
                                        "(x + 1)[6:].reshape(0, 5) * 2", "max(x[6:, :1], axis=1)"};
    operands o;
    kiln_array *transposed = NULL;
    kiln_arg in[4];
    (void)state;
    make(&o);
    set_arguments(in, &o);
    OK(kiln_array_transpose(&transposed, o.array[0], NULL));
    const kiln_arg argument = kiln_arg_array(transposed);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        kiln_kernel *kernel = NULL;
        char *text = NULL;
        OK(kiln_expression_create(&kernel, "x", cases[c].text, NULL));
        OK(kiln_kernel_explain(&text, kernel, NULL, 1, &argument, 1, NULL, "host"));
        if (count_of(text, KN_SPEC_FORMAT " ") != cases[c].kernels)
            fail_msg("%s: %d kernels were expected:\n%s", cases[c].text, cases[c].kernels, text);
        free(text);
        kiln_kernel_free(kernel);
    }
    for (size_t c = 0; c < sizeof empty / sizeof empty[0]; ++c) {
        kiln_kernel *kernel = NULL;
        kiln_array *out = NULL;
        OK(kiln_expression_create(&kernel, "x", empty[c], NULL));
        OK(kiln_kernel_call(kernel, &out, 1, in, 1, NULL));
        assert_int_equal(kiln_array_size(out), 0);
        kiln_array_free(out);
        kiln_kernel_free(kernel);
    }
    kiln_array_free(transposed);
    drop(&o);
}

/* New shapes of the same ranks need no new code, as long as what broadcasts does so again. */
/* Rows are short, or they are not: two sources at most for all shapes, and one for those that are not. */
static void shapes_share_code(void **state)
{
    static const char *const texts[] = {"x * 2 + y.sum() / x.shape[1]", "sqrt(sum(x * x, axis=1)) + y[:, 0]",
                                        "sum(arange(x.shape[1]) * x, axis=1)"};
    static const int64_t sizes[] = {16, 32, 64, 128, 256, 512, 1024};
    (void)state;
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; ++t) {
        kiln_kernel *kernel = NULL;
        char *first = NULL;
        int changes = 0;
        OK(kiln_expression_create(&kernel, "x, y", texts[t], NULL));
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; ++k) {
            const int64_t size = sizes[k];
            const int64_t shape[] = {size, 2 * size};
            kiln_array *x = NULL;
            char *source = NULL;
            OK(kiln_array_zeros(&x, KILN_FLOAT32, 2, shape, KILN_DEVICE_HOST));
            const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_array(x)};
            OK(kiln_kernel_source(&source, kernel, NULL, 1, in, 2, NULL, "host"));
            if (size > 256)
                assert_string_equal(first, source);
            changes += first && strcmp(first, source) != 0;
            free(first);
            first = source;
            kiln_array_free(x);
        }
        assert_true(changes <= 1);
        free(first);
        kiln_kernel_free(kernel);
    }
}

/* A kernel's text becomes a part of the expression's: its parameters have other names there, and members of
 * the same name do not, however they are reached. */
static void members_are_not_renamed(void **state)
{
    static const char *const members[] = {"p.x", "p . x", "q->x", "q -> x", "r::x", "r :: x", "r::p.x"};
    static const char *const renamed[] = {"y > x ? y : x", "y - x", "y < x"};
    const int64_t shape[] = {8};
    kn_str body = KN_STR_INIT;
    kiln_kernel *own = NULL, *kernel = NULL;
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    kiln_array *x = NULL;
    char *source = NULL;
    (void)state;
    kn_str_append(&body, "z = 0");
    for (size_t k = 0; k < sizeof members / sizeof members[0]; ++k)
        kn_str_printf(&body, " + %s", members[k]);
    for (size_t k = 0; k < sizeof renamed / sizeof renamed[0]; ++k)
        kn_str_printf(&body, " + (%s)", renamed[k]);
    OK(kiln_elementwise_create(&own, "T x, T y", "T z", kn_str_text(&body), "own", NULL));
    kiln_kernel *const kernels[] = {own};
    options.kernels = kernels;
    options.n_kernels = 1;
    OK(kiln_expression_create(&kernel, "a, b", "own(a * 2, b) + 1", &options));
    OK(kiln_array_zeros(&x, KILN_FLOAT32, 1, shape, KILN_DEVICE_HOST));
    const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_array(x)};
    OK(kiln_kernel_source(&source, kernel, NULL, 1, in, 2, NULL, "host"));
    for (size_t k = 0; k < sizeof members / sizeof members[0]; ++k)
        if (!strstr(source, members[k]))
            fail_msg("%s is not in the source", members[k]);
    for (size_t k = 0; k < sizeof renamed / sizeof renamed[0]; ++k)
        if (strstr(source, renamed[k]))
            fail_msg("%s is in the source", renamed[k]);
    free(source);
    kiln_array_free(x);
    kiln_kernel_free(kernel);
    kiln_kernel_free(own);
    kn_str_free(&body);
}

/* ---- calls ---- */

static void results_are_given_or_made(void **state)
{
    operands o;
    kiln_arg in[4];
    kiln_kernel *kernel = NULL;
    (void)state;
    make(&o);
    set_arguments(in, &o);
    OK(kiln_expression_create(&kernel, "x, y, v, w", "x + v, sum(x, axis=1) * 2", NULL));
    for (int turn = 0; turn < 2; ++turn) {
        kiln_array *out[2] = {NULL, NULL};
        OK(kiln_kernel_call(kernel, out, 2, in, 4, NULL));
        OK(kiln_kernel_call(kernel, out, 2, in, 4, NULL)); /* given */
        const float *x = kiln_array_data(o.array[0]), *v = kiln_array_data(o.array[2]);
        const float *sums = kiln_array_data(out[0]), *twice = kiln_array_data(out[1]);
        for (int r = 0; r < ROWS; ++r) {
            float sum = 0;
            for (int c = 0; c < COLUMNS; ++c) {
                assert_true(sums[r * COLUMNS + c] == x[r * COLUMNS + c] + v[c]);
                sum += x[r * COLUMNS + c];
            }
            assert_true(twice[r] == 2 * sum);
        }
        kiln_array_free(out[0]);
        kiln_array_free(out[1]);
    }
    kiln_kernel_free(kernel);
    drop(&o);
}

/* An output that lies where an input does is as if the input had been copied first. */
static void results_may_cover_inputs(void **state)
{
    static const char *const texts[] = {"x + 1", "x[::-1] + 1", "x - mean(x, axis=0)", "x.sum() + x"};
    (void)state;
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; ++t) {
        operands o;
        kiln_arg in[4];
        kiln_kernel *kernel = NULL;
        kiln_array *apart = NULL;
        make(&o);
        set_arguments(in, &o);
        OK(kiln_expression_create(&kernel, "x", texts[t], NULL));
        OK(kiln_kernel_call(kernel, &apart, 1, in, 1, NULL));
        OK(kiln_kernel_call(kernel, &o.array[0], 1, in, 1, NULL));
        assert_memory_equal(kiln_array_data(apart), kiln_array_data(o.array[0]), kiln_array_nbytes(apart));
        kiln_array_free(apart);
        kiln_kernel_free(kernel);
        drop(&o);
    }
}

/* With KILN_ORDER_KEEP results lie as operations called one by one would leave them. */
static void layouts_are_unchanged(void **state)
{
    static const struct {
        const char *text;
        int ndim;
        int64_t strides[3]; /* in elements */
    } cases[] = {
        /* as NumPy has them */
        {"x + 1", 2, {1, 4}},
        {"(x + 1).T", 2, {4, 1}},
        {"exp(x) * v", 2, {1, 4}},
        {"x - mean(x, axis=1, keepdims=True)", 2, {1, 4}},
        {"sum(x[:, None] + 0 * w[:, None], axis=2)", 2, {1, 4}},
        {"sum(c, axis=0)", 2, {1, 3}},
        {"sum(c.T, axis=-1)", 2, {3, 1}},
        {"(x * 2).reshape(-1)[:4] + x[:, 0]", 1, {1}},
        {"(x * 2)[:, ::-1] * y", 2, {6, 1}}, /* they contradict each other */
        {"x[::2] + zeros_like(x[::2])", 2, {1, 2}},
        {"broadcast_to(x, (2, 4, 6)) * 1", 3, {24, 1, 4}},
    };
    static const int64_t cube[] = {5, 3, 2};
    operands o;
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    kiln_array *x = NULL, *y = NULL, *c = NULL, *transposed = NULL;
    (void)state;
    make(&o);
    options.order = KILN_ORDER_KEEP;
    OK(kiln_array_transpose(&x, o.array[0], NULL)); /* (4, 6) */
    OK(kiln_array_copy(&y, x));
    OK(kiln_array_ones(&c, KILN_FLOAT32, 3, cube, KILN_DEVICE_HOST));
    OK(kiln_array_transpose(&transposed, c, NULL)); /* (2, 3, 5) */
    const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_array(y), kiln_arg_array(o.array[3]),
                           kiln_arg_array(o.array[3]), kiln_arg_array(transposed)};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
        kiln_kernel *kernel = NULL;
        kiln_array *out = NULL;
        OK(kiln_expression_create(&kernel, "x, y, v, w, c", cases[k].text, NULL));
        OK(kiln_kernel_call(kernel, &out, 1, in, 5, &options));
        assert_int_equal(kiln_array_ndim(out), cases[k].ndim);
        for (int a = 0; a < cases[k].ndim; ++a)
            if (kiln_array_strides(out)[a] != 4 * cases[k].strides[a])
                fail_msg("%s: stride %d is %lld bytes, not %lld", cases[k].text, a,
                         (long long)kiln_array_strides(out)[a], 4 * (long long)cases[k].strides[a]);
        kiln_array_free(out);
        kiln_kernel_free(kernel);
    }
    kiln_array_free(x);
    kiln_array_free(y);
    kiln_array_free(c);
    kiln_array_free(transposed);
    drop(&o);
}

/* ---- refusals ---- */

static void calls_are_refused(void **state)
{
    static const int axis = 0;
    static const struct {
        const char *text, *part;
        kiln_status status;
        int n_in, n_out;
        int given; /* the operand that is given as the first result; -1: none */
        bool has_axes;
    } cases[] = {
        {"x + 1", "4 input arguments were given, 1 expected", KILN_ERROR_INVALID, 4, 1, -1, false},
        {"x + 1", "2 output arguments were given, 1 expected", KILN_ERROR_INVALID, 1, 2, -1, false},
        {"x + 1", "out[0] has shape (4,), but the result", KILN_ERROR_SHAPE, 1, 1, 2, false},
        {"x > 1j", NULL, KILN_OK, 1, 1, -1, false},
        {"x * 1j", "out[0]: the result", KILN_ERROR_TYPE, 1, 1, 1, false},
        {"x.sum()", "options.axes was given", KILN_ERROR_INVALID, 1, 1, -1, true},
        {"x[:0].max(axis=0)", "no identity", KILN_ERROR_INVALID, 1, 1, -1, false},
    };
    operands o;
    kiln_arg in[4];
    (void)state;
    make(&o);
    set_arguments(in, &o);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        kiln_kernel *kernel = NULL;
        kiln_array *out[2] = {cases[c].given >= 0 ? o.array[cases[c].given] : NULL, NULL};
        kiln_call_options options = KILN_CALL_OPTIONS_INIT;
        options.axes = cases[c].has_axes ? &axis : NULL;
        options.n_axes = cases[c].has_axes;
        OK(kiln_expression_create(&kernel, "x", cases[c].text, NULL));
        kiln_status status = kiln_kernel_call(kernel, out, cases[c].n_out, in, cases[c].n_in, &options);
        if (status != cases[c].status || (cases[c].part && !strstr(kiln_error_message(), cases[c].part)))
            fail_msg("%s: status %d, '%s' was expected: %s", cases[c].text, status,
                     cases[c].part ? cases[c].part : "", kiln_error_message());
        if (cases[c].given < 0) {
            assert_int_equal(out[0] != NULL, status == KILN_OK);
            kiln_array_free(out[0]);
        }
        kiln_kernel_free(kernel);
    }
    drop(&o);
}

/* A vector of weights would lie across those of the inputs: one element is loaded, though an operand of
 * results alone is broadcast, too. */
static void weights_are_not_vectors(void **state)
{
    static const int64_t shape[] = {754, 3, 112, 112}, weights[] = {3, 1, 1};
    kiln_kernel *kernel = NULL;
    kiln_array *x = NULL, *w = NULL;
    char *source = NULL;
    (void)state;
    OK(kiln_expression_create(&kernel, "x, w", "sum(x * w, axis=1) / sum(w)", NULL));
    OK(kiln_array_empty(&x, KILN_FLOAT16, 4, shape, KILN_DEVICE_HOST));
    OK(kiln_array_empty(&w, KILN_FLOAT16, 3, weights, KILN_DEVICE_HOST));
    const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_array(w)};
    OK(kiln_kernel_source(&source, kernel, NULL, 1, in, 2, NULL, "sm_90"));
    assert_non_null(strstr(source, "(const float16 *)kn_x1_at, kn.axis[kn.reduction_rank].stride[1] != 0)"));
    assert_null(strstr(source, "(const float16 *)kn_x1_at, true)"));
    free(source);
    kiln_array_free(x);
    kiln_array_free(w);
    kiln_kernel_free(kernel);
}

static kiln_status explain_once(const kiln_arg *in)
{
    kiln_kernel *kernel = NULL;
    char *text = NULL;
    kiln_status status = kiln_expression_create(
        &kernel, "x, y, v, w", "m = mean(x, axis=1); x.T - m, var(y * v, axis=0), (x + y).reshape(-1)", NULL);
    if (status == KILN_OK)
        status = kiln_kernel_explain(&text, kernel, NULL, 3, in, 4, NULL, "host");
    assert_int_equal(status == KILN_OK, text != NULL);
    free(text);
    kiln_kernel_free(kernel);
    return status;
}

static void memory_fails(void **state)
{
    operands o;
    kiln_arg in[4];
    (void)state;
    make(&o);
    set_arguments(in, &o);
    EACH_ALLOCATION(explain_once(in), KILN_ERROR_MEMORY, (void)0);
    drop(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_are_few),
                                       cmocka_unit_test(exponentials_that_are_summed),
                                       cmocka_unit_test(whole_numbers_divided_by_constants),
                                       cmocka_unit_test(programs_are_taken_apart_where_that_pays),
                                       cmocka_unit_test(values_of_rows_are_computed_once),
                                       cmocka_unit_test(few_elements_are_reduced_without_a_loop),
                                       cmocka_unit_test(ranges_are_read_on_the_host),
                                       cmocka_unit_test(views_at_offsets_are_one_array),
                                       cmocka_unit_test(stored_results_lie_as_their_inputs),
                                       cmocka_unit_test(transposed_inputs_are_stored),
                                       cmocka_unit_test(single_elements_are_not_reduced),
                                       cmocka_unit_test(reshapes_of_inputs),
                                       cmocka_unit_test(shapes_share_code),
                                       cmocka_unit_test(results_are_given_or_made),
                                       cmocka_unit_test(results_may_cover_inputs),
                                       cmocka_unit_test(layouts_are_unchanged),
                                       cmocka_unit_test(calls_are_refused),
                                       cmocka_unit_test(memory_fails),
                                       cmocka_unit_test(weights_are_not_vectors),
                                       cmocka_unit_test(members_are_not_renamed)};
    /* Code compiled beside a test would take allocations that the test counts. */
    return kiln_set_forms(KILN_FORMS_BEST) != KILN_OK || cmocka_run_group_tests(tests, NULL, NULL);
}
