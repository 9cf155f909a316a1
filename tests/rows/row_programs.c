#include "row_programs.h"

#include <math.h>
#include <string.h>

static double sum_of(const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t j = 0; j < n; ++j)
        sum += x[j];
    return sum;
}

static double greatest_of(const double *x, int64_t n)
{
    double greatest = x[0];
    for (int64_t j = 1; j < n; ++j)
        greatest = x[j] > greatest ? x[j] : greatest;
    return greatest;
}

static double squares_of(const double *x, int64_t n, double mean)
{
    double sum = 0;
    for (int64_t j = 0; j < n; ++j)
        sum += (x[j] - mean) * (x[j] - mean);
    return sum;
}

static double exponentials_of(const double *x, int64_t n, double greatest)
{
    double sum = 0;
    for (int64_t j = 0; j < n; ++j)
        sum += exp(x[j] - greatest);
    return sum;
}

static void softmax(const double *const *in, int64_t n, double *const *out)
{
    double greatest = greatest_of(in[0], n), sum = exponentials_of(in[0], n, greatest);
    for (int64_t j = 0; j < n; ++j)
        out[0][j] = exp(in[0][j] - greatest) / sum;
}

static void layernorm(const double *const *in, int64_t n, double *const *out)
{
    double mean = sum_of(in[0], n) / (double)n, width = sqrt(squares_of(in[0], n, mean) / (double)n + 1e-5);
    for (int64_t j = 0; j < n; ++j)
        out[0][j] = (in[0][j] - mean) / width * in[1][j] + in[2][j];
}

static void rmsnorm(const double *const *in, int64_t n, double *const *out)
{
    double width = sqrt(squares_of(in[0], n, 0) / (double)n + 1e-5);
    for (int64_t j = 0; j < n; ++j)
        out[0][j] = in[0][j] / width * in[1][j];
}

static void logsumexp(const double *const *in, int64_t n, double *const *out)
{
    double greatest = greatest_of(in[0], n);
    out[0][0] = greatest + log(exponentials_of(in[0], n, greatest));
}

static void variance(const double *const *in, int64_t n, double *const *out)
{
    out[0][0] = squares_of(in[0], n, sum_of(in[0], n) / (double)n) / (double)n;
}

static void center(const double *const *in, int64_t n, double *const *out)
{
    out[0][0] = sum_of(in[0], n) / (double)n;
    for (int64_t j = 0; j < n; ++j)
        out[1][j] = in[0][j] - out[0][0];
}

static void share(const double *const *in, int64_t n, double *const *out)
{
    double sum = sum_of(in[0], n);
    for (int64_t j = 0; j < n; ++j)
        out[0][j] = in[0][j] / (sum == 0 ? 1 : sum);
}

static void masked(const double *const *in, int64_t n, double *const *out)
{
    double greatest = -INFINITY, sum = 0;
    for (int64_t j = 0; j < n; ++j)
        greatest = in[1][j] != 0 && in[0][j] > greatest ? in[0][j] : greatest;
    for (int64_t j = 0; j < n; ++j)
        sum += in[1][j] != 0 ? exp(in[0][j] - greatest) : 0;
    for (int64_t j = 0; j < n; ++j)
        out[0][j] = in[1][j] != 0 && sum > 0 ? exp(in[0][j] - greatest) / sum : 0;
    out[1][0] = sum > 0;
}

/* Where each element stands from the row's first greatest one, and how large that is. */
static void from_best(const double *const *in, int64_t n, double *const *out)
{
    double greatest = greatest_of(in[0], n);
    int64_t at = 0;
    while (in[0][at] != greatest)
        ++at;
    for (int64_t j = 0; j < n; ++j)
        out[0][j] = (double)(j - at);
    out[1][0] = greatest;
}

static void standard(const double *const *in, int64_t n, double *const *out)
{
    double mean = sum_of(in[0], n) / (double)n, width = sqrt(squares_of(in[0], n, mean) / (double)n + 1e-5);
    for (int64_t j = 0; j < n; ++j)
        out[0][j] = (in[0][j] - mean) / width;
    out[1][0] = mean;
    out[2][0] = width * width - 1e-5;
}

static void entropy(const double *const *in, int64_t n, double *const *out)
{
    double greatest = greatest_of(in[0], n), weight = sum_of(in[1], n);
    double all = greatest + log(exponentials_of(in[0], n, greatest));
    out[0][0] = 0;
    for (int64_t j = 0; j < n; ++j)
        out[0][0] += in[1][j] * (all - in[0][j]);
    out[1][0] = weight;
}

