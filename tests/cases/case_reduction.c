/* Reductions: rows, columns, middle axes, one number; by a few lanes, a warp and a block; any strides;
 * structs as reduce types, several outputs, no identity. Numbers are small whole ones, so that sums are
 * exact in any order. */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANK = 4 };

typedef struct shape {
    int ndim;
    int64_t extent[MAX_RANK];
} shape;

/* A hash: -8 to 7, so that ties and signs occur. */
static int number_at(int64_t k)
{
    return (int)(((uint64_t)k * UINT64_C(0x9E3779B97F4A7C15)) >> 60) - 8;
}

static int64_t size_of(const shape *s)
{
    int64_t size = 1;
    for (int a = 0; a < s->ndim; ++a)
        size *= s->extent[a];
    return size;
}

/* Counts in C order. */
static kiln_array *numbers(const shape *s)
{
    kiln_array *a = NULL;
    int64_t size = size_of(s);
    float *value = malloc((size_t)(size + 1) * sizeof *value);
    for (int64_t k = 0; k < size; ++k)
        value[k] = (float)number_at(k);
    succeeded(kiln_array_from_host(&a, value, KILN_FLOAT32, s->ndim, s->extent, stage_device), "numbers");
    free(value);
    return a;
}

/* The expected value of each result, by its C-order number among the output axes. */
typedef struct folded {
    double sum, greatest;
    int64_t at;
} folded;

static folded *reduce_by_hand(const shape *s, const int *order, unsigned axes, int64_t *count)
{
    int64_t results = 1, size = size_of(s);
    for (int a = 0; a < s->ndim; ++a)
        results *= axes >> a & 1 ? 1 : s->extent[order[a]];
    folded *out = calloc((size_t)results + 1, sizeof *out);
    for (int64_t r = 0; r < results; ++r)
        out[r].at = -1;
    for (int64_t k = 0; k < size; ++k) {
        int64_t index[MAX_RANK], rest = k, result = 0, place = 0;
        for (int a = s->ndim; a-- > 0; rest /= s->extent[a])
            index[a] = rest % s->extent[a];
        for (int a = 0; a < s->ndim; ++a) {
            int64_t *to = axes >> a & 1 ? &place : &result;
            *to = *to * s->extent[order[a]] + index[order[a]];
        }
        folded *f = &out[result];
        double x = number_at(k);
        f->sum += x;
        if (f->at < 0 || x > f->greatest || (x == f->greatest && place < f->at)) {
            f->greatest = x;
            f->at = place;
        }
    }
    *count = results;
    return out;
}

typedef struct kernels {
    kiln_kernel *sum, *best;
} kernels;

static kernels make_kernels(void)
{
    kernels k = {NULL, NULL};
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.preamble = "struct best { float value; long long at; };\n"
                       "__device__ best better(best a, best b) {\n"
                       "    return b.value > a.value || (b.value == a.value && b.at < a.at) ? b : a;\n"
                       "}";
    options.reduce_type = "best";
    succeeded(kiln_reduction_create(&k.sum, "T x", "float64 y", "x", "a + b", "y = a", "0", "total", NULL),
              "sum");
    succeeded(kiln_reduction_create(&k.best, "T x", "T value, int64 at", "best{x, _J}", "better(a, b)",
                                    "value = a.value; at = a.at", NULL, "best", &options),
              "best");
    return k;
}

static void free_kernels(kernels *k)
{
    kiln_kernel_free(k->sum);
    kiln_kernel_free(k->best);
}

static void check_results(kiln_array *sum, kiln_array *value, kiln_array *at, const folded *wanted,
                          int64_t count, const char *what)
{
    size_t n = (size_t)count;
    double *sums = malloc((n + 1) * sizeof *sums);
    float *values = malloc((n + 1) * sizeof *values);
    int64_t *places = malloc((n + 1) * sizeof *places);
    succeeded(kiln_array_to_host(sum, sums, n * sizeof *sums), what);
    succeeded(kiln_array_to_host(value, values, n * sizeof *values), what);
    succeeded(kiln_array_to_host(at, places, n * sizeof *places), what);
    for (int64_t r = 0; r < count && !in_trouble(); ++r) {
        trouble_unless(sums[r] == wanted[r].sum, "%s: sum %lld is %g, not %g", what, (long long)r, sums[r],
                       wanted[r].sum);
        trouble_unless((double)values[r] == wanted[r].greatest && places[r] == wanted[r].at,
                       "%s: result %lld is %g at %lld, not %g at %lld", what, (long long)r, (double)values[r],
                       (long long)places[r], wanted[r].greatest, (long long)wanted[r].at);
    }
    free(sums);
    free(values);
    free(places);
}

