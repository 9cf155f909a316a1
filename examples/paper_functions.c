/*
 * paper_functions.c - the functions by which CuPy introduced itself: the length of vectors, softplus once
 * for every target, the density of a normal distribution and a distance in polar coordinates, one kernel
 * each; and the time of sqrt(sum(a**2, -1)). Each result is checked against plain C.
 *
 *     example_paper_functions [ROWS]    of 100 elements, for the time; default 20000
 */
#include <kiln/kiln.h>
#include <kiln/ops.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { COUNT = 1000, COLUMNS = 100, REPEATS = 10 };

/* A program may end on the first error; the library leaves that to its caller. */
static void must(kiln_status status)
{
    if (status == KILN_OK)
        return;
    fprintf(stderr, "%s: %s\n%s", kiln_status_name(status), kiln_error_message(), kiln_error_log());
    exit(EXIT_FAILURE);
}

static void must_be_near(double got, double expected, const char *what)
{
    if (fabs(got - expected) <= 1e-12 * fmax(1, fabs(expected)))
        return;
    fprintf(stderr, "%s: %.17g, not %.17g\n", what, got, expected);
    exit(EXIT_FAILURE);
}

static double element_x(int k)
{
    return 0.01 * k - 5;
}

static kiln_array *counted(double first, double step)
{
    kiln_array *a = NULL;
    double element[COUNT];
    const int64_t shape = COUNT;
    kiln_device device;
    for (int k = 0; k < COUNT; ++k)
        element[k] = first + step * k;
    must(kiln_device_current(&device));
    must(kiln_array_from_host(&a, element, KILN_FLOAT64, 1, &shape, device));
    return a;
}

static void read_back(double *element, const kiln_array *a)
{
    must(kiln_array_to_host(a, element, COUNT * sizeof *element));
}

/* By operations one after the other: sqrt(sum(x * x)). */
static void length_of(const kiln_array *x)
{
    kiln_array *squares = NULL, *total = NULL, *length = NULL;
    double got, expected = 0;
    must(kiln_multiply(&squares, x, x));
    must(kiln_sum(&total, squares, NULL));
    must(kiln_sqrt(&length, total));
    must(kiln_array_to_host(length, &got, sizeof got));
    for (int k = 0; k < COUNT; ++k)
        expected += element_x(k) * element_x(k);
    must_be_near(got, sqrt(expected), "the length of a vector");
    printf("the length of x: %.4f\n", got);
    kiln_array_free(squares);
    kiln_array_free(total);
    kiln_array_free(length);
}

/* log(1 + exp(x)), such that exp is never too large. The same text runs wherever its argument is. */
static void softplus_on_every_target(kiln_kernel *softplus, const kiln_array *x)
{
    double element[COUNT];
    kiln_array *on_host = NULL, *y = NULL, *z = NULL;
    kiln_kernel *const kernel[] = {softplus, softplus};
    must(kiln_array_to_device(&on_host, x, KILN_DEVICE_HOST));
    const kiln_array *const given[] = {x, on_host};
    kiln_array **const out[] = {&y, &z};
    for (int t = 0; t < 2; ++t) {
        const kiln_arg in = kiln_arg_array(given[t]);
        must(kiln_kernel_call(kernel[t], out[t], 1, &in, 1, NULL));
        read_back(element, *out[t]);
        for (int k = 0; k < COUNT; ++k)
            must_be_near(element[k], log1p(exp(element_x(k))), "softplus");
    }
    printf("softplus(x)[0]: %.6f\n", element[0]);
    kiln_array_free(on_host);
    kiln_array_free(y);
    kiln_array_free(z);
}

/* A function of operations, as a user writes it; a trace makes one kernel of it. */
static kiln_status density(kiln_array **out, const kiln_array *x, double mean, double deviation)
{
    kiln_array *moved = NULL, *squared = NULL, *scaled = NULL, *exponential = NULL;
    kiln_status status = kiln_subtract(&moved, x, mean);
    if (status == KILN_OK)
        status = kiln_square(&squared, moved);
    if (status == KILN_OK)
        status = kiln_multiply(&scaled, squared, -0.5 / (deviation * deviation));
    if (status == KILN_OK)
        status = kiln_exp(&exponential, scaled);
    if (status == KILN_OK)
        status = kiln_multiply(out, exponential, 1 / (deviation * sqrt(2 * M_PI)));
    kiln_array_free(moved);
    kiln_array_free(squared);
    kiln_array_free(scaled);
    kiln_array_free(exponential);
    return status;
}

