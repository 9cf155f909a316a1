// Distributions by functions of one uniform number (inversion), and by rejection, with blocks of the element's own. A parameter out of range gives NaN, or -1.
// needs: lognormal( laplace( logistic( gumbel( rayleigh( weibull( pareto( random_power( standard_cauchy( triangular( standard_gamma( random_gamma( random_beta(
// needs: chisquare( noncentral_chisquare( random_f( noncentral_f( standard_t( wald( vonmises( poisson( binomial( negative_binomial( geometric( hypergeometric(
// needs: zipf( logseries( kn_random_law
// with: random math

#define KN_LAW template <class R = double, class real = typename kn_random<R>::real> __device__ __forceinline__ R
#define KN_COUNT template <class T = long long, class... Spare> __device__ __forceinline__ T
#define KN_REAL typename kn_random<R>::real // of a parameter: nothing is deduced from its argument

// A uniform number in (0, 1).
template <class R> __device__ __forceinline__ typename kn_random<R>::real kn_random_positive(kn_drawn_key key, kn_word64 i) {
    return kn_random<R>::positive(kn_random<R>::word(key, i));
}
template <class real> __device__ __forceinline__ real kn_random_nan() { return (real)kn_cast_bits<float>(0x7fc00000u); }

#ifndef lognormal
KN_LAW lognormal(kn_drawn_key key, kn_word64 i, KN_REAL mean = 0, KN_REAL sigma = 1) {
    return (R)(sigma >= 0 ? exp(fma(kn_random<R>::normal_at(key, i), sigma, mean)) : kn_random_nan<real>());
}
#endif
// Symmetric ones take a bit as their side, or a word and its complement, so that both tails are as long.
template <class R> __device__ __forceinline__ typename kn_random<R>::real kn_random_half(kn_drawn_key key, kn_word64 i, typename kn_random<R>::real *side) {
    const auto w = kn_random<R>::word(key, i);
    *side = w >> (8 * sizeof w - 1) ? (typename kn_random<R>::real)1 : (typename kn_random<R>::real)-1;
    return kn_random<R>::positive(w << 1);
}
#ifndef laplace
KN_LAW laplace(kn_drawn_key key, kn_word64 i, KN_REAL mean = 0, KN_REAL scale = 1) {
    real side;
    const real u = kn_random_half<R>(key, i, &side);
    return (R)fma(side * -scale, kn_random<R>::log_of(u), mean);
}
#endif
#ifndef logistic
KN_LAW logistic(kn_drawn_key key, kn_word64 i, KN_REAL mean = 0, KN_REAL scale = 1) {
    const auto w = kn_random<R>::word(key, i);
    return (R)fma(scale, kn_random<R>::log_of(kn_random<R>::positive(w)) - kn_random<R>::log_of(kn_random<R>::positive(~w)), mean);
}
#endif
#ifndef gumbel
KN_LAW gumbel(kn_drawn_key key, kn_word64 i, KN_REAL mode = 0, KN_REAL scale = 1) {
    const auto w = kn_random<R>::word(key, i);
    const real u = kn_random<R>::positive(w), size = u < (real)0.5 ? -kn_random<R>::log_of(u) : -log1p(-kn_random<R>::positive(~w));
    return (R)fma(-scale, log(size), mode);
}
#endif
#ifndef rayleigh
KN_LAW rayleigh(kn_drawn_key key, kn_word64 i, KN_REAL scale = 1) {
    return (R)(scale >= 0 ? scale * sqrt(-2 * kn_random_log<R>(key, i)) : kn_random_nan<real>());
}
#endif
#ifndef weibull
KN_LAW weibull(kn_drawn_key key, kn_word64 i, KN_REAL shape) {
    const real size = -kn_random_log<R>(key, i);
    return (R)(shape > 0 ? pow(size, 1 / shape) : shape == 0 ? (real)0 : kn_random_nan<real>());
}
#endif
#ifndef pareto
KN_LAW pareto(kn_drawn_key key, kn_word64 i, KN_REAL shape) {
    return (R)(shape > 0 ? expm1(-kn_random_log<R>(key, i) / shape) : kn_random_nan<real>());
}
#endif
#ifndef random_power
KN_LAW random_power(kn_drawn_key key, kn_word64 i, KN_REAL shape) {
    return (R)(shape > 0 ? exp(kn_random_log<R>(key, i) / shape) : kn_random_nan<real>());
}
#endif
#ifndef standard_cauchy
KN_LAW standard_cauchy(kn_drawn_key key, kn_word64 i) {
    real side;
    const real u = kn_random_half<R>(key, i, &side);
    return (R)(side / tan(u * (real)1.57079632679489661923));
}
#endif
#ifndef triangular
KN_LAW triangular(kn_drawn_key key, kn_word64 i, KN_REAL left, KN_REAL mode, KN_REAL right) {
    const real u = kn_random_positive<R>(key, i), whole = right - left, first = mode - left, last = right - mode;
    if (!(first >= 0 && last >= 0 && whole > 0))
        return (R)kn_random_nan<real>();
    return (R)(u * whole <= first ? left + sqrt(u * whole * first) : right - sqrt((1 - u) * whole * last));
}
#endif