/* One shape, its axes in some order, some of them reduced. */
static void reduce(const kernels *k, const shape *s, const int *order, unsigned axes)
{
    kiln_array *plain = numbers(s), *x = NULL, *sum = NULL, *best[2] = {NULL, NULL};
    int list[MAX_RANK], n_axes = 0;
    int64_t count;
    char what[120];
    for (int a = 0; a < s->ndim; ++a)
        if (axes >> a & 1)
            list[n_axes++] = a % 2 ? a : a - s->ndim;
    snprintf(what, sizeof what, "(%lld, %lld, %lld, %lld) in order %d%d%d%d, axes %x",
             (long long)s->extent[0], (long long)s->extent[1], (long long)s->extent[2],
             (long long)s->extent[3], order[0], order[1], order[2], order[3], axes);
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    options.axes = list;
    options.n_axes = n_axes;
    folded *wanted = reduce_by_hand(s, order, axes, &count);
    if (!in_trouble() && succeeded(kiln_array_transpose(&x, plain, order), what)) {
        const kiln_arg in = kiln_arg_array(x);
        succeeded(kiln_kernel_call(k->sum, &sum, 1, &in, 1, &options), what);
        succeeded(kiln_kernel_call(k->best, best, 2, &in, 1, &options), what);
        if (!in_trouble())
            check_results(sum, best[0], best[1], wanted, count, what);
    }
    free(wanted);
    kiln_array_free(plain);
    kiln_array_free(x);
    kiln_array_free(sum);
    kiln_array_free(best[0]);
    kiln_array_free(best[1]);
}

static void every_axis(void)
{
    static const shape shapes[] = {
        {4, {3, 5, 7, 4}}, {4, {2, 3, 40, 9}}, {4, {1, 2, 3, 1500}}, {4, {70, 1, 33, 31}}};
    static const int orders[][MAX_RANK] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}};
    kernels k = make_kernels();
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; ++s)
        for (size_t o = 0; o < sizeof orders / sizeof orders[0]; ++o)
            for (unsigned axes = 0; axes < 16 && !in_trouble(); ++axes)
                if (is_run_here((s * 3 + o) * 16 + axes, 6))
                    reduce(&k, &shapes[s], orders[o], axes);
    free_kernels(&k);
}

/* Around the lengths at which another number of threads shares a result. */
static void every_length(void)
{
    static const int64_t lengths[] = {1, 2, 31, 32, 33, 63, 64, 65, 1023, 1024, 1025, 4097, 70001};
    static const int order[MAX_RANK] = {0, 1, 2, 3};
    kernels k = make_kernels();
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0] && !in_trouble(); ++l) {
        const shape row = {4, {1, 1, 37, lengths[l]}}, column = {4, {1, 1, lengths[l], 37}};
        const unsigned axes[] = {8, 4, 15};
        for (size_t a = 0; a < 3; ++a)
            if (is_run_here(600 + l * 3 + a, 3))
                reduce(&k, a == 1 ? &column : &row, order, axes[a]);
    }
    free_kernels(&k);
}

