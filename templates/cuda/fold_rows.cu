${head}
${axes}
enum { kn_steps = ${vector} > 1 ? 4 : 8 }; /* items of a thread that are loaded before any is folded */
/* Folds of structs are long, and a branch around each costs more than it saves: turns are whole, and what is left is taken item by item. Others are loaded under
   conditions, all before any is folded: in one lambda with the former ptxas would wait for each load. */
constexpr bool kn_are_whole = ${vector} > 1 && __is_class(${type});

extern "C" __global__ void __launch_bounds__(${block}) ${entry}(const __grid_constant__ kn_args kn)
{
    ${wait}
    ${values}
    ${loop_prep}
    ${element}

    /* kn.splits blocks share a result: each folds kn.chunk items, of ${vector} elements. */
    const unsigned kn_part = blockIdx.x % kn.splits;
    const unsigned kn_at = blockIdx.x / kn.splits;
    kn_place kn_here = {};
    kn_go_to_result<${operands}>(kn_here, kn, kn.fold_rank, kn_at);

    /* Elements in front of the first aligned vector are left over, as are those behind the last one. */
    long long kn_head = ${until};
    if (kn_head > kn.length)
        kn_head = kn.length;
    const long long kn_items = ${form} == 1 ? (kn.length - kn_head) / ${vector} : kn.items;
    const long long kn_begun = kn_part * kn.chunk, kn_rest = kn_items - kn_begun;
    const unsigned kn_count = kn_rest < kn.chunk ? (unsigned)(kn_rest > 0 ? kn_rest : 0) : (unsigned)kn.chunk;
    kn_place kn_first = kn_here;
    for (int o = 0; o < ${operands}; ++o)
        kn_first.at[o] += kn_head * kn.axis[0].stride[o];
    long long kn_row;
    const unsigned kn_column = kn_begin<${form}, ${operands}>(kn_first, kn, kn_begun, ${vector}, kn_row);

    kn_chain<${type}> kn_chained;
    unsigned kn_turn = 0;
    /* A whole turn, or one item. */
    const auto kn_fold_items = [&](const unsigned kn_q, auto kn_number_of) {
        constexpr int kn_n = decltype(kn_number_of)::value;
        ${packs}
#pragma unroll
        for (int kn_u = 0; kn_u < kn_n; ++kn_u) {
            kn_place kn_from = kn_first;
            kn_go<${form}, ${operands}>(kn_from, kn, kn_column + kn_q + kn_u * ${block}, ${vector}, kn_row);
            ${loads}
        }
        ${type} kn_sum;
#pragma unroll
        for (int kn_u = 0; kn_u < kn_n; ++kn_u) {
            kn_place kn_from = kn_first;
            kn_go<${form}, ${operands}>(kn_from, kn, kn_column + kn_q + kn_u * ${block}, ${vector}, kn_row);
            ${type} kn_side[${vector}];
#pragma unroll
            for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
                ${lane}
                kn_side[kn_k] = ${mapped};
            }
            const ${type} kn_one = kn_fold_tree(kn_side, ${next});
            kn_sum = kn_u == 0 ? kn_one : ${next}(kn_sum, kn_one);
        }
        kn_chain_put(kn_chained, kn_turn++, kn_sum, ${next});
    };
    unsigned kn_q = threadIdx.x;
    if constexpr (kn_are_whole) {
#pragma unroll 1
        for (; kn_q + (kn_steps - 1) * ${block} < kn_count; kn_q += kn_steps * ${block})
            kn_fold_items(kn_q, kn_number<kn_steps>());
#pragma unroll 1
        for (; kn_q < kn_count; kn_q += ${block})
            kn_fold_items(kn_q, kn_number<1>());
    }
#pragma unroll 1
    for (; !kn_are_whole && kn_q < kn_count; kn_q += kn_steps * ${block}) {
        ${packs}
#pragma unroll
        for (int kn_u = 0; kn_u < kn_steps; ++kn_u) {
            if (kn_q + kn_u * ${block} < kn_count) {
                kn_place kn_from = kn_first;
                kn_go<${form}, ${operands}>(kn_from, kn, kn_column + kn_q + kn_u * ${block}, ${vector}, kn_row);
                ${loads}
            }
        }
        ${type} kn_sum;
#pragma unroll
        for (int kn_u = 0; kn_u < kn_steps; ++kn_u) {
            if (kn_q + kn_u * ${block} < kn_count) {
                kn_place kn_from = kn_first;
                kn_go<${form}, ${operands}>(kn_from, kn, kn_column + kn_q + kn_u * ${block}, ${vector}, kn_row);
                ${type} kn_side[${vector}];
#pragma unroll
                for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
                    ${lane}
                    kn_side[kn_k] = ${mapped};
                }
                const ${type} kn_one = kn_fold_tree(kn_side, ${next});
                kn_sum = kn_u == 0 ? kn_one : ${next}(kn_sum, kn_one);
            }
        }
        kn_chain_put(kn_chained, kn_turn++, kn_sum, ${next});
    }
    ${type} ${result} = kn_chain_all(kn_chained, kn_turn, ${next});
    unsigned kn_held = kn_count; /* threads that hold something: the first ones */
    bool kn_is_final = true;
    if constexpr (${vector} > 1 && ${form} == 1) {
        const unsigned kn_left = kn_part + 1 == kn.splits ? (unsigned)(kn.length - kn_items * ${vector}) : 0;
        if (threadIdx.x < kn_left) {
            const long long kn_j = threadIdx.x < kn_head ? threadIdx.x : kn_items * ${vector} + threadIdx.x;
            kn_place kn_from = kn_here;
            for (int o = 0; o < ${operands}; ++o)
                kn_from.at[o] += kn_j * kn.axis[0].stride[o];
            ${single}
            ${result} = kn_turn > 0 ? ${fold}(${result}, ${mapped}) : ${mapped};
        }
        kn_held = kn_count > kn_left ? kn_count : kn_left;
    }
#pragma unroll 1
    for (bool kn_again = kn.splits > 1;; kn_again = false) {
        kn_fold_block<${block}>(${result}, kn_held, ${fold});
        if (!kn_again)
            break;
        ${type} *const kn_partial = reinterpret_cast<${type} *>(kn.partials) + (blockIdx.x - kn_part);
        if (threadIdx.x == 0)
            kn_partial[kn_part] = ${result};
        kn_is_final = kn_comes_last(kn.counters + kn_at, kn.splits);
        if (!kn_is_final)
            break;
        kn_held = kn.splits;
#pragma unroll 1
        for (unsigned kn_q = threadIdx.x; kn_q < kn.splits; kn_q += ${block})
            ${result} = kn_q == threadIdx.x ? kn_partial[kn_q] : ${fold}(${result}, kn_partial[kn_q]);
    }
    if (kn_is_final && threadIdx.x == 0) {
        const bool kn_some = kn_held > 0;
        ${empty}
        ${stores}
    }
    ${after_loop}
}
