${head}
${axes}
enum { kn_results = ${results_each}, kn_chunk = 64 }; /* results of a thread; elements that it reduces before it adds them to the others */

${begin}

    /* Results of a thread lie a block apart; those of neighbouring threads side by side. A thread without a second one computes its first again. */
    const unsigned kn_outer = kn_divide(blockIdx.x, kn.across), kn_extent = (unsigned)kn.axis[kn.reduction_rank].extent;
    const unsigned kn_at = (blockIdx.x - kn_outer * kn.across.extent) * (${block} * kn_results) + threadIdx.x;
    if (kn_at < kn_extent) {
        kn_place kn_row = {};
        kn_go_to_result<${operands}>(kn_row, kn, kn.reduction_rank + 1, kn_outer);
        const auto kn_result = [&](const int k) { return (long long)(kn_at + k * ${block} < kn_extent ? kn_at + k * ${block} : kn_at); };
        ${packs}
#pragma unroll
        for (int kn_k = 0; kn_k < kn_results; ++kn_k) {
            const long long kn_e = kn_result(kn_k);
            ${invariant}
        }
        ${pointers}
        ${type} kn_reduced[kn_results], kn_sum[kn_results];
        const auto kn_take = [&](const unsigned kn_j, auto kn_is_first) {
            ${loads}
#pragma unroll
            for (int kn_k = 0; kn_k < kn_results; ++kn_k) {
                ${lane}
                if constexpr (decltype(kn_is_first)::value)
                    kn_sum[kn_k] = ${mapped};
                else
                    kn_sum[kn_k] = ${next}(kn_sum[kn_k], ${mapped});
            }
        };
#pragma unroll 1
        for (unsigned kn_q = 0; kn_q < kn.rows; kn_q += kn_chunk) {
            const unsigned kn_end = kn_q + kn_chunk < kn.rows ? kn_q + kn_chunk : kn.rows;
            kn_take(kn_q, kn_number<1>());
#pragma unroll 2
            for (unsigned kn_j = kn_q + 1; kn_j < kn_end; ++kn_j)
                kn_take(kn_j, kn_number<0>());
#pragma unroll
            for (int kn_k = 0; kn_k < kn_results; ++kn_k)
                kn_reduced[kn_k] = kn_q == 0 ? kn_sum[kn_k] : ${next}(kn_reduced[kn_k], kn_sum[kn_k]);
        }
#pragma unroll
        for (int kn_k = 0; kn_k < kn_results; ++kn_k) {
            const long long kn_e = kn_at + kn_k * ${block};
            if (kn_e < kn_extent) {
                ${type} ${result} = kn_reduced[kn_k];
                ${post}
            }
        }
    }
    ${after_loop}
}
