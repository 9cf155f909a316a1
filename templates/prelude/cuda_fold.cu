// needs: kn_fold_block kn_fold_lanes kn_stage
// What reductions share. Whether a thread holds a value is told by bits rather than made up by an identity.

// Division of numbers below 2^31: plan/layout.h.
struct kn_divider {
    unsigned extent, magic, shift, unused;
};

__device__ __forceinline__ unsigned kn_divide(unsigned n, const kn_divider &by) {
    return (__umulhi(n, by.magic) + n) >> by.shift;
}

// The value of the thread `by` lanes further, word by word: structs too.
template <class T>
__device__ __forceinline__ T kn_shuffle_down(const T &value, int by) {
    unsigned word[(sizeof(T) + 3) / 4] = {};
    memcpy(word, &value, sizeof(T));
#pragma unroll
    for (int k = 0; k < (int)(sizeof(T) + 3) / 4; ++k)
        word[k] = __shfl_down_sync(0xffffffffu, word[k], by);
    T other;
    memcpy(&other, word, sizeof(T));
    return other;
}

// Lanes of which the bits in `held` hold a value fold them into that of lane 0. Lanes count from the first of their group, of `width` lanes.
template <class T, class Fold>
__device__ __forceinline__ unsigned kn_fold_lanes(T &value, unsigned held, unsigned lane, unsigned width, const Fold &fold) {
#pragma unroll
    for (int by = 16; by > 0; by /= 2) {
        if (by >= width)
            continue;
        const T other = kn_shuffle_down(value, by);
        const unsigned later = held >> by;
        if (later >> lane & 1)
            value = held >> lane & 1 ? fold(value, other) : other;
        held |= later;
    }
    return held;
}

// The same for a block of Block threads, each of which says whether it holds some value; whether the first one does then.
template <int Block, class T, class Fold>
__device__ __forceinline__ bool kn_fold_block(T &value, bool some, const Fold &fold) {
    __shared__ __align__(16) unsigned char room[Block / 32 * sizeof(T)];
    __shared__ unsigned char holds[Block / 32];
    T *const shared = reinterpret_cast<T *>(room);
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned held = kn_fold_lanes(value, __ballot_sync(0xffffffffu, some), lane, 32, fold);
    if (lane == 0) {
        holds[warp] = held & 1;
        if (held & 1)
            shared[warp] = value;
    }
    __syncthreads();
    if (warp == 0) {
        const bool here = lane < Block / 32 && holds[lane];
        if (here)
            value = shared[lane];
        held = kn_fold_lanes(value, __ballot_sync(0xffffffffu, here), lane, Block / 32, fold);
    }
    __syncthreads();
    return held & 1;
}

// A thread's values one behind the other: sixteen in a row make one of a longer row, so that rounding errors do not add up.
template <class T>
struct kn_chain {
    T near, far;
};

template <class T, class Fold>
__device__ __forceinline__ void kn_chain_put(kn_chain<T> &chain, unsigned turn, const T &value, const Fold &fold) {
    if (turn % 16 == 0) {
        if (turn > 0)
            chain.far = turn > 16 ? fold(chain.far, chain.near) : chain.near;
        chain.near = value;
    } else {
        chain.near = fold(chain.near, value);
    }
}

template <class T, class Fold>
__device__ __forceinline__ T kn_chain_all(const kn_chain<T> &chain, unsigned turns, const Fold &fold) {
    return turns > 16 ? fold(chain.far, chain.near) : chain.near;
}

// Neighbours are folded first, then pairs of pairs: what a struct counts is a constant on each level then, and what is divided by it is not divided at all.
template <int N, class T, class Fold>
__device__ __forceinline__ T kn_fold_tree(T (&side)[N], const Fold &fold) {
#pragma unroll
    for (int apart = 1; apart < N; apart *= 2)
#pragma unroll
        for (int k = 0; k < N; k += 2 * apart)
            side[k] = fold(side[k], side[k + apart]);
    return side[0];
}

