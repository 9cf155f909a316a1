/* Compilers that misbehave, and those that are named in unusual ways: identities that are never cut, relative
 * paths, hanging, children left behind, pipes in place of files, and what a killed process leaves. */
#include "compile/compile.h"

#include "base/error.h"
#include "base/os.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[PATH_MAX - 512];

static void write_program(const char *name, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(kn_os_write_file(path, text, strlen(text)), KILN_OK);
    assert_int_equal(chmod(path, 0755), 0);
}

/* The identity that a process with these variables gives its compiler. */
static void identity_with(char out[512], const char *cxx, const char *variable, const char *value)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        setenv("KILN_CXX", cxx, 1);
        if (variable)
            setenv(variable, value, 1);
        const char *identity = kn_compile_identity(KN_HOST);
        _exit(write(ends[1], identity, strlen(identity) + 1) < 0);
    }
    close(ends[1]);
    memset(out, 0, 512);
    assert_true(read(ends[0], out, 511) > 10);
    close(ends[0]);
    waitpid(child, NULL, 0);
}

static void assert_differ(const char *one, const char *other)
{
    char a[512], b[512], again[512];
    identity_with(a, one, NULL, NULL);
    identity_with(b, other, NULL, NULL);
    identity_with(again, one, NULL, NULL);
    assert_string_not_equal(a, b);
    assert_string_equal(a, again);
}

/* Whatever stands at the end of a long line counts as much as what stands at its beginning. */
static void identities_are_not_cut(void **state)
{
    (void)state;
    static char one[20000], other[20100];
    char letters[201];
    memset(letters, 'a', 200);
    letters[200] = 0;
    snprintf(one, sizeof one, "c++ -D%s -DW=1", letters);
    snprintf(other, sizeof other, "c++ -D%s -DW=2", letters);
    assert_differ(one, other);
    for (int words = 14; words <= 600; words += words < 18 ? 1 : 582) {
        strcpy(one, "c++");
        for (int i = 0; i < words; i++)
            snprintf(one + strlen(one), sizeof one - strlen(one), " -DABCDEFGH%d", i);
        snprintf(other, sizeof other, "%s -DW=2", one);
        strcat(one, " -DW=1");
        assert_differ(one, other);
    }
    assert_differ("c++ -D A", "c++ -DA");
    assert_differ("c++ -g0", "c++");
}

/* The compiler behind a program that starts it, and what steers a compiler from outside. */
static void identities_follow_what_is_run(void **state)
{
    (void)state;
    char words[PATH_MAX + 16], a[512], b[512];
    write_program("inner", "#!/bin/sh\nexec c++ \"$@\"\n");
    snprintf(words, sizeof words, "env %s/inner", folder);
    identity_with(a, words, NULL, NULL);
    write_program("inner", "#!/bin/sh\nexec c++ -O1 \"$@\"\n");
    identity_with(b, words, NULL, NULL);
    assert_string_not_equal(a, b);
    write_program("options", "-DX=1");
    snprintf(words, sizeof words, "c++ @%s/options", folder);
    identity_with(a, words, NULL, NULL);
    write_program("options", "-DX=2");
    identity_with(b, words, NULL, NULL);
    assert_string_not_equal(a, b);
    identity_with(a, "c++", NULL, NULL);
    identity_with(b, "c++", "COMPILER_PATH", folder);
    assert_string_not_equal(a, b);
}

/* All words arrive: the last of forty decides. */
static bool compiles(const char *source)
{
    kn_compile_request request = {.source = source, .name = "my_kernel"};
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    kn_target_host(&request.target);
    kiln_status status = kn_compile(&result, &request);
    kn_compile_result_free(&result);
    return status == KILN_OK;
}

static int compiles_with(const char *variable, const char *value, const char *cxx, const char *go_to)
{
    pid_t child = fork();
    int status = 1;
    if (child == 0) {
        if (cxx)
            setenv("KILN_CXX", cxx, 1);
        if (variable)
            setenv(variable, value, 1);
        bool is_named = kn_compile_identity(KN_HOST)[0] != 0;
        if (go_to && chdir(go_to) != 0)
            _exit(2);
        _exit(!(is_named && compiles("static_assert(LAST == 40);")));
    }
    waitpid(child, &status, 0);
    return status;
}

static void every_word_is_given(void **state)
{
    (void)state;
    char words[4096] = "c++";
    for (int i = 1; i <= 40; i++)
        snprintf(words + strlen(words), sizeof words - strlen(words), " -ULAST -DLAST=%d", i);
    assert_int_equal(compiles_with(NULL, NULL, words, NULL), 0);
}

