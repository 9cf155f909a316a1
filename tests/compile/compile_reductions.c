/* Reductions through NVRTC, for several architectures: layouts that each kind of kernel takes, in each of its
 * forms, by dtypes, structs, several inputs and outputs, both indices. Of their products a third of those
 * that `compile_reductions sources` writes are drawn, with KILN_SOAK=1 more. No device is needed. */
#include <kiln/kiln.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drawn.h"

static const char *const targets[] = {"sm_75", "sm_90", "sm_100"};
static const kiln_dtype dtypes[] = {KILN_BOOL,     KILN_INT8,    KILN_UINT64,  KILN_FLOAT16,
                                    KILN_BFLOAT16, KILN_FLOAT32, KILN_FLOAT64, KILN_COMPLEX64};

/* Strides in elements; addresses are aligned but for `off` elements. */
typedef struct layout {
    const char *kind;
    int ndim;
    int64_t shape[4], stride[4];
    int n_axes, axes[4];
    int off;
} layout;

static const layout layouts[] = {
    {"reduce_tile", 2, {500, 7}, {7, 1}, 1, {1}, 0},
    {"reduce_tile", 3, {500, 9, 30}, {270, 30, 1}, 1, {1}, 0},
    {"reduce_lanes", 2, {500, 64}, {64, 1}, 1, {1}, 0},
    {"reduce_lanes", 2, {500, 256}, {256, 1}, 1, {1}, 0},
    {"reduce_lanes", 2, {500, 512}, {512, 1}, 1, {1}, 0},
    {"reduce_lanes", 2, {500, 20}, {77, 1}, 1, {1}, 0},
    {"reduce_lanes", 2, {500, 501}, {501, 1}, 1, {1}, 1},
    {"reduce_lanes", 3, {9, 500, 256}, {500 * 512, 512, 1}, 2, {0, 2}, 0},
    {"reduce_slices", 2, {900, 20}, {22, 1}, 1, {1}, 0},
    {"reduce_slices", 3, {100, 20, 90}, {2000, 100, 1}, 2, {0, 2}, 0},
    {"reduce_rows", 2, {5, 5000}, {5000, 1}, 1, {1}, 0},
    {"reduce_rows", 2, {5, 5001}, {5001, 1}, 1, {1}, 1},
    {"reduce_rows", 1, {1 << 20}, {1}, 1, {0}, 0},
    {"reduce_rows", 2, {5, 5000}, {20000, 2}, 1, {1}, 0},
    {"reduce_rows", 3, {64, 8, 1024}, {8 * 1024, 1024, 1}, 2, {0, 2}, 0},
    {"reduce_rows", 4, {8, 7, 6, 1024}, {7 * 6 * 1100, 6 * 1100, 1100, 1}, 3, {0, 1, 3}, 0},
    {"reduce_columns", 2, {5000, 4096}, {4096, 1}, 1, {0}, 0},
    {"reduce_columns", 2, {5000, 4097}, {4097, 1}, 1, {0}, 0},
    {"reduce_columns", 2, {5000, 7}, {7, 1}, 1, {0}, 0},
    {"reduce_columns", 2, {5000, 7}, {14, 2}, 1, {0}, 0},
    {"reduce_columns", 3, {5000, 64, 16}, {1024, 16, 1}, 2, {0, 2}, 0},
    {"reduce_columns", 4, {50, 6, 40, 64}, {6 * 40 * 64, 40 * 64, 64, 1}, 2, {0, 2}, 0},
};

static int compiled, failed;
static int only_sources;

