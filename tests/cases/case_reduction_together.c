/* Reductions that run at the same time: on two streams, from several threads, in graphs that are replayed.
 * Long rows, tall columns and one number, which many blocks share: what they leave for each other must not be
 * seen by another call. Real numbers, so that another order of adding shows in the bits. */
#include "cases.h"
#include "drawn.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANK = 3, RESULTS = 3, MOST_TURNS = 20 };

typedef struct job {
    const char *name;
    int ndim;
    int64_t shape[MAX_RANK];
    int axis;    /* -1: all */
    int longest; /* axis: shorter on the host in short tests */
} job;

static const job every_job[] = {
    {"one number", 1, {(1 << 22) + 3}, -1, 0},
    {"long rows", 2, {7, 300001}, 1, 1},
    {"tall columns", 2, {200003, 5}, 0, 0},
    {"many columns", 2, {4097, 1000}, 0, 0},
    {"a middle axis", 3, {9, 30011, 7}, 1, 1},
    {"short rows", 2, {40001, 33}, 1, 0},
    {"one number of three axes", 3, {33, 1025, 65}, -1, 1},
};
enum { JOBS = sizeof every_job / sizeof every_job[0], SHARE_ON_HOST = 8 };
/* Those of this run: world_create sets them. */
static job jobs[JOBS];

/* The host shares work out between threads from a few thousand elements on: shorter, and odd still. */
static void jobs_set(void)
{
    memcpy(jobs, every_job, sizeof jobs);
    for (int k = 0; k < JOBS && !KILN_DEVICE_IS_CUDA(stage_device) && !drawn_all(); ++k)
        jobs[k].shape[jobs[k].longest] = jobs[k].shape[jobs[k].longest] / SHARE_ON_HOST | 1;
}

/* A job's numbers, and what a call gives that runs alone. */
typedef struct made {
    kiln_array *x;
    int64_t count; /* of results */
    float *sum, *greatest;
    int64_t *at;
} made;

typedef struct world {
    kiln_kernel *sum, *best;
    made job[JOBS];
} world;

/* Results of one job: sums, the greatest, where. */
typedef struct results {
    kiln_array *array[RESULTS];
} results;

static float number_at(int64_t k)
{
    return (float)(((uint64_t)k * UINT64_C(0x9E3779B97F4A7C15)) >> 44) / 777777.0f - 0.5f;
}

static int64_t size_of(const job *j)
{
    int64_t size = 1;
    for (int a = 0; a < j->ndim; ++a)
        size *= j->shape[a];
    return size;
}

/* ---- calls ---- */

static kiln_status call(const world *w, int k, results *out, kiln_stream *stream)
{
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    const kiln_arg in = kiln_arg_array(w->job[k].x);
    options.stream = stream;
    options.axes = jobs[k].axis < 0 ? NULL : &jobs[k].axis;
    options.n_axes = jobs[k].axis < 0 ? 0 : 1;
    kiln_status status = kiln_kernel_call(w->sum, &out->array[0], 1, &in, 1, &options);
    return status == KILN_OK ? kiln_kernel_call(w->best, &out->array[1], 2, &in, 1, &options) : status;
}

static void free_results(results *r)
{
    for (int k = 0; k < RESULTS; ++k) {
        kiln_array_free(r->array[k]);
        r->array[k] = NULL;
    }
}

/* The status of fetching, and whether the bits are those of the call that ran alone. */
static kiln_status same_as_alone(bool *same, const made *m, const results *r)
{
    size_t n = (size_t)m->count;
    float *values = malloc((n + 1) * sizeof *values);
    int64_t *places = malloc((n + 1) * sizeof *places);
    kiln_status status = kiln_array_to_host(r->array[0], values, n * sizeof *values);
    *same = status == KILN_OK && memcmp(values, m->sum, n * sizeof *values) == 0;
    if (status == KILN_OK)
        status = kiln_array_to_host(r->array[1], values, n * sizeof *values);
    *same = *same && status == KILN_OK && memcmp(values, m->greatest, n * sizeof *values) == 0;
    if (status == KILN_OK)
        status = kiln_array_to_host(r->array[2], places, n * sizeof *places);
    *same = *same && status == KILN_OK && memcmp(places, m->at, n * sizeof *places) == 0;
    free(values);
    free(places);
    return status;
}

