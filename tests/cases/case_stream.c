/* Streams and events: order among them, memory that crosses them, transfers that do not wait, many threads
 * with streams of their own. */
#include "cases.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1 << 20 };

static kiln_kernel *affine_kernel(void)
{
    kiln_kernel *kernel = NULL;
    succeeded(kiln_elementwise_create(&kernel, "T x, T factor, T more", "T z", "z = factor * x + more",
                                      "affine", NULL),
              "create");
    return kernel;
}

static kiln_status affine_on(kiln_kernel *kernel, kiln_array **z, kiln_array *x, int factor, int more,
                             kiln_stream *stream)
{
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_int(factor), kiln_arg_int(more)};
    options.stream = stream;
    return kiln_kernel_call(kernel, z, 1, in, 3, &options);
}

static void check_all(kiln_array *array, int32_t factor, int32_t more)
{
    int32_t *got = malloc(COUNT * sizeof *got);
    if (trouble_unless(got != NULL, "no memory") && !in_trouble() &&
        succeeded(kiln_array_to_host(array, got, COUNT * sizeof *got), "kiln_array_to_host"))
        for (int k = 0; k < COUNT; ++k)
            if (!trouble_unless(got[k] == (int32_t)((uint32_t)k * (uint32_t)factor + (uint32_t)more),
                                "element %d is %d", k, got[k]))
                break;
    free(got);
}

/* Two streams pass an array back and forth, each waiting for the other's event. */
static void events_order_streams(void)
{
    kiln_stream *streams[2] = {NULL, NULL};
    kiln_event *events[2] = {NULL, NULL};
    kiln_kernel *kernel = affine_kernel();
    kiln_array *x = NULL;
    succeeded(kiln_array_arange(&x, 0, COUNT, 1, KILN_INT32, stage_device), "kiln_array_arange");
    succeeded(kiln_device_synchronize(stage_device), "kiln_device_synchronize");
    for (int k = 0; k < 2; ++k) {
        succeeded(kiln_stream_create(&streams[k], stage_device, KILN_STREAM_NON_BLOCKING),
                  "kiln_stream_create");
        succeeded(kiln_event_create(&events[k], stage_device, KILN_EVENT_DEFAULT_FLAGS), "kiln_event_create");
    }
    for (int turn = 0; turn < 40 && !in_trouble(); ++turn) {
        kiln_stream *stream = streams[turn % 2];
        if (turn > 0)
            succeeded(kiln_stream_wait_event(stream, events[1 - turn % 2]), "kiln_stream_wait_event");
        succeeded(affine_on(kernel, &x, x, 1, 3, stream), "kiln_kernel_call");
        succeeded(kiln_event_record(events[turn % 2], stream), "kiln_event_record");
    }
    succeeded(kiln_event_synchronize(events[1]), "kiln_event_synchronize");
    check_all(x, 1, 120);
    for (int k = 0; k < 2; ++k) {
        kiln_event_free(events[k]);
        kiln_stream_free(streams[k]);
    }
    kiln_array_free(x);
    kiln_kernel_free(kernel);
}

/* Arrays that are freed while a stream still works on them: what takes their memory next must not disturb
 * it. */
static void memory_is_not_reused_early(void)
{
    kiln_stream *stream = NULL;
    kiln_kernel *kernel = affine_kernel();
    kiln_array *x = NULL, *last = NULL;
    succeeded(kiln_stream_create(&stream, stage_device, KILN_STREAM_NON_BLOCKING), "kiln_stream_create");
    succeeded(kiln_array_arange(&x, 0, COUNT, 1, KILN_INT32, stage_device), "kiln_array_arange");
    succeeded(kiln_device_synchronize(stage_device), "kiln_device_synchronize");
    for (int turn = 0; turn < 30 && !in_trouble(); ++turn) {
        kiln_array *t = NULL, *noise = NULL;
        succeeded(affine_on(kernel, &t, last ? last : x, 1, 1, stream), "on the stream");
        kiln_array_free(last);
        last = t;
        /* On the default stream, in memory that may have been last's. */
        succeeded(affine_on(kernel, &noise, x, 0, -1, NULL), "on the default stream");
        kiln_array_free(noise);
    }
    succeeded(kiln_stream_synchronize(stream), "kiln_stream_synchronize");
    if (last)
        check_all(last, 1, 30);
    kiln_array_free(last);
    kiln_array_free(x);
    kiln_stream_free(stream);
    kiln_kernel_free(kernel);
}

