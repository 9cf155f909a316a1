/*
 * raw_module.c - whole CUDA sources: functions by name, template instantiations, globals, structs, headers in memory, a cooperative launch,
 * attributes. Needs a CUDA device; without one it compiles for sm_90, and ends there (exit code 77).
 */
#include <kiln/kiln.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1000, BLOCK = 128, GRID = (COUNT + BLOCK - 1) / BLOCK };

static const char source[] =
    "#include \"point.h\"\n"
    "\n"
    "extern \"C\" __global__ void add(const float *x, const float *y, float *z, int n)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n)\n"
    "        z[i] = x[i] + y[i];\n"
    "}\n"
    "\n"
    "template <typename T> __global__ void scale(T *x, T factor, int n)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n)\n"
    "        x[i] *= factor;\n"
    "}\n"
    "\n"
    "__constant__ float coefficients[3];\n"
    "\n"
    "extern \"C\" __global__ void polynomial(const float *x, float *z, int n)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n)\n"
    "        z[i] = (coefficients[2] * x[i] + coefficients[1]) * x[i] + coefficients[0];\n"
    "}\n"
    "\n"
    "extern \"C\" __global__ void shift(float *x, point by, int n)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n)\n"
    "        x[i] += i % 2 ? by.odd : by.even;\n"
    "}\n"
    "\n"
    "__device__ unsigned arrived;\n"
    "\n"
    "// Every block writes its part, all wait for all, then the first adds the parts up: a cooperative "
    "launch keeps all blocks running.\n"
    "extern \"C\" __global__ void total(const float *x, float *parts, float *sum, int n)\n"
    "{\n"
    "    extern __shared__ float held[];\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    held[threadIdx.x] = i < n ? x[i] : 0;\n"
    "    __syncthreads();\n"
    "    if (threadIdx.x == 0) {\n"
    "        float part = 0;\n"
    "        for (int k = 0; k < blockDim.x; k++)\n"
    "            part += held[k];\n"
    "        parts[blockIdx.x] = part;\n"
    "        __threadfence();\n"
    "        atomicAdd(&arrived, 1);\n"
    "        while (atomicAdd(&arrived, 0) < gridDim.x)\n"
    "            ;\n"
    "        __threadfence();\n"
    "        if (blockIdx.x == 0) {\n"
    "            *sum = 0;\n"
    "            for (int k = 0; k < gridDim.x; k++)\n"
    "                *sum += ((volatile float *)parts)[k];\n"
    "        }\n"
    "    }\n"
    "}\n";

static const char header[] = "struct point { float even, odd; };\n";

static void must(kiln_status status)
{
    if (status == KILN_OK)
        return;
    fprintf(stderr, "%s: %s\n%s", kiln_status_name(status), kiln_error_message(), kiln_error_log());
    exit(1);
}

/* Compares `count` elements with first + step * index. */
static void expect_line(kiln_array *array, const char *what, int count, float first, float step)
{
    static float got[COUNT];
    must(kiln_array_to_host(array, got, (size_t)count * sizeof *got));
    for (int k = 0; k < count; k++) {
        if (got[k] != first + step * (float)k) {
            fprintf(stderr, "%s: element %d is %g, not %g\n", what, k, (double)got[k],
                    (double)(first + step * (float)k));
            exit(1);
        }
    }
    printf("%s: right\n", what);
}

static kiln_status create(kiln_module **out, const char *target)
{
    static const char *const names[] = {"point.h"}, *const texts[] = {header};
    static const char *const instances[] = {"scale<float>", "scale<double>"};
    kiln_module_options options = KILN_MODULE_OPTIONS_INIT;
    options.name = "raw";
    options.target = target;
    options.header_names = names;
    options.header_texts = texts;
    options.n_headers = 1;
    options.name_expressions = instances;
    options.n_name_expressions = 2;
    return kiln_module_create(out, source, 0, &options);
}

static void launch(kiln_module *m, const char *name, const kiln_arg *args, int n_args)
{
    kiln_function *f = NULL;
    must(kiln_module_function(&f, m, name));
    must(kiln_function_launch(f, kiln_dims(GRID, 1, 1), kiln_dims(BLOCK, 1, 1), args, n_args, NULL));
}

static kiln_arg count_argument(void)
{
    const int32_t n = COUNT;
    return kiln_arg_typed(KILN_INT32, &n);
}

