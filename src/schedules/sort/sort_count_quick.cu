${head}
${axes}
enum { kn_digits = ${depth} };

${begin}
    typedef ${type} kn_word;
    __shared__ unsigned kn_counts[kn_digits * 256];

    const unsigned kn_row = (unsigned)(blockIdx.x / kn.tiles);
    const long long kn_first = (long long)(blockIdx.x - kn_row * kn.tiles) * kn.of_block;
    const unsigned kn_count = kn.length - kn_first < kn.of_block ? (unsigned)(kn.length - kn_first) : kn.of_block;
    kn_place kn_here = {};
    ${locate}
    ${pointers}
#pragma unroll 1
    for (unsigned kn_k = threadIdx.x; kn_k < kn_digits * 256; kn_k += ${block})
        kn_counts[kn_k] = 0;
    __syncthreads();
#pragma unroll 1
    for (unsigned kn_j = threadIdx.x; kn_j < kn_count; kn_j += ${block}) {
        ${from}
        ${loads}
        ${single}
        ${counted}
#pragma unroll 1
        for (int kn_d = 0; kn_d < kn_digits; ++kn_d)
            atomicAdd(&kn_counts[kn_d * 256 + ((unsigned)(${mapped} >> 8 * kn_d) & 255)], 1u);
        ${stores}
    }
    __syncthreads();
#pragma unroll 1
    for (unsigned kn_k = threadIdx.x; kn_k < kn_digits * 256; kn_k += ${block})
        atomicAdd(&kn.${result}_.first[((unsigned long long)(kn_k / 256) * kn.rows + kn_row) * 256 + kn_k % 256], (kn_word)kn_counts[kn_k]);
    ${after_loop}
}
