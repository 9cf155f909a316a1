/* Arrays on CUDA devices of the fake driver: which way their bytes go, what waits for what, and what a
 * failing call leaves behind. */
#include <kiln/dlpack.h>
#include "array/array.h"
#include "driver_common.h"

#define S(...) ((const int64_t[]){__VA_ARGS__})

int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuGraphDestroy(void *graph);

/* In place of the kernel layer's; the fake device's memory is ordinary memory. */
static int strided_copies;

static kiln_status copy_strided(kiln_array *to, const kiln_array *from, kiln_stream *stream)
{
    (void)stream;
    strided_copies++;
    kn_array_copy_elements(to->ndim, to->shape, to->data, to->strides, from->data, from->strides,
                           to->item_size);
    return KILN_OK;
}

static kiln_array *counted(kiln_device device, int rows, int columns)
{
    kiln_array *flat = NULL, *a = NULL;
    OK(kiln_array_arange(&flat, 0, rows * columns, 1, KILN_INT32, device));
    OK(kiln_array_reshape(&a, flat, 2, S(rows, columns)));
    kiln_array_free(flat);
    return a;
}

static void values_arrive(void **state)
{
    double back[7];
    kiln_array *a = NULL;
    (void)state;
    OK(kiln_array_ones(&a, KILN_FLOAT64, 1, S(7), KILN_DEVICE_CUDA(1)));
    assert_int_equal(kiln_array_device(a), KILN_DEVICE_CUDA(1));
    OK(kiln_array_to_host(a, back, sizeof back));
    assert_true(back[0] == 1 && back[6] == 1);
    kiln_array_free(a);
}

static void narrow_elements_are_filled_on_the_device(void **state)
{
    float back[5];
    kiln_array *a = NULL;
    long before = fake_calls_of("cuMemcpyHtoDAsync_v2");
    (void)state;
    OK(kiln_array_ones(&a, KILN_FLOAT32, 1, S(5), KILN_DEVICE_CUDA(0)));
    assert_int_equal(fake_calls_of("cuMemcpyHtoDAsync_v2"), before);
    OK(kiln_array_to_host(a, back, sizeof back));
    assert_true(back[0] == 1 && back[4] == 1);
    kiln_array_free(a);
}

/* Two stages and a bit: the head goes over once, the rest is copied on the device. */
static void wide_elements_by_way_of_a_stage(void **state)
{
    enum { COUNT = 1100000 };
    double value = 0.1, *back = malloc(COUNT * sizeof *back);
    kiln_array *a = NULL;
    (void)state;
    OK(kiln_array_full(&a, KILN_FLOAT64, 1, S(COUNT), &value, KILN_DEVICE_CUDA(0)));
    OK(kiln_array_to_host(a, back, COUNT * sizeof *back));
    for (int k = 0; k < COUNT; k++)
        assert_true(back[k] == value);
    kiln_array_free(a);
    free(back);
}

/* In place of the kernel layer's: counts, and fails as told. */
static int fills;
static kiln_status fill_status;

static kiln_status fill_by_kernel(kiln_array *to, const void *value, kiln_stream *stream)
{
    static const int64_t nowhere[8];
    (void)stream;
    fills++;
    if (fill_status == KILN_OK)
        kn_array_copy_elements(to->ndim, to->shape, to->data, to->strides, value, nowhere, to->item_size);
    return fill_status;
}

static kiln_status range_by_kernel(kiln_array *to, const kn_range *range, kiln_stream *stream)
{
    (void)to, (void)range, (void)stream;
    fills++;
    return fill_status;
}

/* The table that the kernel layer would have passed down. */
static kn_array_kernels own_kernels;

static void use_fills(bool with_them)
{
    own_kernels.fill = with_them ? fill_by_kernel : NULL;
    own_kernels.range = with_them ? range_by_kernel : NULL;
    kn_array_set_kernels(&own_kernels);
}

static void use_copy(kiln_status (*copy)(kiln_array *, const kiln_array *, kiln_stream *))
{
    own_kernels.copy = copy;
    kn_array_set_kernels(&own_kernels);
}

static void expect_doubles(kiln_array *a, double first, double last)
{
    double back[3];
    OK(kiln_array_to_host(a, back, sizeof back));
    assert_true(back[0] == first && back[2] == last);
}

