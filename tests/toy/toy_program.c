/* A program of three stages: what is mapped from each element is folded along the last axes, and what comes
 * of it is mapped to the result. Its arrays are of other dtypes than it sees. It runs end to end on the host,
 * and NVRTC compiles its source. */
#include "kernel/kernel.h"
#include "program/program.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../ok.h"

enum { ROWS = 37, COLUMNS = 53, ALL_AXES = KILN_MAX_NDIM };

/* z = sqrt(sum of (x - shift)^2), in float32 and float64, along the last `reduced` axes. */
static kiln_kernel *distance(int reduced)
{
    static const kn_stage_text stages[] = {
        {.kind = KN_MAP,
         .label = "square",
         .reads = "x, shift",
         .gives = "v",
         .body = "v = (x - shift) * (x - shift)"},
        {.kind = KN_REDUCE, .label = "fold", .reads = "v", .gives = "s", .body = "a + b", .identity = "0"},
        {.kind = KN_MAP,
         .over = KN_OVER_RESULTS,
         .label = "root",
         .reads = "s",
         .gives = "z",
         .body = "z = sqrt(s)"}};
    const kn_program_text text = {.name = "distance",
                                  .in = "float32 x, float32 shift",
                                  .out = "float64 z",
                                  .values = "float32 v, float64 s",
                                  .stage = stages,
                                  .n_stages = 3,
                                  .reduced = reduced,
                                  .casts = true};
    kn_program *program = NULL;
    kiln_kernel *kernel = NULL;
    OK(kn_program_create(&program, &text));
    OK(kn_kernel_create(&kernel, program));
    return kernel;
}

/* Small numbers, which every dtype holds. */
static int number(int64_t row, int64_t column)
{
    return (int)((row * 7 + column * 3) % 11) - 5;
}

static kiln_array *numbers(kiln_dtype dtype, int64_t rows, int64_t columns)
{
    const int64_t shape[] = {rows, columns};
    kiln_kernel *convert = NULL;
    kiln_array *wide = NULL, *x = NULL;
    double *value = malloc((size_t)(rows * columns + 1) * sizeof *value);
    for (int64_t k = 0; k < rows * columns; ++k)
        value[k] = number(k / columns, k % columns);
    OK(kiln_array_from_host(&wide, value, KILN_FLOAT64, 2, shape, KILN_DEVICE_HOST));
    OK(kiln_elementwise_create(&convert, "float64 x", "T z", "z = T(x)", "convert", NULL));
    OK(kiln_array_zeros(&x, dtype, 2, shape, KILN_DEVICE_HOST));
    const kiln_arg in = kiln_arg_array(wide);
    OK(kiln_kernel_call(convert, &x, 1, &in, 1, NULL));
    kiln_kernel_free(convert);
    kiln_array_free(wide);
    free(value);
    return x;
}

static double expected(int64_t row, int64_t rows, int64_t columns, bool is_transposed)
{
    double sum = 0;
    for (int64_t r = row; r < row + rows; ++r)
        for (int64_t c = 0; c < columns; ++c) {
            double d = (is_transposed ? number(c, r) : number(r, c)) - 0.5;
            sum += d * d;
        }
    return sqrt(sum);
}

static void assert_distances(kiln_array *z, int64_t rows, int64_t columns, bool is_transposed)
{
    double got[ROWS + COLUMNS];
    assert_int_equal(kiln_array_ndim(z), 1);
    assert_int_equal(kiln_array_shape(z)[0], rows);
    OK(kiln_array_to_host(z, got, (size_t)rows * sizeof *got));
    for (int64_t r = 0; r < rows; ++r)
        if (fabs(got[r] - expected(r, 1, columns, is_transposed)) > 1e-4)
            fail_msg("row %d: %g, not %g", (int)r, got[r], expected(r, 1, columns, is_transposed));
}

