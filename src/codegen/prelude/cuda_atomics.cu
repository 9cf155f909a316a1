// Atomic operations that CUDA lacks: of signed 64-bit integers, the smaller and larger of floating-point
// numbers, sums of 16-bit ones.
// needs: atomicAdd atomicMin atomicMax

__device__ __forceinline__ long long atomicAdd(long long *p, long long x) {
    return atomicAdd((unsigned long long *)p, (unsigned long long)x);
}
__device__ __forceinline__ long atomicAdd(long *p, long x) {
    return atomicAdd((unsigned long long *)p, (unsigned long long)x);
}
__device__ __forceinline__ unsigned long atomicAdd(unsigned long *p, unsigned long x) {
    return atomicAdd((unsigned long long *)p, (unsigned long long)x);
}

// Numbers of one sign are ordered as their bits are, negative ones the other way round. A NaN does not count.
__device__ __forceinline__ float atomicMax(float *p, float x) {
    if (x != x)
        return *(volatile float *)p;
    return __float_as_int(x) >= 0 ? __int_as_float(atomicMax((int *)p, __float_as_int(x)))
                                  : __uint_as_float(atomicMin((unsigned int *)p, __float_as_uint(x)));
}
__device__ __forceinline__ float atomicMin(float *p, float x) {
    if (x != x)
        return *(volatile float *)p;
    return __float_as_int(x) >= 0 ? __int_as_float(atomicMin((int *)p, __float_as_int(x)))
                                  : __uint_as_float(atomicMax((unsigned int *)p, __float_as_uint(x)));
}
__device__ __forceinline__ double atomicMax(double *p, double x) {
    if (x != x)
        return *(volatile double *)p;
    long long bits = __double_as_longlong(x);
    return __longlong_as_double(bits >= 0 ? atomicMax((long long *)p, bits)
                                          : (long long)atomicMin((unsigned long long *)p, (unsigned long long)bits));
}
__device__ __forceinline__ double atomicMin(double *p, double x) {
    if (x != x)
        return *(volatile double *)p;
    long long bits = __double_as_longlong(x);
    return __longlong_as_double(bits >= 0 ? atomicMin((long long *)p, bits)
                                          : (long long)atomicMax((unsigned long long *)p, (unsigned long long)bits));
}

// float16 and bfloat16, within the aligned word that holds them.
template <class T>
__device__ __forceinline__ decltype(T().bits, T()) atomicAdd(T *p, T x) {
    unsigned int *word = (unsigned int *)((size_t)p & ~(size_t)3), shift = (size_t)p & 2 ? 16 : 0;
    unsigned int seen = *(volatile unsigned int *)word, expected;
    T old;
    do {
        expected = seen;
        old.bits = expected >> shift;
        T sum = (float)old + (float)x;
        seen = atomicCAS(word, expected, (expected & ~(0xffffu << shift)) | (unsigned int)sum.bits << shift);
    } while (seen != expected);
    return old;
}
