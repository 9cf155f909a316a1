#include "values.h"

void values_in(values *v, kiln_dtype dtype, const void *data)
{
    v->in_dtype[v->n_in] = dtype;
    v->in[v->n_in++] = data;
}

void values_out(values *v, kiln_dtype dtype, void *data)
{
    v->out_dtype[v->n_out] = dtype;
    v->out[v->n_out++] = data;
}

bool values_run(values *v, const char *in, const char *out, const char *body, int64_t n)
{
    kiln_kernel *kernel = NULL;
    kiln_array *array[VALUES_OPERANDS] = {NULL}, *result[VALUES_OPERANDS] = {NULL};
    kiln_arg args[VALUES_OPERANDS];
    bool good = succeeded(kiln_elementwise_create(&kernel, in, out, body, "values", NULL), body);
    for (int k = 0; k < v->n_in && good; ++k) {
        good = succeeded(kiln_array_from_host(&array[k], v->in[k], v->in_dtype[k], 1, &n, stage_device),
                         "input");
        args[k] = kiln_arg_array(array[k]);
    }
    for (int j = 0; j < v->n_out && good; ++j)
        good = succeeded(kiln_array_empty(&result[j], v->out_dtype[j], 1, &n, stage_device), "output");
    good = good && succeeded(kiln_kernel_call(kernel, result, v->n_out, args, v->n_in, NULL), body);
    for (int j = 0; j < v->n_out && good; ++j)
        good = succeeded(kiln_array_to_host(result[j], v->out[j], kiln_array_nbytes(result[j])), "result");
    for (int k = 0; k < VALUES_OPERANDS; ++k) {
        kiln_array_free(array[k]);
        kiln_array_free(result[k]);
    }
    kiln_kernel_free(kernel);
    return good;
}
