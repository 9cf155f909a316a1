// Random numbers by Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011): no state, each number is a function of a key and of the number i of its element. So both
// targets, all chips and all shapes of launches have the same ones. An element of up to 32 bits has one word of block i / 4, one of 64 bits two words of block
// i / 2. Functions that reject have blocks of the element's own besides, whose third word counts them. bits, random, uniform, normal and exponential ask for no
// function of a library that is not exact, so both targets have the same bits of them.
// needs: philox random_bits( random( uniform( integers( standard_normal( normal( standard_exponential( exponential( kn_random kn_random_short kn_random_integers_to
// with: math cast

typedef unsigned long long kn_word64;
struct kn_philox { unsigned word[4]; };

static __device__ __forceinline__ unsigned kn_high_product(unsigned x, unsigned y) {
#ifdef __CUDACC_RTC__
    return __umulhi(x, y);
#else
    return (unsigned)((kn_word64)x * y >> 32);
#endif
}

// The rounds keep the words in names of their own: indexed arrays are slow to compile. NVRTC adds a zero to the upper half of a product of two words as 64 bits (an
// instruction in each of twenty products), and none to the two halves by themselves; g++ has vectors for the former.
#ifdef __CUDACC_RTC__
#define KN_PHILOX_PRODUCT(high, low, x, factor) const unsigned high = kn_high_product(x, factor), low = x * factor;
#else
#define KN_PHILOX_PRODUCT(high, low, x, factor) \
    const kn_word64 both_##low = (kn_word64)x * factor; \
    const unsigned high = (unsigned)(both_##low >> 32), low = (unsigned)both_##low;
#endif
static __device__ __forceinline__ kn_philox kn_philox_block(kn_word64 key, kn_word64 low, kn_word64 high) {
    unsigned a = (unsigned)low, b = (unsigned)(low >> 32), c = (unsigned)high, d = (unsigned)(high >> 32);
    unsigned k = (unsigned)key, l = (unsigned)(key >> 32);
#define KN_PHILOX_ROUND                                                                   \
    {                                                                                     \
        KN_PHILOX_PRODUCT(high_of_a, low_of_a, a, 0xD2511F53u)                            \
        KN_PHILOX_PRODUCT(high_of_c, low_of_c, c, 0xCD9E8D57u)                            \
        a = high_of_c ^ b ^ k, b = low_of_c;                                              \
        c = high_of_a ^ d ^ l, d = low_of_a;                                              \
        k += 0x9E3779B9u, l += 0xBB67AE85u;                                               \
    }
    KN_PHILOX_ROUND KN_PHILOX_ROUND KN_PHILOX_ROUND KN_PHILOX_ROUND KN_PHILOX_ROUND
    KN_PHILOX_ROUND KN_PHILOX_ROUND KN_PHILOX_ROUND KN_PHILOX_ROUND KN_PHILOX_ROUND
    return {{a, b, c, d}};
}
#undef KN_PHILOX_ROUND
#undef KN_PHILOX_PRODUCT

// A key, and the block that the thread computed last: that of a neighbour may have an element's words too. codegen puts `kn_drawn_0 = ` in front of the key where a
// text for CUDA draws: each place has a block. On the host, where neighbours are computed at once, and behind kn_alone, a key is the number alone.
struct kn_drawn_block;
struct kn_drawn_key {
    kn_word64 key;
    kn_drawn_block *last; // NULL: there is none
    __device__ __forceinline__ kn_drawn_key(kn_word64 of, kn_drawn_block *block = nullptr) : key(of), last(block) {}
    __device__ __forceinline__ operator kn_word64() const { return key; }
};
struct kn_drawn_block {
    kn_word64 key, low = ~0ull; // no block's number
    unsigned pair = 0;          // of normal numbers: none
    kn_philox block;
    float first, second; // a pair's normal numbers
    double first64, second64;
    __device__ __forceinline__ kn_drawn_key operator=(kn_word64 of) { return {of, this}; }
    __device__ __forceinline__ bool is_other_pair(unsigned number) { return pair != number && (pair = number, true); }
};
static __device__ __forceinline__ kn_word64 kn_alone(kn_word64 key) { return key; }

// The block of an element, of which there are 2^Shift.
template <int Shift> __device__ __forceinline__ kn_philox kn_philox_of(kn_drawn_key key, kn_word64 i) {
    const kn_word64 low = i >> Shift;
    if (!key.last)
        return kn_philox_block(key, low, 0);
    if (key.last->low != low || key.last->key != key.key)
        key.last->block = kn_philox_block(key, low, 0), key.last->key = key, key.last->low = low, key.last->pair = 0;
    return key.last->block;
}

static __device__ __forceinline__ unsigned kn_random_word(kn_drawn_key key, kn_word64 i) {
    const kn_philox r = kn_philox_of<2>(key, i);
    const unsigned even = i & 2 ? r.word[2] : r.word[0], odd = i & 2 ? r.word[3] : r.word[1];
    return i & 1 ? odd : even;
}
static __device__ __forceinline__ kn_word64 kn_random_word64(kn_drawn_key key, kn_word64 i) {
    const kn_philox r = kn_philox_of<1>(key, i);
    return i & 1 ? (kn_word64)r.word[3] << 32 | r.word[2] : (kn_word64)r.word[1] << 32 | r.word[0];
}

// Numbers from words, computed in float or double: `fraction` is in [0, 1), `positive` in (0, 1), or up to 1 where a float cannot tell.
template <class R> struct kn_random {
    typedef float real;
    static __device__ __forceinline__ unsigned word(kn_drawn_key key, kn_word64 i) { return kn_random_word(key, i); }
    static __device__ __forceinline__ float fraction(unsigned w) { return (float)(w >> 8) * 0x1p-24f; }
    static __device__ __forceinline__ float positive(unsigned w) { return fmaf((float)w, 0x1p-32f, 0x1p-33f); }
    // The logarithm of x in (0, 1]: a polynomial of the mantissa less 1, where that is from sqrt(1/2) to sqrt(2).
    static __device__ __forceinline__ float log_of(float x) {
        const unsigned bits = kn_cast_bits<unsigned>(x), power = (bits - 0x3f3504f3u) & 0xff800000u;
        const float exponent = (float)(int)power; // 2^23 times of it
        const float t = kn_cast_bits<float>(bits - power) - 1.0f;
        float p = -0x1.38b4ccp-4f;
        p = fmaf(p, t, 0x1.055b46p-3f), p = fmaf(p, t, -0x1.0d8552p-3f), p = fmaf(p, t, 0x1.22da22p-3f), p = fmaf(p, t, -0x1.547244p-3f);
        p = fmaf(p, t, 0x1.99a008p-3f), p = fmaf(p, t, -0x1.000228p-2f), p = fmaf(p, t, 0x1.555554p-2f);
        return fmaf(exponent, 0x1.62e43p-24f, fmaf(t * t, fmaf(t, p, -0.5f), t));
    }
    // Cosine, or sine, of the angle w / 2^32 of a turn: of what is left of it in its quarter, from -1/8 to 1/8 of a turn.
    static __device__ __forceinline__ float circle(unsigned w, bool is_sine) {
        const float x = (float)(int)(w << 2) * 0x1.921fb6p-32f, z = x * x;
        const float s = fmaf(x * z, fmaf(z, fmaf(z, -0x1.994eb2p-13f, 0x1.11076p-7f), -0x1.555546p-3f), x);
        const float c = fmaf(z * z, fmaf(z, fmaf(z, 0x1.9a0258p-16f, -0x1.6c0c8cp-10f), 0x1.55554ap-5f), fmaf(z, -0.5f, 1.0f));
        const unsigned turn = is_sine ? w + 0xe0000000u : w + 0x20000000u; // its upper two bits: the quarter
        const float size = turn & 0x40000000u ? s : c;
        return kn_cast_bits<float>(kn_cast_bits<unsigned>(size) ^ ((turn + 0x40000000u) & 0x80000000u));
    }
    // The root of 0, or of a number from 2^-100 on, correctly rounded as sqrtf is, which has a branch for the others.
    static __device__ __forceinline__ float root_of(float x) {
#ifdef __CUDACC_RTC__
        float inverse;
        asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(fmaxf(x, 0x1p-100f)));
        const float root = x * inverse;
        return fmaf(fmaf(-root, root, x), inverse * 0.5f, root);
#else
        return sqrtf(x);
#endif
    }
    // Two words give two normal numbers, by their polar coordinates (Annals of Mathematical Statistics 29, 1958, page 610). The two belong to neighbouring elements.
    static __device__ __forceinline__ float normal(unsigned radius, unsigned angle, bool is_second) {
        return root_of(-2.0f * log_of(positive(radius))) * circle(angle, is_second);
    }
    static __device__ __forceinline__ float normal_at(kn_drawn_key key, kn_word64 i) {
        const kn_philox r = kn_philox_of<2>(key, i);
        const unsigned radius = i & 2 ? r.word[2] : r.word[0], angle = i & 2 ? r.word[3] : r.word[1];
        if (!key.last)
            return normal(radius, angle, i & 1);
        if (key.last->is_other_pair(1 + (i >> 1 & 1)))
            key.last->first = normal(radius, angle, false), key.last->second = normal(radius, angle, true);
        return i & 1 ? key.last->second : key.last->first;
    }
    static __device__ __forceinline__ float normal_of(const kn_philox &r) { return normal(r.word[0], r.word[1], false); }
    static __device__ __forceinline__ unsigned second(const kn_philox &r) { return r.word[1]; }
    static __device__ __forceinline__ void two(const kn_philox &r, float *u, float *v) { *u = positive(r.word[0]), *v = positive(r.word[1]); }
};
template <> struct kn_random<double> {
    typedef double real;
    static __device__ __forceinline__ kn_word64 word(kn_drawn_key key, kn_word64 i) { return kn_random_word64(key, i); }
    static __device__ __forceinline__ double fraction(kn_word64 w) { return (double)(long long)(w >> 11) * 0x1p-53; }
    static __device__ __forceinline__ double positive(kn_word64 w) { return fma((double)(long long)(w >> 12), 0x1p-52, 0x1p-53); }
    // By the series of the inverse hyperbolic tangent.
    static __device__ __forceinline__ double log_of(double x) {
        const kn_word64 bits = kn_cast_bits<kn_word64>(x) + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
        const double exponent = (double)((int)(bits >> 52) - 1023);
        const double t = kn_cast_bits<double>((bits & 0xfffffffffffffu) + 0x3fe6a09e667f3bcdu) - 1.0;
        const double s = t / (t + 2.0), z = s * s;
        double p = 2.0 / 21;
        p = fma(p, z, 2.0 / 19), p = fma(p, z, 2.0 / 17), p = fma(p, z, 2.0 / 15), p = fma(p, z, 2.0 / 13), p = fma(p, z, 2.0 / 11);
        p = fma(p, z, 2.0 / 9), p = fma(p, z, 2.0 / 7), p = fma(p, z, 2.0 / 5), p = fma(p, z, 2.0 / 3);
        return fma(exponent, 0x1.62e42fefa39efp-1, fma(s * z, p, 2.0 * s));
    }
    static __device__ __forceinline__ double circle(kn_word64 w, bool is_sine) {
        const kn_word64 quarter = (w + 0x2000000000000000u) >> 62;
        const double x = (double)(long long)(w - (quarter << 62)) * 0x1.921fb54442d18p-62, z = x * x;
        double s = -1.0 / 1307674368000, c = -1.0 / 87178291200;
        s = fma(s, z, 1.0 / 6227020800), s = fma(s, z, -1.0 / 39916800), s = fma(s, z, 1.0 / 362880), s = fma(s, z, -1.0 / 5040);
        s = fma(s, z, 1.0 / 120), s = fma(s, z, -1.0 / 6), s = fma(x * z, s, x);
        c = fma(fma(1.0 / 20922789888000, z, c), z, 1.0 / 479001600), c = fma(c, z, -1.0 / 3628800), c = fma(c, z, 1.0 / 40320);
        c = fma(c, z, -1.0 / 720), c = fma(c, z, 1.0 / 24), c = fma(z * z, c, fma(z, -0.5, 1.0));
        const kn_word64 turn = is_sine ? quarter + 3 : quarter;
        const double size = turn & 1 ? s : c;
        return (turn + 1) & 2 ? -size : size;
    }
    static __device__ __forceinline__ double normal(kn_word64 radius, kn_word64 angle, bool is_second) {
        return sqrt(-2.0 * log_of(positive(radius))) * circle(angle, is_second);
    }
    static __device__ __forceinline__ double normal_pair(const kn_philox &r, bool is_second) {
        return normal((kn_word64)r.word[1] << 32 | r.word[0], (kn_word64)r.word[3] << 32 | r.word[2], is_second);
    }
    static __device__ __forceinline__ double normal_at(kn_drawn_key key, kn_word64 i) {
        const kn_philox r = kn_philox_of<1>(key, i);
        if (!key.last)
            return normal_pair(r, i & 1);
        if (key.last->is_other_pair(3)) // a block is one pair
            key.last->first64 = normal_pair(r, false), key.last->second64 = normal_pair(r, true);
        return i & 1 ? key.last->second64 : key.last->first64;
    }
    static __device__ __forceinline__ double normal_of(const kn_philox &r) { return normal_pair(r, false); }
    static __device__ __forceinline__ kn_word64 second(const kn_philox &r) { return (kn_word64)r.word[3] << 32 | r.word[2]; }
    static __device__ __forceinline__ void two(const kn_philox &r, double *u, double *v) {
        *u = positive((kn_word64)r.word[1] << 32 | r.word[0]), *v = positive((kn_word64)r.word[3] << 32 | r.word[2]);
    }
};

