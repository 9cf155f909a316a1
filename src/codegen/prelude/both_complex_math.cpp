// Functions of complex numbers, with the branch cuts and the infinities of C99's annex G.
// needs: complex
// with: complex math

template <class T> struct kn_limits {};
template <> struct kn_limits<float> {
    static constexpr float huge = 0x1p100f, tiny = 0x1p-100f, precise = 0x1p24f, exponent = 88;
};
template <> struct kn_limits<double> {
    static constexpr double huge = 0x1p1000, tiny = 0x1p-960, precise = 0x1p53, exponent = 709;
};

#define KN_COMPLEX template <class T> __device__ __forceinline__

KN_COMPLEX bool isnan(const complex<T> &z) { return isnan(z.re) || isnan(z.im); }
KN_COMPLEX bool isinf(const complex<T> &z) { return isinf(z.re) || isinf(z.im); }
KN_COMPLEX bool isfinite(const complex<T> &z) { return isfinite(z.re) && isfinite(z.im); }
KN_COMPLEX complex<T> rint(const complex<T> &z) { return complex<T>(rint(z.re), rint(z.im)); }
KN_COMPLEX T abs(const complex<T> &z) { return hypot(z.re, z.im); }
KN_COMPLEX T arg(const complex<T> &z) { return atan2(z.im, z.re); }
KN_COMPLEX complex<T> polar(T r, T angle) { return complex<T>(r * cos(angle), r * sin(angle)); }
KN_COMPLEX complex<T> polar(T r) { return complex<T>(r, 0); }
// z times i, and divided by it: the signs of zeros survive, which tell the sides of a branch cut apart.
KN_COMPLEX complex<T> kn_times_i(const complex<T> &z) { return complex<T>(-z.im, z.re); }
KN_COMPLEX complex<T> kn_over_i(const complex<T> &z) { return complex<T>(z.im, -z.re); }

KN_COMPLEX complex<T> proj(const complex<T> &z) {
    return isinf(z) ? complex<T>(hypot(z.re, z.im), copysign((T)0, z.im)) : z;
}

// z / |z|, and 0 of 0; along an axis where one part is infinite.
KN_COMPLEX complex<T> kn_sign(const complex<T> &z) {
    T size = hypot(z.re, z.im);
    if (isinf(z.re) && isinf(z.im))
        return complex<T>(size - size, size - size);
    if (isinf(z))
        return isinf(z.re) ? complex<T>(copysign((T)1, z.re), 0) : complex<T>(0, copysign((T)1, z.im));
    if (size == 0)
        return complex<T>(0, 0);
    T down = isinf(size) ? (T)0.25 : (T)1;
    size = isinf(size) ? hypot(z.re * down, z.im * down) : size;
    return complex<T>(z.re * down / size, z.im * down / size);
}

KN_COMPLEX complex<T> sqrt(const complex<T> &z) {
    T x = fabs(z.re), y = fabs(z.im), larger = x > y ? x : y;
    if (isinf(y))
        return complex<T>(y, z.im);
    if (x == 0 && y == 0)
        return complex<T>(0, z.im);
    if (isinf(x))
        return z.re > 0 ? complex<T>(x, isnan(y) ? y : copysign((T)0, z.im))
                        : complex<T>(isnan(y) ? y : 0, copysign(x, z.im));
    T up = 1, down = 1;
    if (larger > kn_limits<T>::huge) {
        up = (T)0.0625;
        down = 4;
    } else if (larger < kn_limits<T>::tiny) {
        up = (T)0x1p60;
        down = (T)0x1p-30;
    }
    x *= up;
    y *= up;
    T root = sqrt((x + hypot(x, y)) / 2), other = y / (2 * root) * down;
    root *= down;
    return z.re >= 0 ? complex<T>(root, copysign(other, z.im)) : complex<T>(other, copysign(root, z.im));
}

// x (cos y, sin y), x = e^exponent, where e^exponent alone may overflow.
KN_COMPLEX complex<T> kn_expi(T exponent, T y) {
    if (exponent < kn_limits<T>::exponent) {
        T x = exp(exponent);
        return complex<T>(x * cos(y), x * sin(y));
    }
    T half = exp(exponent / 2);
    return complex<T>(half * cos(y) * half, half * sin(y) * half);
}

