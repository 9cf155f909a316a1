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

template <class T, int N>
__device__ __forceinline__ void kn_store(T *to, const kn_pack<T, N> &value) {
    *reinterpret_cast<kn_pack<T, N> *>(to) = value;
}

// Until the kernel before this one in the stream has finished; at once where the launch did not overlap them.
__device__ __forceinline__ void kn_wait() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
