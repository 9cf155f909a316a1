/* Replays a trace of allocations (traces.py) with kiln's pool: the memory held, and the time of an operation.
 *
 *     replay_memory FILE [ROUNDS]
 *
 * The first round is cold; the others say what a warm operation costs, arrays' own part included. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <kiln/kiln.h>

typedef struct operation {
    long name;
    int64_t size; /* -1: a free */
} operation;

typedef struct trace {
    operation *list;
    size_t count, capacity;
    long names;
} trace;

static int read_trace(trace *t, const char *path)
{
    char line[80];
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        operation op = {0, -1};
        if (line[0] == 'a')
            sscanf(line + 1, "%ld %lld", &op.name, (long long *)&op.size);
        else
            sscanf(line + 1, "%ld", &op.name);
        if (t->count == t->capacity) {
            t->capacity = t->capacity ? 2 * t->capacity : 1024;
            operation *list = realloc(t->list, t->capacity * sizeof *t->list);
            if (!list)
                abort();
            t->list = list;
        }
        t->list[t->count++] = op;
        t->names = op.name >= t->names ? op.name + 1 : t->names;
    }
    if (file)
        fclose(file);
    return file != NULL;
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int replay(const trace *t, kiln_array **arrays, double *ns)
{
    double start = now_ns();
    for (size_t i = 0; i < t->count; i++) {
        const operation *op = &t->list[i];
        if (op->size < 0) {
            kiln_array_free(arrays[op->name]);
            arrays[op->name] = NULL;
        } else if (kiln_array_empty(&arrays[op->name], KILN_UINT8, 1, &op->size, KILN_DEVICE_DEFAULT) !=
                   KILN_OK) {
            return 0;
        }
    }
    *ns = (now_ns() - start) / (double)t->count;
    for (long n = 0; n < t->names; n++) {
        kiln_array_free(arrays[n]);
        arrays[n] = NULL;
    }
    return 1;
}

/* All rounds; the first failure ends them. */
static int measure(const trace *t, kiln_array **arrays, int rounds, const char *name)
{
    kiln_memory_stats s = KILN_MEMORY_STATS_INIT;
    double cold = 0, ns = 0, warm = 0;
    for (int round = 0; round < rounds; round++) {
        if (!replay(t, arrays, &ns))
            return 0;
        cold = round ? cold : ns;
        warm = round < 2 || ns < warm ? ns : warm;
    }
    if (kiln_memory_get_stats(KILN_DEVICE_DEFAULT, &s) != KILN_OK)
        return 0;
    printf(
        "%s: used %.0f MB, held %.0f MB (%.3f), %llu calls of the device, %.0f ns an operation (cold %.0f)\n",
        name, (double)s.peak_used_bytes / 1e6, (double)s.peak_held_bytes / 1e6,
        (double)s.peak_held_bytes / (double)s.peak_used_bytes, (unsigned long long)s.device_allocations, warm,
        cold);
    return 1;
}

int main(int argc, char **argv)
{
    trace t = {NULL, 0, 0, 0};
    int rounds = argc > 2 ? atoi(argv[2]) : 3, failed = 0;
    if (argc < 2 || !read_trace(&t, argv[1])) {
        fprintf(stderr, "usage: replay_memory FILE [ROUNDS]\n");
        free(t.list);
        return 2;
    }
    kiln_array **arrays = calloc((size_t)t.names + 1, sizeof(kiln_array *));
    if (!arrays || !measure(&t, arrays, rounds, argv[1])) {
        fprintf(stderr, "%s\n", arrays ? kiln_error_message() : "out of memory");
        failed = 1;
    }
    for (long n = 0; arrays && n < t.names; n++)
        kiln_array_free(arrays[n]);
    free(arrays);
    free(t.list);
    return failed;
}