/* Structs of all kinds: the host keeps members by themselves where there is nothing but members. */
static void any_struct(void)
{
    static const struct {
        const char *what, *definition, *map, *place;
    } structs[] = {
        {"members of all sizes",
         "struct best { char tag; float value; bool is; long long at; unsigned short n; };",
         "best{'a', x, true, _J, 1}", "at"},
        {"eight members", "struct best { float value; long long at; double a, b, c; int d, e, f; };",
         "best{x, _J, 1, 2, 3, 4, 5, 6}", "at"},
        {"nine members", "struct best { float value; long long at; double a, b, c; int d, e, f, g; };",
         "best{x, _J, 1, 2, 3, 4, 5, 6, 7}", "at"},
        {"an array", "struct best { float value[2]; long long at; };", "best{{x, x}, _J}", "at"},
        {"an array of one", "struct best { float value[1]; long long at; };", "best{{x}, _J}", "at"},
        {"a struct inside", "struct place { long long at, n; }; struct best { float value; place on; };",
         "best{x, {_J, 1}}", "on.at"},
        {"a base", "struct place { long long at; }; struct best : place { float value; };", "best{{_J}, x}",
         "at"},
        {"a base alone", "struct pair { float value; long long at; }; struct best : pair {};",
         "best{{x, _J}}", "at"},
        {"an empty base", "struct none {}; struct best : none { float value; long long at; };",
         "best{{}, x, _J}", "at"},
        {"fields of bits",
         "struct best { float value; long long at : 40; unsigned is : 1; };\n"
         "__device__ best made(float v, long long j) { best b; b.value = v; b.at = j; b.is = 1; return b; }",
         "made(x, _J)", "at"},
        {"constructors",
         "struct best { float value; long long at; best() = default;\n"
         "__device__ best(float v, long long j) : value(v), at(j) {} };",
         "best(x, _J)", "at"},
    };
    for (size_t d = 0; d < sizeof structs / sizeof *structs && !in_trouble(); ++d) {
        if (!is_run_here(200 + d, 6))
            continue;
        static const shape rows = {2, {5, 700}};
        bool has_array = strstr(structs[d].definition, "value[") != NULL;
        kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
        char preamble[1000], post[100];
        kernels k = {NULL, NULL};
        snprintf(preamble, sizeof preamble,
                 "%s\n__device__ float value_of(const best &a) { return a.value%s; }\n"
                 "__device__ best better(const best &a, const best &b) {\n"
                 "    const float v = value_of(a), w = value_of(b);\n"
                 "    if (w > v || (w == v && b.%s < a.%s)) return b;\n    return a;\n}",
                 structs[d].definition, has_array ? "[0]" : "", structs[d].place, structs[d].place);
        snprintf(post, sizeof post, "value = value_of(a); at = a.%s", structs[d].place);
        options.preamble = preamble;
        options.reduce_type = "best";
        /* The members of a struct are reduced alike at any level of optimisation; the optimiser takes
         * seconds for it. */
        static const char *const quickly[] = {"-O1"};
        if (d > 1 && !KILN_DEVICE_IS_CUDA(stage_device)) {
            options.compile_options = quickly;
            options.n_compile_options = 1;
        }
        succeeded(
            kiln_reduction_create(&k.sum, "T x", "float64 y", "x", "a + b", "y = a", "0", "total", NULL),
            structs[d].what);
        succeeded(kiln_reduction_create(&k.best, "T x", "T value, int64 at", structs[d].map, "better(a, b)",
                                        post, NULL, "best", &options),
                  structs[d].what);
        reduce(&k, &rows, (const int[MAX_RANK]){0, 1}, 2);
        free_kernels(&k);
    }
}

/* The sums of w[r] * x[r, c], w first: if it is broadcast, its address says nothing about that of x, which
 * is unaligned. */
