/*
 * fused_rows.c - softmax and layernorm as they are written in NumPy, each a string that becomes a kernel:
 * rows are read once and stay on the chip. Checked against plain C in double precision, and timed against the
 * same operations one after another.
 *
 *     example_fused_rows [ROWS LENGTH]
 */
#include "unfused.h"

/* The values of the steps: what is given, then what they make. */
enum { X, G, B, EPSILON, GIVEN, V4 = GIVEN, V5, V6, V7, V8, V9, V10, V11, V12 };

static const step softmax_steps[] = {
    {"max", V4, {X}, 1, true},  {"subtract", V5, {X, V4}, 2, false}, {"exp", V6, {V5}, 1, false},
    {"sum", V7, {V6}, 1, true}, {"divide", V8, {V6, V7}, 2, false},
};
static const step layernorm_steps[] = {
    {"mean", V4, {X}, 1, true},           {"subtract", V5, {X, V4}, 2, false},
    {"multiply", V6, {V5, V5}, 2, false}, {"mean", V7, {V6}, 1, true},
    {"add", V8, {V7, EPSILON}, 2, false}, {"sqrt", V9, {V8}, 1, false},
    {"divide", V10, {V5, V9}, 2, false},  {"multiply", V11, {V10, G}, 2, false},
    {"add", V12, {V11, B}, 2, false},
};

/* ---- the same in plain C ---- */

/* Not fmax: gcc 12 for aarch64 ends with an internal error where a loop takes fmax of converted floats. */
static double greater(double a, double b)
{
    return a > b ? a : b;
}

/* One row; returns what its rounding is relative to. */
static double softmax(double *out, const float *x, const float *g, const float *b, int64_t length)
{
    double greatest = -INFINITY, sum = 0;
    (void)g, (void)b;
    for (int64_t k = 0; k < length; k++)
        greatest = greater(greatest, x[k]);
    for (int64_t k = 0; k < length; k++)
        sum += out[k] = exp(x[k] - greatest);
    for (int64_t k = 0; k < length; k++)
        out[k] /= sum;
    return 1 / sum;
}

static double layernorm(double *out, const float *x, const float *g, const float *b, int64_t length)
{
    double mean = 0, squares = 0, size = 0;
    for (int64_t k = 0; k < length; k++)
        mean += x[k] / (double)length;
    for (int64_t k = 0; k < length; k++)
        squares += (x[k] - mean) * (x[k] - mean);
    for (int64_t k = 0; k < length; k++) {
        out[k] = (x[k] - mean) / sqrt(squares / (double)length + 1e-5) * g[k] + b[k];
        size = greater(size, fabs(out[k]));
    }
    return size;
}

/* ---- data ---- */

typedef struct data {
    int64_t rows, length;
    float *x, *g, *b; /* (rows, length), (length), (length) */
    kiln_array *array[3];
    kiln_arg in[GIVEN];
} data;

/* Waves that differ from row to row. */
static bool make_host(data *d)
{
    d->x = malloc((size_t)(d->rows * d->length) * sizeof *d->x);
    d->g = malloc((size_t)d->length * sizeof *d->g);
    d->b = malloc((size_t)d->length * sizeof *d->b);
    if (!d->x || !d->g || !d->b)
        return false;
    for (int64_t r = 0; r < d->rows; r++)
        for (int64_t k = 0; k < d->length; k++)
            d->x[r * d->length + k] = (float)(3 * sin(0.7 * (double)k + (double)r) + 0.01 * (double)(k % 7));
    for (int64_t k = 0; k < d->length; k++) {
        d->g[k] = (float)(1 + 0.5 * cos((double)k));
        d->b[k] = (float)(0.1 * sin(3 * (double)k));
    }
    return true;
}

static kiln_status make(data *d)
{
    const int64_t shape[2] = {d->rows, d->length};
    const float *from[3] = {d->x, d->g, d->b};
    kiln_status status = KILN_OK;
    for (int k = 0; k < 3 && status == KILN_OK; k++) {
        kiln_array *array = NULL;
        status = kiln_array_from_host(&array, from[k], KILN_FLOAT32, k == 0 ? 2 : 1,
                                      k == 0 ? shape : shape + 1, KILN_DEVICE_DEFAULT);
        d->array[k] = array;
        d->in[k] = kiln_arg_array(array);
    }
    d->in[EPSILON] = kiln_arg_float(1e-5);
    return status;
}

