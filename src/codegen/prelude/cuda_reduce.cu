// needs: kn_reduce_block kn_reduce_lanes kn_stage
// Functions that reductions share. The lanes, threads or blocks that hold a value are the first ones: their number says which, so that no identity is needed. Compile time grows with the
// copies of loads and reductions: loops with few iterations are not unrolled.

// A number that is known to the compiler where it is handed over.
template <int Number> struct kn_number { enum { value = Number }; };

// A vector as it was loaded, in words; of a broadcast operand one element. A thread has several under way, each behind a condition: code that takes words apart or repeats an element,
// there, would wait for each load before the next begins. So elements are made where they are read.
template <class T, int N>
struct alignas(sizeof(T) * N < 4 ? 4 : sizeof(T) * N < 16 ? sizeof(T) * N : 16) kn_loaded {
    unsigned word[(sizeof(T) * N + 3) / 4];
};

template <int Bytes> struct kn_bits { typedef unsigned type; };
template <> struct kn_bits<1> { typedef unsigned char type; };
template <> struct kn_bits<2> { typedef unsigned short type; };

template <class T, int N>
__device__ __forceinline__ kn_loaded<T, N> kn_load_words(const T *from, bool is_along) {
    kn_loaded<T, N> loaded;
    if (is_along)
        if constexpr (sizeof(T) * N < 4) {
            loaded.word[0] = *reinterpret_cast<const typename kn_bits<sizeof(T) * N>::type *>(from);
        } else {
            loaded = *reinterpret_cast<const kn_loaded<T, N> *>(from);
        }
    else if constexpr (sizeof(T) < 4) {
        loaded.word[0] = *reinterpret_cast<const typename kn_bits<sizeof(T)>::type *>(from);
    } else {
        const T one = *from;
        memcpy(&loaded, &one, sizeof one);
    }
    return loaded;
}

// Element k, which is known to the compiler. A word of several elements is moved by an instruction of which the compiler knows nothing: it would put what takes the word apart behind
// the load.
template <class T, int N>
__device__ __forceinline__ T kn_loaded_element(const kn_loaded<T, N> &loaded, int k, bool is_along) {
    constexpr int words = sizeof(T) < 4 ? 1 : sizeof(T) / 4;
    unsigned word[words];
#pragma unroll
    for (int j = 0; j < words; ++j) {
        unsigned one = loaded.word[j], own = loaded.word[k * (int)sizeof(T) / 4 + j];
        if constexpr (sizeof(T) < 4) {
            if constexpr (sizeof(T) == 1)
                asm("mov.b32 %0, %1;" : "=r"(own) : "r"(own));
            one = __byte_perm(one, one, sizeof(T) == 1 ? 0 : 0x1010);
        }
        word[j] = is_along ? own : one;
    }
    word[0] >>= 8 * (k * (int)sizeof(T) % 4);
    T element;
    memcpy(&element, word, sizeof element);
    return element;
}

// Division of numbers below 2^31: schedule/layout.h.
struct kn_divider {
    unsigned extent, magic, shift, unused;
};

__device__ __forceinline__ unsigned kn_divide(unsigned n, const kn_divider &by) {
    return (__umulhi(n, by.magic) + n) >> by.shift;
}

// Division of numbers below 2^20: the error of the approximation is less than the half that separates it from the next integer. A tenth of the code of `/`.
__device__ __forceinline__ unsigned kn_quotient(unsigned n, unsigned by) {
    return (unsigned)__fdividef((float)n + 0.5f, (float)by);
}

// Another lane's value, word by word, also of structs: that of the lane `at`, of the lane `at` further ('+'), or of the lane whose number differs by it ('^').
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

// Combines the values of the first `held` lanes of a group into that of its first lane, neighbours first. All lanes of the warp call it with the same `held`, except those of groups
// whose value is not needed.
template <class T, class Reduce>
__device__ __forceinline__ void kn_reduce_lanes(T &value, unsigned held, unsigned lane, const Reduce &reduce) {
#pragma unroll 1
    for (unsigned by = 1; by < held; by *= 2) {
        const T other = kn_shuffle<'+'>(value, by);
        if (lane + by < held)
            value = reduce(value, other);
    }
}

// The same for the first `held` threads of a block of Block, or all if it has fewer; none may hold a value. One loop combines the values of each warp, then those of the warps.
template <int Block, class T, class Reduce>
__device__ __forceinline__ void kn_reduce_block(T &value, unsigned held, const Reduce &reduce) {
    __shared__ __align__(16) unsigned char buffer[Block / 32 * sizeof(T)];
    T *const shared = reinterpret_cast<T *>(buffer);
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
            value = reduce(value, other);
    }
}

