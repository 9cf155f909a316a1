// Mathematical functions of integers, which count as float64, and of operands of different types: CUDA calls
// them ambiguous.
// needs: acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp10 exp2 expm1 fabs fdim
// needs: floor fmax fmin fmod hypot isfinite isinf isnan lgamma log log10 log1p log2 pow rint round rsqrt signbit
// needs: sin sinh sqrt tan tanh tgamma trunc
// with: real

#define KN_MATH1(name)                                               \
    template <class T>                                               \
    __device__ __forceinline__ typename kn_real<T>::type name(T x) { \
        return name((typename kn_real<T>::type)x);                   \
    }
#define KN_MATH2(name)                                                                      \
    template <class A, class B>                                                             \
    __device__ __forceinline__ typename kn_real<decltype(A() + B())>::type name(A x, B y) { \
        typedef typename kn_real<decltype(A() + B())>::type real;                           \
        return name((real)x, (real)y);                                                      \
    }
#define KN_TEST(name)                                       \
    template <class T, class R = typename kn_real<T>::type> \
    __device__ __forceinline__ bool name(T x) {             \
        return name((R)x);                                  \
    }
KN_MATH1(acos) KN_MATH1(acosh) KN_MATH1(asin) KN_MATH1(asinh) KN_MATH1(atan) KN_MATH1(atanh) KN_MATH1(cbrt)
KN_MATH1(ceil) KN_MATH1(cos) KN_MATH1(cosh) KN_MATH1(erf) KN_MATH1(erfc) KN_MATH1(exp) KN_MATH1(exp10) KN_MATH1(exp2)
KN_MATH1(expm1) KN_MATH1(fabs) KN_MATH1(floor) KN_MATH1(lgamma) KN_MATH1(log) KN_MATH1(log10) KN_MATH1(log1p)
KN_MATH1(log2) KN_MATH1(rint) KN_MATH1(round) KN_MATH1(rsqrt) KN_MATH1(sin) KN_MATH1(sinh) KN_MATH1(sqrt)
KN_MATH1(tan) KN_MATH1(tanh) KN_MATH1(tgamma) KN_MATH1(trunc)
KN_MATH2(atan2) KN_MATH2(copysign) KN_MATH2(fdim) KN_MATH2(fmax) KN_MATH2(fmin) KN_MATH2(fmod) KN_MATH2(hypot)
KN_MATH2(pow)
KN_TEST(isfinite) KN_TEST(isinf) KN_TEST(isnan) KN_TEST(signbit)
