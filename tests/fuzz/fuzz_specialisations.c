/* fuzz_specialisations - 1,000 random shapes and layouts through one kernel of three operands need few
 * binaries: at most 42 for a dtype tuple in their best form and at most two in the quick one; 2,000 more
 * layouts, which have a narrow axis (of 2 to 16), bring at most six more, and at most 24 for each extent of
 * that axis; 1,000 random shapes, axes and layouts through one reduction at most 60, of two inputs on the
 * host 84. Nothing is compiled.
 *
 * usage: fuzz_specialisations [--verbose] */
#include "random_layouts.h"
#include "stage_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LAYOUTS = 1000,
    NARROW_LAYOUTS = 2000,
    AT_MOST = 44, /* 43 seen: inputs that lie across beside straight ones are staged, or loaded as vectors */
    AT_MOST_WITH_NARROW = 52, /* 49 seen: inputs broadcast along rows, and rows that are parts of vectors */
    AT_MOST_HOST = 88, /* each of two inputs is a range, one element or every second to eighth element */
    AT_MOST_QUICK = 2,
    AT_MOST_NARROW = 24,    /* of one extent */
    AT_MOST_ANY_NARROW = 6, /* of any */
    MOST_CHANNELS = 16,
    AT_MOST_REDUCTIONS =
        60, /* 58 seen: rows with gaps, rows beside weights, gathered and backward vectors have own ones */
    /* 80 seen: runs of 2 to 16 elements, of 2 to 8 results, and few rows of several axes have their own */
    AT_MOST_PAIRS_HOST = 84
};

/* The distinct lines met. */
typedef struct lines {
    int count;
    char *line[NARROW_LAYOUTS];
} lines;

static void take_line(lines *l, char *line)
{
    for (int k = 0; k < l->count; ++k)
        if (!strcmp(l->line[k], line)) {
            free(line);
            return;
        }
    l->line[l->count++] = line;
}

static void free_lines(lines *l)
{
    for (int k = 0; k < l->count; ++k)
        free(l->line[k]);
    l->count = 0;
}

static const kiln_dtype tuples[][3] = {
    {KILN_FLOAT32, KILN_FLOAT32, KILN_FLOAT32}, {KILN_FLOAT16, KILN_FLOAT16, KILN_FLOAT16},
    {KILN_UINT8, KILN_UINT8, KILN_UINT8},       {KILN_UINT8, KILN_FLOAT32, KILN_FLOAT64},
    {KILN_FLOAT64, KILN_INT16, KILN_UINT8},     {KILN_COMPLEX128, KILN_COMPLEX128, KILN_COMPLEX128}};

/* Nothing is read or written, so that the arrays can be large and lie anywhere. */
static kiln_array *array_nowhere(const place *p, kiln_dtype dtype)
{
    int64_t strides[MAX_AXES], low, high, item = (int64_t)kiln_dtype_size(dtype);
    kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
    kiln_array *array = NULL;
    layout_strides(&p->layout, p->ndim, p->shape, item, strides);
    view_range(p->ndim, p->shape, strides, item, &low, &high);
    spec.dtype = dtype;
    spec.ndim = p->ndim;
    spec.shape = p->shape;
    spec.strides = strides;
    spec.device = KILN_DEVICE_HOST;
    succeeded(kiln_array_wrap(&array, (char *)(uintptr_t)((INT64_C(1) << 40) + p->layout.shift * item - low),
                              &spec, NULL, NULL),
              "kiln_array_wrap");
    return array;
}

/* Those of narrow axes, and the others. */
typedef struct parted {
    lines narrow, other;
} parted;

/* Kernels of narrow axes: for one number of channels, or for any. */
static bool is_of_narrow(const char *line)
{
    return strstr(line, " schedule=\"channels\"") || strstr(line, " narrow_axis=\"1\"");
}

