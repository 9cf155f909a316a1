/* forms - kernels in two forms (kiln_form), a scenario a process.
 *
 * usage: forms [--target TARGET] SCENARIO
 *
 * Compilers that fail, hang or are killed for the best form alone: a script in front of the C++ compiler,
 * which knows that form by -O3. Exit status 77: the scenario asks for something that is not here. */
#include <kiln/kiln.h>

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "own_cache.h"

enum { SKIPPED = 77 };

static void fail_at(int line, const char *what)
{
    fprintf(stderr, "forms.c:%d: %s: %s\n", line, what, kiln_error_message());
    exit(1);
}
#define REQUIRE(condition) ((condition) ? (void)0 : fail_at(__LINE__, #condition))
#define OK(call) REQUIRE((call) == KILN_OK)

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static bool is_soak(void)
{
    return getenv("KILN_SOAK") != NULL;
}

/* Does the fake driver run what is launched? It does not, and then there are no values to look at. */
static bool has_values = true;

static kiln_device device(void)
{
    kiln_device d;
    OK(kiln_device_current(&d));
    return d;
}

/* ---- a kernel and its call ---- */

enum { N = 1000 };

static bool is_reduction; /* the kernel sums its elements up, which float32 holds */

static kiln_kernel *make_kernel(int number)
{
    char body[64];
    kiln_kernel *k = NULL;
    snprintf(body, sizeof body, "%sx * 2 + %d", is_reduction ? "" : "z = ", number);
    if (is_reduction)
        OK(kiln_reduction_create(&k, "T x", "T z", body, "a + b", "z = a", "0", "doubled", NULL));
    else
        OK(kiln_elementwise_create(&k, "T x", "T z", body, "doubled", NULL));
    return k;
}

/* Every second element: of what lies side by side the best form may be there as soon as the quick one. */
static kiln_array *make_input(void)
{
    kiln_array *all = NULL, *x = NULL;
    OK(kiln_array_arange(&all, 0, 2 * N, 1, KILN_FLOAT32, device()));
    OK(kiln_array_index(&x, all, "::2"));
    kiln_array_free(all);
    return x;
}

static void check_values(kiln_array *z, int number)
{
    int count = is_reduction ? 1 : N;
    float *values = malloc(N * sizeof *values);
    REQUIRE(values);
    OK(kiln_array_to_host(z, values, (size_t)count * sizeof *values));
    for (int k = 0; k < count && has_values; ++k)
        REQUIRE(values[k] == (float)(is_reduction ? 2 * N * (N - 1) + N * number : 4 * k + number));
    free(values);
}

/* Calls the kernel and says in which form. */
static kiln_call_info call(kiln_kernel *k, int number, kiln_array *x, unsigned flags)
{
    kiln_array *z = NULL;
    kiln_arg in[] = {kiln_arg_array(x)};
    kiln_call_info info = KILN_CALL_INFO_INIT;
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    options.flags = flags;
    OK(kiln_kernel_call(k, &z, 1, in, 1, &options));
    OK(kiln_kernel_last_call(&info));
    check_values(z, number);
    kiln_array_free(z);
    return info;
}

/* Both forms are compiled at once, the quick one in less time; a process that does not get its processor may
 * find the best one first. */
static bool comes_first(kiln_call_info info)
{
    return info.form == KILN_FORM_QUICK || (info.form == KILN_FORM_BEST && info.pending == 0);
}

static kiln_cache_stats stats(void)
{
    kiln_cache_stats s = KILN_CACHE_STATS_INIT;
    OK(kiln_cache_get_stats(&s));
    return s;
}

/* ---- the compiler ---- */

/* For the best form alone the script does what the file beside it says. */
static const char script_text[] = "#!/bin/sh\n"
                                  "for word; do [ \"$word\" = -O3 ] && best=1; done\n"
                                  "how=$(cat \"${0%/*}/how\")\n"
                                  "[ -z \"$best\" ] && [ \"$how\" = fail-quick ] && exit 1\n"
                                  "[ -z \"$best\" ] && exec ${REAL_CXX:-c++} \"$@\"\n"
                                  "case $how in\n"
                                  "fail) echo 'k.cpp:1: error: no' >&2; exit 1;;\n"
                                  "hang) sleep 60;;\n"
                                  "die) kill -9 $$;;\n"
                                  "slow) sleep 0.5;;\n"
                                  "esac\n"
                                  "exec ${REAL_CXX:-c++} \"$@\"\n";
