${head}
${axes}
/* Elements of a thread in a step; those that come first so far, and newer ones, lie in shared memory, of which each thread sorts some. There are at most
 * kn_many before they are sorted. */
enum { kn_items = ${items}, kn_warps = ${block} / 32, kn_step = ${block} * kn_items, kn_capacity = 2048, kn_sorted_items = kn_capacity / ${block}, kn_digits = ${depth},
       kn_wanted = ${wanted}, kn_many = kn_wanted > 128 ? 2 * kn_wanted + 256 : kn_wanted + 128 };

static_assert(kn_many + 32 * kn_items <= kn_capacity, "the elements of a warp have space");

${begin}
    typedef ${type} kn_bits;
    __shared__ unsigned short kn_before[kn_warps][256]; /* elements of a digit: those of a warp, then those of the warps before it */
    __shared__ unsigned kn_start[256];                  /* of the elements with lesser digits */
    __shared__ kn_bits kn_held[kn_capacity];
    __shared__ unsigned kn_number_of[kn_capacity];
    __shared__ unsigned kn_entering[2][kn_warps]; /* elements of this turn, and of the one before, by warp */
    __shared__ bool kn_is_alike[kn_digits];       /* all elements have this digit in common */

    const unsigned kn_lane = threadIdx.x % 32, kn_warp = threadIdx.x / 32, kn_begin = kn_warp * 32 * kn_items + kn_lane, kn_row = blockIdx.x;
    const long long kn_first = 0;
    const unsigned kn_count = (unsigned)kn.length;
    kn_place kn_here = {};
    ${locate}
    ${pointers}

    /* Elements enter behind those that are there, in their order, unless enough have lesser keys. Those whose key is the last one's so far come behind it. The least elements of
     * threads are sorted first: of few that are wanted they say a key that enough of the first step have at most. */
    const auto kn_key_of = [&](const long long kn_j) {
        ${from}
        ${loads}
        ${single}
        return (kn_bits)(${mapped});
    };
    kn_bits kn_most = (kn_bits)~(kn_bits)0; /* the greatest key that enters */
    unsigned kn_there = 0, kn_step_begin = 0, kn_from_warp = 0;
    bool kn_are_enough = false, kn_are_least = kn_wanted <= 128, kn_is_full = false;
