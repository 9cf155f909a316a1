/* Elements that a body leaves unassigned, or reads first: zeros in an output that the call allocates,
 * whatever lay there before; what was there in one that is given. */
#include "cases.h"

#include <string.h>

enum { N = 600 };

/* Memory of this size that the pool has is full of sevens. */
static void dirty(size_t bytes)
{
    const unsigned char seven = 0x77;
    const int64_t shape[] = {(int64_t)bytes};
    kiln_array *a = NULL, *b = NULL;
    succeeded(kiln_array_full(&a, KILN_UINT8, 1, shape, &seven, stage_device), "memory");
    succeeded(kiln_array_full(&b, KILN_UINT8, 1, shape, &seven, stage_device), "more memory");
    kiln_array_free(a);
    kiln_array_free(b);
}

/* 0, 1, 2, ... */
static kiln_array *counted(kiln_dtype dtype)
{
    kiln_array *x = NULL;
    succeeded(kiln_array_arange(&x, 0, N, 1, dtype, stage_device), "kiln_array_arange");
    return x;
}

/* Element k of an array of float32 is `scale` * k where k % 3 is 0, else 0. */
static void expect_thirds(const char *what, kiln_array *z, float scale)
{
    float values[N];
    if (in_trouble() || !succeeded(kiln_array_to_host(z, values, sizeof values), what))
        return;
    for (int k = 0; k < N; ++k)
        trouble_unless(values[k] == (k % 3 == 0 ? scale * (float)k : 0), "%s: element %d is %g", what, k,
                       (double)values[k]);
}

static kiln_kernel *elementwise(const char *in, const char *out, const char *body)
{
    kiln_kernel *kernel = NULL;
    succeeded(kiln_elementwise_create(&kernel, in, out, body, "left", NULL), "kiln_elementwise_create");
    return kernel;
}

/* One of each kind: behind an if, a sum, behind a jump, raw; and of other dtypes. */
static void fresh_outputs(void)
{
    kiln_kernel *kernel = elementwise("raw T x", "T a, T b, T c, raw T d, complex64 z, bool is",
                                      "if (i % 3 == 0) { a = 2 * x[i]; d[i] = x[i]; }\n"
                                      "b += i % 3 ? (T)0 : x[i];\n"
                                      "if (i > 300) is = true;\n"
                                      "if (i % 3) continue;\n"
                                      "z = c = x[i]");
    kiln_array *x = counted(KILN_FLOAT32);
    const kiln_arg arg = kiln_arg_array(x);
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    options.size = N;
    for (int k = 0; k < 2 && !in_trouble(); ++k) { /* planned, and remembered */
        kiln_array *out[6] = {NULL};
        unsigned char is[N];
        float z[2 * N];
        dirty(N * sizeof(float));
        dirty(2 * N * sizeof(float));
        dirty(N);
        succeeded(kiln_kernel_call(kernel, out, 6, &arg, 1, &options), "a call");
        expect_thirds("an if", out[0], 2);
        expect_thirds("a sum", out[1], 1);
        expect_thirds("a jump", out[2], 1);
        expect_thirds("a raw output", out[3], 1);
        if (succeeded(kiln_array_to_host(out[4], z, sizeof z), "complex numbers"))
            for (int j = 0; j < 2 * N; ++j)
                trouble_unless(z[j] == (j % 6 == 0 ? (float)(j / 2) : 0), "z: part %d is %g", j,
                               (double)z[j]);
        if (succeeded(kiln_array_to_host(out[5], is, N), "is"))
            trouble_unless(!memchr(is, 1, 301) && !memchr(is + 301, 0, N - 301), "bool");
        for (int j = 0; j < 6; ++j)
            kiln_array_free(out[j]);
    }
    kiln_array_free(x);
    kiln_kernel_free(kernel);
}