static char folder[256];

static void write_text(const char *name, const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    REQUIRE(file && fputs(text, file) >= 0 && fclose(file) == 0 && chmod(path, 0755) == 0);
}

static void remove_folder(void)
{
    static const char *const names[] = {"compiler", "how"};
    char path[300];
    for (size_t k = 0; k < sizeof names / sizeof *names; ++k) {
        snprintf(path, sizeof path, "%s/%s", folder, names[k]);
        unlink(path);
    }
    rmdir(folder);
}

static void misbehave(const char *how)
{
    char path[300];
    const char *real = getenv("KILN_CXX");
    if (real)
        setenv("REAL_CXX", real, 1);
    snprintf(folder, sizeof folder, "/tmp/forms-XXXXXX");
    REQUIRE(mkdtemp(folder) && chmod(folder, 0755) == 0);
    write_text("compiler", script_text);
    write_text("how", how);
    snprintf(path, sizeof path, "%s/compiler", folder);
    setenv("KILN_CXX", path, 1);
}

static void need_host(void)
{
    if (KILN_DEVICE_IS_CUDA(device()))
        exit(SKIPPED);
}

/* ---- the log ---- */

static atomic_int warnings;
static char last_warning[512];

static void count_warnings(kiln_log_level level, const char *message, void *user)
{
    (void)user;
    if (level != KILN_LOG_WARNING)
        return;
    snprintf(last_warning, sizeof last_warning, "%s", message);
    atomic_fetch_add(&warnings, 1);
}

/* ---- scenarios ---- */

/* The quick form first, the best one later; a new kernel of the same text finds the best one at once. */
static void begins_quickly(void)
{
    kiln_kernel *k = make_kernel(1), *again = make_kernel(1);
    kiln_array *x = make_input();
    REQUIRE(kiln_wait_for_best(-1)); /* of what fills the input */
    kiln_cache_stats before = stats();
    kiln_call_info info = call(k, 1, x, 0);
    REQUIRE(comes_first(info) && info.pending <= 1 && info.origin == KILN_ORIGIN_COMPILER);
    REQUIRE(kiln_wait_for_best(-1));
    info = call(k, 1, x, 0);
    REQUIRE(info.form == KILN_FORM_BEST && info.pending == 0 && info.origin == KILN_ORIGIN_MEMORY);
    info = call(again, 1, x, 0);
    REQUIRE(info.form == KILN_FORM_BEST && info.origin == KILN_ORIGIN_MEMORY);
    kiln_cache_stats after = stats();
    REQUIRE(after.compiles == before.compiles + 2 && after.quick_forms == before.quick_forms + 1);
    REQUIRE(after.best_pending == 0 && after.best_failed == 0 && after.quick_only == 0);
    kiln_kernel_free(k);
    kiln_kernel_free(again);
    kiln_array_free(x);
}

/* A flag, a setting and a preparation each have the best form waited for. */
static void waits_where_asked(void)
{
    kiln_kernel *k[4];
    kiln_array *x = make_input();
    kiln_arg in[] = {kiln_arg_array(x)};
    for (int n = 0; n < 4; ++n)
        k[n] = make_kernel(n);
    REQUIRE(call(k[0], 0, x, KILN_CALL_BEST).form == KILN_FORM_BEST);
    REQUIRE(comes_first(call(k[1], 1, x, 0)));
    REQUIRE(call(k[1], 1, x, KILN_CALL_BEST).form == KILN_FORM_BEST);
    REQUIRE(call(k[1], 1, x, 0).form == KILN_FORM_BEST);
    REQUIRE(comes_first(call(k[2], 2, x, 0)));
    OK(kiln_kernel_prepare(k[2], NULL, 1, in, 1, NULL, NULL));
    REQUIRE(call(k[2], 2, x, 0).form == KILN_FORM_BEST);
    OK(kiln_set_forms(KILN_FORMS_BEST));
    REQUIRE(call(k[3], 3, x, 0).form == KILN_FORM_BEST);
    REQUIRE(kiln_set_forms((kiln_forms)7) == KILN_ERROR_INVALID && strstr(kiln_error_message(), "forms: 7"));
    for (int n = 0; n < 4; ++n)
        kiln_kernel_free(k[n]);
    kiln_array_free(x);
}

