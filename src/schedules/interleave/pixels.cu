${head}
struct kn_pixels {
    unsigned ends, end_blocks, each, rows, row_parts, unused; /* elements at the end of a row that are no part; blocks of them, one in `each`; parts are threads' or, where planes are laid, blocks' */
};

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

/* Of each plane N elements a step apart: runs that begin anywhere, or any. One branch for all planes, so that their loads stand together. */
template <class T, int N, int C>
[[maybe_unused]] static __device__ __forceinline__ void kn_load_planes(kn_pack<T, N> (&plane)[C], const char *from, int step, int apart)
{
    if constexpr (N > 1 && sizeof(T) * N >= 4)
        if (step == (int)sizeof(T)) {
#pragma unroll
            for (int c = 0; c < C; ++c)
                plane[c] = kn_load_unaligned<T, N>(from + (long long)c * apart);
            return;
        }
#pragma unroll
    for (int c = 0; c < C; ++c)
        plane[c] = kn_gather_apart<T, N>(from + (long long)c * apart, step);
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

/* Of a run that is laid in shared memory and begins anywhere in `to`: chunk `chunk` of the 16 bytes that are aligned there. */
template <class T>
static __device__ __forceinline__ void kn_store_chunk(T *to, const char *laid, int bytes, int chunk)
{
    constexpr int size = sizeof(T);
    const int begin = 16 * chunk + (-(int)(unsigned)(unsigned long long)to & 15);
    if (begin + 16 <= bytes) {
        kn_words<4> part;
        if (size == 16 || ((unsigned)(unsigned long long)(laid + begin) & 15) == 0)
            part = *reinterpret_cast<const kn_words<4> *>(laid + begin);
        else if constexpr (size < 16)
            part = kn_words_of(kn_load_unaligned<T, 16 / size>(laid + begin));
        kn_store(reinterpret_cast<T *>(reinterpret_cast<char *>(to) + begin), kn_elements_of<T, 16 / size>(part));
    }
}

/* Element `end` of those of its ends that are in no chunk. */
template <class T>
static __device__ __forceinline__ void kn_store_end(T *to, const char *laid, int bytes, int end)
{
    const int head = min(-(int)(unsigned)(unsigned long long)to & 15, bytes), whole = (bytes - head) & ~15, at = end * (int)sizeof(T) + (end * (int)sizeof(T) < head ? 0 : whole);
    if (at < bytes)
        *reinterpret_cast<T *>(reinterpret_cast<char *>(to) + at) = *reinterpret_cast<const T *>(laid + at);
}

/* Of the warp's threads that have whole parts those that are one run of the result with this one: the first, and how many. */
struct kn_together {
    int first, count;
};

[[maybe_unused]] static __device__ __forceinline__ kn_together kn_find_together(int base, unsigned full)
{
    const int lane = threadIdx.x % 32;
    const unsigned others = ~(__match_any_sync(~0u, base) & full), before = others & ((1u << lane) - 1), behind = others >> lane;
    kn_together run;
    run.first = before != 0 ? 32 - __clz(before) : 0;
    run.count = (behind != 0 ? lane + __ffs(behind) - 1 : 32) - run.first;
    return run;
}

/* Bytes of each, as they lie in shared memory: all store as much of the run. */
template <class T, int Bytes>
[[maybe_unused]] static __device__ __forceinline__ void kn_store_run(char *own, const char *laid, const kn_together &run)
{
    const int lane = threadIdx.x % 32 - run.first, bytes = run.count * Bytes;
    T *const to = (T *)(own - lane * Bytes);
    if (run.count == 32 && ((unsigned)(unsigned long long)to & 15) == 0) { /* mostly: nothing has to be moved */
#pragma unroll
        for (int k = 0; k < (2 * Bytes + 31) / 32; ++k)
            if (32 * k + lane < 2 * Bytes)
                reinterpret_cast<kn_words<4> *>(to)[32 * k + lane] = reinterpret_cast<const kn_words<4> *>(laid)[32 * k + lane];
        return;
    }
    laid += run.first * Bytes;
#pragma unroll 1
    for (int chunk = lane; chunk < bytes / 16; chunk += run.count)
        kn_store_chunk(to, laid, bytes, chunk);
#pragma unroll 1
    for (int end = lane; end < 32 / (int)sizeof(T) - 2; end += run.count)
        kn_store_end(to, laid, bytes, end);
}

extern "C" __global__ void __launch_bounds__(${block}) ${entry}(const __grid_constant__ kn_args kn)
{
    ${wait}
    ${values}
    ${loop_prep}
    ${element}

    /* Axes of single pixels and of channels stand behind those that are walked. */
    const kn_axis &kn_axis_c = kn.axis[kn.rank], &kn_axis_p = kn.axis[kn.rank + 1];
    ${tiles}
    /* Among the blocks of whole parts, near those of the same rows, are blocks of the elements at the ends of rows: a thread each. */
    const unsigned kn_group = kn.pixels.end_blocks == 0 ? 0 : blockIdx.x / kn.pixels.each, kn_block = blockIdx.x - min(kn_group, kn.pixels.end_blocks);
    const bool kn_is_end = kn_group < kn.pixels.end_blocks && blockIdx.x + 1 == (kn_group + 1) * kn.pixels.each;
    unsigned kn_unit = ${first}, kn_end = 0;
    if (kn_is_end) {
        const unsigned kn_n = kn_group * blockDim.x + threadIdx.x, kn_row = kn_n / kn.pixels.ends;
        kn_end = kn_n - kn_row * kn.pixels.ends;
        kn_unit = kn_row < kn.pixels.rows ? kn_row * kn.pixels.row_parts : kn.size;
    }
    kn_place kn_here = kn_locate(kn, kn_unit < kn.size ? kn_unit : 0);
    if (!kn_is_end) {
        ${from}
        if (${vector} <= kn_left) {
            ${loads}
#pragma unroll
            for (int kn_k = 0; kn_k < ${vector}; ++kn_k)
#pragma unroll
                for (int kn_c = 0; kn_c < ${per_thread}; ++kn_c) {
                    ${lane}
                }
            ${stores}
        }
        ${stage}
    } else if (kn_unit < kn.size) {
        const unsigned kn_c = kn_end % ${per_thread};
        kn_move(kn_here, kn_axis_p, kn_axis_p.extent / ${vector} * ${vector} + kn_end / ${per_thread});
        ${single}
    }
    ${after_loop}
}
