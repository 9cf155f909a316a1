/* Creation, copies, wrapped memory and lifetimes, on the host. */
#include "array/array.h"
#include "base/alloc.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "ok.h"

#define S(...) ((const int64_t[]){__VA_ARGS__})

static size_t used_bytes(void)
{
    kiln_memory_stats stats = KILN_MEMORY_STATS_INIT;
    OK(kiln_memory_get_stats(KILN_DEVICE_HOST, &stats));
    return stats.used_bytes;
}

static void filled_arrays(void **state)
{
    static const unsigned char zero[32];
    (void)state;
    for (int d = KILN_BOOL; kiln_dtype_size((kiln_dtype)d) > 0; d++) {
        kiln_array *a = NULL;
        unsigned char bytes[32];
        size_t item = kiln_dtype_size((kiln_dtype)d);
        OK(kiln_array_zeros(&a, (kiln_dtype)d, 1, S(2), KILN_DEVICE_HOST));
        OK(kiln_array_to_host(a, bytes, 2 * item));
        assert_memory_equal(bytes, zero, 2 * item);
        kiln_array_free(a);
    }
}

static void ones_are_one(void **state)
{
    kiln_array *a = NULL;
    float f[3];
    double z[2];
    uint16_t h[1];
    (void)state;
    OK(kiln_array_ones(&a, KILN_FLOAT32, 1, S(3), KILN_DEVICE_HOST));
    OK(kiln_array_to_host(a, f, sizeof f));
    assert_true(f[0] == 1 && f[2] == 1);
    kiln_array_free(a);
    OK(kiln_array_ones(&a, KILN_COMPLEX128, 0, NULL, KILN_DEVICE_HOST));
    OK(kiln_array_to_host(a, z, sizeof z));
    assert_true(z[0] == 1 && z[1] == 0);
    kiln_array_free(a);
    OK(kiln_array_ones(&a, KILN_BFLOAT16, 1, S(1), KILN_DEVICE_HOST));
    OK(kiln_array_to_host(a, h, sizeof h));
    assert_int_equal(h[0], 0x3f80);
    kiln_array_free(a);
}

/* Longer than one stage of the fill. */
static void full_of_wide_elements(void **state)
{
    enum { COUNT = 700001 };
    kiln_array *a = NULL;
    double value = 0.1;
    (void)state;
    OK(kiln_array_full(&a, KILN_FLOAT64, 1, S(COUNT), &value, KILN_DEVICE_HOST));
    const double *data = kiln_array_data(a);
    for (int k = 0; k < COUNT; k++)
        assert_true(data[k] == value);
    kiln_array_free(a);
}

static void ranges(void **state)
{
    kiln_array *a = NULL;
    float f[10];
    int32_t v[4];
    (void)state;
    OK(kiln_array_arange(&a, 0, 1, 0.1, KILN_FLOAT32, KILN_DEVICE_HOST));
    OK(kiln_array_to_host(a, f, sizeof f));
    assert_true(f[7] == 7 * 0.1f);
    kiln_array_free(a);
    OK(kiln_array_arange(&a, 5, -3, -2, KILN_INT32, KILN_DEVICE_HOST));
    OK(kiln_array_to_host(a, v, sizeof v));
    assert_memory_equal(v, ((const int32_t[]){5, 3, 1, -1}), sizeof v);
    kiln_array_free(a);
    OK(kiln_array_arange(&a, 3, 3, 1, KILN_INT32, KILN_DEVICE_HOST));
    assert_int_equal(kiln_array_size(a), 0);
    kiln_array_free(a);
    a = NULL;
    /* whole numbers are exact beyond 2^53, and may end at the very end */
    OK(kiln_array_arange_int(&a, 3, 18014398509481988, 9007199254740991, KILN_INT64, KILN_DEVICE_HOST));
    assert_int_equal(kiln_array_size(a), 3);
    assert_int_equal(((int64_t *)kiln_array_data(a))[2], INT64_C(18014398509481985));
    kiln_array_free(a);
    OK(kiln_array_arange(&a, 255, -1, -1, KILN_UINT8, KILN_DEVICE_HOST));
    assert_int_equal(((uint8_t *)kiln_array_data(a))[255], 0);
    kiln_array_free(a);
    a = NULL;
    assert_int_equal(kiln_array_arange(&a, 255, -2, -1, KILN_UINT8, KILN_DEVICE_HOST), KILN_ERROR_TYPE);
    assert_int_equal(kiln_array_arange(&a, 0, 3, 1, KILN_BOOL, KILN_DEVICE_HOST), KILN_ERROR_TYPE);
    assert_int_equal(kiln_array_arange(&a, -128, 129, 1, KILN_INT8, KILN_DEVICE_HOST), KILN_ERROR_TYPE);
    assert_int_equal(kiln_array_arange(&a, 0, 1, 0, KILN_INT32, KILN_DEVICE_HOST), KILN_ERROR_INVALID);
    assert_int_equal(kiln_array_arange(&a, 0, 300, 1, KILN_UINT8, KILN_DEVICE_HOST), KILN_ERROR_TYPE);
    assert_int_equal(kiln_array_arange(&a, 0, 1e300, 1, KILN_UINT8, KILN_DEVICE_HOST), KILN_ERROR_SHAPE);
    assert_int_equal(kiln_array_arange(&a, 0, 3, 1, KILN_DTYPE_NONE, KILN_DEVICE_HOST), KILN_ERROR_TYPE);
    assert_null(a);
}