/* A graph never keeps a quick form. */
static void graphs_have_the_best(void)
{
    if (!KILN_DEVICE_IS_CUDA(device()))
        exit(SKIPPED); /* the host has no graphs */
    kiln_kernel *k = make_kernel(1), *other = make_kernel(2);
    kiln_array *x = make_input(), *z = NULL, *w = NULL;
    kiln_arg in[] = {kiln_arg_array(x)};
    kiln_stream *s = NULL;
    kiln_graph *graph = NULL;
    kiln_call_info info = KILN_CALL_INFO_INIT;
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    OK(kiln_array_empty(&z, KILN_FLOAT32, 1, (const int64_t[]){N}, device()));
    OK(kiln_array_empty(&w, KILN_FLOAT32, 1, (const int64_t[]){N}, device()));
    OK(kiln_stream_create(&s, device(), KILN_STREAM_NON_BLOCKING));
    options.stream = s;
    OK(kiln_kernel_call(k, &z, 1, in, 1, &options));
    OK(kiln_kernel_last_call(&info));
    REQUIRE(comes_first(info));
    OK(kiln_capture_begin(s));
    OK(kiln_kernel_call(k, &z, 1, in, 1, &options)); /* its best form may be on its way */
    OK(kiln_kernel_last_call(&info));
    REQUIRE(info.form == KILN_FORM_BEST);
    OK(kiln_kernel_call(other, &w, 1, in, 1, &options)); /* and this one is new */
    OK(kiln_kernel_last_call(&info));
    REQUIRE(info.form == KILN_FORM_BEST);
    OK(kiln_capture_end(&graph, s));
    kiln_graph_free(graph);
    OK(kiln_stream_synchronize(s));
    kiln_stream_free(s);
    kiln_array_free(x);
    kiln_array_free(z);
    kiln_array_free(w);
    kiln_kernel_free(k);
    kiln_kernel_free(other);
}

/* ---- threads that call while the best form comes in ---- */

enum { THREADS = 4, CALLS = 10000 };

typedef struct caller {
    kiln_kernel *kernel;
    kiln_array *x;
    int number, calls, quick;
    pthread_t thread;
} caller;

static void *call_often(void *user)
{
    caller *c = user;
    for (int n = 0; n < c->calls; ++n)
        c->quick += call(c->kernel, c->number, c->x, 0).form == KILN_FORM_QUICK;
    return NULL;
}

/* Until the best form has come, and on for a while: calls in the quick form. */
static int swap_under_threads(int number)
{
    caller c[THREADS];
    kiln_kernel *k = make_kernel(number);
    kiln_array *x = make_input();
    int quick = 0;
    for (int t = 0; t < THREADS; ++t) {
        c[t] = (caller){.kernel = k, .x = x, .number = number, .calls = CALLS / THREADS};
        REQUIRE(pthread_create(&c[t].thread, NULL, call_often, &c[t]) == 0);
    }
    for (int t = 0; t < THREADS; ++t) {
        pthread_join(c[t].thread, NULL);
        quick += c[t].quick;
    }
    REQUIRE(kiln_wait_for_best(-1));
    REQUIRE(call(k, number, x, 0).form == KILN_FORM_BEST);
    kiln_array_free(x);
    kiln_kernel_free(k);
    return quick;
}

/* The best form may be the first to come where a process does not get its processor: another kernel then. The
 * fake compiler takes no time. */
static void swaps_under_threads(void)
{
    int quick = swap_under_threads(5);
    for (int number = 6; !quick && has_values && number < 16; ++number)
        quick = swap_under_threads(number);
    REQUIRE(quick > 0 || !has_values);
    printf("%d of %d calls ran in the quick form\n", quick, CALLS);
}

static void swaps_reductions(void)
{
    is_reduction = true;
    swaps_under_threads();
}

/* ---- compilers that make quick forms alone ---- */

