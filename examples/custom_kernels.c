/*
 * custom_kernels.c - what kernels from strings can do: several outputs, broadcasting, indices, raw operands,
 * control flow, preambles, options, errors.
 */
#include <kiln/kiln.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(kiln_status status)
{
    if (status == KILN_OK)
        return;
    fprintf(stderr, "%s: %s\n%s", kiln_status_name(status), kiln_error_message(), kiln_error_log());
    exit(1);
}

static void expect_floats(kiln_array *array, const char *what, int count, const float *expected)
{
    float got[16];
    must(kiln_array_to_host(array, got, (size_t)count * sizeof *got));
    printf("%-34s", what);
    for (int k = 0; k < count; k++)
        printf(" %g", (double)got[k]);
    printf("\n");
    if (memcmp(got, expected, (size_t)count * sizeof *got) != 0) {
        fprintf(stderr, "%s is wrong\n", what);
        exit(1);
    }
}

static kiln_array *make_range(double stop)
{
    kiln_array *x = NULL;
    must(kiln_array_arange(&x, 0, stop, 1, KILN_FLOAT32, KILN_DEVICE_DEFAULT));
    return x;
}

/* Defines, calls and frees a kernel of one output. */
static kiln_array *compute(const char *in_params, const char *body, const kiln_arg *in, int n_in,
                           const kiln_kernel_options *options)
{
    kiln_kernel *k = NULL;
    kiln_array *z = NULL;
    must(kiln_elementwise_create(&k, in_params, "T z", body, "example", options));
    must(kiln_kernel_call(k, &z, 1, in, n_in, NULL));
    kiln_kernel_free(k);
    return z;
}

static void show_scalars(kiln_array *x)
{
    const float squares[4] = {25, 16, 9, 4};
    kiln_arg in[] = {kiln_arg_array(x), kiln_arg_int(5)};
    kiln_array *z = compute("T x, T y", "z = (x - y) * (x - y)", in, 2, NULL);
    expect_floats(z, "(x - 5) squared", 4, squares);
    kiln_array_free(z);
}

static void show_broadcasting(kiln_array *x)
{
    const float table[12] = {0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5};
    kiln_array *y = make_range(3), *column = NULL;
    must(kiln_array_expand_dims(&column, y, 1));
    kiln_arg in[] = {kiln_arg_array(x), kiln_arg_array(column)};
    kiln_array *z = compute("T x, T y", "z = x + y", in, 2, NULL);
    expect_floats(z, "a row plus a column", 12, table);
    kiln_array_free(z);
    kiln_array_free(column);
    kiln_array_free(y);
}

/* The index of the element, and the number of elements. */
static void show_index(kiln_array *x)
{
    const float reversed[4] = {3, 2, 1, 0};
    kiln_arg in[] = {kiln_arg_array(x)};
    kiln_array *z = compute("T x", "z = n - 1 - i", in, 1, NULL);
    expect_floats(z, "n - 1 - i", 4, reversed);
    kiln_array_free(z);
}

/* A raw operand is not taken element by element: the body indexes it. */
static void show_raw(kiln_array *x)
{
    const float neighbours[4] = {0, 1, 3, 5};
    kiln_arg in[] = {kiln_arg_array(x), kiln_arg_array(x)};
    kiln_array *z = compute("T x, raw T y", "z = x + (i > 0 ? y[i - 1] : T(0))", in, 2, NULL);
    expect_floats(z, "each with the one before", 4, neighbours);
    kiln_array_free(z);
}

/* `continue` and `return` end the element; an output that was not assigned keeps its old value. */
static void show_control_flow(kiln_array *x)
{
    const float kept[4] = {1, 1, -2, -3};
    const int64_t shape[1] = {4};
    kiln_kernel *k = NULL;
    kiln_array *z = NULL;
    kiln_arg in[] = {kiln_arg_array(x)};
    must(kiln_array_ones(&z, KILN_FLOAT32, 1, shape, KILN_DEVICE_DEFAULT));
    must(kiln_elementwise_create(&k, "T x", "T z", "if (x < 2) continue;\nz = -x;", "negate_some", NULL));
    must(kiln_kernel_call(k, &z, 1, in, 1, NULL));
    expect_floats(z, "negated from 2 on, in place", 4, kept);
    kiln_array_free(z);
    kiln_kernel_free(k);
}

static void show_several_outputs(kiln_array *x)
{
    const float halves[4] = {0, 0.5F, 1, 1.5F}, whole[4] = {0, 0, 1, 1};
    kiln_kernel *k = NULL;
    kiln_array *out[2] = {NULL, NULL};
    kiln_arg in[] = {kiln_arg_array(x)};
    must(kiln_elementwise_create(&k, "T x", "T halved, T whole", "halved = x / 2; whole = floor(halved)",
                                 "halve", NULL));
    must(kiln_kernel_call(k, out, 2, in, 1, NULL));
    expect_floats(out[0], "halves", 4, halves);
    expect_floats(out[1], "and their whole part", 4, whole);
    kiln_array_free(out[0]);
    kiln_array_free(out[1]);
    kiln_kernel_free(k);
}

static void show_preamble(kiln_array *x)
{
    const float clamped[4] = {1, 1, 2, 2};
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.preamble = "#define CLAMP(v, low, high) ((v) < (low) ? (low) : (v) > (high) ? (high) : (v))";
    kiln_arg in[] = {kiln_arg_array(x), kiln_arg_float(1), kiln_arg_float(2)};
    kiln_array *z = compute("T x, T low, T high", "z = CLAMP(x, low, high)", in, 3, &options);
    expect_floats(z, "clamped by a macro", 4, clamped);
    kiln_array_free(z);
}

/* Errors speak in the user's own terms. */
static void show_errors(kiln_array *x)
{
    kiln_kernel *k = NULL;
    kiln_array *z = NULL;
    kiln_arg in[] = {kiln_arg_array(x)};
    if (kiln_elementwise_create(&k, "T x, flaot32 y", "T z", "z = x", "typo", NULL) != KILN_ERROR_SYNTAX &&
        kiln_error_status() != KILN_ERROR_TYPE)
        exit(1);
    printf("\n%s\n", kiln_error_message());
    must(kiln_elementwise_create(&k, "T x", "T z", "T t = x;\nz = t + unknown;", "my_kernel", NULL));
    if (kiln_kernel_call(k, &z, 1, in, 1, NULL) != KILN_ERROR_COMPILE || z != NULL ||
        !strstr(kiln_error_message(), "my_kernel:2: error:"))
        exit(1);
    printf("\n%s\n", kiln_error_message());
    kiln_kernel_free(k);
}

int main(void)
{
    kiln_array *x = make_range(4);
    show_scalars(x);
    show_broadcasting(x);
    show_index(x);
    show_raw(x);
    show_control_flow(x);
    show_several_outputs(x);
    show_preamble(x);
    show_errors(x);
    kiln_array_free(x);
    return 0;
}