// ---- by rejection ----

// Marsaglia and Tsang; a shape below 1 is that of the next one, times a power of a uniform number.
template <class R> __device__ __forceinline__ typename kn_random<R>::real kn_random_law(kn_random_source<R> *from, typename kn_random<R>::real shape) {
    typedef typename kn_random<R>::real real;
    if (!(shape >= 0))
        return kn_random_nan<real>();
    if (shape == 0)
        return 0;
    if (shape - shape != 0)
        return shape;
    const real d = (shape < 1 ? shape + 1 : shape) - (real)(1.0 / 3), c = 1 / sqrt(9 * d);
    for (;;) {
        const real x = from->normal(), t = fma(c, x, (real)1), v = t * t * t;
        real u, power;
        from->two(&u, &power);
        if (t > 0 && (u < 1 - (real)0.0331 * (x * x) * (x * x) || log(u) < (real)0.5 * x * x + d * (1 - v + log(v))))
            return shape < 1 ? d * v * exp(log(power) / shape) : d * v;
    }
}
template <class R> __device__ __forceinline__ typename kn_random<R>::real kn_random_chi(kn_random_source<R> *from, typename kn_random<R>::real df) {
    return df > 0 ? 2 * kn_random_law<R>(from, df / 2) : kn_random_nan<typename kn_random<R>::real>();
}
#ifndef standard_gamma
KN_LAW standard_gamma(kn_word64 key, kn_word64 i, KN_REAL shape) {
    kn_random_source<R> from = {key, i, 0};
    return (R)kn_random_law<R>(&from, shape);
}
#endif
#ifndef random_gamma
KN_LAW random_gamma(kn_word64 key, kn_word64 i, KN_REAL shape, KN_REAL scale = 1) {
    kn_random_source<R> from = {key, i, 0};
    return (R)(scale >= 0 ? scale * kn_random_law<R>(&from, shape) : kn_random_nan<real>());
}
#endif
// Two shapes up to 1: Joehnk's way, by logarithms where powers vanish.
#ifndef random_beta
KN_LAW random_beta(kn_word64 key, kn_word64 i, KN_REAL a, KN_REAL b) {
    kn_random_source<R> from = {key, i, 0};
    if (!(a > 0 && b > 0))
        return (R)kn_random_nan<real>();
    if (a > 1 || b > 1) {
        const real x = kn_random_law<R>(&from, a), y = kn_random_law<R>(&from, b);
        return (R)(x / (x + y));
    }
    for (;;) {
        real u, v;
        from.two(&u, &v);
        const real p = log(u) / a, q = log(v) / b, x = exp(p), y = exp(q), most = p > q ? p : q;
        if (x + y > 1)
            continue;
        return (R)(x + y > 0 ? x / (x + y) : exp(p - most - log(exp(p - most) + exp(q - most))));
    }
}
#endif
#ifndef chisquare
KN_LAW chisquare(kn_word64 key, kn_word64 i, KN_REAL df) {
    kn_random_source<R> from = {key, i, 0};
    return (R)kn_random_chi<R>(&from, df);
}
#endif
#ifndef random_f
KN_LAW random_f(kn_word64 key, kn_word64 i, KN_REAL above, KN_REAL below) {
    kn_random_source<R> from = {key, i, 0};
    const real x = kn_random_chi<R>(&from, above), y = kn_random_chi<R>(&from, below);
    return (R)(x * below / (y * above));
}
#endif
#ifndef standard_t
KN_LAW standard_t(kn_word64 key, kn_word64 i, KN_REAL df) {
    kn_random_source<R> from = {key, i, 0};
    const real x = from.normal(), y = kn_random_chi<R>(&from, df);
    return (R)(df - df == 0 ? x / sqrt(y / df) : df > 0 ? x : df - df);
}
#endif
#ifndef wald
KN_LAW wald(kn_word64 key, kn_word64 i, KN_REAL mean, KN_REAL scale) {
    kn_random_source<R> from = {key, i, 0};
    if (!(mean > 0 && scale > 0))
        return (R)kn_random_nan<real>();
    const real n = from.normal(), y = mean * n * n, x = mean * (1 - 2 * y / (y + sqrt(y * fma((real)4, scale, y)))), lesser = y > 0 ? x : mean;
    real u, unused;
    from.two(&u, &unused);
    return (R)(u * (mean + lesser) <= mean ? lesser : mean * mean / lesser);
}
#endif
// Best and Fisher; a concentration that is small has their limit, and a large one is a normal number.
#ifndef vonmises
KN_LAW vonmises(kn_word64 key, kn_word64 i, KN_REAL mu, KN_REAL kappa) {
    kn_random_source<R> from = {key, i, 0};
    const real pi = (real)3.14159265358979323846;
    real angle;
    if (!(kappa >= 0))
        return (R)kn_random_nan<real>();
    if (kappa < (real)1e-6) {
        angle = pi * (2 * kn_random_positive<R>(key, i) - 1);
    } else if (kappa > (real)1e5) {
        angle = from.normal() / sqrt(kappa);
    } else {
        const real r = 1 + sqrt(1 + 4 * kappa * kappa), rho = (r - sqrt(2 * r)) / (2 * kappa);
        const real s = kappa < (real)0.01 ? 1 / kappa + kappa : (1 + rho * rho) / (2 * rho);
        for (;;) {
            const kn_philox block = from.block();
            real u, v;
            kn_random<R>::two(block, &u, &v);
            const real z = cos(pi * u), w = (1 + s * z) / (s + z), y = kappa * (s - w);
            if (y * (2 - y) - v >= 0 || log(y / v) + 1 - y >= 0) {
                const real c = w > 1 ? (real)1 : w < -1 ? (real)-1 : w;
                angle = from.block().word[0] & 1 ? acos(c) : -acos(c);
                break;
            }
        }
    }
    angle = fmod(angle + mu, 2 * pi);
    return (R)(angle > pi ? angle - 2 * pi : angle < -pi ? angle + 2 * pi : angle);
}
#endif

