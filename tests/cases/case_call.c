/* Calls: how they find their code, what is remembered, what can be asked without calling, and many threads
 * on one kernel. */
#include "cases.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void plus_one(const element *e)
{
    OUT(float, 0) = IN(float, 0) + 1;
}

static kiln_origin last_origin(void)
{
    kiln_call_info info = KILN_CALL_INFO_INIT;
    succeeded(kiln_kernel_last_call(&info), "kiln_kernel_last_call");
    trouble_unless(info.device == stage_device, "the last call ran on device %d", (int)info.device);
    return info.origin;
}

static void expect_origin(kiln_origin expected, const char *when)
{
    kiln_origin origin = last_origin();
    trouble_unless(origin == expected, "%s: origin %d, %d was expected", when, (int)origin, (int)expected);
}

static stage *place_plus_one(kiln_kernel *kernel, const char *shape, const char *layout_text)
{
    stage *s = stage_over(kernel, case_seed());
    stage_in(s, KILN_FLOAT32, shape, layout_text, FILL_SMALL);
    stage_out(s, KILN_FLOAT32, shape, "C");
    return s;
}

static void origins(void)
{
    kiln_kernel *first = NULL, *second = NULL;
    kiln_call_info info = KILN_CALL_INFO_INIT;
    succeeded(
        kiln_elementwise_create(&first, "float32 x", "float32 z", "z = x + 1 // origins", "origins", NULL),
        "create");
    succeeded(
        kiln_elementwise_create(&second, "float32 x", "float32 z", "z = x + 1 // origins", "origins", NULL),
        "create");
    static const struct {
        const char *shape;
        bool second;
        kiln_origin origin;
        const char *when;
    } calls[] = {{"100", false, KILN_ORIGIN_COMPILER, "first call"},
                 {"100", false, KILN_ORIGIN_MEMORY, "the same again"},
                 {"50,8", false, KILN_ORIGIN_MEMORY, "another shape"},
                 {"100", true, KILN_ORIGIN_MEMORY, "an equal kernel"}};
    for (int c = 0; c < 4; ++c) {
        stage *s = place_plus_one(calls[c].second ? second : first, calls[c].shape, "C");
        if (stage_check(s, plus_one, NULL))
            expect_origin(calls[c].origin, calls[c].when);
        KILN_IGNORE(kiln_kernel_last_call(&info));
        if (c == 0)
            trouble_unless(info.compile_ms > 0 && info.code_bytes > 0, "compile_ms %g, code_bytes %zu",
                           info.compile_ms, info.code_bytes);
        stage_free(s);
    }
    kiln_kernel_free(first);
    kiln_kernel_free(second);
}

static void prepared(void)
{
    kiln_kernel *kernel = NULL;
    succeeded(
        kiln_elementwise_create(&kernel, "float32 x", "float32 z", "z = x + 1 // prepared", "prepared", NULL),
        "create");
    stage *s = place_plus_one(kernel, "70,9", "F");
    int n_in, n_out;
    kiln_arg *in = stage_args(s, &n_in);
    kiln_array **out = stage_outs(s, &n_out);
    if (succeeded(kiln_kernel_prepare(kernel, out, n_out, in, n_in, NULL, NULL), "kiln_kernel_prepare"))
        expect_origin(KILN_ORIGIN_COMPILER, "prepare");
    if (stage_check(s, plus_one, NULL))
        expect_origin(KILN_ORIGIN_MEMORY, "the call after");
    stage_free(s);
    kiln_kernel_free(kernel);
}

/* The kernel may go while it is being prepared. */
static void prepared_in_background(void)
{
    kiln_kernel *kernel = NULL, *gone = NULL;
    kiln_prepare_options background = KILN_PREPARE_OPTIONS_INIT;
    kiln_call_options forbid = KILN_CALL_OPTIONS_INIT;
    background.flags = KILN_PREPARE_BACKGROUND;
    forbid.flags = KILN_CALL_NO_COMPILE;
    succeeded(kiln_elementwise_create(&kernel, "float32 x", "float32 z", "z = x + 1 // background",
                                      "background", NULL),
              "create");
    succeeded(kiln_elementwise_create(&gone, "float32 x", "float32 z", "z = x + 1 // background",
                                      "background", NULL),
              "create");
    stage *s = place_plus_one(kernel, "1000", "C");
    int n_in, n_out;
    kiln_arg *in = stage_args(s, &n_in);
    kiln_array **out = stage_outs(s, &n_out);
    succeeded(kiln_kernel_prepare(gone, out, n_out, in, n_in, NULL, &background), "kiln_kernel_prepare");
    kiln_kernel_free(gone);
    kiln_status status = KILN_ERROR_FORBIDDEN;
    for (int turn = 0; turn < 3000 && status == KILN_ERROR_FORBIDDEN && !in_trouble(); ++turn) {
        const struct timespec pause = {0, 10000000};
        nanosleep(&pause, NULL);
        status = kiln_kernel_call(kernel, out, n_out, in, n_in, &forbid);
    }
    succeeded(status, "the call that waits for a preparation in the background");
    stage_check(s, plus_one, &forbid);
    stage_free(s);
    kiln_kernel_free(kernel);
}

