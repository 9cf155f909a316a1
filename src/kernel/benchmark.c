/* kiln_kernel_benchmark: calls timed one by one on the thread that calls, and in graphs on the device. */
#include <kiln/benchmark.h>
#include <kiln/graph.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/os.h"
#include "base/sized.h"
#include "kernel/kernel.h"

enum { CALLS_LEAST = 10, CALLS_MOST = 1000, WARM_UP = 3, BATCH_MOST = 100 };
static const double all_us = 250e3, batch_us = 500; /* the times of all calls, and of those in a graph */

/* The call that is measured, and the clocks. */
typedef struct trial {
    kiln_kernel *kernel;
    kiln_array *const *given;                            /* NULL: none */
    kiln_array *out[KN_MAX_PARAMS], *own[KN_MAX_PARAMS]; /* own: that the first call allocated */
    const kiln_arg *in;
    int n_out, n_in, calls, batch;
    kiln_call_options options;
    kiln_device device;
    kiln_stream *stream;
    kiln_event *begin, *end;
    kiln_graph_exec *graph; /* NULL: the device runs nothing by itself */
    double *samples;
} trial;

static kiln_status call(trial *t)
{
    return kiln_kernel_call(t->kernel, t->out, t->n_out, t->in, t->n_in, &t->options);
}

/* ---- what was given ---- */

static kiln_device device_of(kiln_array *const *out, int n_out, const kiln_arg *in, int n_in)
{
    for (int k = 0; k < n_in; ++k)
        if (in[k].kind == KILN_ARG_ARRAY)
            return kiln_array_device(in[k].value.array);
    for (int j = 0; out && j < n_out; ++j)
        if (out[j])
            return kiln_array_device(out[j]);
    return KILN_DEVICE_DEFAULT;
}

static kiln_status read_options(kiln_benchmark_options *out, const kiln_benchmark_options *given)
{
    *out = (kiln_benchmark_options)KILN_BENCHMARK_OPTIONS_INIT;
    kiln_status status = kn_sized_read(out, sizeof *out, given, "kiln_kernel_benchmark: options",
                                       "KILN_BENCHMARK_OPTIONS_INIT");
    if (status != KILN_OK)
        return status;
    if (out->calls < 0 || out->warm_up < 0)
        return kn_error(
            KILN_ERROR_INVALID,
            "kiln_kernel_benchmark: options.%s: %d was given; a number of calls, or 0, was expected",
            out->calls < 0 ? "calls" : "warm_up", out->calls < 0 ? out->calls : out->warm_up);
    return KILN_OK;
}

static kiln_status check_arguments(const kiln_benchmark *result, const kiln_kernel *kernel, int n_out,
                                   const kiln_arg *in, int n_in)
{
    kiln_status status =
        kn_sized_check(result, sizeof *result, "kiln_kernel_benchmark: out_times", "KILN_BENCHMARK_INIT");
    if (status != KILN_OK)
        return status;
    if (!kernel)
        return kn_error(KILN_ERROR_INVALID, "kiln_kernel_benchmark: kernel is NULL");
    if (n_out < 0 || n_out > KN_MAX_PARAMS || n_in < 0 || (n_in > 0 && !in))
        return kn_error(KILN_ERROR_INVALID,
                        "kiln_kernel_benchmark: %d outputs and %d inputs at %s were given", n_out, n_in,
                        in ? "an address" : "NULL");
    return KILN_OK;
}

/* Arrays of a trace would be recorded. */
static kiln_status check_arrays(kiln_array *const *out, int n_out, const kiln_arg *in, int n_in)
{
    kiln_status status = KILN_OK;
    for (int k = 0; k < n_in && status == KILN_OK; ++k)
        if (in[k].kind == KILN_ARG_ARRAY)
            status = kn_array_check_data(in[k].value.array, "kiln_kernel_benchmark");
    for (int j = 0; out && j < n_out && status == KILN_OK; ++j)
        if (out[j])
            status = kn_array_check_data(out[j], "kiln_kernel_benchmark");
    return status;
}

