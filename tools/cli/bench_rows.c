/* bench_rows.c - the table of rows, and the sweeps over sizes, axes, chains and splits. */
#include "bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- references, in double precision ---- */

#define REFERENCE(name, result)                                                                              \
    static bench_value name(const bench_value *in, int64_t index, int64_t n)                                 \
    {                                                                                                        \
        (void)in, (void)index, (void)n;                                                                      \
        return (bench_value){(result), 0};                                                                   \
    }

/* Complex elements too, in the permutations. */
static bench_value same(const bench_value *in, int64_t index, int64_t n)
{
    (void)index, (void)n;
    return in[0];
}

static double polar(double r1, double t1, double r2, double t2)
{
    return hypot(r1 * cos(t1) - r2 * cos(t2), r1 * sin(t1) - r2 * sin(t2));
}

static double chain_of_25(double x)
{
    for (int k = 0; k < 5; k++) {
        x = sin(x) * 0.5 + x;
        x = exp(-fabs(x));
    }
    return x;
}

/* arange(n).reshape(1000, -1).T */
static int64_t paper_value(int64_t index, int64_t n)
{
    int64_t columns = n / 1000, row = index / 1000;
    return index % 1000 * columns + row;
}

static double gelu(double x)
{
    return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

REFERENCE(sum, in[0].re + in[1].re)
REFERENCE(fused, in[0].re *in[1].re + in[2].re)
REFERENCE(gaussian, exp(-0.5 * in[0].re * in[0].re) / 2.5066282746310002)
REFERENCE(distance, polar(in[0].re, in[1].re, in[2].re, in[3].re))
REFERENCE(softplus, fmax(in[0].re, 0) + log1p(exp(-fabs(in[0].re))))
REFERENCE(scaled, in[0].re *(1.0 / 255))
REFERENCE(less, in[0].re < in[1].re)
REFERENCE(choice, in[0].re > 0.5 ? in[1].re : in[2].re)
REFERENCE(product, in[0].re *in[1].re)
REFERENCE(twice, in[0].re * 2)
REFERENCE(difference, in[0].re - in[1].re)
REFERENCE(chain, chain_of_25(in[0].re))
REFERENCE(bell, gelu(in[0].re))
REFERENCE(length, hypot(in[0].re, in[1].re))
REFERENCE(affine, in[0].re * 0.5 + 0.25)
REFERENCE(paper, (double)(2 * paper_value(index, n)))

REFERENCE(normalised, (in[0].re / 255 - in[1].re) / in[2].re)
REFERENCE(standardised, (in[0].re - in[1].re) / in[2].re)
REFERENCE(real_part, in[0].re)
REFERENCE(imaginary_part, in[0].im)
REFERENCE(rotated, in[0].re *in[2].re - in[1].re * in[3].re)
REFERENCE(rotated_on, in[0].re *in[3].re + in[1].re * in[2].re)
REFERENCE(halved, (in[0].re + in[1].re) * 0.5)

static double sum_of(const bench_value *in, int count)
{
    double all = 0;
    for (int k = 0; k < count; k++)
        all += in[k].re;
    return all;
}

REFERENCE(five_points, sum_of(in, 5) * 0.2)
REFERENCE(seven_points, sum_of(in, 7) * 0.125)
REFERENCE(nine_points, sum_of(in, 9) * 0.125)

static bench_value paired(const bench_value *in, int64_t index, int64_t n)
{
    (void)index, (void)n;
    return (bench_value){in[0].re, in[1].re};
}

static bench_value complex_product(const bench_value *in, int64_t index, int64_t n)
{
    (void)index, (void)n;
    return (bench_value){in[0].re * in[1].re - in[0].im * in[1].im,
                         in[0].re * in[1].im + in[0].im * in[1].re};
}

/* ---- reductions ---- */

#define EXPECTED(name, result, rounds)                                                                       \
    static void name(const bench_reduced *all, double *value, double *size)                                  \
    {                                                                                                        \
        *value = (result);                                                                                   \
        *size = (rounds);                                                                                    \
    }
EXPECTED(expect_sum, all->sum, fmax(fabs(all->sum), sqrt(all->squares)))
EXPECTED(expect_norm, sqrt(all->squares), *value)
EXPECTED(expect_place, (double)all->at, 0)
EXPECTED(expect_variance, all->squares / all->n - all->sum / all->n * all->sum / all->n, *value)

/* NumPy's argmax: the first of equals, and the first NaN before all numbers. Indices have 32 bits, as
 * JAX's. Which of two is returned is said by `if`: g++ takes the addresses of both sides of `c ? a : b`
 * where they are structs, and makes no vectors then. */
#define BEST                                                                                                 \
    "struct best { float value; int at; };\n"                                                                \
    "__device__ best better(best a, best b, bool follows)\n"                                                 \
    "{\n"                                                                                                    \
    "    bool a_nan = a.value != a.value, b_nan = b.value != b.value;\n"                                     \
    "    bool more = (a.value > b.value) | (a_nan & !b_nan), same = (a.value == b.value) | (a_nan & "        \
    "b_nan);\n"                                                                                              \
    "    if (follows ? (a.value >= b.value) | a_nan : more | (same & (a.at < b.at)))\n"                      \
    "        return a;\n"                                                                                    \
    "    return b;\n"                                                                                        \
    "}"

/* Means and squared deviations merged as in Chan, Golub, LeVeque, "Updating formulae and a pairwise algorithm
 * for computing sample variances" (1979): nothing large is subtracted from anything large. */
#define MOMENTS                                                                                              \
    "struct moments { float n, mean, squares; };\n"                                                          \
    "#ifdef __CUDA_ARCH__\n"                                                                                 \
    "__device__ float ratio(float a, float b) { return __fdividef(a, b); }\n"                                \
    "#else\n"                                                                                                \
    "float ratio(float a, float b) { return a / b; }\n"                                                      \
    "#endif\n"                                                                                               \
    "__device__ moments merged(moments a, moments b)\n"                                                      \
    "{\n"                                                                                                    \
    "    float n = a.n + b.n, part = ratio(b.n, n + (n == 0)), step = b.mean - a.mean;\n"                    \
    "    return moments{n, a.mean + step * part, a.squares + b.squares + step * step * a.n * part};\n"       \
    "}"

static const bench_reduction sums = {"x", "a + b", "y = a", "0", NULL, NULL, expect_sum};
static const bench_reduction norms = {"x * x", "a + b", "y = sqrt(a)", "0", NULL, NULL, expect_norm};
static const bench_reduction places = {
    "best{x, (int)_J}", "better(a, b, _follows)", "y = a.at", NULL, "best", BEST, expect_place};
static const bench_reduction variances = {"moments{1, x, 0}", "merged(a, b)", "y = a.squares / a.n",
                                          "moments{0, 0, 0}", "moments",      MOMENTS,
                                          expect_variance};
/* The greatest and the sum of powers relative to it, in one pass. Nothing at all is a sum of 0 that is
 * relative to the least float. */
#define POWERS                                                                                               \
    "struct powers { T greatest, sum; };\n"                                                                  \
    "__device__ powers joined(powers a, powers b)\n"                                                         \
    "{\n"                                                                                                    \
    "    bool more = a.greatest > b.greatest;\n"                                                             \
    "    T high = more ? a.greatest : b.greatest, low = more ? b.greatest : a.greatest, apart = exp(low - "  \
    "high);\n"                                                                                               \
    "    return powers{high, more ? a.sum + b.sum * apart : b.sum + a.sum * apart};\n"                       \
    "}"
static const bench_reduction powers = {"powers{x, 1}",
                                       "joined(a, b)",
                                       "y = a.greatest + log(a.sum)",
                                       "powers{(T)-3.402823466e+38f, 0}",
                                       "powers",
                                       POWERS,
                                       NULL};
/* For the rows of first use. */
static const bench_reduction new_sums = {"x * (T)#", "a + b", "y = a", "0", NULL, NULL, NULL};
static const bench_reduction new_norms = {"x * x * (T)#", "a + b", "y = sqrt(a)", "0", NULL, NULL, NULL};
static const bench_reduction new_places = {
    "best{x * (T)#, (int)_J}", "better(a, b, _follows)", "y = a.at", NULL, "best", BEST, NULL};

/* ---- expressions ---- */

/* The softmax of "x", or of "x * #" if the kernel has to be new. */
#define SOFTMAX(x) SOFTMAX_OVER("-1", x)
#define SOFTMAX_OVER(axis, x)                                                                                \
    "v = " x "; e = exp(v - max(v, axis=" axis ", keepdims=True)); e / sum(e, axis=" axis ", keepdims=True)"
#define NORMED(x) NORMED_OVER("-1", x)
#define NORMED_OVER(axes, x)                                                                                 \
    "v = " x "; d = v - mean(v, axis=" axes ", keepdims=True); d / sqrt(mean(d * d, axis=" axes              \
    ", keepdims=True) + 1e-5)"
#define STANDARDISED "(x - mean(x, axis=0)) / std(x, axis=0)"
#define RESCALED "f = astype(x, float32); l = min(f, axis=0); (f - l) / (max(f, axis=0) - l)"
/* Batch norm in training, with the statistics that it keeps (of n elements a channel, without bias), and its
 * gradients. */
#define BATCH_NORM(axes, n)                                                                                  \
    "c = mean(x, axis=" axes ", keepdims=True); d = x - c; q = mean(d * d, axis=" axes ", keepdims=True);"   \
    "n = " n "; 0.9 * m + 0.1 * c, 0.9 * v + 0.1 * q * (n / (n - 1)), d / sqrt(q + 1e-5) * g + b"
#define BATCH_GRADIENT(axes, n)                                                                              \
    "h = (x - m) * s; p = sum(y * h, axis=" axes ", keepdims=True); q = sum(y, axis=" axes                   \
    ", keepdims=True); n = " n "; p, q, (g * s) * (y - q / n - h * (p / n))"
#define OF_NCHW "(x.shape[0] * x.shape[2] * x.shape[3])"
#define OF_NHWC "(x.shape[0] * x.shape[1] * x.shape[2])"
#define RMSNORM "x / sqrt(mean(x * x, axis=-1, keepdims=True) + 1e-5) * g"
/* The label's logit is picked by comparison, so that the logits are read once. */
#define CROSS_ENTROPY                                                                                        \
    "m = max(x, axis=-1, keepdims=True); s = sum(exp(x - m), axis=-1, keepdims=True);"                       \
    "p = sum(where(arange(x.shape[1]) == t, x, 0), axis=-1, keepdims=True); (m + log(s) - p)[:, 0]"
/* Backward passes, of the gradient d of the result: softmax's from its result y; rmsnorm's from r, one over
 * the root of each row. */
#define SOFTMAX_GRADIENT "y * (d - sum(d * y, axis=-1, keepdims=True))"
#define RMSNORM_GRADIENT_ALONE "(d * g - x * r * mean(x * r * (d * g), axis=-1, keepdims=True)) * r"
#define RMSNORM_GRADIENT "h = x * r; w = d * g; (w - h * mean(h * w, axis=-1, keepdims=True)) * r"
#define FUSED_DISTANCE "a = r1 * cos(t1) - r2 * cos(t2); b = r1 * sin(t1) - r2 * sin(t2); sqrt(a * a + b * b)"
#define FUSED_STEP "v = sin(v) * 0.5 + v; v = exp(-abs(v)); "
#define FUSED_GELU "0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))"
/* Twenty operations: layernorm, gelu, and what comes of it. */
#define TWENTY                                                                                               \
    "m = mean(x, axis=-1, keepdims=True); d = x - m; s = mean(d * d, axis=-1, keepdims=True);"               \
    "y = d / sqrt(s + 1e-5) * g + b; z = 0.5 * y * (1 + tanh(0.7978845608028654 * (y + 0.044715 * y * y * "  \
    "y)));"                                                                                                  \
    "maximum(z, 0) + x"
#define PAPER "arange(@).reshape(1000, -1).T * 2"

/* Kernels of first use as one writes them by hand: an element a thread, for one layout. */
#define MAP_BY_HAND(parameters, statements)                                                                  \
    "extern \"C\" __global__ void by_hand(" parameters ", int n)\n"                                          \
    "{\n"                                                                                                    \
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"                                                   \
    "    if (i >= n)\n"                                                                                      \
    "        return;\n" statements "}\n"
