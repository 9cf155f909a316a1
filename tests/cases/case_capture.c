/* Every public function that takes a stream, an event, a graph, an array or code is called while a stream is
 * being captured: it does its work, or is refused in so many words, and either way the capture ends with a
 * graph. What others do behind kiln's back may spoil a capture: its end says so, and everything is usable
 * again. Nothing here looks at what kernels compute, so that the driver of tests/driver serves as well as a
 * GPU. */
#include "cases.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 8, COLUMNS = 16, SIZE = ROWS * COLUMNS };

static const int64_t shape[] = {ROWS, COLUMNS};

/* A module whose only function has one pointer. */
static const char module_text[] = "extern \"C\" __global__ void nothing(float *x)\n{\n    *x = 1;\n}\n"
                                  "__device__ float table[4];\n";

typedef struct world {
    unsigned stream_flags;
    kiln_stream *s, *other, *fork; /* s is captured, fork is made to join */
    kiln_array *x, *y, *across, *host;
    kiln_kernel *known, *fresh;
    kiln_module *module;
    kiln_function *function;
    kiln_event *before, *after, *captured, *unrecorded;
    kiln_graph *graph;
    kiln_graph_exec *exec;
    float data[SIZE];
} world;

static int n_fresh; /* of which each needs code of its own */

/* ---- the world ---- */

static void create_arrays(world *w)
{
    succeeded(kiln_array_from_host(&w->x, w->data, KILN_FLOAT32, 2, shape, stage_device), "x");
    succeeded(kiln_array_zeros(&w->y, KILN_FLOAT32, 2, shape, stage_device), "y");
    succeeded(kiln_array_transpose(&w->across, w->y, NULL), "across");
    succeeded(kiln_array_zeros(&w->host, KILN_FLOAT32, 2, shape, KILN_DEVICE_HOST), "host");
}

static void create_code(world *w)
{
    char body[64];
    kiln_module_options options = KILN_MODULE_OPTIONS_INIT;
    snprintf(body, sizeof body, "z = x + %d", ++n_fresh);
    succeeded(kiln_elementwise_create(&w->known, "T x", "T z", "z = x * 3", "known", NULL), "known");
    succeeded(kiln_elementwise_create(&w->fresh, "T x", "T z", body, "fresh", NULL), "fresh");
    options.name = "captured";
    succeeded(kiln_module_create(&w->module, module_text, 0, &options), "module");
    if (w->module)
        succeeded(kiln_module_function(&w->function, w->module, "nothing"), "function");
}

static void create_events(world *w)
{
    kiln_event **events[] = {&w->before, &w->after, &w->captured, &w->unrecorded};
    for (int k = 0; k < 4; ++k)
        succeeded(kiln_event_create(events[k], stage_device, KILN_EVENT_TIMING), "event");
    succeeded(kiln_event_record(w->before, w->other), "record");
    succeeded(kiln_event_record(w->after, w->other), "record");
}

static kiln_status call_known(world *w, kiln_array **out)
{
    kiln_arg in[] = {kiln_arg_array(w->x)};
    return kiln_kernel_call(w->known, out, 1, in, 1, NULL);
}

/* A graph whose last run was on the stream that is going to be captured. */
static void create_graph(world *w)
{
    succeeded(call_known(w, &w->y), "known call");
    succeeded(kiln_capture_begin(w->s), "first capture");
    succeeded(call_known(w, &w->y), "captured call");
    succeeded(kiln_capture_end(&w->graph, w->s), "first end");
    if (w->graph)
        succeeded(kiln_graph_instantiate(&w->exec, w->graph), "instance");
    if (w->exec)
        succeeded(kiln_graph_launch(w->exec, w->s), "launch");
}

static void world_begin(world *w, unsigned stream_flags)
{
    memset(w, 0, sizeof *w);
    w->stream_flags = stream_flags;
    succeeded(kiln_stream_create(&w->s, stage_device, stream_flags), "s");
    succeeded(kiln_stream_create(&w->other, stage_device, KILN_STREAM_NON_BLOCKING), "other");
    succeeded(kiln_stream_create(&w->fork, stage_device, KILN_STREAM_NON_BLOCKING), "fork");
    create_arrays(w);
    kiln_stream_set_current(w->s);
    create_code(w);
    create_events(w);
    create_graph(w);
    succeeded(kiln_stream_synchronize(w->s), "synchronize");
    if (in_trouble() || !succeeded(kiln_capture_begin(w->s), "begin"))
        return;
    succeeded(call_known(w, &w->y), "a captured call");
    succeeded(kiln_event_record(w->captured, w->s), "record in the capture");
    succeeded(kiln_stream_wait_event(w->fork, w->captured), "fork");
    succeeded(kiln_event_record(w->captured, w->fork), "record on the fork");
    succeeded(kiln_stream_wait_event(w->s, w->captured), "join");
}

