/*
 * bench_first_use.c - what the first use of a kernel costs: compiled now (C1, C2), or found on disk by a
 * fresh process (C4).
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

enum { DEFINITIONS = 9, PROCESSES = 11, FEWEST = 3, MAX_WORDS = 4096 };

/* Few where rows have little time: a look at them rather than a measurement. */
static int repeats(const bench *b, int most)
{
    return b->seconds < 0.03 ? FEWEST : most;
}

extern char **environ;

/* ---- in the child ---- */

/* One definition and its first call. */
typedef struct use {
    const bench_row *row; /* with the number in its texts */
    bench_set inputs;
    kiln_array *z;
    kiln_kernel *kernel;
    double launched_ms, done_ms, best_ms; /* to the best form, where a quick one came first */
    kiln_call_info info;
} use;

/* Ones, which no kernel has to make. */
static bool make_input(bench *b, bench_set *out, const bench_row *row, int k)
{
    const bench_operand *o = &row->operand[k];
    int64_t shape[BENCH_MAX_NDIM];
    int ndim = bench_shape_read(shape, o->shape, 1);
    if (o->shares)
        out->base[k] = kiln_array_retain(out->base[o->shares - 1]);
    else if (!bench_check(b, kiln_array_ones(&out->base[k], o->dtype, ndim, shape, b->device)))
        return false;
    return bench_view_make(b, &out->array[k], out->base[k], o);
}

static bool make_inputs(bench *b, bench_set *out, const bench_row *row)
{
    for (int k = 0; k < row->n_operands - 1; k++)
        if (!make_input(b, out, row, k))
            return false;
    return bench_check(b, kiln_device_synchronize(b->device));
}

static void free_inputs(bench_set *inputs)
{
    for (int k = 0; k < BENCH_MAX_OPERANDS; k++) {
        kiln_array_free(inputs->array[k]);
        kiln_array_free(inputs->base[k]);
    }
}

/* The context is there before the clock starts. */
static bool use_once(bench *b, use *u)
{
    kiln_arg in[BENCH_MAX_OPERANDS];
    int axes[BENCH_MAX_NDIM], count = bench_row_arguments(in, u->row, &u->inputs);
    kiln_call_options options = bench_reduction_call(axes, u->row);
    u->info = (kiln_call_info)KILN_CALL_INFO_INIT;
    double begin = cli_now_ms();
    bool ok = bench_row_define(b, &u->kernel, u->row) &&
              bench_check(b, kiln_kernel_call(u->kernel, &u->z, 1, in, count, &options));
    u->launched_ms = cli_now_ms() - begin;
    ok = ok && bench_check(b, kiln_stream_synchronize(b->stream));
    u->done_ms = cli_now_ms() - begin;
    kiln_wait_for_best(-1);
    u->best_ms = cli_now_ms() - begin;
    return ok && bench_check(b, kiln_kernel_last_call(&u->info));
}

static void end_use(use *u)
{
    kiln_array_free(u->z);
    kiln_kernel_free(u->kernel);
    u->z = NULL;
    u->kernel = NULL;
}

/* A reduction as one writes it by hand: a block for each result, a step between its elements, a tree in
 * shared memory. Into it go the row's own texts: preamble, reduce type, type of the results, identity, map,
 * reduce expression, post. */
static const char by_hand[] =
    "%s\n"
    "typedef float T;\n"
    "typedef %s R;\n"
    "typedef %s Y;\n"
    "extern \"C\" __global__ void by_hand(const T *in, Y *out, long long n, long long step, long long row)\n"
    "{\n"
    "    const bool _follows = false;\n"
    "    __shared__ R part[256];\n"
    "    R a = %s;\n"
    "    for (long long _J = threadIdx.x; _J < n; _J += 256) {\n"
    "        T x = in[blockIdx.x * row + _J * step];\n"
    "        R b = %s;\n"
    "        a = %s;\n"
    "    }\n"
    "    part[threadIdx.x] = a;\n"
    "    for (int half = 128; half > 0; half /= 2) {\n"
    "        __syncthreads();\n"
    "        if (threadIdx.x < half) {\n"
    "            R a = part[threadIdx.x], b = part[threadIdx.x + half];\n"
    "            part[threadIdx.x] = %s;\n"
    "        }\n"
    "    }\n"
    "    if (threadIdx.x == 0) {\n"
    "        R a = part[0];\n"
    "        Y y;\n"
    "        %s;\n"
    "        out[blockIdx.x] = y;\n"
    "    }\n"
    "}\n";