#define NEW_BY_HAND                                                                                          \
    MAP_BY_HAND("const float *x, float *z", "    float q = x[i] * #f;\n"                                     \
                                            "    z[i] = q * q - x[i] / (q + 1);\n")
#define COLUMN_BY_HAND                                                                                       \
    MAP_BY_HAND("const float *x, const float *y, float *z", "    z[i] = x[i] + y[i / 1024] * #f;\n")
#define TURNED_BY_HAND(type, rows, columns)                                                                  \
    MAP_BY_HAND("const " type " *x, " type " *y",                                                            \
                "    y[i] = x[i % " rows " * " columns " + i / " rows "] * (" type ")#f;\n")
#define SHIFTED_BY_HAND                                                                                      \
    MAP_BY_HAND("const float *x, float *z", "    int at = i / 1024 * 1025 + i % 1024;\n"                     \
                                            "    z[i] = (x[at + 1026] - x[at]) * #f;\n")
#define STENCIL_BY_HAND                                                                                      \
    MAP_BY_HAND("const float *x, float *z", "    const float *c = x + i / 1024 * 1026 + i % 1024 + 1027;\n"  \
                                            "    z[i] = *c - (c[-1026] + c[1026] + c[-1] + c[1]) * #f;\n")
/* Halves need their header otherwise: the conversion is the instruction that it would give. */
#define INTERLEAVED_BY_HAND                                                                                  \
    MAP_BY_HAND("const unsigned char *x, unsigned short *y",                                                 \
                "    float v = x[i % 3 * 1048576 + i / 3] * #f;\n"                                           \
                "    asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(y[i]) : \"f\"(v));\n")
#define TEN_BY_HAND                                                                                          \
    "extern \"C\" __global__ void by_hand(const float *in, float *out, int n)\n"                             \
    "{\n"                                                                                                    \
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"                                                   \
    "    if (i >= n)\n"                                                                                      \
    "        return;\n"                                                                                      \
    "    float x = in[i], q = x * #f, d = q * q - x, r = sqrtf(fabsf(d) + 1);\n"                             \
    "    out[i] = expf(-r) * d / r;\n"                                                                       \
    "}\n"
/* One block per row, which reads it three times; a tree in shared memory. */
#define TREE(name, expression)                                                                               \
    "static __device__ float " name "(float *part, float a)\n"                                               \
    "{\n"                                                                                                    \
    "    part[threadIdx.x] = a;\n"                                                                           \
    "    for (int half = 128; half > 0; half /= 2) {\n"                                                      \
    "        __syncthreads();\n"                                                                             \
    "        if (threadIdx.x < half) {\n"                                                                    \
    "            float a = part[threadIdx.x], b = part[threadIdx.x + half];\n"                               \
    "            part[threadIdx.x] = " expression ";\n"                                                      \
    "        }\n"                                                                                            \
    "    }\n"                                                                                                \
    "    __syncthreads();\n"                                                                                 \
    "    a = part[0];\n"                                                                                     \
    "    __syncthreads();\n"                                                                                 \
    "    return a;\n"                                                                                        \
    "}\n"
#define ROW_BY_HAND(statements)                                                                              \
    "extern \"C\" __global__ void by_hand(const float *in, float *out, int n)\n"                             \
    "{\n"                                                                                                    \
    "    __shared__ float part[256];\n"                                                                      \
    "    const float *x = in + (long long)blockIdx.x * n, k = #f;\n"                                         \
    "    float *y = out + (long long)blockIdx.x * n;\n" statements "}\n"
#define OVER_ROW "    for (int j = threadIdx.x; j < n; j += 256)\n        "
#define SOFTMAX_BY_HAND                                                                                      \
    TREE("greatest_of", "a > b ? a : b")                                                                     \
    TREE("sum_of", "a + b")                                                                                  \
    ROW_BY_HAND("    float m = -3.402823466e+38f, s = 0;\n" OVER_ROW "m = fmaxf(m, x[j] * k);\n"             \
                "    m = greatest_of(part, m);\n" OVER_ROW "s += expf(x[j] * k - m);\n"                      \
                "    s = sum_of(part, s);\n" OVER_ROW "y[j] = expf(x[j] * k - m) / s;\n")
#define LAYERNORM_BY_HAND                                                                                    \
    TREE("sum_of", "a + b")                                                                                  \
    ROW_BY_HAND("    float m = 0, s = 0;\n" OVER_ROW "m += x[j] * k;\n"                                      \
                "    m = sum_of(part, m) / n;\n" OVER_ROW "s += (x[j] * k - m) * (x[j] * k - m);\n"          \
                "    s = sqrtf(sum_of(part, s) / n + 1e-5f);\n" OVER_ROW "y[j] = (x[j] * k - m) / s;\n")

/* A thread a column, which it reads twice. */
#define VARIANCE_BY_HAND                                                                                     \
    "extern \"C\" __global__ void by_hand(const float *x, float *y, int n, int columns)\n"                   \
    "{\n"                                                                                                    \
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"                                                   \
    "    const float k = #f;\n"                                                                              \
    "    float m = 0, s = 0;\n"                                                                              \
    "    if (i >= columns)\n"                                                                                \
    "        return;\n"                                                                                      \
    "    for (int j = 0; j < n; j++)\n"                                                                      \
    "        m += x[j * columns + i] * k;\n"                                                                 \
    "    m /= n;\n"                                                                                          \
    "    for (int j = 0; j < n; j++)\n"                                                                      \
    "        s += (x[j * columns + i] * k - m) * (x[j * columns + i] * k - m);\n"                            \
    "    y[i] = s / n;\n"                                                                                    \
    "}\n"

/* ---- the bins of random elements ---- */

static int bin_of_float(int64_t index)
{
    return (int)((bench_random_at(KILN_FLOAT32, index) + 2) * 64);
}

static int bin_of_byte(int64_t index)
{
    return (int)(bench_bits_at(index) >> 24);
}

static int bin_of_label(int64_t index)
{
    return (int)(bench_bits_at(index) % 50256);
}

/* ---- the table ---- */

#define ARRAY(type, text)                                                                                    \
    {                                                                                                        \
        .dtype = KILN_##type, .shape = text                                                                  \
    }
#define BELOW(type, text, end)                                                                               \
    {                                                                                                        \
        .dtype = KILN_##type, .shape = text, .below = end                                                    \
    }
#define VIEW(type, text, permutation, at, other)                                                             \
    {                                                                                                        \
        .dtype = KILN_##type, .shape = text, .axes = permutation, .index = at, .shares = other               \
    }
#define F32(text) ARRAY(FLOAT32, text)
#define OPERANDS(count, ...) .n_operands = (count), .operand = {__VA_ARGS__}
#define KERNEL(given, made, text) .in = given, .out = made, .body = text

#define GAUSSIAN_BODY "T q = (x - m) / s; y = exp((T)-0.5 * (q * q)) / (s * (T)2.5066282746310002)"
#define DISTANCE_BODY                                                                                        \
    "T a = r1 * cos(t1) - r2 * cos(t2); T b = r1 * sin(t1) - r2 * sin(t2); d = sqrt(a * a + b * b)"
#define CHAIN_STEP "v = sin(v) * (T)0.5 + v; v = exp(-fabs(v)); "
#define CHAIN_BODY "T v = x; " CHAIN_STEP CHAIN_STEP CHAIN_STEP CHAIN_STEP CHAIN_STEP "y = v"
#define GELU_BODY "y = (T)0.5 * x * ((T)1 + tanh((T)0.7978845608028654 * (x + (T)0.044715 * x * x * x)))"
#define CALL_BODY "z = x + y"
#define NEW_BODY "T q = x * (T)#; z = q * q - x / (q + (T)1)"
#define REDUCTION(texts, axes) .in = "T x", .out = "T y", .reduction = &(texts), .reduced = axes
#define SCAN(texts, axes) REDUCTION(texts, axes), .scans = true
#define HISTOGRAM(number, of_random) .in = "T x", .out = "int64 z", .bin = number, .bin_at = of_random
#define EXPRESSION(given, text) .in = given, .expression = text
#define U8(text) ARRAY(UINT8, text)
#define COPY KERNEL("T x", "T y", "y = x")
#define SHIFTED(at) VIEW(FLOAT32, "W,W", "", at, 1)
#define SHIFTED3(at) VIEW(FLOAT32, "Y,Y,Y", "", at, 1)
/* One number a channel of NCHW. */
#define CHANNELS F32("256,1,1")
#define PLACE(texts, axes) .in = "T x", .out = "int64 y", .reduction = &(texts), .reduced = axes

