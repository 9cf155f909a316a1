/*
 * cuda_graph.c - CUDA graphs: a sequence of calls captured once and replayed for the price of one launch.
 * Needs a CUDA device: the host has no graphs (exit code 77).
 */
#include <kiln/kiln.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1000, REPLAYS = 50 };

static void must(kiln_status status)
{
    if (status == KILN_OK)
        return;
    fprintf(stderr, "%s: %s\n", kiln_status_name(status), kiln_error_message());
    exit(1);
}

static void expect_all(kiln_array *array, const char *what, float expected)
{
    static float got[COUNT];
    must(kiln_array_to_host(array, got, sizeof got));
    for (int k = 0; k < COUNT; k++) {
        if (got[k] != expected) {
            fprintf(stderr, "%s: element %d is %g, not %g\n", what, k, (double)got[k], (double)expected);
            exit(1);
        }
    }
    printf("%s: right\n", what);
}

typedef struct step {
    kiln_kernel *grow, *add;
    kiln_array *x, *y;
} step;

/* x = x + 1; t = 2 x; y = y + t, where t is memory of the graph's own. */
static kiln_status run_step(void *user)
{
    step *s = user;
    kiln_array *t = NULL;
    const kiln_arg more[] = {kiln_arg_array(s->x), kiln_arg_int(1), kiln_arg_int(1)};
    const kiln_arg twice[] = {kiln_arg_array(s->x), kiln_arg_int(2), kiln_arg_int(0)};
    kiln_status status = kiln_kernel_call(s->grow, &s->x, 1, more, 3, NULL);
    if (status == KILN_OK)
        status = kiln_kernel_call(s->grow, &t, 1, twice, 3, NULL);
    if (status == KILN_OK) {
        const kiln_arg sum[] = {kiln_arg_array(s->y), kiln_arg_array(t)};
        status = kiln_kernel_call(s->add, &s->y, 1, sum, 2, NULL);
    }
    kiln_array_free(t);
    return status;
}

static void show_capture(step *s)
{
    kiln_graph_exec *graph = NULL;
    /* Nothing runs yet. Kernels that are new are compiled meanwhile. */
    must(kiln_capture(&graph, NULL, run_step, s));
    for (int k = 0; k < REPLAYS; k++)
        must(kiln_graph_launch(graph, NULL));
    expect_all(s->x, "x after all replays", REPLAYS);
    expect_all(s->y, "the sum of 2, 4, 6, ...", REPLAYS * (REPLAYS + 1));
    must(run_step(s)); /* eager calls and replays mix */
    must(kiln_graph_launch(graph, NULL));
    expect_all(s->x, "x after an eager call and a replay", REPLAYS + 2);
    kiln_graph_exec_free(graph);
}

int main(void)
{
    const int64_t shape[1] = {COUNT};
    int devices = 0;
    step s = {NULL, NULL, NULL, NULL};
    must(kiln_device_count(&devices));
    if (devices == 0) {
        printf("no CUDA device: %s\n", kiln_device_why_no_cuda());
        return 77;
    }
    must(kiln_device_set_current(KILN_DEVICE_CUDA(0)));
    must(kiln_elementwise_create(&s.grow, "T x, T factor, T more", "T y", "y = factor * x + more", "grow",
                                 NULL));
    must(kiln_elementwise_create(&s.add, "T x, T y", "T z", "z = x + y", "add", NULL));
    must(kiln_array_zeros(&s.x, KILN_FLOAT32, 1, shape, KILN_DEVICE_DEFAULT));
    must(kiln_array_zeros(&s.y, KILN_FLOAT32, 1, shape, KILN_DEVICE_DEFAULT));
    show_capture(&s);
    kiln_array_free(s.x);
    kiln_array_free(s.y);
    kiln_kernel_free(s.grow);
    kiln_kernel_free(s.add);
    return 0;
}