/* ---- both ways ---- */

typedef struct job {
    const char *name, *params, *expression;
    int n_in;
    const step *steps;
    int n_steps;
    double (*reference)(double *out, const float *x, const float *g, const float *b, int64_t length);
} job;
static const job jobs[] = {
    {"softmax", "x", "e = exp(x - max(x, axis=-1, keepdims=True)); e / sum(e, axis=-1, keepdims=True)", 1,
     softmax_steps, sizeof softmax_steps / sizeof *softmax_steps, softmax},
    {"layernorm", "x, g, b",
     "d = x - mean(x, axis=-1, keepdims=True); d / sqrt(mean(d * d, axis=-1, keepdims=True) + 1e-5) * g + b",
     3, layernorm_steps, sizeof layernorm_steps / sizeof *layernorm_steps, layernorm},
};

static bool is_right(const job *j, const data *d, const way *w)
{
    float *got = result_of(w, d->rows * d->length, sizeof *got);
    double *want = malloc((size_t)d->length * sizeof *want), worst = 0;
    bool has_both = got && want;
    for (int64_t r = 0; r < d->rows && has_both; r++) {
        double size = j->reference(want, d->x + r * d->length, d->g, d->b, d->length);
        for (int64_t k = 0; k < d->length; k++) {
            double error = fabs(got[r * d->length + k] - want[k]) / size;
            worst = error <= worst ? worst : error; /* NaN counts as wrong */
        }
    }
    free(got);
    free(want);
    if (!has_both) {
        complain(j->name);
        return false;
    }
    bool is_good = worst < 1e-5;
    printf("%-12s largest error %.1e of the row's largest element %s\n", j->name, worst,
           is_good ? "(good)" : "(WRONG)");
    return is_good;
}

/* Prints the number of kernels and the bytes that they move: the lines of the explanation that are no keys of
 * the code. */
static void print_plan(const way *w)
{
    char *text = NULL;
    kiln_array *none = NULL;
    if (kiln_kernel_explain(&text, w->kernel, &none, 1, w->in, w->n_in, NULL, NULL) == KILN_OK)
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
            if (*line == '#')
                printf("  %s\n", line + 2);
    free(text);
}

static int run_job(const job *j, const data *d)
{
    way fused = {.run = run_fused, .device = KILN_DEVICE_DEFAULT, .n_in = j->n_in, .in = d->in};
    way unfused = {.run = run_unfused,
                   .device = KILN_DEVICE_DEFAULT,
                   .steps = j->steps,
                   .n_steps = j->n_steps,
                   .n_in = GIVEN,
                   .in = d->in};
    if (kiln_expression_create(&fused.kernel, j->params, j->expression, NULL) != KILN_OK)
        return complain(j->name);
    print_plan(&fused);
    int failed = !is_right(j, d, &fused) || !is_right(j, d, &unfused);
    if (!failed && print_times(j->name, &fused, &unfused) != KILN_OK)
        failed = complain(j->name);
    kiln_kernel_free(fused.kernel);
    return failed;
}

int main(int argc, char **argv)
{
    data d = {.rows = argc > 2 ? atoll(argv[1]) : 512, .length = argc > 2 ? atoll(argv[2]) : 1000};
    int failed = 0;
    if (d.rows < 1 || d.length < 1) {
        fprintf(stderr, "usage: %s [ROWS LENGTH]\n", argv[0]);
        return 2;
    }
    if (!make_host(&d) || make(&d) != KILN_OK)
        failed = complain("arrays");
    for (size_t k = 0; k < sizeof jobs / sizeof *jobs && !failed; k++)
        failed = run_job(&jobs[k], &d);
    for (int k = 0; k < 3; k++)
        kiln_array_free(d.array[k]);
    free(d.x);
    free(d.g);
    free(d.b);
    return failed;
}
