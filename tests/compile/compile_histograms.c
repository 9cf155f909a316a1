/* compile_histograms - histograms of floats through NVRTC, without a device: no text of theirs names what the
 * kernels' own texts need. `compile_histograms sources` writes the sources, and compiles none. */
#include <kiln/kiln.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char target[] = "sm_90";

/* Bins that blocks have in shared memory, and those that they have not. */
static const struct way {
    kiln_dtype dtype;
    const char *reduce, *identity;
    unsigned flags;
    int64_t bins;
} ways[] = {{KILN_FLOAT32, NULL, NULL, 0, 100000},
            {KILN_FLOAT64, NULL, NULL, 0, 4000},
            {KILN_FLOAT32, NULL, NULL, KILN_KERNEL_ANY_ORDER, 100000},
            {KILN_FLOAT32, "kn_greatest(a, b)", "-1", 0, 4000},
            {KILN_FLOAT64, "kn_least(a, b)", "1", 0, 100000}};
enum { WAYS = sizeof ways / sizeof ways[0] };

static kiln_status run(const struct way *w, bool only_sources)
{
    const int64_t shape[] = {1000};
    kiln_kernel *kernel = NULL;
    kiln_array *array[2] = {NULL, NULL};
    char *text = NULL;
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    kiln_prepare_options prepare = KILN_PREPARE_OPTIONS_INIT;
    options.flags = w->flags;
    prepare.target = target;
    kiln_status status = kiln_array_zeros(&array[0], KILN_INT32, 1, shape, KILN_DEVICE_HOST);
    if (status == KILN_OK)
        status = kiln_array_zeros(&array[1], w->dtype, 1, shape, KILN_DEVICE_HOST);
    if (status == KILN_OK)
        status = kiln_histogram_create(&kernel, "int32 k, W w", "W z", "k", "w", w->reduce, NULL, w->identity,
                                       w->bins, "binned", &options);
    const kiln_arg in[] = {kiln_arg_array(array[0]), kiln_arg_array(array[1])};
    if (status == KILN_OK)
        status = only_sources ? kiln_kernel_source(&text, kernel, NULL, 1, in, 2, NULL, target)
                              : kiln_kernel_prepare(kernel, NULL, 1, in, 2, NULL, &prepare);
    free(text);
    kiln_kernel_free(kernel);
    kiln_array_free(array[0]);
    kiln_array_free(array[1]);
    return status;
}

int main(int argc, char **argv)
{
    const bool only_sources = argc > 1 && strcmp(argv[1], "sources") == 0;
    int failed = 0;
    for (int k = 0; k < WAYS; ++k) {
        kiln_status status = run(&ways[k], only_sources);
        if (status == KILN_ERROR_NOT_FOUND && !getenv("KILN_REQUIRE_NVRTC")) {
            printf("skipped: %s\n", kiln_error_message());
            return 77;
        }
        if (status != KILN_OK)
            fprintf(stderr, "way %d: %s\n%s\n", k, kiln_error_message(), kiln_error_log());
        failed += status != KILN_OK;
    }
    printf("%d histograms, %d failed\n", WAYS, failed);
    return failed > 0;
}
