#include "emulated.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "codegen/codegen.h"
#include "device/registry.h"
#include "emulated_source.h"
#include "kernel/algorithm.h"
#include "launch/block.h"
#include "types/dtype.h"

enum { MOST_KERNELS = 4096 };

typedef void (*launcher)(const void *arguments, const unsigned *grid, unsigned threads, unsigned cluster);

/* ---- from the source to something that can be called ---- */

static kiln_status compile(launcher *out, const char *source, const char *entry)
{
    char folder[] = "/tmp/kiln-emulated-XXXXXX", text[64];
    if (!mkdtemp(folder))
        return kn_error(KILN_ERROR_IO, "no folder for an emulated kernel");
    bool failed = !emulated_source_compile(folder, source, entry, "");
    snprintf(text, sizeof text, "%s/kernel.so", folder);
    void *library = failed ? NULL : dlopen(text, RTLD_NOW | RTLD_LOCAL);
    if (library)
        *(void **)out = dlsym(library, "emulated_launch");
    if (failed)
        return kn_error(KILN_ERROR_COMPILE, "the compiler failed: %s/log", folder);
    snprintf(text, sizeof text, "rm -rf %s", folder);
    return library && *out && system(text) == 0 ? KILN_OK
                                                : kn_error(KILN_ERROR_COMPILE, "%s: %s", folder, dlerror());
}

/* Equal sources are compiled once. */
static kiln_status find_launcher(launcher *out, const kn_spec *spec)
{
    static struct {
        char *source;
        launcher launch;
    } known[MOST_KERNELS];
    static int n_known;
    char entry[KN_NAME_MAX + 8];
    kn_str source = KN_STR_INIT;
    kiln_status status = kn_codegen_source(&source, spec, NULL);
    for (int k = 0; k < n_known && status == KILN_OK; ++k)
        if (!strcmp(known[k].source, kn_str_text(&source))) {
            *out = known[k].launch;
            kn_str_free(&source);
            return KILN_OK;
        }
    kn_codegen_entry(entry, sizeof entry, spec->program);
    if (status == KILN_OK)
        status = compile(out, kn_str_text(&source), entry);
    if (status == KILN_OK && n_known < MOST_KERNELS) {
        known[n_known].source = strdup(kn_str_text(&source));
        known[n_known++].launch = *out;
    }
    kn_str_free(&source);
    return status;
}

/* ---- a call ---- */

/* Workspace: values, of structs of 64 bytes at most, and counters that are zero before and after each
 * launch. */
enum { MOST_OF_A_VALUE = 64 };
typedef struct workspace {
    void *partials;
    unsigned *counters;
} workspace;

typedef struct running {
    const kn_launch_input *input;
    const kn_binding *binding;
    const kiln_arg *in;
    launcher launch;
    workspace w;
    int64_t partials; /* of all launches, and counters */
    int counters;
} running;

static void put_parameters(unsigned char *block, const running *r, const kn_part *part)
{
    const kn_spec *spec = r->input->spec;
    for (int k = 0; k < spec->program->n_in + spec->program->n_out; ++k) {
        unsigned char *at = block + part->layout->param_at[k];
        const kn_operand *o = &spec->operand[k];
        if (o->array >= 0) {
            const char *address = r->binding->array[k]->data + part->space->offset[o->array];
            memcpy(at, &address, sizeof address);
        } else if (o->pass == KN_PASS_RAW) {
            memcpy(at, &r->binding->array[k]->data, sizeof r->binding->array[k]->data);
        } else if (o->pass == KN_PASS_SCALAR) {
            kn_scalar_store(at, o->dtype, &r->in[k], spec->program->param[k].name);
        }
    }
}

static kiln_status count_workspace(void *user, const kn_part *part, const kn_placement *p)
{
    running *r = user;
    (void)part;
    r->partials = p->partials > r->partials ? p->partials : r->partials;
    r->counters = p->counters > r->counters ? p->counters : r->counters;
    return KILN_OK;
}