/* From one end of the integers to the other; what does not fit says what was given. */
static void ranges_of_integers(void **state)
{
    kiln_array *a = NULL;
    (void)state;
    OK(kiln_array_arange_int(&a, INT64_MIN, INT64_MAX, INT64_MAX, KILN_INT64, KILN_DEVICE_HOST));
    assert_int_equal(kiln_array_size(a), 3);
    assert_memory_equal(kiln_array_data(a), ((const int64_t[]){INT64_MIN, -1, INT64_MAX - 1}), 24);
    kiln_array_free(a);
    OK(kiln_array_arange_int(&a, INT64_MAX, INT64_MIN, INT64_MIN, KILN_INT64, KILN_DEVICE_HOST));
    assert_memory_equal(kiln_array_data(a), ((const int64_t[]){INT64_MAX, -1}), 16);
    kiln_array_free(a);
    OK(kiln_array_arange_uint(&a, UINT64_MAX, UINT64_MAX - 3, -2, KILN_UINT64, KILN_DEVICE_HOST));
    assert_memory_equal(kiln_array_data(a), ((const uint64_t[]){UINT64_MAX, UINT64_MAX - 2}), 16);
    kiln_array_free(a);
    a = NULL;
    assert_int_equal(kiln_array_arange_uint(&a, UINT64_MAX - 1, UINT64_MAX, 1, KILN_INT64, KILN_DEVICE_HOST),
                     KILN_ERROR_TYPE);
    assert_string_equal(kiln_error_message(),
                        "kiln_array_arange_uint: the range from 18446744073709551614 to "
                        "18446744073709551614 does not fit int64");
    assert_int_equal(kiln_array_arange_int(&a, INT64_MIN, INT64_MAX, 1, KILN_INT64, KILN_DEVICE_HOST),
                     KILN_ERROR_SHAPE);
    assert_string_equal(kiln_error_message(),
                        "kiln_array_arange_int: 18446744073709551615 elements are too many; "
                        "2^63 - 1 are possible");
    assert_int_equal(kiln_array_arange_int(&a, 0, 3, 0, KILN_INT64, KILN_DEVICE_HOST), KILN_ERROR_INVALID);
    assert_int_equal(kiln_array_arange_int(NULL, 0, 3, 1, KILN_INT64, KILN_DEVICE_HOST), KILN_ERROR_INVALID);
    assert_int_equal(kiln_array_arange_int(&a, 0, 3, 1, (kiln_dtype)-1, KILN_DEVICE_HOST), KILN_ERROR_TYPE);
    assert_null(a);
}

