/* CUDA devices on the fake driver: the caller's context, launches, copies and fills, streams, events, peers,
 * modules, late errors. */
#include "driver_common.h"

static const char text[] =
    "kernel scale 24\nkernel roomy 24 shared:20000\nkernel pair 8 4\nkernel crash! 8\nglobal table 64\n";

static kn_module *load(kn_device *device)
{
    kn_module *module = NULL;
    OK(device->backend->module_load(device, text, sizeof text - 1, "test module", &module));
    return module;
}

static kn_function *function(kn_module *module, const char *name)
{
    kn_function *f = NULL;
    OK(cuda(0)->backend->module_function(module, name, &f));
    return f;
}

/* ---- properties ---- */

static void test_properties(void **state)
{
    kiln_device_properties p = KILN_DEVICE_PROPERTIES_INIT;
    size_t available = 0, total = 0;
    void *context = NULL;
    (void)state;
    OK(kiln_device_get_properties(KILN_DEVICE_CUDA(1), &p));
    assert_string_equal(p.name, "Fake GPU 1");
    assert_string_equal(p.architecture, "sm_90");
    assert_int_equal(p.multiprocessors, 132);
    assert_int_equal(p.shared_memory_per_block, 49152);
    assert_int_equal(p.shared_memory_per_block_optin, 232448);
    assert_int_equal(p.l2_cache_size, 52428800);
    assert_int_equal(p.total_memory, 256 << 20);
    assert_int_equal(p.compute_major, 9);
    assert_int_equal(p.driver_version, 13000);
    assert_true(p.cooperative_launch && p.unified_addressing && !p.integrated);
    OK(kiln_device_memory_info(KILN_DEVICE_CUDA(1), &available, &total));
    assert_true(available <= total && total == 256 << 20);
    OK(kiln_device_cuda_context(&context, KILN_DEVICE_CUDA(1)));
    assert_non_null(context);
}

/* ---- context ---- */

int cuCtxPushCurrent_v2(void *);
int cuCtxPopCurrent_v2(void **);
int cuCtxGetCurrent(void **);

static void use_everything(kn_device *device)
{
    void *p = NULL, *s = NULL, *e = NULL;
    const kn_backend *b = device->backend;
    bool done;
    char byte = 1;
    OK(b->stream_create(device, 0, &s));
    OK(b->event_create(device, 0, &e));
    OK(kn_memory_alloc(&p, device, 100, s));
    OK(b->fill(device, p, &byte, 1, 100, s));
    OK(b->copy(device, &byte, p, 1, KN_COPY_DEVICE_TO_HOST, s));
    OK(b->event_record(device, e, s));
    OK(b->event_query(device, e, &done));
    OK(b->synchronize(device));
    kn_memory_free(device, p, 100, s);
    b->event_destroy(device, e);
    b->stream_destroy(device, s);
}

static void test_context_is_left_alone(void **state)
{
    void *now = NULL, *primary = NULL;
    (void)state;
    assert_int_equal(fake_context_depth(), 0);
    use_everything(cuda(0));
    assert_int_equal(fake_context_depth(), 0);

    cuCtxPushCurrent_v2(fake_foreign_context());
    use_everything(cuda(1));
    cuCtxGetCurrent(&now);
    assert_ptr_equal(now, fake_foreign_context());
    assert_int_equal(fake_context_depth(), 1);
    cuCtxPopCurrent_v2(&now);

    OK(kiln_device_cuda_context(&primary, KILN_DEVICE_CUDA(0)));
    cuCtxPushCurrent_v2(primary);
    long pushes = fake_calls_of("cuCtxPushCurrent_v2");
    use_everything(cuda(0)); /* current already: neither pushed nor popped */
    assert_int_equal(fake_calls_of("cuCtxPushCurrent_v2"), pushes);
    cuCtxPopCurrent_v2(&now);
    assert_ptr_equal(now, primary);
}

