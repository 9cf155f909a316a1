// needs: kn_sort_places
// with: reduce tiles
// The lanes whose digit, of 8 bits, is that of this one. Asking bit by bit takes half as long as the instruction that compares numbers (H100), and hardly more where few differ.
// In assembly, which compiles in three quarters of the time to three quarters of the instructions: those of a loop in C select by two masks.
__device__ __forceinline__ unsigned kn_lanes_of_digit(unsigned digit) {
    unsigned same;
    asm volatile("{ .reg .pred set; .reg .b32 bit, lanes, more; mov.b32 %0, 0xffffffff; and.b32 bit, %1, 1; setp.ne.u32 set, bit, 0; vote.sync.ballot.b32 lanes, set, 0xffffffff; @!set not.b32 lanes, lanes; and.b32 bit, %1, 2; setp.ne.u32 set, bit, 0; vote.sync.ballot.b32 more, set, 0xffffffff; @!set not.b32 more, more; lop3.b32 %0, %0, lanes, more, 0x80; and.b32 bit, %1, 4; setp.ne.u32 set, bit, 0; vote.sync.ballot.b32 lanes, set, 0xffffffff; @!set not.b32 lanes, lanes; and.b32 bit, %1, 8; setp.ne.u32 set, bit, 0; vote.sync.ballot.b32 more, set, 0xffffffff; @!set not.b32 more, more; lop3.b32 %0, %0, lanes, more, 0x80; and.b32 bit, %1, 16; setp.ne.u32 set, bit, 0; vote.sync.ballot.b32 lanes, set, 0xffffffff; @!set not.b32 lanes, lanes; and.b32 bit, %1, 32; setp.ne.u32 set, bit, 0; vote.sync.ballot.b32 more, set, 0xffffffff; @!set not.b32 more, more; lop3.b32 %0, %0, lanes, more, 0x80; and.b32 bit, %1, 64; setp.ne.u32 set, bit, 0; vote.sync.ballot.b32 lanes, set, 0xffffffff; @!set not.b32 lanes, lanes; and.b32 bit, %1, 128; setp.ne.u32 set, bit, 0; vote.sync.ballot.b32 more, set, 0xffffffff; @!set not.b32 more, more; lop3.b32 %0, %0, lanes, more, 0x80; }" : "=r"(same) : "r"(digit));
    return same;
}

// The rank of this lane's element among those of its digit that the warp has, which are `before` so far, and then one more.
template <class T> __device__ __forceinline__ unsigned kn_rank_of_digit(T *before, unsigned digit, unsigned lane) {
    const unsigned same = kn_lanes_of_digit(digit), so_far = before[digit], lower = same & ((1u << lane) - 1);
    __syncwarp();
    if (lower == 0)
        before[digit] = (T)(so_far + __popc(same));
    __syncwarp();
    return so_far + __popc(lower);
}

// The sum of a number of the threads before this one in its warp; the warp's own sum is put down.
template <class T, class Sum> __device__ __forceinline__ T kn_sum_before(T number, Sum *of_warps) {
    const unsigned lane = threadIdx.x % 32;
    T all = number;
#pragma unroll
    for (unsigned by = 1; by < 32; by *= 2) {
        const T other = kn_shuffle<'='>(all, lane >= by ? lane - by : lane);
        all += lane >= by ? other : 0;
    }
    if (lane == 31)
        of_warps[threadIdx.x / 32] = (Sum)all;
    return all - number;
}
// The sums of the warps before this one, of eight.
template <class Sum> __device__ __forceinline__ Sum kn_sum_of_warps(const Sum *of_warps) {
    Sum sum = 0;
#pragma unroll
    for (unsigned w = 0; w < 7; ++w)
        sum += w < threadIdx.x / 32 ? of_warps[w] : 0;
    return sum;
}

// The elements that the tiles before this one have of a digit, by its word of this tile: words of two tiles at once, since each look waits (one of them takes as long as four; more move more). The first tile's word ends it.
template <class Word> __device__ __forceinline__ Word kn_sum_of_earlier(const Word *own, unsigned tiles) {
    enum { in_flight = 2, shift = 8 * sizeof(Word) - 2 };
    Word sum = 0;
#pragma unroll 1
    for (;; tiles -= in_flight) {
        Word seen[in_flight];
#pragma unroll
        for (unsigned k = 0; k < in_flight; ++k)
            seen[k] = k < tiles ? kn_look_at(own - (k + 1) * 256) : 0;
#pragma unroll
        for (unsigned k = 0; k < in_flight; ++k) {
            own -= 256;
            while (seen[k] >> shift == 0)
                seen[k] = kn_look_at(own);
            sum += seen[k] & ((Word)1 << shift) - 1;
            if (seen[k] >> shift == 2)
                return sum;
        }
    }
}

// Each of 256 numbers becomes the sum of those before it, by one warp.
template <class T> __device__ __forceinline__ void kn_sums_before(T *number, bool is_mine) {
    if (!is_mine)
        return;
    const int lane = threadIdx.x % 32;
    T own[8], sum = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        own[k] = number[lane * 8 + k];
        sum += own[k];
    }
    T all = sum;
#pragma unroll
    for (int by = 1; by < 32; by *= 2) {
        const T other = kn_shuffle<'='>(all, lane >= by ? lane - by : lane);
        if (lane >= by)
            all += other;
    }
    T before = all - sum;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        number[lane * 8 + k] = before;
        before += own[k];
    }
}
