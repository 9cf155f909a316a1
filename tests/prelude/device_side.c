#include "device_side.h"

#include <stdio.h>
#include <stdlib.h>

static void need(kiln_status status, const char *what)
{
    if (status == KILN_OK)
        return;
    fprintf(stderr, "%s: %s\n%s\n", what, kiln_error_message(), kiln_error_log());
    exit(1);
}

void begin(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "host";
    kiln_device device;
    if (kiln_device_parse(&device, name) != KILN_OK || kiln_device_set_current(device) != KILN_OK) {
        printf("not tested on %s: %s\n", name, kiln_error_message());
        exit(77);
    }
}

bool is_on_gpu(void)
{
    kiln_device device = KILN_DEVICE_HOST;
    need(kiln_device_current(&device), "current device");
    return KILN_DEVICE_IS_CUDA(device);
}

void run_on_device(const char *in, const char *out, const char *body, void *result, kiln_dtype type, long n,
                   const device_operand *operands, int n_operands)
{
    enum { MAX_OPERANDS = 4 };
    kiln_kernel *kernel = NULL;
    kiln_array *arrays[MAX_OPERANDS] = {NULL}, *output = NULL;
    kiln_arg args[MAX_OPERANDS];
    int64_t shape[] = {n};
    need(kiln_elementwise_create(&kernel, in, out, body, "prelude", NULL), body);
    for (int k = 0; k < n_operands; ++k) {
        need(kiln_array_from_host(&arrays[k], operands[k].data, operands[k].dtype, 1, shape,
                                  KILN_DEVICE_DEFAULT),
             body);
        args[k] = kiln_arg_array(arrays[k]);
    }
    need(kiln_kernel_call(kernel, &output, 1, args, n_operands, NULL), body);
    need(kiln_array_to_host(output, result, (size_t)n * kiln_dtype_size(type)), body);
    for (int k = 0; k < n_operands; ++k)
        kiln_array_free(arrays[k]);
    kiln_array_free(output);
    kiln_kernel_free(kernel);
}
