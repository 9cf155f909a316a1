/* Elements that are among those of another array, by their keys on the host. */
#include "kernel/among.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "device/host_among.h"
#include "device/host_sort.h"
#include "kernel/algorithm.h"
#include "kernel/sort.h"
#include "program/program.h"
#include "space/shape.h"
#include "types/dtype.h"

typedef struct among {
    kiln_kernel *sorted;
} among;

static kiln_status describe(kn_described *out, const void *context, int j, const kn_described *in)
{
    (void)context, (void)j;
    *out = (kn_described){.dtype = KILN_BOOL, .ndim = in->ndim};
    memcpy(out->shape, in->shape, sizeof out->shape);
    return KILN_OK;
}

/* A table of more floats would not lie in a near cache: sorted ones are found sooner. Small integers have a
 * byte for each number. */
enum { MOST_FLOATS = 1 << 15 };

static bool has_keys(const kn_lowering_call *call, const kn_described *in)
{
    const kiln_array *given = call->out ? call->out[0] : NULL;
    const kn_dtype_info *info = kn_dtype_info_of(in->dtype);
    const bool is_number = info->kind == KN_KIND_BOOL || info->kind == KN_KIND_INT ||
                           info->kind == KN_KIND_UINT || info->kind == KN_KIND_FLOAT;
    return call->target->backend == KN_HOST && is_number && in[0].dtype == in[1].dtype && !in[0].is_number &&
           !in[1].is_number && (!given || given->is_c_contiguous) &&
           kn_shape_size(in[1].ndim, in[1].shape) > 0 &&
           (info->kind != KN_KIND_FLOAT || kn_shape_size(in[1].ndim, in[1].shape) <= MOST_FLOATS);
}

/* NaN has a key that no NaN of the other array has; zeros of both signs have one. */
static kiln_status write_keys(kn_program **out, kiln_dtype to, const kn_described *of, int j)
{
    const char *key = kiln_dtype_name(to), *own = kiln_dtype_name(of->dtype);
    kn_str in = KN_STR_INIT, outs = KN_STR_INIT, body = KN_STR_INIT;
    kn_str_printf(&in, "%s x", own);
    kn_str_printf(&outs, "%s key", key);
    if (kn_dtype_info_of(of->dtype)->kind == KN_KIND_FLOAT)
        kn_str_printf(&body, "key = x != x ? (%s)~(%s)%d : x == (%s)0 ? (%s)0 : kn_cast_bits<%s>(x)", key,
                      key, j, own, key, key);
    else
        kn_str_printf(&body, "key = (%s)x", key);
    return kn_program_written(out, &in, &outs, &body, "keys", NULL);
}

/* The keys of an input: itself, or bits in a buffer. */
static kiln_status add_keys(kn_source *out, kn_lowered *lowered, const kn_lowering_call *call,
                            const kn_described *in, int j)
{
    const kn_dtype_info *info = kn_dtype_info_of(in[j].dtype);
    const kiln_dtype to = kn_dtype_of_bits((int)info->size);
    const int64_t size = kn_shape_size(in[j].ndim, in[j].shape);
    kn_program *program = NULL;
    kn_lowered_part *part;
    *out = (kn_source){.kind = KN_FROM_INPUT, .index = j};
    if ((info->kind == KN_KIND_INT || info->kind == KN_KIND_UINT) && call->in[j].value.array->is_c_contiguous)
        return KILN_OK;
    kiln_status status = kn_lowered_add_source(out, lowered, (size_t)(size > 0 ? size : 1) * info->size);
    if (status == KILN_OK)
        status = write_keys(&program, to, &in[j], j);
    if (status == KILN_OK)
        status = kn_lowered_add_program(&part, lowered, program);
    if (status == KILN_OK)
        status = kn_lowered_bind_input(part, 0, call, j, in[j].dtype);
    return status == KILN_OK ? kn_lowered_bind(part, 1, call, out, to, in[j].ndim, in[j].shape, NULL)
                             : status;
}

