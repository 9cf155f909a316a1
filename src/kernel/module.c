/* Raw modules: creation, functions and globals. module_code.c has the code, module_launch.c the launches. */
#include "kernel/module.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/os.h"
#include "kernel/kernel.h"
#include "plan/shape.h"

enum { MAX_KNOWN_PARAMS = 512 };

/* ---- the end ---- */

static void free_function(void *value)
{
    kiln_function *function = value;
    kn_free(function->param_size);
    kn_free(function);
}

static void destroy(kiln_module *module)
{
    if (!module)
        return;
    kn_map_free(module->functions, free_function);
    for (int i = 0; i < module->n_expressions; i++)
        kn_free(module->expression[i]);
    kn_free(module->expression);
    kn_str_free(&module->notes);
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
    kn_module_release(module);
}

/* ---- the beginning ---- */

static kiln_status copy_texts(char ***out, int *count, const char *const *texts, int n)
{
    if (n == 0)
        return KILN_OK;
    char **copy = kn_calloc((size_t)n, sizeof *copy);
    if (!copy)
        return kn_error_memory((size_t)n * sizeof *copy, "name expressions");
    *out = copy;
    for (*count = 0; *count < n; ++*count) {
        copy[*count] = kn_strdup(texts[*count]);
        if (!copy[*count])
            return kn_error_memory(strlen(texts[*count]) + 1, "a name expression");
    }
    return KILN_OK;
}

static kiln_status allocate(kiln_module **out, const kiln_module_options *o)
{
    kiln_module *module = kn_calloc(1, sizeof *module);
    if (!module) {
        kn_error_memory(sizeof *module, "a module");
        return KILN_ERROR_MEMORY;
    }
    atomic_init(&module->references, 1);
    module->name = kn_strdup(o->name);
    module->functions = kn_map_create();
    kiln_status status =
        module->name && module->functions ? KILN_OK : kn_error_memory(sizeof *module, "a module");
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
        status =
            source ? kn_module_compile(module, source, o, info) : kn_error_memory(size, "a module's source");
        kn_free(source);
        return status;
    }
    if (kind == KILN_CODE_CUBIN)
        status = kn_module_check_cubin(code, size, &module->target, module->name);
    if (status == KILN_OK && !kn_blob_copy(&module->code, code, size))
        status = kn_error_memory(size, "a module's code");
    return status;
}

