/* Raw modules where they run: instantiations of the library's own types, kernels that launch kernels, weak
 * integers in parameters of every size, native handles. */
#include "cases.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { N = 64 };

static kiln_module *module_of(const char *text, const char *const *expressions, int n_expressions,
                              const char *const *defines, int n_defines)
{
    kiln_module_options options = KILN_MODULE_OPTIONS_INIT;
    kiln_module *module = NULL;
    options.name_expressions = expressions;
    options.n_name_expressions = n_expressions;
    options.compile_options = defines;
    options.n_compile_options = n_defines;
    succeeded(kiln_module_create(&module, text, 0, &options), "module");
    return module;
}

static kiln_function *function_of(kiln_module *module, const char *name)
{
    kiln_function *function = NULL;
    if (module)
        succeeded(kiln_module_function(&function, module, name), name);
    return function;
}

static void launch(kiln_function *function, unsigned threads, const kiln_arg *args, int n)
{
    if (function)
        succeeded(kiln_function_launch(function, kiln_dims(1, 1, 1), kiln_dims(threads, 1, 1), args, n, NULL),
                  kiln_function_name(function));
}

/* Types that the source itself does not use, by names in other spellings than they were given in. */
static void types_of_name_expressions(void)
{
    static const char text[] = "#include <kiln/types.h>\n"
                               "template<class T> __global__ void square(T *x)\n"
                               "{ x[threadIdx.x] = x[threadIdx.x] * x[threadIdx.x]; }\n";
    static const char *const expressions[] = {"square<complex<double> >", "square<float16>"};
    const int64_t n = N;
    double z[2 * N], wanted[2 * N];
    uint16_t h[N], half_wanted[N];
    kiln_array *a = NULL, *b = NULL;
    for (int k = 0; k < N; ++k) {
        z[2 * k] = k, z[2 * k + 1] = 1;
        wanted[2 * k] = (double)k * k - 1, wanted[2 * k + 1] = 2.0 * k;
        h[k] = (uint16_t)(0x3c00 + 0x400 * (k % 3));           /* 1, 2, 4 */
        half_wanted[k] = (uint16_t)(0x3c00 + 0x800 * (k % 3)); /* 1, 4, 16 */
    }
    kiln_module *module = module_of(text, expressions, 2, NULL, 0);
    succeeded(kiln_array_from_host(&a, z, KILN_COMPLEX128, 1, &n, stage_device), "a");
    succeeded(kiln_array_from_host(&b, h, KILN_FLOAT16, 1, &n, stage_device), "b");
    kiln_arg in[] = {kiln_arg_array(a), kiln_arg_array(b)};
    launch(function_of(module, "square< complex<double>>"), N, &in[0], 1);
    launch(function_of(module, " square<float16 >"), N, &in[1], 1);
    succeeded(kiln_array_to_host(a, z, sizeof z), "back");
    succeeded(kiln_array_to_host(b, h, sizeof h), "back");
    trouble_unless(memcmp(z, wanted, sizeof z) == 0, "the squares of complex numbers are wrong");
    trouble_unless(memcmp(h, half_wanted, sizeof h) == 0, "the squares of halves are wrong");
    kiln_array_free(a);
    kiln_array_free(b);
    kiln_module_free(module);
}

/* Where the toolkit's libcudadevrt.a is at hand; without it the refusal names it. */
static void kernels_that_launch_kernels(void)
{
    static const char text[] = "__global__ void child(int *x, int by) { x[threadIdx.x] += by; }\n"
                               "extern \"C\" __global__ void parent(int *x, int n)\n"
                               "{ child<<<1, n>>>(x, 5); child<<<1, n>>>(x, 2); }\n";
    static const char *const apart[] = {"-dc"};
    const int64_t n = N;
    int32_t x[N];
    kiln_array *a = NULL;
    kiln_module *module = NULL;
    kiln_module_options options = KILN_MODULE_OPTIONS_INIT;
    options.compile_options = apart;
    options.n_compile_options = 1;
    kiln_status status = kiln_module_create(&module, text, 0, &options);
    if (status != KILN_OK && strstr(kiln_error_message(), "was not found")) {
        trouble_unless(strstr(kiln_error_message(), "libcudadevrt.a") != NULL, "%s", kiln_error_message());
        return;
    }
    succeeded(status, "module");
    succeeded(kiln_array_zeros(&a, KILN_INT32, 1, &n, stage_device), "a");
    kiln_arg in[] = {kiln_arg_array(a), kiln_arg_int(N)};
    launch(function_of(module, "parent"), 1, in, 2);
    succeeded(kiln_array_to_host(a, x, sizeof x), "back");
    for (int k = 0; k < N; ++k)
        trouble_unless(x[k] == 7, "x[%d] is %d, not 7", k, (int)x[k]);
    kiln_array_free(a);
    kiln_module_free(module);
}

