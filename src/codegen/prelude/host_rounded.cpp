// Sums, products, quotients, roots and fused multiply-adds with a rounding in their names: rn to nearest even, rz
// towards zero, ru up, rd down.
// needs: __dadd_rd __dadd_rn __dadd_ru __dadd_rz __ddiv_rd __ddiv_rn __ddiv_ru __ddiv_rz __dmul_rd __dmul_rn __dmul_ru
// needs: __dmul_rz __drcp_rd __drcp_rn __drcp_ru __drcp_rz __dsqrt_rd __dsqrt_rn __dsqrt_ru __dsqrt_rz __dsub_rd
// needs: __dsub_rn __dsub_ru __dsub_rz __fadd_rd __fadd_rn __fadd_ru __fadd_rz __fdiv_rd __fdiv_rn __fdiv_ru __fdiv_rz
// needs: __fma_rd __fma_rn __fma_ru __fma_rz __fmaf_ieee_rd __fmaf_ieee_rn __fmaf_ieee_ru __fmaf_ieee_rz __fmaf_rd
// needs: __fmaf_rn __fmaf_ru __fmaf_rz __fmul_rd __fmul_rn __fmul_ru __fmul_rz __frcp_rd __frcp_rn __frcp_ru __frcp_rz
// needs: __fsqrt_rd __fsqrt_rn __fsqrt_ru __fsqrt_rz __fsub_rd __fsub_rn __fsub_ru __fsub_rz
// with: math

// Keeps a result from being merged into a fused multiply-add, and under -ffast-math from being regrouped.
#if __has_builtin(__builtin_assoc_barrier)
#define KN_ROUNDED(x) __builtin_assoc_barrier(x)
#elif __has_builtin(__arithmetic_fence)
#define KN_ROUNDED(x) __arithmetic_fence(x)
#else
#define KN_ROUNDED(x) (x)
#endif

// Products of two F are exact in the wider type, and nothing leaves its range.
#if __LDBL_MANT_DIG__ == 113
typedef long double kn_quad;
#else
typedef __float128 kn_quad;
#endif
template <class F> struct kn_wider { typedef double type; };
template <> struct kn_wider<double> { typedef kn_quad type; };

// The nearest result, and what the exact one has beyond it: of this only the sign counts, and a NaN counts as none.
template <class F> struct kn_rounded { F nearest, rest; };
template <class W> inline int kn_compare(W x, W y) { return (x > y) - (x < y); }

// Far from the ends of float64's range, where an error is a float64 as well. For float32 the wider type costs nothing.
inline bool kn_is_easy(float) { return false; }
inline bool kn_is_easy(double x) { return fabs(x) > 0x1p-900 && fabs(x) < 0x1p1023; }

// A sum that overflows loses an infinity of the other sign, and so is beyond the exact one.
template <class F> inline kn_rounded<F> kn_sum(F x, F y) {
    bool ordered = kn_abs(x) > kn_abs(y);
    F sum = KN_ROUNDED(x + y), large = ordered ? x : y, small = ordered ? y : x;
    return {sum, small - KN_ROUNDED(sum - large)};
}
template <class F> inline kn_rounded<F> kn_product(F x, F y) {
    typedef typename kn_wider<F>::type W;
    F nearest = KN_ROUNDED(x * y);
    return {nearest, kn_is_easy(nearest) ? fma(x, y, -nearest) : (F)kn_compare((W)x * y, (W)nearest)};
}
template <class F> inline kn_rounded<F> kn_quotient(F x, F y) {
    typedef typename kn_wider<F>::type W;
    F nearest = KN_ROUNDED(x / y);
    bool is_easy = kn_is_easy(nearest) && kn_is_easy(x);
    F left = is_easy ? fma(-nearest, y, x) : (F)kn_compare((W)x, (W)nearest * y);
    return {nearest, y < 0 ? -left : left};
}
template <class F> inline kn_rounded<F> kn_root(F x) {
    typedef typename kn_wider<F>::type W;
    F nearest = sqrt(x);
    return {nearest, kn_is_easy(x) ? fma(-nearest, nearest, x) : (F)kn_compare((W)x, (W)nearest * nearest)};
}
// Boldo and Muller: what a fused multiply-add loses is a sum of two.
template <class F> inline kn_rounded<F> kn_fused(F x, F y, F z) {
    typedef typename kn_wider<F>::type W;
    F nearest = fma(x, y, z), product = KN_ROUNDED(x * y);
    if (kn_is_easy(product) && fabs(z) < 0x1p1000) {
        kn_rounded<F> low = kn_sum(z, fma(x, y, -product)), high = kn_sum(product, low.nearest);
        return {nearest, KN_ROUNDED(high.nearest - nearest) + high.rest + low.rest};
    }
    kn_rounded<W> sum = kn_sum((W)x * y, (W)z);
    return {nearest, (F)(sum.nearest == nearest ? kn_compare(sum.rest, (W)0) : kn_compare(sum.nearest, (W)nearest))};
}

// The neighbour with a greater or a smaller absolute value.
inline float kn_beside(float x, int by) { return __builtin_bit_cast(float, __builtin_bit_cast(int, x) + by); }
inline double kn_beside(double x, int by) { return __builtin_bit_cast(double, __builtin_bit_cast(long long, x) + by); }
template <class F> inline F kn_upward(kn_rounded<F> x) {
    F above = x.nearest == 0 ? kn_beside((F)0, 1) : kn_beside(x.nearest, x.nearest > 0 ? 1 : -1);
    return x.rest > 0 ? above : x.nearest;
}
template <class F> inline F kn_inward(kn_rounded<F> x) {
    bool is_beyond = x.nearest > 0 ? x.rest < 0 : x.nearest < 0 && x.rest > 0;
    return is_beyond ? kn_beside(x.nearest, -1) : x.nearest;
}
template <class F> inline kn_rounded<F> kn_negative(kn_rounded<F> x) { return {-x.nearest, -x.rest}; }

// Down is up of the opposite, which makes the sums that vanish -0, too.
#define KN_DIRECTED(F, name, parameters, exact, opposite)                   \
    inline F __##name##_rn parameters { return (exact).nearest; }           \
    inline F __##name##_rz parameters { return kn_inward<F>(exact); }       \
    inline F __##name##_ru parameters { return kn_upward<F>(exact); }       \
    inline F __##name##_rd parameters { return -kn_upward<F>(opposite); }
#define KN_ARITHMETIC(F, f, fma)                                                                \
    KN_DIRECTED(F, f##add, (F x, F y), kn_sum(x, y), kn_sum(-x, -y))                            \
    KN_DIRECTED(F, f##sub, (F x, F y), kn_sum(x, -y), kn_sum(-x, y))                            \
    KN_DIRECTED(F, f##mul, (F x, F y), kn_product(x, y), kn_product(-x, y))                     \
    KN_DIRECTED(F, f##div, (F x, F y), kn_quotient(x, y), kn_quotient(-x, y))                   \
    KN_DIRECTED(F, f##rcp, (F x), kn_quotient((F)1, x), kn_quotient((F)-1, x))                  \
    KN_DIRECTED(F, f##sqrt, (F x), kn_root(x), kn_negative(kn_root(x)))                         \
    KN_DIRECTED(F, fma, (F x, F y, F z), kn_fused(x, y, z), kn_fused(-x, y, -z))
KN_ARITHMETIC(float, f, fmaf)
KN_ARITHMETIC(double, d, fma)
KN_DIRECTED(float, fmaf_ieee, (float x, float y, float z), kn_fused(x, y, z), kn_fused(-x, y, -z))
