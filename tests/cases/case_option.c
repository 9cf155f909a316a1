/* Options of kernels and of calls: compiler options, floating-point flags, headers in memory, blocks,
 * streams, no compiling. */
#include "cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void tripled(const element *e)
{
    OUT(float, 0) = IN(float, 0) * 3;
}

static void defines(void)
{
    static const char *const compile_options[] = {"-DWIDTH=3"};
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.compile_options = compile_options;
    options.n_compile_options = 1;
    stage *s = stage_create("float32 x", "float32 z", "z = x * WIDTH", &options, case_seed());
    stage_in(s, KILN_FLOAT32, "1003", "C", FILL_SMALL);
    stage_out(s, KILN_FLOAT32, "1003", "C");
    stage_check(s, tripled, NULL);
    stage_free(s);
}

static void headers_in_memory(void)
{
    static const char *const names[] = {"thrice.h", "deep/three.h"};
    static const char *const texts[] = {
        "#include \"deep/three.h\"\ntemplate <class T> __device__ T thrice(T x) { return THREE * x; }\n",
        "#define THREE 3\n"};
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.preamble = "#include \"thrice.h\"";
    options.header_names = names;
    options.header_texts = texts;
    options.n_headers = 2;
    stage *s = stage_create("float32 x", "float32 z", "z = thrice(x)", &options, case_seed());
    stage_in(s, KILN_FLOAT32, "1003", "C", FILL_SMALL);
    stage_out(s, KILN_FLOAT32, "1003", "/0");
    stage_check(s, tripled, NULL);
    stage_free(s);
}

static void quadrupled(const element *e)
{
    OUT(float, 0) = IN(float, 0) * 4;
}

static kiln_kernel *create_scaled(const char *folder)
{
    char include[64];
    const char *compile_options[] = {include};
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    kiln_kernel *kernel = NULL;
    snprintf(include, sizeof include, "-I%s", folder);
    options.preamble = "#include \"scale.h\"";
    options.compile_options = compile_options;
    options.n_compile_options = 1;
    succeeded(kiln_elementwise_create(&kernel, "float32 x", "float32 z", "z = x * SCALE", "scaled", &options),
              "create");
    return kernel;
}

static void write_scale(const char *folder, int scale)
{
    char path[64];
    snprintf(path, sizeof path, "%s/scale.h", folder);
    FILE *file = fopen(path, "w");
    if (!trouble_unless(file != NULL, "%s cannot be written", path))
        return;
    fprintf(file, "#define SCALE %d\n", scale);
    fclose(file);
}

static void check_scaled(kiln_kernel *kernel, const char *shape, expectation expect)
{
    stage *s = stage_over(kernel, case_seed());
    stage_in(s, KILN_FLOAT32, shape, "C", FILL_SMALL);
    stage_out(s, KILN_FLOAT32, shape, "C");
    stage_check(s, expect, NULL);
    stage_free(s);
}

/* A kernel keeps the code that it has called; one made after a header changed has the new text. */
static void headers_that_change(void)
{
    char folder[] = "/tmp/kiln-headers-XXXXXX", path[64];
    if (!trouble_unless(mkdtemp(folder) != NULL, "no temporary folder"))
        return;
    write_scale(folder, 3);
    kiln_kernel *first = create_scaled(folder);
    check_scaled(first, "1003", tripled);
    write_scale(folder, 4);
    kiln_kernel *second = create_scaled(folder);
    check_scaled(second, "1003", quadrupled);
    check_scaled(first, "1003", tripled);
    check_scaled(first, "1007", tripled);
    write_scale(folder, 3);
    kiln_kernel *third = create_scaled(folder);
    check_scaled(third, "1003", tripled);
    check_scaled(second, "1007", quadrupled);
    kiln_kernel_free(first);
    kiln_kernel_free(second);
    kiln_kernel_free(third);
    snprintf(path, sizeof path, "%s/scale.h", folder);
    unlink(path);
    rmdir(folder);
}

/* (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24 where the product is not rounded, and 0 where it is. */
static void rounded_twice(const element *e)
{
    OUT(float, 0) = 0;
}

static void rounded_once(const element *e)
{
    OUT(float, 0) = 0x1p-24f;
}

static void contract(unsigned flags, expectation expect)
{
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.flags = flags;
    stage *s = stage_create("float32 x, float32 y", "float32 z", "z = x * x - y", &options, case_seed());
    stage_real(s, kiln_arg_float(1 + 0x1p-12), KILN_FLOAT32, 1 + 0x1p-12);
    stage_real(s, kiln_arg_float(1 + 0x1p-11), KILN_FLOAT32, 1 + 0x1p-11);
    stage_out(s, KILN_FLOAT32, "1003", "C");
    stage_check(s, expect, NULL);
    stage_free(s);
}

static void no_fma(void)
{
    contract(KILN_KERNEL_NO_FMA, rounded_twice);
}

static void fma_on_cuda(void)
{
    contract(0, rounded_once);
}

static void approximate(const element *e)
{
    set_out(e, 0, in_number(e, 0).re / in_number(e, 1).re + sin(in_number(e, 0).re));
}

