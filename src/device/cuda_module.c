/* Code on a CUDA device: loading it for good, and launching it. */
#include "device/cuda_module.h"

#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "device/capture_forbid.h"
#include "device/cuda_context.h"
#include "device/cuda_link.h"

enum { LOG_SIZE = 8192, SHARED_WITHOUT_ASKING = 48 << 10, CLUSTER_WITHOUT_ASKING = 8 };

struct kn_function {
    kn_function *next;
    kn_device *device;
    kn_module *module;
    kn_cu_function native;
    _Atomic unsigned shared_allowed; /* dynamic shared memory that may be asked for; 0: unknown yet */
    _Atomic bool has_large_clusters;
    char name[];
};

struct kn_module {
    kn_device *device;
    kn_cu_module native;
    _Atomic(kn_function *) functions;
    char name[];
};

/* ---- loading ---- */

/* PTX is text and must end in a NUL, which a blob need not have; binaries begin with a magic number. */
static bool is_binary(const void *code, size_t size)
{
    static const unsigned char fat[4] = {0x50, 0xed, 0x55, 0xba};
    return size >= 4 && (memcmp(code, "\177ELF", 4) == 0 || memcmp(code, fat, 4) == 0);
}

/* In the module's context. */
static kiln_status load_here(kn_module *module, const void *image)
{
    char *log = kn_calloc(1, LOG_SIZE);
    int options[] = {KN_CU_JIT_ERROR_LOG_BUFFER, KN_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)LOG_SIZE};
    kiln_status status = KN_CU(ModuleLoadDataEx, &module->native, image, log ? 2 : 0, options, values);
    if (status != KILN_OK && log && log[0])
        kn_error_set_log(log);
    kn_free(log);
    return status;
}

static kiln_status link_and_load(kn_module *module, const void *code, size_t size, bool binary)
{
    kn_cuda_linked linked = {NULL, NULL, NULL};
    kiln_status status = kn_cuda_link(&linked, code, size, binary, module->name);
    if (status == KILN_OK)
        status = load_here(module, linked.image);
    kn_cuda_linked_free(&linked);
    return status;
}

static kiln_status load_image(kn_module *module, const void *image, size_t size, bool binary)
{
    kn_cuda_scope scope;
    kiln_status status = kn_cuda_enter_relaxed(module->device, &scope);
    if (status == KILN_OK)
        status = kn_cuda_needs_link(image, size, binary) ? link_and_load(module, image, size, binary)
                                                         : load_here(module, image);
    kn_cuda_leave_relaxed(&scope);
    if (status != KILN_OK)
        kn_error_context("loading \"%s\"", module->name);
    return status;
}

kiln_status kn_cuda_module_load(kn_device *device, const void *code, size_t size, const char *name,
                                kn_module **out)
{
    char *text = NULL;
    if (!name)
        name = "module";
    if (kn_capture_forbids_code() != KILN_OK)
        return kn_error_context("loading \"%s\"", name);
    kn_module *module = kn_calloc(1, sizeof *module + strlen(name) + 1);
    if (!module)
        return kn_error_memory("a module");
    module->device = device;
    strcpy(module->name, name);
    kiln_status status = KILN_OK;
    if (!is_binary(code, size) && !(text = kn_strndup(code, size)))
        status = kn_error_memory("a module's text");
    if (status == KILN_OK)
        status = load_image(module, text ? text : code, size, !text);
    kn_free(text);
    if (status != KILN_OK) {
        kn_free(module);
        return status;
    }
    *out = module;
    return KILN_OK;
}

void kn_cuda_module_unload(kn_module *module)
{
    if (!module)
        return;
    KN_CU_RELEASE(module->device, ModuleUnload, module->native);
    for (kn_function *f = atomic_load(&module->functions), *next; f; f = next) {
        next = f->next;
        kn_free(f);
    }
    kn_free(module);
}