static void check_weighted(kiln_kernel *dot, int64_t rows, int64_t columns, int axis)
{
    const shape all = {2, {rows, columns + 1}}, few = {2, {rows, 1}};
    kiln_array *whole = numbers(&all), *w = numbers(&few), *x = NULL, *y = NULL;
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    int64_t results = axis == 0 ? columns : rows;
    float *got = calloc((size_t)results, sizeof *got);
    char what[80];
    options.axes = &axis;
    options.n_axes = 1;
    snprintf(what, sizeof what, "(%lld, %lld) over axis %d", (long long)rows, (long long)columns, axis);
    if (!in_trouble() && succeeded(kiln_array_index(&x, whole, ":, 1:"), what)) {
        const kiln_arg in[] = {kiln_arg_array(w), kiln_arg_array(x)};
        if (succeeded(kiln_kernel_call(dot, &y, 1, in, 2, &options), what))
            succeeded(kiln_array_to_host(y, got, (size_t)results * sizeof *got), what);
    }
    for (int64_t k = 0; k < results && !in_trouble(); ++k) {
        int64_t sum = 0;
        for (int64_t j = 0; j < (axis == 0 ? rows : columns); ++j) {
            int64_t r = axis == 0 ? j : k, c = axis == 0 ? k : j;
            sum += (int64_t)number_at(r) * number_at(r * (columns + 1) + c + 1);
        }
        trouble_unless(got[k] == (float)sum, "%s: result %lld is %g, not %lld", what, (long long)k,
                       (double)got[k], (long long)sum);
    }
    free(got);
    kiln_array_free(whole);
    kiln_array_free(w);
    kiln_array_free(x);
    kiln_array_free(y);
}

static void weights_that_stand_still(void)
{
    static const int64_t sizes[][2] = {{9, 601},    {2100, 601},  {7, 70001},
                                       {4000, 401}, {70001, 129}, {3000, 7}};
    kiln_kernel *dot = NULL;
    if (!succeeded(
            kiln_reduction_create(&dot, "T w, T x", "T y", "w * x", "a + b", "y = a", "0", "weighted", NULL),
            "weighted"))
        return;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s)
        for (int axis = 0; axis < 2 && !in_trouble(); ++axis)
            if (is_run_here(300 + 2 * s + (size_t)axis, 4))
                check_weighted(dot, sizes[s][0], sizes[s][1], axis);
    kiln_kernel_free(dot);
}

/* An identity may name what is given by value, as CuPy's first_nonzero does. */
static void identity_of_a_parameter(void)
{
    static const struct {
        int64_t shape[2];
        double fill;
        int64_t first;
    } tries[] = {{{3, 0}, 0, 77}, {{3, 5}, 0, 77}, {{3, 5}, 1, 0}, {{2, 30000}, 0, 77}, {{3000, 0}, 1, 77}};
    kiln_kernel *first = NULL;
    if (!succeeded(kiln_reduction_create(&first, "T x, int64 len", "int64 y", "x == T(0) ? len : _j",
                                         "min(a, b)", "y = a", "len", "first_nonzero", NULL),
                   "first_nonzero"))
        return;
    for (size_t t = 0; t < sizeof tries / sizeof tries[0] && !in_trouble(); ++t) {
        const int axis = 1;
        kiln_call_options options = KILN_CALL_OPTIONS_INIT;
        kiln_array *x = NULL, *y = NULL;
        int64_t found[3000] = {0};
        options.axes = &axis;
        options.n_axes = 1;
        succeeded(kiln_array_full(&x, KILN_FLOAT64, 2, tries[t].shape, &tries[t].fill, KILN_DEVICE_DEFAULT),
                  "an array");
        kiln_arg in[] = {kiln_arg_array(x), kiln_arg_int(77)};
        succeeded(kiln_kernel_call(first, &y, 1, in, 2, &options), "first_nonzero");
        succeeded(kiln_array_to_host(y, found, (size_t)tries[t].shape[0] * sizeof *found), "copying back");
        for (int64_t r = 0; r < tries[t].shape[0] && !in_trouble(); ++r)
            trouble_unless(found[r] == tries[t].first, "try %d: row %d: %lld, not %lld", (int)t, (int)r,
                           (long long)found[r], (long long)tries[t].first);
        kiln_array_free(x);
        kiln_array_free(y);
    }
    kiln_kernel_free(first);
}

/* The sum of x through a struct of so many numbers: element j has j + 1 times x. */
static kiln_kernel *make_wide(int numbers_each)
{
    kiln_kernel *kernel = NULL;
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    char preamble[400];
    snprintf(
        preamble, sizeof preamble,
        "enum { N = %d };\n"
        "struct wide { double v[N]; };\n"
        "__device__ wide wide_of(double x) { wide w; for (int j = 0; j < N; ++j) w.v[j] = x * (j + 1); "
        "return w; }\n"
        "__device__ wide both(wide a, wide b) { for (int j = 0; j < N; ++j) a.v[j] += b.v[j]; return a; }",
        numbers_each);
    options.preamble = preamble;
    options.reduce_type = "wide";
    succeeded(kiln_reduction_create(&kernel, "T x", "T y", "wide_of(x)", "both(a, b)",
                                    "y = (a.v[0] + a.v[N - 1]) / (N + 1)", NULL, "wide", &options),
              "wide");
    return kernel;
}

