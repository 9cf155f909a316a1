/* Killed processes, broken files, missing places, no compiler, no descriptors: what a program sees of a world
 * in trouble. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "cache/cache.h"
#include "fault_flows.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const fault_flow *flow_named(const char *name)
{
    for (int i = 0; i < fault_flow_count; i++)
        if (strcmp(fault_flows[i].name, name) == 0)
            return &fault_flows[i];
    fail_msg("no flow %s", name);
    return NULL;
}

static kiln_status call(void)
{
    return flow_named("call_kernel")->run();
}

static kiln_cache_stats stats(void)
{
    kiln_cache_stats s = KILN_CACHE_STATS_INIT;
    assert_int_equal(kiln_cache_get_stats(&s), KILN_OK);
    return s;
}

static void cache_file(char *out, size_t size)
{
    snprintf(out, size, "%s/cache/kernels.sqlite", fault_folder);
}

/* In a process of its own, where nothing is remembered: its exit code. */
static int in_child(int (*body)(void))
{
    int code = 0;
    pid_t child;
    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(body());
    assert_int_equal(waitpid(child, &code, 0), child);
    if (WIFSIGNALED(code))
        fail_msg("signal %d", WTERMSIG(code));
    return WEXITSTATUS(code);
}

/* ---- killed at any moment ---- */

static int call_for_ever(void)
{
    for (;;) {
        fault_empty_cache();
        call();
    }
    return 1;
}

static int call_once(void)
{
    return call() == KILN_OK && stats().errors == 0 ? 0 : 1;
}

static void killed_while_compiling(void **state)
{
    (void)state;
    for (int round = 0; round < 12; round++) {
        int code;
        pid_t child = fork();
        if (child == 0) {
            setpgid(0, 0);
            _exit(call_for_ever());
        }
        setpgid(child, child);
        usleep(3000 + 11000 * (useconds_t)round);
        kill(-child, SIGKILL); /* the compiler too */
        assert_int_equal(waitpid(child, &code, 0), child);
        assert_int_equal(in_child(call_once), 0);
    }
}

/* ---- the cache's file ---- */

static void overwrite(const char *path, long at, size_t size)
{
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    fseek(file, at, SEEK_SET);
    for (size_t i = 0; i < size; i++)
        fputc((int)(i * 31 + 7) & 255, file);
    fclose(file);
}

static void a_broken_cache_file(void **state)
{
    char path[300];
    struct stat info;
    (void)state;
    cache_file(path, sizeof path);
    for (long at = 0; at < 40000; at += 2311) {
        assert_int_equal(call(), KILN_OK);
        fault_forget();
        assert_int_equal(stat(path, &info), 0);
        overwrite(path, at % info.st_size, 700);
        assert_int_equal(call(), KILN_OK);
        fault_forget();
    }
}

static void a_cache_cut_short_while_it_is_open(void **state)
{
    char path[300];
    (void)state;
    cache_file(path, sizeof path);
    for (off_t size = 0; size < 30000; size += 5000) {
        assert_int_equal(call(), KILN_OK);
        assert_int_equal(truncate(path, size), 0);
        assert_int_equal(flow_named("call_in_place")->run(), KILN_OK);
        fault_forget();
    }
}

/* ---- places ---- */

static void no_place_for_the_cache(void **state)
{
    static const char *const places[] = {"/proc/nowhere", "/dev/null", "/dev/null/x", "/"};
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof *places - (geteuid() == 0); i++) {
        setenv("KILN_CACHE_DIR", places[i], 1);
        fault_forget();
        assert_int_equal(call(), KILN_OK);
        assert_true(stats().errors > 0);
        assert_true(strlen(stats().trouble) > 0);
        assert_false(stats().writable);
    }
}

static void no_place_for_temporary_files(void **state)
{
    char place[300];
    (void)state;
    snprintf(place, sizeof place, "%s", getenv("TMPDIR"));
    setenv("TMPDIR", "/no/such/folder", 1);
    kiln_status status = call();
    if (status != KILN_OK)
        assert_non_null(strstr(kiln_error_message(), "/no/such/folder"));
    setenv("TMPDIR", place, 1);
    assert_int_equal(call(), KILN_OK);
    fault_forget();
    setenv("TMPDIR", "/no/such/folder", 1); /* what is in the cache needs no such place */
    assert_int_equal(call(), KILN_OK);
    assert_int_equal(stats().disk_hits, 1);
    setenv("TMPDIR", place, 1);
}

/* ---- the compiler ---- */

static int call_without_compiler(void)
{
    setenv("PATH", "/no/such/folder", 1);
    unsetenv("CXX");
    if (call() != KILN_ERROR_NOT_FOUND)
        return 1;
    return strlen(kiln_error_message()) > 20 ? 0 : 2;
}