/* A failing call puts the context back, too. */
static void test_context_after_failure(void **state)
{
    void *p = NULL;
    (void)state;
    fake_fail("cuMemAlloc_v2", 1, 999);
    assert_int_equal(cuda(0)->backend->memory_alloc(cuda(0), 512, &p), KILN_ERROR_DEVICE);
    assert_int_equal(fake_context_depth(), 0);
    MESSAGE_HAS("cuMemAlloc failed with CUDA_ERROR_UNKNOWN (as the fake driver says)");
}

/* ---- launches ---- */

static void test_launch_one_block(void **state)
{
    struct {
        void *x, *z;
        int64_t n;
    } args = {(void *)0x1000, (void *)0x2000, 77};
    (void)state;
    kn_module *module = load(cuda(0));
    kn_launch launch = {.grid = {7, 2, 1},
                        .block = {128, 1, 1},
                        .shared_bytes = 1024,
                        .block_data = &args,
                        .block_size = sizeof args};
    fake_launches_clear();
    OK(cuda(0)->backend->launch(function(module, "scale"), &launch, NULL));
    assert_int_equal(fake_launch_count(), 1);
    fake_launch l = fake_launch_at(0);
    assert_string_equal(l.name, "scale");
    assert_int_equal(l.grid[0], 7);
    assert_int_equal(l.grid[1], 2);
    assert_int_equal(l.block[0], 128);
    assert_int_equal(l.shared_bytes, 1024);
    assert_int_equal(l.attribute_count, 0);
    assert_int_equal(l.parameter_size, sizeof args);
    assert_memory_equal(l.parameters, &args, sizeof args);
    cuda(0)->backend->module_unload(module);
}

static void test_launch_parameter_list(void **state)
{
    void *x = (void *)0x77;
    float f = 2.5f;
    void *params[] = {&x, &f};
    (void)state;
    kn_module *module = load(cuda(0));
    kn_launch launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .params = params};
    fake_launches_clear();
    OK(cuda(0)->backend->launch(function(module, "pair"), &launch, NULL));
    fake_launch l = fake_launch_at(0);
    assert_int_equal(l.parameter_count, 2);
    assert_memory_equal(l.parameters, &x, sizeof x);
    assert_memory_equal(l.parameters + sizeof x, &f, sizeof f);
    cuda(0)->backend->module_unload(module);
}

static void test_launch_attributes(void **state)
{
    char args[24] = {0};
    (void)state;
    kn_module *module = load(cuda(0));
    kn_function *f = function(module, "scale");
    kn_launch launch = {
        .grid = {16, 1, 1}, .block = {64, 1, 1}, .block_data = args, .block_size = sizeof args};
    fake_launches_clear();
    launch.is_dependent = true;
    OK(cuda(0)->backend->launch(f, &launch, NULL));
    launch.is_dependent = false;
    launch.is_cooperative = true;
    OK(cuda(0)->backend->launch(f, &launch, NULL));
    launch.cluster[0] = 4;
    launch.cluster[1] = 1;
    OK(cuda(0)->backend->launch(f, &launch, NULL));
    long before = fake_calls_of("cuFuncSetAttribute");
    launch.cluster[0] = 16;
    OK(cuda(0)->backend->launch(f, &launch, NULL));
    OK(cuda(0)->backend->launch(f, &launch, NULL));
    assert_int_equal(fake_calls_of("cuFuncSetAttribute"), before + 1); /* large clusters are asked for once */
    assert_true(fake_launch_at(0).is_dependent && !fake_launch_at(0).is_cooperative);
    assert_true(!fake_launch_at(1).is_dependent && fake_launch_at(1).is_cooperative);
    fake_launch l = fake_launch_at(2);
    assert_int_equal(l.attribute_count, 2);
    assert_true(l.cluster[0] == 4 && l.cluster[1] == 1 && l.cluster[2] == 1);
    cuda(0)->backend->module_unload(module);
}

