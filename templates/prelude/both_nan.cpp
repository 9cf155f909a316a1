// Whether a number of any dtype is NaN. Texts for all dtypes ask here: compilers warn of `x != x` where x is a whole number.
// needs: kn_is_nan
template <class T>
static __device__ __forceinline__ bool kn_is_nan(const T x) {
    return x != x;
}