static void fills_go_through_the_kernel_layer(void **state)
{
    const double value = 0.1, other = 0.2;
    kiln_array *a = NULL, *back = NULL, *r = NULL;
    (void)state;
    use_fills(true);
    fills = 0;
    OK(kiln_array_full(&a, KILN_FLOAT64, 1, S(3), &value, KILN_DEVICE_CUDA(0)));
    OK(kiln_array_index(&back, a, "::-2"));
    OK(kiln_array_fill(back, &other));
    assert_int_equal(fills, 2);
    expect_doubles(a, other, other);
    long before = fake_calls_of("cuMemcpyHtoDAsync_v2");
    OK(kiln_array_arange(&r, 0, 3, 1, KILN_FLOAT64, KILN_DEVICE_CUDA(0)));
    assert_int_equal(fake_calls_of("cuMemcpyHtoDAsync_v2"), before);
    assert_int_equal(fills, 3);
    kiln_array_free(r);
    kiln_array_free(back);
    kiln_array_free(a);
    use_fills(false);
}

/* Without a compiler the host helps, where the elements lie together; other failures are the caller's. */
static void fills_without_a_compiler(void **state)
{
    const double value = 0.1;
    kiln_array *a = NULL, *back = NULL, *r = NULL;
    (void)state;
    use_fills(true);
    fill_status = KILN_ERROR_NOT_FOUND;
    OK(kiln_array_full(&a, KILN_FLOAT64, 1, S(3), &value, KILN_DEVICE_CUDA(0)));
    expect_doubles(a, value, value);
    OK(kiln_array_arange(&r, 5, 8, 1, KILN_FLOAT64, KILN_DEVICE_CUDA(0)));
    expect_doubles(r, 5, 7);
    kiln_array_free(r);
    OK(kiln_array_index(&back, a, "::-1"));
    assert_int_equal(kiln_array_fill(back, &value), KILN_ERROR_NOT_FOUND);
    fill_status = KILN_ERROR_DEVICE;
    assert_int_equal(kiln_array_fill(a, &value), KILN_ERROR_DEVICE);
    assert_int_equal(kiln_array_arange(&r, 5, 8, 1, KILN_FLOAT64, KILN_DEVICE_CUDA(0)), KILN_ERROR_DEVICE);
    fill_status = KILN_OK;
    use_fills(false);
    assert_int_equal(kiln_array_fill(back, &value), KILN_ERROR_UNSUPPORTED);
    kiln_array_free(back);
    kiln_array_free(a);
}

static void strided_views_go_through_the_kernel_layer(void **state)
{
    int32_t back[4], more[4] = {9, 8, 7, 6};
    kiln_array *a = counted(KILN_DEVICE_CUDA(0), 3, 4), *v = NULL, *copy = NULL;
    (void)state;
    OK(kiln_array_index(&v, a, "1:, ::2"));
    strided_copies = 0;
    OK(kiln_array_to_host(v, back, sizeof back));
    assert_memory_equal(back, ((const int32_t[]){4, 6, 8, 10}), sizeof back);
    OK(kiln_array_set_from_host(v, more, sizeof more));
    OK(kiln_array_copy(&copy, v));
    assert_int_equal(strided_copies, 3);
    OK(kiln_array_to_host(copy, back, sizeof back));
    assert_memory_equal(back, more, sizeof back);
    use_copy(NULL);
    assert_int_equal(kiln_array_to_host(v, back, sizeof back), KILN_ERROR_UNSUPPORTED);
    use_copy(copy_strided);
    kiln_array_free(copy);
    kiln_array_free(v);
    kiln_array_free(a);
}

static void assert_counted(kiln_array *a, kiln_device device)
{
    int32_t back[6];
    assert_int_equal(kiln_array_device(a), device);
    OK(kiln_array_to_host(a, back, sizeof back));
    assert_memory_equal(back, ((const int32_t[]){0, 1, 2, 3, 4, 5}), sizeof back);
}

static void arrays_move_between_devices(void **state)
{
    static const kiln_device devices[] = {KILN_DEVICE_HOST, KILN_DEVICE_CUDA(0), KILN_DEVICE_CUDA(1)};
    (void)state;
    for (int from = 0; from < 3; from++)
        for (int to = 0; to < 3; to++) {
            kiln_array *a = counted(devices[from], 2, 3), *b = NULL;
            OK(kiln_array_to_device(&b, a, devices[to]));
            assert_int_equal(a == b, from == to);
            kiln_array_free(a);
            assert_counted(b, devices[to]);
            kiln_array_free(b);
        }
}