/* Calls go on; it is said, and counted. */
static void fails_once(const char *said)
{
    kiln_kernel *k = make_kernel(7);
    kiln_array *x = make_input();
    kiln_log_set_callback(count_warnings, NULL);
    REQUIRE(call(k, 7, x, 0).form == KILN_FORM_QUICK);
    REQUIRE(kiln_wait_for_best(-1));
    for (int n = 0; n < 100; ++n) {
        kiln_call_info info = call(k, 7, x, n % 2 ? KILN_CALL_BEST : 0);
        REQUIRE(info.pending == 0);
        REQUIRE(info.form == KILN_FORM_QUICK);
    }
    REQUIRE(stats().best_failed == 1 && atomic_load(&warnings) == 1);
    REQUIRE(strstr(last_warning, "doubled") && strstr(last_warning, said));
    kiln_array_free(x);
    kiln_kernel_free(k);
}

static void best_fails(void)
{
    need_host();
    fails_once("error: no");
}

static void best_is_killed(void)
{
    need_host();
    fails_once("137");
}

/* Nobody waits for it who does not ask to, and the process ends without it. */
static void best_hangs(void)
{
    need_host();
    kiln_kernel *k = make_kernel(-8);
    kiln_array *x = make_input();
    REQUIRE(call(k, -8, x, 0).form == KILN_FORM_QUICK);
    for (int n = 0; n < 1000; ++n)
        REQUIRE(call(k, -8, x, 0).pending == 1);
    REQUIRE(!kiln_wait_for_best(20));
    REQUIRE(stats().best_pending == 1);
    kiln_array_free(x);
    kiln_kernel_free(k);
}

/* A text that is none fails in both forms: the call says so, and nobody else. */
static void text_fails(void)
{
    need_host();
    kiln_kernel *k = NULL;
    kiln_array *x = make_input(), *z = NULL;
    kiln_arg in[] = {kiln_arg_array(x)};
    REQUIRE(kiln_wait_for_best(-1));
    kiln_cache_stats before = stats();
    kiln_log_set_callback(count_warnings, NULL);
    OK(kiln_elementwise_create(&k, "T x", "T z", "z = x *", "broken", NULL));
    for (int n = 0; n < 3; ++n) {
        REQUIRE(kiln_kernel_call(k, &z, 1, in, 1, NULL) == KILN_ERROR_COMPILE && !z);
        REQUIRE(kiln_wait_for_best(-1));
    }
    REQUIRE(stats().best_failed == 0 && stats().quick_forms == before.quick_forms);
    REQUIRE(atomic_load(&warnings) == 0);
    kiln_array_free(x);
    kiln_kernel_free(k);
}

/* The quick form alone fails: so does the call, although the best one comes; the next one has that. */
static void quick_fails(void)
{
    need_host();
    kiln_kernel *k = make_kernel(13);
    kiln_array *x = make_input(), *z = NULL;
    kiln_arg in[] = {kiln_arg_array(x)};
    REQUIRE(kiln_kernel_call(k, &z, 1, in, 1, NULL) == KILN_ERROR_COMPILE && !z);
    REQUIRE(kiln_wait_for_best(-1));
    kiln_status status = kiln_kernel_call(k, &z, 1, in, 1, NULL);
    REQUIRE(status == KILN_OK ||
            status == KILN_ERROR_COMPILE); /* of one processor the best one was not begun */
    REQUIRE(stats().quick_forms == 0 && stats().best_pending == 0);
    kiln_array_free(x);
    kiln_array_free(z);
    kiln_kernel_free(k);
}

/* ---- many ---- */

/* More than the queue holds: those that do not fit come in with a later call. Then the process ends, with
 * most of them still to come. */
static void many_at_once(void)
{
    need_host();
    int count = is_soak() ? 1000 : 60;
    kiln_kernel **k = calloc((size_t)count, sizeof(kiln_kernel *));
    REQUIRE(k);
    kiln_array *x = make_input();
    for (int n = 0; n < count; ++n) {
        k[n] = make_kernel(n);
        REQUIRE(call(k[n], n, x, 0).form == KILN_FORM_QUICK);
    }
    REQUIRE(stats().best_pending > 0);
    for (int n = 0; n < count; n += 2) /* freed while they wait */
        kiln_kernel_free(k[n]);
    for (int n = 1; n < count; n += 2)
        call(k[n], n, x, 0);
    for (int n = 1; n < count; n += 2)
        kiln_kernel_free(k[n]);
    kiln_array_free(x);
    free(k);
}

