${head}
${axes}
enum { kn_steps = ${deep} > 0 ? ${deep} : ${vector} > 1 ? 4 : 8, kn_group = 16 }; /* rows that a thread loads before it reduces any; blocks of a group, whose partial results are combined first */
enum { kn_partials_each = __is_class(${type}) && sizeof(${type}) > 16 ? 2 : 4 }; /* partial results that a thread loads before it combines any; large structs take more registers */
/* Reductions of structs are long, and a branch around each costs more than it saves: iterations are whole, and the remaining rows are taken one by one (reduce_rows.cu). */
constexpr bool kn_are_whole = __is_class(${type});
/* For bytes and double words the conditions take more instructions than all else: iterations are whole, but for the last one. */
constexpr bool kn_begin_whole = kn_are_whole || sizeof(${type}) == 1 || sizeof(${type}) == 8;
constexpr bool kn_is_plain = ${vector} == 1 && ${reduction_axes} == 1; /* the first row of an iteration has no condition then (reduce_rows.cu) */

${begin}

    /* Values that the block's shared memory holds. Large structs are combined for some rows of threads at a time, with 32 vectors across at most. */
    constexpr unsigned kn_all_slots = ${block} * ${vector}, kn_fitting = (47 << 10) / sizeof(${type}), kn_least = 32 * ${vector};
    constexpr unsigned kn_slots = ${vector} == 1 || kn_all_slots <= kn_fitting ? kn_all_slots : kn_fitting > kn_least ? kn_fitting : kn_least;
    __shared__ __align__(16) unsigned char kn_buffer[sizeof(${type}) * kn_slots];
    ${type} *const kn_shared = reinterpret_cast<${type} *>(kn_buffer);

    /* kn.splits blocks share a tile: each reduces kn.chunk rows of kn.width columns. */
    const unsigned kn_part = blockIdx.x % kn.splits, kn_tile_at = blockIdx.x / kn.splits;
    const unsigned kn_outer = kn_tile_at / kn.tiles, kn_tile = kn_tile_at - kn_outer * kn.tiles;
    const unsigned kn_y = kn_quotient(threadIdx.x, kn.across), kn_x = threadIdx.x - kn_y * kn.across;
    const long long kn_tile_column = (long long)kn_tile * kn.width, kn_tile_rest = kn.columns - kn_tile_column;
    /* Columns of all output axes: those of the last tile that are none are computed as the last one is, and left. */
    constexpr bool kn_has_all = ${all_outputs};
    const unsigned kn_width = !kn_has_all && kn_tile_rest < kn.width ? (unsigned)kn_tile_rest : kn.width;
    kn_place kn_outer_place = {};
    kn_go_to_result<${operands}>(kn_outer_place, kn, kn.reduction_rank + 1, kn_outer);

    const long long kn_begun = (long long)kn_part * kn.chunk, kn_rest = kn.rows - kn_begun;
    unsigned kn_count = kn_rest < kn.chunk ? (unsigned)kn_rest : kn.chunk;
    kn_place kn_first = kn_outer_place;
    /* Joined rows are one contiguous range that begins anywhere: the elements in front of its first vector are taken at the end. */
    const bool kn_slides = kn.is_unaligned && kn.copies == 1;
    unsigned kn_head = 0;
    if (${vector} > 1 && kn.is_unaligned && kn.copies > 1) {
        const kn_place &kn_from = kn_outer_place;
        kn_head = (${vector} - (${off})) % ${vector};
        for (int o = 0; o < ${operands}; ++o)
            kn_first.at[o] += kn_head * kn.axis[kn.reduction_rank].stride[o];
    }
    long long kn_row;
    const unsigned kn_row_column = kn_begin<${reduction_axes}, ${operands}>(kn_first, kn, kn_begun, 1, kn_row);
    for (int o = 0; !kn_has_all && o < ${operands}; ++o)
        kn_first.at[o] += kn_tile_column * kn.axis[kn.reduction_rank].stride[o];

    /* If rows are unaligned, all rows of one thread have the same misalignment: its vectors begin at that boundary. */
    int kn_off = 0;
    if (${vector} > 1 && kn_slides) {
        kn_place kn_from = kn_first;
        kn_go<${reduction_axes}, ${operands}>(kn_from, kn, kn_row_column + kn_y, 1, kn_row);
        kn_off = ${off};
    }
    const int kn_c = (int)(kn_x * ${vector}) - kn_off;
    for (int o = 0; !kn_has_all && o < ${operands}; ++o)
        kn_first.at[o] += kn_c * kn.axis[kn.reduction_rank].stride[o];
    if (kn_has_all)
        kn_go_to_result<${operands}>(kn_first, kn, kn.reduction_rank, (unsigned)(kn_c < kn_tile_rest ? kn_tile_column + kn_c : kn.columns - 1));
    const bool kn_is_here = kn_y < kn.down && kn_c < (int)kn_width;
    unsigned kn_deep = kn_count < kn.down ? kn_count : kn.down;
    /* The last of joined rows are partial: a thread has one iteration more if its vector is inside. */
    const unsigned kn_left = kn_part + 1 == kn.splits ? kn.left - kn_head : 0;
    if (kn_is_here)
        kn_count += kn_c + ${vector} <= (int)kn_left;

    kn_chain<${type}> kn_chained[${vector}];
    unsigned kn_turn = 0;
    ${pointers}
    /* A whole iteration, or one row. */
    const auto kn_reduce_rows = [&](const unsigned kn_q, auto kn_number_of) {
        constexpr int kn_n = decltype(kn_number_of)::value;
        ${packs}
#pragma unroll
        for (int kn_u = 0; kn_u < kn_n; ++kn_u) {
            ${from}
            ${loads}
            ${step_loads}
        }
        ${type} kn_sum[${vector}];
#pragma unroll
        for (int kn_u = 0; kn_u < kn_n; ++kn_u) {
            ${from}
            ${lanes}
        }
#pragma unroll
        for (int kn_k = 0; kn_k < ${vector}; ++kn_k)
            kn_chain_put(kn_chained[kn_k], kn_turn, kn_sum[kn_k], ${next});
        ++kn_turn;
    };
    unsigned kn_q = kn_is_here ? kn_y : kn_count;
    if constexpr (kn_begin_whole) {
#pragma unroll 1
        for (; kn_q + (kn_steps - 1) * kn.down < kn_count; kn_q += kn_steps * kn.down)
            kn_reduce_rows(kn_q, kn_number<kn_steps>());
    }
    if constexpr (kn_are_whole) {
#pragma unroll 1
        for (; kn_q < kn_count; kn_q += kn.down)
            kn_reduce_rows(kn_q, kn_number<1>());
    }
