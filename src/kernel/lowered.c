/* Lists of what a call was lowered to: parts, their bindings, buffers. */
#include "kernel/algorithm.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "program/program.h"
#include "space/shape.h"
#include "types/dtype.h"

void kn_lowered_free_part(kn_lowered_part *part)
{
    for (int k = 0; k < kn_lowered_params(part); ++k)
        kiln_array_free(part->binding.array[k]);
    if (!part->kernel)
        kn_program_free(part->program);
    kn_free(part->label);
}

void kn_lowered_drop_parts(kn_lowered *l)
{
    for (int p = 0; p < l->n_parts; ++p)
        kn_lowered_free_part(&l->part[p]);
    kn_free(l->part);
    l->part = NULL;
    l->n_parts = 0;
}

void kn_lowered_drop_stored(kn_lowered *l, int buffer)
{
    if (buffer >= l->n_stored)
        return;
    kn_free(l->stored[buffer].what);
    kn_free(l->stored[buffer].why);
    l->stored[buffer] = (kn_stored){NULL, NULL};
}

double kn_lowered_bytes(const kiln_array *a)
{
    double bytes = (double)a->item_size;
    for (int k = 0; k < a->ndim; ++k)
        bytes *= a->strides[k] != 0 ? (double)a->shape[k] : a->shape[k] > 0;
    return bytes;
}

void kn_lowered_free(kn_lowered *l)
{
    kn_lowered_drop_parts(l);
    kn_free(l->buffer);
    kn_free(l->layout);
    for (int b = 0; b < l->n_stored; ++b)
        kn_lowered_drop_stored(l, b);
    kn_free(l->stored);
    kn_str_free(&l->explanation);
    kn_apart_free(&l->apart);
    memset(l, 0, sizeof *l);
}

kiln_status kn_lowered_view(kiln_array **out, kiln_array *array, char *data, kiln_dtype dtype, int ndim,
                            const int64_t *shape, const int64_t *strides)
{
    if (array)
        return kn_array_view(out, array, data, ndim, shape, strides);
    kiln_status status = kn_array_placeholder(out, dtype, ndim, shape);
    if (status == KILN_OK) {
        memcpy((*out)->strides, strides, (size_t)ndim * sizeof *strides);
        (*out)->data = data;
    }
    return status;
}

kiln_status kn_lowered_add_buffer(int *out, kn_lowered *l, size_t size)
{
    kn_buffer *grown = kn_realloc(l->buffer, ((size_t)l->n_buffers + 1) * sizeof *grown);
    if (!grown)
        return kn_error_memory("the buffers of a call");
    l->buffer = grown;
    grown[l->n_buffers] = (kn_buffer){.size = size};
    *out = l->n_buffers++;
    return KILN_OK;
}

kiln_status kn_lowered_add_source(kn_source *out, kn_lowered *l, size_t size)
{
    *out = (kn_source){.kind = KN_FROM_BUFFER};
    return kn_lowered_add_buffer(&out->index, l, size);
}

kiln_status kn_lowered_add_part(kn_lowered_part **out, kn_lowered *l)
{
    kn_lowered_part *grown = kn_realloc(l->part, ((size_t)l->n_parts + 1) * sizeof *grown);
    if (!grown)
        return kn_error_memory("the parts of a call");
    l->part = grown;
    *out = &grown[l->n_parts++];
    memset(*out, 0, sizeof **out);
    (*out)->options = (kiln_call_options)KILN_CALL_OPTIONS_INIT;
    return KILN_OK;
}

static kiln_status set_label(kn_lowered_part *part, const char *name)
{
    part->label = kn_strdup(name);
    return part->label ? KILN_OK : kn_error_memory("the parts of a call");
}

kiln_status kn_lowered_add_label(kn_lowered_part *part, const char *before, const char *more)
{
    kn_str label = KN_STR_INIT;
    kn_str_printf(&label, "%s%s%s", part->label ? part->label : "", before, more);
    char *text = kn_str_take(&label, "the parts of a call");
    if (!text)
        return KILN_ERROR_MEMORY;
    kn_free(part->label);
    part->label = text;
    return KILN_OK;
}

kiln_status kn_lowered_add_kernel(kn_lowered_part **out, kn_lowered *l, const kiln_kernel *kernel)
{
    kiln_status status = kn_lowered_add_part(out, l);
    if (status != KILN_OK)
        return status;
    (*out)->kernel = kernel;
    (*out)->program = kernel->program;
    (*out)->binding.program = kernel->program;
    return set_label(*out, kernel->program->name);
}

kiln_status kn_lowered_add_program(kn_lowered_part **out, kn_lowered *l, kn_program *program)
{
    kiln_status status = kn_lowered_add_part(out, l);
    if (status != KILN_OK) {
        kn_program_free(program);
        return status;
    }
    (*out)->program = program;
    (*out)->binding.program = program;
    return set_label(*out, program->name);
}

kiln_status kn_lowered_add_function(kn_lowered_part **out, kn_lowered *l, const char *name,
                                    kn_step_function function, int n_params)
{
    kiln_status status = kn_lowered_add_part(out, l);
    if (status != KILN_OK)
        return status;
    (*out)->function = function;
    (*out)->n_params = n_params;
    return set_label(*out, name);
}

kiln_dtype kn_described_dtype(const kn_program *p, const kn_param *param, const kn_described *in)
{
    if (param->type != KN_TYPE_PLACEHOLDER)
        return param->dtype;
    for (int numbers = 0; numbers < 2; ++numbers)
        for (int k = 0; k < p->n_in; ++k)
            if (p->param[k].type == KN_TYPE_PLACEHOLDER && p->param[k].placeholder == param->placeholder &&
                in[k].is_number == (numbers == 1))
                return in[k].dtype;
    return KILN_DTYPE_NONE;
}

