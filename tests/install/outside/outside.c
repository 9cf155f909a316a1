/* outside.c - a small program of somebody else's: C99, one kernel and one operation on the host. */
#include <kiln/kiln.h>
#include <kiln/ops.h>
#include <stdio.h>

static kiln_status square(float *values, int64_t count)
{
    kiln_kernel *kernel = NULL;
    kiln_array *x = NULL, *y = NULL, *z = NULL;
    kiln_status status = kiln_array_from_host(&x, values, KILN_FLOAT32, 1, &count, KILN_DEVICE_HOST);
    if (status == KILN_OK)
        status = kiln_elementwise_create(&kernel, "T x", "T z", "z = x * x", "square", NULL);
    if (status == KILN_OK) {
        kiln_arg in = kiln_arg_array(x);
        status = kiln_kernel_call(kernel, &y, 1, &in, 1, NULL);
    }
    if (status == KILN_OK)
        status = kiln_add(&z, kiln_arg_array(y), kiln_arg_int(1));
    if (status == KILN_OK)
        status = kiln_array_to_host(z, values, kiln_array_nbytes(z));
    kiln_array_free(x);
    kiln_array_free(y);
    kiln_array_free(z);
    kiln_kernel_free(kernel);
    return status;
}

int main(void)
{
    float values[3] = {1, 2, 3};
    if (square(values, 3) != KILN_OK) {
        fprintf(stderr, "%s\n", kiln_error_message());
        return 1;
    }
    printf("kiln %s: %g %g %g\n", kiln_version(), (double)values[0], (double)values[1], (double)values[2]);
    return values[0] == 2 && values[1] == 5 && values[2] == 10 ? 0 : 1;
}