static void fast_math(void)
{
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.flags = KILN_KERNEL_FAST_MATH;
    stage *s = stage_create("float32 x, float32 y", "float32 z", "z = x / y + sin(x)", &options, case_seed());
    stage_in(s, KILN_FLOAT32, "1003", "C", FILL_POSITIVE);
    stage_in(s, KILN_FLOAT32, "1003", "C", FILL_POSITIVE);
    stage_out(s, KILN_FLOAT32, "1003", "C");
    stage_tolerate(s, 1e-5);
    stage_check(s, approximate, NULL);
    stage_free(s);
}

static void exact(const element *e)
{
    OUT(float, 0) = IN(float, 0) / IN(float, 1);
    OUT(float, 1) = sqrtf(IN(float, 0));
}

/* Division and square root round as IEEE has it unless fast mathematics was asked for. */
static void ieee_division(void)
{
    stage *s = STAGE("float32 x, float32 y", "float32 z, float32 w", "z = x / y; w = sqrt(x)");
    stage_in(s, KILN_FLOAT32, "65536", "C", FILL_BITS);
    stage_in(s, KILN_FLOAT32, "65536", "C", FILL_BITS);
    stage_out(s, KILN_FLOAT32, "65536", "C");
    stage_out(s, KILN_FLOAT32, "65536", "C");
    stage_check(s, exact, NULL);
    stage_free(s);
}

static void blocks(void)
{
    static const int sizes[] = {32, 64, 96, 128, 512, 1024};
    static const char *const layouts[] = {"C", "/0", "F"};
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; ++k)
        for (int l = 0; l < 3; ++l) {
            options.block = sizes[k];
            stage *s = STAGE("float32 x", "float32 z", "z = x * 3");
            stage_in(s, KILN_FLOAT32, "130,64", layouts[l], FILL_SMALL);
            stage_out(s, KILN_FLOAT32, "130,64", "C");
            stage_check(s, tripled, &options);
            stage_free(s);
        }
}

/* Blocks are CUDA's: the host takes any number and goes on without them. */
static void blocks_of_the_host(void)
{
    static const int sizes[] = {1, 7, 33, 100, 1025, 4096, 1 << 16, INT32_MAX};
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    stage *s = STAGE("float32 x", "float32 z", "z = x * 3");
    stage_in(s, KILN_FLOAT32, "130,64", "C", FILL_SMALL);
    stage_out(s, KILN_FLOAT32, "130,64", "C");
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; ++k) {
        options.block = sizes[k];
        stage_check(s, tripled, &options);
    }
    stage_free(s);
}

static void streams(void)
{
    kiln_stream *stream = NULL;
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    succeeded(kiln_stream_create(&stream, stage_device, KILN_STREAM_NON_BLOCKING), "kiln_stream_create");
    options.stream = stream;
    for (int turn = 0; turn < 3; ++turn) {
        stage *s = STAGE("float32 x", "float32 z", "z = x * 3");
        stage_in(s, KILN_FLOAT32, "1000,33", turn == 1 ? "F" : "C", FILL_SMALL);
        if (turn == 2)
            stage_out_fresh(s, KILN_FLOAT32);
        else
            stage_out(s, KILN_FLOAT32, "1000,33", "C");
        /* The uploads ran on the default stream, which this one does not wait for. */
        succeeded(kiln_device_synchronize(stage_device), "kiln_device_synchronize");
        stage_check(s, tripled, &options);
        stage_free(s);
    }
    kiln_stream_free(stream);
}

static kiln_status call_without_compiling(stage *s)
{
    int n_in, n_out;
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    options.flags = KILN_CALL_NO_COMPILE;
    kiln_arg *in = stage_args(s, &n_in);
    kiln_array **out = stage_outs(s, &n_out);
    return kiln_kernel_call(stage_kernel(s), out, n_out, in, n_in, &options);
}

static void no_compile(void)
{
    stage *s = STAGE("float32 x", "float32 z", "z = x * 3 + 0 * 12345");
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    int n_in, n_out;
    stage_in(s, KILN_FLOAT32, "1003", "C", FILL_SMALL);
    stage_out(s, KILN_FLOAT32, "1003", "C");
    refused(call_without_compiling(s), KILN_ERROR_FORBIDDEN, "case_kernel");
    kiln_arg *in = stage_args(s, &n_in);
    kiln_array **out = stage_outs(s, &n_out);
    succeeded(kiln_kernel_prepare(stage_kernel(s), out, n_out, in, n_in, NULL, NULL), "kiln_kernel_prepare");
    options.flags = KILN_CALL_NO_COMPILE;
    stage_check(s, tripled, &options);
    stage_free(s);
}

const test_case option_cases[] = {
    {"defines", defines, 0},
    {"headers_in_memory", headers_in_memory, CASE_DEVICE},
    {"headers_that_change", headers_that_change, CASE_DEVICE},
    {"no_fma", no_fma, 0},
    {"fma_on_cuda", fma_on_cuda, CASE_CUDA | CASE_DEVICE},
    {"fast_math", fast_math, 0},
    {"ieee_division", ieee_division, 0},
    {"blocks", blocks, 0},
    {"blocks_of_the_host", blocks_of_the_host, CASE_HOST},
    {"streams", streams, 0},
    {"no_compile", no_compile, 0},
    {NULL, NULL, 0},
};
