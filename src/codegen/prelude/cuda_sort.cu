// needs: kn_sort_places
// with: reduce
// Words that tell how many elements of a digit a tile has, or it and those before it. A word says by itself which, so that no order of stores matters.
__device__ __forceinline__ void kn_put_down(unsigned *to, unsigned word) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(word) : "memory");
}
__device__ __forceinline__ void kn_put_down(unsigned long long *to, unsigned long long word) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(word) : "memory");
}
__device__ __forceinline__ unsigned kn_look_at(const unsigned *at) {
    unsigned word;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
    return word;
}
__device__ __forceinline__ unsigned long long kn_look_at(const unsigned long long *at) {
    unsigned long long word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
    return word;
}

// The lanes whose digit, of 8 bits, is that of this one. Asking bit by bit takes half as long as the instruction that compares numbers (H100), and hardly more where few differ.
// In assembly, which compiles in three quarters of the time to four fifths of the instructions: those of a loop in C select by two masks.
__device__ __forceinline__ unsigned kn_lanes_of_digit(unsigned digit) {
    unsigned same;
    asm volatile("{ .reg .pred set; .reg .b32 bit, lanes; mov.b32 %0, 0xffffffff; and.b32 bit, %1, 1; setp.ne.u32 set, bit, 0; vote.sync.ballot.b32 lanes, set, 0xffffffff; @!set not.b32 lanes, lanes; and.b32 %0, %0, lanes; and.b32 bit, %1, 2; setp.ne.u32 set, bit, 0; vote.sync.ballot.b32 lanes, set, 0xffffffff; @!set not.b32 lanes, lanes; and.b32 %0, %0, lanes; and.b32 bit, %1, 4; setp.ne.u32 set, bit, 0; vote.sync.ballot.b32 lanes, set, 0xffffffff; @!set not.b32 lanes, lanes; and.b32 %0, %0, lanes; and.b32 bit, %1, 8; setp.ne.u32 set, bit, 0; vote.sync.ballot.b32 lanes, set, 0xffffffff; @!set not.b32 lanes, lanes; and.b32 %0, %0, lanes; and.b32 bit, %1, 16; setp.ne.u32 set, bit, 0; vote.sync.ballot.b32 lanes, set, 0xffffffff; @!set not.b32 lanes, lanes; and.b32 %0, %0, lanes; and.b32 bit, %1, 32; setp.ne.u32 set, bit, 0; vote.sync.ballot.b32 lanes, set, 0xffffffff; @!set not.b32 lanes, lanes; and.b32 %0, %0, lanes; and.b32 bit, %1, 64; setp.ne.u32 set, bit, 0; vote.sync.ballot.b32 lanes, set, 0xffffffff; @!set not.b32 lanes, lanes; and.b32 %0, %0, lanes; and.b32 bit, %1, 128; setp.ne.u32 set, bit, 0; vote.sync.ballot.b32 lanes, set, 0xffffffff; @!set not.b32 lanes, lanes; and.b32 %0, %0, lanes; }" : "=r"(same) : "r"(digit));
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