static kiln_status load(kiln_module *module, kn_build_info *info)
{
    if (!module->device || module->loaded) /* what was built comes loaded */
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
    kiln_module_options o;
    kiln_module *module = NULL;
    kn_build_info info = {KILN_ORIGIN_NONE, 0, 0, 0, 0, 0};
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

/* ---- names ---- */

static kiln_status check_names(const void *out, const kiln_module *module, const char *name,
                               const char *function)
{
    if (!out || !module || !name)
        return kn_error(KILN_ERROR_INVALID, "%s: %s is NULL", function,
                        !out      ? "out"
                        : !module ? "module"
                                  : "name");
    if (!module->loaded)
        return kn_error(KILN_ERROR_UNSUPPORTED, "%s: module \"%s\" was compiled for %s without a device",
                        function, module->name, module->target.architecture);
    return KILN_OK;
}

static bool is_of_word(int c)
{
    return c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

/* The next character that counts, 0 at the end; last is the one before. Blanks count, as one, between words
 * alone. */
static int next_that_counts(const char **at, int last)
{
    const char *from = *at;
    *at += strspn(from, " \t\r\n");
    if (*at > from && is_of_word(last) && is_of_word(**at))
        return ' ';
    return **at ? *(*at)++ : 0;
}

/* Two spellings of one C++ expression: "t<complex<double> >" and "t< complex<double>>"; globals with or
 * without their "&". */
static bool is_same_expression(const char *a, const char *b)
{
    int of_a, of_b, last = 0;
    const char **both[] = {&a, &b};
    for (int k = 0; k < 2; k++) {
        *both[k] += strspn(*both[k], " \t\r\n");
        *both[k] += **both[k] == '&';
    }
    do {
        of_a = next_that_counts(&a, last);
        of_b = next_that_counts(&b, last);
        last = of_a;
    } while (of_a && of_a == of_b);
    return of_a == of_b;
}

/* The name in the code of a name expression, "twice<int>" or "&space::table"; a copy of the caller's. Other
 * names are what they are. */
static char *lower(const kiln_module *module, const char *name)
{
    size_t length = strlen(name);
    for (int i = 0; i < module->n_expressions; i++) {
        if (!is_same_expression(module->expression[i], name))
            continue;
        const char *lowered = kn_compile_notes_lowered(module->notes.data, module->notes.length, i, &length);
        if (lowered)
            return kn_strndup(lowered, length);
    }
    return kn_strdup(name);
}

/* The driver only says that it is not there. */
static kiln_status explain_missing(kiln_status status, const kiln_module *module, const char *name,
                                   const char *what)
{
    if (status != KILN_ERROR_NOT_FOUND)
        return status;
    kn_str known = KN_STR_INIT;
    for (int i = 0; i < module->n_expressions; i++)
        kn_str_printf(&known, "%s\"%s\"", i ? ", " : "; its name expressions are ", module->expression[i]);
    kn_error(status,
             "module \"%s\" has no %s \"%s\": C++ names are mangled unless they are extern \"C\" or given as "
             "name expressions%s",
             module->name, what, name, kn_str_text(&known));
    kn_str_free(&known);
    return status;
}

/* ---- functions ---- */

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
        return kn_error_memory((size_t)n * sizeof *size, "a function's parameters");
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
        kn_error_memory(sizeof *function + size, "a function");
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
    status = explain_missing(status, module, name, "function");
    if (status == KILN_OK)
        status = read_params(function, backend);
    if (status == KILN_OK && !kn_map_put(module->functions, lowered, strlen(lowered), function))
        status = kn_error_memory(sizeof *function, "a function");
    if (status != KILN_OK) {
        free_function(function);
        return status;
    }
    *out = function;
    return KILN_OK;
}

kiln_status kiln_module_function(kiln_function **out, kiln_module *module, const char *name)
{
    kiln_status status = check_names(out, module, name, "kiln_module_function");
    if (status != KILN_OK)
        return status;
    if (kn_device_is_lost(module->device))
        return kn_device_say_lost();
    char *lowered = lower(module, name);
    if (!lowered)
        return kn_error_memory(strlen(name) + 1, "a function's name");
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

/* ---- native handles ---- */

void *kiln_module_cuda_handle(kiln_module *module)
{
    return module && module->loaded ? module->device->backend->module_handle(module->loaded) : NULL;
}

void *kiln_function_cuda_handle(kiln_function *function)
{
    return function ? function->module->device->backend->function_handle(function->native) : NULL;
}

/* ---- globals ---- */

static kiln_status find_global(kiln_module *module, const char *name, void **address, size_t *size)
{
    char *lowered = lower(module, name);
    if (!lowered)
        return kn_error_memory(strlen(name) + 1, "a global's name");
    kiln_status status = module->device->backend->module_global(module->loaded, lowered, address, size);
    kn_free(lowered);
    return explain_missing(status, module, name, "global");
}

static kiln_status wrap_global(kiln_array **out, kiln_module *module, void *address,
                               const kiln_array_spec *spec)
{
    atomic_fetch_add(&module->references, 1);
    kiln_status status = kiln_array_wrap(out, address, spec, kn_module_release, module);
    if (status != KILN_OK)
        kn_module_release(module);
    return status;
}

kiln_status kiln_module_global(kiln_array **out, kiln_module *module, const char *name, kiln_dtype dtype,
                               int ndim, const int64_t *shape)
{
    kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
    void *address = NULL;
    size_t size = 0, item = kiln_dtype_size(dtype);
    kiln_status status = check_names(out, module, name, "kiln_module_global");
    if (status == KILN_OK && item == 0)
        status = kn_error(KILN_ERROR_TYPE, "kiln_module_global: dtype %d is no dtype", (int)dtype);
    if (status != KILN_OK || item == 0)
        return status;
    status = find_global(module, name, &address, &size);
    if (status != KILN_OK)
        return status;
    int64_t whole = (int64_t)(size / item);
    spec.dtype = dtype;
    spec.ndim = ndim;
    spec.shape = shape || ndim != 1 ? shape : &whole;
    spec.device = module->device->id;
    status = kn_array_check_shape(dtype, ndim, spec.shape);
    if (status != KILN_OK)
        return status;
    int64_t wanted = kn_shape_size(ndim, spec.shape);
    if (wanted < 0 || (size_t)wanted > size / item)
        return kn_error(KILN_ERROR_SHAPE,
                        "global \"%s\" of module \"%s\" holds %zu bytes, %lld elements of %s were asked for",
                        name, module->name, size, (long long)wanted, kiln_dtype_name(dtype));
    return wrap_global(out, module, address, &spec);
}
