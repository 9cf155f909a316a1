// C's mathematical functions in both precisions, as CUDA has them built in. An integer argument counts as float64.
// needs: abs acos acosf acosh acoshf asin asinf asinh asinhf atan atan2 atan2f atanf atanh atanhf cbrt cbrtf ceil
// needs: ceilf copysign copysignf cos cosf cosh coshf erf erfc erfcf erff exp exp2 exp2f expf expm1 expm1f fabs
// needs: fabsf fdim fdimf floor floorf fma fmaf fmax fmaxf fmin fminf fmod fmodf hypot hypotf isfinite isinf isnan
// needs: log log10 log10f log1p log1pf log2 log2f logf max min nearbyint nearbyintf nextafter nextafterf pow powf
// needs: remainder remainderf rint rintf round roundf signbit sin sinf sinh sinhf sqrt sqrtf tan tanf tanh tanhf
// needs: trunc truncf
// with: real

// In loops gcc calls the vector forms of glibc's libmvec, which are within 4 ulp. glibc 2.22 brought the first
// and 2.35 the others, and with them <sys/rseq.h>, which tells them apart. KN_HAVE_LIBMVEC may be given: 222 or
// 235 for glibc of that version and later, 0 for none.
#ifndef KN_HAVE_LIBMVEC
#if !defined(__x86_64__) || defined(__clang__) || !__has_include(<bits/math-vector.h>)
#define KN_HAVE_LIBMVEC 0
#elif __has_include(<sys/rseq.h>)
#define KN_HAVE_LIBMVEC 235
#else
#define KN_HAVE_LIBMVEC 222
#endif
#endif

#if KN_HAVE_LIBMVEC >= 222
#define KN_VECTOR __attribute__((simd("notinbranch")))
#else
#define KN_VECTOR
#endif
#if KN_HAVE_LIBMVEC >= 235
#define KN_VECTOR_235 KN_VECTOR
#else
#define KN_VECTOR_235
#endif

template <class A, class B> using kn_real_of = typename kn_real<decltype(A() + B())>::type;

// Everything but C's own functions is a template, and one with parameters to spare: <math.h>'s overloads, where
// the user includes it, come first.
#define KN_MATH1(vector, name)                                                                             \
    extern "C" vector double name(double) noexcept;                                                        \
    extern "C" vector float name##f(float) noexcept;                                                       \
    template <class T, class R = typename kn_real<T>::type, class... Spare> inline R name(T x, Spare...) { \
        return sizeof(R) == sizeof(float) ? (R)name##f((float)x) : (R)name((double)x);                     \
    }
#define KN_MATH2(vector, name)                                                                                  \
    extern "C" vector double name(double, double) noexcept;                                                     \
    extern "C" vector float name##f(float, float) noexcept;                                                     \
    template <class A, class B, class R = kn_real_of<A, B>, class... Spare> inline R name(A x, B y, Spare...) { \
        return sizeof(R) == sizeof(float) ? (R)name##f((float)x, (float)y) : (R)name((double)x, (double)y);     \
    }
KN_MATH1(KN_VECTOR, exp)
KN_MATH1(KN_VECTOR, log)
KN_MATH1(KN_VECTOR, sin)
KN_MATH1(KN_VECTOR_235, acos)
KN_MATH1(KN_VECTOR_235, acosh)
KN_MATH1(KN_VECTOR_235, asin)
KN_MATH1(KN_VECTOR_235, asinh)
KN_MATH1(KN_VECTOR_235, atan)
KN_MATH1(KN_VECTOR_235, atanh)
KN_MATH1(KN_VECTOR_235, cbrt)
KN_MATH1(KN_VECTOR_235, cosh)
KN_MATH1(KN_VECTOR_235, erf)
KN_MATH1(KN_VECTOR_235, erfc)
KN_MATH1(KN_VECTOR_235, exp2)
KN_MATH1(KN_VECTOR_235, expm1)
KN_MATH1(KN_VECTOR_235, log10)
KN_MATH1(KN_VECTOR_235, log1p)
KN_MATH1(KN_VECTOR_235, log2)
KN_MATH1(KN_VECTOR_235, sinh)
KN_MATH1(KN_VECTOR_235, tan)
KN_MATH1(KN_VECTOR_235, tanh)
KN_MATH1(, fabs)
KN_MATH1(, nearbyint)
KN_MATH1(, rint)
KN_MATH1(, sqrt)
KN_MATH2(KN_VECTOR, pow)
KN_MATH2(KN_VECTOR_235, atan2)
KN_MATH2(KN_VECTOR_235, hypot)
KN_MATH2(, copysign)
KN_MATH2(, fdim)
KN_MATH2(, fmod)
KN_MATH2(, nextafter)
KN_MATH2(, remainder)