/* Pinned memory up, a kernel, and down again, waited for once. */
static void transfers_without_waiting(void)
{
    const int64_t shape[1] = {COUNT};
    const size_t bytes = COUNT * sizeof(int32_t);
    kiln_stream *stream = NULL;
    kiln_kernel *kernel = affine_kernel();
    kiln_array *x = NULL;
    void *up = NULL, *down = NULL;
    succeeded(kiln_stream_create(&stream, stage_device, KILN_STREAM_NON_BLOCKING), "kiln_stream_create");
    succeeded(kiln_memory_alloc_pinned(&up, bytes), "kiln_memory_alloc_pinned");
    succeeded(kiln_memory_alloc_pinned(&down, bytes), "kiln_memory_alloc_pinned");
    succeeded(kiln_array_empty(&x, KILN_INT32, 1, shape, stage_device), "kiln_array_empty");
    for (int turn = 0; turn < 5 && !in_trouble(); ++turn) {
        for (int k = 0; k < COUNT; ++k)
            ((int32_t *)up)[k] = k + turn;
        succeeded(kiln_array_set_from_host_async(x, up, bytes, stream), "kiln_array_set_from_host_async");
        succeeded(affine_on(kernel, &x, x, 2, 1, stream), "kiln_kernel_call");
        succeeded(kiln_array_to_host_async(x, down, bytes, stream), "kiln_array_to_host_async");
        succeeded(kiln_stream_synchronize(stream), "kiln_stream_synchronize");
        for (int k = 0; k < COUNT && !in_trouble(); ++k)
            trouble_unless(((int32_t *)down)[k] == 2 * (k + turn) + 1, "turn %d: element %d is %d", turn, k,
                           ((int32_t *)down)[k]);
    }
    kiln_memory_free_pinned(up);
    kiln_memory_free_pinned(down);
    kiln_array_free(x);
    kiln_stream_free(stream);
    kiln_kernel_free(kernel);
}

static void times(void)
{
    kiln_event *start = NULL, *end = NULL;
    kiln_kernel *kernel = affine_kernel();
    kiln_array *x = NULL;
    double ms = -1;
    bool done = false;
    succeeded(kiln_event_create(&start, stage_device, KILN_EVENT_TIMING), "kiln_event_create");
    succeeded(kiln_event_create(&end, stage_device, KILN_EVENT_TIMING), "kiln_event_create");
    succeeded(kiln_array_arange(&x, 0, COUNT, 1, KILN_INT32, stage_device), "kiln_array_arange");
    succeeded(kiln_event_record(start, NULL), "kiln_event_record");
    for (int turn = 0; turn < 5 && !in_trouble(); ++turn)
        succeeded(affine_on(kernel, &x, x, 1, 1, NULL), "kiln_kernel_call");
    succeeded(kiln_event_record(end, NULL), "kiln_event_record");
    succeeded(kiln_event_synchronize(end), "kiln_event_synchronize");
    succeeded(kiln_event_query(&done, end), "kiln_event_query");
    succeeded(kiln_event_elapsed(&ms, start, end), "kiln_event_elapsed");
    trouble_unless(done && ms > 0 && ms < 60000, "five calls took %g ms", ms);
    kiln_event_free(start);
    kiln_event_free(end);
    kiln_array_free(x);
    kiln_kernel_free(kernel);
}

/* ---- threads, each with its own current stream ---- */

enum { THREADS = 4 };
typedef struct worker {
    kiln_kernel *kernel;
    int number;
    kiln_status status;
    int32_t first, last;
    char message[200];
} worker;

static kiln_status work_on(worker *w, kiln_stream *stream)
{
    kiln_array *x = NULL;
    int32_t *got = malloc(COUNT * sizeof *got);
    kiln_stream *before = kiln_stream_set_current(stream);
    kiln_status status =
        got ? kiln_array_arange(&x, 0, COUNT, 1, KILN_INT32, KILN_DEVICE_DEFAULT) : KILN_ERROR_MEMORY;
    for (int turn = 0; turn < 20 && status == KILN_OK; ++turn) {
        kiln_array *t = NULL;
        status = affine_on(w->kernel, &t, x, 1, w->number, NULL);
        if (status == KILN_OK) {
            kiln_array_free(x);
            x = t;
        }
    }
    if (status == KILN_OK)
        status = kiln_array_to_host(x, got, COUNT * sizeof *got);
    if (status == KILN_OK) {
        w->first = got[0];
        w->last = got[COUNT - 1];
    }
    kiln_stream_set_current(before);
    kiln_array_free(x);
    free(got);
    return status;
}

static void *work(void *user)
{
    worker *w = user;
    kiln_stream *stream = NULL;
    w->status = kiln_device_set_current(stage_device);
    if (w->status == KILN_OK)
        w->status = kiln_stream_create(&stream, stage_device, KILN_STREAM_NON_BLOCKING);
    if (w->status == KILN_OK)
        w->status = work_on(w, stream);
    if (w->status != KILN_OK)
        snprintf(w->message, sizeof w->message, "%.190s", kiln_error_message());
    kiln_stream_free(stream);
    return NULL;
}

static void a_stream_for_each_thread(void)
{
    pthread_t threads[THREADS];
    worker workers[THREADS];
    kiln_kernel *kernel = affine_kernel();
    memset(workers, 0, sizeof workers);
    for (int t = 0; t < THREADS; ++t) {
        workers[t].kernel = kernel;
        workers[t].number = t + 1;
        pthread_create(&threads[t], NULL, work, &workers[t]);
    }
    for (int t = 0; t < THREADS; ++t) {
        pthread_join(threads[t], NULL);
        trouble_unless(workers[t].status == KILN_OK, "thread %d: %s", t, workers[t].message);
        trouble_unless(workers[t].first == 20 * (t + 1) && workers[t].last == COUNT - 1 + 20 * (t + 1),
                       "thread %d: %d and %d", t, workers[t].first, workers[t].last);
    }
    kiln_kernel_free(kernel);
}

const test_case stream_cases[] = {
    {"events_order_streams", events_order_streams, 0},
    {"memory_is_not_reused_early", memory_is_not_reused_early, 0},
    {"transfers_without_waiting", transfers_without_waiting, 0},
    {"times", times, 0},
    {"a_stream_for_each_thread", a_stream_for_each_thread, 0},
    {NULL, NULL, 0},
};
