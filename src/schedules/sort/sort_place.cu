${head}
${axes}
enum { kn_items = ${items}, kn_warps = ${block} / 32, kn_of_tile = ${block} * kn_items };
static_assert(${block} == 512, "two threads for a digit");
enum { kn_shift = 8 * sizeof(${type}) - 2 }; /* of the two bits of a word that tell its meaning: 0 nothing yet, 1 the tile's own elements of a digit, 2 those of all tiles up to it */

extern __shared__ __align__(16) unsigned char kn_buffer[];

${begin}
    typedef ${type} kn_word;
    __shared__ unsigned short kn_before[kn_warps][256]; /* elements of a digit: those of a warp, then those of the warps before it */
    __shared__ kn_word kn_start[256];                   /* of the tile's elements with lesser digits */
    __shared__ kn_word kn_base[256];                    /* where the tile's elements of a digit go in their row, less their place in the tile */
    __shared__ kn_word kn_of_warps[kn_warps];
    /* The elements stay where they are in the tile; beside them are each one's rank and digit, and which one comes to each place. So loops need not be unrolled. */
    ${tiles}
    unsigned short *const kn_rank = (unsigned short *)(kn_buffer + kn_of_tile * ${staged_size}), *const kn_number_of = kn_rank + kn_of_tile;
    unsigned char *const kn_digit_of = (unsigned char *)(kn_number_of + kn_of_tile);

    /* Tickets, so that the tiles before this one run or have run. */
    const unsigned kn_ticket = kn_take_ticket(kn.counters, gridDim.x);
    const unsigned kn_row = kn_ticket / kn.tiles, kn_tile = kn_ticket - kn_row * kn.tiles;
    const long long kn_first = (long long)kn_tile * kn_of_tile;
    const unsigned kn_count = kn.length - kn_first < kn_of_tile ? (unsigned)(kn.length - kn_first) : kn_of_tile;
    const unsigned kn_lane = threadIdx.x % 32, kn_warp = threadIdx.x / 32, kn_begin = kn_warp * 32 * kn_items + kn_lane;
    kn_place kn_here = {};
    ${locate}
    ${pointers}
    const unsigned kn_own_digit = threadIdx.x % 256;
    kn_word kn_own = threadIdx.x < 256 ? 0 : kn.${first}_.first[(unsigned long long)kn_row * 256 + kn_own_digit];
    /* Elements that are not there are not loaded. */
    if (kn_count == kn_of_tile)
#pragma unroll 8
        for (int kn_r = 0; kn_r < kn_items; ++kn_r) {
            const unsigned kn_e = kn_begin + kn_r * 32, kn_j = kn_e;
            ${from}
            ${step_loads}
        }
    else
#pragma unroll 1
        for (int kn_r = 0; kn_r < kn_items; ++kn_r) {
            const unsigned kn_e = kn_begin + kn_r * 32, kn_j = kn_e < kn_count ? kn_e : 0;
            ${from}
            ${step_loads}
        }
#pragma unroll
    for (unsigned kn_d = 0; kn_d < 256; kn_d += 64)
        reinterpret_cast<unsigned *>(&kn_before[kn_warp][kn_d])[kn_lane] = 0;
    /* If all elements of a row have one digit, they stay where they are. */
    const bool kn_stay = __syncthreads_or(kn_own == kn.length);

    /* The rank of an element among those of its digit that its warp has. Elements that are not there come last of all: their place in the tile is behind the others. */
