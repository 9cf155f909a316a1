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

// A number that is size * exp(power): the power of a small shape is beyond what floats hold.
template <class real> struct kn_random_product { real size, power; };
// Half of the power at a time, so that neither factor is lost where their product is none.
template <class real> __device__ __forceinline__ real kn_random_size(const kn_random_product<real> &x) {
    const real root = exp(x.power / 2);
    return x.power == 0 ? x.size : x.size * root * root;
}
template <class real>
__device__ __forceinline__ real kn_random_ratio(const kn_random_product<real> &x, const kn_random_product<real> &y) {
    return kn_random_size<real>({x.size / y.size, x.power - y.power});
}
// The logarithm of a uniform number of these bits: one near 1 is known by its distance from 1.
template <class R, class Word> __device__ __forceinline__ typename kn_random<R>::real kn_random_log_of(Word w) {
    const auto u = kn_random<R>::positive(w);
    return u < (typename kn_random<R>::real)0.5 ? kn_random<R>::log_of(u) : log1p(-kn_random<R>::positive(~w));
}
// log(1 + h) less the first three terms of its series.
template <class real> __device__ __forceinline__ real kn_random_log_rest(real h) {
    if (fabs(h) >= (real)0.1)
        return log1p(h) - h * (1 - h * ((real)0.5 - h * (real)(1.0 / 3)));
    const real fifth = h * ((real)0.2 - h * ((real)(1.0 / 6) - h * ((real)(1.0 / 7) - h * ((real)0.125 - h * (real)(1.0 / 9)))));
    return h * h * h * h * (fifth - (real)0.25);
}
// Marsaglia and Tsang; a shape below 1 is that of the next one, times a power of a uniform number. Differences from the mean are small where the shape is large:
// the bound and the result are sums of these.
template <class R>
__device__ __forceinline__ kn_random_product<typename kn_random<R>::real> kn_random_gamma_of(kn_random_source<R> *from, typename kn_random<R>::real shape) {
    typedef typename kn_random<R>::real real;
    if (!(shape >= 0))
        return {kn_random_nan<real>(), 0};
    if (shape == 0 || shape - shape != 0)
        return {shape, 0};
    const real of = shape < 1 ? shape + 1 : shape, d = of - (real)(1.0 / 3), c = 1 / (3 * sqrt(d));
    for (;;) {
        const real x = from->normal(), h = c * x, squared = x * x;
        const kn_philox block = from->block();
        real u, unused;
        kn_random<R>::two(block, &u, &unused);
        if (h > -1 && (u < 1 - (real)0.0331 * squared * squared || log(u) < 3 * d * kn_random_log_rest<real>(h))) {
            const real t = 1 + h, size = fabs(h) < (real)0.25 ? of + fma(d, h * fma(h, h + 3, (real)3), (real)(-1.0 / 3)) : d * t * t * t;
            const real least = sizeof(real) == 8 ? (real)-1e307 : (real)-1e38f; // so that a difference of two is a number
            const real power = shape < 1 ? kn_random_log_of<R>(kn_random<R>::second(block)) / shape : (real)0;
            return {size, power < least ? least : power};
        }
    }
}
template <class R> __device__ __forceinline__ typename kn_random<R>::real kn_random_law(kn_random_source<R> *from, typename kn_random<R>::real shape) {
    return kn_random_size(kn_random_gamma_of<R>(from, shape));
}
template <class R> __device__ __forceinline__ typename kn_random<R>::real kn_random_chi(kn_random_source<R> *from, typename kn_random<R>::real df) {
    auto x = kn_random_gamma_of<R>(from, df / 2);
    x.size *= 2;
    return df > 0 ? kn_random_size(x) : kn_random_nan<typename kn_random<R>::real>();
}
// A number of chi-square's law over its mean.
template <class R>
__device__ __forceinline__ kn_random_product<typename kn_random<R>::real> kn_random_over(kn_random_product<typename kn_random<R>::real> x, typename kn_random<R>::real mean) {
    return {mean < 1 ? x.size : x.size / mean, mean < 1 ? x.power - log(mean) : x.power};
}
template <class R>
__device__ __forceinline__ kn_random_product<typename kn_random<R>::real> kn_random_mean_square(kn_random_source<R> *from, typename kn_random<R>::real df) {
    if (!(df > 0))
        return {kn_random_nan<typename kn_random<R>::real>(), 0};
    if (df - df != 0)
        return {1, 0};
    return kn_random_over<R>(kn_random_gamma_of<R>(from, df / 2), df / 2);
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
    auto x = kn_random_gamma_of<R>(&from, shape);
    x.size *= scale;
    return (R)(scale >= 0 ? kn_random_size(x) : kn_random_nan<real>());
}
#endif
// The lesser of both sides is computed, so that results near 1 are rounded once.
#ifndef random_beta
KN_LAW random_beta(kn_word64 key, kn_word64 i, KN_REAL a, KN_REAL b) {
    kn_random_source<R> from = {key, i, 0};
    if (!(a > 0 && b > 0))
        return (R)kn_random_nan<real>();
    const auto x = kn_random_gamma_of<R>(&from, a), y = kn_random_gamma_of<R>(&from, b);
    const real odds = kn_random_ratio(x, y);
    if (odds < 1)
        return (R)(odds / (1 + odds));
    const real against = kn_random_ratio(y, x);
    return (R)(1 - against / (1 + against));
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
    const auto x = kn_random_mean_square<R>(&from, above);
    return (R)kn_random_ratio(x, kn_random_mean_square<R>(&from, below));
}
#endif
#ifndef standard_t
KN_LAW standard_t(kn_word64 key, kn_word64 i, KN_REAL df) {
    kn_random_source<R> from = {key, i, 0};
    const real x = from.normal();
    const auto y = kn_random_mean_square<R>(&from, df);
    return (R)kn_random_size<real>({x / sqrt(y.size), y.power / -2});
}
#endif
// Michael, Schucany and Haas: both roots of a square, mean / (1 + rise) and mean * (1 + rise), the lesser of them with the probability mean / (mean + lesser).
#ifndef wald
KN_LAW wald(kn_word64 key, kn_word64 i, KN_REAL mean, KN_REAL scale) {
    kn_random_source<R> from = {key, i, 0};
    if (!(mean > 0 && scale > 0))
        return (R)kn_random_nan<real>();
    const real n = from.normal(), half = n * n * (mean / scale) / 2, rise = half + sqrt(half) * sqrt(half + 2);
    real u, unused;
    from.two(&u, &unused);
    if (n == 0)
        return (R)mean;
    if (u * (2 + rise) > 1 + rise)
        return (R)fma(mean, rise, mean);
    if (rise < 1)
        return (R)fma(-mean, rise / (1 + rise), mean);
    return (R)(half > (real)1e9 ? scale / (n * n) : mean / (1 + rise)); // a large mean has Levy's limit
}
#endif
// Best and Fisher, by halves of angles: no difference from 1 is lost where the concentration is large. One that is small, or very large, has its limit.
#ifndef vonmises
KN_LAW vonmises(kn_word64 key, kn_word64 i, KN_REAL mu, KN_REAL kappa) {
    kn_random_source<R> from = {key, i, 0};
    const double turn = 6.28318530717958647693;
    const real pi = (real)(turn / 2), whole = (real)turn, rest = (real)(turn - (double)whole + 2.4492935982947064e-16);
    real angle;
    if (!(kappa >= 0))
        return (R)kn_random_nan<real>();
    if (kappa < (real)1e-6) {
        angle = pi * (2 * kn_random_positive<R>(key, i) - 1);
    } else if (kappa > (real)1e6) {
        angle = from.normal() / sqrt(kappa);
    } else {
        const real root = sqrt(1 + 4 * kappa * kappa), t = (1 + 1 / (root + 2 * kappa)) / (2 * kappa);
        for (;;) {
            const kn_philox block = from.block();
            real u, v;
            kn_random<R>::two(block, &u, &v);
            const real s = sin(pi / 2 * u), c = cos(pi / 2 * u), y = kappa * t * (t + 2) / (t + 2 * c * c);
            if (y * (2 - y) - v >= 0 || log(y / v) + 1 - y >= 0) {
                angle = 2 * atan2(s * sqrt(t), c * sqrt(t + 2));
                angle = from.block().word[0] & 1 ? angle : -angle;
                break;
            }
        }
    }
    const real turns = rint(mu / whole);
    angle += turns < (real)1e6 && turns > (real)-1e6 ? fma(-turns, rest, fma(-turns, whole, mu)) : remainder(mu, whole);
    return (R)(angle > pi ? angle - whole : angle < -pi ? angle + whole : angle);
}
#endif

