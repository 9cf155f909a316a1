// Operands that lie in each other's gaps: what they have at one place is a word, from the lowest address on.
// needs: kn_interleaved

typedef unsigned short kn_word_2 __attribute__((may_alias, aligned(1)));
typedef unsigned int kn_word_4 __attribute__((may_alias, aligned(1)));
typedef unsigned long long kn_word_8 __attribute__((may_alias, aligned(1)));

template <int bytes> struct kn_lane_bits;
template <> struct kn_lane_bits<1> { typedef unsigned char type; };
template <> struct kn_lane_bits<2> { typedef unsigned short type; };
template <> struct kn_lane_bits<4> { typedef unsigned int type; };

// The shift from a word's lowest bit to that of the element.
template <class T, class W> constexpr int kn_shift_of(int number) {
    return 8 * (int)sizeof(T) * (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? number : (int)(sizeof(W) / sizeof(T)) - 1 - number);
}

template <class T, int number, class W> inline T kn_lane(W word) {
    return __builtin_bit_cast(T, (typename kn_lane_bits<sizeof(T)>::type)(word >> kn_shift_of<T, W>(number)));
}

template <class W, class T, class... more> inline W kn_word_of(T first, more... others) {
    const T lane[] = {first, others...};
    W word = 0;
    for (int k = 0; k < (int)(sizeof(W) / sizeof(T)); ++k)
        word |= (W)__builtin_bit_cast(typename kn_lane_bits<sizeof(T)>::type, lane[k]) << kn_shift_of<T, W>(k);
    return word;
}
