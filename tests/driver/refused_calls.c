/* Mistakes that only CUDA devices refuse, on the fake driver: each call refused before a good one and
 * after it, in a capture too, and launches of raw modules and the arrays' own kernels as well. Nothing
 * wrong is launched. */
#include <kiln/kiln.h>

#include "fake_cuda.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../ok.h"

enum { N = 8 };

static struct {
    kiln_array *here, *wide, *on_host, *strided;
    kiln_stream *mine, *other;
    kiln_module *module;
    kiln_function *function;
} w;

static kiln_array *ones(kiln_dtype dtype, kiln_device device)
{
    const int64_t shape[] = {N};
    kiln_array *a = NULL;
    OK(kiln_array_ones(&a, dtype, 1, shape, device));
    return a;
}

static int set_up(void **state)
{
    kiln_module_options options = KILN_MODULE_OPTIONS_INIT;
    (void)state;
    setenv("KILN_LIBCUDA", FAKE_LIBCUDA, 1);
    setenv("KILN_NVRTC", FAKE_LIBNVRTC, 1);
    setenv("KILN_CACHE", "off", 1);
    setenv("KILN_TARGET", "cuda:0", 1);
    w.here = ones(KILN_FLOAT32, KILN_DEVICE_CUDA(0));
    w.wide = ones(KILN_FLOAT64, KILN_DEVICE_CUDA(0));
    w.on_host = ones(KILN_FLOAT32, KILN_DEVICE_HOST);
    OK(kiln_array_index(&w.strided, w.wide, "::2"));
    OK(kiln_stream_create(&w.mine, KILN_DEVICE_CUDA(0), KILN_STREAM_NON_BLOCKING));
    OK(kiln_stream_create(&w.other, KILN_DEVICE_CUDA(1), KILN_STREAM_NON_BLOCKING));
    options.kind = KILN_CODE_PTX;
    OK(kiln_module_create(&w.module, "kernel takes 8 4 16\n", 0, &options));
    OK(kiln_module_function(&w.function, w.module, "takes"));
    return 0;
}

static int tear_down(void **state)
{
    kiln_array *arrays[] = {w.here, w.wide, w.on_host, w.strided};
    (void)state;
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; ++k)
        kiln_array_free(arrays[k]);
    kiln_stream_free(w.mine);
    kiln_stream_free(w.other);
    kiln_module_free(w.module);
    return 0;
}

static void expect(const char *name, kiln_status status, kiln_status wanted, const char *words)
{
    if (status != wanted)
        fail_msg("%s: status %d: %s", name, (int)status, status ? kiln_error_message() : "");
    if (wanted != KILN_OK && !strstr(kiln_error_message(), words))
        fail_msg("%s: '%s' is missing in: %s", name, words, kiln_error_message());
    assert_int_equal(fake_launch_count(), wanted == KILN_OK);
    fake_launches_clear();
}

/* ---- elementwise kernels ---- */

typedef struct attempt {
    kiln_array *out;
    kiln_arg in[2];
    kiln_call_options options;
} attempt;

static void host_input(attempt *t)
{
    t->in[0] = kiln_arg_array(w.on_host);
}

static void host_output(attempt *t)
{
    t->out = w.on_host; /* which decides where the call runs: a stream of cuda:0 would be wrong by itself */
    t->options.stream = NULL;
}

static void foreign_stream(attempt *t)
{
    t->options.stream = w.other;
}

static void odd_block(attempt *t)
{
    t->options.block = 33;
}

static void large_block(attempt *t)
{
    t->options.block = 2048;
}

/* The block of the good call and a bit beyond those that a block may have. */
static void huge_block(attempt *t)
{
    t->options.block = 64 | 1 << 16;
}

static void null_array(attempt *t)
{
    t->in[0] = kiln_arg_array(NULL);
}

static void negative_dtype(attempt *t)
{
    t->in[1].dtype = -7;
}

static const struct {
    const char *name;
    void (*spoil)(attempt *);
    kiln_status status;
    const char *words;
} calls[] = {
    {"input on the host", host_input, KILN_ERROR_INVALID, "'x' is on host"},
    {"output on the host", host_output, KILN_ERROR_INVALID, "'x' is on cuda:0, other arguments are on host"},
    {"stream of another device", foreign_stream, KILN_ERROR_INVALID,
     "stream belongs to cuda:1, the call runs on cuda:0"},
    {"block 33", odd_block, KILN_ERROR_INVALID,
     "options.block: 33 was given; 0 or a multiple of 32 up to 1024"},
    {"block 2048", large_block, KILN_ERROR_INVALID, "options.block: 2048 was given"},
    {"block 65600", huge_block, KILN_ERROR_INVALID, "options.block: 65600 was given"},
    {"array NULL", null_array, KILN_ERROR_INVALID, "'x': the array is NULL"},
    {"dtype -7", negative_dtype, KILN_ERROR_TYPE, "dtype number -7"},
};

static kiln_status call(kiln_kernel *kernel, void (*spoil)(attempt *))
{
    attempt t = {.out = w.here, .in = {kiln_arg_array(w.here), kiln_arg_float32(2)}};
    t.options = (kiln_call_options)KILN_CALL_OPTIONS_INIT;
    t.options.stream = w.mine;
    t.options.block = 64;
    if (spoil)
        spoil(&t);
    return kiln_kernel_call(kernel, &t.out, 1, t.in, 2, &t.options);
}

