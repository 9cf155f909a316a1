${head}
${axes}
/* Elements that a thread looks at at a time; those that come first so far, and newer ones, lie in shared memory, of which each thread sorts some. */
enum { kn_items = ${items}, kn_warps = ${block} / 32, kn_step = ${block} * kn_items, kn_capacity = 2 * kn_step, kn_sorted_items = kn_capacity / ${block}, kn_digits = ${depth}, kn_wanted = ${wanted} };

${begin}
    typedef ${type} kn_bits;
    __shared__ unsigned short kn_before[kn_warps][256]; /* elements of a digit: those of a warp, then those of the warps before it */
    __shared__ unsigned kn_start[256];                  /* of the elements with lesser digits */
    __shared__ kn_bits kn_held[kn_capacity];
    __shared__ unsigned kn_number_of[kn_capacity];
    __shared__ unsigned kn_entering[2][kn_warps]; /* elements of this step, and of the one before, by warp */

    const unsigned kn_lane = threadIdx.x % 32, kn_warp = threadIdx.x / 32, kn_begin = kn_warp * 32 * kn_items + kn_lane, kn_row = blockIdx.x;
    const long long kn_first = 0;
    const unsigned kn_count = (unsigned)kn.length;
    kn_place kn_here = {};
    ${locate}
    ${pointers}

    kn_bits kn_next[kn_items];
    const auto kn_load = [&](const unsigned kn_from_step) {
#pragma unroll
        for (int kn_r = 0; kn_r < kn_items; ++kn_r) {
            const unsigned kn_e = kn_from_step + kn_begin + kn_r * 32, kn_j = kn_e < kn_count ? kn_e : 0;
            ${from}
            ${loads}
            ${single}
            kn_next[kn_r] = ${mapped};
        }
    };

    /* Elements enter behind those that are there, in their order, unless enough have lesser keys. Those whose key is the last one's so far come behind it. */
    unsigned kn_there = 0;
    bool kn_has_last = false;
    kn_bits kn_last = 0;
    kn_load(0);
#pragma unroll 1
    for (unsigned kn_step_begin = 0, kn_turn = 0;; kn_step_begin += kn_step, kn_turn ^= 1) {
        /* All that are there are sorted, where the next step has no space, and in the end. */
        if (kn_step_begin >= kn_count || kn_there + kn_step > kn_capacity) {
            kn_bits kn_own[kn_sorted_items];
            unsigned kn_element[kn_sorted_items];
            const unsigned kn_own_begin = kn_warp * 32 * kn_sorted_items + kn_lane;
            __syncthreads();
#pragma unroll
            for (int kn_r = 0; kn_r < kn_sorted_items; ++kn_r) {
                const unsigned kn_s = kn_own_begin + kn_r * 32;
                kn_own[kn_r] = kn_s < kn_there ? kn_held[kn_s] : (kn_bits)~(kn_bits)0;
                kn_element[kn_r] = kn_s < kn_there ? kn_number_of[kn_s] : 0;
            }
#pragma unroll 1
            for (int kn_d = 0; kn_d < kn_digits; ++kn_d) {
#pragma unroll
                for (unsigned kn_k = 0; kn_k < 4; ++kn_k)
                    reinterpret_cast<unsigned *>(kn_before[kn_warp])[kn_k * 32 + kn_lane] = 0;
                __syncwarp();
                unsigned short kn_rank[kn_sorted_items];
#pragma unroll
                for (int kn_r = 0; kn_r < kn_sorted_items; ++kn_r) {
                    kn_rank[kn_r] = (unsigned short)kn_rank_of_digit(kn_before[kn_warp], (unsigned)(kn_own[kn_r] >> 8 * kn_d) & 255, kn_lane);
                }
                __syncthreads();
                unsigned kn_sum = 0;
#pragma unroll
                for (int kn_w = 0; kn_w < kn_warps; ++kn_w) {
                    const unsigned kn_of_warp = kn_before[kn_w][threadIdx.x];
                    kn_before[kn_w][threadIdx.x] = (unsigned short)kn_sum;
                    kn_sum += kn_of_warp;
                }
                kn_start[threadIdx.x] = kn_sum;
                __syncthreads();
                kn_sums_before(kn_start, kn_warp == 0);
                __syncthreads();
#pragma unroll
                for (int kn_r = 0; kn_r < kn_sorted_items; ++kn_r) {
                    const unsigned kn_digit = (unsigned)(kn_own[kn_r] >> 8 * kn_d) & 255, kn_at = kn_start[kn_digit] + kn_before[kn_warp][kn_digit] + kn_rank[kn_r];
                    kn_held[kn_at] = kn_own[kn_r];
                    kn_number_of[kn_at] = kn_element[kn_r];
                }
                __syncthreads();
#pragma unroll
                for (int kn_r = 0; kn_r < kn_sorted_items; ++kn_r) {
                    kn_own[kn_r] = kn_held[kn_own_begin + kn_r * 32];
                    kn_element[kn_r] = kn_number_of[kn_own_begin + kn_r * 32];
                }
            }
            kn_has_last = kn_there >= kn_wanted;
            kn_there = kn_has_last ? kn_wanted : kn_there;
            kn_last = kn_held[kn_wanted - 1];
            if (kn_step_begin >= kn_count)
                break;
        }
        kn_bits kn_own[kn_items];
        unsigned kn_votes[kn_items], kn_of_warp = 0;
#pragma unroll
        for (int kn_r = 0; kn_r < kn_items; ++kn_r)
            kn_own[kn_r] = kn_next[kn_r];
        if (kn_step_begin + kn_step < kn_count)
            kn_load(kn_step_begin + kn_step);
#pragma unroll
        for (int kn_r = 0; kn_r < kn_items; ++kn_r) {
            const unsigned kn_e = kn_step_begin + kn_begin + kn_r * 32;
            kn_votes[kn_r] = __ballot_sync(0xffffffffu, kn_e < kn_count && (!kn_has_last || kn_own[kn_r] < kn_last));
            kn_of_warp += __popc(kn_votes[kn_r]);
        }
        if (kn_lane == 0)
            kn_entering[kn_turn][kn_warp] = kn_of_warp;
        __syncthreads();
        unsigned kn_at = kn_there;
#pragma unroll
        for (unsigned kn_w = 0; kn_w < kn_warps; ++kn_w) {
            const unsigned kn_of_one = kn_entering[kn_turn][kn_w];
            kn_at += kn_w < kn_warp ? kn_of_one : 0;
            kn_there += kn_of_one;
        }
        if (kn_of_warp > 0)
#pragma unroll
            for (int kn_r = 0; kn_r < kn_items; ++kn_r) {
                const unsigned kn_to = kn_at + __popc(kn_votes[kn_r] & ((1u << kn_lane) - 1));
                if (kn_votes[kn_r] >> kn_lane & 1) {
                    kn_held[kn_to] = kn_own[kn_r];
                    kn_number_of[kn_to] = kn_step_begin + kn_begin + kn_r * 32;
                }
                kn_at += __popc(kn_votes[kn_r]);
            }
    }
    /* Elements are read again, from the cache. */
#pragma unroll 1
    for (unsigned kn_s = threadIdx.x; kn_s < kn_there; kn_s += ${block}) {
        [[maybe_unused]] const unsigned kn_j = kn_number_of[kn_s];
        const ${order} ${row} = kn_row * kn.length + kn_s;
        ${from}
        ${stores}
    }
    ${after_loop}
}