/* By selects, so that compilers make vectors of it; of one within another g++ 13 makes branches. */
KN_COMPLEX complex<T> exp(const complex<T> &z) {
    const bool is_real = z.im == 0, is_far = !is_real && !(z.re < kn_limits<T>::exponent);
    const bool has_end = isinf(z.re) & !isfinite(z.im);
    const T x = exp(is_far ? z.re / 2 : z.re), c = x * cos(z.im), s = x * sin(z.im);
    const T again = is_far ? x : (T)1, re_far = c * again, im_far = s * again;
    const T re = is_real ? x : re_far, im = is_real ? z.im : im_far;
    const T end = z.re < 0 ? (T)0 : z.re, other = z.re < 0 ? copysign((T)0, z.im) : z.im - z.im;
    return complex<T>(has_end ? end : re, has_end ? other : im);
}

KN_COMPLEX complex<T> exp2(const complex<T> &z) { return exp(z * (T)0.693147180559945309417); }

KN_COMPLEX complex<T> expm1(const complex<T> &z) {
    T half = sin(z.im / 2), x = expm1(z.re);
    T scale = x < (T)-0.5 ? exp(z.re) : x + 1;
    return complex<T>(x * cos(z.im) - 2 * half * half, z.im == 0 ? z.im : scale * sin(z.im));
}

// log |1 + z|. The terms nearly cancel close to the unit circle, hence the single rounding of fma.
KN_COMPLEX T kn_log1p_abs(T x, T y) {
    T squares = fma(x, x + 2, y * y);
    if (squares > (T)-0.5 && squares < 1)
        return log1p(squares) / 2;
    return log(hypot(1 + x, y));
}

KN_COMPLEX complex<T> log(const complex<T> &z) {
    T x = fabs(z.re), y = fabs(z.im), larger = x > y ? x : y, smaller = x > y ? y : x;
    if (larger > (T)0.5 && larger < 2)
        return complex<T>(kn_log1p_abs(larger - 1, smaller), atan2(z.im, z.re));
    T r = larger > kn_limits<T>::huge ? log(hypot(x / 4, y / 4)) + (T)1.38629436111989061883 : log(hypot(x, y));
    return complex<T>(r, atan2(z.im, z.re));
}

KN_COMPLEX complex<T> log1p(const complex<T> &z) {
    if (fabs(z.re) < (T)0.5 && fabs(z.im) < 1)
        return complex<T>(kn_log1p_abs(z.re, z.im), atan2(z.im, 1 + z.re));
    return log(complex<T>(1 + z.re, z.im));
}

KN_COMPLEX complex<T> log10(const complex<T> &z) { return log(z) * (T)0.434294481903251827651; }
KN_COMPLEX complex<T> log2(const complex<T> &z) { return log(z) * (T)1.44269504088896340736; }

// Whole exponents by squaring, which is exact where the products are. Nothing is multiplied by 1, which loses infinities.
KN_COMPLEX complex<T> kn_power(complex<T> base, unsigned int n) {
    if (n == 0)
        return complex<T>(1, 0);
    for (; !(n & 1); n >>= 1)
        base = base * base;
    complex<T> result = base;
    while (n >>= 1) {
        base = base * base;
        if (n & 1)
            result = result * base;
    }
    return result;
}

KN_COMPLEX complex<T> pow(const complex<T> &z, int n) {
    complex<T> power = kn_power(z, n < 0 ? 0u - n : n);
    return n < 0 ? kn_divide(complex<T>(1, 0), power) : power;
}

// 1 or 0 with the sign of a part, for an infinite number; else NaN is 0.
KN_COMPLEX T kn_direction(T part, bool is_infinite) {
    return is_infinite ? copysign((T)(isinf(part) ? 1 : 0), part) : isnan(part) ? copysign((T)0, part) : part;
}