static void weak_integers(void)
{
    static const char text[] =
        "extern \"C\" __global__ void sum(long long *x, signed char a, unsigned char b, short c, int d,\n"
        "                               unsigned e, long long f)\n"
        "{ x[0] = a; x[1] = b; x[2] = c; x[3] = d; x[4] = e; x[5] = f; }\n";
    static const int64_t values[] = {-128, 255, -32768, INT32_MIN, UINT32_MAX, INT64_MIN};
    const int64_t n = 6;
    int64_t back[6];
    kiln_array *a = NULL;
    kiln_module *module = module_of(text, NULL, 0, NULL, 0);
    kiln_function *sum = function_of(module, "sum");
    succeeded(kiln_array_zeros(&a, KILN_INT64, 1, &n, stage_device), "a");
    kiln_arg in[7] = {kiln_arg_array(a)};
    for (int k = 0; k < 6; ++k)
        in[k + 1] = kiln_arg_int(values[k]);
    kiln_function_attributes known = KILN_FUNCTION_ATTRIBUTES_INIT;
    if (sum && succeeded(kiln_function_get_attributes(sum, &known), "attributes") && known.n_params == 7) {
        launch(sum, 1, in, 7);
        succeeded(kiln_array_to_host(a, back, sizeof back), "back");
        trouble_unless(memcmp(back, values, sizeof back) == 0, "the integers came otherwise");
        in[1] = kiln_arg_int(256);
        refused(kiln_function_launch(sum, kiln_dims(1, 1, 1), kiln_dims(1, 1, 1), in, 7, NULL),
                KILN_ERROR_INVALID, "argument 1 is 256|-128 to 255");
    }
    kiln_array_free(a);
    kiln_module_free(module);
}

static void native_handles(void)
{
    kiln_module *module = module_of("extern \"C\" __global__ void f(int *x) { *x = 1; }", NULL, 0, NULL, 0);
    kiln_function *function = function_of(module, "f");
    const char *path = getenv("KILN_LIBCUDA");
    void *library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW), *context = NULL, *found = NULL;
    int (*get)(void **, void *, const char *), (*push)(void *), (*pop)(void **);
    *(void **)&get = library ? dlsym(library, "cuModuleGetFunction") : NULL;
    *(void **)&push = library ? dlsym(library, "cuCtxPushCurrent_v2") : NULL;
    *(void **)&pop = library ? dlsym(library, "cuCtxPopCurrent_v2") : NULL;
    succeeded(kiln_device_cuda_context(&context, stage_device), "context");
    if (trouble_unless(get && push && pop, "the driver lacks a function") && module) {
        push(context);
        trouble_unless(get(&found, kiln_module_cuda_handle(module), "f") == 0, "the driver does not know f");
        pop(&context);
    }
    trouble_unless(found && found == kiln_function_cuda_handle(function), "the CUfunction is another");
    kiln_module_free(module);
}

const test_case module_cases[] = {
    {"types_of_name_expressions", types_of_name_expressions, CASE_CUDA | CASE_DEVICE},
    {"kernels_that_launch_kernels", kernels_that_launch_kernels, CASE_CUDA | CASE_DEVICE},
    {"weak_integers", weak_integers, CASE_CUDA | CASE_DEVICE},
    {"native_handles", native_handles, CASE_CUDA},
    {NULL, NULL, 0},
};