static kiln_status run_launch(void *user, const kn_part *part, const kn_placement *p)
{
    const running *r = user;
    bool is_zero = true;
    unsigned char *block = aligned_alloc(64, ((size_t)part->layout->size + 63) / 64 * 64);
    memset(block, 0, (size_t)part->layout->size);
    kn_block_fill(block, r->input, part, p);
    put_parameters(block, r, part);
    if (part->layout->workspace_at >= 0)
        memcpy(block + part->layout->workspace_at, &r->w, sizeof r->w);
    r->launch(block, p->grid, p->block, p->cluster ? p->cluster : 1);
    free(block);
    for (int k = 0; k < p->counters; ++k)
        is_zero = is_zero && r->w.counters[k] == 0;
    return is_zero ? KILN_OK : kn_error(KILN_ERROR_INTERNAL, "a counter is not left at zero");
}

static kiln_status run_launches(const kn_part *whole, running *r)
{
    kiln_status status = kn_part_each_launch(whole, count_workspace, r);
    r->w.partials = aligned_alloc(64, (size_t)(r->partials + 1) * MOST_OF_A_VALUE);
    r->w.counters = calloc((size_t)r->counters + 1, sizeof *r->w.counters);
    if (status == KILN_OK)
        status = kn_part_each_launch(whole, run_launch, r);
    free(r->w.partials);
    free(r->w.counters);
    return status;
}

bool emulated_baseline;
int emulated_baselines;
const char *emulated_kind = "none";

/* The baseline tier where it is wanted, and the kind writes one or another keeps its order. */
static bool takes_baseline(kn_spec *out, const kn_resolved *r, int block)
{
    bool is_wanted = emulated_baseline || kn_tiers_mode() == KILN_FORMS_QUICK;
    bool takes = is_wanted && kn_resolved_make_baseline(out, r, block) &&
                 (out->schedule.baseline || out->schedule.kind->keeps_order);
    emulated_baselines += takes;
    return takes;
}

/* Runs one program, whose arrays are bound. */
static kiln_status run_program(const kn_binding *b, const kiln_arg *in, const kiln_call_options *options,
                               const kn_target *target)
{
    static kn_resolved r; /* large */
    kn_layout layout;
    kn_spec baseline;
    launcher launch = NULL;
    kiln_status status = kn_resolve(&r, b, options, target);
    bool is_baseline = status == KILN_OK && takes_baseline(&baseline, &r, options ? options->block : 0);
    const kn_spec *spec = is_baseline ? &baseline : &r.spec,
                  *order = is_baseline && spec->schedule.kind->keeps_order ? &r.spec : NULL;
    emulated_kind = status == KILN_OK ? r.spec.schedule.kind->name : "none";
    if (status == KILN_OK)
        status = kn_layout_make(&layout, spec);
    if (status == KILN_OK)
        status = find_launcher(&launch, spec);
    if (status != KILN_OK)
        return status;
    kn_raw_shape raw[KN_MAX_PARAMS];
    for (int k = 0; k < b->program->n_in + b->program->n_out; ++k) {
        const kiln_array *a = b->array[k];
        if (a)
            raw[k] = (kn_raw_shape){a->size, a->ndim, a->shape, a->strides};
    }
    const kn_launch_input input = {spec, &r.space, &r.launch_params, order, r.ndim, r.shape, raw, NULL,
                                   NULL, false};
    const kn_part whole = {spec, &layout, &r.launch_params, &r.space, &r.space, order};
    return run_launches(&whole, &(running){.input = &input, .binding = b, .in = in, .launch = launch});
}

/* Runs a function, of the host: its memory is the emulated kernels', too. */
static kiln_status run_function(const kn_lowered_part *part, const kiln_arg *number)
{
    const void *value[KN_MAX_PARAMS];
    unsigned char bytes[KN_MAX_PARAMS][16];
    kn_device *host = NULL;
    kiln_status status = kn_device_get(&host, KILN_DEVICE_HOST);
    for (int k = 0; k < part->n_params && status == KILN_OK; ++k) {
        const kiln_array *view = part->binding.array[k];
        if (!view)
            status = kn_scalar_store(bytes[k], part->binding.operand[k].dtype, &number[k], part->label);
        value[k] = view ? (const void *)view->data : bytes[k];
    }
    return status == KILN_OK ? part->function(host, value, NULL) : status;
}

