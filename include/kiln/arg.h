/*
 * kiln/arg.h - arguments of a call: an array, or a scalar or struct by value.
 *
 *     kiln_arg in[] = {kiln_arg_array(x), kiln_arg_float(0.5), kiln_arg_int(3)};
 *
 * kiln_arg_int, _float, _bool and _complex are weak scalars, like Python's numbers: they take the
 * dtype that the arrays of the call ask for and do not widen them. kiln_arg_typed, and
 * kiln_arg_float32 and its like, have a dtype of their own. The constructors are inline, and in the
 * library under the same names for languages that load it. A program that opens the library by
 * dlopen has them without it, but for kiln_arg_typed, which asks kiln_dtype_size. They never fail
 * and own nothing.
 */
#ifndef KILN_ARG_H
#define KILN_ARG_H

#include <kiln/array.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds of arguments. */
typedef enum kiln_arg_kind {
    KILN_ARG_NONE = 0,         /* kiln_arg_none */
    KILN_ARG_ARRAY = 1,        /* kiln_arg_array */
    KILN_ARG_WEAK_BOOL = 2,    /* kiln_arg_bool */
    KILN_ARG_WEAK_INT = 3,     /* kiln_arg_int */
    KILN_ARG_WEAK_UINT = 4,    /* kiln_arg_uint */
    KILN_ARG_WEAK_FLOAT = 5,   /* kiln_arg_float */
    KILN_ARG_WEAK_COMPLEX = 6, /* kiln_arg_complex */
    KILN_ARG_TYPED = 7,        /* kiln_arg_typed */
    KILN_ARG_STRUCT = 8        /* kiln_arg_struct */
} kiln_arg_kind;

/* 32 bytes for ever. Use the constructors below. */
typedef struct kiln_arg {
    int32_t kind;  /* a kiln_arg_kind */
    int32_t dtype; /* of KILN_ARG_TYPED */
    union kiln_arg_value {
        kiln_array *array;       /* of KILN_ARG_ARRAY */
        int64_t i;               /* of KILN_ARG_WEAK_INT and _BOOL */
        uint64_t u;              /* of KILN_ARG_WEAK_UINT */
        double d[2];             /* of KILN_ARG_WEAK_FLOAT, and _COMPLEX: real, imaginary */
        unsigned char bytes[16]; /* of KILN_ARG_TYPED: the element */
        struct {
            const void *data; /* where the struct is */
            size_t size;      /* its bytes */
        } pod;                /* of KILN_ARG_STRUCT; read during the call alone */
    } value;                  /* by kind */
    uint64_t reserved;        /* 0 */
} kiln_arg;

/* No argument: what a list has where nothing was put. A call refuses it. */
KILN_PRIV_INLINE kiln_arg kiln_arg_none(void)
{
    kiln_arg a;
    memset(&a, 0, sizeof a);
    return a;
}

/* Kernels read it. One that writes to it, by a raw _non_const parameter, refuses a read-only
 * array. */
KILN_PRIV_INLINE kiln_arg kiln_arg_array(const kiln_array *array)
{
    kiln_arg a;
    memset(&a, 0, sizeof a);
    a.kind = KILN_ARG_ARRAY;
    memcpy(&a.value.array, &array, sizeof array);
    return a;
}

/* A weak truth value. */
KILN_PRIV_INLINE kiln_arg kiln_arg_bool(bool value)
{
    kiln_arg a;
    memset(&a, 0, sizeof a);
    a.kind = KILN_ARG_WEAK_BOOL;
    a.value.i = value ? 1 : 0;
    return a;
}

/* A weak whole number. */
KILN_PRIV_INLINE kiln_arg kiln_arg_int(int64_t value)
{
    kiln_arg a;
    memset(&a, 0, sizeof a);
    a.kind = KILN_ARG_WEAK_INT;
    a.value.i = value;
    return a;
}

/* A weak whole number, for those beyond INT64_MAX. */
KILN_PRIV_INLINE kiln_arg kiln_arg_uint(uint64_t value)
{
    kiln_arg a;
    memset(&a, 0, sizeof a);
    a.kind = KILN_ARG_WEAK_UINT;
    a.value.u = value;
    return a;
}

