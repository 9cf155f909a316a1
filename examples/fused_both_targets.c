/*
 * fused_both_targets.c - softplus, log(1 + exp(x)), written once as it is in NumPy and run on the host and,
 * where there is a device, on CUDA. Checked against plain C in double precision, and timed against the same
 * operations one after another.
 *
 *     example_fused_both_targets [ELEMENTS]
 */
#include "unfused.h"

enum { X, ZERO, GIVEN, V2 = GIVEN, V3, V4, V5, V6, V7 };

static const step steps[] = {
    {"abs", V2, {X}, 1, false},    {"negative", V3, {V2}, 1, false},     {"exp", V4, {V3}, 1, false},
    {"log1p", V5, {V4}, 1, false}, {"maximum", V6, {X, ZERO}, 2, false}, {"add", V7, {V6, V5}, 2, false},
};
enum { STEPS = sizeof steps / sizeof *steps };

/* From -30 to 30, where the result grows from 1e-13 to 30. */
static float x_at(int64_t k, int64_t count)
{
    return (float)(60 * (double)k / (double)count - 30);
}

static bool is_right(const char *name, const way *w, int64_t count)
{
    float *got = result_of(w, count, sizeof *got);
    double worst = 0;
    if (!got) {
        complain(name);
        return false;
    }
    for (int64_t k = 0; k < count; k++) {
        double want = log1p(exp((double)x_at(k, count))), error = fabs(got[k] - want) / want;
        worst = error <= worst ? worst : error; /* NaN counts as wrong */
    }
    free(got);
    bool is_good = worst < 1e-6;
    printf("%-12s largest relative error %.1e %s\n", name, worst, is_good ? "(good)" : "(WRONG)");
    return is_good;
}

static int run_on(kiln_device device, kiln_kernel *kernel, const float *elements, int64_t count)
{
    char name[16];
    kiln_array *x = NULL;
    int failed = 0;
    kiln_device_name(device, name, sizeof name);
    if (kiln_device_set_current(device) != KILN_OK ||
        kiln_array_from_host(&x, elements, KILN_FLOAT32, 1, &count, device) != KILN_OK)
        return complain(name);
    const kiln_arg in[GIVEN] = {kiln_arg_array(x), kiln_arg_float(0)};
    way fused = {.run = run_fused, .device = device, .kernel = kernel, .n_in = 1, .in = in};
    way unfused = {
        .run = run_unfused, .device = device, .steps = steps, .n_steps = STEPS, .n_in = GIVEN, .in = in};
    failed = !is_right(name, &fused, count) || !is_right(name, &unfused, count);
    if (!failed && print_times(name, &fused, &unfused) != KILN_OK)
        failed = complain(name);
    kiln_array_free(x);
    return failed;
}

int main(int argc, char **argv)
{
    int64_t count = argc > 1 ? atoll(argv[1]) : 1 << 18;
    kiln_kernel *softplus = NULL;
    int devices = 0;
    if (count < 1) {
        fprintf(stderr, "usage: %s [ELEMENTS]\n", argv[0]);
        return 2;
    }
    float *x = malloc((size_t)count * sizeof *x);
    for (int64_t k = 0; k < count && x; k++)
        x[k] = x_at(k, count);
    if (!x || kiln_device_count(&devices) != KILN_OK ||
        kiln_expression_create(&softplus, "x", "maximum(x, 0) + log1p(exp(-abs(x)))", NULL) != KILN_OK) {
        free(x);
        return complain("softplus");
    }
    int failed = run_on(KILN_DEVICE_HOST, softplus, x, count);
    if (devices > 0)
        failed |= run_on(KILN_DEVICE_CUDA(0), softplus, x, count);
    else
        printf("no CUDA device: %s\n", kiln_device_why_no_cuda());
    kiln_kernel_free(softplus);
    free(x);
    return failed;
}
