// The lesser and the greater of two floating-point numbers; a NaN is both.
// needs: kn_least kn_greatest kn_larger kn_larger_number kn_smaller kn_smaller_number
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


// The same of two elements of any dtype, the first of equals; of a number and a NaN the NaN, or the number.
template <class A, class B>
static __forceinline__ auto kn_larger(const A a, const B b) -> decltype(true ? A() : B()) {
    const auto c = b > a ? b : a;
    return b != b ? b : c;
}
template <class A, class B>
static __forceinline__ auto kn_smaller(const A a, const B b) -> decltype(true ? A() : B()) {
    const auto c = b < a ? b : a;
    return b != b ? b : c;
}
template <class A, class B>
static __forceinline__ auto kn_larger_number(const A a, const B b) -> decltype(true ? A() : B()) {
    const auto c = b > a ? b : a;
    return a != a ? b : c;
}
template <class A, class B>
static __forceinline__ auto kn_smaller_number(const A a, const B b) -> decltype(true ? A() : B()) {
    const auto c = b < a ? b : a;
    return a != a ? b : c;
}