#pragma unroll 2
    for (int kn_r = 0; kn_r < (kn_stay ? 0 : kn_items); ++kn_r) {
        const unsigned kn_e = kn_begin + kn_r * 32;
        [[maybe_unused]] const unsigned kn_j = kn_e < kn_count ? kn_e : 0;
        ${from}
        ${loads}
        ${lane}
        const unsigned kn_digit = kn_e < kn_count ? (unsigned)${mapped} & 255 : 255, kn_same = kn_lanes_of_digit(kn_digit);
        const unsigned kn_so_far = kn_before[kn_warp][kn_digit], kn_lower = kn_same & ((1u << kn_lane) - 1);
        __syncwarp();
        if (kn_lower == 0)
            kn_before[kn_warp][kn_digit] = (unsigned short)(kn_so_far + __popc(kn_same));
        __syncwarp();
        kn_rank[kn_e] = (unsigned short)(kn_so_far + __popc(kn_lower));
        kn_digit_of[kn_e] = (unsigned char)kn_digit;
    }
    __syncthreads();

    /* The tile's elements of each digit are put down. The last tile of a row counts some that are not there; no tile looks back to it. */
    kn_word *const kn_words = kn.${result}_.first + (unsigned long long)kn_ticket * 256;
    if (threadIdx.x < 256 && !kn_stay) {
        unsigned kn_sum = 0;
#pragma unroll
        for (int kn_w = 0; kn_w < kn_warps; ++kn_w) {
            const unsigned kn_of_warp = kn_before[kn_w][kn_own_digit];
            kn_before[kn_w][kn_own_digit] = (unsigned short)kn_sum;
            kn_sum += kn_of_warp;
        }
        kn_own = kn_sum;
        kn_put_down(kn_words + kn_own_digit, kn_own | (kn_word)(kn_tile == 0 ? 2 : 1) << kn_shift);
    }
    /* Half of the threads add the tile's elements of lesser digits, and half those of the row. */
    kn_word kn_all = kn_own;
#pragma unroll
    for (int kn_by = 1; kn_by < 32; kn_by *= 2) {
        const kn_word kn_other = kn_shuffle<'='>(kn_all, kn_lane >= kn_by ? kn_lane - kn_by : kn_lane);
        kn_all += kn_lane >= kn_by ? kn_other : 0;
    }
    if (kn_lane == 31)
        kn_of_warps[kn_warp] = kn_all;
    __syncthreads();
#pragma unroll 1
    for (unsigned kn_w = kn_warp / 8 * 8; kn_w < kn_warp; ++kn_w)
        kn_all += kn_of_warps[kn_w];
    (threadIdx.x < 256 ? kn_start : kn_base)[kn_own_digit] = kn_all - kn_own;
    __syncthreads();
#pragma unroll 4
    for (int kn_r = 0; kn_r < (kn_stay ? 0 : kn_items); ++kn_r) {
        const unsigned kn_e = kn_begin + kn_r * 32, kn_digit = kn_digit_of[kn_e];
        kn_number_of[kn_start[kn_digit] + kn_before[kn_warp][kn_digit] + kn_rank[kn_e]] = (unsigned short)kn_e;
    }

    /* The elements of the row's earlier tiles, of each digit by a thread. */
    if (threadIdx.x < 256 && !kn_stay) {
        kn_word kn_sum = 0;
        if (kn_tile > 0) {
            const kn_word *kn_earlier = kn_words + kn_own_digit;
            kn_word kn_seen;
            do {
                kn_earlier -= 256;
                do
                    kn_seen = kn_look_at(kn_earlier);
                while (kn_seen >> kn_shift == 0);
                kn_sum += kn_seen & ((kn_word)1 << kn_shift) - 1;
            } while (kn_seen >> kn_shift == 1);
            kn_put_down(kn_words + kn_own_digit, kn_sum + kn_own | (kn_word)2 << kn_shift);
        }
        kn_base[kn_own_digit] += kn_sum - kn_start[kn_own_digit];
    }
    __syncthreads();
    /* Neighbours in the tile go to neighbouring places, where they have one digit. */
#pragma unroll 4
    for (int kn_r = 0; kn_r < kn_items; ++kn_r) {
        const unsigned kn_s = kn_r * ${block} + threadIdx.x;
        if (kn_s >= kn_count)
            break;
        const unsigned kn_j = kn_stay ? kn_s : kn_number_of[kn_s];
        const ${order} ${row} = kn_row * kn.length + (kn_stay ? kn_first + kn_s : (${order})(kn_word)(kn_base[kn_digit_of[kn_j]] + kn_s));
        ${from}
        ${stores}
    }
    ${after_loop}
}
