/*
 * trace.c - a function of arrays, written once with the operations of <kiln/ops.h>: run one operation after
 * the other, and traced, which makes one kernel of all of them. Layer normalisation, checked against plain C.
 *
 *     example_trace [ROWS [COLUMNS]]
 */
#include <kiln/kiln.h>
#include <kiln/ops.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { REPEATS = 20 };
#define EPSILON 1e-5

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int complain(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n%s\n", what, kiln_status_name(kiln_error_status()), kiln_error_message(),
            kiln_error_log());
    return 1;
}

/* (x - mean) / sqrt(variance + epsilon) * gain + bias, along the last axis. Whether it runs or is recorded
 * depends on the arrays alone. */
static kiln_status layernorm(kiln_array **out, kiln_array *x, kiln_array *gain, kiln_array *bias)
{
    enum { MEAN, APART, SQUARES, VARIANCE, SAFE, ROOT, UNIT, SCALED, VALUES };
    kiln_array *v[VALUES] = {NULL};
    const kiln_axes last = kiln_axis(-1, true);
    kiln_status status = kiln_mean(&v[MEAN], x, &last);
    if (status == KILN_OK)
        status = kiln_subtract(&v[APART], x, v[MEAN]);
    if (status == KILN_OK)
        status = kiln_square(&v[SQUARES], v[APART]);
    if (status == KILN_OK)
        status = kiln_mean(&v[VARIANCE], v[SQUARES], &last);
    if (status == KILN_OK)
        status = kiln_add(&v[SAFE], v[VARIANCE], EPSILON);
    if (status == KILN_OK)
        status = kiln_sqrt(&v[ROOT], v[SAFE]);
    if (status == KILN_OK)
        status = kiln_divide(&v[UNIT], v[APART], v[ROOT]);
    if (status == KILN_OK)
        status = kiln_multiply(&v[SCALED], v[UNIT], gain);
    if (status == KILN_OK)
        status = kiln_add(out, v[SCALED], bias);
    for (int k = 0; k < VALUES; k++)
        kiln_array_free(v[k]);
    return status;
}

/* The kernel does not depend on the shape with which it was traced. */
static kiln_status trace_layernorm(kiln_kernel **out)
{
    static const int64_t shape[] = {2, 3};
    kiln_trace *trace = NULL;
    kiln_array *x = NULL, *gain = NULL, *bias = NULL, *result = NULL;
    kiln_status status = kiln_trace_begin(&trace, "layernorm");
    if (status == KILN_OK)
        status = kiln_trace_input(&x, trace, "x", KILN_FLOAT32, 2, shape);
    if (status == KILN_OK)
        status = kiln_trace_input(&gain, trace, "gain", KILN_FLOAT32, 1, shape + 1);
    if (status == KILN_OK)
        status = kiln_trace_input(&bias, trace, "bias", KILN_FLOAT32, 1, shape + 1);
    if (status == KILN_OK)
        status = layernorm(&result, x, gain, bias);
    if (status == KILN_OK)
        status = kiln_trace_end(out, trace, &result, 1, NULL);
    kiln_array_free(result);
    kiln_array_free(bias);
    kiln_array_free(gain);
    kiln_array_free(x);
    kiln_trace_free(trace);
    return status;
}

typedef struct problem {
    int64_t rows, columns;
    kiln_array *x, *gain, *bias;
    kiln_kernel *fused;
} problem;

static float element(int64_t k)
{
    return (float)(k * 7919 % 1009) / 1009.0f - 0.25f;
}

static kiln_status make_range(kiln_array **out, int ndim, const int64_t *shape, int64_t count, int64_t first)
{
    float *host = malloc((size_t)count * sizeof *host);
    for (int64_t k = 0; host && k < count; k++)
        host[k] = element(first + k);
    kiln_status status = host
                             ? kiln_array_from_host(out, host, KILN_FLOAT32, ndim, shape, KILN_DEVICE_DEFAULT)
                             : KILN_ERROR_MEMORY;
    free(host);
    return status;
}

static kiln_status make_arrays(problem *p)
{
    const int64_t shape[] = {p->rows, p->columns};
    kiln_status status = make_range(&p->x, 2, shape, p->rows * p->columns, 0);
    if (status == KILN_OK)
        status = make_range(&p->gain, 1, shape + 1, p->columns, 1);
    if (status == KILN_OK)
        status = make_range(&p->bias, 1, shape + 1, p->columns, 2);
    return status;
}

