/* A program with rights that its caller lacks (set-user-ID) does nothing that the caller's environment says:
 * no compiler, no header, no template, no folder of the caller's. As root alone: 77 elsewhere. */
#include <kiln/kiln.h>

#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CALLER = 12345, OTHER = 23456, SKIP = 77 };

/* A program that is not dumpable cannot be looked through for leaks. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

static char place[200], program[256];

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    return 1;
}

/* ---- the program itself ---- */

static kiln_status double_it(kiln_array *x, kiln_array **z)
{
    kiln_kernel *kernel = NULL;
    kiln_arg in[] = {kiln_arg_array(x)};
    kiln_status status = kiln_elementwise_create(&kernel, "T x", "T z", "z = x * 2", "doubled", NULL);
    if (status == KILN_OK)
        status = kiln_kernel_call(kernel, z, 1, in, 1, NULL);
    kiln_kernel_free(kernel);
    return status;
}

static int run_program(void)
{
    static const float values[3] = {1, 2, 3};
    const int64_t shape[1] = {3};
    float results[3] = {0, 0, 0};
    kiln_array *x = NULL, *z = NULL;
    kiln_status status = kiln_array_from_host(&x, values, KILN_FLOAT32, 1, shape, KILN_DEVICE_HOST);
    if (status == KILN_OK)
        status = double_it(x, &z);
    if (status == KILN_OK)
        status = kiln_array_to_host(z, results, sizeof results);
    kiln_array_free(x);
    kiln_array_free(z);
    if (status != KILN_OK)
        return fail("the program", kiln_error_message());
    return results[0] == 2 && results[1] == 4 && results[2] == 6 ? 0 : fail("the program", "wrong results");
}

/* ---- its caller ---- */

/* Leaves a mark and goes on as the real one would. */
static bool write_trap(const char *name)
{
    char path[300], text[900];
    snprintf(path, sizeof path, "%s/traps/%s", place, name);
    int length = snprintf(text, sizeof text,
                          "#!/bin/sh\necho %s >>%s/marks/ran\nreal=/usr/bin/%s\n"
                          "[ -x $real ] || real=$(unset COMPILER_PATH; "
                          "/usr/bin/gcc -print-prog-name=%s)\nexec $real \"$@\"\n",
                          name, place, name, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);
    bool is_written = fd >= 0 && write(fd, text, (size_t)length) == length;
    if (fd >= 0)
        close(fd);
    return is_written;
}

static void start_as_caller(void)
{
    static const char *const variables[] = {"KILN_CXX=%s/traps/c++",
                                            "CXX=%s/traps/c++",
                                            "PATH=%s/traps:/usr/bin:/bin",
                                            "COMPILER_PATH=%s/traps",
                                            "TMPDIR=%s/marks",
                                            "KILN_CACHE_DIR=%s/marks/cache",
                                            "XDG_CACHE_HOME=%s/marks",
                                            "HOME=%s/marks",
                                            "KILN_DUMP_SOURCE=%s/marks",
                                            "CUDA_HOME=%s/traps",
                                            "KILN_LIBCUDA=%s/traps/libcuda.so"};
    enum { COUNT = sizeof variables / sizeof *variables };
    static char texts[COUNT][300];
    char *environment[COUNT + 2], *arguments[] = {program, (char *)"run", NULL};
    for (int i = 0; i < COUNT; i++) {
        snprintf(texts[i], sizeof texts[i], variables[i], place);
        environment[i] = texts[i];
    }
    environment[COUNT] = (char *)"KILN_TARGET=host";
    environment[COUNT + 1] = NULL;
    if (setgroups(0, NULL) == 0 && setgid(CALLER) == 0 && setuid(CALLER) == 0)
        execve(program, arguments, environment);
    _exit(9);
}

static int call_program(void)
{
    int state = 0;
    pid_t child = fork();
    if (child == 0)
        start_as_caller();
    if (child < 0 || waitpid(child, &state, 0) != child || !WIFEXITED(state))
        return fail("the program", "did not end by itself");
    return WEXITSTATUS(state);
}

static bool copy_self(void)
{
    char command[600];
    snprintf(command, sizeof command, "cp /proc/%d/exe %s", (int)getpid(), program);
    return system(command) == 0;
}

static bool make_place(void)
{
    static const char *const traps[] = {"c++", "g++", "cc",      "gcc",     "clang++",
                                        "as",  "ld",  "cc1plus", "collect2"};
    char path[300];
    snprintf(place, sizeof place, "/tmp/kiln-setuid-XXXXXX");
    if (!mkdtemp(place) || chmod(place, 0755) != 0)
        return false;
    snprintf(program, sizeof program, "%s/program", place);
    snprintf(path, sizeof path, "%s/traps", place);
    if (mkdir(path, 0755) != 0 || !copy_self())
        return false;
    for (size_t i = 0; i < sizeof traps / sizeof *traps; i++)
        if (!write_trap(traps[i]))
            return false;
    return true;
}

/* The number of files that the caller's environment had made in the folder of marks. */
static int count_marks(void)
{
    char command[400];
    int count = -1;
    snprintf(command, sizeof command, "find %s/marks -mindepth 1 | wc -l", place);
    FILE *found = popen(command, "r");
    if (!found || fscanf(found, "%d", &count) != 1)
        count = -1;
    if (found)
        pclose(found);
    return count;
}

static bool empty_marks(void)
{
    char command[600];
    snprintf(command, sizeof command, "rm -rf %s/marks && mkdir -m 1777 %s/marks", place, place);
    return system(command) == 0;
}

static int check(uid_t owner, mode_t mode)
{
    int code;
    if (!empty_marks() || chown(program, owner, owner) != 0 || chmod(program, mode) != 0)
        return fail(program, "cannot be set up");
    code = call_program();
    if (code != 0)
        return code;
    if (!(mode & (S_ISUID | S_ISGID))) /* the traps work */
        return count_marks() > 3 ? 0 : fail("a plain program", "did not follow its environment");
    return count_marks() == 0 ? 0 : fail("a set-user-ID program", "did what its caller's environment says");
}

static int check_all(void)
{
    int code = check(0, 0755);
    if (code == 0)
        code = check(0, 04755);
    if (code == 0)
        code = check(OTHER, 04755);
    if (code == 0)
        code = check(OTHER, 02755);
    return code;
}

static int run_as_root(void)
{
    char command[300];
    int code;
    if (geteuid() != 0) {
        fprintf(stderr, "this test changes users, which takes root\n");
        return SKIP;
    }
    code = make_place() ? check_all() : fail(place, "cannot be set up");
    snprintf(command, sizeof command, "rm -rf %s", place);
    return system(command) == 0 ? code : 1;
}

/* Where the system ignores the bit (nosuid) there is nothing to be seen. */
static int run_with_rights(const char *self)
{
    struct stat info;
    bool has_bit = stat(self, &info) == 0 && (info.st_mode & (S_ISUID | S_ISGID));
    if (has_bit && geteuid() == getuid() && getegid() == getgid())
        return SKIP;
    return run_program();
}

int main(int argc, char **argv)
{
    return argc > 1 && strcmp(argv[1], "run") == 0 ? run_with_rights(argv[0]) : run_as_root();
}