/* Runs a step of an expression: views of buffers have offsets in place of addresses. */
static kiln_status run_step(kn_lowered_part *part, const kiln_arg *in, unsigned char *const *buffer,
                            const kn_target *target)
{
    kiln_arg number[KN_MAX_PARAMS];
    for (int k = 0; k < kn_lowered_params(part); ++k) {
        const kn_source *from = &part->source[k];
        kiln_array *view = part->binding.array[k];
        if (from->kind == KN_FROM_BUFFER)
            view->data = (char *)buffer[from->index] + (intptr_t)view->data;
        if (!view)
            number[k] = from->kind == KN_FROM_NUMBER ? from->number : in[from->index];
    }
    if (!part->program)
        return run_function(part, number);
    return run_program(&part->binding, number, &part->options, target);
}

int emulated_steps;

/* Bytes behind each buffer, which no step may change. */
enum { GUARD = 4096, GUARD_BYTE = 0x5b };

static unsigned char *take_buffer(size_t size)
{
    size_t bytes = (size + GUARD + 511) / 256 * 256;
    unsigned char *buffer = aligned_alloc(256, bytes);
    memset(buffer + size, GUARD_BYTE, bytes - size);
    return buffer;
}

static kiln_status check_buffers(const kn_lowered *lowered, unsigned char *const *buffer, int step)
{
    for (int k = 0; k < lowered->n_buffers; ++k)
        for (size_t at = lowered->buffer[k].size; at < lowered->buffer[k].size + GUARD; ++at)
            if (buffer[k][at] != GUARD_BYTE)
                return kn_error(KILN_ERROR_INTERNAL,
                                "step %d (%s) writes behind buffer %d, of %zu bytes, at %zu", step,
                                lowered->part[step].label, k, lowered->buffer[k].size, at);
    return KILN_OK;
}

static kiln_status run_steps(const kiln_kernel *kernel, kiln_array **out, const kiln_arg *in,
                             const kiln_call_options *options, const kn_target *target)
{
    const kiln_call_options none = KILN_CALL_OPTIONS_INIT;
    const kn_lowering_call call = {out, in, options ? options : &none, NULL, target, false, false};
    kn_lowered lowered = {0};
    kiln_status status = kn_lower_call(&lowered, kernel, &call);
    unsigned char **buffer = calloc((size_t)lowered.n_buffers + 1, sizeof *buffer);
    for (int k = 0; k < lowered.n_buffers; ++k)
        buffer[k] = take_buffer(lowered.buffer[k].size);
    for (int p = 0; p < lowered.n_parts && status == KILN_OK; ++p) {
        status = run_step(&lowered.part[p], in, buffer, target);
        if (status == KILN_OK)
            status = check_buffers(&lowered, buffer, p);
    }
    emulated_steps = lowered.n_parts;
    for (int k = 0; k < lowered.n_buffers; ++k)
        free(buffer[k]);
    free(buffer);
    kn_lowered_free(&lowered);
    return status;
}

kiln_status emulated_call(const char *architecture, kiln_kernel *kernel, kiln_array **out, int n_out,
                          const kiln_arg *in, int n_in, const kiln_call_options *options)
{
    kn_binding b;
    kn_target target;
    bool is_given = out[0] != NULL;
    kiln_status status = is_given ? KILN_OK : kiln_kernel_call(kernel, out, n_out, in, n_in, options);
    for (int j = 0; j < n_out && !is_given && status == KILN_OK; ++j)
        memset(kiln_array_data(out[j]), 0x5b, kiln_array_nbytes(out[j]));
    if (status == KILN_OK)
        status = kn_target_parse(&target, architecture);
    if (status == KILN_OK && kernel->algorithm)
        return run_steps(kernel, out, in, options, &target);
    if (status == KILN_OK)
        status = kn_bind(&b, kernel->program, out, n_out, in, n_in);
    return status == KILN_OK ? run_program(&b, in, options, &target) : status;
}
