// needs: kn_fold_block kn_fold_lanes kn_stage
// What reductions share. Those that hold a value are the first ones of their lanes, threads or blocks: their number says who does, and no identity is made up. Time to compile follows
// the copies that are made of loads and folds: loops that are gone through seldom are not unrolled.

// A number that is known to the compiler where it is handed over.
template <int Number> struct kn_number { enum { value = Number }; };

// Division of numbers below 2^31: schedule/layout.h.
struct kn_divider {
    unsigned extent, magic, shift, unused;
};

__device__ __forceinline__ unsigned kn_divide(unsigned n, const kn_divider &by) {
    return (__umulhi(n, by.magic) + n) >> by.shift;
}

// Division of numbers below 2^20, by ones that are not known before: what the approximation is off by is less than the half from the next integer on. A tenth of the code of `/`.
__device__ __forceinline__ unsigned kn_quotient(unsigned n, unsigned by) {
    return (unsigned)__fdividef((float)n + 0.5f, (float)by);
}

// Another lane's value, word by word, structs too: of the lane `at`, of the one `at` further ('+'), or of the one whose number differs by it ('^').
template <char How, class T>
__device__ __forceinline__ T kn_shuffle(const T &value, int at) {
    unsigned word[(sizeof(T) + 3) / 4] = {};
    memcpy(word, &value, sizeof(T));
#pragma unroll
    for (int k = 0; k < (int)(sizeof(T) + 3) / 4; ++k) {
        if constexpr (How == '+')
            word[k] = __shfl_down_sync(0xffffffffu, word[k], at);
        else if constexpr (How == '^')
            word[k] = __shfl_xor_sync(0xffffffffu, word[k], at);
        else
            word[k] = __shfl_sync(0xffffffffu, word[k], at);
    }
    T other;
    memcpy(&other, word, sizeof(T));
    return other;
}

// The values of the first `held` lanes of a group are folded into that of its first one, neighbours first. All lanes of the warp come here with the same `held`, but for those of groups
// whose value nobody needs.
template <class T, class Fold>
__device__ __forceinline__ void kn_fold_lanes(T &value, unsigned held, unsigned lane, const Fold &fold) {
#pragma unroll 1
    for (unsigned by = 1; by < held; by *= 2) {
        const T other = kn_shuffle<'+'>(value, by);
        if (lane + by < held)
            value = fold(value, other);
    }
}

// The same for the first `held` threads of a block of Block, or all where there are fewer; none may hold a value. One loop folds within warps, then what these have.
template <int Block, class T, class Fold>
__device__ __forceinline__ void kn_fold_block(T &value, unsigned held, const Fold &fold) {
    __shared__ __align__(16) unsigned char room[Block / 32 * sizeof(T)];
    T *const shared = reinterpret_cast<T *>(room);
    held = held < Block ? held : Block;
#pragma unroll 1
    for (unsigned by = 1; by < held; by *= 2) {
        if (by == 32) {
            if (threadIdx.x % 32 == 0)
                shared[threadIdx.x / 32] = value;
            __syncthreads();
            held = (held + 31) / 32;
            if (threadIdx.x < held)
                value = shared[threadIdx.x];
            by = 1;
        }
        const T other = kn_shuffle<'+'>(value, by);
        if (threadIdx.x % 32 + by < 32 && threadIdx.x + by < held)
            value = fold(value, other);
    }
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

// The same along two to four axes, whose rows are fewer than 2^31 (of two kn_begin has gone to the first): without a branch, since vectors that are gathered wait for their loads at the next one.
template <int Operands, class Place, class Args>
__device__ __forceinline__ void kn_go_near(Place &place, const Args &kn, unsigned at, int scale, unsigned row) {
    const unsigned rows = kn_divide(at, kn.per_row), inner = at - rows * kn.per_row.extent;
    const unsigned extent1 = kn.fold_rank > 2 ? (unsigned)kn.axis[1].extent : ~0u, extent2 = kn.fold_rank > 3 ? (unsigned)kn.axis[2].extent : ~0u;
    const unsigned all = kn.fold_rank > 2 ? row + rows : rows, second = all / extent1, third = second / extent2;
#pragma unroll
    for (int o = 0; o < Operands; ++o)
        place.at[o] += (long long)inner * scale * kn.axis[0].stride[o] + (all - second * extent1) * kn.axis[1].stride[o] + (second - third * extent2) * kn.axis[2].stride[o] +
                       third * kn.axis[3].stride[o];
}

// Moves to result `index`, along the kept axes from `first` on. Launches have fewer than 2^31 results: divisions of 64 bits are slow, to compile too. All threads go through
// the same axes, whatever their index: what an axis has is read by one instruction then.
template <int Operands, class Place, class Args>
__device__ __forceinline__ void kn_go_to_result(Place &place, const Args &kn, int first, unsigned index) {
    const int last = (int)kn.rank - 1;
#pragma unroll 1
    for (int a = first; a < last; ++a) {
        const unsigned extent = (unsigned)kn.axis[a].extent, outer = index / extent;
#pragma unroll
        for (int o = 0; o < Operands; ++o)
            place.at[o] += (index - outer * extent) * kn.axis[a].stride[o];
        index = outer;
    }
    if (first <= last)
#pragma unroll
        for (int o = 0; o < Operands; ++o)
            place.at[o] += index * kn.axis[last].stride[o];
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
