// CUDA's integer intrinsics.
// needs: __brev __brevll __byte_perm __clz __clzll __ffs __ffsll __funnelshift_l __funnelshift_lc __funnelshift_r
// needs: __funnelshift_rc __hadd __mul24 __mul64hi __mulhi __popc __popcll __rhadd __sad __uhadd __umul24 __umul64hi
// needs: __umulhi __urhadd __usad

inline int __popc(unsigned int x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }

// Halves, quarters and eighths swap places, then bytes.
inline unsigned int __brev(unsigned int x) {
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(x);
}
inline unsigned long long __brevll(unsigned long long x) {
    return (unsigned long long)__brev((unsigned int)x) << 32 | __brev((unsigned int)(x >> 32));
}

// Each digit of the selector takes a byte of y:x; its highest bit spreads the sign of that byte instead.
inline unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) {
    unsigned long long bytes = (unsigned long long)y << 32 | x;
    unsigned int result = 0;
    for (int k = 0; k < 4; ++k) {
        unsigned int digit = selector >> 4 * k & 15, byte = bytes >> 8 * (digit & 7) & 0xff;
        if (digit & 8)
            byte = byte & 0x80 ? 0xff : 0;
        result |= byte << 8 * k;
    }
    return result;
}

// A shift of high:low; the c forms stop at 32.
inline unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
    return ((unsigned long long)high << 32 | low) << (shift & 31) >> 32;
}
inline unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
    return ((unsigned long long)high << 32 | low) >> (shift & 31);
}
inline unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) {
    return shift < 32 ? __funnelshift_l(low, high, shift) : low;
}
inline unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) {
    return shift < 32 ? __funnelshift_r(low, high, shift) : high;
}

inline int __mulhi(int x, int y) { return (long long)x * y >> 32; }
inline unsigned int __umulhi(unsigned int x, unsigned int y) { return (unsigned long long)x * y >> 32; }
inline long long __mul64hi(long long x, long long y) { return (__int128)x * y >> 64; }
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return (unsigned __int128)x * y >> 64;
}
// Products of the lower 24 bits.
inline int __mul24(int x, int y) {
    return (unsigned int)((int)((unsigned int)x << 8) >> 8) * (unsigned int)((int)((unsigned int)y << 8) >> 8);
}
inline unsigned int __umul24(unsigned int x, unsigned int y) { return (x & 0xffffff) * (y & 0xffffff); }

inline unsigned int __sad(int x, int y, unsigned int z) {
    return z + (x > y ? (unsigned int)x - y : (unsigned int)y - x);
}
inline unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) { return z + (x > y ? x - y : y - x); }
inline int __hadd(int x, int y) { return ((long long)x + y) >> 1; }
inline int __rhadd(int x, int y) { return ((long long)x + y + 1) >> 1; }
inline unsigned int __uhadd(unsigned int x, unsigned int y) { return ((unsigned long long)x + y) >> 1; }
inline unsigned int __urhadd(unsigned int x, unsigned int y) { return ((unsigned long long)x + y + 1) >> 1; }