static void compare(const world *w, int k, const results *r, const char *when, int turn)
{
    bool same = false;
    if (!in_trouble() && succeeded(same_as_alone(&same, &w->job[k], r), when))
        trouble_unless(same, "%s, turn %d: %s differs from what it is alone", when, turn, jobs[k].name);
}

/* ---- alone, against plain C ---- */

/* Float sums of n terms: n roundings of 2^-24 at most, each of a partial sum (in any order). */
static void check_alone(const job *j, const made *m, const float *x)
{
    int64_t length = j->axis < 0 ? size_of(j) : j->shape[j->axis], inner = 1;
    for (int a = j->axis + 1; j->axis >= 0 && a < j->ndim; ++a)
        inner *= j->shape[a];
    for (int64_t r = 0; r < m->count && !in_trouble(); ++r) {
        const float *row = x + r / inner * length * inner + r % inner;
        double sum = 0, size = 0;
        int64_t at = 0;
        for (int64_t k = 0; k < length; ++k) {
            sum += row[k * inner];
            size += fabs((double)row[k * inner]);
            at = row[k * inner] > row[at * inner] ? k : at;
        }
        trouble_unless(fabs(m->sum[r] - sum) <= 8 * sqrt((double)length) * size / (1 << 24),
                       "%s: sum %lld is %.9g, not %.9g", j->name, (long long)r, (double)m->sum[r], sum);
        trouble_unless(m->at[r] == at && m->greatest[r] == row[at * inner],
                       "%s: the greatest of %lld is at %lld, not %lld", j->name, (long long)r,
                       (long long)m->at[r], (long long)at);
    }
}

static void fetch_alone(const world *w, int k, made *m)
{
    results r = {{NULL}};
    if (succeeded(call(w, k, &r, NULL), jobs[k].name)) {
        size_t n = (size_t)(m->count = kiln_array_size(r.array[0]));
        m->sum = malloc((n + 1) * sizeof *m->sum);
        m->greatest = malloc((n + 1) * sizeof *m->greatest);
        m->at = malloc((n + 1) * sizeof *m->at);
        succeeded(kiln_array_to_host(r.array[0], m->sum, n * sizeof *m->sum), "sums");
        succeeded(kiln_array_to_host(r.array[1], m->greatest, n * sizeof *m->greatest), "the greatest");
        succeeded(kiln_array_to_host(r.array[2], m->at, n * sizeof *m->at), "places");
    }
    free_results(&r);
}

static world *world_create(void)
{
    world *w = calloc(1, sizeof *w);
    jobs_set();
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.preamble = "struct best { float value; long long at; };\n"
                       "__device__ best better(best a, best b) {\n"
                       "    return b.value > a.value || (b.value == a.value && b.at < a.at) ? b : a;\n"
                       "}";
    options.reduce_type = "best";
    succeeded(kiln_reduction_create(&w->sum, "T x", "T y", "x", "a + b", "y = a", "0", "together_sum", NULL),
              "sum");
    succeeded(kiln_reduction_create(&w->best, "T x", "T value, int64 at", "best{x, _J}", "better(a, b)",
                                    "value = a.value; at = a.at", NULL, "together_best", &options),
              "best");
    for (int k = 0; k < JOBS && !in_trouble(); ++k) {
        int64_t size = size_of(&jobs[k]);
        float *x = malloc((size_t)size * sizeof *x);
        for (int64_t e = 0; e < size; ++e)
            x[e] = number_at(e + k);
        if (succeeded(kiln_array_from_host(&w->job[k].x, x, KILN_FLOAT32, jobs[k].ndim, jobs[k].shape,
                                           stage_device),
                      "numbers"))
            fetch_alone(w, k, &w->job[k]);
        if (!in_trouble())
            check_alone(&jobs[k], &w->job[k], x);
        free(x);
    }
    return w;
}

