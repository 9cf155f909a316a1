// Fixed-width names, and vectors of elements that move in one access.
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

// N elements side by side, aligned as one access needs them: to 16 bytes at most.
template <class T, int N>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) kn_pack {
    T at[N];
};

template <class T, int N>
__device__ __forceinline__ kn_pack<T, N> kn_load(const T *from) {
    return *reinterpret_cast<const kn_pack<T, N> *>(from);
}

// Stores in as few accesses as there can be, said in so many words: left to itself the compiler splits the stores of long bodies.
template <class T, int N>
__device__ __forceinline__ void kn_store(T *to, const kn_pack<T, N> &value) {
    constexpr int bytes = sizeof(T) * N;
    static_assert(bytes % 16 == 0 || bytes == 8 || bytes == 4 || bytes == 2 || bytes == 1, "no vector");
    if constexpr (bytes % 4 == 0) {
        unsigned word[bytes / 4];
        memcpy(word, &value, bytes);
        if constexpr (bytes == 4)
            asm volatile("st.global.b32 [%0], %1;" ::"l"(to), "r"(word[0]) : "memory");
        else if constexpr (bytes == 8)
            asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(to), "r"(word[0]), "r"(word[1]) : "memory");
        else
#pragma unroll
            for (int k = 0; k < bytes / 4; k += 4)
                asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(reinterpret_cast<unsigned *>(to) + k), "r"(word[k]), "r"(word[k + 1]),
                             "r"(word[k + 2]), "r"(word[k + 3])
                             : "memory");
    } else if constexpr (bytes == 2) {
        unsigned short word;
        memcpy(&word, &value, bytes);
        asm volatile("st.global.b16 [%0], %1;" ::"l"(to), "h"(word) : "memory");
    } else {
        *to = value.at[0];
    }
}

// Until the kernel before this one in the stream has finished; at once where the launch did not overlap them.
__device__ __forceinline__ void kn_wait() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
