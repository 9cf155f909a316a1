${head}
${axes}
enum { kn_items = ${items}, kn_of_row = 32 * kn_items, kn_rows = ${block} / 32, kn_has_ties = ${together} /* of elements that differ */ };

/* Both in their order; the lesser one, or the greater one, of two. */
static __device__ __forceinline__ void kn_put_in_order(unsigned &a, unsigned &b) {
    const unsigned lesser = a < b ? a : b;
    b = a < b ? b : a;
    a = lesser;
}
static __device__ __forceinline__ unsigned kn_one_of(const bool greater, const unsigned a, const unsigned b) {
    return (a < b) != greater ? a : b;
}

/* Keys that ascend and then descend become ascending. */
static __device__ __forceinline__ void kn_merge_own(unsigned (&key)[kn_items]) {
#pragma unroll
    for (int by = kn_items / 2; by > 0; by /= 2)
#pragma unroll
        for (int r = 0; r < kn_items; ++r)
            if ((r & by) == 0)
                kn_put_in_order(key[r], key[r + by]);
}
static __device__ __forceinline__ void kn_sort_own(unsigned (&key)[kn_items]) {
#pragma unroll
    for (int run = 2; run <= kn_items; run *= 2) {
#pragma unroll
        for (int r = 0; r < kn_items; ++r)
            if ((r & run / 2) == 0)
                kn_put_in_order(key[r], key[r ^ (run - 1)]);
#pragma unroll
        for (int by = run / 4; by > 0; by /= 2)
#pragma unroll
            for (int r = 0; r < kn_items; ++r)
                if ((r & by) == 0)
                    kn_put_in_order(key[r], key[r + by]);
    }
}
/* A lane has neighbours of the row that is sorted. Sorted runs of half the length that lie side by side are merged: each element meets that which is as far from the middle, then those that are
   ever nearer. (Elements that lie across lanes in the meantime, through shared memory, take longer: 769 us for 728, 2^17 rows of 1,024 float32, H200.) */
static __device__ __forceinline__ void kn_sort_lanes(unsigned (&key)[kn_items], const unsigned lane) {
    kn_sort_own(key);
#pragma unroll 1
    for (unsigned run = 2; run <= 32; run *= 2) {
        const bool is_upper = (lane & run / 2) != 0;
#pragma unroll
        for (int r = 0; r < (kn_items + 1) / 2; ++r) {
            const unsigned far = kn_shuffle<'^'>(key[kn_items - 1 - r], run - 1), near = kn_shuffle<'^'>(key[r], run - 1);
            key[r] = kn_one_of(is_upper, key[r], far);
            if (kn_items > 1)
                key[kn_items - 1 - r] = kn_one_of(is_upper, key[kn_items - 1 - r], near);
        }
#pragma unroll 1
        for (unsigned by = run / 4; by > 0; by /= 2) {
            const bool is_behind = (lane & by) != 0;
#pragma unroll
            for (int r = 0; r < kn_items; ++r)
                key[r] = kn_one_of(is_behind, key[r], kn_shuffle<'^'>(key[r], by));
        }
        kn_merge_own(key);
    }
}

${begin}
    typedef ${type} kn_bits;
    typedef ${first} kn_element;
    __shared__ unsigned kn_sorted_of[kn_rows][32 * (kn_items + 1)]; /* a word is left out behind those of each lane, for the banks' sake */

    const unsigned kn_lane = threadIdx.x % 32, kn_group = threadIdx.x / 32, kn_row = blockIdx.x * kn_rows + kn_group;
    if (kn_row >= kn.rows)
        return;
    unsigned *const kn_sorted = kn_sorted_of[kn_group];
    const long long kn_first = 0;
    const unsigned kn_count = (unsigned)kn.length;
    kn_place kn_here = {};
    ${locate}
    ${pointers}
    unsigned kn_own[kn_items];
    /* Elements of equal keys that differ: -0, and NaN. */
    [[maybe_unused]] bool kn_differs = false;
    constexpr kn_bits kn_minus = (kn_bits)((kn_bits)1 << (8 * sizeof(kn_bits) - 1));
