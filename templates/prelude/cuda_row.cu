// needs: kn_fold_group kn_fold_threads
// with: fold
// What row programs share. A row lies in items, vectors of some elements; threads take them in turn, so that those which hold none are the last ones. A row that begins
// off a vector's boundary has elements of its neighbours in its first and its last item.

template <int Number> struct kn_number { enum { value = Number }; };
template <class T> struct kn_referred;
template <class T> struct kn_referred<T &> { typedef T type; };

// The value of the thread whose lane differs by `by`, word by word: structs too.
template <class T>
__device__ __forceinline__ T kn_shuffle_across(const T &value, int by) {
    unsigned word[(sizeof(T) + 3) / 4] = {};
    memcpy(word, &value, sizeof(T));
#pragma unroll
    for (int k = 0; k < (int)(sizeof(T) + 3) / 4; ++k)
        word[k] = __shfl_xor_sync(0xffffffffu, word[k], by);
    T other;
    memcpy(&other, word, sizeof(T));
    return other;
}

// Lanes up to `held` of a group of `width` (a power of two) fold their values: every lane of the group has the result, by the same steps, and so the same bits.
template <class T, class Fold>
__device__ __forceinline__ void kn_fold_group(T &value, unsigned lane, unsigned held, unsigned width, const Fold &fold) {
#pragma unroll
    for (unsigned by = 1; by < 32; by *= 2) {
        if (by < width) {
            const T other = kn_shuffle_across(value, by);
            const bool is_upper = lane & by;
            if ((lane & ~(2 * by - 1)) + by < held)
                value = fold(is_upper ? other : value, is_upper ? value : other);
            else if (is_upper)
                value = other;
        }
    }
}

// The same for a block, of which the first `held` threads hold a value, and `width` the number of warps, and more up to a power of two. Each warp folds the values of all
// warps by itself: one barrier is enough. Each reduction of a program (Stage) has shared memory of its own.
template <int Stage, int Block, class T, class Fold>
__device__ __forceinline__ void kn_fold_threads(T &value, unsigned held, unsigned width, const Fold &fold) {
    __shared__ __align__(16) unsigned char room[Block / 32 * sizeof(T)];
    T *const shared = reinterpret_cast<T *>(room);
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = (held + 31) / 32;
    kn_fold_group(value, lane, warp < warps ? held - warp * 32 : 0, 32, fold);
    if (width > 1) {
        if (lane == 0 && warp < warps)
            shared[warp] = value;
        __syncthreads();
        const unsigned other = lane & (width - 1);
        value = shared[other < warps ? other : 0];
        kn_fold_group(value, other, warps, width, fold);
    }
}

// Which items of a row a thread holds: every `step`-th from `at` on. The first one begins `off` elements in front of the row.
struct kn_deal {
    int at, step, count, off, length;
    __device__ __forceinline__ bool has(int turn) const { return at + turn * step < count; }
    template <int Vector> __device__ __forceinline__ int first(int turn) const { return (at + turn * step) * Vector - off; }
};

// An item's element, by its number in the row. In place of neighbours' elements stand others of the same item that are the row's: all of them may be computed with.
template <bool Ragged, int Vector>
__device__ __forceinline__ int kn_element_of(int first, int k, int length) {
    if (!Ragged)
        return first + k;
    return first + k < 0 ? first + Vector - 1 : first + k >= length ? first : first + k;
}

template <bool Ragged, class T, int N>
__device__ __forceinline__ void kn_mend(kn_pack<T, N> &item, int first, int length) {
    if (!Ragged)
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
    if (!Ragged)
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
template <int Vector, int Items, class Item, class Load, class One>
__device__ __forceinline__ void kn_each_held(Item (&held)[Items], const kn_deal &deal, const Load &load, const One &one) {
    if (deal.has(0))
        load(held[0], deal.first<Vector>(0));
#pragma unroll
    for (int u = 0; u < Items; ++u) {
        if (u + 1 < Items && deal.has(u + 1))
            load(held[u + 1], deal.first<Vector>(u + 1));
        if (deal.has(u))
            one(held[u], deal.first<Vector>(u), u);
    }
}

// The same, folded; `one` writes the values of an item's elements.
template <class T, int Vector, bool Ragged, int Items, class Item, class Load, class One, class Fold>
__device__ __forceinline__ T kn_fold_held(Item (&held)[Items], const kn_deal &deal, const Load &load, const One &one, const Fold &fold) {
    kn_chain<T> chain;
    kn_each_held<Vector>(held, deal, load, [&](Item &item, const int first, const int turn) {
        T side[Vector];
        one(item, first, side);
        kn_chain_put(chain, turn, kn_fold_item<Ragged>(side, first, deal.length, fold), fold);
    });
    return Items > 16 && deal.has(16) ? fold(chain.far, chain.near) : chain.near;
}
