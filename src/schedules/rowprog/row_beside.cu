${head}
${axes}
/* An item in a thread's registers: ${vector} neighbouring elements, each of another row. */
struct kn_item {
    ${item}
};

${begin}

    /* A thread has ${vector} rows side by side. Threads that are left over compute the last ones once more, and store nothing. */
    const unsigned kn_wanted = blockIdx.x * ${block} + threadIdx.x;
    const bool kn_is_here = kn_wanted < kn.count, kn_is_first = kn_is_here;
    const unsigned kn_at = kn_is_here ? kn_wanted : kn.count - 1, kn_outer = kn_divide(kn_at, kn.per_run);
    constexpr int kn_whole = ${fit} == 3 ? ${items} : ${items} > 4 ? ${items} - (${items} > 32 ? 8 : 4) : 0;
    kn_place kn_here = {};
    kn_go_to_result<${operands}>(kn_here, kn, kn.reduction_rank + 1, kn_outer);
    for (int o = 0; o < ${operands}; ++o)
        kn_here.at[o] += (long long)(kn_at - kn_outer * kn.per_run.extent) * ${vector} * kn.axis[kn.reduction_rank].stride[o];
    (void)kn_is_first;
    ${row}
    const kn_deal<kn_whole> kn_dealt = {0, 1, kn.length, 0, kn.length};
    kn_item kn_held[${items}];
    const auto kn_each_item = [&](const auto &kn_load_late, const auto &kn_one) {
        kn_each_held<1>(kn_held, kn_dealt, kn_load_late, [&](kn_item &kn_in, const int kn_j, int) { kn_one(kn_in, kn_j); });
    };
    const auto kn_load_items = [&](const auto &kn_load_early) {
#pragma unroll
        for (int kn_u = 0; kn_u < ${items}; ++kn_u)
            if (kn_dealt.has(kn_u))
                kn_load_early(kn_held[kn_u], kn_dealt.first<1>(kn_u));
    };
    const auto kn_reduce_items = [&](auto &kn_to, auto, const auto &kn_load_late, const auto &kn_one, const auto &kn_both) {
        kn_reduce_held_columns(kn_to, kn_held, kn_dealt, kn_load_late, kn_one, kn_both);
    };
    ${levels}
    ${stores}
    ${after_loop}
}