static void explain_one(kiln_kernel *kernel, const kiln_dtype *dtype, const char *target, bool narrow,
                        dice *d, parted *l)
{
    scenery around;
    place p;
    kiln_array *array[3] = {NULL};
    char *line = NULL;
    random_scenery(&around, narrow ? STYLE_NARROW : (style)dice_between(d, 0, STYLE_NARROW - 1), d,
                   dice_one_in(d, 4) ? 100000000 : 20000);
    for (int k = 0; k < 3; ++k) {
        random_place(&p, &around, k == 2, d);
        array[k] = array_nowhere(&p, dtype[k]);
    }
    const kiln_arg in[] = {kiln_arg_array(array[0]), kiln_arg_array(array[1])};
    if (!in_trouble() && succeeded(kiln_kernel_explain(&line, kernel, &array[2], 1, in, 2, NULL, target),
                                   "kiln_kernel_explain"))
        take_line(is_of_narrow(line) ? &l->narrow : &l->other, line);
    for (int k = 0; k < 3; ++k)
        kiln_array_free(array[k]);
}

/* True if there are at least and at most so many; says how many there are, with `what` they are of. */
static bool are_few(lines *l, const char *target, const char *what, int least, int most, bool verbose)
{
    printf("%s: %s: %d specialisations\n", target, what, l->count);
    for (int k = 0; verbose && k < l->count; ++k)
        printf("    %s\n", strstr(l->line[k], " schedule=") ? strstr(l->line[k], " schedule=") : l->line[k]);
    bool few = !in_trouble() && l->count >= least && l->count <= most;
    if (!few && !in_trouble())
        printf("FAILED: %d to %d were expected\n", least, most);
    free_lines(l);
    return few;
}

/* True if some extent has at least and none has more than so many. */
static bool are_few_narrow(lines *l, const char *target, const char *what, int least, bool verbose)
{
    int most = 0, count[MOST_CHANNELS + 1] = {0};
    for (int k = 0; k < l->count; ++k) {
        const char *at = strstr(l->line[k], " channels=\"");
        int channels = at ? atoi(at + 11) : 0;
        if (!trouble_unless(!at || (channels >= 2 && channels <= MOST_CHANNELS), "pixels of %d channels",
                            channels))
            break;
        ++count[channels];
        most = at && count[channels] > most ? count[channels] : most;
        if (verbose)
            printf("    %s\n", strstr(l->line[k], " schedule="));
    }
    printf("%s: %s: %d specialisations of narrow axes, at most %d of one extent, %d of any\n", target, what,
           l->count, most, count[0]);
    bool few = !in_trouble() && most >= least && most <= AT_MOST_NARROW && count[0] <= AT_MOST_ANY_NARROW;
    if (!few && !in_trouble())
        printf("FAILED: %d to %d were expected, and at most %d\n", least, AT_MOST_NARROW, AT_MOST_ANY_NARROW);
    free_lines(l);
    return few;
}

static bool few_for(kiln_kernel *kernel, const kiln_dtype *dtype, const char *target, bool verbose)
{
    static parted l; /* large */
    dice d = {7};
    char what[100];
    for (int k = 0; k < LAYOUTS && !in_trouble(); ++k)
        explain_one(kernel, dtype, target, false, &d, &l);
    bool few_at_first = trouble_unless(l.other.count <= AT_MOST,
                                       "%d specialisations for %d layouts; at most %d were expected",
                                       l.other.count, LAYOUTS, AT_MOST);
    for (int k = 0; k < NARROW_LAYOUTS && !in_trouble(); ++k)
        explain_one(kernel, dtype, target, true, &d, &l);
    snprintf(what, sizeof what, "%s, %s -> %s", kiln_dtype_name(dtype[0]), kiln_dtype_name(dtype[1]),
             kiln_dtype_name(dtype[2]));
    /* The host makes contiguous ranges of all layouts, but for inputs of one element along the fastest axis,
     * and those of which it reads every second to eighth element.
     * Two at least: were there one alone, the layouts would not be what they should. */
    bool is_host = !strcmp(target, "host");
    bool few = are_few(&l.other, target, what, 2, is_host ? AT_MOST_HOST : AT_MOST_WITH_NARROW, verbose) &&
               few_at_first;
    few = (is_host || are_few_narrow(&l.narrow, target, what, 8, verbose)) && few;
    KILN_IGNORE(kiln_set_forms(KILN_FORMS_QUICK));
    for (int k = 0; k < LAYOUTS + NARROW_LAYOUTS && !in_trouble(); ++k)
        explain_one(kernel, dtype, target, k >= LAYOUTS, &d, &l);
    KILN_IGNORE(kiln_set_forms(KILN_FORMS_BEST));
    return are_few(&l.other, target, "their quick forms", 1, AT_MOST_QUICK, verbose) && few &&
           l.narrow.count == 0;
}

