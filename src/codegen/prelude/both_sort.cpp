// needs: kn_sort_key kn_sort_low_bits kn_sort_after kn_sort_value kn_sort_byte kn_sort_bytes
// with: cast
// Keys of sorts: unsigned integers in the order of the elements. NaN of either sign comes last, also where the order is descending (Down), and -0 is equal to 0. Complex
// numbers as in NumPy: those without NaN, then those whose imaginary part is NaN, their real part, both. Part 1 is the lower half of a key that is wider than 64 bits.

template <class T> struct kn_sort_integer { enum { is = 0, is_signed = 0 }; };
template <> struct kn_sort_integer<bool> { enum { is = 1, is_signed = 0 }; };
template <> struct kn_sort_integer<char> { enum { is = 1, is_signed = (char)-1 < 0 }; };
template <> struct kn_sort_integer<signed char> { enum { is = 1, is_signed = 1 }; };
template <> struct kn_sort_integer<unsigned char> { enum { is = 1, is_signed = 0 }; };
template <> struct kn_sort_integer<short> { enum { is = 1, is_signed = 1 }; };
template <> struct kn_sort_integer<unsigned short> { enum { is = 1, is_signed = 0 }; };
template <> struct kn_sort_integer<int> { enum { is = 1, is_signed = 1 }; };
template <> struct kn_sort_integer<unsigned> { enum { is = 1, is_signed = 0 }; };
template <> struct kn_sort_integer<long> { enum { is = 1, is_signed = 1 }; };
template <> struct kn_sort_integer<unsigned long> { enum { is = 1, is_signed = 0 }; };
template <> struct kn_sort_integer<long long> { enum { is = 1, is_signed = 1 }; };
template <> struct kn_sort_integer<unsigned long long> { enum { is = 1, is_signed = 0 }; };

template <int Size> struct kn_sort_bits { typedef unsigned long long type; };
template <> struct kn_sort_bits<1> { typedef unsigned char type; };
template <> struct kn_sort_bits<2> { typedef unsigned short type; };
template <> struct kn_sort_bits<4> { typedef unsigned type; };

template <class Real> struct kn_sort_pair { Real re, im; };

template <bool Down, class T> static __device__ __forceinline__ typename kn_sort_bits<sizeof(T)>::type kn_sort_real(const T x) {
    typedef typename kn_sort_bits<sizeof(T)>::type bits;
    const bits sign = (bits)((bits)1 << (8 * sizeof(T) - 1)), all = (bits)~(bits)0;
    bits key = kn_cast_bits<bits>(x);
    if constexpr (kn_sort_integer<T>::is) {
        key = kn_sort_integer<T>::is_signed ? key ^ sign : key;
        return Down ? (bits)~key : key;
    }
#ifdef __CUDA_ARCH__
    /* 0 added to a float32 makes -0 one of it, and every NaN 0x7fffffff: keys of numbers that are not descending, and one less where they are. */
    if constexpr (sizeof(T) == 4 && !kn_sort_integer<T>::is) {
        asm("add.rn.f32 %0, %1, 0f00000000;" : "=r"(key) : "f"(x));
        key ^= (bits)((int)key >> 31) | sign;
        return Down ? (bits)~key - 1 : key;
    }
#endif
    if (x != x)
        return all;
    key = key == sign ? 0 : key;
    key = key & sign ? (bits)~key : (bits)(key | sign);
    return Down ? (bits)~key : key;
}

template <bool Down, int Part, class Real> static __device__ __forceinline__ typename kn_sort_bits<sizeof(Real)>::type kn_sort_half(const Real re, const Real im) {
    typedef typename kn_sort_bits<sizeof(Real)>::type bits;
    const bool is_re = re != re, is_im = im != im;
    if constexpr (Part == 0)
        return is_re || is_im ? (bits) ~(bits)(is_re && is_im ? 0 : is_re ? 1 : 2) : kn_sort_real<Down>(re);
    else
        return is_im ? is_re ? (bits)0 : kn_sort_real<Down>(re) : kn_sort_real<Down>(im);
}

// Types of 8 and 16 bytes that are neither integers nor float64 are complex.
template <class T> struct kn_sort_is_complex { enum { is = !kn_sort_integer<T>::is && sizeof(T) >= 8 }; };
template <> struct kn_sort_is_complex<double> { enum { is = 0 }; };

