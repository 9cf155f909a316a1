/* cli_report.c - what `kiln map`, `kiln reduce` and `kiln eval` print of a run: what it took, and results
 * that no file takes. */
#include "cli.h"
#include <stdlib.h>
#include <string.h>

static const char *const origin_names[] = {"nowhere", "memory", "disk", "compiler"};

static const char *const form_names[] = {"none", "quick", "best"};

/* "quick, the best one is still to come" */
static const char *form_note(const kiln_call_info *info)
{
    return info->form != KILN_FORM_QUICK ? "best form"
           : info->pending > 0           ? "quick form, the best one is being compiled"
                                         : "quick form";
}

static const char *origin_name(kiln_origin origin)
{
    return origin_names[origin <= KILN_ORIGIN_COMPILER ? origin : KILN_ORIGIN_NONE];
}

/* ---- JSON ---- */

static void put_times(cli_json *json, const cli_options *options, const cli_times *times)
{
    cli_json_open(json, "times_ms", '{');
    cli_json_number(json, "read", times->read_ms);
    cli_json_number(json, "define", times->define_ms);
    cli_json_number(json, "call", times->call_ms);
    cli_json_number(json, "generate", times->info.generate_ms);
    cli_json_number(json, "compile", times->info.compile_ms);
    cli_json_number(json, "cache", times->info.cache_ms);
    cli_json_number(json, "load", times->info.load_ms);
    cli_json_number(json, "finish", times->finish_ms);
    cli_json_number(json, "write", times->write_ms);
    if (options->repeat) {
        cli_json_number(json, "repeat_median", times->repeat.device_median_us / 1e3);
        cli_json_number(json, "repeat_best", times->repeat.device_min_us / 1e3);
        cli_json_number(json, "repeat_cpu_median", times->repeat.cpu_median_us / 1e3);
        cli_json_number(json, "repeat_cpu_best", times->repeat.cpu_min_us / 1e3);
    }
    cli_json_close(json, '}');
    if (options->repeat) {
        cli_json_integer(json, "bytes_read", (int64_t)times->repeat.bytes_read);
        cli_json_integer(json, "bytes_written", (int64_t)times->repeat.bytes_written);
        cli_json_number(json, "bytes_per_second", times->repeat.bytes_per_second);
    }
}

static void put_output(cli_json *json, const cli_call *call, int j, const char *values)
{
    cli_json_open(json, NULL, '{');
    if (call->file[j])
        cli_json_text(json, "file", call->file[j]);
    else
        cli_json_text(json, "name", kiln_kernel_out_name(call->kernel, j));
    cli_json_array(json, call->out[j]);
    if (!call->file[j])
        cli_json_text(json, "text", values);
    cli_json_close(json, '}');
}

static void print_json(FILE *file, const cli_call *call, const cli_options *options, const cli_times *times,
                       const char *target, char *const *values, const char *explanation)
{
    cli_json json = {file, false};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "target", target);
    cli_json_text(&json, "origin", origin_name(times->info.origin));
    cli_json_text(&json, "form", form_names[times->info.form]);
    cli_json_integer(&json, "pending", times->info.pending);
    cli_json_integer(&json, "code_bytes", (int64_t)times->info.code_bytes);
    put_times(&json, options, times);
    if (explanation)
        cli_json_text(&json, "explanation", explanation);
    cli_json_open(&json, "outputs", '[');
    for (int j = 0; j < call->n_out; j++)
        put_output(&json, call, j, values[j]);
    cli_json_close(&json, ']');
    cli_json_finish(&json);
}

/* ---- text ---- */

static void print_output(const cli_call *call, int j)
{
    const kiln_array *array = call->out[j];
    const int64_t *shape = kiln_array_shape(array);
    fprintf(stderr, "  %s: %s [", call->file[j] ? call->file[j] : kiln_kernel_out_name(call->kernel, j),
            kiln_dtype_name(kiln_array_dtype(array)));
    for (int axis = 0; axis < kiln_array_ndim(array); axis++)
        fprintf(stderr, "%s%lld", axis ? ", " : "", (long long)shape[axis]);
    fprintf(stderr, "]\n");
}

static bool ends_line(const char *text)
{
    size_t length = strlen(text);
    return length == 0 || text[length - 1] == '\n';
}

/* On the host both clocks show the same. */
static void print_repeat(const kiln_benchmark *b)
{
    fprintf(stderr, "one of %d more calls: %.4f ms (median), %.4f ms (best)", b->calls,
            b->device_median_us / 1e3, b->device_min_us / 1e3);
    if (KILN_DEVICE_IS_CUDA(b->device))
        fprintf(stderr, ", and %.4f ms (median) of the processor", b->cpu_median_us / 1e3);
    fprintf(stderr, "; %.3f MB read and %.3f MB written, %.2f GB/s\n", (double)b->bytes_read / 1e6,
            (double)b->bytes_written / 1e6, b->bytes_per_second / 1e9);
}

