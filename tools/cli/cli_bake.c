/* cli_bake.c - `kiln bake`: records in, a bundle out. */
#include "bake.h"
#include <stdlib.h>
#include <string.h>

static void print_failures(const bake_plan *plan)
{
    for (int j = 0; j < plan->count; j++)
        if (plan->jobs[j].failure)
            cli_complain("kiln: %s (%s) for %s: %s", plan->jobs[j].name, plan->jobs[j].types,
                         plan->jobs[j].target, plan->jobs[j].failure);
}

static void put_failures(cli_json *json, const bake_plan *plan)
{
    cli_json_open(json, "failed", '[');
    for (int j = 0; j < plan->count; j++) {
        const bake_job *job = &plan->jobs[j];
        if (!job->failure)
            continue;
        cli_json_open(json, NULL, '{');
        cli_json_text(json, "name", job->name);
        cli_json_text(json, "types", job->types);
        cli_json_text(json, "target", job->target);
        cli_json_text(json, "reason", job->failure);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}

static void report(const bake_plan *plan, int made, size_t size, const cli_options *options)
{
    cli_json json = {stdout, false};
    const char *path = options->outputs.items[0];
    if (!options->json) {
        printf("%s: %d of %d kernels, %zu bytes\n", path, made, plan->count, size);
        return;
    }
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "bundle", path);
    cli_json_integer(&json, "bytes", (int64_t)size);
    cli_json_integer(&json, "needed", plan->count);
    cli_json_integer(&json, "baked", made);
    cli_json_integer(&json, "damaged_lines", (int64_t)plan->damaged);
    put_failures(&json, plan);
    cli_json_close(&json, '}');
    putchar('\n');
}

/* What was made, in one file; that much is useful without the rest. */
static int write_bundle(const bake_plan *plan, const cli_options *options)
{
    kiln_bytes *parts = malloc(((size_t)(plan->count > 0 ? plan->count : 0) + 1) * sizeof *parts);
    void *bytes = NULL;
    size_t size = 0;
    int made = 0;
    for (int j = 0; parts && j < plan->count; j++)
        if (plan->jobs[j].made.data)
            parts[made++] = plan->jobs[j].made;
    kiln_status status = parts ? kiln_bundle_merge(&bytes, &size, parts, made) : KILN_ERROR_MEMORY;
    free(parts);
    if (status != KILN_OK)
        return cli_library_error(options);
    bool is_written = cli_file_write(options->outputs.items[0], bytes, size);
    free(bytes);
    if (is_written)
        report(plan, made, size, options);
    return is_written && made == plan->count ? CLI_OK : CLI_FAILED;
}

static int bake_records(bake_plan *plan, const cli_options *options)
{
    int code = bake_read_targets(plan, options);
    if (code == CLI_OK)
        code = bake_read_records(plan, options);
    if (code != CLI_OK || options->check)
        return code == CLI_OK ? bake_check(plan, options) : code;
    code = cli_file_can_write(options->outputs.items[0]) ? bake_run_jobs(plan, options) : CLI_FAILED;
    if (code != CLI_OK)
        return code;
    print_failures(plan);
    return write_bundle(plan, options);
}

static int check_usage(const cli_options *options, bool merges, bool differs)
{
    bool looks = options->check || options->list || differs;
    if (options->outputs.count != (looks ? 0 : 1))
        return cli_usage_error("bake",
                               looks ? "takes no -o where it looks at bundles" : "needs one -o BUNDLE");
    if (differs && options->positional.count != 3)
        return cli_usage_error("bake", "needs diff BUNDLE BUNDLE");
    if (merges && options->positional.count < 2)
        return cli_usage_error("bake", "needs merge BUNDLE... -o BUNDLE");
    return CLI_OK;
}

int cli_bake_run(const cli_options *options)
{
    const char *first = options->positional.items[0];
    bool merges = strcmp(first, "merge") == 0, differs = strcmp(first, "diff") == 0;
    bake_plan plan = {0};
    if (strcmp(first, BAKE_CHILD) == 0)
        return bake_child_run(options);
    int code = check_usage(options, merges, differs);
    if (code != CLI_OK)
        return code;
    if (options->list)
        return bake_list(options);
    if (merges || differs)
        return merges ? bake_merge(options) : bake_diff(options);
    code = bake_records(&plan, options);
    bake_plan_free(&plan);
    return code;
}
