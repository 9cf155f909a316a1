// Operators on integers with NumPy's results where C++ has none and processors trap or differ: a quotient or a remainder by zero is 0, the least
// integer by -1 is itself with remainder 0, and a shift by a count outside of the type gives 0, or -1 for negative numbers to the right.
//
// Operators of a snippet get a word in front of their right operand, which applies to exactly that operand by C++'s own precedence:
//     x / kn_by()->* y        x << kn_by() + y        x /= kn_by() = y
// An integer comes back guarded, and then the operators below are the ones that fit; anything else comes back as it is.
//
// A minus behind a literal zero takes both sides, `0.0 - kn_by() + y`: gcc 12 makes -(double)n of 0.0 - (double)n where it sees the whole of it at once,
// and that is -0.0 for zero. Inside a function it does not.
// needs: kn_by

#ifndef __CUDACC__
#pragma GCC diagnostic ignored "-Wparentheses" // of the sum that nobody wrote
#endif

#define KN_GUARD __host__ __device__ __forceinline__ constexpr

template <bool Is, class T> struct kn_where {};
template <class T> struct kn_where<true, T> { typedef T type; };
template <class T> struct kn_plain { typedef T type; };
template <class T> struct kn_plain<T &> : kn_plain<T> {};
template <class T> struct kn_plain<T &&> : kn_plain<T> {};
template <class T> struct kn_plain<const T> : kn_plain<T> {};
template <class T> struct kn_plain<volatile T> : kn_plain<T> {};
template <class T> struct kn_plain<const volatile T> : kn_plain<T> {};

// For the types to which integers are promoted: the unsigned type of the same size.
template <class T> struct kn_bits_of {};
template <> struct kn_bits_of<int> { typedef unsigned int type; enum { has_sign = 1 }; };
template <> struct kn_bits_of<unsigned int> { typedef unsigned int type; enum { has_sign = 0 }; };
template <> struct kn_bits_of<long> { typedef unsigned long type; enum { has_sign = 1 }; };
template <> struct kn_bits_of<unsigned long> { typedef unsigned long type; enum { has_sign = 0 }; };
template <> struct kn_bits_of<long long> { typedef unsigned long long type; enum { has_sign = 1 }; };
template <> struct kn_bits_of<unsigned long long> { typedef unsigned long long type; enum { has_sign = 0 }; };
#ifdef __SIZEOF_INT128__
template <> struct kn_bits_of<__int128> { typedef unsigned __int128 type; enum { has_sign = 1 }; };
template <> struct kn_bits_of<unsigned __int128> { typedef unsigned __int128 type; enum { has_sign = 0 }; };
#endif

// Integers, booleans, characters and enumerations without a class; nothing that only converts to them.
template <class T> struct kn_always { typedef void type; };
template <class T, class = void> struct kn_is_integer { enum { value = 0 }; };
template <class T> struct kn_is_integer<T, typename kn_always<typename kn_bits_of<decltype(+T())>::type>::type> {
    enum { value = !__is_class(T) && !__is_union(T) };
};
template <class T> using kn_integer = typename kn_where<kn_is_integer<T>::value, T>::type;
template <class T> using kn_other = typename kn_where<!kn_is_integer<typename kn_plain<T>::type>::value, T>::type;
template <class T> using kn_class = typename kn_where<__is_class(T) || __is_union(T), T>::type;

// An integer on the right of an operator. The base is what operands of a class meet that have no operator for the guarded integer itself.
template <class T> struct kn_guarded_base {
    T value;
    kn_guarded_base() = default;
    KN_GUARD kn_guarded_base(T value) : value(value) {}
    KN_GUARD operator T() const { return value; }
};
template <class T> struct kn_guarded : kn_guarded_base<T> {
    kn_guarded() = default;
    KN_GUARD kn_guarded(T value) : kn_guarded_base<T>(value) {}
};

struct kn_by {
    template <class T, class = kn_integer<T>> KN_GUARD kn_guarded<T> operator=(T y) const { return kn_guarded<T>(y); }
    template <class T, class = kn_other<T>> KN_GUARD T &&operator=(T &&y) const { return static_cast<T &&>(y); }
};
template <class T, class = kn_integer<T>> KN_GUARD kn_guarded<T> operator->*(kn_by, T y) { return kn_guarded<T>(y); }
template <class T, class = kn_other<T>> KN_GUARD T &&operator->*(kn_by, T &&y) { return static_cast<T &&>(y); }
template <class T, class = kn_integer<T>> KN_GUARD kn_guarded<T> operator+(kn_by, T y) { return kn_guarded<T>(y); }
template <class T, class = kn_other<T>> KN_GUARD T &&operator+(kn_by, T &&y) { return static_cast<T &&>(y); }

