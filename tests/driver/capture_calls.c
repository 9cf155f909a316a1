/* Calls of kernels in captures, on the fake driver and a compiler of our own: a hundred mixed calls captured
 * and replayed, what is new compiled (or refused, where the capture wants it so), nothing left behind. */
#include <kiln/kiln.h>

#include "fake_cuda.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../ok.h"

long fake_compiles(void);

enum { COUNT = 100, CALLS = 100 };

/* The work of this file's kernels. Their arrays are contiguous, and are at the end of the argument block. */
static void run_kernel(const fake_launch *l, void *user)
{
    int64_t n;
    void *p[3];
    float a;
    double wide;
    (void)user;
    memcpy(&n, l->parameters, sizeof n);
    memcpy(p, l->parameters + l->parameter_size - sizeof p, sizeof p);
    memcpy(&a, l->parameters + l->parameter_size - 16, sizeof a);
    memcpy(&wide, l->parameters + l->parameter_size - 16, sizeof wide);
    for (int64_t k = 0; k < n; k++) {
        if (!strcmp(l->name, "kiln_sum"))
            ((float *)p[2])[k] = ((float *)p[0])[k] + ((float *)p[1])[k];
        else if (!strcmp(l->name, "kiln_scale"))
            ((float *)p[2])[k] = ((float *)p[0])[k] * a;
        else if (!strcmp(l->name, "kiln_fill"))
            ((double *)p[2])[k] = wide;
    }
}

static kiln_kernel *elementwise(const char *in, const char *out, const char *body, const char *name)
{
    kiln_kernel *kernel = NULL;
    OK(kiln_elementwise_create(&kernel, in, out, body, name, NULL));
    return kernel;
}

typedef struct world {
    kiln_kernel *sum, *scale;
    kiln_array *x, *y, *z, *wide, *head, *tail;
    kiln_stream *stream;
    int step;
} world;

static kiln_array *ones(kiln_dtype dtype)
{
    const int64_t shape[] = {COUNT};
    kiln_array *a = NULL;
    OK(kiln_array_ones(&a, dtype, 1, shape, KILN_DEVICE_CUDA(0)));
    return a;
}

static int set_up(void **state)
{
    static world w;
    memset(&w, 0, sizeof w);
    w.sum = elementwise("float32 x, float32 y", "float32 z", "z = x + y", "sum");
    w.scale = elementwise("float32 x, float32 a", "float32 z", "z = x * a", "scale");
    OK(kiln_stream_create(&w.stream, KILN_DEVICE_CUDA(0), KILN_STREAM_NON_BLOCKING));
    w.x = ones(KILN_FLOAT32);
    w.y = ones(KILN_FLOAT32);
    w.z = ones(KILN_FLOAT32);
    w.wide = ones(KILN_FLOAT64);
    OK(kiln_array_index(&w.head, w.z, ":-1"));
    OK(kiln_array_index(&w.tail, w.z, "1:"));
    OK(kiln_stream_synchronize(NULL));
    *state = &w;
    return 0;
}

static int tear_down(void **state)
{
    world *w = *state;
    kiln_memory_stats s = KILN_MEMORY_STATS_INIT;
    kiln_array *arrays[] = {w->x, w->y, w->z, w->wide, w->head, w->tail};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        kiln_array_free(arrays[k]);
    kiln_kernel_free(w->sum);
    kiln_kernel_free(w->scale);
    kiln_stream_free(w->stream);
    OK(kiln_device_synchronize(KILN_DEVICE_CUDA(0)));
    OK(kiln_memory_trim(KILN_DEVICE_CUDA(0), 0));
    OK(kiln_memory_get_stats(KILN_DEVICE_CUDA(0), &s));
    assert_int_equal(s.used_bytes, 0);
    assert_int_equal(s.held_bytes, 0);
    static const fake_kind kinds[] = {FAKE_STREAM, FAKE_GRAPH, FAKE_EXEC, FAKE_USER_OBJECT};
    /* One stream stays, once counters of a captured launch have been zeroed on it. */
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        assert_true(fake_live(kinds[k]) <= (kinds[k] == FAKE_STREAM));
    return 0;
}

