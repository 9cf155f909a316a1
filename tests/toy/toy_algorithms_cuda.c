/* Algorithms on the fake driver: their launches, eagerly and in captures, whose buffers are the graph's; a
 * result whose extent a capture cannot wait for; calls of the driver that fail. */
#include <kiln/kiln.h>

#include "base/alloc.h"
#include "fake_cuda.h"
#include "toy_algorithms.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../ok.h"

enum { COUNT = 5300, KEPT = 77, SEEN_MAX = 256 };

typedef struct world {
    kiln_kernel *scan, *select;
    kiln_array *x, *y, *count;
    kiln_stream *stream;
} world;

/* The names of the launches, and what their argument blocks begin with. */
static struct {
    char name[SEEN_MAX][32];
    unsigned char block[SEEN_MAX][64]; /* the fake compiler has no more */
    int launches;
} seen;

static bool has_address(int launch, const void *address)
{
    bool has = false;
    for (size_t at = 0; at + 8 <= sizeof seen.block[0]; at += 8)
        has = has || memcmp(seen.block[launch] + at, &address, 8) == 0;
    return has;
}

/* In the place of the kernel that counts: where the count is, is told by the test. */
static int64_t *counted;

static void run_kernel(const fake_launch *l, void *user)
{
    int at = seen.launches++ % SEEN_MAX;
    (void)user;
    snprintf(seen.name[at], sizeof seen.name[at], "%.31s", l->name);
    memcpy(seen.block[at], l->parameters, sizeof seen.block[at]);
    if (strcmp(l->name, "kiln_toy_kept") == 0 && counted)
        *counted = KEPT;
}

static void assert_launches(int first, const char *const *names, int count)
{
    assert_true(seen.launches >= first + count);
    for (int k = 0; k < count; ++k)
        assert_string_equal(seen.name[first + k], names[k]);
}

static const char *const scanning[] = {"kiln_toy_sums", "kiln_toy_offsets", "kiln_toy_elements"};
static const char *const selecting[] = {"kiln_toy_flags", "kiln_toy_sums", "kiln_toy_offsets",
                                        "kiln_toy_elements", "kiln_toy_kept"};

static int set_up(void **state)
{
    static world w;
    const int64_t shape[] = {COUNT};
    memset(&w, 0, sizeof w);
    memset(&seen, 0, sizeof seen);
    counted = NULL;
    OK(kiln_set_forms(KILN_FORMS_BEST));
    OK(toy_scan_create(&w.scan));
    OK(toy_select_create(&w.select, TOY_SELECT));
    OK(kiln_stream_create(&w.stream, KILN_DEVICE_CUDA(0), KILN_STREAM_NON_BLOCKING));
    kiln_stream_set_current(w.stream);
    OK(kiln_array_empty(&w.x, KILN_FLOAT32, 1, shape, KILN_DEVICE_CUDA(0)));
    OK(kiln_array_empty(&w.y, KILN_FLOAT32, 1, shape, KILN_DEVICE_CUDA(0)));
    OK(kiln_array_empty(&w.count, KILN_INT64, 0, NULL, KILN_DEVICE_CUDA(0)));
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
    kiln_array_free(w->y);
    kiln_array_free(w->count);
    kiln_kernel_free(w->scan);
    kiln_kernel_free(w->select);
    kiln_stream_free(w->stream);
    OK(kiln_memory_get_stats(KILN_DEVICE_CUDA(0), &s));
    assert_int_equal(s.used_bytes, 0);
    assert_int_equal(fake_live(FAKE_GRAPH) + fake_live(FAKE_EXEC), 0);
    return 0;
}

static kiln_status call_scan(world *w)
{
    const kiln_arg in = kiln_arg_array(w->x);
    return kiln_kernel_call(w->scan, &w->y, 1, &in, 1, NULL);
}

static kiln_status call_select(world *w, kiln_array **out)
{
    const kiln_arg in = kiln_arg_array(w->x);
    return kiln_kernel_call(w->select, out, 2, &in, 1, NULL);
}

