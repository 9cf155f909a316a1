/* DLPack on the host: both forms, both ways, without a copy; who calls which deleter and when. */
#include <kiln/dlpack.h>
#include "array/array.h"
#include "array/dlpack_abi.h"
#include "base/alloc.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "ok.h"

#define S(...) ((const int64_t[]){__VA_ARGS__})

/* A producer of our own. */
typedef struct producer {
    kn_dl_versioned versioned;
    kn_dl_managed managed;
    int deleted;
    float data[6];
    int64_t shape[2], strides[2];
} producer;

static void deleted_versioned(kn_dl_versioned *self)
{
    ((producer *)self->context)->deleted++;
}

static void deleted_managed(kn_dl_managed *self)
{
    ((producer *)self->context)->deleted++;
}

static void produce(producer *p)
{
    *p = (producer){.data = {0, 1, 2, 3, 4, 5}, .shape = {2, 3}, .strides = {-3, 1}};
    kn_dl_tensor t = {
        .data = p->data, .device_type = KN_DL_CPU, .ndim = 2, .code = 2, .bits = 32, .lanes = 1};
    t.shape = p->shape;
    t.strides = p->strides;
    t.byte_offset = 3 * sizeof(float);
    p->versioned = (kn_dl_versioned){1, 2, p, deleted_versioned, KN_DL_READ_ONLY, t};
    p->managed = (kn_dl_managed){t, p, deleted_managed};
}

static void consumes(bool versioned)
{
    producer p;
    kiln_array *a = NULL, *v = NULL;
    float back[6];
    produce(&p);
    OK(kiln_array_from_dlpack(&a, versioned ? (void *)&p.versioned : (void *)&p.managed, versioned));
    assert_ptr_equal(kiln_array_data(a), p.data + 3);
    assert_int_equal(kiln_array_is_read_only(a), versioned);
    assert_int_equal(kiln_array_dtype(a), KILN_FLOAT32);
    OK(kiln_array_to_host(a, back, sizeof back));
    assert_true(back[0] == 3 && back[5] == 2);
    OK(kiln_array_index(&v, a, "0"));
    kiln_array_free(a);
    assert_int_equal(p.deleted, 0);
    kiln_array_free(v);
    assert_int_equal(p.deleted, 1);
}

static void consumes_both_forms(void **state)
{
    (void)state;
    consumes(false);
    consumes(true);
}

static void null_strides_mean_c_order(void **state)
{
    producer p;
    kiln_array *a = NULL;
    (void)state;
    produce(&p);
    p.managed.tensor.strides = NULL;
    p.managed.tensor.byte_offset = 0;
    p.managed.deleter = NULL;
    OK(kiln_array_from_dlpack(&a, &p.managed, false));
    assert_true(kiln_array_is_c_contiguous(a));
    kiln_array_free(a);
}

/* The tensor is still the producer's, which begins anew. */
static void stays(const kiln_array *a, producer *p)
{
    assert_null(a);
    assert_int_equal(p->deleted, 0);
    produce(p);
}
/* The function is named for tests/docs/check_errors.py. */
#define ASSERT_REFUSED(function, p, status)                                                                  \
    do {                                                                                                     \
        assert_int_equal(function(&a, &(p)->versioned, true), status);                                       \
        stays(a, p);                                                                                         \
    } while (0)

static void bad_tensors_stay_the_callers(void **state)
{
    producer p;
    kiln_array *a = NULL;
    (void)state;
    produce(&p);
    p.versioned.major = 2;
    ASSERT_REFUSED(kiln_array_from_dlpack, &p, KILN_ERROR_FORMAT);
    p.versioned.tensor.lanes = 4;
    ASSERT_REFUSED(kiln_array_from_dlpack, &p, KILN_ERROR_TYPE);
    p.versioned.tensor.bits = 128;
    ASSERT_REFUSED(kiln_array_from_dlpack, &p, KILN_ERROR_TYPE);
    p.versioned.tensor.code = 3;
    ASSERT_REFUSED(kiln_array_from_dlpack, &p, KILN_ERROR_TYPE);
    p.versioned.tensor.device_type = 10;
    ASSERT_REFUSED(kiln_array_from_dlpack, &p, KILN_ERROR_UNSUPPORTED);
    p.versioned.tensor.ndim = 65;
    ASSERT_REFUSED(kiln_array_from_dlpack, &p, KILN_ERROR_SHAPE);
    p.shape[0] = -1;
    ASSERT_REFUSED(kiln_array_from_dlpack, &p, KILN_ERROR_SHAPE);
    p.strides[0] = INT64_MAX;
    ASSERT_REFUSED(kiln_array_from_dlpack, &p, KILN_ERROR_SHAPE);
    p.versioned.tensor.byte_offset = 13;
    ASSERT_REFUSED(kiln_array_from_dlpack, &p, KILN_ERROR_INVALID);
    p.versioned.tensor.device_type = KN_DL_CUDA;
    p.versioned.tensor.device_id = 63;
    ASSERT_REFUSED(kiln_array_from_dlpack, &p, KILN_ERROR_NOT_FOUND);
    assert_int_equal(kiln_array_from_dlpack(&a, NULL, true), KILN_ERROR_INVALID);
}