/* With lazy loading, the driver loads a function's code at its first use, which a capture allows in relaxed
 * mode only. So it is loaded now; older drivers do so if they are asked for an attribute. */
static kiln_status load_for_good(kn_cu_function function)
{
    int registers = 0;
    if (kn_cuda.FuncLoad)
        return KN_CU(FuncLoad, function);
    return KN_CU(FuncGetAttribute, &registers, KN_CU_FUNC_NUM_REGS, function);
}

static kiln_status find_function(kn_module *module, const char *name, kn_cu_function *out)
{
    kn_cuda_scope scope;
    kiln_status status = kn_cuda_enter_relaxed(module->device, &scope);
    if (status == KILN_OK)
        status = KN_CU(ModuleGetFunction, out, module->native, name);
    if (status == KILN_OK)
        status = load_for_good(*out);
    kn_cuda_leave_relaxed(&scope);
    if (status != KILN_OK)
        kn_error_context("function \"%s\" of \"%s\"", name, module->name);
    return status;
}

kiln_status kn_cuda_module_function(kn_module *module, const char *name, kn_function **out)
{
    kn_function *function = kn_calloc(1, sizeof *function + strlen(name) + 1);
    if (!function)
        return kn_error_memory("a function");
    function->device = module->device;
    function->module = module;
    atomic_init(&function->shared_allowed, 0);
    strcpy(function->name, name);
    kiln_status status = find_function(module, name, &function->native);
    if (status != KILN_OK) {
        kn_free(function);
        return status;
    }
    function->next = atomic_load(&module->functions);
    while (!atomic_compare_exchange_weak(&module->functions, &function->next, function))
        ;
    *out = function;
    return KILN_OK;
}

kiln_status kn_cuda_module_global(kn_module *module, const char *name, void **address, size_t *size)
{
    kn_cu_address found = 0;
    size_t bytes = 0;
    kn_cuda_scope scope;
    kiln_status status =
        KN_CU_RELAXED(&scope, module->device, ModuleGetGlobal, &found, &bytes, module->native, name);
    if (status != KILN_OK)
        return kn_error_context("global \"%s\" of \"%s\"", name, module->name);
    *address = (void *)(uintptr_t)found;
    if (size)
        *size = bytes;
    return KILN_OK;
}

kn_module *kn_cuda_function_module(kn_function *function)
{
    return function->module;
}

void *kn_cuda_module_handle(kn_module *module)
{
    return module->native;
}

void *kn_cuda_function_handle(kn_function *function)
{
    return function->native;
}

/* ---- launching ---- */

static kiln_status set_attribute(kn_function *f, int attribute, int value)
{
    kn_cuda_scope scope;
    return KN_CU_RELAXED(&scope, f->device, FuncSetAttribute, f->native, attribute, value);
}

static unsigned shared_allowed(const kn_function *f)
{
    return atomic_load_explicit(&f->shared_allowed, memory_order_relaxed);
}

/* A block has so many bytes without asking, those of the function's own variables among them. */
static kiln_status find_shared_allowed(kn_function *f)
{
    int own = 0;
    kn_cuda_scope scope;
    kiln_status status =
        KN_CU_RELAXED(&scope, f->device, FuncGetAttribute, &own, KN_CU_FUNC_SHARED_SIZE_BYTES, f->native);
    if (status == KILN_OK && own < SHARED_WITHOUT_ASKING)
        atomic_store_explicit(&f->shared_allowed, SHARED_WITHOUT_ASKING - (unsigned)own,
                              memory_order_relaxed);
    return status;
}

/* Sets the attributes that a function needs before its first launch with more shared memory. */
static kiln_status allow_shared(kn_function *f, unsigned bytes)
{
    kiln_status status = bytes > 0 && !shared_allowed(f) ? find_shared_allowed(f) : KILN_OK;
    if (status != KILN_OK || bytes <= shared_allowed(f))
        return status;
    status = set_attribute(f, KN_CU_FUNC_MAX_DYNAMIC_SHARED, (int)bytes);
    if (status == KILN_OK)
        atomic_store_explicit(&f->shared_allowed, bytes, memory_order_relaxed);
    return status;
}

