/* baked NAME...: calls operations on small arrays, and says what that took; 1 where anything was compiled. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <kiln/kiln.h>

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* The first result of four ones: add and multiply take two of them. */
static int call(const char *name, double *first)
{
    const int64_t shape = 4;
    const double ones[] = {1, 1, 1, 1};
    kiln_array *x = NULL, *z = NULL;
    int n_in = strcmp(name, "add") == 0 || strcmp(name, "multiply") == 0 ? 2 : 1;
    kiln_status status = kiln_array_from_host(&x, ones, KILN_FLOAT64, 1, &shape, KILN_DEVICE_DEFAULT);
    const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_array(x)};
    if (status == KILN_OK)
        status = kiln_operation_call(&z, 1, name, in, n_in, NULL);
    double values[4] = {0};
    if (status == KILN_OK)
        status = kiln_array_to_host(z, values, kiln_array_nbytes(z));
    *first = values[0];
    kiln_array_free(x);
    kiln_array_free(z);
    if (status != KILN_OK)
        fprintf(stderr, "%s: %s\n", name, kiln_error_message());
    return status == KILN_OK;
}

int main(int argc, char **argv)
{
    double start = now_ms();
    kiln_cache_stats stats = KILN_CACHE_STATS_INIT;
    for (int i = 1; i < argc; i++) {
        double first = 0;
        if (!call(argv[i], &first))
            return 1;
        printf("%s %g\n", argv[i], first);
    }
    if (kiln_cache_get_stats(&stats) != KILN_OK)
        return 1;
    printf("compiled %llu, from bundles %llu of %llu bundles, %.1f ms\n", (unsigned long long)stats.compiles,
           (unsigned long long)stats.bundle_hits, (unsigned long long)stats.bundles, now_ms() - start);
    return stats.compiles > 0;
}
