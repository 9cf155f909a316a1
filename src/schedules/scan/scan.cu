${head}
${axes}
/* Rows may have several tiles. */
enum { kn_has_tiles = ${several_tiles}, kn_is_exclusive = ${exclusive} };
enum { kn_most = ${items}, kn_in_flight = 2 }; /* elements of a lane; those that a thread loads before it has any of them */
/* Mapped elements lie in shared memory, but for large structs, which are mapped again where they are needed:
 * a block's 48 KB hold them, two sums of each lane, the totals, and the look-back's sums (cuda_look_back.cu). */
constexpr bool kn_is_staged = sizeof(${type}) * (${block} * (kn_most + 3) + (kn_has_tiles ? 6 : 1) * 32) <= 47 << 10;

${begin}
    typedef ${type} kn_scanned;
    __shared__ __align__(16) unsigned char kn_staged_bytes[kn_is_staged ? sizeof(${type}) * ${block} * (kn_most + 1) : 16];
    constexpr bool kn_has_two = kn_is_staged; /* buffers of sums; with one each is read before the next is written */
    __shared__ __align__(16) unsigned char kn_sum_bytes[(1 + kn_has_two) * sizeof(${type}) * ${block}];
    ${type} *const kn_staged = reinterpret_cast<${type} *>(kn_staged_bytes), *kn_sums_now = reinterpret_cast<${type} *>(kn_sum_bytes), *kn_sums_next = kn_sums_now + kn_has_two * ${block};
    __shared__ __align__(16) unsigned char kn_total_bytes[sizeof(${type}) * 32];
    ${type} *const kn_total = reinterpret_cast<${type} *>(kn_total_bytes);

    /* The tile: from element kn_first on kn_count elements of each of kn_rows rows. */
    unsigned kn_tile = 0, kn_row_block = blockIdx.x;
    [[maybe_unused]] unsigned kn_set = 0;
    if constexpr (kn_has_tiles) {
        const unsigned kn_number = kn_take_ticket(kn.counters, gridDim.x);
        kn_tile = kn_number / kn.row_blocks;
        kn_row_block = kn_number - kn_tile * kn.row_blocks;
    }
    const unsigned kn_lanes = 1u << kn.lane_bits, kn_block_rows = ${block} >> kn.lane_bits, kn_row_bits = 31 - __clz(kn_block_rows), kn_span = kn.chunk << kn.lane_bits;
    const long long kn_first = (long long)kn_tile * kn_span, kn_first_row = (long long)kn_row_block * kn_block_rows;
    const unsigned kn_count = kn.length - kn_first < kn_span ? (unsigned)(kn.length - kn_first) : kn_span;
    const unsigned kn_rows = kn.rows - kn_first_row < kn_block_rows ? (unsigned)(kn.rows - kn_first_row) : kn_block_rows;

    const auto kn_mapped_at = [&](const unsigned kn_row, const unsigned kn_j) -> ${type} {
        ${from}
        ${loads}
        ${single}
        return ${mapped};
    };
    /* Element kn_e of the tile, in the order of memory: its row, its place in that, and where it lies. */
    const auto kn_find = [&](const unsigned kn_e, unsigned &kn_row, unsigned &kn_j) {
        kn_row = 0;
        kn_j = kn_e;
        if (kn_block_rows > 1) {
            if (kn.across) {
                kn_j = kn_e >> kn_row_bits;
                kn_row = kn_e & (kn_block_rows - 1);
            } else {
                kn_row = kn_divide(kn_e, kn.by_length);
                kn_j = kn_e - kn_row * kn_count;
            }
        }
        return kn_row * kn.pitch + kn_j;
    };
    const unsigned kn_all = kn_count * (kn.across ? kn_block_rows : kn_rows);
    if constexpr (kn_is_staged) {
#pragma unroll 1
        for (unsigned kn_e = threadIdx.x; kn_e < kn_all; kn_e += kn_in_flight * ${block}) {
            ${type} kn_loaded[kn_in_flight];
            unsigned kn_slot[kn_in_flight];
#pragma unroll
            for (int kn_u = 0; kn_u < kn_in_flight; ++kn_u) {
                const unsigned kn_own = kn_e + kn_u * ${block} < kn_all ? kn_e + kn_u * ${block} : kn_e; /* what is not there is not loaded */
                unsigned kn_row, kn_j;
                kn_slot[kn_u] = kn_find(kn_own, kn_row, kn_j);
                kn_loaded[kn_u] = kn_mapped_at(kn_row < kn_rows ? kn_row : 0, kn_j);
            }
#pragma unroll
            for (int kn_u = 0; kn_u < kn_in_flight; ++kn_u)
                if (kn_e + kn_u * ${block} < kn_all)
                    kn_staged[kn_slot[kn_u]] = kn_loaded[kn_u];
        }
        __syncthreads();
    }

    /* A lane's chunk, by itself. */
    const unsigned kn_row = threadIdx.x >> kn.lane_bits, kn_lane = threadIdx.x & (kn_lanes - 1), kn_begin = kn_lane * kn.chunk;
    const unsigned kn_left = kn_begin < kn_count && kn_row < kn_rows ? kn_count - kn_begin : 0, kn_own = kn_left < kn.chunk ? kn_left : kn.chunk;
    ${type} kn_sum;
    if (kn_own > 0) {
        ${type} *const kn_mine = kn_staged + (kn_row * kn.pitch + kn_begin);
        if constexpr (kn_is_staged)
            kn_sum = kn_mine[0];
        else
            kn_sum = kn_mapped_at(kn_row, kn_begin);
#pragma unroll 2
        for (unsigned kn_k = 1; kn_k < kn_own; ++kn_k) {
            if constexpr (kn_is_staged) {
                kn_sum = ${reduce}(kn_sum, kn_mine[kn_k]);
                kn_mine[kn_k] = kn_sum;
            } else {
                kn_sum = ${reduce}(kn_sum, kn_mapped_at(kn_row, kn_begin + kn_k));
            }
        }
    }

    /* The sums of the lanes before this one are combined, of one, two, four lanes and so on. */