/* The process may be elsewhere when it compiles. */
static void relative_names(void **state)
{
    (void)state;
    char path[PATH_MAX];
    write_program("my-c++", "#!/bin/sh\nexec c++ -DLAST=40 \"$@\"\n");
    write_program("last.h", "#define LAST 40\n");
    snprintf(path, sizeof path, "%s/bin", folder);
    assert_int_equal(kn_os_make_folders(path, 0700), KILN_OK);
    write_program("bin/pathed-c++", "#!/bin/sh\nexec c++ -DLAST=40 \"$@\"\n");
    snprintf(path, sizeof path, "bin:%s", getenv("PATH"));
    assert_int_equal(chdir(folder), 0);
    static const char *const places[] = {NULL, "/"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(compiles_with(NULL, NULL, "./my-c++", places[i]), 0);
        assert_int_equal(compiles_with(NULL, NULL, "env ./my-c++", places[i]), 0);
        assert_int_equal(compiles_with("PATH", path, "pathed-c++", places[i]), 0);
        assert_int_equal(compiles_with(NULL, NULL, "c++ -I. -include ./last.h", places[i]), 0);
    }
    assert_int_equal(chdir("/"), 0);
}

/* ---- a compiler that misbehaves ---- */

/* Seconds that no test is meant to last: a loaded machine is slow, and a wait by mistake is longer. */
enum { PATIENCE_S = 900 };

/* Milliseconds of a compile that has to fail with these words, or has to succeed where words are NULL. Where
 * is_timed the compiler is stopped after 1.5 seconds, else nobody should wait for what the program leaves. */
static double misbehave(const char *program, const char *words, bool is_timed)
{
    char cxx[PATH_MAX];
    write_program("bad-c++", program);
    snprintf(cxx, sizeof cxx, "%s/bad-c++", folder);
    double start = kn_os_now_ms();
    pid_t child = fork();
    int status = 1;
    if (child == 0) {
        setenv("KILN_CXX", cxx, 1);
        setenv("KILN_COMPILE_TIMEOUT", is_timed ? "1.5" : "2000", 1);
        bool is_good = compiles("int x;");
        if (!is_good && (!words || !strstr(kiln_error_message(), words)))
            fprintf(stderr, "%s\n", kiln_error_message());
        _exit(words ? is_good || !strstr(kiln_error_message(), words) : !is_good);
    }
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    return kn_os_now_ms() - start;
}

static const char find_output[] = "#!/bin/sh\nout=\nfor w; do [ \"$p\" = -o ] && out=$w; p=$w; done\n";

static char *with_output(char *text, size_t size, const char *rest)
{
    snprintf(text, size, "%s%s", find_output, rest);
    return text;
}

static void a_compiler_that_hangs(void **state)
{
    (void)state;
    double ms = misbehave("#!/bin/sh\nsleep 1800 &\nsleep 1800\n", "KILN_COMPILE_TIMEOUT", true);
    assert_true(ms > 1400 && ms < PATIENCE_S * 1e3);
    /* It says nothing more, and still runs. */
    ms = misbehave("#!/bin/sh\nexec >/dev/null 2>&1\nsleep 1800\n", "1.5 s", true);
    assert_true(ms < PATIENCE_S * 1e3);
    /* It never stops talking. */
    ms = misbehave("#!/bin/sh\nexec yes\n", "1.5 s", true);
    assert_true(ms < PATIENCE_S * 1e3);
}

/* A zombie that nobody has waited for runs no more. */
static bool is_running(pid_t process)
{
    char path[64];
    kn_blob stat = KN_BLOB_INIT;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    bool is = kill(process, 0) == 0 && kn_os_read_file(&stat, path) == KILN_OK &&
              !memmem(stat.data, stat.size, ") Z ", 4);
    kn_blob_free(&stat);
    return is;
}

/* A child process that it leaves behind holds the pipe: nobody waits for that, and it is ended. */
static void a_child_that_is_left_behind(void **state)
{
    (void)state;
    char text[2 * PATH_MAX], path[PATH_MAX], rest[PATH_MAX + 100];
    kn_blob number = KN_BLOB_INIT;
    snprintf(rest, sizeof rest, "sleep 1800 &\necho $! > %s/left\ncp /bin/true \"$out\"\n", folder);
    double ms = misbehave(with_output(text, sizeof text, rest), NULL, false);
    assert_true(ms < PATIENCE_S * 1e3);
    snprintf(path, sizeof path, "%s/left", folder);
    assert_int_equal(kn_os_read_file(&number, path), KILN_OK);
    pid_t left = (pid_t)strtol(number.data, NULL, 10);
    for (int i = 0; i < PATIENCE_S * 50 && is_running(left); i++)
        usleep(20000);
    assert_false(is_running(left));
    kn_blob_free(&number);
}

static void an_output_that_is_no_file(void **state)
{
    (void)state;
    static const char *const outputs[] = {"mkfifo \"$out\"\n",         "ln -s /etc/passwd \"$out\"\n",
                                          "mkdir \"$out\"\n",          "ln -s /dev/zero \"$out\"\n",
                                          "truncate -s 1T \"$out\"\n", "true\n"};
    char text[4096];
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        misbehave(with_output(text, sizeof text, outputs[i]), "what the C++ compiler made", false);
}

/* ---- what killed processes leave ---- */

