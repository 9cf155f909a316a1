/* Histograms in C: counts, other operators, several results, given arrays, by name; refusals. */
#include <kiln/kiln.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "each_allocation.h"
#include "ok.h"

static kiln_array *array_of(const void *data, kiln_dtype dtype, int64_t count)
{
    kiln_array *a = NULL;
    OK(kiln_array_from_host(&a, data, dtype, 1, &count, KILN_DEVICE_HOST));
    return a;
}

static void free_all(kiln_array **array, int count)
{
    for (int k = 0; k < count; ++k)
        kiln_array_free(array[k]);
}

/* Several results follow from what a bin is combined to. */
static void several_results(void **state)
{
    const int32_t keys[] = {2, 0, 2, -1, 5, 3, 2};
    const float weights[] = {1, 2, 3, 100, 100, 4, 5};
    const double expected[] = {2, 0, 9, 4}, squared[] = {4, 0, 81, 16};
    kiln_array *a[] = {array_of(keys, KILN_INT32, 7), array_of(weights, KILN_FLOAT32, 7), NULL, NULL};
    const kiln_arg in[] = {kiln_arg_array(a[0]), kiln_arg_array(a[1])};
    kiln_kernel *k = NULL;
    (void)state;
    OK(kiln_histogram_create(&k, "int32 k, float32 w", "float64 sum, float64 squared", "k", "w", NULL,
                             "sum = a; squared = a * a", NULL, 4, "sums", NULL));
    OK(kiln_kernel_call(k, a + 2, 2, in, 2, NULL));
    assert_memory_equal(kiln_array_data(a[2]), expected, sizeof expected);
    assert_memory_equal(kiln_array_data(a[3]), squared, sizeof squared);
    kiln_kernel_free(k);
    free_all(a, 4);
}

/* A number by value beside the array, no elements, and the bins of the given array. */
static void few_elements(void **state)
{
    const int64_t none[3] = {0}, before[3] = {7, 7, 7}, one[] = {0, 1, 0};
    const int32_t key = 3;
    kiln_array *a[] = {array_of(before, KILN_INT64, 3), array_of(&key, KILN_INT32, 0),
                       array_of(&key, KILN_INT32, 1)};
    kiln_kernel *k = NULL;
    (void)state;
    OK(kiln_histogram_create(&k, "int32 k, int32 less", "int64 count", "k - less", NULL, NULL, NULL, NULL, 0,
                             "few", NULL));
    const kiln_arg empty[] = {kiln_arg_array(a[1]), kiln_arg_int(2)},
                   full[] = {kiln_arg_array(a[2]), kiln_arg_int(2)};
    OK(kiln_kernel_call(k, a, 1, empty, 2, NULL));
    assert_memory_equal(kiln_array_data(a[0]), none, sizeof none);
    OK(kiln_kernel_call(k, a, 1, full, 2, NULL));
    assert_memory_equal(kiln_array_data(a[0]), one, sizeof one);
    kiln_kernel_free(k);
    free_all(a, 3);
}

static void by_name(void **state)
{
    const uint8_t x[] = {1, 3, 1, 0, 6};
    const float weights[] = {0.5f, 1, 2, 3, 4};
    const int64_t counts[] = {1, 2, 0, 1, 0, 0, 1}, more[] = {1, 2, 0, 1, 0, 0, 1, 0, 0}, bins[] = {3, 1, 1},
                  wide[] = {1, 3};
    const double sums[] = {3, 2.5, 0, 1, 0, 0, 4}, edges[] = {0, 2, 4, 6}, half[] = {-2, 1, 4},
                 range[] = {-2, 4}, of_bins[] = {5.5, 1, 4};
    kiln_array *a[] = {array_of(x, KILN_UINT8, 5), array_of(weights, KILN_FLOAT32, 5)}, *out[9] = {NULL};
    const kiln_arg in = kiln_arg_array(a[0]), w = kiln_arg_array(a[1]), no = kiln_arg_none();
    (void)state;
    OK(kiln_bincount(&out[0], in, no, 0));
    OK(kiln_bincount(&out[1], in, no, 9));
    OK(kiln_bincount(&out[2], in, w, 2));
    assert_int_equal(kiln_array_size(out[0]), 7);
    assert_int_equal(kiln_array_size(out[1]), 9);
    assert_memory_equal(kiln_array_data(out[0]), counts, sizeof counts);
    assert_memory_equal(kiln_array_data(out[1]), more, sizeof more);
    assert_memory_equal(kiln_array_data(out[2]), sums, sizeof sums);
    OK(kiln_histogram(&out[3], &out[4], in, 3, NULL, no));
    OK(kiln_histogram(&out[5], &out[6], in, 2, range, no));
    OK(kiln_histogram(&out[7], &out[8], in, 3, NULL, w));
    assert_memory_equal(kiln_array_data(out[3]), bins, sizeof bins);
    assert_memory_equal(kiln_array_data(out[4]), edges, sizeof edges);
    assert_memory_equal(kiln_array_data(out[5]), wide, sizeof wide);
    assert_memory_equal(kiln_array_data(out[6]), half, sizeof half);
    for (int k = 0; k < 3; ++k)
        assert_true(((const float *)kiln_array_data(out[7]))[k] == (float)of_bins[k]);
    free_all(out, 9);
    free_all(a, 2);
}

