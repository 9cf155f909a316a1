// needs: kn_fixed_size kn_fixed kn_fixed_real kn_unfixed kn_arrived
// with: cast
// Sums of floats whose order does not matter: numbers become whole multiples of a unit, which follows from the largest one of their sum, and whose sums are exact. A number has one digit of
// 30 bits below the largest one's leading bit, a float64 two: more than it has itself. The words of sizes are in the order of absolute values; behind them is infinity, then NaN.
template <int Size> struct kn_fixed_of { typedef double real; typedef unsigned long long bits; enum { mantissa = 52, bias = 1023 }; };
template <> struct kn_fixed_of<4> { typedef float real; typedef unsigned bits; enum { mantissa = 23, bias = 127 }; };
enum { kn_fixed_bits = 30 };

// Words of 32 bits are of float32, others of float64.
template <class Word> using kn_fixed_real = typename kn_fixed_of<sizeof(Word)>::real;
template <class Word> __device__ __forceinline__ Word kn_fixed_infinity() {
    return (Word)(2 * kn_fixed_of<sizeof(Word)>::bias + 1) << kn_fixed_of<sizeof(Word)>::mantissa;
}
template <class Word> __device__ __forceinline__ Word kn_fixed_size(const kn_fixed_real<Word> x) {
    return (Word)(kn_cast_bits<typename kn_fixed_of<sizeof(Word)>::bits>(x) & ~((Word)1 << (8 * sizeof(Word) - 1)));
}
// 2^k, for a k whose power is a normal number.
template <class Word> __device__ __forceinline__ kn_fixed_real<Word> kn_fixed_power(const int k) {
    typedef kn_fixed_of<sizeof(Word)> of;
    return kn_cast_bits<typename of::real>((typename of::bits)((typename of::bits)(k + of::bias) << of::mantissa));
}
template <class Word> __device__ __forceinline__ kn_fixed_real<Word> kn_fixed_times(const kn_fixed_real<Word> x, const int k) {
    return x * kn_fixed_power<Word>(k / 2) * kn_fixed_power<Word>(k - k / 2);
}
// The power of two that is the unit.
template <class Word> __device__ __forceinline__ int kn_fixed_exponent(const Word most) {
    const int exponent = (int)(most >> kn_fixed_of<sizeof(Word)>::mantissa);
    return (exponent > 0 ? exponent : 1) - (kn_fixed_of<sizeof(Word)>::bias - 1) - kn_fixed_bits;
}

// A digit of a number in the unit of its bin, of which `most` has the size of its largest one. Where that is infinite, positive ones are counted in the lower half of a word, and negative ones
// in the upper half.
template <int Digit, class Word, class Most> __device__ __forceinline__ long long kn_fixed(const kn_fixed_real<Word> x, const Most &most, const long long bin) {
    /* No branch, so that a thread asks for several at once; of a bin that is not there the result is not used. */
    const Word largest = most[bin >= 0 && bin < most.size() ? bin : 0];
    const long long of_infinite = Digit > 0 || kn_fixed_size<Word>(x) != kn_fixed_infinity<Word>() ? 0 : x > 0 ? 1 : 1ll << 32;
    const kn_fixed_real<Word> in_units = kn_fixed_times<Word>(x, -kn_fixed_exponent(largest)), high = rint(in_units);
    const long long of_finite = Digit == 0 ? (long long)(int)high : (long long)(int)rint((in_units - high) * kn_fixed_power<Word>(kn_fixed_bits));
    return largest >= kn_fixed_infinity<Word>() ? of_infinite : of_finite;
}
// The number that sums of both digits are; of a float32 there is the first one alone.
template <class Word> __device__ __forceinline__ kn_fixed_real<Word> kn_unfixed(const long long high, const long long low, const Word most) {
    typedef kn_fixed_real<Word> real;
    if (most >= kn_fixed_infinity<Word>()) {
        const bool has_plus = (unsigned)high != 0, has_minus = (unsigned long long)high >> 32 != 0;
        const real infinity = kn_cast_bits<real>((typename kn_fixed_of<sizeof(Word)>::bits)kn_fixed_infinity<Word>());
        return most > kn_fixed_infinity<Word>() || (has_plus && has_minus) ? infinity - infinity : has_plus ? infinity : has_minus ? -infinity : (real)0;
    }
    if constexpr (sizeof(Word) == 4) {
        return (real)((double)high * kn_fixed_power<unsigned long long>(kn_fixed_exponent(most)));
    } else {
        const long long upper = high >> kn_fixed_bits, rest = ((high - (upper << kn_fixed_bits)) << kn_fixed_bits) + low;
        return kn_fixed_times<Word>((real)upper * kn_fixed_power<Word>(kn_fixed_bits) + (real)rest * kn_fixed_power<Word>(-kn_fixed_bits), kn_fixed_exponent(most));
    }
}
// A sum whose elements are added in the order in which they arrive.
template <class T> __device__ __forceinline__ T kn_arrived(const T &a, const T &b) {
    return a + b;
}