static void world_end(world *w)
{
    kiln_array *arrays[] = {w->x, w->y, w->across, w->host};
    kiln_event *events[] = {w->before, w->after, w->captured, w->unrecorded};
    kiln_stream *streams[] = {w->s, w->other, w->fork};
    kiln_graph_free(w->graph);
    kiln_graph_exec_free(w->exec);
    for (int k = 0; k < 4; ++k)
        kiln_array_free(arrays[k]);
    for (int k = 0; k < 4; ++k)
        kiln_event_free(events[k]);
    kiln_kernel_free(w->known);
    kiln_kernel_free(w->fresh);
    kiln_module_free(w->module);
    kiln_stream_set_current(NULL);
    for (int k = 0; k < 3; ++k)
        kiln_stream_free(streams[k]);
}

/* ---- the calls ---- */

static kiln_status freed(kiln_status status, kiln_array *array)
{
    kiln_array_free(array);
    return status;
}

/* CALL(name, expression): a function of the table that gives the expression's status. */
#define CALL(name, expression)                                                                               \
    static kiln_status call_##name(world *w)                                                                 \
    {                                                                                                        \
        (void)w;                                                                                             \
        return expression;                                                                                   \
    }
#define CALL_ARRAY(name, expression)                                                                         \
    static kiln_status call_##name(world *w)                                                                 \
    {                                                                                                        \
        kiln_array *a = NULL;                                                                                \
        kiln_status status = expression;                                                                     \
        (void)w;                                                                                             \
        return freed(status, a);                                                                             \
    }

static bool flag;
static double number_out;
static kiln_device device_out;
static const float one = 1;

/* streams */
CALL(stream_query, kiln_stream_query(&flag, w->s))
CALL(stream_synchronize, kiln_stream_synchronize(w->s))
CALL(fork_query, kiln_stream_query(&flag, w->fork))
CALL(fork_synchronize, kiln_stream_synchronize(w->fork))
CALL(other_query, kiln_stream_query(&flag, w->other))
CALL(other_synchronize, kiln_stream_synchronize(w->other))
CALL(stream_device, kiln_stream_device(&device_out, w->s))
CALL(stream_handle, kiln_stream_cuda_handle(w->s) ? KILN_OK : KILN_ERROR_INTERNAL)

static kiln_status on_default(kiln_status (*call)(world *), world *w)
{
    kiln_stream_set_current(NULL);
    kiln_status status = call(w);
    kiln_stream_set_current(w->s);
    return status;
}

static kiln_status query_current(world *w)
{
    (void)w;
    return kiln_stream_query(&flag, NULL);
}

static kiln_status synchronize_current(world *w)
{
    (void)w;
    return kiln_stream_synchronize(NULL);
}

static kiln_status record_current(world *w)
{
    return kiln_event_record(w->before, NULL);
}

static kiln_status wait_current(world *w)
{
    return kiln_stream_wait_event(NULL, w->before);
}

static kiln_status fill_current(world *w)
{
    return kiln_array_fill(w->y, &one);
}

static kiln_status known_current(world *w)
{
    return call_known(w, &w->y);
}

static kiln_status copy_current(world *w)
{
    return kiln_array_to_host(w->x, w->data, sizeof w->data);
}

static kiln_status upload_current(world *w)
{
    return kiln_array_set_from_host(w->x, w->data, sizeof w->data);
}

static kiln_status graph_current(world *w)
{
    return kiln_graph_launch(w->exec, NULL);
}

CALL(default_query, on_default(query_current, w))
CALL(default_synchronize, on_default(synchronize_current, w))
CALL(default_record, on_default(record_current, w))
CALL(default_wait, on_default(wait_current, w))
CALL(default_fill, on_default(fill_current, w))
CALL(default_kernel, on_default(known_current, w))
CALL(default_to_host, on_default(copy_current, w))
CALL(default_from_host, on_default(upload_current, w))
CALL(default_graph, on_default(graph_current, w))