static void of_columns(void **state)
{
    const float x[] = {0, 1, 2, 3, 3}, y[] = {5, 5, 9, 9, 6};
    const int64_t bins[] = {3, 2}, none = 0;
    const double sums[] = {5, 0, 5, 0, 6, 18}, edges[] = {0, 1, 2, 3}, of_y[] = {5, 7, 9},
                 range[] = {0, 3, 5, 9, 1, 0};
    kiln_array *a[] = {array_of(x, KILN_FLOAT32, 5), array_of(y, KILN_FLOAT32, 5)}, *out[3] = {NULL};
    const kiln_arg in[] = {kiln_arg_array(a[0]), kiln_arg_array(a[1])}, no = kiln_arg_none();
    (void)state;
    OK(kiln_histogramdd(out, in, 2, bins, range, in[1]));
    assert_int_equal(kiln_array_ndim(out[0]), 2);
    assert_memory_equal(kiln_array_data(out[0]), sums, sizeof sums);
    assert_memory_equal(kiln_array_data(out[1]), edges, sizeof edges);
    assert_memory_equal(kiln_array_data(out[2]), of_y, sizeof of_y);
    free_all(out, 3);
    out[0] = NULL;
    FAILS(kiln_histogramdd(out, in, 1, bins, range + 4, no), KILN_ERROR_INVALID,
          "histogramdd: range: 1 and 0");
    FAILS(kiln_histogramdd(out, in, 1, &none, NULL, no), KILN_ERROR_INVALID,
          "histogramdd: bins: 0 was given");
    FAILS(kiln_histogramdd(out, in, 17, bins, NULL, no), KILN_ERROR_INVALID, "n: 17 was given; 1 to 16");
    FAILS(kiln_histogramdd(out, NULL, 1, bins, NULL, no), KILN_ERROR_INVALID, "histogramdd: x is NULL");
    FAILS(kiln_histogramdd(out, in, 1, NULL, NULL, no), KILN_ERROR_INVALID, "histogramdd: bins is NULL");
    FAILS(kiln_histogramdd(NULL, in, 1, bins, NULL, no), KILN_ERROR_INVALID, "histogramdd: out is NULL");
    free_all(a, 2);
}

