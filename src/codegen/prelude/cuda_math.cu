// min and max of operands of different types, abs of unsigned ones: CUDA calls them ambiguous.
// needs: abs max min

template <class A, class B>
__device__ __forceinline__ decltype(A() + B()) min(A x, B y) {
    return min((decltype(A() + B()))x, (decltype(A() + B()))y);
}

template <class A, class B>
__device__ __forceinline__ decltype(A() + B()) max(A x, B y) {
    return max((decltype(A() + B()))x, (decltype(A() + B()))y);
}

__device__ __forceinline__ unsigned int abs(unsigned int x) { return x; }
__device__ __forceinline__ unsigned long abs(unsigned long x) { return x; }
__device__ __forceinline__ unsigned long long abs(unsigned long long x) { return x; }
