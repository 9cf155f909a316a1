/* Filled arrays and ranges where kernels make them: every dtype, views, sizes around the vectors' ends; what
 * lies beside a view stays. */
#include "cases.h"

#include <stdlib.h>
#include <string.h>

static void random_element(unsigned char *out, kiln_dtype dtype, dice *d)
{
    const uint64_t bits[2] = {dice_bits(d), dice_bits(d)};
    memcpy(out, bits, kiln_dtype_size(dtype));
    if (dtype == KILN_BOOL)
        out[0] &= 1;
}

/* The elements of a new array; a device's NaN may have another sign than the host's. */
static void expect_elements(kiln_array *a, const unsigned char *wanted, const char *what)
{
    size_t size = kiln_array_nbytes(a), item = kiln_dtype_size(kiln_array_dtype(a));
    unsigned char *got = malloc(size + 1);
    if (succeeded(kiln_array_to_host(a, got, size), what))
        for (size_t k = 0; k < size; k += item)
            if (!trouble_unless(elements_agree(got + k, wanted + k, kiln_array_dtype(a), 0),
                                "%s: %s element %zu of %zu is %s, not %s", what,
                                kiln_dtype_name(kiln_array_dtype(a)), k / item, size / item,
                                element_text(got + k, kiln_array_dtype(a)),
                                element_text(wanted + k, kiln_array_dtype(a))))
                break;
    free(got);
}

static void full_of(kiln_dtype dtype, int64_t n, dice *d)
{
    kiln_array *a = NULL;
    unsigned char value[16];
    size_t item = kiln_dtype_size(dtype);
    unsigned char *wanted = malloc((size_t)n * item + 1);
    random_element(value, dtype, d);
    for (int64_t k = 0; k < n; ++k)
        memcpy(wanted + (size_t)k * item, value, item);
    if (succeeded(kiln_array_full(&a, dtype, 1, &n, value, stage_device), "kiln_array_full"))
        expect_elements(a, wanted, "full");
    kiln_array_free(a);
    free(wanted);
}

static void full_arrays(void)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 1023, 70001};
    dice d = {case_seed()};
    for (int dtype = KILN_BOOL; kiln_dtype_size((kiln_dtype)dtype) > 0; ++dtype)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s)
            full_of((kiln_dtype)dtype, sizes[s], &d);
}

enum { ROWS = 19, COLUMNS = 37, SIZE = ROWS * COLUMNS };

/* The same view by hand: rows 2, 5, 8, ..., columns from the last but one backwards in steps of two. */
static bool is_in_view(int k)
{
    return k / COLUMNS % 3 == 2 && k % COLUMNS <= COLUMNS - 2 && (COLUMNS - 2 - k % COLUMNS) % 2 == 0;
}

static void fill_view(kiln_dtype dtype, dice *d)
{
    const int64_t shape[] = {ROWS, COLUMNS};
    kiln_array *a = NULL, *view = NULL, *across = NULL;
    unsigned char value[16], wanted[SIZE * 16];
    size_t item = kiln_dtype_size(dtype);
    for (int k = 0; k < SIZE; ++k)
        random_element(wanted + (size_t)k * item, dtype, d);
    random_element(value, dtype, d);
    succeeded(kiln_array_from_host(&a, wanted, dtype, 2, shape, stage_device), "array");
    succeeded(kiln_array_index(&view, a, "2::3, -2::-2"), "view");
    succeeded(kiln_array_transpose(&across, view, NULL), "transposed view");
    if (!in_trouble() && succeeded(kiln_array_fill(across, value), "kiln_array_fill")) {
        for (int k = 0; k < SIZE; ++k)
            if (is_in_view(k))
                memcpy(wanted + (size_t)k * item, value, item);
        expect_elements(a, wanted, "filled view");
    }
    kiln_array_free(a);
    kiln_array_free(view);
    kiln_array_free(across);
}

static void filled_views(void)
{
    dice d = {case_seed()};
    for (int dtype = KILN_BOOL; kiln_dtype_size((kiln_dtype)dtype) > 0 && !in_trouble(); ++dtype)
        fill_view((kiln_dtype)dtype, &d);
}

static void filled_without_axes(void)
{
    const int64_t none[1] = {0};
    const double value = 0.1;
    double back = 0;
    kiln_array *a = NULL, *empty = NULL;
    succeeded(kiln_array_zeros(&a, KILN_FLOAT64, 0, none, stage_device), "array");
    succeeded(kiln_array_zeros(&empty, KILN_FLOAT64, 1, none, stage_device), "array");
    if (!in_trouble()) {
        succeeded(kiln_array_fill(a, &value), "no axes");
        succeeded(kiln_array_fill(empty, &value), "no elements");
        succeeded(kiln_array_to_host(a, &back, sizeof back), "to host");
        trouble_unless(back == value, "%g instead of %g", back, value);
    }
    kiln_array_free(a);
    kiln_array_free(empty);
}

