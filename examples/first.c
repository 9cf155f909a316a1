/*
 * first.c - the first program: a kernel from strings over an array, and what comes of it.
 */
#include <kiln/kiln.h>
#include <stdio.h>

int main(void)
{
    kiln_array *x = NULL, *z = NULL;
    if (kiln_array_linspace(&x, 0, 10, 11, KILN_FLOAT32, KILN_DEVICE_DEFAULT) ||
        kiln_map_with(kiln_outs(&z), "T x, T y", "T z", "z = (x - y) * (x - y)", kiln_args(x, 5), NULL) ||
        kiln_array_print(z))
        return fprintf(stderr, "%s\n", kiln_error_message()), 1;
    kiln_array_free(z);
    kiln_array_free(x);
    return 0;
}
