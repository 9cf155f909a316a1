${head}
${axes}
/* An item in a thread's registers: ${vector} elements, and what has been combined of their columns. */
struct kn_item {
    ${item}
};

${begin}

    /* A block has the rows of a strip, one after the other: while it computes with one, the next is on its way. */
    constexpr bool kn_is_here = true, kn_is_empty = false, kn_is_unaligned = false, kn_is_full = ${fit} == 3;
    constexpr int kn_whole = kn_is_full ? ${items} : 0;
    /* Warps, rounded up to a power of two. */
    constexpr int kn_width = ${block} <= 32 ? 1 : ${block} <= 64 ? 2 : ${block} <= 128 ? 4 : ${block} <= 256 ? 8 : ${block} <= 512 ? 16 : 32;
    const bool kn_is_first = threadIdx.x == 0;
    (void)kn_is_here, (void)kn_is_first, (void)kn_is_empty, (void)kn_width;
    const int kn_length = kn_is_full ? ${block} * ${items} * ${vector} : kn.length;
    const kn_deal<kn_whole> kn_dealt = {(int)threadIdx.x, ${block}, kn_length / ${vector}, 0, kn_length};
    const unsigned kn_begin = blockIdx.x * kn.rows, kn_end = kn.size - kn_begin < kn.rows ? (unsigned)kn.size : kn_begin + kn.rows;
    kn_item kn_held[${items}], kn_next[${items}];
    const auto kn_each_place = [&](const auto &kn_one) {
#pragma unroll
        for (int kn_u = 0; kn_u < ${items}; ++kn_u)
            if (kn_dealt.has(kn_u))
                kn_one(kn_held[kn_u], kn_next[kn_u], kn_dealt.template first<${vector}>(kn_u));
    };
    kn_place kn_then = {};
    ${step_packs}
    const auto kn_ask = [&] {
        ${step_loads}
        /* Loads behind a condition are waited for where that ends: threads without an item load another one. */
#pragma unroll
        for (int kn_u = 0; kn_u < ${items}; ++kn_u) {
            [[maybe_unused]] kn_item &kn_in = kn_next[kn_u];
            [[maybe_unused]] const int kn_j = kn_dealt.has(kn_u) ? kn_dealt.template first<${vector}>(kn_u) : 0;
            ${loads}
        }
    };
    kn_each_place([&]([[maybe_unused]] kn_item &kn_in, kn_item &, [[maybe_unused]] const int kn_j) {
        ${invariant}
    });
    kn_go_to_result<${operands}>(kn_then, kn, kn.reduction_rank, kn_begin);
    kn_ask();
#pragma unroll 1
    for (unsigned kn_r = kn_begin; kn_r < kn_end; ++kn_r) {
        const kn_place kn_here = kn_then;
        const bool kn_is_first_row = kn_r == kn_begin;
        (void)kn_here;
        ${row}
        kn_each_place([&]([[maybe_unused]] kn_item &kn_in, [[maybe_unused]] const kn_item &kn_from, int) {
            ${lane}
        });
        if (kn_r + 1 < kn_end) {
            kn_go_to_next_result<${operands}>(kn_then, kn, kn.reduction_rank, kn_r + 1);
            kn_ask();
        }
        const auto kn_each_item = [&](const auto &kn_load_late, const auto &kn_one) {
            kn_each_held<${vector}>(kn_held, kn_dealt, kn_load_late, [&](kn_item &kn_in, const int kn_j, int) { kn_one(kn_in, kn_j); });
        };
        [[maybe_unused]] const auto kn_reduce_items = [&](auto &kn_to, auto kn_stage, const auto &kn_load_late, const auto &kn_one, const auto &kn_both) {
            typedef typename kn_referred<decltype(kn_to)>::type kn_type;
            kn_to = kn_reduce_held<kn_type, ${vector}, kn_is_unaligned>(kn_held, kn_dealt, kn_load_late, kn_one, kn_both);
            kn_reduce_threads_in_turn<decltype(kn_stage)::value, ${block}, kn_is_full>(kn_to, kn_dealt.holders(), kn_width, kn_r % 2, kn_both);
        };
        ${levels}
        ${stores}
    }
    kn_each_place([&]([[maybe_unused]] const kn_item &kn_in, kn_item &, [[maybe_unused]] const int kn_j) {
        ${unstage}
    });
    ${after_loop}
}
