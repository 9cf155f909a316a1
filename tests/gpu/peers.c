/* peers.c - two GPUs: arrays of different devices in one call, copies between devices, streams and events of
 * both.
 *
 * Exit code 77 where there are not two CUDA devices that see each other. */
#include <kiln/kiln.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 1000, COLUMNS = 1003, SIZE = ROWS * COLUMNS };
static int failures;

static void must(kiln_status status, const char *what)
{
    if (status == KILN_OK)
        return;
    fprintf(stderr, "%s: %s: %s\n%s\n", what, kiln_status_name(status), kiln_error_message(),
            kiln_error_log());
    exit(1);
}

static void expect(bool holds, const char *what)
{
    printf("%s: %s\n", what, holds ? "yes" : "NO");
    failures += !holds;
}

static kiln_array *counted(kiln_device device)
{
    const int64_t flat_shape[] = {-1, COLUMNS};
    kiln_array *flat = NULL, *a = NULL;
    must(kiln_array_arange(&flat, 0, SIZE, 1, KILN_INT32, device), "range");
    must(kiln_array_reshape(&a, flat, 2, flat_shape), "reshape");
    kiln_array_free(flat);
    return a;
}

/* Each element is what expected(row, column) says. */
static bool holds(kiln_array *a, int32_t (*expected)(int32_t row, int32_t column))
{
    static int32_t back[SIZE];
    must(kiln_array_to_host(a, back, sizeof back), "to host");
    for (int32_t k = 0; k < SIZE; k++)
        if (back[k] != expected(k / COLUMNS, k % COLUMNS)) {
            printf("element (%d, %d) is %d\n", k / COLUMNS, k % COLUMNS, back[k]);
            return false;
        }
    return true;
}

static int32_t as_counted(int32_t row, int32_t column)
{
    return row * COLUMNS + column;
}

static int32_t thrice(int32_t row, int32_t column)
{
    return 3 * as_counted(row, column);
}

static int32_t both_ways(int32_t row, int32_t column)
{
    return as_counted(row, column) + 2 * as_counted(ROWS - 1 - row, COLUMNS - 1 - column);
}

static kiln_device device_of(kiln_array *a)
{
    return kiln_array_device(a);
}

static void copies(void)
{
    for (int from = 0; from < 2; from++) {
        kiln_array *a = counted(KILN_DEVICE_CUDA(from)), *b = NULL, *back = NULL, *transposed = NULL,
                   *moved = NULL;
        must(kiln_array_to_device(&b, a, KILN_DEVICE_CUDA(1 - from)), "copy to the other device");
        must(kiln_array_index(&transposed, b, "::-1, ::-1"), "view");
        must(kiln_array_to_device(&moved, transposed, KILN_DEVICE_CUDA(from)), "copy of a view");
        must(kiln_array_index(&back, moved, "::-1, ::-1"), "view");
        kiln_array_free(a); /* the queued copy still reads it */
        expect(device_of(b) == KILN_DEVICE_CUDA(1 - from) && holds(b, as_counted),
               "a copy to the other device");
        expect(device_of(moved) == KILN_DEVICE_CUDA(from) && holds(back, as_counted), "a copy of a view");
        kiln_array_free(b);
        kiln_array_free(transposed);
        kiln_array_free(moved);
        kiln_array_free(back);
    }
}

static void one_call(int here)
{
    kiln_kernel *kernel = NULL;
    kiln_array *x = counted(KILN_DEVICE_CUDA(here)), *y = counted(KILN_DEVICE_CUDA(1 - here)), *z = NULL,
               *transposed = NULL;
    must(kiln_elementwise_create(&kernel, "T x, T y", "T z", "z = x + 2 * y", "peers", NULL), "kernel");
    must(kiln_array_index(&transposed, y, "::-1, ::-1"), "view");
    must(kiln_device_synchronize(KILN_DEVICE_CUDA(1 - here)), "synchronize");
    kiln_arg in[] = {kiln_arg_array(x), kiln_arg_array(y)};
    must(kiln_kernel_call(kernel, &z, 1, in, 2, NULL), "call");
    expect(device_of(z) == KILN_DEVICE_CUDA(here), "it runs where the first array is");
    expect(holds(z, thrice), "arrays of two devices in one call");
    in[1] = kiln_arg_array(transposed);
    must(kiln_kernel_call(kernel, &z, 1, in, 2, NULL), "call");
    expect(holds(z, both_ways), "a view of the other device's memory");
    in[1] = kiln_arg_array(y);
    must(kiln_kernel_call(kernel, &y, 1, in, 2, NULL), "call");
    must(kiln_device_synchronize(KILN_DEVICE_CUDA(here)), "synchronize");
    must(kiln_device_synchronize(KILN_DEVICE_CUDA(1 - here)), "synchronize");
    expect(holds(y, thrice), "a result in the other device's memory");
    kiln_array_free(x);
    kiln_array_free(y);
    kiln_array_free(z);
    kiln_array_free(transposed);
    kiln_kernel_free(kernel);
}