static kiln_status call_stream_create(world *w)
{
    kiln_stream *s = NULL;
    kiln_status status = kiln_stream_create(&s, stage_device, w->stream_flags);
    kiln_stream_free(s);
    return status;
}

static kiln_status call_stream_wrap(world *w)
{
    kiln_stream *s = NULL;
    kiln_status status = kiln_stream_wrap(&s, stage_device, kiln_stream_cuda_handle(w->s));
    if (status == KILN_OK)
        status = kiln_capture_is_active(&flag, s);
    kiln_stream_free(s); /* the native stream is somebody else's */
    return status;
}

/* It has worked for the capture, and been joined: it goes when the capture is over. */
static kiln_status call_fork_free(world *w)
{
    kiln_stream_free(w->fork);
    w->fork = NULL;
    return KILN_OK;
}

static kiln_status call_other_free(world *w)
{
    kiln_stream_free(w->other);
    w->other = NULL;
    return KILN_OK;
}

/* events */
CALL(wait_outside, kiln_stream_wait_event(w->s, w->before))
CALL(wait_inside, kiln_stream_wait_event(w->s, w->captured))
CALL(wait_unrecorded, kiln_stream_wait_event(w->other, w->unrecorded))
CALL(event_record, kiln_event_record(w->captured, w->s))
CALL(event_record_other, kiln_event_record(w->before, w->other))
CALL(event_query, kiln_event_query(&flag, w->before))
CALL(event_synchronize, kiln_event_synchronize(w->before))
CALL(event_elapsed, kiln_event_elapsed(&number_out, w->before, w->after))
CALL(captured_query, kiln_event_query(&flag, w->captured))
CALL(captured_synchronize, kiln_event_synchronize(w->captured))
CALL(captured_start, kiln_event_elapsed(&number_out, w->captured, w->after))
CALL(captured_end, kiln_event_elapsed(&number_out, w->before, w->captured))

static kiln_status call_host_waits(world *w)
{
    kiln_stream *host = NULL;
    kiln_status status = kiln_stream_create(&host, KILN_DEVICE_HOST, 0);
    if (status == KILN_OK)
        status = kiln_stream_wait_event(host, w->captured);
    kiln_stream_free(host);
    return status;
}

static kiln_status call_event_create(world *w)
{
    kiln_event *event = NULL;
    kiln_status status = kiln_event_create(&event, stage_device, 0);
    (void)w;
    kiln_event_free(event);
    return status;
}

static kiln_status call_event_free(world *w)
{
    kiln_event_free(w->captured);
    w->captured = NULL;
    return KILN_OK;
}

/* captures and graphs */
CALL(begin_twice, kiln_capture_begin(w->s))
CALL(begin_fork, kiln_capture_begin(w->fork))
CALL(end_fork, kiln_capture_end(NULL, w->fork))
CALL(end_other, kiln_capture_end(NULL, w->other))
CALL(is_active, kiln_capture_is_active(&flag, w->s))
CALL(graph_launch, kiln_graph_launch(w->exec, w->s))
CALL(graph_launch_other, kiln_graph_launch(w->exec, w->other))

static kiln_status call_second_capture(world *w)
{
    kiln_graph *graph = NULL;
    kiln_status status = kiln_capture_begin(w->other);
    if (status == KILN_OK)
        status = kiln_capture_end(&graph, w->other);
    kiln_graph_free(graph);
    return status;
}

static kiln_status call_instantiate(world *w)
{
    kiln_graph_exec *exec = NULL;
    kiln_status status = kiln_graph_instantiate(&exec, w->graph);
    kiln_graph_exec_free(exec);
    return status;
}

static kiln_status call_graph_free(world *w)
{
    kiln_graph_free(w->graph);
    kiln_graph_exec_free(w->exec);
    w->graph = NULL;
    w->exec = NULL;
    return KILN_OK;
}

static kiln_status call_node_count(world *w)
{
    size_t count;
    return kiln_graph_node_count(&count, w->graph);
}

static kiln_status nothing(void *user)
{
    (void)user;
    return KILN_OK;
}

static kiln_status call_capture_inside(world *w)
{
    kiln_graph_exec *exec = NULL;
    kiln_status status = kiln_capture(&exec, NULL, nothing, w);
    kiln_graph_exec_free(exec);
    return status;
}

static void *end_here(void *user)
{
    static kiln_status status;
    world *w = user;
    status = kiln_capture_end(NULL, w->s);
    if (status == KILN_ERROR_CAPTURE && !strstr(kiln_error_message(), "by the thread that began it"))
        status = KILN_ERROR_INTERNAL;
    return &status;
}

