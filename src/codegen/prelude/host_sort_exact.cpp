// needs: kn_sort_exact kn_sort_element
// with: cast
// Keys of 4 and 8 bytes that are sorted alone (src/device/host_sort.c), and the elements that they are keys of. In the order of kn_sort_key, but each element has a key
// of its own: those of zeros are infinity's bits, -0's first in either order, or behind it, and NaN's come last.

template <class T> struct kn_sort_exactly {
    enum { is_float = (T)0.5 != (T)0, is_signed = (T)-1 < (T)0 };
};
template <int Size> struct kn_sort_exact_bits { typedef unsigned long long type; enum { mantissa = 52 }; };
template <> struct kn_sort_exact_bits<4> { typedef unsigned type; enum { mantissa = 23 }; };

template <bool Down, class T> static inline typename kn_sort_exact_bits<sizeof(T)>::type kn_sort_exact(const T x) {
    typedef typename kn_sort_exact_bits<sizeof(T)>::type bits;
    const bits sign = (bits)1 << (8 * sizeof(T) - 1);
    bits key = kn_cast_bits<bits>(x);
    if constexpr (!kn_sort_exactly<T>::is_float) {
        key = kn_sort_exactly<T>::is_signed ? key ^ sign : key;
        return Down ? ~key : key;
    } else {
        key = key & sign ? ~key : key | sign;
        return (Down ? ~key : key) - (((bits)1 << kn_sort_exact_bits<sizeof(T)>::mantissa) - 1); /* NaN that would come first are behind the others */
    }
}
template <bool Down, class T> static inline T kn_sort_element(typename kn_sort_exact_bits<sizeof(T)>::type key) {
    typedef typename kn_sort_exact_bits<sizeof(T)>::type bits;
    const bits sign = (bits)1 << (8 * sizeof(T) - 1);
    if constexpr (!kn_sort_exactly<T>::is_float) {
        key = Down ? ~key : key;
        return kn_cast_bits<T>(kn_sort_exactly<T>::is_signed ? key ^ sign : key);
    } else {
        key += ((bits)1 << kn_sort_exact_bits<sizeof(T)>::mantissa) - 1;
        key = Down ? ~key : key;
        return kn_cast_bits<T>(key & sign ? key ^ sign : ~key);
    }
}
