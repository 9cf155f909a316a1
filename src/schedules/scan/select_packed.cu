${head}
${axes}
/* A block has all elements, or one of several tiles. A warp loads its elements at once, and puts the selected ones side by side in shared memory, in their order. */
enum { kn_has_tiles = ${several_tiles}, kn_in_flight = ${items}, kn_warps = ${block} / 32, kn_of_warp = 32 * kn_in_flight, kn_most = ${block} * kn_in_flight };

${begin}
    __shared__ int64 kn_of_tile; /* first the tile's selected elements, then those of the tiles before */
    __shared__ unsigned kn_total[kn_warps];
    __shared__ unsigned short kn_number_of[kn_most];
    ${tiles}

    unsigned kn_tile = 0;
    if constexpr (kn_has_tiles)
        kn_tile = kn_take_ticket(kn.counters, gridDim.x);
    const long long kn_first = (long long)kn_tile * kn_most;
    const int kn_count = kn.length - kn_first < kn_most ? (int)(kn.length - kn_first) : kn_most;
    const int kn_lane = threadIdx.x % 32, kn_warp = threadIdx.x / 32, kn_begin = kn_warp * kn_of_warp + kn_lane;
    kn_place kn_here = {};
    ${pointers}

    ${step_packs}
    if (kn_count == kn_most) {
#pragma unroll
        for (int kn_u = 0; kn_u < kn_in_flight; ++kn_u) {
            const int kn_j = kn_begin + kn_u * 32;
            ${step_loads}
        }
    } else {
#pragma unroll
        for (int kn_u = 0; kn_u < kn_in_flight; ++kn_u) {
            const int kn_j = kn_begin + kn_u * 32 < kn_count ? kn_begin + kn_u * 32 : 0;
            ${step_loads}
        }
    }

    /* The last element of all is not among them: it comes by itself, selected or not, since it stores the count. */
    const int kn_end = kn_count - (kn_first + kn_count == kn.length);
    unsigned kn_sum = 0; /* those of the warp */
#pragma unroll
    for (int kn_u = 0; kn_u < kn_in_flight; ++kn_u) {
        /* Texts may read other arrays at the index, so that of an element that is not there is that of the first one. */
        [[maybe_unused]] const int kn_j = kn_begin + kn_u * 32 < kn_count ? kn_begin + kn_u * 32 : 0;
        ${loads}
        ${lane}
        const bool kn_is_selected = kn_begin + kn_u * 32 < kn_end && ${mapped} != 0;
        const unsigned kn_voted = __ballot_sync(0xffffffffu, kn_is_selected);
        if (kn_is_selected) {
            const unsigned kn_s = kn_warp * kn_of_warp + kn_sum + __popc(kn_voted & ((1u << kn_lane) - 1));
            kn_number_of[kn_s] = (unsigned short)kn_j;
            ${packs}
        }
        kn_sum += __popc(kn_voted);
    }

    /* The number of selected elements before those of this warp. */
    unsigned kn_all;
    const unsigned kn_earlier = kn_before_warp<kn_warps, kn_warps>(kn_total, kn_sum, kn_all);
    ${order}

    /* Selected elements are stored by their number, which is one more than that of selected ones before. */
#pragma unroll 4
    for (unsigned kn_r = kn_lane; kn_r < kn_sum; kn_r += 32) {
        const unsigned kn_s = kn_warp * kn_of_warp + kn_r;
        const int64 ${result} = kn_before + (kn_earlier + kn_r + 1);
        [[maybe_unused]] const int kn_j = kn_number_of[kn_s];
        ${invariant}
        ${stores}
    }
    if (threadIdx.x == 0 && kn_first + kn_count == kn.length) {
        [[maybe_unused]] const int kn_j = kn_count - 1;
        ${loads}
        ${unstage}
        const int64 ${result} = kn_before + kn_all + (${mapped} != 0);
        ${single}
    }
    if constexpr (kn_has_tiles)
        ${finish}
    ${after_loop}
}