static uint64_t bytes_of(const kiln_array *array)
{
    uint64_t bytes = kiln_dtype_size(array->dtype);
    for (int d = 0; d < array->ndim; ++d)
        if (array->strides[d] || array->shape[d] == 0)
            bytes *= (uint64_t)array->shape[d];
    return bytes;
}

/* ---- clocks ---- */

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void summarise(double *median, double *least, double *samples, int count)
{
    qsort(samples, (size_t)count, sizeof *samples, compare);
    *median = 0.5 * (samples[(count - 1) / 2] + samples[count / 2]);
    *least = samples[0];
}

/* Each call is waited for, so that no queue is full: that is not part of its time. */
static kiln_status time_calls(trial *t, double *samples, int count)
{
    kiln_status status = KILN_OK;
    for (int k = 0; k < count && status == KILN_OK; ++k) {
        double start = kn_os_now_ms();
        status = call(t);
        samples[k] = 1e3 * (kn_os_now_ms() - start);
        if (status == KILN_OK)
            status = kiln_stream_synchronize(t->stream);
    }
    return status;
}

/* One call from its beginning until its work is done, microseconds. */
static kiln_status time_whole(trial *t, double *us)
{
    double start = kn_os_now_ms();
    kiln_status status = call(t);
    if (status == KILN_OK)
        status = kiln_stream_synchronize(t->stream);
    *us = 1e3 * (kn_os_now_ms() - start);
    return status;
}

static kiln_status capture(trial *t)
{
    kiln_graph *graph = NULL;
    kiln_status status = kiln_capture_begin(t->stream);
    if (status != KILN_OK)
        return status;
    for (int k = 0; k < t->batch && status == KILN_OK; ++k)
        status = call(t);
    if (status != KILN_OK) { /* its message stays */
        kn_error_state failure;
        kn_error_save(&failure);
        KILN_IGNORE(kiln_capture_end(NULL, t->stream));
        kn_error_restore(&failure);
        return status;
    }
    status = kiln_capture_end(&graph, t->stream);
    if (status == KILN_OK)
        status = kiln_graph_instantiate(&t->graph, graph);
    kiln_graph_free(graph);
    return status;
}

static kiln_status time_graph(trial *t, double *us)
{
    double ms = 0;
    kiln_status status = kiln_event_record(t->begin, t->stream);
    if (status == KILN_OK)
        status = kiln_graph_launch(t->graph, t->stream);
    if (status == KILN_OK)
        status = kiln_event_record(t->end, t->stream);
    if (status == KILN_OK)
        status = kiln_event_synchronize(t->end);
    if (status == KILN_OK)
        status = kiln_event_elapsed(&ms, t->begin, t->end);
    *us = 1e3 * ms / t->batch;
    return status;
}

static kiln_status time_device(trial *t, int warm_up)
{
    kiln_status status = kiln_event_create(&t->begin, t->device, KILN_EVENT_TIMING);
    if (status == KILN_OK)
        status = kiln_event_create(&t->end, t->device, KILN_EVENT_TIMING);
    if (status == KILN_OK)
        status = capture(t);
    for (int k = 0; k < warm_up && status == KILN_OK; ++k)
        status = time_graph(t, &t->samples[0]);
    for (int k = 0; k < t->calls && status == KILN_OK; ++k)
        status = time_graph(t, &t->samples[k]);
    return status;
}

/* ---- all of it ---- */

/* Passes an output that the first call allocated to the others. An output that is no raw array gives the
 * number of elements from now on: size and shape, which only calls of raw arrays take, are dropped. */
static void keep_output(trial *t, int j)
{
    const kn_program *p = t->kernel->program;
    t->own[j] = t->given && t->given[j] ? NULL : t->out[j];
    if (t->own[j] && !p->param[p->n_in + j].is_raw) {
        t->options.size = 0;
        t->options.shape = NULL;
        t->options.ndim = 0;
    }
}