/* kept in columns */
/* clang-format off */
static const bench_row table[] = {
    {"E1", "copy f32", KERNEL("T x", "T y", "y = x"),
     OPERANDS(2, F32("N"), F32("N")), .floor = "a4>4", .reference = same},
    {"E2", "add f32", KERNEL("T x, T y", "T z", "z = x + y"),
     OPERANDS(3, F32("N"), F32("N"), F32("N")), .floor = "a4b4>4", .reference = sum},
    {"E3", "fma f32 (x*y)+z fused", KERNEL("T x, T y, T z", "T w", "w = x * y + z"),
     OPERANDS(4, F32("N"), F32("N"), F32("N"), F32("N")), .floor = "a4b4c4>4", .reference = fused},
    {"E3f", "fma f32 (x*y)+z, through fusion", EXPRESSION("x, y, z", "x * y + z"),
     OPERANDS(4, F32("N"), F32("N"), F32("N"), F32("N")), .floor = "a4b4c4>4", .reference = fused},
    {"E4", "gaussian_pdf f32", KERNEL("T x, T m, T s", "T y", GAUSSIAN_BODY),
     OPERANDS(2, F32("N"), F32("N")), .scalar = {0, 1}, .n_scalars = 2, .floor = "a4>4", .reference = gaussian},
    {"E4f", "gaussian_pdf f32, through fusion", EXPRESSION("x, m, s", "exp(-0.5 * ((x - m) / s)**2) / (s * 2.5066282746310002)"),
     OPERANDS(2, F32("N"), F32("N")), .scalar = {0, 1}, .n_scalars = 2, .floor = "a4>4", .reference = gaussian},
    {"E5", "polar_distance f32", KERNEL("T r1, T t1, T r2, T t2", "T d", DISTANCE_BODY),
     OPERANDS(5, F32("N"), F32("N"), F32("N"), F32("N"), F32("N")), .floor = "a4b4c4d4>4", .reference = distance},
    {"E5f", "polar_distance f32, through fusion", EXPRESSION("r1, t1, r2, t2", FUSED_DISTANCE),
     OPERANDS(5, F32("N"), F32("N"), F32("N"), F32("N"), F32("N")), .floor = "a4b4c4d4>4", .reference = distance},
    {"E6", "softplus f32", KERNEL("T x", "T y", "y = (x > (T)0 ? x : (T)0) + log1p(exp(-fabs(x)))"),
     OPERANDS(2, F32("N"), F32("N")), .floor = "a4>4", .reference = softplus},
    {"E6f", "softplus f32, through fusion", EXPRESSION("x", "maximum(x, 0) + log1p(exp(-abs(x)))"),
     OPERANDS(2, F32("N"), F32("N")), .floor = "a4>4", .reference = softplus},
    {"E7", "add f16", KERNEL("T x, T y", "T z", "z = x + y"),
     OPERANDS(3, ARRAY(FLOAT16, "N"), ARRAY(FLOAT16, "N"), ARRAY(FLOAT16, "N")), .floor = "a2b2>2", .reference = sum},
    {"E7b", "add bf16", KERNEL("T x, T y", "T z", "z = x + y"),
     OPERANDS(3, ARRAY(BFLOAT16, "N"), ARRAY(BFLOAT16, "N"), ARRAY(BFLOAT16, "N")), .floor = "a2b2>2", .reference = sum},
    {"E8", "u8->f32 scale", KERNEL("uint8 x", "float32 y", "y = x * (1.0f / 255)"),
     OPERANDS(2, ARRAY(UINT8, "N"), F32("N")), .floor = "a1>4", .reference = scaled},
    {"E9", "fma f64", KERNEL("T x, T y, T z", "T w", "w = x * y + z"),
     OPERANDS(4, ARRAY(FLOAT64, "H"), ARRAY(FLOAT64, "H"), ARRAY(FLOAT64, "H"), ARRAY(FLOAT64, "H")),
     .floor = "a8b8c8>8", .reference = fused},
    {"E10", "mul c64", KERNEL("T x, T y", "T z", "z = x * y"),
     OPERANDS(3, ARRAY(COMPLEX64, "H"), ARRAY(COMPLEX64, "H"), ARRAY(COMPLEX64, "H")),
     .floor = "a8b8>8", .reference = complex_product},
    {"E11", "compare f32->bool", KERNEL("T x, T y", "bool z", "z = x < y"),
     OPERANDS(3, F32("N"), F32("N"), ARRAY(BOOL, "N")), .floor = "a4b4>1", .reference = less},
    {"E12", "where", KERNEL("T c, T x, T y", "T z", "z = c > (T)0.5 ? x : y"),
     OPERANDS(4, F32("N"), F32("N"), F32("N"), F32("N")), .floor = "a4b4c4>4", .reference = choice},
    {"E12f", "where, through fusion", EXPRESSION("c, x, y", "where(c > 0.5, x, y)"),
     OPERANDS(4, F32("N"), F32("N"), F32("N"), F32("N")), .floor = "a4b4c4>4", .reference = choice},
    {"B1", "(R,R)+(R,)", KERNEL("T x, T y", "T z", "z = x + y"),
     OPERANDS(3, F32("R,R"), F32("R"), F32("R,R")), .floor = "a4>4", .reference = sum},
    {"B2", "(R,R)+(R,1)", KERNEL("T x, T y", "T z", "z = x + y"),
     OPERANDS(3, F32("R,R"), F32("R,1"), F32("R,R")), .floor = "a4>4", .reference = sum},
    {"B3", "(1024,1,512)*(1,512,512)", KERNEL("T x, T y", "T z", "z = x * y"),
     OPERANDS(3, F32("1024*,1,512"), F32("1,512,512"), F32("1024*,512,512")), .floor = ">4", .reference = product},
    {"B4", "(R,1)*(1,R)", KERNEL("T x, T y", "T z", "z = x * y"),
     OPERANDS(3, F32("R,1"), F32("1,R"), F32("R,R")), .floor = ">4", .reference = product},
    {"S1", "transpose copy f32", KERNEL("T x", "T y", "y = x"),
     OPERANDS(2, VIEW(FLOAT32, "R,R", "1,0", "", 0), F32("R,R")), .floor = "a4>4", .reference = same},
    {"S2", "x.T+y -> C order", KERNEL("T x, T y", "T z", "z = x + y"),
     OPERANDS(3, VIEW(FLOAT32, "R,R", "1,0", "", 0), F32("R,R"), F32("R,R")), .floor = "a4b4>4", .reference = sum},
    {"S3", "x[:, ::2]*2", KERNEL("T x", "T y", "y = x * (T)2"),
     OPERANDS(2, VIEW(FLOAT32, "R,R", "", ":, ::2", 0), F32("R,Q")),
     .floor = "a4A4>4", .reference = twice},
    {"S4", "paper arange(1e8).reshape(1000,-1).T*2", KERNEL("", "T y", "y = (i % 1000 * (n / 1000) + i / 1000) * 2"),
     OPERANDS(1, VIEW(INT64, "1000,100000*", "1,0", "", 0)), .floor = ">8", .reference = paper},
    {"S4f", "paper arange(1e8).reshape(1000,-1).T*2, through fusion", EXPRESSION("", PAPER),
     OPERANDS(1, VIEW(INT64, "1000,100000*", "1,0", "", 0)), .floor = ">8", .reference = paper},
    {"S5", "NCHW->NHWC (64,256,56,56)", KERNEL("T x", "T y", "y = x"),
     OPERANDS(2, VIEW(FLOAT32, "64*,256,56,56", "0,2,3,1", "", 0), F32("64*,56,56,256")), .floor = "a4>4", .reference = same},
    {"S6", "perm (2,0,1) (512,1024,512)", KERNEL("T x", "T y", "y = x"),
     OPERANDS(2, VIEW(FLOAT32, "512*,1024,512", "2,0,1", "", 0), F32("512,512*,1024")), .floor = "a4>4", .reference = same},
    {"S7", "x[1:,1:]-x[:-1,:-1]", KERNEL("T x, T y", "T z", "z = x - y"),
     OPERANDS(3, VIEW(FLOAT32, "R,R", "", "1:, 1:", 0), VIEW(FLOAT32, "R,R", "", ":-1, :-1", 1), F32("M,M")),
     .floor = "a4>4", .reference = difference},
    {"L1", "u8 planes to f32 pixels, (x / 255 - m) / s", KERNEL("uint8 x, T m, T s", "T y", "y = (x / (T)255 - m) / s"),
     OPERANDS(4, VIEW(UINT8, "128*,3,720,1280", "0,2,3,1", "", 0), F32("3"), F32("3"), F32("128*,720,1280,3")), .floor = "a1>4", .reference = normalised},
    {"L2", "u8 pixels to f16 planes, scaled", KERNEL("uint8 x", "float16 y", "y = x * (1.0f / 255)"),
     OPERANDS(2, VIEW(UINT8, "128*,720,1280,3", "0,3,1,2", "", 0), ARRAY(FLOAT16, "128*,3,720,1280")), .floor = "a1>2", .reference = scaled},
    {"L3", "f32 (2^25,3) to (3,2^25)", COPY,
     OPERANDS(2, VIEW(FLOAT32, "33554432*,3", "1,0", "", 0), F32("3,33554432*")), .floor = "a4>4", .reference = same},
    {"L3b", "f32 (3,2^25) to (2^25,3)", COPY,
     OPERANDS(2, VIEW(FLOAT32, "3,33554432*", "1,0", "", 0), F32("33554432*,3")), .floor = "a4>4", .reference = same},
    {"L3c", "f32 (2^24,4) to (4,2^24)", COPY,
     OPERANDS(2, VIEW(FLOAT32, "16777216*,4", "1,0", "", 0), F32("4,16777216*")), .floor = "a4>4", .reference = same},
    {"L3d", "f32 (4,2^24) to (2^24,4)", COPY,
     OPERANDS(2, VIEW(FLOAT32, "4,16777216*", "1,0", "", 0), F32("16777216*,4")), .floor = "a4>4", .reference = same},
    {"L3e", "f64 (2^23,7) to (7,2^23)", COPY,
     OPERANDS(2, VIEW(FLOAT64, "8388608*,7", "1,0", "", 0), ARRAY(FLOAT64, "7,8388608*")), .floor = "a8>8", .reference = same},
    {"L3eb", "f64 (7,2^23) to (2^23,7)", COPY,
     OPERANDS(2, VIEW(FLOAT64, "7,8388608*", "1,0", "", 0), ARRAY(FLOAT64, "8388608*,7")), .floor = "a8>8", .reference = same},
    {"L3f", "u8 (2^27,3) to (3,2^27)", COPY,
     OPERANDS(2, VIEW(UINT8, "134217728*,3", "1,0", "", 0), U8("3,134217728*")), .floor = "a1>1", .reference = same},
    {"L3fb", "u8 (3,2^27) to (2^27,3)", COPY,
     OPERANDS(2, VIEW(UINT8, "3,134217728*", "1,0", "", 0), U8("134217728*,3")), .floor = "a1>1", .reference = same},
    {"L4", "c64 to real and imaginary planes", KERNEL("complex64 x", "float32 y, float32 z", "y = real(x); z = imag(x)"),
     OPERANDS(3, ARRAY(COMPLEX64, "67108864*"), VIEW(FLOAT32, "2,67108864*", "", "0", 0), VIEW(FLOAT32, "2,67108864*", "", "1", 2)), .n_more = 1,
     .floor = "a8>8", .reference = imaginary_part, .first_reference = real_part},
    {"L4b", "real and imaginary planes to c64", KERNEL("float32 x, float32 y", "complex64 z", "z = complex64(x, y)"),
     OPERANDS(3, F32("67108864*"), F32("67108864*"), ARRAY(COMPLEX64, "67108864*")), .floor = "a4b4>8", .reference = paired},
    {"L5", "rotary embedding of pairs, bf16",
     KERNEL("T x, T y, T c, T s", "T u, T v", "float a = x, b = y, p = c, q = s; u = (T)(a * p - b * q); v = (T)(a * q + b * p)"),
     OPERANDS(6, VIEW(BFLOAT16, "8*,8192,16,128", "", "..., ::2", 0), VIEW(BFLOAT16, "8*,8192,16,128", "", "..., 1::2", 1), ARRAY(BFLOAT16, "8192,1,64"),
              ARRAY(BFLOAT16, "8192,1,64"), VIEW(BFLOAT16, "8*,8192,16,128", "", "..., ::2", 0), VIEW(BFLOAT16, "8*,8192,16,128", "", "..., 1::2", 5)),
     .n_more = 1, .floor = "a4>4", .reference = rotated_on, .first_reference = rotated},
    {"L6", "windows of 128 times a taper, step 1", KERNEL("T x, T w", "T y", "y = x * w"),
     OPERANDS(3, {.dtype = KILN_FLOAT32, .shape = "2097152*", .window = 128, .step = 1}, F32("128"), F32("2097152*,128")), .floor = ">4", .reference = product},
    {"L6b", "windows of 128 times a taper, step 4", KERNEL("T x, T w", "T y", "y = x * w"),
     OPERANDS(3, {.dtype = KILN_FLOAT32, .shape = "2097152*", .window = 128, .step = 4}, F32("128"), F32("2097152*,128")), .floor = ">4", .reference = product},
    {"L7", "five points, f32 (16002,16002)", KERNEL("T a, T b, T c, T d, T e", "T z", "z = (a + b + c + d + e) * (T)0.2"),
     OPERANDS(6, VIEW(FLOAT32, "W,W", "", "1:-1, 1:-1", 0), SHIFTED(":-2, 1:-1"), SHIFTED("2:, 1:-1"), SHIFTED("1:-1, :-2"), SHIFTED("1:-1, 2:"), F32("V,V")),
     .floor = "a4>4", .reference = five_points},
    {"L7b", "nine points, f32 (16002,16002)",
     KERNEL("T a, T b, T c, T d, T e, T f, T g, T h, T k", "T z", "z = (a + b + c + d + e + f + g + h + k) * (T)0.125"),
     OPERANDS(10, VIEW(FLOAT32, "W,W", "", "1:-1, 1:-1", 0), SHIFTED(":-2, 1:-1"), SHIFTED("2:, 1:-1"), SHIFTED("1:-1, :-2"), SHIFTED("1:-1, 2:"),
              SHIFTED(":-2, :-2"), SHIFTED(":-2, 2:"), SHIFTED("2:, :-2"), SHIFTED("2:, 2:"), F32("V,V")),
     .floor = "a4>4", .reference = nine_points},
    {"L7c", "seven points, f32 (642,642,642)", KERNEL("T a, T b, T c, T d, T e, T f, T g", "T z", "z = (a + b + c + d + e + f + g) * (T)0.125"),
     OPERANDS(8, VIEW(FLOAT32, "Y,Y,Y", "", "1:-1, 1:-1, 1:-1", 0), SHIFTED3(":-2, 1:-1, 1:-1"), SHIFTED3("2:, 1:-1, 1:-1"), SHIFTED3("1:-1, :-2, 1:-1"),
              SHIFTED3("1:-1, 2:, 1:-1"), SHIFTED3("1:-1, 1:-1, :-2"), SHIFTED3("1:-1, 1:-1, 2:"), F32("X,X,X")),
     .floor = "a4>4", .reference = seven_points},
    {"L8", "int8 times an f16 column to f16", KERNEL("int8 x, float16 s", "float16 y", "y = (float)x * (float)s"),
     OPERANDS(3, ARRAY(INT8, "8192*,256,64"), ARRAY(FLOAT16, "8192*,256,1"), ARRAY(FLOAT16, "8192*,256,64")), .floor = "a1>2", .reference = product},
    {"L8b", "u8 planes to f32, (x - m) / s by plane", KERNEL("uint8 x, T m, T s", "T y", "y = (x - m) / s"),
     OPERANDS(4, U8("128*,3,720,1280"), F32("3,1,1"), F32("3,1,1"), F32("128*,3,720,1280")), .floor = "a1>4", .reference = standardised},
    {"L9", "bf16 (4096,64,512) to (4096,512,64)", COPY,
     OPERANDS(2, VIEW(BFLOAT16, "4096*,64,512", "0,2,1", "", 0), ARRAY(BFLOAT16, "4096*,512,64")), .floor = "a2>2", .reference = same},
    {"L9b", "bf16 (32,2048,16,64) to (32,16,2048,64)", COPY,
     OPERANDS(2, VIEW(BFLOAT16, "32*,2048,16,64", "0,2,1,3", "", 0), ARRAY(BFLOAT16, "32*,16,2048,64")), .floor = "a2>2", .reference = same},
    {"L10", "x + x.T halved, f32 (12000,12000)", KERNEL("T x, T y", "T z", "z = (x + y) * (T)0.5"),
     OPERANDS(3, F32("T,T"), VIEW(FLOAT32, "T,T", "1,0", "", 1), F32("T,T")), .floor = "a4>4", .reference = halved},
    {"R1", "sum f32 all", REDUCTION(sums, ""),
     OPERANDS(2, F32("N"), F32("")), .floor = "a4/4"},
    {"R2", "sum axis1 (R,R)", REDUCTION(sums, "1"),
     OPERANDS(2, F32("R,R"), F32("R")), .floor = "a4/4"},
    {"R3", "sum axis0 (R,R)", REDUCTION(sums, "0"),
     OPERANDS(2, F32("R,R"), F32("R")), .floor = "a4/4"},
    {"R4", "sum axis1 (4M,64)", REDUCTION(sums, "1"),
     OPERANDS(2, F32("4194304*,64"), F32("4194304*")), .floor = "a4/4"},
    {"R5", "sum axis0 (64,4M)", REDUCTION(sums, "0"),
     OPERANDS(2, F32("64,4194304*"), F32("4194304*")), .floor = "a4/4"},
    {"R6", "sum axis(0,2) (512,512,1024)", REDUCTION(sums, "0,2"),
     OPERANDS(2, F32("512*,512,1024"), F32("512")), .floor = "a4/4"},
    {"R7", "argmax all", PLACE(places, ""),
     OPERANDS(2, F32("N"), ARRAY(INT64, "")), .floor = "a4/8"},
    {"R8", "argmax axis1 (R,R)", PLACE(places, "1"),
     OPERANDS(2, F32("R,R"), ARRAY(INT64, "R")), .floor = "a4/8"},
    {"R8b", "argmax axis0 (R,R)", PLACE(places, "0"),
     OPERANDS(2, F32("R,R"), ARRAY(INT64, "R")), .floor = "a4/8"},
    {"R9", "l2norm kernel all", REDUCTION(norms, ""),
     OPERANDS(2, F32("N"), F32("")), .floor = "a4/4"},
    {"R9b", "l2norm kernel axis1", REDUCTION(norms, "1"),
     OPERANDS(2, F32("R,R"), F32("R")), .floor = "a4/4"},
    {"R9c", "l2norm kernel axis0", REDUCTION(norms, "0"),
     OPERANDS(2, F32("R,R"), F32("R")), .floor = "a4/4"},
    {"R10", "sum f16 all", REDUCTION(sums, ""),
     OPERANDS(2, ARRAY(FLOAT16, "N"), ARRAY(FLOAT16, "")), .floor = "a2/2"},
    {"R11", "sum axis0 (4M,16)", REDUCTION(sums, "0"),
     OPERANDS(2, F32("4194304*,16"), F32("16")), .floor = "a4/4"},
    {"R12", "sum axis1 (16,16M)", REDUCTION(sums, "1"),
     OPERANDS(2, F32("16,16777216*"), F32("16")), .floor = "a4/4"},
    {"R13", "sum f32 1M", REDUCTION(sums, ""),
     OPERANDS(2, F32("1048576"), F32("")), .floor = "a4/4"},
    {"R13b", "sum f32 1M, call and wait", BENCH_WAITED, REDUCTION(sums, ""),
     OPERANDS(2, F32("1048576"), F32("")), .floor = "a4/4"},
    {"X1", "cumsum f32", SCAN(sums, "0"),
     OPERANDS(2, F32("N"), F32("N")), .floor = "a4>4"},
    {"X1a", "cumsum f32 1M", SCAN(sums, "0"),
     OPERANDS(2, F32("1048576"), F32("1048576")), .floor = "a4>4"},
    {"X1b", "cumsum axis1 (65536,4096)", SCAN(sums, "1"),
     OPERANDS(2, F32("65536*,4096"), F32("65536*,4096")), .floor = "a4>4"},
    {"X1d", "cumsum axis0 (65536,4096)", SCAN(sums, "0"),
     OPERANDS(2, F32("65536*,4096"), F32("65536*,4096")), .floor = "a4>4"},
    {"X2", "sort f32", EXPRESSION("x", "sort(x)"), .is_order = true,
     OPERANDS(2, F32("134217728*"), F32("134217728*")), .floor = "a4>4"},
    {"X2c", "sort i64 below 2^20", EXPRESSION("x", "sort(x)"), .is_order = true,
     OPERANDS(2, BELOW(INT64, "67108864*", 1 << 20), ARRAY(INT64, "67108864*")), .floor = "a8>8"},
    {"X2e", "sort f32 1M", EXPRESSION("x", "sort(x)"), .is_order = true,
     OPERANDS(2, F32("1048576*"), F32("1048576*")), .floor = "a4>4"},
    {"X3", "argsort f32 to i64", EXPRESSION("x", "argsort(x)"), .is_order = true,
     OPERANDS(2, F32("67108864*"), ARRAY(INT64, "67108864*")), .floor = "a4>8"},
    {"X7", "histogram f32, 256 bins", HISTOGRAM("(int)((x + (T)2) * (T)64)", bin_of_float),
     OPERANDS(2, F32("N"), ARRAY(INT64, "256")), .floor = "a4/8"},
    {"X7b", "histogram u8, 256 bins", HISTOGRAM("x", bin_of_byte),
     OPERANDS(2, U8("N"), ARRAY(INT64, "256")), .floor = "a1/8"},
    {"X8", "bincount i64, 50256 bins", HISTOGRAM("x", bin_of_label),
     OPERANDS(2, BELOW(INT64, "67108864*", 50256), ARRAY(INT64, "50256")), .floor = "a8/8"},
    {"F1", "sqrt(sum(a**2,-1)) (256,1024)", REDUCTION(norms, "1"),
     OPERANDS(2, F32("256,1024"), F32("256")), .floor = "a4/4"},
    {"F1f", "sqrt(sum(a**2,-1)) (256,1024), through fusion", EXPRESSION("a", "sqrt(sum(a**2, axis=-1))"), .reduction = &norms, .reduced = "1",
     OPERANDS(2, F32("256,1024"), F32("256")), .floor = "a4/4"},
    {"F1b", "sqrt(sum(a**2,-1)) (65536,4096)", REDUCTION(norms, "1"),
     OPERANDS(2, F32("65536*,4096"), F32("65536*")), .floor = "a4/4"},
    {"F1bf", "sqrt(sum(a**2,-1)) (65536,4096), through fusion", EXPRESSION("a", "sqrt(sum(a**2, axis=-1))"), .reduction = &norms, .reduced = "1",
     OPERANDS(2, F32("65536*,4096"), F32("65536*")), .floor = "a4/4"},
    {"F2", "softmax (65536,1024)", EXPRESSION("x", SOFTMAX("x")),
     OPERANDS(2, F32("65536*,1024"), F32("65536*,1024")), .floor = "a4>4", .along = bench_softmax},
    {"F2b", "softmax (4096,32768)", EXPRESSION("x", SOFTMAX("x")),
     OPERANDS(2, F32("4096*,32768"), F32("4096*,32768")), .floor = "a4>4", .along = bench_softmax},
    {"F3", "layernorm (65536,1024)", EXPRESSION("x, g, b", NORMED("x") " * g + b"),
     OPERANDS(4, F32("65536*,1024"), F32("1024"), F32("1024"), F32("65536*,1024")), .floor = "a4>4", .along = bench_layernorm},
    {"F3b", "layernorm (8192,8192)", EXPRESSION("x, g, b", NORMED("x") " * g + b"),
     OPERANDS(4, F32("8192*,8192"), F32("8192"), F32("8192"), F32("8192*,8192")), .floor = "a4>4", .along = bench_layernorm},
    {"F4", "chain of 25 ops", KERNEL("T x", "T y", CHAIN_BODY),
     OPERANDS(2, F32("N"), F32("N")), .floor = "a4>4", .reference = chain},
    {"F4f", "chain of 25 ops, through fusion", EXPRESSION("x", "v = x; " FUSED_STEP FUSED_STEP FUSED_STEP FUSED_STEP FUSED_STEP "v"),
     OPERANDS(2, F32("N"), F32("N")), .floor = "a4>4", .reference = chain},
    {"F5", "gelu f32", KERNEL("T x", "T y", GELU_BODY),
     OPERANDS(2, F32("N"), F32("N")), .floor = "a4>4", .reference = bell},
    {"F5f", "gelu f32, through fusion", EXPRESSION("x", FUSED_GELU),
     OPERANDS(2, F32("N"), F32("N")), .floor = "a4>4", .reference = bell},
    {"F5b", "gelu bf16", KERNEL("bfloat16 x", "bfloat16 y", "float v = x; y = 0.5f * v * (1 + tanhf(0.7978845608028654f * (v + 0.044715f * v * v * v)))"),
     OPERANDS(2, ARRAY(BFLOAT16, "N"), ARRAY(BFLOAT16, "N")), .floor = "a2>2", .reference = bell},
    {"F5bf", "gelu bf16, through fusion", EXPRESSION("x", FUSED_GELU),
     OPERANDS(2, ARRAY(BFLOAT16, "N"), ARRAY(BFLOAT16, "N")), .floor = "a2>2", .reference = bell},
    {"F6", "rmsnorm bf16 (65536,4096)", EXPRESSION("x, g", RMSNORM),
     OPERANDS(3, ARRAY(BFLOAT16, "65536*,4096"), ARRAY(BFLOAT16, "4096"), ARRAY(BFLOAT16, "65536*,4096")), .floor = "a2>2", .along = bench_rmsnorm},
    {"F7", "var axis1 (R,R)", REDUCTION(variances, "1"),
     OPERANDS(2, F32("R,R"), F32("R")), .floor = "a4/4"},
    {"F7f", "var axis1 (R,R), through fusion", EXPRESSION("x", "var(x, axis=-1)"), .reduction = &variances, .reduced = "1",
     OPERANDS(2, F32("R,R"), F32("R")), .floor = "a4/4"},
    {"F8", "cross-entropy f32 (16384,50256)", EXPRESSION("x, t", CROSS_ENTROPY),
     OPERANDS(3, F32("16384*,50256"), BELOW(INT64, "16384*,1", 50256), F32("16384*")), .floor = "a4/4", .along = bench_cross_entropy},
    {"F8b", "the same by a reduction of one's own", EXPRESSION("x, t", "fold(x, axis=-1) - sum(where(arange(x.shape[1]) == t, x, 0), axis=-1)"), .function = &powers,
     OPERANDS(3, F32("16384*,50256"), BELOW(INT64, "16384*,1", 50256), F32("16384*")), .floor = "a4/4", .along = bench_cross_entropy},
    {"F9", "gradient of softmax f32 (32768,4096)", EXPRESSION("y, d", SOFTMAX_GRADIENT),
     OPERANDS(3, F32("32768*,4096"), F32("32768*,4096"), F32("32768*,4096")), .floor = "a4b4>4", .along = bench_softmax_gradient},
    {"F9b", "gradient of softmax f32 (4096,32768)", EXPRESSION("y, d", SOFTMAX_GRADIENT),
     OPERANDS(3, F32("4096*,32768"), F32("4096*,32768"), F32("4096*,32768")), .floor = "a4b4>4", .along = bench_softmax_gradient},
    {"F10", "gradient of rmsnorm bf16, for x (32768,4096)", EXPRESSION("x, d, g, r", RMSNORM_GRADIENT),
     OPERANDS(5, ARRAY(BFLOAT16, "32768*,4096"), ARRAY(BFLOAT16, "32768*,4096"), ARRAY(BFLOAT16, "4096"), F32("32768*,1"), ARRAY(BFLOAT16, "32768*,4096")),
     .floor = "a2b2>2", .along = bench_rmsnorm_gradient},
    {"F10b", "the same, for the scale", EXPRESSION("x, d, r", "sum(d * x * r, axis=0)"), .reduced = "0",
     OPERANDS(4, ARRAY(BFLOAT16, "32768*,4096"), ARRAY(BFLOAT16, "32768*,4096"), F32("32768*,1"), F32("4096")),
     .floor = "a2b2/4", .along = bench_scale_gradient},
    {"F10c", "both gradients of rmsnorm bf16, by one call", EXPRESSION("x, d, g, r", "sum(d * x * r, axis=0), " RMSNORM_GRADIENT_ALONE),
     OPERANDS(6, ARRAY(BFLOAT16, "32768*,4096"), ARRAY(BFLOAT16, "32768*,4096"), ARRAY(BFLOAT16, "4096"), F32("32768*,1"), F32("4096"), ARRAY(BFLOAT16, "32768*,4096")),
     .n_more = 1, .floor = "a2b2>2", .along = bench_rmsnorm_gradients, .across = bench_scale_beside},
    {"N1", "standardise columns (65536,1024)", EXPRESSION("x", STANDARDISED), .reduced = "0",
     OPERANDS(2, F32("65536*,1024"), F32("65536*,1024")), .floor = "a4>4", .along = bench_standardised},
    {"N1b", "standardise columns (4096,65536)", EXPRESSION("x", STANDARDISED), .reduced = "0",
     OPERANDS(2, F32("4096*,65536"), F32("4096*,65536")), .floor = "a4>4", .along = bench_standardised},
    {"N2", "softmax over the first axis (4096,16384)", EXPRESSION("x", SOFTMAX_OVER("0", "x")), .reduced = "0",
     OPERANDS(2, F32("4096*,16384"), F32("4096*,16384")), .floor = "a4>4", .along = bench_softmax},
    {"N3", "softmax over channels (64,1000,28,28)", EXPRESSION("x", SOFTMAX_OVER("1", "x")), .reduced = "1",
     OPERANDS(2, F32("64*,1000,28,28"), F32("64*,1000,28,28")), .floor = "a4>4", .along = bench_softmax},
    {"N3b", "softmax over channels, bf16 (8,21,512,512)", EXPRESSION("x", SOFTMAX_OVER("1", "x")), .reduced = "1",
     OPERANDS(2, ARRAY(BFLOAT16, "8,21,512*,512"), ARRAY(BFLOAT16, "8,21,512*,512")), .floor = "a2>2", .along = bench_softmax},
    {"N4", "over the norm of channels (64,256,56,56)", EXPRESSION("x", "x / sqrt(sum(x * x, axis=1, keepdims=True) + 1e-12)"), .reduced = "1",
     OPERANDS(2, F32("64*,256,56,56"), F32("64*,256,56,56")), .floor = "a4>4", .along = bench_unit},
    {"N5", "batch norm in training, NCHW", EXPRESSION("x, g, b, m, v", BATCH_NORM("(0, 2, 3)", OF_NCHW)), .reduced = "0,2,3",
     OPERANDS(8, F32("64*,256,56,56"), CHANNELS, CHANNELS, CHANNELS, CHANNELS, F32("1,256,1,1"), F32("1,256,1,1"), F32("64*,256,56,56")), .n_more = 2,
     .floor = "a4>4", .along = bench_batch_norm},
    {"N5n", "the same, NHWC", EXPRESSION("x, g, b, m, v", BATCH_NORM("(0, 1, 2)", OF_NHWC)), .reduced = "0,1,2",
     OPERANDS(8, F32("64*,56,56,256"), F32("256"), F32("256"), F32("256"), F32("256"), F32("1,1,1,256"), F32("1,1,1,256"), F32("64*,56,56,256")), .n_more = 2,
     .floor = "a4>4", .along = bench_batch_norm},
    {"N5b", "its gradients, NCHW", EXPRESSION("x, y, g, m, s", BATCH_GRADIENT("(0, 2, 3)", OF_NCHW)), .reduced = "0,2,3",
     OPERANDS(8, F32("64*,256,56,56"), F32("64*,256,56,56"), CHANNELS, CHANNELS, CHANNELS, F32("1,256,1,1"), F32("1,256,1,1"), F32("64*,256,56,56")), .n_more = 2,
     .floor = "a4b4>4", .along = bench_batch_gradient},
    {"N5bn", "the same, NHWC", EXPRESSION("x, y, g, m, s", BATCH_GRADIENT("(0, 1, 2)", OF_NHWC)), .reduced = "0,1,2",
     OPERANDS(8, F32("64*,56,56,256"), F32("64*,56,56,256"), F32("256"), F32("256"), F32("256"), F32("1,1,1,256"), F32("1,1,1,256"), F32("64*,56,56,256")),
     .n_more = 2, .floor = "a4b4>4", .along = bench_batch_gradient},
    {"N6", "group norm, 32 groups of (64,256,56,56)", EXPRESSION("x, g, b", NORMED_OVER("(2, 3, 4)", "x") " * g + b"), .reduced = "2,3,4",
     OPERANDS(4, F32("64*,32,8,56,56"), F32("32,8,1,1"), F32("32,8,1,1"), F32("64*,32,8,56,56")), .floor = "a4>4", .along = bench_layernorm},
    {"N6b", "instance norm (64,256,56,56)", EXPRESSION("x, g, b", NORMED_OVER("(2, 3)", "x") " * g + b"), .reduced = "2,3",
     OPERANDS(4, F32("64*,256,56,56"), CHANNELS, CHANNELS, F32("64*,256,56,56")), .floor = "a4>4", .along = bench_layernorm},
    {"N7", "layernorm over channels (64,256,56,56)", EXPRESSION("x, g, b", NORMED_OVER("1", "x") " * g + b"), .reduced = "1",
     OPERANDS(4, F32("64*,256,56,56"), CHANNELS, CHANNELS, F32("64*,256,56,56")), .floor = "a4>4", .along = bench_layernorm},
    {"N8", "grey, u8 (64,1080,1920,3)", EXPRESSION("x, w", "sum(x * w, axis=-1)"),
     OPERANDS(3, U8("64,1080*,1920,3"), F32("3"), F32("64,1080*,1920")), .floor = "a1/4", .along = bench_dot},
    {"N8b", "dot products, f32 (2^24,3)", EXPRESSION("x, w", "sum(x * w, axis=-1)"),
     OPERANDS(3, F32("16777216*,3"), F32("3"), F32("16777216*")), .floor = "a4/4", .along = bench_dot},
    {"N9", "nearest of 16 centres, f32 (10^7,8)", EXPRESSION("x, c", "argmin(sum((x - c) ** 2, axis=-1), axis=-1)"), .reduced = "1,2",
     OPERANDS(3, BELOW(FLOAT32, "10000000*,1,8", 64), BELOW(FLOAT32, "16,8", 64), ARRAY(INT64, "10000000*")),
     .floor = "a4/8", .along = bench_nearest},
    {"N10", "where(m, x, mean(x, 0))", EXPRESSION("m, x", "where(m, x, mean(x, axis=0))"), .reduced = "0",
     OPERANDS(3, BELOW(BOOL, "R,R", 2), F32("R,R"), F32("R,R")), .floor = "a1b4>4", .along = bench_filled},
    {"N11", "best channel and its score, bf16 (16,150,512,512)", EXPRESSION("x", "max(x, axis=1), argmax(x, axis=1)"), .reduced = "1",
     OPERANDS(3, ARRAY(BFLOAT16, "16,150,512*,512"), ARRAY(BFLOAT16, "16,512*,512"), ARRAY(INT64, "16,512*,512")), .n_more = 1,
     .floor = "a2/8", .along = bench_best},
    {"N12", "min-max scaling of columns, u8 (2^20,256)", EXPRESSION("x", RESCALED), .reduced = "0",
     OPERANDS(2, U8("1048576*,256"), F32("1048576*,256")), .floor = "a1>4", .along = bench_rescaled},
    {"H1", "elementwise kernel into a given output", BENCH_GIVEN, KERNEL("T x, T y", "T z", CALL_BODY),
     OPERANDS(3, F32("1024"), F32("1024"), F32("1024")), .floor = "a4b4>4", .reference = sum},
    {"H2", "the same, output allocated", BENCH_ALLOCATED, KERNEL("T x, T y", "T z", CALL_BODY),
     OPERANDS(3, F32("1024"), F32("1024"), F32("1024")), .floor = "a4b4>4", .reference = sum},
    {"H4", "add of two arrays", BENCH_ALLOCATED, KERNEL("T x, T y", "T z", CALL_BODY),
     OPERANDS(3, F32("1024"), F32("1024"), F32("1024")), .floor = "a4b4>4", .reference = sum},
    {"H5", "fused call", BENCH_ALLOCATED, EXPRESSION("x, y", "sqrt(x * x + y * y)"),
     OPERANDS(3, F32("1024"), F32("1024"), F32("1024")), .floor = "a4b4>4", .reference = length},
    {"H6", "sum of all", BENCH_ALLOCATED, REDUCTION(sums, ""),
     OPERANDS(2, F32("1024"), F32("")), .floor = "a4/4"},
    {"H7", "reduction kernel over an axis", BENCH_ALLOCATED, REDUCTION(norms, "1"),
     OPERANDS(2, F32("32,32"), F32("32")), .floor = "a4/4"},
    {"H8", "broadcast add", BENCH_ALLOCATED, KERNEL("T x, T y", "T z", CALL_BODY),
     OPERANDS(3, F32("32,32"), F32("32"), F32("32,32")), .floor = "a4>4", .reference = sum},
    {"H10", "sqrt(sum(a**2, -1))", BENCH_ALLOCATED, EXPRESSION("a", "sqrt(sum(a**2, axis=-1))"), .reduction = &norms, .reduced = "1",
     OPERANDS(2, F32("32,32"), F32("32")), .floor = "a4/4"},
    {"H13", "operations of one result, by name: the worst", BENCH_BY_NAME, .is_extra = true, KERNEL("T x, T y", "T z", CALL_BODY),
     OPERANDS(3, F32("1024"), F32("1024"), F32("1024")), .floor = "a4b4>4", .reference = sum},
    {"H13r", "reductions and scans by name: the worst", BENCH_BY_NAME, .is_extra = true, KERNEL("T x, T y", "T z", CALL_BODY),
     OPERANDS(3, F32("1024"), F32("1024"), F32("1024")), .floor = "a4b4>4", .reference = sum},
    {"H13x", "operations of several results, by name: the worst", BENCH_BY_NAME, .is_extra = true, KERNEL("T x, T y", "T z", CALL_BODY),
     OPERANDS(3, F32("1024"), F32("1024"), F32("1024")), .floor = "a4b4>4", .reference = sum},
    {"C1", "new elementwise kernel, definition to result", BENCH_DEFINITION, KERNEL("T x", "T z", NEW_BODY), .by_hand = NEW_BY_HAND,
     OPERANDS(2, F32("1048576"), F32("1048576"))},
    {"C1b", "new kernel: a column added", BENCH_DEFINITION, KERNEL("T x, T y", "T z", "z = x + y * (T)#"), .by_hand = COLUMN_BY_HAND,
     OPERANDS(3, F32("1024,1024"), F32("1024,1"), F32("1024,1024"))},
    {"C1t", "new kernel: transpose f32", BENCH_DEFINITION, KERNEL("T x", "T y", "y = x * (T)#"), .by_hand = TURNED_BY_HAND("float", "1024", "1024"),
     OPERANDS(2, VIEW(FLOAT32, "1024,1024", "1,0", "", 0), F32("1024,1024"))},
    {"C1u", "new kernel: transpose u8", BENCH_DEFINITION, KERNEL("T x", "T y", "y = x * (T)#"), .by_hand = TURNED_BY_HAND("unsigned char", "1024", "1024"),
     OPERANDS(2, VIEW(UINT8, "1024,1024", "1,0", "", 0), ARRAY(UINT8, "1024,1024"))},
    {"C1o", "new kernel: transpose f32 of odd extents", BENCH_DEFINITION, KERNEL("T x", "T y", "y = x * (T)#"), .by_hand = TURNED_BY_HAND("float", "1023", "1021"),
     OPERANDS(2, VIEW(FLOAT32, "1023,1021", "1,0", "", 0), F32("1021,1023"))},
    {"C1s", "new kernel: x[1:,1:]-x[:-1,:-1]", BENCH_DEFINITION, KERNEL("T x, T y", "T z", "z = (x - y) * (T)#"), .by_hand = SHIFTED_BY_HAND,
     OPERANDS(3, VIEW(FLOAT32, "1025,1025", "", "1:, 1:", 0), VIEW(FLOAT32, "1025,1025", "", ":-1, :-1", 1), F32("1024,1024"))},
    {"C1p", "new kernel: five-point stencil", BENCH_DEFINITION, KERNEL("T c, T n, T s, T w, T e", "T z", "z = c - (n + s + w + e) * (T)#"), .by_hand = STENCIL_BY_HAND,
     OPERANDS(6, VIEW(FLOAT32, "1026,1026", "", "1:-1, 1:-1", 0), VIEW(FLOAT32, "1026,1026", "", ":-2, 1:-1", 1), VIEW(FLOAT32, "1026,1026", "", "2:, 1:-1", 1),
              VIEW(FLOAT32, "1026,1026", "", "1:-1, :-2", 1), VIEW(FLOAT32, "1026,1026", "", "1:-1, 2:", 1), F32("1024,1024"))},
    {"C1i", "new kernel: u8 planar to f16 interleaved", BENCH_DEFINITION, KERNEL("uint8 x", "float16 y", "y = (float)x * (float)#"), .by_hand = INTERLEAVED_BY_HAND,
     OPERANDS(2, VIEW(UINT8, "3,1024,1024", "1,2,0", "", 0), ARRAY(FLOAT16, "1024,1024,3"))},
    {"C2", "new reduction kernel: sum over the last axis", BENCH_DEFINITION, REDUCTION(new_sums, "1"),
     OPERANDS(2, F32("1024,1024"), F32("1024"))},
    {"C2b", "new reduction kernel: sum over the first axis", BENCH_DEFINITION, REDUCTION(new_sums, "0"),
     OPERANDS(2, F32("1024,1024"), F32("1024"))},
    {"C2c", "new reduction kernel: sum of all", BENCH_DEFINITION, REDUCTION(new_sums, ""),
     OPERANDS(2, F32("1048576"), F32(""))},
    {"C2d", "new reduction kernel: argmax over the last axis", BENCH_DEFINITION, PLACE(new_places, "1"),
     OPERANDS(2, F32("1024,1024"), ARRAY(INT64, "1024"))},
    {"C2e", "new reduction kernel: l2 norm over the last axis", BENCH_DEFINITION, REDUCTION(new_norms, "1"),
     OPERANDS(2, F32("1024,1024"), F32("1024"))},
    {"C2f", "new reduction kernel: l2 norm over the middle axis", BENCH_DEFINITION, REDUCTION(new_norms, "1"),
     OPERANDS(2, F32("64,256,64"), F32("64,64"))},
    {"C2g", "new variance over the first axis", BENCH_DEFINITION, EXPRESSION("x", "var(x * #, axis=0)"), .by_hand = VARIANCE_BY_HAND,
     OPERANDS(2, F32("1024,1024"), F32("1024"))},
    {"C2h", "new reduction kernel: argmax over the first axis", BENCH_DEFINITION, PLACE(new_places, "0"),
     OPERANDS(2, F32("1024,1024"), ARRAY(INT64, "1024"))},
    {"C3", "new fused chain of ten operations", BENCH_DEFINITION, EXPRESSION("x", "q = x * #; d = q * q - x; r = sqrt(abs(d) + 1); exp(-r) * d / r"), .by_hand = TEN_BY_HAND,
     OPERANDS(2, F32("1048576"), F32("1048576"))},
    {"C3b", "new softmax over the last axis", BENCH_DEFINITION, EXPRESSION("x", SOFTMAX("x * #")), .by_hand = SOFTMAX_BY_HAND,
     OPERANDS(2, F32("1024,1024"), F32("1024,1024"))},
    {"C3c", "new layernorm over the last axis", BENCH_DEFINITION, EXPRESSION("x", NORMED("x * #")), .by_hand = LAYERNORM_BY_HAND,
     OPERANDS(2, F32("1024,1024"), F32("1024,1024"))},
    {"C4", "fresh process, kernels on disk: first elementwise kernel", BENCH_PROCESS, KERNEL("T x", "T z", "z = x * x + (T)1"),
     OPERANDS(2, F32("1048576"), F32("1048576"))},
    {"C4b", "the same: first reduction kernel", BENCH_PROCESS, REDUCTION(norms, "1"),
     OPERANDS(2, F32("1024,1024"), F32("1024"))},
    {"C5", "parse, lower and plan twenty operations", BENCH_PLANNED, EXPRESSION("x, g, b", TWENTY),
     OPERANDS(4, F32("1024,1024"), F32("1024"), F32("1024"), F32("1024,1024"))},
};
/* clang-format on */

