${head}
${axes}
/* An item in a thread's registers: ${vector} elements. */
struct kn_item {
    ${item}
};
enum { kn_registers = ${items} }; /* items of a thread in registers; the others are in shared memory, as they were loaded */

extern __shared__ __align__(16) unsigned char kn_buffer[];

extern "C" __global__ void __launch_bounds__(${block}, 1024 / ${block}) ${entry}(const __grid_constant__ kn_args kn)
{
    constexpr bool kn_is_full = ${fit} == 3 || ${fit} == 6;
    /* Where the row is in registers alone, its loads come first. */
    if (kn.blocks > 1 && !kn_is_full)
        kn_arrive_in_cluster<${writes_row}>();
    ${wait}
    ${values}
    ${loop_prep}
    ${element}

    /* kn.blocks blocks have a row, each kn.share items of it. */
    const unsigned kn_rank = kn.blocks > 1 ? kn_rank_in_cluster() : 0;
    const bool kn_is_here = true, kn_is_first = kn_rank == 0 && threadIdx.x == 0;
    constexpr bool kn_is_empty = false, kn_is_unaligned = ${fit} == 1;
    constexpr int kn_whole = kn_is_full || ${nearly_full} ? kn_registers : 0;
    kn_place kn_here = {};
    kn_go_to_result<${operands}>(kn_here, kn, kn.reduction_rank, blockIdx.x / (unsigned)kn.blocks);
    (void)kn_is_first, (void)kn_is_empty;
    ${row}
    const int kn_threads = kn_is_full ? ${block} : (int)blockDim.x, kn_share = kn_is_full ? ${block} * kn_registers : kn.share;
    const int kn_off = ${off}, kn_items = kn_is_full ? kn.blocks * kn_share : (kn_off + kn.length + ${vector} - 1) / ${vector};
    const int kn_before = kn_rank * kn_share, kn_left = kn_items - kn_before, kn_own = kn_left < kn_share ? kn_left : kn_share;
    const kn_deal<kn_whole, kn_is_unaligned && ${vector} <= 4> kn_dealt = {(int)threadIdx.x, kn_threads, kn_own > 0 ? kn_own : 0, kn_off - kn_before * ${vector}, kn.length};
    const unsigned kn_holding = kn_is_full ? kn.blocks : (kn_items + kn_share - 1) / kn_share; /* blocks that hold any */
    kn_item kn_held[kn_registers];
    for (int kn_u = kn_registers; !kn_is_full && kn_dealt.has(kn_u); ++kn_u) {
        const int kn_j = kn_dealt.first<${vector}>(kn_u), kn_slot = (kn_u - kn_registers) * kn_threads + (int)threadIdx.x;
        ${stage}
    }
    /* Staged items by fours, all of which are loaded before one is used, and the rest. */
    const auto kn_some_staged = [&](auto kn_count, const int kn_u, const auto &kn_load_one, const auto &kn_one) {
        constexpr int kn_items_now = decltype(kn_count)::value;
        kn_item kn_in[kn_items_now];
#pragma unroll
        for (int kn_g = 0; kn_g < kn_items_now; ++kn_g)
            kn_load_one(kn_in[kn_g], kn_dealt.first<${vector}>(kn_u + kn_g), (kn_u + kn_g - kn_registers) * kn_threads + (int)threadIdx.x);
#pragma unroll
        for (int kn_g = 0; kn_g < kn_items_now; ++kn_g)
            kn_one(kn_in[kn_g], kn_dealt.first<${vector}>(kn_u + kn_g), kn_u + kn_g);
    };
    const auto kn_each_staged = [&](const auto &kn_load_one, const auto &kn_one) {
        constexpr int kn_group = sizeof(kn_item) <= 64 ? 4 : 1;
        if (kn_is_full)
            return;
        kn_stage_own_wait();
        int kn_u = kn_registers;
#pragma unroll 1
        for (; kn_group > 1 && kn_dealt.has(kn_u + kn_group - 1); kn_u += kn_group)
            kn_some_staged(kn_number<kn_group>(), kn_u, kn_load_one, kn_one);
#pragma unroll 1
        for (; kn_dealt.has(kn_u); ++kn_u)
            kn_some_staged(kn_number<1>(), kn_u, kn_load_one, kn_one);
    };
    const auto kn_each_item = [&](const auto &kn_load_late, const auto &kn_one, const auto &kn_load_staged, const auto &kn_one_staged) {
        kn_each_held<${vector}>(kn_held, kn_dealt, kn_load_late, [&](kn_item &kn_in, const int kn_j, int) { kn_one(kn_in, kn_j); });
        kn_each_staged(kn_load_staged, [&](kn_item &kn_in, const int kn_j, int) { kn_one_staged(kn_in, kn_j); });
    };
    const auto kn_load_items = [&](const auto &kn_load_early) {
#pragma unroll
        for (int kn_u = 0; kn_u < kn_registers; ++kn_u)
            if (kn_dealt.has(kn_u))
                kn_load_early(kn_held[kn_u], kn_dealt.first<${vector}>(kn_u));
        if (kn.blocks > 1 && kn_is_full)
            kn_arrive_in_cluster<true>();
    };
    bool kn_have_all_begun = false;
    unsigned kn_reductions = 0;
    const auto kn_reduce_items = [&](auto &kn_to, auto kn_stage, const auto &kn_load_late, const auto &kn_one, const auto &kn_load_staged, const auto &kn_one_staged,
                                   const auto &kn_both) {
        typedef typename kn_referred<decltype(kn_to)>::type kn_type;
        kn_to = kn_reduce_held<kn_type, ${vector}, kn_is_unaligned>(kn_held, kn_dealt, kn_load_late, kn_one, kn_both);
        kn_chain<kn_type> kn_chained;
        int kn_turns = 0;
        kn_each_staged(kn_load_staged, [&](kn_item &kn_in, const int kn_j, const int kn_u) {
            kn_type kn_side[${vector}];
            kn_one_staged(kn_in, kn_j, kn_side);
            kn_turns = kn_u - kn_registers + 1;
            kn_chain_put(kn_chained, kn_turns - 1, kn_reduce_item<kn_is_unaligned>(kn_side, kn_j, kn.length, kn_both), kn_both);
        });
        if (kn_turns > 0)
            kn_to = kn_both(kn_to, kn_chain_all(kn_chained, kn_turns, kn_both));
        kn_reduce_threads<decltype(kn_stage)::value, ${block}, (kn_whole > 0)>(kn_to, kn_dealt.holders(), kn_is_full ? ${block} / 32 : kn.width, kn_both);
        if (kn.blocks > 1 && !kn_have_all_begun)
            kn_wait_for_cluster();
        kn_have_all_begun = true;
        kn_reduce_cluster<decltype(kn_stage)::value>(kn_to, kn_rank, kn_holding, kn.blocks, kn_reductions++, kn_both);
    };
    ${levels}
    if (kn.blocks > 1 && !kn_have_all_begun)
        kn_wait_for_cluster();
    ${stores}
    ${after_loop}
}
