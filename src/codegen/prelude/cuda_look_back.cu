// needs: kn_look_back
// with: fold
// Blocks that have neighbouring tiles of one row, and need what comes before theirs. Each puts the sum of its tile down, sets a bit, and waits for the sums of the tiles before it: those of
// its group of 32, and of the group before; of earlier groups there are sums of groups, and of sets of 32 groups a prefix. Which sums are added, and in which order, depends on the tile's
// number alone. A block's number is a ticket: when it waits for an earlier one, that one runs. All that is one group or set behind is there by then, as a rule.

// The next ticket; after `count` of them the counter is zero again.
__device__ __forceinline__ unsigned kn_take_ticket(unsigned *counter, unsigned count) {
    __shared__ unsigned ticket;
    if (threadIdx.x == 0)
        asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(ticket) : "l"(counter), "r"(count - 1) : "memory");
    __syncthreads();
    return ticket;
}

// Sets bit `number` of the flags, for those who see it: what this thread and those in front of the last barrier have written is there.
__device__ __forceinline__ void kn_set_flag(unsigned *flags, unsigned number) {
    asm volatile("red.release.gpu.global.or.b32 [%0], %1;" ::"l"(flags + number / 32), "r"(1u << number % 32) : "memory");
}

// Until the bits of `wanted` are set.
__device__ __forceinline__ void kn_await_flags(const unsigned *flags, unsigned wanted) {
    unsigned set;
    do
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(set) : "l"(flags) : "memory");
    while ((set & wanted) != wanted);
}

// Of the rows side by side that a block has: flags, and sums of each row.
template <class T> struct kn_sums {
    unsigned *tile_flags, *group_flags, *set_flags;
    T *tile, *group, *set;
    unsigned rows; // 32 at most
};

template <class T>
__device__ __forceinline__ kn_sums<T> kn_sums_of(unsigned *counters, void *partials, unsigned tiles, unsigned row_blocks, unsigned row_block, unsigned rows) {
    const unsigned groups = (tiles + 31) / 32, sets = (groups + 31) / 32, set_words = (sets + 31) / 32;
    T *const sums = reinterpret_cast<T *>(partials);
    kn_sums<T> s;
    s.tile_flags = counters + row_block * groups;
    s.group_flags = counters + row_blocks * groups + row_block * sets;
    s.set_flags = counters + row_blocks * (groups + sets) + row_block * set_words;
    s.tile = sums + (unsigned long long)row_block * tiles * rows;
    s.group = sums + ((unsigned long long)row_blocks * tiles + (unsigned long long)row_block * groups) * rows;
    s.set = sums + ((unsigned long long)row_blocks * (tiles + groups) + (unsigned long long)row_block * sets) * rows;
    s.rows = rows;
    return s;
}

// Moves on by `index` elements along the scanned axes.
template <int Operands, class Place, class Args>
__device__ __forceinline__ void kn_go_along(Place &place, const Args &kn, long long index) {
    if (kn.fold_rank == 1)
#pragma unroll
        for (int o = 0; o < Operands; ++o)
            place.at[o] += index * kn.axis[0].stride[o];
    else
        kn_move(place, kn, 0, kn.fold_rank, index);
}

// What a warp adds up: `count` sums from number `first` on, 32 at most.
enum { kn_near = 0, kn_next_group = 1, kn_groups = 2, kn_next_set = 3, kn_far = 4, kn_roles = 5 };
struct kn_role {
    unsigned first, count;
};
__device__ __forceinline__ kn_role kn_role_of(int role, unsigned tile) {
    const unsigned group = tile / 32, whole = group > 0 ? group - 1 : 0, set = whole / 32;
    kn_role r = {group * 32, tile % 32};
    if (role == kn_next_group)
        r = {whole * 32, group > 0 ? 32u : 0u};
    else if (role == kn_groups)
        r = {set * 32, whole % 32};
    else if (role == kn_next_set)
        r = {set > 0 ? set * 32 - 32 : 0, set > 0 ? 32u : 0u};
    else if (role == kn_far)
        r = {set > 1 ? set - 2 : 0, set > 1 ? 1u : 0u};
    return r;
}

