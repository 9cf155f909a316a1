${head}
${axes}
/* Elements lie along one axis, or along several; threads share bins by atomic functions, or threads or warps have their own; each element counts one, or is added. */
enum { kn_is_one_axis = ${one_axis}, kn_is_atomic = ${is_atomic}, kn_is_count = ${is_count}, kn_is_sum = ${is_sum}, kn_reads_bins = ${together} };
enum { kn_in_flight = kn_is_one_axis ? ${depth} : 2 /* loads of a thread before it has any of the elements */, kn_enough = 8 /* copies, with which equal bins seldom wait for each other */, kn_warps = ${block} / 32 };
enum { kn_wide = ${wide} /* elements that a thread loads at a time */ };
static_assert(kn_in_flight % kn_wide == 0, "whole vectors");

enum { kn_many = 8 /* lanes with one bin, whose values are added before */, kn_rounds = 8 /* that are careful after two lanes had one bin */ };

extern __shared__ __align__(16) unsigned char kn_buffer[];

/* In shared memory atomic functions are of 32 bits: a carry goes to the upper half, which most small numbers leave as it is. */
[[maybe_unused]] static __device__ __forceinline__ void kn_add_halves(unsigned long long *to, unsigned long long x) {
    unsigned *const half = reinterpret_cast<unsigned *>(to);
    const unsigned low = (unsigned)x, upper = (unsigned)(x >> 32) + (atomicAdd(half, low) + low < low);
    if (upper != 0)
        atomicAdd(half + 1, upper);
}

${begin}
    typedef ${type} kn_word;
    kn_word *const kn_bins = (kn_word *)kn_buffer, *const kn_of_all = kn.${result}_.first;
    const long long kn_n_bins = kn.${result}_.extents[1];
    /* Words of shared memory; bins that a block has there at a time: its elements are read again for each such range of bins, a few times. */
    const unsigned kn_words = kn.shared / (unsigned)sizeof(kn_word), kn_at_a_time = kn_words / (kn_is_atomic ? 1 : kn_warps);
    const bool kn_is_in_memory = kn_is_atomic && kn_n_bins > (long long)kn_at_a_time * kn.ranges;
    const unsigned long long kn_most = kn_n_bins < kn_at_a_time ? kn_n_bins : kn_at_a_time;
    /* Copies of the bins, one for each thread or warp; of those that threads share, as many as fit, up to one for each lane. */
    const bool kn_is_by_warps = !kn_is_atomic && kn_most * ${block} > kn_words;
    unsigned kn_copies = kn_is_in_memory ? 1 : kn_is_atomic ? 32 : kn_is_by_warps ? kn_warps : ${block};
    while (kn_is_atomic && kn_copies > 1 && kn_most * kn_copies > kn_words)
        kn_copies /= 2;
    /* Neighbours are copies of one bin, so that threads with different ones never meet in a bank; those of warps lie apart. */
    const unsigned kn_copy = kn_is_by_warps ? threadIdx.x / 32 * (unsigned)kn_most : threadIdx.x % kn_copies;
    const unsigned kn_copy_step = kn_is_by_warps ? (unsigned)kn_most : 1, kn_bin_step = kn_is_by_warps ? 1 : kn_copies;
    /* The block's part, of as many as there are bins for. */
    const long long kn_parts = kn_is_in_memory ? (long long)gridDim.x : kn.${result}_.extents[0], kn_chunk = (kn.length + kn_parts - 1) / kn_parts;
    /* Atomic functions in memory on different words are sooner done than any question before them. Two lanes of a warp with one bin say that many elements have it: then it is asked. */
    [[maybe_unused]] unsigned kn_careful = kn_is_in_memory ? 0 : 1;
    /* Whole numbers whose bins are in shared memory at once, with enough copies unless they are counts, which do not wait for equal ones there: all that is asked of an element is whether it has a bin. */
    constexpr bool kn_can_be_plain = kn_is_atomic && (kn_is_count || kn_is_sum) && (kn_word)0.5f == (kn_word)0;
    [[maybe_unused]] const bool kn_is_plain = kn_can_be_plain && kn_n_bins <= kn_at_a_time && (kn_is_count || kn_copies >= kn_enough);
    kn_place kn_here = {};
