${head}
${axes}
/* An item in a thread's registers: ${vector} elements. */
struct kn_item {
    ${item}
};

${begin}

    /* A block has a row. */
    const bool kn_is_here = true, kn_is_first = threadIdx.x == 0;
    constexpr bool kn_is_empty = false, kn_is_unaligned = ${fit} == 1;
    kn_place kn_here = {};
    kn_go_to_result<${operands}>(kn_here, kn, kn.reduction_rank, blockIdx.x);
    (void)kn_is_first, (void)kn_is_empty;
    ${row}
    const int kn_off = ${off};
    constexpr bool kn_is_full = ${fit} == 3;
    constexpr int kn_whole = kn_is_full ? ${items} : ${nearly_full} ? ${items} * 3 / 4 : 0;
    const int kn_threads = kn_is_full ? ${block} : (int)blockDim.x, kn_length = kn_is_full ? ${block} * ${items} * ${vector} : kn.length;
    const kn_deal<kn_whole, kn_is_unaligned && ${vector} <= 4> kn_dealt = {(int)threadIdx.x, kn_threads, (kn_off + kn_length + ${vector} - 1) / ${vector}, kn_off, kn_length};
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
    const auto kn_reduce_items = [&](auto &kn_to, auto kn_stage, const auto &kn_load_late, const auto &kn_one, const auto &kn_both) {
        typedef typename kn_referred<decltype(kn_to)>::type kn_type;
        kn_to = kn_reduce_held<kn_type, ${vector}, kn_is_unaligned>(kn_held, kn_dealt, kn_load_late, kn_one, kn_both);
        kn_reduce_threads<decltype(kn_stage)::value, ${block}, (kn_whole > 0)>(kn_to, kn_dealt.holders(), kn_is_full ? ${block} / 32 : kn.width, kn_both);
    };
    ${levels}
    ${stores}
    ${after_loop}
}
