/* Reductions through NVRTC, for several architectures: each number of threads that share a result, dtypes, structs, several outputs, both
 * indices. No device is needed. */
#include <kiln/kiln.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const targets[] = {"sm_75", "sm_90", "sm_100"};
static const kiln_dtype dtypes[] = {KILN_BOOL,     KILN_INT8,    KILN_UINT64,  KILN_FLOAT16,
                                    KILN_BFLOAT16, KILN_FLOAT32, KILN_FLOAT64, KILN_COMPLEX64};
static int compiled, failed;

/* A kernel for one shape, all of which but the first axis is reduced. */
static int prepare(kiln_kernel *kernel, int n_out, kiln_dtype dtype, int64_t length, const char *target)
{
    const int64_t shape[] = {5, length};
    const int last = 1;
    kiln_array *x = NULL;
    kiln_call_options call = KILN_CALL_OPTIONS_INIT;
    kiln_prepare_options options = KILN_PREPARE_OPTIONS_INIT;
    call.axes = &last;
    call.n_axes = 1;
    options.target = target;
    kiln_status status = kiln_array_zeros(&x, dtype, 2, shape, KILN_DEVICE_HOST);
    const kiln_arg in = kiln_arg_array(x);
    if (status == KILN_OK)
        status = kiln_kernel_prepare(kernel, NULL, n_out, &in, 1, &call, &options);
    kiln_array_free(x);
    if (status == KILN_ERROR_NOT_FOUND && !getenv("KILN_REQUIRE_NVRTC")) {
        printf("skipped: %s\n", kiln_error_message());
        return 77;
    }
    compiled++;
    if (status != KILN_OK) {
        failed++;
        fprintf(stderr, "%s of %lld %s for %s: %s\n%s\n", kiln_kernel_name(kernel), (long long)length,
                kiln_dtype_name(dtype), target, kiln_error_message(), kiln_error_log());
    }
    return 0;
}

int main(void)
{
    static const int64_t lengths[] = {3, 100, 5000}; /* one thread, a warp, a block */
    kiln_kernel *sum = NULL, *best = NULL;
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.preamble = "struct best { float value; long long at, where; };\n"
                       "__device__ best better(best a, best b) { return b.value > a.value ? b : a; }";
    options.reduce_type = "best";
    if (kiln_reduction_create(&sum, "T x", "T y", "x", "a + b", "y = a", "0", "total", NULL) != KILN_OK ||
        kiln_reduction_create(&best, "float32 x", "float32 y, int64 at, int64 n", "best{x, _J, (long long)i}",
                              "better(a, b)", "y = a.value; at = a.at; n = _in_ind.size() / _out_ind.size()",
                              NULL, "best", &options) != KILN_OK) {
        fprintf(stderr, "%s\n", kiln_error_message());
        return 1;
    }
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
                if (t == l || dtypes[d] == KILN_FLOAT16)
                    if (prepare(sum, 1, dtypes[d], lengths[l], targets[t]))
                        return 77;
            prepare(best, 3, KILN_FLOAT32, lengths[l], targets[t]);
        }
    kiln_kernel_free(sum);
    kiln_kernel_free(best);
    printf("%d kernels compiled, %d failed\n", compiled, failed);
    return failed ? 1 : 0;
}