static void test_launch_much_shared_memory(void **state)
{
    char args[24] = {0};
    (void)state;
    kn_module *module = load(cuda(0));
    kn_function *f = function(module, "scale");
    kn_launch launch = {
        .grid = {1, 1, 1}, .block = {64, 1, 1}, .shared_bytes = 100 << 10, .block_data = args};
    long before = fake_calls_of("cuFuncSetAttribute");
    OK(cuda(0)->backend->launch(f, &launch, NULL));
    OK(cuda(0)->backend->launch(f, &launch, NULL));
    assert_int_equal(fake_calls_of("cuFuncSetAttribute"), before + 1);
    launch.shared_bytes = 300 << 10;
    assert_int_equal(cuda(0)->backend->launch(f, &launch, NULL), KILN_ERROR_DEVICE);
    MESSAGE_HAS(
        "launching \"scale\" (grid 1 1 1, block 64 1 1, 307200 bytes shared): cuFuncSetAttribute failed");
    cuda(0)->backend->module_unload(module);
}

/* The function's own variables and what a launch adds share what needs no asking. */
static void test_launch_beside_own_shared_memory(void **state)
{
    char args[24] = {0};
    (void)state;
    kn_module *module = load(cuda(0));
    kn_function *f = function(module, "roomy");
    kn_launch launch = {.grid = {1, 1, 1}, .block = {64, 1, 1}, .block_data = args};
    long before = fake_calls_of("cuFuncSetAttribute"), asked = fake_calls_of("cuFuncGetAttribute");
    OK(cuda(0)->backend->launch(f, &launch, NULL));
    assert_int_equal(fake_calls_of("cuFuncGetAttribute"), asked);
    launch.shared_bytes = (48 << 10) - 20000;
    OK(cuda(0)->backend->launch(f, &launch, NULL));
    assert_int_equal(fake_calls_of("cuFuncSetAttribute"), before);
    launch.shared_bytes += 16;
    OK(cuda(0)->backend->launch(f, &launch, NULL));
    OK(cuda(0)->backend->launch(f, &launch, NULL));
    assert_int_equal(fake_calls_of("cuFuncSetAttribute"), before + 1);
    assert_int_equal(fake_calls_of("cuFuncGetAttribute"), asked + 1);
    launch.shared_bytes = 232448 - 16384;
    assert_int_equal(cuda(0)->backend->launch(f, &launch, NULL), KILN_ERROR_DEVICE);
    MESSAGE_HAS("cuFuncSetAttribute failed");
    cuda(0)->backend->module_unload(module);
}

/* A warm launch costs the driver's own and one look at the context. */
static void test_launch_is_lean(void **state)
{
    char args[24] = {0};
    void *primary = NULL;
    (void)state;
    kn_module *module = load(cuda(0));
    kn_function *f = function(module, "scale");
    kn_launch launch = {.grid = {1, 1, 1}, .block = {64, 1, 1}, .block_data = args};
    OK(kiln_device_cuda_context(&primary, KILN_DEVICE_CUDA(0)));
    cuCtxPushCurrent_v2(primary);
    long before = fake_calls();
    OK(cuda(0)->backend->launch(f, &launch, NULL));
    assert_int_equal(fake_calls() - before, 2);
    cuCtxPopCurrent_v2(&primary);
    cuda(0)->backend->module_unload(module);
}

/* ---- modules ---- */