// The sum of a warp's role for each row, in its first lanes. Some lanes share a row: each goes along neighbours.
template <class T, class Scan>
__device__ __forceinline__ T kn_sum_of_role(const kn_sums<T> &s, int role, const kn_role &r, const Scan &scan) {
    const unsigned *const flags = role <= kn_next_group ? s.tile_flags : role <= kn_next_set ? s.group_flags : s.set_flags;
    const T *const sums = role <= kn_next_group ? s.tile : role <= kn_next_set ? s.group : s.set;
    const unsigned lane = threadIdx.x % 32, row = lane & (s.rows - 1), begin = lane - row;
    kn_await_flags(flags + r.first / 32, role == kn_far ? 1u << r.first % 32 : 0xffffffffu >> (32 - r.count));
    T sum = sums[(unsigned long long)(r.first + (begin < r.count ? begin : 0)) * s.rows + row];
#pragma unroll 1
    for (unsigned k = begin + 1; k < r.count && k < begin + s.rows; ++k)
        sum = scan(sum, sums[(unsigned long long)(r.first + k) * s.rows + row]);
#pragma unroll 1
    for (unsigned by = s.rows; by < 32; by *= 2) {
        const T other = kn_shuffle<'+'>(sum, by);
        if (begin + by < r.count)
            sum = scan(sum, other);
    }
    return sum;
}

// What comes before this tile of each row, for thread `row` of its rows in `before`; `own`, the sum of the tile itself. False: it is the first one, and nothing does. All threads come here,
// and see `before` behind the next barrier; `own` was put down in `before`.
template <int Block, class T, class Scan>
__device__ __forceinline__ bool kn_look_back(T *before, const kn_sums<T> &s, unsigned tile, const Scan &scan) {
    __shared__ __align__(16) unsigned char room[kn_roles * 32 * sizeof(T)];
    T *const sum = reinterpret_cast<T *>(room);
    const unsigned row = threadIdx.x;
    if (row < s.rows)
        s.tile[(unsigned long long)tile * s.rows + row] = before[row];
    __syncthreads();
    if (threadIdx.x == 0)
        kn_set_flag(s.tile_flags, tile);
#pragma unroll 1
    for (int role = threadIdx.x / 32; role < kn_roles; role += Block / 32) {
        const kn_role r = kn_role_of(role, tile);
        if (r.count > 0) {
            const T one = kn_sum_of_role(s, role, r, scan);
            if (threadIdx.x % 32 < s.rows)
                sum[role * 32 + threadIdx.x % 32] = one;
        }
    }
    __syncthreads();
    const unsigned group = tile / 32;
    const bool ends_group = tile % 32 == 31, ends_set = tile % 1024 == 32 && tile > 32; // the first that needs that set's prefix
    if (row < s.rows) {
        if (ends_group)
            s.group[(unsigned long long)group * s.rows + row] = scan(sum[kn_near * 32 + row], before[row]);
        bool some = false;
        T all;
#pragma unroll 1
        for (int role = kn_far; role >= kn_near; --role) {
            if (kn_role_of(role, tile).count > 0) {
                all = some ? scan(all, sum[role * 32 + row]) : sum[role * 32 + row];
                some = true;
            }
            if (role == kn_next_set && ends_set)
                s.set[(unsigned long long)(group / 32 - 1) * s.rows + row] = all;
        }
        if (some)
            before[row] = all;
    }
    if (ends_group || ends_set) {
        __syncthreads();
        if (threadIdx.x == 0) {
            if (ends_group)
                kn_set_flag(s.group_flags, group);
            if (ends_set)
                kn_set_flag(s.set_flags, group / 32 - 1);
        }
    }
    return tile > 0;
}

// The last of `count` blocks that come here leaves `words` flags zero. A block comes when it has looked back, and all its threads were at a barrier since.
__device__ __forceinline__ void kn_leave_flags(unsigned *counter, unsigned count, unsigned *flags, unsigned words) {
    if (threadIdx.x < 32) {
        unsigned before = 0;
        if (threadIdx.x == 0)
            asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(count - 1) : "memory");
        if (kn_shuffle<'='>(before, 0) == count - 1)
#pragma unroll 1
            for (unsigned k = threadIdx.x; k < words; k += 32)
                flags[k] = 0;
    }
}