static kiln_status allow(kn_function *f, const kn_launch *launch)
{
    kiln_status status = allow_shared(f, launch->shared_bytes);
    const unsigned *c = launch->cluster;
    if (status == KILN_OK && c[0] && (c[1] ? c[1] : 1) * (c[2] ? c[2] : 1) * c[0] > CLUSTER_WITHOUT_ASKING &&
        !atomic_load_explicit(&f->has_large_clusters, memory_order_relaxed)) {
        status = set_attribute(f, KN_CU_FUNC_NON_PORTABLE_CLUSTER, 1);
        if (status == KILN_OK)
            atomic_store_explicit(&f->has_large_clusters, true, memory_order_relaxed);
    }
    return status;
}

static kiln_status launch_config(kn_function *f, const kn_launch *launch, void *stream, void **params,
                                 kn_cu_attribute *attributes, unsigned count)
{
    kn_cu_launch_config config = {
        launch->grid[0],  launch->grid[1],      launch->grid[2], launch->block[0], launch->block[1],
        launch->block[2], launch->shared_bytes, stream,          attributes,       count};
    return kn_cuda_check(KN_CU_HELD(LaunchKernelEx, &config, f->native, params, NULL), "cuLaunchKernelEx");
}

static unsigned add_flag(kn_cu_attribute *attributes, unsigned count, int id)
{
    attributes[count].id = id;
    attributes[count].value.flag = 1;
    return count + 1;
}

static kiln_status launch_with_attributes(kn_function *f, const kn_launch *launch, void *stream,
                                          void **params)
{
    kn_cu_attribute attributes[3];
    unsigned count = 0;
    memset(attributes, 0, sizeof attributes);
    if (launch->is_dependent)
        count = add_flag(attributes, count, KN_CU_LAUNCH_PROGRAMMATIC);
    if (launch->is_cooperative)
        count = add_flag(attributes, count, KN_CU_LAUNCH_COOPERATIVE);
    if (launch->cluster[0]) {
        attributes[count].id = KN_CU_LAUNCH_CLUSTER_DIMENSION;
        attributes[count].value.cluster.x = launch->cluster[0];
        attributes[count].value.cluster.y = launch->cluster[1] ? launch->cluster[1] : 1;
        attributes[count++].value.cluster.z = launch->cluster[2] ? launch->cluster[2] : 1;
    }
    return launch_config(f, launch, stream, params, attributes, count);
}

/* The attribute of every dependent launch; the driver only reads it. */
static kn_cu_attribute dependent = {.id = KN_CU_LAUNCH_PROGRAMMATIC, .value.flag = 1};

static kiln_status launch_here(kn_function *f, const kn_launch *launch, void *stream)
{
    void *block = (void *)(uintptr_t)launch->block_data, **params = launch->params ? launch->params : &block;
    bool is_plain = !launch->is_cooperative && !launch->cluster[0];
    if (launch->shared_bytes > shared_allowed(f) || launch->cluster[0]) {
        kiln_status status = allow(f, launch);
        if (status != KILN_OK)
            return status;
    }
    if (is_plain && launch->is_dependent && kn_cuda.LaunchKernelEx)
        return launch_config(f, launch, stream, params, &dependent, 1);
    if (!is_plain && kn_cuda.LaunchKernelEx)
        return launch_with_attributes(f, launch, stream, params);
    if (!is_plain) /* a dependent launch without the attribute is merely not early */
        return kn_error(KILN_ERROR_UNSUPPORTED, "%s launches need a driver of CUDA 11.8 or later",
                        launch->is_cooperative ? "cooperative" : "cluster");
    return kn_cuda_check(KN_CU_HELD(LaunchKernel, f->native, launch->grid[0], launch->grid[1],
                                    launch->grid[2], launch->block[0], launch->block[1], launch->block[2],
                                    launch->shared_bytes, stream, params, NULL),
                         "cuLaunchKernel");
}

