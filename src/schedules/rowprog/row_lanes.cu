${head}
${axes}
/* An item in a thread's registers: ${vector} elements. */
struct kn_item {
    ${item}
};

${begin}

    /* kn.lanes lanes of a warp have a row, one after the other. The remaining lanes compute the last row once more, and store nothing. */
    constexpr int kn_turns = ${turns} > 1 ? ${turns} : 1;
    constexpr bool kn_is_own = ${fit} >= 4, kn_is_full = ${fit} == 3 || ${fit} == 4;
    const unsigned kn_lanes = kn_is_own ? 1 : kn.lanes, kn_shift = kn_is_own ? 0 : kn.shift;
    const unsigned kn_lane = threadIdx.x & (kn_lanes - 1);
    ${stage}
#pragma unroll 1
    for (int kn_turn = 0; kn_turn < kn_turns; ++kn_turn) {
    const unsigned kn_at = kn_turns > 1 ? (blockIdx.x * ${block} + (threadIdx.x & ~31u)) * kn_turns + 32 * kn_turn + threadIdx.x % 32 : blockIdx.x * (${block} >> kn_shift) + (threadIdx.x >> kn_shift);
    const bool kn_is_here = kn_at < kn.size, kn_is_first = kn_is_here && kn_lane == 0;
    constexpr bool kn_is_empty = false, kn_is_unaligned = false;
    kn_place kn_here = {};
    kn_go_to_result<${operands}>(kn_here, kn, kn.reduction_rank, kn_is_here ? kn_at : (unsigned)kn.size - 1);
    const kn_deal<kn_is_full ? ${items} : 0> kn_dealt = {(int)kn_lane, (int)kn_lanes, kn.length / ${vector}, 0, kn.length};
    kn_item kn_held[${items}];
    const auto kn_each_item = [&](const auto &kn_load_late, const auto &kn_one) {
        kn_each_held<${vector}>(kn_held, kn_dealt, kn_load_late, [&](kn_item &kn_in, const int kn_j, int) { kn_one(kn_in, kn_j); });
    };
    const auto kn_load_items = [&](const auto &kn_load_early) {
#pragma unroll
        for (int kn_u = 0; kn_u < ${items}; ++kn_u)
            if (kn_dealt.has(kn_u))
                kn_load_early(kn_held[kn_u], kn_dealt.first<${vector}>(kn_u));
    };
    const auto kn_reduce_items = [&](auto &kn_to, auto, const auto &kn_load_late, const auto &kn_one, const auto &kn_both) {
        typedef typename kn_referred<decltype(kn_to)>::type kn_type;
        kn_to = kn_reduce_held<kn_type, ${vector}, kn_is_unaligned>(kn_held, kn_dealt, kn_load_late, kn_one, kn_both);
        if (!kn_is_own)
            kn_reduce_group(kn_to, kn_lane, kn_dealt.holders(), kn_lanes, kn_both);
    };
    (void)kn_is_first, (void)kn_is_empty;
    ${row}
    ${levels}
    ${stores}
    }
    ${unstage}
    ${after_loop}
}