/* Work on one device's stream, an event, and work of the other's that waits for it. */
static void ordered_by_events(void)
{
    kiln_stream *first = NULL, *second = NULL;
    kiln_event *event = NULL;
    kiln_kernel *slow = NULL, *sum = NULL;
    kiln_array *x = counted(KILN_DEVICE_CUDA(0)), *y = counted(KILN_DEVICE_CUDA(1)), *z = NULL;
    must(kiln_elementwise_create(&slow, "T x", "T z",
                                 "long long end = clock64() + 100000; while (clock64() < end) {} z = x * 2",
                                 "slow", NULL),
         "kernel");
    must(kiln_elementwise_create(&sum, "T x, T y", "T z", "z = x + y", "sum", NULL), "kernel");
    must(kiln_stream_create(&first, KILN_DEVICE_CUDA(0), KILN_STREAM_NON_BLOCKING), "stream");
    must(kiln_stream_create(&second, KILN_DEVICE_CUDA(1), KILN_STREAM_NON_BLOCKING), "stream");
    must(kiln_event_create(&event, KILN_DEVICE_CUDA(0), KILN_EVENT_DEFAULT_FLAGS), "event");
    must(kiln_device_synchronize(KILN_DEVICE_CUDA(0)), "synchronize");
    must(kiln_device_synchronize(KILN_DEVICE_CUDA(1)), "synchronize");
    kiln_call_options on_first = KILN_CALL_OPTIONS_INIT, on_second = KILN_CALL_OPTIONS_INIT;
    on_first.stream = first;
    on_second.stream = second;
    kiln_arg in[] = {kiln_arg_array(x)}, both[] = {kiln_arg_array(y), kiln_arg_array(x)};
    must(kiln_kernel_call(slow, &x, 1, in, 1, &on_first), "slow");
    must(kiln_event_record(event, first), "record");
    must(kiln_stream_wait_event(second, event), "wait");
    must(kiln_kernel_call(sum, &z, 1, both, 2, &on_second), "sum");
    must(kiln_stream_synchronize(second), "synchronize");
    expect(device_of(z) == KILN_DEVICE_CUDA(1) && holds(z, thrice),
           "an event of one device orders the other's work");
    kiln_array_free(x);
    kiln_array_free(y);
    kiln_array_free(z);
    kiln_event_free(event);
    kiln_stream_free(first);
    kiln_stream_free(second);
    kiln_kernel_free(slow);
    kiln_kernel_free(sum);
}

static void mixed_with_the_host(void)
{
    kiln_kernel *kernel = NULL;
    kiln_array *x = counted(KILN_DEVICE_CUDA(0)), *y = counted(KILN_DEVICE_HOST), *z = NULL;
    kiln_arg in[] = {kiln_arg_array(x), kiln_arg_array(y)};
    must(kiln_elementwise_create(&kernel, "T x, T y", "T z", "z = x + y", "peers", NULL), "kernel");
    expect(kiln_kernel_call(kernel, &z, 1, in, 2, NULL) == KILN_ERROR_INVALID && !z,
           "host and CUDA arrays in one call are refused");
    kiln_array_free(x);
    kiln_array_free(y);
    kiln_kernel_free(kernel);
}

int main(void)
{
    int devices = 0;
    bool there = false, back = false;
    must(kiln_device_count(&devices), "devices");
    if (devices < 2) {
        printf("two CUDA devices are needed, there are %d\n", devices);
        return 77;
    }
    must(kiln_device_can_access_peer(&there, KILN_DEVICE_CUDA(0), KILN_DEVICE_CUDA(1)), "peers");
    must(kiln_device_can_access_peer(&back, KILN_DEVICE_CUDA(1), KILN_DEVICE_CUDA(0)), "peers");
    copies();
    if (!there || !back) {
        printf("the two devices do not see each other's memory\n");
        return failures ? 1 : 77;
    }
    one_call(0);
    one_call(1);
    ordered_by_events();
    mixed_with_the_host();
    printf("%s\n", failures ? "FAILED" : "all right");
    return failures != 0;
}
