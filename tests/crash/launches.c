/* Calls of kernels on the host while the cache goes wrong: its folder is deleted under running processes,
 * or the disk fails at any of the cache's system calls. Every call succeeds and is right, and one warning
 * says what is wrong. */
#include "crash_common.h"

#include <kiln/kiln.h>

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "store/lifetime.h"
#include "require.h"

enum { SIZE = 100 };

/* A C++ compiler that remembers: what it has compiled once costs a copy. */
static const char compiler[] =
    "#!/bin/sh\n"
    "real=${REAL_CXX:-c++}\n"
    "out= source=\n"
    "for word; do\n"
    "    case $last in -o) out=$word ;; esac\n"
    "    case $word in *.cpp) source=$word ;; esac\n"
    "    last=$word\n"
    "done\n"
    "[ -n \"$source\" ] && [ -n \"$out\" ] || exec $real \"$@\"\n"
    "kept=$KEPT/$(md5sum <\"$source\" | cut -c 1-32)\n"
    "[ -f \"$kept\" ] || { $real \"$@\" && cp \"$out\" \"$kept.$$\" && mv \"$kept.$$\" \"$kept\"; } || exit\n"
    "exec cp \"$kept\" \"$out\"\n";

static char cache[300];

static int begin(void **state)
{
    char path[300];
    const char *real = getenv("KILN_CXX");
    if (make_folder(state) != 0)
        return 1;
    if (real)
        setenv("REAL_CXX", real, 1);
    snprintf(path, sizeof path, "%s/kept", folder);
    setenv("KEPT", path, 1);
    if (mkdir(path, 0700) != 0)
        return 1;
    snprintf(path, sizeof path, "%s/cxx", folder);
    if (kn_os_write_file(path, compiler, sizeof compiler - 1) != KILN_OK || chmod(path, 0700) != 0)
        return 1;
    setenv("KILN_CXX", path, 1);
    snprintf(cache, sizeof cache, "%s/cache", folder);
    setenv("KILN_CACHE_DIR", cache, 1);
    setenv("KILN_TARGET", "host", 1);
    return 0;
}

static int end(void **state)
{
    kn_build_shutdown();
    kn_os_remove_folder(cache);
    kn_os_remove_folder(getenv("KEPT"));
    return remove_folder(state);
}

/* z = x + number, through a kernel of that number alone. */
static void call(int number, kiln_origin *origin)
{
    const int64_t shape[] = {SIZE};
    int32_t x[SIZE], z[SIZE];
    char body[64], name[64];
    kiln_kernel *kernel = NULL;
    kiln_array *in = NULL, *out = NULL;
    kiln_call_info info = KILN_CALL_INFO_INIT;
    for (int k = 0; k < SIZE; k++)
        x[k] = k * number;
    snprintf(body, sizeof body, "z = x + %d", number);
    snprintf(name, sizeof name, "add_%d", number);
    REQUIRE_OK(kiln_elementwise_create(&kernel, "int32 x", "int32 z", body, name, NULL));
    REQUIRE_OK(kiln_array_from_host(&in, x, KILN_INT32, 1, shape, KILN_DEVICE_HOST));
    const kiln_arg arg = kiln_arg_array(in);
    REQUIRE_OK(kiln_kernel_call(kernel, &out, 1, &arg, 1, NULL));
    REQUIRE_OK(kiln_kernel_last_call(&info));
    REQUIRE_OK(kiln_array_to_host(out, z, sizeof z));
    for (int k = 0; k < SIZE; k++)
        REQUIRE(z[k] == k * number + number, "element %d of %s is %d", k, name, (int)z[k]);
    *origin = info.origin;
    kiln_array_free(in);
    kiln_array_free(out);
    kiln_kernel_free(kernel);
}

/* ---- the folder goes ---- */

enum { PROCESSES = 8, NUMBERS = 12 };

static int call_until(unsigned n, double until)
{
    uint64_t seed = n;
    kiln_origin origin;
    int calls = 0;
    for (; kn_os_now_ms() < until; calls++) {
        call(1 + (int)(next_random(&seed) % NUMBERS), &origin);
        kn_build_shutdown(); /* the next call is that of a new process */
    }
    REQUIRE(calls > 3, "%d calls", calls);
    return 0;
}

static void the_folder_goes_under_running_processes(void **state)
{
    pid_t child[PROCESSES];
    kiln_origin origin;
    (void)state;
    for (int n = 1; n <= NUMBERS; n++) /* so that the compiler costs little from here on */
        call(n, &origin);
    kn_build_shutdown();
    double until = kn_os_now_ms() + 2000 * (getenv("KILN_SOAK") ? 10 : 1);
    for (unsigned c = 0; c < PROCESSES; c++)
        if ((child[c] = fork()) == 0)
            _exit(call_until(c, until));
    while (kn_os_now_ms() + 300 < until) {
        usleep(300 * 1000);
        kn_os_remove_folder(cache);
    }
    assert_int_equal(wait_for(child, PROCESSES), 0);
    kn_os_remove_folder(cache);
    call(1, &origin);
    assert_int_equal(origin, KILN_ORIGIN_COMPILER);
    kn_build_shutdown();
    call(1, &origin);
    assert_int_equal(origin, KILN_ORIGIN_DISK);
}

/* ---- the disk fails ---- */

/* The nth system call for the cache, and with is_once none after it, fails so. */
static struct {
    long at, calls;
    int reason;
    bool is_once;
} fault;

static bool fails(void)
{
    long n = ++fault.calls;
    if (fault.at == 0 || (fault.is_once ? n != fault.at : n < fault.at))
        return false;
    errno = fault.reason;
    return true;
}

