// A choice between two values.
// needs: kn_either
template <class A, class B>
static __forceinline__ auto kn_either(const bool is_first, const A first, const B second) -> decltype(is_first ? A() : B()) {
    return is_first ? first : second;
}
