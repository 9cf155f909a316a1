/* rows_bench - how fast programs over rows are: microseconds, terabytes a second over one read of each input
 * and one write of each result, and the share of a copy of as many bytes in the same run.
 *
 * usage: rows_bench [--target host|cuda:N] [--elements LOG2] [--lengths N,N,...] [--programs
 *                   softmax,layernorm,...] [--dtypes float32,bfloat16] [--layout plain|offset] */
#include "row_programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 15, MOST_CALLS = 200, LENGTHS = 64 };

typedef struct settings {
    const char *target, *programs, *dtypes;
    int log2_elements, n_lengths;
    bool is_offset;
    int64_t length[LENGTHS];
} settings;

static kiln_device device;

static void stop_if(kiln_status status, const char *what)
{
    if (status == KILN_OK)
        return;
    fprintf(stderr, "%s: %s\n%s\n", what, kiln_error_message(), kiln_error_log());
    exit(1);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

typedef struct job {
    kiln_kernel *kernel;
    kiln_array *out[ROW_MAX_OPERANDS];
    kiln_arg in[ROW_MAX_OPERANDS];
    int n_in, n_out;
} job;

/* The median of microseconds a call, by events where there are any. */
static double time_of(job *j)
{
    double micros[ROUNDS];
    int calls = 1;
    stop_if(kiln_kernel_call(j->kernel, j->out, j->n_out, j->in, j->n_in, NULL), "call");
    stop_if(kiln_device_synchronize(device), "synchronize");
    for (int round = -2; round < ROUNDS; ++round) {
        kiln_event *start = NULL, *end = NULL;
        double elapsed = 0, begun = now();
        bool is_cuda = KILN_DEVICE_IS_CUDA(device);
        if (is_cuda) {
            stop_if(kiln_event_create(&start, device, KILN_EVENT_TIMING), "event");
            stop_if(kiln_event_create(&end, device, KILN_EVENT_TIMING), "event");
            stop_if(kiln_event_record(start, NULL), "event");
        }
        for (int k = 0; k < calls; ++k)
            stop_if(kiln_kernel_call(j->kernel, j->out, j->n_out, j->in, j->n_in, NULL), "call");
        if (is_cuda) {
            stop_if(kiln_event_record(end, NULL), "event");
            stop_if(kiln_event_synchronize(end), "event");
            stop_if(kiln_event_elapsed(&elapsed, start, end), "event");
        } else {
            stop_if(kiln_device_synchronize(device), "synchronize");
            elapsed = (now() - begun) * 1e-3;
        }
        kiln_event_free(start);
        kiln_event_free(end);
        double each = elapsed * 1e3 / calls;
        if (round < 0)
            calls = each * MOST_CALLS < 4000 ? MOST_CALLS : (int)(4000 / each) + 1;
        else
            micros[round] = each;
    }
    qsort(micros, ROUNDS, sizeof *micros, compare);
    return micros[ROUNDS / 2];
}

/* Filled by a kernel: some numbers around zero. */
static kiln_array *filled(kiln_dtype dtype, int ndim, const int64_t *shape)
{
    static kiln_kernel *fill;
    kiln_array *a = NULL;
    const kiln_arg scale = kiln_arg_float(0.37);
    if (!fill)
        stop_if(kiln_elementwise_create(&fill, "float64 s", "T z",
                                        "z = (T)(float)((i * 2654435761ull >> 7) % 1024 * s / 64 - 3)",
                                        "bench_fill", NULL),
                "fill");
    stop_if(kiln_array_empty(&a, dtype, ndim, shape, device), "array");
    stop_if(kiln_kernel_call(fill, &a, 1, &scale, 1, NULL), "fill");
    return a;
}

static double copy_time(int64_t bytes)
{
    kiln_kernel *copy = NULL;
    int64_t shape[] = {bytes / 8};
    kiln_array *x = filled(KILN_FLOAT32, 1, shape);
    job j = {.n_in = 1, .n_out = 1, .in = {kiln_arg_array(x)}};
    stop_if(kiln_elementwise_create(&copy, "T x", "T z", "z = x", "bench_copy", NULL), "copy");
    j.kernel = copy;
    double micros = time_of(&j);
    kiln_array_free(x);
    kiln_array_free(j.out[0]);
    kiln_kernel_free(copy);
    return micros;
}

static void run_cell(const settings *s, const row_program *p, kiln_dtype dtype, int64_t rows, int64_t length)
{
    job j = {.kernel = row_kernel(p, 1), .n_in = (int)strlen(p->inputs), .n_out = (int)strlen(p->outputs)};
    kiln_array *in[ROW_MAX_OPERANDS] = {NULL};
    int64_t bytes = 0;
    char *line = NULL, kind[40] = "?";
    for (int k = 0; k < j.n_in; ++k) {
        char letter = p->inputs[k];
        int64_t shape[] = {letter == 'v' ? 1 : rows,
                           letter == 'r' ? 1 : length + (s->is_offset && letter != 'v')};
        kiln_array *whole = filled(letter == 'm' ? KILN_BOOL : dtype, 2, shape);
        if (shape[1] == length + 1)
            stop_if(kiln_array_index(&in[k], whole, ":, 1:"), "view");
        else
            in[k] = kiln_array_retain(whole);
        kiln_array_free(whole);
        j.in[k] = kiln_arg_array(in[k]);
        bytes += (int64_t)kiln_array_nbytes(in[k]);
    }
    double micros = time_of(&j);
    for (int k = 0; k < j.n_out; ++k)
        bytes += (int64_t)kiln_array_nbytes(j.out[k]);
    stop_if(kiln_kernel_explain(&line, j.kernel, j.out, j.n_out, j.in, j.n_in, NULL, NULL), "explain");
    if (strstr(line, "schedule=\""))
        sscanf(strstr(line, "schedule=\"") + 10, "%39[^\"]", kind);
    double floor = copy_time(bytes);
    printf("%-10s %-9s %9lld x %-8lld %-11s %10.1f us %7.3f TB/s  %5.1f %% of a copy\n", p->name,
           kiln_dtype_name(dtype), (long long)rows, (long long)length, kind, micros,
           (double)bytes / micros * 1e-6, floor / micros * 100);
    fflush(stdout);
    free(line);
    for (int k = 0; k < ROW_MAX_OPERANDS; ++k) {
        kiln_array_free(in[k]);
        kiln_array_free(j.out[k]);
    }
    kiln_kernel_free(j.kernel);
}

static void read_lengths(settings *s, const char *text)
{
    s->n_lengths = 0;
    for (char *end; *text && s->n_lengths < LENGTHS; text = *end ? end + 1 : end)
        s->length[s->n_lengths++] = strtoll(text, &end, 10);
}

int main(int argc, char **argv)
{
    settings s = {.target = "cuda:0",
                  .programs = "softmax,layernorm,rmsnorm",
                  .dtypes = "float32,bfloat16",
                  .log2_elements = 27};
    read_lengths(&s, "64,128,256,512,1000,1023,1024,2048,3001,4096,8192,8191,16384,32768,32767,50256,50257,"
                     "65536,131072,262144,524288,1048576");
    for (int k = 1; k + 1 < argc; k += 2) {
        if (!strcmp(argv[k], "--target"))
            s.target = argv[k + 1];
        else if (!strcmp(argv[k], "--elements"))
            s.log2_elements = atoi(argv[k + 1]);
        else if (!strcmp(argv[k], "--lengths"))
            read_lengths(&s, argv[k + 1]);
        else if (!strcmp(argv[k], "--programs"))
            s.programs = argv[k + 1];
        else if (!strcmp(argv[k], "--dtypes"))
            s.dtypes = argv[k + 1];
        else if (!strcmp(argv[k], "--layout"))
            s.is_offset = !strcmp(argv[k + 1], "offset");
        else
            return 2;
    }
    if (kiln_device_parse(&device, s.target) != KILN_OK || kiln_device_set_current(device) != KILN_OK) {
        fprintf(stderr, "rows_bench: %s\n", kiln_error_message());
        return 2;
    }
    for (const row_program *p = row_programs; p->name; ++p)
        for (kiln_dtype dtype = KILN_BOOL; kiln_dtype_size(dtype) > 0; ++dtype)
            for (int n = 0; n < s.n_lengths; ++n)
                if (kn_text_has_word(s.programs, p->name) &&
                    kn_text_has_word(s.dtypes, kiln_dtype_name(dtype)))
                    run_cell(&s, p, dtype, (INT64_C(1) << s.log2_elements) / s.length[n], s.length[n]);
    return 0;
}
