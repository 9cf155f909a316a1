${head}
${axes}
enum { kn_items = ${items}, kn_warps = ${block} / 32, kn_of_tile = ${block} * kn_items };
enum { kn_shift = 8 * sizeof(${type}) - 2 }; /* of the two bits of a word that tell its meaning: 0 nothing yet, 1 the tile's own elements of a digit, 2 those of all tiles up to it */

${begin}
    typedef ${type} kn_word;
    __shared__ unsigned kn_before[kn_warps][256];  /* elements of a digit: those of a warp, then those of the warps before it */
    __shared__ unsigned kn_start[256];             /* of the tile's elements with lesser digits */
    __shared__ long long kn_base[256];             /* where the tile's elements of a digit go, less their place in the tile */
    __shared__ unsigned char kn_digit_of[kn_of_tile];
    ${tiles}

    /* Tickets, so that the tiles before this one run or have run. */
    const unsigned kn_ticket = kn_take_ticket(kn.counters, gridDim.x);
    const unsigned kn_row = kn_ticket / kn.tiles, kn_tile = kn_ticket - kn_row * kn.tiles;
    const long long kn_first = (long long)kn_tile * kn_of_tile;
    const unsigned kn_count = kn.length - kn_first < kn_of_tile ? (unsigned)(kn.length - kn_first) : kn_of_tile;
    const unsigned kn_lane = threadIdx.x % 32, kn_warp = threadIdx.x / 32, kn_begin = kn_warp * 32 * kn_items + kn_lane;
    kn_place kn_here = {};
    ${locate}
    ${pointers}
    ${step_packs}
    /* Elements that are not there are not loaded; addresses of a whole tile differ by constants. */
    if (kn_count == kn_of_tile)
#pragma unroll
        for (int kn_r = 0; kn_r < kn_items; ++kn_r) {
            const unsigned kn_j = kn_begin + kn_r * 32;
            ${from}
            ${step_loads}
        }
    else
#pragma unroll
        for (int kn_r = 0; kn_r < kn_items; ++kn_r) {
            const unsigned kn_e = kn_begin + kn_r * 32, kn_j = kn_e < kn_count ? kn_e : 0;
            ${from}
            ${step_loads}
        }
    /* A row whose elements have one digit is copied: the digit of any of them tells. */
    bool kn_is_copied;
    {
        constexpr int kn_r = 0;
        [[maybe_unused]] const unsigned kn_j = kn_begin < kn_count ? kn_begin : 0;
        ${from}
        ${loads}
        ${lane}
        kn_is_copied = kn.${first}_.first[(unsigned long long)kn_row * 256 + ((unsigned)${mapped} & 255)] == kn.length;
    }
    unsigned kn_rank[kn_items]; /* of an element among those of its digit that its warp has; and the digit, in its upper half */
    kn_word *const kn_words = kn.${result}_.first + (unsigned long long)kn_ticket * 256;
    if (!kn_is_copied) {
#pragma unroll
    for (unsigned kn_d = 0; kn_d < 256; kn_d += 32)
        kn_before[kn_warp][kn_d + kn_lane] = 0;
    __syncwarp();

    /* Elements that are not there come last of all: their place in the tile is behind the others. */
#pragma unroll
    for (int kn_r = 0; kn_r < kn_items; ++kn_r) {
        const unsigned kn_e = kn_begin + kn_r * 32;
        [[maybe_unused]] const unsigned kn_j = kn_e < kn_count ? kn_e : 0;
        ${from}
        ${loads}
        ${lane}
        const unsigned kn_digit = kn_e < kn_count ? (unsigned)${mapped} & 255 : 255;
        kn_rank[kn_r] = kn_rank_of_digit(kn_before[kn_warp], kn_digit, kn_lane) | kn_digit << 16;
    }
    __syncthreads();

    /* The tile's elements of each digit are put down. The last tile of a row counts some that are not there; no tile looks back to it. */
#pragma unroll 1
    for (unsigned kn_d = threadIdx.x; kn_d < 256; kn_d += ${block}) {
        unsigned kn_sum = 0;
#pragma unroll
        for (int kn_w = 0; kn_w < kn_warps; ++kn_w) {
            const unsigned kn_of_warp = kn_before[kn_w][kn_d];
            kn_before[kn_w][kn_d] = kn_sum;
            kn_sum += kn_of_warp;
        }
        kn_start[kn_d] = kn_sum;
        kn_base[kn_d] = kn.${first}_.first[(unsigned long long)kn_row * 256 + kn_d];
        kn_put_down(kn_words + kn_d, (kn_word)kn_sum | (kn_word)(kn_tile == 0 ? 2 : 1) << kn_shift);
    }
    __syncthreads();
    kn_sums_before(kn_start, kn_warp == 0);
    kn_sums_before(kn_base, kn_warp == kn_warps - 1);
    __syncthreads();
    }
#pragma unroll
    for (int kn_r = 0; kn_r < kn_items; ++kn_r) {
        unsigned kn_at = kn_begin + kn_r * 32;
        if (!kn_is_copied) {
            const unsigned kn_digit = kn_rank[kn_r] >> 16;
            kn_at = kn_start[kn_digit] + kn_before[kn_warp][kn_digit] + (kn_rank[kn_r] & 0xffff);
            kn_digit_of[kn_at] = (unsigned char)kn_digit;
        }
        ${packs}
    }
    __syncthreads();

    /* The elements of the row's earlier tiles, of each digit by a thread. */
    if (!kn_is_copied)
#pragma unroll 1
    for (unsigned kn_d = threadIdx.x; kn_d < 256; kn_d += ${block}) {
        kn_word kn_sum = 0;
        if (kn_tile > 0) {
            const kn_word *kn_earlier = kn_words + kn_d;
            const kn_word kn_own = *kn_earlier & ((kn_word)1 << kn_shift) - 1;
            kn_word kn_seen;
            do {
                kn_earlier -= 256;
                do
                    kn_seen = kn_look_at(kn_earlier);
                while (kn_seen >> kn_shift == 0);
                kn_sum += kn_seen & ((kn_word)1 << kn_shift) - 1;
            } while (kn_seen >> kn_shift == 1);
            kn_put_down(kn_words + kn_d, kn_sum + kn_own | (kn_word)2 << kn_shift);
        }
        kn_base[kn_d] += kn_row * kn.length + (long long)kn_sum - kn_start[kn_d];
    }
    __syncthreads();
    /* Neighbours in the tile go to neighbouring places, where they have one digit. */
#pragma unroll 4
    for (int kn_r = 0; kn_r < kn_items; ++kn_r) {
        const unsigned kn_s = kn_r * ${block} + threadIdx.x;
        if (kn_s >= kn_count)
            break;
        [[maybe_unused]] const unsigned kn_j = ${single};
        const ${order} ${row} = (${order})((kn_is_copied ? kn_row * kn.length + kn_first : kn_base[kn_digit_of[kn_s]]) + kn_s);
        ${from}
        ${stores}
    }
    ${after_loop}
}