static void print_text(const cli_call *call, const cli_options *options, const cli_times *times,
                       const char *target, const char *explanation)
{
    const kiln_call_info *info = &times->info;
    fprintf(stderr, "target: %s\nkernel: %s, from %s, %zu bytes, %s\n", target,
            kiln_kernel_name(call->kernel), origin_name(info->origin), info->code_bytes, form_note(info));
    fprintf(stderr,
            "times in ms: read %.3f, define %.3f, call %.3f (generate %.3f, compile %.3f, cache %.3f, load "
            "%.3f), "
            "finish %.3f, write %.3f\n",
            times->read_ms, times->define_ms, times->call_ms, info->generate_ms, info->compile_ms,
            info->cache_ms, info->load_ms, times->finish_ms, times->write_ms);
    if (options->repeat)
        print_repeat(&times->repeat);
    if (explanation)
        fprintf(stderr, "%s%s", explanation, ends_line(explanation) ? "" : "\n");
}

/* ---- both ---- */

/* The texts of results without a file; the others stay NULL. */
static kiln_status show_values(char **values, const cli_call *call)
{
    kiln_print_options how = KILN_PRINT_OPTIONS_INIT;
    kiln_status status = KILN_OK;
    how.threshold = CLI_SCREENFUL;
    for (int j = 0; j < call->n_out && status == KILN_OK; j++)
        if (!call->file[j])
            status = kiln_array_to_string(&values[j], call->out[j], &how);
    return status;
}

static bool is_standard_output(const cli_call *call)
{
    for (int j = 0; j < call->n_out; j++)
        if (call->file[j] && (strcmp(call->file[j], "-") == 0 || strncmp(call->file[j], "-:", 2) == 0))
            return true;
    return false;
}

/* On a terminal each result stands below the line of the report that names it. */
static void print_outputs(FILE *file, const cli_call *call, char *const *values, bool is_quiet)
{
    for (int j = 0; j < call->n_out; j++) {
        bool is_cut = values[j] && kiln_array_size(call->out[j]) > CLI_SCREENFUL;
        if (!is_quiet)
            print_output(call, j);
        if (values[j])
            fprintf(file, "%s\n", values[j]);
        fflush(file);
        if (is_cut && !is_quiet)
            fputs("  (shown without its middle; -o FILE takes all of it)\n", stderr);
    }
}

/* Files of a glob are not shown. */
static void print_files(FILE *file, const cli_call *call, const cli_options *options, const cli_times *times,
                        const char *target)
{
    cli_json json = {file, false};
    if (!options->json) {
        fprintf(stderr,
                "target: %s\nkernel: %s, %d file%s, compiled %d time%s\n"
                "times in ms: read %.3f, define %.3f, call %.3f, finish %.3f, write %.3f\n",
                target, kiln_kernel_name(call->kernel), times->files, times->files == 1 ? "" : "s",
                times->compiled, times->compiled == 1 ? "" : "s", times->read_ms, times->define_ms,
                times->call_ms, times->finish_ms, times->write_ms);
        return;
    }
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "target", target);
    cli_json_integer(&json, "files", times->files);
    cli_json_integer(&json, "compiled", times->compiled);
    put_times(&json, options, times);
    cli_json_finish(&json);
}

kiln_status cli_report(const cli_call *call, const cli_options *options, const cli_times *times,
                       const char *explanation)
{
    char target[16];
    kiln_device device;
    FILE *file = is_standard_output(call) ? stderr : stdout;
    char **values = calloc((size_t)call->n_out + 1, sizeof *values);
    kiln_status status = values ? kiln_device_current(&device) : KILN_ERROR_MEMORY;
    bool is_quiet = options->quiet && !options->json;
    if (status == KILN_OK && times->files == 0)
        status = show_values(values, call);
    if (status == KILN_OK) {
        kiln_device_name(device, target, sizeof target);
        if (times->files > 0 && !is_quiet)
            print_files(file, call, options, times, target);
        else if (options->json)
            print_json(file, call, options, times, target, values, explanation);
        else if (!is_quiet)
            print_text(call, options, times, target, explanation);
        if (!options->json && times->files == 0)
            print_outputs(file, call, values, is_quiet);
    }
    for (int j = 0; values && j < call->n_out; j++)
        free(values[j]);
    free(values);
    return status;
}