static kiln_status elsewhere(void *(*what)(void *), world *w)
{
    pthread_t thread;
    void *status = NULL;
    if (pthread_create(&thread, NULL, what, w) != 0)
        return KILN_ERROR_INTERNAL;
    pthread_join(thread, &status);
    return kiln_capture_is_active(&flag, w->s) == KILN_OK ? *(kiln_status *)status : KILN_ERROR_INTERNAL;
}

static void *synchronize_here(void *user)
{
    static kiln_status status;
    (void)user;
    status = kiln_device_synchronize(stage_device);
    return &status;
}

static void *work_here(void *user)
{
    static kiln_status status;
    kiln_array *a = NULL;
    kiln_stream *s = NULL;
    (void)user;
    KILN_IGNORE(kiln_device_set_current(stage_device));
    status = kiln_stream_create(&s, stage_device, KILN_STREAM_NON_BLOCKING);
    kiln_stream_set_current(s);
    if (status == KILN_OK)
        status = kiln_array_zeros(&a, KILN_FLOAT32, 2, shape, stage_device);
    if (status == KILN_OK)
        status = kiln_stream_synchronize(s);
    kiln_array_free(a);
    kiln_stream_set_current(NULL);
    kiln_stream_free(s);
    return &status;
}

CALL(end_elsewhere, elsewhere(end_here, w) == KILN_ERROR_CAPTURE ? KILN_ERROR_CAPTURE : KILN_ERROR_INTERNAL)
CALL(synchronize_elsewhere, elsewhere(synchronize_here, w))
CALL(work_elsewhere, elsewhere(work_here, w))

/* arrays */
CALL_ARRAY(empty, kiln_array_empty(&a, KILN_FLOAT32, 2, shape, stage_device))
CALL_ARRAY(zeros, kiln_array_zeros(&a, KILN_FLOAT32, 2, shape, stage_device))
CALL_ARRAY(ones, kiln_array_ones(&a, KILN_FLOAT32, 2, shape, stage_device))
CALL_ARRAY(full, kiln_array_full(&a, KILN_FLOAT32, 2, shape, &one, stage_device))
CALL(fill, kiln_array_fill(w->y, &one))
CALL(fill_strided, kiln_array_fill(w->across, &one))
CALL_ARRAY(arange, kiln_array_arange(&a, 0, SIZE, 1, KILN_FLOAT32, stage_device))
CALL_ARRAY(from_host, kiln_array_from_host(&a, w->data, KILN_FLOAT32, 2, shape, stage_device))
CALL(to_host, kiln_array_to_host(w->x, w->data, sizeof w->data))
CALL(to_host_strided, kiln_array_to_host(w->across, w->data, sizeof w->data))
CALL(set_from_host, kiln_array_set_from_host(w->x, w->data, sizeof w->data))
CALL(to_host_async, kiln_array_to_host_async(w->x, w->data, sizeof w->data, w->s))
CALL(set_from_host_async, kiln_array_set_from_host_async(w->x, w->data, sizeof w->data, w->s))
CALL_ARRAY(copy, kiln_array_copy(&a, w->x))
CALL_ARRAY(contiguous, kiln_array_contiguous(&a, w->across))
CALL_ARRAY(index, kiln_array_index(&a, w->x, "::-1"))
CALL_ARRAY(to_device, kiln_array_to_device(&a, w->host, stage_device))
CALL_ARRAY(from_device, kiln_array_to_device(&a, w->across, KILN_DEVICE_HOST))
CALL(save_npy, kiln_array_save_npy(w->x, "/tmp/kiln-no-such-folder/x.npy"))

static kiln_status call_to_string(world *w)
{
    char *text = NULL;
    kiln_status status = kiln_array_to_string(&text, w->x, NULL);
    free(text);
    return status;
}

static kiln_status call_array_free(world *w)
{
    kiln_array_free(w->y);
    w->y = NULL;
    return KILN_OK;
}

/* It was used eagerly on the stream that is being captured, and belongs to another. */
static kiln_status call_used_array_free(world *w)
{
    kiln_array_free(w->x);
    w->x = NULL;
    return kiln_memory_trim(stage_device, 0);
}

static kiln_status export_to(world *w, int64_t stream)
{
    void *managed = NULL;
    kiln_array *back = NULL;
    kiln_status status = kiln_array_to_dlpack(&managed, w->x, false, stream);
    if (status == KILN_OK)
        status = kiln_array_from_dlpack(&back, managed, false);
    kiln_array_free(back);
    return status;
}