// ---- counts: computed in double ----

typedef kn_random_source<double> kn_random_own;

// The logarithm of k! less Stirling's formula, and that logarithm.
static __device__ __forceinline__ double kn_random_stirling(double k) {
    if (k < 10) {
        double product = 1;
        for (int n = 2; n <= (int)k; ++n)
            product *= n;
        return log(product) - ((k + 0.5) * log(k + 1) - (k + 1) + 0.91893853320467274178);
    }
    const double z = 1 / ((k + 1) * (k + 1));
    return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - 1.0 / 1680 * z) * z) * z) / (k + 1);
}
static __device__ __forceinline__ double kn_random_log_factorial(double k) {
    return (k + 0.5) * log(k + 1) - (k + 1) + 0.91893853320467274178 + kn_random_stirling(k);
}
// By the sum of probabilities, from one number, for a small mean; else Hoermann's transformed rejection (PTRS).
static __device__ __forceinline__ double kn_random_poisson(kn_random_own *from, double lam) {
    double u, v;
    if (!(lam >= 0 && lam < 9.2e18))
        return -1;
    if (lam < 10) {
        from->two(&u, &v);
        double part = exp(-lam), sum = part;
        int k = 0;
        while (u > sum && k < 200)
            part *= lam / ++k, sum += part;
        return k;
    }
    const double root = sqrt(lam), b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b, per = 1.1239 + 1.1328 / (b - 3.4), most = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        from->two(&u, &v);
        u -= 0.5;
        const double us = 0.5 - fabs(u), k = floor((2 * a / us + b) * u + lam + 0.43);
        if (us >= 0.07 && v <= most)
            return k;
        if (k < 0 || (us < 0.013 && v > us))
            continue;
        if (log(v) + log(per) - log(a / (us * us) + b) <= -lam + k * log(lam) - kn_random_log_factorial(k))
            return k;
    }
}
// The less likely of both outcomes is counted: by the sum of probabilities, or by transformed rejection (BTRS).
static __device__ __forceinline__ double kn_random_binomial(kn_random_own *from, double n, double p) {
    double u, v;
    if (!(n >= 0 && p >= 0 && p <= 1))
        return -1;
    const double q = p > 0.5 ? 1 - p : p, mean = n * q, odds = q / (1 - q);
    double k = 0;
    if (mean < 10) {
        from->two(&u, &v);
        double part = exp(n * log1p(-q)), sum = part;
        while (u > sum && k < n && k < 200)
            part *= odds * ((n - k) / (k + 1)), sum += part, ++k;
        return p > 0.5 ? n - k : k;
    }
    const double root = sqrt(mean * (1 - q)), b = 1.15 + 2.53 * root, a = -0.0873 + 0.0248 * b + 0.01 * q, c = mean + 0.5;
    const double most = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * root, mode = floor((n + 1) * q);
    for (;;) {
        from->two(&u, &v);
        u -= 0.5;
        const double us = 0.5 - fabs(u);
        k = floor((2 * a / us + b) * u + c);
        if (us >= 0.07 && v <= most)
            break;
        if (k < 0 || k > n)
            continue;
        const double bound = (mode + 0.5) * log((mode + 1) / (odds * (n - mode + 1))) + (n + 1) * log((n - mode + 1) / (n - k + 1)) +
                             (k + 0.5) * log(odds * (n - k + 1) / (k + 1)) + kn_random_stirling(mode) + kn_random_stirling(n - mode) -
                             kn_random_stirling(k) - kn_random_stirling(n - k);
        if (log(v * alpha / (a / (us * us) + b)) <= bound)
            break;
    }
    return p > 0.5 ? n - k : k;
}

