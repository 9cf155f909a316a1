/* float16 and bfloat16 by kernels of the library. */
#include <stdint.h>

#include "device_side.h"

#define CONVERSION(name, out_type, out_name, out_dtype, in_type, in_name, in_dtype)                          \
    void name(out_type *out, const in_type *in, long n)                                                      \
    {                                                                                                        \
        device_operand x = {in_dtype, in};                                                                   \
        run_on_device(in_name " x", out_name " y", "y = x", out, out_dtype, n, &x, 1);                       \
    }
#define ARITHMETIC(name, H, dtype, operation)                                                                \
    void name(uint16_t *z, const uint16_t *x, const uint16_t *y, long n)                                     \
    {                                                                                                        \
        device_operand operands[] = {{dtype, x}, {dtype, y}};                                                \
        run_on_device("T x, T y", "T z", "z = x " operation " y", z, dtype, n, operands, 2);                 \
    }
#define STEP(name, H, dtype)                                                                                 \
    void name##_step(uint16_t *z, const uint16_t *x, const uint16_t *y, long n)                              \
    {                                                                                                        \
        device_operand operands[] = {{dtype, x}, {dtype, y}};                                                \
        run_on_device("T x, T y", "T z", "z = nextafter(x, y)", z, dtype, n, operands, 2);                   \
    }                                                                                                        \
    void name##_step_float(uint16_t *z, const uint16_t *x, const float *y, long n)                           \
    {                                                                                                        \
        device_operand operands[] = {{dtype, x}, {KILN_FLOAT32, y}};                                         \
        run_on_device("T x, float32 y", "T z", "z = nextafter(x, y)", z, dtype, n, operands, 2);             \
    }                                                                                                        \
    void name##_size(uint16_t *z, const uint16_t *x, long n)                                                 \
    {                                                                                                        \
        device_operand operand = {dtype, x};                                                                 \
        run_on_device("T x", "T z", "z = abs(x)", z, dtype, n, &operand, 1);                                 \
    }                                                                                                        \
    void name##_signs(bool *z, const uint16_t *x, long n)                                                    \
    {                                                                                                        \
        device_operand operand = {dtype, x};                                                                 \
        run_on_device("T x", "bool z", "z = signbit(x)", z, KILN_BOOL, n, &operand, 1);                      \
    }
#define FORMAT(name, H, dtype)                                                                               \
    CONVERSION(name##_from_float, uint16_t, H, dtype, float, "float32", KILN_FLOAT32)                        \
    CONVERSION(name##_from_double, uint16_t, H, dtype, double, "float64", KILN_FLOAT64)                      \
    CONVERSION(name##_from_int64, uint16_t, H, dtype, long long, "int64", KILN_INT64)                        \
    CONVERSION(name##_from_uint64, uint16_t, H, dtype, unsigned long long, "uint64", KILN_UINT64)            \
    CONVERSION(name##_to_float, float, "float32", KILN_FLOAT32, uint16_t, H, dtype)                          \
    CONVERSION(name##_to_double, double, "float64", KILN_FLOAT64, uint16_t, H, dtype)                        \
    CONVERSION(name##_to_int64, long long, "int64", KILN_INT64, uint16_t, H, dtype)                          \
    ARITHMETIC(name##_add, H, dtype, "+")                                                                    \
    ARITHMETIC(name##_subtract, H, dtype, "-")                                                               \
    ARITHMETIC(name##_multiply, H, dtype, "*")                                                               \
    ARITHMETIC(name##_divide, H, dtype, "/")                                                                 \
    STEP(name, H, dtype)
FORMAT(half, "float16", KILN_FLOAT16)
FORMAT(bfloat, "bfloat16", KILN_BFLOAT16)