/* Runs a scenario in a process of its own; milliseconds. */
static double run_self(const char *target, const char *scenario, int *status)
{
    double start = now_ms();
    pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
        setenv("FORMS_CHILD", "1", 1);
        execl("/proc/self/exe", "forms", "--target", target, scenario, (char *)NULL);
        _exit(126);
    }
    REQUIRE(waitpid(pid, status, 0) == pid);
    return now_ms() - start;
}

/* Neither a compile that hangs for a minute nor the queue behind it delays the end of a process. */
static void ends_soon(void)
{
    need_host();
    int status = 1;
    double ms = run_self("host", "best_hangs", &status);
    REQUIRE(status == 0 && ms < 20000);
    ms = run_self("host", "many_at_once", &status);
    REQUIRE(status == 0);
}

/* The process ends while the best form is compiled: the compiler's library must not take itself down before.
 */
static void leaves_at_once(void)
{
    kiln_array *x = make_input();
    for (int n = 20; n < 24; ++n) {
        kiln_kernel *k = make_kernel(n);
        call(k, n, x, 0);
        kiln_kernel_free(k);
    }
    kiln_array_free(x);
}

static void ends_while_compiling(void)
{
    for (int turn = 0; turn < 12; ++turn) {
        int status = 1;
        run_self("cuda:0", "leaves_at_once", &status);
        REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        unsetenv("KILN_CACHE_DIR");
        use_own_cache(); /* an empty one */
    }
}

/* A child takes over what its parent had begun. */
static void forks(void)
{
    need_host();
    kiln_kernel *k = make_kernel(9), *waiting = make_kernel(10);
    int status = 1;
    kiln_array *x = make_input();
    REQUIRE(call(k, 9, x, 0).pending == 1);
    REQUIRE(call(waiting, 10, x, 0).pending == 1);
    pid_t pid = fork();
    REQUIRE(pid >= 0);
    REQUIRE(call(waiting, 10, x, 0).form != KILN_FORM_NONE);
    REQUIRE(kiln_wait_for_best(-1));
    REQUIRE(call(k, 9, x, 0).form == KILN_FORM_BEST && call(waiting, 10, x, 0).form == KILN_FORM_BEST);
    if (pid == 0)
        _exit(0);
    REQUIRE(waitpid(pid, &status, 0) == pid && status == 0);
    kiln_array_free(x);
    kiln_kernel_free(k);
    kiln_kernel_free(waiting);
}

/* ---- without a compiler ---- */

/* Quick forms, in the cache. */
static void fills_with_quick(void)
{
    kiln_kernel *k = make_kernel(11);
    kiln_array *x = make_input();
    OK(kiln_set_forms(KILN_FORMS_QUICK));
    REQUIRE(call(k, 11, x, 0).form == KILN_FORM_BEST); /* of this setting there is no better one */
    kiln_array_free(x);
    kiln_kernel_free(k);
}

/* They serve where nothing may be compiled; said once, counted for each layout. */
static void runs_on_quick(void)
{
    kiln_kernel *k = make_kernel(11);
    kiln_array *x = make_input(), *y = NULL;
    kiln_arg in[] = {kiln_arg_array(x)};
    kiln_array *z = NULL;
    kiln_log_set_callback(count_warnings, NULL);
    REQUIRE(call(k, 11, x, 0).form == KILN_FORM_QUICK);
    REQUIRE(call(k, 11, x, KILN_CALL_BEST).form == KILN_FORM_QUICK);
    OK(kiln_array_index(&y, x, "::-2"));
    in[0] = kiln_arg_array(y);
    OK(kiln_kernel_call(k, &z, 1, in, 1, NULL));
    REQUIRE(stats().quick_only == 2 && stats().compiles == 0 && stats().best_pending == 0);
    REQUIRE(atomic_load(&warnings) == 1 && strstr(last_warning, "doubled runs in its quick form"));
    kiln_kernel *unknown = make_kernel(12);
    kiln_array *none = NULL;
    in[0] = kiln_arg_array(x);
    REQUIRE(kiln_kernel_call(unknown, &none, 1, in, 1, NULL) == KILN_ERROR_FORBIDDEN);
    REQUIRE(strstr(kiln_error_message(), "has not been compiled for") && !none);
    kiln_array_free(x);
    kiln_array_free(y);
    kiln_array_free(z);
    kiln_kernel_free(k);
    kiln_kernel_free(unknown);
}