#ifndef poisson
KN_COUNT poisson(kn_word64 key, kn_word64 i, double lam = 1, Spare...) {
    kn_random_own from = {key, i, 0};
    return (T)kn_random_poisson(&from, lam);
}
#endif
#ifndef binomial
KN_COUNT binomial(kn_word64 key, kn_word64 i, double n, double p, Spare...) {
    kn_random_own from = {key, i, 0};
    return (T)kn_random_binomial(&from, floor(n), p);
}
#endif
// A mixture of Poisson's, whose means are gamma's.
#ifndef negative_binomial
KN_COUNT negative_binomial(kn_word64 key, kn_word64 i, double n, double p, Spare...) {
    kn_random_own from = {key, i, 0};
    if (!(n > 0 && p > 0 && p <= 1))
        return (T)-1;
    const double mean = kn_random_law<double>(&from, n) * ((1 - p) / p);
    return (T)kn_random_poisson(&from, mean);
}
#endif
#ifndef geometric
KN_COUNT geometric(kn_drawn_key key, kn_word64 i, double p, Spare...) {
    if (!(p > 0 && p <= 1))
        return (T)-1;
    const double k = ceil(kn_random_log<double>(key, i) / log1p(-p));
    return k >= 9223372036854775807.0 ? (T)9223372036854775807ll : k > 1 ? (T)k : (T)1;
}
#endif
// Few draws one by one; else Stadlober's ratio of uniforms (HRUA).
#ifndef hypergeometric
KN_COUNT hypergeometric(kn_word64 key, kn_word64 i, double good, double bad, double sample, Spare...) {
    kn_random_own from = {key, i, 0};
    good = floor(good), bad = floor(bad), sample = floor(sample);
    const double all = good + bad, draws = sample > all - sample ? all - sample : sample, least = good < bad ? good : bad;
    double u, v, z = 0;
    if (!(good >= 0 && bad >= 0 && sample >= 0 && sample <= all))
        return (T)-1;
    if (draws < 10) {
        double left = least;
        for (int k = 0; k < (int)draws; ++k) {
            from.two(&u, &v);
            left -= u * (all - k) < left ? 1 : 0;
        }
        z = least - left;
    } else {
        const double most = all - least, share = least / all, d6 = draws * share + 0.5;
        const double d7 = sqrt((all - draws) * sample * share * (1 - share) / (all - 1) + 0.5), d8 = 1.7155277699214135 * d7 + 0.8989161620588988;
        const double mode = floor((draws + 1) * (least + 1) / (all + 2));
        const double bound = floor(d6 + 16 * d7), end = (draws < least ? draws : least) + 1 < bound ? (draws < least ? draws : least) + 1 : bound;
        const double top = kn_random_log_factorial(mode) + kn_random_log_factorial(least - mode) + kn_random_log_factorial(draws - mode) + kn_random_log_factorial(most - draws + mode);
        for (;;) {
            from.two(&u, &v);
            const double w = d6 + d8 * (v - 0.5) / u;
            if (w < 0 || w >= end)
                continue;
            z = floor(w);
            const double t = top - (kn_random_log_factorial(z) + kn_random_log_factorial(least - z) + kn_random_log_factorial(draws - z) + kn_random_log_factorial(most - draws + z));
            if (2 * log(u) <= t)
                break;
        }
    }
    z = good > bad ? draws - z : z;
    return (T)(draws < sample ? good - z : z);
}
#endif
#ifndef zipf
KN_COUNT zipf(kn_word64 key, kn_word64 i, double a, Spare...) {
    kn_random_own from = {key, i, 0};
    if (!(a > 1))
        return (T)-1;
    const double less = a - 1, b = exp2(less);
    for (int k = 0; k < 10000; ++k) {
        double u, v;
        from.two(&u, &v);
        const double x = floor(exp(-log(u) / less)), t = exp(less * log1p(1 / x));
        if (x == 1 || (x < 9223372036854775807.0 && v * x * (t - 1) / (b - 1) <= t / b))
            return (T)x;
    }
    return (T)9223372036854775807ll; // a is so near 1 that nearly all numbers are larger
}
#endif
// Kemp's way.
#ifndef logseries
KN_COUNT logseries(kn_word64 key, kn_word64 i, double p, Spare...) {
    kn_random_own from = {key, i, 0};
    double u, v;
    if (!(p >= 0 && p < 1))
        return (T)-1;
    from.two(&u, &v);
    if (v >= p)
        return (T)1;
    const double q = -expm1(log1p(-p) * u);
    return v <= q * q ? (T)floor(1 + log(v) / log(q)) : v >= q ? (T)1 : (T)2;
}
#endif

#ifndef noncentral_chisquare
KN_LAW noncentral_chisquare(kn_word64 key, kn_word64 i, KN_REAL df, KN_REAL nonc) {
    kn_random_source<R> from = {key, i, 0};
    if (!(df > 0 && nonc >= 0))
        return (R)kn_random_nan<real>();
    if (df > 1) {
        const real n = from.normal() + sqrt(nonc);
        return (R)(kn_random_chi<R>(&from, df - 1) + n * n);
    }
    kn_random_own own = {key, i, 0};
    const double k = kn_random_poisson(&own, (double)nonc / 2);
    from.count = own.count;
    return (R)kn_random_chi<R>(&from, df + 2 * (real)k);
}
#endif
#ifndef noncentral_f
KN_LAW noncentral_f(kn_word64 key, kn_word64 i, KN_REAL above, KN_REAL below, KN_REAL nonc) {
    const real x = noncentral_chisquare<real>(key, i, above, nonc);
    kn_random_source<R> from = {key, i, 0x80000000u}; // blocks that the numerator does not reach
    return (R)(x * below / (kn_random_chi<R>(&from, below) * above));
}
#endif