/* Over both axes in turn, of columns from `from` on: by vectors where these are all, by elements where
 * not. */
static void check_wide(kiln_kernel *wide, int64_t rows, int64_t columns, int from)
{
    const shape all = {2, {rows, columns}};
    kiln_array *whole = numbers(&all), *x = NULL;
    for (int axis = 0; axis < 2 && !in_trouble(); ++axis) {
        int64_t results = axis == 0 ? columns - from : rows;
        float *got = calloc((size_t)results, sizeof *got);
        kiln_array *y = NULL;
        kiln_call_options options = KILN_CALL_OPTIONS_INIT;
        options.axes = &axis;
        options.n_axes = 1;
        if (succeeded(kiln_array_index(&x, whole, from ? ":, 1:" : ":, :"), "columns")) {
            const kiln_arg in = kiln_arg_array(x);
            if (succeeded(kiln_kernel_call(wide, &y, 1, &in, 1, &options), "wide"))
                succeeded(kiln_array_to_host(y, got, (size_t)results * sizeof *got), "its results");
        }
        for (int64_t k = 0; k < results && !in_trouble(); ++k) {
            int64_t sum = 0;
            for (int64_t j = axis == 0 ? 0 : from; j < (axis == 0 ? rows : columns); ++j)
                sum += number_at(axis == 0 ? j * columns + k + from : k * columns + j);
            trouble_unless(got[k] == (float)sum, "(%lld, %lld) over axis %d: result %lld is %g, not %lld",
                           (long long)rows, (long long)(columns - from), axis, (long long)k, (double)got[k],
                           (long long)sum);
        }
        free(got);
        kiln_array_free(y);
        kiln_array_free(x);
    }
    kiln_array_free(whole);
}

/* Blocks reduce as many results at a time as fit in their shared memory. */
static void structs_of_any_size(void)
{
    static const int sizes[] = {1, 13, 25, 46};
    /* On the host kernels of tests are not optimised, and few rows make as many blocks. */
    const int64_t many = KILN_DEVICE_IS_CUDA(stage_device) ? 10 : 1;
    const int64_t shapes[][2] = {{1000, 64}, {7, 1024}, {3300 * many, 20}, {300, 200 * many}};
    for (size_t n = 0; n < sizeof sizes / sizeof sizes[0] && !in_trouble(); ++n) {
        kiln_kernel *wide = make_wide(sizes[n]);
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0] && !in_trouble(); ++s)
            for (int from = 0; from < 2 && !in_trouble(); ++from)
                if (is_run_here(400 + (n * 4 + s) * 2 + (size_t)from, 6))
                    check_wide(wide, shapes[s][0], shapes[s][1], from);
        kiln_kernel_free(wide);
    }
}

static void nothing_to_reduce(void)
{
    kernels k = make_kernels();
    const shape none = {2, {3, 0}};
    kiln_array *x = numbers(&none), *sum = NULL, *best[2] = {NULL, NULL}, *empty = NULL;
    const kiln_arg in = kiln_arg_array(x);
    const int last = -1, first = 0;
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    double got[3] = {1, 1, 1};
    options.axes = &last;
    options.n_axes = 1;
    if (succeeded(kiln_kernel_call(k.sum, &sum, 1, &in, 1, &options), "a sum of nothing") &&
        succeeded(kiln_array_to_host(sum, got, sizeof got), "its results"))
        trouble_unless(got[0] == 0 && got[1] == 0 && got[2] == 0, "a sum of nothing is %g, %g, %g", got[0],
                       got[1], got[2]);
    trouble_unless(kiln_kernel_call(k.best, best, 2, &in, 1, &options) == KILN_ERROR_INVALID &&
                       strstr(kiln_error_message(), "axis 1 has no elements"),
                   "the best of nothing: %s", kiln_error_message());
    options.axes = &first;
    if (succeeded(kiln_kernel_call(k.best, best, 2, &in, 1, &options), "no results") && !best[0])
        trouble("no array");
    (void)empty;
    kiln_array_free(x);
    kiln_array_free(sum);
    kiln_array_free(best[0]);
    kiln_array_free(best[1]);
    free_kernels(&k);
}

