// CUDA's conversions with a rounding in their names: rn to nearest even, rz towards zero, ru up, rd down. What
// does not fit becomes the nearest integer that does, and a NaN the highest bit alone (0 from float32 to 32 bits).
// needs: __double2float_rd __double2float_rn __double2float_ru __double2float_rz __double2hiint __double2int_rd
// needs: __double2int_rn __double2int_ru __double2int_rz __double2ll_rd __double2ll_rn __double2ll_ru __double2ll_rz
// needs: __double2loint __double2uint_rd __double2uint_rn __double2uint_ru __double2uint_rz __double2ull_rd
// needs: __double2ull_rn __double2ull_ru __double2ull_rz __double_as_longlong __float2int_rd __float2int_rn
// needs: __float2int_ru __float2int_rz __float2ll_rd __float2ll_rn __float2ll_ru __float2ll_rz __float2uint_rd
// needs: __float2uint_rn __float2uint_ru __float2uint_rz __float2ull_rd __float2ull_rn __float2ull_ru __float2ull_rz
// needs: __float_as_int __float_as_uint __hiloint2double __int2double_rd __int2double_rn __int2double_ru
// needs: __int2double_rz __int2float_rd __int2float_rn __int2float_ru __int2float_rz __int_as_float __ll2double_rd
// needs: __ll2double_rn __ll2double_ru __ll2double_rz __ll2float_rd __ll2float_rn __ll2float_ru __ll2float_rz
// needs: __longlong_as_double __uint2double_rd __uint2double_rn __uint2double_ru __uint2double_rz __uint2float_rd
// needs: __uint2float_rn __uint2float_ru __uint2float_rz __uint_as_float __ull2double_rd __ull2double_rn
// needs: __ull2double_ru __ull2double_rz __ull2float_rd __ull2float_rn __ull2float_ru __ull2float_rz
// with: math

inline int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
inline unsigned int __float_as_uint(float x) { return __builtin_bit_cast(unsigned int, x); }
inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
inline float __uint_as_float(unsigned int x) { return __builtin_bit_cast(float, x); }
inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
inline int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
inline int __double2loint(double x) { return (int)__double_as_longlong(x); }
inline double __hiloint2double(int high, int low) {
    return __longlong_as_double((long long)((unsigned long long)(unsigned int)high << 32 | (unsigned int)low));
}

template <class I, class F> inline I kn_fit(F whole, I lowest, I highest, I nan) {
    if (whole != whole)
        return nan;
    return whole <= (F)lowest ? lowest : whole >= (F)highest ? highest : (I)whole;
}

// One integer wider or narrower than the floating-point type x comes from or goes to: the neighbour in the
// wanted direction.
template <class F> inline F kn_next(F x, int up) { return nextafter(x, up ? (F)__builtin_inf() : -(F)__builtin_inf()); }
template <class F, class I> inline F kn_down(F nearest, I x) {
    return (__int128)nearest > (__int128)x ? kn_next(nearest, 0) : nearest;
}
template <class F, class I> inline F kn_up(F nearest, I x) {
    return (__int128)nearest < (__int128)x ? kn_next(nearest, 1) : nearest;
}

#define KN_TO_INTEGER(F, from, I, to, lowest, highest, nan)                                     \
    inline I __##from##2##to##_rn(F x) { return kn_fit<I, F>(rint(x), lowest, highest, nan); }  \
    inline I __##from##2##to##_rz(F x) { return kn_fit<I, F>(trunc(x), lowest, highest, nan); } \
    inline I __##from##2##to##_ru(F x) { return kn_fit<I, F>(ceil(x), lowest, highest, nan); }  \
    inline I __##from##2##to##_rd(F x) { return kn_fit<I, F>(floor(x), lowest, highest, nan); }
#define KN_FROM_INTEGER(I, from, F, to)                                                      \
    inline F __##from##2##to##_rn(I x) { return (F)x; }                                      \
    inline F __##from##2##to##_rz(I x) { return x < 0 ? kn_up((F)x, x) : kn_down((F)x, x); } \
    inline F __##from##2##to##_ru(I x) { return kn_up((F)x, x); }                            \
    inline F __##from##2##to##_rd(I x) { return kn_down((F)x, x); }
#define KN_INTEGERS(F, name, nan)                                                                                        \
    KN_TO_INTEGER(F, name, int, int, -2147483647 - 1, 2147483647, (int)nan)                                              \
    KN_TO_INTEGER(F, name, unsigned int, uint, 0u, 4294967295u, nan)                                                     \
    KN_TO_INTEGER(F, name, long long, ll, -9223372036854775807ll - 1, 9223372036854775807ll, -9223372036854775807ll - 1) \
    KN_TO_INTEGER(F, name, unsigned long long, ull, 0ull, 18446744073709551615ull, 9223372036854775808ull)               \
    KN_FROM_INTEGER(int, int, F, name)                                                                                   \
    KN_FROM_INTEGER(unsigned int, uint, F, name)                                                                         \
    KN_FROM_INTEGER(long long, ll, F, name)                                                                              \
    KN_FROM_INTEGER(unsigned long long, ull, F, name)
KN_INTEGERS(float, float, 0u)
KN_INTEGERS(double, double, 0x80000000u)

inline float __double2float_rn(double x) { return (float)x; }
inline float __double2float_ru(double x) { return (float)x < x ? kn_next((float)x, 1) : (float)x; }
inline float __double2float_rd(double x) { return (float)x > x ? kn_next((float)x, 0) : (float)x; }
inline float __double2float_rz(double x) { return x < 0 ? __double2float_ru(x) : __double2float_rd(x); }
