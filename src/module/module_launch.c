/* Launches of raw functions as in CUDA, and the driver's properties of them. */
#include "module/module.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "array/array.h"
#include "base/error.h"
#include "base/nvtx.h"
#include "base/sized.h"
#include "types/dtype.h"

enum { MAX_ARGUMENTS = 256, VALUE_BYTES = 16 };

/* The addresses of the arguments, for the driver. */
typedef struct argument_list {
    void *stream;
    bool is_capturing;
    void *at[MAX_ARGUMENTS];
    size_t size[MAX_ARGUMENTS];
    _Alignas(16) unsigned char value[MAX_ARGUMENTS][VALUE_BYTES];
} argument_list;

/* ---- arguments ---- */

static kiln_status check_device(const kiln_function *f, const kiln_array *array, int k)
{
    kn_device *here = f->module->device, *there = array->storage ? array->storage->device : NULL;
    char here_name[16], there_name[16];
    bool is_reachable = here == there;
    if (!there)
        return kn_error(KILN_ERROR_INVALID, "%s: argument %d is an array without data", f->name, k);
    if (!is_reachable && there->backend == here->backend) {
        kiln_status status = kn_device_enable_peer(here, there, &is_reachable);
        if (status != KILN_OK)
            return status;
    }
    if (is_reachable)
        return KILN_OK;
    return kn_error(KILN_ERROR_DEVICE,
                    "%s: argument %d is an array on %s, which the module's device %s cannot reach", f->name,
                    k, kiln_device_name(there->id, there_name, sizeof there_name),
                    kiln_device_name(here->id, here_name, sizeof here_name));
}

static kiln_status put_array(argument_list *list, int k, const kiln_function *f, const kiln_array *array)
{
    void *address = array ? array->data : NULL;
    memcpy(list->value[k], &address, sizeof address);
    list->size[k] = sizeof address;
    if (!array)
        return KILN_OK;
    kiln_status status = check_device(f, array, k);
    const kn_storage *s = array->storage;
    if (status == KILN_OK && s->is_pooled && s->stream != list->stream)
        status = kn_memory_used_on(s->device, s->data, list->stream);
    return status;
}

/* Weak scalars have Python's types: the widest. */
static size_t weak_size(const kiln_arg *arg)
{
    static const unsigned char sizes[] = {[KILN_ARG_WEAK_BOOL] = 1,
                                          [KILN_ARG_WEAK_INT] = 8,
                                          [KILN_ARG_WEAK_UINT] = 8,
                                          [KILN_ARG_WEAK_FLOAT] = 8,
                                          [KILN_ARG_WEAK_COMPLEX] = 16};
    return arg->kind >= 0 && (size_t)arg->kind < sizeof sizes ? sizes[arg->kind] : 0;
}

static kiln_status put_scalar(argument_list *list, int k, const kiln_function *f, const kiln_arg *arg)
{
    size_t size = arg->kind == KILN_ARG_TYPED ? kiln_dtype_size((kiln_dtype)arg->dtype) : weak_size(arg);
    if (size == 0)
        return kn_error(KILN_ERROR_INVALID, "%s: argument %d is no argument: kind %d, dtype %d", f->name, k,
                        (int)arg->kind, (int)arg->dtype);
    /* all scalars are at the start of the union; the machines are little-endian */
    memcpy(list->value[k], &arg->value, size);
    list->size[k] = size;
    return KILN_OK;
}

static kiln_status put_argument(argument_list *list, int k, const kiln_function *f, const kiln_arg *arg)
{
    list->at[k] = list->value[k];
    if (arg->kind == KILN_ARG_ARRAY)
        return put_array(list, k, f, arg->value.array);
    if (arg->kind != KILN_ARG_STRUCT)
        return put_scalar(list, k, f, arg);
    if (!arg->value.pod.data)
        return kn_error(KILN_ERROR_INVALID, "%s: argument %d is a struct at NULL", f->name, k);
    list->at[k] = (void *)(uintptr_t)arg->value.pod.data;
    list->size[k] = arg->value.pod.size;
    return KILN_OK;
}

static const char *describe(const kiln_arg *arg)
{
    static const char *const names[] = {"nothing",
                                        "an array",
                                        "a bool",
                                        "a weak int (long long)",
                                        "a weak uint (unsigned long long)",
                                        "a weak float (double)",
                                        "a weak complex (two doubles)",
                                        "a typed scalar",
                                        "a struct"};
    return arg->kind >= 0 && (size_t)arg->kind < sizeof names / sizeof *names ? names[arg->kind] : names[0];
}

/* A weak integer is cut to the parameter where that holds its value, with a sign or without: the driver tells
 * sizes alone. */
