/* The nth system call of the library fails, for every n: an error that says what, or the right result. The
 * linker sends these calls here (--wrap). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "fault_calls.h"
#include "drawn.h"
#include "fault_flows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

WRAP(ssize_t, read, -1, EIO, (int fd, void *data, size_t size), (fd, data, size))
WRAP(ssize_t, pread, -1, EIO, (int fd, void *data, size_t size, off_t at), (fd, data, size, at))
WRAP(ssize_t, write, -1, ENOSPC, (int fd, const void *data, size_t size), (fd, data, size))
WRAP(int, rename, -1, EIO, (const char *from, const char *to), (from, to))
WRAP(int, fsync, -1, EIO, (int fd), (fd))
WRAP(int, mkdir, -1, ENOSPC, (const char *path, mode_t mode), (path, mode))
WRAP(int, unlink, -1, EACCES, (const char *path), (path))
WRAP(int, memfd_create, -1, EACCES, (const char *name, unsigned flags), (name, flags))
WRAP(FILE *, fopen, NULL, EMFILE, (const char *path, const char *mode), (path, mode))
WRAP(void *, dlopen, NULL, EMFILE, (const char *path, int flags), (path, flags))
WRAP(int, stat, -1, EACCES, (const char *path, struct stat *info), (path, info))
WRAP(int, lstat, -1, EACCES, (const char *path, struct stat *info), (path, info))
WRAP(int, fstat, -1, EIO, (int fd, struct stat *info), (fd, info))
WRAP(char *, mkdtemp, NULL, ENOSPC, (char *path), (path))
WRAP(int, fchmod, -1, EPERM, (int fd, mode_t mode), (fd, mode))
WRAP(ssize_t, getrandom, -1, EAGAIN, (void *data, size_t size, unsigned flags), (data, size, flags))
WRAP(int, dlinfo, -1, EINVAL, (void *handle, int request, void *out), (handle, request, out))

/* The descriptor is gone all the same, as on Linux. */
int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    int rc = __real_close(fd);
    return fails("close", EIO) ? -1 : rc;
}

/* ---- the flows ---- */

static bool run_failing(const fault_flow *flow, long nth)
{
    kiln_status status;
    long count;
    kiln_error_clear();
    atomic_store(&made, 0);
    atomic_store(&fail_at, nth);
    status = flow->run();
    atomic_store(&fail_at, 0);
    count = atomic_load(&made);
    if (count < nth && status != KILN_OK)
        fail_msg("%s: %s without a failing call: %s", flow->name, kiln_status_name(status),
                 kiln_error_message());
    if (status != KILN_OK && (status != kiln_error_status() || strlen(kiln_error_message()) < 10))
        fail_msg("%s: call %ld fails: %s: '%s'", flow->name, nth, kiln_status_name(status),
                 kiln_error_message());
    return count >= nth;
}

static void run_flows(void (*before)(void), unsigned share)
{
    for (int i = 0; i < fault_flow_count; i++) {
        long nth = 1;
        for (before(); run_failing(&fault_flows[i], nth); nth = (long)drawn_next((unsigned long)nth, share))
            before();
        print_message("             %s: %ld calls\n", fault_flows[i].name, nth - 1);
    }
}

static void warm_flows(void **state)
{
    (void)state;
    for (int i = 0; i < fault_flow_count; i++)
        assert_int_equal(fault_flows[i].run(), KILN_OK);
    run_flows(fault_forget, 3);
}

static void cold_flows(void **state)
{
    (void)state;
    run_flows(fault_empty_cache, 9); /* these compile each time */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(warm_flows, fault_set_up, fault_tear_down),
        cmocka_unit_test_setup_teardown(cold_flows, fault_set_up, fault_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