/* ---- shapes ---- */

static int64_t at_least_one(double value)
{
    return value < 1 ? 1 : (int64_t)(value + 0.5);
}

/* Extents that scale: of N and H elements; of squares (R, half and one less of it; T; the interior V and all,
 * W, of a stencil's) and of a stencil's cube (X, Y). They stay multiples of 256 or 16, as the originals
 * are. */
static int64_t letter_extent(char letter, double scale)
{
    static const struct {
        char letter;
        int unit, times, axes, more; /* unit * times elements along each of so many axes, and `more` */
    } letters[] = {{'N', 256, 1 << 20, 1, 0}, {'H', 256, 1 << 19, 1, 0}, {'R', 16, 1024, 2, 0},
                   {'M', 16, 1024, 2, -1},    {'T', 16, 750, 2, 0},      {'V', 16, 1000, 2, 0},
                   {'W', 16, 1000, 2, 2},     {'X', 16, 40, 3, 0},       {'Y', 16, 40, 3, 2}};
    if (letter == 'Q')
        return letter_extent('R', scale) / 2;
    size_t k = 0;
    while (k + 1 < sizeof letters / sizeof *letters && letters[k].letter != letter)
        k++;
    return letters[k].unit * at_least_one(letters[k].times * pow(scale, 1.0 / letters[k].axes)) +
           letters[k].more;
}

