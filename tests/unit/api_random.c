/* Sources of random numbers in C: streams, positions, arrays of any layout, functions by name; refusals. */
#include <kiln/kiln.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "drawn.h"
#include "kernel/random.h"
#include "ok.h"
#include "program/draws.h"

static kiln_array *empty(kiln_dtype dtype, int64_t rows, int64_t columns)
{
    const int64_t shape[] = {rows, columns};
    kiln_array *out = NULL;
    OK(kiln_array_empty(&out, dtype, 2, shape, KILN_DEVICE_HOST));
    return out;
}

static kiln_random *source_of(uint64_t seed, uint64_t stream)
{
    kiln_random *source = NULL;
    OK(kiln_random_create(&source, seed, stream));
    return source;
}

/* Calls go on where the last one ended, at the next multiple of four; a source that is set back has the same
 * numbers, in any layout. */
static void positions(void **state)
{
    (void)state;
    kiln_random *source = source_of(3, 0);
    kiln_array *first = empty(KILN_FLOAT64, 5, 6), *second = empty(KILN_FLOAT64, 6, 5), *transposed = NULL;
    const double *x = kiln_array_data(first), *y = kiln_array_data(second);
    assert_int_equal(kiln_random_key(source), 3);
    OK(kiln_random_normal(source, first, kiln_arg_int(1), kiln_arg_float(2)));
    assert_int_equal(kiln_random_position(source), 32);
    OK(kiln_array_transpose(&transposed, second, NULL));
    kiln_random_set_position(source, 0);
    OK(kiln_random_normal(source, transposed, kiln_arg_int(1), kiln_arg_float(2)));
    for (int r = 0; r < 5; ++r)
        for (int c = 0; c < 6; ++c)
            assert_true(x[r * 6 + c] == y[c * 5 + r]);
    OK(kiln_random_normal(source, second, kiln_arg_int(1), kiln_arg_float(2)));
    assert_int_equal(kiln_random_position(source), 64);
    assert_true(x[0] != y[0]);
    kiln_array_free(transposed);
    kiln_array_free(second);
    kiln_array_free(first);
    kiln_random_free(source);
}

static void streams(void **state)
{
    (void)state;
    kiln_random *a = source_of(9, 1), *b = source_of(9, 2);
    kiln_array *x = empty(KILN_UINT32, 1, 64), *y = empty(KILN_UINT32, 1, 64);
    assert_true(kiln_random_key(a) != kiln_random_key(b));
    OK(kiln_random_bits(a, x));
    OK(kiln_random_bits(b, y));
    int equal = 0;
    for (int k = 0; k < 64; ++k)
        equal += ((uint32_t *)kiln_array_data(x))[k] == ((uint32_t *)kiln_array_data(y))[k];
    assert_true(equal < 2);
    kiln_array_free(y);
    kiln_array_free(x);
    kiln_random_free(b);
    kiln_random_free(a);
}

/* Each function fills as its name does. */
static void functions(void **state)
{
    (void)state;
    const kiln_arg half = kiln_arg_float(0.5), four = kiln_arg_int(4);
    const struct {
        const char *name;
        kiln_arg in[2];
        int n_in;
    } laws[] = {
        {"random", {{0}}, 0},       {"uniform", {half, four}, 2},      {"normal", {half, four}, 2},
        {"exponential", {four}, 1}, {"random_gamma", {half, four}, 2}, {"random_beta", {half, four}, 2},
        {"poisson", {four}, 1},     {"binomial", {four, half}, 2},     {"integers", {{0}}, 2}};
    enum { LAWS = sizeof laws / sizeof laws[0] };
    for (int k = 0; k < LAWS; ++k) {
        kiln_random *source = source_of(5, 0);
        const bool is_whole = k == LAWS - 1;
        const kiln_arg whole[] = {kiln_arg_int(-3), four};
        kiln_array *x = empty(is_whole ? KILN_INT16 : KILN_FLOAT32, 7, 9);
        kiln_array *y = empty(is_whole ? KILN_INT16 : KILN_FLOAT32, 7, 9);
        OK(kiln_random_fill(source, x, laws[k].name, is_whole ? whole : laws[k].in, laws[k].n_in));
        kiln_random_set_position(source, 0);
        OK(k == 0   ? kiln_random_random(source, y)
           : k == 1 ? kiln_random_uniform(source, y, half, four)
           : k == 2 ? kiln_random_normal(source, y, half, four)
           : k == 3 ? kiln_random_exponential(source, y, four)
           : k == 4 ? kiln_random_gamma(source, y, half, four)
           : k == 5 ? kiln_random_beta(source, y, half, four)
           : k == 6 ? kiln_random_poisson(source, y, four)
           : k == 7 ? kiln_random_binomial(source, y, four, half)
                    : kiln_random_integers(source, y, whole[0], kiln_arg_int(3), true));
        assert_memory_equal(kiln_array_data(x), kiln_array_data(y), kiln_array_nbytes(x));
        kiln_array_free(y);
        kiln_array_free(x);
        kiln_random_free(source);
    }
}

