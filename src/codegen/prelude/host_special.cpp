// Special functions, and those of C's mathematics that snippets seldom need. The ones that C lacks are computed
// in float64 by their definitions and refined by Newton's method.
// needs: scalbln scalblnf cyl_bessel_i0 cyl_bessel_i0f cyl_bessel_i1 cyl_bessel_i1f erfcinv erfcinvf erfcx erfcxf
// needs: erfinv erfinvf frexp frexpf ilogb ilogbf j0( j0f j1( j1f jn( jnf ldexp ldexpf lgamma lgammaf llrint llrintf
// needs: llround llroundf logb logbf lrint lrintf lround lroundf modf modff normcdf normcdff normcdfinv normcdfinvf
// needs: remquo remquof scalbn scalbnf tgamma tgammaf y0( y0f y1( y1f yn( ynf
// with: math

KN_MATH1(lgamma)
KN_MATH1(tgamma)
KN_MATH1(logb)
KN_MATH1(j0)
KN_MATH1(j1)
KN_MATH1(y0)
KN_MATH1(y1)

#define KN_RETURNING(result, name)                                            \
    extern "C" result name(double) noexcept;                                  \
    template <class T> inline result name##f(T x) { return name((double)x); } \
    template <class T, class R = typename kn_real<T>::type> inline result name(T x) { return name((double)x); }
KN_RETURNING(int, ilogb)
KN_RETURNING(long, lrint)
KN_RETURNING(long, lround)
KN_RETURNING(long long, llrint)
KN_RETURNING(long long, llround)

// With an operand or a result besides: of a type that does not say how to compute.
#define KN_BESIDES(name, other)                                                              \
    extern "C" double name(double, other) noexcept;                                          \
    extern "C" float name##f(float, other) noexcept;                                         \
    template <class T, class R = typename kn_real<T>::type> inline R name(T x, other y) {    \
        return sizeof(R) == sizeof(float) ? (R)name##f((float)x, y) : (R)name((double)x, y); \
    }
KN_BESIDES(ldexp, int)
KN_BESIDES(scalbn, int)
KN_BESIDES(scalbln, long)
KN_BESIDES(frexp, int *)
extern "C" double modf(double, double *) noexcept;
extern "C" float modff(float, float *) noexcept;
template <class T> inline float modf(T x, float *whole) { return modff((float)x, whole); }
extern "C" double remquo(double, double, int *) noexcept;
extern "C" float remquof(float, float, int *) noexcept;
template <class A, class B, class R = kn_real_of<A, B>> inline R remquo(A x, B y, int *n) {
    return sizeof(R) == sizeof(float) ? (R)remquof((float)x, (float)y, n) : (R)remquo((double)x, (double)y, n);
}

// Bessel functions of a whole order.
extern "C" double jn(int, double) noexcept;
extern "C" float jnf(int, float) noexcept;
extern "C" double yn(int, double) noexcept;
extern "C" float ynf(int, float) noexcept;
inline float jn(int n, float x) { return jnf(n, x); }
inline float yn(int n, float x) { return ynf(n, x); }

// exp(x^2) erfc(x): beyond 5 by its continued fraction, because there erfc vanishes.
inline double kn_erfcx(double x) {
    if (x < -27)
        return __builtin_inf();
    if (x < 5) {
        double square = x * x, rest = fma(x, x, -square);
        return exp(square) * erfc(x) * (1 + rest);
    }
    double fraction = x;
    for (int k = 60; k >= 1; --k)
        fraction = x + k * 0.5 / fraction;
    return 0.56418958354775628695 / fraction;
}

// A first guess from the asymptote of log erfc, then steps on log erfc for small y: it is nearly a parabola there.
inline double kn_erfcinv_small(double y) {
    double t = sqrt(-2 * log(y / 2));
    double over = 2.515517 + t * (0.802853 + t * 0.010328), under = 1 + t * (1.432788 + t * (0.189269 + t * 0.001308));
    double x = 0.70710678118654752440 * (t - over / under);
    for (int k = 0; k < 3; ++k) {
        double value = erfc(x), slope = -1.12837916709551257390 * exp(-x * x);
        if (value == 0)
            break;
        double step = (value - y) / slope;
        x -= step / (1 + x * step);
    }
    return x;
}

inline double kn_erfinv(double y) {
    double size = fabs(y);
    if (!(size < 1))
        return size == 1 ? y * __builtin_inf() : __builtin_nan("");
    if (size > 0.5)
        return copysign(kn_erfcinv_small(1 - size), y);
    double x = 0.88622692545275801365 * y;
    for (int k = 0; k < 6; ++k) {
        double step = (erf(x) - y) / (1.12837916709551257390 * exp(-x * x));
        x -= step / (1 + x * step);
    }
    return x;
}

inline double kn_erfcinv(double y) {
    if (!(y > 0 && y < 2))
        return y == 0 ? __builtin_inf() : y == 2 ? -__builtin_inf() : __builtin_nan("");
    if (y < 0.5)
        return kn_erfcinv_small(y);
    return y > 1.5 ? -kn_erfcinv_small(2 - y) : kn_erfinv(1 - y);
}

// The rounding of x / sqrt(2) counts in the tail, where erfc falls fast: it is put right by the slope.
inline double kn_normcdf(double x) {
    double z = x * -0.70710678118654752440, rest = fma(x, -0.70710678118654752440, -z) + x * 4.8336466567264567e-17;
    return (erfc(z) - 1.12837916709551257390 * exp(-z * z) * (fabs(z) < 30 ? rest : 0)) / 2;
}

// The modified Bessel functions of the first kind: their power series, then the asymptotic one.
inline double kn_bessel_i(int order, double x) {
    double size = fabs(x), sum = 1, term = 1;
    if (size < 30) {
        for (int k = 1; k < 200 && term > sum * 1e-17; ++k)
            sum += term *= size * size / 4 / (k * (k + order));
        return order ? x / 2 * sum : sum;
    }
    for (int k = 1; k < 30 && fabs(term) > 1e-17; ++k)
        sum += term *= ((2 * k - 1) * (2 * k - 1) - 4.0 * order * order) / (8 * k * size);
    double half = exp(size / 2), value = isinf(half) ? half : half * (sum / sqrt(6.28318530717958647693 * size)) * half;
    return order ? copysign(value, x) : value;
}

#define KN_SPECIAL(name, expression)                                                                          \
    inline double name(double x) { return expression; }                                                       \
    template <class T, class R = typename kn_real<T>::type> inline R name(T x) { return (R)name((double)x); } \
    template <class T> inline float name##f(T x) { return (float)name((double)x); }
KN_SPECIAL(erfcx, kn_erfcx(x))
KN_SPECIAL(erfinv, kn_erfinv(x))
KN_SPECIAL(erfcinv, kn_erfcinv(x))
KN_SPECIAL(normcdf, kn_normcdf(x))
KN_SPECIAL(normcdfinv, -1.41421356237309504880 * kn_erfcinv(2 * x))
KN_SPECIAL(cyl_bessel_i0, kn_bessel_i(0, x))
KN_SPECIAL(cyl_bessel_i1, kn_bessel_i(1, x))
