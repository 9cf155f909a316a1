${head}
${axes}
/* Columns have several tiles, of which a block has one; or a block has them whole. */
enum { kn_has_tiles = ${several_tiles}, kn_is_exclusive = ${exclusive} };
enum { kn_vector = ${vector}, kn_most = ${items}, kn_rounds = 4 }; /* kn_vector: columns of a vector; kn_most: elements that a thread scans; kn_rounds: vectors that it loads at once */

/* A vector in shared memory. */
struct alignas(sizeof(${type}) * kn_vector % 16 == 0 ? 16 : alignof(${type})) kn_scanned_vector {
    ${type} at[kn_vector];
};

${begin}
    typedef ${type} kn_scanned;
    __shared__ __align__(16) unsigned char kn_staged_bytes[sizeof(${type}) * ${block} * kn_most], kn_total_bytes[sizeof(${type}) * (${block} / 32 + 1) * 32];
    ${type} *const kn_line = reinterpret_cast<${type} *>(kn_staged_bytes), *const kn_total = reinterpret_cast<${type} *>(kn_total_bytes); /* mapped elements, the columns of each side by side; sums of warps, by column */
    ${type} *const kn_of_tile = kn_total + ${block}; /* by column: first the tile's, then what comes before the tile */

    unsigned kn_tile = 0, kn_column_block = blockIdx.x;
    if constexpr (kn_has_tiles) {
        const unsigned kn_number = kn_take_ticket(kn.counters, gridDim.x);
        kn_tile = kn_number / kn.column_blocks;
        kn_column_block = kn_number - kn_tile * kn.column_blocks;
    }
    /* Neighbouring threads load vectors of one of the tile's elements; those behind them load the next ones. */
    const unsigned kn_beside = 1u << kn.beside_bits, kn_columns = kn_beside * kn_vector, kn_step = ${block} >> kn.beside_bits;
    const unsigned kn_lane = threadIdx.x % 32, kn_warp = threadIdx.x / 32, kn_first_of_vector = (threadIdx.x & (kn_beside - 1)) * kn_vector;
    const unsigned kn_deep = kn.chunk * (${block} / kn_columns);
    const long long kn_first = (long long)kn_tile * kn_deep, kn_first_column = (long long)kn_column_block * kn_columns;
    const unsigned kn_count = kn.length - kn_first < kn_deep ? (unsigned)(kn.length - kn_first) : kn_deep;
    const bool kn_has_vector = kn_first_column + kn_first_of_vector < kn.columns;
    kn_place kn_here = {};
    kn_go_to_result<${operands}>(kn_here, kn, 1, kn_has_vector ? (unsigned)(kn_first_column + kn_first_of_vector) : 0);
#pragma unroll
    for (int kn_o = 0; kn_o < ${operands}; ++kn_o)
        kn_here.at[kn_o] += kn_first * kn.axis[0].stride[kn_o];
    const unsigned kn_end_of_loads = kn_has_vector ? kn_count : 0;
#pragma unroll 1
    for (unsigned kn_from = threadIdx.x >> kn.beside_bits; kn_from < kn_end_of_loads; kn_from += kn_rounds * kn_step) {
        ${step_packs}
#pragma unroll
        for (int kn_u = 0; kn_u < kn_rounds; ++kn_u) {
            const unsigned kn_d = kn_from + kn_u * kn_step;
            if (kn_d < kn_end_of_loads) {
                ${step_loads}
            }
        }
#pragma unroll
        for (int kn_u = 0; kn_u < kn_rounds; ++kn_u) {
            const unsigned kn_d = kn_from + kn_u * kn_step;
            if (kn_d < kn_end_of_loads) {
                ${from}
                kn_scanned_vector kn_of;
#pragma unroll
                for (int kn_k = 0; kn_k < kn_vector; ++kn_k) {
                    ${loads}
                    ${lane}
                    kn_of.at[kn_k] = ${mapped};
                }
                *reinterpret_cast<kn_scanned_vector *>(kn_line + kn_d * kn_columns + kn_first_of_vector) = kn_of;
            }
        }
    }
    __syncthreads();

    /* A thread scans some elements of one column: their sum, then that with those of the threads before it in its warp. */
    const unsigned kn_column = threadIdx.x & (kn_columns - 1), kn_begin = threadIdx.x / kn_columns * kn.chunk, kn_end = kn_begin + kn.chunk < kn_count ? kn_begin + kn.chunk : kn_count;
    const bool kn_has = kn_begin < kn_end && kn_first_column + kn_column < kn.columns;
    ${type} *const kn_mine = kn_line + kn_column;
    ${type} kn_sum;
    if (kn_has) {
        kn_sum = kn_mine[kn_begin * kn_columns];
#pragma unroll 4
        for (unsigned kn_d = kn_begin + 1; kn_d < kn_end; ++kn_d)
            kn_sum = ${reduce}(kn_sum, kn_mine[kn_d * kn_columns]);
    }
