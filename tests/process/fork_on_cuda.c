/* fork() after CUDA was started, on the fake driver: the child works on the host, is told that CUDA does not
 * survive, frees what belonged to it, and the driver is never called there. */
#include <kiln/kiln.h>

#include "fake_cuda.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../ok.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

/* A forked child that starts threads is part of the test. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0";
}

enum { COUNT = 1000, PATIENCE_S = 900 };

static kiln_array *x, *y;
static kiln_kernel *sum;
static kiln_stream *stream;
static kiln_event *event;
static kiln_graph *graph;
static kiln_graph_exec *exec;
static kiln_module *module;
static void *pinned;

static kiln_status call(kiln_array **out, kiln_array *in)
{
    kiln_arg args[] = {kiln_arg_array(in), kiln_arg_array(in)};
    return kiln_kernel_call(sum, out, 1, args, 2, NULL);
}

static int faults;

static void check(bool is_true, const char *what)
{
    if (is_true)
        return;
    fprintf(stderr, "in the child: %s: %s\n", what, kiln_error_message());
    faults++;
}

/* Fails, and says why. */
static void check_lost(kiln_status status, const char *what)
{
    check(status != KILN_OK && strstr(kiln_error_message(), "does not survive fork()"), what);
}

static void check_refusals(void)
{
    const int64_t shape[] = {COUNT};
    kiln_array *out = NULL;
    kiln_stream *other = NULL;
    kiln_function *function = NULL;
    kiln_device id = KILN_DEVICE_DEFAULT;
    float value[COUNT];
    bool done;
    check_lost(kiln_array_ones(&out, KILN_FLOAT32, 1, shape, KILN_DEVICE_CUDA(0)), "a new array");
    check_lost(kiln_array_ones(&out, KILN_FLOAT32, 1, shape, KILN_DEVICE_CUDA(1)),
               "a device not used before");
    check_lost(call(&out, x), "a call that allocates");
    check_lost(call(&y, x), "a call in place");
    check_lost(kiln_array_to_host(x, value, sizeof value), "a copy to the host");
    check_lost(kiln_array_set_from_host(x, value, sizeof value), "a copy from the host");
    check_lost(kiln_array_fill(x, value), "a fill");
    check_lost(kiln_array_copy(&out, x), "a copy");
    check_lost(kiln_stream_create(&other, KILN_DEVICE_CUDA(0), 0), "a new stream");
    check_lost(kiln_stream_synchronize(stream), "waiting for a stream");
    check_lost(kiln_stream_query(&done, stream), "asking a stream");
    check_lost(kiln_event_record(event, stream), "recording an event");
    check_lost(kiln_event_synchronize(event), "waiting for an event");
    check_lost(kiln_device_synchronize(KILN_DEVICE_CUDA(0)), "waiting for a device");
    check_lost(kiln_device_set_current(KILN_DEVICE_CUDA(0)), "making it current");
    check_lost(kiln_device_parse(&id, "cuda:0"), "naming it");
    check_lost(kiln_graph_launch(exec, stream), "launching a graph");
    check_lost(kiln_capture_begin(stream), "a capture");
    check_lost(kiln_module_function(&function, module, "other"), "a function");
    check_lost(kiln_memory_trim(KILN_DEVICE_CUDA(0), 0), "trimming its memory");
}

static void free_all(void)
{
    kiln_graph_exec_free(exec);
    kiln_graph_free(graph);
    kiln_module_free(module);
    kiln_memory_free_pinned(pinned);
    kiln_array_free(x);
    kiln_array_free(y);
    kiln_event_free(event);
    kiln_stream_free(stream);
}

static void check_host(void)
{
    const int64_t shape[] = {COUNT};
    kiln_array *in = NULL, *out = NULL;
    kiln_device id = KILN_DEVICE_DEFAULT;
    int count = -1;
    KILN_IGNORE(kiln_device_current(&id));
    check(id == KILN_DEVICE_HOST, "the default device");
    check(kiln_device_count(&count) == KILN_OK && count == 0, "the devices");
    check(strstr(kiln_device_why_no_cuda(), "does not survive fork()") != NULL, "why there is no CUDA");
    check(kiln_array_ones(&in, KILN_FLOAT32, 1, shape, KILN_DEVICE_DEFAULT) == KILN_OK,
          "an array of the host");
    check(call(&out, in) == KILN_OK && ((float *)kiln_array_data(out))[COUNT - 1] == 2, "a call on the host");
    kiln_array_free(in);
    kiln_array_free(out);
}

