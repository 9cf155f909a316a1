// needs: kn_before_warp
// with: tiles
// A number of each warp of a block, added up: over the warps before this one, and in `all` over all of them. A barrier of the block; total: shared, one for each warp.
template <int Warps, int Unroll>
__device__ __forceinline__ unsigned kn_before_warp(unsigned *total, const unsigned own, unsigned &all) {
    const int warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0)
        total[warp] = own;
    __syncthreads();
    unsigned before = 0;
    all = 0;
#pragma unroll Unroll
    for (int w = 0; w < Warps; ++w) {
        before += w < warp ? total[w] : 0;
        all += total[w];
    }
    return before;
}

// The sum over the lanes of a warp, which each of them gets.
__device__ __forceinline__ unsigned kn_add_lanes(unsigned number) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(0xffffffffu, number);
#else
#pragma unroll
    for (int by = 16; by > 0; by /= 2)
        number += __shfl_xor_sync(0xffffffffu, number, by);
    return number;
#endif
}

// Tiles that have a word each, and groups of 256 tiles behind them: kn_known, and how many of their elements are selected. Nothing orders words: each says by itself that it is there, so that those
// before a tile are looked at once, all at a time. A chain of prefixes, of which each waits for another one, takes longer (H200, 2^28 float32: 1,015 us for 721).
enum { kn_known = 1u << 31, kn_words_of_lane = 8 /* that a lane looks at */, kn_group = 32 * kn_words_of_lane };

// Puts a word down; 0, when it is there.
__device__ __forceinline__ unsigned kn_put_word(unsigned *word, const unsigned selected) {
    unsigned before;
    asm volatile("atom.relaxed.gpu.global.exch.b32 %0, [%1], %2;" : "=r"(before) : "l"(word), "r"(selected | kn_known) : "memory");
    return before >> 31;
}

// The sum of so many words, by a warp.
__device__ __forceinline__ unsigned kn_sum_of_words(const unsigned *words, const int count) {
    unsigned sum = 0;
#pragma unroll 1
    for (int at = threadIdx.x % 32; at < count; at += kn_group) {
        unsigned seen[kn_words_of_lane];
#pragma unroll
        for (int k = 0; k < kn_words_of_lane; ++k)
            seen[k] = at + 32 * k < count ? kn_look_at(words + at + 32 * k) : kn_known;
#pragma unroll
        for (int k = 0; k < kn_words_of_lane; ++k) {
            while (seen[k] == 0)
                seen[k] = kn_look_at(words + at + 32 * k);
            sum += seen[k] & ~kn_known;
        }
    }
    __syncwarp();
    return kn_add_lanes(sum);
}

// Words are left zero by all threads of the block that comes last.
__device__ __forceinline__ void kn_leave_words_zero(unsigned left, unsigned count, unsigned *words, unsigned many, unsigned threads) {
    if (__syncthreads_or(threadIdx.x == 0 && left == count - 1))
#pragma unroll 1
        for (unsigned k = threadIdx.x; k < many; k += threads)
            words[k] = 0;
}