int bench_shape_read(int64_t *extents, const char *text, double scale)
{
    int ndim = 0;
    while (*text && ndim < BENCH_MAX_NDIM) {
        char *end = (char *)text + 1;
        if (*text >= 'A')
            extents[ndim++] = letter_extent(*text, scale);
        else
            extents[ndim++] = strtoll(text, &end, 10);
        if (*end == '*') {
            extents[ndim - 1] = at_least_one((double)extents[ndim - 1] * scale);
            end++;
        }
        text = *end == ',' ? end + 1 : end;
    }
    return ndim;
}

int bench_axes_read(int *axes, const char *text)
{
    int count = 0;
    for (char *end; *text && count < BENCH_MAX_NDIM; text = *end == ',' ? end + 1 : end)
        axes[count++] = (int)strtol(text, &end, 10);
    return count;
}

/* ---- sweeps ---- */

static bench_row *add(bench_rows *rows, const bench_row *row)
{
    if (rows->count == rows->capacity) {
        int capacity = rows->capacity ? 2 * rows->capacity : 64;
        bench_row *grown = realloc(rows->row, (size_t)capacity * sizeof *grown);
        if (!grown)
            return NULL;
        rows->row = grown;
        rows->capacity = capacity;
    }
    rows->row[rows->count] = *row;
    return &rows->row[rows->count++];
}