/* Threads may be inside the fake driver, as in a real one: then a call of it would hang for its lock. */
static bool has_threads;

static int in_child(void)
{
    long calls = has_threads ? 0 : fake_calls();
    alarm(PATIENCE_S);
    check_refusals();
    check_host();
    free_all();
    check_host();
    check(has_threads || fake_calls() == calls, "the driver was called");
    return faults;
}

static void fork_once(void)
{
    int state = 0;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(in_child());
    assert_int_equal(waitpid(child, &state, 0), child);
    if (!WIFEXITED(state) || WEXITSTATUS(state) != 0)
        fail_msg("the child ended with %x", state);
}

/* Before CUDA is started here, a child may start it. */
static int start_in_child(void)
{
    const int64_t shape[] = {COUNT};
    kiln_array *a = NULL;
    if (kiln_array_ones(&a, KILN_FLOAT32, 1, shape, KILN_DEVICE_CUDA(0)) != KILN_OK)
        return 1;
    kiln_array_free(a);
    return 0;
}

static void a_child_may_start_cuda(void **state)
{
    int code = 0;
    (void)state;
    pid_t child = fork();
    if (child == 0)
        _exit(start_in_child());
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_int_equal(code, 0);
}

static void make_world(void)
{
    static const char text[] = "kernel other 8\n";
    const int64_t shape[] = {COUNT};
    kiln_module_options options = KILN_MODULE_OPTIONS_INIT;
    options.name = "raw";
    options.kind = KILN_CODE_PTX;
    OK(kiln_elementwise_create(&sum, "T x, T y", "T z", "z = x + y", "sum", NULL));
    OK(kiln_array_ones(&x, KILN_FLOAT32, 1, shape, KILN_DEVICE_CUDA(0)));
    OK(kiln_array_ones(&y, KILN_FLOAT32, 1, shape, KILN_DEVICE_CUDA(0)));
    OK(kiln_stream_create(&stream, KILN_DEVICE_CUDA(0), 0));
    OK(kiln_event_create(&event, KILN_DEVICE_CUDA(0), 0));
    OK(call(&y, x));
    OK(kiln_memory_alloc_pinned(&pinned, 100));
    OK(kiln_module_create(&module, text, 0, &options));
    kiln_stream *before = kiln_stream_set_current(stream);
    OK(kiln_capture_begin(stream));
    OK(call(&y, x));
    OK(kiln_capture_end(&graph, stream));
    kiln_stream_set_current(before);
    OK(kiln_graph_instantiate(&exec, graph));
    OK(kiln_graph_launch(exec, stream));
}

static void the_host_is_left(void **state)
{
    (void)state;
    make_world();
    fork_once();
    OK(call(&y, x)); /* the parent goes on */
    OK(kiln_graph_launch(exec, stream));
    OK(kiln_device_synchronize(KILN_DEVICE_CUDA(0)));
}

/* ---- with threads inside ---- */

static atomic_bool is_over;

static void *use_cuda(void *user)
{
    const int64_t shape[] = {COUNT};
    (void)user;
    while (!atomic_load(&is_over)) {
        kiln_array *a = NULL;
        kiln_stream *s = NULL;
        if (kiln_array_empty(&a, KILN_FLOAT32, 1, shape, KILN_DEVICE_CUDA(0)) == KILN_OK &&
            kiln_stream_create(&s, KILN_DEVICE_CUDA(1), 0) == KILN_OK)
            KILN_IGNORE(kiln_graph_launch(exec, stream));
        kiln_stream_free(s);
        kiln_array_free(a);
        usleep(20);
    }
    return NULL;
}

static void threads_inside(void **state)
{
    pthread_t threads[3];
    (void)state;
    has_threads = true;
    for (int t = 0; t < 3; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, use_cuda, NULL), 0);
    for (int n = 0; n < 25; n++)
        fork_once();
    atomic_store(&is_over, true);
    for (int t = 0; t < 3; t++)
        pthread_join(threads[t], NULL);
    OK(kiln_device_synchronize(KILN_DEVICE_CUDA(0)));
    free_all();
    kiln_kernel_free(sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_child_may_start_cuda),
                                       cmocka_unit_test(the_host_is_left), cmocka_unit_test(threads_inside)};
    setenv("KILN_LIBCUDA", FAKE_LIBCUDA, 1);
    setenv("KILN_NVRTC", FAKE_LIBNVRTC, 1);
    unsetenv("KILN_TARGET");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
