// needs: kn_float64_of kn_float32_of_count
// An integer as float64. Processors of x86 without AVX-512 convert no vectors of 64 bits, and compilers leave a conversion in loops even where
// it is the same for all elements: there both halves become numbers by their bits, 2^84 + high * 2^32 and 2^52 + low, of which nothing is lost
// before they are added, and that is rounded once. A count is below 2^53, where it is a float64, so that as float32 it is rounded once, too.
template <class T> static __device__ __forceinline__ double kn_float64_of(const T x) {
    return (double)x;
}
#if defined(__x86_64__) && !defined(__AVX512DQ__) && !defined(__FAST_MATH__) && !defined(__CUDACC__)
static __forceinline__ double kn_float64_of_halves(const unsigned long long high, const unsigned long long x, const double bias) {
    const unsigned long long low = (x & 0xffffffffull) | 0x4330000000000000ull;
    return (__builtin_bit_cast(double, high) - bias) + __builtin_bit_cast(double, low);
}
static __forceinline__ double kn_float64_of(const long long x) {
    return kn_float64_of_halves((unsigned long long)x >> 32 ^ 0x4530000080000000ull, (unsigned long long)x, 0x1.00000801p84);
}
static __forceinline__ double kn_float64_of(const unsigned long long x) {
    return kn_float64_of_halves(x >> 32 | 0x4530000000000000ull, x, 0x1.00000001p84);
}
static __forceinline__ float kn_float32_of_count(const long long x) {
    return (float)kn_float64_of(x);
}
#else
static __device__ __forceinline__ float kn_float32_of_count(const long long x) {
    return (float)x;
}
#endif