static void added_norm(const double *const *in, int64_t n, double *const *out)
{
    for (int64_t j = 0; j < n; ++j)
        out[0][j] = in[0][j] + in[1][j];
    double width = sqrt(squares_of(out[0], n, 0) / (double)n + 1e-5);
    for (int64_t j = 0; j < n; ++j)
        out[1][j] = out[0][j] / width * in[2][j];
}

/* Only some elements are assigned: the others keep what they were, which is nothing where memory is new.
 * So all are, in two steps; and a number of each row's own comes in. */
static void scaled(const double *const *in, int64_t n, double *const *out)
{
    double sum = sum_of(in[0], n);
    for (int64_t j = 0; j < n; ++j)
        out[0][j] = in[0][j] * in[1][j] > sum / (double)n ? in[1][j] : in[2][j];
}

#define GREATER "a >= b || a != a ? a : b"
#define MAP_ALL(l, r, g, b)                                                                                  \
    {                                                                                                        \
        .kind = KN_MAP, .label = l, .reads = r, .gives = g, .body = b                                        \
    }
#define MAP_KEPT(l, r, g, b)                                                                                 \
    {                                                                                                        \
        .kind = KN_MAP, .over = KN_OVER_RESULTS, .label = l, .reads = r, .gives = g, .body = b               \
    }
#define YIELD(l, r, g, b)                                                                                    \
    {                                                                                                        \
        .kind = KN_MAP_EXPRESSION, .label = l, .reads = r, .gives = g, .body = b                             \
    }
#define YIELD_KEPT(l, r, g, b)                                                                               \
    {                                                                                                        \
        .kind = KN_MAP_EXPRESSION, .over = KN_OVER_RESULTS, .label = l, .reads = r, .gives = g, .body = b    \
    }
#define REDUCE(l, r, g, b, i)                                                                                \
    {                                                                                                        \
        .kind = KN_REDUCE, .label = l, .reads = r, .gives = g, .body = b, .identity = i                      \
    }