static void show_functions(kiln_module *m, kiln_array *x)
{
    const float three = 3;
    kiln_array *z = NULL;
    must(kiln_array_copy(&z, x));
    const kiln_arg add[] = {kiln_arg_array(x), kiln_arg_array(x), kiln_arg_array(z), count_argument()};
    launch(m, "add", add, 4);
    expect_line(z, "extern \"C\" function", COUNT, 0, 2);
    const kiln_arg scale[] = {kiln_arg_array(z), kiln_arg_typed(KILN_FLOAT32, &three), count_argument()};
    launch(m, "scale<float>", scale, 3);
    expect_line(z, "template instantiation", COUNT, 0, 6);
    kiln_array_free(z);
}

static void show_global(kiln_module *m, kiln_array *x)
{
    const float values[3] = {5, 2, 0};
    const int64_t shape[1] = {3};
    kiln_array *coefficients = NULL, *z = NULL;
    must(kiln_module_global(&coefficients, m, "coefficients", KILN_FLOAT32, 1, shape));
    must(kiln_array_set_from_host(coefficients, values, sizeof values));
    must(kiln_array_copy(&z, x));
    const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_array(z), count_argument()};
    launch(m, "polynomial", in, 3);
    expect_line(z, "constants set from the host", COUNT, 5, 2);
    kiln_array_free(z);
    kiln_array_free(coefficients);
}

static void show_struct(kiln_module *m, kiln_array *x)
{
    const struct {
        float even, odd;
    } by = {1, 1};
    kiln_array *z = NULL;
    must(kiln_array_copy(&z, x));
    const kiln_arg in[] = {kiln_arg_array(z), kiln_arg_struct(&by, sizeof by), count_argument()};
    launch(m, "shift", in, 3);
    expect_line(z, "struct by value", COUNT, 1, 1);
    kiln_array_free(z);
}

static void show_cooperation(kiln_module *m, kiln_array *x)
{
    const int64_t parts_shape[1] = {GRID}, one[1] = {1};
    kiln_array *parts = NULL, *sum = NULL;
    kiln_function *f = NULL;
    kiln_launch_options options = KILN_LAUNCH_OPTIONS_INIT;
    options.flags = KILN_LAUNCH_COOPERATIVE;
    options.shared_bytes = BLOCK * sizeof(float);
    must(kiln_array_zeros(&parts, KILN_FLOAT32, 1, parts_shape, KILN_DEVICE_DEFAULT));
    must(kiln_array_zeros(&sum, KILN_FLOAT32, 1, one, KILN_DEVICE_DEFAULT));
    must(kiln_module_function(&f, m, "total"));
    const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_array(parts), kiln_arg_array(sum), count_argument()};
    must(kiln_function_launch(f, kiln_dims(GRID, 1, 1), kiln_dims(BLOCK, 1, 1), in, 4, &options));
    expect_line(sum, "cooperative launch", 1, COUNT * (COUNT - 1) / 2.0F, 0);
    kiln_array_free(sum);
    kiln_array_free(parts);
}

static void show_attributes(kiln_module *m)
{
    int blocks = 0;
    kiln_function *f = NULL;
    kiln_function_attributes attributes = KILN_FUNCTION_ATTRIBUTES_INIT;
    must(kiln_module_function(&f, m, "add"));
    must(kiln_function_get_attributes(f, &attributes));
    must(kiln_function_occupancy(f, &blocks, BLOCK, 0));
    printf("add: %d registers a thread, %d blocks a multiprocessor\n", attributes.registers, blocks);
    if (attributes.registers < 1 || blocks < 1)
        exit(1);
}

/* What can be done without a device. */
static int compile_alone(void)
{
    kiln_module *m = NULL;
    const void *code = NULL;
    size_t size = 0;
    printf("no CUDA device: %s\n", kiln_device_why_no_cuda());
    if (create(&m, "sm_90") == KILN_OK && kiln_module_code(&code, &size, m) == KILN_OK)
        printf("compiled for sm_90: %zu bytes\n", size);
    else if (kiln_error_status() == KILN_ERROR_NOT_FOUND)
        printf("%s\n", kiln_error_message());
    else
        must(kiln_error_status());
    kiln_module_free(m);
    return 77;
}

int main(void)
{
    int devices = 0;
    kiln_array *x = NULL;
    kiln_module *m = NULL;
    must(kiln_device_count(&devices));
    if (devices == 0)
        return compile_alone();
    must(kiln_device_set_current(KILN_DEVICE_CUDA(0)));
    must(create(&m, NULL));
    must(kiln_array_arange(&x, 0, COUNT, 1, KILN_FLOAT32, KILN_DEVICE_DEFAULT));
    show_functions(m, x);
    show_global(m, x);
    show_struct(m, x);
    show_cooperation(m, x);
    show_attributes(m);
    kiln_array_free(x);
    kiln_module_free(m);
    return 0;
}
