/* points_emulated - reductions over pairs of points, as expressions, by the kernels that a GPU would run:
 * random numbers of coordinates, points and centres, batches, dtypes and layouts, against plain loops in
 * double precision. Few coordinates take one kernel, in which distances are no array.
 *
 * usage: points_emulated [COUNT [SEED]] */
#include "drawn.h"
#include "emulated.h"

#include <kiln/expression.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COORDINATES = 20, UNROLLED = 16, LEAST_RESULTS = 34000 };

static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
}

static double real(void)
{
    return (double)draw(2001) / 1000 - 1;
}

/* ---- what is computed ---- */

static double square(double a, double d)
{
    return a + d * d;
}

static double magnitude(double a, double d)
{
    return a + fabs(d);
}

static double greatest(double a, double d)
{
    return fabs(d) > a ? fabs(d) : a;
}

/* From the coordinates of two points, and from their distances. */
typedef struct inner {
    const char *text;
    double (*add)(double a, double d);
} inner;
static const inner inners[] = {{"sum((x - c) ** 2, axis=-1)", square},
                               {"sum(abs(x - c), axis=-1)", magnitude},
                               {"max(abs(x - c), axis=-1)", greatest}};
enum { LEAST, PLACE, BOTH, KERNEL, OUTERS };
static const char *const outers[OUTERS] = {"min(%s, axis=-1)", "argmin(%s, axis=-1)",
                                           "d = %s; min(d, axis=-1), argmin(d, axis=-1)",
                                           "sum(exp(-(%s) * 3), axis=-1) / 7"};

/* ---- arrays ---- */

typedef struct points {
    kiln_array *array;
    double *value; /* of each coordinate in C order */
    void *memory;
} points;

static void put(void *at, kiln_dtype dtype, double *value)
{
    if (dtype == KILN_FLOAT64) {
        memcpy(at, value, sizeof *value);
    } else if (dtype == KILN_FLOAT32) {
        float f = (float)*value;
        memcpy(at, &f, sizeof f);
        *value = f;
    } else {
        int8_t i = (int8_t)(*value * 50);
        memcpy(at, &i, sizeof i);
        *value = i;
    }
}

/* Points of `shape`, whose last axis has coordinates: as they come, with a gap behind each, beginning
 * anywhere, or with the coordinates outermost. */
static void make(points *p, kiln_dtype dtype, int ndim, const int64_t *shape)
{
    int64_t item = (int64_t)kiln_dtype_size(dtype), strides[4], count = 1, run = item;
    int64_t gap = draw(3) == 0 ? (int64_t)draw(3) * item : 0, shift = draw(3) == 0 ? item : 0;
    bool is_planar = draw(4) == 0;
    for (int a = 0; a < ndim; ++a)
        count *= shape[a];
    for (int k = ndim; k-- > 0;) {
        int a = !is_planar ? k : k == 0 ? ndim - 1 : k - 1;
        strides[a] = run;
        run = run * shape[a] + (k == ndim - 1 ? gap : 0);
    }
    p->memory = aligned_alloc(64, (size_t)(run + shift) / 64 * 64 + 64);
    p->value = malloc((size_t)count * sizeof *p->value);
    for (int64_t e = 0; e < count; ++e) {
        int64_t at = shift, left = e;
        for (int a = ndim; a-- > 0; left /= shape[a])
            at += left % shape[a] * strides[a];
        p->value[e] = real();
        put((char *)p->memory + at, dtype, &p->value[e]);
    }
    kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
    spec.dtype = dtype;
    spec.ndim = ndim;
    spec.shape = shape;
    spec.strides = strides;
    spec.device = KILN_DEVICE_HOST;
    if (kiln_array_wrap(&p->array, (char *)p->memory + shift, &spec, NULL, NULL) != KILN_OK)
        exit(1);
}

static void drop(points *p)
{
    kiln_array_free(p->array);
    free(p->memory);
    free(p->value);
}

/* ---- a case ---- */

typedef struct pairs {
    int64_t batches, results, centres, coordinates;
    int inner, outer;
    kiln_dtype dtype;
} pairs;

static double distance(const pairs *c, const points *x, const points *y, int64_t result, int64_t centre)
{
    const double *a = x->value + result * c->coordinates;
    const double *b = y->value + (result / c->results * c->centres + centre) * c->coordinates;
    double all = 0;
    for (int64_t k = 0; k < c->coordinates; ++k)
        all = inners[c->inner].add(all, a[k] - b[k]);
    return all;
}

static double element(const kiln_array *a, int64_t e)
{
    const char *at = kiln_array_data(a);
    if (kiln_array_dtype(a) == KILN_FLOAT64)
        return ((const double *)(const void *)at)[e];
    if (kiln_array_dtype(a) == KILN_FLOAT32)
        return (double)((const float *)(const void *)at)[e];
    if (kiln_array_dtype(a) == KILN_INT64)
        return (double)((const int64_t *)(const void *)at)[e];
    return (double)*(const int8_t *)(at + e);
}