static void kernels_refuse(void **state)
{
    (void)state;
    fake_launches_clear();
    for (size_t k = 0; k < sizeof calls / sizeof *calls; ++k) {
        kiln_kernel *kernel = NULL;
        kiln_graph *graph = NULL;
        OK(kiln_elementwise_create(&kernel, "float32 x, float32 a", "float32 z", "z = x * a", "scale", NULL));
        expect(calls[k].name, call(kernel, calls[k].spoil), calls[k].status, calls[k].words);
        expect("a good call", call(kernel, NULL), KILN_OK, NULL);
        expect(calls[k].name, call(kernel, calls[k].spoil), calls[k].status, calls[k].words);
        OK(kiln_capture_begin(w.mine));
        kiln_status good = call(kernel, NULL), bad = call(kernel, calls[k].spoil);
        expect(calls[k].name, bad, calls[k].status, calls[k].words);
        OK(kiln_capture_end(&graph, w.mine));
        OK(good);
        kiln_graph_free(graph);
        kiln_kernel_free(kernel);
    }
}

/* ---- raw modules ---- */

static kiln_status launch(int which, bool is_bad)
{
    static const int64_t pod[2] = {1, 2};
    kiln_launch_options options = KILN_LAUNCH_OPTIONS_INIT;
    kiln_arg args[3] = {kiln_arg_array(w.here), kiln_arg_float32(2), kiln_arg_struct(pod, sizeof pod)};
    options.stream = w.mine;
    if (is_bad && which == 0)
        args[0] = kiln_arg_array(w.on_host);
    if (is_bad && which == 1)
        args[1].dtype = -1;
    if (is_bad && which == 2)
        args[1].kind = KILN_ARG_TYPED | KILN_FLOAT32 << 8;
    if (is_bad && which == 3)
        args[2] = kiln_arg_struct(NULL, sizeof pod);
    if (is_bad && which == 4)
        args[2] = kiln_arg_struct(pod, SIZE_MAX);
    if (is_bad && which == 5)
        options.stream = w.other;
    if (is_bad && which == 6)
        args[1] = kiln_arg_typed(KILN_FLOAT32, NULL);
    return kiln_function_launch(w.function, kiln_dims(1, 1, 1), kiln_dims(32, 1, 1), args, 3, &options);
}

static void modules_refuse(void **state)
{
    static const struct {
        kiln_status status;
        const char *words;
    } wanted[] = {{KILN_ERROR_DEVICE, "argument 0 is an array on host"},
                  {KILN_ERROR_INVALID, "argument 1 is no argument: kind 7, dtype -1"},
                  {KILN_ERROR_INVALID, "argument 1 is no argument"},
                  {KILN_ERROR_INVALID, "argument 2 is a struct at NULL"},
                  {KILN_ERROR_INVALID, "argument 2 has 18446744073709551615 bytes, the parameter 16"},
                  {KILN_ERROR_INVALID, "stream belongs to cuda:1"},
                  {KILN_ERROR_INVALID, "argument 1 is no argument: kind 0"}};
    (void)state;
    fake_launches_clear();
    for (int k = 0; k < (int)(sizeof wanted / sizeof *wanted); ++k) {
        expect("a bad launch", launch(k, true), wanted[k].status, wanted[k].words);
        expect("a good launch", launch(k, false), KILN_OK, NULL);
        expect("a bad launch", launch(k, true), wanted[k].status, wanted[k].words);
    }
}

/* ---- the arrays' own kernels ---- */

/* Copies and fills of strided arrays are calls of kernels that the library remembers. */
static void arrays_refuse(void **state)
{
    const double value = 0.1;
    const float data[N] = {0};
    (void)state;
    for (int turn = 0; turn < 2; ++turn) {
        kiln_array *copy = NULL;
        fake_launches_clear();
        expect("no kernel", kiln_kernel_prepare(NULL, NULL, 0, NULL, 0, NULL, NULL), KILN_ERROR_INVALID,
               "kernel is NULL");
        expect("a copy of nothing", kiln_array_copy(&copy, NULL), KILN_ERROR_INVALID, "array is NULL");
        expect("a copy to nowhere", kiln_array_copy(NULL, w.strided), KILN_ERROR_INVALID, "out is NULL");
        expect("a fill with nothing", kiln_array_fill(w.strided, NULL), KILN_ERROR_INVALID, "value is NULL");
        expect("a fill of nothing", kiln_array_fill(NULL, &value), KILN_ERROR_INVALID, "array is NULL");
        expect("too few bytes", kiln_array_set_from_host(w.strided, data, 3), KILN_ERROR_INVALID, "3 bytes");
        assert_null(copy);
        expect("a fill", kiln_array_fill(w.strided, &value), KILN_OK, NULL);
        expect("a copy", kiln_array_copy(&copy, w.strided), KILN_OK, NULL);
        kiln_array_free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_refuse),
        cmocka_unit_test(modules_refuse),
        cmocka_unit_test(arrays_refuse),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