// The product of C99's annex G, which is infinite where a factor or a part of it is, and not NaN.
KN_COMPLEX complex<T> kn_product(const complex<T> &z, const complex<T> &w) {
    const complex<T> plain = z * w;
    const bool overflows = isinf(z.re * w.re) || isinf(z.im * w.im) || isinf(z.re * w.im) || isinf(z.im * w.re);
    if (!(isnan(plain.re) && isnan(plain.im)) || !(isinf(z) || isinf(w) || overflows))
        return plain;
    const bool far_z = isinf(z), far_w = isinf(w);
    const T none = 0, infinite = 1 / none;
    const complex<T> a(kn_direction(z.re, far_z), kn_direction(z.im, far_z));
    const complex<T> b(kn_direction(w.re, far_w), kn_direction(w.im, far_w));
    return complex<T>(infinite * (a.re * b.re - a.im * b.im), infinite * (a.re * b.im + a.im * b.re));
}

// NumPy's powers: whole exponents by squaring, which begins with 1 beyond the third, then as the C library has them.
KN_COMPLEX complex<T> kn_pow(const complex<T> &z, const complex<T> &w) {
    if (w.re == 0 && w.im == 0)
        return complex<T>(1, 0);
    if (z.re == 0 && z.im == 0)
        return w.re > 0 ? complex<T>(0, 0) : complex<T>(z.re / z.re, z.re / z.re);
    if (w.im != 0 || w.re != rint(w.re) || !(fabs(w.re) < 100))
        return exp(kn_product(w, log(z)));
    if (w.re == 1)
        return z;
    unsigned int n = (unsigned int)fabs(w.re);
    if (w.re == 2 || w.re == 3)
        return n == 2 ? z * z : z * (z * z);
    complex<T> base = z, power = n & 1 ? complex<T>(1, 0) * z : complex<T>(1, 0);
    while (n >>= 1) {
        base = base * base;
        if (n & 1)
            power = power * base;
    }
    return w.re < 0 ? kn_divide(complex<T>(1, 0), power) : power;
}

template <class A, class B>
__device__ __forceinline__ kn_complex_of<A, B> pow(const complex<A> &z, const complex<B> &w) {
    typedef kn_complex_of<A, B> C;
    return kn_pow(C(z), C(w));
}

template <class A, class B>
__device__ __forceinline__ kn_complex_of<A, B> pow(const complex<A> &z, B w) {
    typedef kn_complex_of<A, B> C;
    return kn_pow(C(z), C(w));
}

template <class A, class B>
__device__ __forceinline__ kn_complex_of<A, B> pow(A z, const complex<B> &w) {
    typedef kn_complex_of<A, B> C;
    return kn_pow(C(z), C(w));
}

// A zero times a function that overflows stays zero.
KN_COMPLEX complex<T> sinh(const complex<T> &z) {
    T x = fabs(z.re);
    if (z.im == 0)
        return complex<T>(sinh(z.re), z.im);
    if (z.re == 0)
        return complex<T>(isfinite(z.im) ? z.re * cos(z.im) : z.re, sin(z.im));
    if (isinf(x) && !isfinite(z.im))
        return complex<T>(z.re, z.im - z.im);
    if (x < kn_limits<T>::exponent)
        return complex<T>(sinh(z.re) * cos(z.im), cosh(z.re) * sin(z.im));
    complex<T> large = kn_expi(x - (T)0.693147180559945309417, z.im);
    return complex<T>(copysign((T)1, z.re) * large.re, large.im);
}

KN_COMPLEX complex<T> cosh(const complex<T> &z) {
    T x = fabs(z.re), sign = copysign((T)1, z.re);
    if (z.im == 0)
        return complex<T>(cosh(z.re), sign * z.im);
    if (z.re == 0)
        return complex<T>(cos(z.im), isfinite(z.im) ? z.re * sin(z.im) : z.re);
    if (isinf(x) && !isfinite(z.im))
        return complex<T>(x, z.im - z.im);
    if (x < kn_limits<T>::exponent)
        return complex<T>(cosh(z.re) * cos(z.im), sinh(z.re) * sin(z.im));
    complex<T> large = kn_expi(x - (T)0.693147180559945309417, z.im);
    return complex<T>(large.re, sign * large.im);
}

