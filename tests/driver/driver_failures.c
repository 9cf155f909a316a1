/* Every driver call of a representative run fails in turn: the run ends with an error that names the call, or
 * did without it; nothing stays behind. */
#include <sys/wait.h>
#include <unistd.h>

#include "drawn.h"
#include "driver_common.h"

typedef struct things {
    kn_device *device; /* NULL where not even that could be had */
    kiln_stream *stream;
    kiln_event *start, *end;
    kn_module *module;
    void *block, *other, *pinned;
} things;

enum { SIZE = 5000 };

static kiln_status set_up(things *t)
{
    kiln_device_properties p = KILN_DEVICE_PROPERTIES_INIT;
    kiln_status status = kiln_device_set_current(KILN_DEVICE_CUDA(0));
    if (status == KILN_OK)
        status = kn_device_get(&t->device, KILN_DEVICE_CUDA(0));
    if (status == KILN_OK)
        status = kiln_device_get_properties(KILN_DEVICE_DEFAULT, &p);
    if (status == KILN_OK)
        status = kiln_stream_create(&t->stream, KILN_DEVICE_DEFAULT, KILN_STREAM_NON_BLOCKING);
    if (status == KILN_OK)
        status = kiln_event_create(&t->start, KILN_DEVICE_DEFAULT, KILN_EVENT_TIMING);
    if (status == KILN_OK)
        status = kiln_event_create(&t->end, KILN_DEVICE_DEFAULT, KILN_EVENT_TIMING);
    return status;
}

static kiln_status memory(things *t)
{
    static const char bytes[SIZE] = "abc";
    kn_device *device = t->device;
    kiln_status status = kn_memory_alloc(&t->block, device, SIZE, kiln_stream_cuda_handle(t->stream));
    if (status == KILN_OK)
        status = kn_memory_alloc(&t->other, device, SIZE, NULL);
    if (status == KILN_OK)
        status =
            device->backend->fill(device, t->block, "xx", 2, SIZE / 2, kiln_stream_cuda_handle(t->stream));
    if (status == KILN_OK)
        status = device->backend->copy(device, t->block, bytes, SIZE, KN_COPY_HOST_TO_DEVICE,
                                       kiln_stream_cuda_handle(t->stream));
    if (status == KILN_OK)
        status = kn_memory_used_on(device, t->block, NULL);
    if (status == KILN_OK)
        status = kn_memory_used_on(device, t->other, kiln_stream_cuda_handle(t->stream));
    if (status == KILN_OK)
        status = kiln_memory_alloc_pinned(&t->pinned, 100);
    return status;
}

static kiln_status launching(things *t)
{
    kn_device *device = t->device;
    kn_function *f = NULL;
    kn_launch launch = {.grid = {32, 1, 1},
                        .block = {32, 1, 1},
                        .cluster = {16, 1, 1},
                        .shared_bytes = 64 << 10,
                        .block_data = &t->block};
    kiln_status status = kiln_event_record(t->start, t->stream);
    if (status == KILN_OK)
        status = device->backend->module_load(device, "kernel k 8", 10, "m", &t->module);
    if (status == KILN_OK)
        status = device->backend->module_function(t->module, "k", &f);
    if (status == KILN_OK)
        status = device->backend->launch(f, &launch, kiln_stream_cuda_handle(t->stream));
    launch.cluster[0] = 0;
    if (status == KILN_OK)
        status = device->backend->launch(f, &launch, kiln_stream_cuda_handle(t->stream));
    if (status == KILN_OK)
        status = kiln_event_record(t->end, t->stream);
    return status;
}