static void test_modules(void **state)
{
    void *address = NULL;
    size_t size = 0;
    kn_function *f = NULL;
    kn_function_info info;
    int blocks = 0;
    (void)state;
    const kn_backend *b = cuda(0)->backend;
    kn_module *module = load(cuda(0));
    OK(b->module_global(module, "table", &address, &size));
    assert_non_null(address);
    assert_int_equal(size, 64);
    assert_int_equal(b->module_global(module, "chair", &address, &size), KILN_ERROR_NOT_FOUND);
    MESSAGE_HAS("global \"chair\" of \"test module\"");
    assert_int_equal(b->module_function(module, "shrink", &f), KILN_ERROR_NOT_FOUND);
    MESSAGE_HAS("function \"shrink\" of \"test module\"");
    long loads = fake_calls_of("cuFuncLoad");
    f = function(module, "scale");
    assert_int_equal(fake_calls_of("cuFuncLoad"),
                     loads + 1); /* nothing is left to be loaded at the first launch */
    OK(b->function_info(f, &info));
    assert_int_equal(info.max_threads_per_block, 1024);
    assert_int_equal(info.binary_version, 90);
    OK(b->occupancy(f, 256, 0, &blocks));
    assert_int_equal(blocks, 8);
    b->module_unload(module);
    assert_int_equal(fake_live(FAKE_MODULE), 0);
}

static void test_broken_module(void **state)
{
    kn_module *module = NULL;
    (void)state;
    assert_int_equal(cuda(0)->backend->module_load(cuda(0), ".version 99", 11, "mine", &module),
                     KILN_ERROR_DEVICE);
    MESSAGE_HAS("loading \"mine\": cuModuleLoadDataEx failed with CUDA_ERROR_INVALID_PTX");
    assert_string_equal(kiln_error_log(), "ptxas: the text makes no sense");
    assert_null(module);
}

/* PTX need not end in a NUL: what follows it in memory is not read. */
static void test_text_without_end(void **state)
{
    kn_module *module = NULL;
    kn_function *f = NULL;
    (void)state;
    char *exact = malloc(14);
    memcpy(exact, "kernel scale 8", 14);
    OK(cuda(0)->backend->module_load(cuda(0), exact, 14, NULL, &module));
    free(exact);
    OK(cuda(0)->backend->module_function(module, "scale", &f));
    cuda(0)->backend->module_unload(module);
}

/* ---- copies ---- */

static void test_copies(void **state)
{
    char from[1000], to[1000] = {0};
    void *a = NULL, *b = NULL;
    (void)state;
    for (int i = 0; i < 1000; i++)
        from[i] = (char)i;
    const kn_backend *t = cuda(0)->backend;
    OK(kn_memory_alloc(&a, cuda(0), 1000, NULL));
    OK(kn_memory_alloc(&b, cuda(1), 1000, NULL));
    OK(t->copy(cuda(0), a, from, 1000, KN_COPY_HOST_TO_DEVICE, NULL));
    OK(t->copy_peer(cuda(1), b, cuda(0), a, 1000, NULL));
    OK(t->copy(cuda(1), (char *)b + 100, b, 50, KN_COPY_DEVICE_TO_DEVICE, NULL));
    OK(t->copy(cuda(1), to, b, 1000, KN_COPY_DEVICE_TO_HOST, NULL));
    memcpy(from + 100, from, 50);
    assert_memory_equal(from, to, 1000);
    OK(t->copy(cuda(0), NULL, NULL, 0, KN_COPY_HOST_TO_DEVICE, NULL));
    OK(t->copy_peer(cuda(1), NULL, cuda(0), NULL, 0, NULL));
    assert_int_equal(t->copy(cuda(0), from, a, 10, KN_COPY_HOST_TO_DEVICE, NULL), KILN_ERROR_DEVICE);
    kn_memory_free(cuda(0), a, 1000, NULL);
    kn_memory_free(cuda(1), b, 1000, NULL);
}

static void test_fills(void **state)
{
    static const uint8_t pattern[16] = {1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4},
                         mixed[8] = {1, 2, 3, 4, 5, 6, 7, 8}, zeros[16];
    uint8_t *p = NULL;
    void *memory = NULL;
    (void)state;
    const kn_backend *t = cuda(0)->backend;
    OK(kn_memory_alloc(&memory, cuda(0), 1600, NULL));
    p = memory;
    for (size_t unit = 1; unit <= 16; unit *= 2) {
        memset(p, 0xee, 1600);
        OK(t->fill(cuda(0), p, pattern, unit, 100, NULL));
        for (size_t i = 0; i < 100 * unit; i++)
            assert_int_equal(p[i], pattern[i % unit]);
        assert_true(unit == 16 || p[100 * unit] == 0xee);
    }
    OK(t->fill(cuda(0), p, zeros, 16, 100, NULL));
    assert_int_equal(p[1599], 0);
    assert_int_equal(t->fill(cuda(0), p, mixed, 8, 100, NULL), KILN_ERROR_UNSUPPORTED);
    OK(t->fill(cuda(0), NULL, zeros, 4, 0, NULL));
    kn_memory_free(cuda(0), p, 1600, NULL);
}

