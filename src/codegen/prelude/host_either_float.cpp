// The same of float32 in programs over rows, whose ends are single elements: a branch for each, which processors mispredict.
// needs: kn_either_float
// with: either
static __forceinline__ float kn_either(const bool is_first, const float first, const float second) {
    const int a = __builtin_bit_cast(int, first), b = __builtin_bit_cast(int, second);
    return __builtin_bit_cast(float, b ^ ((a ^ b) & -(int)is_first));
}
