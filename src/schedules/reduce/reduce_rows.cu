${head}
${axes}
enum { kn_form = ${reduction_axes}, kn_is_shared = !${alone}, kn_is_run = ${vector} > 1 && kn_form == 1 };
enum { kn_steps = ${vector} > 1 ? 4 : ${bytes} ? 16 : 8 }; /* items that a thread loads before it reduces any */
/* Reductions of structs are long, and a branch around each costs more than it saves: iterations are whole, and the remaining items are taken one by one. Other items are
   loaded under conditions, all before any is reduced: with both in one lambda ptxas would wait for each load. */
constexpr bool kn_are_whole = ${vector} > 1 && __is_class(${type});
/* For bytes the conditions take more instructions than all else: iterations are whole, but for the last one. */
constexpr bool kn_begin_whole = kn_are_whole || sizeof(${type}) == 1;
/* Behind the end nothing is left: where the number of elements in a struct is known on each way, the compiler removes divisions by it. */
constexpr bool kn_ends_early = __is_class(${type});
/* Single elements along one axis take few instructions: the first one of an iteration, which is always there, has no condition, since predicates are few, too. */
constexpr bool kn_is_plain = ${vector} == 1 && kn_form == 1;

${begin}

    /* kn.splits blocks share a result: each reduces kn.chunk items, of ${vector} elements. */
    /* Along one axis backward: a map behind reads first what the L2 cache still holds. */
    const unsigned kn_block = kn_form == 1 ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
    unsigned kn_at = kn_block, kn_part = 0;
    kn_place kn_here = {};
    if constexpr (kn_is_shared) {
        kn_at = kn_divide(kn_block, kn.by);
        kn_part = kn_block - kn_at * kn.splits;
        kn_go_to_result<${operands}>(kn_here, kn, kn.reduction_rank, kn_at);
    } else {
        const unsigned kn_outer = kn_divide(kn_at, kn.by), kn_inner = kn_at - kn_outer * kn.by.extent;
        for (int o = 0; o < ${operands}; ++o)
            kn_here.at[o] = kn_inner * kn.axis[1].stride[o] + kn_outer * kn.axis[2].stride[o];
    }

    /* Elements in front of the first aligned vector and behind the last one are taken at the end. */
    const unsigned kn_head = ${until};
    const long long kn_items = kn_is_run ? (kn.length - kn_head) / ${vector} : kn.items;
    kn_place kn_first = kn_here;
    long long kn_row = 0;
    unsigned kn_column = 0, kn_count = (unsigned)kn_items;
    if constexpr (kn_is_shared) {
        const long long kn_begun = (long long)kn_part * kn.chunk;
        kn_count = kn_items - kn_begun < kn.chunk ? (unsigned)(kn_items - kn_begun) : kn.chunk;
        kn_column = kn_begin<kn_form, ${operands}>(kn_first, kn, kn_begun, ${vector}, kn_row);
    }
    if constexpr (kn_is_run)
        for (int o = 0; o < ${operands}; ++o)
            kn_first.at[o] += kn_head * kn.axis[0].stride[o];

    ${pointers}

    kn_chain<${type}> kn_chained;
    unsigned kn_turn = 0;
    const auto kn_put_sum = [&](const ${type} &kn_sum) {
        if constexpr (kn_is_shared)
            kn_chain_put(kn_chained, kn_turn, kn_sum, ${next});
        else
            kn_chained.near = kn_turn > 0 ? ${next}(kn_chained.near, kn_sum) : kn_sum;
        ++kn_turn;
    };
    /* A whole iteration, or one item. */
    const auto kn_reduce_items = [&](const unsigned kn_q, auto kn_number_of) {
        constexpr int kn_n = decltype(kn_number_of)::value;
        ${packs}
#pragma unroll
        for (int kn_u = 0; kn_u < kn_n; ++kn_u) {
            const unsigned kn_item = kn_q + kn_u * ${block};
            ${from}
            ${loads}
            ${step_loads}
        }
        ${type} kn_sum;
#pragma unroll
        for (int kn_u = 0; kn_u < kn_n; ++kn_u) {
            const unsigned kn_item = kn_q + kn_u * ${block};
            ${from}
            ${lanes}
        }
        kn_put_sum(kn_sum);
    };
    unsigned kn_q = threadIdx.x;
    if constexpr (kn_begin_whole) {
#pragma unroll 1
        for (; kn_q + (kn_steps - 1) * ${block} < kn_count; kn_q += kn_steps * ${block})
            kn_reduce_items(kn_q, kn_number<kn_steps>());
    }
    if constexpr (kn_are_whole) {
#pragma unroll 1
        for (; kn_q < kn_count; kn_q += ${block})
            kn_reduce_items(kn_q, kn_number<1>());
    }
#pragma unroll 1
    for (; !kn_are_whole && kn_q < kn_count; kn_q += kn_steps * ${block}) {
        ${packs}
#pragma unroll
        for (int kn_u = 0; kn_u < kn_steps; ++kn_u) {
            const unsigned kn_item = kn_q + kn_u * ${block};
            if ((kn_is_plain && kn_u == 0) || kn_item < kn_count) {
                ${from}
                ${loads}
            }
            ${step_loads}
        }
        ${type} kn_sum;
#pragma unroll
        for (int kn_u = 0; kn_u < kn_steps; ++kn_u) {
            const unsigned kn_item = kn_q + kn_u * ${block};
            if (kn_ends_early && kn_item >= kn_count)
                break;
            if ((kn_is_plain && kn_u == 0) || kn_item < kn_count) {
                ${from}
                ${lanes}
            }
        }
        kn_put_sum(kn_sum);
    }
    ${type} ${result} = kn_is_shared ? kn_chain_all(kn_chained, kn_turn, ${next}) : kn_chained.near;
    unsigned kn_held = kn_count; /* threads that hold a value: the first ones */
    if constexpr (kn_is_run) {
        const unsigned kn_left = !kn_is_shared || kn_part + 1 == kn.splits ? (unsigned)(kn.length - kn_items * ${vector}) : 0;
        if (threadIdx.x < kn_left) {
            const long long kn_j = threadIdx.x < kn_head ? threadIdx.x : kn_items * ${vector} + threadIdx.x;
            ${single}
            ${result} = threadIdx.x < kn_count ? ${reduce}(${result}, ${mapped}) : ${mapped};
        }
        kn_held = kn_count > kn_left ? kn_count : kn_left;
    }
    bool kn_is_final = true;
#pragma unroll 1
    for (bool kn_again = kn_is_shared && kn.splits > 1;; kn_again = false) {
        kn_reduce_block<${block}>(${result}, kn_held, ${reduce});
        if (!kn_is_shared || !kn_again)
            break;
        ${type} *const kn_partial = reinterpret_cast<${type} *>(kn.partials) + (kn_block - kn_part);
        kn_held = kn.splits;
        if (threadIdx.x == 0)
            kn_partial[kn_part] = ${result};
        kn_is_final = kn_comes_last(kn.counters + kn_at, kn_held);
        if (!kn_is_final)
            break;
#pragma unroll 1
        for (unsigned kn_q = threadIdx.x; kn_q < kn_held; kn_q += ${block})
            ${result} = kn_q == threadIdx.x ? kn_partial[kn_q] : ${reduce}(${result}, kn_partial[kn_q]);
    }
    if (kn_is_final && threadIdx.x == 0) {
        const bool kn_some = kn_held > 0;
        ${empty}
        ${stores}
    }
    ${after_loop}
}