const bench_row *bench_rows_find(const bench_rows *rows, const char *name)
{
    for (int i = 0; i < rows->count; i++)
        if (strcmp(rows->row[i].name, name) == 0)
            return &rows->row[i];
    return NULL;
}

/* A row at 2^bits elements: "E2@2^20", "B1@2^20". */
static bool add_size(bench_rows *rows, const char *name, int bits)
{
    bench_row row = *bench_rows_find(rows, name);
    long long rest = 1LL << (bits - bits / 2), half = 1LL << (bits / 2);
    snprintf(row.name, sizeof row.name, "%s@2^%d", name, bits);
    row.is_extra = true;
    row.is_small = bits <= 24;
    for (int k = 0; k < row.n_operands; k++) {
        char *shape = row.operand[k].shape;
        if (strcmp(shape, "R,R") == 0)
            snprintf(shape, sizeof row.operand[k].shape, "%lld,%lld", half, rest);
        else
            snprintf(shape, sizeof row.operand[k].shape, "%lld", *shape == 'R' ? rest : half * rest);
    }
    return add(rows, &row) != NULL;
}

/* x = x * 0.5 + 0.25, again and again. */
static bool add_chain(bench_rows *rows, int bits, bench_kind kind)
{
    bench_row row = {.kind = kind,
                     .is_extra = true,
                     .in = "T x",
                     .out = "T y",
                     .body = "y = x * (T)0.5 + (T)0.25",
                     .n_operands = 2,
                     .floor = "a4>4",
                     .reference = affine};
    snprintf(row.name, sizeof row.name, "%s@2^%d", kind == BENCH_CHAIN ? "chain" : "graph", bits);
    snprintf(row.title, sizeof row.title, "100 dependent kernels in a %s",
             kind == BENCH_CHAIN ? "stream" : "graph");
    for (int k = 0; k < 2; k++) {
        row.operand[k].dtype = KILN_FLOAT32;
        snprintf(row.operand[k].shape, sizeof row.operand[k].shape, "%lld", 1LL << bits);
    }
    return add(rows, &row) != NULL;
}

