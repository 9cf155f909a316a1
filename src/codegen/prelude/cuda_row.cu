// needs: kn_fold_group kn_fold_threads
// with: fold
// What row programs share. A row lies in items, vectors of some elements; threads take them in turn, so that those which hold none are the last ones. A row that begins
// off a vector's boundary has elements of its neighbours in its first and its last item.

template <class T> struct kn_referred;
template <class T> struct kn_referred<T &> { typedef T type; };

// Lanes up to `held` of a group of `width` (a power of two) fold their values: every lane of the group has the result, of the same bits. Where all hold
// one nothing is selected: each lane folds its value with the other's, and takes the first lane's result in the end, since a zero's sign may depend on which came first.
template <class T, class Fold>
__device__ __forceinline__ void kn_fold_group(T &value, unsigned lane, unsigned held, unsigned width, const Fold &fold) {
    if (held >= width) {
#pragma unroll
        for (unsigned by = 1; by < 32; by *= 2)
            if (by < width)
                value = fold(value, kn_shuffle<'^'>(value, by));
        value = kn_shuffle<'='>(value, threadIdx.x % 32 & ~(width - 1));
        return;
    }
#pragma unroll
    for (unsigned by = 1; by < 32; by *= 2) {
        if (by < width) {
            const T other = kn_shuffle<'^'>(value, by);
            const bool is_upper = lane & by;
            if ((lane & ~(2 * by - 1)) + by < held)
                value = fold(is_upper ? other : value, is_upper ? value : other);
            else if (is_upper)
                value = other;
        }
    }
}

// The same for a block, of which the first `held` threads hold a value, all of them where it is Whole, and `width` the number of warps, and more up to a power of two. Each
// warp folds the values of all warps by itself: one barrier is enough. Each reduction of a program (Stage) has shared memory of its own.
template <int Stage, int Block, bool Whole, class T, class Fold>
__device__ __forceinline__ void kn_fold_threads(T &value, unsigned held, unsigned width, const Fold &fold) {
    __shared__ __align__(16) unsigned char room[Block / 32 * sizeof(T)];
    T *const shared = reinterpret_cast<T *>(room);
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = Whole ? held / 32 : (held + 31) / 32;
    kn_fold_group(value, lane, Whole ? 32 : warp < warps ? held - warp * 32 : 0, 32, fold);
    if (width > 1) {
        if (lane == 0 && (Whole || warp < warps))
            shared[warp] = value;
        __syncthreads();
        const unsigned other = lane & (width - 1);
        value = shared[other < warps ? other : 0];
        kn_fold_group(value, other, warps, width, fold);
    }
}

// Which items of a row a thread holds: every `step`-th from `at` on. The first one begins `off` elements in front of the row.
// All threads have their first Whole items.
template <int Whole>
struct kn_deal {
    int at, step, count, off, length;
    __device__ __forceinline__ bool has(int turn) const { return turn < Whole || at + turn * step < count; }
    template <int Vector> __device__ __forceinline__ int first(int turn) const { return (at + turn * step) * Vector - off; }
    __device__ __forceinline__ unsigned holders() const { return Whole > 0 || count >= step ? step : count; } // threads that hold any
};

// An item's element, by its number in the row. In place of neighbours' elements stand others of the same item that are the row's: all of them may be computed with.
template <bool Ragged, int Vector>
__device__ __forceinline__ int kn_row_element(int first, int k, int length) {
    if (!Ragged)
        return first + k;
    return first + k < 0 ? first + Vector - 1 : first + k >= length ? first : first + k;
}

template <bool Ragged, class T, int N>
__device__ __forceinline__ void kn_mend(kn_pack<T, N> &item, int first, int length) {
    if (!Ragged || (first >= 0 && first + N <= length))
        return;
    const T low = item.at[0], high = item.at[N - 1];
#pragma unroll
    for (int k = 0; k < N; ++k)
        item.at[k] = first + k < 0 ? high : first + k >= length ? low : item.at[k];
}

template <bool Ragged, class T, int N>
__device__ __forceinline__ void kn_store_item(T *to, const kn_pack<T, N> &item, int first, int length) {
    if (!Ragged || (first >= 0 && first + N <= length)) {
        kn_store(to, item);
    } else {
#pragma unroll
        for (int k = 0; k < N; ++k)
            if (first + k >= 0 && first + k < length)
                to[k] = item.at[k];
    }
}

