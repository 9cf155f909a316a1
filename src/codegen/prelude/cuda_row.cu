// needs: kn_reduce_group kn_reduce_threads
// with: reduce
// Functions that row programs share. A row is divided into items, vectors of some elements, which are dealt to the threads one by one, so that threads without items are the last ones.
// An unaligned row has elements of its neighbours in its first and its last item.

template <class T> struct kn_referred;
template <class T> struct kn_referred<T &> { typedef T type; };

// Combines the values of the first `held` lanes of a group of `width` (a power of two): every lane of the group gets the result, with the same bits. If all lanes hold a value,
// nothing is selected: each lane combines its value with the other's, and takes the first lane's result at the end, since a zero's sign may depend on the order.
template <class T, class Reduce>
__device__ __forceinline__ void kn_reduce_group(T &value, unsigned lane, unsigned held, unsigned width, const Reduce &reduce) {
    if (held >= width) {
#pragma unroll
        for (unsigned by = 1; by < 32; by *= 2)
            if (by < width)
                value = reduce(value, kn_shuffle<'^'>(value, by));
        value = kn_shuffle<'='>(value, threadIdx.x % 32 & ~(width - 1));
        return;
    }
#pragma unroll
    for (unsigned by = 1; by < 32; by *= 2) {
        if (by < width) {
            const T other = kn_shuffle<'^'>(value, by);
            const bool is_upper = lane & by;
            if ((lane & ~(2 * by - 1)) + by < held)
                value = reduce(is_upper ? other : value, is_upper ? value : other);
            else if (is_upper)
                value = other;
        }
    }
}

// The same for a block, whose first `held` threads hold a value, all of them if Whole. `width` is the number of warps, rounded up to a power of two. Each warp combines the values
// of all warps by itself: one barrier is enough. Each reduction of a program (Stage) has shared memory of its own.
template <int Stage, int Block, bool Whole, class T, class Reduce>
__device__ __forceinline__ void kn_reduce_threads(T &value, unsigned held, unsigned width, const Reduce &reduce) {
    __shared__ __align__(16) unsigned char buffer[Block / 32 * sizeof(T)];
    T *const shared = reinterpret_cast<T *>(buffer);
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = Whole ? held / 32 : (held + 31) / 32;
    kn_reduce_group(value, lane, Whole ? 32 : warp < warps ? held - warp * 32 : 0, 32, reduce);
    if (width > 1) {
        if (lane == 0 && (Whole || warp < warps))
            shared[warp] = value;
        __syncthreads();
        const unsigned other = lane & (width - 1);
        value = shared[other < warps ? other : 0];
        kn_reduce_group(value, other, warps, width, reduce);
    }
}

// The items of a row that a thread holds: every `step`-th from `at` on. The first item of the row begins `off` elements in front of it.
// All threads have their first Whole items. If Tells, the compiler is told which items are in the row as a whole, so that it tests none of these; it
// would wait for each load of vectors of eight halves (an H200).
template <int Whole, bool Tells = false>
struct kn_deal {
    int at, step, count, off, length;
    __device__ __forceinline__ bool has(int turn) const { return turn < Whole || at + turn * step < count; }
    template <int Vector> __device__ __forceinline__ int first(int turn) const {
        const int number = (at + turn * step) * Vector - off;
        if (Tells && turn > 0)
            __builtin_assume(number >= 0);
        if (Tells && turn + 1 < Whole)
            __builtin_assume(number + Vector <= length);
        return number;
    }
    __device__ __forceinline__ unsigned holders() const { return Whole > 0 || count >= step ? step : count; } // threads that hold any
};

// Bytes from the beginning of a row to its element `at`, where the row lies in pieces along two axes.
template <class Args>
__device__ __forceinline__ long long kn_in_pieces(const Args &kn, int at, int operand) {
    const unsigned piece = kn_divide((unsigned)at, kn.per_piece);
    return (long long)(at - piece * kn.per_piece.extent) * kn.axis[0].stride[operand] + (long long)piece * kn.axis[1].stride[operand];
}

// The number in the row of an item's element. Elements of neighbouring rows are replaced by others of the same item, so that all elements of an item may be used.
template <bool Unaligned, int Vector>
__device__ __forceinline__ int kn_row_element(int first, int k, int length) {
    if (!Unaligned)
        return first + k;
    return first + k < 0 ? first + Vector - 1 : first + k >= length ? first : first + k;
}

template <bool Unaligned, class T, int N>
__device__ __forceinline__ void kn_mend_elements(kn_pack<T, N> &item, int first, int length) {
    if (!Unaligned || (first >= 0 && first + N <= length))
        return;
    const T low = item.at[0], high = item.at[N - 1];
#pragma unroll
    for (int k = 0; k < N; ++k)
        item.at[k] = first + k < 0 ? high : first + k >= length ? low : item.at[k];
}

