/* bench_elements.c - rows of large arrays, chains of dependent kernels, and the host's time of a call, each
 * beside its floor. */
#include "bench.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHAIN_LENGTH = 100 };

/* A row while it is measured. */
typedef struct work {
    const bench_row *row;
    bench_data data;
    kiln_kernel *kernel;
    kiln_call_options options; /* of its calls, where the row reduces */
    const kiln_call_options *call;
    int axes[BENCH_MAX_NDIM];
    bench_floor *floor;
    void *bare; /* the bare launch's kernel, its parameters, and whether it may overlap the one before */
    size_t bare_size;
    bool bare_is_dependent;
} work;

static void free_work(work *w)
{
    bench_floor_free(w->floor);
    kiln_kernel_free(w->kernel);
    bench_data_free(&w->data);
}

static bool run_kernel(bench *b, void *user, int64_t iteration)
{
    work *w = user;
    bench_set *set = &w->data.set[iteration % w->data.n_sets];
    kiln_arg in[BENCH_MAX_OPERANDS + 2];
    int n_in = bench_row_arguments(in, w->row, set);
    kiln_array **out = &set->array[bench_row_inputs(w->row)];
    return bench_check(b, kiln_kernel_call(w->kernel, out, 1 + w->row->n_more, in, n_in, w->call));
}

static bool run_floor(bench *b, void *user, int64_t iteration)
{
    return bench_floor_run(b, ((work *)user)->floor, iteration);
}

static bool run_copy(bench *b, void *user, int64_t iteration)
{
    work *w = user;
    kiln_array *spare = w->data.set[iteration % w->data.n_sets].spare;
    size_t half = kiln_array_nbytes(spare) / 2;
    char *data = kiln_array_data(spare);
    return bench_driver_copy(b, data, data + half, half);
}

static bool start(bench *b, work *w, const bench_row *row, bool has_spare)
{
    *w = (work){.row = row};
    if (row->reduction && !row->expression) {
        w->options = bench_reduction_call(w->axes, row);
        w->call = &w->options;
    }
    return bench_data_make(b, &w->data, row, has_spare) && bench_row_define(b, &w->kernel, row) &&
           bench_floor_make(b, &w->floor, row, &w->data) && run_kernel(b, w, 0) &&
           bench_check(b, kiln_stream_synchronize(b->stream)) && bench_data_check(b, &w->data, row);
}

static const char *mode_name(const bench *b, bench_mode mode)
{
    if (mode == BENCH_ENQUEUE_TIME)
        return "enqueue";
    return !b->is_cuda ? "wall" : mode == BENCH_GRAPH_TIME ? "graph" : "stream";
}

static bool measure(bench *b, work *w, bench_mode mode, int batch, bool has_copy, bench_result *out)
{
    const bench_runner runners[] = {{run_kernel, w}, {run_floor, w}, {run_copy, w}};
    bench_time times[3];
    if (!bench_measure(b, mode, batch, runners, has_copy ? 3 : 2, times))
        return false;
    out->time = times[0];
    out->floor = times[1];
    out->copy_us = has_copy ? times[2].us : NAN;
    out->bytes = w->data.bytes;
    out->mode = mode_name(b, mode);
    out->checked = w->data.checked;
    return true;
}

bool bench_elements_run(bench *b, const bench_row *row, bench_result *out)
{
    work w;
    bool has_copy = b->is_cuda && (strchr(row->name, '@') || row->along);
    bool ok = start(b, &w, row, has_copy) &&
              measure(b, &w, row->is_small ? BENCH_GRAPH_TIME : BENCH_DEVICE_TIME, 1, has_copy, out);
    free_work(&w);
    return ok;
}

/* A second set with input and output exchanged: then every run reads what the one before wrote. */
static bool close_chain(bench *b, bench_data *data)
{
    bench_set *there = &data->set[0], *back = &data->set[1];
    if (data->n_sets != 1)
        return bench_fail(b, "a chain has one set");
    for (int k = 0; k < 2; k++) {
        back->base[k] = kiln_array_retain(there->base[1 - k]);
        back->array[k] = kiln_array_retain(there->array[1 - k]);
    }
    data->n_sets = 2;
    return true;
}

bool bench_chain_run(bench *b, const bench_row *row, bench_result *out)
{
    work w;
    bench_mode mode = row->kind == BENCH_CHAIN_GRAPH ? BENCH_GRAPH_TIME : BENCH_DEVICE_TIME;
    bool ok =
        start(b, &w, row, false) && close_chain(b, &w.data) && measure(b, &w, mode, CHAIN_LENGTH, false, out);
    free_work(&w);
    return ok;
}

/* ---- the host's time of a call ---- */

