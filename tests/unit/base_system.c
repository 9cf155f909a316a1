/* Files, processes, locks, libraries, the processor and targets of the base layer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os.h"
#include "base/target.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[256];

static int make_folder(void **state)
{
    (void)state;
    return kn_os_make_temporary_folder(folder, sizeof folder) != KILN_OK;
}

static int remove_folder(void **state)
{
    (void)state;
    kn_os_remove_folder(folder);
    return access(folder, F_OK) == 0;
}

static const char *in_folder(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int count_files(void)
{
    DIR *d = opendir(folder);
    int count = 0;
    for (struct dirent *item; (item = readdir(d)) != NULL;)
        count += item->d_name[0] != '.';
    closedir(d);
    return count;
}

static void file_round_trip(void **state)
{
    kn_blob blob = KN_BLOB_INIT;
    struct stat info;
    (void)state;
    assert_int_equal(kn_os_write_file(in_folder("a"), "hello", 5), KILN_OK);
    chmod(in_folder("a"), 0640);
    assert_int_equal(kn_os_write_file(in_folder("a"), "world!", 6), KILN_OK);
    assert_int_equal(stat(in_folder("a"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(count_files(), 1);
    assert_int_equal(kn_os_read_file(&blob, in_folder("a")), KILN_OK);
    assert_int_equal(blob.size, 6);
    assert_memory_equal(blob.data, "world!", 6);
    kn_blob_free(&blob);
    assert_int_equal(kn_os_read_file(&blob, "/proc/self/maps"), KILN_OK); /* fstat says it is empty */
    assert_true(blob.size > 100);
    kn_blob_free(&blob);
}

static void file_errors_name_the_path(void **state)
{
    kn_blob blob = KN_BLOB_INIT;
    (void)state;
    assert_int_equal(kn_os_read_file(&blob, in_folder("none")), KILN_ERROR_NOT_FOUND);
    assert_non_null(strstr(kiln_error_message(), "/none: No such file"));
    assert_int_equal(kn_os_read_file(&blob, folder), KILN_ERROR_IO);
    assert_int_equal(kn_os_write_file(folder, "x", 1), KILN_ERROR_IO);
    assert_int_equal(kn_os_write_file(in_folder("none/x"), "x", 1), KILN_ERROR_NOT_FOUND);
    assert_int_equal(kn_os_write_file("/dev/full", "x", 1), KILN_ERROR_IO);
    assert_non_null(strstr(kiln_error_message(), "No space left"));
    assert_null(blob.data);
}

/* Neither a device nor a link is replaced by the rename. */
static void special_files_stay(void **state)
{
    struct stat info;
    char target[512];
    (void)state;
    assert_int_equal(kn_os_write_file("/dev/null", "x", 1), KILN_OK);
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    snprintf(target, sizeof target, "%s", in_folder("target"));
    assert_int_equal(kn_os_write_file(target, "1", 1), KILN_OK);
    assert_int_equal(symlink("target", in_folder("link")), 0);
    assert_int_equal(kn_os_write_file(in_folder("link"), "22", 2), KILN_OK);
    assert_int_equal(lstat(in_folder("link"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(target, &info), 0);
    assert_int_equal(info.st_size, 2);
}

/* In a process that has closed them: none of ours takes their place, not even for a program that is run. */
static int use_descriptors(const char *sh)
{
    const char *argv[] = {sh, "-c", "echo out; echo err >&2; cat", NULL};
    kn_str output = KN_STR_INIT;
    int ends[2], code = -1;
    for (int fd = 0; fd <= 2; fd++)
        close(fd);
    if (kn_os_open("/dev/null", O_RDONLY, 0) <= 2 || kn_os_open_memory("x") <= 2 || !kn_os_open_pipe(ends) ||
        ends[0] <= 2 || ends[1] <= 2 || kn_os_copy_descriptor(ends[0]) <= 2)
        return 1;
    DIR *opened = kn_os_open_folder("/");
    if (!opened || dirfd(opened) <= 2 || kn_os_open_at(dirfd(opened), "dev", O_RDONLY) <= 2)
        return 2;
    closedir(opened);
    if (kn_os_run(argv, "/", &output, &code) != KILN_OK || code != 0 ||
        strcmp(kn_str_text(&output), "out\nerr\n") != 0)
        return 3;
    kn_str_free(&output);
    return fcntl(0, F_GETFD) < 0 && fcntl(1, F_GETFD) < 0 && fcntl(2, F_GETFD) < 0 ? 0 : 4;
}

static void standard_descriptors_are_left_alone(void **state)
{
    char sh[256];
    int code;
    (void)state;
    assert_int_equal(kn_os_find_program(sh, sizeof sh, "sh"), KILN_OK);
    pid_t child = fork();
    if (child == 0)
        _exit(use_descriptors(sh));
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_int_equal(code, 0);
}

static void what_is_written_is_checked(void **state)
{
    (void)state;
    assert_int_equal(kiln_file_write(NULL, "x", 1, 0), KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "path is NULL"));
    assert_int_equal(kiln_file_write(in_folder("x"), NULL, 1, 0), KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "data is NULL"));
    assert_int_equal(kiln_file_write(in_folder("x"), "x", 1, 2), KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "flags is 0x2"));
    assert_int_equal(kiln_file_write("", "x", 1, 0), KILN_ERROR_NOT_FOUND);
    assert_int_equal(count_files(), 0);
    assert_int_equal(kiln_file_write(in_folder("x"), NULL, 0, KILN_FILE_DURABLE), KILN_OK);
    assert_int_equal(count_files(), 1);
}

