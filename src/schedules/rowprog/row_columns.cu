${head}
${axes}
/* An item in a thread's registers: ${vector} neighbouring elements, each of another row. */
struct kn_item {
    ${item}
};
enum { kn_registers = ${items} }; /* items of a thread that it holds so; the others lie in shared memory, as they were loaded */

extern __shared__ __align__(16) unsigned char kn_buffer[];

extern "C" __global__ void __launch_bounds__(${block}) ${entry}(const __grid_constant__ kn_args kn)
{
    if (kn.blocks > 1)
        kn_arrive_in_cluster<false>();
    ${wait}
    ${values}
    ${loop_prep}
    ${element}

    /* kn.blocks blocks have a tile: kn.across vectors of rows side by side, of which each has kn.share elements. Threads that are left over compute the last vector once
       more, and store nothing. */
    const unsigned kn_rank = kn.blocks > 1 ? kn_rank_in_cluster() : 0, kn_at = blockIdx.x / kn.blocks, kn_outer = kn_at / kn.tiles;
    const unsigned kn_x = threadIdx.x & (kn.across - 1), kn_y = threadIdx.x >> kn.shift, kn_down = blockDim.x >> kn.shift;
    const long long kn_wanted = ((long long)(kn_at - kn_outer * kn.tiles) * kn.across + kn_x) * ${vector};
    const bool kn_is_here = kn_wanted < kn.columns, kn_is_first = kn_is_here && kn_rank == 0 && kn_y == 0;
    const long long kn_column = kn_is_here ? kn_wanted : kn.columns - ${vector};
    constexpr int kn_whole = ${nearly_full} ? ${items} * 3 / 4 : 0;
    kn_place kn_here = {};
    kn_go_to_result<${operands}>(kn_here, kn, kn.reduction_rank + 1, kn_outer);
    for (int o = 0; o < ${operands}; ++o)
        kn_here.at[o] += kn_column * kn.axis[kn.reduction_rank].stride[o];
    (void)kn_is_first;
    ${row}
    const int kn_before = kn_rank * kn.share, kn_left = kn.length - kn_before, kn_own = kn_left < kn.share ? kn_left : kn.share;
    const kn_deal<kn_whole> kn_dealt = {(int)kn_y, (int)kn_down, kn_own, -kn_before, kn.length};
    kn_item kn_held[kn_registers];
    for (int kn_u = kn_registers; kn_dealt.has(kn_u); ++kn_u) {
        const int kn_j = kn_dealt.first<1>(kn_u), kn_slot = (kn_u - kn_registers) * (int)blockDim.x + (int)threadIdx.x;
        ${stage}
    }
    const auto kn_each_staged = [&](const auto &kn_load_one, const auto &kn_one) {
        kn_stage_own_wait();
#pragma unroll 2
        for (int kn_u = kn_registers; kn_dealt.has(kn_u); ++kn_u) {
            const int kn_j = kn_dealt.first<1>(kn_u);
            kn_item kn_in;
            kn_load_one(kn_in, kn_j, (kn_u - kn_registers) * (int)blockDim.x + (int)threadIdx.x);
            kn_one(kn_in, kn_j, kn_u - kn_registers);
        }
    };
    const auto kn_each_item = [&](const auto &kn_load_late, const auto &kn_one, const auto &kn_load_staged, const auto &kn_one_staged) {
        kn_each_held<1>(kn_held, kn_dealt, kn_load_late, [&](kn_item &kn_in, const int kn_j, int) { kn_one(kn_in, kn_j); });
        kn_each_staged(kn_load_staged, [&](kn_item &kn_in, const int kn_j, int) { kn_one_staged(kn_in, kn_j); });
    };
    const auto kn_load_items = [&](const auto &kn_load_early) {
#pragma unroll
        for (int kn_u = 0; kn_u < kn_registers; ++kn_u)
            if (kn_dealt.has(kn_u))
                kn_load_early(kn_held[kn_u], kn_dealt.first<1>(kn_u));
    };
    bool kn_have_all_begun = false;
    unsigned kn_turn = 0;
    const auto kn_reduce_items = [&](auto &kn_to, auto, const auto &kn_load_late, const auto &kn_one, const auto &kn_load_staged, const auto &kn_one_staged,
                                   const auto &kn_both) {
        kn_reduce_held_columns(kn_to, kn_held, kn_dealt, kn_load_late, kn_one, kn_both);
        kn_reduce_staged_columns(kn_to, [&](const auto &kn_take) {
            kn_each_staged(kn_load_staged, [&](kn_item &kn_in, const int kn_j, const int kn_number) {
                kn_take(kn_number, [&](auto &kn_side) { kn_one_staged(kn_in, kn_j, kn_side); });
            });
        }, kn_both);
        if (kn.blocks > 1 && !kn_have_all_begun)
            kn_wait_for_cluster();
        kn_have_all_begun = true;
        const kn_columns kn_tile = {kn.across, kn.shift, kn.width, kn_x, kn_y, kn_dealt.holders(), kn_rank, kn.blocks};
        kn_reduce_down(kn_to, kn_tile, kn_turn, kn_both);
    };
    ${levels}
    if (kn.blocks > 1 && !kn_have_all_begun)
        kn_wait_for_cluster();
    ${stores}
    ${after_loop}
}
