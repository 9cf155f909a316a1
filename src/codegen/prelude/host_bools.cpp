// A bool as a number, by its bits: where g++ makes no vectors of a loop, it makes a branch of a choice between 1 and 0. With AVX-512 such a choice is a load under a mask, and
// its bits are four instructions.
// needs: kn_float32_of_bool kn_float64_of_bool
#if defined(__AVX512F__) && !defined(KN_HAS_SINGLES)
static __forceinline__ float kn_float32_of_bool(const bool x) {
    return x ? 1.0f : 0.0f;
}
static __forceinline__ double kn_float64_of_bool(const bool x) {
    return x ? 1.0 : 0.0;
}
#else
static __forceinline__ float kn_float32_of_bool(const bool x) {
    return __builtin_bit_cast(float, -(int)x & 0x3f800000);
}
static __forceinline__ double kn_float64_of_bool(const bool x) {
    return __builtin_bit_cast(double, -(long long)x & 0x3ff0000000000000ll);
}
#endif
