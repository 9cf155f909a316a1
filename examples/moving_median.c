/* moving_median.c - a moving median: the median of each window of a series, which removes spikes that a
 * moving mean would spread. Windows are views of the series, and each is sorted as a row; nothing is copied
 * by hand. The reference sorts each window by insertion. */
#include <kiln/kiln.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 20000, WINDOW = 9, RESULTS = COUNT - WINDOW + 1 };

static void must(kiln_status status)
{
    if (status == KILN_OK)
        return;
    fprintf(stderr, "%s: %s\n", kiln_status_name(status), kiln_error_message());
    exit(1);
}

/* A slow wave, noise, and a spike in one of fifty elements. */
static void make_series(float *x)
{
    unsigned state = 1;
    for (int k = 0; k < COUNT; ++k) {
        state = state * 1664525u + 1013904223u;
        x[k] = sinf((float)k / 500) + (float)(state >> 16 & 255) / 2560;
        x[k] += (state >> 24) % 50 == 0 ? 40 : 0;
    }
}

static float median_of_window(const float *from)
{
    float sorted[WINDOW];
    for (int k = 0; k < WINDOW; ++k) {
        int at = k;
        for (; at > 0 && sorted[at - 1] > from[k]; --at)
            sorted[at] = sorted[at - 1];
        sorted[at] = from[k];
    }
    return sorted[WINDOW / 2];
}

int main(void)
{
    static float x[COUNT], median[RESULTS], mean[RESULTS];
    const int64_t shape[1] = {COUNT};
    kiln_device device = KILN_DEVICE_HOST;
    kiln_array *series = NULL, *out[2] = {NULL, NULL};
    kiln_kernel *smooth = NULL;
    float greatest[2] = {0, 0};
    make_series(x);
    must(kiln_device_current(&device));
    must(kiln_array_from_host(&series, x, KILN_FLOAT32, 1, shape, device));
    must(kiln_expression_create(&smooth, "x",
                                "w = sliding_window_view(x, 9); median(w, axis=-1), mean(w, axis=-1)", NULL));
    const kiln_arg in[] = {kiln_arg_array(series)};
    must(kiln_kernel_call(smooth, out, 2, in, 1, NULL));
    must(kiln_array_to_host(out[0], median, sizeof median));
    must(kiln_array_to_host(out[1], mean, sizeof mean));
    for (int k = 0; k < RESULTS; ++k) {
        if (median[k] != median_of_window(x + k)) {
            fprintf(stderr, "window %d: %g, not %g\n", k, (double)median[k], (double)median_of_window(x + k));
            return 1;
        }
        greatest[0] = fmaxf(greatest[0], median[k]);
        greatest[1] = fmaxf(greatest[1], mean[k]);
    }
    printf("%d windows of %d elements; greatest mean %.2f, greatest median %.2f\n", (int)RESULTS, (int)WINDOW,
           (double)greatest[1], (double)greatest[0]);
    kiln_array_free(series);
    kiln_array_free(out[0]);
    kiln_array_free(out[1]);
    kiln_kernel_free(smooth);
    return 0;
}