// The elements of an item that are the row's; at least one is.
template <bool Ragged, int N, class T, class Fold>
__device__ __forceinline__ T kn_fold_item(T (&side)[N], int first, int length, const Fold &fold) {
    if (!Ragged || (first >= 0 && first + N <= length))
        return kn_fold_tree(side, fold);
    unsigned own = 0;
#pragma unroll
    for (int k = 0; k < N; ++k)
        own |= (unsigned)((unsigned)(first + k) < (unsigned)length) << k;
#pragma unroll
    for (int apart = 1; apart < N; apart *= 2) {
#pragma unroll
        for (int k = 0; k < N; k += 2 * apart) {
            const bool lower = own >> k & 1, upper = own >> (k + apart) & 1;
            const T both = fold(side[k], side[k + apart]);
            side[k] = lower && upper ? both : lower ? side[k] : side[k + apart];
        }
        own |= own >> apart;
    }
    return side[0];
}

// What a thread holds: `load` brings what is needed of an item next while `one` computes with the one before.
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

// The same, folded; `one` writes the values of an item's elements.
template <class T, int Vector, bool Ragged, int Items, class Item, class Deal, class Load, class One, class Fold>
__device__ __forceinline__ T kn_fold_held(Item (&held)[Items], const Deal &deal, const Load &load, const One &one, const Fold &fold) {
    kn_chain<T> chain;
    kn_each_held<Vector>(held, deal, load, [&](Item &item, const int first, const int turn) {
        T side[Vector];
        one(item, first, side);
        kn_chain_put(chain, turn, kn_fold_item<Ragged>(side, first, deal.length, fold), fold);
    });
    return Items > 16 && deal.has(16) ? fold(chain.far, chain.near) : chain.near;
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

// An item goes to shared memory.
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

// Until what this thread has staged is there, for the thread itself.
__device__ __forceinline__ void kn_stage_own_wait() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// Blocks of a cluster run at the same time, and reach each other's shared memory once all have begun. Where there are no clusters a block is one by itself.
__device__ __forceinline__ unsigned kn_rank_in_cluster() {
    unsigned rank = 0;
#if __CUDA_ARCH__ >= 900
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
    return rank;
}

// Where what blocks send is counted: a gate opens when all has come. Two of them, in turn: who sends for the turn after the next has had all of the next, and so all others of this one.
__device__ __forceinline__ unsigned kn_cluster_gate(unsigned turn) {
    __shared__ unsigned long long gate[2];
    return (unsigned)__cvta_generic_to_shared(gate + turn % 2);
}

__device__ __forceinline__ void kn_arrive_in_cluster() {
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(kn_cluster_gate(0)) : "memory");
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(kn_cluster_gate(1)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncwarp();
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}

__device__ __forceinline__ void kn_wait_for_cluster() {
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

// An exchange in a cluster, the `turn`-th: how many bytes a block waits for, which its first thread says; a value to the place in another block's shared memory where
// `place` is in this block's; and until all has come.
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

// Every block of the cluster, of which the first `held` hold a value, has all of them folded, for the `turn`-th time. What a block sends goes to a place of its own in
// each, so that no two reductions meet; nobody waits but for what it needs, and no fence for what else is under way.
template <int Stage, class T, class Fold>
__device__ __forceinline__ void kn_fold_cluster(T &value, unsigned rank, unsigned held, unsigned blocks, unsigned turn, const Fold &fold) {
#if __CUDA_ARCH__ >= 900
    constexpr int words = (sizeof(T) + 3) / 4, most = 16;
    __shared__ unsigned room[most * words];
    if (blocks == 1)
        return;
    kn_expect_in_cluster(turn, held * words * 4);
    if (threadIdx.x < blocks && rank < held)
        kn_send_in_cluster(room + rank * words, value, threadIdx.x, turn);
    kn_receive_in_cluster(turn);
    const unsigned other = threadIdx.x & (blocks - 1);
    unsigned word[words];
#pragma unroll
    for (int k = 0; k < words; ++k)
        word[k] = room[(other < held ? other : 0) * words + k];
    memcpy(&value, word, sizeof(T));
    kn_fold_group(value, other, held, blocks, fold);
#endif
}
