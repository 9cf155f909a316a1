/*
 * bench_driver.c - the CUDA driver and NVRTC as a program without kiln would use them: hand-written kernels,
 * bare launches, captures.
 *
 * Both libraries are loaded at run time, so that the command runs where there is no GPU.
 */
#include "bench.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MODULES = 64, PROGRAMMATIC_STREAM_SERIALIZATION = 6 };

/* CUlaunchAttribute and CUlaunchConfig. */
typedef struct launch_attribute {
    int id;
    char pad[4];
    union {
        char pad[64];
        int flag;
    } value;
} launch_attribute;

typedef struct launch_config {
    unsigned grid[3], block[3], shared_bytes;
    void *stream;
    launch_attribute *attributes;
    unsigned attribute_count;
} launch_config;

#define DRIVER_FUNCTIONS(X)                                                                                  \
    X(CtxPushCurrent, cuCtxPushCurrent_v2, (void *context))                                                  \
    X(ModuleLoadData, cuModuleLoadData, (void **module, const void *code))                                   \
    X(ModuleUnload, cuModuleUnload, (void *module))                                                          \
    X(ModuleGetFunction, cuModuleGetFunction, (void **function, void *module, const char *name))             \
    X(LaunchKernel, cuLaunchKernel,                                                                          \
      (void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,         \
       unsigned shared, void *stream, void **params, void **extra))                                          \
    X(LaunchKernelEx, cuLaunchKernelEx,                                                                      \
      (const launch_config *config, void *function, void **params, void **extra))                            \
    X(MemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, (uintptr_t to, uintptr_t from, size_t bytes, void *stream))     \
    X(GetErrorName, cuGetErrorName, (int result, const char **name))
#define OPTIONAL_FUNCTIONS(X)                                                                                \
    X(FuncGetParamInfo, cuFuncGetParamInfo, (void *function, size_t at, size_t *offset, size_t *size))

#define NVRTC_FUNCTIONS(X)                                                                                   \
    X(CreateProgram, nvrtcCreateProgram,                                                                     \
      (void **program, const char *source, const char *name, int n_headers, const char *const *headers,      \
       const char *const *names))                                                                            \
    X(CompileProgram, nvrtcCompileProgram, (void *program, int n_options, const char *const *options))       \
    X(GetCubinSize, nvrtcGetCUBINSize, (void *program, size_t *size))                                        \
    X(GetCubin, nvrtcGetCUBIN, (void *program, char *cubin))                                                 \
    X(GetLogSize, nvrtcGetProgramLogSize, (void *program, size_t *size))                                     \
    X(GetLog, nvrtcGetProgramLog, (void *program, char *log))                                                \
    X(DestroyProgram, nvrtcDestroyProgram, (void **program))

struct bench_driver {
#define X(name, symbol, parameters) int(*name) parameters;
    DRIVER_FUNCTIONS(X)
    OPTIONAL_FUNCTIONS(X)
    NVRTC_FUNCTIONS(X)
#undef X
    void *library, *nvrtc;
    struct {
        char *source;
        void *module, *function;
    } loaded[MAX_MODULES]; /* sources seen */
    int n_loaded;
};

static bool find(bench *b, void *library, const char *symbol, bool is_optional, void *out)
{
    void *found = dlsym(library, symbol);
    memcpy(out, &found, sizeof found);
    return found || is_optional || bench_fail(b, "%s was not found", symbol);
}

static bool find_driver_functions(bench *b, bench_driver *d)
{
#define X(name, symbol, parameters) &&find(b, d->library, #symbol, false, &d->name)
#define Y(name, symbol, parameters) &&find(b, d->library, #symbol, true, &d->name)
    return true DRIVER_FUNCTIONS(X) OPTIONAL_FUNCTIONS(Y);
#undef Y
#undef X
}

