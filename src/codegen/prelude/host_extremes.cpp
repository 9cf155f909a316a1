// The lesser and the greater of two floating-point numbers; a NaN is both.
// needs: kn_least kn_greatest
template <class T>
static __forceinline__ T kn_least(const T a, const T b) {
    return a <= b || a != a ? a : b;
}
template <class T>
static __forceinline__ T kn_greatest(const T a, const T b) {
    return a >= b || a != a ? a : b;
}

