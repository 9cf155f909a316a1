/* cli_map.c - `kiln map`: runs a kernel over files and says what it took. */
#include "cli.h"
#include <stdlib.h>
#include <string.h>

typedef struct map_times {
    double read_ms, define_ms, call_ms, finish_ms, write_ms;
    double repeat_median_ms, repeat_best_ms; /* of --repeat */
    kiln_call_info info;
} map_times;

static const char *const origin_names[] = {"nowhere", "memory", "disk", "compiler"};

static const char *origin_name(kiln_origin origin)
{
    return origin_names[origin <= KILN_ORIGIN_COMPILER ? origin : KILN_ORIGIN_NONE];
}

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
                                map_times *times)
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

static kiln_status run_kernel(cli_call *call, const cli_options *options, map_times *times)
{
    kiln_call_options how = KILN_CALL_OPTIONS_INIT;
    int64_t shape[KILN_MAX_NDIM];
    how.order = options->order && options->order[0] == 'K' ? KILN_ORDER_KEEP : KILN_ORDER_C;
    how.shape = options->size ? shape : NULL;
    how.ndim = options->size ? cli_shape_read(shape, options->size) : 0;
    double start = cli_now_ms();
    kiln_status status = call_once(call, &how);
    times->call_ms = cli_now_ms() - start;
    if (status == KILN_OK)
        status = kiln_device_synchronize(KILN_DEVICE_DEFAULT);
    times->finish_ms = cli_now_ms() - start - times->call_ms;
    if (status == KILN_OK)
        status = kiln_kernel_last_call(&times->info);
    if (status == KILN_OK && options->repeat)
        status = repeat_calls(call, &how, options->repeat, times);
    return status;
}

static kiln_status read_arguments(cli_call *call, const cli_options *options, map_times *times)
{
    double start = cli_now_ms();
    kiln_status status = cli_call_read(call, options, KILN_DEVICE_DEFAULT, false);
    if (status == KILN_OK)
        status = cli_call_make_outputs(call, options, KILN_DEVICE_DEFAULT);
    times->read_ms = cli_now_ms() - start;
    return status;
}

static kiln_status save_outputs(const cli_call *call, const cli_options *options, map_times *times)
{
    double start = cli_now_ms();
    kiln_status status = KILN_OK;
    for (int j = 0; j < call->n_out && status == KILN_OK; j++)
        status = kiln_array_save_npy(call->out[j], options->outputs.items[j]);
    times->write_ms = cli_now_ms() - start;
    return status;
}

/* ---- the report ---- */

static void print_json(const cli_call *call, const cli_options *options, const map_times *times,
                       const char *target)
{
    cli_json json = {stdout, false};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "target", target);
    cli_json_text(&json, "origin", origin_name(times->info.origin));
    cli_json_integer(&json, "code_bytes", (int64_t)times->info.code_bytes);
    cli_json_open(&json, "times_ms", '{');
    cli_json_number(&json, "read", times->read_ms);
    cli_json_number(&json, "define", times->define_ms);
    cli_json_number(&json, "call", times->call_ms);
    cli_json_number(&json, "generate", times->info.generate_ms);
    cli_json_number(&json, "compile", times->info.compile_ms);
    cli_json_number(&json, "cache", times->info.cache_ms);
    cli_json_number(&json, "load", times->info.load_ms);
    cli_json_number(&json, "finish", times->finish_ms);
    cli_json_number(&json, "write", times->write_ms);
    if (options->repeat) {
        cli_json_number(&json, "repeat_median", times->repeat_median_ms);
        cli_json_number(&json, "repeat_best", times->repeat_best_ms);
    }
    cli_json_close(&json, '}');
    cli_json_open(&json, "outputs", '[');
    for (int j = 0; j < call->n_out; j++) {
        cli_json_open(&json, NULL, '{');
        cli_json_text(&json, "file", options->outputs.items[j]);
        cli_json_array(&json, call->out[j]);
        cli_json_close(&json, '}');
    }
    cli_json_close(&json, ']');
    cli_json_close(&json, '}');
    putchar('\n');
}

static void print_output(const char *file, const kiln_array *array)
{
    const int64_t *shape = kiln_array_shape(array);
    printf("  %s: %s [", file, kiln_dtype_name(kiln_array_dtype(array)));
    for (int axis = 0; axis < kiln_array_ndim(array); axis++)
        printf("%s%lld", axis ? ", " : "", (long long)shape[axis]);
    printf("]\n");
}

static void print_text(const cli_call *call, const cli_options *options, const map_times *times,
                       const char *target)
{
    const kiln_call_info *info = &times->info;
    printf("target: %s\nkernel: %s, from %s, %zu bytes\n", target, kiln_kernel_name(call->kernel),
           origin_name(info->origin), info->code_bytes);
    printf("times in ms: read %.3f, define %.3f, call %.3f (generate %.3f, compile %.3f, cache %.3f, load "
           "%.3f), "
           "finish %.3f, write %.3f\n",
           times->read_ms, times->define_ms, times->call_ms, info->generate_ms, info->compile_ms,
           info->cache_ms, info->load_ms, times->finish_ms, times->write_ms);
    if (options->repeat)
        printf("one of %d more calls: %.4f ms (median), %.4f ms (best)\n", options->repeat,
               times->repeat_median_ms, times->repeat_best_ms);
    for (int j = 0; j < call->n_out; j++)
        print_output(options->outputs.items[j], call->out[j]);
}

static kiln_status report(const cli_call *call, const cli_options *options, const map_times *times)
{
    char target[16];
    kiln_device device;
    kiln_status status = kiln_device_current(&device);
    if (status != KILN_OK)
        return status;
    kiln_device_name(device, target, sizeof target);
    if (options->json)
        print_json(call, options, times, target);
    else
        print_text(call, options, times, target);
    return KILN_OK;
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

static int check_options(const cli_options *options)
{
    const char *order = options->order;
    if (order && strcmp(order, "C") != 0 && strcmp(order, "K") != 0)
        return cli_usage_error("map", "--order takes C or K, not '%s'", order);
    return cli_shape_check("map", options);
}

int cli_map_run(const cli_options *options)
{
    cli_call call = CLI_CALL_INIT;
    map_times times = {0};
    times.info = (kiln_call_info)KILN_CALL_INFO_INIT;
    int code = check_options(options);
    if (code != CLI_OK)
        return code;
    double start = cli_now_ms();
    kiln_status status = cli_call_define(&call, options);
    times.define_ms = cli_now_ms() - start;
    if (status == KILN_OK && call.n_out != options->outputs.count) {
        code = cli_usage_error("map", "the kernel has %d output%s, and -o was given %d time%s", call.n_out,
                               call.n_out == 1 ? "" : "s", options->outputs.count,
                               options->outputs.count == 1 ? "" : "s");
        goto out;
    }
    if (status == KILN_OK && (code = cli_numbers_check(&call, options)) != CLI_OK)
        goto out;
    if (status == KILN_OK)
        status = select_target(options->target);
    if (status == KILN_OK)
        status = read_arguments(&call, options, &times);
    if (status == KILN_OK)
        status = run_kernel(&call, options, &times);
    if (status == KILN_OK)
        status = save_outputs(&call, options, &times);
    if (status == KILN_OK)
        status = report(&call, options, &times);
    if (status != KILN_OK)
        code = cli_library_error(options);
out:
    cli_call_free(&call);
    return code;
}
