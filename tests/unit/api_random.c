/* Sources of random numbers in C: streams, positions, arrays of any layout, functions by name; refusals. */
#include <kiln/kiln.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ok.h"

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
    const struct CMUnitTest tests[] = {cmocka_unit_test(positions), cmocka_unit_test(streams),
                                       cmocka_unit_test(functions), cmocka_unit_test(arrays_as_parameters),
                                       cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