/* The call's array that a source names; NULL: a buffer, or an output that the call allocates. */
static kiln_array *array_of(const kn_source *source, const kn_lowering_call *call)
{
    return source->kind == KN_FROM_INPUT                 ? call->in[source->index].value.array
           : source->kind == KN_FROM_OUTPUT && call->out ? call->out[source->index]
                                                         : NULL;
}

kiln_status kn_lowered_bind(kn_lowered_part *part, int k, const kn_lowering_call *call,
                            const kn_source *source, kiln_dtype dtype, int ndim, const int64_t *shape,
                            const int64_t *strides)
{
    int64_t dense[KILN_MAX_NDIM];
    kiln_array *array = array_of(source, call);
    kn_operand *o = &part->binding.operand[k];
    bool is_raw = part->program && part->program->param[k].is_raw;
    kn_shape_c_strides(ndim, shape, (int64_t)kiln_dtype_size(dtype), dense);
    strides = strides ? strides : dense;
    part->source[k] = *source;
    *o = (kn_operand){.pass = is_raw ? KN_PASS_RAW : KN_PASS_ARRAY, .dtype = dtype};
    if (is_raw) {
        o->raw_rank = ndim;
        o->raw_contiguous = memcmp(dense, strides, (size_t)ndim * sizeof *dense) == 0;
    }
    char *first = array ? array->data : NULL;
    return kn_lowered_view(&part->binding.array[k], array, first + source->shift, dtype, ndim, shape,
                           strides);
}

kiln_status kn_lowered_bind_input(kn_lowered_part *part, int k, const kn_lowering_call *call, int j,
                                  kiln_dtype dtype)
{
    const kn_source source = {.kind = KN_FROM_INPUT, .index = j};
    if (call->in[j].kind != KILN_ARG_ARRAY) {
        part->binding.operand[k] = (kn_operand){.pass = KN_PASS_SCALAR, .dtype = dtype};
        part->source[k] = source;
        return KILN_OK;
    }
    const kiln_array *a = call->in[j].value.array;
    return kn_lowered_bind(part, k, call, &source, a->dtype, a->ndim, a->shape, a->strides);
}

kiln_status kn_lowered_bind_output(kn_lowered_part *part, int k, const kn_lowering_call *call, int j,
                                   kiln_dtype dtype, int ndim, const int64_t *shape)
{
    const kn_source source = {.kind = KN_FROM_OUTPUT, .index = j};
    const kiln_array *given = call->out ? call->out[j] : NULL;
    return kn_lowered_bind(part, k, call, &source, dtype, ndim, shape, given ? given->strides : NULL);
}

void kn_lowered_bind_number(kn_lowered_part *part, int k, kiln_dtype dtype, const kiln_arg *number)
{
    part->binding.operand[k] = (kn_operand){.pass = KN_PASS_SCALAR, .dtype = dtype};
    part->source[k] = (kn_source){.kind = KN_FROM_NUMBER, .number = *number};
}

void kn_lowered_bind_integer(kn_lowered_part *part, int k, int64_t number)
{
    const kiln_arg arg = kiln_arg_int64(number);
    kn_lowered_bind_number(part, k, KILN_INT64, &arg);
}

void kn_lowered_bind_integers(kn_lowered_part *part, int k, int count, const int64_t *number)
{
    for (int n = 0; n < count; ++n)
        kn_lowered_bind_integer(part, k + n, number[n]);
}

void kn_step_integers(int64_t *number, int count, const void *const *value)
{
    for (int n = 0; n < count; ++n)
        memcpy(&number[n], value[n], sizeof *number);
}

void kn_lowered_set_shape(kn_lowered_part *part, int ndim, const int64_t *shape)
{
    memcpy(part->shape, shape, (size_t)ndim * sizeof *shape);
    part->options.shape = part->shape;
    part->options.ndim = ndim;
}

/* value: the first word, what it is filled with, and how many there are. */
static kiln_status fill(kn_device *device, const void *const *value, void *stream)
{
    int64_t number[2];
    kn_step_integers(number, 2, value + 1);
    const uint32_t word = (uint32_t)number[0];
    return device->backend->fill(device, (void *)(uintptr_t)value[0], &word, sizeof word, (size_t)number[1],
                                 stream);
}

kiln_status kn_lowered_add_fill(kn_lowered *out, const kn_lowering_call *call, const kn_source *to,
                                uint32_t value, int64_t words)
{
    const int64_t number[] = {value, words};
    kn_lowered_part *part = NULL;
    kiln_status status = kn_lowered_add_function(&part, out, value ? "fill" : "clear", fill, 3);
    if (status == KILN_OK)
        status = kn_lowered_bind(part, 0, call, to, KILN_UINT32, 1, &words, NULL);
    if (status != KILN_OK)
        return status;
    kn_lowered_bind_integers(part, 1, 2, number);
    return KILN_OK;
}

kiln_status kn_lowered_add_along(kn_lowered_part **out, kn_lowered *l, const kiln_kernel *kernel, int ndim,
                                 const int64_t *shape)
{
    static const int last_axis = -1;
    kiln_status status = kn_lowered_add_kernel(out, l, kernel);
    if (status != KILN_OK)
        return status;
    kn_lowered_set_shape(*out, ndim, shape);
    (*out)->options.axes = &last_axis;
    (*out)->options.n_axes = 1;
    return KILN_OK;
}
