/* The answers that a process remembers for good (compilers, devices, bundles, cache, processors, generator,
 * tiers) are the same after memory, descriptors, threads or processes ran out once, at any place. Each place
 * has a process of its own, which begins with nothing remembered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "fault_calls.h"
#include "drawn.h"
#include "fault_flows.h"
#include "base/alloc.h"
#include "base/os.h"
#include "codegen/codegen.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- calls of the system ---- */

WRAP(int, stat, -1, ENOMEM, (const char *path, struct stat *info), (path, info))
WRAP(int, lstat, -1, ENOMEM, (const char *path, struct stat *info), (path, info))
WRAP(int, access, -1, ENOMEM, (const char *path, int mode), (path, mode))
WRAP(char *, realpath, NULL, ENOMEM, (const char *path, char *real), (path, real))
WRAP(int, memfd_create, -1, EMFILE, (const char *name, unsigned flags), (name, flags))
WRAP(int, glob, GLOB_NOSPACE, ENOMEM,
     (const char *pattern, int flags, int (*on_error)(const char *, int), glob_t *out),
     (pattern, flags, on_error, out))
WRAP(int, scandir, -1, EMFILE,
     (const char *path, struct dirent ***out, int (*filter)(const struct dirent *),
      int (*order)(const struct dirent **, const struct dirent **)),
     (path, out, filter, order))

/* The loader says why: it is given no descriptor. */
LIST(dlopen)
void *__real_dlopen(const char *path, int flags);
void *__wrap_dlopen(const char *path, int flags);
void *__wrap_dlopen(const char *path, int flags)
{
    struct rlimit limit, none;
    getrlimit(RLIMIT_NOFILE, &limit);
    none = limit;
    none.rlim_cur = fails("dlopen", EMFILE) ? 0 : limit.rlim_cur;
    setrlimit(RLIMIT_NOFILE, &none);
    void *handle = __real_dlopen(path, flags);
    setrlimit(RLIMIT_NOFILE, &limit);
    return handle;
}

/* ---- what a process knows ---- */

enum { STATE_SIZE = 8192 };

static kiln_status run_named(const char *name)
{
    for (int i = 0; i < fault_flow_count; i++)
        if (strcmp(fault_flows[i].name, name) == 0)
            return fault_flows[i].run();
    return KILN_ERROR_INTERNAL;
}

static void put_toolchain(kn_str *out, const char *backend)
{
    kiln_toolchain_info info = KILN_TOOLCHAIN_INFO_INIT;
    kiln_status status = kiln_toolchain_get_info(backend, &info);
    kn_str_printf(out, "%s: %s\n", backend, status == KILN_OK ? info.identity : kiln_error_message());
}

/* Asks for all that is remembered. What it says does not matter where something fails on the way. */
static void describe(kn_str *out)
{
    kiln_device device = KILN_DEVICE_HOST;
    kiln_device_properties host = KILN_DEVICE_PROPERTIES_INIT;
    kiln_cache_stats before = KILN_CACHE_STATS_INIT, after = before;
    char name[32];
    int count = -1;
    kiln_status status = kiln_device_current(&device);
    kn_str_printf(out, "default: %s %s\n", kiln_status_name(status),
                  kiln_device_name(device, name, sizeof name));
    status = kiln_device_count(&count);
    kn_str_printf(out, "devices: %s %d\n", kiln_status_name(status), count);
    put_toolchain(out, "host");
    put_toolchain(out, "cuda");
    kn_str_printf(out, "generator: %s\n", kn_codegen_generator());
    status = kiln_device_get_properties(KILN_DEVICE_HOST, &host);
    kn_str_printf(out, "processors: %s %d\n", kiln_status_name(status), host.multiprocessors);
    (void)!kiln_cache_get_stats(&before);
    kn_str_printf(out, "call: %s\n", kiln_status_name(run_named("call_kernel")));
    kn_str_printf(out, "in place: %s\n", kiln_status_name(run_named("call_in_place")));
    status = kiln_cache_get_stats(&after);
    kn_str_printf(out, "stores: %s %llu bundles, %llu compiles, %s\n", kiln_status_name(status),
                  (unsigned long long)after.bundles, (unsigned long long)(after.compiles - before.compiles),
                  after.writable ? "writable" : "not writable");
    kn_str_printf(out, "best: %d %llu\n", kiln_wait_for_best(-1), (unsigned long long)after.best_failed);
}

/* ---- a process for each place ---- */

/* True if there was a place to fail at. */
typedef bool shortage(long nth, void (*run)(void));

static void run_once(void)
{
    kn_str unused = KN_STR_INIT;
    describe(&unused);
    kn_str_free(&unused);
}

static bool no_call(long nth, void (*run)(void))
{
    atomic_store(&made, 0);
    atomic_store(&fail_at, nth);
    run();
    atomic_store(&fail_at, 0);
    return atomic_load(&made) >= nth;
}

static bool no_memory(long nth, void (*run)(void))
{
    kn_alloc_fail_at((unsigned long)nth, 0);
    run();
    return kn_alloc_fail_at(0, 0) >= (unsigned long)nth;
}

/* From the nth on there is none: SQLite and the C library meet it, too. */
static bool no_descriptor(long nth, void (*run)(void))
{
    enum { MOST = 24 };
    struct rlimit limit, few;
    getrlimit(RLIMIT_NOFILE, &limit);
    few = limit;
    few.rlim_cur = (rlim_t)nth;
    setrlimit(RLIMIT_NOFILE, &few);
    run();
    setrlimit(RLIMIT_NOFILE, &limit);
    return nth < MOST;
}

