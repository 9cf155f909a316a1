// The lesser and the greater of two floating-point numbers; a NaN is both.
// needs: kn_least kn_greatest
template <class T>
static __forceinline__ T kn_least(const T a, const T b) {
    const T c = b < a ? b : a; // two selects: a branch on what nobody foresees takes ten times as long
    return b != b ? b : c;
}
template <class T>
static __forceinline__ T kn_greatest(const T a, const T b) {
    const T c = b > a ? b : a;
    return b != b ? b : c;
}

