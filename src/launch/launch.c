/* Launch plans: made from a specialisation's layout, patched with a call's arguments, and launched. */
#include "launch/launch.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "device/counters.h"
#include "launch/block.h"
#include "launch/check.h"
#include "types/dtype.h"

enum { PLAIN_SHARED = 48 << 10 /* bytes of shared memory that a block may have without a request */ };

/* A place in an argument block that a call fills: with an address plus `offset` bytes, or with the bytes
 * of a value. */
typedef struct patch {
    int at, param;  /* at: offset in the block; param: the parameter */
    int size;       /* bytes of a value; 0: an address */
    int64_t offset; /* of an address */
} patch;

/* The launch of one part of the space. */
typedef struct part_launch {
    kn_function *function;
    kn_launch launch;
    kn_loop_nest *loop_nest; /* host: set if the space is not one contiguous range */
    int shared_percent;
    int n_patches;
    patch *patch;
    unsigned char *block; /* the argument block without the call's values; behind the patches */
} part_launch;

struct kn_launch_plan {
    kn_device *device;
    int largest_block; /* bytes of an argument block */
    /* Workspace of the launches, which use it one after the other: values of the reduce stage's type, their
     * bytes in all (0: none), counters, and the offset of both addresses in a block (-1: none). */
    int64_t partials;
    size_t partials_size;
    int counters, workspace_at;
    kiln_dtype partial; /* KILN_DTYPE_NONE: a struct, whose size the function knows */
    int n_parts;
    part_launch *part;
    kn_check check;
};

/* ---- making ---- */

static void set_patches(part_launch *s, const kn_launch_input *in, const kn_part *part)
{
    const kn_spec *spec = in->spec;
    for (int k = 0; k < spec->program->n_in + spec->program->n_out; ++k) {
        const kn_operand *o = &spec->operand[k];
        patch *p = &s->patch[s->n_patches++];
        *p = (patch){.at = part->layout->param_at[k], .param = k};
        if (o->array >= 0)
            p->offset = part->space->offset[o->array];
        else if (o->pass == KN_PASS_SCALAR)
            p->size = kn_dtype_info_of(o->dtype)->size;
        else if (o->pass == KN_PASS_STRUCT)
            p->size = o->struct_size;
    }
}

static void set_launch(part_launch *s, const kn_program *program, const kn_part *part,
                       const kn_placement *placed)
{
    s->loop_nest = placed->loop_nest;
    s->shared_percent = placed->shared_percent;
    s->launch = (kn_launch){.grid = {placed->grid[0], placed->grid[1], placed->grid[2]},
                            .block = {placed->block, 1, 1},
                            .shared_bytes = placed->shared_bytes,
                            .cluster = {placed->cluster, 0, 0},
                            .is_open = program->preamble[0] || program->n_options > 0,
                            .block_size = (size_t)part->layout->size,
                            .elements = placed->size,
                            .grain = placed->grain};
}

/* The size of a value of the program's reduce stage. Only the compiler knows the size of a user's struct:
 * the code has an object of that type (codegen). */
static kiln_status find_partials_size(kn_launch_plan *plan, kn_function *function)
{
    const kn_backend *backend = plan->device->backend;
    void *unused = NULL;
    size_t size = 0;
    kiln_status status = KILN_OK;
    if (plan->partials > 0 && plan->partial == KILN_DTYPE_NONE)
        status = backend->module_global(backend->function_module(function), KN_VALUE_SYMBOL, &unused, &size);
    else if (plan->partials > 0)
        size = (size_t)kn_dtype_info_of(plan->partial)->size;
    plan->partials_size = size * (size_t)plan->partials;
    return status;
}

static kiln_status add_workspace(kn_launch_plan *plan, const kn_spec *spec, const kn_placement *placed)
{
    if (placed->counters > KN_MAX_COUNTERS ||
        (plan->workspace_at < 0 && (placed->counters || placed->partials)))
        return kn_error(KILN_ERROR_INTERNAL, "the schedule '%s' asks for %d counters and %lld partials",
                        spec->schedule.kind->name, placed->counters, (long long)placed->partials);
    plan->counters = placed->counters > plan->counters ? placed->counters : plan->counters;
    plan->partials = placed->partials > plan->partials ? placed->partials : plan->partials;
    if (placed->partials > 0)
        plan->partial = kn_spec_value_dtype(spec, kn_spec_reduced_value(spec));
    return KILN_OK;
}

