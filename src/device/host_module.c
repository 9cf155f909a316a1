/* Shared objects of the host as modules, and launches of their functions. */
#include "device/host_module.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/os.h"
#include "base/unload.h"
#include "device/host_threads.h"
#include "device/host_loop.h"

struct kn_function {
    struct kn_function *next;
    kn_module *module;
    kn_host_entry entry;
};

struct kn_module {
    kn_library *library;
    _Atomic(kn_function *) functions;
    char name[64];
};

enum { CALL_CHUNK = 1024 /* most elements; a power of two */ };

void kn_host_module_unload(kn_module *module)
{
    if (!module)
        return;
    kn_function *function = atomic_load(&module->functions);
    while (function) {
        kn_function *next = function->next;
        kn_free(function);
        function = next;
    }
    kn_os_library_close(module->library);
    kn_free(module);
}

kiln_status kn_host_module_load(kn_device *device, const void *code, size_t size, const char *name,
                                kn_module **out)
{
    (void)device;
    kn_unload_watch();
    kn_module *module = kn_calloc(1, sizeof *module);
    if (!module)
        return kn_error_memory("a module");
    strncpy(module->name, name ? name : "module", sizeof module->name - 1);
    kiln_status status = kn_os_library_open_memory(&module->library, code, size, module->name);
    if (status != KILN_OK) {
        kn_free(module);
        return status;
    }
    *out = module;
    return KILN_OK;
}

kiln_status kn_host_module_function(kn_module *module, const char *name, kn_function **out)
{
    void *address = kn_os_library_symbol(module->library, name);
    if (!address)
        return kn_error(KILN_ERROR_NOT_FOUND, "module \"%s\" has no function \"%s\"", module->name, name);
    kn_function *function = kn_malloc(sizeof *function);
    if (!function)
        return kn_error_memory("a function");
    function->module = module;
    memcpy(&function->entry, &address, sizeof address); /* ISO C has no cast from an object to a function */
    function->next = atomic_load(&module->functions);
    while (!atomic_compare_exchange_weak(&module->functions, &function->next, function))
        ;
    *out = function;
    return KILN_OK;
}

kiln_status kn_host_module_global(kn_module *module, const char *name, void **address, size_t *size)
{
    *address = kn_os_library_symbol(module->library, name);
    if (!*address)
        return kn_error(KILN_ERROR_NOT_FOUND, "module \"%s\" has no global \"%s\"", module->name, name);
    if (size)
        *size = kn_os_library_symbol_size(*address);
    return KILN_OK;
}

kn_module *kn_host_function_module(kn_function *function)
{
    return function->module;
}

typedef struct host_call {
    kn_host_entry entry;
    const void *args;
    int64_t elements, chunk;
} host_call;

/* Threads meet at whole lines of the caches, unless elements are so expensive that few are worth a thread. */
static int64_t chunk_of(int64_t grain)
{
    int64_t chunk = 1;
    while (chunk < CALL_CHUNK && 2 * chunk <= grain)
        chunk *= 2;
    return chunk;
}

static void call_range(void *user, int64_t begin, int64_t end)
{
    const host_call *call = user;
    end *= call->chunk;
    call->entry(call->args, begin * call->chunk, end < call->elements ? end : call->elements);
    kn_host_settle();
}

static void run(kn_function *function, const kn_launch *launch)
{
    if (launch->loop_nest) {
        kn_host_loop_run(launch->loop_nest, function->entry, launch->block_data, launch->block_size,
                         launch->grain);
        return;
    }
    int64_t chunk = chunk_of(launch->grain);
    host_call call = {function->entry, launch->block_data, launch->elements, chunk};
    kn_host_parallel((launch->elements + chunk - 1) / chunk, (launch->grain + chunk - 1) / chunk, call_range,
                     &call);
}

/* Other code reaches no cancellation point, and calls of it pay nothing. */
static void run_uncancelled(kn_function *function, const kn_launch *launch)
{
    KN_UNCANCELLED;
    run(function, launch);
}

kiln_status kn_host_launch(kn_function *function, const kn_launch *launch, void *stream)
{
    (void)stream;
    if (launch->params)
        return kn_error(KILN_ERROR_UNSUPPORTED,
                        "the host takes one block of arguments, not a list of parameters");
    (launch->is_open ? run_uncancelled : run)(function, launch);
    return KILN_OK;
}

kiln_status kn_host_function_info(kn_function *function, kn_function_info *out)
{
    (void)function, (void)out;
    return kn_error(KILN_ERROR_UNSUPPORTED, "the host's functions have no attributes");
}

kiln_status kn_host_occupancy(kn_function *function, int block_threads, size_t shared_bytes, int *blocks)
{
    (void)function, (void)block_threads, (void)shared_bytes, (void)blocks;
    return kn_error(KILN_ERROR_UNSUPPORTED, "the host's functions have no occupancy");
}
