// The lesser and the greater of two floating-point numbers; a NaN is both.
// needs: kn_least kn_greatest kn_larger kn_larger_number kn_smaller kn_smaller_number
template <class T>
__device__ __forceinline__ T kn_least(const T a, const T b) {
    return a <= b || a != a ? a : b;
}
template <class T>
__device__ __forceinline__ T kn_greatest(const T a, const T b) {
    return a >= b || a != a ? a : b;
}
#if __CUDA_ARCH__ >= 800
__device__ __forceinline__ float kn_least(const float a, const float b) {
    float c;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
    return c;
}
__device__ __forceinline__ float kn_greatest(const float a, const float b) {
    float c;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
    return c;
}
#endif


// The same of two elements of any dtype, the first of equals; of a number and a NaN the NaN, or the number.
template <class A, class B>
__device__ __forceinline__ auto kn_larger(const A a, const B b) -> decltype(true ? A() : B()) {
    return a >= b || a != a ? a : b;
}
template <class A, class B>
__device__ __forceinline__ auto kn_smaller(const A a, const B b) -> decltype(true ? A() : B()) {
    return a <= b || a != a ? a : b;
}
template <class A, class B>
__device__ __forceinline__ auto kn_larger_number(const A a, const B b) -> decltype(true ? A() : B()) {
    return a >= b || b != b ? a : b;
}
template <class A, class B>
__device__ __forceinline__ auto kn_smaller_number(const A a, const B b) -> decltype(true ? A() : B()) {
    return a <= b || b != b ? a : b;
}