const row_program row_programs[] = {
    {.name = "softmax",
     .in = "T x",
     .out = "T y",
     .values = "_wide T _v0, _wide T _r0, _wide T _v1, _wide T _r1",
     .stage = {YIELD("m0", "x", "_v0", "x"), REDUCE("r0", "_v0", "_r0", GREATER, NULL),
               YIELD("m1", "x, _r0", "_v1", "exp(x - r0)"), REDUCE("r1", "_v1", "_r1", "a + b", "0"),
               MAP_ALL("m2", "_v1, _r1", "y", "y = v1 / r1")},
     .inputs = "x",
     .outputs = "a",
     .least = 1e-7,
     .is_float = true,
     .reference = softmax},
    {.name = "layernorm",
     .in = "T x, T g, T b",
     .out = "T y",
     .values = "_wide T _v0, _wide T _r0, _wide T _d, _wide T _q, _wide T _r1, _wide T _s",
     .stage = {YIELD("m0", "x", "_v0", "x"), REDUCE("r0", "_v0", "_r0", "a + b", "0"),
               YIELD("m1", "x, _r0", "_d", "x - r0 * _out_ind.size() / _in_ind.size()"),
               YIELD("m2", "_d", "_q", "d * d"), REDUCE("r1", "_q", "_r1", "a + b", "0"),
               YIELD_KEPT("k0", "_r1", "_s", "rsqrt(r1 * _out_ind.size() / _in_ind.size() + 1e-5f)"),
               MAP_ALL("m3", "_d, _s, g, b", "y", "y = d * s * g + b")},
     .inputs = "xvv",
     .outputs = "a",
     .least = 1,
     .is_float = true,
     .reference = layernorm},
    {.name = "rmsnorm",
     .in = "T x, T g",
     .out = "T y",
     .values = "_wide T _q, _wide T _r0, _wide T _s",
     .stage = {YIELD("m0", "x", "_q", "x * x"), REDUCE("r0", "_q", "_r0", "a + b", "0"),
               YIELD_KEPT("k0", "_r0", "_s", "1 / sqrt(r0 * _out_ind.size() / _in_ind.size() + 1e-5f)"),
               MAP_ALL("m1", "x, _s, g", "y", "y = x * s * g")},
     .inputs = "xv",
     .outputs = "a",
     .least = 1,
     .is_float = true,
     .reference = rmsnorm},
    {.name = "logsumexp",
     .in = "T x",
     .out = "T y",
     .values = "_wide T _v0, _wide T _r0, _wide T _v1, _wide T _r1",
     .stage = {YIELD("m0", "x", "_v0", "x"), REDUCE("r0", "_v0", "_r0", GREATER, NULL),
               YIELD("m1", "x, _r0", "_v1", "exp(x - r0)"), REDUCE("r1", "_v1", "_r1", "a + b", "0"),
               MAP_KEPT("k0", "_r0, _r1", "y", "y = r0 + log(r1)")},
     .inputs = "x",
     .outputs = "k",
     .least = 1,
     .is_float = true,
     .reference = logsumexp},
    {.name = "variance",
     .in = "T x",
     .out = "float64 y",
     .values = "float64 _v0, float64 _r0, float64 _v1, float64 _r1",
     .stage = {YIELD("m0", "x", "_v0", "x"), REDUCE("r0", "_v0", "_r0", "a + b", "0"),
               YIELD("m1", "x, _r0", "_v1",
                     "(x - r0 / (_in_ind.size() / _out_ind.size())) * (x - r0 / (_in_ind.size() / "
                     "_out_ind.size()))"),
               REDUCE("r1", "_v1", "_r1", "a + b", "0"),
               MAP_KEPT("k0", "_r1", "y", "y = r1 / (_in_ind.size() / _out_ind.size())")},
     .inputs = "x",
     .outputs = "k",
     .least = 1,
     .reference = variance},
    {.name = "center",
     .in = "T x",
     .out = "float64 mean, float64 y",
     .values = "float64 _v0, float64 _r0",
     .stage = {YIELD("m0", "x", "_v0", "x"), REDUCE("r0", "_v0", "_r0", "a + b", "0"),
               MAP_KEPT("k0", "_r0", "mean", "mean = r0 / (_in_ind.size() / _out_ind.size())"),
               MAP_ALL("m1", "x, mean", "y", "y = x - mean")},
     .inputs = "x",
     .outputs = "ka",
     .least = 1,
     .reference = center},
    {.name = "share",
     .in = "T x",
     .out = "float64 y",
     .values = "int64 _v0, int64 _r0",
     .stage = {YIELD("m0", "x", "_v0", "x"), REDUCE("r0", "_v0", "_r0", "a + b", "0"),
               MAP_ALL("m1", "x, _r0", "y", "y = (double)x / (r0 == 0 ? 1 : r0)")},
     .inputs = "x",
     .outputs = "a",
     .least = 1,
     .is_integer = true,
     .reference = share},
    {.name = "masked",
     .in = "T x, bool m",
     .out = "T y, bool some",
     .values = "_wide T _v0, _wide T _r0, _wide T _v1, _wide T _r1",
     .stage = {YIELD("m0", "x, m", "_v0", "m ? (double)x : -1e4"), REDUCE("r0", "_v0", "_r0", GREATER, NULL),
               YIELD("m1", "x, m, _r0", "_v1", "m ? exp(x - r0) : 0"),
               REDUCE("r1", "_v1", "_r1", "a + b", "0"),
               MAP_ALL("m2", "_v1, _r1", "y", "y = r1 > 0 ? v1 / r1 : 0"),
               MAP_KEPT("k0", "_r1", "some", "some = r1 > 0")},
     .inputs = "xm",
     .outputs = "ak",
     .least = 1e-7,
     .is_float = true,
     .reference = masked},
    {.name = "from_best",
     .in = "T x, int64 number",
     .out = "int64 y, T z",
     .values = "best _v0, best _r0",
     .preamble = "struct best { float value; long long at; };\n"
                 "__device__ best better(best a, best b) {\n"
                 "    return b.value > a.value || (b.value == a.value && b.at < a.at) ? b : a;\n"
                 "}",
     .stage = {YIELD("m0", "x", "_v0", "best{(float)x, _J}"),
               REDUCE("r0", "_v0", "_r0", "better(a, b)", NULL),
               MAP_ALL("m1", "_r0, number", "y", "y = _J - r0.at + (i - number)"),
               MAP_KEPT("k0", "_r0", "z", "z = r0.value")},
     .inputs = "xn",
     .outputs = "ak",
     .least = 1,
     .reference = from_best},
    {.name = "standard",
     .in = "T x",
     .out = "T y, float32 mean, float32 spread",
     .values = "moments _v0, moments _r0",
     .preamble =
         "struct moments { float count, mean, squares; };\n"
         "__device__ moments both(moments a, moments b) {\n"
         "    const float count = a.count + b.count, apart = b.mean - a.mean, part = b.count / count;\n"
         "    return {count, a.mean + apart * part, a.squares + b.squares + apart * apart * a.count * "
         "part};\n"
         "}",
     .stage = {YIELD("m0", "x", "_v0", "moments{1, (float)x, 0}"),
               REDUCE("r0", "_v0", "_r0", "both(a, b)", NULL),
               MAP_ALL("m1", "x, _r0", "y",
                       "y = ((float)x - r0.mean) / sqrtf(r0.squares / r0.count + 1e-5f)"),
               MAP_KEPT("k0", "_r0", "mean, spread", "mean = r0.mean; spread = r0.squares / r0.count")},
     .inputs = "x",
     .outputs = "akk",
     .least = 1,
     .coarse = 1e-4,
     .is_float = true,
     .reference = standard},
    {.name = "entropy",
     .in = "T x, T p",
     .out = "float64 y, float64 w",
     .values = "float64 _v0, float64 _r0, float64 _v1, float64 _r1, float64 _v2, float64 _r2, float64 _v3, "
               "float64 _r3",
     .stage = {YIELD("m0", "x", "_v0", "x"), REDUCE("r0", "_v0", "_r0", GREATER, NULL),
               YIELD("m1", "p", "_v1", "p"), REDUCE("r1", "_v1", "_r1", "a + b", "0"),
               YIELD("m2", "x, _r0", "_v2", "exp((double)x - r0)"), REDUCE("r2", "_v2", "_r2", "a + b", "0"),
               YIELD("m3", "x, p, _r0, _r2", "_v3", "p * (r0 + log(r2) - x)"),
               REDUCE("r3", "_v3", "_r3", "a + b", "0"),
               MAP_KEPT("k0", "_r3, _r1", "y, w", "y = r3; w = r1")},
     .inputs = "xx",
     .outputs = "kk",
     .least = 1,
     .is_float = true,
     .reference = entropy},
    {.name = "added_norm",
     .in = "T x, T e, T g",
     .out = "T h, T y",
     .values = "_wide T _q, _wide T _r0",
     .stage = {MAP_ALL("m0", "x, e", "h", "h = x + e"), YIELD("m1", "x, e", "_q", "(x + e) * (x + e)"),
               REDUCE("r0", "_q", "_r0", "a + b", "0"),
               MAP_ALL("m2", "h, _r0, g", "y",
                       "y = h / sqrt(r0 * _out_ind.size() / _in_ind.size() + 1e-5f) * g")},
     .inputs = "xxv",
     .outputs = "aa",
     .least = 1,
     .is_float = true,
     .reference = added_norm},
    {.name = "scaled",
     .in = "T x, T s, float64 low",
     .out = "float64 y",
     .values = "float64 _v0, float64 _r0",
     .stage = {YIELD("m0", "x", "_v0", "x"), REDUCE("r0", "_v0", "_r0", "a + b", NULL),
               MAP_ALL(
                   "m1", "x, s, low, _r0", "y",
                   "y = low; if ((double)x * s <= r0 / (_in_ind.size() / _out_ind.size())) continue; y = s")},
     .inputs = "xrs",
     .outputs = "a",
     .least = 1,
     .reference = scaled},
    {.name = NULL}};

const row_program *row_program_find(const char *name)
{
    const row_program *p = row_programs;
    while (p->name && strcmp(p->name, name) != 0)
        ++p;
    return p->name ? p : NULL;
}

kiln_kernel *row_kernel(const row_program *p, int reduced)
{
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    kn_program_text text = {.name = p->name,
                            .in = p->in,
                            .out = p->out,
                            .values = p->values,
                            .stage = p->stage,
                            .reduced = reduced,
                            .options = &options};
    kn_program *program = NULL;
    kiln_kernel *kernel = NULL;
    options.preamble = p->preamble;
    while (text.n_stages < ROW_MAX_STAGES && p->stage[text.n_stages].body)
        ++text.n_stages;
    if (kn_program_create(&program, &text) == KILN_OK)
        kn_kernel_create(&kernel, program);
    return kernel;
}