static void histograms_are_refused(void **state)
{
    const int32_t below[] = {0, -3, 2};
    const float real = 1;
    const double down[] = {1, 0}, endless[] = {0, INFINITY};
    kiln_array *a[] = {array_of(below, KILN_INT32, 3), array_of(&real, KILN_FLOAT32, 1)},
               *out[2] = {NULL, NULL};
    const kiln_arg in = kiln_arg_array(a[0]), floats = kiln_arg_array(a[1]), no = kiln_arg_none();
    kiln_kernel *k = NULL;
    (void)state;
    assert_int_equal(
        kiln_histogram_create(NULL, "K k", "int64 z", "k", NULL, NULL, NULL, NULL, 4, NULL, NULL),
        KILN_ERROR_INVALID);
    FAILS(kiln_histogram_create(&k, "K k", "int64 z", NULL, NULL, NULL, NULL, NULL, 4, NULL, NULL),
          KILN_ERROR_INVALID, "bin is NULL");
    FAILS(kiln_histogram_create(&k, "K k", "int64 z", "k", NULL, NULL, NULL, NULL, -4, "h", NULL),
          KILN_ERROR_INVALID, "h: bins: -4 was given");
    FAILS(kiln_histogram_create(&k, "K k", "int64 z", "k", "k", "a * b", NULL, NULL, 4, "h", NULL),
          KILN_ERROR_INVALID, "h: identity: NULL was given");
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    o.reduce_type = "pair";
    o.preamble = "struct pair { int a, b; };";
    FAILS(kiln_histogram_create(&k, "K k", "int64 z", "k", "pair{1, 1}", "a", NULL, "pair{0, 0}", 4, "h", &o),
          KILN_ERROR_TYPE, "options.reduce_type: 'pair'");
    assert_null(k);
    FAILS(kiln_bincount(&out[0], in, no, 0), KILN_ERROR_INVALID, "-3 is an element of x");
    FAILS(kiln_bincount(&out[0], in, no, -1), KILN_ERROR_INVALID, "minlength: -1");
    FAILS(kiln_bincount(&out[0], floats, no, 0), KILN_ERROR_TYPE, "x is of float32");
    FAILS(kiln_bincount(&out[0], kiln_arg_int(3), no, 0), KILN_ERROR_TYPE, "x is no array");
    FAILS(kiln_bincount(NULL, in, no, 0), KILN_ERROR_INVALID, "out is NULL");
    FAILS(kiln_histogram(&out[0], &out[1], in, 0, NULL, no), KILN_ERROR_INVALID, "bins: 0 was given");
    FAILS(kiln_histogram(&out[0], &out[1], in, 1, down, no), KILN_ERROR_INVALID, "range: 1 and 0");
    FAILS(kiln_histogram(&out[0], &out[1], in, 1, endless, no), KILN_ERROR_INVALID, "range: 0 and inf");
    FAILS(kiln_histogram(&out[0], NULL, in, 1, NULL, no), KILN_ERROR_INVALID, "edges is NULL");
    assert_null(out[0]);
    free_all(a, 2);
}

static kiln_status create_counts(kiln_kernel **out)
{
    return kiln_histogram_create(out, "int32 k", "int64 count", "k", NULL, NULL, NULL, NULL, 3, "few", NULL);
}

/* The first call of a kernel, which fills the given bins. */
static kiln_status count_in_new_kernel(kiln_array *bins, const kiln_arg *keys)
{
    static const int64_t before[] = {7, 7, 7}, expected[] = {1, 0, 2};
    kiln_kernel *k = NULL;
    memcpy(kiln_array_data(bins), before, sizeof before);
    kiln_status status = create_counts(&k);
    if (status == KILN_OK)
        status = kiln_kernel_call(k, &bins, 1, keys, 1, NULL);
    if (status == KILN_OK)
        assert_memory_equal(kiln_array_data(bins), expected, sizeof expected);
    kiln_kernel_free(k);
    return status;
}

/* A call for which an allocation fails says so, or counts all the same. */
static void allocations_fail(void **state)
{
    const int64_t bins[3] = {0};
    const int32_t keys[] = {2, 0, 2};
    kiln_array *a[] = {array_of(bins, KILN_INT64, 3), array_of(keys, KILN_INT32, 3)};
    const kiln_arg in = kiln_arg_array(a[1]);
    kiln_kernel *keeps_code = NULL;
    (void)state;
    OK(create_counts(&keeps_code));
    OK(kiln_kernel_call(keeps_code, a, 1, &in, 1, NULL));
    EACH_ALLOCATION(count_in_new_kernel(a[0], &in), KILN_ERROR_MEMORY, (void)0);
    kiln_kernel_free(keeps_code);
    free_all(a, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(several_results),
                                       cmocka_unit_test(few_elements),
                                       cmocka_unit_test(by_name),
                                       cmocka_unit_test(of_columns),
                                       cmocka_unit_test(histograms_are_refused),
                                       cmocka_unit_test(allocations_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
