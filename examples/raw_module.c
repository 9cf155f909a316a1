/*
 * raw_module.c - whole CUDA sources: functions, template instantiations, globals, structs by value,
 * cooperative launches, attributes.
 *
 * Modules are for CUDA devices: where there is none the source is only compiled.
 */
#include <kiln/kiln.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1000, BLOCK = 128, BLOCKS = (COUNT + BLOCK - 1) / BLOCK };

static const char source[] =
    "struct range { float low, high; };\n"
    "__constant__ float weights[3];\n"
    "__device__ unsigned arrived;\n"
    "\n"
    "extern \"C\" __global__ void clip(float *x, int n, range r)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n)\n"
    "        x[i] = fminf(fmaxf(x[i], r.low), r.high);\n"
    "}\n"
    "\n"
    "template <class T, int Power> __global__ void power(T *out, const T *in, long long n)\n"
    "{\n"
    "    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
    "    T value = 1;\n"
    "    for (int p = 0; p < Power && i < n; p++)\n"
    "        value *= in[i];\n"
    "    if (i < n)\n"
    "        out[i] = value;\n"
    "}\n"
    "\n"
    "extern \"C\" __global__ void weigh(float *out, const float *in, long long n)\n"
    "{\n"
    "    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
    "    if (i < n)\n"
    "        out[i] = weights[0] + weights[1] * in[i] + weights[2] * in[i] * in[i];\n"
    "}\n"
    "\n"
    "// Every block waits for all others: only a cooperative launch may do that.\n"
    "extern \"C\" __global__ void shift(float *x, long long n)\n"
    "{\n"
    "    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
    "    float next = i < n ? x[(i + 1) % n] : 0;\n"
    "    __syncthreads();\n"
    "    if (threadIdx.x == 0) {\n"
    "        __threadfence();\n"
    "        atomicAdd(&arrived, 1u);\n"
    "        while (atomicAdd(&arrived, 0u) < gridDim.x) {}\n"
    "        __threadfence();\n"
    "    }\n"
    "    __syncthreads();\n"
    "    if (i < n)\n"
    "        x[i] = next;\n"
    "}\n";

/* A program may end on the first error; the library leaves that to its caller. */
static void must(kiln_status status)
{
    if (status == KILN_OK)
        return;
    fprintf(stderr, "%s: %s\n%s\n", kiln_status_name(status), kiln_error_message(), kiln_error_log());
    exit(1);
}

static void expect(bool holds, const char *what)
{
    printf("%s: %s\n", what, holds ? "yes" : "NO");
    if (!holds)
        exit(1);
}

/* target: NULL for the current device, or an architecture to compile for without one. */
static kiln_status create(kiln_module **module, const char *target)
{
    static const char *const instantiations[] = {"power<float, 3>", "power<double, 2>"};
    kiln_module_options options = KILN_MODULE_OPTIONS_INIT;
    options.name = "raw_module";
    options.name_expressions = instantiations;
    options.n_name_expressions = 2;
    options.target = target;
    kiln_status status = kiln_module_create(module, source, 0, &options);
    if (status != KILN_OK)
        return status;
    kiln_call_info info = KILN_CALL_INFO_INIT;
    must(kiln_kernel_last_call(&info));
    printf("%zu bytes of code, from %s\n", info.code_bytes,
           info.origin == KILN_ORIGIN_DISK ? "disk" : "the compiler");
    return KILN_OK;
}

static kiln_array *numbers(kiln_dtype dtype)
{
    kiln_array *x = NULL;
    must(kiln_array_arange(&x, 0, COUNT, 1, dtype, KILN_DEVICE_DEFAULT));
    return x;
}

/* An int parameter is not a long long: a typed scalar says so. The struct goes by value. */
static void clip(kiln_module *module)
{
    struct {
        float low, high;
    } range = {10, 20};
    const int32_t n = COUNT;
    float back[COUNT];
    kiln_function *function = NULL;
    kiln_array *x = numbers(KILN_FLOAT32);
    must(kiln_module_function(&function, module, "clip"));
    kiln_arg args[] = {kiln_arg_array(x), kiln_arg_typed(KILN_INT32, &n),
                       kiln_arg_struct(&range, sizeof range)};
    must(kiln_function_launch(function, kiln_dims(BLOCKS, 1, 1), kiln_dims(BLOCK, 1, 1), args, 3, NULL));
    must(kiln_array_to_host(x, back, sizeof back));
    expect(back[0] == 10 && back[15] == 15 && back[COUNT - 1] == 20, "clipped to a struct's bounds");
    kiln_array_free(x);
}

