/* rows_compile - row programs through NVRTC, for several architectures: layouts that each kind takes, in each
 * of its forms, by dtypes. No device is needed. With --explain PROGRAM DTYPE ROWS LENGTH [TARGET] it prints
 * the source of one instead; with --sources it writes all of them, and compiles none. */
#include "drawn.h"
#include "row_programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const targets[] = {"sm_75", "sm_90", "sm_100"};

typedef struct layout {
    const char *kind;
    int64_t rows, length, pitch, step; /* in elements */
    int off;
} layout;

static const layout layouts[] = {
    {"row_lanes", 500, 64, 64, 1, 0},
    {"row_lanes", 500, 256, 256, 1, 0},
    {"row_lanes", 500, 512, 512, 1, 0},
    {"row_lanes", 500, 33, 33, 1, 0},
    {"row_lanes", 500, 201, 201, 1, 1},
    {"row_block", 500, 1024, 1024, 1, 0},
    {"row_block", 500, 1023, 1023, 1, 1},
    {"row_block", 500, 1023, 2046, 2, 0},
    {"row_block", 50, 8192, 8192, 1, 0},
    {"row_block", 50, 8191, 8191, 1, 0},
    {"row_block", 50, 8191, 16382, 2, 0},
    {"row_block", 50, 16384, 16384, 1, 0},
    {"row_block", 50, 16383, 16383, 1, 1},
    {"row_block", 50, 16000, 32000, 2, 0},
    {"row_long", 5, 50000, 50000, 1, 0},
    {"row_long", 5, 50257, 50257, 1, 0},
    {"row_long", 5, 50257, 100514, 2, 0},
    {"row_long", 5, 40000, 40000, 1, 0},
    {"row_multipass", 5, 5000000, 5000000, 1, 0},
    {"row_multipass", 5, 5000001, 5000001, 1, 0},
};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

static int compiled, failed;
static bool only_sources;

static kiln_array *nowhere(const layout *l, char letter, kiln_dtype dtype)
{
    static _Alignas(64) char nothing[64];
    int64_t item = (int64_t)kiln_dtype_size(dtype), shape[] = {l->rows, l->length},
            strides[] = {l->pitch * item, l->step * item};
    kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
    kiln_array *a = NULL;
    if (letter == 'v')
        shape[0] = 1;
    if (letter == 'r')
        shape[1] = 1;
    spec.dtype = dtype;
    spec.ndim = 2;
    spec.shape = shape;
    spec.strides = strides;
    spec.device = KILN_DEVICE_HOST;
    KILN_IGNORE(kiln_array_wrap(&a, nothing + (l->off * item) % 16, &spec, NULL, NULL));
    return a;
}

/* Compiles, or writes to *text. */
static kiln_status prepare(const row_program *p, const layout *l, kiln_dtype dtype, const char *target,
                           char **text, char **line)
{
    kiln_kernel *kernel = row_kernel(p, 1);
    kiln_array *array[ROW_MAX_OPERANDS] = {NULL};
    kiln_arg in[ROW_MAX_OPERANDS];
    kiln_prepare_options options = KILN_PREPARE_OPTIONS_INIT;
    int n_in = (int)strlen(p->inputs), n_out = (int)strlen(p->outputs);
    options.target = target;
    for (int k = 0; k < n_in; ++k) {
        array[k] = p->inputs[k] == 's' ? NULL
                                       : nowhere(l, p->inputs[k],
                                                 p->inputs[k] == 'm'   ? KILN_BOOL
                                                 : p->inputs[k] == 'n' ? KILN_INT64
                                                                       : dtype);
        in[k] = array[k] ? kiln_arg_array(array[k]) : kiln_arg_float(1);
    }
    kiln_status status = !kernel ? KILN_ERROR_INVALID
                         : text  ? kiln_kernel_source(text, kernel, NULL, n_out, in, n_in, NULL, target)
                                 : kiln_kernel_prepare(kernel, NULL, n_out, in, n_in, NULL, &options);
    if (line && kernel)
        KILN_IGNORE(kiln_kernel_explain(line, kernel, NULL, n_out, in, n_in, NULL, target));
    for (int k = 0; k < n_in; ++k)
        kiln_array_free(array[k]);
    kiln_kernel_free(kernel);
    return status;
}

static bool compile(const row_program *p, const layout *l, kiln_dtype dtype, const char *target)
{
    char *line = NULL, *text = NULL, expected[40];
    kiln_status status = prepare(p, l, dtype, target, only_sources ? &text : NULL, &line);
    free(text);
    if (status == KILN_ERROR_NOT_FOUND && !getenv("KILN_REQUIRE_NVRTC")) {
        printf("skipped: %s\n", kiln_error_message());
        free(line);
        return false;
    }
    snprintf(expected, sizeof expected, "schedule=\"%s\"", l->kind);
    bool is_kind = line && (kiln_dtype_size(dtype) != 4 || p->preamble || strstr(line, expected));
    ++compiled;
    if (status != KILN_OK || !is_kind) {
        ++failed;
        fprintf(stderr, "%s of %s, layout %d (%s) for %s: %s\n%s\n", p->name, kiln_dtype_name(dtype),
                (int)(l - layouts), l->kind, target, status == KILN_OK ? line : kiln_error_message(),
                status == KILN_OK ? "" : kiln_error_log());
    }
    free(line);
    return true;
}

static int explain(char **argv, int count)
{
    const row_program *p = row_program_find(argv[0]);
    kiln_dtype dtype;
    layout l = {"", atoll(argv[2]), atoll(argv[3]), atoll(argv[3]), 1, 0};
    char *text = NULL, *line = NULL;
    if (!p || kiln_dtype_from_name(&dtype, argv[1]) != KILN_OK ||
        prepare(p, &l, dtype, count > 4 ? argv[4] : "sm_90", &text, &line) != KILN_OK) {
        fprintf(stderr, "%s\n", p ? kiln_error_message() : "no such program");
        return 1;
    }
    printf("// %s\n%s", line, text);
    free(text);
    free(line);
    return 0;
}

int main(int argc, char **argv)
{
    static const kiln_dtype dtypes[] = {KILN_FLOAT32, KILN_BFLOAT16, KILN_FLOAT64, KILN_FLOAT16};
    if (argc > 5 && !strcmp(argv[1], "--explain"))
        return explain(argv + 2, argc - 2);
    setenv("KILN_KINDS", "-fewest", 0); /* kinds take few rows, too */
    only_sources = argc > 1 && !strcmp(argv[1], "--sources");
    int number = 0;
    for (const row_program *p = row_programs; p->name; ++p, ++number)
        for (int l = 0; l < LAYOUTS; ++l)
            if ((number < 2 || (l + number) % 5 == 0) &&
                is_drawn((size_t)(number * LAYOUTS + l), only_sources  ? 1
                                                         : number == 0 ? 3
                                                                       : 12))
                for (int d = 0; d < 4; ++d)
                    if ((number + l + d) % 4 == 0 &&
                        !compile(p, &layouts[l], dtypes[d], targets[(number + l) % 3]))
                        return 77;
    printf("%d kernels %s, %d failed\n", compiled, only_sources ? "written" : "compiled", failed);
    return failed ? 1 : 0;
}
