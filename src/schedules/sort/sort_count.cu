${head}
${axes}
enum { kn_digits = ${depth}, kn_of_block = ${block} * 64 };

${begin}
    typedef ${type} kn_word;
    __shared__ unsigned kn_counts[kn_digits * 256];

    const unsigned kn_row = (unsigned)(blockIdx.x / kn.tiles);
    const long long kn_first = (long long)(blockIdx.x - kn_row * kn.tiles) * kn_of_block;
    const unsigned kn_count = kn.length - kn_first < kn_of_block ? (unsigned)(kn.length - kn_first) : kn_of_block;
    kn_place kn_here = {};
    ${locate}
    ${pointers}
#pragma unroll 1
    for (unsigned kn_k = threadIdx.x; kn_k < kn_digits * 256; kn_k += ${block})
        kn_counts[kn_k] = 0;
    __syncthreads();
    /* All lanes of a warp go on together, so that they can ask each other. */
#pragma unroll 1
    for (unsigned kn_e = threadIdx.x; kn_e - threadIdx.x % 32 < kn_count; kn_e += ${block}) {
        const bool kn_is_there = kn_e < kn_count;
        const unsigned kn_j = kn_is_there ? kn_e : 0;
        ${from}
        ${loads}
        ${single}
#pragma unroll
        for (int kn_d = 0; kn_d < kn_digits; ++kn_d) {
            const unsigned kn_digit = (unsigned)(${mapped} >> 8 * kn_d) & 255;
            /* Upper digits are the same ones often, and atomics on one word wait for each other. */
            const unsigned kn_first_digit = __shfl_sync(0xffffffffu, kn_digit, 0);
            const unsigned kn_same = __ballot_sync(0xffffffffu, kn_is_there && kn_digit == kn_first_digit);
            if (kn_is_there && kn_digit != kn_first_digit)
                atomicAdd(&kn_counts[kn_d * 256 + kn_digit], 1u);
            if (kn_same != 0 && threadIdx.x % 32 == 0)
                atomicAdd(&kn_counts[kn_d * 256 + kn_first_digit], (unsigned)__popc(kn_same));
        }
        if (kn_is_there) {
            ${stores}
        }
    }
    __syncthreads();
#pragma unroll 1
    for (unsigned kn_k = threadIdx.x; kn_k < kn_digits * 256; kn_k += ${block})
        if (kn_counts[kn_k] != 0)
            atomicAdd(&kn.${result}_.first[((unsigned long long)(kn_k / 256) * kn.rows + kn_row) * 256 + kn_k % 256], (kn_word)kn_counts[kn_k]);
    ${after_loop}
}
