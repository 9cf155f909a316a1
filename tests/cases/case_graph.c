/* CUDA graphs: a hundred mixed calls captured, instantiated twice, replayed between eager calls; what would
 * compile is compiled in the capture, or refused where the capture wants it so. */
#include "cases.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 37, COLUMNS = 53, SIZE = ROWS * COLUMNS, CALLS = 100 };

/* The arrays that the calls work on, and the same in plain C. */
typedef struct field {
    uint32_t x[SIZE], y[SIZE], z[SIZE];
    double wide[SIZE];
    uint64_t sums[SIZE];
} field;

typedef struct world {
    kiln_kernel *sum, *mix, *scaled, *moved, *both;
    kiln_array *x, *y, *z, *wide, *sums;
    kiln_stream *stream;
    uint32_t step;
    field expected;
} world;

static const int64_t shape[] = {ROWS, COLUMNS};

static kiln_kernel *kernel_of(const char *in, const char *out, const char *body, const char *name)
{
    kiln_kernel *kernel = NULL;
    succeeded(kiln_elementwise_create(&kernel, in, out, body, name, NULL), name);
    return kernel;
}

static void world_free(world *w)
{
    kiln_kernel *kernels[] = {w->sum, w->mix, w->scaled, w->moved, w->both};
    kiln_array *arrays[] = {w->x, w->y, w->z, w->wide, w->sums};
    for (int k = 0; k < 5; ++k) {
        kiln_kernel_free(kernels[k]);
        kiln_array_free(arrays[k]);
    }
    kiln_stream_free(w->stream);
    free(w);
}

static world *world_create(void)
{
    world *w = calloc(1, sizeof *w);
    dice d = {case_seed()};
    for (int k = 0; k < SIZE; ++k) {
        w->expected.x[k] = (uint32_t)dice_bits(&d);
        w->expected.y[k] = (uint32_t)dice_bits(&d);
        w->expected.z[k] = (uint32_t)dice_bits(&d);
    }
    w->sum = kernel_of("T x, T y", "T z", "z = x + y", "sum");
    w->mix = kernel_of("uint32 x, uint32 k", "uint32 z", "z = (x ^ (x >> 3)) + k", "mix");
    w->scaled = kernel_of("uint32 x, float64 w", "uint32 z", "z = x + (unsigned)(w * 10)", "scaled");
    w->moved = kernel_of("uint32 x", "uint32 z", "z = x ^ 5", "moved");
    w->both = kernel_of("uint32 x, uint32 y", "int8 low, uint64 sum",
                        "low = (int8)(x & 63); sum = (uint64)x + y", "both");
    succeeded(kiln_array_from_host(&w->x, w->expected.x, KILN_UINT32, 2, shape, stage_device), "x");
    succeeded(kiln_array_from_host(&w->y, w->expected.y, KILN_UINT32, 2, shape, stage_device), "y");
    succeeded(kiln_array_from_host(&w->z, w->expected.z, KILN_UINT32, 2, shape, stage_device), "z");
    succeeded(kiln_array_zeros(&w->wide, KILN_FLOAT64, 2, shape, stage_device), "wide");
    succeeded(kiln_array_zeros(&w->sums, KILN_UINT64, 2, shape, stage_device), "sums");
    succeeded(kiln_stream_create(&w->stream, stage_device, KILN_STREAM_NON_BLOCKING), "stream");
    succeeded(kiln_device_synchronize(stage_device), "synchronize");
    return w;
}

/* ---- the calls ---- */

static kiln_status call(kiln_kernel *kernel, kiln_array **out, kiln_array *a, kiln_arg b)
{
    kiln_arg in[] = {kiln_arg_array(a), b};
    return kiln_kernel_call(kernel, out, 1, in, kiln_kernel_n_in(kernel), NULL);
}

static kiln_status in_place(world *w)
{
    return call(w->sum, &w->z, w->x, kiln_arg_array(w->y));
}

static void in_place_expected(field *f, uint32_t step)
{
    (void)step;
    for (int k = 0; k < SIZE; ++k)
        f->z[k] = f->x[k] + f->y[k];
}

static kiln_status allocated(world *w)
{
    kiln_array *t = NULL;
    kiln_status status = call(w->mix, &t, w->z, kiln_arg_uint(w->step));
    if (status == KILN_OK)
        status = call(w->sum, &w->z, t, kiln_arg_int(1));
    kiln_array_free(t);
    return status;
}

static void allocated_expected(field *f, uint32_t step)
{
    for (int k = 0; k < SIZE; ++k)
        f->z[k] = (f->z[k] ^ (f->z[k] >> 3)) + step + 1;
}

