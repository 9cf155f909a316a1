/* axis_rows.c - times of programs over any axis (rows N): what the constants of fuse/fusion.c rest on.
 *
 * axis_rows [cuda:0|host] [PART OF A NAME]
 *
 * A line a row: its name, microseconds of a call (median), the bytes that have to move, and these over the
 * time. bench/axis_peers.py has the same rows for PyTorch. */
#include <kiln/kiln.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_INPUTS = 3 };

typedef struct input {
    kiln_dtype dtype;
    int ndim;
    int64_t shape[4];
} input;

typedef struct row {
    const char *name, *params, *expression;
    input in[MOST_INPUTS];
} row;

#define F32 KILN_FLOAT32
#define SOFTMAX(axis)                                                                                        \
    "e = exp(x - max(x, axis=" axis ", keepdims=True))\ne / sum(e, axis=" axis ", keepdims=True)"
#define NORMAL(axis)                                                                                         \
    "d = x - mean(x, axis=" axis ", keepdims=True)\n"                                                        \
    "d / sqrt(mean(d * d, axis=" axis ", keepdims=True) + 1e-5)"

static const row rows[] = {
    {"N0 centre (4096, 4096)", "x", "x - mean(x, axis=0)", {{F32, 2, {4096, 4096}}}},
    {"N0 centre (16384, 16384)", "x", "x - mean(x, axis=0)", {{F32, 2, {16384, 16384}}}},
    {"N1 standardise (65536, 1024)",
     "x",
     "(x - mean(x, axis=0)) / std(x, axis=0)",
     {{F32, 2, {65536, 1024}}}},
    {"N1b standardise (4096, 65536)",
     "x",
     "(x - mean(x, axis=0)) / std(x, axis=0)",
     {{F32, 2, {4096, 65536}}}},
    {"N2 softmax axis 0 (4096, 16384)", "x", SOFTMAX("0"), {{F32, 2, {4096, 16384}}}},
    {"N3 softmax channels (64, 1000, 28, 28)", "x", SOFTMAX("1"), {{F32, 4, {64, 1000, 28, 28}}}},
    {"N3b softmax channels bf16 (8, 21, 512, 512)",
     "x",
     SOFTMAX("1"),
     {{KILN_BFLOAT16, 4, {8, 21, 512, 512}}}},
    {"N4 L2 norm channels (64, 256, 56, 56)",
     "x",
     "x / sqrt(sum(x * x, axis=1, keepdims=True) + 1e-12)",
     {{F32, 4, {64, 256, 56, 56}}}},
    {"N5 batch norm NCHW (64, 256, 56, 56)", "x", NORMAL("(0, 2, 3)"), {{F32, 4, {64, 256, 56, 56}}}},
    {"N5 batch norm NHWC (64, 56, 56, 256)", "x", NORMAL("(0, 1, 2)"), {{F32, 4, {64, 56, 56, 256}}}},
    {"N7 layer norm channels (64, 256, 56, 56)", "x", NORMAL("1"), {{F32, 4, {64, 256, 56, 56}}}},
    {"N8 grey u8 (64, 1080, 1920, 3)",
     "x, w",
     "sum(x * w, axis=-1)",
     {{KILN_UINT8, 4, {64, 1080, 1920, 3}}, {F32, 1, {3}}}},
    {"N8b dot products f32 (2^24, 3)",
     "x, w",
     "sum(x * w, axis=-1)",
     {{F32, 2, {1 << 24, 3}}, {F32, 1, {3}}}},
    {"N9 k-means (2^20, 16), 64 centres",
     "x, c",
     "argmin(sum((x - c) ** 2, axis=-1), axis=-1)",
     {{F32, 3, {1 << 20, 1, 16}}, {F32, 2, {64, 16}}}},
    {"N10 fill (16384, 16384)",
     "m, x",
     "where(m, x, mean(x, axis=0))",
     {{KILN_BOOL, 2, {16384, 16384}}, {F32, 2, {16384, 16384}}}},
    {"N11 best channel bf16 (8, 21, 512, 512)",
     "x",
     "argmax(x, axis=1)",
     {{KILN_BFLOAT16, 4, {8, 21, 512, 512}}}},
    {"N12 min-max u8 (2^20, 256)",
     "x",
     "f = astype(x, float32)\nl = min(f, axis=0)\n(f - l) / (max(f, axis=0) - l)",
     {{KILN_UINT8, 2, {1 << 20, 256}}}},
    {"F softmax (32768, 4096)", "x", SOFTMAX("-1"), {{F32, 2, {32768, 4096}}}},
    {"F layer norm (65536, 1024)", "x", NORMAL("-1"), {{F32, 2, {65536, 1024}}}},
};

/* Numbers from a hash of the index: the same everywhere, and no pattern that a cache could like. */
static kiln_status fill(kiln_array **out, const input *in)
{
    kiln_array *empty = NULL;
    kiln_status status = kiln_array_empty(&empty, in->dtype, in->ndim, in->shape, KILN_DEVICE_DEFAULT);
    if (status == KILN_OK)
        status =
            kiln_map(&empty, 1, "", "T z",
                     "unsigned k = (unsigned)i * 2654435761u; k ^= k >> 15; k *= 2246822519u; k ^= k >> 13;"
                     "z = (T)((k >> 8 & 255) * (sizeof(T) > 1 ? 0.0078125f : 1.0f))", NULL, 0);
    *out = empty;
    return status;
}

static kiln_status run_row(const row *r)
{
    kiln_kernel *kernel = NULL;
    kiln_array *in[MOST_INPUTS] = {NULL}, *out = NULL;
    kiln_arg args[MOST_INPUTS];
    kiln_benchmark found = KILN_BENCHMARK_INIT;
    int count = 0;
    kiln_status status = kiln_expression_create(&kernel, r->params, r->expression, NULL);
    for (; status == KILN_OK && count < MOST_INPUTS && r->in[count].ndim; ++count) {
        status = fill(&in[count], &r->in[count]);
        args[count] = kiln_arg_array(in[count]);
    }
    if (status == KILN_OK)
        status = kiln_kernel_benchmark(&found, kernel, &out, 1, args, count, NULL, NULL);
    if (status == KILN_OK)
        printf("%s\t%.1f\t%llu\t%.1f\n", r->name, found.device_median_us,
               (unsigned long long)(found.bytes_read + found.bytes_written), found.bytes_per_second * 1e-9);
    else
        printf("%s\tfailed: %s\n", r->name, kiln_error_message());
    fflush(stdout);
    for (int k = 0; k < count; ++k)
        kiln_array_free(in[k]);
    kiln_kernel_free(kernel);
    return status;
}

int main(int argc, char **argv)
{
    kiln_device device;
    int failed = 0;
    if (argc > 3 || (argc > 1 && (kiln_device_parse(&device, argv[1]) != KILN_OK ||
                                  kiln_device_set_current(device) != KILN_OK))) {
        fprintf(stderr, "usage: axis_rows [cuda:0|host] [PART OF A NAME]\n%s\n", kiln_error_message());
        return 2;
    }
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k)
        if (argc < 3 || strstr(rows[k].name, argv[2]))
            failed += run_row(&rows[k]) != KILN_OK;
    return failed > 0;
}