// Four bytes stay a word, of which the compiler knows nothing: it would have a register for each of them until they are used.
template <bool Unaligned, class T, int N>
__device__ __forceinline__ void kn_mend(kn_pack<T, N> &item, int first, int length) {
    kn_mend_elements<Unaligned>(item, first, length);
    if constexpr (Unaligned && sizeof(item) == 4 && N == 4) {
        unsigned word;
        memcpy(&word, &item, sizeof item);
        asm("mov.b32 %0, %1;" : "=r"(word) : "r"(word));
        memcpy(&item, &word, sizeof item);
    }
}

template <bool Unaligned, class T, int N>
__device__ __forceinline__ void kn_store_item(T *to, const kn_pack<T, N> &item, int first, int length) {
    if (!Unaligned || (first >= 0 && first + N <= length)) {
        kn_store(to, item);
    } else {
#pragma unroll
        for (int k = 0; k < N; ++k)
            if (first + k >= 0 && first + k < length)
                to[k] = item.at[k];
    }
}

// Combines the elements of an item that are the row's; at least one is.
template <bool Unaligned, int N, class T, class Reduce>
__device__ __forceinline__ T kn_reduce_item(T (&side)[N], int first, int length, const Reduce &reduce) {
    if (!Unaligned || (first >= 0 && first + N <= length))
        return kn_reduce_tree(side, reduce);
    unsigned own = 0;
#pragma unroll
    for (int k = 0; k < N; ++k)
        own |= (unsigned)((unsigned)(first + k) < (unsigned)length) << k;
#pragma unroll
    for (int apart = 1; apart < N; apart *= 2) {
#pragma unroll
        for (int k = 0; k < N; k += 2 * apart) {
            const bool lower = own >> k & 1, upper = own >> (k + apart) & 1;
            const T both = reduce(side[k], side[k + apart]);
            side[k] = lower && upper ? both : lower ? side[k] : side[k + apart];
        }
        own |= own >> apart;
    }
    return side[0];
}

// A loop over the items that a thread holds: `load` loads the rest of the next item while `one` computes with the one before.
template <int Vector, int Items, class Item, class Deal, class Load, class One>
__device__ __forceinline__ void kn_each_held(Item (&held)[Items], const Deal &deal, const Load &load, const One &one) {
    if (deal.has(0))
        load(held[0], deal.template first<Vector>(0));
#pragma unroll
    for (int u = 0; u < Items; ++u) {
        if (u + 1 < Items && deal.has(u + 1))
            load(held[u + 1], deal.template first<Vector>(u + 1));
        if (deal.has(u))
            one(held[u], deal.template first<Vector>(u), u);
    }
}

// The same, with a reduction; `one` writes the values of an item's elements.
template <class T, int Vector, bool Unaligned, int Items, class Item, class Deal, class Load, class One, class Reduce>
__device__ __forceinline__ T kn_reduce_held(Item (&held)[Items], const Deal &deal, const Load &load, const One &one, const Reduce &reduce) {
    kn_chain<T> chain;
    kn_each_held<Vector>(held, deal, load, [&](Item &item, const int first, const int turn) {
        T side[Vector];
        one(item, first, side);
        kn_chain_put(chain, turn, kn_reduce_item<Unaligned>(side, first, deal.length, reduce), reduce);
    });
    return Items > 16 && deal.has(16) ? reduce(chain.far, chain.near) : chain.near;
}

// A vector of bfloat16 in words, which registers hold until its last use: its elements, and the numbers that they are, would have registers of their own. The compiler does not see that
// the words are the same at each use.
template <class T, int N>
__device__ __forceinline__ kn_pack<T, N> kn_unpack(const kn_pack<T, N> &item) {
    unsigned word[sizeof(T) * N / 4];
    kn_pack<T, N> own;
    memcpy(word, &item, sizeof item);
#pragma unroll
    for (int k = 0; k < (int)sizeof(T) * N / 4; ++k)
        asm volatile("mov.b32 %0, %1;" : "=r"(word[k]) : "r"(word[k]));
#pragma unroll
    for (int k = 0; k < N; ++k) {
        const auto bits = (unsigned short)(word[k / 2] >> 16 * (k % 2));
        memcpy(&own.at[k], &bits, sizeof bits);
    }
    return own;
}

// One element, repeated.
template <class T, int N>
__device__ __forceinline__ kn_pack<T, N> kn_repeat(const T *from) {
    kn_pack<T, N> same;
    const T one = *from;
#pragma unroll
    for (int k = 0; k < N; ++k)
        same.at[k] = one;
    return same;
}