static kiln_status fit_integer(const kiln_function *f, argument_list *list, const kiln_arg *arg, int k)
{
    size_t size = f->param_size[k];
    int bits = (int)size * 8;
    bool is_negative = arg->kind == KILN_ARG_WEAK_INT && arg->value.i < 0;
    if (size >= 8 || (size & (size - 1)) || size == 0)
        return KILN_OK; /* the check of sizes refuses it */
    bool fits = is_negative ? arg->value.i >= -(INT64_C(1) << (bits - 1)) : arg->value.u >> bits == 0;
    if (fits) {
        list->size[k] = size; /* the low bytes come first */
        return KILN_OK;
    }
    char value[32];
    snprintf(value, sizeof value, is_negative ? "%lld" : "%llu", (long long)arg->value.i);
    return kn_error(KILN_ERROR_INVALID,
                    "%s: argument %d is %s, which a parameter of %zu byte%s does not hold: %lld to %llu",
                    f->name, k, value, size, size == 1 ? "" : "s", -(1LL << (bits - 1)), (1ULL << bits) - 1);
}

static kiln_status fit_integers(const kiln_function *f, argument_list *list, const kiln_arg *args, int n)
{
    kiln_status status = KILN_OK;
    for (int k = 0; k < n && k < f->n_params && status == KILN_OK; k++)
        if (args[k].kind == KILN_ARG_WEAK_INT || args[k].kind == KILN_ARG_WEAK_UINT)
            status = fit_integer(f, list, &args[k], k);
    return status;
}

/* A wrong size would be read beyond its end, or leave garbage behind it. */
static kiln_status check_sizes(const kiln_function *f, const argument_list *list, const kiln_arg *args, int n)
{
    if (f->n_params < 0)
        return KILN_OK;
    if (n != f->n_params)
        return kn_error(KILN_ERROR_INVALID, "%s: %d argument%s given, %d expected", f->name, n,
                        n == 1 ? " was" : "s were", f->n_params);
    for (int k = 0; k < n; k++)
        if (list->size[k] != f->param_size[k])
            return kn_error(KILN_ERROR_INVALID,
                            "%s: argument %d has %zu bytes, the parameter %zu: it was given %s; "
                            "kiln_arg_typed has a dtype of its own",
                            f->name, k, list->size[k], f->param_size[k], describe(&args[k]));
    return KILN_OK;
}

static kiln_status gather(argument_list *list, const kiln_function *f, const kiln_arg *args, int n)
{
    kiln_status status = KILN_OK;
    if (n < 0 || n > MAX_ARGUMENTS)
        return kn_error(KILN_ERROR_INVALID, "%s: %d arguments were given; 0 to %d are possible", f->name, n,
                        MAX_ARGUMENTS);
    if (n > 0 && !args)
        return kn_error(KILN_ERROR_INVALID, "%s: args is NULL", f->name);
    for (int k = 0; k < n && status == KILN_OK; k++)
        status = put_argument(list, k, f, &args[k]);
    if (status == KILN_OK)
        status = fit_integers(f, list, args, n);
    return status == KILN_OK ? check_sizes(f, list, args, n) : status;
}

/* ---- launching ---- */

static kiln_status read_options(kiln_launch_options *out, const kiln_launch_options *given)
{
    *out = (kiln_launch_options)KILN_LAUNCH_OPTIONS_INIT;
    if (!given)
        return KILN_OK;
    kiln_status status = kn_sized_read(out, sizeof *out, given, "options", "KILN_LAUNCH_OPTIONS_INIT");
    if (status == KILN_OK)
        status = kn_sized_check_flags(out->flags, KILN_LAUNCH_COOPERATIVE, "KILN_LAUNCH");
    if (status != KILN_OK)
        return status;
    if (out->shared_bytes > INT_MAX)
        return kn_error(KILN_ERROR_INVALID, "options.shared_bytes: %zu was given", out->shared_bytes);
    return KILN_OK;
}

static void set_dims(unsigned to[3], kiln_dim3 from)
{
    to[0] = from.x;
    to[1] = from.y ? from.y : 1;
    to[2] = from.z ? from.z : 1;
}

static kiln_status check_dims(const kiln_function *f, kiln_dim3 grid, kiln_dim3 block)
{
    unsigned long long threads =
        (unsigned long long)block.x * (block.y ? block.y : 1) * (block.z ? block.z : 1);
    if (threads == 0 || threads > 1024 || block.z > 64)
        return kn_error(KILN_ERROR_INVALID,
                        "%s: a block of (%u, %u, %u) threads was given; 1 to 1024 are possible, 64 along z",
                        f->name, block.x, block.y, block.z);
    if (grid.x > INT_MAX || grid.y > 65535 || grid.z > 65535)
        return kn_error(
            KILN_ERROR_INVALID,
            "%s: a grid of (%u, %u, %u) blocks was given; at most (2147483647, 65535, 65535) is possible",
            f->name, grid.x, grid.y, grid.z);
    return KILN_OK;
}

