${head}
${axes}
/* A block is a warp, and has a tile. It looks at the elements twice: it counts those which are selected, and puts that down; then it stores, by the numbers of the tiles before. So each text stands in the kernel once. */
${begin}
    const unsigned kn_tile = kn_take_ticket(kn.counters, gridDim.x), kn_lane = threadIdx.x;
    const long long kn_first = (long long)kn_tile * kn.rounds * 32;
    const unsigned kn_count = kn.length - kn_first < kn.rounds * 32ll ? (unsigned)(kn.length - kn_first) : kn.rounds * 32;
    unsigned *const kn_words = kn.counters + 2; /* of a tile: one more than its selected elements; 0: they are not known yet */
    kn_place kn_here = {};
    ${pointers}
    int64 kn_at = 0; /* selected elements before those of a round */
#pragma unroll 1
    for (int kn_stores = 0; kn_stores < 2; ++kn_stores) {
#pragma unroll 1
        for (unsigned kn_r = 0; kn_r < kn_count; kn_r += 32) {
            const unsigned kn_e = kn_r + kn_lane;
            [[maybe_unused]] const unsigned kn_j = kn_e < kn_count ? kn_e : 0; /* what is not there is not loaded */
            ${from}
            ${loads}
            ${lane}
            const bool kn_is_selected = kn_e < kn_count && ${mapped} != 0;
            const unsigned kn_voted = __ballot_sync(0xffffffffu, kn_is_selected);
            /* The last element of all stores the count, whether it is one or not. */
            if (kn_stores && (kn_is_selected || kn_first + kn_e + 1 == kn.length)) {
                const int64 ${result} = kn_at + __popc(kn_voted & (0xffffffffu >> (31 - kn_lane)));
                ${stores}
            }
            kn_at += __popc(kn_voted);
        }
        if (!kn_stores) {
            if (kn_lane == 0)
                kn_put_down(kn_words + kn_tile, (unsigned)kn_at + 1);
            kn_at = 0;
#pragma unroll 1
            for (unsigned kn_t = kn_lane; kn_t < kn_tile; kn_t += 32) {
                unsigned kn_word;
                do
                    kn_word = kn_look_at(kn_words + kn_t);
                while (kn_word == 0);
                kn_at += kn_word - 1;
            }
#pragma unroll 1
            for (int kn_by = 16; kn_by > 0; kn_by /= 2)
                kn_at += __shfl_xor_sync(0xffffffffu, kn_at, kn_by);
        }
    }
    kn_leave_words(kn.counters + 1, gridDim.x, kn_words, gridDim.x);
    ${after_loop}
}