#pragma unroll 1
    for (long long kn_part = blockIdx.x; kn_part < kn_parts; kn_part += gridDim.x) {
        const long long kn_first = kn_part * kn_chunk, kn_left = kn.length - kn_first;
        const unsigned kn_count = kn_left <= 0 ? 0 : (unsigned)(kn_left < kn_chunk ? kn_left : kn_chunk);
        ${pointers}
        /* Elements before the first address at which vectors lie; whether those of all operands begin there. */
        const unsigned kn_before = ${first};
        const unsigned kn_lead = kn_count < (kn_wide - kn_before) % kn_wide ? kn_count : (kn_wide - kn_before) % kn_wide;
        [[maybe_unused]] const bool kn_is_alike = kn_wide > 1${unaligned};
#pragma unroll 1
        for (long long kn_low = 0; kn_low < kn_n_bins; kn_low += kn_is_in_memory ? kn_n_bins : kn_at_a_time) {
            /* Bins from kn_low on; indices of those in shared memory fit 32 bits. */
            const unsigned long long kn_range = kn_is_in_memory ? (unsigned long long)kn_n_bins : kn_n_bins - kn_low < kn_at_a_time ? (unsigned long long)(kn_n_bins - kn_low) : kn_at_a_time;
            const unsigned kn_shared_bins = kn_is_in_memory ? 0 : (unsigned)kn_range;
            [[maybe_unused]] const unsigned kn_bits = 32 - __clz((unsigned)kn_range - 1);
            __syncthreads();
#pragma unroll 1
            for (unsigned kn_k = threadIdx.x; kn_k < (kn_is_in_memory ? 0 : (unsigned)kn_most * kn_copies); kn_k += ${block})
                kn_bins[kn_k] = ${identity};
            __syncthreads();

            /* So many elements from kn_e on, vectors that lie ${block} apart, which are there; of one alone it is asked. */
            const auto kn_round = [&](const auto kn_elements, const unsigned kn_e, const unsigned kn_end) {
                constexpr bool kn_is_full = kn_elements.value > 1;
                constexpr int kn_step = kn_is_full ? kn_wide : 1;
                const auto kn_number_of = [&](const int kn_u) {
                    const unsigned kn_at = kn_e + kn_u / kn_step * (${block} * kn_step) + kn_u % kn_step;
                    return kn_is_full || kn_at < kn_end ? kn_at : 0; /* what is not there is not loaded */
                };
                ${step_packs}
#pragma unroll
                for (int kn_u = 0; kn_u < kn_elements.value; kn_u += kn_step) {
                    if constexpr (kn_step > 1) {
                        if (kn_is_alike) {
                            const unsigned kn_j = kn_number_of(kn_u);
                            ${packs}
                        }
                    }
#pragma unroll
                    for (int kn_v = kn_u; kn_v < kn_u + kn_step; ++kn_v) {
                        const unsigned kn_j = kn_number_of(kn_v);
                        ${from}
                        ${step_loads}
                    }
                }
                /* Where texts read at the bin, or what is there in memory is looked at, bins and values of several are found before any is put: they are asked for at once. */
                unsigned long long kn_bin_of[kn_in_flight];
                kn_word kn_value_of[kn_in_flight];
                [[maybe_unused]] kn_word kn_seen[kn_in_flight];
                constexpr int kn_together = kn_reads_bins || kn_elements.value < 4 ? kn_elements.value : kn_can_be_plain ? 4 : 1;
#pragma unroll
                for (int kn_w = 0; kn_w < kn_elements.value; kn_w += kn_together) {
#pragma unroll
                    for (int kn_u = kn_w; kn_u < kn_w + kn_together; ++kn_u) {
                        [[maybe_unused]] const unsigned kn_j = kn_number_of(kn_u);
                        ${from}
                        ${loads}
                        ${lane}
                        kn_bin_of[kn_u] = kn_is_full || kn_e < kn_end ? (unsigned long long)${index} : ~0ull;
                        kn_value_of[kn_u] = ${mapped};
                        if constexpr (kn_is_atomic) {
                            if (kn_u == 0 && kn_is_in_memory) {
                                const unsigned kn_with = __match_any_sync(0xffffffffu, (unsigned)kn_bin_of[kn_u]);
                                const bool kn_is_twice = kn_bin_of[kn_u] < kn_range && (kn_with & (kn_with - 1)) != 0;
                                kn_careful = __any_sync(0xffffffffu, kn_is_twice) ? kn_rounds : kn_careful - (kn_careful > 0);
                            }
                        }
                        ${gather}
                    }
                    if constexpr (kn_can_be_plain)
                        if (kn_is_plain) {
#pragma unroll
                            for (int kn_u = kn_w; kn_u < kn_w + kn_together; ++kn_u)
                                ${counted}
                            continue;
                        }
#pragma unroll
                    for (int kn_u = kn_w; kn_u < kn_w + kn_together; ++kn_u) {
                        const unsigned long long kn_in_range = kn_bin_of[kn_u] - kn_low;
                        bool kn_is_put = kn_in_range < kn_range;
                        kn_word kn_value = kn_value_of[kn_u];
                        if constexpr (kn_is_count || kn_is_sum) {
                            /* Atomic functions on one word wait for each other: the elements of a warp that have the bin of its first one are counted, or added, together. */
                            if (kn_copies < kn_enough && kn_careful > 0) {
                                const unsigned kn_voted = __ballot_sync(0xffffffffu, kn_is_put);
                                const unsigned kn_usual = __shfl_sync(0xffffffffu, (unsigned)kn_in_range, kn_voted != 0 ? __ffs(kn_voted) - 1 : 0);
                                const bool kn_is_same = kn_is_put && (unsigned)kn_in_range == kn_usual && kn_in_range >> 32 == 0;
                                const unsigned kn_same = __ballot_sync(0xffffffffu, kn_is_same);
                                if (kn_is_count || __popc(kn_same) >= kn_many) {
                                    kn_is_put = kn_is_put && (!kn_is_same || (kn_same & ((1u << threadIdx.x % 32) - 1)) == 0);
                                    if constexpr (kn_is_count) {
                                        kn_value = kn_is_same ? __popc(kn_same) : 1;
                                    } else {
                                        kn_word kn_all = kn_is_same ? kn_value : 0;
#pragma unroll
                                        for (int kn_by = 16; kn_by > 0; kn_by /= 2)
                                            kn_all += kn_shuffle<'^'>(kn_all, kn_by);
                                        kn_value = kn_is_same ? kn_all : kn_value;
                                    }
                                }
                            }
                        }
                        ${tally}
                    }
                    }
                };
                /* All lanes of a warp go on together, so that they can ask each other. */
                unsigned kn_e = threadIdx.x;
                if (kn_e - threadIdx.x % 32 < kn_lead)
                    kn_round(kn_number<1>(), kn_e, kn_lead);
                unsigned kn_done = kn_lead;
#pragma unroll 1
                for (; kn_done + ${block} * kn_in_flight <= kn_count; kn_done += ${block} * kn_in_flight)
                    kn_round(kn_number<kn_in_flight>(), kn_done + kn_wide * threadIdx.x, kn_count);
#pragma unroll 1
                for (kn_e += kn_done; kn_e - threadIdx.x % 32 < kn_count; kn_e += ${block})
                    kn_round(kn_number<1>(), kn_e, kn_count);
                __syncthreads();

                /* The copies of a bin, of which each thread begins with another one. */
#pragma unroll 1
                for (unsigned kn_b = threadIdx.x; kn_b < kn_shared_bins; kn_b += ${block}) {
                    kn_word kn_sum = kn_bins[kn_b * kn_bin_step + kn_b % kn_copies * kn_copy_step];
#pragma unroll 1
                    for (unsigned kn_c = 1; kn_c < kn_copies; ++kn_c)
                        kn_sum = ${reduce}(kn_sum, kn_bins[kn_b * kn_bin_step + (kn_b + kn_c) % kn_copies * kn_copy_step]);
                    kn_of_all[kn_part * kn_n_bins + kn_low + kn_b] = kn_sum;
                }
            }
        }
        ${after_loop}
    }