static int count_entries(const char *path)
{
    DIR *d = opendir(path);
    int n = 0;
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

/* As if it had been there for two minutes. */
static void make_old(const char *path)
{
    struct timespec times[2];
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= 120;
    times[1] = times[0];
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void start_compile_and_die(const char *cxx)
{
    pid_t child = fork();
    if (child == 0) {
        setenv("KILN_CXX", cxx, 1);
        compiles("int x;");
        _exit(0);
    }
    for (int i = 0; i < PATIENCE_S * 100 && count_entries(getenv("TMPDIR")) == 0; i++)
        usleep(10000);
    usleep(100000);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void folders_of_killed_processes_are_swept(void **state)
{
    (void)state;
    char temporary[PATH_MAX], cxx[PATH_MAX], old[2 * PATH_MAX], link[PATH_MAX + 64], precious[PATH_MAX];
    snprintf(temporary, sizeof temporary, "%s/tmp", folder);
    snprintf(cxx, sizeof cxx, "%s/slow-c++", folder);
    assert_int_equal(kn_os_make_folders(temporary, 0700), KILN_OK);
    setenv("TMPDIR", temporary, 1);
    write_program("slow-c++", "#!/bin/sh\nexec sleep 30\n");
    start_compile_and_die(cxx);
    assert_int_equal(count_entries(temporary), 1);
    kn_os_workplace other;
    assert_int_equal(kn_os_workplace_make(&other), KILN_OK);
    kn_os_workplace_sweep(&other);
    kn_os_workplace_remove(&other);
    assert_int_equal(count_entries(temporary), 1); /* so young that it may not have been locked yet */

    DIR *d = opendir(temporary);
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        if (e->d_name[0] != '.')
            snprintf(old, sizeof old, "%s/%s", temporary, e->d_name);
    closedir(d);
    make_old(old);
    /* A folder in use, and a link to a folder of others, both as old. */
    kn_os_workplace live;
    assert_int_equal(kn_os_workplace_make(&live), KILN_OK);
    make_old(live.path);
    snprintf(precious, sizeof precious, "%s/precious", folder);
    assert_int_equal(kn_os_make_folders(precious, 0700), KILN_OK);
    write_program("precious/file", "x");
    make_old(precious);
    snprintf(link, sizeof link, "%s/kiln-work-abcdef", temporary);
    assert_int_equal(symlink(precious, link), 0);

    assert_int_equal(compiles_with("LAST", "", "c++ -DLAST=40", NULL), 0); /* a later process sweeps */
    assert_int_not_equal(access(old, F_OK), 0);
    assert_int_equal(access(live.path, F_OK), 0);
    assert_int_equal(count_entries(precious), 1);
    kn_os_workplace_remove(&live);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(count_entries(temporary), 0);
    unsetenv("TMPDIR");
}

/* ---- warnings ---- */

static void warnings_are_about_the_users_lines(void **state)
{
    (void)state;
    static const char source[] =
        "static int own() { int not_the_users; return 1; }\n"
        "#line 1 \"my_kernel.preamble\"\nint helper(int a) { if (a = 2) return 1; return 0; }\n"
        "#line 5 \"kiln_my_kernel.cpp\"\nint other() { int not_the_users_either;\n"
        "#line 1 \"my_kernel\"\n int lost;\n int lost_too;\n"
        "#line 20 \"kiln_my_kernel.cpp\"\n return own(); }\n";
    kn_compile_request request = {.source = source, .name = "my_kernel", .is_generated = true};
    for (int cuda = 0; cuda < 2; cuda++) {
        kn_compile_result result = KN_COMPILE_RESULT_INIT;
        if (cuda && !kn_compile_identity(KN_CUDA)[0])
            break;
        if (cuda)
            assert_int_equal(kn_target_parse(&request.target, "sm_80"), KILN_OK);
        else
            kn_target_host(&request.target);
        if (kn_compile(&result, &request) != KILN_OK)
            fail_msg("%s", kiln_error_log());
        const char *text = kn_str_text(&result.warnings);
        assert_non_null(strstr(text, "my_kernel:1: warning: "));
        assert_non_null(strstr(text, "my_kernel:2: warning: "));
        assert_non_null(strstr(text, "my_kernel.preamble:1: warning: "));
        assert_null(strstr(text, "not_the_users"));
        assert_ptr_equal(strstr(strstr(text, "lost_too") + 1, "lost_too"), NULL);
        kn_compile_result_free(&result);
    }
}

static int make_folder(void **state)
{
    (void)state;
    char made[512], whole[PATH_MAX];
    if (kn_os_make_temporary_folder(made, sizeof made) != KILN_OK || !realpath(made, whole) ||
        (size_t)snprintf(folder, sizeof folder, "%s", whole) >= sizeof folder)
        return -1;
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[PATH_MAX];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identities_are_not_cut), /* first: forks before anything is remembered */
        cmocka_unit_test(identities_follow_what_is_run),
        cmocka_unit_test(every_word_is_given),
        cmocka_unit_test(relative_names),
        cmocka_unit_test(a_compiler_that_hangs),
        cmocka_unit_test(a_child_that_is_left_behind),
        cmocka_unit_test(an_output_that_is_no_file),
        cmocka_unit_test(folders_of_killed_processes_are_swept),
        cmocka_unit_test(warnings_are_about_the_users_lines),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
