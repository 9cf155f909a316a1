/* The programs of a call that is looked at without being run. */
#include "kernel/inspected.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

bool kn_names_device(const char *text)
{
    return strcmp(text, "host") == 0 || strncmp(text, "cuda", 4) == 0;
}

/* The target that text names, or the device's, the current one where there is none. */
static kiln_status find_target(kn_target *out, const char *text, kn_device *device)
{
    kiln_device id = KILN_DEVICE_DEFAULT;
    if (text && !kn_names_device(text))
        return kn_target_parse(out, text);
    kiln_status status = text ? kiln_device_parse(&id, text) : KILN_OK;
    if (status == KILN_OK && (text || !device))
        status = kn_device_get(&device, id);
    if (status == KILN_OK)
        *out = device->target;
    return status;
}

/* The number of elements assumed if every array is raw and the options give no size: that of the largest
 * array. 0: the arrays give it. */
static int64_t supposed_size(const kn_binding *b)
{
    int64_t size = 1;
    bool any_raw = false;
    for (int k = 0; k < b->program->n_in + b->program->n_out; ++k) {
        if (b->operand[k].pass == KN_PASS_ARRAY && b->array[k])
            return 0;
        any_raw |= b->operand[k].pass == KN_PASS_RAW;
        if (b->array[k] && b->array[k]->size > size)
            size = b->array[k]->size;
    }
    return any_raw ? size : 0;
}

/* Grows the list by one. */
static kiln_status add(kn_inspected *out, const kn_binding *b, const kiln_call_options *o,
                       const kn_target *target)
{
    kn_resolved *r = kn_malloc(sizeof *r);
    if (!r)
        return kn_error_memory("a specialisation");
    out->resolved[out->count++] = r;
    return kn_resolve(r, b, o, target);
}

static kiln_status grow(kn_inspected *out, int count)
{
    size_t size = (size_t)(count + 1) * sizeof(kn_resolved *);
    out->resolved = kn_calloc(1, size);
    return out->resolved ? KILN_OK : kn_error_memory("specialisations");
}

static kiln_status inspect_lowered(kn_inspected *out, const kiln_kernel *kernel, const kn_lowering_call *of,
                                   const char *text)
{
    kn_target target;
    kn_lowering_call call = *of;
    call.target = &target;
    call.is_quick = kn_tiers_mode() == KILN_FORMS_QUICK && !(of->options->flags & KILN_CALL_BEST);
    kiln_status status = find_target(&target, text, of->device);
    if (status == KILN_OK)
        status = kn_lower_call(&out->lowered, kernel, &call);
    if (status == KILN_OK)
        status = grow(out, out->lowered.n_parts);
    for (int p = 0; p < out->lowered.n_parts && status == KILN_OK; ++p)
        if (out->lowered.part[p].program)
            status = add(out, &out->lowered.part[p].binding, &out->lowered.part[p].options, &target);
    return status;
}

static kiln_status inspect_call(kn_inspected *out, const kiln_kernel *kernel, const kn_lowering_call *of,
                                const char *target);

/* The most elements that an array of the call has: what a number is taken for that only the call knows. */
static int64_t count_most(const kn_lowering_call *of, int n_in)
{
    int64_t most = 1;
    for (int k = 0; k < n_in; ++k)
        if (of->in[k].kind == KILN_ARG_ARRAY && of->in[k].value.array->size > most)
            most = of->in[k].value.array->size;
    return most;
}

/* The second kernel of a call in two parts reads arrays without data, of as many elements as there may be. */
static kiln_status inspect_second(kn_inspected *out, const kn_lowering_call *of, const char *target)
{
    kiln_arg in[KN_MAX_PARAMS];
    kn_lowering_call call = *of;
    const int n_found = out->apart.first->program->n_out, n_in = out->apart.second->program->n_in - n_found;
    kiln_status status = KILN_OK;
    memcpy(in, of->in, (size_t)n_in * sizeof *in);
    for (int j = 0; j < n_found && status == KILN_OK; ++j) {
        const kn_array_layout *l = &out->lowered.layout[j];
        if (out->apart.numbers >> j & 1) {
            in[n_in + j] = kiln_arg_int64(count_most(of, n_in));
            continue;
        }
        status = kn_array_placeholder(&out->found[j], l->dtype, l->ndim, l->extents);
        in[n_in + j] = kiln_arg_array(out->found[j]);
    }
    if (status != KILN_OK)
        return status;
    call.in = in;
    out->next = kn_calloc(1, sizeof *out->next);
    return out->next ? inspect_call(out->next, out->apart.second, &call, target)
                     : kn_error_memory("a specialisation");
}

static kiln_status inspect_call(kn_inspected *out, const kiln_kernel *kernel, const kn_lowering_call *of,
                                const char *target)
{
    static const kiln_call_options usual = KILN_CALL_OPTIONS_INIT;
    kn_lowering_call call = *of;
    kiln_status status = inspect_lowered(out, kernel, of, target);
    if (status != KILN_OK || !out->lowered.apart.first)
        return status;
    out->apart = out->lowered.apart;
    out->lowered.apart = (kn_apart){.first = NULL};
    kn_lowered_free(&out->lowered);
    kn_free(out->resolved);
    out->resolved = NULL;
    call.out = NULL;
    call.options = &usual;
    status = inspect_lowered(out, out->apart.first, &call, target);
    return status == KILN_OK ? inspect_second(out, of, target) : status;
}

static kiln_status inspect_program(kn_inspected *out, const kiln_kernel *kernel, kiln_array *const *outs,
                                   int n_out, const kiln_arg *in, int n_in, kiln_call_options *o,
                                   const char *text, bool is_text)
{
    kn_binding b;
    kn_target target;
    kiln_status status = kn_bind(&b, kernel->program, outs, n_out, in, n_in);
    if (status == KILN_OK)
        status = find_target(&target, text, b.device);
    if (status == KILN_OK)
        status = grow(out, 1);
    if (status != KILN_OK)
        return status;
    if (is_text && o->size == 0 && !o->shape)
        o->size = supposed_size(&b);
    return add(out, &b, o, &target);
}

kiln_status kn_inspect(kn_inspected *out, const kiln_kernel *kernel, kiln_array *const *outs, int n_out,
                       const kiln_arg *in, int n_in, const kiln_call_options *options, const char *target,
                       bool is_text)
{
    kiln_call_options o;
    kn_device *device = NULL;
    if (!kernel)
        return kn_error(KILN_ERROR_INVALID, "kernel is NULL; a kiln_kernel was expected");
    kiln_status status = kn_call_options_read(&o, options);
    if (status == KILN_OK && !kernel->algorithm)
        return inspect_program(out, kernel, outs, n_out, in, n_in, &o, target, is_text);
    if (status == KILN_OK)
        status = kn_bind_prototype(&device, kernel->program, outs, n_out, in, n_in);
    kn_lowering_call call = {outs, in, &o, device, NULL, false, false};
    return status == KILN_OK ? inspect_call(out, kernel, &call, target) : status;
}

void kn_inspected_free(kn_inspected *inspected)
{
    for (int p = 0; p < inspected->count; ++p)
        kn_free(inspected->resolved[p]);
    kn_free(inspected->resolved);
    kn_lowered_free(&inspected->lowered);
    if (inspected->next)
        kn_inspected_free(inspected->next);
    kn_free(inspected->next);
    for (int j = 0; j < KN_MAX_PARAMS; ++j)
        kiln_array_free(inspected->found[j]);
    kn_apart_free(&inspected->apart);
    memset(inspected, 0, sizeof *inspected);
}