/* By what lies in memory: as it is seen, narrower, wider, and bytes. */
static void rows_are_folded(void **state)
{
    static const kiln_dtype dtypes[] = {KILN_FLOAT32, KILN_FLOAT16, KILN_FLOAT64, KILN_INT8};
    kiln_kernel *kernel = distance(1);
    (void)state;
    for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; ++d) {
        kiln_array *x = numbers(dtypes[d], ROWS, COLUMNS), *transposed = NULL, *z = NULL,
                   *transposed_z = NULL;
        kiln_arg in[] = {kiln_arg_array(x), kiln_arg_float(0.5)};
        OK(kiln_kernel_call(kernel, &z, 1, in, 2, NULL));
        assert_distances(z, ROWS, COLUMNS, false);
        assert_int_equal(kiln_array_dtype(z), KILN_FLOAT64);
        OK(kiln_array_transpose(&transposed, x, NULL));
        in[0] = kiln_arg_array(transposed);
        OK(kiln_kernel_call(kernel, &transposed_z, 1, in, 2, NULL));
        assert_distances(transposed_z, COLUMNS, ROWS, true);
        kiln_array_free(x);
        kiln_array_free(transposed);
        kiln_array_free(z);
        kiln_array_free(transposed_z);
    }
    kiln_kernel_free(kernel);
}

static void all_axes_leave_one_number(void **state)
{
    kiln_kernel *kernel = distance(ALL_AXES);
    kiln_array *x = numbers(KILN_FLOAT16, ROWS, COLUMNS), *z = NULL;
    const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_float(0.5)};
    double got = 0;
    (void)state;
    OK(kiln_kernel_call(kernel, &z, 1, in, 2, NULL));
    assert_int_equal(kiln_array_ndim(z), 0);
    OK(kiln_array_to_host(z, &got, sizeof got));
    assert_true(fabs(got - expected(0, ROWS, COLUMNS, false)) < 1e-3);
    kiln_array_free(x);
    kiln_array_free(z);
    kiln_kernel_free(kernel);
}

/* A given output has the output axes, may be of another dtype, and may have steps. */
static void given_outputs(void **state)
{
    const int64_t shape[] = {2 * ROWS}, wrong_shape[] = {ROWS, 1};
    kiln_kernel *kernel = distance(1);
    kiln_array *x = numbers(KILN_FLOAT32, ROWS, COLUMNS), *wide = NULL, *z = NULL, *wrong = NULL;
    const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_float(0.5)};
    float got[2 * ROWS];
    (void)state;
    OK(kiln_array_zeros(&wide, KILN_FLOAT32, 1, shape, KILN_DEVICE_HOST));
    OK(kiln_array_index(&z, wide, "::-2"));
    OK(kiln_kernel_call(kernel, &z, 1, in, 2, NULL));
    OK(kiln_array_to_host(wide, got, sizeof got));
    for (int64_t r = 0; r < ROWS; ++r) {
        assert_true(fabs((double)got[2 * ROWS - 1 - 2 * r] - expected(r, 1, COLUMNS, false)) < 1e-3);
        assert_true(got[2 * r] == 0);
    }
    OK(kiln_array_zeros(&wrong, KILN_FLOAT64, 2, wrong_shape, KILN_DEVICE_HOST));
    assert_int_equal(kiln_kernel_call(kernel, &wrong, 1, in, 2, NULL), KILN_ERROR_SHAPE);
    assert_non_null(strstr(kiln_error_message(), "output 'z' has shape (37, 1)"));
    kiln_array_free(x);
    kiln_array_free(wide);
    kiln_array_free(z);
    kiln_array_free(wrong);
    kiln_kernel_free(kernel);
}