/* y += z, by way of a copy of the transposed z. */
static kiln_status transposed_copy(world *w)
{
    kiln_array *across = NULL, *copy = NULL, *back = NULL;
    kiln_status status = kiln_array_transpose(&across, w->z, NULL);
    if (status == KILN_OK)
        status = kiln_array_copy(&copy, across);
    if (status == KILN_OK)
        status = kiln_array_transpose(&back, copy, NULL);
    if (status == KILN_OK)
        status = call(w->sum, &w->y, w->y, kiln_arg_array(back));
    kiln_array_free(across);
    kiln_array_free(copy);
    kiln_array_free(back);
    return status;
}

static void transposed_copy_expected(field *f, uint32_t step)
{
    (void)step;
    for (int k = 0; k < SIZE; ++k)
        f->y[k] += f->z[k];
}

static kiln_status filled_view(world *w)
{
    kiln_array *view = NULL;
    kiln_status status = kiln_array_index(&view, w->z, "3:30:4, ::-2");
    if (status == KILN_OK)
        status = kiln_array_fill(view, &w->step);
    kiln_array_free(view);
    return status;
}

static void filled_view_expected(field *f, uint32_t step)
{
    for (int row = 3; row < 30; row += 4)
        for (int column = COLUMNS - 1; column >= 0; column -= 2)
            f->z[row * COLUMNS + column] = step;
}

static kiln_status filled_wide(world *w)
{
    const double value = w->step + 0.1;
    kiln_status status = kiln_array_fill(w->wide, &value);
    return status == KILN_OK ? call(w->scaled, &w->z, w->x, kiln_arg_array(w->wide)) : status;
}

static void filled_wide_expected(field *f, uint32_t step)
{
    for (int k = 0; k < SIZE; ++k) {
        f->wide[k] = step + 0.1;
        f->z[k] = f->x[k] + (uint32_t)(f->wide[k] * 10);
    }
}

/* Each element from the one in front of it, as that was. */
static kiln_status overlapping(world *w)
{
    kiln_array *flat = NULL, *head = NULL, *tail = NULL;
    const int64_t size = SIZE;
    kiln_status status = kiln_array_reshape(&flat, w->z, 1, &size);
    if (status == KILN_OK)
        status = kiln_array_index(&head, flat, ":-1");
    if (status == KILN_OK)
        status = kiln_array_index(&tail, flat, "1:");
    if (status == KILN_OK)
        status = call(w->moved, &tail, head, kiln_arg_int(0));
    kiln_array_free(flat);
    kiln_array_free(head);
    kiln_array_free(tail);
    return status;
}

static void overlapping_expected(field *f, uint32_t step)
{
    (void)step;
    for (int k = SIZE - 1; k > 0; --k)
        f->z[k] = f->z[k - 1] ^ 5;
}

static kiln_status reversed(world *w)
{
    kiln_array *back = NULL;
    kiln_status status = kiln_array_index(&back, w->z, "::-1, ::-1");
    if (status == KILN_OK)
        status = call(w->sum, &w->z, w->z, kiln_arg_array(back));
    kiln_array_free(back);
    return status;
}

static void reversed_expected(field *f, uint32_t step)
{
    (void)step;
    for (int k = 0; k <= SIZE / 2; ++k) {
        uint32_t sum = f->z[k] + f->z[SIZE - 1 - k];
        f->z[k] = f->z[SIZE - 1 - k] = sum;
    }
}

static kiln_status new_range(world *w)
{
    kiln_array *t = NULL;
    kiln_status status = kiln_array_arange(&t, 7, 7 + 3 * COLUMNS, 3, KILN_UINT32, stage_device);
    if (status == KILN_OK)
        status = call(w->sum, &w->z, w->z, kiln_arg_array(t));
    kiln_array_free(t);
    return status;
}

static void new_range_expected(field *f, uint32_t step)
{
    (void)step;
    for (int k = 0; k < SIZE; ++k)
        f->z[k] += (uint32_t)(7 + 3 * (k % COLUMNS));
}

static kiln_status new_full(world *w)
{
    kiln_array *t = NULL;
    kiln_status status = kiln_array_full(&t, KILN_UINT32, 2, shape, &w->step, stage_device);
    if (status == KILN_OK)
        status = call(w->sum, &w->x, w->x, kiln_arg_array(t));
    kiln_array_free(t);
    return status;
}

static void new_full_expected(field *f, uint32_t step)
{
    for (int k = 0; k < SIZE; ++k)
        f->x[k] += step;
}