template <bool Down, int Part, class T> static __device__ __forceinline__ typename kn_sort_bits<sizeof(T)>::type kn_sort_key(const T x) {
    if constexpr (!kn_sort_is_complex<T>::is) {
        return kn_sort_real<Down>(x);
    } else if constexpr (sizeof(T) == 8) {
        const kn_sort_pair<float> pair = kn_cast_bits<kn_sort_pair<float>>(x);
        return (unsigned long long)kn_sort_half<Down, 0>(pair.re, pair.im) << 32 | kn_sort_half<Down, 1>(pair.re, pair.im);
    } else {
        const kn_sort_pair<double> pair = kn_cast_bits<kn_sort_pair<double>>(x);
        return kn_sort_half<Down, Part>(pair.re, pair.im);
    }
}

// 32 bits of a key, from one of its own bits on: without the guard that shifts of users' texts have.
template <class Bits> static __device__ __forceinline__ unsigned kn_sort_low_bits(const Bits key, const int shift) {
    return (unsigned)(key >> (shift & (sizeof(Bits) == 8 ? 63 : 31)));
}
// A search for the key at a place: the next digit of a key that has the digits before, else -1.
template <class Bits> static __device__ __forceinline__ int kn_sort_digit(const Bits key, const unsigned long long prefix, const int shift) {
    const Bits rest = (Bits)(key ^ (Bits)prefix);
    return rest >> shift >> 8 ? -1 : (int)((unsigned)(key >> shift) & 255u);
}
// 1 for a key before that one, 2^32 for an equal one: sums count both.
template <class Bits> static __device__ __forceinline__ long long kn_sort_side(const Bits key, const unsigned long long of) {
    return key < (Bits)of ? 1ll : key == (Bits)of ? 1ll << 32 : 0ll;
}
// The next key behind one is the minimum of these; 0, which no real number has, tells of NaN.
template <class T> static __device__ __forceinline__ unsigned long long kn_sort_after(const T x, const unsigned long long of) {
    typedef typename kn_sort_bits<sizeof(T)>::type bits;
    const bits key = kn_sort_real<false>(x);
    return x != x ? 0 : key > (bits)of ? (unsigned long long)key : ~0ull;
}
// The element that has a key of kn_sort_real: an integer or a real number.
template <class T, bool Down = false> static __device__ __forceinline__ T kn_sort_value(const unsigned long long of) {
    typedef typename kn_sort_bits<sizeof(T)>::type bits;
    const bits sign = (bits)((bits)1 << (8 * sizeof(T) - 1));
    bits key = (bits)of;
#ifdef __CUDA_ARCH__
    if constexpr (Down && sizeof(T) == 4 && !kn_sort_integer<T>::is)
        ++key;
#endif
    key = Down ? (bits)~key : key;
    if constexpr (kn_sort_integer<T>::is)
        return kn_cast_bits<T>((bits)(kn_sort_integer<T>::is_signed ? key ^ sign : key));
    return kn_cast_bits<T>((bits)(key & sign ? key ^ sign : ~key));
}

// The byte at a place of a sorted row: the last of 256 values whose first place, of which `starts` has those of each row, is not behind it.
template <class Starts> static __device__ __forceinline__ unsigned kn_sort_byte(const Starts &starts, const long long row, const long long at) {
    unsigned value = 0;
    for (unsigned by = 128; by > 0; by /= 2)
        value += (long long)starts[row * 256 + value + by] <= at ? by : 0;
    return value;
}
// Eight of them, of one row alone.
template <class Starts> static __device__ __forceinline__ unsigned long long kn_sort_bytes(const Starts &starts, const long long at) {
    unsigned value = kn_sort_byte(starts, 0, at);
    if (value == 255 || (long long)starts[value + 1] > at + 7)
        return value * 0x0101010101010101ull;
    unsigned long long bytes = 0;
    for (int k = 0; k < 8; ++k) {
        while (value < 255 && (long long)starts[value + 1] <= at + k)
            ++value;
        bytes |= (unsigned long long)value << 8 * k;
    }
    return bytes;
}
