/* Reads the report of a checked launch, and turns it into an error. */
#include "launch/check.h"

#include "base/error.h"
#include "program/program.h"

#include <stdio.h>

/* kn_outside_report of src/codegen/prelude/both_checked.cpp. */
typedef struct report {
    unsigned is_set;
    int operand, axis, unused;
    long long index, bound;
} report;

kiln_status kn_check_find(kn_check *out, const kn_launch_input *input)
{
    const kn_backend *backend = input->device->backend;
    *out = (kn_check){.program = input->spec->program};
    if (!(input->spec->program->flags & KILN_KERNEL_CHECK))
        return KILN_OK;
    return backend->module_global(backend->function_module(input->function), "kn_outside", &out->report,
                                  NULL);
}

/* Indices of x[...] are reported by their items: -1 - item as the operand (kn_checked_index, _count). */
enum { OTHER_COUNT = -2 /* axis: of kn_checked_count */ };

static kiln_status say_count(const kn_program *p, const report *r)
{
    if (r->operand == 0)
        return kn_error(
            KILN_ERROR_INVALID,
            "%s: values have %lld elements along the axis of the mask, which has %lld that are true", p->name,
            r->index, r->bound);
    return kn_error(KILN_ERROR_INVALID,
                    "%s: index %d: the mask has %lld elements that are true; %lld were expected, as many as "
                    "the other indices have",
                    p->name, -1 - r->operand, r->index, r->bound);
}

static kiln_status say(const kn_program *p, const report *r)
{
    char where[32] = "";
    if (r->axis == OTHER_COUNT)
        return say_count(p, r);
    if (r->operand < 0)
        return kn_error(KILN_ERROR_INVALID, "%s: index %d: %lld is out of range for axis %d of extent %lld",
                        p->name, -1 - r->operand, r->index, r->axis, r->bound);
    if (r->operand >= p->n_in + p->n_out)
        return kn_error(KILN_ERROR_INTERNAL, "%s: a check reported operand %d", p->name, r->operand);
    const char *name = p->param[r->operand].name;
    if (r->axis >= 0)
        snprintf(where, sizeof where, " along axis %d", r->axis);
    if (r->bound == 0)
        return kn_error(KILN_ERROR_INVALID, "%s: raw operand '%s' was indexed at %lld%s, and has no elements",
                        p->name, name, r->index, where);
    return kn_error(KILN_ERROR_INVALID,
                    "%s: raw operand '%s' was indexed at %lld%s, where 0 to %lld were expected", p->name,
                    name, r->index, where, r->bound - 1);
}

kiln_status kn_check_report(const kn_check *check, kn_device *device, void *stream)
{
    const kn_backend *backend = device->backend;
    static const report none;
    report found = none;
    uint64_t capture = 0;
    kiln_status status = kn_device_capture_of(device, stream, &capture);
    if (status != KILN_OK || capture != 0)
        return status;
    status = backend->copy(device, &found, check->report, sizeof found, KN_COPY_DEVICE_TO_HOST, stream);
    if (status == KILN_OK)
        status = backend->stream_synchronize(device, stream);
    if (status != KILN_OK || !found.is_set)
        return status;
    status = backend->copy(device, check->report, &none, sizeof none, KN_COPY_HOST_TO_DEVICE, stream);
    if (status == KILN_OK)
        status = backend->stream_synchronize(device, stream);
    return status == KILN_OK ? say(check->program, &found) : status;
}