static kiln_status sum(world *w, kiln_array **out, kiln_array *a, kiln_array *b)
{
    kiln_arg in[] = {kiln_arg_array(a), kiln_arg_array(b)};
    return kiln_kernel_call(w->sum, out, 1, in, 2, NULL);
}

static kiln_status scale(world *w, kiln_array **out, kiln_array *a, double by)
{
    kiln_arg in[] = {kiln_arg_array(a), kiln_arg_float(by)};
    return kiln_kernel_call(w->scale, out, 1, in, 2, NULL);
}

static kiln_status add_half(world *w)
{
    kiln_array *half = NULL;
    kiln_status status = scale(w, &half, w->z, 0.5);
    if (status == KILN_OK)
        status = sum(w, &w->z, w->z, half);
    kiln_array_free(half);
    return status;
}

static kiln_status add_copy(world *w)
{
    kiln_array *copy = NULL;
    kiln_status status = kiln_array_copy(&copy, w->z);
    if (status == KILN_OK)
        status = sum(w, &w->z, copy, w->x);
    kiln_array_free(copy);
    return status;
}

static kiln_status fill_both(world *w)
{
    const float narrow = (float)(w->step % 7);
    const double wide = 0.1 * w->step;
    kiln_status status = kiln_array_fill(w->x, &narrow);
    return status == KILN_OK ? kiln_array_fill(w->wide, &wide) : status;
}

/* Each element becomes the sum of its neighbour, as it was, and one. */
static kiln_status move_on(world *w)
{
    kiln_array *ones_here = NULL;
    kiln_status status = kiln_array_index(&ones_here, w->y, ":-1");
    if (status == KILN_OK)
        status = sum(w, &w->tail, w->head, ones_here);
    kiln_array_free(ones_here);
    return status;
}

static kiln_status halve(world *w)
{
    return scale(w, &w->z, w->z, 0.25);
}

static kiln_status hundred_calls(void *user)
{
    static kiln_status (*const kinds[])(world *) = {add_half, fill_both, add_copy, move_on, halve};
    world *w = user;
    kiln_status status = KILN_OK;
    for (w->step = 0; w->step < CALLS && status == KILN_OK; w->step++)
        status = kinds[w->step % 5](w);
    return status;
}

/* The same in plain C. */
static void hundred_steps(float *x, float *z, double *wide)
{
    for (int step = 0; step < CALLS; step++) {
        float before[COUNT];
        memcpy(before, z, sizeof before);
        for (int k = 0; k < COUNT; k++) {
            if (step % 5 == 0)
                z[k] = before[k] + before[k] * 0.5f;
            else if (step % 5 == 1)
                x[k] = (float)(step % 7), wide[k] = 0.1 * step;
            else if (step % 5 == 2)
                z[k] = before[k] + x[k];
            else if (step % 5 == 3 && k > 0)
                z[k] = before[k - 1] + 1;
            else if (step % 5 == 4)
                z[k] = before[k] * 0.25f;
        }
    }
}

static void compare(world *w, const float *z, const double *wide)
{
    float back[COUNT];
    double wide_back[COUNT];
    OK(kiln_array_to_host(w->z, back, sizeof back));
    OK(kiln_array_to_host(w->wide, wide_back, sizeof wide_back));
    assert_memory_equal(back, z, sizeof back);
    assert_memory_equal(wide_back, wide, sizeof wide_back);
}

static size_t used(void)
{
    kiln_memory_stats s = KILN_MEMORY_STATS_INIT;
    OK(kiln_memory_get_stats(KILN_DEVICE_CUDA(0), &s));
    return s.used_bytes;
}

