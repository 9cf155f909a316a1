// Whether a number of any dtype is NaN, and whether it is below zero. Texts for all dtypes ask here: compilers warn of `x != x` where x is a whole
// number, and of `x < 0` where it has no sign.
// needs: kn_is_nan kn_is_negative
template <class T>
static __device__ __forceinline__ bool kn_is_nan(const T x) {
    return x != x;
}
template <class T>
static __device__ __forceinline__ bool kn_is_negative(const T x) {
    return x < 0;
}

