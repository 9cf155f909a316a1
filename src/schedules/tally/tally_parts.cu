// Parts of tallies on CUDA (emit_tally.c). The value of a bin, in memory or in shared memory: what is done for both is written for each, so that the compiler knows which memory it is.
#part by_atomics
if (kn_is_in_memory)
    ${function}((${word} *)&kn_of_all[kn_in_range], (${word})kn_value);
else
    ${function}((${word} *)&kn_bins[(unsigned)kn_in_range * kn_copies + kn_copy], (${word})kn_value);

#part by_threads
kn_word &kn_of = kn_bins[(unsigned)kn_in_range * kn_copies + kn_copy];
kn_of = ${reduce}(kn_of, kn_value);
