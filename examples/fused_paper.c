/*
 * fused_paper.c - the measurement of the paper that introduced CuPy (Okuta, Unno, Nishino, Hido, Loomis,
 * "CuPy: a NumPy-compatible library for NVIDIA GPU calculations", 2017), arange(n).reshape(1000, -1).T * 2,
 * as one kernel that computes each element from its index and writes it once. Every element is checked
 * against plain C; the time stands beside that of arange, two views and multiply.
 *
 *     example_fused_paper [LARGEST]    powers of ten from 10000 on; default 1000000
 */
#include "unfused.h"

static kiln_status run_separately(kiln_array **out, const way *w)
{
    const int64_t shape[2] = {1000, -1};
    kiln_array *range = NULL, *matrix = NULL, *turned = NULL;
    kiln_status status = kiln_array_arange_int(&range, 0, w->in[0].value.i, 1, KILN_INT64, w->device);
    if (status == KILN_OK)
        status = kiln_array_reshape(&matrix, range, 2, shape);
    if (status == KILN_OK)
        status = kiln_array_transpose(&turned, matrix, NULL);
    if (status == KILN_OK) {
        kiln_arg in[] = {kiln_arg_array(turned), kiln_arg_int(2)};
        kiln_call_options options = KILN_CALL_OPTIONS_INIT;
        options.order = KILN_ORDER_KEEP; /* as NumPy: the result lies in memory as what it is made of */
        status = kiln_operation_call(out, 1, "multiply", in, 2, &options);
    }
    kiln_array_free(turned);
    kiln_array_free(matrix);
    kiln_array_free(range);
    return status;
}

/* Every element: the result's shape is (n / 1000, 1000). */
static bool is_right(const way *w, int64_t n)
{
    int64_t *got = result_of(w, n, sizeof *got), rows = n / 1000, wrong = 0;
    if (!got) {
        complain("result");
        return false;
    }
    for (int64_t k = 0; k < n; k++)
        wrong += got[k] != 2 * (k % 1000 * rows + k / 1000);
    free(got);
    if (wrong)
        printf("n = %lld: %lld elements are wrong (WRONG)\n", (long long)n, (long long)wrong);
    return wrong == 0;
}

static int run(int64_t n)
{
    char name[24], expression[64];
    const kiln_arg size = kiln_arg_int(n);
    way fused = {.run = run_fused, .device = KILN_DEVICE_DEFAULT};
    way separate = {
        .run = run_separately, .device = KILN_DEVICE_DEFAULT, .in = &size, .n_in = 1, .operations = 2};
    snprintf(name, sizeof name, "n = %lld", (long long)n);
    snprintf(expression, sizeof expression, "arange(%lld).reshape(1000, -1).T * 2", (long long)n);
    if (kiln_expression_create(&fused.kernel, "", expression, NULL) != KILN_OK)
        return complain(expression);
    int failed = !is_right(&fused, n) || !is_right(&separate, n);
    if (!failed && print_times(name, &fused, &separate) != KILN_OK)
        failed = complain(name);
    kiln_kernel_free(fused.kernel);
    return failed;
}

int main(int argc, char **argv)
{
    int64_t largest = argc > 1 ? atoll(argv[1]) : 1000000;
    int failed = 0;
    if (largest < 10000) {
        fprintf(stderr, "usage: %s [LARGEST]: 10000 or more\n", argv[0]);
        return 2;
    }
    for (int64_t n = 10000; n <= largest && !failed; n *= 10)
        failed = run(n);
    if (!failed)
        printf("all elements as plain C has them (good)\n");
    return failed;
}