static void views_are_filled(void **state)
{
    kiln_array *a = NULL, *v = NULL;
    const int16_t seven = 7, nine = 9;
    (void)state;
    OK(kiln_array_full(&a, KILN_INT16, 2, S(3, 4), &nine, KILN_DEVICE_HOST));
    OK(kiln_array_index(&v, a, "1:, ::-2"));
    OK(kiln_array_fill(v, &seven));
    assert_memory_equal(kiln_array_data(a), ((const int16_t[]){9, 9, 9, 9, 9, 7, 9, 7, 9, 7, 9, 7}), 24);
    OK(kiln_array_fill(a, &seven));
    assert_int_equal(((int16_t *)kiln_array_data(a))[0], 7);
    assert_int_equal(kiln_array_fill(a, NULL), KILN_ERROR_INVALID);
    assert_int_equal(kiln_array_fill(NULL, &seven), KILN_ERROR_INVALID);
    kiln_array_free(v);
    kiln_array_free(a);
}

static void bad_shapes_are_refused(void **state)
{
    kiln_array *a = NULL;
    (void)state;
    assert_int_equal(kiln_array_empty(&a, KILN_FLOAT32, 2, S(3, -1), KILN_DEVICE_HOST), KILN_ERROR_SHAPE);
    assert_string_equal(kiln_error_message(), "shape (3, -1) of float32 has a negative extent");
    assert_int_equal(kiln_array_empty(&a, KILN_FLOAT64, 1, S(INT64_C(1) << 60), KILN_DEVICE_HOST),
                     KILN_ERROR_SHAPE);
    assert_int_equal(kiln_array_empty(&a, KILN_FLOAT64, 65, S(1), KILN_DEVICE_HOST), KILN_ERROR_SHAPE);
    assert_int_equal(kiln_array_empty(&a, KILN_FLOAT64, 1, NULL, KILN_DEVICE_HOST), KILN_ERROR_INVALID);
    assert_int_equal(kiln_array_empty(&a, (kiln_dtype)77, 1, S(1), KILN_DEVICE_HOST), KILN_ERROR_TYPE);
    assert_int_equal(kiln_array_empty(NULL, KILN_INT8, 1, S(1), KILN_DEVICE_HOST), KILN_ERROR_INVALID);
    assert_null(a);
}

static void copies_through_any_strides(void **state)
{
    int16_t data[24], back[24], expected[24];
    kiln_array *a = NULL, *t = NULL, *copy = NULL;
    (void)state;
    for (int k = 0; k < 24; k++)
        data[k] = (int16_t)k;
    OK(kiln_array_from_host(&a, data, KILN_INT16, 3, S(2, 3, 4), KILN_DEVICE_HOST));
    OK(kiln_array_index(&t, a, "::-1, :, ::-1"));
    for (int x = 0, k = 0; x < 2; x++)
        for (int y = 0; y < 3; y++)
            for (int z = 0; z < 4; z++)
                expected[k++] = data[(1 - x) * 12 + y * 4 + 3 - z];
    OK(kiln_array_to_host(t, back, sizeof back));
    assert_memory_equal(back, expected, sizeof back);
    OK(kiln_array_copy(&copy, t));
    assert_true(kiln_array_is_c_contiguous(copy));
    assert_memory_equal(kiln_array_data(copy), expected, sizeof back);
    OK(kiln_array_set_from_host(t, data, sizeof data));
    assert_memory_equal(kiln_array_data(a), expected, sizeof back); /* its own inverse */
    kiln_array_free(copy);
    kiln_array_free(t);
    kiln_array_free(a);
}

/* One element at a time, in C order. */
static void copy_naively(int ndim, const int64_t *shape, char *to, const int64_t *to_strides,
                         const char *from, const int64_t *from_strides, size_t item)
{
    if (ndim == 0) {
        memcpy(to, from, item);
        return;
    }
    for (int64_t k = 0; k < shape[0]; k++)
        copy_naively(ndim - 1, shape + 1, to + k * *to_strides, to_strides + 1, from + k * *from_strides,
                     from_strides + 1, item);
}

static unsigned next_random(unsigned *state, unsigned below)
{
    *state = *state * 1664525U + 1013904223U;
    return (*state >> 16) % below;
}

/* Strides of a permuted, partly reversed and spread out array; *at: where its first element is. Returns the
 * bytes it needs. */
