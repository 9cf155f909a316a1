/*
 * bench_first_use.c - what the first use of a kernel costs: compiled now (C1), or found on disk by a fresh
 * process (C4).
 *
 * Both are measured in processes of their own, over a cache folder of their own, so that the user's cache
 * neither helps nor fills up.
 */
#include "bench.h"
#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEFINITIONS = 9, PROCESSES = 11, ELEMENTS = 1 << 20, MAX_WORDS = 4096 };

extern char **environ;

/* ---- in the child ---- */

static kiln_status make_input(bench *b, kiln_array **out)
{
    const int64_t shape[1] = {ELEMENTS};
    kiln_status status = kiln_array_ones(out, KILN_FLOAT32, 1, shape, b->device);
    return status == KILN_OK ? kiln_device_synchronize(b->device) : status;
}

/* Milliseconds of the compiler alone on the source of a kernel that has just been compiled; NaN where it
 * cannot be had. */
static double compiler_alone(bench *b, kiln_kernel *kernel, kiln_array *z, const kiln_arg *in,
                             double reported)
{
    char *source = NULL;
    double ms = NAN;
    if (!b->is_cuda)
        return reported;
    if (kiln_kernel_source(&source, kernel, &z, 1, in, 1, NULL, NULL) != KILN_OK ||
        !bench_driver_compile(b, source, NULL, &ms))
        ms = NAN;
    free(source);
    return ms;
}

/* Prints "TOTAL COMPILE ALONE", in milliseconds, of a kernel whose body nobody has compiled before. */
static bool define_once(bench *b, kiln_array *x, int number)
{
    char body[256];
    kiln_kernel *kernel = NULL;
    kiln_array *z = NULL;
    kiln_arg in[] = {kiln_arg_array(x)};
    kiln_call_info info = KILN_CALL_INFO_INIT;
    snprintf(body, sizeof body, "T q = x * (T)%d.%d; z = q * q - x / (q + (T)1)", number + 1, (int)getpid());
    double begin = cli_now_ms();
    bool ok = bench_check(b, kiln_elementwise_create(&kernel, "T x", "T z", body, "bench_new", NULL)) &&
              bench_check(b, kiln_kernel_call(kernel, &z, 1, in, 1, NULL)) &&
              bench_check(b, kiln_stream_synchronize(b->stream));
    double total = cli_now_ms() - begin;
    ok = ok && bench_check(b, kiln_kernel_last_call(&info));
    if (ok && info.origin != KILN_ORIGIN_COMPILER)
        ok = bench_fail(b, "the kernel was not compiled");
    if (ok)
        printf("%.4f %.4f %.4f\n", total, info.compile_ms, compiler_alone(b, kernel, z, in, info.compile_ms));
    kiln_array_free(z);
    kiln_kernel_free(kernel);
    return ok;
}

static bool define_all(bench *b)
{
    kiln_array *x = NULL;
    bool ok = bench_check(b, make_input(b, &x));
    for (int k = 0; k < DEFINITIONS + 1 && ok; k++)
        ok = define_once(b, x, k);
    kiln_array_free(x);
    return ok;
}

static bool is_mapped(const char *name)
{
    char line[4096];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && !found && fgets(line, sizeof line, maps))
        found = strstr(line, name) != NULL;
    if (maps)
        fclose(maps);
    return found;
}

/* Prints "LAUNCH RESULT ORIGIN": milliseconds from the definition to the end of the call, and to the result.
 */
static bool call_first(bench *b)
{
    kiln_array *x = NULL, *z = NULL;
    kiln_kernel *kernel = NULL;
    kiln_call_info info = KILN_CALL_INFO_INIT;
    /* The context is there before the clock starts. */
    if (!bench_check(b, make_input(b, &x)))
        return false;
    kiln_arg in[] = {kiln_arg_array(x)};
    double begin = cli_now_ms();
    bool ok = bench_check(b, kiln_elementwise_create(&kernel, "T x", "T z", "z = x * x + (T)1", "bench_first",
                                                     NULL)) &&
              bench_check(b, kiln_kernel_call(kernel, &z, 1, in, 1, NULL));
    double launched = cli_now_ms() - begin;
    ok = ok && bench_check(b, kiln_stream_synchronize(b->stream));
    double done = cli_now_ms() - begin;
    ok = ok && bench_check(b, kiln_kernel_last_call(&info));
    if (ok && info.origin == KILN_ORIGIN_DISK && is_mapped("libnvrtc"))
        ok = bench_fail(b, "NVRTC was loaded although the kernel was on disk");
    if (ok)
        printf("%.4f %.4f %d\n", launched, done, (int)info.origin);
    kiln_array_free(z);
    kiln_array_free(x);
    kiln_kernel_free(kernel);
    return ok;
}

int bench_child_run(bench *b, const char *name)
{
    bool ok = strcmp(name, "child-c1") == 0 ? define_all(b) : call_first(b);
    if (!ok)
        fprintf(stderr, "%s\n", b->error);
    return ok ? CLI_OK : CLI_FAILED;
}