static void hundred_mixed_calls(void **state)
{
    world *w = *state;
    float x[COUNT], z[COUNT];
    double wide[COUNT];
    kiln_graph *graph = NULL;
    kiln_graph_exec *first = NULL, *second = NULL;
    size_t nodes = 0;
    for (int k = 0; k < COUNT; k++)
        x[k] = z[k] = 1, wide[k] = 1;
    kiln_stream *before = kiln_stream_set_current(w->stream);
    OK(hundred_calls(w)); /* eager, and so everything is loaded */
    hundred_steps(x, z, wide);
    compare(w, z, wide);
    size_t used_before = used();
    long compiled = fake_compiles();
    OK(kiln_capture_begin(NULL));
    OK(hundred_calls(w));
    OK(kiln_capture_end(&graph, NULL));
    compare(w, z, wide); /* nothing has run */
    assert_int_equal(fake_compiles(), compiled);
    OK(kiln_graph_node_count(&nodes, graph));
    assert_int_equal(nodes, 180); /* 2 + 2 + 2 + 2 + 1 a round */
    OK(kiln_graph_instantiate(&first, graph));
    OK(kiln_graph_instantiate(&second, graph));
    kiln_graph_free(graph);
    for (int round = 0; round < 6; round++) {
        if (round % 3 == 2)
            OK(hundred_calls(w));
        else
            OK(kiln_graph_launch(round % 3 ? second : first, NULL));
        hundred_steps(x, z, wide);
        compare(w, z, wide);
    }
    kiln_graph_exec_free(first);
    kiln_graph_exec_free(second);
    OK(kiln_stream_synchronize(NULL));
    assert_int_equal(used(), used_before);
    kiln_stream_set_current(before);
}

static void all_in_one(void **state)
{
    world *w = *state;
    kiln_graph_exec *exec = NULL;
    OK(hundred_calls(w));
    OK(kiln_capture(&exec, w->stream, hundred_calls, w));
    fake_launches_clear();
    OK(kiln_graph_launch(exec, w->stream));
    OK(kiln_stream_synchronize(w->stream));
    assert_int_equal(fake_launch_count(), 120); /* kernels; the rest are copies and sets */
    assert_true(fake_launch_at(0).is_replay);
    kiln_graph_exec_free(exec);
}

static void refused(kiln_status status, const char *words)
{
    assert_int_equal(status, KILN_ERROR_CAPTURE);
    if (!strstr(kiln_error_message(), words))
        fail_msg("\"%s\" is not in \"%s\"", words, kiln_error_message());
}

static kiln_status begin_prepared(void)
{
    kiln_capture_options options = KILN_CAPTURE_OPTIONS_INIT;
    options.flags = KILN_CAPTURE_PREPARED;
    return kiln_capture_begin_with(NULL, &options);
}

/* The capture is as good as before the refusal. */
static void what_would_compile_is_refused(void **state)
{
    world *w = *state;
    kiln_kernel *fresh = elementwise("float32 x, float32 y", "float32 z", "z = x + y + 1", "fresh");
    kiln_kernel *copied = elementwise("float64 x", "float64 z", "z = x + 1", "copied");
    kiln_array *out = NULL, *back = NULL;
    kiln_graph_exec *exec = NULL;
    kiln_graph *graph = NULL;
    size_t nodes;
    kiln_arg in[] = {kiln_arg_array(w->x), kiln_arg_array(w->y)}, reversed;
    OK(kiln_array_index(&back, w->wide, "::-1"));
    reversed = kiln_arg_array(back);
    kiln_stream *before = kiln_stream_set_current(w->stream);
    long compiled = fake_compiles();
    OK(begin_prepared());
    refused(
        kiln_kernel_call(fresh, &out, 1, in, 2, NULL),
        "fresh would have to be compiled or loaded for this call, which the capture of its stream forbids "
        "(KILN_CAPTURE_PREPARED): call kiln_kernel_prepare, or make the call once, before the capture "
        "begins");
    assert_null(out);
    refused(kiln_kernel_call(copied, &w->wide, 1, &reversed, 1, NULL), "kiln_kernel_prepare");
    assert_int_equal(fake_compiles(), compiled);
    OK(kiln_capture_end(&graph, NULL));
    OK(kiln_graph_node_count(&nodes, graph));
    assert_int_equal(nodes, 0);
    kiln_graph_free(graph);

    OK(kiln_kernel_prepare(fresh, NULL, 1, in, 2, NULL, NULL));
    OK(kiln_kernel_prepare(copied, &w->wide, 1, &reversed, 1, NULL, NULL));
    compiled = fake_compiles();
    OK(begin_prepared());
    OK(kiln_kernel_call(fresh, &out, 1, in, 2, NULL));
    OK(kiln_kernel_call(copied, &w->wide, 1, &reversed, 1, NULL)); /* the copy of the reversed input, too */
    OK(kiln_capture_end(&graph, NULL));
    OK(kiln_graph_node_count(&nodes, graph));
    assert_int_equal(nodes, 3);
    assert_int_equal(fake_compiles(), compiled);
    OK(kiln_graph_instantiate(&exec, graph));
    kiln_graph_free(graph);
    kiln_kernel_free(fresh); /* the code stays, for as long as the process */
    kiln_kernel_free(copied);
    fake_launches_clear();
    OK(kiln_graph_launch(exec, NULL));
    OK(kiln_stream_synchronize(NULL));
    assert_int_equal(fake_launch_count(), 3);
    kiln_graph_exec_free(exec);
    kiln_array_free(out);
    kiln_array_free(back);
    kiln_stream_set_current(before);
}