static void folders_are_made_with_their_parents(void **state)
{
    struct stat info;
    char path[512];
    (void)state;
    snprintf(path, sizeof path, "%s", in_folder("b/c/d"));
    assert_int_equal(kn_os_make_folders(path, 0700), KILN_OK);
    assert_int_equal(kn_os_make_folders(path, 0700), KILN_OK);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    kn_os_remove_folder(path);
    kn_os_remove_folder(in_folder("b/c"));
    kn_os_remove_folder(in_folder("b"));
    assert_int_equal(kn_os_write_file(in_folder("plain"), "", 0), KILN_OK);
    assert_int_equal(kn_os_make_folders(in_folder("plain/x"), 0700), KILN_ERROR_IO);
    assert_int_equal(kn_os_make_folders(in_folder("plain"), 0700), KILN_ERROR_IO);
}

/* ---- where a path lies ---- */

static unsigned long file_system; /* of every path, unless it is 0 */
int __real_statfs(const char *path, struct statfs *info);
int __wrap_statfs(const char *path, struct statfs *info);

int __wrap_statfs(const char *path, struct statfs *info)
{
    int status = __real_statfs(path, info);
    if (file_system)
        info->f_type = (__typeof__(info->f_type))file_system;
    return status;
}

static void network_paths(void **state)
{
    static const unsigned long nfs = 0x6969, smb2 = 0xfe534d42, ext4 = 0xef53;
    (void)state;
    assert_false(kn_os_is_network_path("/proc"));
    assert_false(kn_os_is_network_path("/no/such/path"));
    file_system = nfs;
    assert_true(kn_os_is_network_path("/"));
    assert_false(kn_os_is_network_path("/no/such/path"));
    file_system = smb2;
    assert_true(kn_os_is_network_path("/"));
    file_system = ext4;
    assert_false(kn_os_is_network_path("/"));
    file_system = 0;
}

static void run_collects_output_and_code(void **state)
{
    kn_str output = KN_STR_INIT;
    char sh[256];
    int code = -1;
    (void)state;
    assert_int_equal(kn_os_find_program(sh, sizeof sh, "sh"), KILN_OK);
    const char *argv[] = {sh, "-c", "echo out; echo err >&2; cat; pwd; exit 7", NULL};
    assert_int_equal(kn_os_run(argv, "/", &output, &code), KILN_OK);
    assert_int_equal(code, 7);
    assert_string_equal(kn_str_text(&output), "out\nerr\n/\n");
    argv[2] = "kill -9 $$";
    assert_int_equal(kn_os_run(argv, NULL, &output, &code), KILN_OK);
    assert_int_equal(code, 128 + 9);
    argv[0] = "/no/such/program";
    assert_int_equal(kn_os_run(argv, NULL, &output, &code), KILN_ERROR_NOT_FOUND);
    assert_int_equal(waitpid(-1, &code, WNOHANG), -1); /* no zombie is left */
    kn_str_free(&output);
    assert_int_equal(kn_os_find_program(sh, sizeof sh, "no-such-program-here"), KILN_ERROR_NOT_FOUND);
}

