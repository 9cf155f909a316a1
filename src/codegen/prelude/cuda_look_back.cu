// needs: kn_look_back
// with: reduce tiles
// Blocks that have neighbouring tiles of one row, and need what comes before theirs. Each puts the sum of its tile down, sets a bit, and waits for the sums of the tiles before it: those of
// its group of 32, and of the group before; of earlier groups there are sums of groups, and of sets of 32 groups a prefix. Which sums are added, and in which order, depends on the tile's
// number alone. A block's number is a ticket: when it waits for an earlier one, that one runs. All that is one group or set behind is there by then, as a rule.

// Sets bit `number` of the flags, for those who see it: what this thread and those in front of the last barrier have written is there. The bit before: 0, and it is known when the flag is set.
__device__ __forceinline__ unsigned kn_set_flag(unsigned *flags, unsigned number) {
    unsigned before;
    asm volatile("atom.release.gpu.global.or.b32 %0, [%1], %2;" : "=r"(before) : "l"(flags + number / 32), "r"(1u << number % 32) : "memory");
    return before >> number % 32 & 1;
}

// Until the flags of `count` numbers from `first` on, 8 at most, are set: of two words at most.
__device__ __forceinline__ void kn_await_flags(const unsigned *flags, unsigned first, int count) {
    const unsigned long long wanted = (0xffull >> (8 - count)) << first % 32;
#pragma unroll 1
    for (int k = 0; k < 2; ++k) {
        const unsigned word = k == 0 ? (unsigned)wanted : (unsigned)(wanted >> 32);
        unsigned set;
        if (word != 0)
            do
                asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(set) : "l"(flags + first / 32 + k) : "memory");
            while ((set & word) != word);
    }
}

// Tiles, groups and sets are numbered together: groups behind the tiles, sets behind those, each from a multiple of 32 on. Each has a flag, and a sum of each row of the block. A group has
// 256 tiles, and a set 256 groups; where a block has rows side by side, fewer by as many as these, since fewer blocks of one row run at a time then.
template <class T> struct kn_sums {
    unsigned *flags;
    T *sum;
    unsigned rows, groups, sets; // rows: 32 at most; the numbers of the first group and the first set
    int bits;                    // of the number of tiles of a group
};

template <class T>
__device__ __forceinline__ kn_sums<T> kn_sums_of(unsigned *counters, void *partials, unsigned tiles, unsigned row_block, unsigned rows) {
    const int bits = 8 - (31 - __clz(rows));
    const unsigned groups = (tiles + 31) & ~31u, sets = groups + (((tiles + (1u << bits) - 1 >> bits) + 31) & ~31u),
                   all = sets + ((((tiles + (1u << bits) - 1 >> bits) + (1u << bits) - 1 >> bits) + 31) & ~31u);
    return {counters + row_block * (all / 32), reinterpret_cast<T *>(partials) + (unsigned long long)(row_block * rows) * all, rows, groups, sets, bits};
}

// The sums that come before a tile are added by five warps: 0 the tiles of its group, 1 those of the group before; 2 and 3 the same of groups, before that; 4 the set before those.
enum { kn_roles = 5, kn_neighbours = 8 }; // kn_neighbours: sums of a lane, at most

// The sum of a warp's role for each row, put down in `to`. Some lanes share a row: each has neighbours, which it loads at once; they are scanned, in the order in which scan_rows_ordered.cu does
// it too. False: there are none.
template <class T, class Scan>
__device__ __forceinline__ bool kn_sum_of_role(T *to, const kn_sums<T> &s, int role, int tile, const Scan &scan) {
    const int level = role / 2, size = 1 << s.bits;
    int at = tile, first = 0;
#pragma unroll 1
    for (int k = 0; k < level; ++k) {
        at = (at >> s.bits) - 1;
        first = k == 0 ? s.groups : s.sets;
    }
    int count = at & (size - 1);
    first += at - count;
    if (role == 4) {
        first += count - 1;
        count = 1;
    } else if (role & 1) {
        first -= size;
        count = size;
        at -= size - 1;
    }
    if (at <= 0 || count == 0)
        return false;
    const int rows = s.rows, lane = threadIdx.x % 32, row = lane & (rows - 1), begin = (lane - row) / rows * kn_neighbours, left = count - begin;
    const T *const sums = s.sum + ((unsigned)(first + begin) * rows + row);
    T sum;
    if (left > 0) {
        kn_await_flags(s.flags, first + begin, left < kn_neighbours ? left : kn_neighbours);
        sum = sums[0];
    }
    if constexpr (sizeof(T) <= 8) {
        T next[kn_neighbours];
#pragma unroll
        for (int k = 1; k < kn_neighbours; ++k)
            if (k < left)
                next[k] = sums[k * rows];
#pragma unroll
        for (int k = 1; k < kn_neighbours; ++k)
            if (k < left)
                sum = scan(sum, next[k]);
    } else {
#pragma unroll 1
        for (int k = 1; k < kn_neighbours && k < left; ++k)
            sum = scan(sum, sums[k * rows]);
    }
#pragma unroll 1
    for (int by = rows; by < 32; by *= 2) {
        const T other = kn_shuffle<'='>(sum, (lane - by) & 31);
        if (lane >= by && left > 0)
            sum = scan(other, sum);
    }
    if (left > 0 && left <= kn_neighbours)
        to[row] = sum;
    return true;
}