static void eager_calls(void **state)
{
    world *w = *state;
    OK(call_scan(w));
    OK(call_scan(w));
    OK(kiln_stream_synchronize(w->stream));
    assert_int_equal(seen.launches, 6);
    assert_launches(0, scanning, 3);
    assert_launches(3, scanning, 3);
    for (int k = 0; k < 6; ++k)
        assert_int_equal(has_address(k, kiln_array_data(w->x)), k % 3 != 1);
}

/* The count comes back from the device, and the result gets its extent. */
static void late_extents(void **state)
{
    world *w = *state;
    kiln_array *out[] = {NULL, w->count};
    counted = kiln_array_data(w->count);
    OK(call_select(w, out));
    assert_launches(0, selecting, 5);
    assert_int_equal(kiln_array_size(out[0]), KEPT);
    assert_int_equal(kiln_array_shape(out[0])[0], KEPT);
    kiln_array_free(out[0]);
}

static void captured_calls(void **state)
{
    world *w = *state;
    kiln_graph *graph = NULL;
    kiln_graph_exec *exec = NULL;
    kiln_array *out[] = {w->y, w->count};
    OK(call_scan(w));
    OK(call_select(w, out));
    OK(kiln_capture_begin(w->stream));
    OK(call_scan(w));
    OK(call_select(w, out));
    OK(kiln_capture_end(&graph, w->stream));
    assert_int_equal(seen.launches, 8);
    OK(kiln_graph_instantiate(&exec, graph));
    for (int run = 0; run < 3; ++run)
        OK(kiln_graph_launch(exec, w->stream));
    OK(call_scan(w));
    OK(kiln_stream_synchronize(w->stream));
    assert_int_equal(seen.launches, 8 + 3 * 8 + 3);
    for (int run = 0; run < 3; ++run) {
        assert_launches(8 + 8 * run, scanning, 3);
        assert_launches(8 + 8 * run + 3, selecting, 5);
        assert_memory_equal(seen.block[9 + 8 * run], seen.block[9], sizeof seen.block[9]);
    }
    assert_memory_not_equal(seen.block[9], seen.block[1],
                            sizeof seen.block[9]); /* a buffer of the graph's own */
    kiln_graph_exec_free(exec);
    kiln_graph_free(graph);
}

static void captures_do_not_wait(void **state)
{
    world *w = *state;
    kiln_graph *graph = NULL;
    kiln_array *out[] = {NULL, w->count};
    int before;
    OK(call_select(w, out));
    kiln_array_free(out[0]);
    out[0] = NULL;
    before = seen.launches;
    OK(kiln_capture_begin(w->stream));
    assert_int_equal(call_select(w, out), KILN_ERROR_CAPTURE);
    assert_non_null(
        strstr(kiln_error_message(), "toy_select: output 'y' has as many elements as the data says"));
    assert_null(out[0]);
    OK(call_scan(w)); /* the capture is not spoilt */
    OK(kiln_capture_end(&graph, w->stream));
    assert_int_equal(seen.launches, before);
    kiln_graph_free(graph);
}

/* First calls, eager and captured, and one that waits. */
static kiln_status flow(world *w)
{
    kiln_graph *graph = NULL;
    kiln_array *late[] = {NULL, w->count}, *given[] = {w->y, w->count};
    kiln_status status = call_select(w, late);
    kiln_array_free(late[0]);
    if (status == KILN_OK)
        status = kiln_capture_begin(w->stream);
    if (status != KILN_OK)
        return status;
    status = call_select(w, given);
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
    assert_true(nth > 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(eager_calls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(late_extents, set_up, tear_down),
        cmocka_unit_test_setup_teardown(captured_calls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(captures_do_not_wait, set_up, tear_down),
        cmocka_unit_test(driver_calls_fail),
    };
    setenv("KILN_CACHE", "off", 1);
    setenv("KILN_LIBCUDA", FAKE_LIBCUDA, 1);
    setenv("KILN_NVRTC", FAKE_LIBNVRTC, 1);
    unsetenv("KILN_TARGET");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