static void normal_density(const kiln_array *x)
{
    kiln_trace *trace = NULL;
    kiln_array *traced = NULL, *result = NULL, *y = NULL;
    kiln_kernel *kernel = NULL;
    double element[COUNT];
    const int64_t shape = COUNT;
    must(kiln_trace_begin(&trace, "density"));
    must(kiln_trace_input(&traced, trace, "x", KILN_FLOAT64, 1, &shape));
    must(density(&result, traced, 1, 2));
    must(kiln_trace_end(&kernel, trace, &result, 1, NULL));
    const kiln_arg in = kiln_arg_array(x);
    must(kiln_kernel_call(kernel, &y, 1, &in, 1, NULL));
    read_back(element, y);
    for (int k = 0; k < COUNT; ++k) {
        const double d = (element_x(k) - 1) / 2;
        must_be_near(element[k], exp(-d * d / 2) / (2 * sqrt(2 * M_PI)), "the density");
    }
    printf("the normal density at x[600]: %.6f\n", element[600]);
    kiln_array_free(traced);
    kiln_array_free(result);
    kiln_array_free(y);
    kiln_kernel_free(kernel);
    kiln_trace_free(trace);
}

/* The distance of points that are given by radius and angle. */
static void polar_distance(void)
{
    kiln_array *r = counted(1, 0.001), *a = counted(0, 0.006), *s = counted(2, -0.001),
               *b = counted(1, 0.002), *d = NULL;
    kiln_kernel *kernel = NULL;
    double element[COUNT];
    must(kiln_expression_create(&kernel, "r, a, s, b", "sqrt(r * r + s * s - 2 * r * s * cos(a - b))", NULL));
    const kiln_arg in[] = {kiln_arg_array(r), kiln_arg_array(a), kiln_arg_array(s), kiln_arg_array(b)};
    must(kiln_kernel_call(kernel, &d, 1, in, 4, NULL));
    read_back(element, d);
    for (int k = 0; k < COUNT; ++k) {
        const double p = 1 + 0.001 * k, q = 2 - 0.001 * k, between = 0.006 * k - (1 + 0.002 * k);
        must_be_near(element[k], hypot(p - q * cos(between), q * sin(between)), "the distance");
    }
    printf("the distance of the last points: %.6f\n", element[COUNT - 1]);
    kiln_array_free(r);
    kiln_array_free(a);
    kiln_array_free(s);
    kiln_array_free(b);
    kiln_array_free(d);
    kiln_kernel_free(kernel);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void time_of_lengths(int64_t rows)
{
    const int64_t shape[] = {rows, COLUMNS}, flat = rows * COLUMNS;
    kiln_array *range = NULL, *a = NULL, *y = NULL;
    kiln_kernel *kernel = NULL;
    double best = 1e9, last;
    kiln_device device;
    must(kiln_device_current(&device));
    must(kiln_array_arange(&range, 0, (double)flat, 1, KILN_FLOAT64, device));
    must(kiln_array_reshape(&a, range, 2, shape));
    must(kiln_expression_create(&kernel, "a", "sqrt(sum(a**2, axis=-1))", NULL));
    must(kiln_array_empty(&y, KILN_FLOAT64, 1, &rows, device));
    const kiln_arg in = kiln_arg_array(a);
    for (int k = 0; k < REPEATS; ++k) {
        const double start = seconds();
        must(kiln_kernel_call(kernel, &y, 1, &in, 1, NULL));
        must(kiln_device_synchronize(device));
        best = fmin(best, seconds() - start);
    }
    double *length = malloc((size_t)rows * sizeof *length), expected = 0;
    if (!length)
        exit(EXIT_FAILURE);
    must(kiln_array_to_host(y, length, (size_t)rows * sizeof *length));
    last = length[rows - 1];
    for (int64_t k = flat - COLUMNS; k < flat; ++k)
        expected += (double)k * (double)k;
    must_be_near(last, sqrt(expected), "sqrt(sum(a**2, -1))");
    printf("sqrt(sum(a**2, -1)) of %lld rows: %.3f ms\n", (long long)rows, 1e3 * best);
    free(length);
    kiln_array_free(range);
    kiln_array_free(a);
    kiln_array_free(y);
    kiln_kernel_free(kernel);
}

int main(int argc, char **argv)
{
    const long long rows = argc > 1 ? atoll(argv[1]) : 20000;
    kiln_array *x = counted(-5, 0.01);
    kiln_kernel *softplus = NULL;
    if (rows < 1) {
        fprintf(stderr, "ROWS: '%s' was given; a number from 1 on was expected\n", argv[1]);
        return EXIT_FAILURE;
    }
    must(kiln_expression_create(&softplus, "x", "maximum(0, x) + log1p(exp(-abs(x)))", NULL));
    length_of(x);
    softplus_on_every_target(softplus, x);
    normal_density(x);
    polar_distance();
    time_of_lengths(rows);
    kiln_kernel_free(softplus);
    kiln_array_free(x);
    return EXIT_SUCCESS;
}
