/* Writes the specialisations that a call used into the record. */
#include "kernel/used.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "store/record.h"
#include "schedules/spec_text.h"

/* Specialisations without target, in the order in which they came, and the targets of each. Few: a call
 * has one or two for all targets. */
typedef struct used {
    char *portable;
    kn_str targets;
} used;

typedef struct gathered {
    used *items;
    int count, capacity;
} gathered;

static void free_gathered(gathered *g)
{
    for (int i = 0; i < g->count; i++) {
        kn_free(g->items[i].portable);
        kn_str_free(&g->items[i].targets);
    }
    kn_free(g->items);
}

static used *find(gathered *g, const char *portable)
{
    for (int i = 0; i < g->count; i++)
        if (strcmp(g->items[i].portable, portable) == 0)
            return &g->items[i];
    if (!kn_grow(&g->items, &g->capacity, g->count, sizeof *g->items))
        return NULL;
    used *item = &g->items[g->count];
    *item = (used){kn_strdup(portable), KN_STR_INIT};
    if (!item->portable)
        return NULL;
    g->count++;
    return item;
}

static kiln_status add_line(gathered *g, const char *line, const kn_target *target)
{
    kn_str portable = KN_STR_INIT;
    char text[48];
    kiln_status status = kn_spec_make_portable(&portable, line);
    used *item = status == KILN_OK ? find(g, kn_str_text(&portable)) : NULL;
    kn_str_free(&portable);
    if (status == KILN_OK && !item)
        status = kn_error_memory("a record");
    if (status != KILN_OK)
        return status;
    kn_target_format(target, text, sizeof text);
    const char *listed = kn_str_text(&item->targets);
    size_t length = strlen(text), all = item->targets.length;
    if (all < length || strcmp(listed + all - length, text) != 0)
        kn_str_printf(&item->targets, "%s%s", item->targets.length > 0 ? " " : "", text);
    return kn_str_status(&item->targets, "a record");
}

static kiln_status add_spec(gathered *g, const kn_spec *spec)
{
    kn_str line = KN_STR_INIT;
    kn_spec_format(&line, spec);
    kiln_status status = kn_str_status(&line, "a specialisation");
    if (status == KILN_OK)
        status = add_line(g, kn_str_text(&line), &spec->target);
    kn_str_free(&line);
    return status;
}

/* The baseline tier follows the optimised one: it serves the layouts that were not recorded. */
static kiln_status add_resolved(gathered *g, const kn_resolved *r, int block)
{
    kn_spec baseline;
    if (kn_space_output_size(&r->space) == 0)
        return KILN_OK;
    kiln_status status = add_spec(g, &r->spec);
    if (status == KILN_OK && kn_resolved_make_baseline(&baseline, r, block) && !baseline.schedule.baseline)
        status = add_spec(g, &baseline);
    return status;
}

static void put_lines(kn_str *out, const gathered *g)
{
    for (int i = 0; i < g->count; i++)
        kn_record_format(out, kn_str_text(&g->items[i].targets), g->items[i].portable);
}

/* ---- calls ---- */

typedef struct question {
    const kiln_kernel *kernel;
    kiln_array *const *outs;
    const kiln_arg *in;
    const kiln_call_options *options;
    int n_out, n_in;
    bool is_text;
} question;

static kiln_status ask(gathered *g, const question *q, const char *target)
{
    kn_inspected inspected = KN_INSPECTED_INIT;
    kiln_status status =
        kn_inspect(&inspected, q->kernel, q->outs, q->n_out, q->in, q->n_in, q->options, target, q->is_text);
    for (const kn_inspected *one = &inspected; one; one = one->next)
        for (int p = 0; p < one->count && status == KILN_OK; p++)
            status = add_resolved(g, one->resolved[p], q->options ? q->options->block : 0);
    kn_inspected_free(&inspected);
    return status;
}

/* All known targets, the device in the place of its own; behind them one that is newer than the table. */
static kiln_status ask_all(gathered *g, const question *q, const kn_device *device)
{
    kn_target target;
    char name[32] = "";
    int answers = 0;
    bool is_known = true;
    kiln_status failure = KILN_OK;
    if (device)
        kiln_device_name(device->id, name, sizeof name); /* rather than its architecture */
    for (int t = 0; is_known || name[0]; t++) {
        is_known = kn_target_known(&target, t);
        bool is_device = name[0] && (!is_known || kn_target_equal(&target, &device->target));
        if (!is_known && !is_device)
            break;
        kiln_status status = ask(g, q, is_device ? name : target.architecture);
        answers += status == KILN_OK;
        failure = status != KILN_OK ? status : failure;
        name[0] = is_device ? '\0' : name[0];
        if (status == KILN_ERROR_MEMORY || (is_device && status != KILN_OK))
            return status;
    }
    return answers > 0 ? KILN_OK : failure;
}

kiln_status kn_used_by_call(kn_str *lines, const kiln_kernel *kernel, kiln_array *const *outs, int n_out,
                            const kiln_arg *in, int n_in, const kiln_call_options *options,
                            const kn_device *device, bool is_text)
{
    gathered g = {NULL, 0, 0};
    const question q = {kernel, outs, in, options, n_out, n_in, is_text};
    kiln_status status = ask_all(&g, &q, device);
    if (status == KILN_OK) {
        put_lines(lines, &g);
        status = kn_str_status(lines, "a record");
    }
    free_gathered(&g);
    return status;
}

void kn_used_write(const kiln_kernel *kernel, kiln_array *const *outs, int n_out, const kiln_arg *in,
                   int n_in, const kiln_call_options *options, const kn_device *device)
{
    const char *file = kn_record_file();
    kn_str lines = KN_STR_INIT;
    kn_error_state before;
    if (!file)
        return;
    kn_error_save(&before);
    if (kn_used_by_call(&lines, kernel, outs, n_out, in, n_in, options, device, false) == KILN_OK)
        kn_record_write(file, kn_str_text(&lines));
    else
        kn_log(KILN_LOG_INFO, "KILN_RECORD: a call of %s is not recorded: %s", kiln_kernel_name(kernel),
               kiln_error_message());
    kn_error_restore(&before);
    kn_str_free(&lines);
}

/* ---- modules, which are the same for all devices ---- */

static kiln_status gather_module(gathered *g, const kn_compile_job *job)
{
    kn_target target;
    kiln_status status = KILN_OK;
    for (int t = 0; kn_target_known(&target, t) && status == KILN_OK; t++)
        if (target.backend == job->target.backend)
            status = add_line(g, kn_str_text(&job->what), &target);
    return status;
}

void kn_used_write_module(const kn_compile_job *job)
{
    const char *file = kn_record_file();
    gathered g = {NULL, 0, 0};
    kn_str lines = KN_STR_INIT;
    kn_error_state before;
    if (!file)
        return;
    kn_error_save(&before);
    if (gather_module(&g, job) == KILN_OK) {
        put_lines(&lines, &g);
        kn_record_write(file, kn_str_text(&lines));
    }
    kn_error_restore(&before);
    kn_str_free(&lines);
    free_gathered(&g);
}