static void world_free(world *w)
{
    for (int k = 0; k < JOBS; ++k) {
        kiln_array_free(w->job[k].x);
        free(w->job[k].sum);
        free(w->job[k].greatest);
        free(w->job[k].at);
    }
    kiln_kernel_free(w->sum);
    kiln_kernel_free(w->best);
    free(w);
}

static int turns(void)
{
    return KILN_DEVICE_IS_CUDA(stage_device) ? MOST_TURNS : 2;
}

/* ---- two streams ---- */

/* Neither waits for the other: the same reduction on both in one turn, another in the next. */
static void two_streams(void)
{
    static results got[MOST_TURNS][JOBS][2];
    kiln_stream *stream[2] = {NULL, NULL};
    world *w = world_create();
    for (int s = 0; s < 2; ++s)
        succeeded(kiln_stream_create(&stream[s], stage_device, KILN_STREAM_NON_BLOCKING), "stream");
    succeeded(kiln_device_synchronize(stage_device), "synchronize");
    for (int turn = 0; turn < turns(); ++turn)
        for (int k = 0; k < JOBS; ++k)
            for (int s = 0; s < 2 && !in_trouble(); ++s)
                succeeded(call(w, (k + turn * s) % JOBS, &got[turn][k][s], stream[s]), "a call on a stream");
    succeeded(kiln_device_synchronize(stage_device), "synchronize");
    for (int turn = 0; turn < turns(); ++turn)
        for (int k = 0; k < JOBS; ++k)
            for (int s = 0; s < 2; ++s) {
                compare(w, (k + turn * s) % JOBS, &got[turn][k][s], "two streams", turn);
                free_results(&got[turn][k][s]);
            }
    for (int s = 0; s < 2; ++s)
        kiln_stream_free(stream[s]);
    world_free(w);
}

/* ---- threads ---- */

enum { THREADS = 4 };

typedef struct worker {
    const world *world;
    bool has_stream; /* of its own; the others share the default one */
    int number;
    kiln_status status;
    int wrong; /* calls */
    char message[200];
} worker;

static kiln_status work_on(worker *w, kiln_stream *stream)
{
    kiln_status status = KILN_OK;
    for (int turn = 0; turn < turns(); ++turn)
        for (int j = 0; j < JOBS && status == KILN_OK; ++j) {
            int k = (j + w->number / 2) % JOBS; /* pairs of threads make the same calls */
            results r = {{NULL}};
            bool same = false;
            status = call(w->world, k, &r, stream);
            if (status == KILN_OK)
                status = kiln_stream_synchronize(stream);
            if (status == KILN_OK)
                status = same_as_alone(&same, &w->world->job[k], &r);
            w->wrong += status == KILN_OK && !same;
            free_results(&r);
        }
    return status;
}

static void *work(void *user)
{
    worker *w = user;
    kiln_stream *stream = NULL;
    w->status = kiln_device_set_current(stage_device);
    if (w->status == KILN_OK && w->has_stream)
        w->status = kiln_stream_create(&stream, stage_device, KILN_STREAM_NON_BLOCKING);
    if (w->status == KILN_OK)
        w->status = work_on(w, stream);
    if (w->status != KILN_OK)
        snprintf(w->message, sizeof w->message, "%.190s", kiln_error_message());
    kiln_stream_free(stream);
    return NULL;
}