#pragma unroll 1
    for (unsigned kn_by = kn_columns; kn_by < 32; kn_by *= 2) {
        const ${type} kn_other = kn_shuffle<'='>(kn_sum, (kn_lane - kn_by) % 32);
        if (kn_lane >= kn_by && kn_has)
            kn_sum = ${reduce}(kn_other, kn_sum);
    }
    ${type} kn_before = kn_shuffle<'='>(kn_sum, (kn_lane - kn_columns) % 32);
    bool kn_some = kn_lane >= kn_columns; /* there is something before this thread's elements, in kn_before */

    /* The values of the warps before this one, and of the tiles before this one. */
    if (kn_has && (kn_lane + kn_columns >= 32 || kn_end == kn_count))
        kn_total[kn_warp * 32 + kn_column] = kn_sum;
    __syncthreads();
    if (kn_warp > 0 && kn_has) {
        ${type} kn_earlier = kn_total[kn_column];
#pragma unroll 1
        for (unsigned kn_w = 1; kn_w < kn_warp; ++kn_w)
            kn_earlier = ${reduce}(kn_earlier, kn_total[kn_w * 32 + kn_column]);
        kn_before = kn_some ? ${reduce}(kn_earlier, kn_before) : kn_earlier;
        kn_sum = ${reduce}(kn_earlier, kn_sum);
        kn_some = true;
    }
    if constexpr (kn_has_tiles) {
        if (kn_has && kn_end == kn_count)
            kn_of_tile[kn_column] = kn_sum;
        __syncthreads();
        const unsigned kn_set = kn_look_back<${block}>(kn_of_tile, kn_sums_of<${type}>(kn.counters + 2, kn.partials, kn.tiles, kn_column_block, kn_columns), kn_tile, ${reduce});
        __syncthreads();
        kn_leave_flags(kn.counters + 1, gridDim.x, kn.counters + 2, kn.flags, kn_set);
        if (kn_tile > 0) {
            kn_before = kn_some ? ${reduce}(kn_of_tile[kn_column], kn_before) : kn_of_tile[kn_column];
            kn_some = true;
        }
    }

    /* The same elements again, with what comes before them. */
    if (kn_has)
#pragma unroll 1
        for (unsigned kn_d = kn_begin; kn_d < kn_end; ++kn_d) {
            ${type} *const kn_at = kn_mine + kn_d * kn_columns;
            const ${type} kn_own = *kn_at, kn_sum_before = kn_some ? kn_before : ${identity};
            kn_before = kn_some ? ${reduce}(kn_before, kn_own) : kn_own;
            kn_some = true;
            *kn_at = kn_is_exclusive ? kn_sum_before : kn_before;
        }
    __syncthreads();
#pragma unroll 1
    for (unsigned kn_d = threadIdx.x >> kn.beside_bits; kn_d < kn_end_of_loads; kn_d += kn_step) {
        ${packs}
        const kn_scanned_vector kn_of = *reinterpret_cast<const kn_scanned_vector *>(kn_line + kn_d * kn_columns + kn_first_of_vector);
#pragma unroll
        for (int kn_k = 0; kn_k < kn_vector; ++kn_k) {
            const ${type} ${result} = kn_of.at[kn_k];
            ${lanes}
        }
        ${stores}
    }
    ${after_loop}
}