kiln_status kn_cuda_launch(kn_function *function, const kn_launch *launch, void *stream)
{
    KN_UNCANCELLED; /* once for all calls of the driver below */
    bool pushed;
    kiln_status status = kn_cuda_check_queue(function->device, stream);
    if (status == KILN_OK)
        status = kn_cuda_enter_held(function->device, &pushed);
    if (status != KILN_OK)
        return status;
    status = launch_here(function, launch, stream);
    kn_cuda_leave(pushed);
    if (status != KILN_OK)
        kn_error_context("launching \"%s\" (grid %u %u %u, block %u %u %u, %u bytes shared)", function->name,
                         launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0],
                         launch->block[1], launch->block[2], launch->shared_bytes);
    return status;
}

/* ---- asking ---- */

kiln_status kn_cuda_function_info(kn_function *function, kn_function_info *out)
{
    kn_function_info info = {0};
    const struct {
        int attribute, *value;
    } wanted[] = {{KN_CU_FUNC_MAX_THREADS_PER_BLOCK, &info.max_threads_per_block},
                  {KN_CU_FUNC_NUM_REGS, &info.registers},
                  {KN_CU_FUNC_SHARED_SIZE_BYTES, &info.shared_bytes},
                  {KN_CU_FUNC_CONST_SIZE_BYTES, &info.constant_bytes},
                  {KN_CU_FUNC_LOCAL_SIZE_BYTES, &info.local_bytes},
                  {KN_CU_FUNC_MAX_DYNAMIC_SHARED, &info.max_dynamic_shared_bytes},
                  {KN_CU_FUNC_BINARY_VERSION, &info.binary_version},
                  {KN_CU_FUNC_PTX_VERSION, &info.ptx_version}};
    kn_cuda_scope scope;
    kiln_status status = kn_cuda_enter_relaxed(function->device, &scope);
    for (size_t i = 0; status == KILN_OK && i < sizeof wanted / sizeof *wanted; i++)
        status = KN_CU(FuncGetAttribute, wanted[i].value, wanted[i].attribute, function->native);
    kn_cuda_leave_relaxed(&scope);
    if (status == KILN_OK)
        *out = info;
    return status;
}

kiln_status kn_cuda_occupancy(kn_function *function, int block_threads, size_t shared_bytes, int *blocks)
{
    kn_cuda_scope scope;
    return KN_CU_RELAXED(&scope, function->device, OccupancyMaxActiveBlocks, blocks, function->native,
                         block_threads, shared_bytes);
}

int kn_cuda_function_params(kn_function *function, size_t *size, int capacity)
{
    int count = 0;
    size_t offset, bytes;
    kn_cuda_scope scope;
    if (!kn_cuda.FuncGetParamInfo)
        return -1;
    bool is_here = kn_cuda_enter_relaxed(function->device, &scope) == KILN_OK;
    /* one past the last is an error of the driver's: that is how it tells the number */
    while (is_here && count < capacity &&
           KN_CU_CALL(FuncGetParamInfo, function->native, (size_t)count, &offset, &bytes) == KN_CU_SUCCESS)
        size[count++] = bytes;
    kn_cuda_leave_relaxed(&scope);
    return is_here ? count : -1;
}

kiln_status kn_cuda_function_allow_shared(kn_function *function, size_t bytes, int percent)
{
    if (bytes > INT_MAX)
        return kn_error(KILN_ERROR_INVALID, "%zu bytes of dynamic shared memory were asked for", bytes);
    kiln_status status = allow_shared(function, (unsigned)bytes);
    if (status == KILN_OK && percent > 0)
        status = set_attribute(function, KN_CU_FUNC_SHARED_CARVEOUT, percent);
    return status;
}
