${head}
${axes}
/* Elements lie along one axis, or along several; threads share bins by atomic functions, or have their own; each element counts one. */
enum { kn_is_one_axis = ${one_axis}, kn_is_atomic = ${is_atomic}, kn_is_count = ${is_count} };
enum { kn_in_flight = kn_is_one_axis ? 8 : 2 /* loads of a thread before it has any of the elements */, kn_enough = 8 /* copies, with which equal bins seldom wait for each other */ };

extern __shared__ __align__(16) unsigned char kn_buffer[];

${begin}
    typedef ${type} kn_word;
    kn_word *const kn_bins = (kn_word *)kn_buffer, *const kn_of_all = kn.${result}_.first;
    const long long kn_n_bins = kn.${result}_.extents[1];
    const bool kn_is_in_memory = kn_is_atomic && kn_n_bins > kn.shared / (long long)sizeof(kn_word);
    /* Copies of the bins in shared memory: neighbours are copies of one bin, so that threads with different ones never meet in a bank. */
    const unsigned kn_here_bins = kn_is_in_memory ? 0 : (unsigned)kn_n_bins;
    unsigned kn_copies = kn_is_in_memory ? 1 : kn_is_atomic ? 32 : ${block};
    while (kn_copies > 1 && (unsigned long long)kn_here_bins * kn_copies * sizeof(kn_word) > kn.shared)
        kn_copies /= 2;
    /* Threads that have bins. */
    const unsigned kn_threads = kn_is_atomic ? ${block} : kn_copies, kn_copy = threadIdx.x % kn_copies;
    /* The block's part, of as many as there are bins for. */
    const long long kn_parts = kn_is_in_memory ? (long long)gridDim.x : kn.${result}_.extents[0], kn_chunk = (kn.length + kn_parts - 1) / kn_parts;
#pragma unroll 1
    for (long long kn_part = blockIdx.x; kn_part < kn_parts; kn_part += gridDim.x) {
        const long long kn_first = kn_part * kn_chunk, kn_left = kn.length - kn_first;
        const unsigned kn_count = kn_left <= 0 || threadIdx.x >= kn_threads ? 0 : (unsigned)(kn_left < kn_chunk ? kn_left : kn_chunk);
        kn_place kn_here = {};
        ${pointers}
        __syncthreads();
#pragma unroll 1
        for (unsigned kn_k = threadIdx.x; kn_k < kn_here_bins * kn_copies; kn_k += ${block})
            kn_bins[kn_k] = ${identity};
        __syncthreads();

        /* All lanes of a warp go on together, so that they can ask each other. */
#pragma unroll 1
        for (unsigned kn_e = threadIdx.x; kn_e - threadIdx.x % 32 < kn_count; kn_e += kn_threads * kn_in_flight) {
            ${step_packs}
#pragma unroll
            for (int kn_u = 0; kn_u < kn_in_flight; ++kn_u) {
                const unsigned kn_at = kn_e + kn_u * kn_threads, kn_j = kn_at < kn_count ? kn_at : 0; /* what is not there is not loaded */
                ${from}
                ${step_loads}
            }
#pragma unroll
            for (int kn_u = 0; kn_u < kn_in_flight; ++kn_u) {
                const bool kn_is_there = kn_e + kn_u * kn_threads < kn_count;
                [[maybe_unused]] const unsigned kn_j = kn_is_there ? kn_e + kn_u * kn_threads : 0;
                ${from}
                ${loads}
                ${lane}
                bool kn_is_put = kn_is_there && (unsigned long long)${index} < (unsigned long long)kn_n_bins;
                kn_word kn_value = ${mapped};
                if constexpr (kn_is_count) {
                    /* Atomic functions on one word wait for each other: equal bins of a warp are counted together, if its first lane has them. */
                    if (kn_copies < kn_enough) {
                        const unsigned kn_low = (unsigned)${index}, kn_first_low = __shfl_sync(0xffffffffu, kn_low, 0);
                        const bool kn_is_same = kn_is_put && kn_low == kn_first_low && (unsigned long long)${index} >> 32 == 0;
                        const unsigned kn_same = __ballot_sync(0xffffffffu, kn_is_same);
                        kn_is_put = kn_is_put && (!kn_is_same || (kn_same & ((1u << threadIdx.x % 32) - 1)) == 0);
                        kn_value = kn_is_same ? __popc(kn_same) : 1;
                    }
                }
                if (kn_is_put) {
                    const unsigned long long kn_at = kn_is_in_memory ? (unsigned long long)${index} : (unsigned)${index} * kn_copies + kn_copy;
                    ${tally}
                }
            }
        }
        __syncthreads();

        /* The copies of a bin, of which each thread begins with another one. */
#pragma unroll 1
        for (unsigned kn_b = threadIdx.x; kn_b < kn_here_bins; kn_b += ${block}) {
            kn_word kn_sum = kn_bins[kn_b * kn_copies + kn_b % kn_copies];
#pragma unroll 1
            for (unsigned kn_c = 1; kn_c < kn_copies; ++kn_c)
                kn_sum = ${reduce}(kn_sum, kn_bins[kn_b * kn_copies + (kn_b + kn_c) % kn_copies]);
            kn_of_all[kn_part * kn_n_bins + kn_b] = kn_sum;
        }
    }
    ${after_loop}
}