/* An input that the output covers partly is copied by a kernel only if it is not contiguous. For a target
 * without a device there is nothing to copy. */
static void copies_are_prepared_where_a_kernel_makes_them(void **state)
{
    static const struct {
        const char *in, *target;
        int compiles;
    } cases[] = {{":-1", NULL, 1}, {":0:-1", "sm_80", 1}, {":0:-1", NULL, 2}, {":-1", "sm_80", 1}};
    kiln_array *shorts = NULL, *out = NULL;
    const int64_t shape[] = {COUNT};
    (void)state;
    OK(kiln_array_zeros(&shorts, KILN_INT16, 1, shape, KILN_DEVICE_CUDA(0)));
    OK(kiln_array_index(&out, shorts, "1:"));
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        kiln_prepare_options options = KILN_PREPARE_OPTIONS_INIT;
        char body[32];
        snprintf(body, sizeof body, "z = x + %d", (int)k);
        kiln_kernel *kernel = elementwise("int16 x", "int16 z", body, "shifted");
        kiln_array *x = NULL;
        OK(kiln_array_index(&x, shorts, cases[k].in));
        const kiln_arg in = kiln_arg_array(x);
        options.target = cases[k].target;
        long compiled = fake_compiles();
        OK(kiln_kernel_prepare(kernel, &out, 1, &in, 1, NULL, &options));
        if (fake_compiles() - compiled != cases[k].compiles)
            fail_msg("x[%s] for %s: %ld kernels are compiled instead of %d\n", cases[k].in,
                     cases[k].target ? cases[k].target : "the device", fake_compiles() - compiled,
                     cases[k].compiles);
        compiled = fake_compiles();
        if (!cases[k].target)
            OK(kiln_kernel_call(kernel, &out, 1, &in, 1, NULL));
        assert_int_equal(fake_compiles(), compiled);
        kiln_kernel_free(kernel);
        kiln_array_free(x);
    }
    kiln_array_free(out);
    kiln_array_free(shorts);
}

/* Calls on arrays need kernels of the library's own. */
static void what_arrays_need_is_named(void **state)
{
    world *w = *state;
    kiln_array *range = NULL;
    kiln_graph *graph = NULL;
    kiln_stream *before = kiln_stream_set_current(w->stream);
    for (int round = 0; round < 2; round++) {
        OK(begin_prepared());
        kiln_status status = kiln_array_arange(&range, 0, COUNT, 1, KILN_INT16, KILN_DEVICE_CUDA(0));
        if (round == 0)
            refused(status, "the kernel range, which this call needs for its arrays");
        else
            OK(status);
        OK(kiln_capture_end(&graph, NULL));
        kiln_graph_free(graph);
        kiln_array_free(range);
        range = NULL;
        OK(kiln_array_arange(&range, 0, 2 * COUNT, 1, KILN_INT16, KILN_DEVICE_CUDA(0)));
        kiln_array_free(range);
        range = NULL;
    }
    kiln_stream_set_current(before);
}

/* A selection into given arrays leaves its count on the device, and so is captured, as a scan is; both keep
 * their workspace for the replays. A selection of which the call waits for the count is refused. */