/* A target that needs no device: compiled, not loaded. Where NVRTC is absent that is what the error says. */
static void prepared_for_another_machine(void)
{
    kiln_prepare_options options = KILN_PREPARE_OPTIONS_INIT;
    kiln_toolchain_info compiler = KILN_TOOLCHAIN_INFO_INIT;
    bool has_nvrtc = kiln_toolchain_get_info("cuda", &compiler) == KILN_OK;
    stage *s = STAGE("float32 x", "float32 z", "z = x + 1 // elsewhere");
    kiln_arg in = kiln_arg_float(1);
    kiln_array *z = NULL;
    options.target = "sm_90";
    kiln_status status = kiln_kernel_prepare(stage_kernel(s), &z, 1, &in, 1, NULL, &options);
    if (has_nvrtc)
        succeeded(status, "kiln_kernel_prepare for sm_90");
    else
        refused(status, KILN_ERROR_NOT_FOUND, "nvrtc");
    stage_free(s);
}

static void asked_without_calling(void)
{
    stage *s = STAGE("float32 x, float32 s", "float32 z", "z = x + s /* asked */");
    int n_in, n_out;
    char *source = NULL;
    stage_in(s, KILN_FLOAT32, "100", "C", FILL_SMALL);
    stage_real(s, kiln_arg_int(1), KILN_FLOAT32, 1);
    stage_out_fresh(s, KILN_FLOAT32);
    kiln_arg *in = stage_args(s, &n_in);
    kiln_array **out = stage_outs(s, &n_out);
    static const char *const targets[] = {NULL, "host", "sm_75", "sm_90", "sm_120"};
    for (int t = 0; t < 5; ++t) {
        if (succeeded(kiln_kernel_source(&source, stage_kernel(s), out, n_out, in, n_in, NULL, targets[t]),
                      "kiln_kernel_source"))
            trouble_unless(strstr(source, "z = x + s /* asked */") &&
                               strstr(source, "#line 1 \"case_kernel\""),
                           "the source lacks the body: %s", source);
        free(source);
        source = NULL;
        char *line = stage_explain(s, targets[t]);
        trouble_unless(strstr(line, "body=\"z = x + s /* asked */\"") &&
                           strstr(line, "operands=\"array:float32 scalar:float32 array:float32\""),
                       "the specialisation is %s", line);
        free(line);
    }
    trouble_unless(!out[0], "asking allocated an output");
    stage_free(s);
}

static void described(void)
{
    stage *s = STAGE("float32 x, T y", "T z, bool w, int8 v", "z = x; w = y; v = 1");
    kiln_kernel *k = stage_kernel(s);
    trouble_unless(
        !strcmp(kiln_kernel_name(k), "case_kernel") && kiln_kernel_n_in(k) == 2 && kiln_kernel_n_out(k) == 3,
        "%s has %d inputs, %d outputs", kiln_kernel_name(k), kiln_kernel_n_in(k), kiln_kernel_n_out(k));
    trouble_unless(!strcmp(kiln_kernel_in_name(k, 1), "y") && !strcmp(kiln_kernel_out_name(k, 2), "v"),
                   "%s and %s are the last ones", kiln_kernel_in_name(k, 1), kiln_kernel_out_name(k, 2));
    for (int none = -1; none <= 3; none += 4)
        trouble_unless(!*kiln_kernel_in_name(k, none) && !*kiln_kernel_out_name(k, none) &&
                           !*kiln_kernel_in_name(NULL, 0) && !*kiln_kernel_out_name(NULL, 0),
                       "there is no name %d", none);
    kiln_kernel_free(NULL);
    stage_free(s);
}

/* Many plans of one kernel: the table that remembers them grows while it is read. */
static void many_shapes(void)
{
    kiln_kernel *kernel = NULL;
    succeeded(kiln_elementwise_create(&kernel, "float32 x", "float32 z", "z = x + 1", "shapes", NULL),
              "create");
    for (int turn = 0; turn < 2; ++turn)
        for (int k = 1; k < 200 && !in_trouble(); ++k) {
            char shape[32];
            snprintf(shape, sizeof shape, "%d,%d", k, 200 - k);
            stage *s = place_plus_one(kernel, shape, k % 3 == 0 ? "F" : k % 3 == 1 ? "-0" : "C");
            stage_check(s, plus_one, NULL);
            stage_free(s);
        }
    kiln_kernel_free(kernel);
}