/* The copy waits for the source's stream, and the source's stream for the copy. */
static void peers_are_ordered(void **state)
{
    kiln_array *a = counted(KILN_DEVICE_CUDA(0), 2, 3), *b = NULL;
    long waits = fake_calls_of("cuStreamWaitEvent");
    (void)state;
    OK(kiln_array_to_device(&b, a, KILN_DEVICE_CUDA(1)));
    assert_int_equal(fake_calls_of("cuStreamWaitEvent"), waits + 2);
    kiln_array_free(a);
    kiln_array_free(b);
}

static void asynchronous_copies_do_not_wait(void **state)
{
    int32_t values[6] = {0, 1, 2, 3, 4, 5}, *back = NULL;
    kiln_stream *s = NULL;
    kiln_array *a = NULL;
    bool done = true;
    (void)state;
    OK(kiln_stream_create(&s, KILN_DEVICE_CUDA(0), KILN_STREAM_NON_BLOCKING));
    OK(kiln_array_empty(&a, KILN_INT32, 2, S(2, 3), KILN_DEVICE_CUDA(0)));
    OK(kiln_memory_alloc_pinned((void **)&back, sizeof values));
    OK(kiln_stream_synchronize(NULL));
    fake_hold(kiln_stream_cuda_handle(s), true);
    OK(kiln_array_set_from_host_async(a, values, sizeof values, s));
    OK(kiln_array_to_host_async(a, back, sizeof values, s));
    OK(kiln_stream_query(&done, s));
    assert_false(done);
    fake_hold(kiln_stream_cuda_handle(s), false);
    OK(kiln_stream_synchronize(s));
    assert_memory_equal(back, values, sizeof values);
    kiln_array_free(a);
    kiln_memory_free_pinned(back);
    kiln_stream_free(s);
}

static void what_would_wait_is_refused_in_a_capture(void **state)
{
    void *graph = NULL, *context = NULL;
    double back[2];
    kiln_stream *s = NULL;
    kiln_array *a = NULL, *b = NULL;
    (void)state;
    OK(kiln_array_ones(&a, KILN_FLOAT64, 1, S(2), KILN_DEVICE_CUDA(0)));
    OK(kiln_stream_create(&s, KILN_DEVICE_CUDA(0), KILN_STREAM_NON_BLOCKING));
    kiln_stream *before = kiln_stream_set_current(s);
    OK(kiln_device_cuda_context(&context, KILN_DEVICE_CUDA(0)));
    assert_int_equal(cuCtxPushCurrent_v2(context), 0);
    assert_int_equal(cuStreamBeginCapture_v2(kiln_stream_cuda_handle(s), 2), 0);
    assert_int_equal(kiln_array_to_host(a, back, sizeof back), KILN_ERROR_CAPTURE);
    assert_string_equal(
        kiln_error_message(),
        "kiln_array_to_host waits for the device, which is not possible while its stream is captured");
    assert_int_equal(kiln_array_set_from_host(a, back, sizeof back), KILN_ERROR_CAPTURE);
    assert_int_equal(kiln_array_ones(&b, KILN_FLOAT64, 1, S(2), KILN_DEVICE_CUDA(0)), KILN_ERROR_CAPTURE);
    assert_null(b);
    OK(kiln_array_copy(&b, a));
    kiln_array_free(b);
    assert_int_equal(cuStreamEndCapture(kiln_stream_cuda_handle(s), &graph), 0);
    assert_non_null(graph);
    assert_int_equal(cuGraphDestroy(graph), 0);
    assert_int_equal(cuCtxPopCurrent_v2(&context), 0);
    kiln_stream_set_current(before);
    kiln_stream_free(s);
    kiln_array_free(a);
}

