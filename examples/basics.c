/*
 * basics.c - arrays, devices, streams, transfers, pinned memory, files.
 *
 * Everything runs on the current device: cuda:0 where there is one, else the host. Each step checks what it
 * got.
 */
#include <kiln/kiln.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A program may end on the first error; the library leaves that to its caller. */
static void must(kiln_status status)
{
    if (status == KILN_OK)
        return;
    fprintf(stderr, "%s: %s\n", kiln_status_name(status), kiln_error_message());
    exit(1);
}

static void expect(bool holds, const char *what)
{
    printf("%s: %s\n", what, holds ? "yes" : "NO");
    if (!holds)
        exit(1);
}

static void show_devices(void)
{
    int count;
    char name[16];
    kiln_device current;
    kiln_device_properties properties = KILN_DEVICE_PROPERTIES_INIT;
    must(kiln_device_count(&count));
    must(kiln_device_current(&current));
    must(kiln_device_get_properties(current, &properties));
    printf("%d CUDA devices%s%s; using %s: %s, %s\n", count, count ? "" : ": ", kiln_device_why_no_cuda(),
           kiln_device_name(current, name, sizeof name), properties.name, properties.architecture);
}

static void show_arrays(void)
{
    const int64_t shape[2] = {2, 3};
    const float values[6] = {0, 1, 2, 3, 4, 5};
    float back[6];
    char *text = NULL;
    kiln_array *x = NULL;
    must(kiln_array_from_host(&x, values, KILN_FLOAT32, 2, shape, KILN_DEVICE_DEFAULT));
    must(kiln_array_to_host(x, back, sizeof back));
    expect(memcmp(values, back, sizeof back) == 0, "the elements come back as they went");
    expect(kiln_array_ndim(x) == 2 && kiln_array_shape(x)[1] == 3 && kiln_array_size(x) == 6,
           "two rows of three");
    expect(kiln_array_strides(x)[0] == 12 && kiln_array_strides(x)[1] == 4, "strides are bytes");
    must(kiln_array_to_string(&text, x, NULL));
    expect(strcmp(text, "[[0. 1. 2.]\n [3. 4. 5.]]") == 0, "printed as NumPy prints it");
    free(text);
    kiln_array_free(x);
}

/* Pinned memory lets a CUDA device copy while the host goes on; the stream says when the copy has been made.
 */
static void show_streams(void)
{
    const int64_t count = 100000;
    const size_t bytes = (size_t)count * sizeof(float);
    void *source = NULL, *target = NULL;
    kiln_stream *stream = NULL;
    kiln_array *x = NULL;
    must(kiln_memory_alloc_pinned(&source, bytes));
    must(kiln_memory_alloc_pinned(&target, bytes));
    for (int64_t k = 0; k < count; k++)
        ((float *)source)[k] = (float)k;
    must(kiln_stream_create(&stream, KILN_DEVICE_DEFAULT, KILN_STREAM_NON_BLOCKING));
    kiln_stream *before = kiln_stream_set_current(stream);
    must(kiln_array_empty(&x, KILN_FLOAT32, 1, &count, KILN_DEVICE_DEFAULT));
    must(kiln_array_set_from_host_async(x, source, bytes, stream));
    must(kiln_array_to_host_async(x, target, bytes, stream));
    must(kiln_stream_synchronize(stream));
    expect(memcmp(source, target, bytes) == 0, "there and back on a stream of our own");
    kiln_array_free(x);
    kiln_stream_set_current(before);
    kiln_stream_free(stream);
    kiln_memory_free_pinned(source);
    kiln_memory_free_pinned(target);
}

static void show_events(void)
{
    const int64_t shape[1] = {1 << 20};
    double ms = -1;
    kiln_event *start = NULL, *end = NULL;
    kiln_array *x = NULL;
    must(kiln_event_create(&start, KILN_DEVICE_DEFAULT, KILN_EVENT_TIMING));
    must(kiln_event_create(&end, KILN_DEVICE_DEFAULT, KILN_EVENT_TIMING));
    must(kiln_event_record(start, NULL));
    must(kiln_array_zeros(&x, KILN_FLOAT64, 1, shape, KILN_DEVICE_DEFAULT));
    must(kiln_event_record(end, NULL));
    must(kiln_event_synchronize(end));
    must(kiln_event_elapsed(&ms, start, end));
    expect(ms >= 0, "time between two events");
    kiln_array_free(x);
    kiln_event_free(end);
    kiln_event_free(start);
}

static void show_transfers(void)
{
    kiln_array *x = NULL, *on_host = NULL, *again = NULL;
    must(kiln_array_arange(&x, 0, 10, 0.5, KILN_FLOAT64, KILN_DEVICE_DEFAULT));
    must(kiln_array_to_device(&on_host, x, KILN_DEVICE_HOST));
    expect(((double *)kiln_array_data(on_host))[19] == 9.5, "the data of a host array can be read");
    must(kiln_array_to_device(&again, on_host, kiln_array_device(x)));
    expect(kiln_array_device(again) == kiln_array_device(x), "and sent back");
    kiln_array_free(again);
    kiln_array_free(on_host);
    kiln_array_free(x);
}

static void count_release(void *user)
{
    ++*(int *)user;
}

/* Memory of somebody else's, without a copy; the callback tells when nobody uses it any more. */
static void show_wrapping(void)
{
    float ours[4] = {1, 2, 3, 4};
    const int64_t shape[1] = {4};
    int releases = 0;
    kiln_array *x = NULL, *tail = NULL;
    kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
    spec.dtype = KILN_FLOAT32;
    spec.ndim = 1;
    spec.shape = shape;
    spec.device = KILN_DEVICE_HOST;
    must(kiln_array_wrap(&x, ours, &spec, count_release, &releases));
    must(kiln_array_index(&tail, x, "2:"));
    kiln_array_free(x);
    expect(releases == 0 && kiln_array_data(tail) == ours + 2, "a view keeps foreign memory in use");
    kiln_array_free(tail);
    expect(releases == 1, "then it is released, once");
}

static void show_files(void)
{
    kiln_array *x = NULL, *y = NULL;
    int64_t a[5], b[5];
    must(kiln_array_arange(&x, 0, 5, 1, KILN_INT64, KILN_DEVICE_DEFAULT));
    must(kiln_array_save_npy(x, "basics.npy"));
    must(kiln_array_load_npy(&y, "basics.npy", KILN_DEVICE_DEFAULT));
    must(kiln_array_to_host(x, a, sizeof a));
    must(kiln_array_to_host(y, b, sizeof b));
    expect(memcmp(a, b, sizeof a) == 0, "through a .npy file");
    remove("basics.npy");
    kiln_array_free(y);
    kiln_array_free(x);
}

static void show_memory(void)
{
    kiln_memory_stats stats = KILN_MEMORY_STATS_INIT;
    must(kiln_memory_trim(KILN_DEVICE_DEFAULT, 0));
    must(kiln_memory_get_stats(KILN_DEVICE_DEFAULT, &stats));
    printf("the pool: %zu bytes in use, %zu held, %zu at most\n", stats.used_bytes, stats.held_bytes,
           stats.peak_used_bytes);
    expect(stats.used_bytes == 0, "every array was freed");
}

int main(void)
{
    show_devices();
    show_arrays();
    show_streams();
    show_events();
    show_transfers();
    show_wrapping();
    show_files();
    must(kiln_device_synchronize(KILN_DEVICE_DEFAULT));
    show_memory();
    return 0;
}
