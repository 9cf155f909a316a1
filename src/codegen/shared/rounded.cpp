// KILN_KERNEL_ROUND_EACH: an operation on 16-bit floats, or on one and an integer, gives a 16-bit float, as NumPy's do. Beside a float32 they are
// float32. All are templates: what they call is looked up when they are used, nothing is converted so that they fit, and of functions for any type
// they are the more special ones.
template <class H> using kn_half_of = typename kn_half<H>::type;
template <class T> struct kn_float_for { typedef float type; };

#define KN_EACH_OPERATOR(op) \
    template <class H, class R = kn_half_of<H>> __device__ __forceinline__ R operator op(H x, H y) { return (float)x op(float) y; }
#define KN_EACH_OPERATOR_BESIDE(op)                                                                                                                   \
    template <class H, class I, class = kn_integer<I>> __device__ __forceinline__ kn_half_of<H> operator op(H x, I y) { return (float)x op y; }     \
    template <class I, class H, class = kn_integer<I>> __device__ __forceinline__ kn_half_of<H> operator op(I x, H y) { return x op(float) y; }
#define KN_EACH1(H, name) \
    template <class F = float> __device__ __forceinline__ H name(H x) { return name((F)(float)x); }
#define KN_EACH2(name)                                                                     \
    template <class H, class R = kn_half_of<H>> __device__ __forceinline__ R name(H x, H y) { \
        typedef typename kn_float_for<H>::type F;                                          \
        return name((F)x, (F)y);                                                           \
    }
#define KN_EACH2_OF(H, name)                                                                               \
    template <class I, class = kn_integer<I>> __device__ __forceinline__ H name(H x, I y) {                \
        typedef typename kn_float_for<I>::type F;                                                          \
        return name((F)x, (F)y);                                                                           \
    }                                                                                                      \
    template <class I, class = kn_integer<I>> __device__ __forceinline__ H name(I x, H y) {                \
        typedef typename kn_float_for<I>::type F;                                                          \
        return name((F)x, (F)y);                                                                           \
    }
#define KN_EACH_ORDER(H, name) \
    template <class F = float> __device__ __forceinline__ H name(int n, H x) { return name(n, (F)(float)x); }
#define KN_EACH_BESIDE(H, name, other) \
    template <class F = float> __device__ __forceinline__ H name(H x, other n) { return name((F)(float)x, n); }

#define KN_OF_TWO(each)                                                                                         \
    each(pow) each(atan2) each(fmod) each(remainder) each(fdim) each(hypot) each(rhypot) each(copysign) each(min) \
    each(max) each(fmin) each(fmax)
KN_EACH_OPERATOR(+) KN_EACH_OPERATOR(-) KN_EACH_OPERATOR(*) KN_EACH_OPERATOR(/)
KN_EACH_OPERATOR_BESIDE(+) KN_EACH_OPERATOR_BESIDE(-) KN_EACH_OPERATOR_BESIDE(*) KN_EACH_OPERATOR_BESIDE(/)
KN_OF_TWO(KN_EACH2)
template <class H, class R = kn_half_of<H>> __device__ __forceinline__ R operator-(H x) { return -(float)x; }
template <class H, class R = kn_half_of<H>> __device__ __forceinline__ R fma(H x, H y, H z) {
    typedef typename kn_float_for<H>::type F;
    return fma((F)x, (F)y, (F)z);
}
template <class H, class R = kn_half_of<H>> __device__ __forceinline__ R norm3d(H x, H y, H z) {
    typedef typename kn_float_for<H>::type F;
    return norm3d((F)x, (F)y, (F)z);
}
template <class H, class R = kn_half_of<H>> __device__ __forceinline__ R norm4d(H x, H y, H z, H w) {
    typedef typename kn_float_for<H>::type F;
    return norm4d((F)x, (F)y, (F)z, (F)w);
}

#define KN_EACH_OF(H)                                                                                                     \
    KN_EACH1(H, sqrt) KN_EACH1(H, rsqrt) KN_EACH1(H, cbrt) KN_EACH1(H, rcbrt) KN_EACH1(H, exp) KN_EACH1(H, exp2)          \
    KN_EACH1(H, exp10) KN_EACH1(H, expm1) KN_EACH1(H, log) KN_EACH1(H, log2) KN_EACH1(H, log10) KN_EACH1(H, log1p)        \
    KN_EACH1(H, sin) KN_EACH1(H, cos) KN_EACH1(H, tan) KN_EACH1(H, sinpi) KN_EACH1(H, cospi) KN_EACH1(H, asin)            \
    KN_EACH1(H, acos) KN_EACH1(H, atan) KN_EACH1(H, sinh) KN_EACH1(H, cosh) KN_EACH1(H, tanh) KN_EACH1(H, asinh)          \
    KN_EACH1(H, acosh) KN_EACH1(H, atanh) KN_EACH1(H, erf) KN_EACH1(H, erfc) KN_EACH1(H, erfinv) KN_EACH1(H, erfcinv)     \
    KN_EACH1(H, erfcx) KN_EACH1(H, normcdf) KN_EACH1(H, normcdfinv) KN_EACH1(H, tgamma) KN_EACH1(H, lgamma)               \
    KN_EACH1(H, j0) KN_EACH1(H, j1) KN_EACH1(H, y0) KN_EACH1(H, y1) KN_EACH1(H, cyl_bessel_i0) KN_EACH1(H, cyl_bessel_i1) \
    KN_EACH1(H, floor) KN_EACH1(H, ceil) KN_EACH1(H, round) KN_EACH1(H, rint) KN_EACH1(H, trunc) KN_EACH1(H, nearbyint)   \
    KN_EACH1(H, fabs) KN_EACH1(H, logb) KN_EACH_ORDER(H, jn) KN_EACH_ORDER(H, yn) KN_EACH_BESIDE(H, ldexp, int)           \
    KN_EACH_BESIDE(H, scalbn, int) KN_EACH_BESIDE(H, scalbln, long) KN_EACH_BESIDE(H, frexp, int *)
#define KN_FOR_FLOAT16(name) KN_EACH2_OF(float16, name)
#define KN_FOR_BFLOAT16(name) KN_EACH2_OF(bfloat16, name)
KN_EACH_OF(float16)
KN_EACH_OF(bfloat16)
KN_OF_TWO(KN_FOR_FLOAT16)
KN_OF_TWO(KN_FOR_BFLOAT16)

