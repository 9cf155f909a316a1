/* Runs plans of several parts: takes their buffers, queues the parts, gives the buffers back. */
#include "kernel/compound_run.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "device/device.h"
#include "device/memory.h"
#include "types/dtype.h"

enum { SCALAR_BYTES = 16 };

void kn_compound_free(kn_compound *c)
{
    if (!c)
        return;
    for (int p = 0; p < c->n_parts; ++p)
        kn_plan_launch_free(&c->part[p].launch);
    kn_free(c->part);
    kn_free(c->buffer);
    kn_free(c->taken);
    kn_free(c->given);
    kn_free(c);
}

void kn_compound_look(const kn_compound *c, bool wants_optimised, kn_build_info *info)
{
    for (int p = 0; p < c->n_parts; ++p)
        kn_plan_launch_look(&c->part[p].launch, wants_optimised, info);
}

/* What a call gives its parts. */
typedef struct given {
    kiln_array *const *out;
    const kiln_arg *in, *computed;
} given;

/* One that the call computed; what is wrong with it is said of where it was computed. */
static kiln_status store_computed(void *to, const kn_compound *c, const kn_compound_part *p, int k,
                                  const kiln_arg *computed)
{
    const kn_source *s = &p->source[k];
    const kiln_arg number = kn_bound_number(s->bound, &computed[s->index], p->dtype[k]);
    kiln_status status =
        (p->casts ? kn_scalar_convert : kn_scalar_store)(to, p->dtype[k], &number, KN_COMPUTED_NUMBER);
    return status == KILN_OK ? KILN_OK : c->kernel->lowering->refuse(c->kernel->context, s->index);
}

static kiln_status gather(const void **value, unsigned char (*scalar)[SCALAR_BYTES], const kn_compound *c,
                          const kn_compound_part *p, const given *from, void *const *buffer)
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
            status = store_computed(scalar[k], c, p, k, from->computed);
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

static kiln_status run_part(const kn_compound *c, const kn_compound_part *p, const given *from,
                            void *const *buffer, void *stream)
{
    const void *value[KN_MAX_PARAMS];
    unsigned char scalar[KN_MAX_PARAMS][SCALAR_BYTES];
    kiln_status status = gather(value, scalar, c, p, from, buffer);
    const kn_launch_plan *launch = kn_plan_launch_now(&p->launch);
    if (status == KILN_OK && launch) {
        kn_device_note_launch_name(p->launch_name);
        status = kn_launch_plan_run(launch, value, stream);
    }
    return status;
}

/* The state of a run: its buffers, and how many of them were taken and given back. */
typedef struct progress {
    void **buffer;
    int n_taken, n_given;
} progress;

/* Buffers that part p is the first to write. */
static kiln_status take_buffers(progress *at, const kn_compound *c, int p, void *stream)
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

/* Buffers that no part after p needs go back at once: whoever has them next runs behind this part. */
static void give_buffers(progress *at, const kn_compound *c, int p, void *stream)
{
    for (; at->n_given < c->n_buffers && c->buffer[c->given[at->n_given]].last <= p; ++at->n_given) {
        int r = c->given[at->n_given];
        if (at->buffer[r])
            kn_memory_free(c->device, at->buffer[r], c->buffer[r].size, stream);
    }
}

static kiln_status run_parts(void **buffer, const kn_compound *c, const given *from, void *stream)
{
    progress at = {buffer, 0, 0};
    kiln_status status = KILN_OK;
    for (int p = 0; p < c->n_parts && status == KILN_OK; ++p) {
        status = take_buffers(&at, c, p, stream);
        if (status == KILN_OK)
            status = run_part(c, &c->part[p], from, buffer, stream);
        if (status == KILN_OK)
            give_buffers(&at, c, p, stream);
    }
    give_buffers(&at, c, c->n_parts, stream);
    return status;
}

enum { FEW_BUFFERS = 64 /* that a run has on the stack */ };

static kiln_status run_with_buffers(const kn_compound *c, const given *from, void *stream)
{
    void *few[FEW_BUFFERS] = {NULL}, **buffer = few;
    if (c->n_buffers > FEW_BUFFERS)
        buffer = kn_calloc((size_t)c->n_buffers, sizeof *buffer);
    if (!buffer)
        return kn_error_memory((size_t)c->n_buffers * sizeof *buffer,
                               "what lies between the kernels of a call");
    kiln_status status = run_parts(buffer, c, from, stream);
    if (buffer != few)
        kn_free(buffer);
    return status;
}

kiln_status kn_compound_run(const kn_compound *c, kiln_array *const *out, const kiln_arg *in,
                            const kiln_arg *computed, void *stream)
{
    void *const none[1] = {NULL};
    const given from = {out, in, computed};
    if (c->n_buffers > 0)
        return run_with_buffers(c, &from, stream);
    kiln_status status = KILN_OK;
    for (int p = 0; p < c->n_parts && status == KILN_OK; ++p)
        status = run_part(c, &c->part[p], &from, none, stream);
    return status;
}