static int64_t random_strides(unsigned *seed, int ndim, const int64_t *shape, int64_t item, int64_t *strides,
                              int64_t *at)
{
    int order[6];
    int64_t size = item;
    *at = 0;
    for (int k = 0; k < ndim; k++) {
        int place = (int)next_random(seed, (unsigned)k + 1);
        order[k] = k;
        order[k] = order[place];
        order[place] = k;
    }
    for (int k = 0; k < ndim; k++) {
        int64_t extent = shape[order[k]];
        bool back = next_random(seed, 4) == 0;
        strides[order[k]] = back ? -size : size;
        *at += back ? (extent - 1) * size : 0;
        size *= extent + next_random(seed, 2);
    }
    return size;
}

static void copies_of_any_layout(void **state)
{
    static const int64_t extents[] = {1, 2, 3, 5, 31, 32, 33, 70};
    unsigned seed = 1;
    (void)state;
    for (int round = 0; round < 300; round++) {
        int ndim = (int)next_random(&seed, 5);
        int64_t item = INT64_C(1) << next_random(&seed, 5), shape[6], a[6], b[6], at_a, at_b, count = 1;
        for (int k = 0; k < ndim; k++) {
            shape[k] = extents[next_random(&seed, 8)];
            shape[k] = count * shape[k] > 20000 ? 1 : shape[k];
            count *= shape[k];
        }
        int64_t from_size = random_strides(&seed, ndim, shape, item, a, &at_a);
        int64_t to_size = random_strides(&seed, ndim, shape, item, b, &at_b);
        char *from = test_malloc((size_t)from_size), *to = test_calloc((size_t)to_size, 1),
             *expected = test_calloc((size_t)to_size, 1);
        for (int64_t k = 0; k < from_size; k++)
            from[k] = (char)next_random(&seed, 256);
        if (ndim && round % 8 == 0)
            a[ndim - 1] = at_a = 0; /* broadcast; reversed axes would start elsewhere */
        for (int k = 0; k < ndim && round % 8 == 0; k++)
            a[k] = a[k] < 0 ? -a[k] : a[k];
        copy_naively(ndim, shape, expected + at_b, b, from + at_a, a, (size_t)item);
        kn_array_copy_elements(ndim, shape, to + at_b, b, from + at_a, a, item);
        assert_memory_equal(to, expected, (size_t)to_size);
        test_free(from);
        test_free(to);
        test_free(expected);
    }
}

static int64_t shared_steps;
void __real_kn_host_parallel(int64_t count, int64_t grain, void (*body)(void *, int64_t, int64_t),
                             void *user);
void __wrap_kn_host_parallel(int64_t count, int64_t grain, void (*body)(void *, int64_t, int64_t),
                             void *user);

void __wrap_kn_host_parallel(int64_t count, int64_t grain, void (*body)(void *, int64_t, int64_t), void *user)
{
    shared_steps = count;
    __real_kn_host_parallel(count, grain, body, user);
}

/* Axes of the same order in both memories are one run, however they are numbered; other ways to copy it give
 * the same elements, only slower. A digit of `order` is the number of an axis, the fastest first. */
static void runs_are_found_in_any_order(void **state)
{
    enum { AXES = 4, COUNT = 2 * 3 * 4 * 5 };
    (void)state;
    for (int order = 0; order < AXES * AXES * AXES * AXES; order++) {
        int64_t shape[AXES], strides[AXES];
        int at[AXES], taken = 0;
        float from[COUNT], to[COUNT] = {0};
        for (int k = 0, rest = order; k < AXES; k++, rest /= AXES) {
            at[k] = rest % AXES;
            taken |= 1 << at[k];
            shape[at[k]] = 2 + k;
        }
        if (taken != (1 << AXES) - 1)
            continue;
        int64_t step = sizeof *from;
        for (int k = 0; k < AXES; k++) {
            strides[at[k]] = step;
            step *= shape[at[k]];
        }
        for (int k = 0; k < COUNT; k++)
            from[k] = (float)(k + 1);
        kn_array_copy_elements(AXES, shape, to, strides, from, strides, sizeof *from);
        assert_int_equal(shared_steps, COUNT);
        assert_memory_equal(to, from, sizeof from);
        for (int k = 0; k < AXES; k++)
            strides[k] = -strides[k];
        memset(to, 0, sizeof to);
        kn_array_copy_elements(AXES, shape, to + COUNT - 1, strides, from + COUNT - 1, strides, sizeof *from);
        assert_int_equal(shared_steps, COUNT);
        assert_memory_equal(to, from, sizeof from);
    }
}

