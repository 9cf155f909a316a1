/* A kind with workspace on the fake driver: what its launches are given, eagerly and in captures, and that
 * calls which fail leave nothing behind. */
#include <kiln/kiln.h>

#include "base/alloc.h"
#include "fake_cuda.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../ok.h"

enum { COUNT = 100 * 1000, CHUNKS = COUNT / 1000, VALUE = 24, WORKSPACE_AT = 8 + 40, SEEN_MAX = 64 };

/* The workspace of the launches. Each writes all its partials, and finds its counter at zero. */
static struct {
    void *partials[SEEN_MAX];
    unsigned *counters[SEEN_MAX];
    int count;
} seen;

static void run_kernel(const fake_launch *l, void *user)
{
    (void)user;
    if (strcmp(l->name, "kiln_moments") != 0)
        return;
    int k = seen.count++ % SEEN_MAX;
    memcpy(&seen.partials[k], l->parameters + WORKSPACE_AT, 8);
    memcpy(&seen.counters[k], l->parameters + WORKSPACE_AT + 8, 8);
    assert_int_equal(*seen.counters[k], 0);
    memset(seen.partials[k], 0xff, (size_t)CHUNKS * VALUE);
    assert_int_equal(*seen.counters[k], 0);
}

typedef struct world {
    kiln_kernel *kernel;
    kiln_array *x, *z;
    kiln_stream *stream;
} world;

static kiln_status call(world *w)
{
    const kiln_arg in = kiln_arg_array(w->x);
    return kiln_kernel_call(w->kernel, &w->z, 1, &in, 1, NULL);
}

static int set_up(void **state)
{
    static world w;
    int64_t shape[] = {COUNT};
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    memset(&w, 0, sizeof w);
    memset(&seen, 0, sizeof seen);
    options.preamble = "struct sums {\n    double one;\n    double two;\n    long long count;\n};\n";
    options.reduce_type = "sums";
    OK(kiln_reduction_create(&w.kernel, "float32 x", "float32 z", "sums{x, x * x, 1}",
                             "sums{a.one + b.one, a.two + b.two, a.count + b.count}", "z = a.two", NULL,
                             "moments", &options));
    OK(kiln_stream_create(&w.stream, KILN_DEVICE_CUDA(0), KILN_STREAM_NON_BLOCKING));
    kiln_stream_set_current(w.stream);
    OK(kiln_array_empty(&w.x, KILN_FLOAT32, 1, shape, KILN_DEVICE_CUDA(0)));
    OK(kiln_array_empty(&w.z, KILN_FLOAT32, 0, NULL, KILN_DEVICE_CUDA(0)));
    fake_on_launch(run_kernel, NULL);
    *state = &w;
    return 0;
}

static int tear_down(void **state)
{
    world *w = *state;
    kiln_memory_stats s = KILN_MEMORY_STATS_INIT;
    kiln_stream_set_current(NULL);
    kiln_array_free(w->x);
    kiln_array_free(w->z);
    kiln_kernel_free(w->kernel);
    kiln_stream_free(w->stream);
    OK(kiln_memory_get_stats(KILN_DEVICE_CUDA(0), &s));
    assert_int_equal(s.used_bytes, 0);
    assert_int_equal(fake_live(FAKE_GRAPH) + fake_live(FAKE_EXEC), 0);
    return 0;
}

/* The size of a block as the pool tells it: partials of a struct whose size the compiler alone knows. */
static void note_size(kiln_device device, void *pointer, size_t bytes, bool freed, void *user)
{
    (void)device, (void)pointer;
    if (!freed)
        *(size_t *)user += bytes;
}

static void eager_launches(void **state)
{
    size_t size = 0;
    (void)state;
    OK(call(*state));
    kiln_memory_set_hook(note_size, &size);
    OK(call(*state));
    kiln_memory_set_hook(NULL, NULL);
    OK(call(*state));
    assert_int_equal(seen.count, 3);
    assert_in_range(size, CHUNKS * VALUE, CHUNKS * VALUE + 512);
    for (int k = 1; k < 3; ++k) {
        assert_ptr_equal(seen.partials[k], seen.partials[0]); /* given back, and taken again */
        assert_ptr_equal(seen.counters[k], seen.counters[0]);
    }
}

static void captured_launches(void **state)
{
    world *w = *state;
    kiln_graph *graph = NULL;
    kiln_graph_exec *exec = NULL;
    OK(call(w));
    OK(kiln_capture_begin(w->stream));
    OK(call(w));
    OK(call(w));
    OK(kiln_capture_end(&graph, w->stream));
    OK(kiln_graph_instantiate(&exec, graph));
    for (int run = 0; run < 5; ++run)
        OK(kiln_graph_launch(exec, w->stream));
    OK(call(w));
    OK(kiln_stream_synchronize(w->stream));
    assert_int_equal(seen.count, 12);
    assert_ptr_equal(seen.counters[11], seen.counters[0]);
    assert_ptr_not_equal(seen.counters[1], seen.counters[0]);
    assert_ptr_not_equal(seen.counters[2], seen.counters[0]);
    assert_ptr_not_equal(seen.counters[2], seen.counters[1]);
    for (int k = 1; k < 11; ++k) {
        assert_ptr_equal(seen.counters[k], seen.counters[2 - k % 2]);
        assert_ptr_not_equal(seen.partials[k], seen.partials[0]); /* the graph's own */
    }
    kiln_graph_exec_free(exec);
    kiln_graph_free(graph);
}

/* The first calls of a stream, eager and captured. */
static kiln_status flow(world *w)
{
    kiln_graph *graph = NULL;
    kiln_status status = call(w);
    if (status == KILN_OK)
        status = kiln_capture_begin(w->stream);
    if (status != KILN_OK)
        return status;
    status = call(w);
    kiln_status ended = kiln_capture_end(&graph, w->stream);
    kiln_graph_free(graph);
    return status == KILN_OK ? ended : status;
}

static void driver_calls_fail(void **state)
{
    long nth = 1;
    (void)state;
    for (bool hit = true; hit; ++nth) {
        void *w = NULL;
        bool active = false;
        set_up(&w);
        fake_fail(NULL, nth, 999);
        kiln_status status = flow(w);
        fake_fail(NULL, 0, 0);
        hit = fake_failed_function()[0];
        assert_true(hit || status == KILN_OK);
        OK(kiln_capture_is_active(&active, ((world *)w)->stream));
        if (active)
            OK(kiln_capture_end(NULL, ((world *)w)->stream));
        tear_down(&w);
    }
    assert_true(nth > 30);
}

static void allocations_fail(void **state)
{
    int failures = 0;
    (void)state;
    for (unsigned long nth = 1; nth < 120; ++nth) {
        void *w = NULL;
        set_up(&w);
        kn_alloc_fail_at(nth, 0);
        kiln_status status = flow(w);
        kn_alloc_fail_at(0, 0);
        assert_true(status == KILN_OK || status == KILN_ERROR_MEMORY);
        failures += status != KILN_OK;
        tear_down(&w);
    }
    assert_true(failures > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(eager_launches, set_up, tear_down),
        cmocka_unit_test_setup_teardown(captured_launches, set_up, tear_down),
        cmocka_unit_test(driver_calls_fail),
        cmocka_unit_test(allocations_fail),
    };
    setenv("KILN_TEMPLATE_DIR", TOY_TEMPLATES, 1);
    setenv("KILN_CACHE", "off", 1);
    setenv("KILN_LIBCUDA", FAKE_LIBCUDA, 1);
    setenv("KILN_NVRTC", FAKE_LIBNVRTC, 1);
    unsetenv("KILN_TARGET");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
