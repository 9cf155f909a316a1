/* Checked kernels: what is indexed outside is reported by kernel, operand, index and bound, and touches
 * nothing. */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 2, COLUMNS = 3, SIZE = ROWS * COLUMNS };

typedef struct bench {
    kiln_kernel *kernel;
    kiln_array *x, *y; /* 2 x 3 of float32: 1, 2, ... and zeros */
} bench;

static bool make(bench *b, const char *in, const char *body, unsigned flags)
{
    static const float values[SIZE] = {1, 2, 3, 4, 5, 6};
    const int64_t shape[] = {ROWS, COLUMNS};
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.flags = flags;
    *b = (bench){NULL, NULL, NULL};
    return succeeded(kiln_elementwise_create(&b->kernel, in, "raw float32 y", body, "k", &options),
                     "the kernel") &&
           succeeded(kiln_array_from_host(&b->x, values, KILN_FLOAT32, 2, shape, KILN_DEVICE_DEFAULT), "x") &&
           succeeded(kiln_array_zeros(&b->y, KILN_FLOAT32, 2, shape, KILN_DEVICE_DEFAULT), "y");
}

static void drop(bench *b)
{
    kiln_kernel_free(b->kernel);
    kiln_array_free(b->x);
    kiln_array_free(b->y);
}

/* A call of two elements with the numbers p and q; message: NULL, or what has to be said. */
static void call(bench *b, int64_t p, int64_t q, const char *message)
{
    const kiln_arg in[] = {kiln_arg_array(b->x), kiln_arg_int(p), kiln_arg_int(q)};
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    options.size = 2;
    kiln_status status = kiln_kernel_call(b->kernel, &b->y, 1, in, 3, &options);
    if (!message) {
        succeeded(status, "a call within bounds");
        return;
    }
    trouble_unless(status == KILN_ERROR_INVALID && strcmp(kiln_error_message(), message) == 0,
                   "status %d: %s", (int)status, status == KILN_OK ? "" : kiln_error_message());
}

static void expect(bench *b, float first, float second)
{
    float y[SIZE];
    if (!succeeded(kiln_array_to_host(b->y, y, sizeof y), "y"))
        return;
    bool is_rest_zero = true;
    for (int k = 2; k < SIZE; ++k)
        is_rest_zero = is_rest_zero && y[k] == 0;
    trouble_unless(y[0] == first && y[1] == second && is_rest_zero, "%g %g %g ...", (double)y[0],
                   (double)y[1], (double)y[2]);
}

#define PARAMS "raw float32 x, int64 p, int64 q"

static void by_number(void)
{
    bench b;
    if (make(&b, PARAMS, "y[i] = i == 0 ? x[p] : x[q]", KILN_KERNEL_CHECK)) {
        call(&b, 5, 0, NULL);
        expect(&b, 6, 1);
        call(&b, 6, 1, "k: raw operand 'x' was indexed at 6, where 0 to 5 were expected");
        call(&b, 0, -1, "k: raw operand 'x' was indexed at -1, where 0 to 5 were expected");
        call(&b, 1, 2, NULL); /* it is forgotten */
        expect(&b, 2, 3);
    }
    drop(&b);
}

static void along_axes(void)
{
    bench b;
    if (make(&b, PARAMS, "const int64 at[] = {0, p}; y[at] = x(0, 2); y(0, 1) = x(q, 1)",
             KILN_KERNEL_CHECK)) {
        call(&b, 0, 1, NULL);
        expect(&b, 3, 5);
        call(&b, 3, 1, "k: raw operand 'y' was indexed at 3 along axis 1, where 0 to 2 were expected");
        call(&b, 0, 2, "k: raw operand 'x' was indexed at 2 along axis 0, where 0 to 1 were expected");
        call(&b, -1, 1, "k: raw operand 'y' was indexed at -1 along axis 1, where 0 to 2 were expected");
        call(&b, 0, 0, NULL);
        expect(&b, 3, 2);
    }
    drop(&b);
}

static void by_the_environment(void)
{
    bench b;
    setenv("KILN_CHECK", "1", 1);
    if (make(&b, PARAMS, "y[i] = i == 0 ? x[p] : x[q]", 0)) {
        unsetenv("KILN_CHECK");
        call(&b, 6, 1, "k: raw operand 'x' was indexed at 6, where 0 to 5 were expected");
    }
    drop(&b);
    setenv("KILN_CHECK", "yes", 1);
    refused(kiln_elementwise_create(&b.kernel, "float32 x", "float32 z", "z = x", "k", NULL),
            KILN_ERROR_INVALID, "KILN_CHECK is \"yes\"; 0 or 1 was expected");
    unsetenv("KILN_CHECK");
}

static void of_nothing(void)
{
    bench b;
    if (make(&b, PARAMS, "y[i] = i == 0 ? x[p] : x[q]", KILN_KERNEL_CHECK)) {
        kiln_array *empty = NULL;
        succeeded(kiln_array_slice(&empty, b.x, 0, 0, 0, 1), "a slice");
        kiln_array_free(b.x);
        b.x = empty;
        call(&b, 0, 0, "k: raw operand 'x' was indexed at 0, and has no elements");
    }
    drop(&b);
}

/* An array without axes has one element, however it is indexed. */
static void of_one_element(void)
{
    const float value = 7;
    bench b;
    if (make(&b, PARAMS, "int64 at[] = {p}; y[i] = i == 0 ? x[p] + x[at] : x(q) + x() + x",
             KILN_KERNEL_CHECK)) {
        kiln_array_free(b.x);
        b.x = NULL;
        succeeded(kiln_array_from_host(&b.x, &value, KILN_FLOAT32, 0, NULL, KILN_DEVICE_DEFAULT), "x");
        call(&b, 0, 0, NULL);
        expect(&b, 14, 21);
        call(&b, 1, 0, "k: raw operand 'x' was indexed at 1, where 0 to 0 were expected");
        call(&b, 0, -3, "k: raw operand 'x' was indexed at -3, where 0 to 0 were expected");
        call(&b, 0, 0, NULL);
    }
    drop(&b);
}

const test_case check_cases[] = {{"by_number", by_number, 0},
                                 {"along_axes", along_axes, 0},
                                 {"by_the_environment", by_the_environment, 0},
                                 {"of_nothing", of_nothing, 0},
                                 {"of_one_element", of_one_element, 0},
                                 {NULL, NULL, 0}};
