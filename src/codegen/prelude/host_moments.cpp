// needs: kn_joined_moments kn_mean_of_moments kn_squares_of_moments
// with: uncontracted
// Moments of n elements: their mean is pilot + offset, and the squares of their distances from it sum up to `squares`. Two are joined by the formula of Chan, Golub and LeVeque. Where the numbers of
// elements are known to the compiler, as in the tree by which a thread begins, the weight is a constant, and nothing is divided. There is no branch, which would keep it from seeing that.

template <class T> struct complex;
static __forceinline__ float kn_product_of(float u, float v) { return kn_multiply(u, v); }
static __forceinline__ double kn_product_of(double u, double v) { return kn_multiply(u, v); }
template <class T> static __forceinline__ T kn_product_of(const complex<T> &u, const complex<T> &v) { return kn_multiply_add(u.re, v.re, kn_multiply(u.im, v.im)); }

template <class M> static __forceinline__ auto kn_mean_of_moments(const M &a) { return a.pilot + a.offset; }
template <class M> static __forceinline__ auto kn_squares_of_moments(const M &a) { return a.squares; }
template <class M> static __forceinline__ M kn_joined_moments(const M &a, const M &b) {
    const auto n = a.n + b.n, weight = b.n / (n + (n == 0));
    const auto apart = kn_subtract(b.pilot, a.pilot) + (b.offset - a.offset);
    const auto product = kn_product_of(kn_multiply(apart, weight), apart);
    return {n, a.pilot, kn_multiply_add(apart, weight, a.offset), kn_multiply_add(a.n, product, a.squares + b.squares)};
}
