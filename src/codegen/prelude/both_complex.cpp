// complex<float> and complex<double>. Real operands of any type mix in; the wider precision wins. Products are
// the plain ones, quotients scaled by the larger part of the divisor, as NumPy does both.
// needs: complex

template <class T> struct kn_floating {};
template <> struct kn_floating<float> { typedef float type; };
template <> struct kn_floating<double> { typedef double type; };

#ifdef __CUDACC__
#define KN_COMPLEX_ALIGN alignas(2 * sizeof(T))
#else
#define KN_COMPLEX_ALIGN
#endif

// A product that is rounded, so that z times its conjugate is real: gcc 12 merges those of vectors into sums, whatever it is told.
#if !defined(__CUDACC__) && defined(__has_builtin)
#if __has_builtin(__builtin_assoc_barrier)
#define KN_PLAIN(x) __builtin_assoc_barrier(x)
#endif
#endif
#ifndef KN_PLAIN
#define KN_PLAIN(x) (x)
#endif

template <class T>
struct KN_COMPLEX_ALIGN complex {
    typedef T value_type;
    T re, im;

    complex() = default;
    complex(const complex &z) = default; // needs: kn_by_parts
    complex &operator=(const complex &z) { return re = z.re, im = z.im, *this; } // needs: kn_by_parts
    __device__ __forceinline__ complex(T re, T im) : re(re), im(im) {}
    template <class S> __device__ __forceinline__ complex(S re) : re((T)re), im(0) {}
    template <class S> __device__ __forceinline__ complex(const complex<S> &z) : re((T)z.re), im((T)z.im) {}
    template <class S> explicit __device__ __forceinline__ operator S() const { return (S)re; }
    explicit __device__ __forceinline__ operator bool() const { return re != 0 || im != 0; }

    __device__ __forceinline__ T real() const { return re; }
    __device__ __forceinline__ T imag() const { return im; }
    __device__ __forceinline__ void real(T x) { re = x; }
    __device__ __forceinline__ void imag(T y) { im = y; }

    template <class S> __device__ __forceinline__ complex &operator+=(const S &x) { return *this = *this + x; }
    template <class S> __device__ __forceinline__ complex &operator-=(const S &x) { return *this = *this - x; }
    template <class S> __device__ __forceinline__ complex &operator*=(const S &x) { return *this = *this * x; }
    template <class S> __device__ __forceinline__ complex &operator/=(const S &x) { return *this = *this / x; }
};

template <class A, class B> using kn_complex_of = complex<typename kn_floating<decltype(A() + B())>::type>;

template <class T>
__device__ __forceinline__ complex<T> operator+(const complex<T> &z) {
    return z;
}
template <class T>
__device__ __forceinline__ complex<T> operator-(const complex<T> &z) {
    return complex<T>(-z.re, -z.im);
}

template <class A, class B>
__device__ __forceinline__ kn_complex_of<A, B> operator+(const complex<A> &x, const complex<B> &y) {
    return kn_complex_of<A, B>(x.re + y.re, x.im + y.im);
}

template <class A, class B>
__device__ __forceinline__ kn_complex_of<A, B> operator+(const complex<A> &x, B y) {
    return kn_complex_of<A, B>(x.re + y, x.im);
}

template <class A, class B>
__device__ __forceinline__ kn_complex_of<A, B> operator+(A x, const complex<B> &y) {
    return kn_complex_of<A, B>(x + y.re, y.im);
}

template <class A, class B>
__device__ __forceinline__ kn_complex_of<A, B> operator-(const complex<A> &x, const complex<B> &y) {
    return kn_complex_of<A, B>(x.re - y.re, x.im - y.im);
}

template <class A, class B>
__device__ __forceinline__ kn_complex_of<A, B> operator-(const complex<A> &x, B y) {
    return kn_complex_of<A, B>(x.re - y, x.im);
}

template <class A, class B>
__device__ __forceinline__ kn_complex_of<A, B> operator-(A x, const complex<B> &y) {
    return kn_complex_of<A, B>(x - y.re, -y.im);
}

template <class A, class B>
__device__ __forceinline__ kn_complex_of<A, B> operator*(const complex<A> &x, const complex<B> &y) {
    typedef kn_complex_of<A, B> C;
    const typename C::value_type a = KN_PLAIN(x.re * y.re), b = KN_PLAIN(x.im * y.im);
    const typename C::value_type c = KN_PLAIN(x.re * y.im), d = KN_PLAIN(x.im * y.re);
    return C(a - b, c + d);
}