static void scans_and_selections_are_captured(void **state)
{
    world *w = *state;
    const kiln_arg in = kiln_arg_array(w->x);
    kiln_array *stored[2] = {NULL, NULL}, *exact[2] = {NULL, NULL};
    kiln_kernel *select = NULL, *scan = NULL;
    kiln_graph *graph = NULL;
    kiln_graph_exec *exec = NULL;
    const int64_t shape[] = {COUNT};
    size_t nodes = 0;
    int launches[3];
    OK(kiln_select_create(&select, "T x", "T y", "x > 0", "y = x", "above", NULL));
    OK(kiln_scan_create(&scan, "T x", "T y", "x", "a + b", "y = a", NULL, "sums", NULL));
    OK(kiln_array_zeros(&stored[0], KILN_FLOAT32, 1, shape, KILN_DEVICE_CUDA(0)));
    OK(kiln_array_zeros(&stored[1], KILN_INT64, 0, NULL, KILN_DEVICE_CUDA(0)));
    OK(kiln_stream_synchronize(NULL));
    kiln_stream *before = kiln_stream_set_current(w->stream);
    fake_launches_clear();
    OK(kiln_kernel_call(select, stored, 2, &in, 1, NULL));
    OK(kiln_kernel_call(scan, &w->z, 1, &in, 1, NULL));
    launches[0] = fake_launch_count();
    assert_true(launches[0] >= 2);
    OK(kiln_capture_begin(NULL));
    OK(kiln_kernel_call(select, stored, 2, &in, 1, NULL));
    refused(kiln_kernel_call(select, exact, 2, &in, 1, NULL), "capture");
    OK(kiln_kernel_call(scan, &w->z, 1, &in, 1, NULL));
    OK(kiln_capture_end(&graph, NULL));
    assert_null(exact[0]);
    OK(kiln_graph_node_count(&nodes, graph));
    assert_true(nodes >= (size_t)launches[0]);
    OK(kiln_graph_instantiate(&exec, graph));
    kiln_graph_free(graph);
    for (int replay = 1; replay < 3; replay++) {
        fake_launches_clear();
        OK(kiln_graph_launch(exec, NULL));
        OK(kiln_stream_synchronize(NULL));
        launches[replay] = fake_launch_count();
        assert_int_equal(launches[replay], launches[0]);
    }
    kiln_graph_exec_free(exec);
    kiln_kernel_free(select);
    kiln_kernel_free(scan);
    for (int j = 0; j < 2; j++)
        kiln_array_free(stored[j]);
    kiln_stream_set_current(before);
}

/* Sorts of one launch and of several, into given arrays: each replay launches what a call does, and clears
 * the words of its tiles. */
enum { SORTS = 4, MANY = 5000 };

static void sort_all(kiln_kernel *const *kernel, kiln_array *const *x, kiln_array **out)
{
    for (int k = 0; k < SORTS; ++k) {
        const kiln_arg in = kiln_arg_array(x[k > 0]);
        OK(kiln_kernel_call(kernel[k], &out[k], 1, &in, 1, NULL));
    }
}

static void sorts_are_captured(void **state)
{
    static const struct {
        const char *out, *body;
        int n_keys, launches;
        int64_t extent;
    } sorts[SORTS] = {{"T y", "y = x", 1, 1, COUNT},
                      {"T y", "y = x", 1, 5, MANY},
                      {"int64 y", "y = i", 1, 5, MANY},
                      {"T y", "y = x", 2, 10, MANY}};
    const kiln_sort_key keys[] = {{"x", NULL, 0}, {"-x", NULL, KILN_SORT_DESCENDING}};
    world *w = *state;
    kiln_array *x[2] = {w->x, NULL}, *out[SORTS] = {NULL};
    kiln_kernel *kernel[SORTS] = {NULL};
    kiln_graph *graph = NULL;
    kiln_graph_exec *exec = NULL;
    int launches = 0;
    OK(kiln_array_ones(&x[1], KILN_FLOAT32, 1, (const int64_t[]){MANY}, KILN_DEVICE_CUDA(0)));
    for (int k = 0; k < SORTS; ++k) {
        OK(kiln_sort_create(&kernel[k], "T x", sorts[k].out, keys, sorts[k].n_keys, sorts[k].body, "sort",
                            NULL));
        OK(kiln_array_zeros(&out[k], k == 2 ? KILN_INT64 : KILN_FLOAT32, 1, &sorts[k].extent,
                            KILN_DEVICE_CUDA(0)));
        launches += sorts[k].launches;
    }
    OK(kiln_stream_synchronize(NULL));
    kiln_stream *before = kiln_stream_set_current(w->stream);
    fake_launches_clear();
    sort_all(kernel, x, out);
    assert_int_equal(fake_launch_count(), launches);
    OK(kiln_capture_begin(NULL));
    sort_all(kernel, x, out);
    OK(kiln_capture_end(&graph, NULL));
    OK(kiln_graph_instantiate(&exec, graph));
    kiln_graph_free(graph);
    for (int replay = 0; replay < 2; replay++) {
        fake_launches_clear();
        OK(kiln_graph_launch(exec, NULL));
        OK(kiln_stream_synchronize(NULL));
        assert_int_equal(fake_launch_count(), launches);
    }
    kiln_graph_exec_free(exec);
    for (int k = 0; k < SORTS; ++k) {
        kiln_kernel_free(kernel[k]);
        kiln_array_free(out[k]);
    }
    kiln_array_free(x[1]);
    kiln_stream_set_current(before);
}