#pragma unroll 1
    for (; !kn_are_whole && kn_q < kn_count; kn_q += kn_steps * kn.down) {
        ${packs}
#pragma unroll
        for (int kn_u = 0; kn_u < kn_steps; ++kn_u) {
            if ((kn_is_plain && kn_u == 0) || kn_q + kn_u * kn.down < kn_count) {
                ${from}
                ${loads}
            }
            ${step_loads}
        }
        ${type} kn_sum[${vector}];
#pragma unroll
        for (int kn_u = 0; kn_u < kn_steps; ++kn_u) {
            if ((kn_is_plain && kn_u == 0) || kn_q + kn_u * kn.down < kn_count) {
                ${from}
                ${lanes}
            }
        }
#pragma unroll
        for (int kn_k = 0; kn_k < ${vector}; ++kn_k)
            kn_chain_put(kn_chained[kn_k], kn_turn, kn_sum[kn_k], ${next});
        ++kn_turn;
    }
    const auto kn_put_own = [&](const unsigned kn_above) {
#pragma unroll
        for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
            if (kn_c + kn_k >= 0 && kn_c + kn_k < (int)kn_width) {
                ${type} &kn_slot = kn_shared[(kn_y - kn_above) * kn.across * ${vector} + kn_c + kn_k];
                const ${type} kn_own = kn_chain_all(kn_chained[kn_k], kn_turn, ${next});
                kn_slot = kn_above == 0 ? kn_own : ${reduce}(kn_slot, kn_own);
            }
        }
    };
    if constexpr (kn_slots == kn_all_slots) {
        if (kn_turn > 0)
            kn_put_own(0);
        __syncthreads();
    } else {
        const unsigned kn_at_a_time = kn_quotient(kn_slots, kn.across * ${vector});
#pragma unroll 1
        for (unsigned kn_above = 0; kn_above < kn_deep; kn_above += kn_at_a_time) {
            if (kn_turn > 0 && kn_y - kn_above < kn_at_a_time)
                kn_put_own(kn_above);
            __syncthreads();
        }
        kn_deep = kn_deep < kn_at_a_time ? kn_deep : kn_at_a_time;
    }

    /* The elements in front of the first vector, and behind the last one. */
    const unsigned kn_tail = kn_left % ${vector}, kn_is_head = threadIdx.x >= ${vector}, kn_e = threadIdx.x % ${vector};
    if (${vector} > 1 && kn_part + 1 == kn.splits && kn_tail + kn_head > 0) {
        const bool kn_is_single = threadIdx.x < 2 * ${vector} && kn_e < (kn_is_head ? kn_head : kn_tail);
        const unsigned kn_after = kn_left - kn_tail + kn_e, kn_columns = (unsigned)kn.columns;
        const unsigned kn_to = kn_is_head ? kn_columns - kn_head + kn_e : kn_after < kn_columns ? kn_after : kn_after - kn_columns;
        ${type} kn_one;
        if (kn_is_single) {
            const long long kn_j = kn_is_head ? kn_e : kn_head + kn.rows * kn.columns + kn_after;
            kn_place kn_from = kn_outer_place;
            for (int o = 0; o < ${operands}; ++o)
                kn_from.at[o] += kn_j * kn.axis[kn.reduction_rank].stride[o];
            ${single}
            kn_one = ${mapped};
        }
        /* Both may be of the same column. */
#pragma unroll 1
        for (unsigned kn_u = 0; kn_u < 2; ++kn_u) {
            if (kn_is_single && kn_is_head == kn_u)
                kn_shared[kn_to] = ${reduce}(kn_shared[kn_to], kn_one);
            __syncthreads();
        }
    }

    /* Values kn_pitch apart in shared memory are of the same result. */
    unsigned kn_copies = kn_deep * kn.copies, kn_pitch = kn.pitch, kn_inner = kn.inner;
    unsigned kn_values = kn.copies > 1 ? kn.pitch : kn_width;
    const unsigned kn_results = kn.inner > 1 ? kn_quotient(kn_values, kn.inner) : kn_values;
    const unsigned kn_groups = kn.levels > 1 ? (kn.splits + kn_group - 1) / kn_group : 0;
    ${type} *const kn_partial = reinterpret_cast<${type} *>(kn.partials) + (long long)kn_tile_at * (kn.splits + kn_groups) * kn.slots;
    unsigned *const kn_counter = kn.counters + kn_tile_at * (kn_groups + 1);
    unsigned kn_put = kn_part;
