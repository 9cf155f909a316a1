// Names of <stdint.h>, <limits.h>, <float.h> and <math.h>. Each stands behind a guard: an option's or a header's macro is taken in its place, and where
// somebody else has defined the name it is left out (codegen/prelude.h). A definition of a text's own as a macro comes after these.
// needs: int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t intptr_t SCHAR_MIN SCHAR_MAX
// needs: UCHAR_MAX SHRT_MIN SHRT_MAX USHRT_MAX INT_MIN INT_MAX UINT_MAX LONG_MIN LONG_MAX ULONG_MAX LLONG_MIN
// needs: LLONG_MAX ULLONG_MAX FLT_MIN FLT_MAX FLT_EPSILON DBL_MIN DBL_MAX DBL_EPSILON M_E M_LOG2E M_LOG10E M_LN2
// needs: M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2 CUDART_PI_F CUDART_PI INFINITY NAN
// needs: HUGE_VALF HUGE_VAL CUDART_INF_F CUDART_NAN_F CUDART_INF CUDART_NAN

#ifndef int8_t
typedef signed char int8_t;
#endif
#ifndef int16_t
typedef short int16_t;
#endif
#ifndef int32_t
typedef int int32_t;
#endif
#ifndef uint8_t
typedef unsigned char uint8_t;
#endif
#ifndef uint16_t
typedef unsigned short uint16_t;
#endif
#ifndef uint32_t
typedef unsigned int uint32_t;
#endif

// As the headers have it that are there: the toolkit's <cuda/std/cstdint>, the C library's <stdint.h>.
#ifdef __CUDACC__
#define KN_INT64 long long
#else
#define KN_INT64 long
#endif
#ifndef int64_t
typedef KN_INT64 int64_t;
#endif
#ifndef uint64_t
typedef unsigned KN_INT64 uint64_t;
#endif
#ifndef intptr_t
typedef KN_INT64 intptr_t;
#endif
#ifndef uintptr_t
typedef unsigned KN_INT64 uintptr_t;
#endif

#define KN_CONSTANT static __device__ constexpr

#ifndef SCHAR_MIN
KN_CONSTANT int SCHAR_MIN = -128;
#endif
#ifndef SCHAR_MAX
KN_CONSTANT int SCHAR_MAX = 127;
#endif
#ifndef UCHAR_MAX
KN_CONSTANT int UCHAR_MAX = 255;
#endif
#ifndef SHRT_MIN
KN_CONSTANT int SHRT_MIN = -32768;
#endif
#ifndef SHRT_MAX
KN_CONSTANT int SHRT_MAX = 32767;
#endif
#ifndef USHRT_MAX
KN_CONSTANT int USHRT_MAX = 65535;
#endif
#ifndef INT_MIN
KN_CONSTANT int INT_MIN = -2147483647 - 1;
#endif
#ifndef INT_MAX
KN_CONSTANT int INT_MAX = 2147483647;
#endif
#ifndef UINT_MAX
KN_CONSTANT unsigned int UINT_MAX = 4294967295u;
#endif
#ifndef LONG_MIN
KN_CONSTANT long LONG_MIN = -9223372036854775807l - 1;
#endif
#ifndef LONG_MAX
KN_CONSTANT long LONG_MAX = 9223372036854775807l;
#endif
#ifndef ULONG_MAX
KN_CONSTANT unsigned long ULONG_MAX = 18446744073709551615ul;
#endif
#ifndef LLONG_MIN
KN_CONSTANT long long LLONG_MIN = -9223372036854775807ll - 1;
#endif
#ifndef LLONG_MAX
KN_CONSTANT long long LLONG_MAX = 9223372036854775807ll;
#endif
#ifndef ULLONG_MAX
KN_CONSTANT unsigned long long ULLONG_MAX = 18446744073709551615ull;
#endif

#ifndef FLT_MIN
KN_CONSTANT float FLT_MIN = 1.17549435e-38f;
#endif
#ifndef FLT_MAX
KN_CONSTANT float FLT_MAX = 3.40282347e+38f;
#endif
#ifndef FLT_EPSILON
KN_CONSTANT float FLT_EPSILON = 1.19209290e-07f;
#endif
#ifndef DBL_MIN
KN_CONSTANT double DBL_MIN = 2.2250738585072014e-308;
#endif
#ifndef DBL_MAX
KN_CONSTANT double DBL_MAX = 1.7976931348623157e+308;
#endif
#ifndef DBL_EPSILON
KN_CONSTANT double DBL_EPSILON = 2.2204460492503131e-16;
#endif

