${head}
${axes}
/* Elements that a thread loads before it counts any. Each counter has copies side by side for different lanes, which would meet at its bank more often else. */
enum { kn_items = 8, kn_digits = ${depth}, kn_copies = ${wide}, kn_vectors = kn_digits * 256 * kn_copies / 4 };
enum { kn_counter_bits = kn_copies == 4 ? 4 : kn_copies == 8 ? 5 : kn_copies == 16 ? 6 : 7 /* of the number of bytes that a counter's copies have */ };
extern __shared__ __align__(16) unsigned char kn_buffer[];

${begin}
    typedef ${type} kn_word;
    typedef unsigned kn_copies_of[kn_copies];
    kn_copies_of *const kn_counts = reinterpret_cast<kn_copies_of *>(kn_buffer);

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
    unsigned char *const kn_digit_counts = kn_buffer;
    const unsigned kn_copy = threadIdx.x % kn_copies * 4;
    const auto kn_load = [&](const int kn_r, const int kn_j) {
        ${from}
        ${step_loads}
    };
    const auto kn_count_one = [&](const int kn_r, const int kn_j) {
        ${from}
        ${loads}
        ${single}
        ${counted}
#pragma unroll
        for (int kn_d = 0; kn_d < kn_digits; ++kn_d) {
            /* Where the digit's counter lies, by one shift and one choice of bits. */
            const unsigned kn_at = 8 * kn_d < kn_counter_bits ? (unsigned)${mapped} << (kn_counter_bits - 8 * kn_d) : (unsigned)(${mapped} >> (8 * kn_d - kn_counter_bits));
            atomicAdd(reinterpret_cast<unsigned *>(kn_digit_counts + kn_d * (256 << kn_counter_bits) + (kn_at & 255u << kn_counter_bits | kn_copy)), 1u);
        }
        ${stores}
    };
    unsigned kn_b = 0;
#pragma unroll 1
    for (; kn_b + kn_items * ${block} <= kn_count; kn_b += kn_items * ${block}) {
#pragma unroll
        for (int kn_r = 0; kn_r < kn_items; ++kn_r)
            kn_load(kn_r, (int)(kn_b + threadIdx.x) + kn_r * ${block});
#pragma unroll
        for (int kn_r = 0; kn_r < kn_items; ++kn_r)
            kn_count_one(kn_r, (int)(kn_b + threadIdx.x) + kn_r * ${block});
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
            const uint4 kn_some = *reinterpret_cast<const uint4 *>(&kn_counts[kn_k][(kn_c + 4 * kn_k) % kn_copies]); /* each thread begins with another one, in other banks */
            kn_sum += kn_some.x + kn_some.y + kn_some.z + kn_some.w;
        }
        if (kn_sum != 0)
            atomicAdd(&kn.${result}_.first[((unsigned long long)(kn_k / 256) * kn.rows + kn_row) * 256 + kn_k % 256], (kn_word)kn_sum);
    }
    ${after_loop}
}