/* A weak number. */
KILN_PRIV_INLINE kiln_arg kiln_arg_float(double value)
{
    kiln_arg a;
    memset(&a, 0, sizeof a);
    a.kind = KILN_ARG_WEAK_FLOAT;
    a.value.d[0] = value;
    return a;
}

/* A weak complex number. */
KILN_PRIV_INLINE kiln_arg kiln_arg_complex(double real, double imaginary)
{
    kiln_arg a;
    memset(&a, 0, sizeof a);
    a.kind = KILN_ARG_WEAK_COMPLEX;
    a.value.d[0] = real;
    a.value.d[1] = imaginary;
    return a;
}

static inline kiln_arg kiln_priv_arg_typed(kiln_dtype dtype, const void *value, size_t size)
{
    kiln_arg a;
    memset(&a, 0, sizeof a);
    a.kind = value ? KILN_ARG_TYPED : KILN_ARG_NONE;
    a.dtype = dtype;
    if (value && size <= sizeof a.value.bytes)
        memcpy(a.value.bytes, value, size);
    return a;
}

/* *value: one element of dtype, copied now. value NULL: no argument, which the call refuses. */
KILN_PRIV_INLINE kiln_arg kiln_arg_typed(kiln_dtype dtype, const void *value)
{
    return kiln_priv_arg_typed(dtype, value, kiln_dtype_size(dtype));
}

/* Typed scalars of the numbers that C has. */
KILN_PRIV_INLINE kiln_arg kiln_arg_truth(bool value)
{
    return kiln_priv_arg_typed(KILN_BOOL, &value, sizeof value);
}
KILN_PRIV_INLINE kiln_arg kiln_arg_int8(int8_t value)
{
    return kiln_priv_arg_typed(KILN_INT8, &value, sizeof value);
}
KILN_PRIV_INLINE kiln_arg kiln_arg_int16(int16_t value)
{
    return kiln_priv_arg_typed(KILN_INT16, &value, sizeof value);
}
KILN_PRIV_INLINE kiln_arg kiln_arg_int32(int32_t value)
{
    return kiln_priv_arg_typed(KILN_INT32, &value, sizeof value);
}
KILN_PRIV_INLINE kiln_arg kiln_arg_int64(int64_t value)
{
    return kiln_priv_arg_typed(KILN_INT64, &value, sizeof value);
}
KILN_PRIV_INLINE kiln_arg kiln_arg_uint8(uint8_t value)
{
    return kiln_priv_arg_typed(KILN_UINT8, &value, sizeof value);
}
KILN_PRIV_INLINE kiln_arg kiln_arg_uint16(uint16_t value)
{
    return kiln_priv_arg_typed(KILN_UINT16, &value, sizeof value);
}
KILN_PRIV_INLINE kiln_arg kiln_arg_uint32(uint32_t value)
{
    return kiln_priv_arg_typed(KILN_UINT32, &value, sizeof value);
}
KILN_PRIV_INLINE kiln_arg kiln_arg_uint64(uint64_t value)
{
    return kiln_priv_arg_typed(KILN_UINT64, &value, sizeof value);
}
KILN_PRIV_INLINE kiln_arg kiln_arg_float32(float value)
{
    return kiln_priv_arg_typed(KILN_FLOAT32, &value, sizeof value);
}
KILN_PRIV_INLINE kiln_arg kiln_arg_float64(double value)
{
    return kiln_priv_arg_typed(KILN_FLOAT64, &value, sizeof value);
}

/* A struct that the kernel's preamble declares, size bytes at data; data must live until the call
 * returns. */
KILN_PRIV_INLINE kiln_arg kiln_arg_struct(const void *data, size_t size)
{
    kiln_arg a;
    memset(&a, 0, sizeof a);
    a.kind = KILN_ARG_STRUCT;
    a.value.pod.data = data;
    a.value.pod.size = size;
    return a;
}

#ifdef __cplusplus
}
#endif
#endif
