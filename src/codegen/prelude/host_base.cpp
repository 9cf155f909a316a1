// Loops are vectorised if both sides of a choice are computed. g++ 13 and later thread jumps across two choices (the greatest of two numbers or a NaN), and make branches
// of them that stay: the greatest of a million floats took thirty times as long.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 13
#pragma GCC optimize("no-thread-jumps")
#endif

// Fixed-width names, and CUDA's keywords, so that one preamble serves both targets.
typedef signed char int8;
typedef short int16;
typedef int int32;
typedef long long int64;
typedef unsigned char uint8;
typedef unsigned short uint16;
typedef unsigned int uint32;
typedef unsigned long long uint64;
typedef float float32;
typedef double float64;
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;

#define __host__
#define __device__
#define __global__
#define __constant__
#define __noinline__
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)

// In front of a loop whose iterations do not depend on each other: the compiler may vectorise it without proof.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#define KN_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define KN_ROLLED
#else
#define KN_INDEPENDENT _Pragma("GCC ivdep")
#define KN_ROLLED _Pragma("GCC unroll 1") // short loops would be written out before they become vectors
#endif

// Where the next row begins.
template <class T> inline T *kn_next(T *row, long long bytes) {
    return (T *)((size_t)row + bytes);
}

// A bool in memory, beside numbers of eight bytes. With AVX-512 the comparison of a byte makes masks for 64 elements, which g++ takes apart for no fewer: rows of
// fewer would have a branch for each. Those of 32 bits are for 16. (Beside float32, where g++ has masks for 32, they take 1.6 times as long.)
static __forceinline__ bool kn_is_set(const unsigned char byte) {
#if defined(__AVX512F__)
    return -(int)byte >> 31 < 0;
#else
    return byte != 0;
#endif
}

// A copy of a number that is a struct of its bits.
template <class T> inline T kn_by_bits(const T &x) {
    T y;
    y.bits = x.bits;
    return y;
}

// A search's last place, and whether it is looked at.
struct kn_last_place {
    long long place;
    int trust;
};

// When a kernel ends, the upper parts of vectors are zeros again: other code would be slow where they are not.
struct kn_clean_up {
    mutable kn_last_place last = {};
    ~kn_clean_up() {
#if defined(__AVX__)
        __builtin_ia32_vzeroupper();
#endif
    }
};

// Stores of whole lines of the caches past them. They are ordered by a fence alone, which is the library's when the kernel has ended.
#if defined(__x86_64__)
#define KN_STREAMS 1
#if defined(__AVX512F__)
#define KN_STREAM_BYTES 64
#elif defined(__AVX__)
#define KN_STREAM_BYTES 32
#else
#define KN_STREAM_BYTES 16
#endif
typedef long long kn_wide __attribute__((vector_size(KN_STREAM_BYTES), may_alias));
inline void kn_stream(void *to, const void *line) {
    for (int k = 0; k < 64 / KN_STREAM_BYTES; ++k)
#if defined(__clang__)
        __builtin_nontemporal_store(((const kn_wide *)line)[k], (kn_wide *)to + k);
#elif defined(__AVX512F__)
        __builtin_ia32_movntdq512((kn_wide *)to + k, ((const kn_wide *)line)[k]);
#elif defined(__AVX__)
        __builtin_ia32_movntdq256((kn_wide *)to + k, ((const kn_wide *)line)[k]);
#else
        __builtin_ia32_movntdq((kn_wide *)to + k, ((const kn_wide *)line)[k]);
#endif
}
#else
#define KN_STREAMS 0
inline void kn_stream(void *, const void *) {}
#endif
