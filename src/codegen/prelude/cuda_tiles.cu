// needs: kn_take_ticket
// Blocks that have neighbouring tiles, and tell each other of theirs.

// The next ticket; after `count` of them the counter is zero again. It orders nothing but itself: flags, and words that tell what they are, do.
__device__ __forceinline__ unsigned kn_take_ticket(unsigned *counter, unsigned count) {
    __shared__ unsigned ticket;
    if (threadIdx.x == 0)
        asm volatile("atom.relaxed.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(ticket) : "l"(counter), "r"(count - 1) : "memory");
    __syncthreads();
    return ticket;
}

// Words that tell how many elements a tile has of some sort, or it and those before it. A word says by itself which, so that no order of stores matters.
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

// A block, of a warp, is counted when its word is down and it has seen those that it wanted; the last of `count` leaves `many` words zero.
__device__ __forceinline__ void kn_leave_words(unsigned *counter, unsigned count, unsigned *words, unsigned many) {
    unsigned before = 0;
    if (threadIdx.x == 0)
        asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(count - 1) : "memory");
    if (__shfl_sync(0xffffffffu, before, 0) == count - 1)
#pragma unroll 1
        for (unsigned k = threadIdx.x; k < many; k += 32)
            words[k] = 0;
}

// Moves on by `index` elements along the scanned axes.
template <int Operands, class Place, class Args>
__device__ __forceinline__ void kn_go_along(Place &place, const Args &kn, long long index) {
    if (kn.reduction_rank == 1)
#pragma unroll
        for (int o = 0; o < Operands; ++o)
            place.at[o] += index * kn.axis[0].stride[o];
    else
        kn_move(place, kn, 0, kn.reduction_rank, index);
}