#pragma unroll 1
    for (unsigned kn_by = 1; kn_by < kn_lanes; kn_by *= 2) {
        kn_sums_now[threadIdx.x] = kn_sum;
        __syncthreads();
        if (kn_lane >= kn_by && kn_own > 0)
            kn_sum = ${reduce}(kn_sums_now[threadIdx.x - kn_by], kn_sum);
        if constexpr (!kn_has_two)
            __syncthreads();
        ${type} *const kn_other = kn_sums_next;
        kn_sums_next = kn_sums_now;
        kn_sums_now = kn_other;
    }
    kn_sums_now[threadIdx.x] = kn_sum;
    if constexpr (kn_has_tiles)
        if (kn_own > 0 && kn_left <= kn.chunk)
            kn_total[kn_row] = kn_sum;
    __syncthreads();
    if constexpr (kn_has_tiles) {
        kn_set = kn_look_back<${block}>(kn_total, kn_sums_of<${type}>(kn.counters + 2, kn.partials, kn.tiles, kn_row_block, kn_block_rows), kn_tile, ${reduce});
        __syncthreads();
    }
    /* The prefix of each lane's elements, if it has one. */
    if (kn_own > 0 && kn_lane > 0)
        kn_sum = kn_sums_now[threadIdx.x - 1];
    if constexpr (kn_has_tiles)
        if (kn_own > 0 && kn_tile > 0)
            kn_sum = kn_lane > 0 ? ${reduce}(kn_total[kn_row], kn_sum) : kn_total[kn_row];
    if constexpr (!kn_has_two)
        __syncthreads();
    kn_sums_next[threadIdx.x] = kn_sum;
    __syncthreads();
    const auto kn_put = [&](const unsigned kn_row, const unsigned kn_j, const unsigned kn_lane, const bool kn_begins, ${type} ${result}) {
        const bool kn_has = kn_tile > 0 || kn_lane > 0;
        const ${type} kn_before = kn_sums_next[(kn_row << kn.lane_bits) + kn_lane];
        if (kn_is_exclusive && kn_begins)
            ${result} = kn_has ? kn_before : ${identity};
        else if (kn_has)
            ${result} = ${reduce}(kn_before, ${result});
        ${from}
        ${stores}
    };
    if constexpr (kn_is_staged) {
#pragma unroll 1
        for (unsigned kn_e = threadIdx.x; kn_e < kn_all; kn_e += ${block}) {
            unsigned kn_row, kn_j;
            const unsigned kn_slot = kn_find(kn_e, kn_row, kn_j), kn_lane = kn_divide(kn_j, kn.by_chunk);
            const bool kn_begins = kn_is_exclusive && kn_j == kn_lane * kn.chunk;
            if (kn_row < kn_rows)
                kn_put(kn_row, kn_j, kn_lane, kn_begins, kn_staged[kn_is_exclusive && !kn_begins ? kn_slot - 1 : kn_slot]);
        }
    } else {
#pragma unroll 1
        for (unsigned kn_k = 0; kn_k < kn_own; ++kn_k) {
            const ${type} kn_next = kn_mapped_at(kn_row, kn_begin + kn_k), kn_earlier = kn_sum;
            kn_sum = kn_k > 0 ? ${reduce}(kn_sum, kn_next) : kn_next;
            kn_put(kn_row, kn_begin + kn_k, kn_lane, kn_k == 0, kn_is_exclusive ? kn_earlier : kn_sum);
        }
    }
    if constexpr (kn_has_tiles)
        kn_leave_flags(kn.counters + 1, gridDim.x, kn.counters + 2, kn.flags, kn_set);
    ${after_loop}
}