KN_COMPLEX complex<T> tanh(const complex<T> &z) {
    T x = fabs(z.re);
    if (z.im == 0)
        return complex<T>(tanh(z.re), z.im);
    if (x > 20) {
        T lost = isinf(x) || isfinite(z.im) ? (T)0 : z.im - z.im;
        T sides = isfinite(z.im) ? sin(z.im) * cos(z.im) : isinf(x) ? copysign((T)0, z.im) : lost;
        return complex<T>(copysign((T)1, z.re) + lost, 4 * sides * exp(-2 * x));
    }
    T t = tan(z.im), s = sinh(z.re), beta = 1 + t * t, rho = sqrt(1 + s * s);
    if (isinf(beta))
        return complex<T>(rho / s, 1 / t);
    T scale = 1 / (1 + beta * s * s);
    return complex<T>(z.re == 0 ? z.re : beta * rho * s * scale, t * scale);
}

KN_COMPLEX complex<T> sin(const complex<T> &z) { return kn_over_i(sinh(kn_times_i(z))); }
KN_COMPLEX complex<T> cos(const complex<T> &z) { return cosh(kn_times_i(z)); }
KN_COMPLEX complex<T> tan(const complex<T> &z) { return kn_over_i(tanh(kn_times_i(z))); }

// Beyond 1 / epsilon, infinities included, asinh and acos are logarithms.
KN_COMPLEX bool kn_beyond(const complex<T> &z) {
    return !(fabs(z.re) < kn_limits<T>::precise && fabs(z.im) < kn_limits<T>::precise);
}
KN_COMPLEX T kn_log_twice_abs(const complex<T> &z) {
    return log(hypot(z.re / 4, z.im / 4)) + (T)2.07944154167983592825;
}

KN_COMPLEX complex<T> asinh(const complex<T> &z) {
    if (kn_beyond(z))
        return complex<T>(copysign(kn_log_twice_abs(z), z.re),
                          z.im == 0 ? z.im : copysign(atan2(fabs(z.im), fabs(z.re)), z.im));
    complex<T> minus = sqrt(complex<T>(1 + z.im, -z.re)), plus = sqrt(complex<T>(1 - z.im, z.re));
    return complex<T>(asinh(plus.im * minus.re - minus.im * plus.re), atan2(z.im, (minus * plus).re));
}

KN_COMPLEX complex<T> acos(const complex<T> &z) {
    if (kn_beyond(z))
        return complex<T>(z.re == 0 ? (T)1.57079632679489661923 : atan2(fabs(z.im), z.re),
                          copysign(kn_log_twice_abs(z), -z.im));
    complex<T> minus = sqrt(complex<T>(1 - z.re, -z.im)), plus = sqrt(complex<T>(1 + z.re, z.im));
    return complex<T>(2 * atan2(minus.re, plus.re), asinh(plus.re * minus.im - plus.im * minus.re));
}

KN_COMPLEX complex<T> acosh(const complex<T> &z) {
    complex<T> w = acos(z);
    return complex<T>(fabs(w.im), copysign(w.re, z.im));
}

KN_COMPLEX complex<T> atanh(const complex<T> &z) {
    T x = fabs(z.re), y = z.im;
    if (kn_beyond(z)) {
        T larger = x > fabs(y) ? x : fabs(y);
        T re = isinf(z) || x == 0 ? 0 : (x / larger) / (x * (x / larger) + y * (y / larger));
        T im = isnan(z) && !isinf(y) ? x + y - x - y : (T)1.57079632679489661923;
        return complex<T>(copysign(re, z.re), copysign(im, y));
    }
    T distance = hypot(1 - x, y);
    T re = distance * kn_limits<T>::precise < 1 ? ((T)0.693147180559945309417 - log(distance)) / 2
                                                : log1p(4 * x / (distance * distance)) / 4;
    return complex<T>(copysign(re, z.re), atan2(2 * y, (1 - x) * (1 + x) - y * y) / 2);
}

KN_COMPLEX complex<T> asin(const complex<T> &z) { return kn_over_i(asinh(kn_times_i(z))); }
KN_COMPLEX complex<T> atan(const complex<T> &z) { return kn_over_i(atanh(kn_times_i(z))); }
