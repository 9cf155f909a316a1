#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/os.h"
#include "build/build_state.h"

#include <string.h>

typedef struct loaded_module {
    kn_device *device;
    kn_module *module;
    const kn_code *code;
} loaded_module;

typedef struct loaded_function {
    kn_function *function; /* lives with its module */
    const kn_code *code;
} loaded_function;

void kn_loaded_module_free(void *value)
{
    loaded_module *loaded = value;
    if (!loaded)
        return;
    if (loaded->module)
        loaded->device->backend->module_unload(loaded->module);
    kn_free(loaded);
}

void kn_loaded_function_free(void *value)
{
    kn_free(value);
}

static kiln_status find_entry(kn_build_job *job, const loaded_module *loaded)
{
    kn_function *function; /* stays with its module */
    if (!job->entry)
        return KILN_OK;
    return job->device->backend->module_function(loaded->module, job->entry, &function);
}

/* Loaded, and the entry point is there: else the code is no good. */
static kiln_status load_code(kn_build_job *job, const kn_code *code)
{
    loaded_module *loaded = job->loading;
    const kn_backend *backend = job->device->backend;
    double start = kn_os_now_ms();
    kiln_status status = backend->module_load(job->device, code->code.data, code->code.size,
                                              job->request->name, &loaded->module);
    if (status == KILN_OK && (status = find_entry(job, loaded)) != KILN_OK) {
        backend->module_unload(loaded->module);
        loaded->module = NULL;
    }
    job->info->load_ms += kn_os_now_ms() - start;
    return status;
}

/* New code comes loaded already. */
static kiln_status find_and_load(kn_build_job *job, loaded_module *loaded)
{
    kn_code *code = NULL;
    kiln_status status;
    job->loading = loaded;
    job->load = load_code;
    status = kn_build_find_code(job, &code);
    loaded->code = code;
    if (status == KILN_OK && !loaded->module)
        status = load_code(job, code);
    return status;
}

/* Code from the disk that does not load here (made on another machine that shares the folder, say) is as good
 * as none: it is made anew, once, and takes the row's place when it has been loaded. */
static bool forget_unloadable(kn_build_job *job, const loaded_module *loaded, kiln_status status)
{
    const kn_build_request *request = job->request;
    if (status == KILN_ERROR_MEMORY || !loaded->code || !loaded->code->is_from_disk)
        return false;
    kn_log(KILN_LOG_INFO, "%s from the cache does not load and is compiled anew: %s", request->name,
           kiln_error_message());
    job->is_disk_barred = true;
    kn_once_forget(job->state->codes, request->what, strlen(request->what), loaded->code);
    return true;
}

/* The module, loaded on the job's device; on failure nothing. */
static kiln_status load_module(kn_build_job *job, loaded_module *loaded)
{
    kiln_status status = find_and_load(job, loaded);
    if (status != KILN_OK && forget_unloadable(job, loaded, status))
        status = find_and_load(job, loaded);
    return status;
}

static kiln_status make_module(void *user, void **out)
{
    kn_build_job *job = user;
    loaded_module *loaded = kn_calloc(1, sizeof *loaded);
    kiln_status status;
    if (!loaded)
        return kn_error_memory(sizeof *loaded, job->request->name);
    loaded->device = job->device;
    status = load_module(job, loaded);
    if (status == KILN_OK)
        *out = loaded;
    else
        kn_loaded_module_free(loaded);
    return status;
}

static const kn_code *code_of_module(const void *value)
{
    return ((const loaded_module *)value)->code;
}

static const kn_code *code_of_function(const void *value)
{
    return ((const loaded_function *)value)->code;
}

/* Finds or makes what is kept for a device, an entry point ("" for the module) and the key material. */
static kiln_status find(kn_build_job *job, kn_once_table *table, const char *entry, void **value,
                        const kn_build_kind *kind)
{
    kn_str key = KN_STR_INIT;
    kiln_status status;
    kn_str_printf(&key, "%d\n%s\n", (int)job->device->id, entry);
    kn_str_append(&key, job->request->what);
    status = kn_str_status(&key, job->request->name);
    if (status == KILN_OK)
        status = kn_build_once(job, table, key.data, key.length, value, kind);
    kn_str_free(&key);
    return status;
}

static kiln_status load_function(kn_build_job *job, loaded_function *loaded)
{
    static const kn_build_kind kind = {make_module, code_of_module};
    void *value = NULL;
    loaded_module *module;
    double start;
    kiln_status status = find(job, job->state->modules, "", &value, &kind);
    if (status != KILN_OK)
        return status;
    module = value;
    loaded->code = module->code;
    start = kn_os_now_ms();
    status = job->device->backend->module_function(module->module, job->entry, &loaded->function);
    job->info->load_ms += kn_os_now_ms() - start;
    return status;
}

static kiln_status check_loading(const kn_build_job *job)
{
    if (!(job->request->flags & KN_BUILD_CAPTURING))
        return KILN_OK;
    return kn_error(
        KILN_ERROR_CAPTURE,
        "%s would have to be compiled or loaded for this call, which the capture of its stream "
        "forbids (KILN_CAPTURE_PREPARED): call kiln_kernel_prepare, or make the call once, before "
        "the capture begins",
        job->request->name);
}

static kiln_status make_function(void *user, void **out)
{
    kn_build_job *job = user;
    kiln_status status = check_loading(job);
    if (status != KILN_OK)
        return status;
    loaded_function *loaded = kn_calloc(1, sizeof *loaded);
    if (!loaded)
        return kn_error_memory(sizeof *loaded, job->request->name);
    status = load_function(job, loaded);
    if (status == KILN_OK)
        *out = loaded;
    else
        kn_loaded_function_free(loaded);
    return status;
}

/* The one that all share. */
static kiln_status find_function(void *user, void **value)
{
    static const kn_build_kind kind = {make_function, code_of_function};
    kn_build_job *job = user;
    return find(job, job->state->functions, job->entry, value, &kind);
}

static kiln_status find_kept(kn_build_job *job, void **value)
{
    static const kn_build_kind kind = {find_function, NULL};
    return find(job, job->request->kept, job->entry, value, &kind);
}

kiln_status kn_build_function(kn_function **out, const kn_build_request *request, kn_device *device,
                              const char *entry, kn_build_info *info)
{
    kn_build_info unused = {0};
    kn_build_job job = {.request = request, .device = device, .entry = entry, .info = info ? info : &unused};
    void *value = NULL;
    kiln_status status = kn_build_state_get(&job.state);
    if (status == KILN_OK)
        status = request->kept ? find_kept(&job, &value) : find_function(&job, &value);
    const loaded_function *loaded = value;
    status = kn_build_end(&job, status == KILN_OK ? loaded->code : NULL, status);
    if (status == KILN_OK)
        *out = loaded->function;
    return status;
}

kiln_status kn_build_module(kn_module **out, kn_blob *code, const kn_build_request *request,
                            kn_device *device, kn_build_info *info)
{
    kn_build_info unused = {0};
    kn_build_job job = {.request = request, .device = device, .info = info ? info : &unused};
    loaded_module loaded = {.device = device};
    kiln_status status = kn_build_state_get(&job.state);
    if (status == KILN_OK)
        status = load_module(&job, &loaded);
    status = kn_build_end(&job, loaded.code, status);
    if (status == KILN_OK && !kn_blob_copy(code, loaded.code->code.data, loaded.code->code.size))
        status = kn_error_memory(loaded.code->code.size, request->name);
    if (status == KILN_OK)
        *out = loaded.module;
    else if (loaded.module)
        device->backend->module_unload(loaded.module);
    return status;
}
