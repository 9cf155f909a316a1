// CUDA's built-in functions beyond C's mathematics: reciprocal roots, multiples of pi, norms, and the intrinsics
// that CUDA computes approximately, which are exact to the usual ulp here.
// needs: __cosf cospi cospif exp10 __exp10f exp10f __expf __fdividef fdividef __frsqrt_rn __log10f __log2f __logf
// needs: norm norm3d norm3df norm4d norm4df normf __powf rcbrt rcbrtf rhypot rhypotf rnorm rnorm3d rnorm3df rnorm4d
// needs: rnorm4df rnormf rsqrt rsqrtf __saturatef sincos __sincosf sincosf sincospi sincospif __sinf sinpi sinpif
// needs: __tanf __tanhf
// with: math

KN_LATER1(exp10) // needs: exp10 exp10f __exp10f
template <class R> inline R kn_rsqrt(R x) { return 1 / sqrt(x); }
template <class R> inline R kn_rcbrt(R x) { return 1 / cbrt(x); } // needs: kn_rcbrt rcbrt rcbrtf

// sin(pi x): the difference of x and the nearest even number is exact, and so is its reduction to a half at most.
template <class R> inline R kn_sinpi(R x) {
    R r = x - 2 * rint(x / 2), reduced = kn_select(fabs(r) > (R)0.5, copysign((R)1, r) - r, r);
    return kn_select(r == 0, x * 0, sin(reduced * (R)3.14159265358979323846));
}
template <class R> inline R kn_cospi(R x) {
    R r = x - 2 * rint(x / 2), size = fabs(r);
    return kn_select(size == rint(size), 1 - 2 * size, sin(((R)0.5 - size) * (R)3.14159265358979323846));
}

#define KN_BOTH(name)                                                                                      \
    template <class T, class R = typename kn_real<T>::type> inline R name(T x) { return kn_##name((R)x); } \
    template <class T> inline float name##f(T x) { return kn_##name((float)x); }
KN_BOTH(rsqrt)
KN_BOTH(rcbrt) // needs: rcbrt rcbrtf
KN_BOTH(sinpi)
KN_BOTH(cospi)

#define KN_PAIR(name, first, second)                                          \
    template <class T, class R, class = typename kn_real<R>::type>            \
    inline void name(T x, R *sine, R *cosine) {                               \
        *sine = first((R)x), *cosine = second((R)x);                          \
    }                                                                         \
    template <class T> inline void name##f(T x, float *sine, float *cosine) { \
        *sine = first((float)x), *cosine = second((float)x);                  \
    }
KN_PAIR(sincos, sin, cos)
KN_PAIR(sincospi, kn_sinpi, kn_cospi)
inline void __sincosf(float x, float *sine, float *cosine) { *sine = sin(x), *cosine = cos(x); }

// sqrt of a sum of squares, scaled by a power of two where a square could leave the range.
template <class T> inline T kn_norm(int n, const T *p) {
    double largest = 0, sum = 0;
    for (int i = 0; i < n; ++i)
        largest = max(largest, fabs(p[i]));
    if (isinf(largest))
        return largest;
    double scale = largest > 0x1p500 ? 0x1p-600 : largest < 0x1p-450 ? 0x1p600 : 1;
    for (int i = 0; i < n; ++i)
        sum += p[i] * scale * (p[i] * scale);
    return sqrt(sum) / scale;
}

#define KN_NORMS(real, suffix)                                                                             \
    inline real norm3d##suffix(real x, real y, real z) {                                                   \
        real p[] = {x, y, z};                                                                              \
        return kn_norm(3, p);                                                                              \
    }                                                                                                      \
    inline real norm4d##suffix(real x, real y, real z, real w) {                                           \
        real p[] = {x, y, z, w};                                                                           \
        return kn_norm(4, p);                                                                              \
    }                                                                                                      \
    inline real rnorm3d##suffix(real x, real y, real z) { return 1 / norm3d##suffix(x, y, z); }            \
    inline real rnorm4d##suffix(real x, real y, real z, real w) { return 1 / norm4d##suffix(x, y, z, w); } \
    inline real norm##suffix(int n, const real *p) { return kn_norm(n, p); }                               \
    inline real rnorm##suffix(int n, const real *p) { return 1 / kn_norm(n, p); }                          \
    inline real rhypot##suffix(real x, real y) { return 1 / hypot(x, y); }
KN_NORMS(float, f)
KN_NORMS(float, )
KN_NORMS(double, )

inline float __expf(float x) { return exp(x); } // needs: __expf
inline float __exp10f(float x) { return exp10(x); } // needs: __exp10f
inline float __logf(float x) { return log(x); } // needs: __logf
inline float __log2f(float x) { return log2(x); } // needs: __log2f
inline float __log10f(float x) { return log10(x); } // needs: __log10f
inline float __sinf(float x) { return sin(x); } // needs: __sinf
inline float __cosf(float x) { return cos(x); } // needs: __cosf
inline float __tanf(float x) { return tan(x); } // needs: __tanf
inline float __tanhf(float x) { return tanh(x); } // needs: __tanhf
inline float __powf(float x, float y) { return pow(x, y); } // needs: __powf
inline float __fdividef(float x, float y) { return x / y; }
inline float fdividef(float x, float y) { return x / y; }
inline float __saturatef(float x) { return min(max(x, 0), 1); }

inline float __frsqrt_rn(float x) { return (float)(1 / sqrt((double)x)); }
