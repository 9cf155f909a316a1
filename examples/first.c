/*
 * first.c - the first program: a kernel from strings over an array, and what comes of it.
 */
#include <kiln/kiln.h>
#include <stdio.h>

int main(void)
{
    kiln_array *x = NULL, *z = NULL;
    kiln_array_linspace(&x, 0, 10, 11, KILN_FLOAT32, KILN_DEVICE_DEFAULT);
    const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_float(5)};
    if (kiln_map(&z, 1, "T x, T y", "T z", "z = (x - y) * (x - y)", in, 2) || kiln_array_print(z))
        return fprintf(stderr, "%s\n", kiln_error_message()), 1;
    kiln_array_free(z);
    kiln_array_free(x);
    return 0;
}