// Moves on by `at` times `scale` elements along the innermost reduced axis. Form 1: there is no other. Form 2: rows of kn.per_row such steps lie along one more, or
// along several, the first of them being row `row`.
template <int Form, int Operands, class Place, class Args>
__device__ __forceinline__ void kn_go(Place &place, const Args &kn, unsigned at, int scale, long long row) {
    unsigned inner = at;
    if constexpr (Form > 1) {
        const unsigned rows = kn_divide(at, kn.per_row);
        inner = at - rows * kn.per_row.extent;
        if (kn.fold_rank == 2) {
#pragma unroll
            for (int o = 0; o < Operands; ++o)
                place.at[o] += rows * kn.axis[1].stride[o];
        } else {
            kn_move(place, kn, 1, kn.fold_rank, row + rows);
        }
    }
#pragma unroll
    for (int o = 0; o < Operands; ++o)
        place.at[o] += (long long)inner * scale * kn.axis[0].stride[o];
}

// Moves to result `index`, along the kept axes from `first` on. Launches have fewer than 2^31 results: divisions of 64 bits are slow, to compile too.
template <int Operands, class Place, class Args>
__device__ __forceinline__ void kn_go_to_result(Place &place, const Args &kn, int first, unsigned index) {
#pragma unroll 1
    for (int a = first; a < (int)kn.rank; ++a) {
        const unsigned extent = (unsigned)kn.axis[a].extent, outer = a + 1 < (int)kn.rank ? index / extent : 0;
#pragma unroll
        for (int o = 0; o < Operands; ++o)
            place.at[o] += (index - outer * extent) * kn.axis[a].stride[o];
        index = outer;
    }
}

// Moves to step `first` of that walk; what is left to go within the row is returned, its row put in `row`.
template <int Form, int Operands, class Place, class Args>
__device__ __forceinline__ unsigned kn_begin(Place &place, const Args &kn, long long first, int scale, long long &row) {
    row = 0;
    if constexpr (Form > 1) {
        row = first / kn.per_row.extent;
        if (kn.fold_rank == 2)
#pragma unroll
            for (int o = 0; o < Operands; ++o)
                place.at[o] += row * kn.axis[1].stride[o];
        return (unsigned)(first - row * kn.per_row.extent);
    }
#pragma unroll
    for (int o = 0; o < Operands; ++o)
        place.at[o] += first * scale * kn.axis[0].stride[o];
    return 0;
}

// Whether this block is the last of `count` that come here; its threads see then what the others have written. The counter is zero again afterwards. One thread's atomic, which
// releases what the barrier in front of it has gathered and acquires for the one behind it, costs less than a fence of every thread.
__device__ __forceinline__ bool kn_comes_last(unsigned *counter, unsigned count) {
    __shared__ unsigned before;
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(count - 1) : "memory");
    __syncthreads();
    return before == count - 1;
}

// `bytes` bytes from anywhere go into shared memory by vectors of 16, with the same distance from 16 there: `off` is the first one's place. What is read beside them is in
// the same 16 bytes as some of them. Where Padded, 16 bytes behind 128 are left free: elements 128 bytes apart lie in different banks.
template <bool Padded>
__device__ __forceinline__ unsigned kn_stage(unsigned char *room, const char *from, unsigned bytes) {
    const unsigned off = (unsigned)(unsigned long long)from & 15, vectors = (off + bytes + 15) / 16;
    const char *const aligned = from - off;
#if __CUDA_ARCH__ >= 800
    const unsigned to = (unsigned)__cvta_generic_to_shared(room);
#pragma unroll 4
    for (unsigned v = threadIdx.x; v < vectors; v += blockDim.x)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + 16 * (Padded ? v + v / 8 : v)), "l"(aligned + 16 * v) : "memory");
#else
#pragma unroll 4
    for (unsigned v = threadIdx.x; v < vectors; v += blockDim.x)
        reinterpret_cast<uint4 *>(room)[Padded ? v + v / 8 : v] = reinterpret_cast<const uint4 *>(aligned)[v];
#endif
    return off;
}

// Element `index` of what was staged.
template <class T, bool Padded>
__device__ __forceinline__ const T &kn_staged(const unsigned char *room, unsigned off, unsigned index) {
    const unsigned byte = off + index * (unsigned)sizeof(T);
    return *reinterpret_cast<const T *>(room + byte + (Padded ? byte / 128 * 16 : 0));
}

// Until all that was staged is there, for every thread.
__device__ __forceinline__ void kn_stage_wait() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
    __syncthreads();
}
