/* Runs plans of several steps: takes their buffers, queues the steps, gives the buffers back. */
#include "kernel/plan_steps.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/nvtx.h"
#include "program/program.h"
#include "device/device.h"
#include "device/memory.h"
#include "types/dtype.h"

enum { SCALAR_BYTES = 16 };

void kn_plan_steps_free(kn_plan_steps *s)
{
    if (!s)
        return;
    for (int p = 0; p < s->n_steps; ++p) {
        kn_plan_launch_free(&s->step[p].launch);
        kn_program_free(s->step[p].program);
    }
    kn_free(s->step);
    kn_free(s->buffer);
    kn_free(s->taken);
    kn_free(s->given);
    kn_free(s->result);
    kn_plan_steps_free(s->quick);
    kn_free(s);
}

void kn_plan_steps_look(const kn_plan_steps *s, bool wants_optimised, kn_build_info *info)
{
    for (int p = 0; p < s->n_steps; ++p)
        if (!s->step[p].function)
            kn_plan_launch_look(&s->step[p].launch, wants_optimised, info);
}

/* The values that a call passes to its steps. */
typedef struct given {
    kiln_array *const *out;
    uint64_t fresh;
    const kiln_arg *in, *computed;
} given;

/* Stores a number that the call computed; errors name the place where it was computed. */
static kiln_status store_computed(void *to, const kn_plan_steps *c, const kn_plan_step *p, int k,
                                  const given *from)
{
    const kn_source *s = &p->source[k];
    const kiln_arg number = kn_bound_number(s->bound, &from->computed[s->index], p->dtype[k]);
    kiln_status status =
        (p->casts ? kn_scalar_convert : kn_scalar_store)(to, p->dtype[k], &number, KN_COMPUTED_NUMBER);
    return status == KILN_OK ? KILN_OK : c->kernel->algorithm->refuse(c->kernel->context, s->index, from->in);
}

static kiln_status gather(const void **value, unsigned char (*scalar)[SCALAR_BYTES], const kn_plan_steps *c,
                          const kn_plan_step *p, const given *from, void *const *buffer)
{
    kiln_status status = KILN_OK;
    const kiln_arg *in = from->in;
    kiln_arg number;
    for (int k = 0; k < p->n_params && status == KILN_OK; ++k) {
        const kn_source *s = &p->source[k];
        switch (s->kind) {
        case KN_FROM_OUTPUT:
            value[k] = from->out[s->index]->data + s->shift;
            break;
        case KN_FROM_BUFFER:
            value[k] = (char *)buffer[s->index] + s->shift;
            break;
        case KN_FROM_NUMBER:
            value[k] = scalar[k];
            number = kn_bound_number(s->bound, &s->number, p->dtype[k]);
            status = kn_scalar_store(scalar[k], p->dtype[k], &number, "extent");
            break;
        case KN_FROM_COMPUTED:
            value[k] = scalar[k];
            status = store_computed(scalar[k], c, p, k, from);
            break;
        case KN_FROM_INPUT:
        default:
            if (in[s->index].kind == KILN_ARG_ARRAY) {
                value[k] = in[s->index].value.array->data + s->shift;
            } else {
                value[k] = scalar[k];
                number = kn_bound_number(s->bound, &in[s->index], p->dtype[k]);
                status = (p->casts ? kn_scalar_convert : kn_scalar_store)(
                    scalar[k], p->dtype[k], &number, c->kernel->program->param[s->index].name);
            }
        }
    }
    return status;
}

static kiln_status run_step(const kn_plan_steps *c, const kn_plan_step *p, const given *from,
                            void *const *buffer, void *stream)
{
    const void *value[KN_MAX_PARAMS];
    unsigned char scalar[KN_MAX_PARAMS][SCALAR_BYTES];
    kiln_status status = gather(value, scalar, c, p, from, buffer);
    const kn_launch_plan *launch = kn_plan_launch_now(&p->launch);
    if (status != KILN_OK || (!launch && !p->function))
        return status;
    kn_device_note_launch_name(p->launch_name);
    const bool is_ranged = kn_range_begin("", p->launch_name ? p->launch_name : "");
    status = p->function ? p->function(c->device, value, stream) : kn_launch_plan_run(launch, value, stream);
    kn_range_end(is_ranged);
    return status;
}

/* The state of a run: its buffers, and the numbers of those taken and given back. */
typedef struct progress {
    void **buffer;
    int n_taken, n_given;
} progress;

/* Buffers that step p is the first to write. */
static kiln_status take_buffers(progress *at, const kn_plan_steps *c, int p, void *stream)
{
    static const unsigned char zero = 0;
    uint64_t capture = 0;
    kiln_status status = KILN_OK;
    for (; at->n_taken < c->n_buffers && status == KILN_OK; ++at->n_taken) {
        int r = c->taken[at->n_taken];
        if (c->buffer[r].first > p)
            break;
        if (c->buffer[r].size == 0)
            continue;
        status = kn_device_capture_of(c->device, stream, &capture);
        if (status == KILN_OK)
            status = kn_memory_alloc_in(&at->buffer[r], c->device, c->buffer[r].size, stream, capture);
        if (status == KILN_OK && c->buffer[r].is_zeroed)
            status = c->device->backend->fill(c->device, at->buffer[r], &zero, 1, c->buffer[r].size, stream);
    }
    return status;
}