/* SQLite's. */
#define SHIM(type, name, parameters, arguments)                                                              \
    static type(*real_##name) parameters;                                                                    \
    static type shim_##name parameters                                                                       \
    {                                                                                                        \
        return fails() ? -1 : real_##name arguments;                                                         \
    }
SHIM(int, open, (const char *path, int flags, int mode), (path, flags, mode))
SHIM(int, fstat, (int fd, struct stat *info), (fd, info))
SHIM(int, ftruncate, (int fd, off_t size), (fd, size))
SHIM(ssize_t, read, (int fd, void *to, size_t size), (fd, to, size))
SHIM(ssize_t, pread, (int fd, void *to, size_t size, off_t at), (fd, to, size, at))
SHIM(ssize_t, pread64, (int fd, void *to, size_t size, sqlite3_int64 at), (fd, to, size, at))
SHIM(ssize_t, write, (int fd, const void *from, size_t size), (fd, from, size))
SHIM(ssize_t, pwrite, (int fd, const void *from, size_t size, off_t at), (fd, from, size, at))
SHIM(ssize_t, pwrite64, (int fd, const void *from, size_t size, sqlite3_int64 at), (fd, from, size, at))
SHIM(int, fallocate, (int fd, off_t at, off_t size), (fd, at, size))
SHIM(int, fchmod, (int fd, mode_t mode), (fd, mode))
SHIM(int, unlink, (const char *path), (path))

static void install_shims(void)
{
    sqlite3_initialize();
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
#define INSTALL(name)                                                                                        \
    do {                                                                                                     \
        sqlite3_syscall_ptr real = vfs->xGetSystemCall(vfs, #name);                                          \
        memcpy(&real_##name, &real, sizeof real);                                                            \
        if (real)                                                                                            \
            vfs->xSetSystemCall(vfs, #name, (sqlite3_syscall_ptr)shim_##name);                               \
    } while (0)
    INSTALL(open);
    INSTALL(fstat);
    INSTALL(ftruncate);
    INSTALL(read);
    INSTALL(pread);
    INSTALL(pread64);
    INSTALL(write);
    INSTALL(pwrite);
    INSTALL(pwrite64);
    INSTALL(fallocate);
    INSTALL(fchmod);
    INSTALL(unlink);
}

/* The library's own, of paths in the cache's folder alone: the linker sends them here (--wrap). */
static bool is_of_cache(const char *path)
{
    return *cache && strncmp(path, cache, strlen(cache)) == 0;
}

#define WRAP(type, name, parameters, arguments)                                                              \
    type __real_##name parameters;                                                                           \
    type __wrap_##name parameters;                                                                           \
    type __wrap_##name parameters                                                                            \
    {                                                                                                        \
        return is_of_cache(path) && fails() ? -1 : __real_##name arguments;                                  \
    }
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode))
WRAP(int, stat, (const char *path, struct stat *info), (path, info))
WRAP(int, lstat, (const char *path, struct stat *info), (path, info))
WRAP(int, rename, (const char *path, const char *to), (path, to))
WRAP(int, unlink, (const char *path), (path))

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    return is_of_cache(path) && fails() ? -1 : __real_open(path, flags, mode);
}

static int warnings, told; /* that a reason was given */
static char last_warning[1024];

static void listen(kiln_log_level level, const char *message, void *user)
{
    (void)user;
    if (level != KILN_LOG_WARNING)
        return;
    warnings++;
    told += strstr(message, strerror(fault.reason)) != NULL;
    snprintf(last_warning, sizeof last_warning, "%s", message);
}

/* Kernel 1 is in the cache, or is not yet since there is none; 2 is not. */
static void prepare(bool is_there)
{
    kiln_origin origin;
    fault.at = 0;
    kn_os_remove_folder(cache);
    if (is_there)
        call(1, &origin);
    kn_build_shutdown();
}

static void call_while_it_fails(int reason, bool is_once, bool is_there, long at)
{
    kiln_origin origin;
    kiln_cache_stats stats = KILN_CACHE_STATS_INIT;
    prepare(is_there);
    warnings = 0;
    fault.reason = reason;
    fault.is_once = is_once;
    fault.calls = 0;
    fault.at = at;
    call(1, &origin);
    call(2, &origin);
    call(1, &origin);
    KILN_IGNORE(kiln_cache_flush()); /* some of its calls fail */
    long calls = fault.calls;
    assert_int_equal(kiln_cache_get_stats(&stats), KILN_OK);
    fault.at = 0;
    kn_build_shutdown();
    fault.calls = calls;
    if (warnings != (stats.errors > 0))
        fail_msg("%s at call %ld%s: %d warnings of %d errors, the last: %s", strerror(reason), at,
                 is_once ? ", once" : "", warnings, (int)stats.errors, last_warning);
    if (warnings == 0 && !is_once && at < 4)
        fail_msg("%s from call %ld on: nobody was told", strerror(reason), at);
}

static void every_call_of_the_system_fails(void **state)
{
    static const int reasons[] = {ENOSPC, EIO, EDQUOT, EROFS};
    long tried = 0;
    (void)state;
    install_shims();
    kiln_log_set_callback(listen, NULL);
    for (size_t r = 0; r < sizeof reasons / sizeof *reasons; r++) {
        told = 0;
        for (int how = 0; how < 4; how++)
            for (long at = 1;; at += getenv("KILN_SOAK") ? 1 : 17) {
                call_while_it_fails(reasons[r], how & 1, how & 2, at);
                tried++;
                if (fault.calls < at)
                    break;
            }
        print_message("%s: said %d times\n", strerror(reasons[r]), told);
        assert_true(told > 0);
    }
    kiln_log_set_callback(NULL, NULL);
    print_message("%ld failures, no call of a kernel failed\n", tried);
    assert_true(tried > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_folder_goes_under_running_processes),
        cmocka_unit_test(every_call_of_the_system_fails),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