CALL(dlpack, export_to(w, (int64_t)(intptr_t)kiln_stream_cuda_handle(w->s)))
CALL(dlpack_other, export_to(w, (int64_t)(intptr_t)kiln_stream_cuda_handle(w->other)))

/* memory and devices */
CALL(device_synchronize, kiln_device_synchronize(stage_device))
CALL(trim, kiln_memory_trim(stage_device, 0))

static kiln_status call_memory_info(world *w)
{
    size_t available, total;
    (void)w;
    return kiln_device_memory_info(stage_device, &available, &total);
}

static kiln_status call_pinned(world *w)
{
    void *p = NULL;
    kiln_status status = kiln_memory_alloc_pinned(&p, 100);
    (void)w;
    kiln_memory_free_pinned(p);
    return status;
}

/* code */
static kiln_status call_kernel(world *w)
{
    kiln_array *a = NULL;
    kiln_status status = call_known(w, &a);
    return freed(status, a);
}

/* Nobody has compiled it before. */
static kiln_status call_new_kernel(world *w)
{
    kiln_array *a = NULL;
    kiln_arg in[] = {kiln_arg_array(w->across)};
    kiln_status status = kiln_kernel_call(w->fresh, &a, 1, in, 1, NULL);
    return freed(status, a);
}

static kiln_status call_prepare(world *w)
{
    kiln_arg in[] = {kiln_arg_array(w->across)};
    return kiln_kernel_prepare(w->fresh, NULL, 1, in, 1, NULL, NULL);
}

static kiln_status call_new_module(world *w)
{
    char text[256];
    kiln_arg args[] = {kiln_arg_array(w->x)};
    kiln_module *module = NULL;
    kiln_function *function = NULL;
    kiln_array *global = NULL;
    snprintf(text, sizeof text, "// %d\n%s", n_fresh, module_text);
    kiln_status status = kiln_module_create(&module, text, 0, NULL);
    if (status == KILN_OK)
        status = kiln_module_function(&function, module, "nothing");
    if (status == KILN_OK)
        status = kiln_module_global(&global, module, "table", KILN_FLOAT32, 1, NULL);
    if (status == KILN_OK)
        status = kiln_function_launch(function, kiln_dims(1, 1, 1), kiln_dims(1, 1, 1), args, 1, NULL);
    kiln_array_free(global);
    kiln_module_free(module);
    return status;
}

static kiln_status launch(world *w)
{
    kiln_arg args[] = {kiln_arg_array(w->x)};
    return kiln_function_launch(w->function, kiln_dims(1, 1, 1), kiln_dims(1, 1, 1), args, 1, NULL);
}

static kiln_status call_module_free(world *w)
{
    kiln_module_free(w->module);
    w->module = NULL;
    return KILN_OK;
}

static kiln_status call_module_free_launched(world *w)
{
    kiln_status status = launch(w);
    kiln_module_free(w->module);
    w->module = NULL;
    return status;
}

CALL(function_launch, launch(w))
CALL(module_function, kiln_module_function(&w->function, w->module, "nothing"))
CALL_ARRAY(module_global, kiln_module_global(&a, w->module, "table", KILN_FLOAT32, 1, NULL))
CALL(allow_shared, kiln_function_set_max_dynamic_shared(w->function, 100 << 10))

static kiln_status call_attributes(world *w)
{
    kiln_function_attributes attributes = KILN_FUNCTION_ATTRIBUTES_INIT;
    return kiln_function_get_attributes(w->function, &attributes);
}

static kiln_status call_occupancy(world *w)
{
    int blocks;
    return kiln_function_occupancy(w->function, &blocks, 32, 0);
}

/* A shape that depends on elements, which have to be read. */
static kiln_status call_shape_of_value(world *w)
{
    kiln_kernel *kernel = NULL;
    kiln_array *out = NULL;
    const kiln_arg in[] = {kiln_arg_array(w->x)};
    kiln_status status = kiln_expression_create(&kernel, "x", "arange(int64(max(x)))", NULL);
    if (status == KILN_OK)
        status = kiln_kernel_call(kernel, &out, 1, in, 1, NULL);
    kiln_kernel_free(kernel);
    if (status == KILN_ERROR_CAPTURE && !strstr(kiln_error_message(), "shapes depend on values"))
        status = KILN_ERROR_INTERNAL; /* its first part has been captured */
    return freed(status, out);
}

