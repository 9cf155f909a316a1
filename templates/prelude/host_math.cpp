// C's mathematical functions in both precisions, as CUDA has them built in. An integer argument counts as float64.
// needs: abs acos acosf acosh acoshf asin asinf asinh asinhf atan atan2 atan2f atanf atanh atanhf cbrt cbrtf ceil ceilf copysign
// needs: copysignf cos cosf cosh coshf erf erfc erfcf erff exp exp2 exp2f expf expm1 expm1f fabs fabsf fdim fdimf floor floorf
// needs: fma fmaf fmax fmaxf fmin fminf fmod fmodf hypot hypotf isfinite isinf isnan log log10 log10f log1p log1pf log2 log2f
// needs: logf max min nearbyint nearbyintf nextafter nextafterf pow powf remainder remainderf rint rintf round roundf signbit sin
// needs: sinf sinh sinhf sqrt sqrtf tan tanf tanh tanhf trunc truncf

// In loops gcc calls the vector forms of glibc's libmvec, which are within 4 ulp. glibc 2.22 brought the first and 2.35 the others, and with them
// <sys/rseq.h>, which tells them apart. KN_HAVE_LIBMVEC may be given: 222 or 235 for glibc of that version and later, 0 for none.
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

// The precision in which a function of T is computed.
template <class T> struct kn_real {};
template <> struct kn_real<bool> { typedef double type; };
template <> struct kn_real<char> { typedef double type; };
template <> struct kn_real<signed char> { typedef double type; };
template <> struct kn_real<unsigned char> { typedef double type; };
template <> struct kn_real<short> { typedef double type; };
template <> struct kn_real<unsigned short> { typedef double type; };
template <> struct kn_real<int> { typedef double type; };
template <> struct kn_real<unsigned int> { typedef double type; };
template <> struct kn_real<long> { typedef double type; };
template <> struct kn_real<unsigned long> { typedef double type; };
template <> struct kn_real<long long> { typedef double type; };
template <> struct kn_real<unsigned long long> { typedef double type; };
template <> struct kn_real<double> { typedef double type; };
template <> struct kn_real<float> { typedef float type; };

#define KN_MATH1(vector, name)                                                                  \
    extern "C" vector double name(double) noexcept;                                             \
    extern "C" vector float name##f(float) noexcept;                                            \
    inline float name(float x) { return name##f(x); }                                           \
    template <class T> inline typename kn_real<T>::type name(T x) {                             \
        return name((typename kn_real<T>::type)x);                                              \
    }
#define KN_MATH2(vector, name)                                                                  \
    extern "C" vector double name(double, double) noexcept;                                     \
    extern "C" vector float name##f(float, float) noexcept;                                     \
    inline float name(float x, float y) { return name##f(x, y); }                               \
    template <class A, class B> inline typename kn_real<decltype(A() + B())>::type name(A x, B y) { \
        typedef typename kn_real<decltype(A() + B())>::type real;                               \
        return name((real)x, (real)y);                                                          \
    }

// gcc joins sin and cos of the same operand to one call that has no vector form, unless it does not know cos for what it is.
KN_VECTOR __attribute__((const)) double kn_cos(double) noexcept __asm__("cos");
KN_VECTOR __attribute__((const)) float kn_cosf(float) noexcept __asm__("cosf");
inline double cos(double x) { return kn_cos(x); }
inline float cosf(float x) { return kn_cosf(x); }
inline float cos(float x) { return kn_cosf(x); }
template <class T> inline typename kn_real<T>::type cos(T x) { return cos((typename kn_real<T>::type)x); }

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
KN_MATH1(, ceil)
KN_MATH1(, floor)
KN_MATH1(, nearbyint)
KN_MATH1(, rint)
KN_MATH1(, round)
KN_MATH1(, sqrt)
KN_MATH1(, trunc)
KN_MATH2(KN_VECTOR, pow)
KN_MATH2(KN_VECTOR_235, atan2)
KN_MATH2(KN_VECTOR_235, hypot)
KN_MATH2(, copysign)
KN_MATH2(, fdim)
KN_MATH2(, fmod)
KN_MATH2(, nextafter)
KN_MATH2(, remainder)

inline double fma(double x, double y, double z) noexcept { return __builtin_fma(x, y, z); }
inline float fmaf(float x, float y, float z) noexcept { return __builtin_fmaf(x, y, z); }
inline float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
inline double fabs(double x) noexcept { return __builtin_fabs(x); }
inline float fabsf(float x) noexcept { return __builtin_fabsf(x); }
inline float fabs(float x) { return __builtin_fabsf(x); }
template <class T> inline typename kn_real<T>::type fabs(T x) { return fabs((typename kn_real<T>::type)x); }

// A NaN gives way to the other operand. Written out, because a call of the C library's would keep loops from becoming vectors.
#define KN_EXTREME(name, compare)                                                               \
    inline float f##name##f(float x, float y) { return x compare y || y != y ? x : y; }         \
    inline float f##name(float x, float y) { return x compare y || y != y ? x : y; }            \
    inline double f##name(double x, double y) { return x compare y || y != y ? x : y; }         \
    template <class A, class B> inline decltype(A() + B()) name(A x, B y) {                     \
        decltype(A() + B()) a = x, b = y;                                                       \
        return a compare b || b != b ? a : b;                                                   \
    }                                                                                           \
    template <class A, class B> inline typename kn_real<decltype(A() + B())>::type f##name(A x, B y) { \
        typedef typename kn_real<decltype(A() + B())>::type real;                               \
        return f##name((real)x, (real)y);                                                       \
    }
KN_EXTREME(min, <)
KN_EXTREME(max, >)

inline float abs(float x) { return __builtin_fabsf(x); }
inline double abs(double x) { return __builtin_fabs(x); }
template <class T, class = typename kn_real<T>::type> inline T abs(T x) { return x < 0 ? (T)-x : x; }

inline bool isnan(float x) { return x != x; }
inline bool isnan(double x) { return x != x; }
inline bool isinf(float x) { return __builtin_isinf(x); }
inline bool isinf(double x) { return __builtin_isinf(x); }
inline bool isfinite(float x) { return __builtin_isfinite(x); }
inline bool isfinite(double x) { return __builtin_isfinite(x); }
inline bool signbit(float x) { return __builtin_signbit(x); }
inline bool signbit(double x) { return __builtin_signbit(x); }
template <class T, class R = typename kn_real<T>::type> inline bool isnan(T x) { return isnan((R)x); }
template <class T, class R = typename kn_real<T>::type> inline bool isinf(T x) { return isinf((R)x); }
template <class T, class R = typename kn_real<T>::type> inline bool isfinite(T x) { return isfinite((R)x); }
template <class T, class R = typename kn_real<T>::type> inline bool signbit(T x) { return signbit((R)x); }