static void arrays_as_parameters(void **state)
{
    (void)state;
    kiln_random *source = source_of(5, 0);
    kiln_array *x = empty(KILN_FLOAT32, 2, 3), *loc = NULL;
    const float means[] = {100, -100, 0};
    OK(kiln_array_from_host(&loc, means, KILN_FLOAT32, 1, (const int64_t[]){3}, KILN_DEVICE_HOST));
    OK(kiln_random_normal(source, x, kiln_arg_array(loc), kiln_arg_none()));
    const float *got = kiln_array_data(x);
    for (int k = 0; k < 6; ++k)
        assert_true(got[k] > means[k % 3] - 10 && got[k] < means[k % 3] + 10);
    kiln_array_free(loc);
    kiln_array_free(x);
    kiln_random_free(source);
}

enum { DRAWN = 1003 };

static kiln_array *numbers_from(int64_t first)
{
    kiln_array *at = NULL;
    OK(kiln_array_arange(&at, (double)first, (double)(first + DRAWN), 1, KILN_INT64, KILN_DEVICE_HOST));
    return at;
}

/* The kernel's result has the bits of a source with the same key and position. */
static void assert_draws(kiln_kernel *kernel, const kiln_arg *in, int n_in, const char *name,
                         const kiln_arg *params, int n_params)
{
    kiln_random *source = source_of(77, 0);
    kiln_array *got = NULL, *right = NULL;
    OK(kiln_kernel_call(kernel, &got, 1, in, n_in, NULL));
    OK(kiln_array_empty(&right, kiln_array_dtype(got), 1, (const int64_t[]){DRAWN}, KILN_DEVICE_HOST));
    kiln_random_set_position(source, 8);
    OK(kiln_random_fill(source, right, name, params, n_params));
    assert_memory_equal(kiln_array_data(got), kiln_array_data(right), kiln_array_nbytes(right));
    kiln_array_free(right);
    kiln_array_free(got);
    kiln_random_free(source);
}

/* Texts of a user's kernel, an expression that calls the kernel, and a trace of it. */
static void texts(void **state)
{
    (void)state;
    const struct {
        const char *body, *out, *name;
        kiln_arg params[2];
        int n_params;
    } drawn[] = {
        {"y = random<float>(77, at)", "float32 y", "random", {{0}}, 0},
        {"y = uniform(77, at, -1, 2)", "float64 y", "uniform", {kiln_arg_int(-1), kiln_arg_int(2)}, 2},
        {"y = normal<float>(77, at, 3, 2)", "float32 y", "normal", {kiln_arg_int(3), kiln_arg_int(2)}, 2},
        {"y = integers(77, at, -5, 100)", "int64 y", "integers", {kiln_arg_int(-5), kiln_arg_int(100)}, 2}};
    kiln_array *at = numbers_from(8);
    const kiln_arg in = kiln_arg_array(at);
    for (size_t k = 0; k < sizeof drawn / sizeof drawn[0]; ++k) {
        if (!is_drawn_of(k, sizeof drawn / sizeof drawn[0], 4))
            continue;
        kiln_kernel *kernel = NULL, *called = NULL, *traced = NULL;
        kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
        kiln_trace *trace = NULL;
        kiln_array *x = NULL, *y = NULL;
        OK(kiln_elementwise_create(&kernel, "int64 at", drawn[k].out, drawn[k].body, "drawn", NULL));
        options.kernels = &kernel;
        options.n_kernels = 1;
        OK(kiln_expression_create(&called, "at", "drawn(at + 1 - 1)", &options));
        OK(kiln_trace_begin(&trace, NULL));
        OK(kiln_trace_input(&x, trace, NULL, KILN_INT64, 1, (const int64_t[]){DRAWN}));
        OK(kiln_kernel_call(kernel, &y, 1, &(kiln_arg){.kind = KILN_ARG_ARRAY, .value.array = x}, 1, NULL));
        OK(kiln_trace_end(&traced, trace, &y, 1, NULL));
        kiln_trace_free(trace);
        assert_draws(kernel, &in, 1, drawn[k].name, drawn[k].params, drawn[k].n_params);
        assert_draws(called, &in, 1, drawn[k].name, drawn[k].params, drawn[k].n_params);
        assert_draws(traced, &in, 1, drawn[k].name, drawn[k].params, drawn[k].n_params);
        kiln_array_free(x);
        kiln_array_free(y);
        kiln_kernel_free(traced);
        kiln_kernel_free(called);
        kiln_kernel_free(kernel);
    }
    kiln_array_free(at);
}

