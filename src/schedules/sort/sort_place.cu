${head}
${axes}
enum { kn_items = ${items}, kn_warps = ${block} / 32, kn_of_tile = ${block} * kn_items };
enum { kn_finds_again = ${together} /* the digits of elements in the tile, which are held else */ };
enum { kn_may_be_left_out = ${exclusive} /* a pass */ };
enum { kn_digits = 256, kn_digit_warps = kn_digits / 32 /* threads of the first warps have a digit each */ };
enum { kn_shift = 8 * sizeof(${type}) - 2 }; /* of the two bits of a word that tell its meaning: 0 nothing yet, 1 the tile's own elements of a digit, 2 those of all tiles up to it */

${begin}
    typedef ${type} kn_word;
    __shared__ unsigned kn_before[kn_warps][256];  /* elements of a digit: those of a warp, then where those of a warp begin in the tile */
    __shared__ kn_word kn_base[256];               /* where the tile's elements of a digit go in the row, less their place in the tile */
    __shared__ __align__(16) kn_word kn_sums[2][8]; /* of 32 digits each: the tile's elements, and the row's; vectors of them begin nowhere else */
    [[maybe_unused]] __shared__ unsigned char kn_digit_of[kn_finds_again ? 1 : kn_of_tile];
    ${tiles}

    /* An earlier pass has said of this one: 1 and 2 are the first and the second of two that are left out. */
    [[maybe_unused]] kn_word *const kn_states = kn.${result}_.first + (kn.${result}_.extents[0] - 1); /* those of later passes lie so many words apart */
    const unsigned kn_state = kn_may_be_left_out ? (unsigned)*kn_states : 0; /* comes while the ticket does */
    /* Tickets, so that the tiles before this one run or have run. */
    const unsigned kn_ticket = kn_take_ticket(kn.counters, gridDim.x);
    if constexpr (kn_may_be_left_out) {
        /* Digits that all elements share: the counts of those of the next two passes lie behind this one's. */
        if (kn_ticket == 0 && kn_state != 1 && ${until} >= 2) {
            const kn_word *const kn_later = kn.${first}_.first + kn_digits + threadIdx.x;
            const bool kn_has_later = threadIdx.x < kn_digits, kn_first_is_one = __syncthreads_or(kn_has_later && kn_later[0] == (kn_word)kn.length);
            const bool kn_second_is_one = __syncthreads_or(kn_has_later && kn_later[kn_digits] == (kn_word)kn.length);
            if (kn_first_is_one && kn_second_is_one && threadIdx.x < 2)
                kn_states[(threadIdx.x + 1) * kn.${result}_.extents[0]] = threadIdx.x + 1;
        }
        if (kn_state != 0)
            return;
    }
    const unsigned kn_row = kn_ticket / kn.tiles, kn_tile = kn_ticket - kn_row * kn.tiles;
    const long long kn_first = (long long)kn_tile * kn_of_tile;
    const unsigned kn_count = kn.length - kn_first < kn_of_tile ? (unsigned)(kn.length - kn_first) : kn_of_tile;
    const unsigned kn_lane = threadIdx.x % 32, kn_warp = threadIdx.x / 32, kn_begin = kn_warp * 32 * kn_items + kn_lane;
    kn_place kn_here = {};
    ${locate}
    ${pointers}
    ${step_packs}
    /* Elements that are not there are not loaded; addresses of a whole tile differ by constants. */
    if (kn_count == kn_of_tile) {
#pragma unroll
        for (int kn_r = 0; kn_r < kn_items; ++kn_r) {
            const int kn_j = (int)kn_begin + kn_r * 32;
            ${from}
            ${step_loads}
        }
    } else {
#pragma unroll
        for (int kn_r = 0; kn_r < kn_items; ++kn_r) {
            const unsigned kn_e = kn_begin + kn_r * 32, kn_j = kn_e < kn_count ? kn_e : 0;
            ${from}
            ${step_loads}
        }
        asm volatile("" ::: "memory"); /* Else compilers load for both, by addresses that they choose between. */
    }
    kn_word *const kn_words = kn.${result}_.first + (unsigned long long)kn_ticket * 256;
    const bool kn_has_digit = ${block} == kn_digits || threadIdx.x < kn_digits;
    const kn_word kn_of_row = kn_has_digit ? kn.${first}_.first[(unsigned long long)kn_row * 256 + threadIdx.x] : 0; /* of the digit that is this thread's number */
    /* A row whose elements have one digit is copied. Compilers see by the vote that whole warps do that, and write no code for parts of them. */
    if (__any_sync(0xffffffff, __syncthreads_or(kn_of_row == (kn_word)kn.length))) {
#pragma unroll
        for (int kn_r = 0; kn_r < kn_items; ++kn_r) {
            const unsigned kn_at = kn_begin + kn_r * 32;
            [[maybe_unused]] const unsigned kn_j = kn_at < kn_count ? kn_at : 0;
            if constexpr (!kn_finds_again)
                kn_digit_of[kn_at] = 0;
            ${from}
            ${packs}
        }
        if (kn_has_digit)
            kn_base[threadIdx.x] = (kn_word)kn_first;
    } else {
        unsigned kn_rank[kn_items]; /* of an element among those of its digit that its warp has; and the digit, in its upper half */
#pragma unroll
        for (unsigned kn_d = 0; kn_d < 256; kn_d += 32)
            kn_before[kn_warp][kn_d + kn_lane] = 0;
        __syncwarp();

        /* Elements that are not there come last of all: their place in the tile is behind the others. */
        const int kn_left = (int)kn_count - (int)kn_begin;
#pragma unroll
        for (int kn_r = 0; kn_r < kn_items; ++kn_r) {
            [[maybe_unused]] const unsigned kn_j = kn_r * 32 < kn_left ? kn_begin + kn_r * 32 : 0;
            ${from}
            ${loads}
            ${lane}
            const unsigned kn_digit = kn_r * 32 < kn_left ? (unsigned)${mapped} & 255 : 255;
            kn_rank[kn_r] = kn_rank_of_digit(kn_before[kn_warp], kn_digit, kn_lane) + (kn_digit << 16);
            asm volatile("" : "+r"(kn_rank[kn_r])); /* Only this is held: no addresses. */
        }
        __syncthreads();

        /* A thread has a digit. The tile's elements of each are put down; the last tile of a row counts some that are not there, and no tile looks back to it. */
        unsigned kn_own = 0, kn_in_tile = 0;
        kn_word kn_in_row = 0;
        if (kn_has_digit) {
#pragma unroll
            for (int kn_w = 0; kn_w < kn_warps; ++kn_w)
                kn_own += kn_before[kn_w][threadIdx.x];
            kn_put_down(kn_words + threadIdx.x, (kn_word)kn_own | (kn_word)(kn_tile == 0 ? 2 : 1) << kn_shift);
            kn_in_tile = kn_sum_before(kn_own, kn_sums[0]);
            kn_in_row = kn_sum_before(kn_of_row, kn_sums[1]);
        }
        __syncthreads();
        if (kn_has_digit) {
            const unsigned kn_start = kn_in_tile + (unsigned)kn_sum_of_warps(kn_sums[0]);
            unsigned kn_of_warp = kn_start; /* Counts are read again: held, they would be in local memory. */
#pragma unroll
            for (int kn_w = 0; kn_w < kn_warps; ++kn_w) {
                const unsigned kn_count_of_warp = kn_before[kn_w][threadIdx.x];
                kn_before[kn_w][threadIdx.x] = kn_of_warp;
                kn_of_warp += kn_count_of_warp;
            }
            kn_base[threadIdx.x] = kn_in_row + kn_sum_of_warps(kn_sums[1]) - kn_start;
        }
        __syncthreads();
#pragma unroll
        for (int kn_r = 0; kn_r < kn_items; ++kn_r) {
            const unsigned kn_digit = kn_rank[kn_r] >> 16, kn_at = kn_before[kn_warp][kn_digit] + (kn_rank[kn_r] & 0xffff);
            [[maybe_unused]] const unsigned kn_e = kn_begin + kn_r * 32, kn_j = kn_e < kn_count ? kn_e : 0;
            if constexpr (!kn_finds_again)
                kn_digit_of[kn_at] = (unsigned char)kn_digit;
            ${from}
            ${packs}
        }

        /* The elements of the row's earlier tiles, whose words are looked at a few at a time. */
        if (kn_tile > 0 && kn_has_digit) {
            const kn_word kn_earlier = kn_sum_of_earlier(kn_words + threadIdx.x, kn_tile);
            kn_put_down(kn_words + threadIdx.x, kn_earlier + kn_own | (kn_word)2 << kn_shift);
            kn_base[threadIdx.x] += kn_earlier;
        }
    }
    __syncthreads();
    /* Neighbours in the tile go to neighbouring places, where they have one digit. */
    long long kn_to_row = kn_row * kn.length;
    asm volatile("" : "+l"(kn_to_row)); /* One number, rather than a product for each element. */
    if (kn_count == kn_of_tile)
#pragma unroll ${row_unroll}
        for (int kn_r = 0; kn_r < kn_items; ++kn_r) {
            const unsigned kn_s = kn_r * ${block} + threadIdx.x;
            [[maybe_unused]] const unsigned kn_j = ${single};
            ${gather}
            const ${order} ${row} = (${order})(kn_to_row + (kn_word)(kn_base[${index}] + kn_s));
            ${from}
            ${stores}
        }
    else
#pragma unroll 1
        for (unsigned kn_s = threadIdx.x; kn_s < kn_count; kn_s += ${block}) {
            [[maybe_unused]] const unsigned kn_j = ${single};
            ${gather}
            const ${order} ${row} = (${order})(kn_to_row + (kn_word)(kn_base[${index}] + kn_s));
            ${from}
            ${stores}
        }
    ${after_loop}
}
