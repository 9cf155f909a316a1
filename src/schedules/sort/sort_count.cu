${head}
${axes}
/* Elements that a thread loads before it counts any. Each counter has copies side by side for different lanes, which would meet at its bank more often else. */
enum { kn_items = 8, kn_digits = ${depth}, kn_copies = kn_digits > 4 ? 4 : 8, kn_vectors = kn_digits * 256 * kn_copies / 4 };

${begin}
    typedef ${type} kn_word;
    __shared__ __align__(16) unsigned kn_counts[kn_digits * 256][kn_copies];

    const unsigned kn_row = (unsigned)(blockIdx.x / kn.tiles);
    const long long kn_first = (long long)(blockIdx.x - kn_row * kn.tiles) * kn.of_block;
    const unsigned kn_count = kn.length - kn_first < kn.of_block ? (unsigned)(kn.length - kn_first) : kn.of_block;
    kn_place kn_here = {};
    ${locate}
    ${pointers}
#pragma unroll 1
    for (unsigned kn_k = threadIdx.x; kn_k < kn_vectors; kn_k += ${block})
        reinterpret_cast<uint4 *>(kn_counts)[kn_k] = uint4{0, 0, 0, 0};
    __syncthreads();
    ${step_packs}
    const auto kn_load = [&](const int kn_r, const unsigned kn_j) {
        ${from}
        ${step_loads}
    };
    const auto kn_count_one = [&](const int kn_r, const unsigned kn_j) {
        ${from}
        ${loads}
        ${single}
        ${counted}
#pragma unroll
        for (int kn_d = 0; kn_d < kn_digits; ++kn_d)
            atomicAdd(&kn_counts[kn_d * 256 + ((unsigned)(${mapped} >> 8 * kn_d) & 255)][threadIdx.x % kn_copies], 1u);
        ${stores}
    };
    unsigned kn_b = 0;
#pragma unroll 1
    for (; kn_b + kn_items * ${block} <= kn_count; kn_b += kn_items * ${block}) {
#pragma unroll
        for (int kn_r = 0; kn_r < kn_items; ++kn_r)
            kn_load(kn_r, kn_b + kn_r * ${block} + threadIdx.x);
#pragma unroll
        for (int kn_r = 0; kn_r < kn_items; ++kn_r)
            kn_count_one(kn_r, kn_b + kn_r * ${block} + threadIdx.x);
    }
#pragma unroll 1
    for (kn_b += threadIdx.x; kn_b < kn_count; kn_b += ${block}) {
        kn_load(0, kn_b);
        kn_count_one(0, kn_b);
    }
    __syncthreads();
#pragma unroll 1
    for (unsigned kn_k = threadIdx.x; kn_k < kn_digits * 256; kn_k += ${block}) {
        unsigned kn_sum = 0;
#pragma unroll
        for (int kn_c = 0; kn_c < kn_copies; kn_c += 4) {
            const uint4 kn_some = *reinterpret_cast<const uint4 *>(&kn_counts[kn_k][kn_c]);
            kn_sum += kn_some.x + kn_some.y + kn_some.z + kn_some.w;
        }
        if (kn_sum != 0)
            atomicAdd(&kn.${result}_.first[((unsigned long long)(kn_k / 256) * kn.rows + kn_row) * 256 + kn_k % 256], (kn_word)kn_sum);
    }
    ${after_loop}
}