static void quick_alone(void)
{
    need_host();
    int status = 1;
    run_self("host", "fills_with_quick", &status);
    REQUIRE(status == 0);
    setenv("KILN_COMPILE", "never", 1);
    run_self("host", "runs_on_quick", &status);
    REQUIRE(status == 0);
}

/* ---- the same bits ---- */

typedef struct body {
    const char *in, *out, *text;
    kiln_dtype dtype;
} body;

static const body bodies[] = {
    {"T x, T y", "T z", "z = x * y + x / (y + (T)1.5) - x * x", KILN_FLOAT32},
    {"T x, T y", "T z", "z = (x * y + x) * (x - y * y) + x * (T)0.3", KILN_FLOAT64},
    {"T x, T y", "T z", "z = exp(-x * x) * sin(y) + log(x * x + (T)1) + pow(x * x + (T)0.1, y)",
     KILN_FLOAT32},
    {"T x, T y", "T z", "z = tanh(x) + erf(y) * cbrt(x) + atan2(x, y) + sqrt(x * x + y * y)", KILN_FLOAT32},
    {"T x, T y", "T z", "z = exp(x) * cos(y) - log1p(x * x) + expm1(y) * hypot(x, y)", KILN_FLOAT64},
    {"T x, T y", "T z", "z = x * y + x / (y + (T)1.5) - x", KILN_FLOAT16},
    {"T x, T y", "T z", "z = exp(x) * y + x", KILN_BFLOAT16},
    {"T x, T y", "T z", "z = x * y + x / (y + T(0.5f)) - conj(x) * x", KILN_COMPLEX64},
    {"T x, T y", "T z", "z = exp(x) * y + sqrt(x)", KILN_COMPLEX128},
    {"T x, T y", "float32 z, int32 w", "z = fmod(x, y) + rint(x) + x * y; w = x > y ? i : (int)(x * 100)",
     KILN_FLOAT32},
    {"T x, T y", "T z", "T s = 0; for (int k = 0; k < 7; ++k) s = s * x + y; z = s", KILN_FLOAT32},
};

static kiln_array *random_array(kiln_dtype dtype, unsigned *seed)
{
    enum { ROWS = 37, COLUMNS = 53 };
    double values[2 * ROWS * COLUMNS];
    kiln_array *plain = NULL, *a = NULL;
    bool is_complex = dtype == KILN_COMPLEX64 || dtype == KILN_COMPLEX128;
    for (int k = 0; k < 2 * ROWS * COLUMNS; ++k) {
        *seed = *seed * 1664525u + 1013904223u;
        values[k] = ((double)(*seed >> 8) / (1 << 24) - 0.5) * 8;
    }
    OK(kiln_array_from_host(&plain, values, is_complex ? KILN_COMPLEX128 : KILN_FLOAT64, 2,
                            (const int64_t[]){ROWS, COLUMNS}, device()));
    kiln_kernel *cast = NULL;
    OK(kiln_elementwise_create(&cast, "A x", "B z", "z = (B)x", "cast", NULL));
    OK(kiln_array_empty(&a, dtype, 2, (const int64_t[]){ROWS, COLUMNS}, device()));
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    options.flags = KILN_CALL_BEST;
    kiln_arg in[] = {kiln_arg_array(plain)};
    OK(kiln_kernel_call(cast, &a, 1, in, 1, &options));
    kiln_kernel_free(cast);
    kiln_array_free(plain);
    return a;
}

/* The bytes of all results of one form, for a layout of the first input. */
static unsigned char *results(const body *b, kiln_forms form, kiln_array *x, kiln_array *y, size_t *size)
{
    kiln_kernel *k = NULL;
    kiln_array *out[2] = {NULL, NULL};
    kiln_arg in[] = {kiln_arg_array(x), kiln_arg_array(y)};
    OK(kiln_set_forms(form));
    OK(kiln_elementwise_create(&k, b->in, b->out, b->text, "bits", NULL));
    int n_out = kiln_kernel_n_out(k);
    OK(kiln_kernel_call(k, out, n_out, in, 2, NULL));
    unsigned char *bytes = NULL;
    *size = 0;
    for (int j = 0; j < n_out; ++j) {
        size_t one = (size_t)kiln_array_size(out[j]) * kiln_dtype_size(kiln_array_dtype(out[j]));
        bytes = realloc(bytes, *size + one);
        REQUIRE(bytes);
        OK(kiln_array_to_host(out[j], bytes + *size, one));
        *size += one;
        kiln_array_free(out[j]);
    }
    kiln_kernel_free(k);
    return bytes;
}