/* A kernel for one layout. */
static int prepare(kiln_kernel *kernel, int n_in, int n_out, kiln_dtype dtype, const layout *l,
                   const char *target)
{
    kiln_call_options call = KILN_CALL_OPTIONS_INIT;
    kiln_prepare_options options = KILN_PREPARE_OPTIONS_INIT;
    kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
    int64_t strides[4];
    static _Alignas(64) char nothing[64];
    kiln_array *x = NULL;
    char *text = NULL;
    call.axes = l->axes;
    call.n_axes = l->n_axes;
    options.target = target;
    for (int a = 0; a < l->ndim; a++)
        strides[a] = l->stride[a] * (int64_t)kiln_dtype_size(dtype);
    spec.dtype = dtype;
    spec.ndim = l->ndim;
    spec.shape = l->shape;
    spec.strides = strides;
    spec.device = KILN_DEVICE_HOST;
    kiln_status status =
        kiln_array_wrap(&x, nothing + (size_t)l->off * kiln_dtype_size(dtype), &spec, NULL, NULL);
    const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_array(x)};
    if (status == KILN_OK)
        status = only_sources ? kiln_kernel_source(&text, kernel, NULL, n_out, in, n_in, &call, target)
                              : kiln_kernel_prepare(kernel, NULL, n_out, in, n_in, &call, &options);
    free(text);
    kiln_array_free(x);
    if (status == KILN_ERROR_NOT_FOUND && !getenv("KILN_REQUIRE_NVRTC")) {
        printf("skipped: %s\n", kiln_error_message());
        return 77;
    }
    compiled++;
    if (status != KILN_OK) {
        failed++;
        fprintf(stderr, "%s of layout %d (%s), %s for %s: %s\n%s\n", kiln_kernel_name(kernel),
                (int)(l - layouts), l->kind, kiln_dtype_name(dtype), target, kiln_error_message(),
                kiln_error_log());
    }
    return 0;
}

int main(int argc, char **argv)
{
    only_sources = argc > 1 && !strcmp(argv[1], "sources");
    kiln_kernel *sum = NULL, *best = NULL, *both = NULL;
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.preamble =
        "struct best { float value; _index at; long long where; };\n"
        "__device__ best better(best a, best b, bool follows) {\n"
        "    return b.value > a.value || (!follows && b.at < a.at && b.value == a.value) ? b : a;\n"
        "}";
    options.reduce_type = "best";
    if (kiln_reduction_create(&sum, "T x", "T y", "x", "a + b", "y = a", "0", "total", NULL) != KILN_OK ||
        kiln_reduction_create(&both, "T x, T w", "float64 y", "x * w", "a + b", "y = a", NULL, "weighted",
                              NULL) != KILN_OK ||
        kiln_reduction_create(&best, "float32 x", "float32 y, int64 at, int64 n",
                              "best{x, (_index)_J, (long long)i}", "better(a, b, _follows)",
                              "y = a.value; at = a.at; n = _in_ind.size() / _out_ind.size()", NULL, "best",
                              &options) != KILN_OK) {
        fprintf(stderr, "%s\n", kiln_error_message());
        return 1;
    }
    const unsigned share = only_sources ? 1 : 3;
    const size_t n_targets = sizeof targets / sizeof *targets, n_dtypes = sizeof dtypes / sizeof *dtypes;
    for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++) {
        for (size_t d = 0; d < n_dtypes; d++)
            if ((dtypes[d] == KILN_FLOAT32 || (d + l) % 4 == 0) && is_drawn(l * n_dtypes + d, 2 * share))
                if (prepare(sum, 1, 1, dtypes[d], &layouts[l], targets[(l + d) % n_targets]))
                    return 77;
        if (is_drawn(1000 + l, share) &&
            prepare(best, 1, 3, KILN_FLOAT32, &layouts[l], targets[l % n_targets]))
            return 77;
        if (is_drawn(2000 + l, share) &&
            prepare(both, 2, 1, KILN_FLOAT32, &layouts[l], targets[(l + 1) % n_targets]))
            return 77;
    }
    kiln_kernel_free(sum);
    kiln_kernel_free(both);
    kiln_kernel_free(best);
    printf("%d kernels %s, %d failed\n", compiled, only_sources ? "written" : "compiled", failed);
    return failed ? 1 : 0;
}
