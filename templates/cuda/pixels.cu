${head}
${axes}

/* N elements one behind the other, in registers. */
template <class T, int N> struct kn_run {
    T at[N];
};

/* A run in words of W bytes; where it begins off a word, in one word more, moved together. */
template <class T, int N, int W>
static __device__ __forceinline__ kn_run<T, N> kn_load_run(const char *from)
{
    constexpr int words = N * sizeof(T) / 4;
    const unsigned off = (unsigned)(unsigned long long)from & (W - 1);
    kn_run<T, N> run;
    if constexpr (W < 4) {
#pragma unroll
        for (int k = 0; k < N; ++k)
            run.at[k] = reinterpret_cast<const T *>(from)[k];
    } else {
        unsigned word[words + W / 4];
        if (sizeof(T) >= W || off == 0) {
#pragma unroll
            for (int k = 0; k < words; k += W / 4) {
                const kn_words<W / 4> some = *reinterpret_cast<const kn_words<W / 4> *>(from + 4 * k);
#pragma unroll
                for (int j = 0; j < W / 4; ++j)
                    word[k + j] = some.at[j];
            }
        } else {
#pragma unroll
            for (int k = 0; k < words + W / 4; k += W / 4) {
                const kn_words<W / 4> some = *reinterpret_cast<const kn_words<W / 4> *>(from - off + 4 * k);
#pragma unroll
                for (int j = 0; j < W / 4; ++j)
                    word[k + j] = some.at[j];
            }
            if (W == 8 && off & 4)
#pragma unroll
                for (int k = 0; k < words + W / 4 - 1; ++k)
                    word[k] = word[k + 1];
            if (sizeof(T) < 4)
#pragma unroll
                for (int k = 0; k < words; ++k)
                    word[k] = __funnelshift_r(word[k], word[k + 1], 8 * (off & 3));
        }
        memcpy(&run, word, sizeof run);
    }
    return run;
}

/* N elements a step apart: one, a run that begins anywhere, or any. */
template <class T, int N>
static __device__ __forceinline__ kn_pack<T, N> kn_load_plane(const char *from, int step)
{
    if constexpr (N > 1 && sizeof(T) * N >= 4)
        if (step == (int)sizeof(T))
            return kn_load_shifted<T, N>(from);
    return kn_gather_apart<T, N>(from, step);
}

/* To shared memory, in the widest words that a thread's part is made of. */
template <class T, int N>
static __device__ __forceinline__ void kn_lay(char *to, const T *elements)
{
    constexpr int bytes = N * sizeof(T), word = bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : sizeof(T);
    if constexpr (word < 4) {
#pragma unroll
        for (int k = 0; k < N; ++k)
            reinterpret_cast<T *>(to)[k] = elements[k];
    } else {
        kn_words<word / 4> part[bytes / word];
        memcpy(part, elements, bytes);
#pragma unroll
        for (int k = 0; k < bytes / word; ++k)
            reinterpret_cast<kn_words<word / 4> *>(to)[k] = part[k];
    }
}

/* Chunk `chunk` of a run that is laid in shared memory and begins anywhere in `to`: 16 bytes of it that are aligned there, or the elements of it that the run
 * has at its ends. */
template <class T>
static __device__ __forceinline__ void kn_store_chunk(T *to, const char *laid, int bytes, int chunk)
{
    const int begin = 16 * chunk - (int)((unsigned)(unsigned long long)to & 15);
    constexpr int size = sizeof(T);
    if (begin >= 0 && begin + 16 <= bytes) {
        kn_words<4> part;
        if (size == 16 || (begin & 15) == 0)
            part = *reinterpret_cast<const kn_words<4> *>(laid + begin);
        else if constexpr (size < 16)
            part = kn_words_of(kn_load_shifted<T, 16 / size>(laid + begin));
        kn_store(reinterpret_cast<T *>(reinterpret_cast<char *>(to) + begin), kn_elements_of<T, 16 / size>(part));
    } else {
#pragma unroll 1
        for (int at = begin < 0 ? 0 : begin; at < begin + 16 && at < bytes; at += size)
            *reinterpret_cast<T *>(reinterpret_cast<char *>(to) + at) = *reinterpret_cast<const T *>(laid + at);
    }
}

extern "C" __global__ void __launch_bounds__(${block}) ${entry}(const __grid_constant__ kn_args kn)
{
    ${wait}
    ${values}
    ${loop_prep}
    ${element}

    ${tiles}
    /* Axes of single pixels and of channels stand behind those that are walked. */
    const kn_axis &kn_axis_c = kn.axis[kn.rank], &kn_axis_p = kn.axis[kn.rank + 1];
    ${from}
    if (${vector} <= kn_left) {
        ${loads}
#pragma unroll
        for (int kn_k = 0; kn_k < ${vector}; ++kn_k)
#pragma unroll
            for (int kn_c = 0; kn_c < ${lanes}; ++kn_c) {
                ${lane}
            }
        ${stores}
    } else {
#pragma unroll 1
        for (; kn_left > 0; --kn_left) {
#pragma unroll 1
            for (int kn_c = 0; kn_c < ${lanes}; ++kn_c) {
                ${single}
            }
            kn_move(kn_here, kn_axis_p, 1);
        }
    }
    ${stage}
    ${after_loop}
}
