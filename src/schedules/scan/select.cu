${head}
${axes}
/* Elements lie along one axis, or along several; a block has all of them, or one of several tiles. */
enum { kn_is_one_axis = ${one_axis}, kn_has_tiles = ${several_tiles} };
enum { kn_rounds = ${items}, kn_in_flight = kn_is_one_axis ? 8 : 2, kn_warps = ${block} / 32, kn_of_warp = 32 * kn_rounds }; /* elements that a thread has, and loads before it has any of them; warps; elements of a warp */

${begin}
    __shared__ int64 kn_of_tile; /* first the tile's selected elements, then those of the tiles before */
    __shared__ unsigned kn_total[kn_warps];
    __shared__ unsigned short kn_selected[kn_warps][kn_of_warp]; /* those of each warp */

    unsigned kn_tile = 0;
    if constexpr (kn_has_tiles)
        kn_tile = kn_take_ticket(kn.counters, gridDim.x);
    const long long kn_first = (long long)kn_tile * (${block} * kn_rounds);
    const unsigned kn_count = kn.length - kn_first < ${block} * kn_rounds ? (unsigned)(kn.length - kn_first) : ${block} * kn_rounds;
    const unsigned kn_lane = threadIdx.x % 32, kn_warp = threadIdx.x / 32, kn_begin = kn_warp * kn_of_warp + kn_lane;
    kn_place kn_here = {};
    ${pointers}

    /* The elements that are selected, in their order. */
    unsigned kn_sum = 0;
#pragma unroll 1
    for (unsigned kn_r = 0; kn_r < kn_rounds; kn_r += kn_in_flight) {
        ${step_packs}
#pragma unroll
        for (int kn_u = 0; kn_u < kn_in_flight; ++kn_u) {
            const unsigned kn_e = kn_begin + (kn_r + kn_u) * 32, kn_j = kn_e < kn_count ? kn_e : 0; /* what is not there is not loaded */
            ${from}
            ${step_loads}
        }
#pragma unroll
        for (int kn_u = 0; kn_u < kn_in_flight; ++kn_u) {
            const unsigned kn_e = kn_begin + (kn_r + kn_u) * 32;
            [[maybe_unused]] const unsigned kn_j = kn_e < kn_count ? kn_e : 0;
            ${post}
            ${loads}
            ${lane}
            const bool kn_is_selected = kn_e < kn_count && ${mapped} != 0;
            const unsigned kn_voted = __ballot_sync(0xffffffffu, kn_is_selected);
            if (kn_is_selected)
                kn_selected[kn_warp][kn_sum + __popc(kn_voted & ((1u << kn_lane) - 1))] = (unsigned short)kn_e;
            kn_sum += __popc(kn_voted);
        }
    }

    /* The number of selected elements before those of this warp. */
    unsigned kn_all;
    const unsigned kn_earlier = kn_before_warp<kn_warps, 1>(kn_total, kn_sum, kn_all);
    ${order}

    /* Selected elements are stored by their number, which is one more than that of selected ones before. The last element of all stores the count, whether it is one or not. */
    const auto kn_put = [&](const unsigned kn_j, const int64 ${result}) {
        ${post}
        ${stores}
    };
#pragma unroll (kn_is_one_axis ? 4 : 1)
    for (unsigned kn_s = kn_lane; kn_s < kn_sum; kn_s += 32)
        kn_put(kn_selected[kn_warp][kn_s], kn_before + (kn_earlier + kn_s + 1));
    if (kn_first + kn_count == kn.length && kn_warp == (kn_count - 1) / kn_of_warp && kn_lane == 0 && (kn_sum == 0 || kn_selected[kn_warp][kn_sum - 1] + 1 != kn_count))
        kn_put(kn_count - 1, kn_before + (kn_earlier + kn_sum));
    if constexpr (kn_has_tiles)
        kn_leave_zeros(kn_left, gridDim.x, kn.counters + 2, kn.flags);
    ${after_loop}
}
