/* cli_run.c - `kiln map`, `kiln reduce`, `kiln scan`, `kiln select`, `kiln sort` and `kiln eval`: run a
 * kernel over files and say what it took. */
#include "cli.h"
#include "cli_glob.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The differences between the commands. */
typedef struct job {
    const char *name;
    kiln_status (*define)(cli_call *call, const cli_options *options);
    bool has_names; /* in front of arguments and files */
    bool counts;    /* the last result is a count, which may have no file */
} job;

static const job map_job = {"map", cli_call_define, false, false};
static const job reduce_job = {"reduce", cli_call_define_reduction, false, false};
static const job scan_job = {"scan", cli_call_define_scan, false, false};
static const job select_job = {"select", cli_call_define_selection, false, true};
static const job sort_job = {"sort", cli_call_define_sort, false, false};
static const job eval_job = {"eval", cli_call_define_expression, true, false};

/* Options of the call, and what they point to. */
typedef struct call_options {
    kiln_call_options options;
    int64_t shape[KILN_MAX_NDIM];
    int axes[KILN_MAX_NDIM];
} call_options;

/* ---- the work ---- */

static kiln_status call_once(const cli_call *call, const kiln_call_options *options)
{
    return kiln_kernel_call(call->kernel, call->out, call->n_out, call->in, call->n_in, options);
}

static kiln_status call_and_wait(const cli_call *call, const kiln_call_options *how, cli_times *times)
{
    double start = cli_now_ms();
    kiln_status status = call_once(call, how);
    double called = cli_now_ms();
    if (status == KILN_OK)
        status = kiln_device_synchronize(KILN_DEVICE_DEFAULT);
    times->call_ms += called - start;
    times->finish_ms += cli_now_ms() - called;
    return status == KILN_OK ? kiln_kernel_last_call(&times->info) : status;
}

/* The first call, then `repeat` more with the outputs that it was given, if any: its results stay as they
 * are. */
static kiln_status run_kernel(cli_call *call, const kiln_call_options *how, int repeat, cli_times *times)
{
    kiln_benchmark_options options = KILN_BENCHMARK_OPTIONS_INIT;
    kiln_array **given = calloc((size_t)call->n_out + 1, sizeof *given);
    if (!given)
        return cli_fail(KILN_ERROR_MEMORY, "out of memory");
    memcpy(given, call->out, (size_t)call->n_out * sizeof *given);
    kiln_status status = call_and_wait(call, how, times);
    options.calls = repeat;
    if (status == KILN_OK && repeat)
        status = kiln_kernel_benchmark(&times->repeat, call->kernel, given, call->n_out, call->in, call->n_in,
                                       how, &options);
    free(given);
    return status;
}

static kiln_status read_arguments(cli_call *call, const cli_options *options, cli_times *times)
{
    double start = cli_now_ms();
    kiln_status status = cli_call_read(call, options, KILN_DEVICE_DEFAULT, false);
    if (status == KILN_OK)
        status = cli_call_make_outputs(call, options, KILN_DEVICE_DEFAULT);
    times->read_ms += cli_now_ms() - start;
    return status;
}

static kiln_status save_outputs(const cli_call *call, const cli_options *options, cli_times *times)
{
    double start = cli_now_ms();
    cli_result *results = calloc((size_t)call->n_out + 1, sizeof *results);
    kiln_status status = results ? KILN_OK : KILN_ERROR_MEMORY;
    for (int j = 0; results && j < call->n_out; j++)
        results[j] = (cli_result){kiln_kernel_out_name(call->kernel, j), call->out[j], call->file[j]};
    if (status == KILN_OK)
        status = cli_results_write(results, call->n_out, options);
    free(results);
    times->write_ms += cli_now_ms() - start;
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
    static const char letters[] = "CKFA"; /* by kiln_order */
    const char *order = options->order ? options->order : "C";
    const char *found = strlen(order) == 1 ? strchr(letters, order[0]) : NULL;
    out->options = (kiln_call_options)KILN_CALL_OPTIONS_INIT;
    if (!found)
        return cli_usage_error(job->name, "--order takes C, F, A or K, not '%s'", order);
    int code = cli_shape_check(job->name, options);
    if (code == CLI_OK)
        code = cli_types_check(job->name, options);
    if (code == CLI_OK)
        code = cli_formats_check(job->name, options);
    if (code == CLI_OK)
        code = cli_axes_read(out->axes, &out->options.n_axes, job->name, options);
    out->options.order = (kiln_order)(found - letters);
    out->options.flags = options->keepdims ? KILN_CALL_KEEPDIMS : 0;
    out->options.shape = options->size ? out->shape : NULL;
    out->options.ndim = code == CLI_OK && options->size ? cli_shape_read(out->shape, options->size) : 0;
    out->options.axes = options->axes.count ? out->axes : NULL;
    return code;
}

/* ---- where outputs go ---- */

static int find_output(const cli_call *call, const char *name, size_t length)
{
    int j = 0;
    while (j < call->n_out && (strlen(kiln_kernel_out_name(call->kernel, j)) != length ||
                               strncmp(kiln_kernel_out_name(call->kernel, j), name, length) != 0))
        j++;
    return j;
}

/* The output that a -o names; where it names none, the next one that has no file. */
static int place_file(const job *job, cli_call *call, const char *text)
{
    size_t length;
    int j = 0;
    bool has_name = job->has_names && cli_word_has_name(text, &length);
    if (has_name)
        j = find_output(call, text, length);
    while (!has_name && j < call->n_out && call->file[j])
        j++;
    if (j == call->n_out && has_name)
        return cli_usage_error(job->name, "-o %s: there is no result '%.*s'; the first is '%s'", text,
                               (int)length, text, kiln_kernel_out_name(call->kernel, 0));
    if (j == call->n_out || call->file[j])
        return cli_usage_error(job->name, "-o %s: that result has a file", text);
    call->file[j] = has_name ? text + length + 1 : text;
    return CLI_OK;
}