static void sizes_of_host_memory_are_checked(void **state)
{
    kiln_array *a = NULL, *b = NULL, *t = NULL;
    float f[4] = {0};
    (void)state;
    OK(kiln_array_zeros(&a, KILN_FLOAT32, 2, S(2, 2), KILN_DEVICE_HOST));
    assert_int_equal(kiln_array_to_host(a, f, 12), KILN_ERROR_INVALID);
    assert_string_equal(kiln_error_message(),
                        "kiln_array_to_host: 12 bytes were given, but the array has 16");
    assert_int_equal(kiln_array_set_from_host(a, NULL, 16), KILN_ERROR_INVALID);
    assert_int_equal(kiln_array_to_host(NULL, f, 16), KILN_ERROR_INVALID);
    OK(kiln_array_transpose(&t, a, NULL));
    assert_int_equal(kiln_array_to_host_async(t, f, 16, NULL), KILN_ERROR_INVALID);
    OK(kiln_array_set_from_host_async(a, f, 16, NULL));
    OK(kiln_array_broadcast_to(&b, a, 3, S(2, 2, 2)));
    assert_int_equal(kiln_array_set_from_host(b, f, 32), KILN_ERROR_INVALID);
    assert_string_equal(kiln_error_message(), "kiln_array_set_from_host: the array is read-only");
    kiln_array_free(t);
    kiln_array_free(b);
    kiln_array_free(a);
}

static void same_array_where_nothing_is_to_do(void **state)
{
    kiln_array *a = NULL, *b = NULL, *c = NULL;
    (void)state;
    OK(kiln_array_zeros(&a, KILN_FLOAT32, 2, S(2, 3), KILN_DEVICE_HOST));
    OK(kiln_array_contiguous(&b, a));
    OK(kiln_array_to_device(&c, a, KILN_DEVICE_HOST));
    assert_ptr_equal(a, b);
    assert_ptr_equal(a, c);
    kiln_array_free(a);
    kiln_array_free(b);
    assert_int_equal(kiln_array_size(c), 6);
    kiln_array_free(c);
}

/* ---- lifetimes ---- */

static void count_release(void *user)
{
    ++*(int *)user;
}

static void wrapped_memory_is_released_once(void **state)
{
    int released = 0;
    float data[6] = {1, 2, 3, 4, 5, 6}, back[2];
    kiln_array *a = NULL, *row = NULL, *element = NULL;
    kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
    (void)state;
    spec.dtype = KILN_FLOAT32;
    spec.ndim = 2;
    spec.shape = S(2, 3);
    spec.strides = S(-12, 4);
    spec.device = KILN_DEVICE_HOST;
    spec.read_only = true;
    OK(kiln_array_wrap(&a, data + 3, &spec, count_release, &released));
    assert_ptr_equal(a->storage->data, data);
    assert_int_equal(a->storage->size, sizeof data);
    OK(kiln_array_index(&row, a, ":, 0"));
    kiln_array_retain(a);
    kiln_array_free(a);
    kiln_array_free(a);
    assert_int_equal(released, 0);
    OK(kiln_array_select(&element, row, 0, 1));
    kiln_array_free(element);
    OK(kiln_array_to_host(row, back, sizeof back));
    assert_true(back[0] == 4 && back[1] == 1);
    assert_true(kiln_array_is_read_only(row));
    kiln_array_free(row);
    assert_int_equal(released, 1);
}