/* ---- streams and events ---- */

static void test_streams(void **state)
{
    kiln_stream *s = NULL, *other = NULL, *wrapped = NULL;
    kiln_device d = 0;
    bool done = true;
    void *native = NULL;
    (void)state;
    OK(kiln_device_set_current(KILN_DEVICE_CUDA(0)));
    OK(kiln_stream_create(&s, KILN_DEVICE_DEFAULT, KILN_STREAM_NON_BLOCKING));
    OK(kiln_stream_create(&other, KILN_DEVICE_CUDA(1), 0));
    kiln_event *e = NULL;
    OK(kiln_event_create(&e, KILN_DEVICE_CUDA(0), 0));
    fake_hold(kiln_stream_cuda_handle(s), true);
    OK(kiln_event_record(e, s));
    OK(kiln_stream_query(&done, s));
    assert_false(done);
    OK(kiln_event_query(&done, e));
    assert_false(done);
    const long waits = fake_calls_of("cuStreamWaitEvent");
    OK(kiln_stream_wait_event(other, e));
    assert_int_equal(fake_calls_of("cuStreamWaitEvent"), waits + 1);
    OK(kiln_stream_synchronize(s));
    OK(kiln_event_query(&done, e));
    assert_true(done);
    kiln_event_free(e);

    /* each device has its current stream; setting one makes its device current */
    assert_null(kiln_stream_set_current(s));
    assert_ptr_equal(kiln_stream_set_current(other), s);
    OK(kiln_device_current(&d));
    assert_int_equal(d, KILN_DEVICE_CUDA(1));
    OK(kn_stream_native(&native, cuda(0), NULL));
    assert_ptr_equal(native, kiln_stream_cuda_handle(s));
    OK(kn_stream_native(&native, cuda(1), NULL));
    assert_ptr_equal(native, kiln_stream_cuda_handle(other));
    assert_int_equal(kn_stream_native(&native, cuda(0), other), KILN_ERROR_INVALID);
    MESSAGE_HAS("stream belongs to cuda:1, the call runs on cuda:0");
    kiln_stream_set_current(NULL);
    OK(kiln_device_set_current(KILN_DEVICE_CUDA(0)));
    assert_ptr_equal(kiln_stream_current(), s);
    kiln_stream_set_current(NULL);

    OK(kiln_stream_wrap(&wrapped, KILN_DEVICE_CUDA(0), kiln_stream_cuda_handle(s)));
    assert_ptr_equal(kiln_stream_cuda_handle(wrapped), kiln_stream_cuda_handle(s));
    kiln_stream_free(wrapped);
    assert_int_equal(fake_live(FAKE_STREAM), 2); /* ours are alive */
    assert_int_equal(kiln_stream_wrap(&wrapped, KILN_DEVICE_CUDA(1), kiln_stream_cuda_handle(s)),
                     KILN_ERROR_INVALID);
    MESSAGE_HAS("primary context of cuda:1");
    assert_int_equal(kiln_stream_wrap(&wrapped, KILN_DEVICE_CUDA(0), (void *)2), KILN_ERROR_UNSUPPORTED);
    OK(kiln_stream_wrap(&wrapped, KILN_DEVICE_CUDA(0), (void *)1));
    assert_null(kiln_stream_cuda_handle(wrapped));
    kiln_stream_free(wrapped);
    kiln_stream_free(s);
    kiln_stream_free(other);
    assert_int_equal(fake_live(FAKE_STREAM), 0);
}