template <class A, class B>
__device__ __forceinline__ kn_complex_of<A, B> operator*(const complex<A> &x, B y) {
    return kn_complex_of<A, B>(x.re * y, x.im * y);
}

template <class A, class B>
__device__ __forceinline__ kn_complex_of<A, B> operator*(A x, const complex<B> &y) {
    return kn_complex_of<A, B>(x * y.re, x * y.im);
}

template <class T>
__device__ __forceinline__ complex<T> kn_divide(const complex<T> &x, const complex<T> &y) {
    T a = y.re <= 0 ? 0 - y.re : y.re, b = y.im <= 0 ? 0 - y.im : y.im; // no negative zeros
    if (a >= b) {
        if (a == 0)
            return complex<T>(x.re / a, x.im / a);
        T ratio = y.im / y.re, scale = 1 / (y.re + y.im * ratio);
        return complex<T>((x.re + x.im * ratio) * scale, (x.im - x.re * ratio) * scale);
    }
    T ratio = y.re / y.im, scale = 1 / (y.im + y.re * ratio);
    return complex<T>((x.re * ratio + x.im) * scale, (x.im * ratio - x.re) * scale);
}

template <class A, class B>
__device__ __forceinline__ kn_complex_of<A, B> operator/(const complex<A> &x, const complex<B> &y) {
    typedef kn_complex_of<A, B> C;
    return kn_divide(C(x), C(y));
}

template <class A, class B>
__device__ __forceinline__ kn_complex_of<A, B> operator/(const complex<A> &x, B y) {
    return kn_complex_of<A, B>(x.re / y, x.im / y);
}

template <class A, class B>
__device__ __forceinline__ kn_complex_of<A, B> operator/(A x, const complex<B> &y) {
    typedef kn_complex_of<A, B> C;
    return kn_divide(C(x), C(y));
}

template <class A, class B>
__device__ __forceinline__ bool operator==(const complex<A> &x, const complex<B> &y) {
    return x.re == y.re && x.im == y.im;
}
template <class A, class B>
__device__ __forceinline__ bool operator==(const complex<A> &x, B y) {
    return x.re == y && x.im == 0;
}
template <class A, class B>
__device__ __forceinline__ bool operator==(A x, const complex<B> &y) {
    return x == y.re && y.im == 0;
}
template <class A, class B>
__device__ __forceinline__ bool operator!=(const complex<A> &x, const complex<B> &y) {
    return !(x == y);
}
template <class A, class B>
__device__ __forceinline__ bool operator!=(const complex<A> &x, B y) {
    return !(x == y);
}
template <class A, class B>
__device__ __forceinline__ bool operator!=(A x, const complex<B> &y) {
    return !(x == y);
}

// As NumPy orders them in arrays: by the real parts, then by the imaginary ones. Beside a NaN in any part nothing is in order.
#define KN_COMPLEX_ORDER(order, strictly)                                                                           \
    template <class A, class B>                                                                                     \
    __device__ __forceinline__ bool operator order(const complex<A> &x, const complex<B> &y) {                      \
        return (x.re strictly y.re && x.im == x.im && y.im == y.im) || (x.re == y.re && x.im order y.im);           \
    }                                                                                                               \
    template <class A, class B> __device__ __forceinline__ bool operator order(const complex<A> &x, B y) {          \
        return (x.re strictly y && x.im == x.im) || (x.re == y && x.im order 0);                                    \
    }                                                                                                               \
    template <class A, class B> __device__ __forceinline__ bool operator order(A x, const complex<B> &y) {          \
        return (x strictly y.re && y.im == y.im) || (x == y.re && 0 order y.im);                                    \
    }
KN_COMPLEX_ORDER(<, <)
KN_COMPLEX_ORDER(<=, <)
KN_COMPLEX_ORDER(>, >)
KN_COMPLEX_ORDER(>=, >)

template <class T> __device__ __forceinline__ T real(const complex<T> &z) { return z.re; }
template <class T> __device__ __forceinline__ T imag(const complex<T> &z) { return z.im; }
template <class T> __device__ __forceinline__ complex<T> conj(const complex<T> &z) { return complex<T>(z.re, -z.im); }
template <class T> __device__ __forceinline__ T norm(const complex<T> &z) { return z.re * z.re + z.im * z.im; }
