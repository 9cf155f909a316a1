/* unfused.h - what the examples of fusion share: a computation as one kernel of an expression and as an
 * operation after another, and the times of both. Over <kiln/kiln.h> alone. */
#ifndef EXAMPLES_UNFUSED_H
#define EXAMPLES_UNFUSED_H

#include <kiln/kiln.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SLOTS = 48, REPEATS = 10 };

static inline int complain(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n%s\n", what, kiln_status_name(kiln_error_status()), kiln_error_message(),
            kiln_error_log());
    return 1;
}

/* ---- an operation after another ---- */

/* A list of numbered values: the given ones first, then the results of the steps. */
typedef struct step {
    const char *operation; /* by its name, or a view: a Python index in square brackets */
    int out, in[3], n_in;
    bool along; /* a reduction of the last axis, which stays with extent 1 */
} step;

/* One way to compute something. */
typedef struct way {
    kiln_status (*run)(kiln_array **out, const struct way *way);
    kiln_device device;
    kiln_kernel *kernel; /* run_fused */
    const step *steps;   /* run_unfused */
    int n_steps, n_in;
    int operations; /* of another run: how many it is */
    const kiln_arg *in;
} way;

static inline kiln_status run_fused(kiln_array **out, const way *w)
{
    return kiln_kernel_call(w->kernel, out, 1, w->in, w->n_in, NULL);
}

static inline kiln_status run_view(kiln_array **out, const char *text, const kiln_arg *of)
{
    char index[64];
    snprintf(index, sizeof index, "%.*s", (int)strlen(text) - 2, text + 1);
    return kiln_array_index(out, of->value.array, index);
}

static inline kiln_status run_step(kiln_array **out, const step *s, const kiln_arg *value)
{
    static const int last[] = {-1};
    kiln_arg in[3];
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    for (int k = 0; k < s->n_in; k++)
        in[k] = value[s->in[k]];
    if (*s->operation == '[')
        return run_view(out, s->operation, in);
    if (s->along) {
        options.axes = last;
        options.n_axes = 1;
        options.flags = KILN_CALL_KEEPDIMS;
    }
    return kiln_operation_call(out, 1, s->operation, in, s->n_in, &options);
}

/* The result of the last step; the arrays of the others are freed. */
static inline kiln_status run_unfused(kiln_array **out, const way *w)
{
    kiln_arg value[SLOTS];
    kiln_array *made[SLOTS] = {NULL};
    kiln_status status = KILN_OK;
    memcpy(value, w->in, (size_t)w->n_in * sizeof *value);
    for (int k = 0; k < w->n_steps && status == KILN_OK; k++) {
        status = run_step(&made[w->steps[k].out], &w->steps[k], value);
        value[w->steps[k].out] = kiln_arg_array(made[w->steps[k].out]);
    }
    if (status == KILN_OK) {
        *out = made[w->steps[w->n_steps - 1].out];
        made[w->steps[w->n_steps - 1].out] = NULL;
    }
    for (int k = 0; k < SLOTS; k++)
        kiln_array_free(made[k]);
    return status;
}

/* ---- time ---- */

static inline double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Shortens *best to what one more run takes, from the call to the result. */
static inline kiln_status time_once(double *best, const way *w)
{
    kiln_array *out = NULL;
    double start = now_ms();
    kiln_status status = w->run(&out, w);
    if (status == KILN_OK)
        status = kiln_device_synchronize(w->device);
    *best = fmin(*best, now_ms() - start);
    kiln_array_free(out);
    return status;
}

/* Both by turns; what is to compile has been compiled by runs before. */
static inline kiln_status print_times(const char *name, const way *fused, const way *unfused)
{
    double one = INFINITY, many = INFINITY;
    kiln_status status = KILN_OK;
    int operations = unfused->operations;
    for (int k = 0; k < unfused->n_steps; k++)
        operations += *unfused->steps[k].operation != '[';
    for (int r = 0; r < REPEATS && status == KILN_OK; r++) {
        status = time_once(&one, fused);
        if (status == KILN_OK)
            status = time_once(&many, unfused);
    }
    if (status == KILN_OK)
        printf("%-12s as an expression %9.4f ms, as %d operations one after another %9.4f ms: %.1f times\n",
               name, one, operations, many, many / one);
    return status;
}

/* ---- results ---- */

/* A way's result, fetched as `count` elements of `size` bytes; NULL where that failed, or there are
 * others. */
static inline void *result_of(const way *w, int64_t count, size_t size)
{
    kiln_array *out = NULL;
    size_t bytes = (size_t)count * size;
    void *elements = malloc(bytes);
    bool done = elements && w->run(&out, w) == KILN_OK && kiln_array_nbytes(out) == bytes &&
                kiln_array_to_host(out, elements, bytes) == KILN_OK;
    kiln_array_free(out);
    if (done)
        return elements;
    free(elements);
    return NULL;
}

#endif