enum { FOR_EVENT, FOR_STREAM, FOR_DEVICE, WAYS_TO_WAIT };

static kiln_status wait_in(int way, kiln_event *event, kiln_stream *stream)
{
    return way == FOR_EVENT    ? kiln_event_synchronize(event)
           : way == FOR_STREAM ? kiln_stream_synchronize(stream)
                               : kiln_device_synchronize(KILN_DEVICE_CUDA(0));
}

static bool is_done(kiln_event *event)
{
    bool done = false;
    OK(kiln_event_query(&done, event));
    return done;
}

/* Work is over behind each way to wait for it, and on other streams only behind a wait for the device. */
static void test_waits(void **state)
{
    kiln_stream *stream[2] = {NULL, NULL};
    kiln_event *event[2] = {NULL, NULL};
    (void)state;
    OK(kiln_device_set_current(KILN_DEVICE_CUDA(0)));
    for (int way = 0; way < WAYS_TO_WAIT; ++way) {
        for (int k = 0; k < 2; ++k) {
            OK(kiln_stream_create(&stream[k], KILN_DEVICE_CUDA(0), KILN_STREAM_NON_BLOCKING));
            OK(kiln_event_create(&event[k], KILN_DEVICE_CUDA(0), 0));
            fake_hold(kiln_stream_cuda_handle(stream[k]), true);
            OK(kiln_event_record(event[k], stream[k]));
            assert_false(is_done(event[k]));
        }
        OK(wait_in(way, event[0], stream[0]));
        assert_true(is_done(event[0]));
        assert_int_equal(is_done(event[1]), way == FOR_DEVICE);
        for (int k = 0; k < 2; ++k) {
            kiln_event_free(event[k]);
            kiln_stream_free(stream[k]);
        }
    }
}

static void test_timing_events(void **state)
{
    kiln_event *a = NULL, *b = NULL, *elsewhere = NULL;
    double ms = 0;
    (void)state;
    OK(kiln_event_create(&a, KILN_DEVICE_CUDA(0), KILN_EVENT_TIMING));
    OK(kiln_event_create(&b, KILN_DEVICE_CUDA(0), KILN_EVENT_TIMING | KILN_EVENT_BLOCKING));
    OK(kiln_event_create(&elsewhere, KILN_DEVICE_CUDA(1), KILN_EVENT_TIMING));
    OK(kiln_device_set_current(KILN_DEVICE_CUDA(0)));
    OK(kiln_event_record(a, NULL));
    OK(kiln_event_record(b, NULL));
    OK(kiln_event_synchronize(b));
    OK(kiln_event_elapsed(&ms, a, b));
    assert_true(ms == 1.5);
    assert_int_equal(kiln_event_elapsed(&ms, a, elsewhere), KILN_ERROR_INVALID);
    assert_non_null(kiln_event_cuda_handle(a));
    kiln_event_free(a);
    kiln_event_free(b);
    kiln_event_free(elsewhere);
}

static void test_wrapped_event(void **state)
{
    kiln_event *own = NULL, *wrapped = NULL;
    bool done = false;
    (void)state;
    OK(kiln_event_create(&own, KILN_DEVICE_CUDA(0), 0));
    OK(kiln_event_wrap(&wrapped, KILN_DEVICE_CUDA(0), kiln_event_cuda_handle(own)));
    OK(kiln_event_record(wrapped, NULL));
    OK(kiln_event_query(&done, wrapped));
    assert_true(done);
    int live = fake_live(FAKE_EVENT);
    kiln_event_free(wrapped);
    assert_int_equal(fake_live(FAKE_EVENT), live); /* ours is alive */
    kiln_event_free(own);
    assert_int_equal(kiln_event_wrap(&wrapped, KILN_DEVICE_HOST, &done), KILN_ERROR_UNSUPPORTED);
    assert_int_equal(kiln_event_wrap(&wrapped, KILN_DEVICE_CUDA(0), NULL), KILN_ERROR_INVALID);
}

