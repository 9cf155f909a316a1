// needs: kn_joined_moments kn_mean_of_moments kn_squares_of_moments
// with: uncontracted
// Moments of n elements, beside the pilot, which is one of them. Of few elements `offset` is the sum of their distances from the pilot, and `squares` that of the squared distances: these are joined
// without a division. The pilot is one of the few, so that at most as many bits are lost where it is far from the others as their number has. Of more elements `offset` is the distance of the mean from
// the pilot, and `squares` the sum of squared distances from the mean; these are joined by the formula of Chan, Golub and LeVeque. An element is {1, x, -0, -0}, since compilers drop sums with -0.

enum { kn_few_moments = 256 };

// 1 / n of a whole number, but for the last bit, and without a branch.
__device__ __forceinline__ float kn_part_of(float n) {
    float near;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(near) : "f"(n));
    return __fmaf_rn(near, __fmaf_rn(-n, near, 1.0f), near);
}
__device__ __forceinline__ double kn_part_of(double n) {
    double near;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(near) : "d"(n));
    const double left = __fma_rn(-n, near, 1.0);
    return __fma_rn(near, __fma_rn(left, left, left), near);
}
// The product of u and the conjugate of v is real, if one is a multiple of the other.
__device__ __forceinline__ float kn_square_and(float u, float v, float sum) { return __fmaf_rn(u, v, sum); }
__device__ __forceinline__ double kn_square_and(double u, double v, double sum) { return __fma_rn(u, v, sum); }
template <class T> __device__ __forceinline__ T kn_square_and(const complex<T> &u, const complex<T> &v, T sum) {
    return kn_multiply_add(u.re, v.re, kn_multiply_add(u.im, v.im, sum));
}

template <class M> __device__ __forceinline__ auto kn_offset_of_moments(const M &a) {
    const auto mean = kn_multiply(a.offset, kn_part_of(a.n > 1 ? a.n : 1));
    return a.n <= kn_few_moments ? mean : a.offset;
}
template <class M> __device__ __forceinline__ auto kn_mean_of_moments(const M &a) { return a.pilot + kn_offset_of_moments(a); }
// The sum of squared distances from the mean.
template <class M> __device__ __forceinline__ auto kn_squares_of_moments(const M &a) {
    const auto offset = kn_offset_of_moments(a);
    const auto squares = kn_square_and(kn_multiply(offset, -a.n), offset, a.squares);
    return a.n > kn_few_moments ? a.squares : squares > 0 || squares != squares ? squares : 0;
}
template <class M> __device__ __forceinline__ M kn_joined_moments(const M &a, const M &b) {
    const auto n = a.n + b.n;
    const auto pilot = a.n == 0 ? b.pilot : a.pilot, apart = kn_subtract(b.pilot, pilot);
    if (n <= kn_few_moments) {
        const bool is_one = b.n == 1; /* which the compiler knows, where it is */
        const auto moved = is_one ? apart : kn_multiply_add(apart, b.n, b.offset);
        return {n, pilot, a.offset + moved, kn_square_and(apart, is_one ? moved : kn_add(b.offset, moved), is_one ? a.squares : kn_add(a.squares, b.squares))};
    }
    const auto offset = kn_offset_of_moments(a);
    const auto weight = kn_multiply(b.n, kn_part_of(n));
    const auto distance = kn_add(apart, kn_subtract(kn_offset_of_moments(b), offset));
    const auto squares = kn_add(kn_squares_of_moments(a), kn_squares_of_moments(b));
    return {n, pilot, kn_multiply_add(distance, weight, offset), kn_square_and(kn_multiply(distance, kn_multiply(a.n, weight)), distance, squares)};
}
