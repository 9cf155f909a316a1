// A bool as a number, by its bits: where g++ makes no vectors of a loop, it makes a branch of a choice between 1 and 0, which processors mispredict.
// needs: kn_float32_of_bool kn_float64_of_bool
static __forceinline__ float kn_float32_of_bool(const bool x) {
    return __builtin_bit_cast(float, -(int)x & 0x3f800000);
}
static __forceinline__ double kn_float64_of_bool(const bool x) {
    return __builtin_bit_cast(double, -(long long)x & 0x3ff0000000000000ll);
}