/* One output allocated, one given. */
static kiln_status two_outputs(world *w)
{
    kiln_array *outs[] = {NULL, w->sums};
    kiln_arg in[] = {kiln_arg_array(w->x), kiln_arg_array(w->z)};
    kiln_status status = kiln_kernel_call(w->both, outs, 2, in, 2, NULL);
    kiln_array_free(outs[0]);
    return status;
}

static void two_outputs_expected(field *f, uint32_t step)
{
    (void)step;
    for (int k = 0; k < SIZE; ++k)
        f->sums[k] = (uint64_t)f->x[k] + f->z[k];
}

static const struct {
    kiln_status (*run)(world *);
    void (*expect)(field *, uint32_t step);
} kinds[] = {{in_place, in_place_expected},       {allocated, allocated_expected},
             {filled_view, filled_view_expected}, {transposed_copy, transposed_copy_expected},
             {overlapping, overlapping_expected}, {new_full, new_full_expected},
             {filled_wide, filled_wide_expected}, {reversed, reversed_expected},
             {new_range, new_range_expected},     {two_outputs, two_outputs_expected}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static kiln_status hundred_calls(void *user)
{
    world *w = user;
    kiln_status status = KILN_OK;
    for (w->step = 0; w->step < CALLS && status == KILN_OK; ++w->step)
        status = kinds[w->step % KINDS].run(w);
    return status;
}

static void expect_hundred(world *w)
{
    for (uint32_t step = 0; step < CALLS; ++step)
        kinds[step % KINDS].expect(&w->expected, step);
}

static void compare_array(kiln_array *a, const void *expected, const char *name, const char *when)
{
    size_t size = kiln_array_nbytes(a), item = size / SIZE;
    unsigned char *back = malloc(size);
    if (succeeded(kiln_array_to_host(a, back, size), name))
        for (size_t k = 0; k < size; k += item)
            if (!trouble_unless(memcmp(back + k, (const char *)expected + k, item) == 0,
                                "%s: %s[%zu] is wrong", when, name, k / item))
                break;
    free(back);
}

static void compare(world *w, const char *when)
{
    const field *f = &w->expected;
    compare_array(w->x, f->x, "x", when);
    compare_array(w->y, f->y, "y", when);
    compare_array(w->z, f->z, "z", when);
    compare_array(w->wide, f->wide, "wide", when);
    compare_array(w->sums, f->sums, "sums", when);
}

static size_t used_bytes(void)
{
    kiln_memory_stats stats = KILN_MEMORY_STATS_INIT;
    succeeded(kiln_memory_get_stats(stage_device, &stats), "memory statistics");
    return stats.used_bytes;
}

static void replay(world *w, kiln_graph_exec *first, kiln_graph_exec *second)
{
    static const char *const rounds[] = {"first instance",       "second instance", "eager between replays",
                                         "first instance again", "eager again",     "second instance again"};
    for (int round = 0; round < 6 && !in_trouble(); ++round) {
        if (round % 2 == 0 && round > 0)
            succeeded(hundred_calls(w), rounds[round]);
        else
            succeeded(kiln_graph_launch(round == 1 || round == 5 ? second : first, NULL), rounds[round]);
        expect_hundred(w);
        compare(w, rounds[round]);
    }
    for (int again = 0; again < 20; ++again) { /* one behind the other */
        succeeded(kiln_graph_launch(again % 2 ? second : first, NULL), "many replays");
        expect_hundred(w);
    }
    compare(w, "many replays");
}

static void hundred_mixed_calls(void)
{
    world *w = world_create();
    kiln_graph *graph = NULL;
    kiln_graph_exec *first = NULL, *second = NULL;
    kiln_stream *before = kiln_stream_set_current(w->stream);
    if (!in_trouble() && succeeded(hundred_calls(w), "eager calls")) {
        expect_hundred(w);
        compare(w, "eager calls");
    }
    size_t used = used_bytes();
    if (!in_trouble() && succeeded(kiln_capture_begin(NULL), "capture")) {
        succeeded(hundred_calls(w), "captured calls");
        succeeded(kiln_capture_end(&graph, NULL), "end of capture");
        compare(w, "nothing runs while capturing");
    }
    if (graph && succeeded(kiln_graph_instantiate(&first, graph), "first instance") &&
        succeeded(kiln_graph_instantiate(&second, graph), "second instance")) {
        kiln_graph_free(graph);
        graph = NULL;
        replay(w, first, second);
    }
    kiln_graph_free(graph);
    kiln_graph_exec_free(first);
    kiln_graph_exec_free(second);
    succeeded(kiln_stream_synchronize(NULL), "synchronize");
    trouble_unless(used_bytes() == used, "%zu bytes are used, %zu were before", used_bytes(), used);
    kiln_stream_set_current(before);
    world_free(w);
}

/* Code that is neither compiled nor loaded before the capture is compiled and loaded in it, and the graph
 * computes the same as the calls: a kernel, and a raw module. */
static void new_in_a_capture(void)
{
    static const char text[] = "extern \"C\" __global__ void add_nine(unsigned *x, int n)\n"
                               "{ for (int k = threadIdx.x; k < n; k += blockDim.x) x[k] += 9; }\n";
    world *w = world_create();
    kiln_kernel *fresh = kernel_of("uint32 x, uint32 y", "uint32 z", "z = x * 11 + y", "new_in_a_capture");
    kiln_call_info info = KILN_CALL_INFO_INIT;
    kiln_module *module = NULL;
    kiln_function *function = NULL;
    kiln_array *z = NULL;
    kiln_graph *graph = NULL;
    kiln_graph_exec *exec = NULL;
    kiln_arg in[] = {kiln_arg_array(w->x), kiln_arg_array(w->y)};
    kiln_stream *before = kiln_stream_set_current(w->stream);
    succeeded(kiln_capture_begin(NULL), "capture");
    succeeded(kiln_kernel_call(fresh, &z, 1, in, 2, NULL), "new kernel");
    succeeded(kiln_kernel_last_call(&info), "origin");
    trouble_unless(info.origin != KILN_ORIGIN_MEMORY, "the kernel was not new");
    if (succeeded(kiln_module_create(&module, text, 0, NULL), "new module") &&
        succeeded(kiln_module_function(&function, module, "add_nine"), "new function")) {
        kiln_arg args[] = {kiln_arg_array(z), kiln_arg_int32(SIZE)};
        succeeded(kiln_function_launch(function, kiln_dims(1, 1, 1), kiln_dims(256, 1, 1), args, 2, NULL),
                  "launch of new code");
    }
    succeeded(kiln_capture_end(&graph, NULL), "the capture is not spoilt");
    kiln_module_free(module); /* the graph holds it */
    kiln_kernel_free(fresh);
    if (!in_trouble() && succeeded(kiln_graph_instantiate(&exec, graph), "instance")) {
        for (int round = 0; round < 3; ++round)
            succeeded(kiln_graph_launch(exec, NULL), "launch");
        for (int k = 0; k < SIZE; ++k)
            w->expected.z[k] = w->expected.x[k] * 11 + w->expected.y[k] + 9;
        compare_array(z, w->expected.z, "z", "what is new in a capture");
    }
    kiln_graph_free(graph);
    kiln_graph_exec_free(exec);
    kiln_array_free(z);
    kiln_stream_set_current(before);
    world_free(w);
}

/* Code that is loaded while another thread captures does not spoil that capture. */
typedef struct second_capture {
    pthread_barrier_t *barrier;
    kiln_status status;
    char message[256];
} second_capture;

static void *capture_meanwhile(void *user)
{
    second_capture *s = user;
    kiln_stream *stream = NULL;
    kiln_graph *graph = NULL;
    KILN_IGNORE(kiln_device_set_current(stage_device));
    s->status = kiln_stream_create(&stream, stage_device, KILN_STREAM_NON_BLOCKING);
    if (s->status == KILN_OK)
        s->status = kiln_capture_begin(stream);
    pthread_barrier_wait(s->barrier); /* it has begun */
    pthread_barrier_wait(s->barrier); /* the other thread has loaded its code */
    if (s->status == KILN_OK)
        s->status = kiln_capture_end(&graph, stream);
    snprintf(s->message, sizeof s->message, "%s", s->status == KILN_OK ? "" : kiln_error_message());
    kiln_graph_free(graph);
    kiln_stream_free(stream);
    return NULL;
}

static void new_beside_a_capture(void)
{
    world *w = world_create();
    kiln_kernel *fresh = kernel_of("uint32 x", "uint32 z", "z = x * 13 + 1", "new_beside_a_capture");
    kiln_array *z = NULL;
    kiln_arg in[] = {kiln_arg_array(w->x)};
    pthread_barrier_t barrier;
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    second_capture other = {&barrier, KILN_ERROR_INTERNAL, ""};
    if (trouble_unless(pthread_create(&thread, NULL, capture_meanwhile, &other) == 0, "no thread")) {
        pthread_barrier_wait(&barrier);
        succeeded(kiln_kernel_call(fresh, &z, 1, in, 1, NULL), "a new kernel while another thread captures");
        pthread_barrier_wait(&barrier);
        pthread_join(thread, NULL);
        trouble_unless(other.status == KILN_OK, "the other capture: %s", other.message);
    }
    for (int k = 0; k < SIZE && z; ++k)
        w->expected.z[k] = w->expected.x[k] * 13 + 1;
    if (z)
        compare_array(z, w->expected.z, "z", "beside a capture");
    pthread_barrier_destroy(&barrier);
    kiln_array_free(z);
    kiln_kernel_free(fresh);
    world_free(w);
}

static kiln_status begin_prepared(void)
{
    kiln_capture_options options = KILN_CAPTURE_OPTIONS_INIT;
    options.flags = KILN_CAPTURE_PREPARED;
    return kiln_capture_begin_with(NULL, &options);
}

/* With KILN_CAPTURE_PREPARED: a refusal does no harm to the capture; after kiln_kernel_prepare the call is
 * taken. */
static void prepared(void)
{
    world *w = world_create();
    kiln_kernel *fresh = kernel_of("uint32 x, uint32 y", "uint32 z", "z = x * 3 + y", "fresh_in_capture");
    kiln_array *z = NULL;
    kiln_graph *graph = NULL;
    kiln_graph_exec *exec = NULL;
    kiln_arg in[] = {kiln_arg_array(w->x), kiln_arg_array(w->y)};
    kiln_stream *before = kiln_stream_set_current(w->stream);
    for (int round = 0; round < 2 && !in_trouble(); ++round) {
        succeeded(begin_prepared(), "capture");
        if (round == 0)
            refused(kiln_kernel_call(fresh, &z, 1, in, 2, NULL), KILN_ERROR_CAPTURE,
                    "fresh_in_capture|kiln_kernel_prepare");
        else
            succeeded(kiln_kernel_call(fresh, &z, 1, in, 2, NULL), "prepared call");
        succeeded(kiln_capture_end(&graph, NULL), "the capture is not spoilt");
        if (round == 0) {
            kiln_graph_free(graph);
            graph = NULL;
            succeeded(kiln_kernel_prepare(fresh, NULL, 1, in, 2, NULL, NULL), "prepare");
        }
    }
    kiln_kernel_free(fresh);
    if (!in_trouble() && succeeded(kiln_graph_instantiate(&exec, graph), "instance")) {
        succeeded(kiln_graph_launch(exec, NULL), "launch");
        for (int k = 0; k < SIZE; ++k)
            w->expected.z[k] = w->expected.x[k] * 3 + w->expected.y[k];
        compare_array(z, w->expected.z, "z", "prepared call");
    }
    kiln_graph_free(graph);
    kiln_graph_exec_free(exec);
    kiln_array_free(z);
    kiln_stream_set_current(before);
    world_free(w);
}

/* Capturing, instantiating and replaying in a few lines, on another stream than the one captured. */
static void all_in_one(void)
{
    world *w = world_create();
    kiln_graph_exec *exec = NULL;
    if (!in_trouble() && succeeded(hundred_calls(w), "eager calls")) {
        expect_hundred(w);
        succeeded(kiln_stream_synchronize(NULL), "synchronize");
        succeeded(kiln_capture(&exec, NULL, hundred_calls, w), "kiln_capture");
        for (int k = 0; k < 3 && !in_trouble(); ++k) {
            succeeded(kiln_graph_launch(exec, k == 1 ? w->stream : NULL), "launch");
            expect_hundred(w);
        }
        succeeded(kiln_device_synchronize(stage_device), "synchronize");
        compare(w, "three replays on two streams");
    }
    kiln_graph_exec_free(exec);
    world_free(w);
}

/* The host has no graphs, and says so. */
static void none_on_the_host(void)
{
    kiln_graph_exec *exec = NULL;
    world *w = world_create();
    refused(kiln_capture(&exec, NULL, hundred_calls, w), KILN_ERROR_UNSUPPORTED, "host has no graphs");
    if (succeeded(hundred_calls(w), "eager calls")) {
        expect_hundred(w);
        compare(w, "eager calls");
    }
    world_free(w);
}

const test_case graph_cases[] = {
    {"hundred_mixed_calls", hundred_mixed_calls, CASE_CUDA},
    {"new_in_a_capture", new_in_a_capture, CASE_CUDA | CASE_DEVICE},
    {"new_beside_a_capture", new_beside_a_capture, CASE_CUDA},
    {"prepared", prepared, CASE_CUDA},
    {"all_in_one", all_in_one, CASE_CUDA},
    {"none_on_the_host", none_on_the_host, CASE_HOST},
    {NULL, NULL, 0},
};
