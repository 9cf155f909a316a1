/* cli_bake.c - `kiln bake`: records in, a bundle out. */
#include "bake_parts.h"
#include <stdlib.h>
#include <string.h>

/* ---- what failed: one message a cause ---- */

enum { SHOWN_LABELS = 16 }; /* of a list; of the others their number */

static const char *name_of(const bake_job *job)
{
    return job->name;
}

static const char *types_of(const bake_job *job)
{
    return job->types;
}

static const char *target_of(const bake_job *job)
{
    return job->target;
}

/* True if job b failed for the reason for which a did. */
static bool is_same_cause(const bake_job *a, const bake_job *b)
{
    return a->failure && b->failure && strcmp(a->failure, b->failure) == 0;
}

/* True if one of the jobs from first to before j failed for j's reason, and has j's label (NULL: any). */
static bool is_listed(const bake_plan *plan, int first, int j, const char *(*label_of)(const bake_job *))
{
    const bake_job *jobs = plan->jobs;
    for (int before = first; before < j; before++)
        if (is_same_cause(&jobs[before], &jobs[j]) &&
            (!label_of || strcmp(label_of(&jobs[before]), label_of(&jobs[j])) == 0))
            return true;
    return false;
}

/* The labels of the jobs that failed for the same reason as job first, each once; how many there are. */
static int list_labels(FILE *out, const bake_plan *plan, int first, const char *(*label_of)(const bake_job *))
{
    int count = 0;
    for (int j = first; j < plan->count; j++)
        if (is_same_cause(&plan->jobs[first], &plan->jobs[j]) && !is_listed(plan, first, j, label_of) &&
            count++ < SHOWN_LABELS)
            fprintf(out, "%s%s", count > 1 ? ", " : "", label_of(&plan->jobs[j]));
    if (count > SHOWN_LABELS)
        fprintf(out, " and %d more", count - SHOWN_LABELS);
    return count;
}

/* The list as a text, for free(); NULL without memory. */
static char *labels(int *count, const bake_plan *plan, int first, const char *(*label_of)(const bake_job *))
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    *count = out ? list_labels(out, plan, first, label_of) : 0;
    if (out)
        fclose(out);
    return text;
}

static void print_cause(const bake_plan *plan, int first)
{
    int jobs = 0, names, types, targets;
    char *name = labels(&names, plan, first, name_of), *type = labels(&types, plan, first, types_of),
         *target = labels(&targets, plan, first, target_of);
    const char *reason = plan->jobs[first].failure;
    for (int j = first; j < plan->count; j++)
        jobs += is_same_cause(&plan->jobs[first], &plan->jobs[j]);
    if (!name || !type || !target)
        cli_complain("kiln: %d kernels: %s", jobs, reason);
    else if (names == 1 && types == 1)
        cli_complain("kiln: %s (%s) for %s: %s", name, type, target, reason);
    else
        cli_complain("kiln: %d kernels (%s) for %s: %s", jobs, name, target, reason);
    free(name);
    free(type);
    free(target);
}

static void print_failures(const bake_plan *plan)
{
    for (int j = 0; j < plan->count; j++)
        if (plan->jobs[j].failure && !is_listed(plan, 0, j, NULL))
            print_cause(plan, j);
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

static void report(const bake_plan *plan, int made, size_t size, bool is_written, const cli_options *options)
{
    cli_json json = {stdout, false};
    const char *path = options->outputs.items[0];
    if (!is_written)
        cli_complain(made ? "kiln: %s was not written: %d of %d kernels could not be compiled; --partial "
                            "writes the others"
                          : "kiln: %s was not written: %d of %d kernels could not be compiled",
                     path, plan->count - made, plan->count);
    else if (!options->json && !options->quiet)
        printf("%s: %d of %d kernels, %zu bytes\n", path, made, plan->count, size);
    if (!options->json)
        return;
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "bundle", path);
    cli_json_boolean(&json, "written", is_written);
    cli_json_integer(&json, "bytes", (int64_t)size);
    cli_json_integer(&json, "needed", plan->count);
    cli_json_integer(&json, "baked", made);
    cli_json_integer(&json, "damaged_lines", (int64_t)plan->damaged);
    put_failures(&json, plan);
    cli_json_finish(&json);
}

/* Writes all compiled kernels into one file. An incomplete bundle is written only on request, since nobody
 * should ship one unknowingly. */
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
    bool is_wanted = made == plan->count || (options->partial && made > 0);
    bool is_written = is_wanted && cli_file_write(options->outputs.items[0], bytes, size);
    free(bytes);
    if (is_written || !is_wanted)
        report(plan, made, is_written ? size : 0, is_written, options);
    return is_written ? CLI_OK : CLI_FAILED;
}

static int bake_records(bake_plan *plan, const cli_options *options)
{
    int code = bake_read_targets(plan, options);
    if (code == CLI_OK)
        code = bake_read_records(plan, options);
    if (code != CLI_OK || options->check)
        return code == CLI_OK ? bake_check(plan, options) : code;
    for (int k = 0; k < options->positional.count; k++)
        if (cli_files_are_same(options->outputs.items[0], options->positional.items[k]))
            return cli_usage_error("bake",
                                   "-o %s is the record that is read: the bundle needs a name of its own",
                                   options->outputs.items[0]);
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
    const char *form = merges           ? "merge"
                       : differs        ? "diff"
                       : options->list  ? "--list"
                       : options->check ? "--check"
                                        : "bake";
    return cli_form_check("bake", form, options);
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