static bool is_right(const pairs *c, const points *x, const points *y, kiln_array *const *out, int64_t result)
{
    double least = HUGE_VAL, sum = 0, error = c->dtype == KILN_FLOAT64 ? 1e-13 : 2e-6;
    for (int64_t j = 0; j < c->centres; ++j) {
        double d = distance(c, x, y, result, j);
        least = d < least ? d : least;
        sum += exp(-d * 3) / 7;
    }
    if (c->outer == KERNEL)
        return fabs(element(out[0], result) - sum) <= error * (4 + sum);
    bool right = true;
    if (c->outer != PLACE)
        right = fabs(element(out[0], result) - least) <= error * (4 + least);
    if (c->outer != LEAST) {
        double at = element(out[c->outer == BOTH], result);
        right = right && at >= 0 && at < (double)c->centres &&
                distance(c, x, y, result, (int64_t)at) <= least + error * (4 + least);
        for (int64_t j = 0; c->dtype == KILN_INT8 && j < (int64_t)at; ++j) /* exact: the first of equals */
            right = right && distance(c, x, y, result, j) > least;
    }
    return right;
}

static int check(const pairs *c, const points *x, const points *y, kiln_kernel *kernel, const char *text)
{
    kiln_array *out[2] = {NULL, NULL}, *again[2] = {NULL, NULL};
    const kiln_arg in[] = {kiln_arg_array(x->array), kiln_arg_array(y->array)};
    int n_out = c->outer == BOTH ? 2 : 1, failed = 0;
    kiln_status status = emulated_call("sm_90", kernel, out, n_out, in, 2, NULL);
    int steps = emulated_steps;
    if (status == KILN_OK)
        status = emulated_call("sm_90", kernel, again, n_out, in, 2, NULL);
    if (status != KILN_OK) {
        fprintf(stderr, "FAILED: %s: %s\n", text, kiln_error_message());
        failed = 1;
    }
    for (int j = 0; j < n_out && !failed; ++j)
        failed = memcmp(kiln_array_data(out[j]), kiln_array_data(again[j]), kiln_array_nbytes(out[j])) != 0;
    for (int64_t r = 0; r < c->batches * c->results && !failed; ++r)
        if (!is_right(c, x, y, out, r)) {
            fprintf(stderr, "FAILED: result %lld is %.9g\n", (long long)r, element(out[0], r));
            failed = 1;
        }
    if (!failed && (steps == 1) != (c->coordinates <= UNROLLED)) {
        fprintf(stderr, "FAILED: %d kernels\n", steps);
        failed = 1;
    }
    for (int j = 0; j < n_out; ++j) {
        kiln_array_free(out[j]);
        kiln_array_free(again[j]);
    }
    return failed;
}

static int run(bool is_verbose)
{
    static const kiln_dtype dtypes[] = {KILN_FLOAT32, KILN_FLOAT32, KILN_FLOAT64, KILN_INT8};
    pairs c = {.batches = draw(3) == 0 ? 1 + (int64_t)draw(3) : 1,
               .centres = draw(6) == 0 ? 60 + (int64_t)draw(10) : 2 + (int64_t)draw(6),
               .coordinates =
                   draw(2) == 0 ? INT64_C(1) << (1 + draw(4)) : 2 + (int64_t)draw(MOST_COORDINATES - 2),
               .inner = (int)draw(sizeof inners / sizeof *inners),
               .outer = (int)draw(OUTERS)};
    c.dtype = dtypes[draw(c.outer == KERNEL ? 3 : 4)];
    if (c.dtype == KILN_INT8) /* differences stay in the dtype */
        c.inner = 2;
    c.results = LEAST_RESULTS / c.batches + (int64_t)draw(500);
    const int64_t of_points[] = {c.batches, c.results, 1, c.coordinates},
                  of_centres[] = {c.batches, 1, c.centres, c.coordinates};
    points x, y;
    make(&x, c.dtype, 4, of_points);
    make(&y, c.dtype, 4, of_centres);
    char text[200];
    snprintf(text, sizeof text, outers[c.outer], inners[c.inner].text);
    if (is_verbose)
        printf("%s, %s, %lld x %lld points, %lld centres, %lld coordinates\n", text, kiln_dtype_name(c.dtype),
               (long long)c.batches, (long long)c.results, (long long)c.centres, (long long)c.coordinates);
    kiln_kernel *kernel = NULL;
    int failed = kiln_expression_create(&kernel, "x, c", text, NULL) != KILN_OK;
    if (failed)
        fprintf(stderr, "FAILED: %s\n", kiln_error_message());
    else
        failed = check(&c, &x, &y, kernel, text);
    if (failed)
        fprintf(stderr, "    %s, %s, %lld x %lld points, %lld centres, %lld coordinates\n", text,
                kiln_dtype_name(c.dtype), (long long)c.batches, (long long)c.results, (long long)c.centres,
                (long long)c.coordinates);
    kiln_kernel_free(kernel);
    drop(&x);
    drop(&y);
    return failed;
}

int main(int argc, char **argv)
{
    setenv("KILN_KINDS", "-fewest", 0); /* kinds take few elements, too */
    long count = drawn_count(argc, argv, 5, 1), failed = 0;
    state = drawn_state(argc, argv);
    for (long k = 0; k < count; ++k)
        failed += run(argc > 1);
    printf("%ld cases, %ld failed\n", count, failed);
    return failed || count < 1;
}