/* Sums of three elements: 3, 12, 21, ..., of which some are left. */
static void reductions(void)
{
    enum { ROWS = N / 3 };
    const int64_t shape[] = {ROWS, 3};
    const int axis = 1;
    float values[ROWS];
    kiln_kernel *kernel = NULL;
    kiln_array *x = counted(KILN_FLOAT32), *rows = NULL, *y = NULL;
    succeeded(kiln_array_reshape(&rows, x, 2, shape), "kiln_array_reshape");
    succeeded(
        kiln_reduction_create(&kernel, "T x", "T y", "x", "a + b", "if (a > 1000) y = a", "0", "left", NULL),
        "kiln_reduction_create");
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    options.axes = &axis;
    options.n_axes = 1;
    const kiln_arg arg = kiln_arg_array(rows);
    dirty(sizeof values);
    if (succeeded(kiln_kernel_prepare(kernel, &y, 1, &arg, 1, &options, NULL), "kiln_kernel_prepare") &&
        succeeded(kiln_kernel_call(kernel, &y, 1, &arg, 1, &options), "kiln_kernel_call") &&
        succeeded(kiln_array_to_host(y, values, sizeof values), "y"))
        for (int k = 0; k < ROWS; ++k)
            trouble_unless(values[k] == (9 * k + 3 > 1000 ? (float)(9 * k + 3) : 0), "%d: %g", k,
                           (double)values[k]);
    kiln_array_free(x);
    kiln_array_free(rows);
    kiln_array_free(y);
    kiln_kernel_free(kernel);
}

/* Each launch of a graph leaves zeros. */
static void captured(void)
{
    const float seven = 7;
    kiln_kernel *kernel = elementwise("T x", "T z", "if ((int)x % 3 == 0) z = x");
    kiln_array *x = counted(KILN_FLOAT32), *z = NULL;
    const kiln_arg arg = kiln_arg_array(x);
    kiln_stream *stream = NULL, *before;
    kiln_graph *graph = NULL;
    kiln_graph_exec *exec = NULL;
    succeeded(kiln_stream_create(&stream, stage_device, 0), "kiln_stream_create");
    before = kiln_stream_set_current(stream);
    if (succeeded(kiln_capture_begin(stream), "begin")) {
        succeeded(kiln_kernel_call(kernel, &z, 1, &arg, 1, NULL), "a captured call");
        succeeded(kiln_capture_end(&graph, stream), "end");
    }
    if (!in_trouble() && succeeded(kiln_graph_instantiate(&exec, graph), "an instance"))
        for (int k = 0; k < 2; ++k) {
            succeeded(kiln_array_fill(z, &seven), "kiln_array_fill");
            succeeded(kiln_graph_launch(exec, stream), "a launch");
            expect_thirds("a launch", z, 1);
        }
    kiln_stream_set_current(before);
    kiln_graph_exec_free(exec);
    kiln_graph_free(graph);
    kiln_array_free(z);
    kiln_array_free(x);
    kiln_stream_free(stream);
    kiln_kernel_free(kernel);
}

static void evaluate(const char *expression, kiln_kernel *kernel, kiln_array **z, float scale)
{
    kiln_kernel *f = NULL;
    kiln_array *x = counted(KILN_FLOAT32);
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    kiln_kernel *const kernels[] = {kernel};
    options.kernels = kernels;
    options.n_kernels = 1;
    const kiln_arg arg = kiln_arg_array(x);
    dirty(N * sizeof(float));
    if (succeeded(kiln_expression_create(&f, "x", expression, &options), expression))
        succeeded(kiln_kernel_call(f, z, 1, &arg, 1, NULL), expression);
    expect_thirds(expression, *z, scale);
    kiln_kernel_free(f);
    kiln_array_free(x);
}

/* An expression stores all elements of its results, in given arrays too. One kernel shares that of the
 * expression, the other has its own. */
static void expressions(void)
{
    const float seven = 7;
    const int64_t shape[] = {N};
    kiln_kernel *shares = elementwise("T x", "T z", "if ((int)x % 3 == 0) z = x"),
                *own = elementwise("T x", "T z", "if (i % 3 == 0) z = x");
    kiln_array *z = NULL, *y = NULL, *given = NULL;
    evaluate("left(x) * 2 + left(x)[:]", shares, &z, 3);
    evaluate("left(x)", own, &y, 1);
    succeeded(kiln_array_full(&given, KILN_FLOAT32, 1, shape, &seven, stage_device), "an output");
    evaluate("left(x)", own, &given, 1);
    kiln_array_free(z);
    kiln_array_free(y);
    kiln_array_free(given);
    kiln_kernel_free(shares);
    kiln_kernel_free(own);
}

const test_case left_cases[] = {{"fresh_outputs", fresh_outputs, 0},
                                {"reductions", reductions, 0},
                                {"captured", captured, CASE_CUDA},
                                {"expressions", expressions, 0},
                                {NULL, NULL, 0}};
