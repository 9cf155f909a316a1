// Names of <stdint.h>, <limits.h>, <float.h> and <math.h>.
// needs: int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t intptr_t SCHAR_MIN SCHAR_MAX
// needs: UCHAR_MAX SHRT_MIN SHRT_MAX USHRT_MAX INT_MIN INT_MAX UINT_MAX LONG_MIN LONG_MAX ULONG_MAX LLONG_MIN
// needs: LLONG_MAX ULLONG_MAX FLT_MIN FLT_MAX FLT_EPSILON DBL_MIN DBL_MAX DBL_EPSILON M_E M_LOG2E M_LOG10E M_LN2
// needs: M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2 CUDART_PI_F CUDART_PI INFINITY NAN
// needs: HUGE_VALF HUGE_VAL CUDART_INF_F CUDART_NAN_F CUDART_INF CUDART_NAN

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;

#ifndef INT_MAX
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295u
#define LONG_MIN (-9223372036854775807l - 1)
#define LONG_MAX 9223372036854775807l
#define ULONG_MAX 18446744073709551615ul
#define LLONG_MIN (-9223372036854775807ll - 1)
#define LLONG_MAX 9223372036854775807ll
#define ULLONG_MAX 18446744073709551615ull
#endif

#ifndef FLT_MAX
#define FLT_MIN 1.17549435e-38f
#define FLT_MAX 3.40282347e+38f
#define FLT_EPSILON 1.19209290e-07f
#define DBL_MIN 2.2250738585072014e-308
#define DBL_MAX 1.7976931348623157e+308
#define DBL_EPSILON 2.2204460492503131e-16
#endif

#ifndef M_PI
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif

// The bits that CUDA documents, on the host too.
#ifdef __CUDACC__
#define KN_FLOAT(bits) __int_as_float(bits)
#define KN_DOUBLE(bits) __longlong_as_double(bits)
#else
#define KN_FLOAT(bits) __builtin_bit_cast(float, bits)
#define KN_DOUBLE(bits) __builtin_bit_cast(double, bits)
#endif

#ifndef CUDART_INF
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931
#define CUDART_INF_F KN_FLOAT(0x7f800000)
#define CUDART_NAN_F KN_FLOAT(0x7fffffff)
#define CUDART_INF KN_DOUBLE(0x7ff0000000000000)
#define CUDART_NAN KN_DOUBLE(0x7fffffffffffffff)
#endif

#ifndef INFINITY
#define INFINITY CUDART_INF_F
#define NAN CUDART_NAN_F
#define HUGE_VALF CUDART_INF_F
#define HUGE_VAL CUDART_INF
#endif