// The prefix of this tile, of each row by thread `row`, replaces the sum of the tile in `before`. All threads come here, and see `before` behind the next barrier. The first tile has none:
// `before` stays as it was. Thread 0 gets 0, when the flags that it has set are there.
template <int Block, class T, class Scan>
__device__ __forceinline__ unsigned kn_look_back(T *before, const kn_sums<T> &s, unsigned tile, const Scan &scan) {
    __shared__ __align__(16) unsigned char bytes[kn_roles * 32 * sizeof(T)];
    __shared__ bool has[kn_roles];
    T *const sum = reinterpret_cast<T *>(bytes);
    const unsigned row = threadIdx.x;
    unsigned set = 0;
    if (row < s.rows)
        s.sum[tile * s.rows + row] = before[row];
    __syncthreads();
    if (threadIdx.x == 0)
        set = kn_set_flag(s.flags, tile);
#pragma unroll 1
    for (int role = threadIdx.x / 32; role < kn_roles; role += Block / 32)
        has[role] = kn_sum_of_role(sum + role * 32, s, role, tile, scan);
    __syncthreads();
    // The last tile of a group puts down the group's sum, and the first one that needs a set's prefix that; a tile is not both.
    const unsigned size = 1u << s.bits;
    const bool ends_group = (tile & (size - 1)) == size - 1, ends_set = (tile & (size * size - 1)) == size && tile > size;
    const unsigned number = ends_group ? s.groups + (tile >> s.bits) : s.sets + (tile >> 2 * s.bits) - 1;
    if (row < s.rows && tile > 0) {
        T all;
        bool some = false;
#pragma unroll 1
        for (int role = kn_roles - 1; role >= 0; --role)
            if (has[role]) {
                all = some ? scan(all, sum[role * 32 + row]) : sum[role * 32 + row];
                some = true;
                if (ends_set && role == 3)
                    s.sum[number * s.rows + row] = all;
            }
        if (ends_group)
            s.sum[number * s.rows + row] = scan(sum[row], before[row]);
        before[row] = all;
    }
    if (ends_group || ends_set) {
        __syncthreads();
        if (threadIdx.x == 0)
            set |= kn_set_flag(s.flags, number);
    }
    return set;
}

// Blocks are counted when they have looked back, and all their threads were at a barrier since; the last of `count` leaves `words` flags zero. `set` is what the look-back returned: a block is
// counted behind its flags, which would else be set for the next launch if they came later than the zeros. The answer takes its time, in which a block can store its results.
__device__ __forceinline__ unsigned kn_leave(unsigned *counter, unsigned count, unsigned set) {
    unsigned before = 0;
    if (threadIdx.x == 0)
        asm volatile("atom.relaxed.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(count - 1 + set) : "memory");
    return before;
}
__device__ __forceinline__ void kn_leave_zeros(unsigned left, unsigned count, unsigned *flags, unsigned words) {
    if (threadIdx.x < 32 && kn_shuffle<'='>(left, 0) == count - 1)
#pragma unroll 1
        for (unsigned k = threadIdx.x; k < words; k += 32)
            flags[k] = 0;
}
__device__ __forceinline__ void kn_leave_flags(unsigned *counter, unsigned count, unsigned *flags, unsigned words, unsigned set) {
    kn_leave_zeros(kn_leave(counter, count, set), count, flags, words);
}
