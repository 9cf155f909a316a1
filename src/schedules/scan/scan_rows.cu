${head}
${axes}
/* Rows have several tiles, of which a block has one; or a block has one row or several, whole. */
enum { kn_has_tiles = ${several_tiles}, kn_is_exclusive = ${exclusive} };
enum { kn_vector = ${vector}, kn_most = ${items}, kn_rounds = (${items} / 2 + kn_vector) / kn_vector }; /* kn_most: elements of a lane; kn_rounds: vectors that it loads at once */
enum { kn_slots = ${block} * (kn_most + (kn_has_tiles ? 0 : kn_vector / 4)) };
/* Mapped elements lie in shared memory, but for large structs, which are mapped again where they are needed:
 * a block's 48 KB hold them, the sums of warps, and the look-back's (cuda_look_back.cu). */
constexpr bool kn_is_staged = sizeof(${type}) * (kn_slots + 33 + (kn_has_tiles ? 5 : 0) * 32) <= 47 << 10;
/* A vector in shared memory. */
struct alignas(sizeof(${type}) * kn_vector % 16 == 0 ? 16 : alignof(${type})) kn_scanned_vector {
    ${type} at[kn_vector];
};

${begin}
    typedef ${type} kn_scanned;
    __shared__ __align__(16) unsigned char kn_staged_bytes[kn_is_staged ? sizeof(${type}) * kn_slots : 16], kn_total_bytes[sizeof(${type}) * 33];
    ${type} *const kn_total = reinterpret_cast<${type} *>(kn_total_bytes), *const kn_of_tile = kn_total + 32; /* of warps; first the tile's, then what comes before the tile */

    unsigned kn_tile = 0, kn_row_block = blockIdx.x;
    if constexpr (kn_has_tiles) {
        const unsigned kn_number = kn_take_ticket(kn.counters, gridDim.x);
        kn_tile = kn_number / kn.row_blocks;
        kn_row_block = kn_number - kn_tile * kn.row_blocks;
    }
    const unsigned kn_lane_bits = kn_has_tiles ? 31 - __clz(${block}) : kn.lane_bits, kn_lanes = 1u << kn_lane_bits, kn_lane = threadIdx.x & (kn_lanes - 1), kn_warp_lane = kn_lane & 31;
    const long long kn_row = (long long)kn_row_block * (${block} >> kn_lane_bits) + (threadIdx.x >> kn_lane_bits);
    kn_place kn_here = {};
    kn_go_to_result<${operands}>(kn_here, kn, 1, kn_row < kn.rows ? (unsigned)kn_row : 0);

    /* This row's elements, as they lie in shared memory: from kn_low on up to kn_high, so that vectors are aligned. */
    const unsigned kn_span = kn.chunk << kn_lane_bits, kn_misaligned = ${off}, kn_low = kn_tile == 0 ? kn_misaligned : 0;
    const long long kn_first = (long long)kn_tile * kn_span - kn_misaligned, kn_rest = kn_row < kn.rows && kn.length > kn_first ? kn.length - kn_first : 0;
    const unsigned kn_high = kn_rest < kn_span ? (unsigned)kn_rest : kn_span;
    ${type} *const kn_line = reinterpret_cast<${type} *>(kn_staged_bytes) + (threadIdx.x >> kn_lane_bits) * kn.pitch;
    ${pointers}
    const auto kn_mapped_at = [&](const unsigned kn_j) -> ${type} {
        ${loads}
        ${single}
        return ${mapped};
    };
    const auto kn_put = [&](const unsigned kn_j, const ${type} ${result}) {
        ${post}
    };
    /* Whole vectors, and what lies in front of the first one and behind the last one. */
    const unsigned kn_first_vector = (kn_low + kn_vector - 1) / kn_vector, kn_end_vector = kn_high / kn_vector;
    const auto kn_each_end = [&](const auto &kn_one) {
        const unsigned kn_behind = kn_end_vector < kn_first_vector ? kn_first_vector : kn_end_vector;
#pragma unroll 1
        for (unsigned kn_e = kn_lane; kn_vector > 1 && kn_e < 2 * kn_vector; kn_e += kn_lanes) {
            const unsigned kn_j = kn_e < kn_vector ? kn_low + kn_e : (kn_behind - 1) * kn_vector + kn_e;
            if (kn_j < kn_high && (kn_e >= kn_vector || kn_j < kn_first_vector * kn_vector))
                kn_one(kn_j);
        }
    };
    if constexpr (kn_is_staged) {
#pragma unroll 1
        for (unsigned kn_from_vector = kn_lane; kn_from_vector < kn_end_vector; kn_from_vector += kn_rounds << kn_lane_bits) {
            ${step_packs}
#pragma unroll
            for (int kn_u = 0; kn_u < kn_rounds; ++kn_u) {
                const unsigned kn_q = kn_from_vector + (kn_u << kn_lane_bits);
                if (kn_q >= kn_first_vector && kn_q < kn_end_vector) {
                    ${step_loads}
                }
            }
#pragma unroll
            for (int kn_u = 0; kn_u < kn_rounds; ++kn_u) {
                const unsigned kn_q = kn_from_vector + (kn_u << kn_lane_bits);
                if (kn_q >= kn_first_vector && kn_q < kn_end_vector) {
                    ${from}
                    kn_scanned_vector kn_of;
#pragma unroll
                    for (int kn_k = 0; kn_k < kn_vector; ++kn_k) {
                        [[maybe_unused]] const unsigned kn_j = kn_q * kn_vector + kn_k;
                        ${loads}
                        ${lane}
                        kn_of.at[kn_k] = ${mapped};
                    }
                    *reinterpret_cast<kn_scanned_vector *>(kn_line + kn_q * kn_vector) = kn_of;
                }
            }
        }
        kn_each_end([&](const unsigned kn_j) { kn_line[kn_j] = kn_mapped_at(kn_j); });
        __syncthreads();
    }
    const auto kn_value_at = [&](const unsigned kn_j) -> ${type} {
        if constexpr (kn_is_staged)
            return kn_line[kn_j];
        else
            return kn_mapped_at(kn_j);
    };

    /* The sum of a lane's elements, then of those of the lanes before it in its warp too. */
    const unsigned kn_end = (kn_lane + 1) * kn.chunk < kn_high ? (kn_lane + 1) * kn.chunk : kn_high, kn_begin = kn_lane == 0 ? kn_low : kn_lane * kn.chunk;
    const bool kn_has = kn_begin < kn_end;
    ${type} kn_sum;
    if (kn_has) {
        kn_sum = kn_value_at(kn_begin);
#pragma unroll 4
        for (unsigned kn_j = kn_begin + 1; kn_j < kn_end; ++kn_j)
            kn_sum = ${reduce}(kn_sum, kn_value_at(kn_j));
    }
