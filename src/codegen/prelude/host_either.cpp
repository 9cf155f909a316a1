// A choice between two values: of float64 by their bits, since a byte's condition becomes a mask for eight of them at a time by many shifts; and of
// float32, since g++ makes a branch of it, which processors mispredict, wherever it makes no vectors: at the ends of rows, and of every fifth element.
// needs: kn_either
template <class A, class B>
static __forceinline__ auto kn_either(const bool is_first, const A first, const B second) -> decltype(is_first ? A() : B()) {
    return is_first ? first : second;
}
#if defined(KN_HAS_SINGLES)
#define KN_MASK_OF(is) (-(is) >> 1) // which g++ 13 takes for no choice
#else
#define KN_MASK_OF(is) -(is)
#endif
static __forceinline__ double kn_either(const bool is_first, const double first, const double second) {
    const long long a = __builtin_bit_cast(long long, first), b = __builtin_bit_cast(long long, second);
    return __builtin_bit_cast(double, b ^ ((a ^ b) & KN_MASK_OF((long long)is_first)));
}
static __forceinline__ float kn_either(const bool is_first, const float first, const float second) {
    const int a = __builtin_bit_cast(int, first), b = __builtin_bit_cast(int, second);
    return __builtin_bit_cast(float, b ^ ((a ^ b) & KN_MASK_OF((int)is_first)));
}