static volatile sig_atomic_t alarms, goes_on;

static void on_alarm(int signal)
{
    (void)signal;
    alarms++;
    if (goes_on) /* an alarm that came while the timer was stopped starts no other one */
        ualarm(2000, 0);
}

static void run_survives_signals(void **state)
{
    struct sigaction action = {.sa_handler = on_alarm}, before; /* no SA_RESTART: every call is interrupted */
    kn_str output = KN_STR_INIT;
    const char *argv[] = {"/bin/sh", "-c", "sleep 0.1; echo done", NULL};
    int code = -1;
    (void)state;
    goes_on = 1;
    sigaction(SIGALRM, &action, &before);
    ualarm(2000, 0);
    assert_int_equal(kn_os_run(argv, NULL, &output, &code), KILN_OK);
    goes_on = 0;
    ualarm(0, 0);
    sigaction(SIGALRM, &before, NULL);
    assert_true(alarms > 3);
    assert_int_equal(code, 0);
    assert_string_equal(kn_str_text(&output), "done\n");
    kn_str_free(&output);
}

static void lock_excludes_others(void **state)
{
    kn_os_lock a = KN_OS_LOCK_INIT, b = KN_OS_LOCK_INIT, c = KN_OS_LOCK_INIT;
    char path[512];
    (void)state;
    snprintf(path, sizeof path, "%s", in_folder("lock"));
    assert_true(kn_os_lock_file(&a, path, 0));
    assert_false(kn_os_lock_file(&b, path, 20));
    kn_os_unlock_file(&a);
    kn_os_unlock_file(&a);
    assert_true(kn_os_lock_file_at(&b, path, 5, 0));
    assert_true(kn_os_lock_file_at(&c, path, INT64_MAX - 1, 0));
    assert_false(kn_os_lock_file_at(&a, path, 5, 0));
    kn_os_unlock_file(&b);
    kn_os_unlock_file(&c);
    assert_false(kn_os_lock_file(&a, in_folder("none/lock"), 1000));
    kn_os_unlock_file(NULL);
}