static bool few_for_each(const char *target, bool verbose)
{
    kiln_kernel *kernel = NULL;
    bool few = succeeded(kiln_elementwise_create(&kernel, "A x, B y", "C z", "z = x + y", "three", NULL),
                         "kiln_elementwise_create");
    for (size_t k = 0; k < sizeof tuples / sizeof tuples[0] && kernel; ++k)
        few = few_for(kernel, tuples[k], target, verbose) && few;
    kiln_kernel_free(kernel);
    return few;
}

/* ---- reductions ---- */

enum { MAX_REDUCED_AXES = 5, MAX_INPUTS = 2 };

typedef struct reduction {
    const char *in, *out, *map, *reduce, *post, *preamble;
    int n_in, n_out;
    kiln_dtype dtype[MAX_INPUTS];
} reduction;

#define SUM(dtype, sum)                                                                                      \
    {                                                                                                        \
        "T x", sum " y", "x", "a + b", "y = a", NULL, 1, 1,                                                  \
        {                                                                                                    \
            dtype                                                                                            \
        }                                                                                                    \
    }
#define BEST                                                                                                 \
    "struct best { float value; long long at; };\n"                                                          \
    "__device__ best better(best a, best b) { return b.value > a.value ? b : a; }"

static const reduction reductions[] = {
    SUM(KILN_FLOAT32, "T"),
    SUM(KILN_FLOAT16, "T"),
    SUM(KILN_FLOAT64, "T"),
    SUM(KILN_UINT8, "int64"),
    SUM(KILN_INT16, "int64"),
    SUM(KILN_COMPLEX128, "T"),
    {"A x, B y", "A z", "x * y", "a + b", "z = a", NULL, 2, 1, {KILN_FLOAT32, KILN_FLOAT32}},
    {"A x, B y", "float64 z", "x * y", "a + b", "z = a", NULL, 2, 1, {KILN_UINT8, KILN_FLOAT64}},
    {"T x",
     "T value, int64 at",
     "best{x, _J}",
     "better(a, b)",
     "value = a.value; at = a.at",
     BEST,
     1,
     2,
     {KILN_FLOAT32}},
};

/* 1 to 2^26 elements, as many of each magnitude, along 1 to 5 axes. */
static int random_extents(int64_t *shape, dice *d)
{
    int ndim = (int)dice_between(d, 1, MAX_REDUCED_AXES);
    double capacity = (double)dice_between(d, 0, 26000) / 1000;
    for (int a = 0; a < ndim; ++a) {
        double part = a == ndim - 1 ? capacity : capacity * (double)dice_between(d, 0, 1000) / 1000;
        shape[a] = (int64_t)exp2(part);
        capacity -= part;
    }
    for (int a = ndim; a-- > 1;) {
        int other = (int)dice_between(d, 0, a);
        int64_t swapped = shape[a];
        shape[a] = shape[other];
        shape[other] = swapped;
    }
    return ndim;
}

