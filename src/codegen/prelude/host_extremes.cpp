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


// A constant that compilers take for a variable, which they have in front of the loop: g++ makes an instruction of a comparison and a choice of two variables alone,
// where each takes one for itself beside a constant.
#if defined(__GNUC__) && !defined(__clang__)
__attribute__((noipa, const)) static float kn_opaque(const float x) { return x; }
__attribute__((noipa, const)) static double kn_opaque(const double x) { return x; }
#endif
template <class T>
static __forceinline__ T kn_opaque(const T x) { return x; }

// The same of two elements of any dtype, the first of equals; of a number and a NaN the NaN, or the number.
template <class A, class B>
static __forceinline__ auto kn_larger(const A a, const B b) -> decltype(true ? A() : B()) {
    const auto d = __builtin_constant_p(b) ? kn_opaque(b) : b;
    const auto c = d > a ? d : a;
    return b != b ? b : c;
}
template <class A, class B>
static __forceinline__ auto kn_smaller(const A a, const B b) -> decltype(true ? A() : B()) {
    const auto d = __builtin_constant_p(b) ? kn_opaque(b) : b;
    const auto c = d < a ? d : a;
    return b != b ? b : c;
}
template <class A, class B>
static __forceinline__ auto kn_larger_number(const A a, const B b) -> decltype(true ? A() : B()) {
    const auto d = __builtin_constant_p(b) ? kn_opaque(b) : b;
    const auto c = d > a ? d : a;
    return a != a ? b : c;
}
template <class A, class B>
static __forceinline__ auto kn_smaller_number(const A a, const B b) -> decltype(true ? A() : B()) {
    const auto d = __builtin_constant_p(b) ? kn_opaque(b) : b;
    const auto c = d < a ? d : a;
    return a != a ? b : c;
}