static int call_from_cache_without_compiler(void)
{
    setenv("PATH", "/no/such/folder", 1);
    unsetenv("CXX");
    return call() == KILN_OK && stats().disk_hits == 1 && stats().compiles == 0 ? 0 : 1;
}

/* The children are forked before this process looks for a compiler, and remembers where it is. One that
 * KILN_CXX names is not looked for. */
static void no_compiler(void **state)
{
    const char *named = getenv("KILN_CXX");
    char *compiler = named ? strdup(named) : NULL;
    (void)state;
    unsetenv("KILN_CXX");
    assert_int_equal(in_child(call_without_compiler), 0);
    assert_int_equal(in_child(call_once), 0);
    assert_int_equal(in_child(call_from_cache_without_compiler), 0);
    if (compiler)
        setenv("KILN_CXX", compiler, 1);
    free(compiler);
}

/* ---- limits ---- */

static int warnings;

static void count_warning(kiln_log_level level, const char *message, void *user)
{
    (void)message, (void)user;
    warnings += level == KILN_LOG_WARNING;
}

/* Rows of which two fill a page, so that each other row needs a new one. */
static void fill_pages(kn_cache *cache)
{
    static char half[1800];
    kn_blob code = {half, sizeof half};
    char key[16];
    for (int i = 0; i < 240; i++) {
        int length = snprintf(key, sizeof key, "row %d", i);
        kn_cache_put(cache, key, (size_t)length, "p", &code, NULL);
    }
}

/* The cache's file may not grow any more (`ulimit -f`), whatever else is written is small. */
static int call_at_the_limit(void)
{
    struct rlimit rule;
    char folder[300];
    snprintf(folder, sizeof folder, "%s/cache", fault_folder);
    kn_cache *cache = kn_cache_create(folder, false);
    fill_pages(cache);
    kn_cache_free(cache);
    getrlimit(RLIMIT_FSIZE, &rule);
    rule.rlim_cur = 400 * 1024;
    setrlimit(RLIMIT_FSIZE, &rule);
    kiln_log_set_callback(count_warning, NULL);
    for (int i = 0; i < 2; i++) {
        if (call() != KILN_OK || flow_named("call_in_place")->run() != KILN_OK)
            return 1;
        fault_forget();
    }
    return warnings == 2 ? 0 : 2; /* one of each of the two that were begun */
}

static void a_cache_that_may_not_grow(void **state)
{
    (void)state;
    assert_int_equal(in_child(call_at_the_limit), 0);
}

/* ---- descriptors ---- */

/* Fails at some point for each small number of descriptors, and works with enough. */
static int call_with_few_descriptors(void)
{
    for (rlim_t limit = 3; limit < 40; limit++) {
        struct rlimit rule = {limit, 1024};
        kiln_status status;
        fault_empty_cache();
        setrlimit(RLIMIT_NOFILE, &rule);
        status = call();
        rule.rlim_cur = 1024;
        setrlimit(RLIMIT_NOFILE, &rule);
        if (status != KILN_OK && strlen(kiln_error_message()) < 10)
            return 1;
        if (status != KILN_OK && limit > 30)
            return 2;
    }
    return 0;
}

static void few_descriptors(void **state)
{
    (void)state;
    assert_int_equal(in_child(call_with_few_descriptors), 0);
}

static int open_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 200; fd++)
        count += fcntl(fd, F_GETFD) != -1;
    return count;
}

/* Nothing stays open from one round to the next. */
static void descriptors_are_given_back(void **state)
{
    int before = 0;
    (void)state;
    for (int round = 0; round < 6; round++) {
        fault_empty_cache();
        for (int i = 0; i < fault_flow_count; i++)
            assert_int_equal(fault_flows[i].run(), KILN_OK);
        fault_forget();
        if (round == 1)
            before = open_descriptors();
    }
    assert_int_equal(open_descriptors(), before);
}

/* ---- threads ---- */

/* A child of a program that has used kiln uses it too. */
static int fork_again(void)
{
    return call_once() || in_child(call_once);
}

static void forked_children(void **state)
{
    (void)state;
    assert_int_equal(call(), KILN_OK);
    assert_int_equal(in_child(call_once), 0);
    assert_int_equal(in_child(fork_again), 0);
    assert_int_equal(call(), KILN_OK);
}

int main(void)
{
#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, fault_set_up, fault_tear_down)
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(no_compiler),
        WITH_FOLDER(killed_while_compiling),
        WITH_FOLDER(a_broken_cache_file),
        WITH_FOLDER(a_cache_cut_short_while_it_is_open),
        WITH_FOLDER(no_place_for_the_cache),
        WITH_FOLDER(no_place_for_temporary_files),
        WITH_FOLDER(a_cache_that_may_not_grow),
        WITH_FOLDER(few_descriptors),
        WITH_FOLDER(descriptors_are_given_back),
        WITH_FOLDER(forked_children),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
