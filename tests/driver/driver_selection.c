/* The device of a process: no driver, a driver that fails, none or several devices, KILN_TARGET. Each case
 * in a process of its own, because the driver is loaded once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "device/device.h"
#include "fake_cuda.h"

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: not so: %s (last error: %s)\n", __FILE__, __LINE__, #condition,          \
                    kiln_error_message());                                                                   \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

static void in_a_process(void (*body)(void))
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        unsetenv("KILN_TARGET");
        setenv("KILN_LIBCUDA", FAKE_LIBCUDA, 1);
        body();
        exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static kiln_device current(void)
{
    kiln_device d = -1;
    CHECK(kiln_device_current(&d) == KILN_OK);
    return d;
}

static int count(void)
{
    int n = -1;
    CHECK(kiln_device_count(&n) == KILN_OK);
    return n;
}

static void check_host_only(const char *reason)
{
    kiln_device d = -1;
    CHECK(count() == 0);
    CHECK(strstr(kiln_device_why_no_cuda(), reason));
    CHECK(current() == KILN_DEVICE_HOST);
    CHECK(kiln_error_status() == KILN_OK); /* having no GPU is no failure */
    CHECK(kiln_device_parse(&d, "cuda") == KILN_ERROR_NOT_FOUND);
    CHECK(strstr(kiln_error_message(), reason));
    CHECK(kiln_device_set_current(KILN_DEVICE_CUDA(0)) == KILN_ERROR_NOT_FOUND);
    CHECK(current() == KILN_DEVICE_HOST);
}

static void no_driver(void)
{
    setenv("KILN_LIBCUDA", "/nowhere/libcuda.so.1", 1);
    check_host_only("/nowhere/libcuda.so.1");
}

static void not_a_driver(void)
{
    setenv("KILN_LIBCUDA", "libm.so.6", 1);
    check_host_only("libm.so.6 has no cuInit");
}

static void failing_init(void)
{
    setenv("FAKE_CUDA_INIT", "999", 1);
    check_host_only("cuInit failed with CUDA_ERROR_UNKNOWN");
}

static void no_device(void)
{
    setenv("FAKE_CUDA_DEVICES", "0", 1);
    check_host_only("CUDA_ERROR_NO_DEVICE");
}

static void one_device(void)
{
    kiln_device d = -1;
    setenv("FAKE_CUDA_DEVICES", "1", 1);
    CHECK(count() == 1);
    CHECK(kiln_device_why_no_cuda()[0] == 0);
    CHECK(current() == KILN_DEVICE_CUDA(0));
    CHECK(kiln_device_parse(&d, "cuda") == KILN_OK && d == KILN_DEVICE_CUDA(0));
    CHECK(kiln_device_parse(&d, "cuda:0") == KILN_OK && d == KILN_DEVICE_CUDA(0));
    CHECK(kiln_device_parse(&d, "cuda:1") == KILN_ERROR_NOT_FOUND);
    CHECK(strstr(kiln_error_message(), "no device cuda:1: the driver sees 1 device,"));
    CHECK(kiln_device_parse(&d, "cuda:200000") == KILN_ERROR_NOT_FOUND);
    CHECK(kiln_device_set_current(KILN_DEVICE_CUDA(1)) == KILN_ERROR_NOT_FOUND);
    CHECK(kiln_device_set_current(KILN_DEVICE_CUDA(500)) == KILN_ERROR_NOT_FOUND);
}

static void several_devices(void)
{
    setenv("FAKE_CUDA_DEVICES", "4", 1);
    CHECK(count() == 4);
    CHECK(current() == KILN_DEVICE_CUDA(0));
    CHECK(kiln_device_set_current(KILN_DEVICE_CUDA(3)) == KILN_OK);
    CHECK(current() == KILN_DEVICE_CUDA(3));
    CHECK(kiln_device_set_current(KILN_DEVICE_HOST) == KILN_OK);
    CHECK(current() == KILN_DEVICE_HOST);
}

static void target_host(void)
{
    setenv("KILN_TARGET", "host", 1);
    CHECK(current() == KILN_DEVICE_HOST);
    CHECK(fake_calls() == 0); /* the driver is not even loaded */
    CHECK(count() == 2);
}

static void target_ordinal(void)
{
    setenv("KILN_TARGET", "cuda:1", 1);
    CHECK(current() == KILN_DEVICE_CUDA(1));
    CHECK(kiln_device_set_current(KILN_DEVICE_CUDA(0)) == KILN_OK);
    CHECK(current() == KILN_DEVICE_CUDA(0));
}

