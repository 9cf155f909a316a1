// needs: kn_reduce_down
// with: row
// Functions of row programs whose rows are side by side: a thread has elements of N rows, and N values of each reduction.

// Reduces the items that a thread holds; `one` writes the values of an item's elements, each of another row.
template <class T, int N, int Items, class Item, class Deal, class Load, class One, class Reduce>
__device__ __forceinline__ void kn_reduce_held_columns(T (&to)[N], Item (&held)[Items], const Deal &deal, const Load &load, const One &one, const Reduce &reduce) {
    kn_chain<T> chain[N];
    kn_each_held<1>(held, deal, load, [&](Item &item, const int first, const int turn) {
        T side[N];
        one(item, first, side);
#pragma unroll
        for (int k = 0; k < N; ++k)
            kn_chain_put(chain[k], turn, side[k], reduce);
    });
#pragma unroll
    for (int k = 0; k < N; ++k)
        to[k] = Items > 16 && deal.has(16) ? reduce(chain[k].far, chain[k].near) : chain[k].near;
}

// Reduces the items in shared memory behind those; `each` calls its argument for each item, with its number and a function that writes its values.
template <class T, int N, class Each, class Reduce>
__device__ __forceinline__ void kn_reduce_staged_columns(T (&to)[N], const Each &each, const Reduce &reduce) {
    kn_chain<T> chain[N];
    int count = 0;
    each([&](const int turn, const auto &one) {
        T side[N];
        one(side);
#pragma unroll
        for (int k = 0; k < N; ++k)
            kn_chain_put(chain[k], turn, side[k], reduce);
        count = turn + 1;
    });
    if (count > 0)
#pragma unroll
        for (int k = 0; k < N; ++k)
            to[k] = reduce(to[k], kn_chain_all(chain[k], count, reduce));
}

// Where a thread is among those that have a tile of rows: `across` (2 to the power of `shift`, 32 at most) lie side by side, the first `held` of those one below the other
// hold values, all of them where there are several blocks. `width`: warps of a block, and more up to a power of two.
struct kn_columns {
    unsigned across, shift, width, x, y, held, rank, blocks;
};

// Lanes `across` apart, of each column: kn_reduce_group, of which a group's lanes are neighbours.
template <int N, class T, class Reduce>
__device__ __forceinline__ void kn_reduce_apart(T (&value)[N], unsigned y, unsigned held, const kn_columns &at, const Reduce &reduce) {
#pragma unroll 1
    for (unsigned apart = at.across; apart < 32; apart *= 2) {
        const unsigned by = apart >> at.shift;
        const bool is_upper = y & by, is_pair = (y & ~(2 * by - 1)) + by < held;
#pragma unroll
        for (int k = 0; k < N; ++k) {
            const T other = kn_shuffle<'^'>(value[k], apart), both = reduce(is_upper ? other : value[k], is_upper ? value[k] : other);
            value[k] = is_pair ? both : is_upper ? other : value[k];
        }
    }
}

// Shared memory for values of one type: of the block's own (From 0), and of what others send. There are two, in turn: who writes for the turn after the next has met all
// others in the next.
enum { kn_columns_bytes = 9 << 8 }; /* of float: 8 warps of 64 columns, or 16 of 32, and one between them */
template <class T>
struct kn_columns_shared {
    enum { fitting = kn_columns_bytes / sizeof(T), count = fitting > 32 ? fitting : 32 };
};
template <class T, int From>
__device__ __forceinline__ T *kn_columns_values(unsigned turn) {
    __shared__ __align__(16) unsigned char values[2][kn_columns_shared<T>::count * ((sizeof(T) + 3) / 4 * 4)];
    return reinterpret_cast<T *>(values[turn % 2]);
}