static bool run_allocating(bench *b, void *user, int64_t iteration)
{
    work *w = user;
    kiln_arg in[BENCH_MAX_OPERANDS + 2];
    int n_in = bench_row_arguments(in, w->row, &w->data.set[0]);
    kiln_array *out = NULL;
    (void)iteration;
    kiln_status status = kiln_kernel_call(w->kernel, &out, 1, in, n_in, w->call);
    kiln_array_free(out);
    return bench_check(b, status);
}

static bool run_until_done(bench *b, void *user, int64_t iteration)
{
    return run_allocating(b, user, iteration) && bench_check(b, kiln_stream_synchronize(b->stream));
}

static bool run_bare(bench *b, void *user, int64_t iteration)
{
    work *w = user;
    static long long block[512]; /* zeros: the kernel does nothing */
    void *params[] = {block};
    (void)iteration;
    return bench_driver_launch(b, w->bare, 4, 256, params, w->bare_is_dependent);
}

static bool run_bare_until_done(bench *b, void *user, int64_t iteration)
{
    return run_bare(b, user, iteration) && bench_check(b, kiln_stream_synchronize(b->stream));
}

/* An empty kernel that takes as many bytes of arguments as kiln's for this call, and is launched as that is.
 */
static bool make_bare(bench *b, work *w)
{
    kiln_arg in[BENCH_MAX_OPERANDS + 2];
    int n_in = bench_row_arguments(in, w->row, &w->data.set[0]);
    kiln_array *out = w->data.set[0].array[w->row->n_operands - 1];
    char *source = NULL, bare[256];
    if (!bench_check(b, kiln_kernel_source(&source, w->kernel, &out, 1, in, n_in, w->call, NULL)))
        return false;
    w->bare_is_dependent = strstr(source, "griddepcontrol.wait") != NULL;
    w->bare_size = bench_driver_parameter_size(b, source);
    free(source);
    if (!w->bare_size || w->bare_size > 4096)
        w->bare_size = 64;
    snprintf(bare, sizeof bare,
             "struct bench_arguments { long long word[%zu]; };\n"
             "extern \"C\" __global__ void bench_bare(bench_arguments given) {}\n",
             (w->bare_size + 7) / 8);
    return bench_driver_function(b, &w->bare, bare, "bench_bare");
}

static bool run_floor_until_done(bench *b, void *user, int64_t iteration)
{
    return run_floor(b, user, iteration) && bench_check(b, kiln_stream_synchronize(b->stream));
}

/* The measurements of a call, and of a device beside it, with the least number of calls of a sample. */
static const struct {
    bool (*run)(bench *b, void *user, int64_t iteration);
    bool (*beside)(bench *b, void *user, int64_t iteration);
    int batch;
    const char *mode;
} calls[] = {
    [BENCH_GIVEN] = {run_kernel, run_bare, CHAIN_LENGTH, "enqueue"},
    [BENCH_ALLOCATED] = {run_allocating, run_bare, CHAIN_LENGTH, "enqueue"},
    [BENCH_WAITED] = {run_until_done, run_bare_until_done, CHAIN_LENGTH, "wall"},
    [BENCH_RESULT] = {run_until_done, run_floor_until_done, 1, "wall"},
};

bool bench_call_run(bench *b, const bench_row *row, bench_result *out)
{
    work w;
    bench_time times[2];
    bool is_large = row->kind == BENCH_RESULT;
    const bench_runner runners[] = {{calls[row->kind].run, &w},
                                    {b->is_cuda ? calls[row->kind].beside : run_floor, &w}};
    bool ok = start(b, &w, row, false) && (!b->is_cuda || is_large || make_bare(b, &w)) &&
              bench_measure(b, BENCH_ENQUEUE_TIME, calls[row->kind].batch, runners, 2, times);
    if (ok) {
        out->time = times[0];
        out->floor = times[1];
        out->mode = calls[row->kind].mode;
        out->checked = w.data.checked;
        out->bytes = is_large ? w.data.bytes : out->bytes;
    }
    free_work(&w);
    return ok;
}

/* ---- the host's time to plan ---- */

static bool run_planning(bench *b, void *user, int64_t iteration)
{
    const work *w = user;
    kiln_arg in[BENCH_MAX_OPERANDS + 2];
    int n_in = bench_row_arguments(in, w->row, &w->data.set[0]);
    kiln_kernel *kernel = NULL;
    kiln_array *out = NULL;
    char *text = NULL;
    (void)iteration;
    bool ok = bench_row_define(b, &kernel, w->row) &&
              bench_check(b, kiln_kernel_explain(&text, kernel, &out, 1, in, n_in, NULL, NULL));
    kiln_kernel_free(kernel);
    free(text);
    return ok;
}