static kiln_kernel *new_kernel(void)
{
    static int count;
    char body[64];
    snprintf(body, sizeof body, "z = x + y + %d", 100 + count++);
    return elementwise("float32 x, float32 y", "float32 z", body, "new");
}

static kiln_status capture_new(world *w, kiln_kernel *kernel, kiln_graph **graph)
{
    kiln_array *out = NULL;
    kiln_arg in[] = {kiln_arg_array(w->x), kiln_arg_array(w->y)};
    kiln_status status = kiln_capture_begin(NULL), ended;
    if (status != KILN_OK)
        return status;
    status = kiln_kernel_call(kernel, &out, 1, in, 2, NULL);
    ended = kiln_capture_end(graph, NULL);
    kiln_array_free(out);
    return status == KILN_OK ? ended : status;
}

/* Captures need no preparation: what is new is compiled and loaded, once, and the capture takes no harm. */
static void what_is_new_is_compiled(void **state)
{
    world *w = *state;
    kiln_graph *graph = NULL;
    kiln_kernel *kernel = new_kernel();
    size_t nodes = 0;
    kiln_stream *before = kiln_stream_set_current(w->stream);
    long compiled = fake_compiles();
    int loaded = fake_live(FAKE_MODULE);
    for (int round = 0; round < 2; round++) {
        OK(capture_new(w, kernel, &graph));
        OK(kiln_graph_node_count(&nodes, graph));
        assert_int_equal(nodes, 1);
        assert_int_equal(fake_compiles(), compiled + 1);
        assert_int_equal(fake_live(FAKE_MODULE), loaded + 1);
        assert_int_equal(fake_capture_mode(), 0);
        kiln_graph_free(graph);
    }
    kiln_kernel_free(kernel);
    kiln_stream_set_current(before);
}

int cuStreamBeginCapture_v2(void *, int);
int cuStreamEndCapture(void *, void **);
int cuGraphDestroy(void *);
int cuCtxPushCurrent_v2(void *);
int cuCtxPopCurrent_v2(void **);

static void *call_new_elsewhere(void *user)
{
    world *w = user;
    static kiln_status status;
    kiln_array *out = NULL;
    kiln_kernel *kernel = new_kernel();
    kiln_arg in[] = {kiln_arg_array(w->x), kiln_arg_array(w->y)};
    kiln_stream *stream = NULL;
    KILN_IGNORE(kiln_device_set_current(KILN_DEVICE_CUDA(0)));
    status = kiln_stream_create(&stream, KILN_DEVICE_CUDA(0), KILN_STREAM_NON_BLOCKING);
    kiln_stream_set_current(stream);
    if (status == KILN_OK)
        status = kiln_kernel_call(kernel, &out, 1, in, 2, NULL);
    if (status == KILN_OK)
        status = kiln_stream_synchronize(stream);
    kiln_array_free(out);
    kiln_kernel_free(kernel);
    kiln_stream_set_current(NULL);
    kiln_stream_free(stream);
    return &status;
}

