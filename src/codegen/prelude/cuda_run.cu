// needs: kn_run
// with: gather reduce
// Vectors that begin anywhere, and are put together where they are used: code that does so behind a load would wait for it before the next one begins. The compiler does not move these
// loads to where they are used, either, since that is behind conditions.
template <int Words>
__device__ __forceinline__ void kn_load_now(unsigned (&to)[Words], const void *from) {
    if constexpr (Words == 4)
        asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "l"(from));
    else if constexpr (Words == 2)
        asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(to[0]), "=r"(to[1]) : "l"(from));
    else
        asm volatile("ld.global.u32 %0, [%1];" : "=r"(to[0]) : "l"(from));
}

// An aligned vector.
template <class T, int N>
__device__ __forceinline__ kn_loaded<T, N> kn_load_vector_now(const T *from) {
    kn_loaded<T, N> loaded;
    if constexpr (sizeof(T) * N < 4)
        loaded = kn_load_words<T, N>(from, true);
    else
        kn_load_now(loaded.word, from);
    return loaded;
}

// A run of N elements: the one or two aligned vectors in which it lies, if these have 8 or 16 bytes, or are words of single bytes; other elements are loaded one by one.
template <class T, int N>
struct kn_run {
    enum { bytes = sizeof(T) * N, words = (bytes + 3) / 4, are_vectors = bytes == 8 || bytes == 16 || (sizeof(T) == 1 && N == 4) };
    kn_words<words> low, high;
    int off;
};

template <class T, int N>
__device__ __forceinline__ kn_run<T, N> kn_load_run(const char *from) {
    kn_run<T, N> run;
    if constexpr (kn_run<T, N>::are_vectors) {
        run.off = (int)((unsigned)(unsigned long long)from & (kn_run<T, N>::bytes - 1));
        const char *const aligned = from - run.off;
        kn_load_now(run.low.at, aligned);
        kn_load_now(run.high.at, aligned + (run.off > 0 ? kn_run<T, N>::bytes : 0));
    } else {
        const kn_pack<T, N> elements = kn_gather_apart<T, N>(from, sizeof(T));
        memcpy(&run.low, &elements, sizeof elements);
    }
    return run;
}

template <class T, int N>
__device__ __forceinline__ kn_pack<T, N> kn_join_run(const kn_run<T, N> &run) {
    kn_words<kn_run<T, N>::words> words = run.low;
    if constexpr (kn_run<T, N>::are_vectors)
        words = kn_join_words<sizeof(T) < 4>(run.low, run.high, run.off);
    kn_pack<T, N> elements;
    memcpy(&elements, &words, sizeof elements);
    return elements;
}

template <class T, int N>
__device__ __forceinline__ kn_pack<T, N> kn_reversed(const kn_pack<T, N> &elements) {
    kn_pack<T, N> reversed;
#pragma unroll
    for (int k = 0; k < N; ++k)
        reversed.at[k] = elements.at[N - 1 - k];
    return reversed;
}