#pragma unroll 1
    for (unsigned kn_level = 0;; ++kn_level) {
#pragma unroll 1
        while (kn_copies > 1) {
            const unsigned kn_quarter = (kn_copies + 3) / 4, kn_step = kn_quarter * kn_pitch, kn_all = kn_copies * kn_pitch;
#pragma unroll 1
            for (unsigned kn_e = threadIdx.x; kn_e < kn_step; kn_e += ${block}) {
                if (kn_values == kn_pitch || kn_e - kn_quotient(kn_e, kn_pitch) * kn_pitch < kn_values) {
                    ${type} kn_sum = kn_shared[kn_e];
#pragma unroll
                    for (unsigned kn_u = 1; kn_u < 4; ++kn_u)
                        if (kn_e + kn_u * kn_step < kn_all)
                            kn_sum = ${reduce}(kn_sum, kn_shared[kn_e + kn_u * kn_step]);
                    kn_shared[kn_e] = kn_sum;
                }
            }
            __syncthreads();
            kn_copies = kn_quarter;
        }
        const unsigned kn_lanes = kn_inner > 1 ? kn.inner_lanes : 1, kn_lane = threadIdx.x % kn_lanes;
#pragma unroll 1
        for (unsigned kn_base = 0; kn_base < kn_results; kn_base += ${block} / kn_lanes) {
            const unsigned kn_r = kn_base + threadIdx.x / kn_lanes;
            const bool kn_has = kn_r < kn_results;
            ${type} ${result};
            if (kn_has)
                ${result} = kn_shared[kn_r * kn_inner + kn_lane];
            if (kn_inner > 1) {
#pragma unroll 1
                for (unsigned kn_f = kn_lane + kn_lanes; kn_has && kn_f < kn_inner; kn_f += kn_lanes)
                    ${result} = ${reduce}(${result}, kn_shared[kn_r * kn_inner + kn_f]);
                kn_reduce_lanes(${result}, kn_lanes, kn_lane, ${reduce});
            }
            if (kn_has && kn_lane == 0 && kn_level < kn.levels)
                kn_partial[kn_put * kn.slots + kn_r] = ${result};
            if (kn_has && kn_lane == 0 && kn_level == kn.levels && (!kn_has_all || kn_r < kn_tile_rest)) {
                const unsigned kn_slot = kn_has_all ? kn_r : kn_r + kn_head - kn_quotient(kn_r + kn_head, kn.slots) * kn.slots;
                kn_place kn_here = kn_outer_place;
                if (kn_has_all)
                    kn_go_to_result<${operands}>(kn_here, kn, kn.reduction_rank, (unsigned)kn_tile_column + kn_r);
                for (int o = 0; !kn_has_all && o < ${operands}; ++o)
                    kn_here.at[o] += ((long long)kn_tile * kn.slots + kn_slot) * kn.axis[kn.reduction_rank].stride[o];
                ${stores}
            }
        }
        if (kn_level == kn.levels)
            break;
        /* The parts of a group, or of all; with groups, then the values of the groups. */
        const bool kn_grouped = kn_level + 1 < kn.levels;
        const unsigned kn_from_part = kn_grouped ? kn_part / kn_group * kn_group : kn_groups > 0 ? kn.splits : 0;
        const unsigned kn_all = kn_groups > 0 && !kn_grouped ? kn_groups : kn.splits;
        const unsigned kn_members = !kn_grouped ? kn_all : kn.splits - kn_from_part < kn_group ? kn.splits - kn_from_part : (unsigned)kn_group;
        if (!kn_comes_last(kn_counter + (kn_grouped ? 1 + kn_part / kn_group : 0), kn_members))
            break;
        constexpr unsigned kn_most = kn_slots < ${block} ? kn_slots : ${block};
        const unsigned kn_share = kn_most > kn_results ? kn_quotient(kn_most, kn_results) : 1;
        kn_copies = kn_share < kn_members ? kn_share : kn_members;
#pragma unroll 1
        for (unsigned kn_e = threadIdx.x; kn_e < kn_copies * kn_results; kn_e += ${block}) {
            const unsigned kn_l = kn_quotient(kn_e, kn_results);
            const ${type} *const kn_from_partial = kn_partial + kn_from_part * kn.slots + (kn_e - kn_l * kn_results);
            ${type} kn_sum;
#pragma unroll 1
            for (unsigned kn_s = kn_l; kn_s < kn_members; kn_s += kn_partials_each * kn_copies) {
                ${type} kn_next[kn_partials_each];
#pragma unroll
                for (unsigned kn_u = 0; kn_u < kn_partials_each; ++kn_u)
                    if (kn_s + kn_u * kn_copies < kn_members)
                        kn_next[kn_u] = kn_from_partial[(kn_s + kn_u * kn_copies) * kn.slots];
#pragma unroll
                for (unsigned kn_u = 0; kn_u < kn_partials_each; ++kn_u)
                    if (kn_s + kn_u * kn_copies < kn_members)
                        kn_sum = kn_u == 0 && kn_s == kn_l ? kn_next[0] : ${reduce}(kn_sum, kn_next[kn_u]);
            }
            kn_shared[kn_e] = kn_sum;
        }
        __syncthreads();
        kn_put = kn.splits + kn_part / kn_group;
        kn_pitch = kn_values = kn_results;
        kn_inner = 1;
    }
    ${after_loop}
}