static void power(kiln_module *module)
{
    double back[COUNT];
    kiln_function *function = NULL;
    kiln_array *x = numbers(KILN_FLOAT64), *y = numbers(KILN_FLOAT64);
    must(kiln_module_function(&function, module, "power<double, 2>"));
    kiln_arg args[] = {kiln_arg_array(y), kiln_arg_array(x), kiln_arg_int(COUNT)};
    must(kiln_function_launch(function, kiln_dims(BLOCKS, 1, 1), kiln_dims(BLOCK, 1, 1), args, 3, NULL));
    must(kiln_array_to_host(y, back, sizeof back));
    expect(back[3] == 9 && back[COUNT - 1] == 999.0 * 999.0, "squared by an instantiation of a template");
    printf("its name in the code: %s\n", kiln_function_name(function));
    kiln_array_free(x);
    kiln_array_free(y);
}

/* A global is an array like any other: here it is filled from host memory. */
static void weigh(kiln_module *module)
{
    const float values[3] = {1, 2, 3};
    float back[COUNT];
    kiln_function *function = NULL;
    kiln_array *weights = NULL, *x = numbers(KILN_FLOAT32), *y = numbers(KILN_FLOAT32);
    must(kiln_module_global(&weights, module, "weights", KILN_FLOAT32, 1, NULL));
    must(kiln_array_set_from_host(weights, values, sizeof values));
    must(kiln_module_function(&function, module, "weigh"));
    kiln_arg args[] = {kiln_arg_array(y), kiln_arg_array(x), kiln_arg_int(COUNT)};
    must(kiln_function_launch(function, kiln_dims(BLOCKS, 1, 1), kiln_dims(BLOCK, 1, 1), args, 3, NULL));
    must(kiln_array_to_host(y, back, sizeof back));
    expect(back[0] == 1 && back[2] == 1 + 4 + 12, "weighed by a constant array of the module");
    kiln_array_free(weights);
    kiln_array_free(x);
    kiln_array_free(y);
}

static void shift(kiln_module *module)
{
    float back[COUNT];
    kiln_function *function = NULL;
    kiln_array *x = numbers(KILN_FLOAT32);
    kiln_launch_options options = KILN_LAUNCH_OPTIONS_INIT;
    options.flags = KILN_LAUNCH_COOPERATIVE;
    must(kiln_module_function(&function, module, "shift"));
    kiln_arg args[] = {kiln_arg_array(x), kiln_arg_int(COUNT)};
    must(kiln_function_launch(function, kiln_dims(BLOCKS, 1, 1), kiln_dims(BLOCK, 1, 1), args, 2, &options));
    must(kiln_array_to_host(x, back, sizeof back));
    expect(back[0] == 1 && back[COUNT - 2] == COUNT - 1 && back[COUNT - 1] == 0,
           "shifted in place by blocks that wait for each other");

    kiln_function_attributes a = KILN_FUNCTION_ATTRIBUTES_INIT;
    int blocks = 0;
    must(kiln_function_get_attributes(function, &a));
    must(kiln_function_occupancy(function, &blocks, BLOCK, 0));
    printf("shift: %d registers, sm_%d, %d blocks of %d on a multiprocessor\n", a.registers, a.binary_version,
           blocks, BLOCK);
    kiln_array_free(x);
}

static void show_errors(kiln_module *module)
{
    kiln_function *function = NULL;
    kiln_module *broken = NULL;
    kiln_status status = kiln_module_function(&function, module, "absent");
    expect(status == KILN_ERROR_NOT_FOUND, "a function that is not there is not found");
    printf("  %s\n", kiln_error_message());
    status = kiln_module_create(&broken, "__global__ void f()\n{\n    oops;\n}\n", 0, NULL);
    expect(status == KILN_ERROR_COMPILE, "a source that does not compile is refused");
    printf("  %s\n", kiln_error_message());
}

static void compile_alone(void)
{
    kiln_module *module = NULL;
    printf("modules run on CUDA devices, and there is none: %s\n", kiln_device_why_no_cuda());
    if (create(&module, "sm_90") == KILN_OK)
        printf("compiled for sm_90 all the same\n");
    else if (kiln_error_status() == KILN_ERROR_NOT_FOUND)
        printf("not compiled: %s\n", kiln_error_message());
    else
        must(kiln_error_status());
    kiln_module_free(module);
}

int main(void)
{
    kiln_device current;
    kiln_module *module = NULL;
    must(kiln_device_current(&current));
    if (!KILN_DEVICE_IS_CUDA(current)) {
        compile_alone();
        return 0;
    }
    must(create(&module, NULL));
    clip(module);
    power(module);
    weigh(module);
    shift(module);
    show_errors(module);
    kiln_module_free(module);
    return 0;
}
