// Parts of tallies on CUDA (emit_tally.c). The value of a bin, in memory or in shared memory: what is done for both is written for each, so that the compiler knows which memory it is.
// Operands that are dense: vectors from element kn_j on, or single elements.
#inline before (unsigned)((unsigned long long)kn_${name}_row / ${size} % kn_wide)

#part wide_load
const auto kn_${name}_wide = kn_load<${type}, kn_step>(kn_${name}_row + kn_j);
#pragma unroll
for (int kn_v = 0; kn_v < kn_step; ++kn_v)
    kn_${name}_all[kn_u + kn_v] = kn_${name}_wide.at[kn_v];

#part tally_load
if (kn_step == 1 || ${is_single})
    kn_${name}_all[kn_v] = ${place};

// True if a value is wanted in memory, where the bin had another one a moment ago.
#inline lesser kn_careful == 0 || kn_value < kn_seen[kn_u]
#inline greater kn_careful == 0 || kn_seen[kn_u] < kn_value
#inline any true

#part seen
kn_seen[kn_u] = kn_is_in_memory && kn_careful > 0 ? kn_of_all[kn_bin_of[kn_u] < kn_range ? kn_bin_of[kn_u] : 0] : kn_word();

#part by_atomics
if (kn_is_put && kn_is_in_memory) {
    if (${wanted})
        ${function}((${word} *)&kn_of_all[kn_in_range], (${word})kn_value);
} else if (kn_is_put)
    ${in_shared}((${word} *)&kn_bins[(unsigned)kn_in_range * kn_copies + kn_copy], (${word})kn_value);

#part by_threads
kn_word &kn_of = kn_bins[kn_is_put ? (unsigned)kn_in_range * kn_bin_step + kn_copy : 0];
if (!kn_is_by_warps) {
    if (kn_is_put)
        kn_of = ${reduce}(kn_of, kn_value);
} else {
    /* Lanes with elements of one bin take turns, in the order of lanes. */
    unsigned kn_alike = __ballot_sync(0xffffffffu, kn_is_put);
#pragma unroll 1
    for (unsigned kn_bit = 0; kn_bit < kn_bits; ++kn_bit) {
        const bool kn_has = (kn_in_range >> kn_bit & 1) != 0;
        const unsigned kn_with = __ballot_sync(0xffffffffu, kn_has);
        kn_alike &= kn_has ? kn_with : ~kn_with;
    }
    const unsigned kn_turn = __popc(kn_alike & ((1u << threadIdx.x % 32) - 1));
#pragma unroll 1
    for (unsigned kn_now = 0; __any_sync(0xffffffffu, kn_is_put && kn_turn >= kn_now); ++kn_now) {
        if (kn_is_put && kn_turn == kn_now)
            kn_of = ${reduce}(kn_of, kn_value);
        __syncwarp();
    }
}

// Whole numbers in shared memory. Those without a bin go to words behind the bins, so that no lane waits for others.
#part by_plain
${in_shared}((${word} *)&kn_bins[kn_bin_of[kn_u] < (unsigned)kn_range ? (unsigned)kn_bin_of[kn_u] * kn_copies + kn_copy : kn_words + threadIdx.x % 32], (${word})(kn_is_count ? 1 : kn_value_of[kn_u]));

#part by_nothing
;
