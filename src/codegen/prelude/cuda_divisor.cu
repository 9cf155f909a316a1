// needs: kn_divisor
// Many numbers divided by one: its reciprocal once, then a product and one correction, with the same bits as IEEE's division for a divisor from 2^-20 to 2^20 and
// dividends that are zero or from 2^-100 to 2^100 in size. bench/exact_division.c proves it. A thread looks at what it divided when it is done (kn_dividends), and
// divides again as IEEE has it where something was beyond.

struct kn_dividends {
    unsigned least = ~0u; // of twice the bits less one: zeros are the largest
    float most = 0;       // in size; not a number divided by one is none either way
    __device__ __forceinline__ bool are_near() const { return least >= 27u << 24 && most <= 0x1p100f; }
};

struct kn_divisor {
    float by, reciprocal;
    kn_dividends &seen;
    __device__ __forceinline__ kn_divisor(float by, kn_dividends &seen) : by(by), reciprocal(__frcp_rn(by)), seen(seen) {
        if (!(by >= 0x1p-20f && by <= 0x1p20f))
            seen.least = 0;
    }
    __device__ __forceinline__ float divide(float x) const {
        const float quotient = __fmul_rn(x, reciprocal);
        return __fmaf_rn(-__fmaf_rn(by, quotient, -x), reciprocal, quotient);
    }
    __device__ __forceinline__ void look_at(float x) const {
        const unsigned below = 2 * __float_as_uint(x) - 1;
        seen.least = below < seen.least ? below : seen.least;
        seen.most = fmaxf(seen.most, fabsf(x));
    }
};

// Integers are near as they are, and so is what a sum of few of them makes; the type of a quotient is C++'s.
template <class T> struct kn_is_counted { enum { value = 0 }; };
#define KN_COUNTED(T) template <> struct kn_is_counted<T> { enum { value = 1 }; };
KN_COUNTED(bool) KN_COUNTED(signed char) KN_COUNTED(unsigned char) KN_COUNTED(short) KN_COUNTED(unsigned short) KN_COUNTED(int) KN_COUNTED(unsigned)
KN_COUNTED(long) KN_COUNTED(unsigned long) KN_COUNTED(long long) KN_COUNTED(unsigned long long)
template <class T> struct kn_is_single { enum { value = 0 }; };
template <> struct kn_is_single<float> { enum { value = 1 }; };

template <class A> __device__ __forceinline__ auto operator/(A x, const kn_divisor &y)->decltype(x / y.by) {
    if constexpr (kn_is_single<decltype(x / y.by)>::value) {
        if constexpr (!kn_is_counted<A>::value)
            y.look_at(static_cast<float>(x));
        return y.divide(static_cast<float>(x));
    } else {
        return x / y.by;
    }
}