static void target_missing(void)
{
    kn_device *device = NULL;
    kiln_device d = -1;
    setenv("KILN_TARGET", "cuda:7", 1);
    CHECK(kiln_device_current(&d) == KILN_ERROR_NOT_FOUND);
    CHECK(kn_device_get(&device, KILN_DEVICE_DEFAULT) == KILN_ERROR_NOT_FOUND);
    CHECK(strstr(kiln_error_message(), "cuda:7"));
    CHECK(kiln_stream_current() == NULL);
}

static void target_nonsense(void)
{
    kiln_device d = -1;
    setenv("KILN_TARGET", "gpu", 1);
    CHECK(kiln_device_current(&d) == KILN_ERROR_INVALID);
    CHECK(strstr(kiln_error_message(), "KILN_TARGET is \"gpu\""));
    setenv("KILN_TARGET", "host", 1); /* a failure is not remembered */
    CHECK(current() == KILN_DEVICE_HOST);
}

/* A number that is none is no wish for the default. */
static void threads_nonsense(void)
{
    static const char *const wrong[] = {"abc", "-3", "0", "4x", " 4", "0x4", "1e3"};
    kn_device *device = NULL;
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; ++k) {
        setenv("KILN_NUM_THREADS", wrong[k], 1);
        CHECK(kn_device_get(&device, KILN_DEVICE_HOST) == KILN_ERROR_INVALID);
        CHECK(strstr(kiln_error_message(), "KILN_NUM_THREADS is \""));
        CHECK(strstr(kiln_error_message(), wrong[k]) && strstr(kiln_error_message(), "from 1 was expected"));
    }
    setenv("KILN_NUM_THREADS", "99999999999999999999", 1); /* as many as there may be */
    CHECK(kn_device_get(&device, KILN_DEVICE_HOST) == KILN_OK);
}

static void failing_device(void)
{
    kn_device *device = NULL;
    fake_fail("cuDevicePrimaryCtxRetain", 1, 2);
    CHECK(kn_device_get(&device, KILN_DEVICE_CUDA(0)) == KILN_ERROR_MEMORY);
    CHECK(strstr(kiln_error_message(), "cuDevicePrimaryCtxRetain failed with CUDA_ERROR_OUT_OF_MEMORY"));
    CHECK(kn_device_get(&device, KILN_DEVICE_CUDA(0)) == KILN_OK); /* the next try may succeed */
    CHECK(device->id == KILN_DEVICE_CUDA(0) && device->multiprocessors == 132);
    CHECK(strcmp(device->target.architecture, "sm_90") == 0 &&
          device->target.shared_memory_per_block == 232448 &&
          device->target.shared_memory_per_multiprocessor == 233472 &&
          device->target.shared_memory_reserved == 1024 && device->target.multiprocessors == 132 &&
          device->target.l2_bytes == 52428800);
}

static void pinned_without_driver(void)
{
    void *p = NULL;
    setenv("KILN_LIBCUDA", "/nowhere/libcuda.so.1", 1);
    CHECK(kiln_memory_alloc_pinned(&p, 100) == KILN_OK);
    memset(p, 1, 100);
    kiln_memory_free_pinned(p);
}

#define IN_A_PROCESS(body)                                                                                   \
    static void test_##body(void **state)                                                                    \
    {                                                                                                        \
        (void)state;                                                                                         \
        in_a_process(body);                                                                                  \
    }
IN_A_PROCESS(no_driver)
IN_A_PROCESS(not_a_driver)
IN_A_PROCESS(failing_init)
IN_A_PROCESS(no_device)
IN_A_PROCESS(one_device)
IN_A_PROCESS(several_devices)
IN_A_PROCESS(target_host)
IN_A_PROCESS(target_ordinal)
IN_A_PROCESS(target_missing)
IN_A_PROCESS(target_nonsense)
IN_A_PROCESS(threads_nonsense)
IN_A_PROCESS(failing_device)
IN_A_PROCESS(pinned_without_driver)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_driver),
        cmocka_unit_test(test_not_a_driver),
        cmocka_unit_test(test_failing_init),
        cmocka_unit_test(test_no_device),
        cmocka_unit_test(test_one_device),
        cmocka_unit_test(test_several_devices),
        cmocka_unit_test(test_target_host),
        cmocka_unit_test(test_target_ordinal),
        cmocka_unit_test(test_target_missing),
        cmocka_unit_test(test_target_nonsense),
        cmocka_unit_test(test_threads_nonsense),
        cmocka_unit_test(test_failing_device),
        cmocka_unit_test(test_pinned_without_driver),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