#pragma unroll 1
    for (unsigned kn_by = 1; kn_by < 32 && kn_by < kn_lanes; kn_by *= 2) {
        const ${type} kn_other = kn_shuffle<'='>(kn_sum, (threadIdx.x - kn_by) % 32);
        if (kn_warp_lane >= kn_by && kn_has)
            kn_sum = ${reduce}(kn_other, kn_sum);
    }
    ${type} kn_before = kn_shuffle<'='>(kn_sum, (threadIdx.x - 1) % 32);
    bool kn_some = kn_warp_lane > 0; /* there is something before this lane's elements, in kn_before */

    /* The values of the warps before this one, and of the tiles before this one. */
    if (kn_lanes > 32) {
        if (kn_has && (kn_warp_lane == 31 || kn_end == kn_high))
            kn_total[threadIdx.x / 32] = kn_sum;
        __syncthreads();
        ${type} kn_warps;
        const unsigned kn_warp = (threadIdx.x - kn_lane) / 32;
#pragma unroll 1
        for (unsigned kn_w = kn_warp; kn_w < threadIdx.x / 32; ++kn_w)
            kn_warps = kn_w > kn_warp ? ${reduce}(kn_warps, kn_total[kn_w]) : kn_total[kn_w];
        if (kn_lane >= 32 && kn_has) {
            kn_before = kn_some ? ${reduce}(kn_warps, kn_before) : kn_warps;
            kn_sum = ${reduce}(kn_warps, kn_sum);
            kn_some = true;
        }
    }
    if constexpr (kn_has_tiles) {
        if (kn_has && kn_end == kn_high)
            *kn_of_tile = kn_sum;
        __syncthreads();
        const unsigned kn_set = kn_look_back<${block}>(kn_of_tile, kn_sums_of<${type}>(kn.counters + 2, kn.partials, kn.tiles, kn_row_block, 1), kn_tile, ${reduce});
        __syncthreads();
        kn_leave_flags(kn.counters + 1, gridDim.x, kn.counters + 2, kn.flags, kn_set);
        if (kn_tile > 0) {
            kn_before = kn_some ? ${reduce}(*kn_of_tile, kn_before) : *kn_of_tile;
            kn_some = true;
        }
    }

    /* A lane's elements again, with what comes before them. */
#pragma unroll 1
    for (unsigned kn_j = kn_begin; kn_j < kn_end; ++kn_j) {
        const ${type} kn_own = kn_value_at(kn_j), kn_sum_before = kn_some ? kn_before : ${identity};
        kn_before = kn_some ? ${reduce}(kn_before, kn_own) : kn_own;
        kn_some = true;
        if constexpr (kn_is_staged)
            kn_line[kn_j] = kn_is_exclusive ? kn_sum_before : kn_before;
        else
            kn_put(kn_j, kn_is_exclusive ? kn_sum_before : kn_before);
    }
    if constexpr (kn_is_staged) {
        __syncthreads();
#pragma unroll 1
        for (unsigned kn_q = kn_lane; kn_q < kn_end_vector; kn_q += kn_lanes)
            if (kn_q >= kn_first_vector) {
                ${packs}
                const kn_scanned_vector kn_of = *reinterpret_cast<const kn_scanned_vector *>(kn_line + kn_q * kn_vector);
#pragma unroll
                for (int kn_k = 0; kn_k < kn_vector; ++kn_k) {
                    [[maybe_unused]] const unsigned kn_j = kn_q * kn_vector + kn_k;
                    const ${type} ${result} = kn_of.at[kn_k];
                    ${lanes}
                }
                ${stores}
            }
        kn_each_end([&](const unsigned kn_j) { kn_put(kn_j, kn_line[kn_j]); });
    }
    ${after_loop}
}