// A thread's partial values: sixteen are combined to one of a longer sum, so that rounding errors do not accumulate.
template <class T>
struct kn_chain {
    T near, far;
};

// Bytes that hold truth are packed and unpacked by instructions of their own.
template <> struct kn_chain<bool> {
    unsigned near, far;
};

template <class T, class Reduce>
__device__ __forceinline__ void kn_chain_put(kn_chain<T> &chain, unsigned turn, const T &value, const Reduce &reduce) {
    if (turn % 16 == 0) {
        if (turn > 0)
            chain.far = turn > 16 ? reduce(chain.far, chain.near) : chain.near;
        chain.near = value;
    } else {
        chain.near = reduce(chain.near, value);
    }
}

template <class T, class Reduce>
__device__ __forceinline__ T kn_chain_all(const kn_chain<T> &chain, unsigned turns, const Reduce &reduce) {
    return turns > 16 ? reduce(chain.far, chain.near) : chain.near;
}

// Neighbours are combined first, then pairs of pairs: a count in a struct is then a constant on each level, and the compiler removes divisions by it.
template <int N, class T, class Reduce>
__device__ __forceinline__ T kn_reduce_tree(T (&side)[N], const Reduce &reduce) {
#pragma unroll
    for (int apart = 1; apart < N; apart *= 2)
#pragma unroll
        for (int k = 0; k < N; k += 2 * apart)
            side[k] = reduce(side[k], side[k + apart]);
    return side[0];
}

// A number of rows divided by the extent of the second, or third, reduction axis; by a divider, if the launch has one.
template <class Args>
__device__ __forceinline__ auto kn_divide_second(unsigned n, const Args &kn, int) -> decltype(kn_divide(n, kn.per_second)) { return kn_divide(n, kn.per_second); }
template <class Args>
__device__ __forceinline__ unsigned kn_divide_second(unsigned n, const Args &kn, long) { return n / (unsigned)kn.axis[1].extent; }
template <class Args>
__device__ __forceinline__ auto kn_divide_third(unsigned n, const Args &kn, int) -> decltype(kn_divide(n, kn.per_third)) { return kn_divide(n, kn.per_third); }
template <class Args>
__device__ __forceinline__ unsigned kn_divide_third(unsigned n, const Args &kn, long) {
    return kn.reduction_rank > 3 ? n / (unsigned)kn.axis[2].extent : 0;
}

// Moves `place` by `at` times `scale` elements along the innermost reduction axis. Variant 1: it is the only one. Variant 2: kn.per_row such steps are a row, and rows lie along
// one more axis; there may be none, with one row. Variant 3: along two or three more axes, of fewer than 2^31 rows, beginning with row `row`. Variant 4: along any, so.
template <int Variant, int Operands, class Place, class Args>
__device__ __forceinline__ void kn_go(Place &place, const Args &kn, unsigned at, int scale, long long row) {
    unsigned inner = at;
    if constexpr (Variant > 1) {
        const unsigned rows = kn_divide(at, kn.per_row);
        inner = at - rows * kn.per_row.extent;
        if (Variant == 2 || kn.reduction_rank == 2) {
#pragma unroll
            for (int o = 0; o < Operands; ++o)
                place.at[o] += rows * kn.axis[1].stride[o];
        } else if (Variant == 3) {
            const unsigned all = (unsigned)row + rows, second = kn_divide_second(all, kn, 0), third = kn_divide_third(second, kn, 0);
            const unsigned own = all - second * (unsigned)kn.axis[1].extent, left = second - third * (unsigned)kn.axis[2].extent;
#pragma unroll
            for (int o = 0; o < Operands; ++o)
                place.at[o] += own * kn.axis[1].stride[o] + left * kn.axis[2].stride[o] + third * kn.axis[3].stride[o];
        } else {
            kn_move(place, kn, 1, kn.reduction_rank, row + rows);
        }
    }
#pragma unroll
    for (int o = 0; o < Operands; ++o)
        place.at[o] += (long long)inner * scale * kn.axis[0].stride[o];
}

