${head}
${axes}
/* A thread loads kn_items items of each of kn_rows rows, and has all kn_few results of each. */
enum { kn_few = ${few}, kn_items = ${items}, kn_rows = kn_items < 4 ? 4 : 2, kn_steps = kn_rows * kn_items };
constexpr bool kn_are_whole = ${whole}; /* each lane has as many items */

/* The place of result kn_f of a row. */
template <int Operands, class Place, class Args>
static __device__ __forceinline__ Place kn_of_result(Place place, const Args &kn, const int kn_f)
{
#pragma unroll
    for (int o = 0; o < Operands; ++o)
        place.at[o] += (long long)kn_f * kn.axis[kn.reduction_rank].stride[o];
    return place;
}

${begin}

    /* kn.lanes lanes of a warp share rows. Behind the last row, and in the lanes that remain, a row is computed again and not stored: there is no branch in front of a load. */
    const unsigned kn_group = threadIdx.x % 32 / kn.lanes, kn_lane = threadIdx.x % 32 - kn_group * kn.lanes, kn_groups = 32 / kn.lanes;
    const long long kn_begun = ((long long)blockIdx.x * (${block} / 32) + threadIdx.x / 32) * kn_groups * kn_rows + kn_group;
    kn_place kn_begin_of[kn_rows];
    bool kn_is_here[kn_rows];
    ${type} kn_reduced[kn_rows][kn_few];
#pragma unroll
    for (int kn_r = 0; kn_r < kn_rows; ++kn_r) {
        const long long kn_at = kn_begun + kn_r * kn_groups;
        kn_is_here[kn_r] = kn_group < kn_groups && kn_at < kn.rows;
        kn_begin_of[kn_r] = {};
        kn_go_to_result<${operands}>(kn_begin_of[kn_r], kn, kn.reduction_rank + 1, (unsigned)(kn_at < kn.rows ? kn_at : kn.rows - 1));
    }
#pragma unroll 1
    for (unsigned kn_q = kn_lane; kn_q < kn.items; kn_q += kn_items * kn.lanes) {
        ${packs}
#pragma unroll
        for (int kn_u = 0; kn_u < kn_steps; ++kn_u) {
            const unsigned kn_item = kn_q + kn_u % kn_items * kn.lanes;
            if (kn_are_whole || kn_item < kn.items) {
                kn_place kn_from = kn_begin_of[kn_u / kn_items];
                kn_go<1, ${operands}>(kn_from, kn, kn_item, ${vector}, 0);
                ${loads}
            }
        }
#pragma unroll
        for (int kn_f = 0; kn_f < kn_few; ++kn_f) {
            /* The inputs that rows share lie at the same place for all of them. */
#pragma unroll
            for (int kn_u = 0; kn_u < kn_items; ++kn_u) {
                const unsigned kn_item = kn_q + kn_u * kn.lanes;
                if (kn_are_whole || kn_item < kn.items) {
                    kn_place kn_from = kn_of_result<${operands}>(kn_begin_of[0], kn, kn_f);
                    kn_go<1, ${operands}>(kn_from, kn, kn_item, ${vector}, 0);
                    ${step_loads}
                }
            }
#pragma unroll
            for (int kn_r = 0; kn_r < kn_rows; ++kn_r) {
                ${type} kn_sum;
#pragma unroll
                for (int kn_m = 0; kn_m < kn_items; ++kn_m) {
                    const int kn_u = kn_r * kn_items + kn_m;
                    const unsigned kn_item = kn_q + kn_m * kn.lanes;
                    if (kn_are_whole || kn_item < kn.items) {
                        kn_place kn_from = kn_of_result<${operands}>(kn_begin_of[kn_r], kn, kn_f);
                        kn_go<1, ${operands}>(kn_from, kn, kn_item, ${vector}, 0);
                        ${lanes}
                    }
                }
                kn_reduced[kn_r][kn_f] = kn_q == kn_lane ? kn_sum : ${next}(kn_reduced[kn_r][kn_f], kn_sum);
            }
        }
    }
#pragma unroll
    for (int kn_f = 0; kn_f < kn_few; ++kn_f) {
#pragma unroll
        for (int kn_r = 0; kn_r < kn_rows; ++kn_r) {
            kn_reduce_lanes(kn_reduced[kn_r][kn_f], kn.lanes, kn_lane, ${reduce});
            if (kn_is_here[kn_r] && kn_lane == 0) {
                const kn_place kn_here = kn_of_result<${operands}>(kn_begin_of[kn_r], kn, kn_f);
                ${type} ${result} = kn_reduced[kn_r][kn_f];
                ${stores}
            }
        }
    }
    ${after_loop}
}
