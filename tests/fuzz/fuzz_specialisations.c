/* fuzz_specialisations - 1,000 random shapes and layouts through one kernel of three operands need few binaries: at most 16 for a dtype tuple. Nothing is compiled.
 *
 * usage: fuzz_specialisations [--verbose] */
#include "random_layouts.h"
#include "stage_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAYOUTS = 1000, AT_MOST = 16 };

/* The distinct lines met. */
typedef struct lines {
    int count;
    char *line[LAYOUTS];
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

static void explain_one(kiln_kernel *kernel, const kiln_dtype *dtype, const char *target, dice *d, lines *l)
{
    scenery around;
    place p;
    kiln_array *array[3] = {NULL};
    char *line = NULL;
    random_scenery(&around, (style)dice_between(d, 0, STYLE_COUNT - 1), d,
                   dice_one_in(d, 4) ? 100000000 : 20000);
    for (int k = 0; k < 3; ++k) {
        random_place(&p, &around, k == 2, d);
        array[k] = array_nowhere(&p, dtype[k]);
    }
    const kiln_arg in[] = {kiln_arg_array(array[0]), kiln_arg_array(array[1])};
    if (!in_trouble() && succeeded(kiln_kernel_explain(&line, kernel, &array[2], 1, in, 2, NULL, target),
                                   "kiln_kernel_explain"))
        take_line(l, line);
    for (int k = 0; k < 3; ++k)
        kiln_array_free(array[k]);
}

static bool few_for(kiln_kernel *kernel, const kiln_dtype *dtype, const char *target, bool verbose)
{
    lines l = {0};
    dice d = {7};
    for (int k = 0; k < LAYOUTS && !in_trouble(); ++k)
        explain_one(kernel, dtype, target, &d, &l);
    printf("%s: %s, %s -> %s: %d specialisations\n", target, kiln_dtype_name(dtype[0]),
           kiln_dtype_name(dtype[1]), kiln_dtype_name(dtype[2]), l.count);
    for (int k = 0; verbose && k < l.count; ++k)
        printf("    %s\n", strstr(l.line[k], " schedule=") ? strstr(l.line[k], " schedule=") : l.line[k]);
    /* The host makes runs of all layouts. Two at least on CUDA: were there one alone, the layouts would not be what they should. */
    bool is_host = !strcmp(target, "host");
    bool few = !in_trouble() && l.count >= (is_host ? 1 : 2) && l.count <= (is_host ? 1 : AT_MOST);
    free_lines(&l);
    return few;
}

int main(int argc, char **argv)
{
    static const char *const targets[] = {"host", "sm_90"};
    kiln_kernel *kernel = NULL;
    bool few = succeeded(kiln_elementwise_create(&kernel, "A x, B y", "C z", "z = x + y", "three", NULL),
                         "kiln_elementwise_create");
    bool verbose = argc > 1 && !strcmp(argv[1], "--verbose");
    for (size_t t = 0; t < 2 && kernel; ++t)
        for (size_t k = 0; k < sizeof tuples / sizeof tuples[0]; ++k)
            few = few_for(kernel, tuples[k], targets[t], verbose) && few;
    kiln_kernel_free(kernel);
    if (in_trouble())
        printf("FAILED: %s\n", trouble_text());
    else if (!few)
        printf("FAILED: 1 specialisation on the host, 2 to %d on CUDA were expected for each\n", AT_MOST);
    return !few;
}