static kiln_status waiting(things *t)
{
    bool yes = false;
    double ms = 0;
    kn_device *peer = NULL;
    kiln_status status = kiln_stream_wait_event(NULL, t->end);
    if (status == KILN_OK)
        status = kiln_stream_query(&yes, t->stream);
    if (status == KILN_OK)
        status = kiln_event_query(&yes, t->end);
    if (status == KILN_OK)
        status = kiln_event_synchronize(t->end);
    if (status == KILN_OK)
        status = kiln_event_elapsed(&ms, t->start, t->end);
    if (status == KILN_OK)
        status = kiln_stream_synchronize(t->stream);
    if (status == KILN_OK)
        status = kn_device_get(&peer, KILN_DEVICE_CUDA(1));
    if (status == KILN_OK)
        status = kn_device_enable_peer(t->device, peer, &yes);
    if (status == KILN_OK)
        status = kiln_device_synchronize(KILN_DEVICE_CUDA(0));
    return status;
}

static void clean_up(things *t)
{
    if (t->block)
        kn_memory_free(t->device, t->block, SIZE, kiln_stream_cuda_handle(t->stream));
    if (t->other)
        kn_memory_free(t->device, t->other, SIZE, NULL);
    if (t->module)
        t->device->backend->module_unload(t->module);
    kiln_memory_free_pinned(t->pinned);
    KILN_IGNORE(kiln_memory_trim_pinned(0));
    kiln_event_free(t->start);
    kiln_event_free(t->end);
    kiln_stream_free(t->stream);
}

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "call %ld (%s): not so: %s; last error: %s\n", nth, fake_failed_function(),      \
                    #condition, kiln_error_message());                                                       \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

static void check_nothing_left(const things *t, long nth)
{
    fake_fail(NULL, 0, 0);
    CHECK(fake_context_depth() == 0);
    if (t->device) {
        kiln_memory_stats s = KILN_MEMORY_STATS_INIT;
        CHECK(kiln_memory_get_stats(KILN_DEVICE_CUDA(0), &s) == KILN_OK);
        CHECK(s.used_bytes == 0);
        CHECK(kiln_memory_trim(KILN_DEVICE_CUDA(0), 0) == KILN_OK);
    }
    CHECK(fake_live(FAKE_MEMORY) == 0);
    CHECK(fake_live(FAKE_PINNED) == 0);
    CHECK(fake_live(FAKE_STREAM) == 0);
    CHECK(fake_live(FAKE_MODULE) == 0);
    CHECK(fake_live(FAKE_EVENT) <= 4); /* the pool keeps some for later */
}

/* In a process of its own: 0 well, 1 not, 2 when the run has fewer calls than nth. */
static void run(long nth, int code)
{
    things t = {0};
    fake_fail(NULL, nth, code);
    kiln_status status = set_up(&t);
    if (status == KILN_OK)
        status = memory(&t);
    if (status == KILN_OK)
        status = launching(&t);
    if (status == KILN_OK)
        status = waiting(&t);
    char failed[64], wanted[96];
    snprintf(failed, sizeof failed, "%s", fake_failed_function());
    if (status != KILN_OK) {
        CHECK(failed[0]);
        snprintf(wanted, sizeof wanted, "%.*s", (int)strcspn(failed, "_"), failed);
        CHECK(strncmp(wanted, "cuOccupancy", 11) == 0 || strstr(kiln_error_message(), wanted));
        CHECK(strstr(kiln_error_message(), code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_UNKNOWN"));
    }
    clean_up(&t);
    bool hit = fake_failed_function()[0];
    check_nothing_left(&t, nth);
    exit(hit ? 0 : 2);
}

static int in_a_process(long nth, int code)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        run(nth, code);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void each_call_fails(int code)
{
    long nth = 1;
    int result = 0;
    for (; result == 0; nth = (long)drawn_next((unsigned long)nth, 3)) {
        result = in_a_process(nth, code);
        assert_int_not_equal(result, 1);
    }
    assert_true(nth > 100);
    print_message("             calls up to the %ldth failed in turn\n", nth);
}

static void test_unknown_error(void **state)
{
    (void)state;
    each_call_fails(999);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    each_call_fails(2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_error),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, use_fake_driver, NULL);
}
