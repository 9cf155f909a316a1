/* Reductions of more than 2^32 elements, to one number and along either axis: of one row that is broadcast
 * (stride 0), which needs no memory, and of as many bytes as there are elements. */
#include "cases.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* 65539 * 65537 elements: more than 2^32, and odd. */
enum { ROWS = 65539, COLUMNS = 65537, PERIOD = 251, SHIFT = 125 };
static const int64_t shape[] = {ROWS, COLUMNS};
static const int64_t size = INT64_C(1) * ROWS * COLUMNS;

typedef struct kernels {
    kiln_kernel *sum, *greatest, *places;
} kernels;

static kernels make_kernels(void)
{
    kernels k = {NULL, NULL, NULL};
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.preamble = "struct best { int value; long long at; };\n"
                       "__device__ best better(best a, best b) {\n"
                       "    return b.value > a.value || (b.value == a.value && b.at < a.at) ? b : a;\n"
                       "}";
    options.reduce_type = "best";
    succeeded(
        kiln_reduction_create(&k.sum, "int8 x", "int64 y", "x", "a + b", "y = a", "0", "large_sum", NULL),
        "sum");
    succeeded(kiln_reduction_create(&k.greatest, "int8 x", "int8 value, int64 at", "best{x, _J}",
                                    "better(a, b)", "value = a.value; at = a.at", NULL, "large_best",
                                    &options),
              "greatest");
    /* The values where i and _J are beyond 2^32, and how many elements there are. */
    succeeded(kiln_reduction_create(&k.places, "int8 x", "int64 y", "i == _J && i >> 32 ? x : 0", "a + b",
                                    "y = a + _in_ind.size()", "0", "large_places", NULL),
              "places");
    return k;
}

static void free_kernels(kernels *k)
{
    kiln_kernel_free(k->sum);
    kiln_kernel_free(k->greatest);
    kiln_kernel_free(k->places);
}

/* Results of int64 along an axis (-1: all), in C order; the caller frees them. */
static int64_t *reduced(kiln_kernel *kernel, kiln_array *x, int axis, int64_t count)
{
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    kiln_array *out[2] = {NULL, NULL};
    const kiln_arg in = kiln_arg_array(x);
    int64_t *got = calloc((size_t)count, sizeof *got);
    options.axes = axis < 0 ? NULL : &axis;
    options.n_axes = axis < 0 ? 0 : 1;
    if (!in_trouble() &&
        succeeded(kiln_kernel_call(kernel, out, kiln_kernel_n_out(kernel), &in, 1, &options), "a large call"))
        succeeded(kiln_array_to_host(out[0], got, (size_t)count * sizeof *got), "its results");
    kiln_array_free(out[0]);
    kiln_array_free(out[1]);
    return got;
}

static void expect_all(kiln_kernel *kernel, kiln_array *x, int axis, int64_t count,
                       int64_t (*expected)(int64_t), const char *what)
{
    int64_t *got = reduced(kernel, x, axis, count);
    for (int64_t r = 0; r < count && !in_trouble(); ++r)
        trouble_unless(got[r] == expected(r), "%s: result %" PRId64 " is %" PRId64 ", not %" PRId64, what, r,
                       got[r], expected(r));
    free(got);
}

/* ---- one row, over and over ---- */

static int8_t in_row(int64_t column)
{
    return (int8_t)(column % PERIOD - SHIFT);
}

/* The sum of the first `count` numbers of a row or, below, of all elements: whole periods, and the rest. */
static int64_t sum_of_first(int64_t count)
{
    int64_t sum = count / PERIOD * (PERIOD * (PERIOD - 1) / 2 - PERIOD * SHIFT);
    for (int64_t k = 0; k < count % PERIOD; ++k)
        sum += k - SHIFT;
    return sum;
}

static int64_t repeated_row(int64_t row)
{
    (void)row;
    return sum_of_first(COLUMNS);
}

static int64_t repeated_column(int64_t column)
{
    return (int64_t)ROWS * in_row(column);
}

static int64_t repeated_all(int64_t none)
{
    (void)none;
    return ROWS * sum_of_first(COLUMNS);
}

static kiln_array *repeated(void)
{
    int8_t *row = malloc(COLUMNS);
    kiln_array *one = NULL, *all = NULL;
    for (int64_t c = 0; c < COLUMNS; ++c)
        row[c] = in_row(c);
    if (succeeded(kiln_array_from_host(&one, row, KILN_INT8, 1, &shape[1], stage_device), "a row"))
        succeeded(kiln_array_broadcast_to(&all, one, 2, shape), "its repetition");
    kiln_array_free(one);
    free(row);
    return all;
}

