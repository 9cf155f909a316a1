// float16 and bfloat16 as kernels see them.
#include "prelude/host_base.cpp"
#include "prelude/both_real.cpp"
#include "prelude/host_math.cpp"
#include "prelude/host_half.cpp"
#include "prelude/host_bfloat16.cpp"
#include "prelude/both_halves.cpp"
#include "prelude/both_half_names.cpp"

// Loops, so that the vector forms are what is tested.
#define CONVERSIONS(H, I, name)                                                                              \
    extern "C" void name##_from_##I(H *out, const I *in, long n)                                             \
    {                                                                                                        \
        for (long i = 0; i < n; ++i)                                                                         \
            out[i] = in[i];                                                                                  \
    }                                                                                                        \
    extern "C" void name##_to_##I(I *out, const H *in, long n)                                               \
    {                                                                                                        \
        for (long i = 0; i < n; ++i)                                                                         \
            out[i] = in[i];                                                                                  \
    }
CONVERSIONS(float16, float, half)
CONVERSIONS(float16, double, half)
CONVERSIONS(float16, int64, half)
CONVERSIONS(float16, uint64, half)
CONVERSIONS(bfloat16, float, bfloat)
CONVERSIONS(bfloat16, double, bfloat)
CONVERSIONS(bfloat16, int64, bfloat)
CONVERSIONS(bfloat16, uint64, bfloat)

#define ARITHMETIC(H, name, operation)                                                                       \
    extern "C" void name(H *z, const H *x, const H *y, long n)                                               \
    {                                                                                                        \
        for (long i = 0; i < n; ++i)                                                                         \
            z[i] = x[i] operation y[i];                                                                      \
    }
ARITHMETIC(float16, half_add, +)
ARITHMETIC(float16, half_subtract, -)
ARITHMETIC(float16, half_multiply, *)
ARITHMETIC(float16, half_divide, /)
ARITHMETIC(bfloat16, bfloat_add, +)
ARITHMETIC(bfloat16, bfloat_subtract, -)
ARITHMETIC(bfloat16, bfloat_multiply, *)
ARITHMETIC(bfloat16, bfloat_divide, /)

#define STEP(H, name)                                                                                        \
    extern "C" void name##_step(H *z, const H *x, const H *y, long n)                                        \
    {                                                                                                        \
        for (long i = 0; i < n; ++i)                                                                         \
            z[i] = nextafter(x[i], y[i]);                                                                    \
    }                                                                                                        \
    extern "C" void name##_step_float(H *z, const H *x, const float *y, long n)                              \
    {                                                                                                        \
        for (long i = 0; i < n; ++i)                                                                         \
            z[i] = nextafter(x[i], y[i]);                                                                    \
    }                                                                                                        \
    extern "C" void name##_size(H *z, const H *x, long n)                                                    \
    {                                                                                                        \
        for (long i = 0; i < n; ++i)                                                                         \
            z[i] = abs(x[i]);                                                                                \
    }                                                                                                        \
    extern "C" void name##_signs(bool *z, const H *x, long n)                                                \
    {                                                                                                        \
        for (long i = 0; i < n; ++i)                                                                         \
            z[i] = signbit(x[i]);                                                                            \
    }
STEP(float16, half)
STEP(bfloat16, bfloat)

// Snippets over a T. Results are small whole numbers, which every type holds.
template <class T> static int expressions(T x, T y)
{
    T z = x * 2 + 1; // 7
    bool larger = x > 0;
    z += larger ? x : y; // 10
    z += (larger ? x * 2 : 0) - (larger ? +x : 1) - (larger ? (T)3 : x) + (larger ? 0 : -y);
    z = sqrt(z * z);      // 10
    z += max(x, y);       // 14
    z -= min(x, (T)1);    // 13
    z *= 2;               // 26
    z /= (T)2;            // 13
    z = -z;               // -13
    z = abs(z) + fabs(z); // 26
    z += pow(x, 2);       // 35
    z += fmax(x, 0);      // 38
    float single_precision = x;
    double double_precision = x;
    int whole = x;
    z += single_precision + double_precision + whole; // 47
    z += x == y;
    z += x != y; // 48
    z += (float)x + int(y);
    z += isnan(x) + isinf(y) + !isfinite(z); // 55
    if (x)
        z += floor(x / 2); // 56
    if (!z)
        z = 0;
    single_precision += x; // 6
    T other = (short)3;
    other = x * 0.5; // 1.5
    z += other * 2 + single_precision;
    return (int)z; // 65
}

extern "C" int half_expressions()
{
    return expressions<float16>(3, 4);
}
extern "C" int bfloat_expressions()
{
    return expressions<bfloat16>(3, 4);
}
extern "C" int float_expressions()
{
    return expressions<float>(3, 4);
}
extern "C" int int_expressions()
{
    return expressions<int>(3, 4);
}
// The two side by side: each assigned to the other; what mixes them is float.
template <class T, class Other> static int mixed(T x, const Other &y)
{
    T z = 0;
    Other back = 0;
    z = y;
    back = z;
    z += back;                         // 8
    z = (x < y ? x : y) + (y ? y : x); // 7
    z = z * y - x;                     // 25
    (z = y) += x;                      // 7
    return (int)(z * back);            // 28
}
extern "C" int half_from_bfloat()
{
    return mixed<float16>(float16(3), bfloat16(4));
}
extern "C" int bfloat_from_half()
{
    return mixed<bfloat16>(bfloat16(3), float16(4));
}

extern "C" float half_names(float x)
{
    return __half2float(__float2half(x)) + __bfloat162float(__float2bfloat16(x));
}