/* The mode that forbids most, and in every thread, is the usual one of other libraries. */
static void beside_a_global_capture(void **state)
{
    world *w = *state;
    void *context = NULL, *graph = NULL, *status = NULL;
    kiln_array *out = NULL;
    kiln_kernel *kernel = new_kernel();
    kiln_arg in[] = {kiln_arg_array(w->x), kiln_arg_array(w->y)};
    pthread_t thread;
    kiln_stream *before = kiln_stream_set_current(w->stream);
    OK(kiln_device_cuda_context(&context, KILN_DEVICE_CUDA(0)));
    cuCtxPushCurrent_v2(context);
    assert_int_equal(cuStreamBeginCapture_v2(kiln_stream_cuda_handle(w->stream), 0), 0);
    OK(kiln_kernel_call(kernel, &out, 1, in, 2, NULL));                        /* in the capture ... */
    assert_int_equal(pthread_create(&thread, NULL, call_new_elsewhere, w), 0); /* ... and beside it */
    pthread_join(thread, &status);
    OK(*(kiln_status *)status);
    assert_int_equal(cuStreamEndCapture(kiln_stream_cuda_handle(w->stream), &graph), 0);
    cuGraphDestroy(graph);
    cuCtxPopCurrent_v2(&context);
    kiln_array_free(out);
    kiln_kernel_free(kernel);
    kiln_stream_set_current(before);
}

static void launches_that_fail(void **state)
{
    world *w = *state;
    const kiln_arg in[] = {kiln_arg_array(w->x), kiln_arg_array(w->y)};
    OK(kiln_kernel_call(w->sum, &w->z, 1, in, 2, NULL));
    fake_fail("cuLaunchKernelEx", 1, 999);
    assert_int_equal(kiln_kernel_call(w->sum, &w->z, 1, in, 2, NULL), KILN_ERROR_DEVICE);
    fake_fail(NULL, 0, 0);
    OK(kiln_kernel_call(w->sum, &w->z, 1, in, 2, NULL));
}

/* Each call of the driver on the way of a new kernel in a capture fails once: an error or success, and the
 * thread, its stream and the device are as before. */
static void every_driver_call_may_fail(void **state)
{
    world *w = *state;
    bool was_reached = true;
    kiln_stream *before = kiln_stream_set_current(w->stream);
    for (long nth = 1; was_reached; nth++) {
        kiln_graph *graph = NULL;
        kiln_kernel *kernel = new_kernel();
        bool active = true;
        fake_fail(NULL, nth, 999);
        kiln_status status = capture_new(w, kernel, &graph);
        fake_fail(NULL, 0, 0);
        was_reached = fake_failed_function()[0];
        assert_true(was_reached || status == KILN_OK);
        kiln_graph_free(graph);
        OK(kiln_capture_is_active(&active, w->stream));
        if (active) /* the end itself failed: nothing has changed, and it ends now */
            OK(kiln_capture_end(NULL, w->stream));
        assert_int_equal(fake_capture_mode(), 0);
        assert_int_equal(fake_context_depth(), 0);
        assert_int_equal(fake_live(FAKE_GRAPH), 0);
        OK(kiln_device_synchronize(KILN_DEVICE_CUDA(0)));
        OK(capture_new(w, kernel, &graph));
        kiln_graph_free(graph);
        kiln_kernel_free(kernel);
        assert_true(nth < 300);
    }
    kiln_stream_set_current(before);
}

/* Arrays that a capture made are the graph's memory: their handles may go first, or last. */
static void outputs_of_a_capture(void **state)
{
    world *w = *state;
    kiln_array *out = NULL;
    kiln_graph *graph = NULL;
    kiln_graph_exec *exec = NULL;
    kiln_stream *before = kiln_stream_set_current(w->stream);
    OK(sum(w, &out, w->x, w->y));
    kiln_array_free(out);
    out = NULL;
    OK(kiln_capture_begin(NULL));
    OK(sum(w, &out, w->x, w->y));
    OK(kiln_capture_end(&graph, NULL));
    OK(kiln_graph_instantiate(&exec, graph));
    OK(kiln_graph_launch(exec, NULL));
    float back[COUNT];
    OK(kiln_array_to_host(out, back, sizeof back));
    assert_true(back[0] == 2 && back[COUNT - 1] == 2);
    kiln_graph_free(graph);
    kiln_graph_exec_free(exec);
    kiln_array_free(out);
    kiln_stream_set_current(before);
}