// ---- counts: computed in double ----

typedef kn_random_source<double> kn_random_own;

// The logarithm of k! less Stirling's formula.
template <class real> static __device__ __forceinline__ real kn_random_stirling(real k) {
    if (k < 10) {
        real product = 1;
        for (int n = 2; n <= (int)k; ++n)
            product *= n;
        return log(product) - ((k + (real)0.5) * log(k + 1) - (k + 1) + (real)0.91893853320467274178);
    }
    const real z = 1 / ((k + 1) * (k + 1));
    return ((real)(1.0 / 12) - ((real)(1.0 / 360) - ((real)(1.0 / 1260) - (real)(1.0 / 1680) * z) * z) * z) / (k + 1);
}
// x log(x / mean) + mean - x, of which much would be lost if x is near the mean (Loader). apart: x - mean.
template <class real> static __device__ __forceinline__ real kn_random_deviance(real apart, real x, real mean) {
    const real v = apart / (x + mean), z = v * v;
    if (z >= (real)0.01)
        return x * log(x / mean) - apart;
    return apart * v + 2 * x * v * z * ((real)(1.0 / 3) + z * ((real)(1.0 / 5) + z * ((real)(1.0 / 7) + z * ((real)(1.0 / 9) + z * (real)(1.0 / 11)))));
}
// The logarithm of k! mean^-k, less what depends on the mean alone.
template <class real> static __device__ __forceinline__ real kn_random_surprise(double k, double mean) {
    return kn_random_deviance((real)(k + 1 - mean), (real)(k + 1), (real)mean) - (real)0.5 * log((real)(k + 1)) + kn_random_stirling((real)k);
}
// A comparison of logarithms by float: 1 and -1 where it is sure, by a thousand times its error, of what double precision says; 0: that is to be asked. Lanes of a warp wait for each other's tests.
static __device__ __forceinline__ int kn_random_is_less(float log_height, float bound) {
    const float apart = bound - log_height, unsure = 2e-3f + 2e-5f * fabs(bound);
    return apart > unsure ? 1 : apart < -unsure ? -1 : 0;
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
        const double height = v * per / (a / (us * us) + b);
        const int is_less = kn_random_is_less(log((float)height), -kn_random_surprise<float>(k, lam) - log((float)lam) - 0.918938533f);
        if (is_less > 0 || (is_less == 0 && log(height) <= -kn_random_surprise<double>(k, lam) - log(lam) - 0.91893853320467274178))
            return k;
    }
}
// The less likely of both outcomes is counted: by the sum of probabilities, or by transformed rejection (BTRS).
static __device__ __forceinline__ double kn_random_binomial(kn_random_own *from, double n, double p) {
    double u, v;
    if (!(n >= 0 && p >= 0 && p <= 1))
        return -1;
    const double q = p > 0.5 ? 1 - p : p, mean = n * q;
    double k = 0;
    if (mean < 10) {
        from->two(&u, &v);
        double part = exp(n * log1p(-q)), sum = part, odds = q / (1 - q);
        while (u > sum && k < n && k < 200)
            part *= odds * ((n - k) / (k + 1)), sum += part, ++k;
        return p > 0.5 ? n - k : k;
    }
    const double root = sqrt(mean * (1 - q)), b = 1.15 + 2.53 * root, a = -0.0873 + 0.0248 * b + 0.01 * q, c = mean + 0.5;
    const double most = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * root, mode = floor((n + 1) * q);
    const float top = kn_random_surprise<float>(mode, mean) + kn_random_surprise<float>(n - mode, n - mean);
    for (;;) {
        from->two(&u, &v);
        u -= 0.5;
        const double us = 0.5 - fabs(u);
        k = floor((2 * a / us + b) * u + c);
        if (us >= 0.07 && v <= most)
            break;
        if (k < 0 || k > n)
            continue;
        const double height = v * alpha / (a / (us * us) + b);
        const int is_less = kn_random_is_less(log((float)height), top - kn_random_surprise<float>(k, mean) - kn_random_surprise<float>(n - k, n - mean));
        if (is_less > 0)
            break;
        if (is_less == 0 && log(height) <= kn_random_surprise<double>(mode, mean) + kn_random_surprise<double>(n - mode, n - mean) - kn_random_surprise<double>(k, mean) -
                                               kn_random_surprise<double>(n - k, n - mean))
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
    return mean < 9.2e18 ? (T)kn_random_poisson(&from, mean) : (T)9223372036854775807ll;
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
// Few draws one by one; else Stadlober's ratio of uniforms (HRUA). Attempts by float take 1.5 times as long here (H200).
#ifndef hypergeometric
KN_COUNT hypergeometric(kn_word64 key, kn_word64 i, double good, double bad, double sample, Spare...) {
    kn_random_own from = {key, i, 0};
    good = floor(good), bad = floor(bad), sample = floor(sample);
    const double all = good + bad, draws = sample > all - sample ? all - sample : sample, least = good < bad ? good : bad;
    double u, v, z = 0;
    if (!(good >= 0 && bad >= 0 && sample >= 0 && sample <= all))
        return (T)-1;
    if (draws < 10 || least < 10) { // those of the fewer that are among the others: the law does not tell which are drawn
        const double fewer = draws < least ? draws : least, others = draws < least ? least : draws;
        double left = others;
        for (int k = 0; k < (int)fewer; ++k) {
            from.two(&u, &v);
            left -= u * (all - k) < left ? 1 : 0;
        }
        z = others - left;
    } else {
        const double most = all - least, share = least / all, d6 = draws * share + 0.5;
        const double d7 = sqrt((all - draws) * sample * share * (1 - share) / (all - 1) + 0.5), d8 = 1.7155277699214135 * d7 + 0.8989161620588988;
        const double mode = floor((draws + 1) * (least + 1) / (all + 2));
        const double bound = floor(d6 + 16 * d7), end = (draws < least ? draws : least) + 1 < bound ? (draws < least ? draws : least) + 1 : bound;
        const double mean = draws * share, rest = least * (1 - draws / all), others = draws * (1 - share), last = (all - draws) * (1 - share);
        const double top = kn_random_surprise<double>(mode, mean) + kn_random_surprise<double>(least - mode, rest) + kn_random_surprise<double>(draws - mode, others) +
                           kn_random_surprise<double>(most - draws + mode, last);
        for (;;) {
            from.two(&u, &v);
            const double w = d6 + d8 * (v - 0.5) / u;
            if (w < 0 || w >= end)
                continue;
            z = floor(w);
            const double t = top - (kn_random_surprise<double>(z, mean) + kn_random_surprise<double>(least - z, rest) + kn_random_surprise<double>(draws - z, others) +
                                    kn_random_surprise<double>(most - draws + z, last));
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
    // The share of uniform numbers whose power 64 bits hold: the others are not drawn.
    const double less = a - 1, b = expm1(less * 0.69314718055994530942), share = -expm1(less * -43.66827237527655449318);
    for (;;) {
        double u, v;
        from.two(&u, &v);
        const double x = floor(exp(-log1p(-u * share) / less)), t = expm1(less * log1p(1 / x));
        if (x < 9223372036854775807.0 && (x == 1 || v * x * (t / b) <= (t + 1) / (b + 1)))
            return (T)x;
    }
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

// The square of a normal number about the root of nonc, and the other numbers' squares; up to one of these a mixture over Poisson's law, but where nonc is so large that
// the mean of the others is enough.
template <class R>
__device__ __forceinline__ kn_random_product<typename kn_random<R>::real> kn_random_noncentral(kn_random_source<R> *from, typename kn_random<R>::real df,
                                                                                              typename kn_random<R>::real nonc) {
    typedef typename kn_random<R>::real real;
    if (!(df > 0 && nonc >= 0))
        return {kn_random_nan<real>(), 0};
    if (nonc - nonc != 0)
        return {nonc, 0};
    const bool is_square = df > 1 || nonc > (real)1e10;
    real n = 0, shape = df / 2;
    if (is_square) {
        n = from->normal(), shape = df > 1 ? (df - 1) / 2 : (real)0;
    } else {
        kn_random_own own = {from->key, from->i, from->count};
        shape += (real)kn_random_poisson(&own, (double)nonc / 2);
        from->count = own.count;
    }
    auto x = kn_random_gamma_of<R>(from, shape);
    x.size *= 2;
    if (!is_square)
        return x;
    const real others = df > 1 ? kn_random_size(x) : df - 1, root = sqrt(nonc);
    return {nonc > 100 ? nonc + fma(n, fma((real)2, root, n), others) : others + (n + root) * (n + root), 0};
}
#ifndef noncentral_chisquare
KN_LAW noncentral_chisquare(kn_word64 key, kn_word64 i, KN_REAL df, KN_REAL nonc) {
    kn_random_source<R> from = {key, i, 0};
    return (R)kn_random_size(kn_random_noncentral<R>(&from, df, nonc));
}
#endif
#ifndef noncentral_f
KN_LAW noncentral_f(kn_word64 key, kn_word64 i, KN_REAL above, KN_REAL below, KN_REAL nonc) {
    kn_random_source<R> from = {key, i, 0};
    const auto x = kn_random_over<R>(kn_random_noncentral<R>(&from, above, nonc), above);
    return (R)kn_random_ratio(x, kn_random_mean_square<R>(&from, below));
}
#endif
