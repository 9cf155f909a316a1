/* A kind with workspace on the host: partial results and counters, by several threads and several calls at a
 * time, of dtypes and of a user's struct. And NVRTC keeps the object that tells the struct's size. */
#include <kiln/kiln.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../ok.h"

enum { COUNT = 100 * 1000, CHUNKS = COUNT / 1000, TURNS = 20, THREADS = 4 };

/* Where the largest is, and how many there were: three numbers that the partials have to hold whole. */
static kiln_kernel *largest(void)
{
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    kiln_kernel *kernel = NULL;
    options.preamble = "struct best { double value; long long at, count; };";
    options.reduce_type = "best";
    OK(kiln_reduction_create(&kernel, "T x", "int64 at, int64 count", "best{double(x), i, 1}",
                             "best{a.value >= b.value ? a.value : b.value, a.value >= b.value ? a.at : b.at, "
                             "a.count + b.count}",
                             "at = a.at; count = a.count", NULL, "largest", &options));
    return kernel;
}

static kiln_array *numbers(void)
{
    kiln_array *x = NULL;
    float *value = malloc(COUNT * sizeof *value);
    int64_t shape[] = {COUNT};
    assert_non_null(value);
    for (int k = 0; k < COUNT; ++k)
        value[k] = (float)(k * 37 % 1009);
    value[77777] = 5000;
    OK(kiln_array_from_host(&x, value, KILN_FLOAT32, 1, shape, KILN_DEVICE_HOST));
    free(value);
    return x;
}

static void assert_largest(kiln_kernel *kernel, kiln_array *x)
{
    kiln_array *out[2] = {NULL, NULL};
    const kiln_arg in = kiln_arg_array(x);
    OK(kiln_kernel_call(kernel, out, 2, &in, 1, NULL));
    assert_int_equal(*(const int64_t *)kiln_array_data(out[0]), 77777);
    assert_int_equal(*(const int64_t *)kiln_array_data(out[1]), COUNT);
    kiln_array_free(out[0]);
    kiln_array_free(out[1]);
}

static void a_struct_by_chunks(void **state)
{
    kiln_kernel *kernel = largest();
    kiln_array *x = numbers();
    const kiln_arg in = kiln_arg_array(x);
    char *text = NULL;
    (void)state;
    OK(kiln_kernel_launches(&text, kernel, NULL, 2, &in, 1, NULL, "host"));
    assert_non_null(strstr(text, "elements=\"100000\" partials=\"100\" counters=\"1\"\n"));
    free(text);
    for (int turn = 0; turn < TURNS; ++turn)
        assert_largest(kernel, x);
    kiln_array_free(x);
    kiln_kernel_free(kernel);
}

typedef struct job {
    kiln_kernel *kernel;
    kiln_array *x;
} job;

static void *run_job(void *user)
{
    for (int turn = 0; turn < TURNS; ++turn)
        assert_largest(((job *)user)->kernel, ((job *)user)->x);
    return NULL;
}

static void several_calls_at_a_time(void **state)
{
    job j = {largest(), numbers()};
    pthread_t thread[THREADS];
    (void)state;
    for (int t = 0; t < THREADS; ++t)
        assert_int_equal(pthread_create(&thread[t], NULL, run_job, &j), 0);
    for (int t = 0; t < THREADS; ++t)
        assert_int_equal(pthread_join(thread[t], NULL), 0);
    kiln_array_free(j.x);
    kiln_kernel_free(j.kernel);
}

/* ---- how much is taken ---- */

typedef struct blocks {
    size_t size[8];
    int taken, given;
} blocks;

static void count_blocks(kiln_device device, void *pointer, size_t bytes, bool freed, void *user)
{
    blocks *b = user;
    (void)device, (void)pointer;
    if (freed)
        ++b->given;
    else
        b->size[b->taken++ % 8] = bytes;
}

/* One call into given outputs takes partials of so many bytes each, and the counters, and gives both back. */
static void assert_workspace(kiln_kernel *kernel, kiln_array **out, int n_out, kiln_dtype dtype, size_t value)
{
    blocks b = {{0}, 0, 0};
    kiln_array *x = NULL;
    int64_t shape[] = {COUNT};
    OK(kiln_array_ones(&x, dtype, 1, shape, KILN_DEVICE_HOST));
    const kiln_arg in = kiln_arg_array(x);
    OK(kiln_kernel_call(kernel, out, n_out, &in, 1, NULL));
    kiln_memory_set_hook(count_blocks, &b);
    OK(kiln_kernel_call(kernel, out, n_out, &in, 1, NULL));
    kiln_memory_set_hook(NULL, NULL);
    assert_int_equal(b.taken, 2);
    assert_int_equal(b.given, 2);
    assert_in_range(b.size[0], CHUNKS * value, CHUNKS * value + 128);
    assert_in_range(b.size[1], sizeof(unsigned), 128);
    kiln_array_free(x);
}

