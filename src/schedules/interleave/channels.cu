${head}
${axes}

/* N elements of each channel, `step` bytes apart. One branch for all channels, so that their loads are in flight together. */
template <class T, int N, int C>
[[maybe_unused]] static __device__ __forceinline__ void kn_load_planar(kn_pack<T, N> (&channel)[C], const char *from, int step, int apart)
{
    if constexpr (N > 1 && sizeof(T) * N >= 4)
        if (step == (int)sizeof(T)) {
#pragma unroll
            for (int c = 0; c < C; ++c)
                channel[c] = kn_load_unaligned<T, N>(from + (long long)c * apart);
            return;
        }
#pragma unroll
    for (int c = 0; c < C; ++c)
        channel[c] = kn_gather_apart<T, N>(from + (long long)c * apart, step);
}

/* To shared memory, in the widest words that divide a thread's part. */
template <class T, int N>
static __device__ __forceinline__ void kn_stage_part(char *to, const T *elements)
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

/* Stores aligned chunk `chunk` of 16 bytes of a range that begins anywhere, from shared memory. */
template <class T>
static __device__ __forceinline__ void kn_store_chunk(T *to, const char *staged, int bytes, int chunk)
{
    constexpr int size = sizeof(T);
    const int begin = 16 * chunk + (-(int)(unsigned)(unsigned long long)to & 15);
    if (begin + 16 <= bytes) {
        kn_words<4> part;
        if (size == 16 || ((unsigned)(unsigned long long)(staged + begin) & 15) == 0)
            part = *reinterpret_cast<const kn_words<4> *>(staged + begin);
        else if constexpr (size < 16)
            part = kn_words_of(kn_load_unaligned<T, 16 / size>(staged + begin));
        kn_store(reinterpret_cast<T *>(reinterpret_cast<char *>(to) + begin), kn_elements_of<T, 16 / size>(part));
    }
}

/* Stores element `end` of those in front of the first aligned chunk and behind the last one. */
template <class T>
static __device__ __forceinline__ void kn_store_end(T *to, const char *staged, int bytes, int end)
{
    const int head = min(-(int)(unsigned)(unsigned long long)to & 15, bytes), whole = (bytes - head) & ~15, at = end * (int)sizeof(T) + (end * (int)sizeof(T) < head ? 0 : whole);
    if (at < bytes)
        *reinterpret_cast<T *>(reinterpret_cast<char *>(to) + at) = *reinterpret_cast<const T *>(staged + at);
}

/* The threads of the warp that have whole parts of the same contiguous range of the result as this one: the first, and their number. */
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

/* All these threads store the range together; each has `Bytes` of it in shared memory. */
template <class T, int Bytes>
[[maybe_unused]] static __device__ __forceinline__ void kn_store_run(char *own, const char *staged, const kn_together &run)
{
    const int lane = threadIdx.x % 32 - run.first, bytes = run.count * Bytes;
    T *const to = (T *)(own - lane * Bytes);
    if (run.count == 32 && ((unsigned)(unsigned long long)to & 15) == 0) { /* mostly: no byte has to be moved */
#pragma unroll
        for (int k = 0; k < (2 * Bytes + 31) / 32; ++k)
            if (32 * k + lane < 2 * Bytes)
                reinterpret_cast<kn_words<4> *>(to)[32 * k + lane] = reinterpret_cast<const kn_words<4> *>(staged)[32 * k + lane];
        return;
    }
    staged += run.first * Bytes;
#pragma unroll 1
    for (int chunk = lane; chunk < bytes / 16; chunk += run.count)
        kn_store_chunk(to, staged, bytes, chunk);
#pragma unroll 1
    for (int end = lane; end < 32 / (int)sizeof(T) - 2; end += run.count)
        kn_store_end(to, staged, bytes, end);
}

${begin}

    /* The axes of single channels and of single positions are behind those of the grid. */
    const kn_axis &kn_axis_c = kn.axis[kn.rank], &kn_axis_p = kn.axis[kn.rank + 1];
    ${tiles}
    /* Blocks of the elements at the ends of rows, one for each thread, are among the blocks of whole parts of the same rows. */
    const unsigned kn_group = kn.end_blocks == 0 ? 0 : blockIdx.x / kn.each, kn_block = blockIdx.x - min(kn_group, kn.end_blocks);
    const bool kn_is_end = kn_group < kn.end_blocks && blockIdx.x + 1 == (kn_group + 1) * kn.each;
    unsigned kn_part = ${first}, kn_end = 0;
    if (kn_is_end) {
        const unsigned kn_n = kn_group * blockDim.x + threadIdx.x, kn_row = kn_n / kn.ends;
        kn_end = kn_n - kn_row * kn.ends;
        kn_part = kn_row < kn.rows ? kn_row * kn.row_parts : kn.size;
    }
    kn_place kn_here = kn_locate(kn, kn_part < kn.size ? kn_part : 0);
    if (!kn_is_end) {
        ${from}
        if (${vector} <= kn_left) {
            ${loads}
#pragma unroll
            for (int kn_k = 0; kn_k < ${vector}; ++kn_k)
#pragma unroll
                for (int kn_c = 0; kn_c < ${channels}; ++kn_c) {
                    ${lane}
                }
            ${stores}
        }
        ${stage}
    } else if (kn_part < kn.size) {
        const unsigned kn_c = kn_end % ${channels};
        kn_move(kn_here, kn_axis_p, kn_axis_p.extent / ${vector} * ${vector} + kn_end / ${channels});
        ${single}
    }
    ${after_loop}
}