#ifndef M_E
KN_CONSTANT double M_E = 2.7182818284590452354;
#endif
#ifndef M_LOG2E
KN_CONSTANT double M_LOG2E = 1.4426950408889634074;
#endif
#ifndef M_LOG10E
KN_CONSTANT double M_LOG10E = 0.43429448190325182765;
#endif
#ifndef M_LN2
KN_CONSTANT double M_LN2 = 0.69314718055994530942;
#endif
#ifndef M_LN10
KN_CONSTANT double M_LN10 = 2.30258509299404568402;
#endif
#ifndef M_PI
KN_CONSTANT double M_PI = 3.14159265358979323846;
#endif
#ifndef M_PI_2
KN_CONSTANT double M_PI_2 = 1.57079632679489661923;
#endif
#ifndef M_PI_4
KN_CONSTANT double M_PI_4 = 0.78539816339744830962;
#endif
#ifndef M_1_PI
KN_CONSTANT double M_1_PI = 0.31830988618379067154;
#endif
#ifndef M_2_PI
KN_CONSTANT double M_2_PI = 0.63661977236758134308;
#endif
#ifndef M_2_SQRTPI
KN_CONSTANT double M_2_SQRTPI = 1.12837916709551257390;
#endif
#ifndef M_SQRT2
KN_CONSTANT double M_SQRT2 = 1.41421356237309504880;
#endif
#ifndef M_SQRT1_2
KN_CONSTANT double M_SQRT1_2 = 0.70710678118654752440;
#endif

// The bits that CUDA documents, on the host too. An NVRTC that cannot compute them while it compiles has macros.
#ifdef __has_builtin
#if __has_builtin(__builtin_bit_cast)
#define KN_FLOAT(bits) __builtin_bit_cast(float, bits)
#define KN_DOUBLE(bits) __builtin_bit_cast(double, bits)
#endif
#endif
#ifndef CUDART_PI_F
KN_CONSTANT float CUDART_PI_F = 3.141592654f;
#endif
#ifndef CUDART_PI
KN_CONSTANT double CUDART_PI = 3.1415926535897931;
#endif
#ifdef KN_FLOAT
#ifndef CUDART_INF_F
KN_CONSTANT float CUDART_INF_F = KN_FLOAT(0x7f800000);
#endif
#ifndef CUDART_INF
KN_CONSTANT double CUDART_INF = KN_DOUBLE(0x7ff0000000000000);
#endif
#ifndef CUDART_NAN_F
KN_CONSTANT float CUDART_NAN_F = KN_FLOAT(0x7fffffff);
#endif
#ifndef CUDART_NAN
KN_CONSTANT double CUDART_NAN = KN_DOUBLE(0x7fffffffffffffff);
#endif
#ifndef INFINITY
KN_CONSTANT float INFINITY = KN_FLOAT(0x7f800000);
#endif
#ifndef NAN
KN_CONSTANT float NAN = KN_FLOAT(0x7fffffff);
#endif
#ifndef HUGE_VALF
KN_CONSTANT float HUGE_VALF = KN_FLOAT(0x7f800000);
#endif
#ifndef HUGE_VAL
KN_CONSTANT double HUGE_VAL = KN_DOUBLE(0x7ff0000000000000);
#endif
#else
#ifndef CUDART_INF_F
#define CUDART_INF_F __int_as_float(0x7f800000)
#endif
#ifndef CUDART_INF
#define CUDART_INF __longlong_as_double(0x7ff0000000000000)
#endif
#ifndef CUDART_NAN_F
#define CUDART_NAN_F __int_as_float(0x7fffffff)
#endif
#ifndef CUDART_NAN
#define CUDART_NAN __longlong_as_double(0x7fffffffffffffff)
#endif
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#ifndef HUGE_VALF
#define HUGE_VALF __int_as_float(0x7f800000)
#endif
#ifndef HUGE_VAL
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000)
#endif
#endif
