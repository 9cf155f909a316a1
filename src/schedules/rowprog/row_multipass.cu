${head}
${axes}
/* An item in a thread's registers: ${vector} elements, loaded before any is used. */
struct kn_item {
    ${item}
};
enum { kn_steps = ${vector} > 1 ? 2 : 4 }; /* items of a thread at a time */

${begin}

    /* A block has a row. */
    const bool kn_is_first = threadIdx.x == 0, kn_is_empty = kn.items == 0;
    kn_place kn_here = {};
    kn_go_to_result<${operands}>(kn_here, kn, kn.reduction_rank, blockIdx.x);
    /* Items are counted by 32 bits, from a place that is computed again every 2^29 items. */
    const auto kn_each_item = [&](const auto &kn_load_item, const auto &kn_take_item) {
        for (long long kn_begun = 0; kn_begun < kn.items; kn_begun += 1 << 29) {
            const long long kn_rest = kn.items - kn_begun;
            const unsigned kn_count = kn_rest < 1 << 29 ? (unsigned)kn_rest : 1u << 29;
            kn_place kn_first = kn_here;
            long long kn_row;
            const unsigned kn_column = kn_begin<${reduction_axes}, ${operands}>(kn_first, kn, kn_begun, ${vector}, kn_row);
#pragma unroll 1
            for (unsigned kn_q = threadIdx.x; kn_q < kn_count; kn_q += kn_steps * ${block}) {
                kn_item kn_in[kn_steps];
                kn_place kn_from[kn_steps];
#pragma unroll
                for (int kn_u = 0; kn_u < kn_steps; ++kn_u) {
                    if (kn_q + kn_u * ${block} < kn_count) {
                        kn_from[kn_u] = kn_first;
                        kn_go<${reduction_axes}, ${operands}>(kn_from[kn_u], kn, kn_column + kn_q + kn_u * ${block}, ${vector}, kn_row);
                        kn_load_item(kn_in[kn_u], kn_from[kn_u]);
                    }
                }
#pragma unroll
                for (int kn_u = 0; kn_u < kn_steps; ++kn_u)
                    if (kn_q + kn_u * ${block} < kn_count)
                        kn_take_item(kn_in[kn_u], kn_from[kn_u]);
            }
        }
    };
    const auto kn_reduce_items = [&](auto &kn_to, auto kn_stage, const auto &kn_load_item, const auto &kn_one, const auto &kn_both) {
        typedef typename kn_referred<decltype(kn_to)>::type kn_type;
        kn_chain<kn_type> kn_chained;
        unsigned kn_turn = 0;
        kn_each_item(kn_load_item, [&](kn_item &kn_in, const kn_place &kn_from) {
            kn_type kn_side[${vector}];
            kn_one(kn_in, kn_from, kn_side);
            kn_chain_put(kn_chained, kn_turn++, kn_reduce_tree(kn_side, kn_both), kn_both);
        });
        kn_to = kn_chain_all(kn_chained, kn_turn, kn_both);
        kn_reduce_threads<decltype(kn_stage)::value, ${block}, false>(kn_to, kn.items < ${block} ? (unsigned)kn.items : ${block}, kn.width, kn_both);
    };
    (void)kn_is_first, (void)kn_is_empty;
    ${row}
    ${levels}
    ${stores}
    ${after_loop}
}