/* A file for each output, or for none; those that have names take one or none each. */
static int place_files(const job *job, cli_call *call, const cli_options *options)
{
    int given = options->outputs.count, code = CLI_OK;
    bool fits = given == call->n_out || given == 0 || (job->has_names && given < call->n_out) ||
                (job->counts && given == call->n_out - 1);
    if (!fits)
        return cli_usage_error(job->name, "the kernel has %d output%s, and -o was given %d time%s",
                               call->n_out, call->n_out == 1 ? "" : "s", given, given == 1 ? "" : "s");
    for (int k = 0; k < given && code == CLI_OK; k++)
        code = place_file(job, call, options->outputs.items[k]);
    for (int j = 0; j < call->n_out && code == CLI_OK; j++)
        if (call->file[j])
            code = cli_result_check(job->name, call->file[j], options);
    return code;
}

static kiln_status explain(char **out, const cli_call *call, const kiln_call_options *how,
                           const cli_options *options)
{
    return options->explain ? kiln_kernel_explain(out, call->kernel, call->out, call->n_out, call->in,
                                                  call->n_in, how, NULL)
                            : KILN_OK;
}

/* ---- one call, or one for each file ---- */

/* True if some result goes to standard output, which may be the terminal, too. */
static bool writes_output(const cli_call *call)
{
    bool does = false;
    for (int j = 0; j < call->n_out; j++)
        does = does || (call->file[j] && strcmp(call->file[j], "-") == 0);
    return does;
}

static kiln_status run_once(cli_call *call, const kiln_call_options *how, const cli_options *options,
                            cli_times *times)
{
    kiln_status status = read_arguments(call, options, times);
    kiln_call_options own = *how;
    if (options->types.count > 0 && call->n_out > 0 && call->out[0] && options->size && !options->shape)
        own.shape = NULL, own.ndim = 0; /* the outputs have it */
    if (status == KILN_OK)
        status = run_kernel(call, &own, options->repeat, times);
    if (status == KILN_OK && times->files == 0) /* of many files once */
        cli_narrow_warn(call, options);
    if (writes_output(call))
        cli_progress_end();
    if (status == KILN_OK)
        status = save_outputs(call, options, times);
    return status;
}

/* The nth file of the first pattern. */
static const char *nth_path(const cli_glob *glob, int n)
{
    int word = 0;
    while (!glob->path[word])
        word++;
    return glob->path[word][n];
}

static kiln_status run_each(cli_glob *glob, cli_call *call, const kiln_call_options *how,
                            const cli_options *options, cli_times *times)
{
    kiln_status status = KILN_OK;
    for (int n = 0; n < glob->count && status == KILN_OK; n++) {
        cli_progress(options, n, glob->count, "%s", nth_path(glob, n));
        status = cli_glob_iteration(glob, call, n) ? run_once(call, how, options, times) : KILN_ERROR_MEMORY;
        if (status != KILN_OK)
            continue;
        times->files++;
        times->compiled += times->info.origin == KILN_ORIGIN_COMPILER;
        cli_call_drop_arrays(call);
    }
    cli_glob_iteration(glob, call, glob->count);
    return status;
}

static int run_call(const job *job, cli_call *call, const kiln_call_options *how, const cli_options *options,
                    cli_times *times)
{
    cli_glob glob = {.path = NULL};
    char *explanation = NULL;
    int code = cli_glob_find(&glob, job->name, call, options);
    kiln_status status = code == CLI_OK ? select_target(options->target) : KILN_OK;
    if (code != CLI_OK)
        goto out;
    cli_progress(options, 0, 0, "kiln %s", job->name);
    if (status == KILN_OK)
        status = cli_glob_is_any(&glob) ? run_each(&glob, call, how, options, times)
                                        : run_once(call, how, options, times);
    cli_progress_end();
    if (status == KILN_OK)
        status = explain(&explanation, call, how, options);
    if (status == KILN_OK)
        status = cli_report(call, options, times, explanation);
    if (status != KILN_OK)
        code = cli_library_error(options);
out:
    cli_glob_free(&glob);
    free(explanation);
    return code;
}

static int run(const job *job, const cli_options *options)
{
    cli_call call = CLI_CALL_INIT;
    cli_times times = {.info = KILN_CALL_INFO_INIT, .repeat = KILN_BENCHMARK_INIT};
    call_options how;
    int code = read_call_options(&how, job, options);
    if (code == CLI_OK && job->has_names)
        code = cli_names_check(job->name, options);
    if (code != CLI_OK)
        return code;
    double start = cli_now_ms();
    kiln_status status = job->define(&call, options);
    times.define_ms = cli_now_ms() - start;
    if (status != KILN_OK)
        code = cli_library_error(options);
    if (code == CLI_OK && !job->has_names)
        code = cli_words_check(&call, options);
    if (code == CLI_OK)
        code = place_files(job, &call, options);
    if (code == CLI_OK)
        code = cli_numbers_check(&call, options);
    if (code == CLI_OK)
        code = run_call(job, &call, &how.options, options, &times);
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

int cli_scan_run(const cli_options *options)
{
    return run(&scan_job, options);
}

int cli_select_run(const cli_options *options)
{
    return run(&select_job, options);
}

int cli_sort_run(const cli_options *options)
{
    return run(&sort_job, options);
}

int cli_eval_run(const cli_options *options)
{
    return run(&eval_job, options);
}
