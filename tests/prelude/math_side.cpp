// Mathematics as host kernels see it: plain loops, which the compiler turns into calls of vector functions where there are any.
#include "prelude/host_base.cpp"
#include "prelude/both_real.cpp"
#include "prelude/both_constants.cpp"
#include "prelude/host_math.cpp"
#include "prelude/host_intrinsics.cpp"
#include "prelude/host_rounded.cpp"
#include "prelude/host_special.cpp"

#define LOOP(name)                                                                                           \
    extern "C" void kiln_##name##_f(float *out, const float *x, long n)                                      \
    {                                                                                                        \
        KN_INDEPENDENT                                                                                       \
        for (long i = 0; i < n; ++i)                                                                         \
            out[i] = name(x[i]);                                                                             \
    }                                                                                                        \
    extern "C" void kiln_##name##_d(double *out, const double *x, long n)                                    \
    {                                                                                                        \
        KN_INDEPENDENT                                                                                       \
        for (long i = 0; i < n; ++i)                                                                         \
            out[i] = name(x[i]);                                                                             \
    }
#include "math_functions.h"

extern "C" float kiln_min(float x, float y)
{
    return min(x, y);
}
extern "C" float kiln_max(float x, float y)
{
    return max(x, y);
}
extern "C" double kiln_fmin(double x, double y)
{
    return fmin(x, y);
}
extern "C" double kiln_fmax(double x, double y)
{
    return fmax(x, y);
}

template <class A, class B> struct same {
    enum { value = 0 };
};
template <class T> struct same<T, T> {
    enum { value = 1 };
};
#define HAS_TYPE(T, expression) (same<T, decltype(expression)>::value)

// Types and values of mixed calls, as in CUDA.
extern "C" bool kiln_mixed_calls()
{
    int i = -3;
    unsigned u = 5;
    short s = -2;
    long long l = 1ll << 40;
    float f = 0.25f;
    double d = 0.5;
    bool right = HAS_TYPE(float, max(f, i)) && HAS_TYPE(double, min(f, d)) &&
                 HAS_TYPE(long long, max(l, i)) && HAS_TYPE(int, max(s, s)) &&
                 HAS_TYPE(unsigned, max(u, i)) && HAS_TYPE(float, sin(f)) && HAS_TYPE(double, sin(i)) &&
                 HAS_TYPE(float, pow(f, i)) && HAS_TYPE(double, pow(i, i)) && HAS_TYPE(double, fmax(f, d)) &&
                 HAS_TYPE(int, abs(i)) && HAS_TYPE(float, fabs(f)) && HAS_TYPE(float, rsqrt(f)) &&
                 HAS_TYPE(double, hypot(d, i)) && HAS_TYPE(float, atan2(f, f)) &&
                 HAS_TYPE(float, fma(f, f, f));
    right &= max(f, i) == 0.25f && min(f, i) == -3 && max(l, i) == l && max(s, i) == -2 && min(u, 7) == 5 &&
             max(d, f) == 0.5;
    right &= abs(i) == 3 && abs(s) == 2 && abs(u) == 5 && abs(-l) == l && abs(-f) == f && fabs(i) == 3 &&
             pow(2, 10) == 1024 && sqrt(16) == 4;
    right &= !isnan(i) && isfinite(u) && !isinf(l) && signbit(i) && isnan(f - NAN) && isinf(d * INFINITY) &&
             signbit(-0.0f) && !signbit(d);
    right &= __saturatef(2) == 1 && __saturatef(-1) == 0 && __saturatef(NAN) == 0 && fdividef(1, 4) == 0.25f;
    right &= norm3d(2.0, 3.0, 6.0) == 7 && rnorm3df(2, 3, 6) == 1.0f / 7 && norm4df(2, 4, 5, 6) == 9 &&
             rhypot(3.0, 4.0) == 0.2;
    right &= norm3d(2e300, 3e300, 6e300) > 6.99e300 && __fmul_rn(3, 0.5f) == 1.5f &&
             __fmaf_rn(2, 3, 4) == 10 && __frcp_rn(4) == 0.25f;
    right &= ldexp(1.0f, 3) == 8 && scalbn(1.0, -1) == 0.5 && llrint(2.5) == 2 && lround(2.5f) == 3 &&
             ilogb(9.0f) == 3;
    right &= INT_MAX == 2147483647 && uint8_t(257) == 1 && M_PI > 3.14159 && FLT_MAX > 3e38f &&
             -INFINITY < -DBL_MAX;
    right &= __builtin_bit_cast(int, NAN) == 0x7fffffff && HUGE_VAL == CUDART_INF && CUDART_NAN != CUDART_NAN;
    float sine, cosine;
    sincosf(1, &sine, &cosine);
    right &= sine == sin(1.0f) && cosine == cos(1.0f);
    sincospi(0.5f, &sine, &cosine);
    return right && sine == 1 && cosine == 0;
}

// A product that is rounded before the sum: with a fused multiply-add the difference would not vanish.
extern "C" float kiln_rounded_product(float x, float y)
{
    return __fadd_rn(__fmul_rn(x, y), -__fmul_rn(x, y));
}

// True if the loops above were compiled to calls of libmvec.
extern "C" int kiln_have_libmvec()
{
    return KN_HAVE_LIBMVEC;
}
