${head}
${axes}
/* A thread loads kn_items items of each of kn_rows rows before it reduces any. */
enum { kn_items = ${items}, kn_rows = kn_items < 4 ? 4 / kn_items : 1, kn_steps = kn_rows * kn_items };
/* Behind a row's end nothing is left: where the number of elements in a struct is known on each way, the compiler removes divisions by it. */
constexpr bool kn_ends_early = __is_class(${type});

${begin}

    /* kn.lanes lanes of a warp share a result; the remaining lanes do nothing. */
    const unsigned kn_group = threadIdx.x % 32 / kn.lanes, kn_lane = threadIdx.x % 32 - kn_group * kn.lanes, kn_groups = 32 / kn.lanes;
    const unsigned kn_number = (blockIdx.x * (${block} / 32) + threadIdx.x / 32) * kn_groups + kn_group, kn_turns = kn_divide(kn_number, kn.step);
    const long long kn_begun = (long long)kn_turns * (kn_rows - 1) * kn.step.extent + kn_number;
    kn_place kn_begin_of[kn_rows];
    bool kn_is_here[kn_rows];
    ${type} kn_reduced[kn_rows];
#pragma unroll
    for (int kn_r = 0; kn_r < kn_rows; ++kn_r) {
        const long long kn_at = kn_begun + (long long)kn_r * kn.step.extent;
        kn_is_here[kn_r] = kn_group < kn_groups && kn_at < kn.size;
        kn_begin_of[kn_r] = {};
        if (kn_is_here[kn_r])
            kn_go_to_result<${operands}>(kn_begin_of[kn_r], kn, kn.reduction_rank, (unsigned)kn_at);
    }
    /* Elements in front of the first aligned vector of a row and behind the last one are taken at the end; such rows have a warp each. */
    const bool kn_is_unaligned = ${unaligned};
    unsigned kn_head = 0, kn_count = kn.items;
    kn_place kn_row_place;
    if (kn_is_unaligned && kn_is_here[0]) {
        const kn_place &kn_here = kn_row_place = kn_begin_of[0];
        kn_head = (unsigned)(${until});
        kn_count = (kn.length - kn_head) / ${vector};
        kn_go<1, ${operands}>(kn_begin_of[0], kn, kn_head, 1, 0);
    }
#pragma unroll 1
    for (unsigned kn_q = kn_lane; kn_q < kn_count; kn_q += kn_items * kn.lanes) {
        ${packs}
#pragma unroll
        for (int kn_u = 0; kn_u < kn_steps; ++kn_u) {
            const unsigned kn_item = kn_q + kn_u % kn_items * kn.lanes;
            if (kn_is_here[kn_u / kn_items] && kn_item < kn_count) {
                kn_place kn_from = kn_begin_of[kn_u / kn_items];
                kn_go<${reduction_axes}, ${operands}>(kn_from, kn, kn_item, ${vector}, 0);
                ${loads}
            }
        }
#pragma unroll
        for (int kn_r = 0; kn_r < kn_rows; ++kn_r) {
            if (kn_is_here[kn_r]) {
                ${type} kn_sum;
#pragma unroll
                for (int kn_m = 0; kn_m < kn_items; ++kn_m) {
                    const int kn_u = kn_r * kn_items + kn_m;
                    const unsigned kn_item = kn_q + kn_m * kn.lanes;
                    if (kn_ends_early && kn_item >= kn_count)
                        break;
                    if (kn_item < kn_count) {
                        kn_place kn_from = kn_begin_of[kn_r];
                        kn_go<${reduction_axes}, ${operands}>(kn_from, kn, kn_item, ${vector}, 0);
                        ${lanes}
                    }
                }
                kn_reduced[kn_r] = kn_q == kn_lane ? kn_sum : ${next}(kn_reduced[kn_r], kn_sum);
            }
        }
    }
    if (kn_is_unaligned && kn_is_here[0]) {
        const unsigned kn_ends = kn.length - kn_count * ${vector}, kn_j = kn_lane < kn_head ? kn_lane : kn_count * ${vector} + kn_lane;
        if (kn_lane < kn_ends) {
            kn_place kn_from = kn_row_place;
            kn_go<1, ${operands}>(kn_from, kn, kn_j, 1, 0);
            ${single}
            kn_reduced[0] = ${reduce}(kn_reduced[0], ${mapped});
        }
        kn_begin_of[0] = kn_row_place;
    }
    const unsigned kn_held = kn.items < kn.lanes ? kn.items : kn.lanes;
    const bool kn_some = kn_held > 0;
#pragma unroll
    for (int kn_r = 0; kn_r < kn_rows; ++kn_r) {
        kn_reduce_lanes(kn_reduced[kn_r], kn_held, kn_lane, ${reduce});
        if (kn_is_here[kn_r] && kn_lane == 0) {
            const kn_place &kn_here = kn_begin_of[kn_r];
            ${type} ${result} = kn_reduced[kn_r];
            ${empty}
            ${stores}
        }
    }
    ${after_loop}
}
