/* bench_measure.c - medians of things measured alternately, so that whatever drifts meets all of them alike.
 */
#include "bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RUNNERS = 3, MAX_SAMPLES = 200, MIN_SAMPLES = 7, MAX_BATCH = 500, GRAPH_BATCH = 100 };

/* One thing that is measured. */
typedef struct lane {
    bench_runner runner;
    int64_t iteration;
    int batch;              /* runs in a sample; of a graph: launches of the graph */
    kiln_graph_exec *graph; /* GRAPH_BATCH runs, or NULL */
    double samples[MAX_SAMPLES];
} lane;

static bool run_batch(bench *b, lane *l, int count)
{
    bool ok = true;
    for (int i = 0; i < count && ok; i++)
        ok = l->graph ? bench_check(b, kiln_graph_launch(l->graph, b->stream))
                      : l->runner.run(b, l->runner.user, l->iteration++);
    return ok;
}

static bool wait(bench *b)
{
    return bench_check(b, kiln_stream_synchronize(b->stream));
}

/* Microseconds of a run, by the wall's clock; with wait_first false the work may still be queued. */
static bool time_on_host(bench *b, lane *l, int count, bool includes_wait, double *us)
{
    double start = cli_now_ms();
    bool ok = run_batch(b, l, count) && (!includes_wait || wait(b));
    *us = (cli_now_ms() - start) * 1e3 / count;
    return ok && wait(b);
}

static bool time_on_device(bench *b, lane *l, int count, double *us)
{
    double ms = 0;
    bool ok = bench_check(b, kiln_event_record(b->begin, b->stream)) && run_batch(b, l, count) &&
              bench_check(b, kiln_event_record(b->end, b->stream)) &&
              bench_check(b, kiln_event_synchronize(b->end)) &&
              bench_check(b, kiln_event_elapsed(&ms, b->begin, b->end));
    *us = ms * 1e3 / count / (l->graph ? GRAPH_BATCH : 1);
    return ok;
}

static bool time_batch(bench *b, bench_mode mode, lane *l, int count, double *us)
{
    if (mode == BENCH_ENQUEUE_TIME || !b->is_cuda)
        return time_on_host(b, l, count, mode != BENCH_ENQUEUE_TIME, us);
    return time_on_device(b, l, count, us);
}

static bool capture(bench *b, lane *l)
{
    kiln_graph *captured = NULL;
    bool began = bench_check(b, kiln_capture_begin(b->stream)), ok = began;
    for (int i = 0; i < GRAPH_BATCH && ok; i++)
        ok = l->runner.run(b, l->runner.user, l->iteration++);
    if (!began)
        return false;
    /* The capture is ended either way; the first failure's message stays. */
    char first[sizeof b->error];
    memcpy(first, b->error, sizeof first);
    bool ended = bench_check(b, kiln_capture_end(&captured, b->stream));
    if (!ok)
        memcpy(b->error, first, sizeof first);
    ok = ok && ended && bench_check(b, kiln_graph_instantiate(&l->graph, captured));
    kiln_graph_free(captured);
    return ok;
}

/* The first run compiles; then the batch that fills a sample: two milliseconds, on the host five, or less
 * where the least number of samples would not fit the seconds of a row. */
static bool prepare(bench *b, bench_mode mode, lane *l, int batch_at_least)
{
    const double sample_us = fmin(b->is_cuda ? 2000 : 5000, b->seconds * 1e6 / (2 * MIN_SAMPLES));
    double us = 0;
    if (!run_batch(b, l, 1) || !wait(b))
        return false;
    if (mode == BENCH_GRAPH_TIME && b->is_cuda && !capture(b, l))
        return false;
    if (!time_batch(b, mode, l, 3, &us) || !time_batch(b, mode, l, 3, &us))
        return false;
    double batch = sample_us / fmax(us, 0.01) / (l->graph ? GRAPH_BATCH : 1);
    l->batch = batch < 1 ? 1 : batch > MAX_BATCH ? MAX_BATCH : (int)batch;
    if (l->batch < batch_at_least && !l->graph)
        l->batch = batch_at_least;
    return true;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double quantile(const double *sorted, int count, double part)
{
    double at = part * (count - 1);
    int below = (int)at, above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

bench_time bench_summary(double *samples, int count)
{
    qsort(samples, (size_t)count, sizeof *samples, compare);
    return (bench_time){quantile(samples, count, 0.5), samples[0], quantile(samples, count, 0.1),
                        quantile(samples, count, 0.9), count};
}

static bool sample(bench *b, bench_mode mode, lane *lanes, int n, int *count)
{
    double end = cli_now_ms() + b->seconds * 1e3;
    bool ok = true;
    for (*count = 0; ok && *count < MAX_SAMPLES && (*count < MIN_SAMPLES || cli_now_ms() < end); ++*count)
        for (int k = 0; k < n && ok; k++)
            ok = time_batch(b, mode, &lanes[k], lanes[k].batch, &lanes[k].samples[*count]);
    return ok;
}

bool bench_measure(bench *b, bench_mode mode, int batch_at_least, const bench_runner *runners, int n,
                   bench_time *out)
{
    lane *lanes = calloc(MAX_RUNNERS, sizeof *lanes);
    int count = 0;
    if (!lanes || n > MAX_RUNNERS) {
        free(lanes);
        return bench_fail(b, "out of memory");
    }
    bool ok = true;
    for (int k = 0; k < n && ok; k++) {
        lanes[k].runner = runners[k];
        ok = prepare(b, mode, &lanes[k], batch_at_least);
    }
    ok = ok && sample(b, mode, lanes, n, &count);
    for (int k = 0; k < n && ok; k++)
        out[k] = bench_summary(lanes[k].samples, count);
    for (int k = 0; k < n; k++)
        kiln_graph_exec_free(lanes[k].graph);
    free(lanes);
    return ok;
}