// Variant 3 without a branch, also of two axes, of which kn_begin has added row `row` already: a branch behind a gathered vector would wait for its loads.
template <int Operands, class Place, class Args>
__device__ __forceinline__ void kn_go_near(Place &place, const Args &kn, unsigned at, int scale, unsigned row) {
    const unsigned rows = kn_divide(at, kn.per_row), inner = at - rows * kn.per_row.extent;
    const unsigned all = kn.reduction_rank > 2 ? row + rows : rows, second = kn.reduction_rank > 2 ? kn_divide_second(all, kn, 0) : 0;
    const unsigned third = kn_divide_third(second, kn, 0), own = all - second * (unsigned)kn.axis[1].extent, left = second - third * (unsigned)kn.axis[2].extent;
#pragma unroll
    for (int o = 0; o < Operands; ++o)
        place.at[o] += (long long)inner * scale * kn.axis[0].stride[o] + own * kn.axis[1].stride[o] + left * kn.axis[2].stride[o] + third * kn.axis[3].stride[o];
}

// Moves `place` to result `index`, along the output axes from `first` on. Launches have fewer than 2^31 results, since divisions of 64 bits are slow to run and to compile. All
// threads iterate over the same axes, whatever their index, so that one instruction reads an axis for all of them.
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

// Moves `place` to step `first` of that loop nest, or, with several axes, to the beginning of its row. Returns the steps within the row, and its number in `row`.
template <int Variant, int Operands, class Place, class Args>
__device__ __forceinline__ unsigned kn_begin(Place &place, const Args &kn, long long first, int scale, long long &row) {
    row = 0;
    if constexpr (Variant > 1) {
        row = first / kn.per_row.extent;
        if (Variant == 2 || kn.reduction_rank == 2)
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

// True in the last of `count` blocks that call it, whose threads then see the writes of the others. The counter is zero again afterwards. The atomic of one thread, which releases
// the writes in front of the first barrier and acquires for the second one, costs less than a fence of every thread.
__device__ __forceinline__ bool kn_comes_last(unsigned *counter, unsigned count) {
    __shared__ unsigned before;
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(count - 1) : "memory");
    __syncthreads();
    return before == count - 1;
}

// Copies `bytes` bytes to shared memory by vectors of 16, with the same misalignment; returns the offset of the first byte. Bytes besides that are read with them lie in the same
// 16 bytes as some of them. If Padded, 16 bytes behind each 128 are unused, so that elements 128 bytes apart are in different banks.
template <bool Padded>
__device__ __forceinline__ unsigned kn_stage(unsigned char *buffer, const char *from, unsigned bytes) {
    const unsigned off = (unsigned)(unsigned long long)from & 15, vectors = (off + bytes + 15) / 16;
    const char *const aligned = from - off;
#if __CUDA_ARCH__ >= 800
    const unsigned to = (unsigned)__cvta_generic_to_shared(buffer);
#pragma unroll 4
    for (unsigned v = threadIdx.x; v < vectors; v += blockDim.x)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + 16 * (Padded ? v + v / 8 : v)), "l"(aligned + 16 * v) : "memory");
#else
#pragma unroll 4
    for (unsigned v = threadIdx.x; v < vectors; v += blockDim.x)
        reinterpret_cast<uint4 *>(buffer)[Padded ? v + v / 8 : v] = reinterpret_cast<const uint4 *>(aligned)[v];
#endif
    return off;
}

// Element `index` of a staged input.
template <class T, bool Padded>
__device__ __forceinline__ const T &kn_staged(const unsigned char *buffer, unsigned off, unsigned index) {
    const unsigned byte = off + index * (unsigned)sizeof(T);
    return *reinterpret_cast<const T *>(buffer + byte + (Padded ? byte / 128 * 16 : 0));
}

// Waits until all staged bytes are there, for every thread.
__device__ __forceinline__ void kn_stage_wait() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
    __syncthreads();
}

// Steps of copies to shared memory: what a thread has begun since the step before is one. Waits until all steps but the last `but`, seven at most, are there, for every thread.
__device__ __forceinline__ void kn_stage_step() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
__device__ __forceinline__ void kn_stage_wait_but(unsigned but) {
#if __CUDA_ARCH__ >= 800
    switch (but) {
    case 0: asm volatile("cp.async.wait_group 0;" ::: "memory"); break;
    case 1: asm volatile("cp.async.wait_group 1;" ::: "memory"); break;
    case 2: asm volatile("cp.async.wait_group 2;" ::: "memory"); break;
    case 3: asm volatile("cp.async.wait_group 3;" ::: "memory"); break;
    case 4: asm volatile("cp.async.wait_group 4;" ::: "memory"); break;
    case 5: asm volatile("cp.async.wait_group 5;" ::: "memory"); break;
    case 6: asm volatile("cp.async.wait_group 6;" ::: "memory"); break;
    default: asm volatile("cp.async.wait_group 7;" ::: "memory");
    }
#endif
    __syncthreads();
}