static bool open_nvrtc(bench *b)
{
    bench_driver *d = b->driver;
    kiln_toolchain_info info = KILN_TOOLCHAIN_INFO_INIT;
    if (d->nvrtc)
        return true;
    if (!bench_check(b, kiln_toolchain_get_info("cuda", &info)))
        return false;
    void *library = dlopen(info.location, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return bench_fail(b, "%s", dlerror());
#define X(name, symbol, parameters) &&find(b, library, #symbol, false, &d->name)
    if (true NVRTC_FUNCTIONS(X))
        d->nvrtc = library;
#undef X
    else
        dlclose(library);
    return d->nvrtc != NULL;
}

static bool check(bench *b, int result, const char *what)
{
    const char *name = "an unknown error";
    if (result == 0)
        return true;
    b->driver->GetErrorName(result, &name);
    return bench_fail(b, "%s: %s", what, name);
}
#define DRIVER(b, name, ...) check(b, (b)->driver->name(__VA_ARGS__), "cu" #name)

bool bench_driver_open(bench *b)
{
    void *context = NULL;
    const char *told = secure_getenv("KILN_LIBCUDA");
    bench_driver *d = calloc(1, sizeof *d);
    if (!d)
        return bench_fail(b, "out of memory");
    b->driver = d;
    d->library = dlopen(told && *told ? told : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!d->library)
        return bench_fail(b, "%s", dlerror());
    return find_driver_functions(b, d) && bench_check(b, kiln_device_cuda_context(&context, b->device)) &&
           DRIVER(b, CtxPushCurrent, context);
}

void bench_driver_close(bench_driver *d)
{
    for (int k = 0; d && k < d->n_loaded; k++) {
        d->ModuleUnload(d->loaded[k].module);
        free(d->loaded[k].source);
    }
    if (d && d->nvrtc)
        dlclose(d->nvrtc);
    if (d && d->library)
        dlclose(d->library);
    free(d);
}

/* ---- NVRTC ---- */

static bool compile_error(bench *b, void *program)
{
    bench_driver *d = b->driver;
    size_t size = 0;
    char *log = d->GetLogSize(program, &size) == 0 ? calloc(1, size + 1) : NULL;
    if (log)
        d->GetLog(program, log);
    bench_fail(b, "NVRTC refused a source: %s", log ? log : "");
    free(log);
    return false;
}

static bool get_cubin(bench *b, void *program, void **cubin)
{
    size_t size;
    if (b->driver->GetCubinSize(program, &size) != 0 || !(*cubin = malloc(size)))
        return bench_fail(b, "NVRTC gave no cubin");
    return b->driver->GetCubin(program, *cubin) == 0 || bench_fail(b, "NVRTC gave no cubin");
}

/* The flags that kiln gives, fewest first to go where an older NVRTC knows them not. */
bool bench_driver_compile(bench *b, const char *source, void **cubin, double *ms)
{
    char architecture[64];
    const char *options[] = {
        architecture,         "-std=c++17", "-default-device", "-no-cache", "-modify-stack-limit=false",
        "-no-source-include", "-minimal"};
    void *program = NULL;
    if (cubin)
        *cubin = NULL;
    if (!open_nvrtc(b))
        return false;
    snprintf(architecture, sizeof architecture, "-arch=%s", b->properties.architecture);
    int result = 1;
    for (int count = 7; count >= 3 && result != 0; count--) {
        if (program)
            b->driver->DestroyProgram(&program);
        double start = cli_now_ms();
        if (b->driver->CreateProgram(&program, source, "bench.cu", 0, NULL, NULL) != 0)
            return bench_fail(b, "NVRTC took no program");
        result = b->driver->CompileProgram(program, count, options);
        *ms = cli_now_ms() - start;
    }
    bool ok = result == 0 ? !cubin || get_cubin(b, program, cubin) : compile_error(b, program);
    b->driver->DestroyProgram(&program);
    return ok;
}

static bool load(bench *b, const char *source, const char *name, void **function)
{
    bench_driver *d = b->driver;
    void *cubin = NULL, *module = NULL;
    double ms;
    bool ok = bench_driver_compile(b, source, &cubin, &ms) && DRIVER(b, ModuleLoadData, &module, cubin);
    ok = ok && DRIVER(b, ModuleGetFunction, function, module, name);
    char *copy = ok ? strdup(source) : NULL;
    if (copy) {
        d->loaded[d->n_loaded].source = copy;
        d->loaded[d->n_loaded].module = module;
        d->loaded[d->n_loaded++].function = *function;
    } else if (module)
        d->ModuleUnload(module);
    free(cubin);
    return copy || (ok && bench_fail(b, "out of memory"));
}

bool bench_driver_function(bench *b, void **out, const char *source, const char *name)
{
    bench_driver *d = b->driver;
    for (int k = 0; k < d->n_loaded; k++)
        if (strcmp(d->loaded[k].source, source) == 0) {
            *out = d->loaded[k].function;
            return true;
        }
    if (d->n_loaded == MAX_MODULES)
        return bench_fail(b, "more than %d hand-written kernels", MAX_MODULES);
    return load(b, source, name, out);
}

/* The name behind "void" of the source's __global__ function. */
static bool entry_name(char *out, size_t size, const char *source)
{
    const char *at = strstr(source, "__global__");
    at = at ? strchr(at, '(') : NULL;
    /* __launch_bounds__(256) may stand before the name. */
    while (at && at > source && strncmp(at - strlen("__launch_bounds__"), "__launch_bounds__", 17) == 0)
        at = strchr(at + 1, '(');
    if (!at)
        return false;
    const char *end = at, *begin = at;
    while (begin > source &&
           (begin[-1] == '_' || (begin[-1] >= '0' && begin[-1] <= '9') ||
            (begin[-1] >= 'A' && begin[-1] <= 'Z') || (begin[-1] >= 'a' && begin[-1] <= 'z')))
        begin--;
    return (size_t)snprintf(out, size, "%.*s", (int)(end - begin), begin) < size && end > begin;
}

size_t bench_driver_parameter_size(bench *b, const char *source)
{
    char name[256];
    void *function = NULL;
    size_t offset = 0, size = 0;
    if (!b->driver->FuncGetParamInfo || !entry_name(name, sizeof name, source) ||
        !bench_driver_function(b, &function, source, name))
        return 0;
    return b->driver->FuncGetParamInfo(function, 0, &offset, &size) == 0 ? size : 0;
}

/* ---- launches and copies ---- */

static void *native_stream(bench *b)
{
    return kiln_stream_cuda_handle(b->stream);
}

bool bench_driver_launch(bench *b, void *function, unsigned grid, unsigned block, void **params,
                         bool is_dependent)
{
    if (!is_dependent)
        return DRIVER(b, LaunchKernel, function, grid, 1, 1, block, 1, 1, 0, native_stream(b), params, NULL);
    launch_attribute attribute;
    memset(&attribute, 0, sizeof attribute);
    attribute.id = PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.flag = 1;
    launch_config config = {{grid, 1, 1}, {block, 1, 1}, 0, native_stream(b), &attribute, 1};
    return DRIVER(b, LaunchKernelEx, &config, function, params, NULL);
}

bool bench_driver_copy(bench *b, void *to, void *from, size_t bytes)
{
    return DRIVER(b, MemcpyDtoDAsync, (uintptr_t)to, (uintptr_t)from, bytes, native_stream(b));
}