/* ---- the table ---- */

typedef enum outcome {
    DONE,
    REFUSED,             /* KILN_ERROR_CAPTURE */
    REFUSED_IF_BLOCKING, /* where the captured stream and the default one wait for each other, else done */
    IO_OR_REFUSED        /* an error of some kind */
} outcome;

#define ROW(name, expected)                                                                                  \
    {                                                                                                        \
#name, call_##name, expected                                                                         \
    }
static const struct {
    const char *name;
    kiln_status (*call)(world *);
    outcome expected;
} calls[] = {
    ROW(stream_query, REFUSED),
    ROW(stream_synchronize, REFUSED),
    ROW(fork_query, REFUSED),
    ROW(fork_synchronize, REFUSED),
    ROW(other_query, DONE),
    ROW(other_synchronize, DONE),
    ROW(stream_device, DONE),
    ROW(stream_handle, DONE),
    ROW(default_query, REFUSED_IF_BLOCKING),
    ROW(default_synchronize, REFUSED_IF_BLOCKING),
    ROW(default_record, REFUSED_IF_BLOCKING),
    ROW(default_wait, REFUSED_IF_BLOCKING),
    ROW(default_fill, REFUSED_IF_BLOCKING),
    ROW(default_kernel, REFUSED_IF_BLOCKING),
    ROW(default_to_host, REFUSED_IF_BLOCKING),
    ROW(default_from_host, REFUSED_IF_BLOCKING),
    ROW(default_graph, REFUSED_IF_BLOCKING),
    ROW(stream_create, DONE),
    ROW(stream_wrap, DONE),
    ROW(fork_free, DONE),
    ROW(other_free, DONE),
    ROW(wait_outside, REFUSED),
    ROW(wait_inside, DONE),
    ROW(wait_unrecorded, DONE),
    ROW(event_record, DONE),
    ROW(event_record_other, DONE),
    ROW(event_query, DONE),
    ROW(event_synchronize, REFUSED),
    ROW(event_elapsed, DONE),
    ROW(captured_query, REFUSED),
    ROW(captured_synchronize, REFUSED),
    ROW(captured_start, REFUSED),
    ROW(captured_end, REFUSED),
    ROW(host_waits, REFUSED),
    ROW(event_create, DONE),
    ROW(event_free, DONE),
    ROW(begin_twice, REFUSED),
    ROW(begin_fork, REFUSED),
    ROW(end_fork, REFUSED),
    ROW(end_other, REFUSED),
    ROW(end_elsewhere, REFUSED),
    ROW(is_active, DONE),
    ROW(graph_launch, REFUSED),
    ROW(graph_launch_other, DONE),
    ROW(second_capture, DONE),
    ROW(shape_of_value, REFUSED),
    ROW(capture_inside, DONE),
    ROW(instantiate, DONE),
    ROW(graph_free, DONE),
    ROW(node_count, DONE),
    ROW(synchronize_elsewhere, REFUSED),
    ROW(work_elsewhere, DONE),
    ROW(empty, DONE),
    ROW(zeros, DONE),
    ROW(ones, DONE),
    ROW(full, DONE),
    ROW(fill, DONE),
    ROW(fill_strided, DONE),
    ROW(arange, DONE),
    ROW(from_host, REFUSED),
    ROW(to_host, REFUSED),
    ROW(to_host_strided, REFUSED),
    ROW(set_from_host, REFUSED),
    ROW(to_host_async, DONE),
    ROW(set_from_host_async, DONE),
    ROW(copy, DONE),
    ROW(contiguous, DONE),
    ROW(index, DONE),
    ROW(to_device, REFUSED),
    ROW(from_device, REFUSED),
    ROW(save_npy, IO_OR_REFUSED),
    ROW(to_string, REFUSED),
    ROW(array_free, DONE),
    ROW(used_array_free, DONE),
    ROW(dlpack, DONE),
    ROW(dlpack_other, REFUSED),
    ROW(device_synchronize, REFUSED),
    ROW(trim, DONE),
    ROW(memory_info, DONE),
    ROW(pinned, DONE),
    ROW(kernel, DONE),
    ROW(new_kernel, DONE),
    ROW(prepare, DONE),
    ROW(new_module, DONE),
    ROW(function_launch, DONE),
    ROW(module_function, DONE),
    ROW(module_global, DONE),
    ROW(module_free, DONE),
    ROW(module_free_launched, DONE),
    ROW(allow_shared, DONE),
    ROW(attributes, DONE),
    ROW(occupancy, DONE),
};