/* ---- threads ---- */

enum { THREADS = 8, TURNS = 60 };

typedef struct worker {
    kiln_kernel *kernel;
    int number;
    char error[256];
} worker;

static bool worker_ok(worker *w, kiln_status status, const char *what)
{
    if (status != KILN_OK && !w->error[0])
        snprintf(w->error, sizeof w->error, "thread %d: %s: %.180s", w->number, what, kiln_error_message());
    return status == KILN_OK && !w->error[0];
}

/* One call with shapes that other threads meet too, the result checked in plain C. */
static void work_once(worker *w, int turn)
{
    float x[400], z[400];
    const int64_t shape[2] = {1 + (turn * 7 + w->number) % 20, 1 + turn % 20};
    int64_t count = shape[0] * shape[1];
    kiln_array *in = NULL, *transposed = NULL, *out = NULL;
    for (int k = 0; k < count; ++k)
        x[k] = (float)(k + w->number * 1000 + turn);
    if (worker_ok(w, kiln_array_from_host(&in, x, KILN_FLOAT32, 2, shape, stage_device),
                  "kiln_array_from_host") &&
        worker_ok(w, kiln_array_transpose(&transposed, in, NULL), "kiln_array_transpose")) {
        kiln_arg args[] = {kiln_arg_array(turn % 2 ? transposed : in), kiln_arg_float(w->number)};
        if (worker_ok(w, kiln_kernel_call(w->kernel, &out, 1, args, 2, NULL), "kiln_kernel_call") &&
            worker_ok(w, kiln_array_to_host(out, z, (size_t)count * sizeof *z), "kiln_array_to_host"))
            for (int64_t k = 0; k < count; ++k) {
                int64_t from = turn % 2 ? k % shape[0] * shape[1] + k / shape[0] : k;
                if (z[k] != x[from] * 2 + (float)w->number && !w->error[0])
                    snprintf(w->error, sizeof w->error, "thread %d, turn %d: element %d is %g", w->number,
                             turn, (int)k, (double)z[k]);
            }
    }
    kiln_array_free(in);
    kiln_array_free(transposed);
    kiln_array_free(out);
}

static void *work(void *user)
{
    worker *w = user;
    if (worker_ok(w, kiln_device_set_current(stage_device), "kiln_device_set_current"))
        for (int turn = 0; turn < TURNS && !w->error[0]; ++turn)
            work_once(w, turn);
    return NULL;
}

static void eight_threads(void)
{
    kiln_kernel *kernel = NULL;
    pthread_t threads[THREADS];
    worker workers[THREADS];
    memset(workers, 0, sizeof workers);
    if (!succeeded(kiln_elementwise_create(&kernel, "float32 x, float32 s", "float32 z", "z = x * 2 + s",
                                           "threads", NULL),
                   "create"))
        return;
    for (int t = 0; t < THREADS; ++t) {
        workers[t].kernel = kernel;
        workers[t].number = t;
        pthread_create(&threads[t], NULL, work, &workers[t]);
    }
    for (int t = 0; t < THREADS; ++t) {
        pthread_join(threads[t], NULL);
        trouble_unless(!workers[t].error[0], "%s", workers[t].error);
    }
    kiln_kernel_free(kernel);
}

/* Errors belong to the thread that met them. */
static void *fail_elsewhere(void *user)
{
    kiln_dtype dtype;
    *(kiln_status *)user = kiln_dtype_from_name(&dtype, "no such dtype");
    return NULL;
}

static void errors_are_per_thread(void)
{
    pthread_t thread;
    kiln_status there = KILN_OK;
    kiln_error_clear();
    pthread_create(&thread, NULL, fail_elsewhere, &there);
    pthread_join(thread, NULL);
    trouble_unless(there == KILN_ERROR_TYPE && kiln_error_status() == KILN_OK && !kiln_error_message()[0],
                   "an error of another thread is seen: %s", kiln_error_message());
}

const test_case call_cases[] = {
    {"origins", origins, 0},
    {"prepared", prepared, 0},
    {"prepared_in_background", prepared_in_background, 0},
    {"prepared_for_another_machine", prepared_for_another_machine, 0},
    {"asked_without_calling", asked_without_calling, 0},
    {"described", described, 0},
    {"many_shapes", many_shapes, 0},
    {"eight_threads", eight_threads, 0},
    {"errors_are_per_thread", errors_are_per_thread, 0},
    {NULL, NULL, 0},
};
