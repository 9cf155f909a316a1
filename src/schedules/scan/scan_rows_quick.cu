${head}
${axes}
/* A block is a warp, and has a tile, 32 neighbours at a time. If a row has several, it looks at the elements twice: it puts their sum down; then it goes on from those of the tiles before, which lanes add up. So each text stands in few places. */
enum { kn_has_tiles = ${several_tiles}, kn_is_exclusive = ${exclusive} };

${begin}
    typedef ${type} kn_scanned;
    const unsigned kn_ticket = kn_has_tiles ? kn_take_ticket(kn.counters, gridDim.x) : blockIdx.x, kn_lane = threadIdx.x;
    const unsigned kn_row = kn_ticket / kn.tiles, kn_tile = kn_ticket - kn_row * kn.tiles;
    const long long kn_first = (long long)kn_tile * kn.chunk * 32;
    const unsigned kn_count = kn.length - kn_first < kn.chunk * 32ll ? (unsigned)(kn.length - kn_first) : kn.chunk * 32;
    ${type} *const kn_sums = reinterpret_cast<${type} *>(kn.partials) + (kn_ticket - kn_tile);
    unsigned *const kn_words = kn.counters + 2 + (kn_ticket - kn_tile); /* 1: the sum is there */
    kn_place kn_here = {};
    kn_go_to_result<${operands}>(kn_here, kn, 1, kn_row);
    ${pointers}
    ${type} kn_before;
    bool kn_some = false; /* there is something in kn_before */
#pragma unroll 1
    for (int kn_turn = kn_has_tiles ? 0 : 2; kn_turn < 3; ++kn_turn) { /* the sum, those of the tiles before, the results */
        const bool kn_looks = kn_has_tiles && kn_turn == 1;
        const unsigned kn_many = kn_looks ? kn_tile : kn_count;
#pragma unroll 1
        for (unsigned kn_r = 0; kn_r < kn_many; kn_r += 32) {
            const unsigned kn_last = kn_many - kn_r < 32 ? kn_many - kn_r - 1 : 31, kn_at = kn_r + (kn_lane < kn_last ? kn_lane : kn_last);
            const unsigned kn_j = kn_at < kn_count ? kn_at : kn_count - 1;
            ${loads}
            ${single}
            ${type} kn_sum = ${mapped};
            if (kn_looks) {
                while (kn_look_at(kn_words + kn_at) == 0)
                    ;
                __threadfence();
                kn_sum = kn_sums[kn_at];
            }
#pragma unroll 1
            for (unsigned kn_by = 1; kn_by < 64; kn_by *= 2) { /* at last what comes before all lanes */
                const ${type} kn_other = kn_by < 32 ? kn_shuffle<'='>(kn_sum, (kn_lane - kn_by) % 32) : kn_before;
                if (kn_by < 32 ? kn_lane >= kn_by : kn_some)
                    kn_sum = ${reduce}(kn_other, kn_sum);
            }
            if (kn_turn == 2) {
                ${type} ${result} = kn_sum;
                if constexpr (kn_is_exclusive) {
                    ${result} = kn_shuffle<'='>(kn_sum, (kn_lane - 1) % 32);
                    if (kn_lane == 0)
                        ${result} = kn_some ? kn_before : ${identity};
                }
                if (kn_lane <= kn_last) {
                    ${post}
                }
            }
            kn_before = kn_shuffle<'='>(kn_sum, kn_last);
            kn_some = true;
        }
        if (kn_turn == 0) {
            if (kn_lane == 0) {
                kn_sums[kn_tile] = kn_before;
                __threadfence();
                kn_put_down(kn_words + kn_tile, 1u);
            }
            kn_some = false;
        }
    }
    if constexpr (kn_has_tiles)
        kn_leave_words(kn.counters + 1, gridDim.x, kn.counters + 2, gridDim.x);
    ${after_loop}
}