bool bench_plan_run(bench *b, const bench_row *row, bench_result *out)
{
    work w = {.row = row};
    const bench_runner runner = {run_planning, &w};
    bool ok = bench_data_make(b, &w.data, row, false) &&
              bench_measure(b, BENCH_ENQUEUE_TIME, 1, &runner, 1, &out->time);
    out->mode = mode_name(b, BENCH_ENQUEUE_TIME);
    free_work(&w);
    return ok;
}

/* ---- operations by name ---- */

enum { MOST_IN = 3, MOST_OUT = 3, SHARE_OF_TIME = 20, FEW = 5, SHARE_OF_FEW = 4 };

/* An operation whose inputs may all be float32. */
typedef struct named {
    work *w;
    char name[64];
    int n_in, n_out;
    double above; /* its floor, us */
} named;

/* The operations of a row: its letter says which. */
static bool is_of_row(const bench_row *row, const kiln_operation *operation, int n_out)
{
    const char letter = row->name[strlen(row->name) - 1];
    return letter == 'r'   ? operation->reduce != NULL
           : letter == 'x' ? n_out > 1
                           : !operation->reduce && n_out == 1;
}

static bool find_named(named *out, const kiln_operation *operation)
{
    for (const char *at = operation->types; *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " "), inputs = strspn(at, "f");
        if (operation->map && inputs > 0 && inputs <= MOST_IN && at[inputs] == '-') {
            snprintf(out->name, sizeof out->name, "%s", operation->name);
            out->n_in = (int)inputs;
            out->n_out = (int)(length - inputs - strlen("->"));
            return out->n_out <= MOST_OUT && is_of_row(out->w->row, operation, out->n_out);
        }
        at += length;
    }
    return false;
}

static bool run_named(bench *b, void *user, int64_t iteration)
{
    const named *n = user;
    kiln_array *out[MOST_OUT] = {NULL};
    kiln_arg in[MOST_IN];
    (void)iteration;
    for (int k = 0; k < n->n_in; k++)
        in[k] = kiln_arg_array(n->w->data.set[0].array[k % 2]);
    kiln_status status = kiln_operation_call(out, n->n_out, n->name, in, n->n_in, NULL);
    for (int k = 0; k < n->n_out; k++)
        kiln_array_free(out[k]);
    return bench_check(b, status);
}

static bool measure_one(bench *b, named *n, bench_time *times)
{
    const bench_runner runners[] = {{run_named, n}, {b->is_cuda ? run_bare : run_floor, n->w}};
    const bool ok =
        run_named(b, n, 0) && bench_measure(b, BENCH_ENQUEUE_TIME, CHAIN_LENGTH, runners, 2, times);
    n->above = ok ? times[0].us - times[1].us : 0;
    return ok;
}

/* Those that are furthest above their floor in a short look at each: what is in between is noise, of which
 * the worst of many has the most. */
static bool find_few(bench *b, named *few, int *count, work *w)
{
    kiln_operation operation = KILN_OPERATION_INIT;
    bench_time times[2];
    *count = 0;
    for (int k = 0; k < kiln_operation_count(); k++) {
        named n = {.w = w};
        if (!bench_check(b, kiln_operation_at(&operation, k)))
            return false;
        if (!find_named(&n, &operation))
            continue;
        if (!measure_one(b, &n, times))
            return false;
        int at = *count < FEW ? (*count)++ : FEW - 1;
        if (at == FEW - 1 && few[at].above > n.above && few[at].w)
            continue;
        for (; at > 0 && few[at - 1].above < n.above; at--)
            few[at] = few[at - 1];
        few[at] = n;
    }
    return *count > 0;
}

/* The worst of these few in a longer look. */
static bool measure_few(bench *b, named *few, int count, bench_result *out)
{
    static char mode[sizeof few->name + 16];
    double worst = -INFINITY;
    bench_time times[2];
    for (int k = 0; k < count; k++) {
        if (!measure_one(b, &few[k], times))
            return false;
        if (few[k].above <= worst)
            continue;
        worst = few[k].above;
        out->time = times[0];
        out->floor = times[1];
        snprintf(mode, sizeof mode, "enqueue, %s", few[k].name);
    }
    out->mode = mode;
    return true;
}

bool bench_by_name_run(bench *b, const bench_row *row, bench_result *out)
{
    work w;
    named few[FEW] = {{0}};
    int count = 0;
    const double seconds = b->seconds;
    bool ok = start(b, &w, row, false) && (!b->is_cuda || make_bare(b, &w));
    b->seconds = seconds / SHARE_OF_TIME;
    ok = ok && find_few(b, few, &count, &w);
    b->seconds = seconds / SHARE_OF_FEW;
    ok = ok && measure_few(b, few, count, out);
    b->seconds = seconds;
    out->checked = w.data.checked;
    free_work(&w);
    return ok;
}