static void options_that_do_not_fit(void)
{
    static const struct {
        int axes[3], n_axes;
        const char *words;
    } faults[] = {{{2}, 1, "options.axes[0]: axis 2 was given; the arguments' shape has 2"},
                  {{0, -3}, 2, "options.axes[1]: axis -3 was given"},
                  {{1, 0, -1}, 3, "options.axes[2]: axis -1 was given before"},
                  {{0}, -1, "options.n_axes: -1"}};
    kernels k = make_kernels();
    const shape s = {2, {3, 4}};
    kiln_array *x = numbers(&s), *y = NULL;
    kiln_kernel *plain = NULL;
    const kiln_arg in = kiln_arg_array(x);
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    for (size_t f = 0; f < sizeof faults / sizeof faults[0]; ++f) {
        options.axes = faults[f].axes;
        options.n_axes = faults[f].n_axes;
        for (int turn = 0; turn < 2; ++turn)
            trouble_unless(kiln_kernel_call(k.sum, &y, 1, &in, 1, &options) == KILN_ERROR_INVALID &&
                               strstr(kiln_error_message(), faults[f].words),
                           "'%s': %s", faults[f].words, kiln_error_message());
    }
    succeeded(kiln_elementwise_create(&plain, "T x", "T y", "y = x", "plain", NULL), "a plain kernel");
    options.n_axes = 0;
    trouble_unless(kiln_kernel_call(plain, &y, 1, &in, 1, &options) == KILN_ERROR_INVALID &&
                       strstr(kiln_error_message(), "options.axes was given"),
                   "axes of a plain kernel: %s", kiln_error_message());
    kiln_array_free(x);
    kiln_kernel_free(plain);
    free_kernels(&k);
}

static void texts_that_do_not_fit(void)
{
    static const struct {
        const char *map, *reduce, *post, *type, *words;
    } faults[] = {{"x", "a + b", "y == a", NULL, "post:1:1: output 'y' is never assigned"},
                  {"(x", "a + b", "y = a", NULL, "map:1:"},
                  {"x", "a + b", "y = a + i", NULL, "post: 'i' is the index of an element"},
                  {"x", "a + b", "y = a", "Q", "no parameter is of type Q"},
                  {NULL, "a + b", "y = a", NULL, "map is NULL"},
                  {"x", NULL, "y = a", NULL, "reduce is NULL"},
                  {"x", "a + b", NULL, NULL, "post is NULL"}};
    for (size_t f = 0; f < sizeof faults / sizeof faults[0]; ++f) {
        kiln_kernel *kernel = NULL;
        kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
        options.reduce_type = faults[f].type;
        trouble_unless(kiln_reduction_create(&kernel, "T x", "T y", faults[f].map, faults[f].reduce,
                                             faults[f].post, "0", "faulty", &options) != KILN_OK &&
                           strstr(kiln_error_message(), faults[f].words) && !kernel,
                       "'%s': %s", faults[f].words, kiln_error_message());
    }
}

const test_case reduction_cases[] = {{"every_axis", every_axis, 0},
                                     {"any_struct", any_struct, 0},
                                     {"every_length", every_length, 0},
                                     {"weights_that_stand_still", weights_that_stand_still, 0},
                                     {"identity_of_a_parameter", identity_of_a_parameter, 0},
                                     {"structs_of_any_size", structs_of_any_size, 0},
                                     {"nothing_to_reduce", nothing_to_reduce, 0},
                                     {"options_that_do_not_fit", options_that_do_not_fit, 0},
                                     {"texts_that_do_not_fit", texts_that_do_not_fit, 0},
                                     {NULL, NULL, 0}};