/* The device counts as the host does, which is compared with NumPy itself elsewhere. */
static void range_of(kiln_dtype dtype, double start, double stop, double step)
{
    kiln_array *here = NULL, *there = NULL;
    if (kiln_array_arange(&here, start, stop, step, dtype, KILN_DEVICE_HOST) != KILN_OK) {
        refused(kiln_array_arange(&there, start, stop, step, dtype, stage_device), KILN_ERROR_TYPE,
                dtype == KILN_BOOL ? "bool has 2 elements at most" : "does not fit");
        trouble_unless(!there, "a refused range left an array");
        return;
    }
    if (succeeded(kiln_array_arange(&there, start, stop, step, dtype, stage_device), "kiln_array_arange"))
        expect_elements(there, kiln_array_data(here), "range");
    kiln_array_free(here);
    kiln_array_free(there);
}

static void ranges(void)
{
    static const double bounds[][3] = {{0, 10, 1},     {5, -3, -2},   {0, 1, 0.1},       {-2.5, 7.25, 0.37},
                                       {0, 30001, 1},  {250, 256, 1}, {100, -129, -3},   {3, 3, 1},
                                       {0, 0.5, 0.1},  {0, 2, 1},     {1e6, 1e6 + 3, 1}, {-7.9, 8, 2.6},
                                       {0, 70000, 1.7}};
    for (int dtype = KILN_BOOL; kiln_dtype_size((kiln_dtype)dtype) > 0; ++dtype)
        for (size_t b = 0; b < sizeof bounds / sizeof bounds[0] && !in_trouble(); ++b)
            range_of((kiln_dtype)dtype, bounds[b][0], bounds[b][1], bounds[b][2]);
}

static void range_of_integers(kiln_dtype dtype, int64_t start, int64_t stop, int64_t step)
{
    kiln_array *here = NULL, *there = NULL;
    kiln_status status = kiln_array_arange_int(&here, start, stop, step, dtype, KILN_DEVICE_HOST);
    trouble_unless(kiln_array_arange_int(&there, start, stop, step, dtype, stage_device) == status,
                   "the device says '%s'", kiln_error_message());
    if (here && there)
        expect_elements(there, kiln_array_data(here), "range");
    kiln_array_free(here);
    kiln_array_free(there);
}

static void ranges_of_integers(void)
{
    static const int64_t bounds[][3] = {{0, 2, 1},
                                        {1, 3, 1},
                                        {1, -1, -1},
                                        {INT64_MIN, INT64_MAX, INT64_MAX / 9},
                                        {INT64_MAX, INT64_MIN, INT64_MIN / 7},
                                        {9007199254740993, 9007199254740996, 1},
                                        {250, 256, 1},
                                        {INT64_MAX - 40, INT64_MAX, 3}};
    for (int dtype = KILN_BOOL; kiln_dtype_size((kiln_dtype)dtype) > 0; ++dtype)
        for (size_t b = 0; b < sizeof bounds / sizeof bounds[0] && !in_trouble(); ++b)
            range_of_integers((kiln_dtype)dtype, bounds[b][0], bounds[b][1], bounds[b][2]);
}

/* kiln_kernel_last_call speaks of the user's kernels alone. */
static void not_the_users_calls(void)
{
    kiln_call_info before = KILN_CALL_INFO_INIT, after = KILN_CALL_INFO_INIT;
    stage *s = STAGE("float32 x", "float32 z", "z = x");
    stage_in(s, KILN_FLOAT32, "10", "C", FILL_SMALL);
    stage_out(s, KILN_FLOAT32, "10", "C");
    int n_in, n_out;
    kiln_kernel *kernel = stage_kernel(s);
    kiln_array **outs = stage_outs(s, &n_out);
    kiln_arg *args = stage_args(s, &n_in);
    succeeded(kiln_kernel_call(kernel, outs, n_out, args, n_in, NULL), "call");
    KILN_IGNORE(kiln_kernel_last_call(&before));
    dice d = {case_seed()};
    full_of(KILN_COMPLEX64, 100, &d);
    range_of(KILN_INT16, 0, 100, 1);
    KILN_IGNORE(kiln_kernel_last_call(&after));
    trouble_unless(before.origin == after.origin && before.code_bytes == after.code_bytes &&
                       before.compile_ms == after.compile_ms,
                   "the last call has changed");
    stage_free(s);
}

const test_case fill_cases[] = {
    {"full_arrays", full_arrays, 0},
    {"filled_views", filled_views, 0},
    {"filled_without_axes", filled_without_axes, 0},
    {"ranges", ranges, 0},
    {"ranges_of_integers", ranges_of_integers, 0},
    {"not_the_users_calls", not_the_users_calls, 0},
    {NULL, NULL, 0},
};
