// bfloat16: two bytes in memory, float32 in arithmetic, rounded to nearest even when it is stored.
// needs: bfloat16
// with: real

// bfloat16 = float16 is an assignment alone: were there conversions both ways, `c ? x : y` of the two could not tell which.
struct float16;
template <class T> struct kn_bfloat16_from {};
template <> struct kn_bfloat16_from<float16> { typedef struct bfloat16 &type; };

struct bfloat16 {
    unsigned short bits;

    bfloat16() = default;
    bfloat16(float x) {
        unsigned int u = __builtin_bit_cast(unsigned int, x);
        u = x == x ? u + 0x7fff + (u >> 16 & 1) : u | 0x400000; // one width throughout: vectors are not taken apart
        bits = (unsigned short)(u >> 16);
    }
    // Bits that float32 cannot hold are cut off and set its last bit, so that only the second rounding counts.
    bfloat16(double x) : bfloat16(odd((float)x, x)) {}
    bfloat16(int x) : bfloat16((double)x) {}
    bfloat16(unsigned int x) : bfloat16((double)x) {}
    bfloat16(long x) : bfloat16((long long)x) {}
    bfloat16(unsigned long x) : bfloat16((unsigned long long)x) {}
    // The lowest eleven bits, which float64 may not hold, become one.
    bfloat16(long long x) : bfloat16(x < 0 ? -(double)reduce(0ull - x) : (double)reduce(x)) {}
    bfloat16(unsigned long long x) : bfloat16((double)reduce(x)) {}

    operator float() const { return __builtin_bit_cast(float, (unsigned int)bits << 16); }

    template <class T> typename kn_bfloat16_from<T>::type operator=(T x) { return *this = (float)x; }
    template <class T> bfloat16 &operator+=(T x) { return *this = (float)*this + x; }
    template <class T> bfloat16 &operator-=(T x) { return *this = (float)*this - x; }
    template <class T> bfloat16 &operator*=(T x) { return *this = (float)*this * x; }
    template <class T> bfloat16 &operator/=(T x) { return *this = (float)*this / x; }

private:
    static float odd(float nearest, double x) {
        int beyond = __builtin_fabs((double)nearest) > __builtin_fabs(x);
        int inexact = nearest != x;
        return __builtin_bit_cast(float, (__builtin_bit_cast(int, nearest) - beyond) | inexact);
    }
    static unsigned long long reduce(unsigned long long x) {
        return x >> 32 ? (x & ~0x7ffull) | ((x & 0x7ff) != 0) << 11 : x;
    }
};
template <> struct kn_real<bfloat16> { typedef float type; };