static void bad_foreign_memory_is_refused(void **state)
{
    int released = 0;
    double data[2] = {0};
    kiln_array *a = NULL;
    kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
    (void)state;
    spec.dtype = KILN_FLOAT64;
    spec.ndim = 1;
    spec.shape = S(2);
    spec.device = KILN_DEVICE_HOST;
    assert_int_equal(kiln_array_wrap(&a, NULL, &spec, count_release, &released), KILN_ERROR_INVALID);
    assert_int_equal(kiln_array_wrap(&a, (char *)data + 4, &spec, count_release, &released),
                     KILN_ERROR_INVALID);
    assert_string_equal(kiln_error_message(),
                        "kiln_array_wrap: elements of float64 must be aligned to 8 bytes");
    spec.strides = S(INT64_MAX);
    assert_int_equal(kiln_array_wrap(&a, data, &spec, count_release, &released), KILN_ERROR_SHAPE);
    spec.strides = NULL;
    spec.struct_size = 0;
    assert_int_equal(kiln_array_wrap(&a, data, &spec, count_release, &released), KILN_ERROR_INVALID);
    spec.struct_size = sizeof spec;
    spec.shape = S(0);
    OK(kiln_array_wrap(&a, NULL, &spec, NULL, NULL)); /* no element, no memory */
    kiln_array_free(a);
    assert_int_equal(released, 0);
}

static void views_keep_pooled_storage(void **state)
{
    size_t before = used_bytes();
    kiln_array *a = NULL, *v = NULL;
    (void)state;
    OK(kiln_array_zeros(&a, KILN_FLOAT32, 1, S(1000), KILN_DEVICE_HOST));
    OK(kiln_array_index(&v, a, "500"));
    kiln_array_free(a);
    assert_true(used_bytes() > before);
    kiln_array_free(v);
    assert_int_equal(used_bytes(), before);
    kiln_array_free(NULL);
}

/* Every allocation fails once: no leak, no array, KILN_ERROR_MEMORY. */
static kiln_status make_much(void)
{
    kiln_array *a = NULL, *v = NULL, *r = NULL, *f = NULL;
    double value = 0.3;
    kiln_status status = kiln_array_arange(&a, 0, 6, 1, KILN_INT32, KILN_DEVICE_HOST);
    if (!status)
        status = kiln_array_reshape(&v, a, 2, S(2, 3));
    kiln_array_free(a);
    a = NULL;
    if (!status)
        status = kiln_array_transpose(&a, v, NULL);
    if (!status)
        status = kiln_array_reshape(&r, a, 1, S(6));
    if (!status)
        status = kiln_array_full(&f, KILN_FLOAT64, 1, S(10), &value, KILN_DEVICE_HOST);
    kiln_array_free(a);
    kiln_array_free(v);
    kiln_array_free(r);
    kiln_array_free(f);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    OK(make_much());
    size_t before = used_bytes();
    kn_alloc_fail_at(0, 0);
    OK(make_much());
    unsigned long count = kn_alloc_fail_at(0, 0);
    assert_true(count >= 6);
    for (unsigned long n = 1; n <= count; n++) {
        kn_alloc_fail_at(n, 0);
        kiln_status status = make_much();
        kn_alloc_fail_at(0, 0);
        assert_int_equal(status, KILN_ERROR_MEMORY);
        assert_int_equal(used_bytes(), before);
    }
}

static void null_arrays_have_no_properties(void **state)
{
    (void)state;
    assert_int_equal(kiln_array_dtype(NULL), KILN_DTYPE_NONE);
    assert_int_equal(kiln_array_ndim(NULL), 0);
    assert_null(kiln_array_shape(NULL));
    assert_null(kiln_array_data(NULL));
    assert_null(kiln_array_retain(NULL));
    assert_int_equal(kiln_array_nbytes(NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filled_arrays),
        cmocka_unit_test(ones_are_one),
        cmocka_unit_test(full_of_wide_elements),
        cmocka_unit_test(ranges),
        cmocka_unit_test(ranges_of_integers),
        cmocka_unit_test(views_are_filled),
        cmocka_unit_test(bad_shapes_are_refused),
        cmocka_unit_test(copies_through_any_strides),
        cmocka_unit_test(copies_of_any_layout),
        cmocka_unit_test(runs_are_found_in_any_order),
        cmocka_unit_test(sizes_of_host_memory_are_checked),
        cmocka_unit_test(same_array_where_nothing_is_to_do),
        cmocka_unit_test(wrapped_memory_is_released_once),
        cmocka_unit_test(bad_foreign_memory_is_refused),
        cmocka_unit_test(views_keep_pooled_storage),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(null_arrays_have_no_properties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