/* The source that is compiled as a floor: a kernel written by hand. Allocated with malloc; NULL: none. */
static char *source_for_floor(const use *u)
{
    const bench_reduction *f = u->row->reduction;
    char *source = NULL;
    size_t size;
    if (u->row->by_hand)
        return strdup(u->row->by_hand);
    FILE *file = f ? open_memstream(&source, &size) : NULL;
    if (!file)
        return NULL;
    bool is_place = u->row->operand[1].dtype == KILN_INT64;
    fprintf(file, by_hand, f->preamble ? f->preamble : "", f->type ? f->type : "T",
            is_place ? "long long" : "T", f->identity ? f->identity : "{-3.402823466e+38f, 0}", f->map,
            f->reduce, f->reduce, f->post);
    if (fclose(file) == 0)
        return source;
    free(source);
    return NULL;
}

/* Milliseconds of the compiler alone; NaN where it cannot be had. */
static double compiler_alone(bench *b, const use *u)
{
    double ms = NAN;
    if (!b->is_cuda)
        return u->info.compile_ms;
    char *source = source_for_floor(u);
    if (!source || !bench_driver_compile(b, source, NULL, &ms))
        ms = NAN;
    free(source);
    return ms;
}

/* The text with a number in place of '#'. */
static const char *numbered(char *out, size_t size, const char *text, int number)
{
    size_t before = text ? strcspn(text, "#") : 0;
    if (!text || !text[before])
        return text;
    snprintf(out, size, "%.*s%d.%d%s", (int)before, text, number + 1, (int)getpid(), text + before + 1);
    return out;
}

/* Prints "TOTAL COMPILE ALONE BEST", in milliseconds, of a kernel whose text nobody has compiled before. */
static bool define_once(bench *b, use *u, const bench_row *row, int number)
{
    char text[256], by_hand[4096];
    bench_reduction reduction;
    bench_row numbered_row = *row;
    numbered_row.body = numbered(text, sizeof text, row->body, number);
    numbered_row.by_hand = numbered(by_hand, sizeof by_hand, row->by_hand, number);
    if (row->expression)
        numbered_row.expression = numbered(text, sizeof text, row->expression, number);
    if (row->reduction) {
        reduction = *row->reduction;
        reduction.map = numbered(text, sizeof text, reduction.map, number);
        numbered_row.reduction = &reduction;
    }
    u->row = &numbered_row;
    bool ok = use_once(b, u);
    if (ok && u->info.origin != KILN_ORIGIN_COMPILER)
        ok = bench_fail(b, "the kernel was not compiled");
    if (ok)
        printf("%.4f %.4f %.4f %.4f\n", u->done_ms, u->info.compile_ms, compiler_alone(b, u), u->best_ms);
    end_use(u);
    return ok;
}