// The sums of `columns` columns go to all blocks of the cluster, and come from all of them (kn_reduce_cluster).
template <class T>
__device__ __forceinline__ unsigned *kn_send_columns(const T *sums, unsigned columns, const kn_columns &at, unsigned turn) {
    constexpr int words = (sizeof(T) + 3) / 4;
    unsigned *const sent = reinterpret_cast<unsigned *>(kn_columns_values<T, 1>(turn));
    kn_expect_in_cluster(turn, at.blocks * columns * words * 4);
#pragma unroll 1
    for (unsigned e = threadIdx.x; e < columns * at.blocks; e += blockDim.x) {
        const unsigned block = kn_quotient(e, columns), column = e - block * columns;
        kn_send_in_cluster(sent + (at.rank * columns + column) * words, sums[column], block, turn);
    }
    kn_receive_in_cluster(turn);
    return sent;
}

// Combines what all blocks have sent of each column.
template <class T, class Reduce>
__device__ __forceinline__ void kn_reduce_sent(T *sums, const unsigned *sent, unsigned columns, unsigned blocks, const Reduce &reduce) {
    constexpr int words = (sizeof(T) + 3) / 4;
#pragma unroll 1
    for (unsigned column = threadIdx.x; column < columns; column += blockDim.x) {
        T all;
#pragma unroll 1
        for (unsigned block = 0; block < blocks; ++block) {
            T one;
            memcpy(&one, sent + (block * columns + column) * words, sizeof(T));
            all = block == 0 ? one : reduce(all, one);
        }
        sums[column] = all;
    }
}

// Combines the values of all threads that have elements of a row: each of them gets the result, with the same bits. Lanes of a warp are combined first, then warps of a block, then
// blocks of a cluster. As many columns as fit shared memory are combined at a time; only large structs need several iterations.
template <int N, class T, class Reduce>
__device__ __forceinline__ void kn_reduce_down(T (&value)[N], const kn_columns &at, unsigned &turn, const Reduce &reduce) {
    if (blockDim.x == at.across && at.blocks == 1)
        return; /* each thread has whole rows */
    const unsigned rows = 32 >> at.shift, lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32, above = warp * rows;
    kn_reduce_apart(value, at.y - above, at.held > above ? at.held - above : 0, at, reduce);
    if (warps == 1 && at.blocks == 1)
        return;
    const unsigned holding = (at.held + rows - 1) / rows, columns = at.across * N, most = warps > at.blocks ? warps : at.blocks;
    const unsigned fitting = kn_quotient(kn_columns_shared<T>::count, most), wanted_each = fitting > 2 ? fitting - 1 : 1;
    const unsigned each = columns < wanted_each ? columns : wanted_each, pitch = each + (each > 1);
    const unsigned other = lane & (at.width - 1), group = lane / at.width, groups = 32 / at.width;
#pragma unroll 1
    for (unsigned first = 0; first < columns; first += each, ++turn) {
        T *const shared = kn_columns_values<T, 0>(turn);
        const unsigned count = columns - first < each ? columns - first : each;
#pragma unroll
        for (int k = 0; k < N; ++k)
            if (lane < at.across && warp < holding && lane * N + k - first < count)
                shared[warp * pitch + lane * N + k - first] = value[k];
        __syncthreads();
#pragma unroll 1
        for (unsigned base = warp * groups; warps > 1 && base < count; base += warps * groups) {
            const unsigned wanted = base + group, column = wanted < count ? wanted : base;
            T sum = shared[(other < holding ? other : 0) * pitch + column];
            kn_reduce_lanes(sum, holding, other, reduce);
            __syncwarp();
            if (other == 0 && wanted < count)
                shared[column] = sum;
        }
        __syncthreads();
        const T *sums = shared;
        if (at.blocks > 1) { /* the part of a warp that nobody reads any more is for the sums of all blocks */
            kn_reduce_sent(shared + pitch, kn_send_columns(shared, count, at, turn), count, at.blocks, reduce);
            __syncthreads();
            sums += pitch;
        }
#pragma unroll
        for (int k = 0; k < N; ++k) {
            const unsigned column = at.x * N + k - first;
            if (column < count)
                value[k] = sums[column];
        }
    }
}
