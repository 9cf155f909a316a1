${head}
${axes}
/* Elements of a thread whose loads it waits for together, and between two looks at the bins. */
enum { kn_in_flight = 8, kn_turn = ${depth}, kn_full = 0x8000 };
static_assert(${block} * kn_turn <= kn_full, "no half is exceeded between two looks");

extern __shared__ __align__(16) unsigned char kn_buffer[];

/* The upper bits of halves are brought to the bins in memory, which are no other block's. */
template <class Word> static __device__ __forceinline__ void kn_bring(unsigned &halves, Word *bins, const long long n_bins, const long long first) {
#pragma unroll
    for (int k = 0; k < 2; ++k)
        if ((halves & kn_full << 16 * k) != 0 && first + k < n_bins)
            bins[first + k] += kn_full;
    halves &= 0x7fff7fffu;
}

${begin}
    typedef ${type} kn_word;
    uint4 *const kn_vectors = reinterpret_cast<uint4 *>(kn_buffer);
    unsigned *const kn_halves = reinterpret_cast<unsigned *>(kn_buffer); /* of two bins each */
    const long long kn_n_bins = kn.${result}_.extents[1], kn_parts = kn.${result}_.extents[0], kn_chunk = (kn.length + kn_parts - 1) / kn_parts;
    const unsigned kn_n_vectors = (unsigned)((kn_n_bins + 7) / 8);
    kn_place kn_here = {};
#pragma unroll 1
    for (long long kn_part = blockIdx.x; kn_part < kn_parts; kn_part += gridDim.x) {
        const long long kn_first = kn_part * kn_chunk, kn_left = kn.length - kn_first;
        const unsigned kn_count = kn_left <= 0 ? 0 : (unsigned)(kn_left < kn_chunk ? kn_left : kn_chunk);
        kn_word *const kn_of_part = kn.${result}_.first + kn_part * kn_n_bins;
        ${pointers}
        bool kn_is_brought = false;
#pragma unroll 1
        for (unsigned kn_k = threadIdx.x; kn_k < kn_n_vectors; kn_k += ${block})
            kn_vectors[kn_k] = uint4{0, 0, 0, 0};
        __syncthreads();
#pragma unroll 1
        for (unsigned kn_done = 0; kn_done < kn_count;) {
#pragma unroll 1
            for (int kn_t = 0; kn_t < kn_turn && kn_done < kn_count; kn_t += kn_in_flight, kn_done += ${block} * kn_in_flight) {
                ${step_packs}
                const unsigned kn_e = kn_done + threadIdx.x;
                const bool kn_are_there = kn_done + ${block} * kn_in_flight <= kn_count;
#pragma unroll
                for (int kn_u = 0; kn_u < kn_in_flight; ++kn_u) {
                    const unsigned kn_at = kn_e + kn_u * ${block}, kn_j = kn_are_there || kn_at < kn_count ? kn_at : 0;
                    ${from}
                    ${step_loads}
                }
#pragma unroll
                for (int kn_u = 0; kn_u < kn_in_flight; ++kn_u) {
                    [[maybe_unused]] const unsigned kn_at = kn_e + kn_u * ${block}, kn_j = kn_are_there || kn_at < kn_count ? kn_at : 0;
                    ${from}
                    ${loads}
                    ${lane}
                    const unsigned long long kn_of = (unsigned long long)${index};
                    if (kn_of < (unsigned long long)kn_n_bins && (kn_are_there || kn_at < kn_count))
                        atomicAdd(&kn_halves[(unsigned)kn_of / 2], 1u << 16 * ((unsigned)kn_of & 1));
                }
            }
            __syncthreads();
            unsigned kn_bits = 0;
#pragma unroll 4
            for (unsigned kn_k = threadIdx.x; kn_k < kn_n_vectors; kn_k += ${block}) {
                const uint4 kn_some = kn_vectors[kn_k];
                kn_bits |= kn_some.x | kn_some.y | kn_some.z | kn_some.w;
            }
            if (!__syncthreads_or((kn_bits & 0x80008000u) != 0))
                continue;
#pragma unroll 1
            for (unsigned kn_k = threadIdx.x; kn_k < kn_n_vectors; kn_k += ${block}) {
                const long long kn_bin = 8ll * kn_k;
#pragma unroll 1
                for (long long kn_b = kn_bin; !kn_is_brought && kn_b < kn_bin + 8 && kn_b < kn_n_bins; ++kn_b)
                    kn_of_part[kn_b] = 0;
#pragma unroll 1
                for (int kn_h = 0; kn_h < 4; ++kn_h)
                    kn_bring(kn_halves[4 * kn_k + kn_h], kn_of_part, kn_n_bins, kn_bin + 2 * kn_h);
            }
            kn_is_brought = true;
            __syncthreads();
        }
        /* A thread has the bins that it has brought to memory. */
#pragma unroll 1
        for (unsigned kn_k = threadIdx.x; kn_k < kn_n_vectors; kn_k += ${block}) {
            const uint4 kn_some = kn_vectors[kn_k];
            const unsigned kn_of_four[4] = {kn_some.x, kn_some.y, kn_some.z, kn_some.w};
#pragma unroll
            for (int kn_h = 0; kn_h < 8; ++kn_h) {
                const long long kn_b = 8ll * kn_k + kn_h;
                if (kn_b < kn_n_bins)
                    kn_of_part[kn_b] = (kn_is_brought ? kn_of_part[kn_b] : 0) + (kn_of_four[kn_h / 2] >> 16 * (kn_h & 1) & 0xffff);
            }
        }
        __syncthreads();
        ${after_loop}
    }
}
