/* cli_run.c - `kiln map` and `kiln reduce`: run a kernel over files and say what it took. */
#include "cli.h"
#include <stdlib.h>
#include <string.h>

/* What the two commands differ in. */
typedef struct job {
    const char *name;
    kiln_status (*define)(cli_call *call, const cli_options *options);
    bool shows; /* results that no -o takes */
} job;

static const job map_job = {"map", cli_call_define, false};
static const job reduce_job = {"reduce", cli_call_define_reduction, true};

/* Options of the call, and what they point to. */
typedef struct call_options {
    kiln_call_options options;
    int64_t shape[KILN_MAX_NDIM];
    int axes[KILN_MAX_NDIM];
} call_options;

/* ---- the work ---- */

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static kiln_status call_once(const cli_call *call, const kiln_call_options *options)
{
    return kiln_kernel_call(call->kernel, call->out, call->n_out, call->in, call->n_in, options);
}

/* Calls again into the same outputs, each call waited for. */
static kiln_status repeat_calls(const cli_call *call, const kiln_call_options *how, int repeat,
                                cli_times *times)
{
    double *each = calloc((size_t)repeat, sizeof *each);
    kiln_status status = each ? KILN_OK : KILN_ERROR_MEMORY;
    for (int i = 0; i < repeat && status == KILN_OK; i++) {
        double start = cli_now_ms();
        status = call_once(call, how);
        if (status == KILN_OK)
            status = kiln_device_synchronize(KILN_DEVICE_DEFAULT);
        each[i] = cli_now_ms() - start;
    }
    if (status == KILN_OK) {
        qsort(each, (size_t)repeat, sizeof *each, compare_times);
        times->repeat_median_ms = each[repeat / 2];
        times->repeat_best_ms = each[0];
    }
    free(each);
    return status;
}

static kiln_status run_kernel(cli_call *call, const kiln_call_options *how, int repeat, cli_times *times)
{
    double start = cli_now_ms();
    kiln_status status = call_once(call, how);
    times->call_ms = cli_now_ms() - start;
    if (status == KILN_OK)
        status = kiln_device_synchronize(KILN_DEVICE_DEFAULT);
    times->finish_ms = cli_now_ms() - start - times->call_ms;
    if (status == KILN_OK)
        status = kiln_kernel_last_call(&times->info);
    if (status == KILN_OK && repeat)
        status = repeat_calls(call, how, repeat, times);
    return status;
}

static kiln_status read_arguments(cli_call *call, const cli_options *options, cli_times *times)
{
    double start = cli_now_ms();
    kiln_status status = cli_call_read(call, options, KILN_DEVICE_DEFAULT, false);
    if (status == KILN_OK)
        status = cli_call_make_outputs(call, options, KILN_DEVICE_DEFAULT);
    times->read_ms = cli_now_ms() - start;
    return status;
}

static kiln_status save_outputs(const cli_call *call, const cli_options *options, cli_times *times)
{
    double start = cli_now_ms();
    kiln_status status = KILN_OK;
    for (int j = 0; j < options->outputs.count && status == KILN_OK; j++)
        status = kiln_array_save_npy(call->out[j], options->outputs.items[j]);
    times->write_ms = cli_now_ms() - start;
    return status;
}

/* ---- the command ---- */

static kiln_status select_target(const char *target)
{
    kiln_device device = KILN_DEVICE_DEFAULT;
    if (!target)
        return kiln_device_current(&device); /* says so early where KILN_TARGET cannot be had */
    kiln_status status = kiln_device_parse(&device, target);
    return status == KILN_OK ? kiln_device_set_current(device) : status;
}

/* Reads the options of the call: CLI_OK, or CLI_USAGE where a text is no such option. */
static int read_call_options(call_options *out, const job *job, const cli_options *options)
{
    const char *order = options->order;
    out->options = (kiln_call_options)KILN_CALL_OPTIONS_INIT;
    if (order && strcmp(order, "C") != 0 && strcmp(order, "K") != 0)
        return cli_usage_error(job->name, "--order takes C or K, not '%s'", order);
    int code = cli_shape_check(job->name, options);
    if (code == CLI_OK)
        code = cli_axes_read(out->axes, &out->options.n_axes, job->name, options);
    out->options.order = order && order[0] == 'K' ? KILN_ORDER_KEEP : KILN_ORDER_C;
    out->options.flags = options->keepdims ? KILN_CALL_KEEPDIMS : 0;
    out->options.shape = options->size ? out->shape : NULL;
    out->options.ndim = code == CLI_OK && options->size ? cli_shape_read(out->shape, options->size) : 0;
    out->options.axes = options->axes.count ? out->axes : NULL;
    return code;
}

/* A file for each output, or, where results are shown, none at all. */
static int check_outputs(const job *job, const cli_call *call, const cli_options *options)
{
    int given = options->outputs.count;
    if (given == call->n_out || (job->shows && given == 0))
        return CLI_OK;
    return cli_usage_error(job->name, "the kernel has %d output%s, and -o was given %d time%s", call->n_out,
                           call->n_out == 1 ? "" : "s", given, given == 1 ? "" : "s");
}

static int run(const job *job, const cli_options *options)
{
    cli_call call = CLI_CALL_INIT;
    cli_times times = {.info = KILN_CALL_INFO_INIT};
    call_options how;
    int code = read_call_options(&how, job, options);
    if (code != CLI_OK)
        return code;
    double start = cli_now_ms();
    kiln_status status = job->define(&call, options);
    times.define_ms = cli_now_ms() - start;
    if (status == KILN_OK && (code = check_outputs(job, &call, options)) != CLI_OK)
        goto out;
    if (status == KILN_OK && (code = cli_numbers_check(&call, options)) != CLI_OK)
        goto out;
    if (status == KILN_OK)
        status = select_target(options->target);
    if (status == KILN_OK)
        status = read_arguments(&call, options, &times);
    if (status == KILN_OK)
        status = run_kernel(&call, &how.options, options->repeat, &times);
    if (status == KILN_OK)
        status = save_outputs(&call, options, &times);
    if (status == KILN_OK)
        status = cli_report(&call, options, &times);
    if (status != KILN_OK)
        code = cli_library_error(options);
out:
    cli_call_free(&call);
    return code;
}

int cli_map_run(const cli_options *options)
{
    return run(&map_job, options);
}

int cli_reduce_run(const cli_options *options)
{
    return run(&reduce_job, options);
}