static kiln_status find(kn_device *device, const void *const *value, void *stream)
{
    (void)device, (void)stream;
    int64_t number[5];
    kn_step_integers(number, 5, value + 4);
    const kn_host_among of = {.to = (bool *)(uintptr_t)value[0],
                              .key = value[1],
                              .other = value[2],
                              .table = (void *)(uintptr_t)value[3],
                              .keys = number[0],
                              .others = number[1],
                              .key_size = (int)number[2],
                              .table_bytes = (size_t)number[3],
                              .has_vectors = number[4] != 0};
    kn_host_find_among(&of);
    return KILN_OK;
}

static kiln_status lower_keys(kn_lowered *out, const kn_lowering_call *call, const kn_described *in)
{
    const int size = (int)kiln_dtype_size(in->dtype);
    const kiln_dtype bits = kn_dtype_of_bits(size);
    const int64_t count[] = {kn_shape_size(in[0].ndim, in[0].shape), kn_shape_size(in[1].ndim, in[1].shape)};
    const size_t bytes = kn_host_among_bytes(count[0], count[1], size);
    const int64_t number[] = {count[0], count[1], size, (int64_t)bytes,
                              kn_host_sort_vectors(call->target->architecture, (int)sizeof(int64_t))};
    kn_source keys[2], table;
    kn_lowered_part *part;
    kiln_status status = KILN_OK;
    for (int j = 0; j < 2 && status == KILN_OK; ++j)
        status = add_keys(&keys[j], out, call, in, j);
    if (status == KILN_OK)
        status = kn_lowered_add_source(&table, out, bytes);
    if (status == KILN_OK)
        status = kn_lowered_add_function(&part, out, "among", find, 9);
    if (status == KILN_OK)
        status = kn_lowered_bind_output(part, 0, call, 0, KILN_BOOL, in->ndim, in->shape);
    for (int j = 0; j < 2 && status == KILN_OK; ++j)
        status = kn_lowered_bind(part, 1 + j, call, &keys[j],
                                 keys[j].kind == KN_FROM_INPUT ? in[j].dtype : bits, 1, &count[j], NULL);
    if (status == KILN_OK)
        status = kn_lowered_bind(part, 3, call, &table, KILN_UINT8, 1, &(int64_t){(int64_t)bytes}, NULL);
    if (status == KILN_OK)
        kn_lowered_bind_integers(part, 4, 5, number);
    return status;
}

static kiln_status lower_sorted(kn_lowered *out, const among *a, const kn_lowering_call *call,
                                const kn_described *in)
{
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_kernel(&part, out, a->sorted);
    for (int j = 0; j < 2 && status == KILN_OK; ++j)
        status = kn_lowered_bind_input(part, j, call, j, in[j].dtype);
    return status == KILN_OK ? kn_lowered_bind_output(part, 2, call, 0, KILN_BOOL, in->ndim, in->shape)
                             : status;
}

static kiln_status lower(kn_lowered *out, const void *context, const kn_lowering_call *call)
{
    kn_described *in = kn_calloc(2, sizeof *in);
    if (!in)
        return kn_error_memory("the arguments of a call");
    kn_describe_arguments(in, call->in, 2);
    kiln_status status = KILN_OK;
    if (kn_shape_size(in->ndim, in->shape) > 0)
        status = has_keys(call, in) ? lower_keys(out, call, in) : lower_sorted(out, context, call, in);
    kn_free(in);
    return status;
}

static void release(void *context)
{
    among *a = context;
    if (!a)
        return;
    kiln_kernel_free(a->sorted);
    kn_free(a);
}

static const kn_algorithm algorithm = {.describe = describe, .lower = lower, .free = release};

static kiln_status make(kiln_kernel **out, const void *of)
{
    static const char *const in[] = {"x", "others"}, *const result[] = {"is_among"};
    kn_program *prototype = NULL;
    among *a = kn_malloc(sizeof *a);
    if (!a)
        return kn_error_memory("a kernel");
    a->sorted = kiln_kernel_retain((kiln_kernel *)(uintptr_t)of);
    kiln_status status = kn_prototype_create(&prototype, "among", in, 2, result, 1);
    if (status == KILN_OK)
        return kn_kernel_create_algorithm(out, prototype, &algorithm, a);
    release(a);
    return status;
}

kiln_status kn_among_find(kiln_kernel **out, kiln_kernel *sorted)
{
    kn_str key = KN_STR_INIT;
    kn_str_append(&key, "among");
    kiln_status status = kn_kernel_remembered(out, &key, make, sorted);
    kn_str_free(&key);
    return status;
}