static kiln_status run(kiln_array **out, const problem *p, bool is_fused)
{
    const kiln_arg in[] = {kiln_arg_array(p->x), kiln_arg_array(p->gain), kiln_arg_array(p->bias)};
    return is_fused ? kiln_kernel_call(p->fused, out, 1, in, 3, NULL)
                    : layernorm(out, p->x, p->gain, p->bias);
}

/* In double, so that nothing but the roundings of the result's own arithmetic is left: some ten of 2^-24, of
 * values below 4. */
static bool is_right(const problem *p, const float *result)
{
    int64_t wrong = 0;
    for (int64_t r = 0; r < p->rows; r++) {
        double mean = 0, variance = 0;
        for (int64_t c = 0; c < p->columns; c++)
            mean += (double)element(r * p->columns + c) / (double)p->columns;
        for (int64_t c = 0; c < p->columns; c++)
            variance += pow((double)element(r * p->columns + c) - mean, 2) / (double)p->columns;
        for (int64_t c = 0; c < p->columns; c++) {
            double unit = ((double)element(r * p->columns + c) - mean) / sqrt(variance + EPSILON);
            double right = unit * (double)element(1 + c) + (double)element(2 + c);
            wrong += !(fabs((double)result[r * p->columns + c] - right) < 1e-5);
        }
    }
    return wrong == 0;
}

static int show(const problem *p, bool is_fused)
{
    const char *what = is_fused ? "one kernel" : "nine operations";
    kiln_array *out = NULL;
    double best = INFINITY;
    float *host = malloc((size_t)(p->rows * p->columns) * sizeof *host);
    if (!host || run(&out, p, is_fused) != KILN_OK ||
        kiln_array_to_host(out, host, kiln_array_nbytes(out)) != KILN_OK) {
        kiln_array_free(out);
        free(host);
        return complain(what);
    }
    bool good = is_right(p, host);
    for (int k = 0; k < REPEATS; k++) {
        kiln_array_free(out);
        out = NULL;
        double start = now_ms();
        if (run(&out, p, is_fused) != KILN_OK || kiln_stream_synchronize(NULL) != KILN_OK)
            good = false;
        double took = now_ms() - start;
        best = took < best ? took : best;
    }
    printf("  %-16s %9.3f ms  %s\n", what, best,
           good ? "as plain C has it (good)" : "not what plain C has (WRONG)");
    kiln_array_free(out);
    free(host);
    return !good;
}

/* The lines of the report that say how many kernels there are and what they move. */
static void print_report(const problem *p)
{
    const kiln_arg in[] = {kiln_arg_array(p->x), kiln_arg_array(p->gain), kiln_arg_array(p->bias)};
    char *text = NULL;
    if (kiln_kernel_explain(&text, p->fused, NULL, 1, in, 3, NULL, NULL) != KILN_OK)
        return;
    for (const char *line = text; *line == '#';) {
        int length = 0;
        while (line[length] && line[length] != '\n')
            length++;
        printf("  %.*s\n", length, line);
        line += length + (line[length] == '\n');
    }
    free(text);
}

int main(int argc, char **argv)
{
    problem p = {argc > 1 ? atoll(argv[1]) : 512, argc > 2 ? atoll(argv[2]) : 768, NULL, NULL, NULL, NULL};
    if (p.rows < 1 || p.columns < 1) {
        fprintf(stderr, "usage: %s [ROWS [COLUMNS]]\n", argv[0]);
        return 2;
    }
    int wrong =
        make_arrays(&p) == KILN_OK && trace_layernorm(&p.fused) == KILN_OK ? 0 : complain("layernorm");
    if (!wrong) {
        printf("layer normalisation of %lld rows of %lld\n", (long long)p.rows, (long long)p.columns);
        wrong += show(&p, false);
        wrong += show(&p, true);
        print_report(&p);
    }
    kiln_kernel_free(p.fused);
    kiln_array_free(p.bias);
    kiln_array_free(p.gain);
    kiln_array_free(p.x);
    return wrong != 0;
}
