${head}
${axes}
/* A block is a warp, and combines a row, or a tile of it, in the order of scan_rows.cu: it plays one warp after the other, each of whose lanes has neighbours. A row of several tiles has three launches: the sums of
 * tiles (turn 0), those of groups of tiles (1), and the results (2), before which a warp adds up the sums of the tiles before as cuda_look_back.cu does, lanes having neighbours among them too. */
enum { kn_has_tiles = ${several_tiles}, kn_is_exclusive = ${exclusive}, kn_neighbours = 8, kn_group = 256 };

${begin}
    typedef ${type} kn_scanned;
    const bool kn_is_of_groups = kn_has_tiles && kn.turn == 1;
    const unsigned kn_row = kn_has_tiles ? blockIdx.y : blockIdx.x, kn_tile = !kn_has_tiles ? 0 : kn_is_of_groups ? blockIdx.x * kn_group + kn_group - 1 : blockIdx.x, kn_groups = kn_tile / kn_group;
    kn_place kn_here = {};
#pragma unroll
    for (int kn_o = 0; kn_o < ${operands}; ++kn_o)
        kn_here.at[kn_o] = kn_row * kn.axis[1].stride[kn_o];
    const int kn_misaligned = ${off}, kn_low = kn_tile == 0 ? kn_misaligned : 0, kn_span = kn.chunk << kn.lane_bits, kn_first = kn_tile * kn_span - kn_misaligned;
    const int kn_high = (int)kn.length - kn_first < kn_span ? (int)kn.length - kn_first : kn_span;
    ${pointers}
    /* Sums of the row's tiles, then of its groups of them. */
    ${type} *const kn_sums = reinterpret_cast<${type} *>(kn.partials) + kn_row * (kn.tiles + kn.tiles / kn_group);
    ${type} kn_all, kn_before_tile, kn_before, kn_total; /* kn_all: what comes before the warp, in the tile or among the sums; kn_total: of the warp */
#pragma unroll 1
    for (int kn_looks = kn_has_tiles && kn.turn > 0; kn_looks >= (int)kn_is_of_groups; --kn_looks) { /* at the sums before, then at elements */
        bool kn_some = false; /* there is something in kn_all */
#pragma unroll 1
        for (int kn_warp = kn_is_of_groups ? 2 : 0; kn_warp < (kn_looks ? 3 : 1) || (!kn_looks && kn_warp * 32 >> kn.lane_bits == 0); ++kn_warp) {
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
                /* Before a lane come lanes of its warp, warps, tiles. */
#pragma unroll 1
                for (unsigned kn_by = 1; kn_by < 32; kn_by *= 2) {
                    const ${type} kn_other = kn_shuffle<'='>(kn_sum, (threadIdx.x - kn_by) % 32);
                    if (threadIdx.x >= kn_by && kn_begin < kn_end)
                        kn_sum = ${reduce}(kn_other, kn_sum);
                }
                kn_total = kn_shuffle<'='>(kn_sum, 31 - __clz(kn_those));
                kn_before = kn_shuffle<'='>(kn_sum, (threadIdx.x - 1) % 32);
                kn_goes_on = threadIdx.x > 0;
                if (kn_some) {
                    kn_before = kn_goes_on ? ${reduce}(kn_all, kn_before) : kn_all;
                    kn_goes_on = true;
                }
                if (!kn_looks && kn_has_tiles && kn.turn == 2 && kn_tile > 0) {
                    kn_before = kn_goes_on ? ${reduce}(kn_before_tile, kn_before) : kn_before_tile;
                    kn_goes_on = true;
                }
                kn_all = kn_some ? ${reduce}(kn_all, kn_total) : kn_total;
                kn_sum = kn_before;
                kn_some = true;
                if (kn_looks || (kn_has_tiles && kn.turn == 0))
                    break;
            }
        }
        kn_before_tile = kn_all;
    }
    if (kn_has_tiles && kn.turn < 2 && threadIdx.x == 0)
        kn_sums[kn_is_of_groups ? kn.tiles + kn_groups : kn_tile] = kn_is_of_groups ? ${reduce}(kn_total, kn_sums[kn_tile]) : kn_all;
    ${after_loop}
}
