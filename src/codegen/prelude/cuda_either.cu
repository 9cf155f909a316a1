// A choice between two values. NVRTC makes min(y, 0) of `y < 0 ? y : 0`, and compares floats with `<=` where doubles made of them are compared with `<`:
// both lose the sign of a zero. It does not where it sees no zero; the assembler, which leaves the sign alone, has it again.
// needs: kn_either
template <class T> __device__ __forceinline__ T kn_unseen(const T x) { return x; }
__device__ __forceinline__ float kn_unseen(float x) {
    asm("" : "+f"(x));
    return x;
}
__device__ __forceinline__ double kn_unseen(double x) {
    asm("" : "+d"(x));
    return x;
}
template <class A, class B>
__device__ __forceinline__ auto kn_either(const bool is_first, const A first, const B second)
    -> decltype(is_first ? A() : B()) {
    const auto other = kn_unseen(second);
    return is_first ? first : other;
}
