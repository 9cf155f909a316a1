${head}
${axes}
/* A block is a warp, and combines a row, or a tile of it, in the order of scan_rows.cu: it plays one warp after the other, each of whose lanes has neighbours. If a row has several tiles, it looks at the elements twice:
 * it puts their sum down; then it adds up those of the tiles before as cuda_look_back.cu does, lanes having neighbours among them too, and goes on from there. So each text stands in few places. */
enum { kn_has_tiles = ${several_tiles}, kn_is_exclusive = ${exclusive}, kn_neighbours = 8, kn_group = 256 };

${begin}
    typedef ${type} kn_scanned;
    const unsigned kn_ticket = kn_has_tiles ? kn_take_ticket(kn.counters, gridDim.x) : blockIdx.x;
    const unsigned kn_row = kn_ticket / kn.tiles, kn_tile = kn_ticket - kn_row * kn.tiles, kn_groups = kn_tile / kn_group, kn_words_of_row = kn.tiles + kn.tiles / kn_group;
    kn_place kn_here = {};
    kn_go_to_result<${operands}>(kn_here, kn, 1, kn_row);
    const int kn_misaligned = ${off}, kn_low = kn_tile == 0 ? kn_misaligned : 0, kn_span = kn.chunk << kn.lane_bits, kn_first = kn_tile * kn_span - kn_misaligned;
    const int kn_high = (int)kn.length - kn_first < kn_span ? (int)kn.length - kn_first : kn_span;
    ${pointers}
    /* Sums of the row's tiles, then of its groups of them, and words: 1: the sum is there. */
    ${type} *const kn_sums = reinterpret_cast<${type} *>(kn.partials) + kn_row * kn_words_of_row;
    unsigned *const kn_words = kn.counters + 2 + kn_row * kn_words_of_row;
    ${type} kn_all, kn_of_tile, kn_before_tile, kn_before, kn_total; /* kn_all: what comes before the warp, in the tile or among the sums; kn_total: of the warp */
#pragma unroll 1
    for (int kn_turn = kn_has_tiles ? 0 : 2; kn_turn < 3; ++kn_turn) { /* the tile's sum, those of the tiles before, the results */
        const bool kn_looks = kn_has_tiles && kn_turn == 1;
        bool kn_some = false; /* there is something in kn_all */
#pragma unroll 1
        for (int kn_warp = 0; kn_warp < (kn_looks ? 3 : 1) || (!kn_looks && kn_warp * 32 >> kn.lane_bits == 0); ++kn_warp) {
            /* Groups before the one before this; tiles of that; those of this. */
            const int kn_from = !kn_looks ? 0 : kn_warp == 0 ? kn.tiles : (kn_groups - (kn_warp == 1)) * kn_group;
            const int kn_count = !kn_looks ? kn_high : kn_warp == 0 ? (int)kn_groups - 1 : kn_warp == 1 ? (kn_groups > 0) * kn_group : kn_tile % kn_group;
            const int kn_lane = kn_looks ? threadIdx.x : kn_warp * 32 + threadIdx.x, kn_each = kn_looks ? kn_neighbours : kn.chunk;
            const int kn_begin = kn_lane == 0 && !kn_looks ? kn_low : kn_lane * kn_each, kn_end = (kn_lane + 1) * kn_each < kn_count ? (kn_lane + 1) * kn_each : kn_count;
            const unsigned kn_those = __ballot_sync(0xffffffffu, kn_begin < kn_end);
            if (kn_those == 0)
                continue;
            ${type} kn_sum;
            bool kn_goes_on = false; /* there is something in kn_sum */
#pragma unroll 1
            for (int kn_again = 0; kn_again < 2; ++kn_again) {
#pragma unroll 1
                for (int kn_j = kn_begin; kn_j < kn_end; ++kn_j) {
                    ${type} kn_own;
                    if (kn_looks) {
                        while (kn_look_at(kn_words + kn_from + kn_j) == 0)
                            ;
                        __threadfence();
                        kn_own = kn_sums[kn_from + kn_j];
                    } else {
                        ${loads}
                        ${single}
                        kn_own = ${mapped};
                    }
                    const ${type} kn_earlier = kn_goes_on || !kn_is_exclusive ? kn_sum : ${identity};
                    kn_sum = kn_goes_on ? ${reduce}(kn_sum, kn_own) : kn_own;
                    kn_goes_on = true;
                    if (kn_again) {
                        const ${type} ${result} = kn_is_exclusive ? kn_earlier : kn_sum;
                        ${post}
                    }
                }
                if (kn_again)
                    break;
                __syncwarp();
#pragma unroll 1
                for (unsigned kn_by = 1; kn_by < 256; kn_by *= 2) { /* lanes before this one, warps, tiles; at last what comes before the next warp */
                    if (kn_by == 32) {
                        kn_total = kn_shuffle<'='>(kn_sum, 31 - __clz(kn_those));
                        kn_sum = kn_shuffle<'='>(kn_sum, (threadIdx.x - 1) % 32);
                        kn_goes_on = threadIdx.x > 0;
                    }
                    if (kn_by == 128) {
                        kn_before = kn_sum;
                        kn_sum = kn_total;
                    }
                    const ${type} kn_other = kn_by < 32 ? kn_shuffle<'='>(kn_sum, (threadIdx.x - kn_by) % 32) : kn_by == 64 ? kn_before_tile : kn_all;
                    if (kn_by < 32 ? threadIdx.x >= kn_by && kn_begin < kn_end : kn_by == 64 ? kn_turn == 2 && kn_tile > 0 : kn_some) {
                        kn_sum = kn_goes_on || kn_by == 128 ? ${reduce}(kn_other, kn_sum) : kn_other;
                        kn_goes_on = true;
                    }
                }
                kn_all = kn_sum;
                kn_sum = kn_before;
                kn_some = true;
                if (kn_turn < 2)
                    break;
            }
        }
        const bool kn_ends_group = kn_tile % kn_group == kn_group - 1;
        unsigned kn_number = kn_tile;
        if (kn_turn == 0)
            kn_of_tile = kn_all;
        else {
            kn_before_tile = kn_all;
            kn_all = ${reduce}(kn_total, kn_of_tile);
            kn_number = kn.tiles + kn_groups;
        }
        if (kn_turn == 0 || (kn_looks && kn_ends_group)) {
            if (threadIdx.x == 0) {
                kn_sums[kn_number] = kn_all;
                __threadfence();
                kn_put_down(kn_words + kn_number, 1u);
            }
        }
    }
    if constexpr (kn_has_tiles)
        kn_leave_words(kn.counters + 1, gridDim.x, kn.counters + 2, kn.flags);
    ${after_loop}
}
