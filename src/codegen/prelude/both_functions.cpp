// Special functions that neither CUDA nor C has, in float and in double.
// needs: kn_digamma kn_zeta kn_polygamma kn_bessel_ie kn_log_ndtr kn_logit kn_log_expit
// with: constants math special

template <class R> __device__ __forceinline__ R kn_rounding() { return sizeof(R) == 4 ? (R)6e-8 : (R)1.2e-16; }

// The logarithmic derivative of gamma: its recurrence up to 10, then the asymptotic series, whose coefficients are
// B(2k) / 2k. Below 0 by reflection.
template <class R> __device__ __forceinline__ R kn_digamma(R x) {
    if (x == 0 || isinf(x))
        return x > 0 ? x : x < 0 ? (R)NAN : -copysign((R)INFINITY, x);
    R rest = 0, y = x;
    if (x < 0) {
        if (floor(x) == x)
            return (R)NAN;
        rest = (R)-3.14159265358979323846 / tan((R)3.14159265358979323846 * (x - rint(x)));
        y = 1 - x;
    }
    R steps = 0;
    for (; y < 10; y += 1)
        steps += 1 / y;
    const R s = 1 / (y * y);
    const R series = s * ((R)0.083333333333333333333 - s * ((R)0.0083333333333333333333 - s * ((R)0.0039682539682539682540 -
        s * ((R)0.0041666666666666666667 - s * ((R)0.0075757575757575757576 - s * ((R)0.021092796092796092796 -
        s * (R)0.083333333333333333333))))));
    return log(y) - (R)0.5 / y - series - steps + rest;
}

// The sum of 1 / (q + k)^s for k from 0 on: ten terms and more, then the formula of Euler and Maclaurin, whose
// coefficients are B(2k) / (2k)!.
template <class R> __device__ __forceinline__ R kn_zeta(R s, R q) {
    const R coefficient[12] = {
        (R)0.083333333333333333333, (R)-0.0013888888888888888889, (R)3.3068783068783068783e-5, (R)-8.2671957671957671958e-7,
        (R)2.0876756987868098979e-8, (R)-5.2841901386874931848e-10, (R)1.3382536530684678833e-11, (R)-3.3896802963225828668e-13,
        (R)8.5860620562778445641e-15, (R)-2.1748686985580618730e-16, (R)5.5090028283602295153e-18, (R)-1.3954464685812523341e-19};
    if (!(s > 1) || q != q)
        return s == 1 && q == q ? (R)INFINITY : (R)NAN;
    if (q <= 0) {
        if (floor(q) == q)
            return (R)INFINITY;
        if (floor(s) != s)
            return (R)NAN;
    }
    R sum = pow(q, -s), a = q, term = sum;
    for (int k = 1; k < 10 || a <= 9; ++k) {
        a += 1;
        term = pow(a, -s);
        sum += term;
        if (fabs(term) <= fabs(sum) * kn_rounding<R>())
            return sum;
    }
    sum += term * a / (s - 1) - term / 2;
    R product = s * term / a;
    for (int k = 0; k < 12; ++k) {
        const R step = product * coefficient[k];
        sum += step;
        if (fabs(step) < fabs(sum) * kn_rounding<R>())
            break;
        product *= (s + 2 * k + 1) * (s + 2 * k + 2) / (a * a);
    }
    return sum;
}

template <class R> __device__ __forceinline__ R kn_polygamma(R n, R x) {
    if (n == 0)
        return kn_digamma(x);
    if (!(n > 0) || floor(n) != n)
        return (R)NAN;
    return (fmod(n, (R)2) != 0 ? 1 : -1) * tgamma(n + 1) * kn_zeta(n + 1, x);
}

// exp(-|x|) times the modified Bessel function I of order 0 or 1; beyond 30 its asymptotic series.
template <class R> __device__ __forceinline__ R kn_bessel_ie(int order, R x) {
    const R size = fabs(x);
    if (size < 30)
        return exp(-size) * (order ? cyl_bessel_i1(x) : cyl_bessel_i0(x));
    R sum = 1, term = 1;
    for (int k = 1; k < 30 && fabs(term) > kn_rounding<R>(); ++k)
        sum += term *= ((2 * k - 1) * (2 * k - 1) - 4 * order) / (8 * k * size);
    const R value = sum / sqrt((R)6.28318530717958647693 * size);
    return order ? copysign(value, x) : value;
}

template <class R> __device__ __forceinline__ R kn_log_ndtr(R x) {
    const R scaled = x * (R)0.70710678118654752440;
    return x < -1 ? log(erfcx(-scaled) / 2) - x * x / 2 : log1p(-normcdf(-x));
}

// Near 1/2 the quotient is near 1, and its logarithm would lose digits.
template <class R> __device__ __forceinline__ R kn_logit(R x) {
    const R twice = 2 * (x - (R)0.5);
    return x < (R)0.3 || x > (R)0.65 ? log(x / (1 - x)) : log1p(twice) - log1p(-twice);
}

template <class R> __device__ __forceinline__ R kn_log_expit(R x) {
    return x < 0 ? x - log1p(exp(x)) : -log1p(exp(-x));
}
