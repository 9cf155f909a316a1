// float16: two bytes in memory, float32 in arithmetic, rounded to nearest even when it is stored.
// needs: float16
// with: real

// float16 = bfloat16 is an assignment alone: were there conversions both ways, `c ? x : y` of the two could not tell which.
struct bfloat16;
template <class T> struct kn_float16_from {};
template <> struct kn_float16_from<bfloat16> { typedef struct float16 &type; };

struct float16 {
    unsigned short bits;

    float16() = default;
#ifdef __aarch64__
    float16(float x) : bits(__builtin_bit_cast(unsigned short, (__fp16)x)) {}
    operator float() const { return __builtin_bit_cast(__fp16, bits); }
#else
    // In integers and without branches, so that loops become vectors: the compilers convert _Float16 one by one.
    float16(float x) {
        int u = __builtin_bit_cast(int, x), sign = u >> 16 & 0x8000;
        u &= 0x7fffffff;
        int subnormal = __builtin_bit_cast(int, __builtin_bit_cast(float, u) + 0.5f) - 0x3f000000;
        int normal = (u - 0x37fff001 + (u >> 13 & 1)) >> 13;
        int special = u > 0x7f800000 ? 0x7e00 : 0x7c00;
        bits = sign | choose(u < 0x38800000, subnormal, u < 0x477ff000 ? normal : special);
    }
    operator float() const {
        int u = (bits & 0x7fff) << 13, exponent = u & 0x0f800000;
        float subnormal = __builtin_bit_cast(float, u + 0x38800000) - 0x1p-14f;
        int x = choose(exponent == 0, __builtin_bit_cast(int, subnormal), exponent == 0x0f800000 ? u + 0x70000000 : u + 0x38000000);
        return __builtin_bit_cast(float, x | (bits & 0x8000) << 16);
    }
#endif
    // Bits that float32 cannot hold are cut off and set its last bit, so that only the second rounding counts.
    float16(double x) : float16(odd((float)x, x)) {}
    // Beyond 2^24 all of them are infinite here, so that rounding twice makes no difference.
    float16(int x) : float16((float)x) {}
    float16(unsigned int x) : float16((float)x) {}
    float16(long x) : float16((float)x) {}
    float16(unsigned long x) : float16((float)x) {}
    float16(long long x) : float16((float)x) {}
    float16(unsigned long long x) : float16((float)x) {}

    template <class T> typename kn_float16_from<T>::type operator=(T x) { return *this = (float)x; }
    template <class T> float16 &operator+=(T x) { return *this = (float)*this + x; }
    template <class T> float16 &operator-=(T x) { return *this = (float)*this - x; }
    template <class T> float16 &operator*=(T x) { return *this = (float)*this * x; }
    template <class T> float16 &operator/=(T x) { return *this = (float)*this / x; }

private:
    // By bits: what floating-point arithmetic has given is computed in a branch otherwise, and gcc makes no vectors of that.
    static int choose(bool is_first, int first, int second) { return second ^ ((first ^ second) & -(int)is_first); }
    static float odd(float nearest, double x) {
        int beyond = __builtin_fabs((double)nearest) > __builtin_fabs(x);
        int inexact = nearest != x;
        return __builtin_bit_cast(float, (__builtin_bit_cast(int, nearest) - beyond) | inexact);
    }
};
template <> struct kn_real<float16> { typedef float type; };

// So many elements as float32, and back, by whole vectors where processors convert these: memory of float32 goes on for a vector behind them.
#if defined(__F16C__)
typedef short kn_eight_halves __attribute__((vector_size(16)));
typedef float kn_eight_floats __attribute__((vector_size(32)));
inline void kn_widen_eight(float *to, const void *from) {
    kn_eight_halves halves;
    __builtin_memcpy(&halves, from, 16);
    const kn_eight_floats floats = __builtin_ia32_vcvtph2ps256(halves);
    __builtin_memcpy(to, &floats, 32);
}
inline void kn_narrow_eight(void *to, const float *from) {
    kn_eight_floats floats;
    __builtin_memcpy(&floats, from, 32);
    const kn_eight_halves halves = __builtin_ia32_vcvtps2ph256(floats, 0); // to nearest even
    __builtin_memcpy(to, &halves, 16);
}
// One to four of them as they lie, in the low bits: pieces that are stored and read again as a whole would stall the processor.
inline unsigned long long kn_few_halves(const float16 *from, long long count) {
    unsigned long long all = 0;
    unsigned int two = 0;
    unsigned short last;
    if (count == 4) {
        __builtin_memcpy(&all, from, 8);
        return all;
    }
    if (count > 1)
        __builtin_memcpy(&two, from, 4);
    __builtin_memcpy(&last, from + count - 1, 2);
    return two | (unsigned long long)last << 16 * (count - 1);
}
inline void kn_put_few_halves(float16 *to, unsigned long long all, long long count) {
    const unsigned int two = (unsigned int)all;
    const unsigned short last = (unsigned short)(all >> 16 * (count - 1));
    if (count == 4)
        __builtin_memcpy(to, &all, 8);
    if (count == 2 || count == 3)
        __builtin_memcpy(to, &two, 4);
    __builtin_memcpy(to + count - 1, &last, 2);
}
// The last vector ends with them; fewer than eight are put together.
inline void kn_widen(float *to, const float16 *from, long long count) {
    long long at = 0;
    for (; at + 8 <= count; at += 8)
        kn_widen_eight(to + at, from + at);
    if (at < count && at > 0) {
        kn_widen_eight(to + count - 8, from + count - 8);
    } else if (at < count) {
        const unsigned long long few[2] = {kn_few_halves(from, count < 4 ? count : 4), count > 4 ? kn_few_halves(from + 4, count - 4) : 0};
        kn_widen_eight(to, few);
    }
}
inline void kn_narrow(float16 *to, const float *from, long long count) {
    long long at = 0;
    for (; at + 8 <= count; at += 8)
        kn_narrow_eight(to + at, from + at);
    if (at < count && at > 0) {
        kn_narrow_eight(to + count - 8, from + count - 8);
    } else if (at < count) {
        unsigned long long few[2];
        kn_narrow_eight(few, from);
        kn_put_few_halves(to, few[0], count < 4 ? count : 4);
        if (count > 4)
            kn_put_few_halves(to + 4, few[1], count - 4);
    }
}
#else
inline void kn_widen(float *to, const float16 *from, long long count) {
KN_INDEPENDENT
    for (long long k = 0; k < count; ++k)
        to[k] = from[k];
}
inline void kn_narrow(float16 *to, const float *from, long long count) {
KN_INDEPENDENT
    for (long long k = 0; k < count; ++k)
        to[k] = from[k];
}
#endif
