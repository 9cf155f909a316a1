// Tests for NaN and for negative numbers of any dtype. Texts for all dtypes use them, since compilers warn of `x != x` if x is an integer, and of `x < 0`
// if it is unsigned.
// needs: kn_is_nan kn_is_negative
template <class T>
static __device__ __forceinline__ bool kn_is_nan(const T x) {
    return x != x;
}
template <class T>
static __device__ __forceinline__ bool kn_is_negative(const T x) {
    return x < 0;
}

