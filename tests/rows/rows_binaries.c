/* rows_binaries - 1,000 random row lengths and layouts of one program need few binaries: at most 52 for a
 * dtype tuple on CUDA, and 16 where all rows are aligned. Nothing is compiled.
 *
 * usage: rows_binaries [--verbose] */
#include "row_programs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 1000, MOST = 52, MOST_ALIGNED = 16, MOST_HOST = 20, LEAST = 4 };

static uint64_t state = 1;

static int64_t between(int64_t low, int64_t high)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return low + (int64_t)((state >> 33) % (uint64_t)(high - low + 1));
}

/* Nothing is read or written, so that arrays may be large and lie anywhere. */
static kiln_array *nowhere(kiln_dtype dtype, int64_t rows, int64_t length, int64_t pitch, int64_t step,
                           int64_t off)
{
    kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
    kiln_array *a = NULL;
    int64_t item = (int64_t)kiln_dtype_size(dtype), shape[] = {rows, length},
            strides[] = {pitch * item, step * item};
    spec.dtype = dtype;
    spec.ndim = 2;
    spec.shape = shape;
    spec.strides = strides;
    spec.device = KILN_DEVICE_HOST;
    if (kiln_array_wrap(&a, (char *)(uintptr_t)((INT64_C(1) << 40) + off * item), &spec, NULL, NULL) !=
        KILN_OK)
        fprintf(stderr, "%s\n", kiln_error_message());
    return a;
}

/* The line of a random call, NULL after trouble. */
static char *random_line(kiln_kernel *kernel, const row_program *p, kiln_dtype dtype, bool is_aligned,
                         const char *target)
{
    int64_t length = (int64_t)exp2((double)between(0, 21000) / 1000), rows = between(1, 5000);
    int64_t extra = between(0, 4), pitch = length + (extra == 1   ? 1
                                                     : extra == 2 ? 16 - length % 16
                                                     : extra == 3 ? length
                                                                  : 0);
    bool is_transposed = !is_aligned && between(0, 9) == 0, is_stepped = !is_aligned && between(0, 9) == 0;
    int64_t off = is_aligned || between(0, 1) ? 0 : between(1, 20);
    if (is_aligned)
        pitch = length = (length + 15) / 16 * 16;
    kiln_array *in[ROW_MAX_OPERANDS] = {NULL};
    kiln_arg arg[ROW_MAX_OPERANDS];
    char *line = NULL;
    int n_in = (int)strlen(p->inputs), n_out = (int)strlen(p->outputs);
    for (int k = 0; k < n_in; ++k) {
        bool is_whole = p->inputs[k] != 'v' && p->inputs[k] != 'r';
        int64_t own_rows = p->inputs[k] == 'v' ? 1 : rows, own_length = p->inputs[k] == 'r' ? 1 : length;
        kiln_dtype own = p->inputs[k] == 'm' ? KILN_BOOL : dtype;
        in[k] = is_whole && is_transposed ? nowhere(own, rows, length, 1, rows, off)
                : is_whole && is_stepped  ? nowhere(own, rows, length, 2 * length, 2, off)
                                          : nowhere(own, own_rows, own_length, is_whole ? pitch : own_length,
                                                    1, is_whole ? off : off / 2);
        arg[k] = kiln_arg_array(in[k]);
    }
    if (kiln_kernel_explain(&line, kernel, NULL, n_out, arg, n_in, NULL, target) != KILN_OK)
        fprintf(stderr, "%s: %s\n", p->name, kiln_error_message());
    for (int k = 0; k < n_in; ++k)
        kiln_array_free(in[k]);
    return line;
}

static bool are_few(const char *name, kiln_dtype dtype, bool is_aligned, const char *target, bool is_verbose)
{
    const row_program *p = row_program_find(name);
    kiln_kernel *kernel = row_kernel(p, 1);
    char *line[CALLS];
    int count = 0, most = !strcmp(target, "host") ? MOST_HOST : is_aligned ? MOST_ALIGNED : MOST;
    bool good = kernel != NULL;
    for (int k = 0; k < CALLS && good; ++k) {
        char *own = random_line(kernel, p, dtype, is_aligned, target);
        bool is_known = false;
        for (int j = 0; j < count && own && !is_known; ++j)
            is_known = !strcmp(line[j], own);
        good = own != NULL;
        if (own && !is_known)
            line[count++] = own;
        else
            free(own);
    }
    printf("%s: %s of %s%s: %d binaries\n", target, name, kiln_dtype_name(dtype),
           is_aligned ? ", aligned" : "", count);
    good = good && count <= most && (count >= LEAST || !strcmp(target, "host"));
    if (!good)
        printf("FAILED: at most %d were expected\n", most);
    for (int k = 0; k < count; ++k) {
        if (is_verbose)
            printf("    %s\n", strstr(line[k], " schedule="));
        free(line[k]);
    }
    kiln_kernel_free(kernel);
    return good;
}

int main(int argc, char **argv)
{
    static const char *const targets[] = {"sm_90", "sm_80", "host"}, *const names[] = {"softmax", "layernorm",
                                                                                       "masked", "entropy"};
    static const kiln_dtype dtypes[] = {KILN_FLOAT32, KILN_BFLOAT16, KILN_FLOAT64};
    bool few = true, is_verbose = argc > 1 && !strcmp(argv[1], "--verbose");
    for (int t = 0; t < 3; ++t)
        for (int n = 0; n < 4; ++n)
            for (int d = 0; d < 3; ++d)
                for (int a = 0; a < 2; ++a)
                    few = are_few(names[n], dtypes[d], a == 1, targets[t], is_verbose) && few;
    return !few;
}
