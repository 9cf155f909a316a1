${head}
${axes}
/* A block has all elements, or one of several tiles. A thread holds its elements in registers from when they are read until they are stored; in_flight: how many. */
enum { kn_has_tiles = ${several_tiles}, kn_in_flight = ${items}, kn_warps = ${block} / 32, kn_of_warp = 32 * kn_in_flight };

${begin}
    __shared__ int64 kn_of_tile; /* first the tile's selected elements, then those of the tiles before */
    __shared__ unsigned kn_total[kn_warps];

    unsigned kn_tile = 0;
    if constexpr (kn_has_tiles)
        kn_tile = kn_take_ticket(kn.counters, gridDim.x);
    const long long kn_first = (long long)kn_tile * (${block} * kn_in_flight);
    const int kn_count = kn.length - kn_first < ${block} * kn_in_flight ? (int)(kn.length - kn_first) : ${block} * kn_in_flight;
    const int kn_lane = threadIdx.x % 32, kn_warp = threadIdx.x / 32, kn_begin = kn_warp * kn_of_warp + kn_lane;
    kn_place kn_here = {};
    ${pointers}

    ${step_packs}
    const auto kn_load = [&](const int kn_u, const long long kn_j) {
        ${step_loads}
    };
    if (kn_count == ${block} * kn_in_flight) {
#pragma unroll
        for (int kn_u = 0; kn_u < kn_in_flight; ++kn_u)
            kn_load(kn_u, kn_begin + kn_u * 32);
    } else {
#pragma unroll
        for (int kn_u = 0; kn_u < kn_in_flight; ++kn_u) {
            kn_load(kn_u, kn_begin + kn_u * 32 < kn_count ? kn_begin + kn_u * 32 : 0);
            asm volatile("" ::: "memory"); /* Compilers would load for both at one place, by addresses that differ by no constants. */
        }
    }

    /* This lane's elements that are there, and those that are selected, by round. */
    const int kn_rounds = kn_count > kn_begin ? (kn_count - kn_begin + 31) / 32 : 0;
    const unsigned kn_there = kn_rounds < kn_in_flight ? (1u << kn_rounds) - 1 : 0xffffffffu;
    unsigned kn_selected = 0;
#pragma unroll
    for (int kn_u = 0; kn_u < kn_in_flight; ++kn_u) {
        /* Texts may read other arrays at the index, so that of an element that is not there is that of the first one. */
        [[maybe_unused]] const long long kn_j = kn_begin + kn_u * 32 < kn_count ? kn_begin + kn_u * 32 : 0;
        ${loads}
        ${lane}
        kn_selected |= (unsigned)(${mapped} != 0) << kn_u;
    }
    kn_selected &= kn_there;
    const unsigned kn_sum = kn_add_lanes(__popc(kn_selected));
    const auto kn_gather = [&](const int kn_u, const long long kn_j) {
        ${gather}
    };
#pragma unroll
    for (int kn_u = 0; kn_u < kn_in_flight; ++kn_u)
        if (kn_selected >> kn_u & 1)
            kn_gather(kn_u, kn_begin + kn_u * 32);

    /* The number of selected elements before those of this warp. */
    unsigned kn_all;
    const unsigned kn_earlier = kn_before_warp<kn_warps, kn_warps>(kn_total, kn_sum, kn_all);
    ${order}

    /* Selected elements are stored by their number, which is one more than that of selected ones before. The last element of all comes by itself, selected or not: it stores the count. */
    const auto kn_put = [&](const int kn_u, const long long kn_j, const int64 ${result}) {
        ${stores}
    };
    unsigned kn_at = kn_earlier, kn_put_here = kn_selected;
    if (kn_first + kn_count == kn.length && (unsigned)(kn_rounds - 1) < kn_in_flight && kn_begin + (kn_rounds - 1) * 32 == kn_count - 1)
        kn_put_here &= ~(1u << (kn_rounds - 1));
#pragma unroll
    for (int kn_u = 0; kn_u < kn_in_flight; ++kn_u) {
        const long long kn_j = kn_begin + kn_u * 32;
        const unsigned kn_voted = __ballot_sync(0xffffffffu, kn_selected >> kn_u & 1);
        if (kn_put_here >> kn_u & 1) {
            ${invariant}
            kn_put(kn_u, kn_j, kn_before + (kn_at + __popc(kn_voted << (31 - kn_lane)))); /* itself and the lanes before it */
        }
        kn_at += __popc(kn_voted);
    }
    if (threadIdx.x == 0 && kn_first + kn_count == kn.length) {
        kn_load(0, kn_count - 1);
        kn_gather(0, kn_count - 1);
        kn_put(0, kn_count - 1, kn_before + kn_all);
    }
    if constexpr (kn_has_tiles)
        ${finish}
    ${after_loop}
}