/* Frees buffers that no step after p needs, at once: the next user's work runs behind this step. */
static void give_buffers(progress *at, const kn_plan_steps *c, int p, void *stream)
{
    for (; at->n_given < c->n_buffers && c->buffer[c->given[at->n_given]].last <= p; ++at->n_given) {
        int r = c->given[at->n_given];
        if (at->buffer[r])
            kn_memory_free(c->device, at->buffer[r], c->buffer[r].size, stream);
    }
}

/* ---- results whose extent is known late ---- */

kiln_status kn_plan_steps_check(const kn_plan_steps *c, uint64_t fresh, void *stream)
{
    bool is_capturing = false;
    uint64_t id;
    if (!(c->late & fresh))
        return KILN_OK;
    kiln_status status = c->device->backend->stream_is_capturing(c->device, stream, &is_capturing, &id);
    int j = 0;
    while (!((c->late & fresh) >> j & 1))
        ++j;
    const kn_program *p = c->kernel->program;
    return status != KILN_OK || !is_capturing
               ? status
               : kn_error(
                     KILN_ERROR_CAPTURE,
                     "%s: output '%s' has as many elements as the data says, which a capture cannot wait "
                     "for: an array for as many as there may be was expected",
                     p->name, p->param[p->n_in + j].name);
}

static kiln_status read_extent(const kn_plan_steps *c, int j, const given *from, void *const *buffer,
                               void *stream)
{
    const kn_source *s = &c->result[j].count;
    const kn_backend *backend = c->device->backend;
    const char *at = s->kind == KN_FROM_BUFFER ? buffer[s->index] : from->out[s->index]->data;
    int64_t extent = 0;
    kiln_status status =
        backend->copy(c->device, &extent, at + s->shift, sizeof extent, KN_COPY_DEVICE_TO_HOST, stream);
    if (status == KILN_OK)
        status = backend->stream_synchronize(c->device, stream);
    if (status != KILN_OK)
        return status;
    const int axis = c->result[j].axis;
    if (extent < 0 || extent > from->out[j]->shape[axis])
        return kn_error(KILN_ERROR_INTERNAL, "%s: output %d was given %lld elements of %lld at most",
                        c->kernel->program->name, j, (long long)extent, (long long)from->out[j]->shape[axis]);
    kn_array_shorten(from->out[j], axis, extent);
    return KILN_OK;
}

static kiln_status read_extents(const kn_plan_steps *c, const given *from, void *const *buffer, void *stream)
{
    kiln_status status = KILN_OK;
    uint64_t left = c->late & from->fresh;
    for (int j = 0; left >> j && status == KILN_OK; ++j)
        if (left >> j & 1)
            status = read_extent(c, j, from, buffer, stream);
    return status;
}

/* ---- the run ---- */

/* Those that there are kernels for. */
static const kn_plan_steps *steps_now(const kn_plan_steps *s)
{
    for (int p = 0; s->quick && p < s->n_steps; ++p)
        if (s->step[p].launch.tiers && !kn_plan_launch_now(&s->step[p].launch))
            return s->quick;
    return s;
}

static kiln_status run_steps(void **buffer, const kn_plan_steps *c, const given *from, void *stream)
{
    progress at = {buffer, 0, 0};
    kiln_status status = KILN_OK;
    for (int p = 0; p < c->n_steps && status == KILN_OK; ++p) {
        status = take_buffers(&at, c, p, stream);
        if (status == KILN_OK)
            status = run_step(c, &c->step[p], from, buffer, stream);
        if (status == KILN_OK)
            give_buffers(&at, c, p, stream);
    }
    if (status == KILN_OK)
        status = read_extents(c, from, buffer, stream);
    give_buffers(&at, c, c->n_steps, stream);
    return status;
}

enum { FEW_BUFFERS = 64 /* that a run has on the stack */ };

kiln_status kn_plan_steps_run(const kn_plan_steps *steps, kiln_array *const *out, uint64_t fresh,
                              const kiln_arg *in, const kiln_arg *computed, void *stream)
{
    const kn_plan_steps *c = steps_now(steps);
    void *few[FEW_BUFFERS], **buffer = few;
    const given from = {out, fresh, in, computed};
    size_t bytes = (size_t)c->n_buffers * sizeof *buffer;
    if (c->n_buffers > FEW_BUFFERS)
        buffer = kn_malloc(bytes);
    if (!buffer)
        return kn_error_memory("the buffers of a call");
    memset(buffer, 0, bytes);
    kiln_status status = run_steps(buffer, c, &from, stream);
    if (buffer != few)
        kn_free(buffer);
    return status;
}