/* Shapes like (32, 48, 64, 80, 96) of about 750 MB, and the same with odd extents. */
static const struct {
    kiln_dtype dtype;
    const char *extent[5];
    const char *name;
} permuted[] = {
    {KILN_UINT8, {"32*", "48", "64", "80", "96"}, "P1"},
    {KILN_FLOAT16, {"16*", "48", "64", "80", "96"}, "P2"},
    {KILN_FLOAT32, {"16*", "24", "64", "80", "96"}, "P4"},
    {KILN_FLOAT64, {"16*", "24", "32", "80", "96"}, "P8"},
    {KILN_COMPLEX128, {"16*", "24", "32", "40", "96"}, "P16"},
    {KILN_UINT8, {"33*", "47", "65", "79", "97"}, "Podd1"},
    {KILN_FLOAT16, {"17*", "47", "65", "79", "97"}, "Podd2"},
    {KILN_FLOAT32, {"17*", "23", "65", "79", "97"}, "Podd4"},
};

static bool add_permutation(bench_rows *rows, int shape, const int *order)
{
    static const char *const floors[17] = {
        [1] = "a1>1", [2] = "a2>2", [4] = "a4>4", [8] = "a8>8", [16] = "a16>16"};
    const char *const *e = permuted[shape].extent;
    kiln_dtype dtype = permuted[shape].dtype;
    bench_row row = {.is_extra = true,
                     .in = "T x",
                     .out = "T y",
                     .body = "y = x",
                     .n_operands = 2,
                     .floor = floors[kiln_dtype_size(dtype)],
                     .reference = same};
    bench_operand *x = &row.operand[0], *y = &row.operand[1];
    x->dtype = y->dtype = dtype;
    snprintf(row.name, sizeof row.name, "%s:%d%d%d%d%d", permuted[shape].name, order[0], order[1], order[2],
             order[3], order[4]);
    snprintf(x->shape, sizeof x->shape, "%s,%s,%s,%s,%s", e[0], e[1], e[2], e[3], e[4]);
    snprintf(row.title, sizeof row.title, "%s (%s)", kiln_dtype_name(dtype), x->shape);
    snprintf(x->axes, sizeof x->axes, "%d,%d,%d,%d,%d", order[0], order[1], order[2], order[3], order[4]);
    snprintf(y->shape, sizeof y->shape, "%s,%s,%s,%s,%s", e[order[0]], e[order[1]], e[order[2]], e[order[3]],
             e[order[4]]);
    return add(rows, &row) != NULL;
}

/* All orders of five axes, by counting in base five. */
static bool add_permutations(bench_rows *rows, int shape)
{
    bool ok = true;
    for (int code = 0; code < 3125 && ok; code++) {
        int order[5], seen = 0;
        for (int axis = 4, rest = code; axis >= 0; axis--, rest /= 5) {
            order[axis] = rest % 5;
            seen |= 1 << order[axis];
        }
        if (seen == 31)
            ok = add_permutation(rows, shape, order);
    }
    return ok;
}

/* narrow4:3:acb-bca: a copy of three axes, of which c is narrow, from one order in memory to another; 4-byte
 * elements, c of 3. About 256 MB, the other axes even (whole vectors) or odd. */
static const struct {
    const char *name;
    kiln_dtype dtype;
    bool is_odd;
} narrow[] = {{"narrow1", KILN_UINT8, false},     {"narrow2", KILN_FLOAT16, false},
              {"narrow4", KILN_FLOAT32, false},   {"narrow8", KILN_FLOAT64, false},
              {"narrowodd1", KILN_UINT8, true},   {"narrowodd2", KILN_FLOAT16, true},
              {"narrowodd4", KILN_FLOAT32, true}, {"narrowodd8", KILN_FLOAT64, true}};