static bool nothing_fails(long nth, void (*run)(void))
{
    run();
    return nth < 1;
}

/* The state after the shortage, in a new process; false where that had no such place any more. */
static bool look_after(char state[STATE_SIZE], shortage *meet, long nth)
{
    int ends[2], status = 0;
    size_t length = 0;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        kn_str text = KN_STR_INIT;
        bool was_met = meet(nth, run_once);
        describe(&text);
        bool is_sent = write(ends[1], text.data, text.length) == (ssize_t)text.length;
        _exit(!is_sent ? 2 : was_met ? 0 : 1);
    }
    close(ends[1]);
    for (ssize_t n; (n = read(ends[0], state + length, STATE_SIZE - 1 - length)) > 0;)
        length += (size_t)n;
    state[length] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
        fail_msg("place %ld: the process ended with %d", nth, status);
    return WEXITSTATUS(status) == 0;
}

static char wanted[STATE_SIZE];

/* The number of places, of which one in `share` is tried. */
static long try_places(shortage *meet, const char *what, long first, unsigned share, long most)
{
    char state[STATE_SIZE];
    long nth = first;
    int wrong = 0;
    for (; nth < most && look_after(state, meet, nth); nth = (long)drawn_next((unsigned long)nth, share))
        if (strcmp(state, wanted) != 0) {
            print_message("after %s %ld:\n%sinstead of\n%s", what, nth, state, wanted);
            wrong++;
        }
    print_message("             %s: %ld places\n", what, nth - first);
    assert_int_equal(wrong, 0);
    return nth - first;
}

/* Bundle, cache and driver are there: code of one kernel comes from each of the first two. */
static int set_up(void **state)
{
    char path[300];
    int status = 0;
    if (fault_set_up(state) != 0)
        return 1;
    unsetenv("KILN_TARGET");
    setenv("KILN_LIBCUDA", FAKE_LIBCUDA, 1);
    setenv("KILN_TEMPLATE_DIR", KILN_SOURCE_DIR "/src", 1);
    pid_t child = fork();
    if (child == 0) {
        void *bytes = NULL;
        size_t size = 0;
        snprintf(path, sizeof path, "%s/some.kiln", fault_folder);
        bool is_good = run_named("call_kernel") == KILN_OK && kiln_wait_for_best(-1) &&
                       kiln_cache_export(&bytes, &size) == KILN_OK &&
                       kn_os_write_file(path, bytes, size) == KILN_OK &&
                       run_named("call_in_place") == KILN_OK && kiln_wait_for_best(-1);
        if (!is_good)
            fprintf(stderr, "%s\n", kiln_error_message());
        _exit(!is_good);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        return 1;
    snprintf(path, sizeof path, "%s/some.kiln", fault_folder);
    setenv("KILN_BUNDLE_PATH", path, 1);
    look_after(wanted, nothing_fails, 1);
    print_message("%s", wanted);
    return !strstr(wanted, "call: KILN_OK\nin place: KILN_OK\n") ||
           !strstr(wanted, "stores: KILN_OK 1 bundles, 0 compiles, writable");
}

enum { FEW = 24 }; /* calls of a name, less one: each template is read by the same */

static void calls_of_the_system(void **state)
{
    (void)state;
    long places = 0;
    for (int i = 0; i < n_names; i++) {
        failing = names[i];
        places += try_places(no_call, failing, 1, 3, drawn_all() ? LONG_MAX : FEW);
    }
    assert_true(places > 80);
}

static void allocations(void **state)
{
    (void)state;
    assert_true(try_places(no_memory, "allocation", 1, 15, LONG_MAX) > 140);
}

static void descriptors(void **state)
{
    (void)state;
    assert_true(try_places(no_descriptor, "descriptor", 3, 2, LONG_MAX) > 10);
}

/* ---- the errors that callers see meanwhile ---- */

/* In a process of its own. */
static void expect(bool (*holds)(void))
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(!holds());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void fail_first(const char *name)
{
    failing = name;
    atomic_store(&made, 0);
    atomic_store(&fail_at, 1);
}

static bool devices_without_descriptors(void)
{
    int count = -1;
    fail_first("dlopen");
    return kiln_device_count(&count) == KILN_ERROR_IO && kiln_device_count(&count) == KILN_OK && count > 0;
}

static bool devices_without_memory(void)
{
    int count = -1;
    kn_alloc_fail_at(1, 0);
    return kiln_device_count(&count) == KILN_ERROR_MEMORY && kiln_device_count(&count) == KILN_OK &&
           count > 0;
}

static bool compilers_without_memory(void)
{
    kiln_toolchain_info info = KILN_TOOLCHAIN_INFO_INIT;
    fail_first("access");
    return kiln_toolchain_get_info("host", &info) == KILN_ERROR_MEMORY &&
           kiln_toolchain_get_info("host", &info) == KILN_OK;
}

static void errors_meanwhile(void **state)
{
    (void)state;
    expect(devices_without_descriptors);
    expect(devices_without_memory);
    expect(compilers_without_memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_of_the_system),
        cmocka_unit_test(allocations),
        cmocka_unit_test(descriptors),
        cmocka_unit_test(errors_meanwhile),
    };
    return cmocka_run_group_tests(tests, set_up, fault_tear_down);
}