static void partials_are_as_large_as_their_type(void **state)
{
    static const struct {
        kiln_dtype dtype;
        size_t value;
    } rows[] = {
        {KILN_FLOAT64, 8}, {KILN_FLOAT32, 4}, {KILN_FLOAT16, 4}, {KILN_INT8, 1}, {KILN_COMPLEX128, 16}};
    kiln_kernel *kernel = NULL, *best = largest();
    kiln_array *out[2] = {NULL, NULL};
    (void)state;
    OK(kiln_reduction_create(&kernel, "T x", "T z", "x", "a + b", "z = a", "0", "total", NULL));
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r) {
        kiln_array *z = NULL;
        OK(kiln_array_zeros(&z, rows[r].dtype, 0, NULL, KILN_DEVICE_HOST));
        assert_workspace(kernel, &z, 1, rows[r].dtype, rows[r].value);
        kiln_array_free(z);
    }
    for (int j = 0; j < 2; ++j)
        OK(kiln_array_zeros(&out[j], KILN_INT64, 0, NULL, KILN_DEVICE_HOST));
    assert_workspace(best, out, 2, KILN_FLOAT32, 24);
    kiln_array_free(out[0]);
    kiln_array_free(out[1]);
    kiln_kernel_free(best);
    kiln_kernel_free(kernel);
}

/* ---- the object that tells a struct's size ---- */

static char *source_of(kiln_kernel *kernel, int n_out, const char *target)
{
    kiln_array *x = numbers();
    const kiln_arg in = kiln_arg_array(x);
    char *text = NULL;
    OK(kiln_kernel_source(&text, kernel, NULL, n_out, &in, 1, NULL, target));
    kiln_array_free(x);
    return text;
}

static void structs_alone_have_an_object(void **state)
{
    kiln_kernel *sum = NULL, *best = largest();
    (void)state;
    OK(kiln_reduction_create(&sum, "T x", "T z", "x", "a + b", "z = a", "0", "total", NULL));
    char *text = source_of(sum, 1, "sm_90"), *more = source_of(best, 2, "sm_90"),
         *host = source_of(best, 2, "host");
    assert_null(strstr(text, "kn_value["));
    assert_non_null(strstr(more, "extern \"C\" { __device__ unsigned char kn_value[sizeof(best)]; }"));
    assert_non_null(strstr(host, "unsigned char kn_value[sizeof(best)]; }"));
    free(text);
    free(more);
    free(host);
    kiln_kernel_free(sum);
    kiln_kernel_free(best);
}

static void nvrtc_keeps_it(void **state)
{
    kiln_kernel *kernel = largest();
    kiln_module_options options = KILN_MODULE_OPTIONS_INIT;
    kiln_module *module = NULL;
    char *text = source_of(kernel, 2, "sm_90");
    const void *code = NULL;
    size_t size = 0;
    (void)state;
    options.target = "sm_90";
    kiln_status status = kiln_module_create(&module, text, strlen(text), &options);
    if (status == KILN_OK)
        status = kiln_module_code(&code, &size, module);
    if (status == KILN_ERROR_NOT_FOUND && !getenv("KILN_REQUIRE_NVRTC"))
        print_message("skipped: %s\n", kiln_error_message());
    else if (status != KILN_OK)
        fail_msg("%s\n%s", kiln_error_message(), kiln_error_log());
    else
        assert_non_null(memmem(code, size, "\0kn_value", 10));
    free(text);
    kiln_module_free(module);
    kiln_kernel_free(kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_struct_by_chunks),
        cmocka_unit_test(several_calls_at_a_time),
        cmocka_unit_test(partials_are_as_large_as_their_type),
        cmocka_unit_test(structs_alone_have_an_object),
        cmocka_unit_test(nvrtc_keeps_it),
    };
    setenv("KILN_TEMPLATE_DIR", TOY_TEMPLATES, 1);
    setenv("KILN_CACHE", "off", 1);
    setenv("KILN_NUM_THREADS", "4", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