// The blocks that an element has for itself.
template <class R> struct kn_random_source {
    typedef typename kn_random<R>::real real;
    kn_word64 key, i, count;
    __device__ __forceinline__ kn_philox block() { return kn_philox_block(key, i, ++count); }
    __device__ __forceinline__ real normal() { return kn_random<R>::normal_of(block()); }
    __device__ __forceinline__ void two(real *u, real *v) { kn_random<R>::two(block(), u, v); }
};

// Numbers below `count`, each as likely (0: 2^64 of them): the upper half of a product, unless the lower half is one that some have once more than others (Lemire).
static __device__ __forceinline__ kn_word64 kn_random_below(kn_drawn_key key, kn_word64 i, kn_word64 count) {
    if (count - 1 < 0xffffffffu) {
        const unsigned n = (unsigned)count;
        kn_word64 product = (kn_word64)kn_random_word(key, i) * n;
        if ((unsigned)product < n) {
            kn_random_source<float> own = {key, i, 0};
            for (const unsigned least = (0u - n) % n; (unsigned)product < least;)
                product = (kn_word64)own.block().word[0] * n;
        }
        return product >> 32;
    }
    if (count == 0x100000000u)
        return kn_random_word(key, i);
    kn_word64 w = kn_random_word64(key, i);
    if (count == 0)
        return w;
    kn_random_source<double> own = {key, i, 0};
    for (const kn_word64 least = (0ull - count) % count;;) {
#ifdef __CUDACC_RTC__
        const kn_word64 high = __umul64hi(w, count);
#else
        const kn_word64 high = (kn_word64)((unsigned __int128)w * count >> 64);
#endif
        if (w * count >= least)
            return high;
        const kn_philox r = own.block();
        w = (kn_word64)r.word[1] << 32 | r.word[0];
    }
}

