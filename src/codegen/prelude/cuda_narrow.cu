// Functions of float32 whose results need fewer bits.
// needs: kn_narrow_exp kn_summed_exp kn_fade

// For results that are rounded to float16 or bfloat16 afterwards: off by 2^-17 at most, relative to them.
__device__ __forceinline__ float kn_narrow_exp(const float x) { return __expf(x); }

// For sums of exp(x - greatest), one of them 1. The product makes exp(d) off by 1.3 |d| 2^-24, little more than the difference's own rounding does; results below 2^-126 are 0.
// Elements far from 0 have a small share: the sum of n elements is off by (3 + 1.3 log n) 2^-24 of it at most.
__device__ __forceinline__ float kn_summed_exp(const float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * 1.4426950408889634f));
    return y;
}

// exp(x), of a distance x from the greatest element, by which a sum of such fades.
template <class T> __device__ __forceinline__ T kn_fade_of(const T x) {
    if constexpr (sizeof(T) <= sizeof(float))
        return (T)kn_summed_exp((float)x);
    else
        return exp(x);
}
#define kn_fade(exact, x) kn_fade_of(x)