/* A reduction of numbers that it draws: as many are below a half as of the source's. */
static void reductions(void **state)
{
    (void)state;
    kiln_random *source = source_of(77, 0);
    kiln_kernel *count = NULL;
    kiln_array *out = NULL, *x = empty(KILN_FLOAT32, 1, DRAWN);
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    int64_t below = 0;
    options.size = DRAWN;
    OK(kiln_random_random(source, x));
    for (int k = 0; k < DRAWN; ++k)
        below += ((const float *)kiln_array_data(x))[k] < 0.5f;
    OK(kiln_reduction_create(&count, "", "int64 y", "random<float>(77, i) < 0.5f", "a + b", "y = a", "0",
                             NULL, NULL));
    OK(kiln_kernel_call(count, &out, 1, NULL, 0, &options));
    assert_int_equal(*(const int64_t *)kiln_array_data(out), below);
    kiln_array_free(out);
    kiln_array_free(x);
    kiln_kernel_free(count);
    kiln_random_free(source);
}

/* Functions of which neighbours share a block are those of the table, and two of kiln's own. */
static void names_of_draws(void **state)
{
    (void)state;
    int shared = 0, known = 0;
    for (; kn_draw_name(known); ++known)
        if (strncmp(kn_draw_name(known), "kn_", 3) != 0)
            assert_true(kn_law_find(kn_draw_name(known), strlen(kn_draw_name(known)))->shares);
    for (int k = 0; kn_law_at(k); ++k)
        shared += kn_law_at(k)->shares;
    assert_int_equal(known, shared + 2);
}

static void refusals(void **state)
{
    (void)state;
    kiln_random *source = source_of(1, 0);
    kiln_array *x = empty(KILN_FLOAT32, 1, 2), *whole = empty(KILN_INT8, 1, 2);
    const kiln_arg minus = kiln_arg_int(-1), low = kiln_arg_int(0);
    FAILS(kiln_random_create(NULL, 0, 0), KILN_ERROR_INVALID, "out is NULL");
    FAILS(kiln_random_fill(NULL, x, "random", NULL, 0), KILN_ERROR_INVALID, "source is NULL");
    FAILS(kiln_random_fill(source, NULL, "random", NULL, 0), KILN_ERROR_INVALID, "out is NULL");
    FAILS(kiln_random_fill(source, x, "rondom", NULL, 0), KILN_ERROR_INVALID, "'rondom' was given");
    FAILS(kiln_random_fill(source, x, NULL, NULL, 0), KILN_ERROR_INVALID, "'NULL' was given");
    FAILS(kiln_random_fill(source, x, "random", &minus, 1), KILN_ERROR_INVALID, "up to 0 were expected");
    FAILS(kiln_random_fill(source, x, "normal", NULL, 1), KILN_ERROR_INVALID, "up to 2 were expected");
    FAILS(kiln_random_exponential(source, x, minus), KILN_ERROR_INVALID, "a number from 0 on was expected");
    FAILS(kiln_random_fill(source, whole, "random", NULL, 0), KILN_ERROR_TYPE,
          "dtype int8 was given; a float was expected");
    FAILS(kiln_random_random(source, whole), KILN_ERROR_TYPE, "dtype int8 was given; a float was expected");
    FAILS(kiln_random_integers(source, whole, low, kiln_arg_int(129), false), KILN_ERROR_INVALID,
          "high: 129 was given; a number that int8 holds was expected");
    FAILS(kiln_random_integers(source, whole, low, kiln_arg_int(128), true), KILN_ERROR_INVALID, "high: 128");
    FAILS(kiln_random_integers(source, whole, low, minus, true), KILN_ERROR_INVALID, "a high from low on");
    FAILS(kiln_random_integers(source, whole, low, kiln_arg_float(3), false), KILN_ERROR_TYPE,
          "high: a whole number was expected");
    kiln_random_free(NULL);
    assert_int_equal(kiln_random_position(source), 0);
    kiln_array_free(whole);
    kiln_array_free(x);
    kiln_random_free(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions),      cmocka_unit_test(streams),
        cmocka_unit_test(functions),      cmocka_unit_test(arrays_as_parameters),
        cmocka_unit_test(texts),          cmocka_unit_test(reductions),
        cmocka_unit_test(names_of_draws), cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