enum { NARROWEST = 2, MOST_NARROW = 16, NARROW_BYTES = 1 << 28, NARROW_ROW = 1024 };

static bool add_narrow(bench_rows *rows, int which, int channels, const char *from, const char *to,
                       double scale)
{
    static const char *const floors[] = {[1] = "a1>1", [2] = "a2>2", [4] = "a4>4", [8] = "a8>8"};
    const int item = (int)kiln_dtype_size(narrow[which].dtype), odd = narrow[which].is_odd;
    const double rows_of = (double)NARROW_BYTES * scale / item / channels / NARROW_ROW;
    const long long extent[3] = {at_least_one(rows_of / 16) * 16 + odd, NARROW_ROW - odd, channels};
    bench_row row = {.is_extra = true,
                     .in = "T x",
                     .out = "T y",
                     .body = "y = x",
                     .n_operands = 2,
                     .floor = floors[item],
                     .reference = same};
    bench_operand *x = &row.operand[0], *y = &row.operand[1];
    x->dtype = y->dtype = narrow[which].dtype;
    snprintf(row.name, sizeof row.name, "%s:%d:%s-%s", narrow[which].name, channels, from, to);
    snprintf(x->shape, sizeof x->shape, "%lld,%lld,%lld", extent[from[0] - 'a'], extent[from[1] - 'a'],
             extent[from[2] - 'a']);
    snprintf(y->shape, sizeof y->shape, "%lld,%lld,%lld", extent[to[0] - 'a'], extent[to[1] - 'a'],
             extent[to[2] - 'a']);
    snprintf(x->axes, sizeof x->axes, "%d,%d,%d", (int)(strchr(from, to[0]) - from),
             (int)(strchr(from, to[1]) - from), (int)(strchr(from, to[2]) - from));
    snprintf(row.title, sizeof row.title, "%s (%s)", kiln_dtype_name(x->dtype), x->shape);
    return add(rows, &row) != NULL;
}

/* All orders of the result, for each place that the narrow axis may have in what is read. */
static bool add_narrows(bench_rows *rows, double scale)
{
    static const char *const orders[] = {"abc", "acb", "bac", "bca", "cab", "cba"}, *const sources[] = {
                                                                                        "abc", "acb", "cab"};
    bool ok = true;
    for (size_t w = 0; w < sizeof narrow / sizeof *narrow; w++)
        for (int channels = NARROWEST; channels <= MOST_NARROW; channels++)
            for (int s = 0; s < 3; s++)
                for (int o = 0; o < 6 && ok; o++)
                    if (strcmp(orders[o], sources[s]) != 0)
                        ok = add_narrow(rows, (int)w, channels, sources[s], orders[o], scale);
    return ok;
}

/* A sum of (outer, reduced, inner) over the middle axis, unless it is there already. */
static bool add_split(bench_rows *rows, int64_t outer, int64_t reduced, int64_t inner)
{
    const long long o = outer, r = reduced, i = inner;
    bench_row row = {
        .is_extra = true, .title = "sum over the middle axis", REDUCTION(sums, "1"), .floor = "a4/4"};
    snprintf(row.name, sizeof row.name, "reduce:%lldx%lldx%lld", o, r, i);
    if (reduced < 1 || bench_rows_find(rows, row.name))
        return true;
    row.n_operands = 2;
    row.operand[0].dtype = row.operand[1].dtype = KILN_FLOAT32;
    snprintf(row.operand[0].shape, sizeof row.operand[0].shape, "%lld,%lld,%lld", o, r, i);
    snprintf(row.operand[1].shape, sizeof row.operand[1].shape, "%lld,%lld", o, i);
    return add(rows, &row) != NULL;
}

/* All splits of 2^26 elements, times the scale, in powers of four; and about as many elements with awkward
 * extents: the first axis of two reduced, the last, the middle of three. */
static bool add_splits(bench_rows *rows, double scale)
{
    static const int inners[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 63, 64, 65}, outers[] = {1, 16, 1024, 65536};
    int bits = 32;
    bool ok = true;
    while (bits > 12 && ldexp(1, bits) > ldexp(1, 26) * scale)
        bits -= 2;
    const int64_t size = (int64_t)1 << bits;
    for (int o = 0; o <= bits; o += 2)
        for (int i = 0; i <= bits - o && ok; i += 2)
            ok = add_split(rows, (int64_t)1 << o, size >> o >> i, (int64_t)1 << i);
    for (size_t i = 0; i < sizeof inners / sizeof *inners && ok; i++) {
        ok = add_split(rows, size / inners[i], inners[i], 1);
        for (size_t o = 0; o < sizeof outers / sizeof *outers && ok; o++)
            ok = add_split(rows, outers[o], size / outers[o] / inners[i], inners[i]);
    }
    return ok;
}

/* The expressions that are measured over rows of many lengths. */
static const struct {
    const char *name, *in, *expression;
    int n_vectors; /* as long as a row: scale, shift */
    bench_along along;
} programs[] = {
    {"softmax", "x", SOFTMAX("x"), 0, bench_softmax},
    {"rmsnorm", "x, g", RMSNORM, 1, bench_rmsnorm},
    {"layernorm", "x, g", NORMED("x") " * g", 1, bench_layernorm},
    {"layernorm", "x, g, b", NORMED("x") " * g + b", 2, bench_layernorm},
};
enum { SOFTMAX_PROGRAM, RMSNORM_PROGRAM, SCALED_PROGRAM, SHIFTED_PROGRAM };

static bool add_program(bench_rows *rows, int program, const char *name, kiln_dtype dtype, int64_t length,
                        const char *count)
{
    bench_row row = {.is_extra = true,
                     .in = programs[program].in,
                     .expression = programs[program].expression,
                     .n_operands = 2 + programs[program].n_vectors,
                     .floor = dtype == KILN_FLOAT32 ? "a4>4" : "a2>2",
                     .along = programs[program].along};
    snprintf(row.name, sizeof row.name, "%s", name);
    snprintf(row.title, sizeof row.title, "%s, rows of %lld", programs[program].name, (long long)length);
    for (int k = 0; k < row.n_operands; k++) {
        bool is_vector = k > 0 && k < row.n_operands - 1;
        row.operand[k].dtype = dtype;
        snprintf(row.operand[k].shape, sizeof row.operand[k].shape, "%s%s%lld", is_vector ? "" : count,
                 is_vector ? "" : ",", (long long)length);
    }
    return add(rows, &row) != NULL;
}

/* rows:softmax:1024: lengths of 1 to 2^20 by powers of two and some that are none, 2^26 elements in all,
 * times the scale. */
static bool add_lengths(bench_rows *rows, double scale)
{
    static const int others[] = {1000, 1023, 50257}, which[] = {SOFTMAX_PROGRAM, SHIFTED_PROGRAM};
    const double size = ldexp(1, 26) * scale;
    bool ok = true;
    for (int w = 0; w < 2; w++)
        for (int k = 0; k < 24 && ok; k++) {
            int64_t length = k < 21 ? (int64_t)1 << k : others[k - 21];
            char name[40], count[24];
            snprintf(name, sizeof name, "rows:%s:%lld", programs[which[w]].name, (long long)length);
            snprintf(count, sizeof count, "%lld", (long long)at_least_one(floor(size / (double)length)));
            ok = add_program(rows, which[w], name, KILN_FLOAT32, length, count);
        }
    return ok;
}

/* program:softmax:f4:65536x1024: the shapes for which hand-written kernels have been published. */
static bool add_published(bench_rows *rows)
{
    static const struct {
        int count, length;
    } shapes[] = {{65536, 1024}, {32768, 4096}, {4096, 32768}, {2048, 65536}, {1024, 131072}, {512, 262144}};
    static const int which[] = {SOFTMAX_PROGRAM, RMSNORM_PROGRAM, SCALED_PROGRAM};
    bool ok = true;
    for (int w = 0; w < 3; w++)
        for (int k = 0; k < 12 && ok; k++) {
            bool is_half = k % 2;
            char name[40], count[24];
            snprintf(name, sizeof name, "program:%s:%s:%dx%d", programs[which[w]].name,
                     is_half ? "bf2" : "f4", shapes[k / 2].count, shapes[k / 2].length);
            snprintf(count, sizeof count, "%d*", shapes[k / 2].count);
            ok = add_program(rows, which[w], name, is_half ? KILN_BFLOAT16 : KILN_FLOAT32,
                             shapes[k / 2].length, count);
        }
    return ok;
}

/* paper:1e4: the table of the paper that introduced fusion of array operations to CuPy, from the call to
 * the result. */
static bool add_paper(bench_rows *rows, double scale)
{
    bool ok = true;
    long long n = 10000;
    for (int power = 4; power <= 8 && ok && (double)n <= 4e8 * scale; power++, n *= 10) {
        bench_row row = {.kind = BENCH_RESULT,
                         .is_extra = true,
                         .title = "arange(n).reshape(1000,-1).T * 2",
                         .in = "",
                         .expression = PAPER,
                         .n_operands = 1,
                         .floor = ">8",
                         .reference = paper};
        snprintf(row.name, sizeof row.name, "paper:1e%d", power);
        row.operand[0].dtype = KILN_INT64;
        snprintf(row.operand[0].shape, sizeof row.operand[0].shape, "1000,%lld", n / 1000);
        snprintf(row.operand[0].axes, sizeof row.operand[0].axes, "1,0");
        ok = add(rows, &row) != NULL;
    }
    return ok;
}

bool bench_rows_make(bench_rows *out, bool is_cuda, double scale)
{
    bool ok = true;
    int largest = 30;
    *out = (bench_rows){0};
    for (size_t i = 0; i < sizeof table / sizeof *table && ok; i++)
        ok = add(out, &table[i]) != NULL;
    while (largest > 18 && ldexp(1, largest) > ldexp(4, 28) * scale)
        largest -= 2;
    for (int bits = 10; bits <= largest && ok; bits += 2)
        ok = add_size(out, "E1", bits) && add_size(out, "E2", bits) && add_size(out, "B1", bits);
    for (int bits = 10; bits <= 24 && ok; bits += 2)
        ok = add_chain(out, bits, BENCH_CHAIN) && (!is_cuda || add_chain(out, bits, BENCH_CHAIN_GRAPH));
    for (size_t i = 0; i < sizeof permuted / sizeof *permuted && ok; i++)
        ok = add_permutations(out, (int)i);
    return ok && add_narrows(out, scale) && add_splits(out, scale) && add_lengths(out, scale) &&
           add_published(out) && add_paper(out, scale);
}

void bench_rows_free(bench_rows *rows)
{
    free(rows->row);
    *rows = (bench_rows){0};
}