static void same_bits(void)
{
    static const char *const layouts[] = {":, :", "::-1, ::2", ":1, 1:"};
    unsigned seed = 20261122;
    for (size_t n = 0; n < sizeof bodies / sizeof *bodies; ++n) {
        const body *b = &bodies[n];
        kiln_array *x = random_array(b->dtype, &seed), *y = random_array(b->dtype, &seed);
        for (size_t l = 0; l < sizeof layouts / sizeof *layouts; ++l) {
            kiln_array *xs = NULL, *ys = NULL;
            size_t size[2];
            OK(kiln_array_index(&xs, x, layouts[l]));
            OK(kiln_array_index(&ys, y, l == 2 ? ":, 1:" : layouts[l]));
            unsigned char *quick = results(b, KILN_FORMS_QUICK, xs, ys, &size[0]);
            unsigned char *best = results(b, KILN_FORMS_BEST, xs, ys, &size[1]);
            if (size[0] != size[1] || memcmp(quick, best, size[0]) != 0) {
                fprintf(stderr, "%s of %s, layout %s: the forms differ\n", b->text, kiln_dtype_name(b->dtype),
                        layouts[l]);
                exit(1);
            }
            free(quick);
            free(best);
            kiln_array_free(xs);
            kiln_array_free(ys);
        }
        kiln_array_free(x);
        kiln_array_free(y);
    }
}

/* ---- */

static const struct {
    const char *name;
    void (*run)(void);
    const char *how; /* the compiler misbehaves; NULL: it does not */
} scenarios[] = {
    {"begins_quickly", begins_quickly, NULL},
    {"waits_where_asked", waits_where_asked, NULL},
    {"graphs_have_the_best", graphs_have_the_best, NULL},
    {"swaps_under_threads", swaps_under_threads, "slow"},
    {"swaps_reductions", swaps_reductions, "slow"},
    {"best_fails", best_fails, "fail"},
    {"best_is_killed", best_is_killed, "die"},
    {"text_fails", text_fails, NULL},
    {"quick_fails", quick_fails, "fail-quick"},
    {"best_hangs", best_hangs, "hang"},
    {"many_at_once", many_at_once, "slow"},
    {"ends_soon", ends_soon, NULL},
    {"leaves_at_once", leaves_at_once, NULL},
    {"ends_while_compiling", ends_while_compiling, NULL},
    {"forks", forks, "slow"},
    {"fills_with_quick", fills_with_quick, NULL},
    {"runs_on_quick", runs_on_quick, NULL},
    {"quick_alone", quick_alone, NULL},
    {"same_bits", same_bits, NULL},
};

/* The compiler is looked for from the moment when a device is there. */
static int run_scenario(size_t n, const char *target)
{
    kiln_device d;
    if (scenarios[n].how)
        misbehave(scenarios[n].how);
    int code = SKIPPED;
    if (kiln_device_parse(&d, target) == KILN_OK && kiln_device_set_current(d) == KILN_OK) {
        scenarios[n].run();
        code = 0;
    }
    if (folder[0])
        remove_folder();
    return code;
}

int main(int argc, char **argv)
{
    setenv("KILN_KINDS", "-fewest", 0); /* kinds take few elements, too: those have two forms */
    const char *target = argc == 4 && !strcmp(argv[1], "--target") ? argv[2] : "host";
    has_values = !getenv("FORMS_WITHOUT_VALUES");
    if (!getenv("FORMS_CHILD")) /* that has its parent's; others must find nothing */
        unsetenv("KILN_CACHE_DIR");
    use_own_cache();
    for (size_t n = 0; argc > 1 && n < sizeof scenarios / sizeof *scenarios; ++n)
        if (!strcmp(argv[argc - 1], scenarios[n].name))
            return run_scenario(n, target);
    fprintf(stderr, "usage: forms [--target TARGET] SCENARIO\n");
    return 2;
}