/* The first call compiles and allocates; from the second's time follows how many there are. */
static kiln_status prepare(trial *t, const kiln_benchmark_options *options)
{
    double us = 0;
    int warm_up = options->warm_up ? options->warm_up : WARM_UP;
    kiln_status status = kiln_device_synchronize(t->device); /* all work that uses the arguments */
    if (status == KILN_OK)
        status = kiln_stream_create(&t->stream, t->device, KILN_STREAM_NON_BLOCKING);
    t->options.stream = t->stream;
    t->options.flags |= KILN_CALL_BEST;
    if (status == KILN_OK)
        status = call(t);
    for (int j = 0; j < t->n_out && status == KILN_OK; ++j)
        keep_output(t, j);
    for (int k = 0; k < warm_up && status == KILN_OK; ++k)
        status = time_whole(t, &us);
    if (status != KILN_OK)
        return status;
    us = fmax(us, 0.1);
    t->calls = options->calls ? options->calls : (int)fmin(fmax(all_us / us, CALLS_LEAST), CALLS_MOST);
    t->batch = (int)fmin(fmax(batch_us / us, 1), BATCH_MOST);
    t->samples = kn_malloc((size_t)t->calls * sizeof *t->samples);
    return t->samples ? KILN_OK : kn_error_memory("times");
}

static kiln_status measure(kiln_benchmark *b, trial *t, const kiln_benchmark_options *options)
{
    kiln_status status = prepare(t, options);
    if (status == KILN_OK)
        status = time_calls(t, t->samples, t->calls);
    if (status != KILN_OK)
        return status;
    summarise(&b->cpu_median_us, &b->cpu_min_us, t->samples, t->calls);
    b->device_median_us = b->cpu_median_us;
    b->device_min_us = b->cpu_min_us;
    b->batch = 1;
    b->calls = t->calls;
    if (!KILN_DEVICE_IS_CUDA(t->device))
        return KILN_OK;
    status = time_device(t, WARM_UP);
    if (status == KILN_OK)
        summarise(&b->device_median_us, &b->device_min_us, t->samples, t->calls);
    b->batch = t->batch;
    return status;
}

static void count_bytes(kiln_benchmark *b, const trial *t)
{
    for (int k = 0; k < t->n_in; ++k)
        if (t->in[k].kind == KILN_ARG_ARRAY)
            b->bytes_read += bytes_of(t->in[k].value.array);
    for (int j = 0; j < t->n_out; ++j)
        b->bytes_written += bytes_of(t->out[j]);
    if (b->device_median_us > 0)
        b->bytes_per_second = 1e6 * (double)(b->bytes_read + b->bytes_written) / b->device_median_us;
}

static void release(trial *t)
{
    kiln_graph_exec_free(t->graph);
    kiln_event_free(t->begin);
    kiln_event_free(t->end);
    for (int j = 0; j < t->n_out; ++j)
        kiln_array_free(t->own[j]);
    kiln_stream_free(t->stream);
    kn_free(t->samples);
    kn_free(t);
}

kiln_status kiln_kernel_benchmark(kiln_benchmark *out_times, kiln_kernel *kernel, kiln_array *const *out,
                                  int n_out, const kiln_arg *in, int n_in, const kiln_call_options *how,
                                  const kiln_benchmark_options *given)
{
    KN_UNCANCELLED;
    kiln_benchmark found = KILN_BENCHMARK_INIT;
    kiln_benchmark_options options;
    kiln_status status = check_arguments(out_times, kernel, n_out, in, n_in);
    if (status == KILN_OK)
        status = check_arrays(out, n_out, in, n_in);
    if (status == KILN_OK)
        status = read_options(&options, given);
    if (status != KILN_OK)
        return status;
    trial *t = kn_calloc(1, sizeof *t);
    if (!t)
        return kn_error_memory("times");
    t->kernel = kernel;
    t->given = out;
    t->in = in;
    t->n_in = n_in;
    t->n_out = n_out;
    for (int j = 0; out && j < n_out; ++j)
        t->out[j] = out[j];
    status = kn_call_options_read(&t->options, how);
    if (status == KILN_OK) {
        t->device = device_of(out, n_out, in, n_in);
        if (t->device == KILN_DEVICE_DEFAULT)
            status = kiln_device_current(&t->device);
    }
    if (status == KILN_OK)
        status = measure(&found, t, &options);
    if (status == KILN_OK) {
        found.device = t->device;
        count_bytes(&found, t);
        kn_sized_answer(out_times, &found);
    }
    release(t);
    return status;
}
