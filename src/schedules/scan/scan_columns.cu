${head}
${axes}
/* Columns have several tiles, of which a block has one; or a block has them whole. */
enum { kn_has_tiles = ${several_tiles}, kn_is_exclusive = ${exclusive} };
enum { kn_vector = ${vector}, kn_deep = ${items}, kn_warps = ${block} / 32 }; /* kn_vector: columns of a thread; kn_deep: its elements of each */

${begin}
    typedef ${type} kn_scanned;
    __shared__ __align__(16) unsigned char kn_total_bytes[sizeof(${type}) * (kn_warps + 1) * 32];
    ${type} *const kn_total = reinterpret_cast<${type} *>(kn_total_bytes), *const kn_of_tile = kn_total + kn_warps * 32; /* of warps, by column; first the tile's, then what comes before the tile */

    unsigned kn_tile = 0, kn_column_block = blockIdx.x;
    if constexpr (kn_has_tiles) {
        const unsigned kn_number = kn_take_ticket(kn.counters, gridDim.x);
        kn_tile = kn_number / kn.column_blocks;
        kn_column_block = kn_number - kn_tile * kn.column_blocks;
    }
    /* Threads side by side have neighbouring columns, and those behind them later elements. */
    const unsigned kn_beside = 1u << kn.beside_bits, kn_lane = threadIdx.x % 32, kn_warp = threadIdx.x / 32, kn_own_column = (threadIdx.x & (kn_beside - 1)) * kn_vector;
    const long long kn_column = (long long)kn_column_block * (kn_beside * kn_vector) + kn_own_column;
    const long long kn_first = ((long long)kn_tile * (${block} >> kn.beside_bits) + (threadIdx.x >> kn.beside_bits)) * kn_deep, kn_left = kn_column < kn.columns ? kn.length - kn_first : 0;
    const int kn_own = kn_left < 0 ? 0 : kn_left < kn_deep ? (int)kn_left : kn_deep;
    const bool kn_has = kn_own > 0;
    kn_place kn_here = {};
    kn_go_to_result<${operands}>(kn_here, kn, 1, kn_has ? (unsigned)kn_column : 0);
    if (kn_has)
#pragma unroll
        for (int kn_o = 0; kn_o < ${operands}; ++kn_o)
            kn_here.at[kn_o] += kn_first * kn.axis[0].stride[kn_o];

    /* A thread's elements, and their sums along each column. */
    ${step_packs}
#pragma unroll
    for (int kn_d = 0; kn_d < kn_deep; ++kn_d)
        if (kn_d < kn_own) {
            ${step_loads}
        }
    ${type} kn_value[kn_deep][kn_vector], kn_sum[kn_vector], kn_before[kn_vector];
#pragma unroll
    for (int kn_d = 0; kn_d < kn_deep; ++kn_d)
        if (kn_d < kn_own) {
            ${from}
#pragma unroll
            for (int kn_k = 0; kn_k < kn_vector; ++kn_k) {
                ${loads}
                ${lane}
                kn_sum[kn_k] = kn_d > 0 ? ${reduce}(kn_sum[kn_k], ${mapped}) : ${mapped};
                kn_value[kn_d][kn_k] = kn_sum[kn_k];
            }
        }

    /* The same with those of the threads before it in its warp, then of the warps and the tiles before. */
#pragma unroll 1
    for (unsigned kn_by = kn_beside; kn_by < 32; kn_by *= 2)
#pragma unroll
        for (int kn_k = 0; kn_k < kn_vector; ++kn_k) {
            const ${type} kn_other = kn_shuffle<'='>(kn_sum[kn_k], (kn_lane - kn_by) % 32);
            if (kn_lane >= kn_by && kn_has)
                kn_sum[kn_k] = ${reduce}(kn_other, kn_sum[kn_k]);
        }
    bool kn_some = kn_lane >= kn_beside; /* there is something before this thread's elements, in kn_before */
    const bool kn_is_last = kn_has && (kn_left <= kn_deep || threadIdx.x + kn_beside >= ${block}); /* of the tile, in its columns */
#pragma unroll
    for (int kn_k = 0; kn_k < kn_vector; ++kn_k) {
        kn_before[kn_k] = kn_shuffle<'='>(kn_sum[kn_k], (kn_lane - kn_beside) % 32);
        if (kn_is_last || (kn_has && kn_lane + kn_beside >= 32))
            kn_total[kn_warp * 32 + kn_own_column + kn_k] = kn_sum[kn_k];
    }
    __syncthreads();
    if (kn_warp > 0 && kn_has) {
#pragma unroll
        for (int kn_k = 0; kn_k < kn_vector; ++kn_k) {
            ${type} kn_earlier = kn_total[kn_own_column + kn_k];
#pragma unroll 1
            for (unsigned kn_w = 1; kn_w < kn_warp; ++kn_w)
                kn_earlier = ${reduce}(kn_earlier, kn_total[kn_w * 32 + kn_own_column + kn_k]);
            kn_before[kn_k] = kn_some ? ${reduce}(kn_earlier, kn_before[kn_k]) : kn_earlier;
            if constexpr (kn_has_tiles)
                kn_sum[kn_k] = ${reduce}(kn_earlier, kn_sum[kn_k]);
        }
        kn_some = true;
    }
    if constexpr (kn_has_tiles) {
        if (kn_is_last)
#pragma unroll
            for (int kn_k = 0; kn_k < kn_vector; ++kn_k)
                kn_of_tile[kn_own_column + kn_k] = kn_sum[kn_k];
        __syncthreads();
        kn_look_back<${block}>(kn_of_tile, kn_sums_of<${type}>(kn.counters + 2, kn.partials, kn.tiles, kn_column_block, kn_beside * kn_vector), kn_tile, ${reduce});
        __syncthreads();
        kn_leave_flags(kn.counters + 1, gridDim.x, kn.counters + 2, kn.flags);
        if (kn_tile > 0) {
#pragma unroll
            for (int kn_k = 0; kn_k < kn_vector; ++kn_k) {
                const ${type} kn_of_before = kn_of_tile[kn_own_column + kn_k];
                kn_before[kn_k] = kn_some ? ${reduce}(kn_of_before, kn_before[kn_k]) : kn_of_before;
            }
            kn_some = true;
        }
    }
#pragma unroll
    for (int kn_d = 0; kn_d < kn_deep; ++kn_d)
        if (kn_d < kn_own) {
            ${packs}
#pragma unroll
            for (int kn_k = 0; kn_k < kn_vector; ++kn_k) {
                ${type} ${result};
                if (kn_is_exclusive && kn_d == 0)
                    ${result} = kn_some ? kn_before[kn_k] : ${identity};
                else
                    ${result} = kn_some ? ${reduce}(kn_before[kn_k], kn_value[kn_d - kn_is_exclusive][kn_k]) : kn_value[kn_d - kn_is_exclusive][kn_k];
                ${lanes}
            }
            ${stores}
        }
    ${after_loop}
}
