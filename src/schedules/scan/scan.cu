${head}
${axes}
/* One row: this block has elements of one row, along one axis. Otherwise of several rows, or along several axes. */
enum { kn_is_one_row = ${variant} == 1, kn_is_exclusive = ${exclusive} };
enum { kn_most = ${per_thread}, kn_in_flight = 4 }; /* elements of a lane; those that a thread loads before it has any of them */
/* Mapped elements lie in shared memory, but for large structs, which are mapped again where they are needed. */
constexpr bool kn_is_staged = sizeof(${type}) * ${block} * (kn_most + 1) <= 40 << 10;

extern "C" __global__ void __launch_bounds__(${block}) ${entry}(const __grid_constant__ kn_args kn)
{
    ${wait}
    ${values}
    ${loop_prep}
    ${element}
    __shared__ __align__(16) unsigned char kn_room[kn_is_staged ? sizeof(${type}) * ${block} * (kn_most + 1) : 16];
    __shared__ __align__(16) unsigned char kn_start_room[sizeof(${type}) * ${block}];
    __shared__ __align__(16) unsigned char kn_total_room[sizeof(${type}) * ${block}];
    ${type} *const kn_staged = reinterpret_cast<${type} *>(kn_room), *const kn_start = reinterpret_cast<${type} *>(kn_start_room),
        *const kn_total = reinterpret_cast<${type} *>(kn_total_room);

    /* The tile: from element kn_first on kn_count elements of each of kn_rows rows. */
    const unsigned kn_number = kn.tiles > 1 ? kn_take_ticket(kn.counters, gridDim.x) : blockIdx.x;
    const unsigned kn_tile = kn_number / kn.row_blocks, kn_row_block = kn_number - kn_tile * kn.row_blocks;
    const unsigned kn_lanes = 1u << kn.lane_bits, kn_block_rows = ${block} >> kn.lane_bits, kn_row_bits = 31 - __clz(kn_block_rows), kn_span = kn.chunk << kn.lane_bits;
    const long long kn_first = (long long)kn_tile * kn_span, kn_first_row = (long long)kn_row_block * kn_block_rows;
    const unsigned kn_count = kn.length - kn_first < kn_span ? (unsigned)(kn.length - kn_first) : kn_span;
    const unsigned kn_rows = kn.rows - kn_first_row < kn_block_rows ? (unsigned)(kn.rows - kn_first_row) : kn_block_rows;
    kn_place kn_here = {};
    if constexpr (kn_is_one_row)
        kn_go_to_result<${operands}>(kn_here, kn, kn.fold_rank, (unsigned)kn_first_row);
    ${pointers}

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
        if (!kn_is_one_row && kn_block_rows > 1) {
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
    const unsigned kn_all = kn_count * (!kn_is_one_row && kn.across ? kn_block_rows : kn_rows);
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
#pragma unroll 4
        for (unsigned kn_k = 1; kn_k < kn_own; ++kn_k) {
            if constexpr (kn_is_staged) {
                kn_sum = ${fold}(kn_sum, kn_mine[kn_k]);
                kn_mine[kn_k] = kn_sum;
            } else {
                kn_sum = ${fold}(kn_sum, kn_mapped_at(kn_row, kn_begin + kn_k));
            }
        }
    }

    /* What the lanes before it have: of its warp, then of the row's warps before. */
    const unsigned kn_in_warp = threadIdx.x % 32, kn_behind = kn_lanes < 32 ? kn_lane : kn_in_warp;
#pragma unroll 1
    for (unsigned kn_by = 1; kn_by < kn_lanes && kn_by < 32; kn_by *= 2) {
        const ${type} kn_other = kn_shuffle<'='>(kn_sum, (int)kn_in_warp - (int)kn_by);
        if (kn_behind >= kn_by && kn_own > 0)
            kn_sum = ${fold}(kn_other, kn_sum);
    }
    ${type} kn_before = kn_shuffle<'='>(kn_sum, (int)kn_in_warp - 1);
    const bool kn_is_last = kn_own > 0 && kn_left <= kn.chunk; /* of those of the row that have elements here */
    if (kn_lanes > 32) {
        if (kn_in_warp == 31 || kn_is_last)
            kn_total[threadIdx.x / 32] = kn_sum;
        __syncthreads();
        ${type} kn_warps;
        const unsigned kn_from = (threadIdx.x - kn_lane) / 32;
#pragma unroll 1
        for (unsigned kn_k = kn_from; kn_k < threadIdx.x / 32; ++kn_k)
            kn_warps = kn_k == kn_from ? kn_total[kn_k] : ${fold}(kn_warps, kn_total[kn_k]);
        if (threadIdx.x / 32 > kn_from) {
            kn_before = kn_behind > 0 ? ${fold}(kn_warps, kn_before) : kn_warps;
            kn_sum = ${fold}(kn_warps, kn_sum);
        }
        __syncthreads();
    }

    /* And what the tiles before this one have. */
    bool kn_some = kn_lane > 0;
    if (kn.tiles > 1) {
        if (kn_is_last)
            kn_total[kn_row] = kn_sum;
        __syncthreads();
        const kn_sums<${type}> kn_rows_sums = kn_sums_of<${type}>(kn.counters + 2, kn.partials, kn.tiles, kn.row_blocks, kn_row_block, kn_block_rows);
        const bool kn_follows = kn_look_back<${block}>(kn_total, kn_rows_sums, kn_tile, ${fold});
        __syncthreads();
        if (kn_follows && kn_own > 0) {
            kn_before = kn_some ? ${fold}(kn_total[kn_row], kn_before) : kn_total[kn_row];
            kn_some = true;
        }
    }
    const auto kn_put = [&](const unsigned kn_row, const unsigned kn_j, const ${type} &${result}) {
        ${from}
        ${stores}
    };
    if constexpr (kn_is_staged) {
        kn_start[threadIdx.x] = kn_before;
        __syncthreads();
#pragma unroll 1
        for (unsigned kn_e = threadIdx.x; kn_e < kn_all; kn_e += ${block}) {
            unsigned kn_row, kn_j;
            const unsigned kn_slot = kn_find(kn_e, kn_row, kn_j);
            if (kn_row >= kn_rows)
                continue;
            const unsigned kn_lane = kn_divide(kn_j, kn.by_chunk);
            const bool kn_begins = kn_is_exclusive && kn_j == kn_lane * kn.chunk, kn_has = kn_tile > 0 || kn_lane > 0;
            const ${type} kn_prefix = kn_start[(kn_row << kn.lane_bits) + kn_lane];
            if (kn_begins)
                kn_put(kn_row, kn_j, kn_has ? kn_prefix : ${identity});
            else if (kn_has)
                kn_put(kn_row, kn_j, ${fold}(kn_prefix, kn_staged[kn_slot - kn_is_exclusive]));
            else
                kn_put(kn_row, kn_j, kn_staged[kn_slot - kn_is_exclusive]);
        }
    } else {
#pragma unroll 1
        for (unsigned kn_k = 0; kn_k < kn_own; ++kn_k) {
            const ${type} kn_next = kn_mapped_at(kn_row, kn_begin + kn_k);
            const ${type} kn_earlier = kn_sum;
            kn_sum = kn_k > 0 ? ${fold}(kn_sum, kn_next) : kn_next;
            if (kn_is_exclusive && kn_k == 0)
                kn_put(kn_row, kn_begin, kn_some ? kn_before : ${identity});
            else if (kn_is_exclusive)
                kn_put(kn_row, kn_begin + kn_k, kn_some ? ${fold}(kn_before, kn_earlier) : kn_earlier);
            else
                kn_put(kn_row, kn_begin + kn_k, kn_some ? ${fold}(kn_before, kn_sum) : kn_sum);
        }
    }
    if (kn.tiles > 1)
        kn_leave_flags(kn.counters + 1, gridDim.x, kn.counters + 2, kn.flags);
    ${after_loop}
}
