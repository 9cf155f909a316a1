/* expression_orders: reads lines "names|arguments|expression" from standard input and answers each with
 * the strides, in bytes, of the results that a call with KILN_ORDER_KEEP allocates: "16,4 8", or "refused:
 * MESSAGE". Nothing is built. Arguments: "float32:3,4:16,4" is an array with its shape and strides,
 * "float32::" one without axes, "~int:3", "~float:0.5" and "~bool:1" are numbers by value. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kiln/kiln.h>

#include "array/array.h"
#include "kernel/algorithm.h"
#include "types/dtype.h"

enum { ARGUMENTS = 64, N_KERNELS = 4, ROOM = 1 << 26 };

static char memory[ROOM];
static kiln_kernel *kernels[N_KERNELS];

static void check(kiln_status status)
{
    if (status == KILN_OK)
        return;
    fprintf(stderr, "%s\n", kiln_error_message());
    exit(1);
}

/* Numbers separated by commas; moves behind them. */
static int read_numbers(int64_t *out, const char **text)
{
    int count = 0;
    while (**text && **text != ':' && **text != ' ') {
        char *end;
        out[count++] = strtoll(*text, &end, 10);
        *text = end + (*end == ',');
    }
    return count;
}

static kiln_arg read_argument(const char **text)
{
    int64_t shape[KILN_MAX_NDIM], stride[KILN_MAX_NDIM];
    size_t length = strcspn(*text, ":");
    const char *name = *text;
    *text += length + 1;
    if (*name == '~') {
        char *end;
        double value = strtod(*text, &end);
        *text = end;
        return name[1] == 'i'   ? kiln_arg_int((int64_t)value)
               : name[1] == 'b' ? kiln_arg_bool(value != 0)
                                : kiln_arg_float(value);
    }
    kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
    spec.dtype = kn_dtype_find(name, length);
    spec.ndim = read_numbers(shape, text);
    *text += **text == ':';
    read_numbers(stride, text);
    spec.shape = shape;
    spec.strides = stride;
    spec.device = KILN_DEVICE_HOST;
    kiln_array *array = NULL;
    check(kiln_array_wrap(&array, memory + ROOM / 2, &spec, NULL, NULL));
    return kiln_arg_array(array);
}

static void write_strides(const kn_lowered *l, int n_out)
{
    for (int j = 0; j < n_out; ++j) {
        const kn_array_layout *f = &l->layout[j];
        printf("%s", j > 0 ? " " : "");
        for (int a = 0; a < f->ndim; ++a)
            printf("%s%lld", a > 0 ? "," : "", (long long)f->extents[f->ndim + a]);
    }
    printf("\n");
}

static kiln_status lower(kn_lowered *out, const kiln_kernel *kernel, const kiln_arg *in)
{
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    options.order = KILN_ORDER_KEEP;
    kn_lowering_call call = {NULL, in, &options, NULL, NULL, false, false};
    for (int k = 0; k < kernel->program->n_in; ++k)
        if (in[k].kind == KILN_ARG_ARRAY)
            call.device = in[k].value.array->storage->device;
    call.target = call.device ? &call.device->target : NULL;
    return call.device ? kn_lower_call(out, kernel, &call) : KILN_ERROR_INVALID;
}

static void answer(char *line)
{
    kiln_arg in[ARGUMENTS];
    kn_lowered lowered;
    kiln_kernel *kernel = NULL;
    char *names = line, *arguments = strchr(names, '|');
    *arguments++ = 0;
    char *expression = strchr(arguments, '|');
    *expression++ = 0;
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.kernels = kernels;
    options.n_kernels = N_KERNELS;
    memset(&lowered, 0, sizeof lowered);
    int count = 0;
    for (const char *text = arguments; *(text += strspn(text, " ")) && count < ARGUMENTS;)
        in[count++] = read_argument(&text);
    kiln_status status = kiln_expression_create(&kernel, names, expression, &options);
    if (status == KILN_OK)
        status = lower(&lowered, kernel, in);
    if (status == KILN_OK)
        write_strides(&lowered, kernel->program->n_out);
    else
        printf("refused: %.*s\n", (int)strcspn(kiln_error_message(), "\n"), kiln_error_message());
    kn_lowered_free(&lowered);
    kiln_kernel_free(kernel);
    for (int k = 0; k < count; ++k)
        if (in[k].kind == KILN_ARG_ARRAY)
            kiln_array_free(in[k].value.array);
}

int main(void)
{
    static char line[1 << 20];
    check(kiln_elementwise_create(&kernels[0], "T x, T y", "T z", "z = (x - y) * (x - y)", "k_gap", NULL));
    check(kiln_elementwise_create(&kernels[1], "T x", "T low, T high", "low = x - (T)1; high = x + (T)1",
                                  "k_pair", NULL));
    check(kiln_elementwise_create(&kernels[2], "raw T t, T x", "T y, T z",
                                  "y = x * t[n - n]; if (i < 0) continue; z = -y", "k_lone", NULL));
    check(
        kiln_reduction_create(&kernels[3], "T x", "T y", "x * x", "a + b", "y = a", "0", "k_squares", NULL));
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        answer(line);
    }
    for (int k = 0; k < N_KERNELS; ++k)
        kiln_kernel_free(kernels[k]);
    return 0;
}