/* Permuted, sliced with steps either way, broadcast, off by some elements; or none of it. */
static void random_input(place *p, int ndim, const int64_t *shape, dice *d)
{
    memset(p, 0, sizeof *p);
    p->ndim = ndim;
    memcpy(p->shape, shape, (size_t)ndim * sizeof *shape);
    layout_plain(&p->layout, ndim);
    p->layout.shift = dice_one_in(d, 2) ? dice_between(d, 0, 64) : 0;
    bool is_permuted = dice_one_in(d, 2), is_sliced = dice_one_in(d, 3), is_broadcast = dice_one_in(d, 8);
    for (int a = ndim; is_permuted && a-- > 1;) {
        int other = (int)dice_between(d, 0, a), swapped = p->layout.order[a];
        p->layout.order[a] = p->layout.order[other];
        p->layout.order[other] = swapped;
    }
    for (int a = 0; a < ndim; ++a) {
        p->layout.reversed[a] = is_sliced && dice_one_in(d, 3);
        p->layout.step[a] = is_sliced && dice_one_in(d, 3) ? (int)dice_between(d, 2, 5) : 1;
        p->layout.broadcast[a] = is_broadcast && dice_one_in(d, 2);
    }
}

/* Any of the axes, none and all too, in any order. */
static int random_axes(int *axes, int ndim, dice *d)
{
    int count = 0;
    for (int a = 0; a < ndim; ++a)
        if (dice_one_in(d, 2))
            axes[count++] = a - (dice_one_in(d, 2) ? ndim : 0);
    return count;
}

static void explain_reduction(kiln_kernel *kernel, const reduction *r, const char *target, dice *d, lines *l)
{
    int64_t shape[MAX_REDUCED_AXES];
    int axes[MAX_REDUCED_AXES];
    place p;
    kiln_array *array[MAX_INPUTS] = {NULL};
    kiln_arg in[MAX_INPUTS];
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    char *line = NULL;
    int ndim = random_extents(shape, d);
    for (int k = 0; k < r->n_in; ++k) {
        random_input(&p, ndim, shape, d);
        array[k] = array_nowhere(&p, r->dtype[k]);
        in[k] = kiln_arg_array(array[k]);
    }
    options.axes = axes;
    options.n_axes = random_axes(axes, ndim, d);
    options.flags = dice_one_in(d, 2) ? KILN_CALL_KEEPDIMS : 0;
    if (!in_trouble() &&
        succeeded(kiln_kernel_explain(&line, kernel, NULL, r->n_out, in, r->n_in, &options, target),
                  "kiln_kernel_explain"))
        take_line(l, line);
    for (int k = 0; k < r->n_in; ++k)
        kiln_array_free(array[k]);
}

static bool few_for_reduction(const reduction *r, const char *target, bool verbose)
{
    lines l = {0};
    dice d = {11};
    char what[100];
    kiln_kernel *kernel = NULL;
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.preamble = r->preamble;
    options.reduce_type = r->preamble ? "best" : NULL;
    if (succeeded(kiln_reduction_create(&kernel, r->in, r->out, r->map, r->reduce, r->post,
                                        r->preamble ? NULL : "0", "reduced", &options),
                  "kiln_reduction_create"))
        for (int k = 0; k < LAYOUTS && !in_trouble(); ++k)
            explain_reduction(kernel, r, target, &d, &l);
    kiln_kernel_free(kernel);
    snprintf(what, sizeof what, "%s by %s of %s%s%s", r->map, r->reduce, kiln_dtype_name(r->dtype[0]),
             r->n_in > 1 ? ", " : "", r->n_in > 1 ? kiln_dtype_name(r->dtype[1]) : "");
    bool is_pair = r->n_in > 1 && strcmp(target, "host") == 0;
    return are_few(&l, target, what, 2, is_pair ? AT_MOST_PAIRS_HOST : AT_MOST_REDUCTIONS, verbose);
}

int main(int argc, char **argv)
{
    static const char *const targets[] = {"host", "sm_90"};
    bool few = true, verbose = argc > 1 && !strcmp(argv[1], "--verbose");
    for (size_t t = 0; t < 2; ++t) {
        few = few_for_each(targets[t], verbose) && few;
        for (size_t k = 0; k < sizeof reductions / sizeof reductions[0]; ++k)
            few = few_for_reduction(&reductions[k], targets[t], verbose) && few;
    }
    if (in_trouble())
        printf("FAILED: %s\n", trouble_text());
    return !few;
}