#pragma unroll
    for (int kn_r = 0; kn_r < kn_items; ++kn_r) {
        const unsigned kn_e = kn_r * 32 + kn_lane, kn_j = kn_e < kn_count ? kn_e : 0;
        ${from}
        ${loads}
        ${single}
        kn_own[kn_r] = kn_e < kn_count ? (unsigned)${mapped} : 0xffffffffu;
        if constexpr (kn_has_ties) {
            const kn_element kn_x = ${item};
            kn_differs = kn_differs || kn_x != kn_x || kn_cast_bits<kn_bits>(kn_x) == kn_minus;
        }
    }
    kn_sort_lanes(kn_own, kn_lane);
#pragma unroll
    for (int kn_r = 0; kn_r < kn_items; ++kn_r)
        kn_sorted[kn_lane * (kn_items + 1) + kn_r] = kn_own[kn_r];
    __syncwarp();
#pragma unroll 4
    for (int kn_r = 0; kn_r < kn_items; ++kn_r) {
        const unsigned kn_s = kn_r * 32 + kn_lane;
        if (kn_s >= kn_count)
            break;
        [[maybe_unused]] const unsigned kn_j = kn_s; /* of parameters that nothing reads */
        ${from}
        const kn_element kn_made = kn_sort_value<kn_element, ${down} != 0>(kn_sorted[kn_s + kn_s / kn_items]);
        const ${order} ${row} = kn_row * kn.length + kn_s;
        ${stores}
    }
    /* Where some differ, zeros and NaN are stored once more, as they are and in the order in which they come. */
    if constexpr (kn_has_ties)
        if (__any_sync(0xffffffffu, kn_differs)) {
            const unsigned kn_zero = (unsigned)kn_sort_real<${down} != 0>(kn_cast_bits<kn_element>((kn_bits)0));
            const unsigned kn_none = (unsigned)(kn_bits)~(kn_bits)0, kn_lower = (1u << kn_lane) - 1;
            unsigned kn_zeros = 0, kn_nones = 0;
#pragma unroll 1
            for (int kn_is_put = 0; kn_is_put < 2; ++kn_is_put)
#pragma unroll 1
                for (unsigned kn_b = 0; kn_b < kn_count; kn_b += 32) {
                    const unsigned kn_e = kn_b + kn_lane, kn_j = kn_e < kn_count ? kn_e : 0;
                    ${from}
                    ${loads}
                    ${single}
                    const unsigned kn_key = (unsigned)${mapped};
                    const bool kn_is_there = kn_e < kn_count, kn_is_zero = kn_is_there && kn_key == kn_zero, kn_is_none = kn_is_there && kn_key == kn_none;
                    if (kn_is_put) {
                        const unsigned kn_of_zeros = __ballot_sync(0xffffffffu, kn_is_zero), kn_of_nones = __ballot_sync(0xffffffffu, kn_is_none);
                        const unsigned kn_s = kn_is_zero ? kn_zeros + __popc(kn_of_zeros & kn_lower) : kn_nones + __popc(kn_of_nones & kn_lower);
                        if (kn_is_zero || kn_is_none) {
                            const kn_element kn_made = ${item};
                            const ${order} ${row} = kn_row * kn.length + kn_s;
                            ${stores}
                        }
                        kn_zeros += __popc(kn_of_zeros);
                        kn_nones += __popc(kn_of_nones);
                    } else {
                        kn_zeros += __popc(__ballot_sync(0xffffffffu, kn_is_there && kn_key < kn_zero));
                        kn_nones += __popc(__ballot_sync(0xffffffffu, kn_is_there && kn_key < kn_none));
                    }
                }
        }
    ${after_loop}
}