/* ---- what is to be seen ---- */

/* Whatever happened to the capture, device and stream do their work. */
static void check_usable(world *w, const char *name)
{
    kiln_graph *graph = NULL;
    flag = true;
    succeeded(kiln_capture_is_active(&flag, w->s), name);
    trouble_unless(!flag, "%s: the stream is in capture after the end", name);
    succeeded(kiln_array_fill(w->x ? w->x : w->across, &one), name);
    succeeded(kiln_stream_synchronize(w->s), name);
    succeeded(kiln_device_synchronize(stage_device), name);
    succeeded(kiln_capture_begin(w->s), name);
    succeeded(kiln_array_fill(w->across, &one), name);
    succeeded(kiln_capture_end(&graph, w->s), name);
    kiln_graph_free(graph);
}

static void check_outcome(kiln_status status, outcome expected, const world *w, const char *name)
{
    bool is_blocking = !(w->stream_flags & KILN_STREAM_NON_BLOCKING);
    if (expected == REFUSED_IF_BLOCKING)
        expected = is_blocking ? REFUSED : DONE;
    if (expected == IO_OR_REFUSED)
        trouble_unless(status != KILN_OK, "%s succeeded", name);
    else
        trouble_unless(status == (expected == REFUSED ? KILN_ERROR_CAPTURE : KILN_OK),
                       "%s (%s stream): %s was expected, %s came: %s", name,
                       is_blocking ? "a blocking" : "a non-blocking",
                       expected == REFUSED ? "a refusal" : "success", kiln_status_name(status),
                       kiln_error_message());
}

/* The capture holds what was captured, and the graph runs. */
static void check_end(world *w, const char *name)
{
    kiln_graph *graph = NULL;
    kiln_graph_exec *exec = NULL;
    size_t nodes = 0;
    if (!succeeded(kiln_capture_end(&graph, w->s), name))
        return;
    succeeded(kiln_graph_node_count(&nodes, graph), name);
    trouble_unless(nodes > 0, "%s: the graph is empty", name);
    if (succeeded(kiln_graph_instantiate(&exec, graph), name))
        succeeded(kiln_graph_launch(exec, w->s), name);
    succeeded(kiln_stream_synchronize(w->s), name);
    kiln_graph_exec_free(exec);
    kiln_graph_free(graph);
}

static void during_a_capture(void)
{
    for (int round = 0; round < 2; ++round)
        for (size_t k = 0; k < sizeof calls / sizeof *calls && !in_trouble(); ++k) {
            world w;
            world_begin(&w, round ? KILN_STREAM_NON_BLOCKING : 0);
            if (in_trouble()) {
                world_end(&w);
                return;
            }
            check_outcome(calls[k].call(&w), calls[k].expected, &w, calls[k].name);
            check_end(&w, calls[k].name);
            check_usable(&w, calls[k].name);
            world_end(&w);
        }
}

/* ---- captures that are spoilt ---- */

static void *driver(const char *name)
{
    const char *path = getenv("KILN_LIBCUDA");
    void *library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW);
    void *symbol = library ? dlsym(library, name) : NULL;
    trouble_unless(symbol != NULL, "the driver has no %s", name);
    return symbol;
}

/* Somebody else's code calls the driver with a native handle (and a place for what it gives). */
static void call_driver(const char *name, void *handle)
{
    int (*push)(void *), (*pop)(void **), (*call)(void *, void **);
    void *context = NULL, *given = NULL;
    *(void **)&push = driver("cuCtxPushCurrent_v2");
    *(void **)&pop = driver("cuCtxPopCurrent_v2");
    *(void **)&call = driver(name);
    if (in_trouble() || !succeeded(kiln_device_cuda_context(&context, stage_device), "context"))
        return;
    push(context);
    trouble_unless(call(handle, &given) != 0, "%s succeeded in a capture", name);
    pop(&context);
}

static void spoil_by_query(world *w)
{
    call_driver("cuStreamQuery", kiln_stream_cuda_handle(w->s));
}

static void spoil_by_end_of_fork(world *w)
{
    call_driver("cuStreamEndCapture", kiln_stream_cuda_handle(w->fork));
}

static void spoil_by_captured_event(world *w)
{
    call_driver("cuEventQuery", kiln_event_cuda_handle(w->captured));
}