static void a_dead_process_gives_its_lock_back(void **state)
{
    kn_os_lock lock = KN_OS_LOCK_INIT;
    char path[512], byte;
    int ends[2], code;
    pid_t child;
    (void)state;
    snprintf(path, sizeof path, "%s", in_folder("lock"));
    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        if (kn_os_lock_file(&lock, path, 0) && write(ends[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    assert_false(kn_os_lock_file(&lock, path, 10));
    kill(child, SIGKILL);
    assert_true(kn_os_lock_file(&lock, path, 5000));
    kn_os_unlock_file(&lock);
    assert_int_equal(waitpid(child, &code, 0), child);
    close(ends[0]);
    close(ends[1]);
}

/* Two libraries that are made one after the other, the first still loaded: the second is not taken for the
 * first. */
static void libraries_load_from_memory(void **state)
{
    kn_library *libraries[3] = {NULL};
    kn_str output = KN_STR_INIT;
    char cc[256], source[512], object[512];
    int code;
    (void)state;
    if (kn_os_find_program(cc, sizeof cc, "cc") != KILN_OK)
        skip();
    for (int i = 0; i < 3; i++) {
        kn_blob blob = KN_BLOB_INIT;
        char text[64];
        snprintf(text, sizeof text, "int answer(void) { return %d; }\n", 40 + i);
        snprintf(source, sizeof source, "%s", in_folder("a.c"));
        snprintf(object, sizeof object, "%s", in_folder("a.so"));
        const char *argv[] = {cc, "-shared", "-fPIC", "-o", object, source, NULL};
        assert_int_equal(kn_os_write_file(source, text, strlen(text)), KILN_OK);
        assert_int_equal(kn_os_run(argv, NULL, &output, &code), KILN_OK);
        assert_int_equal(code, 0);
        assert_int_equal(kn_os_read_file(&blob, object), KILN_OK);
        assert_int_equal(kn_os_library_open_memory(&libraries[i], blob.data, blob.size, "a"), KILN_OK);
        kn_blob_free(&blob);
    }
    for (int i = 0; i < 3; i++) {
        int (*answer)(void);
        *(void **)&answer = kn_os_library_symbol(libraries[i], "answer");
        assert_non_null(answer);
        assert_int_equal(answer(), 40 + i);
        kn_os_library_close(libraries[i]);
    }
    kn_str_free(&output);
}

static void broken_libraries_are_refused(void **state)
{
    kn_library *library = NULL;
    (void)state;
    assert_int_equal(kn_os_library_open_memory(&library, "not a library", 13, "junk"), KILN_ERROR_FORMAT);
    assert_non_null(strstr(kiln_error_message(), "junk"));
    assert_int_equal(kn_os_library_open_memory(&library, "", 0, "junk"), KILN_ERROR_FORMAT);
    assert_int_equal(kn_os_library_open(&library, "/no/such/lib.so"), KILN_ERROR_NOT_FOUND);
    assert_null(library);
    kn_os_library_close(NULL);
}

static void identity_changes_with_the_file(void **state)
{
    char a[130], b[130], small[8];
    (void)state;
    assert_int_equal(kn_os_file_identity(a, sizeof a, "/proc/self/exe"), KILN_OK);
    assert_true(strlen(a) >= 32);
    assert_int_equal(kn_os_file_identity(small, sizeof small, "/proc/self/exe"), KILN_ERROR_INVALID);
    assert_int_equal(kn_os_write_file(in_folder("x"), "one", 3), KILN_OK);
    assert_int_equal(kn_os_file_identity(a, sizeof a, in_folder("x")), KILN_OK);
    assert_int_equal(strlen(a), 32);
    assert_int_equal(kn_os_write_file(in_folder("x"), "two", 3), KILN_OK);
    assert_int_equal(kn_os_file_identity(b, sizeof b, in_folder("x")), KILN_OK);
    assert_string_not_equal(a, b);
    assert_int_equal(kn_os_file_identity(a, sizeof a, in_folder("none")), KILN_ERROR_NOT_FOUND);
    assert_int_equal(kn_os_file_identity(a, sizeof a, folder), KILN_ERROR_IO);
}

/* A damaged ELF file must not be read beyond its end: each byte of the head is changed in turn. */
static void identity_survives_damaged_files(void **state)
{
    kn_blob blob = KN_BLOB_INIT;
    unsigned char *head;
    char id[130];
    (void)state;
    assert_int_equal(kn_os_read_file(&blob, "/proc/self/exe"), KILN_OK);
    head = blob.data;
    for (size_t i = 0; i < 1024; i++) {
        unsigned char before = head[i];
        head[i] = (unsigned char)(i % 3 ? 0xff : before ^ 0x41);
        FILE *file = fopen(in_folder("elf"), "w");
        assert_non_null(file);
        fwrite(head, 1, 1500, file);
        fclose(file);
        assert_int_equal(kn_os_file_identity(id, sizeof id, in_folder("elf")), KILN_OK);
        head[i] = before;
    }
    kn_blob_free(&blob);
}

static void processor_is_described(void **state)
{
    char name[128];
    size_t available = 0, total = kn_os_physical_memory(&available);
    kn_target target;
    (void)state;
    kn_os_cpu_name(name, sizeof name);
    assert_true(strlen(name) > 0 && !strchr(name, '\n'));
    assert_in_range(kn_os_cpu_count(), 1, sysconf(_SC_NPROCESSORS_CONF));
    assert_true(available > 0 && total >= available);
    kn_target_host(&target);
    assert_string_equal(target.architecture, kn_os_cpu_architecture());
    assert_true(kn_os_now_ms() > 0 && kn_os_unix_seconds() > 1700000000);
}

/* ---- quotas of processors ---- */

static bool has_cgroups; /* /proc/self/cgroup and /sys/fs/cgroup lie in the test's folder, "/" as "_" */
int __real_kn_os_open(const char *path, int flags, unsigned mode);
int __wrap_kn_os_open(const char *path, int flags, unsigned mode);

static const char *cgroup_file(const char *path)
{
    char name[200];
    snprintf(name, sizeof name, "%s", path);
    for (char *at = name; (at = strchr(at, '/')) != NULL;)
        *at = '_';
    return in_folder(name);
}

int __wrap_kn_os_open(const char *path, int flags, unsigned mode)
{
    const bool is_there = has_cgroups && (strcmp(path, "/proc/self/cgroup") == 0 ||
                                          strncmp(path, "/sys/fs/cgroup", strlen("/sys/fs/cgroup")) == 0);
    return __real_kn_os_open(is_there ? cgroup_file(path) : path, flags, mode);
}

static int count_with(const char *groups, const char *const (*files)[2], int n_files)
{
    assert_int_equal(kn_os_write_file(cgroup_file("/proc/self/cgroup"), groups, strlen(groups)), KILN_OK);
    for (int k = 0; k < n_files; ++k)
        assert_int_equal(kn_os_write_file(cgroup_file(files[k][0]), files[k][1], strlen(files[k][1])),
                         KILN_OK);
    has_cgroups = true;
    const int count = kn_os_cpu_count();
    has_cgroups = false;
    for (int k = 0; k < n_files; ++k)
        unlink(cgroup_file(files[k][0]));
    return count;
}

/* The tightest quota of a group and of those above it, of either version of cgroups. */
static void quotas_of_processors(void **state)
{
    const int all = count_with("0::/a\n", NULL, 0);
    (void)state;
    if (all < 2)
        skip();
#define OF(groups, ...)                                                                                      \
    count_with(groups, (const char *const[][2]){__VA_ARGS__},                                                \
               (int)(sizeof((const char *const[][2]){__VA_ARGS__}) / (2 * sizeof(char *))))
    const char *const version1 = "5:memory:/a\n4:cpuset,cpu,cpuacct:/a\n";
    assert_int_equal(OF("0::/a/b\n", {"/sys/fs/cgroup/a/b/cpu.max", "100000 100000\n"}), 1);
    assert_int_equal(OF("0::/a/b\n", {"/sys/fs/cgroup/a/b/cpu.max", "110000 100000\n"}), 2);
    assert_int_equal(OF("0::/a/b\n", {"/sys/fs/cgroup/a/cpu.max", "40000 100000\n"}), 1);
    assert_int_equal(OF("0::/\n", {"/sys/fs/cgroup/cpu.max", "50000 50000\n"}), 1);
    assert_int_equal(OF("0::/a\n", {"/sys/fs/cgroup/a/cpu.max", "max 100000\n"}), all);
    assert_int_equal(OF("0::/a\n", {"/sys/fs/cgroup/b/cpu.max", "100000 100000\n"}), all);
    assert_int_equal(OF("1:cpu:/a\n", {"/sys/fs/cgroup/a/cpu.max", "100000 100000\n"}), all);
    assert_int_equal(OF(version1, {"/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "50000\n"},
                        {"/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"}),
                     1);
    assert_int_equal(OF(version1, {"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "100000\n"},
                        {"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"}),
                     1);
    assert_int_equal(OF(version1, {"/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n"},
                        {"/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"}),
                     all);
    assert_int_equal(OF("3:cpuset:/a\n", {"/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "50000\n"},
                        {"/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"}),
                     all);
#undef OF
}

static void processors_are_avoided_and_given_back(void **state)
{
    cpu_set_t all, now;
    kn_os_cpus cpus;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    int here = kn_os_cpu_current();
    assert_false(kn_os_cpu_avoid(&cpus, -1));
    assert_false(kn_os_cpu_avoid(&cpus, CPU_SETSIZE));
    bool has_others = CPU_COUNT(&all) > 1;
    assert_int_equal(kn_os_cpu_avoid(&cpus, here), has_others);
    if (!has_others)
        return;
    assert_int_not_equal(kn_os_cpu_current(), here);
    sched_getaffinity(0, sizeof now, &now);
    assert_false(CPU_ISSET(here, &now));
    kn_os_cpu_return(&cpus);
    sched_getaffinity(0, sizeof now, &now);
    assert_true(CPU_EQUAL(&now, &all));

    /* A message of somebody else meanwhile stays. */
    assert_true(kn_os_cpu_avoid(&cpus, here));
    CPU_ZERO(&now);
    CPU_SET(here, &now);
    assert_int_equal(sched_setaffinity(0, sizeof now, &now), 0);
    assert_false(kn_os_cpu_avoid(&(kn_os_cpus){0}, here));
    kn_os_cpu_return(&cpus);
    sched_getaffinity(0, sizeof now, &now);
    assert_int_equal(CPU_COUNT(&now), 1);
    sched_setaffinity(0, sizeof all, &all);
}

static void targets_are_read_and_written(void **state)
{
    static const struct {
        const char *text, *written;
        int capability, vector, shared;
    } good[] = {
        {"sm_75", "cuda:sm_75", 75, 16, 65536},         {"sm_90", "cuda:sm_90", 90, 16, 232448},
        {"sm_90a", "cuda:sm_90a", 90, 16, 232448},      {"sm_120f", "cuda:sm_120f", 120, 16, 101376},
        {"cuda:sm_80", "cuda:sm_80", 80, 16, 166912},   {"x86-64-v3", "host:x86-64-v3", 0, 32, 0},
        {"host:armv8.2-a", "host:armv8.2-a", 0, 16, 0},
    };
    static const char *const bad[] = {"",        "sm_",    "sm_77", "sm_80a", "sm_90f", "sm_90b",
                                      "sm_0x50", "sm_090", "cuda",  "x86",    "host:",  "host:sm_90"};
    kn_target target, other;
    char text[48];
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(kn_target_parse(&target, good[i].text), KILN_OK);
        kn_target_format(&target, text, sizeof text);
        assert_string_equal(text, good[i].written);
        assert_int_equal(target.compute_capability, good[i].capability);
        assert_int_equal(target.vector_bytes, good[i].vector);
        assert_int_equal(target.shared_memory_per_block, good[i].shared);
        bool is_cuda = good[i].capability > 0;
        assert_true((target.shared_memory_per_multiprocessor >= target.shared_memory_per_block &&
                     target.threads_per_multiprocessor >= 1024 && target.multiprocessors > 0 &&
                     target.registers_per_multiprocessor == 65536 && target.l2_bytes >= 1 << 20) == is_cuda);
        assert_int_equal(target.waits_for_kernels, good[i].capability >= 90);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(kn_target_parse(&target, bad[i]), KILN_ERROR_INVALID);
        assert_non_null(strstr(kiln_error_message(), "sm_90"));
    }
    kn_target_cuda(&target, 9, 0);
    assert_int_equal(kn_target_parse(&other, "sm_90"), KILN_OK);
    assert_true(kn_target_equal(&target, &other));
    const kn_target own = {.shared_memory_per_block = 1,
                           .shared_memory_per_multiprocessor = 2,
                           .shared_memory_reserved = 3,
                           .threads_per_multiprocessor = 4,
                           .registers_per_multiprocessor = 5,
                           .multiprocessors = 6,
                           .l2_bytes = INT64_C(7)};
    kn_target_set_limits(&target, &own);
    assert_true(kn_target_equal(&target, &other) && target.waits_for_kernels && target.vector_bytes == 16);
    assert_true(target.shared_memory_per_block == 1 && target.shared_memory_per_multiprocessor == 2 &&
                target.shared_memory_reserved == 3 && target.threads_per_multiprocessor == 4 &&
                target.registers_per_multiprocessor == 5 && target.multiprocessors == 6 &&
                target.l2_bytes == 7);
    kn_target_cuda(&target, 13, 1);
    assert_string_equal(target.architecture, "sm_131");
    assert_false(kn_target_equal(&target, &other));
    assert_int_equal(kn_target_parse(&target, "host"), KILN_OK);
}

/* ---- whom a path can be trusted to ---- */

/* Others may exchange what is in an open folder without the sticky bit: nothing that will be run is written
 * there. */
static void temporary_folders_are_out_of_reach(void **state)
{
    static const mode_t modes[] = {0700, 01777, 0777, 0770};
    char before[256], made[300];
    (void)state;
    snprintf(before, sizeof before, "%s", getenv("TMPDIR") ? getenv("TMPDIR") : "");
    setenv("TMPDIR", folder, 1);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        bool is_safe = i < 2;
        assert_int_equal(chmod(folder, modes[i]), 0);
        assert_int_equal(kn_os_make_temporary_folder(made, sizeof made), KILN_OK);
        assert_int_equal(strncmp(made, folder, strlen(folder)) == 0, is_safe);
        assert_int_equal(rmdir(made), 0);
        assert_int_equal(count_files(), 0);
    }
    if (before[0])
        setenv("TMPDIR", before, 1);
    else
        unsetenv("TMPDIR");
}

/* ---- limits ---- */

static int signals_seen;

static void count_signal(int which)
{
    (void)which;
    signals_seen++;
}

static bool is_pending(int which)
{
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, which) == 1;
}

static void write_beyond_the_limit(void)
{
    static char big[200 * 1024];
    kn_library *library = NULL;
    assert_int_equal(kn_os_write_file(in_folder("big"), big, sizeof big), KILN_ERROR_IO);
    assert_non_null(strstr(kiln_error_message(), "too large"));
    assert_int_equal(count_files(), 0);
    kn_blob self = KN_BLOB_INIT; /* a shared object that is there: that of the test's own framework */
    Dl_info framework;
    assert_true(dladdr((void *)(uintptr_t)_cmocka_run_group_tests, &framework) != 0);
    assert_int_equal(kn_os_read_file(&self, framework.dli_fname), KILN_OK);
    assert_true(self.size > 16 * 1024);
    assert_true(kn_os_library_open_memory(&library, self.data, self.size, "self") != KILN_OK);
    assert_non_null(strstr(kiln_error_message(), "too large"));
    kn_blob_free(&self);
}

/* Beyond `ulimit -f` writes fail, and no signal ends the process, reaches a handler or stays behind; one that
 * waited before does. */
static void a_limit_of_file_sizes(void **state)
{
    struct rlimit before, small;
    sigset_t xfsz, mask;
    (void)state;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 16 * 1024;
    signals_seen = 0;
    signal(SIGXFSZ, count_signal);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    write_beyond_the_limit();
    sigemptyset(&xfsz);
    sigaddset(&xfsz, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &xfsz, &mask);
    write_beyond_the_limit();
    assert_false(is_pending(SIGXFSZ));
    raise(SIGXFSZ);
    write_beyond_the_limit();
    assert_true(is_pending(SIGXFSZ));
    assert_int_equal(signals_seen, 0);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(signals_seen, 1);
}

static void *read_two_bytes(void *path)
{
    char bytes[2];
    int fd = open(path, O_RDONLY);
    return (void *)(intptr_t)(fd >= 0 && read(fd, bytes, 2) == 2 && close(fd) == 0);
}

/* A pipe whose reader goes away. */
static void a_pipe_that_nobody_reads(void **state)
{
    static char big[1 << 20];
    char path[512];
    pthread_t reader;
    void *has_read;
    (void)state;
    snprintf(path, sizeof path, "%s", in_folder("pipe"));
    assert_int_equal(mkfifo(path, 0600), 0);
    signals_seen = 0;
    signal(SIGPIPE, count_signal);
    assert_int_equal(pthread_create(&reader, NULL, read_two_bytes, path), 0);
    assert_int_equal(kn_os_write_file(path, big, sizeof big), KILN_ERROR_IO);
    pthread_join(reader, &has_read);
    assert_non_null(has_read);
    signal(SIGPIPE, SIG_DFL);
    assert_int_equal(signals_seen, 0);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(file_round_trip),
        IN_FOLDER(file_errors_name_the_path),
        IN_FOLDER(special_files_stay),
        cmocka_unit_test(standard_descriptors_are_left_alone),
        IN_FOLDER(what_is_written_is_checked),
        IN_FOLDER(folders_are_made_with_their_parents),
        cmocka_unit_test(network_paths),
        cmocka_unit_test(run_collects_output_and_code),
        cmocka_unit_test(run_survives_signals),
        IN_FOLDER(lock_excludes_others),
        IN_FOLDER(a_dead_process_gives_its_lock_back),
        IN_FOLDER(libraries_load_from_memory),
        cmocka_unit_test(broken_libraries_are_refused),
        IN_FOLDER(identity_changes_with_the_file),
        IN_FOLDER(identity_survives_damaged_files),
        IN_FOLDER(temporary_folders_are_out_of_reach),
        IN_FOLDER(a_limit_of_file_sizes),
        IN_FOLDER(a_pipe_that_nobody_reads),
        cmocka_unit_test(processor_is_described),
        IN_FOLDER(quotas_of_processors),
        cmocka_unit_test(processors_are_avoided_and_given_back),
        cmocka_unit_test(targets_are_read_and_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