// Copies an item to shared memory.
template <class T, int N>
__device__ __forceinline__ void kn_stage_item(kn_pack<T, N> &to, const T *from) {
    constexpr int bytes = sizeof(T) * N;
#if __CUDA_ARCH__ >= 800
    if constexpr (bytes >= 4 && (N > 1 || alignof(T) == bytes)) {
        const unsigned at = (unsigned)__cvta_generic_to_shared(&to);
#pragma unroll
        for (int k = 0; k < bytes; k += 16) {
            if constexpr (bytes >= 16)
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at + k), "l"((const char *)from + k) : "memory");
            else
                asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at), "l"(from), "n"(bytes < 16 ? bytes : 4) : "memory");
        }
        return;
    }
#endif
    if constexpr (N > 1)
        to = kn_load<T, N>(from);
    else
        to.at[0] = *from;
}

// Waits until the items that this thread has staged are there, for the thread itself.
__device__ __forceinline__ void kn_stage_own_wait() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// Blocks of a cluster run at the same time, and access each other's shared memory after all have begun. Without clusters a block is one by itself.
__device__ __forceinline__ unsigned kn_rank_in_cluster() {
    unsigned rank = 0;
#if __CUDA_ARCH__ >= 900
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
    return rank;
}

// A gate counts the bytes that a block receives, and opens when all have come. There are two, for exchanges with even and odd numbers: a block that sends for the exchange after the
// next has received all of the next one, so all others have received all of this one.
__device__ __forceinline__ unsigned kn_cluster_gate(unsigned turn) {
    __shared__ unsigned long long gate[2];
    return (unsigned)__cvta_generic_to_shared(gate + turn % 2);
}

// Says that a block has begun. Soon: without a fence, since the initialisation of the gates has its own. An arrival that releases waits for a fence of the whole GPU, and the
// loads behind it wait too.
template <bool Soon>
__device__ __forceinline__ void kn_arrive_in_cluster() {
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(kn_cluster_gate(0)) : "memory");
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(kn_cluster_gate(1)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncwarp();
    if (Soon)
        asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    else
        asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}

__device__ __forceinline__ void kn_wait_for_cluster() {
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

// An exchange in a cluster, number `turn`: the first thread of a block says how many bytes it waits for; a value is sent to the place in another block's shared memory that `place`
// has in this block's; then a block waits until all bytes have come.
__device__ __forceinline__ void kn_expect_in_cluster(unsigned turn, unsigned bytes) {
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0)
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(kn_cluster_gate(turn)), "r"(bytes) : "memory");
#endif
}

template <class T>
__device__ __forceinline__ void kn_send_in_cluster(const unsigned *place, const T &value, unsigned block, unsigned turn) {
#if __CUDA_ARCH__ >= 900
    constexpr int words = (sizeof(T) + 3) / 4;
    unsigned word[words] = {};
    memcpy(word, &value, sizeof(T));
    unsigned there, gate_there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"((unsigned)__cvta_generic_to_shared(place)), "r"(block));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(gate_there) : "r"(kn_cluster_gate(turn)), "r"(block));
#pragma unroll
    for (int k = 0; k < words; ++k)
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(there + 4 * k), "r"(word[k]), "r"(gate_there) : "memory");
#endif
}

__device__ __forceinline__ void kn_receive_in_cluster(unsigned turn) {
#if __CUDA_ARCH__ >= 900
    const unsigned gate = kn_cluster_gate(turn), parity = turn / 2 % 2;
    unsigned is_open = 0;
    while (!is_open)
        asm volatile("{.reg .pred open; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 open, [%1], %2; selp.u32 %0, 1, 0, open;}" : "=r"(is_open) : "r"(gate), "r"(parity) : "memory");
#endif
}

// Combines the values of the first `held` blocks of the cluster, as exchange number `turn`: every block gets the result. The value of a block has a place of its own in each block, so
// that reductions do not interfere; a block waits only for the values that it needs, and no fence waits for other transfers.
template <int Stage, class T, class Reduce>
__device__ __forceinline__ void kn_reduce_cluster(T &value, unsigned rank, unsigned held, unsigned blocks, unsigned turn, const Reduce &reduce) {
#if __CUDA_ARCH__ >= 900
    constexpr int words = (sizeof(T) + 3) / 4, most = 16;
    __shared__ unsigned buffer[most * words];
    if (blocks == 1)
        return;
    kn_expect_in_cluster(turn, held * words * 4);
    if (threadIdx.x < blocks && rank < held)
        kn_send_in_cluster(buffer + rank * words, value, threadIdx.x, turn);
    kn_receive_in_cluster(turn);
    const unsigned other = threadIdx.x & (blocks - 1);
    unsigned word[words];
#pragma unroll
    for (int k = 0; k < words; ++k)
        word[k] = buffer[(other < held ? other : 0) * words + k];
    memcpy(&value, word, sizeof(T));
    kn_reduce_group(value, other, held, blocks, reduce);
#endif
}