static void threads_with_one_kernel(void)
{
    pthread_t threads[THREADS];
    worker workers[THREADS];
    world *w = world_create();
    succeeded(kiln_device_synchronize(stage_device), "synchronize");
    memset(workers, 0, sizeof workers);
    for (int t = 0; t < THREADS; ++t) {
        workers[t] = (worker){.world = w, .has_stream = t % 2, .number = t};
        pthread_create(&threads[t], NULL, work, &workers[t]);
    }
    for (int t = 0; t < THREADS; ++t) {
        pthread_join(threads[t], NULL);
        trouble_unless(workers[t].status == KILN_OK, "thread %d: %s", t, workers[t].message);
        trouble_unless(workers[t].wrong == 0, "thread %d: %d calls differ from what they are alone", t,
                       workers[t].wrong);
    }
    world_free(w);
}

/* ---- graphs ---- */

/* A graph of every job, with results of its own. */
typedef struct recorded {
    kiln_stream *stream;
    kiln_graph_exec *exec;
    results got[JOBS];
} recorded;

static void record(recorded *r, const world *w)
{
    kiln_graph *graph = NULL;
    succeeded(kiln_stream_create(&r->stream, stage_device, KILN_STREAM_NON_BLOCKING), "stream");
    for (int k = 0; k < JOBS; ++k) /* the results exist before, so that the calls write into them */
        succeeded(call(w, k, &r->got[k], NULL), "an eager call");
    succeeded(kiln_device_synchronize(stage_device), "synchronize");
    if (in_trouble() || !succeeded(kiln_capture_begin(r->stream), "capture"))
        return;
    for (int k = 0; k < JOBS; ++k)
        succeeded(call(w, k, &r->got[k], r->stream), "a captured call");
    if (succeeded(kiln_capture_end(&graph, r->stream), "end of capture"))
        succeeded(kiln_graph_instantiate(&r->exec, graph), "instance");
    kiln_graph_free(graph);
}

/* So that a replay that does nothing is seen. */
static void spoil(recorded *r)
{
    static const float nothing = -77;
    static const int64_t nowhere = -77;
    for (int k = 0; k < JOBS; ++k)
        for (int j = 0; j < RESULTS; ++j)
            succeeded(kiln_array_fill(r->got[k].array[j], j == 2 ? (const void *)&nowhere : &nothing),
                      "fill");
}

static void free_recorded(recorded *r)
{
    kiln_graph_exec_free(r->exec);
    kiln_stream_free(r->stream);
    for (int k = 0; k < JOBS; ++k)
        free_results(&r->got[k]);
}

/* Two graphs on two streams, replayed many times, and eager calls of the same kernels on a third. */
static void graphs_replayed(void)
{
    recorded graph[2] = {{NULL}};
    results eager[JOBS] = {{{NULL}}};
    world *w = world_create();
    for (int g = 0; g < 2 && !in_trouble(); ++g)
        record(&graph[g], w);
    for (int turn = 0; turn < MOST_TURNS / 2 && !in_trouble(); ++turn) {
        spoil(&graph[0]);
        spoil(&graph[1]);
        succeeded(kiln_device_synchronize(stage_device), "synchronize");
        for (int again = 0; again < 10; ++again)
            for (int g = 0; g < 2; ++g)
                succeeded(kiln_graph_launch(graph[g].exec, graph[g].stream), "replay");
        for (int k = 0; k < JOBS; ++k)
            succeeded(call(w, k, &eager[k], NULL), "an eager call between replays");
        succeeded(kiln_device_synchronize(stage_device), "synchronize");
        for (int k = 0; k < JOBS; ++k) {
            compare(w, k, &graph[0].got[k], "the first graph", turn);
            compare(w, k, &graph[1].got[k], "the second graph", turn);
            compare(w, k, &eager[k], "eager beside graphs", turn);
            free_results(&eager[k]);
        }
    }
    free_recorded(&graph[0]);
    free_recorded(&graph[1]);
    world_free(w);
}

const test_case reduction_together_cases[] = {
    {"two_streams", two_streams, CASE_DEVICE},
    {"threads_with_one_kernel", threads_with_one_kernel, CASE_DEVICE},
    {"graphs_replayed", graphs_replayed, CASE_CUDA | CASE_DEVICE},
    {NULL, NULL, 0},
};
