/* compact_graph.c - stream compaction in a CUDA graph: of particles that move, those inside a sphere are
 * kept. The host never asks how many there are: the next step of the graph reads the count where it is.
 * Without a CUDA device the same steps are calls, one after the other. */
#include <kiln/kiln.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 100000, STEPS = 20 };

static void must(kiln_status status)
{
    if (status == KILN_OK)
        return;
    fprintf(stderr, "%s: %s\n", kiln_status_name(status), kiln_error_message());
    exit(1);
}

typedef struct simulation {
    kiln_kernel *move, *keep, *total;
    kiln_array *x, *v;
    kiln_array *kept[3]; /* positions and numbers of those inside, of which `count` are written */
    kiln_array *sum;
} simulation;

/* All outputs are given, so nothing waits for the count, and a capture takes the call. */
static kiln_status step(void *user)
{
    simulation *s = user;
    const kiln_arg moving[] = {kiln_arg_array(s->x), kiln_arg_array(s->v)};
    const kiln_arg from[] = {kiln_arg_array(s->x), kiln_arg_float(1.0)};
    const kiln_arg found[] = {kiln_arg_array(s->kept[0]), kiln_arg_array(s->kept[2])};
    kiln_status status = kiln_kernel_call(s->move, &s->x, 1, moving, 2, NULL);
    if (status == KILN_OK)
        status = kiln_kernel_call(s->keep, s->kept, 3, from, 2, NULL);
    return status == KILN_OK ? kiln_kernel_call(s->total, &s->sum, 1, found, 2, NULL) : status;
}

static void make(simulation *s, float *x, float *v, kiln_device device)
{
    const int64_t shape[1] = {COUNT};
    unsigned state = 1;
    for (int k = 0; k < COUNT; ++k) {
        state = state * 1664525u + 1013904223u;
        x[k] = (float)(state >> 16) / 32768 - 1;
        v[k] = (float)(state >> 8 & 255) / 4096;
    }
    must(kiln_array_from_host(&s->x, x, KILN_FLOAT32, 1, shape, device));
    must(kiln_array_from_host(&s->v, v, KILN_FLOAT32, 1, shape, device));
    must(kiln_array_zeros(&s->kept[0], KILN_FLOAT32, 1, shape, device));
    must(kiln_array_zeros(&s->kept[1], KILN_INT32, 1, shape, device));
    must(kiln_array_zeros(&s->kept[2], KILN_INT64, 0, NULL, device));
    must(kiln_array_zeros(&s->sum, KILN_INT64, 0, NULL, device));
    must(kiln_elementwise_create(&s->move, "float32 x, float32 v", "float32 y", "y = x + v", "move", NULL));
    must(kiln_select_create(&s->keep, "float32 x, float32 radius", "float32 inside, int32 number",
                            "x < radius && x > -radius", "inside = x; number = (int32)i", "keep", NULL));
    /* Thousandths, as whole numbers: their sum does not depend on the order. Elements behind the count are
     * those of earlier steps. */
    must(kiln_reduction_create(&s->total, "float32 x, int64 count", "int64 sum",
                               "_J < count ? (int64)(x * 1000) : 0", "a + b", "sum = a", "0", "total", NULL));
}

/* The same step by a loop. */
static void check(const simulation *s, float *x, const float *v)
{
    static float inside[COUNT];
    static int32_t number[COUNT];
    int64_t count = 0, got[2] = {0, 0}, sum = 0;
    must(kiln_array_to_host(s->kept[0], inside, sizeof inside));
    must(kiln_array_to_host(s->kept[1], number, sizeof number));
    must(kiln_array_to_host(s->kept[2], &got[0], sizeof got[0]));
    must(kiln_array_to_host(s->sum, &got[1], sizeof got[1]));
    for (int k = 0; k < COUNT; ++k) {
        x[k] += v[k];
        if (!(x[k] < 1 && x[k] > -1))
            continue;
        if (inside[count] != x[k] || number[count] != k) {
            fprintf(stderr, "element %d is %g of particle %d, not %g of %d\n", (int)count,
                    (double)inside[count], (int)number[count], (double)x[k], k);
            exit(1);
        }
        sum += (int64_t)(x[k] * 1000);
        ++count;
    }
    if (got[0] != count || got[1] != sum) {
        fprintf(stderr, "%lld particles, sum %lld; not %lld and %lld\n", (long long)got[0], (long long)got[1],
                (long long)count, (long long)sum);
        exit(1);
    }
}

int main(void)
{
    static float x[COUNT], v[COUNT];
    kiln_device device = KILN_DEVICE_HOST;
    kiln_graph_exec *graph = NULL;
    simulation s = {NULL};
    int64_t left = 0;
    must(kiln_device_current(&device));
    make(&s, x, v, device);
    if (device != KILN_DEVICE_HOST)
        must(kiln_capture(&graph, NULL, step, &s));
    for (int k = 0; k < STEPS; ++k) {
        if (graph)
            must(kiln_graph_launch(graph, NULL));
        else
            must(step(&s));
        check(&s, x, v);
    }
    must(kiln_array_to_host(s.kept[2], &left, sizeof left));
    printf("%lld of %d particles are left after %d steps%s\n", (long long)left, (int)COUNT, (int)STEPS,
           graph ? ", replays of one graph" : "");
    kiln_graph_exec_free(graph);
    kiln_kernel_free(s.move);
    kiln_kernel_free(s.keep);
    kiln_kernel_free(s.total);
    kiln_array_free(s.x);
    kiln_array_free(s.v);
    kiln_array_free(s.sum);
    for (int j = 0; j < 3; ++j)
        kiln_array_free(s.kept[j]);
    return 0;
}