/* A graph that is being captured holds the module: its code has to stay. */
static kiln_status hold(kiln_function *f, const argument_list *list)
{
    bool taken = false;
    if (!list->is_capturing)
        return KILN_OK;
    atomic_fetch_add(&f->module->references, 1);
    kiln_status status =
        kn_capture_hold(f->module->device, list->stream, kn_module_release, f->module, &taken);
    if (!taken)
        kn_module_release(f->module);
    return status;
}

static kiln_status find_stream(argument_list *list, const kiln_function *f, kiln_stream *given)
{
    kn_device *device = f->module->device;
    uint64_t id;
    list->is_capturing = false;
    kiln_status status = kn_stream_native(&list->stream, device, given);
    if (status == KILN_OK)
        status = device->backend->stream_is_capturing(device, list->stream, &list->is_capturing, &id);
    return status;
}

static kiln_status launch(kiln_function *f, kn_launch *launch, const argument_list *list)
{
    kiln_status status = hold(f, list);
    if (status != KILN_OK)
        return status;
    atomic_store_explicit(&f->module->was_launched, true, memory_order_relaxed);
    kn_device_note_launch(f->name);
    const bool is_ranged = kn_range_begin("", f->name);
    status = f->module->device->backend->launch(f->native, launch, list->stream);
    kn_range_end(is_ranged);
    return status;
}

kiln_status kiln_function_launch(kiln_function *function, kiln_dim3 grid, kiln_dim3 block,
                                 const kiln_arg *args, int n_args, const kiln_launch_options *options)
{
    kiln_launch_options o;
    argument_list list;
    if (!function)
        return kn_error(KILN_ERROR_INVALID, "kiln_function_launch: function is NULL");
    kiln_status status = read_options(&o, options);
    if (status == KILN_OK)
        status = check_dims(function, grid, block);
    if (status == KILN_OK)
        status = find_stream(&list, function, o.stream);
    if (status == KILN_OK)
        status = gather(&list, function, args, n_args);
    if (status != KILN_OK || grid.x == 0)
        return status;
    kn_launch l = {.shared_bytes = (unsigned)o.shared_bytes,
                   .is_cooperative = (o.flags & KILN_LAUNCH_COOPERATIVE) != 0,
                   .params = list.at};
    set_dims(l.grid, grid);
    set_dims(l.block, block);
    if (o.cluster.x)
        set_dims(l.cluster, o.cluster);
    return launch(function, &l, &list);
}

/* ---- asking ---- */

kiln_status kiln_function_get_attributes(kiln_function *function, kiln_function_attributes *out)
{
    kn_function_info info;
    if (!function)
        return kn_error(KILN_ERROR_INVALID, "kiln_function_get_attributes: function is NULL");
    kiln_status status = kn_sized_check(out, sizeof *out, "kiln_function_get_attributes: out",
                                        "KILN_FUNCTION_ATTRIBUTES_INIT");
    if (status == KILN_OK)
        status = function->module->device->backend->function_info(function->native, &info);
    if (status != KILN_OK)
        return status;
    kiln_function_attributes found = {.registers = info.registers,
                                      .max_threads_per_block = info.max_threads_per_block,
                                      .shared_bytes = (size_t)info.shared_bytes,
                                      .local_bytes = (size_t)info.local_bytes,
                                      .constant_bytes = (size_t)info.constant_bytes,
                                      .max_dynamic_shared_bytes = (size_t)info.max_dynamic_shared_bytes,
                                      .binary_version = info.binary_version,
                                      .ptx_version = info.ptx_version,
                                      .n_params = function->n_params};
    kn_sized_answer(out, &found);
    return KILN_OK;
}

kiln_status kiln_function_set_max_dynamic_shared(kiln_function *function, size_t bytes)
{
    if (!function)
        return kn_error(KILN_ERROR_INVALID, "kiln_function_set_max_dynamic_shared: function is NULL");
    kiln_status status = function->module->device->backend->function_allow_shared(function->native, bytes, 0);
    return status == KILN_OK
               ? KILN_OK
               : kn_error_context("%s: %zu bytes of dynamic shared memory", function->name, bytes);
}

kiln_status kiln_function_occupancy(kiln_function *function, int *blocks, int block_threads,
                                    size_t shared_bytes)
{
    if (!function || !blocks)
        return kn_error(KILN_ERROR_INVALID, "kiln_function_occupancy: %s is NULL",
                        function ? "blocks" : "function");
    if (block_threads < 1 || block_threads > 1024)
        return kn_error(KILN_ERROR_INVALID,
                        "kiln_function_occupancy: block_threads: %d was given; 1 to 1024 are possible",
                        block_threads);
    return function->module->device->backend->occupancy(function->native, block_threads, shared_bytes,
                                                        blocks);
}