// Bits: all of an integer's, which has its own word, or two.
template <class T, int Size> struct kn_random_bits {
    static __device__ __forceinline__ T at(kn_drawn_key key, kn_word64 i) { return (T)kn_random_word(key, i); }
};
template <class T> struct kn_random_bits<T, 8> {
    static __device__ __forceinline__ T at(kn_drawn_key key, kn_word64 i) { return (T)kn_random_word64(key, i); }
};

// Functions for snippets. Functions of the user's that bear such a name come first: these are templates, with parameters to spare.
#ifndef philox
template <class... Spare> __device__ __forceinline__ kn_philox philox(kn_word64 key, kn_word64 low, kn_word64 high, Spare...) { return kn_philox_block(key, low, high); }
#endif
#ifndef random_bits
template <class T = unsigned, class... Spare> __device__ __forceinline__ T random_bits(kn_drawn_key key, kn_word64 i, Spare...) { return kn_random_bits<T, sizeof(T)>::at(key, i); }
#endif
#ifndef random
template <class R = double, class... Spare> __device__ __forceinline__ R random(kn_drawn_key key, kn_word64 i, Spare...) {
    return (R)kn_random<R>::fraction(kn_random<R>::word(key, i));
}
#endif
#ifndef uniform
template <class R = double> __device__ __forceinline__ R uniform(kn_drawn_key key, kn_word64 i, typename kn_random<R>::real low = 0, typename kn_random<R>::real high = 1) {
    return (R)fma(high - low, kn_random<R>::fraction(kn_random<R>::word(key, i)), low);
}
#endif
#ifndef integers
template <class T = long long> __device__ __forceinline__ T integers(kn_drawn_key key, kn_word64 i, T low, T high) {
    return (T)((kn_word64)low + (low < high ? kn_random_below(key, i, (kn_word64)high - (kn_word64)low) : 0));
}
#endif
template <class T> __device__ __forceinline__ T kn_random_integers_to(kn_drawn_key key, kn_word64 i, T low, T last) {
    return (T)((kn_word64)low + (low < last ? kn_random_below(key, i, (kn_word64)last - (kn_word64)low + 1) : 0));
}
#ifndef standard_normal
template <class R = double, class... Spare> __device__ __forceinline__ R standard_normal(kn_drawn_key key, kn_word64 i, Spare...) { return (R)kn_random<R>::normal_at(key, i); }
#endif
#ifndef normal
template <class R = double> __device__ __forceinline__ R normal(kn_drawn_key key, kn_word64 i, typename kn_random<R>::real mean = 0, typename kn_random<R>::real deviation = 1) {
    return (R)fma(kn_random<R>::normal_at(key, i), deviation, mean);
}
#endif
// Numbers whose logarithm is not far from 0 have all of their bits.
template <class R> __device__ __forceinline__ typename kn_random<R>::real kn_random_log(kn_drawn_key key, kn_word64 i) {
    return kn_random<R>::log_of(kn_random<R>::positive(kn_random<R>::word(key, i)));
}
#ifndef standard_exponential
template <class R = double, class... Spare> __device__ __forceinline__ R standard_exponential(kn_drawn_key key, kn_word64 i, Spare...) { return (R)-kn_random_log<R>(key, i); }
#endif
#ifndef exponential
template <class R = double> __device__ __forceinline__ R exponential(kn_drawn_key key, kn_word64 i, typename kn_random<R>::real scale = 1) {
    return (R)(-scale * kn_random_log<R>(key, i));
}
#endif
// As many bits of a word as a short float has.
template <int Bits> __device__ __forceinline__ float kn_random_short(kn_drawn_key key, kn_word64 i) {
    return (float)(kn_random_word(key, i) >> (32 - Bits)) * (1.0f / (1 << Bits));
}
