/* Code of a compile job, loaded on a device: modules and functions, once a device and key. */
#include "base/alloc.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/log.h"
#include "base/os.h"
#include "store/build.h"
#include "store/search.h"

#include <string.h>

typedef struct loaded_function {
    kn_function *function; /* lives with its module */
    const kn_code *code;
} loaded_function;

/* The kind of a table's values: how one is made, and of which code. */
typedef struct kind {
    kiln_status (*make)(kn_code_search *search, void **value);
    kn_code_of *code_of;
} kind;

static kiln_status find_entry(kn_code_search *search, const kn_loaded_module *loaded)
{
    kn_function *function; /* stays with its module */
    if (!search->entry)
        return KILN_OK;
    return search->device->backend->module_function(loaded->module, search->entry, &function);
}

/* Loaded, and the entry point is there: else the code is no good. */
static kiln_status load_code(kn_code_search *search, const kn_code *code)
{
    kn_loaded_module *loaded = search->loading;
    const kn_backend *backend = search->device->backend;
    double start = kn_os_now_ms();
    kiln_status status = backend->module_load(search->device, code->code.data, code->code.size,
                                              search->job->name, &loaded->module);
    if (status == KILN_OK && (status = find_entry(search, loaded)) != KILN_OK) {
        backend->module_unload(loaded->module);
        loaded->module = NULL;
    }
    search->info->load_ms += kn_os_now_ms() - start;
    return status;
}

/* New code comes loaded already. */
static kiln_status find_and_load(kn_code_search *search, kn_loaded_module *loaded)
{
    kn_code *code = NULL;
    kiln_status status;
    search->loading = loaded;
    search->load = load_code;
    status = kn_search_find(search, &code);
    loaded->code = code;
    if (status == KILN_OK && !loaded->module)
        status = load_code(search, code);
    return status;
}

/* Code from a store that does not load here (made on another machine that shares the folder, for example) is
 * ignored: the next store is asked, and new code replaces it after it has been loaded. */
static bool is_worth_another(kn_code_search *search, const kn_code *code, kiln_status status)
{
    return status != KILN_ERROR_MEMORY && code && kn_search_bar(search, code);
}

/* The module, loaded on the search's device; on failure nothing. */
static kiln_status load_module(kn_code_search *search, kn_loaded_module *loaded)
{
    kiln_status status = find_and_load(search, loaded);
    while (status != KILN_OK && is_worth_another(search, loaded->code, status))
        status = find_and_load(search, loaded);
    return status;
}

static kiln_status make_module(kn_code_search *search, void **out)
{
    kn_loaded_module *loaded = kn_calloc(1, sizeof *loaded);
    kiln_status status;
    if (!loaded)
        return kn_error_memory(search->job->name);
    loaded->device = search->device;
    status = load_module(search, loaded);
    if (status == KILN_OK)
        *out = loaded;
    else
        kn_free(loaded);
    return status;
}

static const kn_code *code_of_module(const void *value)
{
    return ((const kn_loaded_module *)value)->code;
}

static const kn_code *code_of_function(const void *value)
{
    return ((const loaded_function *)value)->code;
}

static kiln_status find_or_make(kn_code_search *search, kn_flight_table *table, const kn_str *key,
                                void **value, const kind *of)
{
    kn_flight *flight = NULL;
    kiln_status status =
        kn_search_begin_flight(search, table, key->data, key->length, value, &flight, of->code_of);
    if (!flight) {
        if (status == KILN_OK)
            search->info->origin = KILN_ORIGIN_MEMORY;
        return status;
    }
    status = of->make(search, value);
    kn_flight_end(table, flight, *value, status);
    return status;
}

/* Finds or makes the value for a device, an entry point ("" for the module) and the key material. */
static kiln_status find(kn_code_search *search, kn_flight_table *table, const char *entry, void **value,
                        const kind *of)
{
    kn_str key = KN_STR_INIT;
    kiln_status status;
    kn_str_printf(&key, "%d\n%s\n", (int)search->device->id, entry);
    kn_str_append(&key, kn_str_text(&search->job->what));
    status = kn_str_status(&key, search->job->name);
    if (status == KILN_OK)
        status = find_or_make(search, table, &key, value, of);
    kn_str_free(&key);
    return status;
}