#pragma unroll 1
    for (unsigned kn_turn = 0;; kn_turn ^= 1) {
        if (kn_is_full) {
            kn_is_full = false;
            kn_bits kn_sorted[kn_sorted_items];
            unsigned kn_element[kn_sorted_items];
            const unsigned kn_each = (kn_there + ${block} - 1) / ${block}, kn_sorted_begin = kn_warp * 32 * kn_each + kn_lane;
            if (threadIdx.x < kn_digits)
                kn_is_alike[threadIdx.x] = false;
            __syncthreads();
#pragma unroll
            for (unsigned kn_r = 0; kn_r < kn_sorted_items; ++kn_r)
                if (kn_r < kn_each) {
                    const unsigned kn_s = kn_sorted_begin + kn_r * 32;
                    kn_sorted[kn_r] = kn_s < kn_there ? kn_held[kn_s] : (kn_bits)~(kn_bits)0;
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
                for (unsigned kn_r = 0; kn_r < kn_sorted_items; ++kn_r)
                    if (kn_r < kn_each)
                        kn_rank[kn_r] = (unsigned short)kn_rank_of_digit(kn_before[kn_warp], (unsigned)(kn_sorted[kn_r] >> 8 * kn_d) & 255, kn_lane);
                __syncthreads();
                unsigned kn_sum = 0;
#pragma unroll
                for (int kn_w = 0; kn_w < kn_warps; ++kn_w) {
                    const unsigned kn_of_warp = kn_before[kn_w][threadIdx.x];
                    kn_before[kn_w][threadIdx.x] = (unsigned short)kn_sum;
                    kn_sum += kn_of_warp;
                }
                kn_start[threadIdx.x] = kn_sum;
                if (kn_sum - (threadIdx.x == 255 ? kn_each * ${block} - kn_there : 0) == kn_there)
                    kn_is_alike[kn_d] = true;
                __syncthreads();
                if (kn_is_alike[kn_d])
                    continue;
                kn_sums_before(kn_start, kn_warp == 0);
                __syncthreads();
#pragma unroll
                for (unsigned kn_r = 0; kn_r < kn_sorted_items; ++kn_r)
                    if (kn_r < kn_each) {
                        const unsigned kn_digit = (unsigned)(kn_sorted[kn_r] >> 8 * kn_d) & 255, kn_at = kn_start[kn_digit] + kn_before[kn_warp][kn_digit] + kn_rank[kn_r];
                        kn_held[kn_at] = kn_sorted[kn_r];
                        kn_number_of[kn_at] = kn_element[kn_r];
                    }
                __syncthreads();
#pragma unroll
                for (unsigned kn_r = 0; kn_r < kn_sorted_items; ++kn_r)
                    if (kn_r < kn_each) {
                        kn_sorted[kn_r] = kn_held[kn_sorted_begin + kn_r * 32];
                        kn_element[kn_r] = kn_number_of[kn_sorted_begin + kn_r * 32];
                    }
            }
            const kn_bits kn_last = kn_held[kn_wanted - 1];
            if (kn_are_least) { /* none of them entered; elements of that key do */
                kn_are_least = false;
                kn_there = 0;
                kn_most = kn_last;
            } else if (kn_there >= kn_wanted) {
                kn_there = kn_wanted;
                kn_are_enough = kn_last == 0;
                kn_most = (kn_bits)(kn_last - 1);
            }
            if (kn_step_begin >= kn_count)
                break;
        }
        kn_bits kn_own[kn_items];
        const long long kn_start_of_own = kn_step_begin + kn_begin; /* those of a step that goes on are read again */
        if (kn_step_begin + kn_step <= kn_count) {
#pragma unroll
            for (int kn_r = 0; kn_r < kn_items; ++kn_r)
                kn_own[kn_r] = kn_key_of(kn_start_of_own + kn_r * 32);
        } else {
#pragma unroll
            for (int kn_r = 0; kn_r < kn_items; ++kn_r)
                kn_own[kn_r] = kn_key_of(kn_start_of_own + kn_r * 32 < kn_count ? kn_start_of_own + kn_r * 32 : 0);
        }
        if (kn_are_least) { /* rows are no shorter than a step */
            kn_bits kn_least = kn_own[0];
#pragma unroll
            for (int kn_r = 1; kn_r < kn_items; ++kn_r)
                kn_least = kn_own[kn_r] < kn_least ? kn_own[kn_r] : kn_least;
            kn_held[threadIdx.x] = kn_least;
            kn_number_of[threadIdx.x] = 0;
            kn_there = ${block};
            kn_is_full = true;
            continue;
        }
        const int kn_left = kn_are_enough ? 0 : (int)(kn_count - kn_step_begin) - (int)kn_begin;
        const auto kn_vote = [&](const int kn_r) { return __ballot_sync(0xffffffffu, kn_r * 32 < kn_left && kn_own[kn_r] <= kn_most); };
        unsigned kn_of_warp = 0;
        if (kn_warp >= kn_from_warp)
#pragma unroll
            for (int kn_r = 0; kn_r < kn_items; ++kn_r)
                kn_of_warp += __popc(kn_vote(kn_r));
        if (kn_lane == 0)
            kn_entering[kn_turn][kn_warp] = kn_of_warp;
        __syncthreads();
        /* The warps from one on wait where there is no space for all. */
        unsigned kn_at = kn_there, kn_next_warp = 0;
#pragma unroll
        for (unsigned kn_w = 0; kn_w < kn_warps; ++kn_w) {
            const unsigned kn_of_one = kn_entering[kn_turn][kn_w];
            if (kn_next_warp == kn_w && kn_there + kn_of_one <= kn_capacity) {
                kn_at += kn_w < kn_warp ? kn_of_one : 0;
                kn_there += kn_of_one;
                ++kn_next_warp;
            }
        }
        if (kn_of_warp > 0 && kn_warp < kn_next_warp)
#pragma unroll
            for (int kn_r = 0; kn_r < kn_items; ++kn_r) {
                const unsigned kn_votes = kn_vote(kn_r);
                if (!kn_votes)
                    continue;
                const unsigned kn_to = kn_at + __popc(kn_votes & ((1u << kn_lane) - 1));
                if (kn_votes >> kn_lane & 1) {
                    kn_held[kn_to] = kn_own[kn_r];
                    kn_number_of[kn_to] = kn_step_begin + kn_begin + kn_r * 32;
                }
                kn_at += __popc(kn_votes);
            }
        kn_from_warp = kn_next_warp % kn_warps;
        if (kn_from_warp == 0)
            kn_step_begin = kn_count - kn_step_begin > kn_step ? kn_step_begin + kn_step : kn_count;
        kn_is_full = kn_from_warp > 0 || kn_there > kn_many || kn_step_begin >= kn_count;
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