/* A new launch, with its patches and its block in one allocation: a call reads both. NULL: no memory. */
static part_launch *new_part(kn_launch_plan *plan, size_t block_size, size_t n_patches)
{
    part_launch *grown = kn_realloc(plan->part, (size_t)(plan->n_parts + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    plan->part = grown;
    part_launch *s = &grown[plan->n_parts];
    *s = (part_launch){.patch = kn_calloc(1, n_patches * sizeof *s->patch + block_size)};
    ++plan->n_parts;
    if (!s->patch)
        return NULL;
    s->block = (unsigned char *)(s->patch + n_patches);
    return s;
}

/* The state while launches are added. */
typedef struct adding {
    kn_launch_plan *plan;
    const kn_launch_input *input;
} adding;

static kiln_status add_launch(void *user, const kn_part *part, const kn_placement *placed)
{
    const adding *a = user;
    const kn_program *program = a->input->spec->program;
    int size = part->layout->size;
    part_launch *s = new_part(a->plan, (size_t)size, (size_t)program->n_in + (size_t)program->n_out);
    if (!s) {
        kn_loop_nest_free(placed->loop_nest);
        return kn_error_memory("a launch plan");
    }
    set_patches(s, a->input, part);
    set_launch(s, program, part, placed);
    kn_block_fill(s->block, a->input, part, placed);
    return add_workspace(a->plan, a->input->spec, placed);
}

kiln_status kn_launch_plan_set_function(kn_launch_plan *plan, kn_function *function, bool waits_for_kernels)
{
    kiln_status status = find_partials_size(plan, function);
    for (int k = 0; k < plan->n_parts && status == KILN_OK; ++k) {
        part_launch *s = &plan->part[k];
        s->function = function;
        s->launch.is_dependent = waits_for_kernels;
        if (s->launch.shared_bytes > PLAIN_SHARED || s->shared_percent > 0)
            status = plan->device->backend->function_allow_shared(function, s->launch.shared_bytes,
                                                                  s->shared_percent);
    }
    return status;
}

kiln_status kn_launch_plan_create(kn_launch_plan **out, const kn_launch_input *input)
{
    kn_layout layout;
    kiln_status status = kn_layout_make(&layout, input->spec);
    if (status != KILN_OK)
        return status;
    kn_launch_plan *plan = kn_calloc(1, sizeof *plan);
    if (!plan)
        return kn_error_memory("a launch plan");
    plan->device = input->device;
    plan->largest_block = layout.size;
    plan->workspace_at = layout.workspace_at;
    status = kn_check_find(&plan->check, input);
    const kn_part whole = {input->spec,  &layout,      input->launch_params,
                           input->space, input->space, input->order};
    if (status == KILN_OK)
        status = kn_part_each_launch(&whole, add_launch, &(adding){plan, input});
    if (status == KILN_OK && input->function)
        status = kn_launch_plan_set_function(plan, input->function, input->waits_for_kernels);
    if (status != KILN_OK) {
        kn_launch_plan_free(plan);
        return status;
    }
    *out = plan;
    return KILN_OK;
}

void kn_launch_plan_free(kn_launch_plan *plan)
{
    if (!plan)
        return;
    for (int k = 0; k < plan->n_parts; ++k) {
        kn_free(plan->part[k].patch);
        kn_loop_nest_free(plan->part[k].loop_nest);
    }
    kn_free(plan->part);
    kn_free(plan);
}

/* ---- running ---- */

/* The two workspace fields of the block. */
typedef struct workspace {
    void *partials;
    unsigned *counters;
} workspace;

static kiln_status take_workspace(workspace *out, const kn_launch_plan *plan, void *stream)
{
    uint64_t capture = 0;
    kn_device *device = plan->device;
    kiln_status status = kn_device_capture_of(device, stream, &capture);
    if (status == KILN_OK && plan->partials_size > 0)
        status = kn_memory_alloc_in(&out->partials, device, plan->partials_size, stream, capture);
    if (status == KILN_OK && plan->counters > 0)
        status = kn_counters_take(&out->counters, device, plan->counters, stream, capture);
    return status;
}

/* Puts the values of a call into the block of a launch. */
static void fill_block(unsigned char *block, const part_launch *s, const void *const *value)
{
    memcpy(block, s->block, s->launch.block_size);
    for (int k = 0; k < s->n_patches; ++k) {
        const patch *p = &s->patch[k];
        if (p->size > 0) {
            memcpy(block + p->at, value[p->param], (size_t)p->size);
        } else {
            const char *address = (const char *)value[p->param] + p->offset;
            memcpy(block + p->at, &address, sizeof address);
        }
    }
}

/* w: NULL if the plan has no workspace. */
static kiln_status run_parts(const kn_launch_plan *plan, const void *const *value, void *stream,
                             const workspace *w)
{
    _Alignas(16) unsigned char block[plan->largest_block];
    kiln_status status = KILN_OK;
    for (int k = 0; k < plan->n_parts && status == KILN_OK; ++k) {
        const part_launch *s = &plan->part[k];
        kn_launch launch = s->launch;
        fill_block(block, s, value);
        if (w)
            memcpy(block + plan->workspace_at, w, sizeof *w);
        launch.block_data = block;
        launch.loop_nest = s->loop_nest;
        status = plan->device->backend->launch(s->function, &launch, stream);
    }
    return status;
}

/* The partials are freed at once: later work of the stream may reuse them, since it runs behind these
 * launches. */
static kiln_status run_with_workspace(const kn_launch_plan *plan, const void *const *value, void *stream)
{
    workspace w = {NULL, NULL};
    kiln_status status = take_workspace(&w, plan, stream);
    if (status == KILN_OK)
        status = run_parts(plan, value, stream, &w);
    kn_memory_free(plan->device, w.partials, plan->partials_size, stream);
    kn_counters_give(plan->device, w.counters, plan->counters);
    return status;
}

kiln_status kn_launch_plan_run(const kn_launch_plan *plan, const void *const *value, void *stream)
{
    bool has_workspace = plan->partials_size > 0 || plan->counters > 0;
    kiln_status status =
        has_workspace ? run_with_workspace(plan, value, stream) : run_parts(plan, value, stream, NULL);
    kn_check *check = (kn_check *)(uintptr_t)&plan->check; /* it learns that the report has a flag */
    if (status == KILN_OK && check->report)
        status = kn_check_report(check, plan->device, stream);
    return status;
}