static int use_fakes(void **state)
{
    static char folder[] = "/tmp/kiln-capture-XXXXXX";
    (void)state;
    if (!mkdtemp(folder))
        return 1;
    setenv("KILN_LIBCUDA", FAKE_LIBCUDA, 1);
    setenv("KILN_NVRTC", FAKE_LIBNVRTC, 1);
    setenv("KILN_CACHE", "off", 1);
    setenv("KILN_CACHE_DIR", folder, 1);
    unsetenv("KILN_TARGET");
    fake_on_launch(run_kernel, NULL);
    return 0;
}

/* Inputs of another stream and an output of its own: the driver says once whether the stream is captured. */
static void a_call_asks_once(void **state)
{
    world *w = *state;
    long before = 0;
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    kiln_arg in[] = {kiln_arg_array(w->x), kiln_arg_array(w->y)};
    options.stream = w->stream;
    for (int round = 0; round < 3; round++) {
        kiln_array *out = NULL;
        before = fake_calls_of("cuStreamIsCapturing");
        OK(kiln_kernel_call(w->sum, &out, 1, in, 2, &options));
        kiln_array_free(out);
    }
    assert_int_equal(fake_calls_of("cuStreamIsCapturing") - before, 1);
    OK(kiln_stream_synchronize(w->stream));
}

static void expect_zeros(kiln_array *a)
{
    float values[COUNT];
    OK(kiln_array_to_host(a, values, sizeof values));
    for (int k = 0; k < COUNT; ++k)
        if (values[k] != 0)
            fail_msg("element %d is %g", k, (double)values[k]);
}

/* An output that the call allocates is cleared where elements may be left, eagerly and by each launch of a
 * graph; one that is given never is, nor what is assigned on every way. The kernel does nothing here. */
static void what_may_be_left_is_cleared(void **state)
{
    world *w = *state;
    kiln_kernel *left = elementwise("float32 x", "float32 z", "if (x > 0) z = x", "left");
    const kiln_arg in[] = {kiln_arg_array(w->x)};
    const float one = 1;
    kiln_array *z = NULL, *total = NULL;
    kiln_graph *graph = NULL;
    kiln_graph_exec *exec = NULL;
    long before = fake_calls_of("cuMemsetD8Async");
    OK(kiln_kernel_prepare(left, NULL, 1, in, 1, NULL, NULL));
    assert_int_equal(fake_calls_of("cuMemsetD8Async"), before);
    for (int k = 0; k < 2; ++k) { /* planned, and remembered; in memory that the pool has had */
        kiln_array_free(z);
        z = NULL;
        kiln_array_free(ones(KILN_FLOAT32));
        OK(kiln_kernel_call(left, &z, 1, in, 1, NULL));
        assert_int_equal(fake_calls_of("cuMemsetD8Async"), ++before);
        expect_zeros(z);
    }
    OK(kiln_kernel_call(left, &z, 1, in, 1, NULL));
    OK(sum(w, &total, w->x, w->y));
    assert_int_equal(fake_calls_of("cuMemsetD8Async"), before);
    kiln_array_free(total);
    kiln_array_free(z);
    z = NULL;
    kiln_stream *current = kiln_stream_set_current(w->stream);
    OK(kiln_capture_begin(w->stream));
    OK(kiln_kernel_call(left, &z, 1, in, 1, NULL));
    OK(kiln_capture_end(&graph, w->stream));
    OK(kiln_graph_instantiate(&exec, graph));
    for (int k = 0; k < 2; ++k) {
        OK(kiln_array_fill(z, &one));
        OK(kiln_graph_launch(exec, w->stream));
        expect_zeros(z);
    }
    kiln_stream_set_current(current);
    kiln_graph_exec_free(exec);
    kiln_graph_free(graph);
    kiln_array_free(z);
    kiln_kernel_free(left);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_would_compile_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(copies_are_prepared_where_a_kernel_makes_them, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hundred_mixed_calls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_in_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_arrays_need_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(scans_and_selections_are_captured, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sorts_are_captured, set_up, tear_down),
        cmocka_unit_test_setup_teardown(outputs_of_a_capture, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_call_asks_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_new_is_compiled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_may_be_left_is_cleared, set_up, tear_down),
        cmocka_unit_test_setup_teardown(beside_a_global_capture, set_up, tear_down),
        cmocka_unit_test_setup_teardown(launches_that_fail, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_driver_call_may_fail, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, use_fakes, NULL);
}