static bool define_all(bench *b, const bench_row *row)
{
    use u = {0};
    bool ok = make_inputs(b, &u.inputs, row);
    for (int k = 0, count = repeats(b, DEFINITIONS); k < count + 1 && ok; k++)
        ok = define_once(b, &u, row, k);
    free_inputs(&u.inputs);
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

/* Prints "LAUNCH RESULT ORIGIN BEST": milliseconds from the definition to the end of the call, and to the
 * result.
 */
static bool call_first(bench *b, const bench_row *row)
{
    use u = {.row = row};
    bool ok = make_inputs(b, &u.inputs, row) && use_once(b, &u);
    if (ok && u.info.origin == KILN_ORIGIN_DISK && is_mapped("libnvrtc"))
        ok = bench_fail(b, "NVRTC was loaded although the kernel was on disk");
    if (ok)
        printf("%.4f %.4f %d %.4f\n", u.launched_ms, u.done_ms, (int)u.info.origin, u.best_ms);
    end_use(&u);
    free_inputs(&u.inputs);
    return ok;
}

int bench_child_run(bench *b, const char *name)
{
    bench_rows rows;
    /* as programs do that say nothing */
    bool ok = kiln_set_forms(KILN_FORMS_BOTH) == KILN_OK && bench_rows_make(&rows, b->is_cuda, b->scale);
    const bench_row *row = ok ? bench_rows_find(&rows, name + strlen(BENCH_CHILD)) : NULL;
    if (row && row->kind == BENCH_DEFINITION)
        ok = define_all(b, row);
    else if (row && row->kind == BENCH_PROCESS)
        ok = call_first(b, row);
    else
        ok = bench_fail(b, "there is no row of first use behind '%s'", name);
    if (!ok)
        cli_complain("kiln bench: %s", b->error);
    bench_rows_free(&rows);
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

static bool spawn(bench *b, const char *row, const char *folder, int write_end, pid_t *pid)
{
    static char *words[MAX_WORDS];
    char setting[512], device[32], option[] = "--target", name[64], seconds[40];
    snprintf(setting, sizeof setting, "KILN_CACHE_DIR=%s", folder);
    snprintf(name, sizeof name, BENCH_CHILD "%s", row);
    snprintf(seconds, sizeof seconds, "--seconds=%g", b->seconds);
    kiln_device_name(b->device, device, sizeof device);
    change_environment(words, setting);
    char program[] = "kiln-bench", *arguments[] = {program, name, option, device, seconds, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, write_end, STDOUT_FILENO);
    int failed = posix_spawn(pid, "/proc/self/exe", &actions, NULL, arguments, words);
    posix_spawn_file_actions_destroy(&actions);
    return !failed || bench_fail(b, "a process could not be started: %s", strerror(failed));
}

/* Runs a row's child and reads up to `capacity` lines of four numbers; *count: their number. */
static bool run_child(bench *b, const char *row, const char *folder, double (*lines)[4], int capacity,
                      int *count)
{
    int ends[2], status = 0;
    pid_t pid;
    *count = 0;
    if (pipe(ends) != 0)
        return bench_fail(b, "a pipe could not be made: %s", strerror(errno));
    bool ok = spawn(b, row, folder, ends[1], &pid);
    close(ends[1]);
    FILE *file = fdopen(ends[0], "r");
    while (ok && file && *count < capacity &&
           fscanf(file, "%lf %lf %lf %lf", &lines[*count][0], &lines[*count][1], &lines[*count][2],
                  &lines[*count][3]) == 4)
        ++*count;
    if (file)
        fclose(file);
    if (ok && (waitpid(pid, &status, 0) != pid || status != 0))
        ok = bench_fail(b, "the process that measures this row failed");
    return ok && (*count > 0 || bench_fail(b, "the process that measures this row printed nothing"));
}

/* The first definition also loads the compiler: it is reported apart. */
static bool run_definitions(bench *b, const char *row, const char *folder, bench_result *out)
{
    double lines[DEFINITIONS + 1][4] = {{0}}, total[DEFINITIONS], compile[DEFINITIONS], alone[DEFINITIONS],
                               best[DEFINITIONS];
    int count, wanted = repeats(b, DEFINITIONS);
    if (!run_child(b, row, folder, lines, wanted + 1, &count))
        return false;
    if (count != wanted + 1)
        return bench_fail(b, "the process that measures this row printed %d lines", count);
    for (int k = 0; k < wanted; k++) {
        total[k] = lines[k + 1][0] * 1e3;
        compile[k] = lines[k + 1][1];
        alone[k] = lines[k + 1][2] * 1e3;
        best[k] = lines[k + 1][3];
    }
    out->first_ms = lines[0][0];
    out->time = bench_summary(total, wanted);
    out->compile_ms = bench_summary(compile, wanted).us;
    out->best_ms = bench_summary(best, wanted).us;
    out->floor = bench_summary(alone, wanted);
    return true;
}

static bool run_processes(bench *b, const char *row, const char *folder, bench_result *out)
{
    double line[1][4] = {{0}}, launched[PROCESSES], done[PROCESSES];
    int count, wanted = repeats(b, PROCESSES);
    /* The first one compiles and fills the cache. */
    bool ok = run_child(b, row, folder, line, 1, &count);
    for (int k = 0; k < wanted && ok; k++) {
        ok = run_child(b, row, folder, line, 1, &count);
        if (ok && (int)line[0][2] != KILN_ORIGIN_DISK)
            ok = bench_fail(b, "the kernel was not found on disk");
        launched[k] = line[0][0] * 1e3;
        done[k] = line[0][1] * 1e3;
    }
    if (ok) {
        out->time = bench_summary(launched, wanted);
        out->result_us = bench_summary(done, wanted).us;
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
    bool ok = (row->kind == BENCH_DEFINITION ? run_definitions : run_processes)(b, row->name, folder, out);
    out->mode = "wall";
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return ok;
}