// By the nearest integer, of which there are vectors: gcc has none of these as long as traps count, and where they do not it takes
// (double)(long)x for trunc(x), which differs in the sign of zero.
template <class R> inline R kn_floor(R x) {
    R nearest = rint(x);
    return nearest > x ? nearest - 1 : nearest;
}
template <class R> inline R kn_ceil(R x) { return -kn_floor(-x); }
template <class R> inline R kn_trunc(R x) { return copysign(kn_floor((R)fabs(x)), x); }
template <class R> inline R kn_round(R x) {
    R size = fabs(x), whole = kn_floor(size);
    return copysign(size - whole >= (R)0.5 ? whole + 1 : whole, x);
}
#define KN_WHOLE(name)                                                                                                            \
    template <class T, class R = typename kn_real<T>::type, class... Spare> inline R name(T x, Spare...) { return kn_##name((R)x); } \
    template <class T> inline float name##f(T x) { return kn_##name((float)x); }
KN_WHOLE(ceil)
KN_WHOLE(floor)
KN_WHOLE(round)
KN_WHOLE(trunc)

// gcc joins sin and cos of the same operand to one call that has no vector form, unless it does not know cos
// for what it is.
KN_VECTOR __attribute__((const)) double kn_cos(double) noexcept __asm__("cos");
KN_VECTOR __attribute__((const)) float kn_cos(float) noexcept __asm__("cosf");
template <class T, class R = typename kn_real<T>::type, class... Spare> inline R cos(T x, Spare...) {
    return kn_cos((R)x);
}
template <class T> inline float cosf(T x) { return kn_cos((float)x); }

extern "C" double fma(double, double, double) noexcept;
extern "C" float fmaf(float, float, float) noexcept;
template <class A, class B, class C, class R = kn_real_of<decltype(A() + B()), C>, class... Spare>
inline R fma(A x, B y, C z, Spare...) {
    return sizeof(R) == sizeof(float) ? (R)fmaf((float)x, (float)y, (float)z) : (R)fma((double)x, (double)y, (double)z);
}

// A NaN gives way to the other operand. Written out, because a call of the C library's would keep loops from
// becoming vectors.
#define KN_EXTREME(name, compare)                                                                                  \
    template <class A, class B> inline decltype(A() + B()) name(A x, B y) {                                        \
        decltype(A() + B()) a = x, b = y;                                                                          \
        return a compare b || b != b ? a : b;                                                                      \
    }                                                                                                              \
    template <class A, class B, class R = kn_real_of<A, B>, class... Spare> inline R f##name(A x, B y, Spare...) { \
        return name((R)x, (R)y);                                                                                   \
    }                                                                                                              \
    template <class A, class B> inline float f##name##f(A x, B y) { return name((float)x, (float)y); }
KN_EXTREME(min, <)
KN_EXTREME(max, >)

inline float kn_abs(float x) { return __builtin_fabsf(x); }
inline double kn_abs(double x) { return __builtin_fabs(x); }
template <class T> inline T kn_abs(T x) { return x <= 0 ? (T)(0 - x) : x; }
template <class T, class = typename kn_real<T>::type, class... Spare> inline T abs(T x, Spare...) { return kn_abs(x); }

#define KN_TEST(name)                                                                                         \
    template <class T, class R = typename kn_real<T>::type, class... Spare> inline bool name(T x, Spare...) { \
        return __builtin_##name((R)x);                                                                        \
    }
KN_TEST(isnan)
KN_TEST(isinf)
KN_TEST(isfinite)

// In integers: gcc 12 ends with an internal error on __builtin_signbit of a vector that was computed in integers.
inline bool kn_signbit(float x) { return __builtin_bit_cast(int, x) < 0; }
inline bool kn_signbit(double x) { return __builtin_bit_cast(long long, x) < 0; }
template <class T, class R = typename kn_real<T>::type, class... Spare> inline bool signbit(T x, Spare...) {
    return kn_signbit((R)x);
}
