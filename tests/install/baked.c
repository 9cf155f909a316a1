/* baked NAME...: calls operations on small arrays, and says what that took; 1 where anything was compiled.
 * baked COUNT: the first operations of the table that take float64, as a program calls them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <kiln/kiln.h>

enum { MOST = 4 /* inputs, or results */ };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* The inputs and results of the variant whose inputs are all float64, and its results these or booleans;
 * false: there is none. */
static int find_variant(int *n_in, int *n_out, const kiln_operation *operation)
{
    for (const char *at = operation->types; *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " "), inputs = strspn(at, "d");
        if (inputs > 0 && inputs <= MOST && at[inputs] == '-' && operation->map) {
            const size_t results = strspn(at + inputs + strlen("->"), "d?");
            *n_in = (int)inputs;
            *n_out = (int)results;
            return results <= MOST && inputs + strlen("->") + results == length;
        }
        at += length;
    }
    return 0;
}

static int find_operation(int *n_in, int *n_out, const char *name)
{
    kiln_operation operation = KILN_OPERATION_INIT;
    for (int k = 0; k < kiln_operation_count(); k++)
        if (kiln_operation_at(&operation, k) == KILN_OK && strcmp(operation.name, name) == 0 &&
            find_variant(n_in, n_out, &operation))
            return 1;
    fprintf(stderr, "%s: no variant takes float64\n", name);
    return 0;
}

/* Prints the first result of four ones. */
static int call(const char *name, int n_in, int n_out)
{
    const int64_t shape = 4;
    const double ones[] = {1, 1, 1, 1};
    double values[4] = {0};
    kiln_array *x = NULL, *out[MOST] = {NULL};
    kiln_arg in[MOST];
    kiln_status status = kiln_array_from_host(&x, ones, KILN_FLOAT64, 1, &shape, KILN_DEVICE_DEFAULT);
    for (int k = 0; k < n_in; k++)
        in[k] = kiln_arg_array(x);
    if (status == KILN_OK)
        status = kiln_operation_call(out, n_out, name, in, n_in, NULL);
    if (status == KILN_OK)
        status = kiln_array_to_host(out[0], values, kiln_array_nbytes(out[0]));
    if (status == KILN_OK && kiln_array_dtype(out[0]) == KILN_FLOAT64)
        printf("%s %g\n", name, values[0]);
    else if (status != KILN_OK)
        fprintf(stderr, "%s: %s\n", name, kiln_error_message());
    kiln_array_free(x);
    for (int k = 0; k < n_out; k++)
        kiln_array_free(out[k]);
    return status == KILN_OK;
}

/* So many operations, as they stand in the table. */
static int call_first(int count)
{
    kiln_operation operation = KILN_OPERATION_INIT;
    char last[64] = "";
    int n_in, n_out, called = 0;
    for (int k = 0; k < kiln_operation_count() && called < count; k++) {
        if (kiln_operation_at(&operation, k) != KILN_OK)
            return 0;
        if (strcmp(operation.name, last) == 0 || !find_variant(&n_in, &n_out, &operation))
            continue;
        snprintf(last, sizeof last, "%s", operation.name);
        if (!call(last, n_in, n_out))
            return 0;
        called++;
    }
    return called == count;
}

int main(int argc, char **argv)
{
    double start = now_ms();
    int n_in, n_out, count = argc == 2 ? atoi(argv[1]) : 0;
    kiln_cache_stats stats = KILN_CACHE_STATS_INIT;
    if (count > 0 && !call_first(count))
        return 1;
    for (int i = 1; i < argc && count == 0; i++)
        if (!find_operation(&n_in, &n_out, argv[i]) || !call(argv[i], n_in, n_out))
            return 1;
    if (kiln_cache_get_stats(&stats) != KILN_OK)
        return 1;
    printf("compiled %llu, from bundles %llu of %llu bundles, %.1f ms\n", (unsigned long long)stats.compiles,
           (unsigned long long)stats.bundle_hits, (unsigned long long)stats.bundles, now_ms() - start);
    return stats.compiles > 0;
}