/* Work on a fork for which nobody waits. */
static void leave_a_fork(world *w)
{
    kiln_stream_set_current(w->fork);
    succeeded(call_known(w, &w->y), "work on the fork");
    kiln_stream_set_current(w->s);
}

static const struct {
    const char *name;
    void (*spoil)(world *);
    bool is_sure; /* that the driver takes the capture for spoilt */
} spoilers[] = {{"a query", spoil_by_query, true},
                {"the end of a fork", spoil_by_end_of_fork, false},
                {"a captured event", spoil_by_captured_event, false},
                {"an unjoined fork", leave_a_fork, true}};

/* The end says that it is spoilt, gives no graph, and lets go of everything. */
static void spoilt(void)
{
    for (size_t k = 0; k < sizeof spoilers / sizeof *spoilers && !in_trouble(); ++k) {
        world w;
        kiln_graph *graph = NULL;
        kiln_array *inside = NULL;
        world_begin(&w, KILN_STREAM_NON_BLOCKING);
        succeeded(kiln_array_empty(&inside, KILN_FLOAT32, 2, shape, stage_device), spoilers[k].name);
        spoilers[k].spoil(&w);
        kiln_status status = kiln_capture_end(&graph, w.s);
        trouble_unless(status == KILN_ERROR_CAPTURE || (!spoilers[k].is_sure && status == KILN_OK),
                       "%s: the end gives %s: %s", spoilers[k].name, kiln_status_name(status),
                       status == KILN_OK ? "" : kiln_error_message());
        trouble_unless(!graph == (status != KILN_OK), "%s: a graph came with the error", spoilers[k].name);
        trouble_unless(status == KILN_OK || strstr(kiln_error_message(), "spoilt"),
                       "%s: the message does not say it: %s", spoilers[k].name, kiln_error_message());
        kiln_array_free(inside);
        kiln_graph_free(graph);
        check_usable(&w, spoilers[k].name);
        world_end(&w);
    }
}

/* Calls in a spoilt capture fail, and its end is as before. */
static void calls_in_a_spoilt_capture(void)
{
    for (size_t k = 0; k < sizeof calls / sizeof *calls && !in_trouble(); ++k) {
        world w;
        world_begin(&w, KILN_STREAM_NON_BLOCKING);
        if (!in_trouble()) {
            spoil_by_query(&w);
            calls[k].call(&w);
            trouble_unless(kiln_capture_end(NULL, w.s) == KILN_ERROR_CAPTURE, "%s: the end", calls[k].name);
            check_usable(&w, calls[k].name);
        }
        world_end(&w);
    }
}

/* ---- captures that nobody ends ---- */

static void stream_goes(void)
{
    world w;
    world_begin(&w, KILN_STREAM_NON_BLOCKING);
    kiln_stream_set_current(NULL);
    kiln_stream_free(w.s);
    w.s = NULL;
    succeeded(kiln_device_synchronize(stage_device), "the device after the stream is gone");
    succeeded(kiln_stream_create(&w.s, stage_device, 0), "a stream");
    kiln_stream_set_current(w.s);
    check_usable(&w, "a stream that goes");
    world_end(&w);
}

static void *begin_and_leave(void *user)
{
    static kiln_status status;
    KILN_IGNORE(kiln_device_set_current(stage_device));
    status = kiln_capture_begin(user);
    return &status;
}

static void thread_goes(void)
{
    world w;
    pthread_t thread;
    void *status = NULL;
    world_begin(&w, KILN_STREAM_NON_BLOCKING);
    pthread_create(&thread, NULL, begin_and_leave, w.other);
    pthread_join(thread, &status);
    succeeded(*(kiln_status *)status, "begin in a thread");
    refused(kiln_capture_end(NULL, w.other), KILN_ERROR_CAPTURE, "not being captured");
    succeeded(kiln_stream_synchronize(w.other), "the stream of a thread that has ended");
    check_end(&w, "the capture of this thread");
    check_usable(&w, "a thread that goes");
    world_end(&w);
}

const test_case capture_cases[] = {
    {"during_a_capture", during_a_capture, CASE_CUDA},
    {"spoilt", spoilt, CASE_CUDA},
    {"calls_in_a_spoilt_capture", calls_in_a_spoilt_capture, CASE_CUDA},
    {"stream_goes", stream_goes, CASE_CUDA},
    {"thread_goes", thread_goes, CASE_CUDA},
    {NULL, NULL, 0},
};