static kiln_status load_function(kn_code_search *search, loaded_function *loaded)
{
    static const kind shared = {make_module, code_of_module};
    void *value = NULL;
    kn_loaded_module *module;
    double start;
    kiln_status status = find(search, search->state->modules, "", &value, &shared);
    if (status != KILN_OK)
        return status;
    module = value;
    loaded->code = module->code;
    start = kn_os_now_ms();
    status = search->device->backend->module_function(module->module, search->entry, &loaded->function);
    search->info->load_ms += kn_os_now_ms() - start;
    return status;
}

static kiln_status check_loading(const kn_code_search *search)
{
    if (!(search->request->flags & KN_BUILD_CAPTURING))
        return KILN_OK;
    return kn_error(
        KILN_ERROR_CAPTURE,
        "%s would have to be compiled or loaded for this call, which the capture of its stream "
        "forbids (KILN_CAPTURE_PREPARED): call kiln_kernel_prepare, or make the call once, before "
        "the capture begins",
        search->job->name);
}

static kiln_status make_function(kn_code_search *search, void **out)
{
    kiln_status status = check_loading(search);
    if (status != KILN_OK)
        return status;
    loaded_function *loaded = kn_calloc(1, sizeof *loaded);
    if (!loaded)
        return kn_error_memory(search->job->name);
    status = load_function(search, loaded);
    if (status == KILN_OK)
        *out = loaded;
    else
        kn_free(loaded);
    return status;
}

/* The one that all share. */
static kiln_status find_function(kn_code_search *search, void **value)
{
    static const kind function = {make_function, code_of_function};
    return find(search, search->state->functions, search->entry, value, &function);
}

static kiln_status find_in_kernel(kn_code_search *search, void **value)
{
    static const kind own_functions = {find_function, NULL};
    return find(search, search->request->own_functions, search->entry, value, &own_functions);
}

kiln_status kn_build_function(kn_function **out, const kn_build_request *request, kn_device *device,
                              kn_build_info *info)
{
    KN_UNCANCELLED;
    kn_build_info unused = {0};
    kn_code_search search;
    void *value = NULL;
    kiln_status status = kn_search_begin(&search, request, device, info ? info : &unused);
    search.entry = request->job->entry;
    if (status == KILN_OK)
        status = request->own_functions ? find_in_kernel(&search, &value) : find_function(&search, &value);
    kn_search_log(&search);
    if (status != KILN_OK)
        return status;
    const loaded_function *loaded = value;
    *out = loaded->function;
    return kn_search_end(&search, loaded->code);
}

kiln_status kn_build_program(kn_function **out, const kn_spec *spec, kn_flight_table *own_functions,
                             unsigned flags, kn_device *device, kn_build_info *info)
{
    kn_compile_job job;
    const kn_build_request request = {.job = &job, .flags = flags, .own_functions = own_functions};
    kiln_status status = kn_compile_job_of_program(&job, spec);
    if (status == KILN_OK)
        status = kn_build_function(out, &request, device, info);
    kn_compile_job_free(&job);
    return status;
}

kiln_status kn_build_module(kn_module **out, kn_blob *code, const kn_build_request *request,
                            kn_device *device, kn_build_info *info)
{
    KN_UNCANCELLED;
    kn_build_info unused = {0};
    kn_code_search search;
    kn_loaded_module loaded = {.device = device};
    kiln_status status = kn_search_begin(&search, request, device, info ? info : &unused);
    if (status == KILN_OK)
        status = load_module(&search, &loaded);
    kn_search_log(&search);
    if (status == KILN_OK)
        status = kn_search_end(&search, loaded.code);
    if (status == KILN_OK && !kn_blob_copy(code, loaded.code->code.data, loaded.code->code.size))
        status = kn_error_memory(request->job->name);
    if (status == KILN_OK)
        *out = loaded.module;
    else if (loaded.module)
        device->backend->module_unload(loaded.module);
    return status;
}

/* The first use of a device has the stores made ready meanwhile, on another thread. */
__attribute__((constructor)) static void register_warm_up(void)
{
    kn_device_on_first_use(kn_build_warm_up);
}