static void a_row_that_stands_still(void)
{
    kernels k = make_kernels();
    kiln_array *x = repeated();
    if (!in_trouble()) {
        expect_all(k.sum, x, -1, 1, repeated_all, "all of a repeated row");
        expect_all(k.sum, x, 0, COLUMNS, repeated_column, "columns of a repeated row");
        expect_all(k.sum, x, 1, ROWS, repeated_row, "rows of a repeated row");
    }
    kiln_array_free(x);
    free_kernels(&k);
}

/* ---- as many bytes ---- */

static const int64_t greatest_at = (INT64_C(1) << 32) + 70001; /* where one element alone is 127 */

static int64_t one_all(int64_t none)
{
    (void)none;
    return sum_of_first(size);
}

static int64_t one_row(int64_t row)
{
    return sum_of_first((row + 1) * COLUMNS) - sum_of_first(row * COLUMNS);
}

/* Numbers of a column repeat after PERIOD rows, each of them once, as PERIOD is a prime. */
static int64_t one_column(int64_t column)
{
    int64_t sum = ROWS / PERIOD * (PERIOD * (PERIOD - 1) / 2 - PERIOD * SHIFT);
    for (int64_t row = ROWS / PERIOD * PERIOD; row < ROWS; ++row)
        sum += (row * COLUMNS + column) % PERIOD - SHIFT;
    return sum;
}

static int64_t beyond_32_bits(int64_t none)
{
    (void)none;
    return sum_of_first(size) - sum_of_first(INT64_C(1) << 32) + size;
}

/* Elements by their C-order index. */
static kiln_array *numbered(const char *body)
{
    kiln_kernel *kernel = NULL;
    kiln_array *x = NULL;
    if (succeeded(kiln_array_empty(&x, KILN_INT8, 2, shape, stage_device), "elements") &&
        succeeded(kiln_elementwise_create(&kernel, "int64 at", "int8 x", body, "numbered", NULL),
                  "numbered")) {
        const kiln_arg in = kiln_arg_int64(greatest_at);
        succeeded(kiln_kernel_call(kernel, &x, 1, &in, 1, NULL), "numbers");
    }
    kiln_kernel_free(kernel);
    return x;
}

static void along_every_axis(const kernels *k)
{
    kiln_array *x = numbered("x = i % 251 - 125"), *across = NULL;
    if (!in_trouble() && succeeded(kiln_array_transpose(&across, x, NULL), "transpose")) {
        expect_all(k->sum, x, -1, 1, one_all, "all");
        expect_all(k->sum, x, 1, ROWS, one_row, "rows");
        expect_all(k->sum, x, 0, COLUMNS, one_column, "columns");
        expect_all(k->sum, across, 0, ROWS, one_row, "rows of what is turned");
        expect_all(k->places, x, -1, 1, beyond_32_bits, "elements beyond 2^32");
    }
    kiln_array_free(x);
    kiln_array_free(across);
}

static void greatest_of_all(const kernels *k)
{
    kiln_array *x = numbered("x = i == at ? 127 : i % 226 - 100"), *out[2] = {NULL, NULL};
    const kiln_arg in = kiln_arg_array(x);
    int64_t at = 0;
    if (!in_trouble() && succeeded(kiln_kernel_call(k->greatest, out, 2, &in, 1, NULL), "the greatest") &&
        succeeded(kiln_array_to_host(out[1], &at, sizeof at), "where"))
        trouble_unless(at == greatest_at, "the greatest is at %" PRId64 ", not %" PRId64, at, greatest_at);
    kiln_array_free(x);
    kiln_array_free(out[0]);
    kiln_array_free(out[1]);
}

/* Where the device has the bytes. */
static void an_element_a_byte(void)
{
    size_t free_bytes = 0, total = 0;
    succeeded(kiln_device_memory_info(stage_device, &free_bytes, &total), "memory");
    if (free_bytes < (size_t)size + ((size_t)1 << 30))
        return;
    kernels k = make_kernels();
    if (!in_trouble())
        along_every_axis(&k);
    if (!in_trouble())
        greatest_of_all(&k);
    free_kernels(&k);
    succeeded(kiln_memory_trim(stage_device, 0), "trim");
}

const test_case reduction_large_cases[] = {
    {"a_row_that_stands_still", a_row_that_stands_still, CASE_CUDA | CASE_DEVICE},
    {"a_row_that_stands_still", a_row_that_stands_still, CASE_HOST | CASE_LONG}, /* seconds */
    {"an_element_a_byte", an_element_a_byte, CASE_CUDA | CASE_DEVICE},
    {NULL, NULL, 0},
};