/* ---- peers ---- */

static void test_peers(void **state)
{
    bool can = false;
    (void)state;
    OK(kiln_device_can_access_peer(&can, KILN_DEVICE_CUDA(0), KILN_DEVICE_CUDA(1)));
    assert_true(can);
    OK(kiln_device_can_access_peer(&can, KILN_DEVICE_CUDA(0), KILN_DEVICE_HOST));
    assert_false(can);
    long before = fake_calls_of("cuCtxEnablePeerAccess");
    OK(kn_device_enable_peer(cuda(0), cuda(1), &can));
    assert_true(can);
    OK(kn_device_enable_peer(cuda(1), cuda(0), &can));
    assert_true(can);
    assert_int_equal(fake_calls_of("cuCtxEnablePeerAccess"), before + 2); /* once in each direction */
    OK(kn_device_enable_peer(cuda(0), cuda(0), &can));
    assert_true(can);
}

/* ---- late errors ---- */

static void test_late_error_names_the_kernel(void **state)
{
    void *argument = NULL;
    (void)state;
    kn_module *module = load(cuda(0));
    kn_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .block_data = &argument};
    kn_device_note_launch("my_crashing_kernel");
    OK(cuda(0)->backend->launch(function(module, "crash"), &launch, NULL));
    assert_int_equal(kiln_device_synchronize(KILN_DEVICE_CUDA(0)), KILN_ERROR_DEVICE);
    MESSAGE_HAS("cuCtxSynchronize failed with CUDA_ERROR_ILLEGAL_ADDRESS");
    MESSAGE_HAS("the kernel launched last was \"my_crashing_kernel\"");
    assert_int_equal(kiln_stream_synchronize(NULL), KILN_ERROR_DEVICE);
    MESSAGE_HAS("my_crashing_kernel");
    fake_repair();
    cuda(0)->backend->module_unload(module);
}

static void test_pinned(void **state)
{
    void *p = NULL;
    (void)state;
    OK(kiln_memory_alloc_pinned(&p, 5000));
    assert_int_equal(fake_live(FAKE_PINNED), 1);
    memset(p, 1, 5000);
    kiln_memory_stats s = KILN_MEMORY_STATS_INIT;
    OK(kiln_memory_get_pinned_stats(&s));
    assert_int_equal(s.used_bytes, 5120);
    kiln_memory_free_pinned(p);
    OK(kiln_memory_alloc_pinned(&p, 5000)); /* the same memory, without the driver */
    kiln_memory_free_pinned(p);
    assert_int_equal(fake_live(FAKE_PINNED), 1);
    OK(kiln_memory_get_pinned_stats(&s));
    assert_int_equal(s.allocations - s.device_allocations, 1);
    assert_int_equal(s.used_bytes, 0);
    OK(kiln_memory_trim_pinned(0));
    assert_int_equal(fake_live(FAKE_PINNED), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_properties),
        cmocka_unit_test(test_context_is_left_alone),
        cmocka_unit_test(test_context_after_failure),
        cmocka_unit_test(test_launch_one_block),
        cmocka_unit_test(test_launch_parameter_list),
        cmocka_unit_test(test_launch_attributes),
        cmocka_unit_test(test_launch_much_shared_memory),
        cmocka_unit_test(test_launch_beside_own_shared_memory),
        cmocka_unit_test(test_launch_is_lean),
        cmocka_unit_test(test_modules),
        cmocka_unit_test(test_broken_module),
        cmocka_unit_test(test_text_without_end),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_fills),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_timing_events),
        cmocka_unit_test(test_wrapped_event),
        cmocka_unit_test(test_peers),
        cmocka_unit_test(test_late_error_names_the_kernel),
        cmocka_unit_test(test_pinned),
    };
    return cmocka_run_group_tests(tests, use_fake_driver, NULL);
}