// The count of a shift may be a sum, of which only the first term has met kn_by.
template <class T, class U, class = kn_integer<U>> KN_GUARD kn_guarded<decltype(T() + U())> operator+(kn_guarded<T> x, U y) {
    return kn_guarded<decltype(T() + U())>(x.value + y);
}
template <class T, class U, class = kn_integer<U>> KN_GUARD kn_guarded<decltype(T() - U())> operator-(kn_guarded<T> x, U y) {
    return kn_guarded<decltype(T() - U())>(x.value - y);
}

// True for 0, and for -1 of signed types. The quotient is then x * y.
template <class R, class B = kn_bits_of<R>, class U = typename B::type> KN_GUARD bool kn_is_odd(R y) {
    return (U)((U)y + (U)B::has_sign) < (U)(1 + B::has_sign);
}
template <class R, class U = typename kn_bits_of<R>::type> KN_GUARD R kn_over(R x, R y) {
    return kn_is_odd(y) ? (R)((U)x * (U)y) : x / (kn_is_odd(y) ? (R)1 : y);
}
template <class R> KN_GUARD R kn_modulo(R x, R y) { return x % (kn_is_odd(y) ? (R)1 : y); }

template <class R, class T, class U = typename kn_bits_of<decltype(+T())>::type> KN_GUARD bool kn_is_within(T count) {
    return (U)count < (U)(8 * sizeof(R));
}
template <class R, class T, class U = typename kn_bits_of<R>::type> KN_GUARD R kn_left(R x, T count) {
    return kn_is_within<R>(count) ? (R)((U)x << (U)count) : (R)0;
}
template <class R, class T, class B = kn_bits_of<R>, class U = typename B::type> KN_GUARD R kn_right(R x, T count) {
    return kn_is_within<R>(count) ? x >> (U)count : B::has_sign ? x >> (U)(8 * sizeof(R) - 1) : (R)0;
}

// For each operator: of two integers; of an operand of a class, where that has an operator for the integer; and both with an assignment.
#define KN_GUARDED(op, assign, result, value_of)                                                                              \
    template <class A, class T, class = kn_integer<A>, class R = result> KN_GUARD R operator op(A x, kn_guarded<T> y) {       \
        return value_of;                                                                                                      \
    }                                                                                                                         \
    template <class A, class T, class = kn_class<A>>                                                                          \
    KN_GUARD auto operator op(const A &x, kn_guarded_base<T> y)->decltype(x op y.value) {                                     \
        return x op y.value;                                                                                                  \
    }                                                                                                                         \
    template <class A, class T, class P = kn_integer<typename kn_plain<A>::type>> KN_GUARD A &operator assign(A &x, kn_guarded<T> y) { \
        return x = static_cast<P>(static_cast<P>(x) op y), x;                                                                 \
    }                                                                                                                         \
    template <class A, class T, class = kn_class<A>>                                                                          \
    KN_GUARD auto operator assign(A &x, kn_guarded_base<T> y)->decltype(x assign y.value) {                                   \
        return x assign y.value;                                                                                              \
    }
KN_GUARDED(/, /=, decltype(A() / T()), kn_over((R)x, (R)y.value))
KN_GUARDED(%, %=, decltype(A() % T()), kn_modulo((R)x, (R)y.value))
KN_GUARDED(<<, <<=, decltype(+A()), kn_left((R)x, y.value))
KN_GUARDED(>>, >>=, decltype(+A()), kn_right((R)x, y.value))

template <class A> struct kn_minuend {
    A value;
    KN_GUARD explicit kn_minuend(A value) : value(value) {} // and no other: what takes any type with a default leaves it alone
};
template <class A> KN_GUARD kn_minuend<A> operator-(A x, kn_by) { return kn_minuend<A>(x); }
template <class A, class T> KN_GUARD auto operator+(kn_minuend<A> x, const T &y)->decltype(x.value - y) { return x.value - y; }