static void round_trip(kiln_dtype dtype, bool versioned)
{
    void *managed = NULL;
    kiln_array *a = NULL, *v = NULL, *b = NULL;
    OK(kiln_array_ones(&a, dtype, 2, S(3, 4), KILN_DEVICE_HOST));
    OK(kiln_array_index(&v, a, "::-1, 1::2"));
    OK(kiln_array_to_dlpack(&managed, v, versioned, KILN_DLPACK_STREAM_NONE));
    OK(kiln_array_from_dlpack(&b, managed, versioned));
    assert_ptr_equal(kiln_array_data(b), kiln_array_data(v));
    assert_int_equal(kiln_array_dtype(b), dtype);
    assert_memory_equal(kiln_array_shape(b), kiln_array_shape(v), 16);
    assert_memory_equal(kiln_array_strides(b), kiln_array_strides(v), 16);
    kiln_array_free(a);
    kiln_array_free(v);
    OK(kiln_array_copy(&a, b)); /* the memory is still there */
    kiln_array_free(a);
    kiln_array_free(b);
}

static void every_dtype_goes_both_ways(void **state)
{
    (void)state;
    for (int d = KILN_BOOL; kiln_dtype_size((kiln_dtype)d) > 0; d++) {
        round_trip((kiln_dtype)d, false);
        round_trip((kiln_dtype)d, true);
    }
}

static void read_only_is_told(void **state)
{
    void *managed = NULL;
    kiln_array *a = NULL, *b = NULL, *c = NULL;
    (void)state;
    OK(kiln_array_zeros(&a, KILN_INT8, 1, S(1), KILN_DEVICE_HOST));
    OK(kiln_array_broadcast_to(&b, a, 1, S(5)));
    assert_int_equal(kiln_array_to_dlpack(&managed, b, false, KILN_DLPACK_STREAM_NONE),
                     KILN_ERROR_UNSUPPORTED);
    assert_null(managed);
    OK(kiln_array_to_dlpack(&managed, b, true, KILN_DLPACK_STREAM_NO_SYNC));
    OK(kiln_array_from_dlpack(&c, managed, true));
    assert_true(kiln_array_is_read_only(c));
    kiln_array_free(c);
    kiln_array_free(b);
    kiln_array_free(a);
}

static void empty_and_scalar_arrays(void **state)
{
    void *managed = NULL;
    kiln_array *a = NULL, *b = NULL;
    (void)state;
    OK(kiln_array_ones(&a, KILN_FLOAT64, 0, NULL, KILN_DEVICE_HOST));
    OK(kiln_array_to_dlpack(&managed, a, true, KILN_DLPACK_STREAM_NONE));
    OK(kiln_array_from_dlpack(&b, managed, true));
    assert_int_equal(kiln_array_ndim(b), 0);
    assert_true(*(double *)kiln_array_data(b) == 1);
    kiln_array_free(a);
    kiln_array_free(b);
    OK(kiln_array_zeros(&a, KILN_FLOAT64, 2, S(0, 3), KILN_DEVICE_HOST));
    OK(kiln_array_to_dlpack(&managed, a, false, KILN_DLPACK_STREAM_NONE));
    assert_null(((kn_dl_managed *)managed)->tensor.data);
    OK(kiln_array_from_dlpack(&b, managed, false));
    assert_int_equal(kiln_array_shape(b)[1], 3);
    kiln_array_free(a);
    kiln_array_free(b);
}

static void streams_of_the_host(void **state)
{
    void *managed = NULL;
    int64_t stream = 0;
    int32_t type = 0, ordinal = 7;
    kiln_array *a = NULL;
    (void)state;
    OK(kiln_array_zeros(&a, KILN_INT8, 1, S(1), KILN_DEVICE_HOST));
    assert_int_equal(kiln_array_to_dlpack(&managed, a, true, 1), KILN_ERROR_INVALID);
    assert_int_equal(kiln_array_to_dlpack(&managed, NULL, true, -1), KILN_ERROR_INVALID);
    assert_null(managed);
    OK(kiln_dlpack_stream(&stream, KILN_DEVICE_HOST));
    assert_true(stream == KILN_DLPACK_STREAM_NONE);
    OK(kiln_array_dlpack_device(&type, &ordinal, a));
    assert_true(type == 1 && ordinal == 0);
    kiln_array_free(a);
}

static void deleters_need_no_consumer(void **state)
{
    void *managed = NULL;
    kiln_array *a = NULL;
    (void)state;
    OK(kiln_array_zeros(&a, KILN_INT8, 1, S(1), KILN_DEVICE_HOST));
    OK(kiln_array_to_dlpack(&managed, a, true, -1));
    kiln_array_free(a);
    ((kn_dl_versioned *)managed)->deleter(managed);
    OK(kiln_array_zeros(&a, KILN_INT8, 1, S(1), KILN_DEVICE_HOST));
    OK(kiln_array_to_dlpack(&managed, a, false, -1));
    ((kn_dl_managed *)managed)->deleter(managed);
    kn_alloc_fail_at(1, 0);
    assert_int_equal(kiln_array_to_dlpack(&managed, a, true, -1), KILN_ERROR_MEMORY);
    kn_alloc_fail_at(0, 0);
    kiln_array_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(consumes_both_forms),
        cmocka_unit_test(null_strides_mean_c_order),
        cmocka_unit_test(bad_tensors_stay_the_callers),
        cmocka_unit_test(every_dtype_goes_both_ways),
        cmocka_unit_test(read_only_is_told),
        cmocka_unit_test(empty_and_scalar_arrays),
        cmocka_unit_test(streams_of_the_host),
        cmocka_unit_test(deleters_need_no_consumer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
