/* Reads the report of a checked launch, and turns it into an error. */
#include "launch/check.h"

#include "base/error.h"
#include "device/device.h"
#include "program/program.h"

#include <stddef.h>
#include <stdio.h>

/* kn_outside_report of src/codegen/prelude/both_checked.cpp. */
typedef struct report {
    unsigned is_set;
    int operand, axis, unused;
    long long index, bound;
    volatile unsigned *flag; /* a word that the first report sets, where the host sees it */
} report;

kiln_status kn_check_find(kn_check *out, const kn_launch_input *input)
{
    const kn_backend *backend = input->device->backend;
    out->program = input->spec->program;
    if (!(input->spec->program->flags & KILN_KERNEL_CHECK))
        return KILN_OK;
    return backend->module_global(backend->function_module(input->function), "kn_outside", &out->report,
                                  &out->size);
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

/* Writes bytes of the report, and waits for that. */
static kiln_status write(const kn_check *check, kn_device *device, const report *from, size_t at, size_t size,
                         void *stream)
{
    const kn_backend *backend = device->backend;
    kiln_status status = backend->copy(device, (char *)check->report + at, (const char *)from + at, size,
                                       KN_COPY_HOST_TO_DEVICE, stream);
    return status == KILN_OK ? backend->stream_synchronize(device, stream) : status;
}

/* Lets the report have the device's flag, so that it need not be read any more. */
static kiln_status give_flag(kn_check *check, kn_device *device, void *stream)
{
    const report with = {.flag = kn_device_flag(device)};
    kiln_status status =
        with.flag ? write(check, device, &with, offsetof(report, flag), sizeof with.flag, stream) : KILN_OK;
    if (status == KILN_OK && with.flag)
        atomic_store(&check->has_flag, true);
    return status;
}

kiln_status kn_check_report(kn_check *check, kn_device *device, void *stream)
{
    const kn_backend *backend = device->backend;
    const report none = {0};
    report found = none;
    uint64_t capture = 0;
    kiln_status status = kn_device_capture_of(device, stream, &capture);
    if (status != KILN_OK || capture != 0)
        return status;
    const bool has_flag = atomic_load(&check->has_flag);
    if (has_flag) {
        status = backend->stream_synchronize(device, stream);
        if (status != KILN_OK || !*kn_device_flag(device))
            return status;
    }
    status =
        backend->copy(device, &found, check->report, offsetof(report, flag), KN_COPY_DEVICE_TO_HOST, stream);
    if (status == KILN_OK)
        status = backend->stream_synchronize(device, stream);
    if (status == KILN_OK && !has_flag && backend->kind == KN_CUDA && check->size >= sizeof(report))
        status = give_flag(check, device, stream);
    if (status == KILN_OK && found.is_set)
        status = write(check, device, &none, 0, offsetof(report, flag), stream);
    return status == KILN_OK && found.is_set ? say(check->program, &found) : status;
}
