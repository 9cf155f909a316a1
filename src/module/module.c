/* Raw modules: creation and destruction. module_code.c has the code, module_function.c and module_global.c
 * its functions and globals, module_launch.c the launches. */
#include "module/module.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/os.h"
#include "kernel/kernel.h"
#include "module/module_code.h"
#include "module/module_function.h"

/* ---- the end ---- */

static void destroy(kiln_module *module)
{
    if (!module)
        return;
    kn_map_free(module->functions, kn_module_free_function);
    for (int i = 0; i < module->n_expressions; i++)
        kn_free(module->expression[i]);
    kn_free(module->expression);
    kn_str_free(&module->dependencies);
    kn_blob_free(&module->code);
    kn_free(module->name);
    kn_free(module);
}

/* Code is taken from the device when nothing runs it any more; graphs have references of their own. */
static void unload(kiln_module *module)
{
    if (!module->loaded)
        return;
    const kn_backend *backend = module->device->backend;
    if (atomic_load(&module->was_launched))
        backend->synchronize(module->device);
    backend->module_unload(module->loaded);
}

static void end_module(void *user)
{
    kiln_module *module = user;
    kn_error_state before;
    kn_error_save(&before);
    unload(module);
    destroy(module);
    kn_error_restore(&before);
}

/* To wait for the device would spoil a capture that is going on. */
void kn_module_release(void *user)
{
    kiln_module *module = user;
    if (!module || (module->device && kn_device_is_lost(module->device)))
        return;
    if (atomic_fetch_sub(&module->references, 1) != 1)
        return;
    if (!module->loaded || !kn_capture_defer(module->device, &module->held, end_module, module))
        end_module(module);
}

void kiln_module_free(kiln_module *module)
{
    KN_UNCANCELLED;
    kn_module_release(module);
}

/* ---- the beginning ---- */

static kiln_status copy_texts(char ***out, int *count, const char *const *texts, int n)
{
    if (n == 0)
        return KILN_OK;
    char **copy = kn_calloc((size_t)n, sizeof *copy);
    if (!copy)
        return kn_error_memory("name expressions");
    *out = copy;
    for (*count = 0; *count < n; ++*count) {
        copy[*count] = kn_strdup(texts[*count]);
        if (!copy[*count])
            return kn_error_memory("a name expression");
    }
    return KILN_OK;
}

static kiln_status allocate(kiln_module **out, const kiln_module_options *o)
{
    kiln_module *module = kn_calloc(1, sizeof *module);
    if (!module) {
        kn_error_memory("a module");
        return KILN_ERROR_MEMORY;
    }
    atomic_init(&module->references, 1);
    module->name = kn_strdup(o->name);
    module->functions = kn_map_create();
    kiln_status status = module->name && module->functions ? KILN_OK : kn_error_memory("a module");
    if (status == KILN_OK)
        status = copy_texts(&module->expression, &module->n_expressions, o->name_expressions,
                            o->n_name_expressions);
    if (status != KILN_OK) {
        destroy(module);
        return status;
    }
    *out = module;
    return KILN_OK;
}

/* "cuda:1" and NULL are devices; "sm_90" is an architecture, to compile for alone. */
static kiln_status choose_target(kiln_module *module, const char *text)
{
    kiln_device id = KILN_DEVICE_DEFAULT;
    if (text && strncmp(text, "cuda", 4) != 0 && strcmp(text, "host") != 0) {
        kiln_status status = kn_target_parse(&module->target, text);
        if (status == KILN_OK && module->target.backend != KN_CUDA)
            status =
                kn_error(KILN_ERROR_UNSUPPORTED,
                         "module \"%s\": modules are for CUDA, options.target is \"%s\"", module->name, text);
        return status;
    }
    kiln_status status = text ? kiln_device_parse(&id, text) : KILN_OK;
    if (status == KILN_OK)
        status = kn_device_get(&module->device, id);
    if (status != KILN_OK)
        return status;
    if (module->device->target.backend != KN_CUDA) {
        const char *why = kiln_device_why_no_cuda();
        return kn_error(KILN_ERROR_UNSUPPORTED,
                        "module \"%s\": modules run on CUDA devices, and %s is the host%s%s; options.target "
                        "can name an architecture to compile for "
                        "(\"sm_90\")",
                        module->name, text ? "options.target" : "the current device", why[0] ? ": " : "",
                        why);
    }
    module->target = module->device->target;
    return KILN_OK;
}

static kiln_status take_code(kiln_module *module, const void *code, size_t size, const kiln_module_options *o,
                             kn_build_info *info)
{
    kiln_code_kind kind;
    kiln_status status = kn_module_kind(&kind, code, size, o->kind, module->name);
    if (status != KILN_OK)
        return status;
    if (kind == KILN_CODE_SOURCE) {
        char *source = kn_strndup(code, size);
        status = source ? kn_module_compile(module, source, o, info) : kn_error_memory("a module's source");
        kn_free(source);
        return status;
    }
    if (kind == KILN_CODE_CUBIN)
        status = kn_module_check_cubin(code, size, &module->target, module->name);
    if (status == KILN_OK && !kn_blob_copy(&module->code, code, size))
        status = kn_error_memory("a module's code");
    return status;
}

static kiln_status load(kiln_module *module, kn_build_info *info)
{
    if (!module->device || module->loaded) /* compiled code is loaded already */
        return KILN_OK;
    double start = kn_os_now_ms();
    kiln_status status = module->device->backend->module_load(
        module->device, module->code.data, module->code.size, module->name, &module->loaded);
    info->load_ms = kn_os_now_ms() - start;
    return status;
}

kiln_status kiln_module_create(kiln_module **out, const void *code, size_t size,
                               const kiln_module_options *options)
{
    KN_UNCANCELLED;
    kiln_module_options o;
    kiln_module *module = NULL;
    kn_build_info info = {.origin = KILN_ORIGIN_NONE};
    if (!out || !code)
        return kn_error(KILN_ERROR_INVALID, "kiln_module_create: %s is NULL", out ? "code" : "out");
    kiln_status status = kn_module_options_read(&o, options);
    if (status == KILN_OK)
        status = allocate(&module, &o);
    if (status == KILN_OK)
        status = choose_target(module, o.target);
    if (status == KILN_OK)
        status = take_code(module, code, size ? size : strlen(code), &o, &info);
    if (status == KILN_OK)
        status = load(module, &info);
    if (status != KILN_OK || !module) {
        kn_module_release(module);
        return status;
    }
    info.code_bytes = module->code.size;
    kn_call_set_info(&info, module->device ? module->device->id : KILN_DEVICE_DEFAULT);
    *out = module;
    return KILN_OK;
}

kiln_status kiln_module_code(const void **out, size_t *size, const kiln_module *module)
{
    if (!out || !size || !module)
        return kn_error(KILN_ERROR_INVALID, "kiln_module_code: %s is NULL",
                        !out    ? "out"
                        : !size ? "size"
                                : "module");
    *out = module->code.data;
    *size = module->code.size;
    return KILN_OK;
}

void *kiln_module_cuda_handle(kiln_module *module)
{
    return module && module->loaded ? module->device->backend->module_handle(module->loaded) : NULL;
}
