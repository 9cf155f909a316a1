${head}
${axes}
enum { kn_items = ${items}, kn_threads = ${row_threads}, kn_of_row = kn_threads * kn_items, kn_warps = kn_threads / 32, kn_digits = ${depth}, kn_rows = ${block} / kn_threads }; /* of a row; rows of a block */

/* Those that share a row wait for each other. */
__device__ __forceinline__ void kn_meet_row() {
    if constexpr (kn_threads == 32)
        __syncwarp();
    else
        __syncthreads();
}

${begin}
    typedef ${type} kn_bits;
    __shared__ unsigned short kn_counts[kn_rows][kn_warps][256]; /* elements of a digit: those of a warp, then those of the warps before it */
    __shared__ unsigned kn_starts[kn_rows][256];                 /* of the row's elements with lesser digits */
    __shared__ kn_bits kn_held_of[kn_rows][kn_of_row];
    __shared__ unsigned short kn_numbers_of[kn_rows][kn_of_row];

    const unsigned kn_t = threadIdx.x % kn_threads, kn_group = threadIdx.x / kn_threads, kn_row = blockIdx.x * kn_rows + kn_group;
    const unsigned kn_lane = threadIdx.x % 32, kn_warp = kn_t / 32, kn_begin = kn_warp * 32 * kn_items + kn_lane;
    if (kn_rows > 1 && kn_row >= kn.rows)
        return;
    unsigned short (*const kn_before)[256] = kn_counts[kn_group];
    unsigned *const kn_start = kn_starts[kn_group];
    kn_bits *const kn_held = kn_held_of[kn_group];
    unsigned short *const kn_number_of = kn_numbers_of[kn_group];
    const long long kn_first = 0;
    const unsigned kn_count = (unsigned)kn.length;
    kn_place kn_here = {};
    ${locate}
    ${pointers}
    kn_bits kn_own[kn_items];
    unsigned short kn_element[kn_items];
    /* Elements that are not there have the last key of all, and come behind those that have it too. */
#pragma unroll
    for (int kn_r = 0; kn_r < kn_items; ++kn_r) {
        const unsigned kn_e = kn_begin + kn_r * 32, kn_j = kn_e < kn_count ? kn_e : 0;
        ${from}
        ${loads}
        ${single}
        kn_own[kn_r] = kn_e < kn_count ? ${mapped} : (kn_bits)~(kn_bits)0;
        kn_element[kn_r] = (unsigned short)kn_e;
    }
#pragma unroll 1
    for (int kn_d = 0; kn_d < kn_digits; ++kn_d) {
#pragma unroll
        for (unsigned kn_k = 0; kn_k < 4; ++kn_k)
            reinterpret_cast<unsigned *>(kn_before[kn_warp])[kn_k * 32 + kn_lane] = 0;
        __syncwarp();
        /* The rank of an element among those of its digit that its warp has. */
        unsigned short kn_rank[kn_items];
#pragma unroll
        for (int kn_r = 0; kn_r < kn_items; ++kn_r) {
            kn_rank[kn_r] = (unsigned short)kn_rank_of_digit(kn_before[kn_warp], (unsigned)(kn_own[kn_r] >> 8 * kn_d) & 255, kn_lane);
        }
        kn_meet_row();
#pragma unroll 1
        for (unsigned kn_k = kn_t; kn_k < 256; kn_k += kn_threads) {
            unsigned kn_sum = 0;
#pragma unroll
            for (int kn_w = 0; kn_w < kn_warps; ++kn_w) {
                const unsigned kn_of_warp = kn_before[kn_w][kn_k];
                kn_before[kn_w][kn_k] = (unsigned short)kn_sum;
                kn_sum += kn_of_warp;
            }
            kn_start[kn_k] = kn_sum;
        }
        kn_meet_row();
        kn_sums_before(kn_start, kn_warp == 0);
        kn_meet_row();
#pragma unroll
        for (int kn_r = 0; kn_r < kn_items; ++kn_r) {
            const unsigned kn_digit = (unsigned)(kn_own[kn_r] >> 8 * kn_d) & 255, kn_at = kn_start[kn_digit] + kn_before[kn_warp][kn_digit] + kn_rank[kn_r];
            kn_held[kn_at] = kn_own[kn_r];
            kn_number_of[kn_at] = kn_element[kn_r];
        }
        kn_meet_row();
#pragma unroll
        for (int kn_r = 0; kn_r < kn_items; ++kn_r) {
            kn_own[kn_r] = kn_held[kn_begin + kn_r * 32];
            kn_element[kn_r] = kn_number_of[kn_begin + kn_r * 32];
        }
    }
    /* Neighbours of the sorted row: elements are read again, from the cache. */
#pragma unroll 4
    for (int kn_r = 0; kn_r < kn_items; ++kn_r) {
        const unsigned kn_s = kn_r * kn_threads + kn_t;
        if (kn_s >= kn_count)
            break;
        [[maybe_unused]] const unsigned kn_j = kn_number_of[kn_s];
        const ${order} ${row} = kn_row * kn.length + kn_s;
        ${from}
        ${stores}
    }
    ${after_loop}
}