/* A reduction of nothing gives the identity; nothing to store launches nothing. */
static void empty_axes(void **state)
{
    kiln_kernel *kernel = distance(1);
    kiln_array *x = numbers(KILN_FLOAT32, 3, 0), *z = NULL, *none = numbers(KILN_FLOAT32, 0, 3),
               *nothing = NULL;
    kiln_arg in[] = {kiln_arg_array(x), kiln_arg_float(0.5)};
    double got[3] = {1, 1, 1};
    (void)state;
    OK(kiln_kernel_call(kernel, &z, 1, in, 2, NULL));
    OK(kiln_array_to_host(z, got, sizeof got));
    assert_true(got[0] == 0 && got[1] == 0 && got[2] == 0);
    in[0] = kiln_arg_array(none);
    OK(kiln_kernel_call(kernel, &nothing, 1, in, 2, NULL));
    assert_int_equal(kiln_array_shape(nothing)[0], 0);
    kiln_array_free(x);
    kiln_array_free(z);
    kiln_array_free(none);
    kiln_array_free(nothing);
    kiln_kernel_free(kernel);
}

static void nvrtc_compiles_it(void **state)
{
    static const kiln_dtype dtypes[] = {KILN_FLOAT32, KILN_FLOAT16, KILN_BOOL, KILN_COMPLEX64};
    kiln_kernel *kernel = distance(1);
    (void)state;
    for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; ++d) {
        kiln_array *x = numbers(dtypes[d], ROWS, COLUMNS);
        const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_float(0.5)};
        kiln_prepare_options options = KILN_PREPARE_OPTIONS_INIT;
        char *text = NULL;
        OK(kiln_kernel_explain(&text, kernel, NULL, 1, in, 2, NULL, "sm_90"));
        assert_non_null(strstr(text, "schedule=\"toy_fold\""));
        assert_non_null(
            strstr(text, " stage=\"reduce\" label=\"fold\" reads=\"v\" gives=\"s\" body=\"a + b\""));
        free(text);
        options.target = "sm_90";
        kiln_status status = kiln_kernel_prepare(kernel, NULL, 1, in, 2, NULL, &options);
        if (status == KILN_ERROR_NOT_FOUND && !getenv("KILN_REQUIRE_NVRTC"))
            print_message("skipped: %s\n", kiln_error_message());
        else if (status != KILN_OK)
            fail_msg("%s\n%s", kiln_error_message(), kiln_error_log());
        kiln_array_free(x);
    }
    kiln_kernel_free(kernel);
}

/* An error in a stage's text names the stage. */
static void errors_name_the_stage(void **state)
{
    static const kn_stage_text stages[] = {
        {.kind = KN_MAP, .label = "first", .gives = "v", .body = "v = x"},
        {.kind = KN_REDUCE,
         .label = "second",
         .reads = "v",
         .gives = "s",
         .body = "a + nothing_here",
         .identity = "0"},
        {.kind = KN_MAP, .over = KN_OVER_RESULTS, .label = "third", .reads = "s", .body = "z = s"}};
    const kn_program_text text = {.name = "faulty",
                                  .in = "T x",
                                  .out = "T z",
                                  .values = "T v, T s",
                                  .stage = stages,
                                  .n_stages = 3,
                                  .reduced = 1};
    kn_program *program = NULL;
    kiln_kernel *kernel = NULL;
    kiln_array *x = numbers(KILN_FLOAT32, 3, 4), *z = NULL;
    const kiln_arg in[] = {kiln_arg_array(x)};
    (void)state;
    OK(kn_program_create(&program, &text));
    OK(kn_kernel_create(&kernel, program));
    assert_int_equal(kiln_kernel_call(kernel, &z, 1, in, 1, NULL), KILN_ERROR_COMPILE);
    assert_non_null(strstr(kiln_error_log(), "faulty.second:1"));
    assert_null(z);
    kiln_array_free(x);
    kiln_kernel_free(kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_folded),   cmocka_unit_test(all_axes_leave_one_number),
        cmocka_unit_test(given_outputs),     cmocka_unit_test(empty_axes),
        cmocka_unit_test(nvrtc_compiles_it), cmocka_unit_test(errors_name_the_stage),
    };
    setenv("KILN_TEMPLATE_DIR", TOY_TEMPLATES, 1);
    setenv("KILN_CACHE", "off", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
