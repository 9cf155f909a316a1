/* Functions of raw modules: each is made once, and goes with the module. */
#include "module/module_function.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/lock.h"
#include "module/module_names.h"

enum { MAX_KNOWN_PARAMS = 512 };

void kn_module_free_function(void *value)
{
    kiln_function *function = value;
    kn_free(function->param_size);
    kn_free(function);
}

static kiln_status read_params(kiln_function *function, const kn_backend *backend)
{
    size_t size[MAX_KNOWN_PARAMS];
    int n =
        backend->function_params ? backend->function_params(function->native, size, MAX_KNOWN_PARAMS) : -1;
    function->n_params = n < MAX_KNOWN_PARAMS ? n : -1;
    if (function->n_params <= 0)
        return KILN_OK;
    function->param_size = kn_malloc((size_t)n * sizeof *size);
    if (!function->param_size)
        return kn_error_memory("a function's parameters");
    memcpy(function->param_size, size, (size_t)n * sizeof *size);
    return KILN_OK;
}

static kiln_function *new_function(kiln_module *module, const char *lowered)
{
    size_t size = strlen(lowered) + 1;
    kiln_function *function = kn_calloc(1, sizeof *function + size);
    if (function) {
        function->module = module;
        memcpy(function->name, lowered, size);
    } else {
        kn_error_memory("a function");
    }
    return function;
}

static kiln_status make_function(kiln_function **out, kiln_module *module, const char *name,
                                 const char *lowered)
{
    const kn_backend *backend = module->device->backend;
    kiln_function *function = new_function(module, lowered);
    if (!function)
        return KILN_ERROR_MEMORY;
    kiln_status status = backend->module_function(module->loaded, function->name, &function->native);
    status = kn_module_explain_missing(status, module, name, "function");
    if (status == KILN_OK)
        status = read_params(function, backend);
    if (status == KILN_OK && !kn_map_put(module->functions, lowered, strlen(lowered), function))
        status = kn_error_memory("a function");
    if (status != KILN_OK) {
        kn_module_free_function(function);
        return status;
    }
    *out = function;
    return KILN_OK;
}

kiln_status kiln_module_function(kiln_function **out, kiln_module *module, const char *name)
{
    kiln_status status = kn_module_check_names(out, module, name, "kiln_module_function");
    if (status != KILN_OK)
        return status;
    if (kn_device_is_lost(module->device))
        return kn_device_say_lost();
    char *lowered = kn_module_lower(module, name);
    if (!lowered)
        return kn_error_memory("a function's name");
    kn_lock_take(KN_LOCK_MODULES);
    kiln_function *known = kn_map_get(module->functions, lowered, strlen(lowered));
    if (known)
        *out = known;
    else
        status = make_function(out, module, name, lowered);
    kn_lock_give(KN_LOCK_MODULES);
    kn_free(lowered);
    return status;
}

const char *kiln_function_name(const kiln_function *function)
{
    return function ? function->name : "";
}

void *kiln_function_cuda_handle(kiln_function *function)
{
    return function ? function->module->device->backend->function_handle(function->native) : NULL;
}