/* ---- in the parent ---- */

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status, (void)kind, (void)where;
    return remove(path);
}

/* The environment with KILN_CACHE_DIR in place of what said where the cache is. */
static void change_environment(char **out, char *setting)
{
    int count = 0;
    for (char **word = environ; *word && count < MAX_WORDS - 2; word++)
        if (strncmp(*word, "KILN_CACHE", 10) != 0 && strncmp(*word, "KILN_COMPILE=", 13) != 0)
            out[count++] = *word;
    out[count++] = setting;
    out[count] = NULL;
}

static bool spawn(bench *b, const char *child, const char *folder, int write_end, pid_t *pid)
{
    static char *words[MAX_WORDS];
    char setting[512], device[32], command[] = "bench", option[] = "--target", name[32];
    snprintf(setting, sizeof setting, "KILN_CACHE_DIR=%s", folder);
    snprintf(name, sizeof name, "%s", child);
    kiln_device_name(b->device, device, sizeof device);
    change_environment(words, setting);
    char program[] = "kiln", *arguments[] = {program, command, name, option, device, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, write_end, STDOUT_FILENO);
    int failed = posix_spawn(pid, "/proc/self/exe", &actions, NULL, arguments, words);
    posix_spawn_file_actions_destroy(&actions);
    return !failed || bench_fail(b, "a process could not be started: %s", strerror(failed));
}

/* Runs a child and reads up to `room` lines of three numbers; *count how many there were. */
static bool run_child(bench *b, const char *child, const char *folder, double (*lines)[3], int room,
                      int *count)
{
    int ends[2], status = 0;
    pid_t pid;
    *count = 0;
    if (pipe(ends) != 0)
        return bench_fail(b, "a pipe could not be made: %s", strerror(errno));
    bool ok = spawn(b, child, folder, ends[1], &pid);
    close(ends[1]);
    FILE *file = fdopen(ends[0], "r");
    while (ok && file && *count < room &&
           fscanf(file, "%lf %lf %lf", &lines[*count][0], &lines[*count][1], &lines[*count][2]) == 3)
        ++*count;
    if (file)
        fclose(file);
    if (ok && (waitpid(pid, &status, 0) != pid || status != 0))
        ok = bench_fail(b, "the process that measures this row failed");
    return ok && (*count > 0 || bench_fail(b, "the process that measures this row printed nothing"));
}

/* The first definition also loads the compiler: it is reported apart. */
static bool run_definitions(bench *b, const char *folder, bench_result *out)
{
    double lines[DEFINITIONS + 1][3] = {{0}}, total[DEFINITIONS], compile[DEFINITIONS], alone[DEFINITIONS];
    int count;
    if (!run_child(b, "child-c1", folder, lines, DEFINITIONS + 1, &count))
        return false;
    if (count != DEFINITIONS + 1)
        return bench_fail(b, "the process that measures this row printed %d lines", count);
    for (int k = 0; k < DEFINITIONS; k++) {
        total[k] = lines[k + 1][0] * 1e3;
        compile[k] = lines[k + 1][1];
        alone[k] = lines[k + 1][2] * 1e3;
    }
    out->first_ms = lines[0][0];
    out->time = bench_summary(total, DEFINITIONS);
    out->compile_ms = bench_summary(compile, DEFINITIONS).us;
    out->floor = bench_summary(alone, DEFINITIONS);
    return true;
}

static bool run_processes(bench *b, const char *folder, bench_result *out)
{
    double line[1][3] = {{0}}, launched[PROCESSES], done[PROCESSES];
    int count;
    /* The first one compiles and fills the cache. */
    bool ok = run_child(b, "child-c4", folder, line, 1, &count);
    for (int k = 0; k < PROCESSES && ok; k++) {
        ok = run_child(b, "child-c4", folder, line, 1, &count);
        if (ok && (int)line[0][2] != KILN_ORIGIN_DISK)
            ok = bench_fail(b, "the kernel was not found on disk");
        launched[k] = line[0][0] * 1e3;
        done[k] = line[0][1] * 1e3;
    }
    if (ok) {
        out->time = bench_summary(launched, PROCESSES);
        out->result_us = bench_summary(done, PROCESSES).us;
    }
    return ok;
}

bool bench_first_use_run(bench *b, const bench_row *row, bench_result *out)
{
    const char *parent = secure_getenv("TMPDIR");
    char folder[256];
    snprintf(folder, sizeof folder, "%s/kiln-bench-XXXXXX", parent && strlen(parent) < 200 ? parent : "/tmp");
    if (!mkdtemp(folder))
        return bench_fail(b, "a folder in %s could not be made: %s", parent, strerror(errno));
    bool ok = row->kind == BENCH_DEFINITION ? run_definitions(b, folder, out) : run_processes(b, folder, out);
    out->mode = "wall";
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return ok;
}
