/*
 * kiln/dtype.h - element types.
 *
 *     kiln_dtype t;
 *     kiln_dtype_promote(&t, KILN_INT32, KILN_FLOAT32);      // KILN_FLOAT64, as NumPy 2 does
 *     printf("%s, %zu bytes\n", kiln_dtype_name(t), kiln_dtype_size(t));
 *
 * Names are NumPy's. All functions are pure and thread-safe.
 */
#ifndef KILN_DTYPE_H
#define KILN_DTYPE_H

#include <kiln/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The values are part of the ABI and never change. */
typedef enum kiln_dtype {
    KILN_DTYPE_NONE = 0, /* no dtype */
    KILN_BOOL = 1,       /* one byte; any non-zero byte reads as true, true is written as 1 */
    KILN_INT8 = 2,       /* two's complement, as all signed ones */
    KILN_INT16 = 3,      /* 2 bytes */
    KILN_INT32 = 4,      /* 4 bytes */
    KILN_INT64 = 5,      /* 8 bytes */
    KILN_UINT8 = 6,      /* 1 byte */
    KILN_UINT16 = 7,     /* 2 bytes */
    KILN_UINT32 = 8,     /* 4 bytes */
    KILN_UINT64 = 9,     /* 8 bytes */
    KILN_FLOAT16 = 10,   /* IEEE 754 binary16 */
    KILN_BFLOAT16 = 11,  /* the upper half of a binary32 */
    KILN_FLOAT32 = 12,   /* IEEE 754 binary32 */
    KILN_FLOAT64 = 13,   /* IEEE 754 binary64 */
    KILN_COMPLEX64 = 14, /* two float32: real, imaginary */
    KILN_COMPLEX128 = 15 /* two float64 */
} kiln_dtype;

/* "float32" for KILN_FLOAT32; "none" for a value that is no dtype. Static string. */
KILN_API const char *kiln_dtype_name(kiln_dtype dtype);

/* Bytes of one element; 0 for a value that is no dtype. */
KILN_API size_t kiln_dtype_size(kiln_dtype dtype);

/* Reads a name ("float32", "bool", ...), also NumPy's "f4", "<f4", "|b1", "|u1" forms and the
 * aliases "half", "single", "double", "int", "float", "complex". KILN_ERROR_TYPE and *out unchanged
 * where the name is unknown; big-endian forms and object dtypes are named as such. */
KILN_NODISCARD KILN_API kiln_status kiln_dtype_from_name(kiln_dtype *out, const char *name);

/* The dtype that holds the result of an operation on arrays of dtypes a and b, by NumPy 2's rules
 * (numpy.promote_types); bfloat16 with float16 gives float32, with an integer what float16 would
 * give but bfloat16 in place of float16. */
KILN_NODISCARD KILN_API kiln_status kiln_dtype_promote(kiln_dtype *out, kiln_dtype a, kiln_dtype b);

/* True if every value of `from` is representable in `to` (numpy.can_cast, casting="safe"). */
KILN_API bool kiln_dtype_can_cast(kiln_dtype from, kiln_dtype to);

#ifdef __cplusplus
}
#endif
#endif
