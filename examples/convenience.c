/*
 * convenience.c - argument lists as C11 writes them: kiln_args makes arrays and weak scalars of what it is
 * given, kiln_outs takes the outputs.
 */
#include <complex.h>
#include <kiln/kiln.h>
#include <stdio.h>
#include <stdlib.h>

static void must(kiln_status status)
{
    if (status == KILN_OK)
        return;
    fprintf(stderr, "%s: %s\n", kiln_status_name(status), kiln_error_message());
    exit(1);
}

static void expect(bool holds, const char *what)
{
    printf("%s: %s\n", what, holds ? "yes" : "NO");
    if (!holds)
        exit(1);
}

static kiln_array *range(int n, kiln_dtype dtype)
{
    kiln_array *x = NULL;
    must(kiln_array_arange(&x, 0, n, 1, dtype, KILN_DEVICE_DEFAULT));
    return x;
}

/* One line a call. A literal does not widen what the arrays ask for, 0.5 no more than 0.5f. */
static void numbers(void)
{
    float back[1000];
    kiln_kernel *axpy = NULL;
    kiln_array *x = range(1000, KILN_FLOAT32), *y = range(1000, KILN_FLOAT32), *z = NULL;
    must(kiln_elementwise_create(&axpy, "T a, T x, T y", "T z", "z = a * x + y", "axpy", NULL));
    must(kiln_call(axpy, kiln_outs(&z), kiln_args(0.5, x, y)));
    expect(kiln_array_dtype(z) == KILN_FLOAT32, "0.5 does not widen float32");
    must(kiln_call(axpy, kiln_outs(&z), kiln_args(2, x, z))); /* z is there: written in place */
    must(kiln_array_to_host(z, back, sizeof back));
    expect(back[10] == 35, "z[10] is 2 * 10 + (0.5 * 10 + 10)");
    kiln_array_free(z);
    kiln_array_free(y);
    kiln_array_free(x);
    kiln_kernel_free(axpy);
}

/* Several outputs, a complex number, and an argument with a dtype of its own. */
static void mixtures(void)
{
    float back[8][2];
    kiln_kernel *turn = NULL;
    kiln_array *x = range(8, KILN_FLOAT32), *z = NULL, *n = NULL;
    must(kiln_elementwise_create(&turn, "float32 x, complex64 by, int32 k", "complex64 z, int32 m",
                                 "z = by * x; m = k + (int)i", "turn", NULL));
    must(kiln_call(turn, kiln_outs(&z, &n), kiln_args(x, 1.0 + 2.0 * I, kiln_arg_int32(7))));
    must(kiln_array_to_host(z, back, sizeof back));
    expect(back[3][0] == 3 && back[3][1] == 6, "z[3] is 3 + 6i");
    kiln_array_free(n);
    kiln_array_free(z);
    kiln_array_free(x);
    kiln_kernel_free(turn);
}

int main(void)
{
    numbers();
    mixtures();
    return 0;
}