static void dlpack_orders_the_consumers_stream(void **state)
{
    void *managed = NULL;
    int32_t type, ordinal;
    int64_t number;
    kiln_stream *s = NULL;
    kiln_array *a = counted(KILN_DEVICE_CUDA(1), 2, 3), *b = NULL;
    (void)state;
    OK(kiln_stream_create(&s, KILN_DEVICE_CUDA(1), KILN_STREAM_NON_BLOCKING));
    OK(kiln_array_dlpack_device(&type, &ordinal, a));
    assert_true(type == 2 && ordinal == 1);
    OK(kiln_dlpack_stream(&number, KILN_DEVICE_CUDA(1)));
    assert_int_equal(number, 1);
    assert_int_equal(kiln_array_to_dlpack(&managed, a, true, 0), KILN_ERROR_INVALID);
    assert_int_equal(kiln_array_to_dlpack(&managed, a, true, -2), KILN_ERROR_INVALID);
    long waits = fake_calls_of("cuStreamWaitEvent");
    OK(kiln_array_to_dlpack(&managed, a, true, (int64_t)(intptr_t)kiln_stream_cuda_handle(s)));
    assert_int_equal(fake_calls_of("cuStreamWaitEvent"), waits + 1);
    OK(kiln_array_from_dlpack(&b, managed, true));
    assert_counted(b, KILN_DEVICE_CUDA(1));
    kiln_array_free(b);
    OK(kiln_array_to_dlpack(&managed, a, false, 1)); /* our own stream: nothing to wait for */
    assert_int_equal(fake_calls_of("cuStreamWaitEvent"), waits + 1);
    OK(kiln_array_from_dlpack(&b, managed, false));
    kiln_array_free(b);
    kiln_array_free(a);
    kiln_stream_free(s);
}

static void streams_have_their_dlpack_number(void **state)
{
    int64_t number;
    kiln_stream *s = NULL;
    (void)state;
    OK(kiln_stream_create(&s, KILN_DEVICE_CUDA(0), 0));
    kiln_stream *before = kiln_stream_set_current(s);
    OK(kiln_dlpack_stream(&number, KILN_DEVICE_CUDA(0)));
    assert_true(number == (int64_t)(intptr_t)kiln_stream_cuda_handle(s));
    kiln_stream_set_current(before);
    kiln_stream_free(s);
}

/* ---- failing calls ---- */

static kiln_status move_around(void)
{
    int32_t back[4];
    double value = 0.3;
    kiln_array *a = NULL, *v = NULL, *b = NULL, *w = NULL;
    kiln_status status = kiln_array_arange(&a, 0, 8, 1, KILN_INT32, KILN_DEVICE_CUDA(0));
    if (!status)
        status = kiln_array_index(&v, a, "::2");
    if (!status)
        status = kiln_array_to_host(v, back, sizeof back);
    if (!status)
        status = kiln_array_to_device(&b, v, KILN_DEVICE_CUDA(1));
    if (!status)
        status = kiln_array_full(&w, KILN_FLOAT64, 1, S(3), &value, KILN_DEVICE_CUDA(1));
    kiln_array_free(a);
    kiln_array_free(v);
    kiln_array_free(b);
    kiln_array_free(w);
    return status;
}

static size_t used_on(int ordinal)
{
    kiln_memory_stats stats = KILN_MEMORY_STATS_INIT;
    OK(kiln_memory_get_stats(KILN_DEVICE_CUDA(ordinal), &stats));
    return stats.used_bytes;
}

static void each_call_of_the_driver_may_fail(void **state)
{
    int failures = 0;
    (void)state;
    OK(move_around());
    for (long nth = 1;; nth++) {
        fake_fail(NULL, nth, 999);
        kiln_status status = move_around();
        bool has_failed = fake_failed_function()[0] != '\0';
        fake_fail(NULL, 0, 0);
        assert_int_equal(used_on(0) + used_on(1), 0);
        if (!has_failed)
            break;
        failures += status != KILN_OK;
    }
    assert_true(failures >= 10);
    OK(move_around());
}

static int set_up(void **state)
{
    use_copy(copy_strided);
    return use_fake_driver(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_arrive),
        cmocka_unit_test(narrow_elements_are_filled_on_the_device),
        cmocka_unit_test(wide_elements_by_way_of_a_stage),
        cmocka_unit_test(fills_go_through_the_kernel_layer),
        cmocka_unit_test(fills_without_a_compiler),
        cmocka_unit_test(strided_views_go_through_the_kernel_layer),
        cmocka_unit_test(arrays_move_between_devices),
        cmocka_unit_test(peers_are_ordered),
        cmocka_unit_test(asynchronous_copies_do_not_wait),
        cmocka_unit_test(what_would_wait_is_refused_in_a_capture),
        cmocka_unit_test(dlpack_orders_the_consumers_stream),
        cmocka_unit_test(streams_have_their_dlpack_number),
        cmocka_unit_test(each_call_of_the_driver_may_fail),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
